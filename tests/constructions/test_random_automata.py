"""Any automaton, of any seed: constructed, certified, right in bf16; and the automata that others found hard."""

from __future__ import annotations

import json
import resource
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mirrormata.constructions._construct import construct, realisations_of
from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.cascades._cascade import cascade
from mirrormata.constructions.theorems._construction import Problem
from mirrormata.constructions.theorems.g_t4 import wire_cascade_as_printed
from mirrormata.foundation._errors import LimitError
from mirrormata.tests.constructions.cascade_zoo import automaton_of as points
from mirrormata.tests.constructions.library_numbers import LIBRARY_NUMBERS
from mirrormata.tests.constructions.random_automata import automata, random_words
from mirrormata.tests.samples import sampled
from mirrormata.tests.theory.certified import CASES
from mirrormata.tests.theory.test_refutation import holds_up
from mirrormata.theory._check import check
from mirrormata.theory._horizon import full_certificate
from mirrormata.theory.running._refutation import refute
from mirrormata.theory.running._run import run
from mirrormata.theory.running._words import random_stream

DATA = Path(__file__).parents[1] / "data"
MILLION = 1_000_000


@dataclass
class Counts:
    """What came out of many automata."""

    automata: int = 0
    limits: int = 0
    theorems: dict[str, int] = field(default_factory=dict)
    layered: int = 0
    refuted: int = 0


def realised(a: Automaton, counts: Counts, words: int = 2, length: int = 200) -> None:
    """Construct, check, run; the printed wiring of its cascade refuted by a word, or all its joint states right."""
    counts.automata += 1
    try:
        made = construct(a)
        built = cascade(a)
    except LimitError:
        counts.limits += 1
        return
    counts.theorems[made.theorem] = counts.theorems.get(made.theorem, 0) + 1
    assert check(full_certificate(made)).verdict == "valid", a.transitions
    if "bf16" not in made.formats:
        made = construct(a, exactness="integer")
        assert check(full_certificate(made)).verdict == "valid"
    report = run(made, random_words(made.automaton, 0, words, length), dtype="bf16")
    assert (report.errors, report.tokens) == (0, words * length)
    if len(built.levels) > 1:
        counts.layered += 1
        outcome = refute(wire_cascade_as_printed(Problem(a)))
        assert outcome.word is not None or outcome.search.startswith("all ")
        counts.refuted += holds_up(outcome)


def drawn(number: int, first_seed: int) -> Automaton:
    """Number k: 2 to 6 states, 1 to 3 letters in turn, any seed."""
    return automaton_from_spec(
        f"random:states={2 + number % 5},letters={1 + number // 5 % 3},seed={first_seed + number}"
    )


@pytest.mark.parametrize(
    ("count", "seconds"), [(200, 120), pytest.param(2000, 600, marks=pytest.mark.exhaustive)]
)
def test_random_automata(count: int, seconds: float, capsys: pytest.CaptureFixture[str]) -> None:
    begun, counts = time.process_time(), Counts()
    for number in range(count):
        realised(drawn(number, 70_000), counts)
    spent = time.process_time() - begun
    with capsys.disabled():
        print(
            f"\n{counts.automata} random automata in {spent:.1f} s: {counts.limits} limits reached; by source "
            f"{dict(sorted(counts.theorems.items()))}; printed wiring refuted on {counts.refuted} of {counts.layered} "
            "cascades of two or more levels"
        )
    assert counts.automata == count
    assert counts.limits == 0
    assert counts.refuted >= 0.9 * counts.layered > 0
    assert spent < seconds


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(automata(kinds=("states", "acceptance", "moore")))
def test_any_automaton(a: Automaton) -> None:
    """Hypothesis finds small ones: equal letters, identities, resets, one state."""
    made = construct(a)
    assert check(full_certificate(made)).verdict == "valid"
    assert run(made, random_words(made.automaton, 1, 2, 40), dtype="exact").errors == 0
    if a.is_permutation:
        assert made.depth == 1
    elif len(made.automaton.states) > 1:
        for theorem in ("own.chain", "own.n-1"):
            assert construct(a, theorem=theorem).depth <= max(1, len(a.states) - 1)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(automata(keep_points=True, kinds=("states",)), st.data())
def test_any_transformations_from_any_start(a: Automaton, data: st.DataObject) -> None:
    """All points are kept, so a run may begin at any of them."""
    made = construct(a)
    assert check(full_certificate(made)).verdict == "valid"
    start = data.draw(st.integers(0, len(a.states) - 1))
    words = random_words(made.automaton, 1, 2, 40)
    for dtype in ("exact", *made.formats[-1:]):
        assert run(made, words, dtype=dtype, start=start).errors == 0


HEAVY = ("chess", "S6", "S7[transpositions]", "S8[transpositions]", "mod_arith:3,1", "Z60", "S6[generators]")
NAMES = [
    pytest.param(e.name, marks=[pytest.mark.long] * (e.name in HEAVY or e.states * e.letters > 3000))
    for e in LIBRARY_NUMBERS
]


@cache
def automaton(name: str) -> Automaton:
    return automaton_from_spec(name)


@pytest.mark.parametrize("name", NAMES)
def test_library(name: str) -> None:
    """Every regular automaton of the library: valid, and right in bf16 for ten thousand tokens."""
    made = construct(automaton(name))
    assert made.norm == "at most 1"
    assert check(full_certificate(made)).verdict == "valid"
    integer = made if made.exactness == "integer" else construct(automaton(name), exactness="integer")
    if integer is not made:
        assert check(full_certificate(integer)).verdict == "valid"
    assert "bf16" in integer.formats
    assert run(integer, random_stream(integer.automaton, 2, 5000, 0), dtype="bf16").errors == 0


@pytest.mark.long
@pytest.mark.parametrize("name", sampled([e.name for e in LIBRARY_NUMBERS], 5))
def test_a_million_tokens(name: str) -> None:
    made = construct(automaton(name), exactness="integer")
    assert made.exactness == "integer"
    report = run(made, random_stream(made.automaton, 1, MILLION, 1), dtype="bf16")
    assert (report.tokens, report.errors) == (MILLION, 0)


READABLE = [
    path.name for path in sorted(CASES.iterdir())
    if path.name not in ("duplicate_letter.json", "stray_names.json", "no_start.dot", "lfs_pointer.csv", "out_of_range.txt")
]  # fmt: skip


@pytest.mark.parametrize("name", READABLE)
def test_every_case(name: str) -> None:
    """Files of the case table, also with a million tokens for those of several layers."""
    a = automaton_from_spec(str(CASES / name))
    made = construct(a, exactness="integer")
    assert check(full_certificate(made)).verdict == "valid"
    length = 20_000
    for start in range(len(made.automaton.states)) if made.automaton.keeps_points else [None]:
        report = run(made, random_stream(made.automaton, 1, length, 2), dtype="bf16", start=start)
        assert (report.tokens, report.errors) == (length, 0)


NAMED: dict[str, tuple[int, ...]] = {  # layers, and the most factors of a letter
    "T4": (3,), "mod_arith:5": (3,), "dyck1:4": (2,), "tomita:1": (1,), "tomita:2": (1,), "tomita:3": (2,),
    "tomita:4": (2,), "tomita:5": (1,), "tomita:6": (1,), "tomita:7": (2,),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
def test_layers(name: str) -> None:
    assert (construct(name).depth,) == NAMED[name]


def test_modular_arithmetic_in_three_layers() -> None:
    """Components of 2 / 5 and 6 points ... in less than five seconds, checked."""
    begun = time.process_time()
    made = construct("mod_arith:5")
    assert check(full_certificate(made)).verdict == "valid"
    assert time.process_time() - begun < 5
    assert len(made.layers) == 3
    degrees = [level.degrees for level in cascade(automaton("mod_arith:5")).levels]
    assert [max(d) for d in degrees] == [2, 5, 6]


@cache
def holonomy_table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads((DATA / "holonomy.json").read_text())
    return table


def of_the_table(name: str) -> Automaton:
    rows = np.array(holonomy_table()[name]["transformations"], dtype=np.int64) - 1
    return points(rows.tolist(), name=name)


def full_cascade(name: str) -> tuple[LRNN, float]:
    begun = time.process_time()
    (made,) = realisations_of(Problem(of_the_table(name)), "G.T4")
    assert isinstance(made, LRNN)
    assert check(full_certificate(made)).verdict == "valid"
    return made, time.process_time() - begun


@pytest.mark.parametrize(("name", "seconds"), [("random_9", 20), ("random_4", 120), ("random_7", 120)])
def test_full_cascades_of_hard_semigroups(name: str, seconds: float) -> None:
    """Those on which SgpDec needs 193 s or fails: certified, in time and memory, right in bf16."""
    made, spent = full_cascade(name)
    known = holonomy_table()[name]
    assert spent < seconds
    assert len(made.layers) == known["levels"]
    assert (
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 4_000_000
    )  # kilobytes, of the whole test process
    assert run(made, random_stream(made.automaton, 1, 20_000, 0), dtype="bf16").errors == 0


@pytest.mark.long
@pytest.mark.parametrize("name", sampled(json.loads((DATA / "holonomy.json").read_text()), 3))
def test_every_semigroup_of_the_table(name: str) -> None:
    made, _ = full_cascade(name)
    assert made.exactness == "integer"
    assert run(made, random_stream(made.automaton, 1, MILLION, 0), dtype="bf16").errors == 0
