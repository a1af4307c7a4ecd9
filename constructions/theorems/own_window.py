"""own.window: a window over the last letters, then a chain of sets of the states that it leaves.

What is built, and how it acts: `ChainRNN`. Here the window is chosen: the one with the least work.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...foundation._errors import NotRealisableError
from ..chains._chain import ChainRNN
from ..chains._sizes import Window, find_windows
from ._construction import Construction, Problem
from .own_chain import require_states


def _build(problem: Problem) -> ChainRNN:
    require_states(problem, "own.window")
    automaton = problem.automaton
    windows = find_windows(automaton.transitions, problem.limits.window_sets)
    if not windows:
        raise NotRealisableError(
            f"{automaton.name}: own.window: no number of letters leaves fewer than all {len(automaton.states)} states, as where "
            "a letter permutes them; leave `theorem` out"
        )
    return min(follow_windows(problem, windows), key=lambda form: form.work)


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
    build=_build,
    tells_state_before=True,
    for_group_automata=False,
)
