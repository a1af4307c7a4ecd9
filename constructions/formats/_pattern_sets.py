"""Sets of characters in a pattern: literals, `.`, `[a-z]`, `\\d`, `\\w`, `\\s`, and their negations, with the flags i, s and a.

A set decides for one character at a time, so that one pattern serves every alphabet. It also names the characters that were
written, from which the alphabet is made where none is given. Membership is that of Python's `re`: `\\w` is letters, digits and the
underscore of Unicode, or of ASCII with the flag a. With the flag i two characters are one if their lower cases are, or if these have one upper
case: `s` matches `S` and the long `ſ`, and `i` matches the Turkish `İ` and `ı`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

_ASCII = [chr(code) for code in range(128)]
CATEGORIES: dict[str, Callable[[str], bool]] = {
    "d": str.isdecimal,
    "w": lambda c: c.isalnum() or c == "_",
    "s": str.isspace,
}
"""The category of each lower-case letter; the upper-case letter is its negation."""
_ASCII_SPACES = " \t\n\r\f\v"  # those of Unicode have the separators U+001C to U+001F too
_CASED = 0x20000
"""No character from here on has a case."""


def _lower(character: str) -> str:
    """The lower case as one character; of `İ`, which has two, the letter without its dot, as in `re`."""
    return character.lower()[0]


@cache
def _case_classes() -> dict[str, tuple[str, ...]]:
    """For each character with case all that are one with it where case is ignored, itself included."""
    cased = [c for c in map(chr, range(_CASED)) if c.lower() != c or c.upper() != c]
    by_upper: dict[str, set[str]] = {}
    for c in cased:
        by_upper.setdefault(c.upper(), set()).add(_lower(c))
    # lower-case characters of one upper case: s and ſ, σ and ς
    alike: dict[str, set[str]] = {}
    for lowers in by_upper.values():
        for c in lowers:
            alike.setdefault(c, {c}).update(lowers)
    by_lower: dict[str, list[str]] = {}
    for c in cased:
        by_lower.setdefault(_lower(c), []).append(c)
    return {
        c: tuple(sorted(other for low in alike[_lower(c)] for other in {low, *by_lower.get(low, ())}))
        for c in cased
    }


@dataclass(frozen=True)
class CharacterSet:
    """The characters that one place of a pattern matches.

    Attributes:
        ranges: inclusive pairs of characters; a literal is a pair of equal ones.
        categories: letters of `CATEGORIES`, in upper case for the negation.
        negated: whether it matches all characters that the rest does not.
        ignore_case: whether a character stands for its other case too.
        ascii_only: whether categories, and cases, are those of ASCII.
    """

    ranges: tuple[tuple[str, str], ...] = ()
    categories: tuple[str, ...] = ()
    negated: bool = False
    ignore_case: bool = False
    ascii_only: bool = False

    def has(self, character: str) -> bool:
        """Whether it matches a character."""
        variants = self.cases(character)
        found = any(first <= c <= last for first, last in self.ranges for c in variants)
        found = found or any(self._in_category(character, kind) for kind in self.categories)
        return found != self.negated

    def has_others(self) -> bool:
        """Whether it matches a character that is nowhere in the pattern, nor a line end."""
        return self.negated != any(kind.isupper() for kind in self.categories)

    def written(self) -> Iterable[str]:
        """The characters that it names, of categories those of ASCII."""
        for first, last in self.ranges:
            for code in range(ord(first), ord(last) + 1):
                yield from self.cases(chr(code))
        for kind in self.categories:
            yield from (c for c in _ASCII if self._in_category(c, kind.lower()))

    def count_written(self) -> int:
        """At least as many as `written` gives, without listing them."""
        return sum(ord(last) - ord(first) + 1 for first, last in self.ranges)

    @property
    def literal(self) -> str | None:
        """The one character, if it is written as itself."""
        single = len(self.ranges) == 1 and not self.categories and not self.negated
        return self.ranges[0][0] if single and self.ranges[0][0] == self.ranges[0][1] else None

    def _in_category(self, character: str, kind: str) -> bool:
        if self.ascii_only and kind.lower() == "s":
            inside = character in _ASCII_SPACES
        else:
            inside = CATEGORIES[kind.lower()](character) and not (self.ascii_only and not character.isascii())
        return inside != kind.isupper()

    def cases(self, character: str) -> tuple[str, ...]:
        """A character with its other cases, where these are ignored."""
        if not self.ignore_case:
            return (character,)
        if not self.ascii_only:
            return _case_classes().get(character, (character,))
        if not (character.isascii() and character.isalpha()):
            return (character,)
        return (character.upper(), character.lower())
