"""`check`: the stand-alone checker of a certificate's kind, called on a file, a document or a construction.

Which automaton a certificate is about: compared with a given one, state by state as words reach them.

A certificate has an automaton in it, and what its checker proves is about that one. Two automata are the same here if
their reachable states correspond one to one, start to start, such that letters of the same text lead to corresponding
states and outputs have the same text. The names of states are texts for people and need not agree. A certificate of kind
`bound` has neither start nor outputs: its states are matched by their names, and all of them count.

What the stand-alone checker accepts of a construction: its certificate, and its horizons.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

from ..constructions._conversions import AutomatonLike, as_automaton
from ..constructions._document import write_certificate
from ..constructions._lrnn import LRNN
from ..constructions._realisation import Realisation, all_kinds
from ..constructions.automata._automaton import Automaton
from ..constructions.automata._labels import distinct_texts, label_text, output_texts
from ..foundation._arguments import require_path
from ..foundation._errors import DisagreementError, InputError
from ..foundation._files import is_file, path_of, shown_path, system_errors
from ..foundation._registry import entry_names
from ..foundation._text import html_table, print_name
from . import checker
from ._horizon import full_certificate
from ._proved_check import describe_program, run_proved_checker
from .checker._exact import Invalid, show_value
from .checker._program import load, parse

MAX_PAIRS = 1_000_000
"""Pairs of states followed in search of a word that two different automata answer differently."""

Word = tuple[str, ...]


@dataclass(frozen=True)
class Difference:
    """The difference between the automaton of a certificate and another one.

    Attributes:
        text: a one-line description.
        word: the letters of a shortest word that tells the two apart, None if no word does.
        same_answers: whether all words are known to be answered alike, so that the two differ in their states alone.
    """

    text: str
    word: Word | None = None
    same_answers: bool = False


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
        return Difference(
            f"its letters are {_join_texts(mine)}, those of {automaton.name} are {_join_texts(theirs)}"
        )
    if document["kind"] == "bound":
        return _compare_bound(document, automaton)
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
    found = _compare_automata(certified, wanted)
    # the words lead to one state and to two, and the certificate has what `prove` compares by its outputs
    if (
        found is None
        or not found.same_answers
        or not _is_compared_by_outputs(document, certified, wanted, automaton)
    ):
        return found
    return replace(
        found,
        text=f"{found.text}; no word is answered differently: mirrormata prove, with this certificate and {automaton.name}, compares "
        "answers alone (with `arithmetic` exact, without rounding)",
    )


def _is_compared_by_outputs(
    document: Mapping[str, Any], certified: _Table, wanted: _Table, automaton: Automaton
) -> bool:
    """Whether `prove` takes what the certificate constructs and holds it against the automaton's outputs, not its states."""
    kind = document["kind"]
    constructs = any(kind == record.kind or kind in record.reads for record in all_kinds().values())
    if (
        not constructs
        or certified.is_mealy
        or wanted.is_mealy
        or document["labels"]["letters"] != [label_text(x) for x in automaton.letters]
    ):
        return False
    states = set(document["labels"]["states"])
    return states not in (
        {label_text(q) for q in automaton.states},
        {label_text(q) for q in automaton.trim().states},
    )


def _compare_automata(first: _Table, second: _Table) -> Difference | None:
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
            for machine, others, known in (
                (first, second, there.setdefault(a, (b, here))),
                (second, first, back.setdefault(b, (a, here))),
            ):
                if met is None and known[0] != (b if machine is first else a):
                    words = _spelt(known[1], first.letters), _spelt(here, first.letters)
                    met = Difference(
                        f"{quote_word(words[0])} and {quote_word(words[1])} lead to one state of {machine.name}, and to two of "
                        f"{others.name}",
                        words[1],
                    )
            seen.add((a, b))
            pairs.append((a, b, here))
    if met is not None and len(pairs) < MAX_PAIRS:
        met = replace(met, same_answers=True)
    if met is None and first.is_mealy != second.is_mealy:
        has = ["gives outputs on letters" if t.is_mealy else "has outputs of states" for t in (first, second)]
        return Difference(f"{first.name} {has[0]}, {second.name} {has[1]}")
    return met


def _answers(word: Word, first: _Table, one: str, second: _Table, other: str) -> Difference:
    return Difference(f"after {quote_word(word)} {first.name} answers {one!r}, {second.name} {other!r}", word)


def _compare_bound(document: Mapping[str, Any], automaton: Automaton) -> Difference | None:
    """Of tables without start and outputs, states matched by their names."""
    if not automaton.keeps_points:
        automaton = automaton.trim()
    mine, theirs = document["labels"]["states"], distinct_texts(automaton.states, "state", automaton.name)
    if sorted(mine) != sorted(theirs):
        return Difference(
            f"its states are {_join_texts(mine)}, those of {automaton.name} are {_join_texts(theirs)}"
        )
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


def quote_word(word: Word) -> str:
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


def _join_texts(texts: list[str]) -> str:
    return ", ".join(texts[:8]) + ", ..." * (len(texts) > 8)


@cache
def all_checkers() -> dict[str, Callable[[Any], str]]:
    """The checkers by the kinds of their certificates: the files of `checker/` without an underscore."""
    return {kind: import_module(f"{checker.__name__}.{kind}").check for kind in entry_names(checker.__name__)}


@dataclass(frozen=True)
class CheckResult:
    """The outcome of `check`; true where the verdict is `valid`, so that `assert check(certificate)` means what it says.

    Attributes:
        verdict: `valid`; `invalid`; or, where an automaton was given, `other`: the certificate is valid, but
            about another automaton.
        kind: the certificate's kind.
        reason: what the certificate proves, or what is wrong with it.
        automaton: the name of the automaton that was given.
        word: if the verdict is `other`, the letters of a shortest word that tells the two automata apart, if one does.
        called: what the certificate calls its automaton, if the checker has accepted it; no checker looks at names.
        summary: the figures of the construction in it, which its checker has computed again; None where it holds none.
        checker: the checker that decided: `python`, or `coq` for the one that is proved in Coq.
        program: of the proved checker the path and the SHA-256 of the program that was run; None for the one in Python.
    """

    verdict: str
    kind: str | None
    reason: str
    automaton: str | None = field(default=None, repr=False)
    word: tuple[str, ...] | None = field(default=None, repr=False)
    called: str | None = field(default=None, repr=False)
    summary: Mapping[str, Any] | None = field(default=None, repr=False, hash=False)
    checker: str = field(default="python", repr=False)
    program: Mapping[str, str] | None = field(default=None, repr=False, hash=False)

    def __bool__(self) -> bool:
        """Is it valid and, where an automaton was given, about that one?"""
        return self.verdict == "valid"

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON; `automaton` and `word` only where an automaton was given."""
        facts: dict[str, Any] = {"verdict": self.verdict, "kind": self.kind, "reason": self.reason}
        facts["checker"] = self.checker
        if self.program is not None:
            facts["program"] = dict(self.program)
        if self.automaton is not None:
            facts |= {"automaton": self.automaton, "word": None if self.word is None else list(self.word)}
        return facts

    def rows(self) -> list[tuple[str, str]]:
        """The rows of a readable table, as `(label, text)` pairs."""
        rows = [("verdict", self.verdict), ("kind", self.kind or "unknown"), ("reason", self.reason)]
        if self.automaton is not None:
            rows.append(("automaton", self.automaton))
        if self.word is not None:
            rows.append(("word", " ".join(self.word)))
        return rows

    def _repr_html_(self) -> str:
        return html_table("Check of a certificate", self.rows())


CHECKERS = ("python", "coq")
"""The names of the checkers: those in Python, and the one that is proved in Coq."""


def check(
    certificate: str | PathLike[str] | Mapping[str, Any] | Realisation,
    automaton: AutomatonLike | None = None,
    *,
    checker: str = "python",
) -> CheckResult:
    """Check a certificate with the stand-alone checker of its kind.

    Args:
        certificate: the path of a certificate, its JSON object, or a construction, whose certificate is then made.
        automaton: the automaton that the certificate should be about, in any form that `as_automaton` accepts. Its reachable states
            must correspond to those of the certificate's automaton, letters and outputs matched by their texts.
        checker: `python`; or `coq` for the checker that is proved in Coq, the program mirrormata-check, which `make formal`
            builds. It is looked for where MIRRORMATA_COQ_CHECKER says, then where it is built, then on PATH.

    Returns:
        The verdict and its reason. The verdict is `valid`; `invalid` for a malformed or wrong certificate; or `other` for a
        valid certificate that is about another automaton.

    Raises:
        InputError: `certificate` has another type, the file cannot be read, or the automaton has two letters or outputs (for
            a bound: two states) of the same text; or the checker has another name, is not built, or does not know the kind.
    """
    if checker not in CHECKERS:
        raise InputError(f"`checker` is {checker!r}: give 'python' or 'coq'")
    if not isinstance(certificate, str | PathLike | Mapping | Realisation):
        raise InputError(
            f"`certificate` is of the type {type(certificate).__name__}: give a certificate, the path of one, or a construction"
        )
    if isinstance(certificate, str | PathLike):
        certificate = require_path(
            "certificate", certificate, "a certificate, the path of one, or a construction"
        )
    automaton = None if automaton is None else as_automaton(automaton)
    document, result = _check_document(certificate, proved=checker == "coq")
    if automaton is None:
        return result
    if result.verdict != "valid":
        return replace(result, automaton=automaton.name)
    found = difference(document, automaton)
    if found is None:
        return replace(result, automaton=automaton.name)
    reason = f"valid, but not about {automaton.name}: {found.text}"
    return replace(
        result,
        verdict="other",
        reason=reason,
        automaton=automaton.name,
        word=found.word,
        called=None,
        summary=None,
    )


def _as_dict(value: Any) -> dict[str, Any]:
    """A mapping inside a certificate as JSON has it."""
    if not isinstance(value, Mapping):
        raise TypeError(f"an entry of type {type(value).__name__}")
    return dict(value)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Without searches for circles among objects, which take a third of a check's time; there are hardly any."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@_without_collection()
def _check_document(
    certificate: str | PathLike[str] | Mapping[str, Any] | Realisation, proved: bool = False
) -> tuple[Any, CheckResult]:
    """The certificate's document, and the verdict of its kind's checker, or of the one that is proved in Coq."""
    if isinstance(certificate, Realisation):
        # no proved checker knows horizons: what is proved of a construction is that it follows the automaton
        certificate = certificate.certificate() if proved else full_certificate(certificate)
    try:
        if isinstance(certificate, Mapping):
            document = parse(json.dumps(dict(certificate), default=_as_dict))
        else:
            path = str(path_of(certificate, "certificate"))
            with system_errors(path):
                if is_file(path) and not Path(path).stat().st_size:
                    return None, CheckResult("invalid", None, f"{shown_path(path)} is empty")
                document = load(path)
    except UnicodeDecodeError:
        raise InputError(f"{shown_path(certificate)}: not a text file, so no certificate") from None
    except Invalid as reason:
        return None, CheckResult("invalid", None, str(reason))
    except InputError:
        raise
    except (TypeError, ValueError, RecursionError) as error:
        return None, CheckResult("invalid", None, f"not JSON: {error}")
    kind = document.get("kind") if isinstance(document, dict) else None
    proves = all_checkers().get(kind) if isinstance(kind, str) else None
    if proves is None:
        what = (
            "no certificate: an object with a kind is needed"
            if kind is None
            else f"unknown kind: {show_value(kind)}"
        )
        return None, CheckResult("invalid", None, what)
    if proved:
        named = {} if isinstance(certificate, Mapping) else {"called": shown_path(certificate)}
        accepted, text = run_proved_checker(document, **named)
        verdict = "valid" if accepted else "invalid"
        result = CheckResult(verdict, kind, text, checker="coq", program=describe_program())
        if not accepted:
            return None, result
    else:
        try:
            result = CheckResult("valid", kind, proves(document))
        except Invalid as reason:
            return None, CheckResult("invalid", kind, str(reason))
    # a kind of somebody else may have neither
    labels, summary = document.get("labels"), document.get("summary")
    called = labels.get("automaton") if isinstance(labels, dict) else None
    shown = print_name(called) if isinstance(called, str) else called
    return document, replace(result, called=shown, summary=summary)


def accept_certificate(found: Realisation, *, max_group: int = 5_000) -> dict[str, Any]:
    """The certificate of a construction, once its checker has accepted it; `DisagreementError` where it does not."""
    document = full_certificate(found, max_group=max_group)
    result = check(document)
    if result.verdict != "valid":
        raise DisagreementError(
            f"{found.automaton.name}: the checker refuses the certificate of this construction ({result.reason})"
        )
    return document


def write_accepted_certificate(found: Realisation, path: str | Path, *, max_group: int = 5_000) -> None:
    """Write the certificate of a construction, once the stand-alone checker has accepted it."""
    write_certificate(accept_certificate(found, max_group=max_group), path)


def accept_horizons(lrnn: LRNN) -> dict[str, int | None] | None:
    """For each dtype the length that the checker accepts; None where no horizon is certified."""
    document = accept_certificate(lrnn)
    lengths: dict[str, int | None] | None = document.get("horizon", {}).get("lengths")
    return lengths
