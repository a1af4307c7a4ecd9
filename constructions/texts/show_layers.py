"""`show` for several layers: each layer's letters, heads and different transitions, and what its read-out makes of them."""

from __future__ import annotations

from collections.abc import Sequence

from ..lrnn import LRNN, Head, Sparse
from .closed_forms import number_text
from .layer_letters import (
    LayerLetters,
    distinct_transitions,
    heads_read,
    layer_letters,
    map_text,
    point_map,
    read_out,
)
from .show import (
    MAX_MATRIX,
    code_lines,
    counted,
    field_lines,
    label_text,
    transition_lines,
    vector_text,
)

LEGEND = (
    "layers act from top to bottom within a token: the first reads the automaton's letter, every other its own letter "
    "that the layer above makes (#5 is letter 5), and the last names the automaton's state",
    "head 2.1 is head 1 of layer 2; its points are numbered 0, 1, ...; "
    '"head 2.1 at 0" is its point before the token, which its new code and the letter tell',
)
SHORT_LIST = 12
"""Letters named beside a transition."""


def layered_lines(lrnn: LRNN, max_letters: int) -> list[str]:
    """The lines of `show` below the figures; every list is cut after `max_letters` and says so."""
    lines = list(LEGEND)
    letters = layer_letters(lrnn)
    for i, layer in enumerate(lrnn.layers):
        own = letters[i]
        which = " (the automaton's)" if i == 0 else ""
        lines += [
            "",
            f"Layer {i + 1}: {counted(own.count, 'letter')}{which}, {counted(len(layer.heads), 'head')}",
        ]
        if i > 0:
            rows = [f"  {own.name(y)}: {own.explanation(y)}" for y in range(min(own.count, max_letters))]
            lines += [*rows, *cut_lines(own.count, max_letters, "letter")]
        for j, head in enumerate(layer.heads):
            code = int(lrnn.decode[0, 1 + lrnn.columns[i].start + j])
            lines += ["", *_head_lines(f"Layer {i + 1}, head {j + 1}", head, code, own, max_letters)]
        lines += ["", *_read_out_lines(lrnn, i, letters, max_letters)]
    return lines


def cut_lines(count: int, most: int, noun: str) -> list[str]:
    """A line that says how many more there are."""
    if count <= most:
        return []
    return [f"  ... {counted(count - most, f'more {noun}')}: --max-letters {count} shows all"]


def short_list(names: Sequence[str], most: int = SHORT_LIST) -> str:
    """`letters a, b, c and 9 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"letter{'s' * (len(names) > 1)} {', '.join(names[:most])}{more}"


def point_codes(head: Head) -> list[Sparse]:
    """The code of each point; of a doubled head its upper half."""
    if head.points is None:
        return list(head.codes)
    half = head.dim // 2
    codes = (head.codes[p * head.points] for p in range(head.points))
    return [tuple(entry for entry in code if entry[0] < half) for code in codes]


def points_text(points: Sequence[int]) -> str:
    """`2` of one head, `(2, 0)` of two."""
    text = ", ".join(map(str, points))
    return f"({text})" if len(points) > 1 else text


def start_text(head: Head, code: int) -> str:
    """At which point, or pair of points, a code is."""
    if head.points is None:
        return f"point {code}"
    u, v = divmod(code, head.points)
    return f"u at {u}, v at {v}"


def head_text(head: Head) -> str:
    """Shape, points, and what a doubled head remembers."""
    text = f"H is {head.dim} × {head.value_dim}, "
    if head.points is None:
        return text + counted(len(head.codes), "point")
    return text + (
        f"doubled: above u, the current one of {counted(head.points, 'point')}, below v, "
        "the one before the last reset"
    )


def _head_lines(title: str, head: Head, code: int, own: LayerLetters, max_letters: int) -> list[str]:
    lines = [f"{title}: {head_text(head)}", *field_lines(head)]
    codes = [f"{p} = {_code_text(head, c)}" for p, c in enumerate(point_codes(head)[:max_letters])]
    count = head.points or len(head.codes)
    more = f", ... {count - max_letters} more" if count > max_letters else ""
    lines.append(f"points: {', '.join(codes)}{more}")
    lines += code_lines("H_0 = ", head, head.codes[code])
    lines[-1] += f", {start_text(head, code)}"
    kinds = distinct_transitions(head)
    for number, (t, letters) in enumerate(kinds[:max_letters], start=1):
        heading = f"{short_list([own.name(x) for x in letters])}, transition {number} of {len(kinds)}"
        shown = transition_lines(heading, head.transitions[t], head)
        shown.insert(1, f"  points: {map_text(point_map(head, t))}")
        lines += ["", *shown]
    return lines + cut_lines(len(kinds), max_letters, "transition")


def _code_text(head: Head, code: Sparse) -> str:
    dim = head.dim if head.points is None else head.dim // 2
    if head.value_dim == 1 and dim <= min(4, MAX_MATRIX):
        values = {i: x for i, _, x in code}
        inside = ", ".join(number_text(values.get(i, 0)) for i in range(dim))
        return inside if dim == 1 else f"({inside})ᵀ"
    if head.value_dim == 1:
        return vector_text([(i, x) for i, _, x in code])
    return "{" + ", ".join(f"({i + 1}, {j + 1}): {number_text(x)}" for i, j, x in code) + "}"


def _read_out_lines(lrnn: LRNN, i: int, letters: Sequence[LayerLetters], max_letters: int) -> list[str]:
    layer, own = lrnn.layers[i], letters[i]
    last = i == len(lrnn.layers) - 1
    aim = "the automaton's state" if last else f"the letter of layer {i + 2}"
    lines = [f"Layer {i + 1}, read-out: {aim}"]
    for x in range(min(own.count, max_letters)):
        heads = heads_read(layer, x)
        parts = []
        rows = read_out(layer, x)
        for points, y in rows[:max_letters]:
            name = label_text(lrnn.automaton.states[y]) if last else letters[i + 1].name(y)
            where = points_text(points)
            parts.append(f"{where} → {name}" if heads else name)
        more = f"; ... {len(rows) - max_letters} more" if len(rows) > max_letters else ""
        names = ", ".join(f"{i + 1}.{h + 1}" for h in heads)
        read = f"head{'s' * (len(heads) > 1)} {names} at " if heads else ""
        lines.append(f"  {own.name(x)}: {read}{'; '.join(parts)}{more}")
    return lines + cut_lines(own.count, max_letters, "letter")
