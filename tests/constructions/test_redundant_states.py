"""Redundant states: the last letter beside the state, and marks in place of absorbing states; sizes, runs, laws, corruptions."""

from __future__ import annotations

import copy
from contextlib import suppress
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from mirrormata.constructions._construct import construct, realisations_of
from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions._realisation import weigh
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.algebra._congruences import is_congruence
from mirrormata.constructions.automata._automaton import Automaton, Indices
from mirrormata.constructions.automata._completing import object_array
from mirrormata.constructions.theorems import _redundant
from mirrormata.constructions.theorems._construction import Problem
from mirrormata.constructions.theorems._expansions import (
    Expansion,
    absorbing_states,
    kinds_of_letters,
    with_last_letter,
    with_marks,
    without_sinks,
)
from mirrormata.constructions.theorems._redundant import RedundantStates
from mirrormata.foundation._errors import NotRealisableError
from mirrormata.theory._check import check
from mirrormata.theory._horizon import full_certificate
from mirrormata.theory.running._run import run


def lift(floors: int) -> Automaton:
    """A lift whose illegal steps lead to a sink, which the input leaves out."""
    rows: dict[Any, dict[str, Any]] = {floor: {} for floor in range(floors)}
    for floor in range(floors - 1):
        rows[floor]["up"] = floor + 1
        rows[floor + 1]["down"] = floor
    return Automaton.from_transitions(rows, start=0, name=f"lift {floors}")


def lift_with_a_door(floors: int) -> Automaton:
    """A lift that must not move while its door is open."""
    rows: dict[Any, dict[str, Any]] = {}
    for floor in range(floors):
        rows["closed", floor] = {"open": ("open", floor)}
        rows["open", floor] = {"close": ("closed", floor)}
    for floor in range(floors - 1):
        rows["closed", floor]["up"] = ("closed", floor + 1)
        rows["closed", floor + 1]["down"] = ("closed", floor)
    return Automaton.from_transitions(rows, start=("closed", 0), name=f"lift {floors} with a door")


def shop() -> Automaton:
    """Five pages in a row; `cancel` leads back to the first one."""
    pages = ["home", "list", "item", "basket", "paid"]
    rows: dict[Any, dict[str, Any]] = {page: {"cancel": "home"} for page in pages}
    for page, following in pairwise(pages):
        rows[page]["next"] = following
        rows[following]["back"] = page
    return Automaton.from_transitions(rows, start="home", name="shop")


def game(cells: int) -> Automaton:
    """A walk that ends at its two ends, or is given up: two absorbing states."""
    rows: dict[Any, dict[str, Any]] = {
        cell: {
            "up": cell + 1 if cell + 1 < cells else "won",
            "down": cell - 1 if cell else "lost",
            "give up": "lost",
        }
        for cell in range(cells)
    }
    letters = list(rows[0])
    rows |= {end: dict.fromkeys(letters, end) for end in ("won", "lost")}
    return Automaton.from_transitions(rows, start=cells // 2, name=f"game {cells}")


def draw_with_sinks(seed: int) -> Automaton:
    """Permutations, resets, or random maps of a few states, from which some moves lead into one or two absorbing states."""
    draw = np.random.default_rng(seed)
    while True:
        size, letters, sinks = int(draw.integers(2, 6)), int(draw.integers(2, 4)), int(draw.integers(1, 3))
        kind = int(draw.integers(3))
        maps = np.array([_draw_map(draw, size, kind) for _ in range(letters)])
        into = size + draw.integers(0, sinks, maps.shape)
        maps = np.where(draw.integers(4, size=maps.shape) == 0, into, maps)
        ends = np.broadcast_to(size + np.arange(sinks), (letters, sinks))
        states = range(size + sinks)
        automaton = Automaton(
            tuple(states), tuple("abc"[:letters]), np.concatenate([maps, ends], axis=1), 0,
            object_array(states), f"drawn {seed}",
        )  # fmt: skip
        if len(automaton.reachable()) == len(automaton.states):
            return automaton


def _draw_map(draw: np.random.Generator, size: int, kind: int) -> Indices:
    if kind == 0:
        return draw.permutation(size)
    if kind == 1:
        return np.clip(np.arange(size) + int(draw.integers(-1, 2)), 0, size - 1)
    return np.asarray(draw.integers(size, size=size))


def right_on_all_words(made: LRNN, length: int = 8, most: int = 7_000) -> None:
    """The certificate is valid, and every word is run without an error in exact numbers; integers in every format."""
    result = check(full_certificate(made))
    assert result.verdict == "valid", result.reason
    letters = len(made.automaton.letters)
    while letters**length > most:
        length -= 1
    words = np.array(list(product(range(letters), repeat=length)))
    assert run(made, words, dtype="exact").errors == 0
    for dtype in made.formats:
        assert run(made, words, dtype=dtype).errors == 0


SIZES = {  # exactness, layers, heads, factors, dimension, work
    "tomita:7": ("integer", 2, 1, 2, 2, 8),
    "tomita:4": ("integer", 2, 1, 3, 3, 10),
    "regex:a*b*a*b*a*": ("integer", 2, 1, 3, 3, 13),
    "starladder:abab": ("integer", 2, 2, 1, 1, 2),
    "dyck1:3": ("integer", 2, 1, 2, 2, 5),
    "dyck1:20": ("any", 2, 1, 2, 2, 5),
    "lift 5": ("any", 2, 1, 2, 2, 5),
    "lift 5, integers": ("integer", 2, 1, 4, 5, 21),
    "lift 5 with a door": ("any", 2, 2, 2, 2, 9),
    "shop": ("integer", 2, 1, 5, 5, 26),
    "game 5": ("any", 3, 1, 2, 2, 9),
}
MADE = {
    "lift 5": lift(5),
    "lift 5, integers": lift(5),
    "lift 5 with a door": lift_with_a_door(5),
    "shop": shop(),
    "game 5": game(5),
    "e-mail": automaton_from_spec(r"regex:[a%.\-]+@[a.\-]+\.aa+", alphabet="!%-.@a"),
}


def automaton_of(name: str) -> Automaton:
    """The automaton of a row of the table."""
    return MADE[name] if name in MADE else automaton_from_spec(name)


@pytest.mark.parametrize("name", SIZES)
def test_sizes(name: str) -> None:
    exactness, *figures = SIZES[name]
    made = RedundantStates(Problem(automaton_of(name)), exactness).cheapest()
    assert [made.depth, made.heads, made.householders, made.dim, made.work] == figures
    assert made.norm == "at most 1"
    assert made.automaton is automaton_of(name) or name not in MADE
    right_on_all_words(made)


@pytest.mark.parametrize("name", ["tomita:7", "shop", "lift 5", "lift 5 with a door", "game 5"])
def test_construct_takes_them_by_default(name: str) -> None:
    automaton = automaton_of(name)
    made = construct(automaton)
    assert (made.theorem, made.depth) == ("own.serial", 3 if name == "game 5" else 2)
    assert "for the states with" in made.construction
    found = list(realisations_of(Problem(automaton), "own.serial"))
    assert weigh(found[0]) == min(map(weigh, found)) == weigh(made)


def test_drawn_automata_with_sinks() -> None:
    """Each is refused, or followed on all words."""
    built = marked = together = 0
    for seed in range(60):
        automaton = draw_with_sinks(seed)
        try:
            made = RedundantStates(Problem(automaton), "integer").cheapest()
        except NotRealisableError:
            continue
        right_on_all_words(made, most=800)
        built += 1
        marked += "a mark" in made.construction
        together += len(absorbing_states(automaton)) > 1
    assert built >= 30
    assert marked >= 20
    assert together >= 10


def is_expansion(expansion: Expansion) -> bool:
    """Whether letters respect what states stand for, from the start on."""
    whole, base, state_of = expansion.automaton, expansion.base, expansion.state_of
    respected = (state_of[whole.transitions] == base.transitions[:, state_of]).all()
    reached = len(whole.reachable()) == len(whole.states)
    return bool(respected) and reached and int(state_of[whole.start]) == base.start


def test_states_stand_for_states() -> None:
    draw = np.random.default_rng(5)
    kept = 0
    for seed in range(40):
        automaton = draw_with_sinks(seed)
        for kinds in kinds_of_letters(automaton.transitions):
            for first in range(int(kinds.max()) + 1):
                expansion = with_last_letter(automaton, kinds, first)
                assert is_expansion(expansion)
                assert is_congruence(expansion.automaton.transitions, expansion.pairs[:, 1])
                kept += bool((kinds < 0).any())
        sinks = absorbing_states(automaton)
        others, partial = without_sinks(automaton, sinks)
        completed = np.where(partial < 0, draw.integers(len(others), size=partial.shape), partial)
        expansion = with_marks(automaton, sinks, completed)
        assert is_expansion(expansion)
        assert is_congruence(expansion.automaton.transitions, expansion.pairs[:, 0])
        assert (np.isin(expansion.state_of, sinks) == (expansion.pairs[:, 1] > 0)).all()
    assert kept > 10


def test_kinds_of_letters() -> None:
    cycle, still, first, second, merging = [1, 2, 0], [0, 1, 2], [0, 0, 0], [1, 1, 1], [0, 0, 1]
    kinds = kinds_of_letters(np.array([cycle, still, first, second, merging, [1, 0, 0]]))
    assert [k.tolist() for k in kinds] == [
        [0, -1, 1, 2, 3, 4],
        [0, -1, 1, 2, 3, 3],
        [-1, -1, 0, 1, 2, 3],
        [-1, -1, 0, 1, 2, 2],
    ]
    assert kinds_of_letters(np.array([still, cycle])) == []


@pytest.mark.parametrize(
    ("limit", "name", "kind"),
    [
        ("MAX_PAIRS", "tomita:7", "the last letter"),
        ("MAX_LETTERS_TRIED", "tomita:7", "the last letter"),
        ("MAX_MOVES", "lift 5", "a mark"),
        ("MAX_SINKS", "shop", "a mark"),
        ("MAX_SERIAL_MOVES", "e-mail", "a mark, states by layer 2; 2; 5, 2"),
    ],
)
def test_limits(monkeypatch: pytest.MonkeyPatch, limit: str, name: str, kind: str) -> None:
    problem = Problem(automaton_of(name))
    assert kind in RedundantStates(problem).cheapest().construction
    monkeypatch.setattr(_redundant, limit, 0)
    with suppress(NotRealisableError):
        assert kind not in RedundantStates(problem).cheapest().construction


def test_an_automaton_without_these_is_refused() -> None:
    with pytest.raises(NotRealisableError, match=r"^T3: own\.serial: no redundant states were found"):
        RedundantStates(Problem(automaton_from_spec("T3"))).cheapest()


def corruptions(document: dict[str, Any]) -> list[dict[str, Any]]:
    """The certificate with a state exchanged in each row of its joint states, and in each entry of its last read-out."""
    states, wrong = len(document["automaton"]["transitions"][0]), []
    for row in range(len(document["decode"])):
        changed = copy.deepcopy(document)
        changed["decode"][row][0] = (changed["decode"][row][0] + 1) % states
        wrong.append(changed)
    for letter, entries in enumerate(document["layers"][-1]["next"]):
        for column, state in enumerate(entries):
            if state is not None:
                changed = copy.deepcopy(document)
                changed["layers"][-1]["next"][letter][column] = (state + 1) % states
                wrong.append(changed)
    return wrong


@pytest.mark.parametrize("name", ["tomita:7", "shop", "game 5"])
def test_corruptions_are_noticed(name: str) -> None:
    document = RedundantStates(Problem(automaton_of(name))).cheapest().certificate()
    assert check(document).verdict == "valid"
    found = corruptions(document)
    assert len(found) > 15
    for wrong in found:
        assert check(wrong).verdict == "invalid"
