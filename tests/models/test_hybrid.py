"""The first recurrent layers of Qwen3-Next and OLMo-Hybrid checkpoints, against transformers' own classes in float64 (`mirrormata[fla]`)."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from mirrormata.foundation._errors import InputError
from mirrormata.models._model import Model
from mirrormata.models._model_file import load_model, read_model_config
from mirrormata.models.audit._weights import audit_weights
from mirrormata.models.fla._conversion import import_hybrid
from mirrormata.models.fla._hybrid import read_hybrid
from mirrormata.tests.cli.command_line import Outcome
from mirrormata.tests.models.fla_float64 import Wide

TRANSFORMERS = pytest.importorskip("transformers", reason="needs mirrormata[fla]")
SMALL: dict[str, Any] = {
    "vocab_size": 9, "hidden_size": 20, "intermediate_size": 12, "num_hidden_layers": 5, "num_attention_heads": 2,
    "num_key_value_heads": 1, "linear_key_head_dim": 6, "linear_value_head_dim": 5, "linear_num_key_heads": 2, "rms_norm_eps": 1e-3,
    "bos_token_id": None, "eos_token_id": None, "pad_token_id": None,
}  # fmt: skip
QWEN: dict[str, Any] = {
    **SMALL, "linear_num_value_heads": 6, "head_dim": 8, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 6,
    "shared_expert_intermediate_size": 7,
}  # fmt: skip
KINDS = ["linear_attention", "linear_attention", "full_attention", "linear_attention", "full_attention"]
CASES: list[tuple[str, dict[str, Any], int, str]] = [
    ("Qwen3Next", QWEN, 1, "the mixer of layer 0 of 5; left out: the layer's experts and the 4 layers behind (1 of attention)."),
    ("Qwen3Next", {**QWEN, "mlp_only_layers": [0, 1, 2, 3, 4], "linear_conv_kernel_dim": 3, "tie_word_embeddings": True}, 3,
     "layers 0 to 2 of 5; left out: the 2 layers behind (1 of attention)."),
    ("Qwen3Next", {**QWEN, "num_experts": 0, "layer_types": KINDS}, 2, "layers 0 to 1 of 5; left out: the 3 layers behind (2 of attention)."),
    ("OlmoHybrid", {**SMALL, "linear_num_value_heads": 4}, 3, "layers 0 to 2 of 5"),
    ("OlmoHybrid", {**SMALL, "linear_num_value_heads": 2, "linear_allow_neg_eigval": False, "layer_types": KINDS}, 2, "layers 0 to 1 of 5"),
]  # fmt: skip


@contextmanager
def wide(kind: str) -> Iterator[None]:
    """Within it transformers' code of this model type has all that it takes to float32 in float64, and no kernels."""
    module = import_module(f"transformers.models.{kind}.modeling_{kind}")
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(module, "torch", Wide()))
        for name in ("torch_chunk_gated_delta_rule", "torch_recurrent_gated_delta_rule", "causal_conv1d_fn"):
            stack.enter_context(mock.patch.object(module, name, inspect.unwrap(getattr(module, name))))
        stack.enter_context(mock.patch.object(torch.Tensor, "float", torch.Tensor.double))
        yield


def checkpoint(name: str, options: dict[str, Any], folder: Path) -> Any:
    """A model of random weights in float64, saved as transformers saves it."""
    torch.manual_seed(0)
    config = getattr(TRANSFORMERS, f"{name}Config")(**options)
    model = getattr(TRANSFORMERS, f"{name}ForCausalLM")(config).double().eval()
    with torch.no_grad():
        for value in model.parameters():
            value.add_(0.3 * torch.randn_like(value))
    model.save_pretrained(folder)
    return model


def task(folder: Path) -> None:
    given = {
        "format": "mirrormata-fla/1",
        "letters": {"0": 4, "1": 7},
        "bos": 2,
        "answers": {"0": 3, "1": [5, 8]},
    }
    (folder / "task.json").write_text(json.dumps({**given, "task": {"spec": "parity"}}))


def streams(model: Model, tokens: Tensor) -> list[Tensor]:
    """What every block leaves."""
    seen: list[Tensor] = []
    handles = [
        block.register_forward_hook(lambda _, __, out: seen.append(out[0][0])) for block in model.blocks
    ]
    model(tokens[None])
    for handle in handles:
        handle.remove()
    return seen


@pytest.mark.parametrize(("name", "options", "layers", "said"), CASES)
def test_layers_are_those_of_transformers(
    name: str, options: dict[str, Any], layers: int, said: str, tmp_path: Path
) -> None:
    theirs = checkpoint(name, options, tmp_path)
    part = read_hybrid(tmp_path)
    assert part.layers == part.model.config.layers == layers
    assert part.text.startswith(said)
    tokens = torch.randint(9, (3, 70), generator=torch.Generator().manual_seed(1))  # more than a chunk of 64
    mixers: list[Tensor] = []
    for layer in theirs.model.layers:
        if hasattr(layer.mlp, "experts"):  # which run in no float64, and are left out
            layer.mlp.forward = torch.zeros_like
    for layer in theirs.model.layers[:layers]:
        layer.linear_attn.register_forward_hook(lambda _, __, out: mixers.append(out))
    with wide(theirs.config.model_type), torch.no_grad():
        found = theirs(tokens, use_cache=False, output_hidden_states=True).hidden_states
    ours: list[Tensor] = []
    blocks: Any = part.model.blocks
    for block in blocks:
        block.mixer.register_forward_hook(lambda _, __, out: ours.append(out[0][0]))
    with torch.no_grad():
        after = streams(part.model, tokens)
    for mine, wanted in zip(ours, mixers, strict=True):
        assert wanted.abs().max() > 1e-2
        torch.testing.assert_close(mine, wanted, rtol=1e-9, atol=1e-9)
    if part.model.config.mlp:
        for mine, wanted in zip(after, found[1 : layers + 1], strict=True):
            torch.testing.assert_close(mine, wanted, rtol=1e-9, atol=1e-9)
    else:
        torch.testing.assert_close(after[0], found[0] + mixers[0], rtol=1e-9, atol=1e-9)
    first: Any = read_hybrid(tmp_path, 1).model.blocks[0]
    assert torch.equal(first.mixer.query.linear.weight, blocks[0].mixer.query.linear.weight)


def test_a_part_is_called_a_part(tmp_path: Path, call: Callable[..., Outcome]) -> None:
    checkpoint("OlmoHybrid", {**SMALL, "linear_num_value_heads": 4}, tmp_path / "olmo")
    task(tmp_path / "olmo")
    model = str(tmp_path / "model")
    done = call("import", "hybrid", str(tmp_path / "olmo"), "--layers", "2", "-o", model)
    assert done.status == 0, done.error
    assert "layers 0 to 1 of 5" in " ".join(done.out.split())
    written = read_model_config(tmp_path / "model" / "config.json")
    assert written.part.startswith(
        "of olmo_hybrid: layers 0 to 1 of 5; left out: the 3 layers behind (1 of attention)"
    )
    read, _ = load_model(model)
    assert read.config.tokens == (4, 7, 2)
    tested = call("eval", model, "--lengths", "8", "--words", "4")
    assert "The model is a part of olmo_hybrid: layers 0 to 1 of 5" in " ".join(tested.out.split())
    assert call("eval", model, "--lengths", "8", "--words", "4", "--json").json["part"] == written.part
    short = ("--words", "16", "--length", "16", "--fit", "16", "--extract", "exact", "--json")
    assert any(
        "a part of olmo_hybrid" in note for note in call("compare", model, "parity", *short).json["notes"]
    )
    found = call("audit", model, "--words", "2", "--length", "40", "--json")
    assert "A part of olmo_hybrid" in found.json["text"]
    refused = call("spectrum", model)
    assert refused.status == 2
    assert "2 layers and a short convolution" in " ".join(refused.error.split())
    assert "`mirrormata audit`" in " ".join(refused.error.split()) or "`audit`" in refused.error


def test_an_audit_of_the_checkpoint_measures_its_own_transitions(tmp_path: Path) -> None:
    theirs = checkpoint("Qwen3Next", QWEN, tmp_path)
    words = np.random.default_rng(0).integers(9, size=(2, 40))
    found = audit_weights(str(tmp_path), words, products=[1])
    assert "A part of qwen3_next: the mixer of layer 0 of 5" in found.text
    mixer = theirs.model.layers[0].linear_attn
    with torch.no_grad(), wide("qwen3_next"):
        x = theirs.model.layers[0].input_layernorm(theirs.model.embed_tokens(torch.from_numpy(words)))
        b = mixer.fix_query_key_value_ordering(mixer.in_proj_qkvz(x), mixer.in_proj_ba(x))[4]
    strengths = found.layers[0].all.strength
    assert strengths is not None
    assert strengths.largest == pytest.approx(float(b.sigmoid().max()), rel=1e-4)  # keys are short by FLA's ε
    task(tmp_path)
    assert "uniform random words" in audit_weights(str(tmp_path), words=1, length=30, products=[1]).text


BROKEN: list[tuple[str, Any, str]] = [
    ("layer_types", ["full_attention", *["linear_attention"] * 4], "layer 0 is attention"),
    ("layer_types", ["linear_attention"] * 4, "layer_types has 4 entries, and num_hidden_layers is 5"),
    ("layer_types", ["mamba"] * 5, "layer_types is ['mamba', 'mamba', 'mamba', 'mamba', 'mamba']; supported is null, or a list"),
    ("linear_num_value_heads", 3, "linear_num_value_heads 3 must be a multiple of linear_num_key_heads 2"),
    ("linear_num_value_heads", "6", "linear_num_value_heads is '6'; supported is a whole number from 1"),
    ("linear_conv_kernel_dim", 1, "linear_conv_kernel_dim is 1; supported is a whole number from 2"),
    ("hidden_act", "gelu", "hidden_act is 'gelu'; supported is 'silu'"),
    ("linear_key_headdim", 3, "linear_key_headdim is 3, and no entry of qwen3_next that is known; did you mean 'linear_key_head_dim'?"),
    ("mlp_only_layers", [7], "mlp_only_layers names layer 7, of 5 from 0"),
    ("mlp_only_layers", [-1], "mlp_only_layers is [-1]; supported is null, or a list"),
    ("linear_key_head_dim", 7, "'model.layers.0.linear_attn.in_proj_qkvz.weight' has the shape [84, 20], its config.json asks for [88, 20]"),
    ("tie_word_embeddings", True, "tie_word_embeddings is true, but 'lm_head.weight' is not 'model.embed_tokens.weight'"),
    ("num_experts", 0, "'model.layers.0.mlp.gate_proj.weight'"),
    ("rms_norm_eps", None, "rms_norm_eps is null"),
    ("model_type", "llama", "model_type is 'llama'; read are qwen3_next and olmo_hybrid"),
]  # fmt: skip


@pytest.fixture(scope="module")
def qwen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("qwen")
    checkpoint("Qwen3Next", QWEN, folder)
    return folder


@pytest.mark.parametrize(("entry", "value", "said"), BROKEN)
def test_a_broken_configuration(entry: str, value: Any, said: str, qwen: Path, tmp_path: Path) -> None:
    config = json.loads((qwen / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, entry: value}))
    (tmp_path / "model.safetensors").symlink_to(qwen / "model.safetensors")
    with pytest.raises(InputError) as caught:
        read_hybrid(tmp_path)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_broken_weights_and_missing_shards(qwen: Path, tmp_path: Path, call: Callable[..., Outcome]) -> None:
    (tmp_path / "config.json").write_text((qwen / "config.json").read_text())
    whole = load_file(qwen / "model.safetensors")
    ours = {name for name in whole if "layers" not in name or (".0." in name and ".mlp." not in name)}
    files = {name: f"{'a' if name in ours else 'b'}.safetensors" for name in whole}
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": files}))
    save_file({name: whole[name] for name in ours}, tmp_path / "a.safetensors")
    part = read_hybrid(tmp_path)  # the other file need not be there
    for name, value in read_hybrid(qwen).model.state_dict().items():
        assert torch.equal(value, part.model.state_dict()[name])

    mixer = "model.layers.0.linear_attn"
    for changed, said in (
        ({f"{mixer}.A_log": None}, f"has no tensor '{mixer}.A_log' of shape [6]"),
        ({f"{mixer}.A_log": torch.ones(6, 1)}, "has the shape [6, 1]"),
        ({f"{mixer}.A_log": torch.full((6,), float("nan"))}, "not finite"),
        ({f"{mixer}.A_log": torch.ones(6, dtype=torch.int64)}, "has the type int64"),
        ({f"{mixer}.bias": torch.ones(2)}, f"'{mixer}.bias' of shape [2] is no tensor of a qwen3_next"),
    ):
        broken = {**{name: whole[name] for name in ours}, **changed}
        save_file({name: x for name, x in broken.items() if x is not None}, tmp_path / "a.safetensors")
        with pytest.raises(InputError) as caught:
            read_hybrid(tmp_path)
        assert said in str(caught.value)
        assert "\n" not in str(caught.value)
    index.unlink()
    (tmp_path / "pytorch_model.bin").write_bytes(b"")
    refused = call("import", "hybrid", str(tmp_path), "-o", str(tmp_path / "out"))
    assert refused.status == 2
    assert "pickled" in refused.error
    refused = call("import", "hybrid", str(qwen), "--layers", "2", "-o", str(tmp_path / "out"))
    assert refused.status == 2
    assert "--layers 2: from 1 to 1 can be read, since layer 0 has a mixture of experts" in " ".join(
        refused.error.split()
    )
    refused = call("import", "fla", str(qwen), "--model", "-o", str(tmp_path / "out"))
    assert "import hybrid" in " ".join(refused.error.split())


def test_a_checkpoint_without_a_task(qwen: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing says which tokens are letters"):
        import_hybrid(qwen, tmp_path / "x")
