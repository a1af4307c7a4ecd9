"""The kinds of models that are drawn, each a function of its random numbers.

`closure`: the automaton is made of the states that a random layer reaches, so the two agree, or one thing is then made
wrong. `chain`: the same over one letter, longer. `mutated`: a construction's matrices, exported, and one thing changed.
`constructed`: the construction itself, against an automaton with one thing changed. `contracting`: flip-flops that forget
at a rate, for proofs by regions. `growing`: states that overflow. `random`: a random layer beside a random automaton.
"""

from __future__ import annotations

import functools
import json
import random
import tempfile
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from mirrormata.constructions._construct import construct
from mirrormata.constructions._lrnn import LRNN
from mirrormata.tests.fuzz.draw import (
    LARGE,
    SMALL,
    Case,
    arithmetic_name,
    closure,
    head,
    identity,
    matrix,
    merged,
    number,
    random_machine,
    reachable,
    read_out,
    rounded,
    with_entry,
)
from mirrormata.tests.oracle.arithmetic import is_state
from mirrormata.tests.oracle.certificate import read_certificate
from mirrormata.tests.oracle.search import Head, Joint, Layer, Machine
from mirrormata.theory._export import export_npz
from mirrormata.theory._horizon import full_certificate

MOST_STATES = 60
NAMES = (
    *(
        "parity",
        "mod:3",
        "mod:4",
        "mod:5",
        "mod:6",
        "cycle:3",
        "cycle:4",
        "flipflop",
        "permreset:3",
        "S3",
        "Z2^2",
        "Z4",
    ),
    *("dihedral:4", "Q8", "T2", "S3[transpositions]", "tomita:1"),
    *("mod:7", "cycle:5", "dihedral:5"),
)
Closure = tuple[list[Joint], list[list[int]]]


def closure_case(draw: random.Random, seed: int, *, letters: int, most: int, kind: str) -> Case:
    """A layer and the automaton of its own states and answers, with one thing made wrong in half of the cases."""
    for attempt in range(12):
        name = arithmetic_name(draw) if attempt < 8 else arithmetic_name(draw, "int:-4..4")
        n, d = draw.choice((1, 1, 2, 2, 3)), draw.choice((1, 1, 1, 2))
        if attempt == 11:
            n = d = 1
        drawn = head(draw, letters, n, d)
        layer = Layer((drawn,), ((drawn.H0,),), [[0] * letters])
        found = closure(rounded(layer, name), letters, most)
        if found is None or not all(is_state(H) for state in found[0] for H in state):
            continue
        if len(found[0]) > 2 or draw.random() < 0.2 or attempt == 11:
            break
    else:
        return random_case(draw, seed)
    return case_of(draw, seed, kind, name, drawn, found, mealy=draw.random() < 0.35)


def case_of(
    draw: random.Random, seed: int, kind: str, name: str, drawn: Head, found: Closure, *, mealy: bool
) -> Case:
    """A head beside the automaton of the states that it reaches, read out anyhow, and perhaps one thing made wrong."""
    states, table = found
    letters = len(table)
    codes, decode = read_out(draw, states, letters, by_letter=mealy)
    layer = Layer((drawn,), codes, decode)
    at = rounded(layer, name)
    outputs: Any = [at.answer(state, 0) for state in states]
    if mealy:
        outputs = [[at.answer(states[q], x) for q in row] for x, row in enumerate(table)]
    layer, table, outputs, planted = _planted(draw, layer, table, outputs, mealy=mealy)
    if draw.random() < 0.5:
        block, _ = merged(table, outputs, mealy=mealy)
        first = {b: q for q, b in reversed(list(enumerate(block)))}
        members = [first[b] for b in range(len(first))]
        table = [[block[row[q]] for q in members] for row in table]
        outputs = [[row[q] for q in members] for row in outputs] if mealy else [outputs[q] for q in members]
    machine, by_state = reachable(table, 0, outputs, mealy=mealy)
    return Case(kind, seed, name, layer, machine, mealy, by_state, planted)


IN_AUTOMATON = ("", "", "", "", "", "start", "idle", "end", "deep", "transition")
PLACES = (*IN_AUTOMATON, "decode", "letters", "entry")


def _planted(
    draw: random.Random,
    layer: Layer,
    table: Any,
    outputs: Any,
    *,
    mealy: bool,
    places: tuple[str, ...] = PLACES,
) -> tuple[Layer, Any, Any, str]:
    """One thing made wrong, or nothing."""
    states, letters = len(table[0]), len(table)
    where = draw.choice(places)
    if where in ("start", "idle", "end", "deep"):
        loops = [(x, q) for x, row in enumerate(table) for q, r in enumerate(row) if q == r]
        returns = [(x, q) for x, row in enumerate(table) for q, r in enumerate(row) if r == 0]
        x, q = draw.randrange(letters), draw.randrange(states)
        if where == "idle" and loops:
            x, q = draw.choice(loops)
        elif where == "start" and returns:
            x, q = draw.choice(returns)
        elif where == "end":
            q = states - 1
        outputs = [list(row) for row in outputs] if mealy else list(outputs)
        if mealy:
            outputs[x][q] += draw.choice((1, 2))
        else:
            outputs[0 if where == "start" else q] += draw.choice((1, 2))
    elif where == "decode":
        decode = [list(row) for row in layer.decode]
        row = draw.choice(decode)
        changed = row[0] + 1
        for x in [draw.randrange(letters)] if mealy else range(letters):
            row[x] = changed
        layer = replace(layer, decode=decode)
    elif where == "transition":
        table = [list(row) for row in table]
        table[draw.randrange(letters)][draw.randrange(states)] = draw.randrange(states)
    elif where == "letters" and letters > 1:
        (old,) = layer.heads
        order = draw.sample(range(letters), letters)
        layer = replace(layer, heads=(Head([old.A[i] for i in order], [old.B[i] for i in order], old.H0),))
    elif where == "entry":
        layer = with_entry(draw, layer)
    return layer, table, outputs, where


def closed(draw: random.Random, seed: int) -> Case:
    return closure_case(draw, seed, letters=draw.choice((1, 2, 2, 3)), most=MOST_STATES, kind="closure")


def chain(draw: random.Random, seed: int) -> Case:
    """One letter; or one that moves a pair of numbers beside letters that keep it, in a float format."""
    if draw.random() < 0.4:
        return closure_case(draw, seed, letters=1, most=150, kind="chain")
    letters = draw.choice((1, 1, 2, 3))
    for _ in range(20):
        name = f"per_step:{draw.choice(('bf16', 'fp16', 'fp32', *SMALL))}"
        a, b = draw.choice(((0, 1), (1, 1), (3, 4), (1, 2), (-1, 0))), Fraction(draw.choice((2, 4, 5, 1)))
        p, q = a[0] / b, a[1] / b
        p, q = (Fraction(float(x)) for x in (p, q))
        turn = [[p, -q], [q, p]] if draw.random() < 0.7 else matrix(draw, 2, 2, draw.randrange(5))
        zero = [[Fraction(0)], [Fraction(0)]]
        moved = draw.randrange(letters)
        A = [turn if x == moved else identity(2) for x in range(letters)]
        B = [matrix(draw, 2, 1, 0) if x == moved and draw.random() < 0.4 else zero for x in range(letters)]
        drawn = Head(A, B, matrix(draw, 2, 1, draw.choice((0, 1, 3))))
        found = closure(rounded(Layer((drawn,), ((drawn.H0,),), [[0] * letters]), name), letters, 150)
        if found is not None and all(is_state(H) for state in found[0] for H in state):
            return case_of(draw, seed, "chain", name, drawn, found, mealy=draw.random() < 0.15)
    return closure_case(draw, seed, letters=1, most=150, kind="chain")


def random_case(draw: random.Random, seed: int) -> Case:
    letters, mealy = draw.choice((1, 2, 3)), draw.random() < 0.3
    drawn = head(draw, letters, draw.choice((1, 2, 3)), draw.choice((1, 2)))
    machine, outputs = random_machine(draw, letters, mealy=mealy)
    codes, decode = read_out(draw, [(tuple(map(tuple, drawn.H0)),)], letters, by_letter=mealy)
    layer = Layer((drawn,), codes, decode)
    return Case("random", seed, arithmetic_name(draw), layer, machine, mealy, outputs)


def growing(draw: random.Random, seed: int) -> Case:
    """Right until the state has overflowed, or for ever where it saturates; many codes."""
    values = draw.choice(("fp16", "bf16", "fp8_e5m2", "fp32", *SMALL))
    name = arithmetic_name(draw, values)
    letters = draw.choice((1, 1, 2))
    factor = Fraction(draw.choice((4, 16, 256, 60000)) if values != "fp32" else 2**30)
    A = [[[factor * draw.choice((-1, 1))]] for _ in range(letters)]
    B = [[[number(draw, 2)]] for _ in range(letters)]
    if letters == 2 and draw.random() < 0.5:
        A[1] = identity(1)
    first = [[Fraction(draw.choice((0, 1, 2)))]]
    codes = [
        [[[Fraction(i if draw.random() < 0.5 else draw.randint(-9, 9))]]]
        for i in range(draw.choice((1, 5, 6, 7)))
    ]
    answers = draw.choice((1, 1, 2))
    decode = [[draw.randrange(answers)] * letters for _ in codes]
    layer = Layer((Head(A, B, first),), codes, decode)
    at = rounded(layer, name)
    found = closure(at, letters, 100)
    if found is None:
        machine, outputs = random_machine(draw, letters, mealy=False)
    else:
        answered = [max(at.answer(state, 0), 0) for state in found[0]]
        machine, outputs = reachable(found[1], 0, answered, mealy=False)
    return Case("growing", seed, name, layer, machine, False, outputs)


def contracting(draw: random.Random, seed: int) -> Case:
    """read, and a letter for each value: on i, H ← (1 - β) H + β p_i; read by the nearest of the points p_i."""
    name = arithmetic_name(draw, draw.choice(LARGE)) if draw.random() < 0.75 else "exact"
    values, n = draw.choice((2, 2, 3)), draw.choice((1, 2, 2))
    places = draw.sample([(i, j) for i in range(-2, 3) for j in (range(-1, 2) if n == 2 else (0,))], values)
    points = [[[Fraction(x)] for x in place[:n]] for place in places]
    beta = Fraction(draw.choice((1, 4, 5, 6, 6, 7, 7, 7, 7, 7)), 8) + Fraction(
        draw.randint(-1, 1), 2 ** draw.randint(5, 9)
    )
    reads = draw.random() < 0.6
    A = [[[(1 - beta) * x for x in row] for row in identity(n)] for _ in range(values)]
    B = [[[beta * x for x in row] for row in p] for p in points]
    table = [[i] * values for i in range(values)]
    if reads:
        A, B = [identity(n), *A], [[[Fraction(0)] for _ in range(n)], *B]
        table = [list(range(values)), *table]
    letters = len(A)
    outputs: Any = list(range(values))
    mealy = draw.random() < 0.3
    decode = [[i] * letters for i in range(values)]
    if mealy:
        decode = [[draw.randrange(2) for _ in range(letters)] for _ in range(values)]
        outputs = [[decode[q][x] for q in row] for x, row in enumerate(table)]
    layer = Layer((Head(A, B, points[0]),), [[p] for p in points], decode)
    wrong = IN_AUTOMATON if draw.random() < 0.7 else PLACES
    layer, table, outputs, planted = _planted(draw, layer, table, outputs, mealy=mealy, places=wrong)
    machine, by_state = reachable(table, 0, outputs, mealy=mealy)
    return Case("contracting", seed, name, layer, machine, mealy, by_state, planted)


@functools.cache
def construction(name: str) -> tuple[LRNN, Layer]:
    """An LRNN of one layer, and its certificate as the oracle reads it."""
    lrnn = construct(name)
    assert isinstance(lrnn, LRNN)
    layer = read_certificate(json.loads(json.dumps(full_certificate(lrnn))))[0]
    # the decoder's codes are float64 numbers: so near to a tie the two answer alike
    codes = [[[[Fraction(float(x)) for x in row] for row in head] for head in code] for code in layer.codes]
    return lrnn, replace(layer, codes=codes)


@functools.cache
def exported(name: str) -> Layer:
    """Its `.npz`, answers numbered as the automaton's outputs first appear."""
    lrnn = construction(name)[0]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.npz"
        export_npz(lrnn, path)
        with np.load(path, allow_pickle=False) as file:
            arrays = {key: file[key] for key in ("A", "B", "H0", "codes", "decode", "output_labels")}
    numbers = {text: i for i, text in enumerate(dict.fromkeys(map(str, lrnn.automaton.outputs)))}
    layer = layer_of(arrays)
    meaning = [numbers[text] for text in json.loads(str(arrays["output_labels"]))]
    return replace(layer, decode=[[meaning[i] for i in row] for row in layer.decode])


def layer_of(arrays: dict[str, Any]) -> Layer:
    def numbers(x: Any) -> Any:
        return [numbers(y) for y in x] if getattr(x, "ndim", 0) else Fraction(float(x))

    one = Head(numbers(arrays["A"]), numbers(arrays["B"]), numbers(arrays["H0"]))
    return Layer((one,), [[c] for c in numbers(arrays["codes"])], arrays["decode"].tolist())


@functools.cache
def one_layer_names() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names whose construction has one layer, and those of them with one head, which `.npz` files hold."""
    single, exportable = [], []
    for name in NAMES:
        lrnn = construct(name)
        if isinstance(lrnn, LRNN) and len(lrnn.layers) == 1:
            single.append(name)
            if len(lrnn.layers[0].heads) == 1:
                exportable.append(name)
    return tuple(single), tuple(exportable)


def _moore_of(lrnn: LRNN) -> tuple[list[list[int]], list[int]]:
    """The automaton's table, and its outputs numbered as they first appear."""
    texts = [str(x) for x in lrnn.automaton.outputs]
    names = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    return lrnn.automaton.transitions.tolist(), [names[text] for text in texts]


def mutated(draw: random.Random, seed: int) -> Case:
    name = draw.choice(one_layer_names()[1])
    lrnn, layer = construction(name)[0], exported(name)
    table, outputs = _moore_of(lrnn)
    assert lrnn.automaton.start == 0
    layer, table, outputs, planted = _planted(draw, layer, table, outputs, mealy=False)
    machine, by_state = reachable(table, 0, outputs, mealy=False)
    return Case("mutated", seed, arithmetic_name(draw), layer, machine, False, by_state, f"{name} {planted}")


def constructed(draw: random.Random, seed: int) -> Case:
    """The construction against an automaton; with states named as its own they are compared, else outputs."""
    name = draw.choice(one_layer_names()[0])
    lrnn, layer = construction(name)
    table, outputs = _moore_of(lrnn)
    labelled = draw.random() < 0.3
    decode = [[outputs[q] for q in row] for row in layer.decode]
    planted = ""
    arithmetic = arithmetic_name(draw)
    if arithmetic == "exact" and lrnn.exactness != "integer":
        arithmetic = "per_step:fp32"  # the oracle has only fractions
    if labelled:
        if draw.random() < 0.5:
            table = [list(row) for row in table]
            planted = "transition"
            table[draw.randrange(len(table))][draw.randrange(len(table[0]))] = draw.randrange(len(table[0]))
        machine = Machine(table, 0, table)
        return Case(
            "constructed",
            seed,
            arithmetic,
            layer,
            machine,
            False,
            tuple(outputs),
            f"{name} {planted}",
            lrnn,
            True,
        )
    original = replace(layer, decode=decode)
    _, table, outputs, planted = _planted(draw, original, table, outputs, mealy=False, places=IN_AUTOMATON)
    machine, by_state = reachable(table, 0, outputs, mealy=False)
    return Case(
        "constructed", seed, arithmetic, original, machine, False, by_state, f"{name} {planted}", lrnn
    )


CASES: dict[str, tuple[float, Callable[[random.Random, int], Case]]] = {
    "closure": (0.40, closed),
    "chain": (0.15, chain),
    "mutated": (0.15, mutated),
    "constructed": (0.08, constructed),
    "contracting": (0.08, contracting),
    "growing": (0.06, growing),
    "random": (0.08, random_case),
}
