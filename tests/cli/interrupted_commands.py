"""Long commands, each started as a process and interrupted at some moment, and what must be true of it then.

Moments count from when the program catches signals; before that Python itself is starting. `ready` waits for it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

MOMENTS = (0.0, 0.05, 0.15, 0.3, 0.6, 1.0, 1.7, 2.8, 4.5, 7.0)
"""Seconds after the program catches signals: while it loads, begins, works and writes."""

SWEEP = """
name = "interrupted"
[task]
spec = "parity"
[model]
width = 16
heads = 2
head_dim = 8
[train]
steps = 60
batch = 8
lengths = [3, 12]
threads = 1
device = "cpu"
log_every = 5
seeds = [0, 1]
checkpoint_every = 25
eval_every = 20
[eval]
lengths = [16, 32]
words = 32
[grid]
"model.householders" = [1, 2]
"""
TRAIN = SWEEP.partition("[grid]")[0].partition("\n")[2].partition("\n")[2]  # without name and grid


@dataclass(frozen=True)
class LongCommand:
    """A command that takes seconds.

    Attributes:
        arguments: of the program, with the folder of inputs as `{given}`; outputs are in the current folder.
        module: what `python -m` runs.
        own: names of files and folders that the command may leave when it is interrupted.
    """

    arguments: tuple[str, ...]
    module: str = "mirrormata"
    own: tuple[str, ...] = ()


COMMANDS: Mapping[str, LongCommand] = {
    "construct": LongCommand(("construct", "A7", "-o", "out.json"), own=("out.json",)),
    "plan": LongCommand(("plan", "A6", "--bounds", "out.json"), own=("out.json",)),
    "inspect": LongCommand(("inspect", "T6", "--draw", "out.svg", "--max-drawn", "1000"), own=("out.svg",)),
    "check": LongCommand(("check", "{given}/A6.json")),
    "run": LongCommand(("run", "{given}/mod60.json", "--random", "1", "--length", "1000000000")),
    "prove": LongCommand(
        ("prove", "{given}/mod60.json", "mod:60", "--arithmetic", "per_op:fp32", "-o", "proof.json"),
        own=("proof.json",),
    ),
    "spectrum": LongCommand(("spectrum", "{given}/mod60.json", "--products", "9", "--max-products", "100000")),
    "verify": LongCommand(("verify", "--quick", "--jobs", "2")),
    "train": LongCommand(("train", "{given}/train.toml", "-o", "run", "--steps", "100000"), own=("run",)),
    "eval": LongCommand(("eval", "{given}/model", "--lengths", "1000000", "--words", "8")),
    "sweep": LongCommand(("sweep", "{given}/sweep.toml", "-o", "sweep"), own=("sweep",)),
    "compare": LongCommand(("compare", "{given}/model", "A5", "--words", "2048"),),
    "report": LongCommand(("report", "{given}/certificates", "-o", "page.html"), own=("page.html",)),
    "fuzz": LongCommand(
        ("--models", "20000", "--processes", "2", "--output", "out.json"), "mirrormata.tests.fuzz", ("out.json",)
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Ended:
    """How an interrupted process ended.

    Attributes:
        status: its exit status.
        out: standard output.
        err: standard error.
        seconds: from the signal to the end.
        late: whether it had ended before the signal.
        orphans: processes of its group that go on a while after it.
    """

    status: int
    out: str
    err: str
    seconds: float
    late: bool
    orphans: tuple[int, ...] = ()


def heed_signals() -> None:
    """Ignore no signal: a shell's background jobs ignore Ctrl-C, those under `nohup` SIGHUP, and their children inherit that."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
        signal.signal(number, signal.SIG_DFL)


def start(
    command: LongCommand, given: Path, folder: Path, extra: tuple[str, ...] = ()
) -> subprocess.Popen[str]:
    """The command as a process, in a group of its own, with temporary files of its own."""
    (folder / "temporary").mkdir(exist_ok=True)
    arguments = [part.replace("{given}", str(given)) for part in command.arguments]
    return subprocess.Popen(
        [sys.executable, "-m", command.module, *arguments, *extra],
        cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        env={**os.environ, "TMPDIR": str(folder / "temporary"), "TRITON_INTERPRET": "0", "OMP_NUM_THREADS": "1"},
        preexec_fn=heed_signals,  # noqa: PLW1509 (no threads here)
    )  # fmt: skip


def wait_until_ready(process: subprocess.Popen[str]) -> None:
    """Until the process has a handler of SIGTERM, by what the system says of it."""
    wanted = 1 << (signal.SIGTERM - 1)
    status = Path(f"/proc/{process.pid}/status")
    while process.poll() is None:
        caught = next(line for line in status.read_text().splitlines() if line.startswith("SigCgt"))
        if int(caught.split()[1], 16) & wanted:
            return
        time.sleep(0.002)


def interrupt(
    process: subprocess.Popen[str],
    number: signal.Signals,
    moment: float,
    *,
    group: bool,
    when: Callable[[], bool] | None = None,
) -> Ended:
    """Send a signal at a moment, to the process or, as a terminal and a scheduler do, to all of its group.

    `when`: what must be true before the moments are counted.
    """
    wait_until_ready(process)
    while when is not None and not when() and process.poll() is None:
        time.sleep(0.01)
    try:
        out, err = process.communicate(timeout=moment or 1e-3)
        return Ended(process.returncode, out, err, 0.0, True)
    except subprocess.TimeoutExpired:
        pass
    sent = time.monotonic()
    (os.killpg if group else os.kill)(process.pid, number)
    try:
        out, err = process.communicate(timeout=120)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    seconds = time.monotonic() - sent
    for _ in range(100):
        if not (left := members(process.pid)):
            break
        time.sleep(0.05)
    return Ended(process.returncode, out, err, seconds, False, tuple(left))


def problems(command: LongCommand, folder: Path, ended: Ended, number: signal.Signals) -> list[str]:
    """What is wrong with how a command ended and with what it left, each in words; nothing where all is right."""
    found = []
    if ended.late:
        return [] if ended.status in (0, 1) else [f"status {ended.status}: {ended.err}"]
    lines = ended.err.splitlines()
    if ended.status != 128 + number and ended.status != -number:  # the latter: after its work was done
        found.append(f"status {ended.status}")
    if ended.status == 128 + number:
        # a sweep says what it does, line by line; the last line is about the interrupt
        said = [line for line in lines if not line.endswith((": training",)) and ": done in" not in line]
        if len(said) != 1 or not said[0].startswith("interrupted"):
            found.append(f"standard error {ended.err}")
    if "Traceback" in ended.err + ended.out:
        found.append(f"a traceback: {ended.err}{ended.out}")
    if ended.seconds > 45:  # beside other tests; a second is usual
        found.append(f"it took {ended.seconds:.0f} s to end")
    left = {p.name for p in folder.iterdir()} - {"temporary", *command.own}
    if left:
        found.append(f"left behind: {sorted(left)}")
    hidden = [str(p) for p in folder.rglob(".*")]
    # torch keeps a cache of its own there
    hidden += [p.name for p in (folder / "temporary").iterdir() if not p.name.startswith("torchinductor")]
    if hidden:
        found.append(f"temporary files: {hidden}")
    if ended.orphans:
        found.append(f"processes that go on: {ended.orphans}")
    return found


def members(group: int) -> list[int]:
    """The processes of a group that still run, by what the system says of them."""
    found = []
    for place in Path("/proc").iterdir():
        if not place.name.isdigit():
            continue
        try:
            fields = (place / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            found.append(int(place.name))
    return found
