"""Levels of the holonomy cascade: the committed figures, and the fast count against the package's own."""

from __future__ import annotations

import re
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mirrormata.benchmarks import cascade_levels
from mirrormata.benchmarks.cascade_levels_picture import draw_cascade_levels
from mirrormata.benchmarks.cascade_levels_table import (
    RESULTS,
    family_table,
    histogram_table,
    levels_table,
    more_letters_table,
    read_results,
)
from mirrormata.benchmarks.deep_automata import (
    canonical_minimal,
    climb,
    full_cascade,
    is_minimal_for_some_final_state,
    order_preserving_family,
    table_of_code,
)
from mirrormata.benchmarks.subduction_heights import levels_of_tables
from mirrormata.benchmarks.two_letter_automata import (
    canonical_tables,
    minimal_final_sets,
    random_minimal_tables,
    semiautomaton_codes,
)
from mirrormata.constructions.automata._automaton import Automaton, minimise
from mirrormata.constructions.cascades._emulation import emulate
from mirrormata.constructions.cascades._holonomy import holonomy_of_maps

DOCUMENT = read_results()
ROWS: dict[int, dict[str, Any]] = {row["states"]: row for row in DOCUMENT["rows"]}
DOCS = Path(RESULTS).parents[2] / "docs"
# Domaratzki, Kisman and Shallit 2002, section 6; OEIS A129622
MINIMAL_AUTOMATA = {1: 2, 2: 24, 3: 1_028, 4: 56_014, 5: 3_705_306, 6: 286_717_796}
INITIALLY_CONNECTED = {1: 1, 2: 12, 3: 216, 4: 5_248, 5: 160_675}


def maps_of(letters: st.SearchStrategy[int], most: int) -> st.SearchStrategy[list[list[int]]]:
    return st.integers(1, most).flatmap(
        lambda n: letters.flatmap(
            lambda k: st.lists(
                st.lists(st.integers(0, n - 1), min_size=n, max_size=n), min_size=k, max_size=k
            )
        )
    )


@pytest.mark.parametrize("states", [1, 2, 3, pytest.param(4, marks=pytest.mark.long)])
def test_census_gives_the_committed_row(states: int) -> None:
    assert cascade_levels.census(states) == ROWS[states]


@pytest.mark.parametrize("states", [2, 3])
def test_levels_of_each_automaton_alone(states: int) -> None:
    histogram: dict[str, int] = {}
    for table in canonical_tables(states):
        level = str(holonomy_of_maps(table.astype(np.int64)).levels)
        histogram[level] = histogram.get(level, 0) + int(minimal_final_sets(table[None])[0])
    assert {level: count for level, count in histogram.items() if count} == ROWS[states]["levels"]


def test_counts_are_those_of_the_literature() -> None:
    counts = {n: row["automata"] for n, row in ROWS.items() if row["kind"] == "all"}
    assert counts == MINIMAL_AUTOMATA
    for states, count in INITIALLY_CONNECTED.items():
        assert len(canonical_tables(states)) == count
    for row in ROWS.values():
        assert sum(row["levels"].values()) == row["automata"]
        above = sum(count for level, count in row["levels"].items() if int(level) > row["states"] - 1)
        assert above == row["above_states_minus_1"]


def test_final_sets_against_minimisation() -> None:
    for table in canonical_tables(3)[::7]:
        minimal = 0
        for accepts in product([False, True], repeat=3):
            outputs = np.array(accepts, dtype=object)
            automaton = Automaton((0, 1, 2), (0, 1), table.astype(np.int64), 0, outputs)
            minimal += len(minimise(automaton).states) == 3
        assert minimal_final_sets(table[None])[0] == minimal


@settings(max_examples=200)
@given(maps_of(st.integers(1, 3), 6))
def test_fast_levels_are_the_packages(maps: list[list[int]]) -> None:
    table = np.array(maps, dtype=np.int64)
    assert levels_of_tables(table[None])[0] == holonomy_of_maps(table).levels


@pytest.mark.long
def test_fast_levels_are_the_packages_for_all_of_four_states() -> None:
    tables = canonical_tables(4)
    expected = [holonomy_of_maps(table.astype(np.int64)).levels for table in tables]
    assert levels_of_tables(tables).tolist() == expected
    histogram = np.bincount(expected, weights=minimal_final_sets(tables))
    assert {str(level): count for level, count in enumerate(histogram.tolist()) if count} == ROWS[4]["levels"]


def test_fast_levels_refuse_seven_states() -> None:
    with pytest.raises(ValueError, match="7 states"):
        levels_of_tables(np.zeros((1, 2, 7), dtype=np.int64))


def test_codes_are_equal_exactly_for_isomorphic_tables() -> None:
    tables = canonical_tables(3)
    codes = semiautomaton_codes(tables)

    def forms(table: np.ndarray[Any, Any]) -> set[bytes]:
        found = set()
        for order in permutations(range(3)):
            renamed = np.array(order)[table[:, np.argsort(order)]].astype(np.int8)
            found |= {renamed.tobytes(), renamed[::-1].tobytes()}
        return found

    first: dict[int, int] = {}
    for i, code in enumerate(codes.tolist()):
        first.setdefault(code, i)
        assert tables[first[code]].tobytes() in forms(tables[i])
    representatives = [tables[i] for i in first.values()]
    assert len({min(forms(table)) for table in representatives}) == len(representatives)
    for code, i in first.items():
        assert table_of_code(code, 3).astype(np.int8).tobytes() in forms(tables[i])


def test_draws_are_minimal_and_repeat() -> None:
    tables = random_minimal_tables(5, 50, seed=3)
    assert len(tables) == 50
    assert (minimal_final_sets(tables) > 0).all()
    assert (semiautomaton_codes(tables) < np.iinfo(np.int64).max).all()
    assert (tables == random_minimal_tables(5, 50, seed=3)).all()


def test_draws_are_uniform() -> None:
    tables = random_minimal_tables(3, 20_000, seed=0)
    levels = levels_of_tables(tables)
    for level, count in ROWS[3]["levels"].items():
        share = count / ROWS[3]["automata"]
        met = int((levels == int(level)).sum())
        assert abs(met - 20_000 * share) < 6 * (20_000 * share * (1 - share)) ** 0.5


@pytest.mark.parametrize("row", [*DOCUMENT["rows"], *DOCUMENT["walks"]], ids=lambda row: f"{row['states']}")
def test_deepest_automata_replay(row: dict[str, Any]) -> None:
    tables = np.array(row["deepest"])
    for table in tables.reshape(-1, 2, row["states"]):
        assert holonomy_of_maps(table).levels == row["max"]
        assert canonical_minimal(table) is not None


def test_a_walk_repeats() -> None:
    level, table = climb(3, 60, seed=1)
    again, same = climb(3, 60, seed=1)
    assert level == again <= ROWS[3]["max"]
    assert (table == same).all()
    assert levels_of_tables(table[None])[0] == level


@pytest.mark.parametrize("states", range(3, 10))
def test_family_has_the_levels_that_the_proof_gives(states: int) -> None:
    maps = order_preserving_family(states)
    (figures,) = [f for f in DOCUMENT["family"] if f["states"] == states]
    assert (np.diff(maps, axis=1) >= 0).all()
    assert holonomy_of_maps(maps).levels == figures["levels"] >= figures["bound"]
    assert is_minimal_for_some_final_state(maps) == figures["minimal"]


@settings(max_examples=12)
@given(maps_of(st.integers(1, 3), 4), st.integers(0, 2**32 - 1))
def test_one_level_less_than_states_is_enough(maps: list[list[int]], seed: int) -> None:
    table = np.array(maps, dtype=np.int64)
    letters, states = table.shape
    built = full_cascade(table)
    assert built.degrees == tuple(range(states, 1, -1))
    word = np.random.default_rng(seed).integers(0, letters, size=40)
    for start in range(states):
        expected, q = [], start
        for x in word:
            q = int(table[x, q])
            expected.append(q)
        assert emulate(built, word, start).tolist() == expected


def test_more_letters_replay() -> None:
    for figures in DOCUMENT["more_letters"]:
        states = figures["states"]
        built = full_cascade(np.array(figures["table"]))
        assert len(built.levels) == figures["levels_in_all_maps"] == states - 1
        assert list(built.degrees) == figures["degrees"] == list(range(states, 1, -1))
        assert [len(level.reads) for level in built.levels] == figures["letters_of_levels"]


def test_page_shows_the_committed_figures() -> None:
    page = (DOCS / "cascade-depth.md").read_text(encoding="utf-8")
    for table in (levels_table, histogram_table, family_table, more_letters_table):
        assert table(DOCUMENT) in page


def test_picture_is_drawn_from_the_committed_figures(tmp_path: Path) -> None:
    draw_cascade_levels(DOCUMENT, tmp_path / "again.svg")
    again, shown = (
        re.findall(r"<text[^>]*>([^<]*)<|<use [^>]*>", path.read_text(encoding="utf-8"))
        for path in (tmp_path / "again.svg", DOCS / "images" / "cascade_levels.svg")
    )
    assert again == shown
    assert len(shown) > 100


def test_command_writes_the_figures(tmp_path: Path) -> None:
    output, picture = tmp_path / "levels.json", tmp_path / "levels.svg"
    cascade_levels.main(["--output", str(output), "--picture", str(picture), "--max-states", "3", "--quick"])
    assert '"mirrormata-cascade-levels/1"' in output.read_text(encoding="utf-8")
    assert picture.stat().st_size > 1_000
