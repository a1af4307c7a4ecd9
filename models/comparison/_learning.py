"""AALpy's learners with a model as the system under learning, and a conformance oracle that runs many words at once."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ...constructions.automata._automaton import Automaton, Indices
from ...foundation._errors import InputError, LimitError
from ...foundation._extras import needed_by
from ...theory.running._words import random_words
from ..learned._learned import Learned, answer_names
from ._states import right_answers


class Answering:
    """What a model says after each letter of words, `[words, length]` indices to numbers; -1 where nothing is asked."""

    def __init__(self, learned: Learned) -> None:
        self.learned = learned

    def answers(self, words: Indices) -> Indices:
        """The model's; an answer that has no name counts as one number more."""
        learned = self.learned
        states = learned.stepper.initial(len(words))
        q = np.full(len(words), learned.target.automaton.start)
        given = np.empty(words.shape, dtype=np.int64)
        for t in range(words.shape[1]):
            x = words[:, t]
            states = learned.stepper.step(states, x)
            _, asked = right_answers(learned.target, x, q)
            said = learned.stepper.decode(states, x)
            given[:, t] = np.where(asked, np.where(said < 0, len(learned.target.names), said), -1)
            q = learned.target.automaton.transitions[x, q]
        return given

    def right(self, words: Indices) -> Indices:
        """The target's."""
        target = self.learned.target
        given = np.empty(words.shape, dtype=np.int64)
        q = np.full(len(words), target.automaton.start)
        for t in range(words.shape[1]):
            given[:, t] = target.table[words[:, t], q]
            q = target.automaton.transitions[words[:, t], q]
        return given


class _EnoughError(Exception):
    """A limit is reached."""


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """`machine`: the last one. `contradiction`: the shortest test on which the model answers otherwise; None if complete."""

    machine: Automaton
    strength: str
    contradiction: tuple[int, ...] | None


def learn_machine(
    answering: Answering,
    method: str,
    *,
    words: int,
    length: int,
    depth: int,
    seed: int,
    max_states: int,
    max_words: int,
    max_queries: int,
) -> Hypothesis:
    """The learned Mealy machine, with the oracle's strength in words."""
    with needed_by(f"the extraction by {method}"):
        from aalpy.base import SUL, Oracle
        from aalpy.learning_algs import run_KV, run_Lstar
    if method not in ("kv", "lstar"):
        raise InputError(f"method {method}: it is kv or lstar")
    automaton = answering.learned.target.automaton
    k = len(automaton.letters)
    alphabet = list(range(k))
    while sum(k**i for i in range(1, depth + 1)) > max_words:
        depth -= 1
    batches = [np.array(list(product(alphabet, repeat=i))) for i in range(1, depth + 1)]
    batches.append(np.asarray(random_words(automaton, words, length, seed), dtype=np.int64))
    tests = [(batch, answering.answers(batch)) for batch in batches]

    class System(SUL):  # type: ignore[misc]
        """The model; whole words at once, each asked once."""

        def __init__(self) -> None:
            super().__init__()
            self.known: dict[tuple[int, ...], list[int]] = {}

        def query(self, word: tuple[int, ...]) -> list[int]:
            word = tuple(word)
            if word not in self.known:
                if len(self.known) >= max_queries:
                    raise _EnoughError(f"{max_queries:,} queries")
                given = answering.answers(np.array([word], dtype=np.int64).reshape(1, -1))
                self.known[word] = given[0].tolist()
            return list(self.known[word])

        def pre(self) -> None:
            """Nothing is kept between queries."""

        def post(self) -> None:
            """Nothing is kept between queries."""

        def step(self, letter: Any) -> Any:
            raise NotImplementedError("whole words are asked")

    class Conformance(Oracle):  # type: ignore[misc]
        """The shortest contradiction among the tests."""

        last: tuple[Indices, Indices, int] | None = None
        found: tuple[int, ...] | None = None

        def find_cex(self, hypothesis: Any) -> tuple[int, ...] | None:
            # the learner goes on changing its hypothesis, so its tables are kept
            self.last, self.found = _tables(hypothesis, k), None
            table, outputs, start = self.last
            for batch, given in tests:
                q = np.full(len(batch), start)
                for t in range(batch.shape[1]):
                    x = batch[:, t]
                    wrong = np.flatnonzero(outputs[x, q] != given[:, t])
                    if wrong.size:
                        self.found = tuple(batch[wrong[0], : t + 1].tolist())
                        if len(hypothesis.states) >= max_states:
                            raise _EnoughError(f"{max_states:,} states")
                        return self.found
                    q = table[x, q]
            return None

    system = System()
    oracle = Conformance(alphabet, system)
    run = run_KV if method == "kv" else run_Lstar
    tried = f"all words to length {depth} and {words} random words of {length} letters, seed {seed}"
    strength = f"agrees with the model on {tried}"
    try:
        run(
            alphabet, system, oracle, automaton_type="mealy", cache_and_non_det_check=False, print_level=0
        )  # fmt: skip
    except _EnoughError as enough:
        if oracle.last is None:
            raise LimitError(
                f"{answering.learned.name}: no hypothesis within {enough}: raise `max_queries`"
            ) from None
        strength = f"stopped after {enough}; contradicted on {tried}"
    assert oracle.last is not None
    table, outputs, start = oracle.last
    names = [*answering.learned.target.names, "no answer"]
    machine = Automaton(
        tuple(range(table.shape[1])),
        automaton.letters,
        table,
        start,
        answer_names(outputs, names),
        f"{answering.learned.name}, {method}",
    )
    return Hypothesis(machine, strength, oracle.found)


def _tables(hypothesis: Any, letters: int) -> tuple[Indices, Indices, int]:
    """AALpy's machine as arrays `[letters, states]`."""
    place = {id(state): i for i, state in enumerate(hypothesis.states)}
    table = np.array([[place[id(s.transitions[x])] for s in hypothesis.states] for x in range(letters)])
    outputs = np.array([[s.output_fun[x] for s in hypothesis.states] for x in range(letters)])
    return table, outputs, place[id(hypothesis.initial_state)]
