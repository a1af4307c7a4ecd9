"""The command `compare`, which compares a trained model with a construction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from ..foundation._errors import InputError
from ..foundation._files import refuse_input_as_output
from ..foundation._interrupting import Interrupted, received_signal
from .help import MODELS, complete_spec
from .options import (
    SPEC_FORMS,
    Alphabet,
    Group,
    Json,
    ProductOption,
    Split,
    Start,
    TrackOption,
    automaton_of,
    construct_if_spec,
    record_of,
)
from .output import print_columns, print_json, print_table, say_written, show_work


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command(rich_help_panel=MODELS)(compare)


def compare(
    context: typer.Context,
    learned: Annotated[
        str,
        typer.Argument(
            metavar="LEARNED",
            autocompletion=complete_spec,
            help="The trained model: a model folder, an FLA checkpoint, an .npz file of matrices, a certificate, or a SPEC, such as S5, "
            "which is constructed.",
        ),
    ],
    constructed: Annotated[
        str,
        typer.Argument(
            metavar="CONSTRUCTED|SPEC",
            autocompletion=complete_spec,
            help=f"The certificate of a construction, or an automaton, for which a construction is chosen: {SPEC_FORMS}",
        ),
    ],
    extract: Annotated[
        str,
        typer.Option(
            metavar="WAYS",
            help="Methods that extract the automaton which the model computes, separated by commas: exact, from the nearest exact "
            "heads; clusters, from clusters of states; kv or lstar, by active learning; or none.",
        ),
    ] = "exact,clusters",
    words: Annotated[int, typer.Option(help="Number of random words to run.")] = 256,
    length: Annotated[int, typer.Option(help="Number of letters of each random word.")] = 1024,
    fit: Annotated[
        int | None,
        typer.Option(
            help="Only the states after at most this many letters are averaged into the mean of each class; fewer if no head is found. "
            "The default is 64, or the length of the words if that is less."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the random words.")] = 0,
    dtype: Annotated[
        str,
        typer.Option(
            metavar="FORMAT",
            help="Float format to which the construction is rounded for its certified horizon, such as bf16.",
        ),
    ] = "fp32",
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Search for a proof that the model must fail, and write its certificate to this JSON file if there is one.",
        ),
    ] = None,
    arithmetic: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Arithmetic of the proof that -o searches for, written per_step:FORMAT. The default is per_step:bf16.",
        ),
    ] = None,
    subspace: Annotated[
        float,
        typer.Option(
            help="Smallest singular value of the differences of class means that counts towards the state-separating subspace, as a "
            "fraction of the largest one."
        ),
    ] = 0.05,
    rank: Annotated[
        float,
        typer.Option(
            help="Smallest singular value of A - I, on the subspace of the states, that counts towards the reflection rank of a letter "
            "matrix A."
        ),
    ] = 0.01,
    max_dim: Annotated[
        int, typer.Option(help="Largest dimension of a matrix whose eigenvalues are classified exactly.")
    ] = 64,
    max_group: Annotated[
        int, typer.Option(help="Largest order of the transition group of the automaton.")
    ] = 1_000,
    max_degree: Annotated[
        int, typer.Option(help="Largest degree of the number field of the nearest exact layer.")
    ] = 40,
    max_steps: Annotated[
        int, typer.Option(help="Largest number of letters of a word that the search of -o reads.")
    ] = 20_000,
    max_states: Annotated[
        int, typer.Option(help="Largest number of states that kv or lstar may learn.")
    ] = 200,
    max_queries: Annotated[
        int | None,
        typer.Option(
            help="Largest number of different words that kv or lstar may ask the model. By default the number follows from the states and "
            "letters of the automaton."
        ),
    ] = None,
    extract_seconds: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            help="Time for all methods of extraction together. A method whose time is over gives what it has found so far.",
        ),
    ] = 60.0,
    alphabet: Alphabet = None,
    split: Split = None,
    track: TrackOption = None,
    start: Start = None,
    group: Group = None,
    product: ProductOption = "left",
    as_json: Json = False,
) -> None:
    """Compare a trained model with a construction.

    The command compares eigenvalues, representations and the matrices of the letters. It reports certified horizons (lengths
    up to which the state is provably decoded correctly) and a predicted one (the length at which decoding will fail),
    measures which heads cause failures, and extracts the automaton that the model computes. Only -o writes a file.

    \b
    Examples:
      mirrormata compare examples/models/s4 S4 --words 64
      mirrormata compare runs/s3/seed-0 s3.json --extract none --json
    """
    from ..models.comparison._result import Tolerances, comparison_rows, comparison_tables
    from ..models.comparison._states import Sampling
    from ..theory.arithmetic._rounding import float_format

    if arithmetic is not None and output is None:
        raise InputError(
            f"--arithmetic {arithmetic}: it applies to the certificate that -o FILE writes; give -o as well, or leave it out"
        )
    refuse_input_as_output(output, learned, constructed)

    def read(text: str) -> Any:
        return automaton_of(text, alphabet, track, start, group, product, 100_000, 10_000_000, split)

    sampling, tolerances = record_of(Sampling, context.params), record_of(Tolerances, context.params)
    methods, rounded = _methods(extract), float_format(dtype).name
    model = construct_if_spec(learned, read)
    lrnn, automaton = _target(constructed, read)
    # here, so that what is wrong in the command is told before torch is loaded, which takes seconds
    from ..models.comparison._compare import compare as compare_learned

    with show_work("comparing") as progress:
        found = compare_learned(
            model,
            automaton if lrnn is None else lrnn,
            sampling=sampling,
            tolerances=tolerances,
            dtype=rounded,
            arithmetic=None if output is None else arithmetic or "per_step:bf16",
            extract=methods,
            progress=progress,
        )
    written = None
    if output is not None and found.failure.certificate is not None:
        from ..constructions._document import write_certificate

        written = output
        write_certificate(found.failure.certificate, output)
    if as_json:
        print_json(found.to_json())
        _raise_interrupt()
        return
    print_table(f"{learned} beside {automaton.name}", comparison_rows(found))
    for title, rows in comparison_tables(found):
        print_columns(title, rows)
    say_written(written)
    _raise_interrupt()


def _raise_interrupt() -> None:
    """Where Ctrl-C ended the extraction, the exit status is that of an interrupt, after what was found is printed."""
    if (number := received_signal()) is not None:
        stop = Interrupted(number)
        stop.add_note(
            "the comparison is printed, with what was extracted by then; --extract-seconds limits the time"
        )
        raise stop


def _target(text: str, read: Callable[[str], Any]) -> tuple[Any, Any]:
    """The construction in a certificate, and its automaton; for a SPEC only the automaton."""
    from ..constructions._document import find_document
    from ..theory._realisations import realisation_in

    if (document := find_document(text)) is not None:
        found = realisation_in(document, text)
        return found, found.automaton
    return None, read(text)


def _methods(text: str) -> Any:
    from ..models.comparison._extraction import METHODS

    if text == "none":
        return ()
    methods = tuple(part.strip() for part in text.split(","))
    wrong = [m for m in methods if m not in METHODS]
    if wrong:
        raise InputError(
            f"--extract {text}: {wrong[0]!r} is not one of {', '.join(METHODS)}; write none for no extraction"
        )
    return methods
