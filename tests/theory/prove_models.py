"""Models that tests of `prove` share: flip-flops that contract, signs and turns, perturbed constructions, steppers by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions.algebra._householder import GHFactor
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.automata._completing import object_array
from mirrormata.theory.proofs._npz_model import NpzModel, npz_model


def flip_flop(beta: float) -> NpzModel:
    """read, 0, 1: on i, H ← (1 - β) H + β e_i; read by the nearest of e_0, e_1."""
    one = np.eye(2)
    A = np.stack([one, (1 - beta) * one, (1 - beta) * one])
    B = np.zeros((3, 2, 1))
    B[1, 0, 0] = B[2, 1, 0] = beta
    codes = np.stack([one[:, :1], one[:, 1:]])
    decode = np.repeat([[0], [1]], 3, axis=1)
    return npz_model({"A": A, "B": B, "H0": one[:, :1], "codes": codes, "decode": decode}, "flip-flop")


def sign(decode: Any, letters: int = 2) -> NpzModel:
    """h ← -h on the last letter, h on the others; read by its sign."""
    A = np.ones((letters, 1, 1))
    A[-1] = -1
    codes = np.array([[[1.0]], [[-1.0]]])
    arrays = {
        "A": A,
        "B": np.zeros((letters, 1, 1)),
        "H0": np.ones((1, 1)),
        "codes": codes,
        "decode": np.array(decode),
    }
    return npz_model(arrays, "sign")


def turns(m: int, decode: list[int]) -> NpzModel:
    """One-hot positions that the letter 1 moves on by one."""
    shift = np.roll(np.eye(m), 1, axis=0)
    codes = np.eye(m)[:, :, None]
    arrays = {
        "A": np.stack([np.eye(m), shift]),
        "B": np.zeros((2, m, 1)),
        "H0": codes[0],
        "codes": codes,
        "decode": np.repeat(np.array(decode)[:, None], 2, axis=1),
    }
    return npz_model(arrays, "turns")


def with_outputs(automaton: Automaton, outputs: list[str]) -> Automaton:
    """The automaton with other outputs, one a state."""
    return replace(automaton, outputs=object_array(outputs))


def random_model(seed: int, letters: int, outputs: int) -> NpzModel:
    """Gaussian numbers; one code for each output."""
    draw = np.random.default_rng(seed).normal
    arrays = {
        "A": draw(size=(letters, 3, 3)) / 2,
        "B": draw(size=(letters, 3, 1)),
        "H0": draw(size=(3, 1)),
        "codes": draw(size=(outputs, 3, 1)),
        "decode": np.repeat(np.arange(outputs)[:, None], letters, axis=1),
    }
    return npz_model(arrays, "random")


def with_beta(lrnn: LRNN, letter: int, beta: Any) -> LRNN:
    """One-head LRNN with another β in the last factor of one letter; codes and tables as they were."""
    (head,) = lrnn.all_heads
    transitions = list(head.transitions)
    *first, last = transitions[letter].factors
    transitions[letter] = replace(
        transitions[letter], factors=(*first, GHFactor(beta, last.vector, last.mask))
    )
    changed = replace(head, transitions=tuple(transitions))
    return replace(lrnn, layers=(replace(lrnn.layers[0], heads=(changed,)),))


class Counter:
    """Counts ones up to `largest`, then starts again at `again`; decodes the number modulo `modulus`."""

    def __init__(self, modulus: int, largest: int, again: int) -> None:
        self.modulus, self.largest, self.again = modulus, largest, again
        self.identity = f"counter {modulus} {largest} {again}"

    def initial(self, sequences: int) -> dict[str, Any]:
        return {
            "n": np.zeros(sequences, dtype=np.int16),
            "rest": [np.zeros((2, sequences), dtype=np.float32)],
        }

    def step(self, states: dict[str, Any], letters: NDArray[np.int64]) -> dict[str, Any]:
        n = states["n"] + letters
        n = np.where(n > self.largest, self.again, n).astype(np.int16)
        return {"n": n, "rest": [np.stack([n, -n]).astype(np.float32)]}

    def decode(self, states: dict[str, Any], letters: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.asarray(states["n"].astype(np.int64) % self.modulus)
