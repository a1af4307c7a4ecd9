"""What labels and options may hold: no control character reaches a terminal, and digits are those of ASCII."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import mirrormata
from mirrormata.theory.checker._arithmetic import Arithmetic
from mirrormata.theory.checker._exact import Invalid

from .command_line import Outcome

Call = Callable[..., Outcome]
OLD = Path(__file__).parents[1] / "data" / "certificates-0.1"


@pytest.mark.parametrize(
    "name", ["per_step:int:-1٣..4", "per_step:fixed:٨:3", "per_step:0,١", "per_op:int:-१..1"]
)
def test_digits_of_other_scripts_name_no_arithmetic(name: str, call: Call) -> None:
    with pytest.raises(Invalid):
        Arithmetic(name)
    done = call("prove", str(OLD / "table.json"), "parity", "--arithmetic", name)
    assert (done.status, done.err.count("\n")) == (2, 1)


def test_digits_of_other_scripts_are_no_lengths(call: Call, tmp_path: Path) -> None:
    for option in ("--lengths", "--test-lengths"):
        for text in ("٣", "²", "3-²"):
            done = call("train", "parity", "-o", str(tmp_path / "x"), option, text)
            assert (done.status, done.err.count("\n")) == (2, 1), done.err


CONTROL = "\x1b[31mred\x1b[0m\x07\x9b\u202e"


def test_control_characters_of_labels_do_not_reach_the_terminal(call: Call, tmp_path: Path) -> None:
    document = json.loads((OLD / "horizon.json").read_text())
    document["labels"]["automaton"] = f"{CONTROL}five"
    document["labels"]["states"][0] = document["labels"]["outputs"][0] = f"{CONTROL}0"
    document["labels"]["letters"][1] = f"{CONTROL}1"
    file = tmp_path / "c.json"
    file.write_text(json.dumps(document))
    for arguments in (
        ("check", str(file)),
        ("check", str(file), "--for", "mod:5"),
        ("run", str(file), "--word", f"{CONTROL}1 {CONTROL}1 {CONTROL}1 {CONTROL}1 {CONTROL}1"),
        ("run", str(file), "--word", "0 \x1b[2J"),
        ("compare", str(file), str(file), "--words", "8", "--length", "8", "--fit", "4", "--extract", "none"),
        ("compare", str(file), "mod:5"),
        ("spectrum", str(file)),
        ("construct", "\x1b[31mparity"),
    ):
        done = call(*arguments)
        assert not set("\x1b\x07\x9b\u202e") & set(done.out + done.err), arguments
    shown = call("run", str(file), "--random", "1", "--length", "3").out
    assert "\\x1b[31mred" in shown
    assert "\\u202efive" in shown


def test_everything_printed_for_people_goes_through_one_place() -> None:
    """No `print` and no console of its own in the command line, nor in the tables that it prints."""
    root = Path(mirrormata.__file__).parent
    allowed = {"cli/output.py", "foundation/_text.py", "cli/claims.py", "cli/training_display.py"}
    for folder in ("cli", "theory/planning", "theory/verifying", "models", "constructions"):
        for file in (root / folder).rglob("*.py"):
            if str(file.relative_to(root)) not in allowed:
                text = file.read_text()
                assert " Console(" not in text, file
                assert "\n        print(" not in text, file
                assert "\n    print(" not in text, file
