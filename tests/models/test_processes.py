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

from mirrormata.models._model_file import load_model
from mirrormata.models.training._experiment import experiment_from_dict
from mirrormata.models.training._files import read_metrics
from mirrormata.models.training._train import train
from mirrormata.tests.models.training_cases import settings

psutil: Any = pytest.importorskip("psutil", reason="needs mirrormata[train]")
pytestmark = pytest.mark.long
SHARES = """
import json, sys
import torch
from mirrormata.models._config import ModelConfig
from mirrormata.models._model import Model
from mirrormata.models.training._optimizing import adamw
from mirrormata.models.training._processes import Processes

def shares(processes):
    model = Model(ModelConfig(letters=6, classes=6, width=16, heads=2, head_dim=8, value_dim=8))
    whole = sum(p.numel() for p in model.parameters())
    trained, optimizer = processes.prepare(model, adamw(model, 1e-3, (0.9, 0.95), 0.1))
    mine = sum(p.to_local().numel() for p in trained.parameters())
    updated = {id(p) for group in optimizer.param_groups for p in group["params"]}
    assert updated == {id(p) for p in trained.parameters()}
    return [mine, whole, processes.sharded]

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


def start(*arguments: str, fsdp: bool = False) -> subprocess.Popen[str]:
    """Two processes; `arguments`: `-m module ...` or a script's."""
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        "2",
        *arguments,
    ]
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


def test_each_process_has_about_half_of_the_parameters(tmp_path: Path) -> None:
    script = tmp_path / "shares.py"
    script.write_text(SHARES)
    finished(start(str(script), str(tmp_path), fsdp=True))
    shares = [json.loads((tmp_path / f"{rank}.json").read_text()) for rank in range(2)]
    assert all(sharded for _, _, sharded in shares)
    whole = shares[0][1]
    assert sum(mine for mine, _, _ in shares) == whole
    assert max(mine for mine, _, _ in shares) < 0.55 * whole


def test_fsdp_of_several_seeds_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    written(file)
    file.write_text(file.read_text().replace("seeds = [0]", "seeds = [0, 1]"))
    _, error = training(file, tmp_path / "x", fsdp=True).communicate(timeout=300)
    assert "FSDP shards one model: give one seed" in error
    assert not (tmp_path / "x").exists()
