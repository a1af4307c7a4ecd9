"""S.star-free: non-negative diagonal transitions in finite precision follow exactly the aperiodic automata."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...constructions._spec import automaton_from_spec
from ...constructions.algebra.monoids._monoid import TransitionMonoid
from ...constructions.automata._automaton import Automaton, Indices
from ...constructions.cascades._automata import CascadeLevel
from ...constructions.cascades._cascade import cascade
from ...foundation._errors import LimitError, NotRealisableError
from .._check import check
from .._verdict import Verdict
from ..arithmetic._arithmetic import PerStep, parse_arithmetic
from ..arithmetic._rounding import Floats
from ..arithmetic._value_sets import all_values
from ..impossibility._certificate import certify_impossibility
from ..impossibility._orbits import AffineHead, AffineModel
from ..planning._bounds import bounds
from ..proofs._prove import prove
from ..verifying._claim import QUICK, Claim, Effort, Subject
from ..verifying._evidence import check_all_cases, decide_values
from ._parts import further

# S.star-free: aperiodic automata as layers of set/reset cells with diagonal, non-negative transitions.
#
# A level of the cascade holds points one-hot and reads the point *before* the token. An exchange of halves would remember
# that, but is not diagonal. Here a reset divides the state by four and adds the new one-hot vector: w ← w/4 + e_c, a letter
# that moves nothing is w ← w. Whole parts are then the current point, quarters the one before the last reset; a finite
# format drops all deeper digits, so that there are finitely many states. Eigenvalues are 1 and 1/4.


ARITHMETIC = "per_step:fixed:4:2"
"""Four bits, two of them below the point: entries are 0, 1/4, 1 and 5/4."""


@dataclass(frozen=True, eq=False)
class DiagonalLayer:
    """w ← Q(a(x) ⊙ w + b(x)): `scale`, `added` `[letters, n]`; the components of `level` side by side from `starts`.

    `resets`: `[components, letters]`, which letters reset which component.
    """

    level: CascadeLevel
    scale: Floats
    added: Floats
    resets: Indices
    starts: tuple[int, ...]

    def following(self, w: Floats, letters: Indices) -> Indices:
        """The next layer's letters (on the last layer states) from new states `[sequences, n]` and letters."""
        read = self.level.reads[letters]
        point = np.zeros(len(letters), dtype=np.int64)
        for c, (start, degree) in enumerate(zip(self.starts, self.level.degrees, strict=True)):
            part = w[:, start : start + degree]
            whole = np.floor(part)
            before = np.where(self.resets[c, letters][:, None], part - whole, whole)
            point = np.where(read == c, before.argmax(axis=1), point)
        return self.level.next_letter[letters, point].astype(np.int64)


class DiagonalCells:
    """The layers of an aperiodic automaton, a `Stepper` that decodes to the automaton's states; saturating `per_step`.

    Raises `NotRealisableError`, which names the level, where a component of the cascade is permuted: then the
    automaton is not aperiodic. And for an automaton of one state, which needs no cells.
    """

    def __init__(self, automaton: Automaton, arithmetic: str = ARITHMETIC) -> None:
        model = parse_arithmetic(arithmetic)
        if not isinstance(model, PerStep):
            raise TypeError(f"{arithmetic} is not per_step")
        self.arithmetic, self.automaton = model, automaton
        built = cascade(automaton)
        if not built.levels:
            raise NotRealisableError(f"{automaton.name}: one state needs no cells")
        self.letter_of = built.letter_of
        self.layers = tuple(_layer(automaton, i, level) for i, level in enumerate(built.levels))
        first = built.initial[automaton.start]
        self.first = []
        for layer, columns in zip(self.layers, built.columns, strict=True):
            w = np.zeros((1, layer.scale.shape[1]))
            w[0, np.array(layer.starts) + first[columns]] = 1
            self.first.append(w)

    @property
    def eigenvalues(self) -> tuple[float, ...]:
        """The distinct diagonal entries of all letters of all layers."""
        return tuple(sorted({float(x) for layer in self.layers for x in np.unique(layer.scale)}))

    def initial(self, sequences: int) -> list[Floats]:
        """The start of each layer, `[sequences, n]`."""
        return [np.repeat(w, sequences, axis=0) for w in self.first]

    def step(self, states: Sequence[Floats], letters: ArrayLike) -> list[Floats]:
        """One token."""
        running = self.letter_of[np.asarray(letters)]
        after = []
        for layer, w in zip(self.layers, states, strict=True):
            after.append(self.arithmetic.round(layer.scale[running] * w + layer.added[running]) + 0.0)
            running = layer.following(after[-1], running)
        return after

    def decode(self, states: Sequence[Floats], letters: ArrayLike) -> Indices:
        """The states that the last layer names."""
        running: Indices = self.letter_of[np.asarray(letters)]
        for layer, w in zip(self.layers, states, strict=True):
            running = layer.following(w, running)
        return running


def _layer(automaton: Automaton, number: int, level: CascadeLevel) -> DiagonalLayer:
    starts = np.cumsum([0, *level.degrees])
    scale = np.ones((level.letters, int(starts[-1])))
    added = np.zeros_like(scale)
    resets = np.zeros((len(level.degrees), level.letters), dtype=np.int64)
    for c, table in enumerate(level.actions):
        kinds = [level.kind(c, a) for a in range(len(table))]
        if "permutation" in kinds:
            raise NotRealisableError(
                f"{automaton.name}: level {number + 1} of its cascade has a group, so the automaton is not aperiodic"
            )
        part = slice(int(starts[c]), int(starts[c + 1]))
        for x, a in enumerate(level.action_of[c].tolist()):
            if kinds[a] == "reset":
                resets[c, x] = 1
                scale[x, part] = 0.25
                added[x, int(starts[c]) + int(table[a, 0])] = 1
    return DiagonalLayer(level, scale, added, resets, tuple(int(s) for s in starts[:-1]))


def words_settle(weights: Sequence[float], added: Sequence[float], arithmetic: str) -> bool:
    """Does h ← Q(a h + b), the letters read round and round, end in one state a round, from every value of the format?

    `weights`, `added`: a and b of the letters of a word, one channel. With a ≥ 0 it does, since a word is then a
    non-decreasing map of one number.
    """
    model = parse_arithmetic(arithmetic)
    if not isinstance(model, PerStep):
        raise TypeError(f"{arithmetic} is not per_step")
    values = all_values(model.values)
    image = values
    for a, b in zip(weights, added, strict=True):
        image = model.round(a * image + b)
    late = places = np.searchsorted(values, image)
    for _ in range(len(values).bit_length()):
        late = late[late]
    return bool((places[late] == late).all())


CLAIM = Claim(
    "S.star-free",
    "Non-negative diagonal layers follow exactly the aperiodic automata",
    "exhaustive",
    uses=("KR", "PT.R1"),
    arithmetic="per_step",
    formal=("Cascades.non_negative_aperiodic, for one layer and one direction",),
)
CHANNEL = "per_step:int:-2..2"
MAX_MONOID = 100_000
"""Elements up to which a user's automaton is decided."""
SETTLES = "finitely many layers with diagonal A(x) ≥ 0, each rounded once a step to finitely many values, non-decreasing"
"""A channel along a word is then a non-decreasing map of one number, and so settles; layer after layer all do."""
ANSWERS = {"proved": "followed on all words", "refuted": "not followed"}
LIBRARY = (
    *("flipflop", "gridworld:2", "gridworld:5", "tomita:1", "tomita:2", "tomita:4", "tomita:7", "even_pairs"),
    *("starladder:ab", "starladder:abc", "dn:1", "dn:2", "dn:3", "dyck1:1", "dyck1:2", "dyck1:4"),
    *("dyck:2,1", "dyck:2,2", "boxes:3,2"),
    *("parity", "mod:3", "tomita:3", "tomita:5", "tomita:6", "starladder:abab", "T2", "T3", "permreset:2"),
    *("mod_arith:2", "S3", "codeswap:4", "cycle:5"),
)
MORE = ("dyck:2,3", "dyck:3,2", "T4", "S4", "Q8", "dihedral:5", "mod_arith:3", "Z2^3", "A4")


class Word(NamedTuple):
    """One channel h ← Q(a h + b) along a word: a and b of its letters."""

    weights: tuple[int, ...]
    added: tuple[int, ...]


def verify(effort: Effort = QUICK) -> Verdict:
    """Layers of channels h ← Q(a(x) h + b(x)) with a(x) ≥ 0 follow an automaton only if it is aperiodic, and then they can.

    Statement: Finitely many layers with diagonal A(x) ≥ 0, rounded once a step to finitely many values, follow a finite
        automaton if and only if no word permutes some of its states other than trivially: its languages are star-free.
    Direction: tight
    Hypotheses: A(x) diagonal and non-negative; the rounding non-decreasing.
    Arithmetic: per_step, integers from -2 to 2 for the channels, four bits for the cells
    Source: S, Theorem 4; Schützenberger for aperiodic and star-free
    Method: A channel along a word is a non-decreasing map of one number: every word of one to three letters over all
        channels with a ≥ 0 of a small set settles, and with some a < 0 the same check must find words that turn. For every
        automaton of a list that has no group, layers of set/reset cells are built and proved on all words by their
        reachable states. For the others the cells are refused, and a diagonal layer gets a certificate of two words that
        it confuses, checked by the stand-alone checker.
    Example:
        >>> print(verify().line())
        holds on 240 cases: no violation, as claimed
    """
    longest = effort.pick(2, 3)
    found = check_all_cases(
        CLAIM,
        cases=_words(range(3), longest),
        check=_turns,
        of=f"all words of up to {longest} letters over the channels with a ≥ 0 of {CHANNEL}",
        broken=_words(range(-2, 3), 2),
    )
    specs = LIBRARY + effort.pick((), MORE)
    answers = {spec: is_followed(automaton_from_spec(spec)) for spec in specs}
    aperiodic = {spec: TransitionMonoid.of(automaton_from_spec(spec)).is_aperiodic for spec in specs}
    return further(
        found,
        {
            "aperiodic automata followed on all words, the others refuted": (
                answers,
                {spec: "proved" if aperiodic[spec] else "refuted" for spec in specs},
            ),
            "eigenvalues of the cells": (_eigenvalues(specs, aperiodic), [0.25, 1.0]),
        },
    )


def applies(subject: Subject) -> Verdict | None:
    """Is the automaton aperiodic, with the layers that follow it, or what turns in it."""
    automaton = subject.automaton
    if automaton is None or len(automaton.states) < 2:
        return None
    try:
        aperiodic = TransitionMonoid.of(automaton, max_size=MAX_MONOID).is_aperiodic
    except LimitError:
        undecided = {"says": f"undecided: the transition monoid has more than {MAX_MONOID:,} elements"}
        return Verdict(CLAIM.id, "unknown", undecided, ARITHMETIC)
    answer = is_followed(automaton)
    turning = next((b for b in bounds(automaton) if b.reason == "G.T1"), None)
    says = {
        "proved": "aperiodic: layers of non-negative diagonal cells follow it, proved on all words",
        "refuted": (
            f"not aperiodic ({turning and turning.why}); a channel with a ≥ 0 settles when that is read again and again, "
            "so no non-negative diagonal layers follow it"
        ),
    }
    evidence: dict[str, Any] = {
        "says": says.get(answer, f"undecided: {answer}"),
        "non-negative diagonal layers": ANSWERS.get(answer, answer),
        "what turns": turning and turning.why,
    }
    return decide_values(
        CLAIM,
        computed=ANSWERS.get(answer, answer),
        claimed=ANSWERS["proved" if aperiodic else "refuted"],
        evidence=evidence,
        arithmetic=ARITHMETIC,
        assumptions=() if aperiodic else (SETTLES,),
    )


def is_followed(automaton: Automaton) -> str:
    """`proved`: the cells follow it on all words; `refuted`: a word of it turns, and a layer has a certificate for that."""
    try:
        cells = DiagonalCells(automaton)
    except NotRealisableError:
        turning = next((b for b in bounds(automaton) if b.reason == "G.T1"), None)
        return "refused" if turning is None else _confusion(automaton, turning.data["word"])
    verdict = prove(cells, automaton, ARITHMETIC).verdict
    return "proved" if verdict == "equivalent" else verdict


def _confusion(automaton: Automaton, word: list[int]) -> str:
    """A diagonal layer of two channels, by letter a and b of 0, 1, 2: its certificate on the word, read again and again.

    Some state is turned by the word, but perhaps not the start, so the layer is held against the automaton started there.
    """
    letters = len(automaton.letters)
    A, B = np.zeros((letters, 2, 2)), np.zeros((letters, 2, 1))
    for x in range(letters):
        A[x], B[x, :, 0] = np.diag([1 + x % 2, x % 3]), ((x + 1) % 3, -(x % 2))
    model = AffineModel([AffineHead(A, B, np.zeros((2, 1)))], CHANNEL, "diagonal layer")
    cycle = next(b for b in bounds(automaton) if b.reason == "G.T1").data["cycle"]
    document = certify_impossibility(model, automaton.with_start(automaton.states[cycle[0]]), word)
    return (
        "not confused" if document is None else {"valid": "refuted"}.get(check(document).verdict, "invalid")
    )


def _eigenvalues(specs: tuple[str, ...], aperiodic: dict[str, bool]) -> list[float]:
    return sorted(
        {x for s in specs if aperiodic[s] for x in DiagonalCells(automaton_from_spec(s)).eigenvalues}
    )


def _words(weights: range, longest: int) -> Iterator[Word]:
    channels = list(product(weights, range(-2, 3)))
    for length in range(1, longest + 1):
        for word in product(channels, repeat=length):
            yield Word(tuple(a for a, _ in word), tuple(b for _, b in word))


def _turns(case: Word) -> Any:
    return None if words_settle(case.weights, case.added, CHANNEL) else case._asdict()
