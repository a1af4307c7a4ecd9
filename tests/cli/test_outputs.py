"""Outputs that cannot be written, and files that are there already: one line, and nothing of anybody is lost."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import typer

from mirrormata.cli import app
from mirrormata.cli.replacing import FOLDERS, FORCE, OUTPUTS

from .command_line import Outcome

Call = Callable[..., Outcome]
FULL = Path("/dev/full")


def apart(*arguments: str, out: Path | None = None, err: Path | None = None, cwd: Path) -> Outcome:
    """The command as a process, its streams to files of the system where they are named."""
    streams = [subprocess.PIPE if place is None else place.open("w") for place in (out, err)]
    found = subprocess.run(
        [sys.executable, "-m", "mirrormata", *arguments],
        stdout=streams[0], stderr=streams[1], text=True, check=False, timeout=300, cwd=cwd,
    )  # fmt: skip
    return Outcome(found.returncode, found.stdout or "", found.stderr or "")


@pytest.mark.skipif(not FULL.exists(), reason="the system has no /dev/full")
def test_a_full_standard_output_is_one_line(tmp_path: Path) -> None:
    wrong = "error: standard output cannot be written (No space left on device)"
    for arguments in (("construct", "S5", "--show"), ("inspect", "S3", "--json"), ("--version",)):
        assert apart(*arguments, out=FULL, cwd=tmp_path) == Outcome(2, "", f"{wrong}\n"), arguments
    found = apart("construct", "S3", "-o", "s3.json", out=FULL, cwd=tmp_path)
    assert found.err == f"{wrong}; written: s3.json\n"
    assert (tmp_path / "s3.json").stat().st_size > 0
    assert apart("inspect", "S3", out=FULL, err=FULL, cwd=tmp_path).status == 2
    refused = apart("construct", "S3", "-o", str(FULL), cwd=tmp_path)
    assert refused.error == "/dev/full: cannot be written (No space left on device)"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 kilobytes."""
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", place], check=False).returncode:
        pytest.skip("no file system can be mounted here")
    yield place
    subprocess.run(["umount", place], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a file system")
def test_a_full_disk_is_one_line_and_leaves_what_was_there(
    small_disk: Path, certificates: Path, call: Call
) -> None:
    target = small_disk / "c.json"
    assert call("construct", "S3", "-o", str(target)).status == 0
    before = target.read_bytes()
    error = call("construct", "S5", "-o", str(target)).error  # of 90 kilobytes
    assert error == f"{target}: cannot be written (No space left on device)"
    assert target.read_bytes() == before
    s5 = str(certificates / "S5.json")
    npz = call("export", "safetensors", s5, "-o", str(small_disk / "w.safetensors")).error
    assert "No space left" in npz
    model = call("export", "model", s5, "S5", "-o", str(small_disk / "model")).error
    assert model.startswith(str(small_disk / "model"))
    assert "No space left" in model
    assert list(small_disk.iterdir()) == [target]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a file system")
def test_a_training_on_a_full_disk_keeps_its_checkpoint(small_disk: Path, call: Call) -> None:
    (small_disk / "filling").write_bytes(bytes(44_000))
    small = (
        "train", "parity", "-o", str(small_disk / "run"), "--steps", "2000", "--batch", "2", "--width", "8", "--heads", "1",
        "--lengths", "3", "--test-lengths", "4", "--device", "cpu", "--set", "model.head_dim=4", "--set", "model.value_dim=4",
        "--set", "train.log_every=1", "--set", "train.checkpoint_every=10", "--set", "train.threads=1", "--set", "model.mlp=0",
    )  # fmt: skip
    error = call(*small).error
    assert "No space left" in error
    assert not list((small_disk / "run").glob(".*"))
    (small_disk / "filling").unlink()
    if "; step " in error:
        step = int(error.partition("; step ")[2].partition(" of 2,000")[0])
        assert step % 10 == 0
        assert call(*small, "--minutes", "0.0001").status == 0


def test_files_of_others_are_replaced_only_by_force(call: Call, tmp_path: Path) -> None:
    mine = tmp_path / "mine.json"
    for content in ('{"notes": "mine"}', '{"format": "mirrormata-automaton/1", "states": []}'):
        mine.write_text(content)
        error = call("construct", "S3", "-o", str(mine)).error
        assert (
            error
            == f"{mine}: is there already, and mirrormata did not write it: give another name, or --force to replace it"
        )
        assert mine.read_text() == content
    assert call("construct", "S3", "-o", str(mine), "--force").status == 0
    assert call("construct", "S4", "-o", str(mine)).status == 0  # its own
    empty = tmp_path / "empty.json"
    empty.touch()
    assert call("construct", "S3", "-o", str(empty)).status == 0


def test_what_every_command_wrote_it_replaces(call: Call, certificates: Path, tmp_path: Path) -> None:
    s4 = str(certificates / "S4.json")
    for arguments in (
        ("construct", "S3", "-o", "c.json", "--picture", "c.svg"),
        ("construct", "S3", "--picture", "c.png"),
        ("plan", "S3", "--max-layers", "1", "--bounds", "b.json"),
        ("prove", s4, "S4", "-o", "p.json"),
        ("spectrum", s4, "--picture", "s.png"),
        ("export", "npz", s4, "-o", "w.npz"),
        ("export", "safetensors", s4, "-o", "w.safetensors"),
        ("claims", "--graph", "g.svg"),
        ("run", s4, "--random", "2", "--length", "9", "--picture", "r.svg"),
    ):
        placed = [str(tmp_path / part) if "." in part and "/" not in part else part for part in arguments]
        for _ in range(2):
            found = call(*placed)
            assert found.status == 0, (arguments, found.err)
    picture = tmp_path / "c.svg"
    picture.write_text("a letter that somebody saved under this name")
    assert "--force" in call("construct", "S3", "--picture", str(picture)).error


def test_outputs_are_looked_at_before_the_work(call: Call, tmp_path: Path) -> None:
    began = time.monotonic()
    for place in ("missing/c.json", "c.json/d.json"):
        (tmp_path / "c.json").write_text("a file, no folder")
        assert "cannot be written" in call("construct", "A7", "-o", str(tmp_path / place)).error
    assert time.monotonic() - began < 20  # A7 takes longer


def test_every_command_that_writes_a_file_has_force() -> None:
    commands = [typer.main.get_command(app)]
    for group in commands:
        commands += getattr(group, "commands", {}).values()
    found = 0
    for command in commands:
        names = {p.name for p in command.params}
        writes = [p for p in command.params if p.name in OUTPUTS and p.metavar not in FOLDERS]
        assert (FORCE in names) == bool(writes), command.name
        found += bool(writes)
        for parameter in command.params:
            text = str(getattr(parameter, "help", ""))
            if parameter.metavar in ("FILE", "OUT") and text.startswith(
                ("Write", "Draw", "If there is a proof, write")
            ):
                assert parameter.name in OUTPUTS, f"{command.name} --{parameter.name} is not looked at"
    assert found >= 10
