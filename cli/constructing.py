"""The commands `construct` and `plan`: from an automaton to linear RNNs that realise it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ..foundation._errors import InputError
from ..foundation._files import refuse_input_as_output
from .help import AUTOMATA, BUILDING
from .options import (
    Alphabet,
    CoordinatesOption,
    ExactnessOption,
    Group,
    Json,
    MaxDegree,
    MaxDim,
    MaxGroup,
    MaxHouseholders,
    MaxImageSets,
    MaxLayers,
    MaxLevelLetters,
    MaxSetMoves,
    MaxStates,
    MaxTransitions,
    ObjectiveOption,
    ProductOption,
    Spec,
    Split,
    Start,
    TheoremOption,
    TrackOption,
    automaton_of,
    one_of,
)
from .output import as_text, print_json, print_table, say, say_written, show_work, with_options


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command(rich_help_panel=AUTOMATA)(construct)
    app.command(rich_help_panel=AUTOMATA)(plan)


def construct(
    spec: Spec,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the certificate of the construction to this JSON file.",
        ),
    ] = None,
    exactness: ExactnessOption = "any",
    theorem: TheoremOption = None,
    max_layers: MaxLayers = None,
    max_householders: MaxHouseholders = None,
    max_dim: MaxDim = None,
    coordinates: CoordinatesOption = "few",
    objective: ObjectiveOption = None,
    wiring: Annotated[
        str,
        typer.Option(
            rich_help_panel=BUILDING,
            metavar="KIND",
            help="Wiring between the levels of a cascade: repaired is correct; printed follows the published proof of G.T4. With "
            "printed, the command only searches for a word on which that wiring gives a wrong state.",
        ),
    ] = "repaired",
    show: Annotated[
        bool, typer.Option("--show", help="Print the factors and the matrix of every letter.")
    ] = False,
    latex: Annotated[
        bool, typer.Option("--latex", help="Print the factors and matrices as a LaTeX document.")
    ] = False,
    picture: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Draw the construction to this .svg or .png file: the reflections if it has one layer, an overview if it has several.",
        ),
    ] = None,
    alphabet: Alphabet = None,
    split: Split = None,
    track: TrackOption = None,
    start: Start = None,
    group: Group = None,
    product: ProductOption = "left",
    max_letters: Annotated[
        int | None,
        typer.Option(
            help="Largest number of letters to print or draw. The default is 30 for --show, 12 for --picture, and all for --latex "
            "(30 with several layers)."
        ),
    ] = None,
    max_drawn_dim: Annotated[
        int, typer.Option(help="Largest dimension of a head that --picture draws.")
    ] = 40,
    max_degree: MaxDegree = 10_000,
    max_group: MaxGroup = 5_000,
    max_image_sets: MaxImageSets = 200_000,
    max_set_moves: MaxSetMoves = 10_000_000,
    max_level_letters: MaxLevelLetters = 500_000,
    max_states: MaxStates = 100_000,
    max_transitions: MaxTransitions = 10_000_000,
    as_json: Json = False,
) -> None:
    """Build an exact linear RNN that realises an automaton.

    The linear RNN agrees with the automaton on all words. For a group the command chooses one layer with the fewest
    Householder factors per letter, and otherwise the construction with the least product of layers and work (factors times
    key dimension, summed over the layers); --objective chooses otherwise. It prints
    the sizes of the construction and the lower bounds that apply to it; `mirrormata claims ID` explains a theorem. Only -o and
    --picture write files, and `mirrormata check` verifies the certificate.

    \b
    Examples:
      mirrormata construct S5 -o s5.json
      mirrormata construct mod:5 --exactness integer --show
    """
    from ..constructions._construct import Request
    from ..constructions._lrnn import table_of
    from ..constructions.automata._equal_states import equal_states
    from ..constructions.theorems._construction import Limits
    from ..theory.planning._bounds import reached_bounds
    from ..theory.planning._headline import write_headline
    from ..theory.planning._plan import choose_by_rule_or_refuse, report

    if as_json and (show or latex):
        raise InputError("construct: --json prints one object only; leave --show and --latex out")
    for written in (output, picture):
        refuse_input_as_output(written, spec)
    automaton = automaton_of(spec, alphabet, track, start, group, product, max_states, max_transitions, split)
    request = Request(exactness, theorem, max_layers, max_householders, max_dim, coordinates, objective)
    limits = Limits(max_degree, max_group, max_image_sets, max_set_moves, max_level_letters)
    if one_of(wiring, "--wiring", "repaired", "printed") == "printed":
        if request != Request(coordinates=coordinates) or show or latex or picture is not None:
            raise InputError(
                "construct: --wiring printed only searches for a wrong word: it can be combined only with --coordinates, -o, "
                "--json and the limits"
            )
        _refute_printed(automaton, request, limits, output, as_json)
        return
    with show_work("constructing"):
        choice = choose_by_rule_or_refuse(automaton, request, limits)
    found = choice.found
    if latex:
        table_of(found, "leave --latex out; --show prints what it does")
    if picture is not None:
        from ..theory.pictures._construction import draw_construction

        letters = {} if max_letters is None else {"max_letters": max_letters}
        draw_construction(
            found,
            picture,
            max_dim=max_drawn_dim,
            options=("--max-letters", "--max-drawn-dim"),
            **letters,
        )
    if output is not None:
        from ..theory._check import write_accepted_certificate

        with show_work("writing the certificate"):
            write_accepted_certificate(found, output, max_group=max_group)
    reached = reached_bounds(found)
    facts = report(choice, output, reached)
    if as_json:
        print_json(facts)
    elif latex:
        say(found.latex(max_letters=max_letters), end="")
    elif show:
        say(found.show(**({} if max_letters is None else {"max_letters": max_letters})), end="")
    else:
        facts.pop("hypotheses")  # sentences: they are in the JSON object and in `figures`
        facts.pop("notes")  # below the table
        print_table(
            write_headline(found, reached), [(k, as_text(v)) for k, v in facts.items() if v not in (None, [])]
        )
        notes = [*automaton.notes, *equal_states(automaton), *found.notes]
        if found.exactness == "algebraic" and request == Request(coordinates=coordinates):
            notes.append(
                "`exactness` integer builds one of integers, which is right at any length in every format that holds them"
            )
        for note in dict.fromkeys(notes):
            say(f"note: {with_options(note)}")
        say_written(output, picture)


def _refute_printed(automaton: Any, request: Any, limits: Any, output: str | None, as_json: bool) -> None:
    from ..theory.running._refutation import refute_printed

    with show_work("refuting"):
        outcome = refute_printed(automaton, request, limits)
    if output is not None:
        from ..constructions._document import write_certificate
        from ..constructions.certificates._table import certificate

        write_certificate(certificate(outcome.lrnn), output)
    if as_json:
        print_json(outcome.to_json())
    else:
        print_table(f"{automaton.name}, wired as printed", outcome.rows())
        say_written(output)
    if outcome.word is not None:
        raise typer.Exit(1)


def plan(
    spec: Spec,
    exactness: ExactnessOption = "any",
    theorem: TheoremOption = None,
    max_layers: MaxLayers = None,
    max_householders: MaxHouseholders = None,
    max_dim: MaxDim = None,
    coordinates: CoordinatesOption = "few",
    objective: ObjectiveOption = None,
    budget: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", help="Seconds that each construction may take; it is stopped then, and named."
        ),
    ] = 30.0,
    fit: Annotated[
        str | None,
        typer.Option(
            "--fit",
            metavar="CONFIG",
            help="Decide whether this architecture holds the automaton: a model folder, an FLA checkpoint, a .json or .toml file of a "
            "configuration, or entries such as layers=1,heads=4,head_dim=64,value_dim=64,n_h=2,gated=no,range=[-1,1],conv=0.",
        ),
    ] = None,
    bounds: Annotated[
        str | None,
        typer.Option(
            "--bounds", metavar="FILE", help="Write a certificate of the lower bounds to this JSON file."
        ),
    ] = None,
    details: Annotated[
        bool,
        typer.Option(
            "--details",
            help="Also print the hypotheses and the evidence of every lower bound, notes on the constructions, and what was not built.",
        ),
    ] = False,
    alphabet: Alphabet = None,
    split: Split = None,
    track: TrackOption = None,
    start: Start = None,
    group: Group = None,
    product: ProductOption = "left",
    max_degree: MaxDegree = 10_000,
    max_group: MaxGroup = 5_000,
    max_image_sets: MaxImageSets = 200_000,
    max_set_moves: MaxSetMoves = 10_000_000,
    max_level_letters: MaxLevelLetters = 500_000,
    max_states: MaxStates = 100_000,
    max_transitions: MaxTransitions = 10_000_000,
    as_json: Json = False,
) -> None:
    """List all constructions for an automaton, with lower bounds.

    The table lists every construction within the given bounds, those with the fewest layers first. A * marks the constructions that no other
    one beats. Below the table are the theorems used and the strongest lower bound on each figure; --details adds the hypotheses and
    the evidence, and `mirrormata claims ID` explains a theorem. Only --bounds writes a file.
    With --fit the command says whether one architecture holds the automaton, by which construction, or by which lower bound not; the
    exit status is then 0 if it does, else 1.

    \b
    Examples:
      mirrormata plan S3 --max-layers 2 --bounds s3-bounds.json
      mirrormata plan S3 --fit 'layers=1,n_h=2,head_dim=8,value_dim=8,range=[-1,1],gated=no,conv=0'
    """
    from ..constructions._construct import Request
    from ..constructions.theorems._construction import Limits
    from ..theory.planning._plan import plan as make

    refuse_input_as_output(bounds, spec)
    automaton = automaton_of(spec, alphabet, track, start, group, product, max_states, max_transitions, split)
    request = Request(exactness, theorem, max_layers, max_householders, max_dim, coordinates, objective)
    limits = Limits(max_degree, max_group, max_image_sets, max_set_moves, max_level_letters)
    if fit is not None:
        if bounds is not None:
            raise InputError(
                "plan: --fit decides about an architecture and writes no bounds; leave --bounds out"
            )
        _fit(fit, automaton, request, limits, budget, as_json)
        return
    with show_work("planning"):
        made = make(automaton, request, limits, budget=budget)
    written = None
    if bounds is not None and made.bounds:
        from ..constructions._document import write_certificate
        from ..theory.planning._bounds import bound_certificate

        written = bounds
        write_certificate(bound_certificate(made.bounds), bounds)
    if as_json:
        print_json(made.to_json())
    else:
        from ..theory.planning._plan import print_plan

        print_plan(made, with_options, details=details)
        for note in made.notes:
            say(f"note: {note}")
        say_written(written)
    if bounds is not None and written is None:
        raise InputError(
            f"{automaton.name}: no lower bound is known, so {bounds} is not written: leave --bounds out"
        )


def _fit(config: str, automaton: Any, request: Any, limits: Any, budget: float, as_json: bool) -> None:
    from ..models._architecture import read_architecture
    from ..theory.planning._fit import fit, print_fit

    architecture = read_architecture(config)
    with show_work("planning"):
        made = fit(automaton, architecture, request, limits, budget=budget)
    if as_json:
        print_json(made.to_json())
    else:
        print_fit(made, with_options)
    if made.verdict != "fits":
        raise typer.Exit(1)
