"""`check`: the stand-alone checker of a certificate's kind, called on a file, a document or a construction."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..constructions.block_delay import BlockDelay
from ..constructions.errors import InputError
from ..constructions.lrnn import LRNN
from ..constructions.realisations import Realisation
from .checker import bound, delay, equivalent, horizon, impossible, table
from .checker.exact import Invalid, load, parse, shown

CHECKERS = {
    "table": table.check,
    "horizon": horizon.check,
    "delay": delay.check,
    "bound": bound.check,
    "equivalent": equivalent.check,
    "impossible": impossible.check,
}


@dataclass(frozen=True)
class CheckResult:
    """`verdict`: `valid` or `invalid`; `kind`: of the certificate; `reason`: what is proved, or what is wrong."""

    verdict: str
    kind: str | None
    reason: str

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def check(certificate: str | Path | Mapping[str, Any] | Realisation) -> CheckResult:
    """Check a certificate file, its JSON document, or a construction (through its certificate).

    Malformed and wrong certificates are `invalid` with the reason; a file that cannot be read is an `InputError`.
    """
    if isinstance(certificate, LRNN | BlockDelay):
        from .certify import certify

        certificate = certify(certificate)
    try:
        if isinstance(certificate, str | Path):
            document = load(str(certificate))
        else:
            document = parse(json.dumps(certificate))
    except OSError as error:
        raise InputError(f"{certificate}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise InputError(f"{certificate}: not a text file, so no certificate") from None
    except Invalid as reason:
        return CheckResult("invalid", None, str(reason))
    except (TypeError, ValueError, RecursionError) as error:
        if isinstance(certificate, str | Path):
            raise InputError(f"{str(certificate)!r}: cannot be read ({error})") from None
        return CheckResult("invalid", None, f"not JSON: {error}")
    kind = document.get("kind") if isinstance(document, dict) else None
    checker = CHECKERS.get(kind) if isinstance(kind, str) else None
    if checker is None:
        what = (
            "no certificate: an object with a kind is needed"
            if kind is None
            else f"unknown kind: {shown(kind)}"
        )
        return CheckResult("invalid", None, what)
    try:
        return CheckResult("valid", kind, checker(document))
    except Invalid as reason:
        return CheckResult("invalid", kind, str(reason))
