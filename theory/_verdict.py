"""`Verdict`: what a check found about a claim, in which arithmetic; the status says how far the evidence goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape
from typing import Any, Literal, NoReturn

import numpy as np

from ..foundation._text import count_noun

Status = Literal["proved", "exhaustive", "supported", "refuted", "cited", "unknown"]
STATUSES: tuple[Status, ...] = ("proved", "exhaustive", "supported", "refuted", "cited", "unknown")
CONFIRMED: tuple[Status, ...] = ("proved", "exhaustive", "supported")
"""The statuses of a check that found the statement true as far as it went."""


@dataclass(frozen=True)
class Verdict:
    """The outcome of a check, with its evidence.

    The statuses, and what `evidence` must then have:

    - `proved`: true in all cases of the statement, exactly; nothing further is required.
    - `exhaustive`: true in every case of a finite set; `cases` is the size of the set, and `set` its name.
    - `supported`: no violation among random instances; `instances` is their number, and `seed` their seed. If instances can meet
      the hypothesis with equality, `tight` is the number that did.
    - `refuted`: false; `witness` is a counterexample, which was replayed.
    - `cited`: not checked here; `source` says who proved it.
    - `unknown`: not decided; nothing further is required.

    Attributes:
        claim: the identifier of the claim, such as G.T1.
        status: one of the statuses above.
        evidence: plain values, as described above.
        arithmetic: the name of the arithmetic (`parse_arithmetic`).
        assumptions: the hypotheses used.
        computed: the value found.
        claimed: the value that the statement gives.

    Raises:
        ValueError: the status and the other fields are inconsistent.
    """

    claim: str
    status: Status
    evidence: Mapping[str, Any]
    arithmetic: str
    assumptions: tuple[str, ...] = field(default=())
    computed: Any = None
    claimed: Any = None

    def __post_init__(self) -> None:
        needed = {
            "exhaustive": {"cases", "set"},
            "supported": {"instances", "seed"},
            "refuted": {"witness"},
            "cited": {"source"},
        }
        reasons = []
        if self.status not in STATUSES:
            reasons.append(f"status {self.status!r} is not one of {', '.join(STATUSES)}")
        missing = needed.get(self.status, set()) - set(self.evidence)
        if missing:
            reasons.append(f"the evidence of status {self.status} lacks {', '.join(sorted(missing))}")
        if self.status in ("exhaustive", "supported") and not missing and not self.cases:
            reasons.append(f"status {self.status} needs at least one case")
        if reasons:
            raise ValueError(f"verdict {self.claim}: {'; '.join(reasons)}")

    def __bool__(self) -> NoReturn:
        raise TypeError(f"a verdict is one of {', '.join(STATUSES)}: look at its status")

    @property
    def confirmed(self) -> bool:
        """Whether the check found the statement true, as far as it went."""
        return self.status in CONFIRMED

    @property
    def cases(self) -> int | None:
        """`exhaustive`: the size of the finite set; `supported`: the number of random instances; None for other statuses."""
        key = {"exhaustive": "cases", "supported": "instances"}.get(self.status)
        return None if key is None else int(self.evidence[key])

    @property
    def finding(self) -> str:
        """The status in words: `holds on 378 cases`, `supported by 20 instances`, `proved`."""
        return status_in_words(self.status, self.cases)

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON; fractions as text."""
        return {
            "claim": self.claim,
            "status": self.status,
            "cases": self.cases,
            "arithmetic": self.arithmetic,
            "assumptions": list(self.assumptions),
            "computed": plain(self.computed),
            "claimed": plain(self.claimed),
            "evidence": plain(self.evidence),
        }

    def line(self) -> str:
        """The status in words and the two values, in one line."""
        values = [f"{name} {_text(plain(value))}" for name, value in self._values()]
        if len(values) == 2 and plain(self.computed) == plain(self.claimed):
            values = [f"{_text(plain(self.computed))}, as claimed"]
        return ": ".join([self.finding, *([", ".join(values)] if values else [])])

    def _values(self) -> list[tuple[str, Any]]:
        pairs = [("computed", self.computed), ("claimed", self.claimed)]
        return [(name, value) for name, value in pairs if value is not None]

    def rows(self) -> list[tuple[str, str]]:
        """The rows of a readable table, as `(label, text)` pairs."""
        rows = [("claim", self.claim), ("status", self.finding)]
        rows += [("arithmetic", self.arithmetic), *(("assuming", a) for a in self.assumptions)]
        rows += [(name, _text(plain(value))) for name, value in self._values()]
        return rows + [(key, _text(value)) for key, value in plain(self.evidence).items()]

    def _repr_html_(self) -> str:
        cells = "".join(f"<tr><th>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in self.rows())
        return f"<table>{cells}</table>"


def status_in_words(status: str, cases: int | None = None) -> str:
    """`holds on N cases` for `exhaustive`, `supported by N instances` for `supported`; the others name themselves.

    Without a number (what a record expects, before it is run): `holds on a finite set`, `supported by instances`.
    """
    if status == "exhaustive":
        return "holds on a finite set" if cases is None else f"holds on {count_noun(cases, 'case')}"
    if status == "supported":
        return "supported by instances" if cases is None else f"supported by {count_noun(cases, 'instance')}"
    return status


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
