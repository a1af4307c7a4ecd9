r"""Reading `.dot` and `.gv`: acceptors, Moore and Mealy machines as Automata-Wiki, AALpy, LearnLib and graphviz users write them.

Writing `.dot`: a graph that graphviz draws and `read_dot` turns into the same automaton.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...foundation._errors import InputError
from ...foundation._files import read_text
from ..automata._acceptor import EPSILON, MAX_STATES, Acceptor, start_index
from ..automata._automaton import Automaton, Track, build
from ..automata._completing import fresh_name
from ..automata._format import Format
from ..automata._labels import OutputKind, distinct_texts, output_kind, output_texts
from ._dot_dialects import translate_dialect
from ._dot_labels import (
    Characters,
    Separated,
    characters,
    escape_label,
    escape_letter,
    has,
    html_text,
    input_and_output,
    notes_of,
    plain,
    protect,
    record_output,
    require_split,
    separate,
    split_label,
)
from ._dot_language import KEYWORDS, DotEdge, DotGraph, HtmlText, parse_dot_graph
from ._other_machines import find_other_machine
from ._reserved import is_empty_move, refused_name
from ._writing import quote, write_verified

MARK = "mirrormata: "
KEPT = ", all points kept"
_HIDDEN_SHAPES = ("none", "point", "plaintext", "plain")
_START_WORDS = ("", "start", "begin", "init", "initial")


def read_dot(
    path: str | Path,
    *,
    track: Track | None = None,
    start: str | None = None,
    split: str | None = None,
    max_states: int = MAX_STATES,
) -> Automaton:
    r"""Read an automaton from a `.dot` file. The id of a node is the name of a state, and the label of an edge is a letter.

    The start state is marked by an edge without a label, or with the label `start`, from a node named `__start...` or without shape
    or label, or given by the argument `start`. Accepting states have `shape=doublecircle` or `peripheries=2`. Moore outputs are record
    labels `{ name | output }`, or labels `name/output` of all states; Mealy outputs are edge labels `a/1`; otherwise each state is its
    own output. Several letters in one label are separated by line breaks (`\n`), or by `,`, `|` or `;` if this is unambiguous; `[a-z]`
    stands for its characters. Names such as `ε` are the empty move, which the determinisation of an acceptor removes.

    Args:
        path: the file.
        track: `state` keeps every reachable state, `output` minimises by outputs; None: `output` where the
            file had to be determinised, otherwise `state`.
        start: the text of the start state; None for the start state in the file.
        split: the sign between several letters of one label; or `none` where each label is one letter as it stands, whatever its
            name. Without it, what is not clear is refused.
        max_states: the largest number of states that the automaton may have.

    Raises:
        InputError: the file is wrong, or shows another kind of machine, with probabilities, a stack, or infinite words; the message
            names the line.
    """
    return parse_dot(read_text(path), str(path), track=track, start=start, split=split, max_states=max_states)


def parse_dot(
    text: str,
    name: str,
    *,
    track: Track | None = None,
    start: str | None = None,
    split: str | None = None,
    max_states: int = MAX_STATES,
) -> Automaton:
    """Read an automaton from the text of a DOT file.

    Args:
        text: the text of the file.
        name: the name with which error messages begin.
        track: `state` keeps every reachable state, `output` minimises by outputs; None: `output` where the
            file had to be determinised, otherwise `state`.
        start: the text of the start state; None for the start state in the file.
        split: the sign between several letters of one label, or `none`; see `read_dot`.
        max_states: the largest number of states that the automaton may have.
    """
    require_split(split)
    automaton = _Machine.of(parse_dot_graph(text, name), name, start, split).automaton(track, max_states)
    return replace(automaton, name=Path(name).name)


@dataclass
class _Arc:
    source: str
    target: str
    label: Characters
    line: int
    letter: str | None = ""
    """None for the empty move."""
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
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, graph: DotGraph, name: str, start: str | None, split: str | None) -> _Machine:
        notes: list[str] = []
        dialect = translate_dialect(graph, name, notes, split)
        markers = _start_markers(graph)
        states = [q for q in graph.nodes if q not in markers]
        if not states:
            raise InputError(f"{name}: no states; a state is a node, a transition an edge with a label")
        arcs: list[_Arc] = []
        for edge in graph.edges:
            if edge.tail not in markers:
                arcs += [_Arc(edge.tail, edge.head, x, edge.line) for x in _lines_of(edge, name, notes)]
        _refuse_two_spellings(graph, name)
        _refuse_what_is_drawn_otherwise(graph, name)
        arrows = [edge for edge in graph.edges if edge.tail in markers]
        starts = list(dict.fromkeys(edge.head for edge in arrows))
        notes += [
            f"the arrow into the start state {edge.head!r} has the label {label!r}, which is left out"
            for edge in arrows
            if (label := " ".join(edge.attributes.get("label", "").split()))
            and label.lower() not in _START_WORDS
        ]
        bold = [q for q in states if "bold" in graph.nodes[q].get("style", "")]
        if start is not None:
            starts = [states[start_index(states, start, name)]]
        elif not starts and len(states) == 1:
            starts = states
        elif not starts and len(bold) == 1:
            starts = bold
            notes.append(f"the start is {bold[0]!r}, which is drawn bold, as fstdraw marks it")
        if not starts:
            raise InputError(
                f'{name}: no start state: add `__start0 [shape=none, label=""]; __start0 -> {states[0]}`, '
                "or name a state with `start`"
            )
        note = graph.attributes.get("comment", "")
        declared = note.removeprefix(MARK).removesuffix(KEPT) if note.startswith(MARK) else None
        if declared is None and split != "none":
            _refuse_other_machines(arcs, graph, name)
        kind = dialect or _kind(declared, states, graph, arcs, name)
        if kind in ("acceptor", "states"):
            _refuse_late_marks(states, graph, name)
        machine = cls(
            name, kind, states, arcs, starts, graph.nodes, note.endswith(KEPT), declared is not None, notes
        )
        machine._read_letters(split)
        return machine

    def _read_letters(self, split: str | None) -> None:
        """Letters (and Mealy outputs) of the arcs, one arc a letter; reserved names and questions are dealt with here."""
        pairs = [pair for arc in self.arcs for pair in self._inputs_and_outputs(arc)]
        meaning = separate([letter for _, letter, _ in pairs], split)
        self.notes += notes_of(found for found in meaning.values() if isinstance(found, Separated))
        arcs: list[_Arc] = []
        empty: dict[str, None] = {}
        kept: dict[str, None] = {}
        for arc, letter, output in pairs:
            found = meaning[tuple(letter)]
            if isinstance(found, str):
                raise InputError(f"{self.name}: line {arc.line}: {found}")
            for piece in found.letters:
                text, is_plain = plain(piece), split != "none" and not any(mark for _, mark in piece)
                if is_plain and (reserved := refused_name(text, drawn=True)):
                    raise InputError(
                        f"{self.name}: line {arc.line}: {text!r} {reserved}, or `{protect(text)}` for a letter of that name"
                    )
                if is_plain and is_empty_move(text):
                    if self.kind != "acceptor":
                        raise InputError(
                            f"{self.name}: line {arc.line}: {text!r} is the empty move, which only an acceptor can have: mark "
                            f"accepting states with shape=doublecircle, or write `\\{text}` for a letter of that name"
                        )
                    empty[text] = None
                    arcs.append(_Arc(arc.source, arc.target, piece, arc.line, None))
                else:
                    if split == "none" and is_empty_move(text) and not any(mark for _, mark in piece):
                        kept[text] = None
                    arcs.append(_Arc(arc.source, arc.target, piece, arc.line, text, output))
        self.notes += [
            f"{x!r} is read as the empty move; `{protect(x)}` would be a letter of that name" for x in empty
        ]
        self.notes += [
            f"{x!r} is read as a letter and not as the empty move, since `split` is none" for x in kept
        ]
        self.arcs = arcs

    def _inputs_and_outputs(self, arc: _Arc) -> list[tuple[_Arc, Characters, str | None]]:
        """The input of a Mealy machine's label, and its output; for other machines the label itself."""
        if self.kind != "mealy":
            return [(arc, arc.label, None)]
        pieces = split_label(arc.label, ",")
        several = len(pieces) > 1 and all(len(split_label(piece, "/")) == 2 for piece in pieces)
        pairs: list[tuple[_Arc, Characters, str | None]] = []
        for piece in pieces if several else [arc.label]:
            both = input_and_output(piece)
            if both is None:
                raise InputError(
                    f"{self.name}: line {arc.line}: label {plain(piece)!r} is not `input/output`; "
                    "write `\\/` for a slash in a name"
                )
            pairs.append((arc, both[0], plain(both[1])))
        return pairs

    def automaton(self, track: Track | None, max_states: int) -> Automaton:
        letters = list(dict.fromkeys(arc.letter for arc in self.arcs if arc.letter is not None))
        accepting = [q for q in self.states if _is_accepting(self.nodes[q])]
        if self.kind == "acceptor" and not self.keep_points:
            state_of = {q: i for i, q in enumerate(self.states)}
            letter_of: dict[str | None, int] = {x: i for i, x in enumerate(letters)} | {None: EPSILON}
            arcs = [(state_of[a.source], letter_of[a.letter], state_of[a.target]) for a in self.arcs]
            acceptor = Acceptor(
                self.states,
                letters,
                arcs,
                [state_of[q] for q in self.starts],
                [state_of[q] for q in accepting],
            )
            return acceptor.automaton(self.name, track, max_states).with_notes(*self.notes)
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
        return automaton.with_notes(*self.notes)

    def _check_deterministic(self) -> None:
        if len(self.starts) > 1:
            shown = ", ".join(repr(q) for q in self.starts[:5])
            raise InputError(
                f"{self.name}: several start states ({shown}): keep one, or name one with `start`"
            )
        known: dict[tuple[str, str | None], _Arc] = {}
        for arc in self.arcs:
            first = known.setdefault((arc.source, arc.letter), arc)
            if (first.target, first.output) != (arc.target, arc.output):
                raise InputError(
                    f"{self.name}: lines {first.line} and {arc.line} differ on state {arc.source!r} and letter "
                    f"{arc.letter!r}: only acceptors may be nondeterministic"
                )

    def _moore_outputs(self) -> dict[Any, Any]:
        if not any("record" in self.nodes[q].get("shape", "").lower() for q in self.states):
            self.notes.append("the labels of the states are read as `name/output`")
            return {q: _slashed_output(self.nodes[q]) for q in self.states}
        outputs = {q: record_output(_label_of(self.nodes[q])) for q in self.states}
        missing = [q for q, output in outputs.items() if output is None]
        if missing:
            shown = ", ".join(repr(q) for q in missing[:10])
            raise InputError(
                f'{self.name}: no output in the label of {shown}; write `label="{{ name | output }}"`'
            )
        return dict(outputs)


def _refuse_what_is_drawn_otherwise(graph: DotGraph, name: str) -> None:
    """Edges that graphviz does not draw as they are written: the first of two in a strict graph, and arrows that are turned round."""
    seen: set[tuple[str, str]] = set()
    for edge in graph.edges:
        if graph.strict and (edge.tail, edge.head) in seen:
            raise InputError(
                f"{name}: line {edge.line}: a strict graph keeps one edge from {edge.tail!r} to {edge.head!r}, and this is a second one: "
                "leave `strict` out, or write one edge for both labels"
            )
        seen.add((edge.tail, edge.head))
        if (turned := edge.attributes.get("dir")) in ("back", "both"):
            raise InputError(
                f"{name}: line {edge.line}: the edge from {edge.tail!r} to {edge.head!r} has dir={turned}, so that its arrow is not drawn "
                "that way alone: write each transition as an edge from its state to the next one, without dir"
            )


def _refuse_two_spellings(graph: DotGraph, name: str) -> None:
    """Two labels `<v>` and `v` are one for graphviz, and may have been two letters for the program that wrote them."""
    plain_labels = {
        e.attributes.get("label") for e in graph.edges if not isinstance(e.attributes.get("label"), HtmlText)
    }
    for edge in graph.edges:
        label = edge.attributes.get("label")
        if isinstance(label, HtmlText) and html_text(label) in plain_labels:
            raise InputError(
                f"{name}: line {edge.line}: the labels <{label[:40]}> and {label[:40]} have the same text: quote one that is another "
                f'letter, as in label="<{label[:40]}>"'
            )


def _refuse_other_machines(arcs: list[_Arc], graph: DotGraph, name: str) -> None:
    labels = [plain(arc.label) for arc in arcs if not any(mark for _, mark in arc.label)]
    found = find_other_machine(labels, _label_of(graph.attributes))
    if found is not None:
        lines = [arc.line for arc in arcs if not any(mark for _, mark in arc.label)]
        raise InputError(
            f"{name}: line {lines[found.at]}: the label {labels[found.at][:60]!r} {found.what}; if each label is one letter as "
            "it stands, give `split` none"
        )


def _label_of(attributes: dict[str, str]) -> str:
    label = attributes.get("label", "")
    return html_text(label) if isinstance(label, HtmlText) else label


def _slashed_output(attributes: dict[str, str]) -> str | None:
    """The output in the label `name/output` of a state; None if it has no such label."""
    pieces = split_label(characters(_label_of(attributes)), "/")
    return plain(pieces[1]) if len(pieces) == 2 and all(pieces) else None


def _start_markers(graph: DotGraph) -> set[str]:
    """Nodes that only point at a start state: their edges are outgoing and unlabelled, and they look like it."""
    outgoing: dict[str, bool] = {}
    reached = {edge.head for edge in graph.edges}
    for edge in graph.edges:
        label = edge.attributes.get("label", "").strip()
        hidden_shape = graph.nodes[edge.tail].get("shape") in _HIDDEN_SHAPES
        named = edge.tail.lower().startswith(
            "__start"
        )  # as AutomataLib does, which once wrote a letter beside the arrow
        only_marks = not label or (hidden_shape and (named or label.lower() in _START_WORDS))
        outgoing[edge.tail] = outgoing.get(edge.tail, True) and only_marks
    return {
        node
        for node, only_marks in outgoing.items()
        if only_marks and node not in reached and _looks_hidden(node, graph.nodes[node])
    }


def _looks_hidden(node: str, attributes: dict[str, str]) -> bool:
    filled = "filled" in attributes.get("style", "")
    return (
        (filled and attributes.get("fillcolor", attributes.get("color")) == "black")  # as UML draws it
        or node.lower().startswith("__start")
        or node.lower() in _START_WORDS
        or attributes.get("shape") in _HIDDEN_SHAPES
        or "invis" in attributes.get("style", "")
        or not attributes.get("label", "x").strip()
    )


def _is_accepting(attributes: dict[str, str]) -> bool:
    return attributes.get("shape") == "doublecircle" or attributes.get("peripheries") == "2"


def _lines_of(edge: DotEdge, name: str, notes: list[str]) -> list[Characters]:
    label = edge.attributes.get("label", "")
    if isinstance(label, HtmlText):
        text = html_text(label)
        lines = [[(c, False) for c in line.strip()] for line in text.split("\n") if line.strip()]
        note = f"the label <{label[:60]}> is HTML-like, as graphviz takes it: its text {text[:60]!r} is read"
        if note not in notes:
            notes.append(note)
    elif is_empty_move(label.strip()):  # `\epsilon` and `$\varepsilon$` too, whose backslash escapes nothing
        lines = [[(c, False) for c in label.strip()]]
    else:
        lines = [line for line in split_label(characters(label), "\n") if line]
    if not lines:
        raise InputError(
            f"{name}: line {edge.line}: the edge {edge.tail!r} -> {edge.head!r} has no letter as label"
        )
    return lines


def _kind(
    declared: str | None, states: list[str], graph: DotGraph, arcs: list[_Arc], name: str
) -> OutputKind:
    nodes = graph.nodes
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
    if arcs and not any(slashed) and all(_slashed_output(nodes[q]) is not None for q in states):
        return "moore"
    if any(slashed):
        arc = arcs[slashed.index(False)]
        raise InputError(
            f"{name}: line {arc.line}: label {plain(arc.label)!r} has no output, others are `input/output`; "
            "write `\\/` for a slash in a letter"
        )
    # a list of accepting states that is empty, as in `node [shape=doublecircle]; node [shape=circle];`
    return "acceptor" if any(map(_is_accepting, graph.node_defaults)) else "states"


def _refuse_late_marks(states: list[str], graph: DotGraph, name: str) -> None:
    """`node [shape=doublecircle]; q` below an edge of q: graphviz draws one circle, and the writer may have meant two."""
    for node, (line, defaults) in graph.unchanged.items():
        if node in states and _is_accepting(defaults) and not _is_accepting(graph.nodes[node]):
            raise InputError(
                f"{name}: line {line}: `node [shape=doublecircle]` does not change {node!r}, which stands above it already, so graphviz "
                f"draws one circle: write `{node} [shape=doublecircle]` if it accepts, or remove the line"
            )


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
    letters = [escape_letter(x, "/,|;") for x in distinct_texts(automaton.letters, "letter", name)]
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
            # without blanks around the bar, which AALpy takes for a part of the output
            fields = f"{escape_label(texts[q], '{}|<>')}|{escape_label(outputs[q], '{}|<>')}"
            lines.append(f'  {state} [shape=record, label="{_quote(f"{{{fields}}}")}"];')
        else:
            accepted = kind == "acceptor" and automaton.outputs[q]
            shape = "doublecircle" if accepted else "circle"
            # graphviz shows the name without the label too, but AALpy reads no node without one
            lines.append(f'  {state} [shape={shape}, label="{_quote(escape_label(texts[q], ""))}"];')
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
    extensions=(".dot", ".gv"),
    read=read_dot,
    write=write_dot,
    example="""digraph parity {
  __start0 [shape=none, label=""]; __start0 -> even
  even [shape=doublecircle]; odd [shape=circle]
  even -> odd [label="a"]; odd -> even [label="a"]
}
""",
)
