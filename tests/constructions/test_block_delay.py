"""Block delay (DP.T1 ii, iii): figures, runs against the automaton, certificates and their corruptions."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mirrormata.constructions._delay import BlockDelay, RowIndex, swap_table
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.algebra._householder import permutation_factors
from mirrormata.constructions.algebra.groups._permutations import cycle_counts
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.certificates._delay import block_delay_from_certificate
from mirrormata.constructions.theorems._block_delay import choose_counter
from mirrormata.constructions.theorems.dp_t1 import block_delay
from mirrormata.foundation._errors import InputError, LimitError, NotRealisableError
from mirrormata.tests.constructions.random_automata import automaton_of
from mirrormata.tests.theory.corruption import corrupted, leaves, replaced, structural, value_at
from mirrormata.theory.checker import delay
from mirrormata.theory.checker._exact import Invalid
from mirrormata.theory.checker._program import parse
from mirrormata.theory.running._delay import DelayStepper
from mirrormata.theory.running._run import run, track
from mirrormata.theory.running._words import random_stream, random_words

FORMS = [
    ("S3", 1, "auto"), ("S3", 1, "two_layers"), ("S4", 1, "two_layers"), ("S4", 1, "ripple"), ("S4", 2, "auto"),
    ("S5", 1, "two_layers"), ("S5", 1, "ripple"), ("S5", 2, "auto"), ("S5", 3, "auto"), ("S5[transpositions]", 1, "ripple"),
    ("A5", 1, "ripple"), ("A5", 2, "rotation"), ("Z12", 1, "two_layers"), ("Z12", 2, "cycles"), ("mod:7", 2, "rotation"), ("mod:11", 2, "cycles"),
    ("dihedral:7", 2, "cycles"), ("dihedral:5", 1, "ripple"), ("mod:60", 2, "auto"), ("Q8", 2, "auto"),
]  # fmt: skip


def checked(document: Any) -> str:
    """The checker's word on the document as it would be read from a file."""
    return delay.check(parse(json.dumps(document)))


def refused(document: Any) -> bool:
    try:
        checked(document)
    except Invalid:
        return True
    return False


def errors(form: BlockDelay, automaton: Automaton, tokens: int = 400, dtype: str = "bf16") -> int:
    words = random_words(automaton, 8, tokens, 3)
    return track(DelayStepper(form, dtype), automaton, words).errors


def test_figures_of_s5() -> None:
    wanted: dict[tuple[int, str], tuple[int, int, str]] = {
        (1, "any"): (4, 1, "algebraic"),
        (1, "integer"): (5, 1, "integer"),
        (2, "any"): (3, 2, "integer"),
        (3, "any"): (3, 3, "integer"),
    }
    for (householders, exactness), figures in wanted.items():
        form = block_delay("S5", householders, exactness=exactness)
        assert (form.depth, form.householders, form.exactness) == figures
        assert form.block >= -(-4 // householders)
    assert block_delay("S5", 1, exactness="integer").formats[-1] == "fp8_e5m2"
    assert block_delay("S5", 1, exactness="integer").block == 4
    assert block_delay("S6", 2).depth == 3
    assert block_delay("S6", 2).exactness == "integer"


@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_symmetric_groups(n: int) -> None:
    automaton = automaton_from_spec(f"S{n}")
    for householders in range(1, n - 1):
        for exactness in ("any", "integer") if householders == 1 else ("any",):
            form = block_delay(automaton, householders, exactness=exactness)
            assert form.householders == householders
            assert form.degree == n
            if form.exactness == "integer":
                assert errors(form, automaton) == 0
            else:
                assert errors(form, automaton, dtype="fp64") == 0
    with pytest.raises(InputError, match="one layer"):
        block_delay(automaton, n - 1)


@pytest.mark.parametrize(("spec", "householders", "counter"), FORMS)
def test_runs_and_certificates(spec: str, householders: int, counter: str) -> None:
    form = block_delay(spec, householders, counter=counter)
    dtype = "fp64" if form.exactness == "algebraic" else form.formats[-1]
    assert errors(form, form.automaton, dtype=dtype) == 0
    document = form.certificate()
    assert "equal on all words" in checked(document)
    again = block_delay_from_certificate(document)
    assert again.certificate() == document
    assert errors(again, again.automaton, dtype=dtype) == 0
    draw = random.Random(spec)
    places = leaves(document)
    for _ in range(200 if len(places) < 10_000 else 40):
        path = draw.choice(places)
        value = corrupted(value_at(document, path), draw)
        assert refused(replaced(document, path, value)), (path, value)


@pytest.mark.parametrize(
    ("spec", "householders", "counter"),
    [("S3", 1, "two_layers"), ("S3", 1, "ripple"), ("mod:9", 2, "cycles"), ("mod:8", 3, "ripple")],
)
def test_every_small_corruption(spec: str, householders: int, counter: str) -> None:
    document = block_delay(spec, householders, counter=counter).certificate()
    draw = random.Random(0)
    for path in leaves(document):
        value = corrupted(value_at(document, path), draw)
        assert refused(replaced(document, path, value)), (path, value)
    for what, path, wrong in structural(document):
        if path[:1] != ("labels",):
            assert refused(wrong), (what, path)


def test_the_checker_runs_alone(tmp_path: Path) -> None:
    document = block_delay("S4", 1).certificate()
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(document))
    done = subprocess.run(
        [sys.executable, "-I", str(delay.__file__), str(path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout[:6]) == (0, "valid:")
    path.write_text(json.dumps({**document, "block": 4}))
    done = subprocess.run(
        [sys.executable, "-I", str(delay.__file__), str(path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout[:8]) == (1, "invalid:")


def test_the_wrong_order_is_noticed() -> None:
    left, right = automaton_from_spec("S4"), automaton_from_spec("S4", product="right")
    form = block_delay(left, 1, exactness="integer")
    assert left.states == right.states
    assert errors(form, left) == 0
    assert errors(form, right) > 1000
    assert errors(block_delay(right, 1, exactness="integer"), right) == 0
    document = form.certificate()
    table = {**document["automaton"], "transitions": right.transitions.tolist()}
    assert refused({**document, "automaton": table})
    backwards = replace(form, points=np.argsort(form.points, axis=1))
    assert errors(backwards, left) > 1000
    report = run(backwards, random_words(left, 4, 200, 0))
    assert report.errors > 400


def test_a_broken_layer_is_noticed() -> None:
    form = block_delay("S5", 1, exactness="integer")
    words = random_words(form.automaton, 4, 300, 0)
    stepper = DelayStepper(form, "bf16")
    stepper.slots_before = np.roll(stepper.slots_before, 1, axis=1)
    assert track(stepper, form.automaton, words).errors > 100
    stepper = DelayStepper(form, "bf16")
    stepper.counter.heads[1][0].matrices[1, 0, 0] = 1  # the second bit never flips
    assert track(stepper, form.automaton, words).errors > 100
    stepper = DelayStepper(form, "bf16")
    stepper.element_swaps = stepper.element_swaps[:, :, ::-1]  # the groups in the wrong order
    assert track(stepper, form.automaton, words).errors > 100


@st.composite
def group_automata(draw: st.DrawFn) -> Automaton:
    """Permutations of up to 7 states, of which several may lie in one orbit only; some letters do nothing."""
    n = draw(st.integers(3, 7))
    letters = draw(st.lists(st.permutations(range(n)), min_size=1, max_size=3))
    idle = [list(range(n))] * draw(st.integers(0, 1))
    return automaton_of([*letters, *idle], start=draw(st.integers(0, n - 1))).trim()


@settings(max_examples=25, deadline=None)
@given(group_automata(), st.integers(1, 3), st.sampled_from(["any", "integer"]))
def test_random_group_automata(automaton: Automaton, householders: int, exactness: str) -> None:
    message = ""
    try:
        form = block_delay(automaton, householders, exactness=exactness, max_group=1000)
    except InputError as error:
        message = str(error)
    if message:
        assert "one layer suffices" in message
        return
    assert form.householders == householders
    words = random_words(automaton, 3, 60, 1)
    assert track(DelayStepper(form, "fp64"), automaton, words).errors == 0
    if form.elements is not None:
        assert (form.elements[0] == np.arange(form.degree)).all()
        needed = int((form.degree - cycle_counts(form.elements)).max())
        assert form.block >= -(-needed // householders) >= 2
        if len(form.elements) <= 200:
            assert "equal on all words" in checked(form.certificate())


def test_groups_too_large_to_list() -> None:
    cycle, swapped = [*range(1, 12), 0], [1, 0, *range(2, 12)]
    automaton = automaton_of([cycle, swapped], start=5)
    form = block_delay(automaton, 3, exactness="integer")
    assert form.elements is None
    assert form.block >= 4
    assert errors(form, automaton, dtype="fp8_e5m2") == 0
    assert run(form, random_words(automaton, 2, 3000, 0)).errors == 0
    with pytest.raises(LimitError, match="`max_group`"):
        form.certificate()
    with pytest.raises(LimitError, match="`max_group`"):
        block_delay("S5", 2).certificate(max_group=100)


def test_refusals() -> None:
    with pytest.raises(NotRealisableError, match="merges states"):
        block_delay("flipflop", 1)
    with pytest.raises(NotRealisableError, match="ripple"):
        block_delay("S5", 1, counter="rotation")
    with pytest.raises(NotRealisableError, match="ripple"):
        block_delay("S5", 1, counter="two_layers", exactness="integer")
    for options in ({"counter": "clock"}, {"exactness": "exact"}):
        with pytest.raises(InputError, match=r"^`(counter|exactness|householders)` "):
            block_delay("S5", 1, **options)  # type: ignore[arg-type]
    for householders in (0, -1, True, 1.5):
        with pytest.raises(InputError, match="`householders`"):
            block_delay("S5", householders)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="one layer suffices"):
        block_delay("Z1", 1)
    with pytest.raises(InputError, match="malformed"):
        block_delay_from_certificate({**block_delay("S3", 1).certificate(), "block": 7})


def test_mealy_outputs_are_certified() -> None:
    table = [[1, 2, 3, 4, 0], [1, 0, 2, 3, 4]]
    values = np.array([["u", "v", "u", "v", "w"], ["w", "w", "u", "u", "v"]], dtype=object)
    form = block_delay(automaton_of(table, outputs=values), 2)
    document = form.certificate()
    assert "equal on all words" in checked(document)
    for x, row in enumerate(document["outputs"]):
        for i in range(len(row)):
            wrong = replaced(document, ("outputs", x, i), (row[i] + 1) % 3)
            assert refused(wrong)


@pytest.mark.parametrize("kind", ["ripple", "rotation", "two_layers", "cycles"])
def test_counters(kind: str) -> None:
    for least in range(4, 21, 2):
        counter = choose_counter(kind, least, 4, integer=False)
        assert counter is not None
        assert counter.period >= least
        assert counter.householders <= 4
        joint = list(zip(*(head.code_at for head in counter.heads), strict=True))
        assert len(set(joint)) == counter.period
        # once more around from the last phase: the exact image is the first code
        for layer in counter.layers:
            for head in layer.heads:
                column: Any = [(x,) for x in head.codes[head.code_at[-1]]]
                for factor in head.transitions[layer.reads[0]]:
                    column = factor.apply(column)
                assert tuple(x for (x,) in column) == head.codes[0]


@given(st.lists(st.permutations(range(7)), min_size=1, max_size=20))
def test_the_rule_is_that_of_the_factors(images: list[list[int]]) -> None:
    table = swap_table(np.array(images), 6)
    for image, first, second in zip(images, *table, strict=True):
        given_swaps = [(i, j) for i, j in zip(first.tolist(), second.tolist(), strict=True) if i != j]
        assert given_swaps == [(f.vector[0][0], f.vector[1][0]) for f in permutation_factors(image)]
    rows = np.unique(np.array(images), axis=0)
    index = RowIndex(rows)
    assert (index.find(rows) == np.arange(len(rows))).all()
    assert (index.find(rows + 0.5) == -1).all()


def test_pieces_side_by_side_and_one_after_another() -> None:
    form = block_delay("S5", 1, exactness="integer")
    for sequences, length in ((1, 5003), (3, 999), (300, 40), (2, 7), (1, 0)):
        words = random_stream(form.automaton, sequences, length, 5)
        report = run(form, words)
        assert (report.errors, report.tokens) == (0, sequences * length)
        assert "pieces" in report.order
    stepper = DelayStepper(form, "bf16")
    tokens = random_words(form.automaton, 2, 48, 0)
    states = stepper.initial(2)
    codes = np.zeros((2, 49), dtype=np.int64)
    for t in range(48):
        states = stepper.step(states, tokens[:, t])
        codes[:, t + 1] = stepper.code(states)
    exact = stepper.after_block(np.roll(tokens[:, 40:48], 1, axis=1), codes[:, 44])
    assert states.same_numbers(exact)
    assert not states.same_numbers(stepper.after_block(tokens[:, 40:48], codes[:, 44]))
    stepped = stepper.step(exact, tokens[:, 0])
    assert stepped.same_numbers(stepper.step(states, tokens[:, 0]))
    assert run(form, tokens, sequential=True).order == "token by token"


def test_an_algebraic_counter_in_a_narrow_format_is_counted_honestly() -> None:
    form = block_delay("S5", 1)
    report = run(form, random_words(form.automaton, 2, 1000, 0), dtype="fp8_e5m2")
    assert report.errors > 0
    assert run(form, random_words(form.automaton, 2, 1000, 0), dtype="fp64").errors == 0
