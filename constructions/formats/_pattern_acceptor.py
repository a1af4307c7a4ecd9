r"""A pattern's tree to a nondeterministic acceptor over an alphabet, by Thompson's construction, and to a complete automaton.

Letters that all sets of the pattern treat alike are one class; the subset construction runs over classes, and the columns are
copied to the letters afterwards. So an alphabet of all bytes costs no more than the pattern's own distinctions.

Anchors look at the letters around a place. Where a pattern has some, a state of the acceptor is (state of the tree, what stands
before, what may stand behind): before is the start, a line end, a character of a word or another one, and behind is a set of
the end, a final line end, a line end that is not final, a character of a word in ASCII, one in Unicode alone, and another one. An anchor makes this set smaller, and
a letter must be in it. `$` allows the end or one final line end behind it, as in Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ...foundation._errors import LimitError
from ..automata._acceptor import EPSILON, Acceptor
from ..automata._automaton import Automaton, Track
from ._pattern_sets import CATEGORIES, CharacterSet
from ._patterns import Node, Pattern

OTHER = "other"
"""The letter that stands for every character which is nowhere in the pattern; line ends excepted."""

_END, _LAST_LINE_END, _LINE_END, _WORD, _WIDE_WORD, _OTHER = (1 << i for i in range(6))
_ANYTHING = _END | _LAST_LINE_END | _LINE_END | _WORD | _WIDE_WORD | _OTHER
_START = 0  # before the first letter; else what stands before is one of the bits above


class _Arcs(NamedTuple):
    """Moves by classes of letters, empty moves, and moves that an anchor allows."""

    letters: list[tuple[int, int, int]]
    empty: list[tuple[int, int]]
    anchors: list[tuple[int, str, int]]


def has_letter(characters: CharacterSet, letter: str) -> bool:
    """Whether a set has a letter: a character, or `other`."""
    return characters.has_others() if letter == OTHER else characters.has(letter)


def pattern_automaton(
    pattern: Pattern, letters: Sequence[str], name: str, track: Track, max_states: int
) -> Automaton:
    """The complete automaton of the words over `letters` that match the whole pattern.

    Args:
        pattern: the parsed pattern.
        letters: the alphabet: single characters, and perhaps `other`.
        name: with which errors begin.
        track: `output` gives the minimal automaton.
        max_states: the largest number of states of the acceptor with anchors, and of the automaton.
    """
    classes = _letter_classes(pattern, letters)
    representatives = list(dict.fromkeys(classes))
    chosen = [letters[classes.index(c)] for c in representatives]
    small = acceptor_of(pattern, chosen, name, max_states).determinise(name, track, max_states)
    column = {c: i for i, c in enumerate(representatives)}
    table = small.transitions[[column[c] for c in classes]]
    return replace(small, letters=tuple(letters), transitions=table)


def _letter_classes(pattern: Pattern, letters: Sequence[str]) -> list[tuple[bool, ...]]:
    """For each letter what every set of the pattern, and every anchor, says of it."""
    every = list(dict.fromkeys(_sets_of(pattern.tree)))
    return [
        (
            *(has_letter(characters, x) for characters in every),
            *((_kind(x) == _WORD, _kind(x) == _WIDE_WORD, x == "\n") if pattern.has_anchors else ()),
        )
        for x in letters
    ]


def _sets_of(node: Node) -> list[CharacterSet]:
    if node.kind == "set":
        return [node.characters]
    return [characters for part in node.parts for characters in _sets_of(part)]


def acceptor_of(pattern: Pattern, letters: Sequence[str], name: str, max_states: int) -> Acceptor:
    """The acceptor of a pattern; `LimitError` where anchors make more than `max_states` states of it."""
    arcs = _Arcs([], [], [])
    members: dict[CharacterSet, list[int]] = {}
    count = 0

    def fresh() -> int:
        nonlocal count
        count += 1
        return count - 1

    def add(node: Node, source: int, target: int) -> None:
        """Moves from `source` to `target` by the words of a node."""
        if node.kind == "set":
            if node.characters not in members:
                members[node.characters] = [
                    i for i, x in enumerate(letters) if has_letter(node.characters, x)
                ]
            arcs.letters.extend((source, x, target) for x in members[node.characters])
        elif node.kind == "anchor":
            arcs.anchors.append((source, node.anchor, target))
        elif node.kind == "choice":
            for part in node.parts:
                add(part, source, target)
        elif node.kind == "sequence":
            here = source
            for part in node.parts:
                there = fresh()
                add(part, here, there)
                here = there
            arcs.empty.append((here, target))
        else:
            _repeat(node, source, target)

    def _repeat(node: Node, source: int, target: int) -> None:
        # a loop has states of its own: at `source` or `target` other words might enter it
        (part,), here = node.parts, fresh()
        arcs.empty.append((source, here))
        for _ in range(node.low):
            there = fresh()
            add(part, here, there)
            here = there
        if node.high is None:
            loop = fresh()
            arcs.empty.append((here, loop))
            back = fresh()
            add(part, loop, back)
            arcs.empty.append((back, loop))
            here = loop
        else:
            for _ in range(node.high - node.low):
                arcs.empty.append((here, target))
                there = fresh()
                add(part, here, there)
                here = there
        arcs.empty.append((here, target))

    start, end = fresh(), fresh()
    add(pattern.tree, start, end)
    if not arcs.anchors:
        moves = [*arcs.letters, *((q, EPSILON, r) for q, r in arcs.empty)]
        return Acceptor(range(count), letters, moves, [start], [end])
    return _with_context(arcs, letters, start, end, name, max_states)


def _kind(letter: str) -> int:
    """The bit of a letter among what may stand behind a place; a line end counts as one that is not final."""
    if letter == "\n":
        return _LINE_END
    if letter == OTHER or not CATEGORIES["w"](letter):
        return _OTHER
    return _WORD if letter.isascii() else _WIDE_WORD


def _allowed(anchor: str, before: int) -> int:
    """What may stand behind an anchor, given what stands before it."""
    if anchor in ("start", "line start"):
        fits = before == _START or (anchor == "line start" and before == _LINE_END)
        return _ANYTHING if fits else 0
    ends = {
        "end": _END,
        "last line end": _END | _LAST_LINE_END,
        "line end": _END | _LAST_LINE_END | _LINE_END,
    }
    if anchor in ends:
        return ends[anchor]
    word = _WORD if anchor.startswith("ascii") else _WORD | _WIDE_WORD
    boundary = _ANYTHING & ~word if before & word else word
    if anchor.endswith("no boundary"):
        # the empty word has none of either kind, up to Python 3.13
        return _ANYTHING & ~boundary & ~(_END if before == _START else 0)
    return boundary


def _with_context(
    arcs: _Arcs, letters: Sequence[str], start: int, end: int, name: str, max_states: int
) -> Acceptor:
    """The reachable triples (state, before, behind) with their moves."""
    kinds = [_kind(x) for x in letters]
    by_source: dict[int, list[tuple[str, int, str, int]]] = {}
    for q, x, r in arcs.letters:
        by_source.setdefault(q, []).append(("letter", x, "", r))
    for q, r in arcs.empty:
        by_source.setdefault(q, []).append(("empty", EPSILON, "", r))
    for q, anchor, r in arcs.anchors:
        by_source.setdefault(q, []).append(("anchor", EPSILON, anchor, r))
    first = (start, _START, _ANYTHING)
    place = {first: 0}
    order = [first]
    moves: list[tuple[int, int, int]] = []

    def go(source: int, x: int, triple: tuple[int, int, int]) -> None:
        if triple not in place:
            if len(order) >= 10 * max_states:
                raise LimitError(
                    f"{name}: with its anchors the pattern has more than {10 * max_states} places; raise it with `max_states`"
                )
            place[triple] = len(order)
            order.append(triple)
        moves.append((source, x, place[triple]))

    for i, (q, before, behind) in enumerate(order):
        for kind, x, anchor, r in by_source.get(q, ()):
            if kind == "empty":
                go(i, EPSILON, (r, before, behind))
            elif kind == "anchor":
                left = behind & _allowed(anchor, before)
                if left:
                    go(i, EPSILON, (r, before, left))
            elif kinds[x] != _LINE_END:
                if behind & kinds[x]:
                    go(i, x, (r, kinds[x], _ANYTHING))
            else:
                if behind & _LAST_LINE_END:
                    go(i, x, (r, _LINE_END, _END))
                if behind & _LINE_END:
                    go(i, x, (r, _LINE_END, _ANYTHING & ~_END))
    accepting = [i for i, (q, _, behind) in enumerate(order) if q == end and behind & _END]
    return Acceptor(range(len(order)), letters, moves, [0], accepting)
