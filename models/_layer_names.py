"""Layers of users by the names of their classes, `package.module:Class`, and which of them may be imported.

A name that stands in a file never makes Python load a module: whoever wrote the file would run code of theirs here. A module is loaded
only if the user named the class (`name_layer`, the command line's option `layer`, or the environment variable `MIRRORMATA_LAYERS`), or if it was installed as
an entry point of the group `mirrormata.layers`. A module that a program has imported itself is taken as it is.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from importlib.metadata import entry_points
from typing import Any

from ..foundation._arguments import show_error
from ..foundation._errors import InputError

GROUP = "mirrormata.layers"
"""The group of entry points under which a package installs its layers."""
VARIABLE = "MIRRORMATA_LAYERS"
"""The environment variable with the classes that may be imported, separated by commas."""
_FORM = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")
_named: set[str] = set()
"""What was named in this process. It only grows, since a module that is loaded stays loaded."""


def is_layer_name(name: str) -> bool:
    """Whether a family's name has the form of a class, `package.module:Class`.

    Args:
        name: the name of a family.
    """
    return ":" in name


def name_layer(name: str) -> None:
    """Allow the class of a layer to be imported by its name.

    Args:
        name: `package.module:Class`; the module is looked for in the current folder first.

    Raises:
        InputError: the name has another form.
    """
    require_form(name)
    _named.add(name)


def require_form(name: str) -> None:
    """`InputError` for what is not `package.module:Class`.

    Args:
        name: what was given.
    """
    if not _FORM.fullmatch(name):
        raise InputError(f"layer {name!r}: write package.module:Class, such as rotation:Rotation")


def installed_layers() -> dict[str, str]:
    """The layers of installed packages: `package.module:Class` by the name of each entry point of the group `mirrormata.layers`."""
    return {entry.name: entry.value.replace(" ", "") for entry in entry_points(group=GROUP)}


def find_class(name: str) -> Any:
    """The object that a name `package.module:Class` stands for, which need not be a layer.

    Args:
        name: the name.

    Raises:
        InputError: the name has another form, its module may not be loaded or cannot be, or has no such class.
    """
    require_form(name)
    module_name, _, attribute = name.partition(":")
    module = sys.modules.get(module_name)
    if module is None:
        given = {part.strip() for part in os.environ.get(VARIABLE, "").split(",")}
        if name not in _named | given | set(installed_layers().values()):
            raise InputError(
                f"family {name!r}: a name in a file loads no code. If you trust {module_name}, name the class yourself with "
                f"`layer` {name}; in Python, import {module_name} first"
            )
        module = _load(module_name, name)
    found = getattr(module, attribute, None)
    if found is None:
        raise InputError(
            f"family {name!r}: {module_name} ({getattr(module, '__file__', None)}) has no {attribute}"
        )
    return found


def _load(module_name: str, name: str) -> Any:
    """A module from the current folder or from where Python finds its packages."""
    here = os.getcwd()
    if here not in sys.path:  # the installed command, unlike `python -m`, does not look there
        sys.path.insert(0, here)
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        missing = error.name or module_name
        where = (
            f"there is no module {missing} in {here} or among the installed packages"
            if module_name.startswith(missing)
            else f"it imports {missing}, which is not installed"
        )
        raise InputError(f"family {name!r}: {where}") from error
    except Exception as error:
        raise InputError(
            f"family {name!r}: {module_name} cannot be imported: {show_error(error)}{place_of(error)}"
        ) from error


def place_of(error: BaseException) -> str:
    """Where an exception of somebody else's code was raised: `, at rotation.py line 7`; empty where that is not known.

    Args:
        error: the exception.
    """
    if isinstance(error, SyntaxError) and error.filename is not None:
        return f", at {os.path.basename(error.filename)} line {error.lineno}"
    trace = error.__traceback__
    place = ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        # the innermost line that is not of a library
        if "site-packages" not in file and "importlib" not in file and not file.startswith(_OWN):
            place = f", at {os.path.basename(file)} line {trace.tb_lineno}"
        trace = trace.tb_next
    return place


_OWN = os.path.dirname(os.path.abspath(__file__))
