"""The oracle on the examples that the documentation prints, and on small models that can be followed by hand."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice

import pytest

from mirrormata.tests.oracle.arithmetic import Arithmetic, State, cast_states
from mirrormata.tests.oracle.certificate import theta
from mirrormata.tests.oracle.search import Head, Layer, Machine, Rounded, compare, moore, search
from mirrormata.tests.oracle.spectrum import circle_counts, facts

A = [[Fraction("0.4334"), Fraction("0.2317")], [Fraction("-0.1122"), Fraction("-0.0369")]]
B, START = [[Fraction("0.8716")], [Fraction("0.7520")]], [[Fraction(0)], [Fraction(0)]]
ONE, MINUS, ZERO = [[Fraction(1)]], [[Fraction(-1)]], [[Fraction(0)]]
PARITY = moore([[0, 1], [1, 0]], 0, [0, 1])


def test_witness_settles_in_cast_and_turns_in_per_step() -> None:
    cast = islice(cast_states(A, B, START, Arithmetic("cast:int:-4..4")), 7)
    assert [(int(x), int(y)) for ((x,), (y,)) in cast] == [(0, 0), (1, 1), *[(2, 1)] * 5]
    arithmetic = Arithmetic("per_step:int:-4..4:tie_low")
    H: State = tuple(map(tuple, START))
    seen = []
    for _ in range(6):
        H = arithmetic.affine(A, H, B)
        seen.append(tuple(int(x) for (x,) in H))
    assert seen == [(1, 1), (2, 1), (2, 0), (2, 1), (2, 0), (2, 1)]


def sign_layer(decode: list[list[int]]) -> Layer:
    return Layer((Head([ONE, MINUS], [ZERO, ZERO], ONE),), [[ONE], [MINUS]], decode)


@pytest.mark.parametrize(
    ("decode", "word"),
    [
        ([[0, 0], [1, 1]], None),
        ([[1, 1], [1, 1]], (0,)),
        ([[0, 0], [0, 0]], (1,)),
        ([[0, 1], [1, 1]], (1, 1)),
    ],
)
def test_answers_at_the_start_count(decode: list[list[int]], word: tuple[int, ...] | None) -> None:
    found = search(Rounded(sign_layer(decode), Arithmetic("per_op:bf16")), PARITY, 10)
    assert found.word == word
    assert found.verdict == ("equivalent" if word is None else "counterexample")


def test_first_of_the_nearest_codes() -> None:
    layer = Layer((Head([ONE], [ZERO], ZERO),), [[ONE], [MINUS]], [[7], [8]])
    assert [a for _, a in Rounded(layer, Arithmetic("exact")).run([0])] == [7]


def test_overflow_answers_nothing() -> None:
    grow = Layer((Head([[[Fraction(60000)]]], [ZERO], ONE),), [[ONE]], [[0]])
    one_state = Machine([[0]], 0, [[0]])
    assert search(Rounded(grow, Arithmetic("per_step:fp16")), one_state, 10).word == (0, 0)
    assert search(Rounded(grow, Arithmetic("per_step:fp16:sat")), one_state, 10).verdict == "equivalent"


def test_shortest_word_of_the_askew_rotation() -> None:
    e = Fraction(1, 128)
    turn = [[e, Fraction(-1)], [Fraction(1), e]]
    corners = [[[Fraction(x)], [Fraction(y)]] for x, y in ((1, 0), (0, 1), (-1, 0), (0, -1))]
    still = [[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]]
    zero = [[Fraction(0)], [Fraction(0)]]
    head = Head([still, turn], [zero, zero], corners[0])
    layer = Layer((head,), [[c] for c in corners], [[i, i] for i in range(4)])
    mod4 = moore([[0, 1, 2, 3], [1, 2, 3, 0]], 0, range(4))
    found = search(Rounded(layer, Arithmetic("per_step:bf16")), mod4, 500)
    assert found.word == (1,) * 97


def test_machines_are_compared_after_each_letter() -> None:
    assert compare(PARITY, PARITY, 10).verdict == "equivalent"
    assert compare(PARITY, moore([[0, 1], [1, 0]], 0, [0, 0]), 10).word == (1,)


def test_angles() -> None:
    assert theta(4) == pytest.approx(0, abs=1e-90)
    fifth = theta(5)
    assert abs(fifth * fifth + fifth - 1) < Fraction(1, 2**300)


def test_spectra_by_hand() -> None:
    jordan = facts([[Fraction(1), Fraction(1)], [Fraction(0), Fraction(1)]])
    assert (jordan.real, jordan.on, jordan.stable, jordan.norm_at_most_one) == (2, 2, False, False)
    turn = facts([[Fraction(3, 5), Fraction(-4, 5)], [Fraction(4, 5), Fraction(3, 5)]])
    assert (turn.real, turn.on, turn.stable, turn.norm_at_most_one) == (0, 2, True, True)
    assert circle_counts([Fraction(x) for x in (-1, 2)]) == (1, 0, 0)  # 2z - 1
    assert circle_counts([Fraction(x) for x in (2, 3, -3, -2)]) == (1, 1, 1)  # -(z - 1)(2z + 1)(z + 2)
