"""Certificates of kind `equivalent`, as JSON objects; what each entry means: `theory/checker/equivalent.py`."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ..constructions.automaton import Automaton
from ..constructions.certificate import FORMAT, certificate
from ..constructions.formats.label_text import distinct_texts
from ..constructions.lrnn import LRNN
from .arithmetic import Arithmetic, Exact, PerStep
from .checker.equivalent import MAX_STEPS
from .checker.exact import Invalid
from .checker.horizon import FLOATS
from .checker.regions import regions
from .checker.stored import Model, fits
from .checker.table import Machine
from .export import numbered_outputs
from .prove_linear import LinearHead, LinearMachine
from .rounding import FORMATS, Floats
from .state_search import StateSearch

MAX_REGION_STEPS = 20_000
"""Codes times letters up to which regions are looked for."""
MAX_NUMBERS = 300_000
"""Numbers of a model that a certificate holds."""


def checked_dtype(arithmetic: Arithmetic) -> str | None:
    """The dtype of a `per_step` arithmetic that the checker knows, `exact` for exact numbers; None for others."""
    if isinstance(arithmetic, Exact):
        return "exact"
    if isinstance(arithmetic, PerStep) and arithmetic.mode == "rne":
        for dtype in FLOATS:
            if arithmetic.values == FORMATS[dtype]:
                return dtype
    return None


def codes_certificate(lrnn: LRNN, arithmetic: Arithmetic) -> dict[str, Any] | None:
    """Of an LRNN whose numbers all belong to the dtype, with all other dtypes of that kind; else None."""
    dtype = checked_dtype(arithmetic)
    if dtype is None or lrnn.exactness != "integer":
        return None
    numbers = _entries(lrnn)
    dtypes = [d for d in FLOATS if all(fits(x, d) for x in numbers)]
    if dtype not in dtypes:
        return None
    return {
        **certificate(lrnn),
        "kind": "equivalent",
        "equivalence": {"arithmetic": "per_step", "dtypes": dtypes},
    }


def model_document(machine: LinearMachine, name: str) -> dict[str, Any] | None:
    """The certificate's automaton and the model's stored numbers, without a proof; None where they are too many."""
    if machine.reader is None or machine.answers is None:
        return None
    heads, reader, answers = machine.heads, machine.reader, machine.answers
    letters = len(answers.automaton.letters)
    size = sum(h.weights.dim**2 + 2 * h.entries for h in heads) * letters + reader.codes.size
    if size + len(reader.codes) * letters > MAX_NUMBERS:
        return None
    return {
        "format": FORMAT,
        "kind": "equivalent",
        **_automaton(answers.automaton, name),
        "model": {
            "heads": [_head(head, letters) for head in heads],
            "codes": [[_number(x) for x in code] for code in reader.codes.tolist()],
            "decode": np.broadcast_to(reader.answers, (len(reader.codes), letters)).tolist(),
        },
    }


def states_certificate(search: StateSearch, machine: LinearMachine, name: str) -> dict[str, Any] | None:
    """Of a closed search; None where the checker would need too long, or does not know the arithmetic."""
    letters = len(search.automaton.letters)
    dtype = checked_dtype(machine.arithmetic)
    if dtype is None or search.place.count * letters > MAX_STEPS:
        return None
    document = model_document(machine, name)
    if document is None or machine.answers is None:
        return None
    states = machine.carrier.decode(search.form.rows(search.store.words[: search.place.count]))
    greatest = max(states.tolist())
    proof = {
        "arithmetic": f"per_step:{dtype}",
        "answers": machine.answers.kind,
        "states": search.place.count,
        "greatest": [_number(x) for x in greatest],
    }
    return {**document, "equivalence": proof}


def regions_certificate(
    machine: LinearMachine, arithmetic: Arithmetic, name: str, limit: int
) -> dict[str, Any] | None:
    """A proof by balls about the codes, found by the checker's own iteration; None where there is none.

    `machine`: the model with the numbers that the arithmetic stores. `limit`: relaxations of a radius.
    """
    dtype = checked_dtype(arithmetic)
    document = model_document(machine, name) if dtype is not None and _may_contract(machine, dtype) else None
    if document is None or machine.answers is None:
        return None
    kind = machine.answers.kind
    delta = machine.answers.automaton.transitions.tolist()
    held = Machine(delta, document["automaton"]["start"], document["automaton"]["outputs"])
    try:
        model = Model(document["model"], len(delta), 2**62, None if dtype == "exact" else dtype)
        count, radius = regions(model, held, kind, limit)
    except Invalid:
        return None
    named = "exact" if dtype == "exact" else f"per_step:{dtype}"
    proof = {"arithmetic": named, "answers": kind, "regions": count, "radius": radius}
    return {**document, "equivalence": proof}


def _may_contract(machine: LinearMachine, dtype: str) -> bool:
    """A quick look: small enough, and every letter that rounds contracts, by float64 norms."""
    if machine.form.entries > 64 or machine.reader is None:
        return False
    if len(machine.reader.codes) * len(machine.moves) > MAX_REGION_STEPS:
        return False
    free = [dtype == "exact" or moves is not None for moves in machine.moves]
    norms = [[np.linalg.norm(head.matrix(x), 2) for head in machine.heads] for x in range(len(free))]
    return all(bool(max(norm) < (4 if kept else 1)) for norm, kept in zip(norms, free, strict=True))


def _automaton(automaton: Automaton, name: str) -> dict[str, Any]:
    outputs, texts = numbered_outputs(automaton)
    return {
        "labels": {
            "automaton": automaton.name,
            "construction": name,
            "theorem": "",
            "states": distinct_texts(automaton.states, "state", automaton.name),
            "letters": distinct_texts(automaton.letters, "letter", automaton.name),
            "outputs": texts,
        },
        "automaton": {
            "states": len(automaton.states),
            "letters": len(automaton.letters),
            "start": automaton.start,
            "transitions": automaton.transitions.tolist(),
            "outputs": outputs.tolist(),
        },
    }


def _head(head: LinearHead, letters: int) -> dict[str, Any]:
    w = head.weights
    B = np.zeros((letters, w.dim, w.value_dim)) if w.additive is None else w.additive
    return {
        "A": [_matrix(head.matrix(x)) for x in range(letters)],
        "B": [_matrix(b) for b in B],
        "H0": _matrix(head.initial),
    }


def _matrix(values: Floats) -> list[list[Any]]:
    return [[_number(x) for x in row] for row in values.tolist()]


def _number(x: float) -> Any:
    exact = Fraction(x)
    return exact.numerator if exact.denominator == 1 else f"{exact.numerator}/{exact.denominator}"


def _entries(lrnn: LRNN) -> set[Any]:
    """Every entry of every A(x), B(x) and code."""
    from .weights import letter_rows

    entries: set[Any] = set()
    for head in lrnn.all_heads:
        entries.update(x for code in head.codes for _, _, x in code)
        for t in head.transitions:
            entries.update(x for row in letter_rows(t, head.dim) for x in row.values())
            entries.update(x for _, _, x in t.additive)
    return entries
