"""Commands of a core installation, what others refuse there, and interpreters in which packages are missing."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

CORE = (
    "construct S3 -o s3.json --picture s3.svg",
    "construct mod:5 -o mod5.json",
    "check s3.json",
    "inspect S4",
    "inspect mod:5 --draw mod5.svg",
    "plan S3",
    "run s3.json --random 4 --length 1000 --dtype bf16",
    "run mod5.json --random 2 --length 100 --picture run.png",
    "prove s3.json S3 -o proof.json",
    "check proof.json",
    "prove mod5.json mod:5 --arithmetic exact",
    "spectrum mod5.json --picture spectrum.svg",
    "export npz s3.json -o s3.npz",
    "export safetensors s3.json -o s3.safetensors",
    "prove s3.npz S3 --arithmetic per_op:bf16",
    "verify DP.T8 G.T3 --quick --jobs 2",
    "verify --model s3.json",
    "claims --source DP",
    "claims --graph claims.svg",
    "train --help",
    "--help",
)
"""Commands that need no extra, in this order; later ones read the files of earlier ones."""
REFUSED = {
    "train parity -o runs": "`mirrormata train` needs torch",
    "eval folder": "`mirrormata eval` needs torch",
    "sweep grid.toml -o sweep": "`mirrormata sweep` needs torch",
    "compare s3.npz S3": "`mirrormata compare` needs torch",
    "export model s3.json S3 -o model": "`mirrormata export model` needs torch",
    "export fla s3.json -o fla": "`mirrormata export fla` needs torch",
    "import fla fla -o heads": "`mirrormata import fla` needs torch",
    "prove s3.json S3 --arithmetic kernel:recurrent:bf16": "arithmetic kernel:recurrent:bf16 needs torch",
}
"""Commands that need the extra `models`, and how the one line begins that says so."""
REFUSED_INPUTS = ("folder/config.json", "grid.toml", "fla/config.json")
"""Files of theirs, since a file that is not there is told before torch is asked for."""
INSTALL = "which is not installed: pip install 'mirrormata[{}]'"

RUN = """
import contextlib, io, json, sys
from mirrormata.cli import main
results = []
for command in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(command.split())
            status = 0
        except SystemExit as end:
            status = end.code
    results.append([command, status, out.getvalue(), err.getvalue()])
print(json.dumps([results, sorted({name.partition(".")[0] for name in sys.modules})]))
"""
"""A program that runs the commands of its argument, one after another, and prints what came of them and what was loaded."""


class Result(NamedTuple):
    """A command, its exit status, and what it printed."""

    command: str
    status: int
    out: str
    err: str


def write_refused_inputs(folder: Path) -> None:
    """Write the files that the commands of `REFUSED` look for."""
    for name in REFUSED_INPUTS:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("{}" if name.endswith("json") else "", encoding="utf-8")


def run_commands(
    python: str | Path, commands: Sequence[str], folder: Path, environment: dict[str, str]
) -> tuple[list[Result], set[str]]:
    """Run commands in one fresh interpreter; their results, and the top-level modules that were loaded."""
    done = subprocess.run(
        [str(python), "-c", RUN, json.dumps(list(commands))],
        cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    results, loaded = json.loads(done.stdout)
    return [Result(*result) for result in results], set(loaded)


HIDE = """
import importlib.machinery
_find = importlib.machinery.PathFinder.find_spec
def _hide(name, path=None, target=None):
    return None if name.partition(".")[0] in {names!r} else _find(name, path, target)
importlib.machinery.PathFinder.find_spec = staticmethod(_hide)
"""
POSIX_ONLY = """
import os, signal, sys
for name in ("fcntl", "resource", "termios", "tty", "pty", "pwd", "grp", "syslog"):
    sys.modules[name] = None
for name in ("SIGALRM", "SIGKILL", "SIGHUP", "setitimer", "getitimer", "ITIMER_REAL"):
    delattr(signal, name)
for name in ("sysconf", "getuid", "geteuid", "sched_getaffinity"):
    delattr(os, name)
"""
"""What Windows lacks; `os.uname` stays, since the numpy of this system needs it, and so do the parts of `subprocess`."""


def environment_without(folder: Path, packages: Sequence[str] = (), also: str = "") -> dict[str, str]:
    """Variables with which every interpreter, those that it starts included, finds none of the packages.

    Args:
        folder: a folder for a file that is run at each start.
        packages: top-level names; for imports and `find_spec` they are as if not installed.
        also: more lines for that file.
    """
    text = HIDE.format(names=set(packages)) + also
    (folder / "sitecustomize.py").write_text(text, encoding="utf-8")
    before = os.environ.get("PYTHONPATH")
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(folder), *([before] if before else [])]),
        "MPLBACKEND": "agg",
    }
