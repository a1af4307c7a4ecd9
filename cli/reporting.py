"""The command `report`: a training, a model or certificates as one page, and as figures for a paper."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from .options import Json
from .output import print_json, print_table, say_written, show_work


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command()(report)


def report(
    context: typer.Context,
    folder: Annotated[
        str,
        typer.Argument(
            metavar="DIR", help="A folder that `train` wrote, a model folder, or a folder with certificates."
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the page to this file. The default is DIR/report.html.",
        ),
    ] = None,
    png: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="Write every chart as .png, with its data as .csv, into this folder."
        ),
    ] = None,
    pdf: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="Write every chart as .pdf, with its data as .csv, into this folder."
        ),
    ] = None,
    width: Annotated[float, typer.Option(help="Width of the --png and --pdf figures, in inches.")] = 3.25,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Seed of the trained model to compare. The default is the one that is right longest."
        ),
    ] = None,
    words: Annotated[int, typer.Option(help="Number of random words for comparing a model.")] = 128,
    length: Annotated[int, typer.Option(help="Number of letters of each --words word.")] = 512,
    run_words: Annotated[int, typer.Option(help="Number of random words for running a construction.")] = 8,
    run_length: Annotated[int, typer.Option(help="Number of letters of each --run-words word.")] = 2_000,
    max_letters: Annotated[int, typer.Option(help="Largest number of letters of a model to compare.")] = 200,
    max_group: Annotated[
        int, typer.Option(help="Largest order of the transition group of a model to compare.")
    ] = 200,
    max_dim: Annotated[
        int, typer.Option(help="Largest dimension of a model's matrix whose eigenvalues are decided.")
    ] = 8,
    max_steps: Annotated[
        int, typer.Option(help="Largest number of letters read to prove that a model must fail.")
    ] = 2_000,
    max_drawn: Annotated[int, typer.Option(help="Largest number of letters drawn.")] = 12,
    max_heads: Annotated[int, typer.Option(help="Largest number of heads drawn.")] = 12,
    max_states: Annotated[int, typer.Option(help="Largest number of states of a drawn automaton.")] = 64,
    max_arrows: Annotated[int, typer.Option(help="Largest number of arrows of a drawn automaton.")] = 150,
    max_wires: Annotated[int, typer.Option(help="Largest dimension of a drawn head.")] = 40,
    max_rows: Annotated[int, typer.Option(help="Largest number of rows of a construction's table.")] = 120,
    max_points: Annotated[
        int, typer.Option(help="Largest number of points of a construction's curve.")
    ] = 200,
    max_spectra: Annotated[
        int, typer.Option(help="Largest number of distinct matrices of a head with eigenvalues.")
    ] = 200,
    max_matrices: Annotated[
        int, typer.Option(help="Largest number of distinct matrices to which claims are applied.")
    ] = 300,
    max_codes: Annotated[
        int, typer.Option(help="Largest number of codes of a head with a certified horizon.")
    ] = 2_000,
    max_monoid: Annotated[
        int, typer.Option(help="Largest number of elements of a transition monoid to list.")
    ] = 1_000_000,
    max_bytes: Annotated[int, typer.Option(help="Largest size of the page, in bytes.")] = 5_000_000,
    as_json: Json = False,
) -> None:
    """Write an HTML page about a training, a model or certificates.

    The page shows what was learned, what is constructed, and how far they agree, with interactive plots; it needs no
    network. The command needs the extra `report`: pip install 'mirrormata[report]'.

    \b
    Examples:
      mirrormata report runs/s3
      mirrormata report runs/s3 -o s3.html --pdf figures
    """
    from ..models.report._report import LearnedLimits, RandomRuns, ShownLimits
    from ..models.report._report import write_report as write

    with show_work("reporting") as progress:
        found = write(
            folder,
            output=output,
            png=png,
            pdf=pdf,
            width=width,
            command=_command(context),
            seed=seed,
            learned=LearnedLimits(
                words=words, length=length, max_letters=max_letters, max_group=max_group, max_dim=max_dim,
                letters=max_drawn, steps=max_steps,
            ),
            runs=RandomRuns(run_words, run_length),
            limits=ShownLimits(
                letters=max_drawn, heads=max_heads, states=max_states, arrows=max_arrows, dimension=max_wires,
                rows=max_rows, points=max_points, spectra=max_spectra, matrices=max_matrices, codes=max_codes,
                monoid=max_monoid,
            ),
            max_bytes=max_bytes,
            progress=progress,
        )  # fmt: skip
    if as_json:
        print_json(found.to_json())
        return
    rows = [
        ("page", f"{found.page} ({found.bytes:,} bytes)"),
        ("sections", ", ".join(found.sections)),
        ("shows", f"{found.charts} charts, {found.pictures} pictures, {found.tables} tables"),
    ]
    if found.files:
        rows.append(("figures", f"{len(found.files)} files"))
    print_table(f"report of {folder}", rows)
    say_written(str(found.page), *map(str, found.files))


def _command(context: typer.Context) -> str:
    """The command line, with all arguments given, to run the command again."""
    words = ["mirrormata", "report", str(context.params["folder"])]
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        if (
            source is not None
            and source.name == "COMMANDLINE"
            and parameter.name not in ("folder", "as_json")
        ):
            words += [parameter.opts[0], str(context.params[str(parameter.name)])]
    return shlex.join(words)
