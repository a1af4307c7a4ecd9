"""Proofs by regions before the checker that is proved in Coq and the Python checker: the same verdict on certificates and corruptions."""

from __future__ import annotations

import itertools
import json
import random
import re
from functools import cache, partial
from typing import Any

import pytest

from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.tests.theory.prove_models import flip_flop
from mirrormata.theory._proved_check import find_proved_checker, run_proved_checker
from mirrormata.theory.arithmetic._arithmetic import parse_arithmetic
from mirrormata.theory.checker import equivalent
from mirrormata.theory.checker._regions import regions
from mirrormata.theory.proofs._certificate import model_document, regions_certificate
from mirrormata.theory.proofs._exact import exact_regions
from mirrormata.theory.proofs._machine import one_layer

from .both_checkers import judge_alike, python_verdict
from .test_coq_equivalent import compare_corruptions
from .test_regions import contracting

pytestmark = pytest.mark.skipif(
    find_proved_checker() is None, reason="mirrormata-check is not built: `make formal` builds it, with Coq"
)
ARITHMETICS = (
    "exact", "per_step:bf16", "per_step:fp16:rz", "per_step:fp8_e5m2:ru", "per_step:fp32:tie_low", "per_step:bf16:rd", "per_step:fp64",
    "per_step:fp8_e4m3", "per_step:bf16:sat",
)  # fmt: skip


@cache
def drawn() -> dict[str, tuple[dict[str, Any], bool]]:
    """Random layers of two letters that contract, with a proof by regions or without one; not to be changed."""
    found: dict[str, tuple[dict[str, Any], bool]] = {}
    for seed, arithmetic in itertools.product(range(40), ARITHMETICS):
        model, automaton = contracting(seed)
        parsed: Any = parse_arithmetic(arithmetic)
        answers = model.answers(automaton)
        try:
            machine = (
                exact_regions(model, answers) if arithmetic == "exact" else one_layer(model, answers, parsed)
            )
        except ValueError:  # numbers that the format does not have
            continue
        if machine is None:
            continue
        document: Any = regions_certificate(machine, parsed, f"drawn {seed}", 20_000)
        holds = document is not None
        if document is None:
            # radii are followed up to the largest one that is given
            said = {"arithmetic": arithmetic, "answers": answers.kind, "regions": 1, "radius": 2**9_000}
            stored: Any = model_document(machine, "drawn")
            document = {**stored, "kind": "equivalent", "equivalence": said}
        found[f"{seed} {arithmetic}"] = json.loads(json.dumps(document)), holds
    return found


def proofs() -> dict[str, dict[str, Any]]:
    """Those with a proof, and flip-flops that forget slowly."""
    found = {name: document for name, (document, holds) in drawn().items() if holds}
    for arithmetic in ("per_step:bf16:rz", "per_step:fp16"):
        model, automaton = flip_flop(15 / 16), automaton_from_spec("flipflop")
        parsed: Any = parse_arithmetic(arithmetic)
        machine = one_layer(model, model.answers(automaton), parsed)
        assert machine is not None
        document = regions_certificate(machine, parsed, "flip-flop", 20_000)
        assert document is not None
        found[f"flip-flop {arithmetic}"] = json.loads(json.dumps(document))
    return found


def test_both_checkers_say_the_same() -> None:
    found = proofs()
    assert {name.split()[1] for name in found} >= {
        "exact",
        "per_step:bf16",
        "per_step:fp16:rz",
        "per_step:fp8_e5m2:ru",
    }
    assert len(found) > 60
    for name, document in found.items():
        said = python_verdict(document)
        assert said[0], (name, said)
        assert run_proved_checker(document) == said, name


def test_layers_without_such_a_proof_are_refused_by_both(monkeypatch: pytest.MonkeyPatch) -> None:
    """Radii that do not settle soon are left out: both checkers grow them 2,000,000 times before they refuse."""
    judged, reasons = 0, set()
    monkeypatch.setattr(equivalent, "regions", partial(regions, limit=5_000))
    for name, (document, holds) in drawn().items():
        if holds or "do not settle" in python_verdict(document)[1]:
            continue
        assert not judge_alike(document, name)
        judged += 1
        reasons.add(re.sub("[0-9]+", "0", run_proved_checker(document)[1]))
    assert judged > 30
    assert len(reasons) > 2


def test_another_radius_or_number_of_regions_is_refused_by_both() -> None:
    for name, document in itertools.islice(proofs().items(), 0, None, 5):
        for key, change in itertools.product(("radius", "regions"), (-1, 1)):
            said = {**document["equivalence"], key: document["equivalence"][key] + change}
            assert not judge_alike({**document, "equivalence": said}, (name, key, change))


@pytest.mark.parametrize(
    "count",
    [300, pytest.param(1_000, marks=pytest.mark.long), pytest.param(5_000, marks=pytest.mark.exhaustive)],
)
def test_corruptions_are_judged_alike(count: int) -> None:
    compare_corruptions(count, proofs(), random.Random(f"regions {count}"))
