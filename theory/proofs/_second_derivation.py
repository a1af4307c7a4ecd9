"""The second program behind a verdict of `prove` for which no certificate can be written.

It takes the pairs (state of the model, automaton's state) that a search has found and shows, without the search's own
step, table and reader, that they are an invariant: the initial pair is among them; from each of them, each letter leads
to one of them; and the answer on the way is the right one. By induction this holds after every word.

A `Stepper` is stepped one state at a time, from the state's bits alone, as in a run of one sequence; and some words are run
straight through, so that what a stepper keeps elsewhere than in its states shows. A layer of matrices
is stepped by its dense matrices and read in exact distances. Steppers in exact numbers, whose states are numbered as they
occur, are searched again in a run of their own. Where the two programs differ there is no verdict, but a
`DisagreementError` with the word.

A wrong word is replayed from the start, one step after another, on another way than the search.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...constructions._lrnn import LRNN
from ...constructions.automata._automaton import Automaton, Indices
from ...constructions.automata._labels import label_text, output_texts
from ...foundation._errors import DisagreementError
from ..arithmetic._arithmetic import Kernel, PerStep
from ..arithmetic._exact_sum import exact_dot
from ..arithmetic._rounding import FloatFormat, Floats
from ..running._weights import dense_codes
from ._answers import Answers
from ._kernel_step import KernelHead
from ._linear import LinearMachine
from ._state_search import OutOfTimeError, Rows, StateSearch
from ._stepper_machine import StepperMachine

ENTRIES = 4_000_000
"""Products computed at once where states are stepped side by side."""
DENSE = 512
"""Up to this dimension matrices are written out densely."""
STRAIGHT, STRAIGHT_WORDS, LONGEST = 64, 8, 4096
"""Letters of a random word that is run straight through, how many such words, and the most letters of the longest word."""
SHOWN = 20
"""Letters of a word that an error shows from either end."""


class Alone(Protocol):
    """A model's step and answers on a way of their own, from rows of bits."""

    size: int
    """Rows that are given at once."""

    def initial(self) -> Rows:
        """The bits of H_0 `[1, entries]`."""
        ...

    def step(self, rows: Rows, letter: int) -> tuple[Rows, Indices]:
        """The bits after a letter and the answers then, numbers of `Answers`."""
        ...


class StepperAlone:
    """A stepper's states, each by a call of its own."""

    size = 256

    def __init__(self, machine: StepperMachine) -> None:
        self.machine = machine

    def initial(self) -> Rows:
        """Of one sequence."""
        return self.machine.initial()

    def step(self, rows: Rows, letter: int) -> tuple[Rows, Indices]:
        """One call for each row."""
        stepper, letters = self.machine.stepper, np.array([letter], dtype=np.int64)
        after, named = [], []
        for i in range(len(rows)):
            states = stepper.step(self.machine.unpack(rows[i : i + 1]), letters)
            after.append(self.machine.pack(states))
            named.append(self.machine.decode(states, letters))
        return np.concatenate(after), self.machine.answers.of_states(np.concatenate(named))


class MatricesAlone:
    """A layer of matrices: each head's matrix written out, exact sums rounded once (`per_op`: in the stated order)."""

    def __init__(self, machine: LinearMachine) -> None:
        self.machine = machine
        widest = max(head.weights.dim * head.entries for head in machine.heads)
        self.size = max(ENTRIES // widest, 1)

    def initial(self) -> Rows:
        """H_0 of all heads."""
        states = np.concatenate([head.initial.ravel() for head in self.machine.heads])
        return self.machine.carrier.encode(states[None])

    def step(self, rows: Rows, letter: int) -> tuple[Rows, Indices]:
        """All rows by one matrix a head."""
        machine = self.machine
        if machine.reader is None:
            raise DisagreementError("a layer without a read-out answers nothing")
        states, first, parts = machine.carrier.decode(rows), 0, []
        for head in machine.heads:
            w = head.weights
            H = states[:, first : first + head.entries].reshape(-1, w.dim, w.value_dim)
            b = None if w.additive is None else w.additive[letter]
            if w.dim > DENSE:
                # too wide for dense matrices: the machine's own sums, read again all the same
                return self._sparsely(states, letter)
            parts.append(self._product(head.matrix(letter), H, b).reshape(len(H), -1))
            first += head.entries
        return self._read(np.concatenate(parts, axis=1), letter)

    def _product(self, A: Floats, H: Floats, b: Floats | None) -> Floats:
        arithmetic = self.machine.arithmetic
        target = arithmetic.values
        if isinstance(arithmetic, PerStep) and isinstance(target, FloatFormat) and arithmetic.mode == "rne":
            return exact_dot(A, H, target, b)
        return np.stack([arithmetic.affine(A, h, b) for h in H])

    def _sparsely(self, states: Floats, letter: int) -> tuple[Rows, Indices]:
        return self._read(self.machine.step_numbers(states, letter), letter)

    def _read(self, after: Floats, letter: int) -> tuple[Rows, Indices]:
        machine = self.machine
        if machine.reader is None:
            raise DisagreementError("a layer without a read-out answers nothing")
        named = machine.reader.decode(after, np.full(len(after), letter))
        return machine.carrier.encode(after), named


def derive_again(
    search: StateSearch,
    machine: LinearMachine | StepperMachine,
    *,
    deadline: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Shows that the pairs which a closed search has found are an invariant with right answers.

    `deadline`: in seconds of `time.monotonic`; `OutOfTimeError` beyond it. `progress` is called about once a second with the
    pairs stepped again and all of them. `DisagreementError` where the search was wrong.
    """
    automaton, answers = search.automaton, machine.answers
    if answers is None:
        raise DisagreementError("a model without a read-out answers nothing")
    if isinstance(machine, StepperMachine) and machine.numbers_states:
        _search_again(search, machine, deadline)
        return
    alone: Alone = MatricesAlone(machine) if isinstance(machine, LinearMachine) else StepperAlone(machine)
    words = search.store.words[: search.place.count]
    rows, states = search.form.rows(words), search.form.states(words)
    # pairs as bytes, sorted, so that membership is a search
    known = np.sort(_keys(rows, states))
    # the initial pair is among them
    if not _within(known, _keys(alone.initial(), np.array([automaton.start]))).all():
        raise DisagreementError("the initial state is not among the states that the search has found")
    told = time.monotonic()
    for first in range(0, len(rows), alone.size):
        part, before = rows[first : first + alone.size], states[first : first + alone.size]
        for x, image in enumerate(automaton.transitions):
            now = time.monotonic()
            if deadline is not None and now > deadline:
                raise OutOfTimeError(first, len(rows))
            if progress is not None and now - told > 1:
                progress(first, len(rows))
                told = now
            # from each of them each letter leads to one of them, with the right answer on the way
            after, said = alone.step(part, x)
            moved = image[before]
            right = answers.right(np.full(len(part), x), before, moved)
            closed = _within(known, _keys(after, moved))
            wrong = np.flatnonzero(~closed | (said != right))
            if wrong.size:
                found = int(wrong[0])
                # the search knows a word that leads to the pair, and the letter makes it wrong
                word = (*search.store.word(first + found), x)
                what = (
                    "the answer is wrong" if closed[found] else "the state is none that the search has found"
                )
                raise DisagreementError(
                    f"{automaton.name}: stepped alone, from its bits, after the word {word_text(automaton, word)} {what}, "
                    f"yet the search called all right: {_reason(machine)}"
                )
    if isinstance(machine, StepperMachine):
        _run_straight(search, machine, known, deadline)


def _run_straight(
    search: StateSearch, machine: StepperMachine, known: NDArray[np.void], deadline: float | None
) -> None:
    """Random words, and the longest by which a pair was found, from the start with the stepper's own states."""
    automaton, draw = search.automaton, np.random.default_rng(0)
    words = [draw.integers(0, len(automaton.letters), STRAIGHT) for _ in range(STRAIGHT_WORDS)]
    # the last pair found has a longest word
    for word in (np.array(search.store.word(search.place.count - 1), dtype=np.int64)[:LONGEST], *words):
        states, q = machine.stepper.initial(1), automaton.start
        for t, x in enumerate(word.tolist()):
            if deadline is not None and time.monotonic() > deadline:
                raise OutOfTimeError(search.place.count, search.place.count)
            letters = np.array([x], dtype=np.int64)
            states = machine.stepper.step(states, letters)
            before, q = q, int(automaton.transitions[x, q])
            said = machine.answers.of_states(machine.decode(states, letters))
            right = machine.answers.right(letters, np.array([before]), np.array([q]))
            inside = _within(known, _keys(machine.pack(states), np.array([q])))
            if not inside.all() or (said != right).any():
                what = (
                    "the answer is wrong" if inside.all() else "the state is none that the search has found"
                )
                raise DisagreementError(
                    f"{automaton.name}: run straight through, after the word {word_text(automaton, tuple(word[: t + 1].tolist()))} "
                    f"{what}, yet the search called all right: all that a step depends on must be in the states, as bits"
                )


def _search_again(search: StateSearch, machine: StepperMachine, deadline: float | None) -> None:
    """A search of its own, one pair after another, in a run in which no exact matrix has been met."""
    automaton, stepper = search.automaton, machine.stepper.restart()  # type: ignore[attr-defined]
    alone = StepperAlone(StepperMachine(stepper, machine.answers))
    first = alone.initial()
    order: list[tuple[Rows, int, int, int]] = [(first, automaton.start, -1, -1)]
    """State, automaton's state, the place that it was found from, and the letter."""
    seen, i, count = {(first.tobytes(), automaton.start)}, 0, search.place.count
    # invariant: all letters of the pairs before i have been followed, with right answers
    while i < len(order):
        if deadline is not None and time.monotonic() > deadline:
            raise OutOfTimeError(i, count)
        row, before, _, _ = order[i]
        for x, image in enumerate(automaton.transitions):
            after, said = alone.step(row, x)
            moved = int(image[before])
            right = int(machine.answers.right(np.array([x]), np.array([before]), np.array([moved]))[0])
            # a pair too many would show that the search had missed one
            if int(said[0]) != right or len(order) > count:
                # the word, back from place to place
                letters, at = [x], i
                while at:
                    _, _, at, letter = order[at]
                    letters.append(letter)
                what = (
                    "the answer is wrong"
                    if int(said[0]) != right
                    else "there are more states than were found"
                )
                raise DisagreementError(
                    f"{automaton.name}: run again, after the word {word_text(automaton, tuple(reversed(letters)))} {what}, "
                    "yet the search called all right: this is an error in mirrormata, please report it with the model"
                )
            if (after.tobytes(), moved) not in seen:
                seen.add((after.tobytes(), moved))
                order.append((after, moved, i, x))
        i += 1


def kernel_codes_alone(
    lrnn: LRNN, kernel: Kernel, backend: str | None = None, *, deadline: float | None = None
) -> None:
    """Steps every code of every head alone on the kernel and compares the bits with the code that its table names.

    `deadline` as in `derive_again`. `DisagreementError` where the bits differ.
    """
    done, count = 0, sum(head.code_transitions.size for head in lrnn.all_heads)
    for h, head in enumerate(lrnn.all_heads):
        engine = KernelHead(head, kernel, lrnn.automaton.name, backend)
        codes = dense_codes(head, "fp64").astype(engine.kind)
        for t, images in enumerate(head.code_transitions):
            if deadline is not None and time.monotonic() > deadline:
                raise OutOfTimeError(done, count)
            done += len(images)
            for code, image in enumerate(images.tolist()):
                after = engine.run(codes[code : code + 1], np.array([[t]]))[0]
                # the kernel's states have no -0
                if after.tobytes() != (codes[image] + engine.kind(0)).tobytes():
                    raise DisagreementError(
                        f"{lrnn.automaton.name}: head {h}, code {code}, transition {t}: alone the kernel gives other bits than "
                        f"in a batch, in {kernel.name}"
                    )


def word_text(automaton: Automaton, word: tuple[int, ...]) -> str:
    """The letters of a word, the middle of a long one left out."""
    letters = [label_text(automaton.letters[x]) for x in word]
    if len(letters) > 2 * SHOWN:
        left_out = len(letters) - 2 * SHOWN
        letters = [*letters[:SHOWN], f"... ({left_out:,} more) ...", *letters[-SHOWN:]]
    return " ".join(letters)


def _reason(machine: LinearMachine | StepperMachine) -> str:
    if isinstance(machine, LinearMachine):
        return "this is an error in mirrormata, please report it with the model"
    return (
        "its step must depend on the state's bits and the letter alone, and give the same bits in every batch"
    )


def _keys(rows: NDArray[Any], states: Indices) -> NDArray[np.void]:
    """Pairs as fixed strings of bytes, which are sorted and searched."""
    bits = np.ascontiguousarray(rows).view(np.uint8).reshape(len(rows), -1)
    # bytes in the order of the numbers
    number = np.ascontiguousarray(states.astype(">u4")[:, None]).view(np.uint8)
    joined = np.ascontiguousarray(np.concatenate([bits, number], axis=1))
    return joined.view(np.dtype((np.void, joined.shape[1]))).ravel()


def _within(known: NDArray[np.void], keys: NDArray[np.void]) -> NDArray[np.bool_]:
    place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    found: NDArray[np.bool_] = known[place] == keys
    return found


def first_wrong_answer(
    machine: Any, automaton: Automaton, word: Sequence[int], clock: Callable[[], None] | None = None
) -> tuple[int, str | None, str] | None:
    """Runs a word from the start, alone, up to the first wrong answer.

    Args:
        machine: what the search of the states runs.
        automaton: the automaton.
        word: letter indices.
        clock: called before each letter, if given; what it raises ends the run.

    Returns:
        The number of letters read, the model's answer as text (None: none of the automaton's), and the right one; None where
        all answers are right.
    """
    answers: Answers = machine.answers
    stepper = _LinearReplay(machine) if isinstance(machine, LinearMachine) else _StepperReplay(machine)
    state = automaton.start
    for t, x in enumerate(word):
        if clock is not None:
            clock()
        before, state = state, int(automaton.transitions[x, state])
        said = stepper.answer(x)
        right = int(answers.right(np.array([x]), np.array([before]), np.array([state]))[0])
        if said != right:
            texts = _texts(answers)
            return t + 1, (texts[said] if said >= 0 else None), texts[right]
    return None


def replay_word(machine: Any, automaton: Automaton, word: tuple[int, ...]) -> tuple[str | None, str]:
    """The model's answer after the word, as text (None: none of the automaton's), and the right one.

    `DisagreementError` if an answer before the last is wrong, or the last one right.
    """
    found = first_wrong_answer(machine, automaton, word)
    # all answers but the last are right, and the last is wrong
    if found is None or found[0] < len(word):
        at, how = (len(word), "rightly") if found is None else (found[0], "wrongly")
        raise DisagreementError(
            f"{automaton.name}: run alone from the start, letter {at} of the word {word_text(automaton, word)} is answered "
            f"{how}, and the search says otherwise: a step must depend on the state's "
            "bits and the letter alone, and give the same bits in every batch"
        )
    return found[1], found[2]


class _LinearReplay:
    """Dense matrices, entry sums by `exact_dot` or `affine`, the nearest code in rational numbers."""

    def __init__(self, machine: LinearMachine) -> None:
        self.machine = machine
        self.states = [head.initial for head in machine.heads]

    def answer(self, x: int) -> int:
        """The answer after one more letter."""
        machine = self.machine
        if machine.reader is None:
            raise DisagreementError("a layer without a read-out answers nothing")
        self.states = [self._step_head(h, x) for h in range(len(machine.heads))]
        joint = np.concatenate([H.ravel() for H in self.states])[None]
        return int(machine.reader.decode(joint, np.array([x]))[0])

    def _step_head(self, h: int, x: int) -> Floats:
        head, arithmetic = self.machine.heads[h], self.machine.arithmetic
        b = None if head.weights.additive is None else head.weights.additive[x]
        A = head.matrix(x)
        target = arithmetic.values
        if isinstance(arithmetic, PerStep) and isinstance(target, FloatFormat) and arithmetic.mode == "rne":
            return exact_dot(A, self.states[h], target, b)
        return arithmetic.affine(A, self.states[h], b)


class _StepperReplay:
    """The stepper itself, one sequence."""

    def __init__(self, machine: StepperMachine) -> None:
        self.machine, self.states = machine, machine.stepper.initial(1)

    def answer(self, x: int) -> int:
        """The answer after one more letter."""
        letters = np.array([x], dtype=np.int64)
        self.states = self.machine.stepper.step(self.states, letters)
        return int(self.machine.answers.of_states(self.machine.decode(self.states, letters))[0])


def _texts(answers: Answers) -> list[str]:
    automaton = answers.automaton
    if answers.kind == "states":
        return [label_text(q) for q in automaton.states]
    return list(dict.fromkeys(output_texts(automaton, automaton.name)))
