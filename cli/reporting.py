"""The command `report`, which shows a training run, a model or certificates on one page and in figures for a paper."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..foundation._errors import InputError
from ..foundation._files import is_file, is_folder
from ..foundation._text import count_noun
from .help import REPORT
from .options import Json
from .output import print_json, print_table, say_written, show_work

if TYPE_CHECKING:
    from ..models.report._report import Report


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command(rich_help_panel=REPORT)(report)


def report(
    context: typer.Context,
    folder: Annotated[
        str,
        typer.Argument(
            metavar="DIR",
            help="A folder that `train` or `sweep` wrote, a model folder, or a folder with certificates.",
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
            metavar="DIR",
            help="Also write every chart as a .png file, with its data as a .csv file, into this folder.",
        ),
    ] = None,
    pdf: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Also write every chart as a .pdf file, with its data as a .csv file, into this folder.",
        ),
    ] = None,
    width: Annotated[
        float, typer.Option(help="Width of the figures of --png and --pdf, in inches, from 1.5 to 20.")
    ] = 3.25,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Seed of the trained model to compare. The default is the seed that stays accurate up to the greatest length."
        ),
    ] = None,
    words: Annotated[
        int, typer.Option(help="Number of random words on which a trained model is compared.")
    ] = 128,
    length: Annotated[int, typer.Option(help="Number of letters of each word of --words.")] = 512,
    run_words: Annotated[
        int, typer.Option(help="Number of random words on which a construction is run.")
    ] = 8,
    run_length: Annotated[int, typer.Option(help="Number of letters of each word of --run-words.")] = 2_000,
    max_letters: Annotated[int, typer.Option(help="Largest alphabet of a model that is compared.")] = 200,
    max_group: Annotated[
        int, typer.Option(help="Largest order of the transition group of a model that is compared.")
    ] = 200,
    max_dim: Annotated[
        int,
        typer.Option(
            help="Largest dimension of a matrix of a trained model whose eigenvalues are classified exactly."
        ),
    ] = 8,
    max_steps: Annotated[
        int,
        typer.Option(
            help="Largest number of letters that the search for a proof that a model must fail reads."
        ),
    ] = 2_000,
    max_drawn: Annotated[int, typer.Option(help="Largest number of letters that are drawn.")] = 12,
    max_heads: Annotated[int, typer.Option(help="Largest number of heads that are drawn.")] = 12,
    max_states: Annotated[
        int, typer.Option(help="Largest number of states of an automaton that is drawn.")
    ] = 64,
    max_arrows: Annotated[
        int, typer.Option(help="Largest number of arrows of an automaton that is drawn.")
    ] = 150,
    max_wires: Annotated[int, typer.Option(help="Largest dimension of a head that is drawn as wires.")] = 40,
    max_rows: Annotated[
        int, typer.Option(help="Largest number of rows of a table about a construction.")
    ] = 120,
    max_points: Annotated[
        int, typer.Option(help="Largest number of points of a curve about a construction.")
    ] = 200,
    max_spectra: Annotated[
        int,
        typer.Option(help="Largest number of distinct matrices of a head whose eigenvalues are computed."),
    ] = 200,
    max_matrices: Annotated[
        int,
        typer.Option(
            help="Largest number of distinct matrices of all heads together to which claims are applied. If there are more, claims "
            "are applied to the automaton only."
        ),
    ] = 300,
    max_codes: Annotated[
        int, typer.Option(help="Largest number of codes of a head for which certified horizons are computed.")
    ] = 2_000,
    max_monoid: Annotated[
        int, typer.Option(help="Largest number of elements of a transition monoid to list.")
    ] = 1_000_000,
    max_bytes: Annotated[int, typer.Option(help="Largest size of the page, in bytes.")] = 5_000_000,
    as_json: Json = False,
) -> None:
    """Write an HTML page on a training, sweep, model or certificates.

    The page begins with the answer and shows what was learned, what was constructed, and how far the two agree, with interactive
    plots. The page of a sweep begins with its table, and says what failed and what is missing. It can be read without a network.
    The command needs the extra `report`: pip install 'mirrormata[report]'.

    \b
    Examples:
      mirrormata report runs/s3
      mirrormata report runs/s3 -o s3.html --pdf figures
    """
    from ..models.report._report import LearnedLimits, RandomRuns, ShownLimits
    from ..models.report._report import write_report as write

    about_page: dict[str, Any] = {
        "output": output, "png": png, "pdf": pdf, "width": width, "command": _command(context), "max_bytes": max_bytes,
    }  # fmt: skip
    if _is_sweep(folder):
        from ..models.sweeps._report import write_sweep_report

        if seed is not None:
            raise InputError("`seed` is for trainings; the page of a sweep shows every seed")
        with show_work("reporting"):
            found = write_sweep_report(folder, **about_page)
        _print_report(found, folder, as_json)
        return
    with show_work("reporting") as progress:
        found = write(
            folder,
            **about_page,
            seed=seed,
            learned=LearnedLimits(
                words=words, length=length, fit=max(1, min(LearnedLimits.fit, length)), max_letters=max_letters, max_group=max_group, max_dim=max_dim,
                letters=max_drawn, steps=max_steps,
            ),
            runs=RandomRuns(run_words, run_length),
            limits=ShownLimits(
                letters=max_drawn, heads=max_heads, states=max_states, arrows=max_arrows, dimension=max_wires,
                rows=max_rows, points=max_points, spectra=max_spectra, matrices=max_matrices, codes=max_codes,
                monoid=max_monoid,
            ),
            progress=progress,
        )  # fmt: skip
    _print_report(found, folder, as_json)


def _is_sweep(folder: str) -> bool:
    """Whether a folder holds a sweep: the list of its cells, or as older versions left it, results and locks of cells."""
    place = Path(folder)
    return is_file(place / "sweep.json") or (is_folder(place / "cells") and is_folder(place / "locks"))


def _print_report(found: Report, folder: str, as_json: bool) -> None:
    if as_json:
        print_json(found.to_json())
        return
    rows = [
        ("page", f"{found.page} ({found.bytes:,} bytes)"),
        ("sections", ", ".join(found.sections)),
        ("shows", f"{found.charts} charts, {found.pictures} pictures, {found.tables} tables"),
    ]
    if found.files:
        rows.append(("figures", count_noun(len(found.files), "file")))
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
            values = context.params.get(str(parameter.name), context.meta.get(parameter.name))
            for value in values if isinstance(values, list | tuple) else [values]:
                words += [parameter.opts[0], str(value)]
    return shlex.join(words)
