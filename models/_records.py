"""Plain values from a file or from options as a typed record; what does not fit is one line with the entry and the fix."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from difflib import get_close_matches
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from ..foundation._errors import InputError

T = TypeVar("T")
_NAMES = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false without quotes",
    "str": "a text in quotes",
    "array": "a list",
    "object": "a section of entries",
    "null": "nothing at all",
}
_PLACE = re.compile(r"(?P<said>.*?)(?: - at `\$(?P<place>.*)`)?", re.DOTALL)
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")


def record_of(data: Any, kind: type[T], name: str) -> T:
    """`data`, as JSON or TOML has it, as a `kind`; nothing is converted, so `"3"` and `true` are no numbers.

    `name`: of the file or of the section. `InputError`, one line: the entry by its path, what was found there and what is
    needed; for an unknown entry those that there are.
    """
    try:
        return msgspec.convert(data, kind, strict=True)
    except msgspec.ValidationError as error:
        if isinstance(error.__cause__, InputError):  # what a record found wrong with itself
            text = str(error.__cause__)
            raise InputError(text if text.startswith(f"{name}: ") else f"{name}: {text}") from None
        raise InputError(f"{name}: {_in_words(str(error), data, kind)}") from None


def without_format(data: Any, format_: str, name: str) -> Any:
    """A file's object without its entry `format`, which says by whom and how it was written.

    The rule for older files: one without the entry is from a version that wrote none, and is read as `format_`, since what
    it holds has not changed; one with another is refused, not guessed at.

    Args:
        data: what the file holds.
        format_: the one that is written today, as `mirrormata-result/1`.
        name: of the file, for errors.

    Returns:
        A copy without the entry; `data` itself where it is no object.

    Raises:
        InputError: the file says that it has another format.
    """
    if not isinstance(data, dict) or "format" not in data:
        return data
    if data["format"] != format_:
        raise InputError(
            f"{name}: its format is {data['format']!r}, and {format_!r} is read here; read it with the version that wrote it"
        )
    return {key: value for key, value in data.items() if key != "format"}


def set_entry(data: dict[str, Any], entry: str, value: Any) -> None:
    """Set an entry of plain values by its path, such as `train.steps` or `model.options.size`; sections that are missing are made.

    Args:
        data: the sections, which change; where a path leads into something else than a section, they stay as they are, for the reader to refuse.
        entry: sections and name, separated by dots.
        value: the value.
    """
    *sections, name = entry.split(".")
    here: Any = data
    for section in sections:
        here = here.setdefault(section, {}) if isinstance(here, dict) else None
    if isinstance(here, dict):
        here[name] = value


def field_problems(record: msgspec.Struct) -> Iterator[str]:
    """What is wrong with a record's values by the types of its entries, each in words.

    For `__post_init__`: msgspec looks at the types of what it reads, and at nothing that a call in Python gives.
    """
    for entry in msgspec.structs.fields(type(record)):
        data = {entry.name: getattr(record, entry.name)}
        try:
            msgspec.convert(data[entry.name], entry.type, strict=True)
        except msgspec.ValidationError as error:
            said, _, below = str(error).partition(" - at `$")
            yield _in_words(f"{said} - at `$.{entry.name}{below or '`'}", data, type(record))


def _in_words(text: str, data: Any, kind: Any) -> str:
    match = _PLACE.fullmatch(text)
    said, path = (match["said"], match["place"] or "") if match else (text, "")
    steps = [m[1] if m[1] is not None else m[2] for m in _STEP.finditer(path)]
    place, value, here = path.removeprefix("."), data, kind
    for step in steps:
        value, here = _below(value, step), _field(here, step)
    shown = "" if value is _NOWHERE else f" is {value!r}"
    of = f"{place}." if place else ""
    if unknown := re.fullmatch(r"Object contains unknown field `(.*)`", said):
        known = _entries(here)
        near = get_close_matches(unknown[1], known, 1)
        hint = (
            f"; did you mean {near[0]!r}?" if near else f"; entries are {', '.join(known)}" if known else ""
        )
        return f"{of}{unknown[1]} is no entry{hint}"
    if missing := re.fullmatch(r"Object missing required field `(.*)`", said):
        return f"{of}{missing[1]} is missing; add it"
    if said.startswith("Invalid enum value"):
        choices = [repr(x) for x in _choices(here)]
        return f"{place}{shown}; choose {' or '.join(choices)}" if choices else f"{place}{shown}: {said}"
    if length := re.fullmatch(r"Expected `array` of length (\d+), got \d+", said):
        return f"{place}{shown}; a list of {length[1]} is needed"
    if wrong := re.fullmatch(r"Expected `([^`]*)`(?:, got `.*`| [<>]=? .*)", said):
        needed = " or ".join(_NAMES.get(part, part) for part in wrong[1].split(" | "))
        return f"{place or 'it'}{shown}; {needed}{_limits_in_words(here)} is needed"
    return f"{place}{shown}: {said}" if place else said


class _Nowhere:
    """Stands for a value where a path leads nowhere."""


_NOWHERE = _Nowhere()


def _below(value: Any, step: str) -> Any:
    if isinstance(value, dict):
        return value.get(step, _NOWHERE)
    if isinstance(value, list | tuple) and step.isdigit() and int(step) < len(value):
        return value[int(step)]
    return _NOWHERE


def _field(kind: Any, step: str) -> Any:
    """The type of an entry or of a list's items, with its limits; None where it is not known."""
    for part in (kind, *get_args(kind)):
        if isinstance(part, type) and (is_dataclass(part) or issubclass(part, msgspec.Struct)):
            return get_type_hints(part, include_extras=True).get(step)
    items = get_args(kind)
    return items[0] if len(items) == 2 and items[1] is Ellipsis else None


def _limits_in_words(kind: Any) -> str:
    """` from 1 to 9`, ` from 0`, ` below 9`: the limits of an annotated number; nothing where there are none."""
    metas = [part for part in get_args(kind) if isinstance(part, msgspec.Meta)]
    if not metas:
        return ""
    (meta, *_) = metas
    words = (
        ("from", meta.ge),
        ("above", meta.gt),
        ("to" if meta.ge is not None else "up to", meta.le),
        ("below", meta.lt),
    )
    return "".join(f" {word} {limit}" for word, limit in words if limit is not None)


def _entries(kind: Any) -> list[str]:
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return list(kind.__struct_fields__)
    return [f.name for f in dataclass_fields(kind)] if is_dataclass(kind) else []


def _choices(kind: Any) -> list[Any]:
    if get_origin(kind) is Literal:
        return list(get_args(kind))
    return [x for part in get_args(kind) for x in _choices(part)]
