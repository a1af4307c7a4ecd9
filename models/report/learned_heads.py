"""Which head carries the state, and which representation it learned: characters, homomorphism, identity and order errors."""

from __future__ import annotations

import numpy as np

from ..comparison._representations import Representation
from ..comparison._result import Comparison, HeadComparison
from .learned_trained import Trained
from .limits import LearnedLimits, percent
from .parts import Cell, Section, Table

MOST_CLASSES = 24
"""Conjugacy classes and irreducible characters that are written out."""


def heads_section(slug: str, title: str, place: Trained, found: Comparison, limits: LearnedLimits) -> Section:
    """A row a head, then the characters of those that carry a representation."""
    source = place.source(limits)
    items = [_heads(found, source), _errors(found, source)]
    with_group = [h for h in found.heads if h.representation is not None]
    if with_group:
        items += [_multiplicities(with_group, source), *(_character(h, source) for h in with_group)]
    carrying = [h.head.name for h in found.heads if h.carries_states]
    sentences = [f"{percent(found.trace.accuracy)} of the answers on {place.words(limits)} are right."]
    sentences.append(
        f"States fall into groups by the automaton's state in {', '.join(carrying)}."
        if carrying
        else "No head's states fall into groups by the automaton's state."
    )
    sentences += [
        f"The character of {h.head.name} is nearest to that of {_constituents(h)}." for h in with_group
    ]
    if found.constructed is not None:
        sentences.append(f"Beside it stands the construction: {found.constructed.name}.")
    text = " ".join(sentences)
    notes = [note for note in found.notes if "extraction" not in note]
    return Section(slug, title, "\n\n".join([text, *notes]), tuple(items))


def _heads(found: Comparison, source: str) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for h in found.heads:
        a = h.alignment
        rows.append(
            (
                h.head.name, h.head.dim, h.carries_states, h.geometry.told_apart, h.geometry.rank,
                _constituents(h) if h.representation is not None else None, h.head.spread, h.beside,
                None if a is None else a.largest, h.state_disparity,
            )
        )  # fmt: skip
    return Table(
        "learned-heads-table", "Heads",
        "U is the subspace that separates the automaton's states. Aligned: the orthogonal matrix that carries the letters on "
        "U nearest to the constructed ones, and the largest distance that is left.",
        (
            "head", "dimension", "carries states", "groups told apart", "dimension of U", "representation on U",
            "spread over contexts", "constructed head", "letters differ by", "states differ by",
        ),
        tuple(rows), source,
    )  # fmt: skip


def _errors(found: Comparison, source: str) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for h in found.heads:
        r = h.representation
        if r is not None:
            after = f"{r.worst[0]}, then {r.worst[1]}" if r.homomorphism_error else None
            rows.append(
                (
                    h.head.name, r.homomorphism_error, after, r.identity_error, max(r.order_errors, default=0.0),
                    r.invariance_error, r.class_spread, r.residual, r.exact,
                )
            )  # fmt: skip
        elif h.neutral_errors:
            rows.append((h.head.name, None, None, max(h.neutral_errors.values()), *[None] * 5))
    return Table(
        "learned-errors", "Is it a representation?",
        "Largest spectral norms on U: A_h A_g - A_gh over all pairs of elements; A_s - I over letters that change no state; "
        "A_x^m - I, m the order of the letter; what leaves U. A_g is the product of a shortest word's letters.",
        (
            "head", "homomorphism error", "at the words", "identity error", "order error", "leaves U by",
            "character within a class", "multiplicities off by", "exact",
        ),
        tuple(rows), source,
    )  # fmt: skip


def _multiplicities(heads: list[HeadComparison], source: str) -> Table:
    """⟨χ, χ_i⟩ of each head's character, before rounding."""
    first = _representation(heads[0]).table
    found = [_representation(h).table.multiplicities(_representation(h).character).real for h in heads]
    rows: list[tuple[Cell, ...]] = [
        (chi.text, chi.degree, *(float(m[i]) for m in found))
        for i, chi in enumerate(first.irreducibles[:MOST_CLASSES])
    ]
    count = len(first.irreducibles)
    left = f" The first {MOST_CLASSES} of {count} are written." if count > MOST_CLASSES else ""
    return Table(
        "learned-multiplicities", "Its character against the irreducible ones",
        "How often each irreducible character of the transition group is in the head's; whole numbers for a "
        f"representation.{left}",
        ("irreducible character", "degree", *(h.head.name for h in heads)), tuple(rows), source,
    )  # fmt: skip


def _character(h: HeadComparison, source: str) -> Table:
    r = _representation(h)
    group, classes = r.table.group, r.table.group.classes
    nearest = sum(
        (m * chi.values for m, chi in zip(r.multiplicities, r.table.irreducibles, strict=True)),
        np.zeros(len(r.table.irreducibles), dtype=complex),
    )
    rows: list[tuple[Cell, ...]] = []
    for c in range(min(int(classes.max()) + 1, MOST_CLASSES)):
        here = r.character[classes == c]
        word = " ".join(map(str, group.monoid.word(int(np.flatnonzero(classes == c)[0])))) or "ε"
        value = complex(nearest[c])
        rows.append(
            (word, len(here), float(here.mean()), float(here.min()), float(here.max()), round(value.real, 9))
        )
    return Table(
        f"learned-character-{h.head.name}", f"The character of {h.head.name}",
        f"Traces on U of the elements of each conjugacy class; exactly {_constituents(h)} would be the last column.",
        ("a word of the class", "elements", "mean trace", "least", "largest", "nearest character"), tuple(rows), source,
    )  # fmt: skip


def _representation(h: HeadComparison) -> Representation:
    assert h.representation is not None
    return h.representation


def _constituents(h: HeadComparison) -> str:
    return " + ".join(_representation(h).constituents) or "none"
