"""`mirrormata import fla`: a head of an FLA checkpoint as an `.npz` that `compare`, `spectrum` and `prove` read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from ..constructions.automaton import Indices
from ..constructions.errors import InputError, LimitError
from ..constructions.files import read_json, write_bytes
from ..theory.rounding import Floats
from .fla_export import FORMAT
from .fla_folder import load_fla
from .fla_model import FlaModel

MAX_ENTRIES = 50_000_000
"""Largest number of entries of the letter matrices."""


@dataclass(frozen=True, eq=False)
class FlaHead:
    """A head, H ← A(x) H + B(x): `A` `[letters, K, K]`, `B` `[letters, K, V]`, `H0` `[K, V]` (after BOS).

    `spread`: how far, in the spectral norm, a letter's A was from the mean that stands here, in the words read; 0 where
    A depends on the letter alone. `codes` `[answers, K, V]`: the mean state under each answer of the model; `answers`:
    the tokens, `letters`, `answer_labels`: texts.
    """

    A: Floats
    B: Floats
    H0: Floats
    codes: Floats
    answers: Indices
    spread: float
    letters: tuple[str, ...]
    answer_labels: tuple[str, ...]

    def write(self, path: str | Path) -> None:
        """As `.npz`, see `theory/npz_model.py`: the nearest code gives the answer."""
        decode = np.repeat(np.arange(len(self.codes))[:, None], len(self.letters), 1)
        stream = BytesIO()
        np.savez(
            stream, A=self.A, B=self.B, H0=self.H0, codes=self.codes, decode=decode,
            letter_labels=json.dumps(self.letters), output_labels=json.dumps(self.answer_labels),
        )  # fmt: skip
        write_bytes(path, stream.getvalue())


def fla_task(folder: str | Path) -> dict[str, Any] | None:
    """`task.json` of a checkpoint that `export fla` wrote; None where there is none."""
    path = Path(folder) / "task.json"
    if not path.is_file():
        return None
    task = read_json(path)
    return task if isinstance(task, dict) and task.get("format") == FORMAT else None


def import_head(
    folder: str | Path,
    *,
    layer: int = 0,
    head: int = 0,
    tokens: Sequence[int] | None = None,
    bos: int | None = None,
    words: int = 32,
    length: int = 64,
    seed: int = 0,
    max_entries: int = MAX_ENTRIES,
) -> FlaHead:
    """Read a head by running the whole model, in float64, on `words` random words of `length` letters.

    `tokens`: those that are letters, by default all, or what `task.json` says; `bos`: read before each word.
    Raises `InputError` for a place that there is not, `LimitError` for too many letters.
    """
    config, tensors = load_fla(folder)
    task = fla_task(folder)
    if task is not None:
        tokens, bos = tokens or range(len(task["letters"])), task["bos"] if bos is None else bos
    model = FlaModel(config, tensors, bos=bos)
    letters = np.array(range(model.vocabulary) if tokens is None else tokens)
    if not (0 <= layer < model.layers and 0 <= head < model.heads):
        raise InputError(f"{folder}: there are {model.layers} layers of {model.heads} heads, counted from 0")
    if letters.min() < 0 or max(*letters, 0 if bos is None else bos) >= model.vocabulary:
        raise InputError(f"{folder}: tokens are numbers from 0 to {model.vocabulary - 1}")
    states = model.initial(words)
    H0 = model.heads_of(states)[layer][0, head]
    K, V = H0.shape
    if (entries := len(letters) * K * max(K, V)) > max_entries:
        raise LimitError(
            f"{folder}: the matrices of {len(letters):,} letters have {entries:,} entries, more than {max_entries:,}: "
            "name the letters with --tokens, or raise --max-entries"
        )
    A, B, count = np.zeros((len(letters), K, K)), np.zeros((len(letters), K, V)), np.zeros(len(letters))
    squares: list[tuple[Indices, Floats]] = []
    sums: dict[int, tuple[Floats, int]] = {}
    for word in _words(len(letters), words, length, seed):
        _, states, drives = model.forward(states, letters[word])
        a, b = (y[:, head] for y in drives[layer].transitions())
        np.add.at(A, word, a)
        np.add.at(B, word, b)
        np.add.at(count, word, 1)
        squares.append((word, a))
        for answer, H in zip(states[-1].tolist(), model.heads_of(states)[layer][:, head], strict=True):
            total, n = sums.get(answer, (np.zeros((K, V)), 0))
            sums[answer] = (total + H, n + 1)
    A /= count[:, None, None]
    B /= count[:, None, None]
    spread = max(float(np.linalg.norm(a - A[word], 2, (1, 2)).max()) for word, a in squares)
    answers = sorted(sums)
    labels = [str(t) for t in range(model.vocabulary)]
    if task is not None:
        labels[: len(task["letters"])] = task["letters"]
        labels[task["first_class"] :] = task["states"]
    return FlaHead(
        A, B, H0, np.array([sums[t][0] / sums[t][1] for t in answers]), np.array(answers),
        spread if spread > 1e-12 else 0.0, tuple(labels[t] for t in letters), tuple(labels[t] for t in answers),
    )  # fmt: skip


def _words(letters: int, words: int, length: int, seed: int) -> list[Indices]:
    """Token by token: random letters, and each letter at least once."""
    rng = np.random.default_rng(seed)
    steps = max(length, -(-letters // words))
    flat = rng.permutation(
        np.concatenate([np.arange(letters), rng.integers(letters, size=steps * words - letters)])
    )
    return list(flat.reshape(steps, words))
