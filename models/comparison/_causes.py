"""Why a learned layer fails, and from which length on: proofs, bounds and predictions, and a check by replacing its heads.

- `why_it_fails`: all eigenvalues in [0, 1], and two words that the layer provably confuses, as a certificate.
- `horizon_of`: the lengths up to which it need not fail by β, by rounding and by drift, and where its classes are
  predicted to meet.
- `causal_check`: the snapped head in the learned one's place, all else as it is, and the accuracy measured again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np

from ...constructions._lrnn import LRNN
from ...constructions.automata._automaton import Indices
from ...foundation._errors import InputError, LimitError
from ...theory._check import accept_horizons
from ...theory._horizon import beta_horizons
from ...theory.arithmetic._arithmetic import PerOp, PerStep, parse_arithmetic
from ...theory.arithmetic._rounding import Floats
from ...theory.impossibility._certificate import certify_impossibility
from ...theory.impossibility._orbits import AffineHead, AffineModel
from ...theory.running._words import random_words
from ..learned._learned import AffineStepper, Learned, Target
from ._snap import SnappedHead, find_factors_in_use
from ._spectra import LetterFacts
from ._states import ClassGeometry, Sampling, run_beside_automaton


@dataclass(frozen=True, eq=False)
class Failure:
    """Why a layer fails, as far as this is known.

    Attributes:
        in_zero_one: whether every eigenvalue of every letter is in [0, 1], decided for the exact values of the floats; None if
            unknown.
        certificate: a certificate of kind `impossible` with two words that the layer confuses; None if there is a `reason`.
        reason: why there is no certificate; empty if there is one.

    Source: G.T1.
    """

    in_zero_one: bool | None
    certificate: dict[str, Any] | None
    reason: str

    @property
    def text(self) -> str:
        """The result in one line."""
        if self.certificate is not None:
            words = self.certificate["words"]
            letters = self.certificate["labels"]["letters"]
            loop = " ".join(letters[x] for x in words["loop"])
            return (
                f"after ({loop})^{words['i']} and ({loop})^{words['j']} the layer's states are equal, bit for bit, in "
                f"{self.certificate['arithmetic']}; the automaton tells these words apart"
            )
        if self.in_zero_one:
            return f"all eigenvalues are in [0, 1]; {self.reason}"
        return self.reason


def describe_limit(failure: Failure, learned: Learned, observed: int | None) -> str:
    """What a layer cannot do on all words: by a certificate, or by G.T1 where the powers of a letter have answers that never settle.

    Args:
        failure: what was found.
        learned: the layer and the answers that it should give.
        observed: the number of letters read at the first wrong answer; None if there was none.

    Returns:
        The sentence; empty where neither applies.

    Source: G.T1.
    """
    if failure.certificate is not None:
        text = f"cannot be right on all words: {failure.text}"
    elif failure.in_zero_one and _counts_powers(learned.target):
        where = (
            "if the transitions of every context are like their means, whose eigenvalues are all in [0, 1]"
            if any(head.spread for head in learned.heads)
            else "all eigenvalues are in [0, 1]"
        )
        text = f"cannot be right on all words in the arithmetic cast: {where} (G.T1); {failure.reason}"
    else:
        return ""
    more = "" if observed is None else f". That need not be why the answer at token {observed:,} is wrong"
    return text + more


def _counts_powers(target: Target) -> bool:
    """Whether the answers to the powers of a letter, after some word, change for ever."""
    reached = target.automaton.reachable()
    for moves, answers in zip(target.automaton.transitions, target.table, strict=True):
        states = np.array(sorted(reached))
        for _ in reached:  # then only the states of its cycles are left
            states = np.unique(moves[states])
        for first in states.tolist():
            said, q = {int(answers[first])}, int(moves[first])
            while q != first:
                said.add(int(answers[q]))
                q = int(moves[q])
            if len(said - {-1}) > 1:
                return True
    return False


def eigenvalues_in_zero_one(facts: Sequence[Sequence[LetterFacts]]) -> bool | None:
    """Whether all eigenvalues of all letters of all heads are in [0, 1]; None where that is not known."""
    values = [letter.in_zero_one for head in facts for letter in head]
    return False if False in values else None if None in values or not values else True


def parse_per_step(arithmetic: str) -> PerStep:
    """An arithmetic in which certificates of failure are written.

    Args:
        arithmetic: its name, such as `per_step:bf16`.

    Raises:
        InputError: it is not of the kind `per_step`.
    """
    model = parse_arithmetic(arithmetic)
    if not isinstance(model, PerStep) or isinstance(model, PerOp):
        raise InputError(
            f"`arithmetic` {arithmetic}: certificates are written for per_step only; for cast call `certify_cast_impossibility` in Python"
        )
    return model


def why_it_fails(
    learned: Learned,
    in_zero_one: bool | None,
    arithmetic: str,
    *,
    max_steps: int = 20_000,
    loops: Sequence[Sequence[int]] | None = None,
) -> Failure:
    """Search for two powers of a letter, or of a word in `loops`, that the layer confuses in an arithmetic.

    The numbers of the heads are rounded once to the values of the arithmetic. The transitions of the model must depend on the letter alone.

    Args:
        learned: the layer and the automaton that it should follow.
        in_zero_one: whether all its eigenvalues are in [0, 1], None if unknown; it becomes part of the result.
        arithmetic: `per_step:FORMAT`.
        max_steps: the largest number of letters of an orbit, at least 1.
        loops: words of letter indices whose powers are tried; by default each letter alone.

    Returns:
        The certificate, or the reason why there is none.

    Raises:
        InputError: `arithmetic` is not of the kind `per_step`.

    Source: G.T1, PT.R1.
    """
    if not learned.heads or learned.read is None or any(head.spread for head in learned.heads):
        return Failure(
            in_zero_one, None, "a certificate needs one layer whose transitions depend on the letter alone"
        )
    model = parse_per_step(arithmetic)
    heads = []
    for head in learned.heads:
        A, B, start = (np.asarray(model.round(x)) for x in (head.A, head.B, head.H0))
        heads.append(AffineHead(A, B if B.any() else None, start))
    affine = AffineModel(heads, arithmetic, learned.name)
    tried = []
    for loop in loops or [(x,) for x in range(len(learned.letters))]:
        try:
            found = certify_impossibility(affine, learned.target.automaton, loop, max_steps=max_steps)
        except LimitError as error:
            tried.append(f"on {' '.join(learned.letters[x] for x in loop)}: {error}")
            continue
        if found is not None:
            return Failure(in_zero_one, found, "")
    more = f" ({'; '.join(tried[:3])})" if tried else ""
    return Failure(in_zero_one, None, f"no two powers of a letter are confused in {arithmetic}{more}")


@dataclass(frozen=True)
class Horizon:
    """Lengths in letters up to which, or from which, a layer fails; None for no limit, or if a length does not apply (see `notes`).

    Attributes:
        dtype: the float format of `rounding`.
        beta: the length up to which the exact construction, with every β‖v‖² = 2 replaced by the smallest learned value, is
            provably decoded rightly in exact numbers.
        least_beta: the smallest learned β‖k‖², usually between 0 and 2; None without factors.
        rounding: the length up to which the exact construction, with weights and states rounded to `dtype`, is provably decoded
            rightly.
        drift: the length up to which the errors of the learned letters, each at most the distance from the snapped letter,
            provably add up to less than the margin, if no letter expands.
        spread: the length at which the spread of the classes reaches the margin. If it has not done so within the words, its
            growth up to `fit` letters is extrapolated. This is a prediction, not a bound.
        observed: the position of the first wrong answer; None if all were right up to `length`.
        length: letters of the words that were read.
        notes: reasons why a figure does not apply.
    """

    dtype: str
    beta: int | None
    least_beta: float | None
    rounding: int | None
    drift: int | None
    spread: int | None
    observed: int | None
    length: int
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain values for JSON.

        Returns:
            The fields by name.
        """
        return {**asdict(self), "notes": list(self.notes)}


def horizon_of(
    lrnn: LRNN | None,
    reason: str,
    snapped: tuple[SnappedHead, ...],
    geometries: tuple[ClassGeometry, ...],
    lengths: tuple[int, ...],
    sampling: Sampling,
    observed: int | None,
    dtype: str,
) -> Horizon:
    """Compute the lengths for the heads that are needed together, as the smallest over these heads.

    Args:
        lrnn: the exact linear RNN of these heads; None if there is a `reason`.
        reason: why there is none; empty if there is one.
        snapped: the heads that were snapped.
        geometries: the geometry of the classes of the heads that are needed.
        lengths: the lengths, in letters, at which states were kept, as in a `Trace`.
        sampling: the random words that were read.
        observed: the number of letters read at the first wrong answer; None if there was none.
        dtype: the float format of the rounding horizon, such as `fp32`.

    Returns:
        The lengths, and why some are missing.
    """
    notes: list[str] = []
    beta = rounding = least = None
    if lrnn is None:
        notes.append(f"no exact linear RNN to bound: {reason}")
    else:
        least = min((b for s in snapped if (b := _least_beta(s)) is not None), default=None)
        if least is None:
            notes.append("no factors are known, so there is no β")
        elif least < 2:
            beta = beta_horizons(lrnn, Fraction(least))["exact"]
        certified = accept_horizons(lrnn)
        rounding = None if certified is None else certified[dtype]
    drifts = [d for s in snapped if (d := _drift(s)) is not None]
    grown = [g for geometry in geometries if (g := _growth(geometry, lengths, sampling.averaged)) is not None]
    return Horizon(
        dtype,
        beta,
        least,
        rounding,
        min(drifts, default=None),
        min(grown, default=None),
        observed,
        sampling.length,
        tuple(notes),
    )


def _least_beta(snapped: SnappedHead) -> float | None:
    """The least β‖k‖² among the factors in use."""
    factors = snapped.head.factors
    if factors is None:
        return None
    used = factors.strength[find_factors_in_use(snapped.head, snapped.basis)]
    return float(used.min()) if used.size else None


def _drift(snapped: SnappedHead) -> int | None:
    """t · δ · R < m: R the largest norm of a code, m half the least distance of two different ones."""
    codes = snapped.codes.reshape(len(snapped.codes), -1)
    distances = np.linalg.norm(codes[:, None] - codes[None], axis=2)
    apart = distances[distances > 1e-6 * distances.max(initial=0.0)]
    step = snapped.transitions_moved * np.linalg.norm(codes, axis=1).max(initial=0.0)
    if step == 0 or not apart.size:
        return None
    steps: int = ceil(float(apart.min()) / 2 / float(step)) - 1
    return steps


def _growth(geometry: ClassGeometry, lengths: tuple[int, ...], fit: int) -> int | None:
    """Where spread/margin reaches 1: seen within the first `fit` lengths, else by c·t^p fitted to their second half."""
    t = np.array(lengths, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = geometry.spread / geometry.margin
    met = np.flatnonzero((t <= fit) & (quotient >= 1))
    if met.size:
        return int(lengths[met[0]])
    here = (t <= fit) & (t >= fit / 2) & np.isfinite(quotient) & (quotient > 0)
    if here.sum() < 2:
        return None
    slope, offset = np.polyfit(np.log(t[here]), np.log(quotient[here]), 1)
    if slope <= 0:
        return None
    meeting = -offset / slope
    return max(1, round(float(np.exp(meeting)))) if meeting < 40 else None


MOST_ALONE = 6
"""Heads that are replaced alone, the first ones."""
WORDS = 64
"""At most so many of the words are run, the first ones."""
ENTRIES = 2**24
"""Numbers of states that are read at once."""


@dataclass(frozen=True)
class Causal:
    """The accuracy with some heads replaced by the snapped ones, in float64.

    Attributes:
        replaced: the replaced heads: `none`, a head's name, or `all`.
        accuracy: the accuracy over all letters, a fraction from 0 to 1.
        first_failure: the number of letters read at the first wrong answer; None if there was none.
    """

    replaced: str
    accuracy: float
    first_failure: int | None

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain values for JSON.

        Returns:
            The fields by name.
        """
        return asdict(self)


def causal_check(
    learned: Learned,
    snapped: Sequence[SnappedHead],
    sampling: Sampling,
    progress: Callable[[float], None] | None = None,
) -> list[Causal]:
    """Measure the accuracy with no head replaced, with single heads replaced (at most `MOST_ALONE`), and with all replaced.

    All runs use the same words. The states of learned and snapped heads are computed once, and each run chooses among them.

    Args:
        learned: the layer.
        snapped: its heads that were snapped.
        sampling: the random words, of which at most `WORDS` are read.
        progress: called with the fraction that is done, from 0 to 1.

    Returns:
        A result for each choice; empty where the model has no read-out of given states.
    """
    if learned.read is None or not snapped:
        return []
    names = [s.head.name for s in snapped]
    sets: list[tuple[str, set[str]]] = [("none", set()), *((name, {name}) for name in names[:MOST_ALONE])]
    if len(names) > 1:
        sets.append(("all", set(names)))
    start = learned.target.automaton.start
    replacements = {s.head.name: s.replacement(start) for s in snapped}
    heads = (*learned.heads, *replacements.values())
    number = {name: len(learned.heads) + i for i, name in enumerate(replacements)}
    choices = [
        [number[h.name] if h.name in chosen else i for i, h in enumerate(learned.heads)] for _, chosen in sets
    ]
    letters = random_words(learned.target.automaton, sampling.words, sampling.length, sampling.seed)[:WORDS]
    wrong, asked = _wrong(learned, AffineStepper(heads, learned.read), choices, letters, progress)
    return [_causal(label, here, asked) for (label, _), here in zip(sets, wrong, strict=True)]


def _wrong(
    learned: Learned,
    stepper: AffineStepper,
    choices: Sequence[Sequence[int]],
    letters: Indices,
    progress: Callable[[float], None] | None,
) -> tuple[Any, Any]:
    """Which answers are wrong, `[choices, tokens, words]`, and where something is asked, `[tokens, words]`."""
    words, tokens = letters.shape
    target, read = learned.target, stepper.read
    held = sum(head.H0.size for head in stepper.heads) * words
    at_once = max(1, min(tokens, ENTRIES // held))
    followed = run_beside_automaton(target, stepper, letters)
    wrong = np.zeros((len(choices), tokens, words), dtype=bool)
    asked = np.zeros((tokens, words), dtype=bool)
    wanted = np.zeros((tokens, words), dtype=np.int64)
    for first in range(0, tokens, at_once):
        block: list[list[Floats]] = []
        here = slice(first, min(first + at_once, tokens))
        for t, (_, states, *answers, _) in zip(range(here.start, here.stop), followed, strict=False):
            block.append(states)
            wanted[t], asked[t] = answers
        read_letters = letters[:, here].T.reshape(-1)
        together = [np.concatenate([s[h] for s in block]) for h in range(len(stepper.heads))]
        for i, choice in enumerate(choices):
            given = read([together[h] for h in choice], read_letters).reshape(-1, words)
            wrong[i, here] = asked[here] & (given != wanted[here])
        if progress is not None:
            progress(here.stop / tokens)
    return wrong, asked


def _causal(label: str, wrong: Any, asked: Any) -> Causal:
    """Tokens are weighed alike, however many of their words are asked."""
    counted = asked.sum(1)
    there = counted > 0
    accuracy = float((1 - wrong.sum(1)[there] / counted[there]).mean()) if there.any() else 1.0
    failed = np.flatnonzero(wrong.any(1))
    return Causal(label, accuracy, int(failed[0]) + 1 if failed.size else None)
