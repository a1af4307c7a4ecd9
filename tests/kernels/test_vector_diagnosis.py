"""What all failures have in common is said once: known errors of all words, what is returned, errors, missing parameters, halves."""

from __future__ import annotations

from functools import wraps
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from mirrormata.kernels import Contract, check_vectors, read_vectors, write_vectors
from mirrormata.kernels.vectors._families import all_words, families_of
from mirrormata.kernels.vectors._plain import plain_delta_rule
from mirrormata.kernels.vectors._word import OPERATORS

FEW = ["integers", "beta-above-one", "initial-state", "packed", "heads", "scale", "gates", "no-tokens"]


def run(function: Any, **given: Any) -> Any:
    return check_vectors(function, **{"framework": "numpy", "families": FEW, **given})


def right(q: Any, k: Any, v: Any, beta: Any, g: Any = None, initial_state: Any = None, cu_seqlens: Any = None, scale: Any = 1) -> Any:  # fmt: skip
    return plain_delta_rule(q, k, v, beta, g, initial_state, cu_seqlens, scale)


def changed(after: Any = None, **before: Any) -> Any:
    """`right` with inputs, or what it returns, changed."""

    @wraps(right)
    def function(**x: Any) -> Any:
        for name, change in before.items():
            if x.get(name) is not None:
                x[name] = change(x)
        found = right(**x)
        return found if after is None else after(*found)

    return function


def to_bf16(x: Any) -> Any:
    return x.astype(ml_dtypes.bfloat16).astype(np.float32)


def unit(x: Any) -> Any:
    return x / np.sqrt((x * x).sum(-1, keepdims=True) + np.float32(1e-6))


@pytest.mark.parametrize(
    ("function", "cause"),
    [
        (changed(scale=lambda x: x["scale"] ** 2), "the scale is applied twice"),
        (changed(q=lambda x: x["q"] * np.float32(x["q"].shape[3] ** -0.5)), "K^-1/2 is applied as well as the scale"),
        (changed(k=lambda x: unit(x["k"]), q=lambda x: unit(x["q"])), "queries and keys are normalised inside the function"),
        (changed(beta=lambda x: 1 / (1 + np.exp(-x["beta"]))), "beta goes through a sigmoid inside the function"),
        (changed(g=lambda x: x["g"] * np.float32(np.log(2))), "logarithms of gates are read to base 2"),
        (changed(g=lambda x: -x["g"]), "the sign of the logarithms of gates is reversed"),
        (changed(scale=lambda x: 1.0), "the scale is ignored, and 1 taken"),
    ],
)  # fmt: skip
def test_one_known_error_is_named_for_all_words(function: Any, cause: str) -> None:
    report = run(function)
    assert f"behaves like this known error: {cause}" in report.overall
    for verdict in report.verdicts:
        if verdict.failed:
            assert cause in verdict.cause
    first = next(v for v in report.verdicts if v.failed)
    assert "behaves like: " in first.remark


def test_a_right_function_has_no_diagnosis() -> None:
    report = run(right)
    assert (report.passed, report.complete, report.overall) == (True, True, "")


def test_outputs_that_are_a_multiple_are_named() -> None:
    report = run(changed(after=lambda o, S: (3 * o, S)))
    assert report.overall.startswith("every output is 3 times the right one, and final states are right")
    assert all("3 times" in v.cause for v in report.verdicts if v.failed)


def test_what_no_known_error_gives_is_not_blamed_on_each_family() -> None:
    report = run(changed(v=lambda x: 3 * x["v"] + 1))
    assert "no known error gives these numbers" in report.overall
    assert len({v.cause for v in report.verdicts if v.failed}) == 1
    assert "infinite or NaN" in run(changed(after=lambda o, S: (o * np.nan, S))).overall


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (changed(after=lambda o, S: o), "it returns no pair: a function must return (o, final_state)"),
        (changed(after=lambda o, S: (o, S, S)), "another number of values than two"),
        (changed(after=lambda o, S: (o, None)), "it returns None as the final state"),
        (
            changed(after=lambda o, S: (o, S.swapaxes(2, 3))),
            "final states are transposed: they must be [N, H, K, V]",
        ),
        (changed(after=lambda o, S: (o.swapaxes(1, 2), S)), "outputs have another shape than [B, T, H, V]"),
        (changed(after=lambda o, S: (o, S[:1] if len(o) == 1 else S)), "the function ignores cu_seqlens"),
    ],
)
def test_what_must_be_returned_is_said_once(function: Any, said: str) -> None:
    report = run(function)
    assert report.overall.startswith(said) or said in report.overall
    for verdict in report.verdicts:
        assert "raises" not in verdict.cause
    assert any(said in v.cause for v in report.verdicts)


def test_cu_seqlens_that_is_ignored_with_right_shapes_is_named() -> None:
    def ignoring(q: Any, k: Any, v: Any, beta: Any, g: Any = None, initial_state: Any = None, cu_seqlens: Any = None, scale: Any = 1) -> Any:  # fmt: skip
        if cu_seqlens is None:
            return right(q, k, v, beta, g, initial_state, None, scale)
        first = None if initial_state is None else initial_state[:1]
        o, S = right(q, k, v, beta, g, first, None, scale)
        return o, np.repeat(S, len(cu_seqlens) - 1, 0)

    report = run(ignoring)
    assert [v.family for v in report.verdicts if v.failed] == ["packed"]
    assert "cu_seqlens is ignored, and the row is run as one sequence" in report.overall


def test_one_error_of_all_words_is_said_once() -> None:
    def of_torch(q: Any, k: Any, v: Any, beta: Any, scale: Any) -> Any:
        raise TypeError("expected Tensor, not numpy.ndarray")

    report = run(of_torch)
    assert "every word raises the same TypeError: expected Tensor" in report.overall
    assert "is this a function of torch?" in report.overall
    assert "state the framework torch" in report.overall
    assert {v.cause for v in report.verdicts if v.failed} == {"it raises an error, as in every word"}
    assert report.headline().startswith("all 5 families fail")


def test_a_function_of_numpy_on_tensors_is_told_the_framework() -> None:
    pytest.importorskip("torch")
    report = check_vectors(plain_delta_rule, "delta_rule", families=["integers", "scale", "heads", "tails"])
    assert "is this a function of numpy?" in report.overall


def test_missing_parameters_are_named_once() -> None:
    def unscaled(q: Any, k: Any, v: Any, beta: Any, g: Any = None, initial_state: Any = None, cu_seqlens: Any = None) -> Any:  # fmt: skip
        return right(q, k, v, beta, g, initial_state, cu_seqlens, q.shape[3] ** -0.5)

    report = run(unscaled)
    assert report.passed
    assert not report.complete
    assert {v.family for v in report.verdicts if v.skipped} == {"scale"}
    assert "1 family not run; " in report.headline()
    assert report.headline().endswith("not run: the function has no parameter scale")

    def other_names(query: Any, key: Any, value: Any, beta: Any) -> Any:
        return None

    report = run(other_names)
    assert report.overall == "no word was run: the function has no parameter q, k, v"
    assert report.headline().startswith("no word was run, so nothing passes; 0 of ")
    assert not report.passed


def test_functions_with_any_keywords_are_given_what_words_need() -> None:
    def wrapper(*a: Any, **k: Any) -> Any:
        assert not a
        return right(**k)

    report = run(wrapper)
    assert (report.passed, report.complete) == (True, True)


def test_gates_given_in_two_ways_are_judged_by_themselves() -> None:
    def both(q: Any, k: Any, v: Any, beta: Any, g: Any = None, a: Any = None, initial_state: Any = None, cu_seqlens: Any = None, scale: Any = 1) -> Any:  # fmt: skip
        if a is not None:
            return exact(a)(locals())
        if g is not None:
            g = to_bf16(g)
        return right(q, k, v, beta, g, initial_state, cu_seqlens, scale)

    def exact(a: Any) -> Any:
        def go(x: Any) -> Any:
            q, v = x["q"], x["v"]
            S = np.zeros((q.shape[0], q.shape[2], q.shape[3], v.shape[3]), np.float32)
            S = S if x["initial_state"] is None else x["initial_state"].copy()
            o = np.zeros((*q.shape[:3], v.shape[3]), np.float32)
            for t in range(q.shape[1]):
                one = slice(t, t + 1)
                S = S * a[:, t][:, :, None, None]
                o[:, one], S = right(
                    q[:, one], x["k"][:, one], v[:, one], x["beta"][:, one], None, S, None, x["scale"]
                )
            return o, S

        return go

    report = check_vectors(both, framework="numpy", families=["gates", "heads"])
    gates = report.verdicts[-1]
    assert gates.family == "gates"
    assert len(gates.failed) == 6  # of the one gate of 2^-10 nearly nothing is left
    assert gates.words == gates.total == 14
    assert gates.cause == (
        "logarithms of gates are rounded to bf16 (only where gates are given as g; as a they are right)"
    )
    assert gates.known


def test_bf16_of_numpy_is_float32_with_values_of_bf16() -> None:
    def emulated(q: Any, k: Any, v: Any, beta: Any, scale: Any, initial_state: Any = None) -> Any:
        assert initial_state is None or (to_bf16(initial_state) == initial_state).all()
        o, S = plain_delta_rule(q, k, v, beta, None, initial_state, None, scale)
        return to_bf16(o), to_bf16(S)

    contract = Contract(inputs="bf16", state="bf16")
    assert contract.outputs == "bf16"  # by default that of the inputs
    report = run(
        emulated,
        operator="delta_rule",
        contract=contract,
        families=["integers", "initial-state", "outputs-fine"],
    )
    assert report.passed
    assert not run(right, operator="delta_rule", contract=contract, families=["outputs-fine"]).passed


def test_names_in_the_file_can_be_split(tmp_path: Any) -> None:
    write_vectors(tmp_path / "v.safetensors")
    facts, arrays = read_vectors(tmp_path / "v.safetensors")
    assert not any("/" in word.name or "/" in word.family for word in all_words())
    assert {tuple(name.split("/")) for name in arrays} == {(f["family"], f["name"]) for f in facts}
    for fact in facts:
        assert fact["bits"].keys() == {"inputs", "beta", "gates", "state", "outputs"}
        for operator in fact["must pass"]:
            assert fact["family"] in families_of(operator)
    assert {name for fact in facts for name in fact["must pass"]} == set(OPERATORS)
