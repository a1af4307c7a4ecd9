"""`draw_construction`: the picture of an LRNN, its mirrors, or an overview where there are several layers."""

from __future__ import annotations

from pathlib import Path

from ...constructions._lrnn import LRNN
from ...constructions.texts._show import check_max_letters


def draw_construction(lrnn: LRNN, path: str | Path, *, max_letters: int = 12, max_dim: int = 40) -> None:
    """`draw_mirrors` for one layer, `draw_cascade` for several, to an `.svg` or `.png` file, whole or not at all.

    `max_letters`, `max_dim`: as for `draw_mirrors`; an overview draws no letters. Errors as in these.
    """
    if len(lrnn.layers) == 1:
        from ._mirrors import draw_mirrors

        draw_mirrors(lrnn, path, max_letters=max_letters, max_dim=max_dim)
        return
    from ._cascade import draw_cascade

    check_max_letters(max_letters)
    draw_cascade(lrnn, path)
