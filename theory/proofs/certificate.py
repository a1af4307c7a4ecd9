"""Certificates of kind `equivalent`, as JSON objects; what each entry means: `theory/checker/equivalent.py`."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ...constructions.certificate import certificate
from ...constructions.certificate_parts import FORMAT, machine_json
from ...constructions.lrnn import INTEGER_RANGES, LRNN
from ...constructions.real_cyclotomic import is_integer
from ..arithmetic.arithmetic import Arithmetic, PerStep, Rounded
from ..arithmetic.names import parse_arithmetic
from ..arithmetic.rounding import Floats
from ..checker import arithmetic as checker
from ..checker.equivalent import MAX_STEPS, MAX_WORK, fitting
from ..checker.exact import Invalid
from ..checker.horizon import FLOATS
from ..checker.regions import MAX_DISTANCES
from .answers import Answers
from .exact import ExactNpzStepper, exact_regions
from .linear import LinearHead, LinearMachine
from .regions import find_regions
from .state_search import StateSearch

MAX_REGION_STEPS = 20_000
"""Codes times letters up to which regions are looked for."""
MAX_NUMBERS = 300_000
"""Numbers of a model that a certificate holds."""


def checked(arithmetic: Arithmetic) -> checker.Arithmetic | None:
    """The arithmetic as the checker has it; None where it does not know it (`kernel`, `cast`, values without a zero)."""
    try:
        known = checker.Arithmetic(arithmetic.name)
    except Invalid:
        return None
    return known if parse_arithmetic(arithmetic.name) == arithmetic else None


def codes_certificate(lrnn: LRNN, arithmetic: Rounded) -> dict[str, Any] | None:
    """Of an LRNN whose codes no rounding changes, in all dtypes where that is so; None if not in this arithmetic's."""
    numbers, most = _entries(lrnn), _greatest_sum(lrnn)
    found = {
        "per_step": [d for d in FLOATS if fitting(numbers, d)],
        "per_op": [d for d, reach in INTEGER_RANGES.items() if most is not None and most <= reach],
    }
    kind = "per_step" if isinstance(arithmetic, PerStep) else "per_op"
    if arithmetic.values.name not in found[kind]:
        return None
    return {**certificate(lrnn), "kind": "equivalent", "equivalence": found}


def model_document(machine: LinearMachine, name: str) -> dict[str, Any] | str:
    """The certificate's automaton and the model's stored numbers, without a proof; or why there is none."""
    if machine.reader is None or machine.answers is None:
        return "the model has no read-out"
    heads, reader, answers = machine.heads, machine.reader, machine.answers
    letters = len(answers.automaton.letters)
    size = sum(h.weights.dim**2 + 2 * h.entries for h in heads) * letters + reader.codes.size
    size += len(reader.codes) * letters
    if size > MAX_NUMBERS:
        return f"the model has {size:,} numbers, and a certificate holds {MAX_NUMBERS:,}"
    return {
        "format": FORMAT,
        "kind": "equivalent",
        **machine_json(answers.automaton, name, ""),
        "model": {
            "heads": [_head(head, letters) for head in heads],
            "codes": [[_number(x) for x in code] for code in reader.codes.tolist()],
            "decode": np.broadcast_to(reader.answers, (len(reader.codes), letters)).tolist(),
        },
    }


def states_certificate(search: StateSearch, machine: LinearMachine, name: str) -> dict[str, Any] | str:
    """Of a closed search; or why there is none."""
    arithmetic = checked(machine.arithmetic)
    if arithmetic is None:
        return f"the checker does not know {machine.arithmetic.name}"
    document = _within_limits(search, machine, name)
    if isinstance(document, str) or machine.answers is None:
        return document
    states = machine.carrier.decode(search.form.rows(search.store.words[: search.place.count]))
    greatest = max(states.tolist())
    proof = {
        "arithmetic": arithmetic.name,
        "answers": machine.answers.kind,
        "states": search.place.count,
        "greatest": [_number(x) for x in greatest],
    }
    return {**document, "equivalence": proof}


def exact_states_certificate(
    search: StateSearch, stepper: ExactNpzStepper, answers: Answers
) -> dict[str, Any] | str:
    """Of a closed search in exact numbers; or why there is none."""
    document = _within_limits(search, exact_regions(stepper.model, answers), stepper.model.name)
    if isinstance(document, str):
        return document
    proof = {
        "arithmetic": "exact",
        "answers": answers.kind,
        "states": search.place.count,
        "greatest": [_fraction(x) for x in max(stepper.values)],
    }
    return {**document, "equivalence": proof}


def _within_limits(search: StateSearch, machine: LinearMachine, name: str) -> dict[str, Any] | str:
    """The model of a proof by states that the checker would take; or why it would not."""
    letters, count = len(search.automaton.letters), search.place.count
    if letters * count > MAX_STEPS:
        return f"the proof has {letters * count:,} steps, and the checker makes {MAX_STEPS:,}"
    document = model_document(machine, name)
    if isinstance(document, str):
        return document
    heads, codes = document["model"]["heads"], len(document["model"]["codes"])
    filled = sum(
        len(head["H0"][0]) * sum(a != 0 for A in head["A"] for row in A for a in row) for head in heads
    )
    products = count * (filled + letters * machine.form.entries * codes)
    if products > MAX_WORK:
        return f"the proof has {products:,} products, and the checker computes {MAX_WORK:,}"
    return document


def regions_certificate(
    machine: LinearMachine, arithmetic: Arithmetic, name: str, limit: int
) -> dict[str, Any] | None:
    """A proof by balls about the codes, found on a way of the package's own; None where there is none.

    `machine`: the model with the numbers that the arithmetic stores. `limit`: relaxations of a radius.
    """
    known = checked(arithmetic)
    if known is None or not _may_contract(machine, known):
        return None
    document = model_document(machine, name)
    if isinstance(document, str) or machine.answers is None:
        return None
    found = find_regions(machine, arithmetic, limit)
    if found is None:
        return None
    kind, (count, radius) = machine.answers.kind, found
    proof = {"arithmetic": known.name, "answers": kind, "regions": count, "radius": radius}
    return {**document, "equivalence": proof}


def _may_contract(machine: LinearMachine, arithmetic: checker.Arithmetic) -> bool:
    """A quick look: small enough, and every letter that rounds contracts, by float64 norms."""
    exact = arithmetic.kind == "exact"
    if not exact and (arithmetic.kind != "per_step" or arithmetic.format is None):
        return False
    if machine.form.entries > 64 or machine.reader is None:
        return False
    codes, letters = len(machine.reader.codes), len(machine.moves)
    if codes * letters > MAX_REGION_STEPS or codes**2 * letters * machine.form.entries > MAX_DISTANCES:
        return False
    free = [exact or moves is not None for moves in machine.moves]
    norms = [[np.linalg.norm(head.matrix(x), 2) for head in machine.heads] for x in range(len(free))]
    return all(bool(max(norm) < (4 if kept else 1)) for norm, kept in zip(norms, free, strict=True))


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
    return _fraction(Fraction(x))


def _fraction(exact: Fraction) -> Any:
    return exact.numerator if exact.denominator == 1 else f"{exact.numerator}/{exact.denominator}"


def _entries(lrnn: LRNN) -> set[Any]:
    """Every entry of every A(x), B(x) and code."""
    from ..running.weights import letter_rows

    entries: set[Any] = set()
    for head in lrnn.all_heads:
        entries.update(x for code in head.codes for _, _, x in code)
        for t in head.transitions:
            entries.update(x for row in letter_rows(t, head.dim) for x in row.values())
            entries.update(x for _, _, x in t.additive)
    return entries


def _greatest_sum(lrnn: LRNN) -> int | None:
    """The greatest Σ |a||h| + |b| of an entry of A(x) C + B(x), |h| its greatest over the codes; None if not all is integer."""
    from ..running.weights import letter_rows

    most = 0
    for head in lrnn.all_heads:
        if not all(is_integer(x) for x in head.numbers):
            return None
        sizes = np.zeros((head.dim, head.value_dim), dtype=object)
        for code in head.codes:
            for i, j, x in code:
                sizes[i, j] = max(sizes[i, j], abs(int(x)))  # type: ignore[arg-type]
        most = max(most, sizes.max())
        for t in head.transitions:
            rows = letter_rows(t, head.dim)
            A = np.zeros((head.dim, head.dim), dtype=object)
            for i, row in enumerate(rows):
                for k, a in row.items():
                    A[i, k] = abs(int(a))  # type: ignore[arg-type]
            sums = A @ sizes
            for i, j, b in t.additive:
                sums[i, j] += abs(int(b))  # type: ignore[arg-type]
            most = max(most, A.max(), sums.max())
    return int(most)
