"""Heads planted into a model of text: the host stays, the heads follow the automaton, and what is no host or no such head is refused."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mirrormata import construct, prove
from mirrormata.benchmarks.planted_heads import prove_heads, run
from mirrormata.foundation._errors import InputError, LimitError
from mirrormata.models import AskedInText, Model, ModelConfig, TaskSettings, plant_heads, read_planted_head
from mirrormata.models.planting import _head_plans
from mirrormata.models.planting._planted import Planted
from mirrormata.models.tasks._sampling import IGNORED
from mirrormata.models.training._experiment import experiment_from_dict
from mirrormata.models.training._train import train
from mirrormata.tests.models.test_tokens import wheel
from mirrormata.theory import load_npz_model

TOKENS = 20


def host(**entries: Any) -> Model:
    settings: dict[str, Any] = {
        "letters": TOKENS, "classes": TOKENS - 1, "width": 24, "layers": 2, "heads": 2, "head_dim": 16, "value_dim": 12, "householders": 4,
        "key_activation": "none", **entries,
    }  # fmt: skip
    return Model(ModelConfig(**settings), (3,))


def draw_words(planted: Planted, words: int, length: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Words of letters, questions and tokens of the host in between, and the state at every question, -1 elsewhere."""
    draw, automaton = np.random.default_rng(5), planted.automaton
    tokens, labels = np.zeros((words, length), dtype=np.int64), np.full((words, length), -1)
    for w in range(words):
        state = automaton.start
        for t in range(length):
            kind = draw.random()
            if kind < 0.3:
                tokens[w, t] = draw.integers(0, TOKENS)
            elif kind < 0.5:
                tokens[w, t], labels[w, t] = planted.ask, planted.answers[state]
            else:
                letter = draw.integers(0, len(automaton.letters))
                tokens[w, t], state = planted.letters[letter], automaton.transitions[letter, state]
    return torch.from_numpy(tokens)[None], torch.from_numpy(labels)


@pytest.mark.parametrize(
    ("spec", "entries"),
    [
        ("S3", {}),
        ("S3", {"output_norm": False, "mlp": 0.0, "layers": 1}),
        ("S5", {"conv": 4, "gated": True, "output_gate": True}),
        ("S3", {"strength": "hard_sigmoid", "gated": True, "initial": "learned"}),
        ("parity", {"householders": 2}),
        ("mod:5", {"additive": False, "initial": "learned"}),
        ("S3_x_Z2", {}),
    ],
)
def test_planted_heads_answer_among_other_tokens(spec: str, entries: dict[str, Any]) -> None:
    before = host(**entries)
    planted = plant_heads(before, construct(spec, exactness="integer"))
    tokens, labels = draw_words(planted, 4, 150)
    with torch.no_grad():
        logits, states = planted.model(tokens)
    asked = labels >= 0
    assert torch.equal(logits[0].argmax(-1)[asked], labels[asked])
    two = logits[0][asked].sort(-1).values[:, -2:]
    assert (two[:, 1] - two[:, 0]).min() > 15
    # the heads' states are whole numbers after 150 tokens, most of which do nothing
    held = states[0]["H"][0][:, list(planted.heads)]
    assert torch.equal(held, held.round())
    assert all(
        prove(read_planted_head(planted.model, planted, i), spec, "per_step:fp32").verdict == "equivalent"
        for i in range(len(planted.heads))
        if not planted.model.config.conv and len(planted.heads) == 1
    )


@pytest.mark.parametrize("entries", [{}, {"conv": 3, "gated": True, "output_gate": True}])
def test_the_host_computes_what_it_did(entries: dict[str, Any]) -> None:
    before = host(**entries).double()
    planted = plant_heads(before, construct("S3", exactness="integer"))
    control = plant_heads(before, construct("S3", exactness="integer"), blank=7)
    grown = planted.model.double()
    grown.embedding.weight.data[:, :TOKENS, before.config.width :] = (
        0  # the constant entry is all that differs
    )
    words = torch.randint(0, TOKENS, (1, 3, 40), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        first, second, third = (m(words)[0] for m in (before, grown, control.model.double()))
    assert (first - second[..., : TOKENS - 1]).abs().max() < 1e-4  # of the norms' ε
    assert (second[..., TOKENS - 1 :] == -16).all()
    assert (first - third[..., : TOKENS - 1]).abs().max() < 0.5
    assert not torch.equal(
        control.model.state_dict()["head.weight"][:, TOKENS - 1 :, :24], torch.zeros(1, 6, 24).double()
    )


def test_a_saved_head_is_a_file_for_prove(tmp_path: Path) -> None:
    planted = plant_heads(host(), construct("S3"))
    read_planted_head(planted.model, planted, 0).save(tmp_path / "head.npz")
    assert prove(str(tmp_path / "head.npz"), "S3", "per_step:fp32").verdict == "equivalent"


def test_a_changed_head_is_refuted() -> None:
    planted = plant_heads(host(), construct("S3", exactness="integer"))
    key = planted.model.state_dict()["blocks.0.mixer.beta.weight"]
    place = key[0].abs().sum(1).argmax()
    key[0, place] *= -1
    assert (
        prove(read_planted_head(planted.model, planted, 0), "S3", "per_step:fp32").verdict == "counterexample"
    )


@pytest.mark.parametrize(
    ("spec", "arguments", "entries", "message"),
    [
        (
            "S3",
            {},
            {"range": (0, 1)},
            r"host: range is \(0, 1\); heads are planted into a model whose range is",
        ),
        ("S3", {}, {"key_activation": "silu"}, "host: key_activation is 'silu'"),
        ("S3", {}, {"residual": False}, "host: residual is False"),
        ("S3", {}, {"strength": "direct"}, "strength is 'direct'"),
        (
            "S5",
            {},
            {"householders": 3},
            "a letter is a product of 4 factors, and the host has householders 3",
        ),
        ("S5", {}, {"head_dim": 9}, "needs head_dim 10 and value_dim 5"),
        ("T3", {}, {}, "a construction in one layer"),
        ("flipflop", {}, {}, "a gate, an additive term or a matrix"),
        ("A5", {"exactness": "any"}, {}, "irrational or masked"),
    ],
)
def test_what_cannot_be_planted(
    spec: str, arguments: dict[str, Any], entries: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        plant_heads(host(**entries), construct(spec, **arguments))


def test_the_matrices_of_words_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_head_plans, "MOST_STATES", 119)
    with pytest.raises(LimitError, match="more than 119 matrices"):
        plant_heads(host(), construct("S5", exactness="integer"))


def test_a_head_behind_a_convolution_has_no_matrix() -> None:
    planted = plant_heads(host(conv=2), construct("S3", exactness="integer"))
    with pytest.raises(InputError, match="with conv 2 a letter's matrix depends on the tokens before it"):
        read_planted_head(planted.model, planted, 0)


def test_words_among_text(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_bytes(bytes(range(32, 127)) * 30)
    task = AskedInText(TaskSettings(spec="asked_in_text:S3", text=str(tmp_path / "text.txt"), share=0.25))
    assert (task.letters, task.classes) == (257 + 6 + 1, 256 + 6)
    batch = task.batches([0, 4], 2, 8, 30)
    assert batch.letters.shape == (2, 8, 30)
    of_words = batch.letters[:, :2]
    assert (of_words >= 257).all()
    assert (batch.letters[:, 2:] < 257).all()
    automaton = task.automaton
    for letters, labels in zip(of_words.reshape(-1, 30), batch.labels[:, :2].reshape(-1, 30), strict=True):
        state = automaton.start
        for x, label in zip(letters, labels, strict=True):
            if x == 263:
                assert label == 256 + state
            else:
                assert label == IGNORED
                state = automaton.transitions[x - 257, state]
    again = task.batches([4], 2, 8, 30)
    assert np.array_equal(again.letters[0], batch.letters[1])
    pieces = list(task.stream(0, 3, 3000))
    whole = np.concatenate([piece.letters for piece in pieces], 1)
    assert whole.shape == (3, 3000)
    state = automaton.start
    asked = np.concatenate([piece.labels for piece in pieces], 1)[0]
    for x, label in zip(whole[0], asked, strict=True):
        state = state if x == 263 else automaton.transitions[x - 257, state]
        assert label == (256 + state if x == 263 else IGNORED)
    with pytest.raises(InputError, match=r"task\.share is 1\.5"):
        AskedInText(TaskSettings(spec="asked_in_text:S3", share=1.5))


def test_the_text_can_be_a_pinned_package(tmp_path: Path) -> None:
    files = {f"some/part{i}.py": b"# %d of a package\n" % i * 30 for i in range(12)}
    path = wheel(tmp_path / "some-1.0-py3-none-any.whl", files)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    task = AskedInText(
        TaskSettings(spec="asked_in_text:S3", text=f"package:{path}", sha256=digest, share=0.0)
    )
    (words,) = task.batches([0], 0, 4, 20).letters
    assert b"of a package" in b"".join(bytes(row[row < 256].astype("uint8").tolist()) for row in words)
    wrong = AskedInText(TaskSettings(spec="asked_in_text:S3", text=f"package:{path}", sha256="0" * 64))
    with pytest.raises(InputError, match="its SHA-256 is"):
        wrong.batches([0], 0, 4, 20)


def test_a_training_begins_with_planted_heads(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_bytes(bytes(range(32, 127)) * 30)
    sizes = {
        "model": {"width": 16, "layers": 1, "heads": 1, "head_dim": 8, "value_dim": 8, "mlp": 1.0},
        "train": {
            "steps": 4, "batch": 4, "lengths": [12, 12], "lr": 1e-3, "keep_every": 2, "seeds": [0, 1], "threads": 1, "warmup": 0.0,
        },
        "device": "cpu", "words": 4, "length": 192,
    }  # fmt: skip
    found = run(
        "parity", tmp_path / "study", tmp_path / "out.json", str(tmp_path / "text.txt"), sizes, processes=1
    )
    assert json.loads((tmp_path / "out.json").read_text()) == found
    assert {name: len(rows) for name, rows in found["arms"].items()} == dict.fromkeys(found["arms"], 4)
    frozen = [row for row in found["arms"]["planted, read-out frozen"] if row["step"] == 2]
    assert all(row["exact"]["192"] == 1 for row in frozen)
    assert any(row["exact"]["192"] < 1 for row in found["arms"]["random"])
    proved = prove_heads(tmp_path / "out.json", 10.0, 2)
    assert json.loads((tmp_path / "out.json").read_text()) == proved
    verdicts = {name: {row["verdict"] for row in rows} for name, rows in proved["arms"].items()}
    assert verdicts["planted"] == verdicts["planted, read-out frozen"] == {"equivalent"}
    assert verdicts["random"] == {"counterexample"}
    path = tmp_path / "out-heads" / found["arms"]["planted"][0]["head"]
    head = load_npz_model(path)
    assert head.letters == ("0", "1")
    head.save(tmp_path / "again.npz")
    with np.load(path) as first, np.load(tmp_path / "again.npz") as again:
        assert {*first} == {*again} >= {"A", "beta", "letter_labels", "output_labels", "format"}
        assert all(np.array_equal(first[key], again[key]) for key in first)
    start = {
        "path": str(tmp_path / "study" / "host" / "seed-0"),
        "plant": str(tmp_path / "study" / "construction.json"),
    }
    wrong = {"task": {"spec": "text"}, "start": start}
    with pytest.raises(InputError, match="the task has 257 and 256"):
        train(experiment_from_dict(wrong, "x"), tmp_path / "y")
    with pytest.raises(InputError, match=r"name its folder by start\.path"):
        experiment_from_dict({**wrong, "start": {"plant": "x.json"}}, "x")
