"""Kind `table`: an `LRNN`, which lists what every letter of every layer does."""

from __future__ import annotations

from .._lrnn import LRNN
from .._realisation import Kind
from ..certificates._table import certificate, lrnn_from_certificate


def _show(lrnn: LRNN, max_letters: int) -> str:
    from ..texts._show import show

    return show(lrnn, max_letters=max_letters)


def _latex(lrnn: LRNN, max_letters: int | None) -> str:
    from ..texts._latex import latex

    return latex(lrnn, max_letters=max_letters)


KIND = Kind(
    kind="table",
    noun="a linear RNN",
    write=lambda lrnn, _: certificate(lrnn),
    read=lrnn_from_certificate,
    show=_show,
    latex=_latex,
    reads=(
        "horizon",
        "equivalent",
    ),  # the same tables, with lengths or with the states of an arithmetic beside them
)
