"""FLA's checkpoints of every type as models of ours, against FLA's own classes in float64 (`mirrormata[fla]`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from mirrormata.models._model import Block, Model
from mirrormata.models.fla._conversion import fla_tensors, read_fla_model
from mirrormata.models.fla._layer import load_layers
from mirrormata.tests.models.fla_float64 import in_float64

MODELS = pytest.importorskip("fla.models", reason="needs mirrormata[fla]")

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
SMALL = {"hidden_size": 20, "num_hidden_layers": 2, "vocab_size": 7, "initializer_range": 0.4}
CASES: list[tuple[str, dict[str, Any]]] = [
    ("DeltaNet", {"num_heads": 2, "expand_v": 1.4, "allow_neg_eigval": True, "intermediate_size": 9}),
    ("DeltaNet", {"num_heads": 2, "use_short_conv": False, "use_gate": True, "qk_activation": "elu", "qk_norm": "sum", "norm_eps": 1e-3}),
    ("DeltaNet", {"num_heads": 4, "use_beta": False, "qk_activation": "identity", "conv_size": 3, "tie_word_embeddings": True}),
    ("GatedDeltaNet", {"num_heads": 2, "num_v_heads": 4, "head_dim": 6, "expand_v": 0.5, "norm_eps": 1e-3}),
    ("GatedDeltaNet", {"num_heads": 3, "head_dim": 4, "use_gate": False, "use_short_conv": False, "allow_neg_eigval": True}),
    ("GatedDeltaProduct", {"num_heads": 2, "head_dim": 6, "expand_v": 0.5, "num_householder": 3, "use_forget_gate": True}),
    ("GatedDeltaProduct", {"num_heads": 1, "head_dim": 8, "num_householder": 2, "use_output_gate": False, "allow_neg_eigval": True, "use_short_conv": False}),
    ("GLA", {"num_heads": 4, "num_kv_heads": 2, "expand_k": 0.6, "use_short_conv": True}),
    ("GLA", {"num_heads": 2, "use_output_gate": False, "norm_eps": 1e-3}),
    ("KDA", {"num_heads": 2, "num_v_heads": 4, "head_dim": 6, "allow_neg_eigval": True}),
    ("KDA", {"num_heads": 2, "head_dim": 4, "expand_v": 1.5, "use_short_conv": False}),
    # FLA's path in plain torch gives heads to groups in turn, unlike its kernels and its decoding: so a group has one head here
    ("Mamba2", {"head_dim": 20, "state_size": 6, "n_groups": 2, "norm_eps": 1e-3}),
    ("Mamba2", {"head_dim": 5, "state_size": 4, "use_conv_bias": False, "conv_kernel": 3, "tie_word_embeddings": True}),
    ("RWKV7", {"head_dim": 10, "num_hidden_layers": 3, "decay_low_rank_dim": 3, "a_low_rank_dim": 5, "v_low_rank_dim": 2, "gate_low_rank_dim": 7}),
    ("RWKV7", {"head_dim": None, "num_heads": 5, "value_dim": 20, "fuse_norm": False, "norm_eps": 1e-3, "intermediate_size": 9, "gate_low_rank_dim": None,
               "tie_word_embeddings": True}),
]  # fmt: skip


def checkpoint(name: str, options: dict[str, Any], folder: Path) -> Any:
    """FLA's model of random weights in float64, saved as FLA saves it."""
    config = getattr(MODELS, f"{name}Config")(**{**SMALL, **options})
    torch.manual_seed(0)
    model = getattr(MODELS, f"{name}ForCausalLM")(config).double().eval()
    with torch.no_grad():
        for key, value in model.named_parameters():
            # norms, biases, rates, and what RWKV-7 begins at 0: so that none is at its first value
            if value.dim() == 1 or "conv1d" in key or name == "RWKV7":
                value.add_(0.3 * torch.randn_like(value))
    model.save_pretrained(folder)
    return model


def ours_by_layer(model: Model, tokens: Tensor) -> tuple[list[Tensor], Tensor]:
    """The stream after every block, and the logits, `[batch, tokens, ...]`."""
    seen: list[Tensor] = []
    handles = [
        block.register_forward_hook(lambda _, __, out: seen.append(out[0][0])) for block in model.blocks
    ]
    logits, _ = model(tokens[None])
    for handle in handles:
        handle.remove()
    return seen, logits[0]


@pytest.mark.parametrize(("name", "options"), CASES)
def test_round_trip(name: str, options: dict[str, Any], tmp_path: Path) -> None:
    theirs = checkpoint(name, options, tmp_path / "fla")
    ours = read_fla_model(tmp_path / "fla")
    tokens = torch.randint(7, (3, 13), generator=torch.Generator().manual_seed(1))

    # forward, layer by layer
    for module in theirs.modules():
        if module.__class__.__name__ == "Mamba2":  # its SiLU is a kernel too
            module.act = torch.nn.functional.silu
        if module.__class__.__name__ == "RWKV7FeedForward":
            module.act_fn = lambda x: torch.relu(x).square()
    with in_float64():
        found = theirs(tokens, use_cache=False, output_hidden_states=True)
    layers, logits = ours_by_layer(ours, tokens)
    assert torch.isfinite(logits).all()
    limit = 1e-6 if name == "Mamba2" else 1e-9
    last = found.hidden_states[1:-1]  # FLA's last one is after the last norm
    for mine, wanted in zip([*layers[: len(last)], logits], [*last, found.logits], strict=True):
        assert wanted.abs().max() > 1e-3
        torch.testing.assert_close(mine, wanted, rtol=limit, atol=limit)

    # token by token
    states, one_by_one = ours.initial_states(3), []
    for t in range(tokens.shape[1]):
        step, states = ours(tokens[None, :, t : t + 1], states)
        one_by_one.append(step[0])
    torch.testing.assert_close(torch.cat(one_by_one, 1), logits, rtol=1e-9, atol=1e-9)

    # bit for bit back
    config, tensors = fla_tensors(ours)
    saved = load_file(tmp_path / "fla" / "model.safetensors")
    assert set(tensors) == set(saved)
    assert all(torch.equal(value, saved[key]) for key, value in tensors.items())
    again = getattr(MODELS, f"{name}ForCausalLM")(getattr(MODELS, f"{name}Config")(**config))
    own = dict(again.named_parameters())
    assert {key: value.shape for key, value in own.items()} == {k: v.shape for k, v in tensors.items()}
    layer = load_layers()[theirs.config.model_type]
    assert layer.model_config(layer.read_entries(config, "x"), "x") == ours.config
    assert isinstance(ours.blocks[0], Block)


def test_why_rwkv7_of_one_layer_is_not_exported() -> None:
    """FLA's class divides by the number of layers less 1 for its first weights, also where weights are loaded."""
    with pytest.raises(ZeroDivisionError):
        MODELS.RWKV7ForCausalLM(MODELS.RWKV7Config(**{**SMALL, "num_hidden_layers": 1}, head_dim=10))
