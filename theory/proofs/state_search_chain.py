"""Searching a chain: where one letter moves the state and the others keep it, there is one new state a step.

Then nothing can be computed side by side, so the states ahead are guessed by plain float arithmetic, one after
another, and all guesses are verified side by side by the machine's own step: each guess must be, bit for bit, the
step of the one before, which proves them by induction. Where one is not, the true state takes its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...constructions.automaton import Indices
from ..arithmetic.rounding import FloatFormat, Floats

if TYPE_CHECKING:
    from .state_search import Machine, Rows, StateSearch

AHEAD = 1 << 15


def chain_letter(machine: Machine, transitions: Indices) -> int | None:
    """The one letter that moves anything, where all others keep the model's and the automaton's states."""
    identity = np.arange(transitions.shape[1])
    kept = [
        idle and np.array_equal(row, identity) for idle, row in zip(machine.idle, transitions, strict=True)
    ]
    if machine.reads_letters or len(kept) - sum(kept) != 1:
        return None
    return kept.index(False)


def advance_chain(search: StateSearch, letter: int, limit: int) -> tuple[bool, tuple[int, ...] | None]:
    """Follows the chain up to `limit` states further: whether it could, and the word of a wrong answer.

    The frontier is one state, the last one found. The other letters keep every pair; the answers that they get are
    those of the pair itself, which is looked at when it is found, the first one before the first step.
    """
    place, store, form, machine = search.place, search.store, search.form, search.machine
    last = store.words[place.done : place.done + 1]
    idle = [x for x in range(len(machine.idle)) if x != letter]
    if idle and not search.start_is_read:
        search.start_is_read = True
        start = form.states(store.words[:1])
        if machine.first_wrong(form.rows(store.words[:1]), np.array(idle[:1]), start, start) >= 0:
            return True, (idle[0],)
    length = min(search.ahead, limit)
    rows = _ahead(machine, form.rows(last), letter, length)
    if rows is None:
        return False, None
    search.ahead = min(2 * search.ahead, AHEAD) if len(rows) == length else max(2 * len(rows), 64)
    states = _orbit(search.automaton.transitions[letter], int(form.states(last)[0]), len(rows))
    words = form.packed(rows, states)
    parents = np.arange(place.done, place.done + len(rows), dtype=np.int32)
    letters = np.full(len(rows), letter, dtype=np.int32)
    unread = store.add(words, parents, letters)
    new = len(unread)  # the first ones: after a state met before come such states
    unread = search.with_start(words[: new + 1], unread)  # what is met again first may be the start
    before = np.concatenate([form.states(last), states[:-1]])
    wrong = machine.first_wrong(
        rows[unread], letters[unread].astype(np.int64), before[unread], states[unread]
    )
    if wrong >= 0:
        return True, (*store.word(place.done), *[letter] * (int(unread[wrong]) + 1))
    search.chained(new, closed=new < len(rows))
    return True, None


def _ahead(machine: Machine, row: Rows, letter: int, length: int) -> Rows | None:
    """The true states after 1, 2, ... letters, as many as were guessed rightly and one more."""
    guesses = machine.guess(row, letter, length)
    if guesses is None:
        return None
    before = np.concatenate([row, guesses[:-1]])
    after = machine.step(before, letter)
    missed = np.flatnonzero((after != guesses).any(axis=1))
    return after[: missed[0] + 1] if missed.size else after


def _orbit(image: Indices, state: int, length: int) -> Indices:
    """The states after 1, ..., `length` letters: a path, then a cycle over and over."""
    found, place = [state], {state: 0}
    while (state := int(image[state])) not in place:
        place[state] = len(found)
        found.append(state)
    times = np.arange(1, length + 1)
    first, period = place[state], len(found) - place[state]
    return np.array(found)[np.where(times < first, times, first + (times - first) % period)]


def guessed_pairs(A: Floats, b: Floats, h: Floats, fmt: FloatFormat, length: int) -> Floats:
    """h ← rnd(A h + b) in two dimensions, `[length, 2]`; ties, overflow and underflow may come out wrong."""
    (p, q), (r, s) = A.tolist()
    (x, y), (e, f) = h.tolist(), b.tolist()
    K = 2.0 ** (53 - fmt.precision) + 1  # Veltkamp: rounds to the format's bits
    if p == s and q == -r and e == f == 0:
        return _guessed_rotations(complex(p, r), complex(x, y), complex(K), length)
    xs, ys = [0.0] * length, [0.0] * length
    for i in range(length):
        u = p * x + q * y + e
        v = r * x + s * y + f
        t = u * K
        xs[i] = x = t - (t - u)
        t = v * K
        ys[i] = y = t - (t - v)
    return np.stack([np.array(xs), np.array(ys)], axis=1)


def _guessed_rotations(a: complex, z: complex, K: complex, length: int) -> Floats:
    """The same for multiples of rotations, which complex numbers do in half the time."""
    zs = [z] * length
    for i in range(length):
        u = a * z
        t = u * K
        zs[i] = z = t - (t - u)
    return np.array(zs).view(np.float64).reshape(length, 2)
