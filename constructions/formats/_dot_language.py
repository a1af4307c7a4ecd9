"""The DOT language of graphviz: text to nodes and edges with their attributes.

Follows the published grammar: quoted, bare, numeral and HTML names, `+` between quoted pieces, comments, ports,
`node`/`edge` defaults, subgraphs (as scopes and as edge ends) and chains of edges.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from ...foundation._errors import InputError
from ._writing import unquote

_TOKEN = re.compile(
    r"""
    (?P<skip>\s+ | //[^\n]* | /\*.*?\*/ | ^\#[^\n]*)
  | (?P<quoted>"(?:[^"\\]|\\.)*")
  | (?P<numeral>-?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?![A-Za-z_0-9.\u0080-\U0010ffff]))
  | (?P<name>[A-Za-z_\u0080-\U0010ffff][A-Za-z_0-9\u0080-\U0010ffff]*)
  | (?P<sign>->|--|[{}\[\];,=:+])
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
KEYWORDS = frozenset(("strict", "graph", "digraph", "node", "edge", "subgraph"))
_MAX_DEPTH = 100


class HtmlText(str):
    """A value that was written between `<` and `>`."""

    __slots__ = ()


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


class DotEdge(NamedTuple):
    """An edge, its attributes and its line."""

    tail: str
    head: str
    attributes: dict[str, str]
    line: int


@dataclass
class DotGraph:
    """A directed graph as written: nodes in order of appearance, edges in order."""

    name: str = ""
    strict: bool = False
    """Whether an edge replaces another one between the same two nodes."""
    attributes: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    edges: list[DotEdge] = field(default_factory=list)
    node_defaults: list[dict[str, str]] = field(default_factory=list)
    """The attributes of each statement `node [...]`."""
    unchanged: dict[str, tuple[int, dict[str, str]]] = field(default_factory=dict)
    """Nodes that a statement names alone although they stand above it, so that the defaults there do not reach them: line, defaults."""


def parse_dot_graph(text: str, name: str) -> DotGraph:
    """The graph of a DOT text; `name` stands before every error, an `InputError` with the line."""
    return _Parser(list(_tokens(text, name)), name).graph()


def _tokens(text: str, name: str) -> Iterator[_Token]:
    at, line = 0, 1
    while at < len(text):
        if text[at] == "<":
            end = _html_end(text, at)
            if end is None:
                raise InputError(f"{name}: line {line}: '<' is never closed")
            kind, body = "html", text[at + 1 : end - 1]
        else:
            match = _TOKEN.match(text, at)
            if match is None:
                what = {'"': "the quote is never closed", "/": "the comment is never closed"}.get(
                    text[at], f"{text[at : at + 10]!r} is out of place; quote the name it belongs to"
                )
                raise InputError(f"{name}: line {line}: {what}")
            kind, body, end = str(match.lastgroup), match[0], match.end()
        if kind == "quoted":
            yield _Token(kind, unquote(body[1:-1]), line)
        elif kind != "skip":
            yield _Token(kind, body, line)
        line += text.count("\n", at, end)
        at = end
    yield _Token("end", "the end of the file", line)


def _html_end(text: str, at: int) -> int | None:
    depth = 0
    for match in re.compile("[<>]").finditer(text, at):
        depth += 1 if match[0] == "<" else -1
        if depth == 0:
            return match.end()
    return None


@dataclass
class _Scope:
    node: dict[str, str] = field(default_factory=dict)
    edge: dict[str, str] = field(default_factory=dict)


class _Parser:
    def __init__(self, tokens: list[_Token], name: str) -> None:
        self.tokens, self.name, self.at = tokens, name, 0
        self.result = DotGraph()

    def error(self, what: str, token: _Token | None = None) -> InputError:
        return InputError(f"{self.name}: line {(token or self.tokens[self.at]).line}: {what}")

    def sign(self, text: str) -> bool:
        """Take a sign if it is next."""
        token = self.tokens[self.at]
        taken = token.kind == "sign" and token.text == text
        self.at += taken
        return taken

    def keyword(self, *texts: str) -> str | None:
        """Take a keyword (any case, unquoted) if it is next."""
        token = self.tokens[self.at]
        if token.kind == "name" and token.text.lower() in texts:
            self.at += 1
            return token.text.lower()
        return None

    def identifier(self, what: str) -> str:
        token = self.tokens[self.at]
        if token.kind not in ("quoted", "numeral", "name", "html") or (
            token.kind == "name" and token.text.lower() in KEYWORDS
        ):
            raise self.error(f"{what} is needed before {token.text[:20]!r}")
        self.at += 1
        text = token.text
        while token.kind == "quoted" and self.sign("+"):
            piece = self.tokens[self.at]
            if piece.kind != "quoted":
                raise self.error("'+' joins two quoted names")
            self.at += 1
            text += piece.text
        return HtmlText(text) if token.kind == "html" else text

    def graph(self) -> DotGraph:
        self.result.strict = self.keyword("strict") is not None
        kind = self.keyword("digraph", "graph")
        if kind != "digraph":
            raise self.error(
                "a directed graph is needed: write `digraph`" if kind else "a file begins with `digraph`"
            )
        if not self.sign("{"):
            self.result.name = self.identifier("the graph's name or '{'")
            if not self.sign("{"):
                raise self.error("'{' is needed after the graph's name")
        self.statements(_Scope(), 0)
        if self.tokens[self.at].kind != "end":
            raise self.error("text after the graph's end; a file holds one graph")
        return self.result

    def statements(self, scope: _Scope, depth: int) -> list[str]:
        """Statements up to the closing brace; the nodes they name."""
        if depth > _MAX_DEPTH:
            raise self.error(f"subgraphs are nested more than {_MAX_DEPTH} deep")
        members: list[str] = []
        while not self.sign("}"):
            if self.tokens[self.at].kind == "end":
                raise self.error("'}' is missing at the end of the file")
            if not self.sign(";"):
                members += self.statement(scope, depth)
        return list(dict.fromkeys(members))

    def statement(self, scope: _Scope, depth: int) -> list[str]:
        target = self.keyword("graph", "node", "edge")
        if target:
            values = self.attributes()
            if target == "graph":
                self.result.attributes |= values if depth == 0 else {}
            else:
                (scope.node if target == "node" else scope.edge).update(values)
                self.result.node_defaults += [values] if target == "node" else []
            return []
        first = self.tokens[self.at]
        ends = [self.end(scope, depth)]
        if first.kind != "sign" and len(ends[0]) == 1 and self.sign("="):
            value = self.identifier("a value")
            if depth == 0:
                self.result.attributes[ends[0][0]] = value
            return []
        while self.sign("->"):
            ends.append(self.end(scope, depth))
        if self.tokens[self.at].text == "--" and self.tokens[self.at].kind == "sign":
            raise self.error("'--' in a directed graph: write '->'")
        for end in ends:
            for node in end:
                if len(ends) == 1 and first.kind != "sign" and node in self.result.nodes:
                    self.result.unchanged[node] = (first.line, dict(scope.node))
                self.result.nodes.setdefault(node, dict(scope.node))
        values = self.attributes()
        if len(ends) == 1:
            if values:
                for node in ends[0]:
                    self.result.nodes[node] |= values
            return ends[0]
        for tails, heads in pairwise(ends):
            for tail in tails:
                self.result.edges += [DotEdge(tail, head, scope.edge | values, first.line) for head in heads]
        return [node for end in ends for node in end]

    def end(self, scope: _Scope, depth: int) -> list[str]:
        """One end of an edge: a node with an optional port, or a subgraph's nodes."""
        if self.keyword("subgraph"):
            if not self.sign("{"):
                self.identifier("the subgraph's name")
                if not self.sign("{"):
                    raise self.error("'{' is needed after the subgraph's name")
            return self.statements(_Scope(dict(scope.node), dict(scope.edge)), depth + 1)
        if self.sign("{"):
            return self.statements(_Scope(dict(scope.node), dict(scope.edge)), depth + 1)
        nodes: list[str] = []
        while not nodes or self.sign(
            ","
        ):  # graphviz takes `a, b` for both nodes, which the published grammar does not have
            nodes.append(self.identifier("a node"))
            for _ in range(2):
                if self.sign(":"):
                    self.identifier("a port")
        return nodes

    def attributes(self) -> dict[str, str]:
        values: dict[str, str] = {}
        while self.sign("["):
            while not self.sign("]"):
                key = self.identifier("an attribute or ']'")
                values[key] = self.identifier(f"a value for {key!r}") if self.sign("=") else "true"
                if not self.sign(","):
                    self.sign(";")
        return values
