"""own.definite: the last m letters decide the state, and a shift register holds them.

An automaton is *definite* if all states go to one under every word of m letters, for some m; letters that move no state are
left out. One head of dimension m then holds the last m letters, the newest in row 0, each as a number in binary, a bit a column. All
letters act by the same nilpotent matrix: N e_i = e_{i+1} and N e_{m-1} = 0. It is the projection that erases the oldest letter, followed by m - 1 swaps
that turn the register, and B(x) writes the new letter's bits into row 0:

    H ← N H + e_0 bits(x)ᵀ        ‖N‖ = 1, rank(N - I) = m, so fewer than m factors do not suffice for this matrix

If some word of m letters leads to the start state, the register begins with that word. Otherwise its rows are zero at first, and
0 is the number of no letter. All numbers are 0 and 1 (swaps have -1 too), in every float format.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...foundation._errors import LimitError, NotRealisableError
from ...foundation._text import count_noun
from .._head import Head
from .._lrnn import LRNN, Layer
from .._realisation import Sparse, Transition
from ..algebra._definite import deciding_length, number_maps
from ..algebra._householder import gh_factor
from ..automata._automaton import Automaton, Indices
from ..heads._assembly import joint_rows
from ._construction import Construction, Problem


@dataclass(frozen=True)
class Register:
    """The shift register of an automaton.

    Attributes:
        length: m, the number of rows.
        kinds: for each letter the number of its map, from 0; -1 if it moves no state.
        maps: the different maps that move a state, int array `[kinds, states]`.
        first: the numbers of the letters that it begins with, the oldest first: m of them or none.
    """

    length: int
    kinds: tuple[int, ...]
    maps: Indices
    first: tuple[int, ...]

    @property
    def blank(self) -> int:
        """1 if the number 0 stands for no letter, so that letters are written as 1, 2, ...; otherwise 0."""
        return 0 if self.first else 1

    @property
    def columns(self) -> int:
        """The number of bits of a letter."""
        return max(1, (len(self.maps) - 1 + self.blank).bit_length())

    @property
    def size(self) -> int:
        """How many contents the register has: words of m letters, and the shorter ones if it begins empty."""
        k = len(self.maps)
        return sum(k**j for j in (range(self.length + 1) if self.blank else (self.length,)))

    def bits(self, kind: int) -> list[int]:
        """The columns that hold a 1 for a letter.

        Args:
            kind: the number of its map.
        """
        return [b for b in range(self.columns) if (kind + self.blank) >> b & 1]

    def transition(self, kind: int) -> Transition:
        """What a letter does: it erases the oldest letter, turns the register, and writes itself.

        Args:
            kind: the number of its map; -1 for a letter that does nothing.
        """
        if kind < 0:
            return Transition()
        erase = gh_factor(1, {self.length - 1: 1})
        # from the back to the front, the empty row past all others
        turn = (gh_factor(1, {j: 1, j + 1: -1}) for j in reversed(range(self.length - 1)))
        return Transition((erase, *turn), additive=tuple((0, b, 1) for b in self.bits(kind)))

    def contents(self) -> tuple[Indices, Indices, int]:
        """All words that the register can hold, shorter words first and each length in lexicographic order.

        Returns:
            The kinds of each word's letters, the newest first and -1 for none, int array `[contents, m]`; where each kind of letter takes
            each content, int array `[kinds, contents]`; and the content at the beginning.
        """
        k, m = len(self.maps), self.length
        lengths = range(m + 1) if self.blank else range(m, m + 1)
        rows, moves, offset = [], [], 0
        for j in lengths:
            values = np.arange(k**j)
            digits = values[:, None] // k ** np.arange(j) % k
            rows.append(np.concatenate([digits, np.full((len(values), m - j), -1)], axis=1))
            # the oldest letter is the highest digit, and drops out of a full register
            after = (values * k + np.arange(k)[:, None]) % k ** min(j + 1, m)
            moves.append(after + (offset + k**j if j < m else offset))
            offset += k**j
        start = 0
        for kind in self.first:
            start = start * k + kind
        return np.concatenate(rows), np.concatenate(moves, axis=1), start


def find_register(transitions: Indices, start: int) -> Register | None:
    """The register of a definite automaton; None for any other.

    Args:
        transitions: int array `[letters, states]`.
        start: index of the start state.
    """
    kinds, maps = number_maps(transitions)
    if not len(maps):
        return None
    length = deciding_length(maps)
    if length is None:
        return None
    return Register(length, kinds, maps, _word_to(maps, start, length))


def _word_to(maps: Indices, state: int, length: int) -> tuple[int, ...]:
    """A word of so many maps that leads to a state from somewhere, the first map first; empty if there is none."""
    size = maps.shape[1]
    reached = [np.ones(size, dtype=bool)]
    for _ in range(length):
        after = np.zeros(size, dtype=bool)
        after[maps[:, reached[-1]]] = True
        reached.append(after)
    if not reached[-1][state]:
        return ()
    word = []
    for before in reversed(reached[:-1]):
        kind, state = np.argwhere((maps == state) & before)[0].tolist()
        word.append(kind)
    return tuple(reversed(word))


def shift_register(problem: Problem) -> LRNN:
    """The shift register of a definite automaton, as a table of all its contents.

    Args:
        problem: the automaton to be realised.

    Raises:
        NotRealisableError: the automaton is not definite, or its start does not reach all states.
        LimitError: the register has more contents than the limit.
    """
    automaton = problem.automaton
    name = f"{automaton.name}: own.definite"
    if len(automaton.states) == 1:
        raise NotRealisableError(f"{name}: one state needs no register; leave `theorem` out")
    if len(automaton.reachable()) < len(automaton.states):
        raise NotRealisableError(
            f"{name} needs every state to be reachable from the start; leave `theorem` out"
        )
    register = find_register(automaton.transitions, automaton.start)
    if register is None:
        raise NotRealisableError(f"{name}: no number of last letters decides the state; leave `theorem` out")
    limit = problem.limits.contents
    if register.size > limit:
        raise LimitError(
            f"{name}: a register of {count_noun(register.length, 'letter')} of {count_noun(len(register.maps), 'kind')} has {register.size:,} contents; the limit is "
            f"{limit:,}: `theorem` own.window computes them without a list"
        )
    made = register_lrnn(automaton, register)
    if made is None:
        raise AssertionError("the last letters decide the state")
    return made


def register_lrnn(automaton: Automaton, register: Register) -> LRNN | None:
    """A shift register as a table of all its contents; None if one of them would stand for two states.

    Args:
        automaton: an automaton whose start reaches all states.
        register: the register.
    """
    m = register.length
    words, moves, start = register.contents()
    # the table of a letter that does nothing comes last, where index -1 finds it
    table = np.concatenate([moves, np.arange(len(words))[None]])[list(register.kinds)]
    rows = joint_rows([automaton.transitions, table], np.array([[automaton.start, start]]))
    if rows is None:
        return None
    order = rows[:, 1]
    position = np.full(len(words), -1, dtype=np.int64)
    position[order] = np.arange(len(order))
    bits = [register.bits(kind) for kind in range(len(register.maps))]

    def code(word: list[int]) -> Sparse:
        return tuple((i, b, 1) for i, kind in enumerate(word) if kind >= 0 for b in bits[kind])

    head = Head(
        m,
        register.columns,
        tuple(register.transition(kind) for kind in register.kinds),
        tuple(code(word) for word in words[order].tolist()),
        position[table[:, order]],
    )
    decode = np.stack([rows[:, 0], np.arange(len(rows))], axis=1)
    shown = "letter" if m == 1 else count_noun(m, "letter")
    return LRNN(automaton, (Layer((head,)),), decode, "own.definite", f"a shift register of the last {shown}")


CONSTRUCTION = Construction(
    source="own.definite",
    title="automata whose last letters decide the state, by a shift register",
    order=42,
    examples=("regex:(a|b)*a(a|b)(a|b)", "flipflop", "regex:(a|b|c)*ab"),
    refusals={
        "T3": "no number of last letters decides",
        "tomita:4": "no number of last letters decides",
        "mod:1": "one state",
    },
    build=shift_register,
    for_group_automata=False,
)
