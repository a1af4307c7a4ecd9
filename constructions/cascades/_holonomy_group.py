"""Order and name of a holonomy group: a permutation group on tiles, given by generators, not always transitive.

Names follow GAP where they are given: 1, C6, C2 x C2, S4, A4, D10 (of order 10), Q8, C5 : C4. A group that is not
recognised has the name `order N`.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import permutations

import numpy as np

from ..algebra._conductors import prime_divisors
from ..algebra.groups._permutations import alternating_kind, cycle_lengths, orbits
from ..algebra.monoids._solvable import group_order
from ..automata._automaton import Automaton, Indices
from ..automata._completing import object_array

MAX_LISTED_ELEMENTS = 2_000

Permutation = tuple[int, ...]


def order_and_name(generators: Indices, *, max_listed: int = MAX_LISTED_ELEMENTS) -> tuple[int | None, str]:
    """Order and name of the group that the permutations `[generators, points]` generate.

    Up to `max_listed` elements are listed; beyond, the order comes from `permutation_group.group_order` (None
    where its own limits leave it open) and only symmetric and alternating groups have a name.
    """
    generators = _on_moved_points(generators)
    degree = generators.shape[1]
    # no point is moved
    if not degree:
        return 1, "1"
    # one generator: the least common multiple of its cycles' lengths
    if len(generators) == 1:
        order = math.lcm(*cycle_lengths(generators[0]))
        return order, f"C{order}"
    kind = alternating_kind(generators)
    if kind is not None:
        order = math.factorial(degree) // (1 if kind == "symmetric" else 2)
        return order, f"{'S' if kind == 'symmetric' else 'A'}{degree}"
    elements = _list_elements(generators, max_listed)
    if elements is not None:
        return len(elements), _name(elements, generators)
    n = generators.shape[1]
    labels = tuple(range(n))
    found = group_order(
        Automaton(
            labels, tuple(range(len(generators))), generators, 0, object_array(labels), "holonomy group"
        )
    )
    transitive = not orbits(generators).any()
    if transitive and found == math.factorial(degree):
        return found, f"S{degree}"
    if transitive and found == math.factorial(degree) // 2:
        return found, f"A{degree}"
    return found, "order unknown" if found is None else f"order {found}"


def _on_moved_points(generators: Indices) -> Indices:
    n = generators.shape[1]
    # points that every generator fixes do not matter
    moved = np.flatnonzero((generators != np.arange(n)).any(axis=0))
    return np.searchsorted(moved, generators[:, moved])


def _list_elements(generators: Indices, limit: int) -> list[Permutation] | None:
    """All elements, breadth first from the identity, or None where there are more than `limit`."""
    rows = [tuple(row) for row in generators.tolist()]
    elements: list[Permutation] = [tuple(range(generators.shape[1]))]
    known = set(elements)
    # breadth first, closed when the list ends
    for element in elements:
        for row in rows:
            product = tuple([row[i] for i in element])
            if product not in known:
                known.add(product)
                elements.append(product)
        if len(elements) > limit:
            return None
    return elements


def _name(elements: list[Permutation], generators: Indices) -> str:
    order = len(elements)
    orders = Counter(_order(element) for element in elements)
    rows = [tuple(row) for row in generators.tolist()]
    if all(_then(g, h) == _then(h, g) for g in rows for h in rows):
        return _abelian_name(orders)
    for n in range(3, 7):  # order and element orders characterise S_n (Bi) and A_n (Shi)
        if order in (math.factorial(n), math.factorial(n) // 2):
            even_only = order < math.factorial(n)
            if orders == _symmetric_orders(n, even_only=even_only):
                return f"{'A' if even_only else 'S'}{n}"
    # of the groups of order 8 that are not abelian, Q8 has six elements of order 4 and D8 two
    if order == 8 and orders[4] == 6:
        return "Q8"
    return _dihedral_name(elements, orders) or _frobenius_name(order, orders) or f"order {order}"


def _symmetric_orders(n: int, *, even_only: bool) -> Counter[int]:
    counts: Counter[int] = Counter()
    for element in permutations(range(n)):
        lengths = cycle_lengths(np.array(element))
        if not even_only or (n - len(lengths)) % 2 == 0:
            counts[math.lcm(*lengths)] += 1
    return counts


def _abelian_name(orders: Counter[int]) -> str:
    """Invariant factors, largest first, from the number of elements of each order."""
    factors: list[int] = []
    for p in prime_divisors(max(orders)):
        power, at_most, ranks = p, 1, []
        while True:  # the elements killed by p^k number p^(sum of ranks so far)
            killed = sum(count for o, count in orders.items() if power % o == 0)
            if killed == at_most:
                break
            # the k-th rank counts the cyclic factors whose order p^k divides
            ranks.append(round(math.log(killed // at_most, p)))
            at_most, power = killed, power * p
        for place in range(ranks[0]):
            # the exponent of p in the factor at this place
            exponent = sum(rank > place for rank in ranks)
            if place == len(factors):
                factors.append(1)
            factors[place] *= p**exponent
    return " x ".join(f"C{factor}" for factor in factors) or "1"


def _dihedral_name(elements: list[Permutation], orders: Counter[int]) -> str | None:
    half = len(elements) // 2
    # a dihedral group of order 2m has a rotation of order m
    if len(elements) % 2 or half not in orders:
        return None
    rotation = next(element for element in elements if _order(element) == half)
    rotations = {elements[0]}
    power = rotation
    while power not in rotations:
        rotations.add(power)
        power = _then(power, rotation)
    others = [element for element in elements if element not in rotations]
    # and all other elements turn over: order 2
    return f"D{len(elements)}" if all(_order(element) == 2 for element in others) else None


def _frobenius_name(order: int, orders: Counter[int]) -> str | None:
    """C_p : C_q where a normal subgroup of prime order p has a cyclic complement of order q prime to p."""
    for p in sorted(prime_divisors(order), reverse=True):
        q = order // p
        # the p - 1 elements of order p make one subgroup, which is normal; one of order q is its complement
        if q % p and orders[p] == p - 1 and orders[q]:
            return f"C{p} : C{q}"
    return None


def _then(first: Permutation, second: Permutation) -> Permutation:
    return tuple([second[i] for i in first])


def _order(element: Permutation) -> int:
    identity = tuple(range(len(element)))
    power, order = element, 1
    while power != identity:
        power, order = _then(power, element), order + 1
    return order
