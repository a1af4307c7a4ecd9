"""Every construction: where it applies it is certified and runs without errors, elsewhere it refuses in one line."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest

from mirrormata.constructions._construct import Request, choose, construct, constructions_for, realisations_of
from mirrormata.constructions._inspection import inspect_automaton
from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions._realisation import Realisation, cost
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.algebra._householder import product_of
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.cascades._cascade import cascade_of_all_maps
from mirrormata.constructions.theorems._construction import Limits, Problem
from mirrormata.constructions.theorems._registry import all_constructions
from mirrormata.foundation._errors import LimitError, NotRealisableError
from mirrormata.tests.constructions.library_numbers import LIBRARY_NUMBERS
from mirrormata.tests.constructions.random_automata import random_words
from mirrormata.tests.constructions.tables import construct_table
from mirrormata.theory._check import check
from mirrormata.theory._horizon import full_certificate
from mirrormata.theory._kinds import kind_of
from mirrormata.theory.running._run import run

CONSTRUCTIONS = all_constructions()
EXAMPLES = [(source, name) for source, made in CONSTRUCTIONS.items() for name in made.examples]
REFUSALS = [(source, name) for source, made in CONSTRUCTIONS.items() for name in made.refusals]


@cache
def automaton(name: str) -> Automaton:
    return automaton_from_spec(name)


def certified_and_right(found: Realisation, tokens: int = 200) -> None:
    """The certificate is valid; no errors in bf16 where that is exact, none in exact numbers for tables."""
    result = check(full_certificate(found))
    assert result.verdict == "valid", result.reason
    words = random_words(found.automaton, 7, 4, tokens)
    if not kind_of(found).runs_exact:
        for dtype in found.formats or ("fp64",):
            assert run(found, words, dtype=dtype).errors == 0
        return
    for dtype in found.formats:
        assert run(found, words, dtype=dtype).errors == 0, dtype
    assert run(found, words[:, :30], dtype="exact").errors == 0


def test_every_source_has_its_examples() -> None:
    assert list(CONSTRUCTIONS) == [
        "G.T3", "DP.T4", "H.A5inv", "own.covers", "own.LMI", "own.definite", "own.congruences", "G.T6", "DP.T7",
        "DP.T1", "own.T2tight", "own.serial", "G.T4", "own.n-1", "S.star-free", "own.chain", "own.window", "own.lookback",
        "own.blocks", "DP.T2", "DP.T6", "R7", "G.A3", "own.decay",
    ]  # fmt: skip
    for made in CONSTRUCTIONS.values():
        assert len(made.examples) >= 2, made.source
        assert made.refusals or made.by_request, made.source


@pytest.mark.parametrize(("theorem", "name"), EXAMPLES)
def test_it_applies(theorem: str, name: str) -> None:
    found = list(realisations_of(Problem(automaton(name)), theorem))
    assert found
    for made in found:
        assert theorem in made.theorem.split(" + ")
        assert (made.summary()["norm"] == "at most 1") or not CONSTRUCTIONS[theorem].norm_bounded
        certified_and_right(made)
    assert cost(construct(automaton(name), theorem=theorem)) == min(cost(f) for f in found)
    try:
        integer = list(realisations_of(Problem(automaton(name)), theorem, "integer"))
    except NotRealisableError:
        integer = []
    assert all(f.exactness == "integer" for f in integer)
    assert integer or not any(f.exactness == "integer" for f in found)


@pytest.mark.parametrize(("theorem", "name"), REFUSALS)
def test_it_refuses(theorem: str, name: str) -> None:
    for attempt in (
        lambda: list(realisations_of(Problem(automaton(name)), theorem)),
        lambda: construct(automaton(name), theorem=theorem),
        lambda: choose(automaton(name), Request(theorem=theorem)),
    ):
        with pytest.raises(NotRealisableError) as refusal:
            attempt()
        text = str(refusal.value)
        assert CONSTRUCTIONS[theorem].refusals[name] in text
        assert text.startswith(name)
        assert "\n" not in text


def random_dfa(seed: int, most: int = 6) -> Automaton:
    """2 to `most` states, 1 to 3 letters, the reachable part."""
    return automaton(f"random:states={2 + seed % (most - 1)},letters={1 + seed // 5 % 3},seed={seed}")


def merging(count: int, first: int = 0) -> list[Automaton]:
    """So many random automata that are no group automata."""
    found: list[Automaton] = []
    while len(found) < count:
        drawn = random_dfa(first)
        first += 1
        if not drawn.is_permutation:
            found.append(drawn)
    return found


def test_n_minus_1_layers() -> None:
    """own.n-1 on a hundred automata; levels of n, n - 1, ..., 2 points; the default takes no more work."""
    defaults: Counter[str] = Counter()
    for drawn in merging(100):
        n = len(drawn.states)
        levels = cascade_of_all_maps(drawn).levels
        assert [max(level.degrees) for level in levels] == list(range(n, 1, -1))
        made = next(realisations_of(Problem(drawn), "own.n-1"))
        assert isinstance(made, LRNN)
        assert (len(made.layers), made.exactness, made.norm) == (n - 1, "integer", "at most 1")
        certified_and_right(made, 15)
        default = construct(drawn)
        defaults[default.theorem] += 1
        if default.theorem == "own.LMI":
            assert default.depth == 1
            continue
        forms = [f for th in ("G.T4", "own.n-1", "own.chain") for f in realisations_of(Problem(drawn), th)]
        weights = [form.depth * form.work for form in (*forms, default) if form.work is not None]
        assert default.depth * default.work == min(weights)
    assert {theorem for theorem, count in defaults.items() if count > 3} >= {"own.LMI", "G.T4"}


def test_too_many_image_sets_leave_the_automatons_own_cascade() -> None:
    made = construct("mod_arith:3")
    assert (made.theorem, len(made.layers)) == ("G.T4", 3)
    with pytest.raises(LimitError, match=r"2\^19 - 1 image sets.*`max_image_sets`"):
        construct("mod_arith:3", theorem="own.n-1")
    # all maps of 4 states have 15 image sets, the automaton's own letters 14
    name = "random:states=4,letters=3,seed=2"
    assert construct(name, theorem="own.n-1").depth == 3
    with pytest.raises(LimitError, match=r"2\^4 - 1 image sets"):
        choose(automaton(name), Request(theorem="own.n-1"), Limits(image_sets=14))
    assert choose(automaton(name), Request(theorem="G.T4"), Limits(image_sets=14)).theorem == "G.T4"
    for limit in (14, 3):
        assert choose(automaton(name), Request(), Limits(image_sets=limit)).theorem == "own.window"


def components(row: list[int]) -> int:
    """Connected components of a map's graph."""
    label = list(range(len(row)))
    for p, q in enumerate(row):
        label = [label[q] if c == label[p] else c for c in label]
    return len(set(label))


@pytest.mark.parametrize(
    "name", ["T3", "T4", "tomita:7", "mod_arith:2", "flipflop", "gridworld:4", "S3", "mod:12"]
)
def test_swaps_and_copies(name: str) -> None:
    """DP.T6: a letter f costs n - #components of its graph; the norm √2 comes with the copies."""
    a = automaton(name)
    made = construct_table(a, "DP.T6")
    counts = [len(a.states) - components(row) for row in a.transitions.tolist()]
    head = made.layers[0].heads[0]
    assert [len(head.transitions[x].factors) for x in range(len(a.letters))] == counts
    assert made.norm == ("at most 1" if a.is_permutation else "at most √2 a factor")
    document = full_certificate(made)
    assert document["summary"]["norm"] == made.norm
    assert check(document).verdict == "valid"
    for other in ("at most 1", "at most √2 a factor", "unbounded"):
        if other != made.norm:
            wrong = {**document, "summary": {**document["summary"], "norm": other}}
            assert check(wrong).verdict == "invalid"


def eigenvalues_are_0_and_1(rows: Any) -> bool:
    """A^n (A - I)^n = 0, in integers."""
    A = np.array([[int(x) for x in row] for row in rows], dtype=object)
    n = len(A)
    power = np.eye(n, dtype=object)
    for B in (A, A - np.eye(n, dtype=object)):
        for _ in range(n):
            power = power @ B
    return not power.any()


def star_free(a: Automaton) -> LRNN | None:
    try:
        (made,) = realisations_of(Problem(a), "S.star-free")
    except NotRealisableError:
        return None
    assert isinstance(made, LRNN)
    return made


def test_characteristic_polynomials_agree() -> None:
    """The test of eigenvalues against sympy's characteristic polynomial, on matrices with and without others."""
    from sympy import Matrix, symbols

    x = symbols("x")
    draw = np.random.default_rng(0)
    kinds = set()
    for _ in range(30):
        A = draw.integers(-1, 2, (3, 3))
        polynomial = Matrix(A.tolist()).charpoly(x)
        wanted = all(root in (0, 1) for root in polynomial.all_roots())
        assert eigenvalues_are_0_and_1(A.tolist()) == wanted
        kinds.add(wanted)
    assert kinds == {True, False}


def cells_are_star_free(a: Automaton) -> bool:
    """Is there a cascade of cells? Then it is certified, and its letters have eigenvalues 0 and 1 only."""
    made = star_free(a)
    if made is not None:
        for head in made.all_heads:
            for t in head.transitions:
                assert t.gate == 1
                assert eigenvalues_are_0_and_1(product_of(t.factors, head.dim))
        certified_and_right(made, 30)
    return made is not None


HEAVY = ("chess", "S6", "S7[transpositions]", "S8[transpositions]", "mod_arith:3,1")
LIBRARY = [
    pytest.param(e.name, e.aperiodic, marks=[pytest.mark.long] * (e.name in HEAVY))
    for e in LIBRARY_NUMBERS
    if e.states > 1 and e.name not in ("chess", "S8[transpositions]")
]


@pytest.mark.parametrize(("name", "aperiodic"), LIBRARY)
def test_star_free_iff_aperiodic(name: str, aperiodic: bool) -> None:
    assert cells_are_star_free(automaton(name)) == aperiodic


def test_star_free_iff_aperiodic_at_random() -> None:
    kinds = {True: 0, False: 0}
    for drawn in merging(100, 1000):
        aperiodic = inspect_automaton(drawn).aperiodic
        assert aperiodic is not None
        assert cells_are_star_free(drawn) == aperiodic
        kinds[aperiodic] += 1
    assert min(kinds.values()) > 10


GATED = (
    "tomita:3",
    "tomita:7",
    "T3",
    "T4",
    "mod_arith:3",
    "boxes:2,3",
    "flipflop",
    "permreset:4",
    "even_pairs",
)


@pytest.mark.parametrize("name", GATED)
def test_gates(name: str) -> None:
    """DP.T2: resets by gate 0, never more factors than the cascade's."""
    (gated,) = realisations_of(Problem(automaton(name)), "DP.T2")
    (plain,) = realisations_of(Problem(automaton(name)), "G.T4")
    assert isinstance(gated, LRNN)
    assert isinstance(plain, LRNN)
    assert len(gated.layers) == len(plain.layers)
    assert (gated.householders or 0) <= (plain.householders or 0)
    assert sum(len(t.factors) for h in gated.all_heads for t in h.transitions) < sum(
        len(t.factors) for h in plain.all_heads for t in h.transitions
    )
    assert {t.gate for h in gated.all_heads for t in h.transitions} == {0, 1}
    assert {t.gate for h in plain.all_heads for t in h.transitions} == {1}
    certified_and_right(gated)


def test_sources_for_group_automata() -> None:
    assert constructions_for(automaton("T3")) == list(CONSTRUCTIONS.values())
    rest = {made.source for made in constructions_for(automaton("S4"))}
    assert set(CONSTRUCTIONS) - rest == {
        "own.LMI",
        "own.definite",
        "own.congruences",
        "own.serial",
        "G.T4",
        "own.n-1",
        "own.chain",
        "own.window",
        "own.lookback",
        "DP.T2",
        "R7",
    }


@pytest.mark.parametrize("name", ["T3", "tomita:3", "dyck1:4", "mod:9", "A4_x_Z5", "gridworld:5", "tomita:4"])
def test_integer_on_demand(name: str) -> None:
    made = construct(automaton(name), exactness="integer")
    assert made.exactness == "integer"
    assert "bf16" in made.formats
    certified_and_right(made)
