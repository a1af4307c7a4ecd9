"""Components one below the other as an LRNN of several layers.

A layer's letter tells what its components and those below have to know: it stands for all pairs of an automaton's letter and
states of the components above with which everything from here on goes alike. From the bottom layer up, two such pairs share a
letter if they move the components of this layer by the same letters and, for each joint state of these components, have the
same letter of the next layer, below the last one the same state of the automaton.

The next layer's letter may depend on the states of this layer *before* the token. The new states tell it where letters permute
them; where they do not, a head keeps what it would lose (`remember`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...foundation._errors import LimitError, MirrormataError, NotRealisableError
from .._head import Head
from .._lrnn import LRNN, Layer, pad_rows
from .._realisation import Transition
from ..algebra._congruences import meet_partitions
from ..automata._automaton import Automaton, Indices
from ..heads._remembering import remember
from ._expansions import Expansion, as_it_is
from ._rest import Component

MAX_JOINT = 200_000
"""Most joint states of all heads."""
MAX_ENTRIES = 20_000_000
"""Most entries of the read-outs of a layer, and most steps of joint states by letters."""


def in_series(
    automaton: Automaton,
    components: Sequence[Component],
    *,
    theorem: str,
    construction: str,
    expansion: Expansion | None = None,
) -> LRNN:
    """The LRNN of components that together determine the automaton's state.

    Args:
        automaton: the automaton; its start reaches all its states.
        components: the components, of at least two layers.
        theorem: the theorem that the result names as its source.
        construction: a one-line description of the construction.
        expansion: where the states stand for those of another automaton, which the LRNN realises: the expansion, whose automaton is
            `automaton`.

    Raises:
        NotRealisableError: a state before a token is needed that no head can keep.
        LimitError: there are too many joint states, or a read-out would be too large.
    """
    depth = max(c.level for c in components)
    layers = [[c for c in components if c.level == level] for level in range(1, depth + 1)]
    expansion = expansion or as_it_is(automaton)
    named = expansion.state_of[automaton.transitions]
    letters = _number_letters(automaton, layers, named)
    tracks = []
    for layer, read, following in zip(layers, letters, [*letters[1:], named], strict=True):
        kept = _letters_to_keep(automaton, layer, read, following)
        tracks.append(
            [t for c, wanted in zip(layer, kept, strict=True) for t in _tracks(automaton, c, wanted)]
        )
    rows = _joint_rows(automaton, [t for layer in tracks for t in layer])
    return _assemble(expansion, tracks, [*letters, named], rows, theorem, construction)


def _number_letters(
    automaton: Automaton, layers: Sequence[Sequence[Component]], named: Indices
) -> list[Indices]:
    """For each layer its letter for each letter and state of the automaton, int arrays `[letters, states]`.

    `named`: what the last layer names, in the same form.
    """
    letters, states = automaton.transitions.shape
    following = named
    numbered = [following] * len(layers)
    for i in reversed(range(1, len(layers))):
        keys = _joint_labels([c for layer in layers[:i] for c in layer], states)
        points = _joint_labels(layers[i], states)
        numbers: dict[tuple[object, ...], int] = {}
        here = np.empty((letters, states), dtype=np.int64)
        members = [np.flatnonzero(keys == key) for key in range(int(keys.max()) + 1)]
        for a in range(letters):
            for group in members:
                moved = tuple(int(c.letters[a, group[0]]) for c in layers[i])
                below = frozenset(zip(points[group].tolist(), following[a, group].tolist(), strict=True))
                here[a, group] = numbers.setdefault((moved, below), len(numbers))
        numbered[i] = following = here
    numbered[0] = np.repeat(np.arange(letters)[:, None], states, axis=1)
    return numbered


def _joint_labels(components: Sequence[Component], states: int) -> Indices:
    labels = np.zeros(states, dtype=np.int64)
    for component in components:
        labels = meet_partitions(labels, component.labels)
    return labels


def _letters_to_keep(
    automaton: Automaton, layer: Sequence[Component], read: Indices, following: Indices
) -> list[set[int]]:
    """For each component of a layer its letters after which the state before has to be known, though the new one does not tell it."""
    kept: list[set[int]] = [set() for _ in layer]
    old = np.stack([c.labels for c in layer])
    flat_read, flat_next = read.reshape(-1), following.reshape(-1)
    new = np.stack([c.labels[automaton.transitions].reshape(-1) for c in layer])
    old = np.tile(old, len(automaton.letters))
    order = np.argsort(flat_read, kind="stable")
    ends = np.flatnonzero(np.diff(flat_read[order])) + 1
    for cases in np.split(order, ends):
        targets = flat_next[cases].tolist()
        needed = needed_places(list(zip(*old[:, cases].tolist(), strict=True)), targets)
        if not needed or _is_function(new[needed][:, cases], targets):
            continue
        # all components that are read keep their states, then all but those that need not
        asked = list(needed)
        for i in needed:
            rest = [j for j in asked if j != i]
            told = np.concatenate([new[needed][:, cases], old[rest][:, cases]])
            if _is_function(told, targets):
                asked = rest
        a, q = divmod(int(cases[0]), read.shape[1])
        for i in asked:
            kept[i].add(int(layer[i].letters[a, q]))
    return kept


def _is_function(arguments: Indices, values: Sequence[int]) -> bool:
    """Whether the columns of the arguments `[k, cases]` determine the values."""
    found: dict[tuple[int, ...], int] = {}
    columns = zip(*arguments.tolist(), strict=True)
    return all(found.setdefault(column, y) == y for column, y in zip(columns, values, strict=True))


def needed_places(columns: Sequence[tuple[int, ...]], values: Sequence[int]) -> list[int]:
    """A least set of places of the tuples that determine the values: each is dropped, the last first, if it can be."""
    read = list(range(len(columns[0])))
    for i in reversed(range(len(read))):
        rest = [k for k in read if k != i]
        found: dict[tuple[int, ...], int] = {}
        if all(
            found.setdefault(tuple(c[k] for k in rest), y) == y for c, y in zip(columns, values, strict=True)
        ):
            read = rest
    return read


@dataclass(frozen=True, eq=False)
class _Track:
    """A head of a component: its transition for each letter and state of the automaton, and its initial code."""

    head: Head
    actions: Indices
    initial: int


def _tracks(automaton: Automaton, component: Component, kept: set[int]) -> list[_Track]:
    made, tracks = component.made, []
    for h, head in enumerate(made.only_layer.heads):
        actions = head.action_of(np.arange(len(made.automaton.letters)))
        initial = int(made.decode[0, 1 + h])
        if kept:
            wanted = [False] * len(head.transitions)
            for letter in kept:
                wanted[int(actions[letter])] = True
            keeping = remember(head, initial, wanted)
            if keeping is None:
                raise NotRealisableError(
                    f"{automaton.name}: own.serial: a state of a component is needed that its letters lose; leave `theorem` out"
                )
            head, initial = keeping, 0
        tracks.append(_Track(head, actions[component.letters], initial))
    return tracks


def _joint_rows(automaton: Automaton, tracks: Sequence[_Track]) -> Indices:
    """Rows `[state, codes]` of all joint states, breadth first from the initial one, letters in order."""
    first = [automaton.start, *(track.initial for track in tracks)]
    seen = {tuple(first[1:]): automaton.start}
    frontier = np.array([first], dtype=np.int64)
    blocks = []
    while len(frontier):
        blocks.append(frontier)
        states = frontier[:, 0]
        images = [automaton.transitions[:, states]]
        for t, track in enumerate(tracks):
            images.append(track.head.code_transitions[track.actions[:, states], frontier[None, :, t + 1]])
        after = np.stack(images, axis=2).transpose(1, 0, 2).reshape(-1, len(tracks) + 1)
        fresh = []
        for i, (state, *codes) in enumerate(after.tolist()):
            met = len(seen)
            if seen.setdefault(tuple(codes), state) != state:
                raise MirrormataError(
                    f"{automaton.name}: a defect of this program, please report it: two states have one joint code"
                )
            if len(seen) > met:
                fresh.append(i)
        if len(seen) > MAX_JOINT:
            raise LimitError(f"{automaton.name}: more than {MAX_JOINT:,} joint states; leave `theorem` out")
        frontier = after[fresh]
    return np.concatenate(blocks)


def _assemble(
    expansion: Expansion,
    tracks: Sequence[Sequence[_Track]],
    letters: Sequence[Indices],
    rows: Indices,
    theorem: str,
    construction: str,
) -> LRNN:
    automaton = expansion.base
    every = len(automaton.letters)
    if len(rows) * every > MAX_ENTRIES:
        raise LimitError(
            f"{automaton.name}: own.serial: {len(rows):,} joint states by {every:,} letters; the limit is {MAX_ENTRIES:,} steps"
        )
    states = rows[:, 0]
    decode = rows.copy()
    decode[:, 0] = expansion.state_of[states]
    layers = []
    names = list(range(every))
    column = 1
    for i, layer in enumerate(tracks):
        following = letters[i + 1]
        example = _examples(letters[i])
        heads = []
        codes = np.empty((len(rows), len(layer)), dtype=np.int64)
        for h, track in enumerate(layer):
            used = [int(track.actions[example[name]]) for name in names]
            head, order = _in_order(track.head, used, rows[:, column + h])
            heads.append(head)
            codes[:, h] = decode[:, column + h] = order[rows[:, column + h]]
        column += len(layer)
        # distinct cases (letter of the layer, codes before, what follows)
        cases = np.stack(
            [
                letters[i][:, states],
                *(np.repeat(codes[None, :, h], every, axis=0) for h in range(len(layer))),
                following[:, states],
            ],
            axis=2,
        )
        cases = np.unique(cases.reshape(-1, len(layer) + 2), axis=0)
        of_name: dict[int, list[list[int]]] = {name: [] for name in names}
        for case in cases.tolist():
            of_name[case[0]].append(case[1:])
        reads, table = [], []
        numbers: dict[int, int] = {}
        last = i + 1 == len(tracks)
        for place, name in enumerate(names):
            read, row = _read(automaton, heads, place, of_name[name])
            reads.append(read)
            table.append(row if last else [y if y < 0 else numbers.setdefault(y, len(numbers)) for y in row])
        if sum(len(row) for row in table) > MAX_ENTRIES:
            raise LimitError(
                f"{automaton.name}: own.serial: a read-out has more than {MAX_ENTRIES:,} entries; leave `theorem` out"
            )
        layers.append(Layer(tuple(heads), pad_rows(reads), pad_rows(table)))
        names = list(numbers)
    return LRNN(automaton, tuple(layers), decode, theorem, construction)


def _examples(letters: Indices) -> dict[int, tuple[int, int]]:
    """For each letter of a layer a letter and a state of the automaton with which it occurs."""
    numbers, first = np.unique(letters, return_index=True)
    return {
        int(x): (int(i) // letters.shape[1], int(i) % letters.shape[1])
        for x, i in zip(numbers, first, strict=True)
    }


def _read(
    automaton: Automaton, heads: Sequence[Head], letter: int, cases: Sequence[Sequence[int]]
) -> tuple[list[int], list[int]]:
    """The heads that a letter's read-out reads, and its row, by their codes before; -1 where they do not occur.

    `cases`: what occurs, `[code of each head, ..., what follows]`.
    """
    before, values = [tuple(case[:-1]) for case in cases], [case[-1] for case in cases]
    read = needed_places(before, values)
    moves = [heads[h].code_transitions[int(heads[h].action_of(np.array(letter)))] for h in read]
    new = np.array(
        [[move[c[h]] for c in before] for h, move in zip(read, moves, strict=True)], dtype=np.int64
    )
    if read and not _is_function(new, values):
        raise NotRealisableError(
            f"{automaton.name}: own.serial: the new states of a layer do not tell the next letter; leave `theorem` out"
        )
    sizes = [len(heads[h].codes) for h in read]
    row = [-1] * int(np.prod(sizes, dtype=np.int64))
    for c, y in zip(before, values, strict=True):
        place = 0
        for h, size in zip(read, sizes, strict=True):
            place = place * size + c[h]
        row[place] = y
    return read, row


def _in_order(head: Head, used: Sequence[int], reached: Indices) -> tuple[Head, Indices]:
    """The head with transitions in the order of the layer's letters, and codes in the order in which they are reached.

    Args:
        head: a head.
        used: its transition for each letter of the layer.
        reached: the codes of the joint states, in order.

    Returns:
        The head, whose equal transitions are one, and the new number of each code.
    """
    kinds: dict[Transition, int] = {}
    actions = [kinds.setdefault(head.transitions[t], len(kinds)) for t in used]
    kept = [used[actions.index(k)] for k in range(len(kinds))]
    order = list(dict.fromkeys(reached.tolist()))
    known = set(order)
    for c in order:  # grows while it is read
        for image in head.code_transitions[kept, c].tolist():
            if image not in known:
                known.add(image)
                order.append(image)
    position = np.full(len(head.codes), -1, dtype=np.int64)
    position[order] = np.arange(len(order))
    table = position[head.code_transitions[kept][:, order]]
    codes = tuple(head.codes[c] for c in order)
    return Head(
        head.dim, head.value_dim, tuple(kinds), codes, table, np.array(actions, dtype=np.int64)
    ), position
