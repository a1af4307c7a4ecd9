"""Checks a certificate of kind `chain`: a linear RNN with a chain of sets equals an automaton on all words.

Standard library only; run it as `python3 -I chain.py CERTIFICATE`. The certificate has the automaton (states Q, letters
a: Q → Q), sizes n_1 > n_2 > ... > n_{L+1} = 1 and, with a window, its length m. What is meant by them:
Chain. Sets X_1 ⊋ X_2 ⊋ ... ⊋ X_{L+1} = {q}, |X_i| = n_i. On letter a they become X'_1, X'_2, ..., from the top: if a is
injective on X_i, then X'_{i+1} = a(X_{i+1}); else X'_{i+1} is a(X_i) and, of the other members of X'_i, the least, n_{i+1} in all. At
first each set holds the start and the least others of the set above it. Without a window X_1 = X'_1 = Q.
1. Lemma: if |a(X_i)| ≤ n_{i+1} wherever a is not injective on X_i, then a(X_i) ⊆ X'_i on every level, and q' = a(q). By
   induction on i; X_1 is clear. If a is injective on X_i, then a(X_i) = X'_i, since both have n_i members, and a(X_{i+1}) is a
   proper subset of n_{i+1} members. Else a(X_i) lies in X'_i, which has n_i > n_{i+1} ≥ |a(X_i)| members, so the others are
   there, and a(X_{i+1}) ⊆ a(X_i) ⊆ X'_{i+1}. In the end a(q) ∈ X'_{L+1}, which has one member.
2. n_{i+1} = n_i - 1 always satisfies the lemma. For a larger drop the checker lists the chains X_1, ..., X_i that words lead to,
   from the start (from every state where the start does not reach all), and looks at each letter.
Window. Letters that move no state are left out of it. R(w) = w(Q) for the last m letters w; with fewer than m letters so far, the one
state reached. The top set is R and phantoms, n_1 members in all, which come after the states; the letters seen are R before the
token, R' after it. a(R) ⊆ R', because a(w(Q)) = (wa)(Q) ⊆ v(Q), v the last m letters of wa.
3. The checker lists the image sets w(Q) of more than n_1 states. No letter leads back among them, and the longest path has m - 1
   letters; so |w(Q)| ≤ n_1 for every word w of m letters. Sets of one size are enough to look for a way back, as |a(X)| ≤ |X|.
4. Lemma with phantoms: R_i the states in X_i; "injective" is said of R_i, and a letter that is, takes the phantoms, in order,
   to the members of X'_i that are left. Then a(R_i) ⊆ X'_i, as in 1: with a window each size is one less than the one
   before, and where a is not injective on R_i, |a(R_i)| ≤ |R_i| - 1 ≤ n_{i+1}.
Layers. Layer by layer, H ← C_k···C_1 H + B, C = I - β v vᵀ, β = 1 and v = e_i - e_j (a swap, orthogonal) or e_i (a
projection): ‖C‖ ≤ 1.
5. The window: rows of bits, in binary the number of a letter's map among the different maps that move a state, from 1 in the
   order of the letters, zeros for none yet; m + 1 rows, or m where n_1 = 1. A token erases
   the last row, swaps it to the front past all others, and adds its bits there. So the rows are the last letters, newest first:
   they tell R and R', before the token by the rows from the second on.
6. Level i: u, the indicator of X_{i+1} among the members of X_i in ascending order, reads (a, X_i, X'_i), which the layers above tell.
   Injective: u ← P u, where P takes the place of x in X_i to the place of a(x) in X'_i: p - #cycles swaps. Else u and v, a second
   half: v is erased by n_i projections and the new indicator Z written there, then n_i swaps exchange the halves: u = Z, v = the old u.
   The read-out has the new set by u, and the old one by P⁻¹u or by v. On the last level nobody needs the old one, unless outputs
   belong to the state before (Mealy): without it u is erased and written in place, n_i projections. Where all letters are
   injective no level resets, and no factor but swaps is needed.
   With look_back, which needs a layer that reads the set before a token, the layers below also read what this one held after the token before: the old u, so no level has a second half, and
   the window has m rows, for those after the token before tell R. With gates, which need look_back, a reset is the gate 0, which
   erases u, and one factor, which writes Z: v = Z, β = 2^-e and the value 2^e, where 2^e is the least power with 2^e ≥ |Z|. So β‖v‖² ≤ 1.
7. All states are 0 and 1, all keys 0, 1 and -1, and what a swap meets is a difference of two entries of a state: so every format
   that has the integers -1, 0, 1 carries them exactly, whatever the order of the sums. With gates 2^e and 2^-e occur too, and the
   bound is 2^e for the largest |Z|, n_2. The summary says so, and bounds the factors.
"""

from __future__ import annotations

import os
import sys
from array import array as packed
from itertools import pairwise
from typing import Any, TypeAlias

if not __package__:  # run alone: the files beside this one are found as the package `checker`
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    __package__ = "checker"

from ._exact import array, integer, need, record, same, show_value
from ._labels import count_noun, describe_drops, describe_window, require_kind
from ._program import run_alone
from .table import FORMATS, read_machine

KEYS = {
    "format",
    "kind",
    "labels",
    "automaton",
    "window",
    "sizes",
    "padding",
    "look_back",
    "gates",
    "summary",
}
MAX_LISTED = 200_000_000  # members of sets that letters are applied to, in lists of sets and of chains

Letters: TypeAlias = list[list[int]]
Set: TypeAlias = tuple[int, ...]
Chain: TypeAlias = tuple[Set, ...]


class Listing:
    """Counts the members that letters are applied to, so that a small certificate cannot ask for endless work."""

    def __init__(self) -> None:
        self.left = MAX_LISTED

    def image(self, row: list[int], members: Set) -> set[int]:
        """The image of a set under a letter."""
        self.left -= len(members)
        need(self.left >= 0, f"more than {MAX_LISTED:,} members of sets to list")
        return {row[x] for x in members}


def check_window(letters: Letters, n: int, size: int, length: int) -> int:
    """Claim 3, for the letters that move a state; the number of sets listed."""
    listing, code = Listing(), "H" if n <= 65_536 else "L"
    # by size, each set in its packed form with the longest path of letters that leads to it
    paths: dict[int, dict[bytes, int]] = {n: {packed(code, range(n)).tobytes(): 0}}
    count = longest = 0
    for c in range(n, size, -1):
        level = paths.pop(c, {})
        # letters that keep the size lead from set to set of one size, the others to smaller sets
        arrows: dict[bytes, list[bytes]] = {}
        smaller: dict[bytes, list[tuple[int, bytes]]] = {}
        todo = list(level)
        while todo:
            key = todo.pop()
            members = tuple(packed(code, key))
            arrows[key], smaller[key] = [], []
            for row in letters:
                image = listing.image(row, members)
                # sets of `size` or fewer states are what is to be reached
                if len(image) <= size:
                    continue
                after = packed(code, sorted(image)).tobytes()
                if len(image) < c:
                    smaller[key].append((len(image), after))
                    continue
                arrows[key].append(after)
                if after not in level:
                    level[after] = 0
                    todo.append(after)
        count += len(arrows)
        # take away sets that no arrow leads to; what is left in the end lies on or behind a cycle
        waiting = dict.fromkeys(arrows, 0)
        for targets in arrows.values():
            for after in targets:
                waiting[after] += 1
        free = [key for key, arriving in waiting.items() if arriving == 0]
        taken = 0
        while free:
            key = free.pop()
            # all arrows to this set have been counted, so its path is the longest one
            taken += 1
            path = level[key]
            longest = max(longest, path)
            for after in arrows[key]:
                level[after] = max(level[after], path + 1)
                waiting[after] -= 1
                if waiting[after] == 0:
                    free.append(after)
            for c_after, after in smaller[key]:
                below = paths.setdefault(c_after, {})
                # the sets of smaller sizes come later, so their paths are complete by then
                below[after] = max(below.get(after, 0), path + 1)
        # what was not taken away lies on or behind a cycle of letters
        need(taken == len(arrows), f"window: letters lead back to a set of {c} states, more than {size}")
    # claim 3: the longest path among the large sets has m - 1 letters
    need(length == longest + 1, f"window: its length is {longest + 1}")
    return count


def check_drops(letters: Letters, n: int, starts: list[int], sizes: list[int]) -> int:
    """Claim 2: the chains are listed down to the last level below which a size falls by more than one; their number."""
    drops = [i for i in range(len(sizes) - 1) if sizes[i] - sizes[i + 1] > 1]
    if not drops:
        return 0
    listing = Listing()
    whole: Chain = (tuple(range(n)),)
    # invariant of the loop: for each chain X_1, ..., X_i that words lead to, where the letters take it
    moves: dict[Chain, list[Chain]] = {whole: [whole] * len(letters)}
    for i in range(drops[-1] + 1):
        if i > 0:
            moves = longer_chains(letters, starts, sizes[: i + 1], moves, listing)
        # claim 2: a fall by one always satisfies the lemma
        if sizes[i] - sizes[i + 1] == 1:
            continue
        for members in {chain[-1] for chain in moves}:
            for x, row in enumerate(letters):
                count = len(listing.image(row, members))
                need(
                    # the premise of claim 1: injective on X_i, or at most n_{i+1} images
                    count == len(members) or count <= sizes[i + 1],
                    f"sizes[{i + 1}]: letter {x} makes {count} states of a set of {len(members)}",
                )
    return len(moves)


def longer_chains(
    letters: Letters, starts: list[int], sizes: list[int], moves: dict[Chain, list[Chain]], listing: Listing
) -> dict[Chain, list[Chain]]:
    """The chains of these sizes that words lead to, each with where the letters take it; `moves`: of those one set shorter."""
    found: dict[Chain, list[Chain]] = {}
    todo: list[Chain] = []
    for start in starts:
        chain: Chain = (tuple(range(sizes[0])),)
        # at first each set holds the start and the least others of the set above
        for size in sizes[1:]:
            chain = (*chain, filled({start}, chain[-1], size))
        if chain not in found:
            found[chain] = []
            todo.append(chain)
    for chain in todo:  # which grows on the way
        for row, upper in zip(letters, moves[chain[:-1]], strict=True):
            # X_i is the last set but one, `upper` is X'_1, ..., X'_i
            image = listing.image(row, chain[-2])
            if len(image) == len(chain[-2]):
                last = tuple(sorted(listing.image(row, chain[-1])))
            else:
                # not injective: a(X_i) and the least other members of X'_i
                last = filled(image, upper[-1], sizes[-1])
            after = (*upper, last)
            found[chain].append(after)
            if after not in found:
                found[after] = []
                todo.append(after)
    return found


def filled(image: set[int], within: Set, size: int) -> Set:
    """The image and the least other members of a set that holds it."""
    others = [x for x in within if x not in image]
    result = tuple(sorted([*image, *others[: size - len(image)]]))
    need(len(result) == size, f"sizes: an image has {len(image)} states, more than {size}")
    return result


def reachable(letters: Letters, start: int) -> set[int]:
    """The states that words lead to."""
    seen, todo = {start}, [start]
    while todo:
        q = todo.pop()
        for row in letters:
            if row[q] not in seen:
                seen.add(row[q])
                todo.append(row[q])
    return seen


def check(document: Any) -> str:
    """A line of facts if the certificate is right; else `Invalid` with the reason."""
    require_kind(document, "chain")
    record(document, KEYS, "certificate")
    machine = read_machine(document)
    letters, n = machine.delta, document["automaton"]["states"]
    need(n >= 2, "automaton.states: one state needs no chain")
    need(same(document["padding"], "least"), 'padding: "least" is the only one')
    sizes = array(document["sizes"], "sizes")
    need(sizes, "sizes: empty")
    for i, size in enumerate(sizes):
        integer(size, 1, n if i == 0 else sizes[i - 1] - 1, f"sizes[{i}]")
    need(sizes[-1] == 1, "sizes: the last is 1")
    window = document["window"]
    look_back, gates = document["look_back"], document["gates"]
    need(type(look_back) is bool, "look_back: true or false")
    need(type(gates) is bool, "gates: true or false")
    need(look_back or not gates, "gates: a gate of 0 erases the second half, which is read")
    bijective = all(len(set(row)) == n for row in letters)
    # letters that move no state are left out of the window
    moving = [row for row in letters if row != list(range(n))]
    if window is None:
        need(sizes[0] == n, f"sizes[0]: it is {n}, the number of states")
        # the checker knows one initial chain where the start reaches all states, else one for each state
        complete = len(reachable(letters, machine.start)) == n
        listed = check_drops(letters, n, [machine.start] if complete else list(range(n)), sizes)
        facts = describe_drops(sizes, listed)
        rows = 0
    else:
        integer(window, 1, 2**62, "window")
        need(sizes[0] < n, "sizes[0]: a window leaves fewer states than there are")
        need(moving, "window: no letter moves a state")
        # what claim 4 needs of the sizes
        need(all(a - b == 1 for a, b in pairwise(sizes)), "sizes: with a window each is one less")
        listed = check_window(moving, n, sizes[0], window)
        facts = describe_window(window, sizes[0], listed)
        # m + 1 rows of bits, so that the sets before the token can be
        # told; m where level 1 has nothing to read, or reads the token before
        rows = window + (len(sizes) > 1 and not look_back)
    mealy = bool(machine.outputs) and type(machine.outputs[0]) is list
    # a level below a window, below a level that resets, or an output reads the set before the token
    reads = len(sizes) > 1 and (window is not None or (not bijective and (len(sizes) > 2 or mealy)))
    need(reads or not look_back, "look_back: no layer reads the set before a token")
    dims, factors = ([rows], [rows]) if rows else ([], [])
    for i, size in enumerate(sizes[:-1]):
        # claim 6: v is kept where a level resets and a level below, or a Mealy output, needs the old set
        second = not look_back and not bijective and (i < len(sizes) - 2 or mealy)
        dims.append(2 * size if second else size)
        # swaps alone are at most n_i - 1; a reset is n_i
        # projections, and n_i swaps where there is a second half; with gates one factor
        factors.append(size - 1 if bijective or gates else dims[-1])
    # claim 7: the largest value that a factor writes with, the least power of two that is n_2 or more
    bound, largest = 1, sizes[1] if len(sizes) > 1 else 1
    while gates and not bijective and bound < largest:
        bound *= 2
    summary = {
        "layers": len(dims),
        "householders": max(factors),
        "heads": 1,
        "dim": max(dims),
        "exactness": "integer",
        "integer_bound": bound,
        "formats": [name for name, reach in FORMATS.items() if bound <= reach],
        "norm": "at most 1",
    }
    record(document["summary"], set(summary), "summary")
    for key, value in summary.items():
        need(same(document["summary"][key], value), f"summary.{key}: it is {show_value(value)}")
    return f"{count_noun(n, 'state')}, {count_noun(len(letters), 'letter')}, {facts}: equal on all words"


if __name__ == "__main__":
    raise SystemExit(run_alone(check, sys.argv[1:]))
