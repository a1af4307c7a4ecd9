"""Chains of sets as models on the kernels: the states of the exact chain, in every dtype and mode."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from mirrormata import construct, random_words
from mirrormata.constructions.chains._chain import ChainRNN
from mirrormata.constructions.chains._rule import split_permutations
from mirrormata.foundation._errors import InputError, LimitError
from mirrormata.models import ChainModel, from_construction
from mirrormata.models._chain_model import _split_permutations
from mirrormata.theory.running._chain import ChainStepper

CASES = [
    ("T3", "own.chain"),
    ("S3", "own.chain"),
    ("tomita:4", "own.window"),
    ("regex:(a|b)*a(a|b)(a|b)", "own.window"),
    ("random:states=9,letters=3,seed=3", "own.chain"),
    ("random:states=14,letters=2,seed=4", "own.window"),
    ("T3", "own.lookback"),
    ("random:states=14,letters=2,seed=4", "own.lookback"),
    ("random:states=9,letters=3,seed=3", "own.lookback without gates"),
]


def made(spec: str, theorem: str) -> ChainRNN:
    found = construct(spec, theorem=theorem.split(maxsplit=1)[0])
    assert isinstance(found, ChainRNN)
    return replace(found, gated=False) if theorem.endswith("without gates") else found


@pytest.mark.parametrize(("spec", "theorem"), CASES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("mode", ["recurrent", "chunk"])
def test_answers(spec: str, theorem: str, dtype: torch.dtype, mode: str) -> None:
    form = made(spec, theorem)
    words = random_words(form.automaton, 3, 41, 0)
    letters = torch.from_numpy(np.asarray(words, dtype=np.int64))
    model = ChainModel(form, dtype=dtype, mode=mode)
    named, _ = model(letters)
    assert named.tolist() == form.automaton.trace(words).tolist()
    first, states = model(letters[:, :17])
    second, _ = model(letters[:, 17:], states)
    assert torch.equal(torch.cat([first, second], dim=1), named)


@pytest.mark.parametrize(("spec", "theorem"), CASES)
def test_states_are_those_of_the_exact_chain(spec: str, theorem: str) -> None:
    form = made(spec, theorem)
    words = random_words(form.automaton, 4, 23, 1)
    _, held = ChainModel(form, dtype=torch.bfloat16)(torch.from_numpy(np.asarray(words, dtype=np.int64)))
    stepper = ChainStepper(form)
    states = stepper.initial(4)
    for t in range(words.shape[1]):
        states = stepper.step(states, words[:, t])
    exact = [states.register] * (form.window is not None) + [H[:, :, None] for H in states.levels]
    assert len(held) == len(exact)
    for layer, H in zip(held, exact, strict=True):
        assert (layer[:, 0].double().numpy() == H).all()
        assert all(torch.equal(layer[:, 0], layer[:, h]) for h in range(layer.shape[1]))


@pytest.mark.parametrize("mode", ["recurrent", "chunk"])
def test_triton_kernels(mode: str) -> None:
    form = made("T3", "own.chain")
    words = random_words(form.automaton, 2, 18, 0)
    model = ChainModel(form, dtype=torch.float32, mode=mode, backend="triton")
    named, _ = model(torch.from_numpy(np.asarray(words, dtype=np.int64)))
    assert named.tolist() == form.automaton.trace(words).tolist()


def test_long_words_are_run_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mirrormata.models._chain_model.PART_ENTRIES", 2_000)
    form = made("tomita:4", "own.window")
    words = random_words(form.automaton, 2, 300, 0)
    named, _ = from_construction(form)(torch.from_numpy(np.asarray(words, dtype=np.int64)))
    assert named.tolist() == form.automaton.trace(words).tolist()


def test_permutations_split_as_in_the_rule() -> None:
    images = np.array([np.random.default_rng(s).permutation(9) for s in range(20)])
    for mine, exact in zip(
        _split_permutations(torch.from_numpy(images)), split_permutations(images), strict=True
    ):
        assert (mine.numpy() == exact).all()


def test_what_is_no_model() -> None:
    with pytest.raises(
        InputError, match="a block delay is a rule, not a table: its layers are not built as a model"
    ):
        from_construction(construct("S3", theorem="DP.T1"))
    with pytest.raises(InputError, match="a chain of sets over blocks is a rule, not a table"):
        from_construction(construct("T3", theorem="own.blocks"))
    wide = construct("random:states=200,letters=2,seed=0", theorem="own.chain")
    with pytest.raises(LimitError, match="the kernels have 256 at most"):
        from_construction(wide)
