"""Sets of characters in a pattern: literals, `.`, `[a-z]`, `\\d`, `\\w`, `\\s`, and their negations, with the flags i, s and a.

A set decides for one character at a time, so that one pattern serves every alphabet. It also names the characters that were
written, from which the alphabet is made where none is given. Membership is that of Python's `re`: `\\w` is letters, digits and the
underscore of Unicode, or of ASCII with the flag a.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

_ASCII = [chr(code) for code in range(128)]
CATEGORIES: dict[str, Callable[[str], bool]] = {
    "d": str.isdecimal,
    "w": lambda c: c.isalnum() or c == "_",
    "s": str.isspace,
}
"""The category of each lower-case letter; the upper-case letter is its negation."""


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
        found = found or any(self._in_category(c, kind) for kind in self.categories for c in variants)
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
            yield from (c for c in _ASCII if CATEGORIES[kind.lower()](c))

    def count_written(self) -> int:
        """At least as many as `written` gives, without listing them."""
        return sum(ord(last) - ord(first) + 1 for first, last in self.ranges)

    @property
    def literal(self) -> str | None:
        """The one character, if it is written as itself."""
        single = len(self.ranges) == 1 and not self.categories and not self.negated
        return self.ranges[0][0] if single and self.ranges[0][0] == self.ranges[0][1] else None

    def _in_category(self, character: str, kind: str) -> bool:
        inside = CATEGORIES[kind.lower()](character) and not (self.ascii_only and not character.isascii())
        return inside != kind.isupper()

    def cases(self, character: str) -> tuple[str, ...]:
        """A character with its other cases, where these are ignored."""
        if not self.ignore_case:
            return (character,)
        if self.ascii_only and not character.isascii():
            return (character,)
        found = {character: None}
        while True:
            more = [c for x in found for c in (x.lower(), x.upper()) if len(c) == 1 and c not in found]
            more = [c for c in more if not self.ascii_only or c.isascii()]
            if not more:
                return tuple(found)
            found |= dict.fromkeys(more)
