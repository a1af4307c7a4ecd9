"""The roofline picture of `kernels`, from its results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from mirrormata.benchmarks.kernel_costs import least_bytes, operations
from mirrormata.benchmarks.kernel_tables import PASSES
from mirrormata.theory.pictures._mirrors import picture_format, write_figure

INK = "#222222"


def draw_roofline(document: dict[str, Any], path: str | Path) -> None:
    """Draw to an `.svg` or `.png` file; the same document gives the same bytes."""
    write_figure(lambda: _figure(document), path, picture_format(path))


def _figure(document: dict[str, Any]) -> Figure:
    figure = Figure(figsize=(7.2, 4.8), facecolor="white")
    axes = figure.add_axes((0.1, 0.12, 0.86, 0.78))
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
        axis.set_minor_formatter(NullFormatter())
    rate, peak = document["copy bytes a second"], document["bfloat16 operations a second"]
    intensities = [4.0, peak / rate, 1000.0]
    axes.plot(intensities, [min(peak, rate * x) / 1e12 for x in intensities], color=INK, lw=1.4)
    for row in document["times"]["plain"]:
        for name, backward in PASSES:
            shape = row["B T H D n_h"]
            work = operations(*shape, backward=backward)
            x, y = (
                work / least_bytes(*shape, backward=backward),
                work / row["ours"][f"{name} graph"][0] / 1e9,
            )
            axes.plot(x, y, "s" if backward else "o", color=INK, mfc="#8a8a8a" if backward else "white", ms=6)
            axes.annotate(
                row["shape"], (x, y), xytext=(0, -12), textcoords="offset points", fontsize=7, ha="center"
            )
    axes.plot([], [], "o", color=INK, mfc="white", label="forward")
    axes.plot([], [], "s", color=INK, mfc="#8a8a8a", label="forward and backward")
    axes.plot([], [], color=INK, lw=1.4, label="a large copy, a large bf16 product")
    axes.legend(loc="lower right", fontsize=8, frameon=False)
    axes.set_xlabel("operations a byte that must be moved", fontsize=9)
    axes.set_ylabel("10¹² operations a second", fontsize=9)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    figure.text(
        0.1, 0.94, f"Roofline, {document['card']}, bf16, graph replay", fontsize=11, fontweight="bold"
    )
    return figure
