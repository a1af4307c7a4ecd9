"""The command line: reads arguments, calls `constructions` and `theory`, prints. It has no logic of its own.

Exit status: 0 if the result is as expected, 1 if it is not (an invalid certificate, errors in a run), 2 for bad input or
wrong usage.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import partial
from io import TextIOWrapper
from typing import Annotated, Any

import typer

from ..foundation._errors import MirrormataError, MirrormataWarning
from ..foundation._extras import needed_by
from ..foundation._files import shown_path
from . import automata, certificates, claims, comparing, constructing, exporting, models, proofs, reporting
from .help import HelpfulCommand, HelpfulGroup
from .options import theorem_help
from .output import fail, name_options_of, say

app = typer.Typer(
    name="mirrormata",
    cls=HelpfulGroup,
    help="Turn finite automata into exact linear RNNs made of generalized Householder reflections, and certify, run, "
    "prove, train and compare them. Every command has --help, with examples.",
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
)


@app.callback(invoke_without_command=True)
def _version(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
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


class _Command(HelpfulCommand):
    """A command that prints the errors of the library itself, while it is known which options it has."""

    def invoke(self, ctx: Any) -> Any:
        with name_options_of(ctx):
            try:
                with needed_by(f"`{_called(ctx)}`"):
                    return super().invoke(ctx)
            except MirrormataError as error:
                fail(str(error))
            except MemoryError:
                fail(
                    f"{ctx.info_name}: this needs more memory than there is; lower a limit (`max_…`), or give fewer letters"
                )
            except OSError as error:  # of a path that no function named in its own error
                if error.filename is None:
                    raise
                fail(f"{shown_path(error.filename)}: {error.strerror}")

    def format_help(self, ctx: Any, formatter: Any) -> None:
        for parameter in self.params:
            if parameter.name == "theorem":
                parameter.help = theorem_help()  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)


for _group in (app, *(group.typer_instance for group in app.registered_groups)):
    assert _group is not None
    for _registered in _group.registered_commands:
        _registered.cls = _Command


def main(arguments: list[str] | None = None) -> None:
    """Entry point: errors that a user can fix are one line on standard error and exit status 2."""
    if isinstance(sys.stdout, TextIOWrapper):  # for labels with characters that the terminal cannot show
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
        fail(_usage(error, sys.argv[1:] if arguments is None else arguments))
    raise SystemExit(status or 0)


def _usage(error: Any, arguments: list[str]) -> str:
    """The message of a wrong command line, with the value that the option was given and the `--help` to read."""
    context = getattr(error, "ctx", None)
    command = getattr(getattr(context, "command", None), "name", None)
    message = error.format_message().rstrip(".")
    option = next(
        (name for name in getattr(getattr(error, "param", None), "opts", ()) if name in message), None
    )
    value = None if option is None else _value(option, arguments)
    if value is not None:
        said = message.partition(": ")[2]
        whole = "whole number" if "integer" in said else "number"
        needed = f"a {whole} is needed" if "unable to parse" in said or "valid" in said else said
        message = f"{option} {value}: {needed}"
    listed = "options" if command and _commands(context) else "commands and options"
    return f"{message} (`{_called(context)} --help` lists the {listed})"


def _called(context: Any) -> str:
    """The command that was called, with the groups that it is in: `mirrormata export model`."""
    names = [inner.command.name for inner in _commands(context)]
    return " ".join(["mirrormata", *(name for name in names if name)])


def _commands(context: Any) -> list[Any]:
    """The contexts of the commands that were called, without that of the program itself."""
    found: list[Any] = []
    while context is not None and context.parent is not None:
        found.insert(0, context)
        context = context.parent
    return found


def _value(option: str, arguments: list[str]) -> str | None:
    """The value that an option was given on the command line; the last one if it was given several times."""
    for i in range(len(arguments) - 1, -1, -1):
        if arguments[i].startswith(f"{option}="):
            return arguments[i].partition("=")[2]
        if arguments[i] == option and i + 1 < len(arguments):
            return arguments[i + 1]
    return None


def _show(
    otherwise: Callable[..., None], message: Warning | str, category: type[Warning], *rest: Any
) -> None:
    """Print the package's own warnings in one line, without a place in the code."""
    if issubclass(category, MirrormataWarning):
        say(f"warning: {message}", error=True)
    else:
        otherwise(message, category, *rest)
