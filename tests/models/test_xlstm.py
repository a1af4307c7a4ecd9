"""The sLSTM of all seeds at once against the package's own layer, seed by seed: outputs, states and gradients."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

pytest.importorskip("xlstm")

from mirrormata.models._config import ModelConfig
from mirrormata.models._model import Model
from mirrormata.models.layers.xlstm import SLSTM

SEEDS, WORDS, TOKENS, WIDTH = 3, 4, 9, 12


def mixer(conv: int) -> SLSTM:
    """Of three seeds, with parameters that no gate is at rest with."""
    config = ModelConfig(family="slstm", letters=2, classes=2, width=WIDTH, heads=3, conv=conv)
    [found] = [m for m in Model(config, tuple(range(SEEDS))).modules() if isinstance(m, SLSTM)]
    torch.manual_seed(0)
    for parameter in found.parameters():
        parameter.data.normal_(0, 0.7)
    return found


def gradients(outputs: Tensor, weights: Tensor, of: Any) -> list[Tensor]:
    return list(torch.autograd.grad((outputs * weights).sum(), of))


@pytest.mark.parametrize("conv", [0, 4])
def test_it_is_the_package_s_layer(conv: int) -> None:
    ours = mixer(conv)
    x = torch.randn(SEEDS, WORDS, TOKENS, WIDTH, requires_grad=True)
    weights = torch.randn_like(x)
    y, after = ours(x)
    found = gradients(y, weights, [x, *ours.parameters()])
    each = len(list(ours.by_seed[0].parameters()))
    for s, layer in enumerate(ours.by_seed):
        z, kept = layer(x[s], return_last_state=True)
        wanted = gradients(z, weights[s], [x, *layer.parameters()])
        torch.testing.assert_close(y[s], z, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(
            after["slstm"][s], kept["slstm_state"].transpose(0, 1), rtol=1e-5, atol=1e-5
        )
        torch.testing.assert_close(found[0][s], wanted[0][s], rtol=1e-4, atol=1e-5)
        for mine, package_s in zip(found[1 + s * each :][:each], wanted[1:], strict=True):
            torch.testing.assert_close(mine, package_s, rtol=1e-4, atol=1e-4)
        if conv:
            assert torch.equal(after["conv"][s], kept["conv_state"])


def test_a_word_goes_on_from_any_cut() -> None:
    # in float64: in float32 sums of other shapes are rounded in other orders, by more or less on another machine
    ours = mixer(4).double()
    x = torch.randn(SEEDS, WORDS, TOKENS, WIDTH, dtype=torch.float64)
    whole, last = ours(x)
    for cut in range(1, TOKENS):
        first, state = ours(x[:, :, :cut])
        second, after = ours(x[:, :, cut:], state)
        torch.testing.assert_close(torch.cat([first, second], 2), whole, rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(after["slstm"], last["slstm"], rtol=1e-12, atol=1e-12)


def test_states_stay_in_float32_under_autocast() -> None:
    ours = mixer(4)
    x = torch.randn(SEEDS, WORDS, TOKENS, WIDTH)
    with torch.autocast("cpu", torch.bfloat16):
        y, after = ours(x)
    assert after["slstm"].dtype == torch.float32
    assert torch.linalg.norm(y.float() - ours(x)[0]) < 0.05 * torch.linalg.norm(y.float())
