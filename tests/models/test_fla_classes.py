"""FLA's own classes load exported checkpoints and answer rightly, on a CPU with its naive functions (`mirrormata[fla]`)."""

from __future__ import annotations

import inspect
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from mirrormata.constructions._construct import construct
from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions.automata._labels import label_text
from mirrormata.models.fla._export import fla_checkpoint
from mirrormata.models.fla._folder import load_fla, save_fla
from mirrormata.models.fla._model import FlaModel
from mirrormata.tests.models.fla_reference import load, on_cpu

MODELS = pytest.importorskip("fla.models", reason="needs mirrormata[fla]")


@pytest.mark.parametrize("mode", ["chunk", "fused_recurrent"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", ["parity", "S3", "S5", "S5[transpositions]", "S4", "Z60", "flipflop", "T2"])
def test_fla_answers_rightly(name: str, dtype: torch.dtype, mode: str, tmp_path: Path) -> None:
    lrnn = construct(name, exactness="integer")
    checkpoint = fla_checkpoint(lrnn)
    save_fla(tmp_path / "fla", checkpoint)
    model = load(str(tmp_path / "fla"), dtype, attn_mode=mode)
    automaton, task = lrnn.automaton, checkpoint.task
    words = np.random.default_rng(3).integers(len(automaton.letters), size=(4, 100))
    tokens = np.concatenate([np.full((4, 1), task.bos), words], 1)
    with on_cpu(), torch.no_grad():
        best = model(torch.from_numpy(tokens), use_cache=False).logits.argmax(-1).numpy()
    token = np.array([task.answers[label_text(q)] for q in automaton.states])
    for word, answers in zip(words, best, strict=True):
        assert answers[0] == token[automaton.start]
        assert (answers[1:] == token[automaton.trace(word)]).all()


@pytest.mark.parametrize("name", ["A5", "mod:5"])
def test_irrational_mirrors_in_float32(name: str, tmp_path: Path) -> None:
    lrnn = construct(name)
    assert isinstance(lrnn, LRNN)
    checkpoint = fla_checkpoint(lrnn)
    save_fla(tmp_path / "fla", checkpoint)
    model = load(str(tmp_path / "fla"), torch.float32, attn_mode="fused_recurrent")
    word = np.random.default_rng(3).integers(len(lrnn.automaton.letters), size=200)
    with on_cpu(), torch.no_grad():
        tokens = torch.from_numpy(np.concatenate([[checkpoint.task.bos], word])[None])
        best = model(tokens, use_cache=False).logits[0, 1:].argmax(-1).numpy()
    token = np.array([checkpoint.task.answers[label_text(q)] for q in lrnn.automaton.states])
    assert (best == token[lrnn.automaton.trace(word)]).all()


OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("DeltaNet", {"use_short_conv": False, "allow_neg_eigval": True}),
    ("DeltaNet", {"use_short_conv": True, "use_gate": True, "expand_v": 2.0}),
    ("DeltaNet", {"use_short_conv": False, "qk_activation": "elu", "qk_norm": "sum"}),
    ("GatedDeltaProduct", {"use_short_conv": False, "use_output_gate": False, "num_householder": 3, "allow_neg_eigval": True}),
    ("GatedDeltaProduct", {"use_forget_gate": True, "num_householder": 2, "expand_v": 0.5}),
]  # fmt: skip


@pytest.mark.parametrize(("family", "options"), OPTIONS)
def test_numpy_model_is_flas(family: str, options: dict[str, Any], tmp_path: Path) -> None:
    modules = import_module("fla.modules")
    config = getattr(MODELS, f"{family}Config")(
        hidden_size=32, num_heads=2, head_dim=16, num_hidden_layers=2, vocab_size=11, intermediate_size=24,
        initializer_range=0.5, **options,
    )  # fmt: skip
    torch.manual_seed(0)
    model = getattr(MODELS, f"{family}ForCausalLM")(config).eval()
    model.save_pretrained(tmp_path / "x")
    ours = FlaModel(*load_fla(tmp_path / "x"))
    tokens = np.random.default_rng(0).integers(11, size=(3, 70))

    def conv(self: Any, x: torch.Tensor, **_: Any) -> tuple[torch.Tensor, None]:
        y = F.conv1d(
            x.transpose(1, 2), self.weight, self.bias, padding=self.weight.shape[-1] - 1, groups=x.shape[-1]
        )
        return F.silu(y[..., : x.shape[1]].transpose(1, 2)), None

    def gated(self: Any, x: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = x * (x.square().mean(-1, keepdim=True) + self.eps).rsqrt() * self.weight
        return y * F.silu(g)

    with pytest.MonkeyPatch.context() as patch, on_cpu(), torch.no_grad():
        patch.setattr(modules.ShortConvolution, "forward", conv)
        patch.setattr(modules.FusedRMSNormGated, "forward", gated)
        theirs = model(torch.from_numpy(tokens), use_cache=False).logits.numpy()
    states = ours.initial(3)
    for t in range(tokens.shape[1]):
        logits, states, _ = ours.forward(states, tokens[:, t])
        np.testing.assert_allclose(logits, theirs[:, t], rtol=2e-3, atol=2e-3)


def test_config_names_only_options_of_fla() -> None:
    for name in ("parity", "S3"):
        config = json.loads(json.dumps(fla_checkpoint(construct(name, exactness="integer")).config))
        family = {"delta_net": "DeltaNet", "gated_deltaproduct": "GatedDeltaProduct"}[config["model_type"]]
        known = inspect.signature(getattr(MODELS, f"{family}Config")).parameters
        assert set(config) - set(known) <= {"architectures", "model_type", "dtype"}
