"""The command line: reads arguments, calls `constructions` and `theory`, prints. No logic of its own.

Exit status: 0 as expected, 1 otherwise (an invalid certificate, errors in a run), 2 bad input or usage.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from typing import Annotated, Any, cast

import typer

from .constructions.errors import InputError, MirrormataError

app = typer.Typer(
    name="mirrormata",
    help="Automata in, mirrors out: certified linear RNNs made of generalized Householder reflections.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
)
export_app = typer.Typer(help="Write a certificate's weights as an array file.", no_args_is_help=True)
app.add_typer(export_app, name="export")

SPEC_HELP = (
    "What automaton: a name (`mirrormata inspect --library` lists them), a file "
    "(.json .dot .mata .att .csv .txt) or regex:PATTERN"
)
Spec = Annotated[str, typer.Argument(metavar="SPEC", help=SPEC_HELP)]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Alphabet = Annotated[str | None, typer.Option(help="Letters of regex:PATTERN, as one string.")]
TrackOption = Annotated[
    str | None,
    typer.Option("--track", help="state: keep every reachable state; output: minimise by outputs."),
]
Start = Annotated[str | None, typer.Option(help="Label of the start state.")]
Group = Annotated[
    str | None, typer.Option(help="Group of a word-problem .csv, where its name does not say it.")
]
ProductOption = Annotated[
    str, typer.Option("--product", help="Group word problems: left (y becomes x·y) or right (y·x).")
]
MaxStates = Annotated[int, typer.Option(help="Largest number of states to build.")]

MaxTransitions = Annotated[int, typer.Option(help="Largest letters × states of a named automaton.")]
MaxEntries = Annotated[int, typer.Option(help="Largest number of entries in one array.")]
ExactnessOption = Annotated[
    str, typer.Option("--exactness", help="any, or integer for bit-exact constructions only.")
]
THEOREM_HELP = (
    "Only constructions of one source: G.T3, DP.T4, H.A5inv, own.LMI, G.T6, DP.T7, DP.T1, own.T2tight, G.T4, own.n-1, "
    "S.star-free; DP.T2, which needs gates; or DP.T6, G.A3, whose norm can exceed 1."
)
TheoremOption = Annotated[str | None, typer.Option("--theorem", help=THEOREM_HELP)]
MaxLayers = Annotated[int | None, typer.Option(help="Most layers.")]
MaxHouseholders = Annotated[int | None, typer.Option(help="Most factors of a letter in one head.")]
MaxDim = Annotated[int | None, typer.Option(help="Largest key dimension of a head.")]
CoordinatesOption = Annotated[
    str,
    typer.Option("--coordinates", help="Of a cascade's components: few, or one_hot as the theorem has them."),
]
MaxDegree = Annotated[int, typer.Option(help="Largest degree of a number field.")]
MaxGroup = Annotated[int, typer.Option(help="Largest group to list in the search for small representations.")]
MaxImageSets = Annotated[int, typer.Option(help="Most image sets of a holonomy decomposition.")]
MaxSetMoves = Annotated[int, typer.Option(help="Most entries (image sets × letters) of its table of moves.")]
MaxLevelLetters = Annotated[int, typer.Option(help="Most letters on one level of a cascade.")]


@app.callback(invoke_without_command=True)
def _version(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    if version:
        from . import __version__

        print(__version__)
        raise typer.Exit


@app.command()
def inspect(
    spec: Annotated[str | None, typer.Argument(metavar="[SPEC]", help=SPEC_HELP)] = None,
    library: Annotated[
        bool, typer.Option("--library", help="List the named automata with their sizes.")
    ] = False,
    draw: Annotated[
        str | None, typer.Option(metavar="FILE", help="Draw the automaton to .svg or .png.")
    ] = None,
    write: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the automaton as .json .dot .mata .att or .txt.")
    ] = None,
    alphabet: Alphabet = None,
    track: TrackOption = None,
    start: Start = None,
    group: Group = None,
    product: ProductOption = "left",
    max_monoid: Annotated[int, typer.Option(help="Largest transition monoid to list.")] = 1_000_000,
    max_states: MaxStates = 100_000,
    max_transitions: MaxTransitions = 10_000_000,
    max_drawn: Annotated[int, typer.Option(help="Most states in a drawing.")] = 200,
    as_json: Json = False,
) -> None:
    """Facts about an automaton: states, transition monoid, group, aperiodic, solvable; and its picture."""
    if library:
        _print_library(max_monoid, as_json)
        return
    if spec is None:
        raise InputError("inspect: give a SPEC, or --library for the list of names")
    from .constructions.inspection import inspect_automaton
    from .constructions.small_degree import small_degree

    automaton = _automaton(spec, alphabet, track, start, group, product, max_states, max_transitions)
    facts = inspect_automaton(automaton, max_monoid=max_monoid, degree=small_degree)
    if draw is not None:
        from .theory.pictures.automaton import draw_automaton

        draw_automaton(automaton, draw, max_states=max_drawn)
    if write is not None:
        from .constructions.spec import write_automaton

        write_automaton(automaton, write)
    if as_json:
        _print_json(facts.to_json())
    else:
        _print_table(facts.name, facts.rows())
        _say_written(draw, write)


@app.command()
def construct(
    spec: Spec,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the certificate (JSON).")
    ] = None,
    exactness: ExactnessOption = "any",
    theorem: TheoremOption = None,
    max_layers: MaxLayers = None,
    max_householders: MaxHouseholders = None,
    max_dim: MaxDim = None,
    coordinates: CoordinatesOption = "few",
    wiring: Annotated[
        str,
        typer.Option(
            help="Of a cascade: repaired, or printed as in the proof of G.T4, only to be refuted by a word."
        ),
    ] = "repaired",
    show: Annotated[bool, typer.Option("--show", help="Print every letter's factors and matrix.")] = False,
    latex: Annotated[bool, typer.Option("--latex", help="Print them as a LaTeX document.")] = False,
    picture: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Draw the mirrors, or the layers, to .svg or .png."),
    ] = None,
    alphabet: Alphabet = None,
    track: TrackOption = None,
    start: Start = None,
    group: Group = None,
    product: ProductOption = "left",
    max_letters: Annotated[int | None, typer.Option(help="Most letters to show or draw.")] = None,
    max_drawn_dim: Annotated[int, typer.Option(help="Widest head in a picture.")] = 40,
    max_degree: MaxDegree = 100,
    max_group: MaxGroup = 5_000,
    max_image_sets: MaxImageSets = 200_000,
    max_set_moves: MaxSetMoves = 10_000_000,
    max_level_letters: MaxLevelLetters = 500_000,
    max_states: MaxStates = 100_000,
    max_transitions: MaxTransitions = 10_000_000,
    as_json: Json = False,
) -> None:
    """An exact linear RNN that realises the automaton, with a certificate that it does on all words."""
    from .constructions.construct import Limits, Request
    from .constructions.lrnn import LRNN
    from .theory.plan import choose_or_refuse, report

    if as_json and (show or latex):
        raise InputError("construct: --json prints one object only; leave --show and --latex out")
    automaton = _automaton(spec, alphabet, track, start, group, product, max_states, max_transitions)
    request = Request(exactness, theorem, max_layers, max_householders, max_dim, coordinates)
    limits = Limits(max_degree, max_group, max_image_sets, max_set_moves, max_level_letters)
    if _one_of(wiring, "--wiring", "repaired", "printed") == "printed":
        if request != Request(coordinates=coordinates) or show or latex or picture is not None:
            raise InputError(
                "construct: --wiring printed is refuted as it stands: besides --coordinates, -o, --json and limits it "
                "takes no option"
            )
        _refute_printed(automaton, request, limits, output, as_json)
        return
    with _working("constructing"):
        found = choose_or_refuse(automaton, request, limits)
    if not isinstance(found, LRNN) and (show or latex or picture is not None):
        raise InputError(
            f"{automaton.name}: a block delay is a rule, not a table: leave --show, --latex and --picture out; "
            "its factors are in the certificate (-o)"
        )
    if picture is not None:
        from .theory.pictures.construction import draw_construction

        letters = {} if max_letters is None else {"max_letters": max_letters}
        draw_construction(cast(LRNN, found), picture, max_dim=max_drawn_dim, **letters)
    if output is not None:
        from .constructions.certificate import write_certificate
        from .theory.certify import certify

        with _working("writing the certificate"):
            write_certificate(certify(found, max_group=max_group), output)
    facts = report(found, output)
    if as_json:
        _print_json(facts)
    elif latex:
        from .constructions.latex import latex as to_latex

        print(to_latex(cast(LRNN, found), max_letters=max_letters), end="")
    elif show:
        from .constructions.show import show as to_text

        print(
            to_text(cast(LRNN, found), **({} if max_letters is None else {"max_letters": max_letters})),
            end="",
        )
    else:
        _print_table(found.automaton.name, [(k, _text(v)) for k, v in facts.items() if v not in (None, [])])
        for note in (*automaton.notes, *found.notes):
            print(f"note: {note}")
        _say_written(output, picture)


def _refute_printed(automaton: Any, request: Any, limits: Any, output: str | None, as_json: bool) -> None:
    from .theory.refutation import refute_printed

    with _working("refuting"):
        outcome = refute_printed(automaton, request, limits)
    if output is not None:
        from .constructions.certificate import certificate, write_certificate

        write_certificate(certificate(outcome.lrnn), output)
    if as_json:
        _print_json(outcome.to_json())
    else:
        _print_table(f"{automaton.name}, wired as printed", outcome.rows())
        _say_written(output)
    if outcome.word is not None:
        raise typer.Exit(1)


@app.command()
def plan(
    spec: Spec,
    exactness: ExactnessOption = "any",
    theorem: TheoremOption = None,
    max_layers: MaxLayers = None,
    max_householders: MaxHouseholders = None,
    max_dim: MaxDim = None,
    coordinates: CoordinatesOption = "few",
    bounds: Annotated[
        str | None,
        typer.Option("--bounds", metavar="FILE", help="Write the lower bounds as a certificate (JSON)."),
    ] = None,
    alphabet: Alphabet = None,
    track: TrackOption = None,
    start: Start = None,
    group: Group = None,
    product: ProductOption = "left",
    max_degree: MaxDegree = 100,
    max_group: MaxGroup = 5_000,
    max_image_sets: MaxImageSets = 200_000,
    max_set_moves: MaxSetMoves = 10_000_000,
    max_level_letters: MaxLevelLetters = 500_000,
    max_states: MaxStates = 100_000,
    max_transitions: MaxTransitions = 10_000_000,
    as_json: Json = False,
) -> None:
    """The realisations on offer, which of them nothing beats, and lower bounds with the theorems behind them."""
    from .constructions.construct import Limits, Request
    from .theory.plan import plan as make

    automaton = _automaton(spec, alphabet, track, start, group, product, max_states, max_transitions)
    request = Request(exactness, theorem, max_layers, max_householders, max_dim, coordinates)
    limits = Limits(max_degree, max_group, max_image_sets, max_set_moves, max_level_letters)
    with _working("planning"):
        made = make(automaton, request, limits)
    if bounds is not None:
        from .constructions.certificate import write_certificate
        from .theory.bounds import bound_certificate

        write_certificate(bound_certificate(made.bounds), bounds)
    if as_json:
        _print_json(made.to_json())
    else:
        from .theory.plan_table import print_plan

        print_plan(made)
        _say_written(bounds)


@app.command()
def check(
    certificate: Annotated[
        str, typer.Argument(metavar="FILE", help="A certificate, as `construct -o` writes it.")
    ],
    as_json: Json = False,
) -> None:
    """Check a certificate with the stand-alone checker of its kind; exit status 1 if it is invalid."""
    from .theory.check import check as verify

    with _working("checking"):
        result = verify(certificate)
    if as_json:
        _print_json(result.to_json())
    else:
        print(f"{result.verdict}: {result.reason}")
    if result.verdict != "valid":
        raise typer.Exit(1)


@app.command()
def run(
    certificate: Annotated[
        str, typer.Argument(metavar="FILE", help="A certificate, as `construct -o` writes it.")
    ],
    word: Annotated[
        str | None, typer.Option(help="One word; letters of several characters separated by blanks.")
    ] = None,
    random: Annotated[int | None, typer.Option(metavar="N", help="N random words, uniform.")] = None,
    length: Annotated[int, typer.Option(help="Length of each random word.")] = 1_000,
    seed: Annotated[int, typer.Option(help="Seed of the random words.")] = 0,
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
    from .theory.run_file import run_file

    with _working("running") as progress:
        outcome = run_file(
            certificate, word=word, random=random, length=length, seed=seed, dtype=dtype, start=start,
            sequential=sequential, picture=picture, progress=progress,
        )  # fmt: skip
    if as_json:
        _print_json(outcome.to_json())
    else:
        _print_table(outcome.name, outcome.rows())
        _say_written(picture)
    if outcome.report.errors:
        raise typer.Exit(1)


@app.command()
def prove(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A certificate, or an .npz of matrices.")],
    spec: Spec,
    arithmetic: Annotated[
        str, typer.Option(help="exact, per_step:FORMAT[:ROUNDING] or per_op:FORMAT.")
    ] = "per_step:bf16",
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the certificate of a proof.")
    ] = None,
    resume: Annotated[
        str | None, typer.Option(metavar="FILE", help="Go on from this file, and save to it on the way.")
    ] = None,
    max_states: Annotated[int, typer.Option(help="Most states of the model to explore.")] = 5_000_000,
    max_seconds: Annotated[float | None, typer.Option(help="Longest time for the search.")] = None,
    alphabet: Alphabet = None,
    track: TrackOption = None,
    start: Start = None,
    group: Group = None,
    product: ProductOption = "left",
    as_json: Json = False,
) -> None:
    """Prove a model equal to an automaton in an arithmetic, on all words, or find a shortest word that refutes it."""
    from .theory.prove_file import prove_file

    automaton = _automaton(spec, alphabet, track, start, group, product, 100_000, 10_000_000)
    with _working("proving"):
        proof = prove_file(
            model, automaton, arithmetic, max_states=max_states, max_seconds=max_seconds, resume=resume
        )
    written = output if output is not None and proof.certificate is not None else None
    if written is not None and proof.certificate is not None:
        from .constructions.certificate import write_certificate

        write_certificate(proof.certificate, written)
    if as_json:
        _print_json(proof.to_json())
    else:
        _print_table(automaton.name, proof.rows())
        _say_written(written)
    if proof.verdict != "equivalent":
        raise typer.Exit(1)


@app.command()
def spectrum(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="A certificate, or an .npz of matrices A [letters, n, n].")
    ],
    picture: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Draw the eigenvalues on the unit disc to .svg or .png."),
    ] = None,
    products: Annotated[
        int, typer.Option(help="Also all distinct products of letters up to this length.")
    ] = 0,
    max_dim: Annotated[int, typer.Option(help="Largest dimension of a matrix.")] = 64,
    max_letters: Annotated[int, typer.Option(help="Most distinct letter matrices.")] = 2_000,
    max_products: Annotated[int, typer.Option(help="Most distinct products.")] = 2_000,
    as_json: Json = False,
) -> None:
    """Eigenvalues of every letter, enclosed and decided: real, sign, unit circle, stability; exit status 1 if any is not."""
    from .theory.spectra_file import spectrum_of_file

    with _working("computing eigenvalues"):
        found = spectrum_of_file(
            model, products=products, max_dim=max_dim, max_letters=max_letters, max_products=max_products
        )
    if picture is not None:
        from .theory.pictures.spectrum import draw_spectrum

        draw_spectrum(found, picture)
    if as_json:
        _print_json(found.to_json())
    else:
        _print_columns(model, found.rows())
        for line in found.product_lines():
            print(line)
        _say_written(picture)
    if not found.is_decided:
        raise typer.Exit(1)


@export_app.command("npz")
def export_npz(
    certificate: Annotated[str, typer.Argument(metavar="FILE", help="A certificate.")],
    output: Annotated[str, typer.Option("--output", "-o", metavar="OUT", help="The .npz file to write.")],
    max_entries: MaxEntries = 50_000_000,
    as_json: Json = False,
) -> None:
    """One layer, one head: A, B, H0, codes, decode and factors as numpy arrays."""
    from .theory.export import export_npz as write

    _export(write, certificate, output, max_entries, as_json)


@export_app.command("safetensors")
def export_safetensors(
    certificate: Annotated[str, typer.Argument(metavar="FILE", help="A certificate.")],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="OUT", help="The .safetensors file to write.")
    ],
    max_entries: MaxEntries = 50_000_000,
    as_json: Json = False,
) -> None:
    """All heads: factors, matrices, initial state, codes and decoder, labels in the metadata."""
    from .theory.export import export_safetensors as write

    _export(write, certificate, output, max_entries, as_json)


def _export(
    write: Callable[..., None], certificate: str, output: str, max_entries: int, as_json: bool
) -> None:
    from .theory.run_file import lrnn_of

    write(lrnn_of(certificate), output, max_entries=max_entries)
    if as_json:
        _print_json({"certificate": certificate, "written": output})
    else:
        _say_written(output)


def _automaton(
    spec: str,
    alphabet: str | None,
    track: str | None,
    start: str | None,
    group: str | None,
    product: str,
    max_states: int,
    max_transitions: int,
) -> Any:
    from .constructions.spec import automaton_from_spec

    return automaton_from_spec(
        spec, alphabet=alphabet, track=_one_of(track, "--track", "state", "output"), start=start, group=group,
        product=_one_of(product, "--product", "left", "right"), max_states=max_states, max_transitions=max_transitions,
    )  # fmt: skip


def _one_of(value: str | None, option: str, *choices: str) -> Any:
    if value is not None and value not in choices:
        raise InputError(f"{option} {value}: it is one of {', '.join(choices)}")
    return value


def _text(value: Any) -> str:
    if isinstance(value, list):
        return (
            "; ".join(_text(v) for v in value)
            if value and isinstance(value[0], dict)
            else " ".join(map(str, value))
        )
    if isinstance(value, dict):
        return f"{value['figure']} ≥ {value['at_least']} ({value['reason']})"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _print_json(value: Any) -> None:
    """One object; escaped by JSON's own rules where the stream cannot show its signs."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
    print(json.dumps(value, ensure_ascii=not unicode))


def _print_table(title: str, rows: list[tuple[str, str]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=None, box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for label, text in rows:
        table.add_row(label, text)
    console = Console(highlight=False, markup=False, emoji=False)
    console.print(title, style="bold")
    console.print(table)


def _print_columns(title: str, rows: list[list[str]]) -> None:
    """A table whose first row has the headings."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE, pad_edge=False)
    for heading in rows[0]:
        table.add_column(heading, overflow="fold")
    for row in rows[1:]:
        table.add_row(*row)
    console = Console(highlight=False, markup=False, emoji=False)
    console.print(title, style="bold")
    console.print(table)


def _print_library(max_monoid: int, as_json: bool) -> None:
    from .constructions.library_table import library_rows, library_text

    with _working("counting"):
        rows = library_rows(max_monoid)
    if as_json:
        _print_json(rows)
        return
    print(library_text(rows))


def _say_written(*paths: str | None) -> None:
    for path in paths:
        if path is not None:
            print(f"written: {path}", file=sys.stderr)


@contextmanager
def _working(what: str) -> Iterator[Callable[[float], None]]:
    """On a terminal, once the work takes more than a second: what is done, for how long, and how much of it."""
    begun, done = time.monotonic(), [0.0]
    finished = threading.Event()

    def tell() -> None:
        pause = 1.0
        while not finished.wait(pause):
            share = f" {done[0]:4.0%}" if done[0] else ""
            print(f"\r{what}:{share} {time.monotonic() - begun:.0f} s", end="", file=sys.stderr, flush=True)
            pause = 0.5

    teller = threading.Thread(target=tell, daemon=True)
    if sys.stderr.isatty():
        teller.start()
    try:
        yield lambda share: done.__setitem__(0, share)
    finally:
        finished.set()
        if teller.is_alive():
            teller.join()
        if sys.stderr.isatty() and time.monotonic() - begun > 1:
            print(file=sys.stderr)


def main(arguments: list[str] | None = None) -> None:
    """Entry point: errors that a user can mend are one line on standard error and exit status 2."""
    if isinstance(sys.stdout, TextIOWrapper):  # labels and signs that the terminal cannot show
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        status = app(arguments, standalone_mode=False)
    except MirrormataError as error:
        _fail(str(error))
    except (KeyboardInterrupt, typer.Abort):
        raise SystemExit(130) from None
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(1) from None
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message(), file=sys.stderr)
            raise SystemExit(2) from None
        _fail(f"{error.format_message()} (`mirrormata --help` lists the commands and options)")
    raise SystemExit(status or 0)


def _fail(message: str) -> None:
    print(f"error: {' '.join(message.split())}", file=sys.stderr)
    raise SystemExit(2)
