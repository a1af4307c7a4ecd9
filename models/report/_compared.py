"""What a report shows of learned heads: which representation each carries, its spectra, margins, and state clusters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...constructions.automata._automaton import Indices
from ...constructions.texts._show import label_text
from ...foundation._text import count_noun
from ...theory.arithmetic._rounding import Floats
from ..comparison._representations import Representation
from ..comparison._result import Comparison, HeadComparison, describe_prediction
from ..comparison._snap import find_factors_in_use, measure_strengths_inside
from ..comparison._spectra import numeric_eigenvalues
from ..learned._learned import LearnedHead
from ._data import Cell, Chart, LearnedLimits, Mark, Series, Table, format_part, format_share, spread_indices
from ._folder import Trained

MOST_CLASSES = 24
"""Conjugacy classes and irreducible characters that are written out."""
SAME = 1e-6
"""Eigenvalues that are nearer are one point, with its multiplicity on hover."""
PREDICTED = "predicted (margin meets spread)"
LEAST_WITHIN = 1e-9
"""Share of the whole variance that is added to that within classes: exact states have none, and it is divided by."""


def show_heads(
    place: Trained, found: Comparison, limits: LearnedLimits
) -> tuple[str, list[Table], list[Table]]:
    """A row for each head, then the characters of those that carry a representation."""
    source = place.name_source(limits)
    pairs = [(h, h.representation) for h in found.heads if h.representation is not None]
    text = [f"{format_share(found.trace.accuracy)} of the answers on {place.name_words(limits)} are right."]
    carrying = ", ".join(h.head.name for h in found.heads if h.carries_states)
    text.append(f"States fall into groups by the automaton's state in {carrying}.")
    if not carrying:
        text[-1] = "No head's states fall into groups by the automaton's state."
    for h, r in pairs:
        text.append(f"The character of {h.head.name} is nearest to that of {_name_constituents(r)}.")
    if found.constructed is not None:
        text.append(f"Beside it stands the construction: {found.constructed.name}.")
    heads = Table(
        "learned-heads-table", "Heads",
        "U is the subspace that separates the automaton's states. Letters differ by: the largest distance that is left after the "
        "orthogonal change of coordinates that brings the letters on U nearest to the constructed ones.",
        (
            "head", "dimension", "carries states", "groups told apart", "dimension of U", "representation on U",
            "spread over contexts", "constructed head", "letters differ by", "states differ by",
        ),
        [
            (
                h.head.name, h.head.dim, h.carries_states, h.geometry.told_apart, h.geometry.rank,
                None if h.representation is None else _name_constituents(h.representation), h.head.spread, h.beside,
                None if h.alignment is None else h.alignment.largest, h.state_disparity,
            )
            for h in found.heads
        ], source,
    )  # fmt: skip
    folded = [_list_errors(found, source)]
    if pairs:
        folded += [_list_multiplicities(pairs, source), *(_list_character(h, r, source) for h, r in pairs)]
    notes = [note for note in found.notes if "extraction" not in note]
    return "\n\n".join([" ".join(text), *notes]), [heads], folded


def _name_constituents(r: Representation) -> str:
    return " + ".join(r.constituents) or "none"


def _list_errors(found: Comparison, source: str) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for h in found.heads:
        if (r := h.representation) is not None:
            after = f"{r.worst[0]}, then {r.worst[1]}" if r.homomorphism_error else None
            rows.append((
                h.head.name, r.homomorphism_error, after, r.identity_error, max(r.order_errors, default=0.0),
                r.invariance_error, r.class_spread, r.residual, r.exact,
            ))  # fmt: skip
        elif h.neutral_errors:
            rows.append((h.head.name, None, None, max(h.neutral_errors.values()), *[None] * 5))
    return Table(
        "learned-errors", "Is it a representation?",
        "Largest spectral norms on U. Homomorphism: A_h A_g - A_gh over all pairs of elements, where A_g is the product of a "
        "shortest word's letters. Identity: A_s - I over letters that change no state. Order: A_x^m - I, where m is the order "
        "of the letter. Leaves U by: the part of the letters that leads out of U.",
        (
            "head", "homomorphism error", "at the words", "identity error", "order error", "leaves U by",
            "character within a class", "multiplicities off by", "exact",
        ),
        rows, source,
    )  # fmt: skip


def _list_multiplicities(pairs: Sequence[tuple[HeadComparison, Representation]], source: str) -> Table:
    """⟨χ, χ_i⟩ of each head's character, before rounding."""
    characters = pairs[0][1].table.irreducibles
    found = [r.table.multiplicities(r.character).real for _, r in pairs]
    count = len(characters)
    left = f" The first {MOST_CLASSES} of {count} are written." if count > MOST_CLASSES else ""
    return Table(
        "learned-multiplicities", "Its character against the irreducible ones",
        f"How often each irreducible character of the transition group is in the head's; whole numbers for a representation.{left}",
        ("irreducible character", "degree", *(h.head.name for h, _ in pairs)),
        [(chi.text, chi.degree, *(float(m[i]) for m in found)) for i, chi in enumerate(characters[:MOST_CLASSES])], source,
    )  # fmt: skip


def _list_character(h: HeadComparison, r: Representation, source: str) -> Table:
    group, classes, rows = r.table.group, r.table.group.classes, list[tuple[Cell, ...]]()
    nearest = np.zeros(len(r.table.irreducibles), dtype=complex)
    for m, chi in zip(r.multiplicities, r.table.irreducibles, strict=True):
        nearest = nearest + m * chi.values
    for c in range(min(int(classes.max()) + 1, MOST_CLASSES)):
        here = r.character[classes == c]
        word = " ".join(map(str, group.monoid.word(int(np.flatnonzero(classes == c)[0])))) or "ε"
        traces = (float(here.mean()), float(here.min()), float(here.max()))
        rows.append((word, len(here), *traces, round(float(nearest[c].real), 9)))
    return Table(
        f"learned-character-{h.head.name}", f"The character of {h.head.name}",
        "Traces on U of the elements of each conjugacy class; the last column is the exact character of "
        f"{_name_constituents(r)}.",
        ("a word of the class", "elements", "mean trace", "least", "largest", "nearest character"), rows, source,
    )  # fmt: skip


def choose_heads(found: Comparison, limits: LearnedLimits) -> list[HeadComparison]:
    """Heads that carry states, or the first ones where none does."""
    return [h for h in found.heads if h.carries_states] or list(found.heads[: limits.heads])


def show_spectra(
    place: Trained, found: Comparison, limits: LearnedLimits
) -> tuple[str, list[Chart], list[Table]]:
    """Eigenvalues on the unit disc beside constructed and snapped ones, and β‖k‖² of every factor."""
    heads, source = choose_heads(found, limits), place.name_source(limits)
    text = (
        "Eigenvalues of the transitions A(x), and what the factors I - βkkᵀ do: 1 - β‖k‖² is a factor's eigenvalue, so 2 is a "
        "reflection and 0 does nothing."
    )
    with_factors = [h for h in heads if h.head.factors is not None]
    if not with_factors:
        text += " There is no chart of β: factors are known only where one layer of DeltaProduct has no convolution."
    strengths = [_chart_strengths(with_factors, source)] if with_factors else []
    letters = _list_letters(found, heads, limits, source)
    return text, [chart_disc(found, heads, limits, source), *strengths], [letters]


def chart_disc(found: Comparison, heads: list[HeadComparison], limits: LearnedLimits, source: str) -> Chart:
    letters = found.learned.letters
    shown = spread_indices(len(letters), limits.letters)
    beside = {head.name: head for head in found.constructed.heads} if found.constructed is not None else {}
    # with no head on a constructed one all of these are of interest; else a head of another representation has none
    unpaired = [] if any(h.beside for h in heads) else list(beside.values())
    series = []
    for h in heads:
        for x in shown:
            picks = (("head", h.head.name), ("letter", letters[x]))
            others = unpaired if h.beside is None else [beside[h.beside]]
            series += [_draw_eigenvalues("constructed", head, head.A[x], 0, picks) for head in others]
            series.append(_draw_eigenvalues("learned", h.head, h.head.A[x], 1, picks))
            if h.snapped is not None:
                series.append(_draw_eigenvalues("snapped, on U", h.head, h.snapped.letters[x], 2, picks))
    largest = max((abs(z) for h in heads for A in h.head.A for z in numeric_eigenvalues(A)), default=0.0)
    names = {s.name for s in series}
    told = {"constructed": ", of constructed ones", "snapped, on U": ", of what they snap to"}
    return Chart(
        "learned-disc", "Eigenvalues on the unit disc",
        f"Eigenvalues of {format_part(len(shown), len(letters), 'learned letter')}"
        f"{''.join(text for name, text in told.items() if name in names)}. Values nearer than {SAME:g} are one point. The "
        f"largest modulus of all learned letters is {largest:.9g}.",
        "real part", "imaginary part", series, f"{source}; float64", circle=True,
    )  # fmt: skip


def _draw_eigenvalues(
    name: str, head: LearnedHead, A: Floats, role: int, picks: tuple[tuple[str, str], ...]
) -> Series:
    distinct: list[list[complex]] = []
    for z in numeric_eigenvalues(A):
        near = next((group for group in distinct if abs(group[0] - z) < SAME), None)
        if near is None:
            distinct.append([z])
        else:
            near.append(z)
    hover = [
        f"{name}, {head.name}, letter {picks[1][1]}: |λ| = {abs(g[0]):.6g}, angle {np.angle(g[0]) / (2 * np.pi):.5g} turns"
        + (f", {len(g)} times" if len(g) > 1 else "")
        for g in distinct
    ]
    xs, ys = [g[0].real for g in distinct], [g[0].imag for g in distinct]
    return Series(name, xs, ys, "points", role, hover, picks)


def _chart_strengths(heads: list[HeadComparison], source: str) -> Chart:
    series, used = [], []
    for h in heads:
        factors, inside = h.head.factors, measure_strengths_inside(h.head, h.geometry.basis)
        assert factors is not None
        used += factors.strength[find_factors_in_use(h.head, h.geometry.basis)].tolist()
        for j, values in enumerate(factors.strength.T.tolist()):
            texts = [
                f"{h.head.name}, letter {f.letter}, factor {j + 1}: β‖k‖² = {s:.7g}, on U {u:.5g}, margin to 2 {2 - s:.3g}"
                for f, s, u in zip(h.facts, values, inside[:, j], strict=True)
            ]
            picks = (("head", h.head.name), ("factor", str(j + 1)))
            names, letters = f"factor {j + 1}", [f.letter for f in h.facts]
            series.append(Series(names, letters, values, "points", 4 + j, texts, picks))
    least = f" The least of those in use on U is {min(used):.7g}." if used else " None is in use on U."
    return Chart(
        "learned-strengths", "β‖k‖² by letter and factor",
        "At 2 a factor is a reflection, at 0 it is the identity. Between them it shrinks the part of the state along its key, "
        f"above 2 it enlarges it: harmless only where no state depends on that part.{least}",
        "letter", "β‖k‖²", series, source, (Mark("y", 2, "2: reflection"), Mark("y", 0, "0: identity")),
    )  # fmt: skip


def _list_letters(
    found: Comparison, heads: list[HeadComparison], limits: LearnedLimits, source: str
) -> Table:
    constructed = () if found.constructed is None else found.constructed.heads
    beside = {head.name: facts for head, facts in zip(constructed, found.constructed_facts, strict=False)}
    shown = spread_indices(len(found.learned.letters), limits.letters)
    rows: list[tuple[Cell, ...]] = []
    for h in heads:
        theirs, inside = beside.get(h.beside or ""), measure_strengths_inside(h.head, h.geometry.basis)
        for x in shown:
            f = h.facts[x]
            rows.append((
                h.head.name, f.letter, " ".join(f"{s:.6g}" for s in f.strengths) or None,
                " ".join(f"{u:.4g}" for u in inside[x]) or None, f.margin_to_2, f.reflection_rank,
                None if h.ranks is None else h.ranks.representation[x],
                None if h.ranks is None or not h.ranks.points else h.ranks.swaps[x], f.full_rank, f.text, f.in_zero_one,
                None if theirs is None else theirs[x].text,
            ))  # fmt: skip
    return Table(
        "learned-letters", "Letters",
        f"{format_part(len(shown), len(found.learned.letters), 'letter').capitalize()}. Eigenvalues are those of the exact values "
        f"of the floats; ranks of A - I count singular values above {found.tolerances.rank:g}, on the subspace U of the states and on "
        "all dimensions; H.rank: what the representation needs that was found; n - cycles: the swaps of the letter on the fewest "
        "points (G.T3); on U: β times the square of the part of k in U.",
        (
            "head", "letter", "β‖k‖²", "on U", "least distance from 2", "rank on U", "H.rank", "n - cycles", "rank(A - I)",
            "eigenvalues", "all in [0, 1]", "constructed eigenvalues",
        ),
        rows, source,
    )  # fmt: skip


def show_margins(
    place: Trained, found: Comparison, limits: LearnedLimits
) -> tuple[str, list[Chart | Table], list[Chart]]:
    """Norm, and margin over spread, at the lengths at which states were kept; predicted and observed failure."""
    source, h, shown = place.name_source(limits), found.horizon, choose_heads(found, limits)
    wanted = (
        (place.train_length, "training length"),
        (h.observed, "first wrong answer"),
        (h.spread, PREDICTED),
    )
    marks = [Mark("x", at, label) for at, label in wanted if at is not None and 1 <= at <= h.length]

    def draw(i: int, values: Floats, texts: list[str]) -> Series:
        name = found.heads[i].head.name
        ys = [float(y) if 0 < y < np.inf else None for y in values]  # what a logarithmic axis can show
        return Series(name, found.trace.lengths, ys, "line", 4 + i, texts, (("head", name),))

    norms, ratios = [], []
    for i, head in enumerate(found.heads):
        if head in shown:
            H, g = found.trace.states[i], head.geometry
            sizes = np.sqrt((H.reshape(*H.shape[:2], -1) ** 2).sum(axis=2))  # [lengths, words]
            texts = [f"from {row.min():.6g} to {row.max():.6g}" for row in sizes]
            norms.append(draw(i, sizes.mean(axis=1), texts))
            pairs = zip(g.margin, g.spread, strict=True)
            ratios.append(draw(i, g.ratio, [f"margin {m:.6g}, spread {s:.6g}" for m, s in pairs]))
    exact = any(np.isinf(head.geometry.ratio).any() for head in found.heads)
    charts = [
        Chart(
            "learned-norms", "Norm of the state",
            "The mean over the words of the Frobenius norm of a head's state. Orthogonal transitions keep it, β‖k‖² between 0 and "
            "2 can shrink it, and what is added can make it grow.",
            "letters read", "mean norm", norms, source, marks, log_x=True, log_y=True,
        )
    ]  # fmt: skip
    text = (
        "A state is read rightly by the nearest class mean as long as it has moved towards every other mean (spread) by less than "
        "half the way (margin). The charts show the state and the direction that come nearest to failing. A head that keeps only "
        "part of the state has directions between what it keeps apart."
    )
    if any(y is not None for series in ratios for y in series.y):
        charts.insert(0, Chart(
            "learned-margin", "Margin over spread",
            "Above 1 the nearest class mean is the right one for every state that was seen, below 1 it is wrong for at least one."
            f"{' States without any spread are not drawn.' if exact else ''}",
            "letters read", "margin / spread", ratios, source, (*marks, Mark("y", 1.0, "1: margin is spread")), log_x=True, log_y=True,
        ))  # fmt: skip
    else:
        text += " Here no states are told apart, or they have no spread at all, so margin over spread is not drawn."
    return text, [charts[0], _list_horizons(place, found, source)], charts[1:]


def _list_horizons(place: Trained, found: Comparison, source: str) -> Table:
    h, s = found.horizon, found.trace.sampling
    least = "no factors are known, or none is below 2"
    if h.least_beta is not None:
        least = f"least β‖k‖² = {h.least_beta:.7g}"
    rounding = "a bound for the snapped representation"
    if found.snapped.lrnn is None:
        rounding = "does not apply: nothing exact to round"
    elif h.rounding is None:
        rounding = "no limit: the snapped representation is exact in it"
    words = count_noun(s.words, "word")
    seen = f"the least over {words}" if h.observed else f"none in {count_noun(h.length, 'letter')} of {words}"
    predicted = "spread and margin are not seen to meet"
    if h.spread is not None:
        predicted = describe_prediction(h.spread, s.averaged)
    rows: list[tuple[Cell, ...]] = [
        ("right at least to, by β", h.beta, f"a bound for the nearest code, if β were the only error; {least}"),
        (f"right at least to, by rounding to {h.dtype}", h.rounding, rounding),
        ("right at least to, by drift from the snapped letters", h.drift, "a bound for the nearest code"),
        ("first wrong answer predicted, by spread and margin", h.spread, predicted),
        ("first wrong answer observed", h.observed, seen),
    ]  # fmt: skip
    if place.result is not None:
        failure = place.result["first_failure"][place.place]
        first = None if failure is None else failure["least"]
        rows.append(("first wrong answer in the test", first, place.test))
    rows.append(("training length", place.train_length, "task.json"))
    rows += [("note", None, note) for note in h.notes]
    return Table(
        "learned-horizons", "Predicted against observed failure",
        "Bounds hold for an answer by the nearest code, and the prediction is an estimate for the nearest class mean, so it can lie below a "
        "bound; the model's own read-out can fail earlier than all of them, or later.",
        ("length", "letters", "what it is"), rows, source,
    )  # fmt: skip


def measure_components(H: Floats) -> tuple[Floats, tuple[float, float]]:
    """States `[states, entries]` on their first two principal components, `[states, 2]`, and the shares of the variance.

    Where the states have fewer than two dimensions the rest is 0.
    """
    centred = H - H.mean(axis=0)
    _, sizes, directions = np.linalg.svd(centred, full_matrices=False)
    directions = directions[:2] * np.where(sizes[:2, None] > 0, 1.0, 0.0)
    points = np.zeros((len(H), 2))
    points[:, : len(directions)] = centred @ directions.T
    shares = np.append(sizes**2, [0.0, 0.0])[:2] / (float((sizes**2).sum()) or 1.0)
    return points, (float(shares[0]), float(shares[1]))


def measure_purity(H: Floats, classes: Indices) -> float:
    """The share of states `[states, entries]` that are nearest to the mean of their own class."""
    names, place = np.unique(classes, return_inverse=True)
    means = np.array([H[place == c].mean(axis=0) for c in range(len(names))])
    distances = (means**2).sum(axis=1) - 2 * H @ means.T
    return float((distances.argmin(axis=1) == place).mean())


def find_direction(H: Floats, classes: Indices) -> Floats:
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


def show_clusters(
    place: Trained, found: Comparison, limits: LearnedLimits
) -> tuple[str, list[Chart], list[Chart]]:
    """A chart for each head that carries states; for all heads together where none does."""
    source, trace = place.name_source(limits), found.trace
    kept = np.array(trace.lengths) <= trace.sampling.averaged
    classes: Indices = trace.classes[kept].reshape(-1)
    lengths = np.repeat(np.array(trace.lengths)[kept], trace.sampling.words)
    states = [H[kept].reshape(len(classes), -1) for H in trace.states]  # of each head, [states, entries]

    def say_nearest(H: Floats) -> str:
        return (
            f"{format_share(measure_purity(H, classes))} of {len(H):,} states are nearest to the mean of their own automaton "
            f"state, in all dimensions; guessing would give {format_share(1 / len(np.unique(classes)))}."
        )

    charts, together = [], np.concatenate(states, axis=1)
    for i, h in enumerate(found.heads):
        if not h.carries_states:
            continue
        name, g = h.head.name, h.geometry
        if g.rank > 1:
            shaped = g.basis.T @ states[i].reshape(len(classes), h.head.dim, -1)
            points = shaped @ find_direction(shaped, classes)
            what = (
                f"The part of the state in U, of {g.rank} dimensions, read along the one direction of values that tells the "
                f"automaton's states apart best: what a group's representation turns. {say_nearest(points)}"
            )
            shown = (f"learned-orbit-{name}", f"States of {name} on U", what)
            charts.append(_chart_clusters(*shown, points, classes, lengths, found, limits, source))
        what = f"The head tells {g.told_apart} groups apart. {say_nearest(states[i])}"
        shown = (f"learned-clusters-{name}", f"States of {name}", what)
        charts.append(_chart_clusters(*shown, states[i], classes, lengths, found, limits, source))
    text = (
        f"States after 1 to {trace.sampling.averaged:,} letters of random words, on the two directions in which they vary "
        "most. States of one colour should lie together, and apart from others where the head keeps them apart. "
        f"Of the states of all heads together {format_share(measure_purity(together, classes))} are nearest to the mean of their "
        "own automaton state."
    )
    if not charts:
        text += " No head keeps the automaton's states apart, so the states of all heads are taken together."
        shown = ("learned-clusters-all heads", "States of all heads", say_nearest(together))
        charts.append(_chart_clusters(*shown, together, classes, lengths, found, limits, source))
    return text, charts[:2], charts[2:]


def _chart_clusters(
    slug: str, title: str, what: str, H: Floats, classes: Indices, lengths: Indices, found: Comparison, limits: LearnedLimits,
    source: str,
) -> Chart:  # fmt: skip
    automaton, drawn = found.learned.target.automaton, np.array(spread_indices(len(H), limits.points))
    points, explained = measure_components(H[drawn])
    seen = np.unique(classes[drawn]).tolist()
    series = []
    for q in seen[: limits.states]:
        own, label = classes[drawn] == q, label_text(automaton.states[q])
        hover = [f"after {count_noun(lengths[i], 'letter')}" for i in drawn[own]]
        x, y = points[own].T.tolist()
        series.append(Series(label, x, y, "points", 4 + q, hover, (("state", label),)))
    return Chart(
        slug, title,
        f"{what} The chart shows {format_part(sum(len(s.x) for s in series), len(H), 'state')}, of "
        f"{format_part(len(series), len(seen), 'automaton state')} met; the components, with their shares of the variance, are those "
        f"of {format_part(len(drawn), len(H), 'state')}.",
        f"first component ({100 * explained[0]:.1f} %)", f"second component ({100 * explained[1]:.1f} %)", series, source,
    )  # fmt: skip
