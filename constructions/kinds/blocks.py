"""Kind `blocks`: a `BlockRNN`, whose layers apply the map of each block of tokens while the next block is read."""

from __future__ import annotations

from .._realisation import Kind
from ..certificates._blocks import blocks_certificate, blocks_from_certificate
from ..chains._blocks import BlockRNN


def _show(form: BlockRNN, max_letters: int) -> str:
    from ..texts._blocks import show_blocks

    return show_blocks(form, max_letters=max_letters)


KIND = Kind(
    kind="blocks",
    noun="a chain of sets over blocks",
    write=blocks_certificate,
    read=blocks_from_certificate,
    show=_show,
)
