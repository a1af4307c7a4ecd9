"""The command line as its user meets it: one JSON object or a table, one line for what is wrong, the right status."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mirrormata import cli
from mirrormata.constructions.certificate import write_certificate
from mirrormata.constructions.errors import MirrormataWarning
from mirrormata.tests.certified import CASES, document

Capture = pytest.CaptureFixture[str]


def apart(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """In a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "mirrormata", *arguments],
        capture_output=True, text=True, check=False, timeout=120, **options,
    )  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Certificates of several kinds."""
    made = tmp_path_factory.mktemp("certificates")
    for name in ("parity", "S4", "S5", "mod:9", "mod:60", "mod:12", "Mealy", "full_t3 G.A3", "identity_only"):
        write_certificate(document(name), made / f"{name}.json")
    broken = json.loads((made / "S4.json").read_text())
    broken["automaton"]["transitions"][1][1] = 5
    (made / "broken.json").write_text(json.dumps(broken))
    return made


INSPECT = (
    "states", "letters", "start", "kind", "monoid", "group", "aperiodic", "commutative", "solvable", "synchronising",
    "degree", "notes",
)  # fmt: skip
CONSTRUCT = (
    "states", "letters", "construction", "layers", "householders", "heads", "dim", "exactness", "integer_bound",
    "formats", "lower_bounds", "certificate",
)  # fmt: skip
RUN = ("tokens", "sequences", "errors", "first_error", "dtype", "order", "backend", "seconds")


def test_inspect_json(call: Any) -> None:
    found = call("inspect", "S4", "--json")
    assert (found.status, found.err) == (0, "")
    assert set(INSPECT) <= set(found.json)
    assert {key: found.json[key] for key in INSPECT[:11]} == {
        "states": 24, "letters": 24, "start": "(0, 1, 2, 3)", "kind": "moore", "monoid": 24, "group": True,
        "aperiodic": False, "commutative": False, "solvable": True, "synchronising": False, "degree": 4,
    }  # fmt: skip
    assert call("inspect", "flipflop", "--json").json["aperiodic"] is True


def test_construct_json(call: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "c.json")
    found = call("construct", "S5", "--json", "-o", path)
    assert (found.status, found.err) == (0, "")
    assert set(CONSTRUCT) <= set(found.json)
    assert {key: found.json[key] for key in ("states", "letters", "layers", "householders", "heads", "dim")} == {
        "states": 120, "letters": 120, "layers": 1, "householders": 4, "heads": 1, "dim": 5,
    }  # fmt: skip
    assert found.json["exactness"] == "integer"
    assert found.json["formats"] == ["fp64", "fp32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2"]
    assert found.json["certificate"] == path
    assert call("check", path, "--json").json["verdict"] == "valid"
    assert call("construct", "mod:9", "--json").json["certificate"] is None


def test_check_json(call: Any, folder: Path) -> None:
    good = call("check", str(folder / "mod:9.json"), "--json")
    assert (good.status, good.err) == (0, "")
    assert good.json == {"verdict": "valid", "kind": "horizon", "reason": good.json["reason"]}
    bad = call("check", str(folder / "broken.json"), "--json")
    assert (bad.status, bad.err) == (1, "")
    assert bad.json == {"verdict": "invalid", "kind": "table", "reason": bad.json["reason"]}
    assert bad.json["reason"]
    plain = call("check", str(folder / "broken.json"))
    assert plain.status == 1
    assert plain.out == f"invalid: {bad.json['reason']}\n"


def test_run_json(call: Any, folder: Path) -> None:
    found = call("run", str(folder / "S4.json"), "--random", "4", "--length", "500", "--json")
    assert (found.status, found.err) == (0, "")
    assert set(RUN) <= set(found.json)
    assert (found.json["tokens"], found.json["sequences"], found.json["errors"]) == (2000, 4, 0)
    assert (found.json["first_error"], found.json["dtype"], found.json["horizon"]) == (None, "bf16", None)
    wrong = call("run", str(folder / "mod:60.json"), "--random", "9", "--length", "900", "--json")
    assert wrong.status == 1
    assert wrong.json["errors"] > 0
    assert wrong.json["first_error"] > wrong.json["horizon"] == 8
    exact = call(
        "run", str(folder / "mod:60.json"), "--random", "3", "--length", "90", "--dtype", "exact", "--json"
    )
    assert (exact.status, exact.json["dtype"], exact.json["horizon"]) == (0, "exact", None)
    aliased = call("run", str(folder / "mod:60.json"), "--word", "1", "--dtype", "bfloat16", "--json")
    assert (aliased.json["dtype"], aliased.json["horizon"]) == ("bf16", 8)


def test_the_certified_horizon_is_that_of_the_start(call: Any, folder: Path) -> None:
    path = str(folder / "mod:60.json")
    assert call("run", path, "--word", "1", "--start", "0", "--json").json["horizon"] == 8
    assert call("run", path, "--word", "1", "--start", "7", "--json").json["horizon"] is None


def test_export_json(call: Any, folder: Path, tmp_path: Path) -> None:
    for kind in ("npz", "safetensors"):
        path = tmp_path / f"w.{kind}"
        found = call("export", kind, str(folder / "parity.json"), "-o", str(path), "--json")
        assert (found.status, found.err) == (0, "")
        assert found.json == {"certificate": str(folder / "parity.json"), "written": str(path)}
        assert path.stat().st_size > 100
    assert np.load(tmp_path / "w.npz", allow_pickle=False)["A"].shape == (2, 1, 1)
    said = call("export", "npz", str(folder / "parity.json"), "-o", str(tmp_path / "again.npz"))
    assert (said.status, said.out, said.err) == (0, "", f"written: {tmp_path / 'again.npz'}\n")


def test_library_json_is_one_list(call: Any) -> None:
    rows = call("inspect", "--library", "--json").json
    assert {"name", "states", "letters", "monoid"} <= set(rows[0])


@pytest.mark.parametrize("arguments", [(), ("export",)])
def test_without_arguments_the_help_is_shown(arguments: tuple[str, ...], call: Any) -> None:
    shown = call(*arguments)
    assert (shown.status, shown.out) == (2, "")
    assert shown.err.startswith("Usage: ")
    assert "Commands:\n" in shown.err
    helped = call(*arguments, "--help")
    assert helped.status == 0
    assert "Commands:\n" in helped.out


def test_version(call: Any) -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", call("--version").out)


CASE_ERRORS = [
    ("duplicate_letter.json", "letter '0' is listed twice"),
    ("stray_names.json", "start state 'z' does not exist; accepting state 'w' does not exist"),
    ("no_start.dot", "--start"),
    ("lfs_pointer.csv", "git lfs pull"),
    ("out_of_range.txt", "line 1: image 5 "),
]


@pytest.mark.parametrize(("name", "text"), CASE_ERRORS)
@pytest.mark.parametrize("command", ["inspect", "construct"])
def test_error_rows_of_the_cases(command: str, name: str, text: str, call: Any, tmp_path: Path) -> None:
    output = (
        ("-o", str(tmp_path / "out.json"))
        if command == "construct"
        else ("--write", str(tmp_path / "out.json"))
    )
    error = call(command, str(CASES / name), *output, "--json").error
    assert error.startswith(f"{CASES / name}: ")
    assert text in error
    assert not list(tmp_path.iterdir())


ERRORS = [
    (("construct", "regex:a{2,3}"), ("regex:a{2,3}", "position 2", "--alphabet")),
    (("construct", "regex:|"), ("regex:|", "--alphabet")),
    (("construct", "regex:("), ("regex:(",)),
    (("construct", "regex:(", "--alphabet", "a"), ("regex:(", "position")),
    (("construct", "regex:a)b"), ("regex:a)b", "position 2")),
    (("construct", "regex:a*", "--alphabet", "b"), ("position 1", "'a'")),
    (("construct", "parrity"), ("parrity", "did you mean parity?")),
    (("construct", "s5"), ("did you mean S5?",)),
    (("inspect", "tomitta:4"), ("tomitta:4", "did you mean tomita:i")),
    (("construct", ""), ("''", "not a name")),
    (("construct", "mod:0"), ("mod:0", "from 1 on")),
    (("construct", "S5", "--theorem", "X"), ("--theorem X", "G.T3, DP.T4, H.A5inv, own.LMI, G.T6")),
    (("construct", "S5", "--exactness", "X"), ("--exactness X", "any or integer")),
    (("construct", "S5", "--product", "up"), ("--product up", "left, right")),
    (("construct", "S5", "--track", "up"), ("--track up", "state, output")),
    (("construct", "S3", "--start", "zz"), ("S3", "'zz'", "(0, 1, 2)")),
    (("construct", "S3", "--alphabet", "ab"), ("--alphabet", "remove it")),
    (("construct", "S3", "--group", "S3"), ("--group", "remove it")),
    (("construct", "S5", "--json", "--show"), ("--json", "--show")),
    (
        ("construct", "mod:7", "--exactness", "integer", "--theorem", "DP.T4"),
        ("mod:7", "--theorem DP.T4 --exactness integer", "leave it out"),
    ),
    (("construct", "S9"), ("S9", "362,880", "--max-states")),
    (("construct", "S5", "--max-states", "100"), ("120 states", "--max-states")),
    (("construct", "S5", "--picture", "x.gif"), ("x.gif", ".svg")),
    (("construct", "missing.json"), ("missing.json", "no such file")),
    (("construct", "some.yaml"), ("some.yaml", ".yaml", ".json")),
    (("construct", "a\0b"), ("NUL",)),
    (("construct",), ("SPEC",)),
    (("construct", "S5", "--nonsense"), ("--nonsense", "--help")),
    (("nonsense",), ("nonsense", "--help")),
    (("inspect",), ("SPEC", "--library")),
    (("check", "missing.json"), ("missing.json", "No such file")),
    (("run", "missing.json", "--word", "a"), ("missing.json", "no such file")),
    (("export", "npz", "missing.json", "-o", "x.npz"), ("missing.json",)),
    (("export", "npz", "missing.json"), ("--output",)),
]


@pytest.mark.parametrize(
    ("arguments", "parts"), ERRORS, ids=lambda value: " ".join(value).replace("\0", "NUL")[:40]
)
def test_errors_are_one_line_that_names_the_mend(
    arguments: tuple[str, ...], parts: tuple[str, ...], call: Any
) -> None:
    error = call(*arguments).error
    for part in parts:
        assert part in error


RUN_ERRORS = [
    (("parity",), ("--word", "--random")),
    (("parity", "--word", "0", "--random", "2"), ("--word", "--random")),
    (("parity", "--word", "012"), ("'2' is not a letter", "'0', '1'")),
    (("parity", "--random", "-3"), ("sequences -3",)),
    (("parity", "--random", "3", "--length", "-1"), ("length -1",)),
    (("parity", "--random", "3", "--seed", "-1"), ("seed -1",)),
    (("parity", "--random", "x"), ("--random",)),
    (("parity", "--word", "0", "--dtype", "int8"), ("'int8'", "bf16")),
    (("parity", "--word", "0", "--start", "q"), ("'q' is not a state", "'0', '1'")),
    (("parity", "--word", "0", "--picture", "x.gif"), ("x.gif", ".svg")),
    (("S5", "--word", "(0, 1, 2, 3, 5)"), ("S5", "(0, 1, 2, 3, 5)", "(0, 1, 2, 3, 4)")),
    (("broken", "--word", "0"), ("broken.json", "invalid")),
]


@pytest.mark.parametrize(("arguments", "parts"), RUN_ERRORS, ids=lambda value: " ".join(value)[:40])
def test_errors_of_run(arguments: tuple[str, ...], parts: tuple[str, ...], call: Any, folder: Path) -> None:
    name, *rest = arguments
    error = call("run", str(folder / f"{name}.json"), *rest).error
    for part in parts:
        assert part in error


def test_words_of_letters_with_blanks(call: Any, folder: Path) -> None:
    path = str(folder / "S5.json")
    found = call("run", path, "--word", "(1, 2, 3, 4, 0)  (1, 0, 2, 3, 4) (0, 1, 2, 3, 4)", "--json").json
    assert (found["tokens"], found["errors"]) == (3, 0)
    assert call("run", path, "--word", "", "--json").json["tokens"] == 0
    assert call("run", path, "--word", "(1, 2, 3, 4, 0)(1, 0, 2, 3, 4)").status == 2


def test_export_refusals(call: Any, folder: Path, tmp_path: Path) -> None:
    path = str(tmp_path / "w.npz")
    assert ".safetensors" in call("export", "npz", str(folder / "mod:12.json"), "-o", path).error
    assert "invalid" in call("export", "npz", str(folder / "broken.json"), "-o", path).error
    assert "invalid" in call("export", "safetensors", str(folder / "broken.json"), "-o", path).error
    assert (
        "--max-entries"
        in call("export", "npz", str(folder / "S5.json"), "-o", path, "--max-entries", "9").error
    )
    assert not list(tmp_path.iterdir())


def test_a_monoid_over_the_limit_is_said_with_the_figure(call: Any) -> None:
    begun = time.monotonic()
    found = call("inspect", "T8", "--json")
    assert found.status == 0
    assert time.monotonic() - begun < 60
    assert found.json["monoid"] is None
    notes = " ".join(found.json["notes"])
    assert "1,000,000" in notes
    assert "--max-monoid" in notes
    small = call("inspect", "T5", "--max-monoid", "100")
    assert small.status == 0
    assert "100" in small.out
    assert "--max-monoid" in small.out
    assert call("inspect", "T4", "--json").json["monoid"] == 256


def test_tomita_4_is_no_group_automaton_but_realised(call: Any, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    error = call("construct", "tomita:4", "--theorem", "G.T3", "-o", str(path)).error
    assert error.startswith("tomita:4: letter '0' merges states '00' and 'sink'")
    assert "a cascade (G.T4) realises it" in error
    assert not list(tmp_path.iterdir())
    done = call("construct", "tomita:4", "--theorem", "G.A3", "-o", str(path), "--json")
    assert done.json["theorem"] == "G.A3"
    assert done.json["householders"] is None
    assert call("check", str(path)).status == 0


@pytest.mark.parametrize("place", ["missing/c.json", "folder", "file/c.json"])
def test_unwritable_outputs(place: str, call: Any, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("kept")
    before = sorted(tmp_path.rglob("*"))
    target = str(tmp_path / place)
    assert target in call("construct", "parity", "-o", target).error
    assert call("export", "npz", str(CASES / "none.json"), "-o", target).status == 2
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write and read everything")
def test_permissions(call: Any, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    assert "Permission denied" in call("construct", "parity", "-o", str(closed / "c.json")).error
    secret = tmp_path / "secret.json"
    secret.write_text("{}")
    secret.chmod(0)
    assert "ermission" in call("construct", str(secret)).error
    assert "ermission" in call("check", str(secret)).error


def test_a_failed_construction_keeps_the_old_file(call: Any, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text("old")
    for arguments in (
        ("tomita:4", "--theorem", "DP.T4"),
        ("T3", "--max-layers", "1"),
        ("mod:7", "--exactness", "integer", "--theorem", "H.A5inv"),
        ("S9",),
        ("nope",),
    ):
        assert call("construct", *arguments, "-o", str(path)).status == 2
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    assert call("construct", "parity", "-o", str(path)).status == 0
    assert json.loads(path.read_text())["kind"] == "table"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("content", [b"", b"\x00\xff\xfe", b"[]", b"{}", b"\xef\xbb\xbf{}", b"[" * 50_000])
def test_files_that_are_no_certificates(content: bytes, call: Any, tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(content)
    checked = call("check", str(path))
    assert checked.status in (1, 2)
    assert "Traceback" not in checked.err
    assert str(path) in call("run", str(path), "--word", "a").error
    assert str(path) in call("export", "safetensors", str(path), "-o", str(tmp_path / "w")).error
    assert call("construct", str(path)).status == 2


def test_folders_as_input(call: Any, tmp_path: Path) -> None:
    (tmp_path / "folder.json").mkdir()
    for arguments in (
        ("construct",),
        ("inspect",),
        ("check",),
        ("run", "--word", "a"),
        ("export", "npz", "-o", "x"),
    ):
        error = call(*arguments[:2 if arguments[0] == "export" else 1], str(tmp_path / "folder.json"),
                     *arguments[2 if arguments[0] == "export" else 1:]).error  # fmt: skip
        assert str(tmp_path / "folder.json") in error
        assert "folder" in error or "directory" in error


def test_start(call: Any, tmp_path: Path, folder: Path) -> None:
    assert call("inspect", "mod:5", "--start", "3", "--json").json["start"] == "3"
    named = call("inspect", str(CASES / "no_start.dot"), "--start", "s1", "--json")
    assert named.json["start"] == "s1"
    path = str(tmp_path / "c.json")
    assert call("construct", str(CASES / "identity_only.txt"), "--start", "2", "-o", path).status == 0
    assert json.loads(Path(path).read_text())["automaton"]["start"] == 1
    for state in "123":
        assert (
            call("run", path, "--random", "2", "--length", "20", "--start", state, "--json").json["errors"]
            == 0
        )
        kept = str(folder / "full_t3 G.A3.json")
        assert (
            call("run", kept, "--random", "2", "--length", "20", "--start", state, "--json").json["errors"]
            == 0
        )


def test_product_right(call: Any, tmp_path: Path) -> None:
    tables = {}
    for product in ("left", "right"):
        path = str(tmp_path / f"{product}.json")
        assert call("construct", "S3", "--product", product, "-o", path).status == 0
        assert call("check", path).status == 0
        document = json.loads(Path(path).read_text())
        tables[product] = np.array(document["automaton"]["transitions"])
    elements = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    for x, g in enumerate(elements):
        for y, h in enumerate(elements):
            assert elements[tables["left"][x, y]] == tuple(g[i] for i in h)
            assert elements[tables["right"][x, y]] == tuple(h[i] for i in g)


def test_pictures_and_files_are_written(call: Any, tmp_path: Path, folder: Path) -> None:
    drawn, written, mirrors, margins = (
        str(tmp_path / name) for name in ("a.svg", "a.json", "m.svg", "r.svg")
    )
    said = call("inspect", "parity", "--draw", drawn, "--write", written)
    assert said.status == 0
    assert said.err == f"written: {drawn}\nwritten: {written}\n"
    assert call("construct", written).status == 0
    assert call("construct", "dihedral:5", "--picture", mirrors).status == 0
    assert (
        call(
            "run", str(folder / "mod:9.json"), "--random", "2", "--length", "30", "--picture", margins
        ).status
        == 0
    )
    for path in (drawn, mirrors, margins):
        assert "<svg" in Path(path).read_text()


def test_show_and_latex(call: Any) -> None:
    assert "(1, 0, 2)" in call("construct", "S3", "--show").out
    assert call("construct", "S3", "--latex").out.startswith("\\documentclass")
    assert "--max-letters 0" in call("construct", "S3", "--show", "--max-letters", "0").error


def test_tables_are_readable(call: Any, folder: Path) -> None:
    shown = call("construct", "S5").out
    assert re.search(r"householders +4\n", shown.replace(" \n", "\n")) or "householders" in shown
    assert "note:" in shown
    run = call("run", str(folder / "mod:9.json"), "--random", "1", "--length", "30").out
    assert "certified horizon" in run
    assert "no error up to token 39 in bf16" in run


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


def test_an_interrupt_is_no_traceback(folder: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "mirrormata", "run", str(folder / "mod:60.json"), "--random", "50",
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
