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
from pathlib import Path
from typing import Any, TypedDict

from ...constructions.automaton import Automaton
from ...constructions.block_delay import BlockDelay
from ...constructions.errors import InputError
from ...constructions.lrnn import LRNN
from ..arithmetic.arithmetic import Arithmetic
from ..arithmetic.names import parse_arithmetic
from ..running.stepper import Stepper
from .answers import Answers
from .certificate import states_certificate
from .linear import LinearMachine
from .machine import machine_of
from .npz_model import NpzModel, load_npz_model
from .proof import Proof
from .quick import quick_proof
from .replay import replayed
from .state_search import INTERRUPTED, Outcome, Progress, StateSearch
from .state_search_file import resume_search, save_search

MAX_STATES = 5_000_000


class Limits(TypedDict, total=False):
    """Of the search, as `prove` takes them: for functions in front of it, which hand them on."""

    max_states: int
    max_seconds: float | None
    resume: str | None


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
    answers: Answers | None = None,
    progress: Progress | None = None,
) -> Proof:
    """Equivalent on all words, or a shortest wrong word, or unknown with the length up to which all is right.

    `model`: a constructed LRNN of any layers, a block delay, an `NpzModel` or the path of an `.npz`, or any `Stepper`
    that decodes to the automaton's states by their indices, or to numbers that `answers` gives a meaning; then
    `arithmetic` is only its name. `arithmetic`: `exact`,
    `per_step:...`, `per_op:...` or `kernel:recurrent:...` (`parse_arithmetic`); several layers run in `per_step` formats
    or on the kernel, block delays in `per_step` formats. On the kernel an `.npz` needs its factors.
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
        quick = quick_proof(model, automaton, parsed, max_states, max_seconds) if method == "auto" else None
    except KeyboardInterrupt:
        quick = Proof("unknown", automaton, name, "codes", 0, 0, "states", INTERRUPTED, 0)
    if quick is not None:
        return replace(quick, arithmetic=name, seconds=time.monotonic() - began)
    machine = machine_of(model, automaton, parsed, answers)
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


def _proof(outcome: Outcome, search: StateSearch, machine: Any, name: str) -> Proof:
    place, answers = outcome.place, machine.answers
    facts = (search.automaton, name, "states", place.count, place.steps, answers.kind)
    if outcome.verdict == "equivalent":
        reason = f"all {place.count:,} states reached, closed under all letters"

        def certify() -> dict[str, Any] | str:
            if not isinstance(machine, LinearMachine):
                return "only for one layer of matrices is a search of the states certified"
            return states_certificate(search, machine, search.automaton.name)

        return Proof("equivalent", *facts, reason, certify=certify)
    if outcome.word is not None:
        answered, right = replayed(machine, search.automaton, outcome.word)
        reason = (
            f"breadth first, {place.count:,} states seen: no shorter word is wrong; replayed step by step"
        )
        return Proof("counterexample", *facts, reason, len(outcome.word) - 1, outcome.word, answered, right)
    reason = f"{outcome.stopped}, {place.count - place.done:,} states not yet followed"
    return Proof("unknown", *facts, reason, place.depth)
