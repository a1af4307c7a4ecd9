"""KR: every finite automaton is a cascade of permutation-reset automata (Krohn and Rhodes)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations_with_replacement, product

import numpy as np

from ...constructions.automata._automaton import Automaton
from ...constructions.cascades._automata import Cascade
from ...constructions.cascades._cascade import cascade
from ...constructions.cascades._emulation import prove_emulation
from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_all_cases

CLAIM = Claim("KR", "Every automaton is a cascade of permutation-reset automata", "exhaustive", seconds=11)


def verify(effort: Effort = QUICK) -> Verdict:
    """Every finite automaton is emulated by a cascade of automata whose letters permute or reset their states.

    Statement: For every transformation semigroup on finitely many points there is a finite cascade of components, each
        letter of which is a permutation or a constant map of the component's own points, and a map from its joint
        states onto the points that every letter of the cascade respects.
    Direction: sufficient
    Hypotheses: A component reads the letter and the old states of the components above it.
    Arithmetic: exact, finite tables
    Source: Krohn and Rhodes 1965; here by the holonomy decomposition (Eilenberg; Egri-Nagy and Nehaniv). For monoids and
        semigroups the strong form of the theorem has a proof in Lean (juanbono/krohn-rhodes-theory, 2026), which was not run
        here; cascades of automata and the holonomy decomposition are not in it
    Method: The holonomy cascade of every automaton of three states and up to two letters (three with full effort) is
        built; each component's letters are looked at, and the emulation is proved for all joint states. The same with
        the columns of one table turned by a place must fail.
    Example:
        >>> print(verify().line())
        holds on 378 cases: no violation, as claimed
    """
    letters = effort.pick(2, 3)
    return check_all_cases(
        CLAIM,
        cases=(cascade(a) for a in three_state_automata(letters)),
        check=failure,
        of=f"automata of 3 states, {letters} letters up to their order",
        broken=(rewire_cascade(cascade(a)) for a in three_state_automata(1)),
        assumptions=(
            "for automata beyond these the theorem is that of the source; each cascade is proved when it is built",
        ),
    )


def three_state_automata(letters: int) -> Iterator[Automaton]:
    """All of them, letters in any order counted once; every state is kept."""
    maps = list(product(range(3), repeat=3))
    for rows in combinations_with_replacement(maps, letters):
        names = tuple("abc"[:letters])
        yield Automaton(
            ("0", "1", "2"), names, np.array(rows), 0, np.zeros(3, dtype=object), keeps_points=True
        )


def failure(built: Cascade) -> str | None:
    """A letter of a component that neither permutes nor resets, or why the cascade does not emulate."""
    for number, level in enumerate(built.levels, start=1):
        for table in level.actions:
            for row in table.tolist():
                if len(set(row)) not in (1, len(row)):
                    return f"level {number}: a letter acts as {row}"
    return prove_emulation(built).failure


def rewire_cascade(built: Cascade) -> Cascade:
    """The last level's table of points, its columns turned by one place."""
    last = built.levels[-1]
    turned = replace(last, next_letter=np.roll(last.next_letter, 1, axis=1))
    return replace(built, levels=(*built.levels[:-1], turned))
