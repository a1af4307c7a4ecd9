"""Certificates that say something false, each of which its checker must refuse, or accept for less; and certificates kept."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mirrormata
from mirrormata.constructions._construct import construct
from mirrormata.constructions._realisation import realisation_from_certificate
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.certificates._table import certificate, lrnn_from_certificate
from mirrormata.tests.constructions.tables import construct_table
from mirrormata.tests.theory.certified import by_hand
from mirrormata.tests.theory.corruption import corrupted, leaves, replaced, structural, value_at
from mirrormata.theory._check import check
from mirrormata.theory._horizon import full_certificate
from mirrormata.theory.checker import _exact as exact
from mirrormata.theory.checker._exact import Invalid
from mirrormata.theory.checker.horizon import FLOATS
from mirrormata.theory.running._run import run
from mirrormata.theory.running._words import random_words

from ..cli.command_line import Outcome

Call = Callable[..., Outcome]
CHECKERS = Path(mirrormata.__file__).parent / "theory" / "checker"
OLD = Path(__file__).parents[1] / "data" / "certificates-0.1"


def copied(document: Any) -> Any:
    return json.loads(json.dumps(document))


def with_lengths(document: Any) -> Any:
    """The certificate with the summary and the lengths that its checker wants, as one who forges it would do."""
    for _ in range(40):
        reason = check(document).reason
        key, _, value = reason.partition(": it is ")
        if key.startswith("summary."):
            document["summary"][key.removeprefix("summary.")] = {"None": None, "a list": []}.get(
                value, value.strip("'") if value[:1] == "'" else None
            )
            if value.isdigit():
                document["summary"][key.removeprefix("summary.")] = int(value)
        elif key.startswith("horizon.lengths."):
            dtype = key.removeprefix("horizon.lengths.").partition(":")[0]
            document["horizon"]["lengths"][dtype] = int(reason.rpartition(" from ")[2].partition(" to ")[0])
        else:
            break
    return document


def beside(head: dict[str, Any]) -> Any:
    """The counter modulo 5 by rotations, and one more head with a single code."""
    document = copied(full_certificate(construct("mod:5", theorem="DP.T4")))
    document["layers"][0]["heads"].append(head)
    document["decode"] = [[*row, 0] for row in document["decode"]]
    return with_lengths(document)


THIRD = [[[0, 0, 1], [1, 0, "1/3"]]]


def test_an_unstable_head_of_one_code_has_no_horizon() -> None:
    """Its exact state never changes and its rounded one grows a thousandfold at each token: the decoder drowns."""
    matrix = {"matrix": [[0, 0, 1], [1, 0, -333], [1, 1, 1000]]}
    head = {"field": 1, "dim": 2, "value_dim": 1, "transitions": [{"factors": []}, matrix], "codes": THIRD}
    document = beside(head)
    assert check(document).verdict == "invalid"
    assert "heads[1]: a horizon is certified for products of factors only" in check(document).reason
    wrong = run(lrnn_from_certificate(document), np.ones((1, 60), dtype=np.int64), dtype="fp64")
    assert wrong.first_error is not None
    assert wrong.first_error < 30


def test_what_is_added_to_a_head_of_one_code_has_no_horizon_either() -> None:
    letters = [{"factors": []}, {"factors": [], "gate": "1/3", "additive": [[0, 0, "2/3"], [1, 0, "2/9"]]}]
    head = {"field": 1, "dim": 2, "value_dim": 1, "transitions": letters, "codes": THIRD}
    assert "products of factors only" in check(beside(head)).reason


def test_a_head_of_one_code_that_is_far_larger_than_the_others_ends_the_horizon() -> None:
    """Its square is 2^80; in the decoder's float64 the other head's distances are below the last place of that."""
    huge = {
        "field": 1,
        "dim": 1,
        "value_dim": 1,
        "transitions": [{"factors": []}] * 2,
        "codes": [[[0, 0, 3 * 2**40]]],
    }
    document = beside({**huge, "codes": [[[0, 0, f"{3 * 2**40 + 1}/2"]]]})
    assert check(document).verdict == "valid"
    assert set(document["horizon"]["lengths"].values()) == {0}


def test_the_drift_of_a_head_of_one_code_counts() -> None:
    """A mirror that keeps (3, 1)/… exactly and not once it is rounded: its own bound is the least in every dtype."""
    code = [[[0, 0, "1/3"], [1, 0, "1/3"]]]
    mirror = {"factors": [[1, [[0, 1], [1, -1]]]]}
    small = {"field": 1, "dim": 2, "value_dim": 1, "transitions": [{"factors": []}, mirror], "codes": code}
    document = beside(small)
    assert check(document).verdict == "valid"
    alone = full_certificate(construct("mod:5", theorem="DP.T4"))["horizon"]["lengths"]
    assert all(document["horizon"]["lengths"][d] <= alone[d] for d in FLOATS)
    lrnn = lrnn_from_certificate(document)
    for dtype, length in document["horizon"]["lengths"].items():
        if length and length < 3_000:
            assert run(lrnn, random_words(lrnn, 16, length, seed=3), dtype=dtype).errors == 0


def scaled(exponent: int) -> Any:
    """The counter modulo 5 with all codes times 2^exponent."""
    document = copied(full_certificate(construct("mod:5", theorem="DP.T4")))
    factor = Fraction(2) ** exponent

    def number(x: Any) -> Any:
        if isinstance(x, list):
            return [number(c) for c in x]
        value = Fraction(x) * factor
        return value.numerator if value.denominator == 1 else f"{value.numerator}/{value.denominator}"

    head = document["layers"][0]["heads"][0]
    head["codes"] = [[[i, j, number(x)] for i, j, x in code] for code in head["codes"]]
    return with_lengths(document)


@pytest.mark.parametrize("exponent", [-600, -300, -90, -20, 7, 60, 490, 505, 511, 600, 1000])
def test_no_scale_of_the_codes_makes_a_horizon_false(exponent: int) -> None:
    """Beyond float64's squares the horizon is 0; within, every certified token is right."""
    document = scaled(exponent)
    lengths = document["horizon"]["lengths"]
    assert check(document).verdict == "valid"
    if exponent >= 505 or exponent <= -300:
        assert lengths["fp64"] == 0
    if exponent == 7:
        assert lengths["fp64"] > 10**15
    lrnn = lrnn_from_certificate(document)
    for dtype in ("fp64", "bf16", "fp16"):
        length = min(lengths[dtype], 300)
        if length:
            assert run(lrnn, random_words(lrnn, 8, length, seed=1), dtype=dtype).errors == 0, dtype


def test_writer_and_checker_agree_on_heads_of_one_code_and_on_scales() -> None:
    from mirrormata.theory._horizon import horizons

    for document in (scaled(600), scaled(-20), scaled(-90), beside({
        "field": 1, "dim": 2, "value_dim": 1, "codes": THIRD, "transitions": [{"factors": []}] * 2,
    })):  # fmt: skip
        assert check(document).verdict == "valid"
        assert horizons(lrnn_from_certificate(document)) == document["horizon"]["lengths"]


def test_a_gate_below_minus_one_is_refused() -> None:
    """x ← 1 - 2x keeps 1/3, and its norm is 2: the summary says at most 1."""
    head = {
        "field": 1, "dim": 1, "value_dim": 1, "codes": [[[0, 0, "1/3"]]],
        "transitions": [{"factors": [], "gate": -2, "additive": [[0, 0, 1]]}],
    }  # fmt: skip
    document = {
        "format": "mirrormata-certificate/1",
        "kind": "table",
        "labels": {
            "automaton": "one", "construction": "", "theorem": "", "states": ["0"], "letters": ["a"], "outputs": ["0"],
        },
        "automaton": {"states": 1, "letters": 1, "start": 0, "transitions": [[0]], "outputs": [0]},
        "layers": [{"heads": [head]}],
        "decode": [[0, 0]],
        "outputs": [0],
        "summary": {
            "layers": 1, "householders": 0, "heads": 1, "dim": 1, "exactness": "algebraic", "integer_bound": None,
            "formats": [], "norm": "at most 1",
        },
    }  # fmt: skip
    assert check(document).reason == "layers[0].heads[0].transitions[0]: bad gate"
    head["transitions"] = [{"factors": [], "gate": -1, "additive": [[0, 0, "2/3"]]}]
    assert check(document).verdict == "valid", check(document).reason
    for gate in (1, 2, "3/2", "-101/100"):
        head["transitions"] = [{"factors": [], "gate": gate, "additive": [[0, 0, 1]]}]
        assert "bad gate" in check(document).reason


def test_a_layer_may_not_read_what_a_reset_has_erased() -> None:
    """The second layer is to store the letter before the last, which the first one's new code does not tell."""
    reset = [{"factors": [], "gate": 0, "additive": [[i, 0, 1]]} for i in range(2)]
    codes = [[[0, 0, 1]], [[1, 0, 1]]]

    def head(actions: list[int]) -> dict[str, Any]:
        return {
            "field": 1, "dim": 2, "value_dim": 1, "transitions": reset, "codes": codes, "actions": actions,
        }  # fmt: skip

    pairs = [(0, 0), (1, 0), (0, 1), (1, 1)]  # (last letter, the one before), as words first reach them
    place = {pair: i for i, pair in enumerate(pairs)}
    transitions = [[place[x, last] for last, _ in pairs] for x in range(2)]
    document = {
        "format": "mirrormata-certificate/1",
        "kind": "table",
        "labels": {
            "automaton": "the last two letters", "construction": "", "theorem": "", "states": list("pqrs"),
            "letters": ["a", "b"], "outputs": list("pqrs"),
        },
        "automaton": {"states": 4, "letters": 2, "start": 0, "transitions": transitions, "outputs": [0, 1, 2, 3]},
        "layers": [
            {"heads": [head([0, 1])], "reads": [[0], [0]], "next": [[0, 1], [2, 3]]},
            {"heads": [head([0, 1, 0, 1])], "reads": [[], [], [], []], "next": [[0], [2], [1], [3]]},
        ],
        "decode": [[place[pair], *pair] for pair in pairs],
        "outputs": [0, 1, 2, 3],
        "summary": {
            "layers": 2, "householders": 0, "heads": 1, "dim": 2, "exactness": "integer", "integer_bound": 1,
            "formats": list(FLOATS), "norm": "at most 1",
        },
    }  # fmt: skip
    assert check(document).reason == "layers[0].reads[0]: head 0's new code does not tell the point before"


@pytest.mark.parametrize("file", sorted(OLD.glob("*.json")), ids=lambda f: f.stem)
def test_certificates_of_version_0_1_are_accepted_by_the_package_and_alone(file: Path) -> None:
    assert check(file).verdict == "valid"
    kind = json.loads(file.read_text())["kind"]
    done = subprocess.run(
        [sys.executable, "-I", CHECKERS / f"{kind}.py", file], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout[:7]) == (0, "valid: "), done.stdout + done.stderr


@pytest.mark.parametrize("file", sorted(OLD.glob("*.json")), ids=lambda f: f.stem)
def test_labels_that_occur_twice_are_refused(file: Path) -> None:
    document = json.loads(file.read_text())
    for key in ("states", "letters", "outputs"):
        labels = document["labels"].get(key, [])
        if len(labels) > 1:
            changed = copied(document)
            changed["labels"][key][1] = changed["labels"][key][0]
            assert f"labels.{key}: {labels[0]!r} is listed twice" == check(changed).reason


FUZZED = ["horizon", "horizon_layers", "impossible", "impossible_cast", "bound", "delay", "table_layers"]


@pytest.mark.parametrize("name", FUZZED)
def test_no_change_of_a_leaf_or_of_the_structure_is_accepted(name: str) -> None:
    document, draw = json.loads((OLD / f"{name}.json").read_text()), random.Random(7)
    places = leaves(document)
    for path in [draw.choice(places) for _ in range(120)]:
        changed = replaced(document, path, corrupted(value_at(document, path), draw))
        assert check(changed).verdict == "invalid", (path, value_at(changed, path))
    left_out = name == "bound"  # a certificate of fewer bounds is a certificate as well
    changes = [
        c for c in structural(document) if not (left_out and c[0][:8] == "no entry" and c[1] == ("bounds",))
    ]
    for what, path, changed in draw.sample(changes, min(120, len(changes))):
        assert check(changed).verdict == "invalid", (what, path)


CHAINS = [
    ("mod_arith:3", "own.chain"),
    ("random:states=12,letters=2,seed=4", "own.window"),
    ("random:states=12,letters=2,seed=4", "own.lookback"),
    ("S3", "own.chain"),
]


@pytest.mark.parametrize(("spec", "theorem"), CHAINS)
def test_no_change_of_a_chain_but_that_of_its_automaton_is_accepted(spec: str, theorem: str) -> None:
    """Every leaf beside the automaton to many other values, and every change of the structure.

    Sizes may fall more slowly than planned: that is another certificate, and a valid one.
    """
    document, draw = copied(construct(spec, theorem=theorem).certificate()), random.Random(5)
    assert check(document).verdict == "valid"
    for path in leaves(document):
        if path[:2] in (("automaton", "transitions"), ("automaton", "outputs"), ("automaton", "start")):
            continue
        for _ in range(12):
            value = corrupted(value_at(document, path), draw)
            larger = (
                path[0] == "sizes"
                and theorem == "own.chain"
                and type(value) is int
                and value > value_at(document, path)
            )
            assert larger or check(replaced(document, path, value)).verdict == "invalid", (path, value)
    of_automaton = ("automaton", "transitions"), ("automaton", "outputs")
    for what, path, changed in structural(document):
        if path[:2] not in of_automaton:
            assert check(changed).verdict == "invalid", (what, path)


@pytest.mark.parametrize(("spec", "theorem"), CHAINS)
def test_a_chain_that_is_accepted_follows_the_automaton_in_its_certificate(spec: str, theorem: str) -> None:
    """The rule holds for any automaton, so that other transitions with the same sizes may be right, and larger sizes."""
    document, draw = copied(construct(spec, theorem=theorem).certificate()), random.Random(6)
    places = [
        path for path in leaves(document) if path[:2] == ("automaton", "transitions") or path[0] == "sizes"
    ]
    n, accepted = document["automaton"]["states"], 0
    for _ in range(60):
        changed = replaced(document, draw.choice(places), draw.randrange(n))
        if changed != document and check(changed).verdict == "valid":
            accepted += 1
            found = realisation_from_certificate(changed)
            assert run(found, random_words(found, 4, 100, seed=1)).errors == 0
    assert accepted or spec == "S3"  # where a letter is no permutation any more another summary is due


REGIONS = ["equivalent_regions", "equivalent_regions_exact"]


@pytest.mark.parametrize("name", REGIONS)
def test_the_claim_of_a_region_proof_cannot_be_changed(name: str) -> None:
    document, draw = json.loads((OLD / f"{name}.json").read_text()), random.Random(3)
    for path in (path for path in leaves(document) if path[0] == "equivalence"):
        for _ in range(30):
            changed = replaced(document, path, corrupted(value_at(document, path), draw))
            assert check(changed).verdict == "invalid", (path, value_at(changed, path))


def small(steps: int, A: Any, arithmetic: str) -> Any:
    document = json.loads((OLD / "impossible_cast.json").read_text())
    document["arithmetic"] = arithmetic
    document["words"] |= {"j": steps, "i": steps - 1}
    document["heads"][0]["weights"][0][0] = [[0, 0, A]]
    return document


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (small(1_000_000, "1/3", "cast:fp64"), "the replay takes more than"),
        (small(100_000, f"{2**900 + 1}/{2**900}", "cast:bf16"), "the replay takes more than"),
        (small(20_000, 1, "cast:bf16"), ""),
    ],
)
def test_a_small_file_cannot_hang_the_checker_of_impossibility(document: Any, reason: str) -> None:
    begun = time.monotonic()
    found = check(document)
    assert found.verdict == "invalid"
    assert reason in found.reason
    assert time.monotonic() - begun < 30


def test_numbers_that_grow_end_the_search_for_states() -> None:
    """x ← 3x/2 + 1 in exact numbers: 100,000 steps would have a hundred thousand bits each."""
    document = json.loads((OLD / "equivalent_states.json").read_text())
    letters = document["automaton"]["letters"]
    head = {"A": [[["3/2"]]] * letters, "B": [[[1]]] * letters, "H0": [[1]]}
    document["model"] = {"heads": [head], "codes": [[0]], "decode": [[0] * letters]}
    n = document["automaton"]["states"]
    document["automaton"] |= {"transitions": [[0] * n] * letters, "outputs": [0] * n, "start": 0}
    document["labels"]["outputs"] = ["0"]
    document["equivalence"] |= {
        "arithmetic": "exact",
        "answers": "outputs",
        "states": 50_000,
        "greatest": [0],
    }
    begun = time.monotonic()
    assert "more than 10,000 bits" in check(document).reason
    assert time.monotonic() - begun < 30


def test_too_many_entries_for_regions() -> None:
    document = json.loads((OLD / "equivalent_regions_exact.json").read_text())
    n, letters = 65, document["automaton"]["letters"]
    zero = [[0] * n for _ in range(n)]
    column = [[0] for _ in range(n)]
    document["model"] = {
        "heads": [{"A": [zero] * letters, "B": [column] * letters, "H0": column}],
        "codes": [[0] * n],
        "decode": [[0] * letters],
    }
    assert "at most 64 entries" in check(document).reason


def test_two_numbers_that_are_too_close_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sign that needs more bits of θ than are computed ends in a refusal, and does not go on."""
    field = exact.Field(7)
    theta = field.element(1, [0, 1, 0])
    near = Fraction(field.theta(170), 2**170)
    assert exact.sign(theta - near) == 1
    monkeypatch.setattr(exact, "MAX_BITS", 2**9)
    field.thetas.clear()
    assert exact.sign(theta - Fraction(19, 10)) == -1
    with pytest.raises(Invalid, match="too close"):
        exact.sign(theta - near)


def test_plan_and_construct_print_what_the_checkers_accept(
    monkeypatch: pytest.MonkeyPatch, call: Call, tmp_path: Path
) -> None:
    """With a library that claims too much, nothing is printed but the refusal."""
    from mirrormata.theory import _horizon as horizon
    from mirrormata.theory.planning import _bounds as bounds

    right = horizon.head_horizon
    monkeypatch.setattr(horizon, "head_horizon", lambda *a: right(*a) + 1)
    for arguments in (("plan", "mod:5"), ("construct", "mod:5", "-o", str(tmp_path / "c.json"))):
        done = call(*arguments)
        assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
        assert "the checker refuses" in done.err
    assert not (tmp_path / "c.json").exists()
    monkeypatch.undo()
    monkeypatch.setattr(bounds, "proper_cycles", lambda row: [(0, 1, 2)])
    done = call("construct", "parity")
    assert (done.status, done.out) == (2, "")
    assert "the checker of bounds does not find" in done.err


def test_an_impossibility_that_the_checker_refuses_is_not_handed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from mirrormata.foundation._errors import DisagreementError
    from mirrormata.theory.impossibility import _certificate as made

    monkeypatch.setattr(made, "first_pair", lambda *_: (0, 1, []))
    with pytest.raises(DisagreementError, match="the checker refuses"):
        made.certify_parity_impossibility()


def test_a_dihedral_group_of_reflections_alone_has_a_valid_certificate() -> None:
    """DP.T7 counts rotations and reflections; where no letter is a rotation there is no head that counts them."""
    automaton = automaton_from_spec("random:states=3,letters=2,seed=9216")
    found = construct_table(automaton, "DP.T7")
    assert (
        check(certificate(found) if found.exactness == "integer" else full_certificate(found)).verdict
        == "valid"
    )
    assert all(any(head.codes) for head in found.all_heads)


def test_by_hand_is_what_the_certificates_of_one_code_are_made_from() -> None:
    """A head of one code that is a fraction and never moves is certified, and its runs are right."""
    from mirrormata.constructions._realisation import Transition

    found = by_hand([Transition(), Transition()], [((0, 0, Fraction(1, 3)),)], [[0], [0]])
    document = full_certificate(found)
    assert document["kind"] == "horizon"
    assert check(document).verdict == "valid"
