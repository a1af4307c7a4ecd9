"""own.window: a window over the last letters, then a chain of sets of the states that it leaves.

What is built, and how it acts: `ChainRNN`. Here the window is chosen: for the least layers × work, the least work, and the fewest layers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ...foundation._errors import LimitError, NotRealisableError
from .._realisation import rank
from ..algebra._definite import deciding_length, number_maps
from ..chains._chain import ChainRNN
from ..chains._sizes import Window, find_windows
from ._construction import Build, Construction, Problem
from .own_chain import require_states

SEARCHED_STATES = 64
"""Number of states beyond which no shorter window of a definite automaton is sought: the last letters decide its state."""
MAX_WORDS = 1_000_000
"""Most words of these letters with which this holds, since a checker lists the states to which they lead."""


def _forms(problem: Problem, exactness: str) -> Sequence[Build]:
    """The chains that nothing beats in layers, work and their product: behind a short window there are more layers, behind a long one wider heads.

    Every chain is integer, whatever `exactness` is.
    """
    require_states(problem, "own.window")
    automaton = problem.automaton
    windows = list_windows(problem)
    if not windows:
        raise NotRealisableError(
            f"{automaton.name}: own.window: no number of letters leaves fewer than all {len(automaton.states)} states, as where "
            "a letter permutes them; leave `theorem` out"
        )
    offered = follow_windows(problem, windows)
    best = [min(offered, key=partial(rank, objective=objective)) for objective in (None, "work", "layers")]
    distinct = {(form.window, form.sizes): form for form in best}
    return [partial(_take, form) for form in distinct.values()]


def list_windows(problem: Problem) -> list[Window]:
    """The windows of an automaton; that of a large definite automaton, which needs no search.

    Args:
        problem: the automaton, and the limits of the search.

    Raises:
        LimitError: a limit was reached before any window was found.
    """
    transitions = problem.automaton.transitions
    maps = number_maps(transitions)[1]
    length = deciding_length(maps) if len(maps) and transitions.shape[1] > SEARCHED_STATES else None
    # each word of so many letters is one image set or fewer
    if length is not None and len(maps) ** length <= MAX_WORDS:
        return [Window(1, length)]
    try:
        return find_windows(transitions, problem.limits.window_sets)
    except LimitError as error:
        raise LimitError(f"{problem.automaton.name}: own.window: {error}") from None


def _take(form: ChainRNN, problem: Problem) -> ChainRNN:
    return form


def follow_windows(problem: Problem, windows: Sequence[Window]) -> list[ChainRNN]:
    """The chain behind each window, every size one less than the one before.

    Args:
        problem: the automaton.
        windows: what `find_windows` found for it.
    """
    return [ChainRNN(problem.automaton, tuple(range(w.size, 0, -1)), w.length) for w in windows]


CONSTRUCTION = Construction(
    source="own.window",
    title="any automaton without letters that permute the states, by a window of letters and a chain of sets",
    order=114,
    examples=("tomita:4", "random:states=20,letters=2,seed=1", "regex:(a|b)*a(a|b)(a|b)"),
    refusals={"mod:1": "one state needs no chain", "T3": "a letter permutes them"},
    forms=_forms,
    tells_state_before=True,
    for_group_automata=False,
)
