"""Chains of sets of awkward automata: two states, one letter, letters that do nothing, states that nothing reaches, a hundred states."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import pytest

from mirrormata import InputError, check, construct, prove, random_words, run
from mirrormata.constructions._construct import realisations_of
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.automata._completing import object_array
from mirrormata.constructions.chains._chain import ChainRNN, permutation_swaps
from mirrormata.constructions.chains._rule import members, start_indicators, with_phantoms
from mirrormata.constructions.chains._sizes import find_windows, start_chain
from mirrormata.constructions.theorems._construction import Limits, Problem
from mirrormata.foundation._errors import LimitError
from mirrormata.theory.running._stepper import stepper_of


def machine(transitions: list[list[int]], start: int = 0, outputs: object = None) -> Automaton:
    """Its states are numbers and are all kept; the outputs are those of the states where none are given."""
    table = np.array(transitions)
    answers = object_array(range(table.shape[1])) if outputs is None else np.array(outputs, dtype=object)
    letters = tuple(f"x{i}" for i in range(len(table)))
    return Automaton(tuple(range(table.shape[1])), letters, table, start, answers, "drawn", keeps_points=True)


def chains_of(automaton: Automaton) -> list[ChainRNN]:
    """With planned sizes, with sizes that fall by one, and with every window."""
    found = [
        form
        for limits in (Limits(), Limits(chains=0))
        for form in realisations_of(Problem(automaton, limits), "own.chain")
    ]
    windows = [
        ChainRNN(automaton, tuple(range(w.size, 0, -1)), w.length)
        for w in find_windows(automaton.transitions)
    ]
    return [*(form for form in found if isinstance(form, ChainRNN)), *windows]


AWKWARD = {
    "a swap of two states": machine([[1, 0]]),
    "a reset of two states": machine([[0, 0]], 1),
    "a set and a reset": machine([[0, 0], [1, 1]]),
    "nothing ever moves": machine([[0, 1], [0, 1]]),
    "a swap, a reset and a letter that does nothing": machine([[1, 0], [0, 0], [0, 1]], 1),
    "one letter that counts to the end": machine([[1, 2, 3, 4, 4]]),
    "one letter that turns in the end": machine([[1, 2, 3, 4, 2]]),
    "the start is in the middle": machine([[1, 2, 3, 3], [0, 0, 1, 2]], 2),
    "two equal letters": machine([[1, 2, 2], [1, 2, 2], [0, 0, 0]]),
    "nothing reaches three of five states": machine([[1, 0, 0, 2, 2], [0, 0, 3, 4, 1]]),
    "nothing reaches the others": machine([[1, 1, 1, 2], [1, 1, 2, 3]], 1),
    "outputs on letters": machine([[1, 2, 2], [0, 0, 1]], 0, [[0, 1, 2], [3, 4, 5]]),
    "permutations with outputs on letters": machine([[1, 2, 0], [1, 0, 2]], 0, [[0, 1, 2], [3, 4, 5]]),
    "seventeen letters, five bits": machine([[i % 3, (i // 3) % 3, i % 2] for i in range(17)]),
}


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_automata(name: str) -> None:
    automaton = AWKWARD[name]
    forms = chains_of(automaton)
    assert forms
    for form in forms:
        found = check(form, automaton)
        assert found.verdict == "valid", found.reason
        assert prove(form, automaton).verdict == "equivalent"
        words = random_words(automaton, 4, 60, 0)
        for dtype in (*form.formats, "exact"):
            assert run(form, words, dtype=dtype).errors == 0
        assert run(form, words, dtype="bf16", sequential=True).errors == 0
        assert max(len(layer) for layer in form.transitions(automaton.letters[0])) == 1  # one head


@pytest.mark.parametrize("length", [0, 1, 2])
def test_short_sequences(length: int) -> None:
    for spec, theorem in (("T3", "own.chain"), ("tomita:4", "own.window"), ("T3", "own.lookback")):
        form = construct(spec, theorem=theorem)
        words = random_words(form, 3, 5, 0)[:, :length]
        assert isinstance(form, ChainRNN)
        assert len(list(form.transitions_of([form.automaton.letters[x] for x in words[0]]))) == length
        for options in ({}, {"sequential": True}, {"start": form.automaton.start}):
            report = run(form, words, **options)
            assert (report.errors, report.tokens) == (0, 3 * length)


def test_a_hundred_states_end_to_end() -> None:
    """Constructed, written, checked, run and proved in seconds, where a cascade of tables would not end."""
    begun = time.process_time()
    form = construct("random:states=100,letters=2,seed=1", theorem="own.window")
    assert isinstance(form, ChainRNN)
    assert form.levels > 5
    document = form.certificate()
    assert check(document).verdict == "valid"
    assert len(str(document)) < 5_000
    assert run(document, random_words(form, 8, 200, 0), dtype="fp8_e5m2").errors == 0
    assert prove(document, form.automaton).verdict == "equivalent"
    assert time.process_time() - begun < 60


def test_words_may_be_cut_anywhere() -> None:
    """The stepper's states after a prefix are all that the rest needs."""
    form = construct("random:states=12,letters=3,seed=3", theorem="own.window")
    words, stepper = random_words(form, 2, 40, 5), stepper_of(form, "bf16")
    right = form.automaton.trace(words)
    states = stepper.initial(2)
    for t in range(40):
        kept = states
        states = stepper.step(states, words[:, t])
        again = stepper.step(kept, words[:, t])
        assert (
            stepper.decode(states, words[:, t]).tolist()
            == right[:, t].tolist()
            == stepper.decode(again, words[:, t]).tolist()
        )


def test_what_is_listed_has_limits() -> None:
    form = construct("T3", theorem="own.chain")
    assert isinstance(form, ChainRNN)
    every = form.list_states(10_000)
    assert every is not None
    count = len(every.start)
    assert form.list_states(count) is not None
    assert form.list_states(count - 1) is None
    large = construct("random:states=30,letters=2,seed=2", theorem="own.chain")
    with pytest.raises(LimitError, match="more than 2,000 reachable states"):
        large.transitions(large.automaton.letters[0])
    with pytest.raises(InputError, match="no such letter"):
        list(form.transitions_of(["cycle", "no such letter"]))


@pytest.mark.parametrize("seed", range(8))
def test_keys_of_the_swaps_are_disjoint_within_a_round(seed: int) -> None:
    """At most two swaps meet an entry, so that the stepper may apply them in two rounds."""
    images = np.random.default_rng(seed).permutation(3 + seed)
    touched = [i for factor in permutation_swaps(images) for i, _ in factor.vector]
    assert max((touched.count(i) for i in range(len(images))), default=0) <= 2


def test_sets_and_indicators_go_both_ways() -> None:
    generator = np.random.default_rng(0)
    states = generator.random((20, 6)) < 0.4
    states[:, 0] = True
    filled = with_phantoms(states, 6)
    assert [sorted(set(row) & set(range(6))) for row in filled.tolist()] == [
        np.flatnonzero(row).tolist() for row in states
    ]
    assert all(a < b for row in filled.tolist() for a, b in pairwise(row))
    for sizes in ((6, 4, 1), (6, 5, 4, 3, 2, 1)):
        sets = np.arange(6)[None]
        for u, wanted in zip(
            start_indicators(6, 4, sizes, phantoms=False), start_chain(6, 4, sizes)[1:], strict=True
        ):
            sets = members(sets, u[None])
            assert tuple(sets[0].tolist()) == wanted
        assert sets.tolist() == [[4]]
