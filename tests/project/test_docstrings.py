"""Every parameter of what the five packages export is documented, in Google style.

Of a function or a public method the `Args` of its docstring name each parameter; of a class's `__init__` also those of the
class; of a dataclass the `Args` or `Attributes` of the class name each field that the constructor takes.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any, Protocol, cast, runtime_checkable

import pytest

PACKAGES = (
    "mirrormata",
    *(f"mirrormata.{room}" for room in ("constructions", "theory", "kernels", "models")),
)
SECTION = re.compile(r"^(\w+):$")
ENTRY = re.compile(r"^    (\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: \([^)]*\))?: \S")


def documented(docstring: str | None, *sections: str) -> set[str]:
    """The names that the sections of a docstring describe, such as `a` and `b` in `a, b: two numbers.`."""
    names: set[str] = set()
    section = ""
    for line in inspect.cleandoc(docstring or "").split("\n"):
        if line and not line.startswith(" "):
            heading = SECTION.match(line)
            section = heading.group(1) if heading else ""
        elif section in sections and (entry := ENTRY.match(line)):
            names |= {name.strip().lstrip("*") for name in entry.group(1).split(",")}
    return names


def parameters(function: Callable[..., Any]) -> list[str]:
    """The names of a function's parameters, its object or class left out."""
    return [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]


def methods(owner: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public methods that a class defines itself, and the `__init__` that it writes out.

    A field whose default is a function is a field, and a protocol is never made.
    """
    fields = vars(owner).get("__dataclass_fields__", {})
    for name, value in vars(owner).items():
        if name in fields or (name == "__init__" and getattr(owner, "_is_protocol", False)):
            continue
        function = inspect.unwrap(value.__func__ if isinstance(value, classmethod | staticmethod) else value)
        written = inspect.isfunction(function) and function.__module__ == owner.__module__
        generated = name == "__init__" and dataclasses.is_dataclass(owner)
        if written and not generated and (name == "__init__" or not name.startswith("_")):
            yield name, function


def undocumented(exported: str, thing: Any) -> Iterator[str]:
    """`name(parameter)` for all that the docstrings of a function or class leave out."""
    if not inspect.isclass(thing):
        if inspect.isroutine(thing):
            have = documented(thing.__doc__, "Args")
            yield from (f"{exported}({name})" for name in parameters(thing) if name not in have)
        return
    of_class = documented(thing.__doc__, "Args", "Attributes")
    if "__dataclass_fields__" in vars(thing):
        taken = [field.name for field in dataclasses.fields(cast(Any, thing)) if field.init]
        yield from (
            f"{exported}.{name}" for name in taken if not name.startswith("_") and name not in of_class
        )
    for method, function in methods(thing):
        have = documented(function.__doc__, "Args") | (of_class if method == "__init__" else set())
        yield from (f"{exported}.{method}({name})" for name in parameters(function) if name not in have)


def exports(package: str) -> Iterator[tuple[str, Any]]:
    """The public names of a package that are its own, with what they stand for."""
    module = importlib.import_module(package)
    for name in module.__all__:
        thing = getattr(module, name)
        if not name.startswith("__") and str(getattr(thing, "__module__", "")).startswith("mirrormata"):
            yield name, thing


@pytest.mark.parametrize("package", PACKAGES)
def test_every_parameter_is_documented(package: str) -> None:
    assert [gap for name, thing in exports(package) for gap in undocumented(name, thing)] == []


def test_the_rule_notices_what_is_left_out() -> None:
    def function(x: int, y: int, *rest: int) -> None:
        """Takes three.

        Args:
            x: a number; the
                y: of this line is no entry.
            *rest: more numbers.

        Returns:
            z: no parameter.
        """

    class Class:
        """Has a method and a class method.

        Args:
            size: its size.
        """

        def __init__(self, size: int, name: str) -> None: ...

        def method(self, letter: str) -> None:
            """Uses `letter`."""

        @classmethod
        def make(cls, size: int) -> None:
            """Makes one."""

        def _hidden(self, anything: int) -> None: ...

    @dataclasses.dataclass
    class Record:
        """Has two fields.

        Attributes:
            first, second: numbers.
        """

        first: int
        second: int
        third: int = 3
        computed: int = dataclasses.field(init=False, default=4)

    @runtime_checkable
    class Form(Protocol):
        """A protocol has no `__init__` of its own."""

        def step(self, letter: int) -> int: ...

    assert list(undocumented("f", function)) == ["f(y)"]
    gaps = ["C.__init__(name)", "C.method(letter)", "C.make(size)"]
    assert list(undocumented("C", Class)) == gaps
    assert list(undocumented("R", Record)) == ["R.third"]
    assert list(undocumented("F", cast(type, Form))) == ["F.step(letter)"]
