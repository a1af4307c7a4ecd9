"""A SPEC where a certificate or a model is wanted: the construction that `construct` chooses for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..constructions._document import begins_as_certificate, is_certificate
from ..constructions._lrnn import as_table
from ..constructions._realisation import Realisation
from ..constructions._spec import automaton_from_spec
from ..constructions.automata._automaton import Automaton
from ..constructions.automata._format import all_formats, formats_by_extension
from ..foundation._errors import InputError
from ..foundation._files import is_file, is_folder, is_there, parse_json, read_text

MODEL_FILES = (".npz", ".safetensors")
"""Extensions of files that hold a model's numbers."""


def is_spec(text: str) -> bool:
    """Whether a text is the SPEC of an automaton, and not the path of a certificate, of a model or of nothing.

    A name without a file is a SPEC unless it looks like a path, so that a wrong path is reported as one.

    Args:
        text: what was given where a certificate or a model is wanted.
    """
    path = Path(text)
    if is_folder(text) or path.suffix in MODEL_FILES:
        return False
    if is_file(text):
        known = bool(formats_by_extension(path.suffix)) and not begins_as_certificate(text)
        return known and (path.suffix.lower() != ".json" or _is_automaton(text))
    if ":" in text and any(f.prefix and text.startswith(f.prefix) for f in all_formats()):
        return True
    return bool(text) and not ({"/", "\0"} & set(text) or path.suffix or is_there(text))


def _is_automaton(path: str) -> bool:
    """Whether a .json file holds an automaton; all else is refused by the readers of certificates."""
    try:
        data: Any = parse_json(read_text(path), path)
    except InputError:
        return False
    return isinstance(data, dict) and not is_certificate(data) and "transitions" in data


def construct_given(
    text: str,
    read: Callable[[str], Automaton] = automaton_from_spec,
    *,
    table: bool = False,
    wanted: Mapping[str, Any] | None = None,
) -> Realisation | None:
    """The construction of a SPEC that stands where a certificate or a model is wanted; None where the text is no SPEC.

    Args:
        text: what was given.
        read: makes the automaton of the SPEC.
        table: whether the letters are wanted as a table: what is chosen gives way to G.T3 or G.T4 where it is a rule.
        wanted: what is asked for, fields of a `Request`.

    Raises:
        InputError: there is neither such a file nor such a name, or the file of the automaton is wrong.
        NotRealisableError: no construction is known.
    """
    if not is_spec(text):
        return None
    try:
        automaton = read(text)
    except InputError as error:
        unknown = f"{text!r} is not a name of the library"
        if not str(error).startswith(unknown):
            raise
        rest = str(error).removeprefix(unknown)
        raise InputError(f"{text}: no such file, and no automaton of this name{rest}") from None
    # here, so that a command which is given a file does not load them
    from ..constructions._construct import Request
    from .planning._plan import choose_or_refuse

    found = choose_or_refuse(automaton, Request(**(wanted or {})))
    if table and as_table(found) is None:
        found = choose_or_refuse(automaton, Request(theorem=found.table_theorem))
    return found
