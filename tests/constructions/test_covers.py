"""Representations c·O of degree 2, and own.covers: figures of groups with and without a cover, certificates, runs, limits."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from itertools import product
from math import lcm

import numpy as np
import pytest

from mirrormata.constructions._construct import Request, choose, construct
from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions._realisation import Realisation
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.algebra._matrices import identity, is_orthogonal
from mirrormata.constructions.algebra._matrices import product as multiply_matrices
from mirrormata.constructions.algebra.groups._abelian import abelianise
from mirrormata.constructions.algebra.groups._actions import transitive_action
from mirrormata.constructions.algebra.groups._finite_group import FiniteGroup
from mirrormata.constructions.algebra.groups._induced import induced_planes
from mirrormata.constructions.automata._automaton import Automaton, Indices
from mirrormata.constructions.heads._candidates import HeadSearch
from mirrormata.constructions.heads._representations import SignedPermutationPlan
from mirrormata.constructions.theorems._complex_scalars import complex_structures
from mirrormata.constructions.theorems._construction import Limits
from mirrormata.constructions.theorems._one_layer import head_candidates
from mirrormata.foundation._errors import NotRealisableError
from mirrormata.tests.constructions.random_automata import random_words, renamed
from mirrormata.theory._check import check
from mirrormata.theory._horizon import full_certificate
from mirrormata.theory.planning._plan import plan
from mirrormata.theory.running._run import run


def metacyclic(n: int, k: int, s: int, r: int) -> FiniteGroup:
    """⟨a, b | aⁿ = 1, b^k = a^s, bab⁻¹ = a^r⟩, elements a^i b^j, by rewriting words."""
    elements = [(i, j) for j in range(k) for i in range(n)]
    place = {e: q for q, e in enumerate(elements)}

    def multiply(x: tuple[int, int], y: tuple[int, int]) -> int:
        i, j = x[0] + y[0] * r ** x[1], x[1] + y[1]
        return place[((i + s if j >= k else i) % n, j % k)]

    return FiniteGroup(
        f"<{n},{k},{s},{r}>",
        tuple(elements),
        np.array([[multiply(x, y) for y in elements] for x in elements]),
    )


def matrix_group(name: str, generators: list[list[list[complex]]]) -> FiniteGroup:
    """The group that matrices of Gaussian integers generate."""
    Key = tuple[tuple[complex, ...], ...]

    def times(x: Key, y: Key) -> Key:
        return tuple(
            tuple(sum(a * b for a, b in zip(row, column, strict=True)) + 0 for column in zip(*y, strict=True))
            for row in x
        )

    letters = [tuple(map(tuple, g)) for g in generators]
    found: list[Key] = [tuple(tuple(complex(i == j) for j in range(2)) for i in range(2))]
    for element in found:
        found += [h for g in letters if (h := times(g, element)) not in found]
    table = [[found.index(times(x, y)) for y in found] for x in found]
    return FiniteGroup(name, tuple(range(len(found))), np.array(table))


def dicyclic(m: int) -> FiniteGroup:
    return metacyclic(2 * m, 2, m, 2 * m - 1)


def of_matrices_mod_three() -> FiniteGroup:
    """SL(2, 3): the 2 × 2 matrices of determinant 1 over three elements."""
    found = [m for m in product(range(3), repeat=4) if (m[0] * m[3] - m[1] * m[2]) % 3 == 1]
    found.sort(key=lambda m: m != (1, 0, 0, 1))

    def multiply(x: tuple[int, ...], y: tuple[int, ...]) -> int:
        a, b, c, d = x
        e, f, g, h = y
        return found.index(
            ((a * e + b * g) % 3, (a * f + b * h) % 3, (c * e + d * g) % 3, (c * f + d * h) % 3)
        )

    return FiniteGroup("SL(2,3)", tuple(found), np.array([[multiply(x, y) for y in found] for x in found]))


GROUPS: dict[str, Callable[[], FiniteGroup]] = {
    **{f"Dic{m}": partial(dicyclic, m) for m in (2, 3, 4, 5, 6, 7, 8, 9, 12)},
    "Pauli": lambda: matrix_group("Pauli", [[[0, 1], [1, 0]], [[1, 0], [0, -1]], [[1j, 0], [0, 1j]]]),
    "16_6": lambda: metacyclic(8, 2, 0, 5),
    "16_8": lambda: metacyclic(8, 2, 0, 3),
    "32_modular": lambda: metacyclic(16, 2, 0, 9),
    "32_semidihedral": lambda: metacyclic(16, 2, 0, 7),
    "C8:C4": lambda: metacyclic(8, 4, 4, 3),
    "20_3": lambda: metacyclic(5, 4, 0, 2),
    "21_1": lambda: metacyclic(7, 3, 0, 2),
    "SL(2,3)": of_matrices_mod_three,
}


@cache
def word_problem(name: str) -> Automaton:
    return GROUPS[name]().word_problem() if name in GROUPS else automaton_from_spec(name)


FIGURES = {  # factors, heads, dimension, exactness, joint states
    "Q8": (2, 2, 2, "integer", 16),
    "Q8[generators]": (2, 2, 2, "integer", 16),
    "Q8_x_Z2": (2, 3, 2, "integer", 32),
    "Q8_x_Z3": (2, 3, 3, "integer", 48),
    "Q8_x_Q8": (2, 4, 2, "integer", 256),
    "Dic2": (2, 2, 2, "integer", 16),
    "Dic3": (2, 2, 3, "integer", 12),
    "Dic4": (2, 2, 2, "algebraic", 32),
    "Dic6": (2, 3, 3, "integer", 48),
    "Dic8": (2, 2, 2, "algebraic", 64),
    "Dic12": (2, 2, 2, "algebraic", 96),
    "Pauli": (2, 2, 2, "integer", 32),
    "16_6": (2, 2, 2, "algebraic", 32),
    "16_8": (2, 2, 2, "algebraic", 32),
    "32_modular": (2, 2, 2, "algebraic", 64),
    "32_semidihedral": (2, 2, 2, "algebraic", 64),
    "C8:C4": (2, 2, 2, "algebraic", 64),
    # divided by complex scalars
    "SL(2,3)": (2, 2, 4, "algebraic", 288),
    "21_1": (4, 2, 7, "algebraic", 147),
    # nothing is found
    "20_3": (4, 1, 5, "integer", 20),
}
WITHOUT = ("Dic3", "20_3")


def figures(found: LRNN) -> tuple[object, ...]:
    return found.householders, found.heads, found.dim, found.exactness, len(found.decode)


def certified(found: Realisation) -> None:
    result = check(full_certificate(found))
    assert result.verdict == "valid", result.reason
    words = random_words(found.automaton, 5, 3, 60)
    for dtype in found.formats or ("exact",):
        assert run(found, words, dtype=dtype).errors == 0


@pytest.mark.parametrize("name", FIGURES)
def test_figures(name: str) -> None:
    made = construct(word_problem(name))
    assert figures(made) == FIGURES[name]
    assert ("own.covers" in made.theorem.split(" + ")) == (name not in WITHOUT)
    certified(made)
    for seed in range(2):
        assert figures(construct(renamed(word_problem(name), seed))) == FIGURES[name]


@pytest.mark.parametrize("m", [2, 4, 6, 8])
def test_integers(m: int) -> None:
    """The corners of the 2m-gon are the ends of m axes."""
    made = construct(word_problem(f"Dic{m}"), exactness="integer", theorem="own.covers")
    assert made.exactness == "integer"
    assert (made.householders, made.dim) == (m, m)
    certified(made)


def test_the_other_product() -> None:
    for name in ("Dic4", "Pauli"):
        made = construct(GROUPS[name]().word_problem(product="right"))
        assert figures(made) == FIGURES[name]
        certified(made)


def test_fewer_states_than_elements() -> None:
    """The Pauli group on the eight cosets of a subgroup that contains no normal one."""
    group = GROUPS["Pauli"]()
    table = group.table
    centre = [g for g in range(16) if (table[g] == table[:, g]).all()]
    other = next(g for g in range(16) if table[g, g] == group.identity and g not in centre)
    cosets = [min(g, int(table[g, other])) for g in range(16)]
    states = sorted(set(cosets))
    rows = {q: {x: cosets[table[x, q]] for x in range(16)} for q in states}
    made = construct(Automaton.from_transitions(rows, start=cosets[group.identity], name="Pauli on cosets"))
    assert (made.householders, made.heads, made.dim) == (2, 2, 2)
    assert len(made.automaton.states) == 8
    certified(made)


@pytest.mark.parametrize(
    "name", ["Q8", "Q8_x_Z2^2", "Dic4", "Dic6", "Pauli", "16_6", "16_8", "C8:C4", "Z4_x_S4"]
)
def test_the_planes_are_representations(name: str) -> None:
    """ρ(xy) = ρ(x)ρ(y) by matrices in the basis z, z̄, and ρ = c·O with the angles that are listed."""
    action = transitive_action(word_problem(name))
    planes = induced_planes(action, abelianise(action))
    assert bool(planes) == (name != "Z4_x_S4")
    for plane in planes:
        e = plane.exponent
        for x in range(action.size):
            for y in range(action.size):
                xy = int(action.table[x, y])
                if plane.turns[x] > 0:
                    upper, lower = plane.upper[x] + plane.upper[y], plane.lower[x] + plane.lower[y]
                else:
                    upper, lower = plane.upper[x] + plane.lower[y], plane.lower[x] + plane.upper[y]
                assert plane.turns[xy] == plane.turns[x] * plane.turns[y]
                assert (plane.upper[xy], plane.lower[xy]) == (upper % e, lower % e)
        angle = plane.isometries + np.where(plane.turns < 0, plane.base, 0)
        assert ((plane.scalars + angle - 2 * plane.upper) % (2 * e) == 0).all()
        assert ((plane.scalars - angle - 2 * plane.lower) % (2 * e) == 0).all()
        assert plane.scalar_order >= 4


def test_no_signs_make_the_scalars_a_character() -> None:
    """By brute force: all signs of the letters, closed under products."""
    for name in ("Q8", "Dic4", "Pauli", "16_6"):
        action = transitive_action(word_problem(name))
        for plane in induced_planes(action, abelianise(action)):
            generators = generating(action.table)
            for signs in range(1 << len(generators)):
                values = {0: 0}
                queue, consistent = [0], True
                for g in queue:
                    for i, s in enumerate(generators):
                        value = int(values[g] + plane.scalars[s] + plane.exponent * (signs >> i & 1)) % (
                            2 * plane.exponent
                        )
                        h = int(action.table[s, g])
                        if h not in values:
                            values[h] = value
                            queue.append(h)
                        consistent &= values[h] == value
                assert len(values) == action.size
                assert not consistent


def generating(table: Indices) -> list[int]:
    """A few elements that generate the group."""
    chosen: list[int] = []
    reached = {0}
    for g in range(len(table)):
        if g not in reached:
            chosen.append(g)
            queue = list(reached := {0})
            for h in queue:
                fresh = {int(table[s, h]) for s in chosen} - reached
                reached |= fresh
                queue += sorted(fresh)
    return chosen


@pytest.mark.parametrize(("name", "prime", "order"), [("SL(2,3)", 1, 12), ("21_1", 7, 7), ("Q8", 1, 4)])
def test_complex_structures(name: str, prime: int, order: int) -> None:
    """J² = -1 where it is not 0, J commutes with the letters, and e^{-θJ} turns by θ: exact, with √s in the field."""
    search = HeadSearch(transitive_action(word_problem(name)))
    plans = [
        (plan, J)
        for c in head_candidates(search.action)
        if isinstance(plan := c.plan(tuple(range(c.mark_count))), SignedPermutationPlan)
        and c.cost > 2
        and c.dim <= 8
        for J in complex_structures(plan)
    ]
    assert plans
    assert prime in {J.prime for _, J in plans}
    for plan, J in plans:
        conductor = lcm(4, order, J.conductor)
        one, step = identity(plan.dim), J.turn(1, order, conductor)
        power = one
        for j in range(order):
            assert power == J.turn(j, order, conductor)
            assert is_orthogonal(power)
            power = multiply_matrices(step, power)
        assert power == one
        assert step != one
        cube = J.K @ J.K @ J.K
        assert (cube == -J.s * J.K).all()
        assert (J.K == -J.K.T).all()
        for A in plan.as_matrices().matrices:
            assert multiply_matrices(A, step) == multiply_matrices(step, A)


@pytest.mark.parametrize("spec", ["S4", "A5", "Z12", "dihedral:6", "dihedral:4_x_dihedral:3", "S3_x_Z4"])
def test_no_cover_is_listed_where_none_is_needed(spec: str) -> None:
    action = transitive_action(automaton_from_spec(spec))
    assert induced_planes(action, abelianise(action)) == []
    with pytest.raises(NotRealisableError, match=r"`theorem` own\.covers"):
        construct(spec, theorem="own.covers")


@pytest.mark.parametrize("theorem", ["own.covers", "DP.T4", "H.A5inv"])
def test_where_no_letter_moves_a_state_only_g_t3_is_built(theorem: str) -> None:
    with pytest.raises(NotRealisableError, match="no letter moves a state"):
        construct("mod:1", theorem=theorem)
    assert construct("mod:1", theorem="G.T3").theorem == "G.T3"


def test_the_limit_of_the_field_is_named() -> None:
    made = choose(word_problem("Dic8"), Request(), Limits(degree=3))
    assert "own.covers" not in made.theorem or made.exactness == "integer"
    assert (made.householders or 0) > 2
    assert any(
        "a cover by symmetries of the 16-gon with scalars of order 4 was left out" in note
        for note in made.notes
    )
    assert any("degree 4, the limit is 3 (raise it with `max_degree`)" in note for note in made.notes)


def test_candidates_of_one_head_leave_covers_out() -> None:
    """A comparison holds one learned head against one candidate."""
    candidates = head_candidates(transitive_action(automaton_from_spec("Q8")))
    assert candidates
    assert all(c.theorem != "own.covers" for c in candidates)


def test_the_plan_lists_it() -> None:
    rows = plan("Q8").to_json()["realisations"]
    assert "own.covers" in {row["theorem"] for row in rows}
