"""Families of the field on small tasks: their losses fall, what `compare` reads of them is what they do, PD-SSM against a plain loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.models._config import ModelConfig
from mirrormata.models._families import find_family
from mirrormata.models._model import Model
from mirrormata.models.layers._seeded import State
from mirrormata.models.learned._model import learned_from_model
from mirrormata.theory.proofs._prove import prove

SMALL: dict[str, Any] = {"width": 16, "heads": 2, "head_dim": 4, "value_dim": 4}
FAMILIES = ("gated_deltanet", "kda", "gated_deltanet2", "mamba", "mamba2", "rwkv7", "pd_ssm")


@pytest.mark.parametrize("family", FAMILIES)
def test_the_loss_of_a_flip_flop_falls(family: str) -> None:
    automaton = automaton_from_spec("flipflop")
    words = np.random.default_rng(0).integers(0, len(automaton.letters), (48, 12))
    labels = torch.from_numpy(automaton.trace(words)).flatten()
    model = Model(ModelConfig(family=family, letters=3, classes=len(automaton.states), conv=0, **SMALL), (1,))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(50):
        optimizer.zero_grad()
        logits, _ = model(torch.from_numpy(words)[None])
        loss = F.cross_entropy(logits.flatten(0, 2), labels)
        torch.autograd.backward(loss)
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.3 * losses[0], losses[::10]


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_read_of_a_model_is_its_recurrence(family: str) -> None:
    """H ← A(x) H + B(x) with the matrices that a comparison reads is the state of the model; a proof steps the same model."""
    automaton = automaton_from_spec("parity")
    sizes = {**SMALL, "head_dim": 4, "value_dim": 3}
    config = ModelConfig(family=family, letters=2, classes=2, initial="learned", **sizes)
    model = Model(config).double()
    learned = learned_from_model(model, automaton)
    assert ("token shift" in " ".join(learned.notes)) == find_family(family).looks_back
    proof = prove(learned.stepper, automaton, "kernel:recurrent", max_states=200)
    assert proof.verdict == "counterexample"
    if find_family(family).looks_back:
        return
    word = [0, 1, 1, 0, 1]
    states = learned.stepper.initial(1)
    own = [head.H0 for head in learned.heads]
    for letter in word:
        states = learned.stepper.step(states, np.array([letter]))
        own = [head.A[letter] @ H + head.B[letter] for head, H in zip(learned.heads, own, strict=True)]
    for found, wanted in zip(learned.head_states(states), own, strict=True):
        np.testing.assert_allclose(found[0], wanted, rtol=1e-6, atol=1e-6)
    assert (learned.read is None) == (family == "mamba")
    if learned.read is not None:
        many = learned.stepper.initial(8)
        for letters in np.random.default_rng(3).integers(0, 2, (6, 8)):
            many = learned.stepper.step(many, letters)
            answers = learned.stepper.decode(many, letters)
            np.testing.assert_array_equal(learned.read(learned.head_states(many), letters), answers)


def test_pd_ssm_is_its_loop_and_has_the_gradient_of_a_softmax() -> None:
    """One column of P at a time, in float64; the hard choice in the states, the softmax in the gradient."""
    config = ModelConfig(family="pd_ssm", initial="learned", options={"dictionary": 3}, **SMALL)
    torch.manual_seed(0)
    mixer: Any = find_family("pd_ssm").mixer(config).double()
    x = torch.randn(1, 2, 7, 16, dtype=torch.float64, requires_grad=True)

    def loop() -> tuple[Tensor, Tensor]:
        H = mixer.initial.value.expand(2, -1, -1, -1)
        outputs = []
        for t in range(7):
            here = x[:, :, t : t + 1]
            q, k, v = (
                getattr(mixer, n)(here, State(), n, State()).view(2, 2, -1) for n in ("query", "key", "value")
            )
            mixture = torch.einsum(
                "bhm,hmij->bhij", mixer.choice(here).view(2, 2, 3).softmax(-1), mixer.dictionary[0]
            )
            soft, d = mixture.softmax(-2), 2 * mixer.decay(here).float().sigmoid().view(2, 2, 4) - 1
            P = torch.zeros_like(soft)
            for b, h, j in np.ndindex(2, 2, 4):
                P[b, h, int(mixture[b, h, :, j].argmax()), j] = 1
            H = (P + soft - soft.detach()) @ (d.double()[..., None] * H) + k[..., None] * v[..., None, :]
            outputs.append(mixer.read_out((q[..., None] * H).sum(-2)[None, :, None], here))
        return torch.cat(outputs, 2), H

    (y, after), (wanted, H) = mixer(x), loop()
    torch.testing.assert_close(y, wanted, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(after["H"][0], H, rtol=1e-9, atol=1e-9)
    weights = torch.randn_like(y)
    parameters = [x, *mixer.parameters()]
    ours = torch.autograd.grad((y * weights).sum(), parameters)
    theirs = torch.autograd.grad((wanted * weights).sum(), parameters)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-8)
    A = mixer.transitions(x)
    assert ((A != 0).sum(-2) == 1).all()  # a single entry in each column


def test_a_dictionary_of_transition_matrices_follows_an_automaton() -> None:
    """T_3 in one layer of PD-SSM, by hand: each letter chooses its own matrix, d is 1, and states are one-hot (G.A3)."""
    automaton = automaton_from_spec("T3")
    n, letters = len(automaton.states), len(automaton.letters)
    config = ModelConfig(
        family="pd_ssm", letters=letters, classes=n, width=letters, heads=1, head_dim=n, value_dim=1, additive=False, initial="learned",
        strength="direct", norm=False, mlp=0.0, options={"dictionary": letters},
    )  # fmt: skip
    model = Model(config).double()
    mixer: Any = model.blocks[0].mixer
    with torch.no_grad():
        model.embedding.weight[0] = torch.eye(letters)
        mixer.choice.weight[0] = 50 * torch.eye(
            letters
        )  # the largest entry decides, so this need not be a choice of one alone
        mixer.decay.weight.zero_()
        mixer.decay.bias.fill_(1)
        for x in range(letters):
            mixer.dictionary[0, 0, x] = F.one_hot(torch.tensor(automaton.transitions[x]), n).T
        mixer.initial.value[0, 0, :, 0] = F.one_hot(torch.tensor(automaton.start), n)
        words = torch.from_numpy(np.random.default_rng(2).integers(0, letters, (5, 60)))
        _, (state,) = model(words[None])
    last = automaton.trace(words.numpy())[:, -1]
    assert torch.equal(state["H"][0, :, 0, :, 0], F.one_hot(torch.from_numpy(last), n).double())
