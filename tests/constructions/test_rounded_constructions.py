"""A construction's weights are rounded as the arithmetic's name says: the same verdict as its exported matrices, and the oracle's."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from mirrormata.constructions._construct import construct
from mirrormata.constructions._lrnn import LRNN
from mirrormata.tests.oracle.arithmetic import Arithmetic
from mirrormata.tests.oracle.certificate import read_certificate
from mirrormata.tests.oracle.search import Rounded, search
from mirrormata.theory._export import export_npz
from mirrormata.theory._horizon import full_certificate
from mirrormata.theory.impossibility._orbits import AffineModel
from mirrormata.theory.proofs._prove import prove


@pytest.mark.parametrize(
    ("name", "arithmetic", "length"),
    [
        ("mod:5", "per_step:fp8_e5m2:rz", 23),
        ("mod:5", "per_op:fp8_e5m2:rd", 12),
        ("mod:7", "per_step:fp8_e4m3:ru", None),
        ("mod:7", "per_op:fp8_e5m2:rd", 4),
        ("mod:7", "per_step:fp6_e3m2:tie_low", 28),
    ],
)
def test_weights_are_rounded_by_the_mode(
    name: str, arithmetic: str, length: int | None, tmp_path: Path
) -> None:
    lrnn = construct(name)
    assert isinstance(lrnn, LRNN)
    export_npz(lrnn, tmp_path / "model.npz")
    layer, machine = read_certificate(json.loads(json.dumps(full_certificate(lrnn))))
    rounded = Rounded(layer, Arithmetic(arithmetic))
    found = search(rounded, machine, 600)
    assert (None if found.word is None else len(found.word)) == length
    for model in (lrnn, tmp_path / "model.npz"):
        proof = prove(model, lrnn.automaton, arithmetic)
        assert proof.verdict == found.verdict
        assert (None if proof.word is None else len(proof.word)) == length
    affine = AffineModel.of_lrnn(lrnn, arithmetic)
    states = affine.initial(1)
    for (H,), _ in rounded.run([1] * 8):
        states = affine.step(states, np.array([1]))
        assert np.array_equal(states[0][0], np.array(H, dtype=np.float64))
