"""JSON of course pages and simulators, whose keys have other names: `alphabet`, `start_state`, `accept_states`, lists of transitions.

No two programs agree on the keys, so they are known by what they mean: letter case, `_` and `-` do not count. Transitions are rows
`{state: {letter: next state}}`, pairs `{"state,letter": next state}`, triples `[state, letter, next state]`, or objects
`{"from": state, "symbol": letter, "to": next state}`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...foundation._errors import InputError
from ...foundation._files import read_text
from ...foundation._text import refusal
from ..automata._acceptor import EPSILON, MAX_STATES, Acceptor, start_index
from ..automata._automaton import Automaton, Track, build
from ..automata._format import Format
from ._reserved import is_empty_move
from .json_format import OWN_KEYS, load_object

_ROLES = {
    "states": ("states", "q"),
    "letters": ("alphabet", "letters", "symbols", "inputalphabet", "inputsymbols", "sigma"),
    "start": ("start", "startstate", "startstates", "initial", "initialstate", "initialstates", "q0"),
    "accepting": (
        "accept", "accepts", "accepting", "acceptstates", "acceptingstates", "acceptancestates", "final", "finals", "finalstates", "f",
    ),
    "transitions": ("transitions", "transitionfunction", "transitiontable", "transitionmatrix", "delta", "tfunc", "edges"),
    "outputs": ("outputs", "outputfunction"),
}  # fmt: skip
_OF_TRANSITION = {
    "source": ("from", "source", "src", "fromstate", "currentstate", "state"),
    "letter": ("symbol", "symbols", "letter", "letters", "input", "inputs", "read", "label", "event", "on"),
    "target": ("to", "target", "dest", "destination", "tostate", "tostates", "nextstate", "next"),
    "output": ("output", "write"),
}
_OF_STATE = {
    "id": ("id",),
    "name": ("name", "label"),
    "start": ("initial", "isinitial", "start", "isstart", "starting"),
    "accepting": ("final", "isfinal", "accept", "accepting", "isaccept", "isaccepting"),
    "output": ("output",),
}
_OTHER_MACHINES = re.compile(r"stack|tape|blank|pushdown|turing|\bpda\b|\btm\b|probabilit|weight|reward")
_GUARDS = re.compile(r"guard|condition|predicate|constraint|invariant|clock|assign|update")
"""Of a transition, beside `_OTHER_MACHINES`: that it is taken, or what it does, depends on a variable."""
_UNREAD = ("name", "type", "id", "description", "version")
"""Keys that say nothing of what the automaton does."""


def _meaning(key: str, table: Mapping[str, tuple[str, ...]]) -> str | None:
    """What a key means by a table of roles; None for a key that is in none."""
    short = re.sub(r"[\s_-]", "", key).lower()
    return next((role for role, names in table.items() if short in names), None)


def is_keyed_json(text: str) -> bool:
    """Whether a text is JSON of an automaton under keys, or with transitions, that our own format does not have."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if not isinstance(data, dict) or "format" in data or "kind" in data:
        return False
    if _are_rows(data):
        return True
    roles = [role for key in data if (role := _meaning(key, _ROLES)) is not None]
    if "transitions" not in roles or len(roles) < 3:
        return False
    foreign = any(key not in OWN_KEYS and _meaning(key, _ROLES) for key in data)
    rows = data.get("transitions")
    return foreign or not isinstance(rows, dict) or not all(isinstance(row, dict) for row in rows.values())


def _are_rows(data: Mapping[str, Any]) -> bool:
    """Whether the whole object is `{state: {letter: next state}}`, so that nothing says where it starts."""
    targets = [r for row in data.values() if isinstance(row, dict) for r in row.values()]
    return (
        bool(targets)
        and all(isinstance(row, dict) for row in data.values())
        and all(isinstance(r, str | int) and str(r) in data for r in targets)
    )


@dataclass
class _Found:
    """What the file says: states in their order with other names of theirs, arcs by text, outputs, and what is wrong."""

    states: list[str] = field(default_factory=list)
    alias: dict[str, str] = field(default_factory=dict)
    letters: list[str] | None = None
    starts: list[str] = field(default_factory=list)
    accepting: list[str] | None = None
    outputs: dict[str, Any] = field(default_factory=dict)
    arcs: list[tuple[str, str, str, Any]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_keyed_json(
    path: str | Path, *, track: Track | None = None, start: str | None = None, max_states: int = MAX_STATES
) -> Automaton:
    """Read an automaton from a `.json` file whose keys are those of another program.

    Args:
        path: the file.
        track: `state` keeps every reachable state, `output` minimises by outputs; None: `output` where the
            file had to be determinised, otherwise `state`.
        start: the text of the start state; None for the start state in the file.
        max_states: the largest number of states that the automaton may have.

    Raises:
        InputError: the file is wrong, or holds a machine with a stack, a tape or weights.
    """
    name = str(path)
    data, problems = load_object(read_text(path), name)
    found = _Found(problems=problems)
    if _are_rows(data):
        first = next(iter(data))
        data = {"states": list(data), "start": first, "transitions": data}
        found.notes.append(f"the file has rows only: the first state, {first!r}, is the start")
    fields = _fields_by_role(data, name, found)
    _read_states(fields.get("states"), found)
    if "letters" in fields:
        value = fields["letters"]
        found.letters = _names(list(value) if isinstance(value, str) else value, "the letters", found)
    if "start" in fields:
        value = fields["start"]
        found.starts = _names(value if isinstance(value, list) else [value], "the start state", found)
    if "accepting" in fields:
        found.accepting = _names(fields["accepting"], "the accepting states", found)
    if isinstance(fields.get("outputs"), dict):
        found.outputs |= fields["outputs"]
    elif "outputs" in fields:
        found.notes.append("the outputs are no object {state: output} and are not read")
    found.arcs = list(_arcs(fields["transitions"], found))
    if not found.states and not found.problems:
        found.states = list(dict.fromkeys(q for source, _, target, _ in found.arcs for q in (source, target)))
    _check(found)
    if found.problems:
        raise refusal(name, found.problems)
    return replace(_build(found, name, track, start, max_states), name=Path(name).name).with_notes(
        *found.notes
    )


def _fields_by_role(data: Mapping[str, Any], name: str, found: _Found) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    rest: list[str] = []
    kind = str(data.get("type", "")).lower()
    for key, value in data.items():
        role = _meaning(key, _ROLES)
        other = _OTHER_MACHINES.search(key.lower().replace("_", " "))
        if other is not None:
            raise InputError(
                f"{name}: has the key {key!r}, which no finite automaton has: remove it if it says nothing"
            )
        if role is None:
            rest.append(key)
        elif role in fields:
            found.problems.append(f"two keys mean the {role}, the second is {key!r}")
        else:
            fields[role] = value
    if _OTHER_MACHINES.search(kind):
        raise InputError(f"{name}: the type is {kind!r}, and only finite automata are read")
    rest = [key for key in rest if key.lower() not in _UNREAD]
    if rest:
        found.notes.append(f"what stands under {', '.join(map(repr, rest[:5]))} is not read")
    return fields


def _names(value: Any, what: str, found: _Found) -> list[str]:
    entries = (
        [x[0] if isinstance(x, list) and len(x) == 1 else x for x in value]
        if isinstance(value, list)
        else [None]
    )
    if not all(isinstance(x, str | int) and not isinstance(x, bool) for x in entries):
        found.problems.append(f"{what}: a list of names is needed, texts or whole numbers")
        return []
    names = [str(x) for x in entries]
    found.problems += [f"{what}: {x!r} is listed twice" for x in dict.fromkeys(names) if names.count(x) > 1]
    return list(dict.fromkeys(names))


def _read_states(value: Any, found: _Found) -> None:
    """States as names, as keys of an object, or as objects with `id` or `name`, which may say which is the start."""
    if value is None:
        return
    if isinstance(value, dict):
        value = [{"id": q} | (entry if isinstance(entry, dict) else {}) for q, entry in value.items()]
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        found.states = _names(value, "the states", found)
        return
    entries = [
        {role: x for key, x in entry.items() if (role := _meaning(key, _OF_STATE)) is not None}
        for entry in value
    ]
    ids = _names([entry.get("id", entry.get("name")) for entry in entries], "the states", found)
    if found.problems:
        return
    names = [str(entry.get("name", q)) for entry, q in zip(entries, ids, strict=True)]
    if len(set(names)) < len(names):
        names = ids
    found.states = names
    found.alias = dict(zip(ids, names, strict=True))
    for q, entry in zip(names, entries, strict=True):
        if entry.get("start") is True:
            found.starts.append(q)
        if isinstance(entry.get("accepting"), bool):
            found.accepting = [*(found.accepting or []), *([q] if entry["accepting"] else [])]
        if "output" in entry:
            found.outputs[q] = entry["output"]


def _arcs(value: Any, found: _Found) -> Iterator[tuple[str, str, str, Any]]:
    """Arcs `(state, letter, next state, output)` of whichever of the four ways the transitions are written in."""
    if isinstance(value, dict):
        for key, row in value.items():
            if isinstance(row, dict):
                for x, targets in row.items():
                    yield from _many(key, x, targets, None, found)
            elif (pair := _state_and_letter(key, found)) is not None:
                yield from _many(*pair, row, None, found)
            else:
                found.problems.append(
                    f"transitions: the key {key!r} is not one state and one letter, as in 'q0,a': write {{state: {{letter: next state}}}}"
                )
    elif isinstance(value, list) and all(isinstance(entry, list) and len(entry) == 3 for entry in value):
        if _letter_is_last(value, found):
            value = [[q, x, r] for q, r, x in value]
            found.notes.append("the transitions are read as state, next state, letter")
        elif value and {*found.states} & {*(found.letters or ())} >= {
            str(x) for _, *rest in value for x in rest
        }:
            found.notes.append(
                "states and letters have the same names: the transitions are read as state, letter, next state"
            )
        for q, x, r in value:
            yield from _many(q[0] if isinstance(q, list) and len(q) == 1 else q, x, r, None, found)
    elif isinstance(value, list) and all(isinstance(entry, dict) for entry in value):
        unread: dict[str, None] = {}
        for entry in value:
            for key in entry:
                known = _meaning(key, _OF_TRANSITION) is not None
                if _OTHER_MACHINES.search(key.lower()) or (not known and _GUARDS.search(key.lower())):
                    found.problems.append(f"transitions: the key {key!r} belongs to no finite automaton")
                elif not known and key.lower() not in _UNREAD:
                    unread[key] = None
            part = {
                role: x for key, x in entry.items() if (role := _meaning(key, _OF_TRANSITION)) is not None
            }
            if missing := [role for role in ("source", "letter", "target") if role not in part]:
                found.problems.append(
                    f"transitions: {json.dumps(entry, ensure_ascii=False)[:60]} has no {missing[0]}; write "
                    '{"from": state, "symbol": letter, "to": next state}'
                )
                continue
            for x in part["letter"] if isinstance(part["letter"], list) else [part["letter"]]:
                yield from _many(part["source"], x, part["target"], part.get("output"), found)
        if unread:
            named = ", ".join(map(repr, list(unread)[:5]))
            found.notes.append(f"what stands under {named} of the transitions is not read")
    else:
        found.problems.append(
            "transitions: write {state: {letter: next state}}, or a list of [state, letter, next state]"
        )


def _many(
    source: Any, letter: Any, targets: Any, output: Any, found: _Found
) -> Iterator[tuple[str, str, str, Any]]:
    for target in targets if isinstance(targets, list) else [targets]:
        if target is None:
            continue
        names = (source, letter, target)
        if not all(isinstance(x, str | int) and not isinstance(x, bool) for x in names):
            found.problems.append(f"transitions: {names!r:.60} is not made of names, texts or whole numbers")
        else:
            yield str(source), str(letter), str(target), output


def _state_and_letter(key: str, found: _Found) -> tuple[str, str] | None:
    """`q0,a` as a state and a letter, if it is so in one way only."""
    inside = key[1:-1] if key.startswith("(") and key.endswith(")") else key
    pairs = {
        (inside[:i].strip(" '\""), inside[i + 1 :].strip(" '\""))
        for i, sign in enumerate(inside)
        if sign in ",|:;"
    }
    fitting = [
        (q, x)
        for q, x in pairs
        if (not found.states or q in found.states or q in found.alias)
        and (found.letters is None or x in found.letters or is_empty_move(x))
    ]
    return fitting[0] if len(fitting) == 1 else None


def _letter_is_last(triples: Sequence[Sequence[Any]], found: _Found) -> bool:
    """Whether only `[state, next state, letter]` fits the names that the file lists."""
    if not found.states or not found.letters:
        return False
    states, letters = {*found.states, *found.alias}, set(found.letters)
    middle, last = ([str(entry[i]) for entry in triples] for i in (1, 2))
    return not set(middle) <= letters and set(middle) <= states and set(last) <= letters


def _check(found: _Found) -> None:
    """Other names of states are replaced, and every name must exist."""
    states = dict.fromkeys(found.states)

    def known(q: str, what: str) -> str:
        q = q if q in states else found.alias.get(q, q)
        if q not in states and len(found.problems) < 10:
            found.problems.append(f"{what} {q!r} does not exist")
        return q

    found.starts = list(dict.fromkeys(known(q, "start state") for q in found.starts))
    if found.accepting is not None:
        found.accepting = list(dict.fromkeys(known(q, "accepting state") for q in found.accepting))
    found.arcs = [(known(q, "state"), x, known(r, "next state"), output) for q, x, r, output in found.arcs]
    if not found.starts and not found.problems:
        found.problems.append("no start state; name it under the key 'start'")
    used = list(dict.fromkeys(x for _, x, _, _ in found.arcs))
    empty = [x for x in used if x == "" or is_empty_move(x)]
    if found.letters is None:
        found.letters = [x for x in used if x not in empty]
    else:
        strange = [x for x in used if x not in found.letters and x not in empty]
        found.problems += [
            f"{x!r} is not in the alphabet: add it, or write ε if it is the empty move" for x in strange[:5]
        ]
        found.letters = [x for x in found.letters if x not in empty]
    found.notes += [f"{x!r} is read as the empty move" for x in empty]
    _check_outputs(found)


def _check_outputs(found: _Found) -> None:
    """Outputs belong to all transitions or to none, and a state has one or is accepting, not both."""
    silent = [(q, x) for q, x, _, output in found.arcs if output is None]
    if silent and len(silent) < len(found.arcs):
        q, x = silent[0]
        found.problems.append(
            f"the transition of {q!r} by {x!r} has no output, and others have: give all of them one, or none"
        )
    said = [x for x in found.outputs.values() if x not in (None, "")]
    if said and found.arcs and not silent:
        found.problems.append("states and transitions have outputs: keep one of both")
    elif said and found.accepting:
        found.problems.append("states have outputs and are accepting: keep one of both")
    elif said:
        found.accepting = None  # an empty list beside outputs


def _build(found: _Found, name: str, track: Track | None, start: str | None, max_states: int) -> Automaton:
    starts = found.starts if start is None else [found.states[start_index(found.states, start, name)]]
    letters = found.letters or []
    place = {q: i for i, q in enumerate(found.states)}
    letter_of = {x: i for i, x in enumerate(letters)}
    is_mealy = bool(found.arcs) and all(output is not None for *_, output in found.arcs)
    if found.accepting is not None and not is_mealy:
        arcs = [(place[q], letter_of.get(x, EPSILON), place[r]) for q, x, r, _ in found.arcs]
        acceptor = Acceptor(
            found.states, letters, arcs, [place[q] for q in starts], [place[q] for q in found.accepting]
        )
        return acceptor.automaton(name, track, max_states)
    rows: dict[Any, dict[Any, Any]] = {q: {} for q in found.states}
    outputs: dict[Any, dict[Any, Any]] = {q: {} for q in found.states}
    for q, x, r, output in found.arcs:
        if x not in letter_of or rows[q].setdefault(x, r) != r or outputs[q].setdefault(x, output) != output:
            raise InputError(
                f"{name}: several next states of {q!r} by {x!r}, or an empty move, which only an acceptor can have: list the accepting "
                "states under the key 'accepting'"
            )
    if len(starts) > 1:
        raise InputError(f"{name}: several start states ({', '.join(map(repr, starts[:5]))}): keep one")
    if is_mealy and found.accepting:
        found.notes.append("accepting states are not kept: the outputs are those of the transitions")
    moore: dict[Any, Any] | None = (
        None
        if is_mealy or not found.outputs
        else {found.alias.get(q, q): x for q, x in found.outputs.items()}
    )
    if not is_mealy and moore is None:
        found.notes.append("no key names the accepting states: each state is its own output")
    return build(
        rows, start=starts[0], letters=letters, states=found.states, outputs=moore, mealy=outputs if is_mealy else None, name=name,
        track=track or "state",
    )  # fmt: skip


FORMAT = Format(
    name="JSON under other keys",
    extensions=(".json",),
    read=read_keyed_json,
    example="""{"alphabet": ["a"], "states": ["even", "odd"], "start_state": "even", "accept_states": ["even"],
 "transitions": [["even", "a", "odd"], ["odd", "a", "even"]]}
""",
    recognise=is_keyed_json,
)
