"""`construct`: from an automaton to the realisation that costs least, within what is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ..foundation._errors import InputError, LimitError, NotRealisableError
from ._lrnn import LRNN
from ._realisations import (
    BY_REQUEST,
    THEOREMS,
    Builder,
    Limits,
    Realisation,
    all_realisations,
    cost,
    of_source,
    require_source,
    sources_for,
)
from .automata._automaton import Automaton
from .cascades._layers import CoordinateKind
from .theorems._rotations import MAX_DEGREE

__all__ = ["THEOREMS", "Exactness", "Limits", "Request", "choose", "construct"]
Exactness = Literal["any", "integer"]


@dataclass(frozen=True)
class Request:
    """What is asked of a realisation; None for no bound.

    `exactness`: `any`, or `integer` for bit-exact ones only. `theorem`: only constructions of that source (see
    `THEOREMS`). `max_layers`, `max_householders`, `max_dim`: the most layers, factors of a letter in one head, and
    key dimensions. `coordinates`: of cascade components, `few` or `one_hot`.
    """

    exactness: Exactness | str = "any"
    theorem: str | None = None
    max_layers: int | None = None
    max_householders: int | None = None
    max_dim: int | None = None
    coordinates: CoordinateKind | str = "few"

    def __post_init__(self) -> None:
        if self.exactness not in ("any", "integer"):
            raise InputError(f"--exactness {self.exactness}: it is any or integer")
        if self.coordinates not in ("few", "one_hot"):
            raise InputError(f"--coordinates {self.coordinates}: it is few or one_hot")
        if self.theorem is not None:
            require_source(self.theorem)
        for option, value in self.bounds().items():
            if value is not None and value < (option != "--max-householders"):
                wanted = "a number, 0 or more" if option == "--max-householders" else "a positive number"
                raise InputError(f"{option} {value}: it is {wanted}")

    def bounds(self) -> dict[str, int | None]:
        """The bounds by their options."""
        return {
            "--max-layers": self.max_layers,
            "--max-householders": self.max_householders,
            "--max-dim": self.max_dim,
        }

    def options(self) -> str:
        """What was asked for, as options."""
        parts = [f"{option} {value}" for option, value in self.bounds().items() if value is not None]
        parts += [f"--theorem {self.theorem}"] * (self.theorem is not None)
        parts += ["--exactness integer"] * (self.exactness == "integer")
        return " ".join(parts)

    def admits(self, found: Realisation) -> bool:
        """Is a realisation within the bounds?"""
        layers, factors, _, dim, _ = cost(found)
        return all(
            limit is None or figure <= limit
            for figure, limit in zip((layers, factors, dim), self.bounds().values(), strict=True)
        )


def construct(
    automaton: Automaton | str,
    *,
    exactness: Exactness | str = "any",
    theorem: str | None = None,
    max_layers: int | None = None,
    max_householders: int | None = None,
    max_dim: int | None = None,
    coordinates: CoordinateKind | str = "few",
    max_degree: int = MAX_DEGREE,
    max_group: int = 5_000,
) -> LRNN:
    """An exact linear RNN that realises the automaton: fewest layers, then factors, then integer, then dimension.

    `automaton`: an `Automaton` or a SPEC (see `automaton_from_spec`); unreachable states that it does not keep on
    purpose are dropped. The other arguments: see `Request` and `Limits`. Realisations whose norm exceeds 1 are
    built by `theorem` only; block delays (DP.T1), which are no tables, by `choose` and `block_delay` only.
    Raises `NotRealisableError` where nothing on offer is within the bounds, `LimitError` where that was too large
    to find out, `InputError` for options of the wrong form.
    """
    if isinstance(automaton, str):
        from ._spec import automaton_from_spec

        automaton = automaton_from_spec(automaton)
    request = Request(exactness, theorem, max_layers, max_householders, max_dim, coordinates)
    found = choose(automaton, request, Limits(degree=max_degree, group=max_group), delays=False)
    if not isinstance(found, LRNN):
        raise InputError(f"{automaton.name}: --theorem {theorem}: no table; `block_delay` builds it")
    return found


def choose(
    automaton: Automaton, request: Request, limits: Limits | None = None, *, delays: bool = True
) -> Realisation:
    """The cheapest realisation within a request, see `construct`; `delays`: also a `BlockDelay`."""
    automaton = trimmed(automaton)
    builder = Builder(automaton, limits, "one_hot" if request.coordinates == "one_hot" else "few")
    if request.theorem is not None:
        return _cheapest(automaton, request, of_source(builder, request.theorem, request.exactness))
    if not any(limit is not None for limit in request.bounds().values()):
        return _by_default(builder, request)
    sources = [t for t in sources_for(automaton) if t not in BY_REQUEST and (delays or t != "DP.T1")]
    return _cheapest(automaton, request, all_realisations(builder, request.exactness, sources))


def trimmed(automaton: Automaton) -> Automaton:
    """Without unreachable states, unless they were kept on purpose."""
    return automaton if automaton.keeps_points else automaton.trimmed()


def _by_default(builder: Builder, request: Request) -> Realisation:
    """Without bounds: one layer where it is known that one does, else the cascade; nothing else is built."""
    if builder.automaton.is_permutation:
        return builder.group(None, request.exactness)
    found = []
    try:
        found.append(next(builder.by_source("own.LMI")))
    except NotRealisableError:
        return builder.fewest_layers()
    if builder.permutes_or_resets:  # then the cascade has one layer too
        found.append(next(builder.by_source("G.T4")))
    return min(found, key=cost)


def _cheapest(
    automaton: Automaton, request: Request, offers: Iterator[Realisation | LimitError]
) -> Realisation:
    best: Realisation | None = None
    outside: list[tuple[int, int, int]] = []
    left_out: LimitError | None = None
    for found in offers:
        if isinstance(found, LimitError):
            left_out = found
        elif not request.admits(found):
            layers, factors, _, dim, _ = cost(found)
            outside.append((layers, factors, dim))
        elif best is None or cost(found) < cost(best):
            best = found
    if best is not None:
        return best
    if left_out is not None:
        raise left_out
    asked = f"{automaton.name}: no construction with {request.options()} was found"
    if not outside:
        several = request.options().count("--") > 1
        raise NotRealisableError(f"{asked}; leave {'one of them' if several else 'it'} out")
    layers, factors, dim = min(outside)
    shown = f"{layers} layer{'s' * (layers != 1)} with {factors} factors and dimension {dim}"
    raise NotRealisableError(f"{asked}; the nearest on offer has {shown}: `mirrormata plan` lists them")
