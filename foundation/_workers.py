"""Processes that work for this one: Ctrl-C is this one's alone, and they end with the work for which they were started."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context, resource_tracker
from typing import Any, TypeVar

T = TypeVar("T")


class Workers:
    """Worker processes, started by the first calls.

    Args:
        pool: theirs.
    """

    def __init__(self, pool: ProcessPoolExecutor) -> None:
        self._pool = pool
        self._others = active_children()

    def submit(self, function: Callable[..., T], *arguments: Any) -> Future[T]:
        """Have a worker call a function.

        Args:
            function: of a module.
            arguments: its arguments, which can be pickled.
        """
        with without_ctrl_c():
            return self._pool.submit(function, *arguments)

    def end(self) -> None:
        """End all workers at once, wherever they are."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in active_children():
            if process not in self._others:
                process.terminate()


@contextmanager
def worker_processes(count: int) -> Iterator[Workers]:
    """So many worker processes; an exception of what stands below `with` ends them at once.

    Args:
        count: how many, at least 1.
    """
    with ProcessPoolExecutor(count, get_context("spawn"), initializer=_ignore_ctrl_c) as pool:
        workers = Workers(pool)
        try:
            yield workers
        except BaseException:  # the user's interrupt
            workers.end()
            raise


def _ignore_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def without_ctrl_c() -> Iterator[None]:
    """Processes that are started meanwhile never meet Ctrl-C, not even before they run code of this package."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # a process that Python starts before the first worker; starting it lets Ctrl-C through again
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
