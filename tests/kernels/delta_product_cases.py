"""Random DeltaProduct problems, the integer oracle, and how results are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mirrormata.kernels import delta_product
from mirrormata.tests.kernels.devices import DEVICE


@dataclass(frozen=True)
class Inputs:
    """Arguments of one call."""

    q: Tensor
    k: Tensor
    v: Tensor
    beta: Tensor
    a: Tensor | None
    initial: Tensor
    householders: int
    cu: Tensor | None = None

    def tensors(self) -> list[Tensor]:
        """Everything with a gradient."""
        every = (self.q, self.k, self.v, self.beta, self.initial, self.a)
        return [x for x in every if x is not None]

    def to(self, dtype: torch.dtype) -> Inputs:
        """Fresh leaves in another dtype."""
        names = ("q", "k", "v", "beta", "a", "initial")
        fresh: dict[str, Any] = {
            n: None
            if getattr(self, n) is None
            else getattr(self, n).detach().to(dtype, copy=True).requires_grad_()
            for n in names
        }
        return replace(self, **fresh)

    def run(self, **options: Any) -> tuple[Tensor, ...]:
        """The operator's outputs and final state (and states)."""
        return delta_product(
            self.q,
            self.k,
            self.v,
            self.beta,
            a=self.a,
            householders=self.householders,
            initial_state=self.initial,
            output_final_state=True,
            cu_seqlens=self.cu,
            **options,
        )


def problem(
    n_h: int,
    T: int,
    *,
    gated: bool = False,
    bounds: list[int] | None = None,
    K: int = 16,
    V: int = 16,
    B: int = 2,
    H: int = 2,
    beta: float | None = None,
    repeat: bool = False,
    seed: int = 0,
) -> Inputs:
    """Unit keys (some zero), beta in [0, 2] or fixed, gates in [-1, 1] with zeros and ones; `repeat`: one key throughout."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    B = 1 if bounds else B
    N = len(bounds) - 1 if bounds else B
    k = torch.nn.functional.normalize(normal(B, T * n_h, H, K), dim=-1)
    if repeat:
        k = k[:, :1].expand_as(k).contiguous()
    k[:, 5::7] = 0
    strength = torch.rand(B, T * n_h, H, generator=generator, dtype=torch.float64) * 2
    if beta is not None:
        strength = torch.full_like(strength, beta)
    a = None
    if gated:
        a = torch.rand(B, T, H, generator=generator, dtype=torch.float64) * 2 - 1
        a[:, 3::5] = 0
        a[:, 1::4] = -1
        a[:, 2::6] = 1
    q, v, initial = normal(B, T, H, K), normal(B, T * n_h, H, V), normal(N, H, K, V)
    cu = None if bounds is None else torch.tensor(bounds, device=DEVICE)
    gate = None if a is None else a.to(DEVICE)
    q, k, v, strength, initial = (x.to(DEVICE) for x in (q, k, v, strength, initial))
    return Inputs(q, k, v, strength, gate, initial, n_h, cu)


def relative(x: Tensor, y: Tensor) -> float:
    """‖x - y‖ / ‖y‖; NaN is infinite, so that poisoned buffers show."""
    difference = (x.double() - y.double()).norm() / y.double().norm().clamp_min(1e-30)
    return float(torch.nan_to_num(difference.detach(), nan=torch.inf))


def results(inputs: Inputs, **options: Any) -> list[Tensor]:
    """Outputs, final state, and the gradients of a fixed random function of both."""
    outputs = inputs.run(**options)[:2]
    weights = [
        torch.randn(y.shape, generator=torch.Generator().manual_seed(9), dtype=torch.float64).to(y)
        for y in outputs
    ]
    return [*outputs, *torch.autograd.grad(outputs, inputs.tensors(), weights)]


def largest_error(inputs: Inputs, dtype: torch.dtype, **options: Any) -> float:
    """Largest relative error of outputs and gradients against the float64 recurrence on the same (rounded) inputs."""
    wanted = results(inputs.to(dtype).to(torch.float64), backend="reference")
    return max(relative(x, y) for x, y in zip(results(inputs.to(dtype), **options), wanted, strict=True))


def swaps(T: int, n_h: int, seed: int, points: int = 5) -> tuple[Inputs, np.ndarray]:
    """Random products of swaps with keys e_i - e_j and beta 1 (some beta 0), and the true permutation matrices `[T,n,n]`."""
    random = np.random.default_rng(seed)
    k = np.zeros((1, T * n_h, 1, points))
    beta = np.zeros((1, T * n_h, 1))
    state, states = np.eye(points, dtype=np.int64), []
    for t in range(T):
        for j in range(n_h):
            i, l = random.choice(points, 2, replace=False)  # noqa: E741
            k[0, t * n_h + j, 0, [i, l]] = 1, -1
            if random.random() < 0.8:
                beta[0, t * n_h + j] = 1
                state[[i, l]] = state[[l, i]]
        states.append(state.copy())
    q = torch.zeros(1, T, 1, points, dtype=torch.float64, device=DEVICE)
    v = torch.zeros(1, T * n_h, 1, points, dtype=torch.float64, device=DEVICE)
    initial = torch.eye(points, dtype=torch.float64, device=DEVICE)[None, None]
    keys, betas = (torch.tensor(x, device=DEVICE) for x in (k, beta))
    return Inputs(q, keys, v, betas, None, initial, n_h), np.array(states)


def assert_gradients_without_tokens(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], state: Tensor
) -> None:
    """Of no tokens: zeros of all inputs, and the last output's of the initial state; `outputs` ends with the last states."""
    assert all(x.requires_grad for x in outputs)
    weights = [torch.randn_like(x) for x in outputs]
    *others, last = torch.autograd.grad(outputs, [*inputs, state], weights, retain_graph=True)
    assert [x.shape for x in others] == [x.shape for x in inputs]
    assert torch.equal(last, weights[-1].to(last.dtype))
    for output in outputs:  # without the initial state too
        assert torch.autograd.grad(output.sum(), list(inputs), retain_graph=True)[0].numel() == 0
