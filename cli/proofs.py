"""The commands `prove` and `spectrum`: what a model does on all words, and what its eigenvalues are."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..foundation._errors import InputError
from ..foundation._files import is_file, refuse_input_as_output, shown_path
from ..foundation._interrupting import Interrupted, received_signal
from .help import PROOFS, complete_spec
from .options import (
    Alphabet,
    Group,
    Json,
    ProductOption,
    Spec,
    Split,
    Start,
    TrackOption,
    automaton_of,
    construct_if_spec,
)
from .output import print_columns, print_json, print_sentence, print_table, say, say_written, show_work

if TYPE_CHECKING:
    from ..theory.spectra._model import ModelSpectrum


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command(rich_help_panel=PROOFS)(prove)
    app.command(rich_help_panel=PROOFS)(spectrum)


def prove(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL|SPEC",
            autocompletion=complete_spec,
            help="A certificate, an .npz file of matrices, a model folder, an FLA checkpoint, or the SPEC of an automaton, which is "
            "constructed.",
        ),
    ],
    spec: Spec,
    arithmetic: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Arithmetic in which the model runs: exact; per_step:FORMAT[:ROUNDING], with one rounding per token; "
            "per_op:FORMAT[:ORDER][:ROUNDING], with every operation rounded; or kernel:recurrent:DTYPE[:cuda], the kernel "
            "itself. The default is kernel:recurrent:fp32 for a model folder, fla:naive:bf16 for an FLA checkpoint, and "
            "per_step:bf16 otherwise.",
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="If there is a proof, write its certificate to this JSON file.",
        ),
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Save the search in this file from time to time, and continue from this file if it exists.",
        ),
    ] = None,
    max_states: Annotated[
        int,
        typer.Option(
            help="Largest number of states of the model to explore. Beyond it, the verdict is unknown."
        ),
    ] = 5_000_000,
    max_trial_letters: Annotated[
        int,
        typer.Option(
            help="Largest number of letters of the words that are tried beside a search that does not end soon, all words "
            "together; 0 for none. They are v v v ... for short words v, and a few random words."
        ),
    ] = 65_536,
    max_seconds: Annotated[
        float,
        typer.Option(
            help="Time limit of the search, in seconds. Beyond it, the verdict is unknown: states that differ by rounding alone may never "
            "close."
        ),
    ] = 300,
    alphabet: Alphabet = None,
    split: Split = None,
    track: TrackOption = None,
    start: Start = None,
    group: Group = None,
    product: ProductOption = "left",
    as_json: Json = False,
) -> None:
    """Prove or refute that a model equals an automaton on all words.

    The model runs in the arithmetic of --arithmetic, rounding included. There are three verdicts: equivalent;
    counterexample, with a word on which the model is wrong; and unknown, with the length up to which the model is
    proved right. The wrong word is a shortest one unless the search of the states did not end soon and the word was tried beside
    it (--max-trial-letters). A second program checks every proof. Only -o and --resume write files. The exit status is 1 unless the
    verdict is equivalent.

    \b
    Examples:
      mirrormata prove S5 S5 --arithmetic per_step:bf16 -o proof.json
      mirrormata prove examples/models/s4 S4 --max-seconds 60
    """
    from ..models._sources import prove as prove_on_all_words
    from ..models._sources import refuse_uncertified

    if max_states < 1:
        raise InputError(f"--max-states {max_states}: give a number of states of at least 1")
    if max_trial_letters < 0:
        raise InputError(f"--max-trial-letters {max_trial_letters}: give a number of letters of at least 0")
    if not 0 < max_seconds < math.inf:
        raise InputError(f"--max-seconds {max_seconds:g}: give a number of seconds above 0")
    if arithmetic == "":
        raise InputError("--arithmetic '': name one, such as per_step:bf16, or leave the option out")
    for written in (output, resume):
        refuse_input_as_output(written, model, spec)
    if output is not None:
        refuse_uncertified(model, arithmetic)

    def read(text: str) -> Any:
        return automaton_of(text, alphabet, track, start, group, product, 100_000, 10_000_000, split)

    automaton = read(spec)
    held = construct_if_spec(model, read)
    try:
        with show_work("proving") as work:
            proof = prove_on_all_words(
                held, automaton, arithmetic, max_states=max_states, max_seconds=max_seconds, resume=resume,
                progress=lambda states, _: work.tell(f"{states:,} states"), max_trial_letters=max_trial_letters,
            )  # fmt: skip
    except KeyboardInterrupt as early:  # before the search, or after it
        if resume is not None and is_file(resume):
            early.add_note(f"{shown_path(resume)} has the search as it was; the same command continues")
        raise
    written = None
    if output is not None and proof.certificate is not None:
        from ..constructions._document import write_certificate

        written = output
        write_certificate(proof.certificate, output)
    if as_json:
        print_json(proof.to_json())
    else:
        print_table(proof.headline, proof.rows())
        say_written(written)
    if (number := received_signal()) is not None:
        stop = Interrupted(number)
        saved = resume is not None and is_file(resume)
        stop.add_note(
            f"the search is saved in {shown_path(resume)}; the same command continues"
            if saved
            else "what is proved so far is printed; the search was not saved (--resume FILE saves it)"
        )
        raise stop
    if output is not None and written is None:
        if proof.verdict == "equivalent":
            raise InputError(f"no certificate written to {output}: {proof.uncertified}: leave -o out")
        say(f"no certificate written to {output}: {proof.uncertified}", error=True)
    if proof.verdict != "equivalent":
        raise typer.Exit(1)


ROUNDED = 1e-9
"""A distance within which a matrix whose norm is above 1 may be a rounded one of norm 1, which is said and not assumed."""


def _may_be_rounded(found: ModelSpectrum, max_dim: int) -> bool:
    """Whether some norm is above 1, and none by more than `ROUNDED`."""
    from ..theory.spectra._within import norm_within

    above = [letter for letter in found.letters if not letter.norm.holds]
    return bool(above) and all(
        norm_within(letter.matrix, Fraction(ROUNDED), max_dim=max_dim, name=letter.label).holds
        for letter in above
    )


def spectrum(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL|SPEC",
            autocompletion=complete_spec,
            help="A certificate, an .npz file with matrices A of shape [letters, n, n], a model folder or an FLA checkpoint of one layer, or "
            "the SPEC of an automaton, such as S5, which is constructed.",
        ),
    ],
    picture: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Draw the eigenvalues in the complex plane, with the unit disc, to this .svg or .png file.",
        ),
    ] = None,
    products: Annotated[
        int,
        typer.Option(
            help="Also analyse all distinct products of the matrices of up to this many letters; 0 for none."
        ),
    ] = 0,
    max_dim: Annotated[
        int, typer.Option(help="Largest dimension of a matrix whose eigenvalues are computed.")
    ] = 64,
    max_letters: Annotated[
        int, typer.Option(help="Largest number of distinct letter matrices in a head.")
    ] = 2_000,
    max_products: Annotated[int, typer.Option(help="Largest number of distinct products in a head.")] = 2_000,
    within: Annotated[
        float,
        typer.Option(
            metavar="R",
            help="Judge rank, norm and stability within the distance R in the spectral norm, such as 1e-9, for matrices that were rounded or "
            "are means. The output repeats R.",
        ),
    ] = 0.0,
    as_json: Json = False,
) -> None:
    """Enclose and classify the eigenvalues of every letter's matrix.

    The command decides exactly whether each eigenvalue is real, what its sign is, whether it lies on the unit circle,
    whether the norm of the matrix is at most 1, and whether the matrix is stable, that is, its powers stay bounded. Only
    --picture writes a file. The exit status is 1 if anything remains undecided.

    \b
    Examples:
      mirrormata spectrum S5
      mirrormata spectrum layer.npz --products 2 --picture spectrum.svg
    """
    from ..models._sources import spectrum_of_model

    refuse_input_as_output(picture, model)
    held = construct_if_spec(model, table=True)
    with show_work("computing eigenvalues"):
        found = spectrum_of_model(
            held,
            products=products,
            max_dim=max_dim,
            max_letters=max_letters,
            max_products=max_products,
            within=within,
        )
    if picture is not None:
        from ..theory.spectra._picture import draw_spectrum

        draw_spectrum(found, picture)
    if as_json:
        print_json(found.to_json())
    else:
        print_columns(model, found.rows())
        for note in found.notes:
            print_sentence(f"{note[:1].upper()}{note[1:]}.")
        if not within and model.endswith(".npz") and _may_be_rounded(found, max_dim):
            print_sentence(
                f"Floats are taken as they are. Where they were rounded: within {ROUNDED:g}, every norm is at most 1 (--within {ROUNDED:g})."
            )
        for line in found.product_lines():
            say(line)
        say_written(picture)
    if not found.is_decided:
        raise typer.Exit(1)
