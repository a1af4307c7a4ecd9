"""The command `compare`: a trained or given layer beside a constructed one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..foundation._errors import InputError
from .options import SPEC_HELP, Alphabet, Group, Json, ProductOption, Start, TrackOption, automaton_of
from .output import print_columns, print_json, print_table, say_written, show_work


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command()(compare)


def compare(
    learned: Annotated[
        str,
        typer.Argument(
            metavar="LEARNED",
            help="A model folder, an FLA checkpoint, an .npz of matrices, or a certificate.",
        ),
    ],
    constructed: Annotated[
        str,
        typer.Argument(metavar="CONSTRUCTED|SPEC", help=f"A certificate, or an automaton. {SPEC_HELP}"),
    ],
    extract: Annotated[
        str,
        typer.Option(
            help="How to extract the automaton: exact, clusters, kv, lstar, several with commas, or none."
        ),
    ] = "exact,clusters",
    words: Annotated[int, typer.Option(help="Number of random words to run.")] = 256,
    length: Annotated[int, typer.Option(help="Number of letters of each random word.")] = 1024,
    fit: Annotated[
        int, typer.Option(help="Take the classes from the states after at most so many letters.")
    ] = 64,
    seed: Annotated[int, typer.Option(help="Seed of the random words.")] = 0,
    dtype: Annotated[str, typer.Option(help="Float format of the rounding horizon.")] = "fp32",
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Look for a certificate that the layer must fail, and write it to this file.",
        ),
    ] = None,
    arithmetic: Annotated[
        str | None,
        typer.Option(help="Arithmetic of that certificate, per_step:FORMAT; by default per_step:bf16."),
    ] = None,
    subspace: Annotated[
        float,
        typer.Option(help="Count singular values of the class means from this share of the largest on."),
    ] = 0.05,
    rank: Annotated[float, typer.Option(help="Count singular values of A - I above this number.")] = 0.01,
    max_dim: Annotated[
        int, typer.Option(help="Largest dimension of a matrix whose eigenvalues are decided.")
    ] = 64,
    max_group: Annotated[int, typer.Option(help="Largest order of the transition group.")] = 1_000,
    max_degree: Annotated[int, typer.Option(help="Largest degree of a number field to snap to.")] = 40,
    max_steps: Annotated[
        int, typer.Option(help="Largest number of letters to read in search of a certificate.")
    ] = 20_000,
    max_states: Annotated[int, typer.Option(help="Largest number of states that kv or lstar learn.")] = 200,
    max_queries: Annotated[int, typer.Option(help="Largest number of words that kv or lstar ask.")] = 5_000,
    alphabet: Alphabet = None,
    track: TrackOption = None,
    start: Start = None,
    group: Group = None,
    product: ProductOption = "left",
    as_json: Json = False,
) -> None:
    """Compare a learned layer with a construction: spectra, representation, alignment, horizons, causes, automaton."""
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
            sampling=Sampling(words, length, fit, seed),
            tolerances=Tolerances(
                subspace, rank, max_dim, max_group, max_degree, max_steps, max_states, max_queries
            ),
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
    """The construction of a certificate and its automaton; for a SPEC only the automaton."""
    from ..constructions._document import FORMAT, read_document
    from ..theory._run_file import lrnn_of

    if Path(text).suffix == ".json" and Path(text).is_file() and read_document(text).get("format") == FORMAT:
        lrnn = lrnn_of(text)
        return lrnn, lrnn.automaton
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
