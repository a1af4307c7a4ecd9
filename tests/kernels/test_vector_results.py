"""What a function does beside returning right numbers: exceptions that are no `Exception`, other dtypes, changed arguments."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from mirrormata.kernels import Contract, check_vectors
from mirrormata.kernels.vectors._plain import plain_delta_rule
from mirrormata.kernels.vectors._report import VectorReport, VectorVerdict

RIGHT: Callable[..., Any] = plain_delta_rule
FAMILIES = ("scale", "initial-state", "packed", "gates")


class OwnError(BaseException):
    """No `Exception`, and its text cannot be made."""

    def __str__(self) -> str:
        raise ValueError


def returning(
    change: Callable[[Any, Any], Any] | None = None, before: Callable[[Any], Any] | None = None
) -> Any:
    """The right function, which changes its arguments before it begins, or what it returns."""

    def run(q: Any, k: Any, v: Any, beta: Any, g: Any = None, initial_state: Any = None, cu_seqlens: Any = None, scale: Any = 1) -> Any:  # fmt: skip
        arguments = (q, k, v, beta, g, initial_state, cu_seqlens)
        copies: list[Any] = [None if x is None else x.copy() for x in arguments]
        if before is not None:
            before(
                dict(zip(("q", "k", "v", "beta", "g", "initial_state", "cu_seqlens"), arguments, strict=True))
            )
        result = RIGHT(*copies, scale=scale)
        return result if change is None else change(*result)

    return run


def report_of(
    function: Any, contract: Contract | None = None, families: tuple[str, ...] = FAMILIES
) -> VectorReport:
    return check_vectors(function, framework="numpy", contract=contract, families=families)


def first_of(function: Any, contract: Contract | None = None) -> VectorVerdict:
    report = report_of(function, contract, ("scale",))
    assert not report.passed
    assert report.overall
    return report.verdicts[0]


@pytest.mark.parametrize(
    ("leave", "said"),
    [
        (lambda *_: sys.exit(0), "it ends the program: it raises SystemExit"),
        (lambda *_: (_ for _ in ()).throw(OwnError), "it raises OwnError: a function must return"),
        (lambda *_: (_ for _ in ()).throw(GeneratorExit), "it raises GeneratorExit"),
    ],
)
def test_what_is_no_exception_fails(leave: Any, said: str) -> None:
    verdict = first_of(returning(leave))
    assert verdict.verdict == "fail"
    assert verdict.cause.startswith(said)
    assert len(verdict.failed) == 2


def test_an_interrupt_goes_through() -> None:
    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        report_of(returning(interrupted))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda o, S: (o.astype(np.float64), S), "outputs are float64, but the format that is stated for outputs is fp32"),
        (lambda o, S: (o, S.astype(np.float16)), "final states are float16, but the format that is stated for state is fp32"),
        (lambda o, S: (o.astype(">f4"), S), "outputs are >f4"),
        (lambda o, S: (o.astype(object), S), "outputs are object"),
        (lambda o, S: (o.tolist(), S), "outputs are no numpy.ndarray"),
        (lambda o, S: (o, torch.from_numpy(S)), "final states are no numpy.ndarray"),
        (lambda o, S: (o, S[0]), "final states have another shape"),
    ],
)  # fmt: skip
def test_another_dtype_kind_or_shape_fails(change: Any, said: str) -> None:
    assert first_of(returning(change)).cause.startswith(said)


def test_a_function_in_the_formats_that_it_states_passes() -> None:
    wide = returning(lambda o, S: (o.astype(np.float64), S))
    assert report_of(wide, Contract(outputs="fp64")).passed
    narrow = returning(lambda o, S: (o.astype(np.float16), S.astype(np.float32)))
    assert report_of(narrow, Contract(outputs="fp16")).passed
    assert not report_of(narrow, Contract(inputs="fp16", outputs="fp32")).passed


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda o, S: (o.to("meta"), S), "outputs are on the device meta"),
        (lambda o, S: (o, S.to("meta")), "final states are on the device meta"),
        (lambda o, S: (o.to_sparse(), S), "outputs cannot be read as numbers"),
        (lambda o, S: (o, S.bfloat16()), "final states are bfloat16, but"),
        (lambda o, S: (o.numpy(), S), "outputs are no torch.Tensor"),
    ],
)
def test_tensors_without_numbers_or_of_another_dtype_fail(change: Any, said: str) -> None:
    def run(q: Any, k: Any, v: Any, beta: Any, scale: Any) -> Any:
        o, S = plain_delta_rule(q.numpy(), k.numpy(), v.numpy(), beta.numpy(), scale=scale)
        return change(torch.from_numpy(o), torch.from_numpy(S))

    report = check_vectors(run, families=["scale"])
    assert [v.verdict for v in report.verdicts] == ["fail"]
    assert report.verdicts[0].cause.startswith(said)


@pytest.mark.parametrize("name", ["q", "k", "v", "beta", "g", "initial_state", "cu_seqlens"])
def test_an_argument_that_is_changed_is_named(name: str) -> None:
    def spoil(arguments: dict[str, Any]) -> None:
        if arguments[name] is not None and arguments[name].size:
            arguments[name].flat[-1] += 1

    report = report_of(returning(before=spoil))
    assert not report.passed
    said = f"the argument {name} is changed in place: a function must leave its arguments as they are"
    assert said in report.overall
    assert {v.cause for v in report.verdicts if v.failed} == {said}


def test_a_tensor_that_is_emptied_is_named() -> None:
    def run(q: Any, k: Any, v: Any, beta: Any, scale: Any) -> Any:
        o, S = RIGHT(*(x.numpy().copy() for x in (q, k, v, beta)), scale=scale)
        beta.resize_(0)
        return torch.from_numpy(o), torch.from_numpy(S)

    report = check_vectors(run, families=["scale"])
    assert report.verdicts[0].cause.startswith("the argument beta is changed in place")


def test_a_state_that_becomes_the_final_state_in_place_is_seen_where_it_is_used_again() -> None:
    def in_place(
        q: Any, k: Any, v: Any, beta: Any, g: Any = None, initial_state: Any = None, scale: Any = 1
    ) -> Any:
        o, S = plain_delta_rule(q, k, v, beta, g, initial_state, scale=scale)
        if initial_state is not None:
            initial_state[:] = S
        return o, S

    report = report_of(in_place, families=("initial-state", "decode", "prefix"))
    assert [v.family for v in report.verdicts if v.failed] == ["prefix"]
    assert "changed in place" in report.verdicts[-1].cause
