"""Certificates of impossibility: found by the package, replayed by the checker, and every change of a leaf noticed."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mirrormata.constructions._construct import construct
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.foundation._errors import InputError
from mirrormata.tests.theory.corruption import corrupted, leaves, replaced, structural, value_at
from mirrormata.theory.arithmetic._arithmetic import Cast
from mirrormata.theory.arithmetic._value_sets import value_set
from mirrormata.theory.checker import impossible
from mirrormata.theory.checker._exact import Invalid
from mirrormata.theory.checker._program import parse
from mirrormata.theory.impossibility._certificate import (
    certify_cast_impossibility,
    certify_impossibility,
    certify_parity_impossibility,
    impossibility_verdict,
    positive_delta_layer,
)
from mirrormata.theory.impossibility._orbits import AffineHead, AffineModel


def verdict(document: Any) -> str:
    try:
        return "valid: " + impossible.check(parse(json.dumps(document)))
    except Invalid as reason:
        return f"invalid: {reason}"
    except (TypeError, ValueError) as reason:  # what JSON cannot hold
        return f"invalid: {reason}"


def positive_layer(letters: int, arithmetic: str, seed: int, heads: int = 1) -> AffineModel:
    """Random DeltaNet[0,1] letters of dimension 2, two values each, exact in their own arithmetic's weights."""
    draw = random.Random(seed)
    made = []
    for _ in range(heads):
        A, B = [], []
        for _ in range(letters):
            k = [Fraction(draw.randint(-45, 45), 64) for _ in range(2)]
            v = [draw.randint(-3, 3) for _ in range(2)]
            A.append([[Fraction(int(i == j)) - k[i] * k[j] for j in range(2)] for i in range(2)])
            B.append([[x * y for y in v] for x in k])
        made.append(AffineHead(np.array(A, dtype=object), np.array(B, dtype=object), np.ones((2, 2))))
    return AffineModel(made, arithmetic, f"random layer {seed}")


def documents() -> list[tuple[str, dict[str, Any]]]:
    parity, mod3 = automaton_from_spec("parity"), automaton_from_spec("mod:3")
    two = positive_layer(2, "per_step:fp8_e4m3:rz", 3, heads=2)
    ring = AffineHead(np.array([[[1.0]], [[-1.0]]]), None, np.array([[1.0]]))
    half = AffineHead(
        np.array([[[1]], [[Fraction(1, 2)]]], dtype=object),
        np.array([[[0]], [[Fraction(1, 3)]]], dtype=object),
        np.array([[5]], dtype=object),
    )
    found = [
        ("parity", certify_parity_impossibility()),
        ("two heads, loop of two letters", certify_impossibility(two, parity, [1, 0, 0], [0, 1])),
        ("mod 3 by a sign", certify_impossibility(AffineModel([ring], "per_step:int:-2..2"), mod3, [1])),
        (
            "fixed point",
            certify_impossibility(positive_layer(2, "per_step:fixed:8:3:tie_low", 5), mod3, [1, 1]),
        ),
        ("cast", certify_cast_impossibility([half], Cast(value_set("fp8_e5m2")), parity)),
        (
            "tomita 5",
            certify_impossibility(
                positive_layer(2, "per_step:fp8_e5m2", 8), automaton_from_spec("tomita:5"), [1, 0]
            ),
        ),
    ]
    assert all(document is not None for _, document in found)
    return [(name, document) for name, document in found if document is not None]


DOCUMENTS = dict(documents())


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_checker_agrees(name: str) -> None:
    assert verdict(DOCUMENTS[name]).startswith("valid: "), verdict(DOCUMENTS[name])


@pytest.mark.parametrize("name", DOCUMENTS)
def test_any_leaf_changed_is_noticed(name: str) -> None:
    document, draw = DOCUMENTS[name], random.Random(0)
    places = leaves(document)
    for path in [draw.choice(places) for _ in range(200 if len(places) < 200 else 100)]:
        changed = replaced(document, path, corrupted(value_at(document, path), draw))
        assert verdict(changed).startswith("invalid: "), (path, value_at(changed, path))


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.long) if n.startswith("two heads") else n for n in DOCUMENTS]
)
def test_any_structure_changed_is_noticed(name: str) -> None:
    for what, path, changed in structural(DOCUMENTS[name]):
        assert verdict(changed).startswith("invalid: "), (what, path)


def test_parity_certificate() -> None:
    document = certify_parity_impossibility()
    assert document["arithmetic"] == "per_step:bf16"
    words = document["words"]
    assert words["prefix"] == [] == words["suffix"]
    assert words["loop"] == [1]
    assert words["j"] == words["i"] + 1  # 1^k and 1^(k+1)
    head = positive_delta_layer().heads[0]
    (a, b), (c, d) = head.A[1]
    assert b == c
    assert a + d < 2  # I - β k kᵀ: eigenvalues 1 and a + d - 1 = 1 - β‖k‖²
    assert 1 >= a + d - 1 >= 0
    assert (a - 1) * (d - 1) == b * b


def test_alone_and_by_the_package(tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    file.write_text(json.dumps(certify_parity_impossibility()))
    checker = Path(impossible.__file__)
    done = subprocess.run([sys.executable, "-I", checker, file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("valid: ")
    file.write_text(json.dumps({**certify_parity_impossibility(), "arithmetic": "per_step:fp16"}))
    done = subprocess.run([sys.executable, "-I", checker, file], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout[:9]) == (1, "invalid: ")


@pytest.mark.parametrize("spec", ["parity", "mod:3", "mod:5"])
@pytest.mark.parametrize("seed", range(6))
def test_random_positive_layers(spec: str, seed: int) -> None:
    """Two ways of finding the pair, and the replay, on random layers; some are found by the first words alone."""
    rounding = ["bf16", "fp8_e4m3:tie_low", "fp8_e5m2:rd", "int:-9..9", "fixed:9:4:ru", "fp4_e2m1"][seed]
    document = certify_impossibility(
        positive_layer(2, f"per_step:{rounding}", seed), automaton_from_spec(spec)
    )
    assert document is not None
    assert verdict(document).startswith("valid: "), verdict(document)


def test_what_does_count_has_no_certificate() -> None:
    parity = automaton_from_spec("parity")
    model = AffineModel.of_lrnn(construct(parity), "per_step:bf16")
    assert certify_impossibility(model, parity) is None
    assert impossibility_verdict(model, parity).status == "unknown"
    refuted = impossibility_verdict(positive_delta_layer(), parity)
    assert (refuted.status, refuted.arithmetic) == ("refuted", "per_step:bf16")
    assert refuted.to_json()["evidence"]["witness"]["loop"] == [1]
    flip = AffineHead(
        np.array([[[1]], [[Fraction(-1, 1)]]], dtype=object), None, np.array([[1]], dtype=object)
    )
    assert certify_cast_impossibility([flip], Cast(value_set("bf16")), parity, max_length=60) is None


def test_verdicts_are_no_bools_and_need_their_evidence() -> None:
    from mirrormata.theory._verdict import Verdict

    good = Verdict("PT.R1", "exhaustive", {"cases": 9, "set": "int:0..1", "x": Fraction(1, 3)}, "exact")
    assert good.to_json()["evidence"] == {"cases": 9, "set": "int:0..1", "x": "1/3"}
    assert ("claim", "PT.R1") in good.rows()
    assert "PT.R1" in good._repr_html_()
    with pytest.raises(TypeError, match="status"):
        assert good
    for status, evidence, reason in (
        ("refuted", {}, "witness"),
        ("exhaustive", {"cases": 3}, "set"),
        ("exhaustive", {"cases": 0, "set": "none"}, "at least one case"),
        ("supported", {"instances": 3}, "seed"),
        ("cited", {}, "source"),
        ("holds", {}, "status 'holds' is not one of"),
        ("instances", {"instances": 3, "seed": 0}, "status"),
    ):
        with pytest.raises(ValueError, match=reason):
            Verdict("x", status, evidence, "exact")  # type: ignore[arg-type]


def test_wrong_input() -> None:
    with pytest.raises(InputError, match="letters"):
        certify_impossibility(positive_layer(3, "per_step:bf16", 0), automaton_from_spec("parity"))
    model = AffineModel(positive_layer(2, "per_step:bf16", 0).heads, "per_op:bf16")
    with pytest.raises(InputError, match="per_step"):
        certify_impossibility(model, automaton_from_spec("parity"))
