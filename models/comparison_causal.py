"""Causal check: put the snapped head in the learned one's place, leave the rest as it is, and measure again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from .comparison_states import Sampling, follow_words
from .learned import AffineStepper, Learned, LearnedHead
from .snap import SnappedHead

MOST_ALONE = 6
"""Heads that are replaced alone, the first ones; each costs a run."""


@dataclass(frozen=True)
class Causal:
    """Accuracy over all letters and the first failure (None: none) with `replaced` heads snapped, in float64."""

    replaced: str
    accuracy: float
    first_failure: int | None

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def causal_check(learned: Learned, snapped: Sequence[SnappedHead], sampling: Sampling) -> list[Causal]:
    """With no head replaced, each alone (at most `MOST_ALONE`), and all; empty where the model has no read-out of given states."""
    if learned.read is None or not snapped:
        return []
    start = learned.target.automaton.start
    by_name = {s.head.name: s.replacement(start) for s in snapped}
    sets = [("none", {}), *((name, {name: by_name[name]}) for name in list(by_name)[:MOST_ALONE])]
    if len(by_name) > 1:
        sets.append(("all", by_name))
    return [_measured(learned, label, new, sampling) for label, new in sets]


def _measured(learned: Learned, label: str, new: dict[str, LearnedHead], sampling: Sampling) -> Causal:
    assert learned.read is not None
    heads = tuple(new.get(head.name, head) for head in learned.heads)
    stepper = AffineStepper(heads, learned.read)
    trace = follow_words(replace(learned, heads=heads, stepper=stepper, head_states=list), sampling)
    return Causal(label, trace.accuracy, trace.observed)
