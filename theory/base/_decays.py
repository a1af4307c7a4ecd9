"""Certificates of kind `decay`, true and false: the last letters of two, in formats that hold them and in others.

A certificate of this kind holds the automaton, the base, the digits and the formats, so a false one has a format too many or too few, another
base or other digits, or an automaton whose last letters do not decide its state.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .._check import check

Document = dict[str, Any]
Letters = list[list[int]]
ALL = ["fp32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2"]


def cases() -> Iterator[tuple[str, str | None]]:
    """All of them."""
    for name, document in true_decays():
        found = check(document)
        yield name, None if found.verdict == "valid" else f"it is true, and is refused: {found.reason}"
    for name, document in false_decays():
        found = check(document)
        yield name, f"it is false, and is accepted: {found.reason}" if found.verdict == "valid" else None


def last(length: int) -> Letters:
    """The last letters of two as numbers in binary, the newest bit last."""
    size = 2**length
    return [[(2 * q + x) % size for q in range(size)] for x in (0, 1)]


def decay(letters: Letters, formats: list[str], digits: list[int | None], base: int = 4) -> Document:
    """A certificate with the summary of this kind."""
    n = len(letters[0])
    states = [str(q) for q in range(n)]
    names = list("abcd"[: len(letters)])
    labels = {"automaton": "by hand", "construction": "by hand", "theorem": "none"}
    return {
        "format": "mirrormata-certificate/1",
        "kind": "decay",
        "labels": {**labels, "states": states, "letters": names, "outputs": states},
        "automaton": {
            "states": n, "letters": len(letters), "start": 0, "transitions": letters, "outputs": list(range(n)),
        },
        "base": base,
        "digits": digits,
        "summary": {
            "layers": 1, "householders": 1, "heads": 1, "dim": 1, "exactness": "rounded", "integer_bound": None, "formats": formats,
            "norm": "at most 1",
        },
    }  # fmt: skip


def true_decays() -> Iterator[tuple[str, Document]]:
    """Right ones."""
    yield "the last letter", decay(last(1), ALL, [-1, 1])
    yield "the last two letters", decay(last(2), ALL, [-1, 1])
    yield "the last three letters", decay(last(3), ALL[:3], [-1, 1])
    yield "the last five letters", decay(last(5), ALL[:2], [-1, 1])
    yield "the last seven letters", decay(last(7), ALL[:1], [-1, 1])
    doubled = [*last(2), last(2)[0], [0, 1, 2, 3]]
    yield "letters alike, and one that does nothing", decay(doubled, ALL, [-1, 1, -1, None])


def false_decays() -> Iterator[tuple[str, Document]]:
    """Wrong ones."""
    yield "a format too many", decay(last(3), ALL[:4], [-1, 1])
    yield "the last five letters in bf16", decay(last(5), ALL[:3], [-1, 1])
    yield "a format too few", decay(last(2), ALL[:4], [-1, 1])
    yield "a format of more bits", decay(last(2), ["fp64", *ALL], [-1, 1])
    yield "base 2", decay(last(1), ALL, [-1, 1], 2)
    yield "base 8", decay(last(1), ALL, [-1, 1], 8)
    yield "digits 0 and 1", decay(last(1), ALL, [0, 1])
    yield "digits exchanged", decay(last(1), ALL, [1, -1])
    yield "a digit for a letter that does nothing", decay([*last(1), [0, 1]], ALL, [-1, 1, 1])
    yield "parity, in no format", decay([[0, 1], [1, 0]], [], [None, -1])
    yield "parity, in all formats", decay([[0, 1], [1, 0]], ALL, [None, -1])
    yield "a reset and a flip", decay([[0, 0], [1, 0]], ALL, [-1, 1])
