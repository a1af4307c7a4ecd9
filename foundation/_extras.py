"""Packages that only an extra installs: which one, and the error where it is missing.

`pip install mirrormata` installs what most of the package needs. What needs more imports it below `with needed_by(...)`, at the
point of use, and the packages' names are attached with `attach_names`: one line then says what needs which package, and how to
install it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any

import lazy_loader

from ._errors import MissingExtraError

EXTRAS = MappingProxyType({
    "aalpy": "aalpy",
    "accelerate": "train",
    "automata": "interop",
    "fla": "fla",
    "jinja2": "report",
    "markupsafe": "report",
    "networkx": "interop",
    "plotly": "report",
    "ray": "ray",
    "submitit": "slurm",
    "tensorboard": "tensorboard",
    "tokenizers": "tokens",
    "torch": "models",
    "triton": "models",
    "wandb": "wandb",
    "xlstm": "xlstm",
})  # fmt: skip
"""The extra that installs each package, by the name under which it is imported."""


@contextmanager
def needed_by(what: str) -> Iterator[None]:
    """Say in one line what lacks which package, where an import in what stands below `with` finds none of its extra.

    Args:
        what: what needs the package, at the beginning of a sentence: `prove` in backquotes, or "a report".

    Raises:
        MissingExtraError: a package of an extra is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS or (error.name != package and is_installed(package)):
            raise  # a module is missing in an installed package, or in ours
        raise missing_extra(what, package) from None


def is_installed(package: str) -> bool:
    """Whether a package is there to be imported; it is not loaded."""
    return sys.modules.get(package) is not None or find_spec(package) is not None


def missing_extra(what: str, package: str) -> MissingExtraError:
    """The error that says what lacks a package.

    Args:
        what: see `needed_by`.
        package: a key of `EXTRAS`.
    """
    extra = EXTRAS[package]
    return MissingExtraError(
        f"{what} needs {package}, which is not installed: pip install 'mirrormata[{extra}]'", extra
    )


def attach_names(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package: the names that its stub file lists, each loaded on first use.

    A name that lacks a package of an extra raises `MissingExtraError`, also in `from mirrormata import train`. `__all__`, which
    `from mirrormata import *` asks for, has the names that can be loaded here; `dir` has all.

    Args:
        package: the package's `__name__`.
        file: its `__file__`, beside which the stub file lies.
    """
    load, names, all_names = lazy_loader.attach_stub(package, file)

    def load_name(name: str) -> Any:
        if name == "__all__":
            return [x for x in all_names if _can_be_loaded(load_name, x)]
        with needed_by(f"`{package}.{name}`"):
            return load(name)

    return load_name, names


def _can_be_loaded(load_name: Callable[[str], Any], name: str) -> bool:
    try:
        load_name(name)
    except MissingExtraError:
        return False
    return True
