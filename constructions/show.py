"""`show`: a construction in plain text, every letter's factors and matrix with exact numbers.

Numbers of a field of degree 1 or 2 are polynomials in θ = 2cos(2π/N); in larger fields a number that is a cosine,
sine or tangent of a rational angle, up to rational numbers, is written so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from .errors import InputError
from .householder import GHFactor, product_of
from .lrnn import LRNN, Head, Sparse, Transition
from .matrices import Matrix, identity, scaled
from .real_cyclotomic import Algebraic, Number, RealCyclotomicField, simplest
from .sparse_rows import dense

MAX_MATRIX = 12
"""Largest dimension of which matrices are printed."""
CONVENTION = (
    "C_1 is applied first; A = C_k···C_1, C = I - β v vᵀ, H ← A H; e_1, e_2, ... are the unit vectors"
)


def show(lrnn: LRNN, *, max_letters: int = 30) -> str:
    """The construction as plain text: figures, H_0, then each letter's factors, their norm proofs, and its matrix.

    `max_letters`: letters shown of each head; a last line says how many more there are.
    Raises `InputError` for `max_letters` below 1.
    """
    check_max_letters(max_letters)
    automaton, figures = lrnn.automaton, lrnn.summary()
    factors = "no GH factors" if lrnn.householders is None else counted(lrnn.householders, "factor")
    bound = f" with bound {figures['integer_bound']}" if figures["integer_bound"] is not None else ""
    exact_in = f"bit-exact in {' '.join(lrnn.formats)}" if lrnn.formats else "rounded in every float format"
    lines = [
        f"{label_text(automaton.name)}: {lrnn.construction} ({lrnn.theorem})",
        f"{counted(len(automaton.states), 'state')}, {counted(len(automaton.letters), 'letter')}; "
        f"{counted(len(lrnn.layers), 'layer')}, {counted(lrnn.heads, 'head')}, {factors}, dimension {lrnn.dim}; "
        f"{lrnn.exactness}{bound}, {exact_in}",
        CONVENTION,
        "0 ≤ β‖v‖² ≤ 2 proves ‖C‖ ≤ 1: the eigenvalue of C on v is 1 - β‖v‖², all others are 1",
        *(f"note: {note}" for note in lrnn.notes),
    ]
    for title, head, labels in titled_heads(lrnn):
        lines += [
            "",
            f"{title}: H is {head.dim} × {head.value_dim}, {counted(len(head.codes), 'reachable H', '')}",
        ]
        if head.field > 1:
            lines.append(f"θ = 2cos(2π/{head.field}); θ, cos, sin and tan stand for exact numbers")
        lines += _block("H_0 = ", _code_rows(head))
        for label, transition in list(zip(labels, head.transitions, strict=True))[:max_letters]:
            lines += ["", *_letter_lines(label, transition, head)]
        if len(labels) > max_letters:
            more = counted(len(labels) - max_letters, "more letter")
            lines += ["", f"... {more}: --max-letters {len(labels)} shows all"]
    return "\n".join(lines) + "\n"


def check_max_letters(max_letters: int) -> None:
    """`InputError` unless at least one letter is wanted."""
    if max_letters < 1:
        raise InputError(f"--max-letters {max_letters}: at least one letter is needed")


def counted(number: int, noun: str, plural: str = "s") -> str:
    """`1 factor`, `2 factors`."""
    return f"{number} {noun}{'' if number == 1 else plural}"


def label_text(label: object) -> str:
    """A state's or letter's label on one line: its `str`, or its `repr` where that is empty or not printable."""
    text = str(label)
    return text if text.strip() and text.isprintable() else repr(label)


def titled_heads(lrnn: LRNN) -> list[tuple[str, Head, list[str]]]:
    """Every head in order, with its title and its letters' labels (numbers above the first layer)."""
    result = []
    for i, layer in enumerate(lrnn.layers):
        for j, head in enumerate(layer.heads):
            layer_name = f"Layer {i + 1}, head {j + 1}" if len(lrnn.layers) > 1 else f"Head {j + 1}"
            own = i == 0 and len(head.transitions) == len(lrnn.automaton.letters)
            labels = lrnn.automaton.letters if own else range(len(head.transitions))
            result.append((layer_name, head, [label_text(x) for x in labels]))
    return result


def dense_matrix(transition: Transition, n: int) -> Matrix:
    """A of a letter, gate included, as a dense n × n matrix."""
    if transition.matrix is not None:
        return tuple(tuple(row) for row in dense(transition.matrix, n, n))
    A = product_of(transition.factors, n)
    return A if transition.gate == 1 else scaled(transition.gate, A)


def _letter_lines(label: str, transition: Transition, head: Head) -> list[str]:
    n, k = head.dim, len(transition.factors)
    if transition.matrix is not None:
        kind = "A is given as a matrix, not by factors"
    else:
        kind = counted(k, "factor") if k else "no factor, A = I" if transition.gate == 1 else "no factor"
    lines = [f"letter {label}: {kind}"]
    if transition.gate != 1:
        lines.append(f"  gate {number_text(transition.gate)}, applied before the factors and part of A")
    rows = [factor_texts(factor) for factor in transition.factors]
    widths = [max((len(row[c]) for row in rows), default=0) for c in range(2)]
    for j, (beta, vector, proof) in enumerate(rows):
        lines.append(f"  C_{j + 1}: β = {beta + ',':<{widths[0] + 1}} v = {vector:<{widths[1]}}   {proof}")
    if n > MAX_MATRIX:
        if k or transition.matrix is not None:
            lines.append(f"  A omitted: {n} × {n}, matrices are shown to {MAX_MATRIX} × {MAX_MATRIX}")
    elif (A := dense_matrix(transition, n)) != identity(n) or transition.matrix is not None:
        lines += _block("  A = ", matrix_texts(A, number_text))
    if transition.additive:
        lines.append("  then add B, whose non-zero entries are " + _entries(transition.additive))
    return lines


def factor_texts(factor: GHFactor) -> tuple[str, str, str]:
    """β, v and the norm proof of a factor, as text."""
    eigenvalue = factor.eigenvalue
    kind = ", a reflection" if eigenvalue == -1 else ", a projection" if eigenvalue == 0 else ""
    bound = "" if factor.is_contraction() else ", ‖C‖ > 1"
    size = number_text(simplest(factor.beta * factor.norm_squared))
    proof = f"β‖v‖² = {size}, eigenvalue {number_text(eigenvalue)}{kind}{bound}"
    return number_text(factor.beta), vector_text(factor.vector), proof


def vector_text(vector: Sequence[tuple[int, Number]]) -> str:
    """`e_1 - 2e_3`, from the non-zero entries `(index from 0, value)`."""

    def term(number: str, x: Number, i: int) -> str:
        if " " in number or isinstance(simplest(x), Fraction):
            number = f"({number})"
        number = "" if number == "1" else number + "·" * isinstance(x, Algebraic)
        return f"{number}e_{i + 1}"

    return signed_sum(vector, number_text, term)


def signed_sum(
    vector: Sequence[tuple[int, Number]],
    number: Callable[[Number], str],
    term: Callable[[str, Number, int], str],
) -> str:
    """Terms joined by their signs, "0" without any: `term(size, x, i)` of each entry, its minus taken out of `size`."""
    text = ""
    for i, x in vector:
        size = number(x)
        minus = size.startswith("-")
        if minus:
            size = number(simplest(-x))
        text += ("-" if minus else "") if not text else " - " if minus else " + "
        text += term(size, x, i)
    return text or "0"


def matrix_texts(
    A: Sequence[Sequence[Number]], number: Callable[[Number, bool, Fraction | None], str]
) -> list[list[str]]:
    """The entries by `number`, such as `number_text`; a rotation or reflection of the plane by cos, sin of one angle."""
    first = closed_form(A[0][0])
    angle = None if first is None else first.angle
    two = len(A) == len(A[0]) == 2
    return [[number(x, two and i != j, angle) for j, x in enumerate(row)] for i, row in enumerate(A)]


def _code_rows(head: Head) -> list[list[str]] | str:
    code = head.codes[0]
    if head.dim > MAX_MATRIX:
        return (
            vector_text([(i, x) for i, _, x in code])
            if head.value_dim == 1
            else "zero but for " + _entries(code)
        )
    H = dense(code, head.dim, head.value_dim)
    if head.value_dim == 1:
        return f"({', '.join(number_text(x) for (x,) in H)})ᵀ"
    return matrix_texts(H, number_text)


def _entries(entries: Sparse) -> str:
    return ", ".join(f"({i + 1}, {j + 1}): {number_text(x)}" for i, j, x in entries)


def _block(prefix: str, rows: list[list[str]] | str) -> list[str]:
    """A matrix with its columns aligned behind a prefix."""
    if isinstance(rows, str):
        return [prefix + rows]
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    return [
        (prefix if i == 0 else " " * len(prefix))
        + "[ " + "  ".join(x.rjust(w) for x, w in zip(row, widths, strict=True)) + " ]"
        for i, row in enumerate(rows)
    ]  # fmt: skip


@dataclass(frozen=True)
class ClosedForm:
    """The number constant + factor·function(angle·π)."""

    constant: Fraction
    factor: Fraction
    function: Literal["cos", "sin", "tan"]
    angle: Fraction

    def __str__(self) -> str:
        size, p, q = abs(self.factor), self.angle.numerator, self.angle.denominator
        number = "" if size == 1 else str(size) if size.denominator == 1 else f"({size})"
        wave = f"{number}{self.function}({'' if p == 1 else p}π/{q})"
        minus = self.factor < 0
        if self.constant == 0:
            return ("-" if minus else "") + wave
        return f"{self.constant} {'-' if minus else '+'} {wave}"


def number_text(x: Number, sine: bool = False, angle: Fraction | None = None) -> str:
    """An exact number as text; `sine`, `angle` as for `closed_form`."""
    form = closed_form(x, sine, angle)
    return str(simplest(x) if form is None else form)


def closed_form(x: Number, sine: bool = False, angle: Fraction | None = None) -> ClosedForm | None:
    """x as rational + rational·cos, sin or tan of a rational multiple of π, where it is one.

    `sine`: write a wave as sine, else as cosine. `angle`: the multiple of π that is preferred where there are
    several. None for rationals and in fields of degree 1 and 2, whose polynomials are short.
    """
    x = simplest(x)
    if not isinstance(x, Algebraic) or x.field.degree <= 2:
        return None
    waves: list[tuple[Fraction, Fraction, Fraction]] = []
    for k, twice in _waves(x.field).get(_direction(x), ()):
        factor = x.coefficients[-1] / twice[-1]
        constant, at = x.coefficients[0] - factor * twice[0], Fraction(2 * k, x.field.conductor)
        if not sine:
            waves.append((constant, 2 * factor, at))
            continue
        turns = (Fraction(1, 2) - at, Fraction(1, 2) + at)  # cos γ = sin(π/2 ± γ)
        waves += [(constant, 2 * factor * (1 if t > 0 else -1), abs(t)) for t in turns if abs(t) < 1]
    if not waves:
        return _tangent(x)
    least = min(waves, key=lambda w: (w[0] != 0, w[2] != angle, w[1] < 0, w[2]))
    return ClosedForm(least[0], least[1], "sin" if sine else "cos", least[2])


def _direction(x: Algebraic) -> tuple[Fraction, ...]:
    """The coefficients without the constant one, scaled to end in 1."""
    return tuple(c / x.coefficients[-1] for c in x.coefficients[1:])


@lru_cache(maxsize=16)
def _waves(field: RealCyclotomicField) -> dict[tuple[Fraction, ...], list[tuple[int, tuple[Fraction, ...]]]]:
    """2cos(2πk/N) for every k up to N/2, by the direction of its coefficients; rational ones are left out."""
    waves: dict[tuple[Fraction, ...], list[tuple[int, tuple[Fraction, ...]]]] = {}
    for k in range(field.conductor // 2 + 1):
        wave = field.twice_cos(k)
        if wave.poly.degree() > 0:
            waves.setdefault(_direction(wave), []).append((k, wave.coefficients))
    return waves


@lru_cache(maxsize=4096)
def _tangent(x: Algebraic) -> ClosedForm | None:
    """x = ±tan(γ/2), that is x sin γ = ±(1 - cos γ), for an angle γ = 2πk/N."""
    N = x.field.conductor
    if N % 4:
        return None
    for k in range(1, (N + 1) // 2):
        left, right = x * x.field.twice_cos(k - N // 4), 2 - x.field.twice_cos(k)
        if left in (right, -right):
            return ClosedForm(Fraction(0), Fraction(1 if left == right else -1), "tan", Fraction(k, N))
    return None
