"""`Corpus`: bytes of real text, split by files into training and test; by default Python's own standard library."""

from __future__ import annotations

import hashlib
import os
import platform
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...constructions.errors import InputError, LimitError
from .sampling import Array

BOUNDARY = 256
"""The letter after each file's last byte."""
EVERY = 10
"""Every tenth file is for testing; of a single file, its last tenth."""
LEFT_OUT = {"site-packages", "dist-packages", "__pycache__", "test", "tests", "idle_test", "encodings"}
"""Folders of the standard library that are not read: other people's code, what some machines lack, and `encodings`,
whose tables are nearly copies of each other and would stand on both sides of the split."""


@dataclass(frozen=True, eq=False)
class Corpus:
    """Letters `[n]` in int16: bytes, and `BOUNDARY` after each file. `digest`: SHA-256 of all names and contents."""

    name: str
    train: Array
    test: Array
    train_files: int
    test_files: int
    digest: str

    def __str__(self) -> str:
        def part(files: int, letters: Array) -> str:
            return f"{files:,} file{'s' * (files != 1)} ({int((letters != BOUNDARY).sum()):,} bytes)"

        return (
            f"train {part(self.train_files, self.train)}, test {part(self.test_files, self.test)}, "
            f"sha256 {self.digest[:16]}"
        )


def standard_library(most: int = 1 << 28) -> Corpus:
    """The `.py` files of the running Python's standard library; the digest tells one version from another."""
    root = Path(sysconfig.get_paths()["stdlib"])
    files = [
        path
        for path in _files(root, lambda folder: folder not in LEFT_OUT)
        if path.suffix == ".py" and not path.name.startswith("_sysconfigdata")  # which differs by machine
    ]
    return _corpus(f"standard library of Python {platform.python_version()}", root, files, most)


def corpus_of(place: str, most: int = 1 << 28) -> Corpus:
    """A text file, or all text files of a folder, in the order of their paths.

    Hidden files and folders are left out, and files with a zero byte, which are no text. `InputError` where nothing is
    left; `LimitError` for more than `most` bytes.
    """
    root = Path(place)
    if root.is_file():
        return _corpus(root.name, root.parent, [root], most)
    if not root.is_dir():
        raise InputError(f"{place}: no such file or folder of text")
    files = [
        path
        for path in _files(root, lambda folder: not folder.startswith("."))
        if path.is_file() and not path.name.startswith(".")
    ]
    return _corpus(root.resolve().name, root, files, most)


def _files(root: Path, kept: Callable[[str], bool]) -> Iterator[Path]:
    for place, folders, names in os.walk(root):
        folders[:] = filter(kept, folders)
        yield from (Path(place, name) for name in names)


def _corpus(name: str, root: Path, paths: Sequence[Path], most: int) -> Corpus:
    total = sum(path.stat().st_size for path in paths)
    if total > most:
        raise LimitError(f"{name}: {total:,} bytes, more than {most:,}; give a smaller text")
    digest, texts = hashlib.sha256(), []
    for path in sorted(paths, key=lambda p: p.relative_to(root).parts):
        try:
            text = path.read_bytes()
        except OSError as error:
            raise InputError(f"{path}: {error.strerror}") from None
        if text and b"\0" not in text:
            digest.update(f"{path.relative_to(root).as_posix()}\0{len(text)}\0".encode() + text)
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
