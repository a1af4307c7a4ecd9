r"""Patterns in the syntax of Python's `re`, as far as they are regular: a text to a tree.

Read here: literals and escapes, `.`, classes, `\d \w \s` and their negations, `|`, groups of every kind that only groups, `* + ?
{m} {m,} {,n} {m,n}` and their lazy forms, the anchors `^ $ \A \Z \b \B`, comments, and the flags a, i, m, s, u and x. Refused by name:
look-around, back-references, conditions, atomic groups and possessive repetitions, which are no regular operations or are none on
whole words. A pattern matches whole words, so a lazy repetition is the same as a greedy one.

The parser is our own: `re._parser` is private, differs between versions of Python, and has no positions in its tree.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from typing import NamedTuple

from ...foundation._errors import InputError, LimitError
from ._pattern_sets import CharacterSet

MAX_DEPTH = 200
_REPEAT = re.compile(r"\{([0-9]*)(,?)([0-9]*)\}")
_CONTROL = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\"}
_HEXADECIMAL = {"x": 2, "u": 4, "U": 8}
_ANCHORS = {"A": "start", "Z": "end", "b": "boundary", "B": "no boundary"}
_LOOK_AROUND = {
    "=": "look-ahead",
    "!": "negative look-ahead",
    "<=": "look-behind",
    "<!": "negative look-behind",
}
_FLAGS = "aimsuxL"


class Node(NamedTuple):
    """A part of a pattern.

    Attributes:
        kind: `set`, `sequence`, `choice`, `repeat` or `anchor`.
        parts: of a sequence or a choice; the one that is repeated.
        size: how many letters stand in it once repetitions are written out.
        depth: how deep its parts are nested.
        place: of a set, its position in the pattern.
        characters: of a set.
        low, high: of a repetition; None for no bound.
        anchor: `start`, `end`, `line start`, `line end`, `last line end`, `boundary` or `no boundary`, `ascii` before the last two
            where words are those of ASCII.
    """

    kind: str
    parts: tuple[Node, ...] = ()
    size: int = 0
    depth: int = 1
    place: int = 0
    characters: CharacterSet = CharacterSet()
    low: int = 0
    high: int | None = None
    anchor: str = ""


class Pattern(NamedTuple):
    """A pattern's tree; `sets` lists every set in it, and `is_plain` says whether it has only letters, digits and `|*+?()`."""

    tree: Node
    sets: list[tuple[int, CharacterSet]]
    is_plain: bool
    has_anchors: bool


@dataclass
class _Group:
    """A parenthesis that is open: its finished alternatives, the sequence at hand, and the flags inside."""

    position: int
    flags: frozenset[str]
    alternatives: list[Node] = field(default_factory=list)
    sequence: list[Node] = field(default_factory=list)
    last: str = "nothing"
    """What a repetition would repeat: `nothing`, `atom`, `repeated` or `anchor`."""


def parse_pattern(pattern: str, name: str, max_letters: int) -> Pattern:
    """The tree of a pattern.

    Args:
        pattern: the text.
        name: with which errors begin.
        max_letters: the largest number of letters, once repetitions are written out.

    Raises:
        InputError: the pattern is wrong or not regular; the message has the position, counted from 1.
        LimitError: repetitions unfold to more than `max_letters` letters.
    """
    return _Parser(pattern, name, max_letters).parse()


class _Parser:
    def __init__(self, pattern: str, name: str, max_letters: int) -> None:
        self.pattern, self.name, self.max_letters = pattern, name, max_letters
        self.at = 0
        self.is_plain = True
        self.has_anchors = False
        self.sets: list[tuple[int, CharacterSet]] = []
        self.names: set[str] = set()
        self.groups = [_Group(0, frozenset())]

    def error(self, position: int, what: str) -> InputError:
        """An error at a place in the pattern, counted from 1."""
        return InputError(f"{self.name}: position {position + 1}: {what}")

    def parse(self) -> Pattern:
        while self.at < len(self.pattern):
            self._step()
        if len(self.groups) > 1:
            raise self.error(self.groups[-1].position, "'(' is never closed")
        return Pattern(self._close(self.groups[0]), self.sets, self.is_plain, self.has_anchors)

    def _take(self) -> str:
        self.at += 1
        return self.pattern[self.at - 1]

    def _next_is(self, text: str) -> bool:
        return self.pattern.startswith(text, self.at)

    def _step(self) -> None:
        position, group = self.at, self.groups[-1]
        character = self._take()
        if "x" in group.flags and (character.isspace() or character == "#"):
            if character == "#":
                end = self.pattern.find("\n", position)
                self.at = len(self.pattern) if end < 0 else end
        elif character == "(":
            self._open(position)
        elif character == ")":
            if len(self.groups) == 1:
                raise self.error(position, "')' closes nothing")
            node = self._close(self.groups.pop())
            self._append(node, "atom")
        elif character == "|":
            group.alternatives.append(_sequence(group.sequence))
            group.sequence, group.last = [], "nothing"
        elif character in "*+?":
            low, high = {"*": (0, None), "+": (1, None), "?": (0, 1)}[character]
            self._quantify(position, low, high)
        elif character == "{" and (repeat := _REPEAT.match(self.pattern, position)) and repeat[0] != "{}":
            self.is_plain = False
            self.at = repeat.end()
            self._quantify(position, *self._bounds(repeat, position))
        elif character == ".":
            ranges = () if "s" in group.flags else (("\n", "\n"),)
            self.is_plain = False
            self._append_set(CharacterSet(ranges, negated=True), position, named=False)
        elif character == "[":
            self._append_set(self._class(position), position)
        elif character == "^":
            self._anchor("line start" if "m" in group.flags else "start")
        elif character == "$":
            self._anchor("line end" if "m" in group.flags else "last line end")
        elif character == "\\":
            self._escape(position)
        else:
            self.is_plain = self.is_plain and character.isalnum()
            self._append_set(self._set(((character, character),)), position)

    def _set(
        self, ranges: tuple[tuple[str, str], ...], categories: tuple[str, ...] = (), negated: bool = False
    ) -> CharacterSet:
        flags = self.groups[-1].flags
        return CharacterSet(ranges, categories, negated, "i" in flags, "a" in flags)

    def _append_set(self, characters: CharacterSet, position: int, named: bool = True) -> None:
        if named:
            self.sets.append((position, characters))
        self._append(Node("set", size=1, place=position, characters=characters), "atom")

    def _append(self, node: Node, last: str) -> None:
        if node.depth > MAX_DEPTH:
            raise self.error(
                self.at - 1, f"repetitions and alternatives are nested more than {MAX_DEPTH} deep"
            )
        if node.size > self.max_letters:
            raise LimitError(
                f"{self.name}: the pattern unfolds to {node.size} letters, the limit is {self.max_letters}; "
                "raise it with `max_states`"
            )
        self.groups[-1].sequence.append(node)
        self.groups[-1].last = last

    def _anchor(self, kind: str) -> None:
        self.is_plain, self.has_anchors = False, True
        self._append(Node("anchor", anchor=kind), "anchor")

    def _close(self, group: _Group) -> Node:
        parts = [*group.alternatives, _sequence(group.sequence)]
        if len(parts) == 1:
            return parts[0]
        depth = 1 + max(part.depth for part in parts)
        return Node("choice", tuple(parts), sum(part.size for part in parts), depth)

    def _bounds(self, repeat: re.Match[str], position: int) -> tuple[int, int | None]:
        if max(len(repeat[1]), len(repeat[3])) > 9:
            raise LimitError(
                f"{self.name}: position {position + 1}: {repeat[0][:40]} repeats too often; at most 999999999 times"
            )
        low = int(repeat[1] or 0)
        high = low if not repeat[2] else int(repeat[3]) if repeat[3] else None
        if high is not None and high < low:
            raise self.error(position, f"{repeat[0]} has its bounds the wrong way round")
        return low, high

    def _quantify(self, position: int, low: int, high: int | None) -> None:
        group, sign = self.groups[-1], self.pattern[position]
        if group.last == "repeated":
            raise self.error(
                position, "a second repetition of the same thing: put the first into parentheses"
            )
        if group.last != "atom":
            raise self.error(position, f"{sign!r} has nothing to repeat; for the letter write \\{sign}")
        if self._next_is("+"):
            raise self.error(self.at, "a possessive repetition is not read: leave the second sign out")
        if self._next_is("?"):  # lazy: the same words
            self.at += 1
        part = group.sequence.pop()
        copies = max(low, 1) if high is None else high
        self._append(
            Node("repeat", (part,), part.size * copies, part.depth + 1, low=low, high=high), "repeated"
        )

    def _open(self, position: int) -> None:
        flags = self.groups[-1].flags
        if self._next_is("*"):  # the message of `*` alone would not say where
            raise self.error(self.at, "'*' has nothing to repeat; for the letter write \\*")
        if self._next_is("?"):
            self.is_plain = False
            self.at += 1
            kind = next((k for k in ("<=", "<!", "=", "!") if self._next_is(k)), None)
            if kind is not None:
                raise self.error(
                    position, f"a {_LOOK_AROUND[kind]}, (?{kind}...), is not read; state the words themselves"
                )
            if self._next_is("#"):
                end = self.pattern.find(")", self.at)
                if end < 0:
                    raise self.error(position, "the comment is never closed")
                self.at = end + 1
                return
            inner = self._extension(position, flags)
            if inner is None:
                return
            flags = inner
        self.groups.append(_Group(position, flags))

    def _extension(self, position: int, flags: frozenset[str]) -> frozenset[str] | None:
        """The flags inside a group `(?...`, behind whose head the parser then is; None where it is no group, as `(?i)`."""
        if self._next_is(":"):
            self.at += 1
            return flags
        if named := re.compile(r"P<([^>)]*)>").match(self.pattern, self.at):
            if not named[1].isidentifier():
                raise self.error(position, f"{named[1]!r} is no name of a group")
            if named[1] in self.names:
                raise self.error(position, f"a second group of the name {named[1]!r}: rename it")
            self.names.add(named[1])
            self.at = named.end()
            return flags
        refusals = {
            "P=": "a back-reference, (?P=name), is not regular",
            "P>": "a recursion is not regular",
            "R": "a recursion is not regular",
            ">": "an atomic group, (?>...), is not read: write (?:...)",
            "(": "a condition, (?(1)...), is not read: write the alternatives out",
            "<": "Python writes a named group (?P<name>...)",
        }
        for head, what in refusals.items():
            if self._next_is(head):
                raise self.error(position, what)
        found = re.compile(r"([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])").match(self.pattern, self.at)
        unknown = [f for f in (found[1] + (found[2] or "")) if f not in _FLAGS] if found else [""]
        if found is None or unknown or not (found[1] or found[2]):
            raise self.error(
                position, f"{self.pattern[position : position + 4]!r} begins no group that Python knows"
            )
        if "L" in found[1]:
            raise self.error(position, "the flag L, for the locale, is not read")
        if {"a", "u"} <= set(found[1]):
            raise self.error(position, "the flags a and u exclude each other: leave one of them out")
        if fixed := sorted(set(found[2] or "") & set("aLu")):
            raise self.error(
                position, f"the flag {fixed[0]} cannot be turned off: write (?u:...) or (?a:...)"
            )
        self.at = found.end()
        changed = (flags | set(found[1])) - set(found[2] or "")
        if "u" in found[1]:
            changed -= {"a"}
        if found[3] == ":":
            return frozenset(changed)
        top = self.groups[0]
        if len(self.groups) > 1 or top.sequence or top.alternatives or found[2]:
            raise self.error(
                position, f"{found[0]!r} must stand at the start of the pattern, or be (?{found[1]}:...)"
            )
        self.groups[-1].flags = frozenset(changed)
        return None

    def _escape(self, position: int) -> None:
        self.is_plain = False
        if self.at >= len(self.pattern):
            raise self.error(position, "a backslash needs a character after it")
        character = self.pattern[self.at]
        if character in _ANCHORS:
            self.at += 1
            narrow = character in "bB" and "a" in self.groups[-1].flags
            self._anchor("ascii " * narrow + _ANCHORS[character])
        elif character.lower() in "dws":
            self.at += 1
            self._append_set(self._set((), (character,)), position)
        else:
            literal = self._character(position)
            self._append_set(self._set(((literal, literal),)), position)

    def _character(self, position: int, inside: bool = False) -> str:
        """The character of an escape, behind whose backslash the parser is; `inside` a class."""
        character = self._take()
        if character in _CONTROL:
            return _CONTROL[character]
        if character in _HEXADECIMAL:
            digits = re.compile(f"[0-9a-fA-F]{{{_HEXADECIMAL[character]}}}").match(self.pattern, self.at)
            if digits is None or int(digits[0], 16) > 0x10FFFF:
                raise self.error(
                    position,
                    f"\\{character} needs {_HEXADECIMAL[character]} hexadecimal digits of a character",
                )
            self.at = digits.end()
            return chr(int(digits[0], 16))
        if character == "N":
            named = re.compile(r"\{([^}]*)\}").match(self.pattern, self.at)
            try:
                literal = unicodedata.lookup(named[1]) if named else ""
            except KeyError:
                literal = ""
            if named is None or len(literal) != 1:
                raise self.error(position, "\\N needs the name of a character, as in \\N{EM DASH}")
            self.at = named.end()
            return literal
        if character.isascii() and character.isdigit():
            return self._octal(position, inside)
        if inside and character == "b":
            return "\b"
        if character in "pP" and self.pattern.startswith("{", self.at):
            raise self.error(
                position,
                f"\\{character}{{...}} is no escape of Python, which has no classes by property: list the characters, as in [a-zà-ÿ]",
            )
        if character.isascii() and character.isalpha():
            raise self.error(
                position, f"\\{character} is no escape of Python; for the letter write {character} alone"
            )
        return character

    def _octal(self, position: int, inside: bool) -> str:
        start = self.at - 1
        octal = re.compile(r"0[0-7]{0,2}|[0-3][0-7]{2}" + ("|[0-7]{1,2}" if inside else "")).match(
            self.pattern, start
        )
        if octal is None:
            digits = re.compile("[0-9]+").match(self.pattern, start)
            shown = digits[0] if digits else ""
            raise self.error(position, f"\\{shown}, a back-reference, is not regular: write the words out")
        self.at = octal.end()
        return chr(int(octal[0], 8))

    def _class(self, position: int) -> CharacterSet:
        """`[abc]`, `[a-z]`, `[^ab]`, `[\\d_]`; moves behind the `]`."""
        self.is_plain = False
        negated = self._next_is("^")
        self.at += negated
        ranges: list[tuple[str, str]] = []
        categories: list[str] = []
        first_at = self.at
        while not self._next_is("]") or self.at == first_at:
            begin = self.at
            first = self._member(position)
            if self._next_is("-") and not self._next_is("-]") and self.at + 1 < len(self.pattern):
                self.at += 1
                if self._next_is("-"):
                    raise self.error(self.at, "-- in a class may be an operation on sets: write \\-\\-")
                last = self._member(position)
                if len(first) > 1 or len(last) > 1:
                    raise self.error(
                        begin, f"{self.pattern[begin : self.at]} is no range: its ends are characters"
                    )
                if last < first:
                    raise self.error(begin, f"the range {first}-{last} is the wrong way round")
                ranges.append((first, last))
            elif len(first) > 1:
                categories.append(first[1])
            else:
                ranges.append((first, first))
        self.at += 1
        return self._set(tuple(ranges), tuple(categories), negated)

    def _member(self, position: int) -> str:
        r"""One character of a class, or a category such as `\d`."""
        if self.at >= len(self.pattern):
            raise self.error(position, "'[' is never closed")
        begin = self.at
        character = self._take()
        if character == "[" and self.pattern[self.at : self.at + 1] in (":", ".", "="):
            raise self.error(
                begin,
                "a POSIX class, [:name:], is not read: write its characters, such as a-z; for a bracket write \\[",
            )
        if character in "-&~|" and begin > position + 1 and self._next_is(character):
            raise self.error(
                begin,
                f"{character * 2} in a class may be an operation on sets: write \\{character}\\{character}",
            )
        if character != "\\":
            return character
        if self.at >= len(self.pattern):
            raise self.error(begin, "a backslash needs a character after it")
        if self.pattern[self.at].lower() in "dws":
            return "\\" + self._take()
        return self._character(begin, inside=True)


def _sequence(nodes: list[Node]) -> Node:
    if len(nodes) == 1:
        return nodes[0]
    depth = 1 + max((node.depth for node in nodes), default=0)
    return Node("sequence", tuple(nodes), sum(node.size for node in nodes), depth)
