"""The errors that a user can fix: each is one line that names the input, the place in it and the fix.

A file of its own, since every other file raises them, those of this package included.
"""

from __future__ import annotations


class MirrormataError(Exception):
    """Base of all errors raised on purpose; the command line prints its one line and exits with status 2."""


class InputError(MirrormataError, ValueError):
    """The input is wrong: `str(error)` names the input, the place in it and the fix."""


class LimitError(MirrormataError):
    """Work stopped at an explicit limit; the message has the figure reached and the option that raises it."""


class NotRealisableError(MirrormataError):
    """No construction of the requested kind exists for this automaton; the message has the witness."""


class DisagreementError(MirrormataError):
    """Two programs that must find the same do not, so no verdict is given; the message has the word on which they differ."""


class MirrormataWarning(UserWarning):
    """Something goes on, but not as wished; the command line prints it as one line."""
