"""The checker of layers with rounding that is proved in Coq, against the Python checker: the same verdict on certificates and
corruptions, and the same rounding of single numbers."""

from __future__ import annotations

import copy
import itertools
import json
import random
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from mirrormata.constructions._construct import construct
from mirrormata.foundation._errors import InputError
from mirrormata.theory._proved_check import find_proved_checker, run_proved_checker
from mirrormata.theory.checker._arithmetic import FORMATS, ORDERS, SATURATING, WHOLE, Arithmetic
from mirrormata.theory.checker._exact import Invalid
from mirrormata.theory.proofs._prove import prove

from .both_checkers import judge_alike, python_verdict
from .corruption import corrupted, leaves, replaced, structural, value_at

pytestmark = pytest.mark.skipif(
    find_proved_checker() is None, reason="mirrormata-check is not built: `make formal` builds it, with Coq"
)
ARITHMETICS = (
    "per_step:bf16", "per_step:fp16", "per_step:fp8_e4m3", "per_step:fp8_e5m2:rz", "per_step:fp6_e2m3", "per_step:fixed:12:8",
    "per_step:fixed:10:6:ru", "per_step:bf16:tie_low", "per_op:bf16", "per_op:fp16:tree", "per_op:bf16:fma", "per_op:bf16:bias",
    "per_op:fp8_e4m3:rd", "per_op:fp16:bias:rz", "per_op:fixed:12:8:tree", "per_op:fp16:tree:ru", "per_op:fp32",
)  # fmt: skip
SPECS = ("mod:3", "mod:5", "S3", "mod:8", "tomita:4", "random:states=4,letters=2,seed=1")


@cache
def certificates() -> dict[str, dict[str, Any]]:
    """Proofs that list the states, by automaton and arithmetic; not to be changed."""
    found = {}
    for spec, arithmetic in itertools.product(SPECS, ARITHMETICS):
        model = construct(spec, exactness="any")
        try:
            proof = prove(model, model.automaton, arithmetic, method="states", max_states=400)
        except InputError:  # grids take numbers that fp64 has
            continue
        document = json.loads(json.dumps(proof.certificate)) if proof.certificate is not None else {}
        if "states" in document.get("equivalence", ()):
            found[f"{spec} {arithmetic}"] = document
    return found


TABLES: tuple[tuple[str, str | None], ...] = (
    ("parity", None), ("S3", None), ("mod:3", None), ("mod:32", "own.T2tight"), ("flipflop", None), ("dn:3", None), ("Q8", None),
    ("boxes:5,4", None), ("A4", "G.A3"), ("gridworld:3", None), ("S4", None), ("dyck1:3", "own.serial"),
)  # fmt: skip


@cache
def tables() -> dict[str, dict[str, Any]]:
    """Proofs by a table whose numbers are never rounded, by automaton; not to be changed."""
    found = {}
    for spec, theorem in TABLES:
        model = construct(spec, theorem=theorem)
        proof = prove(model, model.automaton, "per_step:bf16")
        document = json.loads(json.dumps(proof.certificate)) if proof.certificate is not None else {}
        if "layers" in document and "covering" not in document:
            found[spec] = document
    return found


def test_both_checkers_say_the_same() -> None:
    assert len(certificates()) > 20
    said_of = {document["equivalence"]["arithmetic"] for document in certificates().values()}
    assert {order for order in ORDERS if any(f":{order}" in name for name in said_of)} == set(ORDERS)
    assert len(tables()) > 8
    for name, document in (certificates() | tables()).items():
        said = python_verdict(document)
        assert said[0], (name, said)
        assert run_proved_checker(document) == said, name


@pytest.mark.parametrize("count", [300, pytest.param(5_000, marks=pytest.mark.long)])
def test_corruptions_are_judged_alike(count: int) -> None:
    """One leaf changed, or an entry left out, repeated or moved; a third of the time only what is said of the proof."""
    draw = random.Random(count)
    small = {name: d for name, d in (certificates() | tables()).items() if len(json.dumps(d)) < 30_000}
    found = {name: leaves(document) for name, document in small.items()}
    judged = {True: 0, False: 0, None: 0}
    for _ in range(count):
        name = draw.choice(list(small))
        right = small[name]
        if draw.random() < 0.7:
            chosen = [leaf for leaf in found[name] if leaf != ("kind",)]
            if draw.random() < 0.4:
                chosen = [leaf for leaf in chosen if leaf[0] != "model"]
            path = draw.choice(chosen)
            changed = replaced(right, path, corrupted(value_at(right, path), draw))
        else:
            part = draw.choice(
                ["automaton", "equivalence", *(["model"] if "model" in right else ["layers", "decode"])]
            )
            changes = list(itertools.islice(structural(right[part]), 200))
            what, inner, other = draw.choice(changes or [("nothing left", (), {})])
            path, changed = (part, what, *inner), {**right, part: other}
        judged[judge_known(changed, (name, path))] += 1
    assert judged[False] > count * 8 // 10
    assert judged[None] < count // 50


def scaled(document: dict[str, Any], factor: int) -> dict[str, Any]:
    """All additive terms and codes times a factor: the same automaton, until the sums leave a format."""
    other = copy.deepcopy(document)
    for layer in other["layers"]:
        for head in layer["heads"]:
            for code in (*head["codes"], *(t.get("additive", []) for t in head["transitions"])):
                for entry in code:
                    entry[2] *= factor
    return other


def test_tables_are_judged_alike_at_the_limits_of_formats() -> None:
    """Large numbers, with what is said of the formats right or not."""
    formats = ["fp64", "fp32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2"]
    accepted = 0
    for spec in ("flipflop", "dn:3"):
        for factor in (
            1,
            3,
            7,
            16,
            17,
            255,
            256,
            257,
            448,
            449,
            2_048,
            65_504,
            65_505,
            2**24,
            2**24 + 1,
            2**53,
            2**54 + 2,
        ):
            changed = scaled(tables()[spec], factor)
            for step, operation in itertools.product(range(7), repeat=2):
                said = {"per_step": formats[:step], "per_op": formats[:operation]}
                accepted += judge_known({**changed, "equivalence": said}, (spec, factor, said)) is True
    assert accepted > 0


def judge_known(changed: dict[str, Any], where: object) -> bool | None:
    """What both say; None where the proved checker does not know this form."""
    try:
        return judge_alike(changed, where)
    except InputError as unknown:
        if "no proved checker for" not in str(unknown):
            raise
        return None


def sum_of_products(arithmetic: str, draw: random.Random) -> dict[str, Any] | None:
    """The certificate of a layer that takes (r, u, v, w) to (a u + b v + c w + d, u, v, w), where r is what Python computes.

    None where a number overflows.
    """
    numbers = Arithmetic(arithmetic)

    def random_number() -> Fraction:
        size = Fraction(draw.randrange(-300, 300), 2 ** draw.randrange(10))
        return numbers.round(size * Fraction(2) ** draw.choice([0, 0, 0, 0, 5, -8, -20]))

    try:
        a, b, c, d, u, v, w = (random_number() for _ in range(7))
        terms = [(k, x, h) for k, x, h in ((1, a, u), (2, b, v), (3, c, w)) if x]
        r = numbers.affine(terms, d, 4)
    except Invalid:
        return None

    def shown(*values: Fraction) -> list[Any]:
        return [int(x) if x.denominator == 1 else str(x) for x in values]

    zero = Fraction(0)
    states = {(zero, u, v, w), (r, u, v, w)}
    return {
        "format": "mirrormata-certificate/1",
        "kind": "equivalent",
        "labels": {
            "automaton": "one state", "construction": "", "theorem": "", "states": ["q"], "letters": ["x"], "outputs": ["yes"],
        },
        "automaton": {"states": 1, "letters": 1, "start": 0, "transitions": [[0]], "outputs": [0]},
        "model": {
            "heads": [{
                "A": [[shown(zero, a, b, c), [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]],
                "B": [[shown(d), [0], [0], [0]]],
                "H0": [[x] for x in shown(zero, u, v, w)],
            }],
            "codes": [shown(r, u, v, w)],
            "decode": [[0]],
        },
        "equivalence": {
            "arithmetic": arithmetic, "answers": "states", "states": len(states), "greatest": shown(*max(states)),
        },
    }  # fmt: skip


VALUES = (*FORMATS, "fixed:8:4", "fixed:20:10", "int:-7..9", "int:-300..300")


@pytest.mark.parametrize("count", [3, pytest.param(40, marks=pytest.mark.long)])
@pytest.mark.parametrize("values", VALUES)
def test_sums_are_rounded_alike(values: str, count: int) -> None:
    """In each mode and order; and a state that differs in one number is refused."""
    draw = random.Random(f"{values} {count}")
    judged = 0
    for mode, order in itertools.product(WHOLE, ("per_step", "left", *ORDERS)):
        kind = "per_step" if order == "per_step" else "per_op"
        parts = [kind, values, *([order] if order in ORDERS else []), *([mode] if mode != "rne" else [])]
        saturates = values in FORMATS and values not in SATURATING
        for _ in range(count):
            name = ":".join([*parts, *(["sat"] if saturates and draw.random() < 0.3 else [])])
            document = sum_of_products(name, draw)
            if document is None:
                continue
            said = python_verdict(document)
            assert said[0], (name, said)
            assert run_proved_checker(document) == said, name
            where = ("model", "heads", 0, "B", 0, 0, 0)
            judge_known(replaced(document, where, corrupted(value_at(document, where), draw)), name)
            judged += 1
    assert judged > 10 * count
