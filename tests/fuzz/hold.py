"""One case held to the oracle: what `prove`, `check` and `run` say of it, against the oracle's own search.

A difference is a line of text that begins with its kind. What the package refuses with an `InputError` or a `LimitError`
of one line is no difference, but is counted.
"""

from __future__ import annotations

import json
import random
import tempfile
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.automata._completing import object_array
from mirrormata.constructions.formats.json_format import write_json
from mirrormata.foundation._errors import InputError, LimitError
from mirrormata.tests.fuzz.draw import WITHOUT_ZERO, Case, rounded
from mirrormata.tests.fuzz.forged import forged_differences
from mirrormata.tests.oracle.arithmetic import Arithmetic, is_state
from mirrormata.tests.oracle.search import Found, Rounded, search
from mirrormata.theory._check import check
from mirrormata.theory.arithmetic._arithmetic import parse_arithmetic
from mirrormata.theory.proofs._linear import LinearMachine
from mirrormata.theory.proofs._machine import machine_of
from mirrormata.theory.proofs._npz_model import NpzModel, npz_model
from mirrormata.theory.proofs._proof import Proof
from mirrormata.theory.proofs._prove import prove
from mirrormata.theory.running._run import run

MOST_PAIRS, MOST_EXACT_PAIRS = 250, 40  # of the oracle's search; exact numbers grow
MOST_STATES, MOST_EXACT_STATES = 600, 90  # of the package's
RUN_LENGTH = 24


@dataclass
class Outcome:
    """What came of a case: the oracle's verdict, differences, refusals, and how often what was compared."""

    case: Case
    expected: Found
    differences: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    compared: dict[str, int] = field(default_factory=dict)

    def count(self, what: str) -> None:
        self.compared[what] = self.compared.get(what, 0) + 1


class Holder:
    """The package's objects for a case, and the comparisons."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.layer: Rounded = rounded(case.layer, case.arithmetic)
        self.exact = case.arithmetic == "exact"
        found = search(self.layer, case.machine, MOST_EXACT_PAIRS if self.exact else MOST_PAIRS)
        self.outcome = Outcome(case, found)
        self.draw = random.Random(case.seed + 1)
        self.automaton = automaton_of(case)
        self.model: Any = case.source
        self._without_zero = case.arithmetic.split(":", 1)[-1].startswith(WITHOUT_ZERO)

    def hold(self) -> Outcome:
        if self.model is None:
            self._guarded("npz", self._make_model)
            if self.model is None:
                return self.outcome
        for method in ("auto", "states"):
            self._guarded(method, lambda method=method: self._prove(method))  # type: ignore[misc]
        if self.draw.random() < 0.3:
            self._guarded("resume", self._resume)
        if not self._without_zero:
            self._guarded("run", self._run)
        return self.outcome

    def _guarded(self, where: str, work: Callable[[], None]) -> None:
        try:
            work()
        except (InputError, LimitError) as error:
            if "\n" in str(error):
                self._differ("message", f"{where}: more than one line: {error}")
            self.outcome.refused.append(f"{where}: {error}")
            if self._without_zero:
                return
            if isinstance(error, InputError) and not self._may_refuse(str(error)):
                self._differ("refused", f"{where}: {error}")
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(last.filename).name}:{last.name}"
            self._differ("exception", f"{where}: {type(error).__name__} in {place}: {error}")

    def _may_refuse(self, message: str) -> bool:
        """Irrational weights have no values to begin with in `per_op` of some sets."""
        return self.case.kind == "constructed" and "the weights are no float64 numbers" in message

    def _differ(self, kind: str, text: str) -> None:
        self.outcome.differences.append(f"{kind}: {text}")

    def _make_model(self) -> None:
        self.model = npz_of(self.case, named=self.draw.random() < 0.4)

    def _arithmetic_proof(self, method: str, **changes: Any) -> Proof:
        limit = changes.pop("max_states", MOST_EXACT_STATES if self.exact else MOST_STATES)
        return prove(
            self.model, self.automaton, self.case.arithmetic, method=method, max_states=limit, **changes
        )

    def _prove(self, method: str) -> None:
        self._compare(self._arithmetic_proof(method), f"prove {method}")

    def _compare(self, proof: Proof, where: str) -> None:
        found, case = self.outcome.expected, self.case
        self.outcome.count(f"{where}: {proof.verdict}")
        said = f"{where} says {proof.verdict}, the oracle {found.verdict}"
        if proof.verdict == "counterexample":
            assert proof.word is not None
            wrong = self.layer.first_wrong(case.machine, proof.word)
            if wrong is None:
                self._differ("false counterexample", f"{said}; the word {proof.word} is answered rightly")
            elif wrong < len(proof.word):
                self._differ(
                    "length", f"{said}; a prefix of {wrong} of the {len(proof.word)} letters is wrong already"
                )
            elif found.word is not None and (
                len(found.word) > len(proof.word) or (proof.shortest and len(found.word) < len(proof.word))
            ):
                self._differ(
                    "length", f"{said}; {len(proof.word)} letters where {len(found.word)} are enough"
                )
            elif found.depth is not None and len(proof.word) <= found.depth:
                self._differ("length", f"{said}, and that all words of {found.depth} letters are right")
        elif proof.verdict == "equivalent":
            if found.verdict == "counterexample":
                self._differ("false equivalent", f"{said}, by {proof.method}; wrong on {found.word}")
            elif (
                found.verdict == "equivalent"
                and proof.method == "states"
                and proof.states_explored != found.pairs
            ):
                self._differ(
                    "states", f"{where} explored {proof.states_explored} pairs, the oracle {found.pairs}"
                )
            self._check(proof, where)
        elif found.verdict == "equivalent":
            self._differ("gave up", f"{said} after {found.pairs} pairs")
        elif (
            found.word is not None
            and proof.correct_up_to is not None
            and proof.correct_up_to >= len(found.word)
        ):
            self._differ(
                "false length", f"{said}; right up to {proof.correct_up_to}, but wrong on {found.word}"
            )

    def _check(self, proof: Proof, where: str) -> None:
        """The certificate of what was proved is valid."""
        certificate = proof.certificate
        if certificate is None:
            self.outcome.count("no certificate")
            return
        result = check(json.loads(json.dumps(certificate)))
        self.outcome.count(f"check {result.verdict}")
        if result.verdict != "valid":
            self._differ("certificate", f"{where}: {result.reason}")
        elif "states" in certificate.get("equivalence", {}) and self.draw.random() < 0.3:
            self.outcome.count("certificates forged")
            for line in forged_differences(self.draw, json.loads(json.dumps(certificate)), MOST_PAIRS):
                self.outcome.differences.append(line)

    def _resume(self) -> None:
        """A search that stops early and goes on from its file ends like one that does not stop."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "search.npz"
            few = self.draw.randint(1, max(self.outcome.expected.pairs, 2))
            first = self._arithmetic_proof("states", max_states=few, resume=path, max_trial_letters=0)
            self._compare_stopped(first, few)
            self._compare(self._arithmetic_proof("states", resume=path), "resume")

    def _compare_stopped(self, proof: Proof, few: int) -> None:
        if proof.verdict != "unknown":
            self._compare(proof, f"prove within {'few'} states")
        else:
            word, upto = self.outcome.expected.word, proof.correct_up_to
            if word is not None and upto is not None and upto >= len(word):
                self._differ(
                    "false length", f"stopped at {few} states: right up to {upto}, but wrong on {word}"
                )

    def _run(self) -> None:
        """States and answers on a random word, token by token."""
        letters = len(self.case.machine.transitions)
        word = [self.draw.randrange(letters) for _ in range(RUN_LENGTH)]
        if isinstance(self.model, NpzModel):
            self._step_machine(word)
        elif self.case.arithmetic.count(":") == 1 and self.case.arithmetic.startswith("per_step:"):
            self._run_construction(word)

    def _step_machine(self, word: list[int]) -> None:
        machine: Any = machine_of(self.model, self.automaton, parse_arithmetic(self.case.arithmetic))
        rows, q = machine.initial(), self.case.machine.start
        for t, (x, ((state,), answer)) in enumerate(zip(word, self.layer.run(word), strict=True), start=1):
            rows = machine.step(rows, x)
            after, right = self.case.machine.step(q, x)
            letters, before, reached = (np.array([i]) for i in (x, q, after))
            is_right = machine.first_wrong(rows, letters, before, reached) == -1
            self.outcome.count("tokens run")
            if isinstance(machine, LinearMachine) and is_state(state):
                got = machine.carrier.decode(rows)[0]
                expected = np.array([float(entry) for row in state for entry in row])
                if not np.array_equal(got, expected):
                    self._differ("state", f"after {t} letters of {word}: {got}, the oracle {expected}")
                    return
            if is_right != (answer == right):
                self._differ(
                    "answer",
                    f"after {t} letters of {word}: right is {is_right}, the oracle {answer}, {right}",
                )
                return
            q = after

    def _run_construction(self, word: list[int]) -> None:
        dtype = self.case.arithmetic.split(":")[1]
        try:
            Arithmetic(f"per_step:{dtype}")
            report = run(self.model, np.array([word]), dtype=dtype, sequential=self.draw.random() < 0.5)
        except InputError:
            self.outcome.count("no run")
            return
        states = self.model.automaton
        q, wrong = states.start, 0
        for x, (joint, _) in zip(word, self.layer.run(word), strict=True):
            q = int(states.transitions[x, q])
            row = self.layer.nearest(joint)
            wrong += row is None or int(self.model.decode[row, 0]) != q
        self.outcome.count("constructions run")
        if report.errors != wrong:
            self._differ("run", f"{report.errors} errors on {word}, the oracle {wrong}")


def automaton_of(case: Case) -> Automaton:
    """The machine as the package's automaton."""
    table = np.array(case.machine.transitions, dtype=np.int64)
    outputs: Any
    if case.labelled:
        own = case.source.automaton
        return Automaton(own.states, own.letters, table, case.machine.start, own.outputs, "drawn")
    letters = (
        case.source.automaton.letters
        if case.source is not None
        else tuple(f"x{i}" for i in range(len(table)))
    )
    if case.source is not None:
        texts = list(dict.fromkeys(str(x) for x in case.source.automaton.outputs))
        names = [*texts, *(f"other {i}" for i in range(4))]
    else:
        names = [f"y{i}" for i in range(12)]
    if case.mealy:
        flat = object_array([names[y] for row in case.machine.outputs for y in row])
        outputs = flat.reshape(table.shape)
    else:
        outputs = object_array([names[y] for y in case.outputs])
    states = tuple(f"q{i}" for i in range(table.shape[1]))
    return Automaton(states, letters, table, case.machine.start, outputs, "drawn")


def npz_of(case: Case, *, named: bool) -> NpzModel:
    """The layer as the package's; `named`: with the outputs' names beside it, in another order."""
    return npz_model(arrays_of(case, named=named))


def arrays_of(case: Case, *, named: bool) -> dict[str, Any]:
    (head,) = case.layer.heads

    def numbers(x: Any) -> Any:
        return np.array([[[float(z) for z in row] for row in m] for m in x])

    answers = [y for row in case.layer.decode for y in row]
    """Where outputs have no names, one that the automaton does not have is -1, no output."""
    shown = list(case.outputs) or [y for row in case.machine.outputs for y in row]
    if named:
        order = sorted({*shown, *answers}, reverse=True)
    else:
        order = list(dict.fromkeys([*shown, *answers]))
    arrays: dict[str, Any] = {
        "A": numbers(head.A),
        "B": numbers(head.B),
        "H0": numbers([head.H0])[0],
        "codes": numbers([code for (code,) in case.layer.codes]),
        "decode": np.array(
            [[order.index(y) if named or y in shown else -1 for y in row] for row in case.layer.decode]
        ),
    }
    if named:
        arrays["output_labels"] = np.array(json.dumps([f"y{y}" for y in order]))
    return arrays


def write_case(case: Case, folder: Path) -> Iterator[Path]:
    """The files with which `mirrormata prove` shows the same."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = folder / f"{case.kind}-{case.seed}"
    automaton = stem.with_suffix(".json")
    write_json(automaton_of(case), automaton)
    yield automaton
    if case.source is None:
        np.savez(stem.with_suffix(".npz"), **arrays_of(case, named=False))
        yield stem.with_suffix(".npz")
