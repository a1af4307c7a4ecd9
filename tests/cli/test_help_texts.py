"""Every help text is a sentence, fits into the list of commands, and ends with examples that the program accepts."""

from __future__ import annotations

import re
import shlex
from typing import Any

import pytest

from mirrormata.tests.project.generated_tables import program_commands

COMMANDS = dict(program_commands())


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
    assert 1 <= len(lines) <= 2
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


@pytest.mark.parametrize("group", ["", "export", "import"])
def test_the_list_of_commands_cuts_no_sentence(group: str, call: Any) -> None:
    listed = call(*group.split(), "--help").out.partition("Commands:\n")[2]
    assert listed
    assert "..." not in listed
