"""Groups by name: `Zm`, `Sn`, `An`, `dihedral:m`, `Q8`, those of `_listed_groups.py`, powers `G^k` and direct products `G_x_H`.

Elements: integers (Z_m); image tuples, 0-based, in lexicographic order (S_n, A_n); "r0", ..., "s0", ... (dihedral);
"1", "-1", "i", "-i", "j", "-j", "k", "-k" (Q8); tuples of the factors' elements (products; Z2^k: tuples of bits).

Word problems of named groups, over all elements or an alphabet in square brackets.

`G[transpositions]`: the swaps of two points (S_n; A_n has none). `G[involutions]`: all elements of order 2.
`G[generators]`: stated for each family in `groups`. `G[up_to_k]`: the permutations that move at most k points, the
identity among them. `G[in_k_tokens]`: see `in_k_tokens`.
"""

from __future__ import annotations

import difflib
import itertools
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ...foundation._errors import InputError, LimitError
from ..algebra.groups._finite_group import FiniteGroup, Product
from ..automata._automaton import Automaton, Indices
from ._listed_groups import has_listed_name, listed_group, permutation_group
from ._parameters import Limits, Parameter, figure, whole_numbers

_FACTOR = re.compile(
    r"(?:(?P<family>[ZSA])(?P<n>[0-9]+)|dihedral:(?P<m>[^^]*)|(?P<q>Q8))(?:\^(?P<power>.*))?"
)


def group_by_name(name: str, max_elements: int = 100_000) -> FiniteGroup:
    """Build a named group with all its elements. Its multiplication table is computed only when it is used.

    Args:
        name: a name from the library, such as `S4` or `Z5`.
        max_elements: the largest number of elements.

    Raises:
        InputError: the name is unknown, or a number in it is out of range.
        LimitError: the group has more than `max_elements` elements; this is checked before they are listed.
    """
    order, build = _blueprint(name)
    if order > max_elements:
        raise LimitError(
            f"{name}: {figure(order)} elements; the limit is {max_elements:,} (raise it with `max_elements`)"
        )
    return build()


def group_order(name: str) -> int:
    """The number of elements of a named group, without listing them."""
    return _blueprint(name)[0]


def is_group_name(name: str) -> bool:
    """True where a name has the form of a group's: at least one of its factors is of a known family."""
    bases = [factor.partition("^")[0] for factor in name.split("_x_")]
    return any(_FACTOR.fullmatch(base) or has_listed_name(base) for base in bases)


def _blueprint(name: str) -> tuple[int, Callable[[], FiniteGroup]]:
    factors = [_factor(name, text) for text in name.split("_x_")]
    if len(factors) == 1:
        return factors[0]
    order = math.prod(order for order, _ in factors)
    return order, lambda: direct_product(name, [build() for _, build in factors])


def _factor(name: str, text: str) -> tuple[int, Callable[[], FiniteGroup]]:
    order: int
    build: Callable[[], FiniteGroup]
    base, caret, exponent = text.partition("^")
    listed = listed_group(name, base)
    if listed is not None:
        order, build = listed
        return _power(name, text, order, build, exponent if caret else None)
    match = _FACTOR.fullmatch(text)
    if match is None:
        raise InputError(
            f"{name}: {text!r} is not a group of the library; write Zm, Sn, An, dihedral:m, Q8, V4, F20, PSL(2,7), SL(2,3), M11, "
            "a power such as Z2^3, or a product such as A4_x_Z5"
        )
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
    return _power(name, text, order, build, match["power"])


def _power(
    name: str, text: str, order: int, build: Callable[[], FiniteGroup], exponent: str | None
) -> tuple[int, Callable[[], FiniteGroup]]:
    if exponent is None:
        return order, build
    (power,) = whole_numbers(name, exponent, [Parameter("k", 1, 1000)])
    return order**power, lambda: direct_product(text, [build()] * power)


def cyclic(m: int) -> FiniteGroup:
    """Z_m: integers under addition mod m; generator 1."""
    return FiniteGroup(f"Z{m}", tuple(range(m)), lambda g, h: (g + h) % m, (1 % m,))


def symmetric(n: int) -> FiniteGroup:
    """S_n; generators: the cycle (0 1 ... n-1), i to i+1, and the swap (0 1)."""
    return permutation_group(f"S{n}", _permutations(n), [_cycle(n, range(n)), _cycle(n, range(min(n, 2)))])


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
    return permutation_group(f"A{n}", images[inversions % 2 == 0], generators)


def _permutations(n: int) -> Indices:
    return np.array(list(itertools.permutations(range(n))), dtype=np.int64)


def _cycle(n: int, points: Sequence[int]) -> tuple[int, ...]:
    images = list(range(n))
    for place, point in enumerate(points):
        images[point] = points[(place + 1) % len(points)]
    return tuple(images)


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


ALPHABETS = ("transpositions", "involutions", "generators", "up_to_k", "in_k_tokens")
BLANK = "blank"


def word_problem_by_name(name: str, product: Product, limits: Limits) -> Automaton:
    """The word problem of `G` or `G[alphabet]`; the state is the running product, from the identity.

    `InputError` for an unknown alphabet or one that the group does not have; `LimitError` before the work.
    """
    group_name, bracket, rest = name.partition("[")
    if bracket and not rest.endswith("]"):
        rest, closing, behind = rest.partition(
            "]"
        )  # `S4[involutions]_x_Z2`: the bracket is for the whole group
        group_name += behind
        group_order(group_name)  # the group's own error comes first
        wrong = "the bracket comes last, for the group as a whole" if closing else "the bracket is not closed"
        near = [a for a in ALPHABETS if rest and a.startswith(rest)] or difflib.get_close_matches(
            rest, ALPHABETS
        )
        for meant in (rest, *near, "generators"):
            if meant and _is_right(f"{group_name}[{meant}]", product, limits):
                raise InputError(f"{name}: {wrong}; write {group_name}[{meant}]")
        raise InputError(f"{name}: {wrong}; close it there, or leave it out")
    alphabet = rest[:-1] if bracket else None
    order = group_order(group_name)
    limits.check(name, order)
    if alphabet is None:
        limits.check(name, order, order, f", or give fewer letters, such as {name}[generators]")
    group = group_by_name(group_name, max_elements=order)
    shown = name if product == "left" else f"{name} (right product)"
    tokens = re.fullmatch("in_([^_]*)_tokens", alphabet or "")
    if tokens:
        return in_k_tokens(group, tokens[1], product, shown, limits)
    letters = np.arange(order) if alphabet is None else letters_of(group, alphabet, name)
    limits.check(name, order, len(letters))
    return group.word_problem([int(x) for x in letters], product, shown)


def _is_right(name: str, product: Product, limits: Limits) -> bool:
    """Whether a name, which an error is to advise, names a word problem within the limits."""
    try:
        word_problem_by_name(name, product, limits)
    except (InputError, LimitError):
        return False
    return True


def letters_of(group: FiniteGroup, alphabet: str, name: str) -> Indices:
    """Indices of the elements of a named alphabet, in the order of the elements (generators: as stated)."""
    up_to = re.fullmatch("up_to_(.*)", alphabet)
    if alphabet == "generators":
        return np.array(group.generators, dtype=np.int64)
    if alphabet == "involutions":
        everything = np.arange(len(group.elements))
        square_to_one = group.multiply(everything, everything) == group.identity
        chosen = np.flatnonzero(square_to_one & (everything != group.identity))
    elif alphabet == "transpositions":
        chosen = np.flatnonzero(_count_moved_points(group, name) == 2)
    elif up_to:
        moved = _count_moved_points(group, name)
        points = 0 if group.images is None else group.images.shape[1]
        (k,) = whole_numbers(name, up_to[1], [Parameter("k", 0, points)])
        chosen = np.flatnonzero(moved <= k)
    else:
        near = difflib.get_close_matches(alphabet, ALPHABETS, n=1)
        meant = f"did you mean [{near[0]}]?" if near else f"write one of [{'], ['.join(ALPHABETS)}]"
        raise InputError(f"{name}: {alphabet!r} is not an alphabet; {meant}")
    if not len(chosen):
        raise InputError(f"{name}: {group.name} has no {alphabet}; choose another alphabet")
    return chosen


def in_k_tokens(group: FiniteGroup, digits: str, product: Product, name: str, limits: Limits) -> Automaton:
    """Letters: all elements and "blank". A word of the task is (element, k-1 blanks) repeated.

    An element multiplies the state at once and a blank leaves it, so the state after every k-th token is the
    product of the elements read, which is the label valid there; k > 1 fixes the format of the words, not the
    automaton. An ill-formed word (other numbers of blanks) is the product of its elements too. Every letter
    permutes the states, and every label is defined, so a model may also be asked at each token.
    """
    whole_numbers(name, digits, [Parameter("k", 2)])
    order = len(group.elements)
    limits.check(name, order, order + 1)
    plain = group.word_problem(None, product, name)
    rows = np.vstack([plain.transitions, np.arange(order)])
    return replace(plain, letters=(*plain.letters, BLANK), transitions=rows)


def _count_moved_points(group: FiniteGroup, name: str) -> Indices:
    """How many points each element moves."""
    if group.images is None:
        raise InputError(
            f"{name}: {group.name} is not given by permutations of points; take Sn or An, or another alphabet"
        )
    return np.asarray((group.images != np.arange(group.images.shape[1])).sum(axis=1), dtype=np.int64)
