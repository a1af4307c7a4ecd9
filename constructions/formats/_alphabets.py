"""The argument `alphabet`: letters as one text, an alphabet with a name, or a file with one letter a line."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ...foundation._files import is_file, read_text
from ...foundation._text import refusal
from ..automata._completing import label_problems

ALPHABETS = {
    "ascii": [chr(code) for code in range(128)],
    "printable": [chr(code) for code in range(32, 127)],
    "bytes": [chr(code) for code in range(256)],
}
"""Alphabets that have a name: the characters of ASCII, those that are printed, and a character for each byte."""


def read_alphabet(alphabet: str, *, single: bool = False) -> Sequence[str]:
    """The letters of the file, if the text is the path of one; else the text as it stands.

    Args:
        alphabet: the text.
        single: whether each letter must be one character.
    """
    if any(sign in alphabet for sign in "/.") and is_file(alphabet):
        return _letters_in_file(alphabet, single)
    return alphabet


def letters_of_alphabet(alphabet: Sequence[str], name: str) -> list[str]:
    """The letters of a list, of one text of characters, or of an alphabet's name.

    Args:
        alphabet: the letters.
        name: the name with which error messages begin.

    Raises:
        InputError: a letter is listed twice, or there is none.
    """
    letters = list(ALPHABETS.get(alphabet, alphabet) if isinstance(alphabet, str) else alphabet)
    problems = label_problems(letters, "letter")
    if not letters:
        problems.append("the alphabet is empty: state at least one letter")
    if problems:
        raise refusal(name, problems)
    return letters


def _letters_in_file(path: str, single: bool) -> list[str]:
    """One letter a line: the letter itself, or a JSON text of it, such as `"\\n"`."""
    letters, problems = [], []
    for number, line in enumerate(read_text(path).split("\n"), 1):
        letter = line
        if len(line) > 2 and line.startswith('"'):
            try:
                letter = json.loads(line)
            except ValueError:
                letter = line
        if not isinstance(letter, str) or (single and len(letter) > 1):
            what = "one character" if single else "a letter"
            problems.append(f"line {number}: {line[:40]!r} is not {what}, nor a JSON text of one")
        elif letter:
            letters.append(letter)
    if problems:
        raise refusal(path, problems)
    return letters
