"""`draw_mirrors`: one panel for each letter and head, states as points and factors as mirrors.

With several layers there is one panel for each different transition of a head, layer by layer.

A head whose picture has 1, 2 or 3 dimensions shows the mirrors where they are; a larger one shows its coordinates as
wires that the factors cross. The same construction gives the same bytes.

The figure of `draw_mirrors`: panels row by row between title, legend and explanation, placed in inches.

Which letters are drawn where there are many: one of each kind.

The heads of an LRNN of several layers as `draw_mirrors` shows them: one panel for each different transition.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from textwrap import wrap
from typing import Any

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ...constructions._head import Head
from ...constructions._lrnn import LRNN
from ...constructions.automata._automaton import Indices
from ...constructions.texts._show import (
    LayerLetters,
    check_max_letters,
    distinct_transitions,
    label_text,
    layer_letters,
    map_kind,
    map_text,
    point_map,
    short_list,
    title_heads,
)
from ...foundation._errors import InputError, LimitError
from ...foundation._files import write_bytes
from ...foundation._text import count_noun
from ._mirror_head import DrawnHead, DrawnLetter, prepare_head, state_names
from ._mirror_panels import (
    ARROW,
    START,
    draw_line,
    draw_plane,
    draw_space,
    draw_wires,
    mirror_colour,
    mirror_name,
    wires_size,
)
from ._mirror_words import explanation, sentence

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
            label = _cut_text(letter.heading or f"letter {letter.label}", int(block.width * 12))
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
    if lrnn.is_layered:
        return [head.heading for head in heads]
    if len(names) != len(heads):
        names = [""] * len(heads)
    return [
        f"{head.title}: {name}{', ' * bool(name)}dimension {head.dim}"
        for head, name in zip(heads, names, strict=True)
    ]


def _figures(lrnn: LRNN) -> str:
    factors = (
        "no GH factors" if lrnn.householders is None else count_noun(lrnn.householders, "factor") + " at most"
    )
    parts = [count_noun(len(lrnn.automaton.states), "state"), count_noun(len(lrnn.automaton.letters), "letter"),
             *[count_noun(lrnn.depth, "layer")] * (lrnn.is_layered),
             count_noun(len(lrnn.all_heads), "head"), factors, f"dimension {lrnn.dim}", lrnn.theorem]  # fmt: skip
    return " · ".join(parts)


def _cut_text(text: str, length: int) -> str:
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


def kinds_of_letters(lrnn: LRNN | None, heads: list[DrawnHead], max_letters: int) -> tuple[list[int], int]:
    """The letters to draw, and how many kinds there are: all letters where they are few, else one of each kind.

    Letters are of one kind where they look alike on every head and letters of the automaton, if an LRNN is given,
    conjugate one into the other.
    The letter with most factors is always drawn.
    """
    count = len(heads[0].letters)
    if count <= max_letters:
        return list(range(count)), count
    conjugate = [0] * count if lrnn is None else _conjugacy(lrnn.automaton.transitions)
    first: dict[tuple[object, ...], int] = {}
    for x in range(count):
        first.setdefault((conjugate[x], *(head.letters[x].kind() for head in heads)), x)
    most = min(first.values(), key=lambda x: -max(len(head.letters[x].sizes) for head in heads))
    kept = list(first.values())[:max_letters]
    return (kept if most in kept else [*kept[:-1], most]), len(first)


def _conjugacy(transitions: Indices) -> list[int]:
    """For each letter of a group's the least letter that letters conjugate it into; 0 for all where too many."""
    letters, states = transitions.shape
    if letters * letters * states > 5_000_000 or (np.sort(transitions) != np.arange(states)).any():
        return [0] * letters
    index: dict[bytes, int] = {}
    for x, row in enumerate(transitions):
        index.setdefault(row.tobytes(), x)
    least = list(range(letters))

    def root(x: int) -> int:
        while least[x] != x:
            least[x] = x = least[least[x]]
        return x

    for g in transitions:
        inverse = np.argsort(g)
        for x, row in enumerate(transitions):
            a, b = root(x), root(index.get(np.ascontiguousarray(g[row[inverse]]).tobytes(), x))
            least[max(a, b)] = min(a, b)
    return [root(x) for x in range(letters)]


TITLE = 28
"""Signs above a panel."""


def prepare_layered_heads(lrnn: LRNN, max_points: int) -> list[DrawnHead]:
    """Every head, layer by layer, its points numbered; a doubled one has the names `uv` of its pairs."""
    letters = layer_letters(lrnn)
    start = lrnn.decode[0, 1:].tolist()
    return [
        _prepare_head(head, f"{i + 1}.{j + 1}", letters[i], start[lrnn.columns[i].start + j], max_points)
        for i, layer in enumerate(lrnn.layers)
        for j, head in enumerate(layer.heads)
    ]


def _prepare_head(head: Head, name: str, own: LayerLetters, start: int, max_points: int) -> DrawnHead:
    kinds = distinct_transitions(head)
    chosen = [t for t, _ in kinds]
    reduced = replace(
        head,
        transitions=tuple(head.transitions[t] for t in chosen),
        code_transitions=head.code_transitions[chosen],
        actions=None,
    )
    labels = [_title([own.name(x) for x in letters]) for _, letters in kinds]
    count = head.points or len(head.codes)
    drawn = prepare_head(reduced, f"head {name}", labels, start, code_names(head), max_points)
    panels = tuple(
        _panel(drawn, letter, map_text(images, 6), map_kind(images))
        for letter, images in zip(drawn.letters, (point_map(head, t) for t in chosen), strict=True)
    )
    heading = (
        f"Layer {own.number}, head {name}: {count_noun(count, 'point')}{', doubled' * bool(head.points)}, "
        f"dimension {head.dim}; {count_noun(own.count, 'letter')}, {count_noun(len(kinds), 'transition')}"
    )
    return replace(drawn, letters=panels, heading=heading)


def _title(names: list[str]) -> str:
    """As many names as a panel has room for, three at most."""
    texts = [short_list(names, most) for most in (3, 2, 1)]
    return next((text for text in texts if len(text) <= TITLE), texts[-1])


def _panel(drawn: DrawnHead, letter: DrawnLetter, action: str, kind: str) -> DrawnLetter:
    words = action if kind == "identity" else f"{action}; {sentence(drawn, letter)}"
    return replace(letter, heading=letter.label, words=words)


def code_names(head: Head) -> tuple[str, ...]:
    """The point of each code, for a doubled head both: `21` or `12 1`."""
    if head.points is None:
        return tuple(str(c) for c in range(len(head.codes)))
    between = "" if head.points <= 10 else " "
    pairs = (divmod(c, head.points) for c in range(len(head.codes)))
    return tuple(f"{u}{between}{v}" for u, v in pairs)


METADATA: dict[str, dict[str, str | None]] = {
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}
STYLE: Any = {
    "svg.hashsalt": "mirrormata",
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "axes.linewidth": 0.6,
}
MAX_PANELS = 400


def draw_mirrors(
    lrnn: LRNN,
    path: str | Path,
    *,
    max_letters: int = 12,
    max_dim: int = 40,
    max_points: int = 500,
    options: tuple[str, str] = ("max_letters", "max_dim"),
) -> None:
    """Draw the construction to an `.svg` or `.png` file, whole or not at all.

    Args:
        lrnn: a realisation given by a table, as `construct` returns it.
        path: an `.svg` or `.png` file.
        max_letters: if there are more letters than this (with several layers: more transitions in a head), one of each
            kind is drawn (see `kinds_of_letters`), and the picture says so.
        max_dim: the largest dimension of a head that is drawn as wires.
        max_points: the largest number of states drawn as points.
        options: what the caller's own user calls `max_letters` and `max_dim`, in words before a number.

    Raises:
        InputError: the extension is another one, or `max_letters` is below 1.
        LimitError: a head is too wide, or there are more than 400 panels.
    """
    check_max_letters(max_letters)
    kind = picture_format(path)
    heads = prepare_heads(lrnn, max_points)
    wide = max((head.dim for head in heads if head.form == "wires"), default=0)
    if wide > max_dim:
        raise LimitError(
            f"{path}: a head has dimension {wide}, a picture of wires is drawn to {max_dim}; with {options[1]} {wide} it is drawn"
        )
    if not lrnn.is_layered:
        picks = [kinds_of_letters(lrnn, heads, max_letters)] * len(heads)
    else:
        picks = [kinds_of_letters(None, [head], max_letters) for head in heads]
    chosen = [letters for letters, _ in picks]
    if (panels := sum(len(c) for c in chosen)) > MAX_PANELS:
        fewer = MAX_PANELS // len(heads)
        way_out = f"; with {options[0]} {fewer} it is drawn" if fewer else ""
        raise LimitError(f"{path}: {panels} panels, at most {MAX_PANELS} are drawn{way_out}")
    write_figure(lambda: mirror_figure(lrnn, heads, chosen, picks[0][1], options[0]), path, kind)


def picture_format(path: str | Path) -> str:
    """`svg` or `png` by the extension; `InputError` for another one."""
    suffix = Path(path).suffix.lower()
    if suffix.removeprefix(".") not in METADATA:
        found = suffix or "without an extension"
        raise InputError(f"{path}: pictures are written as .svg or .png, not {found}")
    return suffix[1:]


def write_figure(figure: Callable[[], Figure], path: str | Path, kind: str) -> None:
    """Write the figure that a function draws, whole or not at all; the same drawing gives the same bytes."""
    stream = BytesIO()
    # a font without some sign of a label is no reason to print on standard error
    with warnings.catch_warnings(), matplotlib.rc_context(STYLE):
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        drawn = figure()
        FigureCanvasAgg(drawn)
        drawn.savefig(stream, format=kind, dpi=130, metadata=METADATA[kind])
    write_bytes(path, stream.getvalue())


def prepare_heads(lrnn: LRNN, max_points: int = 500) -> list[DrawnHead]:
    """Every head in the coordinates of its picture."""
    if lrnn.is_layered:
        return prepare_layered_heads(lrnn, max_points)
    start = lrnn.decode[0].tolist()
    return [
        prepare_head(head, title, labels, start[j], state_names(lrnn, len(head.codes), j), max_points)
        for j, (title, head, labels) in enumerate(title_heads(lrnn), start=1)
    ]
