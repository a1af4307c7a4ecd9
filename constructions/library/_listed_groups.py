"""Groups by generators on points: `V4`, Frobenius groups `F20`, `PSL(2,p)`, `PGL(2,p)`, `SL(n,p)`, `GL(n,p)`, `M11` and `M12`.

Their elements are image tuples, 0-based, in lexicographic order, found by closing the generators under composition.

- `V4`: the four points, (0 1)(2 3) and (0 2)(1 3).
- `Fn` with n = p·d, p prime and d > 1 a divisor of p - 1: x to x + 1 and x to a·x on the integers mod p, a of order d (AGL(1,5) is F20).
- `PSL(2,p)`, `PGL(2,p)`: the points 0, ..., p - 1 and infinity, numbered p; x to x + 1, x to a²·x (a·x for PGL) with a a primitive root, and
  x to -1/x.
- `SL(n,p)`, `GL(n,p)`: the non-zero vectors of length n mod p in lexicographic order; the transvections that add a neighbouring coordinate,
  and for GL the multiplication of the first coordinate by a primitive root.
- `M11`, `M12`: Mathieu's groups on 11 and 12 points; see `_MATHIEU`.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Sequence

import numpy as np

from ...foundation._errors import InputError, LimitError
from ..algebra.groups._finite_group import FiniteGroup
from ..automata._automaton import Indices

Images = tuple[int, ...]
_LINEAR = re.compile(r"(PSL|PGL|SL|GL)\(([0-9]{1,9}),\s*([0-9]{1,9})\)")
_FROBENIUS = re.compile(r"F([0-9]{1,9})")
_MISNAMED = {
    r"D[0-9]+": "is the dihedral group of that order, or of twice that order: write dihedral:m, which has order 2m",
    r"C[0-9]+": "is a cyclic group: write Z{n}",
    r"K4": "is the Klein group: write V4",
    r"Dih[0-9]+": "is a dihedral group: write dihedral:m, which has order 2m",
}
# Mathieu's generators as printed in the literature, points from 1: J. Conway et al., Atlas of Finite Groups (1985)
_M11 = (((1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),), ((3, 7, 11, 8), (4, 10, 5, 6)))
_MATHIEU = {
    "M11": (11, 7920, _M11),
    "M12": (12, 95040, (*_M11, ((1, 12), (2, 11), (3, 6), (4, 8), (5, 9), (7, 10)))),
}


def listed_group(name: str, text: str) -> tuple[int, Callable[[], FiniteGroup]] | None:
    """The order of a group of this file, and a function that builds it; None for a text that is the name of none.

    Args:
        name: the whole name, with which errors begin.
        text: the factor of it that is read.

    Raises:
        InputError: the text has the form of such a name with numbers that make no group, or is one that other books use otherwise.
    """
    for pattern, meaning in _MISNAMED.items():
        if re.fullmatch(pattern, text):
            raise InputError(f"{name}: {text} {meaning.format(n=text[1:])}")
    if text == "V4":
        return 4, lambda: close_generators("V4", [(1, 0, 3, 2), (2, 3, 0, 1)], 4)
    if text in _MATHIEU:
        points, order, cycles = _MATHIEU[text]
        return order, lambda: close_generators(text, [_from_cycles(c, points) for c in cycles], order)
    if frobenius := _FROBENIUS.fullmatch(text):
        return _frobenius(name, text, int(frobenius[1]))
    if linear := _LINEAR.fullmatch(text):
        return _linear(name, text, linear[1], int(linear[2]), int(linear[3]))
    return None


def has_listed_name(text: str) -> bool:
    """Whether a text has the form of a name of this file."""
    patterns = ("V4", "M11", "M12", _FROBENIUS.pattern, _LINEAR.pattern)
    return any(re.fullmatch(pattern, text) for pattern in patterns)


def close_generators(name: str, generators: Sequence[Images], order: int) -> FiniteGroup:
    """The permutation group that permutations generate.

    Args:
        name: of the group.
        generators: image tuples on the same points.
        order: how many elements the group has, which is checked.
    """
    steps = np.array(generators, dtype=np.int64)
    identity = tuple(range(steps.shape[1]))
    found: dict[Images, None] = {identity: None}
    frontier = np.array([identity], dtype=np.int64)
    while len(frontier):
        fresh = []
        for step in steps:
            for row in step[frontier].tolist():
                images = tuple(row)
                if images not in found:
                    found[images] = None
                    fresh.append(images)
        frontier = np.array(fresh, dtype=np.int64).reshape(-1, steps.shape[1])
    if len(found) != order:
        raise AssertionError(f"{name}: the generators make {len(found)} elements, not {order}")
    return permutation_group(name, np.array(sorted(found), dtype=np.int64), generators)


def permutation_group(name: str, images: Indices, generators: Sequence[Images]) -> FiniteGroup:
    """From all image rows in lexicographic order: a product is found again by the number of its first images in base n.

    Args:
        name: of the group.
        images: all elements, `[elements, points]`, in lexicographic order.
        generators: image tuples of elements that generate the group.

    Raises:
        LimitError: that number does not fit into 64 bits.
    """
    n = images.shape[1]
    # rows are sorted, so the first columns tell them apart as soon as neighbours differ in them
    different = images[1:] != images[:-1]
    needed = int(different.argmax(axis=1).max()) + 1 if len(different) else 1
    if n**needed >= 2**62:
        raise LimitError(f"{name}: {needed} images of {n} points do not fit into one number of 64 bits")
    weights = np.array([n ** (needed - 1 - i) for i in range(needed)], dtype=np.int64)
    codes = images[:, :needed] @ weights

    def law(g: Indices, h: Indices) -> Indices:
        composed = np.take_along_axis(images[g], images[h][..., :needed], axis=-1)
        return np.asarray(np.searchsorted(codes, composed @ weights), dtype=np.int64)

    chosen = dict.fromkeys(int(np.searchsorted(codes, np.array(g[:needed]) @ weights)) for g in generators)
    elements = tuple(tuple(row) for row in images.tolist())
    return FiniteGroup(name, elements, law, tuple(chosen), images)


def _from_cycles(cycles: Sequence[Sequence[int]], points: int) -> Images:
    images = list(range(points))
    for cycle in cycles:
        for i, p in enumerate(cycle):
            images[p - 1] = cycle[(i + 1) % len(cycle)] - 1
    return tuple(images)


def _is_prime(p: int) -> bool:
    return p > 1 and all(p % d for d in range(2, math.isqrt(p) + 1))


def _element_of_order(d: int, p: int) -> int:
    """The least a whose powers mod p are d different ones."""
    return next(a for a in range(1, p) if _order(a, p) == d)


def _order(a: int, p: int) -> int:
    power, count = a, 1
    while power != 1:
        power, count = power * a % p, count + 1
    return count


def _frobenius(name: str, text: str, order: int) -> tuple[int, Callable[[], FiniteGroup]]:
    p = (
        next((p for p in range(max(order, 1), 1, -1) if order % p == 0 and _is_prime(p)), 0)
        if order < 10**6
        else 0
    )
    d = order // p if p else 0
    if d < 2 or (p - 1) % d:
        raise InputError(
            f"{name}: {text} is no Frobenius group here: n is p·d with a prime p and a divisor d > 1 of p - 1, as in F20 or F21"
        )

    def build() -> FiniteGroup:
        a = _element_of_order(d, p)
        return close_generators(
            text, [tuple((x + 1) % p for x in range(p)), tuple(a * x % p for x in range(p))], order
        )

    return order, build


def _linear(name: str, text: str, kind: str, n: int, p: int) -> tuple[int, Callable[[], FiniteGroup]]:
    if not _is_prime(p):
        equal = {"PSL(2,4)": "A5", "PSL(2,9)": "A6", "PGL(2,4)": "A5"}.get(text.replace(" ", ""))
        hint = f"it is {equal}" if equal else "fields of prime powers are not listed"
        raise InputError(f"{name}: {text} is not over a prime field, {p} is no prime; {hint}")
    if kind in ("PSL", "PGL"):
        if n != 2:
            raise InputError(f"{name}: of the projective groups only {kind}(2,p) is listed, not {text}")
        order = p * (p * p - 1) // (2 if kind == "PSL" and p > 2 else 1)
        return order, lambda: close_generators(text, _projective_generators(kind, p), order)
    if not 2 <= n <= 4:
        raise InputError(f"{name}: {kind}(n,p) is listed for n from 2 to 4, not {text}")
    order = math.prod(p**n - p**i for i in range(n)) // (p - 1 if kind == "SL" else 1)
    return order, lambda: close_generators(text, _vector_generators(kind, n, p), order)


def _projective_generators(kind: str, p: int) -> list[Images]:
    root = _element_of_order(p - 1, p)
    scale = root * root % p if kind == "PSL" else root
    infinity = p
    shift = (*((x + 1) % p for x in range(p)), infinity)
    scaled = (*(scale * x % p for x in range(p)), infinity)
    # x to -1/x exchanges 0 and infinity
    turned = (infinity, *(-pow(x, -1, p) % p for x in range(1, p)), 0)
    return [g for g in (shift, scaled, turned) if g != tuple(range(p + 1))]


def _vector_generators(kind: str, n: int, p: int) -> list[Images]:
    vectors = [v for v in itertools.product(range(p), repeat=n) if any(v)]
    place = {v: i for i, v in enumerate(vectors)}

    def images(change: Callable[[list[int]], None]) -> Images:
        result = []
        for v in vectors:
            w = list(v)
            change(w)
            result.append(place[tuple(x % p for x in w)])
        return tuple(result)

    def transvection(i: int, j: int) -> Callable[[list[int]], None]:
        def change(w: list[int]) -> None:
            w[i] += w[j]

        return change

    def scaling(w: list[int]) -> None:
        w[0] *= _element_of_order(p - 1, p)

    pairs = [pair for i in range(n - 1) for pair in ((i, i + 1), (i + 1, i))]
    found = [images(transvection(i, j)) for i, j in pairs]
    return found + ([images(scaling)] if kind == "GL" and p > 2 else [])
