"""A construction, and what is known against fewer, in a few sentences: with these every command about one begins."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ...constructions._realisation import INTEGER_RANGES, Realisation
from ...constructions.algebra._cyclotomic import simplest
from ...foundation._text import count_noun
from ._bounds import Bound, ReachedBound, reached_bounds

if TYPE_CHECKING:
    from .._check import CheckResult


def describe_sizes(
    layers: int, householders: int | None, heads: int, dim: int, factor: str = "Householder factor"
) -> str:
    """`one layer, 4 reflections a token, dimension 5`: figures of a construction in words.

    Args:
        layers: number of layers.
        householders: the largest number of factors of a letter in one head; None where a letter is no product of factors.
        heads: the largest number of heads in a layer.
        dim: the largest key dimension of a head.
        factor: the noun for a factor, such as `reflection`.
    """
    deep, wide = layers > 1, heads > 1
    where = " in each head" if wide else " in each layer" if deep else ""
    upto = "up to " if deep or wide else ""
    parts = [count_noun(layers, "layer") if deep else "one layer"]
    if wide:
        parts[0] += f" of {upto if deep else ''}{heads} heads"
    if householders is None:
        parts.append("a full matrix a token" + where)
    elif householders == 0:
        parts.append(f"no {factor}")
    else:
        parts.append(f"{upto}{count_noun(householders, factor)} a token{where}")
    parts.append(f"dimension {upto}{dim}")
    return ", ".join(parts)


def name_factor(found: Realisation) -> str:
    """`reflection` where every factor of a construction is one, β‖v‖² = 2, and else `Householder factor`."""
    factors = {factor for t in found.used_transitions for factor in t.factors}
    if factors and all(f.mask is None and simplest(f.beta * f.norm_squared) == 2 for f in factors):
        return "reflection"
    return "Householder factor"


def describe_construction(found: Realisation) -> str:
    """`one layer, 4 reflections a token, dimension 5`: the sizes of a construction of any kind."""
    f = found.figures
    return describe_sizes(f.layers, f.householders, f.heads, f.dim, name_factor(found))


def write_headline(found: Realisation, reached: Iterable[ReachedBound] | None = None) -> str:
    """What a construction is, what is known against a smaller one, and in which formats it is right, in two to four sentences.

    Args:
        found: a construction of any kind.
        reached: the bounds whose hypotheses it meets, where they are known already.

    Examples:
        >>> from mirrormata import construct
        >>> write_headline(construct("parity"))
        'parity: one layer, 1 reflection a token, dimension 1. With norm at most 1, gates in [0, 1] and finitely many states, one layer needs 1 (H.rank). Its numbers are integers: every float format is exact at any length.'
    """
    sentences = [f"{found.automaton.name}: {describe_construction(found)}."]
    bounds = reached_bounds(found) if reached is None else reached
    sentences += [text for bound in bounds if (text := _say_reached(bound))]
    if found.norm == "unbounded":
        sentences.append("The norm of a token's matrix can exceed 1.")
    elif found.norm != "at most 1":
        sentences.append(f"The norm of a token's matrix is {found.norm}.")
    return " ".join([*sentences, _say_numbers(found)])


def _say_numbers(found: Realisation) -> str:
    f = found.figures
    named = ", ".join(f.formats)
    if f.exactness == "rounded":
        return (
            f"Its state is rounded at each token, and the read-out is still right in {named} at any length."
        )
    if f.exactness != "integer":
        return "Its numbers are algebraic: every float format rounds them."
    if not f.formats:
        return "Its numbers are integers, too large for every float format."
    if len(f.formats) == len(INTEGER_RANGES):
        return "Its numbers are integers: every float format is exact at any length."
    return f"Its numbers are integers: {named} are exact at any length."


_FINITE = "With norm at most 1, gates in [0, 1] and finitely many states"
"""The hypotheses of H.rank and CK.S5, in short."""


def _say_reached(bound: ReachedBound) -> str:
    """A bound beside a construction as a sentence; empty for one that says nothing of its sizes."""
    least = "" if bound.optimal else "at least "
    if bound.figure == "householders":
        return f"{_FINITE}, one layer needs {least}{bound.at_least} ({bound.reason})."
    if bound.figure == "layers" and bound.hypotheses.startswith("at most"):
        few = bound.hypotheses.partition(" a letter")[0]
        return f"{_FINITE}, one layer with {few} a token is not enough ({bound.reason})."
    if bound.figure == "layers":
        return f"One layer of norm at most 1 with gates in [0, 1] and one vector a state is not enough ({bound.reason})."
    if bound.figure == "state_size":
        return f"One layer with one vector a state needs {least}{count_noun(bound.at_least, 'number')} in its state ({bound.reason})."
    return ""


_SHORT: dict[str, Callable[[int], str]] = {
    "householders": lambda n: f"one layer needs {count_noun(n, 'factor')} a token or more",
    "beta": lambda n: f"the largest β‖v‖² must be {n}",
    "layers": lambda n: f"one vector a state: {count_noun(n, 'layer')} or more",
    "layers_beyond_nonnegative": lambda n: (
        f"{count_noun(n, 'layer')} or more with eigenvalues outside [0, ∞)"
    ),
    "layers_beyond_real": lambda n: f"{count_noun(n, 'layer')} or more with eigenvalues that are not real",
    "triangular_layers": lambda n: f"diagonal or triangular: {count_noun(n, 'layer')} or more",
    "single_factor_layers": lambda n: f"one factor a token: {count_noun(n, 'layer')} or more",
    "state_size": lambda n: f"one layer, one vector a state: {count_noun(n, 'number')} or more in the state",
}


def list_strongest(bounds: Iterable[Bound]) -> list[tuple[str, Bound]]:
    """For each figure that is bounded below, the strongest bound and what it says in a few words.

    Args:
        bounds: the bounds of one automaton.
    """
    strongest: dict[str, Bound] = {}
    for bound in bounds:
        if bound.figure not in strongest or strongest[bound.figure].at_least < bound.at_least:
            strongest[bound.figure] = bound
    return [(_say_bound(bound), bound) for bound in strongest.values()]


def _say_bound(bound: Bound) -> str:
    say = _SHORT.get(bound.figure)
    said = f"{bound.figure} ≥ {bound.at_least}" if say is None else say(bound.at_least)
    return f"{said} ({say_standing(bound.reason)})"


def say_proof(bound: Bound) -> str:
    """Where a bound's proof is, and how its claim stands: the text of the checker, or a publication whose theorem is applied."""
    where = "its proof in the checker of bounds" if bound.kind == "proved" else "by a published theorem"
    return f"{where} ({say_standing(bound.reason)})"


def say_standing(reason: str) -> str:
    """`G.T1: supported by instances; Coq: part`: how the claim stands on which a bound rests, as `mirrormata claims` says it."""
    from ..verifying._registry import say_standing as say  # claims are checked by what is planned here

    return say(reason)


def describe_check(result: CheckResult) -> str:
    """What a checker has found, in one line, the verdict first; for a construction with its sizes.

    Args:
        result: what `check` returns.
    """
    if (
        result.verdict != "valid"
        or result.summary is None
        or result.summary.get("exactness", "rounded") == "rounded"
    ):
        return f"{result.verdict}: {result.reason}"  # what is rounded is equal in an arithmetic alone, which the reason names
    sizes = describe_sizes(*(result.summary[key] for key in ("layers", "householders", "heads", "dim")))
    return f"valid: the linear RNN equals the automaton in the certificate (called {result.called}) on all words: {sizes}"
