"""G.S32: which automaton computes the product m_1·m_2···m_t of a group."""

from __future__ import annotations

from itertools import product
from typing import Literal

import numpy as np

from ...constructions._spec import automaton_from_spec
from ...constructions.automata._automaton import Indices
from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_all_cases

CLAIM = Claim(
    "G.S32",
    "The word problem's automaton: δ(y, m) = y·m for the product m_1·m_2···m_t",
    "exhaustive",
    formal=("Permutations.word_problem_right", "Permutations.word_problem_left"),
)

Side = Literal["left", "right"]
GROUPS = ("S3", "Q8", "dihedral:5", "A4")


def verify(effort: Effort = QUICK) -> Verdict:
    """The automaton that multiplies on the right of its state computes the product of the letters as they are written.

    Statement: Let the states and the letters be the elements of a group, and start at the identity. With δ(y, m) = y·m
        the state after m_1 m_2 … m_t is m_1·m_2···m_t; with δ(y, m) = m·y it is m_t···m_2·m_1. The two agree on all
        words only in abelian groups.
    Direction: tight
    Hypotheses: None; that the group is not abelian is what tells the two apart.
    Arithmetic: exact, finite tables
    Source: G, section 3.2
    Method: All words of three letters over some groups that are not abelian: the state of the word problem's automaton,
        right product, is compared with the product. The left product's automaton goes through the same check.
    Example:
        >>> print(verify().line())
        holds on 4 cases: no violation, as claimed
    """
    names = effort.pick(GROUPS, (*GROUPS, "S4"))
    cases: list[tuple[str, Side]] = [(name, "right") for name in names]
    broken: list[tuple[str, Side]] = [(name, "left") for name in names]
    return check_all_cases(
        CLAIM,
        cases=cases,
        check=wrong_word,
        of=f"the groups {', '.join(names)}, all words of three letters",
        broken=broken,
    )


def tables(group: str, side: Side) -> tuple[Indices, Indices, list[str]]:
    """δ `[letter, state]` with that product, the group's own product `[g, h]`, and the elements; one numbering."""
    machine, left = automaton_from_spec(group, product=side), automaton_from_spec(group, product="left")
    names = [str(letter) for letter in left.letters]
    places = [machine.state_index(letter) for letter in left.letters]
    number = np.argsort(places)
    delta = number[machine.transitions[[machine.letter_index(x) for x in left.letters]]][:, places]
    own = [left.state_index(letter) for letter in left.letters]
    return delta, np.argsort(own)[left.transitions][:, own], names


def wrong_word(case: tuple[str, Side]) -> dict[str, str] | None:
    """A shortest word of up to three letters whose state is not the product m_1·m_2···m_t."""
    group, side = case
    delta, times, names = tables(group, side)
    identity = int(np.flatnonzero((times == np.arange(len(times))).all(axis=1))[0])
    for length in (2, 3):
        for word in product(range(len(names)), repeat=length):
            state, right = identity, identity
            for m in word:
                state, right = int(delta[m, state]), int(times[right, m])
            if state != right:
                text = {"group": group, "word": " ".join(names[m] for m in word)}
                return {**text, "state": names[state], "product": names[right]}
    return None
