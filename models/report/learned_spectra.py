"""Letters of learned heads in a report: eigenvalues on the unit disc beside constructed and snapped ones, and β‖k‖²."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...theory.arithmetic._rounding import Floats
from ..comparison._result import Comparison, HeadComparison
from ..comparison._snap import find_factors_in_use, measure_strengths_inside
from ..comparison._spectra import LetterFacts, numeric_eigenvalues
from ..learned._learned import LearnedHead
from .learned_trained import Trained
from .limits import LearnedLimits, some_of, spread_out
from .parts import Cell, Chart, Mark, Section, Series, Table

SAME = 1e-6
"""Eigenvalues that are nearer are one point, with its multiplicity on hover."""


def spectra_section(
    slug: str, title: str, place: Trained, found: Comparison, limits: LearnedLimits
) -> Section:
    """Of the heads that carry states; of the first ones where none does."""
    heads = heads_shown(found, limits)
    source = place.source(limits)
    items: list[Chart | Table] = [_disc(found, heads, limits, source)]
    with_factors = [h for h in heads if h.head.factors is not None]
    if with_factors:
        items.append(_strengths(with_factors, source))
    items.append(_letters(found, heads, limits, source))
    text = (
        "Eigenvalues of the transitions A(x), and what the factors I - βkkᵀ do: 1 - β‖k‖² is a factor's eigenvalue, so 2 is a "
        "reflection and 0 does nothing."
    )
    if not with_factors:
        text += " There is no chart of β: factors are known only where one layer of DeltaProduct has no convolution."
    return Section(slug, title, text, tuple(items))


def heads_shown(found: Comparison, limits: LearnedLimits) -> list[HeadComparison]:
    """Heads that carry states, or the first ones where none does."""
    return [h for h in found.heads if h.carries_states] or list(found.heads[: limits.heads])


def _disc(found: Comparison, heads: Sequence[HeadComparison], limits: LearnedLimits, source: str) -> Chart:
    letters = found.learned.letters
    shown = spread_out(len(letters), limits.letters)
    beside = {head.name: head for head in found.constructed.heads} if found.constructed is not None else {}
    # with no head on a constructed one all of these are of interest; else a head of another representation has none
    unpaired = [] if any(h.beside for h in heads) else list(beside.values())
    series = []
    for h in heads:
        constructed = unpaired if h.beside is None else [beside[h.beside]]
        for x in shown:
            picks = (("head", h.head.name), ("letter", letters[x]))
            series += [_points("constructed", head, head.A[x], 0, picks, letters[x]) for head in constructed]
            series.append(_points("learned", h.head, h.head.A[x], 1, picks, letters[x]))
            if h.snapped is not None:
                series.append(_points("snapped, on U", h.head, h.snapped.letters[x], 2, picks, letters[x]))
    largest = max((abs(z) for h in heads for A in h.head.A for z in numeric_eigenvalues(A)), default=0.0)
    names = {s.name for s in series}
    beside_them = [
        text
        for name, text in (("constructed", "of constructed ones"), ("snapped, on U", "of what they snap to"))
        if name in names
    ]
    return Chart(
        "learned-disc", "Eigenvalues on the unit disc",
        f"Eigenvalues of {some_of(len(shown), len(letters), 'learned letter')}{''.join(f', {text}' for text in beside_them)}; what is "
        f"nearer than {SAME:g} is one point. The largest modulus of all learned letters is {largest:.9g}.",
        "real part", "imaginary part", tuple(series), f"{source}; float64", circle=True,
    )  # fmt: skip


def _points(
    name: str, head: LearnedHead, A: Floats, role: int, picks: tuple[tuple[str, str], ...], letter: str
) -> Series:
    distinct: list[list[complex]] = []
    for z in numeric_eigenvalues(A):
        near = next((group for group in distinct if abs(group[0] - z) < SAME), None)
        if near is None:
            distinct.append([z])
        else:
            near.append(z)
    hover = tuple(
        f"{name}, {head.name}, letter {letter}: |λ| = {abs(g[0]):.6g}, angle {np.angle(g[0]) / (2 * np.pi):.5g} turns"
        + (f", {len(g)} times" if len(g) > 1 else "")
        for g in distinct
    )
    xs, ys = tuple(g[0].real for g in distinct), tuple(g[0].imag for g in distinct)
    return Series(name, xs, ys, "points", role, hover, picks)


def _strengths(heads: Sequence[HeadComparison], source: str) -> Chart:
    series = []
    for h in heads:
        factors = h.head.factors
        assert factors is not None
        inside = measure_strengths_inside(h.head, h.geometry.basis)
        for j in range(factors.strength.shape[1]):
            texts = tuple(
                f"{h.head.name}, letter {f.letter}, factor {j + 1}: β‖k‖² = {s:.7g}, on U {u:.5g}, margin to 2 {2 - s:.3g}"
                for f, s, u in zip(h.facts, factors.strength[:, j], inside[:, j], strict=True)
            )
            picks = (("head", h.head.name), ("factor", str(j + 1)))
            names = tuple(f.letter for f in h.facts)
            values = tuple(float(s) for s in factors.strength[:, j])
            series.append(Series(f"factor {j + 1}", names, values, "points", 4 + j, texts, picks))
    used = [float(s) for h in heads if h.head.factors is not None for s in _used(h)]
    least = f" The least of those in use on U is {min(used):.7g}." if used else " None is in use on U."
    return Chart(
        "learned-strengths", "β‖k‖² by letter and factor",
        "At 2 a factor is a reflection, at 0 it is the identity. Between them it shrinks the part of the state along its key, "
        f"above 2 it enlarges it: harmless only where no state depends on that part.{least}",
        "letter", "β‖k‖²", tuple(series), source, (Mark("y", 2, "2: reflection"), Mark("y", 0, "0: identity")),
    )  # fmt: skip


def _used(h: HeadComparison) -> Floats:
    assert h.head.factors is not None
    strengths: Floats = h.head.factors.strength[find_factors_in_use(h.head, h.geometry.basis)]
    return strengths


def _letters(found: Comparison, heads: Sequence[HeadComparison], limits: LearnedLimits, source: str) -> Table:
    beside: dict[str, tuple[LetterFacts, ...]] = {}
    if found.constructed is not None:
        names = [head.name for head in found.constructed.heads]
        beside = dict(zip(names, found.constructed_facts, strict=True))
    shown = spread_out(len(found.learned.letters), limits.letters)
    rows: list[tuple[Cell, ...]] = []
    for h in heads:
        theirs, inside = beside.get(h.beside or ""), measure_strengths_inside(h.head, h.geometry.basis)
        for x in shown:
            f = h.facts[x]
            rows.append(
                (
                    h.head.name, f.letter, " ".join(f"{s:.6g}" for s in f.strengths) or None,
                    " ".join(f"{u:.4g}" for u in inside[x]) or None, f.margin_to_2, f.reflection_rank, f.text,
                    f.in_zero_one, None if theirs is None else theirs[x].text,
                )
            )  # fmt: skip
    count = some_of(len(shown), len(found.learned.letters), "letter").capitalize()
    return Table(
        "learned-letters", "Letters",
        f"{count}. Eigenvalues are those of the exact values of the floats; rank(A - I) counts singular values above "
        f"{found.tolerances.rank:g}; on U: β times the square of the part of k in U.",
        (
            "head", "letter", "β‖k‖²", "on U", "least distance from 2", "rank(A - I)", "eigenvalues",
            "all in [0, 1]", "constructed eigenvalues",
        ),
        tuple(rows), source,
    )  # fmt: skip
