"""What states a head keeps on random words: their subspace, how far classes lie apart, and the first wrong answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...constructions.automata._automaton import Indices
from ...foundation._arguments import require_count, require_optional_count
from ...foundation._errors import InputError, LimitError
from ...theory.arithmetic._rounding import Floats
from ...theory.running._stepper import Stepper
from ...theory.running._words import random_words
from ..learned._learned import Learned, Target

MOST_LETTERS = 2**30
"""Letters of all words of a sample together, which are kept."""
FIT = 64
"""States after at most so many letters are averaged by default."""


@dataclass(frozen=True)
class Sampling:
    """The sample of random words, whose letters are uniform.

    Attributes:
        words: the number of words, at least 1.
        length: the number of letters of each word, at least 1.
        fit: states after 1, ..., `fit` letters make up the class means; beyond, those at powers of two are kept. From 1 to
            `length`; by default `FIT`, or `length` where that is less.
        seed: the seed of the random words, at least 0.

    Raises:
        InputError: a number is out of its range.
        LimitError: there are more than `MOST_LETTERS` letters.
    """

    words: int = 256
    length: int = 1024
    fit: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("words", "length"):
            require_count(name, getattr(self, name), 1)
        require_optional_count("fit", self.fit, 1)
        require_count("seed", self.seed)
        if self.words * self.length > MOST_LETTERS:
            raise LimitError(
                f"`words` {self.words:,} of `length` {self.length:,}: at most {MOST_LETTERS:,} letters are read; lower one of the two"
            )
        if self.averaged > self.length:
            raise InputError(f"`fit` {self.fit}: it is at most `length`, {self.length}")

    @property
    def averaged(self) -> int:
        """`fit`, or its default: after how many letters at most states are averaged."""
        return min(FIT, self.length) if self.fit is None else self.fit

    def as_json(self) -> dict[str, int]:
        """Plain values, for the provenance of a result.

        Returns:
            The fields by name.
        """
        return {"words": self.words, "length": self.length, "fit": self.averaged, "seed": self.seed}


@dataclass(frozen=True, eq=False)
class Trace:
    """The answers and states of a model on random words.

    Attributes:
        sampling: how the words were drawn.
        right: share of words with the right answer among those asked, float `[length]`; nan where nothing is asked.
        first_failure: letters read when the first wrong answer came, int `[words]`; 0 where none did.
        lengths: after how many letters states were kept.
        states: for each head those states, `[lengths, words, n, d]`.
        classes: the automaton's states there, int `[lengths, words]`.
    """

    sampling: Sampling
    right: Floats
    first_failure: Indices
    lengths: tuple[int, ...]
    states: tuple[Floats, ...]
    classes: Indices

    @property
    def accuracy(self) -> float:
        """Over all letters of all words."""
        return float(np.nanmean(self.right)) if np.isfinite(self.right).any() else 1.0

    @property
    def observed(self) -> int | None:
        """The least first failure; None if every answer was right."""
        failed = self.first_failure[self.first_failure > 0]
        return int(failed.min()) if failed.size else None


@dataclass(frozen=True, eq=False)
class ClassGeometry:
    """One head's classes: the state-separating subspace, and how well they are told apart at each length.

    Distances are those on the span of the differences of means as whole matrices (with the same tolerance), so that what no
    class depends on does not count. Lines are those between different groups: what a head does not keep cannot be lost.

    Attributes:
        means: the mean of each class over the states after up to `fit` letters, `[states, n, d]`.
        seen: the numbers of the classes that occurred, int `[seen]`.
        basis: orthonormal, `[n, r]`; spans the columns of the differences of means whose singular value counts.
        singular: all those singular values, largest first.
        tolerance: the share of the largest above which one counts, between 0 and 1.
        spread: how far a state lies from its class mean along the line to another one, `[lengths]`, for the state and the
            line where spread / margin is largest.
        margin: half the distance of these two means, `[lengths]`. Thus the nearest mean is every state's own exactly while
            `ratio` = margin / spread is above 1.
        groups: the means over all these lengths, joined where the distance of two is at most the sum of their classes' root
            mean square deviations along the line between them; int `[seen]`.
    """

    means: Floats
    seen: Indices
    basis: Floats
    singular: Floats
    tolerance: float
    spread: Floats
    margin: Floats
    groups: Indices

    @property
    def told_apart(self) -> int:
        """How many groups there are."""
        return int(self.groups.max()) + 1

    @property
    def rank(self) -> int:
        """r, the dimension of the subspace."""
        return int(self.basis.shape[1])

    @property
    def ratio(self) -> Floats:
        """margin / spread; inf where the spread is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            quotient = self.margin / self.spread
        return np.where(self.spread == 0, np.inf, quotient)

    @property
    def centre(self) -> Floats:
        """Mean of the class means, `[n, d]`."""
        result: Floats = self.means[self.seen].mean(axis=0)
        return result


def follow_words(
    learned: Learned, sampling: Sampling, progress: Callable[[float], None] | None = None
) -> Trace:
    """Run the model beside the automaton on random words.

    Args:
        learned: the model and its target.
        sampling: the words.
        progress: called with the fraction that is done, from 0 to 1.

    Returns:
        The answers, and the states of its heads.
    """
    target = learned.target
    letters = random_words(target.automaton, sampling.words, sampling.length, sampling.seed)
    kept = [t for t in range(1, sampling.length + 1) if t <= sampling.averaged or t & (t - 1) == 0]
    if sampling.length not in kept:
        kept.append(sampling.length)
    right = np.full(sampling.length, np.nan)
    failure = np.zeros(sampling.words, dtype=np.int64)
    snapshots: list[list[Floats]] = []
    classes = []
    for t, (x, states, wanted, asked, q) in enumerate(
        run_beside_automaton(target, learned.stepper, letters), 1
    ):
        wrong = asked & (learned.stepper.decode(states, x) != wanted)
        if asked.any():
            right[t - 1] = 1 - wrong.sum() / asked.sum()
        failure[wrong & (failure == 0)] = t
        if t in kept:
            snapshots.append(learned.head_states(states))
            classes.append(q)
        if progress is not None:
            progress(t / sampling.length)
    stacked = tuple(np.array([s[h] for s in snapshots]) for h in range(len(learned.heads)))
    return Trace(sampling, right, failure, tuple(kept), stacked, np.array(classes))


def run_beside_automaton(target: Target, stepper: Stepper, letters: Indices) -> Iterator[tuple[Any, ...]]:
    """A stepper and the automaton over words `[words, tokens]`, token by token.

    Each time: the letters, the stepper's states, the right answers' numbers, where something is asked, and the
    automaton's states, after the token; `[words]` each but the stepper's.
    """
    states = stepper.initial(len(letters))
    q = np.full(len(letters), target.automaton.start)
    for t in range(letters.shape[1]):
        x = np.asarray(letters[:, t], dtype=np.int64)
        states = stepper.step(states, x)
        answers = right_answers(target, x, q)
        q = target.automaton.transitions[x, q]
        yield x, states, *answers, q


def right_answers(target: Target, letters: Indices, before: Indices) -> tuple[Indices, Any]:
    """The right answers' numbers and where something is asked, `[words]` each."""
    wanted = target.table[letters, before]
    return wanted, wanted >= 0


def class_geometry(trace: Trace, head: int, states: int, tolerance: float) -> ClassGeometry:
    """The geometry of one head of a trace.

    Args:
        trace: the observed states.
        head: its number, from 0.
        states: the number of states of the automaton.
        tolerance: singular values relative to the largest that count, between 0 and 1.

    Returns:
        The subspace, the spread and the margin at each length.
    """
    H, fit = trace.states[head], np.array(trace.lengths) <= trace.sampling.averaged
    q = trace.classes[fit].reshape(-1)
    means, seen = _means(H[fit].reshape(-1, *H.shape[2:]), q, states)
    centred = means[seen] - means[seen].mean(axis=0)
    U, s, _ = np.linalg.svd(centred.transpose(1, 0, 2).reshape(H.shape[2], -1), full_matrices=False)
    rank = int((s > tolerance * s[0]).sum()) if s.size and s[0] > 0 else 0
    _, sizes, span = np.linalg.svd(centred.reshape(len(seen), -1), full_matrices=False)
    span = span[sizes > tolerance * sizes[0]] if sizes[0] > 0 else span[:0]
    flat = H.reshape(*H.shape[:2], -1)
    groups = _groups(flat[fit].reshape(-1, flat.shape[2]), q, seen, means.reshape(states, -1), span)
    group_of = np.full(states, -1)
    group_of[seen] = groups
    spread, margin = np.zeros(len(H)), np.zeros(len(H))
    own = means.reshape(states, -1) @ span.T
    lengths = np.linalg.norm(own[seen][None] - own[:, None], axis=2)
    lengths[group_of[:, None] == group_of[seen][None]] = np.inf
    codes = means.reshape(states, -1)
    for i, (here, classes) in enumerate(zip(flat, trace.classes, strict=True)):
        known = np.isin(classes, seen)
        away = (here[known] - codes[classes[known]]) @ span.T
        spread[i], margin[i] = _worst(away, classes[known], own, seen, lengths)
    return ClassGeometry(means, seen, U[:, :rank], s, tolerance, spread, margin, groups)


def _means(H: Floats, q: Indices, states: int) -> tuple[Floats, Indices]:
    """Class means `[states, n, d]`, and the classes that occur. The mean of equal states is that state, bit for bit."""
    means = np.zeros((states, *H.shape[1:]))
    seen = np.unique(q)
    for c in seen.tolist():
        here = H[q == c]
        means[c] = here[0] if (here == here[0]).all() else here.mean(axis=0)
    return means, seen


def _worst(away: Floats, q: Indices, own: Floats, seen: Indices, lengths: Floats) -> tuple[float, float]:
    """Deviation and margin of the state and the line where deviation / margin is largest.

    `away` `[words, r]`: deviations of states of classes `q` whose mean is known; `own` `[states, r]`: all means.
    `lengths` `[states, seen]`: of lines between means, inf for those of one group.
    """
    long = lengths[q]
    apart = np.isfinite(long)
    if not apart.any():
        return float(np.sqrt((away**2).sum(axis=1)).max(initial=0.0)), np.inf
    along = away @ own[seen].T - (away * own[q]).sum(axis=1)[:, None]
    along = np.maximum(along / long, 0)
    quotient = np.where(along > 0, 2 * along / long, -1 / long)  # without deviations the least margin
    word, other = np.unravel_index(int(np.where(apart, quotient, -np.inf).argmax()), quotient.shape)
    return float(along[word, other]), float(long[word, other]) / 2


def _distances(means: Floats) -> Floats:
    flat = means.reshape(len(means), -1)
    norms = (flat**2).sum(axis=1)
    result: Floats = np.sqrt(np.maximum(norms[:, None] + norms[None] - 2 * flat @ flat.T, 0))
    return result


def _groups(H: Floats, q: Indices, seen: Indices, means: Floats, span: Floats) -> Indices:
    """The group of each class seen. States `[points, entries]`; deviations are looked at along `span` `[r, entries]`."""
    own = means[seen] @ span.T
    D = _distances(own)
    deviations = np.zeros_like(D)
    for a, c in enumerate(seen.tolist()):
        lines = own[a] - own
        along = ((H[q == c] - means[c]) @ span.T) @ lines.T
        deviations[a] = np.sqrt((along**2).mean(axis=0)) / np.maximum(D[a], 1e-300)
    near = deviations + deviations.T + 1e-7 * np.sqrt((own**2).sum()) >= D
    result = np.full(len(seen), -1, dtype=np.int64)
    for first in range(len(seen)):
        if result[first] >= 0:
            continue
        result[first], queue = result.max() + 1, [first]
        for a in queue:
            fresh = np.flatnonzero(near[a] & (result < 0))
            result[fresh] = result[first]
            queue.extend(fresh.tolist())
    return result
