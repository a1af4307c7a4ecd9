"""The verdicts of a test, one for each family, and what they say together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from ...foundation._text import count_noun
from ._calling import Contract

PASS, PARTIAL, FAIL, NOT_RUN = "pass", "partial", "fail", "not run"


@dataclass(frozen=True)
class SkippedWords:
    """Words that were not run, for one reason.

    Attributes:
        reason: why.
        words: their names; ` (gates)` marks one that was not given its gates as `a`.
    """

    reason: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class VectorVerdict:
    """What is found of one family.

    Attributes:
        family: its name.
        verdict: `pass` where all words were run and none fails; `partial` where none of those that were run fails, and some were
            not run; `fail`; or `not run` where no word of it can be asked of the function.
        words: how many words were run. A word that is given its gates both as `a` and as `g` counts twice.
        failed: the names of those that failed.
        formats: the formats that the verdict is about.
        cause: the likely cause of a failure; for `not run`, why.
        known: whether the cause is a known error that gives what was found, to the last bit or within the stated bound.
        first: the first wrong entry of the first word that failed.
        total: how many words the operator has in the family, those that were not run included.
        skipped: the words that were not run, by reason.
    """

    family: str
    verdict: str
    words: int
    failed: tuple[str, ...]
    formats: str
    cause: str = ""
    known: bool = False
    first: str = ""
    total: int = 0
    skipped: tuple[SkippedWords, ...] = ()

    @property
    def counts(self) -> str:
        """The words in a few words: how many were run, or are wrong, of how many."""
        left = self.total - self.words
        if self.failed:
            return f"{len(self.failed)} of {self.words} wrong" + (f", {left} not run" if left else "")
        return f"{self.words} of {self.total}" if left else str(self.words)

    @property
    def remark(self) -> str:
        """The likely cause with the first wrong entry, and why words were not run."""
        parts = []
        if self.cause and self.verdict != NOT_RUN:
            parts.append(("behaves like: " if self.known else "") + self.cause)
        if self.first:
            parts.append(f"first, {self.first}")
        if self.verdict == PARTIAL:
            left = self.total - self.words
            parts.append(
                f"passes {self.words} of {count_noun(self.total, 'word')}; {left} not run: {reasons((self,))}"
            )
        elif self.skipped:
            parts.append(("" if self.verdict == NOT_RUN else "not run: ") + reasons((self,)))
        return "; ".join(parts)


@dataclass(frozen=True)
class VectorReport:
    """The verdicts of all families.

    Attributes:
        operator: the function's operator.
        contract: the formats.
        verdicts: one for each family that the operator can be called with.
        overall: what explains the failures of all families, or of most, in a sentence; empty where nothing does.
    """

    operator: str
    contract: Contract
    verdicts: tuple[VectorVerdict, ...]
    overall: str = ""

    @property
    def passed(self) -> bool:
        """Whether a word was run, and none that was run fails; `complete` says whether all were run."""
        return self.words > 0 and not any(v.failed for v in self.verdicts)

    @property
    def complete(self) -> bool:
        """Whether all words of the families were run."""
        return self.words == self.total

    @property
    def words(self) -> int:
        """How many words were run."""
        return sum(v.words for v in self.verdicts)

    @property
    def total(self) -> int:
        """How many words the families have for this operator."""
        return sum(v.total for v in self.verdicts)

    def headline(self) -> str:
        """The result in a sentence."""
        by = {
            name: [v.family for v in self.verdicts if v.verdict == name]
            for name in (PASS, PARTIAL, FAIL, NOT_RUN)
        }
        run = len(self.verdicts) - len(by[NOT_RUN])
        rest = ""
        if not self.complete:
            rest = (
                f"; {self.words} of {count_noun(self.total, 'word')} run, not run: {reasons(self.verdicts)}"
            )
        if by[FAIL]:
            said = f"all {run} families fail" if run == len(by[FAIL]) > 1 else _some_fail(by[FAIL], run)
            said += f"; {_families(len(by[NOT_RUN]))} not run" if by[NOT_RUN] else ""
        elif self.complete:
            said = f"{'all ' if run > 1 else ''}{_families(run)} {'passes' if run == 1 else 'pass'}"
        elif not run:
            said = "no word was run, so nothing passes"
        else:
            said = f"{len(by[PASS])} of {_families(len(self.verdicts))} pass"
            said += f", {len(by[PARTIAL])} in part" if by[PARTIAL] else ""
            said += f"; {_families(len(by[NOT_RUN]))} not run" if by[NOT_RUN] else ""
        return said + rest

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON has it."""
        return {
            "operator": self.operator,
            "formats": asdict(self.contract),
            "headline": self.headline(),
            "passed": self.passed,
            "complete": self.complete,
            "words": self.words,
            "total": self.total,
            "overall": self.overall,
            "verdicts": [asdict(v) for v in self.verdicts],
        }


def reasons(verdicts: Iterable[VectorVerdict]) -> str:
    """Why words were not run, each reason once with its number of words where there are several reasons.

    Args:
        verdicts: of the families.
    """
    counts: dict[str, int] = {}
    for verdict in verdicts:
        for skipped in verdict.skipped:
            counts[skipped.reason] = counts.get(skipped.reason, 0) + len(skipped.words)
    if len(counts) == 1:
        return next(iter(counts))
    return "; ".join(f"{reason} ({count_noun(number, 'word')})" for reason, number in counts.items())


def _families(number: int) -> str:
    return "1 family" if number == 1 else f"{number} families"


def _some_fail(failed: list[str], run: int) -> str:
    return f"{len(failed)} of {_families(run)} {'fails' if run == 1 else 'fail'}: {', '.join(failed)}"
