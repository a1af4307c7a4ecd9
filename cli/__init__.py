"""The command line: reads arguments, calls `constructions` and `theory`, prints. No logic of its own.

Exit status: 0 as expected, 1 otherwise (an invalid certificate, errors in a run), 2 bad input or usage.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import partial
from io import TextIOWrapper
from typing import Annotated, Any

import typer

from ..constructions.errors import MirrormataError, MirrormataWarning
from . import automata, certificates, claims, comparing, constructing, exporting, models, proofs, reporting
from .output import fail, say

app = typer.Typer(
    name="mirrormata",
    help="Automata in, mirrors out: certified linear RNNs made of generalized Householder reflections.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
)


@app.callback(invoke_without_command=True)
def _version(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    if version:
        from .. import __version__

        say(__version__)
        raise typer.Exit


for _file in (
    automata,
    constructing,
    certificates,
    claims,
    proofs,
    exporting,
    models,
    comparing,
    reporting,
):  # the order of `mirrormata --help`
    _file.register(app)


def main(arguments: list[str] | None = None) -> None:
    """Entry point: errors that a user can mend are one line on standard error and exit status 2."""
    if isinstance(sys.stdout, TextIOWrapper):  # labels and signs that the terminal cannot show
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with warnings.catch_warnings():
            warnings.showwarning = partial(_show, warnings.showwarning)
            status = app(arguments, standalone_mode=False)
    except MirrormataError as error:
        fail(str(error))
    except (KeyboardInterrupt, typer.Abort):
        raise SystemExit(130) from None
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(1) from None
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        if type(error).__name__ == "NoArgsIsHelpError":
            say(error.format_message(), error=True)
            raise SystemExit(2) from None
        fail(f"{error.format_message()} (`mirrormata --help` lists the commands and options)")
    raise SystemExit(status or 0)


def _show(
    otherwise: Callable[..., None], message: Warning | str, category: type[Warning], *rest: Any
) -> None:
    """Our own warnings without a place in the code."""
    if issubclass(category, MirrormataWarning):
        say(f"warning: {message}", error=True)
    else:
        otherwise(message, category, *rest)
