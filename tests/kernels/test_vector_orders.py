"""No order of evaluation that counts as correct rounds a word in float32, and words say which products may be rounded."""

from __future__ import annotations

from fractions import Fraction

import pytest

from mirrormata.kernels.vectors._exact import FORMATS
from mirrormata.kernels.vectors._families import all_words
from mirrormata.kernels.vectors._orders import prove_word
from mirrormata.kernels.vectors._recurrence import answer_of, needs_of
from mirrormata.kernels.vectors._translations import as_rwkv7, as_scalar_gate, with_unit_gates
from mirrormata.kernels.vectors._word import Word
from mirrormata.kernels.vectors._words_plain import Token, idle, make_word, swap, write


def shown(word: Word) -> str:
    return f"{word.family} {word.name}"


EXACT = [word for word in all_words() if not word.bound_linear]
LONG = 100
"""Tokens from which the proof of a word takes seconds."""


def assert_proved(word: Word) -> None:
    ledger = prove_word(word)
    assert ledger.rounded == []
    formats = tuple(name for name, form in FORMATS.items() if form.holds(ledger.operands))
    assert word.products == formats


@pytest.mark.parametrize("word", [w for w in EXACT if w.tokens < LONG], ids=shown)
def test_no_order_rounds_a_word_in_float32(word: Word) -> None:
    assert_proved(word)


@pytest.mark.long
@pytest.mark.parametrize("word", [w for w in EXACT if w.tokens >= LONG], ids=shown)
def test_no_order_rounds_a_long_word_in_float32(word: Word) -> None:
    assert_proved(word)


def test_the_proof_notices_a_sum_that_is_rounded() -> None:
    """1 + 2^-24 needs 25 bits, in the state, in an output or only on the way."""
    fine = Fraction(1, 2**24)
    state = [write(0, [1, 1, 1]), Token({0: fine, 1: 1}, [1, 1, 1], 1)]
    output = [write(0, [1, 1, 1], q={}), write(1, [fine] * 3, q={}), *idle(1, q={0: 1, 1: 1})]
    on_the_way = [*output[:2], write(2, [-1, -1, -1], q={}), *idle(1, q={0: 1, 1: 1, 2: 1})]
    for tokens in (state, output, on_the_way):
        assert prove_word(make_word("x", "x", [tokens])).rounded
        assert prove_word(make_word("x", "x", [tokens]), "fp64").rounded == []
    assert needs_of(make_word("x", "x", [on_the_way])).outputs.precision == 1


GATED = [w for w in all_words() if w.operator in ("gated_delta_rule", "kda") and w.tokens < 12]


@pytest.mark.parametrize("word", GATED, ids=shown)
def test_a_word_has_the_same_states_in_rwkv7(word: Word) -> None:
    one, other = answer_of(word), answer_of(as_rwkv7(word))
    assert (one.o == other.o).all()
    assert (one.finals == other.finals).all()


def test_gates_of_one_change_nothing_and_writes_of_a_scalar_gate_only_add() -> None:
    tokens = [write(0, 1), write(0, 3), swap(0, 1), Token({2: 1}, 4, Fraction(1, 2)), *idle(2)]
    word = make_word("x", "x", [tokens])
    assert (answer_of(with_unit_gates(word)).finals == answer_of(word).finals).all()
    added = answer_of(as_scalar_gate(word)).finals[0, 0, 0]
    assert added.tolist() == [[4, 8, 12], [0, 0, 0], [2, 4, 6], [0, 0, 0]]
