"""Numbers of a number field as text: polynomials in θ, and sums of cosines."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction


def cosines_text(terms: Mapping[int, Fraction], conductor: int) -> str:
    """`1/2 - cos(2π·3/404)`, the rational part first."""
    text = ""
    for j, c in sorted(terms.items()):
        size = str(abs(c)) if abs(c).denominator == 1 or not j else f"({abs(c)})"
        cosine = f"{'' if abs(c) == 1 else size}cos(2π·{j}/{conductor})"
        join = ("-" if c < 0 else "") if not text else (" - " if c < 0 else " + ")
        text += join + (cosine if j else size)
    return text or "0"


def polynomial_text(coefficients: tuple[Fraction, ...], variable: str) -> str:
    """`1/2 - θ + 3θ^2`, readable, constant first."""
    text = ""
    for power, c in enumerate(coefficients):
        if c == 0:
            continue
        size = abs(c)
        unit = "" if power == 0 else variable if power == 1 else f"{variable}^{power}"
        number = (
            "" if size == 1 and power else str(size) if size.denominator == 1 or not power else f"({size})"
        )
        join = ("-" if c < 0 else "") if not text else (" - " if c < 0 else " + ")
        text += f"{join}{number}{unit}"
    return text or "0"
