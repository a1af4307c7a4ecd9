"""The commands `export npz`, `safetensors`, `model` and `fla`, a certificate's weights as files; and `import fla`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated

import typer

from .options import Alphabet, Json, MaxEntries, ProductOption, Start, one_of
from .output import print_json, say_written


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    export = typer.Typer(
        help="Write a certificate's weights as an array file, or as a checkpoint.", no_args_is_help=True
    )
    export.command("npz")(export_npz)
    export.command("safetensors")(export_safetensors)
    export.command("model")(export_model)
    export.command("fla")(export_fla)
    app.add_typer(export, name="export")
    imports = typer.Typer(help="Read another library's checkpoint.", no_args_is_help=True)
    imports.callback()(lambda: None)  # so that a single command keeps its name
    imports.command("fla")(import_fla)
    app.add_typer(imports, name="import")


def export_npz(
    certificate: Annotated[str, typer.Argument(metavar="FILE", help="A certificate.")],
    output: Annotated[str, typer.Option("--output", "-o", metavar="OUT", help="The .npz file to write.")],
    max_entries: MaxEntries = 50_000_000,
    as_json: Json = False,
) -> None:
    """One layer, one head: A, B, H0, codes, decode and factors as numpy arrays."""
    from ..theory._export import export_npz as write

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
    from ..theory._export import export_safetensors as write

    _export(write, certificate, output, max_entries, as_json)


def export_model(
    certificate: Annotated[str, typer.Argument(metavar="FILE", help="A certificate.")],
    spec: Annotated[str, typer.Argument(metavar="SPEC", help="The automaton that it realises.")],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FOLDER", help="The model folder to write.")
    ],
    product: ProductOption = "left",
    start: Start = None,
    alphabet: Alphabet = None,
    max_entries: MaxEntries = 50_000_000,
    as_json: Json = False,
) -> None:
    """A model folder with the construction's weights in the layers that are trained, for eval, prove and compare."""
    from ..models._constructed import write_constructed
    from ..models.tasks._task import TaskSettings
    from ..theory._realisations import lrnn_of

    side = one_of(product, "--product", "left", "right")
    settings = TaskSettings(
        spec=spec, bos=False, labels="state", start=start, alphabet=alphabet, product=side
    )
    write_constructed(lrnn_of(certificate), settings, output, max_entries=max_entries)
    if as_json:
        print_json({"certificate": certificate, "written": output})
    else:
        say_written(output)


def _export(
    write: Callable[..., None], certificate: str, output: str, max_entries: int, as_json: bool
) -> None:
    from ..theory._realisations import lrnn_of

    write(lrnn_of(certificate), output, max_entries=max_entries)
    if as_json:
        print_json({"certificate": certificate, "written": output})
    else:
        say_written(output)


def export_fla(
    certificate: Annotated[str, typer.Argument(metavar="FILE", help="A certificate.")],
    output: Annotated[str, typer.Option("--output", "-o", metavar="DIR", help="The folder to write.")],
    max_entries: MaxEntries = 50_000_000,
    as_json: Json = False,
) -> None:
    """A checkpoint of FLA's DeltaNet or GatedDeltaProduct language model: one layer of mirrors and projections."""
    from ..models.fla._export import fla_checkpoint
    from ..models.fla._folder import save_fla
    from ..theory._realisations import lrnn_of

    checkpoint = fla_checkpoint(lrnn_of(certificate), max_entries=max_entries)
    save_fla(output, checkpoint)
    if as_json:
        print_json({
            "certificate": certificate, "written": output, "model_type": checkpoint.config["model_type"],
            "horizons": checkpoint.horizons,
        })  # fmt: skip
    else:
        say_written(output)


def import_fla(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="An FLA checkpoint, in safetensors.")],
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="OUT", help="An .npz for one head; or a folder, for all heads."
        ),
    ],
    layer: Annotated[int, typer.Option(help="Which layer goes to the .npz, from 0.")] = 0,
    head: Annotated[int, typer.Option(help="Which head, from 0.")] = 0,
    tokens: Annotated[
        str | None, typer.Option(help="Tokens that are letters, as in 0,1,5; by default all.")
    ] = None,
    bos: Annotated[int | None, typer.Option(help="Token read before each word.")] = None,
    words: Annotated[int, typer.Option(help="Random words to read.")] = 32,
    length: Annotated[int, typer.Option(help="Letters of a word.")] = 64,
    seed: Annotated[int, typer.Option(help="Of the words.")] = 0,
    max_entries: MaxEntries = 50_000_000,
    as_json: Json = False,
) -> None:
    """Heads' letter matrices and mean states as .npz, which compare, spectrum and prove read; equal heads once."""
    from ..foundation._errors import InputError
    from ..foundation._files import whole_folder
    from ..models.fla._importing import import_heads

    if tokens is not None and not re.fullmatch("[0-9]{1,9}( *, *[0-9]{1,9})*", tokens.strip()):
        raise InputError(f"--tokens {tokens}: write numbers with commas, as in 0,1,5")
    chosen = None if tokens is None else [int(t) for t in tokens.split(",")]
    if words < 1 or length < 1:
        raise InputError(f"--words {words} --length {length}: both are numbers from 1")
    found = import_heads(
        folder, tokens=chosen, bos=bos, words=words, length=length, seed=seed, max_entries=max_entries
    )
    if output.endswith(".npz"):
        here = [h for h in found if h.is_at(layer, head)]
        if not here:
            raise InputError(f"{folder}: has no head {head} in a layer {layer}, counted from 0")
        here[0].write(output)
        found = (here[0],)
    else:
        with whole_folder(output, "heads") as place:
            for h in found:
                h.write(place / f"layer{h.layer}-head{h.number}.npz")
    if as_json:
        print_json({
            "checkpoint": folder, "written": output, "letters": list(found[0].letters),
            "heads": [
                {"head": h.head.name, "spread": h.head.spread, "answers": list(h.answers)} for h in found
            ],
        })  # fmt: skip
    else:
        say_written(output)
