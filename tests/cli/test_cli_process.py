"""The program as a process: terminals, pipes, interrupts, warnings, and from any folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

from mirrormata import cli
from mirrormata.foundation._errors import MirrormataWarning


def apart(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """In a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "mirrormata", *arguments],
        capture_output=True, text=True, check=False, timeout=120, **options,
    )  # fmt: skip


def test_a_terminal_without_unicode() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    for arguments in (("construct", "S3"), ("construct", "mod:9", "--show"), ("inspect", "S4")):
        outcome = apart(*arguments, env=environment)
        assert (outcome.returncode, outcome.stderr) == (0, ""), arguments
    outcome = apart("construct", "S3", "--json", env=environment)
    assert "‖v‖²" in json.loads(outcome.stdout)["lower_bounds"][1]["hypotheses"]


def test_a_closed_pipe_is_no_traceback() -> None:
    for arguments in (["inspect", "--library"], ["construct", "S5", "--show"]):
        process = subprocess.Popen(
            [sys.executable, "-m", "mirrormata", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
        process.stderr.close()
        process.wait(60)


def test_an_interrupt_is_no_traceback(certificates: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "mirrormata", "run", str(certificates / "mod:60.json"), "--random", "50",
         "--length", "3000000", "--dtype", "fp32"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        # a shell's background jobs ignore the signal, and their children inherit that
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 (no threads here)
    )  # fmt: skip
    time.sleep(5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err


def test_the_module_runs_from_anywhere(tmp_path: Path) -> None:
    outcome = apart("construct", "parity", "--json", cwd=tmp_path)
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert json.loads(outcome.stdout)["householders"] == 1
    refused = apart("construct", "parrity", cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == "error: 'parrity' is not a name of the library; did you mean parity?\n"


def test_own_warnings_are_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def warn(*_: object, **__: object) -> None:
        warnings.warn("train: seed 0: the loss is nan", MirrormataWarning, stacklevel=1)

    monkeypatch.setattr(cli, "app", warn)
    with pytest.raises(SystemExit) as done:
        cli.main([])
    assert done.value.code == 0
    assert capsys.readouterr().err == "warning: train: seed 0: the loss is nan\n"
