"""The library's messages name arguments; the command line prints them as the running command calls them."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from mirrormata.cli.output import name_options_of, with_options
from mirrormata.constructions._inspection import inspect_automaton
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.foundation._errors import InputError, LimitError

from .command_line import Outcome

Call = Callable[..., Outcome]


def parameter(name: str, *opts: str, metavar: str | None = None) -> SimpleNamespace:
    kind = "option" if opts else "argument"
    return SimpleNamespace(name=name, opts=opts, metavar=metavar, param_type_name=kind)


def context_of(own: list[Any], other: list[Any]) -> Any:
    command, further = SimpleNamespace(params=own), SimpleNamespace(params=other)
    root = SimpleNamespace(params=[], commands={"own": command, "other": further})
    return SimpleNamespace(command=command, find_root=lambda: SimpleNamespace(command=root))


def test_arguments_become_options_of_the_running_command() -> None:
    own = [parameter("automaton", "--for"), parameter("spec", metavar="[SPEC]")]
    text = "`automaton` or `spec`, with `max_layers` 1, not `identity` or `git lfs pull`"
    assert with_options(text) == text
    with name_options_of(context_of(own, [parameter("max_layers", "--max-layers")])):
        assert with_options(text) == "--for or SPEC, with --max-layers 1, not `identity` or `git lfs pull`"
    assert with_options(text) == text


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("inspect", "S9"), "(raise it with --max-states)"),
        (("inspect", "S3", "--group", "S3"), "S3: --group is for .csv files only; remove it"),
        (("run", "x.json"), "run: give --word, or --random with --length"),
        (("verify", "--source", "nobody"), "--source nobody: no claims"),
        (("spectrum", "tests", "--products", "-1"), ""),
    ],
)
def test_printed_errors_name_options(arguments: tuple[str, ...], part: str, call: Call) -> None:
    error = call(*arguments).error
    assert part in error
    assert "`max_" not in error


def test_tables_name_options_too(call: Call) -> None:
    assert "raise it with --max-monoid" in " ".join(call("inspect", "S4", "--max-monoid", "20").out.split())


def test_a_caller_in_python_reads_arguments() -> None:
    with pytest.raises(LimitError, match=r"raise it with `max_states`"):
        automaton_from_spec("S9")
    with pytest.raises(InputError, match=r"`alphabet` is for .att files and regex:PATTERN only"):
        automaton_from_spec("S3", alphabet="ab")
    assert (
        "raise it with `max_monoid`" in inspect_automaton(automaton_from_spec("S4"), max_monoid=20).notes[-1]
    )
    assert (
        "raise it with `max_monoid`" in inspect_automaton(automaton_from_spec("T4"), max_monoid=20).notes[0]
    )
