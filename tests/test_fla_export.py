"""Exported FLA checkpoints: their keys, their answers in a numpy model, and what is refused."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from mirrormata.constructions.construct import construct
from mirrormata.constructions.errors import InputError
from mirrormata.constructions.formats.label_text import label_text
from mirrormata.models.fla_export import fla_checkpoint
from mirrormata.models.fla_folder import load_fla, save_fla
from mirrormata.models.fla_import import fla_task, import_head
from mirrormata.models.fla_keys import completed, four_squares, silu_pair, silu_preimage
from mirrormata.models.fla_model import FlaModel
from mirrormata.tests.command_line import caller
from mirrormata.theory.npz_model import load_npz_model

TASKS = ["parity", "S3", "S5", "S5[transpositions]", "Z2^3", "mod:3"]


def wrong_answers(name: str, dtype: str, length: int, folder: Path) -> int:
    """Of the numpy model, over four random words of an automaton's checkpoint."""
    lrnn = construct(name, exactness="integer")
    save_fla(folder / "fla", fla_checkpoint(lrnn))
    task = fla_task(folder / "fla")
    assert task is not None
    automaton = lrnn.automaton
    states = [label_text(q) for q in automaton.states]
    meaning = [-1] * task["first_class"] + [states.index(q) for q in task["states"]]
    model = FlaModel(*load_fla(folder / "fla"), dtype=dtype, bos=task["bos"], meaning=meaning)
    words = np.random.default_rng(1).integers(len(automaton.letters), size=(length, 4))
    running = model.initial(4)
    true = np.full(4, automaton.start)
    wrong = int((model.decode(running, words[0]) != true).sum())
    for letters in words:
        running = model.step(running, letters)
        true = automaton.transitions[letters, true]
        wrong += int((model.decode(running, letters) != true).sum())
    return wrong


@pytest.mark.parametrize("name", TASKS)
def test_checkpoint_answers_rightly(name: str, tmp_path: Path) -> None:
    assert wrong_answers(name, "float32", 400, tmp_path) == 0


def test_silu_pair_is_of_one_size_in_every_format() -> None:
    x, z = silu_pair()
    for dtype in (torch.bfloat16, torch.float16):
        plus, minus = (F.silu(torch.tensor(y, dtype=torch.float32).to(dtype)) for y in (x, z))
        assert plus == -minus
    assert float(F.silu(torch.tensor([x, z])).sum()) == pytest.approx(0, abs=1e-7)
    assert silu_preimage(0.25) * torch.sigmoid(torch.tensor(silu_preimage(0.25)).double()) == pytest.approx(
        0.25
    )


def test_keys_are_exact_halves_in_bf16_and_fp16(tmp_path: Path) -> None:
    save_fla(tmp_path / "x", fla_checkpoint(construct("S3", exactness="integer")))
    weight = load_fla(tmp_path / "x")[1]["model.layers.0.attn.k_proj.weight"]
    for dtype in (torch.bfloat16, torch.float16):
        keys = F.silu((torch.from_numpy(weight) * weight.shape[1] ** 0.5).to(dtype)).float().T
        keys = keys.reshape(-1, 16)
        keys = (keys / (keys.square().sum(-1, keepdim=True) + 1e-6).sqrt()).to(dtype).double()
        assert set(keys[:-6].abs().flatten().tolist()) <= {0, 0.5, 1 / 8, 2 / 8, 3 / 8, 6 / 8}
        strengths = load_fla(tmp_path / "x")[1]["model.layers.0.attn.b_proj.weight"] * weight.shape[1] ** 0.5
        beta = 2 * torch.from_numpy(strengths).to(dtype).sigmoid()
        assert set(beta.flatten().tolist()) == {0.0, 1.0, 2.0}
        lengths = keys.square().sum(-1)
        assert set(lengths.tolist()) == {0.0, 1.0}


@pytest.mark.parametrize("n", range(60))
def test_four_squares(n: int) -> None:
    assert sum(i * i for i in four_squares(n)) == n
    column = completed(np.array([1.0, 2.0, n]), 4, "x")
    exponent = math.log2(float(column @ column)) / 2
    assert exponent == round(exponent)


def test_others_are_refused() -> None:
    for spec, text in (("flipflop", "gate or adds"), ("S4", "whose unit keys are exact")):
        with pytest.raises(InputError, match=text):
            fla_checkpoint(construct(spec, exactness="integer"))


def test_a_head_comes_back_as_matrices(tmp_path: Path) -> None:
    lrnn = construct("S3", exactness="integer")
    save_fla(tmp_path / "x", fla_checkpoint(lrnn))
    head = import_head(tmp_path / "x")
    head.write(tmp_path / "x.npz")
    model = load_npz_model(tmp_path / "x.npz")
    assert head.spread == 0
    assert model.letters == tuple(label_text(x) for x in lrnn.automaton.letters)
    names = [label_text(q) for q in lrnn.automaton.states]
    word = np.random.default_rng(2).integers(len(names), size=200)
    H, state = model.H0, lrnn.automaton.start
    for x in word:
        H, state = model.A[x] @ H + model.B[x], lrnn.automaton.transitions[x, state]
        code = int(((model.codes - H) ** 2).sum((1, 2)).argmin())
        assert model.outputs is not None
        assert model.outputs[model.decode[code, x]] == names[state]


def test_pickled_and_foreign_folders_are_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "delta_net"}))
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    with pytest.raises(InputError, match="pickled weights"):
        load_fla(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"cut")
    with pytest.raises(InputError, match="not a whole safetensors file"):
        load_fla(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "llama"}))
    with pytest.raises(InputError, match="'llama'"):
        load_fla(tmp_path)


def test_configurations_that_are_not_read_are_refused() -> None:
    checkpoint = fla_checkpoint(construct("parity", exactness="integer"))
    tensors = {name: value.astype(np.float64) for name, value in checkpoint.tensors.items()}
    with pytest.raises(InputError, match="attn"):
        FlaModel({**checkpoint.config, "attn": {"layers": [0]}}, tensors)
    with pytest.raises(InputError, match="no num_heads"):
        FlaModel({**checkpoint.config, "num_heads": None}, tensors)
    del tensors["lm_head.weight"]
    with pytest.raises(InputError, match=r"no tensor 'lm_head.weight'"):
        FlaModel(checkpoint.config, tensors)


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = caller(capsys)
    certificate, folder, matrices = (str(tmp_path / n) for n in ("c.json", "fla", "x.npz"))
    run("construct", "parity", "-o", certificate)
    assert run("export", "fla", certificate, "-o", folder, "--json").json["model_type"] == "delta_net"
    assert run("import", "fla", folder, "-o", matrices, "--json").json["letters"] == ["0", "1"]
    assert run("prove", matrices, "parity", "--json").json["verdict"] == "equivalent"
    assert "counted from 0" in run("import", "fla", folder, "-o", matrices, "--head", "9").error
