"""own.definite: how many last letters decide, the register's contents, figures, the default, certificates, limits."""

from __future__ import annotations

from itertools import product
from math import ceil, log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirrormata.constructions._construct import Request, choose, construct
from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.algebra._definite import deciding_length
from mirrormata.constructions.automata._automaton import Automaton, Indices
from mirrormata.constructions.automata._completing import object_array
from mirrormata.constructions.chains._chain import ChainRNN
from mirrormata.constructions.chains._sizes import find_windows
from mirrormata.constructions.theorems._construction import Limits, Problem
from mirrormata.constructions.theorems.own_definite import find_register, shift_register
from mirrormata.foundation._errors import LimitError, NotRealisableError
from mirrormata.tests.constructions.random_automata import random_words
from mirrormata.theory._check import check
from mirrormata.theory._horizon import full_certificate
from mirrormata.theory.running._run import run


def last_letters(alphabet: str, m: int, *, start: str | None = None) -> Automaton:
    """The last m letters; with the start "" also the shorter words."""
    words = ["".join(w) for w in product(alphabet, repeat=m)]
    if start == "":
        words = ["".join(w) for j in range(m + 1) for w in product(alphabet, repeat=j)]
    rows = {w: {a: (w + a)[-m:] for a in alphabet} for w in words}
    return Automaton.from_transitions(
        rows, start=words[0] if start is None else start, name=f"last {m} of {alphabet}"
    )


def certified(found: LRNN) -> None:
    result = check(full_certificate(found))
    assert result.verdict == "valid", result.reason
    words = random_words(found.automaton, 5, 4, 200)
    for dtype in found.formats:
        assert run(found, words, dtype=dtype).errors == 0


@given(st.integers(2, 5), st.integers(1, 3), st.integers(0, 10**6))
def test_the_length_is_that_of_all_words(n: int, k: int, seed: int) -> None:
    """By the images of all states under all words, and by the windows of own.window."""
    # a state goes to a smaller one or to 0, so many of these are definite
    draw = np.random.default_rng(seed)
    maps = np.array(
        [[int(draw.integers(0, max(q, 1) + int(draw.integers(5) == 0))) for q in range(n)] for _ in range(k)]
    )
    found = deciding_length(maps)
    words = range(1, 5 if k == 3 else 7)
    merging = [
        m for m in words if all(len(set(follow(maps, w).tolist())) == 1 for w in product(range(k), repeat=m))
    ]
    if found is None or found in words:
        assert found == min(merging, default=None)
    if (maps != np.arange(n)).any(axis=1).all():
        assert found == {w.size: w.length for w in find_windows(maps)}.get(1)


def follow(maps: Indices, word: tuple[int, ...]) -> Indices:
    """Where a word takes each point."""
    images = np.arange(maps.shape[1])
    for x in word:
        images = maps[x][images]
    return images


@pytest.mark.parametrize(
    ("alphabet", "m"), [("ab", 1), ("ab", 8), ("ab", 10), ("abc", 4), ("abcde", 3), ("abcdefghi", 2)]
)
@pytest.mark.parametrize("start", [None, ""])
def test_the_last_letters(alphabet: str, m: int, start: str | None) -> None:
    a = last_letters(alphabet, m, start=start)
    made = construct(a, theorem="own.definite")
    k = len(alphabet)
    assert isinstance(made, LRNN)
    assert (made.depth, made.heads, made.householders, made.dim) == (1, 1, m, m)
    assert (made.exactness, made.integer_bound, made.norm) == ("integer", 1, "at most 1")
    # a register that begins with a word needs no number for no letter
    numbers = k if start is None else k + 1
    assert made.only_layer.heads[0].value_dim == max(1, ceil(log2(numbers)))
    assert len(made.decode) == len(a.states)
    if len(a.states) < 600:
        certified(made)
    default = construct(a)
    assert (default.depth, default.householders) == (1, m if m > 1 else 1)
    if m > 1:
        assert default.theorem == "own.definite"


def test_the_tenth_letter_from_the_end() -> None:
    made = construct("regex:(a|b)*a" + "(a|b)" * 9)
    assert (made.theorem, made.householders, made.dim, len(made.automaton.states)) == (
        "own.definite",
        10,
        10,
        1024,
    )
    assert check(made.certificate()).verdict == "valid"


def test_equal_letters_share_a_number_and_idle_ones_have_none() -> None:
    rows = {
        w: {"a": w[1] + "a", "b": w[1] + "b", "A": w[1] + "a", "-": w, "B": w[1] + "b"}
        for w in map("".join, product("ab", repeat=2))
    }
    made = construct(Automaton.from_transitions(rows, start="ab", name="doubled"))
    assert made.theorem == "own.definite"
    assert made.only_layer.heads[0].value_dim == 1
    assert made.transitions("a") == made.transitions("A")
    assert made.transitions("b") == made.transitions("B") != made.transitions("a")
    assert made.transitions("-")[0][0][0].factors == ()
    assert made.letter_factors == (2, 2, 2, 0, 2)
    certified(made)


def test_the_register_begins_with_a_word_to_the_start() -> None:
    a = last_letters("ab", 3, start="bab")
    register = find_register(a.transitions, a.start)
    assert register is not None
    assert "".join(str(a.letters[x]) for x in register.first) == "bab"
    assert register.size == 8
    empty = find_register(*((b := last_letters("ab", 3, start="")).transitions, b.start))
    assert empty is not None
    assert (empty.first, empty.size, empty.columns) == ((), 15, 2)


@given(st.integers(2, 3), st.integers(1, 4), st.booleans())
def test_contents_are_followed_letter_by_letter(k: int, m: int, begins_empty: bool) -> None:
    a = last_letters("abc"[:k], m, start="" if begins_empty else None)
    register = find_register(a.transitions, a.start)
    assert register is not None
    words, moves, start = register.contents()
    listed = [tuple(row) for row in words.tolist()]
    assert len(set(listed)) == len(listed) == register.size
    newest_first = tuple(reversed(register.first)) or (-1,) * m
    assert listed[start] == newest_first
    for content, row in zip(listed, moves.T.tolist(), strict=True):
        for kind, after in enumerate(row):
            assert listed[after] == (kind, *content[:-1])


@pytest.mark.parametrize(
    ("spec", "theorem"),
    [("flipflop", "own.LMI"), ("dn:2", "own.LMI"), ("dyck1:3", "own.serial"), ("gridworld:5", "own.LMI"), ("T3", "G.T4"), ("regex:(a|b)*a(a|b)(a|b)", "own.definite")],
)  # fmt: skip
def test_the_default(spec: str, theorem: str) -> None:
    assert construct(spec).theorem == theorem


def test_a_register_beside_other_quotients() -> None:
    """The last three letters and the parity of the a's."""
    words = ["".join(w) for w in product("ab", repeat=3)]
    rows = {(w, p): {a: (w[1:] + a, p ^ (a == "a")) for a in "ab"} for w in words for p in (0, 1)}
    made = construct(Automaton.from_transitions(rows, start=("aaa", 0), name="both"))
    assert (made.theorem, made.depth, made.heads, made.householders) == ("own.congruences", 1, 2, 3)
    certified(made)


def test_beyond_the_limit_the_letters_are_computed() -> None:
    a = last_letters("ab", 6)
    with pytest.raises(
        LimitError,
        match=r"own\.definite: a register of 6 letters of 2 kinds has 64 contents; the limit is 63",
    ):
        shift_register(Problem(a, Limits(contents=63)))
    assert isinstance(shift_register(Problem(a, Limits(contents=64))), LRNN)
    found = choose(a, Request(), Limits(contents=63))
    assert isinstance(found, ChainRNN)
    assert (found.theorem, found.depth, found.householders) == ("own.window", 1, 6)


@pytest.mark.parametrize(
    ("automaton", "reason"),
    [
        (automaton_from_spec("mod:1"), "one state needs no register"),
        (automaton_from_spec("tomita:4"), "no number of last letters decides"),
        (automaton_from_spec("parity"), "no number of last letters decides"),
        (Automaton((0, 1, 2), ("a",), np.array([[1, 1, 1]]), 0, object_array(range(3)), "kept", keeps_points=True), "reachable"),
    ],
)  # fmt: skip
def test_refusals(automaton: Automaton, reason: str) -> None:
    with pytest.raises(NotRealisableError, match=f"^{automaton.name}: own.definite.*{reason}"):
        construct(automaton, theorem="own.definite")
