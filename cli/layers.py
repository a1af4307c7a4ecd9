"""`--layer`: the classes of the user's own layers that a command may load."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

import typer

from .options import option_beside

COMMANDS = frozenset({"train", "eval", "sweep", "compare", "prove", "report", "audit"})
"""The commands that build or read models, and so take the option."""


@cache
def layer_option() -> Any:
    """`--layer`, the same for all these commands: an option of typer's, whose value is not passed to the command."""

    def holder(
        layer: Annotated[
            list[str] | None,
            typer.Option(
                "--layer",
                metavar="MODULE:CLASS",
                help="Allow a layer of your own to be loaded, such as rotation:Rotation for the class Rotation in rotation.py of the "
                "current folder. Can be repeated. A file that names a class never loads it without this.",
            ),
        ] = None,
    ) -> None:
        pass

    return option_beside(holder, _allow)


def _allow(context: Any, option: Any, given: list[str] | None) -> None:
    from ..foundation._errors import InputError
    from ..foundation._extras import needed_by
    from .output import fail

    if not given:
        return
    context.meta[option.name] = given
    try:
        with needed_by("a layer of your own"):
            from ..models._layer_names import name_layer
        for name in given:
            name_layer(name)
    except InputError as error:
        fail(str(error))
