"""own.serial: components below each other, the first a quotient, the others reading the letter and the class before it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...constructions.algebra._congruences import number_classes
from ...constructions.automata._automaton import Automaton, Indices
from ...constructions.automata._completing import object_array
from ...constructions.theorems._construction import Problem
from ...constructions.theorems._in_series import in_series
from ...constructions.theorems._rest import Component, Components
from ...constructions.theorems._serial_search import SerialSearch
from ...foundation._errors import MirrormataError, NotRealisableError
from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_random_cases
from ._parts import defect

CLAIM = Claim(
    "own.serial", "A quotient first, then what tells the states of its classes apart: few layers", "supported", seconds=5
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """An automaton, the labels of the components that it was made of, and whether the construction may choose others."""

    automaton: Automaton
    labels: tuple[Indices, ...]
    chooses: bool


def verify(effort: Effort = QUICK) -> Verdict:
    """Components that follow labels of the states, each in one layer, are an LRNN of as many layers as read each other.

    Statement: Let labels l_1, …, l_k of the states of an automaton be such that together they determine the state, and that for every
        letter a, the labels l_1, …, l_i of q determine those of δ(q, a), for every i. Then l_i moves by a map that depends on a and
        l_1, …, l_{i-1} alone; it need only be right on the labels that occur with these. If for each i the automaton of these maps,
        extended to all labels in any way, has a linear RNN of one layer whose letters that merge states are signed partial
        permutations, then the automaton has a linear RNN whose layers are these, those that do not read each other side by side. A
        state that a letter merges, and that is read below, is kept in as many further rows as coordinates are lost, by as many
        factors more.
    Direction: sufficient
    Hypotheses: The start reaches every state. Deeper layers read the letter of the layer above and its new state.
    Arithmetic: exact; the numbers are those of the components
    Source: ours, from the classical serial decomposition of automata by partitions with the substitution property (Hartmanis and
        Stearns 1966)
    Method: Random cascades of two or three automata of permutations and resets, of steps along a path, or of partial injections with a
        sink, of which each reads the letter and the states above it; their states in a random order. With these components, or with
        others that the construction chooses itself, the stand-alone checker compares all joint states under all letters with the
        automaton, and reads what a layer passes on from its new state. Without the last component it must fail.
    Example:
        >>> print(verify().line())
        supported by 30 instances: no violation, as claimed
    """
    return check_random_cases(
        CLAIM,
        effort,
        count=effort.pick(30, 300),
        draw=draw_cascade,
        broken=draw_fewer,
        check=find_defect,
    )


def find_defect(case: Case) -> str | None:
    """What is wrong with the layers of a case, by the checker; or why there are none."""
    components = _chosen(case) if case.chooses else None
    if components is None:
        search = Components(Problem(case.automaton), "any")
        first = search.quotient(case.labels[0])
        if first is None:
            return "the quotient has no layer"
        components = [first]
        for labels in case.labels[1:]:
            component = search.rest(labels, components)
            if component is None:
                return "a component has no layer"
            components.append(component)
    try:
        made = in_series(case.automaton, components, theorem="own.serial", construction="drawn")
    except MirrormataError as error:
        return str(error)
    if not 1 < made.depth == max(c.level for c in components):
        return f"{made.depth} layers"
    return defect(made)


def _chosen(case: Case) -> list[Component] | None:
    """The components of the construction's own choice, if it makes one of several layers."""
    try:
        plan = SerialSearch(Problem(case.automaton)).plan()
    except NotRealisableError:
        return None
    return None if plan.price[0] == 1 else sorted(plan.components, key=lambda c: c.level)


def draw_cascade(generator: np.random.Generator) -> Case:
    """Two or three components, each of which reads the states of those above; the start reaches all tuples of states."""
    while True:
        case = _draw_tuples(generator)
        if case is not None and len(case.automaton.reachable()) == len(case.automaton.states):
            return case


def draw_fewer(generator: np.random.Generator) -> Case:
    """A cascade without its last component."""
    case = draw_cascade(generator)
    return Case(case.automaton, case.labels[:-1], chooses=False)


def _draw_tuples(generator: np.random.Generator) -> Case | None:
    letters = int(generator.integers(2, 4))
    sizes = generator.integers(2, 4, size=int(generator.integers(2, 4))).tolist()
    keys = np.zeros(1, dtype=np.int64)  # the number of the tuple of states above, for each tuple
    labels: list[Indices] = []
    after: list[Indices] = []
    for size in sizes:
        maps = _draw_maps(generator, size, letters * len(keys)).reshape(letters, len(keys), size)
        if labels and (maps == maps[:, :1]).all():
            return None  # it would not read the states above
        labels = [np.repeat(row, size) for row in labels]
        after = [np.repeat(row, size, axis=1) for row in after]
        labels.append(np.tile(np.arange(size), len(keys)))
        after.append(maps.reshape(letters, -1))
        keys = np.arange(len(keys) * size)
    states = len(keys)
    moved = np.zeros((letters, states), dtype=np.int64)
    for size, row in zip(sizes, after, strict=True):
        moved = moved * size + row
    place = generator.permutation(states)  # the state of each tuple
    table = np.empty_like(moved)
    table[:, place] = place[moved]
    tuple_of = np.argsort(place)
    automaton = Automaton(
        tuple(range(states)), tuple("abc"[:letters]), table, int(generator.integers(states)),
        object_array(q == 0 for q in range(states)), "drawn",
    )  # fmt: skip
    numbered = tuple(number_classes(row[tuple_of]) for row in labels)
    return Case(automaton, numbered, bool(generator.integers(2)))


def _draw_maps(generator: np.random.Generator, size: int, count: int) -> Indices:
    """So many permutations and resets, steps along a path, or partial injections whose sink is state 0."""
    states = np.arange(size)
    kind = int(generator.integers(3))
    rows = []
    for _ in range(count):
        if kind == 0:
            rows.append(np.clip(states + int(generator.integers(-1, 2)), 0, size - 1))
        elif kind == 1:
            reset = bool(generator.integers(2))
            rows.append(np.full(size, generator.integers(size)) if reset else generator.permutation(size))
        else:
            image = np.append(0, 1 + generator.permutation(size - 1))
            rows.append(np.where(generator.integers(3, size=size) == 0, 0, image))
    return np.array(rows, dtype=np.int64)
