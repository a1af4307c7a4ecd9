"""Recorded training steps on a GPU: the same losses and weights as steps that run one by one. Needs a GPU."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from mirrormata.models.training._experiment import experiment_from_dict
from mirrormata.models.training._files import read_metrics
from mirrormata.models.training._train import train

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="records CUDA graphs: needs a GPU")

FAMILIES = {
    "deltaproduct": {"householders": 2, "conv": 4, "gated": True},
    "mamba": {"value_dim": 16},
    "mamba_like": {"value_dim": 16},
    "mamba2": {},
    "gated_deltanet": {},
    "kda": {},
    "gated_deltanet2": {},
    "gla": {},
    "rwkv7": {},
    "rwkv7_like": {},
    "pd_ssm": {},
    "complex_kda": {},
    "transformer": {},
    "lstm": {},
    "slstm": {"conv": 4},
    "mlstm": {"conv": 4},
}


def trained(
    folder: Path, family: str, graphs: bool, steps: int = 12, minutes: float | None = None
) -> list[object]:
    settings = {
        "steps": steps, "batch": 16, "lengths": [5, 7], "seeds": [0, 1], "log_every": 1, "graphs": graphs,
        "precision": "bf16", "deterministic": True, "checkpoint_every": 6,
    }  # fmt: skip
    model = {"family": family, "width": 32, "heads": 2, "head_dim": 16, "value_dim": 16, **FAMILIES[family]}
    data = {
        "task": {"spec": "parity"},
        "model": model,
        "train": settings,
        "eval": {"lengths": [8], "words": 8},
    }
    train(experiment_from_dict(data, "test"), folder, minutes=minutes)
    return [(line["loss"], line["gradient_norm"]) for line in read_metrics(folder / "metrics.jsonl")]


@pytest.mark.parametrize("family", FAMILIES)
def test_recorded_steps_are_the_same(family: str, tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    if family in ("slstm", "mlstm"):
        pytest.importorskip("xlstm")
    recorded, plain = (trained(tmp_path / str(graphs), family, graphs) for graphs in (True, False))
    assert not [str(w.message) for w in recwarn if "recorded" in str(w.message)]
    assert recorded == plain


def test_going_on_after_a_stop(tmp_path: Path) -> None:
    whole = trained(tmp_path / "whole", "deltaproduct", True)
    trained(tmp_path / "parts", "deltaproduct", True, minutes=0)
    assert trained(tmp_path / "parts", "deltaproduct", True) == whole
