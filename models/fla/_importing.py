"""`mirrormata import fla`: heads of an FLA checkpoint as `.npz` files that `compare`, `spectrum` and `prove` read.

The letters' transitions are exact in one layer without convolution; else they are means over random words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...constructions.automata._automaton import Indices
from ...foundation._errors import InputError, LimitError
from ...foundation._files import is_file, whole_folder
from ...foundation._text import count_noun
from ...theory._npz_file import NPZ_FORMAT, read_npz
from ...theory.arithmetic._rounding import Floats
from ...theory.proofs._npz_model import NpzModel
from ..learned._learned import Factors, LearnedHead
from ..learned._model import merge_equal_heads
from ._folder import load_fla
from ._model import FlaModel
from ._task import read_task

MAX_ENTRIES = 50_000_000
"""Largest number of entries of the letter matrices of all heads."""


def fla_heads(
    model: FlaModel, *, words: int = 64, length: int = 64, seed: int = 0, max_entries: int = MAX_ENTRIES
) -> tuple[tuple[LearnedHead, ...], str | None]:
    """All heads, `head LAYER.HEAD` counted from 1, equal ones once; and a note where their letters depend on the context.

    `copies` counts heads through all layers. In the first layer of a model without convolution a letter has one transition, found
    with its factors. Else `words` random words of `length` letters are read, drawn with `seed`, each letter at
    least once; `A` and `B` are means, and `spread` is the largest distance of an A from them.
    """
    exact, letters = model.layers == 1 and not model.conv, len(model.letters)
    starts = [H[0].astype(np.float64) for H in model.heads_of(model.initial(1))]
    entries = sum(letters * H.shape[0] * H.shape[1] * max(H.shape[1:]) for H in starts)
    if entries > max_entries:
        raise LimitError(
            f"the matrices of {letters:,} letters in {sum(map(len, starts))} heads have {entries:,} entries, more than "
            f"{max_entries:,}: name fewer tokens, or raise `max_entries`"
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
    first = model.forward(model.initial(letters), model.letters[np.arange(letters)])[2][0]
    heads: list[LearnedHead] = []
    for i, start in enumerate(starts):
        A[i] /= count[:, None, None, None]
        B[i] /= count[:, None, None, None]
        spread = np.zeros(len(start))
        for word, a in seen[i]:
            spread = np.maximum(spread, np.linalg.norm(a - A[i][word], 2, (2, 3)).max(0))
        plain = i == 0 and not model.conv  # a letter's transition depends on no letter before
        if plain:
            A[i], B[i] = (y.astype(np.float64) for y in first.transitions())
            spread[:] = 0
        for h, H in enumerate(start):
            factors = None
            if plain:
                beta, k, gate = (y.astype(np.float64) for y in (first.beta, first.k, first.gate))
                factors = Factors(beta[:, :, h], k[:, :, h], gate[:, h])
            heads.append(
                LearnedHead(
                    f"head {i + 1}.{h + 1}", A[i][:, h], B[i][:, h], H, factors, None, float(spread[h]), (len(heads),)
                )
            )  # fmt: skip
    what = f"{count_noun(model.layers, 'layer')}{', convolution' if model.conv else ''}"
    note = (
        f"transitions depend on the context ({what}): means over {words} random words of {len(read)} letters, seed "
        f"{seed}; `spread` is how far they lie apart"
    )
    return merge_equal_heads(heads), None if exact else note


def random_words(letters: int, words: int, length: int, seed: int) -> list[Indices]:
    """Token by token: random letters, and each letter at least once."""
    rng = np.random.default_rng(seed)
    steps = max(length, -(-letters // words))
    flat = rng.permutation(
        np.concatenate([np.arange(letters), rng.integers(letters, size=steps * words - letters)])
    )
    return list(flat.reshape(steps, words))


@dataclass(frozen=True, eq=False)
class FlaHead:
    """A head of a checkpoint, with the mean state for each answer of the model.

    Attributes:
        head: the head, with its letters.
        codes: the mean states, `[answers, K, V]`.
        letters: the texts of the letters.
        answers: the texts of the answers.
        heads: the number of heads of a layer, at least 1.
    """

    head: LearnedHead
    codes: Floats
    letters: tuple[str, ...]
    answers: tuple[str, ...]
    heads: int

    @property
    def layer(self) -> int:
        """The layer of the first of equal heads, counted from 0."""
        return self.head.copies[0] // self.heads

    @property
    def number(self) -> int:
        """The number of the first of equal heads in its layer, counted from 0."""
        return self.head.copies[0] % self.heads

    def is_at(self, layer: int, number: int) -> bool:
        """Whether it, or one that equals it, stands there.

        Args:
            layer: counted from 0.
            number: the number of the head in the layer, counted from 0.

        Returns:
            True where it does.
        """
        return 0 <= number < self.heads and layer * self.heads + number in self.head.copies

    def write(self, path: str | Path) -> None:
        """Write the head as an `.npz`, see `theory/proofs/_npz_model.py`: the nearest code gives the answer.

        Args:
            path: the file to write.
        """
        texts = list(
            dict.fromkeys(self.answers)
        )  # several tokens, each with its mean state, may mean one answer
        decode = np.repeat(
            np.array([texts.index(text) for text in self.answers])[:, None], len(self.letters), 1
        )
        factors: dict[str, Any] = {}
        if (known := self.head.factors) is not None:
            count = np.full(len(known.beta), known.beta.shape[1])
            factors = {"beta": known.beta, "vector": known.keys, "factor_count": count, "gate": known.gate}
        model = NpzModel(
            self.head.A, self.head.B, self.head.H0, self.codes, decode, tuple(self.letters), tuple(texts),
            factors=factors, spread=self.head.spread,
        )  # fmt: skip
        model.save(path)


def write_heads(heads: Sequence[FlaHead], folder: str | Path) -> None:
    """Write all heads into one folder, `layer0-head0.npz` and so on; a folder that this function wrote is replaced.

    Args:
        heads: as `import_heads` gives them.
        folder: the folder to write.

    Raises:
        InputError: the place is taken by something else, or cannot be written.
    """
    with whole_folder(folder, "heads", _is_heads_folder) as place:
        for head in heads:
            head.write(place / f"layer{head.layer}-head{head.number}.npz")


def _is_heads_folder(folder: Path) -> bool:
    """Whether the folder holds what `write_heads` writes, and nothing else."""
    files = sorted(folder.iterdir())
    return bool(files) and all(
        re.fullmatch(r"layer[0-9]+-head[0-9]+\.npz", file.name) and _is_head(file) for file in files
    )


def _is_head(file: Path) -> bool:
    try:
        return str(read_npz(file, ("format",), InputError(f"{file}: no head")).get("format")) == NPZ_FORMAT
    except InputError:
        return False


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

    Args:
        folder: the checkpoint.
        tokens: those that are letters, from 0; by default those of `task.json`, without one all.
        bos: the token read before each word; by default that of `task.json`, without one none.
        words: random words that are read, at least 1.
        length: the number of letters of each word, at least 1.
        seed: the seed of the random words, at least 0.
        max_entries: the largest number of entries of the letter matrices of all heads.

    Returns:
        The heads, layer by layer.

    Raises:
        InputError: the checkpoint cannot be read, or has no such tokens.
        LimitError: the matrices have more than `max_entries` entries.
    """
    config, tensors = load_fla(folder)
    size = config["vocab_size"]
    labels = given = [str(t) for t in range(size)]
    if is_file(Path(folder) / "task.json"):
        task = read_task(folder, size)
        tokens, bos = tokens or list(task.letters.values()), task.bos if bos is None else bos
        named = {token: text for text, token in task.letters.items()}
        labels = [named.get(t, text) for t, text in enumerate(given)]
        named = task.answer_tokens
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
