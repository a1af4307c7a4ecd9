"""H.rank: k factors change a subspace of dimension k at most, and permutations need n - #cycles of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np

from ...constructions._construct import Request, construct
from ...constructions._spec import automaton_from_spec
from ...constructions.algebra._householder import GHFactor, gh_factor, permutation_factors, product_of
from ...constructions.algebra._matrices import divide
from ...constructions.algebra.groups._permutations import cycle_lengths
from ...foundation._errors import NotRealisableError
from .._check import check
from .._verdict import Verdict
from ..planning._bounds import bounds, reached_bounds
from ..planning._plan import choose_or_refuse
from ..spectra._eigenvalues import Spectrum
from ..spectra._matrix import ExactMatrix, exact_matrix
from ..spectra._model import model_spectrum
from ..verifying._claim import QUICK, Claim, Effort, Subject
from ..verifying._evidence import check_all_cases, decide_values
from ._parts import further

# H.rank and CK.S5 by exact counting: how many factors orthogonal maps need, and which planes few factors can turn.
#
# rank(C_k···C_1 - I) ≤ k, since C_k···C_1 - I is a sum of k matrices of rank 1. For permutations n - #cycles is the rank and
# that many swaps do. A plane that is turned, not by a half turn, costs rank 2, so three factors turn one plane at most.


def count_swaps(image: Sequence[int]) -> int:
    """n - #cycles of a permutation, fixed points counted as cycles."""
    return len(image) - len(cycle_lengths(np.array(image)))


def count_fewer_than_displaced(n: int) -> int:
    """How many of the n! permutations need fewer swaps than the number of points that they move, less one."""
    return sum(
        count_swaps(image) < sum(i != x for i, x in enumerate(image)) - 1 for image in permutations(range(n))
    )


def is_attained(image: Sequence[int], needed: int, gate: Fraction | int = 1) -> bool:
    """Is rank(gate·P - I) = needed, by elimination over Q, and P the product of so many swaps? P e_i = e_{image[i]}."""
    n = len(image)
    factors = list(permutation_factors(image))
    P = tuple(tuple(int(image[j] == i) for j in range(n)) for i in range(n))
    rank = gate_product(factors, n, gate).minus_identity().flint().rank()
    return rank == needed == len(factors) and product_of(factors, n) == P


def random_factors(draw: np.random.Generator, n: int, k: int, *, reflections: bool = False) -> list[GHFactor]:
    """k factors with small integer keys, β‖v‖² in eighths up to 2, or all 2."""
    found: list[GHFactor] = []
    while len(found) < k:
        v = draw.integers(-3, 4, size=n).tolist()
        if any(v):
            size = Fraction(2) if reflections else Fraction(int(draw.integers(1, 17)), 8)
            found.append(gh_factor(divide(size, sum(x * x for x in v)), dict(enumerate(v))))
    return found


def random_ranks(n: int, k: int, instances: int, seed: int, *, gate: Fraction | int = 1) -> Iterator[int]:
    """rank(g C_k···C_1 - I) of random products; a gate g ≠ 1 is outside H.rank."""
    draw = np.random.default_rng(seed)
    for _ in range(instances):
        yield gate_product(random_factors(draw, n, k), n, gate).reflection_rank()


def gate_product(factors: Sequence[GHFactor], n: int, gate: Fraction | int) -> ExactMatrix:
    """g C_k···C_1."""
    return exact_matrix([[gate * x for x in row] for row in product_of(factors, n)])


def count_turned_planes(spectrum: Spectrum) -> int:
    """Pairs of non-real eigenvalues on the unit circle, with multiplicity. Raises `ValueError` where undecided."""
    if not spectrum.is_decided:
        raise ValueError("an eigenvalue is not decided")
    return sum(e.multiplicity for e in spectrum.eigenvalues if e.kind != "real" and e.circle == "on") // 2


CLAIM = Claim(
    "H.rank",
    "rank(C_k···C_1 - I) ≤ k, attained by orthogonal maps",
    "exhaustive",
    arithmetic="exact",
    formal=(
        "Householder.rank_of_product, for the bound",
        "Householder.orthogonal_needs, for orthogonal maps",
        "Permutations.permutation_needs, for permutations",
    ),
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
    found = check_all_cases(
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
                {n: count_fewer_than_displaced(n) for n in BELOW if n <= most},
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
    return decide_values(
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
    needed = count_swaps(image)
    return None if is_attained(image, needed, gate) else {"image": image, "gate": gate, "n - #cycles": needed}
