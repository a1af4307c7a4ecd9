"""A word that somebody wrote as one text, read as letters: the one rule for `Automaton.word`, `run` and the command line.

1. Where the text of every letter is one character, the word is a row of characters, if all of them are letters: `abba`. The
   letter `other` of a pattern, which stands for every other character, may be there as well: it is written in the ways below.
2. Else letters are separated by blanks: `+1 -1 +1`. A letter may have blanks in it, `(0, 1) (1, 0)`; of several that
   stand at a place the longest is read. Where a letter is a blank itself, exactly one blank separates two letters.
3. Else the word is a JSON list of the letters' texts, `["a", ""]`, in which every letter can be written.

The empty text is the empty word; where `""` is a letter, `[]` or `[""]` says which of the two is meant.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from ...foundation._errors import InputError


def read_word(text: str, letters: Sequence[str], name: str) -> list[int]:
    """The indices of the letters that a text writes.

    Args:
        text: the word.
        letters: the texts of the letters.
        name: of the automaton, for errors.

    Raises:
        InputError: the text is no word, with what was tried; or two letters have the same text.
    """
    places = {letter: i for i, letter in enumerate(letters)}
    if len(places) < len(letters):
        raise InputError(
            f"{name}: two letters have the same text, so a text does not say which: give a list of letters"
        )
    if text == "":
        if "" in places:
            raise InputError(
                f"{name}: the empty text is the empty word or the letter '': write [] for the word, [\"\"] for the letter"
            )
        return []
    tried = []
    if all(len(letter) == 1 or letter == "other" for letter in places):
        wrong = next((character for character in text if character not in places), None)
        if wrong is None:
            return [places[character] for character in text]
        tried.append(f"as characters in a row, {wrong!r} is not a letter")
    found, rest = _split_at_blanks(text, places)
    if found and not rest:
        return [places[letter] for letter in found]
    tried.append(f"separated by blanks, no letter stands at {rest[:40]!r}" if rest else "it has blanks alone")
    if text.lstrip().startswith("["):
        listed = _listed(text)
        wrong = None if listed is None else next((x for x in listed if x not in places), None)
        if listed is not None and wrong is None:
            return [places[letter] for letter in listed]
        tried.append(
            "it is no JSON list of texts" if listed is None else f"as a list, {wrong!r} is not a letter"
        )
    shown = ", ".join(repr(letter) for letter in list(places)[:8]) + ", ..." * (len(places) > 8)
    raise InputError(
        f"{name}: {text[:60]!r} is not a word over its letters {shown}: {'; '.join(tried)}. Separate the letters by blanks, or "
        'give them as a list, as in ["a", "b"]'
    )


def _split_at_blanks(text: str, places: dict[str, int]) -> tuple[list[str], str]:
    """The letters from the left, and what is left over where no letter stands."""
    blank = any(letter.isspace() for letter in places)
    longest_first = sorted(filter(None, places), key=len, reverse=True)
    found, rest = [], text if blank else text.strip()
    while rest:
        end = next(
            (
                len(x)
                for x in longest_first
                if rest.startswith(x) and (len(rest) == len(x) or rest[len(x)].isspace())
            ),
            None,
        )
        if end is None:
            break
        found.append(rest[:end])
        rest = rest[end + 1 :] if blank else rest[end:].lstrip()
    return found, rest


def _listed(text: str) -> list[str] | None:
    """The entries of a JSON list of texts; None for anything else."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, list) and all(isinstance(x, str) for x in found) else None
