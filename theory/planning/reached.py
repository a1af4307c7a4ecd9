"""Which lower bounds speak of a construction at hand, and whether it attains them.

A bound is a statement about the linear RNNs that meet its hypotheses. Beside a construction that does not meet them (two
layers, where the bound is about one) its number says nothing, so it is left out here; `plan` and certificates of kind
`bound` state all bounds, each with its hypotheses.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ...constructions.lrnn import LRNN
from ...constructions.real_cyclotomic import Number, enclosure, sign, simplest
from ...constructions.realisations import Realisation
from ...constructions.texts.closed_forms import number_text
from ..checker.bound import FINITE
from .bounds import Bound, bounds

BESIDE_ONE_LAYER = FINITE.removeprefix("one layer, ")
"""What H.rank and CK.S5 suppose of every layer."""


@dataclass(frozen=True)
class ReachedBound:
    """A bound whose hypotheses a construction meets, and the construction's own figure.

    `figure`, `at_least`, `reason`, `kind`, `hypotheses`: as in `Bound`; the figure may also be `layers`. `reached`: the
    construction's figure, an integer or a number as text. `why`: one line, the evidence from the automaton.
    """

    figure: str
    at_least: int
    reached: int | str
    reason: str
    kind: str
    hypotheses: str
    why: str

    @property
    def optimal(self) -> bool:
        """Does no linear RNN that meets the hypotheses have a smaller figure?"""
        return self.reached == self.at_least

    @property
    def text(self) -> str:
        """One readable line."""
        if self.figure == "beta":
            return (
                f"largest β‖v‖² = {self.reached}, and {self.at_least} must be reached ({self.reason}) among RNNs with "
                f"{self.hypotheses}"
            )
        here = "reached: optimal" if self.optimal else f"{self.reached} here"
        return f"{self.figure} ≥ {self.at_least}, {here} ({self.reason}) among RNNs with {self.hypotheses}"

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "figure": self.figure,
            "at_least": self.at_least,
            "reached": self.reached,
            "optimal": self.optimal,
            "reason": self.reason,
            "kind": self.kind,
            "hypotheses": self.hypotheses,
            "text": self.text,
            "why": self.why,
        }


def reached_bounds(found: Realisation, lower: Iterable[Bound] | None = None) -> tuple[ReachedBound, ...]:
    """The bounds whose hypotheses the construction meets, the strongest for each figure, in the order of `bounds`.

    `lower`: the automaton's bounds, where they are known already. Bounds in model `cast` (G.T1, G.T2) are not among
    them: a construction is a statement in exact numbers. Where it has several layers and fewer factors than one layer
    needs by H.rank or CK.S5, that is a bound on its layers.
    """
    strongest: dict[tuple[str, str], ReachedBound] = {}
    for bound in bounds(found.automaton) if lower is None else lower:
        here = _of_layers(found, bound) or _reached(found, bound)
        if here is None:
            continue
        key = (here.figure, here.hypotheses)
        if key not in strongest or strongest[key].at_least < here.at_least:
            strongest[key] = here
    return tuple(strongest.values())


def reached(found: Realisation, bound: Bound) -> int | str | None:
    """The construction's figure, where it meets the bound's hypotheses and the figure is a number of it; else None."""
    one = found.summary()["layers"] == 1
    if bound.figure == "state_size":
        if isinstance(found, LRNN) and one and len(found.decode) == len(found.automaton.states):
            return sum(h.dim * h.value_dim for h in found.all_heads)
        return None
    if not _contracts(found):
        return None
    if bound.figure == "householders":
        return found.householders if one else None
    if bound.figure == "beta":
        return _largest_beta(found)
    return None


def _reached(found: Realisation, bound: Bound) -> ReachedBound | None:
    value = reached(found, bound)
    if value is None:
        return None
    return ReachedBound(
        bound.figure, bound.at_least, value, bound.reason, bound.kind, bound.hypotheses, bound.why
    )


def _of_layers(found: Realisation, bound: Bound) -> ReachedBound | None:
    """One layer would need `bound.at_least` factors, this has fewer a layer: so it must have two layers."""
    layers, factors = found.summary()["layers"], found.householders
    if bound.figure != "householders" or layers == 1 or factors is None or not _contracts(found):
        return None
    if factors >= bound.at_least:
        return None
    most = f"at most {factors} factor{'s' * (factors != 1)} a letter in each head"
    why = f"one layer needs {bound.at_least}: {bound.why}"
    return ReachedBound(
        "layers", 2, int(str(layers)), bound.reason, bound.kind, f"{most}, {BESIDE_ONE_LAYER}", why
    )


def _contracts(found: Realisation) -> bool:
    """Are all letters products of factors with β‖v‖² in [0, 2] and gates in [0, 1]?"""
    if found.summary()["norm"] != "at most 1":
        return False
    if not isinstance(found, LRNN):
        return True  # a block delay has no gates
    return all(sign(t.gate) >= 0 for head in found.all_heads for t in head.transitions)


def _largest_beta(found: Realisation) -> int | str:
    """The largest β‖v‖² of a factor; in a block delay 2, that of its swaps, which its counters do not exceed."""
    if not isinstance(found, LRNN):
        return 2
    sizes: list[Number] = [
        f.beta * f.norm_squared for head in found.all_heads for t in head.transitions for f in t.factors
    ]
    if not sizes:
        return 0
    largest = max((simplest(x) for x in sizes), key=lambda x: enclosure(x, 64))
    return largest if isinstance(largest, int) else number_text(largest)
