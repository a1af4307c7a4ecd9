"""Automata from dicts and lists: rows, pairs `(state, letter)`, triples, sets of next states, and keywords."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..foundation._arguments import require_list, show_value
from ..foundation._errors import InputError
from .automata._acceptor import EPSILON, Acceptor
from .automata._automaton import Automaton, Label, build
from .automata._completing import is_hashable, label_problems, rows_of
from .automata._labels import sort_labels

_KEYWORDS = ("start", "states", "letters", "accepting", "outputs", "mealy", "name", "keep_points")
_AUTOMATA_LIB_KEYWORDS = {"initial_state": "start", "input_symbols": "letters", "final_states": "accepting"}
_UNUSED_KEYWORDS = ("transitions", "format", "allow_partial")


def automaton_from_mapping(
    value: Mapping[Any, Any], argument: str, start: Label | None, letters: Iterable[Label] | None
) -> Automaton:
    """A dict of rows, or one of keywords: then `transitions` is among its keys, a dict of dicts, or triples."""
    inside = value.get("transitions")
    keywords: dict[str, Any] = {}
    rows: Any = value
    if isinstance(inside, list) or (
        isinstance(inside, Mapping)
        and all(isinstance(row, Mapping) or isinstance(q, tuple) for q, row in inside.items())
    ):
        rows = inside
        renamed = {_AUTOMATA_LIB_KEYWORDS.get(key, key): item for key, item in value.items()}
        keywords = {key: renamed[key] for key in _KEYWORDS if key in renamed}
        unknown = [key for key in renamed if key not in (*_KEYWORDS, *_UNUSED_KEYWORDS)]
        if unknown:
            known = ", ".join(("transitions", *_KEYWORDS))
            raise InputError(
                f"`{argument}` has the key {unknown[0]!r}, which is not known; known are {known}"
            )
        for key in ("states", "letters", "accepting"):  # sets have no order of their own
            if isinstance(keywords.get(key), set | frozenset):
                keywords[key] = sort_labels(keywords[key])
    return automaton_from_rows(rows, argument, start, letters, keywords)


def automaton_from_rows(
    rows: Any, argument: str, start: Label | None, letters: Iterable[Label] | None, keywords: dict[str, Any]
) -> Automaton:
    """Rows, pairs or triples; `keywords` are further arguments of `build`. Without a start it is the first state."""
    rows = rows_of(rows, f"`{argument}`")
    if not isinstance(rows, Mapping):
        raise InputError(
            f"`{argument}`: {show_value(rows)} is no list of triples (state, letter, next state), nor a dict {{state: {{letter: "
            "next state}}"
        )
    for q, row in rows.items():
        if not isinstance(row, Mapping):
            raise InputError(
                f"`{argument}`: {show_value(row)} stands for the state {show_value(q)}; a dict {{letter: next state}} is "
                "needed"
            )
    if not rows:
        raise InputError(f"`{argument}` is a dict without states; give {{state: {{letter: next state}}}}")
    if start is not None:
        keywords["start"] = start
    if letters is not None:
        keywords["letters"] = require_list("letters", letters, "a list of letters", texts=True)
    keywords = {"start": next(iter(rows))} | keywords
    targets = [target for row in rows.values() for target in row.values()]
    if any(isinstance(target, set | list) for target in targets):
        return _from_sets(rows, argument, keywords)
    return build(rows, **keywords)


def _from_sets(rows: Mapping[Any, Mapping[Any, Any]], argument: str, keywords: dict[str, Any]) -> Automaton:
    """Rows whose next states are sets or lists: an acceptor, which is determinised; the letter `""` is the empty move."""
    if "accepting" not in keywords:
        raise InputError(
            f"`{argument}` has sets of next states, which only an acceptor can have: give a dict with the keys `transitions`, `start` "
            "and `accepting`"
        )
    foreign = next((key for key in ("outputs", "mealy", "keep_points") if key in keywords), None)
    if foreign is not None:
        raise InputError(f"`{argument}` has sets of next states, so it cannot have `{foreign}`: leave it out")
    many = {
        q: {
            x: sort_labels(r) if isinstance(r, set | frozenset) else r if isinstance(r, list) else [r]
            for x, r in row.items()
        }
        for q, row in rows.items()
    }
    used = [r for row in many.values() for targets in row.values() for r in targets]
    unhashable = next((q for q in used if not is_hashable(q)), None)
    if unhashable is not None:
        raise InputError(f"`{argument}`: the next state {show_value(unhashable)} is not hashable")
    given = keywords.get("states")
    states = list(dict.fromkeys([*(given or rows), *(() if given else used)]))
    letters = [
        x
        for x in keywords.get("letters") or dict.fromkeys(x for row in many.values() for x in row)
        if x != ""
    ]
    accepting = require_list("accepting", keywords["accepting"], "a list of states", texts=True)
    problems = label_problems(states, "state") + label_problems(letters, "letter")
    place, letter_of = (
        {q: i for i, q in enumerate(states)},
        {x: i for i, x in enumerate(letters)} | {"": EPSILON},
    )
    for kind, labels in (
        ("start", [keywords["start"]]),
        ("accepting", accepting),
        ("next", used),
        ("source", list(rows)),
    ):
        problems += [f"{kind} state {show_value(q)} does not exist" for q in labels if q not in place]
    problems += [
        f"{show_value(x)} is not a letter" for row in many.values() for x in row if x not in letter_of
    ]
    if problems:
        raise InputError(f"`{argument}`: " + "; ".join(problems[:10]))
    arcs = [
        (place[q], letter_of[x], place[r])
        for q, row in many.items()
        for x, found in row.items()
        for r in found
    ]
    acceptor = Acceptor(states, letters, arcs, [place[keywords["start"]]], [place[q] for q in accepting])
    return acceptor.automaton(keywords.get("name", "automaton"))
