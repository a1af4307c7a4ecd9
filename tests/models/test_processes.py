"""Two processes on the CPU, as `torchrun` starts them: DDP and FSDP train what one does, and go on after a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

import mirrormata
from mirrormata.models._model_file import load_model
from mirrormata.models.tasks._tokens import write_tokens
from mirrormata.models.training._experiment import experiment_from_dict, read_experiment
from mirrormata.models.training._files import read_metrics
from mirrormata.models.training._train import train
from mirrormata.tests.models.training_cases import settings

psutil: Any = pytest.importorskip("psutil", reason="needs mirrormata[train]")
pytestmark = pytest.mark.long
ROOT = Path(mirrormata.__file__).resolve().parent
SHARES = """
import json, sys
import torch
from mirrormata.models._config import ModelConfig
from mirrormata.models._model import Model
from mirrormata.models.training._optimizing import adamw, start_small
from mirrormata.models.training._processes import Processes
from mirrormata.models.training._start import freeze_parts

def shares(processes):
    sizes = {"letters": 6, "classes": 7, "width": 16, "layers": 3, "heads": 3, "head_dim": 5, "value_dim": 7, "tied": False}
    config = ModelConfig(**sizes, householders=2, gated=True, conv=3, initial="learned")
    model = processes.begin_model(config, [4])
    start_small(model, 0.05)
    freeze_parts(model, ["norms"])
    trained, optimizer = processes.prepare(model, adamw(model, 1e-3, (0.9, 0.95), 0.1))
    updated = {id(p) for group in optimizer.param_groups for p in group["params"]}
    assert updated == {id(p) for p in trained.parameters() if p.requires_grad}
    alone = Model(config, [4])
    start_small(alone, 0.05)
    whole = dict(alone.named_parameters())
    mine = 0
    for name, parameter in trained.named_parameters():
        local = parameter.to_local()
        mine += local.numel()
        assert parameter.shape == whole[name].shape, name
        assert torch.equal(parameter.full_tensor(), whole[name]), name
        dimension = parameter.placements[0].dim
        pieces = whole[name].chunk(processes.count, dimension)
        expected = pieces[processes.rank] if processes.rank < len(pieces) else whole[name][:0]
        assert torch.equal(local, expected), name
    return [mine, sum(p.numel() for p in whole.values()), processes.sharded]

with Processes("cpu", "fp32") as processes:
    with open(f"{sys.argv[1]}/{processes.rank}.json", "w") as file:
        json.dump(shares(processes), file)
"""

THREADS = """
import json, os, sys
from pathlib import Path
from mirrormata.models.training._experiment import read_experiment
from mirrormata.models.training._train import train

folder = Path(sys.argv[1])
outcome = train(read_experiment(folder / "a.toml"), folder / "run", minutes=float(sys.argv[2]))
threads = [(task / "comm").read_text().strip() for task in Path("/proc/self/task").iterdir()]
(folder / f"{os.environ['RANK']}.json").write_text(json.dumps([outcome.result is not None, threads]))
"""


def start(*arguments: str, fsdp: bool = False, processes: int = 2) -> subprocess.Popen[str]:
    """Two processes or one; `arguments`: `-m module ...` or a script's."""
    torchrun = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
    command = [sys.executable, *(torchrun if processes > 1 else ()), *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "ACCELERATE_USE_FSDP": str(fsdp).lower()}
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment
    )


def finished(process: subprocess.Popen[str]) -> None:
    _, error = process.communicate(timeout=300)
    assert process.returncode == 0, error


def written(path: Path, **changes: Any) -> Path:
    """The settings of a training of one seed, as a file."""
    lines = []
    for section, entries in settings(train__seeds=[0], **changes).items():
        lines += [f"[{section}]", *(f"{k} = {json.dumps(v)}" for k, v in entries.items())]
    path.write_text("\n".join(lines))
    return path


def training(file: Path, folder: Path, *, fsdp: bool) -> subprocess.Popen[str]:
    return start("-m", "mirrormata", "train", str(file), "-o", str(folder), "--json", fsdp=fsdp)


def logged(folder: Path) -> list[dict[str, Any]]:
    return [
        {k: v for k, v in line.items() if k not in {"seconds", "tokens_per_second"}}
        for line in read_metrics(folder / "metrics.jsonl")
    ]


@pytest.mark.parametrize("fsdp", [False, True], ids=["DDP", "FSDP"])
def test_two_processes_train_what_one_does(fsdp: bool, tmp_path: Path) -> None:
    train(experiment_from_dict(settings(train__seeds=[0]), "test"), tmp_path / "one")
    finished(training(written(tmp_path / "a.toml"), tmp_path / "two", fsdp=fsdp))
    one, two = logged(tmp_path / "one"), logged(tmp_path / "two")
    assert len(one) == len(two) == 12
    for single, double in zip(one, two, strict=True):
        assert double["loss"] == pytest.approx(single["loss"], rel=1e-5)
        assert double["gradient_norm"] == pytest.approx(single["gradient_norm"], rel=1e-4)
        assert double["accuracy"] == single["accuracy"]
    names = {path.name for path in (tmp_path / "two").iterdir()}
    assert names == {path.name for path in (tmp_path / "one").iterdir()}
    saved = load_file(tmp_path / "two/checkpoint.safetensors")
    alone = load_file(tmp_path / "one/checkpoint.safetensors")
    assert {name: x.shape for name, x in saved.items()} == {name: x.shape for name, x in alone.items()}
    model, _ = load_model(tmp_path / "two/seed-0")
    for name, value in model.state_dict().items():
        assert torch.equal(value, saved[f"model.{name}"])
        torch.testing.assert_close(value, alone[f"model.{name}"], rtol=0, atol=1e-4)


@pytest.mark.parametrize("fsdp", [False, True], ids=["DDP", "FSDP"])
def test_parts_averages_and_blocks_computed_twice_are_those_of_one_process(
    fsdp: bool, tmp_path: Path
) -> None:
    """Stopped after the first step by its time, and gone on with."""
    changes: dict[str, Any] = {
        "train__accumulate": 3, "train__ema": 0.75, "train__checkpointing": True, "train__steps": 6, "model__layers": 2
    }  # fmt: skip
    train(experiment_from_dict(settings(train__seeds=[0], **changes), "test"), tmp_path / "one")
    file = written(tmp_path / "a.toml", **changes)
    arguments = ("-m", "mirrormata", "train", str(file), "-o", str(tmp_path / "two"))
    finished(start(*arguments, "--minutes", "0", fsdp=fsdp))
    assert not (tmp_path / "two/result.json").exists()
    finished(start(*arguments, fsdp=fsdp))
    one, two = (load_file(tmp_path / name / "checkpoint.safetensors") for name in ("one", "two"))
    assert {name: x.shape for name, x in one.items()} == {name: x.shape for name, x in two.items()}
    assert any(name.startswith("ema.") for name in one)
    for name, value in one.items():
        torch.testing.assert_close(two[name], value, rtol=0, atol=1e-4)
    for name, prefix in (("seed-0", "ema"), ("last/seed-0", "model")):
        for entry, value in load_model(tmp_path / "two" / name)[0].state_dict().items():
            assert torch.equal(value, two[f"{prefix}.{entry}"])
    budgets = [
        json.loads((tmp_path / name / "result.json").read_text())["training"] for name in ("one", "two")
    ]
    assert budgets[0] == budgets[1]
    assert budgets[1]["state"] is not None


@pytest.mark.parametrize("name", ["deltaproduct_340m", "gated_deltanet_1_3b"])
def test_a_language_model_with_small_widths_takes_a_step_under_fsdp(name: str, tmp_path: Path) -> None:
    """All its layers, with the sizes divided by one option; one process trains the same."""
    texts = [f"def f{i}(x):\n    return {i} * x + {i * i}\n" * 20 for i in range(20)]
    (tmp_path / "text.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    write_tokens(tmp_path / "text.jsonl", tmp_path / "tokens")
    entries = {
        "task.spec": f"tokens:{tmp_path / 'tokens'}", "task.vocabulary": 256, "train.precision": "fp32", "train.threads": 1,
        "train.log_every": 1, "eval.words": 4, "train.checkpointing": True, "train.accumulate": 2,
        "train.initializer_range": 0.0,  # 0.02 is for widths of 1024 and more: at 32 gradients explode
    }  # fmt: skip
    sizes = (
        "--shrink",
        "32",
        "--steps",
        "2",
        "--batch",
        "4",
        "--lengths",
        "24",
        "--test-lengths",
        "16",
        "--device",
        "cpu",
    )
    assignments = [
        part for entry, value in entries.items() for part in ("--set", f"{entry}={json.dumps(value)}")
    ]
    file = str(ROOT / f"examples/experiments/{name}.toml")
    for folder, processes in (("one", 1), ("two", 2)):
        arguments = ("-m", "mirrormata", "train", file, "-o", str(tmp_path / folder), *sizes, *assignments)
        finished(start(*arguments, fsdp=processes > 1, processes=processes))
    one, two = logged(tmp_path / "one"), logged(tmp_path / "two")
    assert len(one) == len(two) == 2
    # two dozen layers of width 32 multiply roundings, so the second step's gradient agrees to three digits
    for single, double, loss, norm in zip(one, two, (1e-6, 1e-5), (2e-5, 5e-3), strict=True):
        assert double["loss"] == pytest.approx(single["loss"], rel=loss)
        assert double["gradient_norm"] == pytest.approx(single["gradient_norm"], rel=norm)
    assert one[0]["loss"] != one[1]["loss"]
    found = json.loads((tmp_path / "two/settings.json").read_text())["model"]
    assert found["layers"] in (21, 24)
    assert found["width"] * 32 in (1024, 2048)


def test_shards_of_given_weights_with_frozen_parts_train_as_one_process_does(tmp_path: Path) -> None:
    begun = train(
        experiment_from_dict(settings(train__seeds=[3], train__steps=1), "test"), tmp_path / "begun"
    )
    assert begun.result is not None
    file = written(tmp_path / "a.toml", train__steps=3)
    given = {"path": str(tmp_path / "begun/seed-3"), "noise": 0.1, "frozen": ["embedding", "norms"]}
    file.write_text(
        file.read_text() + "\n[start]\n" + "\n".join(f"{k} = {json.dumps(v)}" for k, v in given.items())
    )
    train(read_experiment(file), tmp_path / "one")
    finished(training(file, tmp_path / "two", fsdp=True))
    one, two = (load_file(tmp_path / name / "checkpoint.safetensors") for name in ("one", "two"))
    before = load_model(tmp_path / "begun/seed-3")[0].state_dict()
    for name, value in one.items():
        torch.testing.assert_close(two[name], value, rtol=0, atol=1e-4)
    assert torch.equal(two["model.embedding.weight"], one["model.embedding.weight"])
    assert not torch.equal(one["model.embedding.weight"], before["embedding.weight"])  # of the noise


@pytest.mark.parametrize("fsdp", [False, True], ids=["DDP", "FSDP"])
def test_killed_in_the_middle_they_end_the_same(fsdp: bool, tmp_path: Path) -> None:
    file = written(tmp_path / "a.toml", train__steps=120, train__checkpoint_every=10)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    finished(training(file, whole, fsdp=fsdp))
    process = training(file, killed, fsdp=fsdp)
    metrics = killed / "metrics.jsonl"
    while process.poll() is None and (not metrics.exists() or len(read_metrics(metrics)) < 35):
        time.sleep(0.01)
    assert process.poll() is None, process.communicate()[1]
    workers = psutil.Process(process.pid).children(recursive=True)
    for one in (*(w.pid for w in workers), process.pid):
        if psutil.pid_exists(one):
            os.kill(one, signal.SIGKILL)
    process.communicate()
    assert not (killed / "result.json").exists()
    finished(training(file, killed, fsdp=fsdp))
    assert logged(killed) == logged(whole)
    assert (killed / "result.json").read_text() == (whole / "result.json").read_text()
    expected, found = (load_file(folder / "checkpoint.safetensors") for folder in (whole, killed))
    assert all(torch.equal(expected[name], found[name]) for name in expected | found)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads' names are read from /proc")
@pytest.mark.parametrize("finished_it", [True, False], ids=["to the end", "stopped"])
@pytest.mark.parametrize("fsdp", [False, True], ids=["DDP", "FSDP"])
def test_the_threads_of_the_group_end_with_the_training(
    fsdp: bool, finished_it: bool, tmp_path: Path
) -> None:
    """One that lets go of a tensor when Python is ending aborts the process: once in some fifty runs on a busy machine."""
    written(tmp_path / "a.toml", train__steps=4)
    script = tmp_path / "threads.py"
    script.write_text(THREADS)
    process = start(str(script), str(tmp_path), "60" if finished_it else "0", fsdp=fsdp)
    _, error = process.communicate(timeout=300)
    assert process.returncode == 0, error
    assert "FSDP2-wrapped" not in error
    for rank in range(2):
        ended, threads = json.loads((tmp_path / f"{rank}.json").read_text())
        assert ended is finished_it
        assert threads
        assert not [name for name in threads if "gloo" in name]


def test_each_process_begins_with_its_half_of_what_one_process_begins_with(tmp_path: Path) -> None:
    script = tmp_path / "shares.py"
    script.write_text(SHARES)
    finished(start(str(script), str(tmp_path), fsdp=True))
    shares = [json.loads((tmp_path / f"{rank}.json").read_text()) for rank in range(2)]
    assert all(sharded for _, _, sharded in shares)
    whole = shares[0][1]
    assert sum(mine for mine, _, _ in shares) == whole
    assert max(mine for mine, _, _ in shares) < 0.6 * whole


def test_fsdp_of_several_seeds_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    written(file)
    file.write_text(file.read_text().replace("seeds = [0]", "seeds = [0, 1]"))
    _, error = training(file, tmp_path / "x", fsdp=True).communicate(timeout=300)
    assert "FSDP shards one model: give one seed" in error
    assert not (tmp_path / "x").exists()
