"""The errors that a user can fix: each is one line that names the input, the place in it and the fix.

A file of its own, since every other file raises them, those of this package included.
"""

from __future__ import annotations


class MirrormataError(Exception):
    """Base class of all errors that the package raises; the command line prints the one-line message and exits with status 2.

    Args:
        message: one line. A line break in it, which can only be that of a file's name or a label, is shown as `\\n`.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(message.replace("\r", "\\r").replace("\n", "\\n"))


class InputError(MirrormataError, ValueError):
    """The input is wrong; the message names the input, the place in it and the fix."""


class LimitError(MirrormataError):
    """A computation stopped at an explicit limit; the message names the figure reached and the argument that raises the limit."""


class NotRealisableError(MirrormataError):
    """No construction of the requested kind is known for this automaton; the message gives a witness."""


class DisagreementError(MirrormataError):
    """Two programs that must agree do not, so there is no verdict; the message gives the word on which they differ."""


class MissingExtraError(MirrormataError, ImportError):
    """A package is needed that only an extra installs; the message says what needs it and how to install it.

    Args:
        message: one line.
        extra: the name of the extra, such as `models`.
    """

    def __init__(self, message: str = "", extra: str = "") -> None:
        super().__init__(message)
        self.extra = extra


class MirrormataWarning(UserWarning):
    """The computation continues, but not as requested; the command line prints the warning as one line."""
