"""The checker of block delays that is proved in Coq, against the Python checker: the same verdict on certificates and corruptions."""

from __future__ import annotations

import copy
import itertools
import json
import random
from functools import cache
from typing import Any

import pytest

from mirrormata.constructions._construct import realisations_of
from mirrormata.constructions._delay import BlockDelay
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.theorems._construction import Problem
from mirrormata.theory._proved_check import find_proved_checker, run_proved_checker

from .both_checkers import judge_alike, python_verdict
from .corruption import corrupted, leaves, replaced, structural, value_at

pytestmark = pytest.mark.skipif(
    find_proved_checker() is None, reason="mirrormata-check is not built: `make formal` builds it, with Coq"
)
SPECS = ("S3", "A4", "S4", "Q8", "mod:5", "mod:12", "dihedral:5", "S5[generators]", "S5")


@cache
def certificates() -> dict[str, dict[str, Any]]:
    """Block delays of several groups, with each count of swaps a token that gives another block; not to be changed."""
    found: dict[str, dict[str, Any]] = {}
    for spec in SPECS:
        for form in realisations_of(Problem(automaton_from_spec(spec)), "DP.T1"):
            assert isinstance(form, BlockDelay)
            found[f"{spec}, blocks of {form.block}"] = json.loads(json.dumps(form.certificate()))
    return found


def test_both_checkers_say_the_same() -> None:
    assert len({document["block"] for document in certificates().values()}) > 3
    assert {document["summary"]["exactness"] for document in certificates().values()} == {
        "integer",
        "algebraic",
    }
    for name, document in certificates().items():
        said = python_verdict(document)
        assert said[0], name
        assert run_proved_checker(document) == said, name


@pytest.mark.parametrize(
    "count",
    [300, pytest.param(1_000, marks=pytest.mark.long), pytest.param(5_000, marks=pytest.mark.exhaustive)],
)
def test_corruptions_are_judged_alike(count: int) -> None:
    """One leaf changed, or an entry left out, repeated or moved."""
    draw = random.Random(count)
    small = {name: d for name, d in certificates().items() if len(json.dumps(d)) < 30_000}
    found = {name: leaves(document) for name, document in small.items()}
    refused = 0
    for _ in range(count):
        name = draw.choice(list(small))
        right = small[name]
        if draw.random() < 0.7:
            path = draw.choice([leaf for leaf in found[name] if leaf != ("kind",)])
            changed = replaced(right, path, corrupted(value_at(right, path), draw))
        else:
            part = draw.choice(["automaton", "counter", "buffer", "points", "elements", "outputs", "block"])
            changes = list(itertools.islice(structural(right[part]), 200))
            what, inner, other = draw.choice(changes or [("nothing left", (), {})])
            path, changed = (part, what, *inner), {**right, part: other}
        refused += not judge_alike(changed, (name, path))
    assert refused > count * 9 // 10


def misread(document: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Several entries changed together, as by another order, sign, time or direction."""
    found = []

    def add(what: str, change: Any) -> None:
        other = copy.deepcopy(document)
        change(other)
        if other != document:
            found.append((what, other))

    def invert(image: list[int]) -> list[int]:
        return [image.index(p) for p in range(len(image))]

    def each_element(key: str, change: Any) -> Any:
        def on(d: dict[str, Any]) -> None:
            for element in d["elements"]:
                element[key] = change(element[key])

        return on

    add("groups in the opposite order", each_element("groups", lambda groups: groups[::-1]))
    add("swaps in the opposite order", each_element("groups", lambda groups: [g[::-1] for g in groups]))
    add("one group later", each_element("groups", lambda groups: groups[-1:] + groups[:-1]))
    add("inverse elements", each_element("image", invert))
    add("inverse letters", lambda d: d["points"].update(letters=[invert(p) for p in d["points"]["letters"]]))
    add(
        "both inverse",
        lambda d: (
            each_element("image", invert)(d),
            d["points"].update(letters=[invert(p) for p in d["points"]["letters"]]),
        ),
    )
    add("shorter blocks", lambda d: d.update(block=d["block"] - 1))
    add("longer blocks", lambda d: d.update(block=d["block"] + 1))
    for layer in range(len(document["counter"])):
        add(
            "phases later",
            lambda d, i=layer: d["counter"][i]["reads"].append(d["counter"][i]["reads"].pop(0)),
        )
    add("layers of the counter exchanged", lambda d: d["counter"].reverse())
    add("a layer of the counter left out", lambda d: d["counter"].pop())
    add("the first two elements exchanged", lambda d: d["elements"].insert(0, d["elements"].pop(1)))
    add(
        "another point marked",
        lambda d: d["points"].update(initial=[[len(d["points"]["letters"][0]) - 1, 1]]),
    )
    add("no point marked", lambda d: d["points"].update(initial=[]))
    add("the start moved", lambda d: d["automaton"].update(start=d["automaton"]["states"] - 1))
    add("letters in the opposite order", lambda d: d["automaton"]["transitions"].reverse())
    return found


def test_misreadings_are_judged_alike() -> None:
    judged = {True: 0, False: 0}
    for name, document in certificates().items():
        for what, changed in misread(document):
            judged[judge_alike(changed, (name, what))] += 1
    assert judged[False] > 100
