"""Checks a certificate of kind `impossible`: a model, in a named arithmetic, confuses two words that a language separates.

Standard library only; run it as `python3 -I impossible.py CERTIFICATE`. The words are u v^i z and u v^j z, i < j. What
it proves: no read-out of the model's state and the last letter, in that arithmetic, follows the automaton's outputs.

`per_step:VALUES[:MODE][:sat]`: heads run H ← Q(A(x) H + B(x)), the sum exact, each entry rounded once. The checker replays
u v^j. The states after u v^i and u v^j are equal, so they are equal after any suffix too; the automaton's
outputs after z differ. The pair is the first one, the least j and for it the least i, and z the first suffix
that separates, shorter ones first. It is not empty where the two words end with different letters, and for outputs on
letters.

`cast:VALUES` (arXiv 2411.12537): u is empty, v one letter, H_k = cast(Σ_{m<k} cast(A^m B) + cast(A^k H_0)), to the
nearest value, ties toward -∞, saturating; here a state does not determine the next one, so z is empty and i ≥ 1.

State 0 is the automaton's start. Entries left out of a matrix are zero or meet only zeros; no others are written. The
evidence pins every number that is: the state reached, the sum of all states, and the sums and the sums of squares
of what was rounded.
"""

from __future__ import annotations

import os
import sys
from fractions import Fraction
from typing import Any, TypeAlias

if not __package__:  # run alone: the files beside this one are found as the package `checker`
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    __package__ = "checker"

from ._arithmetic import Arithmetic, Round, rounding
from ._exact import Field, array, integer, need, number, record, same, show_value
from ._impossible_words import Language, State, first_cast_pair, first_pair
from ._labels import count_noun, read_labels, require_kind
from ._program import run_alone

Rows: TypeAlias = list[tuple[int, int, Fraction]]

MAX_STEPS = 1_000_000
MAX_WORK = (
    100_000_000  # products of numbers of 640 bits or less; larger ones count by the square of their length
)
MAX_KEPT = 8_000_000_000  # bits of the states that are kept, about a gigabyte
OBJECT = 2_000  # bits that a state takes beside its numbers, and a number beside its digits


class Replay:
    """Counts the work on states as it is done, by the size of their numbers, and the bits of those that are kept."""

    def __init__(self) -> None:
        self.work = self.kept = 0

    def spend(self, state: State) -> None:
        """A number of each entry is computed."""
        self.work += sum([1 + (size(x) // 640) ** 2 for x in state.values()])
        need(self.work <= MAX_WORK, f"words: the replay takes more than {MAX_WORK:,} products")

    def keep(self, joint: list[State]) -> list[State]:
        """The states of all heads after a word, which stay in memory."""
        self.kept += OBJECT * (len(joint) + 1) + sum(
            OBJECT + size(x) for state in joint for x in state.values()
        )
        need(self.kept <= MAX_KEPT, f"words: the states of the replay have more than {MAX_KEPT:,} bits")
        return joint


class Head:
    """Start, and for each letter in use the matrix and the additive term."""

    def __init__(self, data: Any, kinds: int, where: str, replay: Replay) -> None:
        self.replay = replay
        record(data, {"start", "weights"}, where)
        self.where, self.kinds = where, kinds
        self.start = {(i, j): x for i, j, x in entries(data["start"], f"{where}.start")}
        self.A: list[Rows] = []
        self.B: list[Rows] = []
        for x, pair in enumerate(array(data["weights"], f"{where}.weights", kinds)):
            A, B = array(pair, f"{where}.weights[{x}]", 2)
            self.A.append(entries(A, f"{where}.weights[{x}]"))
            self.B.append(entries(B, f"{where}.weights[{x}]"))
        # which columns of A(x) have met a number, and sums over all steps for the evidence
        self.acting: list[set[int]] = [set() for _ in range(kinds)]
        self.total: State = {}
        self.sums: State = {}
        self.squares: State = {}

    def product(self, state: State, letter: int) -> State:
        """A(letter) state, without zeros; remembers which columns acted, and the state's sum."""
        self.replay.spend(state)
        rows: dict[int, list[tuple[int, Fraction]]] = {}
        for (i, j), x in state.items():
            rows.setdefault(i, []).append((j, x))
            self.total[i, j] = self.total.get((i, j), Fraction(0)) + x
        self.acting[letter].update(rows)
        result: State = {}
        for i, k, a in self.A[letter]:
            for j, x in rows.get(k, ()):
                result[i, j] = result.get((i, j), Fraction(0)) + a * x
        return result

    def watch(self, unrounded: State) -> State:
        """The same, remembered in the sums."""
        self.replay.spend(unrounded)
        for at, x in unrounded.items():
            self.sums[at] = self.sums.get(at, Fraction(0)) + x
            self.squares[at] = self.squares.get(at, Fraction(0)) + x * x
        self.replay.spend({at: self.squares[at] for at in unrounded})
        return unrounded

    def step(self, state: State, letter: int, q: Round) -> State:
        """Q(A state + B)."""
        unrounded = self.product(state, letter)
        for i, j, b in self.B[letter]:
            unrounded[i, j] = unrounded.get((i, j), Fraction(0)) + b
        return round_state(self.watch(unrounded), q)

    def check(self, state: State, said: Any, where: str) -> None:
        """No idle entry, and the evidence is what was computed."""
        # a column that only meets zeros has no influence on the words, so its entries could be anything
        for x, A in enumerate(self.A):
            for _, k, _ in A:
                need(
                    k in self.acting[x],
                    f"{self.where}.weights[{x}]: column {k} meets only zeros: leave it out",
                )
        record(said, {"state", "total", "sums", "squares"}, where)
        computed = {"state": state, "total": self.total, "sums": self.sums, "squares": self.squares}
        for key, value in computed.items():
            given = {(i, j): x for i, j, x in entries(said[key], f"{where}.{key}")}
            need(
                given == {at: x for at, x in value.items() if x}, f"{where}.{key}: not what the replay gives"
            )


def round_state(unrounded: State, q: Round) -> State:
    """Each entry rounded, zeros left out."""
    pairs = ((at, q(x)) for at, x in unrounded.items())
    return {at: x for at, x in pairs if x}


def entries(data: Any, where: str) -> Rows:
    """A sparse matrix [[row, column, value], ...] in order, without zeros."""
    result: Rows = []
    for entry in array(data, where):
        i, j, x = array(entry, where, 3)
        integer(i, 0, 2**31, where), integer(j, 0, 2**31, where)
        result.append((i, j, Fraction(number(x, Field(1), where))))  # type: ignore[arg-type]
        need(result[-1][2] != 0, f"{where}: a zero entry is written out")
        need(len(result) < 2 or result[-2][:2] < result[-1][:2], f"{where}: entries out of order")
    return result


def check(document: Any) -> str:
    """A line of facts if the certificate is right; else `Invalid` with the reason."""
    require_kind(document, "impossible")
    keys = {"format", "kind", "labels", "arithmetic", "automaton", "heads", "words", "evidence"}
    record(document, keys, "certificate")
    need(document["format"] == "mirrormata-certificate/1", "unknown format")
    labels = read_labels(document["labels"], {"automaton", "model"}, {"states", "letters", "outputs"})
    language = Language(document["automaton"], labels)
    words = record(document["words"], {"prefix", "loop", "i", "j", "suffix"}, "words")
    k = len(language.delta)
    prefix, loop = (
        [integer(x, 0, k - 1, f"words.{w}") for x in array(words[w], f"words.{w}")]
        for w in ("prefix", "loop")
    )
    need(loop, "words.loop: empty")
    j = integer(words["j"], 1, MAX_STEPS, "words.j")
    i = integer(words["i"], 0, j - 1, "words.i")
    need(len(prefix) + j * len(loop) <= MAX_STEPS, f"words: more than {MAX_STEPS:,} letters")
    # weights are given for the letters that occur, in their order
    used = sorted({*prefix, *loop})
    place = {x: at for at, x in enumerate(used)}
    raw = array(document["heads"], "heads")
    replay = Replay()
    heads = [Head(h, len(used), f"heads[{at}]", replay) for at, h in enumerate(raw)]
    need(heads, "heads: empty")
    count_work(heads, len(prefix) + j * len(loop), document["arithmetic"])

    text = document["arithmetic"]
    need(type(text) is str, "arithmetic: not a string")
    model, _, values = text.partition(":")
    if model == "per_step":
        states = step_to_copies(
            heads, [place[x] for x in prefix], [place[x] for x in loop], j, Arithmetic(text).round
        )
        found = first_pair(language, prefix, loop, states)
    else:
        need(model == "cast", "arithmetic: it is per_step:VALUES[:MODE][:sat] or cast:VALUES")
        need(not prefix and len(loop) == 1, "words: cast is for the powers of one letter")
        states = powers(heads, j, rounding(values, "tie_low", True))
        found = first_cast_pair(language, loop, states)
    need(found is not None, "words: no two of the states are equal and separated by the language")
    assert found is not None
    for name, value in zip(("i", "j", "suffix"), found, strict=True):
        need(same(words[name], value), f"words.{name}: it is {show_value(value)}")
    evidence = array(document["evidence"], "evidence", len(heads))
    for at, (head, state) in enumerate(zip(heads, states[j], strict=True)):
        head.check(state, evidence[at], f"evidence[{at}]")
    return f"u v^{i} and u v^{j} reach the same state in {text}, {count_noun(len(found[2]), 'letter')} later the outputs differ"


def count_work(heads: list[Head], steps: int, arithmetic: Any) -> None:
    """No more products than can be computed in minutes; in the model `cast` numbers grow with each of them."""
    cast = type(arithmetic) is str and arithmetic.startswith("cast:")
    work = 0
    for head in heads:
        numbers = [x for part in (*head.A, *head.B) for _, _, x in part] + list(head.start.values())
        bits = max([size(x) for x in numbers], default=1)
        columns = {j for part in head.B for _, j, _ in part} | {j for _, j in head.start}
        products = max([len(A) for A in head.A]) * max(len(columns), 1) + len(numbers)
        # in `cast` A^m has about m times the bits of A, and Σ m² over the steps is a third of steps³
        square = bits**2 * (steps**2 if cast else 1)
        work += steps * products * (1 + square // (3 if cast else 1) // 640**2)
    need(work <= MAX_WORK, f"words: the replay takes more than {MAX_WORK:,} products")


def size(x: Fraction) -> int:
    """The bits of numerator and denominator."""
    return x.numerator.bit_length() + x.denominator.bit_length()


def step_to_copies(
    heads: list[Head], prefix: list[int], loop: list[int], j: int, q: Round
) -> list[list[State]]:
    """The joint states after u v^0, ..., u v^j."""
    for head in heads:
        need(round_state(head.start, q) == head.start, f"{head.where}.start: not values of the arithmetic")
    now = [head.start for head in heads]
    for x in prefix:
        # from here on the states after u v^0, u v^1, ...
        now = [head.step(state, x, q) for head, state in zip(heads, now, strict=True)]
    keep = heads[0].replay.keep
    states = [keep(now)]
    for _ in range(j):
        for x in loop:
            now = [head.step(state, x, q) for head, state in zip(heads, now, strict=True)]
        states.append(keep(now))
    return states


def powers(heads: list[Head], j: int, q: Round) -> list[list[State]]:
    """H_0, ..., H_j in the model `cast`, on the powers of one letter."""
    columns = []
    for head in heads:
        first, added = head.start, {(r, c): x for r, c, x in head.B[0]}
        # at the head of the loop: added = A^k B before it is rounded, first = A^k H_0
        head.watch(added)
        total: State = {}
        column = [round_state(first, q)]
        for k in range(j):
            if k:
                added = head.watch(head.product(added, 0))
            # total = Σ_{m ≤ k} cast(A^m B), each term cast before it is added
            for at, x in round_state(added, q).items():
                total[at] = total.get(at, Fraction(0)) + x
            first = head.watch(head.product(first, 0))
            # H_{k+1} = cast(total + cast(A^{k+1} H_0))
            whole = dict(total)
            for at, x in round_state(first, q).items():
                whole[at] = whole.get(at, Fraction(0)) + x
            column.append(round_state(whole, q))
            head.replay.keep([column[-1]])
        columns.append(column)
    return [list(joint) for joint in zip(*columns, strict=True)]


if __name__ == "__main__":
    raise SystemExit(run_alone(check, sys.argv[1:]))
