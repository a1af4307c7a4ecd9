"""How long an extraction may take: a clock that it looks at, which also reports how much of the time is over."""

from __future__ import annotations

import time
from collections.abc import Callable

REPORT_EVERY = 0.2
"""Seconds between two reports of progress, about."""


class OutOfBudgetError(Exception):
    """A limit is reached; its text says which."""


class Clock:
    """The time of one extraction, from when it is made.

    Args:
        seconds: how long it may take; None for no limit.
        progress: called with the fraction of that time that is over, from time to time.
    """

    def __init__(self, seconds: float | None = None, progress: Callable[[float], None] | None = None) -> None:
        self.seconds = seconds
        self._progress = progress
        self._began = self._reported = time.monotonic()

    @property
    def spent(self) -> float:
        """Seconds since the clock was made."""
        return time.monotonic() - self._began

    @property
    def is_over(self) -> bool:
        """Whether no time is left."""
        return self.seconds is not None and self.spent >= self.seconds

    def look(self, share: float = 1.0) -> None:
        """Report progress; `OutOfBudgetError` where this share of the time is over."""
        if self.seconds is None:
            return
        spent = self.spent
        if self._progress is not None and time.monotonic() - self._reported >= REPORT_EVERY:
            self._reported = time.monotonic()
            self._progress(min(1.0, spent / self.seconds) if self.seconds else 1.0)
        if spent >= share * self.seconds:
            raise OutOfBudgetError(f"its {self.seconds:.3g} s")
