"""`draw_cascade`: an overview of an LRNN of several layers, its layers from top to bottom, a box for each head.

Between the layers stands what goes from one to the next: the letter, which the layer above makes of its own letter
and of the points of the heads from which arrows lead to it. The same construction gives the same bytes.

What the boxes of `draw_cascade` say of the heads.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from ...constructions._head import Head
from ...constructions._lrnn import LRNN
from ...constructions.cascades._holonomy_group import order_and_name
from ...constructions.texts._show import (
    distinct_transitions,
    label_text,
    layer_letters,
    map_kind,
    point_map,
)
from ...foundation._errors import InputError
from ...foundation._text import count_noun
from ._mirrors import picture_format, write_figure


@dataclass(frozen=True)
class HeadBox:
    """What a head's box says: its lines, its colours' name, and how many letters' read-outs read it."""

    lines: tuple[str, ...]
    fill: str
    readers: int


def head_box(lrnn: LRNN, i: int, j: int) -> HeadBox:
    """The box of head j of layer i."""
    layer = lrnn.layers[i]
    head = layer.heads[j]
    count = head.points or len(head.codes)
    name, resets, others = point_actions(head)
    does = [f"group {name}"] * bool(name) + [count_noun(resets, "reset")] * bool(resets)
    does += [count_noun(others, "other map")] * bool(others)
    factors = "matrices" if head.householders is None else count_noun(head.householders, "factor")
    lines = (
        f"head {i + 1}.{j + 1}",
        count_noun(count, "point") + ", doubled" * bool(head.points),
        ", ".join(does) or "no letter moves it",
        f"dimension {head.dim}, {factors}",
    )
    readers = 0 if layer.reads is None else int((layer.reads == j).any(axis=1).sum())
    return HeadBox(lines, "group" if name or others else "reset", readers)


def point_actions(head: Head) -> tuple[str, int, int]:
    """The group that the transitions which permute the points generate ("" if none moves one), resets, other maps."""
    maps = {tuple(point_map(head, t).tolist()): None for t, _ in distinct_transitions(head)}
    kinds = [(row, map_kind(np.array(row))) for row in maps]
    permutations = [row for row, kind in kinds if kind == "permutation"]
    name = order_and_name(np.array(permutations, dtype=np.int64))[1] if permutations else ""
    return name, sum(kind == "reset" for _, kind in kinds), sum(kind == "map" for _, kind in kinds)


def head_boxes(lrnn: LRNN, i: int, max_heads: int) -> list[HeadBox]:
    """The row of layer i; where there are more than `max_heads` the last box stands for the rest."""
    heads = len(lrnn.layers[i].heads)
    shown = heads if heads <= max_heads else max_heads - 1
    boxes = [head_box(lrnn, i, j) for j in range(shown)]
    if shown < heads:
        reads = lrnn.layers[i].reads
        readers = 0 if reads is None else int((reads >= shown).any(axis=1).sum())
        boxes.append(HeadBox((count_noun(heads - shown, "more head"), "not drawn"), "more", readers))
    return boxes


BOX, GAP, MARGIN, LEFT = (1.85, 0.94), 0.3, 0.3, 1.35
"""Inches: a head's box, space between boxes, border, and the column of the layers' names."""
PILL, ARROW = 0.34, 0.36
"""Inches: height of a letter's box, and length of an arrow."""
STEP = PILL + ARROW + BOX[1] + ARROW
INK, GREY, LINE = "#222222", "#666666", "#8a8a8a"
FILLS = {"group": ("#e3eef7", "#0072b2"), "reset": ("#fbeadf", "#d55e00"), "more": ("#f2f2f2", "#8a8a8a")}
"""Fill and edge of a head that permutes its points, of one that only resets them, and of heads left out."""


def draw_cascade(lrnn: LRNN, path: str | Path, *, max_heads: int = 6, max_layers: int = 40) -> None:
    """Draw an LRNN of several layers to an `.svg` or `.png` file, whole or not at all.

    Args:
        lrnn: a realisation of several layers.
        path: an `.svg` or `.png` file.
        max_heads: the largest number of boxes in a row; further heads are left out, and the picture says so.
        max_layers: the largest number of rows; layers in the middle are left out, and the picture says so.

    Raises:
        InputError: the LRNN has one layer, the extension is another one, or a limit is below 2.
    """
    if not lrnn.is_layered:
        raise InputError(f"{path}: this LRNN has one layer; its picture is that of `draw_mirrors`")
    if min(max_heads, max_layers) < 2:
        raise InputError(f"{path}: max_heads and max_layers are 2 or more")
    kind = picture_format(path)
    write_figure(lambda: _figure(lrnn, max_heads, max_layers), path, kind)


def _figure(lrnn: LRNN, max_heads: int, max_layers: int) -> Figure:
    depth, letters = lrnn.depth, layer_letters(lrnn)
    rows = list(range(depth))
    if depth > max_layers:
        rows = [*rows[: -(-max_layers // 2)], -1, *rows[depth - max_layers // 2 :]]
    boxes = {i: head_boxes(lrnn, i, max_heads) for i in rows if i >= 0}
    first = "input letter: " + _list_labels([label_text(x) for x in lrnn.automaton.letters], 34)
    texts = [first, *(_count(own.count) for own in letters[1:])]
    texts.append("state: " + _list_labels([label_text(q) for q in lrnn.automaton.states], 34))
    row = max(len(boxes[i]) * (BOX[0] + GAP) - GAP for i in boxes)
    row = max(row, *(_pill_width(texts[i]) for i in (*boxes, depth)))
    inside = max(LEFT + row + 0.7, 7.0)
    title = wrap(f"{label_text(lrnn.automaton.name)}: {lrnn.construction}", int(inside * 9.5))
    title = [*title[:3], title[3] + " ..."] if len(title) > 4 else title
    words = wrap(" ".join(_explanation(lrnn)), int(inside * 16))
    figures = wrap(_figures(lrnn), int(inside * 15))
    top = MARGIN + 0.24 * len(title) + 0.17 * len(figures) + 0.28
    down = sum(STEP if i >= 0 else STEP / 2 for i in rows) + PILL
    wide, tall = inside + 2 * MARGIN, top + down + 0.55 + 0.17 * len(words) + MARGIN
    figure = Figure(figsize=(wide, tall), facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.axis("off")
    axes.set_xlim(0, wide)
    axes.set_ylim(tall, 0)
    _write(axes, MARGIN, MARGIN, "\n".join(title), 12, fontweight="bold", linespacing=1.2, va="top")
    _write(axes, MARGIN, top - 0.17 * len(figures) - 0.2, "\n".join(figures), 8.5, color="#444444", va="top")
    middle = MARGIN + LEFT + (inside - LEFT) / 2
    y = top
    _pill(axes, middle, y, texts[0])
    for i in rows:
        if i < 0:
            between = y + PILL + STEP / 4 - PILL / 2
            left_out = count_noun(depth - len(boxes), "more layer")
            _write(axes, middle, between, f"... {left_out} not drawn ...", 8.5, color=GREY, ha="center")
            y += STEP / 2
            _pill(axes, middle, y, texts[rows[rows.index(i) + 1]])
            continue
        name = y + PILL + ARROW + BOX[1] / 2
        _write(axes, MARGIN, name - 0.1, f"Layer {i + 1}", 9.5, fontweight="bold")
        _write(axes, MARGIN, name + 0.1, count_noun(letters[i].count, "letter"), 8, color=GREY)
        _layer(axes, middle, y, boxes[i], letters[i].count)
        _letter_itself(axes, middle, y, middle - row / 2 - 0.25, (texts[i], texts[i + 1]))
        y += STEP
        _pill(axes, middle, y, texts[i + 1], last=i == depth - 1)
    _legend(axes, y + PILL + 0.3, boxes)
    _write(axes, MARGIN, y + PILL + 0.55, "\n".join(words), 8, linespacing=1.25, va="top")
    return figure


def _layer(axes: Axes, middle: float, y: float, boxes: list[HeadBox], letters: int) -> None:
    """The row of boxes under the letter at height y, with arrows from the letter and to the next one."""
    width = len(boxes) * (BOX[0] + GAP) - GAP
    above, below = y + PILL + ARROW, y + PILL + ARROW + BOX[1]
    spread = min(1.0, 0.5 * (len(boxes) - 1)) / max(len(boxes) - 1, 1)
    for k, box in enumerate(boxes):
        left = middle - width / 2 + k * (BOX[0] + GAP)
        centre, aim = left + BOX[0] / 2, middle + (k - (len(boxes) - 1) / 2) * spread
        fill, edge = FILLS[box.fill]
        axes.add_patch(
            FancyBboxPatch(
                (left, above), *BOX, boxstyle="round,pad=0,rounding_size=0.09", fc=fill, ec=edge, lw=1.1
            )
        )
        for n, line in enumerate(box.lines):
            size: float = 9 if n == 0 else 7.5
            axes.text(centre, above + 0.18 + 0.2 * n, _cut_text(line, 32), fontsize=size, ha="center", va="center",
                      color=INK, fontweight="bold" if n == 0 else "normal")  # fmt: skip
        _arrow(axes, (aim, y + PILL), (centre, above), LINE)
        if box.readers:
            _arrow(axes, (centre, below), (aim, below + ARROW), edge)
            text = (
                "read by every letter"
                if box.readers == letters
                else f"read by {box.readers:,} of {letters:,} letters"
            )
            side = -1 if centre < middle - 0.01 else 1
            axes.text(centre + side * 0.09, below + 0.1, text, fontsize=6.5, color=edge, va="center",
                      ha="left" if side > 0 else "right")  # fmt: skip


def _letter_itself(axes: Axes, middle: float, y: float, rim: float, texts: tuple[str, str]) -> None:
    """The dashed way of the letter at height y past its layer, to the next one."""
    begin, end = y + PILL / 2 + 0.05, y + STEP + PILL / 2 - 0.05
    first = middle - _pill_width(texts[0]) / 2
    axes.plot([first, rim, rim], [begin, begin, end], "--", color=LINE, lw=0.9, zorder=1)
    _arrow(axes, (rim, end), (middle - _pill_width(texts[1]) / 2, end), LINE, dashed=True)


def _pill_width(text: str) -> float:
    return max(1.5, 0.075 * len(text) + 0.4)


def _pill(axes: Axes, middle: float, y: float, text: str, *, last: bool = False) -> None:
    width = _pill_width(text)
    axes.add_patch(
        FancyBboxPatch(
            (middle - width / 2, y), width, PILL, boxstyle=f"round,pad=0,rounding_size={PILL / 2}",
            fc="#222222" if last else "white", ec=INK, lw=1.0, zorder=3,
        )
    )  # fmt: skip
    axes.text(middle, y + PILL / 2, text, fontsize=8, ha="center", va="center", zorder=4,
              color="white" if last else INK)  # fmt: skip


def _arrow(
    axes: Axes, a: tuple[float, float], b: tuple[float, float], colour: str, *, dashed: bool = False
) -> None:
    axes.add_patch(
        FancyArrowPatch(
            a, b, arrowstyle="-|>", mutation_scale=8, color=colour, lw=0.9 if dashed else 1.2, shrinkA=0, shrinkB=1,
            ls="--" if dashed else "-", zorder=2,
        )
    )  # fmt: skip


def _write(axes: Axes, x: float, y: float, text: str, size: float, **style: Any) -> None:
    axes.text(x, y, text, fontsize=size, **{"va": "center", **style})


def _count(letters: int) -> str:
    return f"one of {letters:,} letters" if letters > 1 else "1 letter"


def _list_labels(labels: list[str], most: int) -> str:
    """Labels while they fit, else their number with the first ones."""
    text = ", ".join(labels)
    if len(text) <= most:
        return text
    shown = ""
    for label in labels:
        if len(shown) + len(label) + 2 > most - 4:
            break
        shown += label + ", "
    return f"{shown}... ({len(labels):,})"


def _cut_text(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def _figures(lrnn: LRNN) -> str:
    factors = (
        "no GH factors" if lrnn.householders is None else count_noun(lrnn.householders, "factor") + " at most"
    )
    formats = f"bit-exact in {' '.join(lrnn.formats)}" if lrnn.formats else "rounded in every float format"
    parts = [count_noun(len(lrnn.automaton.states), "state"), count_noun(len(lrnn.automaton.letters), "letter"),
             count_noun(lrnn.depth, "layer"), _count_heads(lrnn), factors,
             f"dimension {lrnn.dim} at most", f"norm {lrnn.norm}", formats, lrnn.theorem]  # fmt: skip
    return " · ".join(parts)


def _count_heads(lrnn: LRNN) -> str:
    """The most heads of a layer, as the figures of a construction count them, and all heads where there are several layers."""
    most = count_noun(lrnn.heads, "head")
    return most if lrnn.depth == 1 else f"{most} a layer at most, {len(lrnn.all_heads)} in all"


MEANINGS = {
    "group": "permutes its points; the group is that of all its permutations",
    "reset": "only resets its points",
    "more": "heads left out",
}
"""What the legend says of the colours in `FILLS`."""


def _legend(axes: Axes, y: float, boxes: dict[int, list[HeadBox]]) -> None:
    """At height y, a small box in each colour that heads have, with what it means."""
    x, (wide, tall) = MARGIN, (0.3, 0.17)
    drawn = {box.fill for row in boxes.values() for box in row}
    for name in [name for name in FILLS if name in drawn]:
        fill, edge = FILLS[name]
        corner = "round,pad=0,rounding_size=0.04"
        axes.add_patch(
            FancyBboxPatch((x, y - tall / 2), wide, tall, boxstyle=corner, fc=fill, ec=edge, lw=1.1)
        )
        _write(axes, x + wide + 0.08, y, MEANINGS[name], 8)
        x += wide + 0.4 + 0.062 * len(MEANINGS[name])


def _explanation(lrnn: LRNN) -> list[str]:
    parts = ["Within a token the layers act from top to bottom."]
    parts.append(
        "A layer's letter moves its heads; with the points where the heads with an arrow below were before the token "
        "it gives the next layer's letter (dashed: the letter itself), at the bottom the automaton's state."
    )
    if any(head.points for head in lrnn.all_heads):
        parts.append(
            "A doubled head also keeps the point before its last reset, so that the read-out finds it."
        )
    return parts
