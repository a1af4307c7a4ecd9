"""What `mirrormata.plot` draws of the types of this package.

A file of its own, since `plot` loads it by its name, and only when it is given an object of this package.
"""

from __future__ import annotations

from ..foundation._errors import InputError
from ..foundation._files import write_bytes
from ..theory._plot import register_picture
from ..theory.pictures._mirrors import picture_format
from .comparison._result import Comparison
from .report._data import Chart


@register_picture
def draw_report_chart(x: Chart, path: str) -> None:
    """A chart of a report, as wide as a column of a paper."""
    from .report._paper import draw_chart

    write_bytes(path, draw_chart(x, "svg" if picture_format(path) == "svg" else "png", title=True))


@register_picture
def draw_comparison(x: Comparison, path: str, *, max_letters: int = 8) -> None:
    """Eigenvalues of learned, constructed and snapped letters on the unit disc."""
    from .report._compared import chart_disc, choose_heads
    from .report._data import LearnedLimits

    if max_letters < 1:
        raise InputError(f"`max_letters` {max_letters}: it is 1 or more")
    limits = LearnedLimits(letters=max_letters)
    draw_report_chart(chart_disc(x, choose_heads(x, limits), limits, x.learned.name), path)
