"""`BlockDelay` to a certificate of kind `delay` and back; what each entry means: `theory/checker/delay.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...foundation._errors import LimitError
from .._delay import BlockDelay
from .._document import FORMAT
from ..automata._automaton import Indices
from ._counter import counter_json, read_counter
from ._parts import factors_json, machine_json, name_document_in_errors, read_machine


def delay_certificate(form: BlockDelay, max_group: int = 5_000) -> dict[str, Any]:
    """The certificate of kind `delay`, as a JSON object.

    Raises `LimitError` where the group is not listed or has more than `max_group` elements, and for a number field
    beyond the checkers' limit; `InputError` where two labels have the same text.
    """
    automaton = form.automaton
    if form.elements is None or form.element_states is None or len(form.elements) > max_group:
        count = "more" if form.elements is None else f"{len(form.elements):,} elements, more"
        raise LimitError(
            f"{automaton.name}: the transition group has {count} than {max_group:,}, and a certificate of block delay "
            "lists all: raise `max_group`"
        )
    machine = machine_json(automaton, form.construction, form.theorem)
    outputs = np.array(machine["automaton"]["outputs"])
    states = form.element_states
    if automaton.is_mealy:  # a letter that permutes the states tells the state before from the one after
        before = np.argsort(automaton.transitions, axis=1)
        read_off = [row[back[states]].tolist() for row, back in zip(outputs, before, strict=True)]
    else:
        read_off = outputs[states].tolist()
    return {
        "format": FORMAT,
        "kind": "delay",
        **machine,
        "block": form.block,
        "counter": counter_json(form.counter),
        "buffer": {
            "factors": [[[1, [[phase, 1]]]] for phase in range(2 * form.block)],
            "values": [[[x, 1]] for x in range(len(automaton.letters))],
        },
        "points": {
            "letters": form.points.tolist(),
            "initial": [[point, i + 1] for i, point in enumerate(form.marks)],
        },
        "elements": [
            {"image": image, "state": state, "groups": [factors_json(group) for group in form.groups(image)]}
            for image, state in zip(form.elements.tolist(), states.tolist(), strict=True)
        ],
        "outputs": read_off,
        "summary": form.summary(),
    }


def block_delay_from_certificate(document: Mapping[str, Any], name: str = "certificate") -> BlockDelay:
    """The block delay that a certificate describes; labels become strings.

    Raises `InputError` for a document of the wrong form. It is not checked: the checker gives the proof.
    """
    with name_document_in_errors(name):
        return _read(document)


def _read(document: Mapping[str, Any]) -> BlockDelay:
    automaton = read_machine(document)
    points = np.array(document["points"]["letters"], dtype=np.int64)
    elements = np.array([e["image"] for e in document["elements"]], dtype=np.int64)
    states = np.array([e["state"] for e in document["elements"]], dtype=np.int64)
    marks = tuple(int(point) for point, _ in document["points"]["initial"])
    _require_permutations(points, points.shape[1])
    _require_permutations(elements, points.shape[1])
    counter = read_counter(document["counter"])
    period = counter.period
    if period != 2 * document["block"] or not marks or max(marks) >= points.shape[1] or min(marks) < 0:
        raise ValueError("block")
    if states.min() < 0 or states.max() >= len(automaton.states) or len(points) != len(automaton.letters):
        raise ValueError("states")
    budget = max(len(group) for e in document["elements"] for group in e["groups"])
    return BlockDelay(automaton, points, marks, period // 2, budget, counter, elements, states)


def _require_permutations(rows: Indices, n: int) -> None:
    if rows.ndim != 2 or not (np.sort(rows, axis=1) == np.arange(n)).all():
        raise ValueError("permutations")
