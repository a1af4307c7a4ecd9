"""Exported weights, read back without this package's code, run the automaton."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file

from mirrormata.constructions._construct import construct
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.automata._completing import object_array
from mirrormata.constructions.library._names import automaton_by_name
from mirrormata.foundation._errors import InputError, LimitError
from mirrormata.tests.constructions.tables import construct_table
from mirrormata.theory._export import export_npz, export_safetensors
from mirrormata.theory.proofs._npz_model import load_npz_model


def factors_as_matrix(beta: Any, vectors: Any) -> Any:
    """C_k···C_1 in float64."""
    A = np.eye(vectors.shape[-1])
    for b, v in zip(beta, vectors, strict=True):
        A = A - b * np.outer(v, v @ A)
    return A


@pytest.mark.parametrize("name", ["S5[generators]", "A5[generators]", "mod:7", "parity", "dihedral:4"])
def test_npz_runs_the_automaton(name: str, tmp_path: Path) -> None:
    lrnn = construct(automaton_by_name(name))
    assert lrnn.heads == 1
    export_npz(lrnn, tmp_path / "x.npz")
    with np.load(tmp_path / "x.npz", allow_pickle=False) as file:
        data = dict(file)
    letters, n, d = len(lrnn.automaton.letters), lrnn.dim, lrnn.layers[0].heads[0].value_dim
    assert data["A"].shape == (letters, n, n)
    assert data["B"].shape == (letters, n, d)
    assert data["H0"].shape == (n, d)
    assert data["codes"].shape[1:] == (n, d)
    assert data["decode"].shape == (len(data["codes"]), letters)
    assert bool(data["integer"]) == (lrnn.exactness == "integer")
    assert json.loads(str(data["letter_labels"])) == [str(x) for x in lrnn.automaton.letters]
    outputs = json.loads(str(data["output_labels"]))
    word = np.random.default_rng(1).integers(0, letters, size=200)
    H = data["H0"]
    for x, q in zip(word, lrnn.automaton.trace(word), strict=True):
        H = data["A"][x] @ H + data["B"][x]
        code = int(((data["codes"] - H) ** 2).sum(axis=(1, 2)).argmin())
        assert outputs[data["decode"][code, x]] == str(lrnn.automaton.outputs[q])
        assert data["states"][code] == q
    assert data["beta"].shape == (letters, lrnn.householders)
    assert data["vector"].shape == (letters, lrnn.householders, n)
    for x in range(letters):
        assert np.allclose(factors_as_matrix(data["beta"][x], data["vector"][x]), data["A"][x], atol=1e-12)
        assert (data["beta"][x, data["factor_count"][x] :] == 0).all()


def test_npz_of_a_matrix_form_has_no_factors(tmp_path: Path) -> None:
    lrnn = construct_table(automaton_by_name("tomita:4"), "G.A3")
    export_npz(lrnn, tmp_path / "x.npz")
    with np.load(tmp_path / "x.npz", allow_pickle=False) as file:
        assert "beta" not in file
        H, q = file["H0"], lrnn.automaton.start
        for x in (0, 0, 1, 0, 0, 0, 1):
            H, q = file["A"][x] @ H, int(lrnn.automaton.transitions[x, q])
            code = int((file["codes"] == H).all(axis=(1, 2)).argmax())
            label = json.loads(str(file["output_labels"]))[file["decode"][code, x]]
            assert label == str(lrnn.automaton.outputs[q])


def test_more_heads_are_refused(tmp_path: Path) -> None:
    lrnn = construct(automaton_by_name("mod:60"), exactness="integer")
    with pytest.raises(InputError, match="one layer with one head, this LRNN has 1 layer with up to 3 heads"):
        export_npz(lrnn, tmp_path / "x.npz")
    assert not list(tmp_path.iterdir())


def test_limits(tmp_path: Path) -> None:
    lrnn = construct(automaton_by_name("S5"))
    for export, name in ((export_npz, "x.npz"), (export_safetensors, "x.safetensors")):
        with pytest.raises(LimitError, match="3,000 entries, more than 2,999: raise `max_entries`"):
            export(lrnn, tmp_path / name, max_entries=2_999)
    assert not list(tmp_path.iterdir())


def mealy(outputs: list[list[str]]) -> Automaton:
    values = np.array(outputs, dtype=object)
    return Automaton((0, 1), ("0", "1"), np.array([[0, 1], [1, 0]]), 0, values)


def test_mealy_outputs(tmp_path: Path) -> None:
    export_npz(construct(mealy([["a", "b"], ["c", "a"]])), tmp_path / "x.npz")
    with np.load(tmp_path / "x.npz", allow_pickle=False) as file:
        outputs = json.loads(str(file["output_labels"]))
        by_state = {
            int(q): [outputs[o] for o in row] for q, row in zip(file["states"], file["decode"], strict=True)
        }
    assert by_state == {0: ["a", "a"], 1: ["b", "c"]}  # letter 1 comes from the other state
    collapse = Automaton(
        (0, 1), ("x",), np.array([[0, 0]]), 0, np.array([["a", "b"]], dtype=object), keeps_points=True
    )
    states = construct_table(
        Automaton((0, 1), ("x",), np.array([[0, 0]]), 0, np.array([0, 1]), keeps_points=True), "G.A3"
    )
    with pytest.raises(InputError, match="letter 'x' into state 0 has the outputs 'a' and 'b'"):
        export_npz(replace(states, automaton=collapse), tmp_path / "y.npz")


@pytest.mark.parametrize("exactness", ["any", "integer"])
def test_safetensors_hold_all_heads(exactness: Any, tmp_path: Path) -> None:
    lrnn = construct(automaton_by_name("mod:60"), exactness=exactness)
    path = tmp_path / "x.safetensors"
    export_safetensors(lrnn, path)
    first = path.read_bytes()
    export_safetensors(lrnn, path)
    assert path.read_bytes() == first
    tensors = load_file(path)
    with safe_open(path, framework="numpy") as file:
        about = json.loads(file.metadata()["mirrormata"])
    assert about["summary"] == lrnn.summary()
    assert about["letters"] == ["0", "1"]
    assert np.array_equal(tensors["decode"], lrnn.decode)
    heads = range(lrnn.heads)
    H = [tensors[f"layers.0.heads.{h}.initial"] for h in heads]
    word = np.random.default_rng(2).integers(0, 2, size=300)
    for x, q in zip(word, lrnn.automaton.trace(word), strict=True):
        H = [tensors[f"layers.0.heads.{h}.matrices"][x] @ H[h] for h in heads]
        nearest = [
            int(((tensors[f"layers.0.heads.{h}.codes"] - H[h]) ** 2).sum(axis=(1, 2)).argmin()) for h in heads
        ]
        row = int((tensors["decode"][:, 1:] == nearest).all(axis=1).argmax())
        assert tensors["decode"][row, 0] == q
        assert about["outputs"][tensors["outputs"][q]] == str(lrnn.automaton.outputs[q])
    for h in heads:
        beta, vectors = (tensors[f"layers.0.heads.{h}.{key}"] for key in ("beta", "vectors"))
        for x in range(2):
            assert np.allclose(
                factors_as_matrix(beta[x], vectors[x]), tensors[f"layers.0.heads.{h}.matrices"][x]
            )


def test_labels_are_texts(tmp_path: Path) -> None:
    automaton = Automaton(
        (("p", 1), "é"), (1, "x"), np.array([[0, 1], [1, 0]]), 0, object_array([True, False])
    )
    export_npz(construct(automaton), tmp_path / "x.npz")
    with np.load(tmp_path / "x.npz", allow_pickle=False) as file:
        assert json.loads(str(file["state_labels"])) == ["('p', 1)", "é"]
        assert json.loads(str(file["output_labels"])) == ["True", "False"]


def test_exports_say_their_format_and_another_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    export_npz(construct("parity"), path)
    with np.load(path, allow_pickle=False) as file:
        data = dict(file)
    assert str(data.pop("format")) == "mirrormata-npz/1"
    whole = load_npz_model(path)
    np.savez(path, **data)  # as versions before 0.2.0 wrote it
    older = load_npz_model(path)
    assert all(
        np.array_equal(getattr(older, key), getattr(whole, key))
        for key in ("A", "B", "H0", "codes", "decode")
    )
    np.savez(path, format="mirrormata-npz/9", **data)
    with pytest.raises(InputError, match="its format is 'mirrormata-npz/9'"):
        load_npz_model(path)
    export_safetensors(construct("parity"), tmp_path / "x.safetensors")
    with safe_open(tmp_path / "x.safetensors", framework="np") as file:
        assert json.loads(file.metadata()["mirrormata"])["format"] == "mirrormata-weights/1"
