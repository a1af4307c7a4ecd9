"""Writing `.dot`: a graph that graphviz draws and `read_dot` turns into the same automaton."""

from __future__ import annotations

from pathlib import Path

from ..automaton import Automaton
from ..building import fresh_name
from .dot import KEPT, MARK, parse_dot
from .dot_labels import escaped
from .dot_language import KEYWORDS
from .label_text import distinct_texts, output_kind, output_texts
from .quoting import quote
from .writing import write_verified


def write_dot(automaton: Automaton, path: str | Path) -> None:
    """Write a `.dot` file that `read_dot` and graphviz read; outputs and labels as text."""
    text = dot_text(automaton, str(path))
    write_verified(automaton, path, text, lambda again: parse_dot(again, str(path)))


def dot_text(automaton: Automaton, name: str) -> str:
    """The DOT text of an automaton; `name` stands before every error."""
    kind = output_kind(automaton)
    texts = distinct_texts(automaton.states, "state", name)
    letters = [escaped(x, "/,") for x in distinct_texts(automaton.letters, "letter", name)]
    states = [quote(q, "state", name, KEYWORDS) for q in texts]
    outputs = output_texts(automaton, name)
    marker = fresh_name("__start0", texts)
    kept = KEPT if automaton.keeps_points else ""
    lines = [
        "digraph automaton {",
        f'  comment="{MARK}{kind}{kept}";',
        f'  {marker} [label="", shape=none];',
    ]
    for q, state in enumerate(states):
        if kind == "moore":
            output = escaped(outputs[q], "{}|<>")
            lines.append(
                f'  {state} [shape=record, label="{_quoted("{ " + escaped(texts[q], "{}|<>") + " | " + output + " }")}"];'
            )
        else:
            accepted = kind == "acceptor" and automaton.outputs[q]
            lines.append(f"  {state} [shape={'doublecircle' if accepted else 'circle'}];")
    lines.append(f"  {marker} -> {states[automaton.start]};")
    for q, state in enumerate(states):
        for x, letter in enumerate(letters):
            label = letter
            if kind == "mealy":
                label += "/" + escaped(outputs[x * len(states) + q], "/,")
            lines.append(f'  {state} -> {states[automaton.transitions[x, q]]} [label="{_quoted(label)}"];')
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(label: str) -> str:
    return label.replace('"', '\\"')
