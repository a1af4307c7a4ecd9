"""Groups by name: `Zm`, `Sn`, `An`, `dihedral:m`, `Q8`, powers `G^k` and direct products `G_x_H`.

Elements: integers (Z_m); image tuples, 0-based, in lexicographic order (S_n, A_n); "r0", ..., "s0", ... (dihedral);
"1", "-1", "i", "-i", "j", "-j", "k", "-k" (Q8); tuples of the factors' elements (products; Z2^k: tuples of bits).
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Sequence

import numpy as np

from ..automaton import Indices
from ..errors import InputError, LimitError
from ..groups.finite_group import FiniteGroup
from .parameters import Parameter, figure, whole_numbers

_FACTOR = re.compile(
    r"(?:(?P<family>[ZSA])(?P<n>[0-9]+)|dihedral:(?P<m>[^^]*)|(?P<q>Q8))(?:\^(?P<power>.*))?"
)


def group_by_name(name: str, max_elements: int = 100_000) -> FiniteGroup:
    """The group with all elements listed; its multiplication table is computed only where it is asked for.

    `InputError` for an unknown name or a number out of range; `LimitError` above `max_elements`, before the work.
    """
    order, build = _blueprint(name)
    if order > max_elements:
        raise LimitError(
            f"{name}: {figure(order)} elements; the limit is {max_elements:,} (raise it with --max-elements)"
        )
    return build()


def group_order(name: str) -> int:
    """The number of elements of a named group, without listing them."""
    return _blueprint(name)[0]


def is_group_name(name: str) -> bool:
    """True where a name has the form of a group's: at least one of its factors is of a known family."""
    return any(_FACTOR.fullmatch(factor) for factor in name.split("_x_"))


def _blueprint(name: str) -> tuple[int, Callable[[], FiniteGroup]]:
    factors = [_factor(name, text) for text in name.split("_x_")]
    if len(factors) == 1:
        return factors[0]
    order = math.prod(order for order, _ in factors)
    return order, lambda: direct_product(name, [build() for _, build in factors])


def _factor(name: str, text: str) -> tuple[int, Callable[[], FiniteGroup]]:
    match = _FACTOR.fullmatch(text)
    if match is None:
        raise InputError(
            f"{name}: {text!r} is not a group of the library; write Zm, Sn, An, dihedral:m or Q8, "
            "a power such as Z2^3, or a product such as A4_x_Z5"
        )
    order: int
    build: Callable[[], FiniteGroup]
    family, n, m = match["family"], 0, 0
    if family == "Z":
        (m,) = whole_numbers(name, match["n"], [Parameter("m", 1)])
        order, build = m, lambda: cyclic(m)
    elif family is not None:
        (n,) = whole_numbers(name, match["n"], [Parameter("n", 1, 1000)])
        order, build = math.factorial(n), lambda: symmetric(n)
        if family == "A":
            order, build = max(1, order // 2), lambda: alternating(n)
    elif match["q"]:
        order, build = 8, quaternion
    else:
        (m,) = whole_numbers(name, match["m"], [Parameter("m", 1)])
        order, build = 2 * m, lambda: dihedral(m)
    if match["power"] is None:
        return order, build
    (power,) = whole_numbers(name, match["power"], [Parameter("k", 1, 1000)])
    return order**power, lambda: direct_product(text, [build()] * power)


def cyclic(m: int) -> FiniteGroup:
    """Z_m: integers under addition mod m; generator 1."""
    return FiniteGroup(f"Z{m}", tuple(range(m)), lambda g, h: (g + h) % m, (1 % m,))


def symmetric(n: int) -> FiniteGroup:
    """S_n; generators: the cycle (0 1 ... n-1), i to i+1, and the swap (0 1)."""
    return _permutation_group(f"S{n}", _permutations(n), [_cycle(n, range(n)), _cycle(n, range(min(n, 2)))])


def alternating(n: int) -> FiniteGroup:
    """A_n; generators: for A_5 the 5-cycle (0 1 2 3 4) and (0 1)(2 3); else the 3-cycle (0 1 2) and, from n = 4 on,
    (0 1 ... n-1) for odd n, (1 2 ... n-1) for even n.
    """
    images = _permutations(n)
    inversions = sum(
        ((images[:, i] > images[:, j]).astype(np.int64) for i, j in itertools.combinations(range(n), 2)),
        np.zeros(len(images), dtype=np.int64),
    )
    if n == 5:
        generators = [_cycle(5, range(5)), (1, 0, 3, 2, 4)]
    elif n >= 4:
        generators = [_cycle(n, range(3)), _cycle(n, range(1 - n % 2, n))]
    else:
        generators = [_cycle(n, range(n if n == 3 else 1))]
    return _permutation_group(f"A{n}", images[inversions % 2 == 0], generators)


def _permutations(n: int) -> Indices:
    return np.array(list(itertools.permutations(range(n))), dtype=np.int64)


def _cycle(n: int, points: Sequence[int]) -> tuple[int, ...]:
    images = list(range(n))
    for place, point in enumerate(points):
        images[point] = points[(place + 1) % len(points)]
    return tuple(images)


def _permutation_group(name: str, images: Indices, generators: Sequence[tuple[int, ...]]) -> FiniteGroup:
    """From all image rows in lexicographic order: a product is found again by its number in base n."""
    n = images.shape[1]
    weights = np.array([n ** (n - 1 - i) for i in range(n)], dtype=np.int64)
    codes = images @ weights

    def law(g: Indices, h: Indices) -> Indices:
        composed = np.take_along_axis(images[g], images[h], axis=-1)
        return np.asarray(np.searchsorted(codes, composed @ weights), dtype=np.int64)

    chosen = dict.fromkeys(int(np.searchsorted(codes, np.array(g) @ weights)) for g in generators)
    elements = tuple(tuple(row) for row in images.tolist())
    return FiniteGroup(name, elements, law, tuple(chosen), images)


def dihedral(m: int) -> FiniteGroup:
    """D_m, of order 2m: r_i r_j = r_{i+j}, r_i s_j = s_{i+j}, s_i r_j = s_{i-j}, s_i s_j = r_{i-j}, indices mod m.

    Generators r1 and s0.
    """

    def law(g: Indices, h: Indices) -> Indices:
        turned = np.where(g < m, g + h, g - h) % m
        return np.asarray(turned + m * ((g >= m) ^ (h >= m)), dtype=np.int64)

    labels = [f"r{i}" for i in range(m)] + [f"s{i}" for i in range(m)]
    return FiniteGroup(f"dihedral:{m}", tuple(labels), law, (1, m) if m > 1 else (m,))


def quaternion() -> FiniteGroup:
    """Q8 = {±1, ±i, ±j, ±k} with ij = k, jk = i, ki = j; generators i and j."""
    # unit u·v is u xor v with 1, i, j, k numbered 0..3; negative[u, v] is the sign of the product
    negative = np.array([[0, 0, 0, 0], [0, 1, 0, 1], [0, 1, 1, 0], [0, 0, 1, 1]])

    def law(g: Indices, h: Indices) -> Indices:
        u, v = g // 2, h // 2
        return np.asarray(2 * (u ^ v) + (g % 2 ^ h % 2 ^ negative[u, v]), dtype=np.int64)

    return FiniteGroup("Q8", ("1", "-1", "i", "-i", "j", "-j", "k", "-k"), law, (2, 4))


def direct_product(name: str, factors: Sequence[FiniteGroup]) -> FiniteGroup:
    """Tuples of the factors' elements, multiplied component by component, the last factor running fastest.

    Generators: those of each factor, with the identity in the other components (Z2^k: the unit vectors).
    """
    sizes = tuple(len(factor.elements) for factor in factors)
    identities = [factor.identity for factor in factors]

    def index(parts: Sequence[Indices | int]) -> Indices:
        total: Indices | int = 0
        for part, size in zip(parts, sizes, strict=True):
            total = total * size + part
        return np.asarray(total, dtype=np.int64)

    def parts_of(g: Indices) -> list[Indices]:
        parts = []
        for size in reversed(sizes):
            parts.append(g % size)
            g = g // size
        return parts[::-1]

    def law(g: Indices, h: Indices) -> Indices:
        pairs = zip(factors, parts_of(g), parts_of(h), strict=True)
        return index([factor.multiply(a, b) for factor, a, b in pairs])

    generators = [
        int(index([*identities[:place], g, *identities[place + 1 :]]))
        for place, factor in enumerate(factors)
        for g in factor.generators
    ]
    nontrivial = [g for g in dict.fromkeys(generators) if g != int(index(identities))]
    elements = tuple(itertools.product(*(factor.elements for factor in factors)))
    return FiniteGroup(name, elements, law, tuple(nontrivial or generators[:1]))
