"""Options and arguments that several commands share, and the automaton that they name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from ..foundation._errors import InputError
from ..foundation._files import shown_path
from .help import BUILDING, complete_spec
from .output import say, show_work

Record = TypeVar("Record")
SPEC_FORMS = (
    "a name (`mirrormata inspect --library` lists all names), a file (.json, .dot, .jff, .mata, .att, .csv, .txt and others), "
    "or regex:PATTERN."
)
SPEC_HELP = f"The automaton: {SPEC_FORMS}"
Spec = Annotated[str, typer.Argument(metavar="SPEC", help=SPEC_HELP, autocompletion=complete_spec)]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Alphabet = Annotated[
    str | None,
    typer.Option(
        help="The letters of a regex:PATTERN or an .att file: one string such as ab, or ascii, printable or bytes, or a file with one "
        "letter a line. The default is the letters in the file, or the characters in the pattern, with a letter other if the pattern "
        "has more signs than | * + ? ( )."
    ),
]
Split = Annotated[
    str | None,
    typer.Option(
        metavar="SIGN",
        help="The sign between several letters of one label in a drawn automaton (.dot, .gv, .jff), such as a comma; or none, if "
        "each label is one letter as it stands. Without it, a label that may be either is refused.",
    ),
]
TrackOption = Annotated[
    str | None,
    typer.Option(
        "--track",
        metavar="WHAT",
        help="States to keep: state keeps every reachable one, output merges those that no word tells apart. The default "
        "is output for regular expressions and nondeterministic files, and state for all other input.",
    ),
]
Start = Annotated[
    str | None,
    typer.Option(
        metavar="LABEL", help="Label of the start state. The default is the automaton's own start state."
    ),
]
Group = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Name of the group, such as S3, of a word-problem .csv file whose own name does not contain it.",
    ),
]
PRODUCT_HELP = (
    "Side on which a letter multiplies in the word problem of a group: left (letter x takes state y to x·y) or right "
    "(letter x takes state y to y·x)."
)
ProductOption = Annotated[str, typer.Option("--product", metavar="SIDE", help=PRODUCT_HELP)]
MaxStates = Annotated[int, typer.Option(help="Largest number of states that the automaton may have.")]

MaxTransitions = Annotated[
    int,
    typer.Option(help="Largest number of transitions (letters × states) that a named automaton may have."),
]
MaxEntries = Annotated[int, typer.Option(help="Largest number of entries that one array may have.")]
ExactnessOption = Annotated[
    str,
    typer.Option(
        "--exactness",
        metavar="KIND",
        rich_help_panel=BUILDING,
        help="Constructions to allow: any, or integer for those with integer numbers only, which are bit-exact.",
    ),
]
THEOREM_HELP = "Use only the constructions of this theorem, such as G.T3."
"""Completed by `theorem_help` where the help of a command is printed: the list is not read at each start."""
TheoremOption = Annotated[
    str | None, typer.Option("--theorem", metavar="ID", rich_help_panel=BUILDING, help=THEOREM_HELP)
]
ObjectiveOption = Annotated[
    str | None,
    typer.Option(
        "--objective",
        metavar="FIGURE",
        rich_help_panel=BUILDING,
        help="What to make as small as possible among all constructions on offer: layers, factors, dim (key dimension), work (factors "
        "times key dimension, summed over the layers) or size (of the certificate). Without it, construct takes the least product of "
        "layers and work, and for a group one layer with the fewest factors.",
    ),
]
MaxLayers = Annotated[
    int | None,
    typer.Option(rich_help_panel=BUILDING, help="Largest number of layers. The default is no limit."),
]
MaxHouseholders = Annotated[
    int | None,
    typer.Option(
        rich_help_panel=BUILDING,
        help="Largest number of Householder factors of a letter in one head. The default is no limit.",
    ),
]
MaxDim = Annotated[
    int | None,
    typer.Option(rich_help_panel=BUILDING, help="Largest key dimension of a head. The default is no limit."),
]
CoordinatesOption = Annotated[
    str,
    typer.Option(
        "--coordinates",
        metavar="KIND",
        rich_help_panel=BUILDING,
        help="Coordinates of the states of a cascade's components: few uses a small number of dimensions, one_hot "
        "uses one dimension per state, as in the theorem.",
    ),
]
MaxDegree = Annotated[
    int, typer.Option(help="Largest degree of the number field that contains the entries of the matrices.")
]
MaxGroup = Annotated[
    int,
    typer.Option(
        help="Largest order of a group whose elements are listed, in the search for small representations and in the "
        "certificate of a block delay."
    ),
]
MaxImageSets = Annotated[
    int, typer.Option(help="Largest number of image sets in the holonomy decomposition of a cascade.")
]
MaxSetMoves = Annotated[
    int,
    typer.Option(
        help="Largest product of the number of image sets and the number of letters in the holonomy decomposition."
    ),
]
MaxLevelLetters = Annotated[int, typer.Option(help="Largest number of letters on one level of a cascade.")]


def theorem_help() -> str:
    """The help text of --theorem, with the sources that the records of all constructions name."""
    from ..constructions.theorems._registry import all_constructions

    known = all_constructions().values()
    chosen = [c.source for c in known if not c.by_request]
    by_request: dict[str, list[str]] = {}
    for c in known:
        if c.by_request:
            by_request.setdefault(c.by_request, []).append(c.source)
    named = "; ".join(f"{', '.join(sources)} ({reason})" for reason, sources in by_request.items())
    return (
        f"Use only the constructions of this theorem: {', '.join(chosen)}. Some constructions are built only if this option "
        f"names them: {named}."
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
    split: str | None = None,
) -> Any:
    """Build the automaton that SPEC and its options name. The import is inside so that the program starts fast."""
    from ..constructions._spec import automaton_from_spec

    return automaton_from_spec(
        spec, alphabet=alphabet, track=one_of(track, "--track", "state", "output"), start=start, group=group,
        product=one_of(product, "--product", "left", "right"), max_states=max_states, max_transitions=max_transitions,
        split=split,
    )  # fmt: skip


CERTIFICATE_HELP = "The certificate of a construction, as `construct -o` writes it, or the SPEC of an automaton, such as S5, which is constructed."
"""Where a command takes a certificate, a SPEC does as well; `construct` has more options for both."""


def construct_if_spec(
    text: str,
    read: Callable[[str], Any] | None = None,
    *,
    table: bool = False,
    wanted: Mapping[str, Any] | None = None,
) -> Any:
    """What is constructed for a SPEC, which is said in one line on standard error; anything else as it is, a path.

    Args:
        text: what was given where a certificate or a model is wanted.
        read: makes the automaton of the SPEC; by default without options.
        table: whether the letters are wanted as a table of matrices.
        wanted: what is asked of the construction, such as its theorem, by the names of options; `InputError` beside a path.
    """
    from ..theory._given import construct_given

    with show_work("constructing"):
        found = (
            construct_given(text, table=table, wanted=wanted)
            if read is None
            else construct_given(text, read, table=table, wanted=wanted)
        )
    if found is None and wanted:
        given = " and ".join(f"--{name}" for name in wanted)
        raise InputError(
            f"{shown_path(text)}: this is a file, and {given} is for the construction of a SPEC: leave it out"
        )
    if found is None:
        return text
    from ..theory.planning._headline import describe_construction

    say(f"constructed on the way by {found.theorem}: {text}: {describe_construction(found)}", error=True)
    return found


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


def option_beside(holder: Callable[..., None], callback: Callable[[Any, Any, Any], None]) -> Any:
    """An option that several commands share and whose value goes to `callback`, not to their functions.

    Args:
        holder: a function whose only parameter declares the option.
        callback: called with the context, the option and the value that was given.

    Returns:
        The option of typer's, to be appended to a command's parameters.
    """
    program = typer.Typer(add_completion=False)
    program.command()(holder)
    option: Any = typer.main.get_command(program).params[0]
    option.expose_value = False
    option.callback = callback
    return option


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
    """Return the value if it is one of the choices or None (not given); otherwise raise `InputError`."""
    if value is not None and value not in choices:
        raise InputError(f"{option} {value}: it is one of {', '.join(choices)}")
    return value
