"""Maps as GAP writes them: `Transformation( [ 2, 3, 1 ] )`, lists `[2,3,1]`, and permutations in cycles, `(1,2,3)(4,5)`.

Each may have a name, `a := (1,2);`, and several may stand in a list, a `Group`, a `Semigroup` or a `Monoid`. Lines may begin with the
prompt of a session. Nothing is executed.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ...foundation._errors import InputError, LimitError

MAX_POINTS = 100_000
_NUMBERS = r"[0-9,\s]*"
_TOKEN = re.compile(
    rf"""
    (?P<skip>[\s,;]+|\#[^\n]*)
  | (?P<name>[A-Za-z_][A-Za-z_0-9]*)\s*:=
  | (?:Transformation|PermList|AsTransformation)\s*\(\s*\[(?P<map>{_NUMBERS})\]\s*\)
  | (?P<open>(?:Group|GroupWithGenerators|Semigroup|Monoid|InverseSemigroup)\s*\(|\[(?=\s*[\[(A-Za-z]))
  | (?P<identity>IdentityTransformation)\b
  | \[(?P<list>{_NUMBERS})\]
  | (?P<cycles>(?:\([0-9,\s]*\)[ \t]*)+)
  | (?P<close>[\])])
    """,
    re.VERBOSE,
)


class Map(NamedTuple):
    """A map of the points 1, 2, ..., its line, its name if it has one, and whether it is a list that must have every image."""

    line: int
    name: str | None
    images: dict[int, int]
    is_list: bool


def is_gap(text: str) -> bool:
    """Whether a text has brackets outside comments, so that it is read as GAP's notation and not as rows of numbers."""
    return any(sign in line.split("#", 1)[0] for line in text.split("\n") for sign in "[(")


def as_input(text: str) -> str:
    """A text of GAP without the prompts `gap> ` and `> ` of a session, and without the backslashes that break a line."""
    return re.sub(r"^(?:gap)?> ", "", text, flags=re.MULTILINE).replace("\\\n", "")


def read_maps(text: str, name: str) -> tuple[list[Map], int]:
    """The maps of a text, and the number of points, the largest that occurs.

    Raises:
        InputError: something is no map; the message has the line.
        LimitError: a point is above `MAX_POINTS`.
    """
    text = as_input(text)
    found: list[Map] = []
    at, line, depth, label = 0, 1, 0, None
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            shown = text[at : at + 30].split("\n", 1)[0]
            raise InputError(
                f"{name}: line {line}: {shown!r} is no map; write `2 3 1`, `[2,3,1]`, `Transformation([2,3,1])` or `(1,2,3)(4,5)`"
            )
        place = f"{name}: line {line}"
        if match["name"] is not None:
            label = match["name"]
        elif match["open"] is not None:
            depth += 1
            label = None
        elif match["close"] is not None:
            depth -= 1
            if depth < 0:
                raise InputError(f"{place}: {match['close']!r} closes nothing")
        elif match["skip"] is None:
            if match["cycles"] is not None:
                images = _cycles(match["cycles"], place)
            elif match["identity"] is not None:
                images = {}
            else:
                numbers = _points(match["map"] if match["list"] is None else match["list"], place)
                images = dict(enumerate(numbers, 1))
            if label is not None and any(entry.name == label for entry in found):
                raise InputError(
                    f"{place}: {label} has a map already, which this one would replace: rename it"
                )
            found.append(Map(line, label, images, match["list"] is not None))
            label = None
        line += text.count("\n", at, match.end())
        at = match.end()
    if depth:
        raise InputError(f"{name}: a bracket is not closed at the end of the file")
    return found, max((p for entry in found for pair in entry.images.items() for p in pair), default=0)


def _points(text: str, place: str) -> list[int]:
    words = [word for word in re.split(r"[,\s]+", text) if word]
    for word in words:
        if len(word) > 9 or int(word) > MAX_POINTS:
            raise LimitError(f"{place}: the point {word[:20]} is above the largest, {MAX_POINTS}")
        if int(word) == 0:
            raise InputError(f"{place}: points are numbered from 1, and here is 0: add 1 to each")
    return [int(word) for word in words]


def _cycles(text: str, place: str) -> dict[int, int]:
    images: dict[int, int] = {}
    for inside in re.findall(r"\(([^()]*)\)", text):
        points = _points(inside, place)
        for i, p in enumerate(points):
            if p in images:
                raise InputError(
                    f"{place}: the point {p} stands in two cycles, or twice in one: write disjoint cycles"
                )
            images[p] = points[(i + 1) % len(points)]
    return images
