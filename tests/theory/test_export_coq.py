"""`export coq`: files that stand alone, that Coq accepts, and that it refuses when a number is changed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from mirrormata.cli import main
from mirrormata.constructions._construct import construct
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.chains._chain import ChainRNN
from mirrormata.foundation._errors import InputError, LimitError
from mirrormata.theory import _export_coq
from mirrormata.theory._export_coq import coq_text, export_coq

needs_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed: apt install coq")
PROVED = "Closed under the global context"


def coqc(path: Path) -> subprocess.CompletedProcess[str]:
    """What Coq says of a file."""
    return subprocess.run(
        ["coqc", "-q", path.name], cwd=path.parent, capture_output=True, text=True, check=False
    )


def random_automaton(states: int) -> Automaton:
    """Two letters, maps drawn uniformly."""
    transitions = np.random.default_rng(states).integers(0, states, (2, states))
    outputs = np.arange(states) % 2 == 0
    return Automaton(
        tuple(range(states)), ("a", "b"), transitions, 0, outputs.astype(object), keeps_points=True
    )


@needs_coq
@pytest.mark.parametrize(
    ("spec", "theorem", "number", "other"),
    [
        ("parity", None, "Householder 2 [1]", "Householder 1 [1]"),
        ("flipflop", None, "[[1]]) (* 2 *)", "[[2]]) (* 2 *)"),
        ("tomita:4", "G.T4", "Householder 1 [1; -1]", "Householder 1 [1; 1]"),
        ("mod_arith:3", None, "Householder 1 [1; -1; 0]", "Householder 1 [1; 1; 0]"),
    ],
)
def test_coq_accepts_tables_and_refuses_altered_ones(
    spec: str, theorem: str | None, number: str, other: str, tmp_path: Path
) -> None:
    path = tmp_path / "right.v"
    export_coq(construct(spec, theorem=theorem), path)
    text = path.read_text()
    said = coqc(path)
    assert said.returncode == 0, said.stderr
    assert said.stdout.strip() == PROVED
    assert number in text
    path.write_text(text.replace(number, other, 1))
    said = coqc(path)
    assert said.returncode != 0
    assert "Unable to unify" in said.stderr


@needs_coq
@pytest.mark.long
def test_s5_altered_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s5.v"
    export_coq(construct("S5"), path)
    text = path.read_text()
    assert coqc(path).stdout.strip() == PROVED
    for number, other in [
        ("Householder 1 [0; 0; 0; 1; -1]", "Householder 1 [0; 0; 0; 1; 1]"),
        ("(119%nat, [[[[5; 4; 3; 2; 1]]]])", "(119%nat, [[[[5; 4; 3; 1; 2]]]])"),
    ]:
        assert number in text
        path.write_text(text.replace(number, other, 1))
        assert "Unable to unify" in coqc(path).stderr


@needs_coq
@pytest.mark.long
@pytest.mark.parametrize("theorem", ["own.chain", "own.window"])
def test_chains_of_twelve_states(theorem: str, tmp_path: Path) -> None:
    path = tmp_path / "chain.v"
    found = construct(random_automaton(12), theorem=theorem)
    assert isinstance(found, ChainRNN)
    export_coq(found, path)
    text = path.read_text()
    assert coqc(path).stdout.strip() == PROVED
    if found.window is None:
        # where the first letter leads from the first chain that is listed
        altered = re.sub(
            r"(lead : list \(list nat\) := \[\[)([0-9]+)", lambda m: f"{m[1]}{int(m[2]) + 1}", text
        )
    else:
        altered = text.replace(f"window := Some {found.window};", f"window := Some {found.window - 1};")
    assert altered != text
    path.write_text(altered)
    assert "Unable to unify" in coqc(path).stderr


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "parity.v"
    with pytest.raises(SystemExit) as ended:
        main(["export", "coq", "parity", "-o", str(path)])
    assert ended.value.code == 0
    assert f"written: {path}" in capsys.readouterr().err
    text = path.read_text()
    # the file stands alone
    assert "From Mirrormata" not in text
    assert "Theorem follows" in text


def test_the_command_takes_a_theorem_and_an_exactness(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec, path = "random:states=12,letters=2,seed=3", str(tmp_path / "r3.v")
    for given, advice in ((spec, "--theorem own.chain"), ("A5", "--exactness integer")):
        with pytest.raises(SystemExit) as ended:
            main(["export", "coq", given, "-o", path])
        assert ended.value.code == 2
        assert advice in " ".join(capsys.readouterr().err.split())
        with pytest.raises(SystemExit) as ended:
            main(["export", "coq", given, *advice.split(), "-o", path])  # the second time in place of its own
        assert ended.value.code == 0
        capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main(["construct", "A5", "-o", str(tmp_path / "a5.json")])
    with pytest.raises(SystemExit) as ended:
        main(["export", "coq", str(tmp_path / "a5.json"), "--exactness", "integer", "-o", path])
    assert ended.value.code == 2
    assert "--exactness is for the construction of a SPEC" in " ".join(capsys.readouterr().err.split())


@needs_coq
@pytest.mark.parametrize("theorem", ["G.A3", "own.chain"])
def test_labels_are_comments(theorem: str, tmp_path: Path) -> None:
    """Also labels that would end a comment, begin a comment or a string, or break the line."""
    states, letters = ("(*", '"*)', "a\nb"), ("*)", '(**"')
    outputs = np.array(["yes", "no *)", "yes"], dtype=object)
    machine = Automaton(states, letters, np.array([[1, 2, 0], [0, 0, 2]]), 0, outputs, name="odd *)")
    text = coq_text(construct(machine, theorem=theorem).certificate())
    assert "Letter 0: '* )'" in text
    assert "State 0: '( *', output 'yes' (the start)" in text
    assert "State 2: 'a\\nb', output 'yes'" in text
    path = tmp_path / "odd.v"
    path.write_text(text)
    assert coqc(path).returncode == 0, coqc(path).stderr


def test_chains_stand_alone_too() -> None:
    text = coq_text(construct(random_automaton(6), theorem="own.chain").certificate())
    assert "From Mirrormata" not in text
    assert "Admitted" not in text


def test_what_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"such as s5\.v; rename it"):
        export_coq(construct("parity"), tmp_path / "parity.txt")
    with pytest.raises(InputError, match="Coq needs a name"):
        export_coq(construct("parity"), tmp_path / "5-parity.v")
    with pytest.raises(InputError, match="computes with integers"):
        export_coq(construct("A5"), tmp_path / "a5.v")
    with pytest.raises(InputError, match="of kind delay"):
        export_coq(construct("S4", theorem="DP.T1"), tmp_path / "s4.v")
    monkeypatch.setattr(_export_coq, "MAX_STATES", 20)
    with pytest.raises(LimitError, match="too many to list in a Coq file"):
        export_coq(construct("S5"), tmp_path / "s5.v")
    assert not list(tmp_path.iterdir())
