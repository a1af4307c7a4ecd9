"""Models some of whose layers begin anew every few letters: which layer's memory answers need, and which one's harms them."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ..constructions.errors import InputError
from .layers.projections import State
from .model import Block, Model

RUNS = 5
"""Runs of a mixer that cover every token."""


class ShortMemory(nn.Module):
    """A mixer that sees the last `letters` tokens at most, as if a word began there, and at least about four fifths of them.

    It begins anew every `step` tokens, and for each of them has read up to `span`, a multiple of `step`.
    """

    def __init__(self, mixer: nn.Module, letters: int) -> None:
        super().__init__()
        self.mixer = mixer
        self.step = max(1, letters // RUNS)
        self.span = letters - letters % self.step

    def forward(self, x: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """As the mixer's. The state is the tokens before x that later ones may see, from a multiple of `step` on."""
        read = torch.cat([state["read"], x], 2) if state else x
        tokens, new = read.shape[2], x.shape[2]
        first = tokens - new
        outputs = []
        for start in range(first - first % self.step, tokens, self.step):
            begin = self._beginning(start)
            y, _ = self.mixer(read[:, :, begin : start + self.step], None)
            outputs.append(y[:, :, max(start, first) - begin :])
        kept = self._beginning(tokens - tokens % self.step)
        return torch.cat(outputs, 2), State(read=read[:, :, kept:])

    def _beginning(self, start: int) -> int:
        """Of the run for the `step` tokens from `start` on."""
        return max(start + self.step - self.span, 0)


def with_short_memory(model: Model, layers: Sequence[int], letters: int) -> Model:
    """A copy whose mixers of these layers, from 0, have a `ShortMemory`; `InputError` for no letters."""
    if letters < 1:
        raise InputError(f"--memory {letters}: give the letters that layers may remember, at least 1")
    copied = copy.deepcopy(model)
    for i in layers:
        block = copied.blocks[i]
        assert isinstance(block, Block)
        block.mixer = ShortMemory(block.mixer, letters)
    return copied


def layers_to_shorten(layers: int) -> list[tuple[int, ...]]:
    """Every layer alone, then the lowest two, the lowest three, ... but not all of several."""
    alone = [(i,) for i in range(layers)]
    return alone + [tuple(range(n)) for n in range(2, layers)]
