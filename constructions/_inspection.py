"""What is known of an automaton's algebra (`inspect_automaton`), and words that send all states to one (`reset_word`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ..foundation._arguments import require_callback, require_count
from ..foundation._errors import LimitError
from ..foundation._text import count_noun, html_table, one_line
from ._conversions import AutomatonLike, as_automaton
from .algebra.groups._permutations import alternating_kind, cycle_lengths, distinct_maps
from .algebra.monoids._monoid import MAX_MONOID, TransitionMonoid, all_aperiodic, letters_commute
from .algebra.monoids._solvable import generates_solvable, group_order, subgroups_solvable
from .automata._automaton import Automaton, Indices, Label, breadth_first

MAX_SYNCHRONISING_STATES = 5_000

_PAIRED = 300


def is_synchronising(automaton: AutomatonLike, *, max_states: int = MAX_SYNCHRONISING_STATES) -> bool | None:
    """Decide whether some word sends all states to a single state.

    This is the case exactly if any two states can be merged by a word (Černý), so pairs of states decide it, and the
    transition monoid is not needed.

    Args:
        automaton: an automaton in any form that `as_automaton` accepts.
        max_states: the largest number of states for which all pairs of states are searched.

    Returns:
        True or False; None if the automaton has more than `max_states` states and the question remains undecided.
    """
    automaton = as_automaton(automaton)
    if len(automaton.states) == 1:
        return True
    if automaton.is_permutation:
        return False
    left, _ = _descend(automaton.transitions, 1)
    if len(left) == 1:
        return True
    first = breadth_first(automaton.transitions, int(left[0]))
    second = breadth_first(automaton.transitions, int(left[-1]))
    if np.intersect1d(first, second).size == 0:
        return False
    inside = _closure(automaton.transitions, left)
    if len(inside) > max_states:
        return None
    maps = np.searchsorted(inside, automaton.transitions[:, inside])
    return _merge(maps, np.searchsorted(inside, left)) is not None


def reset_word(
    automaton: AutomatonLike, *, max_states: int = MAX_SYNCHRONISING_STATES
) -> tuple[Label, ...] | None:
    """Find a short word, not always a shortest one, that sends all states to a single state.

    The search is greedy: it repeatedly merges the two states that the shortest word merges. With more than a few hundred
    states, pseudo-random letters from a fixed seed first reduce the number of states.

    Args:
        automaton: an automaton in any form that `as_automaton` accepts.
        max_states: the largest number of states for which all pairs of states are searched.

    Returns:
        The letters; None if there is no such word or if, with more than `max_states` states, none was found.

    Examples:
        >>> reset_word("flipflop")
        ('0',)
    """
    automaton = as_automaton(automaton)
    n = len(automaton.states)
    if n == 1:
        return ()
    if automaton.is_permutation:
        return None
    left, word = np.arange(n), list[int]()
    if n > _PAIRED:
        left, word = _descend(automaton.transitions, _PAIRED // 3)
        if len(left) > 1 and n > max_states:
            return None
    end = _merge(automaton.transitions, left)
    return None if end is None else tuple(automaton.letters[x] for x in [*word, *end])


def _descend(maps: Indices, enough: int) -> tuple[Indices, list[int]]:
    """Image of all states under a word of pseudo-random letters that stops once `enough` states are left."""
    generator = np.random.default_rng(0)
    left = np.arange(maps.shape[1])
    word: list[int] = []
    work = 1_000 * len(left) + 100_000
    for x in generator.integers(0, len(maps), size=20 * len(left) + 100).tolist():
        work -= 50 + len(left)
        if len(left) <= enough or work < 0:
            break
        left = np.unique(maps[x, left])
        word.append(x)
    return left, word


def _closure(maps: Indices, states: Indices) -> Indices:
    """All states reachable from the given ones, sorted."""
    seen = np.zeros(maps.shape[1], dtype=bool)
    while states.size:
        seen[states] = True
        images = np.unique(maps[:, states])
        states = images[~seen[images]]
    return np.flatnonzero(seen)


def _merge(maps: Indices, left: Indices) -> list[int] | None:
    """A word that merges the states `left` into one, two at a time; None where some two cannot be merged."""
    word: list[int] = []
    while len(left) > 1:
        part = _merging_word(maps, left[:_PAIRED])
        if part is None:
            return None
        for x in part:
            left = np.unique(maps[x, left])
        word += part
    return word


def _merging_word(maps: Indices, states: Indices) -> list[int] | None:
    """A shortest word that merges two of the states; None where no two can be merged. Breadth first on pairs."""
    letters, n = maps.shape
    i, j = np.triu_indices(len(states), 1)
    low, high = np.minimum(states[i], states[j]), np.maximum(states[i], states[j])
    seen = np.zeros(n * n, dtype=bool)
    seen[low * n + high] = True
    steps: list[Indices] = []
    while low.size:
        p, q = maps[:, low].T.reshape(-1), maps[:, high].T.reshape(-1)
        merged = np.flatnonzero(p == q)
        if merged.size:
            at, x = divmod(int(merged[0]), letters)
            word = [x]
            for places in reversed(steps):
                at, x = divmod(int(places[at]), letters)
                word.append(x)
            return word[::-1]
        low, high = np.minimum(p, q), np.maximum(p, q)
        codes = low * n + high
        new = np.flatnonzero(~seen[codes])
        _, first = np.unique(codes[new], return_index=True)
        places = new[np.sort(first)]
        seen[codes[places]] = True
        steps.append(places)
        low, high = low[places], high[places]
    return None


MAX_INSPECTION_BYTES = 1 << 28

# a longer integer is no valid Python literal, so no reader of the JSON could take it in
_MAX_DIGITS = 4_000
_SAMPLED_ENTRIES = 4_000_000


@dataclass(frozen=True, repr=False)
class Inspection:
    """Facts about an automaton. None means that a fact is unknown; `notes` then gives the reason.

    Attributes:
        name: the automaton's name.
        states: number of states.
        letters: number of letters.
        start: the start state as text.
        kind: `acceptor`, `moore` or `mealy`.
        monoid: number of elements of the transition monoid, the identity included.
        group: whether every letter permutes the states.
        aperiodic: whether all subgroups of the monoid are trivial.
        commutative: whether any two letters commute.
        solvable: whether every subgroup of the monoid is solvable.
        synchronising: whether some word sends all states to a single state.
        degree: number of points of a small faithful permutation representation; for groups only.
        notes: what was changed when the automaton was read, and why facts are unknown.
        group_order: order of the transition group, for groups only.
        idempotents: number of idempotent maps in the monoid.
        max_order: largest period of an element.
        resets: number of constant maps in the monoid.
        letter_kinds: for each letter, the pair `(letter, kind)` as texts.
    """

    name: str
    states: int
    letters: int
    start: str
    kind: str
    monoid: int | None
    group: bool
    aperiodic: bool | None
    commutative: bool
    solvable: bool | None
    synchronising: bool | None
    degree: int | None
    notes: tuple[str, ...]
    group_order: int | None
    idempotents: int | None
    max_order: int | None
    resets: int | None
    letter_kinds: tuple[tuple[str, str], ...]

    def to_json(self) -> dict[str, Any]:
        """Return the facts as plain values for JSON."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values["notes"] = list(self.notes)
        values["letter_kinds"] = [list(pair) for pair in self.letter_kinds]
        return values

    def rows(self) -> list[tuple[str, str]]:
        """The rows of a readable table, as `(label, text)` pairs."""
        start = self.start or "''"
        kinds = Counter(kind for _, kind in self.letter_kinds)
        if len(self.letter_kinds) <= 12:
            letters = "; ".join(f"{letter}: {kind}" for letter, kind in self.letter_kinds)
        else:
            shown = [f"{count} × {kind}" for kind, count in kinds.most_common(8)]
            letters = "; ".join(shown) + ("; …" if len(kinds) > 8 else "")
        rows = [
            ("states", f"{self.states:,} (start {start})"),
            ("letters", f"{self.letters:,}" + (f" ({letters})" if letters else "")),
            ("kind", self.kind),
            ("transition monoid", _count(self.monoid, "element")),
            ("group", _yes(self.group)),
        ]
        if self.group:
            rows.append(("group order", _figure(self.group_order)))
        rows += [
            ("aperiodic", _yes(self.aperiodic)),
            ("commutative", _yes(self.commutative)),
            ("solvable", _yes(self.solvable)),
            ("synchronising", _yes(self.synchronising)),
        ]
        if self.monoid is not None:
            rows += [
                ("idempotents", _figure(self.idempotents)),
                ("largest period of an element", _figure(self.max_order)),
                ("resets in the monoid", _figure(self.resets)),
            ]
        if self.degree is not None:
            rows.append(("degree of the group", _count(self.degree, "point")))
        return rows + [("note", note) for note in self.notes]

    def __repr__(self) -> str:
        return one_line(self, f"{self.name}, {self.states:,} states, {self.letters:,} letters, {self.kind}")

    def _repr_html_(self) -> str:
        return html_table(self.name, self.rows())


def inspect_automaton(
    automaton: AutomatonLike,
    *,
    max_monoid: int = MAX_MONOID,
    max_bytes: int = MAX_INSPECTION_BYTES,
    degree: Callable[[Automaton], int | None] | None = None,
) -> Inspection:
    """Determine facts about an automaton and its transition monoid, as far as the limits allow.

    Args:
        automaton: an automaton in any form that `as_automaton` accepts.
        max_monoid: the largest number of elements of the transition monoid to list.
        max_bytes: about the largest amount of memory for this list, in bytes.
        degree: a function that computes the number of points of a small faithful permutation representation; by default
            `small_degree`. It is called for groups only.

    Returns:
        The facts. A fact that the limits leave open is None, and `notes` gives the reason; no automaton is too large.

    Examples:
        >>> facts = inspect_automaton("S4")
        >>> facts.monoid, facts.solvable, facts.degree
        (24, True, 4)
    """
    automaton = as_automaton(automaton)
    max_monoid, max_bytes = (
        require_count("max_monoid", max_monoid, 1),
        require_count("max_bytes", max_bytes, 1),
    )
    require_callback("degree", degree, "a function of an automaton")
    if degree is None:
        from .theorems._small_degree import small_degree

        degree = small_degree
    notes = list(automaton.notes)
    group = automaton.is_permutation
    order = _order(automaton, notes, max_monoid) if group else None
    monoid = (
        _list_monoid(automaton, notes, order, max_monoid, max_bytes)
        if order is not None or not group
        else None
    )
    commutative = letters_commute(automaton)
    if monoid is not None:
        aperiodic: bool | None = monoid.is_aperiodic
        synchronising: bool | None = monoid.has_resets
    else:
        # a group that is not listed has more than one element
        aperiodic = False if group or _some_period(automaton) else None
        synchronising = is_synchronising(automaton)
    solvable = True if commutative or aperiodic else _solvable(automaton, monoid, max_monoid)
    unknown = [
        name
        for name, value in (
            ("aperiodic", aperiodic),
            ("solvable", solvable),
            ("synchronising", synchronising),
        )
        if value is None
    ]
    if unknown:
        notes.append(f"unknown within the limits: {', '.join(unknown)}")
    shown_order = order if order is not None and order < 10**_MAX_DIGITS else None
    return Inspection(
        name=automaton.name,
        states=len(automaton.states),
        letters=len(automaton.letters),
        start=str(automaton.states[automaton.start]),
        kind=_kind(automaton),
        monoid=None if monoid is None else monoid.size,
        group=group,
        aperiodic=aperiodic,
        commutative=commutative,
        solvable=solvable,
        synchronising=synchronising,
        degree=degree(automaton) if group else None,
        notes=tuple(notes),
        group_order=shown_order,
        idempotents=None if monoid is None else len(monoid.idempotents),
        max_order=None if monoid is None else int(monoid.index_and_period[1].max()),
        resets=None if monoid is None else len(monoid.resets),
        letter_kinds=tuple(
            (str(letter), letter_kind(automaton, row))
            for letter, row in zip(automaton.letters, automaton.transitions, strict=True)
        ),
    )


def letter_kind(automaton: Automaton, row: Indices) -> str:
    """What one letter does: identity, permutation with its cycle type, reset with its target, or a map's rank."""
    if np.array_equal(row, np.arange(len(row))):
        return "identity"
    rank = len(np.unique(row))
    if rank == len(row):
        lengths = Counter(length for length in cycle_lengths(row) if length > 1)
        parts = [
            f"{r}^{count}" if count > 1 else str(r) for r, count in sorted(lengths.items(), reverse=True)
        ]
        return "permutation with cycles " + " ".join(parts)
    if rank == 1:
        return f"reset to {automaton.states[int(row[0])]}"
    return f"map of rank {rank}"


def _order(automaton: Automaton, notes: list[str], max_monoid: int) -> int | None:
    """Order of the transition group; what stays unknown or cannot be shown goes into the notes."""
    order = group_order(automaton, max_order=max_monoid)
    if order is None:
        notes.append(
            f"the order of the transition group is unknown: more than {max_monoid:,} elements, or more than can be "
            "held while listing them; raise it with `max_monoid`"
        )
    elif order > max_monoid:
        figure = f"{order:,}" if order < 10**30 else "more than 10^30"
        kind = alternating_kind(distinct_maps(automaton.transitions))
        if kind is not None:
            figure += f" (the {kind} group of all {len(automaton.states):,} states)"
        notes.append(
            f"the transition monoid was not listed: it is a group of order {figure}, over the limit of "
            f"{max_monoid:,}; raise it with `max_monoid`"
        )
    return order


def _list_monoid(
    automaton: Automaton, notes: list[str], order: int | None, max_monoid: int, max_bytes: int
) -> TransitionMonoid | None:
    if order is not None and order > max_monoid:
        return None
    try:
        return TransitionMonoid.of(automaton, max_size=max_monoid, max_bytes=max_bytes)
    except LimitError as error:
        # the limit of the monoid's own size is this function's `max_monoid`
        notes.append(str(error).removeprefix(f"{automaton.name}: ").replace("`max_size`", "`max_monoid`"))
        return None


def _solvable(automaton: Automaton, monoid: TransitionMonoid | None, max_monoid: int) -> bool | None:
    """Whether all subgroups are solvable; the group of units is generated by the letters that permute."""
    maps = automaton.transitions
    n = len(automaton.states)
    permuting = maps[[len(np.unique(row)) == n for row in maps]]
    units = generates_solvable(distinct_maps(permuting), max_order=max_monoid) if len(permuting) else True
    if len(permuting) == len(maps) or units is False:
        return units
    return subgroups_solvable(monoid) if monoid is not None else None


def _some_period(automaton: Automaton) -> bool:
    """True where a letter or a product of two is found to have a period above 1: then it is not aperiodic."""
    maps = automaton.transitions
    few = maps[: max(1, _SAMPLED_ENTRIES // maps.shape[1])]
    points = np.arange(maps.shape[1])
    if not all_aperiodic(few, points):
        return True
    pairs = few[: max(1, int(np.sqrt(len(few))))]
    return not all_aperiodic(pairs[:, pairs].reshape(-1, len(points)), points)


def _kind(automaton: Automaton) -> str:
    if automaton.is_mealy:
        return "mealy"
    return "acceptor" if all(isinstance(v, bool | np.bool_) for v in automaton.outputs) else "moore"


def _yes(value: bool | None) -> str:
    return "unknown" if value is None else "yes" if value else "no"


def _figure(value: int | None) -> str:
    if value is None:
        return "unknown"
    return f"{value:,}" if value < 10**30 else f"a number of {len(str(value)):,} digits"


def _count(value: int | None, noun: str) -> str:
    return "unknown" if value is None else count_noun(value, noun)
