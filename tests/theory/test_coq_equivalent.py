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
from mirrormata.theory.checker.equivalent import exact_dtypes, integer_dtypes
from mirrormata.theory.checker.table import FORMATS as REACH
from mirrormata.theory.checker.table import check_table
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
CASCADES = (
    "T3",
    "tomita:2",
    "tomita:3",
    "tomita:7",
    "gridworld:3",
    "dyck1:3",
    "random:states=5,letters=2,seed=3",
)


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


@cache
def cascades() -> dict[str, dict[str, Any]]:
    """Proofs by a table with a covering whose numbers are never rounded, by automaton; not to be changed."""
    found = {}
    for spec in CASCADES:
        model = construct(spec, theorem="G.T4")
        proof = prove(model, model.automaton, "per_step:bf16")
        assert proof.certificate is not None
        found[f"{spec} G.T4"] = json.loads(json.dumps(proof.certificate))
    return found


def test_both_checkers_say_the_same() -> None:
    assert len(certificates()) > 20
    said_of = {document["equivalence"]["arithmetic"] for document in certificates().values()}
    assert {order for order in ORDERS if any(f":{order}" in name for name in said_of)} == set(ORDERS)
    assert len(tables()) > 8
    assert all("covering" in document for document in cascades().values())
    for name, document in (certificates() | tables() | cascades()).items():
        said = python_verdict(document)
        assert said[0], (name, said)
        assert run_proved_checker(document) == said, name


def test_states_without_numbers_have_no_largest_one() -> None:
    model = {"heads": [{"A": [[[1]]], "B": [[[]]], "H0": [[]]}], "codes": [[]], "decode": [[0]]}
    document = {
        "format": "mirrormata-certificate/1",
        "kind": "equivalent",
        "labels": {
            "automaton": "x",
            "construction": "x",
            "theorem": "x",
            "states": ["q"],
            "letters": ["a"],
            "outputs": ["o"],
        },
        "automaton": {"states": 1, "letters": 1, "start": 0, "transitions": [[0]], "outputs": [0]},
        "model": model,
        "equivalence": {"arithmetic": "per_step:bf16", "answers": "states", "states": 1, "greatest": []},
    }
    assert judge_alike(document, "no columns")


def test_a_sign_is_no_digit() -> None:
    """An integer may have 4,300 digits, and a sign."""
    document = json.loads(json.dumps(construct("parity").certificate()))
    place = next(path for path in leaves(document) if value_at(document, path) == -1)
    changed = replaced(document, place, -(10**4_299))
    judge_alike(changed, "4,300 digits")
    assert "digits" not in run_proved_checker(changed)[1]


@pytest.mark.parametrize(
    "count",
    [300, pytest.param(1_000, marks=pytest.mark.long), pytest.param(5_000, marks=pytest.mark.exhaustive)],
)
def test_corruptions_are_judged_alike(count: int) -> None:
    compare_corruptions(count, certificates() | tables(), random.Random(count))


@pytest.mark.parametrize(
    "count",
    [300, pytest.param(1_000, marks=pytest.mark.long), pytest.param(5_000, marks=pytest.mark.exhaustive)],
)
def test_corruptions_of_cascades_are_judged_alike(count: int) -> None:
    compare_corruptions(count, cascades(), random.Random(f"cascades {count}"))


def compare_corruptions(count: int, documents: dict[str, dict[str, Any]], draw: random.Random) -> None:
    """One leaf changed, or an entry left out, repeated or moved; a third of the time only what is said of the proof."""
    small = {name: d for name, d in documents.items() if len(json.dumps(d)) < 30_000}
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
                [
                    part
                    for part in ("automaton", "equivalence", "model", "layers", "decode", "covering")
                    if part in right
                ]
            )
            changes = list(itertools.islice(structural(right[part]), 200))
            what, inner, other = draw.choice(changes or [("nothing left", (), {})])
            path, changed = (part, what, *inner), {**right, part: other}
        judged[judge_known(changed, (name, path))] += 1
    assert judged[False] > count * 8 // 10
    assert judged[None] < count // 50


def scaled(document: dict[str, Any], factor: int) -> dict[str, Any]:
    """All additive terms and codes times a factor, and the figures of the summary: the same automaton, until the sums leave a format."""
    other = copy.deepcopy(document)
    for layer in other["layers"]:
        for head in layer["heads"]:
            for code in (*head["codes"], *(t.get("additive", []) for t in head["transitions"])):
                for entry in code:
                    entry[2] *= factor
    summary = other["summary"]
    summary["integer_bound"] *= factor
    summary["formats"] = [name for name, reach in REACH.items() if summary["integer_bound"] <= reach]
    return other


FACTORS = (
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
)


@pytest.mark.parametrize("spec", ["flipflop", "dn:3", "T3 G.T4", "gridworld:3 G.T4"])
def test_tables_are_judged_alike_at_the_limits_of_formats(spec: str) -> None:
    """Large numbers, with what is said of the formats right, and with one format more or fewer."""
    lists = set()
    for factor in FACTORS:
        changed = scaled((tables() | cascades())[spec], factor)
        heads = check_table(changed, "equivalence")[0]
        right = {"per_step": exact_dtypes(heads), "per_op": integer_dtypes(heads)}
        lists.add(str(right))
        accepted = judge_alike({**changed, "equivalence": right}, (spec, factor, right))
        assert accepted == bool(right["per_step"])
        for kind, dtype in itertools.product(right, REACH):
            other = [d for d in REACH if (d in right[kind]) != (d == dtype)]
            said = {**right, kind: other}
            assert not judge_alike({**changed, "equivalence": said}, (spec, factor, said))
    assert len(lists) > 8


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
        per_op = numbers.kind == "per_op"
        r = numbers.operations(terms, d, 4) if per_op else numbers.round(sum((x * h for _, x, h in terms), d))
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


LIST = "-300,-40/3,-3,-2,-3/2,-1,-1/2,-1/64,0,1/3,1/2,1,2,7/2,9,100,1000"
VALUES = (*FORMATS, "fixed:8:4", "fixed:20:10", "int:-7..9", "int:-300..300", LIST, "0,1", "-1/2,0,1")


@pytest.mark.parametrize("count", [3, pytest.param(40, marks=pytest.mark.long)])
@pytest.mark.parametrize("values", VALUES)
def test_sums_are_rounded_alike(values: str, count: int) -> None:
    """In each mode and order; and a state that differs in one number is refused."""
    draw = random.Random(f"{values} {count}")
    judged = 0
    for mode, order in itertools.product(WHOLE, ("per_step", "left", *ORDERS)):
        kind = "per_step" if order == "per_step" else "per_op"
        # ties of a list go down, so that it has one mode less, and another one is left out of its name
        usual = "rne" if values in VALUES[: VALUES.index(LIST)] else "tie_low"
        parts = [
            kind,
            values,
            *([order] if order in ORDERS else []),
            *([mode] if mode not in ("rne", usual) else []),
        ]
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


LISTS = (
    "0,1", "-1,0,1/2,1", "1,0", "0,0", "-0,1", "0,2/4", "0,01", "1,2", "0,", ",0", "0,1/0", "0,1/1", "0,1/2/3", "0,+1", "0, 1", "0,1.5",
    "0,1:rz", "0,1:ru", "0,1:rd", "0,1:rne", "0,1:tie_low", "0,1:sat", "0,1:rz:sat", "-", "-,0", "0,--1", f"0,1,{10**399}", f"0,1,{10**400}",
)  # fmt: skip


@pytest.mark.parametrize("listed", LISTS)
@pytest.mark.parametrize("kind", ["per_step", "per_op"])
def test_lists_of_values_are_read_alike(listed: str, kind: str) -> None:
    document = sum_of_products("per_step:0", random.Random(0))
    assert document is not None
    document["equivalence"]["arithmetic"] = f"{kind}:{listed}"
    right = ("0,1", "-1,0,1/2,1", "0,1:rz", "0,1:ru", "0,1:rd", f"0,1,{10**399}")
    assert judge_alike(document, listed) is (listed in right)
