"""Certificates of the kind `equivalent` of about 100 kB or less that ask for as much work as they can."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from mirrormata.theory.checker.equivalent import MAX_STEPS

ONE_STATE: dict[str, dict[str, Any]] = {
    "labels": {
        "automaton": "x",
        "construction": "x",
        "theorem": "",
        "states": ["q"],
        "letters": ["a"],
        "outputs": ["o"],
    },
    "automaton": {"states": 1, "letters": 1, "start": 0, "transitions": [[0]], "outputs": [0]},
}


def document(A: Any, B: Any, H: Any, codes: Any, arithmetic: str, regions: bool) -> dict[str, Any]:
    """One head and one letter, for an automaton of one state, which every answer is right for."""
    proof = {"regions": 1, "radius": 1} if regions else {"states": MAX_STEPS, "greatest": []}
    return {
        "format": "mirrormata-certificate/1",
        "kind": "equivalent",
        **ONE_STATE,
        "model": {"heads": [{"A": [A], "B": [B], "H0": H}], "codes": codes, "decode": [[0]] * len(codes)},
        "equivalence": {"arithmetic": arithmetic, "answers": "outputs", **proof},
    }


def fractions(digits: int, count: int) -> list[str]:
    """Numbers with so many digits above and below, no two alike; all are less than 1/4."""
    draw, found = random.Random(0), []
    for _ in range(count):
        q = 2 * draw.randrange(10 ** (digits - 1), 4 * 10 ** (digits - 1)) + 1
        found.append(f"{2 ** (q.bit_length() - 4)}/{q}")
    return found


def square(n: int, digits: int) -> list[list[Any]]:
    """A matrix of such numbers."""
    numbers = fractions(digits, n * n)
    return [numbers[i * n : (i + 1) * n] for i in range(n)]


def column(n: int, x: Any) -> list[list[Any]]:
    """The same number n times."""
    return [[x] for _ in range(n)]


def counting(n: int, arithmetic: str, step: Any, codes: Any = None) -> dict[str, Any]:
    """The first entry is increased, the others are means of all: no state comes again."""
    A = [[1] + [0] * (n - 1)] + [["1/128"] * n for _ in range(n - 1)]
    return document(A, [[step], *column(n - 1, 0)], column(n, 0), codes or [[0] * n], arithmetic, False)


def walk(count: int) -> dict[str, Any]:
    """Each code of the first half goes to the next one; each of them is compared with each of the second half."""
    codes = [[f"{k}/9973"] for k in range(1, 2 * count)]
    found = document([[1]], [["1/9973"]], [["1/9973"]], codes, "exact", True)
    found["model"]["decode"] = [[0]] * count + [[-1]] * (count - 1)
    return found


def turning(kind: str, values: list[str]) -> dict[str, Any]:
    """Numbers of a list that go round in cycles of 2, 3, 5, ... places: no state comes again for 510,510 steps."""
    draw, lengths = random.Random(0), (2, 3, 5, 7, 11, 13, 17)
    n, first = sum(lengths), 0
    A = [[0] * n for _ in range(n)]
    for length in lengths:
        for i in range(length):
            A[first + (i + 1) % length][first + i] = 1
        first += length
    H = [[draw.choice(values)] for _ in range(n)]
    arithmetic = f"{kind}:0,{','.join(values)},1"
    return document(A, column(n, 0), H, [[0] * n], arithmetic, False)


HOSTILE: dict[str, Callable[[], dict[str, Any]]] = {
    "states of many entries": lambda: counting(64, "per_step:fp32", 1),
    "states of many entries, each operation rounded": lambda: counting(64, "per_op:fp32:tree", 1),
    "states of many entries, exact": lambda: counting(64, "exact", "1/3"),
    "states of a long list of numbers": lambda: turning("per_step", [f"{k}/9973" for k in range(1, 6_000)]),
    "states of long numbers, each operation rounded": lambda: turning(
        "per_op", [f"{2 * k + 1}/{2**1_200}" for k in range(120)]
    ),
    "states with many digits": lambda: document(
        square(10, 100), column(10, 1), column(10, 0), [fractions(1_000, 10)] * 3, "exact", False
    ),
    "codes with many digits": lambda: counting(20, "per_step:fp32", 1, [fractions(60, 20)] * 38),
    "many codes": lambda: counting(2, "per_step:fp32", 1, [[k, 1] for k in range(4_990)]),
    "norms of many entries": lambda: document(
        [[f"{2 * (7 * i * j % 64) + 1}/16384" for j in range(64)] for i in range(64)],
        *(column(64, 1), column(64, 0), [[0] * 64], "exact", True),
    ),
    "norms with many digits": lambda: document(
        square(12, 150), column(12, 1), column(12, 0), [[0] * 12], "exact", True
    ),
    "norms with very many digits": lambda: document(
        square(4, 1_900), column(4, 1), column(4, 0), [[0] * 4], "exact", True
    ),
    "radii that grow": lambda: document([[3]], [[1]], [[0]], [[0]], "exact", True),
    "many regions": lambda: walk(2_400),
}


def chain_of(n: int, letters: int) -> dict[str, Any]:
    """A chain of all sizes but two, with letters that move no state: no start reaches any other state."""
    return {
        "format": "mirrormata-certificate/1",
        "kind": "chain",
        "labels": {
            **ONE_STATE["labels"],
            "states": [str(q) for q in range(n)],
            "letters": [str(x) for x in range(letters)],
        },
        "automaton": {
            "states": n,
            "letters": letters,
            "start": 0,
            "transitions": [list(range(n))] * letters,
            "outputs": [0] * n,
        },
        "window": None,
        "sizes": [*range(n, 2, -1), 1],
        "padding": "least",
        "look_back": False,
        "gates": False,
        "summary": 0,
    }


def table_of(n: int, conductor: int, factors: list[Any]) -> dict[str, Any]:
    """One head of n rows and one code, for an automaton of one state."""
    head = {
        "field": conductor,
        "dim": n,
        "value_dim": 1,
        "transitions": [{"factors": factors}],
        "codes": [[[0, 0, 1]]],
    }
    return {
        "format": "mirrormata-certificate/1",
        "kind": "table",
        **ONE_STATE,
        "layers": [{"heads": [head]}],
        "decode": [],
        "outputs": [],
        "summary": {},
    }


def dense_table(n: int) -> dict[str, Any]:
    """One factor makes of the identity a matrix of n² rational numbers."""
    return table_of(n, 1, [[f"1/{n}", [[i, 1] for i in range(n)]]])


def outer_table(n: int) -> dict[str, Any]:
    """A matrix of one column times a code of one row has n² numbers."""
    document = table_of(n, 1, [])
    head = document["layers"][0]["heads"][0]
    head["transitions"] = [{"matrix": [[i, 0, 1] for i in range(n)]}]
    head.update(value_dim=n, codes=[[[0, j, 1] for j in range(n)]])
    return document


def replay_of(steps: int) -> dict[str, Any]:
    """A state of one number that stays, replayed for so many letters."""
    return {
        "format": "mirrormata-certificate/1",
        "kind": "impossible",
        "labels": {"automaton": "", "model": "", "states": ["q"], "letters": ["a"], "outputs": ["o"]},
        "arithmetic": "per_step:fp64",
        "automaton": {"transitions": [[0]], "sources": [[[0]]], "outputs": [0], "members": [[0]]},
        "heads": [{"start": [[0, 0, f"1/{2**500}"]], "weights": [[[[0, 0, 1]], []]]}],
        "words": {"prefix": [], "loop": [0], "i": 0, "j": steps, "suffix": []},
        "evidence": [0],
    }
