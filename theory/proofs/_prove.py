"""`prove`: is a model, in the arithmetic that it runs in, the automaton, on words of every length?

Three ways, the first that decides is taken: every head maps its codes to codes bit for bit (`codes`); balls about the
codes that the letters keep (`regions`); all states reached, breadth first (`states`). Only the last finds wrong words,
shortest ones, or, where the search does not end soon, words that are tried beside it; each is replayed from the start before
it is reported. No verdict depends on a tolerance: decoding
is by the nearest code, exactly, the first of several.

No model is called equivalent by one program alone: the certificate that would be written must have passed the
stand-alone checker, or, where none can be written, a second program steps every state found again
(`_second_derivation.py`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from ...constructions._conversions import AutomatonLike, as_automaton
from ...constructions._realisation import Realisation
from ...constructions.automata._automaton import Automaton
from ...foundation._arguments import (
    require_callback,
    require_choice,
    require_count,
    require_path,
    require_seconds,
)
from ...foundation._errors import DisagreementError, InputError
from ...foundation._files import is_there
from ...foundation._interrupting import take_interrupt
from .._check import check
from ..arithmetic._arithmetic import Arithmetic, PerOp, PerStep, parse_arithmetic
from ..checker._budget import TOO_MUCH
from ..running._stepper import Stepper
from ._answers import Answers
from ._certificate import exact_states_certificate, states_certificate
from ._exact import ExactNpzStepper
from ._linear import LinearMachine
from ._machine import answers_to, machine_of
from ._npz_model import NpzModel, load_npz_model
from ._npz_notes import npz_notes
from ._proof import Proof, proof_digest
from ._quick import quick_proof
from ._second_derivation import derive_again, replay_word, word_text
from ._state_search import INTERRUPTED, Outcome, OutOfTimeError, Progress, StateSearch
from ._state_search_file import resume_search, save_search
from ._stepper_machine import StepperMachine
from ._trial_words import MAX_TRIAL_LETTERS, WrongWord, try_words

MAX_STATES = 5_000_000
OWN = "the stepper's own"
"""The arithmetic of a `Stepper` that is given no name."""


class ProofLimits(TypedDict, total=False):
    """The limits of the search that `prove` accepts, for functions that pass them on."""

    max_states: int
    max_seconds: float | None
    resume: str | Path | None
    save_every: float
    method: str
    progress: Progress | None
    max_trial_letters: int


def require_limits(limits: ProofLimits) -> None:
    """`InputError` where a limit of the search, or what goes with it, is of the wrong form; whether or not a search is made."""
    require_count("max_states", limits["max_states"], 1)
    if limits["max_seconds"] is not None:
        require_seconds("max_seconds", limits["max_seconds"])
    require_seconds("save_every", limits["save_every"])
    if limits["resume"] is not None:
        require_path("resume", limits["resume"])
    require_choice("method", limits["method"], ("auto", "states"))
    require_callback("progress", limits["progress"], "a function of the numbers of states found and followed")
    require_count("max_trial_letters", limits["max_trial_letters"])


def prove(
    model: Realisation | NpzModel | Stepper | str | Path,
    automaton: AutomatonLike,
    arithmetic: str | Arithmetic | None = None,
    *,
    max_states: int = MAX_STATES,
    max_seconds: float | None = None,
    resume: str | Path | None = None,
    save_every: float = 60.0,
    method: str = "auto",
    answers: Answers | None = None,
    progress: Progress | None = None,
    max_trial_letters: int = MAX_TRIAL_LETTERS,
) -> Proof:
    """Equivalent on all words, or a wrong word, or unknown with the length up to which all is right.

    Answers are compared after each token, not before the first. Ctrl-C gives `unknown` with what is proved so far.

    Args:
        model: a constructed LRNN of any layers, a block delay, an `NpzModel` or the path of an `.npz`, or any
            `Stepper` that decodes to the automaton's states by their indices, or to numbers that `answers`
            gives a meaning; then `arithmetic` is only its name.
        automaton: an automaton in any form that `as_automaton` accepts, such as a SPEC.
        arithmetic: by default `per_step:bf16`; `exact`, `per_step:...`, `per_op:...` or
            `kernel:recurrent:...` (`parse_arithmetic`); several layers run in `per_step` formats or on the
            kernel, block delays in `per_step` formats. On the kernel an `.npz` needs its factors.
        max_states: the largest number of pairs of a state of the model and one of the automaton.
        max_seconds: the largest number of seconds; None for no limit.
        resume: a file to go on from if it exists, written every `save_every` seconds, on Ctrl-C and at a
            limit; a stepper needs a text `identity` for it.
        save_every: seconds between two writings of `resume`.
        method: `auto`, or `states` for the search alone.
        answers: what the numbers that the model decodes to mean; None: indices of the automaton's states.
        progress: called about once a second with how far the search is.
        max_trial_letters: the largest number of letters of the words that are tried beside a search that does not end soon
            (`_trial_words.py`), all words together; 0 for none.

    Examples:
        >>> from mirrormata import construct, prove
        >>> prove(construct("S3"), "S3").verdict
        'equivalent'
    """
    began = time.monotonic()
    require_limits(
        {
            "max_states": max_states,
            "max_seconds": max_seconds,
            "resume": resume,
            "save_every": save_every,
            "method": method,
            "progress": progress,
            "max_trial_letters": max_trial_letters,
        }
    )
    automaton = as_automaton(automaton)
    if isinstance(model, str | Path):
        model = load_npz_model(model)
    if arithmetic is None:
        arithmetic = "per_step:bf16" if isinstance(model, Realisation | NpzModel) else OWN
    name = arithmetic if isinstance(arithmetic, str) else arithmetic.name
    known = _is_known_model(model)
    parsed = parse_arithmetic(name) if known and isinstance(arithmetic, str) else arithmetic
    if not isinstance(parsed, str):
        name = parsed.name
        _refuse_values_without_zero(parsed)
    deadline = None if max_seconds is None else began + max_seconds

    def finished(proof: Proof) -> Proof:
        notes = npz_notes(model, parsed)
        named = replace(proof, arithmetic=name, seconds=time.monotonic() - began, notes=notes)
        meant = answers_to(model, automaton, answers)
        return replace(named, identify=lambda: proof_digest(model, automaton, name, meant))

    try:
        # a proof by codes or regions needs no list of states
        quick = quick_proof(model, automaton, parsed, max_states, max_seconds) if method == "auto" else None
        # nothing is accepted before a second program has seen it
        accepted = None if quick is None else _accept_proof(quick)
    except KeyboardInterrupt:
        take_interrupt()
        accepted = Proof("unknown", automaton, name, "codes", 0, 0, "states", INTERRUPTED, 0)
    except OutOfTimeError as late:
        why = f"`max_seconds` {max_seconds:g} reached, {late.done:,} of {late.count:,} steps of codes checked alone"
        accepted = Proof("unknown", automaton, name, "codes", 0, 0, "states", why, 0)
    if accepted is not None:
        return finished(accepted)
    machine: Any = machine_of(model, automaton, parsed, answers)
    search = StateSearch(machine, automaton)
    save: Callable[[StateSearch], None] | None = None
    resumed = False
    if resume is not None:
        digest = proof_digest(model, automaton, name, machine.answers)
        if digest is None:
            raise InputError(
                f"`resume` {resume}: this model has no digest, so its search cannot be told from another's: give the stepper "
                "a text `identity` that names its weights, or leave `resume` out"
            )
        if is_there(resume):
            try:
                resume_search(search, resume, digest, deadline)
            except OutOfTimeError as late:
                why = f"`max_seconds` {max_seconds:g} reached, {late.done:,} of {late.count:,} saved states stepped again"
                return finished(
                    Proof("unknown", automaton, name, "states", 0, 0, machine.answers.kind, why, 0)
                )
            except KeyboardInterrupt:
                take_interrupt()
                why = f"{INTERRUPTED} while the saved states were being stepped again"
                return finished(
                    Proof("unknown", automaton, name, "states", 0, 0, machine.answers.kind, why, 0)
                )
            resumed = search.place.done > 0

        def save(search: StateSearch) -> None:
            save_search(search, resume, digest)

    outcome = search.run(
        max_states=max_states,
        # the clock of the whole call, not of the search alone
        max_seconds=max_seconds,
        progress=progress,
        save=save,
        save_every=save_every,
        began=began,
        trial=lambda clock: try_words(machine, automaton, max_trial_letters, clock),
    )
    proof = replace(_proof(outcome, search, machine, name), resumed=resumed)
    if proof.verdict != "equivalent":
        return finished(proof)
    place = outcome.place

    def unchecked(why: str) -> Proof:
        facts = (automaton, name, "states", place.count, place.steps, proof.compares)
        if save is not None:
            save(search)
        return Proof("unknown", *facts, why, place.depth, resumed=resumed)

    # a closed search is not a verdict yet: its pairs are shown to be an invariant on another way
    again = replace(
        proof, derive_again=lambda: derive_again(search, machine, deadline=deadline, progress=progress)
    )
    try:
        accepted = _accept_proof(again)
    except KeyboardInterrupt:
        take_interrupt()
        accepted = unchecked(f"{INTERRUPTED} while all {place.count:,} states found were being checked")
    except OutOfTimeError as late:
        accepted = unchecked(
            f"`max_seconds` {max_seconds:g} reached, {late.done:,} of all {late.count:,} states found stepped again"
        )
    if accepted is None:
        raise DisagreementError(f"{automaton.name}: no second program has checked the verdict")
    return finished(accepted)


def _accept_proof(proof: Proof) -> Proof | None:
    """The verdict with what a second program has done with it; None where there is none for it.

    `DisagreementError` where the second program finds something else.
    """
    if proof.verdict != "equivalent" or proof.checked is not None:
        return proof
    document = proof.certificate
    if document is not None:
        found = check(document)
        if found.verdict == "valid":
            return replace(proof, checked="certificate", certify=lambda: document)
        if not found.reason.startswith(TOO_MUCH):
            raise DisagreementError(
                f"{proof.automaton.name}: found equivalent by its {proof.method}, but the checker refuses the certificate: "
                f"{found.reason}"
            )
        # so large a certificate is none: the states are stepped again instead
        proof = replace(proof, certify=lambda: f"the checker does not finish: {found.reason}")
    if proof.derive_again is None:
        return None
    proof.derive_again()
    return replace(proof, checked="re-stepped")


def _refuse_values_without_zero(arithmetic: Any) -> None:
    """An absent entry of a matrix is 0, so 0 must be one of the values."""
    if isinstance(arithmetic, PerStep | PerOp) and float(arithmetic.round(np.zeros(1))[0]) != 0:
        raise InputError(
            f"arithmetic {arithmetic.name}: 0 is none of its values, and the entries of a layer that are absent are 0: use "
            "values with 0"
        )


def _is_known_model(model: Any) -> bool:
    if isinstance(model, Realisation | NpzModel):
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
            exact = machine.stepper if isinstance(machine, StepperMachine) else None
            if isinstance(exact, ExactNpzStepper):
                return exact_states_certificate(search, exact, answers)
            if not isinstance(machine, LinearMachine):
                return "only for one layer of matrices is a search of the states certified"
            return states_certificate(search, machine, search.automaton.name)

        return Proof("equivalent", *facts, reason, certify=certify)
    if outcome.word is not None:
        answered, right = replay_word(machine, search.automaton, outcome.word)
        reason = (
            f"breadth first, {place.count:,} states seen: no shorter word is wrong; replayed step by step"
        )
        return Proof(
            "counterexample", *facts, reason, len(outcome.word) - 1, outcome.word, answered, right,
            checked="replayed",
        )  # fmt: skip
    if isinstance(outcome.tried, WrongWord):
        return _proof_by_trial(outcome.tried, facts, place.depth, search.automaton, machine)
    reason = f"{outcome.stopped}, {place.count - place.done:,} states not yet followed"
    return Proof("unknown", *facts, reason, place.depth)


def _proof_by_trial(
    found: WrongWord,
    facts: tuple[Automaton, str, str, int, int, str],
    depth: int,
    automaton: Automaton,
    machine: Any,
) -> Proof:
    """A word that was tried beside the search; `depth`: all words up to this length are right."""
    answered, right = found.answered, found.right
    if right is None:
        answered, right = replay_word(machine, automaton, found.word)
    of = "a random word"
    if found.period is not None:
        of = f"the word {word_text(automaton, found.period)} again and again"
    # all shorter words may have been searched
    shortest = len(found.word) == depth + 1
    other = (
        "no shorter word is wrong"
        if shortest
        else f"a shorter word of more than {depth:,} letters may be wrong too"
    )
    reason = f"{of}, tried beside the search of the states; {other}; replayed step by step"
    return Proof(
        "counterexample", *facts, reason, depth, found.word, answered, right, checked="replayed", shortest=shortest
    )  # fmt: skip
