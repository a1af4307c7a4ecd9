"""The kind of a certificate, and its labels: texts for people, which prove nothing, but whose numbers are checked.

A file of its own, apart from those on which a proof rests.
"""

from __future__ import annotations

import os
from typing import Any

from ._exact import Invalid, array, integer, need, record, show_value


def require_kind(document: Any, kind: str) -> None:
    """`Invalid` for what is no certificate of this kind; it says which kind it is, and which file beside this one checks it."""
    said = document.get("kind") if type(document) is dict else None
    if said is None:
        raise Invalid("no certificate: an object with a kind is needed")
    if said != kind:
        folder = os.path.dirname(os.path.abspath(__file__))
        known = type(said) is str and said.isalpha() and os.path.isfile(os.path.join(folder, f"{said}.py"))
        instead = f", which {said}.py checks" if known else ""
        raise Invalid(f"not a certificate of kind {kind}: its kind is {show_value(said)}{instead}")


def read_labels(data: Any, texts: set[str], lists: set[str]) -> dict[str, Any]:
    """The entry `labels`: texts, and lists of names in which no name occurs twice."""
    labels = record(data, texts | lists, "labels")
    for key in sorted(texts):
        need(type(labels[key]) is str, f"labels.{key}: not a string")
    for key in sorted(lists):
        names = array(labels[key], f"labels.{key}")
        need(all(type(name) is str for name in names), f"labels.{key}: not strings")
        seen: set[str] = set()
        for name in names:
            need(name not in seen, f"labels.{key}: {show_value(name)} is listed twice")
            seen.add(name)
    return labels


def canonical(numbers: list[Any], where: str) -> int:
    """How many kinds there are; `Invalid` unless they are numbered 0, 1, ... in the order of their first appearance."""
    need(set(map(type, numbers)) <= {int}, f"{where}: an entry is not an integer")
    # each number where it appears first
    first = list(dict.fromkeys(numbers))
    if first != list(range(len(first))):
        for kinds, x in enumerate(first):
            integer(x, kinds, kinds, where)
    return len(first)


def count_noun(number: int, noun: str) -> str:
    """`1 state`, `2,000 states`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def describe_drops(sizes: list[int], listed: int) -> str:
    """A line of what `check_drops` found."""
    levels = count_noun(len(sizes) - 1, "level")
    chains = f", {count_noun(listed, 'chain')} listed" if listed else ""  # none where every size falls by one
    return f"sizes {sizes[0]:,} to 1 in {levels}{chains}"


def describe_window(window: int, size: int, listed: int) -> str:
    """A line of what `check_window` found."""
    left = f"after {count_noun(window, 'letter')} at most {count_noun(size, 'state')}"
    return f"{left}, {count_noun(listed, 'image set')} listed"


def describe_cascade(layers: int, components: int, situations: int) -> str:
    """A line of what `check_covering` found."""
    parts = (count_noun(layers, "layer"), f"cascade of {count_noun(components, 'component')}")
    return f"{', '.join(parts)}, {count_noun(situations, 'situation')}"
