"""A certificate as a document: its JSON text, written whole, and read back with errors that name the file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, TypeGuard

from ..foundation._errors import InputError
from ..foundation._files import is_file, parse_json, read_text, write_text

FORMAT = "mirrormata-certificate/1"


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

    def plain(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: plain(entry) for key, entry in value.items()}
        return [plain(entry) for entry in value] if isinstance(value, list | tuple) else value

    return {key: plain(entry) for key, entry in document.items()}


def certificate_text(document: Mapping[str, Any]) -> str:
    """JSON with short lists on one line each."""
    return _layout(document, 0) + "\n"


def _layout(value: Any, depth: int) -> str:
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) <= 100 or not isinstance(value, dict | list):
        return flat
    inner, outer = "  " * (depth + 1), "  " * depth
    if isinstance(value, dict):
        items = [f"{json.dumps(k)}: {_layout(v, depth + 1)}" for k, v in value.items()]
        return "{\n" + inner + f",\n{inner}".join(items) + f"\n{outer}}}"
    if all(not isinstance(v, dict | list) for v in value):
        return flat
    return "[\n" + inner + f",\n{inner}".join(_layout(v, depth + 1) for v in value) + f"\n{outer}]"


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
    if Path(path).suffix != ".json" or not is_file(path):
        return None
    document = parse_json(read_text(path), str(path))
    return dict(document) if is_certificate(document) else None


def is_certificate(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Has it the format of a certificate? Nothing is proved by this."""
    return isinstance(value, Mapping) and value.get("format") == FORMAT
