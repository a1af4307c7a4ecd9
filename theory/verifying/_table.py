"""Claims and their outcomes as rows of tables and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...foundation._extras import is_installed
from ...foundation._text import console, count_noun
from .._verdict import STATUSES, Verdict, plain, status_in_words
from ._registry import Entry, Registry
from ._verify import BUDGET_SPENT, ClaimOutcome

LEGEND = (
    "recorded: what the Python program verifies of the claim here. Coq: whether a theorem in Coq states it (yes, or a part of it), "
    "or refutes it where it is refuted."
)
SHOWN = 200
"""Longer facts about a model are left to the JSON form."""


def summary(outcomes: Sequence[ClaimOutcome]) -> str:
    """How many claims of each status, how many were not run or not through in the budget, which are not as recorded, in one line."""
    spent = [o for o in outcomes if o.verdict.evidence.get("reason") == BUDGET_SPENT]
    left_out = [o for o in outcomes if o.missing is not None]
    ended = [o for o in outcomes if o not in spent and o not in left_out]
    wrong = [o.claim.id for o in ended if not o.as_expected]
    extras = sorted({str(o.missing) for o in left_out})
    found = [count_not_run(len(left_out), extras)] * bool(left_out)
    found += [f"{len(spent)} not through within the budget"] * bool(spent)
    found += [f"not as recorded: {', '.join(wrong)}"] * bool(wrong)
    if ended and not wrong and not spent:
        of_models = all(o.expected is None for o in ended)
        every = "all" if not left_out else "all others"
        found += [
            "none refuted" if of_models else f"{every} as recorded" if len(outcomes) != 1 else "as recorded"
        ]
    return f"{count_statuses([o.verdict.status for o in ended], len(outcomes))}; {'; '.join(found)}"


def count_not_run(count: int, extras: Sequence[str]) -> str:
    """`2 not run: needs the extra models`, for claims whose checks need extras that are not installed."""
    needed = "needs the extra" if len(extras) == 1 else "need the extras"
    return f"{count} not run: {needed} {', '.join(extras)}"


def count_statuses(statuses: Sequence[str], total: int) -> str:
    """`53 claims: 11 proved, 19 hold on finite sets, …`, in the order of `STATUSES`."""
    words = {
        "exhaustive": ("holds on a finite set", "hold on finite sets"),
        "supported": ("supported by instances",) * 2,
    }
    counts = [(statuses.count(status), words.get(status, (status, status))) for status in STATUSES]
    parts = [f"{count} {one if count == 1 else many}" for count, (one, many) in counts if count]
    named = count_noun(total, "claim")
    return f"{named}: {', '.join(parts)}" if parts else named


def count_columns(entries: Sequence[Entry]) -> str:
    """`53 claims; recorded: 11 proved, 19 hold on finite sets, …; Coq: 20 yes, 22 part`, each count by the name of its column.

    Args:
        entries: the claims of the table.

    Returns:
        One line; without the last part where there is no theorem in Coq.
    """
    statuses = count_statuses([entry.claim.expected for entry in entries], len(entries))
    named, _, recorded = statuses.partition(": ")
    in_coq = [(sum(entry.claim.coq == word for entry in entries), word) for word in ("yes", "part")]
    theorems = ", ".join(f"{count} {word}" for count, word in in_coq if count)
    return "; ".join([named, f"recorded: {recorded}"] + [f"Coq: {theorems}"] * bool(theorems))


def print_outcomes(outcomes: Sequence[ClaimOutcome]) -> None:
    """A table, a row a claim; `!` marks what is not as recorded, `-` what was not run."""
    table = _table(("", "claim"), ("status", "found", "arithmetic"))
    for outcome in outcomes:
        verdict = outcome.verdict
        mark = "" if outcome.as_expected else "-" if outcome.missing else "!"
        row = (mark, outcome.claim.id, "not run" if outcome.missing else verdict.finding)
        table.add_row(*row, _describe_outcome(outcome), verdict.arithmetic)
    _print_table(summary(outcomes), table)


def print_claims(entries: Sequence[Entry]) -> None:
    """A table, a row a claim with what is expected of it.

    The heading counts by both columns, what is recorded and what is in Coq, and those that cannot be run without an extra.
    """
    table = _table(("claim",), ("recorded", "Coq", "what", "arithmetic"))
    for entry in entries:
        claim = entry.claim
        table.add_row(claim.id, status_in_words(claim.expected), claim.coq, claim.title, claim.arithmetic)
    counted = count_columns(entries)
    left_out = 0 if is_installed("torch") else sum(entry.claim.models for entry in entries)
    _print_table("; ".join([counted] + [count_not_run(left_out, ["models"])] * bool(left_out)), table)
    console().print(LEGEND)


def _describe_outcome(outcome: ClaimOutcome) -> str:
    """The value computed, and the one claimed where it is another, and what was looked at; or why there is none."""
    verdict = outcome.verdict
    if verdict.status == "unknown" and "reason" in verdict.evidence:
        return str(verdict.evidence["reason"])
    computed, claimed = _text(verdict.computed), _text(verdict.claimed)
    if "says" in verdict.evidence:
        return str(verdict.evidence["says"])
    if outcome.expected is None:
        said = [] if isinstance(verdict.computed, bool) or not computed else [computed]
        facts = [f"{key.replace('_', ' ')}: {_text(value)}" for key, value in verdict.evidence.items()]
        return "; ".join(said + [fact for fact in facts if len(fact) <= SHOWN])
    values = (
        computed if computed == claimed or not claimed else f"{computed} (the statement gives: {claimed})"
    )
    return "; ".join([values, *_describe_cases(verdict)])


def _describe_cases(verdict: Verdict) -> list[str]:
    """The finite set by its name; of random instances their seed, and how many met the hypothesis tightly."""
    facts = verdict.evidence
    if verdict.status == "exhaustive":
        return [f"the cases: {facts['set']}"]
    if verdict.status != "supported":
        return []
    said = [f"seed {facts['seed']}"]
    if "tight" in facts:
        said.append(f"{facts['tight']:,} lie on the boundary of the hypothesis")
    return said


def _table(fixed: Sequence[str], folded: Sequence[str]) -> Any:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE, pad_edge=False)
    for heading in fixed:
        table.add_column(heading, no_wrap=True)
    for heading in folded:
        table.add_column(heading, overflow="fold")
    return table


def _print_table(title: str, table: Any) -> None:
    shown = console()
    shown.print(title, style="bold")
    shown.print(table)


def explanation(entry: Entry, registry: Registry) -> list[tuple[str, str]]:
    """`(label, text)`: all that a claim's file says of it."""
    claim = entry.claim
    rows = [("", entry.text.summary), *entry.text.rows(), ("recorded", claim.standing)]
    rows += [("in its place", claim.repair)] * bool(claim.repair)
    rows += [("proved in Coq", "; ".join(claim.proved_in_coq))] * bool(claim.formal)
    rows += [("uses", ", ".join(claim.uses))] * bool(claim.uses)
    users = registry.used_by(claim.id)
    rows += [("used by", ", ".join(users))] * bool(users)
    home = Path(__file__).resolve().parents[2]
    path = entry.path.resolve()
    shown = path.relative_to(home) if path.is_relative_to(home) else entry.path
    return [*rows, ("file", str(shown))]


def claim_json(entry: Entry, registry: Registry) -> dict[str, Any]:
    """Plain values for JSON."""
    claim = entry.claim
    return {
        "claim": claim.id,
        "title": claim.title,
        "expected": claim.expected,
        "uses": list(claim.uses),
        "used_by": registry.used_by(claim.id),
        "repair": claim.repair or None,
        "formal": list(claim.formal),
        "coq": None if claim.coq == "–" else claim.coq,
        **dict(entry.text.rows()),
        "arithmetic": claim.arithmetic,
        "summary": entry.text.summary,
    }


def _text(value: Any) -> str:
    value = plain(value)
    if isinstance(value, list):
        return ", ".join(_text(item) for item in value)
    return "" if value is None else str(value)
