"""Certificates of kind `chain`, true and false: sizes and windows of automata that are small enough to count by hand.

A certificate of this kind holds the automaton, the sizes and the window, and nothing else, so a false one has too few sizes, a window of another
length, or sets that come back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .._check import check

Document = dict[str, Any]
Letters = list[list[int]]
FORMATS = ["fp64", "fp32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2"]

COUNT: Letters = [[1, 2, 3, 3], [0, 0, 0, 0]]
"""Counts up to three, and back to zero: the images of Q are {1, 2, 3}, {2, 3}, {3} and {0}."""
DETOUR: Letters = [[1, 3, 5, 2, 4, 4], [3, 4, 4, 4, 2, 4]]
"""The set {2, 4, 5} is reached by two letters and by three: a search that takes the first way falls short."""
FALL: Letters = [[3, 1, 0, 5, 5, 4, 3], [1, 0, 4, 1, 1, 4, 3], [1, 0, 1, 3, 2, 3, 4], [2, 5, 4, 2, 0, 3, 1]]
"""Sets of more than three states last for seven letters; to one of them a shorter way comes last."""
AROUND: Letters = [[1, 0, 6, 4, 5, 2, 0], [3, 6, 6, 6, 3, 5, 6], [2, 2, 6, 0, 6, 1, 2]]
"""The longest way among sets of more than two states does not end with the set that is taken last."""
FILLED: dict[str, tuple[Letters, list[int], Letters, list[int]]] = {
    "the new set": (
        [[1, 3, 2, 3, 3, 2, 7, 1], [3, 6, 2, 1, 4, 4, 3, 5]], [8, 6, 5, 3, 2, 1],
        [[6, 6, 7, 6, 0, 0, 0, 7], [7, 5, 4, 2, 3, 1, 4, 5]], [8, 6, 5, 3, 2, 1],
    ),
    "the least members": (
        [[2, 5, 4, 0, 3, 5], [4, 4, 1, 0, 4, 0]], [6, 5, 3, 2, 1],
        [[3, 4, 4, 0, 2], [0, 1, 2, 4, 3], [0, 1, 0, 1, 0]], [5, 4, 2, 1],
    ),
}  # fmt: skip
"""Sizes that suffice, and sizes that do not, where it depends on how sets are filled up."""
UNREACHED: Letters = [[2, 0, 1, 3], [0, 2, 1, 1]]
"""From the start no letter merges states of a set of three; from the last state, which the start does not reach, one does."""
TURN: Letters = [[1, 2, 3, 1], [0, 1, 1, 1]]
"""The first letter turns {1, 2, 3} for ever."""
MERGE: Letters = [[1, 2, 3, 0], [0, 0, 2, 3]]
"""A cycle of four states, and a letter that merges two of them."""
COLLAPSE: Letters = [[1, 2, 3, 0], [0, 0, 2, 2], [1, 0, 3, 2]]
"""A cycle of four states, and a letter that makes two states of them."""
STILL: Letters = [[0, 0, 0], [0, 1, 2], [1, 1, 2]]
"""The second letter moves no state; {1, 2} comes back."""
RESET: Letters = [[1, 2, 0], [1, 1, 1], [0, 0, 0]]
"""A cycle of three states, and two resets."""


def cases() -> Iterator[tuple[str, str | None]]:
    """All of them."""
    for name, document in true_chains():
        found = check(document)
        yield name, None if found.verdict == "valid" else f"it is true, and is refused: {found.reason}"
    for name, document in false_chains():
        found = check(document)
        yield name, f"it is false, and is accepted: {found.reason}" if found.verdict == "valid" else None


def chain(
    letters: Letters, sizes: list[int], window: int | None = None, extras: str = "", **summary: Any
) -> Document:
    """A certificate with the summary that its sizes have; `extras`: `look_back`, or `gates` with it; `summary`: other entries."""
    back, gated = bool(extras), extras == "gates"
    n, rows = len(letters[0]), 0 if window is None else window + (len(sizes) > 1 and not back)
    merges = any(len(set(row)) < n for row in letters)
    dims = [rows] * bool(rows) + [s * (1 + (merges and not back and s is not sizes[-2])) for s in sizes[:-1]]
    factors = [rows] * bool(rows) + [d if merges and not gated else d - 1 for d in dims[bool(rows) :]]
    bound = 2 ** (sizes[1] - 1).bit_length() if gated and merges and len(sizes) > 1 else 1
    labels = {"automaton": "by hand", "construction": "by hand", "theorem": "none"}
    states = [str(q) for q in range(n)]
    names = list("abcd"[: len(letters)])
    return {
        "format": "mirrormata-certificate/1",
        "kind": "chain",
        "labels": {**labels, "states": states, "letters": names, "outputs": states},
        "automaton": {
            "states": n, "letters": len(letters), "start": 0, "transitions": letters, "outputs": list(range(n)),
        },
        "window": window,
        "sizes": sizes,
        "padding": "least",
        "look_back": back,
        "gates": gated,
        "summary": {
            "layers": len(dims), "householders": max(factors, default=0), "heads": 1, "dim": max(dims, default=0), "exactness": "integer",
            "integer_bound": bound, "formats": FORMATS, "norm": "at most 1", **summary,
        },
    }  # fmt: skip


def mealy_window(extras: str, rows: int) -> Document:
    """A count to three whose outputs belong to the state before the token, behind a window that tells the state, with so many rows."""
    found = chain(COUNT, [1], 3, extras, layers=1, dim=rows, householders=rows)
    outputs = [[(q + 2 * x) % 4 for q in range(4)] for x in range(2)]
    return {**found, "automaton": {**found["automaton"], "outputs": outputs}}


def true_chains() -> Iterator[tuple[str, Document]]:
    """Each automaton with its sizes and its windows."""
    for size, length in ((1, 3), (2, 2), (3, 1)):
        yield (
            f"a count to three, {size} states after {length} letters",
            chain(COUNT, list(range(size, 0, -1)), length),
        )
    for name, letters in (
        ("count", COUNT),
        ("detour", DETOUR),
        ("turn", TURN),
        ("merge", MERGE),
        ("still", STILL),
    ):
        yield f"{name}, sizes that fall by one", chain(letters, list(range(len(letters[0]), 0, -1)))
    yield "the longest way to a set counts", chain(DETOUR, [2, 1], 4)
    yield "the longest of all ways counts", chain(AROUND, [2, 1], 6)
    yield "the longest way to a smaller set counts", chain(FALL, [3, 2, 1], 8)
    yield "a turn of three states", chain(TURN, [3, 2, 1], 1)
    yield "a letter that moves no state is left out", chain(STILL, [2, 1], 1)
    for name, (letters, sizes, _, _) in FILLED.items():
        yield f"sets are filled up from {name}", chain(letters, sizes)
    yield "permutations and resets", chain(RESET, [3, 1])
    for extras in ("look_back", "gates"):
        for size, length in ((2, 2), (3, 1)):
            yield (
                f"{extras}: a count to three, {size} states after {length} letters",
                chain(COUNT, list(range(size, 0, -1)), length, extras),
            )
        yield f"{extras}: sizes that fall by one", chain(COUNT, [4, 3, 2, 1], None, extras)
    # n - 1 members are written with the next power of two: 8, 16, 32
    for n, count in ((9, 6), (10, 5), (17, 5), (18, 4)):
        letters = [[0, *range(n - 1)], [n - 1] * n]
        yield (
            f"gates: {n} states",
            chain(letters, list(range(n, 0, -1)), None, "gates", formats=FORMATS[:count]),
        )
    yield "a window that tells the state, of a Mealy machine", mealy_window("", 4)
    yield "the same with look-back", mealy_window("look_back", 3)
    yield "no state of two is merged", chain(COLLAPSE, [4, 2, 1])
    yield "a permutation group", chain([[1, 2, 3, 0], [1, 0, 2, 3]], [4, 1])


def false_chains() -> Iterator[tuple[str, Document]]:
    """Windows of another length, sets that come back, sizes left out, figures that are others."""
    for size, length in ((1, 3), (2, 2), (3, 1)):
        for wrong in {length - 1, length + 1, 2 * length + 1} - {0}:
            yield (
                f"a count to three, {size} states after {wrong} letters",
                chain(COUNT, list(range(size, 0, -1)), wrong),
            )
    for length in (1, 2, 3, 4):
        yield f"a turn of three states, two after {length} letters", chain(TURN, [2, 1], length)
        yield f"two states that come back, one after {length} letters", chain(STILL, [1], length)
    for length in (1, 2, 3, 5):
        yield f"two states after {length} letters, where four are needed", chain(DETOUR, [2, 1], length)
    yield "three states after 7 letters, where eight are needed", chain(FALL, [3, 2, 1], 7)
    yield "a letter that permutes all states", chain(MERGE, [3, 2, 1], 1)
    for sizes in ([4, 1], [4, 2, 1], [4, 3, 1]):
        yield f"a letter that merges two of four states, sizes {sizes}", chain(MERGE, sizes)
    for name, (_, _, letters, sizes) in FILLED.items():
        yield f"sets are filled up from {name}, sizes {sizes}", chain(letters, sizes)
    yield "sizes that hold from the start alone, which does not reach all", chain(UNREACHED, [4, 3, 1])
    yield "an image of two states in a set of one", chain(COLLAPSE, [4, 1])
    yield "sizes that end with two", chain(COUNT, [4, 3, 2])
    yield "a set that is not that of all states", chain(COUNT, [3, 2, 1])
    yield "a window with a size left out", chain(COUNT, [3, 1], 1)
    yield "permutations alone, with one factor less", chain([[1, 2, 0]], [3, 1], householders=1)
    for extras in ("look_back", "gates"):
        yield f"{extras}: one level, which nobody reads", chain(RESET, [3, 1], None, extras)
        yield f"{extras}: permutations alone", chain([[1, 2, 0]], [3, 1], None, extras)
        yield f"{extras}: a window that tells the state", chain(COUNT, [1], 3, extras)
    for extras, rows in (("", 4), ("look_back", 3)):
        yield (
            f"a window that tells the state, of a Mealy machine: {rows} rows {extras}".strip(),
            mealy_window(extras, 7 - rows),
        )
    gated = chain(COUNT, [4, 3, 2, 1], None, integer_bound=4)
    figures = {**gated["summary"], "householders": 3}
    yield "a gate of 0 with a second half, whose figures fit", {**gated, "gates": True, "summary": figures}
    yield "a gate of 0 with a second half", {**chain(COUNT, [4, 3, 2, 1]), "gates": True}
    yield "look-back that is no boolean", {**chain(COUNT, [4, 3, 2, 1], None, "look_back"), "look_back": 1}
    yield "gates that are no boolean", {**chain(COUNT, [4, 3, 2, 1], None, "look_back"), "gates": 0}
    yield "look-back, with the dimension of two halves", chain(COUNT, [4, 3, 2, 1], None, "look_back", dim=8)
    yield (
        "look-back, with a row for the letter before",
        chain(COUNT, [2, 1], 2, "look_back", dim=3, householders=3),
    )
    yield "gates, with a projection for each entry", chain(COUNT, [4, 3, 2, 1], None, "gates", householders=4)
    yield "gates, with nothing larger than 1", chain(COUNT, [4, 3, 2, 1], None, "gates", integer_bound=1)
    yield (
        "gates, with the size for the power of two",
        chain(COUNT, [4, 3, 2, 1], None, "gates", integer_bound=3),
    )
    yield "look-back, with a value of 4", chain(COUNT, [4, 3, 2, 1], None, "look_back", integer_bound=4)
    others: dict[str, Any] = {
        "layers": 2,
        "householders": 7,
        "dim": 7,
        "integer_bound": 2,
        "formats": FORMATS[:-1],
    }
    for key, value in others.items():
        yield f"another summary.{key}", chain(COUNT, [4, 3, 2, 1], None, **{key: value})
    yield "the register with one row less", chain(COUNT, [2, 1], 2, dim=2)
