"""`draw_spectrum`: the eigenvalues of a model's letters on the unit disc, each in its enclosure.

One panel for each head. A disc is an enclosure, drawn larger where it would be too small to be seen, which the caption
says; where letters share an eigenvalue, or nearly, it is cut like a cake. The same model gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Wedge
from matplotlib.patheffects import withStroke

from ...foundation._errors import InputError
from ...foundation._text import count_noun
from ..pictures._mirror_panels import MIRRORS
from ..pictures._mirrors import picture_format, write_figure
from ._eigenvalues import eigenvalues_text
from ._model import HeadSpectrum, ModelSpectrum
from ._roots import Eigenvalue

COLOURS = (*MIRRORS, "#5c3d99", "#e6ab02")
OTHER, PRODUCT, INK = "#9a9a9a", "#c9c9c9", "#222222"
VISIBLE = 0.045
"""Least radius of a drawn disc, in parts of the panel's reach."""
PANEL, LEGEND, GAP = 3.3, 2.9, 0.25
"""Inches: side of a panel, width of the words beside it, space between."""


@dataclass(frozen=True)
class Group:
    """Letters with the same eigenvalues, drawn in one colour."""

    labels: tuple[str, ...]
    eigenvalues: tuple[Eigenvalue, ...]
    colour: str


def draw_spectrum(
    spectrum: ModelSpectrum, path: str | Path, *, max_heads: int = 12, max_colours: int = 8
) -> None:
    """Draw the spectra of a model to an `.svg` or `.png` file, which is written whole or not at all.

    Args:
        spectrum: the model's spectrum.
        path: an `.svg` or `.png` file.
        max_heads: the largest number of panels; the picture says what is left out.
        max_colours: the largest number of spectra of a head that have their own colour; the others are grey. Eigenvalues
            of products, where there are any, are small grey dots.

    Raises:
        InputError: another extension, or a limit below 1.
    """
    if min(max_heads, max_colours) < 1:
        raise InputError(f"{path}: max_heads and max_colours are 1 or more")
    kind = picture_format(path)
    write_figure(lambda: _figure(spectrum, max_heads, min(max_colours, len(COLOURS))), path, kind)


def _figure(spectrum: ModelSpectrum, max_heads: int, max_colours: int) -> Figure:
    heads = spectrum.heads[:max_heads]
    columns = min(len(heads), 2)
    lines = -(-len(heads) // columns)
    cell = PANEL + LEGEND + GAP
    wide = columns * cell + 2 * GAP
    caption = wrap(_caption(spectrum, len(heads)), int(wide * 15))
    title = wrap(f"Eigenvalues of {spectrum.name}", int(wide * 9))[:3]
    head, foot = 0.3 + 0.22 * len(title), 0.25 + 0.17 * len(caption)
    tall = head + lines * (PANEL + 0.45) + foot
    figure = Figure(figsize=(wide, tall), facecolor="white")
    figure.text(GAP / wide, 1 - 0.15 / tall, "\n".join(title), fontsize=11, fontweight="bold", va="top")
    for k, drawn in enumerate(heads):
        left, top = GAP + (k % columns) * cell, tall - head - (k // columns) * (PANEL + 0.45) - 0.3
        axes = figure.add_axes((left / wide, (top - PANEL) / tall, PANEL / wide, PANEL / tall))
        groups = _groups(drawn, max_colours)
        _draw_disc(axes, drawn, groups)
        figure.text((left + 0.05) / wide, (top + 0.08) / tall, _heading(drawn), fontsize=9, color=INK)
        _write_legend(figure, groups, (left + PANEL + 0.12) / wide, top, tall)
    figure.text(GAP / wide, 0.15 / tall, "\n".join(caption), fontsize=8, color="#444444", va="bottom")
    return figure


def _groups(head: HeadSpectrum, max_colours: int) -> list[Group]:
    found: dict[tuple[Eigenvalue, ...], list[str]] = {}
    for letter in head.letters:
        found.setdefault(letter.spectrum.eigenvalues, []).extend(letter.labels)
    return [
        Group(tuple(labels), eigenvalues, COLOURS[i] if i < max_colours else OTHER)
        for i, (eigenvalues, labels) in enumerate(found.items())
    ]


def _draw_disc(axes: Axes, head: HeadSpectrum, groups: Sequence[Group]) -> None:
    products = head.products.eigenvalues if head.products else ()
    reach = _reach(head)
    axes.set_xlim(-reach, reach)
    axes.set_ylim(-reach, reach)
    axes.set_aspect("equal")
    axes.add_patch(Circle((0, 0), 1, facecolor="#f4f7fa", edgecolor="#5b6b7a", lw=1.1, zorder=0))
    axes.axhline(0, color="#b5b5b5", lw=0.8, zorder=1)
    axes.axvline(0, color="#e2e2e2", lw=0.6, zorder=0.5)
    axes.set_xticks([-1, 0, 1])
    axes.set_yticks([-1, 0, 1], ["-i", "0", "i"])
    axes.tick_params(labelsize=7, length=2, color="#b5b5b5")
    for side in axes.spines.values():
        side.set_color("#d5d5d5")
    for x, y in dict.fromkeys((round(x, 3), round(y, 3)) for x, y in map(_middle, products)):
        axes.add_patch(Circle((x, y), 0.35 * VISIBLE * reach, facecolor=PRODUCT, lw=0, zorder=2))
    for members in _group_near(groups, VISIBLE * reach / 2):
        _draw_point(axes, members, VISIBLE * reach)


def _reach(head: HeadSpectrum) -> float:
    """Half the side of a panel: products may lie beyond, or they would shrink everything else."""
    moduli = (abs(complex(*_middle(e))) for letter in head.letters for e in letter.spectrum.eigenvalues)
    return 1.2 * max(1.0, *moduli)


def _group_near(groups: Sequence[Group], near: float) -> list[list[tuple[Group, Eigenvalue]]]:
    """Eigenvalues that would cover each other in the picture."""
    points: list[list[tuple[Group, Eigenvalue]]] = []
    for group in groups:
        for e in group.eigenvalues:
            x, y = _middle(e)
            for point in points:
                a, b = _middle(point[0][1])
                if abs(complex(x - a, y - b)) < near:
                    point.append((group, e))
                    break
            else:
                points.append([(group, e)])
    return points


def _draw_point(axes: Axes, members: Sequence[tuple[Group, Eigenvalue]], least: float) -> None:
    x, y = _middle(members[0][1])
    radius = max(least, *(float(e.radius) for _, e in members))
    colours = list(dict.fromkeys(group.colour for group, _ in members))
    undecided = any("unknown" in (e.kind, e.sign, e.circle) for _, e in members)
    for i, colour in enumerate(colours):
        slice_ = (90 + 360 * i / len(colours), 90 + 360 * (i + 1) / len(colours))
        axes.add_patch(
            Wedge((x, y), radius, *slice_, facecolor=colour, lw=0, alpha=0.35 if undecided else 0.9, zorder=3)
        )
    edge = "--" if undecided else "-"
    axes.add_patch(Circle((x, y), radius, facecolor="none", edgecolor="white", lw=0.8, ls=edge, zorder=4))
    times = sorted({e.multiplicity for _, e in members})
    if times[-1] > 1:
        text = f"×{times[0]}" if len(times) == 1 else f"×{times[0]}–{times[-1]}"  # fmt: skip
        outline = withStroke(linewidth=2.2, foreground="white")
        axes.text(
            x, y + 1.25 * radius, text, fontsize=7, color=INK, ha="center", va="bottom", zorder=5,
            path_effects=[outline],
        )  # fmt: skip


def _write_legend(figure: Figure, groups: Sequence[Group], left: float, top: float, tall: float) -> None:
    rows = [(g.colour, g.labels, g.eigenvalues) for g in groups if g.colour != OTHER]
    grey = [g for g in groups if g.colour == OTHER]
    y = top - 0.05
    for colour, labels, eigenvalues in rows:
        y = _entry(figure, colour, _name_letters(labels), eigenvalues_text(eigenvalues, 4, 4), left, y, tall)
    if grey:
        count = sum(len(g.labels) for g in grey)
        text = count_noun(count, "more letter")
        _entry(figure, OTHER, text, "", left, y, tall)


def _entry(figure: Figure, colour: str, name: str, values: str, left: float, y: float, tall: float) -> float:
    figure.text(left, y / tall, "●", color=colour, fontsize=9, va="top")
    step = 0.19 / figure.get_figwidth()
    figure.text(left + step, y / tall, name, color=INK, fontsize=8, va="top")
    lines = wrap(values, 46)[:2]
    if lines:
        figure.text(left + step, (y - 0.15) / tall, "\n".join(lines), color="#555555", fontsize=7, va="top")
    return y - 0.2 - 0.125 * len(lines)


def _name_letters(labels: Sequence[str]) -> str:
    shown = ""
    for k, label in enumerate(labels):
        longer = f"{shown}, {label}" if shown else label[:34]
        if len(longer) > 34:
            return f"{shown} and {len(labels) - k} more"
        shown = longer
    return shown


def _heading(head: HeadSpectrum) -> str:
    count = sum(len(letter.labels) for letter in head.letters)
    return f"{head.name}: dimension {head.dim}, {count_noun(count, 'letter')}"


def _caption(spectrum: ModelSpectrum, drawn: int) -> str:
    found = [
        e for head in spectrum.heads[:drawn] for letter in head.letters for e in letter.spectrum.eigenvalues
    ]
    widest = max(float(e.radius) for e in found)
    width = "exact" if widest == 0 else f"at most {widest:.1g} in radius"
    sentences = [
        f"A disc is an enclosure of an eigenvalue ({width}), drawn large enough to be seen; ×k is its multiplicity, "
        "and a disc is cut where letters share it or are too near to be drawn apart."
    ]
    for head in spectrum.heads[:drawn]:
        if head.products is not None:
            name = f" of {head.name}" if len(spectrum.heads) > 1 else ""
            beyond = sum(max(map(abs, _middle(e))) > _reach(head) for e in head.products.eigenvalues)
            more = f", {beyond} eigenvalues beyond the panel" if beyond else ""
            sentences.append(f"Grey dots{name}: products, {head.products.reach}{more}.")
    if not all(letter.spectrum.is_decided for letter in spectrum.letters):
        sentences.append("Pale with a dashed edge: undecided at the precision allowed.")
    if (rest := len(spectrum.heads) - drawn) > 0:
        sentences.append(f"{count_noun(rest, 'more head')} not drawn.")
    return " ".join(sentences)


def _middle(e: Eigenvalue) -> tuple[float, float]:
    x, y = e.centre
    return float(x), float(y)
