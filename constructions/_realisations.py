"""Every construction on offer, by its source: what it needs, and how it is built."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..foundation._errors import InputError, LimitError, NotRealisableError
from ._delay import BlockDelay, block_delay
from ._lrnn import LRNN
from .automata._automaton import Automaton
from .cascades._automata import Cascade
from .cascades._cascade import MAX_LEVEL_LETTERS, cascade, cascade_of_all_maps
from .cascades._image_sets import MAX_IMAGE_SETS, MAX_SET_MOVES
from .cascades._layers import CoordinateKind, Wiring, cascade_lrnn
from .theorems._one_layer import group_lrnn
from .theorems._one_vector import partial_injections, tree_steps
from .theorems._rotations import MAX_DEGREE
from .theorems._swap_copy import swap_copy_form
from .theorems._two_layers import cyclic_corners, cyclic_two_layers, dihedral_two_layers, ripple_counter
from .theorems._unbounded import unbounded

Realisation: TypeAlias = LRNN | BlockDelay

THEOREMS = {
    "G.T3": "permutation matrices as swaps, for group automata",
    "DP.T4": "rotations and reflections: cyclic, dihedral, tetrahedral, cube and icosahedron groups",
    "H.A5inv": "letters R as the cheaper of R and -R",
    "own.LMI": "one layer without a group: letters that move, drop or reset states, or move along a tree",
    "G.T6": "cyclic groups in two layers, one reflection a token, or swaps of corners in integers",
    "DP.T7": "dihedral groups in two layers, one reflection a token",
    "DP.T1": "block delay: groups with fewer factors a token in more layers",
    "own.T2tight": "cyclic groups of order 2^L in L layers of one sign each",
    "G.T4": "any automaton as a cascade of permutation-reset automata, one layer a level",
    "own.n-1": "any automaton of n states in n - 1 layers, by the cascade of all maps of its states",
    "S.star-free": "aperiodic automata as a cascade of set/reset cells, eigenvalues 0 and 1",
    "DP.T2": "the cascade with resets by gate 0 where the state before is not needed (gated DeltaProduct)",
    "DP.T6": "swaps and copies of RWKV-7 in one layer, norm up to √2 a factor, for any automaton",
    "G.A3": "0/1 transition matrices without a norm bound, for any automaton",
}
BY_REQUEST = ("DP.T2", "DP.T6", "G.A3")
"""Sources that need gates, or whose norm can exceed 1: only by name."""
FOR_OTHERS = ("own.LMI", "G.T4", "own.n-1", "DP.T2")
"""Sources that are permutations of the states, in one layer or more, where the automaton is a group automaton."""


@dataclass(frozen=True)
class Limits:
    """What a construction may cost: the figures of the `--max-...` options."""

    degree: int = MAX_DEGREE
    group: int = 5_000
    image_sets: int = MAX_IMAGE_SETS
    set_moves: int = MAX_SET_MOVES
    level_letters: int = MAX_LEVEL_LETTERS


class Builder:
    """Builds the realisations of one automaton; what several of them need is made once."""

    def __init__(
        self, automaton: Automaton, limits: Limits | None = None, coordinates: CoordinateKind = "few"
    ) -> None:
        self.automaton = automaton
        self.limits = limits or Limits()
        self.coordinates: CoordinateKind = coordinates
        self._cascade: Cascade | LimitError | None = None

    @property
    def permutes_or_resets(self) -> bool:
        """Is every letter a permutation of the states or a reset to one of them?"""
        n = len(self.automaton.states)
        return all(len(set(row)) in (1, n) for row in self.automaton.transitions.tolist())

    @property
    def is_shallow(self) -> bool:
        """Has the automaton's own cascade fewer levels than that of all maps? False where it is beyond a limit."""
        try:
            return len(self.cascade().levels) < len(self.automaton.states) - 1
        except LimitError:
            return False

    def cascade(self) -> Cascade:
        """The automaton's cascade, checked on the spot."""
        if self._cascade is None:
            try:
                self._cascade = cascade(
                    self.automaton,
                    max_image_sets=self.limits.image_sets,
                    max_set_moves=self.limits.set_moves,
                    max_level_letters=self.limits.level_letters,
                )
            except LimitError as error:
                self._cascade = error
        if isinstance(self._cascade, LimitError):
            raise self._cascade
        return self._cascade

    def by_source(self, theorem: str, exactness: str = "any") -> Iterator[Realisation]:
        """All realisations of a source, the cheapest first; `NotRealisableError` where the automaton is not of its kind.

        `exactness="integer"`: only bit-exact ones. A `LimitError` of one form comes after the others.
        """
        seen: list[tuple[object, ...]] = []
        beyond: LimitError | None = None
        for number, build in enumerate(self._builds(theorem, exactness)):
            try:
                found = build()
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

    def fewest_layers(self) -> Realisation:
        """The cheaper cascade: that of the automaton's own letters, or that of all maps (n - 1 levels)."""
        own = next(self.by_source("G.T4"))
        if self.is_shallow:
            return own
        try:
            return min(own, next(self.by_source("own.n-1")), key=cost)
        except LimitError:
            return own

    def printed(self) -> LRNN:
        """The cascade wired as the proof of G.T4 prints it, which is wrong wherever an old state matters."""
        return self._cascade_lrnn("G.T4.printed", wiring="printed")

    def _builds(self, theorem: str, exactness: str) -> list[Callable[[], Realisation]]:
        a, limits = self.automaton, self.limits
        if theorem in ("G.T3", "DP.T4", "H.A5inv"):
            return [lambda: self.group(theorem, exactness)]
        builds: dict[str, list[Callable[[], Realisation]]] = {
            "own.LMI": [self._one_vector_a_state],
            "G.T6": [
                lambda: cyclic_two_layers(a, max_degree=limits.degree, max_group=limits.group),
                lambda: cyclic_corners(a, max_group=limits.group),
            ],
            "DP.T7": [lambda: dihedral_two_layers(a, max_degree=limits.degree, max_group=limits.group)],
            "own.T2tight": [lambda: ripple_counter(a, max_group=limits.group)],
            "G.T4": [lambda: self._cascade_lrnn("G.T4")],
            "own.n-1": [self._all_maps],
            "S.star-free": [self._cells],
            "DP.T2": [lambda: self._cascade_lrnn("DP.T2", gated=True)],
            "DP.T6": [lambda: swap_copy_form(a)],
            "G.A3": [lambda: unbounded(a)],
        }
        if theorem == "G.T6" and exactness == "integer":
            return builds[theorem][::-1]
        return self._delays() if theorem == "DP.T1" else builds[theorem]

    def group(self, theorem: str | None = None, exactness: str = "any") -> LRNN:
        """A group automaton in one layer."""
        return group_lrnn(
            self.automaton,
            exactness=exactness,
            theorem=theorem,
            max_degree=self.limits.degree,
            max_group=self.limits.group,
        )

    def _one_vector_a_state(self) -> LRNN:
        simple = partial_injections(self.automaton)
        if simple is not None and simple.dim < len(self.automaton.states):
            transitions = simple.all_heads[0].transitions
            if not any(t.additive for t in transitions):
                return simple  # a sink and no resets: a tree costs as much
        found = [f for f in (simple, tree_steps(self.automaton)) if f is not None]
        if not found:
            raise NotRealisableError(
                f"{self.automaton.name}: own.LMI: its letters do not only move, drop or reset states, nor move them "
                "along a tree; leave --theorem out"
            )
        return min(found, key=cost)

    def _cascade_lrnn(self, theorem: str, *, gated: bool = False, wiring: Wiring = "repaired") -> LRNN:
        built = self.cascade()
        return cascade_lrnn(
            self.automaton,
            built,
            coordinates=self.coordinates,
            gated=gated,
            wiring=wiring,
            theorem=theorem,
        )

    def _all_maps(self) -> LRNN:
        if self.automaton.is_permutation:
            raise NotRealisableError(
                f"{self.automaton.name}: own.n-1: a group automaton needs one layer only; leave --theorem out"
            )
        built = cascade_of_all_maps(
            self.automaton,
            max_image_sets=self.limits.image_sets,
            max_set_moves=self.limits.set_moves,
            max_level_letters=self.limits.level_letters,
        )
        return cascade_lrnn(self.automaton, built, coordinates=self.coordinates, theorem="own.n-1")

    def _cells(self) -> LRNN:
        if self.automaton.is_permutation:
            raise NotRealisableError(
                f"{self.automaton.name}: S.star-free: its letters permute the states, so the automaton is not "
                "aperiodic; leave --theorem out"
            )
        built = self.cascade()
        for number, level in enumerate(built.levels, start=1):
            for c, table in enumerate(level.actions):
                if any(level.kind(c, a) == "permutation" for a in range(len(table))):
                    raise NotRealisableError(
                        f"{self.automaton.name}: S.star-free: level {number} of its cascade has a group, so the "
                        "automaton is not aperiodic; leave --theorem out"
                    )
        return self._cascade_lrnn("S.star-free")

    def _delays(self) -> list[Callable[[], Realisation]]:
        """Block delay for 1, 2, 3, 4, 6, 8, 12, ... factors a token, where more of them make the blocks shorter."""
        found = [self._delay(1, "any")]
        budget = 2
        while budget < 2 * found[0].block:
            try:
                delay = self._delay(budget, "any")
            except NotRealisableError:
                break
            if delay.block < found[-1].block:
                found.append(delay)
            budget += max(1, 2 ** (budget.bit_length() - 2))
        builds: list[Callable[[], Realisation]] = []
        for delay in found:
            builds.append(lambda delay=delay: delay)  # type: ignore[misc]
            if delay.exactness != "integer":
                builds.append(lambda n_h=delay.budget: self._delay(n_h, "integer"))  # type: ignore[misc]
        return builds

    def _delay(self, budget: int, exactness: str) -> BlockDelay:
        try:
            return block_delay(
                self.automaton,
                budget,
                exactness=exactness,
                max_group=self.limits.group,
                max_degree=self.limits.degree,
            )
        except InputError:  # so many factors do in one layer
            raise NotRealisableError(
                f"{self.automaton.name}: DP.T1: {budget} factor{'s' * (budget != 1)} a token do in one layer; leave "
                "--theorem out"
            ) from None


def cost(found: Realisation) -> tuple[int, int, bool, int, int]:
    """Fewest layers, then factors, then integer, then the smaller dimension, then fewer heads."""
    factors = found.householders
    return (
        len(found.layers) if isinstance(found, LRNN) else found.layers,
        10**9 if factors is None else factors,
        found.exactness != "integer",
        found.dim,
        found.heads,
    )


def require_source(theorem: str) -> None:
    """`InputError` for an unknown source."""
    if theorem not in THEOREMS:
        raise InputError(f"--theorem {theorem}: not a construction; there are {', '.join(THEOREMS)}")


def sources_for(automaton: Automaton) -> tuple[str, ...]:
    """The sources that are worth a try: for group automata not those of `FOR_OTHERS`."""
    return tuple(t for t in THEOREMS if not (automaton.is_permutation and t in FOR_OTHERS))


def of_source(builder: Builder, theorem: str, exactness: str = "any") -> Iterator[Realisation | LimitError]:
    """Those of one source; a `LimitError` in place of those beyond a limit; `NotRealisableError` where none applies."""
    try:
        yield from builder.by_source(theorem, exactness)
    except LimitError as error:
        yield error


def all_realisations(
    builder: Builder, exactness: str, sources: Sequence[str]
) -> Iterator[Realisation | LimitError]:
    """Those of every given source that applies; a `LimitError` in place of those that are beyond a limit."""
    for theorem in sources:
        try:
            if theorem == "G.T3" and builder.automaton.is_permutation:
                yield from _mixed(builder, exactness)
            if theorem == "own.n-1" and builder.is_shallow:
                continue  # the automaton's own cascade has fewer layers
            yield from of_source(builder, theorem, exactness)
        except NotRealisableError:
            continue
        except LimitError as error:
            yield error


def _mixed(builder: Builder, exactness: str) -> Iterator[Realisation]:
    """A group automaton in one layer where heads of several sources together are cheaper than those of one."""
    for kind in dict.fromkeys((exactness, "integer")):
        try:
            found = builder.group(None, kind)
        except NotRealisableError:
            continue
        if found.theorem not in THEOREMS:
            yield found
