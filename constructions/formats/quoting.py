r"""Quoted names as DOT and mata write them: `\"` is a quote, every other backslash stays as it is."""

from __future__ import annotations

import re

from ..errors import InputError

_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+")


def unquote(body: str) -> str:
    r"""The name between two quotes: `\"` becomes `"`, a backslash before a line end joins the lines."""
    return _ESCAPE.sub(lambda m: {'"': '"', "\n": ""}.get(m[1], m[0]), body)


def quote(text: str, kind: str, name: str, reserved: frozenset[str] = frozenset()) -> str:
    r"""A name ready to be written, quoted where needed.

    `InputError` where no spelling exists: an odd run of backslashes before a quote, a line end or the end.
    """
    if _BARE.fullmatch(text) and text.lower() not in reserved:
        return text
    body = text.replace('"', '\\"')
    closing = re.compile(r'(?:[^"\\]|\\.)*', re.DOTALL)
    match = closing.match(body)
    if match is None or match.end() != len(body) or unquote(body) != text:
        raise InputError(
            f"{name}: {kind} {text!r} has a backslash where this format cannot hold one: rename it"
        )
    return f'"{body}"'
