"""The commands `export npz`, `safetensors`, `model` and `fla`, which write a certificate's weights, `export coq`, which writes its
proof; and `import fla`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ..foundation._files import refuse_input_as_output, require_folder
from .help import MODELS, HelpfulGroup, complete_spec
from .options import (
    CERTIFICATE_HELP,
    Alphabet,
    ExactnessOption,
    Json,
    MaxEntries,
    ProductOption,
    Split,
    Start,
    TheoremOption,
    construct_if_spec,
    one_of,
)
from .output import print_json, print_sentence, say, say_written

Certificate = Annotated[
    str, typer.Argument(metavar="FILE|SPEC", autocompletion=complete_spec, help=CERTIFICATE_HELP)
]


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    export = typer.Typer(
        cls=HelpfulGroup,
        help="Write the weights of a construction, or its proof, for other programs.",
        no_args_is_help=True,
    )
    export.command("npz")(export_npz)
    export.command("safetensors")(export_safetensors)
    export.command("model")(export_model)
    export.command("fla")(export_fla)
    export.command("coq")(export_coq)
    app.add_typer(export, name="export", rich_help_panel=MODELS)
    imports = typer.Typer(
        cls=HelpfulGroup, help="Read a checkpoint of another library.", no_args_is_help=True
    )
    imports.command("fla")(import_fla)
    imports.command("hybrid")(import_hybrid)
    app.add_typer(imports, name="import", rich_help_panel=MODELS)


def _table_of(text: str, theorem: str | None = None) -> Any:
    """The linear RNN of a certificate, or of what is constructed for a SPEC; it must be a table, such as `theorem` gives."""
    from ..theory._realisations import realisation_of, require_table

    return require_table(realisation_of(construct_if_spec(text, table=True)), text, theorem)


def export_npz(
    certificate: Certificate,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="OUT", help="Write the arrays to this .npz file.")
    ],
    max_entries: MaxEntries = 50_000_000,
    as_json: Json = False,
) -> None:
    """Write a construction of one head as numpy arrays (.npz).

    The construction must have one layer with one head. The file contains, in float64, the matrices A and B of every letter,
    the initial state H0, the codes (the reachable states), the decoder and the Householder factors.

    \b
    Examples:
      mirrormata export npz s4.json -o s4.npz
      mirrormata export npz S4 -o s4.npz --json
    """
    from ..theory._export import export_npz as write

    _export(write, certificate, output, max_entries, as_json, "G.A3")  # always one layer with one head


def export_safetensors(
    certificate: Certificate,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="OUT", help="Write the arrays to this .safetensors file.")
    ],
    max_entries: MaxEntries = 50_000_000,
    as_json: Json = False,
) -> None:
    """Write all heads of all layers as a .safetensors file.

    The file contains the factors, matrices, initial state and codes (the reachable states) of every head, and the decoder.
    Its metadata contains the labels.

    \b
    Examples:
      mirrormata export safetensors a4z5.json -o a4z5.safetensors
      mirrormata export safetensors A4_x_Z5 -o a4z5.safetensors
    """
    from ..theory._export import export_safetensors as write

    _export(write, certificate, output, max_entries, as_json)


def export_model(
    certificate: Certificate,
    spec: Annotated[
        str,
        typer.Argument(
            metavar="SPEC",
            help="The automaton that the construction realises: a name, a file, or regex:PATTERN.",
        ),
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FOLDER", help="Write the model into this folder.")
    ],
    product: ProductOption = "left",
    start: Start = None,
    alphabet: Alphabet = None,
    split: Split = None,
    max_entries: MaxEntries = 50_000_000,
    as_json: Json = False,
) -> None:
    """Write a model folder with the construction's weights.

    The model consists of the same layers that `train` trains, so `eval`, `prove` and `compare` can read the folder.

    \b
    Examples:
      mirrormata export model s4.json S4 -o s4-model
      mirrormata export model mod:5 mod:5 -o mod5-model
    """
    from ..models._constructed import write_constructed
    from ..models.tasks._task import TaskSettings

    refuse_input_as_output(output, certificate, spec, around=True)
    side = one_of(product, "--product", "left", "right")
    settings = TaskSettings(
        spec=spec, bos=False, labels="state", start=start, alphabet=alphabet, split=split, product=side
    )
    write_constructed(_table_of(certificate), settings, output, max_entries=max_entries)
    if as_json:
        print_json({"certificate": certificate, "written": output})
    else:
        say_written(output)


def _export(
    write: Callable[..., None],
    certificate: str,
    output: str,
    max_entries: int,
    as_json: bool,
    theorem: str | None = None,
) -> None:
    refuse_input_as_output(output, certificate)
    write(_table_of(certificate, theorem), output, max_entries=max_entries)
    if as_json:
        print_json({"certificate": certificate, "written": output})
    else:
        say_written(output)


def export_fla(
    certificate: Annotated[
        str,
        typer.Argument(
            metavar="FILE|SPEC|FOLDER",
            autocompletion=complete_spec,
            help=f"{CERTIFICATE_HELP} Or the folder of a trained model, of one seed.",
        ),
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="DIR", help="Write the checkpoint into this folder.")
    ],
    max_entries: MaxEntries = 50_000_000,
    as_json: Json = False,
) -> None:
    """Write a checkpoint that flash-linear-attention (FLA) loads.

    A construction must have one layer; its checkpoint is a DeltaNet or GatedDeltaProduct language model. Of a trained model, the
    layers must be such as FLA has; what FLA does not have is refused by name.

    \b
    Examples:
      mirrormata export fla S4 -o s4-fla --json
      mirrormata export fla runs/s3/seed-0 -o s3-fla
    """
    from ..foundation._files import is_folder
    from ..models._evaluation_arguments import check_model_place

    refuse_input_as_output(output, certificate, around=True)
    if is_folder(Path(certificate)):
        check_model_place(certificate)
        from ..models.fla._conversion import trained_checkpoint
        from ..models.fla._folder import save_fla

        made, difference = trained_checkpoint(certificate)
        save_fla(output, made)
        if as_json:
            print_json({
                "model": certificate, "written": output, "model_type": made.config["model_type"],
                "difference": difference, "left_out": list(made.left_out),
            })  # fmt: skip
        else:
            say_written(output)
            _say_left_out(made.left_out)
        return
    table = _table_of(certificate)
    from ..models.fla._export import fla_checkpoint
    from ..models.fla._folder import save_fla

    checkpoint = fla_checkpoint(table, max_entries=max_entries)
    save_fla(output, checkpoint)
    if as_json:
        print_json({
            "certificate": certificate, "written": output, "model_type": checkpoint.config["model_type"],
            "horizons": checkpoint.horizons,
        })  # fmt: skip
    else:
        say_written(output)


def _say_left_out(files: Sequence[str]) -> None:
    """One line about the files of an imported checkpoint that no command here writes."""
    if files:
        say(f"not copied from the checkpoint's folder: {', '.join(files)}", error=True)


def export_coq(
    certificate: Certificate,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="Write the Coq file here; its name ends in .v, such as s5.v.",
        ),
    ],
    theorem: TheoremOption = None,
    exactness: ExactnessOption = "any",
    as_json: Json = False,
) -> None:
    """Write a Coq file with a proof, for a paper.

    The file stands alone: it has the definitions, the certificate's numbers and a theorem that the linear RNN follows the
    automaton on all words, which `coqc` proves by computation. The construction must be a table of integers or a chain of sets:
    where that of a SPEC is not, choose one by --exactness integer or --theorem own.chain.

    \b
    Examples:
      mirrormata export coq s5.json -o s5.v
      mirrormata export coq parity -o parity.v --json
    """
    from ..theory._export_coq import export_coq as write

    refuse_input_as_output(output, certificate)
    wanted = {"theorem": theorem} if theorem is not None else {}
    wanted |= {"exactness": exactness} if exactness != "any" else {}
    write(construct_if_spec(certificate, wanted=wanted), output)
    if as_json:
        print_json({"certificate": certificate, "written": output})
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
            metavar="PATH",
            help="If the name ends in .npz, write one head to this file; otherwise write all heads, or with --model the whole model, into "
            "this folder.",
        ),
    ],
    model: Annotated[
        bool, typer.Option("--model", help="Write a model folder, which runs on this package's kernels.")
    ] = False,
    spec: Annotated[
        str | None,
        typer.Option(
            metavar="SPEC",
            help="With --model: the automaton of the letters and answers in task.json. The default is the one that task.json names.",
        ),
    ] = None,
    layer: Annotated[
        int, typer.Option(help="Layer of the head that is written to an .npz file, counted from 0.")
    ] = 0,
    head: Annotated[int, typer.Option(help="Number of that head within its layer, counted from 0.")] = 0,
    tokens: Annotated[
        str | None,
        typer.Option(
            help="Numbers of the tokens that are letters, such as 0,1,5. The default is the letters in the checkpoint's task.json, or "
            "all tokens if there is no such file."
        ),
    ] = None,
    bos: Annotated[
        int | None,
        typer.Option(
            help="Number of the token that is read before each word. The default is the one in task.json, if any."
        ),
    ] = None,
    words: Annotated[
        int, typer.Option(help="Number of random words that are read to measure transitions and states.")
    ] = 32,
    length: Annotated[int, typer.Option(help="Number of letters of each random word.")] = 64,
    seed: Annotated[int, typer.Option(help="Seed of the random words.")] = 0,
    max_entries: MaxEntries = 50_000_000,
    as_json: Json = False,
) -> None:
    """Write the heads of an FLA checkpoint as .npz files of matrices.

    Each file contains the transition matrix of every letter. If the model has one layer and no convolution it is the
    model's, up to rounding in float64; otherwise it is the mean over random words. Equal heads are written once. `compare`, `spectrum` and `prove`
    read the files. With --model the whole model is written as a folder, weight for weight, which `eval`, `compare`, `prove` and
    `train --from` read, if its type is delta_net, gated_deltanet, gated_deltaproduct, gla, kda, mamba2 or rwkv7.

    \b
    Examples:
      mirrormata import fla checkpoint --layer 0 --head 2 -o head.npz
      mirrormata import fla checkpoint --model --spec S3 -o s3-model
    """
    from ..foundation._errors import InputError

    require_folder(folder, "the checkpoint's folder")
    if tokens is not None and not re.fullmatch("[0-9]{1,9}( *, *[0-9]{1,9})*", tokens.strip()):
        raise InputError(f"--tokens {tokens}: write numbers separated by commas, such as 0,1,5")
    chosen = None if tokens is None else [int(t) for t in tokens.split(",")]
    if words < 1 or length < 1:
        raise InputError(f"--words {words} --length {length}: both must be at least 1")
    refuse_input_as_output(output, folder, around=True)
    if spec is not None and not model:
        raise InputError(f"--spec {spec}: it goes with --model; heads need no automaton")
    if model:
        from ..models._model_file import read_model_config
        from ..models.fla._conversion import import_model

        if tokens is not None or bos is not None:
            raise InputError(
                "--tokens and --bos are for heads; with --model the tokens are those of task.json"
            )
        made, task = import_model(folder, output, spec=spec)
        imported = read_model_config(Path(output) / "config.json").imported
        left_out = () if imported is None else imported.files
        if as_json:
            print_json({
                "checkpoint": folder, "written": output, "family": made.config.family, "layers": made.config.layers,
                "automaton": task.automaton.name, "labels": task.sampler.labels, "left_out": list(left_out),
            })  # fmt: skip
        else:
            say_written(output)
            _say_left_out(left_out)
        return
    from ..models.fla._importing import import_heads, write_heads

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
        write_heads(found, output)
    if as_json:
        print_json({
            "checkpoint": folder, "written": output, "letters": list(found[0].letters),
            "heads": [
                {"head": h.head.name, "spread": h.head.spread, "answers": list(h.answers)} for h in found
            ],
        })  # fmt: skip
    else:
        say_written(output)


def import_hybrid(
    folder: Annotated[
        str,
        typer.Argument(
            metavar="DIR",
            help="The folder of a Qwen3-Next or OLMo-Hybrid checkpoint with .safetensors weights.",
        ),
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="DIR", help="Write the model folder here.")
    ],
    layers: Annotated[
        int | None,
        typer.Option(
            help="Read this many layers, from the first on. The default is all before the first layer of attention; where the MLPs are "
            "mixtures of experts, only the first layer."
        ),
    ] = None,
    spec: Annotated[
        str | None,
        typer.Option(
            metavar="SPEC",
            help="The automaton of the letters and answers in task.json. The default is the one that task.json names.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write the recurrent layers before any attention as a model folder.

    Attention and mixtures of experts are not run here. The layers before them read what they read in the checkpoint, so their
    transitions are the checkpoint's; the answers are not, since the rest is left out. The folder says so, and `compare`, `eval` and
    `audit` repeat it. `audit DIR --text FILE` measures the same layers of the checkpoint itself on a text.

    \b
    Examples:
      mirrormata import hybrid checkpoint --spec S3 -o s3-part
      mirrormata import hybrid checkpoint --layers 1 -o first-layer --json
    """
    require_folder(folder, "the checkpoint's folder")
    refuse_input_as_output(output, folder, around=True)
    from ..models.fla._conversion import import_hybrid as write

    part, task = write(folder, output, layers=layers, spec=spec)
    if as_json:
        print_json({
            "checkpoint": folder, "written": output, "model_type": part.model_type, "family": part.model.config.family,
            "layers": part.layers, "part": part.text, "automaton": task.automaton.name, "labels": task.sampler.labels,
        })  # fmt: skip
    else:
        print_sentence(f"Read: {part.text}.")
        say_written(output)
