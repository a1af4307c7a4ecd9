"""`LanguageTask`: the next byte of real text, as a task like any other; windows are functions of (seed, step).

The text is a `Corpus`, split by files into training and test; by default that of Python's own standard library.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import ClassVar

import msgspec
import numpy as np

from ...foundation._errors import InputError, LimitError
from ...foundation._files import is_file, is_folder
from ...foundation._text import count_noun
from ._contract import LANGUAGE, TaskContract
from ._contract import Protocol as Published
from ._sampling import IGNORED, PIECE, TESTING, TRAINING, Array, Batch, generator
from ._task import Span, TaskSettings

BOUNDARY = 256
"""The letter after each file's last byte."""
EVERY = 10
"""Every tenth file is for testing; of a single file, its last tenth."""
LEFT_OUT = {"site-packages", "dist-packages", "__pycache__", "test", "tests", "idle_test", "encodings"}
"""Folders of the standard library that are not read: other people's code, what some machines lack, and `encodings`,
whose tables are nearly copies of each other and would stand on both sides of the split."""


@dataclass(frozen=True, eq=False)
class Corpus:
    """Letters in int16: bytes, and `BOUNDARY` after each file.

    Attributes:
        name: the name of the file or folder.
        train: letters of the training text, `[n]`.
        test: letters of the test text, `[n]`.
        train_files: the number of files of the training text.
        test_files: the number of files of the test text.
        digest: SHA-256 of all names and contents.
    """

    name: str
    train: Array
    test: Array
    train_files: int
    test_files: int
    digest: str

    def __str__(self) -> str:
        def part(files: int, letters: Array) -> str:
            return f"{count_noun(files, 'file')} ({int((letters != BOUNDARY).sum()):,} bytes)"

        return (
            f"train {part(self.train_files, self.train)}, test {part(self.test_files, self.test)}, "
            f"sha256 {self.digest[:16]}"
        )


def standard_library(most: int = 1 << 28) -> Corpus:
    """The `.py` files of the running Python's standard library; the digest tells one version from another.

    Args:
        most: the largest number of bytes of all files together.

    Returns:
        The text, every tenth file for testing.

    Raises:
        LimitError: there are more than `most` bytes.
    """
    root = Path(sysconfig.get_paths()["stdlib"])
    files = [
        path
        for path in _files(root, lambda folder: folder not in LEFT_OUT)
        if path.suffix == ".py" and not path.name.startswith("_sysconfigdata")  # which differs by machine
    ]
    return _corpus(f"standard library of Python {platform.python_version()}", root, files, most)


def read_corpus(place: str, most: int = 1 << 28) -> Corpus:
    """A text file, or all text files of a folder, in the order of their paths.

    Hidden files and folders are left out, and files with a zero byte, which are no text.

    Args:
        place: the file or folder.
        most: the largest number of bytes of all files together.

    Returns:
        The text, every tenth file for testing; of a single file, its last tenth.

    Raises:
        InputError: there is no such place, or it holds no text.
        LimitError: there are more than `most` bytes.
    """
    files, name = text_files(place)
    root = Path(place)
    return _corpus(name, root.parent if is_file(root) else root, files, most)


def text_files(place: str) -> tuple[list[Path], str]:
    """A file, or all files of a folder but hidden ones, in the order of their paths; and the name of the place.

    Raises:
        InputError: there is no such place.
    """
    root = Path(place)
    if is_file(root):
        return [root], root.name
    if not is_folder(root):
        raise InputError(f"{place}: no such file or folder of text")
    found = [
        path
        for path in _files(root, lambda folder: not folder.startswith("."))
        if is_file(path) and not path.name.startswith(".")
    ]
    return sorted(found, key=lambda p: p.relative_to(root).parts), root.resolve().name


def _files(root: Path, kept: Callable[[str], bool]) -> Iterator[Path]:
    for place, folders, names in os.walk(root):
        folders[:] = filter(kept, folders)
        yield from (Path(place, name) for name in names)


def _corpus(name: str, root: Path, paths: Sequence[Path], most: int) -> Corpus:
    total = sum(path.stat().st_size for path in paths)
    if total > most:
        raise LimitError(f"{name}: {total:,} bytes, more than {most:,}; give a smaller text")
    files = []
    for path in paths:
        try:
            files.append((path.relative_to(root).as_posix(), path.read_bytes()))
        except OSError as error:
            raise InputError(f"{path}: {error.strerror}") from None
    return corpus_of_texts(name, files)


def corpus_of_texts(name: str, files: Iterable[tuple[str, bytes]]) -> Corpus:
    """A corpus of files in the order of their paths, without those that are empty or have a zero byte.

    Args:
        name: what it is called.
        files: the path of each, with `/` between its parts, and its contents.

    Raises:
        InputError: they hold no text, or too little.
    """
    digest, texts = hashlib.sha256(), []
    for path, text in sorted(files, key=lambda file: PurePosixPath(file[0]).parts):
        if text and b"\0" not in text:
            digest.update(f"{path}\0{len(text)}\0".encode() + text)
            texts.append(text)
    if not texts or (len(texts) == 1 and len(texts[0]) < EVERY):
        raise InputError(f"{name}: holds no text, or too little to divide into training and test")
    if len(texts) == 1:
        cut = len(texts[0]) - len(texts[0]) // EVERY
        train, test = [texts[0][:cut]], [texts[0][cut:]]
    else:
        test = texts[::EVERY]
        train = [text for i, text in enumerate(texts) if i % EVERY]
    return Corpus(name, _letters(train), _letters(test), len(train), len(test), digest.hexdigest())


def _letters(texts: Sequence[bytes]) -> Array:
    letters = np.empty(sum(map(len, texts)) + len(texts), dtype=np.int16)
    at = 0
    for text in texts:
        letters[at : at + len(text)] = np.frombuffer(text, dtype=np.uint8)
        at += len(text) + 1
        letters[at - 1] = BOUNDARY
    return letters


BYTES = 256
BLOCK = 1 << 22
"""Letters that are counted at once."""
PLAIN = ("spec", "fidelity", "source")
"""Entries of `[task]` that mean something for text."""


@dataclass(frozen=True)
class LanguageTask:
    """Letters are the 256 bytes and the boundary after a file; the label is the next byte, none at a file's end.

    Attributes:
        settings: its `spec` is `text`, for the standard library, or `text:PATH`, for a file or folder.
        whole: whether to test on the whole text.

    Raises:
        InputError: an entry of `settings` has no meaning for text.
    """

    settings: TaskSettings
    whole: bool = False
    own_entries: ClassVar[tuple[str, ...]] = ()
    bos = False
    own_lengths = False

    @property
    def classes(self) -> int:
        """The number of different letters that can come next."""
        return BYTES

    @property
    def letters(self) -> int:
        """The same, and the boundary after a file."""
        return self.classes + 1

    def __post_init__(self) -> None:
        plain = TaskSettings(spec=self.settings.spec)
        for entry in TaskSettings.__struct_fields__:
            if entry not in (*PLAIN, *self.own_entries) and getattr(self.settings, entry) != getattr(
                plain, entry
            ):
                raise InputError(f"task: {entry} means nothing for text; leave it out")

    @cached_property
    def corpus(self) -> Corpus:
        """The bytes, read when they are first asked for."""
        place = self.settings.spec.partition(":")[2]
        return read_corpus(place) if place else standard_library()

    @property
    def protocol(self) -> Published:
        """The protocol for text, with the lengths of this project."""
        return LANGUAGE

    @cached_property
    def test_text(self) -> Array:
        """The letters of the test text, `[n]`."""
        corpus = self.corpus
        return np.concatenate([corpus.train, corpus.test]) if self.whole else corpus.test

    @property
    def unigram_bits(self) -> float:
        """Entropy of the test's bytes in bits: what a model that looks at no byte can reach."""
        text, counts = self.test_text, np.zeros(self.letters, dtype=np.int64)
        for at in range(0, len(text), BLOCK):
            counts += np.bincount(text[at : at + BLOCK], minlength=self.letters)
        counts = counts[: self.classes]
        shares = counts[counts > 0] / counts.sum()
        return float(-(shares * np.log2(shares)).sum())

    def batches(
        self, seeds: Sequence[int], step: int, words: int, length: int, shortest: int | None = None
    ) -> Batch:
        """The windows of the training text for one step: `words` windows for each seed.

        Args:
            seeds: the seed of each model, at least 0.
            step: the training step, counted from 0; the windows depend only on the seed and the step.
            words: the number of words of each seed, at least 1.
            length: the number of letters of each word.
            shortest: None, since all words have this length.

        Returns:
            Letters and labels `[seeds, words, tokens]`.

        Raises:
            InputError: the training text is no longer than `length`.
        """
        text = self.corpus.train
        if len(text) <= length:
            raise InputError(
                f"{self.corpus.name}: {len(text):,} letters of training text, words have {length:,}"
            )
        windows = np.lib.stride_tricks.sliding_window_view(text, length + 1)
        drawn = [generator(TRAINING, seed, step).integers(0, len(windows), size=words) for seed in seeds]
        return _next_letters(windows[np.stack(drawn)], self.classes)

    def stream(self, seed: int, words: int, length: int) -> Iterator[Batch]:
        """Yield test words in pieces, from evenly spaced places of the test text, which is treated as a circle.

        Args:
            seed: the seed that chooses the first place, at least 0.
            words: the number of words, at least 1.
            length: the number of letters of each word.

        Yields:
            Letters and labels `[words, tokens]`.

        Raises:
            LimitError: the test text is shorter than `length`.
        """
        text = self.test_text
        if length > len(text):
            raise LimitError(
                f"{self.corpus.name}: {len(text):,} letters of test text; test up to that length"
            )
        first = int(generator(TESTING, seed).integers(0, len(text)))
        starts = first + np.arange(words)[:, None] * len(text) // words
        for at in range(0, length, PIECE):
            tokens = min(PIECE, length - at)
            places = (starts + at + np.arange(tokens + 1)) % len(text)
            yield _next_letters(text[places], self.classes)

    def contract(self, train_lengths: Span, test_lengths: tuple[str, ...]) -> TaskContract:
        """Describe the task; the text is described by its size and digest.

        Args:
            train_lengths: shortest and longest training word, in letters.
            test_lengths: the lengths of the test words, as texts.

        Returns:
            The contract, which states what a reader must know to compare two results.
        """
        s = self.settings
        return TaskContract(
            task=f"next byte of {self.corpus.name}", alphabet=(*(f"{i:02x}" for i in range(BYTES)), "end"),
            classes=BYTES, order="bytes are read left to right", labels="next byte",
            supervision="per_prefix, none at a file's end", bos=False,
            words=f"windows from any byte; {self.corpus}" + (", tested on all of it" if self.whole else ""),
            held_out=(), train_lengths=train_lengths, test_lengths=test_lengths, fidelity=s.fidelity or "extension",
            source=s.source or "", chance=1 / BYTES, settings=msgspec.to_builtins(s),
        )  # fmt: skip


def _next_letters(windows: Array, boundary: int) -> Batch:
    """From windows `[..., tokens + 1]`: letters, and what comes after each; nothing to learn where that is the boundary."""
    if windows.dtype.kind == "u":  # of token files
        windows = windows.astype(np.int64)
    labels = windows[..., 1:]
    return Batch(windows[..., :-1], np.where(labels == boundary, windows.dtype.type(IGNORED), labels))
