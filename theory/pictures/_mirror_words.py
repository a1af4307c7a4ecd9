"""What a letter's mirrors do, in words: the sentence above a panel, and why it takes so many.

The words below the panels of `draw_mirrors`.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ...constructions._lrnn import LRNN
from ...foundation._text import count_noun, inflect_noun
from ._mirror_head import TOLERANCE, DrawnHead, DrawnLetter, Floats

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def sentence(head: DrawnHead, letter: DrawnLetter) -> str:
    """A few words, such as `two mirrors at π/7: rotation by 2π/7`."""
    k = len(letter.sizes)
    if letter.transition.matrix is not None:
        rank = int(np.linalg.matrix_rank(letter.matrix))
        return f"a matrix without factors: {count_noun(head.dim, 'dimension')} to {rank}"
    gate = (
        ""
        if letter.gate == 1
        else "gate 0: forgets, then "
        if letter.gate == 0
        else f"gate {letter.gate:.3g}, then "
    )
    tail = ", then adds B" if letter.transition.additive else ""
    if k == 0:
        return (gate + "no mirror" if gate else "no mirror: every state stays") + tail
    if not letter.only_mirrors:
        return f"{gate}{_factors(letter)}{tail}"
    if head.form == "wires":
        return _permutation(letter.matrix, k)
    count = f"{number_word(k)} {inflect_noun(k, 'mirror')}"
    if head.form == "line":
        return f"{count}: the sign flips" if k % 2 else f"{count}: every state stays"
    if k == 1:
        return f"{count}: a reflection"
    if k == 2:
        between = float(np.arccos(min(1.0, abs(float(letter.keys[0] @ letter.keys[1])))))
        if abs(between - np.pi / 2) < TOLERANCE:
            return f"{count} at π/2: a half-turn"
        return (
            f"{count} at {angle_text(between)}: rotation by {angle_text(2 * between)}{_sense(head, letter)}"
        )
    return f"{count}: {_rotoreflection(head.picture_matrix(letter))}"


def number_word(k: int) -> str:
    """`two` for 2; digits from ten on."""
    return NUMBERS[k] if k < len(NUMBERS) else str(k)


def angle_text(angle: float) -> str:
    """`2π/7` where the angle is such a multiple of π, else degrees."""
    multiple = Fraction(angle / np.pi).limit_denominator(2000)
    if abs(float(multiple) * np.pi - angle) > TOLERANCE:
        return f"{np.degrees(angle):.2f}°"
    p, q = multiple.numerator, multiple.denominator
    return "0" if p == 0 else f"{'' if p == 1 else p}π" + ("" if q == 1 else f"/{q}")


def _sense(head: DrawnHead, letter: DrawnLetter) -> str:
    if head.form != "plane":
        return ""
    A = head.picture_matrix(letter)
    return "\u00a0↺" if A[1, 0] > 0 else "\u00a0↻"


def _rotoreflection(A: Floats) -> str:
    n = len(A)
    if n == 3 and np.allclose(A, -np.eye(3)):
        return "the inversion H ↦ -H"
    if n == 3 and np.linalg.det(A) < 0:
        angle = float(np.arccos(np.clip((np.trace(A) + 1) / 2, -1, 1)))
        return f"a rotation by {angle_text(angle)} and a reflection"
    return f"rank(A - I) = {np.linalg.matrix_rank(A - np.eye(n), tol=1e-6)}"


def _factors(letter: DrawnLetter) -> str:
    masked = np.array([f.mask is not None for f in letter.transition.factors], dtype=bool)
    copies, sizes = int(masked.sum()), letter.sizes[~masked]
    mirrors = int(np.sum(np.abs(sizes - 2) < TOLERANCE))
    projections = int(np.sum(np.abs(sizes - 1) < TOLERANCE))
    rest = len(sizes) - mirrors - projections
    parts = [count_noun(n, noun) for n, noun in
             ((mirrors, "mirror"), (projections, "projection"), (rest, "contraction")) if n]  # fmt: skip
    parts += [count_noun(copies, "copy") if copies == 1 else f"{copies} copies"] * bool(copies)
    return " and ".join(parts)


def _permutation(A: Floats, k: int) -> str:
    """The cycles of a signed permutation, each with the factors it takes."""
    image = np.argmax(np.abs(A), axis=0)
    signs = A[image, np.arange(len(A))]
    whole = np.allclose(np.abs(A), np.eye(len(A))[:, image]) and len(set(image.tolist())) == len(A)
    if not whole:
        return (
            f"{count_noun(k, 'mirror')}: rank(A - I) = {np.linalg.matrix_rank(A - np.eye(len(A)), tol=1e-6)}"
        )
    names: dict[tuple[int, bool], int] = {}
    seen = np.zeros(len(A), dtype=bool)
    for first in range(len(A)):
        length, positive, i = 0, True, first
        while not seen[i]:
            seen[i] = True
            length, positive, i = length + 1, positive == (signs[i] > 0), int(image[i])
        if length > 1 or (length == 1 and not positive):
            names[length, positive] = names.get((length, positive), 0) + 1
    parts, counts = [], []
    for (length, positive), times in sorted(names.items(), reverse=True):
        name = ("" if positive else "negative ") + (f"{length}-cycle" if length > 1 else "axis")
        parts.append(f"a {name}" if times == 1 else f"{number_word(times)} {name.replace('axis', 'axe')}s")
        counts += [str(length - positive)] * times
    noun = "swap" if all(positive for _, positive in names) else "mirror"
    total = f" = {k}" if len(counts) > 1 else ""
    return f"{', '.join(parts)}: {' + '.join(counts)}{total} {noun}{'' if k == 1 else 's'}"


def why_so_many(heads: list[DrawnHead]) -> list[str]:
    """Why the letter with most factors cannot do with fewer (H.rank); empty where it could, or needs at most one."""
    every = [(len(letter.sizes), head, letter) for head in heads for letter in head.letters]
    most, head, letter = max(every, key=lambda entry: entry[0])
    fixed = head.dim - int(np.linalg.matrix_rank(letter.matrix - np.eye(head.dim), tol=1e-6))
    if most < 2 or fixed != head.dim - most:
        return []
    where = f" on {head.title.lower()}" if len(heads) > 1 else ""
    only = f"only {fixed}" if fixed else "none"
    label = letter.label if len(letter.label) <= 30 else letter.label[:29] + "…"
    return [
        f"Why {most}: letter {label}{where} fixes {only} of {head.dim} dimensions, "
        f"and k mirrors fix at least {head.dim} - k."
    ]


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
    if lrnn.is_layered:
        parts.append(
            "Layers act from top to bottom within a token; below the first, #5 is letter 5 that the layer above makes, "
            "and letters with the same transition share a panel."
        )
        if any(head.points for head in lrnn.all_heads):
            parts.append(
                "A doubled head is at u, and also holds v, its point before the last reset"
                + (" (dots u v)." if forms - {"wires"} else ".")
            )
        return parts + _say_cut_transitions(heads, chosen, option)
    parts += why_so_many(heads)
    count, kept = len(heads[0].letters), len(chosen[0])
    if kept < count:
        which = "one of each kind" if kept == kinds else f"of {kinds} kinds"
        parts.append(f"{kept} of {count} letters are drawn, {which}; with {option} {count} all are drawn.")
    return parts


def _say_cut_transitions(heads: list[DrawnHead], chosen: list[list[int]], option: str) -> list[str]:
    """What was left out of the heads of several layers, which `option` shows."""
    cut = [
        (head.title, len(letters), len(head.letters))
        for head, letters in zip(heads, chosen, strict=True)
        if len(letters) < len(head.letters)
    ]
    if not cut:
        return []
    some = ", ".join(f"{kept} of {count} transitions of {title}" for title, kept, count in cut[:4])
    more = f", and of {count_noun(len(cut) - 4, 'more head')}" if len(cut) > 4 else ""
    most = max(count for _, _, count in cut)
    return [f"Drawn are {some}{more}, one of each kind; with {option} {most} all are drawn."]


def _projects(head: DrawnHead, letters: list[int]) -> bool:
    """True where one of the letters has a projection or a gate 0."""
    return any(
        head.letters[x].gate == 0 or bool((abs(head.letters[x].sizes - 1) < TOLERANCE).any()) for x in letters
    )
