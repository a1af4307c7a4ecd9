"""Running LRNNs of several layers: blocks, sequential, exact, token by token; all agree with a plain run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mirrormata.constructions._head import Head
from mirrormata.constructions._lrnn import LRNN, Layer
from mirrormata.constructions._realisation import Sparse, Transition
from mirrormata.constructions.automata._automaton import Indices
from mirrormata.constructions.certificates._table import certificate, lrnn_from_certificate
from mirrormata.foundation._errors import InputError
from mirrormata.tests.constructions.cascade_zoo import BY_HAND, RANDOM, automaton, layered, levels, printed
from mirrormata.tests.theory.certificate_simulation import CertificateSimulation
from mirrormata.theory.arithmetic._rounding import FORMATS
from mirrormata.theory.running import _run as layered_run
from mirrormata.theory.running import _run as run_module
from mirrormata.theory.running._run import run, track
from mirrormata.theory.running._stepper import LayeredStepper
from mirrormata.theory.running._words import random_stream, random_words

NAMES = [
    "T3",
    "T4",
    "mod_arith:5",
    "tomita:4",
    "dyck1:4",
    "gridworld:5",
    "random_8",
    "two tiles hold the image",
]
WRONG = ["T3", "mod_arith:3", "gridworld:5", "microbug"]


def modes(lrnn: LRNN, words: Any, dtype: str = "bf16", start: int | None = None) -> list[Any]:
    """(errors, first error, its sequence) of each way to run."""
    reports = [
        run(lrnn, words, dtype=dtype, start=start, sequential=True),
        *(run(lrnn, words, dtype=dtype, start=start, block=b) for b in (None, 1, 7, 64)),
        run(lrnn, words, dtype="exact", start=start),
        track(LayeredStepper(lrnn, dtype, lrnn.initial_code(start)), lrnn.automaton, words, start=start),
    ]
    assert {(r.tokens, r.sequences) for r in reports} == {(words.size, len(words))}
    return [(r.errors, r.first_error, r.first_error_sequence) for r in reports]


def said(lrnn: LRNN, words: Indices, dtype: str, row: int = 0) -> Indices:
    """What a `LayeredStepper` decodes after each token `[sequences, T]`."""
    stepper = LayeredStepper(lrnn, dtype, row, strict=dtype in lrnn.formats)
    states = stepper.initial(len(words))
    decoded = np.empty(words.shape, dtype=np.int64)
    for t, x in enumerate(words.T):
        states = stepper.step(states, x)
        decoded[:, t] = stepper.decode(states, x)
    return decoded


def simulated(lrnn: LRNN, words: Indices, row: int = 0) -> Indices:
    """The same by the independent run of the certificate; -1 where it says nothing."""
    simulation = CertificateSimulation(certificate(lrnn))
    return np.array([[-1 if q is None else q for q in simulation.states(w, row)] for w in words.tolist()])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["bf16", "fp8_e5m2", "fp16"])
def test_no_errors_in_any_mode(name: str, dtype: str) -> None:
    lrnn = layered(name)
    words = random_words(lrnn, 3, 150, seed=1)
    assert modes(lrnn, words, dtype) == [(0, None, None)] * 7


@pytest.mark.parametrize("option", ["one_hot", "gated", "gated one_hot"])
@pytest.mark.parametrize("name", ["T4", "mod_arith:5", "microbug"])
def test_other_forms(name: str, option: str) -> None:
    lrnn = layered(name, option)
    assert modes(lrnn, random_words(lrnn, 2, 120, seed=2), "fp8_e4m3") == [(0, None, None)] * 7


@pytest.mark.parametrize("name", ["T3", "tomita:4", "two tiles hold the image", "unreached"])
def test_from_every_start(name: str) -> None:
    lrnn = layered(name)
    words = random_words(lrnn, 2, 60, seed=3)
    for start in range(len(lrnn.automaton.states)):
        assert modes(lrnn, words, start=start) == [(0, None, None)] * 7
        row = lrnn.initial_code(start)
        right = lrnn.automaton.trace(words, start)
        for dtype in ("exact", "bf16"):
            assert (said(lrnn, words, dtype, row) == right).all()
    with pytest.raises(InputError):
        run(lrnn, words, start=len(lrnn.automaton.states))


@pytest.mark.parametrize("name", ["T4", "microbug"])
def test_the_report_says_in_which_order(name: str) -> None:
    lrnn = layered(name)
    words = random_words(lrnn, 2, 50, seed=0)
    assert run(lrnn, words).order.startswith("layer after layer, token by token in blocks")
    assert run(lrnn, words, sequential=True).order == "layer after layer, token by token"
    exact = run(lrnn, words, dtype="exact")
    assert (exact.order, exact.dtype) == ("token by token", "exact")
    assert {run(lrnn, words, dtype=d).dtype for d in FORMATS} == set(FORMATS)


@pytest.mark.parametrize("name", ["T3", "mod_arith:5", "gridworld:5"])
def test_awkward_shapes(name: str) -> None:
    lrnn = layered(name)
    k = len(lrnn.automaton.letters)
    for shape in ((1, 0), (4, 0), (1, 1), (5, 1), (1, 2), (40, 3)):
        words = np.arange(np.prod(shape)).reshape(shape) % k
        assert modes(lrnn, words) == [(0, None, None)] * 7, shape
    single = run(lrnn, np.arange(30) % k)
    assert (single.tokens, single.sequences, single.errors) == (30, 1, 0)
    with pytest.raises(InputError):
        run(lrnn, np.array([[k]]))
    with pytest.raises(InputError):
        run(lrnn, np.array([[-1]]))


@pytest.mark.parametrize("chunk", [7, 333])
@pytest.mark.parametrize("wired", ["repaired", "printed"])
def test_parts_of_a_word(chunk: int, wired: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words cut into many parts, whose ends are no ends of blocks."""
    lrnn = layered("mod_arith:3") if wired == "repaired" else printed("mod_arith:3")
    words = random_words(lrnn, 3, 200, seed=4)
    whole = modes(lrnn, words)
    monkeypatch.setattr(layered_run, "CHUNK_TOKENS", chunk)
    monkeypatch.setattr(run_module, "CHUNK_TOKENS", chunk)
    assert modes(lrnn, words) == whole
    assert (whole[0][0] == 0) == (wired == "repaired")


@pytest.mark.parametrize("name", WRONG)
def test_wired_as_printed_the_errors_are_the_same_in_all_modes(name: str) -> None:
    lrnn = printed(name)
    words = random_words(lrnn, 4, 150, seed=5)
    right = lrnn.automaton.trace(words)
    wrong = simulated(lrnn, words) != right
    first = int(wrong.any(axis=0).argmax())
    expected = (int(wrong.sum()), first + 1, int(wrong[:, first].argmax()))
    assert expected[0] > 0
    for dtype in ("fp8_e5m2",):
        assert modes(lrnn, words, dtype) == [expected] * 7
    for dtype in ("exact", "bf16"):
        assert (said(lrnn, words, dtype) == simulated(lrnn, words)).all()


@settings(max_examples=20, deadline=None)
@given(st.sampled_from([name for name in RANDOM if levels(name) > 1]), st.data())
def test_random_automata_token_by_token(name: str, data: st.DataObject) -> None:
    """Repaired and printed alike: every token's decoding is that of the independent run."""
    lrnn = data.draw(st.sampled_from([layered, printed]))(name)
    start = data.draw(st.integers(0, len(lrnn.automaton.states) - 1))
    words = random_words(lrnn, 2, 25, seed=data.draw(st.integers(0, 1000)))
    row = lrnn.initial_code(start)
    plain = simulated(lrnn, words, row)
    assert (said(lrnn, words, "exact", row) == plain).all()
    assert (said(lrnn, words, "fp8_e5m2", row) == plain).all()
    errors = int((plain != lrnn.automaton.trace(words, start)).sum())
    assert {found[0] for found in modes(lrnn, words, start=start)} == {errors}


def test_a_certificate_read_back_runs_alike() -> None:
    lrnn = lrnn_from_certificate(certificate(layered("dyck1:4")))
    assert modes(lrnn, random_words(lrnn, 2, 100, seed=6)) == [(0, None, None)] * 7


def test_a_long_stream() -> None:
    lrnn = layered("mod_arith:5")
    report = run(lrnn, random_stream(lrnn, 4, 20_000, seed=7))
    assert (report.errors, report.tokens) == (0, 80_000)
    assert run(lrnn, random_stream(lrnn, 4, 2_000, seed=7), sequential=True).errors == 0


@pytest.mark.long
@pytest.mark.parametrize("name", ["mod_arith:5", "T5", "random_8", "dyck1:4"])
def test_a_million_tokens(name: str) -> None:
    lrnn = layered(name)
    assert run(lrnn, random_stream(lrnn, 1, 1_000_000, seed=8)).errors == 0
    assert run(lrnn, random_stream(lrnn, 16, 20_000, seed=8), sequential=True, dtype="fp8_e5m2").errors == 0


def scaled(lrnn: LRNN, by: int) -> LRNN:
    """All codes and additive terms times an integer: as right, in larger integers."""

    def entries(code: Sparse) -> Sparse:
        return tuple((i, j, by * x) for i, j, x in code)

    def transition(t: Transition) -> Transition:
        return replace(t, additive=entries(t.additive))

    def head(h: Head) -> Head:
        codes = tuple(map(entries, h.codes))
        return replace(h, codes=codes, transitions=tuple(map(transition, h.transitions)))

    layers = tuple(
        Layer(tuple(map(head, layer.heads)), layer.reads, layer.next_letter) for layer in lrnn.layers
    )
    return replace(lrnn, layers=layers)


def test_a_format_that_does_not_hold_the_integers_is_not_claimed() -> None:
    lrnn = scaled(layered("T4"), 9)
    bound = lrnn.integer_bound
    assert bound is not None
    assert 16 < bound <= 256
    assert lrnn.formats == ("fp64", "fp32", "fp16", "bf16")
    words = random_words(lrnn, 3, 200, seed=9)
    held = run(lrnn, words, dtype="bf16")
    assert (held.errors, "layer after layer" in held.order) == (0, True)
    for dtype in ("fp8_e5m2", "fp8_e4m3"):
        report = run(lrnn, words, dtype=dtype)
        assert report.order == "token by token"
        plain = said(lrnn, words, dtype) != lrnn.automaton.trace(words)
        assert report.errors == int(plain.sum())
    huge = scaled(layered("T4"), 2**20 + 1)
    assert huge.formats == ("fp64", "fp32")
    assert run(huge, words, dtype="fp32").errors == 0


def damaged(lrnn: LRNN, layer: int) -> LRNN:
    """The last transition with factors of a layer's first head does nothing; the tables still say what it should."""
    head, *rest = lrnn.layers[layer].heads
    at = max(t for t, transition in enumerate(head.transitions) if transition.factors)
    transitions = list(head.transitions)
    transitions[at] = replace(transitions[at], factors=())
    broken = replace(head, transitions=tuple(transitions))
    layers = list(lrnn.layers)
    layers[layer] = replace(layers[layer], heads=(broken, *rest))
    return replace(lrnn, layers=tuple(layers))


@pytest.mark.parametrize("layer", [0, 1, 2])
@pytest.mark.parametrize("chunk", [40, 1_000_000])
def test_a_damaged_layer_is_found(layer: int, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks do not hide it: the run falls back to token by token and counts what that counts."""
    monkeypatch.setattr(layered_run, "CHUNK_TOKENS", chunk)
    wrong = damaged(layered("mod_arith:3"), layer)
    words = random_words(wrong, 3, 150, seed=10)
    report = run(wrong, words)
    assert report.errors > 0
    assert report.order == "token by token"
    expected = said(wrong, words, "bf16") != wrong.automaton.trace(words)
    assert report.errors == int(expected.sum())
    assert run(wrong, words, sequential=True).errors == report.errors


def test_a_layer_without_a_read_out_is_an_input_error() -> None:
    lrnn = layered("T3")
    cut = replace(lrnn, layers=(Layer(lrnn.layers[0].heads), *lrnn.layers[1:]))
    with pytest.raises(InputError, match="read-out"):
        run(cut, random_words(lrnn, 1, 5, seed=0))


@pytest.mark.parametrize("name", ["flipflop", "permreset:4", "S3", "identities and a reset"])
def test_one_level_runs_as_one_layer(name: str) -> None:
    lrnn = layered(name)
    assert len(lrnn.layers) == levels(name) == 1
    words = random_words(lrnn, 3, 100, seed=11)
    for dtype in ("bf16", "fp8_e5m2", "exact"):
        assert run(lrnn, words, dtype=dtype).errors == 0
    assert run(lrnn, words, sequential=True).errors == 0


def test_many_heads_in_a_layer() -> None:
    wide = [name for name in ("nosingleton", "microbug", "smallp2hnt", *BY_HAND) if layered(name).heads > 1]
    assert wide
    for name in wide:
        words = random_words(automaton(name), 2, 80, seed=12)
        assert modes(layered(name), words) == [(0, None, None)] * 7
