"""Spectra of all products of a head's letters up to a length: what first leaves the reals, the disc, or stability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .eigenvalues import MAX_BITS, MAX_DIM, Spectrum, eigenvalue_report, said
from .matrix import ExactMatrix, lifted_together
from .roots import Eigenvalue, Interval

MAX_PRODUCTS = 2_000
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

    `asked`: the length asked for. `length`: the one to which every product was seen; less than `asked` where
    `max_products` stopped it, and `seen_all` where no longer word has a new product. `count`: distinct products seen.
    `spectral_radius`: bounds of the largest one among them, `largest`: a shortest word that attains the lower bound.
    `first`: for each key of `FIRSTS` a shortest word (the first in the letters' order) whose product has it, or None.
    `undecided`: for each key the first word of which it is unknown, or None.
    `eigenvalues`: the distinct ones, as enclosed, in the order met.
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
        """Everything that was asked for was seen."""
        return self.seen_all or self.length >= self.asked

    @property
    def reach(self) -> str:
        """Up to where this holds, in words."""
        if self.seen_all:
            return f"all words: {self.count:,} distinct products"
        short = "" if self.is_complete else f" (asked: {self.asked}; stopped by --max-products)"
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
    letters = lifted_together(matrices)
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
        "non-real": _denied(spectrum.is_real),
        "negative": spectrum.has_negative,
        "outside": _denied(spectrum.within_disc),
        "unstable": _denied(spectrum.is_stable),
    }
    for key, holds in claims.items():
        if holds is None and first[key] is None and undecided[key] is None:
            undecided[key] = word
        if holds and first[key] is None:
            first[key] = word


def _denied(value: bool | None) -> bool | None:
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
            text += f" ({said(None)} for {word_text(doubtful)})"
        lines.append(f"{words}: {text}")
    return lines
