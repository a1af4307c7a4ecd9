"""own.serial: a quotient of the automaton first, then what is left of it, in as many layers as needed.

A congruence is a partition of the states that every letter respects; its classes are the states of a quotient. If layer 1 follows
the class, another component has to tell the states within a class apart, and reads the letter and the class before it. That
component is no quotient: its labels need not be respected by the letters. The same works along a chain of congruences, each
finer than the one before, down to the states themselves; components that do not need each other's states share a layer
(`_serial_search.py`).

Several states may also stand for one of the automaton, such as a state beside the last letter: `_redundant.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...foundation._errors import LimitError, NotRealisableError
from .._lrnn import LRNN
from .._realisation import weigh
from ._construction import Build, Construction, Problem
from ._in_series import in_series
from ._redundant import RedundantStates
from ._rest import sizes_by_layer
from ._serial_search import Plan, SerialSearch


def _forms(problem: Problem, exactness: str) -> Sequence[Build]:
    """The cheapest one, then each with the states as they are and with redundant ones, in any numbers and in integers."""
    kinds = ("integer",) if exactness == "integer" else ("any", "integer")
    plain, redundant = _each_once(_with_states_alone), _each_once(_with_redundant_states)

    def cheapest(problem: Problem) -> LRNN:
        found, errors = [], []
        for of in (plain, redundant):
            try:
                found.append(of(problem, exactness))
            except (NotRealisableError, LimitError) as error:
                errors.append(error)
        if not found:
            raise errors[0]
        return min(found, key=weigh)

    return (cheapest, *(_in_numbers(of, kind) for of in (plain, redundant) for kind in kinds))


def _in_numbers(of: Callable[[Problem, str], LRNN], exactness: str) -> Build:
    return lambda problem: of(problem, exactness)


def _each_once(of: Callable[[Problem, str], LRNN]) -> Callable[[Problem, str], LRNN]:
    """The function, which remembers what it returned or raised, and takes what consists of integers for integers as well."""
    known: dict[str, LRNN | NotRealisableError | LimitError] = {}

    def build(problem: Problem, exactness: str) -> LRNN:
        other = known.get("any")
        if isinstance(other, LRNN) and other.exactness == "integer":
            return other
        if exactness not in known:
            try:
                known[exactness] = of(problem, exactness)
            except (NotRealisableError, LimitError) as error:
                known[exactness] = error
        found = known[exactness]
        if isinstance(found, LRNN):
            return found
        raise found

    return build


def _with_states_alone(problem: Problem, exactness: str) -> LRNN:
    return follow_plan(problem, SerialSearch(problem, exactness).plan())


def _with_redundant_states(problem: Problem, exactness: str) -> LRNN:
    return RedundantStates(problem, exactness).cheapest()


def follow_plan(problem: Problem, plan: Plan) -> LRNN:
    """The LRNN of a plan's components.

    Args:
        problem: the automaton and limits.
        plan: components that determine the states.

    Raises:
        NotRealisableError: they are all quotients, which one layer follows side by side; or a head cannot keep what is needed.
        LimitError: there are too many joint states.
    """
    name = f"{problem.automaton.name}: own.serial"
    if plan.price[0] == 1:
        raise NotRealisableError(f"{name}: its quotients side by side take one layer; leave `theorem` out")
    return in_series(
        problem.automaton,
        sorted(plan.components, key=lambda c: c.level),
        theorem="own.serial",
        construction=f"components in series, states by layer {sizes_by_layer(plan.components)}",
    )


CONSTRUCTION = Construction(
    source="own.serial",
    title="a quotient by a congruence first, then what is left of the automaton, in few layers",
    order=85,
    examples=("even_pairs", "mod_arith:3", "tomita:3"),
    refusals={
        "T3": "no proper congruence",
        "boxes:3,2": "side by side",
        "mod_arith:5": "no chain of congruences",
    },
    forms=_forms,
    for_group_automata=False,  # one layer, which G.T3 has
)
