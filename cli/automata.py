"""The command `inspect`: facts about an automaton, and the library of named automata."""

from __future__ import annotations

from typing import Annotated

import typer

from ..foundation._errors import InputError
from .help import AUTOMATA, complete_spec
from .options import (
    SPEC_HELP,
    Alphabet,
    Group,
    Json,
    MaxStates,
    MaxTransitions,
    ProductOption,
    Split,
    Start,
    TrackOption,
    automaton_of,
)
from .output import print_json, print_table, say, say_written, show_work


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command(rich_help_panel=AUTOMATA)(inspect)


def inspect(
    spec: Annotated[
        str | None, typer.Argument(metavar="[SPEC]", help=SPEC_HELP, autocompletion=complete_spec)
    ] = None,
    library: Annotated[
        bool, typer.Option("--library", help="List all named automata with their sizes. No SPEC is needed.")
    ] = False,
    draw: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Draw the transition graph of the automaton to this .svg or .png file."
        ),
    ] = None,
    write: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write the automaton to this file. The extension chooses the format: .json, .dot, .jff, .mata, .att, .csv and others.",
        ),
    ] = None,
    alphabet: Alphabet = None,
    split: Split = None,
    track: TrackOption = None,
    start: Start = None,
    group: Group = None,
    product: ProductOption = "left",
    max_monoid: Annotated[
        int,
        typer.Option(
            help="Largest number of elements of the transition monoid to list. Facts that need more are reported as unknown."
        ),
    ] = 1_000_000,
    max_states: MaxStates = 100_000,
    max_transitions: MaxTransitions = 10_000_000,
    max_drawn: Annotated[int, typer.Option(help="Largest number of states that --draw accepts.")] = 200,
    sink: Annotated[
        bool | None,
        typer.Option(
            help="Draw a state that no letter leaves, with the arrows into it, or leave it out. By default --draw leaves it "
            "out where more than 12 arrows lead into it.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Print facts about an automaton, draw it, or convert its file.

    The facts are the numbers of states and letters, the size of the transition monoid, whether that monoid is a group,
    aperiodic, commutative or solvable, and whether the automaton is synchronising. The input is a name, a file or a
    regular expression. Only --draw and --write write files.

    \b
    Examples:
      mirrormata inspect S5
      mirrormata inspect 'regex:(ab)*' --alphabet ab --write ab.dot
    """
    if library:
        _print_library(max_monoid, as_json)
        return
    if spec is None:
        raise InputError("inspect: give a SPEC, or --library for the list of names")
    from ..constructions._inspection import inspect_automaton

    automaton = automaton_of(spec, alphabet, track, start, group, product, max_states, max_transitions, split)
    facts = inspect_automaton(automaton, max_monoid=max_monoid)
    if draw is not None:
        from ..theory.pictures._automaton import draw_automaton

        draw_automaton(automaton, draw, max_drawn=max_drawn, sink=sink)
    if write is not None:
        automaton.save(write)
    if as_json:
        print_json(facts.to_json())
    else:
        print_table(facts.name, facts.rows())
        say_written(draw, write)


def _print_library(max_monoid: int, as_json: bool) -> None:
    from ..constructions.library._names import library_rows, library_text

    with show_work("counting"):
        rows = library_rows(max_monoid)
    if as_json:
        print_json(rows)
        return
    say(library_text(rows))
