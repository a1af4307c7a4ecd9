"""The checker's rounding by whole numbers, its steps and its distances, against plain definitions by fractions."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import ceil, floor, trunc
from typing import Any

import numpy as np
import pytest

from mirrormata.theory.checker._arithmetic import FORMATS, ORDERS, SATURATING, WHOLE, Arithmetic, rounding
from mirrormata.theory.checker._budget import Budget
from mirrormata.theory.checker._exact import Invalid
from mirrormata.theory.checker._stored import Model

PLAIN: dict[str, Callable[[Fraction], int]] = {
    "rne": round,
    "tie_low": lambda x: ceil(x - Fraction(1, 2)),
    "rz": trunc,
    "ru": ceil,
    "rd": floor,
}
GRIDS = {
    "int:-5..6": (-5, 6, 1),
    "int:0..300": (0, 300, 1),
    "fixed:6:2": (-32, 31, 4),
    "fixed:12:12": (-2048, 2047, 4096),
}
LISTS = ("-3/2,-1/3,0,1/7,1,4", "0,1", "-2,0")


def plain_float(x: Fraction, values: str, mode: str, saturate: bool) -> Fraction | None:
    """The multiple of the step at x; None where it becomes infinite."""
    precision, exponent, largest = FORMATS[values]
    while Fraction(2) ** (exponent + 1) <= abs(x):
        exponent += 1
    step = Fraction(2) ** (exponent - precision + 1)
    y = PLAIN[mode](x / step) * step
    if abs(y) <= largest:
        return y
    bounded = largest if y > 0 else -largest
    toward_zero = mode in ("rz", "rd" if x > 0 else "ru")
    return bounded if saturate or values in SATURATING or toward_zero else None


def plain_listed(x: Fraction, values: str, mode: str) -> Fraction:
    """The member that the mode asks for, of all of them."""
    members = [Fraction(part) for part in values.split(",")]
    below, above = [m for m in members if m <= x], [m for m in members if m >= x]
    if not below or not above:
        return above[0] if above else below[-1]
    low, high = below[-1], above[0]
    nearest = low if x - low <= high - x else high
    return {"rd": low, "ru": high, "rz": low if x > 0 else high, "tie_low": nearest}[mode]


def plain(x: Fraction, values: str, mode: str, saturate: bool = False) -> Fraction | None:
    """x rounded once to values of any kind."""
    if values in FORMATS:
        return plain_float(x, values, mode, saturate)
    if values in LISTS:
        return plain_listed(x, values, mode)
    low, high, parts = GRIDS[values]
    return Fraction(min(max(PLAIN[mode](x * parts), low), high), parts)


def rounded(ratio: Callable[[Fraction], Fraction], x: Fraction) -> Fraction | None:
    try:
        return ratio(x)
    except Invalid:
        return None


def numbers(values: str, draw: random.Random, count: int) -> Iterator[Fraction]:
    """Values, ties between them and what is next to either, subnormal numbers, the ends, and fractions with other denominators."""
    if values in FORMATS:
        precision, least, largest = FORMATS[values]
        top = int(largest).bit_length() - 1
        step = Fraction(2) ** (top - precision + 1)
        ends = [largest, largest + step / 2, largest + step, 2 * largest, Fraction(2) ** (least - precision)]
        exponents = [least - 3, least - 1, least, least + 1, 0, 1, top - 1, top, top + 1]
        halves = [
            Fraction(draw.randint(0, 2 ** (precision + 1)))
            * Fraction(2) ** (draw.choice(exponents) - precision)
            for _ in range(count)
        ]
    elif values in LISTS:
        members = [Fraction(part) for part in values.split(",")]
        ends = members
        halves = [(draw.choice(members) + draw.choice(members)) / 2 for _ in range(count)]
    else:
        low, high, parts = GRIDS[values]
        ends = [Fraction(end, parts) for end in (low, high)]
        halves = [Fraction(draw.randint(2 * low - 4, 2 * high + 4), 2 * parts) for _ in range(count)]
    for x in [Fraction(0), *ends, *halves]:
        tiny = (abs(x) + 1) / 3 / 2 ** draw.choice([1, 20, 2000])
        for y in (x, x + tiny, x - tiny, x / 3, x * Fraction(draw.randint(1, 99), draw.randint(1, 99))):
            yield y
            yield -y


@pytest.mark.parametrize("mode", PLAIN)
@pytest.mark.parametrize("values", [*FORMATS, *GRIDS, *LISTS])
def test_rounding_is_the_plain_one(values: str, mode: str) -> None:
    assert set(WHOLE) == set(PLAIN)
    if values in LISTS and mode == "rne":
        return
    draw = random.Random(values + mode)
    for saturate in (False, True) if values in FORMATS else (False,):
        ratio = rounding(values, mode, saturate)
        for x in numbers(values, draw, 20):
            assert rounded(ratio, x) == plain(x, values, mode, saturate), (x, saturate)


@pytest.mark.parametrize("mode", [mode for mode in PLAIN if mode != "rne"])
def test_rounding_to_lists_is_the_plain_one(mode: str) -> None:
    """Lists of any length and form: one number, all on one side of 0, and alike distances."""
    draw = random.Random(mode)
    for length in [1, 2, 3, *(draw.randint(1, 40) for _ in range(40))]:
        side = draw.choice([(-9, 9), (0, 30), (-30, 0), (-(10**30), 10**30)])
        members = sorted(
            {
                Fraction(0),
                *(Fraction(draw.randint(*side), draw.choice([1, 2, 6, 2**70])) for _ in range(length)),
            }
        )
        values = ",".join(str(x) for x in members)
        arithmetic = Arithmetic(f"per_step:{values}" + (f":{mode}" if mode != "tie_low" else ""))
        halves = [(x + y) / 2 for x in members for y in draw.sample(members, min(3, len(members)))]
        for x in [*members, *halves, members[0] - 1, members[-1] + 1]:
            tiny = (abs(x) + 1) / 3 / 2 ** draw.choice([1, 20, 300])
            for y in (x, x + tiny, x - tiny):
                common = draw.choice([1, 1, 2, 35])  # n/d may have common divisors
                found = arithmetic.ratio(y.numerator * common, y.denominator * common)
                assert found == plain_listed(y, values, mode), (y, values)


@pytest.mark.parametrize(
    ("values", "dtype"), [("fp16", np.float16), ("fp32", np.float32), ("fp64", np.float64)]
)
def test_rounding_is_that_of_the_processor(values: str, dtype: type[np.floating[Any]]) -> None:
    """A product and a sum of two numbers of the format, by numpy."""
    draw, ratio = np.random.default_rng(2), rounding(values, "rne", False)
    bits = np.dtype(dtype).itemsize * 8
    patterns = draw.integers(0, 2**bits, size=(600, 2), dtype=np.uint64).astype(f"uint{bits}").view(dtype)
    near = draw.normal(size=(600, 2)).astype(dtype)
    with np.errstate(all="ignore"):
        for x, y in [*patterns, *near]:
            if np.isfinite(x) and np.isfinite(y):
                exact = [Fraction(float(x)) * Fraction(float(y)), Fraction(float(x)) + Fraction(float(y))]
                for z, expected in zip(exact, (x * y, x + y), strict=True):
                    found = rounded(ratio, z)
                    assert (np.inf if found is None else found) == (
                        abs(expected) if found is None else expected
                    )


def test_common_divisors_change_nothing() -> None:
    draw = random.Random(3)
    for name in (
        "exact",
        "per_step:fp16",
        "per_step:int:-5..6:rz",
        "per_step:fixed:6:2:ru",
        "per_step:-1/3,0,1/7",
    ):
        arithmetic = Arithmetic(name)
        for _ in range(100):
            n, d, k = draw.randint(-99, 99), draw.randint(1, 99), draw.randint(2, 2**70)
            assert arithmetic.ratio(k * n, k * d) == arithmetic.round(Fraction(n, d))


def plain_sum(
    products: list[Fraction], b: Fraction, order: str, q: Callable[[Fraction], Fraction]
) -> Fraction:
    """The sum of all products, zeros among them, and b."""
    if order == "per_step":
        return q(sum(products, b))
    total = b if order == "bias" else Fraction(0)
    if order == "tree":
        level = [q(x) for x in products]
        while len(level) > 1:
            pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
            level = [q(sum(pair, Fraction(0))) for pair in pairs]
        total = level[0]
    for x in products if order != "tree" else []:
        total = q(x + total) if order == "fma" else q(total + q(x))
    return total if order == "bias" else q(total + b)


NAMES = [
    "bf16",
    "fp16:rd",
    "fp8_e5m2:ru:sat",
    "fp8_e4m3:tie_low",
    "fp6_e2m3",
    "int:-5..6:rd",
    "fixed:6:2",
    "-3/2,-1/3,0,1/7,1,4",
]


@pytest.mark.parametrize("order", ["per_step", "left", *ORDERS])
@pytest.mark.parametrize("name", NAMES)
def test_steps_with_zeros_are_the_plain_ones(name: str, order: str) -> None:
    parts = name.split(":")
    width = {"int": 2, "fixed": 3}.get(parts[0], 1)
    values, rest = ":".join(parts[:width]), parts[width:]
    kind = "per_step" if order == "per_step" else "per_op"
    arithmetic = Arithmetic(":".join([kind, values, *([order] if order in ORDERS else []), *rest]))
    draw = random.Random(f"{name}{order}")

    def number(zero: float) -> Fraction:
        x = (
            Fraction(draw.randint(-9, 9), draw.choice([1, 2, 3, 4, 8]))
            if draw.random() >= zero
            else Fraction(0)
        )
        return arithmetic.round(x)

    for _ in range(25):
        n, d, zero = draw.randint(1, 5), draw.randint(1, 2), draw.choice([0.1, 0.5, 0.9])
        A, B, H = ([[number(zero) for _ in range(m)] for _ in range(n)] for m in (n, d, d))
        model = stored(A, B, H, [[Fraction(0)] * (n * d)], arithmetic)
        state = model.initial
        for _ in range(3):
            after = model.step(state, 0)
            for i in range(n):
                for j in range(d):
                    products = [A[i][k] * state[k * d + j] for k in range(n)]
                    assert after[i * d + j] == plain_sum(products, B[i][j], order, arithmetic.round)
            state = after


def stored(A: Any, B: Any, H: Any, codes: Any, arithmetic: Arithmetic, budget: Budget | None = None) -> Model:
    def written(rows: Any) -> Any:
        return [[x.numerator if x.denominator == 1 else str(x) for x in row] for row in rows]

    head = {"A": [written(A)], "B": [written(B)], "H0": written(H)}
    document = {"heads": [head], "codes": written(codes), "decode": [[0]] * len(codes)}
    return Model(document, 1, 1, arithmetic, budget)


def test_exact_steps_and_distances() -> None:
    draw = random.Random(5)
    for _ in range(60):
        n = draw.randint(1, 4)
        A, B, H, codes = (
            [
                [Fraction(draw.randint(-9, 9), draw.randint(1, 9)) * draw.randint(0, 1) for _ in range(m)]
                for _ in range(rows)
            ]
            for rows, m in ((n, n), (n, 1), (n, 1), (draw.randint(1, 5), n))
        )
        codes += [[-x for x in codes[0]]]  # as far from 0, and the later one
        model = stored(A, B, H, codes, Arithmetic("exact"))
        for state in (model.initial, tuple([Fraction(0)] * n), model.step(model.initial, 0)):
            after = tuple(sum((a * h for a, h in zip(A[i], state, strict=True)), B[i][0]) for i in range(n))
            assert model.step(state, 0) == model.exactly(state, 0) == after
            squares = [sum((h - c) ** 2 for h, c in zip(state, code, strict=True)) for code in codes]
            assert model.nearest(state) == squares.index(min(squares))
