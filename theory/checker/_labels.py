"""The labels of a certificate: texts for people, which prove nothing, but whose numbers are checked.

A file of its own, apart from those on which a proof rests.
"""

from __future__ import annotations

from typing import Any

from ._exact import array, need, record, show_value


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
