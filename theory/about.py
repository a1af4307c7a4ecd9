"""Which automaton a certificate is about: held against a given one, state by state as words reach them.

A certificate has an automaton in it, and what its checker proves is about that one. Two automata are the same here if
their reachable states correspond one to one, start to start, such that letters of the same text lead to corresponding
states and outputs have the same text. The names of states are texts for people and need not agree. A certificate of kind
`bound` has neither start nor outputs: its states are matched by their names, and all of them count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..constructions.automaton import Automaton
from ..constructions.formats.label_text import distinct_texts, label_text, output_texts

MAX_PAIRS = 1_000_000
"""Pairs of states followed in search of a word that two different automata answer differently."""

Word = tuple[str, ...]


@dataclass(frozen=True)
class Difference:
    """Why a certificate is about another automaton.

    `text`: one line; `word`: the letters of a shortest word that tells the two apart, None where no word does.
    """

    text: str
    word: Word | None = None


@dataclass(frozen=True)
class _Table:
    """Letters and outputs as texts; `delta[letter][state]`; `outputs` by state, or by letter and state."""

    name: str
    letters: list[str]
    delta: list[list[int]]
    start: int
    outputs: list[Any]

    @property
    def is_mealy(self) -> bool:
        return bool(self.outputs) and isinstance(self.outputs[0], list)

    def output(self, x: int, before: int) -> str:
        """The output on a letter in a state: for a Moore machine that of the state after it."""
        after = self.delta[x][before]
        return str(self.outputs[x][before] if self.is_mealy else self.outputs[after])


def difference(document: Mapping[str, Any], automaton: Automaton) -> Difference | None:
    """None where a valid certificate is about the automaton; else how they differ.

    `InputError` where two letters or two outputs of the automaton have the same text, or for a bound two of its states.
    """
    theirs = distinct_texts(automaton.letters, "letter", automaton.name)
    mine: list[str] = document["labels"]["letters"]
    if sorted(mine) != sorted(theirs):
        return Difference(f"its letters are {_listed(mine)}, those of {automaton.name} are {_listed(theirs)}")
    if document["kind"] == "bound":
        return _bound_difference(document, automaton)
    said = document["automaton"]
    names = document["labels"]["outputs"]
    outputs = [[names[o] for o in row] if isinstance(row, list) else names[row] for row in said["outputs"]]
    certified = _Table(
        "the certificate's automaton", mine, said["transitions"], said.get("start", 0), outputs
    )
    order = [theirs.index(text) for text in mine]
    texts = output_texts(automaton, automaton.name)
    n = len(automaton.states)
    given: list[Any] = [texts[x * n : (x + 1) * n] for x in order] if automaton.is_mealy else texts
    wanted = _Table(automaton.name, mine, automaton.transitions[order].tolist(), automaton.start, given)
    return _compared(certified, wanted)


def _compared(first: _Table, second: _Table) -> Difference | None:
    """By breadth over pairs of states: the first word with different outputs, else two words that meet in one alone."""
    both_moore = not (first.is_mealy or second.is_mealy)
    p, q = first.start, second.start
    if both_moore and first.outputs[p] != second.outputs[q]:
        return _answers((), first, first.outputs[p], second, second.outputs[q])
    pairs: list[tuple[int, int, tuple[Any, ...] | None]] = [(p, q, None)]
    seen = {(p, q)}
    there: dict[int, tuple[int, Any]] = {p: (q, None)}
    back: dict[int, tuple[int, Any]] = {q: (p, None)}
    met: Difference | None = None
    for p, q, path in pairs:
        for x in range(len(first.letters)):
            a, b = first.delta[x][p], second.delta[x][q]
            here = (x, path)
            one, other = first.output(x, p), second.output(x, q)
            if one != other:
                return _answers(_spelt(here, first.letters), first, one, second, other)
            if (a, b) in seen or len(pairs) >= MAX_PAIRS:
                continue
            for table, others, known in (
                (first, second, there.setdefault(a, (b, here))),
                (second, first, back.setdefault(b, (a, here))),
            ):
                if met is None and known[0] != (b if table is first else a):
                    words = _spelt(known[1], first.letters), _spelt(here, first.letters)
                    met = Difference(
                        f"{said(words[0])} and {said(words[1])} lead to one state of {table.name}, and to two of "
                        f"{others.name}",
                        words[1],
                    )
            seen.add((a, b))
            pairs.append((a, b, here))
    if met is None and first.is_mealy != second.is_mealy:
        has = ["gives outputs on letters" if t.is_mealy else "has outputs of states" for t in (first, second)]
        return Difference(f"{first.name} {has[0]}, {second.name} {has[1]}")
    return met


def _answers(word: Word, first: _Table, one: str, second: _Table, other: str) -> Difference:
    return Difference(f"after {said(word)} {first.name} answers {one!r}, {second.name} {other!r}", word)


def _bound_difference(document: Mapping[str, Any], automaton: Automaton) -> Difference | None:
    """Of tables without start and outputs, states matched by their names."""
    if not automaton.keeps_points:
        automaton = automaton.trimmed()
    mine, theirs = document["labels"]["states"], distinct_texts(automaton.states, "state", automaton.name)
    if sorted(mine) != sorted(theirs):
        return Difference(f"its states are {_listed(mine)}, those of {automaton.name} are {_listed(theirs)}")
    letters = [label_text(x) for x in automaton.letters]
    place = {text: i for i, text in enumerate(theirs)}
    for x, row in zip(document["labels"]["letters"], document["automaton"]["transitions"], strict=True):
        given = automaton.transitions[letters.index(x)]
        for q, after in enumerate(row):
            other = theirs[int(given[place[mine[q]]])]
            if mine[after] != other:
                return Difference(
                    f"letter {x!r} takes state {mine[q]!r} to {mine[after]!r}, and in {automaton.name} to {other!r}",
                    (x,),
                )
    return None


def said(word: Word) -> str:
    """A word in a sentence."""
    if not word:
        return "the empty word"
    text = " ".join(word[:40]) + " ..." * (len(word) > 40)
    return f"the word {text!r}" if len(word) > 1 else f"the letter {text!r}"


def _spelt(path: tuple[Any, ...] | None, letters: list[str]) -> Word:
    word = []
    while path is not None:
        word.append(letters[path[0]])
        path = path[1]
    return tuple(word[::-1])


def _listed(texts: list[str]) -> str:
    return ", ".join(texts[:8]) + ", ..." * (len(texts) > 8)
