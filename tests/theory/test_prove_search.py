"""The search itself: its table, its chains, stopping, saving and going on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mirrormata.constructions._construct import construct
from mirrormata.foundation._errors import InputError
from mirrormata.tests.theory.prove_models import Counter
from mirrormata.theory.arithmetic._arithmetic import parse_arithmetic
from mirrormata.theory.proofs import _state_search as state_search
from mirrormata.theory.proofs._answers import answers_of
from mirrormata.theory.proofs._linear import LinearMachine, linear_machine
from mirrormata.theory.proofs._prove import prove
from mirrormata.theory.proofs._state_search import NodeForm, NodeStore, StateSearch


def machine_of(spec: str, arithmetic: str) -> LinearMachine:
    lrnn = construct(spec)
    parsed: Any = parse_arithmetic(arithmetic)
    return linear_machine(lrnn, parsed, answers_of(lrnn.automaton, lrnn.automaton))


def test_store_numbers_rows_once() -> None:
    draw = np.random.default_rng(0)
    store, seen = NodeStore(2), []
    for _ in range(30):
        words = draw.integers(0, 30, size=(200, 2)).astype(np.uint64)
        places = store.add(words, np.zeros(200, dtype=np.int32), np.zeros(200, dtype=np.int32))
        fresh = []
        for i, row in enumerate(map(tuple, words.tolist())):
            if row not in seen:
                seen.append(row)
                fresh.append(i)
        assert places.tolist() == fresh
    assert list(map(tuple, store.words.tolist())) == seen


def test_store_survives_collisions(monkeypatch: pytest.MonkeyPatch) -> None:
    right = NodeStore._hash

    def weak(self: NodeStore, words: Any) -> Any:
        hashes = right(self, words)
        return hashes & np.uint64(0xF) if self._seed == 0 else hashes

    monkeypatch.setattr(NodeStore, "_hash", weak)
    store, nothing = NodeStore(1), np.zeros(50, dtype=np.int32)
    for start in (0, 25):
        words = np.arange(start, start + 50, dtype=np.uint64)[:, None]
        store.add(words, nothing, nothing)
    assert store.words[:, 0].tolist() == list(range(75))


def test_nodes_keep_bits_and_states() -> None:
    for dtype, entries in ((np.uint8, 3), (np.uint16, 8), (np.uint32, 2), (np.uint64, 1)):
        form = NodeForm(np.dtype(dtype), entries)
        rows: Any = np.random.default_rng(1).integers(0, 200, size=(10, entries)).astype(dtype)
        states = np.arange(10) * 400_000_000
        words = form.pack(rows, states)
        assert np.array_equal(form.rows(words), rows)
        assert np.array_equal(form.states(words), states)


@pytest.mark.parametrize("spec", ["mod:60", "mod:7", "mod:11"])
@pytest.mark.parametrize("dtype", ["fp8_e4m3", "bf16", "fp16"])
def test_chains_are_the_search(spec: str, dtype: str) -> None:
    machine = machine_of(spec, f"per_step:{dtype}")
    automaton = construct(spec).automaton
    chain, plain = StateSearch(machine, automaton), StateSearch(machine, automaton)
    assert chain._chain == 1
    plain._chain = None
    first, second = chain.run(max_states=10_000), plain.run(max_states=10_000)
    assert (first.verdict, first.word) == (second.verdict, second.word)
    if first.verdict == "equivalent":
        assert first.place == second.place
        assert np.array_equal(chain.store.words, plain.store.words)


def test_wrong_guesses_are_mended(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = machine_of("mod:7", "per_step:bf16")
    automaton = construct("mod:7").automaton
    plain = StateSearch(machine, automaton)
    right = plain.run(max_states=10_000)
    guess = LinearMachine.guess

    def sloppy(self: LinearMachine, row: Any, letter: int, length: int) -> Any:
        rows = guess(self, row, letter, length)
        if rows is not None:
            rows[::5] ^= 1
        return rows

    monkeypatch.setattr(LinearMachine, "guess", sloppy)
    search = StateSearch(machine, automaton)
    found = search.run(max_states=10_000)
    assert (found.verdict, found.word) == (right.verdict, right.word)
    both = min(found.place.count, right.place.count)  # guesses only change how far it looked ahead
    assert both > 100
    assert np.array_equal(search.store.words[:both], plain.store.words[:both])


@pytest.mark.parametrize(("spec", "arithmetic"), [("A5", "per_op:fp16"), ("mod:60", "per_step:fp32")])
def test_resumed_search_gives_the_same_verdict(spec: str, arithmetic: str, tmp_path: Path) -> None:
    lrnn, path = construct(spec), tmp_path / "search.npz"
    limits = (500, 5_000)
    whole = prove(lrnn, lrnn.automaton, arithmetic, max_states=limits[1], method="states")
    first = prove(lrnn, lrnn.automaton, arithmetic, max_states=limits[0], method="states", resume=path)
    assert first.verdict == "unknown"
    assert first.correct_up_to is not None
    again = prove(lrnn, lrnn.automaton, arithmetic, max_states=limits[1], method="states", resume=path)
    assert again.verdict == whole.verdict
    if whole.verdict != "unknown":
        assert (again.states_explored, again.word, again.steps) == (
            whole.states_explored,
            whole.word,
            whole.steps,
        )
    with pytest.raises(InputError, match="another model"):
        prove(lrnn, lrnn.automaton, "per_step:bf16", method="states", resume=path)
    path.write_bytes(b"PK")
    with pytest.raises(InputError, match="not a saved search"):
        prove(lrnn, lrnn.automaton, arithmetic, method="states", resume=path)


class Interrupted(Counter):
    """Ctrl-C at the given step."""

    left = 20

    def step(self, states: Any, letters: Any) -> Any:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        return super().step(states, letters)


def test_ctrl_c_says_what_is_proved_and_is_resumed(tmp_path: Path) -> None:
    automaton, path = construct("mod:3").automaton, tmp_path / "search.npz"
    model = Interrupted(3, 299, 0)
    stopped = prove(model, automaton, "int16", resume=path)
    assert (stopped.verdict, stopped.reason.split(",")[0]) == ("unknown", "interrupted")
    assert stopped.correct_up_to is not None
    assert 0 < stopped.correct_up_to < 20
    gone_on = prove(model, automaton, "int16", resume=path)
    assert (gone_on.verdict, gone_on.states_explored) == ("equivalent", 300)
    wrong = prove(Counter(3, 299, 1), automaton, "int16")
    assert wrong.word == (1,) * 300


def test_progress_and_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_search, "CANDIDATES", 4)
    lrnn = construct("S4")
    clock = iter(range(0, 10_000, 2))
    monkeypatch.setattr("mirrormata.theory.proofs._state_search.time.monotonic", lambda: float(next(clock)))
    told: list[tuple[int, int]] = []
    proof = prove(
        lrnn, lrnn.automaton, "per_step:bf16", method="states",
        progress=lambda states, depth: told.append((states, depth)),
    )  # fmt: skip
    assert proof.verdict == "equivalent"
    assert told == sorted(told)
    assert told
    late = prove(lrnn, lrnn.automaton, "per_step:bf16", method="states", max_seconds=5)
    assert (late.verdict, "`max_seconds` 5" in late.reason) == ("unknown", True)
