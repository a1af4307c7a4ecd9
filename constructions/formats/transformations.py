"""Maps of points as text: image lists, one letter a line (as SgpDec prints them), and the notations of GAP."""

from __future__ import annotations

import re
import string
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...foundation._errors import InputError
from ...foundation._files import read_text
from ...foundation._text import refusal
from ..automata._acceptor import start_index
from ..automata._automaton import Automaton
from ..automata._completing import object_array
from ..automata._format import Format
from ._gap import is_gap, read_maps
from ._writing import write_verified

_INTEGER = re.compile(r"[0-9]+")


def read_transformations(path: str | Path, *, start: str | None = None) -> Automaton:
    """Read an automaton from a `.txt` file of 1-based image lists; blank lines and `#` comments are skipped.

    Maps may also be written as in GAP: `[2,3,1]`, `Transformation([2,3,1])` and cycles `(1,2,3)(4,5)`, alone or in a `Group(...)`, with
    names `a := ...;` or without. Points that a map of GAP does not mention stay where they are.

    The states are the integers 1 to n, which are all kept (`keeps_points`) and are their own outputs. The start state is `start`
    or the first point. The letters are `a`, `b`, ..., or `x1`, `x2`, ... if there are more than 26.

    Args:
        path: the file.
        start: the text of the start state; None for the start state in the file.

    Raises:
        InputError: the file is wrong; the message names each bad line.
    """
    return parse_transformations(read_text(path), str(path), start=start)


def parse_transformations(text: str, name: str, *, start: str | None = None) -> Automaton:
    """Read an automaton from a text of image lists.

    Args:
        text: the text of the file.
        name: the name with which error messages begin.
        start: the text of the start state; None for the start state in the file.
    """
    if is_gap(text):
        return _parse_gap(text, name, start)
    rows: list[list[int]] = []
    problems: list[str] = []
    first_line = 0
    for number, line in enumerate(text.split("\n"), 1):
        tokens = line.split("#", 1)[0].split()
        if not tokens:
            continue
        first_line = first_line or number
        bad = [t for t in tokens if not _INTEGER.fullmatch(t)]
        n = len(rows[0]) if rows else len(tokens)
        if bad:
            problems.append(
                f"line {number}: {bad[0][:40]!r} is not a positive integer; a line is `2 3 1`, or `(1,2,3)` in cycles"
            )
        elif len(tokens) != n:
            problems.append(f"line {number} has {len(tokens)} images, line {first_line} has {n}")
        elif outside := [t for t in tokens if len(t) > 9 or not 1 <= int(t) <= n]:
            problems.append(f"line {number}: image {outside[0][:40]} is not one of the points 1..{n}")
        else:
            rows.append([int(t) - 1 for t in tokens])
    if problems:
        raise refusal(name, problems)
    if not rows:
        raise InputError(f"{name}: no image lists; write one line a letter, such as `2 3 1`")
    return _on_points(rows, letter_names(len(rows)), name, start)


def _parse_gap(text: str, name: str, start: str | None) -> Automaton:
    maps, degree = read_maps(text, name)
    if not maps or not degree:
        raise InputError(f"{name}: no map moves or names a point; write one line a letter, such as `(1,2,3)`")
    short = [m for m in maps if m.is_list and len(m.images) != degree]
    if short:
        raise refusal(name, [f"line {m.line}: {len(m.images)} images for {degree} points" for m in short])
    rows = [[m.images.get(p, p) - 1 for p in range(1, degree + 1)] for m in maps]
    labels = [m.name for m in maps if m.name is not None]
    named = len(dict.fromkeys(labels)) == len(maps)
    return _on_points(rows, tuple(labels) if named else letter_names(len(rows)), name, start)


def _on_points(rows: list[list[int]], letters: tuple[str, ...], name: str, start: str | None) -> Automaton:
    points = range(1, len(rows[0]) + 1)
    return Automaton(
        tuple(points),
        letters,
        np.array(rows, dtype=np.int64),
        0 if start is None else start_index([str(p) for p in points], start, name),
        object_array(points),
        Path(name).name,
        keeps_points=True,
    )


def letter_names(count: int) -> tuple[str, ...]:
    """`a`, `b`, ... for up to 26 letters, else `x1`, `x2`, ..."""
    return (
        tuple(string.ascii_lowercase[:count]) if count <= 26 else tuple(f"x{i}" for i in range(1, count + 1))
    )


def write_transformations(automaton: Automaton, path: str | Path) -> None:
    """Write an automaton to a `.txt` file of image lists.

    The format has no names. `InputError` is raised unless the states are 1 to n, are their own outputs and are all kept, the first is
    the start state, and the letters have the names that `read_transformations` gives (`number_points` makes such an automaton).

    Args:
        automaton: the automaton.
        path: the file.
    """
    text = "".join(" ".join(str(q + 1) for q in row) + "\n" for row in automaton.transitions.tolist())
    write_verified(automaton, path, text, lambda again: parse_transformations(again, str(path)))


def number_points(automaton: Automaton) -> Automaton:
    """Only the transformations: states renamed 1..n and letters a, b, ...; the start is the first state."""
    points = range(1, len(automaton.states) + 1)
    return replace(
        automaton,
        states=tuple(points),
        letters=letter_names(len(automaton.letters)),
        start=0,
        outputs=object_array(points),
        keeps_points=True,
    )


FORMAT = Format(
    name="image lists or GAP's maps, 1-based",
    extensions=(".txt",),
    read=read_transformations,
    write=write_transformations,
    example="2 1\n",
)
