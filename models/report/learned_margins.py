"""How long a learned state lasts, in a report: norms, spread and margin over length, predicted and observed failure."""

from __future__ import annotations

import numpy as np

from ...theory.arithmetic._rounding import Floats
from ..comparison._result import Comparison, HeadComparison
from .learned_spectra import heads_shown
from .learned_trained import Trained
from .limits import LearnedLimits
from .parts import Cell, Chart, Mark, Section, Series, Table


def margins_section(
    slug: str, title: str, place: Trained, found: Comparison, limits: LearnedLimits
) -> Section:
    """Two charts over the lengths at which states were kept, and the table of predictions."""
    source = place.source(limits)
    text = (
        "The nearest class mean is a state's own as long as the state lies, along the line to any other mean (spread), nearer "
        "than half way (margin). Drawn are the state and the line that come nearest to failing. A head that keeps only "
        "part of the state has lines between what it keeps apart."
    )
    items = (
        _norms(place, found, limits, source),
        _margins(place, found, limits, source),
        _table(place, found, source),
    )
    return Section(slug, title, text, items)


def _marks(place: Trained, found: Comparison) -> tuple[Mark, ...]:
    h = found.horizon
    wanted = (
        (place.train_length, "training length"), (h.observed, "first wrong answer"), (h.spread, "predicted (margin meets spread)"),
    )  # fmt: skip
    return tuple(Mark("x", at, label) for at, label in wanted if at is not None and 1 <= at <= h.length)


def _norms(place: Trained, found: Comparison, limits: LearnedLimits, source: str) -> Chart:
    series, shown = [], heads_shown(found, limits)
    for i, h in enumerate(found.heads):
        if h in shown:
            H = found.trace.states[i]
            norms = np.sqrt((H.reshape(*H.shape[:2], -1) ** 2).sum(axis=2))  # [lengths, words]
            texts = tuple(f"from {row.min():.6g} to {row.max():.6g}" for row in norms)
            series.append(_line(h, found.trace.lengths, norms.mean(axis=1), 4 + i, texts))
    return Chart(
        "learned-norms", "Norm of the state",
        "The mean over the words of the Frobenius norm of a head's state. Orthogonal transitions keep it, β‖k‖² between 0 and "
        "2 can shrink it, and what is added can make it grow.",
        "letters read", "mean norm", tuple(series), source, _marks(place, found), log_x=True, log_y=True,
    )  # fmt: skip


def _margins(place: Trained, found: Comparison, limits: LearnedLimits, source: str) -> Chart:
    series, shown = [], heads_shown(found, limits)
    for i, h in enumerate(found.heads):
        if h in shown:
            g = h.geometry
            texts = tuple(f"margin {m:.6g}, spread {s:.6g}" for m, s in zip(g.margin, g.spread, strict=True))
            series.append(_line(h, found.trace.lengths, g.ratio, 4 + i, texts))
    left_out = (
        " What has no spread at all is not drawn."
        if any(np.isinf(h.geometry.ratio).any() for h in found.heads)
        else ""
    )
    return Chart(
        "learned-margin", "Margin over spread",
        f"Above 1 the nearest class mean is the right one for every state that was seen, below 1 it is not for one.{left_out}",
        "letters read", "margin / spread", tuple(series), source,
        (*_marks(place, found), Mark("y", 1.0, "1: margin is spread")), log_x=True, log_y=True,
    )  # fmt: skip


def _line(
    h: HeadComparison, lengths: tuple[int, ...], values: Floats, role: int, texts: tuple[str, ...]
) -> Series:
    name = h.head.name
    ys = tuple(float(y) if 0 < y < np.inf else None for y in values)  # what a logarithmic axis can show
    return Series(name, lengths, ys, "line", role, texts, (("head", name),))


def _table(place: Trained, found: Comparison, source: str) -> Table:
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
                place.test,
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
