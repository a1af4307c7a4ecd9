"""Word problems of the library's groups: product orders, alphabets, large groups without their table."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mirrormata.constructions.library._groups import group_by_name, letters_of
from mirrormata.constructions.library._names import automaton_by_name
from mirrormata.foundation._errors import LimitError

Permutation = tuple[int, ...]


def compose(g: Permutation, h: Permutation) -> Permutation:
    return tuple(g[i] for i in h)


def parity(g: Permutation) -> int:
    return sum(a > b for a, b in itertools.combinations(g, 2)) % 2


def fold(word: list[Any], times: Callable[[Any, Any], Any], start: Any, product: str) -> Any:
    state = start
    for x in word:
        state = times(x, state) if product == "left" else times(state, x)
    return state


@pytest.mark.parametrize("product", ["left", "right"])
@pytest.mark.parametrize(
    "name", ["S3", "S4", "A4", "S5[transpositions]", "S5[up_to_3]", "A5[generators]", "S4[involutions]"]
)
def test_word_problem_follows_the_product_order(name: str, product: Any) -> None:
    automaton = automaton_by_name(name, product)
    rng = np.random.default_rng(3)
    identity = automaton.states[automaton.start]
    assert isinstance(identity, tuple)
    assert identity == tuple(range(len(identity)))
    for _ in range(50):
        word = [automaton.letters[x] for x in rng.integers(0, len(automaton.letters), size=20)]
        assert automaton.after(word) == fold(word, compose, identity, product)
        assert automaton.output(word) == automaton.after(word)


def test_left_and_right_differ_and_the_name_says_so() -> None:
    left, right = automaton_by_name("S3"), automaton_by_name("S3", "right")
    assert (left.name, right.name) == ("S3", "S3 (right product)")
    assert (left.transitions != right.transitions).any()
    # y·x is the inverse of x^{-1} after y^{-1}
    inverse = group_by_name("S3").inverse
    assert (right.transitions == inverse[left.transitions[inverse][:, inverse]]).all()


def test_alphabets_of_permutations() -> None:
    everything = sorted(itertools.permutations(range(5)))
    moved = {g: sum(i != x for i, x in enumerate(g)) for g in everything}
    identity = tuple(range(5))
    cases: dict[str, list[Permutation]] = {
        "S5[transpositions]": [g for g in everything if moved[g] == 2],
        "S5[involutions]": [g for g in everything if compose(g, g) == identity != g],
        "A5[involutions]": [g for g in everything if compose(g, g) == identity != g and not parity(g)],
        "S5[up_to_0]": [identity],
        "S5[up_to_3]": [g for g in everything if moved[g] <= 3],
        "A5[up_to_3]": [g for g in everything if moved[g] <= 3 and not parity(g)],
        "S5[generators]": [(1, 2, 3, 4, 0), (1, 0, 2, 3, 4)],
        "A5[generators]": [(1, 2, 3, 4, 0), (1, 0, 3, 2, 4)],
    }
    for name, letters in cases.items():
        assert automaton_by_name(name).letters == tuple(letters), name


def test_generators_of_the_other_families() -> None:
    expected: dict[str, tuple[Any, ...]] = {
        "Z5": (1,),
        "Z1": (0,),
        "dihedral:5": ("r1", "s0"),
        "dihedral:1": ("s0",),
        "Q8": ("i", "j"),
        "Z2^3": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
        "Z1_x_Z3": ((0, 1),),
        "A4": ((1, 2, 0, 3), (0, 2, 3, 1)),
        "A7": ((1, 2, 0, 3, 4, 5, 6), (1, 2, 3, 4, 5, 6, 0)),
    }
    for name, letters in expected.items():
        assert automaton_by_name(f"{name}[generators]").letters == letters


def test_letters_that_do_not_generate_leave_a_subgroup_and_say_so() -> None:
    automaton = automaton_by_name("A4[involutions]")
    assert len(automaton.states) == 4
    assert "dropped 8 unreachable states" in automaton.notes[0]


@pytest.mark.parametrize("product", ["left", "right"])
def test_in_k_tokens(product: Any) -> None:
    automaton = automaton_by_name("S4[in_3_tokens]", product)
    plain = automaton_by_name("S4", product)
    assert automaton.letters == (*plain.letters, "blank")
    assert automaton.is_permutation
    rng = np.random.default_rng(4)
    word = [plain.letters[x] for x in rng.integers(0, 24, size=12)]
    spread = [token for x in word for token in (x, "blank", "blank")]
    states = [automaton.states[q] for q in automaton.trace(automaton.word(spread))]
    assert states[2::3] == [plain.states[q] for q in plain.trace(plain.word(word))]


def test_large_groups_are_built_without_their_table() -> None:
    group = group_by_name("S8")
    assert len(group.elements) == math.factorial(8)
    assert len(letters_of(group, "transpositions", "S8")) == 28
    automaton = automaton_by_name("S8[transpositions]", "right")
    word = [automaton.letters[x] for x in np.random.default_rng(5).integers(0, 28, size=30)]
    assert automaton.after(word) == fold(word, compose, tuple(range(8)), "right")
    with pytest.raises(LimitError, match="40,320"):
        _ = group.table
