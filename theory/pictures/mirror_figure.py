"""The figure of `draw_mirrors`: panels row by row between title, legend and explanation, placed in inches."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ...constructions.lrnn import LRNN
from ...constructions.texts.show import counted, label_text
from .mirror_explanation import explanation
from .mirror_head import DrawnHead, DrawnLetter
from .mirror_plane import ARROW, START, draw_line, draw_plane, mirror_colour, mirror_name
from .mirror_space import draw_space
from .mirror_wires import draw_wires, wires_size
from .mirror_words import sentence

DRAW = {"line": draw_line, "plane": draw_plane, "space": draw_space, "wires": draw_wires}
MARGIN, GAP, WIDEST = 0.3, 0.2, 13.6
"""Inches: border, space between panels, widest row."""


@dataclass(frozen=True)
class _Block:
    """The panels of one head: its letters, words above them, and inches."""

    head: DrawnHead
    letters: tuple[DrawnLetter, ...]
    words: tuple[str, ...]
    width: float
    height: float
    caption: float
    columns: int

    @property
    def rows(self) -> int:
        return -(-len(self.letters) // self.columns)


def _blocks(heads: list[DrawnHead], chosen: list[list[int]]) -> list[_Block]:
    sizes = [_panel_size(head, len(heads) > 1) for head in heads]
    width = max(w for w, _ in sizes)
    blocks = []
    for head, letters, (_, height) in zip(heads, chosen, sizes, strict=True):
        columns = max(1, int((WIDEST + GAP) / (width + GAP)))
        columns = -(-len(letters) // -(-len(letters) // columns)) if letters else 1
        shown = tuple(head.letters[x] for x in letters)
        words = [
            wrap(x.words or sentence(head, x), int(width * 16), break_on_hyphens=False)[:3] for x in shown
        ]
        caption = 0.32 + 0.14 * max((len(lines) for lines in words), default=0)
        texts = tuple("\n".join(lines) for lines in words)
        blocks.append(_Block(head, shown, texts, width, height, caption, columns))
    return blocks


def _panel_size(head: DrawnHead, several: bool) -> tuple[float, float]:
    """Width and height in inches."""
    if head.form == "wires":
        return wires_size(head)
    return {"line": (1.4 if several else 1.9, 0.75), "plane": (2.5, 2.5), "space": (2.5, 2.5)}[head.form]


def mirror_figure(
    lrnn: LRNN, heads: list[DrawnHead], chosen: list[list[int]], kinds: int, option: str
) -> Figure:
    """The figure of the chosen letters (indices by head), out of `kinds` kinds of letters; `option` gives more of them."""
    blocks = _blocks(heads, chosen)
    widest = max(block.columns * (block.width + GAP) - GAP for block in blocks)
    inside = max(6.6, widest)
    head_title = 0.3 if len(heads) > 1 else 0.0
    down = sum(head_title + block.rows * (block.height + block.caption + 0.1) for block in blocks)
    words = wrap(" ".join(explanation(lrnn, heads, chosen, kinds, option)), int(inside * 16.5))
    title = wrap(f"{label_text(lrnn.automaton.name)}: {lrnn.construction}", int(inside * 9.5))
    top, handles = MARGIN + 0.24 * len(title) + 0.4, _legend(heads, chosen)
    legend = 0.34 if handles else 0.1
    wide, tall = inside + 2 * MARGIN, top + down + legend + 0.17 * len(words) + MARGIN
    figure = Figure(figsize=(wide, tall), facecolor="white")

    def write(x: float, y: float, text: str, size: float, **style: Any) -> None:
        figure.text(x / wide, 1 - y / tall, text, fontsize=size, va="top", **style)

    write(MARGIN, MARGIN, "\n".join(title), 12, fontweight="bold", linespacing=1.2)
    write(MARGIN, top - 0.36, _figures(lrnn), 8.5, color="#444444")
    at = top
    for block, name in zip(blocks, _head_titles(lrnn, heads), strict=True):
        if head_title:
            write(MARGIN, at + 0.05, name, 9.5, fontweight="bold", color="#444444")
            at += head_title
        for i, letter in enumerate(block.letters):
            left = MARGIN + (inside - widest) / 2 + (i % block.columns) * (block.width + GAP)
            above = at + (i // block.columns) * (block.height + block.caption + 0.1)
            label = _cut(letter.heading or f"letter {letter.label}", int(block.width * 12))
            write(left + block.width / 2, above + 0.06, label, 9, ha="center", fontweight="bold")
            write(left + block.width / 2, above + 0.23, block.words[i], 7.5, ha="center", linespacing=1.15)
            own, _ = _panel_size(block.head, len(heads) > 1)
            bottom = tall - (above + block.caption + block.height)
            frame = ((left + (block.width - own) / 2) / wide, bottom / tall, own / wide, block.height / tall)
            axes = figure.add_axes(frame)
            axes.axis("off")
            DRAW[block.head.form](axes, block.head, letter)
        at += block.rows * (block.height + block.caption + 0.1)
    if handles:
        figure.legend(
            handles=handles, loc="upper center", ncols=len(handles), fontsize=7.5, frameon=False, borderpad=0,
            bbox_to_anchor=(0.5, 1 - (at + 0.1) / tall), columnspacing=1.3, handlelength=1.6,
        )  # fmt: skip
    write(MARGIN, at + legend + 0.04, "\n".join(words), 8, linespacing=1.25)
    return figure


def _head_titles(lrnn: LRNN, heads: list[DrawnHead]) -> list[str]:
    names = lrnn.construction.split("; ")
    if len(lrnn.layers) > 1:
        return [head.heading for head in heads]
    if len(names) != len(heads):
        names = [""] * len(heads)
    return [
        f"{head.title}: {name}{', ' * bool(name)}dimension {head.dim}"
        for head, name in zip(heads, names, strict=True)
    ]


def _figures(lrnn: LRNN) -> str:
    factors = (
        "no GH factors" if lrnn.householders is None else counted(lrnn.householders, "factor") + " at most"
    )
    parts = [counted(len(lrnn.automaton.states), "state"), counted(len(lrnn.automaton.letters), "letter"),
             *[counted(len(lrnn.layers), "layer")] * (len(lrnn.layers) > 1),
             counted(len(lrnn.all_heads), "head"), factors, f"dimension {lrnn.dim}", lrnn.theorem]  # fmt: skip
    return " · ".join(parts)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def _legend(heads: list[DrawnHead], chosen: list[list[int]]) -> list[Line2D]:
    geometric = [(h, c) for h, c in zip(heads, chosen, strict=True) if h.form != "wires"]
    if not geometric:
        return []
    most = max((len(head.letters[x].sizes) for head, letters in geometric for x in letters), default=0)
    handles = [
        Line2D([], [], color=mirror_colour(j), lw=1.8,
               label=f"mirror {mirror_name(j)}" + (" (applied first)" if j == 0 and most > 1 else ""))
        for j in range(most)
    ]  # fmt: skip
    handles.append(Line2D([], [], marker="o", mfc="none", mec=START, ls="none", ms=8, label="start"))
    handles.append(
        Line2D([], [], color=ARROW, marker=">", ms=5, lw=1, label="where the letter takes a state")
    )
    return handles
