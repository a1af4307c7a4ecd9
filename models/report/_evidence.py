"""The evidence for a construction in a report: its certificate, checked now, lower bounds, and the claims about it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ...constructions._document import read_document
from ...constructions._lrnn import as_table
from ...constructions._realisation import Realisation
from ...constructions.texts._show import distinct_transitions
from ...foundation._errors import InputError, LimitError
from ...foundation._text import count_noun
from ...theory._check import CheckResult, check
from ...theory._horizon import full_certificate
from ...theory._verdict import status_in_words
from ...theory.planning._bounds import bounds, find_reached_value, reached_bounds
from ...theory.verifying._claim import Subject
from ...theory.verifying._registry import Registry, load_claims
from ...theory.verifying._verify import ClaimOutcome, verify_model
from ._data import Cell, Section, ShownLimits, Table, plain_cell

PROVES = {
    "table": "on every word, of any length, the linear RNN in exact numbers decodes to the automaton's state",
    "horizon": "on every word the linear RNN in exact numbers decodes to the automaton's state; and with rounding, in the "
    "named arithmetic, the nearest code is the right one up to the stated length of each dtype",
    "delay": "on every word the layers of the block delay decode to the automaton's state",
    "bound": "every linear RNN that meets the stated hypotheses and follows the automaton has at least the stated figures",
    "equivalent": "the stored model gives the automaton's answers on every word in the stated arithmetic",
    "impossible": "the stored model cannot follow the automaton: on the two words it reaches one state",
}
SAME_PARTS = ("automaton", "layers", "decode", "outputs", "covering")
"""What a certificate of kind `table` or `horizon` says of the construction itself, labels and figures aside."""
ANSWERS = {"refuted": "not true of it", "cited": "undecided", "unknown": "undecided"}
"""What a status says of one model; all others say "true of it". A refuted claim may well hold: its hypotheses need not be met here."""
GRAM, STABLE = "own.LMI", "DP.T8"
GRAM_STATES = 12
"""States up to which it is asked whether any single layer exists; the search for a proof grows fast."""


def show_certificate(
    found: Realisation, certificate: Path | None, horizons: dict[str, int | None] | None
) -> Section:
    """The certificate of a file, or one made now, checked now; figures recomputed; lower bounds.

    `horizons`: those computed for this construction, None where there are none. `InputError` for a file that cannot be
    read; a wrong certificate is reported as invalid, and one that cannot be made with the reason.
    """
    made, why = None, ""
    try:  # without horizons where they were too costly to be computed
        made = found.certificate() if horizons is None else full_certificate(found)
    except (InputError, LimitError) as error:
        why = str(error)
    name, document = "a certificate made for this report", made
    if certificate is not None:
        name = certificate.name
        try:
            document = read_document(certificate)
        except InputError:  # what is wrong with it is the checker's reason
            document = None
    elif made is None:
        why = f"No certificate was made: {why}."
        return Section("certificate", "Certificate", why, (_list_bounds(found),))
    result = check(document if document is not None else certificate)  # type: ignore[arg-type]
    same = made is not None and document is not None and is_same_construction(document, made)
    kind = result.kind or "unknown"
    text = f"The checker, run now on {name}, finds it {result.verdict}: {result.reason}."
    if result.verdict == "invalid":
        text += " It proves nothing; the other sections show the construction as it was read or built."
    elif not same:
        text += " It is not of the construction in this report, and proves nothing about that."
    table = Table(
        "certificate", "Certificate", f"The answer of the stand-alone checker is {result.verdict}.", ("what", "answer"),
        (
            ("certificate", name), ("kind", kind), ("what a valid one proves", PROVES.get(kind, "nothing that is known here")),
            ("checker's answer", result.verdict), ("reason", result.reason), ("is of this construction", "yes" if same else "no"),
        ),
        f"the checker of kind {kind}, run on {name}",
    )  # fmt: skip
    folded = (_list_figures(found, document or {}, result, horizons), _list_bounds(found))
    return Section("certificate", "Certificate", text, (table,), folded)


def is_same_construction(document: dict[str, Any], made: dict[str, Any]) -> bool:
    """Whether two certificates have the same automaton and the same construction, labels and figures aside."""
    parts = SAME_PARTS if "layers" in made else tuple(k for k in made if k not in ("labels", "summary"))
    plain = json.loads(json.dumps({k: made.get(k) for k in parts}))
    return bool(plain == {k: document.get(k) for k in parts})


def _list_figures(
    found: Realisation, document: dict[str, Any], result: CheckResult, horizons: dict[str, int | None] | None
) -> Table:
    """The certificate's summary and horizons beside those computed now."""

    def read_dict(value: Any) -> dict[str, Any]:
        return dict(value) if isinstance(value, dict) else {}

    def name_horizons(lengths: dict[str, Any]) -> dict[str, Any]:
        return {f"horizon in {dtype}": "no limit" if n is None else n for dtype, n in lengths.items()}

    stated = read_dict(document.get("summary")) | name_horizons(
        read_dict(read_dict(document.get("horizon")).get("lengths"))
    )
    now: dict[str, Any] = {**found.summary(), **name_horizons(horizons or {})}
    rows = [
        (key.replace("_", " "), _join(stated.get(key)), _join(value), key in stated and stated[key] == value)
        for key, value in now.items()
    ]
    return Table(
        "figures", "Figures",
        f"{sum(row[3] for row in rows)} of {len(rows)} figures in the certificate are equal to those computed from the construction now.",
        ("figure", "in the certificate", "computed now", "equal"), rows, f"the {result.verdict} certificate; the construction itself",
    )  # fmt: skip


def _join(value: Any) -> Cell:
    return " ".join(map(str, value)) or "none" if isinstance(value, list | tuple) else plain_cell(value)


def _list_bounds(found: Realisation) -> Table:
    lower, name = bounds(found.automaton), found.automaton.name
    met = reached_bounds(found, lower)
    rows: list[tuple[Cell, ...]] = [
        (b.figure.replace("_", " "), b.at_least, b.reached, b.optimal, b.reason, b.kind, b.hypotheses, b.why) for b in met
    ]  # fmt: skip
    others = [b for b in lower if find_reached_value(found, b) is None]
    rows += [
        (b.figure.replace("_", " "), b.at_least, "hypotheses not met here", None, b.reason, b.kind, b.hypotheses, b.why)
        for b in others
    ]  # fmt: skip
    description = f"No lower bound is known for {name}."
    if rows:
        description = (
            f"{len(lower)} lower bounds are known for {name}. This construction meets the hypotheses of the first "
            f"{count_noun(len(met), 'row')} and is optimal in {sum(b.optimal for b in met)} of them; the others do not apply to it."
        )
    return Table(
        "lower-bounds", "Lower bounds beside what was reached", description,
        ("figure", "at least", "reached here", "optimal", "reason", "kind", "hypotheses", "why"), rows, "bounds of the automaton's table",
    )  # fmt: skip


def show_claims(found: Realisation, limits: ShownLimits) -> Section:
    """Two tables: the theorems behind the construction and its lower bounds, and the claims asked about it now."""
    registry = load_claims()
    behind = _list_theorems(found, registry)
    asked, left_out = _ask_claims(found, registry, limits)
    refuted = [o.claim.id for o in asked if o.verdict.status == "refuted"]
    fails = f"not true of it: {', '.join(refuted)}" if refuted else "each is true of it or undecided"
    text = (
        f"{count_noun(len(behind), 'theorem')} behind this construction or its lower bounds. {count_noun(len(asked), 'claim')} could be "
        f"checked on it now: {fails}."
    )
    items = (
        Table(
            "claims-behind", "Theorems behind it", f"{count_noun(len(behind), 'theorem')} with what each is needed for.",
            ("claim", "what for", "title", "statement", "status", "source"), behind,
            "the registry of claims; the status is the one that its checks are held to",
        ),
        Table(
            "claims-asked", "Claims asked about it", f"{count_noun(len(asked), 'claim')}, each checked now on this construction.",
            ("claim", "title", "of this construction", "what was found", "statement", "source"),
            [_list_answer(registry, o) for o in asked], "the claims' checks, run now on this construction",
        ),
    )  # fmt: skip
    return Section("claims", "Claims", " ".join([text, *left_out]), (), items)


def _list_theorems(found: Realisation, registry: Registry) -> list[tuple[Cell, ...]]:
    """The theorem of the construction, and the reasons of lower bounds, as far as the registry has them."""
    wanted: dict[str, list[str]] = {}
    for theorem in found.theorem.split(" + "):
        wanted.setdefault(theorem, []).append("makes this construction possible")
    for b in reached_bounds(found):
        met = "reached" if b.optimal else f"{b.reached} here"
        use = f"{b.figure.replace('_', ' ')} ≥ {b.at_least}, {met}"
        wanted.setdefault(b.reason.replace("β", "-beta"), []).append(use)
    known = {entry.claim.id: entry for entry in registry}
    rows: list[tuple[Cell, ...]] = []
    for claim, uses in wanted.items():
        said: tuple[Cell, ...] = ("", "no claim of its own in the registry", None, None)
        if (entry := known.get(claim)) is not None:
            text, status = entry.text, status_in_words(entry.claim.expected)
            said = (entry.claim.title, text.statement, status, text.source.replace("`", ""))
        rows.append((claim, "; ".join(uses), *said))
    return rows


def _ask_claims(
    found: Realisation, registry: Registry, limits: ShownLimits
) -> tuple[list[ClaimOutcome], list[str]]:
    """Outcomes of the claims about the model, and sentences that say which were not asked, and why."""
    entries, name = [e for e in registry if e.applies is not None], found.automaton.name
    states = len(found.automaton.states)
    left_out, subject = dict[str, str](), Subject(name, found.automaton)
    if (table := as_table(found)) is not None:
        count = sum(len(distinct_transitions(head)) for head in table.all_heads)
        if count <= limits.matrices:
            subject = Subject(name, found.automaton, lrnn=table)
        else:
            left_out[""] = (
                f"The claims were asked about the automaton alone: {count:,} different letter matrices are more than "
                f"{limits.matrices:,}."
            )
        if found.norm == "at most 1":
            left_out[STABLE] = "where all letters have norm at most 1, all products stay bounded."
            if found.state_size is not None:
                left_out[GRAM] = (
                    f"this is itself one layer of norm at most 1 with one vector for each of its {count_noun(states, 'state')}."
                )
    if states > GRAM_STATES:
        many = f"{states:,} states are more than {GRAM_STATES}, up to which its search is quick."
        left_out.setdefault(GRAM, many)
    sentences = [f"{claim} was not asked: {why}" if claim else why for claim, why in left_out.items()]
    return verify_model(subject, [e for e in entries if e.claim.id not in left_out]), sentences


def _list_answer(registry: Registry, outcome: ClaimOutcome) -> tuple[Cell, ...]:
    verdict, entry = outcome.verdict, registry[outcome.claim.id]
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
    answer = ANSWERS.get(verdict.status, "true of it")
    text = entry.text
    return entry.claim.id, entry.claim.title, answer, said, text.statement, text.source.replace("`", "")
