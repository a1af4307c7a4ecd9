"""`automaton_from_spec`: `regex:PATTERN`, a file by its extension, or a name of the library."""

from __future__ import annotations

import re
from pathlib import Path

from ..foundation._errors import InputError
from .algebra.groups._finite_group import Product
from .automata._acceptor import MAX_STATES, start_index
from .automata._automaton import Automaton, Track, minimise

MAX_TRANSITIONS = 10_000_000
EXTENSIONS = {
    ".json": "our own format",
    ".dot": "Automata-Wiki, AALpy, graphviz",
    ".mata": "@NFA-explicit",
    ".att": "OpenFst text",
    ".csv": "word problem, seed,input,target",
    ".txt": "image lists, 1-based",
}
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]*")


def automaton_from_spec(
    spec: str,
    *,
    alphabet: str | None = None,
    track: Track | None = None,
    start: str | None = None,
    group: str | None = None,
    product: Product = "left",
    max_states: int = MAX_STATES,
    max_transitions: int = MAX_TRANSITIONS,
) -> Automaton:
    """The automaton that a SPEC of the command line names.

    `regex:PATTERN` (letters from `alphabet`, a string of characters), a file with one of the known extensions, or
    a name of the library (with `product`). `track`: by default `output` for regular expressions and
    nondeterministic files, else `state`. `start`: the text of the start state's label. `group`: the group of a
    `.csv`. `max_states`, `max_transitions`: limits of a determinisation and of a named automaton. Raises
    `InputError`, `LimitError`.
    """
    if "\0" in spec:
        raise InputError(f"{spec!r}: a NUL character is in no file's name; remove it")
    if spec.startswith("regex:"):
        kind = "regex"
    else:
        kind = _extension(spec) or "name"
    if alphabet is not None and kind != "regex":
        raise InputError(f"{spec}: --alphabet is for regex:PATTERN only; remove it")
    if group is not None and kind != ".csv":
        raise InputError(f"{spec}: --group is for .csv files only; remove it")
    if kind == "regex":
        from .formats.regex import from_regex

        automaton = from_regex(
            spec.removeprefix("regex:"), alphabet, track=track or "output", name=spec, max_states=max_states
        )
        return automaton if start is None else _restarted(automaton, start, track or "output")
    if kind == "name":
        return _named(spec, track, start, product, max_states, max_transitions)
    try:
        return _from_file(spec, kind, track, start, group, max_states)
    except OSError as error:
        raise InputError(f"{spec}: cannot be read ({error.strerror})") from None


def _extension(spec: str) -> str | None:
    """The known extension of a file; None for a name of the library; `InputError` for an unknown kind of file."""
    path = Path(spec)
    suffix = path.suffix.lower()
    if suffix in EXTENSIONS:
        return suffix
    if ("/" in spec or spec in (".", "..")) and path.is_dir():
        raise InputError(f"{spec}: is a folder, a file is needed")
    try:
        is_file = path.is_file()
    except OSError:
        is_file = False
    if _EXTENSION.fullmatch(suffix) or (is_file and "/" in spec):
        known = ", ".join(f"{extension} ({what})" for extension, what in EXTENSIONS.items())
        raise InputError(f"{spec}: the kind of file {suffix!r} is not known; known are {known}")
    return None


def _from_file(
    spec: str, extension: str, track: Track | None, start: str | None, group: str | None, max_states: int
) -> Automaton:
    if extension == ".json":
        from .formats.json_format import read_json

        return read_json(spec, track=track or "state", start=start)
    if extension == ".dot":
        from .formats.dot import read_dot

        return read_dot(spec, track=track, start=start, max_states=max_states)
    if extension == ".mata":
        from .formats.mata import read_mata

        return read_mata(spec, track=track, start=start, max_states=max_states)
    if extension == ".att":
        from .formats.att import read_att

        return read_att(spec, track=track, start=start, max_states=max_states)
    if extension == ".csv":
        from .formats.word_problem_csv import read_word_problem_csv

        return read_word_problem_csv(spec, group=group, start=start)
    from .formats.transformations import read_transformations

    return read_transformations(spec, start=start)


def _named(
    spec: str,
    track: Track | None,
    start: str | None,
    product: Product,
    max_states: int,
    max_transitions: int,
) -> Automaton:
    from .library._names import automaton_by_name

    automaton = automaton_by_name(
        spec, product=product, max_states=max_states, max_transitions=max_transitions
    )
    return (
        automaton if start is None and track != "output" else _restarted(automaton, start, track or "state")
    )


def _restarted(automaton: Automaton, start: str | None, track: Track) -> Automaton:
    if start is not None:
        texts = [str(q) for q in automaton.states]
        automaton = automaton.with_start(automaton.states[start_index(texts, start, automaton.name)])
    return minimise(automaton) if track == "output" else automaton


def write_automaton(automaton: Automaton, path: str | Path) -> None:
    """Write an automaton in the format of the path's extension: .json, .dot, .mata, .att or .txt.

    `InputError` for another extension, or where the format cannot hold the automaton.
    """
    extension = Path(path).suffix.lower()
    if extension == ".json":
        from .formats.json_format import write_json

        write_json(automaton, path)
    elif extension == ".dot":
        from .formats.dot import write_dot

        write_dot(automaton, path)
    elif extension == ".mata":
        from .formats.mata import write_mata

        write_mata(automaton, path)
    elif extension == ".att":
        from .formats.att import write_att

        write_att(automaton, path)
    elif extension == ".txt":
        from .formats.transformations import write_transformations

        write_transformations(automaton, path)
    else:
        raise InputError(f"{path}: automata are written as .json, .dot, .mata, .att or .txt; rename the file")
