"""The program that draws random shapes of the kernels: it is right about small ones, and sees what is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch

pytest.importorskip("triton")

from mirrormata.benchmarks import fuzz_kernels
from mirrormata.benchmarks.fuzz_kernels import draw_case, run_case, run_variant, shares, slice_errors
from mirrormata.benchmarks.fuzz_operators import OPERATORS, bounds
from mirrormata.kernels._launching import Launcher
from mirrormata.kernels.delta._problem import form_of
from mirrormata.tests.kernels.devices import DEVICE, on_triton

DELTA = {
    "householders": 2,
    "gate": "a",
    "initial": True,
    "final": True,
    "l2norm": False,
    "scale": -0.3,
    "beta": None,
}
DELTA |= {"K": 5, "V": 20, "tokens": 9, "heads": 1, "batch": 1, "sequences": 3, "bounds": [0, 4, 4, 9]}
SIZES = {"seeds": 2, "batch": 1, "tokens": 5, "sequences": 1, "bounds": None, "final": True, "initial": True}
TINY: dict[str, dict[str, Any]] = {
    **{f"delta_product_{mode}": {**DELTA, "mode": mode} for mode in ("recurrent", "chunk", "scan", "auto")},
    "delta_product_hopper": {**DELTA, "mode": "chunk", "gates": "mixed"},
    "diagonal_scan": {
        **SIZES,
        "channels": 3,
        "pairs": True,
        "reverse": True,
        "mode": "parallel",
        "segment": 2,
    },
    "rank_one_scan": {**SIZES, "K": 3, "V": 5, "heads": 2, "added": True, "scale": None},
    "selective_scan": {**SIZES, "C": 3, "N": 2, "signed": True},
    "short_convolution": {**SIZES, "C": 3, "taps": 3, "before": True},
    "rms_normalise": {**SIZES, "D": 5, "rows": [3], "heads": 2, "eps": 1e-6},
    "l2_normalise": {**SIZES, "D": 5, "rows": [3, 2], "silu": True},
}


@pytest.fixture(autouse=True)
def _no_forms() -> Iterator[None]:
    form_of.cache_clear()
    yield
    form_of.cache_clear()


def run(name: str, dtype: str = "float32", **change: Any) -> dict[str, Any]:
    return run_case(OPERATORS[name], {**TINY[name], "dtype": dtype, "seed": 5, **change}, DEVICE.type)


@on_triton
@pytest.mark.parametrize("name", OPERATORS)
def test_kernels_are_right(name: str) -> None:
    row = run(name)
    assert row["wrong"] is None
    assert row["dtype"] == "float32"
    assert len(row["errors"]) >= 2
    assert 0 < max(row["errors"].values()) < 1e-6


@on_triton
def test_a_kernel_that_never_runs_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    launch = Launcher.__call__

    def skip(launcher: Launcher, *arguments: Any) -> None:
        if launcher.function.__name__ != "recurrent_backward_keys":
            launch(launcher, *arguments)

    monkeypatch.setattr(Launcher, "__call__", skip)
    wrong = run("delta_product_recurrent")["wrong"]
    assert "gradient of k: error inf" in wrong
    assert "output" not in wrong


@on_triton
def test_other_bits_in_a_second_run_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    from mirrormata.kernels.norms import _triton_norms as launch

    unit_rows_of, calls = launch.unit_rows_of, []

    def noisy(x: torch.Tensor, *others: Any) -> torch.Tensor:
        calls.append(x)
        return unit_rows_of(x, *others) * (1 + 2**-23 * (len(calls) > 2))

    monkeypatch.setattr(launch, "unit_rows_of", noisy)
    assert run("l2_normalise")["wrong"].startswith("output 0: other bits in a second run")


@on_triton
def test_what_raises_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz_kernels, "draw_case", lambda *_: {"seed": 1, "rows": None, "D": 2})
    row = run_variant(("l2_normalise", 0, 3, 2, DEVICE.type))
    assert [x["index"] for x in row["failures"]] == [0, 1]
    assert row["failures"][0]["wrong"].startswith("TypeError: ")


def test_one_wrong_slice_among_many_is_seen() -> None:
    y = torch.randn(50, 256, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).to(DEVICE)
    assert slice_errors(y.clone(), y) == (0.0, 0.0)
    x = y.clone()
    x[:, 17] = 0
    whole, largest = slice_errors(x, y)
    assert whole < 0.1
    assert largest > 0.7
    x[0, 0] = torch.nan
    assert slice_errors(x, y) == (torch.inf, torch.inf)
    assert slice_errors(y[1:], y) == (torch.inf, torch.inf)


@pytest.mark.parametrize("name", OPERATORS)
def test_draws_are_the_same_again_and_vary(name: str) -> None:
    cases = [draw_case(OPERATORS[name], name, 3, variant, i) for variant in range(30) for i in range(5)]
    assert cases[7] == draw_case(OPERATORS[name], name, 3, 1, 2)
    assert cases[7] != draw_case(OPERATORS[name], name, 4, 1, 2)
    assert len({json.dumps(x) for x in cases}) == len(cases)
    tokens = [x["tokens"] for x in cases if "tokens" in x]
    assert all(n >= 1 for n in tokens)
    assert len(set(tokens)) >= min(len(tokens), 20)
    if name == "delta_product_chunk":
        assert {x["householders"] for x in cases} == set(range(1, 9))
        assert any(x["K"] != x["V"] for x in cases)
        assert any(x["batch"] * x["heads"] >= 512 or (x["bounds"] and x["many"]) for x in cases)
    packed = [x["bounds"] for x in cases if x.get("bounds")]
    assert all(b == sorted(b) and b[0] == 0 for b in packed)


def test_bounds_have_empty_sequences() -> None:
    drawn = [bounds(Random(i), 9, 4) for i in range(20)]
    assert all(len(b) == 5 and b[-1] == 9 for b in drawn)
    assert any(b[i] == b[i + 1] for b in drawn for i in range(4))


@on_triton
def test_a_run_is_written_and_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        fuzz_kernels,
        "draw_case",
        lambda _o, name, _s, _v, index: {**TINY[name], "dtype": "float32", "seed": index},
    )
    common = [
        "--device",
        DEVICE.type,
        "--workers",
        "0",
        "--shapes",
        "3",
        "--variants",
        "2",
        "--output",
        str(tmp_path),
    ]
    names = ["--operator", "l2_normalise", "rms_normalise"]
    assert fuzz_kernels.main([*common, *names]) == 0
    assert "rms_normalise: 3 shapes of 3, 0 wrong" in capsys.readouterr().out
    document = json.loads((tmp_path / "l2_normalise.json").read_text(encoding="utf-8"))
    assert (document["shapes"], document["variants"], document["wrong"]) == (3, 2, 0)
    assert {"card", "driver", "torch", "triton", "seed", "how", "allowed"} <= set(document)
    assert set(document["largest_errors"]) == {"float32 output", "float32 gradient"}
    monkeypatch.setattr(fuzz_kernels, "run_variant", lambda _task: pytest.fail("run again"))
    assert fuzz_kernels.main([*common, *names]) == 0
    # with no time left for another operator not everything is there
    assert fuzz_kernels.main([*common, "--minutes", "0", "--operator", "short_convolution"]) == 1


def test_shapes_are_shared_out() -> None:
    assert shares(10, 4) == [3, 3, 2, 2]
    assert shares(2, 4) == [1, 1]
