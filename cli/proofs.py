"""The commands `prove` and `spectrum`: what holds of a model on all words, and of its eigenvalues."""

from __future__ import annotations

import math
from typing import Annotated

import typer

from ..foundation._errors import InputError
from .options import Alphabet, Group, Json, ProductOption, Spec, Start, TrackOption, automaton_of
from .output import print_columns, print_json, print_table, say, say_written, show_work


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command()(prove)
    app.command()(spectrum)


def prove(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL", help="A certificate, an .npz of matrices, a model folder, or an FLA checkpoint."
        ),
    ],
    spec: Spec,
    arithmetic: Annotated[
        str | None,
        typer.Option(
            help="exact, per_step:FORMAT[:ROUNDING], per_op:FORMAT[:ORDER][:ROUNDING] or "
            "kernel:recurrent:DTYPE[:cuda]; by default per_step:bf16, for a model folder kernel:recurrent:fp32, for an FLA "
            "checkpoint fla:naive:bf16."
        ),
    ] = None,
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
    from ..models._sources import prove_model

    if max_states < 1:
        raise InputError(f"--max-states {max_states}: it is a number of states from 1 on")
    if max_seconds is not None and not 0 < max_seconds < math.inf:
        raise InputError(f"--max-seconds {max_seconds:g}: it is a number of seconds above 0")
    if arithmetic == "":
        raise InputError("--arithmetic '': name one, such as per_step:bf16, or leave the option out")
    automaton = automaton_of(spec, alphabet, track, start, group, product, 100_000, 10_000_000)
    with show_work("proving"):
        proof = prove_model(
            model, automaton, arithmetic, max_states=max_states, max_seconds=max_seconds, resume=resume
        )
    written = None
    if output is not None and proof.certificate is not None:
        from ..constructions._document import write_certificate

        written = output
        write_certificate(proof.certificate, output)
    if as_json:
        print_json(proof.to_json())
    else:
        print_table(automaton.name, proof.rows())
        say_written(written)
    if output is not None and written is None:
        say(f"no certificate written to {output}: {proof.uncertified}", error=True)
    if proof.verdict != "equivalent":
        raise typer.Exit(1)


def spectrum(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="A certificate, an .npz of matrices A [letters, n, n], or an FLA checkpoint.",
        ),
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
    from ..models._sources import spectrum_of_model

    with show_work("computing eigenvalues"):
        found = spectrum_of_model(
            model, products=products, max_dim=max_dim, max_letters=max_letters, max_products=max_products
        )
    if picture is not None:
        from ..theory.spectra._picture import draw_spectrum

        draw_spectrum(found, picture)
    if as_json:
        print_json(found.to_json())
    else:
        print_columns(model, found.rows())
        for line in found.product_lines():
            say(line)
        say_written(picture)
    if not found.is_decided:
        raise typer.Exit(1)
