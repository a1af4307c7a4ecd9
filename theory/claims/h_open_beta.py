"""H.open-beta: with every β‖v‖² below 2 no finite set of states is permuted."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ...constructions.construct import construct
from ...constructions.spec import automaton_from_spec
from ..check import check
from ..factors.strict import (
    StrictSystem,
    mean_norms,
    random_system,
    returns_without_moving,
    scaled_letters,
    strict_parity,
)
from ..planning.bounds import bounds
from ..verifying.claim import QUICK, Claim, Effort
from ..verifying.evidence import proved, supported
from ..verifying.further import further
from ..verifying.subject import Subject
from ..verifying.subject_letters import counted
from ..verifying.verdict import Verdict

CLAIM = Claim(
    "H.open-beta",
    "Finite groups in finitely many states need β = 2",
    "supported",
    arithmetic="exact",
    seconds=10,
)
GROUPS = ("parity", "mod:3", "S3", "A4", "S4", "dihedral:5")
SHRINKING = {1.9921875: (0.528, 0.0777), 1.98: (0.195, 1.44e-3), 1.95: (0.017, 7.9e-8)}
"""β‖v‖² and the root mean square of ‖H‖/√3 after 128 and 512 tokens, S_4 by two factors a token."""


def verify(effort: Effort = QUICK) -> Verdict:
    """If every β‖v‖² is below 2, whatever a letter returns to its place it has never moved.

    Statement: Let each letter be h ← C_k···C_1 h + b with factors I - β v vᵀ, 0 < β‖v‖² < 2. If a word permutes a finite
        set of states then each of its letters leaves every state of it where it is. So a layer with finitely many
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
    found = supported(
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
            "certificates of β‖v‖² ≥ 2": ([_bound(spec) for spec in GROUPS], ["valid"] * len(GROUPS)),
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
    return proved(
        CLAIM,
        computed=full,
        claimed=int(needed is not None),
        relation=">=",
        evidence={
            "says": f"{counted(full, 'factor has', 'factors have')} β‖v‖² = 2 or a gate of -1; "
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
        size: bool(np.allclose(mean_norms(scaled_letters(head, size), (128, 512)), stated, rtol=0.1))
        for size, stated in SHRINKING.items()
    }


def _system(generator: np.random.Generator, full: bool) -> StrictSystem:
    n, factors = generator.integers(1, 5), generator.integers(1, 6)
    return random_system(generator, int(n), int(factors), full=full)


def _moves(case: StrictSystem) -> Any:
    if returns_without_moving(case):
        return None
    return {"factors": [(f.beta, f.vector) for f in case.factors], "added": case.added}


def _bound(spec: str) -> str:
    found = [b for b in bounds(automaton_from_spec(spec)) if b.figure == "beta" and b.at_least == 2]
    return check(found[0].certificate()).verdict if found else "none"
