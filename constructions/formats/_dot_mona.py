"""Drawings of MONA and LTLf2DFA, whose edges are labelled by formulas or by columns of bits over propositions: their letters written out.

LTLf2DFA writes a formula such as `a & ~b` or `true`. MONA writes a row for each proposition, with a column of 0, 1 or X (either)
for each case: `1 0\\nX,1` is 1X or 01.
"""

from __future__ import annotations

import re

from ...foundation._errors import InputError, LimitError
from ..automata._labels import OutputKind
from ._dot_language import DotEdge, DotGraph
from ._formulas import Formula, bit_text, holds, names_in, parse_formula, valuations

MAX_PROPOSITIONS = 12
_COLUMNS = re.compile(r"[01X](?:[ ,][01X])*(?:\\n[01X](?:[ ,][01X])*)*")
_TOKEN = re.compile(r"\s*(?:(?P<name>[A-Za-z_][A-Za-z_0-9.]*)|(?P<sign>~|!|&&?|\|\|?|[()]))")
_SIGN = {"~": "!", "&&": "&", "||": "|"}
_CONSTANTS = {"true": True, "True": True, "false": False, "False": False}


def translate_mona(graph: DotGraph, name: str, notes: list[str]) -> OutputKind:
    """Rewrite each edge of a graph `MONA_DFA` in place, once for each letter: an assignment of the propositions, such as `01`.

    Args:
        graph: the graph.
        name: the name with which error messages begin.
        notes: what the letters are is added here.

    Raises:
        InputError: a label is neither a formula nor columns of bits.
        LimitError: there are more than `MAX_PROPOSITIONS` propositions.
    """
    labelled = [edge for edge in graph.edges if edge.attributes.get("label")]
    in_columns = bool(labelled) and all(_COLUMNS.fullmatch(edge.attributes["label"]) for edge in labelled)
    read = _columns if in_columns else _formula
    formulas = {edge.attributes["label"]: read(edge, name) for edge in labelled}
    propositions = list(dict.fromkeys(x for formula in formulas.values() for x in names_in(formula)))
    if in_columns:
        propositions.sort(key=int)
    if not propositions:
        return "acceptor"  # only `true`: its one letter keeps that name
    if len(propositions) > MAX_PROPOSITIONS:
        raise LimitError(
            f"{name}: {len(propositions)} propositions make 2^{len(propositions)} letters; at most {MAX_PROPOSITIONS} propositions "
            "are read"
        )
    members = {
        label: [
            bit_text(values)
            for values in valuations(len(propositions), name, 2**MAX_PROPOSITIONS)
            if holds(formula, dict(zip(propositions, values, strict=True)))
        ]
        for label, formula in formulas.items()
    }
    edges: list[DotEdge] = []
    for edge in graph.edges:
        letters = members.get(edge.attributes.get("label", ""), [""])
        edges += [edge._replace(attributes=edge.attributes | {"label": letter}) for letter in letters]
    graph.edges = edges
    shown = (
        f"{len(propositions)} propositions, in MONA's order"
        if in_columns
        else f"propositions {' '.join(propositions)}"
    )
    notes.append(f"the letters are the {2 ** len(propositions)} assignments of the {shown}, 1 for true")
    return "acceptor"


def _columns(edge: DotEdge, name: str) -> Formula:
    """Rows of bits as a formula over the numbers of the rows."""
    rows = [re.findall("[01X]", row) for row in edge.attributes["label"].split("\\n")]
    if len({len(row) for row in rows}) > 1:
        raise InputError(f"{name}: line {edge.line}: the rows of the label have different numbers of columns")
    cases: list[Formula] = []
    for column in zip(*rows, strict=True):
        # a proposition that may be either is named too, so that each label names all of them
        bits: list[Formula] = [
            ("or", ("name", str(i)), ("not", ("name", str(i))))
            if bit == "X"
            else (("name", str(i)) if bit == "1" else ("not", ("name", str(i))))
            for i, bit in enumerate(column)
        ]
        cases.append(("and", *bits))
    return ("or", *cases)


def _formula(edge: DotEdge, name: str) -> Formula:
    label, tokens, at = edge.attributes["label"], [], 0
    place = f"{name}: line {edge.line}"
    while label[at:].strip():
        match = _TOKEN.match(label, at)
        if match is None:
            raise InputError(
                f"{place}: the label {label[:60]!r} of a graph MONA_DFA is neither a formula nor columns of bits; if it is a letter, "
                "give `split` none"
            )
        sign = match["sign"]
        tokens.append((match["name"] if sign is None else _SIGN.get(sign, sign), False))
        at = match.end()
    return parse_formula(tokens, place, _CONSTANTS, {})
