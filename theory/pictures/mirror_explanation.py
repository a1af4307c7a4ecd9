"""The words below the panels of `draw_mirrors`."""

from __future__ import annotations

from ...constructions.lrnn import LRNN
from ...constructions.texts.show import counted
from .mirror_head import TOLERANCE, DrawnHead
from .mirror_words import why_so_many


def explanation(
    lrnn: LRNN, heads: list[DrawnHead], chosen: list[list[int]], kinds: int, option: str
) -> list[str]:
    """What one sees, why fewer factors do not do, and what was left out, which `option` shows."""
    forms = {head.form for head in heads}
    parts = []
    if forms - {"wires"}:
        points = "Dots are the states" + (" of the head" if len(heads) > 1 else "")
        if any(head.basis is not None and len(head.basis) > head.basis.shape[1] for head in heads):
            points += ", drawn without the directions that no letter moves"
        parts.append(points + ".")
        if forms & {"plane", "space"}:
            parts.append(
                "A mirror reflects along its key, the short arrow; the dotted path follows the start from mirror to mirror."
            )
        if any(
            head.form != "wires" and _projects(head, letters)
            for head, letters in zip(heads, chosen, strict=True)
        ):
            parts.append("A dashed mirror is a projection: what lies along its key goes to 0.")
    if "space" in forms:
        pairs = any(
            len(head.letters[x].sizes) == 2
            for head, letters in zip(heads, chosen, strict=True) if head.form == "space"
            for x in letters
        )  # fmt: skip
        axis = "; the dash-dotted line, where two mirrors meet, is the axis of the rotation" * pairs
        parts.append(f"Solid arrows: the start's cycle under the letter{axis}.")
    if "wires" in forms:
        if any(letter.transition.matrix is not None for head in heads for letter in head.letters):
            parts.append(
                "Wires: coordinate at the top to coordinate at the bottom; wires that meet are added."
            )
        else:
            parts.append(
                "Wires are coordinates; from top to bottom each mirror C exchanges two of them, and ⊖ changes a sign."
            )
            if any(
                head.form == "wires" and _projects(head, letters)
                for head, letters in zip(heads, chosen, strict=True)
            ):
                parts.append(
                    "At a bar a coordinate is set to 0; a number with a sign at the bottom is added."
                )
            if any(factor.mask for head in lrnn.all_heads for t in head.transitions for factor in t.factors):
                parts.append("A copy leads a wire into another, to which it is added.")
    if len(lrnn.layers) > 1:
        parts.append(
            "Layers act from top to bottom within a token; below the first, #5 is letter 5 that the layer above makes, "
            "and letters with the same transition share a panel."
        )
        if any(head.points for head in lrnn.all_heads):
            parts.append(
                "A doubled head is at u, and also holds v, its point before the last reset"
                + (" (dots u v)." if forms - {"wires"} else ".")
            )
        return parts + _cut_transitions(heads, chosen, option)
    parts += why_so_many(heads)
    count, kept = len(heads[0].letters), len(chosen[0])
    if kept < count:
        which = "one of each kind" if kept == kinds else f"of {kinds} kinds"
        parts.append(f"{kept} of {count} letters are drawn, {which}; {option} {count} draws them all.")
    return parts


def _cut_transitions(heads: list[DrawnHead], chosen: list[list[int]], option: str) -> list[str]:
    """What was left out of the heads of several layers, which `option` shows."""
    cut = [
        (head.title, len(letters), len(head.letters))
        for head, letters in zip(heads, chosen, strict=True)
        if len(letters) < len(head.letters)
    ]
    if not cut:
        return []
    some = ", ".join(f"{kept} of {count} transitions of {title}" for title, kept, count in cut[:4])
    more = f", and of {counted(len(cut) - 4, 'more head')}" if len(cut) > 4 else ""
    most = max(count for _, _, count in cut)
    return [f"Drawn are {some}{more}, one of each kind; {option} {most} draws them all."]


def _projects(head: DrawnHead, letters: list[int]) -> bool:
    """True where one of the letters has a projection or a gate 0."""
    return any(
        head.letters[x].gate == 0 or bool((abs(head.letters[x].sizes - 1) < TOLERANCE).any()) for x in letters
    )
