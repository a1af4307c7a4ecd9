"""Exact numbers as text: polynomials in θ, or rational + rational·cos, sin or tan of a rational angle where they are one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from ._cyclotomic import Algebraic, CosineSum, Number, RealCyclotomicField, simplest


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
    if isinstance(x, CosineSum):
        return _cosine(x, sine)
    waves: list[tuple[Fraction, Fraction, Fraction]] = []
    for k, twice in _waves(x.field).get(_direction(x), ()):
        # x = constant + factor · 2cos(2πk/N), as both have one direction
        factor = x.coefficients[-1] / twice[-1]
        constant, at = x.coefficients[0] - factor * twice[0], Fraction(2 * k, x.field.conductor)
        if not sine:
            waves.append((constant, 2 * factor, at))
            continue
        turns = (Fraction(1, 2) - at, Fraction(1, 2) + at)  # cos γ = sin(π/2 ± γ)
        waves += [(constant, 2 * factor * (1 if t > 0 else -1), abs(t)) for t in turns if abs(t) < 1]
    if not waves:
        return _tangent(x)
    # no constant first, then the wished angle, a positive factor, and the least angle
    least = min(waves, key=lambda w: (w[0] != 0, w[2] != angle, w[1] < 0, w[2]))
    return ClosedForm(least[0], least[1], "sin" if sine else "cos", least[2])


def _cosine(x: CosineSum, sine: bool) -> ClosedForm | None:
    """cos γ, or sin(π/2 - γ), where the number is one."""
    if x.angle is None:
        return None
    at = Fraction(2 * x.angle, x.field.conductor)
    if not sine:
        # the angle of the first quarter, with a sign
        return ClosedForm(Fraction(0), Fraction(1 if at < Fraction(1, 2) else -1), "cos", min(at, 1 - at))
    at = Fraction(1, 2) - at
    return ClosedForm(Fraction(0), Fraction(1 if at > 0 else -1), "sin", abs(at))


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
        # x · 2sin γ against 2 - 2cos γ, with 2sin γ = 2cos(γ - π/2)
        left, right = x * x.field.twice_cos(k - N // 4), 2 - x.field.twice_cos(k)
        if left in (right, -right):
            return ClosedForm(Fraction(0), Fraction(1 if left == right else -1), "tan", Fraction(k, N))
    return None
