"""`mirrormata compare`: files of every kind, its JSON fields, the certificate it writes, and clear errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mirrormata.constructions._document import write_certificate
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.models._config import ModelConfig
from mirrormata.models._model import Model
from mirrormata.models._model_file import save_model
from mirrormata.models.comparison._sources import load_learned
from mirrormata.models.tasks._kinds import task_from_settings
from mirrormata.models.tasks._task import TaskSettings
from mirrormata.theory._check import check
from mirrormata.theory._horizon import full_certificate
from mirrormata.theory.impossibility._certificate import positive_delta_layer

from ..cli.command_line import Outcome
from .test_comparison import lrnn_of

Call = Callable[..., Outcome]
FIELDS = {"homomorphism_error", "spectra", "reflection_rank", "horizon", "extracted_automaton"}
SHORT = ["--words", "32", "--length", "64", "--fit", "16"]


def model_folder(folder: Path, family: str = "deltaproduct", conv: int = 0) -> Path:
    """An untrained model of parity with BOS."""
    task = task_from_settings(TaskSettings(spec="parity", bos=True))
    config = ModelConfig(
        family=family,
        letters=task.letters,
        classes=task.classes,
        width=8,
        heads=2,
        head_dim=4,
        value_dim=4,
        conv=conv,
    )
    save_model(folder, Model(config), task.contract((4, 8), ("8",)).as_json())
    return folder


def test_certificates_and_npz(tmp_path: Path, call: Call) -> None:
    write_certificate(full_certificate(lrnn_of("S3")), tmp_path / "s3.json")
    assert call("export", "npz", str(tmp_path / "s3.json"), "-o", str(tmp_path / "s3.npz")).status == 0
    for learned in ("s3.json", "s3.npz"):
        for constructed in (str(tmp_path / "s3.json"), "S3"):
            done = call("compare", str(tmp_path / learned), constructed, "--json", *SHORT)
            assert done.status == 0, done.err
            document = json.loads(done.out)
            assert set(document) >= FIELDS
            assert document["homomorphism_error"] == 0
            assert all(e["is_target"] for e in document["extracted_automaton"])
    text = call("compare", str(tmp_path / "s3.npz"), "S3", *SHORT)
    assert "homomorphism error 0 " in " ".join(text.out.split())
    assert "tolerances" in text.out


@pytest.mark.parametrize("conv", [0, 4])
def test_model_folders_begin_after_bos(tmp_path: Path, conv: int, call: Call) -> None:
    folder = model_folder(tmp_path / "model", conv=conv)
    learned = load_learned(str(folder), automaton_from_spec("parity"))
    assert len(learned.heads) == 2
    assert (learned.read is None) == (conv > 0)
    assert all((head.spread > 0) == (conv > 0) for head in learned.heads)
    states = learned.stepper.initial(3)
    assert all(np.abs(head.H0).max() > 0 for head in learned.heads)  # BOS has been written
    letters = np.array([0, 1, 1])
    states = learned.stepper.step(states, letters)
    if learned.read is not None:
        for head, H in zip(learned.heads, learned.head_states(states), strict=True):
            assert np.allclose(head.A[letters] @ head.H0 + head.B[letters], H, atol=1e-5)
        assert (
            learned.read(learned.head_states(states), letters).tolist()
            == learned.stepper.decode(states, letters).tolist()
        )
    assert json.loads(call("compare", str(folder), "parity", "--json", *SHORT).out).keys() >= FIELDS


def test_families_without_linear_heads_are_compared_by_answers(tmp_path: Path, call: Call) -> None:
    folder = model_folder(tmp_path / "model", "lstm")
    document = json.loads(call("compare", str(folder), "parity", "--json", *SHORT).out)
    assert document["heads"] == []
    assert any("no linear heads" in note for note in document["notes"])


def test_the_certificate_of_a_failure_is_written(tmp_path: Path, call: Call) -> None:
    (head,) = positive_delta_layer().heads
    codes = np.array([[[0.0], [0.0]], [[4.0], [4.0]]])
    np.savez(
        tmp_path / "layer.npz", A=head.A.astype(float), B=head.B.astype(float), H0=head.start.astype(float),
        codes=codes, decode=np.array([[0, 0], [1, 1]]),
    )  # fmt: skip
    out = tmp_path / "why.json"
    done = call("compare", str(tmp_path / "layer.npz"), "parity", "-o", str(out), "--extract", "none", *SHORT)
    assert done.status == 0, done.err
    assert check(out).verdict == "valid"
    assert "bit for bit" in " ".join(done.out.split())


def test_errors_are_one_line(tmp_path: Path, call: Call) -> None:
    folder = model_folder(tmp_path / "model")
    np.savez(tmp_path / "bad.npz", A=np.eye(2))
    for arguments, named in [
        ((str(tmp_path / "none"), "S3"), "not a model folder"),
        ((str(tmp_path / "bad.npz"), "parity"), "no array"),
        ((str(folder), "mod:3"), "was trained to name the states"),
        ((str(folder), "S3"), "the same letters"),
        ((str(folder), "parity", "--extract", "guess"), "'guess'"),
        ((str(folder), "parity", "--subspace", "2"), "subspace 2"),
        ((str(folder), "parity", "--fit", "2000"), "fit 2000"),
        ((str(folder), "parity", "--dtype", "fp7"), "fp7"),
        ((str(folder), "parity", "-o", "x.json", "--arithmetic", "exact"), "per_step"),
    ]:
        done = call("compare", *arguments)
        assert named in done.error
