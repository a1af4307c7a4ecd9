"""What rounding does to a construction, in a report: state norm and margin over length for each dtype, with horizons."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ...constructions._lrnn import LRNN
from ...constructions._realisation import INTEGER_RANGES
from ...theory._check import accepted_horizons
from ...theory._horizon import ARITHMETIC, has_horizon
from ...theory.arithmetic._rounding import FORMATS
from .constructed_run import FollowedRun, followed_runs, stretches
from .limits import RandomRuns, ShownLimits
from .parts import Cell, Chart, Mark, Section, Series, Table

COLUMNS = (
    "dtype", "exact at any length", "largest integer", "holds integers to", "certified horizon", "tokens run", "errors",
    "first error", "largest state norm", "least margin",
)  # fmt: skip
FIRST_ROLE = 4
Lengths = dict[str, int | None] | None


def certified_horizons(lrnn: LRNN, limits: ShownLimits) -> Lengths:
    """The lengths that the checker accepts; None where none is certified or a head has more than `limits.codes` codes."""
    if not has_horizon(lrnn) or max(len(head.codes) for head in lrnn.all_heads) > limits.codes:
        return None
    return accepted_horizons(lrnn)


def rounding_section(lrnn: LRNN, lengths: Lengths, runs: RandomRuns, limits: ShownLimits) -> Section:
    """Charts of margin and norm over length in each dtype, and a table; `lengths`: the certified horizons, if any."""
    within = max(limits.head_steps // len(lrnn.all_heads), 1)
    cut = ""
    if runs.length > within:
        cut = f" Of {runs.length:,} letters the first {within:,} are run, as there are {len(lrnn.all_heads)} heads."
        runs = replace(runs, length=within)
    followed = followed_runs(lrnn, runs)
    source = f"{runs.text}; per_step arithmetic: {ARITHMETIC.removeprefix('per_step, ')}"
    text = " ".join(
        [f"{runs.text}, in {len(followed)} dtypes.{cut}", _exactness(lrnn), *_horizons(lrnn, lengths, limits)]
    )
    charts = [_margin_chart(lrnn, followed, source, lengths, limits)]
    if not any(y is not None for series in charts[0].series for y in series.y):
        charts, text = [], f"{text} There is nothing to confuse a state with, so there is no margin."
    charts.append(_norm_chart(followed, source, lengths, limits))
    return Section(
        "rounding", "Rounding over length", text, (*charts, _table(lrnn, lengths, followed, source))
    )


def _margin_chart(
    lrnn: LRNN, followed: list[FollowedRun], source: str, lengths: Lengths, limits: ShownLimits
) -> Chart:
    least = "the least over the heads" if len(lrnn.layers) > 1 else "of all heads together"
    margins = np.concatenate([r.margins[np.isfinite(r.margins)] for r in followed])
    largest = float(margins.max(initial=0.0))
    floor = -largest if largest > 0 else -math.inf  # a run that went wrong must not flatten the others
    cut = f" Margins below {floor:.6g} are left out." if (margins < floor).any() else ""
    return Chart(
        "margin",
        "Margin to the nearest other code",
        f"Half of (distance to the nearest wrong code - distance to the right one), {least}, the least over all words in each "
        f"stretch; at 0 or below a state is read wrongly. {_errors(followed)}{_together(followed)}{_broken(followed)}{cut}",
        "position in the word",
        "margin",
        tuple(_series(r, "margin", limits, floor) for r in followed),
        source,
        (*_marks(lengths, followed), Mark("y", 0.0, "read wrongly at 0 or below")),
        log_x=True,
    )


def _norm_chart(followed: list[FollowedRun], source: str, lengths: Lengths, limits: ShownLimits) -> Chart:
    norms = [r.norms[np.isfinite(r.norms)] for r in followed]
    ranges = [
        f"{r.dtype} " + (f"{n.min():.6g}" if n.min() == n.max() else f"{n.min():.6g} to {n.max():.6g}")
        for r, n in zip(followed, norms, strict=True)
        if n.size
    ]
    every = np.concatenate(norms)
    return Chart(
        "norm",
        "Norm of the state",
        "Frobenius norm of the states of all heads together, the largest over all words in each stretch: "
        f"{'; '.join(ranges)}.{_together(followed)}{_broken(followed)}",
        "position in the word",
        "state norm",
        tuple(_series(r, "norm", limits) for r in followed),
        source,
        _marks(lengths, followed),
        log_x=True,
        log_y=bool(every.size and every.min() > 0 and every.max() > 10 * every.min()),
    )


def _series(r: FollowedRun, what: str, limits: ShownLimits, floor: float = -math.inf) -> Series:
    """The least margin or the largest norm of each stretch, at its place; what is not finite or too low breaks the line."""
    values = r.margins if what == "margin" else r.norms
    x, y, hover = list[float | str](), list[float | None](), list[str]()
    for stretch in stretches(len(values), limits.points):
        part = values[stretch]
        place = int(part.argmin() if what == "margin" else part.argmax())
        value, token = float(part[place]), stretch.start + place + 1
        x.append(float(token))
        y.append(value if math.isfinite(value) and value >= floor else None)
        hover.append(f"{r.dtype}, token {token:,}: {what} {value:.6g}")
    role = FIRST_ROLE + list(FORMATS).index(r.dtype)
    return Series(r.dtype, tuple(x), tuple(y), "line", role, tuple(hover), (("dtype", r.dtype),))


def _marks(lengths: Lengths, followed: list[FollowedRun]) -> tuple[Mark, ...]:
    """The certified horizons that lie within the run."""
    return tuple(
        Mark("x", float(n), f"{r.dtype}: certified to {n:,}")
        for r in followed
        if (n := (lengths or {}).get(r.dtype)) is not None and 1 <= n <= len(r.norms)
    )


def _errors(followed: list[FollowedRun]) -> str:
    wrong = [f"{r.dtype} first at token {r.first_error:,}" for r in followed if r.first_error is not None]
    if not wrong:
        return "No state is wrong in any dtype."
    return f"Wrong states occur in {len(wrong)} of {len(followed)} dtypes: {'; '.join(wrong)}."


def _together(followed: list[FollowedRun]) -> str:
    """Which dtypes share one line, as nothing is rounded in them."""
    same = [r.dtype for r in followed if r.margins is followed[0].margins]
    return f" {len(same)} dtypes ({', '.join(same)}) lie on one line." if len(same) > 1 else ""


def _broken(followed: list[FollowedRun]) -> str:
    lost = [
        f"{r.dtype} from token {int(np.flatnonzero(~np.isfinite(r.norms))[0]) + 1:,}"
        for r in followed
        if not np.isfinite(r.norms).all()
    ]
    return f" A line breaks where some state is not finite: {'; '.join(lost)}." if lost else ""


def _exactness(lrnn: LRNN) -> str:
    if lrnn.integer_bound is None:
        return "Not all of its numbers are integers, so no dtype is sure to hold them without rounding."
    if not lrnn.formats:
        return (
            f"All its numbers are integers, but up to {lrnn.integer_bound:,}, more than any dtype here holds."
        )
    return (
        f"All its numbers, products and partial sums are integers up to {lrnn.integer_bound:,}: it is exact at any length in "
        f"{', '.join(lrnn.formats)}, where nothing is rounded."
    )


def _horizons(lrnn: LRNN, lengths: Lengths, limits: ShownLimits) -> list[str]:
    if lengths is not None:
        known = [f"{n:,} in {dtype}" for dtype, n in lengths.items() if n is not None]
        return [
            f"On every word the nearest code is proved to be the right one up to token {', '.join(known)}."
        ] * bool(known)
    if lrnn.exactness == "integer":
        return []
    if not has_horizon(lrnn):
        return ["No horizon is certified: some letters are more than products of factors of norm at most 1."]
    return [f"Horizons were not computed: a head has more than {limits.codes:,} codes."]


def _table(lrnn: LRNN, lengths: Lengths, followed: list[FollowedRun], source: str) -> Table:
    rows = tuple(_row(lrnn, lengths, r) for r in followed)
    description = f"A row for each of {len(rows)} dtypes. {_errors(followed)}"
    return Table("dtypes", "Dtypes", description, COLUMNS, rows, source)


def _row(lrnn: LRNN, lengths: Lengths, r: FollowedRun) -> tuple[Cell, ...]:
    exact = r.dtype in lrnn.formats
    horizon: Cell = "no limit" if exact else "none is certified"
    if not exact and lengths is not None:
        horizon = "no limit" if lengths[r.dtype] is None else lengths[r.dtype]
    return (
        r.dtype, exact, lrnn.integer_bound, INTEGER_RANGES[r.dtype], horizon, r.tokens, r.errors,
        "none seen" if r.first_error is None else r.first_error,
        _finite(float(r.norms.max())), _finite(float(r.margins.min())),
    )  # fmt: skip


def _finite(value: float) -> Cell:
    return value if math.isfinite(value) else "not finite"
