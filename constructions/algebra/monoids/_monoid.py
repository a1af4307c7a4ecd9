"""`TransitionMonoid`: all maps of the states that words induce, each with a shortest word.

Few points whose images determine a word's action on all points.

Powers of maps: index, period, aperiodicity, for many maps at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ....foundation._errors import LimitError
from ...automata._automaton import Automaton, Indices, Label, breadth_first
from ..groups._permutations import distinct_maps, monogenic_size
from ._generation import GeneratedMaps, Maps, generate_maps


def determining_points(maps: Indices, start: int = 0, *, max_failures: int = 32) -> Indices:
    """Points B such that words over `maps` `[letters, points]` that agree on B agree everywhere; `start` first.

    If a map phi commutes with every letter then w(phi(b)) = phi(w(b)): the image of b determines that of phi(b).
    In a regular representation (a group's word problem, a monoid acting on itself) one point is enough. After
    `max_failures` points for which no such phi exists the search stops and all points left are kept, which is
    never wrong.
    """
    points = maps.shape[1]
    covered = np.zeros(points, dtype=bool)
    base: list[int] = []
    failures = 0
    for b in [start, *range(points)]:
        if covered[b]:
            continue
        base.append(b)
        covered[b] = True
        if failures >= max_failures:
            continue
        tree = _spanning_tree(maps, b)
        commuting: list[Indices] = []
        known = covered.copy()
        for target in range(points):
            if failures >= max_failures:
                break
            if known[target]:
                continue
            phi = _commuting_map(maps, tree, b, target)
            if phi is None:
                failures += 1
                continue
            commuting.append(phi)
            known[breadth_first(np.array(commuting), b)] = True
            known[target] = True
        covered |= known
    return np.array(base, dtype=np.int64)


Tree = list[tuple[Indices, Indices, Indices]]


def _spanning_tree(maps: Indices, root: int) -> Tree:
    """Levels `(points, their parents, the letters that lead there)`, breadth first."""
    letters, points = maps.shape
    seen = np.zeros(points, dtype=bool)
    seen[root] = True
    frontier = np.array([root], dtype=np.int64)
    levels: Tree = []
    while frontier.size:
        images = maps[:, frontier].T.reshape(-1)
        new = np.flatnonzero(~seen[images])
        _, first = np.unique(images[new], return_index=True)
        places = new[np.sort(first)]
        parents, frontier = frontier[places // max(letters, 1)], images[places]
        seen[frontier] = True
        if frontier.size:
            levels.append((frontier, parents, places % letters))
    return levels


def _commuting_map(maps: Indices, tree: Tree, root: int, target: int) -> Indices | None:
    """The map on the points reachable from `root` that sends `root` to `target` and commutes with all letters.

    Points out of reach are left in place. None where there is no such map.
    """
    phi = np.arange(maps.shape[1], dtype=np.int64)
    phi[root] = target
    for level, parents, letters in tree:
        phi[level] = maps[letters, phi[parents]]
    reached = np.concatenate([np.array([root]), *(level for level, _, _ in tree)])
    for block in (maps[:1], maps[1:]):
        if not np.array_equal(phi[block[:, reached]], block[:, phi[reached]]):
            return None
    return phi


_ENTRIES_AT_ONCE = 1 << 22


def index_and_period(maps: NDArray[np.integer], base: Indices) -> tuple[Indices, Indices]:
    """Least i and p >= 1 with f^(i+p) = f^i, for each row f of `maps` `[maps, points]`: two arrays `[maps]`.

    `base`: points such that powers of f that agree there agree everywhere (all points are always right).
    f^0 is the identity, so a permutation has index 0 and its order as period.
    """
    index = np.zeros(len(maps), dtype=np.int64)
    period = np.ones(len(maps), dtype=np.int64)
    for part, rows, high in _high_powers(maps):
        count, points = rows.shape
        recurrent = np.zeros((count, points), dtype=bool)
        np.put_along_axis(recurrent, high.astype(np.int64), True, axis=1)
        current = np.broadcast_to(base, (count, len(base))).copy()
        row = np.arange(count)[:, None]
        tails = np.zeros(count, dtype=np.int64)
        active = np.arange(count)
        while True:
            active = active[~recurrent[active[:, None], current[active]].all(axis=1)]
            if not active.size:
                break
            current[active] = rows[active[:, None], current[active]]
            tails[active] += 1
        index[part] = tails
        period[part] = _cycle_lcm(rows, high[row, base].astype(np.int64))
    return index, period


def all_aperiodic(maps: NDArray[np.integer], base: Indices) -> bool:
    """True where every row f of `maps` `[maps, points]` has f^n = f^(n+1) for some n."""
    for _, rows, high in _high_powers(maps):
        images = high[:, base].astype(np.int64)
        if (np.take_along_axis(rows, images, axis=1) != images).any():
            return False
    return True


def _high_powers(
    maps: NDArray[np.integer],
) -> Iterator[tuple[slice, NDArray[np.integer], NDArray[np.integer]]]:
    """Blocks of rows with a power of each that is at least the number of points: its image is recurrent."""
    points = maps.shape[1]
    step = max(1, _ENTRIES_AT_ONCE // points)
    for begin in range(0, len(maps), step):
        part = slice(begin, min(begin + step, len(maps)))
        high = maps[part]
        for _ in range(max(1, (points - 1).bit_length())):
            high = np.take_along_axis(high, high.astype(np.int64), axis=1)
        yield part, maps[part], high


def _cycle_lcm(rows: NDArray[np.integer], starts: Indices) -> Indices:
    """Least common multiple of the lengths of the cycles through the recurrent points `starts` `[maps, base]`."""
    result = np.ones(len(rows), dtype=np.int64)
    row, column = np.divmod(np.arange(starts.size), starts.shape[1])
    home = starts[row, column]
    current = rows[row, home].astype(np.int64)
    length = 1
    while row.size:
        back = current == home
        closed = np.unique(row[back])
        result[closed] = np.lcm(result[closed], length)
        row, home, current = row[~back], home[~back], current[~back]
        current = rows[row, current].astype(np.int64)
        length += 1
    return result


MAX_MONOID = 1_000_000
MAX_MONOID_BYTES = 1 << 31


@dataclass(frozen=True, eq=False)
class TransitionMonoid:
    """The transition monoid of an automaton, including the identity, with elements in the order of shortest words.

    Element 0 is the identity (the empty word); shorter words come first, and the order of the letters decides among words of equal length. The
    product of i and j is "i, then j", as words are read left to right.

    Attributes:
        automaton: the automaton.
        generated: the maps, and the words that lead to them.
    """

    automaton: Automaton
    generated: GeneratedMaps

    @classmethod
    def of(
        cls, automaton: Automaton, *, max_size: int = MAX_MONOID, max_bytes: int = MAX_MONOID_BYTES
    ) -> TransitionMonoid:
        """List the elements of the transition monoid.

        Args:
            automaton: the automaton.
            max_size: the largest number of elements.
            max_bytes: the largest amount of memory for their table, in bytes.

        Raises:
            LimitError: the monoid is larger than one of the limits; the message has the figure.
        """

        def stop(figure: int, why: str) -> LimitError:
            if why == "elements":
                return LimitError(
                    f"{automaton.name}: the transition monoid has more than {figure:,} elements, the limit; "
                    "raise it with `max_size`"
                )
            return LimitError(
                f"{automaton.name}: listing the transition monoid stopped at {figure:,} elements on "
                f"{len(automaton.states):,} states: they fill the {max_bytes >> 20:,} MiB allowed "
                "(`max_bytes`; `max_size` limits only their number)"
            )

        letters = distinct_maps(automaton.transitions)
        if len(letters) == 1 and monogenic_size(letters[0]) > max_size:
            raise LimitError(
                f"{automaton.name}: the transition monoid has {monogenic_size(letters[0]):,} elements, more than "
                f"the limit of {max_size:,}; raise it with `max_size`"
            )
        base = determining_points(automaton.transitions, automaton.start)
        generated = generate_maps(
            automaton.transitions, base, max_size=max_size, max_bytes=max_bytes, stop=stop
        )
        return cls(automaton, generated)

    @property
    def size(self) -> int:
        """The number of elements, including the identity."""
        return self.generated.size

    @property
    def elements(self) -> Maps:
        """Images `[size, states]`: `elements[i, q]` is the state to which element i sends state q."""
        return self.generated.elements

    @property
    def right(self) -> NDArray[np.int32]:
        """Right Cayley table `[size, letters]`: element i, then letter x."""
        return self.generated.right

    def word(self, element: int) -> tuple[Label, ...]:
        """The first shortest word that induces an element.

        Args:
            element: index of an element.
        """
        word = []
        while element:
            word.append(self.automaton.letters[int(self.generated.last_letters[element])])
            element = int(self.generated.parents[element])
        return tuple(word[::-1])

    def element(self, word: str | tuple[Label, ...] | list[Label]) -> int:
        """Find the element that a word induces.

        Args:
            word: labels of letters; a string is read as letters of one character each.
        """
        current = 0
        for x in self.automaton.word(word):
            current = int(self.right[current, x])
        return current

    def find(self, maps: NDArray[np.integer]) -> Indices:
        """Find the index of each map; -1 if it is not an element.

        Args:
            maps: maps of the states, int array `[..., states]`.
        """
        return self.generated.find(np.asarray(maps))

    def product(self, first: Indices | int, second: Indices | int) -> Indices:
        """Index of "first, then second"; arrays of indices broadcast.

        Args:
            first: indices of elements.
            second: indices of elements; they broadcast with `first`.
        """
        i, j = np.broadcast_arrays(np.asarray(first), np.asarray(second))
        return self.generated.find_by_base(
            self.elements[j[..., None], self.elements[i[..., None], self.generated.base]]
        )

    @cached_property
    def idempotents(self) -> Indices:
        """Indices of the elements e with ee = e."""
        images = self.elements[:, self.generated.base]
        twice = np.take_along_axis(self.elements, images.astype(np.int64), axis=1)
        return np.flatnonzero((twice == images).all(axis=1))

    @cached_property
    def resets(self) -> Indices:
        """Indices of the constant maps (for one state: the identity)."""
        return np.flatnonzero((self.elements == self.elements[:, :1]).all(axis=1))

    @cached_property
    def index_and_period(self) -> tuple[Indices, Indices]:
        """Least i, p with f^(i+p) = f^i for each element f, two arrays `[size]`; in a group p is the order."""
        return index_and_period(self.elements, self.generated.base)

    @cached_property
    def is_group(self) -> bool:
        """True where every letter permutes the states."""
        return self.automaton.is_permutation

    @cached_property
    def is_aperiodic(self) -> bool:
        """True where every subgroup is trivial: the tracked languages are star-free (Schützenberger)."""
        return all_aperiodic(self.elements, self.generated.base)

    @cached_property
    def is_commutative(self) -> bool:
        """True where all letters commute."""
        return letters_commute(self.automaton, self.generated.base)

    @property
    def has_resets(self) -> bool:
        """True where some word sends all states to one."""
        return bool(self.resets.size)

    @property
    def is_synchronising(self) -> bool:
        """The same as `has_resets`; `monoid_synchronising` decides it without the monoid."""
        return self.has_resets

    def reset_word(self) -> tuple[Label, ...] | None:
        """A shortest word that sends all states to one, or None."""
        return self.word(int(self.resets[0])) if self.has_resets else None


def letters_commute(automaton: Automaton, base: Indices | None = None) -> bool:
    """Decide whether xy = yx for all letters x and y, that is, whether the monoid is commutative, without listing it.

    Args:
        automaton: the automaton.
        base: indices of states on which it suffices to compare xy and yx, such as states that generate the rest; None for all
            states.
    """
    maps = automaton.transitions
    points = determining_points(maps, automaton.start) if base is None else base
    at_base = maps[:, points]
    return all(np.array_equal(maps[:, row[points]], row[at_base]) for row in maps)
