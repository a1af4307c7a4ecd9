"""Models for the tests of comparison: trained in seconds on a CPU, or constructed and then made slightly wrong."""

from __future__ import annotations

import numpy as np
import torch
from torch.nn import functional as F

from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.models._config import ModelConfig
from mirrormata.models._model import Model


def trained(
    automaton: Automaton,
    *,
    householders: int = 1,
    eigenvalues: tuple[int, int] = (-1, 1),
    steps: int = 400,
    length: int = 24,
    seed: int = 0,
    size: int = 8,
    heads: int = 1,
    rate: float = 1e-2,
) -> Model:
    """One layer of DeltaProduct, trained to name the state after every letter of uniform words."""
    config = ModelConfig(
        letters=len(automaton.letters), classes=len(automaton.states), width=32, heads=heads, head_dim=size,
        value_dim=size, householders=householders, range=eigenvalues, mlp=2.0, initial="learned", key_activation="none",
    )  # fmt: skip
    model = Model(config, [seed])
    draw = np.random.default_rng(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # several threads are many times slower for such small products
    for _ in range(steps):
        words = draw.integers(0, len(automaton.letters), (64, length))
        labels = automaton.trace(words)
        logits, _ = model(torch.from_numpy(words)[None])
        loss = F.cross_entropy(logits[0].flatten(0, 1), torch.from_numpy(labels).flatten())
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        schedule.step()
    torch.set_num_threads(threads)
    return model.eval()
