"""`eigenvalue_report`: all eigenvalues of an exact matrix, enclosed, and what they decide; no floats decide anything.

Stable means that the powers A^k stay bounded: spectral radius ≤ 1 and every eigenvalue on the unit circle semisimple.
(A spectral radius ≤ 1 alone is not enough: [[1, 1], [0, 1]], against DP.B6.) The short texts for tables and pictures
stand at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from ...constructions.algebra._cyclotomic import Algebraic
from ...foundation._errors import LimitError
from ._matrix import exact_matrix
from ._roots import Eigenvalue, Interval, Part, eigenvalues_of, parts_of

__all__ = ["Eigenvalue", "Spectrum", "eigenvalue_report"]
MAX_DIM = 64
MAX_BITS = 1 << 14


@dataclass(frozen=True)
class Spectrum:
    """The distinct eigenvalues of an n × n matrix: the real ones from the largest down, then the others.

    A property is None if it is undecided at the allowed precision.

    Attributes:
        n: the dimension.
        eigenvalues: the distinct eigenvalues.
    """

    n: int
    eigenvalues: tuple[Eigenvalue, ...]

    @property
    def is_real(self) -> bool | None:
        """Whether all eigenvalues are real."""
        return all_of(_kind_is_real(e) for e in self.eigenvalues)

    @property
    def has_negative(self) -> bool | None:
        """Whether some eigenvalue is real and negative."""
        return none_of(_is_not_negative(e) for e in self.eigenvalues)

    @property
    def within_disc(self) -> bool | None:
        """Whether the spectral radius is at most 1."""
        return all_of(None if e.circle == "unknown" else e.circle != "outside" for e in self.eigenvalues)

    @property
    def in_zero_one(self) -> bool | None:
        """Whether all eigenvalues are in [0, 1]."""
        return all_of((self.in_minus_one_one, all_of(_is_not_negative(e) for e in self.eigenvalues)))

    @property
    def in_minus_one_one(self) -> bool | None:
        """Whether all eigenvalues are in [-1, 1]."""
        return all_of((self.is_real, self.within_disc))

    @property
    def semisimple_on_circle(self) -> bool | None:
        """Whether no eigenvalue on the unit circle has a Jordan block larger than 1."""
        return all_of(
            True if e.block == 1 else None if e.circle == "unknown" else e.circle != "on"
            for e in self.eigenvalues
        )

    @property
    def is_stable(self) -> bool | None:
        """Whether the powers of the matrix stay bounded."""
        return all_of((self.within_disc, self.semisimple_on_circle))

    @cached_property
    def multiplicity_on_circle(self) -> int | None:
        """The number of eigenvalues on the unit circle, counted with multiplicity."""
        if any(e.circle == "unknown" for e in self.eigenvalues):
            return None
        return sum(e.multiplicity for e in self.eigenvalues if e.circle == "on")

    @cached_property
    def spectral_radius(self) -> Interval:
        """Rational bounds of the largest |λ|; equal where it is known exactly."""
        return max(e.modulus[0] for e in self.eigenvalues), max(e.modulus[1] for e in self.eigenvalues)

    @property
    def is_decided(self) -> bool:
        """Whether nothing is unknown."""
        return not any("unknown" in (e.kind, e.sign, e.circle) for e in self.eigenvalues)

    def to_json(self) -> dict[str, Any]:
        """A plain object: numbers as JSON floats, bounds as exact fractions in strings, `unknown` where undecided."""
        return {
            "dim": self.n,
            "real": value_or_unknown(self.is_real),
            "in_0_1": value_or_unknown(self.in_zero_one),
            "in_-1_1": value_or_unknown(self.in_minus_one_one),
            "stable": value_or_unknown(self.is_stable),
            "spectral_radius": [float(x) for x in self.spectral_radius],
            "on_circle": value_or_unknown(self.multiplicity_on_circle),
            "eigenvalues": [eigenvalue_json(e) for e in self.eigenvalues],
        }


def eigenvalue_report(
    A: Any, *, max_dim: int = MAX_DIM, max_bits: int = MAX_BITS, bits: int = 64, name: str = "the matrix"
) -> Spectrum:
    """Enclose the eigenvalues of a square matrix rigorously, and classify each of them exactly.

    The multiplicities and Jordan blocks, whether an eigenvalue is real, its sign, and whether it lies inside, on or outside the unit
    circle are decided exactly (see
    `spectra_polynomials` and `spectra_roots`).

    Args:
        A: a square matrix, rows of `int`, `Fraction`, `Algebraic` or floats, which are taken as the rationals
            they are.
        max_dim: the largest dimension, at least 1.
        max_bits: the largest number of bits with which a decision is tried; beyond it the answer is `unknown`.
        bits: about the number of bits of the enclosures.
        name: the name to use in error messages.

    Raises:
        InputError: the matrix is not square or not finite.
        LimitError: the dimension is above `max_dim`. A rational matrix with at most one entry in each row and column, such as a
            permutation, may have any size.

    Examples:
        >>> from mirrormata.theory import eigenvalue_report
        >>> [e.text() for e in eigenvalue_report([[0, 1], [1, 0]]).eigenvalues]
        ['1', '-1']
    """
    matrix = exact_matrix(A, name)
    if matrix.n > max_dim and not (matrix.is_monomial and matrix.is_rational):
        raise LimitError(
            f"{name}: {matrix.n} × {matrix.n}, eigenvalues are enclosed to dimension {max_dim}: raise `max_dim`"
        )
    return Spectrum(matrix.n, _enclose_parts(parts_of(matrix), bits, max_bits))


@lru_cache(maxsize=4096)
def _enclose_parts(parts: tuple[Part, ...], bits: int, max_bits: int) -> tuple[Eigenvalue, ...]:
    found = [e for part in parts for e in eigenvalues_of(part, bits=bits, max_bits=max_bits)]
    return tuple(sorted(found, key=_place))


def _place(e: Eigenvalue) -> tuple[bool, Fraction, Fraction, bool, int]:
    x, y = e.centre
    return e.kind != "real", -x, abs(y), y < 0, e.multiplicity


def _kind_is_real(e: Eigenvalue) -> bool | None:
    return None if e.kind == "unknown" else e.kind == "real"


def _is_not_negative(e: Eigenvalue) -> bool | None:
    return None if e.sign == "unknown" else e.sign != "negative"


def all_of(values: Iterable[bool | None]) -> bool | None:
    """Whether all hold; None where that is undecided."""
    found = list(values)
    return False if False in found else None if None in found else True


def none_of(values: Iterable[bool | None]) -> bool | None:
    """Whether some value is False; None where that is undecided."""
    every = all_of(values)
    return None if every is None else not every


def value_or_unknown(value: object) -> object:
    """The value, `unknown` for None."""
    return "unknown" if value is None else value


def eigenvalue_json(e: Eigenvalue) -> dict[str, Any]:
    """One eigenvalue as a plain object."""
    x, y = e.centre
    exact = None if e.exact is None or isinstance(e.exact, Algebraic) else str(e.exact)
    return {
        "value": str(e),
        "re": float(x),
        "im": float(y),
        "re_bounds": [str(b) for b in e.real],
        "im_bounds": [str(b) for b in e.imaginary],
        "multiplicity": e.multiplicity,
        "largest_jordan_block": e.block,
        "kind": e.kind,
        "sign": e.sign,
        "unit_circle": e.circle,
        "exact": exact,
        "turn": None if e.turn is None else str(e.turn),
    }


def eigenvalues_text(eigenvalues: Sequence[Eigenvalue], most: int, digits: int = 9) -> str:
    """`1 ×3, -1, e^(2πi·1/5)`; a Jordan block larger than 1 is said."""
    texts = []
    for e in eigenvalues[:most]:
        block = f" (block {e.block})" if e.block > 1 else ""
        doubt = " (unknown)" if "unknown" in (e.kind, e.sign, e.circle) else ""
        texts.append(f"{e.text(digits)}{f' ×{e.multiplicity}' if e.multiplicity > 1 else ''}{block}{doubt}")
    more = len(eigenvalues) - most
    return ", ".join(texts) + (f", and {more} more" if more > 0 else "")


def range_text(spectrum: Spectrum) -> str:
    """The smallest of the usual ranges that holds all eigenvalues."""
    if spectrum.in_zero_one:
        return "[0, 1]"
    if spectrum.in_minus_one_one:
        return "[-1, 1]"
    if spectrum.within_disc:
        return "unit disc"
    if spectrum.within_disc is None:
        return "unknown"
    return f"radius {interval_text(spectrum.spectral_radius)}"


def interval_text(interval: Interval) -> str:
    """A number by its bounds: exactly where they are equal, else rounded to nine digits."""
    low, high = interval
    if low == high and len(str(low)) <= 18:
        return str(low)
    return (
        f"{float((low + high) / 2):.9g}" if high - low < 10**-9 else f"{float(low):.6g} to {float(high):.6g}"
    )


def answer(value: bool | None) -> str:
    """`yes`, `no` or `unknown`."""
    return "unknown" if value is None else "yes" if value else "no"
