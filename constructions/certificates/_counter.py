"""Counters of tokens in certificates of kinds `delay` and `blocks`; what each entry means: `theory/checker/delay.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...foundation._errors import LimitError
from .._delay import Counter, CounterHead, CounterLayer, counter_head
from ._parts import MAX_CONDUCTOR, factors_json, number_json, number_reader, read_factors


def counter_json(counter: Counter) -> list[dict[str, Any]]:
    """The layers of a counter, as JSON; `LimitError` for a number field beyond the checkers' limit."""
    field = max(head.field for head in counter.heads)
    if field > MAX_CONDUCTOR:
        raise LimitError(
            f"the counter's numbers lie in Q(2cos 2π/{field}), and certificates hold fields up to "
            f"N = {MAX_CONDUCTOR:,}: use `counter` ripple"
        )
    return [
        {"reads": list(layer.reads), "heads": [_head(head) for head in layer.heads]}
        for layer in counter.layers
    ]


def _head(head: CounterHead) -> dict[str, Any]:
    return {
        "field": head.field,
        "dim": head.dim,
        "value_dim": 1,
        "transitions": [{"factors": factors_json(factors)} for factors in head.transitions],
        "codes": [[[i, 0, number_json(x)] for i, x in enumerate(code) if x != 0] for code in head.codes],
    }


def read_counter(data: Sequence[Mapping[str, Any]]) -> Counter:
    """The counter that `counter_json` wrote; its period is the length of what the first layer reads."""
    layers = tuple(_counter_layer(layer) for layer in data)
    kind, theorem = _kind(layers)
    return Counter(kind, theorem, len(layers[0].reads), layers)


def _counter_layer(data: Mapping[str, Any]) -> CounterLayer:
    reads = tuple(int(r) for r in data["reads"])
    return CounterLayer(reads, tuple(_counter_head(head, reads) for head in data["heads"]))


def _counter_head(data: Mapping[str, Any], reads: tuple[int, ...]) -> CounterHead:
    number = number_reader(data["field"])
    transitions = tuple(read_factors(t["factors"], number) for t in data["transitions"])
    entries = {int(i): number(x) for i, _, x in data["codes"][0]}
    start = tuple(entries.get(i, 0) for i in range(int(data["dim"])))
    head = counter_head(transitions, start, reads)
    if len(head.codes) != len(data["codes"]):
        raise ValueError("codes")
    return head


def _kind(layers: tuple[CounterLayer, ...]) -> tuple[str, str]:
    """Name and source of a counter, by its shape."""
    heads = [head for layer in layers for head in layer.heads]
    if all(head.dim == 1 for head in heads) and len(layers) > 1:
        return "ripple", "own.T2tight"
    if len(layers) > 1:
        return "two_layers", "G.T6"
    if len(heads) == 1 and (heads[0].field > 1 or len(heads[0].codes) == 4):
        return "rotation", "DP.L2"
    return "cycles", "G.T3"
