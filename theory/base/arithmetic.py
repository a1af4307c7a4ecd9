"""The arithmetic of the library and that of the checkers, held to a table that a program of its own has made.

`rounding_table.json` holds values, midpoints, numbers a hair beside them, the edges of overflow and underflow, in all
formats and modes, and sums of products in all orders, as rational numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from math import inf, isinf
from pathlib import Path
from typing import Any

import numpy as np

from .. import verifying
from ..arithmetic._arithmetic import Arithmetic, Kernel, PerOp, PerStep, parse_arithmetic
from ..arithmetic._exact_sum import exact_dot
from ..arithmetic._rounding import FloatFormat
from ..checker import _arithmetic as checker
from ..checker import horizon
from ..checker._exact import Invalid
from ..checker._stored import Model

TABLE = Path(verifying.__path__[0]) / "rounding_table.json"
FORMAT = "mirrormata-rounding-table/1"
# the power of two beyond the largest number of a format, which is where a tie toward -∞ could be looked for by mistake
BEYOND = {"fp32": 2**128, "fp16": 2**16, "bf16": 2**128, "fp8_e5m2": 2**16}
TINY = Fraction(1, 2**30)
# Σ a h + b with products of more than 53 bits: (1 + t)² - (1 + 2t) = t², t = 2^-30; and (1 + t)² beside 1 + 2t
LONG = (
    ("per_step:fp64", [1 + TINY, -1], [1 + TINY, 1 + 2 * TINY], 0, TINY**2),
    ("per_step:bf16", [1 + TINY, -1], [1 + TINY, 1 + 2 * TINY], 0, TINY**2),
    ("per_step:fp16:ru", [1 + TINY, -1], [1 + TINY, 1], -2 * TINY, Fraction(1, 2**24)),
    ("per_step:fp16:rd", [1 + TINY, -1], [1 + TINY, 1], -2 * TINY, 0),
    ("per_step:bf16:rd", [1 - TINY, 1], [1 + TINY, 1], -1, 1 - Fraction(1, 2**8)),
    ("per_op:fp64:fma", [1, 1 + TINY], [-1 - 2 * TINY, 1 + TINY], 0, TINY**2),
    ("per_op:fp64", [1, 1 + TINY], [-1 - 2 * TINY, 1 + TINY], 0, 0),
)


def cases() -> Iterator[tuple[str, str | None]]:
    """Each row of the table, on each way that leads to it."""
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    if table["format"] != FORMAT:
        raise ValueError(f"{TABLE}: its format is not {FORMAT}")
    for name, given, wanted in table["rounding"]:
        x = Fraction(given)
        for way, found in (*library_roundings(name, x), *checker_roundings(name, x)):
            # the checkers' zero has no sign
            right = "0" if wanted == "-0" and "checker" in way else wanted
            yield f"{way}, {name} of {given}", None if found == right else f"{found}, not {right}"
    for values, size in BEYOND.items():
        for mode, sign in product(("", ":tie_low", ":ru", ":rd"), (1, -1)):
            if (mode, sign) not in ((":ru", -1), (":rd", 1)):
                for way, found in library_roundings(f"per_step:{values}{mode}", Fraction(sign * size)):
                    right = "inf" if sign > 0 else "-inf"
                    wrong = None if found == right else f"{found}, not {right}"
                    yield f"{way}, per_step:{values}{mode} of {sign * size}", wrong
    for name, a, h, b, exact in LONG:
        A, H, B = [a], [[x] for x in h], [[b]]
        for way, rows in (*library_steps(name, A, H, B), *checker_steps(name, A, H, B)):
            wrong = None if str(rows[0][0]) == str(exact) else f"{rows[0][0]}, not {exact}"
            yield f"{way}, a long product in {name}", wrong
    for name, *numbers, wanted in table["steps"]:
        given_numbers = [[[Fraction(x) for x in row] for row in matrix] for matrix in numbers]
        for way, rows in (*library_steps(name, *given_numbers), *checker_steps(name, *given_numbers)):
            shown = [str(x) for row in rows for x in row]
            right = [x for row in wanted for x in row]
            wrong = None if _plain(shown) == _plain(right) else f"{shown}, not {right}"
            yield f"{way}, A h + b in {name}", wrong


def library_roundings(name: str, x: Fraction) -> Iterator[tuple[str, str]]:
    """One exact number; and a float64 number among others, where it is one."""
    arithmetic: Any = _parse_arithmetic_name(name)
    yield "an exact number", _text(arithmetic.round(np.array([x], dtype=object))[0], arithmetic.values)
    if abs(x) < 2**1000 and Fraction(float(x)) == x:
        several = arithmetic.round(np.array([0.0, float(x), 1.0]))
        yield "an array", _text(several[1], arithmetic.values)


def checker_roundings(name: str, x: Fraction) -> Iterator[tuple[str, str]]:
    """The checkers' rounding, and that of the checker of horizons."""
    head, _, values = name.partition(":")
    try:
        if head == "cast":
            yield "a checker", str(checker.rounding(values, "tie_low", True)(x))
            return
        yield "a checker", str(checker.Arithmetic(name).round(x))
    except Invalid as reason:
        yield "a checker", ("inf" if x > 0 else "-inf") if "overflows" in str(reason) else str(reason)
    if values in horizon.FLOATS:
        precision, least, largest = horizon.FLOATS[values]
        y = horizon.round_to_format(x, precision, least)
        if abs(y) <= largest:
            yield "the checker of horizons", str(y)


def library_steps(name: str, A: Any, H: Any, B: Any) -> Iterator[tuple[str, Any]]:
    """A h + b on float64 arrays and, where all is rounded at the end, on exact numbers."""
    arithmetic: Any = _parse_arithmetic_name(name)
    exact = [np.array(matrix, dtype=object) for matrix in (A, H, B)]
    if not isinstance(arithmetic, PerOp):
        yield "exact arrays", _texts(arithmetic.affine(*exact))
    if isinstance(arithmetic, PerStep | PerOp):
        given = [matrix.astype(np.float64) for matrix in exact]
        yield "arrays", _texts(arithmetic.affine(*given))
        batch = [np.stack([matrix, 0 * matrix, matrix]) for matrix in given]
        yield "the last of several", _texts(arithmetic.affine(*batch)[2])
        if (
            isinstance(arithmetic, PerStep)
            and arithmetic.mode == "rne"
            and isinstance(arithmetic.values, FloatFormat)
            and _are_values(arithmetic, given)
        ):
            yield "exact_dot", _texts(exact_dot(given[0], given[1], arithmetic.values, given[2]))


def _are_values(arithmetic: PerStep, given: list[Any]) -> bool:
    return all(np.array_equal(arithmetic.round(matrix), matrix) for matrix in given)


def checker_steps(name: str, A: Any, H: Any, B: Any) -> Iterator[tuple[str, Any]]:
    """The same, by the checkers."""
    # rows of zeros, and columns, make A square
    n = max(len(A), len(H))
    square = [[*row, *[0] * (n - len(row))] for row in A]
    filled = [
        [*matrix, *[[0] * width] * (n - len(matrix))]
        for matrix, width in ((square, n), (B, len(H[0])), (H, len(H[0])))
    ]
    head = {"A": [_written(filled[0])], "B": [_written(filled[1])], "H0": _written(filled[2])}
    zero = [0] * sum(len(row) for row in head["H0"])
    try:
        # the weights of a model are values of its arithmetic, and those of the table need not be: they are read as exact ones
        model = Model({"heads": [head], "codes": [zero], "decode": [[0]]}, 1, 1, checker.Arithmetic("exact"))
        model.arithmetic = checker.Arithmetic(name)
        flat, columns = model.step(model.initial, 0), len(head["H0"][0])
        yield "a checker", [list(flat[i : i + columns]) for i in range(0, columns * len(A), columns)]
    except Invalid as reason:
        yield "a checker", [[str(reason)]]


def _written(matrix: Any) -> list[list[Any]]:
    """The numbers as a certificate has them."""
    exact = [[Fraction(x) for x in row] for row in matrix]
    return [[x.numerator if x.denominator == 1 else str(x) for x in row] for row in exact]


@cache
def _parse_arithmetic_name(name: str) -> Arithmetic:
    arithmetic = parse_arithmetic(name)
    if isinstance(arithmetic, Kernel) or arithmetic.name not in (name, name.removesuffix(":tie_low")):
        raise ValueError(f"{name} is read as {arithmetic.name}")
    return arithmetic


def _text(x: float, values: Any) -> str:
    if isinf(x):
        return "inf" if x == inf else "-inf"
    if x == 0 and isinstance(values, FloatFormat):
        return "-0" if np.signbit(x) else "0"
    return str(Fraction(x))


def _texts(matrix: Any) -> list[list[str]]:
    def text(x: Any) -> str:
        return str(float(x)) if isinstance(x, float) and not np.isfinite(x) else str(Fraction(x))

    return [[text(x) for x in row] for row in matrix.tolist()]


def _plain(texts: list[str]) -> list[str]:
    """In a sum an exact zero is +0, and the sign of others counts for nothing."""
    return ["0" if text == "-0" else text for text in texts]
