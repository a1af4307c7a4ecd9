"""Every argument of every operator: what is no tensor, number, name or flag that fits is refused in one line that names it."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

from mirrormata.kernels import (
    BackendUnavailableError,
    KernelInputError,
    delta_product,
    diagonal_scan,
    l2_normalise,
    rank_one_scan,
    rms_normalise,
    selective_scan,
    short_convolution,
)
from mirrormata.tests.kernels.devices import BACKENDS, DEVICE, RUNNING, on_triton


def ones(*shape: int) -> torch.Tensor:
    return torch.ones(shape, device=DEVICE)


X = ones(1, 4, 2, 3)
OPERATORS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "delta_product": (delta_product, {"q": X, "k": X, "v": X, "beta": X[..., 0]}),
    "diagonal_scan": (diagonal_scan, {"a": X[0], "b": X[0]}),
    "rank_one_scan": (rank_one_scan, {"q": X, "w": X, "u": X, "z": X, "k": X, "v": X}),
    "selective_scan": (
        selective_scan,
        {"u": X, "step": X, "rate": ones(1, 3, 5), "write": ones(1, 4, 2, 5)}
        | {"read": ones(1, 4, 2, 5), "initial_state": ones(1, 4, 3, 5)},
    ),
    "short_convolution": (short_convolution, {"x": X, "weight": ones(1, 3, 4)}),
    "l2_normalise": (l2_normalise, {"x": X}),
    "rms_normalise": (rms_normalise, {"x": X, "weight": ones(1, 2, 3)}),
}
TENSORS = [(name, argument) for name, (_, given) in OPERATORS.items() for argument in given]
NEEDED = [(name, argument) for name, argument in TENSORS if name != "rank_one_scan" or argument not in "qkv"]
"""Tensors that may not be None."""
OPTIONAL = [
    *[("delta_product", x) for x in ("g", "a", "initial_state", "cu_seqlens")],
    *[("diagonal_scan", x) for x in ("initial_state", "cu_seqlens")],
    *[("rank_one_scan", x) for x in ("initial_state", "cu_seqlens")],
    ("short_convolution", "before"),
]
NO_COUNTS = (2.0, 1.0, True, "2", 0, -1, torch.tensor(2))
FLAGS = [
    *[("delta_product", x) for x in ("output_final_state", "l2norm")],
    *[("diagonal_scan", x) for x in ("output_final_state", "reverse")],
    ("rank_one_scan", "output_final_state"),
    ("selective_scan", "signed"),
    ("l2_normalise", "silu"),
]
CHOICES = ["auto", *RUNNING]


def refusal(name: str, **change: Any) -> str:
    """The line that refuses the operator's usual arguments so changed, on any backend."""
    operator, given = OPERATORS[name]
    lines = set()
    for backend in CHOICES:
        operator(**given, backend=backend)  # what was accepted once is accepted again, and no more than that
        with pytest.raises(KernelInputError) as caught:
            operator(**({**given, "backend": backend} | change))
        lines.add(str(caught.value))
    (line,) = lines
    assert "\n" not in line
    assert len(line) < 200
    return line


@pytest.mark.parametrize(("name", "argument"), TENSORS + OPTIONAL)
@pytest.mark.parametrize("value", [[[0.5]], 0.5, "x", np.ones(3)], ids=["list", "float", "str", "numpy"])
def test_what_is_no_tensor(name: str, argument: str, value: Any) -> None:
    line = refusal(name, **{argument: value})
    assert line.startswith(f"{argument} is {type(value).__name__}")
    assert "pass a torch.Tensor" in line


@pytest.mark.parametrize(("name", "argument"), NEEDED)
def test_none(name: str, argument: str) -> None:
    assert refusal(name, **{argument: None}) == f"{argument} is None: pass a torch.Tensor"


@pytest.mark.parametrize(("name", "argument"), TENSORS)
@pytest.mark.parametrize("dtype", [torch.int64, torch.bool, torch.complex64], ids=str)
def test_dtypes(name: str, argument: str, dtype: torch.dtype) -> None:
    given = OPERATORS[name][1][argument]
    line = refusal(name, **{argument: given.to(dtype)})
    assert f"{argument} is {dtype}: cast it to float16, bfloat16, float32 or float64" in line


@pytest.mark.parametrize(("name", "argument"), TENSORS)
def test_devices_and_layouts(name: str, argument: str) -> None:
    given = OPERATORS[name][1][argument]
    assert f"{argument} has layout torch.sparse_coo" in refusal(name, **{argument: given.to_sparse()})
    if argument != next(iter(OPERATORS[name][1])):
        assert f"{argument} is on meta, others on {DEVICE}" in refusal(name, **{argument: given.to("meta")})


@pytest.mark.parametrize(("name", "argument"), FLAGS)
@pytest.mark.parametrize("value", ["false", 1, None], ids=str)
def test_flags(name: str, argument: str, value: Any) -> None:
    assert refusal(name, **{argument: value}).startswith(f"{argument} is ")


@pytest.mark.parametrize("name", ["delta_product", "rank_one_scan"])
@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("1", "scale is str '1': pass a number (float)"),
        (True, "scale is bool True: pass a number (float)"),
        (torch.tensor(1.0), "scale is Tensor tensor(1.): pass a number (float)"),
        (Decimal(1), "scale is Decimal Decimal('1'): pass a number (float)"),
        (1j, "scale is complex 1j: pass a number (float)"),
        (float("nan"), "scale is nan: it must be finite"),
        (-float("inf"), "scale is -inf: it must be finite"),
        (10**400, "scale is inf: it must be finite"),
        (1e39, "scale is 1e+39: beyond ±3.4e+38 it is infinite in the arithmetic"),
    ],
)
def test_scales(name: str, value: Any, said: str) -> None:
    assert refusal(name, scale=value) == said


@pytest.mark.parametrize("name", ["delta_product", "rank_one_scan"])
def test_scales_that_are_numbers(name: str) -> None:
    operator, given = OPERATORS[name]
    half = operator(**given, scale=0.5)[0]
    for value in (np.float32(0.5), np.float64(0.5), Fraction(1, 2)):
        assert torch.equal(operator(**given, scale=value)[0], half)
    assert torch.equal(operator(**given, scale=1)[0], operator(**given, scale=1.0)[0])
    wide = {key: x.double() for key, x in given.items()}
    for backend in CHOICES:
        assert torch.isfinite(operator(**wide, scale=1e300, backend=backend)[0]).all()


@pytest.mark.parametrize(
    ("name", "argument", "value"),
    [
        *[("delta_product", "householders", x) for x in (None, *NO_COUNTS)],
        *[("diagonal_scan", "segment", x) for x in NO_COUNTS],
    ],
    ids=repr,
)
def test_whole_numbers(name: str, argument: str, value: Any) -> None:
    line = refusal(name, **{argument: value})
    assert line.startswith(f"{argument} is ")
    assert "at least 1" in line


def test_whole_numbers_of_numpy() -> None:
    q, k = ones(1, 2, 1, 3), ones(1, 4, 1, 3)
    two: Any = np.int64(2)
    for backend in CHOICES:
        o = delta_product(q, k, k, k[..., 0], householders=two, backend=backend)[0]
        assert torch.equal(o, delta_product(q, k, k, k[..., 0], householders=2, backend=backend)[0])
        assert diagonal_scan(X[0], X[0], segment=two, backend=backend)[0].shape == X[0].shape


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("value", [None, 3, "cuda", ["torch"]], ids=repr)
def test_backends(name: str, value: Any) -> None:
    operator, given = OPERATORS[name]
    with pytest.raises(
        KernelInputError, match=r'^backend="[^\n]*": use one of auto, triton, torch, reference$'
    ):
        operator(**given, backend=value)


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("delta_product", {"mode": None}, 'mode="None": use one of auto, recurrent, chunk, scan'),
        ("delta_product", {"mode": ["chunk"]}, "use one of auto, recurrent, chunk, scan"),
        ("diagonal_scan", {"mode": 1}, 'mode="1": use one of auto, recurrent, parallel'),
        ("delta_product", {"output_states": True}, 'output_states="True"'),
        (
            "delta_product",
            {"cu_seqlens": (0, 4)},
            "cu_seqlens is tuple (0, 4): pass a torch.Tensor of int32 or int64",
        ),
        (
            "rank_one_scan",
            {"cu_seqlens": torch.tensor([0.0, 4.0], device=DEVICE)},
            "cu_seqlens must be [N+1] integers",
        ),
        ("selective_scan", {"write": ones(5)}, "write has shape [5]: it must be [S, B, T, N]"),
        (
            "selective_scan",
            {"rate": ones(1, 3, 4)},
            "rate has shape [1, 3, 4]: it must be [S, C, N] = [1, 3, 5]",
        ),
        ("short_convolution", {"weight": ones(1, 3, 0)}, "pass at least one tap"),
        ("l2_normalise", {"x": ones()}, "x has shape []: pass vectors [..., D]"),
        ("rms_normalise", {"weight": ones(1, 3, 2)}, "x has shape [1, 4, 2, 3], weight [1, 3, 2]"),
        ("rms_normalise", {"weight": ones(3)}, "they must be [S, ..., H, D] and [S, H, D]"),
        ("rms_normalise", {"weight": ones(2, 2, 3)}, "they must be [S, ..., H, D] and [S, H, D]"),
        ("rms_normalise", {"eps": -1e-6}, "eps is -1e-06: it must be at least 0.0"),
        ("rms_normalise", {"eps": float("nan")}, "eps is nan: it must be finite"),
        ("rms_normalise", {"eps": "1e-6"}, "eps is str '1e-6': pass a number (float)"),
        ("rms_normalise", {"dtype": torch.int32}, "dtype is dtype torch.int32: use float16"),
        ("rms_normalise", {"dtype": "float32"}, "dtype is str 'float32': use float16"),
    ],
)
def test_names_shapes_and_numbers(name: str, change: dict[str, Any], said: str) -> None:
    assert said in refusal(name, **change)


@on_triton
def test_more_states_than_a_warp_holds() -> None:
    sizes = {"write": (1, 1, 2, 1025), "read": (1, 1, 2, 1025), "rate": (1, 1, 1025)}
    given: dict[str, Any] = {name: ones(*size) for name, size in sizes.items()}
    u, initial = ones(1, 1, 2, 1), ones(1, 1, 1, 1025)
    assert selective_scan(u, u, **given, initial_state=initial)[0].shape == u.shape
    with pytest.raises(KernelInputError, match="write has N = 1025: the kernels hold up to 1024 states"):
        selective_scan(u, u, **given, initial_state=initial, backend="triton")


def test_a_kernel_s_error_is_the_package_s() -> None:
    assert issubclass(KernelInputError, ValueError)
    assert not issubclass(BackendUnavailableError, ValueError)


@pytest.mark.parametrize("backend", ["auto", *BACKENDS])
def test_nothing_in_is_nothing_out(backend: str) -> None:
    """No sequences, tokens, heads, channels or states: results without entries, and states that stay."""
    for B, T, D in ((0, 3, 2), (2, 0, 2), (2, 3, 0)):
        a, initial = ones(B, T, D).requires_grad_(), 2 * ones(B, D)
        h, final = diagonal_scan(a, a, initial, output_final_state=True, backend=backend)
        assert h.shape == a.shape
        assert h.numel() == 0
        assert torch.equal(final, initial)  # type: ignore[arg-type]
        torch.autograd.backward(h.sum())
        q = ones(B, T, D, 3).requires_grad_()
        state = 2 * ones(B, D, 3, 3)
        o, final = rank_one_scan(q, q, q, q, q, q, state, output_final_state=True, backend=backend)
        assert o is not None
        assert o.shape == q.shape
        assert torch.equal(final, state)  # type: ignore[arg-type]
        torch.autograd.backward(o.sum())
    for S, B, T, C, N in (
        (0, 1, 2, 3, 4),
        (1, 0, 2, 3, 4),
        (1, 2, 0, 3, 4),
        (1, 2, 2, 0, 4),
        (1, 2, 2, 3, 0),
    ):
        u, w = ones(S, B, T, C).requires_grad_(), ones(S, B, T, N)
        initial = 2 * ones(S, B, C, N)
        y, final = selective_scan(u, u, ones(S, C, N), w, w, initial, backend=backend)
        assert torch.equal(y, torch.zeros_like(u))
        assert torch.equal(final, initial)
        torch.autograd.backward(y.sum())
        x = short_convolution(u, ones(S, C, 3), backend=backend)
        assert x.shape == u.shape
        assert rms_normalise(u, ones(S, C), backend=backend).shape == u.shape
        assert l2_normalise(u, backend=backend).shape == u.shape


@pytest.mark.parametrize("backend", ["auto", *BACKENDS])
def test_rows_beyond_the_kernels_are_normalised_too(backend: str) -> None:
    x = ones(1, 65537)
    torch.testing.assert_close(l2_normalise(x, backend=backend), x / 65537**0.5)
    torch.testing.assert_close(rms_normalise(x, ones(1, 65537), backend=backend), x)


@pytest.mark.parametrize("backend", ["auto", *BACKENDS])
def test_expanded_and_transposed_inputs(backend: str) -> None:
    x = torch.randn(2, 3, 4, 5, generator=torch.Generator().manual_seed(0)).to(DEVICE)
    row = x[:, :, :1].expand(-1, -1, 4, -1)
    for given in (x.transpose(1, 2).contiguous().transpose(1, 2), row, x.flip(0)[:, ::1], x[..., :3]):
        same = given.contiguous().clone()
        for run in (
            lambda y: delta_product(y, y, y, y[..., 0], backend=backend)[0],
            lambda y: rank_one_scan(y, y, y, y, y, y, backend=backend)[0],
            lambda y: diagonal_scan(y[..., 0], y[..., 0], backend=backend)[0],
            lambda y: short_convolution(y, y[:, 0, 0, :, None], backend=backend),
            lambda y: l2_normalise(y, backend=backend),
            lambda y: rms_normalise(y, y[:, 0], backend=backend),
        ):
            torch.testing.assert_close(run(given), run(same), rtol=1e-6, atol=1e-6)
