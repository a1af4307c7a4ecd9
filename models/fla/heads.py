"""The heads of all layers of an FLA model by letter: exactly in one layer without convolution, else as means over random words."""

from __future__ import annotations

import numpy as np

from ...constructions.automaton import Indices
from ...constructions.errors import LimitError
from ...theory.arithmetic.rounding import Floats
from ..learned.heads import merged_heads
from ..learned.learned import Factors, LearnedHead
from .model import FlaModel

MAX_ENTRIES = 50_000_000
"""Largest number of entries of the letter matrices of all heads."""


def fla_heads(
    model: FlaModel, *, words: int = 64, length: int = 64, seed: int = 0, max_entries: int = MAX_ENTRIES
) -> tuple[tuple[LearnedHead, ...], str | None]:
    """All heads, `head LAYER.HEAD` counted from 1, equal ones once; and a note where their letters depend on the context.

    `copies` counts heads through all layers. One layer without convolution has one transition a letter, found
    exactly, with its factors. Else `words` random words of `length` letters are read, drawn with `seed`, each letter at
    least once; `A` and `B` are means, and `spread` is the largest distance of an A from them.
    """
    exact, letters = model.layers == 1 and not model.conv, len(model.letters)
    starts = [H[0].astype(np.float64) for H in model.heads_of(model.initial(1))]
    entries = sum(letters * H.shape[0] * H.shape[1] * max(H.shape[1:]) for H in starts)
    if entries > max_entries:
        raise LimitError(
            f"the matrices of {letters:,} letters in {sum(map(len, starts))} heads have {entries:,} entries, more than "
            f"{max_entries:,}: name fewer tokens, or raise --max-entries"
        )
    read = [np.arange(letters)] if exact else random_words(letters, words, length, seed)
    states = model.initial(len(read[0]))
    A = [np.zeros((letters, *H.shape[:2], H.shape[1])) for H in starts]
    B = [np.zeros((letters, *H.shape)) for H in starts]
    count = np.zeros(letters)
    seen: list[list[tuple[Indices, Floats]]] = [[] for _ in starts]
    for word in read:
        _, states, drives = model.forward(states, model.letters[word])
        np.add.at(count, word, 1)
        for i, drive in enumerate(drives):
            a, b = drive.transitions()
            np.add.at(A[i], word, a)
            np.add.at(B[i], word, b)
            seen[i].append((word, a))
    heads: list[LearnedHead] = []
    for i, start in enumerate(starts):
        A[i] /= count[:, None, None, None]
        B[i] /= count[:, None, None, None]
        spread = np.zeros(len(start))
        for word, a in seen[i]:
            spread = np.maximum(spread, np.linalg.norm(a - A[i][word], 2, (2, 3)).max(0))
        for h, H in enumerate(start):
            factors = None
            if exact:
                beta, k, gate = (y.astype(np.float64) for y in (drives[0].beta, drives[0].k, drives[0].gate))
                factors = Factors(beta[:, :, h], k[:, :, h], gate[:, h])
            heads.append(
                LearnedHead(
                    f"head {i + 1}.{h + 1}", A[i][:, h], B[i][:, h], H, factors, None, float(spread[h]), (len(heads),)
                )
            )  # fmt: skip
    what = f"{model.layers} layer{'s' * (model.layers > 1)}{', convolution' if model.conv else ''}"
    note = (
        f"transitions depend on the context ({what}): means over {words} random words of {len(read)} letters, seed "
        f"{seed}; `spread` is how far they lie apart"
    )
    return merged_heads(heads), None if exact else note


def random_words(letters: int, words: int, length: int, seed: int) -> list[Indices]:
    """Token by token: random letters, and each letter at least once."""
    rng = np.random.default_rng(seed)
    steps = max(length, -(-letters // words))
    flat = rng.permutation(
        np.concatenate([np.arange(letters), rng.integers(letters, size=steps * words - letters)])
    )
    return list(flat.reshape(steps, words))
