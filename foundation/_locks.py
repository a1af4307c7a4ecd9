"""Locks of the operating system on open files: the system frees them when a process ends, however it ends."""

from __future__ import annotations

import errno
import os
from importlib import import_module
from typing import IO, Any

try:
    import fcntl
except ModuleNotFoundError:  # on Windows, whose locks are of bytes
    fcntl = None  # type: ignore[assignment]

LOCKED_BYTE = 2**30
"""The byte that is locked on Windows: beyond what such a file holds, since no other process can read a locked byte there."""
HELD = (errno.EACCES, errno.EAGAIN, errno.EDEADLK, getattr(errno, "EDEADLOCK", errno.EDEADLK))
"""How Windows says that another process has the lock."""


def lock_file(file: IO[Any], *, shared: bool = False) -> bool:
    """Lock an open file, without waiting; closing it frees the lock.

    Args:
        file: an open file.
        shared: whether other processes may lock it too, if they share it as well; on Windows no lock is shared.

    Returns:
        Whether this process has the lock now; False where another one holds it.

    Raises:
        OSError: the file system has no locks.
    """
    if fcntl is not None:
        try:
            fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
    msvcrt: Any = import_module("msvcrt")
    os.lseek(file.fileno(), LOCKED_BYTE, os.SEEK_SET)
    try:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    except OSError as error:
        if error.errno in HELD:
            return False
        raise
    return True
