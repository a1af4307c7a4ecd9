"""What single tools mean by their drawings, put into the terms of `dot.py`: fstdraw, dk.brics.automaton, dfa, MONA, pyformlang, FAdo, automata-lib.

Each is known by the name of its graph, or by attributes that only it writes. A label that this file has understood has its signs
escaped, so that it is one letter.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ...foundation._errors import InputError
from ..automata._labels import OutputKind
from ._dot_labels import escape_label, html_text
from ._dot_language import DotEdge, DotGraph, HtmlText
from ._dot_mona import translate_mona
from ._reserved import is_empty_move

MAX_RANGE = 1_000
_WEIGHT = re.compile(r"/-?[0-9]+(?:\.[0-9]+)?(?:e-?[0-9]+)?$", re.IGNORECASE)
_CHARACTER = r"(?:\\{1,2}u[0-9a-fA-F]{4}|[^\n])"
_RANGE = re.compile(rf"({_CHARACTER})(?:-({_CHARACTER}))?")
_SIGNS = ",|;/"


def translate_dialect(graph: DotGraph, name: str, notes: list[str], split: str | None) -> OutputKind | None:
    """Rewrite the graph of a known tool in place, and say what kind of machine it is; None where the drawing itself says that.

    Args:
        graph: the graph.
        name: the name with which error messages begin.
        notes: what was assumed is added here.
        split: the answer of the user, with which labels stay as they are; None if there is none.

    Raises:
        InputError: the drawing has weights, or a range of very many characters.
    """
    nodes = graph.nodes
    if any("is_final" in x and "peripheries" in x for x in nodes.values()):
        return "acceptor"  # pyformlang
    if any(x.attributes.get("tooltip") == f"->{x.head}" for x in graph.edges):
        return "acceptor"  # automata-lib, whose letters may have commas: what a label means is asked
    if graph.name == "finite_state_machine" and any(_is_dummy(q, x) for q, x in nodes.items()):
        if split is None:
            _relabel(
                graph, lambda _, label: [x if is_empty_move(x) else _one_letter(x) for x in label.split(", ")]
            )
        return "acceptor"  # FAdo
    if split is not None:
        return None
    if graph.name == "MONA_DFA":
        return translate_mona(graph, name, notes)
    if graph.name == "FST":
        return _fstdraw(graph, name, notes)
    if graph.name == "Automaton" and nodes.get("initial", {}).get("shape") == "plaintext":
        return _brics(graph, name, notes)
    if _has_two_lines(graph):
        return _two_lines(graph, notes)
    labels = {q: x.get("label", "").split("\\n---\\n") for q, x in nodes.items() if x.get("shape") != "point"}
    if labels and all(len(x) == 2 for x in labels.values()):
        return _dfa(graph, {q: x[1] for q, x in labels.items()}, notes)
    return None


def _is_dummy(name: str, attributes: dict[str, str]) -> bool:
    """Whether FAdo drew a node from which an arrow leads into a start state."""
    return name.startswith("dummy") and attributes.get("shape") == "point"


def _labels_of_letters(graph: DotGraph) -> list[tuple[int, str]]:
    """The places and labels of all edges but the arrows into the start."""
    markers = {
        q for q, x in graph.nodes.items() if q.lower().startswith("__start") or x.get("shape") == "point"
    }
    return [(i, x.attributes.get("label", "")) for i, x in enumerate(graph.edges) if x.tail not in markers]


def _has_two_lines(graph: DotGraph) -> bool:
    """Whether every label is HTML-like and has two lines with text."""
    labels = [label for _, label in _labels_of_letters(graph)]
    return bool(labels) and all(
        isinstance(label, HtmlText)
        and [bool(x.strip()) for x in html_text(label).split("\n")] == [True, True]
        for label in labels
    )


def _two_lines(graph: DotGraph, notes: list[str]) -> OutputKind:
    """The models of DotModels, as TLS servers: `<ClientHello | Finished<br />Alert>` is the inputs, a line break, and the output."""
    notes.append("the two lines of each label are read as the inputs, between ' | ', and the output")
    read = dict(_labels_of_letters(graph))
    edges: list[DotEdge] = []
    for i, edge in enumerate(graph.edges):
        if i not in read:
            edges.append(edge._replace(attributes=edge.attributes | {"label": ""}))
            continue
        inputs, output = (line.strip() for line in html_text(read[i]).split("\n"))
        edges += [
            edge._replace(
                attributes=edge.attributes
                | {"label": f"{escape_label(x, _SIGNS)}/{escape_label(output, _SIGNS)}"}
            )
            for x in (piece.strip() for piece in inputs.split(" | "))
        ]
    graph.edges = edges
    return "mealy"


def _relabel(graph: DotGraph, label_of: Callable[[DotEdge, str], list[str]]) -> None:
    """Each edge with a label once for each of the labels that it stands for."""
    edges: list[DotEdge] = []
    for edge in graph.edges:
        label = edge.attributes.get("label", "")
        if not label or isinstance(label, HtmlText):
            edges.append(edge)
            continue
        edges += [
            edge._replace(attributes=edge.attributes | {"label": text}) for text in label_of(edge, label)
        ]
    graph.edges = edges


def _fstdraw(graph: DotGraph, name: str, notes: list[str]) -> OutputKind | None:
    """OpenFst's `a`, or `a:x` for a transducer; each edge has one letter, and a number behind a slash is a weight."""
    labels = [x.attributes.get("label", "") for x in graph.edges]
    for edge, label in zip(graph.edges, labels, strict=True):
        if (weight := _WEIGHT.search(label)) is not None:
            raise InputError(
                f"{name}: line {edge.line}: the label {label[:60]!r} ends in the weight {weight[0][1:]}; weights are not kept"
            )
    pairs = [label.split(":") for label in labels if len(label) > 1]
    transducer = (
        bool(pairs) and len(pairs) == len(labels) and all(len(pair) == 2 and all(pair) for pair in pairs)
    )
    if transducer:
        notes.append("the labels are read as `input:output`, as fstdraw writes them")

    def texts(_: DotEdge, label: str) -> list[str]:
        pieces = label.split(":") if transducer else [label]
        return ["/".join(_one_letter(piece) for piece in pieces)]

    _relabel(graph, texts)
    return "mealy" if transducer else "acceptor"


def _one_letter(text: str) -> str:
    """A name with its signs escaped; backslashes stay, which the tool has doubled."""
    return "".join(f"\\{c}" if c in _SIGNS else c for c in text)


def _brics(graph: DotGraph, name: str, notes: list[str]) -> OutputKind:
    """Characters, `\\u0041`, and ranges `a-z` of them."""
    expanded: dict[str, int] = {}

    def texts(edge: DotEdge, label: str) -> list[str]:
        match = _RANGE.fullmatch(label)
        if match is None:
            return [label]
        first, last = (_code(x) for x in (match[1], match[2] or match[1]))
        if last - first >= MAX_RANGE:
            raise InputError(
                f"{name}: line {edge.line}: {label!r} stands for {last - first + 1:,} characters, of which each would be a letter; at most "
                f"{MAX_RANGE:,} are read: give the automaton as `regex:PATTERN`, whose letter `other` stands for the rest"
            )
        if last > first:
            expanded[label] = last - first + 1
        return [escape_label(chr(code), _SIGNS + "[]-") for code in range(first, last + 1)]

    _relabel(graph, texts)
    notes += [
        f"the label {label!r} stands for {count} letters, as dk.brics.automaton writes a range"
        for label, count in list(expanded.items())[:5]
    ]
    return "acceptor"


def _code(text: str) -> int:
    return int(text[-4:], 16) if len(text) > 4 else ord(text)


def _dfa(graph: DotGraph, outputs: dict[str, str], notes: list[str]) -> OutputKind:
    """The drawing of the package dfa: `name`, a line `---`, and what the state is labelled with."""
    acceptor = set(outputs.values()) <= {"True", "False"}
    notes.append(
        "the last lines of the states' labels, True or False, say which accept"
        if acceptor
        else "the last lines of the states' labels are their outputs"
    )
    for q, output in outputs.items():
        given = graph.nodes[q]
        if acceptor:
            graph.nodes[q] = given | ({"shape": "doublecircle"} if output == "True" else {})
        else:
            graph.nodes[q] = given | {
                "shape": "record",
                "label": f"{escape_label(q, '{}|<>')}|{escape_label(output, '{}|<>')}",
            }
    _relabel(graph, lambda _, label: [_one_letter(label)])
    return "acceptor" if acceptor else "moore"
