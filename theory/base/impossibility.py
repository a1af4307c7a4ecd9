"""What impossibility rests on: orbits, the papers' model `cast`, and the two words that a model confuses.

Orbits and casts were worked out by hand, or are computed here once more from their definition in rational numbers;
certificates about models that do follow the automaton, or about words that no read-out has to tell apart, must be refused.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import islice, product
from typing import Any

import numpy as np

from ...constructions._spec import automaton_from_spec
from ...constructions.automata._automaton import Automaton
from .._check import check
from ..arithmetic._arithmetic import Cast, parse_arithmetic
from ..checker import _arithmetic as checker
from ..impossibility._cast_model import (
    TriangularLayer,
    cast_sequence,
    cast_states,
    find_settled_value,
    find_settled_values,
    follow,
    random_layer,
    value_at,
)
from ..impossibility._cast_theorems import alternating_period, reflections, turning_period
from ..impossibility._certificate import (
    NumberedAutomaton,
    certify_cast_impossibility,
    certify_impossibility,
    certify_parity_impossibility,
    write_impossible,
)
from ..impossibility._orbits import AffineHead, AffineModel, diagonal_channels, orbit

Case = Iterator[tuple[str, str | None]]
Rational = Callable[[Fraction], Fraction]
CASTS = ("cast:int:-4..4", "cast:fp8_e4m3", "cast:bf16")
HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


def cases() -> Case:
    """All of them."""
    yield from orbits()
    yield from casts()
    yield from sequences()
    yield from layers()
    yield from turning()
    yield from certificates()


def one(A: Sequence[Any], B: Sequence[Any], start: Any, arithmetic: str) -> AffineModel:
    """A model of one number, a letter for each entry of A."""
    head = AffineHead(
        np.array(A, dtype=object)[:, None, None],
        np.array(B, dtype=object)[:, None, None],
        np.array([[start]]),
    )
    return AffineModel([head], arithmetic, "by hand")


def orbits() -> Case:
    """Preperiod and period on u v^k."""
    doubling = one([2, 1], [0, 1], 0, "per_step:int:-4..4")
    sign = one([1, -1], [0, 0], 1, "per_step:bf16")
    falling = one([HALF], [0], 1, "per_step:fp8_e4m3")
    exact = one([HALF, -1], [1, 0], 3, "exact")
    for name, model, loop, prefix, preperiod, period in (
        ("0, 1, 2, 3, 4, 4", doubling, [1], [], 4, 1),
        ("2, 4, 4: one, then doubled, after 1 1", doubling, [1, 0], [1, 1], 1, 1),
        ("3, 4, 4: from three ones", doubling, [1], [1, 1, 1], 1, 1),
        ("0 doubled", doubling, [0], [], 0, 1),
        ("a sign", sign, [1], [], 0, 2),
        ("a sign turned twice", sign, [1, 1], [1], 0, 1),
        ("a sign kept", sign, [0], [1, 0], 0, 1),
        # 2^-9 is the least number of e4m3, and half of it is a tie, which goes to zero
        ("halved until it is zero", falling, [0], [], 10, 1),
        ("-3, 3 exactly", exact, [1], [], 0, 2),
    ):
        found = orbit(model, loop, prefix)
        said = (found.preperiod, found.period, len(found.keys))
        right = (preperiod, period, preperiod + period)
        yield f"the orbit {name}", None if said == right else f"{said}, not {right}"


def by_definition(A: Any, B: Any, start: Any, to_set: Rational, length: int) -> list[list[Fraction]]:
    """cast(Σ_{j<k} cast(A^j B) + cast(A^k H_0)) for each k, entry by entry."""
    n = len(start)
    states = []
    for k in range(length):
        total = [Fraction(0)] * n
        term = list(B)
        for _ in range(k):
            total = [t + to_set(x) for t, x in zip(total, term, strict=True)]
            term = [sum((a * x for a, x in zip(row, term, strict=True)), Fraction(0)) for row in A]
        first = list(start)
        for _ in range(k):
            first = [sum((a * x for a, x in zip(row, first, strict=True)), Fraction(0)) for row in A]
        states.append([to_set(t + to_set(x)) for t, x in zip(total, first, strict=True)])
    return states


def casts() -> Case:
    """States in the model `cast`, by hand and by definition."""
    integers = _cast("cast:int:-4..4")
    for name, a, b, start, right in (
        ("3, 3/2, ... and 1, 1/2, ...", HALF, 1, 3, [3, 2, 2, 1, 1]),
        ("3, -3/2, 3/4, -3/8", -HALF, 0, 3, [3, -2, 1, 0, 0]),
        ("sums that saturate", 1, 3, 0, [0, 3, 4, 4, 4]),
        ("sums that saturate below", 1, -3, 1, [1, -2, -4, -4, -4]),
    ):
        found = cast_states([[Fraction(a)]], [[Fraction(b)]], [[Fraction(start)]], integers)
        said = [int(state[0, 0]) for state in islice(found, len(right))]
        yield f"cast: {name}", None if said == right else f"{said}, not {right}"
    draw = random.Random(5)
    for name, _ in product(CASTS, range(4)):
        A = [[Fraction(draw.randint(-9, 9), 8) for _ in range(2)] for _ in range(2)]
        B, first = ([Fraction(draw.randint(-20, 20), 8) for _ in range(2)] for _ in range(2))
        states = cast_states(A, [[b] for b in B], [[x] for x in first], _cast(name))
        rows = [[Fraction(x) for x in state[:, 0].tolist()] for state in islice(states, 8)]
        defined = by_definition(A, B, first, _to_set(name), 8)
        yield f"{name}: states of a random layer", None if rows == defined else f"{rows}, not {defined}"


def sequences() -> Case:
    """Where cast sequences settle: on a midpoint by the side, and for ever."""
    model = _cast("cast:int:-4..4")
    half = (HALF, 0, Fraction(1))
    for name, terms, k, right in (
        ("1/2 from above", [half, (Fraction(1), 0, THIRD)], 10, 1),
        ("1/2 from below", [half, (Fraction(-1), 0, THIRD)], 10, 0),
        ("1/2 itself", [half], 10, 0),
        ("1/2 from both sides, even", [half, (Fraction(1), 0, -THIRD)], 10, 1),
        ("1/2 from both sides, odd", [half, (Fraction(1), 0, -THIRD)], 11, 0),
        ("growing", [(Fraction(1), 0, Fraction(2))], 10, 4),
        ("growing to the other side", [(Fraction(1), 0, Fraction(-2))], 11, -4),
        ("growing with a multiplicity, odd", [(Fraction(1), 1, Fraction(-2))], 11, 4),
        ("growing with a multiplicity, even", [(Fraction(1), 1, Fraction(-2))], 12, -4),
        ("growing slowly", [(Fraction(1), 1, Fraction(1))], 12, 4),
        ("not yet grown", [(Fraction(1), 1, Fraction(1))], 3, None),
        ("falling, not yet small", [(Fraction(4), 0, Fraction(7, 8))], 4, None),
        ("falling", [(Fraction(4), 0, Fraction(7, 8))], 40, 0),
        ("k (7/8)^k still rises", [(Fraction(1, 8), 1, Fraction(7, 8))], 3, None),
        (
            "two that grow against each other",
            [(Fraction(1), 0, Fraction(2)), (Fraction(-900), 0, Fraction(3, 2))],
            12,
            None,
        ),
    ):
        said = find_settled_value(terms, k, model)
        yield f"{name}, index {k}", None if said == right else f"{said}, not {right}"
    wide = _cast("cast:int:-1..9")
    for size, right in ((2, 9), (-2, -1)):
        said = find_settled_value([(Fraction(size), 0, Fraction(2))], 10, wide)
        yield f"growing from {size} on an uneven grid", None if said == right else f"{said}, not {right}"
    draw = random.Random(6)
    for name, i in product(CASTS, range(12)):
        terms = [
            (Fraction(draw.randint(-9, 9), 4), draw.choice([0, 0, 1, 2]), Fraction(draw.randint(-10, 10), 8))
            for _ in range(3)
        ]
        found = find_settled_values(terms, _cast(name), 4)
        length = 60 if found is None else found[0] + 40
        values = [_to_set(name)(value_at(terms, k)) for k in range(length)]
        counted = [
            sum((c * _choose(k, m) * x ** (k - m) for c, m, x in terms if k >= m), Fraction(0))
            for k in range(9)
        ]
        wrong = [value_at(terms, k) for k in range(9)] != counted
        listed = [Fraction(x) for x in cast_sequence(terms, length, _cast(name)).tolist()]
        wrong = wrong or listed != values
        if found is not None:
            k, even, odd = found
            wrong = wrong or any(values[t] != Fraction(odd if t % 2 else even) for t in range(k, length))
        yield (
            f"{name}, random sequence {i}",
            "its values are others, or change after they are settled" if wrong else None,
        )


def _choose(k: int, m: int) -> int:
    above = below = 1
    for i in range(m):
        above, below = above * (k - i), below * (i + 1)
    return above // below


def layers() -> Case:
    """Layers that are followed for ever, against the definition."""
    draw = random.Random(3)
    for name, negative, prefix, cycle in (
        ("cast:int:-4..4", True, [], [0]),
        ("cast:int:-4..4", False, [2, 0, 1], [1]),
        ("cast:fp8_e4m3", True, [1, 3], [0, 2]),
        ("cast:fp8_e4m3", False, [], [3]),
    ):
        met = 0
        for _ in range(12):
            layer = random_layer(draw, 4, negative)
            found = follow(layer, prefix, cycle, _cast(name))
            if found is None or len(found.states) > 400 or met == 3:
                continue
            met += 1
            letters = [*prefix, *cycle * 40][: len(prefix) + min(len(found.states), 24) - 1]
            right = words_by_definition(layer, letters, _to_set(name))[len(prefix) :]
            said = [[Fraction(x) for x in state] for state in found.states[: len(right)].tolist()]
            yield (
                f"{name}: a layer on {prefix} {cycle}",
                None if said == right else f"{said[-1]}, not {right[-1]}",
            )
        yield f"{name}: layers that are followed", None if met else "there was none"


def words_by_definition(
    layer: TriangularLayer, letters: Sequence[int], to_set: Rational
) -> list[list[Fraction]]:
    """The states after each beginning of a word: every product of matrices anew."""

    def apply(A: Any, y: Sequence[Fraction]) -> list[Fraction]:
        return [sum((a * x for a, x in zip(row, y, strict=True)), Fraction(0)) for row in A]

    states = []
    for k in range(len(letters) + 1):
        vectors = [list(layer.start)]
        for x in letters[:k]:
            vectors = [apply(layer.S, apply(layer.T[x], apply(layer.inverse, y))) for y in vectors]
            vectors.append(list(layer.B[x]))
        states.append([to_set(sum((to_set(y[i]) for y in vectors), Fraction(0))) for i in range(2)])
    return states


def turning() -> Case:
    """Letters of finite order, and channels of one number."""
    model = _cast("cast:int:-8..8")
    for order, A in ((3, [[0, -1], [1, -1]]), (4, [[0, -1], [1, 0]]), (6, [[0, -1], [1, 1]])):
        for start, right in (([4, 0], order), ([0, 0], 1)):
            said = turning_period(A, [0, 0], start, order, model)
            yield (
                f"order {order} from {start}",
                None if said == (right, False) else f"{said}, not {(right, False)}",
            )
        first, second = reflections(order)
        both = (second @ first).tolist() == A and (first @ first).tolist() == [[1, 0], [0, 1]]
        yield f"two reflections of order {order}", None if both else "their product is another matrix"
        said_period = alternating_period(first, second, [4, 1], order, model)
        yield (
            f"two reflections in turn, order {order}",
            None if said_period == 2 * order else f"{said_period}",
        )
    # a quarter turn, B = (1, 0) + (0, 1) + (-1, 0) + (0, -1): casts of quarters are 0, sums return
    said = turning_period([[0, -1], [1, 0]], [1, 0], [0, 0], 4, model)
    yield "a quarter turn that adds", None if said == (4, False) else f"{said}, not {(4, False)}"
    # halves are cast toward -∞: 1/2 to 0 and -1/2 to -1, so that each turn adds -1 to both entries
    said = turning_period([[0, -1], [1, 0]], [HALF, 0], [0, 0], 4, model)
    yield "a quarter turn whose ties add up", None if said == (1, True) else f"{said}, not {(1, True)}"
    # 5, 0, -5, 0 are cast to 5, 0, -1, 0 there, so that each turn adds 4
    said = turning_period([[0, -1], [1, 0]], [5, 0], [0, 0], 4, _cast("cast:int:-1..9"))
    yield "a quarter turn on an uneven grid", None if said == (1, True) else f"{said}, not {(1, True)}"
    for negative, count in ((False, 75), (True, 50)):
        found = diagonal_channels("int:-2..2", negative=negative)
        right_turns = sum(
            _turns(a, b, h) for a, b, h in product(range(-2, 3), repeat=3) if (a < 0) == negative
        )
        wrong = found != (count, right_turns) or (right_turns > 0) != negative
        yield f"channels, negative {negative}", f"{found}, not {(count, right_turns)}" if wrong else None


def _turns(a: int, b: int, h: int) -> bool:
    def step(h: int) -> int:
        return min(max(min(max(a * h, -2), 2) + b, -2), 2)

    for _ in range(5):
        h = step(h)
    return step(h) != h


def certificates() -> Case:
    """Words that are confused, as they were found by hand; models that follow; and certificates that say too much."""
    parity, three = automaton_from_spec("parity"), automaton_from_spec("mod:3")
    sign = one([1, -1], [0, 0], 1, "per_step:int:-2..2")
    matrices = np.array([[[1, 0], [0, 1]], [[0, -1], [1, -1]]], dtype=np.float64)
    third = AffineModel(
        [AffineHead(matrices, None, np.array([[1.0], [0.0]]))], "per_step:bf16", "a turn of order 3"
    )
    before = Automaton(
        (0, 1), (0, 1), np.array([[0, 1], [1, 0]]), 0, np.array([[0, 1], [0, 1]], dtype=object), "before"
    )
    still = one([1, 1], [0, 0], 1, "per_step:bf16")
    forgetful = Automaton(
        (0, 1), (0, 1), np.array([[0, 0], [1, 0]]), 0, np.array([[0, 1], [0, 0]], dtype=object), "forgetful"
    )
    for name, model, language, loop, prefix, words in (
        # the empty word ends with no letter, so that a letter must follow
        ("a sign, modulo 3", sign, three, [1], [], (0, 2, [0])),
        ("a sign, modulo 3, after 1", sign, three, [1], [1], (0, 2, [])),
        ("a sign, modulo 3, after 0", sign, three, [1], [0], (0, 2, [0])),
        ("a sign, modulo 3, twice", sign, three, [1, 1], [], (0, 1, [0])),
        ("a turn of order 3, parity", third, parity, [1], [], (0, 3, [0])),
        ("nothing moves, parity", still, parity, [1], [], (0, 1, [0])),
        ("nothing moves, parity, after 1", still, parity, [1], [1], (0, 1, [])),
        ("nothing moves, the state before", still, before, [1], [], (0, 1, [0])),
        ("nothing moves, letter 0 tells the state and forgets it", still, forgetful, [1], [], (0, 1, [0])),
        ("a sign, parity", sign, parity, [1], [], None),
        ("a turn of order 3, modulo 3", third, three, [1], [], None),
        ("idle letters", sign, three, [0], [1], None),
    ):
        document = certify_impossibility(model, language, loop, prefix)
        said = None if document is None else tuple(document["words"][key] for key in ("i", "j", "suffix"))
        yield f"{name}: the words", None if said == words else f"{said}, not {words}"
        if document is not None:
            found = check(document)
            yield (
                f"{name}: the certificate",
                None if found.verdict == "valid" else f"it is true, and refused: {found.reason}",
            )
        machine = NumberedAutomaton(language)
        for i, j, z in product(range(4), range(1, 5), ([], [0], [1])):
            if i < j and (i, j, z) != words:
                wrong = write_impossible(
                    model.heads, model.arithmetic.name, "by hand", machine, loop, prefix, (i, j, z)
                )
                found = check(wrong)
                said_wrong = (
                    None if found.verdict == "invalid" else f"it is false, or not the first: {found.reason}"
                )
                yield f"{name}: u v^{i} and u v^{j} and {z}", said_wrong
    half = AffineHead(
        np.array([[[1]], [[HALF]]], dtype=object),
        np.array([[[0]], [[THIRD]]], dtype=object),
        np.array([[5]], dtype=object),
    )
    between = AffineHead(np.array([[[1]], [[-1]]], dtype=object), None, np.array([[HALF]], dtype=object))
    wrong = write_impossible(
        [between], "per_step:int:-2..2", "by hand", NumberedAutomaton(parity), [1], [], (1, 2, [])
    )
    found = check(wrong)
    yield "a start between the values", None if found.verdict == "invalid" else f"it is false: {found.reason}"
    # 5, 2, 1, 1: 1/3 is cast to 0, and 5/2 + 1/3, 5/4 + 1/3 + 1/6 would be other numbers, were they not cast one by one
    document = certify_cast_impossibility([half], _cast("cast:int:-8..8"), parity)
    equal = None if document is None else (document["words"]["i"], document["words"]["j"])
    yield "cast: 5, 2, 1, 1", None if equal == (2, 3) else f"{equal}, not (2, 3)"
    for name, found_document in (("cast", document), ("a positive layer", certify_parity_impossibility())):
        found = check(found_document or {})
        yield f"{name}: the certificate", None if found.verdict == "valid" else found.reason
    if document is not None:
        for i, j in product(range(5), range(1, 6)):
            if i < j and (i, j) != (2, 3):
                machine = NumberedAutomaton(parity)
                wrong = write_impossible([half], "cast:int:-8..8", "by hand", machine, [1], [], (i, j, []))
                found = check(wrong)
                said_wrong = (
                    None if found.verdict == "invalid" else f"it is false, or not the first: {found.reason}"
                )
                yield f"cast: v^{i} and v^{j}", said_wrong


def _cast(name: str) -> Cast:
    model = parse_arithmetic(name)
    if not isinstance(model, Cast):
        raise TypeError(name)
    return model


def _to_set(name: str) -> Rational:
    return checker.rounding(name.partition(":")[2], "tie_low", True)
