"""A verdict on an `.npz` says which of its arrays were run; a search on a kernel ends by the clock."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mirrormata.models._sources import spectrum_of_model
from mirrormata.theory.proofs._npz_model import NpzModel, load_npz_model, npz_model
from mirrormata.theory.proofs._npz_notes import factor_distance
from mirrormata.theory.proofs._prove import prove

KERNEL = "kernel:recurrent:fp32"
ARRAYS: dict[str, Any] = {
    "A": np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]]),
    "B": np.zeros((2, 2, 1)),
    "H0": np.array([[1.0], [0.0]]),
    "codes": np.array([[[1.0], [0.0]], [[0.0], [1.0]]]),
    "decode": np.array([[0, 0], [1, 1]]),
    "beta": np.array([[0.0], [1.0]]),
    "vector": np.array([[[0.0, 0.0]], [[1.0, -1.0]]]),
    "factor_count": np.array([0, 1]),
    "gate": np.ones(2),
}
CLOSE_BETA = np.array([[0.0], [1 + 2e-7]])


def parity(*absent: str, **changed: Any) -> NpzModel:
    return npz_model({key: x for key, x in {**ARRAYS, **changed}.items() if key not in absent})


def test_states_that_differ_by_rounding_end_by_the_clock(call: Any, tmp_path: Path) -> None:
    parity(beta=CLOSE_BETA).save(tmp_path / "close.npz")
    found = call(
        "prove", str(tmp_path / "close.npz"), "parity", "--arithmetic", KERNEL, "--max-seconds", "0.5"
    )
    assert found.status == 1
    assert "unknown in kernel:recurrent:fp32" in found.out
    assert "--max-seconds 0.5 reached" in found.out


def test_the_command_has_a_limit_of_its_own() -> None:
    from inspect import signature

    from mirrormata.cli.proofs import prove as command

    assert 0 < signature(command).parameters["max_seconds"].default <= 600


def test_the_kernel_names_the_distance_of_a_from_what_it_ran() -> None:
    close = prove(parity(beta=CLOSE_BETA), "parity", KERNEL, max_states=50)
    (note,) = close.notes
    # I - β v vᵀ with v = (1, -1) lies β - 1 from the swap
    assert note.endswith(
        "differs from their products by up to 2e-07 an entry (letter 1), so the verdict is not about A"
    )
    assert close.to_json()["notes"] == [note]
    (same,) = prove(parity(), "parity", KERNEL).notes
    assert same.endswith("A is exactly their products")


def test_the_distance_is_exact() -> None:
    model = parity(beta=CLOSE_BETA)
    assert factor_distance(model.kernel_head(), 1, model.A[1]) == Fraction(1 + 2e-7) - 1
    assert factor_distance(model.kernel_head(), 0, model.A[0]) == 0


@pytest.mark.parametrize(
    ("absent", "changed", "said"),
    [
        (("gate",), {}, "its beta, vector, factor_count were not used (it has no gate)"),
        (
            ("beta", "vector", "factor_count"),
            {},
            "its gate were not used (it has no beta, vector, factor_count)",
        ),
        ((), {"mask": np.zeros((2, 2, 2))}, "its beta, vector, factor_count, gate, mask were not used"),
        ((), {}, "its beta, vector, factor_count, gate were not used"),
    ],
)
def test_arrays_that_were_not_run_are_named(absent: Any, changed: Any, said: str) -> None:
    model = parity(*absent, **changed)
    (note,) = prove(model, "parity", "per_step:bf16").notes
    assert note == f"A and B in the file were run; {said}"


def test_nothing_is_said_where_all_was_run() -> None:
    assert not prove(parity("beta", "vector", "factor_count", "gate"), "parity").notes
    assert not prove(parity("beta", "vector", "factor_count", "gate"), "parity").to_json()["notes"]


def test_a_mean_is_called_one() -> None:
    model = parity("beta", "vector", "factor_count", "gate", spread=np.float64(0.5))
    assert "up to 0.5 in the spectral norm; the verdict is about the mean" in prove(model, "parity").notes[0]


def test_spectra_name_what_they_leave_out(tmp_path: Path) -> None:
    partial, masked = parity("gate"), parity(mask=np.ones((2, 2, 2)))
    for model, said in ((partial, "since it lacks the rest"), (masked, "since it has a mask")):
        model.save(tmp_path / "x.npz")
        assert said in spectrum_of_model(load_npz_model(tmp_path / "x.npz")).notes[0]
    np.savez(tmp_path / "a.npz", A=ARRAYS["A"], beta=ARRAYS["beta"], spread=0.5)
    found = spectrum_of_model(str(tmp_path / "a.npz"))
    assert "its beta, spread are not used" in found.notes[0]
    np.savez(tmp_path / "b.npz", A=ARRAYS["A"])
    assert not spectrum_of_model(str(tmp_path / "b.npz")).notes
