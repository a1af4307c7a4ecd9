"""Sampled words: labels against the automaton step by step, forms of words, reproducible batches."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings

from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.foundation._errors import InputError
from mirrormata.models.tasks._sampling import IGNORED, PIECE, PLANTED, Sampler
from mirrormata.models.training._optimizing import learning_rate, word_length
from mirrormata.tests.constructions.random_automata import automata

S3 = automaton_from_spec("S3")
MEALY = Automaton(
    (0, 1), ("a", "b"), np.array([[1, 0], [0, 0]]), 1, np.array([["x", None], ["y", "x"]], dtype=object)
)


@pytest.mark.parametrize("spec", ["S3", "S5", "gridworld:5", "tomita:4", "mod:7"])
def test_labels_are_the_states_after_each_letter(spec: str) -> None:
    automaton = automaton_from_spec(spec)
    letters, labels = Sampler(automaton).batches([3, 4], step=5, words=7, length=40)
    assert letters.shape == labels.shape == (2, 7, 40)
    assert np.array_equal(automaton.trace(letters), labels)
    assert set(letters.reshape(-1).tolist()) <= set(range(len(automaton.letters)))


@given(automata())
@settings(max_examples=20)
def test_outputs_of_random_automata(automaton: Automaton) -> None:
    sampler = Sampler(automaton, "output")
    letters, labels = (x[0] for x in sampler.batches([0], 0, 5, 30))
    for word, row in zip(letters, labels, strict=True):
        outputs = [automaton.output([automaton.letters[x] for x in word[: t + 1]]) for t in range(30)]
        assert [None if x == IGNORED else sampler.classes[x] for x in row] == outputs


def test_a_mealy_output_belongs_to_the_letter_and_the_state_before() -> None:
    sampler = Sampler(MEALY, "output")
    assert sampler.classes == ("x", "y")
    letters, labels = (x[0] for x in sampler.batches([0], 0, 20, 12))
    assert (labels == IGNORED).any()
    for word, row in zip(letters, labels, strict=True):
        outputs = [MEALY.output([MEALY.letters[x] for x in word[: t + 1]]) for t in range(12)]
        assert [None if x == IGNORED else sampler.classes[x] for x in row] == outputs


def test_a_batch_depends_on_seed_and_step_alone() -> None:
    sampler = Sampler(S3)
    both = sampler.batches([1, 2], 7, 4, 10)
    for i, seed in enumerate([1, 2]):
        alone = Sampler(S3).batches([seed], 7, 4, 10)
        assert np.array_equal(alone.letters[0], both.letters[i])
        assert np.array_equal(alone.labels[0], both.labels[i])
    assert not np.array_equal(both.letters[0], both.letters[1])
    assert not np.array_equal(both.letters, sampler.batches([1, 2], 8, 4, 10).letters)


def test_a_longer_test_begins_with_the_shorter_one_and_goes_on_from_its_states() -> None:
    sampler = Sampler(S3)
    whole = list(sampler.stream(0, 3, 2 * PIECE + 5))
    assert [x.letters.shape[1] for x in whole] == [PIECE, PIECE, 5]
    letters, labels = (np.concatenate([piece[i] for piece in whole], axis=1) for i in (0, 1))
    assert np.array_equal(S3.trace(letters), labels)
    short = next(iter(sampler.stream(0, 3, 50)))
    assert np.array_equal(short.letters, letters[:, :50])
    assert not np.array_equal(letters[:, :PIECE], sampler.batches([0], 0, 3, PIECE).letters[0])


def test_letters_are_uniform() -> None:
    letters = Sampler(S3).batches([0], 0, 600, 100).letters
    counts = np.bincount(letters.reshape(-1), minlength=6)
    assert (abs(counts - 10_000) < 400).all()  # four standard deviations


def test_held_out_pairs_are_never_trained_and_always_tested() -> None:
    pairs = ((1, 2), (3, 3))
    sampler = Sampler(S3, held_out=pairs)

    def having(letters: np.ndarray) -> np.ndarray:
        found = [(letters[:, :-1] == x) & (letters[:, 1:] == y) for x, y in pairs]
        return np.asarray(np.any(found, axis=(0, 2)))

    letters, labels = (x[0] for x in sampler.batches([0], 0, 400, 50))
    assert not having(letters).any()
    assert np.array_equal(S3.trace(letters), labels)
    assert len({(x, y) for word in letters for x, y in pairwise(word)}) == 34
    for batch in sampler.stream(0, 200, PLANTED):
        assert having(batch.letters).all()
        assert np.array_equal(S3.trace(batch.letters), batch.labels)


def test_live_words_never_fail() -> None:
    automaton = automaton_from_spec("mod_arith:5")
    sampler = Sampler(automaton, "output", "live")
    letters, labels = (x[0] for x in sampler.batches([0], 0, 50, 41))
    assert sampler.classes == (0, 1, 2, 3, 4)
    for word, row in zip(letters, labels, strict=True):
        text = "".join(str(automaton.letters[x]) for x in word)
        for t in range(0, 41, 2):
            assert row[t] == eval(text[: t + 1]) % 5
        assert (row[1::2] == IGNORED).all()


def test_spaced_words_are_elements_between_blanks() -> None:
    automaton = automaton_from_spec("S3[in_4_tokens]")
    letters, labels = (x[0] for x in Sampler(automaton, "state", "spaced").batches([0], 0, 30, 24))
    blanks = letters == 6
    assert not blanks[:, ::4].any()
    assert blanks[:, 1::4].all()
    assert blanks[:, 3::4].all()
    assert np.array_equal(labels[:, 3::4], automaton.trace(letters)[:, 3::4])
    assert (labels[:, :3] == IGNORED).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Sampler(S3, words="live", held_out=((0, 0),)), "held-out pairs are for words uniform"),
        (lambda: Sampler(S3, words="spaced").batches([0], 0, 1, 1), r"those of G\[in_k_tokens\]"),
        (lambda: Sampler(MEALY, words="live").batches([0], 0, 1, 1), "take words uniform"),
        (
            lambda: Sampler(S3, held_out=tuple((2, x) for x in range(6))).batches([0], 0, 1, 1),
            r"no letter after \(1, 0, 2\)",
        ),
    ],
)
def test_refusals(make: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()  # type: ignore[operator]


def test_schedules() -> None:
    rates = [learning_rate(step, 100, 1.0, 0.01, 0.1) for step in range(100)]
    assert rates[0] == pytest.approx(0.1)
    assert rates[9] == 1.0
    assert rates[99] == pytest.approx(0.01)
    assert rates[10:] == sorted(rates[10:], reverse=True)
    assert rates[54] == pytest.approx(0.505)  # half way down
    lengths = [word_length(step, 1000, (3, 40), 0.5) for step in range(1000)]
    assert (min(lengths), max(lengths)) == (3, 40)
    assert max(lengths[:100]) <= 3 * (40 / 3) ** 0.2
    assert lengths[0] == 3
    assert {word_length(step, 10, (8, 8), 0.0) for step in range(10)} == {8}
    assert [word_length(step, 12, (128, 128), 0.5) for step in range(12)] == [2, 4, 8, 16, 32, 64, *[128] * 6]
    grown = [word_length(step, 12, (128, 128), 0.5, 16) for step in range(12)]
    assert grown == [16, 23, 32, 45, 64, 91, *[128] * 6]
    assert {word_length(step, 100, (3, 8), 0.5, 4) for step in range(8)} == {3, 4}


@pytest.mark.long
def test_tens_of_millions_of_tokens_a_second() -> None:
    sampler = Sampler(automaton_from_spec("S5"))
    sampler.batches([0], 0, 8, 8)
    rates = []
    for step in range(20):
        started = time.process_time()  # of this program alone: others use the processor too
        sampler.batches([0], step, 4096, 128)
        rates.append(4096 * 128 / max(time.process_time() - started, 1e-9))
    assert max(rates) >= 20e6  # beside other tests; 50 million where nothing else runs
