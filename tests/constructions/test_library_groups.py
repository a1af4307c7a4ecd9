"""Groups of the library: laws, elements, product orders, alphabets; oracles by permutations and quaternions."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mirrormata.constructions.algebra.groups._finite_group import FiniteGroup
from mirrormata.constructions.library._groups import group_by_name, group_order
from mirrormata.constructions.library._names import automaton_by_name
from mirrormata.foundation._errors import InputError

Permutation = tuple[int, ...]
GROUPS = [
    "Z1", "Z2", "Z5", "Z60", "S1", "S2", "S3", "S4", "S5", "A1", "A2", "A3", "A4", "A5", "A6", "dihedral:1",
    "dihedral:2", "dihedral:3", "dihedral:6", "Q8", "Z2^1", "Z2^4", "S3^2", "A4_x_Z5", "Z2_x_Q8_x_dihedral:3",
    "S3_x_Z2^2", "V4", "V4^2", "V4_x_Z3", "F6", "F20", "F21", "F42", "PSL(2,2)", "PSL(2,3)", "PSL(2,7)", "PGL(2,5)", "PSL(2,17)",
    "SL(2,2)", "SL(2,3)", "SL(2,5)", "GL(2,3)", "GL(3,2)",
]  # fmt: skip


def compose(g: Permutation, h: Permutation) -> Permutation:
    return tuple(g[i] for i in h)


def parity(g: Permutation) -> int:
    return sum(a > b for a, b in itertools.combinations(g, 2)) % 2


def laws(group: FiniteGroup, rng: np.random.Generator) -> None:
    n = len(group.elements)
    everything = np.arange(n)
    e = group.identity
    assert (group.multiply(e, everything) == everything).all()
    assert (group.multiply(everything, e) == everything).all()
    assert (group.multiply(everything, group.inverse) == e).all()
    assert (group.multiply(group.inverse, everything) == e).all()
    a, b, c = rng.integers(0, n, size=(3, 2000))
    ab, bc = group.multiply(a, b), group.multiply(b, c)
    assert (group.multiply(ab, c) == group.multiply(a, bc)).all()
    power, orders = everything.copy(), group.orders()
    for k in range(1, int(orders.max()) + 1):
        assert ((power == e) <= (k % orders == 0)).all()
        assert (power[k == orders] == e).all()
        power = group.multiply(power, everything)


@pytest.mark.parametrize("name", GROUPS)
def test_group_laws(name: str) -> None:
    group = group_by_name(name)
    laws(group, np.random.default_rng(0))
    assert len(set(group.elements)) == len(group.elements) == group_order(name)
    assert group.name == name


@pytest.mark.parametrize("name", GROUPS)
def test_generators_generate(name: str) -> None:
    group = group_by_name(name)
    automaton = automaton_by_name(f"{name}[generators]")
    assert automaton.states == group.elements
    assert automaton.letters == tuple(group.elements[g] for g in group.generators)
    if len(group.elements) > 1:
        assert group.identity not in group.generators


@pytest.mark.parametrize("name", GROUPS)
def test_the_table_is_the_law_and_a_group_can_be_given_by_it(name: str) -> None:
    group = group_by_name(name)
    again = FiniteGroup(name, group.elements, group.table)
    assert again.identity == group.identity
    assert (again.inverse == group.inverse).all()
    assert (again.orders() == group.orders()).all()
    for product in ("left", "right"):
        ours, other = group.word_problem(None, product), again.word_problem(None, product)
        assert (ours.transitions == other.transitions).all()


@settings(deadline=None, max_examples=25)
@given(st.lists(st.sampled_from(["Z3", "S3", "dihedral:4", "Q8", "A4", "Z2^2"]), min_size=2, max_size=3))
def test_products_multiply_component_by_component(factors: list[str]) -> None:
    group = group_by_name("_x_".join(factors))
    parts = [group_by_name(factor) for factor in factors]
    assert group.elements == tuple(itertools.product(*(part.elements for part in parts)))
    laws(group, np.random.default_rng(1))
    rng = np.random.default_rng(2)
    for g, h in rng.integers(0, len(group.elements), size=(50, 2)):
        x, y = group.elements[g], group.elements[h]
        assert isinstance(x, tuple)
        assert isinstance(y, tuple)
        expected = tuple(
            part.elements[int(part.multiply(part.elements.index(a), part.elements.index(b)))]
            for part, a, b in zip(parts, x, y, strict=True)
        )
        assert group.elements[int(group.multiply(g, h))] == expected


@pytest.mark.parametrize("n", range(1, 7))
def test_permutations_are_in_lexicographic_order_and_compose(n: int) -> None:
    everything = sorted(itertools.permutations(range(n)))
    for name, elements in (
        (f"S{n}", everything),
        (f"A{n}", [g for g in everything if not parity(g)]),
    ):
        group = group_by_name(name)
        assert group.elements == tuple(elements)
        assert group.images is not None
        assert group.images.tolist() == [list(g) for g in elements]
        for g, h in np.random.default_rng(n).integers(0, len(elements), size=(200, 2)):
            assert group.elements[int(group.multiply(g, h))] == compose(elements[g], elements[h])


def dihedral_as_permutation(label: str, m: int) -> Permutation:
    i = int(label[1:])
    return tuple((x + i) % m if label[0] == "r" else (i - x) % m for x in range(m))


def hamilton(g: str, h: str) -> str:
    units = ["1", "i", "j", "k"]

    def vector(label: str) -> list[int]:
        return [(-1 if label[0] == "-" else 1) * (unit == label.lstrip("-")) for unit in units]

    (a1, b1, c1, d1), (a2, b2, c2, d2) = vector(g), vector(h)
    product = [
        a1 * a2 - b1 * b2 - c1 * c2 - d1 * d2,
        a1 * b2 + b1 * a2 + c1 * d2 - d1 * c2,
        a1 * c2 - b1 * d2 + c1 * a2 + d1 * b2,
        a1 * d2 + b1 * c2 - c1 * b2 + d1 * a2,
    ]
    (place,) = (i for i, value in enumerate(product) if value)
    return ("-" if product[place] < 0 else "") + units[place]


def test_quaternions() -> None:
    group = group_by_name("Q8")
    assert group.elements == ("1", "-1", "i", "-i", "j", "-j", "k", "-k")
    for (a, g), (b, h) in itertools.product(enumerate(group.elements), repeat=2):
        assert group.elements[int(group.multiply(a, b))] == hamilton(str(g), str(h))


@pytest.mark.parametrize("m", [1, 2, 3, 4, 7])
def test_dihedral_relations(m: int) -> None:
    group = group_by_name(f"dihedral:{m}")
    index = {label: i for i, label in enumerate(group.elements)}
    assert list(group.elements) == [f"r{i}" for i in range(m)] + [f"s{i}" for i in range(m)]

    def times(g: str, h: str) -> Any:
        return group.elements[int(group.multiply(index[g], index[h]))]

    for i, j in itertools.product(range(m), repeat=2):
        assert times(f"r{i}", f"r{j}") == f"r{(i + j) % m}"
        assert times(f"r{i}", f"s{j}") == f"s{(i + j) % m}"
        assert times(f"s{i}", f"r{j}") == f"s{(i - j) % m}"
        assert times(f"s{i}", f"s{j}") == f"r{(i - j) % m}"
    for g, h in itertools.product(group.elements, repeat=2):
        composed = compose(dihedral_as_permutation(str(g), m), dihedral_as_permutation(str(h), m))
        assert dihedral_as_permutation(times(str(g), str(h)), m) == composed


@pytest.mark.parametrize(
    "table",
    [
        np.array([[0, 1], [1, 1]]),
        np.array([[0, 1], [0, 1]]),
        np.array([[0, 0], [1, 1]]),
        np.array([[0]]),
        np.array([[1, 0, 2], [2, 1, 0], [0, 2, 1]]),
        np.array([[0, 2], [2, 0]]),
        np.array([[0, 1, 2, 3], [1, 0, 3, 2], [2, 0, 1, 3], [3, 2, 1, 0]]),  # only its columns are wrong
    ],
)
def test_tables_that_are_not_groups(table: Any) -> None:
    labels = tuple(range(max(2, len(table))))
    with pytest.raises(InputError, match="not the multiplication table of a group"):
        FiniteGroup("bad", labels, table)


ISOMORPHIC = [
    ("V4", "Z2^2"), ("F6", "S3"), ("PSL(2,2)", "S3"), ("PSL(2,3)", "A4"), ("PGL(2,3)", "S4"), ("PSL(2,5)", "A5"),
    ("PGL(2,5)", "S5"), ("SL(2,2)", "S3"), ("GL(3,2)", "PSL(2,7)"), ("F10", "dihedral:5"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "other"), ISOMORPHIC)
def test_groups_of_two_names_have_the_same_orders_of_elements(name: str, other: str) -> None:
    orders = [np.bincount(group_by_name(x).orders()) for x in (name, other)]
    assert orders[0].tolist() == orders[1].tolist()


def test_orders_of_elements_of_mathieus_groups() -> None:
    laws(group_by_name("M11"), np.random.default_rng(0))
    # J. Conway et al., Atlas of Finite Groups (1985): classes 1A 2A 3A 4A 5A 6A 8A 8B 11A 11B
    counts = np.bincount(group_by_name("M11").orders())
    assert {i: int(c) for i, c in enumerate(counts) if c} == {
        1: 1, 2: 165, 3: 440, 4: 990, 5: 1584, 6: 1320, 8: 1980, 11: 1440,
    }  # fmt: skip
    assert group_order("M12") == 95040 == len(group_by_name("M12").elements)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("D4", "write dihedral:m"),
        ("C5", "write Z5"),
        ("K4", "write V4"),
        ("F8", "no Frobenius group"),
        ("F20_x_D4", "write dihedral:m"),
        ("PSL(2,9)", "it is A6"),
        ("PSL(2,8)", "8 is no prime"),
        ("PSL(3,2)", "only PSL(2,p)"),
        ("SL(5,2)", "n from 2 to 4"),
    ],
)
def test_names_of_other_books_are_refused_with_ours(name: str, part: str) -> None:
    with pytest.raises(InputError, match=re.escape(part)):
        group_by_name(name)


def test_linear_groups_act_as_matrices() -> None:
    group = group_by_name("SL(2,3)")
    vectors = [v for v in itertools.product(range(3), repeat=2) if any(v)]
    found = set()
    for a, b, c, d in itertools.product(range(3), repeat=4):
        if (a * d - b * c) % 3 == 1:
            found.add(tuple(vectors.index(((a * x + b * y) % 3, (c * x + d * y) % 3)) for x, y in vectors))
    assert set(group.elements) == found
