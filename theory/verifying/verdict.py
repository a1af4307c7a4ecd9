"""`Verdict`: what a check found about a claim, in which arithmetic, and by what kind of evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape
from typing import Any, Literal, NoReturn

import numpy as np

STATUSES = ("holds", "refuted", "unknown")
KINDS = ("proved", "exhaustive", "instances", "cited")


@dataclass(frozen=True)
class Verdict:
    """The outcome of a check; never a bare bool.

    `claim`: its identifier, such as G.T1. `status`: `holds`, `refuted`, `unknown`. `kind`: `proved` (exact, all
    cases), `exhaustive` (evidence has `cases`, the size of the finite set, and `set`, its name), `instances`
    (evidence has `instances`, `seed`, and `tight`, how many met the hypothesis tightly), `cited` (alone: `unknown`).
    `evidence`: plain values; a refutation has its replayed `witness` there. `arithmetic`: the model's name
    (`arithmetic_names.parse_arithmetic`). `assumptions`: the hypotheses used. Raises `ValueError` where these do not fit.
    """

    claim: str
    status: Literal["holds", "refuted", "unknown"]
    kind: Literal["proved", "exhaustive", "instances", "cited"]
    evidence: Mapping[str, Any]
    arithmetic: str
    assumptions: tuple[str, ...] = field(default=())
    computed: Any = None
    claimed: Any = None

    def __post_init__(self) -> None:
        needed = {"exhaustive": {"cases", "set"}, "instances": {"instances", "seed", "tight"}}
        reasons = []
        if self.status not in STATUSES:
            reasons.append(f"status {self.status!r} is not one of {', '.join(STATUSES)}")
        if self.kind not in KINDS:
            reasons.append(f"kind {self.kind!r} is not one of {', '.join(KINDS)}")
        if self.status == "refuted" and "witness" not in self.evidence:
            reasons.append("a refutation needs a witness in its evidence")
        if self.kind == "cited" and self.status != "unknown":
            reasons.append("what is only cited is unknown")
        missing = needed.get(self.kind, set()) - set(self.evidence)
        if missing and self.status == "holds":
            reasons.append(f"the evidence of kind {self.kind} lacks {', '.join(sorted(missing))}")
        if reasons:
            raise ValueError(f"verdict {self.claim}: {'; '.join(reasons)}")

    def __bool__(self) -> NoReturn:
        raise TypeError("a verdict is holds, refuted or unknown: look at its status")

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON; fractions as text."""
        return {
            "claim": self.claim,
            "status": self.status,
            "kind": self.kind,
            "arithmetic": self.arithmetic,
            "assumptions": list(self.assumptions),
            "computed": plain(self.computed),
            "claimed": plain(self.claimed),
            "evidence": plain(self.evidence),
        }

    def line(self) -> str:
        """Status, kind, and the two values, in one line."""
        values = [f"{name} {_text(plain(value))}" for name, value in self._values()]
        return ": ".join([f"{self.status} ({self.kind})", *([", ".join(values)] if values else [])])

    def _values(self) -> list[tuple[str, Any]]:
        pairs = [("computed", self.computed), ("claimed", self.claimed)]
        return [(name, value) for name, value in pairs if value is not None]

    def rows(self) -> list[tuple[str, str]]:
        """`(label, text)` pairs of a readable table."""
        rows = [("claim", self.claim), ("status", self.status), ("kind", self.kind)]
        rows += [("arithmetic", self.arithmetic), *(("assuming", a) for a in self.assumptions)]
        rows += [(name, _text(plain(value))) for name, value in self._values()]
        return rows + [(key, _text(value)) for key, value in plain(self.evidence).items()]

    def _repr_html_(self) -> str:
        cells = "".join(f"<tr><th>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in self.rows())
        return f"<table>{cells}</table>"


def plain(value: Any) -> Any:
    """Values that JSON has: mappings, lists, text, numbers, None; fractions and other numbers as text."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple | range):
        return [plain(item) for item in value]
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else str(value)
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def _text(value: Any) -> str:
    return ", ".join(_text(v) for v in value) if isinstance(value, list) else str(value)
