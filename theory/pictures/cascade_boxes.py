"""What the boxes of `draw_cascade` say of the heads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...constructions.cascades.holonomy_group import order_and_name
from ...constructions.lrnn import LRNN, Head
from ...constructions.texts.layer_letters import distinct_transitions, map_kind, point_map
from ...constructions.texts.show import counted


@dataclass(frozen=True)
class HeadBox:
    """What a head's box says: its lines, its colours' name, and how many letters' read-outs read it."""

    lines: tuple[str, ...]
    fill: str
    readers: int


def head_box(lrnn: LRNN, i: int, j: int) -> HeadBox:
    """The box of head j of layer i."""
    layer = lrnn.layers[i]
    head = layer.heads[j]
    count = head.points or len(head.codes)
    name, resets, others = point_actions(head)
    does = [f"group {name}"] * bool(name) + [counted(resets, "reset")] * bool(resets)
    does += [counted(others, "other map")] * bool(others)
    factors = "matrices" if head.householders is None else counted(head.householders, "factor")
    lines = (
        f"head {i + 1}.{j + 1}",
        counted(count, "point") + ", doubled" * bool(head.points),
        ", ".join(does) or "no letter moves it",
        f"dimension {head.dim}, {factors}",
    )
    readers = 0 if layer.reads is None else int((layer.reads == j).any(axis=1).sum())
    return HeadBox(lines, "group" if name or others else "reset", readers)


def point_actions(head: Head) -> tuple[str, int, int]:
    """The group that the transitions which permute the points generate ("" if none moves one), resets, other maps."""
    maps = {tuple(point_map(head, t).tolist()): None for t, _ in distinct_transitions(head)}
    kinds = [(row, map_kind(np.array(row))) for row in maps]
    permutations = [row for row, kind in kinds if kind == "permutation"]
    name = order_and_name(np.array(permutations, dtype=np.int64))[1] if permutations else ""
    return name, sum(kind == "reset" for _, kind in kinds), sum(kind == "map" for _, kind in kinds)


def head_boxes(lrnn: LRNN, i: int, max_heads: int) -> list[HeadBox]:
    """The row of layer i; where there are more than `max_heads` the last box stands for the rest."""
    heads = len(lrnn.layers[i].heads)
    shown = heads if heads <= max_heads else max_heads - 1
    boxes = [head_box(lrnn, i, j) for j in range(shown)]
    if shown < heads:
        reads = lrnn.layers[i].reads
        readers = 0 if reads is None else int((reads >= shown).any(axis=1).sum())
        boxes.append(HeadBox((f"{counted(heads - shown, 'more head')}", "not drawn"), "more", readers))
    return boxes
