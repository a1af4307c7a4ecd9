"""Layers with a short memory: which letters they see, chunk by chunk, and what that does to a construction."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from mirrormata.constructions._construct import construct
from mirrormata.foundation._errors import InputError
from mirrormata.models._config import ModelConfig
from mirrormata.models._evaluation_file import (
    ShortMemory,
    evaluate_folder,
    layers_to_shorten,
    with_short_memory,
)
from mirrormata.models._kinds import from_construction
from mirrormata.models._model import Model
from mirrormata.models.layers._seeded import State
from mirrormata.models.training._train import train
from mirrormata.tests.cli.command_line import Outcome
from mirrormata.tests.models.training_cases import experiment


class Sums(nn.Module):
    """All tokens of the word so far, added up."""

    def forward(self, x: Tensor, state: State | None) -> tuple[Tensor, State]:
        assert state is None
        return x.cumsum(2), State()


@pytest.mark.parametrize("letters", [1, 2, 7, 10, 12, 40])
@pytest.mark.parametrize("chunk", [1, 3, 8, 64])
def test_each_token_sees_the_letters_before_it(letters: int, chunk: int) -> None:
    x = 2.0 ** torch.arange(50).view(1, 1, 50, 1).double()  # sums then say which tokens were seen
    layer, state = ShortMemory(Sums(), letters), State()
    parts = []
    for start in range(0, 50, chunk):
        y, state = layer(x[:, :, start : start + chunk], state)
        parts.append(y)
    seen = torch.cat(parts, 2).flatten().tolist()
    assert len(seen) == 50
    for t, total in enumerate(seen):
        tokens = [i for i in range(50) if int(total) >> i & 1]
        assert tokens == list(range(tokens[0], t + 1))  # the last ones, and no later one
        assert len(tokens) <= letters
        assert tokens[0] == 0 or len(tokens) > letters - 2 * max(1, letters // 5)


def test_a_construction_forgets_what_its_layer_forgets() -> None:
    built = from_construction(construct("parity"))
    letters = np.random.default_rng(3).integers(0, 2, (4, 60))
    short = with_short_memory(built, [0], 10)
    found = built.answers(built(torch.from_numpy(letters)[None])[0])[0].numpy()
    assert (found == letters.cumsum(1) % 2).all()
    found = short.answers(short(torch.from_numpy(letters)[None])[0])[0].numpy()
    for t in range(60):
        first = max(t - t % 2 - 8, 0)  # it begins anew every other letter, and has read 9 or 10 then
        assert (found[:, t] == letters[:, first : t + 1].sum(1) % 2).all()


@pytest.mark.parametrize("family", ["rwkv7", "fla_rwkv7"])
@pytest.mark.parametrize("layers", [[0], [1], [2], [0, 1], [0, 1, 2]])
def test_later_layers_read_the_values_of_the_first_whatever_memory_they_have(
    family: str, layers: list[int]
) -> None:
    config = ModelConfig(
        family=family, letters=5, classes=4, layers=3, width=16, heads=2, head_dim=8, value_dim=8
    )
    model = Model(config, (3,)).double()
    letters = torch.from_numpy(np.random.default_rng(5).integers(0, 5, (1, 2, 24)))
    with torch.no_grad():
        wanted = model(letters)[0]
        short = with_short_memory(model, layers, 40)  # more than there are
        states, parts = None, []
        for start in range(0, 24, 7):
            logits, states = short(letters[:, :, start : start + 7], states)
            parts.append(logits)
        assert torch.allclose(torch.cat(parts, 2), wanted, rtol=0, atol=1e-12)
        # with less memory than there are letters, the first letter is forgotten, and nothing else
        forgetful = with_short_memory(model, [0, 1, 2], 5)
        changed = letters.clone()
        changed[..., 0] = (changed[..., 0] + 1) % 5
        before, after = forgetful(letters)[0], forgetful(changed)[0]
        assert not torch.equal(before[:, :, 2], after[:, :, 2])
        assert torch.equal(before[:, :, 20:], after[:, :, 20:])


def test_single_layers_and_the_lowest_ones() -> None:
    assert layers_to_shorten(1) == [(0,)]
    assert layers_to_shorten(2) == [(0,), (1,)]
    assert layers_to_shorten(3) == [(0,), (1,), (2,), (0, 1)]
    with pytest.raises(InputError, match="at least 1"):
        with_short_memory(from_construction(construct("parity")), [0], 0)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("memory") / "run"
    settings: dict[str, Any] = {"model__layers": 2, "model__conv": 3, "train__steps": 4}
    train(experiment(**settings), folder)
    return folder


def test_a_memory_as_long_as_the_words_changes_nothing(trained: Path) -> None:
    facts = evaluate_folder(str(trained), lengths=[12], words=16, chunk=5, memory=100, device="cpu").as_json()
    runs = facts["memory"]["shortened"]
    assert [run["layers"] for run in runs] == [[1], [2]]
    for run in runs:
        assert run["accuracy"] == facts["accuracy"]
        assert run["curve"] == facts["curve"]
    short = evaluate_folder(str(trained), lengths=[12], words=16, memory=1, device="cpu").as_json()
    assert short["accuracy"] == facts["accuracy"]
    assert any(run["curve"] != short["curve"] for run in short["memory"]["shortened"])


def test_on_the_command_line(trained: Path, call: Callable[..., Outcome]) -> None:
    done = call("eval", str(trained), "--memory", "4", "--words", "4", "--device", "cpu")
    assert done.status == 0
    table = done.out.split("where short layers remember the last 4 letters at most")[1]
    assert table.count("none") == 2  # of two seeds
    error = call("eval", str(trained), "--memory", "0")
    assert error.status == 2
    assert "--memory 0: give the letters that layers may remember" in error.error
