"""The commands `check` and `run`, which read a certificate."""

from __future__ import annotations

from typing import Annotated

import typer

from ..foundation._errors import InputError
from .options import PRODUCT_HELP, SPEC_FORMS, Alphabet, Group, Json, Start, TrackOption, automaton_of
from .output import print_json, print_table, say, say_written, show_work


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command()(check)
    app.command()(run)


def check(
    certificate: Annotated[
        str,
        typer.Argument(metavar="FILE", help="The certificate to check, of any kind."),
    ],
    automaton: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="SPEC",
            help=f"Check also that the certificate is about this automaton: {SPEC_FORMS}",
        ),
    ] = None,
    alphabet: Alphabet = None,
    track: TrackOption = None,
    start: Start = None,
    group: Group = None,
    product: Annotated[str | None, typer.Option("--product", help=PRODUCT_HELP)] = None,
    as_json: Json = False,
) -> None:
    """Check a certificate with the stand-alone checker of its kind.

    The checker trusts nothing that the certificate says and computes every figure again, with Python's standard library
    alone. The verdict is printed; no file is written. The exit status is 1 if the certificate is invalid, or if it is
    about another automaton than --for names.

    \b
    Examples:
      mirrormata check s5.json
      mirrormata check s5.json --for S5 --json
    """
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
        str,
        typer.Argument(
            metavar="FILE", help="The certificate of a construction, as `construct -o` writes it."
        ),
    ],
    word: Annotated[
        str | None,
        typer.Option(help="Run this word. Letters of several characters are separated by spaces."),
    ] = None,
    random: Annotated[
        int | None, typer.Option(metavar="N", help="Run N random words, with uniformly drawn letters.")
    ] = None,
    length: Annotated[
        int | None, typer.Option(help="Number of letters of each random word. The default is 1,000.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the random words. The default is 0.")] = None,
    dtype: Annotated[
        str, typer.Option(help="Number format: exact, fp64, fp32, fp16, bf16, fp8_e4m3 or fp8_e5m2.")
    ] = "bf16",
    start: Annotated[
        str | None,
        typer.Option(help="Label of the state to start from. The default is the automaton's start state."),
    ] = None,
    sequential: Annotated[
        bool, typer.Option("--sequential", help="Process one token after another instead of in blocks.")
    ] = False,
    picture: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Draw the read-out margin after each token to this .svg or .png file."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Run a construction in a number format and count its errors.

    The linear RNN of the certificate reads the words of --word or --random, and after every token its state is compared
    with the automaton's. An invalid certificate is refused. The exit status is 1 if a state is wrong.

    \b
    Examples:
      mirrormata run s5.json --random 64 --length 100000 --dtype bf16
      mirrormata run mod5.json --word 11101 --dtype exact
    """
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
