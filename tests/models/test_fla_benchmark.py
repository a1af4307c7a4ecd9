"""The benchmark of FLA checkpoints: its logic on a CPU, with FLA's naive functions, and a part that fails."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mirrormata.benchmarks import fla_checkpoints
from mirrormata.benchmarks.fla_checkpoints import main, measure

pytest.importorskip("fla.models", reason="needs mirrormata[fla]")
from mirrormata.tests.models.fla_reference import on_cpu


def test_all_parts_are_right_on_a_cpu() -> None:
    with on_cpu():
        found = measure(["parity", "S3"], lengths=(10, 80), words=2, device="cpu")
    assert len(found["runs"]) == 16
    for row in found["runs"]:
        assert row["accuracy"] == {"10": 1.0, "80": 1.0}, row
        assert row["first_error"] is None
    bounds = {(row["task"], row["by"], row["dtype"]): row["bound"] for row in found["runs"]}
    assert bounds["parity", "FLA fused_recurrent", "bf16"] == "any length"
    assert bounds["S3", "FLA fused_recurrent", "bf16"] == bounds["S3", "FLA fused_recurrent", "fp32"] > 1000
    assert bounds["S3", "FLA chunk", "fp16"] == "none"
    assert bounds["S3", "mirrormata", "fp16"] == "any length"
    assert found["versions"]["torch"]


def test_a_part_that_fails_leaves_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*arguments: Any) -> Any:
        raise RuntimeError("no such kernel\nmore")

    monkeypatch.setattr(fla_checkpoints, "_fla", broken)
    monkeypatch.setattr(fla_checkpoints, "measure", partial(measure, lengths=(8, 16)))
    main([str(tmp_path / "x.json"), "--tasks", "parity", "--device", "cpu"])
    rows = json.loads((tmp_path / "x.json").read_text())["runs"]
    assert [row.get("error") for row in rows] == [
        None if row["by"] == "mirrormata" else "RuntimeError: no such kernel" for row in rows
    ]
    assert "first error none" in capsys.readouterr().out
    late = measure(["parity"], lengths=(8,), words=1, device="cpu", seconds=0)
    assert {row["error"] for row in late["runs"]} == {"not run: no time left"}


def test_wrong_answers_are_counted() -> None:
    wrong = np.zeros((2, 10), dtype=bool)
    wrong[1, 4] = True
    found = fla_checkpoints._summary(wrong, (4, 10))
    assert found == {"accuracy": {"4": 1.0, "10": 0.95}, "first_error": 5}
