"""`plan`: the realisations on offer for an automaton, which of them nothing beats, and lower bounds with reasons.

A plan as text: a table of the realisations, then the lower bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from ...constructions._construct import (
    Choice,
    Exactness,
    Request,
    choose_by_rule,
    name_by_request,
    pick,
    trim_automaton,
)
from ...constructions._conversions import AutomatonLike, as_automaton
from ...constructions._realisation import Realisation, cost, rank
from ...constructions.automata._automaton import Automaton
from ...constructions.automata._equal_states import equal_states
from ...constructions.cascades._cascade import MAX_LEVEL_LETTERS
from ...constructions.cascades._image_sets import MAX_IMAGE_SETS, MAX_SET_MOVES
from ...constructions.cascades._layers import CoordinateKind
from ...constructions.heads._candidates import MAX_DEGREE
from ...constructions.theorems._construction import Limits
from ...constructions.theorems._registry import all_constructions, construction_of
from ...constructions.theorems._search_limits import FEW_FACTORS, search_limits
from ...foundation._arguments import require_instance, require_number
from ...foundation._errors import InputError, LimitError, NotRealisableError
from ...foundation._text import console, count_noun, html_table, one_line
from .._kinds import kind_of
from ._bounds import Bound, ReachedBound, bounds, reached_bounds
from ._headline import describe_construction, list_strongest, say_proof
from ._trying import try_constructions

if TYPE_CHECKING:
    from rich.console import Console

Record = TypeVar("Record", Request, Limits)
PLANNED_HORIZON_CODES = 500
"""Horizons are computed, and checked, for heads of up to this many codes; `construct -o` does so for all."""


@dataclass(frozen=True, eq=False)
class Offer:
    """A realisation in a plan.

    Attributes:
        found: the realisation.
        pareto: whether no other realisation is at least as good in layers, factors, dimension, work, size of the certificate,
            exactness and norm, and better in one of them.
        letter_factors: for one layer the most factors of each letter in a head, else None.
        layer_factors: the largest number of factors of a letter in each layer, None where letters are not products of
            factors.
        parameters: the number of parameters that describe all letters (β and key of each factor, and added
            entries); None if it was not counted.
        horizons: for each dtype the certified length, None for no limit; the dtype is absent if no length is
            certified or it was not computed.
        bounds: the lower bounds whose hypotheses the realisation meets, with its own figures.
        by_request: why `construct` builds it only where its theorem is named; empty if it needs no request.
    """

    found: Realisation
    pareto: bool
    letter_factors: tuple[int, ...] | None
    layer_factors: tuple[int, ...] | None
    parameters: int | None
    horizons: dict[str, int | None] | None
    bounds: tuple[ReachedBound, ...]
    by_request: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain values for JSON."""
        return {
            "pareto": self.pareto,
            "theorem": self.found.theorem,
            "construction": self.found.construction,
            "by_request": self.by_request or None,
            **self.found.summary(),
            "letter_factors": None if self.letter_factors is None else list(self.letter_factors),
            "layer_factors": None if self.layer_factors is None else list(self.layer_factors),
            "parameters": self.parameters,
            "work": self.found.work,
            "certificate_bytes": self.found.certificate_bytes,
            "horizons": self.horizons,
            "lower_bounds": [b.to_json() for b in self.bounds],
            "notes": list(self.found.notes),
        }


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """All known realisations of an automaton that meet a request.

    Attributes:
        automaton: the automaton.
        offers: the realisations, by layers, then factors; by the objective where there is one.
        bounds: the lower bounds that are known for the automaton.
        left_out: the constructions that were left out because of a limit or of the time, with reasons and what can be done.
        not_built: the constructions that were known to lose, or not to meet the request, before they were built.
        notes: what was changed when the automaton was read, and whether it has equal states.
        chosen: the one of the offers that `construct` takes under the same conditions.
        chosen_for: the rule by which `construct` takes it.
    """

    automaton: Automaton
    offers: tuple[Offer, ...]
    bounds: tuple[Bound, ...]
    left_out: tuple[str, ...]
    not_built: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    chosen: Offer | None = None
    chosen_for: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain values for JSON."""
        return {
            "automaton": self.automaton.name,
            "states": len(self.automaton.states),
            "letters": len(self.automaton.letters),
            "realisations": [offer.to_json() for offer in self.offers],
            "chosen": None if self.chosen is None else self.offers.index(self.chosen),
            "chosen_for": self.chosen_for or None,
            "lower_bounds": bounds_json(self.bounds),
            "left_out": list(self.left_out),
            "not_built": list(self.not_built),
            "notes": list(self.notes),
        }

    def rows(self) -> list[tuple[str, ...]]:
        """The rows of a table: the headings, then one row for each realisation."""
        rows: list[tuple[str, ...]] = [
            ("theorem", "layers", "factors", "heads", "dimension", "work", "size", "numbers")
        ]
        for offer in self.offers:
            found = offer.found
            factors = "none" if found.householders is None else str(found.householders)
            rows.append(
                (
                    found.theorem,
                    str(found.depth),
                    factors,
                    str(found.heads),
                    str(found.dim),
                    "none" if found.work is None else str(found.work),
                    _size(found.certificate_bytes),
                    found.exactness,
                )
            )
        return rows

    def __repr__(self) -> str:
        count, chosen = len(self.offers), self.chosen
        cheapest = "" if chosen is None else f", of which construct takes {chosen.found.theorem}"
        return one_line(self, f"{self.automaton.name}, {count_noun(count, 'realisation')}{cheapest}")

    def _repr_html_(self) -> str:
        headings, *rows = self.rows()
        return html_table(f"Plan for {self.automaton.name}", rows, headings)


BUDGET = 30.0
"""Seconds that one realisation may take, with its certificate's size, unless the caller says otherwise."""


def plan(
    automaton: AutomatonLike,
    request: Request | None = None,
    limits: Limits | None = None,
    *,
    exactness: Exactness | str = "any",
    theorem: str | None = None,
    max_layers: int | None = None,
    max_householders: int | None = None,
    max_dim: int | None = None,
    coordinates: CoordinateKind | str = "few",
    objective: str | None = None,
    max_degree: int = MAX_DEGREE,
    max_group: int = 5_000,
    max_image_sets: int = MAX_IMAGE_SETS,
    max_set_moves: int = MAX_SET_MOVES,
    max_level_letters: int = MAX_LEVEL_LETTERS,
    budget: float | None = BUDGET,
) -> Plan:
    """List all known realisations of an automaton that meet the conditions.

    The order is by layers, then factors, then integer numbers before others, then dimension; `chosen` is the one that `construct` takes. Realisations whose norm exceeds 1 are at the
    end. Those that `construct` builds only where `theorem` names them say why (`Offer.by_request`). For group automata the cascade and own.LMI are left out, since
    they are then one layer of permutations of the states.

    Args:
        automaton: an automaton in any form that `as_automaton` accepts.
        request: the conditions as one record (`Request`), in place of the arguments from `exactness` to `objective`.
        limits: the limits of the search as one record (`Limits`), in place of the arguments from `max_degree` on.
        exactness: `any`, or `integer` for integer constructions only, which are bit-exact.
        theorem: use only the constructions of this theorem, such as `G.T4`; None for all.
        max_layers: the largest number of layers, 1 or more; None for no bound.
        max_householders: the largest number of GH factors of a letter in one head, 0 or more; None for no bound.
        max_dim: largest key dimension of a head, 1 or more; None for no bound.
        coordinates: coordinates of the components of a cascade, `few` or `one_hot`.
        objective: what is to be as small as possible, one of `layers`, `factors`, `dim`, `work` and `size`; None for the order above.
        max_degree: the largest degree of a number field.
        max_group: the largest order of a group whose elements are listed.
        max_image_sets: the largest number of image sets of a cascade.
        max_set_moves: the largest number of entries in the table of their images (image sets times letters).
        max_level_letters: the largest number of letters on one level of a cascade.
        budget: the seconds that each realisation may take, above 0; None for no limit. In a thread other than the main one, and on systems
            without timers, nothing is interrupted.

    Raises:
        NotRealisableError: no known realisation meets the request.
        LimitError: none was found, and one was stopped by a limit.
        InputError: an argument is of the wrong form, or conditions or limits are given twice.

    Examples:
        >>> [offer.found.depth for offer in plan("mod:3", max_layers=2, max_householders=1).offers]
        [2, 2]
    """
    asked = Request(exactness, theorem, max_layers, max_householders, max_dim, coordinates, objective)
    within = Limits(max_degree, max_group, max_image_sets, max_set_moves, max_level_letters)
    request = _one_of_two("request", request, Request, asked, Request())
    limits = _one_of_two("limits", limits, Limits, within, Limits())
    if budget is not None:
        require_number("budget", budget, "a number of seconds, 0.001 or more", least=0.001)
    automaton = as_automaton(automaton)
    notes = (*automaton.notes, *equal_states(automaton))
    automaton = trim_automaton(automaton)
    tried = try_constructions(automaton, request, limits, budget)
    found, left_out = tried.found, tried.left_out
    lower = bounds(automaton)
    if not found:
        # a theorem that forbids the request is the better reason, if there is one
        reason = find_forbidding_error(automaton, request, lower)
        if reason is not None:
            raise reason
        if left_out:
            raise LimitError(left_out[0])
        raise tried.unfit or NotRealisableError(
            f"{automaton.name}: nothing on offer with {' and '.join(request.list_asked()) or 'these limits'}"
        )
    found.sort(
        key=lambda f: (_norm_rank(f), cost(f) if request.objective is None else rank(f, request.objective))
    )
    merits = [_merits(f) for f in found]
    offers = tuple(
        _offer(f, not any(_beats(other, own) for other in merits), lower)
        for f, own in zip(found, merits, strict=True)
    )
    left_out += _limits_of_heads(automaton, offers, limits)
    usual = [offer for offer in offers if not offer.by_request] or list(offers)
    choice = pick([offer.found for offer in usual], request)
    chosen = next(offer for offer in usual if offer.found is choice.found)
    not_built = tuple(tried.not_built)
    return Plan(
        automaton, offers, lower, tuple(dict.fromkeys(left_out)), not_built, notes, chosen, choice.rule
    )


def _limits_of_heads(automaton: Automaton, offers: Iterable[Offer], limits: Limits | None) -> list[str]:
    """What the search for heads of a group left out; nothing where it found few factors, or as few as a bound allows."""
    heads = [offer for offer in offers if offer.found.depth == 1 and not offer.by_request]
    if not heads:
        return []
    fewest = min(heads, key=lambda offer: cost(offer.found))
    proved = any(b.figure == "householders" and b.optimal for b in fewest.bounds)
    if proved or cost(fewest.found)[1] <= FEW_FACTORS:
        return []
    return search_limits(automaton, (limits or Limits()).group)


def _one_of_two(
    name: str, record: Record | None, kind: type[Record], said: Record, default: Record
) -> Record:
    """The record that is given, or what the arguments say; `InputError` where both say something."""
    if record is None:
        return said
    require_instance(name, record, kind, f"a {kind.__name__}")
    if said != default:
        raise InputError(f"plan: `{name}` is given, and so are arguments that it holds: give one of the two")
    return record


def choose_or_refuse(automaton: Automaton, request: Request, limits: Limits | None = None) -> Realisation:
    """`choose`; where nothing is within the request and a theorem forbids it, the error says which."""
    return choose_by_rule_or_refuse(automaton, request, limits).found


def choose_by_rule_or_refuse(automaton: Automaton, request: Request, limits: Limits | None = None) -> Choice:
    """The same with the rule that decided."""
    try:
        return choose_by_rule(automaton, request, limits)
    except (NotRealisableError, LimitError):
        trimmed = trim_automaton(automaton)
        reason = find_forbidding_error(automaton, request, bounds(trimmed))
        if reason is None:
            raise
        # what is built by request alone need not meet the hypotheses of the bound
        by_request = name_by_request(trimmed, request, limits)
        raise NotRealisableError(f"{reason}; {by_request}" if by_request else str(reason)) from None


def find_forbidding_error(
    automaton: Automaton, request: Request, lower: Iterable[Bound]
) -> NotRealisableError | None:
    """The error that names the theorem by which a request is impossible; None where none is known to forbid it."""
    if request.theorem is not None and not construction_of(request.theorem).norm_bounded:
        return None  # the norm of these is not what the bounds speak of
    for bound in sorted(lower, key=lambda b: -b.at_least):
        by_factors = (
            bound.figure == "householders"
            and request.max_layers == 1
            and request.max_householders is not None
            and request.max_householders < bound.at_least
        )
        by_layers = (
            bound.figure == "single_factor_layers"
            and request.max_householders in (0, 1)
            and request.max_layers is not None
            and request.max_layers < bound.at_least
        )
        if by_factors or by_layers:
            return NotRealisableError(
                f"{automaton.name}: {' and '.join(request.list_asked())} {'are' if len(request.list_asked()) > 1 else 'is'} "
                f"impossible under the hypotheses named: {bound.text}"
            )
    return None


def report(
    choice: Choice, certificate: str | None = None, reached: Iterable[ReachedBound] | None = None
) -> dict[str, Any]:
    """The figures that `construct` prints: those of the summary, sizes, lower bounds, the certificate's path.

    The lower bounds are those whose hypotheses this construction meets (`reached_bounds`), `reached` where they are known.
    """
    found = choice.found
    return {
        "states": len(found.automaton.states),
        "letters": len(found.automaton.letters),
        "construction": found.construction,
        "theorem": found.theorem,
        **found.summary(),
        "work": found.work,
        "chosen_for": choice.rule,
        "hypotheses": list(found.figures.hypotheses),
        "lower_bounds": [b.to_json() for b in (reached_bounds(found) if reached is None else reached)],
        "notes": list(found.notes),
        "certificate": certificate,
    }


def bounds_json(lower: Iterable[Bound]) -> list[dict[str, Any]]:
    """Lower bounds as plain values."""
    return [
        {
            "figure": b.figure,
            "at_least": b.at_least,
            "reason": b.reason,
            "kind": b.kind,
            "hypotheses": b.hypotheses,
            "text": b.text,
        }
        for b in lower
    ]


def _norm_rank(found: Realisation) -> int:
    return 0 if found.norm == "at most 1" else 1


UNKNOWN = 10**18
"""What stands for a figure that is not known, or that there is none of."""


def _merits(found: Realisation) -> tuple[int, ...]:
    layers, factors, algebraic, dim, _ = cost(found)
    work, size = (UNKNOWN if x is None else x for x in (found.work, found.certificate_bytes))
    return layers, factors, dim, work, size, int(algebraic), _norm_rank(found)


def _beats(other: tuple[int, ...], own: tuple[int, ...]) -> bool:
    return other != own and all(a <= b for a, b in zip(other, own, strict=True))


def _offer(found: Realisation, pareto: bool, lower: Iterable[Bound]) -> Offer:
    horizons: dict[str, int | None] | None
    if found.exactness != "algebraic":  # right at any length in its formats
        horizons = dict.fromkeys(found.formats)
    else:
        horizons = kind_of(found).horizons(found, PLANNED_HORIZON_CODES)
    return Offer(
        found,
        pareto,
        found.letter_factors,
        found.layer_factors,
        found.parameters,
        horizons,
        reached_bounds(found, lower),
        by_request=_reason_by_request(found),
    )


def _reason_by_request(found: Realisation) -> str:
    """Why the construction of a realisation is built only where its theorem is named; empty for others, and for several together."""
    construction = all_constructions().get(found.theorem)
    return "" if construction is None else construction.by_request


def describe_plan(made: Plan) -> str:
    """What counts of a plan in a sentence or two: how many constructions there are, and the one that `construct` takes, and why."""
    first = (made.chosen or made.offers[0]).found
    unbeaten = sum(offer.pareto for offer in made.offers)
    many = count_noun(len(made.offers), "construction")
    if len(made.offers) == 1:
        return f"{made.automaton.name}: {many}, by {first.theorem}: {describe_construction(first)}."
    beaten = (
        f"{unbeaten} of which no other one beats"
        if unbeaten < len(made.offers)
        else "none of which beats another"
    )
    rule = made.chosen_for
    chosen = f"Chosen {'as' if rule.startswith('the only one') else 'for'} {rule}" if rule else "The first"
    return (
        f"{made.automaton.name}: {many}, {beaten}. {chosen}: {first.theorem}, {describe_construction(first)}."
    )


def print_plan(made: Plan, wording: Callable[[str], str] = str, *, details: bool = False) -> None:
    """Prints the plan; `*` marks what no other realisation beats, and `†` what `construct` builds only where its theorem is named.

    Args:
        made: the plan.
        wording: how texts that name arguments are printed; the command line puts its options there.
        details: whether notes, what was not built, and every lower bound with its evidence and hypotheses are printed too.
    """
    from rich import box
    from rich.table import Table

    shown = console()
    shown.print(wording(describe_plan(made)), style="bold")
    table = Table(box=box.SIMPLE, pad_edge=False)
    for column in ("", "", "layers", "factors", "heads", "dim", "work", "size"):
        table.add_column(column, justify="right" if column else "left", no_wrap=True)
    table.add_column("exact", overflow="fold")
    for number, offer in enumerate(made.offers, start=1):
        table.add_row("*" * offer.pareto + "†" * bool(offer.by_request), str(number), *_cells(offer))
    shown.print(table)
    for number, offer in enumerate(made.offers, start=1):
        optimal = [f"{b.figure} ({b.reason})" for b in offer.bounds if b.optimal and b.figure != "beta"]
        said = f"; optimal under the bound's hypotheses: {', '.join(optimal)}" if optimal else ""
        shown.print(f"{number}. {offer.found.theorem}: {offer.found.construction}{said}")
    shown.print(
        "* no other one is at least as good in layers, factors, dimension, work, size, exactness and norm, and better in one"
    )
    if any(offer.found.certificate_bytes is None for offer in made.offers):
        shown.print("? its certificate is beyond a limit")
    if any(offer.found.work is None for offer in made.offers):
        shown.print("- its letters are matrices, not products of Householder factors")
    if any(offer.by_request for offer in made.offers):
        shown.print(wording(f"† built only where `theorem` names it: {_list_by_request(made.offers)}"))
    for text in made.left_out:
        shown.print(f"left out: {wording(text)}")
    if details:
        _print_details(made, shown, wording)
        return
    for text, _ in list_strongest(made.bounds):
        shown.print(f"lower bound: {text}")
    if made.bounds:
        shown.print(
            wording(
                "`details` adds hypotheses and evidence of every bound; `mirrormata claims ID` explains a theorem"
            )
        )
    else:
        shown.print("lower bound: none is known")


def _print_details(made: Plan, shown: Console, wording: Callable[[str], str]) -> None:
    """Notes, what was not built, and every lower bound in full."""
    for note in dict.fromkeys(note for offer in made.offers for note in offer.found.notes):
        shown.print(f"note: {note}")
    for text in made.not_built:
        shown.print(f"not built: {wording(text)}")
    for bound in made.bounds:
        shown.print(f"lower bound, {say_proof(bound)}: {bound.text}")
    for text in dict.fromkeys(
        _following(b)
        for offer in made.offers
        for b in offer.bounds
        if b.figure == "layers" and b.hypotheses.startswith("at most")
    ):
        shown.print(text)
    if not made.bounds:
        shown.print("lower bound: none is known")


def _list_by_request(offers: Iterable[Offer]) -> str:
    """The theorems that must be named, each reason once behind those that have it."""
    sources: dict[str, list[str]] = {}
    for offer in offers:
        if offer.by_request and offer.found.theorem not in sources.setdefault(offer.by_request, []):
            sources[offer.by_request].append(offer.found.theorem)
    return "; ".join(f"{', '.join(named)} ({reason})" for reason, named in sources.items())


def _following(bound: ReachedBound) -> str:
    """What a bound on factors says of layers, where an offer has fewer factors than one layer needs."""
    return f"it follows: {bound.figure} ≥ {bound.at_least} ({bound.reason}): {bound.why}; hypotheses: {bound.hypotheses}"


def _cells(offer: Offer) -> tuple[str, ...]:
    found, summary = offer.found, offer.found.summary()
    factors = summary["householders"]
    return (
        str(summary["layers"]),
        "-" if factors is None else str(factors),
        str(summary["heads"]),
        str(summary["dim"]),
        "-" if found.work is None else f"{found.work:,}",
        _size(found.certificate_bytes),
        _exact(offer),
    )


def _size(size: int | None) -> str:
    """Bytes to three digits: `795 B`, `1.58 kB`."""
    if size is None:
        return "?"
    units = ("B", "kB", "MB", "GB")
    power = min((len(str(size)) - 1) // 3, 3)
    return f"{size / 1000**power:.3g} {units[power]}"


def _exact(offer: Offer) -> str:
    """In which dtypes, or for how long."""
    summary = offer.found.summary()
    norm = "" if summary["norm"] == "at most 1" else f"; norm {summary['norm']}"
    if summary["exactness"] == "rounded":
        return f"rounded, right in {', '.join(offer.found.formats)}{norm}"
    if summary["exactness"] == "integer":
        formats = offer.found.formats
        return ("all dtypes" if len(formats) == 6 else ", ".join(formats) or "no dtype") + norm
    lengths = offer.horizons or {}
    if not lengths:
        return f"algebraic{norm}"
    listed = [f"{dtype} {lengths[dtype]:,}" for dtype in ("bf16", "fp32") if lengths.get(dtype) is not None]
    return f"at least to token {', '.join(listed)}{norm}"
