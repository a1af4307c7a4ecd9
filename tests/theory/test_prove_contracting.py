"""A contracting layer that no one-vector encoding has: `contains a then b`, proved from Python and the command line."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mirrormata.cli import main
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.theory._check import check
from mirrormata.theory.proofs._npz_model import NpzModel, npz_model
from mirrormata.theory.proofs._prove import prove

SPEC = "regex:(a|b)*a(a|b)*b(a|b)*"


def a_then_b(beta: float = 0.5, codes: int = 6) -> NpzModel:
    """a: v = (1, -1), β; b: v = (0, 1), β = 1; H_0 = (1, 0), nothing added (own.LMI). Codes: 1, 1/2, and what decays."""
    a = np.eye(2) - beta * np.array([[1, -1], [-1, 1]])
    b = np.array([[1.0, 0.0], [0.0, 0.0]])
    points = [(1, 0), (0.5, 0.5), (0.5, 0), (0, 0), (0.25, 0.25), (0.25, 0)][:codes]
    return npz_model(arrays(np.stack([a, b]), points), "a then b")


def arrays(A: Any, points: list[tuple[float, float]]) -> dict[str, Any]:
    return {
        "A": A,
        "B": np.zeros((2, 2, 1)),
        "H0": np.array([[1.0], [0.0]]),
        "codes": np.array(points)[..., None],
        "decode": np.repeat([[0], [0], [1], [1], [1], [1]][: len(points)], 2, axis=1),
    }


def automaton() -> Automaton:
    return automaton_from_spec(SPEC, alphabet="ab")


def test_all_words_to_length_ten() -> None:
    model = a_then_b()
    for length in range(1, 11):
        for word in product((0, 1), repeat=length):
            h = np.array([1.0, 0.0])
            for x in word:
                h = model.A[x] @ h
            said = h.sum() <= 0.5  # state 2 of theory is x + y ≤ 1/2
            assert said == ("01" in "".join(map(str, word)))


@pytest.mark.parametrize(
    ("arithmetic", "method"),
    [
        ("exact", "regions"),
        ("per_step:bf16", "states"),
        ("per_step:fp16:rz", "states"),
        ("per_step:fp32", "states"),
        ("per_op:bf16", "states"),
    ],
)
def test_proved_with_a_certificate(arithmetic: str, method: str) -> None:
    proof = prove(a_then_b(), automaton(), arithmetic)
    assert (proof.verdict, proof.method) == ("equivalent", method)
    assert proof.certificate is not None, proof.uncertified
    assert check(proof.certificate).verdict == "valid"


def test_the_same_layer_with_other_numbers_is_refuted() -> None:
    assert prove(a_then_b(beta=0.25), automaton(), "exact", max_states=2_000).verdict == "counterexample"
    assert prove(a_then_b(codes=2), automaton(), "exact", max_states=2_000).word == (0, 1)


def test_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, proof = tmp_path / "layer.npz", tmp_path / "proof.json"
    made = a_then_b()
    np.savez(model, **{key: getattr(made, key) for key in ("A", "B", "H0", "codes", "decode")})
    arguments = ["prove", str(model), SPEC, "--alphabet", "ab", "--json", "-o", str(proof)]
    assert run(*arguments, "--arithmetic", "exact") == 0
    assert json.loads(capsys.readouterr().out)["method"] == "regions"
    assert run("check", str(proof)) == 0
    assert capsys.readouterr().out.startswith("valid: ")
    wrong = a_then_b(beta=0.25)
    np.savez(model, **{key: getattr(wrong, key) for key in ("A", "B", "H0", "codes", "decode")})
    proof.unlink()
    assert run(*arguments, "--arithmetic", "per_step:bf16") == 1
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert found["verdict"] == "counterexample"
    assert found["word"]
    assert found["answered"] != found["right"]
    assert said.err.splitlines() == [f"no certificate written to {proof}: a wrong word needs none: replay it"]
    assert not proof.exists()


def run(*arguments: str) -> Any:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return ended.value.code
