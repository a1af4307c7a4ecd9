"""The commands `export npz` and `export safetensors`: a certificate's weights as an array file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from .options import Json, MaxEntries
from .output import print_json, say_written


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    export = typer.Typer(help="Write a certificate's weights as an array file.", no_args_is_help=True)
    export.command("npz")(export_npz)
    export.command("safetensors")(export_safetensors)
    app.add_typer(export, name="export")


def export_npz(
    certificate: Annotated[str, typer.Argument(metavar="FILE", help="A certificate.")],
    output: Annotated[str, typer.Option("--output", "-o", metavar="OUT", help="The .npz file to write.")],
    max_entries: MaxEntries = 50_000_000,
    as_json: Json = False,
) -> None:
    """One layer, one head: A, B, H0, codes, decode and factors as numpy arrays."""
    from ..theory.export import export_npz as write

    _export(write, certificate, output, max_entries, as_json)


def export_safetensors(
    certificate: Annotated[str, typer.Argument(metavar="FILE", help="A certificate.")],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="OUT", help="The .safetensors file to write.")
    ],
    max_entries: MaxEntries = 50_000_000,
    as_json: Json = False,
) -> None:
    """All heads: factors, matrices, initial state, codes and decoder, labels in the metadata."""
    from ..theory.export import export_safetensors as write

    _export(write, certificate, output, max_entries, as_json)


def _export(
    write: Callable[..., None], certificate: str, output: str, max_entries: int, as_json: bool
) -> None:
    from ..theory.run_file import lrnn_of

    write(lrnn_of(certificate), output, max_entries=max_entries)
    if as_json:
        print_json({"certificate": certificate, "written": output})
    else:
        say_written(output)
