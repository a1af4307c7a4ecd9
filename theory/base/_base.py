"""The base that every claim stands on: one check for each part of it, made before the claims are.

A claim's check calls the library, so it can be no better than what it calls. Here the library is held to what is known
without it: a table of roundings that another program has made, certificates that are false and must be refused, models
with a planted error whose shortest wrong word is known, bounds that were counted out, plans whose tiles are counted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from importlib import import_module
from os import cpu_count
from typing import Any

from ...foundation._errors import MissingExtraError
from ...foundation._extras import needed_by
from ...foundation._text import console, count_noun, html_table
from ...foundation._workers import worker_processes


@dataclass(frozen=True)
class Part:
    """One part of the base on which all claims rest.

    Its method `cases` yields pairs `(name, problem)`, where the problem is None if the case came out as it must.

    Attributes:
        id: its id, such as base.arithmetic.
        title: the part in a few words.
        module: the file of this folder that checks it.
    """

    id: str
    title: str
    module: str


PARTS = (
    Part("base.arithmetic", "roundings and sums, of the library and of the checkers, as in the table", "arithmetic"),
    Part("base.certificates", "each checker accepts what is true and refuses what is false", "certificates"),
    Part("base.proofs", "prove finds the shortest wrong word of models with a planted error", "proofs"),
    Part("base.impossibility", "orbits, casts and confused words as they were worked out by hand", "impossibility"),
    Part("base.bounds", "lower bounds where they are known, and none where there is none", "bounds"),
    Part("base.kernels", "every width of keys and values has a plan that covers all columns; proofs on a kernel", "kernel_plans"),
)  # fmt: skip


@dataclass(frozen=True)
class BaseOutcome:
    """The outcome of one part of the base.

    Attributes:
        part: the part.
        sound: whether all cases came out as they must.
        cases: the number of cases that were tried.
        reason: the first case that did not, and its result; None if all did.
        seconds: the time that the check took.
        missing: the extra without which the part was not run, such as `models`; None if it was run.
    """

    part: Part
    sound: bool
    cases: int
    reason: str | None
    seconds: float
    missing: str | None = None

    def __bool__(self) -> bool:
        """Did all cases come out as they must?"""
        return self.sound

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain values for JSON."""
        return {
            "base": self.part.id,
            "title": self.part.title,
            "sound": self.sound,
            "cases": self.cases,
            "reason": self.reason,
            "missing_extra": self.missing,
            "seconds": round(self.seconds, 3),
        }

    def rows(self) -> list[tuple[str, str]]:
        """The rows of a readable table, as `(label, text)` pairs."""
        found = "sound" if self.sound else str(self.reason) if self.missing else f"not sound: {self.reason}"
        return [("part", self.part.title), ("finding", found), ("cases", f"{self.cases:,}")]

    def _repr_html_(self) -> str:
        return html_table(self.part.id, self.rows())


def check_part(part: Part) -> BaseOutcome:
    """One part, in this process; an exception in a case is what is wrong with it, unless only an extra is missing."""
    began, count, name = time.perf_counter(), 0, "its cases"
    reason = missing = None
    try:
        with needed_by(part.id):
            module = import_module(f"{__package__}.{part.module}")
        for name, wrong in module.cases():
            count += 1
            if wrong is not None:
                reason = f"{name}: {wrong}"
                break
        if not count:
            reason = "there was no case"
    except MissingExtraError as error:
        missing, reason = error.extra, f"not run: needs the extra {error.extra}"
    except (Exception, SystemExit) as error:
        reason = f"after {name}: {type(error).__name__}: {error}".replace("\n", " ")
    return BaseOutcome(part, reason is None, count, reason, time.perf_counter() - began, missing)


def check_base(
    parts: Sequence[Part] = PARTS,
    *,
    jobs: int | None = None,
    fail_fast: bool = False,
    done: Callable[[BaseOutcome], None] = lambda _: None,
) -> list[BaseOutcome]:
    """Check the parts of the base, and return their outcomes in the order of `parts`.

    Args:
        parts: the parts to check.
        jobs: number of processes, by default one per core; with 1 the check runs in this process.
        fail_fast: whether to leave out the parts after the first one that is not sound.
        done: called with each outcome as it comes in.
    """
    jobs = min(jobs or cpu_count() or 1, len(parts))
    if jobs <= 1:
        return _until(map(check_part, parts), fail_fast, done)
    with worker_processes(jobs) as workers:
        running = [workers.submit(check_part, part) for part in parts]
        found = _until((future.result() for future in as_completed(running)), fail_fast, done)
        if len(found) < len(parts):
            workers.end()
    return sorted(found, key=lambda outcome: parts.index(outcome.part))


def _until(
    outcomes: Iterable[BaseOutcome], fail_fast: bool, done: Callable[[BaseOutcome], None]
) -> list[BaseOutcome]:
    found = []
    for outcome in outcomes:
        found.append(outcome)
        done(outcome)
        if fail_fast and not outcome.sound and outcome.missing is None:
            break
    return found


def base_summary(outcomes: Sequence[BaseOutcome]) -> str:
    """How many parts and cases, which are not sound, and which were not run, in one line."""
    wrong = [outcome.part.id for outcome in outcomes if not outcome.sound and outcome.missing is None]
    if wrong:
        return f"the base does not hold, so believe no claim below: {', '.join(wrong)}"
    run = [outcome for outcome in outcomes if outcome.missing is None]
    left_out = [f"{o.part.id} was {o.reason}" for o in outcomes if o.missing is not None]
    said = f"{count_noun(len(run), 'part')}, {sum(outcome.cases for outcome in run):,} cases: sound"
    return f"the base: {'; '.join([said] * bool(run) + left_out)}"


def print_base(outcomes: Sequence[BaseOutcome]) -> None:
    """A table, a row a part; `!` marks what is not sound, `-` what was not run."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE, pad_edge=False)
    for heading in ("", "base", "found", "cases"):
        table.add_column(heading, no_wrap=True)
    table.add_column("what", overflow="fold")
    for outcome in outcomes:
        mark, found = (
            ("", "sound") if outcome.sound else ("-", "not run") if outcome.missing else ("!", "broken")
        )
        row = (mark, outcome.part.id, found, f"{outcome.cases:,}")
        table.add_row(*row, outcome.reason or outcome.part.title)
    shown = console()
    shown.print(base_summary(outcomes), style="bold")
    shown.print(table)
