"""The command `compare`: a learned layer beside a constructed one."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ..foundation._errors import InputError
from .options import (
    SPEC_FORMS,
    Alphabet,
    Group,
    Json,
    ProductOption,
    Start,
    TrackOption,
    automaton_of,
    record_of,
)
from .output import print_columns, print_json, print_table, say_written, show_work


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command()(compare)


def compare(
    context: typer.Context,
    learned: Annotated[
        str,
        typer.Argument(
            metavar="LEARNED",
            help="The layer: a model folder, an FLA checkpoint, an .npz file of matrices, or a certificate.",
        ),
    ],
    constructed: Annotated[
        str,
        typer.Argument(
            metavar="CONSTRUCTED|SPEC",
            help=f"The certificate of a construction; or an automaton: {SPEC_FORMS}",
        ),
    ],
    extract: Annotated[
        str,
        typer.Option(
            help="Ways to extract the automaton, separated by commas: exact, clusters, kv, lstar; or none."
        ),
    ] = "exact,clusters",
    words: Annotated[int, typer.Option(help="Number of random words to run.")] = 256,
    length: Annotated[int, typer.Option(help="Number of letters of each random word.")] = 1024,
    fit: Annotated[
        int, typer.Option(help="Number of letters up to which the states define the class means.")
    ] = 64,
    seed: Annotated[int, typer.Option(help="Seed of the random words.")] = 0,
    dtype: Annotated[
        str,
        typer.Option(help="Float format to which the construction is rounded, for its certified horizon."),
    ] = "fp32",
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Search for a proof that the layer must fail, and write it to this file as a certificate.",
        ),
    ] = None,
    arithmetic: Annotated[
        str | None,
        typer.Option(
            help="Arithmetic of the certificate that -o writes, per_step:FORMAT. The default is per_step:bf16."
        ),
    ] = None,
    subspace: Annotated[
        float,
        typer.Option(help="Smallest singular value of the class means that counts, relative to the largest."),
    ] = 0.05,
    rank: Annotated[
        float, typer.Option(help="Smallest singular value of A - I that counts towards the reflection rank.")
    ] = 0.01,
    max_dim: Annotated[
        int, typer.Option(help="Largest dimension of a matrix whose eigenvalues are decided exactly.")
    ] = 64,
    max_group: Annotated[int, typer.Option(help="Largest order of the transition group.")] = 1_000,
    max_degree: Annotated[
        int, typer.Option(help="Largest degree of the number field of the nearest exact layer.")
    ] = 40,
    max_steps: Annotated[
        int, typer.Option(help="Largest number of letters to read in the search for a certificate.")
    ] = 20_000,
    max_states: Annotated[int, typer.Option(help="Largest number of states that kv or lstar learn.")] = 200,
    max_queries: Annotated[int, typer.Option(help="Largest number of words that kv or lstar query.")] = 5_000,
    alphabet: Alphabet = None,
    track: TrackOption = None,
    start: Start = None,
    group: Group = None,
    product: ProductOption = "left",
    as_json: Json = False,
) -> None:
    """Compare a learned layer with a construction.

    The command compares spectra, representations and letters. It gives certified and predicted horizons, that is, up to
    which length rounding cannot change an answer and where it will; it measures what makes the layer fail, and extracts the
    automaton that the layer computes. For a SPEC a construction is chosen. Only -o writes a file.

    \b
    Examples:
      mirrormata compare examples/models/s4 S4 --words 64
      mirrormata compare runs/s3/seed-0 s3.json --extract none --json
    """
    from ..models.comparison._compare import compare as compare_learned
    from ..models.comparison._result import Tolerances, comparison_rows, comparison_tables
    from ..models.comparison._states import Sampling
    from ..theory.arithmetic._rounding import float_format

    if arithmetic is not None and output is None:
        raise InputError(
            f"--arithmetic {arithmetic}: it is of the certificate that -o FILE looks for; give -o, or leave it out"
        )
    lrnn, automaton = _target(constructed, alphabet, track, start, group, product)
    with show_work("comparing") as progress:
        found = compare_learned(
            learned,
            automaton if lrnn is None else lrnn,
            sampling=record_of(Sampling, context.params),
            tolerances=record_of(Tolerances, context.params),
            dtype=float_format(dtype).name,
            arithmetic=None if output is None else arithmetic or "per_step:bf16",
            extract=_methods(extract),
            progress=progress,
        )
    written = None
    if output is not None and found.failure.certificate is not None:
        from ..constructions._document import write_certificate

        written = output
        write_certificate(found.failure.certificate, output)
    if as_json:
        print_json(found.to_json())
        return
    print_table(f"{learned} beside {automaton.name}", comparison_rows(found))
    for title, rows in comparison_tables(found):
        print_columns(title, rows)
    say_written(written)


def _target(
    text: str, alphabet: str | None, track: str | None, start: str | None, group: str | None, product: str
) -> tuple[Any, Any]:
    """The construction in a certificate, and its automaton; for a SPEC only the automaton."""
    from ..constructions._document import find_document
    from ..theory._realisations import realisation_in

    if (document := find_document(text)) is not None:
        found = realisation_in(document, text)
        return found, found.automaton
    return None, automaton_of(text, alphabet, track, start, group, product, 100_000, 10_000_000)


def _methods(text: str) -> Any:
    from ..models.comparison._extraction import METHODS

    if text == "none":
        return ()
    methods = tuple(part.strip() for part in text.split(","))
    wrong = [m for m in methods if m not in METHODS]
    if wrong:
        raise InputError(f"--extract {text}: {wrong[0]!r} is none of {', '.join(METHODS)}; or say none")
    return methods
