"""A head whose new state still tells where it was before a letter that merges points.

A letter H ↦ A H + B with A a signed partial permutation, A e_i = ±e_j or 0, loses the coordinates that A sends to 0. With
as many further rows v, A and the map of these coordinates into v are together an isometry of the old state:

    (u, v) ↦ (A u + B, E u),    E = the coordinates that A sends to 0.

So (u', v') tells u, and the norm is 1. In factors: erase v, one projection a row, and a signed permutation that takes the
lost coordinates to v and v, which is 0, to what is free. A reset, A = 0, exchanges the halves (the doubled state of G.T4).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._head import Head, dense_matrix, image_of
from .._realisation import Transition
from ..algebra._cyclotomic import simplest
from ..algebra._householder import gh_factor
from ._representations import signed_permutation_factors

MAX_REMEMBERED = 5_000
"""Most states of a head with what it remembers."""


def lost_coordinates(head: Head, transition: int) -> tuple[list[int], list[int], list[int]] | None:
    """For A of one transition: the image of each coordinate, -1 for 0, its sign (1: negative), and the coordinates sent to 0.

    None where A is no signed partial permutation or the transition has a gate.
    """
    found = head.transitions[transition]
    if found.gate != 1:
        return None
    rows = dense_matrix(found, head.dim)
    image, negative, taken = [-1] * head.dim, [0] * head.dim, set[int]()
    for i, row in enumerate(rows):
        for j, x in enumerate(row):
            if (x := simplest(x)) == 0:
                continue
            if x not in (1, -1) or image[j] >= 0 or i in taken:
                return None
            image[j], negative[j] = i, int(x == -1)
            taken.add(i)
    return image, negative, [j for j in range(head.dim) if image[j] < 0]


def remember(head: Head, initial: int, wanted: Sequence[bool]) -> Head | None:
    """The head with rows that keep what some transitions lose; None where a transition has no such form.

    Args:
        head: a head of one column.
        initial: the code with which runs begin.
        wanted: for each transition whether its new code is to tell the point before.

    Returns:
        The head, whose codes are those that its transitions reach from the initial one, which is the first.
    """
    forms: dict[int, tuple[list[int], list[int], list[int]]] = {}
    for t, asked in enumerate(wanted):
        if asked and len(set(head.code_transitions[t].tolist())) < len(head.codes):
            form = lost_coordinates(head, t) if head.value_dim == 1 else None
            if form is None:
                return None
            forms[t] = form
    rows = max((len(lost) for _, _, lost in forms.values()), default=0)
    transitions = tuple(
        _keeping(head.dim, rows, found, *forms[t]) if t in forms else found
        for t, found in enumerate(head.transitions)
    )
    codes = [head.codes[initial]]
    place = {codes[0]: 0}
    points = [initial]
    images: list[list[int]] = []
    wide = Head(head.dim + rows, head.value_dim, transitions, (), np.zeros((0, 0), dtype=np.int64))
    for code, point in zip(codes, points, strict=True):  # both grow while they are read
        row = []
        for t in range(len(transitions)):
            after = image_of(wide, code, t)
            if after not in place:
                if len(codes) >= MAX_REMEMBERED:
                    return None
                place[after] = len(codes)
                codes.append(after)
                points.append(int(head.code_transitions[t, point]))
            row.append(place[after])
        images.append(row)
    table = np.array(images, dtype=np.int64).T.reshape(len(transitions), len(codes))
    return Head(wide.dim, head.value_dim, transitions, tuple(codes), table)


def _keeping(
    dim: int, rows: int, found: Transition, image: list[int], negative: list[int], lost: list[int]
) -> Transition:
    """The transition that takes its lost coordinates to the first further rows."""
    whole = [*image, *range(dim, dim + rows)]
    signs = [*negative, *([0] * rows)]
    came_from = {i: j for j, i in enumerate(image) if i >= 0}
    for k, last in enumerate(lost):
        # the path first → ... → last ends in the further row, which is empty and so goes to `first`
        first, sign = last, 0
        while first in came_from:
            first = came_from[first]
            sign ^= negative[first]
        whole[last], whole[dim + k], signs[dim + k] = dim + k, first, sign
    erased = tuple(gh_factor(1, {dim + k: 1}) for k in range(len(lost)))
    return Transition((*erased, *signed_permutation_factors(whole, signs)), additive=found.additive)
