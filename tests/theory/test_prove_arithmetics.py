"""Certificates of kind `equivalent` in every deterministic arithmetic: the checker's own against the package's."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mirrormata.constructions._construct import construct
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.tests.theory.corruption import corrupted, leaves, replaced, value_at
from mirrormata.tests.theory.prove_models import Counter, flip_flop
from mirrormata.theory.arithmetic._arithmetic import PerOp, PerStep, parse_arithmetic
from mirrormata.theory.arithmetic._rounding import MODES
from mirrormata.theory.checker import equivalent
from mirrormata.theory.checker._arithmetic import Arithmetic
from mirrormata.theory.checker._exact import Invalid
from mirrormata.theory.proofs._prove import prove

VALUES = ["fp32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2", "fp6_e2m3", "fp4_e2m1", "int:-5..6", "fixed:6:2"]
NAMES = [f"{values}{'' if mode == 'rne' else ':' + mode}" for values in VALUES for mode in MODES]
NAMES += ["bf16:sat", "fp8_e5m2:ru:sat", "fp16:tie_low:sat", "fp64", "fp64:rd"]
NAMES += [f"-3/2,-1/4,0,1/8,1,4{mode}" for mode in ("", ":rz", ":ru", ":rd")]


def package(name: str) -> PerStep | PerOp:
    arithmetic = parse_arithmetic(name)
    assert isinstance(arithmetic, PerStep | PerOp)
    assert arithmetic.name == name
    return arithmetic


def check_number(name: str, x: Fraction) -> None:
    expected = float(package(name).round(np.array([x], dtype=object))[0])
    try:
        assert Arithmetic(name).round(x) == expected
    except Invalid:
        assert abs(expected) == np.inf


@pytest.mark.parametrize("name", NAMES)
def test_rounding_agrees(name: str) -> None:
    draw, step = random.Random(0), f"per_step:{name}"
    for _ in range(150):
        x = Fraction(draw.randint(-(2**12), 2**12), 2 ** draw.randint(0, 14)) * Fraction(2) ** draw.randint(
            -30, 30
        )
        for y in (x, x / 3, x + Fraction(1, 2**60)):
            check_number(step, y)
    for values in (448, 464, 465, 57344, 61440, 65504, 65519, 65520, 65521, 10**40, Fraction(1, 10**60)):
        for y in (Fraction(values), -Fraction(values)):
            check_number(step, y)


@pytest.mark.parametrize("order", ["", ":bias", ":tree", ":fma"])
@pytest.mark.parametrize("name", NAMES)
def test_every_order_agrees(name: str, order: str) -> None:
    kind, *rest = name.split(":") if name[:3] not in ("int", "fix") else [name]
    if len(kind.split(":")) > 1:
        width = 2 if name.startswith("int") else 3
        parts = name.split(":")
        kind, rest = ":".join(parts[:width]), parts[width:]
    arithmetic = package(":".join(["per_op", kind, *([order[1:]] if order else []), *rest]))
    checker = Arithmetic(arithmetic.name)
    draw = np.random.default_rng(1)
    for n in (1, 2, 3, 5):
        A, h, b = (
            arithmetic.round(draw.normal(size=size) * 2 * (draw.random(size) < 0.7))
            for size in ((n, n), (n, 1), (n, 1))
        )
        expected = arithmetic.affine(A, h, b)[:, 0]
        for i in range(n):
            terms = [(k, Fraction(A[i, k]), Fraction(h[k, 0])) for k in range(n) if A[i, k]]
            assert checker.operations(terms, Fraction(b[i, 0]), n) == expected[i]


@pytest.mark.parametrize(
    "name",
    [
        "per_step:bf16:rne", "per_op:bf16:left", "per_step:fp8_e4m3:sat", "per_step:int:-04..4", "per_step:int:1..4",
        "per_step:1,0", "per_step:1,2", "per_step:0,2/4", "per_step:-1,0,1:tie_low", "per_step:-1,0,1:rne", "cast:bf16",
        "kernel:recurrent:bf16", "per_step:bf16:tree", "per_op:bf16:rz:tree", "per_step", "per_step:float16", "", None,
        "per_step:0,1/0", "per_step:fixed:08:2", "per_step:bf16:", "exact:",
    ],
)  # fmt: skip
def test_other_names_are_refused(name: Any) -> None:
    with pytest.raises(Invalid):
        Arithmetic(name)


FLIP_FLOPS = [
    "per_step:bf16:rz", "per_step:bf16:ru", "per_step:bf16:rd", "per_step:bf16:tie_low", "per_step:fp16:sat",
    "per_step:bf16:rz:sat", "per_step:fp6_e2m3", "per_step:fp4_e2m1:tie_low", "per_step:fixed:8:5:rd",
    "per_op:bf16", "per_op:bf16:bias", "per_op:fp8_e4m3:tree:rz", "per_op:fp8_e5m2:fma:ru", "per_op:fixed:8:5:rd",
    "per_step:-1,-1/8,0,1/8,1/4,1/2,3/4,1:rz",
]  # fmt: skip


@pytest.mark.parametrize("arithmetic", FLIP_FLOPS)
@pytest.mark.parametrize("method", ["auto", "states"])
def test_flip_flops_that_contract(arithmetic: str, method: str) -> None:
    proof = prove(flip_flop(0.75), automaton_from_spec("flipflop"), arithmetic, method=method)
    assert proof.verdict == "equivalent"
    document = proof.certificate
    assert document is not None, proof.uncertified
    assert document["equivalence"]["arithmetic"] == arithmetic
    assert arithmetic in equivalent.check(document)


@pytest.mark.parametrize("mode", ["", ":tie_low", ":rz", ":ru", ":rd"])
def test_regions_in_every_mode(mode: str) -> None:
    proof = prove(flip_flop(15 / 16), automaton_from_spec("flipflop"), f"per_step:bf16{mode}")
    assert proof.method == "regions"
    assert proof.certificate is not None
    equivalent.check(proof.certificate)
    nearest = mode in ("", ":tie_low")
    radius = proof.certificate["equivalence"]["radius"]
    other = prove(flip_flop(15 / 16), automaton_from_spec("flipflop"), "per_step:bf16").certificate
    assert other is not None
    assert (radius == other["equivalence"]["radius"]) == nearest
    changed = replaced(proof.certificate, ("equivalence", "arithmetic"), "per_op:bf16")
    with pytest.raises(Invalid):
        equivalent.check(changed)


@pytest.mark.parametrize(
    ("spec", "arithmetic", "said"),
    [
        ("S3", "per_op:bf16", "codes"),
        ("S5", "per_op:fp16:tree:rz", "codes"),
        ("T3", "per_op:fp8_e5m2", "codes"),  # several layers
        ("T3", "per_step:bf16:ru:sat", "codes"),
        ("S3", "per_step:int:-4..4:rz", "per_step:int:-4..4:rz"),
        ("S3", "per_op:fp4_e2m1:fma", "per_op:fp4_e2m1:fma"),
        ("mod:5", "per_step:fp8_e4m3:ru", "per_step:fp8_e4m3:ru"),
        ("A5", "per_op:fp8_e4m3", None),
    ],
)
def test_constructions(spec: str, arithmetic: str, said: str | None) -> None:
    lrnn = construct(spec)
    proof = prove(lrnn, lrnn.automaton, arithmetic, max_states=20_000)
    if proof.verdict != "equivalent":
        assert said is None or spec == "mod:5"
        assert proof.uncertified
        return
    assert proof.certificate is not None, proof.uncertified
    assert proof.certificate["equivalence"].get("arithmetic", "codes") == said
    equivalent.check(proof.certificate)


@pytest.mark.parametrize("arithmetic", ["per_op:fp8_e4m3:tree:rz", "per_op:bf16"])
def test_every_leaf_of_the_proof(arithmetic: str) -> None:
    if arithmetic == "per_op:bf16":
        lrnn = construct("S3")
        right = prove(lrnn, lrnn.automaton, arithmetic).certificate
    else:
        right = prove(flip_flop(15 / 16), automaton_from_spec("flipflop"), arithmetic).certificate
    assert right is not None
    draw = random.Random(2)
    for path in leaves(right):
        if path[0] == "equivalence":
            for _ in range(30):
                with pytest.raises(Invalid):
                    equivalent.check(replaced(right, path, corrupted(value_at(right, path), draw)))


def test_another_arithmetic_is_refused_or_as_true() -> None:
    """Where another arithmetic rounds to the same numbers, what the certificate says of it is so too."""
    automaton = automaton_from_spec("flipflop")
    right = prove(flip_flop(15 / 16), automaton, "per_op:fp8_e4m3:tree:rz").certificate
    assert right is not None
    refused = 0
    for kind in ("per_step", "per_op", "per_op:bias", "per_op:fma"):
        for mode in MODES:
            head, *order = kind.split(":")
            name = ":".join([head, "fp8_e4m3", *order, *([] if mode == "rne" else [mode])])
            try:
                equivalent.check(replaced(right, ("equivalence", "arithmetic"), name))
            except Invalid:
                refused += 1
                continue
            found = prove(flip_flop(15 / 16), automaton, name, method="states")
            assert (found.verdict, found.states_explored) == ("equivalent", right["equivalence"]["states"])
    assert refused == 12


def test_why_there_is_no_certificate() -> None:
    parity = automaton_from_spec("parity")
    program = prove(Counter(2, 3, 0), parity, "int16")
    assert (program.certificate, program.verdict) == (None, "equivalent")
    assert "one layer of matrices" in str(program.uncertified)
    wrong = prove(Counter(2, 5, 1), parity, "int16")
    assert "replay" in str(wrong.uncertified)
    assert (wrong.to_json()["word"], wrong.to_json()["answered"], wrong.to_json()["right"]) == (
        ["1"] * 6,
        "1",
        "0",
    )
    stopped = prove(
        flip_flop(0.75), automaton_from_spec("flipflop"), "per_step:fp64", method="states", max_states=50
    )
    assert "all words" in str(stopped.uncertified)
