"""`model_spectrum`: the eigenvalues of every letter of a model, exactly, and of products of its letters.

A model is an exact `LRNN`, an `NpzModel`, an array `[letters, n, n]` of floats or exact numbers (one head), or any
mapping or sequence of square matrices of one size. Letters with the same matrix are reported once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...constructions.errors import InputError, LimitError
from ...constructions.lrnn import LRNN
from ...constructions.texts.show import label_text
from .eigenvalues import MAX_BITS, MAX_DIM, Spectrum, all_of, eigenvalue_report, said
from .letters import given_letters, lrnn_heads
from .matrix import ExactMatrix, lifted_together
from .norms import NormVerdict, norm_at_most_one
from .products import MAX_PRODUCTS, Products, first_lines, product_spectra, word_text
from .roots import Interval
from .texts import answer, eigenvalues_text, interval_text, range_text

MAX_LETTERS = 2_000


@dataclass(frozen=True)
class LetterSpectrum:
    """One matrix of a head. `labels`: the letters that have it. `reflection_rank`: rank(A - I), see H.rank."""

    labels: tuple[str, ...]
    matrix: ExactMatrix
    spectrum: Spectrum
    reflection_rank: int
    norm: NormVerdict

    @property
    def label(self) -> str:
        """The first letter, and how many more have the same matrix."""
        return self.labels[0] + (f" (+{len(self.labels) - 1})" if len(self.labels) > 1 else "")

    def to_json(self) -> dict[str, Any]:
        """A plain object."""
        return {
            "letters": list(self.labels),
            **self.spectrum.to_json(),
            "reflection_rank": self.reflection_rank,
            "norm_at_most_1": self.norm.holds,
            "isometry": self.norm.is_isometry,
        }


@dataclass(frozen=True)
class HeadSpectrum:
    """The letters of one head, and their products where they were asked for."""

    name: str
    dim: int
    letters: tuple[LetterSpectrum, ...]
    products: Products | None


@dataclass(frozen=True)
class ModelSpectrum:
    """The spectra of a model's heads."""

    name: str
    heads: tuple[HeadSpectrum, ...]

    @property
    def letters(self) -> tuple[LetterSpectrum, ...]:
        """The letters of all heads."""
        return tuple(letter for head in self.heads for letter in head.letters)

    @property
    def is_decided(self) -> bool:
        """Nothing is unknown, and all products that were asked for were seen."""
        products = [head.products for head in self.heads if head.products is not None]
        return all(letter.spectrum.is_decided for letter in self.letters) and all(
            p.is_complete and not any(p.undecided.values()) for p in products
        )

    def summary(self) -> dict[str, Any]:
        """What all letters together are: `true`, `false`, or `unknown`."""
        spectra = [letter.spectrum for letter in self.letters]
        return {
            "real": said(all_of(s.is_real for s in spectra)),
            "in_0_1": said(all_of(s.in_zero_one for s in spectra)),
            "in_-1_1": said(all_of(s.in_minus_one_one for s in spectra)),
            "stable": said(all_of(s.is_stable for s in spectra)),
            "norm_at_most_1": all(letter.norm.holds for letter in self.letters),
            "spectral_radius": [float(x) for x in _largest([s.spectral_radius for s in spectra])],
        }

    def to_json(self) -> dict[str, Any]:
        """One plain object, in the order of the heads and letters."""
        return {
            "model": self.name,
            **self.summary(),
            "decided": self.is_decided,
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
        """A table for the terminal, its headings first; at most `max_values` eigenvalues are written out."""
        table = [["head", "letter", "eigenvalues", "range", "rank(A-I)", "‖A‖ ≤ 1", "stable"]]
        table += [
            [
                head.name,
                letter.label,
                eigenvalues_text(letter.spectrum.eigenvalues, max_values),
                range_text(letter.spectrum),
                str(letter.reflection_rank),
                "yes" if letter.norm.holds else "no",
                answer(letter.spectrum.is_stable),
            ]
            for head in self.heads
            for letter in head.letters
        ]
        return table

    def product_lines(self) -> list[str]:
        """What is known of the products, in plain lines; empty where none were asked for."""
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
) -> ModelSpectrum:
    """The spectrum of every letter of a model, and of all products of at most `products` letters of each head.

    `model`: an `LRNN`; an `NpzModel`; an array `[letters, n, n]`, a sequence of matrices, or a mapping from labels to them.
    `labels`: names of the letters of an array. Floats are taken as the rationals they are.
    Raises `InputError` with everything that is wrong with the matrices, `LimitError` beyond `max_letters` different
    matrices in a head or `max_dim` dimensions; at `max_products` the products stop, and say so.
    """
    if products < 0:
        raise InputError(f"--products {products}: it is 0 or the length of the longest product")
    if isinstance(model, LRNN):
        title = name or label_text(model.automaton.name)
        heads = lrnn_heads(model)
    else:
        title = name or str(getattr(model, "name", "the model"))
        heads = [("head 1", *given_letters(model, labels, title))]
    spectra = []
    for head_name, matrices, names in heads:
        where = f"{title}: {head_name}"
        grouped: dict[ExactMatrix, list[str]] = {}
        for matrix, label in zip(lifted_together(matrices), names, strict=True):
            grouped.setdefault(matrix, []).append(label)
        if len(grouped) > max_letters:
            raise LimitError(
                f"{where} has {len(grouped):,} different matrices, more than {max_letters:,}: raise --max-letters"
            )
        letters = tuple(
            LetterSpectrum(
                tuple(found),
                matrix,
                eigenvalue_report(
                    matrix, max_dim=max_dim, max_bits=max_bits, name=f"{where}, letter {found[0]}"
                ),
                matrix.reflection_rank(),
                norm_at_most_one(matrix, max_dim=max_dim, name=f"{where}, letter {found[0]}"),
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
    return ModelSpectrum(title, tuple(spectra))


def _largest(radii: Sequence[Interval]) -> Interval:
    return max(low for low, _ in radii), max(high for _, high in radii)
