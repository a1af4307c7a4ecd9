"""Ctrl-C, SIGTERM and SIGHUP: one line, files whole or absent, nothing temporary left, and the same result when gone on with."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from mirrormata.models.training._files import read_metrics
from mirrormata.tests.cli.interrupted_commands import (
    COMMANDS,
    MOMENTS,
    SWEEP,
    TRAIN,
    LongCommand,
    interrupt,
    problems,
    start,
    wait_until_ready,
)

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the system does not say which signals a process catches"
)


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The inputs of all commands."""
    from mirrormata import construct
    from mirrormata.theory._check import write_accepted_certificate

    place = tmp_path_factory.mktemp("given")
    for name, spec in (("A6", "A6"), ("mod60", "mod:60")):
        write_accepted_certificate(construct(spec), str(place / f"{name}.json"))
    (place / "certificates").mkdir()
    for i, spec in enumerate(("S3", "S4", "mod:7", "dihedral:6")):
        write_accepted_certificate(construct(spec), str(place / "certificates" / f"{i}.json"))
    (place / "train.toml").write_text(TRAIN)
    (place / "sweep.toml").write_text(SWEEP)
    (place / "model").symlink_to(Path(__file__).parents[2] / "examples/models/a5")
    return place


def check_documents(folder: Path) -> None:
    """What is there is whole."""
    for path in folder.rglob("*.json"):
        json.loads(path.read_text())
    for path in folder.rglob("*.safetensors"):
        load_file(path)
    for path in folder.rglob("metrics.jsonl"):
        assert path.read_text().count("\n") == len(read_metrics(path))


QUICK = [
    ("construct", signal.SIGINT, 0.0),
    ("plan", signal.SIGTERM, 1.0),
    ("check", signal.SIGINT, 1.0),
    ("run", signal.SIGTERM, 1.7),
    ("prove", signal.SIGINT, 1.7),
    ("verify", signal.SIGTERM, 2.8),
    ("train", signal.SIGHUP, 0.6),
    ("sweep", signal.SIGTERM, 4.5),
]
"""One moment each, for continuous integration."""


@pytest.mark.parametrize(("name", "number", "moment"), QUICK)
def test_an_interrupt_is_one_line_and_leaves_nothing_half_done(
    name: str, number: signal.Signals, moment: float, given: Path, tmp_path: Path
) -> None:
    ended = interrupt(start(COMMANDS[name], given, tmp_path), number, moment, group=number == signal.SIGINT)
    assert problems(COMMANDS[name], tmp_path, ended, number) == []
    check_documents(tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("name", COMMANDS)
def test_moments_of_each_long_command(name: str, every: int, given: Path, tmp_path: Path) -> None:
    """All ten moments, or two of them, which differ from command to command."""
    found = {}
    for i, moment in list(enumerate(MOMENTS))[list(COMMANDS).index(name) % every :: every]:
        for number, group in ((signal.SIGINT, True), (signal.SIGTERM, bool(i % 2))):
            folder = tmp_path / f"{moment}-{number}"
            folder.mkdir()
            ended = interrupt(start(COMMANDS[name], given, folder), number, moment, group=group)
            if wrong := problems(COMMANDS[name], folder, ended, number):
                found[moment, number.name] = wrong
            check_documents(folder)
    assert not found, found


def finish(command: LongCommand, given: Path, folder: Path, *extra: str) -> str:
    """Run the command to its end; its standard output."""
    process = start(command, given, folder, extra)
    out, err = process.communicate(timeout=300)
    assert process.returncode in (0, 1), err
    return out


def folder_of(parent: Path, name: str) -> Path:
    """A new folder."""
    place = parent / name
    place.mkdir()
    return place


TRAINING = LongCommand(("train", "{given}/train.toml", "-o", "run", "--set", "train.checkpoint_every=1000"))


def steps_are(folder: Path, least: int) -> Callable[[], bool]:
    """Whether so many steps are logged."""

    def look() -> bool:
        path = folder / "run/metrics.jsonl"
        lines = read_metrics(path) if path.exists() else []
        return bool(lines) and lines[-1]["step"] >= least

    return look


@pytest.mark.parametrize(
    "number",
    [*(pytest.param(n, marks=pytest.mark.long) for n in (signal.SIGINT, signal.SIGTERM)), signal.SIGUSR1],
)
def test_an_interrupted_training_goes_on_to_the_same_weights(
    number: signal.Signals, given: Path, tmp_path: Path
) -> None:
    whole, parts = folder_of(tmp_path, "whole"), folder_of(tmp_path, "parts")
    finish(TRAINING, given, whole)
    for least in (5, 25):
        when = steps_are(parts, least)
        ended = interrupt(start(TRAINING, given, parts), number, 0.01, group=False, when=when)
        assert not ended.late
        assert ended.status == 128 + number
        lines = ended.err.splitlines()
        assert len(lines) == 1
        assert lines[0].endswith("of 60 is saved in run; the same command continues")
    finish(TRAINING, given, parts)
    for name in ("seed-0/model.safetensors", "seed-1/model.safetensors"):
        expected, found = load_file(whole / "run" / name), load_file(parts / "run" / name)
        assert all(torch.equal(expected[key], found[key]) for key in expected)
    assert (whole / "run/result.json").read_text() == (parts / "run/result.json").read_text()
    without = [
        [{k: v for k, v in line.items() if "seconds" not in k and "second" not in k} for line in lines]
        for lines in (read_metrics(folder / "run/metrics.jsonl") for folder in (whole, parts))
    ]
    assert without[0] == without[1]
    assert not list((parts / "run").glob(".*"))


def test_an_interrupted_search_goes_on_to_the_same_proof(given: Path, tmp_path: Path) -> None:
    command = LongCommand(
        ("prove", "{given}/mod60.json", "mod:60", "--arithmetic", "per_step:fp32", "--json", "--resume", "search.npz")
    )  # fmt: skip
    assert json.loads(finish(command, given, tmp_path, "--max-states", "20000"))["verdict"] == "unknown"
    for moment in (2.0, 4.0, 8.0, 16.0, 32.0):  # until the program was loaded when it came
        ended = interrupt(start(command, given, tmp_path), signal.SIGTERM, moment, group=False)
        if ended.out and json.loads(ended.out)["verdict"] == "equivalent":
            pytest.skip("the search had ended before the signal came")
        assert not ended.late
        assert ended.status == 143
        (line,) = ended.err.splitlines()
        if "search.npz" in line:
            break
        assert line == "interrupted by SIGTERM: nothing was written"
    assert line.startswith("interrupted by SIGTERM: ")
    assert line.endswith("; the same command continues")
    if ended.out:  # the search had begun again
        assert json.loads(ended.out)["verdict"] == "unknown"
    assert json.loads(finish(command, given, tmp_path))["verdict"] == "equivalent"


@pytest.mark.long
def test_an_interrupted_sweep_goes_on_to_the_same_table(given: Path, tmp_path: Path) -> None:
    whole, parts = folder_of(tmp_path, "whole"), folder_of(tmp_path, "parts")
    command = COMMANDS["sweep"]
    expected = finish(command, given, whole)
    ended = interrupt(start(command, given, parts), signal.SIGTERM, 3.0, group=False)
    assert problems(command, parts, ended, signal.SIGTERM) == []
    found = finish(command, given, parts)
    assert without_times(found) == without_times(expected)


def without_times(said: str) -> str:
    """The words of a table with its caption, whose lines break elsewhere where the time has more digits."""
    return re.sub(r"trainings took \S+ \w+\.", "trainings took", " ".join(said.split()))


@pytest.mark.long
def test_a_second_ctrl_c_does_not_wait_for_the_step(given: Path, tmp_path: Path) -> None:
    slow = LongCommand(
        ("train", "S5", "-o", "run", "--device", "cpu", "--steps", "5", "--seeds", "4", "--batch", "256"), own=("run",)
    )  # fmt: skip
    process = start(slow, given, tmp_path)
    wait_until_ready(process)
    while not (tmp_path / "run/metrics.jsonl").exists():
        assert process.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1)
    process.send_signal(signal.SIGINT)
    ended = interrupt(process, signal.SIGINT, 0.5, group=False)
    assert ended.late or ended.status == 130
    assert problems(slow, tmp_path, ended, signal.SIGINT) == [] or ended.late
    assert "Traceback" not in ended.err


def test_a_signal_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "mirrormata", "plan", "S5"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),  # noqa: PLW1509 (no threads here)
    )  # fmt: skip
    ended = interrupt(process, signal.SIGHUP, 0.5, group=False)
    assert (ended.status, ended.err) == (0, "")
