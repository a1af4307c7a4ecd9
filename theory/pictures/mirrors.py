"""`draw_mirrors`: one panel for each letter and head, states as points and factors as mirrors.

With several layers there is one panel for each different transition of a head, layer by layer.

A head whose picture has 1, 2 or 3 dimensions shows the mirrors where they are; a larger one shows its coordinates as
wires that the factors cross. The same construction gives the same bytes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ...constructions.errors import InputError, LimitError
from ...constructions.files import write_bytes
from ...constructions.lrnn import LRNN
from ...constructions.texts.show import check_max_letters, titled_heads
from .mirror_figure import mirror_figure
from .mirror_head import DrawnHead, drawn_head, state_names
from .mirror_kinds import kinds_of_letters
from .mirror_layers import layered_heads

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
    options: tuple[str, str] = ("--max-letters", "--max-drawn-dim"),
) -> None:
    """Draw the construction to an `.svg` or `.png` file, whole or not at all.

    `max_letters`: with more letters (of several layers: with more transitions in a head) than this, one of each kind
    is drawn (see `kinds_of_letters`), and the picture says so. `max_dim`: widest head drawn as wires. `max_points`:
    most states drawn as points. `options`: what the caller's user gives for `max_letters` and `max_dim`.
    Raises `InputError` for another extension or `max_letters` below 1, `LimitError` for a head too wide or more
    than 400 panels.
    """
    check_max_letters(max_letters)
    kind = picture_format(path)
    heads = drawn_heads(lrnn, max_points)
    wide = max((head.dim for head in heads if head.form == "wires"), default=0)
    if wide > max_dim:
        raise LimitError(
            f"{path}: a head has dimension {wide}, a picture of wires is drawn to {max_dim}; {options[1]} {wide} draws it"
        )
    if len(lrnn.layers) == 1:
        picks = [kinds_of_letters(lrnn, heads, max_letters)] * len(heads)
    else:
        picks = [kinds_of_letters(None, [head], max_letters) for head in heads]
    chosen = [letters for letters, _ in picks]
    if (panels := sum(len(c) for c in chosen)) > MAX_PANELS:
        raise LimitError(
            f"{path}: {panels} panels, at most {MAX_PANELS} are drawn; give a smaller {options[0]}"
        )
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


def drawn_heads(lrnn: LRNN, max_points: int = 500) -> list[DrawnHead]:
    """Every head in the coordinates of its picture."""
    if len(lrnn.layers) > 1:
        return layered_heads(lrnn, max_points)
    start = lrnn.decode[0].tolist()
    return [
        drawn_head(head, title, labels, start[j], state_names(lrnn, len(head.codes), j), max_points)
        for j, (title, head, labels) in enumerate(titled_heads(lrnn), start=1)
    ]
