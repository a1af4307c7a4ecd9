"""Word problems of named groups, over all elements or an alphabet in square brackets.

`G[transpositions]`: the swaps of two points (S_n; A_n has none). `G[involutions]`: all elements of order 2.
`G[generators]`: stated for each family in `groups`. `G[up_to_k]`: the permutations that move at most k points, the
identity among them. `G[in_k_tokens]`: see `in_k_tokens`.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import replace

import numpy as np

from ..automaton import Automaton, Indices
from ..errors import InputError
from ..groups.finite_group import FiniteGroup, Product
from .groups import group_by_name, group_order
from .parameters import Limits, Parameter, whole_numbers

ALPHABETS = ("transpositions", "involutions", "generators", "up_to_k", "in_k_tokens")
BLANK = "blank"


def word_problem_by_name(name: str, product: Product, limits: Limits) -> Automaton:
    """The word problem of `G` or `G[alphabet]`; the state is the running product, from the identity.

    `InputError` for an unknown alphabet or one that the group does not have; `LimitError` before the work.
    """
    group_name, bracket, rest = name.partition("[")
    if bracket and not rest.endswith("]"):
        raise InputError(f"{name}: the bracket is not closed; write {group_name}[{rest}]")
    alphabet = rest[:-1] if bracket else None
    order = group_order(group_name)
    limits.check(name, order)
    if alphabet is None:
        limits.check(name, order, order)
    group = group_by_name(group_name, max_elements=order)
    shown = name if product == "left" else f"{name} (right product)"
    tokens = re.fullmatch("in_([^_]*)_tokens", alphabet or "")
    if tokens:
        return in_k_tokens(group, tokens[1], product, shown, limits)
    letters = np.arange(order) if alphabet is None else letters_of(group, alphabet, name)
    limits.check(name, order, len(letters))
    return group.word_problem([int(x) for x in letters], product, shown)


def letters_of(group: FiniteGroup, alphabet: str, name: str) -> Indices:
    """Indices of the elements of a named alphabet, in the order of the elements (generators: as stated)."""
    up_to = re.fullmatch("up_to_(.*)", alphabet)
    if alphabet == "generators":
        return np.array(group.generators, dtype=np.int64)
    if alphabet == "involutions":
        everything = np.arange(len(group.elements))
        square_to_one = group.multiply(everything, everything) == group.identity
        chosen = np.flatnonzero(square_to_one & (everything != group.identity))
    elif alphabet == "transpositions":
        chosen = np.flatnonzero(_moved(group, name) == 2)
    elif up_to:
        moved = _moved(group, name)
        points = 0 if group.images is None else group.images.shape[1]
        (k,) = whole_numbers(name, up_to[1], [Parameter("k", 0, points)])
        chosen = np.flatnonzero(moved <= k)
    else:
        near = difflib.get_close_matches(alphabet, ALPHABETS, n=1)
        meant = f"did you mean [{near[0]}]?" if near else f"write one of [{'], ['.join(ALPHABETS)}]"
        raise InputError(f"{name}: {alphabet!r} is not an alphabet; {meant}")
    if not len(chosen):
        raise InputError(f"{name}: {group.name} has no {alphabet}; choose another alphabet")
    return chosen


def in_k_tokens(group: FiniteGroup, digits: str, product: Product, name: str, limits: Limits) -> Automaton:
    """Letters: all elements and "blank". A word of the task is (element, k-1 blanks) repeated.

    An element multiplies the state at once and a blank leaves it, so the state after every k-th token is the
    product of the elements read, which is the label valid there; k > 1 fixes the format of the words, not the
    automaton. An ill-formed word (other numbers of blanks) is the product of its elements too. Every letter
    permutes the states, and every label is defined, so a model may also be asked at each token.
    """
    whole_numbers(name, digits, [Parameter("k", 2)])
    order = len(group.elements)
    limits.check(name, order, order + 1)
    plain = group.word_problem(None, product, name)
    rows = np.vstack([plain.transitions, np.arange(order)])
    return replace(plain, letters=(*plain.letters, BLANK), transitions=rows)


def _moved(group: FiniteGroup, name: str) -> Indices:
    """How many points each element moves."""
    if group.images is None:
        raise InputError(
            f"{name}: {group.name} is not given by permutations of points; take Sn or An, or another alphabet"
        )
    return np.asarray((group.images != np.arange(group.images.shape[1])).sum(axis=1), dtype=np.int64)
