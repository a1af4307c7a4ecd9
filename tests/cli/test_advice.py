"""What somebody probably meant: an error names the thing that was given, and the nearest that would do."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import mirrormata as m
from mirrormata import InputError
from mirrormata.models import load_model
from mirrormata.theory._check import all_checkers

FOLDER = Path(m.__file__).parent / "theory" / "checker"
TRAINING = [
    "--steps",
    "1",
    "--width",
    "8",
    "--heads",
    "1",
    "--batch",
    "2",
    "--lengths",
    "3",
    "--test-lengths",
    "4",
]


def test_a_checker_names_the_one_of_another_kind(certificates: Path) -> None:
    paths = {"table": "S4.json", "horizon": "mod:9.json"}
    for kind, path in paths.items():
        for checker in sorted(set(all_checkers()) - {kind}):
            outcome = subprocess.run(
                [sys.executable, "-I", str(FOLDER / f"{checker}.py"), str(certificates / path)],
                capture_output=True, text=True, check=False, timeout=120,
            )  # fmt: skip
            assert outcome.returncode == 1
            assert outcome.stdout == (
                f"invalid: not a certificate of kind {checker}: its kind is {kind!r}, which {kind}.py checks\n"
            )
    from mirrormata.theory.checker.table import check

    documents: list[Any] = [[], {}, {"kind": "_exact"}, {"kind": ["table"]}, {"kind": "../table"}]
    for wrong in documents:
        with pytest.raises(
            Exception, match=r"^(no certificate|not a certificate of kind table: its kind is [^,]*$)"
        ):
            check(wrong)


def test_the_folder_of_a_training(call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert call("train", "parity", "-o", "runs", *TRAINING).status == 0
    for command in ("compare", "prove"):
        assert call(command, "runs", "parity").error.endswith("give that of one seed, such as runs/seed-0")
    with pytest.raises(InputError, match="give that of one seed, such as runs/seed-0"):
        load_model("runs")
    error = call("verify", "--model", "runs/seed-0").error
    assert "an .npz of matrices" in error
    assert "`mirrormata compare`" in error
    shutil.rmtree("runs/seed-0")
    with pytest.raises(InputError, match="runs: holds a training that is not finished"):
        load_model("runs")
    Path("empty").mkdir()
    for place, text in (
        ("empty", "has no config.json"),
        ("runs/task.json", "is a file"),
        ("none", "no such folder"),
    ):
        with pytest.raises(InputError, match=f"{place}: {text}"):
            load_model(place)


def test_a_name_in_place_of_a_construction(call: Any) -> None:
    for wrong in (
        lambda: m.run("parity", "1"),
        lambda: m.prove("parity", "S3"),
        lambda: m.compare("parity", "S3"),
    ):
        with pytest.raises(InputError, match=r"give the result of `construct\('parity'\)`"):
            wrong()
    error = call("run", "paritee", "--word", "1").error
    assert error == "paritee: no such file, and no automaton of this name; did you mean parity?"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("construct S5 --theorem GT3", "did you mean G.T3?"),
        ("construct S5 --theorem g.t33", "did you mean G.T3?"),
        ("plan S5 --max-layers 0", "--max-layers 0: it must be a positive whole number"),
        ("prove c.json parity --max-states 0", "--max-states 0: give a number of states of at least 1"),
        ("verify G.T33", "did you mean G.T3?"),
        ("verify G.T3 --model c.json", "--model c.json: G.T3 cannot be applied to it"),
        ("verify G.T3 --model c.json --json", "--model c.json: G.T3 cannot be applied to it"),
        ("export npz c.json -o c.txt", "c.txt: the arrays are written to a .npz file"),
        ("export safetensors c.json -o c.npz", "c.npz: the arrays are written to a .safetensors file"),
        ("inspect folder", "folder: is a folder, and an automaton is wanted"),
        ("inspect file", "file: a file without an extension"),
        ("eval c.json", "c.json: is a file, and a folder is needed"),
    ],
)
def test_one_line_says_what_would_do(
    arguments: str, text: str, call: Any, certificates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(certificates / "parity.json", "c.json")
    Path("folder").mkdir()
    Path("file").write_text("text")
    assert text in call(*arguments.split()).error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.json", "file", "folder"]


def test_theorems_in_any_case() -> None:
    assert m.construct("S4", theorem="g.t3").certificate() == m.construct("S4", theorem="G.T3").certificate()


def test_a_device_that_is_not_there(call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    monkeypatch.chdir(tmp_path)
    error = call("train", "parity", "-o", "x", "--device", "cuda", *TRAINING).error
    assert error.endswith("choose cpu or auto: torch finds no GPU here")


def test_algebraic_numbers_come_with_the_integer_construction(call: Any, tmp_path: Path) -> None:
    file = str(tmp_path / "mod60.json")
    advice = "--exactness integer"
    assert advice in call("construct", "mod:60", "-o", file).out
    assert advice not in call("construct", "mod:60", "--theorem", "DP.T4").out
    assert advice not in call("construct", "S5").out
    found = call("run", file, "--random", "4", "--length", "2000")
    assert "--dtype exact is right at any length" in " ".join(found.out.split())
    assert advice not in call("run", file, "--random", "4", "--length", "20", "--dtype", "fp32").out


def test_a_certificate_is_known_by_its_content(call: Any, tmp_path: Path) -> None:
    file = str(tmp_path / "s5.txt")
    call("construct", "S5", "-o", file)
    assert call("check", file).out.startswith("valid")
    assert call("run", file, "--random", "2", "--length", "50").status == 0
    refused = call("plan", file)
    assert refused.status == 2
    assert "is a certificate, and an automaton is wanted" in refused.err


def test_the_npz_of_a_rule_advises_what_can_be_written(call: Any, tmp_path: Path) -> None:
    spec, files = (
        "regex:(a|b)*a(a|b){3}",
        [str(tmp_path / name) for name in ("one.json", "two.json", "two.npz")],
    )
    call("construct", spec, "--theorem", "own.chain", "-o", files[0])
    refused = call("export", "npz", files[0], "-o", files[2])
    assert refused.status == 2
    assert "--theorem G.A3" in refused.err
    call("construct", spec, "--theorem", "G.A3", "-o", files[1])
    assert call("export", "npz", files[1], "-o", files[2]).status == 0
