"""A limit on the time of a step, which is interrupted wherever it is."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

AGAIN = 0.5
"""Seconds after which a step that goes on is interrupted once more."""


class OutOfTime(BaseException):
    """The time of a step is over. No handler of errors meets it, only the one who set the limit."""


@contextmanager
def interrupt_after(seconds: float | None) -> Iterator[None]:
    """Raise `OutOfTime` in what stands below `with` after some time of the clock.

    A timer of the system interrupts between two steps of the interpreter, so that a long step in compiled code overruns. Compiled code that
    calls Python may take the interrupt for an error of its own, or drop it and go on with a wrong value: what comes out of the block after
    the interrupt, a value or an error, is `OutOfTime`. It works in the main thread, on systems that have such timers; elsewhere nothing is
    interrupted. A timer that runs already goes on afterwards, and one that is over sooner is left alone.

    Args:
        seconds: the limit, above 0; None for none.
    """
    if (
        seconds is None
        or not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
        or 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= seconds
    ):
        yield
        return

    interrupted = False

    def stop(number: int, frame: FrameType | None) -> NoReturn:
        nonlocal interrupted
        interrupted = True
        # an exception in a callback of the garbage collector is lost, so that it comes again if nothing ends meanwhile
        signal.setitimer(signal.ITIMER_REAL, AGAIN)
        raise OutOfTime

    begun = time.monotonic()
    handler = signal.signal(signal.SIGALRM, stop)
    left, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except Exception as error:
        if interrupted:
            raise OutOfTime from error
        raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if left:
            signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - begun), 1e-3), interval)
    if interrupted:
        raise OutOfTime
