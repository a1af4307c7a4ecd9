"""Options and arguments that several commands share, and the automaton that they name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from ..foundation._errors import InputError

Record = TypeVar("Record")
SPEC_FORMS = (
    "a name (`mirrormata inspect --library` lists all names), a file (.json, .dot, .mata, .att, .csv or .txt), or "
    "regex:PATTERN."
)
SPEC_HELP = f"The automaton: {SPEC_FORMS}"
Spec = Annotated[str, typer.Argument(metavar="SPEC", help=SPEC_HELP)]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Alphabet = Annotated[str | None, typer.Option(help="The letters of a regex:PATTERN, as one string.")]
TrackOption = Annotated[
    str | None,
    typer.Option(
        "--track",
        help="Keep every reachable state (state), or minimise by outputs (output). The default depends on the input.",
    ),
]
Start = Annotated[str | None, typer.Option(help="Label of the start state, in place of the automaton's own.")]
Group = Annotated[
    str | None,
    typer.Option(help="Name of the group of a word-problem .csv whose file name does not contain it."),
]
PRODUCT_HELP = "Order of a group's word problem: left (letter x takes y to x·y) or right (to y·x)."
ProductOption = Annotated[str, typer.Option("--product", help=PRODUCT_HELP)]
MaxStates = Annotated[int, typer.Option(help="Largest number of states of the automaton.")]

MaxTransitions = Annotated[int, typer.Option(help="Largest number of letters × states of a named automaton.")]
MaxEntries = Annotated[int, typer.Option(help="Largest number of entries in one array.")]
ExactnessOption = Annotated[
    str,
    typer.Option("--exactness", help="Allow any construction, or integer ones only, which are bit-exact."),
]
THEOREM_HELP = "Allow only constructions from this source, such as G.T3."
"""Completed by `theorem_help` where the help of a command is printed: the list is not read at each start."""
TheoremOption = Annotated[str | None, typer.Option("--theorem", help=THEOREM_HELP)]
MaxLayers = Annotated[int | None, typer.Option(help="Largest number of layers.")]
MaxHouseholders = Annotated[
    int | None, typer.Option(help="Largest number of Householder factors of a letter in one head.")
]
MaxDim = Annotated[int | None, typer.Option(help="Largest key dimension of a head.")]
CoordinatesOption = Annotated[
    str,
    typer.Option(
        "--coordinates", help="Coordinates of a cascade's components: few, or one_hot as in the theorem."
    ),
]
MaxDegree = Annotated[int, typer.Option(help="Largest degree of the number field of the entries.")]
MaxGroup = Annotated[
    int,
    typer.Option(help="Largest group whose elements are listed, in the search for small representations."),
]
MaxImageSets = Annotated[int, typer.Option(help="Largest number of image sets of a holonomy decomposition.")]
MaxSetMoves = Annotated[
    int, typer.Option(help="Largest number of image sets × letters of a holonomy decomposition.")
]
MaxLevelLetters = Annotated[int, typer.Option(help="Largest number of letters on one level of a cascade.")]


def theorem_help() -> str:
    """The help of --theorem with the sources of all constructions, as their files give them."""
    from ..constructions.theorems._registry import all_constructions

    known = all_constructions().values()
    chosen = [c.source for c in known if not c.by_request]
    gated = [c.source for c in known if c.by_request and c.norm_bounded]
    unbounded = [c.source for c in known if c.by_request and not c.norm_bounded]
    return (
        f"Allow only constructions from this source: {', '.join(chosen)}; or, which only this option chooses, "
        f"{', '.join(gated)}, with gates, and {', '.join(unbounded)}, whose norm can exceed 1."
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
    """The automaton that SPEC and its options name; the import stands here to keep start-up light."""
    from ..constructions._spec import automaton_from_spec

    return automaton_from_spec(
        spec, alphabet=alphabet, track=one_of(track, "--track", "state", "output"), start=start, group=group,
        product=one_of(product, "--product", "left", "right"), max_states=max_states, max_transitions=max_transitions,
    )  # fmt: skip


def record_of(kind: Callable[..., Record], options: Mapping[str, Any]) -> Record:
    """The record, of a dataclass, whose fields are options of the same names: a command lists them in its signature alone.

    Args:
        kind: the dataclass.
        options: the values of a command's options by their names, `context.params`.
    """
    return kind(**{field.name: options[field.name] for field in fields(kind)})  # type: ignore[arg-type]


@dataclass(frozen=True)
class Sets:
    """Beside an option's type: which entry of an experiment it sets, and how its text is read.

    Attributes:
        entry: section and name, such as `train.steps`.
        read: makes the entry's value of the option's; None where the option is as if it had not been given.
    """

    entry: str
    read: Callable[[Any], Any] = lambda value: value


def entries_set(command: Callable[..., None], options: Mapping[str, Any]) -> dict[str, Any]:
    """The entries that a command's options set, by what its signature says of them; see `Sets`.

    Args:
        command: the function of the command.
        options: the values of its options by their names, `context.params`; None for one that was not given.
    """
    found = {}
    for name, hint in get_type_hints(command, include_extras=True).items():
        marks = [mark for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, Sets)]
        for mark in marks:
            if options[name] is not None and (value := mark.read(options[name])) is not None:
                found[mark.entry] = value
    return found


def one_of(value: str | None, option: str, *choices: str) -> Any:
    """The value; `InputError` where it is none of the choices (None: not given)."""
    if value is not None and value not in choices:
        raise InputError(f"{option} {value}: it is one of {', '.join(choices)}")
    return value
