"""Training: seeds do not meet, a stop changes nothing, foreign and broken files are refused in one line."""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from mirrormata.foundation._errors import InputError, LimitError, MirrormataWarning
from mirrormata.models._config import ModelConfig
from mirrormata.models._model import Model
from mirrormata.models._model_file import load_model
from mirrormata.models.tasks._sampling import IGNORED
from mirrormata.models.training._batches import training_batches
from mirrormata.models.training._experiment import experiment_from_dict, read_settings
from mirrormata.models.training._files import read_metrics
from mirrormata.models.training._optimizing import (
    adamw,
    clip_by_seed,
    gradient_norms,
    start_small,
    word_length,
)
from mirrormata.models.training._train import read_result, train
from mirrormata.tests.models.training_cases import experiment, settings

SMALL = ModelConfig(letters=3, classes=4, width=16, heads=2, head_dim=8, value_dim=6)


def logged(folder: Path) -> list[dict[str, Any]]:
    return [
        {k: v for k, v in line.items() if k not in {"seconds", "tokens_per_second"}}
        for line in read_metrics(folder / "metrics.jsonl")
    ]


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "checkpoint.safetensors")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("training") / "undisturbed"
    outcome = train(experiment(), folder)
    assert (outcome.step, outcome.steps) == (12, 12)
    return folder


def test_a_training_leaves_what_it_promises(undisturbed: Path) -> None:
    names = {path.name for path in undisturbed.iterdir()}
    files = {"settings.json", "task.json", "metrics.jsonl", "checkpoint.safetensors", "result.json"}
    assert names == files | {"seed-0", "seed-1"}
    lines = logged(undisturbed)
    assert [line["step"] for line in lines] == list(range(1, 13))
    assert all(len(line[key]) == 2 for line in lines for key in ("loss", "accuracy", "gradient_norm"))
    model, task = load_model(undisturbed / "seed-1")
    assert (model.seeds, task["fidelity"]) == ((1,), "reconstruction")
    saved = weights(undisturbed)
    assert torch.equal(model.state_dict()["head.bias"][0], saved["model.head.bias"][1])
    result = read_result(undisturbed)
    assert result is not None
    assert set(result["accuracy"]) == {"8", "5-12"}


@pytest.mark.parametrize("stop", [1, 4, 7, 11])
def test_a_stop_changes_nothing(
    undisturbed: Path, tmp_path: Path, stop: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mirrormata.models.training._run import TrainingRun

    steps = 0

    def late(self: TrainingRun, *_: object) -> bool:
        nonlocal steps
        steps += 1
        return steps == stop

    folder = tmp_path / "stopped"
    with monkeypatch.context() as patch:
        patch.setattr(TrainingRun, "_stops", late)
        outcome = train(experiment(), folder, minutes=60)
    assert (outcome.step, outcome.result) == (stop, None)
    train(experiment(), folder)
    assert logged(folder) == logged(undisturbed)
    assert read_result(folder) == read_result(undisturbed)
    expected, found = weights(undisturbed), weights(folder)
    assert set(expected) == set(found)
    assert all(torch.equal(expected[name], found[name]) for name in expected)


def test_lines_after_the_checkpoint_are_written_again(
    undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mirrormata.models.training._run import TrainingRun

    folder = tmp_path / "crashed"
    with monkeypatch.context() as patch:
        patch.setattr(TrainingRun, "_stops", lambda *_: True)
        train(experiment(), folder, minutes=60)
    with (folder / "metrics.jsonl").open("a") as file:
        file.write('{"step": 2, "loss": [9, 9]}\n{"step": 3, "lo')  # a kill after the checkpoint of step 1
    train(experiment(), folder)
    assert logged(folder) == logged(undisturbed)


def test_what_a_kill_left_half_written_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mirrormata.models.training._run import TrainingRun

    with monkeypatch.context() as patch:
        patch.setattr(TrainingRun, "_stops", lambda *_: True)
        train(experiment(), tmp_path, minutes=60)
    (tmp_path / ".checkpoint.safetensors.12345").write_bytes(b"half of one")
    train(experiment(), tmp_path)
    assert not list(tmp_path.glob(".*"))


def test_batches_are_those_of_their_steps_and_shared_word_by_word() -> None:
    wanted = experiment()
    task = wanted.build_task()
    cpu = torch.device("cpu")
    whole = list(training_batches(task, wanted.train, (4, 9), range(5, 8), cpu))
    assert len(whole) == 3
    for step, (letters, labels, words, labelled) in zip(range(5, 8), whole, strict=True):
        expected = task.batches([0, 1], step, 6, word_length(step, 12, (4, 9), 0.0))
        assert np.array_equal(letters.numpy(), expected.letters)
        assert np.array_equal(labels.numpy(), expected.labels)
        assert (words, labelled.tolist()) == (6, (expected.labels != IGNORED).sum((1, 2)).tolist())
    halves = [list(training_batches(task, wanted.train, (4, 9), range(5, 8), cpu, (i, 2))) for i in range(2)]
    for both, first, second in zip(whole, *halves, strict=True):
        assert torch.equal(both.letters[:, 0::2], first.letters)
        assert torch.equal(both.letters[:, 1::2], second.letters)
        assert (first.words, first.asked.tolist()) == (6, both.asked.tolist())  # of all processes


def test_seeds_do_not_meet(undisturbed: Path, tmp_path: Path) -> None:
    train(experiment(train__seeds=[1]), tmp_path / "alone")
    alone, together = logged(tmp_path / "alone"), logged(undisturbed)
    for one, both in zip(alone, together, strict=True):
        assert one["loss"][0] == pytest.approx(both["loss"][1], rel=1e-5)
        assert one["gradient_norm"][0] == pytest.approx(both["gradient_norm"][1], rel=1e-4)


def test_bf16_is_an_autocast(undisturbed: Path, tmp_path: Path) -> None:
    train(experiment(train__precision="bf16"), tmp_path / "half")
    half, whole = logged(tmp_path / "half"), logged(undisturbed)
    assert half[0]["loss"] != whole[0]["loss"]
    assert half[0]["loss"] == pytest.approx(whole[0]["loss"], rel=0.05)
    assert all(x.dtype == torch.float32 for x in weights(tmp_path / "half").values())


def test_a_diverged_seed_leaves_the_others_alone() -> None:
    torch.set_num_threads(1)
    model = Model(SMALL, [0, 1])
    with torch.no_grad():
        model.get_parameter("head.bias")[0] = float("nan")
    logits, _ = model(torch.tensor([[[0, 1, 2]]]))
    loss = logits.square().flatten(1).mean(1)
    loss.sum().backward()
    norms = gradient_norms(model, 2)
    assert norms[0].isnan()
    clip_by_seed(model, norms, 1e-3)
    assert gradient_norms(model, 2)[1].item() == pytest.approx(1e-3, rel=1e-2)
    assert all(p.grad is None or p.grad[1].isfinite().all() for p in model.parameters())


@pytest.mark.parametrize("family", ["deltaproduct", "lstm"])
def test_each_seed_is_clipped_by_its_own_norm(family: str) -> None:
    config = ModelConfig(family=family, letters=3, classes=4, width=16, heads=2, head_dim=8, value_dim=6)
    model = Model(config, [0, 1])
    logits, _ = model(torch.tensor([[[0, 1, 2]]]))
    (logits[0].square().mean() + 1e-6 * logits[1].square().mean()).backward()
    norms = gradient_norms(model, 2)
    for i in range(2):
        single = model.select(i)
        alone, _ = single(torch.tensor([[[0, 1, 2]]]))
        ((1.0, 1e-6)[i] * alone.square().mean()).backward()
        whole = torch.cat([p.grad.flatten() for p in single.parameters() if p.grad is not None]).norm()
        assert norms[i].item() == pytest.approx(whole.item(), rel=1e-4)
    before = float(norms[1])
    clip_by_seed(model, norms, float(norms[0]) / 2)
    clipped = gradient_norms(model, 2)
    assert clipped[0].item() == pytest.approx(float(norms[0]) / 2, rel=1e-3)
    assert clipped[1].item() == pytest.approx(before, rel=1e-6)


def test_only_linear_maps_decay() -> None:
    model = Model(SMALL)
    decaying, still = adamw(model, 1e-3, (0.9, 0.95), 0.1).param_groups
    assert (decaying["weight_decay"], still["weight_decay"]) == (0.1, 0.0)
    names = {id(p): name for name, p in model.named_parameters()}
    kept = {names[id(p)] for p in still["params"]}
    assert {"embedding.weight", "head.bias", "norm.weight", "blocks.0.mixer_norm.weight"} <= kept
    assert "head.weight" in {names[id(p)] for p in decaying["params"]}
    assert len(decaying["params"]) + len(still["params"]) == len(names)


def test_a_small_start_keeps_every_draw() -> None:
    before, model = Model(SMALL, [0, 5]), Model(SMALL, [0, 5])
    start_small(model, 0.02)
    old, new = dict(before.named_parameters()), dict(model.named_parameters())
    linear = [name for name in new if name.endswith(("linear.weight", "inputs.weight", "head.weight"))]
    assert len(linear) >= 4
    for name in [*linear, "embedding.weight"]:
        assert new[name].std().item() == pytest.approx(0.02, rel=0.1)
        ratio = new[name] / old[name]
        assert torch.allclose(ratio, ratio.flatten()[0].expand_as(ratio))
    assert torch.equal(new["norm.weight"], old["norm.weight"])


def test_a_training_starts_small_if_told(tmp_path: Path) -> None:
    plain = train(experiment(train__steps=1, train__lr=0.0), tmp_path / "plain")
    small = train(
        experiment(train__steps=1, train__lr=0.0, train__initializer_range=0.02), tmp_path / "small"
    )
    assert plain != small
    embedding = [weights(tmp_path / name)["model.embedding.weight"] for name in ("plain", "small")]
    assert torch.allclose(embedding[1], 0.02 * embedding[0])


def test_smoothed_labels_ask_for_a_mixture(tmp_path: Path) -> None:
    """A share e of the loss is the mean over all classes: (1 - e) a + e b, a line in e through both ends."""

    def first_losses(smoothing: float) -> list[float]:
        folder = tmp_path / str(smoothing)
        train(experiment(train__steps=1, train__label_smoothing=smoothing), folder)
        losses: list[float] = logged(folder)[0]["loss"]
        return losses

    plain, uniform = first_losses(0.0), first_losses(1.0)
    assert plain != pytest.approx(uniform, rel=1e-3)
    mixed = [0.9 * a + 0.1 * b for a, b in zip(plain, uniform, strict=True)]
    assert first_losses(0.1) == pytest.approx(mixed, rel=1e-5)
    assert all(loss > math.log(6) for loss in uniform)  # of six classes, least where all are alike


def test_another_training_is_refused(undisturbed: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds another training: train.lr was 0.001 and is 0.01"):
        train(experiment(train__lr=0.01), undisturbed)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="is not empty and holds no training"):
        train(experiment(), tmp_path)


@pytest.mark.parametrize("what", ["cut", "text", "foreign", "other", "missing"])
def test_broken_checkpoints_are_refused_in_one_line(undisturbed: Path, tmp_path: Path, what: str) -> None:
    folder = tmp_path / "broken"
    shutil.copytree(undisturbed, folder)
    (folder / "result.json").unlink()
    path = folder / "checkpoint.safetensors"
    tensors = load_file(path)
    if what == "cut":
        path.write_bytes(path.read_bytes()[:-100])
    elif what == "text":
        path.write_text("not a checkpoint")
    elif what == "foreign":
        save_file(tensors, path, metadata={"format": "pt"})
    else:
        changed = experiment(**({"train__steps": 13} if what == "other" else {})).as_json()
        if what == "missing":
            del tensors["model.head.bias"]
        metadata = {"format": "mirrormata-checkpoint/1", "step": "4", "settings": json.dumps(changed)}
        save_file(tensors, path, metadata=metadata)
    with pytest.raises(InputError) as refusal:
        train(experiment(), folder)
    message = str(refusal.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    expected = {
        "cut": "not a whole safetensors file", "text": "not a whole safetensors file", "foreign": "its format is 'pt'",
        "other": "train.steps was 13 and is 12", "missing": "'model.head.bias' is missing",
    }  # fmt: skip
    assert expected[what] in message


@pytest.mark.parametrize("minutes", [-1.0, float("nan")])
def test_a_time_that_is_none_is_refused(minutes: float, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="must not be negative"):
        train(experiment(), tmp_path / "x", minutes=minutes)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("text", ["[]", "{}"])
def test_what_is_no_result_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(text)
    with pytest.raises(InputError, match="not the result of a training: it has no 'seeds'; remove it"):
        read_result(tmp_path)


def test_files_that_are_no_json_are_named_by_their_line(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text('{\n"seeds"')
    with pytest.raises(InputError, match=r"result\.json: line 2 is not JSON \("):
        read_result(tmp_path)
    (tmp_path / "settings.json").write_text("{")
    with pytest.raises(InputError, match=r"settings\.json: line 1 is not JSON \("):
        train(experiment(), tmp_path)


FORMATS = {
    "settings.json": "mirrormata-settings/1", "task.json": "mirrormata-task/2", "metrics.jsonl": "mirrormata-metrics/1",
    "result.json": "mirrormata-result/1", "seed-0/config.json": "mirrormata-model/1", "seed-0/task.json": "mirrormata-task/2",
}  # fmt: skip


def test_every_file_says_its_format(undisturbed: Path) -> None:
    for name, format_ in FORMATS.items():
        text = (undisturbed / name).read_text()
        for document in text.splitlines() if name.endswith(".jsonl") else [text]:
            assert json.loads(document)["format"] == format_, name
    for name, format_ in (
        ("checkpoint.safetensors", "mirrormata-checkpoint/1"),
        ("seed-0/model.safetensors", "mirrormata-model/1"),
    ):
        with safe_open(undisturbed / name, framework="pt") as file:
            assert file.metadata()["format"] == format_


@pytest.mark.parametrize("name", ["settings.json", "metrics.jsonl", "result.json"])
def test_files_of_older_versions_have_no_format_and_those_of_later_ones_are_refused(
    name: str, undisturbed: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "other"
    shutil.copytree(undisturbed, folder)
    readers: dict[str, Callable[[], Any]] = {
        "settings.json": lambda: read_settings(folder / name),
        "metrics.jsonl": lambda: read_metrics(folder / name),
        "result.json": lambda: read_result(folder),
    }
    read = readers[name]
    whole, text = read(), (folder / name).read_text()
    (folder / name).write_text(
        text.replace(f'"format": "{FORMATS[name]}", ', "").replace(f'"format": "{FORMATS[name]}",\n', "")
    )
    assert "format" not in (folder / name).read_text()
    assert read() == whole
    (folder / name).write_text(text.replace(f"{FORMATS[name]}", "mirrormata-other/9"))
    with pytest.raises(
        InputError, match=r"its format is 'mirrormata-other/9', and .* is read here"
    ) as refusal:
        read()
    assert "\n" not in str(refusal.value)


def test_files_of_a_version_without_an_entry_are_gone_on_with(undisturbed: Path, tmp_path: Path) -> None:
    """Neither the settings nor the checkpoint of an older version name what came later: it has its default."""
    folder = tmp_path / "older"
    shutil.copytree(undisturbed, folder)
    (folder / "result.json").unlink()
    settings_file, checkpoint = folder / "settings.json", folder / "checkpoint.safetensors"
    older = json.loads(settings_file.read_text())
    assert older.pop("format") == "mirrormata-settings/1"  # older versions wrote none
    assert older["train"].pop("label_smoothing") == 0.0
    assert older["eval"].pop("seed") == 0
    assert older["eval"].pop("precisions") is None
    settings_file.write_text(json.dumps(older))
    metadata = {"format": "mirrormata-checkpoint/1", "step": "12", "settings": json.dumps(older)}
    save_file(load_file(checkpoint), checkpoint, metadata=metadata)
    train(experiment(), folder)
    found, whole = (json.loads((place / "result.json").read_text()) for place in (folder, undisturbed))
    assert found["training"].pop("budget") is None  # nobody counted before
    assert whole["training"].pop("budget")["words"] == 12 * 6
    assert found == whole
    with pytest.raises(InputError, match=r"train.label_smoothing was 0.0 and is 0.1"):
        train(experiment(train__label_smoothing=0.1), folder)


def _start(folder: Path, file: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "mirrormata", "train", str(file), "-o", str(folder), "--json"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


@pytest.mark.long
def test_killed_in_the_middle_it_ends_the_same(tmp_path: Path) -> None:
    wanted = settings(train__steps=150, train__checkpoint_every=10)
    file = tmp_path / "a.toml"
    lines = []
    for section, entries in wanted.items():
        lines += [f"[{section}]", *(f"{k} = {json.dumps(v)}" for k, v in entries.items())]
    file.write_text("\n".join(lines))
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert _start(whole, file).wait() == 0
    kills = 0
    for _ in range(20):
        process = _start(killed, file)
        metrics, reached = killed / "metrics.jsonl", 0
        before = len(read_metrics(metrics)) if metrics.exists() else 0
        while process.poll() is None and reached < before + 25:
            reached = len(read_metrics(metrics)) if metrics.exists() else 0
            time.sleep(0.005)
        if process.poll() is not None:
            break
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        kills += 1
    assert process.returncode == 0
    assert kills >= 2
    assert logged(killed) == logged(whole)
    assert (killed / "result.json").read_text() == (whole / "result.json").read_text()


@pytest.mark.long
def test_two_processes_train_what_one_does(tmp_path: Path) -> None:
    data = settings()
    train(experiment_from_dict(data, "test"), tmp_path / "one")
    file = tmp_path / "run.py"
    file.write_text(
        "import sys\n"
        "from mirrormata.models.training._train import train\n"
        "from mirrormata.tests.models.training_cases import experiment\n"
        "train(experiment(), sys.argv[1], minutes=float(sys.argv[2]) if sys.argv[2:] else None)\n"
    )
    launch = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", str(file)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    for arguments in (["0"], []):  # stopped after a step, then to the end
        command = [*launch, str(tmp_path / "two"), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        assert done.returncode == 0, done.stderr
    for one, two in zip(logged(tmp_path / "one"), logged(tmp_path / "two"), strict=True):
        assert one["loss"] == pytest.approx(two["loss"], rel=1e-4)
        assert one["accuracy"] == pytest.approx(two["accuracy"])


def test_a_model_larger_than_memory_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(LimitError, match=r"parameters need [\d,]+ GB"):
        train(experiment(model__width=10_000_000), tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_a_loss_that_is_no_number_is_said_once(tmp_path: Path) -> None:
    with pytest.warns(MirrormataWarning, match="the loss is nan") as said:
        train(experiment(train__lr=1e30, train__clip=0.0, train__log_every=1), tmp_path / "x")
    told = [str(w.message).split(":")[1] for w in said if issubclass(w.category, MirrormataWarning)]
    assert len(told) == len(set(told)) > 0
