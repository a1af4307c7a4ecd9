"""The benchmark of training: its rows, its message without the peer, and the peer's layers with our weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from mirrormata.benchmarks import training_peer, training_throughput
from mirrormata.benchmarks.training_throughput import SIZES, Size, main, measured
from mirrormata.kernels import delta_product

TINY = Size(16, 1, 2, 8, 2, 4, 6, letters=5, seeds=2)
CPU = torch.device("cpu")


class Layer(nn.Module):
    """What flash-linear-attention's layers compute, from their documentation, with our kernel."""

    def __init__(self, num_householder: int = 1, **options: Any) -> None:
        super().__init__()
        assert options["allow_neg_eigval"]
        assert not options["use_short_conv"]
        self.options, self.factors = options, num_householder
        self.heads, width = options["num_heads"], options["hidden_size"]
        self.dim = options.get("head_dim") or round(options.get("expand_k", 1) * width) // self.heads
        inner = self.heads * self.dim
        self.q_proj = nn.Linear(width, inner, bias=False)
        self.k_proj = nn.Linear(width, inner * num_householder, bias=False)
        self.v_proj = nn.Linear(width, inner * num_householder, bias=False)
        self.b_proj = nn.Linear(width, self.heads * num_householder, bias=False)
        self.o_proj = nn.Linear(inner, width, bias=False)

    def forward(self, x: Tensor) -> tuple[Tensor, None, None]:
        batch, tokens, _ = x.shape
        split = (batch, tokens * self.factors, self.heads, self.dim)
        q = F.silu(self.q_proj(x)).view(batch, tokens, self.heads, self.dim)
        k, v = (F.silu(p(x)).reshape(split) for p in (self.k_proj, self.v_proj))
        beta = 2 * self.b_proj(x).sigmoid().reshape(split[:3])
        q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
        o = delta_product(q, k, v, beta, householders=self.factors, scale=self.dim**-0.5)[0]
        o = F.rms_norm(o, (self.dim,), eps=self.options["norm_eps"])
        return self.o_proj(o.flatten(2)), None, None


@pytest.mark.parametrize("householders", [1, 2, 3])
def test_the_peer_with_our_weights_is_our_model(householders: int, monkeypatch: pytest.MonkeyPatch) -> None:
    names = []

    def layer(module: str, name: str) -> Any:
        names.append(f"{module}.{name}")
        return Layer

    monkeypatch.setattr(training_peer, "layer", layer)
    size = Size(16, 2, 2, 8, householders, 4, 6, letters=5, seeds=2)
    ours, peer, seeds = measured(size, CPU, peer=True, rounds=3, steps=2, warm=1)
    assert [row["model"] for row in (ours, peer, seeds)] == ["ours", "FLA", "ours, 2 seeds"]
    assert peer["first_loss"] == pytest.approx(ours["first_loss"], rel=1e-5)
    assert peer["last_loss"] == pytest.approx(ours["last_loss"], rel=1e-2)
    assert "different" not in peer
    assert peer["against_peer"] == 1
    assert set(names) == {
        "delta_net.DeltaNet" if householders == 1 else "gated_deltaproduct.GatedDeltaProduct"
    }
    mid, low, high = ours["tokens_per_second"]
    assert low <= mid <= high
    assert mid == pytest.approx(24 / (ours["milliseconds_a_step"] / 1e3), rel=0.01)


def test_a_peer_that_is_another_model_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    monkeypatch.setattr(training_peer, "layer", lambda module, name: Layer)
    monkeypatch.setattr(training_peer.PeerMixer, "copy", lambda self, ours: None)
    rows = measured(TINY, CPU, peer=True, rounds=1, steps=1, warm=1)
    assert "not the same" in rows[1]["different"]


def test_without_the_peer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(SIZES, "tiny", TINY)
    monkeypatch.setattr(training_throughput, "peer_version", lambda: None)
    path = tmp_path / "a.json"
    arguments = ["--sizes", "tiny", "--device", "cpu", "--rounds", "2", "--steps", "1", "--output", str(path)]
    main(arguments)
    shown = capsys.readouterr()
    assert "is not installed: only ours is measured" in shown.err
    assert "tokens/s" in shown.out
    document = json.loads(path.read_text())
    assert [row["model"] for row in document["sizes"]["tiny"]["rows"]] == ["ours", "ours, 2 seeds"]
    assert document["fla"] is None
    with pytest.raises(SystemExit):
        main(["--sizes", "huge"])
    assert "'huge' is none of" in capsys.readouterr().err
