"""Word-problem data, `seed,input,target`: the public generators' CSV files, every row checked in both orders."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ...foundation._errors import InputError
from ...foundation._files import read_text
from ...foundation._text import count_noun, refusal
from ..algebra.groups._finite_group import FiniteGroup, Product
from ..automata._acceptor import with_start_text
from ..automata._automaton import Automaton, Indices
from ..automata._format import Format

_COLUMNS = ("seed", "input", "target")
_NUMBERS = re.compile(r"[0-9 ]*")
_FILE_NAME = re.compile(r"(.+)=[0-9]+\.csv", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class WordProblem:
    """The contents of a word-problem file: the group, the product order that reproduces every row, and the rows.

    Attributes:
        group: the group.
        product: `left` (x·y) or `right` (y·x).
        automaton: the word problem over all elements; its letters and states have the same indices as in the rows.
        inputs, targets: indices of elements, one array `[T]` for each row.
    """

    group: FiniteGroup
    product: Product
    automaton: Automaton
    inputs: tuple[Indices, ...]
    targets: tuple[Indices, ...]


def read_word_problem(path: str | Path, *, group: str | None = None) -> WordProblem:
    """Read the word problem in a `.csv` file. The name of the group is `group` or part of the file name (`S3=6.csv`).

    Elements are numbered in the order of the group (for permutations, image tuples in lexicographic order). Target t is the product of
    the inputs up to t, as a left (x·y) or right (y·x) product. Every row is checked in both orders. If both fit, the left one is
    used; `automaton.notes` records which.

    Args:
        path: the file.
        group: the name of the group; None to take it from the name of the file (`S3=6.csv`).

    Raises:
        InputError: the file is wrong; the message names each bad line, or, if neither order fits, the first
            row that fails.
    """
    name = str(path)
    text = read_text(path)
    _columns(text, name)
    group_name = group
    if group_name is None:
        match = _FILE_NAME.fullmatch(Path(path).name)
        if match is None:
            raise InputError(
                f"{name}: the file name does not name the group (as `S3=6.csv` does); give it with `group`"
            )
        group_name = match[1]
    from ..library._groups import group_by_name

    try:
        listed = group_by_name(group_name)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    numbers, inputs, targets = _rows(text, name, len(listed.elements), group_name)
    left, right = listed.word_problem(product="left"), listed.word_problem(product="right")
    left_failure = _first_failure(left, numbers, inputs, targets)
    right_failure = _first_failure(right, numbers, inputs, targets)
    if left_failure and right_failure:
        raise InputError(
            f"{name}: neither product order of {group_name} gives the targets: left first fails in "
            f"{left_failure}, right in {right_failure}; check the group and the numbering of its elements"
        )
    product: Product = "right" if left_failure else "left"
    checked = f"{count_noun(len(inputs), 'row')} checked in both product orders: "
    if left_failure or right_failure:
        note = f"{checked}the {product} product of {group_name} gives every target"
    else:
        note = f"{checked}left and right product of {group_name} both give every target, left is taken"
    automaton = replace(right if left_failure else left, name=Path(path).name).with_notes(note)
    return WordProblem(listed, product, automaton, tuple(inputs), tuple(targets))


def read_word_problem_csv(
    path: str | Path, *, group: str | None = None, start: str | None = None
) -> Automaton:
    """Read only the automaton of a word-problem file; see `read_word_problem`.

    Args:
        path: the file.
        group: the name of the group; None to take it from the name of the file (`S3=6.csv`).
        start: the start element by its text; None for the identity.
    """
    automaton = read_word_problem(path, group=group).automaton
    return automaton if start is None else with_start_text(automaton, start, str(path))


def _rows(text: str, name: str, order: int, group: str) -> tuple[list[int], list[Indices], list[Indices]]:
    """Line numbers, inputs and targets."""
    lines = text.split("\n")
    columns, at_input, at_target = _columns(text, name)
    numbers, inputs, targets, problems = [], [], [], []
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        cells = [_bare(cell) for cell in line.split(",")]
        if len(cells) != columns:
            problems.append(f"line {number} has {len(cells)} columns, the header has {columns}")
            continue
        word, wanted = (_elements(cells[i], order) for i in (at_input, at_target))
        if isinstance(word, str) or isinstance(wanted, str):
            bad = word if isinstance(word, str) else wanted
            problems.append(f"line {number}: {bad} is not one of the elements 0..{order - 1} of {group}")
        elif len(word) != len(wanted):
            problems.append(f"line {number}: {len(word)} inputs but {len(wanted)} targets")
        else:
            numbers.append(number)
            inputs.append(word)
            targets.append(wanted)
    if problems:
        raise refusal(name, problems)
    if not inputs:
        raise InputError(f"{name}: no rows below the header")
    return numbers, inputs, targets


def _columns(text: str, name: str) -> tuple[int, int, int]:
    """How many columns the header has, and where `input` and `target` are; the index that pandas writes has no name."""
    header = [_bare(cell) for cell in text.partition("\n")[0].split(",")]
    named = header[1:] if header[0] in ("", "Unnamed: 0") else header
    if sorted(named) != sorted(_COLUMNS):
        raise InputError(
            f"{name}: line 1 must be the header `seed,input,target` of a word problem, or `state,a,b` of a transition table with the "
            "letters a and b"
        )
    return len(header), header.index("input"), header.index("target")


def _bare(cell: str) -> str:
    return cell.strip().removeprefix('"').removesuffix('"').strip()


def _elements(cell: str, order: int) -> Indices | str:
    """Indices of elements, or the first token that is none."""
    tokens = cell.split(" ") if cell else []
    if _NUMBERS.fullmatch(cell) and all(len(t) <= 9 for t in tokens):
        elements = np.array([int(t) for t in tokens if t], dtype=np.int64)
        if not len(elements) or elements.max() < order:
            return elements
        return str(elements[elements >= order][0])
    bad = [t for t in tokens if t and (len(t) > 9 or not _NUMBERS.fullmatch(t))]
    return repr(bad[0][:40] if bad else cell[:40])


def _first_failure(
    automaton: Automaton, numbers: Sequence[int], inputs: Sequence[Indices], targets: Sequence[Indices]
) -> str | None:
    """The first row that the automaton does not reproduce, in words; None if it reproduces all."""
    by_length: dict[int, list[int]] = {}
    for row, word in enumerate(inputs):
        by_length.setdefault(len(word), []).append(row)
    failures = []
    for length, rows in by_length.items():
        if not length:
            continue
        states = automaton.trace(np.stack([inputs[row] for row in rows]))
        wrong = states != np.stack([targets[row] for row in rows])
        if wrong.any():
            at = int(np.flatnonzero(wrong.any(axis=1))[0])
            step = int(np.flatnonzero(wrong[at])[0])
            row = rows[at]
            failures.append(
                (numbers[row], f"token {step + 1} is {targets[row][step]}, the product is {states[at, step]}")
            )
    if not failures:
        return None
    number, what = min(failures)
    return f"line {number} ({what})"


FORMAT = Format(
    name="word problem, seed,input,target",
    extensions=(".csv",),
    read=read_word_problem_csv,
    example="seed,input,target\n0,1 1 0,1 0 0\n",
    example_file="Z2=3.csv",
)
