"""The commands `check` and `run`: what is done with a certificate."""

from __future__ import annotations

from typing import Annotated

import typer

from ..foundation._errors import InputError
from .options import PRODUCT_HELP, SPEC_HELP, Alphabet, Group, Json, Start, TrackOption, automaton_of
from .output import print_json, print_table, say, say_written, show_work


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command()(check)
    app.command()(run)


def check(
    certificate: Annotated[
        str, typer.Argument(metavar="FILE", help="A certificate, as `construct -o` writes it.")
    ],
    automaton: Annotated[
        str | None,
        typer.Option("--for", metavar="SPEC", help=f"Is it about this automaton? {SPEC_HELP}"),
    ] = None,
    alphabet: Alphabet = None,
    track: TrackOption = None,
    start: Start = None,
    group: Group = None,
    product: Annotated[str | None, typer.Option("--product", help=PRODUCT_HELP)] = None,
    as_json: Json = False,
) -> None:
    """Check a certificate with the stand-alone checker of its kind; exit status 1 if it is invalid, or about another automaton."""
    from ..theory._check import check as verify

    if automaton is None:
        names = ("--alphabet", "--track", "--start", "--group")
        stray = [n for n, v in zip(names, (alphabet, track, start, group), strict=True) if v is not None]
        stray += ["--product"] * (product is not None)
        if stray:
            raise InputError(
                f"check: {stray[0]} is of the automaton that --for names; give --for SPEC, or leave it out"
            )
    given = (
        None
        if automaton is None
        else automaton_of(automaton, alphabet, track, start, group, product or "left", 100_000, 10_000_000)
    )
    with show_work("checking"):
        result = verify(certificate, given)
    if as_json:
        print_json(result.to_json())
    else:
        say(f"{result.verdict}: {result.reason}")
        if result.kind == "impossible" and result.verdict == "valid":
            say(_describe_confused_words(certificate))
        if given is not None and result.verdict == "valid":
            agrees = (
                "states and letters have the same names, and every letter moves the states alike"
                if result.kind == "bound"
                else "states correspond, letters and outputs have the same names"
            )
            say(f"about {given.name}: {agrees}")
    if result.verdict != "valid":
        raise typer.Exit(1)


def _describe_confused_words(path: str) -> str:
    """The words u and v of a certificate of impossibility, and the one after which the outputs differ."""
    from ..constructions._document import read_document

    document = read_document(path)
    letters, words = document["labels"]["letters"], document["words"]
    u, v, z = (
        " ".join(letters[x] for x in words[key]) or "the empty word" for key in ("prefix", "loop", "suffix")
    )
    return f"u: {u}; v: {v}; read after both, before the outputs are compared: {z}"


def run(
    certificate: Annotated[
        str, typer.Argument(metavar="FILE", help="A certificate, as `construct -o` writes it.")
    ],
    word: Annotated[
        str | None, typer.Option(help="One word; letters of several characters separated by blanks.")
    ] = None,
    random: Annotated[int | None, typer.Option(metavar="N", help="N random words, uniform.")] = None,
    length: Annotated[int | None, typer.Option(help="Length of each random word; 1,000 by default.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the random words; 0 by default.")] = None,
    dtype: Annotated[
        str, typer.Option(help="exact, fp64, fp32, fp16, bf16, fp8_e4m3 or fp8_e5m2 (float32 ... too).")
    ] = "bf16",
    start: Annotated[str | None, typer.Option(help="Label of the state to start from.")] = None,
    sequential: Annotated[
        bool, typer.Option("--sequential", help="One token after another, no blocks.")
    ] = False,
    picture: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Draw the read-out margin over the run to .svg or .png."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Run the linear RNN in a dtype's arithmetic beside the automaton; exit status 1 if a state is wrong."""
    from ..theory._run_file import run_file

    with show_work("running") as progress:
        outcome = run_file(
            certificate, word=word, random=random, length=length, seed=seed, dtype=dtype, start=start,
            sequential=sequential, picture=picture, progress=progress,
        )  # fmt: skip
    if as_json:
        print_json(outcome.to_json())
    else:
        print_table(outcome.name, outcome.rows())
        say_written(picture)
    if outcome.report.errors:
        raise typer.Exit(1)
