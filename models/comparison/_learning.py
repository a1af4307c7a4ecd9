"""AALpy's learners with a model as their teacher.

Where the model's states close, a hypothesis is compared with the graph of all of them, so that learning ends with the automaton
of the model on all words. Otherwise counterexamples come from all short words and from random ones, many at once. Learning stops
at a limit with the hypothesis that was right longest.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ...constructions.automata._automaton import Automaton, Indices, minimise, separating_word
from ...foundation._errors import InputError, LimitError
from ...foundation._extras import needed_by
from ...foundation._interrupting import take_interrupt
from ...theory.running._words import random_words
from ..learned._learned import Learned, answer_names
from ._budget import Clock, OutOfBudgetError
from ._state_graph import StateGraph, follow_states, machine_of_states, name_answers
from ._states import right_answers

INTERRUPTED = "an interrupt"
"""Why an extraction stopped that Ctrl-C has ended."""
LEAST_QUERIES = 500
"""Words that may be asked about a small automaton."""
KEPT_BYTES = 1 << 26
"""Bytes of all states that are kept to go on from."""
TESTS_SHARE = 0.7
"""The share of the time after which the random words are read no further."""


def default_queries(states: int, letters: int) -> int:
    """The words that a learner may ask about an automaton: those of the table of L*, at least `LEAST_QUERIES`.

    The table has a row for each state and each state after each letter, n (k + 1) in all, and its columns are the k letters and
    up to n words that tell states apart.

    Args:
        states: n, of the target.
        letters: k.
    """
    return max(LEAST_QUERIES, states * (letters + 1) * (states + letters))


class Answering:
    """What a model says after each letter of words, `[words, length]` indices to numbers; -1 where nothing is asked."""

    def __init__(self, learned: Learned) -> None:
        self.learned = learned

    def answers(self, words: Indices, clock: Clock | None = None) -> Indices:
        """The model's; an answer that has no name counts as one number more.

        With a clock, those up to the letter where `TESTS_SHARE` of its time is over.
        """
        learned = self.learned
        states = learned.stepper.initial(len(words))
        q = np.full(len(words), learned.target.automaton.start)
        given = np.empty(words.shape, dtype=np.int64)
        for t in range(words.shape[1]):
            try:
                if clock is not None:
                    clock.look(TESTS_SHARE)
            except OutOfBudgetError:
                return given[:, :t]
            x = words[:, t]
            states = learned.stepper.step(states, x)
            given[:, t] = name_answers(learned, learned.stepper.decode(states, x), x, q)
            q = learned.target.automaton.transitions[x, q]
        return given

    def right(self, words: Indices) -> Indices:
        """The target's."""
        target = self.learned.target
        given = np.empty(words.shape, dtype=np.int64)
        q = np.full(len(words), target.automaton.start)
        for t in range(words.shape[1]):
            given[:, t], _ = right_answers(target, words[:, t], q)
            q = target.automaton.transitions[words[:, t], q]
        return given


class _Node:
    """A word that was asked: the answer after it, the target's state, the words one letter longer, and the model's state."""

    __slots__ = ("after", "answer", "q", "row")

    def __init__(self, answer: int, q: int, row: Any) -> None:
        self.answer, self.q, self.row = answer, q, row
        self.after: dict[int, _Node] = {}


class Teacher:
    """A model that answers words, each once, and what is known of its states; learners of one model share it.

    A word goes on from the longest prefix whose state is kept, and its last letter is read side by side with all others, since
    learners ask for these next.
    """

    def __init__(self, learned: Learned) -> None:
        self.answering, self.learned = Answering(learned), learned
        self.letters = len(learned.target.automaton.letters)
        self._machine = machine_of_states(learned)
        self._graph: StateGraph | None = None
        self._followed = False
        self._tests: dict[Any, list[tuple[Indices, Indices]]] = {}
        start = learned.target.automaton.start
        self._root = _Node(-1, start, None if self._machine is None else self._machine.initial())
        self._kept: deque[_Node] = deque()

    def graph(self, clock: Clock) -> StateGraph | None:
        """The model's states, where they close within the time."""
        if not self._followed:
            self._followed = True
            if self._machine is not None:
                self._graph = follow_states(self.learned, self._machine, clock)
        return self._graph

    def tests(
        self, words: int, length: int, depth: int, seed: int, clock: Clock
    ) -> list[tuple[Indices, Indices]]:
        """All words to length `depth`, then random ones, with what the model says; as many letters as there is time for."""
        key = (words, length, depth, seed)
        if key in self._tests:
            return self._tests[key]
        found = []
        for letters in range(1, depth + 1):
            clock.look()
            batch = np.array(list(product(range(self.letters), repeat=letters)))
            found.append((batch, self.answering.answers(batch)))
        drawn = np.asarray(random_words(self.learned.target.automaton, words, length, seed), dtype=np.int64)
        given = self.answering.answers(drawn, clock)
        found.append((drawn[:, : given.shape[1]], given))
        if given.shape == drawn.shape:  # else another learner may have more time
            self._tests[key] = found
        return found

    def answers_to(self, word: tuple[int, ...], clock: Clock) -> list[int]:
        """The answer after each letter of a word, which is run alone or goes on from one that was.

        Raises:
            OutOfBudgetError: the time is over.
        """
        if self._graph is not None:
            return self._graph.answers_to(word)
        if self._machine is None:
            clock.look()
            return self.answering.answers(np.array([word], dtype=np.int64).reshape(1, -1))[0].tolist()  # type: ignore[no-any-return]
        node, path = self._root, [self._root]
        for x in word:
            if x not in node.after:
                break
            node = node.after[x]
            path.append(node)
        known = len(path) - 1
        if known < len(word):
            # the last known word whose state is kept; the empty one always is
            at = max(i for i, node in enumerate(path) if node.row is not None)
            for i in range(at, len(word)):
                clock.look()
                self._read(path[i], word[i], last=i + 1 == len(word))
                if i + 1 == len(path):
                    path.append(path[i].after[word[i]])
        return [node.answer for node in path[1:]]

    def _read(self, node: _Node, letter: int, *, last: bool) -> None:
        """Read a letter after a word, or all letters side by side."""
        machine = self._machine
        assert machine is not None
        read = np.arange(self.letters) if last else np.array([letter])
        rows = machine.step_each(np.repeat(node.row, len(read), axis=0), read)
        before = np.full(len(read), node.q)
        said = name_answers(self.learned, machine.decode(machine.unpack(rows), read), read, before)
        after = self.learned.target.automaton.transitions[read, before]
        for i, x in enumerate(read.tolist()):
            # what was answered once stays
            child = node.after.setdefault(x, _Node(int(said[i]), int(after[i]), None))
            if child.row is None:
                child.row = rows[i : i + 1].copy()
                self._kept.append(child)
        while len(self._kept) > max(self.letters + 2, KEPT_BYTES // machine.form.entries):
            self._kept.popleft().row = None


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """What was learned from a model.

    Attributes:
        machine: the hypothesis, the one that was right longest where learning stopped.
        strength: in words, how far it is known to be the model's automaton.
        contradiction: the shortest test on which the model answers otherwise; None for none.
        queries: the words that were asked.
        stopped: the limit that ended learning; None where it ended by itself.
    """

    machine: Automaton
    strength: str
    contradiction: tuple[int, ...] | None
    queries: int
    stopped: str | None


def learn_machine(
    teacher: Teacher,
    method: str,
    *,
    words: int,
    length: int,
    depth: int,
    seed: int,
    max_states: int,
    max_words: int,
    max_queries: int,
    clock: Clock,
) -> Hypothesis:
    """The learned Mealy machine.

    Raises:
        LimitError: a limit was reached before there was a hypothesis.
    """
    with needed_by(f"the extraction by {method}"):
        from aalpy.base import SUL, Oracle
        from aalpy.learning_algs import run_KV, run_Lstar
    if method not in ("kv", "lstar"):
        raise InputError(f"method {method}: it is kv or lstar")
    target, k = teacher.learned.target, teacher.letters
    while sum(k**i for i in range(1, depth + 1)) > max_words:
        depth -= 1
    asked: set[tuple[int, ...]] = set()
    graph = teacher.graph(clock)

    class System(SUL):  # type: ignore[misc]
        """The model; whole words at once, each asked once."""

        def query(self, word: tuple[int, ...]) -> list[int]:
            word = tuple(word)
            if word not in asked and len(asked) >= max_queries:
                raise OutOfBudgetError(f"`max_queries` {max_queries:,}")
            clock.look()
            given = teacher.answers_to(word, clock)
            asked.add(word)
            return given

        def pre(self) -> None:
            """Nothing is kept between queries."""

        def post(self) -> None:
            """Nothing is kept between queries."""

        def step(self, letter: Any) -> Any:
            raise NotImplementedError("whole words are asked")

    class Equivalence(Oracle):  # type: ignore[misc]
        """Counterexamples; the hypothesis that is right longest, and how it is contradicted."""

        best: tuple[tuple[Indices, Indices, int], tuple[int, ...] | None] | None = None

        def find_cex(self, hypothesis: Any) -> tuple[int, ...] | None:
            # the learner goes on changing its hypothesis, so its tables are kept
            tables = _tables(hypothesis, k)
            found = graph.contradiction(*tables) if graph else _contradict(*tables, tests(), system)
            longest = () if self.best is None or self.best[1] is None else self.best[1]
            if found is None or self.best is None or len(found) > len(longest):
                self.best = tables, found
            if found is None:
                return None
            states = len(hypothesis.states)
            if states >= max_states:
                raise OutOfBudgetError(f"`max_states` {max_states:,}")
            # an automaton that first differs from this one after L letters has L - states + 1 states at least
            more = len(found) - states + 1
            hopeless = more > max_states or (more - states) * k > max_queries - len(asked)
            if graph is None and hopeless and _is_target(tables):
                raise OutOfBudgetError(
                    f"it is the target below {len(found):,} letters, and a larger automaton has {more:,} states or more"
                )
            return found

    held: list[tuple[Indices, Indices]] = []

    def tests() -> list[tuple[Indices, Indices]]:
        if not held:
            held.extend(teacher.tests(words, length, depth, seed, clock))
        return held

    def _is_target(tables: tuple[Indices, Indices, int]) -> bool:
        return separating_word(minimise(machine_of(tables)), target.machine) is None

    def machine_of(tables: tuple[Indices, Indices, int]) -> Automaton:
        table, outputs, start = tables
        named = answer_names(outputs, [*target.names, "no answer"])
        states = tuple(range(table.shape[1]))
        return Automaton(
            states, target.automaton.letters, table, start, named, f"{teacher.learned.name}, {method}"
        )

    system = System()
    oracle = Equivalence(list(range(k)), system)
    run = run_KV if method == "kv" else run_Lstar
    stopped = None
    try:
        run(
            list(range(k)), system, oracle, automaton_type="mealy", cache_and_non_det_check=False, print_level=0
        )  # fmt: skip
    except OutOfBudgetError as limit:
        stopped = str(limit)
    except KeyboardInterrupt:
        if oracle.best is None:
            raise
        take_interrupt()
        stopped = INTERRUPTED
    if oracle.best is None:
        raise LimitError(
            f"{teacher.learned.name}: no extraction by {method}: no hypothesis within {stopped}: give it more time, or raise `max_queries`"
        )
    tables, contradiction = oracle.best
    if graph is not None:
        tried = f"all words, whose {graph.transitions.shape[1]:,} states were followed until none was new"
    else:
        read = held[-1][1].shape[1]
        cut = "" if read == length else f" (of {length}, for lack of time)"
        tried = f"all words to length {depth} and {words} random words of {read} letters{cut}, seed {seed}"
    asking = f"{len(asked):,} queries"
    if stopped is None and contradiction is None:
        strength = f"agrees with the model on {tried}; {asking}"
    elif contradiction is None:
        strength = f"stopped after {asking} ({stopped}); not contradicted on {tried}"
    else:
        strength = (
            f"stopped after {asking} ({stopped}); contradicted at letter {len(contradiction):,} on {tried}"
        )
    return Hypothesis(machine_of(tables), strength, contradiction, len(asked), stopped)


def _contradict(
    table: Indices, outputs: Indices, start: int, tests: list[tuple[Indices, Indices]], system: Any
) -> tuple[int, ...] | None:
    """The shortest contradiction among tests that the model confirms where it reads that word alone.

    Where it does not, since the bits of a step can depend on how many words go side by side, the test is corrected.
    """
    for batch, given in tests:
        while True:
            place = _first_wrong(table, outputs, start, batch, given)
            if place is None:
                break
            row, t = place
            word = tuple(batch[row, : t + 1].tolist())
            alone = np.array(system.query(word))
            wrong = _first_wrong(table, outputs, start, batch[row : row + 1, : t + 1], alone[None])
            if wrong is not None:
                return word[: wrong[1] + 1]
            given[row, : t + 1] = alone
    return None


def _first_wrong(
    table: Indices, outputs: Indices, start: int, batch: Indices, given: Indices
) -> tuple[int, int] | None:
    """The word and the letter, from 0, of the first answer of words `[words, length]` that a machine gives otherwise."""
    q = np.full(len(batch), start)
    for t in range(batch.shape[1]):
        x = batch[:, t]
        wrong = np.flatnonzero(outputs[x, q] != given[:, t])
        if wrong.size:
            return int(wrong[0]), t
        q = table[x, q]
    return None


def _tables(hypothesis: Any, letters: int) -> tuple[Indices, Indices, int]:
    """AALpy's machine as arrays `[letters, states]`."""
    place = {id(state): i for i, state in enumerate(hypothesis.states)}
    table = np.array([[place[id(s.transitions[x])] for s in hypothesis.states] for x in range(letters)])
    outputs = np.array([[s.output_fun[x] for s in hypothesis.states] for x in range(letters)])
    return table, outputs, place[id(hypothesis.initial_state)]
