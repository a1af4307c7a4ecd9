"""R7: any automaton in four layers with one factor a token, by the block delay of DP.T1 with swaps and copies.

Time is cut into blocks of m = n - 1 tokens. Two layers count t mod 2m, one keeps the last 2m tokens, and the last layer
applies one swap or copy a token to a one-hot vector: the map of a block takes at most n - 1 of them, and is applied
while the next block is read. Decoding applies the steps still to come, then the tokens of the block read so far.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ...constructions.automaton import Automaton
from ...constructions.block_counter import Counter, two_layer_counter
from ...constructions.householder import GHFactor, gh_factor, product_of
from ...constructions.matrices import Matrix, matrix
from ...constructions.swap_copy import Step, swap_copy_factors, swap_copy_word


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
            buffer = written(buffer, phase, x)
            block_map, read = self.told(phase, buffer)
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

    def told(self, phase: int, buffer: Matrix) -> tuple[tuple[int, ...], tuple[int, ...]]:
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


def written(buffer: Matrix, slot: int, letter: int) -> Matrix:
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
