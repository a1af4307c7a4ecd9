"""A picture of an automaton: states as circles, letters as curved arrows."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...constructions._conversions import AutomatonLike, as_automaton
from ...constructions.automata._automaton import Automaton
from ...foundation._errors import InputError
from ...foundation._files import write_bytes
from ._automaton_curves import Composition, circular_positions, compose, place_in_layers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_DRAWN_STATES = 200
MAX_DRAWN_ARROWS = 4_000

_FONT = "DejaVu Sans"
_NAME_SIZE, _OUTPUT_SIZE, _LABEL_SIZE = 10.0, 8.0, 9.0
_LONGEST_NAME, _LONGEST_LABEL = 18, 24
_RADII = (14.0, 30.0)
_INK, _PAPER, _FILL = "#1f2933", "#ffffff", "#f5f7fa"
_LETTER_COLOURS = ("#0b5fa5", "#b3440a", "#1b7f4d", "#8a3b9c", "#8f6a00", "#0d7d8c", "#b02a5b", "#5a5f66")
_CIRCLE_STATES = 14
_LAYERED_ARROWS = 1_000
_MOST_INTO_SINK = 12
_SCALES = (1.0, 1.3, 1.7)
_WIDEST_PIXELS = 6_000


def draw_automaton(
    automaton: AutomatonLike,
    path: str | Path,
    *,
    max_drawn: int = MAX_DRAWN_STATES,
    sink: bool | None = None,
) -> None:
    """Draw the graph of an automaton to an `.svg` or `.png` file. The same automaton gives the same bytes.

    Accepting states have two rings, and the start state has an incoming arrow without a source. Moore outputs are below the names,
    Mealy labels have the form `letter/output`, and parallel edges share a list of letters.

    Args:
        automaton: an automaton in any form that `as_automaton` accepts.
        path: an `.svg` or `.png` file.
        max_drawn: the largest number of states that are drawn.
        sink: whether a sink, a state that no letter leaves, is drawn with the arrows into it. By default it is drawn unless
            more than 12 arrows lead into it. The picture says what it leaves out.

    Raises:
        InputError: the extension is another one, there are more than `max_drawn` states or `MAX_DRAWN_ARROWS` arrows, or the
            file cannot be written.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in {".svg", ".png"}:
        raise InputError(
            f"{path}: pictures are written as .svg or .png, not {suffix or 'without an extension'}"
        )
    write_bytes(path, _render_automaton(as_automaton(automaton), suffix[1:], max_drawn, sink))


def svg_text(automaton: AutomatonLike, *, max_drawn: int = MAX_DRAWN_STATES, sink: bool | None = None) -> str:
    """Draw the graph of an automaton as SVG text, for notebooks; see `draw_automaton`.

    Args:
        automaton: an automaton in any form that `as_automaton` accepts.
        max_drawn: the largest number of states that are drawn.
        sink: whether a sink is drawn with the arrows into it, see `draw_automaton`.
    """
    return _render_automaton(as_automaton(automaton), "svg", max_drawn, sink).decode("utf-8")


@dataclass(frozen=True, eq=False)
class _Drawn:
    """What is drawn of an automaton: `part` without a sink, where `kept` `[letters, states]` are the moves that have arrows."""

    part: Automaton
    kept: NDArray[np.bool_]
    notes: tuple[str, ...]


def _leave_out_sink(automaton: Automaton, sink: bool | None) -> _Drawn:
    """All of the automaton, or all but its sink and the moves into it, which become loops of `part` that have no arrows."""
    whole = _Drawn(automaton, np.ones(automaton.transitions.shape, dtype=bool), _identity_note(automaton))
    maps, states = automaton.transitions, np.arange(len(automaton.states))
    sinks = [q for q in states[(maps == states).all(axis=0)].tolist() if q != automaton.start]
    if sink or len(sinks) != 1:
        return whole
    (out,) = sinks
    rest = np.delete(states, out)
    into = maps[:, rest] == out
    count = int(into.any(axis=0).sum())
    if sink is None and count <= _MOST_INTO_SINK:
        return whole
    moved = np.where(into, rest, maps[:, rest])
    columns = automaton.outputs[:, rest] if automaton.is_mealy else automaton.outputs[rest]
    part = replace(
        automaton, states=tuple(automaton.states[q] for q in rest), transitions=moved - (moved > out),
        start=automaton.start - int(automaton.start > out), outputs=columns,
    )  # fmt: skip
    name = shorten_label(automaton.states[out], _LONGEST_NAME)
    note = f"not drawn: the state {name}, which no letter leaves; letters without an arrow lead there, from {count} states"
    return _Drawn(part, ~into, (*whole.notes, note))


def _render_automaton(automaton: Automaton, kind: str, max_states: int, sink: bool | None) -> bytes:
    import matplotlib as mpl

    n = len(automaton.states)
    if n > max_states:
        raise InputError(
            f"{automaton.name}: {n:,} states are too many for a picture (limit {max_states:,}); "
            "raise it with `max_drawn`"
        )
    # a font without some sign of a label is no reason to print on standard error
    with warnings.catch_warnings(), mpl.rc_context({"svg.hashsalt": "mirrormata", "svg.fonttype": "none"}):
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure, longest = _figure(_leave_out_sink(automaton, sink))
        stream = io.BytesIO()
        if kind == "svg":
            figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
        else:
            dpi = min(200.0, _WIDEST_PIXELS * 72 / longest)
            figure.savefig(stream, format="png", dpi=dpi, metadata={"Software": None})
    return stream.getvalue()


def _figure(drawn: _Drawn) -> tuple[Figure, float]:
    """The finished figure, one unit to the point, and its longest side in points."""
    automaton, notes = drawn.part, drawn.notes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    names = [shorten_label(state, _LONGEST_NAME) for state in automaton.states]
    outputs = _show_outputs(automaton)
    if outputs is None:
        names = [two_lines(name) for name in names]
    widest = max(_name_width(name) for name in names)
    radius = float(np.clip(widest / 2 + 6, *_RADII))
    if outputs is not None:
        radius = max(
            radius, 19.0, min(max(_text_size(o, _OUTPUT_SIZE)[0] for o in outputs) / 2 + 7, _RADII[1])
        )
    drawing = _composition(drawn, radius)

    x0, y0, x1, y1 = drawing.bounds()
    y0 -= 10 + 14 * len(notes) if notes else 0
    x1 = max([x1, *(x0 + _text_size(note, _LABEL_SIZE)[0] for note in notes)])
    margin = 8.0
    width, height = x1 - x0 + 2 * margin, y1 - y0 + 2 * margin
    figure = Figure(figsize=(width / 72, height / 72), facecolor=_PAPER)
    FigureCanvasAgg(figure)
    axes: Any = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set_xlim(x0 - margin, x1 + margin)
    axes.set_ylim(y0 - margin, y1 + margin)

    _draw_edges(axes, drawing, coloured=len(automaton.letters) <= len(_LETTER_COLOURS))
    _draw_states(axes, automaton, drawing, names, outputs)
    for row, note in enumerate(reversed(notes)):
        axes.text(x0, y0 + 4 + 14 * row, note, size=_LABEL_SIZE, color=_INK, va="bottom", **_TEXT)
    return figure, max(width, height)


_TEXT: dict[str, Any] = {"family": _FONT, "parse_math": False}


def _composition(drawn: _Drawn, radius: float) -> Composition:
    """The best of the layered and, where it may do, the circular layout, wider where labels would cover something."""
    automaton, labels = drawn.part, edge_labels(drawn.part, drawn.kept)
    if len(labels) > MAX_DRAWN_ARROWS:
        raise InputError(
            f"{automaton.name}: {len(labels):,} arrows are too many for a picture (limit {MAX_DRAWN_ARROWS:,}); "
            "draw an automaton with fewer letters or states"
        )

    def size_of(text: str) -> tuple[float, float]:
        return _text_size(text, _LABEL_SIZE)

    widest = max((size_of(label)[0] for (q, r), (label, _) in labels.items() if q != r), default=0.0)
    gap = 2 * radius + max(42.0, widest + 26)
    n = len(automaton.states)
    straight = sum(q != r for q, r in labels)
    ring = n >= 3 and (n <= _CIRCLE_STATES or straight <= 1.5 * n)
    crowd = min(2.4, 1.0 + 0.12 * max(0.0, len(labels) / n - 2))
    best: Composition | None = None
    for scale in _SCALES:
        tried = []
        if straight <= _LAYERED_ARROWS:
            layered = place_in_layers(automaton, gap * scale, (2 * radius + 56) * scale)
            tried.append(compose(layered, radius, automaton.start, labels, size_of, outward=False))
        if ring or not tried:
            around = circular_positions(automaton, gap * crowd * scale)
            tried.append(compose(around, radius, automaton.start, labels, size_of, outward=True))
        best = min([*([best] if best else []), *tried], key=lambda drawing: drawing.penalty)
        if n > _CIRCLE_STATES or best.covered == 0:
            break
    assert best is not None
    return best


def edge_labels(
    automaton: Automaton, kept: NDArray[np.bool_] | None = None
) -> dict[tuple[int, int], tuple[str, int]]:
    """For each pair of states joined by letters: their list as one label, and the first letter's index.

    `kept` `[letters, states]`: the moves that are drawn, by default all.
    """
    lists: dict[tuple[int, int], list[str]] = {}
    first: dict[tuple[int, int], int] = {}
    for x, row in enumerate(automaton.transitions.tolist()):
        letter = shorten_label(automaton.letters[x], _LONGEST_NAME)
        for q, r in enumerate(row):
            if kept is not None and not kept[x, q]:
                continue
            text = letter
            if automaton.is_mealy:
                text += "/" + shorten_label(automaton.outputs[x, q], _LONGEST_NAME)
            lists.setdefault((q, r), []).append(text)
            first.setdefault((q, r), x)
    return {pair: (comma_list(texts), first[pair]) for pair, texts in lists.items()}


def comma_list(texts: list[str], longest: int = _LONGEST_LABEL) -> str:
    """`a, b, c` or, where that is longer than `longest`, its beginning and `… +12` for those left out."""
    whole = ", ".join(texts)
    if len(whole) <= longest or len(texts) == 1:
        return whole
    shown = 1
    while len(", ".join(texts[: shown + 1])) <= longest - 7:
        shown += 1
    return f"{', '.join(texts[:shown])}, … +{len(texts) - shown}"


def shorten_label(label: Any, longest: int) -> str:
    """A label as one line of printable text, with `…` in the middle where it is too long."""
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(label)) or '""'
    if len(text) <= longest:
        return text
    head = longest // 2
    return f"{text[:head]}…{text[len(text) - (longest - 1 - head) :]}"


def two_lines(name: str) -> str:
    """A name of more than 9 signs, broken at the blank, comma or dash that is nearest to its middle."""
    breaks = [i + 1 for i, c in enumerate(name[:-1]) if c in " ,;_-|/"]
    if len(name) <= 9 or not breaks:
        return name
    at = min(breaks, key=lambda i: abs(2 * i - len(name)))
    return f"{name[:at].rstrip()}\n{name[at:].lstrip()}"


def _name_width(name: str) -> float:
    return max(_text_size(line, _NAME_SIZE)[0] for line in name.split("\n"))


def _show_outputs(automaton: Automaton) -> list[str] | None:
    """Moore outputs as text; None for acceptors, Mealy machines, and where each state is its own output."""
    if automaton.is_mealy or all(isinstance(v, bool | np.bool_) for v in automaton.outputs):
        return None
    texts = [shorten_label(v, _LONGEST_NAME) for v in automaton.outputs]
    same = all(v is q or v == q for v, q in zip(automaton.outputs, automaton.states, strict=True))
    return None if same else texts


def _identity_note(automaton: Automaton) -> tuple[str, ...]:
    points = np.arange(len(automaton.states))
    letters = [
        shorten_label(letter, _LONGEST_NAME)
        for letter, row in zip(automaton.letters, automaton.transitions, strict=True)
        if np.array_equal(row, points)
    ]
    return (f"identity letters: {comma_list(letters, 60)}",) if letters else ()


@lru_cache(maxsize=4096)
def _text_size(text: str, size: float) -> tuple[float, float]:
    """Width and height of one line in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        font = FontProperties(family=_FONT, size=size)
        width, _, _ = text_to_path.get_text_width_height_descent(text, font, False)
    return float(width) * 1.03 + 2, size * 1.25


def _draw_edges(axes: Any, drawing: Composition, *, coloured: bool) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path as Curve

    codes = {3: [Curve.MOVETO, *[Curve.CURVE3] * 2], 4: [Curve.MOVETO, *[Curve.CURVE4] * 3]}
    style: dict[str, Any] = {"arrowstyle": "-|>,head_length=5,head_width=2.6", "mutation_scale": 1.0}
    style |= {"linewidth": 1.0, "capstyle": "butt", "joinstyle": "miter"}
    for edge in drawing.edges:
        colour = _LETTER_COLOURS[edge.letter] if coloured else _INK
        curve = Curve(edge.path, codes[len(edge.path)])
        axes.add_patch(FancyArrowPatch(path=curve, color=colour, zorder=2, **style))
    start = Curve(drawing.start_arrow, [Curve.MOVETO, Curve.LINETO])
    axes.add_patch(FancyArrowPatch(path=start, color=_INK, zorder=2, **style))
    for edge in drawing.edges:
        colour = _LETTER_COLOURS[edge.letter] if coloured else _INK
        x0, y0, x1, y1 = edge.box
        behind = {"facecolor": _PAPER, "edgecolor": "none", "alpha": 0.8, "pad": 0.8}
        text = {"size": _LABEL_SIZE, "color": colour, "ha": "center", "va": "center", "bbox": behind}
        axes.text((x0 + x1) / 2, (y0 + y1) / 2, edge.label, zorder=3, **text, **_TEXT)


def _draw_states(
    axes: Any, automaton: Automaton, drawing: Composition, names: list[str], outputs: list[str] | None
) -> None:
    from matplotlib.patches import Circle

    radius = drawing.radius
    acceptor = not automaton.is_mealy and all(isinstance(v, bool | np.bool_) for v in automaton.outputs)
    for q, (x, y) in enumerate(drawing.centres.tolist()):
        axes.add_patch(Circle((x, y), radius, facecolor=_FILL, edgecolor=_INK, linewidth=1.1, zorder=4))
        room = 2 * radius - 7
        if acceptor and bool(automaton.outputs[q]):
            axes.add_patch(Circle((x, y), radius - 3, fill=False, edgecolor=_INK, linewidth=0.9, zorder=4))
            room -= 4
        lift = 5.5 if outputs is not None else 0.0
        place = {"ha": "center", "va": "center", "zorder": 5}
        size = min(_NAME_SIZE, _NAME_SIZE * room / _name_width(names[q]))
        axes.text(x, y + lift, names[q], size=size, color=_INK, **place, **_TEXT)
        if outputs is not None:
            size = min(_OUTPUT_SIZE, _OUTPUT_SIZE * (room - 4) / _text_size(outputs[q], _OUTPUT_SIZE)[0])
            axes.plot(
                [x - radius * 0.8, x + radius * 0.8], [y - 1, y - 1], color=_INK, linewidth=0.5, zorder=5
            )
            axes.text(x, y - 8, outputs[q], size=size, color=_LETTER_COLOURS[0], **place, **_TEXT)
