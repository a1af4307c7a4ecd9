"""`show` and `latex`: what is printed is the construction, exactly."""

from __future__ import annotations

import re
from fractions import Fraction
from math import cos, isclose, pi, sin, tan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirrormata.constructions._construct import construct
from mirrormata.constructions._head import Head
from mirrormata.constructions._lrnn import LRNN, Layer
from mirrormata.constructions._realisation import Transition
from mirrormata.constructions.algebra._closed_forms import closed_form, number_text
from mirrormata.constructions.algebra._cyclotomic import enclosure, real_cyclotomic_field
from mirrormata.constructions.algebra._householder import gh_factor
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.library._names import automaton_by_name
from mirrormata.constructions.texts._latex import latex, text
from mirrormata.constructions.texts._show import show, vector_text
from mirrormata.foundation._errors import InputError

CASES: list[tuple[str, dict[str, Any]]] = [
    ("parity", {}),
    ("mod:5", {}),
    ("mod:60", {}),
    ("mod:60", {"exactness": "integer"}),
    ("dihedral:7", {}),
    ("S3", {}),
    ("S4", {}),
    ("A5", {}),
    ("S5", {}),
    ("Q8", {}),
    ("Z2^3", {}),
    ("flipflop", {"theorem": "G.A3"}),
    ("gridworld:20", {"theorem": "G.A3"}),
]
INTEGER = [c for c in CASES if c[0] not in ("mod:5", "dihedral:7", "A5") and c != ("mod:60", {})]
WEIRD = ("a_b", "50%", "{x}", "\\frac", "$1$", "#&~^", "ε", "日本", "a\nb", "", "--", "<|>", "\"'`")


def built(name: str, options: dict[str, Any]) -> LRNN:
    found = construct(automaton_by_name(name), **options)
    assert isinstance(found, LRNN)
    return found


@pytest.mark.parametrize(("name", "options"), CASES)
def test_every_letter_is_shown_on_every_head(name: str, options: dict[str, Any]) -> None:
    lrnn = built(name, options)
    lines = show(lrnn, max_letters=1000).splitlines()
    for letter in lrnn.automaton.letters:
        assert sum(line.startswith(f"letter {letter}: ") for line in lines) == lrnn.heads
    assert lines[0] == f"{name}: {lrnn.construction} ({lrnn.theorem})"
    factors = sum(len(t.factors) for layer in lrnn.layers for head in layer.heads for t in head.transitions)
    assert sum(line.startswith("  C_") for line in lines) == factors
    assert sum("β‖v‖² = 2, eigenvalue -1, a reflection" in line for line in lines) == factors
    assert max(len(line) for line in lines) < 300


def parsed(lines: list[str], n: int) -> tuple[list[list[Fraction]], list[list[Fraction]]]:
    """The product of the printed factors, first line applied first, and the printed matrix."""
    unit = [[Fraction(i == j) for j in range(n)] for i in range(n)]
    made = unit
    for line in (x for x in lines if x.startswith("  C_")):
        found = re.search(r"β = (\S+), +v = (.*?)   ", line)
        assert found
        v = [Fraction(0)] * n
        for sign, number, index in re.findall(r"([+-]?) ?(\d*)e_(\d+)", found[2]):
            v[int(index) - 1] = Fraction(sign.replace("+", "") + (number or "1"))
        beta = Fraction(found[1])
        made = [
            [made[i][j] - beta * v[i] * sum(v[k] * made[k][j] for k in range(n)) for j in range(n)]
            for i in range(n)
        ]
    rows = [[Fraction(x) for x in line.split("[")[1].split("]")[0].split()] for line in lines if "[" in line]
    return made, rows or unit


@pytest.mark.parametrize(("name", "options"), INTEGER)
def test_shown_factors_multiply_to_the_shown_matrix(name: str, options: dict[str, Any]) -> None:
    lrnn = built(name, options)
    sections = show(lrnn, max_letters=1000).split("\nHead ")[1:]
    for head, section in zip(lrnn.layers[0].heads, sections, strict=True):
        blocks = section.split("\nletter ")[1:]
        assert len(blocks) == len(head.transitions)
        for block, transition in zip(blocks, head.transitions, strict=True):
            made, printed = parsed(block.splitlines()[1:], head.dim)
            if transition.matrix is None:
                assert made == printed
            elif head.dim <= 12:
                assert {(i, j): x for i, row in enumerate(printed) for j, x in enumerate(row) if x} == {
                    (i, j): x for i, j, x in transition.matrix
                }
            else:
                assert "A omitted: 20 × 20" in block


def test_matrix_columns_are_aligned() -> None:
    rows = [line for line in show(built("dihedral:7", {})).splitlines() if "[" in line]
    for first, second in zip(rows[::2], rows[1::2], strict=True):
        assert len(first) == len(second)
        assert first.index("[") == second.index("[")


def test_long_alphabets_are_cut_and_said() -> None:
    lrnn = built("S4", {})
    shown = show(lrnn, max_letters=5)
    assert shown.count("\nletter ") == 5
    assert "... 19 more letters: `max_letters` 24 shows all" in shown
    assert "more letter" not in show(lrnn, max_letters=24)
    assert r"\dots\ 19 more letters" in latex(lrnn, max_letters=5)
    for function in (show, latex):
        with pytest.raises(InputError, match="`max_letters` 0"):
            function(lrnn, max_letters=0)


def test_gates_contractions_and_additive_terms_are_shown() -> None:
    automaton = Automaton.from_transitions({"p": {"a": "p"}}, start="p")
    half = gh_factor(Fraction(1, 2), {0: 1, 1: -2})
    wide = gh_factor(3, {1: 1})
    transition = Transition((half, wide), gate=Fraction(1, 2), additive=((1, 0, 3),))
    head = Head(2, 1, (transition,), (((0, 0, 1),),), automaton.transitions)
    lrnn = LRNN(automaton, (Layer((head,)),), automaton.transitions, "T", "a trial")
    shown, code = show(lrnn), latex(lrnn)
    assert "gate 1/2" in shown
    assert "β = 1/2, v = e_1 - 2e_2   β‖v‖² = 5/2, eigenvalue -3/2, ‖C‖ > 1" in shown
    assert "non-zero entries are (2, 1): 3" in shown
    assert r"\tfrac{1}{2}\,C_{2}\,C_{1}" in code
    assert r"b_{2,1} = 3" in code
    assert_balanced(code)


@given(
    n=st.integers(3, 60),
    a=st.integers(-3, 3),
    c=st.sampled_from([Fraction(1), Fraction(-2), Fraction(1, 3), Fraction(-5, 2)]),
    k=st.integers(0, 200),
    sine=st.booleans(),
)
def test_closed_forms_have_the_right_value(n: int, a: int, c: Fraction, k: int, sine: bool) -> None:
    field = real_cyclotomic_field(n)
    x = a + c * field.cos(k)
    form = closed_form(x, sine)
    assert (form is not None) == (field.degree > 2 and x.poly.degree() > 0)
    if form is not None:
        wave = {"cos": cos, "sin": sin, "tan": tan}[form.function](float(form.angle) * pi)
        assert isclose(form.constant + form.factor * wave, sum(enclosure(x, 60)) / 2, abs_tol=1e-9)


def test_tangents_and_polynomials() -> None:
    field = real_cyclotomic_field(28)
    tangent = field.sin(3) / field.cos(3)
    assert number_text(tangent) == "tan(3π/14)"
    assert number_text(-tangent) == "-tan(3π/14)"
    assert vector_text([(0, 1), (4, -tangent)]) == "e_1 - tan(3π/14)·e_5"
    assert number_text(field.cos(1) + field.cos(2) * field.cos(3)) == str(
        field.cos(1) + field.cos(2) * field.cos(3)
    )
    golden = real_cyclotomic_field(5).element([1, Fraction(-1, 2)])
    assert vector_text([(1, golden), (2, Fraction(-1, 2))]) == "(1 - (1/2)θ)·e_2 - (1/2)e_3"


def assert_balanced(code: str) -> None:
    """Braces, environments, `\\left` and display brackets match; `&` and `\\\\` stand in an environment."""
    stack: list[str] = []
    plain = re.sub(r"\\[{}$&#%_\\,;]", lambda m: " " if m[0] != r"\\" else r"\\", code)
    for token in re.finditer(r"\\begin\{(\w+\*?)\}|\\end\{(\w+\*?)\}|\\\[|\\\]|\\\(|\\\)|[{}]", plain):
        if token[1]:
            stack.append(token[1])
        elif token[2]:
            assert stack.pop() == token[2]
        elif token[0] in (r"\[", r"\(", "{"):
            stack.append(token[0])
        else:
            assert stack.pop() == {r"\]": r"\[", r"\)": r"\(", "}": "{"}[token[0]]
    assert not stack
    assert plain.count(r"\left[") == plain.count(r"\right]")
    assert plain.count(r"\left(") == plain.count(r"\right)")
    assert len(re.findall(r"(?<!\\)\$", code)) % 2 == 0
    outside = re.sub(r"\\begin\{(align\*|array)\}.*?\\end\{\1\}", "", plain, flags=re.S)
    assert not re.search(r"(?<!\\)[&#]", outside)


@pytest.mark.parametrize(("name", "options"), CASES)
def test_latex_is_balanced_and_has_every_letter(name: str, options: dict[str, Any]) -> None:
    lrnn = built(name, options)
    code = latex(lrnn)
    assert_balanced(code)
    assert code.isascii()
    assert code.startswith(r"\documentclass")
    assert not latex(lrnn, standalone=False).startswith(r"\documentclass")
    assert code.count(r"A(\text{\ttfamily") == lrnn.heads * len(lrnn.automaton.letters)
    if lrnn.exactness == "algebraic":
        assert rf"\theta = 2\cos(2\pi/{lrnn.layers[0].heads[0].field})" in code


def test_the_balance_check_can_fail() -> None:
    for broken in (r"\left[ x", "{", r"\begin{array}\end{align*}", "$x", "a & b", r"\["):
        with pytest.raises((AssertionError, IndexError)):
            assert_balanced(broken)


def test_strange_labels() -> None:
    automaton = Automaton.from_transitions(
        {"p": dict.fromkeys(WEIRD, "q"), "q": dict.fromkeys(WEIRD, "p")}, start="p", name="swap_#1\t"
    )
    lrnn = construct(automaton)
    code, shown = latex(lrnn), show(lrnn)
    assert_balanced(code)
    assert code.isascii()
    assert shown.count("\nletter ") == len(WEIRD)
    assert r"letter 'a\nb': " in shown
    assert "letter '': " in shown
    assert text(r"50%_{x}\$") == r"50\%\_\{x\}\textbackslash{}\$"
    assert text("日--") == "U+65E5-{}-"


@given(st.text())
def test_any_label_is_balanced_latex(label: str) -> None:
    assert_balanced(text(label))
