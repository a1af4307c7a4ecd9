"""Certificates of kind `equivalent`: valid as they are, and every change is noticed or leaves a true claim."""

from __future__ import annotations

import random
import subprocess
import sys
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mirrormata
from mirrormata.constructions._construct import construct
from mirrormata.constructions._document import write_certificate
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.automata._completing import object_array
from mirrormata.constructions.certificates._table import certificate, lrnn_from_certificate
from mirrormata.tests.theory.corruption import corrupted, leaves, replaced, structural, value_at
from mirrormata.tests.theory.prove_models import flip_flop
from mirrormata.theory.checker import equivalent
from mirrormata.theory.checker._exact import Invalid
from mirrormata.theory.proofs._npz_model import npz_model
from mirrormata.theory.proofs._prove import prove

CHECKER = Path(mirrormata.__file__).parent / "theory" / "checker" / "equivalent.py"
NAMES = ["codes", "cascade", "states", "regions", "exact regions"]


@cache
def document(name: str) -> Any:
    if name in ("codes", "cascade"):
        lrnn = construct({"codes": "S3", "cascade": "T3"}[name])
        return prove(lrnn, lrnn.automaton, "per_step:bf16").certificate
    if name == "states":
        lrnn = construct("mod:5")
        return prove(lrnn, lrnn.automaton, "per_step:fp8_e4m3").certificate
    arithmetic = "exact" if name == "exact regions" else "per_step:bf16"
    return prove(flip_flop(15 / 16), automaton_from_spec("flipflop"), arithmetic).certificate


def reason(changed: Any) -> str | None:
    """Why the checker refuses; None where it does not. Any exception but `Invalid` fails the test."""
    try:
        equivalent.check(changed)
    except Invalid as invalid:
        return str(invalid)
    return None


@pytest.mark.parametrize("name", NAMES)
def test_valid(name: str, tmp_path: Path) -> None:
    path = tmp_path / "proof.json"
    write_certificate(document(name), path)
    ran = subprocess.run(
        [sys.executable, "-I", str(CHECKER), str(path)], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout[:7]) == (0, "valid: "), ran.stdout + ran.stderr
    assert "equal on all words" in ran.stdout


def remains_true(changed: Any) -> bool:
    """Whether what a changed certificate says of its own model is so, by the search or exact numbers."""
    table, model = changed["automaton"], changed["model"]
    said, (head,) = changed["equivalence"], model["heads"]

    def number(values: Any) -> Any:
        return np.vectorize(lambda x: float(Fraction(x)))(np.array(values, dtype=object))

    count = table["states"]
    outputs = object_array(range(count) if said["answers"] == "states" else table["outputs"])
    automaton = Automaton(
        tuple(range(count)),
        tuple(range(table["letters"])),
        np.array(table["transitions"]),
        table["start"],
        outputs,
    )
    H0 = number(head["H0"])
    arrays = {
        "A": number(head["A"]), "B": number(head["B"]), "H0": H0,
        "codes": number(model["codes"]).reshape(-1, *H0.shape), "decode": np.array(model["decode"]),
    }  # fmt: skip
    found = prove(npz_model(arrays), automaton, said["arithmetic"], method="states", max_states=3_000)
    return found.verdict != "counterexample"


@pytest.mark.parametrize("name", NAMES)
def test_every_change_is_noticed_or_true(name: str) -> None:
    right, draw = document(name), random.Random(0)
    places = leaves(right)
    unnoticed = 0
    for _ in range(200):
        path = draw.choice(places)
        changed = replaced(right, path, corrupted(value_at(right, path), draw))
        if reason(changed) is None:
            unnoticed += 1
            # the model's numbers are what the claim is about: another model may be equivalent as well
            assert path[0] in ("model", "automaton"), path
            assert "model" in right
            assert remains_true(changed), path
    assert unnoticed < 60


@pytest.mark.parametrize("name", NAMES)
def test_the_proof_itself_has_one_form(name: str) -> None:
    right, draw = document(name), random.Random(1)
    for path in leaves(right):
        if path[0] == "equivalence":
            for _ in range(40):
                changed = replaced(right, path, corrupted(value_at(right, path), draw))
                assert reason(changed) is not None, path
    for what, path, changed in structural(right):
        if path[:1] != ("model",) and path[:1] != ("automaton",):
            assert reason(changed) is not None, (what, path)


def test_a_read_certificate_against_the_spec_is_certified() -> None:
    read = lrnn_from_certificate(certificate(construct("S3")))  # labels and outputs are texts in it
    proof = prove(read, automaton_from_spec("S3"), "per_step:bf16")
    assert reason(proof.certificate) is None


def test_other_arithmetics_are_refused() -> None:
    states = document("states")
    for other in ("per_step:bf16", "per_step:fp32", "exact", "per_op:fp8_e4m3", "per_step:fp16:rz"):
        assert reason(replaced(states, ("equivalence", "arithmetic"), other)) is not None
    assert reason(replaced(document("codes"), ("equivalence", "per_step"), ["bf16"])) is not None


def test_a_wrong_model_has_no_certificate() -> None:
    proof = prove(flip_flop(0.5), automaton_from_spec("flipflop"), "exact")
    assert proof.certificate is None
    changed = replaced(document("regions"), ("model", "heads", 0, "A", 1, 0, 0), "1/2")
    assert reason(changed) is not None
    first = replaced(document("regions"), ("model", "heads", 0, "A", 0, 0, 0), "257/256")
    assert "not a number of per_step:bf16" in str(reason(first))


def test_spectral_norm_is_the_least_upper_bound() -> None:
    from mirrormata.theory.checker._budget import Budget
    from mirrormata.theory.checker._regions import NORM_GRID, dominates

    draw = np.random.default_rng(5)
    for _ in range(30):
        A = draw.integers(-4, 5, size=(3, 3))
        gram = (A.T @ A).tolist()
        norm = np.linalg.norm(A, 2)
        assert dominates(int(np.ceil((norm + 1e-9) * NORM_GRID)), gram, Budget({}))
        if norm > 0:
            assert not dominates(int(np.floor((norm - 1e-9) * NORM_GRID)), gram, Budget({}))


@pytest.mark.long
@pytest.mark.parametrize("dtype", ["fp32", "bf16", "fp16"])
def test_icosahedral_rotations(dtype: str) -> None:
    lrnn = construct("A5")
    proof = prove(lrnn, lrnn.automaton, f"per_step:{dtype}")
    assert reason(proof.certificate) is None
