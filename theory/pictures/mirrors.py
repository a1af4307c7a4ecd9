"""`draw_mirrors`: one panel for each letter and head, states as points and factors as mirrors.

A head whose picture has 1, 2 or 3 dimensions shows the mirrors where they are; a larger one shows its coordinates as
wires that the factors cross. The same construction gives the same bytes.
"""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from textwrap import wrap

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ...constructions.errors import InputError, LimitError
from ...constructions.files import write_bytes
from ...constructions.lrnn import LRNN
from ...constructions.show import check_max_letters, counted, label_text, titled_heads
from .mirror_head import DrawnHead, DrawnLetter, drawn_head
from .mirror_plane import ARROW, START, draw_line, draw_plane, mirror_colour
from .mirror_space import draw_space
from .mirror_wires import draw_wires, wires_size
from .mirror_words import sentence

FORMATS: dict[str, dict[str, str | None]] = {
    "svg": {"Date": None}, "png": {"Software": None}, "pdf": {"CreationDate": None},
}  # fmt: skip
STYLE = {
    "svg.hashsalt": "mirrormata", "svg.fonttype": "none", "text.parse_math": False, "font.family": "DejaVu Sans",
    "axes.linewidth": 0.6, "pdf.fonttype": 42,
}  # fmt: skip
DRAW = {"line": draw_line, "plane": draw_plane, "space": draw_space, "wires": draw_wires}
MARGIN, GAP, WIDEST, CAPTION = 0.3, 0.25, 13.0, 0.72
"""Inches: border, space between panels, widest row, height above a panel for its words."""
MAX_PANELS = 400


def draw_mirrors(
    lrnn: LRNN, path: str | Path, *, max_letters: int = 12, max_dim: int = 40, max_points: int = 500
) -> None:
    """Draw the construction to a `.svg`, `.png` or `.pdf` file.

    `max_letters`: with more letters than this, one of each kind is drawn (equal factor count and equal traces of
    the matrix's powers), and the picture says so. `max_dim`: widest head drawn as wires. `max_points`: most states
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
    chosen = [kinds_of_letters([head], max_letters) for head in heads]
    if len({len(head.letters) for head in heads}) == 1:
        chosen = [kinds_of_letters(heads, max_letters)] * len(heads)
    if (panels := sum(len(c) for c in chosen)) > MAX_PANELS:
        raise LimitError(f"{path}: {panels} panels, at most {MAX_PANELS} are drawn; give a smaller --max-letters")
    with matplotlib.rc_context(STYLE):
        figure = _figure(lrnn, heads, chosen)
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


def kinds_of_letters(heads: list[DrawnHead], max_letters: int) -> list[int]:
    """All letters where they are few, else the first of each kind; the letter with most factors is always there."""
    count = len(heads[0].letters)
    if count <= max_letters:
        return list(range(count))
    first: dict[tuple[object, ...], int] = {}
    for x in range(count):
        first.setdefault(tuple(head.letters[x].kind() for head in heads), x)
    most = min(first.values(), key=lambda x: -max(len(head.letters[x].sizes) for head in heads))
    kept = list(first.values())[:max_letters]
    return kept if most in kept else [*kept[:-1], most]


def _panel_size(head: DrawnHead) -> tuple[float, float]:
    if head.form == "wires":
        return wires_size(head)
    return {"line": (1.9, 0.75), "plane": (2.35, 2.35), "space": (2.6, 2.6)}[head.form]


def _figure(lrnn: LRNN, heads: list[DrawnHead], chosen: list[list[int]]) -> Figure:
    """Panels row by row under the title, the legend and the explanation below them."""
    places: list[tuple[DrawnHead, DrawnLetter, float, float]] = []
    titles: list[tuple[str, float]] = []
    rows, down = [], 0.0
    for head, letters in zip(heads, chosen, strict=True):
        width, height = _panel_size(head)
        columns = max(1, int((WIDEST + GAP) / (width + GAP)))
        columns = -(-len(letters) // -(-len(letters) // columns)) if letters else 1
        if len(heads) > 1:
            titles.append((f"{head.title}: dimension {head.dim}", down))
            down += 0.3
        for i, x in enumerate(letters):
            left = (i % columns) * (width + GAP)
            places.append((head, head.letters[x], left, down + (i // columns) * (height + CAPTION)))
        rows.append(columns * (width + GAP) - GAP)
        down += -(-len(letters) // columns) * (height + CAPTION)
    inside = max(6.4, *rows)
    words = wrap(" ".join(_explanation(lrnn, heads, chosen)), int(inside * 14.5), break_long_words=True)
    title = wrap(f"{label_text(lrnn.automaton.name)}: {lrnn.construction}", int(inside * 9.5))
    top, legend = MARGIN + 0.24 * len(title) + 0.36, 0.34
    total_width, total = inside + 2 * MARGIN, top + down + legend + 0.17 * len(words) + MARGIN
    figure = Figure(figsize=(total_width, total), facecolor="white")

    def write(x: float, y: float, text: str, size: float, **style: object) -> None:
        figure.text(x / total_width, 1 - y / total, text, fontsize=size, va="top", **style)  # type: ignore[arg-type]

    write(MARGIN, MARGIN, "\n".join(title), 12, fontweight="bold", linespacing=1.2)
    write(MARGIN, top - 0.34, _figures(lrnn), 8.5, color="#444444")
    for text, at in titles:
        write(MARGIN, top + at + 0.05, text, 9.5, fontweight="bold", color="#444444")
    spare = {id(head): (inside - row) / 2 if len(heads) == 1 else 0.0 for head, row in zip(heads, rows, strict=True)}
    for head, letter, left, at in places:
        width, height = _panel_size(head)
        left += MARGIN + spare[id(head)]
        label = _cut(f"letter {letter.label}", int(width * 11.5))
        lines = wrap(sentence(head, letter), int(width * 15.5))[:3]
        write(left + width / 2, top + at + 0.08, label, 9, ha="center", fontweight="bold")
        write(left + width / 2, top + at + 0.25, "\n".join(lines), 7.5, ha="center", linespacing=1.15)
        bottom = total - (top + at + CAPTION + height)
        axes = figure.add_axes(
            (left / total_width, (bottom + 0.06) / total, width / total_width, (height - 0.06) / total)
        )
        axes.axis("off")
        DRAW[head.form](axes, head, letter)
    handles = _legend(heads, chosen)
    if handles:
        figure.legend(
            handles=handles, loc="upper center", ncols=len(handles), fontsize=7.5, frameon=False, borderpad=0,
            bbox_to_anchor=(0.5, 1 - (top + down + 0.1) / total), columnspacing=1.3, handlelength=1.6,
        )  # fmt: skip
    write(MARGIN, top + down + legend + 0.04, "\n".join(words), 8, linespacing=1.25)
    return figure


def _figures(lrnn: LRNN) -> str:
    factors = "no GH factors" if lrnn.householders is None else counted(lrnn.householders, "factor") + " at most"
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
               label=f"mirror {j + 1}" + (" (applied first)" if j == 0 and most > 1 else ""))
        for j in range(most)
    ]  # fmt: skip
    handles.append(Line2D([], [], marker="o", mfc="none", mec=START, ls="none", ms=8, label="start"))
    handles.append(Line2D([], [], color=ARROW, marker=">", ms=5, lw=1, label="where the letter takes a state"))
    return handles


def _explanation(lrnn: LRNN, heads: list[DrawnHead], chosen: list[list[int]]) -> list[str]:
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
            parts.append("Wires: coordinate at the top to coordinate at the bottom; wires that meet are added.")
        else:
            parts.append(
                "Wires are coordinates; from top to bottom each mirror C exchanges two of them, and ⊖ changes a sign."
            )
    parts += _need(heads)
    count, kept = len(lrnn.automaton.letters), len(chosen[0])
    if kept < len(heads[0].letters):
        parts.append(f"{kept} of {count} letters are drawn, one of each kind; --max-letters {count} draws them all.")
    return parts


def _need(heads: list[DrawnHead]) -> list[str]:
    """Why the largest letter cannot do with fewer factors (H.rank)."""
    every = [(len(letter.sizes), head, letter) for head in heads for letter in head.letters]
    most, head, letter = max(every, key=lambda entry: entry[0])
    if most == 0 or int(np.linalg.matrix_rank(letter.matrix - np.eye(head.dim), tol=1e-6)) != most:
        return []
    where = f" on {head.title.lower()}" if len(heads) > 1 else ""
    return [
        f"Why {most}: letter {_cut(letter.label, 30)}{where} moves all but {head.dim - most} of {head.dim} dimensions, "
        f"and a mirror keeps all but one, so that fewer than {most} cannot do it."
    ]
