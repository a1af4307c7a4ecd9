"""Region proofs: prover and checker find the same radii by different ways, and no reachable state is outside of them."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np
import pytest

from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.automata._completing import object_array
from mirrormata.tests.theory.prove_models import flip_flop
from mirrormata.theory.arithmetic._arithmetic import parse_arithmetic
from mirrormata.theory.checker import equivalent
from mirrormata.theory.checker._arithmetic import Arithmetic
from mirrormata.theory.checker._exact import Invalid
from mirrormata.theory.checker._regions import regions
from mirrormata.theory.checker._stored import Model
from mirrormata.theory.checker.table import Machine
from mirrormata.theory.proofs._certificate import find_regions, regions_certificate
from mirrormata.theory.proofs._exact import exact_regions
from mirrormata.theory.proofs._machine import one_layer
from mirrormata.theory.proofs._npz_model import NpzModel, npz_model

ONE = Machine([[0]], 0, [0])
"""One state, one letter, one output: every answer is right, and only the radius is at stake."""


def text(x: Fraction) -> Any:
    return x.numerator if x.denominator == 1 else f"{x.numerator}/{x.denominator}"


def scalar(A: Fraction, B: Fraction, H0: Fraction, codes: list[Fraction], arithmetic: str) -> Model:
    """One number, x ← rnd(A x + B); every code stands for the one output."""
    head = {"A": [[[text(A)]]], "B": [[[text(B)]]], "H0": [[text(H0)]]}
    document = {"heads": [head], "codes": [[text(c)] for c in codes], "decode": [[0]] * len(codes)}
    return Model(document, 1, 1, Arithmetic(arithmetic))


def rounded(x: Fraction, mode: str) -> Fraction:
    """To bfloat16, for numbers from 1 to 2: steps of 2^-7."""
    steps = x * 2**7
    whole: dict[str, Callable[[Fraction], int]] = {
        "rne": round,
        "tie_low": lambda s: ceil(s - Fraction(1, 2)),
        "rz": floor,
        "rd": floor,
        "ru": ceil,
    }
    assert 1 <= x < 2
    return Fraction(whole[mode](steps), 2**7)


# what A adds to 1, so that rounding 1 + A errs by (nearly) as much as the mode allows
WORST = {
    "": Fraction(1, 2**8),
    ":tie_low": Fraction(1, 2**8),
    ":rz": Fraction(127, 2**14),
    ":rd": Fraction(127, 2**14),
    ":ru": Fraction(1, 2**14),
}


@pytest.mark.parametrize("mode", WORST)
def test_the_worst_rounding_stays_in_the_ball(mode: str) -> None:
    """From 1 the exact image 1 + A is a code itself; the stored state is off from it by what rounding does alone."""
    A = WORST[mode]
    model = scalar(A, Fraction(1), Fraction(1), [Fraction(1), 1 + A], f"per_step:bf16{mode}")
    count, radius = regions(model, ONE, "outputs")
    assert count == 2
    h, farthest = Fraction(1), Fraction(0)
    for _ in range(4):
        h = rounded(A * h + 1, mode[1:] or "rne")
        farthest = max(farthest, abs(h - (1 + A)))
    assert Fraction(radius, 2**64) >= farthest
    step = Fraction(1, 2**7)
    assert farthest >= (step / 2 if mode in ("", ":tie_low") else step * Fraction(126, 127))
    assert Fraction(radius, 2**64) < (1 if mode in ("", ":tie_low") else 2) * step / 2 * Fraction(103, 100)


def test_a_ball_that_holds_the_worst_state_alone_is_refused_when_a_wrong_code_is_near() -> None:
    """The nearest other answer lies a little beyond half of the worst error: no proof by regions exists."""
    A = Fraction(1, 2**8)
    wrong = 1 + A - Fraction(3, 2) * A  # the state 1 is nearer to this code than to 1 + A
    head = {"A": [[[text(A)]]], "B": [[[1]]], "H0": [[1]]}
    for other, holds in ((wrong, False), (Fraction(0), True)):
        codes = [[1], [text(1 + A)], [text(other)]]
        document = {"heads": [head], "codes": codes, "decode": [[0], [0], [1]]}
        model = Model(document, 1, 2, Arithmetic("per_step:bf16"))
        machine = Machine([[0]], 0, [0])
        if holds:
            assert regions(model, machine, "outputs")[0] == 2
        else:
            with pytest.raises(Invalid, match="another answer"):
                regions(model, machine, "outputs")


def contracting(seed: int) -> tuple[NpzModel, Automaton]:
    """Two letters that contract, numbers of bfloat16, codes at random, all of one answer or of two."""
    draw = random.Random(seed)
    n, d, letters = draw.choice([(1, 1), (2, 1), (2, 2), (3, 1)]), 0, 2
    rows, columns = n
    del d
    A = np.array(
        [[[draw.randint(-40, 40) / 128 for _ in range(rows)] for _ in range(rows)] for _ in range(letters)]
    )
    if draw.random() < 0.3:
        A[0] = np.eye(rows) * draw.choice([1, -1])
    B = np.array(
        [[[draw.randint(-4, 4) / 4 for _ in range(columns)] for _ in range(rows)] for _ in range(letters)]
    )
    if draw.random() < 0.5:
        B[0] = 0
    H0 = np.array([[draw.randint(-8, 8) / 8 for _ in range(columns)] for _ in range(rows)])
    count = draw.randint(1, 4)
    codes = np.array(
        [[[draw.randint(-16, 16) / 8 for _ in range(columns)] for _ in range(rows)] for _ in range(count)]
    )
    states = draw.choice([1, 1, 2])
    transitions = np.array([[draw.randrange(states) for _ in range(states)] for _ in range(letters)])
    outputs = object_array(str(i % 2) for i in range(states))
    automaton = Automaton(
        tuple(range(states)), ("a", "b"), transitions, 0, outputs, "drawn", keeps_points=True
    )
    decode = np.array([[draw.choice([0, 0, states - 1])] * letters for _ in range(count)])
    arrays = {"A": A, "B": B, "H0": H0, "codes": codes, "decode": decode}
    return npz_model(arrays, "drawn"), automaton


def both(model: NpzModel, automaton: Automaton, arithmetic: str) -> tuple[Any, Any]:
    """What the prover finds and what the checker does, on the same stored numbers."""
    parsed: Any = parse_arithmetic(arithmetic)
    answers = model.answers(automaton)
    machine = exact_regions(model, answers) if arithmetic == "exact" else one_layer(model, answers, parsed)
    assert machine is not None
    mine = find_regions(machine, parsed, 20_000)
    from mirrormata.theory.proofs._certificate import model_document

    document: Any = model_document(machine, "drawn")
    delta = automaton.transitions.tolist()
    held = Machine(delta, automaton.start, document["automaton"]["outputs"])
    try:
        stored = Model(document["model"], len(delta), 2**62, Arithmetic(arithmetic))
        theirs: Any = regions(stored, held, answers.kind, 20_000)
    except Invalid:
        theirs = None
    return mine, theirs


@pytest.mark.parametrize(
    "arithmetic",
    ["exact", "per_step:bf16", "per_step:fp16:rz", "per_step:fp8_e5m2:ru", "per_step:fp32:tie_low"],
)
def test_prover_and_checker_find_the_same_radii(arithmetic: str) -> None:
    found = 0
    for seed in range(40):
        mine, theirs = both(*contracting(seed), arithmetic)
        assert mine == theirs, (seed, mine, theirs)
        found += mine is not None
    assert found >= 8


def test_the_certificate_of_a_flip_flop_is_accepted_and_only_with_its_radius() -> None:
    model, automaton = flip_flop(15 / 16), automaton_from_spec("flipflop")
    arithmetic: Any = parse_arithmetic("per_step:bf16:rz")
    machine = one_layer(model, model.answers(automaton), arithmetic)
    assert machine is not None
    document = regions_certificate(machine, arithmetic, "flip-flop", 20_000)
    assert document is not None
    assert "2 regions" in equivalent.check(document)
    for change in (-1, 1):
        said = {**document["equivalence"], "radius": document["equivalence"]["radius"] + change}
        with pytest.raises(Invalid, match="radius"):
            equivalent.check({**document, "equivalence": said})
