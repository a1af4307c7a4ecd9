"""Lower bounds with reasons: what every linear RNN that follows an automaton must have at least.

Each bound names its hypotheses and arithmetic; "follows" means that its states (and the last letter) determine the
automaton's state. The proofs stand in `theory/checker/bound.py`, whose search limits are part of what the kind of
certificate means. This file finds the same bounds on a way of its own, so that the two hold each other.

Which lower bounds speak of a construction at hand, and whether it attains them.

A bound is a statement about the linear RNNs that meet its hypotheses. Beside a construction that does not meet them (two
layers, where the bound is about one) its number says nothing, so it is left out here; `plan` and certificates of kind
`bound` state all bounds, each with its hypotheses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import lcm
from typing import Any

import numpy as np

from ...constructions._conversions import AutomatonLike, as_automaton
from ...constructions._document import FORMAT
from ...constructions._realisation import Realisation
from ...constructions.algebra._closed_forms import number_text
from ...constructions.algebra.groups._permutations import cycle_lengths
from ...constructions.automata._automaton import Automaton, Indices, breadth_first
from ...constructions.automata._labels import distinct_texts
from ...foundation._errors import DisagreementError, InputError
from ...foundation._text import count_noun
from ..checker._exact import Invalid
from ..checker._one_vector import check_witness
from ..checker.bound import FIFTHS, FINITE, PAIRS, RULES, SEARCH
from ..checker.bound import bounds as checker_bounds
from ._cycles import Cycle, proper_cycles
from ._gram_equations import find_equations
from ._one_vector import one_vector_bounds

Word = tuple[int, ...]


@dataclass(frozen=True)
class Bound:
    """A lower bound: `figure` is at least `at_least` in every RNN that meets the `hypotheses` and follows the automaton.

    The figures are `householders` (factors per token in one layer), `beta` (the largest β‖v‖²), `state_size` (numbers in the
    state: the key dimension, if there is one head with one column), `layers`, `triangular_layers` and `single_factor_layers` (layers, if all are of this form), and
    `layers_beyond_nonnegative`, `layers_beyond_real` (layers with eigenvalues, over products that the hypotheses
    name, outside [0, ∞) or the reals).

    Attributes:
        figure: the figure that is bounded.
        at_least: the bound.
        reason: the theorem's id.
        kind: `proved` (the proof is in the checker's text), or `cited` (a published theorem whose hypotheses
            on the automaton are checked).
        hypotheses: the class of RNNs to which the bound applies.
        why: the evidence in words.
        text: one readable line with the hypotheses.
        data: the evidence, with letters and states as indices.
        automaton: the automaton.
    """

    figure: str
    at_least: int
    reason: str
    kind: str
    hypotheses: str
    why: str
    text: str
    data: dict[str, Any]
    automaton: Automaton = field(repr=False, compare=False)

    def statement(self) -> dict[str, Any]:
        """Its entry in a certificate."""
        return {
            "figure": self.figure, "at_least": self.at_least, "reason": self.reason, "kind": self.kind,
            "hypotheses": self.hypotheses, "evidence": self.data,
        }  # fmt: skip

    def certificate(self) -> dict[str, Any]:
        """The certificate of kind `bound` with this bound alone."""
        return bound_certificate((self,))


def bounds(automaton: AutomatonLike) -> tuple[Bound, ...]:
    """Find all known lower bounds for an automaton, in a fixed order; the stand-alone checker finds each one too.

    Unreachable states do not count, unless they were kept as points. The search of words is limited
    (`checker.bound.SEARCH`), so a bound may be missed on large monoids, but none is wrong.

    Args:
        automaton: an automaton in any form that `as_automaton` accepts.

    Raises:
        DisagreementError: the checker finds other bounds.

    Examples:
        >>> from mirrormata.theory import bounds
        >>> [(b.figure, b.at_least, b.reason) for b in bounds("S5")][:2]
        [('householders', 2, 'H.rank'), ('householders', 4, 'CK.S5')]
    """
    automaton = as_automaton(automaton)
    if not automaton.keeps_points:
        automaton = automaton.trim()
    found = _find_bounds(automaton)
    if found:
        theirs = checker_bounds(automaton.transitions.tolist(), len(automaton.states))
        for bound in found:
            if bound.statement() not in theirs and not _is_proved(bound):
                raise DisagreementError(f"{automaton.name}: the checker of bounds does not find {bound.text}")
    return found


def _is_proved(bound: Bound) -> bool:
    """Whether the checker accepts the evidence of a bound that it does not find by itself."""
    maps = [tuple(row) for row in bound.automaton.transitions.tolist()]
    try:
        check_witness(bound.statement(), maps, len(bound.automaton.states), bound.reason)
    except Invalid:
        return False
    return True


def _find_bounds(automaton: Automaton) -> tuple[Bound, ...]:
    maps = automaton.transitions
    n = maps.shape[1]
    letters = np.arange(len(maps))
    permuting = np.array([x for x in letters if len(np.unique(maps[x])) == n], dtype=np.int64)
    found: list[Bound] = []

    def add(figure: str, reason: str, at_least: int, data: dict[str, Any], why: str) -> None:
        kind, hypotheses = RULES[figure, reason]
        text = f"{figure} ≥ {at_least} ({reason}): {why}; hypotheses: {hypotheses}"
        found.append(Bound(figure, at_least, reason, kind, hypotheses, why, text, data, automaton))

    def turns(word: Word, cycle: Cycle) -> str:
        return f"{spelt(word)} moves {len(cycle)} states in a cycle"

    def spelt(word: Sequence[int]) -> str:
        texts = [repr(automaton.letters[x]) for x in word[:12]] + ["..."] * (len(word) > 12)
        return f"letter {texts[0]}" if len(word) == 1 else f"word {' '.join(texts)}"

    def witness(word: Word, cycle: Cycle) -> dict[str, Any]:
        return {"word": list(word), "cycle": list(cycle)}

    by_letter: list[tuple[Word, Cycle]] = [
        ((x,), cycle) for x in letters.tolist() for cycle in proper_cycles(maps[x])
    ]
    long = [(word, cycle) for word, cycle in by_letter if len(cycle) > 2][:1]
    for first in (long or by_letter)[:1]:
        add("householders", "H.rank", 2 if long else 1, witness(*first), turns(*first))
    pair = _two_pairs(maps, permuting)
    if pair is not None:
        x, exponent, word = pair
        why = (
            f"power {exponent} of {spelt([x])} and its conjugate by {spelt(word)} generate A_5 and are not "
            "conjugate in it"
        )
        add("householders", "CK.S5", 4, {"letter": x, "exponent": exponent, "word": list(word)}, why)

    turning, other = _turning_words(maps, letters)
    for first in turning[:1]:
        add("beta", "H.openβ", 2, witness(*first), turns(*first))
        add("layers_beyond_nonnegative", "G.T1", 1, witness(*first), turns(*first))
    if other is not None:
        add("layers_beyond_real", "G.T2", 1, witness(*other), turns(*other))
    elif turning and len(turning[-1][1]) > 2:
        layers = len(turning[-1][1]).bit_length() - 1
        add("triangular_layers", "G.T2", layers, witness(*turning[-1]), turns(*turning[-1]))
    for first in long:
        add("single_factor_layers", "G.T2", 2, witness(*first), turns(*first))
    generators = _all_maps(maps, permuting)
    if generators is not None:
        word, x = generators
        why = f"the letters generate all maps (a transposition from {spelt(word)}, rank {n - 1} by {spelt([x])})"
        add("state_size", "PD.N-1", n - 1, {"transposition": list(word), "collapse": x}, why)
    for reason, at_least, evidence in one_vector_bounds(maps, n - 1 if generators is not None else 0):
        if reason == "PD.N-1":
            first = evidence["words"][0]
            why = f"{at_least} words with two images, the first of them {spelt(first)}, have independent preimages"
        else:
            images = [len(set(row.tolist())) for row in _prefixes(maps, evidence["word"])]
            counts = [str(m) for m in dict.fromkeys(images)]
            falls = " > ".join(counts if len(counts) <= 8 else [*counts[:6], "...", counts[-1]])
            why = f"after the prefixes of {spelt(evidence['word'])} there are {falls} states"
        add("state_size", reason, at_least, evidence, why)
    proof = find_equations(automaton)
    if proof is not None:
        q, r = (repr(automaton.states[i]) for i in proof.pair)
        why = f"{count_noun(len(proof.equations), 'equation')} would put the states {q} and {r} at one point"
        add("layers", "own.LMI", 2, proof.to_json(), why)
    return tuple(found)


def bound_certificate(found: Sequence[Bound]) -> dict[str, Any]:
    """The certificate of kind `bound` for one or more bounds of one automaton, in the order of `bounds`.

    Args:
        found: bounds of one automaton.

    Raises:
        InputError: there is no bound or something else than bounds, the automata differ, or two labels have the same text.
    """
    if isinstance(found, str) or not isinstance(found, Sequence) or any(type(b) is not Bound for b in found):
        raise InputError("`found`: it must be bounds as `bounds(automaton)` lists them")
    if not found:
        raise InputError("no bounds: a certificate of kind bound needs one at least")
    automaton = found[0].automaton
    if any(bound.automaton is not automaton for bound in found):
        raise InputError("these bounds belong to different automata: certify those of one call of `bounds`")
    n = len(automaton.states)
    return {
        "format": FORMAT,
        "kind": "bound",
        "labels": {
            "automaton": automaton.name,
            "states": distinct_texts(automaton.states, "state", automaton.name),
            "letters": distinct_texts(automaton.letters, "letter", automaton.name),
        },
        "automaton": {
            "states": n,
            "letters": len(automaton.letters),
            "transitions": automaton.transitions.tolist(),
            "sources": [
                [part.tolist() for part in np.split(np.argsort(row, kind="stable"), _ends(row, n))]
                for row in automaton.transitions
            ],
        },
        "bounds": [bound.statement() for bound in found],
    }


def _prefixes(maps: Indices, word: Sequence[int]) -> Iterator[Indices]:
    """The maps of the prefixes of a word, the empty one first."""
    image = np.arange(maps.shape[1])
    yield image
    for x in word:
        image = maps[x][image]
        yield image


def _ends(row: Indices, n: int) -> Indices:
    return np.cumsum(np.bincount(row, minlength=n))[:-1]


def _words(maps: Indices, letters: Indices) -> Iterator[tuple[Word, Indices]]:
    """The different maps of words over some letters with their first words, to the extent of `SEARCH`."""
    n = maps.shape[1]
    listed: list[tuple[Word, Indices]] = [((), np.arange(n))]
    seen = {listed[0][1].tobytes()}
    yield listed[0]
    i = 0
    while i < len(listed) and (i == 0 or (i + 1) * len(letters) * n <= SEARCH):
        word, image = listed[i]
        for x, after in zip(letters.tolist(), maps[letters[:, None], image], strict=True):
            if (key := after.tobytes()) not in seen:
                seen.add(key)
                listed.append(((*word, x), after))
                yield listed[-1]
        i += 1


def _turning_words(
    maps: Indices, letters: Indices
) -> tuple[list[tuple[Word, Cycle]], tuple[Word, Cycle] | None]:
    """Words with longer and longer cycles of length 2^i, and the first whose cycle is of another length, if any."""
    turning: list[tuple[Word, Cycle]] = []
    for word, image in _words(maps, letters):
        cycles = proper_cycles(image)
        for cycle in cycles:
            if len(cycle) > (len(turning[-1][1]) if turning else 1):
                turning.append((word, cycle))
        for cycle in cycles:
            if len(cycle).bit_count() > 1:
                return turning, (word, cycle)
    return turning, None


def _power(row: Indices, exponent: int) -> Indices:
    result = np.arange(len(row))
    for bit in bin(exponent)[2:]:
        result = result[result]
        if bit == "1":
            result = row[result]
    return result


def _two_pairs(maps: Indices, permuting: Indices) -> tuple[int, int, Word] | None:
    """Letter, exponent, word: a = letter^exponent has order 5; with its conjugate it splits an A_5 (CK.S5)."""
    n = maps.shape[1]
    fifths: dict[tuple[int, ...], tuple[int, int, Indices]] = {}
    for x in permuting.tolist():
        order = lcm(*cycle_lengths(maps[x]))
        if order % 5 == 0 and len(fifths) < FIFTHS:
            a = _power(maps[x], order // 5)
            group = min(tuple(_power(a, i).tolist()) for i in range(1, 5))
            fifths.setdefault(group, (x, order // 5, a))
    if not fifths:
        return None
    pairs = (
        (x, exponent, a, word, y)
        for word, y in _words(maps, permuting)
        if word
        for x, exponent, a in fifths.values()
    )
    for _, (x, exponent, a, word, y) in zip(range(PAIRS // n), pairs, strict=False):
        b = np.empty_like(a)
        b[y] = y[a]
        if _splits_icosahedral(a, b):
            return x, exponent, word
    return None


def _splits_icosahedral(a: Indices, b: Indices) -> bool:
    """Whether ⟨a, b⟩ has order 60 and no element of it conjugates a into b."""
    listed = [np.arange(len(a))]
    seen = {listed[0].tobytes()}
    for g in listed:
        for h in (a[g], b[g]):
            if (key := h.tobytes()) not in seen:
                if len(listed) == 60:
                    return False
                seen.add(key)
                listed.append(h)
    group = np.array(listed)
    return len(group) == 60 and not (group[:, a] == b[group]).all(axis=1).any()


def _all_maps(maps: Indices, permuting: Indices) -> tuple[Word, int] | None:
    """A word with a transposition as a power and a letter of rank n - 1, where the letters generate all n^n maps."""
    n = maps.shape[1]
    merging = [x for x, row in enumerate(maps) if len(np.unique(row)) == n - 1]
    if n < 2 or not merging or n * n * len(permuting) > SEARCH or not len(permuting):
        return None
    p, q = np.divmod(np.arange(n * n), n)
    rows = maps[permuting]
    if len(breadth_first(rows[:, p] * n + rows[:, q], 1)) < n * (n - 1):
        return None
    for word, row in _words(maps, permuting):
        if [length for length in cycle_lengths(row) if length % 2 == 0] == [2]:
            return word, merging[0]
    return None


BESIDE_ONE_LAYER = FINITE.removeprefix("one layer, ")
"""What H.rank and CK.S5 suppose of every layer."""


@dataclass(frozen=True)
class ReachedBound:
    """A lower bound whose hypotheses a construction meets, and the figure of the construction.

    Attributes:
        figure, at_least, reason, kind, hypotheses: as in `Bound`; the figure may also be `layers`.
        reached: the construction's figure, an integer or a number as text.
        why: one line, the evidence from the automaton.
    """

    figure: str
    at_least: int
    reached: int | str
    reason: str
    kind: str
    hypotheses: str
    why: str

    @property
    def optimal(self) -> bool:
        """Whether the figure is the smallest possible for a linear RNN that meets the hypotheses."""
        return self.reached == self.at_least

    @property
    def text(self) -> str:
        """One readable line."""
        if self.figure == "beta":
            return (
                f"largest β‖v‖² = {self.reached}, and {self.at_least} must be reached ({self.reason}) among RNNs with "
                f"{self.hypotheses}"
            )
        here = "reached: optimal" if self.optimal else f"{self.reached} here"
        return f"{self.figure} ≥ {self.at_least}, {here} ({self.reason}) among RNNs with {self.hypotheses}"

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain values for JSON."""
        return {
            "figure": self.figure,
            "at_least": self.at_least,
            "reached": self.reached,
            "optimal": self.optimal,
            "reason": self.reason,
            "kind": self.kind,
            "hypotheses": self.hypotheses,
            "text": self.text,
            "why": self.why,
        }


def reached_bounds(found: Realisation, lower: Iterable[Bound] | None = None) -> tuple[ReachedBound, ...]:
    """Find the bounds whose hypotheses a construction meets, the strongest for each figure, in the order of `bounds`.

    Bounds in the arithmetic `cast` (G.T1, G.T2) are not among them, because a construction is a statement in exact numbers. If the
    construction has several layers, and fewer factors than one layer needs by H.rank or CK.S5, the bound is on its layers.

    Args:
        found: a realisation.
        lower: the automaton's bounds, where they are known already.
    """
    strongest: dict[tuple[str, str], ReachedBound] = {}
    for bound in bounds(found.automaton) if lower is None else lower:
        here = _of_layers(found, bound) or _find_reached_bound(found, bound)
        if here is None:
            continue
        key = (here.figure, here.hypotheses)
        if key not in strongest or strongest[key].at_least < here.at_least:
            strongest[key] = here
    return tuple(strongest.values())


def find_reached_value(found: Realisation, bound: Bound) -> int | str | None:
    """The construction's figure, where it meets the bound's hypotheses and the figure is a number of it; else None."""
    if bound.figure == "state_size":
        return found.state_size
    if not found.contracts:
        return None
    if bound.figure == "layers":
        one_vector = found.depth > 1 or found.state_size is not None
        return found.depth if one_vector else None
    if bound.figure == "householders":
        return found.householders if found.depth == 1 else None
    if bound.figure == "beta":
        largest = found.largest_beta
        return largest if isinstance(largest, int) else number_text(largest)
    return None


def _find_reached_bound(found: Realisation, bound: Bound) -> ReachedBound | None:
    value = find_reached_value(found, bound)
    if value is None:
        return None
    return ReachedBound(
        bound.figure, bound.at_least, value, bound.reason, bound.kind, bound.hypotheses, bound.why
    )


def _of_layers(found: Realisation, bound: Bound) -> ReachedBound | None:
    """One layer would need `bound.at_least` factors, this has fewer a layer: so it must have two layers."""
    layers, factors = found.depth, found.householders
    if bound.figure != "householders" or layers == 1 or factors is None or not found.contracts:
        return None
    if factors >= bound.at_least:
        return None
    most = f"at most {count_noun(factors, 'factor')} a letter in each head"
    why = f"one layer needs {bound.at_least}: {bound.why}"
    return ReachedBound("layers", 2, layers, bound.reason, bound.kind, f"{most}, {BESIDE_ONE_LAYER}", why)
