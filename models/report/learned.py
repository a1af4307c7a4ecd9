"""`learned_sections`: what a report shows of a training or of a model: how it learned, how far it holds, what it learned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ...foundation._errors import MirrormataError
from .._model_file import load_model
from ..comparison._compare import compare
from ..comparison._extraction import Method
from ..comparison._result import Comparison, Tolerances
from ..comparison._states import Sampling
from ..learned._model import load_learned_model
from .folder import ReportFolder, open_folder
from .learned_clusters import clusters_section
from .learned_failure import failure_section
from .learned_heads import heads_section
from .learned_lengths import lengths_section
from .learned_margins import margins_section
from .learned_snap import snap_section
from .learned_spectra import spectra_section
from .learned_trained import Trained, open_trained
from .learned_training import task_section, training_section
from .limits import LearnedLimits, fitted
from .parts import Section

COMPARED: tuple[tuple[str, str, Callable[[str, str, Trained, Comparison, LearnedLimits], Section]], ...] = (
    ("learned-heads", "What was learned", heads_section),
    ("learned-spectra", "Spectra and β, learned beside constructed", spectra_section),
    ("learned-margins", "Norms, spread and margin over length", margins_section),
    ("learned-snap", "Snapped to an exact representation", snap_section),
    ("learned-clusters", "State clusters", clusters_section),
    ("learned-failure", "Failure", failure_section),
)
"""Slug, title and maker of the sections that need a comparison, in order; all but the last need linear heads."""


def learned_sections(
    folder: str | Path | ReportFolder, *, seed: int | None = None, limits: LearnedLimits | None = None
) -> tuple[Section, ...]:
    """Task, training, accuracy against length; then one seed's model beside the construction of its automaton.

    `folder`: what `train` wrote, or a model folder. `seed`: which model is compared, by default the one that is right
    longest. A section that does not apply says why in a sentence and has no items. Raises `InputError` for a folder that is
    neither, for a seed that is not there, and for a broken file.
    """
    asked = limits or LearnedLimits()
    place = open_trained(folder if isinstance(folder, ReportFolder) else open_folder(folder), asked, seed)
    limits = fitted(asked, place.entries)
    found, reason = compared(place, limits)
    lengths = lengths_section(place, found)
    if found is not None and limits.words < asked.words:
        fewer = f"{place.words(limits)} instead of {asked.words:,}, as a state of all heads has {place.entries:,} numbers"
        lengths = replace(lengths, text=f"{lengths.text}\n\nWhat follows is measured on {fewer}.")
    sections = [task_section(place), training_section(place), lengths]
    if found is not None and not found.heads:
        reason = (
            f"{place.config.get('family', 'the model')} has no linear heads, so only its answers are compared"
        )
    for slug, title, make in COMPARED:
        if found is not None and (found.heads or make is failure_section):
            sections.append(make(slug, title, place, found, limits))
        else:
            sections.append(Section(slug, title, f"Not here: {reason}.", ()))
    return tuple(sections)


def compared(place: Trained, limits: LearnedLimits) -> tuple[Comparison | None, str]:
    """The chosen seed's model beside the construction of its task's automaton, or why there is none."""
    if place.model is None:
        if place.result is None:
            return None, "the training is not finished, so it has written no model yet"
        return None, "the model of the seed that is right longest is not in the folder"
    if place.automaton is None:
        return None, f"the task {place.contract.task} is no automaton's"
    letters = len(place.automaton.letters)
    if letters > limits.max_letters:
        return None, f"{letters:,} letters are more than the {limits.max_letters:,} that a report compares"
    load_model(place.model)  # what is wrong with its files is an error, not a reason
    try:
        learned = load_learned_model(str(place.model), place.automaton)
        ways: tuple[Method, ...] = ("exact",)
        if place.entries <= limits.entries:
            ways = ("exact", "clusters")
        return compare(
            replace(learned, name=place.model_name),
            sampling=Sampling(limits.words, limits.length, limits.fit, limits.seed),
            tolerances=Tolerances(max_dim=limits.max_dim, max_group=limits.max_group),
            dtype=limits.dtype,
            extract=ways,
        ), ""
    except MirrormataError as error:
        return None, str(error)
