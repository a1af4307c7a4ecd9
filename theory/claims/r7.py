"""R7: any regular language in four layers of RWKV-7 with one factor a token."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...constructions._delay import Counter
from ...constructions._spec import automaton_from_spec
from ...constructions.algebra._householder import GHFactor, gh_factor, product_of
from ...constructions.algebra._matrices import Matrix, matrix
from ...constructions.algebra._swap_copy import Step, swap_copy_factors, swap_copy_word
from ...constructions.automata._automaton import Automaton
from ...constructions.theorems._block_delay import two_layer_counter
from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_random_cases

# R7: any automaton in four layers with one factor a token, by the block delay of DP.T1 with swaps and copies.
#
# Time is cut into blocks of m = n - 1 tokens. Two layers count t mod 2m, one keeps the last 2m tokens, and the last layer
# applies one swap or copy a token to a one-hot vector: the map of a block takes at most n - 1 of them, and is applied
# while the next block is read. Decoding applies the steps still to come, then the tokens of the block read so far.


@dataclass(frozen=True)
class FourLayers:
    """`block`: m. `counter`: the two layers below the buffer, of period 2m."""

    automaton: Automaton
    block: int
    counter: Counter

    def run(self, word: Sequence[int]) -> Iterator[int]:
        """The automaton's state after each letter of a word, decoded from the layers' exact states."""
        n, k, slots = len(self.automaton.states), len(self.automaton.letters), 2 * self.block
        buffer = matrix([[0] * k for _ in range(slots)])
        state = matrix([[int(q == self.automaton.start)] for q in range(n)])
        for t, x in enumerate(word, start=1):
            phase = t % slots
            buffer = write_token(buffer, phase, x)
            block_map, read = self.tell_last_layer(phase, buffer)
            position = (phase - 1) % self.block
            for factor in swap_copy_factors(block_map)[position : position + 1]:
                state = factor.apply(state)
            point = [row[0] for row in state].index(1)
            for step in swap_copy_word(block_map)[position + 1 :]:
                point = step(point)
            for letter in read:
                point = int(self.automaton.transitions[letter, point])
            yield point

    def block_steps(self, block: int, word: Sequence[int]) -> tuple[Step, ...]:
        """The swaps and copies of the map of one block of a word, the first block is 0."""
        return swap_copy_word(self._map(word[block * self.block : (block + 1) * self.block]))

    def _map(self, letters: Iterable[int | None]) -> tuple[int, ...]:
        image = list(range(len(self.automaton.states)))
        for letter in letters:
            if letter is not None:
                image = [int(self.automaton.transitions[letter, q]) for q in image]
        return tuple(image)

    def tell_last_layer(self, phase: int, buffer: Matrix) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """What the layers below tell the last one: the map of the block before, and the tokens of this one so far."""
        slots = 2 * self.block
        position = (phase - 1) % self.block
        tokens = [letter_in(buffer[(phase - back) % slots]) for back in range(slots)][::-1]
        before = tokens[slots - position - 1 - self.block : slots - position - 1]
        read = tokens[slots - position - 1 :]
        return self._map(before), tuple(letter for letter in read if letter is not None)


def four_layers(automaton: Automaton) -> FourLayers:
    """The four layers for an automaton of two states or more."""
    block = max(len(automaton.states) - 1, 1)
    return FourLayers(automaton, block, two_layer_counter(2 * block))


def write_token(buffer: Matrix, slot: int, letter: int) -> Matrix:
    """The ring buffer's token: key e_slot, β = 1, value the one-hot letter: a projection, then the new row."""
    erased = gh_factor(1, {slot: 1}).apply(buffer)
    return tuple(
        tuple(x + int(i == slot and j == letter) for j, x in enumerate(row)) for i, row in enumerate(erased)
    )


def letter_in(row: Sequence[object]) -> int | None:
    """The letter of a one-hot row; None for a row of zeros."""
    return row.index(1) if 1 in row else None


def counter_defect(counter: Counter) -> str | None:
    """Why the layers do not count modulo their period with one factor a token; None where they do.

    Each head's factors must lead from the code of each phase to that of the next, what a layer reads must be told by
    the codes of the layers below, and all codes together must tell the phases apart.
    """
    phases = range(counter.period)
    below: list[tuple[int, ...]] = [() for _ in phases]
    for i, layer in enumerate(counter.layers):
        choices: dict[tuple[int, ...], int] = {}
        for phase in phases:
            if choices.setdefault(below[phase], layer.reads[phase]) != layer.reads[phase]:
                return f"layer {i} reads more than the layers below tell"
        for head in layer.heads:
            for phase in phases:
                factors: tuple[GHFactor, ...] = head.transitions[layer.reads[phase]]
                if len(factors) > 1:
                    return f"layer {i} has {len(factors)} factors a token"
                moved = product_of(factors, head.dim)
                here, there = head.codes[head.code_at[phase - 1]], head.codes[head.code_at[phase]]
                if matrix([[sum(a * b for a, b in zip(row, here, strict=True))] for row in moved]) != matrix(
                    [[x] for x in there]
                ):
                    return f"layer {i} leaves its code at phase {phase}"
        for phase in phases:
            below[phase] = (*below[phase], *(head.code_at[phase] for head in layer.heads))
    return None if len(set(below)) == counter.period else "two phases have the same codes"


CLAIM = Claim(
    "R7",
    "Any regular language in four layers with one swap or copy a token",
    "supported",
    uses=("DP.T6", "DP.T1", "DP.L2", "DP.L3"),
)
Case = tuple[FourLayers, list[int]]


def verify(effort: Effort = QUICK) -> Verdict:
    """Four layers with one factor a token follow any automaton: two count, one remembers, one moves.

    Statement: Let an automaton have n states and m = n - 1. Two layers with one reflection each count the tokens modulo
        2m; one layer keeps the last 2m tokens, with the projection on e_(t mod 2m); the last layer applies, token by
        token, the at most m swaps and copies of the map of the block of m tokens before. Decoding with the steps
        still to come and the tokens of this block gives the automaton's state.
    Direction: sufficient
    Hypotheses: Two states or more; norms up to √2 are allowed in the last layer.
    Arithmetic: exact; the counter lies in Q(2cos 2π/N), all else is integer
    Source: R7, its theorem on regular languages, by the block delay of DP, Theorem 1
    Method: Random automata, all four layers run in exact numbers on random words; the counter is checked at each phase.
        With a block one token shorter than n - 1 the same check must find wrong states.
    Example:
        >>> print(verify().line())
        supported by 12 instances: no violation, as claimed
    """
    return check_random_cases(
        CLAIM,
        effort,
        count=effort.pick(12, 120),
        draw=lambda g: draw_case(g, 0),
        broken=lambda g: draw_case(g, 1),
        check=violation,
        tight=lambda case: any(len(case[0].block_steps(i, case[1])) == case[0].block for i in range(4)),
        assumptions=("what a layer's read-out computes is any function of its code and letter",),
    )


def draw_case(generator: np.random.Generator, missing: int) -> Case:
    """A random automaton with three to five reachable states, its layers with blocks too short by `missing`, a word."""
    found = random_automaton(generator)
    layers = four_layers(found)
    if missing:
        block = layers.block - missing
        layers = FourLayers(found, block, two_layer_counter(2 * block))
    return layers, generator.integers(len(found.letters), size=60).tolist()


def random_automaton(generator: np.random.Generator) -> Automaton:
    """Three letters, three to five reachable states."""
    while True:
        found = automaton_from_spec(f"random:states=5,letters=3,seed={generator.integers(2**31)}")
        if len(found.states) > 2:
            return found


def violation(case: Case) -> Any:
    """The first token after which the layers' state is not the automaton's; None where there is none."""
    layers, word = case
    reason = counter_defect(layers.counter)
    if reason is not None or len(layers.counter.layers) != 2:
        return {"layers": len(layers.counter.layers), "counter": reason}
    state = layers.automaton.start
    for t, (letter, decoded) in enumerate(zip(word, layers.run(word), strict=True), start=1):
        state = int(layers.automaton.transitions[letter, state])
        if decoded != state:
            return {
                "transitions": layers.automaton.transitions,
                "word": word[:t],
                "decoded": decoded,
                "state": state,
            }
    return None
