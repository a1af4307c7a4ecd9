r"""Propositional formulas over names: Mata's lists of states and bit vectors, and the labels of HOA.

Grammar, `!` binding tighter than `&`, and `&` tighter than `|`: a name, `true`, `false`, `!F`, `F & F`, `F | F`, `(F)`. The words of
truth are given by the format (`t` and `f` in HOA). A formula is a nested tuple: `("name", text)`, `("constant", value)`,
`("not", F)`, `("and", F, ...)` or `("or", F, ...)`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...foundation._errors import InputError, LimitError

Formula = tuple[Any, ...]
SIGNS = frozenset("!&|()")
_MAX_DEPTH = 100


def parse_formula(
    tokens: Sequence[tuple[str, bool]],
    place: str,
    constants: Mapping[str, bool],
    aliases: Mapping[str, Formula],
) -> Formula:
    """The formula of a list of tokens.

    Args:
        tokens: texts, with whether each is a name that was quoted; signs stand alone.
        place: the file and line, with which errors begin.
        constants: the words of truth, such as `{"true": True}`.
        aliases: formulas by a name that stands for them.

    Raises:
        InputError: the tokens are no formula.
    """
    at = 0

    def error(what: str) -> InputError:
        shown = " ".join(text for text, _ in tokens)
        return InputError(f"{place}: {shown[:60]!r} is no formula of names, !, & and |: {what}")

    def sign(text: str) -> bool:
        nonlocal at
        taken = at < len(tokens) and tokens[at] == (text, False)
        at += taken
        return taken

    def chain(joint: str, kind: str, depth: int) -> Formula:
        parts = [chain("&", "and", depth) if joint == "|" else atom(depth)]
        while sign(joint):
            parts.append(chain("&", "and", depth) if joint == "|" else atom(depth))
        return parts[0] if len(parts) == 1 else (kind, *parts)

    def atom(depth: int) -> Formula:
        nonlocal at
        if depth > _MAX_DEPTH:
            raise error(f"it is nested more than {_MAX_DEPTH} deep")
        if sign("!"):
            return ("not", atom(depth + 1))
        if sign("("):
            inside = chain("|", "or", depth + 1)
            if not sign(")"):
                raise error("a parenthesis is not closed")
            return inside
        if at >= len(tokens):
            raise error("it ends too early")
        text, quoted = tokens[at]
        if not quoted and text in SIGNS:
            raise error(f"{text!r} is out of place")
        at += 1
        if not quoted and text in constants:
            return ("constant", constants[text])
        if not quoted and text in aliases:
            return aliases[text]
        return ("name", text)

    result = chain("|", "or", 0)
    if at < len(tokens):
        raise error(f"{tokens[at][0]!r} is out of place")
    return result


def names_in(formula: Formula) -> list[str]:
    """The names of a formula, in the order in which they first appear."""
    if formula[0] == "name":
        return [formula[1]]
    if formula[0] == "constant":
        return []
    return list(dict.fromkeys(name for part in formula[1:] for name in names_in(part)))


def holds(formula: Formula, values: Mapping[str, bool]) -> bool:
    """Whether a formula is true where each name has its value; a name without one is false."""
    kind = formula[0]
    if kind == "name":
        return values.get(formula[1], False)
    if kind == "constant":
        return bool(formula[1])
    if kind == "not":
        return not holds(formula[1], values)
    return (all if kind == "and" else any)(holds(part, values) for part in formula[1:])


def needs_two(formula: Formula, wanted: bool = True) -> bool:
    """Whether the formula joins two names that must both be true: a move to several states at once (alternation)."""
    kind = formula[0]
    if kind == "not":
        return needs_two(formula[1], not wanted)
    if kind in ("name", "constant"):
        return False
    joins = (kind == "and") == wanted
    positive = sum(_has_positive(part, wanted) for part in formula[1:])
    return (joins and positive > 1) or any(needs_two(part, wanted) for part in formula[1:])


def _has_positive(formula: Formula, wanted: bool) -> bool:
    kind = formula[0]
    if kind == "name":
        return wanted
    if kind == "constant":
        return False
    if kind == "not":
        return _has_positive(formula[1], not wanted)
    return any(_has_positive(part, wanted) for part in formula[1:])


def valuations(count: int, name: str, max_letters: int) -> Iterator[tuple[bool, ...]]:
    """All 2^count assignments of truth, the first name slowest: 00, 01, 10, 11.

    Raises:
        LimitError: there are more than `max_letters`.
    """
    if count > 60 or 2**count > max_letters:
        raise LimitError(
            f"{name}: {count} bits make 2^{count} letters, the limit is {max_letters:,}; raise it with `max_states`"
        )
    return itertools.product((False, True), repeat=count)


def bit_text(values: Sequence[bool]) -> str:
    """The letter of an assignment: `01` where the first bit is false and the second true."""
    return "".join("1" if value else "0" for value in values)
