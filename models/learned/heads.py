"""A model's transitions by head and letter, as its mixers compute them from what they are given."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...constructions.automaton import Indices
from ...theory.arithmetic.rounding import Floats
from ..layers.delta_product import DeltaProduct
from ..model import Block, Model
from .learned import Factors, LearnedHead


@contextmanager
def _watching(model: Model, seen: Callable[[int, Any, Tensor, Any], None]) -> Any:
    """Tells of each block's mixer what it was given."""
    handles = []
    for i, block in enumerate(model.blocks):
        assert isinstance(block, Block)

        def hook(mixer: Any, given: Any, i: int = i) -> None:
            seen(i, mixer, given[0], given[1])

        handles.append(block.mixer.register_forward_pre_hook(hook))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def transitions_of(model: Model, words: Indices, letters: int, by_letter: bool) -> list[LearnedHead]:
    """All heads of all layers, from running the model on words `[words, tokens]` of so many letters.

    `by_letter`: each word is one letter, on which alone all depends; then factors and added terms are found too.
    """
    inputs: list[tuple[Any, Tensor, Any]] = []
    with torch.no_grad():
        with _watching(model, lambda i, mixer, x, state: inputs.append((mixer, x, state))):
            model(torch.from_numpy(words)[None])
        found = []
        for i, (mixer, x, state) in enumerate(inputs):
            A = mixer.transitions(x, state)[0].flatten(0, 1).numpy()  # [tokens, heads, n, n]
            factors = _factors(mixer, x, state) if by_letter else None
            B = _added(mixer, x) if by_letter else None
            for h in range(A.shape[1]):
                mean, spread = _by_letter(A[:, h], words.reshape(-1), letters)
                added = np.zeros((letters, A.shape[2], 1)) if B is None else B[:, h]
                own = None if factors is None else factors(h)
                found.append(LearnedHead(f"head {i + 1}.{h + 1}", mean, added, added[0], own, None, spread))
    return found


def merged_heads(heads: list[LearnedHead]) -> tuple[LearnedHead, ...]:
    """Heads with the same numbers once: constructed models have one for each row of the state."""
    groups: dict[bytes, list[LearnedHead]] = {}
    for head in heads:
        groups.setdefault(b"".join((x + 0.0).tobytes() for x in (head.A, head.B, head.H0)), []).append(head)
    merged = []
    for group in groups.values():
        first = group[0]
        name = first.name + (f" and {len(group) - 1} equal" if len(group) > 1 else "")
        copies = tuple(h.copies[0] for h in group)
        merged.append(
            LearnedHead(name, first.A, first.B, first.H0, first.factors, None, first.spread, copies)
        )
    return tuple(merged)


def _by_letter(A: Floats, letters: Indices, count: int) -> tuple[Floats, float]:
    means, spread = [], 0.0
    for x in range(count):
        here = A[letters == x]
        mean = here[0] if len(here) == 1 else here.mean(axis=0)
        if len(here) > 1:
            spread = max(spread, float(np.linalg.norm(here - mean, 2, axis=(1, 2)).max()))
        means.append(mean)
    return np.array(means), spread


def _added(mixer: Any, x: Tensor) -> Floats:
    """B(x): what one token makes of the state 0, `[letters, heads, n, d]`."""
    zero = mixer.initial(x, {})
    _, after = mixer(x, {"H": torch.zeros_like(zero)})
    H: Floats = after["H"][0].double().numpy()
    return H if H.ndim == 4 else H[..., None]  # a channel of Mamba is a head of columns


def _factors(mixer: Any, x: Tensor, state: Any) -> Callable[[int], Factors] | None:
    if not isinstance(mixer, DeltaProduct):
        return None
    _, k, _, beta, a = mixer.controls(x, state or {}, {})
    keys, strengths = k[0, :, 0].double().numpy(), beta[0, :, 0].double().numpy()
    gate = np.ones((len(keys), keys.shape[2])) if a is None else a[0, :, 0].double().numpy()
    return lambda h: Factors(strengths[:, :, h], keys[:, :, h], gate[:, h])
