"""Options and arguments that several commands share, and the automaton that they name."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ..foundation._errors import InputError

SPEC_HELP = (
    "What automaton: a name (`mirrormata inspect --library` lists them), a file "
    "(.json .dot .mata .att .csv .txt) or regex:PATTERN"
)
Spec = Annotated[str, typer.Argument(metavar="SPEC", help=SPEC_HELP)]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Alphabet = Annotated[str | None, typer.Option(help="Letters of regex:PATTERN, as one string.")]
TrackOption = Annotated[
    str | None,
    typer.Option("--track", help="state: keep every reachable state; output: minimise by outputs."),
]
Start = Annotated[str | None, typer.Option(help="Label of the start state.")]
Group = Annotated[
    str | None, typer.Option(help="Group of a word-problem .csv, where its name does not say it.")
]
PRODUCT_HELP = "Group word problems: left (y becomes x·y) or right (y·x)."
ProductOption = Annotated[str, typer.Option("--product", help=PRODUCT_HELP)]
MaxStates = Annotated[int, typer.Option(help="Largest number of states to build.")]

MaxTransitions = Annotated[int, typer.Option(help="Largest letters × states of a named automaton.")]
MaxEntries = Annotated[int, typer.Option(help="Largest number of entries in one array.")]
ExactnessOption = Annotated[
    str, typer.Option("--exactness", help="any, or integer for bit-exact constructions only.")
]
THEOREM_HELP = "Only constructions of one source, such as G.T3."
"""Completed by `theorem_help` where the help of a command is printed: the list is not read at each start."""
TheoremOption = Annotated[str | None, typer.Option("--theorem", help=THEOREM_HELP)]
MaxLayers = Annotated[int | None, typer.Option(help="Most layers.")]
MaxHouseholders = Annotated[int | None, typer.Option(help="Most factors of a letter in one head.")]
MaxDim = Annotated[int | None, typer.Option(help="Largest key dimension of a head.")]
CoordinatesOption = Annotated[
    str,
    typer.Option("--coordinates", help="Of a cascade's components: few, or one_hot as the theorem has them."),
]
MaxDegree = Annotated[int, typer.Option(help="Largest degree of a number field.")]
MaxGroup = Annotated[int, typer.Option(help="Largest group to list in the search for small representations.")]
MaxImageSets = Annotated[int, typer.Option(help="Most image sets of a holonomy decomposition.")]
MaxSetMoves = Annotated[int, typer.Option(help="Most entries (image sets × letters) of its table of moves.")]
MaxLevelLetters = Annotated[int, typer.Option(help="Most letters on one level of a cascade.")]


def theorem_help() -> str:
    """The help of --theorem with the sources of all constructions, as their files give them."""
    from ..constructions.theorems._registry import all_constructions

    known = all_constructions().values()
    chosen = [c.source for c in known if not c.by_request]
    gated = [c.source for c in known if c.by_request and c.norm_bounded]
    unbounded = [c.source for c in known if c.by_request and not c.norm_bounded]
    return (
        f"Only constructions of one source: {', '.join(chosen)}; only by this option {', '.join(gated)}, with gates, and "
        f"{', '.join(unbounded)}, whose norm can exceed 1."
    )


def automaton_of(
    spec: str,
    alphabet: str | None,
    track: str | None,
    start: str | None,
    group: str | None,
    product: str,
    max_states: int,
    max_transitions: int,
) -> Any:
    """The automaton that SPEC and its options name; loaded here, so that start-up stays light."""
    from ..constructions._spec import automaton_from_spec

    return automaton_from_spec(
        spec, alphabet=alphabet, track=one_of(track, "--track", "state", "output"), start=start, group=group,
        product=one_of(product, "--product", "left", "right"), max_states=max_states, max_transitions=max_transitions,
    )  # fmt: skip


def one_of(value: str | None, option: str, *choices: str) -> Any:
    """The value; `InputError` where it is none of the choices (None: not given)."""
    if value is not None and value not in choices:
        raise InputError(f"{option} {value}: it is one of {', '.join(choices)}")
    return value
