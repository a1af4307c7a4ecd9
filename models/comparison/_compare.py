"""`compare`: a learned layer beside a constructed one: letters, representations, alignment, horizons, causes, automaton."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, TypeAlias

import numpy as np

from ...constructions._construct import construct
from ...constructions._conversions import AutomatonLike, as_automaton
from ...constructions._document import find_document, is_certificate
from ...constructions._lrnn import table_of
from ...constructions._realisation import Realisation
from ...constructions.automata._automaton import Automaton
from ...constructions.automata._labels import label_text
from ...foundation._arguments import (
    require_callback,
    require_choice,
    require_instance,
    require_list,
)
from ...foundation._errors import InputError, LimitError, MirrormataError
from ...foundation._files import path_of
from ...foundation._interrupting import take_interrupt
from ...foundation._text import count_noun
from ...theory._realisations import realisation_in, realisation_of
from ...theory.arithmetic._rounding import float_format
from .._sources import ModelSource
from ..learned._learned import Learned, LearnedHead
from ._budget import Clock
from ._causes import Failure, causal_check, eigenvalues_in_zero_one, horizon_of, parse_per_step, why_it_fails
from ._extraction import METHODS, Extracted, Method, cluster_within, extract_exact, learn_from
from ._learning import INTERRUPTED, Teacher
from ._procrustes import align_letters, disparity
from ._ranks import predict_ranks
from ._representations import CharacterTable, TransitionGroup, character_table, representation_of
from ._result import Comparison, HeadComparison, Tolerances, restrict_to_subspace
from ._snap import Snapped, snap
from ._sources import learned_from_lrnn, learned_of
from ._spectra import LetterFacts, letter_facts
from ._states import ClassGeometry, Sampling, Trace, class_geometry, follow_words

Beside: TypeAlias = Realisation | AutomatonLike | Mapping[str, Any] | PathLike[str] | None
"""What a model may be compared with: a construction, a certificate, or anything that is an automaton."""
FOLLOWED, FOUND = 0.4, 0.75
"""Shares of the time, about, at which the model has run on all words, and the causal check begins."""
SHORTEST = 4
"""The fewest letters whose states are averaged without being asked for, where more find no head."""
EXTRACTING = 0.5
"""The share of the time, about, at which extraction begins where the model answers queries."""


def compare(
    learned: ModelSource,
    constructed: Beside = None,
    *,
    sampling: Sampling | None = None,
    tolerances: Tolerances | None = None,
    dtype: str = "fp32",
    arithmetic: str | None = None,
    extract: Sequence[Method] = ("exact", "clusters"),
    progress: Callable[[float], None] | None = None,
) -> Comparison:
    """Compare a learned layer with a construction of the automaton that it should follow.

    Args:
        learned: a model in any form: a path, a `Model`, a construction, a certificate, a `Stepper`, a `Learned`.
        constructed: a construction or its certificate (or the path of one), or an automaton or SPEC, for which
            `construct` chooses a construction. By default the automaton is the one that the model names.
        sampling: the random words; by default 256 of 1,024 letters.
        tolerances: all tolerances and limits of the comparison.
        dtype: the float format of the horizon by rounding, such as `fp32`.
        arithmetic: the arithmetic, `per_step:FORMAT`, of a certificate that the model must fail; None to search for none.
        extract: the methods, from `METHODS`, that extract the automaton; `exact` is left out, with a note, if it does not apply.
        progress: called with the fraction of the work that is done, from time to time.

    Returns:
        The comparison; `to_json()` returns every figure. Extraction ends within `extract_seconds` of the tolerances, and Ctrl-C ends
        it too; the automata that were found until then, also partly, are in the result.

    Raises:
        InputError: `learned` is not a model, `constructed` is not a construction or automaton, or their automata differ.
    """
    if sampling is not None:
        require_instance("sampling", sampling, Sampling, "a Sampling")
    if tolerances is not None:
        require_instance("tolerances", tolerances, Tolerances, "a Tolerances")
    float_format(dtype)
    if arithmetic is not None:
        parse_per_step(arithmetic)
    ways = require_list("extract", extract, f"a list of ways, of {', '.join(METHODS)}")
    for way in ways:
        require_choice("extract", way, METHODS)
    require_callback("progress", progress, "a function of the share that is done")
    given, automaton = _target(constructed)
    learned = learned_of(learned, automaton)
    if automaton is not None and given is None and not _same_table(automaton, learned.target.automaton):
        raise InputError(
            f"`constructed` is {automaton.name}, and {learned.name} is held against {learned.target.automaton.name}: give the "
            "same one, or leave it out"
        )
    sampling, tolerances = sampling or Sampling(), tolerances or Tolerances()
    automaton = learned.target.automaton
    notes = [*learned.notes]
    beside = _construct_beside(learned, given, notes)
    begin = EXTRACTING if {"kv", "lstar"} & set(ways) else 1.0
    trace = follow_words(learned, sampling, _share_progress(progress, 0, FOLLOWED * begin))
    trace, geometries = _find_classes(learned, trace, tolerances, notes)
    sampling = trace.sampling
    table = _find_characters(learned, tolerances, notes)
    heads = tuple(
        _head(learned, head, geometry, table, tolerances)
        for head, geometry in zip(learned.heads, geometries, strict=True)
    )
    other_facts: tuple[tuple[LetterFacts, ...], ...] = ()
    if beside is not None:
        seen = replace(sampling, length=sampling.averaged)
        theirs = follow_words(beside, seen)
        places = [
            (h, class_geometry(theirs, i, len(automaton.states), tolerances.subspace))
            for i, h in enumerate(beside.heads)
        ]
        other_facts = tuple(
            letter_facts(h, learned.letters, tolerances.rank, tolerances.max_dim, geometry.basis)
            for h, geometry in places
        )
        heads = tuple(_align(h, places) for h in heads)
    carrying = [
        (h.head, h.geometry, h.representation)
        for h in heads
        if h.carries_states and h.representation is not None
    ]
    if table is None:
        snapped = Snapped((), None, notes[-1])
    else:
        snapped = snap(
            automaton, carrying, max_degree=tolerances.max_degree, max_group=tolerances.max_group,
            seed=sampling.seed,
        )  # fmt: skip
    by_name = {s.head.name: s for s in snapped.heads}
    heads = tuple(replace(h, snapped=by_name.get(h.head.name)) for h in heads)
    needed = snapped.needed or tuple(h.head.name for h in heads if h.carries_states)
    horizon = horizon_of(
        snapped.lrnn,
        snapped.reason,
        tuple(s for s in snapped.heads if s.head.name in needed),
        tuple(h.geometry for h in heads if h.head.name in needed),
        trace.lengths,
        sampling,
        trace.observed,
        dtype,
    )
    below = eigenvalues_in_zero_one([h.facts for h in heads])
    failure = (
        Failure(below, None, "no certificate was looked for")
        if arithmetic is None
        else why_it_fails(learned, below, arithmetic, max_steps=tolerances.max_steps)
    )
    causal = causal_check(learned, snapped.heads, sampling, _share_progress(progress, FOUND * begin, begin))
    extracted = _extract_all(
        learned, ways, snapped, tolerances, sampling.seed, notes, _share_progress(progress, begin, 1)
    )
    return Comparison(
        learned, beside, other_facts, trace, heads, snapped, horizon,
        tuple(causal), failure,
        tuple(extracted), tolerances, tuple(notes),
    )  # fmt: skip


def _share_progress(
    progress: Callable[[float], None] | None, begin: float, end: float
) -> Callable[[float], None] | None:
    """A report of one part's progress as progress of the whole, of which that part runs from `begin` to `end`."""
    return None if progress is None else lambda share: progress(begin + (end - begin) * share)


def _target(given: Beside) -> tuple[Realisation | None, Automaton | None]:
    """The construction that was given, if one was, and the automaton."""
    if given is None:
        return None, None
    if isinstance(given, str | PathLike):
        given = str(path_of(given, "constructed", "a construction, a certificate or an automaton"))
    document = find_document(given) if isinstance(given, str) else None
    if document is not None:
        found = realisation_in(document, str(given))
        return found, found.automaton
    if isinstance(given, Realisation) or is_certificate(given):
        found = realisation_of(given, "constructed")
        return found, found.automaton
    return None, as_automaton(given, argument="constructed")


def _construct_beside(learned: Learned, given: Realisation | None, notes: list[str]) -> Learned | None:
    automaton = learned.target.automaton
    try:
        found = construct(automaton) if given is None else given
        if given is not None and not _same_table(given.automaton, automaton):
            raise InputError(
                f"{given.construction}: it realises {given.automaton.name}, and {learned.name} is held against "
                f"{automaton.name}: give a construction of that one"
            )
        return learned_from_lrnn(table_of(found, "it has no letters to compare"))
    except MirrormataError as error:
        if given is not None:
            raise
        notes.append(f"nothing constructed stands beside it: {error}")
        return None


def _same_table(first: Automaton, second: Automaton) -> bool:
    """Whether two automata have the same letters in the same order, start and transitions."""
    return (
        [label_text(x) for x in first.letters] == [label_text(x) for x in second.letters]
        and first.start == second.start
        and np.array_equal(first.transitions, second.transitions)
    )


def _find_characters(learned: Learned, tolerances: Tolerances, notes: list[str]) -> CharacterTable | None:
    automaton = learned.target.automaton
    if not automaton.is_permutation:
        notes.append(f"{automaton.name} is no group automaton, so no head carries a representation")
        return None
    if len(automaton.reachable()) < len(automaton.states):
        notes.append(
            f"{automaton.name} has states that its start does not reach: no representation is sought"
        )
        return None
    try:
        return character_table(TransitionGroup.of(automaton, tolerances.max_group))
    except LimitError as error:
        notes.append(str(error))
        return None


def _find_classes(
    learned: Learned, trace: Trace, tolerances: Tolerances, notes: list[str]
) -> tuple[Trace, list[ClassGeometry]]:
    """The geometry of every head, from fewer letters where no head tells states apart at the length that was given.

    A head that drifts within that length keeps its states before: where transitions depend on the letter alone, half as many letters
    are taken, down to `SHORTEST`, as long as they reach every state that was seen. The trace that is returned says how many were taken.
    """

    def classes_of(trace: Trace) -> list[ClassGeometry]:
        states = len(learned.target.automaton.states)
        return [class_geometry(trace, h, states, tolerances.subspace) for h in range(len(learned.heads))]

    given, first = trace.sampling.averaged, classes_of(trace)
    if not first or any(g.told_apart > 1 for g in first):
        return trace, first
    fit, tried = given // 2, [given]
    alone = not any(
        head.spread for head in learned.heads
    )  # else few letters show the last ones, not the state
    while fit >= SHORTEST and alone:
        shorter = replace(trace, sampling=replace(trace.sampling, fit=fit))
        found = classes_of(shorter)
        if any(len(g.seen) < len(f.seen) for g, f in zip(found, first, strict=True)):
            break
        if any(g.told_apart > 1 for g in found):
            notes.append(
                f"no head tells states apart by their means over the first {count_noun(given, 'letter')}, as where heads drift: all "
                f"means are those over the first {count_noun(fit, 'letter')}, where heads were found"
            )
            return shorter, found
        tried.append(fit)
        fit //= 2
    *longer, least = tried
    lengths = (", ".join(f"{t:,}" for t in longer) + " or " if longer else "") + count_noun(least, "letter")
    hint = "; fewer letters may find heads" if least > SHORTEST else ""
    notes.append(f"no head tells states apart by their means over the first {lengths}{hint}")
    return trace, first


def _head(
    learned: Learned,
    head: LearnedHead,
    geometry: ClassGeometry,
    table: CharacterTable | None,
    tolerances: Tolerances,
) -> HeadComparison:
    automaton = learned.target.automaton
    U = geometry.basis
    neutral = {
        letter: float(np.linalg.norm(A @ U - U, 2)) if U.size else 0.0
        for letter, A, row in zip(learned.letters, head.A, automaton.transitions, strict=True)
        if (row == np.arange(len(row))).all()
    }
    facts = letter_facts(head, learned.letters, tolerances.rank, tolerances.max_dim, U)
    representation = None
    if table is not None and geometry.told_apart > 1:
        representation = representation_of(head, U, table)
    ranks = None if representation is None else predict_ranks(representation)
    return HeadComparison(head, facts, geometry, neutral, representation, ranks=ranks)


def _align(h: HeadComparison, places: Sequence[tuple[LearnedHead, ClassGeometry]]) -> HeadComparison:
    """The head with the constructed one of its dimension that is nearest, aligned with it."""
    best = h
    for head, geometry in places:
        if geometry.rank != h.geometry.rank or not h.carries_states:
            continue
        A, C = restrict_to_subspace(h.head, h.geometry), restrict_to_subspace(head, geometry)
        found = align_letters(A, C)
        if best.alignment is None or found.residual < best.alignment.residual:
            best = replace(
                h,
                beside=head.name,
                alignment=found,
                state_disparity=disparity(_points(h.geometry), _points(geometry)),
            )
    return best


def _points(geometry: ClassGeometry) -> Any:
    return geometry.means.reshape(len(geometry.means), -1).T


def _extract_all(
    learned: Learned,
    ways: Sequence[Method],
    snapped: Snapped,
    tolerances: Tolerances,
    seed: int,
    notes: list[str],
    progress: Callable[[float], None] | None,
) -> list[Extracted]:
    """What each method finds within its share of the time that is left; an interrupt ends the last of them."""
    clock, teacher = Clock(tolerances.extract_seconds), None
    found: list[Extracted] = []
    for i, way in enumerate(ways):
        share = _share_progress(progress, i / len(ways), (i + 1) / len(ways))
        to_come = sum(w != "exact" for w in ways[i:]) or 1
        own = Clock(max(0.0, tolerances.extract_seconds - clock.spent) / to_come, share)
        try:
            if way == "exact":
                one = extract_exact(learned, snapped.heads)
            elif way == "clusters":
                one = cluster_within(learned, own, seed=seed)
            else:
                teacher = teacher or Teacher(learned)
                one = learn_from(
                    teacher, way, own, seed=seed, max_states=tolerances.max_states, max_queries=tolerances.max_queries
                )  # fmt: skip
        except (InputError, LimitError) as error:
            notes.append(str(error))
            continue
        except KeyboardInterrupt:
            take_interrupt()
            notes.append(f"{learned.name}: no extraction by {', '.join(ways[i:])}: interrupted")
            return found
        found.append(one)
        if one.stopped == INTERRUPTED:
            if rest := ways[i + 1 :]:
                notes.append(f"{learned.name}: no extraction by {', '.join(rest)}: interrupted")
            return found
    return found
