"""The heads of an LRNN of several layers as `draw_mirrors` shows them: one panel for each different transition."""

from __future__ import annotations

from dataclasses import replace

from ...constructions.lrnn import LRNN, Head
from ...constructions.texts.layer_letters import (
    LayerLetters,
    distinct_transitions,
    layer_letters,
    map_kind,
    map_text,
    point_map,
)
from ...constructions.texts.show import counted
from ...constructions.texts.show_layers import short_list
from .mirror_head import DrawnHead, DrawnLetter, drawn_head
from .mirror_words import sentence

TITLE = 28
"""Signs above a panel."""


def layered_heads(lrnn: LRNN, max_points: int) -> list[DrawnHead]:
    """Every head, layer by layer, its points numbered; a doubled one has the names `uv` of its pairs."""
    letters = layer_letters(lrnn)
    start = lrnn.decode[0, 1:].tolist()
    return [
        _drawn(head, f"{i + 1}.{j + 1}", letters[i], start[lrnn.columns[i].start + j], max_points)
        for i, layer in enumerate(lrnn.layers)
        for j, head in enumerate(layer.heads)
    ]


def _drawn(head: Head, name: str, own: LayerLetters, start: int, max_points: int) -> DrawnHead:
    kinds = distinct_transitions(head)
    chosen = [t for t, _ in kinds]
    reduced = replace(
        head,
        transitions=tuple(head.transitions[t] for t in chosen),
        code_transitions=head.code_transitions[chosen],
        actions=None,
    )
    labels = [_title([own.name(x) for x in letters]) for _, letters in kinds]
    count = head.points or len(head.codes)
    drawn = drawn_head(reduced, f"head {name}", labels, start, code_names(head), max_points)
    panels = tuple(
        _panel(drawn, letter, map_text(images, 6), map_kind(images))
        for letter, images in zip(drawn.letters, (point_map(head, t) for t in chosen), strict=True)
    )
    heading = (
        f"Layer {own.number}, head {name}: {counted(count, 'point')}{', doubled' * bool(head.points)}, "
        f"dimension {head.dim}; {counted(own.count, 'letter')}, {counted(len(kinds), 'transition')}"
    )
    return replace(drawn, letters=panels, heading=heading)


def _title(names: list[str]) -> str:
    """As many names as a panel has room for, three at most."""
    texts = [short_list(names, most) for most in (3, 2, 1)]
    return next((text for text in texts if len(text) <= TITLE), texts[-1])


def _panel(drawn: DrawnHead, letter: DrawnLetter, action: str, kind: str) -> DrawnLetter:
    words = action if kind == "identity" else f"{action}; {sentence(drawn, letter)}"
    return replace(letter, heading=letter.label, words=words)


def code_names(head: Head) -> tuple[str, ...]:
    """The point of each code, for a doubled head both: `21` or `12 1`."""
    if head.points is None:
        return tuple(str(c) for c in range(len(head.codes)))
    between = "" if head.points <= 10 else " "
    pairs = (divmod(c, head.points) for c in range(len(head.codes)))
    return tuple(f"{u}{between}{v}" for u, v in pairs)
