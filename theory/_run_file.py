"""`mirrormata run`: a certificate's LRNN on given or random words, with its certified horizon beside what is seen.

The read-out margin along a run, token by token, for a picture.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..constructions._lrnn import LRNN
from ..constructions._realisation import Realisation, realisation_from_certificate
from ..constructions.automata._automaton import Automaton, Indices
from ..constructions.automata._labels import label_text
from ..foundation._arguments import require_count
from ..foundation._errors import InputError, LimitError
from ..foundation._text import count_noun
from ._check import accept_certificate
from ._kinds import kind_of, require_run
from ._realisations import valid_document
from .arithmetic._rounding import Floats, float_format
from .running._block_run import follow
from .running._report import RunReport
from .running._run import run
from .running._stepper import LRNNStepper
from .running._words import random_stream, words_of


@dataclass(frozen=True)
class Outcome:
    """A run of a valid certificate.

    `report`; the certified `horizon` in the run's dtype (None: none is stated); for a single word the automaton's
    `state` after it and its `output`, as text, which are the linear RNN's too where the report has no error there.
    """

    name: str
    report: RunReport
    horizon: int | None
    state: str | None = None
    output: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The report's fields, the horizon, and the state and output after a single word."""
        return {**self.report.to_json(), "horizon": self.horizon, "state": self.state, "output": self.output}

    @property
    def headline(self) -> str:
        """What was found, in one sentence or two."""
        r = self.report
        tokens = f"{count_noun(r.tokens, 'token')} in {'exact numbers' if r.dtype == 'exact' else r.dtype}"
        end = ""
        if r.errors:
            found = f"{count_noun(r.errors, 'wrong state')} after {tokens}, the first after token {r.first_error:,}"
            if self.horizon is not None:
                end = (
                    f" Its numbers are algebraic, and {r.dtype} rounds them: `dtype` exact is right at any length, and a construction "
                    "with `exactness` integer in every format that holds its integers."
                )
        else:
            found = f"no wrong state after {tokens}"
        if self.state is not None:
            end += f" The word leads to state {self.state}, output {self.output}."
        return f"{self.name}: {found}.{end}"

    def rows(self) -> list[tuple[str, str]]:
        """The rows of a readable table, as `(label, text)` pairs."""
        r = self.report
        rows = [
            ("tokens", f"{r.tokens:,} in {count_noun(r.sequences, 'sequence')}"),
            ("dtype", r.dtype),
            ("order", r.order),
            ("errors", f"{r.errors:,}"),
        ]
        if self.state is not None:
            rows.append(("state after the word", f"{self.state} (output {self.output})"))
        if r.first_error is not None:
            rows.append(("first error", f"token {r.first_error:,} of sequence {r.first_error_sequence}"))
        if self.horizon is not None:
            rows.append(("certified horizon", f"no error at least up to token {self.horizon:,} in {r.dtype}"))
        if r.norm_range is not None:
            rows.append(("state norm", f"{r.norm_range[0]:.6g} to {r.norm_range[1]:.6g}"))
        if r.margin is not None:
            rows.append(("least read-out margin", f"{r.margin:.6g}"))
        rows.append(("time", f"{r.seconds:.2f} s, {r.tokens_per_second:,.0f} tokens/s ({r.backend})"))
        return rows


def _index_of_text(automaton: Automaton, text: str) -> int:
    """The state whose label has this text; labels of a name such as gridworld:5 are numbers."""
    texts = [label_text(state) for state in automaton.states]
    return texts.index(text) if text in texts else automaton.state_index(text)


def _end(automaton: Automaton, letters: list[int], start: int | None) -> tuple[str, str]:
    """The state that the automaton reaches, and its output: for a Mealy machine that of the last letter."""
    before = current = automaton.start if start is None else start
    for x in letters:
        before, current = current, int(automaton.transitions[x, current])
    if automaton.is_mealy:
        output = automaton.outputs[letters[-1], before] if letters else ""
    else:
        output = automaton.outputs[current]
    return str(automaton.states[current]), str(output)


MAX_LETTERS = 10**9
"""Letters of all random words together that a run may have unless it is told otherwise."""


def require_words(
    word: str | None,
    random: int | None,
    length: int | None = None,
    seed: int | None = None,
    max_letters: int = MAX_LETTERS,
) -> None:
    """`InputError` unless either a word is given or random ones, and `LimitError` if those are too long; see `run_file`."""
    if word is not None and random is not None:
        raise InputError("run: `word` and `random` are both given: leave one of them out")
    if word is None and random is None:
        raise InputError("run: give `word`, or `random` with `length`")
    if word is not None and (length is not None or seed is not None):
        raise InputError(
            f"run: `{'length' if length is not None else 'seed'}` is of random words (`random`); with `word` leave it out"
        )
    if random is not None:
        require_count("random", random, 0)
    if random == 0 or length == 0:
        raise InputError(
            f"run: `{'random' if random == 0 else 'length'}` 0 runs nothing: give a number from 1 on"
        )
    require_count("max_letters", max_letters, 1)
    letters = (random or 0) * (1_000 if length is None else length)
    if letters > max_letters:
        raise LimitError(
            f"run: {letters:,} random letters; the limit is {max_letters:,}, since a run reads them one by one: give a smaller `length` "
            "or `random`, or raise `max_letters`"
        )


def run_file(
    certificate: str | Realisation,
    *,
    word: str | None,
    random: int | None,
    length: int | None = None,
    seed: int | None = None,
    max_letters: int = MAX_LETTERS,
    dtype: str,
    start: str | None = None,
    sequential: bool = False,
    picture: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> Outcome:
    """Run a certificate's LRNN on one word, or on `random` words of a length; see `run` for the arithmetic.

    `certificate`: the path of one, or a construction, whose certificate is made and checked.
    `length`, `seed`: of random words only, by default 1,000 and 0. `max_letters`: the most letters that these have together.
    """
    require_words(word, random, length, seed, max_letters)
    if dtype != "exact":
        dtype = float_format(dtype).name
    document: Mapping[str, Any]
    if isinstance(certificate, Realisation):
        document, found = accept_certificate(certificate), certificate
    else:
        document = valid_document(certificate)
        found = realisation_from_certificate(document, certificate)
    require_run(found, dtype, start, margins=picture is not None)
    automaton = found.automaton
    first = None if start is None else _index_of_text(automaton, start)
    letters = (
        random_stream(automaton, random, 1_000 if length is None else length, seed or 0)
        if random is not None
        else automaton.word(word or "")[None, :]
    )
    report = run(found, letters, dtype=dtype, start=first, sequential=sequential, progress=progress)
    lengths = document.get("horizon", {}).get("lengths", {})
    certified = first in (None, automaton.start)  # the proof counts the rounding of that initial state
    outcome = Outcome(automaton.name, report, lengths.get(dtype) if certified else None)
    if word is not None:
        state, output = _end(automaton, automaton.word(word).tolist(), first)
        outcome = replace(outcome, state=state, output=output)
    if picture is not None and (margins := kind_of(found).margins) is not None:
        from .pictures._run import draw_run

        series = margins(found, letters, dtype, first)
        draw_run(
            {dtype: series},
            {dtype: outcome.horizon},
            {dtype: report.first_error},
            picture,
            title=f"{automaton.name}: the margin of decoding over time",
        )
    return outcome


MAX_TOKENS = 20_000
"""Tokens of each sequence that a picture follows."""


def margin_series(
    lrnn: LRNN, letters: Any, dtype: str, start: int | None = None, max_tokens: int = MAX_TOKENS
) -> tuple[Indices, Floats]:
    """Compute the smallest read-out margin over all sequences after each token, in the arithmetic of `LRNNStepper`.

    The margin is that of `Readout`; it is negative if some sequence decodes to a wrong state.

    Args:
        lrnn: a realisation of one layer.
        letters: words in any form that `run` accepts.
        dtype: the name of the dtype.
        start: index of the automaton's state in which the run starts; None for its start state.
        max_tokens: the largest number of tokens of each sequence that are read.
    """
    if lrnn.is_layered:
        raise InputError(
            f"{lrnn.automaton.name}: `picture` draws the margin of one layer, this linear RNN has {lrnn.depth}: leave it "
            "out"
        )
    words = words_of(letters, lrnn.automaton)
    part: NDArray[Any] = words.part(0, min(words.length, max_tokens))
    stepper = LRNNStepper(lrnn, dtype, start)
    current = np.full(words.sequences, lrnn.decode[stepper.start_row, 0])
    right = follow(lrnn.automaton.transitions, part, current)
    states = stepper.initial(words.sequences)
    margins = np.empty(part.shape[1])
    for t in range(part.shape[1]):
        states = stepper.step(states, part[:, t].astype(np.int64))
        margins[t] = stepper.readout.observe(states, right[:, t])[1]
    return np.arange(1, part.shape[1] + 1), margins
