"""G.T4 with the repaired wiring: a cascade of permutation-reset automata as an LRNN, one layer per level.

A permutation of the points is a product of reflections, a reset erases the state and adds the new point. What a
later component reads is the point *before* the token: the inverse permutation of the new point tells it after a
permutation, and nothing would after a reset. So a head that is read there has a doubled state (u, v): a reset
erases v, exchanges the halves and adds the new point to the upper, and v is then the point before; permutations
act on u and leave v alone, since a reset overwrites it before it is read again.

Integer coordinates for the points of a permutation-reset component: few dimensions, so that resets cost little.

A reset erases every coordinate, one factor each, and writes the new point's. One-hot coordinates (theory: G.T4)
take one a point. Fewer do: each orbit of the component's permutations needs only its own signed permutation
matrices, in half as many dimensions where antipodes can be paired; orbits that the permutations move alike share
coordinates at the scales 1, 2, ...; points that all permutations fix are such orbits of one point, and one of them
stands at 0. A component without permutations is a single number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...foundation._errors import MirrormataError, NotRealisableError
from ...foundation._text import shorten_list
from .._head import Head
from .._lrnn import LRNN, Covering, Layer
from .._realisation import Sparse, Transition
from ..algebra._householder import GHFactor, gh_factor, swap
from ..automata._automaton import Automaton, Indices
from ..heads._assembly import one_code_a_state
from ..heads._representations import signed_permutation_factors
from ._automata import Cascade, CascadeLevel

MOST_LABELS = 8
"""Points that share a coordinate: integers up to 8 are exact in every format."""
MOST_SCALES = 4
"""Orbits of several points that share coordinates: a sign flip doubles what it meets."""
Permutation = tuple[int, ...]


@dataclass(frozen=True)
class Coordinates:
    """Codes of the points: point p stands at `scale[p]·sign[p]` on coordinate `place[p]`, at 0 where `scale[p]` is 0."""

    dim: int
    place: tuple[int, ...]
    sign: tuple[int, ...]
    scale: tuple[int, ...]

    def code(self, point: int, offset: int = 0) -> Sparse:
        """The sparse column of a point, its coordinates moved down by `offset`."""
        value = self.sign[point] * self.scale[point]
        return ((offset + self.place[point], 0, value),) if value else ()

    def factors(self, permutation: Sequence[int]) -> tuple[GHFactor, ...]:
        """The component's permutation as reflections of the coordinates."""
        image, negative = list(range(self.dim)), [0] * self.dim
        for p, q in enumerate(permutation):
            # ±scale at one place, so ±e_i goes to ±e_j
            if self.scale[p]:
                image[self.place[p]] = self.place[q]
                # the sign changes where the two points have different ones
                negative[self.place[p]] = int(self.sign[p] != self.sign[q])
        return signed_permutation_factors(image, negative)


def one_hot(points: int) -> Coordinates:
    """Point p at e_p."""
    return Coordinates(points, tuple(range(points)), (1,) * points, (1,) * points)


def few_coordinates(
    points: int, permutations: Sequence[Permutation], written: Sequence[int], first: int | None = None
) -> Coordinates:
    """Coordinates of small dimension on which the permutations are signed permutation matrices.

    `written`: the points that some letter leads to; those that none does come last among the fixed points, so that
    their places follow from the others' (a certificate's canonical form). `first`: a point that gets 0, or the
    scale 1 and the sign +.
    """
    place, sign, scale = [0] * points, [1] * points, [0] * points
    # the orbit of `first` comes first, and so gets scale 1
    orbits = sorted(_orbits(points, permutations), key=lambda orbit: first not in orbit)
    moved = [orbit for orbit in orbits if len(orbit) > 1]
    fixed = [orbit[0] for orbit in orbits if len(orbit) == 1]
    fixed = sorted(fixed, key=lambda p: (p != first, p not in written))
    for number, p in enumerate(fixed):  # 0, then 1 ... 8 on each coordinate in turn
        place[p], scale[p] = divmod(number - 1, MOST_LABELS) if number else (0, -1)
        scale[p] += 1
    # the point at 0 needs no coordinate
    dim = -(-max(len(fixed) - 1, 0) // MOST_LABELS)
    leaders: list[
        tuple[list[int], int]
    ] = []  # first orbits of their kind, and how many share their coordinates
    for orbit in moved:
        # an orbit that is moved like an earlier one stands on its coordinates at the next scale
        for k, (leader, shared) in enumerate(leaders):
            alike = None if shared == MOST_SCALES else _same_action(leader, orbit, permutations)
            if alike is not None:
                for p, q in alike.items():
                    place[q], sign[q], scale[q] = place[p], sign[p], shared + 1
                leaders[k] = leader, shared + 1
                break
        else:
            antipodes = _antipodes(orbit, permutations)
            for p in orbit:
                scale[p] = 1
                # of two antipodes one has the sign +, the other stands at minus its place
                if antipodes is None or (p == first or (p < antipodes[p] and antipodes[p] != first)):
                    place[p] = dim
                    if antipodes is not None:
                        place[antipodes[p]], sign[antipodes[p]] = dim, -1
                    dim += 1
            leaders.append((orbit, 1))
    return Coordinates(dim, tuple(place), tuple(sign), tuple(scale))


def _orbits(points: int, permutations: Sequence[Permutation]) -> list[list[int]]:
    orbits: list[list[int]] = []
    seen: set[int] = set()
    for p in range(points):
        if p not in seen:
            orbit = [p]
            seen.add(p)
            for q in orbit:
                fresh = [s[q] for s in permutations if s[q] not in seen]
                fresh = list(dict.fromkeys(fresh))
                seen.update(fresh)
                orbit.extend(fresh)
            orbits.append(orbit)
    return orbits


def _same_action(
    first: Sequence[int], second: Sequence[int], permutations: Sequence[Permutation]
) -> dict[int, int] | None:
    """A bijection of two orbits that the permutations commute with; None where there is none."""
    if len(first) != len(second):
        return None
    for image in second:
        found = _extend_to_commuting_map(first[0], image, permutations)
        if found is not None and len(set(found.values())) == len(second):
            return found
    return None


def _antipodes(orbit: Sequence[int], permutations: Sequence[Permutation]) -> dict[int, int] | None:
    """An involution of the orbit without fixed points that the permutations commute with; None if there is none."""
    for image in orbit[1:]:
        found = _extend_to_commuting_map(orbit[0], image, permutations)
        # of the maps that commute with the permutations, an involution that fixes no point
        if found is not None and all(found[q] == p != q for p, q in found.items()):
            return found
    return None


def _extend_to_commuting_map(p: int, q: int, permutations: Sequence[Permutation]) -> dict[int, int] | None:
    """The map of p's orbit that sends p to q and commutes with the permutations; None where that is contradictory."""
    found = {p: q}
    queue = [p]
    for point in queue:
        for s in permutations:
            # commuting with s fixes the image of s(point)
            image, wanted = s[point], s[found[point]]
            if found.setdefault(image, wanted) != wanted:
                return None
            # a point that was not met before
            if len(found) > len(queue):
                queue.append(image)
    return found


CoordinateKind = Literal["few", "one_hot"]
Wiring = Literal["repaired", "printed"]


def cascade_lrnn(
    automaton: Automaton,
    cascade: Cascade,
    *,
    coordinates: CoordinateKind = "few",
    gated: bool = False,
    wiring: Wiring = "repaired",
    theorem: str = "G.T4",
) -> LRNN:
    """Convert the cascade of an automaton to an LRNN, in which all numbers are integers.

    Args:
        automaton: the automaton whose cascade it is.
        cascade: the cascade.
        coordinates: `few` (`few_coordinates`) or `one_hot`.
        gated: whether resets use the gate 0, as in gated DeltaProduct, instead of factors, in heads whose point before
            a reset is never read.
        wiring: `repaired`, or `printed`: later components read the new points, as in the printed proof of G.T4; such
            an LRNN is wrong wherever this matters.
        theorem: the theorem that the result names as its source.
    """
    if not cascade.levels:
        raise NotRealisableError(f"{automaton.name}: one state needs no cascade")
    if len(cascade.levels) == 1:
        return _one_layer(automaton, cascade, coordinates, gated, theorem)
    levels = list(cascade.levels)
    incoming = cascade.letter_of
    layers: list[Layer] = []
    for number, level in enumerate(levels):
        reads = level.reads[incoming].astype(np.int64)
        following = level.next_letter[incoming].astype(np.int64)
        actions = level.action_of[:, incoming].astype(np.int64)
        last = number == len(levels) - 1
        if wiring == "printed" and not last:
            reads, following = _wire_as_printed(level, actions, reads, following)
        heads = []
        for c, table in enumerate(level.actions):
            resets = np.array([level.kind(c, a) == "reset" for a in range(len(table))])
            # a point before a reset is read, which only a second half can tell
            remembered = bool((resets[actions[c]] & (reads == c)).any())
            heads.append(_head(table.astype(np.int64), actions[c], remembered, coordinates, gated))
        if last:
            layers.append(Layer(tuple(heads), reads[:, None], following))
        else:
            incoming, numbered = _renumber_letters(following)
            layers.append(Layer(tuple(heads), reads[:, None], numbered))
    covering = _covering(cascade)
    return LRNN(
        automaton,
        tuple(layers),
        _starts(automaton, cascade, layers),
        theorem,
        _name(cascade, coordinates, gated, wiring),
        (),
        covering,
    )


def _one_layer(
    automaton: Automaton, cascade: Cascade, coordinates: CoordinateKind, gated: bool, theorem: str
) -> LRNN:
    """All letters permute or reset the states: one head, a code for each state.

    The start's code is primitive and not negative, as certificates demand; so that this holds for kept points too,
    each of which may be a start, they are one-hot.
    """
    level, points = cascade.levels[0], cascade.initial[:, 0]
    kind: CoordinateKind = "one_hot" if automaton.keeps_points else coordinates
    table, actions = level.actions[0].astype(np.int64), level.action_of[0, cascade.letter_of]
    head = _head(table, actions, False, kind, gated, int(points[automaton.start]))
    return one_code_a_state(
        automaton,
        head.dim,
        [head.transitions[a] for a in head.action_of(np.arange(len(automaton.letters))).tolist()],
        [head.codes[p] for p in points.tolist()],
        theorem=theorem,
        construction=_name(cascade, coordinates, gated, "repaired"),
    )


def _name(cascade: Cascade, coordinates: CoordinateKind, gated: bool, wiring: Wiring) -> str:
    parts = shorten_list((shorten_list(level.degrees, " ") for level in cascade.levels), "; ")
    extras = [", one-hot"] * (coordinates == "one_hot") + [", resets by gate 0"] * gated
    extras += [", wired as printed"] * (wiring == "printed")
    return f"cascade of permutation-reset automata, points by level {parts}{''.join(extras)}"


def _wire_as_printed(
    level: CascadeLevel, actions: Indices, reads: Indices, following: Indices
) -> tuple[Indices, Indices]:
    """The next letters when the read component's *new* point is taken for the old one."""
    reads, following = reads.copy(), following.copy()
    for letter, c in enumerate(reads.tolist()):
        if c >= 0:
            table = level.actions[c][actions[c, letter]]
            row = following[letter].copy()
            following[letter, : len(table)] = row[table]
            if (table == table[0]).all():
                following[letter, 1:] = -1
                reads[letter] = -1
    return reads, following


def _renumber_letters(following: Indices) -> tuple[Indices, Indices]:
    """The old letters in the order of their first appearance, and the table with the new numbers."""
    flat = following[following >= 0]
    kinds, first = np.unique(flat, return_index=True)
    order = kinds[np.argsort(first)]
    position = np.full(int(following.max(initial=0)) + 1, -1, dtype=np.int64)
    position[order] = np.arange(len(order))
    return order, np.where(following < 0, -1, position[following])


def _head(
    table: Indices,
    actions: Indices,
    remembered: bool,
    coordinates: CoordinateKind,
    gated: bool,
    first: int | None = None,
) -> Head:
    """One component: its distinct actions in the order in which letters first have them; `first`: see `few_coordinates`."""
    kinds, places_of, inverse = np.unique(actions, return_index=True, return_inverse=True)
    # actions in the order in which the letters first have them
    order = np.argsort(places_of)
    position = np.argsort(order)
    rows = [tuple(table[kinds[k]].tolist()) for k in order.tolist()]
    points = len(rows[0])
    permutations = [row for row in rows if len(set(row)) == points and row != tuple(range(points))]
    if coordinates == "one_hot":
        places = one_hot(points)
    else:
        # points that some action leads to from another point
        written = {q for row in rows for p, q in enumerate(row) if p != q}
        places = few_coordinates(points, permutations, sorted(written), first)
    transitions = tuple(_transition(row, places, remembered, gated) for row in rows)
    dim = places.dim
    images = np.array(rows, dtype=np.int64)
    if not remembered:
        codes = tuple(places.code(p) for p in range(points))
        return Head(dim, 1, transitions, codes, images, position[inverse.reshape(-1)])
    pairs: tuple[Sparse, ...] = tuple(
        (*places.code(u), *places.code(v, dim)) for u in range(points) for v in range(points)
    )
    # code (u, v) is number u · points + v
    u, v = np.divmod(np.arange(points * points), points)
    resets = np.array([len(set(row)) == 1 and points > 1 for row in rows])
    # a reset makes v of the old u; what else a letter does leaves v alone
    after = images[:, u] * points + np.where(resets[:, None], u, v)
    return Head(2 * dim, 1, transitions, pairs, after, position[inverse.reshape(-1)], points)


def _transition(row: Sequence[int], places: Coordinates, remembered: bool, gated: bool) -> Transition:
    """One action of a component on its points."""
    if len(set(row)) == len(row):
        # a permutation: reflections; the identity is the empty product
        return Transition(places.factors(row))
    if len(set(row)) > 1:
        raise MirrormataError("cascade: a defect of this program: a component's action is no reset")
    n, additive = places.dim, places.code(row[0])
    if not remembered:
        # H ← 0·H + the new point's code
        if gated:
            return Transition((), 0, additive)
        # n projections erase n coordinates, and the code is added
        return Transition(tuple(gh_factor(1, {i: 1}) for i in range(n)), additive=additive)
    # v erased, then exchanged with u, and the new code added to u, which is 0 by then
    erase = tuple(gh_factor(1, {n + i: 1}) for i in range(n))
    return Transition((*erase, *(swap(i, n + i) for i in range(n))), additive=additive)


def _covering(cascade: Cascade) -> Covering:
    """The chains of image sets, from the set of all points down, numbered breadth first."""
    skeleton = cascade.holonomy
    place = {
        c: (number, head)
        for number, level in enumerate(cascade.levels)
        for head, c in enumerate(level.classes)
    }
    index = {0: 0}
    queue = [0]
    nodes: list[tuple[int, int, tuple[int, ...]] | tuple[int]] = []
    # breadth first, so that nodes are numbered as they are first met
    for current in queue:
        point = int(skeleton.points_of_singletons[current])
        if point >= 0:
            nodes.append((point,))
            continue
        of_class = int(skeleton.class_of[current])
        tiles = skeleton.tile(np.array(current), np.arange(skeleton.classes[of_class].degree)).tolist()
        for tile in tiles:
            if tile not in index:
                index[tile] = len(queue)
                queue.append(tile)
        nodes.append((*place[of_class], tuple(index[tile] for tile in tiles)))
    return Covering(tuple(nodes))


def _starts(automaton: Automaton, cascade: Cascade, layers: Sequence[Layer]) -> Indices:
    """For each state a joint code over it: first tiles that contain it, point 0 where the chain is not."""
    states = [automaton.start, *(q for q in range(len(automaton.states)) if q != automaton.start)]
    heads = [head for layer in layers for head in layer.heads]
    columns = [
        np.array([head.first_code(p) for p in cascade.initial[states, h].tolist()], dtype=np.int64)
        for h, head in enumerate(heads)
    ]
    return np.stack([np.array(states, dtype=np.int64), *columns], axis=1)
