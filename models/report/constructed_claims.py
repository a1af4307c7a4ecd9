"""The claims that apply to a construction: what makes it possible, what it needs at least, and what is true of it."""

from __future__ import annotations

from ...constructions._lrnn import LRNN, as_table
from ...constructions._realisation import Realisation
from ...constructions.texts._show import counted, distinct_transitions
from ...theory._verdict import Status, status_in_words
from ...theory.planning._bounds import reached_bounds
from ...theory.verifying._claim import Subject
from ...theory.verifying._registry import Entry, Registry, load_claims
from ...theory.verifying._verify import ClaimOutcome, verify_model
from .limits import ShownLimits
from .parts import Cell, Section, Table

OF_A_MODEL: dict[Status, str] = {
    "proved": "true of it",
    "exhaustive": "true of it",
    "supported": "true of it",
    "refuted": "not true of it",
    "cited": "undecided",
    "unknown": "undecided",
}
"""The words for a verdict about one model, whose claim itself may well hold: its hypotheses need not be met here."""
GRAM, STABLE = "own.LMI", "DP.T8"
GRAM_STATES = 12
"""States up to which it is asked whether any single layer exists; the search for a proof grows fast."""


def claims_section(found: Realisation, limits: ShownLimits) -> Section:
    """Two tables: the theorems behind the construction and its lower bounds, and the claims asked about it now."""
    registry = load_claims()
    behind = _behind(found, registry)
    asked, left_out = _asked(found, registry, limits)
    refuted = [o.claim.id for o in asked if o.verdict.status == "refuted"]
    fails = "each true of it or undecided" if not refuted else f"not true of it: {', '.join(refuted)}"
    text = " ".join(
        [
            f"{counted(len(behind), 'theorem')} behind this construction or its lower bounds; {counted(len(asked), 'claim')} with "
            f"something to say of it when asked, {fails}.",
            *left_out,
        ]
    )
    names = ("claim", "what for", "title", "statement", "status", "source")
    said = ("claim", "title", "of this construction", "what was found", "statement", "source")
    items = (
        Table("claims-behind", "Theorems behind it", f"{counted(len(behind), 'theorem')} with what each is needed for.", names, tuple(behind),
              "the registry of claims; the status is the one that its checks are held to"),
        Table("claims-asked", "Claims asked about it", f"{counted(len(asked), 'claim')}, each asked now about this construction.", said,
              tuple(_row(registry[o.claim.id], o) for o in asked), "the claims' checks, run now on this construction"),
    )  # fmt: skip
    return Section("claims", "Claims", text, items)


def _behind(found: Realisation, registry: Registry) -> list[tuple[Cell, ...]]:
    """The theorem of the construction, and the reasons of lower bounds, as far as the registry has them."""
    wanted: dict[str, list[str]] = {}
    for theorem in found.theorem.split(" + "):
        wanted.setdefault(theorem, []).append("makes this construction possible")
    for b in reached_bounds(found):
        said = (
            f"{b.figure.replace('_', ' ')} ≥ {b.at_least}, {'reached' if b.optimal else f'{b.reached} here'}"
        )
        wanted.setdefault(b.reason.replace("β", "-beta"), []).append(said)
    known = {entry.claim.id: entry for entry in registry}
    rows: list[tuple[Cell, ...]] = []
    for claim, uses in wanted.items():
        if (entry := known.get(claim)) is not None:
            text = entry.text
            status = status_in_words(entry.claim.expected)
            rows.append(
                (claim, "; ".join(uses), entry.claim.title, text.statement, status, _plain(text.source))
            )
        else:
            rows.append((claim, "; ".join(uses), "", "no claim of its own in the registry", None, None))
    return rows


def _asked(
    found: Realisation, registry: Registry, limits: ShownLimits
) -> tuple[list[ClaimOutcome], list[str]]:
    """Outcomes of the claims about the model, and sentences that say which were not asked."""
    left_out, entries, name = (
        list[str](),
        [e for e in registry if e.applies is not None],
        found.automaton.name,
    )
    table = as_table(found)
    if table is not None and (count := _matrices(table)) > limits.matrices:
        subject = Subject(name, found.automaton)
        left_out.append(
            f"The claims were asked about the automaton alone: the {count:,} different letter matrices are more than "
            f"{limits.matrices:,}."
        )
    else:
        subject = Subject(name, found.automaton, lrnn=table)
    if table is not None and found.norm == "at most 1":
        entries = [e for e in entries if e.claim.id != STABLE]
        left_out.append(
            f"{STABLE} was not asked: where all letters have norm at most 1, all products stay bounded."
        )
    if (reason := _no_search(found)) is not None:
        entries = [e for e in entries if e.claim.id != GRAM]
        left_out.append(reason)
    return verify_model(subject, entries), left_out


def _matrices(lrnn: LRNN) -> int:
    return sum(len(distinct_transitions(head)) for head in lrnn.all_heads)


def _no_search(found: Realisation) -> str | None:
    """Why own.LMI is not asked, where it is not."""
    states = len(found.automaton.states)
    if found.state_size is not None and found.norm == "at most 1":
        return f"{GRAM} was not asked: this is itself one layer of norm at most 1 with one vector for each of its {states:,} states."
    if states > GRAM_STATES:
        return f"{GRAM} was not asked: {states:,} states are more than {GRAM_STATES}, up to which its search is quick."
    return None


def _row(entry: Entry, outcome: ClaimOutcome) -> tuple[Cell, ...]:
    verdict = outcome.verdict
    if "says" in verdict.evidence:
        said = str(verdict.evidence["says"])
    elif outcome.error is not None:
        said = f"its check failed: {outcome.error}"
    elif verdict.status == "unknown":
        said = str(verdict.evidence.get("reason", "undecided"))
    elif verdict.status == "refuted":
        said = f"{verdict.computed}; where its hypotheses are met: {verdict.claimed}"
    else:
        said = str(verdict.computed)
    return (
        entry.claim.id,
        entry.claim.title,
        OF_A_MODEL[verdict.status],
        said,
        entry.text.statement,
        _plain(entry.text.source),
    )


def _plain(text: str) -> str:
    """A source as a cell shows it, where backticks mean nothing."""
    return text.replace("`", "")
