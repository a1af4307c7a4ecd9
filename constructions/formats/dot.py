r"""Reading `.dot`: acceptors, Moore and Mealy machines as Automata-Wiki, AALpy and graphviz users write them.

Labels of DOT edges and records: escapes, several letters in one label, `a/1`, `{ name | output }`.

An escaped character is always itself (`\,` is a comma, never a separator), except `\n`, `\l`, `\r`: line ends.

Writing `.dot`: a graph that graphviz draws and `read_dot` turns into the same automaton.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...foundation._errors import InputError
from ...foundation._files import read_text
from ..automata._acceptor import MAX_STATES, Acceptor, start_index
from ..automata._automaton import Automaton, Track, build
from ..automata._completing import fresh_name
from ..automata._format import Format
from ..automata._labels import OutputKind, distinct_texts, output_kind, output_texts
from ._dot_language import KEYWORDS, DotEdge, DotGraph, HtmlText, parse_dot_graph
from ._writing import quote, write_verified

_LINE_ENDS = "nlr"

Characters = list[tuple[str, bool]]
"""Characters with a flag: escaped, so never a sign."""


def characters(label: str) -> Characters:
    """The characters of a label after its escapes."""
    result: Characters = []
    i = 0
    while i < len(label):
        if label[i] == "\\" and i + 1 < len(label):
            i += 1
            result.append(("\n", False) if label[i] in _LINE_ENDS else (label[i], True))
        else:
            result.append((label[i], False))
        i += 1
    return result


def split(text: Characters, separator: str) -> list[Characters]:
    """The pieces between unescaped separators, without unescaped blanks at their ends."""
    pieces: list[Characters] = [[]]
    for item in text:
        if item == (separator, False):
            pieces.append([])
        else:
            pieces[-1].append(item)
    return [strip_blanks(piece) for piece in pieces]


def strip_blanks(text: Characters) -> Characters:
    """Without unescaped blanks at the ends."""
    first, last = 0, len(text)
    while first < last and _is_blank(text[first]):
        first += 1
    while last > first and _is_blank(text[last - 1]):
        last -= 1
    return text[first:last]


def _is_blank(item: tuple[str, bool]) -> bool:
    return item[0].isspace() and not item[1]


def plain(text: Characters) -> str:
    """The characters alone."""
    return "".join(c for c, _ in text)


def has(text: Characters, sign: str) -> bool:
    """True if the sign occurs unescaped."""
    return (sign, False) in text


def input_and_output(text: Characters) -> tuple[str, str] | None:
    """`a/1` as `(a, 1)`; with several slashes the one with blanks around it; None if that is not clear."""
    pieces = split(text, "/")
    if len(pieces) == 2:
        return plain(pieces[0]), plain(pieces[1])
    spaced = [
        i
        for i in range(1, len(text) - 1)
        if text[i] == ("/", False) and _is_blank(text[i - 1]) and _is_blank(text[i + 1])
    ]
    if len(spaced) != 1:
        return None
    return plain(strip_blanks(text[: spaced[0]])), plain(strip_blanks(text[spaced[0] + 1 :]))


def record_output(label: str) -> str | None:
    """The output in a record label `{ name | output }` or `name|output`; None if it has not two fields."""
    text = strip_blanks(characters(label))
    if text[:1] == [("{", False)] and text[-1:] == [("}", False)]:
        text = text[1:-1]
    fields = split(text, "|")
    return plain(fields[1]) if len(fields) == 2 else None


def escape_label(text: str, signs: str) -> str:
    r"""A label's text: backslashes, the given signs, and blanks at the ends escaped."""
    first = len(text) - len(text.lstrip())
    last = len(text.rstrip())
    return "".join(
        f"\\{c}" if c == "\\" or c in signs or (c.isspace() and not first <= i < last) else c
        for i, c in enumerate(text)
    )


def comma_meaning(labels: Sequence[Characters]) -> dict[str, bool | None]:
    """For each label with an unescaped comma: True several letters, False one letter, None not clear.

    It is several letters if every piece is a letter of its own elsewhere; it is one letter if none is and some
    piece has other than one character, so that `e2,e4` and `(0, 1)` stay whole.
    """
    alone = {plain(label) for label in labels if not has(label, ",")}
    meaning: dict[str, bool | None] = {}
    for label in labels:
        if has(label, ","):
            pieces = [plain(piece) for piece in split(label, ",")]
            known = [piece in alone for piece in pieces]
            if all(known):
                meaning[plain(label)] = True
            elif any(known) or all(len(piece) == 1 for piece in pieces):
                meaning[plain(label)] = None
            else:
                meaning[plain(label)] = False
    return meaning


MARK = "mirrormata: "
KEPT = ", all points kept"
_HIDDEN_SHAPES = ("none", "point", "plaintext", "plain")


def read_dot(
    path: str | Path, *, track: Track | None = None, start: str | None = None, max_states: int = MAX_STATES
) -> Automaton:
    r"""Read an automaton from a `.dot` file. The id of a node is the name of a state, and the label of an edge is a letter.

    The start state is marked by an unlabelled edge from a node named `__start...` or without shape or label, or given by the
    argument `start`. Accepting states have `shape=doublecircle` or `peripheries=2`. Moore outputs are record labels `{ name | output
    }`, Mealy outputs are edge labels `a/1`; otherwise each state is its own output. Several letters in one label are separated by
    line breaks (`\n`), or by commas if this is unambiguous. A nondeterministic acceptor is determinised, which `notes` records.

    Args:
        path: the file.
        track: `state` keeps every reachable state, `output` minimises by outputs; None: `output` where the
            file had to be determinised, otherwise `state`.
        start: the text of the start state; None for the start state in the file.
        max_states: the largest number of states that the automaton may have.

    Raises:
        InputError: the file is wrong; the message names the line.
    """
    return parse_dot(read_text(path), str(path), track=track, start=start, max_states=max_states)


def parse_dot(
    text: str,
    name: str,
    *,
    track: Track | None = None,
    start: str | None = None,
    max_states: int = MAX_STATES,
) -> Automaton:
    """Read an automaton from the text of a DOT file.

    Args:
        text: the text of the file.
        name: the name with which error messages begin.
        track: `state` keeps every reachable state, `output` minimises by outputs; None: `output` where the
            file had to be determinised, otherwise `state`.
        start: the text of the start state; None for the start state in the file.
        max_states: the largest number of states that the automaton may have.
    """
    automaton = _Machine.of(parse_dot_graph(text, name), name, start).automaton(track, max_states)
    return replace(automaton, name=Path(name).name)


@dataclass
class _Arc:
    source: str
    target: str
    label: Characters
    line: int
    letter: str = ""
    output: str | None = None


@dataclass
class _Machine:
    name: str
    kind: OutputKind
    states: list[str]
    arcs: list[_Arc]
    starts: list[str]
    nodes: dict[str, dict[str, str]]
    keep_points: bool
    declared: bool

    @classmethod
    def of(cls, graph: DotGraph, name: str, start: str | None) -> _Machine:
        markers = _start_markers(graph)
        states = [q for q in graph.nodes if q not in markers]
        if not states:
            raise InputError(f"{name}: no states; a state is a node, a transition an edge with a label")
        arcs = []
        for edge in graph.edges:
            if edge.tail not in markers:
                label = edge.attributes.get("label", "")
                arcs += [_Arc(edge.tail, edge.head, x, edge.line) for x in _lines_of(label, edge, name)]
        starts = list(dict.fromkeys(edge.head for edge in graph.edges if edge.tail in markers))
        if start is not None:
            starts = [states[start_index(states, start, name)]]
        elif not starts and len(states) == 1:
            starts = states
        if not starts:
            raise InputError(
                f'{name}: no start state: add `__start0 [shape=none, label=""]; __start0 -> {states[0]}`, '
                "or name a state with `start`"
            )
        note = graph.attributes.get("comment", "")
        declared = note.removeprefix(MARK).removesuffix(KEPT) if note.startswith(MARK) else None
        kind = _kind(declared, states, graph.nodes, arcs, name)
        machine = cls(
            name, kind, states, arcs, starts, graph.nodes, note.endswith(KEPT), declared is not None
        )
        machine._split_labels()
        return machine

    def _split_labels(self) -> None:
        """Letters (and Mealy outputs) of the arcs, one arc a letter."""
        split_arcs: list[_Arc] = []
        meaning = comma_meaning([arc.label for arc in self.arcs]) if self.kind != "mealy" else {}
        for arc in self.arcs:
            if self.kind == "mealy":
                pieces = split(arc.label, ",")
                several = len(pieces) > 1 and all(len(split(piece, "/")) == 2 for piece in pieces)
            else:
                clear = meaning.get(plain(arc.label), False) if has(arc.label, ",") else False
                if clear is None:
                    raise InputError(
                        f"{self.name}: line {arc.line}: is {plain(arc.label)!r} one letter or several? "
                        "Write one edge a letter, or `\\n` between letters, or `\\,` for a comma in a letter"
                    )
                several, pieces = clear, split(arc.label, ",")
            for piece in pieces if several else [arc.label]:
                letter, output = plain(piece), None
                if self.kind == "mealy":
                    both = input_and_output(piece)
                    if both is None:
                        raise InputError(
                            f"{self.name}: line {arc.line}: label {plain(piece)!r} is not `input/output`; "
                            "write `\\/` for a slash in a name"
                        )
                    letter, output = both
                split_arcs.append(_Arc(arc.source, arc.target, piece, arc.line, letter, output))
        self.arcs = split_arcs

    def automaton(self, track: Track | None, max_states: int) -> Automaton:
        letters = list(dict.fromkeys(arc.letter for arc in self.arcs))
        accepting = [q for q in self.states if _is_accepting(self.nodes[q])]
        if self.kind == "acceptor" and not self.keep_points:
            state_of = {q: i for i, q in enumerate(self.states)}
            letter_of = {x: i for i, x in enumerate(letters)}
            arcs = [(state_of[a.source], letter_of[a.letter], state_of[a.target]) for a in self.arcs]
            return Acceptor(
                self.states,
                letters,
                arcs,
                [state_of[q] for q in self.starts],
                [state_of[q] for q in accepting],
            ).automaton(self.name, track, max_states)
        self._check_deterministic()
        transitions: dict[Any, dict[Any, Any]] = {q: {} for q in self.states}
        outputs: dict[Any, dict[Any, Any]] = {q: {} for q in self.states}
        for arc in self.arcs:
            transitions[arc.source][arc.letter] = arc.target
            outputs[arc.source][arc.letter] = arc.output
        automaton = build(
            transitions,
            start=self.starts[0],
            letters=letters,
            states=self.states,
            accepting=accepting if self.kind == "acceptor" else None,
            outputs=self._moore_outputs() if self.kind == "moore" else None,
            mealy=outputs if self.kind == "mealy" else None,
            name=self.name,
            track=track or "state",
            keep_points=self.keep_points,
        )
        if self.kind == "states" and not self.declared:
            automaton = automaton.with_notes("no state is marked as accepting: each state is its own output")
        if self.kind == "mealy" and accepting:
            automaton = automaton.with_notes(
                "accepting states are not kept: the outputs are those of the edges"
            )
        return automaton

    def _check_deterministic(self) -> None:
        if len(self.starts) > 1:
            shown = ", ".join(repr(q) for q in self.starts[:5])
            raise InputError(
                f"{self.name}: several start states ({shown}): keep one, or name one with `start`"
            )
        known: dict[tuple[str, str], _Arc] = {}
        for arc in self.arcs:
            first = known.setdefault((arc.source, arc.letter), arc)
            if (first.target, first.output) != (arc.target, arc.output):
                raise InputError(
                    f"{self.name}: lines {first.line} and {arc.line} differ on state {arc.source!r} and letter "
                    f"{arc.letter!r}: only acceptors may be nondeterministic"
                )

    def _moore_outputs(self) -> dict[Any, Any]:
        outputs = {q: record_output(self.nodes[q].get("label", "")) for q in self.states}
        missing = [q for q, output in outputs.items() if output is None]
        if missing:
            shown = ", ".join(repr(q) for q in missing[:10])
            raise InputError(
                f'{self.name}: no output in the label of {shown}; write `label="{{ name | output }}"`'
            )
        return dict(outputs)


def _start_markers(graph: DotGraph) -> set[str]:
    """Nodes that only point at a start state: their edges are outgoing and unlabelled, and they look like it."""
    outgoing: dict[str, bool] = {}
    reached = {edge.head for edge in graph.edges}
    for edge in graph.edges:
        unlabelled = not edge.attributes.get("label", "").strip()
        outgoing[edge.tail] = outgoing.get(edge.tail, True) and unlabelled
    return {
        node
        for node, unlabelled in outgoing.items()
        if unlabelled and node not in reached and _looks_hidden(node, graph.nodes[node])
    }


def _looks_hidden(node: str, attributes: dict[str, str]) -> bool:
    return (
        node.lower().startswith("__start")
        or node.lower() in ("", "start", "init", "initial")
        or attributes.get("shape") in _HIDDEN_SHAPES
        or "invis" in attributes.get("style", "")
        or not attributes.get("label", "x").strip()
    )


def _is_accepting(attributes: dict[str, str]) -> bool:
    return attributes.get("shape") == "doublecircle" or attributes.get("peripheries") == "2"


def _lines_of(label: str, edge: DotEdge, name: str) -> list[Characters]:
    if isinstance(label, HtmlText):
        raise InputError(f"{name}: line {edge.line}: an HTML label; write the letter as plain text")
    lines = [line for line in split(characters(label), "\n") if line]
    if not lines:
        raise InputError(
            f"{name}: line {edge.line}: the edge {edge.tail!r} -> {edge.head!r} has no letter as label"
        )
    return lines


def _kind(
    declared: str | None, states: list[str], nodes: dict[str, dict[str, str]], arcs: list[_Arc], name: str
) -> OutputKind:
    kinds: tuple[OutputKind, ...] = ("acceptor", "mealy", "states", "moore")
    for kind in kinds:
        if declared == kind:
            return kind
    if declared is not None:
        raise InputError(f"{name}: the comment declares {declared!r}, which is not a kind of outputs")
    slashed = [has(arc.label, "/") for arc in arcs]
    if any("record" in nodes[q].get("shape", "").lower() for q in states):
        return "moore"
    if arcs and all(slashed):
        return "mealy"
    if any(_is_accepting(nodes[q]) for q in states):
        return "acceptor"
    if any(slashed):
        arc = arcs[slashed.index(False)]
        raise InputError(
            f"{name}: line {arc.line}: label {plain(arc.label)!r} has no output, others are `input/output`; "
            "write `\\/` for a slash in a letter"
        )
    return "states"


def write_dot(automaton: Automaton, path: str | Path) -> None:
    """Write an automaton to a `.dot` file that `read_dot` and graphviz can read, with outputs and labels as text.

    Args:
        automaton: the automaton.
        path: the file.
    """
    text = dot_text(automaton, str(path))
    write_verified(automaton, path, text, lambda again: parse_dot(again, str(path)))


def dot_text(automaton: Automaton, name: str) -> str:
    """Write an automaton as DOT text.

    Args:
        automaton: the automaton.
        name: the name with which error messages begin.
    """
    kind = output_kind(automaton)
    texts = distinct_texts(automaton.states, "state", name)
    letters = [escape_label(x, "/,") for x in distinct_texts(automaton.letters, "letter", name)]
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
            output = escape_label(outputs[q], "{}|<>")
            lines.append(
                f'  {state} [shape=record, label="{_quote("{ " + escape_label(texts[q], "{}|<>") + " | " + output + " }")}"];'
            )
        else:
            accepted = kind == "acceptor" and automaton.outputs[q]
            lines.append(f"  {state} [shape={'doublecircle' if accepted else 'circle'}];")
    lines.append(f"  {marker} -> {states[automaton.start]};")
    for q, state in enumerate(states):
        for x, letter in enumerate(letters):
            label = letter
            if kind == "mealy":
                label += "/" + escape_label(outputs[x * len(states) + q], "/,")
            lines.append(f'  {state} -> {states[automaton.transitions[x, q]]} [label="{_quote(label)}"];')
    return "\n".join([*lines, "}"]) + "\n"


def _quote(label: str) -> str:
    return label.replace('"', '\\"')


FORMAT = Format(
    name="Automata-Wiki, AALpy, graphviz",
    extensions=(".dot",),
    read=read_dot,
    write=write_dot,
    example="""digraph parity {
  __start0 [shape=none, label=""]; __start0 -> even
  even [shape=doublecircle]; odd [shape=circle]
  even -> odd [label="a"]; odd -> even [label="a"]
}
""",
)
