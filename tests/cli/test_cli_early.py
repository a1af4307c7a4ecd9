"""Slips in arguments and paths are told before torch is loaded, which takes seconds."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
from mirrormata.cli import main

found = []
for arguments in json.loads(sys.argv[1]):
    sys.argv = ["mirrormata", *arguments]
    errors, status = io.StringIO(), 0
    with redirect_stderr(errors), redirect_stdout(io.StringIO()):
        try:
            main()
        except SystemExit as stop:
            status = stop.code
    found.append([status, errors.getvalue(), "torch" in sys.modules])
print(json.dumps(found))
"""


def test_slips_are_told_without_torch(tmp_path: Path) -> None:
    model, out = str(tmp_path / "model"), str(tmp_path / "out")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    cases = [
        (["eval", "nofolder"], "nofolder: no such folder"),
        (["eval", str(tmp_path)], "holds no model (config.json) and no seeds"),
        (["eval", model, "--lengths", "x"], "--lengths x"),
        (["eval", model, "--precision", "fp31"], "--precision fp31"),
        (["eval", model, "--weights", "lost"], "--weights lost"),
        (["eval", model, "--memory", "0"], "--memory 0"),
        (["eval", model, "--device", "cuad"], "did you mean cuda?"),
        (["eval", model, "--words", "0"], "words 0"),
        (["eval", model, "--seed", "-1"], "seed -1"),
        (["eval", model, "--data", "nofile"], "nofile: no such file"),
        (["eval", model, "--group", "S4"], "give --data as well"),
        (["compare", "nofolder", "S3"], "nofolder: no such file"),
        (["compare", model, "S33x"], "'S33x' is not a name of the library"),
        (["compare", model, "S3", "--extract", "foo"], "--extract foo"),
        (["compare", model, "S3", "--words", "0"], "--words 0"),
        (["compare", model, "S3", "--dtype", "fp31"], "'fp31'"),
        (["train", "nospec", "-o", out], "'nospec' is not a name of the library"),
        (["train", "tokns:x", "-o", out], "did you mean tokens:x?"),
        (["train", "nofile.toml", "-o", out], "nofile.toml: no such file"),
        (["train", "S3"], "--output is missing"),
        (["train", "S3", "-o", out, "--device", "cuad"], "did you mean cuda?"),
        (["train", "S3", "-o", out, "--set", "steps"], "--set steps"),
        (["sweep", "nofile.toml", "-o", out], "nofile.toml: no such file"),
        (["import", "fla", "nofolder", "-o", out], "nofolder: no such folder"),
        (["import", "hybrid", "nofolder", "-o", out], "nofolder: no such folder"),
        (["export", "fla", "nofolder", "-o", out], "nofolder: no such file"),
        (["export", "fla", str(tmp_path), "-o", out], "holds no model"),
        (["audit", "nofolder", "--text", "x"], "x: no such file"),
        (["audit", "nofolder", "--weights"], "nofolder: no such folder"),
        (["audit", model, "--weights", "--words", "0"], "--words 0"),
    ]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps([arguments for arguments, _ in cases])],
        capture_output=True, text=True, check=True, cwd=tmp_path,
    )  # fmt: skip
    for (arguments, said), (status, error, loaded) in zip(cases, json.loads(done.stdout), strict=True):
        assert (status, loaded) == (2, False), (arguments, error)
        assert said in error, (arguments, error)
        assert error.count("\n") == 1, (arguments, error)
