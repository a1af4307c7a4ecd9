"""`construct` end to end: an independent exact run decodes to the automaton's states; wrong factors are noticed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mirrormata.constructions._construct import construct
from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.algebra._cyclotomic import Algebraic
from mirrormata.constructions.algebra._householder import GHFactor, orthogonal_factors, permutation_factors
from mirrormata.constructions.algebra._matrices import Matrix, transpose
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.certificates._table import certificate
from mirrormata.constructions.heads import _representations as head_plan
from mirrormata.constructions.theorems import _rotations as rotations
from mirrormata.foundation._errors import InputError, MirrormataError, NotRealisableError
from mirrormata.tests.constructions.exact_simulation import Simulation
from mirrormata.tests.constructions.random_automata import (
    automata,
    automaton_of,
    group_actions,
    permutation_automata,
    random_words,
    renamed,
)
from mirrormata.tests.constructions.tables import construct_table
from mirrormata.theory._check import check

NAMES = [
    "parity", *(f"mod:{m}" for m in range(2, 14)), "mod:60", "Z60", "cycle:5", "S3", "S4", "S5", "A4", "A5",
    *(f"dihedral:{m}" for m in range(3, 10)), "Q8", "A4_x_Z5", "S3_x_S3", "Z2^4", "S5[transpositions]",
    "A5[involutions]", "S4[involutions]", "codeswap:4", "S5[up_to_3]",
]  # fmt: skip
RIGHT = [
    "S3", "S4", "S5", "A4", "A5", "dihedral:4", "dihedral:7", "Q8", "A4_x_Z5", "S3_x_S3", "S5[transpositions]",
    "A5[involutions]", "S4[involutions]", "S5[up_to_3]",
]  # fmt: skip


def check_run(lrnn: LRNN, seed: int, words: int = 3, length: int = 25) -> None:
    """From the start, and where points are kept from every state, decoded states are the automaton's."""
    automaton = lrnn.automaton
    simulation = Simulation(lrnn)
    starts = range(len(automaton.states)) if automaton.keeps_points else [automaton.start]
    for start in starts:
        row = lrnn.initial_code(start)
        assert lrnn.decode[row, 0] == start
        for word in random_words(automaton, seed + start, words, length):
            assert simulation.states(word.tolist(), row) == automaton.trace(word, start).tolist()
    # every letter once from the start, so that no letter goes untested
    for x in range(len(automaton.letters)):
        assert simulation.states([x]) == automaton.trace([x]).tolist()


def check_norms(lrnn: LRNN) -> None:
    """Group constructions are made of reflections: β‖v‖² = 2 exactly, so that every factor has norm 1."""
    for layer in lrnn.layers:
        for head in layer.heads:
            for transition in head.transitions:
                assert transition.gate == 1
                assert not transition.additive
                assert transition.matrix is None
                for factor in transition.factors:
                    assert factor.beta * sum((x * x for _, x in factor.vector), Fraction(0)) == 2


def check_certified(lrnn: LRNN) -> None:
    result = check(certificate(lrnn))
    assert result.verdict == "valid", result.reason


@pytest.mark.parametrize("name", NAMES)
def test_named_automata(name: str) -> None:
    lrnn = construct(name)
    check_norms(lrnn)
    check_run(lrnn, 0)
    check_certified(lrnn)


@pytest.mark.parametrize("name", RIGHT)
def test_right_products(name: str) -> None:
    automaton = automaton_from_spec(name, product="right")
    assert (automaton.transitions != automaton_from_spec(name).transitions).any()
    lrnn = construct(automaton)
    check_norms(lrnn)
    check_run(lrnn, 1, words=2)


@pytest.mark.parametrize("name", ["mod:5", "mod:60", "Z60", "A5", "dihedral:7", "dihedral:8", "A4_x_Z5", "A5[involutions]"])  # fmt: skip
def test_integer_constructions(name: str) -> None:
    lrnn = construct(name, exactness="integer")
    assert lrnn.exactness == "integer"
    assert not any(isinstance(x, Algebraic) for head in lrnn.layers[0].heads for x in head.numbers)
    check_norms(lrnn)
    check_run(lrnn, 2)
    check_certified(lrnn)


@pytest.mark.parametrize(
    "name", ["dihedral:8", "S4", "A5[involutions]", "Q8", "A4_x_Z5", "mod:12", "S4[involutions]"]
)
def test_renamed_automata(name: str) -> None:
    lrnn = construct(renamed(automaton_from_spec(name), 4))
    check_run(lrnn, 3, words=2)
    check_certified(lrnn)


@given(permutation_automata(max_states=5), st.integers(0, 2**32))
@settings(deadline=None, max_examples=30)
def test_random_small_permutation_automata(automaton: Automaton, seed: int) -> None:
    lrnn = construct(automaton)
    check_norms(lrnn)
    check_run(lrnn, seed, words=2, length=15)
    check_certified(lrnn)


@given(permutation_automata(max_states=9), st.integers(0, 2**32))
@settings(deadline=None, max_examples=12)
def test_random_permutation_automata(automaton: Automaton, seed: int) -> None:
    lrnn = construct(automaton)
    check_norms(lrnn)
    check_run(lrnn, seed, words=2, length=15)


@given(group_actions(), st.integers(0, 2**32))
@settings(deadline=None, max_examples=40)
def test_random_group_actions(automaton: Automaton, seed: int) -> None:
    lrnn = construct(automaton)
    check_norms(lrnn)
    check_run(lrnn, seed, words=2, length=15)
    check_certified(lrnn)
    integer = construct(automaton, exactness="integer")
    check_run(integer, seed, words=1, length=15)
    assert integer.exactness == "integer"
    assert lrnn.householders is not None
    assert integer.householders is not None
    assert lrnn.householders <= integer.householders


@pytest.mark.long
@given(st.one_of(permutation_automata(max_states=9), group_actions()), st.integers(0, 2**32))
@settings(deadline=None, max_examples=600)
def test_many_random_group_automata(automaton: Automaton, seed: int) -> None:
    lrnn = construct(automaton)
    check_run(lrnn, seed)
    check_certified(lrnn)


@given(permutation_automata(max_states=7, kinds=("states",), keep_points=True), st.integers(0, 2**32))
@settings(deadline=None, max_examples=20)
def test_kept_points_are_right_from_each_start(automaton: Automaton, seed: int) -> None:
    for theorem in (None, "G.A3"):
        lrnn = construct_table(automaton, theorem)
        assert set(lrnn.decode[:, 0].tolist()) == set(range(len(automaton.states)))
        check_run(lrnn, seed, words=1, length=12)
        check_certified(lrnn)


@pytest.mark.parametrize("theorem", [None, "G.T3", "G.A3"])
def test_unreachable_states_are_dropped_unless_kept(theorem: str | None) -> None:
    automaton = automaton_of([[1, 0, 3, 2], [0, 1, 3, 2]])
    lrnn = construct_table(automaton, theorem)
    assert lrnn.automaton.states == (0, 1)
    assert any("unreachable" in note for note in lrnn.automaton.notes)
    check_certified(lrnn)
    kept = construct_table(replace(automaton, keeps_points=True), theorem)
    assert len(kept.automaton.states) == 4
    check_certified(kept)


def outputs_of(document: dict[str, Any], lrnn: LRNN, word: Sequence[int]) -> list[str]:
    """What the certificate's read-out says after each letter."""
    names = document["labels"]["outputs"]
    places = Simulation(lrnn).places(word)
    if lrnn.automaton.is_mealy:
        return [names[document["outputs"][x][r]] for x, r in zip(word, places, strict=True)]
    return [names[document["outputs"][r]] for r in places]


@given(st.one_of(permutation_automata(max_states=6), group_actions()), st.integers(0, 2**32))
@settings(deadline=None, max_examples=40)
def test_outputs_of_moore_and_mealy_machines(automaton: Automaton, seed: int) -> None:
    lrnn = construct(automaton)
    document = certificate(lrnn)
    word = random_words(automaton, seed, 1, 12)[0].tolist()
    letters = [automaton.letters[x] for x in word]
    expected = [automaton.output(letters[: t + 1]) for t in range(len(word))]
    assert outputs_of(document, lrnn, word) == [v if isinstance(v, str) else repr(v) for v in expected]
    assert check(document).verdict == "valid"


@given(automata(max_states=6), st.integers(0, 2**32))
@settings(deadline=None, max_examples=60)
def test_any_automaton_without_a_norm_bound(automaton: Automaton, seed: int) -> None:
    if not automaton.outputs_follow_states:
        # a letter leads to one state with two outputs, and the table's read-out sees that state alone
        with pytest.raises(NotRealisableError, match="need the state before the token"):
            construct(automaton, theorem="G.A3")
        return
    lrnn = construct_table(automaton, "G.A3")
    assert lrnn.theorem == "G.A3"
    assert lrnn.summary()["norm"] == "unbounded"
    check_run(lrnn, seed, words=2, length=15)
    check_certified(lrnn)


@pytest.mark.parametrize("name", ["S5", "mod:7", "Q8", "A5", "dihedral:8", "Z2^4", "S3_x_S3"])
def test_theorem_permutations(name: str) -> None:
    lrnn = construct_table(name, "G.T3")
    assert lrnn.theorem == "G.T3"
    assert lrnn.exactness == "integer"
    check_run(lrnn, 5, words=2)


@pytest.mark.parametrize("name", ["mod:7", "Z60", "dihedral:7", "A4", "S4", "A5", "cycle:5", "A4_x_Z5"])
def test_theorem_isometries(name: str) -> None:
    lrnn = construct_table(name, "DP.T4")
    assert lrnn.theorem == "DP.T4"
    assert lrnn.householders == 2
    assert lrnn.dim <= 3
    check_run(lrnn, 6, words=2)


@pytest.mark.parametrize("name", ["A5[involutions]", "S4[involutions]"])
def test_theorem_lifts(name: str) -> None:
    lrnn = construct_table(name, "H.A5inv")
    assert lrnn.theorem == "H.A5inv"
    assert lrnn.householders == 1
    assert len(lrnn.decode) == 2 * len(lrnn.automaton.states)
    check_run(lrnn, 7, words=2)


def test_theorems_that_do_not_apply() -> None:
    for name, theorem, exactness in (
        ("S5", "DP.T4", "any"), ("S5", "H.A5inv", "any"), ("A5", "DP.T4", "integer"), ("mod:7", "DP.T4", "integer"),
    ):  # fmt: skip
        with pytest.raises(NotRealisableError, match=theorem):
            construct(name, theorem=theorem, exactness=exactness)
    with pytest.raises(InputError, match=r"G\.T9.*G\.T3"):
        construct("S3", theorem="G.T9")
    with pytest.raises(InputError, match="exactness"):
        construct("S3", exactness="float")
    for name, theorem in (
        ("T3", "G.T6"), ("S3", "G.T6"), ("mod:6", "DP.T7"), ("mod:6", "own.T2tight"), ("T3", "own.LMI"),
        ("T3", "S.star-free"), ("T3", "DP.T7"), ("mod:2", "own.T2tight"), ("parity", "S.star-free"),
    ):  # fmt: skip
        with pytest.raises(NotRealisableError, match="leave `theorem` out"):
            construct(name, theorem=theorem)


@given(automata(max_states=5).filter(lambda a: not a.is_permutation and a.outputs_follow_states))
@settings(deadline=None, max_examples=40)
def test_automata_that_are_no_group_are_refused_by_name(automaton: Automaton) -> None:
    merged = automaton.find_merged_pair()
    assert merged is not None
    x, p, q = merged
    assert p != q
    assert automaton.transitions[x, p] == automaton.transitions[x, q]
    for theorem in ("G.T3", "DP.T4", "H.A5inv"):
        with pytest.raises(NotRealisableError) as raised:
            construct(automaton, theorem=theorem)
        text = str(raised.value)
        assert f"letter {automaton.letters[x]!r} merges" in text
        assert f"states {automaton.states[p]!r} and {automaton.states[q]!r}" in text
        assert "\n" not in text


def test_trivial_automata_need_no_factors() -> None:
    for automaton in (automaton_of([[0]]), automaton_of([[0, 1], [0, 1]]), automaton_from_spec("Z1")):
        lrnn = construct(automaton)
        assert lrnn.householders == 0
        check_run(lrnn, 8)
        check_certified(lrnn)
    empty = Automaton(("only",), (), np.zeros((0, 1), dtype=np.int64), 0, np.array([True], dtype=object))
    check_certified(construct(empty))


def test_bound_of_the_paper_is_noted() -> None:
    (note,) = construct("S5").notes
    assert "k = 5" in note
    assert "k - 1 = 4" in note
    (note,) = construct("S5[transpositions]").notes
    assert "k = 2" in note


def agrees(lrnn: LRNN) -> bool:
    """Whether each letter, after some word, leads to the automaton's state in the independent run."""
    simulation, automaton = Simulation(lrnn), lrnn.automaton
    count = len(automaton.letters)
    try:
        return all(
            simulation.states(word) == automaton.trace(word).tolist()
            for x in range(count)
            for word in ([x, x], [(7 * x + 3) % count, x])
        )
    except KeyError:  # off the codes
        return False


def reversed_permutation(image: Sequence[int]) -> tuple[GHFactor, ...]:
    return permutation_factors(image)[::-1]


def transposed_permutation(image: Sequence[int]) -> tuple[GHFactor, ...]:
    return permutation_factors([int(i) for i in np.argsort(image)])


def shorter_permutation(image: Sequence[int]) -> tuple[GHFactor, ...]:
    return permutation_factors(image)[:-1]


def swapped_mirrors(A: Matrix) -> tuple[GHFactor, ...]:
    return orthogonal_factors(A)[::-1]


def flipped_angle(A: Matrix) -> tuple[GHFactor, ...]:
    return orthogonal_factors(transpose(A))


@pytest.mark.parametrize(
    ("name", "module", "function", "mutant"),
    [
        ("S5", head_plan, "permutation_factors", reversed_permutation),
        ("S5", head_plan, "permutation_factors", transposed_permutation),
        ("mod:3", head_plan, "permutation_factors", transposed_permutation),
        ("S3_x_S3", head_plan, "permutation_factors", reversed_permutation),
        ("S5[transpositions]", head_plan, "permutation_factors", shorter_permutation),
        ("dihedral:7", head_plan, "orthogonal_factors", swapped_mirrors),
        ("mod:5", head_plan, "orthogonal_factors", swapped_mirrors),
        ("A5", head_plan, "orthogonal_factors", swapped_mirrors),
        ("cycle:5", head_plan, "orthogonal_factors", flipped_angle),
        ("dihedral:8", head_plan, "orthogonal_factors", flipped_angle),
    ],
)
def test_wrong_factors_are_noticed(
    name: str, module: Any, function: str, mutant: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert agrees(construct(name))
    monkeypatch.setattr(module, function, mutant)
    wrong = construct(name)
    assert not agrees(wrong)
    assert check(certificate(wrong)).verdict == "invalid"


@pytest.mark.parametrize("name", ["cycle:5", "Z60", "dihedral:7"])
def test_an_angle_of_the_wrong_sign_gives_no_construction(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = rotations.rotation

    def flipped(k: int, m: int) -> Matrix:  # of one letter only: all flipped together would be right again
        return genuine(-k if k == 1 else k, m)

    monkeypatch.setattr(rotations, "rotation", flipped)
    with pytest.raises(MirrormataError, match="defect"):  # a code would lie over two states
        construct(name)


@pytest.mark.parametrize("name", ["S4", "dihedral:4", "Q8"])
def test_wrong_signs_are_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = head_plan.signed_permutation_factors

    def flipped(image: list[int], negative: list[int]) -> tuple[GHFactor, ...]:
        return genuine(image, [1 - negative[0], *negative[1:]] if any(negative) else negative)

    monkeypatch.setattr(head_plan, "signed_permutation_factors", flipped)
    if name == "dihedral:4":  # realised by matrices: there the mirrors are swapped
        monkeypatch.setattr(head_plan, "orthogonal_factors", swapped_mirrors)
    wrong = construct(name)
    assert not agrees(wrong)
    assert check(certificate(wrong)).verdict == "invalid"


def test_a_wrong_decoding_or_start_is_noticed() -> None:
    lrnn = construct("S4")
    decode = lrnn.decode.copy()
    decode[[3, 7], 0] = decode[[7, 3], 0]
    assert not agrees(replace(lrnn, decode=decode))
    assert check(certificate(replace(lrnn, decode=decode))).verdict == "invalid"
    moved = replace(lrnn, decode=np.roll(lrnn.decode, 1, axis=0))
    assert not agrees(moved)
    assert check(certificate(moved)).verdict == "invalid"


def test_a_field_beyond_the_limit_is_said() -> None:
    lrnn = construct("mod:13", max_degree=3)
    assert lrnn.householders == 12
    assert any("degree 12" in note and "`max_degree`" in note for note in lrnn.notes)
    assert not any("`max_degree`" in note for note in construct("mod:13").notes)
