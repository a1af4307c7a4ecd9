"""The papers' theorems in model `cast`, on random instances with exact rational eigenvalues (G.L1, G.T1, G.T2).

Each instance is decided for ever (`cast_layers`).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from ..arithmetic.arithmetic import Cast
from ..arithmetic.names import parse_arithmetic
from ..verifying.verdict import Verdict
from .cast_layers import TriangularLayer, after_last, eigenvalue, follow, next_letters, random_layer
from .cast_model import cast_sequence, settled_values

LONGEST_PREFIX = 8
Progress = Callable[[int], None]


@dataclass
class Tally:
    """`instances` decided; `violations` with a witness each; `counting`: how many do not end in a fixed point.

    `tight`: how many attain the largest period allowed, or, where only fixed points are, have an eigenvalue that is 0 (in
    G.L1 0 or 1). `settling`: the settling indices. `saturating`: how many
    states grow until they saturate. `skipped`: draws not decided, since they settle beyond the limits stated.
    """

    instances: int = 0
    counting: int = 0
    tight: int = 0
    saturating: int = 0
    skipped: int = 0
    settling: list[int] = field(default_factory=list)
    violations: list[Any] = field(default_factory=list)

    def verdict(self, claim: str, seed: int, arithmetic: str, *assumptions: str) -> Verdict:
        """Supported by these instances, or refuted by the first violation."""
        largest = sorted(self.settling)
        evidence = {
            "instances": self.instances,
            "seed": seed,
            "tight": self.tight,
            "violations": len(self.violations),
            "counting": self.counting,
            "saturating": self.saturating,
            "skipped": self.skipped,
            "settling_median": largest[len(largest) // 2] if largest else None,
            "settling_largest": largest[-1] if largest else None,
        }
        if self.violations:
            return Verdict(
                claim,
                "refuted",
                {**evidence, "witness": self.violations[0]},
                arithmetic,
                assumptions,
            )
        return Verdict(claim, "supported", evidence, arithmetic, assumptions)


def lemma(
    arithmetic: str,
    instances: int,
    seed: int = 0,
    *,
    negative: bool = False,
    progress: Progress | None = None,
) -> Tally:
    """G.L1 on random sequences of 1 to 4 terms, m ≤ 2: eventually constant on either parity, equal if all λ ≥ 0."""
    model, draw, tally = _cast(arithmetic), random.Random(seed), Tally()
    while tally.instances < instances:
        terms = [
            (
                Fraction(draw.randint(-40, 40), draw.choice([1, 2, 3, 7, 8])),
                draw.choice([0, 0, 1, 2]),
                eigenvalue(draw, negative),
            )
            for _ in range(draw.randint(1, 4))
        ]
        found = settled_values(terms, model)
        if found is None:
            tally.skipped += 1
            continue
        k, even, odd = found
        values = cast_sequence(terms, k + 6, model) + 0.0
        ends = np.where(np.arange(len(values)) % 2, odd, even)
        tally.instances += 1
        tally.settling.append(after_last(values != ends))
        tally.counting += even != odd
        tally.tight += any(x in (0, 1) for _, _, x in terms)
        if (values[k:] != ends[k:]).any() or (even != odd and all(x >= 0 for _, _, x in terms)):
            tally.violations.append({"terms": [[str(c), m, str(x)] for c, m, x in terms], "settles_by": k})
        if progress:
            progress(tally.instances)
    return tally


def theorem(
    arithmetic: str,
    instances: int,
    layers: int,
    seed: int = 0,
    *,
    negative: bool = False,
    progress: Progress | None = None,
) -> Tally:
    """G.T1 (all eigenvalues ≥ 0: a fixed point on 1^k) or, with `negative`, G.T2 (real: a period dividing 2^layers)."""
    model, draw, tally = _cast(arithmetic), random.Random(seed), Tally()
    while tally.instances < instances:
        stack: list[TriangularLayer] = []
        prefix: list[int] = []
        cycle = [0]
        ends: list[tuple[float, ...]] = []
        settles, grows = 0, False
        for depth in range(layers):
            layer = random_layer(draw, 1 if depth == 0 else 4, negative)
            followed = follow(layer, prefix, cycle, model)
            if followed is None or (depth + 1 < layers and followed.slow):
                break
            stack.append(layer)
            settles, grows, ends = max(settles, followed.settles), grows or followed.saturates, followed.ends
            prefix, cycle = next_letters(followed, layer.decode)
            if len(prefix) > LONGEST_PREFIX and depth + 1 < layers:
                break
        else:
            tally.instances += 1
            period = len(ends)
            tally.settling.append(settles)
            tally.counting += period > 1
            tally.tight += period == 2**layers if negative else any(layer.has_zero for layer in stack)
            tally.saturating += grows
            if (2**layers if negative else 1) % period:
                tally.violations.append({"layers": [layer.to_json() for layer in stack], "period": period})
            if progress:
                progress(tally.instances)
            continue
        tally.skipped += 1
    return tally


def passed_over(tallies: Mapping[str, Tally]) -> dict[str, str]:
    """By name, how many draws were not decided, since they settle beyond the limits, and took no part."""
    return {name: f"{t.skipped} of {t.skipped + t.instances}" for name, t in tallies.items()}


def _cast(arithmetic: str) -> Cast:
    model = parse_arithmetic(arithmetic)
    if not isinstance(model, Cast):
        raise TypeError(f"{arithmetic} is not a cast")
    return model
