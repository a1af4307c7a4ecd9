"""Proofs of equivalence that need no search of the model's states: by codes, by regions, by a construction's own certificate."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from ...constructions._lrnn import LRNN
from ...constructions._realisation import Realisation
from ...constructions.automata._automaton import Automaton
from ...constructions.automata._labels import label_text, output_texts
from ...foundation._errors import MirrormataError
from ...foundation._text import count_noun
from .._check import accept_certificate, check
from .._horizon import full_certificate
from .._kinds import kind_of
from ..arithmetic._arithmetic import Arithmetic, Exact, Kernel, PerOp, PerStep, Rounded
from ..checker._budget import TOO_MUCH
from ..checker.equivalent import MAX_STEPS
from ._answers import Answers, answers_of
from ._certificate import codes_certificate, regions_certificate, states_certificate
from ._codes import CodeMachine, codes_are_closed
from ._exact import exact_regions
from ._kernel_step import kernel_codes_are_closed
from ._linear import LinearMachine
from ._machine import one_layer
from ._npz_model import NpzModel
from ._proof import Proof
from ._second_derivation import kernel_codes_alone
from ._state_search import INTERRUPTED, StateSearch

RELAXATIONS = 100_000
"""Steps of the search for regions."""
BIT_FOR_BIT = "every head maps codes to codes bit for bit in this arithmetic"


def quick_proof(
    model: Any,
    automaton: Automaton,
    arithmetic: Arithmetic | str,
    max_states: int,
    max_seconds: float | None,
) -> Proof | None:
    """A proof by codes or regions, if there is one."""
    if isinstance(model, Realisation):
        proof: Proof | None = kind_of(model).proof(model, automaton, arithmetic, max_states, max_seconds)
        return proof
    if isinstance(model, NpzModel):
        return _by_regions(model, model.answers(automaton), arithmetic)
    return None


def table_proof(
    lrnn: LRNN, automaton: Automaton, arithmetic: Any, max_states: int, max_seconds: float | None
) -> Proof | None:
    """In exact numbers by the table; else by codes that the arithmetic keeps, or by regions about them."""
    answers = answers_of(automaton, lrnn.automaton, lrnn.automaton.name)
    if isinstance(arithmetic, Exact):
        return _by_table(lrnn, answers)
    by_codes = _by_codes(lrnn, answers, arithmetic, max_states, max_seconds)
    return by_codes or _by_regions(lrnn, answers, arithmetic)


def _by_codes(
    lrnn: LRNN, answers: Answers, arithmetic: Any, max_states: int, max_seconds: float | None
) -> Proof | None:
    """Codes closed in the arithmetic; then the covering by its checker, else all joint codes."""
    # first: every head maps codes to codes, bit for bit
    if isinstance(arithmetic, Kernel):
        closed = kernel_codes_are_closed(lrnn, arithmetic)
    else:
        closed = isinstance(arithmetic, PerStep | PerOp) and codes_are_closed(lrnn, arithmetic)
    if not closed:
        return None
    automaton = answers.automaton
    same = answers.kind == "states" and same_automaton(automaton, lrnn.automaton)
    again: Callable[[], None] | None = None
    if isinstance(arithmetic, Kernel) and same:
        kernel = arithmetic
        deadline = None if max_seconds is None else time.monotonic() + max_seconds

        def again() -> None:
            kernel_codes_alone(lrnn, kernel, deadline=deadline)
            accept_certificate(lrnn)

    def certify() -> dict[str, Any] | str:
        if isinstance(arithmetic, Kernel):
            return f"the checker does not run the kernel of {arithmetic.name}"
        return (codes_certificate(lrnn, arithmetic) if same else None) or _search_states(
            lrnn, answers, arithmetic
        )

    # then: the covering, which the checker proves, stands for joint codes that are too many to list
    if same and lrnn.covering is not None:
        found = check(lrnn)
        if found.verdict != "valid":
            return None
        count = prod(len(head.codes) for head in lrnn.all_heads)
        reason = f"{BIT_FOR_BIT}; {found.reason}"
        return Proof(
            "equivalent", automaton, "", "codes", count, 0, answers.kind, reason, certify=certify, derive_again=again
        )  # fmt: skip
    # else all joint codes reached, by the tables alone
    search = StateSearch(CodeMachine(lrnn, answers), automaton)
    outcome = search.run(max_states=max_states, max_seconds=max_seconds)
    if outcome.stopped == INTERRUPTED:
        raise KeyboardInterrupt
    if outcome.verdict != "equivalent":
        return None  # the search of the states finds the word
    place = outcome.place
    reached = (
        "the one joint code reached is"
        if place.count == 1
        else f"all {place.count:,} joint codes reached are"
    )
    reason = f"{BIT_FOR_BIT}; {reached} right"
    return Proof(
        "equivalent", automaton, "", "codes", place.count, place.steps, answers.kind, reason, certify=certify,
        derive_again=again,
    )  # fmt: skip


def _search_states(lrnn: LRNN, answers: Answers, arithmetic: Rounded) -> dict[str, Any] | str:
    """A certificate that lists the states, for arithmetics that one of codes is not written for."""
    machine = one_layer(lrnn, answers, arithmetic)
    if machine is None:
        return f"for several layers the checker does not know {arithmetic.name}"
    search = StateSearch(machine, answers.automaton)
    if search.run(max_states=MAX_STEPS).verdict != "equivalent":
        return f"there are more than {MAX_STEPS:,} states"
    return states_certificate(search, machine, lrnn.construction)


def _by_table(lrnn: LRNN, answers: Answers) -> Proof | None:
    """In exact numbers the construction's own certificate is the proof."""
    if answers.kind != "states" or not same_automaton(answers.automaton, lrnn.automaton):
        return None
    document = full_certificate(lrnn)
    found = check(document)
    if found.verdict != "valid":
        return None
    return Proof(
        "equivalent", answers.automaton, "", "table", len(lrnn.decode), 0, answers.kind,
        f"the table of the exact LRNN; {found.reason}", certify=lambda: document,
        checked="certificate",
    )  # fmt: skip


def _by_regions(model: LRNN | NpzModel, answers: Answers, arithmetic: Any) -> Proof | None:
    machine: LinearMachine | None = None
    name = model.name if isinstance(model, NpzModel) else model.construction
    if isinstance(arithmetic, Exact):
        machine = exact_regions(model, answers) if isinstance(model, NpzModel) else None
    elif isinstance(arithmetic, PerStep):
        machine = one_layer(model, answers, arithmetic)
    if machine is None:
        return None
    document = regions_certificate(machine, arithmetic, name, RELAXATIONS)
    if document is None:
        return None
    judged = check(document)
    if judged.reason.startswith(TOO_MUCH):
        return None
    found = document["equivalence"]
    radius = found["radius"] / 2**64
    return Proof(
        "equivalent", answers.automaton, "", "regions", found["regions"], 0, answers.kind,
        f"{count_noun(found['regions'], 'ball')} about codes, of radius {radius:.3g} or less, that the letters keep",
        certify=lambda: document,
        checked="certificate" if judged.verdict == "valid" else None,
    )  # fmt: skip


def rule_proof(form: Realisation, automaton: Automaton, arithmetic: Any) -> Proof | None:
    """For a form whose letters are computed: its rule, proved by the checker of its kind, where nothing is rounded.

    The formats are those that the checker has computed itself, not what the construction says of itself.
    """
    exact = isinstance(arithmetic, Exact)
    dtype = (
        getattr(getattr(arithmetic, "values", None), "name", "") if isinstance(arithmetic, PerStep) else ""
    )
    if not (exact or dtype in form.formats) or not same_automaton(automaton, form.automaton):
        return None
    try:
        document = form.certificate()
        found = check(document)
    except MirrormataError:
        return None
    # formats that the checker has found, whatever the construction says
    if found.verdict != "valid" or not (exact or dtype in document["summary"]["formats"]):
        return None
    kind = form.kind
    why = f"the rule of the {kind}" if exact else "every layer keeps its integers exactly in this arithmetic"
    return Proof(
        "equivalent", automaton, "", kind, 0, 0, "states", f"{why}; {found.reason}; its certificate is of kind {kind}",
        certify=lambda: document,  # its summary names the formats, which the checker has computed
        checked="certificate",
    )  # fmt: skip


def decay_proof(form: Realisation, automaton: Automaton, arithmetic: Any) -> Proof | None:
    """For a decaying number: its certificate, in per_step with a format that the checker has found, rounded to nearest even."""
    if not isinstance(arithmetic, PerStep) or arithmetic.mode != "rne":
        return None
    dtype = getattr(arithmetic.values, "name", "")
    if dtype not in form.formats or not same_automaton(automaton, form.automaton):
        return None
    document = form.certificate()
    found = check(document)
    if found.verdict != "valid" or dtype not in document["summary"]["formats"]:
        return None
    return Proof(
        "equivalent", automaton, "", form.kind, 0, 0, "states", f"{found.reason}; its certificate is of kind {form.kind}",
        certify=lambda: document,
        checked="certificate",
    )  # fmt: skip


def same_automaton(first: Automaton, second: Automaton) -> bool:
    """Equal states, letters, transitions, start and outputs, in this order, labels compared as texts."""
    return first is second or (
        first.start == second.start
        and [label_text(q) for q in first.states] == [label_text(q) for q in second.states]
        and [label_text(x) for x in first.letters] == [label_text(x) for x in second.letters]
        and np.array_equal(first.transitions, second.transitions)
        and first.outputs.shape == second.outputs.shape
        and output_texts(first, first.name) == output_texts(second, second.name)
    )
