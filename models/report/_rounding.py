"""What rounding does to a construction, in a report: state norm and margin over length in each dtype, with horizons."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from ...constructions._lrnn import LRNN
from ...constructions._realisation import INTEGER_RANGES
from ...constructions.automata._automaton import Indices
from ...foundation._text import count_noun
from ...theory._check import accept_horizons
from ...theory._horizon import ARITHMETIC, has_horizon
from ...theory.arithmetic._rounding import FORMATS, Floats
from ...theory.running._block_run import follow
from ...theory.running._readout import HeadCodes, Readout
from ...theory.running._report import Tally
from ...theory.running._run import run
from ...theory.running._stepper import LayeredStepper, LRNNStepper
from ...theory.running._words import random_words
from ._data import Cell, Chart, Mark, RandomRuns, Section, Series, ShownLimits, Table

Lengths = dict[str, int | None] | None


@dataclass(frozen=True, eq=False)
class FollowedRun:
    """`norms` `[T]`: the largest Frobenius norm over all words after each token, all heads of all layers together.

    `margins` `[T]`: the least margin over all words; of one layer that of `Readout`, of several the least over the heads
    of half of (distance to the nearest wrong code - distance to the right one). Not finite where a state is not.
    `tokens`, `errors`, `first_error`: as `run` counts them on the same words.
    """

    dtype: str
    norms: Floats
    margins: Floats
    tokens: int
    errors: int
    first_error: int | None


def follow_words(lrnn: LRNN, runs: RandomRuns) -> list[FollowedRun]:
    """The runs in each dtype, in the arithmetic of `LRNNStepper` and `LayeredStepper`.

    Where `run` finds every state equal to its code bit for bit, norms and margins are those of the codes.
    """
    words = random_words(lrnn, runs.words, runs.length, runs.seed)
    codes, dense = find_codes(lrnn, words), [HeadCodes(head) for head in lrnn.all_heads]
    joint = Readout(lrnn) if not lrnn.is_layered else None
    right = follow(lrnn.automaton.transitions, words, np.full(len(words), lrnn.automaton.start))

    def observe(states: Iterable[Sequence[Floats]], decode: Any) -> tuple[Floats, Floats, Any]:
        """Largest norm and least margin after each token, and where the state is wrong, `[T, words]`."""
        norms, margins = np.empty((2, words.shape[1]))
        wrong = np.zeros(words.T.shape, dtype=bool)
        for t, H in enumerate(states):
            norms[t] = np.sqrt(sum(np.einsum("bij,bij->b", part, part) for part in H)).max()
            if joint is not None:
                decoded, margins[t] = joint.observe(H, right[:, t])
            else:
                each = zip(dense, H, codes, strict=True)
                margins[t] = min(measure_margin(d, part, c[:, t]) for d, part, c in each)
                decoded = decode(H, words[:, t])
            wrong[t] = decoded != right[:, t]
        return norms, margins, wrong

    def step(stepper: Any) -> Iterable[Sequence[Floats]]:
        H = stepper.initial(len(words))
        for x in words.T:
            H = stepper.step(H, x)
            yield H

    found, exact = list[FollowedRun](), None
    for name in runs.dtypes:
        if name in lrnn.formats and (report := run(lrnn, words, dtype=name)).errors == 0:
            if exact is None:
                places = range(words.shape[1])
                states = ([h.dense(c[:, t]) for h, c in zip(dense, codes, strict=True)] for t in places)
                exact = observe(states, lambda _, x: -1)[:2]
            found.append(FollowedRun(name, *exact, report.tokens, 0, None))
            continue
        stepper = LRNNStepper(lrnn, name) if joint is not None else LayeredStepper(lrnn, name)
        with np.errstate(all="ignore"):
            norms, margins, wrong = observe(step(stepper), stepper.decode)
        tally = Tally()
        tally.add_errors(wrong, 0)
        first = tally.first and tally.first[0]
        found.append(FollowedRun(name, norms, margins, words.size, tally.errors, first))
    return found


def find_codes(lrnn: LRNN, words: Indices) -> list[Indices]:
    """For each head, layer by layer, the code after each token in exact numbers, `[words, T]`."""
    before = [np.full(len(words), c) for c in lrnn.decode[0, 1:].tolist()]
    result = [np.empty(words.shape, dtype=np.int64) for _ in before]
    for t, letters in enumerate(words.T):
        x = letters
        for layer, columns in zip(lrnn.layers, lrnn.columns, strict=True):
            pairs = zip(layer.heads, before[columns], strict=True)
            before[columns] = after = [head.code_transitions[head.action_of(x), code] for head, code in pairs]
            for kept, code in zip(result[columns], after, strict=True):
                kept[:, t] = code
            if layer is not lrnn.layers[-1]:
                x = layer.read_out(x, after)
    return result


def measure_margin(codes: HeadCodes, H: Floats, right: Indices) -> float:
    """The least over states `[batch, dim, value_dim]` of half of (nearest wrong code - right code), by their distances.

    inf where the head has one code, -inf where a state is not finite.
    """
    flat = H.reshape(len(H), -1)
    if not np.isfinite(flat).all():
        return -np.inf
    if len(codes.norms) == 1:
        return np.inf
    scores = codes.scores(flat)
    scores[np.arange(len(H)), right] = np.inf
    other, own = (codes.dense(c).reshape(len(H), -1) for c in (scores.argmin(axis=1), right))
    return float((np.linalg.norm(flat - other, axis=1) - np.linalg.norm(flat - own, axis=1)).min() / 2)


def split_positions(length: int, points: int) -> list[slice]:
    """The positions 0 .. length - 1 in at most `points` stretches, equally long on a logarithmic axis from 1 on."""
    edges = np.unique(np.floor(np.geomspace(1, length + 1, points + 1)).astype(np.int64)).tolist()
    return [slice(a - 1, b - 1) for a, b in pairwise(edges)]


def certify_horizons(lrnn: LRNN, limits: ShownLimits) -> Lengths:
    """The lengths that the checker accepts; None where none is certified or a head has more than `limits.codes` codes."""
    if not has_horizon(lrnn) or max(len(head.codes) for head in lrnn.all_heads) > limits.codes:
        return None
    return accept_horizons(lrnn)


def show_rounding(lrnn: LRNN, lengths: Lengths, runs: RandomRuns, limits: ShownLimits) -> Section:
    """Charts of margin and norm over length in each dtype, and a table; `lengths`: the certified horizons, if any."""
    within, cut = max(limits.head_steps // len(lrnn.all_heads), 1), ""
    if runs.length > within:
        cut = f" Of {count_noun(runs.length, 'letter')} the first {within:,} are run, as there are {count_noun(len(lrnn.all_heads), 'head')}."
        runs = replace(runs, length=within)
    found = follow_words(lrnn, runs)
    source = f"{runs.text}; per_step arithmetic: {ARITHMETIC.removeprefix('per_step, ')}"
    said = _describe_exactness(lrnn, lengths, limits)
    text = " ".join([f"{runs.text}, in {len(found)} dtypes.{cut}", *said])
    wrong = [f"{r.dtype} first at token {r.first_error:,}" for r in found if r.first_error is not None]
    errors = "No state is wrong in any dtype."
    if wrong:
        errors = f"Wrong states occur in {len(wrong)} of {len(found)} dtypes: {'; '.join(wrong)}."
    table = Table(
        "dtypes", "Dtypes", f"A row for each of {len(found)} dtypes. {errors}",
        (
            "dtype", "exact at any length", "largest integer", "holds integers to", "certified horizon", "tokens run", "errors",
            "first error", "largest state norm", "least margin",
        ),
        [_list_run(lrnn, lengths, r) for r in found], source,
    )  # fmt: skip
    margins, norms = (
        _chart_margins(lrnn, found, source, lengths, limits, errors),
        _chart_norms(found, source, lengths, limits),
    )
    if not any(y is not None for series in margins.series for y in series.y):
        text += " There is no other code to confuse a state with, so there is no margin."
        return Section("rounding", "Rounding over length", text, (norms, table))
    return Section("rounding", "Rounding over length", text, (margins, table), (norms,))


def _chart_margins(
    lrnn: LRNN, found: list[FollowedRun], source: str, lengths: Lengths, limits: ShownLimits, errors: str
) -> Chart:
    least = "the least over the heads" if lrnn.is_layered else "of all heads together"
    margins = np.concatenate([r.margins[np.isfinite(r.margins)] for r in found])
    largest = float(margins.max(initial=0.0))
    floor = -largest if largest > 0 else -math.inf  # a run that went wrong must not flatten the others
    cut = f" Margins below {floor:.6g} are left out." if (margins < floor).any() else ""
    return Chart(
        "margin", "Margin to the nearest other code",
        f"Half of (distance to the nearest wrong code - distance to the right one), {least}, the least over all words in each "
        f"stretch; at 0 or below a state is read wrongly. {errors}{_describe_lines(found)}{cut}",
        "position in the word", "margin", [_draw_run(r, "margin", limits, floor) for r in found], source,
        (*_mark_horizons(lengths, found), Mark("y", 0.0, "read wrongly at 0 or below")), log_x=True,
    )  # fmt: skip


def _chart_norms(found: list[FollowedRun], source: str, lengths: Lengths, limits: ShownLimits) -> Chart:
    norms = [r.norms[np.isfinite(r.norms)] for r in found]
    ranges = [
        f"{r.dtype} " + (f"{n.min():.6g}" if n.min() == n.max() else f"{n.min():.6g} to {n.max():.6g}")
        for r, n in zip(found, norms, strict=True)
        if n.size
    ]
    every = np.concatenate(norms)
    return Chart(
        "norm", "Norm of the state",
        "Frobenius norm of the states of all heads together, the largest over all words in each stretch: "
        f"{'; '.join(ranges)}.{_describe_lines(found)}",
        "position in the word", "state norm", [_draw_run(r, "norm", limits) for r in found], source,
        _mark_horizons(lengths, found), log_x=True,
        log_y=bool(every.size and every.min() > 0 and every.max() > 10 * every.min()),
    )  # fmt: skip


def _draw_run(r: FollowedRun, what: str, limits: ShownLimits, floor: float = -math.inf) -> Series:
    """The least margin or the largest norm of each stretch, at its place; what is not finite or too low breaks the line."""
    values = r.margins if what == "margin" else r.norms
    stretches = split_positions(len(values), limits.points)
    pick = np.argmin if what == "margin" else np.argmax
    tokens = [s.start + int(pick(values[s])) + 1 for s in stretches]
    y = [float(values[token - 1]) for token in tokens]
    pairs = zip(tokens, y, strict=True)
    hover = [f"{r.dtype}, token {token:,}: {what} {value:.6g}" for token, value in pairs]
    shown = [value if math.isfinite(value) and value >= floor else None for value in y]
    x = [float(token) for token in tokens]
    return Series(r.dtype, x, shown, "line", find_role(r.dtype), hover, (("dtype", r.dtype),))


def find_role(dtype: str) -> int:
    """The role of a dtype, in every chart."""
    return 4 + list(FORMATS).index(dtype)


def _mark_horizons(lengths: Lengths, found: list[FollowedRun]) -> list[Mark]:
    """The certified horizons that lie within the run."""
    known = [(r, (lengths or {}).get(r.dtype)) for r in found]
    return [
        Mark("x", float(n), f"{r.dtype}: certified to {n:,}", find_role(r.dtype))
        for r, n in known
        if n is not None and 1 <= n <= len(r.norms)
    ]


def _describe_lines(found: list[FollowedRun]) -> str:
    """Which dtypes share one line, as nothing is rounded in them, and where a line breaks."""
    same = [r.dtype for r in found if r.margins is found[0].margins]
    text = f" {len(same)} dtypes ({', '.join(same)}) lie on one line." if len(same) > 1 else ""
    lost = [(r.dtype, np.flatnonzero(~np.isfinite(r.norms))) for r in found]
    told = "; ".join(f"{dtype} from token {int(places[0]) + 1:,}" for dtype, places in lost if len(places))
    return text + (f" A line breaks where some state is not finite: {told}." if told else "")


def _describe_exactness(lrnn: LRNN, lengths: Lengths, limits: ShownLimits) -> list[str]:
    """Sentences on what is exact, and how far rounding is proved harmless."""
    if lrnn.integer_bound is None:
        text = ["Not all of its numbers are integers, so no dtype is sure to hold them without rounding."]
    elif not lrnn.formats:
        bound = f"{lrnn.integer_bound:,}"
        text = [f"All its numbers are integers, but up to {bound}, more than any dtype here holds."]
    else:
        text = [
            f"All its numbers, products and partial sums are integers up to {lrnn.integer_bound:,}: it is exact at any length "
            f"in {', '.join(lrnn.formats)}, where nothing is rounded."
        ]
    known = [f"{n:,} in {dtype}" for dtype, n in (lengths or {}).items() if n is not None]
    if known:
        to = ", ".join(known)
        text.append(f"On every word the nearest code is proved to be the right one up to token {to}.")
    elif lengths is None and lrnn.exactness != "integer":
        text.append(
            f"Horizons were not computed: a head has more than {limits.codes:,} codes."
            if has_horizon(lrnn)
            else "No horizon is certified: some letters are more than products of factors of norm at most 1."
        )
    return text


def _list_run(lrnn: LRNN, lengths: Lengths, r: FollowedRun) -> tuple[Cell, ...]:
    exact = r.dtype in lrnn.formats
    horizon: Cell = "none is certified" if lengths is None else lengths[r.dtype]
    numbers = (float(r.norms.max()), float(r.margins.min()))
    return (
        r.dtype, exact, lrnn.integer_bound, INTEGER_RANGES[r.dtype], "no limit" if exact or horizon is None else horizon,
        r.tokens, r.errors, "none seen" if r.first_error is None else r.first_error,
        *(x if math.isfinite(x) else "not finite" for x in numbers),
    )  # fmt: skip
