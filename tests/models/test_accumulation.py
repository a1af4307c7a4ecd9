"""A batch in parts, and blocks that are computed twice: the step of the whole batch, in less memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from mirrormata.foundation._errors import InputError, LimitError
from mirrormata.models._config import ModelConfig
from mirrormata.models._families import load_families
from mirrormata.models._model import Block, Model
from mirrormata.models.training import _memory as memory
from mirrormata.models.training._memory import activations, check_batch
from mirrormata.models.training._processes import Processes
from mirrormata.models.training._run import TrainingRun
from mirrormata.models.training._train import read_result, train
from mirrormata.tests.models.training_cases import experiment

WORDS, TOKENS = 7, 11


def weights_after(steps: int, **changes: Any) -> tuple[dict[str, Tensor], list[tuple[Tensor, ...]]]:
    """Float64 weights after some steps on words with labels missing here and there, and what the steps measured."""
    one = experiment(train__batch=WORDS, **changes)
    task = one.build_task()
    run = TrainingRun(one, task, one.config(task), Processes("cpu", "fp32"))
    run.model.double()
    generator = torch.Generator().manual_seed(3)
    measured = []
    for _ in range(steps):
        letters = torch.randint(task.letters, (2, WORDS, TOKENS), generator=generator)
        labels = torch.randint(task.classes, (2, WORDS, TOKENS), generator=generator)
        # so that parts have different numbers of labels, and one of them none for a seed
        labels[torch.rand(labels.shape, generator=generator) < 0.4] = -100
        labels[0, :2] = -100
        measured.append(run.update(letters, labels))
    return run.model.state_dict(), measured


@pytest.mark.parametrize("parts", [2, 3, WORDS])
@pytest.mark.parametrize("family", ["deltaproduct", "lstm"])
def test_a_batch_in_parts_gives_the_weights_of_the_whole(family: str, parts: int) -> None:
    """Sums in another order: a few units of 2^-53 in a gradient, which Adam's division does not enlarge beyond its lr."""
    changes = {"model__family": family, "train__lr": 1e-2, "train__warmup": 0.0}
    whole, measured = weights_after(3, **changes)
    divided, found = weights_after(3, train__accumulate=parts, **changes)
    assert any(
        not torch.equal(whole[name], divided[name]) for name in whole
    )  # that they are summed in another order
    for name, value in whole.items():
        torch.testing.assert_close(divided[name], value, rtol=0, atol=1e-12)
    for (loss, right, asked, norm), (loss2, right2, asked2, norm2) in zip(measured, found, strict=True):
        assert torch.equal(right, right2)
        assert torch.equal(asked, asked2)
        torch.testing.assert_close(loss2, loss, rtol=1e-13, atol=0)
        torch.testing.assert_close(norm2, norm, rtol=1e-5, atol=0)  # in float32


def stopped_at(step: int, monkeypatch: pytest.MonkeyPatch, folder: Path, **changes: Any) -> None:
    """A training that stops after a step."""
    steps = 0

    def late(self: TrainingRun, *_: object) -> bool:
        nonlocal steps
        steps += 1
        return steps == step

    with monkeypatch.context() as patch:
        patch.setattr(TrainingRun, "_stops", late)
        assert train(experiment(**changes), folder, minutes=60).step == step


def test_the_budget_is_that_of_the_whole_batch_and_a_stop_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = {"train__steps": 4, "train__even_tokens": True, "train__checkpointing": True}
    train(experiment(**small), tmp_path / "whole")
    parts = {**small, "train__accumulate": 4}
    train(experiment(**parts), tmp_path / "parts")
    whole, divided = (read_result(tmp_path / name) for name in ("whole", "parts"))
    assert whole is not None
    assert divided is not None
    assert divided["training"]["budget"] == whole["training"]["budget"]
    stopped_at(3, monkeypatch, tmp_path / "stopped", **parts)
    train(experiment(**parts), tmp_path / "stopped")
    assert read_result(tmp_path / "stopped") == divided
    one, two = (load_file(tmp_path / name / "checkpoint.safetensors") for name in ("parts", "stopped"))
    assert all(torch.equal(one[name], two[name]) for name in one | two)


@pytest.mark.parametrize(("batch", "parts"), [(6, 7), (1, 2)])
def test_more_parts_than_words_are_refused(batch: int, parts: int, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"train.accumulate is {parts}: .* raise train.batch"):
        train(experiment(train__batch=batch, train__accumulate=parts), tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_every_process_must_have_a_word_for_each_part() -> None:
    one, processes = experiment(train__accumulate=3), Processes("cpu", "fp32")
    config = one.config(one.build_task())
    processes.count = 2
    check_batch(config, one.train, 9, processes)
    processes.count = 3
    with pytest.raises(InputError, match="a batch of 6 words has fewer words than the 9 parts"):
        check_batch(config, one.train, 9, processes)


def test_memory_is_that_of_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, parts = experiment(), experiment(train__accumulate=4)  # six words: two of them at once
    config, processes = whole.config(whole.build_task()), Processes("cpu", "fp32")
    monkeypatch.setattr(memory, "memory_of", lambda _: 4 * activations(config) * 2 * 2 * 9)
    check_batch(config, parts.train, 9, processes)
    with pytest.raises(LimitError, match=r"raise train\.accumulate, or set train.checkpointing"):
        check_batch(config, whole.train, 9, processes)
    with pytest.raises(LimitError, match=r"train\.batch is 6, 2 at once"):
        check_batch(config, parts.train, 10, processes)


def gradients(model: Model, checkpointing: bool) -> tuple[list[Tensor | None], int]:
    """Of a loss of the logits, and the bytes that torch keeps for them, each storage once."""
    for block in model.blocks:
        assert isinstance(block, Block)
        block.checkpointing = checkpointing
    model.zero_grad()
    own = {p.untyped_storage().data_ptr() for p in model.parameters()}
    kept: dict[int, int] = {}

    def seen(x: Tensor) -> Tensor:
        if x.untyped_storage().data_ptr() not in own:
            kept[x.untyped_storage().data_ptr()] = x.untyped_storage().nbytes()
        return x

    letters = torch.arange(2 * 5 * 9).view(2, 5, 9) % 3
    held = []  # so that no storage takes the place of another that was freed

    def pack(x: Tensor) -> Tensor:
        held.append(x)
        return seen(x)

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
        logits, _ = model(letters)
        loss = logits.square().mean()
    loss.backward()
    return [None if p.grad is None else p.grad.clone() for p in model.parameters()], sum(kept.values())


@pytest.mark.parametrize("family", load_families())
def test_blocks_that_are_computed_twice_give_the_same_gradients_in_less_memory(family: str) -> None:
    if family in ("slstm", "mlstm"):
        pytest.importorskip("xlstm")
    config = ModelConfig(
        family=family, letters=3, classes=4, width=24, layers=4, heads=2, head_dim=12, value_dim=4, **load_families()[family].example
    )  # fmt: skip
    model = Model(config, (0, 1))
    plain, kept = gradients(model, False)
    again, less = gradients(model, True)
    for one, two in zip(plain, again, strict=True):
        assert (one is None) == (two is None)
        assert one is None or two is None or torch.equal(one, two)
    # four blocks' inputs, the embedding's letters, the norm and the read-out: no block's own
    assert less < kept / 2
    a_word = less / (2 * 5 * 9)
    one_block = activations(config, checkpointing=True) - 4 * config.width - config.classes
    assert activations(config, checkpointing=True) < activations(config)
    assert 4 * (activations(config, checkpointing=True) - one_block) <= a_word


def test_a_training_is_the_same_if_blocks_are_computed_twice(tmp_path: Path) -> None:
    for name, checkpointing in (("once", False), ("twice", True)):
        train(
            experiment(train__steps=3, train__checkpointing=checkpointing, model__layers=2), tmp_path / name
        )
    once, twice = (load_file(tmp_path / name / "checkpoint.safetensors") for name in ("once", "twice"))
    assert all(torch.equal(once[name], twice[name]) for name in once | twice)


def test_a_folder_of_a_version_with_fewer_entries_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its settings and its task lack entries that were added since; each has its default."""
    stopped_at(2, monkeypatch, tmp_path / "run", train__steps=3)
    for name, sections in (("settings.json", ("task", "train")), ("task.json", ("settings",))):
        data = json.loads((tmp_path / "run" / name).read_text())
        for section in sections:
            for entry in ("text", "share", "vocabulary", "sha256", "accumulate", "ema", "checkpointing"):
                data[section].pop(entry, None)
        (tmp_path / "run" / name).write_text(json.dumps(data))
    assert train(experiment(train__steps=3), tmp_path / "run").result is not None
