"""State clusters in a report: principal components of a head's states on random words, coloured by the automaton's state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...constructions.automata._automaton import Indices
from ...constructions.automata._labels import label_text
from ...theory.arithmetic._rounding import Floats
from ..comparison._result import Comparison
from .learned_trained import Trained
from .limits import LearnedLimits, percent, some_of, spread_out
from .parts import Chart, Section, Series

LEAST_WITHIN = 1e-9
"""Of the whole variance, added to that within classes: exact states have none, by which one could not divide."""


@dataclass(frozen=True, eq=False)
class Components:
    """`points` `[states, 2]` on the first two principal components, `explained`: their shares of the variance."""

    points: Floats
    explained: tuple[float, float]


def principal_components(H: Floats) -> Components:
    """Of states `[states, entries]`, centred; where they have fewer than two dimensions the rest is 0."""
    centred = H - H.mean(axis=0)
    _, sizes, directions = np.linalg.svd(centred, full_matrices=False)
    directions = directions[:2] * np.where(sizes[:2, None] > 0, 1.0, 0.0)
    points = np.zeros((len(H), 2))
    points[:, : len(directions)] = centred @ directions.T
    total = float((sizes**2).sum())
    shares = [*(float(s**2 / total) if total else 0.0 for s in sizes[:2]), 0.0, 0.0]
    return Components(points, (shares[0], shares[1]))


def nearest_mean(H: Floats, classes: Indices) -> float:
    """The share of states `[states, entries]` that are nearest to the mean of their own class."""
    names, place = np.unique(classes, return_inverse=True)
    means = np.array([H[place == c].mean(axis=0) for c in range(len(names))])
    distances = (means**2).sum(axis=1) - 2 * H @ means.T
    return float((distances.argmin(axis=1) == place).mean())


def clusters_section(
    slug: str, title: str, place: Trained, found: Comparison, limits: LearnedLimits
) -> Section:
    """A chart for each head that carries states; for all heads together where none does."""
    carrying = [(h.head.name, [i]) for i, h in enumerate(found.heads) if h.carries_states]
    groups = carrying or [("all heads", list(range(len(found.heads))))]
    text = (
        f"States after 1 to {found.trace.sampling.fit:,} letters of random words, on the two directions in which they vary "
        "most. States of one colour should lie together, and apart from others where the head keeps them apart. "
        f"Of the states of all heads together {percent(_together(found))} are nearest to the mean of their own automaton state."
    )
    if not carrying:
        text += (
            " Here no head keeps the automaton's states apart, so the states of all heads are taken together."
        )
    charts = []
    for name, numbers in groups:
        if carrying and found.heads[numbers[0]].geometry.rank > 1:
            charts.append(_on_subspace(numbers[0], found, limits, place.source(limits)))
        charts.append(_of_heads(name, numbers, found, limits, place.source(limits)))
    return Section(slug, title, text, tuple(charts))


def _together(found: Comparison) -> float:
    H, classes, _ = _states(found, list(range(len(found.heads))))
    return nearest_mean(H, classes)


def _states(found: Comparison, heads: list[int]) -> tuple[Floats, Indices, Indices]:
    """States `[states, entries]` of heads after up to `fit` letters, their classes, and the letters read."""
    trace = found.trace
    kept = np.array(trace.lengths) <= trace.sampling.fit
    classes = trace.classes[kept].reshape(-1)
    H = np.concatenate([trace.states[h][kept].reshape(len(classes), -1) for h in heads], axis=1)
    return H, classes, np.repeat(np.array(trace.lengths)[kept], trace.sampling.words)


def telling_direction(H: Floats, classes: Indices) -> Floats:
    """The unit v for which H v, of states `[states, r, d]`, varies most between classes relative to within them (Fisher)."""
    names, place = np.unique(classes, return_inverse=True)
    means = np.array([H[place == c].mean(axis=0) for c in range(len(names))])
    apart, away = means - means.mean(axis=0), H - means[place]
    between = np.einsum("cri,crj->ij", apart, apart) / len(names)
    within = np.einsum("nri,nrj->ij", away, away) / len(H)
    within += LEAST_WITHIN * np.trace(between + within) * np.eye(H.shape[2])
    values, vectors = np.linalg.eigh(within)
    white = vectors / np.sqrt(values)
    v = white @ np.linalg.eigh(white.T @ between @ white)[1][:, -1]
    result: Floats = v / np.linalg.norm(v)
    return result


def _of_heads(name: str, heads: list[int], found: Comparison, limits: LearnedLimits, source: str) -> Chart:
    H, classes, _ = _states(found, heads)
    told = (
        f"The head tells {found.heads[heads[0]].geometry.told_apart} groups apart. "
        if len(heads) == 1
        else ""
    )
    what = f"{told}{_nearest(H, classes)}"
    return _chart(f"learned-clusters-{name}", f"States of {name}", what, H, found, limits, source)


def _on_subspace(head: int, found: Comparison, limits: LearnedLimits, source: str) -> Chart:
    h = found.heads[head]
    H, classes, _ = _states(found, [head])
    shaped = h.geometry.basis.T @ H.reshape(len(H), h.head.dim, -1)
    points = shaped @ telling_direction(shaped, classes)
    what = (
        f"The part of the state in U, of {h.geometry.rank} dimensions, read along the one direction of values that tells the "
        f"automaton's states apart best: what a group's representation turns. {_nearest(points, classes)}"
    )
    name = h.head.name
    return _chart(f"learned-orbit-{name}", f"States of {name} on U", what, points, found, limits, source)


def _nearest(H: Floats, classes: Indices) -> str:
    return (
        f"{percent(nearest_mean(H, classes))} of {len(H):,} states are nearest to the mean of their own automaton state, in "
        f"all dimensions; guessing would give {percent(1 / len(np.unique(classes)))}."
    )


def _chart(
    slug: str,
    title: str,
    what: str,
    H: Floats,
    found: Comparison,
    limits: LearnedLimits,
    source: str,
) -> Chart:
    """Of states `[states, entries]` in the order of `_states`."""
    _, classes, lengths = _states(found, [0])
    automaton = found.learned.target.automaton
    drawn = np.array(spread_out(len(H), limits.points))
    components = principal_components(H[drawn])
    seen = np.unique(classes[drawn]).tolist()
    shown = seen[: limits.states]
    series = []
    for q in shown:
        own = classes[drawn] == q
        label = label_text(automaton.states[q])
        series.append(
            Series(
                label, *_coordinates(components.points[own]), "points", 4 + q,
                tuple(f"after {lengths[i]} letters" for i in drawn[own]), (("state", label),),
            )
        )  # fmt: skip
    first, second = (f"{100 * x:.1f} %" for x in components.explained)
    points = int(np.isin(classes[drawn], shown).sum())
    return Chart(
        slug, title,
        f"{what} Drawn are {some_of(points, len(H), 'state')}, of {some_of(len(shown), len(seen), 'automaton state')} met; the "
        f"components, with their shares of the variance, are those of {some_of(len(drawn), len(H), 'state')}.",
        f"first component ({first})", f"second component ({second})", tuple(series), source,
    )  # fmt: skip


def _coordinates(points: Floats) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return tuple(points[:, 0].tolist()), tuple(points[:, 1].tolist())
