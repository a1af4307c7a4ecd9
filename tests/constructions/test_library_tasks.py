"""Counters, transformation semigroups and tracking tasks of the library against plain simulations."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from mirrormata.constructions.library._names import automaton_by_name, library


def simulates(name: str, start: Any, step: Callable[[Any, Any], Any], length: int = 200) -> None:
    """The state after each of 20 random words, and its output, is what `step` gives."""
    automaton = automaton_by_name(name)
    assert automaton.states[automaton.start] == start
    rng = np.random.default_rng(0)
    for _ in range(20):
        letters = rng.integers(0, len(automaton.letters), size=length)
        state = start
        for x, q in zip(letters, automaton.trace(letters), strict=True):
            state = step(state, automaton.letters[x])
            assert automaton.states[q] == automaton.outputs[q] == state


def test_counters() -> None:
    simulates("parity", 0, lambda q, x: (q + int(x)) % 2)
    simulates("mod:1", 0, lambda q, x: 0)
    simulates("mod:7", 0, lambda q, x: (q + int(x)) % 7)
    simulates("cycle:5", 0, lambda q, x: (q + int(x)) % 5)
    simulates("cycle:2", 0, lambda q, x: (q + int(x)) % 2)
    assert automaton_by_name("parity").letters == ("0", "1")
    assert automaton_by_name("cycle:5").letters == ("-1", "0", "+1")


def test_flipflop_and_permutation_reset() -> None:
    simulates("flipflop", 0, lambda q, x: q if x == "read" else int(x))
    simulates("permreset:4", 0, lambda q, x: (q + int(x[5:])) % 4 if x[:5] == "shift" else int(x[5:]))
    assert automaton_by_name("permreset:2").letters == ("shift0", "shift1", "reset0", "reset1")


def test_full_transformations() -> None:
    automaton = automaton_by_name("T3")
    assert automaton.letters == ("cycle", "swap", "collapse")
    assert (automaton.transitions + 1).tolist() == [[2, 3, 1], [2, 1, 3], [1, 1, 3]]
    everything = automaton_by_name("T3[all]")
    assert everything.letters == tuple(itertools.product(range(3), repeat=3))
    simulates("T3[all]", 0, lambda q, x: x[q])


def test_gridworld() -> None:
    simulates("gridworld:5", 0, lambda q, x: max(q - 1, 0) if x == "left" else min(q + 1, 4))
    simulates("gridworld:1", 0, lambda q, x: 0)


def test_codeswap() -> None:
    def step(where: tuple[int, ...], letter: str) -> tuple[int, ...]:
        i, j = (int(variable) for variable in letter.split("-"))
        contents = [where.index(variable) for variable in range(4)]
        contents[i], contents[j] = contents[j], contents[i]
        return tuple(contents.index(value) for value in range(4))

    assert automaton_by_name("codeswap:4").letters == ("0-1", "0-2", "0-3", "1-2", "1-3", "2-3")
    simulates("codeswap:4", (0, 1, 2, 3), step)


def test_boxes() -> None:
    def step(places: tuple[int, ...], letter: str) -> tuple[int, ...]:
        item, box = (int(part) for part in letter.split(">"))
        return (*places[:item], box, *places[item + 1 :])

    simulates("boxes:3,2", (0, 0), step)
    simulates("boxes:2,4", (0, 0, 0, 0), step)
    assert len(automaton_by_name("boxes:2,4").letters) == 8


def test_chess() -> None:
    automaton = automaton_by_name("chess")
    assert (len(automaton.states), len(automaton.letters)) == (65, 64 * 63)

    def step(square: str, move: str) -> str:
        source, target = move[:2], move[2:]
        if square == source:
            return target
        return "captured" if square == target else square

    simulates("chess", "a1", step, length=1000)
    rook = automaton.with_start("h1")
    assert rook.after("e2e4 h1h5 e7e5 h5e5 d8e7") == "e5"
    assert rook.after("h1h5 d8h5 a1a2") == "captured"


def test_random_is_fixed_by_its_seed() -> None:
    first = automaton_by_name("random:states=8,letters=2,seed=3")
    again = automaton_by_name("random:seed=3,states=8,letters=2")
    assert (first.transitions == again.transitions).all()
    # the raw stream of PCG64(3), reduced mod 8
    raw = (np.random.PCG64(3).random_raw(16) % np.uint64(8)).astype(int).reshape(2, 8)
    kept = np.array(first.states, dtype=np.int64)
    assert (kept[first.transitions] == raw[:, kept]).all()
    other = automaton_by_name("random:states=8,letters=2,seed=4")
    assert (first.transitions.shape, first.transitions.tolist()) != (
        other.transitions.shape,
        other.transitions.tolist(),
    )


def test_random_stream_does_not_change() -> None:
    automaton = automaton_by_name("random:states=5,letters=2,seed=0")
    assert automaton.states == (0, 1, 2, 4)
    assert automaton.transitions.tolist() == [[1, 2, 3, 1], [3, 2, 2, 1]]


def test_random_is_uniform() -> None:
    automaton = automaton_by_name("random:states=3,letters=3000,seed=1")
    counts = np.bincount(automaton.transitions.ravel(), minlength=3)
    deviation = (9000 * (1 / 3) * (2 / 3)) ** 0.5
    assert (np.abs(counts - 3000) < 5 * deviation).all()
    assert automaton.letters[:2] == ("x0", "x1")


def test_the_library_is_the_same_under_any_hash_seed() -> None:
    code = (
        "from mirrormata.constructions.library._names import automaton_by_name, library\n"
        "for entry in library():\n"
        "    a = automaton_by_name(entry.example)\n"
        "    print(a.name, a.states, a.letters, a.start, a.transitions.tolist(), a.outputs.tolist())\n"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in "123"
    ]
    assert runs[0] == runs[1] == runs[2]
    assert len(runs[0].splitlines()) == len(library())
