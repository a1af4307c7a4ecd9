"""`run_delay`: a block delay on words, in a float format; long words in pieces side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...constructions.automaton import Indices
from ...constructions.block_delay import BlockDelay
from .bookkeeping import follow
from .delay_stepper import DelayState, DelayStepper, side_by_side
from .report import RunReport, Tally
from .run import CHUNK_TOKENS, track
from .token_run import Clock, Progress
from .words import Words, words_of

SIDE_BY_SIDE = 256
"""So many pieces of words are run side by side."""


def run_delay(
    form: BlockDelay,
    letters: Any,
    *,
    dtype: str = "bf16",
    sequential: bool = False,
    progress: Progress | None = None,
) -> RunReport:
    """Runs a block delay over words and counts the tokens after which it is wrong.

    `letters`: as for `run`. An integer form in a format that holds its integers runs in pieces side by side, each
    from the exact states of all layers where it begins; the end of each piece is compared with the next one's
    beginning bit for bit, so the states are those of the token by token run. A token is wrong where the decoded
    vector differs from the code that belongs there. Else, or with `sequential`, or if any piece ends elsewhere, the
    run goes token by token, and a token is wrong where the decoded state is.
    """
    words = words_of(letters, form.automaton)
    stepper = DelayStepper(form, dtype)
    if stepper.fmt.name in form.formats and not sequential:
        clock, tally = Clock(progress, words.length), Tally()
        if _in_pieces(stepper, words, clock, tally):
            return tally.report(
                words.sequences, words.length, dtype=stepper.fmt.name, seconds=clock.seconds(),
                order="token by token, in pieces whose first states are verified bit for bit",
            )  # fmt: skip
    return track(stepper, form.automaton, words, dtype=stepper.fmt.name, progress=progress)


def _in_pieces(stepper: DelayStepper, words: Words, clock: Clock, tally: Tally) -> bool:
    """Add the errors of the run to the tally; False where a piece does not end in the exact states.

    False too where the codes do not lie over the automaton's states as its transitions say.
    """
    period = 2 * stepper.form.block
    table, over = stepper.code_transitions(), stepper.code_states
    if table.min(initial=0) < 0 or (over[table] != stepper.form.automaton.transitions[:, over]).any():
        return False
    states = stepper.initial(words.sequences)
    code = np.zeros(words.sequences, dtype=np.int64)
    size = max(CHUNK_TOKENS // max(words.sequences, 1) // period, 1) * period
    for done in range(0, words.length, size):
        part = np.asarray(words.part(done, min(done + size, words.length)), dtype=np.int64)
        right = follow(table, part, code)
        count = max(min(SIDE_BY_SIDE // max(words.sequences, 1), part.shape[1] // period), 1)
        length = part.shape[1] // count // period * period if count > 1 else part.shape[1]
        begins = [p * length for p in range(count)]
        starts = [states, *(_exact_states(stepper, part, right, at) for at in begins[1:])]
        pieces = np.concatenate([part[:, at : at + length] for at in begins])
        wanted = np.concatenate([right[:, at : at + length] for at in begins])
        ends, wrong = _advance(stepper, side_by_side(starts), pieces, wanted, clock, (done, count))
        n = words.sequences
        for p, start in enumerate(starts[1:]):
            if not ends.at(slice(p * n, (p + 1) * n)).same_numbers(start):
                return False
        by_piece = wrong.reshape(wrong.shape[0], count, n).transpose(1, 0, 2)
        tally.add_errors(by_piece.reshape(-1, n), done)
        at = count * length
        states, wrong = _advance(
            stepper,
            ends.at(slice((count - 1) * n, count * n)),
            part[:, at:],
            right[:, at:],
            clock,
            (done + at, 1),
        )
        tally.add_errors(wrong, done + at)
        code = right[:, -1]
    return True


def _advance(
    stepper: DelayStepper,
    states: DelayState,
    part: Indices,
    right: Indices,
    clock: Clock,
    progress: tuple[int, int],
) -> tuple[DelayState, NDArray[np.bool_]]:
    """The states after some tokens, and where the code is not the right one, `[T, sequences]`.

    `progress`: the tokens of each word that are done, and how many pieces of it go forward together.
    """
    done, pieces = progress
    wrong = np.empty((part.shape[1], len(part)), dtype=bool)
    for t in range(part.shape[1]):
        states = stepper.step(states, part[:, t])
        wrong[t] = stepper.code(states) != right[:, t]
        if t % 100 == 0:
            clock.tell(done + t * pieces)
    return states, wrong


def _exact_states(stepper: DelayStepper, part: Indices, right: Indices, at: int) -> DelayState:
    """The exact states after `at` tokens of a part that begins at phase 0, `at` a multiple of the period."""
    period = 2 * stepper.form.block
    tokens = np.roll(part[:, at - period : at], 1, axis=1)  # the last token lies in slot 0
    return stepper.after_block(tokens, right[:, at - stepper.form.block - 1])
