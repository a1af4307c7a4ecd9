"""Eigenvalues, ranges and bounds as short texts for tables and pictures."""

from __future__ import annotations

from collections.abc import Sequence

from .eigenvalues import Spectrum
from .roots import Eigenvalue, Interval


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
