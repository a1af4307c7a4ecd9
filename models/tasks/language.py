"""`LanguageTask`: the next byte of real text, as a task like any other; windows are functions of (seed, step)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec
import numpy as np

from ...constructions.errors import InputError, LimitError
from .automaton import Span, TaskSettings
from .contract import TaskContract
from .corpus import BOUNDARY, Corpus, corpus_of, standard_library
from .protocols import LANGUAGE
from .protocols import Protocol as Published
from .sampling import IGNORED, PIECE, TESTING, TRAINING, Array, Batch, generator

BYTES = 256
PLAIN = ("spec", "fidelity", "source")
"""Entries of `[task]` that mean something for text."""


@dataclass(frozen=True)
class LanguageTask:
    """Letters are the 256 bytes and the boundary after a file; the label is the next byte, none at a file's end.

    The text is the standard library's for `text`, a file's or folder's for `text:PATH`. `whole`: test on all of it.
    """

    settings: TaskSettings
    whole: bool = False
    bos = False
    letters = BYTES + 1
    classes = BYTES

    def __post_init__(self) -> None:
        plain = TaskSettings(spec=self.settings.spec)
        for entry in TaskSettings.__struct_fields__:
            if entry not in PLAIN and getattr(self.settings, entry) != getattr(plain, entry):
                raise InputError(f"task: {entry} means nothing for text; leave it out")

    @cached_property
    def corpus(self) -> Corpus:
        """The bytes, read when they are first asked for."""
        place = self.settings.spec.partition(":")[2]
        return corpus_of(place) if place else standard_library()

    @property
    def protocol(self) -> Published:
        """Our lengths."""
        return LANGUAGE

    @cached_property
    def test_text(self) -> Array:
        """Letters `[n]` of the test."""
        corpus = self.corpus
        return np.concatenate([corpus.train, corpus.test]) if self.whole else corpus.test

    @property
    def unigram_bits(self) -> float:
        """Entropy of the test's bytes in bits: what a model that looks at no byte can reach."""
        counts = np.bincount(self.test_text, minlength=BYTES)[:BYTES]
        shares = counts[counts > 0] / counts.sum()
        return float(-(shares * np.log2(shares)).sum())

    def batches(self, seeds: Sequence[int], step: int, words: int, length: int) -> Batch:
        """A step's windows of the training text, `words` of each seed's own: `[seeds, words, tokens]`."""
        text = self.corpus.train
        if len(text) <= length:
            raise InputError(
                f"{self.corpus.name}: {len(text):,} letters of training text, words have {length:,}"
            )
        windows = np.lib.stride_tricks.sliding_window_view(text, length + 1)
        drawn = [generator(TRAINING, seed, step).integers(0, len(windows), size=words) for seed in seeds]
        return _next_bytes(windows[np.stack(drawn)])

    def stream(self, seed: int, words: int, length: int) -> Iterator[Batch]:
        """Test words `[words, tokens]` in pieces, from evenly spaced places of the test text, which ends at its start."""
        text = self.test_text
        if length > len(text):
            raise LimitError(
                f"{self.corpus.name}: {len(text):,} letters of test text; test up to that length"
            )
        first = int(generator(TESTING, seed).integers(0, len(text)))
        starts = first + np.arange(words)[:, None] * len(text) // words
        for at in range(0, length, PIECE):
            tokens = min(PIECE, length - at)
            yield _next_bytes(np.take(text, starts + at + np.arange(tokens + 1), mode="wrap"))

    def contract(self, train_lengths: Span, test_lengths: tuple[str, ...]) -> TaskContract:
        """The task in words; the text by its size and digest."""
        s = self.settings
        return TaskContract(
            task=f"next byte of {self.corpus.name}", alphabet=(*(f"{i:02x}" for i in range(BYTES)), "end"),
            classes=BYTES, order="bytes are read left to right", labels="next byte",
            supervision="per_prefix, none at a file's end", bos=False,
            words=f"windows from any byte; {self.corpus}" + (", tested on all of it" if self.whole else ""),
            held_out=(), train_lengths=train_lengths, test_lengths=test_lengths, fidelity=s.fidelity or "extension",
            source=s.source or "", chance=1 / BYTES, settings=msgspec.to_builtins(s),
        )  # fmt: skip


def _next_bytes(windows: Array) -> Batch:
    """From windows `[..., tokens + 1]`: letters, and what comes after each."""
    labels = windows[..., 1:]
    return Batch(windows[..., :-1], np.where(labels == BOUNDARY, np.int16(IGNORED), labels))
