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
    kinds = 0
    for x in numbers:
        if type(x) is int and 0 <= x < kinds:
            continue
        kinds = integer(x, kinds, kinds, where) + 1
    return kinds
