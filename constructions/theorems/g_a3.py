"""G.A3: any automaton in one layer with one-hot states and its 0/1 transition matrices; the norm can exceed 1.

A baseline without the norm bound: the matrices are not products of GH factors with norm ≤ 1, and where a letter
merges k states the norm is √k, so that products of real, perturbed matrices of this kind need not stay bounded.
"""

from __future__ import annotations

from .._lrnn import LRNN
from .._realisation import Transition
from ..automata._automaton import Automaton
from ..heads._assembly import one_code_a_state
from ._construction import Construction, Problem


def unbounded_lrnn(automaton: Automaton) -> LRNN:
    """Construct the LRNN with A(x) e_q = e_{δ(q, x)} and H_0 = e_{q0}, which is integer and so bit-exact in every format.

    Args:
        automaton: the automaton to be realised.

    Examples:
        >>> from mirrormata import automaton_from_spec
        >>> from mirrormata.constructions import unbounded_lrnn
        >>> unbounded_lrnn(automaton_from_spec("T3"))
        <LRNN of T3 by G.A3: 1 layer, no factors, 1 head, dimension 3, integer>
    """
    size = len(automaton.states)
    return one_code_a_state(
        automaton,
        size,
        [
            Transition(matrix=tuple(sorted((r, q, 1) for q, r in enumerate(image))))
            for image in automaton.transitions.tolist()
        ],
        [((q, 0, 1),) for q in range(size)],
        theorem="G.A3",
        construction=f"one-hot states and 0/1 matrices, {size} × {size}",
        notes=["the norm of a transition can exceed 1: no bound on a product of such matrices is claimed"],
    )


def _build(problem: Problem) -> LRNN:
    return unbounded_lrnn(problem.automaton)


CONSTRUCTION = Construction(
    source="G.A3",
    title="0/1 transition matrices without a norm bound, for any automaton",
    order=140,
    examples=("tomita:3", "T3", "parity"),
    build=_build,
    by_request="its norm can exceed 1",
    norm_bounded=False,
)
