"""Languages of the library against direct predicates, on all words up to a length."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mirrormata.constructions.automata._automaton import Automaton, minimise, separating_word
from mirrormata.constructions.library._names import automaton_by_name


def words(automaton: Automaton, length: int) -> Iterator[tuple[str, int]]:
    """All words up to a length, with the state each one reaches."""
    level = [("", automaton.start)]
    for _ in range(length + 1):
        yield from level
        level = [
            (word + str(x), int(automaton.transitions[i, q]))
            for word, q in level
            for i, x in enumerate(automaton.letters)
        ]


def agrees(automaton: Automaton, predicate: Callable[[str], bool], length: int) -> None:
    accepted = 0
    for word, q in words(automaton, length):
        assert automaton.outputs[q] is predicate(word), word
        accepted += automaton.outputs[q]
    assert accepted > 0


def no_odd_ones_then_odd_zeros(word: str) -> bool:
    runs = [(x, len(list(run))) for x, run in itertools.groupby(word)]
    return not any(
        first[0] == "1" and second[0] == "0" and first[1] % 2 and second[1] % 2
        for first, second in itertools.combinations(runs, 2)
    )


TOMITA: dict[int, Callable[[str], bool]] = {
    1: lambda w: "0" not in w,
    2: lambda w: re.fullmatch("(10)*", w) is not None,
    3: no_odd_ones_then_odd_zeros,
    4: lambda w: "000" not in w,
    5: lambda w: w.count("0") % 2 == 0 and w.count("1") % 2 == 0,
    6: lambda w: (w.count("0") - w.count("1")) % 3 == 0,
    7: lambda w: re.fullmatch("0*1*0*1*", w) is not None,
}


@pytest.mark.parametrize("i", TOMITA)
def test_tomita(i: int) -> None:
    agrees(automaton_by_name(f"tomita:{i}"), TOMITA[i], 12)


def test_tomita_3_looks_at_later_runs_too() -> None:
    automaton = automaton_by_name("tomita:3")
    assert automaton.output("100110") is False
    assert automaton.output("1001100") is True


def test_even_pairs() -> None:
    automaton = automaton_by_name("even_pairs")
    agrees(automaton, lambda w: not w or w[0] == w[-1], 11)
    agrees(automaton, lambda w: (len(re.findall("(?=ab)", w)) + len(re.findall("(?=ba)", w))) % 2 == 0, 11)


@pytest.mark.parametrize("w", ["a", "aa", "ab", "abab", "aab", "cab", "10"])
def test_starladder(w: str) -> None:
    automaton = automaton_by_name(f"starladder:{w}")
    assert automaton.letters == tuple(sorted(set(w)))
    agrees(automaton, lambda word: re.fullmatch(f"({w})*", word) is not None, 8)


def test_starladder_keeps_a_prefix_and_the_sink_apart() -> None:
    automaton = automaton_by_name("starladder:sinks")
    assert len(automaton.states) == 6
    assert automaton.output("sinks") is True
    assert automaton.output("sink") is False


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_dn(n: int) -> None:
    pattern = ""
    for _ in range(n):
        pattern = f"(a{pattern}b)*"
    agrees(automaton_by_name(f"dn:{n}"), lambda w: re.fullmatch(pattern, w) is not None, 11)


def balanced(pairs: str, depth: int) -> Callable[[str], bool]:
    def predicate(word: str) -> bool:
        stack = []
        for x in word:
            if x in pairs[::2]:
                stack.append(x)
                if len(stack) > depth:
                    return False
            elif not stack or stack.pop() + x not in (pairs[i : i + 2] for i in range(0, len(pairs), 2)):
                return False
        return not stack

    return predicate


@pytest.mark.parametrize(
    ("name", "pairs", "depth", "length"),
    [
        ("dyck1:1", "()", 1, 12),
        ("dyck1:4", "()", 4, 12),
        ("dyck:1,3", "()", 3, 12),
        ("dyck:2,1", "()[]", 1, 7),
        ("dyck:2,3", "()[]", 3, 8),
        ("dyck:3,2", "()[]{}", 2, 6),
        ("dyck:4,2", "()[]{}<>", 2, 5),
    ],
)
def test_dyck(name: str, pairs: str, depth: int, length: int) -> None:
    automaton = automaton_by_name(name)
    assert automaton.letters == tuple(pairs)
    agrees(automaton, balanced(pairs, depth), length)


def test_dyck_states_are_the_open_brackets() -> None:
    assert automaton_by_name("dyck:2,3").after("([()") == "(["
    assert automaton_by_name("dyck:2,3").after("([(]") == "sink"
    assert automaton_by_name("dyck:5,1").letters[:4] == ("(1", ")1", "(2", ")2")
    assert automaton_by_name("dyck1:2").after("((") == 2


def test_dyck1_is_dyck_with_one_kind() -> None:
    assert separating_word(automaton_by_name("dyck1:5"), automaton_by_name("dyck:1,5")) is None


LANGUAGES = [f"tomita:{i}" for i in TOMITA]
LANGUAGES += ["even_pairs", "starladder:abab", "starladder:aa", "dn:3", "dyck1:4", "dyck:2,3"]


@pytest.mark.parametrize("name", [*LANGUAGES, "mod_arith:2", "mod_arith:3", "mod_arith:5"])
def test_minimal(name: str) -> None:
    automaton = automaton_by_name(name)
    assert len(minimise(automaton).states) == len(automaton.states)


def flat_value(expression: str, m: int) -> int | None:
    """Sum of products of single digits, by splitting; None if ill-formed."""
    if not re.fullmatch(r"[0-9]([-+*][0-9])*", expression):
        return None
    total = 0
    for sign, term in re.findall(r"([-+]?)([0-9*]+)", expression):
        product = 1
        for digit in term.split("*"):
            product *= int(digit)
        total += -product if sign == "-" else product
    return total % m


def value(expression: str, m: int, depth: int) -> int | None:
    """The same with brackets, innermost first; None if ill-formed or too deep."""
    for _ in range(depth):
        expression = re.sub(
            r"\(([^()]*)\)",
            lambda inner: str(v) if (v := flat_value(inner[1], m)) is not None else "?",
            expression,
        )
    return flat_value(expression, m)


def expected_output(word: str, m: int, depth: int) -> int | None:
    if word[-1:] not in (*"0123456789", ")"):
        return None
    return value(word + ")" * max(0, word.count("(") - word.count(")")), m, depth)


@pytest.mark.parametrize(
    ("name", "m", "depth", "length"),
    [
        ("mod_arith:2", 2, 0, 7),
        ("mod_arith:3", 3, 0, 6),
        ("mod_arith:5", 5, 0, 5),
        ("mod_arith:2,1", 2, 1, 6),
        ("mod_arith:2,2", 2, 2, 6),
    ],
)
def test_mod_arith_on_all_words(name: str, m: int, depth: int, length: int) -> None:
    automaton = automaton_by_name(name)
    for word, q in words(automaton, length):
        assert automaton.outputs[q] == expected_output(word, m, depth), word


@st.composite
def expressions(draw: st.DrawFn, m: int, depth: int) -> str:
    parts = []
    for i in range(draw(st.integers(1, 5))):
        if i:
            parts.append(draw(st.sampled_from("+-*")))
        nested = depth and draw(st.booleans())
        parts.append(f"({draw(expressions(m, depth - 1))})" if nested else str(draw(st.integers(0, m - 1))))
    return "".join(parts)


@settings(deadline=None)
@given(st.data())
def test_mod_arith_on_long_expressions(data: st.DataObject) -> None:
    m, depth = data.draw(st.sampled_from([(2, 2), (3, 1), (5, 0), (5, 1), (10, 0)]))
    automaton = automaton_by_name(f"mod_arith:{m},{depth}" if depth else f"mod_arith:{m}")
    word = data.draw(expressions(m, depth))
    expected = expected_output(word, m, depth)
    assert expected is not None
    assert expected == eval(word) % m
    assert automaton.output(word) == expected


def test_mod_arith_states() -> None:
    for m in (2, 3, 5, 7):
        assert len(automaton_by_name(f"mod_arith:{m}").states) == 2 * m * m + 1
    automaton = automaton_by_name("mod_arith:5")
    assert automaton.letters == (*"01234", "+", "-", "*")
    assert automaton.output("2+3*4") == 4
    assert automaton.output("2-3*4*2") == 3
    assert automaton.after("2+3*4") == "2+2"
    assert automaton.after("22") == automaton.after("+") == automaton.after("2+-") == "sink"
    assert len(automaton_by_name("mod_arith:12").letters) == 15
    bracketed = automaton_by_name("mod_arith:3,1")
    assert bracketed.output("2*(1+1") == 1
    assert bracketed.after("2*(1+1") == "0+2*(1+1"
    assert bracketed.after("((") == bracketed.after("()") == bracketed.after("1)") == "sink"
