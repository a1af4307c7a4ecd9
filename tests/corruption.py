"""Single-leaf corruptions of a certificate, drawn over every leaf but the labels."""

from __future__ import annotations

import copy
import random
from typing import Any


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths of all leaves; empty lists and objects count as leaves."""
    if isinstance(value, dict) and value:
        items = list(value.items())
    elif isinstance(value, list) and value:
        items = list(enumerate(value))
    else:
        return [path]
    return [leaf for key, item in items if (*path, key) != ("labels",) for leaf in leaves(item, (*path, key))]


def replaced(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A deep copy with one leaf changed."""
    result = copy.deepcopy(document)
    target = result
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    return result


def value_at(document: Any, path: tuple[Any, ...]) -> Any:
    """The leaf at a path."""
    for key in path:
        document = document[key]
    return document


def corrupted(leaf: Any, draw: random.Random) -> Any:
    """Another value for a leaf: near, negated, of another type, or absurd."""
    choices: list[Any] = [None, True, "x", [], {}, -1, 0, 1, 2, 10**30, "1/2", [0, 1], 1.5]
    if isinstance(leaf, int) and not isinstance(leaf, bool):
        choices += [leaf + 1, leaf - 1, -leaf, 2 * leaf, str(leaf), float(leaf), [leaf], f"{leaf}/1"] * 2
    if isinstance(leaf, str):
        choices += [leaf + "0", " " + leaf, leaf[1:], leaf.upper(), "-" + leaf]
    if leaf in (0, 1):
        choices += [bool(leaf)]
    different = [c for c in choices if type(c) is not type(leaf) or c != leaf]
    return draw.choice(different)
