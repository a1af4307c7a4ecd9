"""The benchmark beside the strongest peers, without a GPU: the arithmetic of its targets, its tables, its calls and refusals."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from mirrormata.benchmarks import kernel_peers
from mirrormata.benchmarks.kernel_peers import constants, exact_results, measure, reason, serve
from mirrormata.benchmarks.kernel_peers_calls import PEERS, Peer, dispatched, few_heads
from mirrormata.benchmarks.kernel_peers_table import (
    ALIKE,
    ROWS,
    SHAPES,
    TARGETS,
    Target,
    judged,
    reached,
    refusals,
    table_rows,
)

SMALL = (1, 70, 2, 16, 2)


def figures(graph: float, eager: float, MiB: int = 100) -> dict[str, Any]:
    return {"graph": [graph] * 3, "eager": [eager] * 3, "MiB": MiB, "error": 4e-3}


def row(who: str, shape: str = "lm", gate: bool = False, **passes: Any) -> dict[str, Any]:
    return {"shape": shape, "B T H D n_h": list(SHAPES[shape]), "gate": gate, "who": who, **passes}


MEASURED = {
    "copy bytes a second": 4e12,
    "rows": [
        row("ours", forward=figures(0.2, 0.3), both=figures(0.5, 1.0, 110)),
        row("FlashInfer", forward=figures(0.3, 0.3)),
        row("FlashInfer split", forward=figures(0.25, 0.6)),
        row("FlashQLA", forward=figures(0.4, 0.4), both=figures(1.0, 1.2, 88)),
        row("FLA", forward=figures(0.6, 0.9), both={"refused": "RuntimeError: a | b"}),
        row("FlashQLA", "st32", refused="AssertionError: assert K == 128"),
        row("FlashQLA", "wide", refused="AssertionError: assert K == 128"),
    ],
}


@pytest.mark.parametrize(
    ("target", "number"),
    [
        (Target("lm", False, "forward", "ratio", 1.1, "FlashInfer"), 1.25),
        (Target("lm", False, "forward", "ratio", 1.1, "FlashInfer", "eager"), 1.0),
        (Target("lm", False, "both", "ratio", 1.1, "FlashQLA"), 2.0),
        (Target("lm", False, "both", "ratio", 1.1, "FLA"), None),
        (Target("lm", False, "both", "ratio", 1.1, "FlashInfer"), None),
        (Target("lm", True, "forward", "ratio", 1.1, "FlashQLA"), None),
        (Target("lm", False, "both", "memory", 1.1, "FlashQLA"), 1.25),
        (Target("lm", False, "forward", "milliseconds", 1.0), 0.2),
        # 2 bytes of q, o, k, v and beta, 4 · 4096 · 16 times
        (
            Target("lm", False, "forward", "floor", 2.0),
            0.2 / (2 * 4 * 4096 * 16 * (4 * 128 + 1) / 4e12 * 1e3),
        ),
    ],
    ids=lambda x: f"{x.passes} {x.what} {x.against} {x.by}" if isinstance(x, Target) else None,
)
def test_what_a_target_measures(target: Target, number: float | None) -> None:
    found = reached(MEASURED, target)
    assert found == (None if number is None else pytest.approx(number))


def test_targets_are_met_or_missed() -> None:
    shown = {(x.shape, x.gated, x.passes, x.what): y for x, y in zip(TARGETS, judged(MEASURED), strict=True)}
    assert shown["lm", False, "forward", "ratio"] == [
        *("`lm`", "no", "forward", "≥ 1.1 times FlashInfer", "1.25", "met")
    ]
    assert shown["lm", False, "both", "memory"][-2:] == ["1.25", "missed"]
    assert shown["lm", False, "forward", "floor"][-1] == "missed"
    assert shown["wide", True, "both", "milliseconds"][-2:] == ["", "not measured"]
    for target in TARGETS:
        assert (target.shape, target.gated) in ROWS
        assert not target.against or target.against in ALIKE


def test_the_table_has_what_was_measured() -> None:
    rows = table_rows(MEASURED)
    assert [(x[4], x[3]) for x in rows] == [
        *((who, "forward") for who in ("ours", "FlashInfer", "FlashInfer split", "FlashQLA", "FLA")),
        *((who, "forward and backward") for who in ("ours", "FlashQLA")),
    ]
    assert rows[0][5:] == ["0.200", "", "0.300", "", "100", "4.0e-03"]
    assert rows[-1][5:] == ["1.000", "2.00", "1.200", "1.20", "88", "4.0e-03"]
    assert refusals(MEASURED) == [
        ["FLA", "backward", "`RuntimeError: a / b`", "`lm`"],
        ["FlashQLA", "both", "`AssertionError: assert K == 128`", "`st32`, `wide`"],
    ]


@pytest.mark.parametrize("gated", [False, True])
def test_ours_is_right_in_it(gated: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_peers, "time_call", lambda run: {"ran": len(run())})
    truth = exact_results(SMALL, gated, "cpu")
    assert len(truth) == 5 + gated
    found = measure(PEERS["ours"], SMALL, gated, truth, "cpu")
    assert found["forward"]["error"] < 0.01
    assert found["both"]["error"] < 0.01
    assert found["both"]["ran"] == 4 + gated
    assert measure(PEERS["ours"], SMALL, gated, None, "cpu") == {}


def test_a_backward_pass_that_is_refused_leaves_the_forward_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing(torch.autograd.Function):
        @staticmethod
        def forward(_: Any, v: Tensor) -> Tensor:
            return v.clone()

        @staticmethod
        def backward(_: Any, *gradients: Any) -> Any:
            raise RuntimeError("install more")

    def prepare(*_: Any) -> Any:
        def run(q: Tensor, k: Tensor, v: Tensor, beta: Tensor) -> Tensor:
            o: Tensor = Refusing.apply(v)  # type: ignore[no-untyped-call]
            return o + 0 * (q.sum() + k.sum() + beta.sum())

        return run

    monkeypatch.setattr(kernel_peers, "time_call", lambda run: {"ran": len(run())})
    shape = (1, 20, 2, 16, 1)
    found = measure(Peer((), prepare), shape, False, exact_results(shape, False, "cpu"), "cpu")
    assert found["forward"]["ran"] == 1
    assert found["both"] == {"refused": "RuntimeError: install more"}


class Told:
    """A connection with tasks, which keeps the answers."""

    def __init__(self, *tasks: Any) -> None:
        self.tasks = [*tasks, None]
        self.answers: list[Any] = []

    def recv(self) -> Any:
        return self.tasks.pop(0)

    def send(self, answer: Any) -> None:
        self.answers.append(answer)


def test_a_peer_says_why_it_does_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SHAPES, "small", SMALL)
    monkeypatch.setitem(SHAPES, "one", (*SMALL[:4], 1))
    told: Any = Told(("small", True, True, None), ("one", True, True, None))
    serve(told, "FlashQLA", "cpu")
    assert told.answers[0] == {"refused": "NotImplementedError: it has one factor a token"}
    assert set(told.answers[1]) == {"refused"}
    told = Told(("small", False, True, None))
    serve(told, "ours", "cpu")
    assert told.answers == [{}]


def test_reasons_are_one_line() -> None:
    assert reason(ValueError("a\n b")) == "ValueError: a b"
    with pytest.raises(AssertionError) as raised:
        raise AssertionError
    assert reason(raised.value) == "AssertionError: raise AssertionError"


def test_which_peer_runs_where() -> None:
    assert [few_heads(SHAPES[x], False) for x in ("lm", "lm_nh3", "st128_nh4", "one_sequence")] == [
        *(True, True, False, False)
    ]
    assert dispatched(SHAPES["lm"], True)
    assert not dispatched(SHAPES["lm"], False)
    assert not dispatched(SHAPES["lm_nh2"], True)
    # the kernels of FLA do not depend on the length, ours may
    assert constants(("FLA", "lm", True)) == constants(("FLA", "lm_8192", True))
    assert constants(("ours", "lm", True)) != constants(("ours", "lm_8192", True))
    assert set(SHAPES) == {name for name, _ in ROWS}
