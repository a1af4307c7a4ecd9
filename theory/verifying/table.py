"""Claims and their outcomes as rows of tables and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...constructions.texts.printable import console
from .registry import Entry, Registry
from .verdict import plain
from .verify import BUDGET_SPENT, Outcome

SHOWN = 200
"""Longer facts about a model are left to `--json`."""


def summary(outcomes: Sequence[Outcome]) -> str:
    """How many claims, how many not through in the budget, which are not as expected, in one line."""
    spent = [o for o in outcomes if o.verdict.evidence.get("reason") == BUDGET_SPENT]
    wrong = [o.claim.id for o in outcomes if not o.as_expected and o not in spent]
    counts = f"{len(outcomes)} claim{'s' * (len(outcomes) != 1)}"
    found = [f"{len(spent)} not through within the budget"] * bool(spent)
    found += [f"not as expected: {', '.join(wrong)}"] * bool(wrong)
    return f"{counts}: {'; '.join(found) or 'all as expected'}"


def print_outcomes(outcomes: Sequence[Outcome]) -> None:
    """A table, a row a claim; `!` marks what is not as expected."""
    table = _table(("", "claim", "status", "kind"), ("found", "arithmetic"))
    for outcome in outcomes:
        verdict = outcome.verdict
        mark = "" if outcome.as_expected else "!"
        row = (mark, outcome.claim.id, verdict.status, verdict.kind)
        table.add_row(*row, _found(outcome), verdict.arithmetic)
    _print(summary(outcomes), table)


def print_claims(entries: Sequence[Entry]) -> None:
    """A table, a row a claim with what is expected of it."""
    table = _table(("claim", "expected", "kind"), ("what", "arithmetic"))
    for entry in entries:
        claim = entry.claim
        table.add_row(claim.id, claim.expected, claim.kind, claim.title, claim.arithmetic)
    _print(f"{len(entries)} claim{'s' * (len(entries) != 1)}", table)


def _found(outcome: Outcome) -> str:
    """The value computed, and the one claimed where it is another; or why there is none."""
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
    return computed if computed == claimed or not claimed else f"{computed} (claimed: {claimed})"


def _table(fixed: Sequence[str], folded: Sequence[str]) -> Any:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE, pad_edge=False)
    for heading in fixed:
        table.add_column(heading, no_wrap=True)
    for heading in folded:
        table.add_column(heading, overflow="fold")
    return table


def _print(title: str, table: Any) -> None:
    shown = console()
    shown.print(title, style="bold")
    shown.print(table)


def explanation(entry: Entry, registry: Registry) -> list[tuple[str, str]]:
    """`(label, text)`: all that a claim's file says of it."""
    claim = entry.claim
    rows = [("", entry.text.summary), *entry.text.rows(), ("expected", f"{claim.expected} ({claim.kind})")]
    rows += [("in its place", claim.repair)] * bool(claim.repair)
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
        "kind": claim.kind,
        "uses": list(claim.uses),
        "used_by": registry.used_by(claim.id),
        "repair": claim.repair or None,
        **dict(entry.text.rows()),
        "arithmetic": claim.arithmetic,
        "summary": entry.text.summary,
    }


def _text(value: Any) -> str:
    value = plain(value)
    if isinstance(value, list):
        return ", ".join(_text(item) for item in value)
    return "" if value is None else str(value)
