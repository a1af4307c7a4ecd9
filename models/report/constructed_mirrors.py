"""The letters of a construction in a report: pictures of their mirrors, and every factor in numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from ...constructions._lrnn import LRNN
from ...constructions._realisation import Transition
from ...constructions.algebra._closed_forms import number_text
from ...constructions.algebra._cyclotomic import simplest
from ...constructions.algebra._householder import GHFactor
from ...constructions.texts._show import (
    counted,
    distinct_transitions,
    factor_texts,
    label_text,
    layer_letters,
    vector_text,
)
from ...foundation._errors import InputError, LimitError
from ...theory.pictures._cascade import draw_cascade
from ...theory.pictures._mirrors import draw_mirrors
from .limits import ShownLimits, some_of
from .parts import Cell, Picture, Section, Table

LOWER = "Below the first layer, #5 is letter 5 of those that the layer above makes."
OPTIONS = ("max_drawn", "max_wires")
"""Of a report, for letters and dimensions that are drawn."""
COLUMNS = ("head", "letter", "step", "β", "key k", "β‖k‖²", "eigenvalue on k", "what it is")


def mirrors_section(lrnn: LRNN, limits: ShownLimits) -> Section:
    """Pictures of the letters (and of the layers where there are several), and the table of factors."""
    several = len(lrnn.layers) > 1
    pictures, notes = list[Picture](), list[str]()
    if several:
        drawn, note = _drawing(lrnn, "layers", "Layers and heads", _layers_text(lrnn), _cascade(lrnn, limits))
        pictures, notes = [*pictures, *drawn], [*notes, *note]
    drawn, note = _drawing(
        lrnn, "mirrors", "Letters as mirrors", _mirrors_text(lrnn, limits), _mirrors(lrnn, limits)
    )
    factors = "letters that are no products of factors" if lrnn.householders is None else (
        f"at most {counted(lrnn.householders, 'factor')} a letter in one head"
    )  # fmt: skip
    text = " ".join(
        [
            f"{label_text(lrnn.automaton.name)}: {lrnn.construction} ({lrnn.theorem}).",
            f"It has {counted(len(lrnn.layers), 'layer')} with {counted(len(lrnn.all_heads), 'head')} in all, dimension at "
            f"most {lrnn.dim}, and {factors}; the norm of a letter is {lrnn.norm}.",
            "A factor is I - β k kᵀ: a mirror where β‖k‖² = 2, a projection where it is 1.",
            *[LOWER] * several,
            *notes, *note, *(f"Note: {n}." for n in lrnn.notes),
        ]
    )  # fmt: skip
    return Section(
        "letters", "Letters as products of factors", text, (*pictures, *drawn, factor_table(lrnn, limits))
    )


def factor_table(lrnn: LRNN, limits: ShownLimits) -> Table:
    """A row for each factor of each different transition, in exact numbers, whole transitions up to `limits.rows` rows."""
    rows, shown, total = list[tuple[Cell, ...]](), 0, 0
    cut = False
    for name, own, transition in named_transitions(lrnn):
        total += 1
        more = [(name, own, *row) for row in _rows(transition)]
        cut = cut or (total > 1 and len(rows) + len(more) > limits.rows)
        if not cut:
            rows += more
            shown += 1
    word = "transition" if len(lrnn.all_heads) > 1 else "different letter"
    description = (
        f"{some_of(shown, total, word).capitalize()} with {counted(len(rows), 'row')}; the factor C_1 is applied first. "
        "On its key a factor has the eigenvalue 1 - β‖k‖², all its others are 1."
    )
    return Table("factors", "Factors", description, COLUMNS, tuple(rows), _source(lrnn))


def named_transitions(lrnn: LRNN) -> list[tuple[str, str, Transition]]:
    """Head, letters and transition of each different transition of each head, layer by layer."""
    letters, several = layer_letters(lrnn), len(lrnn.layers) > 1
    return [
        (f"head {i + 1}.{j + 1}" if several else f"head {j + 1}", _named([letters[i].name(x) for x in own]), head.transitions[t])
        for i, layer in enumerate(lrnn.layers)
        for j, head in enumerate(layer.heads)
        for t, own in distinct_transitions(head)
    ]  # fmt: skip


def _named(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")


def _rows(t: Transition) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    if t.gate != 1:
        rows.append(("gate", None, None, None, number_text(t.gate), "multiplies the whole state first"))
    if t.matrix is not None:
        rows.append(
            (
                "A",
                None,
                None,
                None,
                None,
                f"a matrix with {len(t.matrix):,} non-zero entries, no product of factors",
            )
        )
    rows += [_factor(f, j, len(t.factors)) for j, f in enumerate(t.factors, start=1)]
    if t.additive:
        entries = vector_text([(i, x) for i, _, x in t.additive])
        rows.append(("B", None, entries, None, None, "added last (rows of H in all columns together)"))
    return rows or [("none", None, None, None, None, "the identity")]


def _factor(f: GHFactor, number: int, count: int) -> tuple[Cell, ...]:
    beta, vector, proof = factor_texts(f)
    size, eigenvalue = simplest(f.beta * f.norm_squared), f.eigenvalue
    kinds = {-1: "a reflection", 0: "a projection", 1: "the identity"}
    kind = next((text for value, text in kinds.items() if eigenvalue == value), "a contraction along k")
    if f.mask is not None:
        kind = proof
    elif not f.is_contraction():
        kind = "of norm above 1"
    step = f"C_{number} of {count}"
    return step, beta, vector, number_text(size), number_text(eigenvalue), kind


def _mirrors(lrnn: LRNN, limits: ShownLimits) -> Callable[[Path], None]:
    return lambda path: draw_mirrors(
        lrnn, path, max_letters=limits.letters, max_dim=limits.dimension, options=OPTIONS
    )


def _cascade(lrnn: LRNN, limits: ShownLimits) -> Callable[[Path], None]:
    return lambda path: draw_cascade(lrnn, path, max_heads=max(limits.heads, 2))


def _drawing(
    lrnn: LRNN, slug: str, title: str, description: str, draw: Callable[[Path], None]
) -> tuple[list[Picture], list[str]]:
    """The picture in a list, or none and a sentence that says why."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{slug}.svg"
        try:
            draw(path)
        except (InputError, LimitError) as error:
            reason = str(error).removeprefix(f"{path}: ")
            return [], [f"{title}: not drawn, as {reason}."]
        svg = path.read_text("utf-8")
    return [Picture(slug, title, description, svg[svg.index("<svg") :], _source(lrnn))], []


def _mirrors_text(lrnn: LRNN, limits: ShownLimits) -> str:
    several = len(lrnn.layers) > 1
    most = max(len(distinct_transitions(h)) if several else h.letters for h in lrnn.all_heads)
    noun, heads = "transition" if several else "letter", len(lrnn.all_heads)
    which = f"each {noun}"
    if most > limits.letters:
        which = f"at most {some_of(limits.letters, most, noun)}, one of each kind"
    return (
        f"Panels for {which}{'' if heads == 1 else f', in each of {heads} heads'}: states are dots, factors the mirrors that take "
        "them there; heads that need more than three dimensions show their coordinates as wires that the factors cross."
    )


def _layers_text(lrnn: LRNN) -> str:
    return (
        f"{counted(len(lrnn.layers), 'layer')} from top to bottom with a box for each head; arrows show what a layer makes "
        "of its letter for the next one, the last the state."
    )


def _source(lrnn: LRNN) -> str:
    return f"the exact factors of the construction ({lrnn.theorem})"
