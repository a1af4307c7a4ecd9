"""Constructed weights in the modules that are trained: right on words, bit-exact where integer, proved by search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from mirrormata.constructions._construct import construct
from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions._realisation import Transition
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions._written_values import find_written_values
from mirrormata.constructions.algebra._householder import GHFactor
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.foundation._errors import InputError, LimitError, NotRealisableError
from mirrormata.models._kinds import from_construction
from mirrormata.models._model_stepper import ModelStepper
from mirrormata.theory.proofs._prove import prove

ONE_LAYER = ["parity", "S3", "S4", "mod:7", "dihedral:5", "S5[transpositions]", "Q8", "flipflop", "gridworld:4", "permreset:3", "dn:2", "A4_x_Z5[generators]"]  # fmt: skip
LAYERED = ["T3", "even_pairs", "mod_arith:3", "tomita:4"]


def lrnn_of(spec: str, **request: Any) -> LRNN:
    result = construct(automaton_from_spec(spec), **request)
    assert isinstance(result, LRNN)
    return result


def right_states(automaton: Automaton, words: np.ndarray) -> np.ndarray:
    state = np.full(len(words), automaton.start)
    states = np.empty_like(words)
    for t in range(words.shape[1]):
        state = automaton.transitions[words[:, t], state]
        states[:, t] = state
    return states


@pytest.mark.parametrize("spec", ONE_LAYER + LAYERED)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_words_are_tracked(spec: str, dtype: torch.dtype) -> None:
    theorem = "G.T4" if spec == "tomita:4" else None  # else a chain of sets
    exactness = "integer" if dtype == torch.bfloat16 else "any"
    lrnn = lrnn_of(spec, theorem=theorem, exactness=exactness)
    built = from_construction(lrnn)
    words = np.random.default_rng(0).integers(0, len(lrnn.automaton.letters), (3, 200))
    with torch.no_grad():
        logits, _ = built.to(dtype)(torch.from_numpy(words)[None])
    assert (built.answers(logits[0]).numpy() == right_states(lrnn.automaton, words)).all()


@pytest.mark.parametrize("spec", ["S4", "S5[transpositions]", "permreset:3"])
def test_integer_states_are_their_codes_bit_for_bit(spec: str) -> None:
    """The kernel's states, whole words at once and token by token, are the exact codes."""
    lrnn = lrnn_of(spec)
    (head,) = lrnn.layers[0].heads
    codes = np.zeros((len(head.codes), head.dim, head.value_dim))
    for c, code in enumerate(head.codes):
        for i, j, x in code:
            codes[c, i, j] = int(x)  # type: ignore[arg-type]
    model = from_construction(lrnn).to(torch.bfloat16)
    letters = np.random.default_rng(3).integers(0, len(lrnn.automaton.letters), 150)
    place = int(lrnn.decode[0, 1])
    with torch.no_grad():
        states = model.initial_states(1)
        for t, x in enumerate(letters):
            _, states = model(torch.tensor([[[x]]]), states)
            place = int(head.code_transitions[head.action_of(np.array([x]))[0], place])
            H = states[0]["H"][0, 0, :, : head.dim, : head.value_dim].double().numpy()
            assert (codes[place] == H).all(), t
        _, whole = model(torch.from_numpy(letters)[None, None])
    assert torch.equal(whole[0]["H"], states[0]["H"])


@pytest.mark.parametrize("spec", ["parity", "S3", "flipflop", "even_pairs", "T3"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_models_are_proved_on_their_own_kernels(spec: str, dtype: torch.dtype) -> None:
    lrnn = lrnn_of(spec)
    built = from_construction(lrnn)
    stepper = ModelStepper(built.to(dtype))
    proof = prove(stepper, lrnn.automaton, "kernel:recurrent", max_states=10_000)
    assert proof.verdict == "equivalent"


def test_a_wrong_weight_is_found() -> None:
    """A sign, an order of factors, or the product's side: each makes a counterexample."""
    lrnn = lrnn_of("S3")
    factors = lrnn.householders
    assert factors == 2
    for change in ("beta", "order", "query"):
        built = from_construction(lrnn)
        mixer: Any = built.blocks[0].mixer
        with torch.no_grad():
            if change == "beta":
                mixer.beta.weight.neg_()
            elif change == "order":
                shape = mixer.key.linear.weight.shape
                for linear, layer in ((mixer.key.linear, 2), (mixer.beta, 2)):
                    w = linear.weight[0].view(layer, -1, shape[2])
                    linear.weight[0] = w.flip(0).reshape(-1, shape[2])
            else:
                w = mixer.query.linear.weight[0].view(mixer.config.heads, mixer.config.head_dim, -1)
                w.copy_(w.flip(1).clone())
        proof = prove(ModelStepper(built), lrnn.automaton, "kernel:recurrent", max_states=2_000)
        assert proof.verdict == "counterexample", change


def test_random_weights_are_refuted() -> None:
    from mirrormata.models._config import ModelConfig
    from mirrormata.models._model import Model

    for family in ("deltaproduct", "mamba", "rwkv7", "lstm"):
        model = Model(ModelConfig(family=family, width=16, heads=2, head_dim=4, value_dim=4, conv=3))
        proof = prove(
            ModelStepper(model), automaton_from_spec("parity"), "kernel:recurrent", max_states=5_000
        )
        assert proof.verdict == "counterexample", family


def test_what_no_delta_rule_computes_is_refused() -> None:
    with pytest.raises(InputError, match=r"T3: a letter is given as a matrix \(G\.A3\), not as GH factors"):
        from_construction(lrnn_of("T3", theorem="G.A3"))
    with pytest.raises(InputError, match="RWKV-7"):
        from_construction(lrnn_of("T3", theorem="DP.T6"))
    with pytest.raises(LimitError, match="raise `max_entries`"):
        from_construction(lrnn_of("S4"), max_entries=100)


def test_written_values() -> None:
    swap = GHFactor(1, ((0, 1), (1, -1)))
    erase = GHFactor(1, ((0, 1),))
    # erase writes e_0 first, then the swap carries it to e_1
    assert find_written_values(Transition((erase, swap), 1, ((1, 0, 3),)), 2, 1) == (((0, 0, 3),), ())
    # the other way round e_0 is what the erasing factor writes last
    assert find_written_values(Transition((swap, erase), 1, ((0, 0, 3),)), 2, 1) == ((), ((0, 0, 3),))
    assert find_written_values(Transition((swap,)), 2, 1) == ((),)
    with pytest.raises(NotRealisableError, match="does not lie along"):
        find_written_values(Transition((swap,), 1, ((0, 0, 1),)), 2, 1)
    with pytest.raises(NotRealisableError):
        find_written_values(Transition((), 1, ((0, 0, 1),)), 2, 1)
