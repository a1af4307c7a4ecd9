"""The commands `check` and `run`, which read a certificate."""

from __future__ import annotations

from typing import Annotated

import typer

from ..foundation._errors import InputError
from .help import AUTOMATA, PROOFS, WORDS, complete_spec
from .options import (
    CERTIFICATE_HELP,
    PRODUCT_HELP,
    SPEC_FORMS,
    Alphabet,
    Group,
    Json,
    Split,
    Start,
    TrackOption,
    automaton_of,
    construct_if_spec,
)
from .output import print_json, print_sentence, print_table, say, say_written, show_work


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command(rich_help_panel=PROOFS)(check)
    app.command(rich_help_panel=AUTOMATA)(run)


def check(
    certificate: Annotated[
        str,
        typer.Argument(
            metavar="FILE|SPEC",
            autocompletion=complete_spec,
            help="The certificate to check, a JSON file of any kind; or the SPEC of an automaton, such as S5, which is constructed.",
        ),
    ],
    automaton: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="SPEC",
            help=f"Also check that the certificate is about this automaton: {SPEC_FORMS}",
        ),
    ] = None,
    alphabet: Alphabet = None,
    split: Split = None,
    track: TrackOption = None,
    start: Start = None,
    group: Group = None,
    product: Annotated[str | None, typer.Option("--product", metavar="SIDE", help=PRODUCT_HELP)] = None,
    checker: Annotated[
        str,
        typer.Option(
            "--with",
            metavar="CHECKER",
            help="The checker: python; or coq, the one that is proved in Coq, which `make formal` builds.",
        ),
    ] = "python",
    as_json: Json = False,
) -> None:
    """Check a certificate with the stand-alone checker of its kind.

    The checker trusts nothing in the certificate: it recomputes every figure, using only Python's standard library. The
    command prints the verdict and writes no file. The exit status is 1 if the certificate is invalid, or if it is about an
    automaton other than the one that --for names.

    \b
    Examples:
      mirrormata check s5.json
      mirrormata check s5.json --for S5 --json
    """
    from ..theory._check import CHECKERS
    from ..theory._check import check as verify
    from ..theory.planning._headline import describe_check

    if automaton is None:
        names = ("--alphabet", "--split", "--track", "--start", "--group")
        values = (alphabet, split, track, start, group)
        stray = [n for n, v in zip(names, values, strict=True) if v is not None]
        stray += ["--product"] * (product is not None)
        if stray:
            raise InputError(
                f"check: {stray[0]} describes the automaton of --for: give --for SPEC as well, or leave {stray[0]} out"
            )
    given = (
        None
        if automaton is None
        else automaton_of(
            automaton, alphabet, track, start, group, product or "left", 100_000, 10_000_000, split
        )
    )
    if checker not in CHECKERS:
        raise InputError(f"check: --with {checker}: give python or coq")
    found = construct_if_spec(certificate)
    with show_work("checking"):
        result = verify(found, given, checker=checker)
    if as_json:
        print_json(result.to_json())
    else:
        print_sentence(headline := describe_check(result))
        if result.reason not in headline:
            say(f"checked{' by the proved checker' * (checker == 'coq')}: {result.reason}")
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
        typer.Argument(metavar="FILE|SPEC", autocompletion=complete_spec, help=CERTIFICATE_HELP),
    ],
    word: Annotated[
        str | None,
        typer.Option(
            help="Run this word, such as 11101: letters of one character in a row, or letters separated by spaces, or a JSON "
            "list of letters."
        ),
    ] = None,
    random: Annotated[
        int | None, typer.Option(metavar="N", help="Run N random words whose letters are drawn uniformly.")
    ] = None,
    length: Annotated[
        int | None, typer.Option(help="Number of letters of each random word. The default is 1,000.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the random words. The default is 0.")] = None,
    max_letters: Annotated[
        int, typer.Option(help="Largest number of letters of all random words together.")
    ] = 1_000_000_000,
    dtype: Annotated[
        str,
        typer.Option(
            metavar="FORMAT",
            help="Number format of states and weights: exact, fp64, fp32, fp16, bf16, fp8_e4m3 or fp8_e5m2.",
        ),
    ] = "bf16",
    start: Annotated[
        str | None,
        typer.Option(
            metavar="LABEL",
            rich_help_panel=WORDS,
            help="Label of the state from which the run starts. The default is the automaton's start state.",
        ),
    ] = None,
    sequential: Annotated[
        bool,
        typer.Option(
            "--sequential",
            help="Process the tokens one after another instead of in blocks. The result is the same.",
        ),
    ] = False,
    picture: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Draw the read-out margin after each token (how far the state is from being decoded wrongly) to this .svg or "
            ".png file.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Run a construction in a number format and count its errors.

    The linear RNN in the certificate, or the one constructed for SPEC, reads the words that --word or --random gives. After every token, its state is compared
    with the state of the automaton. An invalid certificate is refused. The exit status is 1 if any state is wrong.

    \b
    Examples:
      mirrormata run S5 --random 64 --length 100000 --dtype bf16
      mirrormata run mod5.json --word 11101 --dtype exact
    """
    from ..theory._run_file import require_words, run_file

    require_words(word, random, length, seed, max_letters)
    found = construct_if_spec(certificate)
    with show_work("running") as progress:
        outcome = run_file(
            found, word=word, random=random, length=length, seed=seed, max_letters=max_letters, dtype=dtype, start=start,
            sequential=sequential, picture=picture, progress=progress,
        )  # fmt: skip
    if as_json:
        print_json(outcome.to_json())
    else:
        print_table(outcome.headline, outcome.rows())
        say_written(picture)
    if outcome.report.errors:
        raise typer.Exit(1)
