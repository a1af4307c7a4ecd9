"""Which layers of a model have its recurrence, and which are attention or something else, by what configurations say of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...foundation._errors import InputError
from ._recurrence import Layer, Recurrence

WORDS: Mapping[str, str] = {
    "full_attention": "attention",
    "attention": "attention",
    "sliding_attention": "attention within a window",
    "conv": "a short convolution",
    "mlp": "no mixer",
    "moe": "no mixer",
    "sparse": "no mixer",
    "dense": "no mixer",
}
"""What a layer without a recurrence is, by its entry in `layer_types`."""
RECURRENT = ("linear_attention", "mamba", "mamba2", "recurrent")


def attention_beside(config: Mapping[str, Any], recurrence: Recurrence) -> list[tuple[Layer, ...]]:
    """A recurrence in every layer, but for those that the entry `attn` names, which are attention, as in flash-linear-attention.

    Args:
        config: with `num_hidden_layers` and `attn`.
        recurrence: the recurrence.

    Raises:
        InputError: `attn` has no list of layers.
    """
    attention: set[int] = set()
    if config["attn"] is not None:
        listed = config["attn"].get("layers") if isinstance(config["attn"], dict) else None
        if not isinstance(listed, list) or not all(type(i) is int for i in listed):
            raise InputError(
                f"attn is {config['attn']!r}: an object whose `layers` lists numbers of layers is needed"
            )
        attention = set(listed)
    return [("attention",) if i in attention else (recurrence,) for i in range(config["num_hidden_layers"])]


def numbers_of_layers(listed: Any, entry: str, first: int, count: int) -> set[int]:
    """Layers that a configuration lists, counted from 0.

    Args:
        listed: the value of the entry.
        entry: its name, for the message.
        first: the number that the entry gives to the first layer.
        count: the number of layers.

    Returns:
        The numbers, from 0 to `count` - 1.

    Raises:
        InputError: it is no list of such numbers.
    """
    if not isinstance(listed, list) or not all(type(i) is int and first <= i < first + count for i in listed):
        raise InputError(
            f"{entry} is {listed!r}: a list of numbers from {first} to {first + count - 1} is needed"
        )
    return {i - first for i in listed}


def by_layer_types(
    config: Mapping[str, Any],
    recurrence: Recurrence,
    *,
    every: int = 0,
    beside: tuple[Layer, ...] = ("attention",),
) -> list[tuple[Layer, ...]]:
    """The layers that `layer_types` lists; without it, a recurrence in every layer but each `every`-th, which is attention.

    Args:
        config: with `num_hidden_layers` and `layer_types`.
        recurrence: the recurrence.
        every: each layer whose number, from 1, is a multiple of it is attention; 0 for none.
        beside: what stands beside the recurrence in layers that are called hybrid.

    Raises:
        InputError: `layer_types` has an entry that is not known, or another length than `num_hidden_layers` says.
    """
    kinds = config["layer_types"]
    if kinds is None:
        count = config["num_hidden_layers"]
        kinds = [
            "full_attention" if every and (i + 1) % every == 0 else "linear_attention" for i in range(count)
        ]
    layers: list[tuple[Layer, ...]] = []
    for i, kind in enumerate(kinds):
        if kind in RECURRENT:
            layers.append((recurrence,))
        elif kind == "hybrid":
            layers.append((recurrence, *beside))
        elif isinstance(kind, str) and kind in WORDS:
            layers.append((WORDS[kind],))
        else:
            raise InputError(
                f"layer_types[{i}] is {kind!r}: it is none of {', '.join((*RECURRENT, 'hybrid', *WORDS))}"
            )
    if len(kinds) != config.get("num_hidden_layers", len(kinds)):
        raise InputError(
            f"num_hidden_layers is {config['num_hidden_layers']}, and {len(kinds)} layers have a type: one of the two is wrong"
        )
    return layers
