"""Labels as text for the writers: the same text under every hash seed, and distinct labels stay distinct."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from ...foundation._errors import InputError
from ._automaton import Automaton, Label
from ._completing import type_and_value

OutputKind = Literal["acceptor", "mealy", "states", "moore"]


def label_text(label: Label) -> str:
    """Text of a label: a string is itself, sets are sorted, the rest is `str(label)`."""
    return label if isinstance(label, str) else _inner_text(label)


def _inner_text(label: Any) -> str:
    if isinstance(label, tuple):
        inside = ", ".join(_inner_text(item) for item in label)
        return f"({inside},)" if len(label) == 1 else f"({inside})"
    if isinstance(label, frozenset):
        return "{" + ", ".join(sorted(_inner_text(item) for item in label)) + "}"
    return repr(label) if isinstance(label, str) else str(label)


def sort_labels(labels: Iterable[Any]) -> list[Any]:
    """Labels of a set, whose order follows the hash seed, by the names of their types and their texts."""
    return sorted(labels, key=lambda label: (type(label).__name__, label_text(label)))


def distinct_texts(labels: Iterable[Label], kind: str, name: str) -> list[str]:
    """The texts of labels, or `InputError` where two have the same text or one is not valid Unicode."""
    texts: list[str] = []
    owner: dict[str, Label] = {}
    for label in labels:
        try:
            text = label_text(label)
            text.encode("utf-8")
        except (ValueError, RecursionError):
            raise InputError(f"{name}: a {kind} label cannot be written as text: rename it") from None
        if text in owner:
            raise InputError(
                f"{name}: the {kind}s {owner[text]!r} and {label!r} have the same text {text!r}: rename one of them"
            )
        owner[text] = label
        texts.append(text)
    return texts


def output_kind(automaton: Automaton) -> OutputKind:
    """What the outputs are: acceptance, Mealy outputs, each state its own output, or Moore outputs."""
    if automaton.is_mealy:
        return "mealy"
    if all(isinstance(v, bool | np.bool_) for v in automaton.outputs):
        return "acceptor"
    pairs = zip(automaton.outputs, automaton.states, strict=True)
    if all(type(v) is type(q) and v == q for v, q in pairs):
        return "states"
    return "moore"


def output_texts(automaton: Automaton, name: str) -> list[str]:
    """The texts of all outputs, flattened; `InputError` where different outputs have the same text."""
    values = [v.item() if isinstance(v, np.generic) else v for v in automaton.outputs.reshape(-1)]
    texts: list[str] = []
    owner: dict[str, Any] = {}
    for value in values:
        text = distinct_texts([value], "output", name)[0]
        first = owner.setdefault(text, value)
        if type_and_value(first) != type_and_value(value):
            raise InputError(
                f"{name}: outputs {first!r} and {value!r} have the same text: rename one of them"
            )
        texts.append(text)
    return texts
