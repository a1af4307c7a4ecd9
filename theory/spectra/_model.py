"""`model_spectrum`: the eigenvalues of every letter of a model, exactly, and of products of its letters.

A model is an exact `LRNN`, an `NpzModel`, an array `[letters, n, n]` of floats or exact numbers (one head), or any
mapping or sequence of square matrices of one size. Letters with the same matrix are reported once. Of all products of a
head's letters up to a length it is said what first leaves the reals, the unit disc, or stability.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ...constructions._head import Head
from ...constructions._lrnn import LRNN, table_of
from ...constructions._realisation import Realisation
from ...constructions.texts._show import distinct_transitions, label_text, layer_letters
from ...foundation._errors import InputError, LimitError
from ...foundation._text import count_noun, html_table, one_line
from ..running._weights import letter_rows
from ._eigenvalues import (
    MAX_BITS,
    MAX_DIM,
    Spectrum,
    all_of,
    answer,
    eigenvalue_report,
    eigenvalues_text,
    interval_text,
    range_text,
    value_or_unknown,
)
from ._matrix import ExactMatrix, exact_matrix, exact_number, lift_to_one_field, sparse_row
from ._norms import NormVerdict
from ._roots import Eigenvalue, Interval
from ._within import norm_within, rank_within

MAX_PRODUCTS = 2_000
ROUNDED = Fraction(1, 2**40)
"""How far an A may lie from the product of its factors to be the same matrix rounded: a share of the largest entry, or of 1."""
Word = tuple[str, ...]
FIRSTS = {
    "non-real": "a non-real eigenvalue",
    "negative": "a negative eigenvalue",
    "outside": "an eigenvalue outside the unit circle",
    "unstable": "unbounded powers",
}
"""What a product may be the first to have, and in words."""


@dataclass(frozen=True)
class Products:
    """The distinct products A(x_t)···A(x_1) of 1 ≤ t ≤ `length` letters.

    Attributes:
        asked: the requested length.
        length: the length up to which every product was seen; it is less than `asked` if `max_products` stopped the
            search or `seen_all` is true.
        seen_all: whether no longer word has a new product.
        count: the number of distinct products that were seen.
        spectral_radius: bounds of the largest spectral radius among them.
        largest: a shortest word that attains the lower bound of `spectral_radius`.
        first: for each property in `FIRSTS`, a shortest word (the first in the order of the letters) whose product has
            it, or None.
        undecided: for each property, the first word for which it is undecided, or None.
        eigenvalues: the distinct eigenvalues, as enclosed, in the order in which they were met.
    """

    asked: int
    length: int
    seen_all: bool
    count: int
    spectral_radius: Interval
    largest: Word
    first: dict[str, Word | None]
    undecided: dict[str, Word | None]
    eigenvalues: tuple[Eigenvalue, ...]

    @property
    def is_complete(self) -> bool:
        """Whether all requested products were seen."""
        return self.seen_all or self.length >= self.asked

    @property
    def reach(self) -> str:
        """The length up to which the results hold, in words."""
        if self.seen_all:
            return f"all words: {self.count:,} distinct products"
        short = "" if self.is_complete else f" (asked: {self.asked}; stopped by `max_products`)"
        return f"words to length {self.length}{short}: {self.count:,} distinct products seen"

    def to_json(self) -> dict[str, Any]:
        """A plain object; words are lists of letters' labels."""
        return {
            "length_asked": self.asked,
            "length": self.length,
            "closed": self.seen_all,
            "complete": self.is_complete,
            "distinct_products": self.count,
            "spectral_radius": [float(x) for x in self.spectral_radius],
            "spectral_radius_word": list(self.largest),
            "first": {key: None if word is None else list(word) for key, word in self.first.items()},
            "unknown": {key: list(word) for key, word in self.undecided.items() if word is not None},
        }


def product_spectra(
    matrices: Sequence[ExactMatrix],
    labels: Sequence[str],
    length: int,
    *,
    max_dim: int = MAX_DIM,
    max_bits: int = MAX_BITS,
    max_products: int = MAX_PRODUCTS,
) -> Products:
    """Breadth first over words: each distinct product once, with its shortest word.

    Stops early where no new product arises (a finite monoid) and, saying so, at `max_products` distinct ones.
    Raises `LimitError` for matrices beyond `max_dim`, see `eigenvalue_report`.
    """
    letters = lift_to_one_field(matrices)
    seen: dict[ExactMatrix, None] = {}
    first: dict[str, Word | None] = dict.fromkeys(FIRSTS)
    undecided: dict[str, Word | None] = dict.fromkeys(FIRSTS)
    eigenvalues: dict[Eigenvalue, None] = {}
    radius: Interval | None = None
    largest: Word = ()
    frontier: list[tuple[ExactMatrix | None, Word]] = [(None, ())]
    done, stopped = 0, False
    while done < length and frontier and not stopped:
        following: list[tuple[ExactMatrix | None, Word]] = []
        for before, word in frontier:
            for letter, label in zip(letters, labels, strict=True):
                product = letter if before is None else letter @ before
                if product in seen:
                    continue
                if len(seen) >= max_products:
                    stopped = True
                    break
                seen[product] = None
                longer = (*word, label)
                following.append((product, longer))
                spectrum = eigenvalue_report(product, max_dim=max_dim, max_bits=max_bits)
                _note(spectrum, longer, first, undecided)
                eigenvalues.update(dict.fromkeys(spectrum.eigenvalues))
                low, high = spectrum.spectral_radius
                if radius is None or low > radius[0]:
                    largest = longer
                radius = (low, high) if radius is None else (max(low, radius[0]), max(high, radius[1]))
            if stopped:
                break
        frontier = following
        done += not stopped
    assert radius is not None
    seen_all = not frontier and not stopped
    return Products(length, done, seen_all, len(seen), radius, largest, first, undecided, tuple(eigenvalues))


def _note(
    spectrum: Spectrum, word: Word, first: dict[str, Word | None], undecided: dict[str, Word | None]
) -> None:
    """Enter a word wherever it is the first; only what no earlier word was known to have can be undecided."""
    claims = {
        "non-real": _negate(spectrum.is_real),
        "negative": spectrum.has_negative,
        "outside": _negate(spectrum.within_disc),
        "unstable": _negate(spectrum.is_stable),
    }
    for key, holds in claims.items():
        if holds is None and first[key] is None and undecided[key] is None:
            undecided[key] = word
        if holds and first[key] is None:
            first[key] = word


def _negate(value: bool | None) -> bool | None:
    return None if value is None else not value


def word_text(word: Word) -> str:
    """The letters in the order read; none is the empty word."""
    return " ".join(word) if word else "ε"


def first_lines(products: Products) -> list[str]:
    """What the products are the first to have, one line each."""
    lines = []
    for key, words in FIRSTS.items():
        word, doubtful = products.first[key], products.undecided[key]
        text = "none" if word is None else f"first {word_text(word)}"
        if doubtful is not None:
            text += f" ({value_or_unknown(None)} for {word_text(doubtful)})"
        lines.append(f"{words}: {text}")
    return lines


def lrnn_heads(lrnn: LRNN) -> list[tuple[str, list[ExactMatrix], list[str]]]:
    """For each head its name, and for each letter of its layer the matrix and the label."""
    letters = layer_letters(lrnn)
    several = lrnn.is_layered
    heads = []
    for i, layer in enumerate(lrnn.layers):
        for j, head in enumerate(layer.heads):
            matrices, names = [], []
            for transition, own in distinct_transitions(head):
                matrices += [_transition_matrix(head, transition)] * len(own)
                names += [letters[i].name(x) for x in own]
            heads.append((f"head {i + 1}.{j + 1}" if several else f"head {j + 1}", matrices, names))
    return heads


def _transition_matrix(head: Head, transition: int) -> ExactMatrix:
    rows = letter_rows(head.transitions[transition], head.dim)
    return ExactMatrix(tuple(sparse_row(row) for row in rows), head.dim)


def check_letters(
    model: Any, labels: Sequence[str] | None, title: str
) -> tuple[list[ExactMatrix], list[str]]:
    """The matrices and labels of a model of one head; `InputError` with all that is wrong with them."""
    if not isinstance(model, Mapping | Sequence) and hasattr(model, "H0"):
        from ..proofs._npz_model import NpzModel

        if isinstance(model, NpzModel):
            labels, model = model.letters if labels is None else labels, model.A
    if isinstance(model, Mapping):
        labels, model = [label_text(x) for x in model], list(model.values())
    try:
        given = list(model)
    except TypeError:
        raise InputError(
            f"{title}: an LRNN or matrices [letters, n, n] are needed, not {type(model).__name__}"
        ) from None
    names = [str(x) for x in range(len(given))] if labels is None else list(labels)
    if not given or len(names) != len(given):
        raise InputError(
            f"{title}: {len(given)} matrices with {len(names)} labels; each letter has one of each"
        )
    matrices, wrong = [], []
    for x, A in zip(names, given, strict=True):
        try:
            matrices.append(exact_matrix(A, f"letter {x}"))
        except InputError as error:
            wrong.append(str(error))
    wrong += [
        f"letter {x}: {A.n} × {A.n}, but letter {names[0]} is {matrices[0].n} × {matrices[0].n}"
        for x, A in zip(names, matrices, strict=False)
        if not wrong and A.n != matrices[0].n
    ]
    if wrong:
        raise InputError(
            f"{title}: " + "; ".join(wrong[:5]) + (f"; and {len(wrong) - 5} more" * (len(wrong) > 5))
        )
    return matrices, names


MAX_LETTERS = 2_000


@dataclass(frozen=True)
class LetterSpectrum:
    """The spectrum of a matrix of a head.

    Attributes:
        labels: the letters that have this matrix.
        matrix: the matrix.
        spectrum: its eigenvalues.
        reflection_rank: rank(A - I), see H.rank; where a distance is given, the least one of a matrix within it.
        norm: whether its norm is at most 1, or that of a matrix within the distance.
        within: the distance in the spectral norm within which `reflection_rank`, `norm` and `is_stable` are judged.
    """

    labels: tuple[str, ...]
    matrix: ExactMatrix
    spectrum: Spectrum
    reflection_rank: int
    norm: NormVerdict
    within: Fraction = Fraction(0)

    @property
    def is_stable(self) -> bool | None:
        """Whether the powers of the matrix stay bounded, or, where a distance is given, those of a contraction within it."""
        return True if self.within and self.norm.holds else self.spectrum.is_stable

    @property
    def label(self) -> str:
        """The first letter, and how many more have the same matrix."""
        return self.labels[0] + (f" (+{len(self.labels) - 1})" if len(self.labels) > 1 else "")

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain values for JSON."""
        return {
            "letters": list(self.labels),
            **self.spectrum.to_json(),
            "stable": value_or_unknown(self.is_stable),
            "reflection_rank": self.reflection_rank,
            "norm_at_most_1": self.norm.holds,
            "isometry": self.norm.is_isometry,
        }


@dataclass(frozen=True)
class HeadSpectrum:
    """The letters of one head, and their products where they were asked for.

    Attributes:
        name: the head's name.
        dim: its key dimension.
        letters: the spectra of its different matrices.
        products: the results for products; None if they were not requested.
    """

    name: str
    dim: int
    letters: tuple[LetterSpectrum, ...]
    products: Products | None


@dataclass(frozen=True, repr=False)
class ModelSpectrum:
    """The spectra of a model's heads.

    Attributes:
        name: the model's name.
        heads: one entry per head.
        notes: sentences about which matrices these are, and within which distance they are judged.
        within: the distance in the spectral norm within which ranks, norms and stability are judged.
    """

    name: str
    heads: tuple[HeadSpectrum, ...]
    notes: tuple[str, ...] = ()
    within: Fraction = Fraction(0)

    @property
    def letters(self) -> tuple[LetterSpectrum, ...]:
        """The letters of all heads."""
        return tuple(letter for head in self.heads for letter in head.letters)

    @property
    def is_decided(self) -> bool:
        """Whether nothing is unknown and all requested products were seen."""
        products = [head.products for head in self.heads if head.products is not None]
        return all(letter.spectrum.is_decided for letter in self.letters) and all(
            p.is_complete and not any(p.undecided.values()) for p in products
        )

    def summary(self) -> dict[str, Any]:
        """The properties of all letters together: `true`, `false` or `unknown`."""
        spectra = [letter.spectrum for letter in self.letters]
        return {
            "real": value_or_unknown(all_of(s.is_real for s in spectra)),
            "in_0_1": value_or_unknown(all_of(s.in_zero_one for s in spectra)),
            "in_-1_1": value_or_unknown(all_of(s.in_minus_one_one for s in spectra)),
            "stable": value_or_unknown(all_of(letter.is_stable for letter in self.letters)),
            "norm_at_most_1": all(letter.norm.holds for letter in self.letters),
            "spectral_radius": [float(x) for x in _largest([s.spectral_radius for s in spectra])],
        }

    def to_json(self) -> dict[str, Any]:
        """One plain object, in the order of the heads and letters."""
        return {
            "model": self.name,
            **self.summary(),
            "decided": self.is_decided,
            "within": float(self.within),
            "notes": list(self.notes),
            "heads": [
                {
                    "head": head.name,
                    "dim": head.dim,
                    "letters": [letter.to_json() for letter in head.letters],
                    "products": None if head.products is None else head.products.to_json(),
                }
                for head in self.heads
            ],
        }

    def rows(self, max_values: int = 6) -> list[list[str]]:
        """Return the rows of a table for the terminal, the headings first.

        Args:
            max_values: the largest number of eigenvalues that are written out, at least 1.
        """
        table = [["head", "letter", "eigenvalues", "range", "rank(A-I)", "‖A‖ ≤ 1", "stable"]]
        table += [
            [
                head.name,
                letter.label,
                eigenvalues_text(letter.spectrum.eigenvalues, max_values),
                range_text(letter.spectrum),
                str(letter.reflection_rank),
                "yes" if letter.norm.holds else "no",
                answer(letter.is_stable),
            ]
            for head in self.heads
            for letter in head.letters
        ]
        return table

    def __repr__(self) -> str:
        heads, letters = len(self.heads), len(self.letters)
        decided = "all decided" if self.is_decided else "some undecided"
        return one_line(self, f"{self.name}, {count_noun(heads, 'head')}, {letters:,} matrices, {decided}")

    def _repr_html_(self) -> str:
        headings, *rows = self.rows()
        return html_table(f"Spectra of {self.name}", rows, headings)

    def product_lines(self) -> list[str]:
        """The results for products as lines of text; empty if none were requested."""
        lines = []
        for head in self.heads:
            if (products := head.products) is not None:
                low, high = products.spectral_radius
                lines.append(f"{head.name}, {products.reach}")
                lines.append(
                    f"  largest spectral radius: {interval_text((low, high))} at {word_text(products.largest)}"
                )
                lines += [f"  {line}" for line in first_lines(products)]
        return lines


def model_spectrum(
    model: Any,
    *,
    products: int = 0,
    labels: Sequence[str] | None = None,
    name: str | None = None,
    max_dim: int = MAX_DIM,
    max_bits: int = MAX_BITS,
    max_products: int = MAX_PRODUCTS,
    max_letters: int = MAX_LETTERS,
    within: float | Fraction = 0,
) -> ModelSpectrum:
    """Compute the spectrum of every letter of a model, and of all products of at most `products` letters of each head.

    The exact values of floats are used. Where an `NpzModel` has the factors of its letters, their exact products are taken, since a
    product that was rounded entry by entry has other eigenvalues and another rank; `notes` says so where that differs from its A.

    Args:
        model: an `LRNN`; an `NpzModel`; an array `[letters, n, n]`, a sequence of matrices, or a mapping from
            labels to them.
        products: the largest number of letters in a product; 0 for no products.
        labels: names of the letters of an array.
        name: the model's name; None for its own.
        max_dim: the largest dimension, at least 1.
        max_bits: the largest number of bits with which a decision is tried.
        max_products: the largest number of distinct products; beyond it the products stop, and the result says so.
        max_letters: the largest number of different matrices of a head.
        within: how far the matrices may lie, in the spectral norm, from those that are meant, at least 0. `rank(A - I)`, `norm` and
            `stable` then say what a matrix within that distance has: the least rank, a norm of at most 1, bounded powers. Eigenvalues
            and products remain those of the given numbers.

    Returns:
        The spectra of all heads.

    Raises:
        InputError: a matrix is wrong; the message names everything that is wrong.
        LimitError: there are more than `max_letters` different matrices in a head, or a dimension is above `max_dim`.
    """
    if products < 0:
        raise InputError(f"`products` {products}: it is 0 or the length of the longest product")
    distance = _distance(within)
    notes: list[str] = []
    if isinstance(model, Realisation):
        title = name or label_text(model.automaton.name)
        heads = lrnn_heads(table_of(model, "its letters have no list of matrices"))
    else:
        title = name or str(getattr(model, "name", "the model"))
        matrices, names, notes = _given_letters(model, labels, title)
        heads = [("head 1", matrices, names)]
    if distance:
        notes.append(
            f"judged within {float(distance):g} in the spectral norm: rank(A-I), ‖A‖ ≤ 1 and stable say what a matrix within it has; "
            "eigenvalues are those of the given numbers"
        )
    spectra = []
    for head_name, matrices, names in heads:
        where = f"{title}: {head_name}"
        grouped: dict[ExactMatrix, list[str]] = {}
        for matrix, label in zip(lift_to_one_field(matrices), names, strict=True):
            grouped.setdefault(matrix, []).append(label)
        if len(grouped) > max_letters:
            raise LimitError(
                f"{where} has {len(grouped):,} different matrices, more than {max_letters:,}: raise `max_letters`"
            )
        letters = tuple(
            LetterSpectrum(
                tuple(found),
                matrix,
                eigenvalue_report(
                    matrix, max_dim=max_dim, max_bits=max_bits, name=f"{where}, letter {found[0]}"
                ),
                rank_within(matrix, distance) if distance else matrix.reflection_rank(),
                norm_within(matrix, distance, max_dim=max_dim, name=f"{where}, letter {found[0]}"),
                distance,
            )
            for matrix, found in grouped.items()
        )
        longer = None
        if products:
            longer = product_spectra(
                [letter.matrix for letter in letters],
                [letter.labels[0] for letter in letters],
                products,
                max_dim=max_dim,
                max_bits=max_bits,
                max_products=max_products,
            )
        spectra.append(HeadSpectrum(head_name, matrices[0].n, letters, longer))
    return ModelSpectrum(title, tuple(spectra), tuple(notes), distance)


def _distance(within: float | Fraction) -> Fraction:
    number = exact_number(within)
    if not isinstance(number, int | Fraction) or number < 0:
        raise InputError(f"`within` {within}: it is a distance, a finite number from 0, such as 1e-9")
    return Fraction(number)


def _given_letters(
    model: Any, labels: Sequence[str] | None, title: str
) -> tuple[list[ExactMatrix], list[str], list[str]]:
    """The matrices and labels of a model of one head, from its factors where it has them, and what is to be said of that."""
    matrices, names = check_letters(model, labels, title)
    from ..proofs._npz_model import FACTOR_KEYS, NpzModel

    if unused := getattr(model, "unused", ()):
        return (
            matrices,
            names,
            [
                f"the matrices are A in the file; its {', '.join(unused)} are not used, since it has no other array of a model"
            ],
        )
    if not isinstance(model, NpzModel):
        return matrices, names, []
    notes = []
    if model.spread:
        notes.append(
            f"A is a mean over contexts, from which a letter's matrices lie up to {model.spread:.3g} in the spectral norm"
        )
    if not model.has_factors:
        if model.factors:
            given = ", ".join(key for key in (*FACTOR_KEYS, "mask") if key in model.factors)
            why = "has a mask" if "mask" in model.factors else "lacks the rest"
            notes.append(f"the matrices are A in the file; its {given} are not used, since it {why}")
        return matrices, names, notes
    try:
        head = model.kernel_head()
    except InputError as error:
        return matrices, names, [*notes, f"the factors in the file are not used: {error}"]
    products = [_transition_matrix(head, i) for i in range(len(matrices))]
    if all(a == b for a, b in zip(products, matrices, strict=True)):
        return matrices, names, notes
    apart = max(
        (abs(x - y) for P, A in zip(products, model.A, strict=True) for x, y in _entries(P, A)),
        default=Fraction(0),
    )
    if apart > ROUNDED * max(Fraction(1), Fraction(float(np.abs(model.A).max()))):
        reason = (
            f"A differs from their products by {float(apart):.2g} an entry, which is no rounding of float64"
        )
        return matrices, names, [*notes, f"the factors in the file are not used: {reason}"]
    notes.append(
        f"the matrices are the exact products of the gates and factors in the file; its A differs by up to {float(apart):.2g} an entry"
    )
    return products, names, notes


def _entries(P: ExactMatrix, A: Any) -> list[tuple[Fraction, Fraction]]:
    """The entries of a rational matrix beside those of an array."""
    return [
        (Fraction(x), Fraction(y))  # type: ignore[arg-type]  # factors of a file are rational
        for row, others in zip(P.dense(), A.tolist(), strict=True)
        for x, y in zip(row, others, strict=True)
    ]


def _largest(radii: Sequence[Interval]) -> Interval:
    return max(low for low, _ in radii), max(high for _, high in radii)
