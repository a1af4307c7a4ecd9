"""Is this another kind of machine? Labels of probabilities, stacks, tapes, guards, formulas and infinite words.

A file of such a machine often reads well as an automaton whose letters are the labels, and then every answer about it is
wrong. So each reader of labelled graphs looks here last, and refuses by name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_PROBABILITY = r"(?:0?\.[0-9]+|[01](?:\.[0-9]*)?|[0-9](?:\.[0-9]+)?[eE]-[0-9]+)"
_WITH_PROBABILITY = re.compile(rf".*\S\s*[:,;]\s*{_PROBABILITY}\s*", re.DOTALL)
_PROBABILITY_ALONE = re.compile(rf"\s*{_PROBABILITY}\s*")
_ARROW = re.compile(r"(?:.*[,;/].*(?:→|⟶|↦|->).*|.+(?:→|⟶|↦|->).+[,;/].*)", re.DOTALL)
_TAPE = re.compile(r"[^;,]+;[^;,]+[;,]\s*[LRSN]\s*", re.DOTALL)
_STACK = re.compile(r"[^;,]+[,;][^;,]+;[^;,]+", re.DOTALL)
_NAME = r"[A-Za-z_][A-Za-z_0-9]*"
_FORMULA = re.compile(
    rf"(?:.*(?:[!~]\s*{_NAME}|[¬]\s*\w|(?:\w|\))\s*(?:&&?|∧|∨|\|\|)\s*[!~¬(]*\s*\w).*|\(\s*{_NAME}\s*\|.*)",
    re.DOTALL,
)
_GUARD = re.compile(rf"(?:.*\b{_NAME}\s*(?:<=?|>=?|==|!=|≤|≥)\s*-?[0-9].*|.*\b{_NAME}\s*:=.*)", re.DOTALL)
_MARKS = re.compile(r"\{[0-9]+(?:,[0-9]+)*\}|[⓿❶-❿⓪①-⑳]+")
_OMEGA = re.compile(
    r"B(?:ü|u|ue|&uuml;)chi|\b(?:Inf|Fin)\(|parity (?:min|max)|Streett|Rabin|Muller", re.IGNORECASE
)


class OtherMachine(NamedTuple):
    """The place of a label among those that were given, and what it shows: `probabilities: a Markov chain`."""

    at: int
    what: str


def find_other_machine(labels: Sequence[str], graph_label: str = "") -> OtherMachine | None:
    """What the labels of transitions show, if it is not a finite automaton on finite words; None if it may be one.

    Args:
        labels: the texts of the labels, one for each transition; the lines of a label stand apart.
        graph_label: the label of the whole graph, where tools write the acceptance condition.
    """
    for i, label in enumerate(labels):
        if _MARKS.fullmatch(label.strip()) and len(labels) > 1:
            return OtherMachine(i, "is a mark of acceptance: an omega-automaton, on infinite words")
    if labels and _OMEGA.search(graph_label):
        return OtherMachine(0, "belongs to an omega-automaton, on infinite words, as the graph's label says")
    # outputs of protocol models are texts such as "ServerHello & Certificate"
    read = [label.partition("/")[0] for label in labels] if all("/" in label for label in labels) else labels
    for i, label in enumerate(labels):
        if _ARROW.fullmatch(label):
            return OtherMachine(i, "moves a stack or a tape: a pushdown automaton or a Turing machine")
        if _FORMULA.fullmatch(read[i]):
            return OtherMachine(
                i, "is a formula over propositions, not a letter: write one transition a letter"
            )
        if _GUARD.fullmatch(read[i]):
            return OtherMachine(i, "is a guard or an assignment of a variable: a timed or extended automaton")
    if labels and all(map(_TAPE.fullmatch, labels)):
        return OtherMachine(0, "writes a tape: a Turing machine")
    if labels and all(map(_STACK.fullmatch, labels)):
        return OtherMachine(0, "moves a stack: a pushdown automaton")
    for pattern, what in (
        (
            _WITH_PROBABILITY,
            "has a probability or a weight: a Markov decision process or another stochastic machine",
        ),
        (_PROBABILITY_ALONE, "is a probability: a Markov chain"),
    ):
        if (
            labels
            and all(map(pattern.fullmatch, labels))
            and any("." in x or "e-" in x.lower() for x in labels)
        ):
            return OtherMachine(0, what)
    return None
