"""H.rank: k factors change a subspace of dimension k at most, and permutations need n - #cycles of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import Any

from ...constructions.construct import Request, construct
from ...constructions.errors import NotRealisableError
from ...constructions.spec import automaton_from_spec
from ..check import check
from ..factors.counts import fewer_than_displaced, is_attained, random_ranks, swaps_needed
from ..planning.bounds import bounds
from ..planning.plan import choose_or_refuse
from ..planning.reached import reached_bounds
from ..spectra.model import model_spectrum
from ..verifying.claim import QUICK, Claim, Effort
from ..verifying.evidence import exhaustive, proved
from ..verifying.further import further
from ..verifying.subject import Subject
from ..verifying.verdict import Verdict

CLAIM = Claim(
    "H.rank", "rank(C_k···C_1 - I) ≤ k, attained by orthogonal maps", "exhaustive", arithmetic="exact"
)
BELOW = {4: 3, 5: 35, 6: 310, 7: 2_674}
"""Permutations of n points for which n - #cycles is less than the number of points moved, less one."""


def verify(effort: Effort = QUICK) -> Verdict:
    """A product of k factors differs from the identity by a matrix of rank at most k.

    Statement: rank(C_k···C_1 - I) ≤ k for factors I - β v vᵀ. So an orthogonal A needs rank(A - I) factors, and as many
        reflections do. A permutation of n points needs n - #cycles.
    Direction: tight
    Hypotheses: No gate other than 1: -I needs no factor with the gate -1.
    Arithmetic: exact
    Source: H; Cartan and Dieudonné for the other direction
    Method: For all permutations of up to six (full: seven) points the rank is computed by elimination and the product of
        n - #cycles swaps by multiplication. With the gate -1 the same check must find violations. Ranks of random
        products. Then S_4 in one layer with one factor is asked for and refused, since a letter of order 3 needs rank 2;
        the certificate goes through the stand-alone checker, and with two factors S_4 is built.
    Example:
        >>> print(verify().line())
        holds on 872 cases: no violation, as claimed
    """
    most = effort.pick(6, 7)
    found = exhaustive(
        CLAIM,
        cases=((image, 1) for image in _all(most)),
        check=_wrong_rank,
        of=f"all permutations of 2 to {most} points",
        broken=((image, -1) for image in _all(most - 1)),
    )
    ranks = [
        max(random_ranks(n, k, effort.pick(50, 1_000), effort.seed)) for n, k in ((3, 1), (4, 2), (5, 3))
    ]
    refused, certificate = refusal("S4", 1)
    return further(
        found,
        {
            "fewer than displaced - 1": (
                {n: fewer_than_displaced(n) for n in BELOW if n <= most},
                {n: BELOW[n] for n in BELOW if n <= most},
            ),
            "largest ranks of 1, 2 and 3 random factors": (ranks, [1, 2, 3]),
            "S_4 in one layer with one factor": (refused, "H.rank"),
            "certificate of the bound": (certificate, "valid"),
            "S_4 in one layer with two": (construct("S4", max_layers=1).householders, 2),
        },
    )


def applies(subject: Subject) -> Verdict | None:
    """How many factors there are beyond rank(A - I) of the letters, head by head, and beyond the automaton's bound."""
    if subject.lrnn is None or subject.lrnn.householders is None:
        return None
    if any(t.gate != 1 for head in subject.lrnn.all_heads for t in head.transitions):
        return None
    heads = model_spectrum(subject.lrnn, name=subject.name).heads
    ranks = [max(letter.reflection_rank for letter in head.letters) for head in heads]
    used = [head.householders for head in subject.lrnn.all_heads]
    least = [b for b in reached_bounds(subject.lrnn) if b.figure == "householders"]
    bound = max((b.at_least for b in least), default=0)
    spare = min(subject.lrnn.householders - bound, *((k or 0) - r for r, k in zip(ranks, used, strict=True)))
    evidence = {
        "says": f"by head: factors {used}, largest rank(A - I) of a letter {ranks}"
        + (f"; the automaton needs {bound} in one layer" if bound else ""),
        "ranks_by_head": ranks,
        "factors_by_head": used,
        "bound": bound,
        "reasons": [b.text for b in least],
    }
    return proved(
        CLAIM,
        computed=spare,
        claimed=0,
        relation=">=",
        evidence=evidence,
        witness=evidence,
        assumptions=tuple(dict.fromkeys(b.hypotheses for b in least)),
    )


def refusal(spec: str, factors: int) -> tuple[str | None, str]:
    """The bound by which one layer with so many factors is refused, and its certificate's verdict; None where it is built."""
    automaton = automaton_from_spec(spec)
    try:
        choose_or_refuse(automaton, Request(max_layers=1, max_householders=factors))
    except NotRealisableError as error:
        by = [b for b in bounds(automaton) if b.text in str(error)]
        return (by[0].reason, check(by[0].certificate()).verdict) if by else (str(error), "none")
    return None, "none"


def _all(most: int) -> Iterator[tuple[int, ...]]:
    for n in range(2, most + 1):
        yield from permutations(range(n))


def _wrong_rank(case: tuple[tuple[int, ...], int]) -> Any:
    image, gate = case
    needed = swaps_needed(image)
    return None if is_attained(image, needed, gate) else {"image": image, "gate": gate, "n - #cycles": needed}
