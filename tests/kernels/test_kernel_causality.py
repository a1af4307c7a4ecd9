"""An infinity or NaN at a token reaches its own and later outputs only, and no other sequence.

The chunk kernels keep to it from chunk to chunk: within a chunk earlier outputs may become NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from mirrormata.kernels import (
    delta_product,
    diagonal_scan,
    rank_one_scan,
    selective_scan,
    short_convolution,
)
from mirrormata.tests.kernels.devices import BACKENDS, DEVICE, on_triton

BAD = [torch.nan, torch.inf]
T, CUT = 40, 23
"""Tokens, and the one that is not finite."""

Tensors = dict[str, Any]


def normal(*shape: int) -> Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(DEVICE)


def delta_inputs(n_h: int, gated: bool, H: int = 2) -> Tensors:
    k = torch.nn.functional.normalize(normal(1, T * n_h, H, 5), dim=-1)
    x = {"q": normal(1, T, H, 5), "k": k, "v": normal(1, T * n_h, H, 3), "beta": normal(1, T * n_h, H).abs()}
    return x | ({"a": normal(1, T, H).tanh()} if gated else {})


def spoilt(x: Tensor, token: int, bad: float, dim: int = 1) -> Tensor:
    """One number of a token is not finite."""
    x = x.clone()
    x.select(dim, token).view(-1)[0] = bad
    return x


def assert_causal(
    run: Callable[[Tensors], list[Tensor]],
    inputs: Tensors,
    *,
    kept: int = CUT,
    dim: int = 1,
    names: str = "",
    each: int = 1,
) -> None:
    """The first `kept` tokens of all results have the same bits when an input of token CUT is not finite; a later one shows it."""
    clean = run(inputs)
    for name in names.split() or inputs:
        for bad in BAD:
            steps = inputs[name].shape[dim] // clean[0].shape[dim]
            x = spoilt(inputs[name], CUT * steps + steps - 1, bad, dim)
            found = run(inputs | {name: x})
            for y, z in zip(found, clean, strict=True):
                assert torch.equal(y.narrow(dim, 0, kept), z.narrow(dim, 0, kept)), (name, bad)
            assert not torch.isfinite(found[0].narrow(dim, CUT, 1)).all(), (name, bad)


@pytest.mark.parametrize("mode", ["recurrent", "chunk", "scan"])
@pytest.mark.parametrize(("n_h", "gated"), [(1, True), (2, False), (3, True)])
def test_delta_product_in_torch(mode: str, n_h: int, gated: bool) -> None:
    def run(x: Tensors, mode: str = mode) -> list[Tensor]:
        o, final, states = delta_product(
            **x,
            householders=n_h,
            mode=mode,
            backend="torch",
            output_states="all",
            output_final_state=True,
        )
        return [o, torch.cat([states, final[:, None]], 1)]

    inputs = delta_inputs(n_h, gated)
    assert_causal(run, inputs)
    # what is not finite then is what the recurrence says
    for name, x in inputs.items():
        bad = inputs | {name: spoilt(x, x.shape[1] * 3 // 5, torch.nan)}
        for y, z in zip(run(bad), run(bad, "recurrent"), strict=True):
            assert torch.equal(torch.isfinite(y), torch.isfinite(z)), name


def test_states_that_overflow_spoil_no_earlier_output() -> None:
    x = {name: y.float() for name, y in delta_inputs(1, gated=False).items()}
    x["v"][:, CUT] = 3e38
    x["beta"][:, CUT] = 1.9
    x["k"][:, CUT] *= 1e3

    def run(x: Tensors, mode: str) -> Tensor:
        o: Tensor = delta_product(*x.values(), mode=mode, backend="torch")[0]
        return o

    for mode in ("chunk", "scan"):
        o, wanted = run(x, mode), run(x, "recurrent")
        assert not torch.isfinite(o[:, CUT]).all()
        assert torch.isfinite(o[:, :CUT]).all()
        torch.testing.assert_close(o[:, :CUT], wanted[:, :CUT])


def test_gradients_do_not_hide_what_is_not_finite() -> None:
    inputs = delta_inputs(1, gated=True)
    x = {name: y.requires_grad_() for name, y in (inputs | {"v": spoilt(inputs["v"], 3, torch.nan)}).items()}
    o = delta_product(**x, mode="chunk", backend="torch")[0]
    for gradient in torch.autograd.grad(o.sum(), list(x.values())):
        assert gradient.isnan().any()


@on_triton
@pytest.mark.parametrize(("mode", "kept"), [("recurrent", CUT), ("chunk", 16), ("scan", 16)])
def test_delta_product_s_kernels(mode: str, kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from mirrormata.kernels.delta import _triton_scan as scan
    from mirrormata.kernels.delta._problem import form_of

    form_of.cache_clear()
    monkeypatch.setattr(scan, "segment_tokens", lambda _tokens, _heads, chunk: chunk)

    def run(x: Tensors) -> list[Tensor]:
        return [delta_product(**x, mode=mode, backend="triton")[0]]

    # chunks of 16 tokens in float32
    assert_causal(run, {name: x.float() for name, x in delta_inputs(1, gated=True, H=1).items()}, kept=kept)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("mode", ["recurrent", "chunk", "scan"])
def test_packed_sequences_are_not_spoilt_by_each_other(mode: str, backend: str) -> None:
    inputs = {name: x.float() for name, x in delta_inputs(1, gated=True).items()}
    cu = torch.tensor([0, 11, 11, 30, T], device=DEVICE)

    def run(x: Tensors) -> list[Tensor]:
        o, final = delta_product(**x, cu_seqlens=cu, mode=mode, backend=backend, output_final_state=True)
        return [o, final]

    clean, found = run(inputs), run(inputs | {"k": spoilt(inputs["k"], CUT, torch.nan)})
    outside = [*range(11), *range(30, T)]
    assert torch.equal(found[0][:, outside], clean[0][:, outside])
    assert torch.equal(found[1][[0, 1, 3]], clean[1][[0, 1, 3]])
    assert not torch.isfinite(found[1][2]).all()


@pytest.fixture
def _short_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mirrormata.kernels.scans._rank_one.SEGMENT", 4)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "options", [{"mode": "recurrent"}, {"segment": 4}, {"segment": 4, "reverse": True}], ids=str
)
def test_diagonal_scan(options: dict[str, Any], backend: str) -> None:
    inputs = {"a": normal(1, T, 3).tanh(), "b": normal(1, T, 3)}

    def run(x: Tensors) -> list[Tensor]:
        flipped = {name: y.flip(1) for name, y in x.items()} if "reverse" in options else x
        h = diagonal_scan(**flipped, **options, backend=backend)[0]
        return [h.flip(1) if "reverse" in options else h]

    assert_causal(run, inputs)


@pytest.mark.usefixtures("_short_segments")
@pytest.mark.parametrize("backend", BACKENDS)
def test_rank_one_scan(backend: str) -> None:
    inputs = {name: normal(1, T, 1, 3) / 3 for name in "qwuzk"} | {"v": normal(1, T, 1, 4)}

    def run(x: Tensors) -> list[Tensor]:
        o, _ = rank_one_scan(**x, backend=backend)
        assert o is not None
        return [o]

    assert_causal(run, inputs)


@pytest.mark.parametrize("backend", BACKENDS)
def test_selective_scan(backend: str) -> None:
    inputs = {"u": normal(1, 1, T, 3), "step": normal(1, 1, T, 3).abs()}
    inputs |= {"write": normal(1, 1, T, 2), "read": normal(1, 1, T, 2)}
    rate, initial = normal(1, 3, 2).abs(), normal(1, 1, 3, 2)

    def run(x: Tensors) -> list[Tensor]:
        return [selective_scan(**x, rate=rate, initial_state=initial, backend=backend)[0]]

    # a step of +inf decays to zero, and one of NaN does not
    assert_causal(run, inputs, dim=2, names="u write read")


@pytest.mark.parametrize("backend", BACKENDS)
def test_short_convolution(backend: str) -> None:
    x, weight = normal(1, 1, T, 3).float(), normal(1, 3, 4).float()
    assert_causal(lambda y: [short_convolution(**y, weight=weight, backend=backend)], {"x": x}, dim=2)
