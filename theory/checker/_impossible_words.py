"""The language side of a certificate of impossibility: the automaton, and the first two words that are confused.

Standard library only; used by `impossible.py`, where the canonical choice is described.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, TypeAlias

from ._exact import array, integer, need, record, same

State: TypeAlias = dict[tuple[int, int], Fraction]

MAX_PAIRS = 2_000_000  # of states, in search of suffixes


class Language:
    """The automaton: `delta[letter][state]`, start 0, and an output for each state, or letter and state before it."""

    def __init__(self, data: Any, labels: Any) -> None:
        record(data, {"transitions", "sources", "outputs", "members"}, "automaton")
        n, k = len(labels["states"]), len(labels["letters"])
        need(n > 0 and k > 0, "automaton: no states or letters")
        self.delta = array(data["transitions"], "automaton.transitions", k)
        for x, row in enumerate(self.delta):
            sources: list[list[int]] = [[] for _ in range(n)]
            for q, after in enumerate(array(row, "automaton.transitions", n)):
                sources[integer(after, 0, n - 1, "automaton.transitions")].append(q)
            said = array(data["sources"], "automaton.sources", k)[x]
            need(
                same(said, sources), "automaton.sources: not the states that each letter takes to each state"
            )
        self.outputs = array(data["outputs"], "automaton.outputs")
        self.mealy = bool(self.outputs) and type(self.outputs[0]) is list
        array(self.outputs, "automaton.outputs", k if self.mealy else n)
        flat = (
            [o for row in self.outputs for o in array(row, "automaton.outputs", n)]
            if self.mealy
            else self.outputs
        )
        # outputs are numbered as they first appear, and their places listed
        members: list[list[int]] = []
        for place, o in enumerate(flat):
            if integer(o, 0, len(members), "automaton.outputs") == len(members):
                members.append([])
            members[o].append(place)
        need(same(data["members"], members), "automaton.members: not the places of each output")
        need(
            len(members) == len(labels["outputs"]),
            "labels.outputs: too many or too few",
        )
        self.known: dict[tuple[int, int], list[int] | None] = {}
        self.followed = 0

    def after(self, q: int, word: Iterable[int]) -> int:
        """The state that a word leads to."""
        for x in word:
            q = self.delta[x][q]
        return q

    def suffix(self, p: int, q: int, letter_differs: bool) -> list[int] | None:
        """The first word after which the outputs differ; None if there is none."""
        # equal states answer alike after every word
        if p == q:
            return None
        # z may be empty for outputs on states, if the last letters are the same: a read-out may see them
        if not letter_differs and not self.mealy and self.outputs[p] != self.outputs[q]:
            return []
        if (p, q) not in self.known:
            self.known[p, q] = self.search(p, q)
        return self.known[p, q]

    def search(self, p: int, q: int) -> list[int] | None:
        """The first non-empty word after which the outputs differ, by breadth; the pairs met have none either if it has none."""
        queue: list[tuple[int, int, tuple[Any, ...] | None]] = [(p, q, None)]
        seen = {(p, q)}
        # breadth first by pairs, so the first split found is the shortest, least word
        for a, b, path in queue:
            for x, row in enumerate(self.delta):
                c, d = row[a], row[b]
                split = (
                    self.outputs[x][a] != self.outputs[x][b]
                    if self.mealy
                    else self.outputs[c] != self.outputs[d]
                )
                # the letters on the way here, from the last to the first
                if split:
                    word = [x]
                    while path:
                        word.append(path[0])
                        path = path[1]
                    return word[::-1]
                # equal states never split; a pair met before has been tried
                if c != d and (c, d) not in seen:
                    seen.add((c, d))
                    queue.append((c, d, (x, path)))
                    self.followed += 1
                    need(
                        self.followed <= MAX_PAIRS,
                        f"automaton: more than {MAX_PAIRS:,} pairs of states to compare",
                    )
        # the pairs met lead only to one another, so none of them ever splits
        self.known.update(dict.fromkeys(seen))
        return None


def first_pair(
    language: Language, prefix: list[int], loop: list[int], states: list[list[State]]
) -> tuple[int, int, list[int]] | None:
    """The least j, for it the least i, and z.

    Of equal states only the first at each state of the automaton can be the least i; i = 0 may differ in its last letter.
    """
    q = [language.after(0, prefix)]
    for _ in states[1:]:
        q.append(language.after(q[-1], loop))
    # of each joint state the first index at each state of the automaton
    places: dict[Any, dict[int, int]] = {}
    for j, joint in enumerate(states):
        same_state = places.setdefault(tuple(frozenset(state.items()) for state in joint), {})
        for i in same_state.values():
            # u v^0 ends with u's last letter, all others with v's
            letter_differs = i == 0 and prefix[-1:] != loop[-1:]
            z = language.suffix(q[i], q[j], letter_differs)
            if z is not None:
                return i, j, z
        # index 0 has a place of its own (-1), as its last letter may differ where the state does not
        same_state.setdefault(q[j] if j else -1, j)
    return None


def first_cast_pair(
    language: Language, loop: list[int], states: list[list[State]]
) -> tuple[int, int, list[int]] | None:
    """The least j, and the least i ≥ 1, with equal states and different outputs."""
    q, outputs = 0, [-1]
    for _ in states[1:]:
        after = language.delta[loop[0]][q]
        outputs.append(language.outputs[loop[0]][q] if language.mealy else language.outputs[after])
        q = after
    first: dict[
        Any, int
    ] = {}  # all before j that are equal have the same output, or there would have been a pair
    for j in range(1, len(states)):
        i = first.setdefault(tuple(frozenset(state.items()) for state in states[j]), j)
        if outputs[i] != outputs[j]:
            return i, j, []
    return None
