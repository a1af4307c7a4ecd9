"""Trained models as FLA checkpoints, FLA checkpoints as model folders, and what is refused; without FLA."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from mirrormata.foundation._errors import InputError
from mirrormata.models._config import ModelConfig
from mirrormata.models._evaluation_file import evaluate_folder
from mirrormata.models._model import Model
from mirrormata.models._model_file import load_model, save_model
from mirrormata.models._sources import prove
from mirrormata.models.fla._conversion import (
    fla_tensors,
    import_model,
    read_fla_model,
    trained_checkpoint,
)
from mirrormata.models.fla._equivalent import as_fla_wiring
from mirrormata.models.fla._folder import load_fla, save_fla
from mirrormata.models.fla._layer import load_layers
from mirrormata.models.fla._model import FlaModel
from mirrormata.models.tasks._automaton import AutomatonTask
from mirrormata.models.tasks._task import TaskSettings
from mirrormata.tests.cli.command_line import Outcome

TASK = AutomatonTask(TaskSettings(spec="S3[transpositions]", bos=True, labels="state"))
SIZES: dict[str, Any] = {
    "width": 20, "heads": 3, "head_dim": 4, "value_dim": 6, "layers": 2, "letters": TASK.letters, "classes": TASK.classes,
    "head_bias": False,
}  # fmt: skip
WIRED: dict[str, dict[str, Any]] = {
    "fla_delta_net": {}, "fla_gated_deltaproduct": {"householders": 2, "gated": True},
    "fla_gla": {"range": (0, 1), "options": {"key_heads": 1}},
    "fla_rwkv7": {"range": (0, 1), "heads": 5, "value_dim": 4, "options": {"decay_rank": 3, "gate_rank": 2, "norm_eps": 1e-6}},
}  # fmt: skip


def random_model(**entries: Any) -> Model:
    """A model in which no weight has its first value."""
    model = Model(ModelConfig(**{**SIZES, **entries}), [5])
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for value in model.parameters():
            value.copy_(torch.randn(value.shape, generator=generator) * 0.5)
    return model


def folder_of(model: Model, place: Path) -> Path:
    save_model(place, model, TASK.contract((3, 9), ("16",)).as_json())
    return place


PLAIN: list[dict[str, Any]] = [
    {},
    {"householders": 3, "gated": True, "conv": 4, "output_gate": True, "range": (0, 1)},
    {"key_activation": "none", "mlp": 0, "conv": 2, "norm_eps": 1e-4},
]


@pytest.mark.parametrize("entries", PLAIN)
def test_deltaproduct_in_flas_wiring(entries: dict[str, Any], tmp_path: Path) -> None:
    """What differs is FLA's ε beside the lengths of keys alone: without it, both compute the same."""
    model = random_model(**entries).double()
    wired = as_fla_wiring(model)
    for block in wired.blocks:
        mixer: Any = block.mixer
        entries_of = {name: getattr(wired.config, name) for name in ModelConfig.__struct_fields__}
        mixer.config = ModelConfig(**{**entries_of, "options": {**wired.config.options, "key_eps": 0.0}})
    words = torch.randint(SIZES["letters"], (1, 5, 30), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        mine, theirs = model(words)[0], wired(words)[0]
    assert mine.abs().max() > 1
    torch.testing.assert_close(theirs[..., : SIZES["classes"]], mine, rtol=1e-5, atol=1e-5)  # β in float32

    # the checkpoint, read by the reader in numpy, computes what the wired model does, with ε
    made, difference = trained_checkpoint(folder_of(random_model(**entries), tmp_path / "own"))
    assert 0 < difference < 0.5
    save_fla(tmp_path / "fla", made)
    numpy_model = FlaModel(*load_fla(tmp_path / "fla"))
    again = read_fla_model(tmp_path / "fla").double()
    logits = again(words)[0][0].detach().numpy()
    states = numpy_model.initial(5)
    for t in range(30):
        found, states, _ = numpy_model.forward(states, words[0, :, t].numpy())
        np.testing.assert_allclose(found, logits[:, t], rtol=1e-9, atol=1e-9)
    assert made.task.bos == 3
    assert list(made.task.letters.values()) == [0, 1, 2]


@pytest.mark.parametrize("family", WIRED)
def test_folder_of_a_wired_family_and_back(family: str, tmp_path: Path) -> None:
    model = random_model(family=family, **ONE_VOCABULARY, **WIRED[family])
    own = folder_of(model, tmp_path / "own")
    made, difference = trained_checkpoint(own)
    assert difference == 0
    save_fla(tmp_path / "fla", made)
    again, task = import_model(tmp_path / "fla", tmp_path / "again")
    assert again.config == model.config
    assert all(torch.equal(value, again.state_dict()[name]) for name, value in model.state_dict().items())
    assert task.automaton.name == TASK.automaton.name
    second, _ = trained_checkpoint(tmp_path / "again")
    assert second.config == made.config
    assert second.task == made.task
    assert all((second.tensors[name] == value).all() for name, value in made.tensors.items())

    tested = [evaluate_folder(folder, lengths=[12], words=20) for folder in (own, tmp_path / "again")]
    assert tested[0].rows()[1][1:] == tested[1].rows()[1][1:]
    proof = prove(str(tmp_path / "again"), "S3[transpositions]", "kernel:recurrent:fp64", max_states=50)
    assert proof.verdict == "counterexample"


def test_commands(tmp_path: Path, call: Callable[..., Outcome]) -> None:
    own, checkpoint, model = (str(tmp_path / name) for name in ("own", "fla", "model"))
    folder_of(random_model(layers=1), tmp_path / "own")
    found = call("export", "fla", own, "-o", checkpoint, "--json").json
    assert found["model_type"] == "delta_net"
    assert found["difference"] < 0.5
    done = call("import", "fla", checkpoint, "--model", "-o", model, "--json")
    assert done.json["family"] == "fla_delta_net"
    short = ("--words", "16", "--length", "16", "--fit", "16", "--extract", "exact", "--json")
    assert call("compare", model, "S3[transpositions]", *short).status == 0
    done = call(
        "train", "S3[transpositions]", "--from", model, "--set", "task.bos=true", "--set", "train.steps=2", "--set",
        "train.batch=4", "--set", "train.lengths=[3,5]", "--set", "eval.lengths=[6]", "--device", "cpu", "-o", str(tmp_path / "run"),
    )  # fmt: skip
    assert done.status == 0, done.error
    trained, _ = load_model(tmp_path / "run" / "seed-0")
    assert trained.config.family == "fla_delta_net"
    assert "--model" in call("import", "fla", checkpoint, "--spec", "S3", "-o", str(tmp_path / "x")).error
    assert "--tokens" in call("import", "fla", checkpoint, "--model", "--tokens", "1", "-o", model).error


ONE_VOCABULARY: dict[str, Any] = {"tokens": (4, 2, 0, 5), "meaning": (0, 1, 2, 3, 4, 5)}
RWKV7: dict[str, Any] = {"family": "fla_rwkv7", **WIRED["fla_rwkv7"], **ONE_VOCABULARY}
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"strength": "direct"}, "strength is 'direct'"),
    ({"strength": "hard_sigmoid"}, "strength is 'hard_sigmoid'"),
    ({"initial": "learned"}, "initial is 'learned'"),
    ({"additive": False, "initial": "learned"}, "additive is false"),
    ({"head_bias": True}, "head_bias is true"),
    ({"output_norm": False}, "output_norm is false"),
    ({"key_norm": False}, "key_norm is false"),
    ({"norm": False}, "norm is false"),
    ({"norm_eps": 0.0}, "norm_eps is 0"),
    ({"residual": False}, "residual is false"),
    ({"key_activation": "none", "householders": 2}, "key_activation is 'none'"),
    ({"family": "rwkv7_like"}, "family is rwkv7_like"),
    ({"family": "lstm"}, "family is lstm"),
    ({"family": "rwkv7"}, "family is rwkv7"),
    ({**RWKV7, "range": (-1, 1)}, "range is (-1, 1)"),
    ({**RWKV7, "value_dim": 6}, "value_dim 6, must be width 20"),
    ({**RWKV7, "layers": 1}, "at least 2 of both"),
    ({**RWKV7, "mlp": 0}, "mlp is 0"),
    ({**RWKV7, "options": {"norm_eps": 1e-3}}, "options.norm_eps is 0.001"),
    ({**RWKV7, "options": {"norm_eps": 1e-6, "key_eps": 1e-3}}, "options.key_eps is 0.001"),
    ({"family": "fla_gla", "range": (0, 1), "mlp": 0, **ONE_VOCABULARY}, "mlp is 0"),
]


@pytest.mark.parametrize(("entries", "named"), REFUSED)
def test_what_fla_does_not_have_is_named(entries: dict[str, Any], named: str, tmp_path: Path) -> None:
    own = folder_of(random_model(**entries), tmp_path / "own")
    with pytest.raises(InputError) as caught:
        trained_checkpoint(own)
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)


def wired_folder(tmp_path: Path) -> Path:
    made, _ = trained_checkpoint(folder_of(random_model(layers=1, conv=3), tmp_path / "own"))
    save_fla(tmp_path / "fla", made)
    return tmp_path / "fla"


@pytest.mark.parametrize(
    ("entry", "value", "said"),
    [
        ("use_shortconv", True, "use_shortconv is true, and no entry of delta_net that is known; did you mean 'use_short_conv'?"),
        ("rope_theta", 1.0, "rope_theta is 1.0, and no entry of delta_net that is known; read are"),
        ("attn", {"layers": [0]}, "attn is {'layers': [0]}; supported is null"),
        ("hidden_act", "powlu", "hidden_act is 'powlu'; supported is 'swish'"),
        ("use_gate", "false", "use_gate is 'false'; supported is true or false"),
        ("num_heads", 2.0, "num_heads is 2.0; supported is a whole number from 1"),
        ("num_heads", 5, "no multiple of num_heads 5"),
        ("conv_bias", True, "conv_bias is true; supported is false"),
        ("model_type", "transformer", "model_type is 'transformer'"),
    ],
)  # fmt: skip
def test_unknown_and_unsupported_entries(entry: str, value: Any, said: str, tmp_path: Path) -> None:
    folder = wired_folder(tmp_path)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, entry: value}))
    with pytest.raises(InputError) as caught:
        read_fla_model(folder)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("entry", "value", "said"),
    [
        ("norm_first", False, "norm_first is false; supported is true"),
        ("hidden_act", "relu", "hidden_act is 'relu'; supported is 'sqrelu'"),
        ("value_dim", [20, 40], "value_dim is [20, 40]; read is hidden_size 20, for all 2 layers"),
        ("value_dim", [True, 20], "value_dim is [True, 20]; supported is null, a whole number from 1, or one for each layer"),
        ("num_heads", 4, "hidden_size 20 must be num_heads 4 times head_dim 4"),
        ("head_dim", 3, "hidden_size 20 must be num_heads 5 times head_dim 3"),
        ("decay_low_rank_dim", 4, "'model.layers.0.attn.w_lora.lora.0.weight' has the shape [3, 20], its config.json asks for [4, 20]"),
        ("num_hidden_layers", 3, "value_dim is [20, 20]; read is hidden_size 20, for all 3 layers"),
        ("fuse_norm", "yes", "fuse_norm is 'yes'; supported is true or false"),
    ],
)  # fmt: skip
def test_a_broken_checkpoint_of_rwkv7(entry: str, value: Any, said: str, tmp_path: Path) -> None:
    made, _ = trained_checkpoint(folder_of(random_model(**RWKV7), tmp_path / "own"))
    config = {**made.config, entry: value}
    save_fla(tmp_path / "fla", replace(made, config=config))
    with pytest.raises(InputError) as caught:
        read_fla_model(tmp_path / "fla")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_sharded_narrow_and_broken_weights(tmp_path: Path) -> None:
    folder = wired_folder(tmp_path)
    whole = folder / "model.safetensors"
    tensors = {name: value.bfloat16() for name, value in load_file(whole).items()}
    names = sorted(tensors)
    parts = {"a.safetensors": names[::2], "b.safetensors": names[1::2]}
    whole.unlink()
    for file, own in parts.items():
        save_file({name: tensors[name] for name in own}, folder / file)
    index = {"weight_map": {name: file for file, own in parts.items() for name in own}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    _, read = fla_tensors(read_fla_model(folder))
    assert all(torch.equal(read[name], value.float()) for name, value in tensors.items())

    name = names[-1]
    for broken, said in (
        ({k: v for k, v in tensors.items() if k != name}, f"has no tensor {name!r}"),
        ({**tensors, name: tensors[name][..., :-1].contiguous()}, f"{name!r} has the shape"),
        ({**tensors, "more": torch.ones(2)}, "'more' of shape [2] is no tensor"),
        ({**tensors, name: tensors[name] * float("nan")}, "not finite"),
    ):
        save_file(broken, whole)
        with pytest.raises(InputError, match=said.replace("[", r"\[")):
            read_fla_model(folder)
    for path in (whole, folder / "model.safetensors.index.json"):
        path.unlink()
    (folder / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(InputError, match="pickled"):
        read_fla_model(folder)


def test_tied_weights_that_differ(tmp_path: Path) -> None:
    folder = wired_folder(tmp_path)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "tie_word_embeddings": True}))
    with pytest.raises(InputError, match="tie_word_embeddings"):
        read_fla_model(folder)


def test_a_task_without_an_automaton(tmp_path: Path) -> None:
    folder = wired_folder(tmp_path)
    task = json.loads((folder / "task.json").read_text())
    (folder / "task.json").write_text(json.dumps({k: v for k, v in task.items() if k != "task"}))
    with pytest.raises(InputError, match="names no automaton"):
        import_model(folder, tmp_path / "x")
    with pytest.raises(InputError, match="letters"):
        import_model(folder, tmp_path / "x", spec="parity")
    import_model(folder, tmp_path / "x", spec="S3[transpositions]")


def test_every_type_says_which_family_it_is() -> None:
    assert list(load_layers()) == [
        "delta_net",
        "gated_deltanet",
        "gated_deltaproduct",
        "gla",
        "kda",
        "mamba2",
        "rwkv7",
    ]
