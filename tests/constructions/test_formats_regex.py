"""Regular expressions against Python's `re`, and what is refused with its position."""

import itertools
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mirrormata.constructions.automata._automaton import separating_word
from mirrormata.constructions.formats.regex import from_regex
from mirrormata.foundation._errors import InputError, LimitError

WORDS = ["".join(w) for n in range(7) for w in itertools.product("ab", repeat=n)]

ATOMS = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", "[a-b]", "()", "(|a)", "(a|)", r"\a"])
REPEATS = st.sampled_from(["", "*", "+", "?", "{0}", "{2}", "{0,2}", "{1,2}", "{2,}", "{,2}", "{0,0}", "{1}"])
PATTERNS = st.recursive(
    st.builds(str.__add__, ATOMS, REPEATS),
    lambda p: st.one_of(
        st.builds(str.__add__, p, p),
        st.builds("({}|{}){}".format, p, p, REPEATS),
        st.builds("{}|{}".format, p, p),
    ),
    max_leaves=6,
)


@settings(max_examples=120, deadline=None)
@given(PATTERNS)
def test_same_words_as_python(pattern: str) -> None:
    # Python before 3.11 and since differ on `{,2}`; spelt out it is the same
    peer = re.compile(pattern.replace("{,2}", "{0,2}").replace(r"\a", "a"))
    for track in ("output", "state"):
        automaton = from_regex(pattern, "ab", track=track)
        assert automaton.states == tuple(range(len(automaton.states)))
        assert [automaton.output(w) for w in WORDS] == [peer.fullmatch(w) is not None for w in WORDS]
    smallest = from_regex(pattern, "ab")
    for q, r in itertools.combinations(smallest.states, 2):
        assert separating_word(smallest.with_start(q), smallest.with_start(r)) is not None


@pytest.mark.parametrize(
    ("pattern", "alphabet", "part"),
    [
        ("a{2,3}", None, "position 2"),
        ("a.", None, "position 2"),
        ("a b", None, "position 2"),
        ("ab)", None, "position 3: ')'"),
        ("a(b", None, "position 2: '('"),
        ("*a", None, "position 1"),
        ("a|*", None, "position 3"),
        ("(*a)", None, "position 2"),
        ("a**", None, "position 3"),
        ("a{2}{3}", "a", "position 5"),
        ("a{3,2}", "a", "position 2"),
        ("a{", "a", "position 2"),
        ("a{x}", "a", "position 2"),
        ("a]", "a", "position 2"),
        ("[ab", "ab", "position 1: '['"),
        ("[b-a]", "ab", "position 2"),
        ("[^ab]", "ab", "position 1: no letter"),
        ("^a$", "a", "position 1"),
        ("a&b", "ab", "position 2"),
        ("a\\", "a", "position 2"),
        ("abc", "ab", "position 3: 'c'"),
        ("a", "aa", "'a' is listed twice"),
        ("a", "a,b", "without separators"),
        ("a", "", "empty"),
        ("a", ["a", "bb"], "'bb' is not a single character"),
        ("", None, "--alphabet"),
        ("()", None, "--alphabet"),
    ],
)
def test_refused_with_the_place(pattern: str, alphabet: Any, part: str) -> None:
    with pytest.raises(InputError) as caught:
        from_regex(pattern, alphabet)
    assert part in str(caught.value)
    assert str(caught.value).startswith(f"regex:{pattern}: ")


def test_limits_are_named() -> None:
    with pytest.raises(LimitError, match="`max_states`"):
        from_regex("(a|b)*a(a|b){20}", "ab", max_states=1000)
    with pytest.raises(LimitError, match="`max_states`"):
        from_regex("(a{1000}){1000}", "a")
    assert len(from_regex("(a|b)*a(a|b){9}", "ab").states) == 1024


def test_letters_that_are_signs() -> None:
    brackets = from_regex(r"(\(\))*", ")(")
    assert brackets.letters == (")", "(")
    assert brackets.output("()()") is True
    assert from_regex(r"a\.\*", "a.*").output("a.*") is True
    assert from_regex("[*.]+", "a.*").output(".*") is True
    assert from_regex("a b", "a b").output("a b") is True


def test_deep_and_long_patterns() -> None:
    assert from_regex("(" * 3000 + "a" + ")" * 3000).output("a") is True
    assert from_regex("ab" * 200).output("ab" * 200) is True
