"""Kind `delay`: a `BlockDelay`, which computes the factors of its last layer from the block of tokens before."""

from __future__ import annotations

from .._delay import BlockDelay
from .._realisation import Kind
from ..certificates._delay import block_delay_from_certificate, delay_certificate


def _show(form: BlockDelay, max_letters: int) -> str:
    from ..texts._show import show_delay

    return show_delay(form, max_letters=max_letters)


KIND = Kind(
    kind="delay",
    noun="a block delay",
    write=delay_certificate,
    read=block_delay_from_certificate,
    show=_show,
)
