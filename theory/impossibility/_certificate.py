"""Certificates of impossibility: a model, in its arithmetic, confuses two words that a language separates.

What the certificate says and how it is made canonical stands in `theory/checker/impossible.py`. This file finds the
words with the orbits of the package's own arithmetic, so that the two hold each other. The language side is the
automaton in numbers, and the first two words that are confused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ...constructions._conversions import AutomatonLike, as_automaton
from ...constructions._document import FORMAT
from ...constructions.automata._automaton import Automaton, breadth_first
from ...constructions.automata._labels import distinct_texts, output_texts
from ...constructions.certificates._parts import number_json
from ...foundation._errors import DisagreementError, InputError, LimitError
from .._verdict import Verdict
from ..arithmetic._arithmetic import Cast, PerStep, fractions, parse_arithmetic
from ..checker import impossible
from ..checker._exact import Invalid
from ..checker._program import parse
from ._cast_model import cast_states
from ._orbits import MAX_STEPS, AffineHead, AffineModel, orbit


class NumberedAutomaton:
    """The automaton with its states in breadth-first order, the start first, and outputs numbered by appearance."""

    def __init__(self, automaton: Automaton) -> None:
        order = breadth_first(automaton.transitions, automaton.start)
        place = {q: at for at, q in enumerate(order)}
        self.automaton = automaton
        self.delta = [[place[int(row[q])] for q in order] for row in automaton.transitions]
        texts = np.array(output_texts(automaton, automaton.name), dtype=object).reshape(
            automaton.outputs.shape
        )
        texts = texts[..., order]
        self.names = list(dict.fromkeys(texts.ravel().tolist()))
        numbers = {text: i for i, text in enumerate(self.names)}
        self.outputs: list[Any] = np.reshape([numbers[t] for t in texts.ravel()], texts.shape).tolist()
        self.mealy = automaton.is_mealy
        states = distinct_texts(automaton.states, "state", automaton.name)
        self.states = [states[q] for q in order]
        self.letters = distinct_texts(automaton.letters, "letter", automaton.name)

    def output(self, letter: int, before: int) -> int:
        """The output after a letter read in a state."""
        return int(self.outputs[letter][before] if self.mealy else self.outputs[self.delta[letter][before]])

    def after(self, q: int, word: Sequence[int]) -> int:
        """The state that a word leads to."""
        for x in word:
            q = self.delta[x][q]
        return q

    def suffix(self, p: int, q: int, empty_allowed: bool) -> list[int] | None:
        """The first word, shorter ones first, after which the outputs differ."""
        if p == q:
            return None
        if empty_allowed and not self.mealy and self.outputs[p] != self.outputs[q]:
            return []
        frontier: list[tuple[int, int, list[int]]] = [(p, q, [])]
        seen = {(p, q)}
        while frontier:
            following = []
            for a, b, word in frontier:
                for x in range(len(self.letters)):
                    if self.output(x, a) != self.output(x, b):
                        return [*word, x]
                    pair = (self.delta[x][a], self.delta[x][b])
                    if pair[0] != pair[1] and pair not in seen:
                        seen.add(pair)
                        following.append((*pair, [*word, x]))
            frontier = following
        return None

    def to_json(self) -> dict[str, Any]:
        """The entry `automaton` of the certificate."""
        n = len(self.states)
        flat = [o for row in self.outputs for o in row] if self.mealy else self.outputs
        return {
            "transitions": self.delta,
            "sources": [[[p for p in range(n) if row[p] == q] for q in range(n)] for row in self.delta],
            "outputs": self.outputs,
            "members": [[at for at, o in enumerate(flat) if o == kind] for kind in range(len(self.names))],
        }


def first_pair(
    machine: NumberedAutomaton, loop: Sequence[int], prefix: Sequence[int], preperiod: int, period: int
) -> tuple[int, int, list[int]] | None:
    """The least j, for it the least i ≥ preperiod with i ≡ j modulo the period, and the first suffix that separates."""
    n = len(machine.states)
    states = [machine.after(0, prefix)]
    for _ in range(preperiod + n * (period + 1)):
        states.append(machine.after(states[-1], loop))
    known: dict[tuple[int, int, bool], list[int] | None] = {}
    for j in range(preperiod + period, len(states)):  # beyond, pairs of states repeat
        for i in range(preperiod + (j - preperiod) % period, j, period):
            key = (states[i], states[j], i > 0 or list(prefix[-1:]) == list(loop[-1:]))
            if key not in known:
                known[key] = machine.suffix(*key)
            z = known[key]
            if z is not None:
                return i, j, z
    return None


CLAIM = "no read-out of the state and the last letter follows the automaton"


def certify_impossibility(
    model: AffineModel,
    automaton: AutomatonLike,
    loop: Sequence[int] = (1,),
    prefix: Sequence[int] = (),
    *,
    max_steps: int = MAX_STEPS,
) -> dict[str, Any] | None:
    """Prove, from its orbit on the words u v^k, that a model does not follow an automaton.

    The result is a certificate; or None if the automaton does not separate the words of this form that lead to equal states. Then other
    words must be tried.

    Args:
        model: the model; its arithmetic is `per_step`.
        automaton: the automaton.
        loop: the word v, as letter indices.
        prefix: the word u, as letter indices.
        max_steps: the largest number of letters.

    Raises:
        LimitError: no state repeats within `max_steps` letters.
    """
    automaton = as_automaton(automaton)
    if not isinstance(model.arithmetic, PerStep) or model.arithmetic.suffix:
        raise InputError(
            f"{model.name}: certificates of impossibility are for per_step, not {model.arithmetic.name}"
        )
    _same_letters(model.letters, automaton)
    found = orbit(model, loop, prefix, max_steps=max_steps)
    machine = NumberedAutomaton(automaton)
    pair = first_pair(machine, loop, prefix, found.preperiod, found.period)
    if pair is None:
        return None
    i, j, z = pair
    written = write_impossible(
        model.heads, model.arithmetic.name, model.name, machine, loop, prefix, (i, j, z)
    )
    return _accept_document(written)


def certify_cast_impossibility(
    heads: Sequence[AffineHead],
    arithmetic: Cast,
    automaton: AutomatonLike,
    letter: int = 1,
    *,
    name: str = "model",
    max_length: int = 1000,
) -> dict[str, Any] | None:
    """Prove impossibility in the arithmetic `cast`, on the powers of one letter; None if no two words are confused.

    Args:
        heads: the model's heads.
        arithmetic: the arithmetic `cast`.
        automaton: the automaton.
        letter: index of the letter.
        name: the model's name in the certificate.
        max_length: the largest power that is tried.
    """
    automaton = as_automaton(automaton)
    _same_letters(len(heads[0].A), automaton)
    machine = NumberedAutomaton(automaton)
    outputs, q = [-1], 0
    for _ in range(max_length):
        outputs.append(machine.output(letter, q))
        q = machine.delta[letter][q]
    seen: dict[tuple[bytes, ...], list[int]] = {}
    columns = [
        cast_states(
            fractions(h.A)[letter],
            np.zeros_like(fractions(h.start)) if h.B is None else fractions(h.B)[letter],
            fractions(h.start),
            arithmetic,
        )
        for h in heads
    ]
    for j in range(max_length + 1):
        key = tuple((next(column) + 0.0).tobytes() for column in columns)
        if j:
            for i in seen.setdefault(key, []):
                if outputs[i] != outputs[j]:
                    words: tuple[int, int, list[int]] = (i, j, [])
                    written = write_impossible(heads, arithmetic.name, name, machine, [letter], [], words)
                    return _accept_document(written)
            seen[key].append(j)
    return None


def positive_delta_layer() -> AffineModel:
    """Make a DeltaNet layer in bf16 for the two letters of parity, with eigenvalues in [0, 1] (β‖k‖² ≤ 1 as stored).

    Letter 0 has β = 0; letter 1 has k = (77/128, 3/4), β = 31/32, v = 5; A = I - β k kᵀ and B = β k v, exact, H_0 = 0.
    """
    key = [Fraction(77, 128), Fraction(3, 4)]
    beta, value = Fraction(31, 32), 5
    identity = [[Fraction(int(i == j)) for j in range(2)] for i in range(2)]
    one = [[identity[i][j] - beta * key[i] * key[j] for j in range(2)] for i in range(2)]
    A = np.array([identity, one], dtype=object)
    B = np.array([[[Fraction(0)]] * 2, [[beta * k * value] for k in key]], dtype=object)
    head = AffineHead(A, B, np.zeros((2, 1)))
    return AffineModel([head], "per_step:bf16", "DeltaNet[0,1], one head, key dimension 2")


def certify_parity_impossibility() -> dict[str, Any]:
    """Prove that a DeltaNet layer with eigenvalues in [0, 1] does not follow parity in bf16; return the certificate.

    Its states on 1^k settle (PT.R1), so 1^i and 1^(i+1) reach the same state, bit for bit.
    """
    document = certify_impossibility(positive_delta_layer(), "parity")
    if document is None:
        raise AssertionError("the layer's states on 1^k do not settle")
    return document


def impossibility_verdict(
    model: AffineModel, automaton: AutomatonLike, loop: Sequence[int] = (1,)
) -> Verdict:
    """Whether the model follows the automaton, by the certificate of its orbit on v^k: refuted, or unknown."""
    automaton = as_automaton(automaton)
    document = certify_impossibility(model, automaton, loop)
    claim = f"{model.name} follows {automaton.name}"
    name = model.arithmetic.name
    if document is None:
        return Verdict(claim, "unknown", {"searched": "the orbit on v^k", "loop": list(loop)}, name)
    return Verdict(claim, "refuted", {"witness": document["words"], "certificate": document}, name)


def write_impossible(
    heads: Sequence[AffineHead],
    arithmetic: str,
    name: str,
    machine: NumberedAutomaton,
    loop: Sequence[int],
    prefix: Sequence[int],
    found: tuple[int, int, list[int]],
) -> dict[str, Any]:
    """The certificate that says so, which no checker has seen yet: u v^i z and u v^j z are confused, `found` is (i, j, z)."""
    i, j, z = found
    loop, prefix = [int(x) for x in loop], [int(x) for x in prefix]
    used = sorted({*prefix, *loop})
    word = [used.index(x) for x in prefix + j * loop]
    model = parse_arithmetic(arithmetic)
    replay = _cast_replay if isinstance(model, Cast) else _replay
    replayed = [replay(head, used, word, model.round) for head in heads]  # type: ignore[union-attr]
    return {
        "format": FORMAT,
        "kind": "impossible",
        "labels": {
            "automaton": machine.automaton.name,
            "model": name,
            "states": machine.states,
            "letters": machine.letters,
            "outputs": machine.names,
        },
        "arithmetic": arithmetic,
        "automaton": machine.to_json(),
        "heads": [head for head, _ in replayed],
        "words": {"prefix": prefix, "loop": loop, "i": i, "j": j, "suffix": z},
        "evidence": [evidence for _, evidence in replayed],
    }


def _accept_document(document: dict[str, Any]) -> dict[str, Any]:
    """The certificate, once the stand-alone checker has accepted it."""
    name = document["labels"]["model"]
    try:
        read = parse(json.dumps(document))
    except ValueError:  # more digits than Python writes
        raise LimitError(
            f"{name}: its numbers are too long for a certificate: look for a shorter loop"
        ) from None
    try:
        impossible.check(read)
    except Invalid as reason:
        if str(reason).startswith("words: the replay takes more than"):
            raise LimitError(f"{name}: the checker does not follow so long words ({reason})") from None
        raise DisagreementError(
            f"{name}: the checker refuses the certificate that was found ({reason})"
        ) from None
    return document


Round = Callable[[Any], Any]


class _Record:
    """What a head's replay leaves behind: sums, and the columns of each letter's matrix that met something."""

    def __init__(self, head: AffineHead, used: list[int]) -> None:
        self.start = fractions(head.start)
        self.A = fractions(head.A)[used]
        self.B = None if head.B is None else fractions(head.B)[used]
        self.acted = np.zeros(self.A.shape[:1] + self.A.shape[2:], dtype=bool)
        self.total, self.sums, self.squares = (np.zeros_like(self.start) for _ in range(3))

    def product(self, state: Any, letter: int) -> Any:
        self.total = self.total + state
        self.acted[letter] |= (state != 0).any(axis=1)
        return self.A[letter] @ state

    def watch(self, unrounded: Any) -> Any:
        self.sums, self.squares = self.sums + unrounded, self.squares + unrounded * unrounded
        return unrounded

    def to_json(self, state: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        weights = [
            [_sparse(np.where(acted, A, 0)), [] if self.B is None else _sparse(self.B[x])]
            for x, (A, acted) in enumerate(zip(self.A, self.acted, strict=True))
        ]
        evidence = {"state": state, "total": self.total, "sums": self.sums, "squares": self.squares}
        return {"start": _sparse(self.start), "weights": weights}, {
            k: _sparse(v) for k, v in evidence.items()
        }


def _replay(
    head: AffineHead, used: list[int], word: list[int], q: Round
) -> tuple[dict[str, Any], dict[str, Any]]:
    record = _Record(head, used)
    state = record.start
    for x in word:
        moved = record.product(state, x)
        state = fractions(q(record.watch(moved if record.B is None else moved + record.B[x])))
    return record.to_json(state)


def _cast_replay(
    head: AffineHead, used: list[int], word: list[int], q: Round
) -> tuple[dict[str, Any], dict[str, Any]]:
    record = _Record(head, used)
    first = record.start
    added = np.zeros_like(first) if record.B is None else record.B[0]
    record.watch(added)
    total, state = np.zeros_like(first), fractions(q(first))
    for k in range(len(word)):
        if k:
            added = record.watch(record.product(added, 0))
        total = total + fractions(q(added))
        first = record.watch(record.product(first, 0))
        state = fractions(q(total + fractions(q(first))))
    return record.to_json(state)


def _sparse(matrix: Any) -> list[list[Any]]:
    return [[i, j, number_json(Fraction(x))] for i, row in enumerate(matrix) for j, x in enumerate(row) if x]


def _same_letters(letters: int, automaton: Automaton) -> None:
    if letters != len(automaton.letters):
        raise InputError(
            f"{automaton.name}: it has {len(automaton.letters)} letters and the model {letters}: they must agree"
        )
