"""The commands `export npz`, `safetensors`, `model` and `fla`, which write a certificate's weights; and `import fla`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated

import typer

from .options import Alphabet, Json, MaxEntries, ProductOption, Start, one_of
from .output import print_json, say_written

CERTIFICATE_HELP = "The certificate of a construction, as `construct -o` writes it."


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    export = typer.Typer(
        help="Write a certificate's weights as arrays or as a checkpoint.", no_args_is_help=True
    )
    export.command("npz")(export_npz)
    export.command("safetensors")(export_safetensors)
    export.command("model")(export_model)
    export.command("fla")(export_fla)
    app.add_typer(export, name="export")
    imports = typer.Typer(help="Read a checkpoint of another library.", no_args_is_help=True)
    imports.callback()(lambda: None)  # so that a single command keeps its name
    imports.command("fla")(import_fla)
    app.add_typer(imports, name="import")


def export_npz(
    certificate: Annotated[str, typer.Argument(metavar="FILE", help=CERTIFICATE_HELP)],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="OUT", help="Write the arrays to this .npz file.")
    ],
    max_entries: MaxEntries = 50_000_000,
    as_json: Json = False,
) -> None:
    """Write a construction of one head as numpy arrays (.npz).

    The certificate must hold one layer with one head. The file has the matrices A and B of every letter, the initial state
    H0, the codes, the decoder and the factors, in float64.

    \b
    Examples:
      mirrormata export npz s4.json -o s4.npz
    """
    from ..theory._export import export_npz as write

    _export(write, certificate, output, max_entries, as_json)


def export_safetensors(
    certificate: Annotated[str, typer.Argument(metavar="FILE", help=CERTIFICATE_HELP)],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="OUT", help="Write the arrays to this .safetensors file.")
    ],
    max_entries: MaxEntries = 50_000_000,
    as_json: Json = False,
) -> None:
    """Write all heads of all layers as a .safetensors file.

    The file has the factors, matrices, initial state and codes of every head, and the decoder; the labels are in its
    metadata.

    \b
    Examples:
      mirrormata export safetensors a4z5.json -o a4z5.safetensors
    """
    from ..theory._export import export_safetensors as write

    _export(write, certificate, output, max_entries, as_json)


def export_model(
    certificate: Annotated[str, typer.Argument(metavar="FILE", help=CERTIFICATE_HELP)],
    spec: Annotated[
        str,
        typer.Argument(
            metavar="SPEC", help="The automaton that the construction realises: a name or a file."
        ),
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FOLDER", help="Write the model into this folder.")
    ],
    product: ProductOption = "left",
    start: Start = None,
    alphabet: Alphabet = None,
    max_entries: MaxEntries = 50_000_000,
    as_json: Json = False,
) -> None:
    """Write a model folder with the construction's weights.

    The weights are put into the same layers that `train` trains, so that `eval`, `prove` and `compare` can read the
    folder.

    \b
    Examples:
      mirrormata export model s4.json S4 -o s4-model
    """
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
    certificate: Annotated[str, typer.Argument(metavar="FILE", help=CERTIFICATE_HELP)],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="DIR", help="Write the checkpoint into this folder.")
    ],
    max_entries: MaxEntries = 50_000_000,
    as_json: Json = False,
) -> None:
    """Write a checkpoint that flash-linear-attention (FLA) loads.

    The checkpoint is a DeltaNet or GatedDeltaProduct language model. The certificate must hold one layer.

    \b
    Examples:
      mirrormata export fla s4.json -o s4-fla
    """
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
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="The folder of an FLA checkpoint with .safetensors weights.")
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="Write one head to this .npz file, or all heads into this folder.",
        ),
    ],
    layer: Annotated[int, typer.Option(help="Index of the layer for an .npz file, counted from 0.")] = 0,
    head: Annotated[int, typer.Option(help="Index of the head for an .npz file, counted from 0.")] = 0,
    tokens: Annotated[
        str | None,
        typer.Option(
            help="Tokens to take as letters, as in 0,1,5. The default is those of the checkpoint's task.json, or all."
        ),
    ] = None,
    bos: Annotated[
        int | None, typer.Option(help="Token to read before each word. The default is that of task.json.")
    ] = None,
    words: Annotated[int, typer.Option(help="Number of random words to read.")] = 32,
    length: Annotated[int, typer.Option(help="Number of letters of each word.")] = 64,
    seed: Annotated[int, typer.Option(help="Seed of the random words.")] = 0,
    max_entries: MaxEntries = 50_000_000,
    as_json: Json = False,
) -> None:
    """Write the heads of an FLA checkpoint as .npz files of matrices.

    Each file has the transition matrix of every letter: exact for one layer without convolution, else the mean over random
    words. Equal heads are written once. `compare`, `spectrum` and `prove` read the files.

    \b
    Examples:
      mirrormata import fla checkpoint -o heads
      mirrormata import fla checkpoint --layer 0 --head 2 -o head.npz
    """
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
