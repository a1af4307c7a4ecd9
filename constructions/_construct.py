"""`construct`: from an automaton to the realisation that costs least, within what is asked for.

Read in this order: `construct` makes a `Request` of its arguments; `choose` has the constructions built that come into
question, each a file of `theorems/`, and takes the cheapest; `realisations_of` builds those of one theorem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, overload

from ..foundation._arguments import require_choice, require_optional_count
from ..foundation._errors import LimitError, NotRealisableError
from ..foundation._text import count_noun
from ._conversions import AutomatonLike, as_automaton
from ._like_letters import merge_like_letters, spread_over_letters
from ._lrnn import LRNN
from ._realisation import OBJECTIVES, Realisation, cost, rank, weigh
from .automata._automaton import Automaton
from .cascades._cascade import MAX_LEVEL_LETTERS
from .cascades._image_sets import MAX_IMAGE_SETS, MAX_SET_MOVES
from .cascades._layers import CoordinateKind
from .chains._chain import ChainRNN
from .heads._candidates import MAX_DEGREE
from .theorems._construction import Build, Construction, Limits, Problem
from .theorems._one_layer import group_lrnn
from .theorems._registry import all_constructions, construction_of

Exactness = Literal["any", "integer"]


@dataclass(frozen=True)
class Request:
    """The conditions that a realisation must meet.

    Args:
        exactness: `any`, or `integer` for integer constructions only, which are bit-exact.
        theorem: use only the constructions of this theorem, such as `G.T4`; None for all.
        max_layers: the largest number of layers, 1 or more; None for no bound.
        max_householders: the largest number of GH factors of a letter in one head, 0 or more; None for no bound.
        max_dim: largest key dimension of a head, 1 or more; None for no bound.
        coordinates: coordinates of the components of a cascade, `few` or `one_hot`.
        objective: what is to be as small as possible, one of `OBJECTIVES`; None for the default rule.

    Raises:
        InputError: an argument has a wrong value, or there is no construction for that theorem.
    """

    exactness: Exactness | str = "any"
    theorem: str | None = None
    max_layers: int | None = None
    max_householders: int | None = None
    max_dim: int | None = None
    coordinates: CoordinateKind | str = "few"
    objective: str | None = None

    def __post_init__(self) -> None:
        require_choice("exactness", self.exactness, ("any", "integer"))
        require_choice("coordinates", self.coordinates, ("few", "one_hot"))
        if self.objective is not None:
            require_choice("objective", self.objective, tuple(OBJECTIVES))
        if self.theorem is not None:
            object.__setattr__(self, "theorem", construction_of(self.theorem).source)
        for name, bound in self.bounds().items():
            require_optional_count(name, bound, 0 if name == "max_householders" else 1)

    def bounds(self) -> dict[str, int | None]:
        """The upper bounds on layers, factors and dimension, by the names of the arguments."""
        return {
            "max_layers": self.max_layers,
            "max_householders": self.max_householders,
            "max_dim": self.max_dim,
        }

    @property
    def is_bounded(self) -> bool:
        """Whether there is a bound on layers, factors or dimension."""
        return any(bound is not None for bound in self.bounds().values())

    def list_asked(self) -> list[str]:
        """The arguments that differ from their defaults, each with its value."""
        parts = [f"`{name}` {bound}" for name, bound in self.bounds().items() if bound is not None]
        parts += [f"`theorem` {self.theorem}"] * (self.theorem is not None)
        parts += ["`exactness` integer"] * (self.exactness == "integer")
        return parts

    def admits(self, found: Realisation) -> bool:
        """Whether a realisation meets the conditions.

        Args:
            found: a realisation.
        """
        return _excess(found, self) == 0

    def problem(self, automaton: Automaton, limits: Limits | None) -> Problem:
        """Combine an automaton with limits and with the coordinates of this request.

        Args:
            automaton: the automaton to be realised.
            limits: the limits of the search (`Limits`); None for the default limits.
        """
        return Problem(automaton, limits, "one_hot" if self.coordinates == "one_hot" else "few")


@overload
def construct(
    automaton: AutomatonLike,
    *,
    exactness: Exactness | str = ...,
    theorem: None = ...,
    coordinates: CoordinateKind | str = ...,
    objective: None = ...,
    max_degree: int = ...,
    max_group: int = ...,
    max_image_sets: int = ...,
    max_set_moves: int = ...,
    max_level_letters: int = ...,
) -> Any: ...  # an LRNN, or a ChainRNN where a table would be large: whoever knows which one needs no cast
@overload
def construct(
    automaton: AutomatonLike,
    *,
    exactness: Exactness | str = ...,
    theorem: str | None = ...,
    max_layers: int | None = ...,
    max_householders: int | None = ...,
    max_dim: int | None = ...,
    coordinates: CoordinateKind | str = ...,
    objective: str | None = ...,
    max_degree: int = ...,
    max_group: int = ...,
    max_image_sets: int = ...,
    max_set_moves: int = ...,
    max_level_letters: int = ...,
) -> Realisation: ...
def construct(
    automaton: AutomatonLike,
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
) -> Realisation:
    """Construct an exact linear RNN that realises an automaton.

    A group automaton gets one layer, with the fewest factors. Any other gets, of the constructions that come into question, the one with the
    least product of layers and work (`Realisation.work`). The same holds among the constructions that meet a bound on layers, factors or
    dimension, and among the forms of a `theorem`; for a group automaton it is then the one with the fewest layers, then the fewest factors, then
    integer numbers if possible, then the smallest dimension. A realisation that needs gates, or whose norm can exceed 1, is built only if `theorem`
    names it.

    The result is an `LRNN`, which is a table; or, for automata whose table would be large and for Mealy machines whose outputs need the
    state before, a `ChainRNN`, which computes its letters; or a `BlockDelay` (DP.T1) or `BlockRNN` (own.blocks), which a bound on factors can select. They share
    the interface `Realisation`.

    Args:
        automaton: an `Automaton`, a SPEC such as `S5`, or any other form that `as_automaton` accepts; unreachable states
            are dropped unless the automaton is marked to keep them.
        exactness: `any`, or `integer` for integer constructions only, which are bit-exact.
        theorem: use only the constructions of this theorem, such as `G.T4` or `DP.T1`.
        max_layers: the largest number of layers, 1 or more.
        max_householders: the largest number of GH factors of a letter in one head, 0 or more.
        max_dim: largest key dimension of a head, 1 or more.
        coordinates: coordinates of the components of a cascade, `few` or `one_hot`.
        objective: what is to be as small as possible among all constructions on offer: `layers`, `factors`, `dim`, `work` or `size`
            (bytes of the certificate). None for the rule above.
        max_degree: the largest degree of a number field.
        max_group: the largest order of a group whose elements are listed.
        max_image_sets: the largest number of image sets of a cascade.
        max_set_moves: the largest number of entries in the table of their images (image sets times letters).
        max_level_letters: the largest number of letters on one level of a cascade.

    Raises:
        NotRealisableError: no known construction meets the conditions.
        LimitError: a limit was reached before this could be decided.
        InputError: an argument or the SPEC is wrong.
    """
    automaton = as_automaton(automaton)
    request = Request(exactness, theorem, max_layers, max_householders, max_dim, coordinates, objective)
    limits = Limits(max_degree, max_group, max_image_sets, max_set_moves, max_level_letters)
    return choose(automaton, request, limits)


ONE_LAYER = "a single layer, with the fewest factors"
"""The rule by which group automata are realised."""
FEW_LAYERS = "fewest layers, then fewest factors"
"""The rule by which they are realised within bounds, where one layer may not do."""
LAYERS_TIMES_WORK = "least layers × work"
"""The rule by which the others are realised: few layers where they are not paid for with too many factors."""
WITHOUT_DELAY = f"{LAYERS_TIMES_WORK} without block delay"
"""The same where nothing bounds the factors of a token, which is what block delays are for."""
ONLY_ONE = "the only one on offer by `theorem` {}"
"""What stands for a rule where there was no choice."""


@dataclass(frozen=True)
class Choice:
    """What was chosen for a request, and by which rule.

    Attributes:
        found: the realisation.
        rule: what it was chosen for, in words: one of `OBJECTIVES`, or one of the rules above.
    """

    found: Realisation
    rule: str


def choose(automaton: AutomatonLike, request: Request, limits: Limits | None = None) -> Realisation:
    """The cheapest realisation within a request, see `construct`."""
    return choose_by_rule(automaton, request, limits).found


def choose_by_rule(automaton: AutomatonLike, request: Request, limits: Limits | None = None) -> Choice:
    """The cheapest realisation within a request, and the rule that decided, see `construct`.

    Of letters that act alike the constructions see one.
    """
    automaton = trim_automaton(as_automaton(automaton))
    fewer, kinds = merge_like_letters(automaton)
    choice = _choose(fewer, request, limits)
    found = spread_over_letters(
        choice.found, automaton, kinds, lambda: _choose(automaton, request, limits).found
    )
    return replace(choice, found=_with_notes_of(automaton, found))


def _with_notes_of(automaton: Automaton, found: Realisation) -> Realisation:
    """The realisation, whose notes begin with what was changed when its automaton was read, such as a sink that was added."""
    if not automaton.notes:
        return found
    made: Any = found  # each kind is a dataclass with notes
    noted: Realisation = replace(made, notes=tuple(dict.fromkeys((*automaton.notes, *found.notes))))
    return noted


def _choose(automaton: Automaton, request: Request, limits: Limits | None) -> Choice:
    problem = request.problem(automaton, limits)
    if request.theorem is not None:
        asked = construction_of(request.theorem)
        require_outputs(asked, automaton)
        offers = _of_one(problem, asked, request.exactness)
    elif not request.is_bounded and request.objective is None:
        return _by_default(problem, request)
    else:
        wanted = [
            c
            for c in constructions_for(automaton)
            if not c.by_request
            and c.tells_outputs(automaton)
            and c.excess_layers(problem, request.max_layers) is None
        ]
        if request.objective is not None:
            problem = request.problem(automaton, _tried_limits(problem))
        offers = all_realisations(problem, request.exactness, wanted)
    try:
        return _cheapest(automaton, request, offers)
    except (NotRealisableError, LimitError) as error:
        by_request = _list_by_request(problem, request)
        raise type(error)(f"{error}; {by_request}" if by_request else str(error)) from None


def name_by_request(automaton: Automaton, request: Request, limits: Limits | None = None) -> str:
    """The constructions within a request that are built only if it names their theorem, with the reason of each, in words.

    Args:
        automaton: the automaton that no other construction realises within the request.
        request: the conditions.
        limits: the limits of the search; None for the default limits.

    Returns:
        A part of a sentence; empty where there is none, and where the request names a theorem.
    """
    fewer, _ = merge_like_letters(automaton)
    return _list_by_request(request.problem(fewer, limits), request)


def _list_by_request(problem: Problem, request: Request) -> str:
    if request.theorem is not None:
        return ""
    would_do = []
    for construction in constructions_for(problem.automaton):
        if not construction.by_request or not construction.tells_outputs(problem.automaton):
            continue
        offers = all_realisations(problem, request.exactness, [construction])
        if any(isinstance(found, Realisation) and request.admits(found) for found in offers):
            would_do.append(f"`theorem` {construction.source} ({construction.by_request})")
    return f"by request only: {' or '.join(would_do)}" if would_do else ""


def require_outputs(construction: Construction, automaton: Automaton) -> None:
    """`NotRealisableError` where the automaton's outputs need the state before a token, and the construction tells that after it alone.

    Args:
        construction: a construction that was asked for by its theorem.
        automaton: the automaton.
    """
    if not construction.tells_outputs(automaton):
        raise NotRealisableError(
            f"{automaton.name}: {construction.source}: the outputs of this Mealy machine need the state before the token, and this "
            "construction tells the state after it alone; `theorem` own.chain always tells both, and `plan` lists what else does"
        )


def trim_automaton(automaton: Automaton) -> Automaton:
    """Without unreachable states, unless they were kept on purpose."""
    return automaton if automaton.keeps_points else automaton.trim()


def realisations_of(problem: Problem, theorem: str, exactness: str = "any") -> Iterator[Realisation]:
    """All realisations of a source, the cheapest first; `NotRealisableError` where the automaton is not of its kind.

    `exactness="integer"`: only bit-exact ones. A `LimitError` of one form comes after the others.
    """
    return _realisations(problem, construction_of(theorem), exactness)


def _realisations(problem: Problem, construction: Construction, exactness: str) -> Iterator[Realisation]:
    seen: list[tuple[object, ...]] = []
    beyond: LimitError | None = None
    if construction.forms is not None:
        builds = construction.forms(problem, exactness)
    else:
        builds = [construction.build or _in_one_layer(construction.source, exactness)]
    for number, build in enumerate(builds):
        try:
            found = build(problem)
        except NotRealisableError:
            if number == 0:
                raise
            continue
        except LimitError as error:
            beyond = beyond or error
            continue
        figures = (cost(found), found.construction)
        if (exactness == "any" or found.exactness == "integer") and figures not in seen:
            seen.append(figures)
            yield found
    if beyond is not None:
        raise beyond


def _in_one_layer(theorem: str | None, exactness: str) -> Build:
    """A group automaton in one layer, with the heads of a theorem or, for None, of all."""

    def build(problem: Problem) -> LRNN:
        return group_lrnn(
            problem.automaton,
            exactness=exactness,
            theorem=theorem,
            max_degree=problem.limits.degree,
            max_group=problem.limits.group,
        )

    return build


def constructions_for(automaton: Automaton) -> list[Construction]:
    """The constructions that are worth a try, in their order."""
    return [c for c in all_constructions().values() if c.suits(automaton)]


@dataclass(frozen=True, eq=False)
class Candidate:
    """What may be realised by one construction, or by several together; nothing is built before it is asked for.

    Attributes:
        source: the theorem, or words for several.
        realise: makes its realisations, the cheapest first, with a `LimitError` in place of what is beyond a limit;
            `NotRealisableError` where it does not apply.
        construction: the record of the construction; None for several.
    """

    source: str
    realise: Callable[[], Iterator[Realisation | LimitError]]
    construction: Construction | None = None


def candidates(problem: Problem, exactness: str, wanted: Sequence[Construction]) -> Iterator[Candidate]:
    """What every given construction may give, and for group automata what heads of several give together."""
    mixed_heads = problem.automaton.is_permutation
    for construction in wanted:
        if mixed_heads and construction.candidates is not None:
            mixed_heads = False
            yield Candidate("heads of several theorems", lambda: _of_several_theorems(problem, exactness))
        yield Candidate(construction.source, partial(_of_one, problem, construction, exactness), construction)


def all_realisations(
    problem: Problem, exactness: str, wanted: Sequence[Construction]
) -> Iterator[Realisation | LimitError]:
    """Those of every given construction that applies; a `LimitError` in place of those that are beyond a limit."""
    for candidate in candidates(problem, exactness, wanted):
        try:
            asked = candidate.construction
            if asked is not None and asked.is_beaten is not None and asked.is_beaten(problem):
                continue
            yield from candidate.realise()
        except NotRealisableError:
            continue
        except LimitError as error:
            yield error


def _of_one(
    problem: Problem, construction: Construction, exactness: str
) -> Iterator[Realisation | LimitError]:
    try:
        yield from _realisations(problem, construction, exactness)
    except LimitError as error:
        yield error


def _of_several_theorems(problem: Problem, exactness: str) -> Iterator[Realisation]:
    """A group automaton in one layer where heads of several sources together are cheaper than those of one."""
    for kind in dict.fromkeys((exactness, "integer")):
        try:
            found = _in_one_layer(None, kind)(problem)
        except NotRealisableError:
            continue
        if found.theorem not in all_constructions():
            yield found


def _by_default(problem: Problem, request: Request) -> Choice:
    """Without bounds: a group in one layer with the fewest factors; else what has the least layers × work."""
    if problem.automaton.is_permutation:
        return Choice(_in_one_layer(None, request.exactness)(problem), ONE_LAYER)
    found: list[Realisation] = []
    left_out: list[str] = []
    for source in _order_of_trials(problem):
        if not _is_worth_trying(source, problem, found):
            continue
        tried = replace_limits(problem, _limits_of_trial(source, problem))
        try:
            found.append(next(realisations_of(tried, source, request.exactness)))
        except NotRealisableError:
            continue
        except LimitError:
            left_out.append(f"{source} ({_name_limits(source, tried.limits)})")
    best = min(found, key=weigh)
    if left_out and isinstance(best, ChainRNN):
        best = replace(best, notes=(*best.notes, f"not built, being beyond a limit: {', '.join(left_out)}"))
    return Choice(best, WITHOUT_DELAY)


ONE_LAYER_SOURCES = ("own.LMI", "own.definite", "own.congruences")
"""Those that give one layer."""
TRIED = (*ONE_LAYER_SOURCES, "G.T4", "own.serial", "own.n-1", "own.chain", "own.window")
"""What is built by default for automata that are no groups, in this order; of two equal ones the first is taken. Block delays, which
spread the factors of a token over later tokens, are built where a bound or an objective asks for them."""
CASCADES = ("G.T4", "own.n-1")
"""Those whose tables can grow exponentially, so that they are built within smaller limits unless they are asked for."""


def _order_of_trials(problem: Problem) -> Sequence[str]:
    """For many states first what needs no search of their pairs, so that the others are not built where they must lose."""
    if len(problem.automaton.states) <= LARGE:
        return TRIED
    return sorted(TRIED, key=lambda source: source not in ("own.definite", "own.window"))


def _limits_of_trial(source: str, problem: Problem) -> Limits:
    """The limits within which a construction is built by default."""
    if source in CASCADES:
        return _tried_limits(problem)
    limits = problem.limits
    if source == "own.serial":
        return replace(limits, components=min(limits.components, TRIED_COMPONENTS))
    return limits


def _name_limits(source: str, limits: Limits) -> str:
    """The limits that a construction of `TRIED` can reach, in words."""
    if source in CASCADES:
        return f"{limits.image_sets:,} image sets, {limits.level_letters:,} letters of a level"
    if source == "own.definite":
        return f"{limits.contents:,} contents of a register"
    if source == "own.window":
        return f"{limits.window_sets:,} image sets"
    return f"pairs of states, {limits.congruences:,} congruences, joint states"


def _is_worth_trying(source: str, problem: Problem, found: Sequence[Realisation]) -> bool:
    """Whether a construction can beat what was found, and can tell the automaton's outputs."""
    n = len(problem.automaton.states)
    if not construction_of(source).tells_outputs(problem.automaton):
        return False
    if source == "own.n-1" and n > FEWEST_STATES:
        return False  # it seldom takes less than the automaton's own cascade
    theorems = {form.theorem for form in found}
    if source == "own.serial" and "own.congruences" in theorems:
        return False  # quotients side by side need one layer, and the same search has found them
    registers = (f.theorem == "own.definite" or (f.theorem == "own.window" and f.depth == 1) for f in found)
    if n > LARGE and any(registers):
        return False  # a register of m rows, where others search all pairs of the states, up to 2^m
    least = min((weigh(form)[0] for form in found), default=10**12)
    if source == "own.chain":
        return least > n * (n - 1)  # its first layer alone has n - 1 factors of dimension n or more
    if source in ONE_LAYER_SOURCES or (source == "G.T4" and problem.permutes_or_resets):
        return least > 1
    return least > 4  # two layers of one factor each have 2 × (1 + 1)


LARGE = 64
"""Number of states beyond which nothing is sought beside a shift register."""
FEW_STATES = 12
"""Largest number of states for which a cascade is built whatever it takes within the limits."""
FEWEST_STATES = 8
"""Largest number of states for which the cascade of all maps is tried too."""
TRIED_IMAGE_SETS, TRIED_LEVEL_LETTERS = 3_000, 20_000
"""Limits on a cascade that is built for more states without having been asked for."""
TRIED_COMPONENTS = 40_000
"""Limit on the search of own.serial that was not asked for."""


def _tried_limits(problem: Problem) -> Limits:
    """The limits on constructions that were not asked for by their theorem."""
    limits = problem.limits
    if len(problem.automaton.states) <= FEW_STATES:
        return limits
    return replace(
        limits,
        image_sets=min(limits.image_sets, TRIED_IMAGE_SETS),
        level_letters=min(limits.level_letters, TRIED_LEVEL_LETTERS),
    )


def replace_limits(problem: Problem, limits: Limits) -> Problem:
    """The same problem with other limits.

    Args:
        problem: an automaton to be realised.
        limits: limits on the work that a construction may take.
    """
    return problem if limits == problem.limits else Problem(problem.automaton, limits, problem.coordinates)


def _excess(found: Realisation, request: Request) -> int:
    """By how much its layers, factors (very many where a letter is no product of some) and dimension exceed the bounds, in all."""
    reached = {"max_layers": found.depth, "max_householders": cost(found)[1], "max_dim": found.dim}
    return sum(max(0, reached[name] - most) for name, most in request.bounds().items() if most is not None)


def _cheapest(automaton: Automaton, request: Request, offers: Iterator[Realisation | LimitError]) -> Choice:
    within: list[Realisation] = []
    # by how much it exceeds what is asked for, and its layers, factors and dimension
    outside: list[tuple[int, int, int, int]] = []
    left_out: LimitError | None = None
    for found in offers:
        if isinstance(found, LimitError):
            left_out = found
        elif excess := _excess(found, request):
            layers, factors, _, dim, _ = cost(found)
            outside.append((excess, layers, factors, dim))
        else:
            within.append(found)
    if within:
        return pick(within, request)
    if left_out is not None:
        raise left_out
    named = request.list_asked()
    asked = f"{automaton.name}: no construction with {' and '.join(named)} was found"
    if not outside:
        raise NotRealisableError(f"{asked}; leave {'one of them' if len(named) > 1 else 'it'} out")
    _, layers, factors, dim = min(outside)
    shown = f"{count_noun(layers, 'layer')} with {count_noun(factors, 'factor')} and dimension {dim}"
    raise NotRealisableError(f"{asked}; the nearest of those that were built has {shown}: `plan` lists them")


def pick(offers: Sequence[Realisation], request: Request) -> Choice:
    """The realisation that `construct` takes of those on offer, and the rule by which it does.

    Args:
        offers: realisations of one automaton within the request, at least one.
        request: the conditions.
    """
    free = not request.is_bounded and request.objective is None and request.theorem is None
    group = offers[0].automaton.is_permutation
    usual = [f for f in offers if group or f.theorem in TRIED] if free else []
    found = min(usual or offers, key=lambda found: rank(found, request.objective))
    if request.objective is not None:
        rule = OBJECTIVES[request.objective]
    elif request.theorem is not None and len(offers) == 1:
        rule = ONLY_ONE.format(request.theorem)
    elif group:
        rule = ONE_LAYER if free else FEW_LAYERS
    else:
        rule = WITHOUT_DELAY if free else LAYERS_TIMES_WORK
    return Choice(found, rule)
