"""What the command line refuses: one line that names the fix, and no file is left or lost."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from mirrormata.tests.theory.certified import CASES

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
    (("construct", "regex:a++"), ("regex:a++", "position 3", "possessive")),
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
    (
        ("construct", "S5", "--theorem", "X"),
        ("--theorem X", "G.T3, DP.T4, H.A5inv, own.covers, own.LMI, own.definite, own.congruences"),
    ),
    (("construct", "S5", "--exactness", "X"), ("--exactness X", "any or integer")),
    (("construct", "S5", "--product", "up"), ("--product up", "left, right")),
    (("construct", "S5", "--track", "up"), ("--track up", "state, output")),
    (("construct", "S3", "--start", "zz"), ("S3", "'zz'", "(0, 1, 2)")),
    (("construct", "S3", "--alphabet", "ab"), ("--alphabet", "remove it")),
    (("construct", "S3", "--group", "S3"), ("--group", "remove it")),
    (("construct", "S5", "--json", "--show"), ("--json", "--show")),
    (
        ("construct", "mod:7", "--exactness", "integer", "--theorem", "DP.T4"),
        ("mod:7", "--theorem DP.T4 and --exactness integer", "leave one of the two out"),
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
    (("check", "missing.json"), ("missing.json", "no such file")),
    (("run", "missing.json", "--word", "a"), ("missing.json", "no such file")),
    (("export", "npz", "missing.json", "-o", "x.npz"), ("missing.json",)),
    (("export", "npz", "missing.json"), ("--output",)),
]


@pytest.mark.parametrize(
    ("arguments", "parts"), ERRORS, ids=lambda value: " ".join(value).replace("\0", "NUL")[:40]
)
def test_errors_are_one_line_that_names_the_fix(
    arguments: tuple[str, ...], parts: tuple[str, ...], call: Any
) -> None:
    error = call(*arguments).error
    for part in parts:
        assert part in error


RUN_ERRORS = [
    (("parity",), ("--word", "--random")),
    (("parity", "--word", "0", "--random", "2"), ("--word", "--random")),
    (("parity", "--word", "012"), ("as characters in a row, '2' is not a letter", "'0', '1'")),
    (("parity", "--random", "-3"), ("--random -3",)),
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
def test_errors_of_run(
    arguments: tuple[str, ...], parts: tuple[str, ...], call: Any, certificates: Path
) -> None:
    name, *rest = arguments
    error = call("run", str(certificates / f"{name}.json"), *rest).error
    for part in parts:
        assert part in error


def test_export_refusals(call: Any, certificates: Path, tmp_path: Path) -> None:
    path = str(tmp_path / "w.npz")
    assert ".safetensors" in call("export", "npz", str(certificates / "mod:12.json"), "-o", path).error
    assert "invalid" in call("export", "npz", str(certificates / "broken.json"), "-o", path).error
    assert "invalid" in call("export", "safetensors", str(certificates / "broken.json"), "-o", path).error
    assert (
        "--max-entries"
        in call("export", "npz", str(certificates / "S5.json"), "-o", path, "--max-entries", "9").error
    )
    assert not list(tmp_path.iterdir())


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
    assert call("construct", "S3", "-o", str(path)).status == 0
    old = path.read_bytes()
    for arguments in (
        ("tomita:4", "--theorem", "DP.T4"),
        ("T3", "--max-layers", "1"),
        ("mod:7", "--exactness", "integer", "--theorem", "H.A5inv"),
        ("S9",),
        ("nope",),
    ):
        assert call("construct", *arguments, "-o", str(path)).status == 2
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]
    assert call("construct", "parity", "-o", str(path)).status == 0
    assert path.read_bytes() != old
    path.write_text("of somebody else")
    assert "mirrormata did not write it" in call("construct", "parity", "-o", str(path)).error
    assert path.read_text() == "of somebody else"
    assert call("construct", "parity", "-o", str(path), "--force").status == 0
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


def test_split_answers_the_question_of_every_command_that_reads_an_automaton(
    call: Any, tmp_path: Path
) -> None:
    path = tmp_path / "loop.dot"
    path.write_text(
        'digraph { s [shape=point]; s -> A; A [shape=doublecircle]; A -> B [label="0,1"]; B -> A [label="0,1"] }',
        encoding="utf-8",
    )
    saved = tmp_path / "loop.json"
    for command in (("inspect", str(path)), ("construct", str(path)), ("plan", str(path))):
        error = call(*command).error
        assert "line 1: is '0,1' one letter or several? Answer with --split , for several" in error
        assert call(*command, "--split", ",", "--json").json
    call("construct", str(path), "--split", ",", "-o", str(saved))
    assert call("check", str(saved), "--for", str(path), "--split", ",", "--json").json["verdict"] == "valid"
    assert call("prove", str(saved), str(path), "--split", ",", "--json").json["verdict"] == "equivalent"
    assert "--split is for .dot, .gv" in call("inspect", "S3", "--split", ",").error.replace(" and", ",")
