"""Signals that ask the program to end (Ctrl-C, SIGTERM, SIGHUP, SIGUSR1): one exception for all, held back where work must not be cut in two.

Who has saved something adds a note to the exception (`add_note`), which says what was kept and how to go on; the command line
prints it. This file imports little, since the program asks for signals before it loads anything else.
"""

from __future__ import annotations

import signal
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGUSR1", "SIGTERM", "SIGHUP", "SIGINT") if hasattr(signal, name)
)  # SIGINT last: its handler is restored last; schedulers send SIGUSR1 some time before a job's limit
AGAIN = 0.5
"""Seconds after which a signal comes again whose exception was lost."""


class Interrupted(KeyboardInterrupt):
    """A signal has asked the program to end.

    Args:
        number: of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def describe_interrupt(stop: KeyboardInterrupt, otherwise: str) -> str:
    """One line about an interrupt: the signal, then what the notes say was kept.

    Args:
        stop: the exception.
        otherwise: what to say where it has no notes.
    """
    number = number_of(stop)
    cause = "interrupted" if number == signal.SIGINT else f"interrupted by {signal.Signals(number).name}"
    return f"{cause}: {'; '.join(getattr(stop, '__notes__', ())) or otherwise}"


def interrupt_behind(error: BaseException, number: int) -> KeyboardInterrupt:
    """The interrupt that another exception hides: Python makes a `RuntimeError` of one while a class is made, for example.

    Args:
        error: what was raised after a signal.
        number: of the signal.
    """
    behind: BaseException | None = error
    while behind is not None:
        if isinstance(behind, KeyboardInterrupt):
            return behind
        behind = behind.__cause__ or behind.__context__
    return Interrupted(number)


def number_of(stop: KeyboardInterrupt) -> int:
    """The number of the signal; that of Ctrl-C for an exception that Python itself raised."""
    return stop.number if isinstance(stop, Interrupted) else int(signal.SIGINT)


class CaughtSignals:
    """The handler of the program's signals.

    A library can swallow an exception that comes while it is imported, or in a finalizer. The signal then comes again, once
    nothing refers to the exception any more.

    Attributes:
        received: the number of the last signal; None for none.
        taken: whether somebody has taken the interrupt for the end of work that may end early; see `take_interrupt`.
        over: whether signals are not caught any more.
    """

    def __init__(self) -> None:
        self.received: int | None = None
        self.taken = self.over = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.received, self.taken = number, False
        raise self._watched(number)  # a variable here would keep the exception alive, by way of its traceback

    def _watched(self, number: int) -> Interrupted:
        stop = Interrupted(number)
        self._watch(weakref.ref(stop), number)
        return stop

    def _watch(self, stop: weakref.ref[Interrupted], number: int) -> None:
        timer = threading.Timer(AGAIN, self._look, (stop, number))
        timer.daemon = True
        timer.start()

    def _look(self, stop: weakref.ref[Interrupted], number: int) -> None:
        if self.over or self.taken:
            return
        if stop() is not None:  # on its way, or somebody saves something
            self._watch(stop, number)
        else:
            signal.raise_signal(number)


def take_interrupt() -> None:
    """Say, in a handler of `KeyboardInterrupt` that does not raise it again, that it was not lost: the work returns what it has."""
    handler = _caught_already()
    if handler is not None:
        handler.taken = True


def _caught_already() -> CaughtSignals | None:
    """The handler of the program's signals, if there is one; a signal that is ignored, as by `nohup`, has another."""
    handlers = map(signal.getsignal, SIGNALS)
    return next((handler for handler in handlers if isinstance(handler, CaughtSignals)), None)


@contextmanager
def catch_signals(*, at_once_afterwards: bool = False) -> Iterator[CaughtSignals]:
    """Signals raise `Interrupted` in the main thread meanwhile. One that is ignored, as `nohup` does, stays ignored.

    Args:
        at_once_afterwards: whether a signal that comes later ends the process without a word, since its work is done;
            otherwise the handlers of before are put back.
    """
    caught = CaughtSignals()
    if threading.current_thread() is not threading.main_thread():
        yield caught
        return
    if (there := _caught_already()) is not None:  # the program asked for it already
        yield there
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    hook = sys.unraisablehook
    for number, handler in before.items():
        if handler != signal.SIG_IGN:
            signal.signal(number, caught)

    def report(lost: Any) -> None:
        if not isinstance(lost.exc_value, KeyboardInterrupt):  # which comes again
            hook(lost)

    sys.unraisablehook = report
    try:
        yield caught
    finally:
        caught.over = True
        sys.unraisablehook = hook
        for number, handler in before.items():
            caught_here = handler != signal.SIG_IGN
            signal.signal(number, signal.SIG_DFL if at_once_afterwards and caught_here else handler)


@contextmanager
def ignore_signals() -> Iterator[None]:
    """Signals do nothing meanwhile: for the line that says why the program ends."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    main = threading.current_thread() is threading.main_thread()
    for number in before if main else ():
        signal.signal(number, signal.SIG_IGN)
    try:
        yield
    finally:
        for number, handler in before.items() if main else ():
            signal.signal(number, handler)


class HeldSignals:
    """The signals that arrived while they were held back.

    Attributes:
        arrived: their numbers.
    """

    def __init__(self, insistent: bool) -> None:
        self.arrived: list[int] = []
        self._insistent = insistent
        self._handlers: dict[int, Any] = {}

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self._insistent and number == signal.SIGINT and number in self.arrived:
            self.arrived.clear()
            self._handlers[number](number, frame)
        else:
            self.arrived.append(number)

    def hold(self) -> None:
        """Take the place of the handlers that are functions; one by the system, which ends the process, stays."""
        for number in SIGNALS:
            handler = signal.getsignal(number)
            if callable(handler):
                self._handlers[number] = handler
                signal.signal(number, self)

    def release(self) -> None:
        """Put the handlers back, and let them meet the last signal that arrived."""
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        if self.arrived:
            signal.raise_signal(self.arrived[-1])


@contextmanager
def hold_interrupts(*, insistent: bool = False) -> Iterator[HeldSignals]:
    """Signals that arrive meanwhile are raised afterwards, so that what stands below `with` is done whole.

    In threads other than the main one, which no signal interrupts, nothing has to be held back.

    Args:
        insistent: whether a second Ctrl-C interrupts at once, for work that can take long.
    """
    held = HeldSignals(insistent)
    if threading.current_thread() is not threading.main_thread():
        yield held
        return
    try:
        held.hold()
        yield held
    finally:
        held.release()


def received_signal() -> int | None:
    """The number of the signal that the program has received, which some work took for its end; None for none."""
    handler = _caught_already()
    return None if handler is None else handler.received
