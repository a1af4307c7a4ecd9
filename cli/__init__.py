"""The command line: reads arguments, calls `constructions` and `theory`, prints. It has no logic of its own.

Exit status: 0 if the result is as expected, 1 if it is not (an invalid certificate, errors in a run), 2 for bad input or
wrong usage, 128 and the number of a signal that ended the program.
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
from ..foundation._files import list_written, shown_path
from ..foundation._interrupting import (
    Interrupted,
    catch_signals,
    describe_interrupt,
    ignore_signals,
    interrupt_behind,
    number_of,
    take_interrupt,
)
from ..foundation._text import shorten_list
from . import (
    auditing,
    automata,
    certificates,
    claims,
    comparing,
    constructing,
    exporting,
    models,
    proofs,
    reporting,
    sweeping,
    tokenizing,
    vectors,
)
from .help import HelpfulCommand, HelpfulGroup
from .layers import COMMANDS, layer_option
from .options import theorem_help
from .output import fail, name_options_of, say, silence_streams
from .replacing import force_option, look_at_outputs, written_files

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
    auditing,
    exporting,
    models,
    sweeping,
    tokenizing,
    comparing,
    reporting,
    vectors,
):  # the order of `mirrormata --help`
    _file.register(app)


class _CarriedInterrupt(BaseException):
    """An interrupt on its way through typer, which would make an exit status of it and forget what was kept.

    Args:
        stop: the interrupt.
    """

    def __init__(self, stop: KeyboardInterrupt) -> None:
        super().__init__()
        self.stop = stop


class _Command(HelpfulCommand):
    """A command that prints the errors of the library itself, while it is known which options it has."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if written_files(self):
            self.params.append(force_option())
        if self.name in COMMANDS:
            self.params.append(layer_option())

    def invoke(self, ctx: Any) -> Any:
        with name_options_of(ctx):
            try:
                look_at_outputs(ctx)
                with needed_by(f"`{_called(ctx)}`"):
                    return super().invoke(ctx)
            except KeyboardInterrupt as stop:
                raise _CarriedInterrupt(stop) from None
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
    """Entry point: errors that a user can fix are one line on standard error and exit status 2.

    A signal that ends the program (Ctrl-C, SIGTERM, SIGHUP) is one line too, which says what was kept; the exit status is then
    128 plus its number: 130 for Ctrl-C, 143 for SIGTERM. A pipe that nobody reads any more ends the program without a line.
    """
    if isinstance(sys.stdout, TextIOWrapper):  # for labels with characters that the terminal cannot show
        sys.stdout.reconfigure(errors="backslashreplace")
    with list_written() as written:
        kept = partial(_list_kept, written)
        try:
            with catch_signals() as signals:
                try:
                    status = _run(arguments)
                except _CarriedInterrupt as carried:
                    raise carried.stop from None
                except (BrokenPipeError, MirrormataError):
                    raise
                except Exception as error:
                    if signals.received is None:
                        raise
                    raise interrupt_behind(error, signals.received) from None
                if (
                    signals.received is not None
                ):  # a search took it for its end, and printed what it had found
                    raise Interrupted(signals.received)
                sys.stdout.flush()
        except KeyboardInterrupt as stop:
            take_interrupt()
            with ignore_signals():
                _say_last(describe_interrupt(stop, kept("nothing was written")))
            raise SystemExit(128 + number_of(stop)) from None
        except BrokenPipeError:
            silence_streams()
            raise SystemExit(1) from None
        except OSError as error:  # of a path that no function named in its own error: of a standard stream
            if error.filename is not None or error.errno is None:
                raise
            silence_streams(sys.stdout)
            _say_last(f"error: standard output cannot be written ({error.strerror}){kept('')}")
            raise SystemExit(2) from None
    raise SystemExit(status)


def _list_kept(written: list[str], otherwise: str) -> str:
    """The files that are whole, as the end of a line; `otherwise` where there are none."""
    if not written:
        return otherwise
    return f"{'' if otherwise else '; '}written: {shorten_list(map(shown_path, written), ', ')}"


def _say_last(line: str) -> None:
    """A line on standard error, as far as that can still be written."""
    try:
        say(line, error=True)
        sys.stderr.flush()
    except OSError:
        silence_streams(sys.stderr)


def _run(arguments: list[str] | None) -> int:
    """Call the command; its exit status."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = partial(_show, warnings.showwarning)
            return int(app(arguments, standalone_mode=False) or 0)
    except MirrormataError as error:
        fail(str(error))
    except typer.Abort:
        raise KeyboardInterrupt from None
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        if type(error).__name__ == "NoArgsIsHelpError":
            say(error.format_message(), error=True)
            return 2
        fail(_usage(error, sys.argv[1:] if arguments is None else arguments))


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
