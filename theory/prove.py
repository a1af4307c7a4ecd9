"""`prove`: is a model, in the arithmetic that it runs in, the automaton, on words of every length?

Three ways, the first that decides is taken: every head maps its codes to codes bit for bit (`codes`); balls about the
codes that the letters keep (`regions`); all states reached, breadth first (`states`). Only the last finds wrong words,
shortest ones, and each is replayed from the start before it is reported. No verdict depends on a tolerance: decoding
is by the nearest code, exactly, the first of several.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from ..constructions.automaton import Automaton
from ..constructions.block_delay import BlockDelay
from ..constructions.errors import InputError, MirrormataError
from ..constructions.formats.label_text import label_text, output_texts
from ..constructions.lrnn import LRNN
from .arithmetic import Arithmetic, Exact, PerOp, PerStep, Rounded, parse_arithmetic
from .check import check
from .delay_stepper import DelayStepper
from .horizon import full_certificate
from .layered_stepper import LayeredStepper
from .npz_model import NpzModel, load_npz_model
from .prove_answers import Answers, answers_of
from .prove_certificate import codes_certificate, regions_certificate, states_certificate
from .prove_codes import CodeMachine, codes_are_closed
from .prove_exact import ExactNpzStepper, exact_regions
from .prove_linear import LinearMachine, linear_machine
from .prove_proof import Proof
from .prove_replay import replayed
from .prove_stepper import StepperMachine
from .rounding import FloatFormat
from .state_search import INTERRUPTED, Machine, Outcome, Progress, StateSearch
from .state_search_file import resume_search, save_search
from .stepper import ExactStepper, Stepper

MAX_STATES = 5_000_000
RELAXATIONS = 100_000
"""Steps of the search for regions."""
BIT_FOR_BIT = "every head maps codes to codes bit for bit in this arithmetic"


def prove(
    model: LRNN | BlockDelay | NpzModel | Stepper | str | Path,
    automaton: Automaton,
    arithmetic: str | Arithmetic = "per_step:bf16",
    *,
    max_states: int = MAX_STATES,
    max_seconds: float | None = None,
    resume: str | Path | None = None,
    save_every: float = 60.0,
    method: str = "auto",
    progress: Progress | None = None,
) -> Proof:
    """Equivalent on all words, or a shortest wrong word, or unknown with the length up to which all is right.

    `model`: a constructed LRNN of any layers, a block delay, an `NpzModel` or the path of an `.npz`, or any `Stepper`
    that decodes to the automaton's states by their indices; then `arithmetic` is only its name. `arithmetic`: `exact`,
    `per_step:...` or `per_op:...` (`parse_arithmetic`); several layers and block delays run in `per_step` formats.
    Answers are compared after each token, not before the first. `resume`: a file to go on from if it exists, written
    every `save_every` seconds, on Ctrl-C and at a limit. `method`: `auto`, or `states` for the search alone.
    `progress` is called about once a second. Ctrl-C gives `unknown` with what is proved so far.
    """
    began = time.monotonic()
    if method not in ("auto", "states"):
        raise InputError(f"--method {method}: it is auto or states")
    if isinstance(model, str | Path):
        model = load_npz_model(model)
    name = arithmetic if isinstance(arithmetic, str) else arithmetic.name
    known = _known_model(model)
    parsed = parse_arithmetic(name) if known and isinstance(arithmetic, str) else arithmetic
    if not isinstance(parsed, str):
        name = parsed.name
    try:
        quick = _quick(model, automaton, parsed, max_states, max_seconds) if method == "auto" else None
    except KeyboardInterrupt:
        quick = Proof("unknown", automaton, name, "codes", 0, 0, "states", INTERRUPTED, 0)
    if quick is not None:
        return replace(quick, arithmetic=name, seconds=time.monotonic() - began)
    machine = _machine(model, automaton, parsed)
    search = StateSearch(machine, automaton)
    save: Callable[[StateSearch], None] | None = None
    if resume is not None:
        if Path(resume).exists():
            resume_search(search, resume, name)

        def save(search: StateSearch) -> None:
            save_search(search, resume, name)

    outcome = search.run(
        max_states=max_states, max_seconds=max_seconds, progress=progress, save=save, save_every=save_every
    )
    return replace(_proof(outcome, search, machine, name), seconds=time.monotonic() - began)


def _known_model(model: Any) -> bool:
    if isinstance(model, LRNN | BlockDelay | NpzModel):
        return True
    if all(callable(getattr(model, part, None)) for part in ("initial", "step", "decode")):
        return False
    raise InputError(
        f"model of type {type(model).__name__}: an LRNN, a block delay, an .npz, or an object with initial, step and "
        "decode is needed"
    )


def _quick(
    model: Any,
    automaton: Automaton,
    arithmetic: Arithmetic | str,
    max_states: int,
    max_seconds: float | None,
) -> Proof | None:
    """A proof by codes or regions, if there is one."""
    if isinstance(model, LRNN):
        answers = answers_of(automaton, model.automaton, model.automaton.name)
        if isinstance(arithmetic, Exact):
            return _by_table(model, answers)
        by_codes = _by_codes(model, answers, arithmetic, max_states, max_seconds)
        return by_codes or _by_regions(model, answers, arithmetic)
    if isinstance(model, BlockDelay):
        return _by_delay(model, automaton, arithmetic)
    if isinstance(model, NpzModel):
        return _by_regions(model, model.answers(automaton), arithmetic)
    return None


def _by_codes(
    lrnn: LRNN, answers: Answers, arithmetic: Any, max_states: int, max_seconds: float | None
) -> Proof | None:
    """Codes closed in the arithmetic; then the covering by its checker, else all joint codes."""
    if not isinstance(arithmetic, PerStep | PerOp) or not codes_are_closed(lrnn, arithmetic):
        return None
    automaton = answers.automaton
    same = answers.kind == "states" and _same_automaton(automaton, lrnn.automaton)

    def certify() -> dict[str, Any] | None:
        return codes_certificate(lrnn, arithmetic) if same else None

    if same and lrnn.covering is not None:
        found = check(lrnn)
        if found.verdict != "valid":
            return None
        count = prod(len(head.codes) for head in lrnn.all_heads)
        reason = f"{BIT_FOR_BIT}; {found.reason}"
        return Proof(
            "equivalent", automaton, "", "codes", count, 0, answers.kind, reason, certify=certify
        )  # fmt: skip
    search = StateSearch(CodeMachine(lrnn, answers), automaton)
    outcome = search.run(max_states=max_states, max_seconds=max_seconds)
    if outcome.stopped == INTERRUPTED:
        raise KeyboardInterrupt
    if outcome.verdict != "equivalent":
        return None  # the search of the states finds the word
    place = outcome.place
    reason = f"{BIT_FOR_BIT}; all {place.count:,} joint codes reached are right"
    return Proof(
        "equivalent", automaton, "", "codes", place.count, place.steps, answers.kind, reason, certify=certify
    )


def _by_table(lrnn: LRNN, answers: Answers) -> Proof | None:
    """In exact numbers the construction's own certificate is the proof."""
    if answers.kind != "states" or not _same_automaton(answers.automaton, lrnn.automaton):
        return None
    document = full_certificate(lrnn)
    found = check(document)
    if found.verdict != "valid":
        return None
    return Proof(
        "equivalent", answers.automaton, "", "table", len(lrnn.decode), 0, answers.kind,
        f"the table of the exact LRNN; {found.reason}", certify=lambda: document,
    )  # fmt: skip


def _by_regions(model: LRNN | NpzModel, answers: Answers, arithmetic: Any) -> Proof | None:
    machine: LinearMachine | None = None
    name = model.name if isinstance(model, NpzModel) else model.construction
    if isinstance(arithmetic, Exact):
        machine = exact_regions(model, answers) if isinstance(model, NpzModel) else None
    elif isinstance(arithmetic, PerStep):
        machine = _linear(model, answers, arithmetic)
    if machine is None:
        return None
    document = regions_certificate(machine, arithmetic, name, RELAXATIONS)
    if document is None:
        return None
    found = document["equivalence"]
    radius = found["radius"] / 2**64
    return Proof(
        "equivalent", answers.automaton, "", "regions", found["regions"], 0, answers.kind,
        f"{found['regions']:,} balls about codes, of radius {radius:.3g} or less, that the letters keep",
        certify=lambda: document,
    )  # fmt: skip


def _by_delay(form: BlockDelay, automaton: Automaton, arithmetic: Any) -> Proof | None:
    """The delay lemma, proved by its checker; the numbers are integers of the format, so nothing is rounded."""
    exact = isinstance(arithmetic, Exact)
    dtype = (
        getattr(getattr(arithmetic, "values", None), "name", "") if isinstance(arithmetic, PerStep) else ""
    )
    if not (exact or dtype in form.formats) or not _same_automaton(automaton, form.automaton):
        return None
    try:
        found = check(form.certificate())
    except MirrormataError:
        return None
    if found.verdict != "valid":
        return None
    why = "the delay's tables" if exact else "every layer keeps its integers exactly in this arithmetic"
    return Proof(
        "equivalent",
        automaton,
        "",
        "delay",
        0,
        0,
        "states",
        f"{why}; {found.reason}; its certificate is of kind delay",
    )


def _linear(model: LRNN | NpzModel, answers: Answers, arithmetic: Rounded) -> LinearMachine | None:
    if isinstance(model, NpzModel):
        return model.machine(arithmetic, answers)
    return linear_machine(model, arithmetic, answers) if len(model.layers) == 1 else None


def _machine(model: Any, automaton: Automaton, arithmetic: Arithmetic | str) -> Machine:
    """What the search of the states runs."""
    if isinstance(model, NpzModel):
        answers = model.answers(automaton)
        if isinstance(arithmetic, Exact):
            return StepperMachine(ExactNpzStepper(model), answers)
        return model.machine(_stepwise(arithmetic), answers)
    if isinstance(model, LRNN):
        answers = answers_of(automaton, model.automaton, model.automaton.name)
        if isinstance(arithmetic, Exact):
            exact = ExactStepper(model) if len(model.layers) == 1 else LayeredStepper(model, "exact")
            return StepperMachine(exact, answers)
        machine = _linear(model, answers, _stepwise(arithmetic))
        return machine or StepperMachine(LayeredStepper(model, _plain_format(arithmetic)), answers)
    if isinstance(model, BlockDelay):
        answers = answers_of(automaton, model.automaton, model.automaton.name)
        return StepperMachine(DelayStepper(model, _plain_format(arithmetic)), answers)
    return StepperMachine(model, answers_of(automaton, None))


def _stepwise(arithmetic: Any) -> Rounded:
    if isinstance(arithmetic, PerStep | PerOp):
        return arithmetic
    raise InputError(
        f"arithmetic {arithmetic.name}: no state follows from the one before in it; write exact, per_step:... or per_op:..."
    )


def _plain_format(arithmetic: Any) -> FloatFormat:
    if (
        isinstance(arithmetic, PerStep)
        and arithmetic.mode == "rne"
        and isinstance(arithmetic.values, FloatFormat)
    ):
        return arithmetic.values
    raise InputError(
        f"arithmetic {arithmetic.name}: several layers and block delays are run in per_step with a float format, "
        "nearest even"
    )


def _same_automaton(first: Automaton, second: Automaton) -> bool:
    return first is second or (
        first.start == second.start
        and [label_text(q) for q in first.states] == [label_text(q) for q in second.states]
        and np.array_equal(first.transitions, second.transitions)
        and first.outputs.shape == second.outputs.shape
        and output_texts(first, first.name) == output_texts(second, second.name)
    )


def _proof(outcome: Outcome, search: StateSearch, machine: Any, name: str) -> Proof:
    place, answers = outcome.place, machine.answers
    facts = (search.automaton, name, "states", place.count, place.steps, answers.kind)
    if outcome.verdict == "equivalent":
        reason = f"all {place.count:,} states reached, closed under all letters"

        def certify() -> dict[str, Any] | None:
            linear = isinstance(machine, LinearMachine)
            return states_certificate(search, machine, search.automaton.name) if linear else None

        return Proof("equivalent", *facts, reason, certify=certify)
    if outcome.word is not None:
        answered, right = replayed(machine, search.automaton, outcome.word)
        reason = (
            f"breadth first, {place.count:,} states seen: no shorter word is wrong; replayed step by step"
        )
        return Proof("counterexample", *facts, reason, len(outcome.word) - 1, outcome.word, answered, right)
    reason = f"{outcome.stopped}, {place.count - place.done:,} states not yet followed"
    return Proof("unknown", *facts, reason, place.depth)
