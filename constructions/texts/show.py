"""`show`: a construction in plain text, every letter's factors and matrix with exact numbers.

Numbers of a field of degree 1 or 2 are polynomials in θ = 2cos(2π/N); in larger fields a number that is a cosine,
sine or tangent of a rational angle, up to rational numbers, is written so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from ..errors import InputError
from ..householder import GHFactor, product_of
from ..lrnn import LRNN, Head, Sparse, Transition
from ..matrices import Matrix, identity, scaled
from ..real_cyclotomic import Algebraic, Number, simplest
from ..sparse_rows import dense
from .closed_forms import closed_form, number_text

MAX_MATRIX = 12
"""Largest dimension of which matrices are printed."""
CONVENTION = (
    "C_1 is applied first; A = C_k···C_1, C = I - β v vᵀ, H ← A H; e_1, e_2, ... are the unit vectors"
)
COPIES = (
    "a masked factor is C = I - β v (v⊙a)ᵀ: it reads only the coordinates in its mask a, and ‖C‖ can exceed 1"
)


def show(lrnn: LRNN, *, max_letters: int = 30) -> str:
    """The construction as plain text: figures, H_0, then each letter's factors, their norm proofs, and its matrix.

    With several layers each different transition of a head is shown once, and every layer's read-out (`show_layers`).
    `max_letters`: letters shown of each head; a last line says how many more there are.
    Raises `InputError` for `max_letters` below 1.
    """
    check_max_letters(max_letters)
    automaton, figures = lrnn.automaton, lrnn.summary()
    factors = "no GH factors" if lrnn.householders is None else counted(lrnn.householders, "factor")
    bound = f" with bound {figures['integer_bound']}" if figures["integer_bound"] is not None else ""
    several = len(lrnn.layers) > 1
    heads = f"{counted(len(lrnn.all_heads), 'head')} in all" if several else counted(lrnn.heads, "head")
    exact_in = f"bit-exact in {' '.join(lrnn.formats)}" if lrnn.formats else "rounded in every float format"
    lines = [
        f"{label_text(automaton.name)}: {lrnn.construction} ({lrnn.theorem})",
        f"{counted(len(automaton.states), 'state')}, {counted(len(automaton.letters), 'letter')}; "
        f"{counted(len(lrnn.layers), 'layer')}, {heads}, {factors}, dimension {lrnn.dim}; "
        f"{lrnn.exactness}{bound}, {exact_in}",
        CONVENTION,
        "0 ≤ β‖v‖² ≤ 2 proves ‖C‖ ≤ 1: the eigenvalue of C on v is 1 - β‖v‖², all others are 1",
        *[COPIES] * lrnn.norm.startswith("at most √2"),
        *(f"note: {note}" for note in lrnn.notes),
    ]
    if several:
        from .show_layers import layered_lines

        return "\n".join(lines + layered_lines(lrnn, max_letters)) + "\n"
    for title, head, labels in titled_heads(lrnn):
        lines += [
            "",
            f"{title}: H is {head.dim} × {head.value_dim}, {counted(len(head.codes), 'reachable H', '')}",
        ]
        lines += [*field_lines(head), *code_lines("H_0 = ", head, head.codes[0])]
        for label, transition in list(zip(labels, head.transitions, strict=True))[:max_letters]:
            lines += ["", *transition_lines(f"letter {label}", transition, head)]
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
    """Every head of an LRNN of one layer in order, with its title and its letters' labels."""
    labels = [label_text(x) for x in lrnn.automaton.letters]
    return [(f"Head {j + 1}", head, labels) for j, head in enumerate(lrnn.layers[0].heads)]


def dense_matrix(transition: Transition, n: int) -> Matrix:
    """A of a letter, gate included, as a dense n × n matrix."""
    if transition.matrix is not None:
        return tuple(tuple(row) for row in dense(transition.matrix, n, n))
    A = product_of(transition.factors, n)
    return A if transition.gate == 1 else scaled(transition.gate, A)


def field_lines(head: Head) -> list[str]:
    """What θ is, where the head's numbers are irrational."""
    if head.field == 1:
        return []
    return [f"θ = 2cos(2π/{head.field}); θ, cos, sin and tan stand for exact numbers"]


def transition_lines(heading: str, transition: Transition, head: Head) -> list[str]:
    """A transition's factors with their norm proofs, its matrix and additive term, after a heading such as `letter a`."""
    n, k = head.dim, len(transition.factors)
    if transition.matrix is not None:
        kind = "A is given as a matrix, not by factors"
    else:
        kind = counted(k, "factor") if k else "no factor, A = I" if transition.gate == 1 else "no factor"
    lines = [f"{heading}: {kind}"]
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
    """β, v and the norm proof of a factor, as text; for a masked one v, v⊙a and that its norm is larger."""
    eigenvalue = factor.eigenvalue
    kind = ", a reflection" if eigenvalue == -1 else ", a projection" if eigenvalue == 0 else ""
    if factor.mask is not None:
        vectors = f"{vector_text(factor.vector)}, v⊙a = {vector_text(factor.reading)}"
        return (
            number_text(factor.beta),
            vectors,
            f"eigenvalue {number_text(eigenvalue)}, {_masked_norm(factor)}",
        )
    bound = "" if factor.is_contraction() else ", ‖C‖ > 1"
    size = number_text(simplest(factor.beta * factor.norm_squared))
    proof = f"β‖v‖² = {size}, eigenvalue {number_text(eigenvalue)}{kind}{bound}"
    return number_text(factor.beta), vector_text(factor.vector), proof


def _masked_norm(factor: GHFactor) -> str:
    unit = [abs(x) for _, x in factor.vector if isinstance(x, int)]
    copy = factor.beta == 1 and unit == [1, 1] and len(factor.reading) == 1 and factor.eigenvalue == 0
    return "a copy, ‖C‖ = √2" if copy else "‖C‖ can exceed 1"


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


def code_lines(prefix: str, head: Head, code: Sparse) -> list[str]:
    """A state H of the head behind a prefix."""
    return _block(prefix, _code_rows(head, code))


def _code_rows(head: Head, code: Sparse) -> list[list[str]] | str:
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
