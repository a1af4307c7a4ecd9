"""`Reading`: the tokens that an audit of weights reads, and the class of each: bytes of a file, tokens of a tokenizer, or random words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ...constructions.automata._automaton import Indices
from ...foundation._errors import InputError, LimitError
from ...foundation._extras import needed_by
from ...foundation._files import is_file, path_of, shown_path, system_errors
from ...foundation._text import count_noun
from ..tasks._task import Task

BYTE_CLASSES = ("letters", "digits", "whitespace", "newline", "punctuation", "other")
"""The classes of bytes, in the order of their numbers."""
MOST_CLASSES = 64
"""Letters of an alphabet up to which each is a class of its own."""
LEAST = 16
"""Tokens that a text has at least."""
MOST_TOKENS = 2**22
"""Tokens of all windows together."""
MOST_TOKENIZED = 2**26
"""Bytes of a text that a tokenizer reads, since it takes a text as a whole."""


@dataclass(frozen=True, eq=False)
class Reading:
    """What a model reads, each window from the model's first state.

    Attributes:
        tokens: int `[windows, tokens]`.
        classes: the class of each token, of the same shape.
        names: the name of each class.
        text: where the tokens come from, in words.
    """

    tokens: Indices
    classes: Indices
    names: tuple[str, ...]
    text: str


def classify_bytes(values: Any) -> Indices:
    """The class of each byte by its ASCII sign; bytes from 128 on and control characters are `other`.

    Args:
        values: int, from 0 to 256, where 256 stands for the end of a file.

    Returns:
        Numbers of `BYTE_CLASSES`, of the same shape.
    """
    return np.asarray(_byte_table()[np.asarray(values, dtype=np.int64)], dtype=np.int64)


def _byte_table() -> Indices:
    table = np.full(257, 5, dtype=np.int64)
    for value in range(33, 127):
        sign = chr(value)
        table[value] = 0 if sign.isalpha() else 1 if sign.isdigit() else 4
    table[[9, 11, 12, 13, 32]] = 2
    table[10] = 3
    return table


def read_byte_windows(text: str | PathLike[str] | bytes, words: int, length: int) -> Reading:
    """Windows of bytes, evenly spaced, of which only these are read.

    Args:
        text: a file, or its content.
        words: the largest number of windows.
        length: the number of bytes of each; a shorter text is one window.

    Returns:
        Tokens from 0 to 255.

    Raises:
        InputError: there is no such file, or it has fewer than `LEAST` bytes.
    """
    if isinstance(text, bytes):
        starts, length = _windows(len(text), words, length, "`text`")
        pieces = [text[at : at + length] for at in starts]
        name, size = "the text", len(text)
    else:
        path = _file(text)
        with system_errors(path):
            size = path.stat().st_size
            starts, length = _windows(size, words, length, shown_path(path))
            with path.open("rb") as file:
                pieces = []
                for at in starts:
                    file.seek(at)
                    pieces.append(file.read(length))
        name = path.name
    tokens = np.array([np.frombuffer(piece, dtype=np.uint8) for piece in pieces], dtype=np.int64)
    return Reading(
        tokens, classify_bytes(tokens), BYTE_CLASSES, _describe(len(starts), length, "byte", size, name)
    )


def read_with_tokenizer(
    folder: Path, text: str | PathLike[str] | bytes, vocabulary: int, words: int, length: int
) -> Reading:
    """Windows of the tokens that the folder's `tokenizer.json` makes of a text; the class of a token is that of its first sign.

    Args:
        folder: the checkpoint.
        text: a file in UTF-8, or its content.
        vocabulary: the number of tokens of the model.
        words: the largest number of windows, evenly spaced.
        length: the number of tokens of each; a shorter text is one window.

    Returns:
        The tokens.

    Raises:
        InputError: there is no `tokenizer.json`, the package `tokenizers` is missing, or the text is no UTF-8, is too short, or has tokens
            that the model does not have.
        LimitError: the text has more than `MOST_TOKENIZED` bytes.
    """
    place = folder / "tokenizer.json"
    if not is_file(place):
        raise InputError(
            f"{place}: no such file, and the model has {vocabulary:,} tokens, which are no bytes: save its tokenizer there (save_pretrained "
            "of a fast tokenizer writes tokenizer.json), or leave out the text and give a task.json with its letters"
        )
    with needed_by("a text of tokens"):
        from tokenizers import Tokenizer

    content, name = text, "the text"
    if not isinstance(content, bytes):
        path = _file(content)
        name = path.name
        with system_errors(path):
            size = path.stat().st_size
            if size <= MOST_TOKENIZED:
                content = path.read_bytes()
    else:
        size = len(content)
    if size > MOST_TOKENIZED or not isinstance(content, bytes):
        raise LimitError(
            f"{name}: {size:,} bytes; a tokenizer is given at most {MOST_TOKENIZED:,}: give a part of the text"
        )
    try:
        signs = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: byte {error.start} is no UTF-8; give a text in UTF-8") from None
    try:
        encoding = Tokenizer.from_file(str(place)).encode(signs, add_special_tokens=False)
    except Exception as error:  # the package raises plain Exception
        raise InputError(f"{place}: no tokenizer of the package tokenizers ({error})") from None
    every = np.array(encoding.ids, dtype=np.int64)
    if every.size and every.max() >= vocabulary:
        raise InputError(
            f"{place}: makes token {every.max():,}, and the model has {vocabulary:,} tokens: give the tokenizer that it was trained with"
        )
    first = [signs[a:b].strip(" ")[:1] or " " for a, b in encoding.offsets]
    codes = [sign.encode()[0] for sign in first]
    starts, length = _windows(len(every), words, length, name)
    at = np.array(starts)[:, None] + np.arange(length)
    return Reading(
        every[at], classify_bytes(codes)[at], BYTE_CLASSES, _describe(len(starts), length, "token", len(every), name)
    )  # fmt: skip


def read_task_words(task: Task, alphabet: Sequence[str], words: int, length: int, seed: int) -> Reading:
    """Random words of a task, with BOS where it has one; for words that end with a letter of their own, without that letter.

    Args:
        task: the task.
        alphabet: the texts of its letters.
        words: the number of words.
        length: the number of letters of each.
        seed: the seed of the words.

    Returns:
        The words; each letter of up to `MOST_CLASSES` is a class.
    """
    from ..tasks._automaton import AutomatonTask

    if isinstance(task, AutomatonTask):
        pieces = [batch.letters for batch in task.sampler.stream(seed, words, length)]
        letters = np.concatenate(pieces, axis=1)
        if task.bos:
            letters = np.concatenate(
                [np.full((words, 1), len(task.automaton.letters)), letters.astype(np.int64)], axis=1
            )
        kind = (
            "uniform random words"
            if task.sampler.words == "uniform"
            else f"random words ({task.sampler.words})"
        )
    else:
        letters = np.concatenate([batch.letters for batch in task.stream(seed, words, length)], axis=1)
        kind = "random words"
    return letter_reading(
        letters, alphabet, f"{words:,} {kind} of {count_noun(length, 'letter')}, seed {seed}"
    )


def letter_reading(letters: Any, alphabet: Sequence[str], text: str) -> Reading:
    """Words of letters as a reading.

    Args:
        letters: int `[words, tokens]`.
        alphabet: the texts of the letters; up to `MOST_CLASSES` of them are classes.
        text: where the words come from.

    Returns:
        The reading.
    """
    tokens = np.asarray(letters, dtype=np.int64)
    if len(alphabet) > MOST_CLASSES:
        return Reading(tokens, np.zeros_like(tokens), ("all letters",), text)
    return Reading(tokens, tokens, tuple(alphabet), text)


def _file(text: str | PathLike[str]) -> Path:
    path = path_of(text, "text", "the path of a text file, or its bytes")
    if not is_file(path):
        raise InputError(f"{shown_path(path)}: no such file of text")
    return path


def _windows(size: int, words: int, length: int, name: str) -> tuple[list[int], int]:
    """The first places of evenly spaced windows of `length` of `size` tokens, and the length, which is `size` where that is less."""
    if size < LEAST:
        raise InputError(
            f"{name}: {count_noun(size, 'token')}; at least {LEAST} are needed: give a longer text"
        )
    length = min(length, size)
    count = min(words, size // length)
    return [i * (size - length) // max(count - 1, 1) for i in range(count)], length


def _describe(windows: int, length: int, noun: str, size: int, name: str) -> str:
    total = f"{count_noun(size, noun)} of {name}"
    if windows * length == size:
        return f"all {total}" if windows == 1 else f"all {total}, in {windows:,} windows"
    return f"{count_noun(windows, 'window')} of {count_noun(length, noun)}, evenly spaced over the {total}"
