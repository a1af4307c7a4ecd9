"""The certificate of a construction in a report: what it proves, the checker's answer, its figures, and lower bounds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ...constructions._document import read_document
from ...constructions._realisation import Realisation
from ...constructions.texts._show import counted
from ...foundation._errors import InputError, LimitError
from ...theory._check import CheckResult, check
from ...theory._horizon import full_certificate
from ...theory.planning._bounds import bounds, reached, reached_bounds
from .parts import Cell, Section, Table

PROVES = {
    "table": "on every word, of any length, the linear RNN in exact numbers decodes to the automaton's state",
    "horizon": "on every word the linear RNN in exact numbers decodes to the automaton's state; and with rounding, in the "
    "named arithmetic, the nearest code is the right one up to the stated length of each dtype",
    "delay": "on every word the layers of the block delay decode to the automaton's state",
    "bound": "every linear RNN that meets the stated hypotheses and follows the automaton has at least the stated figures",
    "equivalent": "the stored model gives the automaton's answers on every word in the stated arithmetic",
    "impossible": "the stored model cannot follow the automaton: on the two words it reaches one state",
}
NOT_MET = "hypotheses not met here"
SAME_PARTS = ("automaton", "layers", "decode", "outputs", "covering")
"""What a certificate of kind `table` or `horizon` says of the construction itself, labels and figures aside."""


def certificate_section(
    found: Realisation, certificate: Path | None, horizons: dict[str, int | None] | None
) -> Section:
    """The certificate of a file, or one made now, checked now; figures recomputed; lower bounds.

    `horizons`: those computed for this construction, None where there are none. `InputError` for a file that cannot be
    read; a wrong certificate is reported as invalid, and one that cannot be made with the reason.
    """
    try:
        made, why = _made(found, horizons), ""
    except (InputError, LimitError) as error:
        made, why = None, str(error)
    if certificate is None and made is None:
        return Section("certificate", "Certificate", f"No certificate was made: {why}.", (_bounds(found),))
    result = check(made if certificate is None else certificate)  # type: ignore[arg-type]
    document = made if certificate is None else _document(certificate)
    name = "a certificate made for this report" if certificate is None else certificate.name
    same = made is not None and document is not None and same_construction(document, made)
    kind = result.kind or "unknown"
    text = f"The checker, run now on {name}, finds it {result.verdict}: {result.reason}."
    if result.verdict == "invalid":
        text += " It proves nothing; what is shown elsewhere is the construction as it was read or built."
    elif not same:
        text += " It is not of the construction in this report, and proves nothing about that."
    answers: tuple[tuple[Cell, ...], ...] = (
        ("certificate", name),
        ("kind", kind),
        ("what a valid one proves", PROVES.get(kind, "nothing that is known here")),
        ("checker's answer", result.verdict),
        ("reason", result.reason),
        ("is of this construction", "yes" if same else "no"),
    )
    description = f"The answer of the stand-alone checker is {result.verdict}."
    source = f"the checker of kind {kind}, run on {name}"
    table = Table("certificate", "Certificate", description, ("what", "answer"), answers, source)
    items = (table, _figures(found, document, result, horizons), _bounds(found))
    return Section("certificate", "Certificate", text, items)


def _made(found: Realisation, horizons: dict[str, int | None] | None) -> dict[str, Any]:
    """Without horizons where they were too costly to be computed."""
    return found.certificate() if horizons is None else full_certificate(found)


def same_construction(document: dict[str, Any], made: dict[str, Any]) -> bool:
    """Do two certificates have the same automaton and the same construction? Labels and figures are left aside."""
    parts = SAME_PARTS if "layers" in made else tuple(k for k in made if k not in ("labels", "summary"))
    plain = json.loads(json.dumps({k: made.get(k) for k in parts}))
    return bool(plain == {k: document.get(k) for k in parts})


def _document(path: Path) -> dict[str, Any] | None:
    try:
        return read_document(path)
    except InputError:  # what is wrong with it is the checker's reason
        return None


def _figures(
    found: Realisation,
    document: dict[str, Any] | None,
    result: CheckResult,
    horizons: dict[str, int | None] | None,
) -> Table:
    """The certificate's summary and horizons beside those computed now."""
    stated = (document or {}).get("summary")
    stated = stated if isinstance(stated, dict) else {}
    now: dict[str, Any] = dict(found.summary())
    horizon = (document or {}).get("horizon")
    lengths = horizon.get("lengths") if isinstance(horizon, dict) else None
    for dtype, length in (horizons or {}).items():
        now[f"horizon in {dtype}"] = "no limit" if length is None else length
        if isinstance(lengths, dict) and dtype in lengths:
            stated = {
                **stated,
                f"horizon in {dtype}": "no limit" if lengths[dtype] is None else lengths[dtype],
            }
    rows = tuple(
        (key.replace("_", " "), _cell(stated.get(key)), _cell(value), key in stated and stated[key] == value)
        for key, value in now.items()
    )
    equal = sum(bool(row[3]) for row in rows)
    description = f"{equal} of {len(rows)} figures in the certificate are equal to those computed from the construction now."
    columns = ("figure", "in the certificate", "computed now", "equal")
    return Table(
        "figures",
        "Figures",
        description,
        columns,
        rows,
        f"the {result.verdict} certificate; the construction itself",
    )


def _cell(value: Any) -> Cell:
    if isinstance(value, list | tuple):
        return " ".join(map(str, value)) or "none"
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def _bounds(found: Realisation) -> Table:
    lower = bounds(found.automaton)
    met = reached_bounds(found, lower)
    rows: list[tuple[Cell, ...]] = [
        (b.figure.replace("_", " "), b.at_least, b.reached, b.optimal, b.reason, b.kind, b.hypotheses, b.why)
        for b in met
    ]
    others = [b for b in lower if reached(found, b) is None]
    rows += [
        (b.figure.replace("_", " "), b.at_least, NOT_MET, None, b.reason, b.kind, b.hypotheses, b.why)
        for b in others
    ]
    optimal = sum(b.optimal for b in met)
    description = (
        f"{len(lower)} lower bounds are known for {found.automaton.name}. This construction meets the hypotheses of the first "
        f"{counted(len(met), 'row')} and is optimal in {optimal} of them; the others do not speak of it."
        if rows
        else f"No lower bound is known for {found.automaton.name}."
    )
    columns = ("figure", "at least", "reached here", "optimal", "reason", "kind", "hypotheses", "why")
    return Table(
        "lower-bounds",
        "Lower bounds beside what was reached",
        description,
        columns,
        tuple(rows),
        "bounds of the automaton's table",
    )
