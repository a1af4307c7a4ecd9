"""`Proof`: what `prove` has found, and a digest that says which proof it is.

The digest is that of all that decides a model's steps and answers, and of what it is held to: two searches have the same
digest only where model, automaton (with its labels), arithmetic and the meaning of the answers are the same, to the
last bit. So a saved search is gone on with for the model that it was begun for, and a result names what it is about.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from ...constructions._realisation import Realisation
from ...constructions.automata._automaton import Automaton
from ...constructions.automata._labels import label_text, output_texts
from ...foundation._errors import InputError, MirrormataError
from ...foundation._text import count_noun, html_table, one_line
from .._kinds import kind_of
from ._answers import Answers
from ._npz_model import NpzModel

Checked = Literal["certificate", "re-stepped", "replayed"]
CHECKS: dict[Checked | None, str] = {
    "certificate": "its certificate is accepted by the stand-alone checker",
    "re-stepped": "no certificate; every state was stepped once more, on its own",
    "replayed": "the word was run again from the start",
}


@dataclass(frozen=True, eq=False, repr=False)
class Proof:
    """The verdict of `prove` in an arithmetic, and how it was found. True if it is `equivalent`; false also if it is `unknown`.

    Attributes:
        verdict: `equivalent`, `counterexample` or `unknown`.
        automaton: the automaton.
        arithmetic: the arithmetic's name.
        method: `codes`, `regions`, `states`, `table` or `delay`.
        states_explored: the number of pairs (model state, automaton state), of regions, or of joint codes.
        steps: the number of steps (pair, letter) that were followed.
        compares: whether `states` or `outputs` are compared.
        reason: the verdict in one line.
        correct_up_to: the length up to which all words are answered rightly; None for any length.
        word: letter indices of a word after which the answer is wrong, and no earlier one; None if none was found.
        answered: the wrong answer after this word, as text.
        right: the right answer after this word, as text.
        seconds: the time that the search took.
        certify: a function that makes the certificate (of kind `equivalent`, or in exact numbers that of the construction),
            or returns the reason why there is none.
        derive_again: a function that runs the second program and raises an error if its result differs.
        checked: how the verdict was confirmed. `certificate`: the stand-alone checker has
            accepted the certificate. `re-stepped`: another program has derived the verdict again, from the
            states' bits. `replayed`: a wrong word was run from the start. None: nothing is claimed for all
            words.
        identify: a function that returns a digest of everything that determines the verdict, or None if a stepper has none.
        shortest: whether no word shorter than `word` is wrong. False only for a word that was tried beside the search; then
            `correct_up_to` is the length up to which all words are answered rightly.
        resumed: whether the search went on from a file. In that case the verdict `unknown`, and that no word shorter than
            `word` is wrong, rest on what the file says of the pairs that were followed before. `equivalent` rests on no file.
        notes: which arrays of an `.npz` were run, and which were not; empty where that is all that it has.
    """

    verdict: Literal["equivalent", "counterexample", "unknown"]
    automaton: Automaton
    arithmetic: str
    method: str
    states_explored: int
    steps: int
    compares: str
    reason: str
    correct_up_to: int | None = None
    word: tuple[int, ...] | None = None
    answered: str | None = None
    right: str | None = None
    seconds: float = 0.0
    certify: Callable[[], dict[str, Any] | str] | None = field(default=None, repr=False)
    derive_again: Callable[[], None] | None = field(default=None, repr=False)
    checked: Checked | None = None
    identify: Callable[[], str | None] | None = field(default=None, repr=False)
    resumed: bool = False
    shortest: bool = True
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Is it proved that the model is the automaton, on words of every length?"""
        return self.verdict == "equivalent"

    @cached_property
    def _certified(self) -> dict[str, Any] | str:
        if self.verdict == "counterexample":
            return "a wrong word needs none: replay it"
        if self.certify is None:
            return "nothing is proved for all words"
        try:
            return self.certify()
        except InputError as error:  # labels that cannot be written down
            return str(error)

    @property
    def certificate(self) -> dict[str, Any] | None:
        """The certificate, made when it is first used; None if there is none."""
        return self._certified if isinstance(self._certified, dict) else None

    @property
    def uncertified(self) -> str | None:
        """The reason why there is no certificate; None if there is one."""
        return self._certified if isinstance(self._certified, str) else None

    @property
    def _by_file(self) -> str:
        """What is added to a statement that rests on a saved search."""
        return ", as the resume file says" if self.resumed and self.verdict != "equivalent" else ""

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON, labels as text; without the certificate."""
        letters = self.automaton.letters
        return {
            "verdict": self.verdict,
            "arithmetic": self.arithmetic,
            "method": self.method,
            "states_explored": self.states_explored,
            "steps": self.steps,
            "compares": self.compares,
            "word": None if self.word is None else [label_text(letters[x]) for x in self.word],
            "answered": self.answered,
            "right": self.right,
            "shortest": None if self.word is None else self.shortest,
            "correct_up_to": self.correct_up_to,
            "reason": self.reason + self._by_file,
            "checked": self.checked,
            "resumed": self.resumed,
            "notes": list(self.notes),
            "identity": None if self.identify is None else self.identify(),
            "seconds": self.seconds,
        }

    @property
    def headline(self) -> str:
        """The verdict in a sentence."""
        name = self.automaton.name
        arithmetic = "exact numbers" if self.arithmetic == "exact" else self.arithmetic
        if self.verdict == "equivalent":
            return f"The model equals {name} on all words, in {arithmetic}."
        if self.word is not None:
            letters = [label_text(self.automaton.letters[x]) for x in self.word[:12]]
            said = " ".join(letters) + " ..." * (len(self.word) > 12)
            after = (
                f"after the {count_noun(len(self.word), 'letter')} {said}" if said else "before any letter"
            )
            right = f"{self.right} is right" if self.right else "the automaton answers otherwise"
            return f"The model differs from {name}, in {arithmetic}: {after} it says {self.answered or 'nothing'}, and {right}."
        return f"It is not known whether the model equals {name} on all words, in {arithmetic}."

    def rows(self) -> list[tuple[str, str]]:
        """The rows of a readable table, as `(label, text)` pairs."""
        facts = self.to_json()
        rows = [("verdict", f"{self.verdict} in {self.arithmetic}"), ("proved by", self.reason)]
        if self.verdict != "equivalent":
            rows[1] = ("search", self.reason + self._by_file)
        if self.checked is not None:
            rows.append(("checked", CHECKS[self.checked]))
        rows.append(("states explored", f"{self.states_explored:,}"))
        if facts["word"] is not None:
            shown = facts["word"] if len(facts["word"]) <= 40 else [*facts["word"][:40], "..."]
            rows += [
                (
                    "shortest word" if self.shortest else "wrong word",
                    f"{count_noun(len(facts['word']), 'letter')}: " + " ".join(shown),
                ),
                ("the model says", facts["answered"] or "no output"),
                ("the automaton says", facts["right"] or ""),
            ]
        if self.verdict == "unknown":
            searched = f"all words up to length {self.correct_up_to:,} were answered rightly"
            rows.append(("searched", searched + self._by_file))
        return rows + [("note", note) for note in self.notes]

    def __repr__(self) -> str:
        word = "" if self.word is None else f", a word of {count_noun(len(self.word), 'letter')}"
        return one_line(
            self,
            f"{self.verdict} in {self.arithmetic}{word}, {count_noun(self.states_explored, 'state')} explored, {self.automaton.name}",
        )

    def _repr_html_(self) -> str:
        return html_table(f"Proof for {self.automaton.name}", self.rows())


Part = bytes | str | np.ndarray[Any, Any]


def proof_digest(model: Any, automaton: Automaton, arithmetic: str, answers: Answers) -> str | None:
    """SHA-256 in hexadecimal of model, automaton, arithmetic and the meaning of answers.

    A `Stepper` tells its own part: the text `identity`, a digest of its weights and of whatever else decides its steps.
    None for a stepper that has none, and for a construction that cannot be written down as a certificate.
    """
    try:
        own = _model_parts(model)
    except MirrormataError:
        return None
    if own is None:
        return None
    labels = json.dumps(
        [
            [label_text(q) for q in automaton.states],
            [label_text(x) for x in automaton.letters],
            output_texts(automaton, automaton.name),
            automaton.start,
        ]
    )
    outputs = np.array(automaton.outputs.shape)
    held_to: list[Part] = [labels, automaton.transitions, outputs, answers.kind, answers.meaning]
    return digest_of([arithmetic, *held_to, *own])


def digest_of(parts: Iterable[Part]) -> str:
    """SHA-256 of texts, bytes and arrays, each with its type, shape and length, so that no two lists are confused."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            head = f"array {part.dtype.str} {part.shape}"
            content = np.ascontiguousarray(part).tobytes()
        else:
            head = "text" if isinstance(part, str) else "bytes"
            content = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(f"{head} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def _model_parts(model: Any) -> list[Part] | None:
    if isinstance(model, Realisation):
        return [kind_of(model).digest, json.dumps(model.certificate(), sort_keys=True)]
    if isinstance(model, NpzModel):
        arrays: list[Part] = ["npz", model.A, model.B, model.H0, model.codes, model.decode]
        labels = json.dumps([model.letters, model.outputs])
        factors: list[Part] = []
        for key in sorted(model.factors):
            factors += [key, np.asarray(model.factors[key])]
        return [*arrays, labels, *factors]
    own = getattr(model, "identity", None)
    return ["stepper", own] if isinstance(own, str) else None
