r"""Writing with proof: a text is parsed again before it reaches the disk, and must give the same automaton.

Quoted names as DOT and mata write them: `\"` is a quote, every other backslash stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from ...foundation._errors import InputError, MirrormataError
from ...foundation._files import write_text
from ..automata._automaton import Automaton
from ..automata._labels import label_text, output_kind


def write_verified(
    automaton: Automaton, path: str | Path, text: str, parse: Callable[[str], Automaton]
) -> None:
    """Write `text` if `parse` makes the same automaton of it, else `InputError`: the format cannot hold it."""
    as_read = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    try:
        difference = text_difference(automaton, parse(as_read))
    except MirrormataError as error:
        difference = str(error)
    if difference is not None:
        raise InputError(
            f"{path}: a {Path(path).suffix} file cannot hold this automaton ({difference}); write a .json file"
        )
    write_text(path, text)


def text_difference(automaton: Automaton, other: Automaton) -> str | None:
    """What differs between two automata when labels and outputs are compared as text, orders aside; None if equal."""
    for kind, mine, others in (
        ("state", automaton.states, other.states),
        ("letter", automaton.letters, other.letters),
    ):
        texts, other_texts = [label_text(x) for x in mine], [label_text(x) for x in others]
        known = set(other_texts)
        lost = [x for x in texts if x not in known]
        if lost:
            return f"{kind} {lost[0]!r} is lost"
        if len(texts) != len(other_texts):
            return f"{len(texts)} {kind}s became {len(other_texts)}"
    state_order = _order(automaton.states, other.states)
    letter_order = _order(automaton.letters, other.letters)
    if state_order[automaton.start] != other.start:
        return "the start state changed"
    if automaton.keeps_points != other.keeps_points:
        return "it does not say whether unreachable states are kept"
    if output_kind(automaton) != output_kind(other):
        return f"its outputs ({output_kind(automaton)}) are not of that kind"
    for x, letter in enumerate(automaton.letters):
        for q, state in enumerate(automaton.states):
            y, p = letter_order[x], state_order[q]
            if state_order[automaton.transitions[x, q]] != other.transitions[y, p]:
                return f"letter {letter!r} at state {state!r} goes elsewhere"
            if automaton.is_mealy and not _same(automaton.outputs[x, q], other.outputs[y, p]):
                return f"the output {automaton.outputs[x, q]!r} is lost"
    if not automaton.is_mealy:
        for q in range(len(automaton.states)):
            if not _same(automaton.outputs[q], other.outputs[state_order[q]]):
                return f"the output {automaton.outputs[q]!r} is lost"
    return None


def _order(labels: tuple[object, ...], others: tuple[object, ...]) -> list[int]:
    place = {label_text(x): i for i, x in enumerate(others)}
    return [place[label_text(x)] for x in labels]


def _same(value: object, other: object) -> bool:
    return label_text(value) == label_text(other)


_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+")


def unquote(body: str) -> str:
    r"""The name between two quotes: `\"` becomes `"`, a backslash before a line end joins the lines."""
    return _ESCAPE.sub(lambda m: {'"': '"', "\n": ""}.get(m[1], m[0]), body)


def quote(text: str, kind: str, name: str, reserved: frozenset[str] = frozenset()) -> str:
    r"""A name ready to be written, quoted where needed.

    `InputError` where no spelling exists: an odd run of backslashes before a quote, a line end or the end.
    """
    if _BARE.fullmatch(text) and text.lower() not in reserved:
        return text
    body = text.replace('"', '\\"')
    closing = re.compile(r'(?:[^"\\]|\\.)*', re.DOTALL)
    match = closing.match(body)
    if match is None or match.end() != len(body) or unquote(body) != text:
        raise InputError(
            f"{name}: {kind} {text!r} has a backslash where this format cannot hold one: rename it"
        )
    return f'"{body}"'
