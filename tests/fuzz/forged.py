"""Certificates with one entry changed: what the checker still accepts must be true by the oracle."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Iterator
from typing import Any

from mirrormata.tests.fuzz.draw import closure, rounded
from mirrormata.tests.oracle.certificate import read_equivalent
from mirrormata.tests.oracle.search import search
from mirrormata.theory._check import check

TOLD = re.compile(r"equivalence\.states: (?:there are more than|.* is not an integer from ([\d,]+) to \1)")
TRIES, MANY = 3, 1000


def leaves(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all numbers."""
    if isinstance(document, dict | list):
        keys = document if isinstance(document, dict) else range(len(document))
        for key in keys:
            yield from leaves(document[key], (*path, key))
    elif path[0] in ("model", "automaton"):
        yield path


def forge(draw: random.Random, certificate: Any) -> Any:
    """One number changed, or two exchanged; then the count and the greatest of the states are put right."""
    document = copy.deepcopy(certificate)
    paths = list(leaves(document))
    first, second = draw.choice(paths), draw.choice(paths)
    value, other = _at(document, first), _at(document, second)
    if first[:2] == second[:2] and draw.random() < 0.4:
        _put(document, first, other)
        _put(document, second, value)
    else:
        changes = [-1, 0, 1, 2, other if first[0] == second[0] else 1]
        if isinstance(value, int):
            changes += [value + 1, value - 1, -value, f"{2 * value + 1}/2"]
        _put(document, first, draw.choice(changes))
    return document


def _at(document: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        document = document[key]
    return document


def _put(document: Any, path: tuple[Any, ...], value: Any) -> None:
    _at(document, path[:-1])[path[-1]] = value


def forged_differences(draw: random.Random, certificate: Any, most: int) -> Iterator[str]:
    """A line where a forged certificate is valid and the oracle finds a wrong word."""
    document = forge(draw, certificate)
    result = check(document)
    for _ in range(TRIES):
        told = TOLD.match(result.reason)
        if told is not None:
            document["equivalence"]["states"] = int(told[1].replace(",", "")) if told[1] else MANY
        elif result.reason.startswith("equivalence.greatest"):
            layer, machine, arithmetic = read_equivalent(document)
            reached = closure(rounded(layer, arithmetic), len(machine.transitions), most)
            if reached is None:
                return
            flat = max([x for H in state for row in H for x in row] for state in reached[0])
            document["equivalence"]["greatest"] = [int(x) if x == int(x) else str(x) for x in flat]
        else:
            break
        result = check(document)
    if result.verdict == "valid":
        layer, machine, arithmetic = read_equivalent(document)
        found = search(rounded(layer, arithmetic), machine, most)
        if found.verdict == "counterexample":
            yield f"false certificate: valid, but wrong on {found.word}: {json.dumps(document)}"
