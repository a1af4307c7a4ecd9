"""The picture of `cascade_levels`: how many levels the holonomy cascades have, by number of states."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from mirrormata.theory.pictures._mirrors import picture_format, write_figure

INK = "#222222"


def draw_cascade_levels(document: dict[str, Any], path: str | Path) -> None:
    """Draw the document of `cascade_levels` to an `.svg` or `.png` file; the same document gives the same bytes."""
    write_figure(lambda: _figure(document), path, picture_format(path))


def _figure(document: dict[str, Any]) -> Figure:
    figure = Figure(figsize=(8.0, 5.4), facecolor="white")
    axes = figure.add_axes((0.08, 0.1, 0.6, 0.79))
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.0f}"))
    rows = document["rows"]
    last = max(row["states"] for row in rows)
    for row in rows:
        dark = row["kind"] == "all"
        for level, count in row["levels"].items():
            if int(level):
                share = count / row["automata"]
                # six decades of shares in radii that are all to be seen
                radius = 2.0 + 1.6 * max(0.0, 6 + math.log10(share))
                axes.plot(
                    row["states"], int(level), "o", ms=radius, mfc="#8a8a8a" if dark else "white", mec=INK,
                    mew=0.7, zorder=3,
                )  # fmt: skip
    family = document.get("family", [])
    shown = [f for f in family if f["states"] <= last + 2]
    axes.plot([f["states"] for f in shown], [f["levels"] for f in shown], "D-.", color=INK, ms=4, lw=0.9)
    walks = [w for w in document.get("walks", []) if w["states"] > 6]
    axes.plot([w["states"] for w in walks], [w["max"] for w in walks], "^", color=INK, ms=6, zorder=4)
    right = max([last, *(f["states"] for f in shown)])
    states = list(range(1, right + 1))
    axes.plot(states, [2**n for n in states], ":", color=INK, lw=1.6)
    axes.plot(states[1:], [n - 1 for n in states[1:]], "-", color=INK, lw=1.6, zorder=2)
    axes.set_xticks(states)
    axes.set_xlim(0.5, right + 0.5)
    axes.set_ylim(0.8, 2 ** (right + 0.3))
    axes.set_xlabel("states |Q| of the minimal automaton", fontsize=9)
    axes.set_ylabel("levels of the cascade (logarithmic)", fontsize=9)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#e5e5e5", lw=0.6)
    figure.text(0.08, 0.94, "Levels of the holonomy cascade", fontsize=11, fontweight="bold")
    handles = [
        Line2D([], [], color=INK, ls=":", lw=1.6, label="2^|Q|"),
        Line2D([], [], color=INK, ls="-.", marker="D", ms=4, lw=0.9, label="family of order-preserving\nmaps, many letters"),
        Line2D([], [], color=INK, ls="none", marker="^", ms=6, label="two letters, most found\nby random walks"),
        Line2D([], [], ls="none", marker="o", ms=9, mfc="#8a8a8a", mec=INK, label="two letters, all automata"),
        Line2D([], [], ls="none", marker="o", ms=9, mfc="white", mec=INK, label="two letters, random automata"),
        *(
            Line2D([], [], ls="none", marker="o", ms=2.0 + 1.6 * (6 + d), mfc="white", mec=INK, label=text)
            for d, text in ((0, "size: share of automata, 1"), (-3, "1 in 1,000"), (-6, "1 in 1,000,000 or less"))
        ),
        Line2D([], [], color=INK, ls="-", lw=1.6, label="|Q| - 1, reached for every\nautomaton by more letters"),
    ]  # fmt: skip
    figure.legend(
        handles=handles, loc="upper left", bbox_to_anchor=(0.69, 0.9), fontsize=8, frameon=False, labelspacing=1.0
    )  # fmt: skip
    return figure
