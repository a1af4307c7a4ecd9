"""A comparison as lines and tables for a terminal."""

from __future__ import annotations

from math import isinf
from typing import Any

from .result import Comparison, HeadComparison

MOST_LETTERS = 12
"""Letters of a head that are written out."""


def comparison_rows(c: Comparison) -> list[tuple[str, str]]:
    """`(label, text)`: what holds of the whole."""
    h, s = c.horizon, c.trace.sampling
    rows = [
        ("arithmetic", c.learned.arithmetic),
        (
            "accuracy",
            f"{c.trace.accuracy:.4f} on {s.words:,} random words of {s.length:,} letters, seed {s.seed}",
        ),
        ("constructed", "none" if c.constructed is None else c.constructed.name),
        ("heads with states", ", ".join(x.head.name for x in c.heads if x.carries_states) or "none"),
        ("homomorphism error", _number(c.homomorphism_error)),
        (
            "snapped to",
            c.snapped.reason if c.snapped.lrnn is None else f"{c.snapped.lrnn.construction} (certifiable)",
        ),
        ("first wrong answer", f"token {h.observed:,}" if h.observed else f"none in {h.length:,} letters"),
        ("right at least to", _bounds(c)),
    ]
    if h.spread is not None:
        rows.append(
            ("predicted failure", f"token {h.spread:,}, where the classes' spread meets their margin")
        )
    for x in c.causal:
        failed = "no wrong answer" if x.first_failure is None else f"first wrong at token {x.first_failure:,}"
        rows.append((f"snapped: {x.replaced}", f"accuracy {x.accuracy:.4f}, {failed} (float64)"))
    rows += [(f"automaton ({e.method})", e.text) for e in c.extracted]
    if c.failure.in_zero_one or c.failure.certificate is not None:
        rows.append(("why it fails", c.failure.text))
    t = c.tolerances
    rows.append(
        ("tolerances", f"subspace {t.subspace:g}, rank(A - I) {t.rank:g}, classes from {s.fit} letters")
    )
    return rows + [("note", note) for note in (*c.notes, *h.notes)]


def comparison_tables(c: Comparison) -> list[tuple[str, list[list[str]]]]:
    """Titles and tables, their headings first, of each head that carries states, and of an only head."""
    tables: list[tuple[str, list[list[str]]]] = []
    for h in c.heads:
        if h.carries_states or len(c.heads) == 1:
            tables.append((h.head.name, _head(h)))
            tables.append((f"{h.head.name}: letters", _letters(c, h)))
            tables.append((f"{h.head.name}: classes", _classes(c, h)))
    return tables


def _head(h: HeadComparison) -> list[list[str]]:
    r, a, s, g = h.representation, h.alignment, h.snapped, h.geometry
    rows = [
        ["", "value"],
        ["told apart", str(g.told_apart)],
        ["dimension of U", f"{g.rank} of {h.head.dim}"],
    ]
    if r is not None:
        rows += [
            ["representation", f"{'; '.join(r.constituents) or 'none'} (residual {r.residual:.2g})"],
            ["homomorphism error", f"{r.homomorphism_error:.3g}" + _after(r.worst, r.homomorphism_error)],
            ["order errors", f"at most {max(r.order_errors, default=0.0):.3g}"],
        ]
    if h.neutral_errors:
        rows.append(["‖A_s - I‖ on U, s neutral", f"at most {max(h.neutral_errors.values()):.3g}"])
    if a is not None:
        rows.append(
            [
                f"aligned to {h.beside}",
                f"‖A - C‖ at most {a.largest:.3g}; states differ by {h.state_disparity:.3g}",
            ]
        )
    if s is not None:
        beta = "" if s.beta_moved is None else f", β‖k‖² by {s.beta_moved:.3g}"
        rows.append(
            [
                "snapped",
                f"to {s.name}: letters by {s.transitions_moved:.3g}{beta}, planes by {s.plane_moved:.3g} rad",
            ]
        )
    return rows


def _letters(c: Comparison, h: HeadComparison) -> list[list[str]]:
    rows = [["letter", "β‖k‖²", "margin to 2", "rank(A - I)", "eigenvalues", "constructed"]]
    beside: Any = {}
    if c.constructed is not None and h.beside is not None:
        places = [head.name for head in c.constructed.heads]
        beside = {f.letter: f.text for f in c.constructed_facts[places.index(h.beside)]}
    rows += [
        [
            f.letter,
            " ".join(f"{s:.6g}" for s in f.strengths) or "-",
            _number(f.margin_to_2),
            str(f.reflection_rank),
            f.text,
            beside.get(f.letter, "-"),
        ]
        for f in h.facts[:MOST_LETTERS]
    ]
    if len(h.facts) > MOST_LETTERS:
        rows.append([f"and {len(h.facts) - MOST_LETTERS} more: --json", *[""] * 5])
    return rows


def _classes(c: Comparison, h: HeadComparison) -> list[list[str]]:
    rows = [["letters read", "spread", "margin", "margin / spread"]]
    g = h.geometry
    for i, t in enumerate(c.trace.lengths):
        if t & (t - 1) == 0 or t == c.trace.lengths[-1]:
            rows.append([f"{t:,}", f"{g.spread[i]:.3g}", *_margin(float(g.margin[i]), float(g.ratio[i]))])
    return rows


def _bounds(c: Comparison) -> str:
    h = c.horizon
    parts = []
    if h.least_beta is not None and h.beta is not None:
        parts.append(f"{h.beta:,} by the least β‖k‖² = {h.least_beta:.7g}")
    if h.rounding is not None:
        parts.append(f"{h.rounding:,} by rounding to {h.dtype}")
    if h.drift is not None:
        parts.append(f"{h.drift:,} by drift from the snapped letters")
    return "; ".join(parts) or ("no limit found" if c.snapped.lrnn is not None else "no bound applies")


def _after(words: tuple[str, str], error: float) -> str:
    return f", after {words[0]} then {words[1]}" if error else ""


def _number(x: float | None) -> str:
    return "-" if x is None else f"{x:.3g}"


def _margin(margin: float, ratio: float) -> tuple[str, str]:
    """The margin and margin / spread; `-` where there is one class, so no other mean that a state has a margin to."""
    return ("-", "-") if isinf(margin) else (f"{margin:.3g}", f"{ratio:.3g}")
