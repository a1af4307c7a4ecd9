"""`mirrormata import fla`: heads of an FLA checkpoint as `.npz` files that `compare`, `spectrum` and `prove` read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np

from ...constructions.errors import InputError
from ...constructions.files import write_bytes
from ...theory.arithmetic.rounding import Floats
from ..learned.learned import LearnedHead
from .folder import load_fla
from .heads import MAX_ENTRIES, fla_heads, random_words
from .model import FlaModel
from .task import read_task


@dataclass(frozen=True, eq=False)
class FlaHead:
    """A head, with `codes` `[answers, K, V]`, the mean state under each answer of the model; `letters`, `answers`: texts.

    `heads`: of a layer.
    """

    head: LearnedHead
    codes: Floats
    letters: tuple[str, ...]
    answers: tuple[str, ...]
    heads: int

    @property
    def layer(self) -> int:
        """Of the first of equal heads, from 0."""
        return self.head.copies[0] // self.heads

    @property
    def number(self) -> int:
        """Of the first of equal heads in its layer, from 0."""
        return self.head.copies[0] % self.heads

    def is_at(self, layer: int, number: int) -> bool:
        """Whether it, or one that equals it, stands there."""
        return 0 <= number < self.heads and layer * self.heads + number in self.head.copies

    def write(self, path: str | Path) -> None:
        """As `.npz`, see `theory/proofs/npz_model.py`: the nearest code gives the answer."""
        decode = np.repeat(np.arange(len(self.codes))[:, None], len(self.letters), 1)
        stream = BytesIO()
        np.savez(
            stream, A=self.head.A, B=self.head.B, H0=self.head.H0, codes=self.codes, decode=decode,
            letter_labels=json.dumps(self.letters), output_labels=json.dumps(self.answers),
        )  # fmt: skip
        write_bytes(path, stream.getvalue())


def import_heads(
    folder: str | Path,
    *,
    tokens: Sequence[int] | None = None,
    bos: int | None = None,
    words: int = 32,
    length: int = 64,
    seed: int = 0,
    max_entries: int = MAX_ENTRIES,
) -> tuple[FlaHead, ...]:
    """All heads of all layers, equal ones once, by running the model, in float64, on random words.

    `tokens`: those that are letters, `bos`: read before each word; by default what `task.json` says, without one all and
    none. Raises `InputError` for tokens that there are not, `LimitError` for too many letters.
    """
    config, tensors = load_fla(folder)
    size = config["vocab_size"]
    labels = given = [str(t) for t in range(size)]
    if (Path(folder) / "task.json").is_file():
        task = read_task(folder, size)
        tokens, bos = tokens or list(task.letters.values()), task.bos if bos is None else bos
        named = {token: text for text, token in task.letters.items()}
        labels = [named.get(t, text) for t, text in enumerate(given)]
        named = {token: text for text, token in task.answers.items()}
        given = [named.get(t, text) for t, text in enumerate(given)]
    letters = list(range(size)) if tokens is None else list(tokens)
    if not all(0 <= token < size for token in (*letters, 0 if bos is None else bos)):
        raise InputError(f"{folder}: tokens are numbers from 0 to {size - 1}")
    model = FlaModel(config, tensors, bos=bos, letters=letters)
    heads, _ = fla_heads(model, words=words, length=length, seed=seed, max_entries=max_entries)
    sums: list[dict[int, tuple[Floats, int]]] = [{} for _ in heads]
    states = model.initial(words)
    for word in random_words(len(letters), words, length, seed):
        states = model.step(states, word)
        every = model.heads_of(states)
        for found, head in zip(sums, heads, strict=True):
            layer, number = divmod(head.copies[0], model.heads)
            for answer, H in zip(states[-1].tolist(), every[layer][:, number], strict=True):
                total, n = found.get(answer, (np.zeros(H.shape), 0))
                found[answer] = (total + H, n + 1)
    return tuple(
        FlaHead(
            head, np.array([found[t][0] / found[t][1] for t in sorted(found)]),
            tuple(labels[t] for t in letters), tuple(given[t] for t in sorted(found)),
            model.heads,
        )
        for head, found in zip(heads, sums, strict=True)
    )  # fmt: skip
