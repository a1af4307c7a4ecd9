"""The certificate of whatever was constructed, with horizons where rounding matters."""

from __future__ import annotations

from typing import Any

from ..constructions.block_delay import BlockDelay
from ..constructions.realisations import Realisation
from .horizon import full_certificate


def certify(found: Realisation, *, max_group: int = 5_000) -> dict[str, Any]:
    """Of kind `delay` for a block delay (of a group with at most `max_group` elements), else `table` or `horizon`."""
    if isinstance(found, BlockDelay):
        return found.certificate(max_group)
    return full_certificate(found)
