"""Checks a certificate of kind `blocks`: a linear RNN with a chain of sets over blocks of tokens equals an automaton on all words.

Standard library only; run it as `python3 -I blocks.py CERTIFICATE`. The certificate has the automaton (states Q, letters a: Q → Q), a counter
of period d, the block m, sizes n_1 > ... > n_{L+1} = 1 and, with a window, its length W. Token t lies in block l, t = (l-1)m + j,
1 ≤ j ≤ m; m divides d, so that φ = t mod d tells j. f_l is the map of the letters of block l, the identity for l ≤ 0.

Layers. H ← C_k···C_1 H + B, C = I - β v vᵀ, β = 1 unless in the counter.
1. Counter: as in `delay.py`, claim 1. The codes of its layers tell φ.
2. Ring buffer, d rows, at first zero: token t erases row φ, C = I - e_φ e_φᵀ, and adds there its letter's bits: the number, in binary, of the
   letter's map among the different maps that move a state, from 1 in the order of the letters; zeros for a letter that moves none. So after
   token t the row of s mod d has the letter of token s for t - d < s ≤ t, and zeros for s ≤ 0: then the identity.
3. Levels, one layer each. Level i holds u, the indicator of X_{i+1} among the members of X_i in ascending order, and v where it says
   so in 6. Its letter at token t is (f_{l-1}, X_i before block l-1, X_i after it); what that letter does to the level is a list of at most
   c_i factors (6), the same for all tokens of block l. Token (l-1)m + j applies numbers (j-1)k + 1, ..., jk of the list,
   k = ⌈max c_i / m⌉. As mk ≥ c_i, the list is done at the end of the block.
4. Delay lemma. The chain of sets after l blocks, S_l, follows from S_{l-1} and f_l by the rule of `chain.py`. After token t level i has what it has in
   S_{l-2}, changed by the first jk factors of block l-1's list. For l = 1 the list is empty, as f_0 is the identity, and S_{-1} = S_0 are
   the sets at the start. At j = m it is what it has in S_{l-1}: so the lemma goes on with block l + 1. The read-out applies the other
   factors to H and gets S_{l-1} at every j. The sets before block l-1, those of S_{l-2}, it gets from u and v as `chain.py` says
   in 6. Block l-1 is in the buffer: its first token is (l-2)m + 1 > t - d, as 2m ≤ d. So all letters of level i + 1 are told.
5. Rule: f_{l-1} is a letter like any other for the lemmas 1 to 4 of `chain.py`, if the sizes suffice for it: |f(X_i)| ≤ n_{i+1} wherever f is
   not injective on X_i. Sizes that fall by one do. A word is injective on Q unless a letter merges states, and then has no larger an
   image than that letter: so n_2 is looked at for letters alone. For a larger fall below, the maps of all words are listed, and
   the chains that they lead to from the start. With a window of W letters, each of which moves a state, the top set is what
   the last W letters leave, and phantoms; they are in the buffer before both blocks, as 2m + W ≤ d.
6. Factors: a permutation of p entries p - #cycles swaps e_i - e_j. A reset, with a second half v (not on the last level): v erased
   by p projections e_{p+j} and the new indicator written there, then p swaps: 2p; else u itself, p. The sources of norm: orthogonal
   or a projection, ‖C‖ ≤ 1. With steps "swaps and copies" there is one level, n_1 = n, one-hot, and f is a product of swaps and copies
   I - v (v⊙e_j)ᵀ, v = e_j - e_i, of norm √2 (j ↦ i, the others stay), n - 1 at most: every map is n - #components of them.
7. Answer: S_{l-1} ends with the state after l - 1 blocks; the letters of block l so far are in the buffer. So the state is told, and,
   leaving out the last letter, the one before it (Mealy).
8. All numbers of buffer and levels are 0, 1 and -1. Those of the counter are looked at. The summary says in what formats nothing is rounded.
"""

from __future__ import annotations

import os
import sys
from itertools import pairwise
from typing import Any

if not __package__:  # run alone: the files beside this one are found as the package `checker`
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    __package__ = "checker"

from ._budget import Budget
from ._chains import Letters, check_drops, check_window
from ._exact import array, integer, need, record, same, show_value
from ._labels import count_noun, describe_drops, describe_window, require_kind
from ._program import run_alone
from .delay import check_counter
from .table import FORMATS, Machine, read_machine

KEYS = {
    "format", "kind", "labels", "automaton", "block", "counter", "window", "sizes", "padding", "steps", "summary",
}  # fmt: skip
STEPS = ("swaps and projections", "swaps and copies")
MAX_PERIOD = 200_000
MAX_MAPS = 5_000


def block_length(period: int, window: int) -> int:
    """Claims 3 and 5: the largest m that divides d with 2m + W ≤ d; 0 if there is none."""
    return max((m for m in range(1, (period - window) // 2 + 1) if period % m == 0), default=0)


def all_maps(letters: Letters, n: int) -> Letters:
    """Claim 5: the maps of all words, that of the empty word among them."""
    found = [list(range(n))]
    seen = {tuple(found[0])}
    for image in found:  # which grows on the way
        for row in letters:
            after = [row[q] for q in image]
            if tuple(after) not in seen:
                need(len(found) < MAX_MAPS, f"sizes: words have more than {MAX_MAPS:,} maps")
                seen.add(tuple(after))
                found.append(after)
    return found


def check_sizes(letters: Letters, machine: Machine, n: int, sizes: list[int]) -> str:
    """Claim 5 without a window."""
    need(sizes[0] == n, f"sizes[0]: it is {n}, the number of states")
    falls = [i for i, (a, b) in enumerate(pairwise(sizes)) if a - b > 1]
    # on Q the letters decide for all words
    words = letters if falls in ([], [0]) else all_maps(letters, n)
    listed = check_drops(words, n, [machine.start], sizes)
    return describe_drops(sizes, listed)


def check_letters(letters: Letters, n: int, sizes: list[int], window: int) -> str:
    """Claim 5 with a window."""
    integer(window, 1, MAX_PERIOD, "window")
    need(sizes[0] < n, "sizes[0]: a window leaves fewer states than there are")
    need(all(row != list(range(n)) for row in letters), "window: a letter moves no state")
    need(all(a - b == 1 for a, b in pairwise(sizes)), "sizes: with a window each is one less")
    listed = check_window(letters, n, sizes[0], window)
    return describe_window(window, sizes[0], listed)


def check(document: Any) -> str:
    """A line of facts if the certificate is right; else `Invalid` with the reason."""
    require_kind(document, "blocks")
    record(document, KEYS, "certificate")
    machine = read_machine(document)
    letters, n = machine.delta, document["automaton"]["states"]
    need(n >= 2, "automaton.states: one state needs no chain")
    need(letters, "automaton.letters: none")
    need(same(document["padding"], "least"), 'padding: "least" is the only one')
    need(
        any(same(document["steps"], steps) for steps in STEPS),
        f"steps: one of {show_value(str(STEPS))} is needed",
    )
    copies = document["steps"] == STEPS[1]

    # claim 1, and what it leaves room for
    layers = array(document["counter"], "counter")
    need(layers, "counter: no layers")
    period = len(array(record(layers[0], {"reads", "heads"}, "counter[0]")["reads"], "counter[0].reads"))
    integer(period, 2, MAX_PERIOD, "counter[0].reads: their number")
    counter = check_counter(document["counter"], period, Budget(document))
    window = document["window"]
    if window is not None:
        integer(window, 1, period, "window")
    m = block_length(period, window or 0)
    need(m >= 1, "window: the ring buffer has no room for it and two blocks")
    need(same(document["block"], m), f"block: it is {m}")

    sizes = array(document["sizes"], "sizes")
    need(sizes, "sizes: empty")
    for i, size in enumerate(sizes):
        integer(size, 1, n if i == 0 else sizes[i - 1] - 1, f"sizes[{i}]")
    need(sizes[-1] == 1, "sizes: the last is 1")
    if copies:
        need(
            window is None and sizes == [n, 1],
            "sizes: with copies there is one level, of all states, and no window",
        )
        facts = "swaps and copies"
    elif window is None:
        facts = check_sizes(letters, machine, n, sizes)
    else:
        facts = check_letters(letters, n, sizes, window)

    # claim 6
    merges = any(len(set(row)) < n for row in letters)
    resets = merges and not copies
    dims = [2 * size if resets and i < len(sizes) - 2 else size for i, size in enumerate(sizes[:-1])]
    costs = [dim if resets else dim - 1 for dim in dims]
    k = max((-(-cost // m) for cost in costs), default=0)
    heads = [head for layer in counter for head in layer]
    integral = all(head.integer for head in heads)
    bound = max(head.bound for head in heads) if integral else None
    summary = {
        # the counter's layers, the ring buffer and the levels
        "layers": len(counter) + 1 + len(dims),
        # the 1 is the ring buffer's
        "householders": max(
            1,
            *(min(k, cost) for cost in costs),
            *(len(t["factors"]) for head in heads for t in head.transitions),
        ),
        "heads": max(len(layer) for layer in counter),
        "dim": max(period, *dims, *(head.dim for head in heads)),
        "exactness": "integer" if integral else "algebraic",
        "integer_bound": bound,
        "formats": [f for f, reach in FORMATS.items() if bound is not None and bound <= reach],
        "norm": "at most √2 a factor" if copies and merges else "at most 1",
    }
    record(document["summary"], set(summary), "summary")
    for key, value in summary.items():
        need(same(document["summary"][key], value), f"summary.{key}: it is {show_value(value)}")
    return f"{count_noun(n, 'state')}, {count_noun(len(letters), 'letter')}, blocks of {count_noun(m, 'token')}, {facts}: equal on all words"


if __name__ == "__main__":
    raise SystemExit(run_alone(check, sys.argv[1:]))
