"""own.serial: sizes, certificates, an oracle that reads new states only, heads that remember, refusals, corruptions."""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mirrormata.constructions._construct import construct
from mirrormata.constructions._head import Head, dense_matrix, to_dense
from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions._realisation import Realisation, Transition
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.algebra._congruences import is_congruence, number_classes
from mirrormata.constructions.algebra._householder import gh_factor, swap
from mirrormata.constructions.algebra._separations import (
    pack_labels,
    rank_within,
    separates,
    separations,
)
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.heads._remembering import remember
from mirrormata.constructions.theorems import _in_series, _serial_search
from mirrormata.constructions.theorems._construction import Problem
from mirrormata.constructions.theorems._rest import close_paths, extensions, partial_maps
from mirrormata.constructions.theorems._serial_search import SerialSearch
from mirrormata.foundation._errors import LimitError, NotRealisableError
from mirrormata.tests.constructions.random_automata import random_words
from mirrormata.theory._check import check
from mirrormata.theory._horizon import full_certificate
from mirrormata.theory.claims.own_serial import draw_cascade
from mirrormata.theory.running._run import run


def lift(floors: int) -> Automaton:
    """A lift that moves while its door is closed."""
    rows: dict[Any, dict[str, Any]] = {}
    for floor in range(floors):
        above, below = min(floor + 1, floors - 1), max(floor - 1, 0)
        doors = {"open": ("open", floor), "close": ("closed", floor)}
        rows["closed", floor] = {**doors, "up": ("closed", above), "down": ("closed", below)}
        rows["open", floor] = {**doors, "up": ("open", floor), "down": ("open", floor)}
    return Automaton.from_transitions(rows, start=("closed", 0), name=f"lift {floors}")


def two_lifts(floors: int) -> Automaton:
    """Two lifts with buttons of their own."""
    one = lift(floors)
    moves = {
        (p, a): one.states[one.transitions[x, i]]
        for i, p in enumerate(one.states)
        for x, a in enumerate(one.letters)
    }
    rows = {
        (p, q): {
            **{f"{a} 1": (moves[p, a], q) for a in one.letters},
            **{f"{a} 2": (p, moves[q, a]) for a in one.letters},
        }
        for p in one.states
        for q in one.states
    }
    return Automaton.from_transitions(rows, start=(("closed", 0), ("closed", 0)), name=f"two lifts {floors}")


def counter(size: int) -> Automaton:
    """A counter with two ends; a step beyond the upper end turns a switch of three places, one beyond the lower end resets it."""
    rows = {
        (x, s): {
            "+": (min(x + 1, size - 1), (s + (x == size - 1)) % 3),
            "-": (max(x - 1, 0), s if x else 0),
        }
        for x in range(size)
        for s in range(3)
    }
    return Automaton.from_transitions(rows, start=(0, 0), name=f"counter {size}")


def grid_with_a_mode(size: int) -> Automaton:
    """A square with walls in which the mode says along which side a step goes."""
    most = size - 1
    rows = {
        (m, x, y): {
            "mode": (1 - m, x, y),
            "+": (m, x if m else min(x + 1, most), min(y + 1, most) if m else y),
            "-": (m, x if m else max(x - 1, 0), max(y - 1, 0) if m else y),
        }
        for m in range(2)
        for x in range(size)
        for y in range(size)
    }
    return Automaton.from_transitions(rows, start=(0, 0, 0), name=f"grid {size} with a mode")


def units_and_tens() -> Automaton:
    """Two digits, the first modulo 10 and the second with ends: it moves on a carry."""
    rows = {
        (t, u): {
            "+": (min(t + (u == 9), 6), (u + 1) % 10),
            "-": (max(t - (u == 0), 0), (u - 1) % 10),
        }
        for t in range(7)
        for u in range(10)
    }
    return Automaton.from_transitions(rows, start=(0, 0), name="units and tens")


def looks_when_reset() -> Automaton:
    """Letter 0 resets the first bit and tells the second what it was."""
    rows = {(a, b): {"0": (0, max(a, b)), "1": (1, b), "r": (a, 0)} for a in (0, 1) for b in (0, 1)}
    return Automaton.from_transitions(rows, start=(0, 0), name="looks when reset")


def last_bits() -> Automaton:
    """A register of three bits."""
    rows = {v: {str(d): (2 * v + d) % 8 for d in range(2)} for v in range(8)}
    return Automaton.from_transitions(rows, start=0, name="last bits")


def shuffled(automaton: Automaton, seed: int) -> Automaton:
    """The same automaton with its states in another order."""
    place = np.random.default_rng(seed).permutation(len(automaton.states))
    names = {q: f"s{place[i]:03d}" for i, q in enumerate(automaton.states)}
    rows = {
        names[q]: {
            a: names[automaton.states[automaton.transitions[x, i]]] for x, a in enumerate(automaton.letters)
        }
        for i, q in enumerate(automaton.states)
    }
    ordered = {name: rows[name] for name in sorted(rows)}
    return Automaton.from_transitions(
        ordered, start=names[automaton.states[automaton.start]], name=f"{automaton.name}, shuffled"
    )


def reads_new_states_only(made: Realisation, word: list[int]) -> list[int]:
    """Run dense integer matrices along a word; what follows a layer is learned as a function of its letter and new states.

    The states that the last layer names. A layer's next letter is taken from the table by the codes before, as the certificate has
    it, and an assertion fails if the same letter and new states ever have two.
    """
    assert isinstance(made, LRNN)
    learned: dict[Any, int] = {}
    matrices = [
        [[_dense(head, t) for t in head.transitions] for head in layer.heads] for layer in made.layers
    ]
    codes = [
        [
            {np.array(to_dense(c, h.dim, 1), dtype=int).tobytes(): i for i, c in enumerate(h.codes)}
            for h in layer.heads
        ]
        for layer in made.layers
    ]
    start = iter(made.decode[0, 1:].tolist())
    states = [
        [np.array(to_dense(h.codes[next(start)], h.dim, 1), dtype=int) for h in layer.heads]
        for layer in made.layers
    ]
    said = []
    for x in word:
        for i, layer in enumerate(made.layers):
            assert layer.reads is not None
            assert layer.next_letter is not None
            column = 0
            for h in layer.reads[x].tolist():
                if h >= 0:
                    column = column * len(layer.heads[h].codes) + codes[i][h][states[i][h].tobytes()]
            following = int(layer.next_letter[x, column])
            for h, head in enumerate(layer.heads):
                A, B = matrices[i][h][int(head.action_of(np.array(x)))]
                states[i][h] = A @ states[i][h] + B
            new = (i, x, *(states[i][h].tobytes() for h in layer.reads[x].tolist() if h >= 0))
            assert learned.setdefault(new, following) == following
            x = following
        said.append(x)
    return said


def _dense(head: Head, t: Transition) -> tuple[Any, Any]:
    A = np.array(dense_matrix(t, head.dim), dtype=int).reshape(head.dim, head.dim)
    return A, np.array(to_dense(t.additive, head.dim, 1), dtype=int)


def certified(found: Realisation, seed: int = 0) -> None:
    result = check(full_certificate(found))
    assert result.verdict == "valid", result.reason
    words = random_words(found.automaton, seed, 4, 300)
    for dtype in found.formats:
        assert run(found, words, dtype=dtype).errors == 0
    assert run(found, words[:, :60], dtype="exact").errors == 0
    if found.exactness == "integer":
        word = np.random.default_rng(seed).integers(0, len(found.automaton.letters), 400).tolist()
        state, right = found.automaton.start, []
        for x in word:
            state = int(found.automaton.transitions[x, state])
            right.append(state)
        assert reads_new_states_only(found, word) == right


SIZES = {  # layers, heads, factors, dimension, work
    "lift 5": (lift(5), 2, 1, 4, 4, 17),
    "lift 20": (lift(20), 2, 1, 19, 19, 362),
    "lift 7, shuffled": (shuffled(lift(7), 1), 2, 1, 6, 6, 37),
    "two lifts 4": (two_lifts(4), 2, 2, 3, 3, 10),
    "counter 4": (counter(4), 2, 1, 4, 4, None),
    "grid 4 with a mode": (grid_with_a_mode(4), 2, 2, 3, 3, 10),
    "grid 3 with a mode, shuffled": (shuffled(grid_with_a_mode(3), 5), 2, 2, 2, 2, 5),
    "units and tens": (units_and_tens(), 2, 2, None, None, None),
    "looks when reset": (looks_when_reset(), 2, 1, 2, 2, 5),
    "even_pairs": (automaton_from_spec("even_pairs"), 2, 1, 2, 2, 5),
    "mod_arith:3": (automaton_from_spec("mod_arith:3"), 3, 1, 3, 3, 22),
    "tomita:7": (automaton_from_spec("tomita:7"), 2, 1, 2, 2, 8),
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes(name: str) -> None:
    automaton, *figures = SIZES[name]
    made = construct(automaton, theorem="own.serial", exactness="integer")
    found = (made.depth, made.heads, made.householders, made.dim, made.work)
    assert made.norm == "at most 1"
    assert [f for f, wanted in zip(found, figures, strict=True) if wanted is not None] == [
        wanted for wanted in figures if wanted is not None
    ]
    certified(made, seed=3)


def test_drawn_cascades() -> None:
    """The construction finds components of its own for most; what it makes is right, and a part of them keeps what is lost."""
    built, refused, lost = 0, [], 0
    for seed in range(40):
        automaton = draw_cascade(np.random.default_rng(1_000 + seed)).automaton
        try:
            made = construct(automaton, theorem="own.serial", exactness="integer")
        except NotRealisableError as error:
            refused.append(str(error))
            continue
        certified(made, seed)
        assert isinstance(made, LRNN)
        built += 1
        lost += any(layer.after is not None for layer in made.layers)
    assert built >= 20
    assert lost >= 10
    assert all("one layer" in text or "no chain" in text or "no proper" in text for text in refused)


def test_labels_separate_within_classes() -> None:
    draw = np.random.default_rng(7)
    count = 0
    for _ in range(40):
        automaton = draw_cascade(draw).automaton
        for congruence in SerialSearch(Problem(automaton)).congruences()[:4]:
            assert is_congruence(automaton.transitions, congruence)
            for labels in separations(automaton.transitions, congruence, ()):
                pairs = set(zip(labels.tolist(), congruence.tolist(), strict=True))
                assert len(pairs) == len(labels)
                assert separates(labels, congruence)
                assert (labels == number_classes(labels)).all()
                count += 1
    assert count > 40
    classes = np.array([0, 1, 0, 1, 1])
    assert rank_within(classes).tolist() == [0, 0, 1, 1, 2]
    assert not separates(np.zeros(5, dtype=int), classes)
    assert len(set(pack_labels(np.arange(5), classes).tolist())) == 3


def test_maps_are_extended() -> None:
    draw = np.random.default_rng(11)
    count = 0
    for _ in range(200):
        size = int(draw.integers(2, 6))
        partial = draw.integers(-1, size, (int(draw.integers(1, 4)), size))
        partial = partial[(partial >= 0).any(axis=1)]
        if not len(partial):
            continue
        for total in extensions(partial):
            assert ((total == partial) | (partial < 0)).all()
            assert total.min() >= 0
            count += 1
    assert count > 200
    assert close_paths([1, -1, -1, 0]) == [1, 3, 2, 0]
    # the labels do not determine where they go without the class
    transitions = np.array([[1, 0, 2, 3]])
    assert partial_maps(transitions, np.array([0, 1, 0, 1]), np.zeros(4, dtype=int)) is None
    found = partial_maps(transitions, np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1]))
    assert found is not None
    assert found[0].tolist() == [[1, 0], [0, 1]]


def test_a_head_remembers_what_it_loses() -> None:
    """e_1 → e_2 → 0 and a reset: new codes tell the old ones, no norm exceeds 1, and the first half moves as before."""
    codes = ((), ((0, 0, 1),), ((1, 0, 1),))
    drop = Transition((gh_factor(1, {1: 1}), swap(0, 1)))
    reset = Transition((gh_factor(1, {0: 1}), gh_factor(1, {1: 1})), additive=((0, 0, 1),))
    head = Head(2, 1, (drop, reset), codes, np.array([[0, 2, 0], [1, 1, 1]]))
    kept = remember(head, 1, [True, True])
    assert kept is not None
    assert kept.dim == 4
    for t in range(2):
        olds: dict[int, Any] = {}
        for c, code in enumerate(kept.codes):
            old = tuple(e for e in code if e[0] < 2)
            after = int(kept.code_transitions[t, c])
            assert olds.setdefault(after, old) == old
            new = tuple(e for e in kept.codes[after] if e[0] < 2)
            assert new == codes[int(head.code_transitions[t, codes.index(old)])]
        A = np.array(dense_matrix(kept.transitions[t], 4), dtype=int)
        assert np.linalg.matrix_rank(A) == (A != 0).sum()  # a signed partial permutation
        assert all(f.is_contraction() for f in kept.transitions[t].factors)
    # without a wish nothing changes but unreachable codes
    plain = remember(head, 1, [False, False])
    assert plain is not None
    assert (plain.dim, plain.transitions) == (2, head.transitions)
    halved = Head(
        1, 1, (Transition((gh_factor(Fraction(1, 2), {0: 1}),)),), ((), ((0, 0, 1),)), np.array([[0, 0]])
    )
    assert remember(halved, 1, [True]) is None


@pytest.mark.parametrize(
    ("automaton", "reason"),
    [
        (automaton_from_spec("T3"), "its states have no proper congruence"),
        (automaton_from_spec("boxes:3,2"), "its quotients side by side take one layer"),
        (last_bits(), "it takes one layer"),
        (
            automaton_from_spec("mod_arith:5"),
            "no chain of congruences was found whose components take one layer",
        ),
    ],
    ids=lambda part: getattr(part, "name", ""),
)
def test_refusals(automaton: Automaton, reason: str) -> None:
    with pytest.raises(NotRealisableError, match=f"^{automaton.name}: own.serial: {reason}"):
        construct(automaton, theorem="own.serial")


def test_a_grid_with_inner_walls_has_no_congruence() -> None:
    walls, cells = {(1, 1), (3, 3)}, [(x, y) for x in range(5) for y in range(5)]
    free = [c for c in cells if c not in walls]
    steps = {"L": (-1, 0), "R": (1, 0), "U": (0, -1), "D": (0, 1)}
    rows = {
        (x, y): {a: (x + u, y + v) if (x + u, y + v) in free else (x, y) for a, (u, v) in steps.items()}
        for x, y in free
    }
    with pytest.raises(NotRealisableError, match=r"own\.serial: its states have no proper congruence"):
        construct(Automaton.from_transitions(rows, start=(0, 0), name="grid"), theorem="own.serial")


def test_points_that_are_kept() -> None:
    maps = np.array([[1, 0, 3, 2, 5, 4], [0, 1, 0, 1, 0, 1]])
    kept = Automaton(
        tuple(range(6)), ("a", "b"), maps, 0, np.arange(6).astype(object), "kept", keeps_points=True
    )
    with pytest.raises(NotRealisableError, match=r"^kept: own.serial needs every state to be reachable"):
        construct(kept, theorem="own.serial")


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_serial_search, "MAX_MINIMAL", 0)
    with pytest.raises(LimitError, match=r"^lift 5: own.serial: 1 minimal congruences .* limit is 0$"):
        construct(lift(5), theorem="own.serial")
    monkeypatch.undo()
    monkeypatch.setattr(_in_series, "MAX_JOINT", 5)
    with pytest.raises(LimitError, match=r"^lift 5: more than 5 joint states"):
        construct(lift(5), theorem="own.serial")
    monkeypatch.undo()
    monkeypatch.setattr(_serial_search, "MAX_COMPONENTS", 0)
    with pytest.raises(NotRealisableError, match="no chain of congruences"):
        construct(lift(5), theorem="own.serial")


def corrupted(document: dict[str, Any], layer: int, letter: int) -> list[dict[str, Any]]:
    """The certificate with two entries of one read-out exchanged, and with one left out."""
    row = document["layers"][layer]["next"][letter]
    places = [c for c, y in enumerate(row) if y is not None]
    wrong = []
    for c in places[1:]:
        if row[c] != row[places[0]]:
            changed = copy.deepcopy(document)
            entries = changed["layers"][layer]["next"][letter]
            entries[c], entries[places[0]] = entries[places[0]], entries[c]
            wrong.append(changed)
    if places:
        changed = copy.deepcopy(document)
        changed["layers"][layer]["next"][letter][places[-1]] = None
        wrong.append(changed)
    return wrong


@pytest.mark.parametrize("automaton", [looks_when_reset(), counter(3), automaton_from_spec("mod_arith:3")])
def test_corruptions_are_noticed(automaton: Automaton) -> None:
    document = construct(automaton, theorem="own.serial").certificate()
    assert check(document).verdict == "valid"
    count = 0
    for i, layer in enumerate(document["layers"]):
        for x in range(len(layer["next"])):
            for wrong in corrupted(document, i, x):
                assert check(wrong).verdict == "invalid"
                count += 1
        for h, head in enumerate(layer["heads"]):
            for t in range(len(head["transitions"])):
                if head["transitions"][t]["factors"]:
                    wrong = copy.deepcopy(document)
                    wrong["layers"][i]["heads"][h]["transitions"][t]["factors"].pop()
                    assert check(wrong).verdict == "invalid"
                    count += 1
            wrong = copy.deepcopy(document)
            codes = wrong["layers"][i]["heads"][h]["codes"]
            codes[0], codes[-1] = codes[-1], codes[0]
            assert check(wrong).verdict == "invalid"
    assert count > 10


def test_a_code_that_nothing_reaches_is_refused() -> None:
    document = construct(looks_when_reset(), theorem="own.serial").certificate()
    head = document["layers"][1]["heads"][0]
    assert head["dim"] == 1  # the identity and resets, so that any further code is closed under them
    head["codes"].append([[0, 0, 5]])
    for row in document["layers"][1]["next"]:
        row += [None] * (len(row) > 1)
    assert check(document).reason == "layers[1].heads[0]: a code is never reached"


def forgetful(made: LRNN) -> dict[str, Any]:
    """The certificate of the layers `looks when reset` if the first bit forgot: its new code 0 would have two meanings."""
    document = made.certificate()
    erase = {"factors": [[1, [[0, 1]]]]}
    document["layers"][0]["heads"][0] = {
        "field": 1, "dim": 1, "value_dim": 1,
        "transitions": [erase, {**erase, "additive": [[0, 0, 1]]}, {"factors": []}],
        "codes": [[], [[0, 0, 1]]], "actions": [0, 1, 2],
    }  # fmt: skip
    table = document["layers"][0]["next"]
    document["layers"][0]["next"] = [row[:2] if len(row) > 1 else row for row in table]
    return document


def test_a_state_that_is_lost_is_not_read() -> None:
    made = construct(looks_when_reset(), theorem="own.serial")
    assert isinstance(made, LRNN)
    assert check(made.certificate()).verdict == "valid"
    assert (
        check(forgetful(made)).reason
        == "layers[0].reads[0]: head 0's new code does not tell the point before"
    )
