"""own.chain: any automaton of n states in at most n - 1 layers, by a chain of sets, its letters computed by a rule.

What is built, and how it acts: `ChainRNN`. Here its sizes are chosen.
"""

from __future__ import annotations

from ...foundation._errors import NotRealisableError
from ..chains._chain import ChainRNN
from ..chains._sizes import plan_sizes
from ._construction import Construction, Problem


def run_starts(problem: Problem) -> list[int]:
    """The states from which runs of the automaton begin: its start, or every state where it does not reach all."""
    automaton = problem.automaton
    every = range(len(automaton.states))
    return [automaton.start] if len(automaton.reachable()) == len(every) else list(every)


def require_states(problem: Problem, source: str) -> None:
    """`NotRealisableError` for an automaton of one state."""
    if len(problem.automaton.states) == 1:
        raise NotRealisableError(
            f"{problem.automaton.name}: {source}: one state needs no chain; leave `theorem` out"
        )


def build_chain(problem: Problem, source: str = "own.chain") -> ChainRNN:
    """The chain from all states, with planned sizes.

    Args:
        problem: the automaton and the limits.
        source: the theorem that an error names.

    Raises:
        NotRealisableError: the automaton has one state.
    """
    require_states(problem, source)
    transitions = problem.automaton.transitions
    return ChainRNN(problem.automaton, plan_sizes(transitions, run_starts(problem), problem.limits.chains))


CONSTRUCTION = Construction(
    source="own.chain",
    title="any automaton of n states in at most n - 1 layers, by a chain of sets",
    order=112,
    examples=("T4", "mod_arith:3", "random:states=12,letters=2,seed=1"),
    refusals={"mod:1": "one state needs no chain"},
    build=build_chain,
    tells_state_before=True,
    for_group_automata=False,  # one level that permutes the states, which G.T3 has
)
