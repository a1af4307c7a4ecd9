"""The checker of chains that is proved in Coq, against the Python checker: the same verdict on certificates and on corruptions."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import numpy as np
import pytest

from mirrormata.constructions._construct import realisations_of
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.chains._chain import ChainRNN
from mirrormata.constructions.chains._sizes import find_windows
from mirrormata.constructions.theorems._construction import Limits, Problem
from mirrormata.theory._proved_check import find_proved_checker, run_proved_checker

from .both_checkers import python_verdict
from .corruption import corrupted, leaves, replaced, value_at

pytestmark = pytest.mark.skipif(
    find_proved_checker() is None, reason="mirrormata-check is not built: `make formal` builds it, with Coq"
)
SHAPES = [(2, 1, 0), (2, 3, 1), (3, 2, 1), (4, 3, 1), (5, 2, 2), (6, 2, 0), (7, 3, 1), (11, 2, 0)]


def random_automaton(n: int, k: int, seed: int, mealy: bool) -> Automaton:
    """Uniform maps; with an odd seed the last letter moves nothing; states that the start does not reach are kept."""
    generator = np.random.default_rng([n, k, seed])
    transitions = generator.integers(0, n, (k, n))
    if seed % 2:
        transitions[-1] = np.arange(n)
    outputs = generator.integers(0, 2, (k, n) if mealy else n).astype(object)
    start = int(generator.integers(n))
    return Automaton(
        tuple(range(n)),
        tuple(f"x{i}" for i in range(k)),
        transitions,
        start,
        outputs,
        keeps_points=True,
    )


def certificates_of(automaton: Automaton) -> list[dict[str, Any]]:
    """With planned sizes, with sizes that fall by one, and with each window; where layers read the set before a token, also
    with look-back and with gates."""
    forms = [*realisations_of(Problem(automaton), "own.chain")]
    forms += realisations_of(Problem(automaton, Limits(chains=0)), "own.chain")
    forms += [
        ChainRNN(automaton, tuple(range(w.size, 0, -1)), w.length)
        for w in find_windows(automaton.transitions)
    ]
    result = []
    for form in forms:
        assert isinstance(form, ChainRNN)
        for look_back, gated in ((False, False), (True, False), (True, True)):
            if form.reads_before or not look_back:
                kind = ChainRNN(
                    automaton, form.sizes, form.window, look_back=look_back, gated=gated
                ).certificate()
                result.append(json.loads(json.dumps(kind)))
    return result


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_both_checkers_say_the_same(shape: tuple[int, int, int]) -> None:
    for mealy in (False, True):
        for document in certificates_of(random_automaton(*shape, mealy)):
            said = python_verdict(document)
            assert said[0]
            assert run_proved_checker(document) == said


def test_all_sizes_of_small_automata_are_judged_alike() -> None:
    judged = {True: 0, False: 0}
    for seed in range(8):
        automaton = random_automaton(4 + seed % 2, 2, 100 + seed, mealy=False)
        n = len(automaton.states)
        for bits in range(2 ** (n - 2)):
            sizes = (n, *(s for s in range(n - 1, 1, -1) if bits >> (s - 2) & 1), 1)
            document = json.loads(json.dumps(ChainRNN(automaton, sizes).certificate()))
            valid = python_verdict(document)[0]
            judged[valid] += 1
            assert run_proved_checker(document)[0] == valid
    assert min(judged.values()) > 5


@pytest.mark.parametrize(
    "count",
    [300, pytest.param(1_000, marks=pytest.mark.long), pytest.param(6_000, marks=pytest.mark.exhaustive)],
)
def test_corruptions_are_judged_alike(count: int) -> None:
    """One leaf changed; half of the time an entry of the automaton, the sizes or the window, which may be right again."""
    draw = random.Random(count)
    documents = [
        document
        for shape in SHAPES
        for document in certificates_of(random_automaton(*shape, mealy=shape[2] == 2))
    ]
    judged = {True: 0, False: 0}
    for _ in range(count):
        document = copy.deepcopy(draw.choice(documents))
        paths = [path for path in leaves(document) if path != ("kind",)]
        near = [path for path in paths if path[0] in ("automaton", "sizes", "window")]
        path = draw.choice(near if draw.random() < 0.5 else paths)
        if path[:2] == ("automaton", "transitions") and draw.random() < 0.7:
            value: Any = draw.randrange(document["automaton"]["states"])
        else:
            value = corrupted(value_at(document, path), draw)
        document = replaced(document, path, value)
        valid, said = python_verdict(document)
        judged[valid] += 1
        assert run_proved_checker(document)[0] == valid, (path, value, said)
    assert min(judged.values()) > count // 50


def test_wrong_sizes_and_windows_are_refused_by_name() -> None:
    automaton = random_automaton(6, 2, 0, mealy=False)
    for document in certificates_of(automaton):
        if document["window"] is not None:
            document["window"] -= 1
            valid, said = python_verdict(document)
            assert not valid
            proved, reason = run_proved_checker(document)
            assert not proved
            # the numbers up to which an integer is read differ
            assert document["window"] == 0 or reason == said
