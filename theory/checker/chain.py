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
   order of the letters, zeros for none yet; m + 1 rows, or m where n_1 = 1 and no output belongs to the state before. A token erases
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
from itertools import pairwise
from typing import Any

if not __package__:  # run alone: the files beside this one are found as the package `checker`
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    __package__ = "checker"

from ._chains import check_drops, check_window, reachable
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
    mealy = bool(machine.outputs) and type(machine.outputs[0]) is list
    # a level below a window, below a level that resets, or an output reads the set before the token
    reads = not bijective and (mealy or len(sizes) > (2 if window is None else 1))
    need(reads or not look_back, "look_back: no layer reads the set before a token")
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
        # told; m where nobody reads them, or where the token before is read
        rows = window + (reads and not look_back)
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
