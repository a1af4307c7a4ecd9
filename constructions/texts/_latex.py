r"""`latex`: a construction as a LaTeX document, every letter's factors and matrix with exact numbers.

Numbers are polynomials in \theta = 2\cos(2\pi/N), or closed forms by the rule of `show`.

`latex` for several layers: each layer's letters, heads and different transitions, and its read-out, as running text.

Long lists are paragraphs, which TeX breaks into lines, not tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ...foundation._text import count_noun, inflect_noun
from .._head import Head, dense_matrix, to_dense
from .._lrnn import LRNN
from .._realisation import Sparse, Transition
from ..algebra._closed_forms import closed_form
from ..algebra._cyclotomic import Algebraic, Number, simplest
from ..algebra._matrices import identity
from ._show import (
    MAX_MATRIX,
    SHORT_LIST,
    TOLD_TOGETHER,
    LayerLetters,
    check_max_letters,
    distinct_transitions,
    head_text,
    heads_read,
    label_text,
    layer_letters,
    map_text,
    matrix_texts,
    point_codes,
    point_map,
    points_text,
    read_out,
    start_text,
    title_heads,
    write_signed_sum,
)

PREAMBLE = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{textcomp}
\usepackage{amsmath}
\usepackage[margin=2cm]{geometry}
\allowdisplaybreaks
\begin{document}
"""
COPIES = (
    r" A masked factor is $C_j = I - \beta_j v_j (v_j \odot a_j)^\top$: it reads only the coordinates in its mask"
    r" $a_j \in \{0, 1\}^n$, and its norm is at most $\sqrt 2$."
)
LONG_PRODUCT = 16
"""Products of more factors are abbreviated: a line has no room for them."""
SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "'": r"\textquotesingle{}", "`": r"\textasciigrave{}",
    "·": r"\(\cdot\)", "×": r"\(\times\)", "→": r"\(\to\)", "∅": r"\(\emptyset\)", "π": r"\(\pi\)",
    "α": r"\(\alpha\)", "β": r"\(\beta\)", "γ": r"\(\gamma\)", "δ": r"\(\delta\)", "ε": r"\(\varepsilon\)",
    "λ": r"\(\lambda\)", "ρ": r"\(\rho\)", "σ": r"\(\sigma\)", "τ": r"\(\tau\)", "θ": r"\(\theta\)",
    "−": "{-}", "–": "{-}", "²": r"\(^2\)", "ᵀ": r"\(^\top\)", "≤": r"\(\le\)", "≥": r"\(\ge\)",
}  # fmt: skip


def latex(lrnn: LRNN, *, standalone: bool = True, max_letters: int | None = None) -> str:
    """Write a construction as LaTeX that compiles with amsmath: its sizes, H_0, and A(x) for every letter x.

    Args:
        lrnn: the realisation.
        standalone: whether to write a whole document or only its body.
        max_letters: the largest number of letters of each head that are shown, None for all. With several layers, each
            distinct transition is shown once, and this is the largest length of every list, None for 30.

    Raises:
        InputError: `max_letters` is below 1.
    """
    if max_letters is not None:
        check_max_letters(max_letters)
    name, n, k = label_text(lrnn.automaton.name), len(lrnn.automaton.states), len(lrnn.automaton.letters)
    if lrnn.householders is None:
        factors, proof = "matrices in place of factors", ""
    else:
        factors = f"at most {count_noun(lrnn.householders, 'factor')} a letter"
        proof = r" A factor has norm at most~$1$ because $0 \le \beta_j \lVert v_j\rVert^2 \le 2$."
        proof += COPIES * lrnn.norm.startswith("at most √2")
    several = lrnn.is_layered
    heads = f"{count_noun(len(lrnn.all_heads), 'head')} in all" if several else count_noun(lrnn.heads, "head")
    parts = [
        rf"\section*{{{text(name)}: {text(lrnn.construction)}}}",
        f"Source: {text(lrnn.theorem)}. The automaton has {count_noun(n, 'state')} and {count_noun(k, 'letter')}; "
        f"the linear RNN has {count_noun(lrnn.depth, 'layer')}, {heads}, {factors} and "
        f"dimension {lrnn.dim}, and is {lrnn.exactness}. "
        r"A letter~$x$ acts by $H \leftarrow A(x)\,H$, $A(x) = C_k \cdots C_1$ with $C_1$ applied first and "
        r"$C_j = I - \beta_j v_j v_j^\top$; $e_1, e_2, \dots$ are the unit vectors." + proof,
    ]
    if several:
        parts += layered_parts(lrnn, 30 if max_letters is None else max_letters)
    for title, head, labels in [] if several else title_heads(lrnn):
        shown = len(labels) if max_letters is None else min(max_letters, len(labels))
        parts.append(rf"\subsection*{{{title}}}")
        parts += beginning(head, head.codes[0])
        for label, transition in list(zip(labels, head.transitions, strict=True))[:shown]:
            parts.append(transition_latex(rf"A(\text{{\ttfamily {text(label)}}})", transition, head))
        if shown < len(labels):
            more = count_noun(len(labels) - shown, "more letter")
            parts.append(rf"\dots\ {more}: \texttt{{{text(f'max_letters {len(labels)}')}}} shows all.")
    body = "\n\n".join(parts) + "\n"
    return f"{PREAMBLE}{body}\\end{{document}}\n" if standalone else body


def text(label: str) -> str:
    """A label as LaTeX text: special characters escaped, characters unknown to pdflatex as U+ numbers."""
    escaped = "".join(SPECIAL.get(c) or (c if _is_latin(c) else f"U+{ord(c):04X}") for c in label)
    return escaped.replace("--", "-{}-")


def _is_latin(c: str) -> bool:
    return " " <= c <= "~" or (c.isalpha() and "À" <= c <= "ÿ")


def beginning(head: Head, code: Sparse) -> list[str]:
    """What θ is, and the state H_0 = code."""
    theta = [] if head.field == 1 else [rf"Here $\theta = 2\cos(2\pi/{head.field})$."]
    return [*theta, "\\[\nH_0 = " + code_latex(head, code) + "\n\\]"]


def transition_latex(symbol: str, transition: Transition, head: Head) -> str:
    """The factors of a transition, and its matrix and additive term as `symbol = ..., B = ...`."""
    n, factors = head.dim, transition.factors
    lines = []
    for j, factor in enumerate(factors, start=1):
        size = simplest(factor.beta * factor.norm_squared)
        norm = "" if factor.is_contraction() else r"\quad (\lVert C\rVert > 1)"
        if factor.mask is not None:
            norm = rf",\quad v_{{{j}}}\odot a_{{{j}}} = {vector(factor.reading)}"
        lines.append(
            rf"\beta_{{{j}}} &= {number(factor.beta)}, & v_{{{j}}} &= {vector(factor.vector)}, "
            rf"& \beta_{{{j}}}\lVert v_{{{j}}}\rVert^2 &= {number(size)}{norm}"
        )
    word = r"\,".join(f"C_{{{j}}}" for j in range(len(factors), 0, -1)) or "I"
    if len(factors) > LONG_PRODUCT:
        word = rf"C_{{{len(factors)}}}\cdots C_{{1}}"
    if transition.gate != 1:
        word = number(transition.gate) + r"\," + word
    if transition.matrix is not None:
        product = f"{symbol} = {_large(transition.matrix, n)}"
    elif n > MAX_MATRIX:
        product = f"{symbol} = {word}"
    else:
        A = dense_matrix(transition, n)
        product = f"{symbol} = {word}" + ("" if identity(n) == A and word == "I" else f" = {array(A)}")
    if transition.additive:
        product += r",\qquad B = " + _entries(transition.additive)
    alignment = "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}\n" if lines else ""
    return f"{alignment}\\[\n{product}\n\\]"


def array(A: Sequence[Sequence[Number]]) -> str:
    """A matrix in square brackets, columns aligned to the right."""
    rows = [" & ".join(row) for row in matrix_texts(A, number)]
    columns = "r" * len(A[0])
    return "\\left[\\begin{array}{" + columns + "}\n" + " \\\\\n".join(rows) + "\n\\end{array}\\right]"


def vector(entries: Sequence[tuple[int, Number]]) -> str:
    """`e_{1} - 2e_{3}`, from the non-zero entries `(index from 0, value)`."""

    def term(coefficient: str, _: Number, i: int) -> str:
        if " " in coefficient:  # a sum
            coefficient = rf"\left({coefficient}\right)"
        coefficient = "" if coefficient == "1" else coefficient + (r"\," if "\\" in coefficient else "")
        return f"{coefficient}e_{{{i + 1}}}"

    return write_signed_sum(entries, number, term)


def number(x: Number, sine: bool = False, angle: Fraction | None = None) -> str:
    r"""An exact number: a rational, a closed form, or a polynomial in \theta."""
    form, x = closed_form(x, sine, angle), simplest(x)
    if form is not None:
        wave = rf"\{form.function}{_fraction(form.angle, chr(92) + 'pi')}"
        size = abs(form.factor)
        scaled = wave if size == 1 else rf"{_fraction(size)}{wave}"
        minus = "-" if form.factor < 0 else ""
        return minus + scaled if form.constant == 0 else f"{_fraction(form.constant)} {minus or '+'} {scaled}"
    if not isinstance(x, Algebraic):
        return _fraction(Fraction(x))
    result = ""
    for power, c in enumerate(x.coefficients):
        if c == 0:
            continue
        unit = "" if not power else r"\theta" if power == 1 else rf"\theta^{{{power}}}"
        coefficient = "" if abs(c) == 1 and power else _fraction(abs(c))
        result += ("-" if c < 0 else "") if not result else " - " if c < 0 else " + "
        result += coefficient + unit
    return result


def _fraction(x: Fraction, unit: str = "") -> str:
    p, q = abs(x.numerator), x.denominator
    top = unit if unit and p == 1 else f"{p}{unit}"
    return ("-" if x < 0 else "") + (top if q == 1 else rf"\tfrac{{{top}}}{{{q}}}")


def _large(entries: Sparse, n: int) -> str:
    if n <= MAX_MATRIX:
        return array(to_dense(entries, n, n))
    columns: dict[int, list[tuple[int, Number]]] = {}
    for i, j, x in entries:
        columns.setdefault(j, []).append((i, x))
    images = r",\; ".join(f"e_{{{j + 1}}} \\mapsto {vector(columns[j])}" for j in sorted(columns))
    return rf"\bigl({images}\bigr)"


def _entries(entries: Sparse) -> str:
    return r",\; ".join(rf"b_{{{i + 1},{j + 1}}} = {number(x)}" for i, j, x in entries)


def code_latex(head: Head, code: Sparse) -> str:
    """A state H of the head."""
    if head.dim <= MAX_MATRIX and head.value_dim == 1:
        values = ", ".join(number(x) for (x,) in to_dense(code, head.dim, 1))
        return rf"({values})^\top"
    if head.dim <= MAX_MATRIX:
        return array(to_dense(code, head.dim, head.value_dim))
    if head.value_dim == 1:
        return vector([(i, x) for i, _, x in code])
    return r"\sum_{i,j} h_{ij} e_i e_j^\top,\quad " + r",\; ".join(
        rf"h_{{{i + 1},{j + 1}}} = {number(x)}" for i, j, x in code
    )


LEGEND = (
    "Layers act from top to bottom within a token: the first reads the automaton's letter, every other its own letter, "
    r"which the layer above makes (\#5 is letter~5), and the last names the automaton's state. "
    "Head~2.1 is head~1 of layer~2; its points are numbered $0, 1, \\dots$, and ``head 2.1 at 0'' is its point "
    "\\emph{before} the token, which its new state and the letter tell."
)


def layered_parts(lrnn: LRNN, max_letters: int) -> list[str]:
    """The paragraphs of `latex` below the figures; every list is cut after `max_letters` and says so."""
    together = any(layer.after is not None for layer in lrnn.layers)
    parts = [LEGEND + f" {TOLD_TOGETHER[0].upper()}{TOLD_TOGETHER[1:]}." * together]
    letters = layer_letters(lrnn)
    for i, layer in enumerate(lrnn.layers):
        own = letters[i]
        parts.append(
            rf"\section*{{Layer {i + 1}: {count_noun(own.count, 'letter')}, {count_noun(len(layer.heads), 'head')}}}"
        )
        if i > 0:
            rows = [
                rf"{_tt(own.name(y))}: {own.explanation(y, _tt)}" for y in range(min(own.count, max_letters))
            ]
            parts.append("Letters: " + "; ".join(rows) + _say_cut(own.count, max_letters, "letter") + ".")
        for j, head in enumerate(layer.heads):
            code = int(lrnn.decode[0, 1 + lrnn.columns[i].start + j])
            parts += _head_parts(f"Layer {i + 1}, head {j + 1}", head, code, own, max_letters)
        parts += _read_out_parts(lrnn, i, letters, max_letters)
    return parts


def _head_parts(title: str, head: Head, code: int, own: LayerLetters, max_letters: int) -> list[str]:
    every = point_codes(head)
    codes = [rf"{p} is ${_point_code(head, c)}$" for p, c in enumerate(every[:max_letters])]
    points = f"Points: {', '.join(codes)}{_say_cut(len(every), max_letters, 'point')}."
    parts = [
        rf"\subsection*{{{title}}}",
        rf"{text(head_text(head)).replace('H is', '$H$ is', 1)}. {points} $H_0$ is {start_text(head, code)}.",
        *beginning(head, head.codes[code]),
    ]
    kinds = distinct_transitions(head)
    for number, (t, letters) in enumerate(kinds[:max_letters], start=1):
        names = [_tt(own.name(x)) for x in letters[:SHORT_LIST]]
        more = f" and {len(letters) - SHORT_LIST} more" if len(letters) > SHORT_LIST else ""
        what = text(map_text(point_map(head, t)))
        parts.append(
            rf"\paragraph{{Transition {number} of {len(kinds)}}} "
            f"{inflect_noun(len(letters), 'letter')} {', '.join(names)}{more}; {what}.\n"
            + transition_latex("A", head.transitions[t], head)
        )
    if len(kinds) > max_letters:
        parts.append(_say_cut(len(kinds), max_letters, "transition").removeprefix("; ") + ".")
    return parts


def _point_code(head: Head, code: Sparse) -> str:
    if head.value_dim == 1:
        return vector([(i, x) for i, _, x in code])
    return code_latex(head, code)


def _read_out_parts(lrnn: LRNN, i: int, letters: Sequence[LayerLetters], max_letters: int) -> list[str]:
    layer, own = lrnn.layers[i], letters[i]
    last = i == lrnn.depth - 1
    aim = "the automaton's state" if last else f"the letter of layer {i + 2}"
    lines = []
    for x in range(min(own.count, max_letters)):
        heads, rows, parts = heads_read(layer, x), read_out(layer, x), []
        for points, y in rows[:max_letters]:
            name = _tt(label_text(lrnn.automaton.states[y]) if last else letters[i + 1].name(y))
            parts.append(rf"{points_text(points)}~$\to$~{name}" if heads else name)
        names = ", ".join(f"{i + 1}.{h + 1}" for h in heads)
        read = f"{inflect_noun(len(heads), 'head')} {names} at " if heads else ""
        lines.append(
            rf"\item {_tt(own.name(x))}: {read}{', '.join(parts)}{_say_cut(len(rows), max_letters, 'point')}"
        )
    listed = "\\begin{itemize}\n" + "\n".join(lines) + "\n\\end{itemize}"
    more = _say_cut(own.count, max_letters, "letter").removeprefix("; ")
    return [rf"\subsection*{{Layer {i + 1}, read-out: {aim}}}", listed, *[more + "."] * bool(more)]


def _tt(label: str) -> str:
    return rf"\texttt{{{text(label)}}}"


def _say_cut(count: int, most: int, noun: str) -> str:
    if count <= most:
        return ""
    return rf"; \dots\ {count_noun(count - most, f'more {noun}')}: \texttt{{{text(f'max_letters {count}')}}} shows all"
