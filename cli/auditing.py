"""The command `audit`: what a model's recurrences can do, by its configuration."""

from __future__ import annotations

from typing import Annotated

import typer

from .help import PROOFS
from .options import Json
from .output import print_columns, print_json, print_sentence


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command(rich_help_panel=PROOFS)(audit)


def audit(
    config: Annotated[
        str, typer.Argument(metavar="CONFIG", help="The config.json of a Hugging Face model, or its folder.")
    ],
    as_json: Json = False,
) -> None:
    """Say what a model's recurrences can do, by its configuration.

    The command reads the ranges of β, of the gates and of the eigenvalues of every recurrent layer from the configuration
    alone, and lists what follows by theorem for all weights, each with its claim and its arithmetic. Attention layers are
    named and not covered. No weights are read, and no file is written.

    \b
    Examples:
      mirrormata audit models/olmo-hybrid/config.json
      mirrormata audit models/qwen3-next --json
    """
    from ..models.audit._audit import audit as audit_configuration

    found = audit_configuration(config)
    if as_json:
        print_json(found.to_json())
        return
    print_sentence(found.headline)
    print_columns(f"as {found.library} computes it", found.rows())
    for conclusion in found.conclusions:
        kind = "cannot" if conclusion.limits else "can"
        print_sentence(f"{kind}: {conclusion.text} ({conclusion.claim}; {conclusion.arithmetic})")
    if found.recurrences and not found.conclusions:
        print_sentence(
            "no statement: no theorem here says what such layers can or cannot do, whatever their weights are"
        )
    for entry, value in found.assumed.items():
        print_sentence(f"assumed: {entry} = {value}, since the configuration does not say")
    if found.has_attention:
        print_sentence("not covered: attention layers, to which these theorems do not apply")
