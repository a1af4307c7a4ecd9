"""A construction followed along random words in a float format: state norm and margin after every token."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...constructions._lrnn import LRNN
from ...constructions.automata._automaton import Indices
from ...theory.arithmetic._rounding import Floats
from ...theory.running._block_run import follow
from ...theory.running._readout import HeadCodes, Readout
from ...theory.running._report import Tally
from ...theory.running._run import run
from ...theory.running._stepper import LayeredStepper, LRNNStepper
from ...theory.running._words import random_words
from .limits import RandomRuns


@dataclass(frozen=True, eq=False)
class FollowedRun:
    """`norms` `[T]`: the largest Frobenius norm over all words after each token, all heads of all layers together.

    `margins` `[T]`: the least margin over all words, of one layer that of `Readout`, of several the least over the heads
    of half of (distance to the nearest wrong code - distance to the right one). Not finite where a state is not.
    `tokens`, `errors`, `first_error`: as `run` counts them on the same words.
    """

    dtype: str
    norms: Floats
    margins: Floats
    tokens: int
    errors: int
    first_error: int | None


def followed_runs(lrnn: LRNN, runs: RandomRuns) -> list[FollowedRun]:
    """The runs in each dtype, in the arithmetic of `LRNNStepper` and `LayeredStepper`.

    Where `run` finds every state equal to its code bit for bit, norms and margins are those of the codes.
    """
    words = random_words(lrnn, runs.words, runs.length, runs.seed)
    codes = right_codes(lrnn, words)
    dense = [HeadCodes(head) for head in lrnn.all_heads]
    of_codes: tuple[Floats, Floats] | None = None
    found = []
    for name in runs.dtypes:
        if name in lrnn.formats and (report := run(lrnn, words, dtype=name)).errors == 0:
            if of_codes is None:
                exact = (
                    [h.dense(c[:, t]) for h, c in zip(dense, codes, strict=True)]
                    for t in range(words.shape[1])
                )
                of_codes = _observed(lrnn, words, exact, codes, dense)[:2]
            found.append(FollowedRun(name, *of_codes, report.tokens, 0, None))
        else:
            found.append(_stepped(lrnn, name, words, codes, dense))
    return found


def _stepped(
    lrnn: LRNN, dtype: str, words: Indices, codes: list[Indices], dense: list[HeadCodes]
) -> FollowedRun:
    stepper = LRNNStepper(lrnn, dtype) if len(lrnn.layers) == 1 else LayeredStepper(lrnn, dtype)

    def states() -> Iterator[Sequence[Floats]]:
        H = stepper.initial(len(words))
        for x in words.T:
            H = stepper.step(H, x)
            yield H

    with np.errstate(all="ignore"):
        norms, margins, wrong = _observed(lrnn, words, states(), codes, dense, stepper.decode)
    tally = Tally()
    tally.add_errors(wrong, 0)
    return FollowedRun(dtype, norms, margins, words.size, tally.errors, tally.first and tally.first[0])


def _observed(
    lrnn: LRNN,
    words: Indices,
    states: Iterator[Sequence[Floats]],
    codes: list[Indices],
    dense: list[HeadCodes],
    decode: Callable[[Sequence[Floats], Indices], Indices] | None = None,
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Largest norm and least margin after each token, and where the state is wrong, `[T, words]`.

    `decode` is needed with several layers only, and left out where the states are the codes.
    """
    length = words.shape[1]
    norms, margins, wrong = np.empty(length), np.empty(length), np.zeros(words.T.shape, dtype=bool)
    joint = Readout(lrnn) if len(lrnn.layers) == 1 else None
    right = follow(lrnn.automaton.transitions, words, np.full(len(words), lrnn.automaton.start))
    for t, H in enumerate(states):
        squares = sum((np.einsum("bij,bij->b", part, part) for part in H), np.zeros(len(words)))
        norms[t] = np.sqrt(squares).max()
        if joint is not None:
            decoded, margins[t] = joint.observe(H, right[:, t])
            wrong[t] = decoded != right[:, t]
            continue
        each = zip(dense, H, codes, strict=True)
        margins[t] = min(head_margin(own, part, c[:, t]) for own, part, c in each)
        if decode is not None:
            wrong[t] = decode(H, words[:, t]) != right[:, t]
    return norms, margins, wrong


def right_codes(lrnn: LRNN, words: Indices) -> list[Indices]:
    """For each head, layer by layer, the code after each token in exact numbers, `[words, T]`."""
    before = [np.full(len(words), c) for c in lrnn.decode[0, 1:].tolist()]
    result = [np.empty(words.shape, dtype=np.int64) for _ in before]
    for t, letters in enumerate(words.T):
        x = letters
        for layer, columns in zip(lrnn.layers, lrnn.columns, strict=True):
            after = [
                head.code_transitions[head.action_of(x), code]
                for head, code in zip(layer.heads, before[columns], strict=True)
            ]
            before[columns] = after
            for kept, code in zip(result[columns], after, strict=True):
                kept[:, t] = code
            if layer is not lrnn.layers[-1]:
                x = layer.read_out(x, after)
    return result


def head_margin(codes: HeadCodes, H: Floats, right: Indices) -> float:
    """The least over states `[batch, dim, value_dim]` of half of (nearest wrong code - right code), by their distances.

    inf where the head has one code, -inf where a state is not finite.
    """
    flat = H.reshape(len(H), -1)
    if not np.isfinite(flat).all():
        return -np.inf
    if len(codes.norms) == 1:
        return np.inf
    scores = codes.scores(flat)
    scores[np.arange(len(H)), right] = np.inf
    other = codes.dense(scores.argmin(axis=1)).reshape(len(H), -1)
    own = codes.dense(right).reshape(len(H), -1)
    distance = np.linalg.norm(flat - other, axis=1) - np.linalg.norm(flat - own, axis=1)
    return float(distance.min() / 2)


def stretches(length: int, points: int) -> list[slice]:
    """The positions 0 .. length - 1 in at most `points` stretches, equally long on a logarithmic axis from 1 on."""
    edges = np.unique(np.floor(np.geomspace(1, length + 1, points + 1)).astype(np.int64)).tolist()
    return [slice(a - 1, b - 1) for a, b in pairwise(edges)]
