"""Memory of a training, estimated before it: never more than is used, and refused where it is not there."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch.nn import functional as F

from mirrormata.foundation._errors import LimitError
from mirrormata.models._config import ModelConfig
from mirrormata.models._families import load_families
from mirrormata.models._model import Model
from mirrormata.models.training import _memory as memory
from mirrormata.models.training._memory import activations, check_batch
from mirrormata.models.training._processes import Processes
from mirrormata.models.training._train import train
from mirrormata.tests.models.training_cases import experiment

TOKENS = 8


def kept(model: Model, words: int) -> int:
    """Bytes that torch keeps of a step for the gradients, each storage once."""
    own = {p.untyped_storage().data_ptr() for p in model.parameters()}
    found: dict[int, torch.Tensor] = {}

    def seen(x: torch.Tensor) -> torch.Tensor:
        if x.untyped_storage().data_ptr() not in own:
            found[x.untyped_storage().data_ptr()] = x
        return x

    letters = torch.zeros(len(model.seeds), words, TOKENS, dtype=torch.int64)
    with torch.autograd.graph.saved_tensors_hooks(seen, lambda x: x):
        logits, _ = model(letters)
        F.cross_entropy(logits.flatten(0, 2), letters.flatten())
    return sum(x.untyped_storage().nbytes() for x in found.values())


@pytest.mark.parametrize("family", load_families())
@pytest.mark.parametrize(
    "shape",
    [
        {"classes": 4, "width": 24, "layers": 2, "heads": 2, "head_dim": 12, "householders": 3},
        {"classes": 4, "width": 32, "heads": 4, "value_dim": 4, "mlp": 0.0, "norm": False, "residual": False},
        {"classes": 900, "width": 16, "heads": 1, "head_dim": 4, "value_dim": 2, "mlp": 1.0},
    ],
)
def test_the_estimate_is_below_what_torch_keeps_and_not_far(family: str, shape: dict[str, object]) -> None:
    if family in ("slstm", "mlstm"):
        pytest.importorskip("xlstm")
    if family != "deltaproduct":
        shape = {**shape, "householders": 1}
    config = ModelConfig(family=family, letters=3, **shape)  # type: ignore[arg-type]
    model = Model(config, (0, 1))
    a_word = (kept(model, 12) - kept(model, 2)) / 10
    estimate = 4 * activations(config) * len(model.seeds) * TOKENS
    most = {"slstm": 40, "mlstm": 20}.get(family, 6)  # these write out more than is counted
    assert estimate <= a_word <= most * estimate


def test_kernels_keep_every_eighth_state_of_a_channel() -> None:
    config = ModelConfig(
        family="mamba_like", letters=3, classes=4, width=32, layers=2, heads=4, head_dim=8, value_dim=16
    )
    assert activations(config) - activations(config, kernels=True) == 2 * (4 * 8 * 16) * 7 // 8
    assert activations(ModelConfig(), kernels=True) == activations(ModelConfig())


def test_the_limit_is_the_memory_of_all_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    one = experiment()
    config, processes = one.config(one.build_task()), Processes("cpu", "fp32")
    needed = 4 * activations(config) * 2 * 6 * 9  # seeds, words, letters
    monkeypatch.setattr(memory, "memory_of", lambda _: needed)
    check_batch(config, one.train, 9, processes)
    with pytest.raises(LimitError):
        check_batch(config, one.train, 10, processes)
    check_batch(config, experiment(train__precision="bf16").train, 18, processes)
    processes.count = 2
    check_batch(config, one.train, 18, processes)


@pytest.mark.parametrize("change", [{"train__batch": 10**9}, {"train__lengths": [4, 10**10]}])
def test_batches_larger_than_memory_are_refused_before_anything_is_written(
    change: dict[str, object], tmp_path: Path
) -> None:
    with pytest.raises(
        LimitError, match=r"train.batch is .* GB; lower train.batch, train.lengths"
    ) as refusal:
        train(experiment(**change), tmp_path / "x")
    assert "\n" not in str(refusal.value)
    assert not (tmp_path / "x").exists()
