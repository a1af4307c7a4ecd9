"""A shortest word on which a wrong LRNN of several layers and its automaton part, replayed in exact numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from ...constructions._construct import Request, trim_automaton
from ...constructions._conversions import AutomatonLike, as_automaton
from ...constructions._lrnn import LRNN
from ...constructions.theorems._construction import Limits
from ...constructions.theorems.g_t4 import wire_cascade_as_printed
from ...foundation._arguments import require_count, require_instance
from ...foundation._errors import InputError, NotRealisableError
from ...foundation._text import html_table, one_line, refuse_truth
from ._block_run import follow
from ._stepper import LayeredStepper

MAX_JOINT = 50_000
"""Joint states searched breadth first; beyond, random words are tried."""
RANDOM_WORDS = 200
RANDOM_LENGTH = 400


@dataclass(frozen=True, eq=False, repr=False)
class Refutation:
    """The outcome of a search for a wrong word.

    Attributes:
        lrnn: the realisation.
        word: letter indices of a word after which the LRNN gives a wrong state; None if none was found.
        named: the state that the LRNN gives after the word; None if it gives none.
        right: the state of the automaton after the word.
        search: a description of the search.
    """

    lrnn: LRNN
    word: tuple[int, ...] | None
    named: int | None
    right: int | None
    search: str

    def __bool__(self) -> NoReturn:
        raise refuse_truth(self, "word")

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain values for JSON, with labels as text."""
        states, letters = self.lrnn.automaton.states, self.lrnn.automaton.letters
        return {
            "verdict": "refuted" if self.word is not None else "not refuted",
            "construction": self.lrnn.construction,
            "layers": self.lrnn.depth,
            "word": None if self.word is None else [str(letters[x]) for x in self.word],
            "named": None if self.named is None else str(states[self.named]),
            "right": None if self.right is None else str(states[self.right]),
            "search": self.search,
        }

    def rows(self) -> list[tuple[str, str]]:
        """The rows of a readable table, as `(label, text)` pairs."""
        facts = self.to_json()
        rows = [
            ("verdict", facts["verdict"]),
            ("construction", facts["construction"]),
            ("search", facts["search"]),
        ]
        if self.word is not None:
            rows += [
                ("word", " ".join(facts["word"])),
                ("the linear RNN says", facts["named"] or "nothing"),
                ("the automaton says", facts["right"]),
            ]
        return rows

    def __repr__(self) -> str:
        found = "not refuted" if self.word is None else f"refuted by a word of {len(self.word):,} letters"
        return one_line(self, f"{self.lrnn.construction}, {found}")

    def _repr_html_(self) -> str:
        return html_table("Refutation", self.rows())


def refute_printed(
    automaton: AutomatonLike, request: Request | None = None, limits: Limits | None = None
) -> Refutation:
    """Build the cascade of G.T4 with the printed wiring, and search for a word on which it is wrong.

    Args:
        automaton: an automaton in any form that `as_automaton` accepts.
        request: the conditions on the construction (`Request`); None for no condition.
        limits: the limits of the search (`Limits`); None for the default limits.

    Raises:
        NotRealisableError: the cascade has fewer than two levels, so there is no wiring between levels.
    """
    automaton = trim_automaton(as_automaton(automaton))
    problem = (request or Request()).problem(automaton, limits)
    lrnn = wire_cascade_as_printed(problem)
    if not lrnn.is_layered:
        raise NotRealisableError(
            f"{automaton.name}: its cascade has one level, so there is no wiring to refute"
        )
    return refute(lrnn)


def refute(lrnn: LRNN, *, max_joint: int = MAX_JOINT, seed: int = 0) -> Refutation:
    """Search for a word on which an LRNN of several layers gives a wrong state.

    The search follows joint states by tables of codes, first breadth first, which finds a shortest word, and then on random words. A
    word is replayed factor by factor in exact numbers and reported only if the replay is wrong at the same place.

    Args:
        lrnn: a realisation of several layers.
        max_joint: the largest number of joint states that are followed.
        seed: the seed of the random words that are tried beyond that.

    Raises:
        InputError: `lrnn` is no `LRNN` of several layers, or a number is out of range.
    """
    require_instance("lrnn", lrnn, LRNN, "an LRNN of several layers")
    require_count("max_joint", max_joint, 0)
    require_count("seed", seed)
    if not lrnn.is_layered:
        raise InputError(
            f"`lrnn` {lrnn.construction} has one layer, and what is refuted is the wiring of several"
        )
    word, complete, seen = _breadth_first(lrnn, max_joint)
    if word is not None:
        search = f"breadth first, joint states seen: {seen:,}; no shorter word does"
    elif complete:
        search = f"all {seen:,} reachable joint states"
    else:
        word = _random(lrnn, seed)
        search = (
            f"the first {seen:,} joint states, then {RANDOM_WORDS} random words of {RANDOM_LENGTH} letters"
        )
    if word is None:
        return Refutation(lrnn, None, None, None, search)
    named, right = _replay_word(lrnn, word)
    if named == right:
        raise AssertionError("the code tables and the exact replay disagree")
    return Refutation(lrnn, word, None if named < 0 else named, right, search)


def goes_wrong(lrnn: LRNN, word: tuple[int, ...]) -> bool:
    """Does the LRNN name another state than its automaton's after these letters? Factor by factor, in exact numbers."""
    named, right = _replay_word(lrnn, word)
    return named != right


def _replay_word(lrnn: LRNN, word: tuple[int, ...]) -> tuple[int, int]:
    stepper = LayeredStepper(lrnn, "exact")
    states = stepper.initial(1)
    named, right = -1, lrnn.automaton.start
    for x in word:
        letters = np.array([x])
        states = stepper.step(states, letters)
        named = int(stepper.decode(states, letters)[0])
        right = int(lrnn.automaton.transitions[x, right])
    return named, right


def _after(
    lrnn: LRNN, joint: np.ndarray[Any, np.dtype[np.int64]], x: np.ndarray[Any, np.dtype[np.int64]]
) -> Any:
    """Joint codes `[n, heads]` after letters `[n]`, and the states named `[n]`, by the code tables."""
    after = np.empty_like(joint)
    letters = x
    for layer, columns in zip(lrnn.layers, lrnn.columns, strict=True):
        known = np.maximum(letters, 0)
        codes = []
        for h in range(columns.start, columns.stop):
            head = lrnn.all_heads[h]
            after[:, h] = head.code_transitions[head.action_of(known), joint[:, h]]
            codes.append(after[:, h])
        letters = np.where(letters < 0, -1, layer.read_out(known, codes))
    return after, letters


def _breadth_first(lrnn: LRNN, max_joint: int) -> tuple[tuple[int, ...] | None, bool, int]:
    """A shortest refuting word or None; whether all joint states were seen; how many were."""
    delta, count = lrnn.automaton.transitions, len(lrnn.automaton.letters)
    seen: dict[tuple[int, ...], tuple[int, int]] = {tuple(lrnn.decode[0].tolist()): (-1, -1)}
    order = list(seen)
    done = 0
    # invariant: all letters of the joint states before `done` have been followed, and named the right state
    while done < len(order) and len(order) <= max_joint:
        batch = np.array(order[done : done + 4096], dtype=np.int64)
        rows, x = np.repeat(np.arange(len(batch)), count), np.tile(np.arange(count), len(batch))
        after, named = _after(lrnn, batch[rows, 1:], x)
        right = delta[x, batch[rows, 0]]
        for i, (row, letter) in enumerate(zip(rows.tolist(), x.tolist(), strict=True)):
            if named[i] != right[i]:
                return (*_word(order, seen, done + row), letter), True, len(order)
            # the automaton's state belongs to the key: the same codes over another state are another case
            key = (int(right[i]), *after[i].tolist())
            if key not in seen:
                seen[key] = (done + row, letter)
                order.append(key)
        done += len(batch)
    return None, done >= len(order), len(order)


def _word(
    order: list[tuple[int, ...]], seen: dict[tuple[int, ...], tuple[int, int]], place: int
) -> tuple[int, ...]:
    # back to the initial joint code, number 0
    letters: list[int] = []
    while place > 0:
        place, letter = seen[order[place]]
        letters.append(letter)
    return tuple(reversed(letters))


def _random(lrnn: LRNN, seed: int) -> tuple[int, ...] | None:
    """The shortest wrong prefix of some random words; None where all are right."""
    generator = np.random.default_rng(seed)
    words = generator.integers(0, len(lrnn.automaton.letters), size=(RANDOM_WORDS, RANDOM_LENGTH))
    right = follow(lrnn.automaton.transitions, words, np.full(RANDOM_WORDS, lrnn.automaton.start))
    joint = np.repeat(lrnn.decode[:1, 1:], RANDOM_WORDS, axis=0)
    for t in range(RANDOM_LENGTH):
        joint, named = _after(lrnn, joint, words[:, t])
        # the first time at which any of the words goes wrong
        wrong = np.flatnonzero(named != right[:, t])
        if wrong.size:
            return tuple(words[wrong[0], : t + 1].tolist())
    return None
