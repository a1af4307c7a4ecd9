"""`Format`, the record that every file of `constructions/formats` holds, and the registry that finds them.

`Automaton.save` comes here, so this file imports no automaton, and the formats' files are found by name, not imported.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from ...foundation._errors import InputError
from ...foundation._files import is_file, path_of, read_text
from ...foundation._registry import find_records


@dataclass(frozen=True, eq=False)
class Format:
    """One way to write an automaton down.

    Attributes:
        name: what it is called, such as `OpenFst text`.
        read: `(source, *, ...)` to an `Automaton`; `source` is the path of a file, or the whole SPEC where the format
            has a prefix. It may take the keyword arguments `track`, `max_states` and `start` of `automaton_from_spec`;
            where it leaves `start` or `track` out, they are applied to what it returns. `alphabet` and `group` are
            accepted for the formats that take them only.
        example: a small text in this format: the content of a file, or what follows the prefix.
        extensions: of its files, in lower case and with the dot.
        prefix: what its SPECs begin with, where they are no files, such as `regex:`.
        write: `(automaton, path)` writes the file, or raises `InputError` where the format cannot hold the automaton;
            None for a format that is only read.
        example_file: name of a file for the example, where a name is part of the format.
        recognise: whether a text is in this format, where several formats have one extension: a file is read by the first
            that recognises it, or else by the one format of the extension that has no `recognise`.
    """

    name: str
    read: Callable[..., Any]
    example: str
    extensions: tuple[str, ...] = ()
    prefix: str = ""
    write: Callable[[Any, str | Path], None] | None = None
    example_file: str = ""
    recognise: Callable[[str], bool] | None = None

    @cached_property
    def options(self) -> frozenset[str]:
        """The keyword arguments that `read` takes."""
        return frozenset(list(inspect.signature(self.read).parameters)[1:])

    @property
    def sources(self) -> str:
        """What is read, in words: `.dot files`, or `regex:PATTERN`."""
        return f"{self.prefix}PATTERN" if self.prefix else f"{' and '.join(self.extensions)} files"


@cache
def all_formats() -> tuple[Format, ...]:
    """Every format, in the order of its extension or prefix; a new file in the folder `formats` is one more."""
    folder = f"{__package__.rpartition('.')[0]}.formats"
    found = sorted(find_records(folder, "FORMAT", Format), key=lambda f: (*f.extensions, f.prefix))
    known: dict[str, Format] = {}
    for entry in found:
        if entry.recognise is not None:
            continue
        for mark in (*entry.extensions, *((entry.prefix,) if entry.prefix else ())):
            if mark in known:
                raise TypeError(f"two formats for {mark}: {known[mark].name} and {entry.name}")
            known[mark] = entry
    return tuple(found)


def formats_by_extension(extension: str) -> list[Format]:
    """The formats of files with this extension (`.dot`, in any case); those that recognise their files come first."""
    found = [f for f in all_formats() if extension.lower() in f.extensions]
    return sorted(found, key=lambda f: f.recognise is None)


def format_of_file(path: str | PathLike[str]) -> Format | None:
    """The format that the extension of a file names, and where it names several, the one of the text in the file."""
    file = path_of(path)
    found = formats_by_extension(file.suffix)
    if len(found) > 1:
        text = read_text(file) if is_file(file) else ""
        for entry in found:
            if entry.recognise is None or entry.recognise(text):
                return entry
    return found[0] if found else None


def list_extensions() -> str:
    """Every extension with the name of its format, for errors."""
    return ", ".join(f"{' and '.join(f.extensions)} ({f.name})" for f in all_formats() if f.extensions)


def format_to_write(path: str | PathLike[str]) -> Format:
    """The format that a file's extension names; `InputError` where there is none, or where it is only read."""
    found = next((f for f in formats_by_extension(path_of(path).suffix)[::-1] if f.write is not None), None)
    if found is None:
        written = sorted(
            {extension for f in all_formats() if f.write is not None for extension in f.extensions}
        )
        raise InputError(
            f"{path}: automata are written as {', '.join(written[:-1])} or {written[-1]}; rename the file"
        )
    return found


def refuse_certificate(name: str) -> InputError:
    """The error where a certificate is given in place of an automaton; `name` is what it is called there."""
    return InputError(
        f"{name}: is a certificate, and an automaton is wanted: `check` and `run` take it; here give a name, an automaton's file, or "
        "realisation_from_certificate(document).automaton"
    )
