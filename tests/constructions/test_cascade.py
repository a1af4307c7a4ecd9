"""The holonomy cascade: it emulates, from every joint state; and the tests of that can fail."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.cascades._automata import Cascade, CascadeLevel
from mirrormata.constructions.cascades._cascade import cascade, merge_letters
from mirrormata.constructions.cascades._emulation import check_emulation, emulate, prove_emulation
from mirrormata.constructions.cascades._holonomy import holonomy_of_maps
from mirrormata.foundation._errors import LimitError, MirrormataError

Maps = np.ndarray[Any, np.dtype[np.int64]]

DATA = Path(__file__).parents[1] / "data"
CASES: dict[str, dict[str, Any]] = json.loads((DATA / "holonomy.json").read_text())
FILES = ["microbug", "smallp2hnt", "nosingleton", "full_t3", "identity_only", "trivial"]
SPECS = [
    *(f"tomita:{i}" for i in range(1, 8)),
    *(
        "mod_arith:5",
        "dyck1:4",
        "dyck:2,2",
        "flipflop",
        "permreset:4",
        "even_pairs",
        "gridworld:6",
        "boxes:2,2",
    ),
    *("parity", "S3", "regex:(ab)*", "regex:(abab)*"),
]


def maps_of(name: str) -> Maps:
    return np.array(CASES[name]["transformations"], dtype=np.int64) - 1


def require_emulation(built: Cascade, exhaustive_limit: int = 200_000) -> None:
    """By every step, by the proof, and by the tables' own shape."""
    check = check_emulation(built, exhaustive_limit=exhaustive_limit, samples=500)
    assert check.failure is None
    assert prove_emulation(built).failure is None
    if check.kind == "exhaustive":
        assert check.checked == built.joint_states * len(built.letter_of)
    for number, level in enumerate(built.levels):
        last = number == len(built.levels) - 1
        following = built.holonomy.sets.points if last else built.levels[number + 1].letters
        assert level.next_letter.max(initial=-1) < following
        assert level.action_of.shape == (len(level.classes), level.letters)
        for component, degree in enumerate(level.degrees):
            table = level.actions[component]
            assert table.shape[1] == degree
            assert len(np.unique(table, axis=0)) == len(table)
            assert set(level.action_of[component].tolist()) == set(range(len(table)))
            for action in range(len(table)):
                if level.kind(component, action) == "reset":
                    assert (table[action] == table[action][0]).all()
        for letter, read in enumerate(level.reads.tolist()):
            width = 1 if read < 0 else level.degrees[read]
            assert (level.next_letter[letter] >= 0).sum() == width
            if last and read >= 0:
                assert level.kind(read, int(level.action_of[read, letter])) != "reset"


@pytest.mark.parametrize("name", CASES)
def test_known_semigroups(name: str) -> None:
    skeleton = holonomy_of_maps(maps_of(name))
    built = cascade(skeleton, check=False)
    require_emulation(built)
    assert [len(level.classes) for level in built.levels] == [
        len(level) for level in CASES[name]["by_height"]
    ]


@pytest.mark.parametrize("spec", [*SPECS, *(str(DATA / "cases" / f"{name}.txt") for name in FILES)])
def test_words_from_every_start(spec: str) -> None:
    automaton = automaton_from_spec(spec, alphabet="ab" if spec.startswith("regex:") else None)
    built = cascade(automaton)
    require_emulation(built)
    words = np.random.default_rng(1).integers(0, len(automaton.letters), size=(8, 40))
    for start in range(len(automaton.states)):
        assert (emulate(built, words, start) == automaton.trace(words, start)).all()


def test_mod_arith_has_three_levels() -> None:
    """A flip-flop for ill-formed words, then the product's factor, then the sum."""
    built = cascade(automaton_from_spec("mod_arith:5"))
    classes = built.holonomy.classes
    assert [[(classes[c].degree, classes[c].name) for c in level.classes] for level in built.levels] == [
        [(2, "1")],
        [(5, "C4")],
        [(6, "C5")],
    ]


maps_strategy = st.integers(1, 6).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, n - 1), min_size=n, max_size=n), min_size=0, max_size=3).map(
        lambda rows: np.array(rows, dtype=np.int64).reshape(len(rows), n)
    )
)


@settings(max_examples=150, deadline=None)
@given(maps_strategy, st.booleans(), st.integers(0, 2**32 - 1))
def test_random_semigroups(maps: Maps, merge: bool, seed: int) -> None:
    built = cascade(holonomy_of_maps(maps), merge=merge, check=False)
    require_emulation(built, exhaustive_limit=20_000)
    points = maps.shape[1]
    assert (built.point_of(built.initial) == np.arange(points)).all()
    if len(maps):
        word = np.random.default_rng(seed).integers(0, len(maps), size=30)
        start = seed % points
        expected, current = [], start
        for x in word:
            current = int(maps[x, current])
            expected.append(current)
        assert emulate(built, word, start).tolist() == expected


@pytest.mark.long
@settings(max_examples=1000, deadline=None)
@given(maps_strategy, st.booleans())
def test_many_random_semigroups(maps: Maps, merge: bool) -> None:
    require_emulation(cascade(holonomy_of_maps(maps), merge=merge, check=False), exhaustive_limit=20_000)


def test_merging_keeps_only_different_letters() -> None:
    skeleton = holonomy_of_maps(maps_of("random_8"))
    plain, built = cascade(skeleton, merge=False), cascade(skeleton)
    assert [level.letters for level in built.levels] < [level.letters for level in plain.levels]
    for level in built.levels:
        rows = np.concatenate([level.action_of, level.reads[None], level.next_letter.T]).T
        assert len(np.unique(rows, axis=0)) == level.letters
        for letter, read in enumerate(level.reads.tolist()):
            if read >= 0:
                assert len(set(level.next_letter[letter, : level.degrees[read]].tolist())) > 1


def test_letters_that_read_different_components_are_not_merged() -> None:
    still = np.arange(2, dtype=np.int32)[None]
    level = CascadeLevel(
        classes=(0, 1),
        degrees=(2, 2),
        actions=(still, still),
        action_of=np.zeros((2, 4), dtype=np.int32),
        reads=np.array([0, 1, 1, 0], dtype=np.int32),
        next_letter=np.array([[0, 1], [0, 1], [2, 2], [0, 1]], dtype=np.int32),
    )
    levels, renumbered = merge_letters([level])
    assert renumbered.tolist() == [0, 1, 2, 0]
    assert levels[0].reads.tolist() == [0, 1, -1]
    assert levels[0].next_letter.tolist() == [[0, 1], [0, 1], [2, -1]]


def test_equal_letters_are_one() -> None:
    built = cascade(holonomy_of_maps(np.array([[1, 0, 0], [2, 2, 1], [1, 0, 0], [1, 0, 0]])))
    assert built.letter_of.tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize("name", ["MICROBUG", "tomita_3", "BEX", "T_3", "NOSINGLETON"])
def test_every_change_is_noticed_by_the_proof_as_by_the_steps(name: str) -> None:
    """One entry of one table changed: the proof fails exactly where some step of some joint state is wrong."""
    built = cascade(holonomy_of_maps(maps_of(name)))
    changed = noticed = 0
    for number, level in enumerate(built.levels):
        last = number == len(built.levels) - 1
        following = built.holonomy.sets.points if last else built.levels[number + 1].letters
        variants = []
        for component, (row, table) in enumerate(zip(level.action_of, level.actions, strict=True)):
            for letter in range(level.letters):
                action_of = level.action_of.copy()
                action_of[component, letter] = (row[letter] + 1) % len(table)
                variants.append(replace(level, action_of=action_of))
            for at in np.ndindex(table.shape):
                other = table.copy()
                other[at] = (other[at] + 1) % level.degrees[component]
                actions = (*level.actions[:component], other, *level.actions[component + 1 :])
                variants.append(replace(level, actions=actions))
        for at in zip(*np.nonzero(level.next_letter >= 0), strict=True):
            next_letter = level.next_letter.copy()
            next_letter[at] = (next_letter[at] + 1) % following
            variants.append(replace(level, next_letter=next_letter))
        for variant in variants:
            broken = replace(built, levels=(*built.levels[:number], variant, *built.levels[number + 1 :]))
            by_steps = check_emulation(broken).failure
            assert (by_steps is None) == (prove_emulation(broken).failure is None)
            changed += 1
            noticed += by_steps is not None
    assert noticed > changed / 2


def test_a_wrong_cascade_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import mirrormata.constructions.cascades._cascade as module

    monkeypatch.setattr(
        module, "merge_letters", lambda levels: (levels, np.zeros(levels[0].letters, dtype=np.int64))
    )
    with pytest.raises(MirrormataError, match="a defect of this program"):
        cascade(holonomy_of_maps(maps_of("T_3")))


def test_awkward_semigroups() -> None:
    point = cascade(holonomy_of_maps(np.zeros((2, 1), dtype=np.int64)))
    assert (point.levels, point.degrees, point.joint_states) == ((), (), 1)
    assert emulate(point, [0, 1, 1]).tolist() == [0, 0, 0]
    still = cascade(holonomy_of_maps(np.arange(4)[None]))
    assert still.degrees == (4,)
    assert emulate(still, [0, 0], 3).tolist() == [3, 3]
    silent = cascade(holonomy_of_maps(np.zeros((0, 3), dtype=np.int64)))
    assert silent.degrees == (3,)
    assert silent.point_of(silent.initial).tolist() == [0, 1, 2]
    fixed = cascade(holonomy_of_maps(np.array([[1, 0, 2, 3], [0, 0, 2, 3]])))
    assert (emulate(fixed, [0, 1, 0], 3) == 3).all()
    group = cascade(holonomy_of_maps(maps_of("S_5")))
    assert group.degrees == (5,)
    no_singleton = cascade(holonomy_of_maps(maps_of("NOSINGLETON")))
    assert no_singleton.degrees == (2, 2, 2, 2)


@pytest.mark.parametrize(("name", "letters"), [("random_4", 150), ("random_9", 400), ("random_7", 1000)])
def test_semigroups_too_large_to_list(name: str, letters: int) -> None:
    """The level letters stay few, whatever the number of joint states (10^14 to 10^19)."""
    built = cascade(holonomy_of_maps(maps_of(name)))
    assert built.joint_states > 10**14
    assert max(level.letters for level in built.levels) < letters
    word = np.random.default_rng(0).integers(0, len(built.letter_of), size=(50, 20))
    current = np.zeros(50, dtype=np.int64)
    for t, points in enumerate(emulate(built, word).T):
        current = maps_of(name)[word[:, t], current]
        assert (points == current).all()


def test_limits_are_errors_with_the_figure() -> None:
    skeleton = holonomy_of_maps(maps_of("random_9"))
    with pytest.raises(
        LimitError, match=r"141 letters on level 4 of 10 of the cascade; .* `max_level_letters`"
    ):
        cascade(skeleton, max_level_letters=140)
    with pytest.raises(LimitError, match="`max_image_sets`"):
        cascade(automaton_from_spec("T5"), max_image_sets=10)
    with pytest.raises(LimitError, match="T3: 3 letters on level 1"):
        cascade(automaton_from_spec("T3"), max_level_letters=2)


def test_sampling_is_reported_and_seeded() -> None:
    built = cascade(holonomy_of_maps(maps_of("random_3")))
    check = check_emulation(built, exhaustive_limit=1000, samples=70, seed=3)
    assert (check.kind, check.checked, check.failure) == ("sampled", 140, None)


def digest(built: Cascade) -> str:
    parts: list[np.ndarray[Any, Any]] = [built.letter_of, built.initial]
    for level in built.levels:
        parts += [*level.actions, level.action_of, level.reads, level.next_letter]
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()


def test_tables_do_not_depend_on_the_hash_seed() -> None:
    program = (
        "import sys; from mirrormata.constructions._spec import automaton_from_spec as a;"
        "from mirrormata.constructions.cascades._cascade import cascade;"
        "from mirrormata.tests.constructions.test_cascade import digest; print(digest(cascade(a('dyck:2,2'))))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in "12"
    }
    assert outputs == {digest(cascade(automaton_from_spec("dyck:2,2"))) + "\n"}
