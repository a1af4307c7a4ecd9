"""The command `report`: a folder's training, model or certificates as one page, and as figures for a paper."""

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
            metavar="DIR", help="What `train` wrote, a model folder, or a folder with certificates."
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="The page; by default DIR/report.html."),
    ] = None,
    png: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Every chart as a .png there, its data beside it as .csv."),
    ] = None,
    pdf: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Every chart as a .pdf there, its data beside it as .csv."),
    ] = None,
    width: Annotated[float, typer.Option(help="Of these figures, in inches.")] = 3.25,
    seed: Annotated[
        int | None, typer.Option(help="Whose model of a training is compared; by default that right longest.")
    ] = None,
    words: Annotated[int, typer.Option(help="Random words on which a model is compared.")] = 128,
    length: Annotated[int, typer.Option(help="Their letters.")] = 512,
    run_words: Annotated[int, typer.Option(help="Random words on which a construction is run.")] = 8,
    run_length: Annotated[int, typer.Option(help="Their letters.")] = 2_000,
    max_letters: Annotated[int, typer.Option(help="Most letters of a model that is compared.")] = 200,
    max_group: Annotated[int, typer.Option(help="Largest transition group of such a model.")] = 200,
    max_dim: Annotated[int, typer.Option(help="Largest matrix whose eigenvalues are decided there.")] = 8,
    max_steps: Annotated[int, typer.Option(help="Most letters in search of why a model must fail.")] = 2_000,
    max_drawn: Annotated[int, typer.Option(help="Most letters drawn.")] = 12,
    max_heads: Annotated[int, typer.Option(help="Most heads drawn.")] = 12,
    max_states: Annotated[int, typer.Option(help="Most states of a drawn automaton.")] = 64,
    max_arrows: Annotated[int, typer.Option(help="Most arrows of a drawn automaton.")] = 150,
    max_wires: Annotated[int, typer.Option(help="Largest dimension that is drawn.")] = 40,
    max_rows: Annotated[int, typer.Option(help="Most rows of a table of a construction.")] = 120,
    max_points: Annotated[int, typer.Option(help="Most points of a curve of a construction.")] = 200,
    max_spectra: Annotated[
        int, typer.Option(help="Most different matrices of a head with eigenvalues.")
    ] = 200,
    max_matrices: Annotated[
        int, typer.Option(help="Most different matrices for claims about a model.")
    ] = 300,
    max_codes: Annotated[int, typer.Option(help="Most codes of a head with certified horizons.")] = 2_000,
    max_monoid: Annotated[int, typer.Option(help="Largest transition monoid to list.")] = 1_000_000,
    max_bytes: Annotated[int, typer.Option(help="Largest page.")] = 5_000_000,
    as_json: Json = False,
) -> None:
    """Write one page that needs no network: what was learned, what is constructed, and how far they agree."""
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
    """The command with what was given to it, as it can be run again."""
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
