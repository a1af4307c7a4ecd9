"""The checker of cascades: it refuses every wrong certificate, and every change of a leaf."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

import mirrormata
from mirrormata import construct, full_certificate
from mirrormata.constructions._document import write_certificate
from mirrormata.constructions.cascades._cascade import cascade
from mirrormata.constructions.cascades._layers import cascade_lrnn
from mirrormata.constructions.certificates._table import certificate
from mirrormata.tests.constructions.cascade_zoo import BY_HAND, OPTIONS, automaton_of, document, drawn, levels
from mirrormata.tests.samples import sampled
from mirrormata.tests.theory import cascade_corruption as corruption
from mirrormata.tests.theory.corruption import corrupted, leaves, other_values, replaced, structural, value_at
from mirrormata.theory.base.certificates import by_hand
from mirrormata.theory.checker import table
from mirrormata.theory.checker._exact import Invalid

CHECKERS = Path(mirrormata.__file__).parent / "theory" / "checker"
SEVERAL = [
    ("T3", "few"),
    ("T3", "one_hot"),
    ("T4", "few"),
    ("tomita:4", "gated"),
    ("microbug", "few"),
    ("nosingleton", "few"),
    ("gridworld:5", "few"),
    ("mod_arith:3", "few"),
    ("mod_arith:3", "gated one_hot"),
    ("dyck1:4", "few"),
    *((name, "few") for name in BY_HAND if levels(name) > 1),
    ("C4 and resets below a set", "one_hot"),
]
ONE_LEVEL = [("flipflop", "few"), ("permreset:4", "one_hot"), ("permreset:4", "gated"), ("S3", "few")]
STRUCTURAL = [("tomita:4", "few"), ("T3", "few"), ("tomita:4", "gated one_hot"), ("one letter", "few")]


def reason(changed: Any) -> str | None:
    """Why the checker refuses; None where it does not. Any exception but `Invalid` fails the test."""
    try:
        table.check(changed)
    except Invalid as invalid:
        return str(invalid)
    return None


def integers_near(right: Any, path: tuple[Any, ...]) -> list[int]:
    """Other integers that the place may hold."""
    here = value_at(right, path)
    return [x for x in range(-2, 14) if x != here] if type(here) is int else []


def noticed(right: dict[str, Any], count: int, draw: random.Random) -> None:
    """Random changes of leaves, half of them to an integer near; all refused."""
    paths = leaves(right)
    for _ in range(count):
        path = draw.choice(paths)
        near = integers_near(right, path)
        value = draw.choice(near) if near and draw.random() < 0.5 else corrupted(value_at(right, path), draw)
        assert reason(replaced(right, path, value)), (path, value_at(right, path), value)


@pytest.mark.parametrize(("name", "option"), SEVERAL + ONE_LEVEL)
def test_random_changes_of_leaves_are_noticed(name: str, option: str) -> None:
    noticed(document(name, option), 200, random.Random(0))


@pytest.mark.long
@pytest.mark.parametrize(("name", "option"), sampled(SEVERAL + ONE_LEVEL, 3))
def test_thousands_of_changes_of_leaves_are_noticed(name: str, option: str) -> None:
    noticed(document(name, option), 2_000, random.Random(1))


@pytest.mark.parametrize(("name", "option"), [("gridworld:3", "few"), ("flipflop", "few")])
def test_every_change_of_every_leaf_is_noticed(name: str, option: str) -> None:
    right = document(name, option)
    for path in leaves(right):
        for value in [*other_values(value_at(right, path)), *integers_near(right, path)]:
            assert reason(replaced(right, path, value)), (path, value_at(right, path), value)


KEPT: list[tuple[list[list[int]], int]] = [
    ([[0, 3, 2, 1]], 0),
    ([[0, 0, 0, 0], [0, 3, 2, 1]], 2),
    ([[0, 1, 3, 2], [2, 2, 2, 2]], 0),
    ([[0, 1, 2]], 2),
    ([[1, 0], [0, 1], [0, 0]], 1),
]


@pytest.mark.parametrize(("rows", "start"), KEPT)
@pytest.mark.parametrize("option", OPTIONS)
def test_no_leaf_of_one_level_is_free(rows: list[list[int]], start: int, option: str) -> None:
    """Kept points that no letter moves, one of them at zero; a start on the negative side."""
    a = automaton_of(rows, start)
    right = certificate(cascade_lrnn(a, cascade(a), **OPTIONS[option]))
    assert reason(right) is None
    for path in leaves(right):
        for value in integers_near(right, path):
            assert reason(replaced(right, path, value)), (path, value_at(right, path), value)


def every_leaf_of_drawn(seed: int, count: int, most: int) -> None:
    draw = random.Random(seed)
    for _ in range(count):
        a = drawn(draw, most)
        built = cascade(a)
        if len(built.levels) < 2:
            continue
        right = certificate(cascade_lrnn(a, built, **draw.choice(list(OPTIONS.values()))))
        assert reason(right) is None, (a.transitions.tolist(), a.start)
        for path in leaves(right):
            for value in integers_near(right, path):
                changed = replaced(right, path, value)
                assert reason(changed), (a.transitions.tolist(), a.start, path, value_at(right, path), value)


@pytest.mark.parametrize("seed", range(3))
def test_no_leaf_of_an_awkward_automaton_is_free(seed: int) -> None:
    """Twins, unreached states, equal letters, resets into overlapping sets: each integer of each leaf."""
    every_leaf_of_drawn(seed, 4, 4)


@pytest.mark.long
@pytest.mark.parametrize("seed", sampled(range(10, 20), 3))
def test_no_leaf_of_many_awkward_automata_is_free(seed: int) -> None:
    every_leaf_of_drawn(seed, 25, 5)


AMBIGUOUS: list[tuple[list[list[int]], int]] = [
    ([[2, 0, 0], [0, 2, 1], [0, 0, 0]], 1),
    ([[0, 2, 1, 2], [0, 0, 2, 0], [0, 2, 3, 2]], 3),
    ([[3, 0, 3, 3], [3, 3, 3, 3], [2, 3, 1, 3], [3, 3, 3, 3]], 3),  # a next letter: identity or reset below
]


@pytest.mark.parametrize(("rows", "start"), AMBIGUOUS)
def test_a_reset_goes_to_the_first_point_whose_set_holds_the_image(rows: list[list[int]], start: int) -> None:
    """Where several do, another is as right, but not canonical: no leaf is free."""
    a = automaton_of(rows, start)
    for options in (OPTIONS["few"], OPTIONS["gated one_hot"]):
        right = certificate(cascade_lrnn(a, cascade(a), **options))
        assert reason(right) is None
        tables = [path for path in leaves(right) if {"actions", "next", "covering", "additive"} & set(path)]
        for path in tables:
            for value in integers_near(right, path):
                assert reason(replaced(right, path, value)), (path, value_at(right, path), value)


@pytest.mark.parametrize(("name", "option"), STRUCTURAL)
def test_structural_changes_are_noticed(name: str, option: str) -> None:
    right = document(name, option)
    assert reason(right) is None
    for what, path, changed in structural(right):
        assert reason(changed), (what, path)


WRONG_FACTORS = [
    corruption.erase_then_swap,
    corruption.swap_then_erase_lower,
    corruption.without_swaps,
    corruption.without_erasing,
    corruption.erase_both,
]
DOUBLED = [
    ("T3", "few"),
    ("T3", "one_hot"),
    ("mod_arith:3", "one_hot"),
    ("mod_arith:3", "gated"),
    ("microbug", "few"),
]


@pytest.mark.parametrize(("name", "option"), DOUBLED)
def test_resets_of_doubled_states(name: str, option: str) -> None:
    """S·Π_v and Π_u·S are right; S·Π_u, Π_v·S, and either part alone are not."""
    right = document(name, option)
    assert any("pairs" in head for _, _, head in corruption.heads_of(right))
    assert reason(corruption.on_doubled_resets(right, corruption.swap_then_erase_upper)) is None
    for change in WRONG_FACTORS:
        wrong = corruption.on_doubled_resets(right, change)
        assert wrong != right
        found = reason(corruption.with_summary(wrong))
        assert found is not None, change
        assert "transitions[" in found or "does not tell the point before" in found, (change, found)
    assert reason(corruption.additive_below(right))


Corruptions = Callable[[dict[str, Any]], Iterator[dict[str, Any]]]
FAMILIES: list[Corruptions] = [
    corruption.without_additive,
    corruption.without_reading,
    corruption.reading_more,
    corruption.exchanged_rows,
    corruption.shuffled_points,
    corruption.exchanged_children,
    corruption.without_a_layer,
    corruption.idle_actions,
]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.__name__)
def test_structured_corruptions_are_refused(family: Corruptions) -> None:
    count = 0
    for name, option in SEVERAL:
        right = document(name, option)
        for number, wrong in enumerate(family(right)):
            if number >= 15:
                break
            assert wrong != right
            assert reason(wrong), (name, option, number)
            count += 1
    assert count >= 12


@pytest.mark.parametrize("name", ["mod_arith:5", "T4", "T3", "a C3 below resets"])
def test_transposed_permutations_are_refused(name: str) -> None:
    rows = [[1, 2, 0, 3], [3, 3, 3, 3], [0, 0, 1, 2]]
    if name == "a C3 below resets":
        a = automaton_of(rows)
        right = certificate(cascade_lrnn(a, cascade(a), coordinates="one_hot"))
    else:
        right = document(name, "one_hot")
    found = list(corruption.transposed(right))
    assert found
    for wrong in found:
        assert reason(wrong)


def test_single_states_are_refused_where_a_reset_is_read() -> None:
    count = 0
    for name, option in SEVERAL:
        for read, wrong in corruption.single_states(document(name, option)):
            found = reason(wrong)
            assert read, "every doubled head is read at a reset"
            assert found is not None
            assert "does not tell the point before" in found, (name, option, found)
            count += 1
    assert count >= 12


@pytest.mark.parametrize("name", ["T3", "tomita:4", "mod_arith:3"])
def test_the_state_before_is_not_what_is_said(name: str) -> None:
    """The last read-out names the old state, or the automaton's letters are exchanged."""
    right = document(name)
    wrong = deepcopy(right)
    for row in wrong["layers"][-1]["next"]:
        row.reverse()
    assert reason(wrong)
    other = deepcopy(right)
    delta = other["automaton"]["transitions"]
    delta[0], delta[1] = delta[1], delta[0]
    assert reason(other)


@pytest.mark.parametrize("name", ["T3", "tomita:4", "mod_arith:3", "gridworld:5", "one letter"])
def test_without_its_covering_a_cascade_is_refused(name: str) -> None:
    """Doubled heads belong to coverings; the checker of listed joint codes must not stumble over them."""
    bare = {key: value for key, value in document(name).items() if key != "covering"}
    assert reason(bare)


def test_no_covering_is_no_certificate() -> None:
    right = document("T3")
    broken: list[Any] = [
        [],
        [[0]],
        [[0, 0, []]],
        [[0, 0, [0, 0, 0]]],
        [[0, 0, [1, 1, 1]], [0]],
        {},
        None,
        [[]],
        [[0, 0]],
    ]
    for nodes in broken:
        assert reason({**right, "covering": nodes})
    assert reason({**document("flipflop"), "covering": right["covering"]})


def test_summary_figures_are_recomputed() -> None:
    right = document("mod_arith:3")
    for key, value in right["summary"].items():
        assert reason(replaced(right, ("summary", key), None))
        if type(value) is int:
            assert reason(replaced(right, ("summary", key), value + 1))
    assert reason(replaced(right, ("summary", "formats"), right["summary"]["formats"][:-1]))


@pytest.mark.parametrize(("name", "option"), [("T3", "few"), ("mod_arith:5", "gated"), ("flipflop", "few")])
def test_the_checker_runs_alone(name: str, option: str, tmp_path: Path) -> None:
    """With the standard library only, isolated from the package."""
    path = tmp_path / "certificate.json"
    write_certificate(document(name, option), path)

    def alone() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-I", "-S", str(CHECKERS / "table.py"), str(path)]
        return subprocess.run(command, check=False, capture_output=True, text=True, timeout=60, cwd=tmp_path)

    done = alone()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("valid: ")
    assert done.stdout.rstrip().endswith("equal on all words")
    wrong = deepcopy(document(name, option))
    wrong["automaton"]["transitions"][0][0] ^= 1
    write_certificate(wrong, path)
    done = alone()
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("invalid: ")


def test_checkers_are_short_and_use_the_standard_library() -> None:
    import ast

    for file in sorted(CHECKERS.glob("*.py")):
        text = file.read_text()
        assert len(text.splitlines()) < 300, file.name
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                assert all(name.name.split(".")[0] in sys.stdlib_module_names for name in node.names)
            if isinstance(node, ast.ImportFrom) and not node.level:
                assert node.module is not None
                assert node.module.split(".")[0] in sys.stdlib_module_names


def changes_of_actions_and_targets(right: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every letter of a head by another transition, and every entry of a read-out null."""
    for i, layer in enumerate(right["layers"]):
        for h, head in enumerate(layer["heads"]):
            for x, own in enumerate(head["actions"]):
                for other in range(len(head["transitions"])):
                    if other != own:
                        yield replaced(right, ("layers", i, "heads", h, "actions", x), other)
        for x, row in enumerate(layer["next"]):
            for column, target in enumerate(row):
                if target is not None:
                    yield replaced(right, ("layers", i, "next", x, column), None)


@pytest.mark.parametrize(
    ("spec", "reasons"),
    [
        ("mod_arith:3", ("it is null, but it occurs", "it must be a permutation", "it must be the reset to")),
        ("boxes:3,2", ("it is null, but it occurs", "it must be the identity", "it must be the reset to")),
    ],
)
def test_each_step_of_the_proof_refuses_what_it_is_for(spec: str, reasons: tuple[str, ...]) -> None:
    """Each reason is the last thing between some certificate and another reason: without the step, it would not be given."""
    right = full_certificate(construct(spec, theorem="G.T4"))
    found = []
    for changed in changes_of_actions_and_targets(right):
        try:
            found.append(reason(changed) or "")
        except (TypeError, LookupError) as error:  # what the step would have said in time
            found.append(repr(error))
    assert all(found)
    for text in reasons:
        assert any(text in why for why in found), text


def test_a_head_refuses_a_letter_that_leads_to_no_code() -> None:
    name, wrong = list(by_hand(False))[-1]
    assert name == "a reset to what is no code"
    assert reason(wrong) == "layers[0].heads[0].transitions[0]: code 0 does not go to a code"
