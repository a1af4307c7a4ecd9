"""Certificates of kind `equivalent`, as JSON objects; what each entry means: `theory/checker/equivalent.py`.

Regions: balls about a layer's codes that every letter maps into each other, found for `equivalent` certificates.

What a region proves stands in `theory/checker/equivalent.py`. This file finds the same radii on a way of its own, so that
the two hold each other: norms by the signs of a characteristic polynomial, where the checker eliminates; rounding errors
from the spacing of the format's numbers; radii node by node. Each radius is the least one, so there is one answer.
"""

from __future__ import annotations

from collections import deque
from fractions import Fraction
from math import ceil, comb, isqrt
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from ...constructions._document import FORMAT
from ...constructions._lrnn import LRNN
from ...constructions._realisation import INTEGER_RANGES
from ...constructions.algebra._cyclotomic import is_integer
from ...constructions.certificates._parts import machine_json
from ...constructions.certificates._table import certificate
from ..arithmetic._arithmetic import Arithmetic, Exact, PerStep, Rounded, fractions, parse_arithmetic
from ..arithmetic._rounding import FloatFormat, Floats
from ..checker import _arithmetic as checker
from ..checker._exact import Invalid
from ..checker._regions import MAX_DISTANCES
from ..checker.equivalent import MAX_STEPS, MAX_WORK, fitting
from ..checker.horizon import FLOATS
from ._answers import Answers
from ._exact import ExactNpzStepper, exact_regions
from ._linear import LinearHead, LinearMachine
from ._state_search import StateSearch

UNIT = 2**64
"""Lengths are integers, in units of 2^-64."""
NORM_UNIT = 2**12
LARGEST_NORM = 4


def find_regions(machine: LinearMachine, arithmetic: Arithmetic, limit: int) -> tuple[int, int] | None:
    """How many regions there are, and the largest radius in units of 2^-64; None where there is no such proof.

    `machine`: a model with a reader and answers, its numbers those that the arithmetic stores. `arithmetic`: `exact`, or
    `per_step` of a float format. `limit`: radii computed.
    """
    if machine.reader is None or machine.answers is None:
        return None
    layer = _Layer(machine, arithmetic)
    if not layer.settles:
        return None
    automaton = machine.answers.automaton
    delta, n = automaton.transitions, len(automaton.states)
    first = layer.nearest(layer.initial), automaton.start
    radius = {first: _length(_square(layer.initial - layer.codes[first[0]]))}
    # invariant: a ball is in `waiting` if it has grown since its
    # letters were last tried, so none is left unkept at the end
    waiting, computed = deque([first]), 0
    while waiting:
        c, q = waiting.popleft()
        for x in range(len(delta)):
            computed += 1
            reach = layer.reach(c, x, radius[c, q])
            node = layer.image(c, x)[0], int(delta[x, q])
            if computed > limit or reach is None:
                return None
            # a larger radius is forced by the letter; the least radii are those that nothing forces further
            if reach > radius.get(node, -1):
                if not layer.alone(node[0], x, reach):
                    return None
                radius[node] = reach
                if node not in waiting:
                    waiting.append(node)
    states = np.arange(n)
    right = [machine.answers.right(np.full(n, x), states, delta[x]) for x in range(len(delta))]
    # with the final radii: after each letter the code of the
    # ball says the right answer, and no other code is nearer
    for c, q in radius:
        for x in range(len(delta)):
            c_next, q_next = layer.image(c, x)[0], int(delta[x, q])
            if layer.said[c_next, x] != right[x][q] or not layer.alone(c_next, x, radius[c_next, q_next]):
                return None
    return len(radius), max(radius.values())


class _Layer:
    """The layer's exact numbers: A c + B of each code, norms, and what rounding adds."""

    def __init__(self, machine: LinearMachine, arithmetic: Arithmetic) -> None:
        if machine.reader is None:
            raise ValueError("regions need a reader")
        heads, letters = machine.heads, len(machine.moves)
        self.codes = fractions(machine.reader.codes)
        self.said = np.broadcast_to(machine.reader.answers, (len(self.codes), letters))
        self.initial = fractions(np.concatenate([head.initial.ravel() for head in heads]))
        self.sizes = [_length(_square(code)) for code in self.codes]
        self.shapes = [(head.weights.dim, head.weights.value_dim) for head in heads]
        self.A = [[fractions(head.matrix(x)) for head in heads] for x in range(letters)]
        self.B = [
            [
                np.full(shape, Fraction(0), dtype=object)
                if head.weights.additive is None
                else fractions(head.weights.additive[x])
                for head, shape in zip(heads, self.shapes, strict=True)
            ]
            for x in range(letters)
        ]
        # ‖B‖ over all heads
        self.added = [_length(sum((_square(b) for b in parts), Fraction(0))) for parts in self.B]
        self.rough = [self._count_rounded_entries(x) for x in range(letters)]
        self.format: FloatFormat | None = None
        self.share = self.least = Fraction(0)
        rounds = not isinstance(arithmetic, Exact) and any(self.rough)
        if isinstance(arithmetic, PerStep) and isinstance(arithmetic.values, FloatFormat) and rounds:
            # numbers of a size in [2^e, 2^(e+1)) lie 2^(e+1-precision) apart, those below the least normal as far as there
            self.format, nearest = arithmetic.values, arithmetic.mode in ("rne", "tie_low")
            # u: half of the spacing relative to the number where the mode is to nearest, else all of it
            self.share = Fraction(1 if nearest else 2, 2**self.format.precision)
            # η: the same of the subnormals' spacing
            self.least = self.format.smallest / (2 if nearest else 1)
        self.norms = [_norm(blocks) for blocks in self.A]
        # numbers of a float format keep it when their sign changes; those of a grid need not
        floats = isinstance(arithmetic, PerStep) and isinstance(arithmetic.values, FloatFormat)
        # a letter that rounds must contract, or its errors would add up without end
        self.settles = (isinstance(arithmetic, Exact) or floats) and all(
            norm <= LARGEST_NORM * NORM_UNIT and (norm < NORM_UNIT or self.format is None or not rough)
            for norm, rough in zip(self.norms, self.rough, strict=True)
        )
        self._images: dict[tuple[int, int], tuple[int, int]] = {}
        self._rooms: dict[tuple[int, int], Fraction | None] = {}

    def nearest(self, state: Any) -> int:
        """The first of the nearest codes."""
        squares = [_square(state - code) for code in self.codes]
        return squares.index(min(squares))

    def image(self, c: int, x: int) -> tuple[int, int]:
        """The code nearest to A(x) c + B(x), and how far it is from that."""
        if (c, x) not in self._images:
            parts, first = [], 0
            for (n, d), A, B in zip(self.shapes, self.A[x], self.B[x], strict=True):
                # A c + B, head by head
                parts.append((A @ self.codes[c][first : first + n * d].reshape(n, d) + B).ravel())
                first += n * d
            after = np.concatenate(parts)
            code = self.nearest(after)
            self._images[c, x] = code, _length(_square(after - self.codes[code]))
        return self._images[c, x]

    def reach(self, c: int, x: int, radius: int) -> int | None:
        """How far from the next code a state can be that was so far from its own; None where it may overflow."""
        norm = self.norms[x]
        # s r, in units of 2^-64, rounded up
        grown = ceil(Fraction(norm * radius, NORM_UNIT))
        reach = self.image(c, x)[1] + grown
        if self.format is None or not self.rough[x]:
            return reach
        # |A H + B| ≤ ‖A‖(|c| + r) + |B|; each rounded entry errs by its share of that, or by the least step
        size = ceil(Fraction(norm * (self.sizes[c] + radius), NORM_UNIT)) + self.added[x]
        # where no norm exceeds half of the largest number, no entry overflows
        if size > self.format.max_finite * UNIT / 2:
            return None
        # + uY + mη
        return reach + ceil(size * self.share) + ceil(self.rough[x] * self.least * UNIT)

    def alone(self, c: int, x: int, radius: int) -> bool:
        """Is each point of the ball nearer to its code than to any that answers otherwise on x?"""
        if (c, x) not in self._rooms:
            others = np.flatnonzero(self.said[:, x] != self.said[c, x])
            self._rooms[c, x] = min((_square(self.codes[c] - self.codes[k]) for k in others), default=None)
        room = self._rooms[c, x]
        # 2 r < least distance to a code that answers otherwise
        return room is None or Fraction(2 * radius, UNIT) ** 2 < room

    def _count_rounded_entries(self, x: int) -> int:
        """How many entries of a state are not only moved, up to a sign, or set."""
        count = 0
        for A, B in zip(self.A[x], self.B[x], strict=True):
            for row, added in zip(A, B, strict=True):
                filled = [a for a in row if a]
                moved = len(filled) == 1 and abs(filled[0]) == 1
                # entry (i, j) is rounded unless row i is empty, or a single ±1 with nothing added
                count += sum(bool(filled) and not (moved and not b) for b in added)
        return count


def _square(values: Any) -> Fraction:
    """Σ x²."""
    return sum((x * x for x in values.ravel()), Fraction(0))


def _length(square: Fraction) -> int:
    """The least number of units whose square is no less."""
    scaled = square * UNIT**2
    # the root's floor is that of the square's floor
    root = isqrt(scaled.numerator // scaled.denominator)
    return root if root * root >= scaled else root + 1


def _norm(blocks: list[Any]) -> int:
    """The least s with s/2^12 no less than the spectral norm of each block; more than 4 · 2^12 where that is above 4.

    The squares of a matrix's singular values are the roots of det(λI - AᵀA), all real. All are at most σ if and only if no
    coefficient of the polynomial in λ - σ is negative (Descartes' rule, exact for polynomials with real roots alone).
    """
    # singular values of all heads together are those of each
    largest = 0
    for A in blocks:
        gram = A.T @ A
        entries = [fmpq(x.numerator, x.denominator) for x in gram.ravel()]
        coefficients = [
            Fraction(int(c.p), int(c.q)) for c in fmpq_mat(len(A), len(A), entries).charpoly().coeffs()
        ]
        guess = float(np.linalg.norm(A.astype(float), 2)) * NORM_UNIT
        if not guess <= 2 * LARGEST_NORM * NORM_UNIT:
            return LARGEST_NORM * NORM_UNIT + 1
        # float64 gives where to begin; both loops decide exactly, down to the least s and up to the first that holds
        s = max(int(guess) - 1, 0)
        while s and _all_below(coefficients, Fraction(s, NORM_UNIT) ** 2):
            s -= 1
        while not _all_below(coefficients, Fraction(s, NORM_UNIT) ** 2):
            s += 1
        largest = max(largest, s)
    return largest


def _all_below(coefficients: list[Fraction], shift: Fraction) -> bool:
    """Is no root of a monic polynomial with real roots alone above `shift`?"""
    degree = len(coefficients) - 1
    powers = [Fraction(1)]
    for _ in range(degree):
        powers.append(powers[-1] * shift)
    # coefficient k of p(λ + σ) is Σ_i C(i, k) p_i σ^(i-k)
    return all(
        sum((comb(i, k) * coefficients[i] * powers[i - k] for i in range(k, degree + 1)), Fraction(0)) >= 0
        for k in range(degree + 1)
    )


MAX_REGION_STEPS = 20_000
"""Codes times letters up to which regions are looked for."""
MAX_NUMBERS = 300_000
"""Numbers of a model that a certificate holds."""


def to_checker_arithmetic(arithmetic: Arithmetic) -> checker.Arithmetic | None:
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
    if not machine.has_finite_weights:
        return "a weight is beyond the largest number of the format"
    heads, reader, answers = machine.heads, machine.reader, machine.answers
    letters = len(answers.automaton.letters)
    # A, B and H0 of all letters, then codes and answers
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
    arithmetic = to_checker_arithmetic(machine.arithmetic)
    if arithmetic is None:
        return f"the checker does not know {machine.arithmetic.name}"
    document = _within_limits(search, machine, name)
    if isinstance(document, str) or machine.answers is None:
        return document
    states = machine.carrier.decode(search.form.rows(search.store.words[: search.place.count]))
    # the greatest state in the order of tuples, as the checker asks for
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
    known = to_checker_arithmetic(arithmetic)
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
    if machine.form.entries > 64 or machine.reader is None or not machine.has_finite_weights:
        return False
    codes, letters = len(machine.reader.codes), len(machine.moves)
    # as much as the checker takes
    if codes * letters > MAX_REGION_STEPS or codes**2 * letters * machine.form.entries > MAX_DISTANCES:
        return False
    free = [exact or moves is not None for moves in machine.moves]
    norms = [[np.linalg.norm(head.matrix(x), 2) for head in machine.heads] for x in range(len(free))]
    # a letter that only moves entries may have norm 1 and more
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
    from ..running._weights import letter_rows

    entries: set[Any] = set()
    for head in lrnn.all_heads:
        entries.update(x for code in head.codes for _, _, x in code)
        for t in head.transitions:
            entries.update(x for row in letter_rows(t, head.dim) for x in row.values())
            entries.update(x for _, _, x in t.additive)
    return entries


def _greatest_sum(lrnn: LRNN) -> int | None:
    """The greatest Σ |a||h| + |b| of an entry of A(x) C + B(x), |h| its greatest over the codes; None if not all is integer."""
    from ..running._weights import letter_rows

    most = 0
    for head in lrnn.all_heads:
        if not all(is_integer(x) for x in head.numbers):
            return None
        # sizes[k, j] = max |h_kj| over the codes
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
            # Σ_k |a_ik| max |h_kj|, then |b_ij|
            sums = A @ sizes
            for i, j, b in t.additive:
                sums[i, j] += abs(int(b))  # type: ignore[arg-type]
            most = max(most, A.max(), sums.max())
    return int(most)
