"""Checkpoints that are not whole, or not of their configuration: one line that names file, tensor and fix."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from mirrormata.constructions._construct import construct
from mirrormata.foundation._errors import InputError
from mirrormata.models.fla._export import fla_checkpoint
from mirrormata.models.fla._folder import load_fla, save_fla
from mirrormata.models.fla._model import FlaModel
from mirrormata.tests.cli.command_line import caller

KEY = "model.layers.0.attn.k_proj.weight"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_fla(tmp_path / "fla", fla_checkpoint(construct("S3", exactness="integer")))
    return tmp_path / "fla"


def weights(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors")


def config(folder: Path, **entries: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **entries}))


CASES: list[tuple[str, Callable[[dict[str, Any]], object], str]] = [
    ("shape", lambda t: t.update({KEY: t[KEY][:-1].clone()}), "k_proj.weight' has the shape [95, 16], its config.json asks for [96, 16]"),
    ("missing", lambda t: t.pop(KEY), f"has no tensor '{KEY}' of shape [96, 16]"),
    ("more", lambda t: t.update(extra=torch.ones(3)), "'extra' of shape [3] is no tensor of a gated_deltaproduct"),
    ("integers", lambda t: t.update({KEY: t[KEY].to(torch.int8)}), f"'{KEY}' has the type int8; float64, float32"),
    ("nan", lambda t: t[KEY].fill_(float("nan")), f"'{KEY}' has entries that are not finite"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_wrong_tensors(folder: Path, change: Callable[[dict[str, Any]], object], message: str) -> None:
    weights(folder, change)
    with pytest.raises(InputError) as refusal:
        load_fla(folder)
    assert message in str(refusal.value)
    assert str(folder) in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"model_type": "llama"}, "model_type is 'llama'"),
        ({"attn": {"layers": [0]}}, "attn is {'layers': [0]}, which is not read here"),
        ({"num_heads": None}, "num_heads is None; a whole number from 1 to 2,147,483,647 is needed"),
        ({"hidden_size": 0}, "hidden_size is 0"),
        ({"num_householder": 3}, "has the shape [96, 16], its config.json asks for [144, 16]"),
        ({"num_hidden_layers": 2}, "has no tensor 'model.layers.1."),
        ({"use_short_conv": True}, "q_conv1d.weight' of shape [48, 1, 4]"),
    ],
)
def test_wrong_configurations(folder: Path, entries: dict[str, Any], message: str) -> None:
    config(folder, **entries)
    with pytest.raises(InputError) as refusal:
        load_fla(folder)
    assert message in str(refusal.value)


def test_files_that_are_not_whole(folder: Path) -> None:
    path = folder / "model.safetensors"
    whole = path.read_bytes()
    for length in (0, 5, 100, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError, match="not a whole safetensors file"):
            load_fla(folder)
    path.unlink()
    with pytest.raises(InputError, match=r"has no model\.safetensors: save the model with save_pretrained"):
        load_fla(folder)
    (folder / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    with pytest.raises(InputError, match=r"pytorch_model\.bin: pickled weights"):
        load_fla(folder)


def test_sharded_checkpoints(folder: Path) -> None:
    _, whole = load_fla(folder)
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names = sorted(tensors)
    parts = {"a.safetensors": names[::2], "b.safetensors": names[1::2]}
    for file, own in parts.items():
        save_file({name: tensors[name] for name in own}, folder / file)
    index = folder / "model.safetensors.index.json"
    places = {name: file for file, own in parts.items() for name in own}
    index.write_text(json.dumps({"weight_map": places}))
    again = load_fla(folder)[1]
    assert set(again) == set(whole)
    assert all(np.array_equal(again[name], whole[name]) for name in whole)
    (folder / "b.safetensors").rename(folder / "c.safetensors")
    with pytest.raises(InputError, match=r"names b\.safetensors, which is not in its folder"):
        load_fla(folder)
    for text in ("{}", "[]", '{"weight_map": 3}'):
        index.write_text(text)
        with pytest.raises(InputError, match='has no "weight_map" of files'):
            load_fla(folder)
    for name in ("../y.safetensors", 3):
        index.write_text(json.dumps({"weight_map": {"x": name}}))
        with pytest.raises(InputError, match="names a file outside its folder"):
            load_fla(folder)


def test_tied_embeddings_and_tensors_of_python() -> None:
    checkpoint = fla_checkpoint(construct("parity", exactness="integer"))
    tensors = dict(checkpoint.tensors)
    del tensors["lm_head.weight"]
    tied = FlaModel({**checkpoint.config, "tie_word_embeddings": True}, tensors)
    assert tied.forward(tied.initial(1), np.array([0]))[0].shape == (1, tied.vocabulary)
    with pytest.raises(InputError, match=r"no tensor 'lm_head.weight'"):
        FlaModel(checkpoint.config, tensors)


def test_the_command_says_it_in_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    weights(folder, lambda t: t.pop(KEY))
    done = caller(capsys)("import", "fla", str(folder), "-o", str(folder.parent / "x.npz"))
    assert done.error.count("\n") <= 1
    assert "has no tensor" in done.error
    assert done.status == 2


TASKS: list[tuple[Any, str]] = [
    (None, "no such file, so nothing says which tokens are letters; write one like"),
    ({"format": "other"}, '"format" is not'),
    ({"letters": {}}, '"letters" is no object of labels and their tokens'),
    ({"letters": {"0": 0, "1": 99}}, "letters '1' has the token 99; tokens are numbers from 0 to"),
    ({"bos": -1}, "bos 'bos' has the token -1"),
    ({"answers": {"0": 3, "1": 3}}, 'two labels of "answers" have the same token'),
    ({"answers": {"x": 3, "y": 4}}, "its answers are x, y; neither states nor outputs of parity"),
    ({"letters": {"1": 1, "0": 0}}, "its letters are 1, 0, those of parity are 0, 1"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), TASKS)
def test_wrong_tasks(change: Any, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_fla(tmp_path / "fla", fla_checkpoint(construct("parity", exactness="integer")))
    path = tmp_path / "fla/task.json"
    if change is None:
        path.unlink()
    else:
        path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    done = caller(capsys)("compare", str(tmp_path / "fla"), "parity")
    assert done.status == 2
    assert message in done.error
