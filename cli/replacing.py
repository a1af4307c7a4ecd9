"""The files that a command is to write: looked at before its work begins, so that no work is lost and no file of somebody else.

The rule: what this program wrote is replaced without a question, any other file only with `--force`. An empty file is
nobody's, and a picture may take the place of a picture of its kind; see `is_own_file`.
"""

from __future__ import annotations

import errno
import os
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer

from ..foundation._errors import InputError
from ..foundation._files import is_own_file, path_of, shown_path, system_errors
from .options import option_beside

OUTPUTS = frozenset({"output", "picture", "draw", "write", "graph", "bounds"})
"""The options, by their names in Python, whose value is a file to write."""
FOLDERS = frozenset({"FOLDER", "DIR"})
"""What stands for the value of an option that names a folder, for which the commands have rules of their own."""
EITHER = "PATH"
"""What stands for a value that names a file if it has an extension, else a folder."""
FORCE = "force"


def written_files(command: Any) -> list[Any]:
    """The options of a command that name a file to write."""
    return [p for p in command.params if p.name in OUTPUTS and p.metavar not in FOLDERS]


@cache
def force_option() -> Any:
    """`--force`, the same for all commands that write files: an option of typer's, whose value is not passed to the command."""

    def holder(
        force: Annotated[
            bool,
            typer.Option(
                "--force",
                help="Replace an output file even if mirrormata did not write it; a picture is replaced by one of its kind without this.",
            ),
        ] = False,
    ) -> None:
        pass

    return option_beside(holder, lambda context, _, given: context.meta.__setitem__(FORCE, given))


def look_at_outputs(context: Any) -> None:
    """`InputError` where a file that the command is to write would replace a foreign one, or cannot be written.

    Args:
        context: of the command, with the values of its options.
    """
    for option in written_files(context.command):
        given = context.params.get(option.name)
        if given is None:
            continue
        file = path_of(given)
        if option.metavar == EITHER and not file.suffix:
            continue
        with system_errors(given, "cannot be written"):
            if os.path.isfile(file):
                if not context.meta.get(FORCE) and not is_own_file(file):
                    raise InputError(
                        f"{shown_path(given)}: is there already, and mirrormata did not write it: give another name, or --force "
                        "to replace it"
                    )
            elif not os.path.lexists(file):
                _refuse_unwritable(file.parent)


def _refuse_unwritable(folder: Path) -> None:
    """`OSError` where no file can be made in a folder, as far as can be told without making one."""
    # with a separator at its end, the system refuses a file in the place of a folder too
    os.stat(os.path.join(folder, ""))
    if not os.access(folder, os.W_OK | os.X_OK):
        read_only = bool(os.statvfs(folder).f_flag & os.ST_RDONLY) if hasattr(os, "statvfs") else False
        raise OSError(errno.EROFS, os.strerror(errno.EROFS)) if read_only else PermissionError
