"""The words have the bits that they state, the file says what they are, and right implementations pass in all their formats."""

from __future__ import annotations

import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

from mirrormata.foundation._errors import InputError
from mirrormata.kernels import Contract, check_vectors, delta_product, read_vectors, write_vectors
from mirrormata.kernels.vectors._exact import FORMATS, Span, exact_array, in_float64, span_of
from mirrormata.kernels.vectors._families import FAMILIES, all_words
from mirrormata.kernels.vectors._file import arrays_of
from mirrormata.kernels.vectors._plain import plain_delta_rule
from mirrormata.kernels.vectors._recurrence import answer_of, needs_of
from mirrormata.kernels.vectors._runners import RUNNERS, find_runner, load_function, padded
from mirrormata.kernels.vectors._word import OPERATORS, Word
from mirrormata.kernels.vectors._words_gates import EXPONENTIATED
from mirrormata.tests.kernels.devices import DEVICE, on_triton


def shown(word: Word) -> str:
    return f"{word.family} {word.name}"


def test_numbers_that_no_format_holds_are_refused() -> None:
    with pytest.raises(ValueError, match="1/3 is no binary fraction"):
        span_of([Fraction(1, 3)])
    assert span_of([0, 6, Fraction(5, 8)]) == Span(3, -3, 2)
    assert FORMATS["bf16"].holds(span_of([255, 2**127]))
    assert not FORMATS["bf16"].holds(span_of([257]))
    assert not FORMATS["fp16"].holds(span_of([2**16]))
    assert FORMATS["fp16"].holds(span_of([Fraction(1, 2**24)]))
    assert not FORMATS["fp16"].holds(span_of([Fraction(1, 2**25)]))


@pytest.mark.parametrize(
    ("name", "dtype"), [("bf16", ml_dtypes.bfloat16), ("fp16", np.float16), ("fp32", np.float32)]
)
def test_rounding_is_that_of_the_format(name: str, dtype: Any) -> None:
    random = Random(name)
    values = [random.choice((-1, 1)) * random.random() * 2.0 ** random.randint(-30, 17) for _ in range(2000)]
    values += [65504.0, 65519.0, 65520.0, 70000.0, 1 + 2.0**-9, 1 + 3 * 2.0**-9, 2.0**-25, 3 * 2.0**-26]
    with np.errstate(over="ignore"):
        expected = np.array(values).astype(dtype).astype(np.float64)
    found = [float(FORMATS[name].round(Fraction(x))) for x in values]
    assert found == expected.tolist()


def test_words_have_names_operators_and_few_numbers() -> None:
    assert len({shown(w) for w in all_words()}) == len(all_words())
    assert {w.operator for w in all_words()} == set(OPERATORS)
    assert {w.family for w in all_words()} == {f.name for f in FAMILIES}
    lengths = {w.tokens for w in all_words()}
    assert {0, 15, 17, 31, 33, 63, 64, 65, 127, 129} <= lengths
    assert any(w.shape[3] != w.shape[4] for w in all_words())
    assert any(w.shape[4] > w.shape[3] for w in all_words())
    assert any(w.tokens > 64 and w.initial_state is not None and w.cu_seqlens is None for w in all_words())
    for w in all_words():
        if w.gate is not None and w.bound == EXPONENTIATED:
            assert np.abs(w.gate.sum(axis=1)).max(initial=0) <= 16, shown(w)  # for what the bound is stated
        elif w.gate is not None and not w.bound:
            assert not w.gate.any(), shown(w)
        assert FORMATS["fp32"].holds(needs_of(w).state), shown(w)
        assert FORMATS["fp32"].holds(needs_of(w).outputs), shown(w)


def own(dtype: torch.dtype | None = None, **fixed: Any) -> Any:
    def run(
        q: Any, k: Any, v: Any, beta: Any, g: Any = None, a: Any = None, initial_state: Any = None,
        cu_seqlens: Any = None, scale: Any = None, householders: int = 1,
    ) -> Any:  # fmt: skip
        return delta_product(
            q, k, v, beta, g, a, householders=householders, initial_state=initial_state, cu_seqlens=cu_seqlens,
            scale=scale, output_final_state=True, **fixed,
        )  # fmt: skip

    return run


CONTRACTS = [
    Contract(),
    Contract(**dict.fromkeys(Contract.__dataclass_fields__, "fp64")),
    Contract(inputs="bf16", outputs="bf16"),
    Contract(inputs="fp16", outputs="fp16"),
]


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda c: c.inputs)
@pytest.mark.parametrize(("backend", "mode"), [("reference", "auto"), ("torch", "chunk"), ("torch", "scan")])
def test_our_references_pass_in_every_format(backend: str, mode: str, contract: Contract) -> None:
    report = check_vectors(own(backend=backend, mode=mode), "delta_product", contract=contract)
    assert report.passed, report.headline()
    left_out = {v.family for v in report.verdicts if v.verdict == "not run"}
    assert left_out == ({"inputs-fine"} if contract.inputs == "bf16" else set())


@on_triton
@pytest.mark.parametrize("mode", ["recurrent", "chunk", "scan"])
def test_our_kernels_pass(mode: str) -> None:
    """All modes in float32: the interpreter has no bfloat16."""
    families = ["beta-fine", "range", "outputs-fine", "inputs-fine", "coefficients", "initial-state", "prefix", "no-tokens",
                "heads", "scale", "fine-widths"]  # fmt: skip
    if mode != "scan":  # whose words would take a minute
        families += ["decode", "gates", "fine-packed"]
    assert_kernel_passes(own(backend="triton", mode=mode), "delta_product", families)


@on_triton
@pytest.mark.long
@pytest.mark.parametrize("mode", ["recurrent", "chunk", "scan", "rank_one_scan"])
def test_our_kernels_pass_all_words(mode: str) -> None:
    """As they are called by `mirrormata vectors`."""
    runner = find_runner(f"mirrormata/triton/{mode}")
    assert runner is not None
    assert_kernel_passes(runner.load(), runner.operator, None)


def assert_kernel_passes(function: Any, operator: str, families: list[str] | None) -> None:
    report = check_vectors(function, operator, device=str(DEVICE), families=families)
    assert report.passed, [(v.family, v.first) for v in report.verdicts if v.verdict == "fail"]


def test_sums_in_any_order_pass() -> None:
    """A recurrence whose sums over K run in an order that is drawn again at each token."""
    random = np.random.default_rng(0)

    def shuffled(
        q: Any, k: Any, v: Any, beta: Any, g: Any = None, initial_state: Any = None, scale: Any = 1
    ) -> Any:
        B, T, H, K = q.shape
        S = np.zeros((B, H, K, v.shape[3]), np.float32) if initial_state is None else initial_state.copy()
        o = np.zeros((B, T, H, v.shape[3]), np.float32)
        for t in range(T):
            if g is not None:
                S = S * np.exp(g[:, t])[:, :, None, None]
            for b in range(B):
                for h in range(H):
                    read = np.zeros(v.shape[3], np.float32)
                    for i in random.permutation(K):
                        read = read + k[b, t, h, i] * S[b, h, i]
                    S[b, h] += k[b, t, h][:, None] * (beta[b, t, h] * v[b, t, h] - beta[b, t, h] * read)
                    for i in random.permutation(K):
                        o[b, t, h] += scale * (q[b, t, h, i] * S[b, h, i])
        return o, S

    report = check_vectors(shuffled, framework="numpy")
    assert report.passed, [(v.family, v.first) for v in report.verdicts if v.verdict == "fail"]


def test_verdicts_name_formats_and_what_was_not_run() -> None:
    def bare(q: Any, k: Any, v: Any, beta: Any, scale: Any) -> Any:
        return plain_delta_rule(q, k, v, beta, scale=scale)

    contract = Contract(inputs="fp16", state="fp16", products="fp16", outputs="fp16")
    report = check_vectors(bare, "gated_delta_rule", contract=contract, framework="numpy")
    found = {v.family: v for v in report.verdicts}
    assert {v.formats for v in report.verdicts} == {
        "inputs, state, products, outputs fp16; beta, gates, sums fp32"
    }
    assert found["initial-state"].verdict == "not run"
    assert found["initial-state"].cause.startswith("the function has no parameter initial_state")
    assert found["gates"].cause.startswith("the function has no parameter g")
    assert found["range"].words == 1  # of the terms, for its states and outputs are beyond those of fp16
    assert found["state-fine"].words == 2  # of 9 bits
    assert report.as_dict()["verdicts"][0]["family"] == "integers"


def test_what_a_function_returns_is_looked_at() -> None:
    def without_state(q: Any, k: Any, v: Any, beta: Any, scale: Any) -> Any:
        return v, None

    def flat(q: Any, k: Any, v: Any, beta: Any, scale: Any) -> Any:
        return v[0], np.zeros((1, 1, 4, 3))

    def unwilling(q: Any, k: Any, v: Any, beta: Any, scale: Any) -> Any:
        raise NotImplementedError("not for words")

    def run(function: Any) -> Any:
        return check_vectors(function, "delta_rule", framework="numpy", families=["scale"]).verdicts[0]

    assert "it returns no final state" in run(without_state).first
    assert "outputs have shape [5, 1, 3] instead of [1, 5, 1, 3]" in run(flat).first
    assert (run(unwilling).verdict, run(unwilling).cause) == ("not run", "not for words")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"operator": "attention"}, "operator 'attention': it is one of delta_rule"),
        ({"contract": Contract(inputs="fp8")}, "inputs 'fp8': it is one of bf16"),
        ({"contract": Contract(state="tf32")}, "only products are rounded to it"),
        ({"contract": Contract(sums="bf16")}, "sums 'bf16'"),
        ({"families": ["nonsense"]}, "family 'nonsense': it is one of integers"),
        ({"framework": "jax"}, "framework 'jax': it is one of torch, numpy"),
        ({"framework": "numpy", "device": "cuda"}, "arrays of numpy are on the cpu"),
        ({"families": ["channel-gates"]}, "it has no words for delta_rule, which has those of integers"),
    ],
)
def test_unknown_names_are_refused(arguments: dict[str, Any], message: str) -> None:
    given = {"operator": "delta_rule", "framework": "numpy", **arguments}
    with pytest.raises(InputError, match=message.replace("^", "\\^")):
        check_vectors(plain_delta_rule, given.pop("operator"), **given)


def test_a_bound_is_kept_by_float32_and_not_by_less() -> None:
    """Logarithms whose exponentials are off by 2^-16 pass, by 2^-12 fail."""

    def off_by(error: float) -> Any:
        def run(q: Any, k: Any, v: Any, beta: Any, g: Any, initial_state: Any = None, scale: Any = 1) -> Any:
            other = np.where(g < 0, g + error, g).astype(np.float32)
            return plain_delta_rule(q, k, v, beta, other, initial_state, scale=scale)

        return check_vectors(run, framework="numpy", families=["gates"])

    assert off_by(2.0**-18).passed
    assert not off_by(2.0**-12).passed


def test_the_file_has_every_word_and_is_written_the_same_each_time(tmp_path: Path) -> None:
    first, second = tmp_path / "a.safetensors", tmp_path / "b.safetensors"
    assert write_vectors(first) == write_vectors(second) == len(all_words())
    assert first.read_bytes() == second.read_bytes()
    facts, arrays = read_vectors(first)
    assert [f"{x['family']} {x['name']}" for x in facts] == [shown(w) for w in all_words()]
    for word, fact in zip(all_words(), facts, strict=True):
        found = arrays[f"{word.family}/{word.name}"]
        answer = answer_of(word)
        assert np.array_equal(found["o"], in_float64(answer.o))  # float32 holds them
        assert np.array_equal(found["final_state"], in_float64(answer.finals))
        assert set(found) == set(arrays_of(word))
        assert fact["calls"][-1][1] == word.tokens
        if word.gate is not None:
            assert np.allclose(np.exp(found["g"]), found["a"], rtol=1e-15)
    with pytest.raises(InputError, match=r"give it this ending"):
        write_vectors(tmp_path / "a.npz")
    (tmp_path / "c.safetensors").write_bytes(b"nothing")
    with pytest.raises(InputError, match="no file of vectors"):
        read_vectors(tmp_path / "c.safetensors")


def test_the_file_suffices_to_test_a_function(tmp_path: Path) -> None:
    """As docs/vectors.md specifies it: with numpy and safetensors alone."""
    write_vectors(tmp_path / "v.safetensors")
    facts, arrays = read_vectors(tmp_path / "v.safetensors")
    ran = 0
    for fact in facts:
        if fact["operator"] not in ("delta_rule", "gated_delta_rule", "delta_product", "kda"):
            continue
        x = arrays[f"{fact['family']}/{fact['name']}"]
        finals: list[Any] = []
        for i, (start, end, after) in enumerate(fact["calls"]):
            rows = slice(start * fact["householders"], end * fact["householders"])
            g = None if "g" not in x else x["g"][:, start:end].astype(np.float32)
            o, S = plain_delta_rule(
                x["q"][:, start:end], x["k"][:, rows], x["v"][:, rows], x["beta"][:, rows], g,
                x.get("initial_state") if after < 0 else finals[after], x.get("cu_seqlens"), fact["scale"],
                fact["householders"],
            )  # fmt: skip
            finals.append(S.copy())
            bound = fact["bound with g"] * max(np.abs(x["o"]).max(initial=0), np.abs(x["final_state"]).max())
            assert np.abs(o - x["o"][:, start:end]).max(initial=0) <= bound
            assert np.abs(S - x["final_state"][i]).max() <= bound
            ran += 1
    assert ran > 90


def test_functions_are_loaded_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert load_function("mirrormata.kernels.vectors._plain:plain_delta_rule") is plain_delta_rule
    for name, message in (
        ("nonsense", "write module:function, or one of numpy/plain"),
        ("no_such_module_here:f", "no module no_such_module_here"),
        ("math:nothing", "math has no nothing"),
        ("math:pi", "pi is no function"),
    ):
        with pytest.raises(InputError, match=message):
            load_function(name)
    assert find_runner("nonsense") is None
    assert len({runner.name for runner in RUNNERS}) == len(RUNNERS)


@pytest.mark.parametrize(
    "name",
    [
        "numpy/plain", "mirrormata/rank_one_scan", "fla/naive_chunk_gated_delta_rule", "fla/naive_recurrent_kda",
        "fla/dplr_recurrence", "fla/naive_chunk_simple_gla", "transformers/qwen3_next/chunk",
        "transformers/kimi_linear/recurrent",
    ],
)  # fmt: skip
def test_public_implementations_pass(name: str) -> None:
    pytest.importorskip(name.partition("/")[0].replace("numpy", "mirrormata"))
    runner = find_runner(name)
    assert runner is not None
    for contract in runner.contracts:
        report = check_vectors(runner.load(), runner.operator, contract=contract, framework=runner.framework)
        assert report.passed, [(v.family, v.first) for v in report.verdicts if v.verdict == "fail"]


def test_padded_heads_give_the_same() -> None:
    runner = find_runner("mirrormata/torch/chunk")
    assert runner is not None
    report = check_vectors(padded(runner.load(), 64), "delta_product")
    assert report.passed, report.headline()
    assert {v.verdict for v in report.verdicts} == {"pass"}


def test_a_word_can_be_made_with_other_attributes() -> None:
    word = all_words()[0]
    other = replace(word, beta=None if word.beta is None else word.beta * 0)
    assert not answer_of(other).finals.any()
    assert exact_array([1]).dtype == object
