"""From what a claim's check found to its `Verdict`: proved, exhaustive, supported, refutation; each two-sided where it can be.

A check of cases is a function `check(case)` that returns what violates the statement there, or None. Where the
statement has a hypothesis, the same function is given cases with the hypothesis broken, and must find violations among
them: a check that finds none there cannot fail, so its verdict is `unknown`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypeVar

import numpy as np

from .._verdict import Status, Verdict
from ._claim import Claim, Effort

T = TypeVar("T")
Check = Callable[[T], Any]
"""What violates the statement in a case, as plain values for the evidence; None where nothing does."""
RELATIONS = {"==": operator.eq, "<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}
ONE_SIDED = "with the hypothesis broken the same check found no violation, so it cannot tell"


def decide_values(
    claim: Claim,
    *,
    computed: Any,
    claimed: Any,
    relation: Literal["==", "<=", ">=", "<", ">"] = "==",
    evidence: Mapping[str, Any] | None = None,
    witness: Any = None,
    assumptions: tuple[str, ...] = (),
    arithmetic: str | None = None,
) -> Verdict:
    """Compare two exact values: the verdict is `proved` if the relation holds, otherwise `refuted`.

    Args:
        claim: the claim that the verdict is about.
        computed: the value found.
        claimed: the value that the statement gives.
        relation: how the two must compare.
        evidence: plain values that support the verdict.
        witness: what refutes the claim; None if the two values do.
        assumptions: the hypotheses used.
        arithmetic: the name of the arithmetic, None for the claim's own.
    """
    facts = dict(evidence or {})
    fits = bool(RELATIONS[relation](computed, claimed))
    if not fits:
        facts["witness"] = {"computed": computed, "claimed": claimed} if witness is None else witness
    shown = claimed if relation == "==" else f"{relation} {claimed}"
    return Verdict(
        claim.id, "proved" if fits else "refuted", facts, arithmetic or claim.arithmetic,
        assumptions, computed, shown,
    )  # fmt: skip


def check_all_cases(
    claim: Claim,
    *,
    cases: Iterable[T],
    check: Check[T],
    of: str,
    broken: Iterable[T] | None = None,
    evidence: Mapping[str, Any] | None = None,
    assumptions: tuple[str, ...] = (),
    arithmetic: str | None = None,
) -> Verdict:
    """Check all cases of a finite set; the first violation refutes the claim.

    Args:
        claim: the claim that the verdict is about.
        cases: the cases.
        check: a function that returns what is wrong in a case, or None.
        of: the name of the set.
        broken: cases that break the hypothesis, whose rate of violations is reported.
        evidence: plain values that support the verdict.
        assumptions: the hypotheses used.
        arithmetic: the name of the arithmetic, None for the claim's own.
    """
    facts: dict[str, Any] = {"set": of, **(evidence or {})}
    violation, facts["cases"] = _first(cases, check)
    if broken is not None:
        facts["broken"] = _rate(broken, check)
    return _of_cases(claim, facts, violation, "exhaustive", facts["cases"], assumptions, arithmetic)


def check_random_cases(
    claim: Claim,
    effort: Effort,
    *,
    count: int,
    draw: Callable[[np.random.Generator], T],
    broken: Callable[[np.random.Generator], T],
    check: Check[T],
    tight: Callable[[T], bool] | None = None,
    broken_count: int | None = None,
    evidence: Mapping[str, Any] | None = None,
    assumptions: tuple[str, ...] = (),
    arithmetic: str | None = None,
) -> Verdict:
    """Check random cases: the verdict is `supported` if none violates the claim; otherwise the first violation refutes it.

    Args:
        claim: the claim that the verdict is about.
        effort: the effort, whose seed is used.
        count: the number of cases.
        draw: a function that makes a case from random numbers.
        broken: a function that makes a case that breaks the hypothesis.
        check: a function that returns what is wrong in a case, or None.
        tight: a function that says whether a case meets the hypothesis with equality; their number is reported. None if this
            has no meaning for the hypothesis.
        broken_count: the number of cases that break the hypothesis; None for `count`.
        evidence: plain values that support the verdict.
        assumptions: the hypotheses used.
        arithmetic: the name of the arithmetic, None for the claim's own.
    """
    generator = effort.generator(0)
    drawn = [draw(generator) for _ in range(count)]
    facts: dict[str, Any] = {"instances": count, "seed": effort.seed, **(evidence or {})}
    if tight is not None:
        facts["tight"] = sum(bool(tight(case)) for case in drawn)
    violation, place = _first(drawn, check)
    generator = effort.generator(1)
    facts["broken"] = _rate((broken(generator) for _ in range(broken_count or count)), check)
    return _of_cases(claim, facts, violation, "supported", place, assumptions, arithmetic)


def refute_by_witness(
    claim: Claim,
    witness: Any,
    replay: Callable[[Any], bool],
    *,
    computed: Any,
    claimed: Any,
    evidence: Mapping[str, Any] | None = None,
    assumptions: tuple[str, ...] = (),
    arithmetic: str | None = None,
) -> Verdict:
    """Refute a printed statement by a witness, which `replay` confirms first.

    The verdict is `unknown` if the witness is None or `replay` returns False.

    Args:
        claim: the claim that the verdict is about.
        witness: what refutes the printed statement; None if none was found.
        replay: a function that confirms the witness.
        computed: the value found.
        claimed: the value that was printed.
        evidence: plain values that support the verdict.
        assumptions: the hypotheses used.
        arithmetic: the name of the arithmetic, None for the claim's own.
    """
    facts = dict(evidence or {})
    sound = witness is not None and bool(replay(witness))
    facts["witness" if sound else "failed_witness"] = witness
    return Verdict(
        claim.id, "refuted" if sound else "unknown", facts, arithmetic or claim.arithmetic,
        assumptions, computed, claimed,
    )  # fmt: skip


def cite_source(
    claim: Claim, source: str, *, checked: str, evidence: Mapping[str, Any] | None = None
) -> Verdict:
    """Cite a published statement that is not proved here.

    Args:
        claim: the claim that the verdict is about.
        source: who proves it.
        checked: the part of it that was checked here, if any.
        evidence: plain values that support the verdict.
    """
    facts = {"source": source, **(evidence or {})}
    return Verdict(claim.id, "cited", facts, claim.arithmetic, (), checked, None)


def _first(cases: Iterable[T], check: Check[T]) -> tuple[Any, int]:
    """The first violation, found a second time before it is believed; and how many cases were looked at."""
    count = 0
    for case in cases:
        count += 1
        violation = check(case)
        if violation is not None:
            if check(case) is None:
                raise AssertionError("a violation that the same check does not find again")
            return violation, count
    return None, count


def _rate(cases: Iterable[T], check: Check[T]) -> dict[str, Any]:
    count, found, first = 0, 0, None
    for case in cases:
        count += 1
        violation = check(case)
        if violation is not None:
            found += 1
            first = violation if first is None else first
    return {"cases": count, "violations": found, "rate": round(found / max(count, 1), 4), "first": first}


def _of_cases(
    claim: Claim,
    facts: dict[str, Any],
    violation: Any,
    confirmed: Literal["exhaustive", "supported"],
    place: int,
    assumptions: tuple[str, ...],
    arithmetic: str | None,
) -> Verdict:
    status: Status = confirmed
    if violation is not None:
        status, facts["witness"] = "refuted", violation
    elif not place:
        status, facts["reason"] = "unknown", "there was no case"
    elif "broken" in facts and not facts["broken"]["violations"]:
        status, facts["reason"] = "unknown", ONE_SIDED
    computed = "no violation" if violation is None else f"a violation, case {place:,}"
    return Verdict(
        claim.id, status, facts, arithmetic or claim.arithmetic, assumptions, computed, "no violation"
    )
