"""Certificates: written, read and checked; every change of one is noticed, and nothing but a reason comes of it."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mirrormata.constructions._construct import construct
from mirrormata.constructions._document import certificate_text, read_document, write_certificate
from mirrormata.constructions._lrnn import table_of
from mirrormata.constructions.algebra._householder import product_of
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.certificates._table import certificate, lrnn_from_certificate
from mirrormata.constructions.theorems._construction import Problem
from mirrormata.constructions.theorems._registry import construction_of
from mirrormata.foundation._errors import InputError, NotRealisableError
from mirrormata.tests.samples import sampled
from mirrormata.tests.theory.certified import CONSTRUCTIONS, document, lrnn
from mirrormata.tests.theory.corruption import corrupted, leaves, other_values, replaced, structural, value_at
from mirrormata.theory._check import all_checkers, check
from mirrormata.theory._horizon import full_certificate
from mirrormata.theory.checker._exact import Invalid

EXHAUSTED = (
    "mod:12", "mod:8 integer", "parity", "tomita:4 G.A3", "full_t3 G.A3", "identity_only", "trivial",
    "Mealy", "reset", "shifted sign", "halves", "thirds",
)  # fmt: skip
"""Those of which every leaf is changed in every way."""
SAMPLED = [name for name in CONSTRUCTIONS if name not in (*EXHAUSTED, "projection")]
"""The others, but the one with a coordinate that no letter keeps: it is right with either sign."""
SLOW = {"S5", "A5", "A5[involutions]", "A4_x_Z5"}
"""Those whose check takes a good part of a second: not corrupted leaf by leaf, but 200 times at random."""


def reason(changed: Any) -> str | None:
    """Why the checker refuses; None where it does not. Any exception but `Invalid` fails the test."""
    kind = changed.get("kind") if isinstance(changed, dict) else None
    if not isinstance(kind, str) or kind not in all_checkers():
        return "unknown kind"
    try:
        all_checkers()[kind](changed)
    except Invalid as invalid:
        return str(invalid)
    return None


def refused(changed: Any) -> bool:
    """Whether `check` finds it invalid with a reason of one short line."""
    result = check(changed)
    assert result.reason
    assert "\n" not in result.reason
    assert len(result.reason) < 300
    return result.verdict == "invalid"


@pytest.mark.parametrize("name", CONSTRUCTIONS)
def test_written_read_and_checked(name: str, tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    write_certificate(document(name), path)
    assert check(path).verdict == "valid", check(path).reason
    if name not in SLOW:
        assert check(lrnn(name)) == check(str(path)) == check(document(name))
    again = read_document(path)
    assert again == document(name)
    assert full_certificate(lrnn_from_certificate(again)) == document(name)


@pytest.mark.parametrize("name", EXHAUSTED)
def test_every_change_of_every_leaf_is_noticed(name: str) -> None:
    right = document(name)
    for path in leaves(right):
        for value in other_values(value_at(right, path)):
            assert reason(replaced(right, path, value)), (path, value_at(right, path), value)


def noticed(name: str, count: int, seed: int) -> None:
    right = document(name)
    draw = random.Random(seed)
    paths = leaves(right)
    for _ in range(count):
        path = draw.choice(paths)
        value = corrupted(value_at(right, path), draw)
        assert reason(replaced(right, path, value)), (path, value_at(right, path), value)


@pytest.mark.parametrize("name", SAMPLED)
def test_random_changes_of_leaves_are_noticed(name: str) -> None:
    noticed(name, 60 if name.startswith("A5") else 200, 0)


@pytest.mark.long
@pytest.mark.parametrize("name", sampled(SAMPLED, 3))
def test_thousands_of_changes_of_leaves_are_noticed(name: str) -> None:
    noticed(name, 100 if name.startswith("A5") else 500 if name == "S5" else 2_000, 1)


@pytest.mark.parametrize("name", ["mod:9", "dihedral:5", "halves", "parity", "A4_x_Z5"])
def test_another_field_is_noticed(name: str) -> None:
    right = document(name)
    for h, head in enumerate(right["layers"][0]["heads"]):
        for field in range(1, 61):
            if field != head["field"]:
                assert reason(replaced(right, ("layers", 0, "heads", h, "field"), field)), (h, field)


@pytest.mark.parametrize(
    "name", ["Z2^3", "mod:12", "mod:9", "A4", "Mealy", "tomita:4 G.A3", "reset", "thirds"]
)
def test_structural_changes_are_noticed(name: str) -> None:
    for what, path, changed in structural(document(name)):
        assert reason(changed), (what, path)
        assert path or refused(changed), what


@pytest.mark.parametrize("name", ["S4", "Q8", "dihedral:5"])
def test_factors_in_another_order_are_noticed_where_they_do_not_commute(name: str) -> None:
    head = lrnn(name).layers[0].heads[0]
    kept = changed = 0
    for x, t in enumerate(head.transitions):
        if len(t.factors) < 2:
            continue
        path = ("layers", 0, "heads", 0, "transitions", x, "factors")
        factors = value_at(document(name), path)
        swapped = replaced(document(name), path, [factors[1], factors[0], *factors[2:]])
        again = (t.factors[1], t.factors[0], *t.factors[2:])
        if product_of(again, head.dim) == product_of(t.factors, head.dim):
            kept += 1
            assert reason(swapped) is None, x
        else:
            changed += 1
            assert reason(swapped), x
    assert changed
    assert kept or name != "S4"


def test_inverse_and_transposed_letters_are_noticed() -> None:
    right = document("S5")
    path: tuple[Any, ...] = ("layers", 0, "heads", 0, "transitions")
    transitions = value_at(right, path)
    backwards = [{"factors": t["factors"][::-1]} for t in transitions]
    assert reason(replaced(right, path, backwards))
    right = document("full_t3 G.A3")
    transitions = value_at(right, path)
    transposed = [{"matrix": sorted([j, i, x] for i, j, x in t["matrix"])} for t in transitions]
    assert reason(replaced(right, path, transposed))
    assert reason(replaced(right, path, transitions[::-1]))


def test_a_certificate_is_of_one_kind() -> None:
    table, horizon = document("S4"), document("mod:9")
    assert refused({**table, "kind": "horizon"})
    assert refused({**horizon, "kind": "table"})
    assert refused({key: value for key, value in horizon.items() if key != "horizon"})
    assert refused({**table, "horizon": horizon["horizon"], "kind": "horizon"})
    assert refused({**table, "horizon": horizon["horizon"]})
    # the table of a horizon certificate is right by itself
    bare = {key: value for key, value in horizon.items() if key != "horizon"}
    assert check({**bare, "kind": "table"}).verdict == "valid"
    for kind in ("Table", "delay", "", None, 1, ["table"], {"table": 1}, "x" * 10_000):
        assert refused({**table, "kind": kind})


def test_labels_are_not_proved_but_counted() -> None:
    right = document("S4")
    assert check(replaced(right, ("labels", "states", 3), "anything")).verdict == "valid"
    assert check(replaced(right, ("labels", "automaton"), "")).verdict == "valid"
    assert refused(replaced(right, ("labels", "states", 3), 7))
    assert refused(replaced(right, ("labels", "letters"), right["labels"]["letters"][1:]))


ENDS = ["", " ", "null", "true", "5", '"x"', "[]", "{}", "[[]]", '{"kind": "table"}', "{", "[1,]", "\ufeff{}"]


@pytest.mark.parametrize("text", ENDS)
def test_texts_that_are_no_certificates(text: str, tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text(text, encoding="utf-8")
    result = check(path)
    assert (result.verdict, result.kind) in {("invalid", None), ("invalid", "table")}
    assert result.reason


NUMBERS = [
    "1" * 5_000,
    "-" + "9" * 5_000,
    "1" * 4_200,
    "NaN",
    "Infinity",
    "-Infinity",
    "1.0",
    "1e3",
    "1E400",
    "-0",
]
TEXTS = [
    json.dumps(s)
    for s in ("1/" + "7" * 5_000, "7" * 5_000 + "/3", "1/0", "2/4", "+1/2", "1/2\n", "١/٢", "\ud800")
]


@pytest.mark.parametrize("token", NUMBERS + TEXTS, ids=lambda token: token[:8] + str(len(token)))
@pytest.mark.parametrize("name", ["parity", "mod:9"])
def test_absurd_numbers_in_every_place(name: str, token: str, tmp_path: Path) -> None:
    right = document(name)
    path = tmp_path / "file.json"
    for place in leaves(right):
        if token == "-0" and value_at(right, place) == 0:
            continue  # JSON's -0 is the integer 0
        text = json.dumps(replaced(right, place, "@")).replace('"@"', token)
        path.write_text(text, encoding="utf-8")
        result = check(path)
        assert result.verdict == "invalid", place
        assert len(result.reason) < 300, place


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


@pytest.mark.parametrize("levels", [50, 900, 940, 960, 970, 980, 990, 1_000, 3_000, 100_000])
def test_deep_nesting_in_every_place(levels: int, tmp_path: Path) -> None:
    right = document("parity")
    path = tmp_path / "file.json"
    places = leaves(right) if levels < 100_000 else leaves(right)[::10]
    for place in [*places, ("labels",), ("kind",), ()]:
        text = json.dumps(replaced(right, place, "@")).replace('"@"', nested(levels))
        path.write_text(text, encoding="utf-8")
        assert check(path).verdict == "invalid", place


def test_deep_nesting_in_python() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert check(replaced(document("parity"), ("decode",), deep)).verdict == "invalid"
    while deep:  # taken apart level by level: CPython's own deallocation may recurse
        deep = deep[0]


def test_keys_that_occur_twice(tmp_path: Path) -> None:
    text = certificate_text(document("parity"))
    path = tmp_path / "file.json"
    for key in ("kind", "start", "dim", "factors", "householders", "labels"):
        at = text.index(f'"{key}":')
        path.write_text(text[:at] + f'"{key}": 0, ' + text[at:])
        assert "twice" in check(path).reason


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(bytes(range(256)))
    for path in (binary, tmp_path, tmp_path / "missing", "", "a\0b"):
        with pytest.raises(InputError):
            check(path)
    with pytest.raises(InputError, match="not a text file"):
        read_document(binary)
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(bytes(range(256)))
    with pytest.raises(InputError, match="weights alone; give the folder"):
        read_document(weights)


def test_python_objects_that_are_no_certificates() -> None:
    loop: dict[str, Any] = {}
    loop["kind"] = loop
    things: list[Any] = [
        {"kind": object()},
        loop,
        {1: 2},
        {},
        {"kind": np.int64(1)},
    ]
    for thing in things:
        assert check(thing).verdict == "invalid"
    others: list[Any] = [[], None, 3.5, float("nan")]
    for other in others:
        with pytest.raises(InputError, match="give a certificate, the path of one, or a construction"):
            check(other)
    right = document("mod:9")
    assert refused(replaced(right, ("summary", "layers"), 1.0))
    assert refused(replaced(right, ("summary", "layers"), float("nan")))
    assert refused(replaced(right, ("automaton", "start"), False))


@pytest.mark.parametrize("name", ["parity", "mod:12", "mod:9", "Mealy", "reset"])
def test_the_reader_gives_input_errors_only(name: str) -> None:
    right = document(name)
    draw = random.Random(3)
    absurd: list[Any] = [
        10**9,
        2**61,
        10**25,
        -1,
        "1/0",
        "x",
        None,
        {},
        [],
        [[]],
        0.5,
        "9" * 5_000,
        10**4_200,
    ]
    for path in leaves(right):
        for value in draw.sample(absurd, 4):
            changed = replaced(right, path, value)
            with suppress(InputError):  # where it can be read it is no error
                lrnn_from_certificate(changed)


def test_labels_with_the_same_text_are_refused() -> None:
    table = np.array([[1, 0], [0, 1]])
    outputs = np.array([True, False], dtype=object)
    same = construct(Automaton((1, "1"), ("a", "b"), table, 0, outputs, "twins"))
    with pytest.raises(InputError, match=r"twins.*'1'.*rename"):
        certificate(same)
    with pytest.raises(InputError, match="rename"):
        check(same)
    unwritable = construct(Automaton(("\ud800", "q"), ("a", "b"), table, 0, outputs, "surrogate"))
    with pytest.raises(InputError, match="rename"):
        certificate(unwritable)


def test_a_lost_mealy_output_is_refused_when_the_certificate_is_made() -> None:
    table = np.array([[0, 0], [1, 1]])
    outputs = np.array([["x", "y"], ["x", "x"]], dtype=object)
    merging = Automaton((0, 1), ("a", "b"), table, 0, outputs, "merging")
    with pytest.raises(NotRealisableError, match="need the state before the token"):
        construct(merging, theorem="G.A3")
    build = construction_of("G.A3").build
    assert build is not None
    with pytest.raises(InputError, match=r"merging: letter 'a' into state 0 .* Moore"):
        certificate(table_of(build(Problem(merging)), "its outputs are lost"))
    outputs = np.array([["x", "x"], ["z", "z"]], dtype=object)
    kept = Automaton((0, 1), ("a", "b"), table, 0, outputs, "kept")
    assert check(construct(kept, theorem="G.A3")).verdict == "valid"


HASHED = """
import numpy as np
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions._document import certificate_text
from mirrormata.constructions.certificates._table import certificate
from mirrormata.constructions._construct import construct
states = [frozenset("abc"), frozenset(["d", "e"]), None]
rotation = Automaton(tuple(states), (("x", 1), ""), np.array([[1, 2, 0], [0, 1, 2]]), 0, states, "sets")
print(certificate_text(certificate(construct(rotation))), certificate_text(certificate(construct("A4_x_Z5"))))
"""


def test_the_text_does_not_depend_on_the_hash_seed() -> None:
    texts = {
        subprocess.run(
            [sys.executable, "-c", HASHED],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            timeout=120,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(texts) == 1
    assert b"{'a', 'b', 'c'}" in texts.pop()
