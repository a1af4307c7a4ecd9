"""Moves that no random word showed: read at their clusters, right or wrong, and left out where they lead to none."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.foundation._errors import LimitError
from mirrormata.models.comparison import _compare as comparison
from mirrormata.models.comparison._clusters import observe_states
from mirrormata.models.comparison._extraction import cluster_within, extract_clusters, word_to
from mirrormata.models.comparison._sources import learned_from_lrnn, learned_from_matrices
from mirrormata.models.comparison._states import Sampling
from mirrormata.models.learned._learned import Learned
from mirrormata.theory.running._words import random_words

from .test_comparison import lrnn_of
from .test_extraction import is_wrong_on, wandering

LETTERS = 24
FEW = {"words": 2, "length": 8}


def counter(changed: int | None = None, by: complex = 1) -> Learned:
    """mod 3, letter x adds x: turns of thirds of a circle. The turn of the letter `changed` is multiplied by `by`."""
    add = np.arange(LETTERS) % 3
    table = (np.arange(3) + add[:, None]) % 3
    mod3 = Automaton(
        (0, 1, 2), tuple(range(LETTERS)), table, 0, table.astype(object), "mod 3 of many letters"
    )
    turns = np.exp(2j * np.pi * add / 3)
    if changed is not None:
        turns[changed] *= by
    A = np.array([[[z.real, -z.imag], [z.imag, z.real]] for z in turns])
    codes = {q: [[np.cos(2 * np.pi * q / 3)], [np.sin(2 * np.pi * q / 3)]] for q in range(3)}
    return learned_from_matrices(A, mod3, H0=codes[0], codes=codes)


def never_read() -> int:
    """A letter that no word shows."""
    shown = random_words(counter().target.automaton, FEW["words"], FEW["length"], 0)
    return int(np.setdiff1d(np.arange(LETTERS), shown)[0])


@pytest.mark.parametrize(("spec", "order"), [("S4", 24), ("A5", 60)])
def test_a_group_of_which_few_moves_were_seen(spec: str, order: int) -> None:
    found = extract_clusters(
        learned_from_lrnn(lrnn_of(spec)), words=12, length=30
    )  # 360 of 576, of 3,600 moves
    assert found.is_target, found.text
    assert len(found.automaton.states) == order
    assert "moves were found, and 0 lead to no cluster" in found.strength


def test_in_the_principal_directions_of_one_head() -> None:
    found = extract_clusters(wandering(0.02, "S4"), words=6, length=12, max_clusters=40)
    assert "of carrying, 3 directions" in found.strength
    assert "508 moves were found, and 0 lead to no cluster" in found.strength
    assert found.is_target, found.text


def test_a_state_that_no_word_reached_is_not_taken_for_another() -> None:
    found = extract_clusters(wandering(0.02, "S4"), words=3, length=20, max_clusters=40)
    assert "23 clusters" in found.strength  # of 24, and each leads to the missing one by one letter
    assert "and 23 lead to no cluster" in found.strength
    assert not found.complete
    assert not found.is_target


def test_every_unseen_move_is_counted() -> None:
    learned = counter()
    found = extract_clusters(learned, **FEW)
    _, moves, _ = observe_states(learned, FEW["words"], FEW["length"], 0, 100)
    state = [sum(word_to(moves, p)) % 3 for p in range(17)]
    seen = {(state[before], x) for before, x, _ in moves.tolist()}
    assert f": {3 * LETTERS - len(seen)} moves were found, and 0 lead to no cluster" in found.strength
    assert found.is_target, found.text


def test_a_letter_that_leaves_all_clusters() -> None:
    found = extract_clusters(counter(never_read(), 0.5), **FEW)
    assert "and 3 lead to no cluster" in found.strength
    assert not found.complete
    assert not found.is_target


def test_an_unseen_letter_that_the_model_has_wrong() -> None:
    letter = never_read()
    learned = counter(letter, np.exp(2j * np.pi / 3))
    found = extract_clusters(learned, **FEW)
    assert found.complete
    assert found.counterexample == (letter,)
    assert found.confirmed
    assert is_wrong_on(learned, found)


def test_words_to_points_are_shortest_first() -> None:
    learned = counter()
    letters = random_words(learned.target.automaton, 2, 8, 0)
    _, moves, _ = observe_states(learned, 2, 8, 0, 100)
    words = [word_to(moves, p) for p in range(17)]
    assert words[0] == []
    assert words[1:] == [letters[w, : t + 1].tolist() for t in range(8) for w in range(2)]


def test_more_runs_than_allowed() -> None:
    with pytest.raises(LimitError, match="max_unseen"):
        extract_clusters(counter(), **FEW, max_unseen=10)


def test_within_a_comparison_the_limit_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    few = partial(cluster_within, words=1, length=2, max_unseen=3)
    monkeypatch.setattr(comparison, "cluster_within", few)
    lrnn = lrnn_of("S3")
    c = comparison.compare(
        learned_from_lrnn(lrnn), lrnn, sampling=Sampling(words=8, length=8, fit=4), extract=("clusters",)
    )
    assert c.extracted == ()
    assert "raise max_unseen" in c.notes[-1]
