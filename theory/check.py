"""`check`: the stand-alone checker of a certificate's kind, called on a file, a document or a construction."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..constructions.automaton import Automaton
from ..constructions.block_delay import BlockDelay
from ..constructions.errors import InputError
from ..constructions.lrnn import LRNN
from ..constructions.realisations import Realisation
from .about import difference
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
    """`verdict`: `valid` or `invalid`; `kind`: of the certificate; `reason`: what is proved, or what is wrong.

    Where an automaton was given: its name is `automaton`, and the verdict `other` means that the certificate is valid, but
    about another automaton; then `word` has the letters of a shortest word that tells the two apart, if one does.
    """

    verdict: str
    kind: str | None
    reason: str
    automaton: str | None = field(default=None, repr=False)
    word: tuple[str, ...] | None = field(default=None, repr=False)

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON; `automaton` and `word` only where an automaton was given."""
        facts: dict[str, Any] = {"verdict": self.verdict, "kind": self.kind, "reason": self.reason}
        if self.automaton is not None:
            facts |= {"automaton": self.automaton, "word": None if self.word is None else list(self.word)}
        return facts


def check(
    certificate: str | Path | Mapping[str, Any] | Realisation, automaton: Automaton | None = None
) -> CheckResult:
    """Check a certificate file, its JSON document, or a construction (through its certificate).

    `automaton`: the one that the certificate is to be about. Its reachable states must correspond to those of the
    certificate's automaton, letters and outputs matched by their texts (see `about`); else the verdict is `other`.
    Malformed and wrong certificates are `invalid` with the reason; a file that cannot be read is an `InputError`, and so is
    an automaton with two letters or outputs (for a bound: two states) of the same text.
    """
    document, result = _checked(certificate)
    if automaton is None:
        return result
    if result.verdict != "valid":
        return replace(result, automaton=automaton.name)
    found = difference(document, automaton)
    if found is None:
        return replace(result, automaton=automaton.name)
    reason = f"valid, but not about {automaton.name}: {found.text}"
    return CheckResult("other", result.kind, reason, automaton.name, found.word)


def _checked(certificate: str | Path | Mapping[str, Any] | Realisation) -> tuple[Any, CheckResult]:
    """The certificate's document, and the verdict of its kind's checker."""
    if isinstance(certificate, LRNN | BlockDelay):
        from .certify import certify

        certificate = certify(certificate)
    try:
        if isinstance(certificate, str | Path):
            if Path(certificate).is_file() and Path(certificate).stat().st_size == 0:
                return None, CheckResult("invalid", None, f"{certificate} is empty")
            document = load(str(certificate))
        else:
            document = parse(json.dumps(certificate))
    except OSError as error:
        raise InputError(f"{certificate}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise InputError(f"{certificate}: not a text file, so no certificate") from None
    except Invalid as reason:
        return None, CheckResult("invalid", None, str(reason))
    except (TypeError, ValueError, RecursionError) as error:
        if isinstance(certificate, str | Path):
            raise InputError(f"{str(certificate)!r}: cannot be read ({error})") from None
        return None, CheckResult("invalid", None, f"not JSON: {error}")
    kind = document.get("kind") if isinstance(document, dict) else None
    checker = CHECKERS.get(kind) if isinstance(kind, str) else None
    if checker is None:
        what = (
            "no certificate: an object with a kind is needed"
            if kind is None
            else f"unknown kind: {shown(kind)}"
        )
        return None, CheckResult("invalid", None, what)
    try:
        return document, CheckResult("valid", kind, checker(document))
    except Invalid as reason:
        return None, CheckResult("invalid", kind, str(reason))
