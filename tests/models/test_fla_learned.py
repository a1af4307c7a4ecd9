"""FLA checkpoints as learned models: compared, proved, their spectra, and heads of several layers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from mirrormata.constructions._construct import construct
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.foundation._errors import InputError, LimitError
from mirrormata.models import spectrum_of_model
from mirrormata.models.comparison._compare import compare
from mirrormata.models.comparison._sources import load_learned
from mirrormata.models.comparison._states import Sampling
from mirrormata.models.fla._export import fla_checkpoint
from mirrormata.models.fla._folder import load_fla, save_fla
from mirrormata.models.fla._importing import FlaHead, fla_heads, import_heads
from mirrormata.models.fla._learned import fla_spectrum, load_fla_learned, prove_fla
from mirrormata.models.fla._model import FlaModel, complete_config, expected_shapes
from mirrormata.models.fla._task import FlaTask
from mirrormata.models.learned._learned import LearnedHead
from mirrormata.theory.proofs._npz_model import load_npz_model

SHORT = Sampling(words=16, length=64, fit=16)
PARITY = FlaTask({"0": 0, "1": 1}, {"0": 1, "1": 2}, 3)


def exported(name: str, folder: Path) -> str:
    save_fla(folder / "fla", fla_checkpoint(construct(name, exactness="integer")))
    return str(folder / "fla")


def random_checkpoint(folder: Path, task: FlaTask | None = PARITY, **options: Any) -> str:
    """A DeltaNet or DeltaProduct with random weights, as from an untrained FLA model."""
    config = complete_config({
        "model_type": "gated_deltaproduct", "hidden_size": 16, "num_heads": 2, "head_dim": 4, "expand_v": 1.0,
        "num_hidden_layers": 1, "intermediate_size": 8, "vocab_size": 5, "use_short_conv": False,
        "use_output_gate": True, "use_forget_gate": True, "num_householder": 2, "allow_neg_eigval": True,
    } | options)  # fmt: skip
    rng = np.random.default_rng(0)
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    save_file(
        {name: rng.normal(size=shape).astype(np.float32) for name, shape in expected_shapes(config).items()},
        folder / "model.safetensors",
    )
    if task is not None:
        (folder / "task.json").write_text(json.dumps(task.as_json()))
    return str(folder)


@pytest.mark.parametrize("name", ["parity", "S3", "S4"])
def test_an_exported_checkpoint_is_found_to_be_its_construction(name: str, tmp_path: Path) -> None:
    learned = load_learned(exported(name, tmp_path), automaton_from_spec(name))
    assert [len(h.copies) for h in learned.heads] == [{"parity": 1}.get(name, 3)]
    found = compare(learned, sampling=SHORT, extract=("exact",))
    assert found.trace.observed is None
    (head,) = found.heads
    assert head.carries_states
    assert head.representation is not None
    assert head.representation.homomorphism_error < 1e-4
    assert [e.is_target for e in found.extracted] == [True]


def test_letters_and_factors_of_one_layer_are_exact(tmp_path: Path) -> None:
    learned = load_fla_learned(random_checkpoint(tmp_path / "x"), automaton_from_spec("parity"))
    assert [h.spread for h in learned.heads] == [0, 0]
    word = np.array([1, 0, 1, 1, 0, 1])
    states = learned.stepper.initial(1)
    held = [h.H0 for h in learned.heads]
    assert learned.read is not None
    for x in word:
        states = learned.stepper.step(states, np.array([x]))
        held = [h.A[x] @ H + h.B[x] for h, H in zip(learned.heads, held, strict=True)]
        for mine, its in zip(held, learned.head_states(states), strict=True):
            np.testing.assert_allclose(mine, its[0], atol=1e-5)
        answer = learned.read([H[None] for H in held], np.array([x]))
        assert answer == learned.stepper.decode(states, np.array([x]))
    for head in learned.heads:
        assert head.factors is not None
        for x in range(2):
            A = head.factors.gate[x] * np.eye(head.dim)
            for beta, k in zip(head.factors.beta[x], head.factors.keys[x], strict=True):
                A = (np.eye(head.dim) - beta * np.outer(k, k)) @ A
            np.testing.assert_allclose(A, head.A[x], atol=1e-6)


@pytest.mark.parametrize("options", [{"num_hidden_layers": 2}, {"use_short_conv": True, "conv_size": 3}])
def test_transitions_in_context_are_means(options: dict[str, Any], tmp_path: Path) -> None:
    folder = random_checkpoint(tmp_path / "x", **options)
    learned = load_fla_learned(folder, automaton_from_spec("parity"))
    layers = options.get("num_hidden_layers", 1)
    assert len(learned.heads) == 2 * layers
    assert learned.read is None
    assert "means over 64 random words" in learned.notes[0]
    last = learned.heads[-1]
    assert last.name == f"head {layers}.2"
    assert last.spread > 1e-3
    states = learned.stepper.step(learned.stepper.initial(3), np.array([0, 1, 0]))
    np.testing.assert_array_equal(learned.head_states(states)[-1], states[-2 if layers == 2 else 0][:, 1])
    assert compare(learned, sampling=SHORT, extract=()).trace.observed is not None
    heads = import_heads(folder)
    assert [(h.layer, h.number) for h in heads] == [divmod(i, 2) for i in range(2 * layers)]
    with pytest.raises(InputError, match=r"so transitions depend on earlier letters"):
        fla_spectrum(folder)


def test_first_layer_of_two_has_letters_of_its_own(tmp_path: Path) -> None:
    config, tensors = load_fla(random_checkpoint(tmp_path / "x", num_hidden_layers=2))
    heads, _ = fla_heads(FlaModel(config, tensors))
    assert [h.spread == 0 for h in heads] == [True, True, False, False]
    assert [h.factors is not None for h in heads] == [True, True, False, False]
    with pytest.raises(LimitError, match="raise `max_entries`"):
        fla_heads(FlaModel(config, tensors), max_entries=100)


def test_files_of_heads_have_their_factors(tmp_path: Path) -> None:
    """Rounded entry by entry, a product of one factor would have rank 3 and be unstable."""
    for head in import_heads(exported("S3", tmp_path)):
        head.write(tmp_path / "head.npz")
        held, given = load_npz_model(tmp_path / "head.npz"), spectrum_of_model(tmp_path / "head.npz")
        assert held.spread == 0
        assert [letter.reflection_rank for letter in given.letters] == [0, 1, 1, 2, 2, 1]
        assert all(letter.norm.holds and letter.is_stable for letter in given.letters)
        assert "exact products of the gates and factors in the file" in given.notes[0]
        alone = spectrum_of_model(replace(held, factors={}))
        assert [letter.reflection_rank for letter in alone.letters] != [0, 1, 1, 2, 2, 1]
        near = spectrum_of_model(replace(held, factors={}), within=1e-12)
        assert [letter.reflection_rank for letter in near.letters] == [0, 1, 1, 2, 2, 1]
        assert all(letter.norm.holds and letter.is_stable for letter in near.letters)
        assert "judged within 1e-12" in near.notes[0]


def test_files_of_means_say_how_far_contexts_lie_apart(tmp_path: Path) -> None:
    heads = import_heads(random_checkpoint(tmp_path / "x", num_hidden_layers=2))
    heads[-1].write(tmp_path / "head.npz")
    assert load_npz_model(tmp_path / "head.npz").spread == heads[-1].head.spread > 1e-3
    assert "A is a mean over contexts" in spectrum_of_model(tmp_path / "head.npz").notes[0]


def test_answers_may_be_outputs_in_tokens_of_letters(tmp_path: Path) -> None:
    automaton = automaton_from_spec("parity")
    outputs = {str(x): i for i, x in enumerate(dict.fromkeys(automaton.outputs.tolist()))}
    folder = random_checkpoint(tmp_path / "x", FlaTask({"0": 0, "1": 1}, outputs))
    learned = load_fla_learned(folder, automaton)
    assert set(outputs) <= set(learned.target.names)
    states = learned.stepper.step(learned.stepper.initial(8), np.arange(8) % 2)
    token = states[-1]
    expected = [learned.target.names.index(list(outputs)[t]) if t < 2 else -1 for t in token]
    assert learned.stepper.decode(states, np.arange(8) % 2).tolist() == expected


def test_proofs_with_the_read_out_of_the_checkpoint(tmp_path: Path) -> None:
    for name in ("parity", "S3", "T2"):
        folder = exported(name, tmp_path / name)
        automaton = automaton_from_spec(name)
        proof = prove_fla(folder, automaton, max_states=3_000)
        assert (proof.verdict, proof.arithmetic) == ("equivalent", "fla:naive:bf16")
        short = prove_fla(folder, automaton, "fla:naive:fp32", max_states=3_000).verdict
        assert short == ("unknown" if name == "S3" else "equivalent")  # keys of both signs are short by ε
    wrong = prove_fla(random_checkpoint(tmp_path / "x"), automaton_from_spec("parity"))
    assert wrong.verdict == "counterexample"
    with pytest.raises(InputError, match="write fla:naive:bf16"):
        prove_fla(folder, automaton, "per_step:bf16")


def test_spectra_of_all_heads(tmp_path: Path) -> None:
    found = fla_spectrum(exported("S4", tmp_path))
    (head,) = found.heads
    assert head.dim == 16
    assert head.name == "head 1.1 and 2 equal"
    assert sum(len(letter.labels) for letter in head.letters) == 24
    assert [h.name for h in fla_spectrum(random_checkpoint(tmp_path / "x", None)).heads] == [
        "head 1.1",
        "head 1.2",
    ]


def test_a_head_stands_in_its_layer_only() -> None:
    one = np.ones((1, 1, 1))
    head = FlaHead(LearnedHead("x", one, one, one[0], copies=(1, 5)), one, ("a",), ("b",), 3)
    assert (head.layer, head.number) == (0, 1)
    places = [(layer, number) for layer in range(3) for number in range(-1, 5) if head.is_at(layer, number)]
    assert places == [(0, 1), (1, 2)]
