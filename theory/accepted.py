"""What the stand-alone checker accepts of a construction: its certificate, and its horizons."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..constructions.certificate import write_certificate
from ..constructions.errors import DisagreementError
from ..constructions.lrnn import LRNN
from ..constructions.realisations import Realisation
from .certify import certify
from .check import check


def accepted(found: Realisation, *, max_group: int = 5_000) -> dict[str, Any]:
    """The certificate of a construction, once its checker has accepted it; `DisagreementError` where it does not."""
    document = certify(found, max_group=max_group)
    result = check(document)
    if result.verdict != "valid":
        raise DisagreementError(
            f"{found.automaton.name}: the checker refuses the certificate of this construction ({result.reason})"
        )
    return document


def write_accepted(found: Realisation, path: str | Path, *, max_group: int = 5_000) -> None:
    """Write the certificate of a construction, once the stand-alone checker has accepted it."""
    write_certificate(accepted(found, max_group=max_group), path)


def accepted_horizons(lrnn: LRNN) -> dict[str, int | None] | None:
    """For each dtype the length that the checker accepts; None where no horizon is certified."""
    document = accepted(lrnn)
    lengths: dict[str, int | None] | None = document.get("horizon", {}).get("lengths")
    return lengths
