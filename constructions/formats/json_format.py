"""Our own JSON format, `mirrormata-automaton/1`: states, letters, start, outputs and transitions by name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...foundation._errors import InputError
from ...foundation._files import read_text
from ...foundation._text import refusal
from ..automata._automaton import Automaton, Track, build
from ..automata._completing import type_and_value
from ..automata._format import Format, refuse_certificate
from ..automata._labels import distinct_texts, label_text, output_kind
from ._writing import write_verified

VERSION = "mirrormata-automaton/1"

_FIELDS: dict[str, Any] = {
    "format": str,
    "name": str,
    "states": list[str],
    "letters": list[str],
    "start": str,
    "accepting": list[str],
    "outputs": dict[str, str | int | float | bool | None],
    "mealy": dict[str, dict[str, str | int | float | bool | None]],
    "transitions": dict[str, dict[str, str]],
    "keep_points": bool,
}
OWN_KEYS = tuple(_FIELDS)
_REQUIRED = ("states", "letters", "start", "transitions")
_OF_NAMES = (*_REQUIRED, "accepting")
"""The entries that hold names of states and letters alone."""


def read_json(path: str | Path, *, track: Track = "state", start: str | None = None) -> Automaton:
    """Read an automaton from a `.json` file.

    The object has the entries `states` and `letters`, which are lists of names, texts or whole numbers; `start`, a state; and `transitions`, which is
    `{state: {letter: next state}}` and may be partial. It has at most one of the entries `accepting` (a list of states), `outputs`
    (`{state: output}`) and `mealy` (`{state: {letter: output}}`); without them, each state is its own output. The entries
    `format`, `name` and `keep_points` (whether to keep unreachable states) are optional.

    Args:
        path: the file.
        track: `state` keeps every reachable state, `output` minimises by outputs.
        start: the text of the start state; None for the start state in the file.

    Raises:
        InputError: the file is wrong; the message names everything that is wrong.
    """
    return parse_json(read_text(path), str(path), track=track, start=start)


def parse_json(text: str, name: str, *, track: Track = "state", start: str | None = None) -> Automaton:
    """Read an automaton from a JSON text.

    Args:
        text: the text of the file.
        name: the name with which error messages begin.
        track: `state` keeps every reachable state, `output` minimises by outputs.
        start: the text of the start state; None for the start state in the file.
    """
    data, problems = load_object(text, name)
    fields, field_problems = _fields(data)
    problems += field_problems
    if problems:
        raise refusal(name, problems)
    problems = _output_problems(fields)
    if start is not None:
        fields["start"] = start
    try:
        automaton = build(
            fields["transitions"],
            start=fields["start"],
            letters=fields["letters"],
            states=fields["states"],
            accepting=fields.get("accepting"),
            outputs=fields.get("outputs"),
            mealy=fields.get("mealy"),
            name=name,
            track=track,
            keep_points=fields.get("keep_points", False),
        )
    except InputError as error:
        problems = [*str(error).removeprefix(f"{name}: ").split("; "), *problems]
    if problems:
        raise refusal(name, problems)
    return replace(automaton, name=fields.get("name", Path(name).name))


def load_object(text: str, name: str) -> tuple[dict[str, Any], list[str]]:
    """The object of a JSON text, and what is wrong in it: keys that are listed twice."""
    repeated: list[str] = []

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        loaded: dict[str, Any] = {}
        for key, value in pairs:
            if key in loaded:
                repeated.append(f"key {key!r} is listed twice in one object")
            loaded[key] = value
        return loaded

    def finite(number: str) -> float:
        value = float(number)
        if not np.isfinite(value):
            raise ValueError(f"{number[:20]} is not a finite number")
        return value

    try:
        data = json.loads(text, object_pairs_hook=unique, parse_constant=finite, parse_float=finite)
        json.dumps(data, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as error:
        raise InputError(
            f"{name}: line {error.lineno}, column {error.colno}: not JSON ({error.msg})"
        ) from None
    except UnicodeEncodeError:
        raise InputError(f"{name}: a name has half a surrogate pair, which is not a character") from None
    except RecursionError:
        raise InputError(f"{name}: nested too deeply to be an automaton") from None
    except ValueError as error:
        raise InputError(f"{name}: a number cannot be read ({str(error).split(';')[0]})") from None
    if not isinstance(data, dict):
        raise InputError(
            f"{name}: an object with the keys {', '.join(_REQUIRED)} is needed, not a {type(data).__name__}"
        )
    if str(data.get("format")).startswith("mirrormata-certificate"):
        raise refuse_certificate(name)
    return data, repeated


def _fields(data: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    import msgspec

    problems = [f"key {key!r} is missing" for key in _REQUIRED if key not in data]
    fields: dict[str, Any] = {}
    unknown = [key for key in data if key not in _FIELDS]
    if unknown:
        shown = ", ".join(map(repr, unknown[:10]))
        which = f"key {shown} is" if len(unknown) == 1 else f"keys {shown} are"
        problems.append(f"{which} unknown (known: {', '.join(_FIELDS)})")
    for key, value in data.items():
        if key not in _FIELDS:
            continue
        try:
            fields[key] = msgspec.convert(
                _names_as_texts(value) if key in _OF_NAMES else value, _FIELDS[key], strict=True
            )
        except msgspec.ValidationError as error:
            problems.append(f"key {key!r}: {error}")
    if fields.get("format", VERSION) != VERSION:
        problems.append(f"format {fields['format']!r} is unknown (known: {VERSION!r})")
    return fields, problems


def _names_as_texts(value: Any) -> Any:
    """A value with the text of each whole number in it: JSON's keys are texts, so names are compared as texts."""
    if isinstance(value, list):
        return [_names_as_texts(entry) for entry in value]
    if isinstance(value, dict):
        return {key: _names_as_texts(entry) for key, entry in value.items()}
    return str(value) if type(value) is int else value


def _output_problems(fields: Mapping[str, Any]) -> list[str]:
    problems = []
    if "outputs" in fields:
        problems += [f"no output for state {q!r}" for q in fields["states"] if q not in fields["outputs"]]
    if "mealy" in fields:
        mealy, transitions = fields["mealy"], fields["transitions"]
        for q, row in transitions.items():
            problems += [
                f"no mealy output for state {q!r}, letter {x!r}" for x in row if x not in mealy.get(q, {})
            ]
        for q, row in mealy.items():
            problems += [
                f"mealy output for state {q!r}, letter {x!r}, where there is no transition"
                for x in row
                if x not in transitions.get(q, {})
            ]
    return problems


def write_json(automaton: Automaton, path: str | Path) -> None:
    """Write an automaton to a `.json` file, from which `read_json` reads the same automaton with labels as text.

    Labels that are not strings, and outputs that are not JSON scalars, are written as text.

    Args:
        automaton: the automaton.
        path: the file.

    Raises:
        InputError: two labels would become equal as text.
    """
    text = json_text(automaton, str(path))
    write_verified(automaton, path, text, lambda again: parse_json(again, str(path)))


def json_text(automaton: Automaton, name: str) -> str:
    """Write an automaton as JSON text.

    Args:
        automaton: the automaton.
        name: the name with which error messages begin.
    """
    states = distinct_texts(automaton.states, "state", name)
    letters = distinct_texts(automaton.letters, "letter", name)
    table, kind = automaton.transitions, output_kind(automaton)
    data: dict[str, Any] = {
        "format": VERSION,
        "name": distinct_texts([automaton.name], "name", name)[0],
        "states": states,
        "letters": letters,
        "start": states[automaton.start],
    }
    if automaton.keeps_points:
        data["keep_points"] = True
    if kind == "acceptor":
        data["accepting"] = [q for q, accepted in zip(states, automaton.outputs, strict=True) if accepted]
    elif kind == "mealy":
        values = _json_outputs(list(automaton.outputs.reshape(-1)), name)
        rows = [values[x * len(states) : (x + 1) * len(states)] for x in range(len(letters))]
        data["mealy"] = {q: {y: rows[x][i] for x, y in enumerate(letters)} for i, q in enumerate(states)}
    elif kind == "moore":
        data["outputs"] = dict(zip(states, _json_outputs(list(automaton.outputs), name), strict=True))
    data["transitions"] = {
        q: {y: states[table[x, i]] for x, y in enumerate(letters)} for i, q in enumerate(states)
    }
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def _json_outputs(values: list[Any], name: str) -> list[Any]:
    owner: dict[Any, Any] = {}
    written = []
    for value in values:
        if isinstance(value, np.bool_ | np.integer):
            value = value.item()
        scalar = value is None or type(value) in (bool, int, float, str)
        if isinstance(value, float) and not np.isfinite(value):
            raise InputError(f"{name}: output {value!r} is not a JSON number: rename it")
        as_json = value if scalar else label_text(value)
        distinct_texts([as_json], "output", name)
        first = owner.setdefault(type_and_value(as_json), value)
        if type_and_value(first) != type_and_value(value):
            raise InputError(
                f"{name}: outputs {first!r} and {value!r} have the same text: rename one of them"
            )
        written.append(as_json)
    return written


FORMAT = Format(
    name="our own format",
    extensions=(".json",),
    read=read_json,
    write=write_json,
    example="""{"states": ["even", "odd"], "letters": ["a"], "start": "even", "accepting": ["even"],
 "transitions": {"even": {"a": "odd"}, "odd": {"a": "even"}}}
""",
)
