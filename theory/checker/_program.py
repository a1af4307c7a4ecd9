"""A checker as a program: the file is read as strict JSON, and the verdict is one line and the exit status."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable
from typing import Any

from ._exact import Invalid, need, show_value


def load(path: str) -> Any:
    """The JSON in a file; see `parse`."""
    with open(path, encoding="utf-8") as file:
        return parse(file.read())


def parse(text: str) -> Any:
    """JSON without floats, duplicate keys or special constants."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(items)
        need(len(result) == len(items), "a key occurs twice in one object")
        return result

    def refuse(constant: str) -> Any:
        raise Invalid(f"{show_value(constant)} is not an exact number")

    try:
        return json.loads(text, object_pairs_hook=pairs, parse_float=refuse, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"not JSON: {error}") from None


def run_alone(check: Callable[[Any], str], arguments: list[str]) -> int:
    """The command line of a checker: prints `valid: ...` or `invalid: ...`; status 0, 1, or 2 for wrong usage."""
    if len(arguments) != 1:
        print("usage: python3 -I CHECKER CERTIFICATE", file=sys.stderr)
        return 2
    gc.disable()  # searches for circles among objects take a third of the time, and there are hardly any
    try:
        print(f"valid: {check(load(arguments[0]))}")
    except (OSError, UnicodeDecodeError) as error:
        print(f"{arguments[0]}: cannot be read: {error}", file=sys.stderr)
        return 2
    except Invalid as reason:
        print(f"invalid: {reason}")
        return 1
    finally:
        gc.enable()
    return 0
