"""`prove`: equivalent, a shortest wrong word, or unknown; against searches in plain Python."""

from __future__ import annotations

from collections import deque
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mirrormata.constructions._construct import construct
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.foundation._errors import InputError
from mirrormata.tests.theory.prove_models import Counter, flip_flop, random_model, turns, with_beta
from mirrormata.theory._export import export_npz
from mirrormata.theory.arithmetic._arithmetic import parse_arithmetic
from mirrormata.theory.arithmetic._rounding import round_fraction
from mirrormata.theory.proofs import _linear as prove_linear
from mirrormata.theory.proofs._answers import answers_of
from mirrormata.theory.proofs._linear import CodeReader
from mirrormata.theory.proofs._npz_model import NpzModel, load_npz_model
from mirrormata.theory.proofs._prove import prove
from mirrormata.theory.running._run import track
from mirrormata.theory.running._stepper import LRNNStepper

INTEGER = ["S5", "flipflop", "mod:3", "S4", "tomita:4", "T3", "mod_arith:5"]


@pytest.mark.parametrize("spec", INTEGER)
@pytest.mark.parametrize("dtype", ["fp32", "bf16", "fp16"])
def test_integer_constructions(spec: str, dtype: str) -> None:
    lrnn = construct(spec, theorem="G.T4" if spec == "tomita:4" else None)
    proof = prove(lrnn, lrnn.automaton, f"per_step:{dtype}")
    assert (proof.verdict, proof.method) == ("equivalent", "codes")
    assert "codes to codes bit for bit" in proof.reason


@pytest.mark.parametrize("dtype", ["fp32", "bf16", "fp16"])
def test_rounded_rotations(dtype: str) -> None:
    lrnn = construct("A5")
    proof = prove(lrnn, lrnn.automaton, f"per_step:{dtype}")
    assert (proof.verdict, proof.method, proof.states_explored) == ("equivalent", "states", 108)


def test_shortest_failing_word_of_mod_60() -> None:
    lrnn = construct("mod:60")
    proof = prove(lrnn, lrnn.automaton, "per_step:bf16")
    assert proof.verdict == "counterexample"
    assert proof.word == (1,) * 248
    assert proof.correct_up_to == 247
    stepper = LRNNStepper(lrnn, "bf16")
    assert track(stepper, lrnn.automaton, [proof.word]).first_error == 248


@pytest.mark.parametrize("spec", ["S5", "S4[transpositions]", "mod:7", "Q8"])
@pytest.mark.parametrize(
    "arithmetic", ["per_step:fp16", "per_step:fp8_e5m2", "per_op:bf16", "per_step:bf16:rz"]
)
def test_search_alone_agrees(spec: str, arithmetic: str) -> None:
    lrnn = construct(spec)
    quick = prove(lrnn, lrnn.automaton, arithmetic, max_states=50_000)
    plain = prove(lrnn, lrnn.automaton, arithmetic, max_states=50_000, method="states")
    assert (quick.verdict, quick.word) == (plain.verdict, plain.word)
    if quick.method == "codes":
        assert plain.states_explored == len(lrnn.decode)


def test_cascade_states_are_searched() -> None:
    lrnn = construct("tomita:4", theorem="own.window")
    proof = prove(lrnn, lrnn.automaton, "per_step:bf16", method="states")
    assert (proof.verdict, proof.method) == ("equivalent", "states")


def test_perturbed_models_are_refuted() -> None:
    lrnn = construct("S5")
    for arithmetic in ("per_step:bf16", "per_step:fp32", "per_op:bf16", "exact"):
        proof = prove(with_beta(lrnn, 7, 2), lrnn.automaton, arithmetic)
        assert proof.verdict == "counterexample"
        assert proof.word is not None
        assert len(proof.word) <= 2
    slightly = with_beta(construct("parity"), 1, Fraction(63, 32))
    proof = prove(slightly, slightly.automaton, "per_step:bf16", method="states")
    assert proof.verdict in ("equivalent", "counterexample")


def oracle(model: NpzModel, automaton: Automaton, dtype: str, limit: int) -> tuple[str, int | None, int]:
    """Breadth first in plain Python with fractions: verdict, length of a shortest wrong word, states."""

    def rounded(values: Any) -> Any:
        return [[Fraction(round_fraction(x, dtype)) for x in row] for row in values]

    def exact(array: Any) -> Any:
        return [[Fraction(x) for x in row] for row in array.tolist()]

    A, B = ([rounded(exact(m)) for m in stack] for stack in (model.A, model.B))
    codes = [exact(c) for c in model.codes]
    first = rounded(exact(model.H0))

    def freeze(H: Any) -> tuple[Any, ...]:
        return tuple(map(tuple, H))

    numbers = list(dict.fromkeys(automaton.outputs.tolist()))
    seen = {(freeze(first), automaton.start)}
    queue = deque([(first, automaton.start, 0)])
    while queue:
        H, q, length = queue.popleft()
        for x in range(len(A)):
            n, d = len(H), len(H[0])
            after = rounded(
                [
                    [sum(A[x][i][k] * H[k][j] for k in range(n)) + B[x][i][j] for j in range(d)]
                    for i in range(n)
                ]
            )
            p = int(automaton.transitions[x, q])
            sizes = [
                sum((a - b) ** 2 for u, v in zip(after, code, strict=True) for a, b in zip(u, v, strict=True))
                for code in codes
            ]
            said = int(model.decode[sizes.index(min(sizes)), x])
            if numbers[said] != automaton.outputs[p]:
                return "counterexample", length + 1, len(seen)
            key = freeze(after), p
            if key not in seen:
                seen.add(key)
                queue.append((after, p, length + 1))
        if len(seen) > limit:
            return "unknown", None, len(seen)
    return "equivalent", None, len(seen)


@pytest.mark.parametrize("beta", [1.0, 15 / 16, 0.75, 0.625, 0.5, 0.4])
@pytest.mark.parametrize("dtype", ["bf16", "fp8_e4m3", "fp16"])
def test_flip_flops_against_the_oracle(beta: float, dtype: str) -> None:
    automaton = automaton_from_spec("flipflop")
    verdict, length, states = oracle(flip_flop(beta), automaton, dtype, 3_000)
    proof = prove(flip_flop(beta), automaton, f"per_step:{dtype}", method="states")
    if verdict == "unknown":
        assert proof.verdict in ("equivalent", "counterexample")
    else:
        assert proof.verdict == verdict
        assert (None if proof.word is None else len(proof.word)) == length
    if verdict == "equivalent":
        assert proof.states_explored == states
    quick = prove(flip_flop(beta), automaton, f"per_step:{dtype}")
    assert quick.verdict == proof.verdict


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), dtype=st.sampled_from(["bf16", "fp8_e5m2", "fp32"]))
def test_random_models_against_the_oracle(seed: int, dtype: str) -> None:
    automaton = automaton_from_spec("flipflop")
    model = random_model(seed, 3, 2)
    proof = prove(model, automaton, f"per_step:{dtype}", max_states=400)
    verdict, length, _ = oracle(model, automaton, dtype, 400)
    assert proof.verdict == verdict or "unknown" in (proof.verdict, verdict)
    if verdict == "counterexample" and proof.word is not None:
        assert len(proof.word) == length


def test_random_initialised_models_are_refuted() -> None:
    automaton = automaton_from_spec("S3")
    for seed in range(5):
        proof = prove(random_model(seed, 6, 6), automaton, "per_step:bf16")
        assert proof.verdict == "counterexample"


def test_contracting_models_in_exact_numbers() -> None:
    automaton = automaton_from_spec("flipflop")
    for beta in (15 / 16, 0.75, 1.0):
        proof = prove(flip_flop(beta), automaton, "exact")
        assert (proof.verdict, proof.method, proof.states_explored) == ("equivalent", "regions", 2)
    for arithmetic in ("exact", "per_step:fp64"):
        proof = prove(flip_flop(0.5), automaton, arithmetic)  # half-way: a tie, which goes to the first code
        assert proof.word == (2,)


def test_balls_that_meet_another_cell_prove_nothing() -> None:
    automaton = automaton_from_spec("flipflop")
    for arithmetic in (
        "per_step:bf16",
        "per_step:fp16",
    ):  # the radius would be .943, half the distance is .707
        proof = prove(flip_flop(0.6), automaton, arithmetic)
        assert (proof.verdict, proof.method) == ("equivalent", "states")


def test_regions_prove_what_cannot_be_listed() -> None:
    automaton = automaton_from_spec("flipflop")
    found = prove(flip_flop(0.75), automaton, "per_step:fp64", method="states", max_states=20_000)
    assert found.verdict == "unknown"
    assert found.correct_up_to is not None
    assert found.correct_up_to >= 5
    assert prove(flip_flop(0.75), automaton, "per_step:fp64").verdict == "equivalent"


def test_exact_numbers() -> None:
    lrnn = construct("A5")
    proof = prove(lrnn, lrnn.automaton, "exact")
    assert (proof.verdict, proof.method) == ("equivalent", "table")
    cascade = construct("T3")
    assert prove(cascade, cascade.automaton, "exact").verdict == "equivalent"


def test_any_stepper() -> None:
    parity = automaton_from_spec("parity")
    assert prove(Counter(2, 3, 0), parity, "int16").verdict == "equivalent"
    assert prove(Counter(2, 3, 0), parity, "int16").states_explored == 4
    wrong = prove(Counter(2, 5, 1), parity, "int16")
    assert wrong.word == (1,) * 6
    assert (wrong.answered, wrong.right, wrong.arithmetic) == ("1", "0", "int16")


def test_outputs_are_compared_where_states_differ() -> None:
    lrnn = construct("tomita:5")  # five more names for the same language
    minimal = automaton_from_spec("tomita:5", track="output")
    renamed = Automaton(
        tuple(f"s{i}" for i in range(len(minimal.states))), minimal.letters, minimal.transitions,
        minimal.start, minimal.outputs, "renamed",
    )  # fmt: skip
    proof = prove(lrnn, renamed, "per_step:bf16")
    assert (proof.verdict, proof.compares) == ("equivalent", "outputs")
    other = automaton_from_spec("tomita:6")
    assert prove(lrnn, other, "per_step:bf16").verdict == "counterexample"


def test_block_delays() -> None:
    from mirrormata.constructions.theorems.dp_t1 import block_delay

    form = block_delay(automaton_from_spec("S3[transpositions]"), 1)
    assert prove(form, form.automaton, "per_step:bf16").method == "delay"
    plain = prove(form, form.automaton, "per_step:bf16", method="states", max_states=30_000)
    assert plain.verdict in ("equivalent", "unknown")


@pytest.mark.parametrize("spec", ["S4", "mod:5", "flipflop"])
def test_exported_npz(spec: str, tmp_path: Path) -> None:
    lrnn = construct(spec)
    export_npz(lrnn, tmp_path / "m.npz")
    proof = prove(tmp_path / "m.npz", lrnn.automaton, "per_step:bf16")
    assert proof.verdict == prove(lrnn, lrnn.automaton, "per_step:bf16").verdict
    assert proof.compares == "outputs"


def test_wrong_npz(tmp_path: Path) -> None:
    path = tmp_path / "m.npz"
    with pytest.raises(InputError, match="no such file"):
        load_npz_model(path)
    path.write_text("no zip")
    with pytest.raises(InputError, match="nothing is unpickled"):
        load_npz_model(path)
    np.savez(path, A=np.zeros((2, 2, 2)))
    with pytest.raises(InputError, match="no array B, H0, codes, decode"):
        load_npz_model(path)
    model = flip_flop(0.5)
    arrays = {key: getattr(model, key) for key in ("A", "B", "H0", "codes", "decode")}
    np.savez(path, **{**arrays, "A": np.array([object()])}, allow_pickle=True)
    with pytest.raises(InputError, match="nothing is unpickled"):
        load_npz_model(path)
    np.savez(path, **{**arrays, "B": np.zeros((1, 2, 1)), "H0": np.full((2, 1), np.nan)})
    with pytest.raises(InputError, match=r"B has the shape \(1, 2, 1\), not \(3, 2, 1\)"):
        load_npz_model(path)
    with pytest.raises(InputError, match="has 3 letters, parity has 2"):
        prove(model, automaton_from_spec("parity"))


def test_wrong_use() -> None:
    lrnn = construct("parity")
    for arguments, text in [
        ((lrnn, lrnn.automaton, "cast:bf16"), "no state follows"),
        ((lrnn, lrnn.automaton, "per_step:bf17"), "bf17"),
        ((lrnn, automaton_from_spec("S3"), "exact"), "the same letters"),
        ((3, lrnn.automaton, "exact"), "type int"),
    ]:
        with pytest.raises(InputError, match=text):
            prove(*arguments)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_reader_is_the_exact_nearest_code(data: st.DataObject) -> None:
    numbers = st.sampled_from([0.0, 1.0, -1.0, 0.5, 1 + 2.0**-52, 3.0, 1e-160, -1e-160, 1e160])
    size = data.draw(st.integers(1, 2))
    vectors = st.lists(numbers, min_size=size, max_size=size)
    codes = data.draw(st.lists(vectors, min_size=1, max_size=5))
    states = data.draw(st.lists(vectors, min_size=1, max_size=6))
    answers = data.draw(st.lists(st.integers(0, 2), min_size=len(codes), max_size=len(codes)))
    reader = CodeReader(np.array(codes), np.array(answers)[:, None])
    right = []
    for state in states:
        sizes = [
            sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(state, code, strict=True)) for code in codes
        ]
        right.append(answers[sizes.index(min(sizes))])
    zeros = np.zeros(len(states), dtype=np.int64)
    assert reader.decode(np.array(states), zeros).tolist() == right
    for said in product(range(3), repeat=1):
        expected = np.full(len(states), said[0])
        wrong = [i for i, answer in enumerate(right) if answer != said[0]]
        assert reader.first_wrong(np.array(states), zeros, expected) == (wrong[0] if wrong else -1)


@pytest.mark.parametrize("dtype", ["bf16", "fp16", "fp32"])
def test_machine_steps_as_the_stepper(dtype: str) -> None:
    lrnn = construct("A5")
    answers = answers_of(lrnn.automaton, lrnn.automaton)
    machine = prove_linear.linear_machine(lrnn, parse_arithmetic(f"per_step:{dtype}"), answers)  # type: ignore[arg-type]
    stepper = LRNNStepper(lrnn, dtype)
    word = np.random.default_rng(3).integers(0, 60, size=50)
    row, states = machine.initial(), stepper.initial(1)
    for x in word.tolist():
        row, states = machine.step(row, x), stepper.step(states, [x])
        assert np.array_equal(machine.carrier.decode(row), states[0].reshape(1, -1))


def test_a_decode_beyond_the_outputs_is_refused() -> None:
    """It is a mistake of the file, and no answer of the model."""
    model = turns(4, [0, 1, 2, 9])
    with pytest.raises(InputError) as refused:
        prove(model, "mod:4", "per_step:bf16")
    assert str(refused.value) == (
        "turns: decode[3, 0] is 9 (one of 2 such entries), but mod:4 has 4 outputs: give an index from 0 to 3, or "
        "-1 for no output"
    )
    assert prove(turns(4, [0, 1, 2, -1]), "mod:4", "per_step:bf16").verdict == "counterexample"
