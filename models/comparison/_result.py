"""`Comparison`: what was found of a learned layer beside a constructed one, with every tolerance; as JSON and as tables."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from math import isinf
from typing import Any

import numpy as np

from ...foundation._arguments import require_count, require_number, require_optional_count, require_seconds
from ...foundation._errors import InputError
from ...foundation._text import count_noun, html_table, one_line
from ..learned._learned import Learned, LearnedHead
from ._causes import Causal, Failure, Horizon, describe_limit
from ._extraction import Extracted
from ._procrustes import Alignment
from ._ranks import PredictedRanks
from ._representations import Representation
from ._snap import Snapped, SnappedHead
from ._spectra import LetterFacts, numeric_eigenvalues
from ._states import ClassGeometry, Trace


@dataclass(frozen=True)
class Tolerances:
    """All tolerances and limits of a comparison; they are part of the result.

    Attributes:
        subspace: the smallest singular value of the differences of class means that counts, relative to the largest; between 0 and 1.
        rank: the smallest singular value of UᵀAU - I that counts, above 0, for A on the subspace U of the states.
        max_dim: the largest dimension of a matrix whose eigenvalues are classified exactly.
        max_group: the largest number of elements of the transition group.
        max_degree: the largest degree of a number field.
        max_steps: the largest number of letters of an orbit in search of a certificate.
        max_states: the largest number of states of an automaton that is learned.
        max_queries: the largest number of words that its model is asked; None for a number by the states and letters of the target,
            see `extract_learning`.
        extract_seconds: how long all methods of extraction together may take, in seconds, 0 or more. Each has an equal share of what
            is left, and gives what it has found by then.

    Raises:
        InputError: `subspace` or `rank` is outside its range.
    """

    subspace: float = 0.05
    rank: float = 0.01
    max_dim: int = 64
    max_group: int = 1_000
    max_degree: int = 40
    max_steps: int = 20_000
    max_states: int = 200
    max_queries: int | None = None
    extract_seconds: float = 60.0

    def __post_init__(self) -> None:
        for name in ("subspace", "rank"):
            require_number(name, getattr(self, name))
        for part in fields(self):
            if part.name == "max_queries":
                require_optional_count(part.name, self.max_queries, 1)
            elif part.name.startswith("max_"):
                require_count(part.name, getattr(self, part.name), 1)
        require_seconds("extract_seconds", self.extract_seconds)
        if not (0 < self.subspace < 1 and self.rank > 0):
            raise InputError(
                f"tolerances: subspace {self.subspace} is between 0 and 1, rank {self.rank} above 0"
            )

    def as_json(self) -> dict[str, Any]:
        """Return the result as plain values for JSON.

        Returns:
            The fields by name.
        """
        return dict(self.__dict__)


@dataclass(frozen=True, eq=False)
class HeadComparison:
    """The comparison of one learned head; parts that do not apply are None.

    Attributes:
        head: the learned head, with its letters and factors.
        facts: β, rank and eigenvalues of each letter.
        geometry: the geometry of its classes of states.
        neutral_errors: for each letter that changes no state ‖(A_s - I) U‖₂.
        representation: how far it carries a representation of the transition group.
        beside: the name of the nearest constructed head that has the same dimension on its subspace.
        alignment: the alignment with that head.
        state_disparity: the disparity of its class means and those of that head, from 0 to 1.
        snapped: the nearest exact head.
        ranks: the ranks of A - I that theory predicts for the letters, where it carries a representation.
    """

    head: LearnedHead
    facts: tuple[LetterFacts, ...]
    geometry: ClassGeometry
    neutral_errors: dict[str, float]
    representation: Representation | None = None
    beside: str | None = None
    alignment: Alignment | None = None
    state_disparity: float | None = None
    snapped: SnappedHead | None = None
    ranks: PredictedRanks | None = None

    @property
    def carries_states(self) -> bool:
        """Whether its states fall into more than one group."""
        return self.geometry.told_apart > 1


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """The result of a comparison; `to_json` returns the fields, `comparison_rows` and `comparison_tables` the text.

    Attributes:
        learned: the layer.
        constructed: the construction with which it is compared; None if there is none.
        constructed_facts: β, rank and eigenvalues of each letter of each constructed head.
        trace: the observations on random words.
        heads: the comparison of each head.
        snapped: the exact heads.
        horizon: the lengths up to which the layer provably does not fail, and a prediction.
        causal: the accuracies with heads replaced by snapped ones.
        failure: why it cannot be right on all words, as far as this is known.
        extracted: the extracted automata, one for each method.
        tolerances: all tolerances and limits.
        notes: what was left out, and why.
    """

    learned: Learned
    constructed: Learned | None
    constructed_facts: tuple[tuple[LetterFacts, ...], ...]
    trace: Trace
    heads: tuple[HeadComparison, ...]
    snapped: Snapped
    horizon: Horizon
    causal: tuple[Causal, ...]
    failure: Failure
    extracted: tuple[Extracted, ...]
    tolerances: Tolerances
    notes: tuple[str, ...] = field(default=())

    @property
    def homomorphism_error(self) -> float | None:
        """The largest homomorphism error of the heads that carry states; None if this has no meaning."""
        return max(
            (h.representation.homomorphism_error for h in self.heads if h.representation is not None),
            default=None,
        )

    def to_json(self) -> dict[str, Any]:
        """One plain object.

        Returns:
            Plain values for JSON, with every figure.
        """
        target = self.learned.target
        return {
            "learned": self.learned.name,
            "automaton": target.automaton.name,
            "arithmetic": self.learned.arithmetic,
            "constructed": None if self.constructed is None else self.constructed.name,
            "homomorphism_error": self.homomorphism_error,
            "spectra": {
                "learned": {h.head.name: [f.to_json() for f in h.facts] for h in self.heads},
                "constructed": {} if self.constructed is None else {
                    head.name: [f.to_json() for f in facts]
                    for head, facts in zip(self.constructed.heads, self.constructed_facts, strict=True)
                },
            },
            "reflection_rank": {h.head.name: [f.reflection_rank for f in h.facts] for h in self.heads},
            "full_rank": {h.head.name: [f.full_rank for f in h.facts] for h in self.heads},
            "predicted_rank": {
                h.head.name: None if h.ranks is None else h.ranks.to_json() for h in self.heads
            },
            "horizon": self.horizon.to_json(),
            "extracted_automaton": [e.to_json() for e in self.extracted],
            "accuracy": self.trace.accuracy,
            "accuracy_at": {str(t): _number(self.trace.right[t - 1]) for t in self.trace.lengths},
            "heads": [_head_json(h, self.trace.lengths) for h in self.heads],
            "snap": {
                "heads": [s.head.name for s in self.snapped.heads],
                "construction": None if self.snapped.lrnn is None else self.snapped.lrnn.construction,
                "reason": self.snapped.reason,
            },
            "causal": [c.to_json() for c in self.causal],
            "failure": {
                "all_eigenvalues_in_0_1": self.failure.in_zero_one,
                "certificate": self.failure.certificate,
                "text": describe_limit(self.failure, self.learned, self.trace.observed) or self.failure.text,
            },
            "sampling": self.trace.sampling.as_json(),
            "tolerances": self.tolerances.as_json(),
            "notes": list(self.notes),
        }  # fmt: skip

    def rows(self) -> list[tuple[str, str]]:
        """Summarise the comparison as rows of a table.

        Returns:
            Labels and texts, as `mirrormata compare` prints them.
        """
        return comparison_rows(self)

    def __repr__(self) -> str:
        beside = "nothing" if self.constructed is None else self.constructed.name
        error = _number_of_text(self.homomorphism_error)
        return one_line(
            self,
            f"{self.learned.name} beside {beside}, accuracy {self.trace.accuracy:.4f}, homomorphism error {error}",
        )

    def _repr_html_(self) -> str:
        return html_table(f"Comparison of {self.learned.name}", self.rows())


def restrict_to_subspace(head: LearnedHead, geometry: ClassGeometry) -> Any:
    """UᵀA(x)U for every letter, `[letters, r, r]`."""
    U = geometry.basis
    return U.T @ head.A @ U


def _head_json(h: HeadComparison, lengths: tuple[int, ...]) -> dict[str, Any]:
    g = h.geometry
    factors = h.head.factors
    return {
        "head": h.head.name,
        "dim": h.head.dim,
        "context_spread": h.head.spread,
        "carries_states": h.carries_states,
        "states_told_apart": g.told_apart,
        "subspace_dim": g.rank,
        "singular_values": g.singular.tolist(),
        "transitions": h.head.A.tolist(),
        "beta": None if factors is None else factors.beta.tolist(),
        "keys": None if factors is None else factors.keys.tolist(),
        "eigenvalues_on_subspace": [
            [[z.real, z.imag] for z in numeric_eigenvalues(A)] for A in restrict_to_subspace(h.head, g)
        ]
        if g.rank
        else [],
        "neutral_errors": h.neutral_errors,
        "representation": None if h.representation is None else h.representation.to_json(),
        "alignment": None
        if h.alignment is None
        else {
            "constructed_head": h.beside,
            "residual": h.alignment.residual,
            "largest": h.alignment.largest,
            "rotation": h.alignment.rotation.tolist(),
            "state_disparity": h.state_disparity,
        },
        "classes": {
            "lengths": list(lengths),
            "spread": [_number(x) for x in g.spread],
            "margin": [_number(x) for x in g.margin],
            "ratio": [_number(x) for x in g.ratio],
        },
        "snapped": None if h.snapped is None else h.snapped.to_json(),
    }


def _number(x: Any) -> float | None:
    """A float that JSON has."""
    return float(x) if np.isfinite(x) else None


MOST_LETTERS = 12
"""Letters of a head that are written out."""


def comparison_rows(c: Comparison) -> list[tuple[str, str]]:
    """`(label, text)`: what holds of the whole."""
    h, s = c.horizon, c.trace.sampling
    rows = [
        ("arithmetic", c.learned.arithmetic),
        (
            "accuracy",
            f"{c.trace.accuracy:.4f} on {count_noun(s.words, 'random word')} of {count_noun(s.length, 'letter')}, seed {s.seed}",
        ),
        ("constructed", "none" if c.constructed is None else c.constructed.name),
        ("heads with states", ", ".join(x.head.name for x in c.heads if x.carries_states) or "none"),
        ("homomorphism error", _number_of_text(c.homomorphism_error)),
        (
            "snapped to",
            c.snapped.reason if c.snapped.lrnn is None else f"{c.snapped.lrnn.construction} (certifiable)",
        ),
        (
            "first wrong answer",
            f"{f'token {h.observed:,}' if h.observed else f'none in {h.length:,} letters'}, by the model's own read-out",
        ),
        ("proved right to", describe_bounds(h, exact=c.snapped.lrnn is not None)),
    ]
    if h.spread is not None:
        rows.append(
            (
                "predicted failure",
                f"token {h.spread:,}, where the classes' spread meets their margin: {describe_prediction(h.spread, s.averaged)}",
            )
        )
    for x in c.causal:
        failed = "no wrong answer" if x.first_failure is None else f"first wrong at token {x.first_failure:,}"
        rows.append((f"snapped: {x.replaced}", f"accuracy {x.accuracy:.4f}, {failed} (float64)"))
    rows += [(f"automaton ({e.method})", e.text) for e in c.extracted]
    if limit := describe_limit(c.failure, c.learned, c.trace.observed):
        rows.append(("limit", limit))
    t = c.tolerances
    rows.append(
        (
            "tolerances",
            f"subspace {t.subspace:g}, rank(A - I) on U {t.rank:g}, classes from {s.averaged} letters",
        )
    )
    return rows + [("note", note) for note in (*c.notes, *h.notes)]


def comparison_tables(c: Comparison) -> list[tuple[str, list[list[str]]]]:
    """Titles and tables, their headings first, of each head that carries states, and of an only head."""
    tables: list[tuple[str, list[list[str]]]] = []
    for h in c.heads:
        if h.carries_states or len(c.heads) == 1:
            tables.append((h.head.name, _head(h)))
            tables.append((f"{h.head.name}: letters", _letters(c, h)))
            tables.append((f"{h.head.name}: ranks of A - I", _ranks(h)))
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
    rows = [["letter", "β‖k‖²", "margin to 2", "eigenvalues", "constructed"]]
    beside: Any = {}
    if c.constructed is not None and h.beside is not None:
        places = [head.name for head in c.constructed.heads]
        beside = {f.letter: f.text for f in c.constructed_facts[places.index(h.beside)]}
    rows += [
        [
            f.letter,
            " ".join(f"{s:.6g}" for s in f.strengths) or "-",
            _number_of_text(f.margin_to_2),
            f.text,
            beside.get(f.letter, "-"),
        ]
        for f in h.facts[:MOST_LETTERS]
    ]
    if len(h.facts) > MOST_LETTERS:
        rows.append([f"and {len(h.facts) - MOST_LETTERS} more, which its JSON has", *[""] * 4])
    return rows


def _ranks(h: HeadComparison) -> list[list[str]]:
    """Letters of equal ranks in one row: measured on U, predicted for the representation and for permutations, on all dimensions."""
    points = 0 if h.ranks is None else h.ranks.points
    rows = [
        [
            "letters",
            "on U",
            "representation (H.rank)",
            f"n - cycles, n = {points} (G.T3)" if points else "n - cycles (G.T3)",
            f"all {h.head.dim} dimensions",
        ]
    ]
    groups: dict[tuple[str, ...], list[str]] = {}
    for x, f in enumerate(h.facts):
        needed = "-" if h.ranks is None else str(h.ranks.representation[x])
        swaps = "-" if h.ranks is None or not points else str(h.ranks.swaps[x])
        groups.setdefault((str(f.reflection_rank), needed, swaps, str(f.full_rank)), []).append(f.letter)
    for figures, letters in sorted(groups.items()):
        more = "" if len(letters) == 1 else f" and {len(letters) - 1} more"
        rows.append([letters[0] + more, *figures])
    return rows


def _classes(c: Comparison, h: HeadComparison) -> list[list[str]]:
    rows = [["letters read", "spread", "margin", "margin / spread"]]
    g = h.geometry
    for i, t in enumerate(c.trace.lengths):
        if t & (t - 1) == 0 or t == c.trace.lengths[-1]:
            rows.append([f"{t:,}", f"{g.spread[i]:.3g}", *_margin(float(g.margin[i]), float(g.ratio[i]))])
    return rows


def describe_bounds(h: Horizon, *, exact: bool) -> str:
    """The bounds, what they hold for, and where the first wrong answer lies beside them.

    Args:
        h: the lengths.
        exact: whether the heads were snapped to an exact linear RNN.

    Returns:
        One or two sentences.
    """
    bounds: list[tuple[int, str, str]] = []
    if h.least_beta is not None and h.beta is not None:
        bounds.append((h.beta, f"the least β‖k‖² = {h.least_beta:.7g} alone", "β"))
    if h.rounding is not None:
        bounds.append((h.rounding, f"rounding to {h.dtype}", "rounding"))
    if h.drift is not None:
        bounds.append((h.drift, "drift from the snapped letters", "drift"))
    if not bounds:
        return "no limit found" if exact else "no bound applies"
    listed = "; ".join(f"{length:,} by {cause}" for length, cause, _ in bounds)
    text = f"{listed} (where the nearest code is the answer; the model's own read-out can fail earlier, or later)."
    if h.observed is None:
        return f"{text} No wrong answer was met."
    behind = [f"{length:,}" for length, _, _ in bounds if length < h.observed]
    ahead = [(f"{length:,}", cause) for length, _, cause in bounds if length >= h.observed]
    parts = [f"beyond {' and '.join(behind)}"] if behind else []
    if ahead:
        causes = " or ".join(cause for _, cause in ahead)
        lengths = " and ".join(length for length, _ in ahead)
        parts.append(
            f"before {lengths}, so {causes} does not explain it: another error or the model's own read-out does"
        )
    return f"{text} The first wrong answer, token {h.observed:,}, comes {', and '.join(parts)}."


def describe_prediction(at: int, fit: int) -> str:
    """What the predicted failure is.

    Args:
        at: the number of letters after which spread and margin meet.
        fit: the number of letters from whose states this was found.
    """
    how = f"within the first {fit:,} letters" if at <= fit else f"an estimate from the first {fit:,} letters"
    return f"{how}, for the nearest class mean; it is no bound, and may lie below one"


def _after(words: tuple[str, str], error: float) -> str:
    return f", after {words[0]} then {words[1]}" if error else ""


def _number_of_text(x: float | None) -> str:
    return "-" if x is None else f"{x:.3g}"


def _margin(margin: float, ratio: float) -> tuple[str, str]:
    """The margin and margin / spread; `-` where there is one class, so no other mean that a state has a margin to."""
    return ("-", "-") if isinf(margin) else (f"{margin:.3g}", f"{ratio:.3g}")
