r"""`latex` for several layers: each layer's letters, heads and different transitions, and its read-out, as running text.

Long lists are paragraphs, which TeX breaks into lines, not tables.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..lrnn import LRNN, Head, Sparse
from .latex import beginning, code_latex, text, transition_latex, vector
from .layer_letters import (
    LayerLetters,
    distinct_transitions,
    heads_read,
    layer_letters,
    map_text,
    point_map,
    read_out,
)
from .show import counted, label_text
from .show_layers import SHORT_LIST, head_text, point_codes, points_text, start_text

LEGEND = (
    "Layers act from top to bottom within a token: the first reads the automaton's letter, every other its own letter, "
    r"which the layer above makes (\#5 is letter~5), and the last names the automaton's state. "
    "Head~2.1 is head~1 of layer~2; its points are numbered $0, 1, \\dots$, and ``head 2.1 at 0'' is its point "
    "\\emph{before} the token, which its new state and the letter tell."
)


def layered_parts(lrnn: LRNN, max_letters: int) -> list[str]:
    """The paragraphs of `latex` below the figures; every list is cut after `max_letters` and says so."""
    parts = [LEGEND]
    letters = layer_letters(lrnn)
    for i, layer in enumerate(lrnn.layers):
        own = letters[i]
        parts.append(
            rf"\section*{{Layer {i + 1}: {counted(own.count, 'letter')}, {counted(len(layer.heads), 'head')}}}"
        )
        if i > 0:
            rows = [
                rf"{_tt(own.name(y))}: {own.explanation(y, _tt)}" for y in range(min(own.count, max_letters))
            ]
            parts.append("Letters: " + "; ".join(rows) + _cut(own.count, max_letters, "letter") + ".")
        for j, head in enumerate(layer.heads):
            code = int(lrnn.decode[0, 1 + lrnn.columns[i].start + j])
            parts += _head_parts(f"Layer {i + 1}, head {j + 1}", head, code, own, max_letters)
        parts += _read_out_parts(lrnn, i, letters, max_letters)
    return parts


def _head_parts(title: str, head: Head, code: int, own: LayerLetters, max_letters: int) -> list[str]:
    every = point_codes(head)
    codes = [rf"{p} is ${_point_code(head, c)}$" for p, c in enumerate(every[:max_letters])]
    points = f"Points: {', '.join(codes)}{_cut(len(every), max_letters, 'point')}."
    parts = [
        rf"\subsection*{{{title}}}",
        rf"{text(head_text(head)).replace('H is', '$H$ is', 1)}. {points} $H_0$ is {start_text(head, code)}.",
        *beginning(head, head.codes[code]),
    ]
    kinds = distinct_transitions(head)
    for number, (t, letters) in enumerate(kinds[:max_letters], start=1):
        names = [_tt(own.name(x)) for x in letters[:SHORT_LIST]]
        more = f" and {len(letters) - SHORT_LIST} more" if len(letters) > SHORT_LIST else ""
        what = text(map_text(point_map(head, t)))
        parts.append(
            rf"\paragraph{{Transition {number} of {len(kinds)}}} "
            f"letter{'s' * (len(letters) > 1)} {', '.join(names)}{more}; {what}.\n"
            + transition_latex("A", head.transitions[t], head)
        )
    if len(kinds) > max_letters:
        parts.append(_cut(len(kinds), max_letters, "transition").removeprefix("; ") + ".")
    return parts


def _point_code(head: Head, code: Sparse) -> str:
    if head.value_dim == 1:
        return vector([(i, x) for i, _, x in code])
    return code_latex(head, code)


def _read_out_parts(lrnn: LRNN, i: int, letters: Sequence[LayerLetters], max_letters: int) -> list[str]:
    layer, own = lrnn.layers[i], letters[i]
    last = i == len(lrnn.layers) - 1
    aim = "the automaton's state" if last else f"the letter of layer {i + 2}"
    lines = []
    for x in range(min(own.count, max_letters)):
        heads, rows, parts = heads_read(layer, x), read_out(layer, x), []
        for points, y in rows[:max_letters]:
            name = _tt(label_text(lrnn.automaton.states[y]) if last else letters[i + 1].name(y))
            parts.append(rf"{points_text(points)}~$\to$~{name}" if heads else name)
        names = ", ".join(f"{i + 1}.{h + 1}" for h in heads)
        read = f"head{'s' * (len(heads) > 1)} {names} at " if heads else ""
        lines.append(
            rf"\item {_tt(own.name(x))}: {read}{', '.join(parts)}{_cut(len(rows), max_letters, 'point')}"
        )
    listed = "\\begin{itemize}\n" + "\n".join(lines) + "\n\\end{itemize}"
    more = _cut(own.count, max_letters, "letter").removeprefix("; ")
    return [rf"\subsection*{{Layer {i + 1}, read-out: {aim}}}", listed, *[more + "."] * bool(more)]


def _tt(label: str) -> str:
    return rf"\texttt{{{text(label)}}}"


def _cut(count: int, most: int, noun: str) -> str:
    if count <= most:
        return ""
    return rf"; \dots\ {counted(count - most, f'more {noun}')}: \texttt{{{text(f'--max-letters {count}')}}} shows all"
