"""`show`: a construction in plain text, every letter's factors and matrix with exact numbers.

Numbers of a field of degree 1 or 2 are polynomials in θ = 2cos(2π/N); in larger fields a number that is a cosine,
sine or tangent of a rational angle, up to rational numbers, is written so.

`show` for several layers: each layer's letters, heads and different transitions, and what its read-out makes of them.

What the letters of deeper layers are, in words; and what each layer makes of its letters.

The first layer's letters are the automaton's, named by their labels. Letter 5 of a deeper layer is named #5 and
explained by one way in which it arises, the one that needs fewest points: a letter of the automaton, and the points
at which heads of the layers above were before the token. Head 2 of layer 3 is named 3.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from ...foundation._errors import InputError
from ...foundation._text import count_noun, inflect_noun
from .._delay import BlockDelay
from .._head import Head, dense_matrix, to_dense
from .._lrnn import LRNN, Layer
from .._realisation import Sparse, Transition
from ..algebra._closed_forms import closed_form, number_text
from ..algebra._cyclotomic import Algebraic, Number, simplest
from ..algebra._householder import GHFactor
from ..algebra._matrices import identity
from ..automata._automaton import Indices
from ..chains._chain import ChainRNN

MAX_MATRIX = 12
"""Largest dimension of which matrices are printed."""
CONVENTION = (
    "C_1 is applied first; A = C_k···C_1, C = I - β v vᵀ, H ← A H; e_1, e_2, ... are the unit vectors"
)
COPIES = (
    "a masked factor is C = I - β v (v⊙a)ᵀ: it reads only the coordinates in its mask a, and ‖C‖ can exceed 1"
)


def show(lrnn: LRNN, *, max_letters: int = 30) -> str:
    """Write a construction as plain text: its sizes, H_0, and for each letter its factors, norm proofs and matrix.

    With several layers, each distinct transition of a head is shown once, together with the read-out of every layer
    (`show_layers`).

    Args:
        lrnn: the realisation.
        max_letters: the largest number of letters of each head that are shown; a last line says how many more there are.

    Raises:
        InputError: `max_letters` is below 1.
    """
    check_max_letters(max_letters)
    automaton, figures = lrnn.automaton, lrnn.summary()
    factors = "no GH factors" if lrnn.householders is None else count_noun(lrnn.householders, "factor")
    bound = f" with bound {figures['integer_bound']}" if figures["integer_bound"] is not None else ""
    several = lrnn.is_layered
    heads = f"{count_noun(len(lrnn.all_heads), 'head')} in all" if several else count_noun(lrnn.heads, "head")
    exact_in = f"bit-exact in {' '.join(lrnn.formats)}" if lrnn.formats else "rounded in every float format"
    lines = [
        f"{label_text(automaton.name)}: {lrnn.construction} ({lrnn.theorem})",
        f"{count_noun(len(automaton.states), 'state')}, {count_noun(len(automaton.letters), 'letter')}; "
        f"{count_noun(lrnn.depth, 'layer')}, {heads}, {factors}, dimension {lrnn.dim}; "
        f"{lrnn.exactness}{bound}, {exact_in}",
        CONVENTION,
        "0 ≤ β‖v‖² ≤ 2 proves ‖C‖ ≤ 1: the eigenvalue of C on v is 1 - β‖v‖², all others are 1",
        *[COPIES] * lrnn.norm.startswith("at most √2"),
        *(f"note: {note}" for note in lrnn.notes),
    ]
    if several:
        return "\n".join(lines + layered_lines(lrnn, max_letters)) + "\n"
    for title, head, labels in title_heads(lrnn):
        lines += [
            "",
            f"{title}: H is {head.dim} × {head.value_dim}, {count_noun(len(head.codes), 'reachable H', '')}",
        ]
        lines += [*field_lines(head), *code_lines("H_0 = ", head, head.codes[0])]
        for label, transition in list(zip(labels, head.transitions, strict=True))[:max_letters]:
            lines += ["", *transition_lines(f"letter {label}", transition, head)]
        if len(labels) > max_letters:
            more = count_noun(len(labels) - max_letters, "more letter")
            lines += ["", f"... {more}: `max_letters` {len(labels)} shows all"]
    return "\n".join(lines) + "\n"


def show_delay(form: BlockDelay, *, max_letters: int = 30) -> str:
    """A block delay as plain text: figures, its layers, and the permutation of points of each letter with its swaps.

    `max_letters`: letters written out; a last line says how many more there are. `InputError` where it is below 1.
    """
    check_max_letters(max_letters)
    automaton, letters = form.automaton, form.automaton.letters
    bound = "" if form.integer_bound is None else f" with bound {form.integer_bound}"
    exact_in = f"bit-exact in {' '.join(form.formats)}" if form.formats else "rounded in every float format"
    lines = [
        f"{label_text(automaton.name)}: {form.construction} ({form.theorem})",
        f"{count_noun(len(automaton.states), 'state')}, {count_noun(len(letters), 'letter')}; "
        f"{count_noun(form.depth, 'layer')}, {count_noun(form.heads, 'head')}, {count_noun(form.householders, 'factor')}, "
        f"dimension {form.dim}; {form.exactness}{bound}, {exact_in}",
        f"layers 1 to {form.depth - 2}: the {form.counter.name} of the tokens modulo {2 * form.block}; layer "
        f"{form.depth - 1}: the last {2 * form.block} tokens; layer {form.depth}: the product of the block before, "
        f"{count_noun(form.budget, 'swap')} a token at most, on H_0 with 1, 2, ... at the points {list(form.marks)}",
        *(f"note: {note}" for note in form.notes),
        "",
    ]
    for letter, image in list(zip(letters, form.points.tolist(), strict=True))[:max_letters]:
        lines.append(f"letter {label_text(letter)}: the points 0, 1, ... go to {image}")
    if len(letters) > max_letters:
        more = count_noun(len(letters) - max_letters, "more letter")
        lines.append(f"... {more}: `max_letters` {len(letters)} shows all")
    return "\n".join(lines) + "\n"


def show_chain(form: ChainRNN, *, max_letters: int = 30) -> str:
    """A chain of sets as plain text: figures, its layers, and what its first letters do at the start.

    `max_letters`: letters of which the transitions from the start are written out; a last line says how many more there are.
    `InputError` where it is below 1.
    """
    check_max_letters(max_letters)
    automaton, letters = form.automaton, form.automaton.letters
    lines = [
        f"{label_text(automaton.name)}: {form.construction} ({form.theorem})",
        f"{count_noun(len(automaton.states), 'state')}, {count_noun(len(letters), 'letter')}; "
        f"{count_noun(form.depth, 'layer')}, 1 head each, at most {count_noun(form.householders, 'factor')}, "
        f"dimension {form.dim}; integer with bound 1, bit-exact in {' '.join(form.formats)}",
        CONVENTION,
        *(f"note: {note}" for note in form.notes),
        "",
    ]
    if form.window is not None:
        width = form.bits.shape[1]
        lines.append(
            f"layer 1: the last {count_noun(form.rows, 'letter')}, a row of {count_noun(width, 'bit')} each: erase the last row, "
            "swap it to the front, write the number of the letter's map, from 1, in binary"
        )
    first = 1 + (form.window is not None)
    for i, (size, below) in enumerate(zip(form.sizes[:-1], form.sizes[1:], strict=True)):
        kept = "; a second half keeps the indicator before the last reset" if form.keeps_old(i) else ""
        if form.look_back and i > 0:
            kept = "; reads the token before too"
        lines.append(
            f"layer {first + i}: which {below} of {size} members of the set above, dimension {form.level_dims[i]}{kept}"
        )
    lines += ["", "from the start"]
    titles = [f"layer {i + 1}" for i in range(form.depth)]
    for label in letters[:max_letters]:
        (token,) = form.transitions_of([label])
        for title, transition in zip(titles, token, strict=True):
            lines.append(f"  letter {label_text(label)}, {title}: {name_factors(transition)}")
    if len(letters) > max_letters:
        more = count_noun(len(letters) - max_letters, "more letter")
        lines.append(f"... {more}: `max_letters` {len(letters)} shows all")
    return "\n".join(lines) + "\n"


def name_factors(transition: Transition) -> str:
    """Keys in the order applied, β = 1 each, with their masks, and what is added."""
    keys = ", ".join(
        vector_text(f.vector) + (f" (mask e_{f.mask[0] + 1})" if f.mask else "") for f in transition.factors
    )
    text = f"keys {keys}" if keys else "no factor"
    return f"{text}; add {_entries(transition.additive)}" if transition.additive else text


def check_max_letters(max_letters: int) -> None:
    """`InputError` unless at least one letter is wanted."""
    if max_letters < 1:
        raise InputError(f"`max_letters` {max_letters}: at least one letter is needed")


def label_text(label: object) -> str:
    """A state's or letter's label on one line: its `str`, or its `repr` where that is empty or not printable."""
    text = str(label)
    return text if text.strip() and text.isprintable() else repr(label)


def title_heads(lrnn: LRNN) -> list[tuple[str, Head, list[str]]]:
    """Every head of an LRNN of one layer in order, with its title and its letters' labels."""
    labels = [label_text(x) for x in lrnn.automaton.letters]
    return [(f"Head {j + 1}", head, labels) for j, head in enumerate(lrnn.layers[0].heads)]


def field_lines(head: Head) -> list[str]:
    """What θ is, where the head's numbers are irrational."""
    if head.field == 1:
        return []
    return [f"θ = 2cos(2π/{head.field}); θ, cos, sin and tan stand for exact numbers"]


def transition_lines(heading: str, transition: Transition, head: Head) -> list[str]:
    """A transition's factors with their norm proofs, its matrix and additive term, after a heading such as `letter a`."""
    n, k = head.dim, len(transition.factors)
    if transition.matrix is not None:
        kind = "A is given as a matrix, not by factors"
    else:
        kind = count_noun(k, "factor") if k else "no factor, A = I" if transition.gate == 1 else "no factor"
    lines = [f"{heading}: {kind}"]
    if transition.gate != 1:
        lines.append(f"  gate {number_text(transition.gate)}, applied before the factors and part of A")
    rows = [factor_texts(factor) for factor in transition.factors]
    widths = [max((len(row[c]) for row in rows), default=0) for c in range(2)]
    for j, (beta, vector, proof) in enumerate(rows):
        lines.append(f"  C_{j + 1}: β = {beta + ',':<{widths[0] + 1}} v = {vector:<{widths[1]}}   {proof}")
    if n > MAX_MATRIX:
        if k or transition.matrix is not None:
            lines.append(f"  A omitted: {n} × {n}, matrices are shown to {MAX_MATRIX} × {MAX_MATRIX}")
    elif (A := dense_matrix(transition, n)) != identity(n) or transition.matrix is not None:
        lines += _block("  A = ", matrix_texts(A, number_text))
    if transition.additive:
        lines.append("  then add B, whose non-zero entries are " + _entries(transition.additive))
    return lines


def factor_texts(factor: GHFactor) -> tuple[str, str, str]:
    """β, v and the norm proof of a factor, as text; for a masked one v, v⊙a and that its norm is larger."""
    eigenvalue = factor.eigenvalue
    kind = ", a reflection" if eigenvalue == -1 else ", a projection" if eigenvalue == 0 else ""
    if factor.mask is not None:
        vectors = f"{vector_text(factor.vector)}, v⊙a = {vector_text(factor.reading)}"
        return (
            number_text(factor.beta),
            vectors,
            f"eigenvalue {number_text(eigenvalue)}, {_masked_norm(factor)}",
        )
    bound = "" if factor.is_contraction() else ", ‖C‖ > 1"
    size = number_text(simplest(factor.beta * factor.norm_squared))
    proof = f"β‖v‖² = {size}, eigenvalue {number_text(eigenvalue)}{kind}{bound}"
    return number_text(factor.beta), vector_text(factor.vector), proof


def _masked_norm(factor: GHFactor) -> str:
    unit = [abs(x) for _, x in factor.vector if isinstance(x, int)]
    copy = factor.beta == 1 and unit == [1, 1] and len(factor.reading) == 1 and factor.eigenvalue == 0
    return "a copy, ‖C‖ = √2" if copy else "‖C‖ can exceed 1"


def vector_text(vector: Sequence[tuple[int, Number]]) -> str:
    """`e_1 - 2e_3`, from the non-zero entries `(index from 0, value)`."""

    def term(number: str, x: Number, i: int) -> str:
        if " " in number or isinstance(simplest(x), Fraction):
            number = f"({number})"
        number = "" if number == "1" else number + "·" * isinstance(x, Algebraic)
        return f"{number}e_{i + 1}"

    return write_signed_sum(vector, number_text, term)


def write_signed_sum(
    vector: Sequence[tuple[int, Number]],
    number: Callable[[Number], str],
    term: Callable[[str, Number, int], str],
) -> str:
    """Terms joined by their signs, "0" without any: `term(size, x, i)` of each entry, its minus taken out of `size`."""
    text = ""
    for i, x in vector:
        size = number(x)
        minus = size.startswith("-")
        if minus:
            size = number(simplest(-x))
        text += ("-" if minus else "") if not text else " - " if minus else " + "
        text += term(size, x, i)
    return text or "0"


def matrix_texts(
    A: Sequence[Sequence[Number]], number: Callable[[Number, bool, Fraction | None], str]
) -> list[list[str]]:
    """The entries by `number`, such as `number_text`; a rotation or reflection of the plane by cos, sin of one angle."""
    first = closed_form(A[0][0])
    angle = None if first is None else first.angle
    two = len(A) == len(A[0]) == 2
    return [[number(x, two and i != j, angle) for j, x in enumerate(row)] for i, row in enumerate(A)]


def code_lines(prefix: str, head: Head, code: Sparse) -> list[str]:
    """A state H of the head behind a prefix."""
    return _block(prefix, _code_rows(head, code))


def _code_rows(head: Head, code: Sparse) -> list[list[str]] | str:
    if head.dim > MAX_MATRIX:
        return (
            vector_text([(i, x) for i, _, x in code])
            if head.value_dim == 1
            else "zero but for " + _entries(code)
        )
    H = to_dense(code, head.dim, head.value_dim)
    if head.value_dim == 1:
        return f"({', '.join(number_text(x) for (x,) in H)})ᵀ"
    return matrix_texts(H, number_text)


def _entries(entries: Sparse) -> str:
    return ", ".join(f"({i + 1}, {j + 1}): {number_text(x)}" for i, j, x in entries)


def _block(prefix: str, rows: list[list[str]] | str) -> list[str]:
    """A matrix with its columns aligned behind a prefix."""
    if isinstance(rows, str):
        return [prefix + rows]
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    return [
        (prefix if i == 0 else " " * len(prefix))
        + "[ " + "  ".join(x.rjust(w) for x, w in zip(row, widths, strict=True)) + " ]"
        for i, row in enumerate(rows)
    ]  # fmt: skip


@dataclass(frozen=True, eq=False)
class LayerLetters:
    """The letters of one layer, below the first with one way in which each arises.

    `labels`: the automaton's letters, None below the first layer. `count`: how many letters there are.
    `above`: the letters and the layer that they come from, None on the first layer. `source`: int array
    `[letters, 2]`, a letter of the layer above and a column of its `next_letter`. `ways`: int array `[letters]`,
    how many pairs of a letter above and points there are. `chained`: the way goes up to the automaton's letter.
    """

    number: int
    count: int
    labels: tuple[object, ...] | None
    above: tuple[LayerLetters, Layer] | None
    source: Indices
    ways: Indices
    chained: bool

    def name(self, letter: int) -> str:
        """The label on the first layer, `#5` below."""

        return f"#{letter}" if self.labels is None else label_text(self.labels[letter])

    def origin(self, letter: int) -> tuple[str, str, list[tuple[str, int]]]:
        """The name of the letter that it comes from, ` of layer 2` unless that is the automaton's, heads and points."""
        if self.above is None:
            return self.name(letter), "", []
        letters, layer = self.above
        parent, column = self.source[letter].tolist()
        conditions: list[tuple[str, int]] = []
        base, where = letters.name(parent), f" of layer {letters.number}"
        if letters.above is None or self.chained:
            base, where, conditions = letters.origin(parent)
        read = heads_read(layer, parent)
        points = column_points(layer, read, column)
        own = [(f"{letters.number}.{h + 1}", p) for h, p in zip(read, points, strict=True)]
        return base, where, conditions + own

    def explanation(self, letter: int, written: Callable[[str], str] = str) -> str:
        """`letter a, head 1.1 at 0 (one of 3 ways)`, names as `written`."""
        base, where, conditions = self.origin(letter)
        others = f" (one of {self.ways[letter]} ways)" if self.ways[letter] > 1 else ""
        return (
            ", ".join([f"letter {written(base)}{where}", *(f"head {h} at {p}" for h, p in conditions)])
            + others
        )


def layer_letters(lrnn: LRNN) -> tuple[LayerLetters, ...]:
    """The letters of every layer of an LRNN of several layers."""
    automaton = lrnn.automaton
    n = len(automaton.letters)
    nothing = np.zeros((0, 2), dtype=np.int64)
    result = [LayerLetters(1, n, automaton.letters, None, nothing, np.ones(n, dtype=np.int64), True)]
    cost = np.zeros(n, dtype=np.int64)
    for number, layer in enumerate(lrnn.layers[:-1], start=2):
        assert layer.reads is not None
        assert layer.next_letter is not None
        rows, columns = np.nonzero(layer.next_letter >= 0)
        following = layer.next_letter[rows, columns]
        costs = cost[rows] + (layer.reads >= 0).sum(axis=1)[rows]
        order = np.argsort(costs, kind="stable")
        letters, first, ways = np.unique(following[order], return_index=True, return_counts=True)
        if not np.array_equal(letters, np.arange(len(letters))):
            raise ValueError(f"the letters of layer {number} are not numbered without gaps")
        chosen = order[first]
        cost = costs[chosen]
        source = np.stack([rows[chosen], columns[chosen]], axis=1)
        # without a covering the ways of two layers may exclude each other: only the last step is sure
        chained = lrnn.covering is not None
        above = (result[-1], layer)
        result.append(LayerLetters(number, len(letters), None, above, source, ways, chained))
    return tuple(result)


def heads_read(layer: Layer, letter: int) -> list[int]:
    """The heads on which the next letter depends."""
    assert layer.reads is not None
    return [h for h in layer.reads[letter].tolist() if h >= 0]


def column_points(layer: Layer, read: Sequence[int], column: int) -> tuple[int, ...]:
    """The points of the heads read, that a column of `next_letter` stands for."""
    points = []
    for h in reversed(read):
        column, point = divmod(column, layer.sizes[h])
        points.append(point)
    return tuple(reversed(points))


def read_out(layer: Layer, letter: int) -> list[tuple[tuple[int, ...], int]]:
    """The next letter (on the last layer the state) for the points of the heads read; what never occurs is left out."""
    assert layer.next_letter is not None
    read = heads_read(layer, letter)
    row = layer.next_letter[letter, : prod(layer.sizes[h] for h in read)].tolist()
    return [(column_points(layer, read, column), y) for column, y in enumerate(row) if y >= 0]


def distinct_transitions(head: Head) -> list[tuple[int, list[int]]]:
    """Each different transition once, by its index, with the layer's letters that have it."""
    place: dict[object, int] = {}
    result: list[tuple[int, list[int]]] = []
    for x, t in enumerate(head.action_of(np.arange(head.letters)).tolist()):
        k = place.setdefault(head.transitions[t], len(result))
        if k == len(result):
            result.append((t, []))
        result[k][1].append(x)
    return result


def point_map(head: Head, transition: int) -> Indices:
    """Int array `[points]`: the point to which a transition takes each point."""
    size = head.points or len(head.codes)
    starts = np.array([head.first_code(p) for p in range(size)], dtype=np.int64)
    return np.asarray(head.point_of[head.code_transitions[transition, starts]])


def map_kind(images: Indices) -> str:
    """`identity`, `permutation`, `reset` or `map`."""
    n = len(images)
    if np.array_equal(images, np.arange(n)):
        return "identity"
    if len(np.unique(images)) == n:
        return "permutation"
    return "reset" if bool((images == images[0]).all()) else "map"


def map_text(images: Indices, most: int = 30) -> str:
    """`permutation (0 1)`, `reset to 2`, `identity` or `map 0 → 1, 1 → 1`; cut after `most` points."""
    kind, row = map_kind(images), images.tolist()
    if kind == "identity":
        return "every point stays"
    if kind == "reset":
        return f"reset to {row[0]}"
    if kind == "map":
        parts = [f"{p} → {q}" for p, q in enumerate(row)]
        return "map " + ", ".join(parts[:most]) + (", ..." if len(parts) > most else "")
    seen = [False] * len(row)
    text, written = "permutation ", 0
    for first in range(len(row)):
        cycle = []
        point = first
        while not seen[point]:
            seen[point] = True
            cycle.append(point)
            point = row[point]
        if len(cycle) < 2:
            continue
        if written >= most:
            return text + "..."
        shown = cycle[: most - written]
        text += "(" + " ".join(map(str, shown)) + (" ..." if len(shown) < len(cycle) else "") + ")"
        written += len(shown)
    return text


LEGEND = (
    "layers act from top to bottom within a token: the first reads the automaton's letter, every other its own letter "
    "that the layer above makes (#5 is letter 5), and the last names the automaton's state",
    "head 2.1 is head 1 of layer 2; its points are numbered 0, 1, ...; "
    '"head 2.1 at 0" is its point before the token, which its new code and the letter tell',
)
TOLD_TOGETHER = (
    "where a letter merges points, the new codes of the heads that are read tell the next letter together"
)
SHORT_LIST = 12
"""Letters named beside a transition."""


def layered_lines(lrnn: LRNN, max_letters: int) -> list[str]:
    """The lines of `show` below the figures; every list is cut after `max_letters` and says so."""
    lines = [*LEGEND, *[TOLD_TOGETHER] * any(layer.after is not None for layer in lrnn.layers)]
    letters = layer_letters(lrnn)
    for i, layer in enumerate(lrnn.layers):
        own = letters[i]
        which = " (the automaton's)" if i == 0 else ""
        lines += [
            "",
            f"Layer {i + 1}: {count_noun(own.count, 'letter')}{which}, {count_noun(len(layer.heads), 'head')}",
        ]
        if i > 0:
            rows = [f"  {own.name(y)}: {own.explanation(y)}" for y in range(min(own.count, max_letters))]
            lines += [*rows, *say_cut(own.count, max_letters, "letter")]
        for j, head in enumerate(layer.heads):
            code = int(lrnn.decode[0, 1 + lrnn.columns[i].start + j])
            lines += ["", *_head_lines(f"Layer {i + 1}, head {j + 1}", head, code, own, max_letters)]
        lines += ["", *_read_out_lines(lrnn, i, letters, max_letters)]
    return lines


def say_cut(count: int, most: int, noun: str) -> list[str]:
    """A line that says how many more there are."""
    if count <= most:
        return []
    return [f"  ... {count_noun(count - most, f'more {noun}')}: `max_letters` {count} shows all"]


def short_list(names: Sequence[str], most: int = SHORT_LIST) -> str:
    """`letters a, b, c and 9 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{inflect_noun(len(names), 'letter')} {', '.join(names[:most])}{more}"


def point_codes(head: Head) -> list[Sparse]:
    """The code of each point; of a doubled head its upper half."""
    if head.points is None:
        return list(head.codes)
    half = head.dim // 2
    codes = (head.codes[p * head.points] for p in range(head.points))
    return [tuple(entry for entry in code if entry[0] < half) for code in codes]


def points_text(points: Sequence[int]) -> str:
    """`2` of one head, `(2, 0)` of two."""
    text = ", ".join(map(str, points))
    return f"({text})" if len(points) > 1 else text


def start_text(head: Head, code: int) -> str:
    """At which point, or pair of points, a code is."""
    if head.points is None:
        return f"point {code}"
    u, v = divmod(code, head.points)
    return f"u at {u}, v at {v}"


def head_text(head: Head) -> str:
    """Shape, points, and what a doubled head remembers."""
    text = f"H is {head.dim} × {head.value_dim}, "
    if head.points is None:
        return text + count_noun(len(head.codes), "point")
    return text + (
        f"doubled: above u, the current one of {count_noun(head.points, 'point')}, below v, "
        "the one before the last reset"
    )


def _head_lines(title: str, head: Head, code: int, own: LayerLetters, max_letters: int) -> list[str]:
    lines = [f"{title}: {head_text(head)}", *field_lines(head)]
    codes = [f"{p} = {_code_text(head, c)}" for p, c in enumerate(point_codes(head)[:max_letters])]
    count = head.points or len(head.codes)
    more = f", ... {count - max_letters} more" if count > max_letters else ""
    lines.append(f"points: {', '.join(codes)}{more}")
    lines += code_lines("H_0 = ", head, head.codes[code])
    lines[-1] += f", {start_text(head, code)}"
    kinds = distinct_transitions(head)
    for number, (t, letters) in enumerate(kinds[:max_letters], start=1):
        heading = f"{short_list([own.name(x) for x in letters])}, transition {number} of {len(kinds)}"
        shown = transition_lines(heading, head.transitions[t], head)
        shown.insert(1, f"  points: {map_text(point_map(head, t))}")
        lines += ["", *shown]
    return lines + say_cut(len(kinds), max_letters, "transition")


def _code_text(head: Head, code: Sparse) -> str:
    dim = head.dim if head.points is None else head.dim // 2
    if head.value_dim == 1 and dim <= min(4, MAX_MATRIX):
        values = {i: x for i, _, x in code}
        inside = ", ".join(number_text(values.get(i, 0)) for i in range(dim))
        return inside if dim == 1 else f"({inside})ᵀ"
    if head.value_dim == 1:
        return vector_text([(i, x) for i, _, x in code])
    return "{" + ", ".join(f"({i + 1}, {j + 1}): {number_text(x)}" for i, j, x in code) + "}"


def _read_out_lines(lrnn: LRNN, i: int, letters: Sequence[LayerLetters], max_letters: int) -> list[str]:
    layer, own = lrnn.layers[i], letters[i]
    last = i == lrnn.depth - 1
    aim = "the automaton's state" if last else f"the letter of layer {i + 2}"
    lines = [f"Layer {i + 1}, read-out: {aim}"]
    for x in range(min(own.count, max_letters)):
        heads = heads_read(layer, x)
        parts = []
        rows = read_out(layer, x)
        for points, y in rows[:max_letters]:
            name = label_text(lrnn.automaton.states[y]) if last else letters[i + 1].name(y)
            where = points_text(points)
            parts.append(f"{where} → {name}" if heads else name)
        more = f"; ... {len(rows) - max_letters} more" if len(rows) > max_letters else ""
        names = ", ".join(f"{i + 1}.{h + 1}" for h in heads)
        read = f"{inflect_noun(len(heads), 'head')} {names} at " if heads else ""
        lines.append(f"  {own.name(x)}: {read}{'; '.join(parts)}{more}")
    return lines + say_cut(own.count, max_letters, "letter")
