"""A torch layer of your own: does it count the ones modulo 2, in bf16, on words of every length?"""

from __future__ import annotations

from typing import Any

import torch

from mirrormata import automaton_from_spec, prove


class Flip:
    """h ← h on a 0, h ← a·h + b on a 1, in bf16, one operation after another; the sign is the parity.

    `prove` needs states as numpy arrays (here the bits of bf16), a step and a decoder.
    """

    def __init__(self, a: float, b: float = 0.0) -> None:
        self.a, self.b = torch.tensor([a, b], dtype=torch.bfloat16)

    def initial(self, sequences: int) -> Any:
        return torch.ones(sequences, dtype=torch.bfloat16).view(torch.int16).numpy()

    def step(self, states: Any, letters: Any) -> Any:
        h = torch.from_numpy(states.copy()).view(torch.bfloat16)
        return torch.where(torch.from_numpy(letters) == 1, self.a * h + self.b, h).view(torch.int16).numpy()

    def decode(self, states: Any, letters: Any) -> Any:
        return (torch.from_numpy(states.copy()).view(torch.bfloat16) < 0).long().numpy()


parity = automaton_from_spec("parity")
for a, b in ((-1.0, 0.0), (-0.9921875, 0.0), (-0.9921875, -0.0009765625), (0.9921875, 0.0)):
    proof = prove(Flip(a, b), parity, "torch bf16 on the CPU")
    word = "" if proof.word is None else f", shortest wrong word of {len(proof.word)} letters"
    print(f"a = {a}, b = {b}: {proof.verdict}, {proof.states_explored} states{word}")
