"""`learned_sections`: what a report shows of a training or of a model: how it learned, how far it holds, what it learned."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ...constructions.errors import MirrormataError
from ..comparison import compare
from ..comparison_result import Comparison, Tolerances
from ..comparison_states import Sampling
from ..extraction import Method
from ..learned_model import load_learned_model
from ..model_file import load_model
from .learned_clusters import clusters_section
from .learned_failure import failure_section
from .learned_folder import LearnedFolder, open_learned
from .learned_heads import heads_section
from .learned_lengths import lengths_section
from .learned_limits import LearnedLimits, fitted
from .learned_margins import margins_section
from .learned_snap import snap_section
from .learned_spectra import spectra_section
from .learned_training import task_section, training_section
from .parts import Section

TITLES = (
    ("learned-heads", "What was learned"),
    ("learned-spectra", "Spectra and β, learned beside constructed"),
    ("learned-margins", "Norms, spread and margin over length"),
    ("learned-snap", "Snapped to an exact representation"),
    ("learned-clusters", "State clusters"),
    ("learned-failure", "Why it fails"),
)
"""Slugs and titles of the sections that need a comparison, in order."""


def learned_sections(
    folder: str | Path, *, seed: int | None = None, limits: LearnedLimits | None = None
) -> tuple[Section, ...]:
    """Task, training, accuracy against length; then one seed's model beside the construction of its automaton.

    `folder`: what `train` wrote, or a model folder. `seed`: which model is compared, by default the one that is right
    longest. A section that does not apply says why in a sentence and has no items. Raises `InputError` for a folder that is
    neither, for a seed that is not there, and for a broken file.
    """
    limits = limits or LearnedLimits()
    place = open_learned(folder, limits, seed)
    limits = fitted(limits, place.entries)
    found, reason = compared(place, limits)
    sections = [task_section(place), training_section(place), lengths_section(place, found)]
    if found is None:
        sections += [Section(slug, title, f"Not here: {reason}.", ()) for slug, title in TITLES]
        return tuple(sections)
    (heads, spectra, margins, snapped, clusters, failure) = TITLES
    of_heads = (
        (heads_section, heads),
        (spectra_section, spectra),
        (margins_section, margins),
        (snap_section, snapped),
    )
    for make, (slug, title) in (*of_heads, (clusters_section, clusters)):
        if found.heads:
            sections.append(make(slug, title, place, found, limits))
        else:
            family = place.config.get("family", "the model")
            sections.append(
                Section(
                    slug,
                    title,
                    f"Not here: {family} has no linear heads, so only its answers are compared.",
                    (),
                )
            )
    sections.append(failure_section(*failure, place, found, limits))
    return tuple(sections)


def compared(place: LearnedFolder, limits: LearnedLimits) -> tuple[Comparison | None, str]:
    """The chosen seed's model beside the construction of its task's automaton, or why there is none."""
    if place.model is None:
        return None, "the training is not finished, so it has written no model yet"
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
