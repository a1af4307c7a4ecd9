"""Lower bounds: known values, oracles on small automata, agreement of package and checker, and corruptions refused."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import count, product
from math import lcm
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mirrormata.constructions._construct import construct
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.algebra.groups._permutations import cycle_lengths
from mirrormata.constructions.algebra.monoids._monoid import TransitionMonoid
from mirrormata.constructions.algebra.monoids._solvable import group_order
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.foundation._errors import InputError
from mirrormata.tests.constructions.random_automata import (
    automata,
    automaton_of,
    group_actions,
    permutation_automata,
    renamed,
)
from mirrormata.tests.theory.corruption import corrupted, leaves, replaced, structural, value_at
from mirrormata.theory import checker
from mirrormata.theory.checker import bound as bound_checker
from mirrormata.theory.checker._exact import Invalid
from mirrormata.theory.checker._program import parse
from mirrormata.theory.planning._bounds import Bound, bound_certificate, bounds
from mirrormata.theory.planning._cycles import proper_cycles

FOLDER = Path(checker.__file__).parent
# spec: the largest bound of each figure
KNOWN: dict[str, dict[str, int]] = {
    "S5": {"householders": 4, "beta": 2, "layers_beyond_nonnegative": 1, "layers_beyond_real": 1, "single_factor_layers": 2},
    "S5[transpositions]": {"householders": 1, "beta": 2, "layers_beyond_nonnegative": 1, "layers_beyond_real": 1},
    "S5[generators]": {"householders": 4, "beta": 2, "layers_beyond_nonnegative": 1, "layers_beyond_real": 1, "single_factor_layers": 2},
    "mod:2": {"householders": 1, "beta": 2, "layers_beyond_nonnegative": 1},
    "parity": {"householders": 1, "beta": 2, "layers_beyond_nonnegative": 1},
    "mod:3": {"householders": 2, "beta": 2, "layers_beyond_nonnegative": 1, "layers_beyond_real": 1, "single_factor_layers": 2},
    "mod:4": {"householders": 2, "beta": 2, "layers_beyond_nonnegative": 1, "triangular_layers": 2, "single_factor_layers": 2},
    "mod:16": {"householders": 2, "beta": 2, "layers_beyond_nonnegative": 1, "triangular_layers": 4, "single_factor_layers": 2},
    "dihedral:7": {"householders": 2, "beta": 2, "layers_beyond_nonnegative": 1, "layers_beyond_real": 1, "single_factor_layers": 2},
    "Q8": {"householders": 2, "beta": 2, "layers_beyond_nonnegative": 1, "triangular_layers": 2, "single_factor_layers": 2},
    "A5": {"householders": 2, "beta": 2, "layers_beyond_nonnegative": 1, "layers_beyond_real": 1, "single_factor_layers": 2},
    "A5[involutions]": {"householders": 1, "beta": 2, "layers_beyond_nonnegative": 1, "layers_beyond_real": 1},
    "Z2^4": {"householders": 1, "beta": 2, "layers_beyond_nonnegative": 1},
    "mod_arith:5": {"beta": 2, "layers_beyond_nonnegative": 1, "layers_beyond_real": 1, "state_size": 3},
    "tomita:3": {"householders": 1, "beta": 2, "layers_beyond_nonnegative": 1, "state_size": 4, "layers": 2},
    "tomita:4": {"state_size": 3, "layers": 2},
    "tomita:7": {"state_size": 3, "layers": 2},
    "even_pairs": {"state_size": 2, "layers": 2},
    "boxes:3,2": {"state_size": 2},
    "boxes:5,4": {"state_size": 4},
    "dyck:2,3": {"state_size": 15},
    "regex:(a|b)*a(a|b)(a|b)(a|b)": {"state_size": 4},
    "flipflop": {},
    "gridworld:5": {"state_size": 4},
    "T3": {"householders": 2, "beta": 2, "layers_beyond_nonnegative": 1, "layers_beyond_real": 1, "single_factor_layers": 2, "state_size": 2, "layers": 2},
    "T4": {"householders": 2, "beta": 2, "layers_beyond_nonnegative": 1, "layers_beyond_real": 1, "single_factor_layers": 2, "state_size": 3, "layers": 2},
    "T5": {"householders": 4, "beta": 2, "layers_beyond_nonnegative": 1, "layers_beyond_real": 1, "single_factor_layers": 2, "state_size": 4, "layers": 2},
}  # fmt: skip
CERTIFIED = [
    "S5[generators]", "mod:3", "mod:8", "parity", "T3", "T5", "tomita:3", "dihedral:5", "tomita:4", "even_pairs", "boxes:3,2",
]  # fmt: skip


@cache
def found(spec: str) -> tuple[Bound, ...]:
    return bounds(automaton_from_spec(spec))


def largest(some: tuple[Bound, ...]) -> dict[str, int]:
    result: dict[str, int] = {}
    for bound in some:
        result[bound.figure] = max(result.get(bound.figure, 0), bound.at_least)
    return result


def by(some: tuple[Bound, ...], figure: str, reason: str | None = None) -> Bound | None:
    return next((b for b in some if b.figure == figure and reason in (None, b.reason)), None)


def verdict(document: Any) -> str:
    try:
        return "valid: " + bound_checker.check(parse(json.dumps(document)))
    except Invalid as reason:
        return f"invalid: {reason}"


def brute_words(automaton: Automaton) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All words in their order with the maps they induce, until a length brings no new map."""
    seen: set[tuple[int, ...]] = set()
    for length in count():
        fresh = False
        for word in product(range(len(automaton.letters)), repeat=length):
            image = tuple(
                automaton.trace([list(word)], start=q)[0, -1] if word else q
                for q in range(len(automaton.states))
            )
            if image not in seen:
                seen.add(image)
                fresh = True
                yield word, tuple(int(q) for q in image)
        if not fresh:
            return


def brute_cycle(image: tuple[int, ...], q: int) -> tuple[int, ...]:
    """The cycle through q; empty where q is on none or stays."""
    orbit = [q]
    for _ in image:
        orbit.append(image[orbit[-1]])
    return tuple(orbit[: orbit.index(q, 1)]) if q in orbit[1:] and image[q] != q else ()


def check_witness(automaton: Automaton, bound: Bound) -> None:
    """Replays word and cycle through the automaton's own trace."""
    word, cycle = bound.data["word"], bound.data["cycle"]
    states = automaton.trace([word * len(cycle)], start=cycle[0])[0]
    assert states[len(word) - 1 :: len(word)].tolist() == [*cycle[1:], cycle[0]]
    assert len(set(cycle)) == len(cycle) > 1


@pytest.mark.parametrize("spec", KNOWN)
def test_known_values(spec: str) -> None:
    assert largest(found(spec)) == KNOWN[spec]
    for bound in found(spec):
        assert bound.text.startswith(f"{bound.figure} ≥ {bound.at_least} ({bound.reason}): ")
        assert "\n" not in bound.text
        assert bound.hypotheses in bound.text
        assert (bound.kind == "cited") == (bound.reason in ("G.T1", "G.T2"))
        assert verdict(bound.certificate()).startswith("valid: ")
        if "cycle" in bound.data:
            check_witness(bound.automaton, bound)


@pytest.mark.parametrize("spec", [s for s in KNOWN if KNOWN[s]])
def test_joint_certificates(spec: str) -> None:
    figures = ", ".join(f"{b.figure} >= {b.at_least}" for b in found(spec))
    assert verdict(bound_certificate(found(spec))).endswith(figures)


def test_no_bounds_no_certificate() -> None:
    with pytest.raises(InputError, match="no bounds"):
        bound_certificate(())
    with pytest.raises(InputError, match="different automata"):
        bound_certificate((*found("mod:3"), *found("mod:4")))
    for wrong in ("mod:4", (1,), None):
        with pytest.raises(InputError, match="`found`: it must be bounds"):
            bound_certificate(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "spec",
    ["S5", "S5[generators]", "S5[transpositions]", "S5_x_Z2", "S4", "A5", "A5[involutions]", "mod:7", "Q8", "dihedral:6", "cycle:5", "Z2^3"],
)  # fmt: skip
def test_no_construction_is_below_a_bound(spec: str) -> None:
    made = construct(spec)
    assert len(made.layers) == 1
    assert made.householders is not None
    assert largest(found(spec))["householders"] <= made.householders


@given(st.one_of(permutation_automata(max_states=7), group_actions()))
@settings(deadline=None, max_examples=60)
def test_random_constructions_are_not_below(automaton: Automaton) -> None:
    made = construct(automaton)
    assert len(made.layers) == 1
    assert made.householders is not None
    assert largest(bounds(automaton)).get("householders", 0) <= made.householders


def test_attained() -> None:
    for spec in (
        "S5",
        "S5[transpositions]",
        "parity",
        "mod:60",
        "S3",
        "A4",
        "S4",
        "A5",
        "Z2^4",
        "A5[involutions]",
    ):
        assert largest(found(spec))["householders"] == construct(spec).householders


@given(automata(max_states=4, max_letters=2))
@settings(deadline=None, max_examples=60)
def test_first_words(automaton: Automaton) -> None:
    """The witnesses are those of a search through all words in their order."""
    states = range(len(automaton.states))
    wanted: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {}
    longest = 2
    for word, image in brute_words(automaton):
        for cycle in (brute_cycle(image, q) for q in states):
            if cycle:
                wanted.setdefault("layers_beyond_nonnegative", (word, cycle))
                if len(cycle) not in (2, 4):
                    wanted.setdefault("layers_beyond_real", (word, cycle))
                if len(cycle) > longest:
                    longest = len(cycle)
                    wanted["triangular_layers"] = word, cycle
                if len(word) == 1 and len(cycle) > 2:
                    wanted.setdefault("single_factor_layers", (word, cycle))
    if "layers_beyond_real" in wanted:
        wanted.pop("triangular_layers", None)
    if "layers_beyond_nonnegative" in wanted:
        wanted["beta"] = wanted["layers_beyond_nonnegative"]
    some = bounds(automaton)
    named = {b.figure: b for b in some if b.figure not in ("householders", "state_size", "layers")}
    assert {f: (tuple(b.data["word"]), tuple(b.data["cycle"])) for f, b in named.items()} == wanted
    assert TransitionMonoid.of(automaton).is_aperiodic == (not named)
    letters = [
        len(c) for row in automaton.transitions for q in states if (c := brute_cycle(tuple(row.tolist()), q))
    ]
    bound = by(some, "householders")
    assert (bound.at_least if bound else 0) == min(max(letters, default=1) - 1, 2)


@given(st.one_of(automata(max_states=7), permutation_automata()), st.integers(0, 99))
@settings(deadline=None, max_examples=60)
def test_package_and_checker_agree(automaton: Automaton, seed: int) -> None:
    some = bounds(automaton)
    table = some[0].automaton.transitions if some else automaton.transitions
    mine = bound_checker.bounds(table.tolist(), table.shape[1])
    searched = [
        b for b in some if b.reason != "own.LMI"
    ]  # whose equations the checker adds up, and does not find
    assert [b["evidence"] for b in mine] == [b.data for b in searched]
    assert [(b["figure"], b["at_least"], b["reason"]) for b in mine] == [
        (b.figure, b.at_least, b.reason) for b in searched
    ]
    if some:
        assert verdict(bound_certificate(some)).startswith("valid: ")
    assert largest(bounds(renamed(automaton, seed))) == largest(some)


@given(automata(max_states=4, max_letters=3, keep_points=True))
@settings(deadline=None, max_examples=100)
def test_all_maps_are_recognised(automaton: Automaton) -> None:
    n = len(automaton.states)
    everything = n > 1 and TransitionMonoid.of(automaton).size == n**n
    bound = by(bounds(automaton), "state_size", "PD.N-1")
    assert (bound is not None and "collapse" in bound.data) == everything
    if everything:
        assert bound is not None
        assert bound.at_least == n - 1


@given(
    st.lists(st.permutations(range(4)), min_size=1, max_size=3),
    st.lists(st.integers(0, 3), min_size=4, max_size=4),
)
@settings(deadline=None, max_examples=100)
def test_all_maps_of_four_points(rows: list[list[int]], merging: list[int]) -> None:
    """Mostly permutations, so that all 256 maps do occur."""
    automaton = automaton_of([*rows, merging], keeps_points=True)
    bound = by(bounds(automaton), "state_size", "PD.N-1")
    assert (bound is not None and "collapse" in bound.data) == (TransitionMonoid.of(automaton).size == 256)


@given(st.lists(st.permutations(range(5)), min_size=1, max_size=4))
@settings(deadline=None, max_examples=100)
def test_four_factors_for_s5_with_a_five_cycle(rows: list[list[int]]) -> None:
    """On five points: exactly where the group is S_5 and a letter is a 5-cycle."""
    automaton = automaton_of(rows, keeps_points=True)
    five = any(lcm(*cycle_lengths(row)) == 5 for row in automaton.transitions)
    bound = by(bounds(automaton), "householders", "CK.S5")
    assert (bound is not None) == (five and group_order(automaton) == 120)


@pytest.mark.parametrize(
    ("spec", "there"),
    [("S5", True), ("S5_x_Z2", True), ("S6", True), ("T5", True), ("A5", False), ("A5_x_Z2", False), ("A6[generators]", False), ("S4", False), ("mod:5", False), ("S5[transpositions]", False)],
)  # fmt: skip
def test_where_four_factors_are_needed(spec: str, there: bool) -> None:
    assert (by(found(spec), "householders", "CK.S5") is not None) == there


def test_both_product_orders() -> None:
    right = bounds(automaton_from_spec("S5", product="right"))
    assert largest(right)["householders"] == 4


def test_cycles_of_a_map_with_tails() -> None:
    automaton = automaton_of([[1, 2, 1, 0, 5, 4, 6, 4]], keeps_points=True)
    assert (
        proper_cycles(automaton.transitions[0])
        == [(1, 2), (4, 5)]
        == bound_checker.cycles(tuple(automaton.transitions[0].tolist()))
    )


def test_unreachable_states_do_not_count_unless_kept() -> None:
    automaton = automaton_of([[0, 2, 1]])
    assert bounds(automaton) == ()
    assert largest(bounds(replace(automaton, keeps_points=True)))["beta"] == 2


@pytest.mark.parametrize("spec", CERTIFIED)
def test_any_leaf_changed_is_noticed(spec: str) -> None:
    document = bound_certificate(found(spec))
    draw = random.Random(spec)
    places = leaves(document)
    numbers = [path for path in places if path[0] == "bounds"]
    for i in range(200):
        path = draw.choice(numbers if i % 3 == 0 else places)
        changed = replaced(document, path, corrupted(value_at(document, path), draw))
        assert verdict(changed).startswith("invalid: "), path


@pytest.mark.parametrize("spec", ["mod:3", "mod:8", "T3", "tomita:3"])
def test_any_structure_changed_is_noticed(spec: str) -> None:
    """But fewer of the bounds are a certificate of these."""
    document = bound_certificate(found(spec))
    for what, where, changed in structural(document):
        fewer = where == ("bounds",) and what.startswith("no entry") and len(document["bounds"]) > 1
        relabelled = where in (("labels", "states"), ("labels", "letters"))
        if not (relabelled and "exchanged" in what):
            assert verdict(changed).startswith("valid: " if fewer else "invalid: "), (what, where)


@pytest.mark.parametrize("spec", ["mod:3", "T4", "S5[generators]"])
def test_another_bound_is_refused(spec: str) -> None:
    document = bound_certificate(found(spec))
    for i, entry in enumerate(document["bounds"]):
        for other in bound_checker.RULES:
            if other != (entry["figure"], entry["reason"]):
                kind, hypotheses = bound_checker.RULES[other]
                changed = {
                    **entry,
                    "figure": other[0],
                    "reason": other[1],
                    "kind": kind,
                    "hypotheses": hypotheses,
                }
                assert verdict(replaced(document, ("bounds", i), changed)).startswith("invalid: ")


def test_alone(tmp_path: Path) -> None:
    files = ("_cyclotomic.py", "_exact.py", "_labels.py", "_one_vector.py", "_program.py", "bound.py")
    for name in files:
        shutil.copy(FOLDER / name, tmp_path)
    (tmp_path / "good.json").write_text(json.dumps(bound_certificate(found("S5"))))
    bad = replaced(bound_certificate(found("S5")), ("bounds", 1, "at_least"), 5)
    (tmp_path / "bad.json").write_text(json.dumps(bad))
    folder = tmp_path / "checker"
    folder.mkdir()
    for name in files:
        shutil.move(tmp_path / name, folder)
    for file, status, text in (
        ("good.json", 0, "valid: 120 states, 120 letters"),
        ("bad.json", 1, "invalid: "),
    ):
        command = [sys.executable, "-I", "-S", str(folder / "bound.py"), str(tmp_path / file)]
        outcome = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert (outcome.returncode, outcome.stderr) == (status, "")
        assert outcome.stdout.startswith(text)
