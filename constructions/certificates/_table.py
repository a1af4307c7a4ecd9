"""`LRNN` to certificate and back: JSON with exact numbers, indices for states and letters, labels beside them.

What each entry means: docs/certificates.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from ...foundation._errors import InputError, LimitError
from .._document import FORMAT
from .._head import Head, apply_transition, codes_of, stack_codes
from .._lrnn import LRNN, Covering, Layer, pad_rows
from .._realisation import Sparse, Transition
from ._parts import (
    MAX_CONDUCTOR,
    factors_json,
    machine_json,
    name_document_in_errors,
    number_json,
    number_reader,
    read_factors,
    read_machine,
)


def certificate(lrnn: LRNN) -> dict[str, Any]:
    """The certificate of kind `table`, as a JSON object.

    Raises `InputError` where two labels have the same text, or where a Mealy machine's output is lost since it does
    not follow from the letter and the state after it; `LimitError` for a number field beyond the checkers' limit.
    """
    automaton = lrnn.automaton
    machine = machine_json(automaton, lrnn.construction, lrnn.theorem)
    outputs = machine["automaton"]["outputs"]
    layered = lrnn.is_layered
    codes: list[Any]
    if automaton.is_mealy:
        codes = _mealy_outputs(lrnn, outputs)
    else:
        codes = list(outputs) if layered else [outputs[q] for q in lrnn.decode[:, 0].tolist()]
    covering = {} if lrnn.covering is None else {"covering": [_node(node) for node in lrnn.covering.nodes]}
    return {
        "format": FORMAT,
        "kind": "table",
        **machine,
        "layers": [_layer(layer) for layer in lrnn.layers],
        "decode": lrnn.decode.tolist(),
        **covering,
        "outputs": codes,
        "summary": lrnn.summary(),
    }


def _node(node: tuple[int, ...] | tuple[int, int, tuple[int, ...]]) -> list[Any]:
    return [list(part) if isinstance(part, tuple) else part for part in node]


def _layer(layer: Layer) -> dict[str, Any]:
    """The heads, and in an LRNN of several layers the read-out: null for what does not occur."""
    if layer.reads is None or layer.next_letter is None:
        return {"heads": [_head(head) for head in layer.heads]}
    reads = [[h for h in row if h >= 0] for row in layer.reads.tolist()]
    sizes = [prod(layer.sizes[h] for h in row) for row in reads]
    following = [
        [None if y < 0 else y for y in row[:size]]
        for row, size in zip(layer.next_letter.tolist(), sizes, strict=True)
    ]
    return {"heads": [_head(head) for head in layer.heads], "reads": reads, "next": following}


def _mealy_outputs(lrnn: LRNN, outputs: list[list[int]]) -> list[list[int | None]]:
    """`[letters, codes]`: the output on a letter at the code it leads to; None where it leads to none.

    In place of codes there are states where the LRNN has several layers, whose last read-out names the state.
    """
    heads, automaton = lrnn.layers[-1].heads, lrnn.automaton
    layered = lrnn.is_layered
    rows = [[q, q] for q in range(len(automaton.states))] if layered else lrnn.decode.tolist()
    place = {tuple(row[1:]): r for r, row in enumerate(rows)}
    table: list[list[int | None]] = []
    for x in range(len(automaton.letters)):
        row: list[int | None] = [None] * len(rows)
        for q, *code in rows:
            if layered:
                after = int(automaton.transitions[x, q])
            else:
                after = place[tuple(int(h.code_transitions[x, c]) for h, c in zip(heads, code, strict=True))]
            if row[after] not in (None, outputs[x][q]):
                letter, state = automaton.letters[x], automaton.states[automaton.transitions[x, q]]
                raise InputError(
                    f"{automaton.name}: letter {letter!r} into state {state!r} has different outputs, by the state "
                    "before; a read-out of the state after it cannot tell: make it a Moore machine"
                )
            row[after] = outputs[x][q]
        table.append(row)
    return table


def _head(head: Head) -> dict[str, Any]:
    if head.field > MAX_CONDUCTOR:
        raise LimitError(
            f"a head's numbers lie in Q(2cos 2π/{head.field}), and certificates hold fields up to N = {MAX_CONDUCTOR:,}: "
            "construct with a smaller `max_degree`"
        )
    codes = [_sparse(code) for code in head.codes]
    layered: dict[str, Any] = {}
    if head.actions is not None:
        layered["actions"] = head.actions.tolist()
    if head.points is not None:  # codes are pairs (u, v), those (u, 0th point) stand for the points
        codes = [[e for e in codes[u * head.points] if e[0] < head.dim // 2] for u in range(head.points)]
        layered["pairs"] = True
    return {
        "field": head.field,
        "dim": head.dim,
        "value_dim": head.value_dim,
        "transitions": [_transition(t) for t in head.transitions],
        "codes": codes,
        **layered,
    }


def _sparse(entries: Sparse) -> list[list[Any]]:
    return [[i, j, number_json(x)] for i, j, x in entries]


def _transition(t: Transition) -> dict[str, Any]:
    result: dict[str, Any] = {}
    if t.matrix is not None:
        result["matrix"] = _sparse(t.matrix)
    else:
        result["factors"] = factors_json(t.factors)
    if t.gate != 1:
        result["gate"] = number_json(t.gate)
    if t.additive:
        result["additive"] = _sparse(t.additive)
    return result


def lrnn_from_certificate(document: Mapping[str, Any], name: str = "certificate") -> LRNN:
    """The LRNN that a certificate describes; labels become strings.

    Raises `InputError` for a document of the wrong form. It is not checked: call `check` for the proof.
    """
    with name_document_in_errors(name):
        return _lrnn(document)


def _lrnn(document: Mapping[str, Any]) -> LRNN:
    labels, automaton = document["labels"], read_machine(document)
    decode = np.array(document["decode"], dtype=np.int64)
    layers = tuple(_read_layer(layer) for layer in document["layers"])
    covering = None
    if "covering" in document:
        covering = Covering(tuple(_read_node(node) for node in document["covering"]))
    return LRNN(automaton, layers, decode, labels["theorem"], labels["construction"], (), covering)


def _read_node(node: Sequence[Any]) -> tuple[int] | tuple[int, int, tuple[int, ...]]:
    if len(node) == 1:
        return (int(node[0]),)
    layer, head, children = node
    return int(layer), int(head), tuple(int(c) for c in children)


def _read_layer(data: Mapping[str, Any]) -> Layer:
    heads = tuple(_read_head(h) for h in data["heads"])
    if "reads" not in data:
        return Layer(heads)
    reads = pad_rows(data["reads"])
    if any(not -1 <= h < len(heads) for row in data["reads"] for h in row):
        raise ValueError("reads")
    return Layer(heads, reads, pad_rows([[-1 if y is None else y for y in row] for row in data["next"]]))


def _read_head(data: Mapping[str, Any]) -> Head:
    number = number_reader(data["field"])

    def entries(items: Any) -> Sparse:
        return tuple((int(i), int(j), number(x)) for i, j, x in items)

    def transition(t: Mapping[str, Any]) -> Transition:
        factors = read_factors(t.get("factors", []), number)
        matrix = entries(t["matrix"]) if "matrix" in t else None
        return Transition(factors, number(t.get("gate", 1)), entries(t.get("additive", [])), matrix)

    codes = tuple(entries(code) for code in data["codes"])
    points = len(codes) if "pairs" in data else None
    if points is not None:
        half = data["dim"] // 2
        codes = tuple((*u, *((half + i, j, x) for i, j, x in v)) for u in codes for v in codes)
    transitions = tuple(transition(t) for t in data["transitions"])
    actions = np.array(data["actions"], dtype=np.int64) if "actions" in data else None
    used = {i for t in transitions for i, _, _ in (*t.additive, *(t.matrix or ()))}
    used |= {i for code in codes for i, _, _ in code}
    used |= {i for t in transitions for f in t.factors for i, _ in f.vector}
    if len(used) != data["dim"]:
        raise ValueError("dim")
    head = Head(data["dim"], data["value_dim"], transitions, codes, np.zeros((0, len(codes)), dtype=np.int64))
    index = {code: c for c, code in enumerate(codes)}
    start = stack_codes(head)
    images = [
        [index[code] for code in codes_of(apply_transition(head, t, start), len(codes), head.value_dim)]
        for t in transitions
    ]
    table = np.array(images, dtype=np.int64).reshape(len(transitions), len(codes))
    return Head(head.dim, head.value_dim, transitions, codes, table, actions, points)
