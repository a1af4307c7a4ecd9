"""How long a learned state lasts, in a report: norms, spread and margin over length, predicted and observed failure."""

from __future__ import annotations

import numpy as np

from ..comparison_result import Comparison
from .learned_folder import LearnedFolder
from .learned_limits import LearnedLimits
from .learned_spectra import heads_shown
from .parts import Cell, Chart, Mark, Section, Series, Table


def margins_section(
    slug: str, title: str, place: LearnedFolder, found: Comparison, limits: LearnedLimits
) -> Section:
    """Two charts over the lengths at which states were kept, and the table of predictions."""
    source = place.source(limits)
    text = (
        "A state can be read as long as classes are farther apart than they are wide: while half the least distance of two "
        "class means (margin) is above the largest distance of a state from its own mean (spread). A head that keeps only "
        "part of the state has the margin between what it keeps apart."
    )
    items = (
        _norms(place, found, limits, source),
        _margins(place, found, limits, source),
        _table(place, found, source),
    )
    return Section(slug, title, text, items)


def _marks(place: LearnedFolder, found: Comparison) -> tuple[Mark, ...]:
    h = found.horizon
    wanted = (
        (place.train_length, "training length"), (h.observed, "first wrong answer"), (h.spread, "predicted (spread)"),
    )  # fmt: skip
    return tuple(Mark("x", at, label) for at, label in wanted if at is not None and 1 <= at <= h.length)


def _norms(place: LearnedFolder, found: Comparison, limits: LearnedLimits, source: str) -> Chart:
    names = {h.head.name: i for i, h in enumerate(found.heads)}
    series = []
    for h in heads_shown(found, limits):
        H = found.trace.states[names[h.head.name]]
        norms = np.sqrt((H.reshape(*H.shape[:2], -1) ** 2).sum(axis=2))  # [lengths, words]
        picks = (("head", h.head.name),)
        for name, values, role in (
            ("mean norm", norms.mean(1), 1),
            ("least norm", norms.min(1), 5),
            ("largest norm", norms.max(1), 4),
        ):
            ys = tuple(_positive(y) for y in values)
            series.append(
                Series(f"{h.head.name}: {name}", found.trace.lengths, ys, "line", role, filters=picks)
            )
    return Chart(
        "learned-norms", "Norm of the state",
        "Frobenius norms of the heads' states over the words: of orthogonal transitions they stay, with β below 2 they "
        "shrink, and with what is added they can grow.",
        "letters read", "norm", tuple(series), source, _marks(place, found), log_x=True, log_y=True,
    )  # fmt: skip


def _margins(place: LearnedFolder, found: Comparison, limits: LearnedLimits, source: str) -> Chart:
    series = []
    for h in heads_shown(found, limits):
        picks = (("head", h.head.name),)
        for name, values, role in (("spread", h.geometry.spread, 1), ("margin", h.geometry.margin, 3)):
            ys = tuple(_positive(y) for y in values)
            series.append(
                Series(f"{h.head.name}: {name}", found.trace.lengths, ys, "line", role, filters=picks)
            )
    return Chart(
        "learned-margin", "Spread and margin",
        "Where the spread meets the margin, the nearest class mean is no longer sure to be the right one. Spread 0 is not drawn.",
        "letters read", "distance", tuple(series), source, _marks(place, found), log_x=True, log_y=True,
    )  # fmt: skip


def _table(place: LearnedFolder, found: Comparison, source: str) -> Table:
    h, s = found.horizon, found.trace.sampling
    least = (
        "no factors are known, or none is below 2"
        if h.least_beta is None
        else f"least β‖k‖² = {h.least_beta:.7g}"
    )
    rows: list[tuple[Cell, ...]] = [
        ("right at least to, by β", h.beta, f"a bound for the nearest code, were β the only error; {least}"),
        (f"right at least to, by rounding to {h.dtype}", h.rounding, _rounding(found)),
        ("right at least to, by drift from the snapped letters", h.drift, "a bound for the nearest code"),
        ("first wrong answer predicted, by spread and margin", h.spread, f"a prediction from the first {s.fit:,} letters"),
        (
            "first wrong answer observed", h.observed,
            f"the least over {s.words:,} words" if h.observed else f"none in {h.length:,} letters of {s.words:,} words",
        ),
    ]  # fmt: skip
    if place.result is not None:
        failure = place.result["first_failure"][place.place]
        rows.append(
            (
                "first wrong answer in the test", None if failure is None else failure["least"],
                f"{place.tested}: {place.result['words']:,} words of {place.result['length']:,} letters",
            )
        )  # fmt: skip
    rows.append(("training length", place.train_length, "task.json"))
    rows += [("note", None, note) for note in h.notes]
    return Table(
        "learned-horizons", "Predicted against observed failure",
        "Bounds hold for an answer by the nearest code; the model's own read-out can fail earlier, or later.",
        ("length", "letters", "what it is"), tuple(rows), source,
    )  # fmt: skip


def _rounding(found: Comparison) -> str:
    if found.snapped.lrnn is None:
        return "does not apply: nothing exact to round"
    if found.horizon.rounding is None:
        return "no limit: the snapped representation is exact in it"
    return "a bound for the snapped representation"


def _positive(x: float) -> float | None:
    """What a logarithmic axis can show."""
    return float(x) if 0 < x < np.inf else None
