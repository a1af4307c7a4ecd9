"""Exported FLA checkpoints: their keys, their answers in a numpy model, and what is refused."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from mirrormata.constructions._construct import construct
from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions._realisation import Sparse, Transition
from mirrormata.constructions.algebra._householder import gh_factor
from mirrormata.constructions.automata._labels import label_text
from mirrormata.foundation._errors import InputError
from mirrormata.models.fla._export import (
    complete_squares,
    fla_checkpoint,
    four_squares,
    silu_pair,
    silu_preimage,
)
from mirrormata.models.fla._folder import load_fla, save_fla
from mirrormata.models.fla._importing import import_heads
from mirrormata.models.fla._learned import prove_fla
from mirrormata.models.fla._model import FlaModel
from mirrormata.models.fla._task import read_task
from mirrormata.tests.cli.command_line import caller
from mirrormata.tests.theory.certified import by_hand, halves, reset, shifted_sign
from mirrormata.theory.proofs._npz_model import load_npz_model

TASKS = [
    "parity", "S3", "S5", "S5[transpositions]", "Z2^3", "mod:3", "S4", "A4", "Q8", "Z60", "flipflop", "T2", "tomita:1",
]  # fmt: skip


def wrong_answers(lrnn: LRNN, dtype: str, length: int, folder: Path) -> int:
    """Of the numpy model, over four random words of an automaton's checkpoint."""
    save_fla(folder / "fla", fla_checkpoint(lrnn))
    config, tensors = load_fla(folder / "fla")
    task, automaton = read_task(folder / "fla", config["vocab_size"]), lrnn.automaton
    answers = task.answers_to(automaton, "x")
    assert answers.kind == "states"
    meaning = answers.of_states(task.meaning(config["vocab_size"]))
    model = FlaModel(
        config, tensors, dtype=dtype, bos=task.bos, letters=list(task.letters.values()), meaning=meaning
    )
    words = np.random.default_rng(1).integers(len(automaton.letters), size=(length, 4))
    running = model.initial(4)
    true = np.full(4, automaton.start)
    wrong = int((model.decode(running, words[0]) != true).sum())
    for letters in words:
        running = model.step(running, letters)
        true = automaton.transitions[letters, true]
        wrong += int((model.decode(running, letters) != true).sum())
    return wrong


@pytest.mark.parametrize("name", TASKS)
def test_checkpoint_answers_rightly(name: str, tmp_path: Path) -> None:
    # one code a state, which a cover does not have
    theorem = "G.T3" if name == "Q8" else None
    lrnn = construct(name, exactness="integer", theorem=theorem)
    assert isinstance(lrnn, LRNN)
    assert wrong_answers(lrnn, "fp32", 400, tmp_path) == 0


@pytest.mark.parametrize("dtype", ["fp32", "bf16", "fp16"])
@pytest.mark.parametrize("name", ["parity", "S4", "flipflop", "T2"])
def test_checkpoint_answers_rightly_in_every_dtype(name: str, dtype: str, tmp_path: Path) -> None:
    assert wrong_answers(construct(name, exactness="integer"), dtype, 200, tmp_path) == 0


@pytest.mark.parametrize("name", ["A5", "mod:5", "Z60"])
def test_irrational_mirrors_are_right_to_their_horizon(name: str, tmp_path: Path) -> None:
    lrnn = construct(name)
    assert isinstance(lrnn, LRNN)
    horizons = fla_checkpoint(lrnn).horizons
    assert horizons["fp32"] is not None
    assert horizons["fp16"] is not None
    assert horizons["bf16"] is not None
    assert horizons["fp32"] > 500 > horizons["fp16"] > horizons["bf16"]
    assert wrong_answers(lrnn, "fp32", min(horizons["fp32"], 500), tmp_path) == 0
    if horizons["fp16"] > 0:
        assert wrong_answers(lrnn, "fp16", horizons["fp16"], tmp_path) == 0


def test_gates_of_zero_and_rows_of_both_signs(tmp_path: Path) -> None:
    checkpoint = fla_checkpoint(reset())
    assert checkpoint.config["use_forget_gate"]
    assert checkpoint.horizons["bf16"] is None
    assert wrong_answers(reset(), "bf16", 400, tmp_path) == 0
    swapped = Transition((gh_factor(1, {0: 1, 1: -1}),))
    signs = by_hand(
        [swapped, Transition()], [((0, 0, 5), (1, 0, -3)), ((0, 0, -3), (1, 0, 5))], [[1, 0], [0, 1]], 2
    )
    assert wrong_answers(signs, "bf16", 400, tmp_path) == 0
    config, tensors = load_fla(tmp_path / "fla")
    model = FlaModel(config, tensors, dtype="bf16", bos=2)
    (H,) = model.heads_of(model.initial(1))
    assert 3 * H[0, 0, 0, 0] == -5 * H[0, 0, 2, 0] > 0  # exactly; each coordinate is stored twice


def test_silu_pair_is_of_one_size_in_every_format() -> None:
    x, z = silu_pair()
    for dtype in (torch.bfloat16, torch.float16):
        plus, minus = (F.silu(torch.tensor(y, dtype=torch.float32).to(dtype)) for y in (x, z))
        assert plus == -minus
    assert float(F.silu(torch.tensor([x, z])).sum()) == pytest.approx(0, abs=1e-7)
    assert silu_preimage(0.25) * torch.sigmoid(torch.tensor(silu_preimage(0.25)).double()) == pytest.approx(
        0.25
    )


def test_keys_are_exact_halves_in_bf16_and_fp16(tmp_path: Path) -> None:
    save_fla(tmp_path / "x", fla_checkpoint(construct("S3", exactness="integer")))
    weight = load_fla(tmp_path / "x")[1]["model.layers.0.attn.k_proj.weight"]
    for dtype in (torch.bfloat16, torch.float16):
        keys = F.silu((torch.from_numpy(weight) * weight.shape[1] ** 0.5).to(dtype)).float().T
        keys = keys.reshape(-1, 16)
        keys = (keys / (keys.square().sum(-1, keepdim=True) + 1e-6).sqrt()).to(dtype).double()
        assert set(keys[:-6].abs().flatten().tolist()) <= {0, 0.5, 1 / 8, 2 / 8, 3 / 8, 6 / 8}
        strengths = load_fla(tmp_path / "x")[1]["model.layers.0.attn.b_proj.weight"] * weight.shape[1] ** 0.5
        beta = 2 * torch.from_numpy(strengths).to(dtype).sigmoid()
        assert set(beta.flatten().tolist()) == {0.0, 1.0, 2.0}
        lengths = keys.square().sum(-1)
        assert set(lengths.tolist()) == {0.0, 1.0}


@pytest.mark.parametrize("n", range(60))
def test_four_squares(n: int) -> None:
    assert sum(i * i for i in four_squares(n)) == n
    column = complete_squares(np.array([1.0, 2.0, n]), 4, "x")
    exponent = math.log2(float(column @ column)) / 2
    assert exponent == round(exponent)


def test_a_factor_writes_what_the_later_ones_move(tmp_path: Path) -> None:
    shift = Transition((gh_factor(1, {0: 1}), gh_factor(1, {0: 1, 1: -1})), additive=((1, 0, 1),))
    codes: list[Sparse] = [((0, 0, 1),), ((1, 0, 1),), ((0, 0, 1), (1, 0, 1))]
    lrnn = by_hand([shift, Transition()], codes, [[1, 2, 2], [0, 1, 2]], 2)
    assert wrong_answers(lrnn, "bf16", 50, tmp_path) == 0


def shifted_swaps(shift: tuple[Fraction, ...], first: tuple[Fraction, ...]) -> LRNN:
    """S_3 by the swaps of three entries, all moved by `shift`, so that letters add what cancels only if it is exact."""
    pairs, codes = ((0, 1), (1, 2), (0, 2)), [first]

    def swapped(pair: tuple[int, int], code: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
        order = {pair[0]: pair[1], pair[1]: pair[0]}
        return tuple(code[order.get(i, i)] for i in range(3))

    for code in codes:
        codes += [c for c in dict.fromkeys(swapped(p, code) for p in pairs) if c not in codes]
    letters = [
        Transition(
            (gh_factor(1, {pair[0]: 1, pair[1]: -1}),),
            additive=tuple((i, 0, x - y) for i, (x, y) in enumerate(zip(shift, swapped(pair, shift), strict=True)) if x != y),
        )
        for pair in pairs
    ]  # fmt: skip
    moved: list[Sparse] = [
        tuple((i, 0, x + shift[i]) for i, x in enumerate(c) if x + shift[i]) for c in codes
    ]
    return by_hand(letters, moved, [[codes.index(swapped(pair, c)) for c in codes] for pair in pairs], 3)


@pytest.mark.parametrize(
    ("shift", "first", "exact"),
    [
        ("0 1 4", "1 2 5", ("bf16", "fp16")),
        ("0 257/128 129/32", "1 -1/128 63/32", ("fp16",)),  # in bf16 what letters add does not cancel
        ("0 1/4 128", "1 7/4 -127", ()),  # codes so far out that the logits are rounded into each other
    ],
)
def test_no_horizon_only_where_a_proof_finds_none(
    shift: str, first: str, exact: tuple[str, ...], tmp_path: Path
) -> None:
    lrnn = shifted_swaps(*(tuple(map(Fraction, text.split())) for text in (shift, first)))
    checkpoint = fla_checkpoint(lrnn)
    save_fla(tmp_path / "x", checkpoint)
    for dtype in ("bf16", "fp16"):
        proof = prove_fla(str(tmp_path / "x"), lrnn.automaton, f"fla:naive:{dtype}", max_states=500)
        assert (proof.verdict == "equivalent") == (checkpoint.horizons[dtype] is None) == (dtype in exact)


def test_others_are_refused() -> None:
    free = by_hand([Transition(additive=((0, 0, 1),)), Transition()], [(), ((0, 0, 1),)], [[1, 1], [0, 1]])
    for lrnn, text in (
        (construct("T3"), "2 layers: only one"),
        (shifted_sign(), "has the gate -1"),
        (halves(), "no matrix of whole numbers"),
        (free, "none of its own factors can write"),
    ):
        assert isinstance(lrnn, LRNN)
        with pytest.raises(InputError, match=text):
            fla_checkpoint(lrnn)


def test_a_head_comes_back_as_matrices(tmp_path: Path) -> None:
    lrnn = construct("S3", exactness="integer")
    save_fla(tmp_path / "x", fla_checkpoint(lrnn))
    (head,) = import_heads(tmp_path / "x")
    head.write(tmp_path / "x.npz")
    model = load_npz_model(tmp_path / "x.npz")
    assert head.head.spread == 0
    assert head.head.copies == (0, 1, 2)
    assert model.letters == tuple(label_text(x) for x in lrnn.automaton.letters)
    names = [label_text(q) for q in lrnn.automaton.states]
    word = np.random.default_rng(2).integers(len(names), size=200)
    H, state = model.H0, lrnn.automaton.start
    for x in word:
        H, state = model.A[x] @ H + model.B[x], lrnn.automaton.transitions[x, state]
        code = int(((model.codes - H) ** 2).sum((1, 2)).argmin())
        assert model.outputs is not None
        assert model.outputs[model.decode[code, x]] == names[state]


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = caller(capsys)
    certificate, folder, matrices = (str(tmp_path / n) for n in ("c.json", "fla", "x.npz"))
    run("construct", "parity", "-o", certificate)
    assert run("export", "fla", certificate, "-o", folder, "--json").json["model_type"] == "delta_net"
    assert run("import", "fla", folder, "-o", matrices, "--json").json["letters"] == ["0", "1"]
    assert run("prove", matrices, "parity", "--json").json["verdict"] == "equivalent"
    assert "counted from 0" in run("import", "fla", folder, "-o", matrices, "--head", "9").error
    run("import", "fla", folder, "-o", str(tmp_path / "heads"))
    assert [x.name for x in (tmp_path / "heads").iterdir()] == ["layer0-head0.npz"]
