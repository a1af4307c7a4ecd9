"""The figures of `construct`: a table of known values, the same under every renaming and from every file format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from mirrormata.constructions._construct import construct
from mirrormata.constructions._exports import write_automaton
from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.algebra.groups._abelian import abelianise
from mirrormata.constructions.algebra.groups._actions import transitive_action
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.automata._completing import object_array
from mirrormata.constructions.certificates._table import certificate
from mirrormata.constructions.formats.transformations import number_points
from mirrormata.tests.constructions.random_automata import automaton_of, renamed
from mirrormata.tests.samples import sampled
from mirrormata.theory._check import check


class Figures(NamedTuple):
    householders: int | None
    heads: int
    dim: int
    exactness: str


def figures(lrnn: LRNN) -> Figures:
    summary = lrnn.summary()
    assert summary["layers"] == 1
    assert summary["norm"] == "at most 1"
    assert (summary["integer_bound"] is None) == (summary["exactness"] == "algebraic")
    return Figures(lrnn.householders, lrnn.heads, lrnn.dim, lrnn.exactness)


ROTATIONS = Figures(2, 1, 2, "algebraic")
CUBE = Figures(2, 1, 3, "integer")
NUMBERS = {
    "parity": Figures(1, 1, 1, "integer"),
    "mod:2": Figures(1, 1, 1, "integer"),
    "mod:3": Figures(2, 1, 3, "integer"),
    "mod:4": Figures(2, 1, 2, "integer"),
    "mod:6": Figures(2, 2, 3, "integer"),
    "mod:12": Figures(2, 2, 3, "integer"),
    **{f"mod:{m}": ROTATIONS for m in (5, 7, 8, 9, 10, 11, 13, 60)},
    "Z60": ROTATIONS,
    "cycle:5": ROTATIONS,
    "S3": CUBE,
    "S4": CUBE,
    "A4": CUBE,
    "S5": Figures(4, 1, 5, "integer"),
    "A5": Figures(2, 1, 3, "algebraic"),
    "dihedral:3": CUBE,
    "dihedral:4": Figures(2, 1, 2, "integer"),
    "dihedral:6": Figures(2, 2, 3, "integer"),
    **{f"dihedral:{m}": ROTATIONS for m in (5, 7, 8, 9, 10)},
    "Q8": Figures(2, 2, 2, "integer"),
    "A4_x_Z5": Figures(2, 2, 3, "algebraic"),
    "S3_x_S3": Figures(2, 2, 3, "integer"),
    "Z2^4": Figures(1, 4, 1, "integer"),
    "S5[transpositions]": Figures(1, 1, 5, "integer"),
    "S5[up_to_3]": Figures(2, 1, 5, "integer"),
    "S4[involutions]": Figures(1, 1, 3, "integer"),
    "A5[involutions]": Figures(1, 1, 3, "algebraic"),
    "codeswap:4": Figures(1, 1, 3, "integer"),
}
INTEGER = {
    "mod:5": Figures(4, 1, 5, "integer"),
    "mod:8": Figures(4, 1, 4, "integer"),
    "mod:10": Figures(4, 2, 5, "integer"),
    "mod:60": Figures(4, 3, 5, "integer"),
    "Z60": Figures(4, 3, 5, "integer"),
    "A5": Figures(4, 1, 5, "integer"),
    "A5[involutions]": Figures(2, 1, 5, "integer"),
    "dihedral:7": Figures(6, 1, 7, "integer"),
    "dihedral:8": Figures(4, 1, 4, "integer"),
    "A4_x_Z5": Figures(4, 2, 5, "integer"),
}
PRODUCTS = (
    "S3",
    "S4",
    "S5",
    "A4",
    "A5",
    "dihedral:7",
    "Q8",
    "A4_x_Z5",
    "S5[transpositions]",
    "A5[involutions]",
)


@pytest.mark.parametrize("name", NUMBERS)
def test_figures(name: str) -> None:
    assert figures(construct(automaton_from_spec(name))) == NUMBERS[name]


@pytest.mark.parametrize("name", PRODUCTS)
def test_figures_of_the_right_product(name: str) -> None:
    assert figures(construct(automaton_from_spec(name, product="right"))) == NUMBERS[name]


@pytest.mark.parametrize("name", INTEGER)
def test_figures_of_integer_constructions(name: str) -> None:
    automaton = automaton_from_spec(name)
    assert figures(construct(automaton, exactness="integer")) == INTEGER[name]
    assert figures(construct(renamed(automaton, 5), exactness="integer")) == INTEGER[name]


@pytest.mark.parametrize("name", [name for name in NUMBERS if name not in ("S5", "S5[up_to_3]")])
def test_figures_do_not_depend_on_names_and_orders(name: str) -> None:
    automaton = automaton_from_spec(name)
    for seed in range(2 if len(automaton.states) >= 60 else 4):
        assert figures(construct(renamed(automaton, seed))) == NUMBERS[name]


@pytest.mark.long
@pytest.mark.parametrize("name", sampled(NUMBERS, 4))
def test_figures_do_not_depend_on_many_renamings(name: str) -> None:
    automaton = automaton_from_spec(name)
    for seed in range(10, 20):
        lrnn = construct(renamed(automaton, seed))
        assert figures(lrnn) == NUMBERS[name]
        assert check(certificate(lrnn)).verdict == "valid"


@pytest.mark.parametrize("extension", ["json", "dot", "txt"])
@pytest.mark.parametrize("name", ["mod:12", "dihedral:8", "S4", "A5[involutions]", "Q8", "codeswap:4"])
def test_figures_are_the_same_from_files(name: str, extension: str, tmp_path: Path) -> None:
    automaton = renamed(automaton_from_spec(name), 1)
    named = replace(automaton, outputs=object_array(automaton.states))
    written = number_points(named) if extension == "txt" else named
    path = tmp_path / f"again.{extension}"
    write_automaton(written, path)
    lrnn = construct(str(path))
    assert figures(lrnn) == NUMBERS[name]
    assert len(lrnn.automaton.states) == len(automaton.states)


@pytest.mark.parametrize("product", ["left", "right"])
@pytest.mark.parametrize("name", ["S3", "S4", "A4_x_Z5", "dihedral:7"])
def test_figures_are_the_same_from_word_problem_data(name: str, product: str, tmp_path: Path) -> None:
    automaton = automaton_from_spec(name, product=product)  # type: ignore[arg-type]
    words = np.random.default_rng(2).integers(0, len(automaton.letters), (20, 12))
    lines = ["seed,input,target"]
    for word, states in zip(words, automaton.trace(words), strict=True):
        lines.append(f"0,{' '.join(map(str, word))},{' '.join(map(str, states))}")
    path = tmp_path / "data.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    again = automaton_from_spec(str(path), group=name)
    assert (again.transitions == automaton.transitions).all()
    assert figures(construct(again)) == NUMBERS[name]


@pytest.mark.parametrize("m", [8, 10, 12, 16])
def test_polygon_whose_first_two_corners_are_opposite(m: int) -> None:
    # the images of two opposite corners do not tell a rotation from a reflection
    i = np.arange(m)
    rows = [(i + m // 2) % m, (i + 1) % m, (-i) % m]
    lrnn = construct(automaton_of([row.tolist() for row in rows]))
    assert figures(lrnn).householders == 2
    assert check(certificate(lrnn)).verdict == "valid"


def shifts(m: int) -> Automaton:
    i = np.arange(m)
    rows = np.array([(i + k) % m for k in range(m)])
    return Automaton(tuple(range(m)), tuple(range(m)), rows, 0, object_array(range(m)), f"Z{m}")


def test_a_group_with_many_letters_is_still_seen_to_be_abelian() -> None:
    found = abelianise(transitive_action(shifts(2_310)))
    assert found is not None
    assert (found[1] == np.arange(2_310)).all()


@pytest.mark.long
def test_large_cyclic_groups_are_not_long_cycles() -> None:
    assert figures(construct(shifts(2_310))).householders == 2


@pytest.mark.parametrize(
    ("name", "codes"), [("dihedral:7", 14), ("A5[involutions]", 120), ("S4", 24), ("S5", 120)]
)
def test_number_of_codes(name: str, codes: int) -> None:
    assert len(construct(name).decode) == codes


def test_smaller_orbits_where_the_states_are_points() -> None:
    i = np.arange(7)
    corners = construct(automaton_of([((i + 1) % 7).tolist(), ((-i) % 7).tolist()]))
    assert figures(corners) == ROTATIONS
    assert len(corners.decode) == 7
    five = construct(automaton_of([[1, 2, 3, 4, 0], [1, 0, 3, 2, 4]]))
    assert figures(five) == Figures(2, 1, 3, "algebraic")
    assert len(five.decode) in (5, 10, 20)
    for lrnn in (corners, five):
        assert check(certificate(lrnn)).verdict == "valid"
