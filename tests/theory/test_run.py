"""Runs against plain simulations: counts, first errors, blocks, chunks, reports."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mirrormata.constructions._construct import construct
from mirrormata.constructions._lrnn import LRNN, Layer
from mirrormata.constructions.library._names import automaton_by_name
from mirrormata.foundation._errors import InputError
from mirrormata.theory.arithmetic._rounding import FORMATS
from mirrormata.theory.running import _run as run_module
from mirrormata.theory.running._block_run import follow, joint_transitions
from mirrormata.theory.running._run import run, track
from mirrormata.theory.running._stepper import LRNNStepper
from mirrormata.theory.running._words import PIECE, random_stream, random_words

S5 = construct(automaton_by_name("S5"))
A5 = construct(automaton_by_name("A5[generators]"))
MOD60 = construct(automaton_by_name("mod:60"))
MOD60_INTEGER = construct(automaton_by_name("mod:60"), exactness="integer")
T3 = construct(automaton_by_name("T3"), theorem="G.A3")


def damaged(lrnn: LRNN, letter: int, other: int) -> LRNN:
    """One letter has the factors of another; the tables still say what it should do."""
    head, *rest = lrnn.layers[0].heads
    transitions = list(head.transitions)
    transitions[letter] = head.transitions[other]
    return replace(lrnn, layers=(Layer((replace(head, transitions=tuple(transitions)), *rest)),))


def simulated(lrnn: LRNN, words: Any, dtype: str, bits: bool) -> tuple[int, int | None, int | None]:
    """Errors and the first of them by an `LRNNStepper`, one token after another."""
    stepper = LRNNStepper(lrnn, dtype)
    right = lrnn.automaton.trace(words)
    rows = follow(joint_transitions(lrnn), words, np.zeros(len(words), dtype=np.int64))
    states = stepper.initial(len(words))
    errors = 0
    first: tuple[int | None, int | None] = (None, None)
    for t, x in enumerate(words.T):
        states = stepper.step(states, x)
        wrong = stepper.decode(states) != right[:, t]
        if bits:
            for h, codes in enumerate(stepper.readout.codes):
                wrong |= (states[h] != codes.dense(lrnn.decode[rows[:, t], h + 1])).any(axis=(1, 2))
        errors += int(wrong.sum())
        if wrong.any() and first[0] is None:
            first = (t + 1, int(wrong.argmax()))
    return errors, *first


@pytest.mark.parametrize("lrnn", [S5, MOD60_INTEGER, T3], ids=["S5", "mod:60", "T3"])
@pytest.mark.parametrize("dtype", FORMATS)
def test_integer_runs_have_no_errors(lrnn: LRNN, dtype: str) -> None:
    for block, sequential in ((None, False), (7, False), (None, True)):
        report = run(
            lrnn, random_words(lrnn, 3, 500, seed=1), dtype=dtype, block=block, sequential=sequential
        )
        assert (report.errors, report.first_error, report.first_error_sequence) == (0, None, None)
        assert (report.tokens, report.sequences, report.dtype) == (1500, 3, dtype)
        assert ("blocks" in report.order) != sequential


def test_norms_and_margins_of_an_integer_run() -> None:
    report = run(S5, random_words(S5, 2, 300, seed=1))
    assert np.allclose(report.norm_range or (), [55**0.5, 55**0.5], rtol=1e-15)
    assert report.margin == pytest.approx(2**0.5 / 2)  # the nearest code swaps two neighbouring values
    by_observation = run(damaged(S5, 5, 5), random_words(S5, 2, 300, seed=1), sequential=True)
    assert by_observation.margin == report.margin


@pytest.mark.parametrize("block", [None, 1, 5, 64, 1000])
@pytest.mark.parametrize("chunk", [50, 1_000_000])
def test_a_damaged_letter_is_found_where_it_is_read(block: int | None, chunk: int, monkeypatch: Any) -> None:
    monkeypatch.setattr(run_module, "CHUNK_TOKENS", chunk * 4)
    wrong = damaged(S5, 7, 8)
    words = random_words(S5, 4, 333, seed=2)
    words[words == 7] = 9
    assert run(wrong, words, block=block).errors == 0
    words[2, 210] = 7
    report = run(wrong, words, block=block)
    assert (report.errors, report.first_error, report.first_error_sequence) == simulated(
        wrong, words, "bf16", True
    )
    assert (report.first_error, report.first_error_sequence) == (211, 2)
    assert report.order == "token by token"
    assert report.margin is not None
    assert report.margin <= 0


def test_bits_count_and_not_only_the_decoding() -> None:
    """A state that decodes rightly but is not its code is an error of an integer LRNN."""
    parity = construct(automaton_by_name("parity"))
    head = parity.layers[0].heads[0]
    doubled = replace(head, transitions=(head.transitions[0], replace(head.transitions[1], gate=2)))
    wrong = replace(parity, layers=(Layer((doubled,)),))
    words = np.array([[0, 1, 0, 1]])
    report = run(wrong, words)
    assert (report.errors, report.first_error) == (3, 2)
    assert track(LRNNStepper(wrong, "bf16"), parity.automaton, words, dtype="bf16").errors == 0
    assert report.norm_range == (1.0, 4.0)


@pytest.mark.parametrize(
    ("lrnn", "dtype"), [(MOD60, "bf16"), (MOD60, "fp8_e4m3"), (A5, "fp8_e5m2"), (A5, "fp16"), (MOD60, "fp32")]
)
def test_inexact_runs_are_those_of_the_stepper(lrnn: LRNN, dtype: str, monkeypatch: Any) -> None:
    words = random_words(lrnn, 5, 700, seed=3)
    report = run(lrnn, words, dtype=dtype)
    assert (report.errors, report.first_error, report.first_error_sequence) == simulated(
        lrnn, words, dtype, False
    )
    assert report.order == "token by token, nearest code"
    assert report.norm_range is not None
    monkeypatch.setattr("mirrormata.theory.running._run.BUFFER_ENTRIES", 100)
    again = run(lrnn, words, dtype=dtype)
    assert replace(again, seconds=0) == replace(report, seconds=0)
    if dtype in ("bf16", "fp8_e4m3") and lrnn is MOD60:
        assert report.errors > 0
        assert report.margin is not None
        assert report.margin < 0


def test_a_format_too_narrow_for_the_integers() -> None:
    lrnn = _wide()
    assert "fp8_e5m2" not in lrnn.formats
    words = random_words(lrnn, 2, 60, seed=4)
    report = run(lrnn, words, dtype="fp8_e5m2")
    assert "fp8_e5m2 does not hold all integers up to 9" in report.order
    assert (report.errors, report.first_error, report.first_error_sequence) == simulated(
        lrnn, words, "fp8_e5m2", False
    )
    assert run(lrnn, words, dtype="fp8_e4m3").errors == 0


def _wide() -> LRNN:
    """S5 with 4 added to all values: integers up to 9."""
    head = S5.layers[0].heads[0]
    codes = tuple(tuple((i, j, int(x) + 4) for i, j, x in code) for code in head.codes)
    made: LRNN = replace(S5, layers=(Layer((replace(head, codes=codes),)),))
    return made


@pytest.mark.parametrize(
    "lrnn", [S5, A5, MOD60, MOD60_INTEGER, T3], ids=["S5", "A5", "mod:60", "integer", "T3"]
)
def test_exact_runs(lrnn: LRNN) -> None:
    report = run(lrnn, random_words(lrnn, 3, 200, seed=5), dtype="exact")
    assert (report.errors, report.dtype, report.margin) == (0, "exact", None)
    start = len(lrnn.automaton.states) - 1
    assert run(lrnn, random_words(lrnn, 2, 50, seed=5), dtype="exact", start=start).errors == 0
    assert run(lrnn, random_words(lrnn, 2, 50, seed=5), dtype="fp32", start=start).errors == 0
    last = len(lrnn.automaton.letters) - 1
    assert run(damaged(lrnn, last, 0), np.array([[last, 0]]), dtype="exact").first_error == 1


def test_start_matters() -> None:
    words = random_words(S5, 2, 40, seed=6)
    stepper = LRNNStepper(S5, "bf16", start=3)
    assert track(stepper, S5.automaton, words, start=3, dtype="bf16").errors == 0
    assert (
        track(stepper, S5.automaton, words, dtype="bf16").errors == 80
    )  # left products of different elements differ


def test_random_words() -> None:
    long = random_words(S5, 3, PIECE + 100, seed=7)
    assert np.array_equal(random_words(S5, 3, 500, seed=7), long[:, :500])
    assert not np.array_equal(random_words(S5, 3, 500, seed=8), long[:, :500])
    stream = random_stream(S5.automaton, 3, PIECE + 100, seed=7)
    assert np.array_equal(stream.part(PIECE - 30, PIECE + 30), long[:, PIECE - 30 : PIECE + 30])
    counts = np.bincount(long.reshape(-1), minlength=120)
    assert abs(counts - counts.mean()).max() < 6 * counts.mean() ** 0.5
    assert run(S5, stream).to_json()["tokens"] == long.size


def test_following_one_or_many_words() -> None:
    table = S5.automaton.transitions
    for sequences in (1, 3, 50):
        words = random_words(S5, sequences, 30, seed=9)
        start = np.full(sequences, S5.automaton.start)
        assert np.array_equal(follow(table, words, start), S5.automaton.trace(words))


def test_reports_and_progress(monkeypatch: Any) -> None:
    report = run(S5, random_words(S5, 2, 10, seed=1))
    assert set(json.loads(json.dumps(report.to_json()))) >= {
        "tokens", "sequences", "errors", "first_error", "dtype", "order", "backend", "seconds",
    }  # fmt: skip
    assert report.tokens_per_second > 0
    assert run(S5, np.zeros((2, 0), dtype=int)).to_json()["norm_range"] is None
    assert run(MOD60, np.zeros((0, 5), dtype=int)).tokens == 0
    assert run(MOD60, np.zeros((2, 0), dtype=int), dtype="exact").errors == 0
    one_state = construct(automaton_by_name("mod:1"))
    assert run(one_state, np.array([0, 1, 1])).margin is None
    told: list[float] = []
    run(MOD60, random_words(MOD60, 2, 50, seed=1), progress=told.append)
    assert not told  # nothing is told of short runs
    monkeypatch.setattr("mirrormata.theory.running._run.TELL_AFTER", 0.0)
    monkeypatch.setattr("mirrormata.theory.running._run.TELL_EVERY", 0.0)
    monkeypatch.setattr("mirrormata.theory.running._run.BUFFER_ENTRIES", 40)
    for lrnn, dtype in ((MOD60, "bf16"), (MOD60, "exact"), (S5, "bf16")):
        told.clear()
        run(lrnn, random_words(lrnn, 2, 50, seed=1), dtype=dtype, progress=told.append)
        assert told == sorted(told)
        assert told
        assert 0 <= told[0] <= told[-1] <= 1


def test_bad_input() -> None:
    with pytest.raises(InputError, match="sequence 1, token 2: 120 is not a letter index of S5"):
        run(S5, np.array([[0, 1], [2, 120]]))
    with pytest.raises(InputError, match="float64"):
        run(S5, np.zeros((2, 2)))
    with pytest.raises(InputError, match="fp4"):
        run(S5, np.zeros((1, 1), dtype=int), dtype="fp4")
    with pytest.raises(InputError, match="start 999"):
        run(S5, np.zeros((1, 1), dtype=int), start=999)
    with pytest.raises(InputError, match="random words over 120 letters, but mod:60 has 2"):
        run(MOD60, random_stream(S5, 1, 5, seed=0))
    with pytest.raises(InputError, match="it must be a whole number, 0 or more"):
        random_words(S5, -1, 5, seed=0)
    with pytest.raises(InputError, match="2 layers"):
        run(replace(S5, layers=S5.layers * 2), np.zeros((1, 1), dtype=int))


def test_wrong_tables_are_refused() -> None:
    shifted = replace(S5, decode=np.stack([np.roll(S5.decode[:, 0], 1), S5.decode[:, 1]], axis=1))
    with pytest.raises(InputError, match="decoding disagrees with the automaton"):
        run(shifted, np.array([[1, 2, 3]]))
    with pytest.raises(InputError, match="not closed"):
        run(replace(S5, decode=S5.decode[:100]), np.array([[1, 2, 3]]))


def test_a_million_tokens_in_one_sequence() -> None:
    report = run(S5, random_stream(S5, 1, 1_000_000, seed=10))
    assert (report.tokens, report.errors) == (1_000_000, 0)
    assert report.tokens_per_second > 300_000  # 5 million and more on a free core


@pytest.mark.long
def test_sixty_four_sequences_of_a_hundred_thousand() -> None:
    report = run(S5, random_stream(S5, 64, 100_000, seed=11), dtype="bf16")
    assert (report.tokens, report.errors) == (6_400_000, 0)
    assert report.tokens_per_second > 1_000_000


@pytest.mark.parametrize(
    ("spec", "options"),
    [
        ("tomita:4", {}),
        ("T3", {"theorem": "own.chain"}),
        ("T3", {"theorem": "G.T4"}),
        ("S3", {}),
        ("gridworld:4", {}),
    ],
)
def test_a_start_by_label_is_refused_in_one_line_on_every_kind(spec: str, options: dict[str, Any]) -> None:
    """`start` is an index; the error names the index of a label, or else the labels."""
    found = construct(spec, **options)
    word = [found.automaton.letters[0]] * 3
    text = str(found.automaton.states[1])
    wrong: list[tuple[Any, str]] = [
        (text, "; that of"),
        ("nowhere", "; the states are "),
        (-1, "; the states are "),
        (99_999, "is not a state index"),
    ]
    for start, part in wrong:
        with pytest.raises(InputError, match=part) as error:
            run(found, word, start=start)
        assert "\n" not in str(error.value)
