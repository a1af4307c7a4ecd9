"""Every help text is a sentence, fits into the list of commands, and ends with examples that the program accepts."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mirrormata.cli.help import LIMITS, PANELS
from mirrormata.tests.project.generated_tables import program_commands

COMMANDS = dict(program_commands())
QUICK = ("inspect", "construct", "plan", "check", "claims")
"""Commands whose examples take seconds and read only files that earlier ones wrote."""


def examples(command: Any) -> list[str]:
    """The lines below "Examples:", which is the last paragraph."""
    text, found, lines = command.help.partition("Examples:\n")
    assert found, command.name
    assert text.endswith("\b\n"), "click keeps the line breaks of a paragraph that begins with \\b"
    return [line.strip() for line in lines.splitlines() if line.strip()]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_says_what_it_does_and_how_it_is_called(name: str, call: Any) -> None:
    command = COMMANDS[name]
    lines = examples(command)
    assert len(lines) == 2
    shown = call(*name.split(), "--help").out
    for line in lines:
        assert f"\n    {line}\n" in shown
        words = shlex.split(line)
        assert words[: 1 + len(name.split())] == ["mirrormata", *name.split()]
        with command.make_context(command.name, words[1 + len(name.split()) :]):
            pass  # options and arguments are accepted


@pytest.mark.parametrize("name", COMMANDS)
def test_options_are_explained_in_sentences(name: str) -> None:
    for parameter in COMMANDS[name].params:
        text = parameter.help or ""
        assert re.match(r"[A-Z].*\.$", text, flags=re.DOTALL), f"{name} {parameter.name}: {text!r}"


@pytest.mark.parametrize("name", COMMANDS)
def test_options_stand_in_panels(name: str, call: Any) -> None:
    """Each option once, in the order of the panels; short names for values; -h is --help."""
    shown = call(*name.split(), "--help").out
    assert call(*name.split(), "-h").out == shown
    headings = re.findall(r"^(\w[\w ]*):$", shown.partition("Arguments:\n")[2], flags=re.MULTILINE)
    assert headings == [panel for panel in PANELS if panel in headings]
    assert LIMITS not in headings or headings[-1] == LIMITS
    options = shown.partition("Arguments:\n")[2]
    for parameter in COMMANDS[name].params:
        listed = re.findall(
            rf"^  (?:-\w, )?{re.escape(parameter.opts[0])}(?![\w-])", options, flags=re.MULTILINE
        )
        if parameter.param_type_name == "option" and parameter.opts[0].startswith("--"):
            assert len(listed) == (not parameter.hidden), parameter.name
    assert not re.search(r"<(str|int|float|list)|[{}]|\[\[", shown)


@pytest.mark.parametrize("group", ["", "export", "import"])
def test_the_list_of_commands_cuts_no_sentence(group: str, call: Any) -> None:
    shown = call(*group.split(), "--help").out
    assert max(map(len, shown.splitlines())) <= 80
    for name, command in COMMANDS.items():
        first = " ".join(command.help.split("\n\n")[0].split())
        if name.startswith(f"{group} ".lstrip()) and " " not in name.removeprefix(f"{group} ".lstrip()):
            assert re.search(rf"^  {name.split()[-1]} +{re.escape(first)}$", shown, flags=re.MULTILINE), name


def test_commands_stand_in_groups(call: Any) -> None:
    shown = call("--help").out
    groups = {
        heading: re.findall(r"^  (\w+)  ", lines, flags=re.MULTILINE)
        for heading, lines in re.findall(r"^(\w+):\n((?:  .*\n)+)", shown, flags=re.MULTILINE)
    }
    assert groups == {
        "Automata": ["inspect", "construct", "plan", "run"],
        "Proofs": ["check", "verify", "claims", "prove", "spectrum", "audit"],
        "Models": ["train", "eval", "sweep", "tokenize", "compare", "vectors", "export", "import"],
        "Report": ["report"],
        "Options": [],
    }


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("mirrormata con", ["construct"]),
        ("mirrormata construct dy", ["dyck1:4", "dyck:2,3"]),
        ("mirrormata run tom", ["tomita:3"]),
        ("mirrormata prove S5 Q", ["Q8"]),
        ("mirrormata claims CK", ["CK.1", "CK.S5"]),
        ("mirrormata check S5 --spl", ["--split"]),
        ("mirrormata check some/file", []),
    ],
)
def test_the_shell_completes_commands_names_and_claims(words: str, offered: list[str]) -> None:
    line = words.split()
    shell = {
        "_MIRRORMATA_COMPLETE": "complete_bash",
        "COMP_WORDS": "\n".join(line),
        "COMP_CWORD": str(len(line) - 1),
    }
    code = "import sys; sys.argv[0] = 'mirrormata'; from mirrormata.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **shell},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stdout.split() == offered


def test_the_examples_that_need_no_file_run(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the order of `mirrormata --help`, so that the files of earlier examples are there; what takes long is only parsed above."""
    monkeypatch.chdir(tmp_path)
    ran = 0
    for name in QUICK:
        for line in examples(COMMANDS[name]):
            done = call(*shlex.split(line)[1:])
            assert done.status == 0, (line, done.err)
            ran += 1
    assert ran == 2 * len(QUICK)
