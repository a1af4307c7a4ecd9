"""`draw_mirrors`: one panel for each letter and head, states as points and factors as mirrors.

A head whose picture has 1, 2 or 3 dimensions shows the mirrors where they are; a larger one shows its coordinates as
wires that the factors cross. The same construction gives the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from textwrap import wrap
from typing import Any

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ...constructions.automaton import Indices
from ...constructions.errors import InputError, LimitError
from ...constructions.files import write_bytes
from ...constructions.lrnn import LRNN
from ...constructions.show import check_max_letters, counted, label_text, titled_heads
from .mirror_head import DrawnHead, DrawnLetter, drawn_head
from .mirror_plane import ARROW, START, draw_line, draw_plane, mirror_colour, mirror_name
from .mirror_space import draw_space
from .mirror_wires import draw_wires, wires_size
from .mirror_words import sentence, why_so_many

FORMATS: dict[str, dict[str, str | None]] = {
    "svg": {"Date": None}, "png": {"Software": None}, "pdf": {"CreationDate": None},
}  # fmt: skip
STYLE = {
    "svg.hashsalt": "mirrormata", "svg.fonttype": "none", "text.parse_math": False, "font.family": "DejaVu Sans",
    "axes.linewidth": 0.6, "pdf.fonttype": 42,
}  # fmt: skip
DRAW = {"line": draw_line, "plane": draw_plane, "space": draw_space, "wires": draw_wires}
MARGIN, GAP, WIDEST = 0.3, 0.2, 13.6
"""Inches: border, space between panels, widest row."""
MAX_PANELS = 400


def draw_mirrors(
    lrnn: LRNN, path: str | Path, *, max_letters: int = 12, max_dim: int = 40, max_points: int = 500
) -> None:
    """Draw the construction to a `.svg`, `.png` or `.pdf` file.

    `max_letters`: with more letters than this, one of each kind is drawn (see `kinds_of_letters`), and the picture says so. `max_dim`: widest head drawn as wires. `max_points`: most states
    drawn as points.
    Raises `InputError` for another extension or `max_letters` below 1, `LimitError` for a head too wide or more
    than 400 panels.
    """
    check_max_letters(max_letters)
    kind = picture_format(path)
    heads = drawn_heads(lrnn, max_points)
    wide = max((head.dim for head in heads if head.form == "wires"), default=0)
    if wide > max_dim:
        raise LimitError(
            f"{path}: a head has dimension {wide}, a picture of wires is drawn to {max_dim}; --max-dim {wide} draws it"
        )
    if len({len(head.letters) for head in heads}) == 1:
        picks = [kinds_of_letters(lrnn, heads, max_letters)] * len(heads)
    else:
        picks = [kinds_of_letters(lrnn, [head], max_letters) for head in heads]
    chosen = [letters for letters, _ in picks]
    if (panels := sum(len(c) for c in chosen)) > MAX_PANELS:
        raise LimitError(
            f"{path}: {panels} panels, at most {MAX_PANELS} are drawn; give a smaller --max-letters"
        )
    with matplotlib.rc_context(STYLE):
        figure = _figure(lrnn, heads, chosen, picks[0][1])
        write_figure(figure, path, kind)


def picture_format(path: str | Path) -> str:
    """`svg`, `png` or `pdf` by the extension; `InputError` for another one."""
    extension = Path(path).suffix.lower().removeprefix(".")
    if extension not in FORMATS:
        found = f"extension .{extension}" if extension else "no extension"
        raise InputError(f"{path}: {found}; a picture is .svg, .png or .pdf")
    return extension


def write_figure(figure: Figure, path: str | Path, kind: str) -> None:
    """Write a figure whole or not at all, the same bytes for the same figure."""
    buffer = BytesIO()
    FigureCanvasAgg(figure)
    figure.savefig(buffer, format=kind, dpi=130, metadata=FORMATS[kind])
    write_bytes(path, buffer.getvalue())


def drawn_heads(lrnn: LRNN, max_points: int = 500) -> list[DrawnHead]:
    """Every head in the coordinates of its picture."""
    single = len(lrnn.layers) == 1
    return [
        drawn_head(lrnn, head, j + 1 if single else 0, title, labels, max_points)
        for j, (title, head, labels) in enumerate(titled_heads(lrnn))
    ]


def kinds_of_letters(lrnn: LRNN, heads: list[DrawnHead], max_letters: int) -> tuple[list[int], int]:
    """The letters to draw, and how many kinds there are: all letters where they are few, else one of each kind.

    Letters are of one kind where they look alike on every head and another letter conjugates one into the other.
    The letter with most factors is always drawn.
    """
    count = len(heads[0].letters)
    if count <= max_letters:
        return list(range(count)), count
    conjugate = (
        _conjugacy(lrnn.automaton.transitions) if count == len(lrnn.automaton.letters) else [0] * count
    )
    first: dict[tuple[object, ...], int] = {}
    for x in range(count):
        first.setdefault((conjugate[x], *(head.letters[x].kind() for head in heads)), x)
    most = min(first.values(), key=lambda x: -max(len(head.letters[x].sizes) for head in heads))
    kept = list(first.values())[:max_letters]
    return (kept if most in kept else [*kept[:-1], most]), len(first)


def _conjugacy(transitions: Indices) -> list[int]:
    """For each letter of a group's the least letter that a letter conjugates it into; 0 for all where too many."""
    letters, states = transitions.shape
    if letters * letters * states > 5_000_000 or (np.sort(transitions) != np.arange(states)).any():
        return [0] * letters
    index: dict[bytes, int] = {}
    for x, row in enumerate(transitions):
        index.setdefault(row.tobytes(), x)
    least = list(range(letters))
    for g in transitions:
        inverse = np.argsort(g)
        for x, row in enumerate(transitions):
            least[x] = min(least[x], index.get(np.ascontiguousarray(g[row[inverse]]).tobytes(), x))
    return least


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
        words = [wrap(sentence(head, x), int(width * 16), break_on_hyphens=False)[:3] for x in shown]
        caption = 0.32 + 0.14 * max((len(lines) for lines in words), default=0)
        texts = tuple("\n".join(lines) for lines in words)
        blocks.append(_Block(head, shown, texts, width, height, caption, columns))
    return blocks


def _panel_size(head: DrawnHead, several: bool) -> tuple[float, float]:
    """Width and height in inches."""
    if head.form == "wires":
        return wires_size(head)
    return {"line": (1.4 if several else 1.9, 0.75), "plane": (2.5, 2.5), "space": (2.5, 2.5)}[head.form]


def _figure(lrnn: LRNN, heads: list[DrawnHead], chosen: list[list[int]], kinds: int) -> Figure:
    """Panels row by row under the title, the legend and the explanation below them."""
    blocks = _blocks(heads, chosen)
    widest = max(block.columns * (block.width + GAP) - GAP for block in blocks)
    inside = max(6.6, widest)
    head_title = 0.3 if len(heads) > 1 else 0.0
    down = sum(head_title + block.rows * (block.height + block.caption + 0.1) for block in blocks)
    words = wrap(" ".join(_explanation(lrnn, heads, chosen, kinds)), int(inside * 16.5))
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
            label = _cut(f"letter {letter.label}", int(block.width * 12))
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
             counted(lrnn.heads, "head"), factors, f"dimension {lrnn.dim}", lrnn.theorem]  # fmt: skip
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


def _explanation(lrnn: LRNN, heads: list[DrawnHead], chosen: list[list[int]], kinds: int) -> list[str]:
    """What one sees, why fewer factors do not do, and what was left out."""
    forms = {head.form for head in heads}
    parts = []
    if forms - {"wires"}:
        points = "Dots are the states" + (" of the head" if len(heads) > 1 else "")
        if any(head.basis is not None and len(head.basis) > head.basis.shape[1] for head in heads):
            points += ", drawn without the directions that no letter moves"
        parts.append(points + ".")
        if forms & {"plane", "space"}:
            parts.append(
                "A mirror reflects along its key, the short arrow; the dotted path follows the start from mirror to mirror."
            )
    if "space" in forms:
        parts.append("Solid arrows: the start's cycle under the letter; the dash-dotted line is the axis.")
    if "wires" in forms:
        if any(letter.transition.matrix is not None for head in heads for letter in head.letters):
            parts.append(
                "Wires: coordinate at the top to coordinate at the bottom; wires that meet are added."
            )
        else:
            parts.append(
                "Wires are coordinates; from top to bottom each mirror C exchanges two of them, and ⊖ changes a sign."
            )
    parts += why_so_many(heads)
    count, kept = len(heads[0].letters), len(chosen[0])
    if kept < count:
        which = "one of each kind" if kept == kinds else f"of {kinds} kinds"
        parts.append(f"{kept} of {count} letters are drawn, {which}; --max-letters {count} draws them all.")
    return parts
