"""own.covers: representations c·O of degree 2, as two heads for c and O that represent a cover of the group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...constructions.algebra.groups._actions import transitive_action
from ...constructions.algebra.groups._finite_group import FiniteGroup
from ...constructions.algebra.groups._induced import InducedPlane, induced_planes
from ...constructions.automata._automaton import Automaton
from ...constructions.automata._completing import object_array
from ...constructions.heads._assembly import assemble
from ...constructions.heads._candidates import HeadSearch
from ...constructions.theorems.own_covers import cover_candidate
from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_all_cases
from ._parts import defect

CLAIM = Claim(
    "own.covers",
    "A representation of degree 2 induced from a subgroup of index 2: two heads of dimension 2 with two factors",
    "exhaustive",
    uses=("H.rank", "DP.T4"),
    seconds=6,
)


@dataclass(frozen=True)
class Case:
    """The quotient of a group by the kernel of a representation c·O, and whether the head for c is kept."""

    automaton: Automaton
    letters: tuple[int, ...]
    plane: InducedPlane
    with_scalars: bool = True


def verify(effort: Effort = QUICK) -> Verdict:
    """The heads for c and for O, side by side, tell the elements of the group apart up to the kernel of c·O.

    Statement: Let a linear character of a subgroup of index 2 induce the representation ρ of a finite group G. Then ρ(x) = c(x)·O(x) with
        roots of unity c and matrices O in O(2), both determined up to one common sign. Whatever signs the letters are given, a
        head that acts by O and one that acts by c, side by side, are one layer for G/ker ρ, with two factors a letter and dimension
        2 each. Hence the generalised quaternion groups and all dicyclic ones, the semidihedral and the modular groups of order 2^n, and
        the Pauli group take two factors. So do groups that several such representations and isometries of the plane or of space
        tell apart, such as products of them.
    Direction: sufficient
    Hypotheses: A finite group; the read-out sees the codes of both heads.
    Arithmetic: exact, in Q(2cos 2π/N); integers where O are symmetries of a square and c fourth roots of 1
    Source: ours; the matrices are those of induced representations (Frobenius 1898)
    Method: All groups ⟨a, b | aⁿ = 1, b^k = a^s, bab⁻¹ = a^r⟩ of even k up to an order. For each representation that needs a cover,
        in each quotient by a kernel and with all elements as letters, the stand-alone checker checks the layer. Without the head for c
        it must fail.
    Example:
        >>> print(verify().line())
        holds on 37 cases: no violation, as claimed
    """
    most = effort.pick(32, 64)
    cases = list(list_cases(most))
    return check_all_cases(
        CLAIM,
        cases=cases,
        check=find_defect,
        of=f"the covers of quotients of metacyclic groups up to order {most}",
        broken=[Case(c.automaton, c.letters, c.plane, with_scalars=False) for c in cases],
    )


def find_defect(case: Case) -> str | None:
    """What is wrong with the two heads of a case, by the checker."""
    candidate = cover_candidate(case.plane, np.array(case.letters), in_integers=False)
    plans = candidate.plans((0,))
    made = assemble(
        case.automaton,
        plans if case.with_scalars else plans[:1],
        theorem="own.covers",
        construction=candidate.name,
    )
    if made is None:
        return "a joint state stands for two elements"
    if (made.householders or 0) > 2 or made.dim != 2:
        return f"{made.householders} factors in dimension {made.dim}"
    return defect(made)


def list_cases(most: int) -> Iterator[Case]:
    """The covers of the metacyclic groups with at most so many elements, in the quotients by their kernels."""
    for n in range(2, most // 2 + 1):
        for k in range(2, most // n + 1, 2):
            for r in range(2, n):
                for s in range(n):
                    if pow(r, k, n) == 1 and s * (r - 1) % n == 0:
                        yield from _cases_of(_metacyclic(n, k, r, s))


def _cases_of(group: FiniteGroup) -> Iterator[Case]:
    action = transitive_action(group.word_problem())
    for plane in induced_planes(action, HeadSearch(action).abelian):
        classes = plane.classes
        letters = action.quotient(classes)
        size = letters.shape[1]
        names = tuple(range(size))
        # one letter for each element of the quotient
        chosen = np.unique(classes[action.letters[:, 0]], return_index=True)[1]
        automaton = Automaton(names, names, letters[chosen], 0, object_array(names), group.name)
        yield Case(automaton, tuple(action.letters[chosen, 0].tolist()), plane)


def _metacyclic(n: int, k: int, r: int, s: int) -> FiniteGroup:
    """The elements a^i b^j, as i + nj."""
    i, j = np.arange(n * k) % n, np.arange(n * k) // n
    powers = np.array([pow(r, e, n) for e in range(k)])
    # a^i b^j a^u b^v = a^{i + r^j u} b^{j + v}, and b^k = a^s
    high = j[:, None] + j
    low = i[:, None] + powers[j][:, None] * i + np.where(high >= k, s, 0)
    name = f"aⁿ = 1, b^k = a^s, bab⁻¹ = a^r for n, k, r, s = {n}, {k}, {r}, {s}"
    return FiniteGroup(name, tuple(range(n * k)), low % n + n * (high % k))
