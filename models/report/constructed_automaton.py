"""The automaton of a construction in a report: its picture and its facts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...constructions._inspection import inspect_automaton
from ...constructions.automata._automaton import Automaton, breadth_first
from ...constructions.texts._show import counted, label_text
from ...foundation._errors import InputError
from ...theory.pictures._automaton import svg_text
from .limits import ShownLimits, some_of
from .parts import Picture, Section, Table


def automaton_section(automaton: Automaton, limits: ShownLimits) -> Section:
    """The drawing, where the limits allow one, and the facts of `inspect`."""
    picture, words = _picture(automaton, limits)
    name = label_text(automaton.name)
    text = (
        f"{name} has {counted(len(automaton.states), 'state')} and {counted(len(automaton.letters), 'letter')} and starts "
        f"in {label_text(automaton.states[automaton.start])}." + (f" {words}" if picture is None else "")
    )
    facts = _facts(automaton, limits)
    return Section("automaton", "Automaton", text, (facts,) if picture is None else (picture, facts))


def drawn_letters(automaton: Automaton, max_arrows: int) -> list[int]:
    """All letters where they need at most so many arrows, else few letters that reach all that is reachable.

    An arrow joins one state to another, however many letters it stands for.
    """
    every = list(range(len(automaton.letters)))
    if _arrows(automaton, every) <= max_arrows:
        return every
    maps, kept = automaton.transitions, list[int]()
    reached = np.zeros(len(automaton.states), dtype=bool)
    reached[automaton.start] = True
    while (beyond := (~reached[maps[:, reached]]).any(axis=1)).any():
        kept.append(int(beyond.argmax()))
        reached[breadth_first(maps[kept], automaton.start)] = True
    return sorted(kept)


def _arrows(automaton: Automaton, letters: list[int]) -> int:
    n = len(automaton.states)
    return len(np.unique(automaton.transitions[letters] + n * np.arange(n)))


def _picture(automaton: Automaton, limits: ShownLimits) -> tuple[Picture | None, str]:
    """The picture, or None, and a sentence that says what was left out."""
    n, letters = len(automaton.states), drawn_letters(automaton, limits.arrows)
    if n > limits.states:
        return (
            None,
            f"It is not drawn: {n:,} states are more than the {limits.states:,} that a drawing may have.",
        )
    arrows = _arrows(automaton, letters)
    if arrows > limits.arrows:
        return None, (
            f"It is not drawn: even the {counted(len(letters), 'letter')} that reach every state need {arrows:,} arrows, "
            f"more than the {limits.arrows:,} that a drawing may have."
        )
    part = automaton
    if len(letters) < len(automaton.letters):
        part = replace(
            automaton,
            letters=tuple(automaton.letters[x] for x in letters),
            transitions=automaton.transitions[letters],
            outputs=automaton.outputs[letters] if automaton.is_mealy else automaton.outputs,
        )
    try:
        svg = svg_text(part, max_drawn=limits.states)
    except InputError as error:
        return None, f"It is not drawn: {str(error).removeprefix(f'{automaton.name}: ')}."
    shown = some_of(len(letters), len(automaton.letters), "letter")
    which = "" if part is automaton else "; they reach every state that all letters together reach"
    words = f"Drawn {'is' if len(letters) == 1 else 'are'} {shown}{which}."
    description = (
        f"{counted(n, 'state')} as circles and {counted(arrows, 'arrow')} with their letters, the start "
        f"{label_text(automaton.states[automaton.start])} marked by an arrow from nowhere. {words}"
    )
    return Picture(
        "automaton-picture", "States and letters", description, svg[svg.index("<svg") :], _source(automaton)
    ), words


def _facts(automaton: Automaton, limits: ShownLimits) -> Table:
    facts = inspect_automaton(automaton, max_monoid=limits.monoid)
    rows = tuple(facts.rows())
    sort = "a group" if facts.group else "no group"
    size = "of unknown size" if facts.monoid is None else f"with {counted(facts.monoid, 'element')}"
    description = f"The letters generate a transition monoid {size}, which is {sort}."
    return Table("automaton-facts", "Facts", description, ("fact", "value"), rows, _source(automaton))


def _source(automaton: Automaton) -> str:
    return f"the transition table of {label_text(automaton.name)}"
