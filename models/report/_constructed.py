"""What a report shows of an exact construction: its automaton, its letters, and their spectra."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import matplotlib
import numpy as np

from ...constructions._inspection import inspect_automaton
from ...constructions._lrnn import LRNN, as_table
from ...constructions._realisation import INTEGER_RANGES, Realisation, Transition
from ...constructions.algebra._closed_forms import number_text
from ...constructions.algebra._cyclotomic import simplest
from ...constructions.algebra._householder import GHFactor
from ...constructions.automata._automaton import Automaton, breadth_first
from ...constructions.texts._show import (
    distinct_transitions,
    factor_texts,
    label_text,
    layer_letters,
    vector_text,
)
from ...foundation._errors import InputError, LimitError
from ...foundation._files import unlisted
from ...foundation._text import count_noun
from ...theory.pictures._automaton import svg_text
from ...theory.pictures._cascade import draw_cascade
from ...theory.pictures._mirrors import draw_mirrors
from ...theory.running._run import run
from ...theory.running._words import random_words
from ...theory.spectra._eigenvalues import answer, eigenvalues_text, range_text
from ...theory.spectra._matrix import ExactMatrix, lift_to_one_field
from ...theory.spectra._model import LetterSpectrum, lrnn_heads, model_spectrum
from ...theory.spectra._roots import Eigenvalue
from ._data import Cell, Chart, Picture, RandomRuns, Section, Series, ShownLimits, Table, format_part
from ._evidence import show_certificate, show_claims
from ._rounding import certify_horizons, show_rounding

LOWER = "Below the first layer, #5 stands for letter 5 of those that the layer above makes."
OPTIONS = ("a limit of", "a limit of")
"""What a page calls the most letters, and the largest dimension, that are drawn."""
CLEAR: Any = {"savefig.transparent": True}
"""Pictures have no ground of their own, so that they are at home on a dark page too."""
MOST_VALUES = 8
"""Different eigenvalues written out in a row."""


def show_construction(
    found: Realisation,
    *,
    certificate: Path | None = None,
    runs: RandomRuns | None = None,
    limits: ShownLimits | None = None,
) -> tuple[Section, ...]:
    """Automaton, letters, certificate, claims, for an `LRNN` spectra, and what rounding does on random words.

    Args:
        found: the construction.
        certificate: a file that is checked now and compared with the construction; without one a certificate is made.
        runs: the random words and the dtypes.
        limits: how much is shown; what is left out is said.

    Raises:
        InputError: for a certificate that cannot be read; a wrong one is shown as invalid.
    """
    runs, limits = runs or RandomRuns(), limits or ShownLimits()
    automaton, claims = show_automaton(found.automaton, limits), show_claims(found, limits)
    if (table := as_table(found)) is None:
        proof = show_certificate(found, certificate, None)
        return automaton, show_delay(found), proof, claims, show_delay_runs(found, runs)
    lengths = certify_horizons(table, limits)
    return (
        automaton, show_letters(table, limits), show_certificate(table, certificate, lengths), claims,
        show_spectra(table, limits), show_rounding(table, lengths, runs, limits),
    )  # fmt: skip


def show_automaton(automaton: Automaton, limits: ShownLimits) -> Section:
    """The drawing, where the limits allow one, and the facts of `inspect`."""
    source = f"the transition table of {label_text(automaton.name)}"
    start = label_text(automaton.states[automaton.start])
    facts = inspect_automaton(automaton, max_monoid=limits.monoid)
    size = "of unknown size" if facts.monoid is None else f"with {count_noun(facts.monoid, 'element')}"
    sort = "a group" if facts.group else "no group"
    items: list[Picture | Table] = [Table(
        "automaton-facts", "Facts", f"The letters generate a transition monoid {size}, which is {sort}.",
        ("fact", "value"), facts.rows(), source,
    )]  # fmt: skip
    text = (
        f"{label_text(automaton.name)} has {count_noun(len(automaton.states), 'state')} and "
        f"{count_noun(len(automaton.letters), 'letter')} and starts in {start}."
    )
    letters = choose_letters(automaton, limits.arrows)
    try:
        svg = _draw_automaton(automaton, letters, limits)
    except InputError as error:
        return Section("automaton", "Automaton", f"{text} It is not drawn: {error}.", items)
    fewer = len(letters) < len(automaton.letters)
    which = "; they reach every state that all letters together reach" if fewer else ""
    description = (
        f"{count_noun(len(automaton.states), 'state')} as circles and {count_noun(_count_arrows(automaton, letters), 'arrow')} with their "
        f"letters; the arrow from nowhere points to the start {start}. The picture shows "
        f"{format_part(len(letters), len(automaton.letters), 'letter')}{which}."
    )
    svg = svg[svg.index("<svg") :]
    picture = Picture("automaton-picture", "States and letters", description, svg, source)
    return Section("automaton", "Automaton", text, (picture, *items))


def choose_letters(automaton: Automaton, max_arrows: int) -> list[int]:
    """All letters where they need at most so many arrows, else few letters that reach everything reachable.

    An arrow joins one state to another, however many letters it stands for.
    """
    every = list(range(len(automaton.letters)))
    if _count_arrows(automaton, every) <= max_arrows:
        return every
    maps, kept = automaton.transitions, list[int]()
    reached = np.zeros(len(automaton.states), dtype=bool)
    reached[automaton.start] = True
    while (beyond := (~reached[maps[:, reached]]).any(axis=1)).any():
        kept.append(int(beyond.argmax()))
        reached[breadth_first(maps[kept], automaton.start)] = True
    return sorted(kept)


def _count_arrows(automaton: Automaton, letters: list[int]) -> int:
    n = len(automaton.states)
    return len(np.unique(automaton.transitions[letters] + n * np.arange(n)))


def _draw_automaton(automaton: Automaton, letters: list[int], limits: ShownLimits) -> str:
    n, arrows = len(automaton.states), _count_arrows(automaton, letters)
    if n > limits.states:
        raise InputError(f"{n:,} states are more than the {limits.states:,} that a drawing may have")
    if arrows > limits.arrows:
        raise InputError(
            f"even the {count_noun(len(letters), 'letter')} that reach every state need {arrows:,} arrows, more than the "
            f"{limits.arrows:,} that a drawing may have"
        )
    part = replace(
        automaton, letters=tuple(automaton.letters[x] for x in letters), transitions=automaton.transitions[letters],
        outputs=automaton.outputs[letters] if automaton.is_mealy else automaton.outputs,
    )  # fmt: skip
    try:
        with matplotlib.rc_context(CLEAR):
            return svg_text(part, max_drawn=limits.states)
    except InputError as error:
        raise InputError(str(error).removeprefix(f"{automaton.name}: ")) from None


def show_letters(lrnn: LRNN, limits: ShownLimits) -> Section:
    """Pictures of the letters (and of the layers where there are several), and the table of factors."""
    several, heads = lrnn.is_layered, len(lrnn.all_heads)
    drawn = list[Picture | str]()
    if several:
        drawn.append(_draw_picture(
            lrnn, "layers", "Layers and heads",
            f"{count_noun(len(lrnn.layers), 'layer')} from top to bottom with a box for each head. Arrows show what a layer makes "
            "of its letter for the next one; the last arrow shows the state.",
            lambda path: draw_cascade(lrnn, path, max_heads=max(limits.heads, 2)),
        ))  # fmt: skip
    most = max(len(distinct_transitions(h)) if several else h.letters for h in lrnn.all_heads)
    noun = "transition" if several else "letter"
    which = f"each {noun}"
    if most > limits.letters:
        which = f"at most {format_part(limits.letters, most, noun)}, one of each kind"
    drawn.append(_draw_picture(
        lrnn, "mirrors", "Letters as mirrors",
        f"Panels for {which}{'' if heads == 1 else f', in each of {heads} heads'}. States are dots, and factors are the mirrors "
        "that take them to their places. Heads of more than three dimensions show their coordinates as wires that the factors cross.",
        lambda path: draw_mirrors(lrnn, path, max_letters=limits.letters, max_dim=limits.dimension, options=OPTIONS),
    ))  # fmt: skip
    factors = "letters that are no products of factors"
    if lrnn.householders is not None:
        factors = f"at most {count_noun(lrnn.householders, 'factor')} a letter in one head"
    text = [
        f"{label_text(lrnn.automaton.name)}: {lrnn.construction} ({lrnn.theorem}).",
        f"It has {count_noun(len(lrnn.layers), 'layer')} with {count_noun(heads, 'head')} in all, dimension at most {lrnn.dim}, and "
        f"{factors}; the norm of a letter is {lrnn.norm}.",
        "A factor is I - β k kᵀ: a mirror where β‖k‖² = 2, a projection where it is 1.",
        *[LOWER] * several, *(note for note in drawn if isinstance(note, str)), *(f"Note: {n}." for n in lrnn.notes),
    ]  # fmt: skip
    pictures = [picture for picture in drawn if isinstance(picture, Picture)]
    return Section(
        "letters", "Letters as products of factors", " ".join(text), pictures, (list_factors(lrnn, limits),)
    )


def _draw_picture(
    lrnn: LRNN, slug: str, title: str, description: str, draw: Callable[[Path], None]
) -> Picture | str:
    """The picture, or a sentence that says why there is none."""
    with TemporaryDirectory() as folder, unlisted(), matplotlib.rc_context(CLEAR):
        path = Path(folder) / f"{slug}.svg"
        try:
            draw(path)
        except (InputError, LimitError) as error:
            return f"{title}: not drawn, as {str(error).removeprefix(f'{path}: ')}."
        svg = path.read_text("utf-8")
    return Picture(slug, title, description, svg[svg.index("<svg") :], _name_source(lrnn))


def _name_source(lrnn: LRNN) -> str:
    return f"the exact factors of the construction ({lrnn.theorem})"


def list_factors(lrnn: LRNN, limits: ShownLimits) -> Table:
    """A row for each factor of each different transition, in exact numbers, whole transitions up to `limits.rows` rows."""
    rows, shown, total, full = list[tuple[Cell, ...]](), 0, 0, False
    letters, several = layer_letters(lrnn), lrnn.is_layered
    for i, layer in enumerate(lrnn.layers):
        for j, head in enumerate(layer.heads):
            for t, own in distinct_transitions(head):
                names = [letters[i].name(x) for x in own]
                named = ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")
                where = f"head {i + 1}.{j + 1}" if several else f"head {j + 1}"
                more = [(where, named, *row) for row in _list_steps(head.transitions[t])]
                total += 1
                full = full or (total > 1 and len(rows) + len(more) > limits.rows)
                if not full:
                    rows, shown = rows + more, shown + 1
    word = "transition" if len(lrnn.all_heads) > 1 else "different letter"
    return Table(
        "factors", "Factors",
        f"{format_part(shown, total, word).capitalize()} with {count_noun(len(rows), 'row')}; the factor C_1 is applied first. "
        "On its key a factor has the eigenvalue 1 - β‖k‖²; all its others are 1.",
        ("head", "letter", "step", "β", "key k", "β‖k‖²", "eigenvalue on k", "what it is"), rows,
        _name_source(lrnn),
    )  # fmt: skip


def _list_steps(t: Transition) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    if t.gate != 1:
        rows.append(("gate", None, None, None, number_text(t.gate), "multiplies the whole state first"))
    if t.matrix is not None:
        said = f"a matrix with {len(t.matrix):,} non-zero entries, no product of factors"
        rows.append(("A", None, None, None, None, said))
    rows += [(f"C_{j} of {len(t.factors)}", *_describe_factor(f)) for j, f in enumerate(t.factors, start=1)]
    if t.additive:
        entries = vector_text([(i, x) for i, _, x in t.additive])
        rows.append(("B", None, entries, None, None, "added last (rows of H in all columns together)"))
    return rows or [("none", None, None, None, None, "the identity")]


def _describe_factor(f: GHFactor) -> tuple[Cell, ...]:
    beta, vector, proof = factor_texts(f)
    kinds = {-1: "a reflection", 0: "a projection", 1: "the identity"}
    kind = next((text for value, text in kinds.items() if f.eigenvalue == value), "a contraction along k")
    if f.mask is not None or not f.is_contraction():
        kind = "of norm above 1" if f.mask is None else proof
    return beta, vector, number_text(simplest(f.beta * f.norm_squared)), number_text(f.eigenvalue), kind


def show_delay(found: Any) -> Section:
    """The layers of a block delay as a table; it has no letters' matrices to draw."""
    layers: list[tuple[Cell, ...]] = [
        (f"layer {i}", f"{found.counter.kind} counter modulo {2 * found.block}", len(layer.heads), max(h.dim for h in layer.heads))
        for i, layer in enumerate(found.counter.layers, start=1)
    ]  # fmt: skip
    block = 2 * found.block
    layers += [(f"layer {found.depth - 1}", f"ring buffer of the last {block} tokens", 1, block)]
    swaps = f"swaps of {found.degree} points, {found.budget} a token"
    layers += [(f"layer {found.depth}", swaps, 1, found.degree)]
    text = (
        f"{found.construction} ({found.theorem}). The product of {count_noun(found.block, 'token')} is applied while the next "
        f"{found.block} are read, at most {count_noun(found.householders, 'factor')} a token in one head."
    )
    table = Table(
        "delay-layers", "Layers", f"{len(layers)} layers from the first to the last, with the most factors of a token in one head.",
        ("layer", "what it does", "heads", "largest dimension", "factors"),
        [(*row, k) for row, k in zip(layers, found.layer_factors, strict=True)], f"the construction ({found.theorem})",
    )  # fmt: skip
    return Section("letters", "Layers of the block delay", text, (table,))


def show_delay_runs(found: Any, runs: RandomRuns) -> Section:
    """The runs of a block delay in each dtype."""
    words = random_words(found, runs.words, runs.length, runs.seed)
    rows: list[tuple[Cell, ...]] = []
    for dtype in runs.dtypes:
        r = run(found, words, dtype=dtype)
        first: Cell = "none seen" if r.first_error is None else r.first_error
        exact, integers = dtype in found.formats, (found.integer_bound, INTEGER_RANGES[dtype])
        rows.append((dtype, exact, *integers, r.tokens, r.errors, first))
    said = "Its counter rounds, and no horizon is certified for it."
    if found.integer_bound is not None:
        bound, formats = f"{found.integer_bound:,}", ", ".join(found.formats)
        said = f"All its numbers are integers up to {bound}: it is exact at any length in {formats}."
    table = Table(
        "dtypes", "Dtypes", f"{sum(row[5] != 0 for row in rows)} of {len(rows)} dtypes have errors.",
        ("dtype", "exact at any length", "largest integer", "holds integers to", "tokens run", "errors", "first error"),
        rows, f"{runs.text}; per_step arithmetic",
    )  # fmt: skip
    text = f"{runs.text}, in {len(rows)} dtypes. {said}"
    return Section("rounding", "Rounding over length", text, (table,))


@dataclass(frozen=True)
class HeadSpectra:
    """`found`: the different matrices of a head that were looked at, of `matrices` in all; `shown`: those in the chart."""

    name: str
    found: tuple[LetterSpectrum, ...]
    shown: tuple[LetterSpectrum, ...]
    matrices: int


def show_spectra(lrnn: LRNN, limits: ShownLimits) -> Section:
    """A chart with the eigenvalues of some letters of each head, and a table of all that were enclosed, by class."""
    heads, beyond = enclose_spectra(lrnn, limits)
    if not heads:
        left_out = "".join(f" {name}: {reason}." for name, reason in beyond)
        return Section("spectra", "Spectra", f"Not shown: every head is beyond the limits.{left_out}")
    looked, every = sum(len(h.found) for h in heads), sum(h.matrices for h in heads)
    text = [
        f"Eigenvalues of {_count_matrices(looked, every)}, enclosed by exact arithmetic. Multiplicities, Jordan blocks, and "
        "whether a number is real or on the unit circle are decided exactly or said to be undecided, and never read off floats.",
        *[LOWER] * (lrnn.is_layered), *(f"{name} is left out: {reason}." for name, reason in beyond),
    ]  # fmt: skip
    rows = [row for head in heads for row in _list_classes(head)]
    table = Table(
        "spectra-table", "Spectra by class",
        f"{format_part(min(limits.rows, len(rows)), len(rows), 'different spectrum', 'different spectra').capitalize()}"
        f"{'' if looked == every else f' among {looked:,} of {every:,} different matrices'}; the number after × is a multiplicity. "
        "Stable means that all powers stay bounded.",
        ("head", "letters", "such as", "eigenvalues", "they lie in", "rank(A - I)", "‖A‖ ≤ 1", "stable"), rows[: limits.rows],
        "exact enclosures by balls, LDLᵀ for the norm",
    )  # fmt: skip
    return Section("spectra", "Spectra", " ".join(text), (_chart_spectra(lrnn, heads, limits),), (table,))


def _count_matrices(shown: int, every: int) -> str:
    return format_part(shown, every, "different letter matrix", "different letter matrices")


def enclose_spectra(lrnn: LRNN, limits: ShownLimits) -> tuple[list[HeadSpectra], list[tuple[str, str]]]:
    """The spectra of each head within the limits, and heads beyond them with the reason."""
    heads, beyond = list[HeadSpectra](), list[tuple[str, str]]()
    for name, matrices, labels in lrnn_heads(lrnn):
        numbers = dict[ExactMatrix, int]()
        for A in (lifted := lift_to_one_field(matrices)):
            numbers.setdefault(A, len(numbers))
        pairs = [(A, x) for A, x in zip(lifted, labels, strict=True) if numbers[A] < limits.spectra]
        try:
            report = model_spectrum([A for A, _ in pairs], labels=[x for _, x in pairs], name=name)
        except LimitError as error:
            beyond.append((name, str(error).removeprefix(f"{name}: ").partition(":")[0]))
            continue
        found = report.heads[0].letters
        # the first letter of each different spectrum comes before others
        first = {letter.spectrum.eigenvalues: i for i, letter in reversed(list(enumerate(found)))}
        order = sorted(range(len(found)), key=lambda i: (first[found[i].spectrum.eigenvalues] != i, i))
        shown = tuple(found[i] for i in sorted(order[: limits.letters]))
        heads.append(HeadSpectra(name, found, shown, len(numbers)))
    return heads, beyond


def describe_eigenvalue(e: Eigenvalue) -> str:
    """`non-real, on the unit circle, multiplicity 2, semisimple`."""
    kind = "zero" if e.sign == "zero" else e.kind if e.kind != "real" else f"{e.kind} and {e.sign}"
    where = "undecided whether on the unit circle" if e.circle == "unknown" else f"{e.circle} the unit circle"
    block = "semisimple" if e.block == 1 else f"largest Jordan block {e.block}"
    return f"{kind}, {where}, multiplicity {e.multiplicity}, {block}"


def _chart_spectra(lrnn: LRNN, heads: list[HeadSpectra], limits: ShownLimits) -> Chart:
    drawn, count, series = heads[: limits.heads], Counter[str](), []
    for head in drawn:
        for letter in head.shown:
            values = letter.spectrum.eigenvalues
            for e in values:
                count[e.circle] += e.multiplicity
            named = f"{head.name}, letter {letter.label}"
            hover = [f"{named}: {e.text()} ({describe_eigenvalue(e)})" for e in values]
            series.append(Series(
                head.name, [float(e.centre[0]) for e in values], [float(e.centre[1]) for e in values], role=0, hover=hover,
                filters=(("head", head.name), ("letter", letter.label)),
            ))  # fmt: skip
    places = {"on": "on the unit circle", "inside": "inside it", "outside": "outside it", "unknown": "undecided"}  # fmt: skip
    where = ", ".join(f"{count[c]:,} {words}" for c, words in places.items() if count[c])
    every = sum(h.matrices for h in heads)
    kinds = ", one of each spectrum first" if len(series) < every else ""
    which = f"; {format_part(len(drawn), len(heads), 'head')}" if len(heads) > 1 else ""
    return Chart(
        "spectra-disc", "Eigenvalues on the unit disc",
        f"Eigenvalues of {_count_matrices(len(series), every)}{kinds}{which}. Counted with multiplicities: {where}.",
        "real part", "imaginary part", series,
        f"exact letters of {lrnn.construction} ({lrnn.theorem}); centres of enclosures narrower than a float64 can tell",
        circle=True,
    )  # fmt: skip


def _list_classes(head: HeadSpectra) -> list[tuple[Cell, ...]]:
    groups: dict[tuple[Any, ...], list[LetterSpectrum]] = {}
    for letter in head.found:
        key = (letter.spectrum.eigenvalues, letter.reflection_rank, letter.norm.holds)
        groups.setdefault(key, []).append(letter)
    return [
        (
            head.name, sum(len(letter.labels) for letter in letters), letters[0].labels[0], eigenvalues_text(values, MOST_VALUES),
            range_text(letters[0].spectrum), rank, holds, answer(letters[0].spectrum.is_stable),
        )
        for (values, rank, holds), letters in groups.items()
    ]  # fmt: skip
