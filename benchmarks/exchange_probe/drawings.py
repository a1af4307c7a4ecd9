"""Graphviz: its package for Python, its programs, and networkx with pydot and with pygraphviz."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .parts import Machine, Write, call

# graphviz: what its package for Python saves, and what its programs make of that


def _graphviz_text(machine: Machine) -> Any:
    from graphviz import Digraph

    made = Digraph("machine")
    made.attr(rankdir="LR")
    made.node("", shape="none")
    for i, q in enumerate(machine["states"]):
        shape = "doublecircle" if i in machine["accepting"] else "circle"
        made.node(f"n{i}", label=q, shape=shape)
    made.edge("", "n0")
    for p, x, r, output in machine["arcs"]:
        label = "ε" if x is None else _escape_graphviz(x)
        made.edge(f"n{p}", f"n{r}", label=label if output is None else f"{label}/{output}")
    return made


def _escape_graphviz(text: str) -> str:
    from graphviz import escape

    return str(escape(text))


def write_graphviz(machine: Machine, path: Path) -> None:
    """Save a drawing with the package graphviz."""
    _graphviz_text(machine).save(str(path))


def write_by_program(layout: str) -> Write:
    """Give a function that writes a drawing as `dot` writes it again.

    Args:
        layout: of `dot -T`.
    """

    def write(machine: Machine, path: Path) -> None:
        text = call(["dot", f"-T{layout}"], _graphviz_text(machine).source)
        path.write_text(text, encoding="utf-8")

    return write


# networkx with pydot, and with pygraphviz


def _networkx_graph(machine: Machine) -> Any:
    import networkx

    graph: Any = networkx.MultiDiGraph()
    graph.add_node("__start0", shape="point")
    for i, q in enumerate(machine["states"]):
        graph.add_node(
            f"n{i}", label=_dot_quote(q), shape="doublecircle" if i in machine["accepting"] else "circle"
        )
    graph.add_edge("__start0", "n0")
    for p, x, r, output in machine["arcs"]:
        label = "ε" if x is None else x
        graph.add_edge(f"n{p}", f"n{r}", label=_dot_quote(label if output is None else f"{label}/{output}"))
    return graph


def _dot_quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def write_pydot(machine: Machine, path: Path) -> None:
    """Write a graph of networkx with pydot."""
    from networkx.drawing.nx_pydot import write_dot

    write_dot(_networkx_graph(machine), str(path))


def write_pygraphviz(machine: Machine, path: Path) -> None:
    """Write a graph of networkx with pygraphviz."""
    from networkx.drawing.nx_agraph import write_dot

    graph = _networkx_graph(machine)
    for *_, values in [*graph.nodes(data=True), *graph.edges(data=True)]:
        if "label" in values:
            values["label"] = values["label"][1:-1].replace('\\"', '"')
    write_dot(graph, str(path))
