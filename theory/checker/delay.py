"""Checks a certificate of kind `delay`: a linear RNN with block delay equals a group automaton on all words.

Standard library only; run it as `python3 -I delay.py CERTIFICATE`. Let m be the block, d = 2m; token t has the phase
φ = t mod d, and t = (l-1)m + j with 1 ≤ j ≤ m, so that φ tells j. P_g e_i = e_{g(i)}; letter x is the permutation
p_x of n points; g_l = p_{x_{lm}}···p_{x_{(l-1)m+1}} is the product of block l, the identity for l ≤ 0. What is
computed from the tables, and why it suffices:

1. Counter. Each head starts at its code 0; on token t its transition is number `reads[φ]`. Walking through φ = 1, ...,
   d-1 and back to 0, the exact image of the code is a code each time, and after d tokens it is code 0 again, in all
   heads; so the code after t tokens is that of phase φ. `reads[φ]` is a function of the codes of the layers below
   at φ, so a layer can be told it. No two phases have the same codes in all layers: the counter tells φ.
2. Buffer, d × letters, at first zero: token x at phase φ applies I - e_φe_φᵀ (which erases row φ and keeps the rest)
   and adds e_φe_xᵀ. So after token t row s mod d is the one-hot of x_s for t-d < s ≤ t, s ≥ 1; the other rows are
   zero, and zero is none of the values: an empty row stands for the identity.
3. Group. `elements` is the breadth-first list from the identity by the letters, and closed: for each element g and
   letter x it has p_x g. So it has every g_l. The m groups of swaps of an element multiply to P_g, in their order,
   the first applied first; each swap I - vvᵀ, v = e_i - e_j, is a reflection: norm 1.
4. Delay lemma. On token t = (l-1)m + j the last layer applies group j of g_{l-1}; the tokens of block l-1 are the
   numbers (l-2)m+1, ..., (l-1)m, all > t-d as j ≤ m, so φ and the buffer tell them. Claim: after token t,
   H = C_j···C_1 · P(g_{l-2}···g_1) H_0, C_i the product of group i of g_{l-1}. It holds for t = 0 (l = 1, j = 0), as
   g_0 and g_{-1} are the identity, whose groups are empty (3). A token within a block adds one C; the
   last of a block makes C_m···C_1 = P(g_{l-1}), hence H = P(g_{l-1}···g_1) H_0, the claim for block l+1 and j = 0.
5. Decoding multiplies H by C_m···C_{j+1} and by p_{x_t}···p_{x_{(l-1)m+1}}, which φ and the buffer tell. It gets P_g H_0
   for the product g = p_{x_t}···p_{x_1} of all tokens.
6. States. The identity has the start state, and p_x g has the state that the automaton reaches by x from the state
   of g; elements with equal P_g H_0 have equal states. So P_g H_0 tells the automaton's state, after every word.
7. The summary is recomputed. In the last layer all numbers met are entries of H_0, permuted, and their differences.
"""

from __future__ import annotations

import os
import sys
from typing import Any

if not __package__:  # run alone: the files beside this one are found as the package `checker`
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    __package__ = "checker"

from ._budget import Budget
from ._exact import Invalid, array, integer, need, record, same, show_value
from ._head import Head
from ._labels import count_noun, require_kind
from ._program import run_alone
from .table import FORMATS, Machine, read_machine

KEYS = {
    "format", "kind", "labels", "automaton", "block", "counter", "buffer", "points", "elements", "outputs",
    "summary",
}  # fmt: skip
MAX_BLOCK = 100_000
MAX_WORK = 500_000_000  # images of points, over all products of an element and a letter, and in search of H_0


def check_counter(data: Any, period: int, budget: Budget) -> list[list[Head]]:
    """Claim 1: the heads by layers."""
    layers: list[list[Head]] = []
    below: list[tuple[int, ...]] = [()] * period  # the codes of the layers so far at each phase
    for i, layer in enumerate(array(data, "counter")):
        where = f"counter[{i}]"
        record(layer, {"reads", "heads"}, where)
        # `reads` may name any transitions, as long as they are numbered 0, 1, ... without a gap
        reads = array(layer["reads"], f"{where}.reads", period)
        kinds = len({integer(r, 0, period, f"{where}.reads") for r in reads})
        need(max(reads) + 1 == kinds, f"{where}.reads: a transition is never used")
        # claim 1: what a layer reads is a function of the codes below it
        told: dict[tuple[int, ...], int] = {}
        for codes, read in zip(below, reads, strict=True):
            need(told.setdefault(codes, read) == read, f"{where}.reads: not told by the layers below")
        need(array(layer["heads"], f"{where}.heads"), f"{where}.heads: empty")
        heads = [Head(h, kinds, f"{where}.heads[{j}]", budget=budget) for j, h in enumerate(layer["heads"])]
        sizes = [len(head.codes) for head in heads]
        need(sizes == sorted(set(sizes)), f"{where}.heads: each has more codes than the one before it")
        for head, raw in zip(heads, layer["heads"], strict=True):
            track = walk(head, raw["transitions"], reads)
            below = [(*codes, code) for codes, code in zip(below, track, strict=True)]
        layers.append(heads)
    need(layers, "counter: no layers")
    # claim 1: the codes of all layers tell the phase
    need(len(set(below)) == period, "counter: two phases look alike")
    return layers


def walk(head: Head, transitions: list[Any], reads: list[int]) -> list[int]:
    """The code at each phase of one head, whose codes are numbered as they appear."""
    need(head.codes[0] == ((0, 0, 1),), f"{head.where}: a counter starts at [[0, 0, 1]]")
    need(head.value_dim == 1, f"{head.where}: a counter has one column")
    for i, transition in enumerate(transitions):
        where = f"{head.where}.transitions[{i}]"
        record(transition, {"factors"}, where)
        need(all(len(f) == 2 for f in transition["factors"]), f"{where}: not [β, v]")
    counts = [len(transition["factors"]) for transition in transitions]
    need(counts == sorted(counts), f"{head.where}.transitions: those with fewer factors come first")
    images = head.images()
    # from phase 0 by the transitions of phases 1, ..., d - 1
    track = [0]
    for read in reads[1:]:
        track.append(images[read][track[-1]])
        need(track[-1] <= max(track[:-1]) + 1, f"{head.where}: codes are not numbered as they appear")
    # the token of phase 0 closes the period
    need(images[reads[0]][track[-1]] == 0, f"{head.where}: not at its first code again after a period")
    need(max(track) + 1 == len(head.codes), f"{head.where}: a code is never reached")
    return track


def check_buffer(data: Any, period: int, letters: int) -> None:
    """Claim 2: the projections and the one-hot values, in their only form."""
    record(data, {"factors", "values"}, "buffer")
    factors = [[[1, [[phase, 1]]]] for phase in range(period)]
    need(same(data["factors"], factors), "buffer.factors: [[1, [[φ, 1]]]] at each phase φ is needed")
    values = [[[x, 1]] for x in range(letters)]
    need(same(data["values"], values), "buffer.values: [[x, 1]] for each letter x is needed")


def permutation(data: Any, n: int, where: str) -> tuple[int, ...]:
    """A permutation of 0, ..., n-1."""
    image = tuple(integer(i, 0, n - 1, where) for i in array(data, where, n))
    need(len(set(image)) == n, f"{where}: not a permutation")
    return image


def cycle_swaps(image: tuple[int, ...]) -> list[tuple[int, int]]:
    """The only form of a product of swaps: the cycle c_1 → c_2 → ... from its least point as (c_1 c_2), (c_1 c_3), ..."""
    swaps = []
    seen = set()
    for first in range(len(image)):
        point = image[first]
        while point != first and point not in seen:
            seen.add(point)
            swaps.append((first, point))
            point = image[point]
        seen.add(first)
    return swaps


def check_groups(data: Any, image: tuple[int, ...], block: int, where: str) -> list[int]:
    """Claim 3: the swaps multiply to P_g; the sizes of the groups."""
    swaps: list[tuple[int, int]] = []
    sizes = []
    for group in array(data, where, block):
        sizes.append(len(array(group, where)))
        for factor in group:
            beta, v = array(factor, where, 2)
            (i, x), (j, y) = (array(entry, where, 2) for entry in array(v, where, 2))
            need(same([beta, x, y], [1, 1, -1]), f"{where}: not a swap [1, [[i, 1], [j, -1]]]")
            swaps.append((integer(i, 0, len(image) - 1, where), integer(j, 0, len(image) - 1, where)))
    rows = list(range(len(image)))  # row i of the product so far is e_{rows[i]}ᵀ
    for i, j in swaps:
        need(i < j, f"{where}: a swap of rows i, j has i < j")
        # C · (product so far) exchanges rows i and j, and the first factor is applied first
        rows[i], rows[j] = rows[j], rows[i]
    # P_g e_p = e_q, so row q of P_g is e_pᵀ
    need(
        all(rows[q] == p for p, q in enumerate(image)), f"{where}: the factors do not multiply to the element"
    )
    need(swaps == cycle_swaps(image), f"{where}: not the swaps in order, cycle by cycle")
    return sizes


def check_elements(
    data: Any, letters: list[tuple[int, ...]], n: int, machine: Machine, block: int
) -> tuple[list[tuple[int, ...]], list[int], list[list[int]], int]:
    """Claims 3 and 6: images, states, where each letter leads from each element, and the most factors of a group."""
    raw = array(data, "elements")
    images: list[tuple[int, ...]] = []
    states: list[int] = []
    sizes: list[list[int]] = []
    for e, element in enumerate(raw):
        record(element, {"image", "state", "groups"}, f"elements[{e}]")
        images.append(permutation(element["image"], n, f"elements[{e}].image"))
        states.append(element["state"])
        sizes.append(check_groups(element["groups"], images[e], block, f"elements[{e}].groups"))
    identity = tuple(range(n))
    index, order, wanted = {identity: 0}, [identity], [machine.start]
    landings: list[list[int]] = [[] for _ in letters]
    # breadth first: the elements before e have had all letters
    for e, image in enumerate(order):
        need(
            e < len(raw) and images[e] == image,
            f"elements[{e}]: the element that is due is {show_value(str(image))}",
        )
        need(same(states[e], wanted[e]), f"elements[{e}].state: the automaton reaches {wanted[e]}")
        for x, letter in enumerate(letters):
            # p_x g, and by claim 6 the state that x reaches from the state of g
            after, state = tuple([letter[p] for p in image]), machine.delta[x][wanted[e]]
            place = index.setdefault(after, len(order))
            if place == len(order):
                need(place < len(raw), f"elements: the product of letter {x} and element {e} is missing")
                order.append(after)
                wanted.append(state)
            need(
                wanted[place] == state, f"letter {x} takes element {e} to state {wanted[place]}, not {state}"
            )
            landings[x].append(place)
    need(len(order) == len(raw), "elements: one is no product of letters")
    most = max((s for row in sizes for s in row), default=0)
    for e, row in enumerate(sizes):
        # the groups are filled from the first on: n_h swaps each, what is left, then none
        full, rest = divmod(sum(row), max(most, 1))
        filled = [most] * full + [rest] * (rest > 0)
        need(row == filled + [0] * (block - len(filled)), f"elements[{e}].groups: not filled one by one")
    return images, states, landings, most


def tells(images: list[tuple[int, ...]], states: list[int], points: list[int]) -> bool:
    """Do the images of these points tell the state?"""
    seen: dict[tuple[int, ...], int] = {}
    return all(
        seen.setdefault(tuple([image[p] for p in points]), state) == state
        for image, state in zip(images, states, strict=True)
    )


def check_initial(data: Any, images: list[tuple[int, ...]], states: list[int], n: int) -> int:
    """Claim 6: P_g H_0 tells the state. H_0 marks the first point that does so alone, else those that are needed."""
    marks = []
    for i, entry in enumerate(array(data, "points.initial")):
        point, value = array(entry, "points.initial", 2)
        marks.append(integer(point, 0, n - 1, "points.initial"))
        integer(value, i + 1, i + 1, "points.initial")
    need(len(images) * n <= MAX_WORK, "points: too many")
    # the first point that suffices alone, else all points less those, from the last on, that are not needed
    single = next(([p] for p in range(n) if tells(images, states, [p])), None)
    need(
        single or len(images) * n * n <= MAX_WORK, f"points.initial: more than {MAX_WORK:,} images to compare"
    )
    wanted = single or list(range(n))
    for point in [] if single else reversed(range(n)):
        rest = [p for p in wanted if p != point]
        if tells(images, states, rest):
            wanted = rest
    need(tells(images, states, wanted), "points: they do not tell the states")
    need(marks == wanted, f"points.initial: H_0 marks the points {show_value(str(wanted))}")
    return len(marks)


def check(document: Any) -> str:
    """A line of facts if the certificate is right; else `Invalid` with the reason."""
    require_kind(document, "delay")
    record(document, KEYS, "certificate")
    machine = read_machine(document)
    count, k = document["automaton"]["states"], len(machine.delta)
    block = integer(document["block"], 2, MAX_BLOCK, "block")
    need(array(document["counter"], "counter"), "counter: no layers")
    layers = check_counter(document["counter"], 2 * block, Budget(document))
    check_buffer(document["buffer"], 2 * block, k)
    points = record(document["points"], {"letters", "initial"}, "points")
    rows = array(points["letters"], "points.letters", k)
    need(rows, "points.letters: no letters")
    n = len(array(rows[0], "points.letters"))
    letters = [permutation(row, n, f"points.letters[{x}]") for x, row in enumerate(rows)]
    images, states, landings, most = check_elements(document["elements"], letters, n, machine, block)
    need(set(states) == set(range(count)), "elements: a state is never reached")
    marks = check_initial(points["initial"], images, states, n)
    wanted = machine.outputs_after(landings, len(states), states)
    need(same(document["outputs"], wanted), "outputs: not those of the states that the elements lead to")

    heads = [head for layer in layers for head in layer]
    integral = all(head.integer for head in heads)
    # the numbers in the last layer are marks 1, ..., and their differences
    bound = max(marks, *(head.bound for head in heads)) if integral else None
    summary = {
        # the counter's layers, the buffer and the group
        "layers": len(layers) + 2,
        # the 1 is the buffer's: a token applies one projection there
        "householders": max(most, 1, *(len(t["factors"]) for head in heads for t in head.transitions)),
        "heads": max(len(layer) for layer in layers),
        "dim": max(n, 2 * block, *(head.dim for head in heads)),
        "exactness": "integer" if integral else "algebraic",
        "integer_bound": bound,
        "formats": [f for f, reach in FORMATS.items() if bound is not None and bound <= reach],
        "norm": "at most 1",
    }
    record(document["summary"], set(summary), "summary")
    for key, value in summary.items():
        if not same(document["summary"][key], value):
            raise Invalid(f"summary.{key}: it is {show_value(value)}")
    facts = f"{count_noun(count, 'state')}, {count_noun(k, 'letter')}, {count_noun(len(states), 'group element')}, "
    facts += f"blocks of {count_noun(block, 'token')}"
    return f"{facts}: equal on all words"


if __name__ == "__main__":
    raise SystemExit(run_alone(check, sys.argv[1:]))
