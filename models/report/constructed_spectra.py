"""The spectra of a construction's letters in a report: every eigenvalue on the unit disc, and a table of their classes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ...constructions._lrnn import LRNN
from ...foundation._errors import LimitError
from ...theory.spectra._eigenvalues import answer, eigenvalues_text, range_text
from ...theory.spectra._matrix import ExactMatrix, lifted_together
from ...theory.spectra._model import LetterSpectrum, lrnn_heads, model_spectrum
from ...theory.spectra._roots import Eigenvalue
from .constructed_mirrors import LOWER
from .limits import ShownLimits, some_of
from .parts import Cell, Chart, Section, Series, Table

COLUMNS = ("head", "letters", "such as", "eigenvalues", "they lie in", "rank(A - I)", "‖A‖ ≤ 1", "stable")
MOST_VALUES = 8
"""Different eigenvalues written out in a row."""


@dataclass(frozen=True)
class HeadSpectra:
    """`found`: the different matrices of a head that were looked at, of `matrices` in all; `shown`: those in the chart."""

    name: str
    found: tuple[LetterSpectrum, ...]
    shown: tuple[LetterSpectrum, ...]
    matrices: int


def spectra_section(lrnn: LRNN, limits: ShownLimits) -> Section:
    """A chart with the eigenvalues of some letters of each head, and a table with all that were enclosed, by class."""
    heads, beyond = head_spectra(lrnn, limits)
    looked, every = sum(len(h.found) for h in heads), sum(h.matrices for h in heads)
    text = (
        f"Eigenvalues of {_matrices(looked, every)}, enclosed by exact arithmetic: multiplicities, Jordan blocks, and whether "
        "a number is real or on the unit circle are decided, or said to be undecided, and never read off floats."
    )
    if len(lrnn.layers) > 1:
        text += f" {LOWER}"
    text += "".join(f" {name} is left out: {reason}." for name, reason in beyond)
    if not heads:
        left_out = "".join(f" {name}: {reason}." for name, reason in beyond)
        return Section("spectra", "Spectra", f"Not here: every head is beyond the limits.{left_out}", ())
    return Section("spectra", "Spectra", text, (_chart(lrnn, heads, limits), _table(heads, limits)))


def _matrices(shown: int, every: int) -> str:
    return some_of(shown, every, "different letter matrix", "different letter matrices")


def head_spectra(lrnn: LRNN, limits: ShownLimits) -> tuple[list[HeadSpectra], list[tuple[str, str]]]:
    """The spectra of each head within the limits, and heads beyond them with the reason."""
    heads, beyond = list[HeadSpectra](), list[tuple[str, str]]()
    for name, matrices, labels in lrnn_heads(lrnn):
        numbers = dict[ExactMatrix, int]()
        for A in (lifted := lifted_together(matrices)):
            numbers.setdefault(A, len(numbers))
        pairs = [(A, x) for A, x in zip(lifted, labels, strict=True) if numbers[A] < limits.spectra]
        try:
            report = model_spectrum([A for A, _ in pairs], labels=[x for _, x in pairs], name=name)
        except LimitError as error:
            beyond.append((name, str(error).removeprefix(f"{name}: ").partition(":")[0]))
            continue
        found = report.heads[0].letters
        heads.append(HeadSpectra(name, found, _one_of_each_kind(found, limits.letters), len(numbers)))
    return heads, beyond


def eigenvalue_class(e: Eigenvalue) -> str:
    """`non-real, on the unit circle, twofold, semisimple`."""
    kind = e.kind if e.kind != "real" or e.sign == "zero" else f"{e.kind} and {e.sign}"
    where = "undecided whether on the unit circle" if e.circle == "unknown" else f"{e.circle} the unit circle"
    block = "semisimple" if e.block == 1 else f"largest Jordan block {e.block}"
    return f"{'zero' if e.sign == 'zero' else kind}, {where}, multiplicity {e.multiplicity}, {block}"


def _one_of_each_kind(found: tuple[LetterSpectrum, ...], most: int) -> tuple[LetterSpectrum, ...]:
    """The first of each different spectrum, then the others, as far as `most` goes, in their order."""
    if len(found) <= most:
        return found
    first: dict[tuple[Eigenvalue, ...], int] = {}
    for i, letter in enumerate(found):
        first.setdefault(letter.spectrum.eigenvalues, i)
    firsts = set(first.values())
    order = [*first.values(), *(i for i in range(len(found)) if i not in firsts)]
    return tuple(found[i] for i in sorted(order[:most]))


def _chart(lrnn: LRNN, heads: list[HeadSpectra], limits: ShownLimits) -> Chart:
    drawn = heads[: limits.heads]
    series = tuple(_series(head.name, letter) for head in drawn for letter in head.shown)
    count = Counter[str]()
    for head in drawn:
        for letter in head.shown:
            for e in letter.spectrum.eigenvalues:
                count[e.circle] += e.multiplicity
    where = [f"{count[c]:,} {words}" for c, words in _PLACES if count[c]]
    shown = sum(len(head.shown) for head in drawn)
    every = sum(h.matrices for h in heads)
    kinds = ", one of each spectrum first" if shown < every else ""
    which_heads = f"; {some_of(len(drawn), len(heads), 'head')}" if len(heads) > 1 else ""
    return Chart(
        "spectra-disc",
        "Eigenvalues on the unit disc",
        f"Eigenvalues of {_matrices(shown, every)}{kinds}{which_heads}. Counted with multiplicities: {', '.join(where)}.",
        "real part",
        "imaginary part",
        series,
        f"exact letters of {lrnn.construction} ({lrnn.theorem}); the middles of enclosures narrower than a float64 can tell",
        circle=True,
    )


_PLACES = (
    ("on", "on the unit circle"),
    ("inside", "inside it"),
    ("outside", "outside it"),
    ("unknown", "undecided"),
)


def _series(head: str, letter: LetterSpectrum) -> Series:
    values = letter.spectrum.eigenvalues
    return Series(
        head,
        tuple(float(e.centre[0]) for e in values),
        tuple(float(e.centre[1]) for e in values),
        role=0,
        hover=tuple(f"{head}, letter {letter.label}: {e.text()} ({eigenvalue_class(e)})" for e in values),
        filters=(("head", head), ("letter", letter.label)),
    )


def _table(heads: list[HeadSpectra], limits: ShownLimits) -> Table:
    rows = [row for head in heads for row in _rows(head)]
    shown = rows[: limits.rows]
    looked, every = sum(len(h.found) for h in heads), sum(h.matrices for h in heads)
    whole = "" if looked == every else f" among {looked:,} of {every:,} different matrices"
    description = (
        f"{some_of(len(shown), len(rows), 'different spectrum', 'different spectra').capitalize()}{whole}; a number behind "
        "× is a multiplicity. Stable means that all powers stay bounded."
    )
    source = "exact enclosures by balls, LDLᵀ for the norm"
    return Table("spectra-table", "Spectra by class", description, COLUMNS, tuple(shown), source)


def _rows(head: HeadSpectra) -> list[tuple[Cell, ...]]:
    groups: dict[tuple[object, ...], list[LetterSpectrum]] = {}
    for letter in head.found:
        groups.setdefault(
            (letter.spectrum.eigenvalues, letter.reflection_rank, letter.norm.holds), []
        ).append(letter)
    return [
        (
            head.name,
            sum(len(letter.labels) for letter in letters),
            letters[0].labels[0],
            eigenvalues_text(letters[0].spectrum.eigenvalues, MOST_VALUES),
            range_text(letters[0].spectrum),
            letters[0].reflection_rank,
            letters[0].norm.holds,
            answer(letters[0].spectrum.is_stable),
        )
        for letters in groups.values()
    ]
