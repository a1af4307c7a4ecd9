"""What a public function demands of an argument: the right value is returned, a wrong one raises one line that names the argument.

Every public entry asks these functions first, so that no argument of a wrong type is accepted by chance or fails far from where
it was given. `show_value` is how errors show what was given, whatever its `repr` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from operator import index
from os import PathLike, fspath
from typing import Any, TypeVar

from ._errors import InputError
from ._text import printable

T = TypeVar("T")
SHOWN = 40
"""Characters of a value in an error."""


def show_value(value: object) -> str:
    """A value as errors show it: its `repr`, cut to 40 characters on one line; its type where that cannot be made.

    Args:
        value: anything.
    """
    try:
        text = repr(value)
    except Exception:
        return f"of the type {type(value).__name__}"
    return printable(text[:SHOWN]).replace("\n", "\\n").replace("\t", "\\t")


def show_typed(value: object) -> str:
    """A value with its type: `5 is of the type int`.

    Args:
        value: anything.
    """
    shown = show_value(value)
    return (
        f"is {shown}" if shown.startswith("of the type") else f"{shown} is of the type {type(value).__name__}"
    )


def show_error(error: BaseException) -> str:
    """An exception of somebody else's code, in one line: `ZeroDivisionError (division by zero)`.

    Args:
        error: the exception.
    """
    try:
        text = " ".join(printable(str(error)).split())
    except Exception:
        text = ""
    return f"{type(error).__name__} ({text[:160]})" if text else type(error).__name__


def require_count(name: str, value: Any, least: int = 0, most: int | None = None) -> int:
    """A whole number: an `int` or an integer of numpy, no bool.

    Args:
        name: the argument.
        value: what was given.
        least: the least that is right.
        most: the most that is right; None for no bound.

    Raises:
        InputError: it is no whole number, or out of range.
    """
    try:
        number = None if _is_bool(value) else index(value)
    except Exception:
        number = None
    if number is None or number < least or (most is not None and number > most):
        raise InputError(f"`{name}` {show_value(value)}: it must be {_range(least, most)}")
    return number


def require_optional_count(name: str, value: Any, least: int = 0, most: int | None = None) -> int | None:
    """As `require_count`, or None."""
    return None if value is None else require_count(name, value, least, most)


def _range(least: int, most: int | None) -> str:
    if most is not None:
        return f"a whole number from {least} to {most}"
    return "a positive whole number" if least == 1 else f"a whole number, {least} or more"


def _is_bool(value: object) -> bool:
    """One of Python's or of numpy's."""
    kind = type(value)
    return kind is bool or (kind.__module__ == "numpy" and kind.__name__ in ("bool", "bool_"))


def require_seconds(name: str, value: Any) -> float:
    """A time in seconds, 0 or more and finite.

    Args:
        name: the argument.
        value: what was given.

    Raises:
        InputError: it is no number, negative, infinite or nan.
    """
    return require_number(name, value, "a number of seconds, 0 or more")


def require_number(name: str, value: Any, wanted: str = "a number, 0 or more", least: float = 0.0) -> float:
    """A finite number that is not less than `least`; no bool, and no text.

    Args:
        name: the argument.
        value: what was given.
        wanted: what it must be, in words.
        least: the least that is right.

    Raises:
        InputError: it is something else.
    """
    try:
        wrong = _is_bool(value) or isinstance(value, str | bytes | bytearray)
        number = float("nan") if wrong else float(value)
    except Exception:
        number = float("nan")
    if not isfinite(number) or number < least:
        raise InputError(f"`{name}` {show_value(value)}: it is {wanted}")
    return number


def require_choice(name: str, value: Any, choices: Iterable[str]) -> str:
    """One of a few texts.

    Args:
        name: the argument.
        value: what was given.
        choices: the texts that are right.

    Raises:
        InputError: it is none of them.
    """
    texts = list(choices)
    if not isinstance(value, str) or value not in texts:
        shown = value if isinstance(value, str) and value.isidentifier() else show_value(value)
        raise InputError(f"`{name}` {shown}: it is {join_choices(texts)}")
    return value


def join_choices(texts: list[str]) -> str:
    """`any or integer`, `a, b or c`."""
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} or {texts[-1]}"


def require_text(name: str, value: Any, wanted: str = "a text") -> str:
    """A `str`.

    Args:
        name: the argument.
        value: what was given.
        wanted: what the text says, such as `a float format such as bf16`.

    Raises:
        InputError: it is no text.
    """
    if not isinstance(value, str):
        raise InputError(f"`{name}` {show_value(value)}: it is {wanted}")
    return value


def require_name(name: str, value: Any) -> str:
    """A text on one line, which stands in errors, tables and certificates.

    Args:
        name: the argument.
        value: what was given.

    Raises:
        InputError: it is no text, or has a line break.
    """
    if not isinstance(value, str) or len(value.splitlines()) > 1 or value[-1:].splitlines() == [""]:
        raise InputError(f"`{name}` {show_value(value)}: it is a text on one line")
    return value


def require_flag(name: str, value: Any) -> bool:
    """True or False, and nothing that is only taken for one.

    Args:
        name: the argument.
        value: what was given.

    Raises:
        InputError: it is something else.
    """
    if not _is_bool(value):
        raise InputError(f"`{name}` {show_value(value)}: it is True or False")
    return bool(value)


def require_path(name: str, value: Any, wanted: str = "the path of a file, a text") -> str:
    """The text of a path: a `str`, or a `PathLike` that stands for one.

    Args:
        name: the argument.
        value: what was given.
        wanted: what it is the path of.

    Raises:
        InputError: it is something else, or a `PathLike` that gives no text.
    """
    text: Any = None
    if isinstance(value, str):
        text = value
    elif isinstance(value, PathLike):
        try:
            text = fspath(value)
        except Exception as error:
            raise InputError(
                f"`{name}` of the type {type(value).__name__} gives no path ({type(error).__name__}): it is {wanted}"
            ) from error
    if not isinstance(text, str):
        raise InputError(f"`{name}` {show_value(value)}: it is {wanted}")
    return text


def require_callback(name: str, value: Any, wanted: str) -> Callable[..., Any] | None:
    """A function, or None.

    Args:
        name: the argument.
        value: what was given.
        wanted: with what it is called, such as `a function of the finished fraction`.

    Raises:
        InputError: it cannot be called.
    """
    if value is not None and not callable(value):
        raise InputError(f"`{name}` {show_value(value)}: it is {wanted}, or None")
    return value  # type: ignore[no-any-return]


def require_instance(name: str, value: Any, kind: type[T] | tuple[type[T], ...], wanted: str) -> T:
    """An object of one type.

    Args:
        name: the argument.
        value: what was given.
        kind: the type, or the types.
        wanted: what to give, such as `a realisation that construct returned`.

    Raises:
        InputError: it has another type.
    """
    if not isinstance(value, kind):
        raise InputError(f"`{name}` is of the type {type(value).__name__}: give {wanted}")
    return value


def require_mapping(name: str, value: Any, wanted: str) -> Mapping[Any, Any]:
    """A dict or another mapping.

    Args:
        name: the argument.
        value: what was given.
        wanted: what it must be, such as `a dict {state: output}`.

    Raises:
        InputError: it is no mapping.
    """
    if not isinstance(value, Mapping):
        raise InputError(f"`{name}` {show_value(value)}: it is {wanted}")
    return value


def require_list(name: str, value: Any, wanted: str, *, texts: bool = False) -> list[Any]:
    """The members of a collection: of a list, tuple, array or other iterable.

    Args:
        name: the argument.
        value: what was given.
        wanted: what it must be, such as `a list of letters`.
        texts: a text is taken too, as the list of its characters.

    Raises:
        InputError: it is a text, or cannot be walked through.
    """
    if isinstance(value, bytes | bytearray) or (isinstance(value, str) and not texts):
        raise InputError(f"`{name}` {show_value(value)}: it is {wanted}")
    try:
        return list(value)
    except Exception:
        raise InputError(f"`{name}` {show_value(value)}: it is {wanted}") from None


def has_attributes(value: object, *names: str) -> bool:
    """Has an object all these attributes? An attribute that cannot be read counts as none.

    Args:
        value: anything.
        names: of the attributes.
    """
    return all(read_attribute(value, name) is not None for name in names)


def read_attribute(value: object, name: str) -> Any:
    """An attribute, or None where there is none or reading it raises.

    Args:
        value: anything.
        name: of the attribute.
    """
    try:
        return getattr(value, name, None)
    except Exception:
        return None
