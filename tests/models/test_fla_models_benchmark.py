"""The benchmark of models that FLA trained, in a tiny form on a CPU, with FLA's naive functions (`mirrormata[fla]`)."""

from __future__ import annotations

import pytest

from mirrormata.benchmarks.fla_models import measure
from mirrormata.tests.models.fla_reference import on_cpu

pytest.importorskip("fla.models", reason="needs mirrormata[fla]")


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("kind", "spec"), [("delta_net", "parity"), ("gated_deltaproduct", "S3[transpositions]")]
)
def test_trained_by_fla_and_read(kind: str, spec: str) -> None:
    with on_cpu():
        found = measure(
            kind, spec, steps=3, batch=4, train_length=6, lengths=(5, 12), words=3, width=16, heads=2, dtype="fp32", device="cpu",
        )  # fmt: skip
    assert found["family"] == f"fla_{kind}"
    assert [row["after"] for row in found["differences"]] == ["layer 1", "layer 2", "logits"]
    for row in found["differences"]:
        assert row["largest"] > 1e-3
        assert row["FLA and ours"]["relative"] < 1e-5
        assert 0 < row["ours and float64"]["relative"] < 1e-5
    assert found["same_answers"] == 1
    assert found["accuracy"]["FLA"] == found["accuracy"]["ours"]
