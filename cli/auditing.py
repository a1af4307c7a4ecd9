"""The command `audit`: what a model's recurrences can do, by its configuration; or what they do on a text, by its weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ..foundation._arguments import require_count
from ..foundation._errors import InputError
from ..foundation._files import require_folder, require_there
from .help import PROOFS, WORDS
from .options import Json
from .output import print_columns, print_json, print_sentence, show_work

if TYPE_CHECKING:
    from ..models.audit._audit import Audit
    from ..models.audit._measured import WeightsAudit


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command(rich_help_panel=PROOFS)(audit)


def audit(
    model: Annotated[
        str,
        typer.Argument(
            metavar="CONFIG|DIR",
            help="The config.json of a Hugging Face model, or its folder; or a model folder that `train` or `export model` wrote.",
        ),
    ],
    text: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            rich_help_panel=WORDS,
            help="Measure the weights on this text: its bytes, or the tokens of the folder's tokenizer.json.",
        ),
    ] = None,
    weights: Annotated[
        bool,
        typer.Option(
            "--weights",
            rich_help_panel=WORDS,
            help="Measure the weights of a checkpoint with a task.json on random words of its letters. For a folder that `train` "
            "wrote this goes without saying.",
        ),
    ] = False,
    words: Annotated[
        int, typer.Option(help="Number of random words, or largest number of windows of the text.")
    ] = 8,
    length: Annotated[
        int, typer.Option(help="Number of letters of each random word, or of tokens of each window.")
    ] = 512,
    seed: Annotated[int, typer.Option(help="Seed of the random words.")] = 0,
    products: Annotated[
        str,
        typer.Option(
            metavar="NUMBERS",
            rich_help_panel=WORDS,
            help="Numbers of consecutive tokens whose transitions are multiplied, separated by commas.",
        ),
    ] = "1,2,4,8,16",
    starts: Annotated[
        int,
        typer.Option(
            rich_help_panel=WORDS,
            help="Number of tokens, about, at which such products begin. Memory is measured from every fourth of them.",
        ),
    ] = 256,
    horizon: Annotated[
        int,
        typer.Option(
            rich_help_panel=WORDS, help="Largest number of tokens after which the memory is looked at."
        ),
    ] = 256,
    lasting: Annotated[
        float,
        typer.Option(
            rich_help_panel=WORDS,
            help="Half-life, in tokens, from which on an eigenvalue counts as lasting.",
        ),
    ] = 64,
    details: Annotated[
        bool,
        typer.Option(
            "--details",
            help="Also show products of all lengths, heads, and classes of tokens, layer by layer.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Say what a model's recurrences can do, or measure what they do.

    From a configuration the command reads the ranges of β, of the gates and of the eigenvalues of every recurrent layer, and lists
    what follows by theorem for all weights, each with its claim and its arithmetic. Attention layers are named and not covered.

    A trained model is measured: on the text of --text, or on random words of its task. The result gives, layer by layer, the
    shares of tokens with negative and with non-real eigenvalues, what rotates and lasts, the memory, and the same with signs
    removed. No file is written.

    \b
    Examples:
      mirrormata audit models/olmo-hybrid/config.json
      mirrormata audit runs/bytes/seed-0 --text README.md --details
    """
    from ..models.audit._audit import audit as audit_configuration
    from ..models.audit._audit import is_own_folder

    if text is None and not weights and not is_own_folder(model):
        _print_audit(audit_configuration(model), as_json)
        return
    chosen = _numbers(products)
    for name, count in (("words", words), ("length", length), ("starts", starts), ("horizon", horizon)):
        require_count(name, count, 1)
    if text is not None:
        require_there(text)
    require_folder(model, "a model folder or the folder of a checkpoint")
    from ..foundation._extras import needed_by

    with needed_by(f"{model}: an audit of weights"):
        from ..models.audit._weights import audit_weights
    with show_work("measuring") as work:
        measured = audit_weights(
            model, text, words=words, length=length, seed=seed, products=chosen, starts=starts,
            horizon=horizon, lasting=lasting, progress=work,
        )  # fmt: skip
    _print_measured(measured, as_json, details)


def _numbers(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise InputError(f"--products {text}: whole numbers from 1 are needed, separated by commas")
    return [int(part) for part in parts]


def _print_audit(found: Audit, as_json: bool) -> None:
    if as_json:
        print_json(found.to_json())
        return
    print_sentence(found.headline)
    print_columns(f"as {found.library} computes it", found.rows())
    for line in found.legend():
        print_sentence(line)
    for conclusion in found.conclusions:
        kind = "cannot" if conclusion.limits else "can"
        print_sentence(f"{kind}: {conclusion.text} ({conclusion.claim}; {conclusion.arithmetic})")
    if found.recurrences and not found.conclusions:
        print_sentence(
            "no statement: no theorem here says what such layers can or cannot do, whatever their weights are"
        )
    for entry, near in found.slips.items():
        print_sentence(f"not read: {entry}, which is no entry that is known; did you mean {near}?")
    for entry, value in found.assumed.items():
        print_sentence(f"assumed: {entry} = {value}, since the configuration does not say")
    if found.has_attention:
        print_sentence("not covered: attention layers, to which these theorems do not apply")


def _print_measured(found: WeightsAudit, as_json: bool, details: bool) -> None:
    if as_json:
        print_json(found.to_json())
        return
    print_sentence(found.headline)
    print_columns(found.text, found.rows())
    if details:
        for title, rows in found.tables():
            print_columns(title, rows)
    for sentence in (*found.details_legend(), *found.legend()) if details else found.legend():
        print_sentence(sentence)
    for note in found.notes():
        print_sentence(f"note: {note}")
