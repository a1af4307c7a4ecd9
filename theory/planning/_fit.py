"""`fit`: does an architecture hold an automaton, by which construction, or by which lower bound does it not?

Each construction makes conditions: layers, heads, factors a token, dimensions, eigenvalues, gates, what is written, and the arithmetic.
Where all conditions of one are met, the architecture holds the automaton. A lower bound whose hypotheses every model of the
architecture meets excludes it. Otherwise nothing is decided, and the answer says what is missing.

The conditions are about the recurrence. Around it a model needs what every construction here supposes: a first state, which a learned
state or a first token BOS gives; keys, values, β and gates that are any function of the token and of the layers above; and a
read-out that tells finitely many states apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ...constructions._construct import Request, trim_automaton
from ...constructions._conversions import AutomatonLike, as_automaton
from ...constructions._realisation import Realisation, Transition, rank
from ...constructions._written_values import find_written_values
from ...constructions.algebra._closed_forms import number_text
from ...constructions.algebra._cyclotomic import sign
from ...constructions.automata._automaton import Automaton
from ...constructions.chains._chain import ChainRNN
from ...constructions.theorems._construction import Limits
from ...foundation._arguments import require_instance
from ...foundation._errors import LimitError, NotRealisableError
from ...foundation._text import count_noun, one_line
from ._architecture import Architecture
from ._bounds import Bound, bounds
from ._headline import say_proof
from ._plan import BUDGET, Offer, bounds_json, plan

FitVerdict = Literal["fits", "excluded", "not decided"]
LOOK_BACK_TAPS = 2
"""The taps of a short convolution that hands on what the layers above held after the token before."""
SUPPOSED = (
    "the first state is given (by a learned state, or by a first token)",
    "keys, values, β and gates are any function of the token and of the states of the layers above",
    "the read-out tells finitely many states apart",
)
"""What is supposed of a model around its recurrence."""


@dataclass(frozen=True)
class Condition:
    """One thing that a construction needs of an architecture.

    Attributes:
        name: what it is about: an entry of `Architecture`, or `form`.
        needed: what is needed, in words.
        given: what the architecture has, in words; `not said` where it does not say.
        met: whether it is met; None where the architecture does not say.
    """

    name: str
    needed: str
    given: str
    met: bool | None

    def to_json(self) -> dict[str, Any]:
        """Return the condition as plain values for JSON."""
        return {"name": self.name, "needed": self.needed, "given": self.given, "met": self.met}


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """Whether an architecture holds an automaton, and why.

    Attributes:
        automaton: the automaton.
        architecture: the architecture.
        verdict: `fits`, `excluded` or `not decided`.
        offer: the construction that fits; where none does, the one that misses the fewest conditions; None where there is none.
        conditions: what that construction needs, met or missed.
        excluded_by: the lower bounds whose hypotheses all models of the architecture meet, and that it does not reach.
        remarks: bounds that exclude a part of these models only, what is missing, and what was left out.
    """

    automaton: Automaton
    architecture: Architecture
    verdict: FitVerdict
    offer: Offer | None
    conditions: tuple[Condition, ...]
    excluded_by: tuple[Bound, ...]
    remarks: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain values for JSON."""
        return {
            "automaton": self.automaton.name,
            "states": len(self.automaton.states),
            "letters": len(self.automaton.letters),
            "architecture": self.architecture.to_json(),
            "verdict": self.verdict,
            "construction": None if self.offer is None else self.offer.to_json(),
            "conditions": [condition.to_json() for condition in self.conditions],
            "excluded_by": bounds_json(self.excluded_by),
            "remarks": list(self.remarks),
            "supposed": list(SUPPOSED),
        }

    def __repr__(self) -> str:
        source = "" if self.offer is None or self.verdict != "fits" else f", by {self.offer.found.theorem}"
        return one_line(self, f"{self.automaton.name} in {self.architecture.name}: {self.verdict}{source}")


def fit(
    automaton: AutomatonLike,
    architecture: Architecture,
    request: Request | None = None,
    limits: Limits | None = None,
    *,
    budget: float | None = BUDGET,
) -> Fit:
    """Decide whether an architecture holds an automaton, as far as constructions and lower bounds decide it.

    Args:
        automaton: an automaton in any form that `as_automaton` accepts.
        architecture: the shape of the model.
        request: conditions on the construction (`Request`); None for none.
        limits: the limits of the search (`Limits`); None for the default limits.
        budget: the seconds that each realisation may take; None for no limit.

    Raises:
        InputError: an argument is of the wrong form.
    """
    require_instance("architecture", architecture, Architecture, "an Architecture")
    request = Request() if request is None else request
    automaton = trim_automaton(as_automaton(automaton))
    remarks: list[str] = []
    offers: Sequence[Offer] = ()
    try:
        made = plan(automaton, request, limits, budget=budget)
        offers, lower = made.offers, made.bounds
        remarks += [f"left out: {text}" for text in made.left_out]
    except (NotRealisableError, LimitError) as error:
        lower = bounds(automaton)
        remarks.append(str(error))
    judged = [(list_conditions(offer, architecture), offer) for offer in offers]
    judged.sort(
        key=lambda pair: (
            pair[0][0].met is False,
            *_missed(pair[0]),
            *rank(pair[1].found, request.objective),
        )
    )
    best, conditions = (judged[0][1], judged[0][0]) if judged else (None, ())
    excluding = [b for b in lower if _excludes(b, architecture)]
    if architecture.conv is not None and architecture.conv > 1:
        remarks.append("the short convolution is supposed to pass the current token on")
    if best is not None and _missed(conditions) == (0, 0):
        return Fit(automaton, architecture, "fits", best, conditions, (), tuple(remarks))
    verdict: FitVerdict = "excluded" if excluding else "not decided"
    if not excluding:
        remarks = [*_undecided(conditions, lower, architecture), *remarks]
    return Fit(automaton, architecture, verdict, best, conditions, tuple(excluding), tuple(remarks))


def _missed(conditions: Sequence[Condition]) -> tuple[int, int]:
    """How many conditions are not met, and of how many nothing is said."""
    return sum(c.met is False for c in conditions), sum(c.met is None for c in conditions)


def list_conditions(offer: Offer, architecture: Architecture) -> tuple[Condition, ...]:
    """What a construction needs of an architecture, in a fixed order, met or missed.

    Args:
        offer: the construction, with its certified lengths.
        architecture: the architecture.
    """
    found = offer.found
    conditions = [_form(found)]
    for name, needed, noun in (
        ("layers", found.depth, "layer"),
        ("heads", found.heads, "head"),
        ("householders", found.householders, "factor"),
        ("head_dim", found.dim, None),
        ("value_dim", found.value_dim, None),
    ):
        if needed is not None:
            conditions.append(_at_most(name, needed, noun, getattr(architecture, name)))
    if found.householders:
        conditions.append(_eigenvalues(found, architecture))
    if isinstance(found, ChainRNN) and found.look_back:
        taps = f"{LOOK_BACK_TAPS} taps, for the token before"
        if architecture.conv is None:
            conditions.append(Condition("conv", taps, "not said", None))
        else:
            given = count_noun(architecture.conv, "tap")
            conditions.append(Condition("conv", taps, given, architecture.conv >= LOOK_BACK_TAPS))
    gates = {t.gate for t in found.used_transitions if t.gate != 1}
    if gates:
        said = "the gate 0" if gates == {0} else "gates other than 1"
        conditions.append(_switch("gated", said, architecture.gated, "gates", "no gates"))
    if any(t.additive for t in found.used_transitions):
        conditions.append(
            _switch("additive", "values to write", architecture.additive, "values", "no values")
        )
    if architecture.dtype is not None:
        conditions.append(_arithmetic(offer, architecture.dtype))
    elif found.exactness not in ("integer", "algebraic"):  # right by rounding, and in these dtypes alone
        conditions.append(
            Condition("dtype", f"rounding to {' or '.join(found.formats)}", "not said: exact", None)
        )
    return tuple(conditions)


def _form(found: Realisation) -> Condition:
    """Letters as products of plain GH factors that write what is added."""
    given = "products of I - β k kᵀ, which write along their keys"
    if found.householders is None:
        return Condition("form", "letters as full matrices", given, met=False)
    if any(f.mask is not None for t in found.used_transitions for f in t.factors):
        return Condition("form", "factors with a mask (RWKV-7)", given, met=False)
    for transition in found.used_transitions:
        if _writes_entries(transition):
            continue
        if found.dim * len(transition.factors) > MAX_SYSTEM:
            return Condition("form", "terms that may or may not lie along the keys", given, met=None)
        try:
            find_written_values(transition, found.dim, found.value_dim)
        except NotRealisableError:
            return Condition("form", "terms that do not lie along a factor's key", given, met=False)
    return Condition("form", given, given, met=True)


MAX_SYSTEM = 20_000
"""Rows times columns of the linear systems that are solved to see whether factors write what is added."""


def _writes_entries(transition: Transition) -> bool:
    """Whether for each row that is written a projection erases it, and no later factor touches it: enough, and seen at once."""
    free: set[int] = set()
    touched: set[int] = set()
    for factor in reversed(transition.factors):
        support = {i for i, _ in factor.vector}
        if factor.beta == 1 and factor.vector == ((min(support), 1),) and not support & touched:
            free |= support
        touched |= support
    return all(i in free for i, _, _ in transition.additive)


def _at_most(name: str, needed: int, noun: str | None, given: int | None) -> Condition:
    def words(number: int) -> str:
        return str(number) if noun is None else count_noun(number, noun)

    if given is None:  # every architecture has at least one
        return Condition(name, words(needed), "not said, at least 1", met=True if needed <= 1 else None)
    return Condition(name, words(needed), words(given), needed <= given)


def _eigenvalues(found: Realisation, architecture: Architecture) -> Condition:
    largest = found.largest_beta
    text = str(largest) if isinstance(largest, int) else number_text(largest)
    if architecture.range is None:
        return Condition("range", f"β‖k‖² up to {text}", "not said", None)
    low, high = architecture.range
    met = (
        sign(largest - (1 - low)) <= 0
    )  # a factor's eigenvalue is 1 - β‖k‖², which is at least the lower end
    return Condition("range", f"β‖k‖² up to {text}", f"up to {1 - low}, eigenvalues in [{low}, {high}]", met)


def _switch(name: str, needed: str, given: bool | None, yes: str, no: str) -> Condition:
    if given is None:
        return Condition(name, needed, "not said", None)
    return Condition(name, needed, yes if given else no, given)


def _arithmetic(offer: Offer, dtype: str) -> Condition:
    found = offer.found
    if dtype in found.formats:
        if found.integer_bound is None:
            return Condition("dtype", f"rounding to {' or '.join(found.formats)}", dtype, met=True)
        return Condition(
            "dtype", f"integers up to {found.integer_bound}", f"{dtype}, which has them", met=True
        )
    length = (offer.horizons or {}).get(dtype)
    if found.exactness == "integer":
        return Condition(
            "dtype", f"integers up to {found.integer_bound}", f"{dtype}, which has not", met=False
        )
    certified = "no length is certified" if length is None else f"right to token {length:,}"
    return Condition("dtype", "algebraic numbers", f"{dtype}, which rounds them: {certified}", met=False)


def _excludes(bound: Bound, architecture: Architecture) -> bool:
    """Whether all models of the architecture meet the bound's hypotheses, and none of them reaches the bound.

    The finiteness, the exactness and the arithmetic are hypotheses that stay, as the bound's text says.
    """
    a = architecture
    if (a.conv is None or a.conv > 1) or not a.unit_keys:
        return False  # A(x) is then a function of several tokens, or its norm is not bounded
    low = None if a.range is None else a.range[0]
    one_layer, factors = a.layers == 1, a.householders
    if bound.figure == "householders":
        return one_layer and factors is not None and factors < bound.at_least
    if bound.figure == "single_factor_layers":
        return one_layer and factors == 1
    # G.T1 excludes nothing here: products of different factors with eigenvalues in [0, 1] can have negative ones
    return bound.figure == "beta" and low == 0


def _undecided(
    conditions: Sequence[Condition], lower: Sequence[Bound], architecture: Architecture
) -> list[str]:
    """What would decide, and which bounds exclude a part of the architecture's models."""
    remarks = []
    open_entries = [c.name for c in conditions if c.met is None]
    if "form" in open_entries:
        open_entries.remove("form")
        remarks.append("whether the nearest construction's terms lie along its keys was not found out")
    unsaid = list(dict.fromkeys((*open_entries, *architecture.missing)))
    if unsaid:
        remarks.append(f"not said, and needed to decide: {', '.join(unsaid)}")
    missed = [f"{c.name} (needed: {c.needed}, here: {c.given})" for c in conditions if c.met is False]
    if missed:
        remarks.append(
            f"the nearest construction misses {', '.join(missed)}; no bound says that others do too"
        )
    a = architecture
    if (a.conv is None or a.conv > 1) and lower:
        remarks.append(
            "no bound applies where keys and values can depend on several tokens (conv); with conv = 0 some may"
        )
    if not a.unit_keys:
        remarks.append("no bound applies where keys need not have length 1, since norms are not bounded then")
    sizes = (a.heads, a.head_dim, a.value_dim)
    for bound in lower if a.conv is not None and a.conv <= 1 else ():
        if bound.figure == "layers" and a.layers == 1 and a.unit_keys:
            remarks.append(f"impossible with one vector a state: {bound.text}")
        if bound.figure == "state_size" and a.layers == 1 and None not in sizes:
            size = (a.heads or 1) * (a.head_dim or 1) * (a.value_dim or 1)
            if size < bound.at_least:
                remarks.append(f"impossible with one vector a state, of {size} numbers: {bound.text}")
    return remarks


def print_fit(made: Fit, wording: Callable[[str], str] = str) -> None:
    """Prints the verdict, the construction with its conditions, the bounds and remarks.

    Args:
        made: the answer.
        wording: how texts that name arguments are printed; the command line puts its options there.
    """
    from rich import box
    from rich.table import Table

    from ...foundation._text import console

    shown = console()
    shown.print(f"{made.automaton.name} in {made.architecture.name}: {made.verdict}", style="bold")
    if made.offer is not None:
        found = made.offer.found
        said = "by" if made.verdict == "fits" else "the nearest construction:"
        shown.print(f"{said} {found.theorem}: {found.construction}")
        table = Table(box=box.SIMPLE, pad_edge=False)
        table.add_column("", no_wrap=True)
        for column in ("needed", "here"):
            table.add_column(column, overflow="fold")
        table.add_column("", no_wrap=True)
        marks = {True: "met", False: "missed", None: "?"}
        for c in made.conditions:
            table.add_row(c.name, c.needed, c.given, marks[c.met])
        shown.print(table)
    for bound in made.excluded_by:
        shown.print(f"excluded, {say_proof(bound)}: {bound.text}")
    for remark in made.remarks:
        shown.print(wording(remark))
    shown.print(f"supposed: {'; '.join(SUPPOSED)}")
