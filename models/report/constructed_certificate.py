"""The certificate of a construction in a report: what it proves, the checker's answer, its figures, and lower bounds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ...constructions.certificate import certificate as table_certificate
from ...constructions.certificate import read_document
from ...constructions.errors import InputError, LimitError
from ...constructions.lrnn import LRNN
from ...constructions.real_cyclotomic import Number, enclosure, sign, simplest
from ...constructions.realisations import Realisation
from ...constructions.texts.closed_forms import number_text
from ...theory.certify import certify
from ...theory.check import CheckResult, check
from ...theory.planning.bounds import Bound, bounds
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
    if isinstance(found, LRNN) and horizons is None:
        return table_certificate(found)
    return certify(found)


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
    rows = tuple(
        (b.figure.replace("_", " "), b.at_least, reached(found, b), b.reason, b.kind, b.text) for b in lower
    )
    met = sum(row[1] == row[2] for row in rows)
    compared = sum(row[2] is not None for row in rows)
    description = (
        f"{len(rows)} lower bounds are known for {found.automaton.name}; {compared} can be held against this construction, which "
        f"meets {met} of them with nothing to spare."
        if rows
        else f"No lower bound is known for {found.automaton.name}."
    )
    columns = ("figure", "at least", "reached here", "reason", "kind", "why, and of which RNNs")
    return Table(
        "lower-bounds",
        "Lower bounds beside what was reached",
        description,
        columns,
        rows,
        "bounds of the automaton's table",
    )


def reached(found: Realisation, bound: Bound) -> Cell:
    """The construction's own figure, where it meets the bound's hypotheses and the figure is a number of it; else None."""
    if not isinstance(found, LRNN):
        return found.layers if bound.figure == "single_factor_layers" and found.householders <= 1 else None
    one = len(found.layers) == 1
    if bound.figure == "state_size":
        single = one and len(found.decode) == len(found.automaton.states)
        return sum(h.dim * h.value_dim for h in found.all_heads) if single else None
    if bound.figure == "single_factor_layers":
        return len(found.layers) if found.householders in (0, 1) else None
    transitions = [t for h in found.all_heads for t in h.transitions]
    if found.norm != "at most 1" or any(sign(t.gate) < 0 for t in transitions):
        return None
    if bound.figure == "householders":
        return found.householders if one else None
    if bound.figure == "beta":
        return _largest([f.beta * f.norm_squared for t in transitions for f in t.factors])
    return None


def _largest(sizes: list[Number]) -> Cell:
    if not sizes:
        return 0
    largest = max((simplest(x) for x in sizes), key=lambda x: enclosure(x, 64))
    return largest if isinstance(largest, int) else number_text(largest)
