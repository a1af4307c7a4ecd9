"""Random matrices whose spectra are held to the oracle's counts, and constructions whose horizons are."""

from __future__ import annotations

import functools
import json
import random
from collections.abc import Iterator
from fractions import Fraction

from mirrormata.constructions._construct import construct
from mirrormata.constructions._lrnn import LRNN
from mirrormata.tests.fuzz.draw import number, rounded
from mirrormata.tests.oracle.certificate import read_certificate
from mirrormata.tests.oracle.search import Found, Layer, Machine, search
from mirrormata.tests.oracle.spectrum import facts
from mirrormata.theory._horizon import full_certificate
from mirrormata.theory.spectra._eigenvalues import eigenvalue_report
from mirrormata.theory.spectra._norms import norm_at_most_one

Rows = list[list[Fraction]]
TURNS = ((3, 4, 5), (5, 12, 13), (8, 15, 17), (0, 1, 1), (-1, 0, 1), (1, 0, 1))
ROTATING = (*(f"mod:{m}" for m in (5, 7, 8, 9, 11, 13)), "cycle:5", "dihedral:5", "dihedral:7")
FORMATS = ("fp64", "fp32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2")
MOST_PAIRS = 300


def random_matrix(draw: random.Random) -> Rows:
    """Of any kind: defective, orthogonal, with eigenvalues on the circle or a hair beside it."""
    kind, n = draw.randrange(7), draw.randint(1, 4)
    zero = [[Fraction(0)] * n for _ in range(n)]
    if kind == 0:
        return [[Fraction(draw.randint(-4, 4), draw.choice((1, 2, 3))) for _ in row] for row in zero]
    if kind == 1:
        images = draw.sample(range(n), n)
        return [[Fraction(draw.choice((1, -1)) * (images[i] == j)) for j in range(n)] for i in range(n)]
    if kind == 2:
        return [[Fraction(draw.choice((0, 0, 1, -1, 2))) for _ in row] for row in zero]
    if kind == 3:
        size = draw.choice((1, 1, 1 - Fraction(1, 2**60), 1 + Fraction(1, 2**60)))
        planes = [
            tuple(Fraction(x, t[2]) * size for x in t[:2]) for t in (draw.choice(TURNS), draw.choice(TURNS))
        ]
        if draw.random() < 0.4:
            planes[1] = planes[0]
        joined = draw.choice((0, 0, 1))
        (a, b), (c, d) = planes
        return [
            [a, -b, Fraction(joined), Fraction(0)],
            [b, a, Fraction(0), Fraction(joined)],
            [Fraction(0), Fraction(0), c, -d],
            [Fraction(0), Fraction(0), d, c],
        ]
    if kind == 4:
        return [
            [
                Fraction(draw.choice((1, -1)) if i == j else draw.choice((0, 0, 1)) if j > i else 0)
                for j in range(n)
            ]
            for i in range(n)
        ]
    if kind == 5:
        product = [[Fraction(i == j) for j in range(n)] for i in range(n)]
        for _ in range(draw.randint(1, 3)):  # factors I - β v vᵀ
            v = [Fraction(draw.randint(-3, 3)) for _ in range(n)]
            size = sum(x * x for x in v) or Fraction(1)
            beta = draw.choice((Fraction(2), Fraction(1), Fraction(1, 2), Fraction(3, 2))) / size
            along = [sum(v[k] * product[k][j] for k in range(n)) for j in range(n)]
            product = [
                [x - beta * v[i] * along[j] for j, x in enumerate(row)] for i, row in enumerate(product)
            ]
        return product
    return [[number(draw, draw.randrange(6)) for _ in row] for row in zero]


def spectrum_differences(draw: random.Random) -> Iterator[str]:
    """A line where the package's report of a random matrix is not the oracle's."""
    A = random_matrix(draw)
    expected, report, norm = facts(A), eigenvalue_report(A), norm_at_most_one(A)
    pairs = {
        "real": (sum(e.multiplicity for e in report.eigenvalues if e.kind == "real"), expected.real),
        "has_negative": (report.has_negative, expected.negative),
        "on the circle": (report.multiplicity_on_circle, expected.on),
        "within_disc": (report.within_disc, expected.outside == 0),
        "is_stable": (report.is_stable, expected.stable),
        "norm": (norm.holds, expected.norm_at_most_one),
    }
    for what, (got, right) in pairs.items():
        if got != right:
            yield f"spectrum: {what} is {got}, the oracle {right}; A = {[[str(x) for x in row] for row in A]}"
    if not norm.replay(A):
        yield f"spectrum: the norm's certificate does not replay; A = {[[str(x) for x in row] for row in A]}"


@functools.cache
def certified(name: str) -> tuple[Layer, Machine, dict[str, int | None]]:
    lrnn = construct(name)
    assert isinstance(lrnn, LRNN)
    document = json.loads(json.dumps(full_certificate(lrnn)))
    layer, machine = read_certificate(document)
    lengths = document["horizon"]["lengths"] if document["kind"] == "horizon" else dict.fromkeys(FORMATS)
    return layer, machine, lengths


@functools.cache
def shortest_wrong(name: str, dtype: str) -> Found:
    layer, machine, _ = certified(name)
    return search(rounded(layer, f"per_step:{dtype}"), machine, MOST_PAIRS)


def horizon_differences(draw: random.Random) -> Iterator[str]:
    """A line where a certified horizon is as long as a wrong word, or a random word within it is answered wrongly."""
    name, dtype = draw.choice(ROTATING), draw.choice(FORMATS)
    layer, machine, lengths = certified(name)
    length, found = lengths[dtype], shortest_wrong(name, dtype)
    if found.word is not None and (length is None or length >= len(found.word)):
        yield f"horizon: {name} in {dtype} is certified to {length}, but wrong on {found.word}"
    word = [draw.randrange(len(machine.transitions)) for _ in range(min(length or 0, 40))]
    if rounded(layer, f"per_step:{dtype}").first_wrong(machine, word) is not None:
        yield f"horizon: {name} in {dtype} is certified to {length}, but wrong on {word}"
