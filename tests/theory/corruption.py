"""Corruptions of a certificate: one leaf changed, drawn over every leaf but the labels; or its structure changed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

Path = tuple[Any, ...]
FACTOR = [1, [[0, 1], [1, -1]]]


def leaves(value: Any, path: Path = ()) -> list[Path]:
    """Paths of all leaves; empty lists and objects count as leaves."""
    if isinstance(value, dict) and value:
        items = list(value.items())
    elif isinstance(value, list) and value:
        items = list(enumerate(value))
    else:
        return [path]
    return [leaf for key, item in items if (*path, key) != ("labels",) for leaf in leaves(item, (*path, key))]


def replaced(document: Any, path: Path, value: Any) -> Any:
    """The document with another value at a path; what the path does not meet is shared."""
    if not path:
        return value
    result = document.copy()
    result[path[0]] = replaced(document[path[0]], path[1:], value)
    return result


def value_at(document: Any, path: Path) -> Any:
    """The value at a path."""
    for key in path:
        document = document[key]
    return document


def other_values(leaf: Any) -> list[Any]:
    """Other values for a leaf: near, negated, of another type, or absurd."""
    values: list[Any] = [None, True, "x", [], {}, -1, 0, 1, 2, 3, 10**9, 10**30, "1/2", "-1/2", "3/2", 1.5]
    values += [[0, 1], [1, 1], [0, -1], [0, "1/2"], ["1/2", "1/2"], [FACTOR], [[2, [[0, 1]]]]]
    if isinstance(leaf, int) and not isinstance(leaf, bool):
        values += [leaf + 1, leaf - 1, -leaf, 2 * leaf, str(leaf), float(leaf), [leaf], f"{leaf}/1"]
    if isinstance(leaf, str):
        values += [leaf + "0", " " + leaf, leaf[1:], leaf.upper(), "-" + leaf]
    if leaf in (0, 1):
        values += [bool(leaf)]
    return [value for value in values if type(value) is not type(leaf) or value != leaf]


def corrupted(leaf: Any, draw: random.Random) -> Any:
    """One of the other values; those near an integer more often than the absurd ones."""
    values = other_values(leaf)
    near = [v for v in values if type(v) is type(leaf) and type(v) is int and abs(v) < 10**9]
    return draw.choice(values + 3 * near)


def structural(document: Any, path: Path = ()) -> Iterator[tuple[str, Path, Any]]:
    """`(what, where, corrupted document)` for every object and list but the labels and lists of factors.

    Keys left out, added and renamed; list entries left out, repeated, and neighbours that differ exchanged.
    """
    value = value_at(document, path)
    if isinstance(value, dict):
        yield "a key more", path, replaced(document, path, {**value, "more": 0})
        for key in value:
            rest = {k: v for k, v in value.items() if k != key}
            yield f"no {key}", path, replaced(document, path, rest)
            yield f"{key} renamed", path, replaced(document, path, {**rest, key + "_": value[key]})
    if isinstance(value, list) and path[-1:] != ("factors",):
        for i, entry in enumerate(value):
            yield f"no entry {i}", path, replaced(document, path, value[:i] + value[i + 1 :])
            yield f"entry {i} twice", path, replaced(document, path, value[: i + 1] + value[i:])
            if i and value[i - 1] != entry:
                swapped = [*value[: i - 1], entry, value[i - 1], *value[i + 1 :]]
                yield f"entries {i - 1} and {i} exchanged", path, replaced(document, path, swapped)
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            if (*path, key) != ("labels",):
                yield from structural(document, (*path, key))
