"""A certificate as a document: its JSON text, written whole, and read back with errors that name the file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, TypeGuard

from ..foundation._errors import InputError
from ..foundation._files import is_file, parse_json, read_text, write_text

FORMAT = "mirrormata-certificate/1"
_BEGIN = re.compile(rb'\s*\{\s*"format"\s*:\s*"%s"' % FORMAT.encode())


class Certified(Protocol):
    """What has a certificate: a `Realisation`, which is defined above this file."""

    def certificate(self) -> dict[str, Any]: ...


def write_certificate(document: Mapping[str, Any] | Certified, path: str | PathLike[str]) -> None:
    """Write a certificate to a file, with one line for each letter, code and state, so that it can be read and compared.

    Args:
        document: the certificate as a JSON object, such as `full_certificate` returns; or a construction, whose
            `certificate()` is written.
        path: the file to write; it is written whole or not at all.

    Raises:
        InputError: `document` is neither, it does not have the format and a kind of a certificate, or the file cannot be
            written.
    """
    if not isinstance(document, Mapping) and callable(getattr(document, "certificate", None)):
        document = document.certificate()
    if not isinstance(document, Mapping):
        raise InputError(
            f"`document` is of the type {type(document).__name__}: give a certificate, such as `full_certificate` returns"
        )
    if not is_certificate(document) or not isinstance(document.get("kind"), str):
        raise InputError(
            f'`document` is no certificate (its "format" must be "{FORMAT}", and it has a "kind"): give one, such as '
            "`full_certificate` returns"
        )
    write_text(path, certificate_text(as_plain(document)))


def as_plain(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with a dictionary for each mapping and a list for each tuple in it, as JSON has them."""
    return {key: _plain(entry) for key, entry in document.items()}


_SCALARS = {int, str, bool, type(None)}


def _plain(value: Any) -> Any:
    if type(value) in _SCALARS:
        return value
    if isinstance(value, list | tuple):
        # most lists hold numbers alone
        return list(value) if _SCALARS.issuperset(map(type, value)) else [_plain(entry) for entry in value]
    return {key: _plain(entry) for key, entry in value.items()} if isinstance(value, Mapping) else value


def certificate_text(document: Mapping[str, Any]) -> str:
    """JSON with short lists on one line each."""
    return _layout(document, 0) + "\n"


LINE = 100
"""Characters up to which a list or an object is written on one line."""

_flat = json.JSONEncoder(ensure_ascii=False).encode


def _layout(value: Any, depth: int) -> str:
    """A value as text: lists without lists in them, and what fits, on one line; anything else an entry a line."""
    if not isinstance(value, dict | list):
        return _flat(value)
    # a text is made of what may fit alone, so that each part of a document is written once and not at each depth
    if _may_fit(value) and len(flat := _flat(value)) <= LINE:
        return flat
    inner, outer = "  " * (depth + 1), "  " * depth
    if isinstance(value, dict):
        items = [f"{_flat(k)}: {_layout(v, depth + 1)}" for k, v in value.items()]
        return "{\n" + inner + f",\n{inner}".join(items) + f"\n{outer}}}"
    if not any(isinstance(v, dict | list) for v in value):
        return _flat(value)
    if isinstance(value[0], list) and not any(isinstance(v, dict | list) for v in value[0]):
        flat = _flat(value)
        # no quotes and as many lists as entries, each behind another one: all entries are lists of numbers
        lists = flat.count("[") - 1
        if not ({'"', "{"} & set(flat)) and lists == len(value) == flat.count("], [") + 1:
            return "[\n" + inner + flat[1:-1].replace("], [", f"],\n{inner}[") + f"\n{outer}]"
    return "[\n" + inner + f",\n{inner}".join([_layout(v, depth + 1) for v in value]) + f"\n{outer}]"


def _may_fit(value: dict[str, Any] | list[Any]) -> bool:
    """False only where the text is longer than a line, which a look at a few entries tells."""
    # each part adds its entries, two characters for what stands between or around them, and one for each scalar
    length, waiting = 0, [value]
    while waiting:
        part = waiting.pop()
        length += 2 * len(part)
        if length > LINE:
            return False
        nested = [
            v for v in (part.values() if isinstance(part, dict) else part) if isinstance(v, dict | list)
        ]
        length += len(part) - len(nested)
        waiting += nested
    return length <= LINE


def read_document(path: str | Path) -> dict[str, Any]:
    """Read the JSON object in a certificate file. This does not check the certificate.

    Args:
        path: the certificate, a `.json` file.

    Raises:
        InputError: the file is not a certificate of this package.
    """
    if Path(path).suffix == ".safetensors" and is_file(path):
        raise InputError(f"{path}: weights alone; give the folder that they lie in, with its config.json")
    text = read_text(path)
    try:
        document = parse_json(text, str(path))
    except InputError as error:
        raise InputError(f"{error}; a certificate is made by `construct`") from None
    if not is_certificate(document):
        raise InputError(f'{path}: not a mirrormata certificate (its "format" must be "{FORMAT}")')
    return dict(document)


def find_document(path: str | Path) -> dict[str, Any] | None:
    """The certificate that a path leads to. None where it leads elsewhere: to an automaton's `.json`, to no file.

    Args:
        path: a path, or any other text, such as a SPEC.

    Raises:
        InputError: a `.json` file that cannot be read, or holds no JSON.
    """
    if not is_file(path) or not (Path(path).suffix == ".json" or begins_as_certificate(path)):
        return None
    document = parse_json(read_text(path), str(path))
    return dict(document) if is_certificate(document) else None


def begins_as_certificate(path: str | Path) -> bool:
    """Whether a file, whatever its name, begins as certificates do that this package writes."""
    try:
        with open(path, "rb") as file:
            return _BEGIN.match(file.read(200)) is not None
    except OSError:  # who reads the whole says why it cannot be read
        return False


def is_certificate(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Has it the format of a certificate? Nothing is proved by this."""
    return isinstance(value, Mapping) and value.get("format") == FORMAT
