"""What commands print: JSON, tables, what was written, how far the work is; and errors in one line.

All text for people goes through `say` or the tables here, which let no control character of a label through.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NoReturn

from ..foundation._files import shown_path
from ..foundation._text import console, printable

_CONTEXT: ContextVar[Any] = ContextVar("context", default=None)
_ARGUMENT = re.compile(r"`([a-z_][a-z0-9_]*)`")
_CALL = re.compile(r"""`(construct|import_model|import_hybrid)\(('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\)`""")
"""The call of a function that makes what a command writes."""
_WRITTEN = {
    "construct": "construct {} -o FILE",
    "import_model": "import fla {} --model --spec SPEC -o DIR",
    "import_hybrid": "import hybrid {} --spec SPEC -o DIR",
}
"""The command of each such function."""


def print_json(value: Any) -> None:
    """One object; escaped by JSON's own rules where the stream cannot show its signs."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
    print(json.dumps(value, ensure_ascii=not unicode))


@contextmanager
def name_options_of(context: Any) -> Iterator[None]:
    """Texts that are printed meanwhile name the options of this context's command."""
    before = _CONTEXT.set(context)
    try:
        yield
    finally:
        _CONTEXT.reset(before)


def with_options(text: str) -> str:
    """The text with the arguments that it names, such as `max_states`, as the command line has them: --max-states.

    The library names its arguments in backquotes. The options are those of the command that runs; an argument that it
    does not have is looked up in the other commands (an error may point to what `construct` takes). The name of a function
    that is a command too becomes that command, and its call, as in `construct('S5')`, the command with what it is given.
    All else stays as it is.
    """
    context = _CONTEXT.get()
    if context is None or "`" not in text:
        return text
    root = context.find_root().command
    commands, named = [context.command, *_commands_below(root)], getattr(root, "commands", {})

    def option(found: re.Match[str]) -> str:
        for parameter in (parameter for command in commands for parameter in command.params):
            if parameter.name == found[1]:
                positional = parameter.param_type_name == "argument"
                return str(parameter.metavar).strip("[].") if positional else str(parameter.opts[0])
        return f"`mirrormata {found[1]}`" if found[1] in named else found[0]

    def command_line(found: re.Match[str]) -> str:
        given = shlex.quote(ast.literal_eval(found[2]))
        return f"`mirrormata {_WRITTEN[found[1]].format(given)}`"

    return _CALL.sub(command_line, _ARGUMENT.sub(option, text))


def _commands_below(command: Any) -> list[Any]:
    """The commands of a group, and those of the groups in it."""
    below = []
    for inner in getattr(command, "commands", {}).values():
        below += [inner, *_commands_below(inner)]
    return below


def say(text: str, *, end: str = "\n", error: bool = False) -> None:
    """Text for people, on standard output or standard error, without control characters and with options' names."""
    print(printable(with_options(text)), end=end, file=sys.stderr if error else sys.stdout)


def print_sentence(text: str) -> None:
    """A sentence that a result begins with, folded between words on a terminal."""
    console().print(with_options(text))


def print_table(title: str, rows: list[tuple[str, str]]) -> None:
    """A title, then a line for each label with its text."""
    from rich.table import Table

    table = Table(title=None, box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for label, text in rows:
        table.add_row(label, with_options(text))
    shown = console()
    shown.print(with_options(title), style="bold")
    shown.print(table)


def print_columns(title: str, rows: list[list[str]]) -> None:
    """A table whose first row has the headings."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE, pad_edge=False)
    for heading in rows[0]:
        table.add_column(heading, overflow="fold")
    for row in rows[1:]:
        table.add_row(*map(with_options, row))
    shown = console()
    shown.print(with_options(title), style="bold")
    shown.print(table)


def as_text(value: Any) -> str:
    """A fact of `report` for a cell of a table: lists in one line, bounds by their text, integers with commas."""
    if isinstance(value, list):
        return (
            "; ".join(as_text(v) for v in value)
            if value and isinstance(value[0], dict)
            else " ".join(map(str, value))
        )
    if isinstance(value, dict):
        return str(value["text"])
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def say_written(*paths: str | None) -> None:
    """Which files were written, on standard error; None for one that was not asked for."""
    for path in paths:
        if path is not None:
            say(f"written: {shown_path(path)}", error=True)


class Work:
    """How far some work is: called with the share that is done, or told a text."""

    def __init__(self) -> None:
        self.done = ""

    def __call__(self, share: float) -> None:
        """So much of it is done, from 0 to 1."""
        self.done = f" {share:4.0%}" if share else ""

    def tell(self, text: str) -> None:
        """What is done, where no share of it is known."""
        self.done = f" {text},"


REDIRECTED = 30.0
"""Seconds between two lines about the work where standard error is no terminal."""


@contextmanager
def show_work(what: str) -> Iterator[Work]:
    """What is done, for how long, and how much of it: on a terminal in one line, once it takes more than a second.

    Where standard error goes elsewhere, a line every `REDIRECTED` seconds.
    """
    begun, work, on_terminal = time.monotonic(), Work(), sys.stderr.isatty()
    finished = threading.Event()

    def tell() -> None:
        pause = 1.0 if on_terminal else REDIRECTED
        while not finished.wait(pause):
            line = f"{what}:{work.done} {time.monotonic() - begun:.0f} s"
            if on_terminal:
                print(f"\r{line}\x1b[K", end="", file=sys.stderr, flush=True)
                pause = 0.5
            else:
                print(line, file=sys.stderr, flush=True)

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield work
    finally:
        finished.set()
        teller.join()
        if on_terminal and time.monotonic() - begun > 1:
            print(file=sys.stderr)


def silence_streams(*streams: Any) -> None:
    """What is still to be written to these streams, by default both standard ones, goes nowhere: they cannot be written."""
    for stream in streams or (sys.stdout, sys.stderr):
        try:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
        except (OSError, ValueError):  # no file of the system
            pass


def fail(message: str) -> NoReturn:
    """One line on standard error, and exit status 2."""
    say(f"error: {' '.join(message.split())}", error=True)
    raise SystemExit(2)
