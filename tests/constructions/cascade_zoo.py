"""Automata whose cascades the tests of layered LRNNs share, and those LRNNs and certificates, made once."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.automata._completing import object_array
from mirrormata.constructions.cascades._automata import Cascade
from mirrormata.constructions.cascades._cascade import cascade
from mirrormata.constructions.cascades._layers import cascade_lrnn
from mirrormata.constructions.certificates._table import certificate

DATA = Path(__file__).parents[1] / "data"
KNOWN: dict[str, dict[str, Any]] = json.loads((DATA / "holonomy.json").read_text())
FILES = ("nosingleton", "microbug", "full_t3", "identity_only", "smallp2hnt")
SPECS = (
    "T3", "T4", "T5", "mod_arith:3", "mod_arith:5", "dyck1:4", "gridworld:5", "even_pairs", "flipflop",
    "permreset:4", *(f"tomita:{i}" for i in range(1, 8)),
)  # fmt: skip
GROUPS = ("parity", "S3", "S4", "A4", "Q8", "mod:7", "dihedral:4", "Z2^2")
RANDOM = tuple(f"random:states={2 + s % 5},letters={1 + s // 5 % 3},seed={s}" for s in range(300))
OPTIONS: dict[str, dict[str, Any]] = {
    "few": {},
    "one_hot": {"coordinates": "one_hot"},
    "gated": {"gated": True},
    "gated one_hot": {"coordinates": "one_hot", "gated": True},
}
BY_HAND: dict[str, tuple[list[list[int]], int]] = {
    # nothing leads to states 3 and 4
    "unreached": ([[1, 2, 0, 0, 1], [0, 0, 0, 0, 0]], 3),
    # states 1 and 2 act alike, as do 3 and 4
    "twins": ([[1, 3, 3, 0, 0], [2, 4, 4, 2, 2]], 0),
    "one letter": ([[1, 2, 3, 1, 0]], 0),
    "identities and a reset": ([[0, 1, 2], [0, 1, 2], [1, 1, 1]], 0),
    "the same letter thrice": ([[1, 2, 2, 0], [1, 2, 2, 0], [1, 2, 2, 0]], 0),
    "several orbits kept": ([[1, 0, 2, 4, 3, 5], [0, 0, 2, 3, 3, 5]], 3),
    "eleven states set": ([[c] * 11 for c in range(11)] + [[0] * 6 + [1] * 5], 0),
    "twelve states, some set": ([[c] * 12 for c in (11, 3, 7)] + [[5, *range(1, 12)]], 0),
    "C4 and resets below a set": ([[1, 2, 3, 0, 4], [0, 0, 0, 0, 4], [4, 4, 4, 4, 4], [2, 2, 2, 2, 0]], 1),
    "a swap moves three pairs": ([[1, 0, 3, 2, 5, 4], [2] * 6, [5] * 6, [0, 0, 2, 2, 4, 4]], 1),
    "a swap moves six pairs": (
        [[i ^ 1 for i in range(12)], [7] * 12, [10] * 12, [0, 1] * 6, [i & 14 for i in range(12)]],
        3,
    ),
    # x0 resets into a set in which two tiles hold the image
    "two tiles hold the image": ([[2, 2, 2, 1, 1], [4, 2, 0, 0, 0], [1, 0, 2, 3, 4]], 4),
    "the start is an antipode": ([[1, 0], [0, 1], [0, 0]], 1),
    "kept points, one of them at zero": ([[0, 1, 2]], 2),
}


def automaton_of(rows: Sequence[Sequence[int]], start: int = 0, name: str = "test") -> Automaton:
    """All points kept, each its own output."""
    table = np.array(rows, dtype=np.int64)
    n = table.shape[1]
    letters = tuple(f"x{i}" for i in range(len(table)))
    return Automaton(tuple(range(n)), letters, table, start, object_array(range(n)), name, keeps_points=True)


@cache
def automaton(name: str) -> Automaton:
    """By its name in one of the lists above, or by any spec."""
    if name in BY_HAND:
        return automaton_of(*BY_HAND[name], name=name)
    if name in KNOWN:
        return automaton_of([[q - 1 for q in row] for row in KNOWN[name]["transformations"]], name=name)
    if name in FILES:
        return automaton_from_spec(str(DATA / "cases" / f"{name}.txt"))
    return automaton_from_spec(name)


@cache
def cascade_of(name: str) -> Cascade:
    """The cascade, checked on the spot."""
    return cascade(automaton(name))


@cache
def layered(name: str, option: str = "few") -> LRNN:
    """Its LRNN with the options of that name."""
    return cascade_lrnn(automaton(name), cascade_of(name), **OPTIONS[option])


@cache
def printed(name: str) -> LRNN:
    """Its LRNN wired as the proof of G.T4 prints it."""
    return cascade_lrnn(automaton(name), cascade_of(name), wiring="printed")


@cache
def document(name: str, option: str = "few") -> dict[str, Any]:
    """Its certificate; not to be changed."""
    return certificate(layered(name, option))


def levels(name: str) -> int:
    """Levels of the cascade; 0 for a single state."""
    return len(cascade_of(name).levels)


def drawn(draw: random.Random, most: int = 5) -> Automaton:
    """An awkward automaton: resets, identities, equal letters, twins, states that nothing leads to."""
    n = draw.randint(2, most)
    rows: list[list[int]] = []
    for _ in range(draw.randint(1, 3)):
        kind = draw.randrange(5)
        if kind == 0:
            rows.append([draw.randrange(n) for _ in range(n)])
        elif kind == 1:
            rows.append(list(range(n)))
        elif kind == 2:
            rows.append(draw.sample(range(n), n))
        elif kind == 3:
            rows.append([draw.randrange(n)] * n)
        else:
            image = [draw.randrange(n), draw.randrange(n)]
            rows.append([draw.choice(image) for _ in range(n)])
    if draw.random() < 0.3:
        rows.append(draw.choice(rows))
    if n < most and draw.random() < 0.5:  # a twin of state q, in its place on some arrows
        q = draw.randrange(n)
        rows = [[*row, row[q]] for row in rows]
        rows = [[n if x == q and draw.random() < 0.3 else x for x in row] for row in rows]
    return automaton_of(rows, draw.randrange(len(rows[0])))
