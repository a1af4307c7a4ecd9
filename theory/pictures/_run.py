"""`draw_run`: how far a run stays from a wrong decoding, over time, for each dtype."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter
from numpy.typing import ArrayLike, NDArray

from ...foundation._errors import InputError
from ._mirror_panels import MIRRORS
from ._mirrors import picture_format, write_figure

Points = tuple[NDArray[np.float64], NDArray[np.float64]]
MAX_SAMPLES = 2_000
"""Points drawn of a series; of more, each stretch's least margin."""


def draw_run(
    series: Mapping[str, tuple[ArrayLike, ArrayLike]],
    horizons: Mapping[str, int | None],
    first_errors: Mapping[str, int | None],
    path: str | Path,
    *,
    title: str = "A run: the margin of decoding over time",
) -> None:
    """Draw the margins of a run to an `.svg` or `.png` file. The same run gives the same bytes.

    Args:
        series: for each dtype, the positions (≥ 1, increasing) and the margin at each of them: the distance from the
            nearest wrong decoding minus that from the right one. A margin that is not positive is an error.
        horizons: for each dtype the certified horizon, drawn as a dashed line; None or absent for none.
        first_errors: for each dtype the position of the first error, drawn as a cross; None or absent if there was
            none.
        path: an `.svg` or `.png` file.
        title: the title above.

    Raises:
        InputError: another extension, or a wrong series; the message names everything that is wrong.
    """
    kind = picture_format(path)
    runs = _check_series(series, horizons, first_errors, path)
    write_figure(lambda: _figure(runs, horizons, first_errors, title), path, kind)


def _check_series(
    series: Mapping[str, tuple[ArrayLike, ArrayLike]],
    horizons: Mapping[str, int | None],
    first_errors: Mapping[str, int | None],
    path: str | Path,
) -> dict[str, Points]:
    problems, runs = [], {}
    if not series:
        problems.append("there is no series to draw")
    for name, (x, y) in series.items():
        positions, margins = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
        if positions.ndim != 1 or positions.shape != margins.shape or not positions.size:
            problems.append(
                f"{name}: positions {positions.shape} and margins {margins.shape} must be two equally long lists"
            )
        elif positions[0] < 1 or (np.diff(positions) <= 0).any():
            problems.append(f"{name}: positions must increase from 1 on")
        runs[name] = (positions, margins)
    for what, values in (("horizon", horizons), ("first error", first_errors)):
        for name, at in values.items():
            if name not in series:
                problems.append(f"{what} of {name}: there is no such series")
            elif at is not None and at < 1:
                problems.append(f"{what} of {name}: {at} is not a position, they count from 1")
    if problems:
        raise InputError(f"{path}: " + "; ".join(problems))
    return runs


def _thin_margins(positions: NDArray[np.float64], margins: NDArray[np.float64]) -> Points:
    """The least margin of each of `MAX_SAMPLES` stretches of equal length on the logarithmic axis."""
    if len(positions) <= MAX_SAMPLES:
        return positions, margins
    edges = np.geomspace(positions[0], positions[-1], MAX_SAMPLES + 1)
    stretch = np.searchsorted(edges, positions, side="right")
    starts = np.flatnonzero(np.diff(stretch, prepend=-1))
    clean = np.where(np.isnan(margins), np.inf, margins)
    ends = np.append(starts[1:], len(positions))
    least = np.array([a + int(np.argmin(clean[a:b])) for a, b in zip(starts, ends, strict=True)])
    return positions[least], margins[least]


def _figure(
    runs: dict[str, Points],
    horizons: Mapping[str, int | None],
    first_errors: Mapping[str, int | None],
    title: str,
) -> Figure:
    figure = Figure(figsize=(8.0, 4.6), facecolor="white")
    axes = figure.add_axes((0.09, 0.13, 0.65, 0.75))
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
    low = min(float(np.nanmin(m, initial=0.0)) for _, m in runs.values())
    high = max(float(np.nanmax(m, initial=0.0)) for _, m in runs.values()) or max(-low, 1.0)
    bottom = max(low, -high) - 0.1 * high  # a run gone wrong must not flatten the others
    axes.set_ylim(bottom, 1.12 * high)
    axes.axhspan(bottom, 0, color="#f6e9e6", zorder=0, lw=0)
    handles: list[Line2D] = []
    for i, (name, (positions, margins)) in enumerate(runs.items()):
        colour = MIRRORS[i % len(MIRRORS)]
        style = "-" if i < len(MIRRORS) else "-."
        x, y = _thin_margins(positions, margins)
        axes.plot(x, y, style, color=colour, lw=1.4, marker="." if len(x) <= 60 else None, ms=4, zorder=3)
        if (horizon := horizons.get(name)) is not None:
            axes.axvline(horizon, color=colour, ls="--", lw=1.1, zorder=2)
        error = first_errors.get(name)
        if error is not None:
            axes.plot(error, 0, "X", color=colour, mec="white", ms=10, zorder=5, clip_on=False)
        # an entry for each line and sign, in its own colour
        seen = (
            f"{name}: margin" if error is not None else f"{name}: margin,\nno error to {int(positions[-1]):,}"
        )
        known = margins[np.isfinite(margins)]
        if known.size and (spread := float(np.ptp(known))) < 0.02 * high:  # the line looks level
            seen += f",\nchanges by {spread:.2g} at most" if spread else ",\nalways the same"
        handles.append(Line2D([], [], color=colour, ls=style, lw=1.8, label=seen))
        if horizon is not None:
            certified = f"{name}: certified to {horizon:,}"
            handles.append(Line2D([], [], color=colour, ls="--", lw=1.1, label=certified))
        if error is not None:
            first = f"{name}: first error at {error:,}"
            handles.append(
                Line2D([], [], color=colour, marker="X", mec="white", ls="none", ms=9, label=first)
            )
    axes.axhline(0, color="#222222", lw=0.9, zorder=1)
    axes.set_xlabel("position in the word (logarithmic)", fontsize=9)
    axes.set_ylabel("margin: 0 or less decodes wrongly", fontsize=9)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#e5e5e5", lw=0.6)
    figure.text(0.09, 0.93, title, fontsize=11, fontweight="bold")
    figure.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(0.755, 0.9),
        fontsize=8,
        frameon=False,
        labelspacing=0.9,
    )
    return figure
