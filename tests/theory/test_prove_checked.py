"""A verdict of `prove` is one that a second program has accepted: models that are wrong where a search may not look."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mirrormata.constructions._construct import construct
from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.theorems.dp_t1 import block_delay
from mirrormata.foundation._errors import DisagreementError, InputError
from mirrormata.models._config import ModelConfig
from mirrormata.models._model import Model
from mirrormata.models._model_stepper import ModelStepper
from mirrormata.models.fla._model import FlaModel
from mirrormata.tests.theory.prove_models import Counter, sign, turns, with_outputs
from mirrormata.theory.proofs import _second_derivation as second_derivation
from mirrormata.theory.proofs import _state_search as state_search
from mirrormata.theory.proofs._npz_model import load_npz_model, npz_model
from mirrormata.theory.proofs._prove import prove

ARITHMETICS = ["exact", "per_step:bf16", "per_op:fp16", "per_step:fp8_e4m3:rz", "per_step:int:-4..4"]
LABELS = np.array([["0", "0"], ["1", "1"]])


def one_letter(automaton: Automaton) -> Automaton:
    """Its last letter alone."""
    return replace(automaton, letters=automaton.letters[-1:], transitions=automaton.transitions[-1:])


@pytest.mark.parametrize("method", ["auto", "states"])
@pytest.mark.parametrize("arithmetic", ARITHMETICS)
def test_the_answer_at_the_start_is_looked_at(arithmetic: str, method: str) -> None:
    """The word 0 leads back to the start, where the model answers 1."""
    proof = prove(sign([[1, 1], [1, 1]]), automaton_from_spec("parity"), arithmetic, method=method)
    assert (proof.verdict, proof.word, proof.checked) == ("counterexample", (0,), "replayed")
    right = prove(sign([[0, 0], [1, 1]]), automaton_from_spec("parity"), arithmetic, method=method)
    assert (right.verdict, right.checked in ("certificate", "re-stepped")) == ("equivalent", True)


@pytest.mark.parametrize("arithmetic", ["exact", "per_step:bf16", "per_op:bf16", "kernel:recurrent:bf16"])
def test_a_construction_is_no_other_automaton(arithmetic: str) -> None:
    """Parity's transitions, but the output is always 1; state labels like the construction's, and others."""
    parity, lrnn = automaton_from_spec("parity"), construct("parity")
    always = with_outputs(parity, ["1"] * 2)
    for other in (always, replace(always, states=("even", "odd"))):
        proof = prove(lrnn, other, arithmetic)
        assert (proof.verdict, proof.word, proof.compares) == ("counterexample", (0,), "outputs")
        assert proof.answered != proof.right


@pytest.mark.parametrize("arithmetic", ["exact", "per_step:bf16", "per_op:fp32"])
def test_a_chain_that_closes_at_the_start(arithmetic: str) -> None:
    """With one letter alone only the whole round comes back to the start."""
    for m in (1, 2, 5, 40):
        texts = tuple(str(i) for i in range(m))
        automaton = one_letter(automaton_from_spec(f"mod:{m}"))
        model = turns(m, list(range(m)))
        alone = npz_model(
            {
                "A": model.A[1:],
                "B": model.B[1:],
                "H0": model.H0,
                "codes": model.codes,
                "decode": model.decode[:, 1:],
            }
        )
        alone = replace(alone, outputs=texts)  # fmt: skip
        assert prove(alone, automaton, arithmetic).verdict == "equivalent"
        wrong = with_outputs(automaton, ["x", *automaton.outputs.tolist()[1:]])
        assert prove(alone, wrong, arithmetic).word == (0,) * m


def test_a_chain_of_two_entries_that_closes_at_the_start() -> None:
    """Quarter turns are guessed ahead; the other letter keeps everything, also at the start."""
    quarter = np.array([[0.0, -1.0], [1.0, 0.0]])
    codes = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])[..., None]
    for letters in (1, 2, 3):
        A = np.stack([*[np.eye(2)] * (letters - 1), quarter])
        arrays = {
            "A": A, "B": np.zeros((letters, 2, 1)), "H0": codes[0], "codes": codes,
            "decode": np.repeat(np.arange(4)[:, None], letters, axis=1),
        }  # fmt: skip
        mod4 = automaton_from_spec("mod:4")
        table = np.stack([*[np.arange(4)] * (letters - 1), mod4.transitions[1]])
        automaton = replace(mod4, letters=tuple("abc"[:letters]), transitions=table)
        assert prove(npz_model(arrays), automaton, "per_step:bf16", method="states").verdict == "equivalent"
        arrays["decode"] = np.where(arrays["decode"] == 0, 3, arrays["decode"])
        found = prove(npz_model(arrays), automaton, "per_step:bf16", method="states")
        assert found.word == ((0,) * 4 if letters == 1 else (0,))


def test_names_of_letters_are_compared() -> None:
    automaton = automaton_from_spec("S3")
    delay = block_delay(automaton, 1)
    rotated = replace(automaton, letters=automaton.letters[1:] + automaton.letters[:1])
    for arithmetic in ("exact", "per_step:bf16", "per_step:fp8_e5m2"):
        assert prove(delay, automaton, arithmetic).checked == "certificate"
        with pytest.raises(InputError, match="the same letters in the same order"):
            prove(delay, rotated, arithmetic)
    lrnn = construct(automaton)
    for arithmetic in ("exact", "per_step:bf16", "per_op:bf16", "kernel:recurrent:fp32"):
        with pytest.raises(InputError, match="the same letters in the same order"):
            prove(lrnn, rotated, arithmetic)


def test_a_delay_is_no_other_automaton() -> None:
    """The same states in other places, other outputs, another start."""
    automaton = automaton_from_spec("S3")
    delay = block_delay(automaton, 1)
    outputs = automaton.outputs.tolist()
    for other in (
        replace(automaton, start=1),
        with_outputs(automaton, [*outputs[:2], *outputs[3:], outputs[2]]),
        replace(automaton, transitions=np.roll(automaton.transitions, 1, axis=0)),
    ):
        for arithmetic in ("per_step:bf16", "exact"):
            if arithmetic == "exact":
                continue
            assert prove(delay, other, arithmetic, max_states=20_000).verdict == "counterexample"


class Side:
    """Positions on a circle of five; where several go side by side the third is written as another number."""

    one_by_one = False

    def initial(self, sequences: int) -> Any:
        return {"n": np.zeros(sequences, dtype=np.int16)}

    def step(self, states: Any, letters: Any) -> Any:
        n = (states["n"] + np.asarray(letters) - 1) % 5
        return {"n": (n + 5 * (n == 3) * (len(n) > 1)).astype(np.int16)}

    def decode(self, states: Any, letters: Any) -> Any:
        return states["n"] % 5


def test_a_step_that_depends_on_the_batch_is_an_error_with_the_word() -> None:
    automaton = automaton_from_spec("cycle:5")
    with pytest.raises(
        DisagreementError, match=r"after the word .* none that the search has found.*every batch"
    ):
        prove(Side(), automaton, "int16")
    alone = Side()
    alone.one_by_one = True
    proof = prove(alone, automaton, "int16")
    assert (proof.verdict, proof.states_explored, proof.checked) == ("equivalent", 5, "re-stepped")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_a_model_is_searched_as_it_runs_alone(dtype: torch.dtype) -> None:
    """The states found are those of single runs, bit for bit, whatever a matrix product does in a batch."""
    from mirrormata.theory.proofs._answers import answers_of
    from mirrormata.theory.proofs._state_search import StateSearch
    from mirrormata.theory.proofs._stepper_machine import StepperMachine

    torch.manual_seed(0)
    config = ModelConfig(letters=2, classes=2, width=64, layers=1, heads=2, head_dim=16, value_dim=16)
    stepper = ModelStepper(Model(config).to(dtype))
    automaton = automaton_from_spec("parity")
    machine = StepperMachine(stepper, answers_of(automaton, None))
    search = StateSearch(machine, automaton)
    search.machine.first_wrong = lambda *_: -1  # type: ignore[method-assign]
    search.run(max_states=60)
    found = {row.tobytes() for row in search.form.rows(search.store.words)}
    for number in range(32):
        states = stepper.initial(1)
        for bit in range(4):
            states = stepper.step(states, np.array([number >> bit & 1]))
            assert machine.pack(states).tobytes() in found


def test_logits_that_are_not_finite_answer_nothing() -> None:
    class Broken(FlaModel):
        def __init__(self) -> None:
            self.layers, self.tensors, self.letters = (
                0,
                {"model.embeddings.weight": np.zeros((2, 2))},
                np.arange(2),
            )
            self.meaning = np.arange(2)

        def _logits(self, h: Any) -> Any:
            return np.full((len(h), 2), np.nan)

    broken = Broken()
    states = broken.step([np.array([-1, -1])], np.array([0, 1]))
    assert broken.decode(states, np.array([0, 1])).tolist() == [-1, -1]


@pytest.mark.parametrize("arithmetic", ARITHMETICS)
def test_numbers_that_stand_for_nothing_are_wrong_answers(arithmetic: str) -> None:
    """An index of no output, and a name that the automaton does not have."""
    parity = automaton_from_spec("parity")
    assert prove(sign([[0, 0], [-1, -1]]), parity, arithmetic).word == (1,)
    with pytest.raises(InputError, match=r"decode\[1, 0\] is 2"):
        prove(sign([[0, 0], [2, 2]]), parity, arithmetic)
    named = replace(sign([[0, 0], [1, 1]]), outputs=("0", "odd"))
    found = prove(named, parity, arithmetic)
    assert (found.word, found.answered, found.right) == ((1,), None, "1")

    class Beyond(Side):
        def decode(self, states: Any, letters: Any) -> Any:
            return states["n"] + 7

    assert prove(Beyond(), automaton_from_spec("cycle:5"), "int16").answered is None


def test_states_that_are_not_finite() -> None:
    """Everything overflows at once, and an answer has more codes than are compared alone."""
    arrays = {
        "A": np.full((2, 1, 1), 60000.0), "B": np.zeros((2, 1, 1)), "H0": np.full((1, 1), 2.0),
        "codes": np.arange(6.0).reshape(6, 1, 1), "decode": np.zeros((6, 2), dtype=int),
    }  # fmt: skip
    for arithmetic in ("per_step:fp16", "per_op:fp16"):
        assert prove(npz_model(arrays), automaton_from_spec("parity"), arithmetic).word == (0,)
    single = {**arrays, "A": np.ones((2, 1, 1)), "decode": np.zeros((6, 2), dtype=int)}
    always = with_outputs(automaton_from_spec("parity"), ["0", "0"])
    assert prove(npz_model(single), always, "per_step:fp16", method="states").verdict == "equivalent"


@pytest.mark.parametrize("values", ["int:1..4", "-2,-1,1/2,3", "1,2"])
def test_values_without_zero_are_refused(values: str) -> None:
    with pytest.raises(InputError, match="0 is none of its values"):
        prove(sign(LABELS.astype(int)), automaton_from_spec("parity"), f"per_step:{values}")
    with pytest.raises(InputError, match="0 is none of its values"):
        prove(construct("parity"), automaton_from_spec("parity"), f"per_step:{values}")


def promising(path: Path, shape: tuple[int, ...], kind: str = "<f8") -> None:
    """An `.npz` whose A says that it is huge."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": kind, "fortran_order": False, "shape": shape})
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("A.npy", header.getvalue())


@pytest.mark.parametrize("shape", [(10**6, 10**6, 10**6), (2, 10**5, 10**5), (2**62, 4), (3,)])
def test_headers_that_promise_too_much(tmp_path: Path, shape: tuple[int, ...]) -> None:
    path = tmp_path / "m.npz"
    promising(path, shape)
    with pytest.raises(InputError, match="A promises an array of shape"):
        load_npz_model(path)


def test_large_files_are_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mirrormata.theory import _npz_file as npz_file

    path = tmp_path / "m.npz"
    np.savez_compressed(path, A=np.zeros((2, 300, 300)))
    with pytest.raises(InputError, match=r"1,440,128 bytes; at most 1,000 are read"):
        npz_file.read_npz(path, ["A"], InputError("none"), max_bytes=1_000)
    monkeypatch.undo()
    for content in (b"", b"PK\x03\x04", b"\x93NUMPY", bytes(range(256)) * 9):
        path.write_bytes(content)
        with pytest.raises(InputError, match="nothing is unpickled"):
            load_npz_model(path)


def looks_at_new_pairs_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a search does that holds the first pair for known, though no word has led to it."""
    begin = state_search.StateSearch.__init__

    def overlooking(self: Any, *args: Any) -> None:
        begin(self, *args)
        self.start_is_read = True

    monkeypatch.setattr(state_search.StateSearch, "__init__", overlooking)


def test_a_wrong_search_is_caught_by_the_checker(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a search that overlooks the start no verdict is given: certificate refused, or stepped again."""
    looks_at_new_pairs_only(monkeypatch)
    wrong, parity = sign([[1, 1], [1, 1]]), automaton_from_spec("parity")
    for arithmetic in ("per_step:bf16", "per_op:bf16"):
        with pytest.raises(
            DisagreementError, match="the checker refuses the certificate: letter 0 in state 0"
        ):
            prove(wrong, parity, arithmetic)
    monkeypatch.setattr("mirrormata.theory.proofs._certificate.MAX_STEPS", 0)
    with pytest.raises(DisagreementError, match="after the word 0 the answer is wrong"):
        prove(wrong, parity, "per_step:bf16", method="states")
    always = with_outputs(parity, ["1", "1"])
    with pytest.raises(DisagreementError, match="after the word 0 the answer is wrong"):
        prove(construct("parity"), always, "kernel:recurrent:bf16")


def test_a_second_program_that_finds_less_is_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """The matrices stepped again are the arithmetic's own; a step of another format is noticed."""
    model, mod4 = turns(4, [0, 1, 2, 3]), automaton_from_spec("mod:4")
    monkeypatch.setattr("mirrormata.theory.proofs._certificate.MAX_STEPS", 0)
    for arithmetic in ("per_step:bf16", "per_step:fp16:rz", "per_op:fp16", "per_step:int:-4..4"):
        proof = prove(model, mod4, arithmetic, method="states")
        assert (proof.verdict, proof.checked, proof.certificate) == ("equivalent", "re-stepped", None)
    monkeypatch.setattr(
        second_derivation.MatricesAlone, "_product", lambda self, A, H, b: np.swapaxes(A, -1, -2) @ H
    )
    with pytest.raises(DisagreementError, match="after the word 1 the "):
        prove(model, mod4, "per_step:bf16", method="states")


def test_limits_hold_while_a_verdict_is_checked() -> None:
    lrnn = construct("S4")
    assert isinstance(lrnn, LRNN)
    proof = prove(lrnn, lrnn.automaton, "kernel:recurrent:fp32", max_seconds=0.0)
    assert proof.verdict == "unknown"
    assert "`max_seconds` 0 reached" in proof.reason


class Form(Side):
    """Parity; what `step` gives is written by `form`."""

    def __init__(self, form: Any) -> None:
        self.form = form

    def initial(self, sequences: int) -> Any:
        return {"n": np.zeros(sequences, dtype=np.int16), "m": (np.zeros(sequences),)}

    def step(self, states: Any, letters: Any) -> Any:
        n = (states["n"] + np.asarray(letters)) % 2
        return self.form(n.astype(np.int16), states["m"][0])

    def decode(self, states: Any, letters: Any) -> Any:
        return states["n"].astype(np.int64)


@pytest.mark.parametrize(
    ("form", "said"),
    [
        (lambda n, m: {"n": n}, "the keys"),
        (lambda n, m: {"n": n, "m": (m,), "k": n}, "the keys"),
        (lambda n, m: {"n": n, "m": [m]}, "a tuple before the first token is a list"),
        (lambda n, m: {"n": n, "m": (m, m)}, "1 parts before the first token are 2"),
        (lambda n, m: {"n": np.ma.MaskedArray(n), "m": (m,)}, "is a MaskedArray"),
        (lambda n, m: {"n": n.astype(np.int32), "m": (m,)}, "change form"),
        (lambda n, m: {"n": n[:0], "m": (m,)}, "change form"),
        (lambda n, m: {"n": np.concatenate([n, n]), "m": (m,)}, "change form"),
        (lambda n, m: {"n": n[:, None], "m": (m,)}, "change form"),
        (lambda n, m: [n, m], "a dict before the first token is a list"),
        (lambda n, m: None, "is a NoneType"),
    ],
)  # fmt: skip
def test_states_keep_their_form(form: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        prove(Form(form), automaton_from_spec("parity"), "int16")


def test_keys_may_come_in_another_order() -> None:
    """An array is told by its key; and a step may change the states that it is given."""
    swapped = Form(lambda n, m: {"m": (m,), "n": n})
    assert prove(swapped, "parity", "int16").checked == "re-stepped"

    class InPlace(Form):
        def step(self, states: Any, letters: Any) -> Any:
            states["n"] += np.asarray(letters).astype(np.int16)
            states["n"] %= 2
            return states

    assert prove(InPlace(None), "parity", "int16").states_explored == 2


@pytest.mark.parametrize(
    "said", [lambda n: n - 0.9, lambda n: None, lambda n: 0, lambda n: n[:, None], lambda n: n[:0], lambda n: n.astype(str)]
)  # fmt: skip
def test_decodings_are_whole_numbers(said: Any) -> None:
    class Said(Form):
        def decode(self, states: Any, letters: Any) -> Any:
            return said(states["n"].astype(np.int64))

    with pytest.raises(InputError, match="one whole number for each"):
        prove(Said(lambda n, m: {"n": n, "m": (m,)}), "parity", "int16")


def test_what_a_stepper_keeps_elsewhere_shows() -> None:
    """It counts the calls of its step, and after three of one sequence in a row answers 0."""

    class Hidden(Form):
        calls = 0

        def initial(self, sequences: int) -> Any:
            self.calls = 0
            return super().initial(sequences)

        def step(self, states: Any, letters: Any) -> Any:
            self.calls += 1
            after = super().step(states, letters)
            return {**after, "n": after["n"] * (self.calls < 3 or len(after["n"]) > 1)}

    hidden = Hidden(lambda n, m: {"n": n, "m": (m,)})
    with pytest.raises(DisagreementError):
        prove(hidden, "parity", "int16")


def test_the_arithmetic_of_a_stepper_is_its_own() -> None:
    assert prove(Counter(3, 299, 0), "mod:3").arithmetic == "the stepper's own"
    assert prove(construct("mod:3"), "mod:3").arithmetic == "per_step:bf16"


@pytest.mark.parametrize("limits", [{"max_states": 0}, {"max_seconds": -1.0}, {"max_seconds": float("nan")}])
def test_limits_are_numbers_that_limit(limits: Any) -> None:
    (name,) = limits
    with pytest.raises(InputError, match=f"`{name}`"):
        prove(construct("parity"), "parity", **limits)


def test_few_states_beyond_the_limit_are_explored() -> None:
    proof = prove(
        block_delay(automaton_from_spec("S4"), 1), "S4", "per_step:fp16", method="states", max_states=300
    )
    assert 300 <= proof.states_explored <= 300 + 24


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("B", np.array([[[0]], [[2**53 + 1]]])),
        ("A", np.array([[[1]], [[-(2**60) - 1]]])),
        ("H0", np.array([[1 + np.longdouble(2) ** -60]])),
        ("decode", np.array([[0, 0], [2**64 - 1, 1]], dtype=np.uint64)),
    ],
)
def test_numbers_that_float64_does_not_hold_are_refused(key: str, value: Any) -> None:
    model = sign([[0, 0], [1, 1]])
    arrays = {k: getattr(model, k) for k in ("A", "B", "H0", "codes", "decode")}
    with pytest.raises(InputError, match=f"{key} has numbers of the type"):
        npz_model({**arrays, key: value})
    assert (
        prove(npz_model({k: v.astype(np.int8) for k, v in arrays.items()}), "parity").verdict == "equivalent"
    )


def test_states_that_are_not_reached_may_be_missing() -> None:
    """A Mealy machine with a state that no word reaches, beside what was constructed from it."""
    outputs = np.array([["a", "b", "c"], ["b", "a", "c"]], dtype=object)
    table = np.array([[0, 1, 2], [1, 0, 0]])
    mealy = Automaton(("p", "q", "r"), ("0", "1"), table, 0, outputs)
    proof = prove(construct(mealy), mealy)
    assert (proof.verdict, proof.compares) == ("equivalent", "states")
    halves: Any = table + 0.9
    with pytest.raises(InputError, match="indices of states"):
        replace(mealy, transitions=halves)


@pytest.mark.parametrize(
    ("key", "value"), [("factor_count", [99, 1]), ("factor_count", [0.9, 1.0]), ("factor_count", [-1, 1]), ("beta", [["1"], ["2"]])]
)  # fmt: skip
def test_factors_are_numbers_within_their_arrays(key: str, value: Any) -> None:
    model = sign([[0, 0], [1, 1]])
    factors = {
        "beta": np.array([[0.0], [2.0]]), "vector": np.ones((2, 1, 1)), "factor_count": np.array([0, 1]), "gate": np.ones(2),
    }  # fmt: skip
    assert prove(replace(model, factors=factors), "parity", "kernel:recurrent:fp32").verdict == "equivalent"
    with pytest.raises(InputError, match=key):
        prove(replace(model, factors={**factors, key: np.array(value)}), "parity", "kernel:recurrent:fp32")


def test_matrices_alone_have_a_spectrum(tmp_path: Path) -> None:
    from mirrormata.models import spectrum_of_model

    path = tmp_path / "a.npz"
    np.savez(path, A=turns(3, [0, 1, 2]).A)
    assert len(spectrum_of_model(str(path)).heads[0].letters) == 2
    np.savez(path, A=np.ones((2, 3)))
    with pytest.raises(InputError, match="letters, n, n"):
        spectrum_of_model(str(path))
