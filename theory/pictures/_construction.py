"""`draw_construction`: the picture of a realisation: its mirrors, or an overview where there are several layers."""

from __future__ import annotations

from pathlib import Path

from ...constructions._lrnn import LRNN
from ...constructions._realisation import Realisation
from ...constructions.texts._show import check_max_letters
from .._kinds import kind_of


def draw_construction(
    found: Realisation,
    path: str | Path,
    *,
    max_letters: int = 12,
    max_dim: int = 40,
    options: tuple[str, str] = ("max_letters", "max_dim"),
) -> None:
    """Draw a realisation to an `.svg` or `.png` file, whole or not at all.

    Args:
        found: a realisation, as `construct` returns it.
        path: the file.
        max_letters: the largest number of letters drawn of a head, 1 or more; an overview draws no letters.
        max_dim: the largest dimension of a head that is drawn as wires.
        options: what the caller's own user calls `max_letters` and `max_dim`, in words before a number.

    Raises:
        InputError: the extension is another one, `max_letters` is below 1, or this kind of realisation cannot be drawn.
        LimitError: a head has a larger dimension than `max_dim`, or there are too many panels.
    """
    draw = kind_of(found).draw
    if draw is None:
        raise found.no_table("its layers are not drawn")
    draw(found, path, max_letters, max_dim, options)


def draw_table(
    lrnn: LRNN, path: str | Path, max_letters: int, max_dim: int, options: tuple[str, str]
) -> None:
    """`draw_mirrors` for one layer, `draw_cascade` for several."""
    if lrnn.is_layered:
        from ._cascade import draw_cascade

        check_max_letters(max_letters)
        draw_cascade(lrnn, path)
    else:
        from ._mirrors import draw_mirrors

        draw_mirrors(lrnn, path, max_letters=max_letters, max_dim=max_dim, options=options)
