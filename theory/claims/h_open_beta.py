"""H.open-beta: with every β‖v‖² below 2 no finite set of states is permuted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ...constructions._construct import construct
from ...constructions._head import Head
from ...constructions._spec import automaton_from_spec
from ...constructions.algebra._householder import GHFactor, gh_factor, product_of
from ...constructions.algebra._matrices import Matrix, divide, identity, matrix, product, rank, subtract
from .._check import check
from .._verdict import Verdict
from ..arithmetic._rounding import Floats, round_number
from ..planning._bounds import bounds
from ..verifying._claim import QUICK, Claim, Effort, Subject
from ..verifying._evidence import check_random_cases, decide_values
from ._parts import further
from ._subject_letters import count_letters

# H.openβ: factors with every β‖v‖² below 2: what returns never moved, and how fast a state then shrinks.
#
# A product A of factors with β‖v‖² in (0, 2) has ‖Ax‖ < ‖x‖ unless every factor fixes x. So whatever a power of A fixes, A
# fixes (`returns_without_moving`), and a finite set of states that a letter permutes is left as it is. With infinitely many
# states a shrinking orbit can still be read (`strict_parity`); `mean_norms` is the exact rate at which it shrinks.


PERIODS = 120
"""Rational affine maps in at most 4 dimensions return, if ever, after a divisor of 120 steps: φ(m) ≤ 4."""


@dataclass(frozen=True)
class StrictSystem:
    """h ← C_k···C_1 h + b in exact numbers; `factors` in the order applied, `added` b."""

    factors: tuple[GHFactor, ...]
    added: tuple[Fraction, ...]

    @property
    def affine(self) -> Matrix:
        """[[A, b], [0, 1]]."""
        n = len(self.added)
        A = product_of(self.factors, n)
        rows = [[*row, b] for row, b in zip(A, self.added, strict=True)]
        return matrix([*rows, [*([0] * n), 1]])


def random_system(draw: np.random.Generator, n: int, factors: int, *, full: bool = False) -> StrictSystem:
    """Small integer keys, β‖v‖² in eighths or 255/128 (the largest bf16 below 2) in (0, 2); `full`: half of them 2."""
    sizes = [Fraction(i, 8) for i in range(1, 16)] + [Fraction(255, 128)] * 5
    found: list[GHFactor] = []
    while len(found) < factors:
        v = draw.integers(-2, 3, size=n).tolist()
        if any(v):
            size = Fraction(2) if full and draw.random() < 0.5 else sizes[draw.integers(len(sizes))]
            found.append(gh_factor(divide(size, sum(x * x for x in v)), dict(enumerate(v))))
    added = tuple(Fraction(int(x), 2) for x in draw.integers(-4, 5, size=n) * (draw.random(n) < 0.7))
    return StrictSystem(tuple(found), added)


def returns_without_moving(system: StrictSystem) -> bool:
    """Does everything that returns within `PERIODS` steps stay where it is? Decided by ranks, for n ≤ 4.

    In the numbers (h, 1) and (d, 0), differences of states, the map is linear: those that F^m fixes are the kernel of
    F^m - I, which holds that of F - I. They are equal exactly if nothing moves and returns. And of the differences, A^m
    must fix those alone that all keys are orthogonal to, so that every factor fixes them.
    """
    F, n = system.affine, len(system.added)
    unit = identity(n + 1)
    power, base, left = unit, F, PERIODS
    while left:
        if left & 1:
            power = product(power, base)
        base, left = product(base, base), left >> 1
    returning, staying = subtract(power, unit), subtract(F, unit)
    keys = [[dict(f.vector).get(i, 0) for i in range(n)] for f in system.factors]
    return rank(returning) == rank(staying) and rank([row[:n] for row in returning[:n]]) == rank(keys)


def strict_parity(size: Fraction, length: int) -> Iterator[tuple[Fraction, int]]:
    """h ← (1 - size) h from 1 on 1^k, size = β‖v‖² in (1, 2): the state and the parity read from its sign, k = 0, 1, ..."""
    h = Fraction(1)
    for _ in range(length):
        yield h, int(h < 0)
        h *= 1 - size


def scale_letters(head: Head, size: float) -> Floats:
    """The head's letters `[letters, n, n]` with every β‖v‖² = 2 turned into `size`, in float64."""
    letters = []
    for transition in head.transitions:
        A = np.eye(head.dim)
        for factor in transition.factors:
            v = np.zeros(head.dim)
            for i, x in factor.vector:
                v[i] = round_number(x, "fp64")
            A = (np.eye(head.dim) - size * np.outer(v, v) / (v @ v)) @ A
        letters.append(A)
    return np.array(letters)[head.action_of(np.arange(head.letters))]


def mean_norms(letters: Floats, lengths: Sequence[int]) -> list[float]:
    """√(E‖A(x_t)···A(x_1)‖²_F / n) over uniform words of each length, from H_0 = I; letters `[letters, n, n]`.

    No sampling: X ← mean of AᵀXA from X = I has trace E‖·‖²_F.
    """
    n = letters.shape[1]
    X, found = np.eye(n), []
    for t in range(1, max(lengths) + 1):
        X = np.einsum("aji,jk,akl->il", letters, X, letters) / len(letters)
        if t in lengths:
            found.append((t, float(np.sqrt(np.trace(X) / n))))
    return [dict(found)[t] for t in lengths]


def sample_norms(letters: Floats, length: int, words: int, seed: int) -> Floats:
    """‖A(x_t)···A(x_1)‖_F/√n of random words, `[words]`."""
    draw = np.random.default_rng(seed)
    H = np.repeat(np.eye(letters.shape[1])[None], words, axis=0)
    for _ in range(length):
        H = letters[draw.integers(0, len(letters), size=words)] @ H
    result: Floats = np.linalg.norm(H, axis=(1, 2)) / np.sqrt(letters.shape[1])
    return result


CLAIM = Claim(
    "H.open-beta",
    "Finite groups in finitely many states need β = 2",
    "supported",
    arithmetic="exact",
    seconds=10,
    formal=("Affine.open_beta",),
)
GROUPS = ("parity", "mod:3", "S3", "A4", "S4", "dihedral:5")
SHRINKING = {1.9921875: (0.528, 0.0777), 1.98: (0.195, 1.44e-3), 1.95: (0.017, 7.9e-8)}
"""β‖v‖² and the root mean square of ‖H‖/√3 after 128 and 512 tokens, S_4 by two factors a token."""


def verify(effort: Effort = QUICK) -> Verdict:
    """If every β‖v‖² is below 2, whatever a letter returns to its place it has never moved.

    Statement: Let each letter be h ← C_k···C_1 h + b with factors I - β v vᵀ, 0 < β‖v‖² < 2. If a word permutes a finite
        set of states then it leaves each of them where it is, and each of its factors keeps their differences. So a layer with finitely many
        reachable states realises no non-trivial group.
    Direction: necessary
    Hypotheses: β‖v‖² < 2 for every factor; finitely many reachable states; exact numbers. With infinitely many states
        parity can be read from the sign of (-.99)^k.
    Arithmetic: exact
    Source: H; the proof is ours: norms of differences are kept, so each factor fixes them
    Method: For random rational letters in up to four dimensions the states that return within 120 steps, which covers all
        possible periods, are compared by ranks with those that do not move. With some β‖v‖² = 2 the same check must find
        others. Certificates of the bound β‖v‖² ≥ 2 go through the stand-alone checker; and the norm of a shrinking S_4
        state is the exact mean over all words.
    Example:
        >>> print(verify().line())
        supported by 60 instances: no violation, as claimed
    """
    found = check_random_cases(
        CLAIM,
        effort,
        count=effort.pick(60, 1_000),
        draw=lambda generator: _system(generator, False),
        broken=lambda generator: _system(generator, True),
        check=_moves,
        tight=lambda case: any(f.beta * f.norm_squared == Fraction(255, 128) for f in case.factors),
    )
    pairs = list(strict_parity(Fraction(199, 100), effort.pick(100, 1_000)))
    return further(
        found,
        {
            "certificates of β‖v‖² ≥ 2": ([_name_bound(spec) for spec in GROUPS], ["valid"] * len(GROUPS)),
            "states of (-.99)^k, all different": (len({h for h, _ in pairs}), len(pairs)),
            "its sign is the parity": ([p for _, p in pairs], [k % 2 for k in range(len(pairs))]),
            "shrinking as stated, within a tenth": (shrinking(), dict.fromkeys(SHRINKING, True)),
        },
    )


def applies(subject: Subject) -> Verdict | None:
    """A construction whose automaton turns states must have a factor with β‖v‖² = 2, or a gate below 0."""
    if subject.lrnn is None or subject.automaton is None:
        return None
    needed = next((b for b in bounds(subject.automaton) if b.figure == "beta"), None)
    transitions = [t for head in subject.lrnn.all_heads for t in head.transitions]
    if any(t.matrix is not None or any(f.mask is not None for f in t.factors) for t in transitions):
        return None
    full = sum(f.beta * f.norm_squared == 2 for t in transitions for f in t.factors)
    full += sum(t.gate == -1 for t in transitions)
    return decide_values(
        CLAIM,
        computed=full,
        claimed=int(needed is not None),
        relation=">=",
        evidence={
            "says": f"{count_letters(full, 'factor has', 'factors have')} β‖v‖² = 2 or a gate of -1; "
            + ("nothing here needs one" if needed is None else "the automaton turns states, which needs one"),
            "full_reflections": full,
            "bound": needed and needed.text,
        },
        assumptions=() if needed is None else (needed.hypotheses,),
    )


def shrinking() -> dict[float, bool]:
    """For each β‖v‖² whether the computed norms are the stated ones, to a tenth."""
    head = construct("S4").all_heads[0]
    return {
        size: bool(np.allclose(mean_norms(scale_letters(head, size), (128, 512)), stated, rtol=0.1))
        for size, stated in SHRINKING.items()
    }


def _system(generator: np.random.Generator, full: bool) -> StrictSystem:
    n, factors = generator.integers(1, 5), generator.integers(1, 6)
    return random_system(generator, int(n), int(factors), full=full)


def _moves(case: StrictSystem) -> Any:
    if returns_without_moving(case):
        return None
    return {"factors": [(f.beta, f.vector) for f in case.factors], "added": case.added}


def _name_bound(spec: str) -> str:
    found = [b for b in bounds(automaton_from_spec(spec)) if b.figure == "beta" and b.at_least == 2]
    return check(found[0].certificate()).verdict if found else "none"
