"""`further`: what a claim's check also establishes beside its cases, number by number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .verdict import Verdict


def further(verdict: Verdict, values: Mapping[str, tuple[Any, Any]]) -> Verdict:
    """The verdict with `(computed, claimed)` pairs in its evidence; refuted by those that are not equal, if any."""
    shown = {name: {"computed": computed, "claimed": claimed} for name, (computed, claimed) in values.items()}
    wrong = {name: shown[name] for name, (computed, claimed) in values.items() if computed != claimed}
    evidence = {**verdict.evidence, "further": shown}
    if wrong and verdict.status != "refuted":
        return replace(verdict, status="refuted", evidence={**evidence, "witness": wrong})
    return replace(verdict, evidence=evidence)
