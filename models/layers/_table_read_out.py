"""A read-out between constructed layers: the nearest codes, then a table of the next layer's letter."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from ...constructions._lrnn import Layer


class TableReadOut(nn.Module):
    """The way from a layer's letter (one-hot) and its heads' states to the next letter (one-hot; zero where there is none).

    Holds `Layer.read_out` as tensors, filled up to `sizes` so that all blocks of a model have one shape. Computes for each
    head the code that is nearest to its part of the mixer's outputs, from it and the letter the point before the token, and
    from these points the next letter. Where only the new codes of several heads together tell the next letter, a code stands for
    itself in place of a point (`Layer.read_out_tables`).

    Args:
        sizes: six numbers from 1: heads, codes, transitions, letters, reads, columns.
        width: numbers in the residual stream.
    """

    codes: Tensor
    norms: Tensor
    actions: Tensor
    before: Tensor
    reads: Tensor
    points: Tensor
    following: Tensor

    def __init__(self, sizes: Sequence[int], width: int) -> None:
        super().__init__()
        heads, codes, transitions, letters, reads, columns = sizes
        self.register_buffer("codes", torch.zeros(heads, codes, width))
        self.register_buffer("norms", torch.full((heads, codes), torch.inf))
        for name, shape in (
            ("actions", (heads, letters)),
            ("before", (heads, transitions, codes)),
            ("reads", (letters, reads)),
            ("points", (heads,)),
            ("following", (letters, columns)),
        ):
            self.register_buffer(name, torch.full(shape, -1, dtype=torch.int64))

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Look up the next letters.

        Args:
            x: the block's input, `[1, batch, tokens, width]`.
            y: its mixer's outputs, `[1, batch, tokens, width]`.

        Returns:
            One-hot letters of the next layer, like x.
        """
        letter = x.argmax(-1)
        known = x.amax(-1) > 0
        before = []
        for h in range(len(self.codes)):
            scores = y.to(self.codes.dtype) @ self.codes[h].T - self.norms[h]
            action = self.actions[h][letter].clamp(min=0)
            before.append(self.before[h][action, scores.argmax(-1)])
        column = torch.zeros_like(letter)
        for k in range(self.reads.shape[1]):
            read = self.reads[letter, k]
            for h, point in enumerate(before):
                here = read == h
                known = known & ~(here & (point < 0))
                column = torch.where(here, column * self.points[h] + point.clamp(min=0), column)
        following = self.following[letter, column]
        known = known & (following >= 0)
        one_hot = nn.functional.one_hot(following.clamp(min=0), x.shape[-1])
        return (one_hot * known[..., None]).to(x.dtype)

    def fill(self, layer: Layer, places: Sequence[Tensor], codes: Sequence[np.ndarray]) -> None:
        """Take the tables of a layer.

        Args:
            layer: a layer with `reads` and `next_letter`.
            places: for each head where its entries are in y, int `[entries]`.
            codes: for each head `[codes, entries]`.
        """
        assert layer.reads is not None
        letters = torch.arange(layer.heads[0].letters)
        numbers, following = layer.read_out_tables
        for h, head in enumerate(layer.heads):
            values = torch.from_numpy(codes[h]).to(self.codes.dtype)
            self.codes[h][: len(values), places[h]] = values
            self.norms[h, : len(values)] = values.square().sum(1) / 2
            self.actions[h, : len(letters)] = torch.from_numpy(head.action_of(letters.numpy()))
            points = numbers[h]
            self.before[h, : points.shape[0], : points.shape[1]] = torch.from_numpy(points)
            self.points[h] = layer.sizes[h]
        self.reads[: len(letters), : layer.reads.shape[1]] = torch.from_numpy(layer.reads)
        self.following[: len(letters), : following.shape[1]] = torch.from_numpy(following)
