"""Claims checked anew, over several processes and within a budget of time; what comes out is compared with what is expected."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, as_completed
from dataclasses import dataclass, replace
from os import cpu_count
from pathlib import Path
from typing import Any, NoReturn

from ...foundation._arguments import (
    require_flag,
    require_instance,
    require_list,
    require_optional_count,
    require_seconds,
    show_value,
)
from ...foundation._errors import InputError, MissingExtraError
from ...foundation._extras import is_installed, missing_extra, needed_by
from ...foundation._text import html_table, one_line, refuse_truth
from ...foundation._time_limit import OutOfTime, interrupt_after
from ...foundation._workers import worker_processes
from .._verdict import Verdict, plain
from ._claim import QUICK, Claim, Effort, Subject
from ._registry import Entry, entry_of_file, load_claims

BUDGET_SPENT = "the budget was spent before the check was through"


@dataclass(frozen=True, repr=False)
class ClaimOutcome:
    """The outcome of checking a claim.

    Attributes:
        claim: the claim.
        verdict: its verdict.
        seconds: the time that the check took.
        expected: the status that the claim's record states, None where nothing is expected (a user's model).
        error: the text of an exception that ended the check; the status is then `unknown`.
        missing: the extra without which the check was not run, such as `models`; the status is then `unknown`, and the outcome
            is not as expected. None if it was run.
    """

    claim: Claim
    verdict: Verdict
    seconds: float
    expected: str | None = None
    error: str | None = None
    missing: str | None = None

    def __bool__(self) -> NoReturn:
        raise refuse_truth(self, "as_expected")

    @property
    def as_expected(self) -> bool:
        """Whether the status is the recorded one or, for a user's model, whether the statement is true of the model."""
        if self.error is not None or self.missing is not None:
            return False
        if self.expected is None:
            return self.verdict.confirmed
        return self.verdict.status == self.expected

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain values for JSON."""
        return {
            **self.verdict.to_json(),
            "expected": self.expected,
            "as_expected": self.as_expected,
            "error": self.error,
            "missing_extra": self.missing,
            "seconds": round(self.seconds, 3),
        }

    def rows(self) -> list[tuple[str, str]]:
        """The rows of a readable table, as `(label, text)` pairs."""
        expected = [] if self.expected is None else [("expected", self.expected)]
        error = [] if self.error is None else [("error", self.error)]
        return [*self.verdict.rows(), *expected, *error, ("seconds", f"{self.seconds:.3g}")]

    def __repr__(self) -> str:
        wanted = "as expected" if self.as_expected else "not as expected"
        return one_line(self, f"{self.claim.id}, {self.verdict.finding}, {wanted}")

    def _repr_html_(self) -> str:
        return html_table("Claim", self.rows())


def verify_claims(
    entries: Iterable[Entry | str],
    effort: Effort = QUICK,
    *,
    budget: float | None = None,
    jobs: int | None = None,
    fail_fast: bool = False,
    done: Callable[[ClaimOutcome], None] = lambda _: None,
) -> list[ClaimOutcome]:
    """Check claims, and return their outcomes in the order of `entries`.

    An exception in a check is recorded in the outcome of the claim and not raised. A check that needs an extra which is not
    installed is not run, and its outcome says so.

    Args:
        entries: the claims: entries of `load_claims()`, that registry itself, or names of claims of the package such as
            `G.T3`.
        effort: quick or full, with its seed.
        budget: total time in seconds. Short checks are started first (`Claim.seconds`), and a claim that is not finished by then
            is `unknown`. If the system has no interval timer, a check that has begun is finished.
        jobs: number of processes, by default one per core; with 1 the checks run in this process.
        fail_fast: whether to stop at the first outcome that is not as expected; unfinished claims are left out.
        done: called with each outcome as it comes in.

    Raises:
        InputError: an argument is of the wrong form, or there is no claim of a name.
    """
    entries = _entries_of(entries)
    require_instance("effort", effort, Effort, "an Effort, such as QUICK or FULL")
    if budget is not None:
        require_seconds("budget", budget)
    require_optional_count("jobs", jobs, 1)
    fail_fast = require_flag("fail_fast", fail_fast)
    if not callable(done):
        raise InputError(f"`done` {show_value(done)}: it is a function of a ClaimOutcome")
    deadline = None if budget is None else time.time() + budget
    jobs = min(jobs or cpu_count() or 1, len(entries))
    begun = entries if budget is None else sorted(entries, key=lambda entry: entry.claim.seconds)
    outcomes: dict[str, ClaimOutcome] = {}
    if jobs <= 1:
        try:
            for entry in begun:
                outcome = _finish_outcome(verify_one(entry, effort, deadline), done)
                outcomes[entry.claim.id] = outcome
                if fail_fast and not outcome.as_expected and outcome.missing is None:
                    break
        except KeyboardInterrupt as stop:
            stop.add_note(_describe_checked(outcomes.values(), len(entries)))
            raise
        return _in_order(entries, outcomes)
    try:
        with worker_processes(jobs) as workers:
            running: dict[Future[ClaimOutcome], Entry] = {
                workers.submit(_verify_file, str(entry.path), effort, deadline): entry for entry in begun
            }
            for future in as_completed(running):
                claim = running[future].claim
                error = future.exception()
                outcome = (
                    future.result()
                    if error is None
                    else _report_failure(claim, 0.0, f"its process died: {error}")
                )
                outcomes[claim.id] = _finish_outcome(outcome, done)
                if fail_fast and not outcome.as_expected and outcome.missing is None:
                    workers.end()
                    break
    except KeyboardInterrupt as stop:
        stop.add_note(_describe_checked(outcomes.values(), len(entries)))
        raise
    return _in_order(entries, outcomes)


def _in_order(entries: Sequence[Entry], outcomes: Mapping[str, ClaimOutcome]) -> list[ClaimOutcome]:
    return [outcomes[entry.claim.id] for entry in entries if entry.claim.id in outcomes]


def _describe_checked(outcomes: Collection[ClaimOutcome], asked: int) -> str:
    """How far an interrupted check has come."""
    wrong = [o.claim.id for o in outcomes if not o.as_expected and o.missing is None]
    finding = f"not as expected: {', '.join(wrong)}" if wrong else "all as expected"
    checked = f"{len(outcomes):,} of {asked:,} claims were checked"
    return f"{checked}, {finding}" if outcomes else checked


def verify_one(entry: Entry, effort: Effort, deadline: float | None = None) -> ClaimOutcome:
    """One claim, in this process; `deadline` as `time.time()` counts."""
    claim, start = entry.claim, time.perf_counter()
    try:
        with interrupt_after(_seconds_left(deadline)), needed_by(f"claim {claim.id}"):
            if claim.models and not is_installed("torch"):
                raise missing_extra(f"claim {claim.id}", "torch")
            verdict = entry.verify(effort)
    except MissingExtraError as error:
        return _report_missing(claim, error, claim.expected)
    except OutOfTime:
        facts = {"reason": BUDGET_SPENT}
        verdict = Verdict(claim.id, "unknown", facts, claim.arithmetic)
    except (Exception, SystemExit) as error:
        return _report_failure(claim, time.perf_counter() - start, f"{type(error).__name__}: {error}")
    return ClaimOutcome(claim, _portable(verdict), time.perf_counter() - start, claim.expected)


def _entries_of(entries: Iterable[Entry | str]) -> list[Entry]:
    """Entries as they are, and those of the package's claims of the given names."""
    wanted = "a list of claims, as load_claims() has them, or of names such as ['G.T3']"
    found = require_list("entries", entries, wanted)
    known = load_claims() if any(isinstance(entry, str) for entry in found) else None
    found = [known[entry] if known is not None and isinstance(entry, str) else entry for entry in found]
    for entry in found:
        require_instance("entries", entry, Entry, wanted)
    return found


def verify_model(subject: Subject, entries: Iterable[Entry | str]) -> list[ClaimOutcome]:
    """Apply the claims to a user's model or automaton; claims that say nothing about it are left out.

    Args:
        subject: the user's model or automaton.
        entries: the claims, as `verify_claims` takes them.

    Raises:
        InputError: an argument is of the wrong form, or there is no claim of a name.
    """
    require_instance("subject", subject, Subject, "a Subject, as subject_of_file makes it")
    outcomes = []
    for entry in _entries_of(entries):
        if entry.applies is None:
            continue
        start = time.perf_counter()
        try:
            with needed_by(f"claim {entry.claim.id}"):
                verdict = entry.applies(subject)
        except MissingExtraError as error:
            outcomes.append(_report_missing(entry.claim, error, None))
            continue
        except (Exception, SystemExit) as error:
            outcomes.append(_report_failure(entry.claim, 0.0, f"{type(error).__name__}: {error}", None))
            continue
        if verdict is not None:
            outcomes.append(ClaimOutcome(entry.claim, _portable(verdict), time.perf_counter() - start))
    return outcomes


def _verify_file(path: str, effort: Effort, deadline: float | None) -> ClaimOutcome:
    return verify_one(entry_of_file(Path(path)), effort, deadline)


def _finish_outcome(outcome: ClaimOutcome, done: Callable[[ClaimOutcome], None]) -> ClaimOutcome:
    done(outcome)
    return outcome


def _report_failure(claim: Claim, seconds: float, error: str, expected: str | None = "") -> ClaimOutcome:
    line = error.replace("\n", " ")
    verdict = Verdict(claim.id, "unknown", {"reason": line}, claim.arithmetic)
    return ClaimOutcome(claim, verdict, seconds, claim.expected if expected == "" else expected, line)


def _report_missing(claim: Claim, error: MissingExtraError, expected: str | None) -> ClaimOutcome:
    facts = {"reason": f"not run: needs the extra {error.extra}"}
    verdict = Verdict(claim.id, "unknown", facts, claim.arithmetic)
    return ClaimOutcome(claim, verdict, 0.0, expected, missing=error.extra)


def _portable(verdict: Verdict) -> Verdict:
    """Plain values only, so that it passes from one process to another."""
    return replace(
        verdict,
        evidence=plain(verdict.evidence),
        computed=plain(verdict.computed),
        claimed=plain(verdict.claimed),
    )


def _seconds_left(deadline: float | None) -> float | None:
    if deadline is None:
        return None
    left = deadline - time.time()
    if left <= 0:
        raise OutOfTime
    return left
