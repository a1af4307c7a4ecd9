"""Words written as one text: `Automaton.word`, which `run` and the command line use as well."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mirrormata import Automaton, InputError, construct, run
from mirrormata.constructions.automata._written_word import read_word


def cycle(*letters: Any) -> Automaton:
    """An automaton with these letters, each of which goes on by its number."""
    n = max(len(letters), 2)
    rows = {q: {x: (q + i) % n for i, x in enumerate(letters)} for q in range(n)}
    return Automaton.from_transitions(rows, letters=letters, start=0, states=range(n))


WORDS: list[tuple[tuple[Any, ...], str, list[int]]] = [
    (("0", "1"), "", []),
    (("0", "1"), "1101", [1, 1, 0, 1]),
    (("0", "1"), "1 1 1", [1, 1, 1]),
    (("0", "1"), " 1\t0\n", [1, 0]),
    (("0", "1"), '["1", "0"]', [1, 0]),
    ((0, 1), "10", [1, 0]),
    ((0, 1, 10), "10 0 1", [2, 0, 1]),
    (("a", " "), " ", [1]),
    (("a", " "), "a a", [0, 1, 0]),
    (("a", "bc"), "a bc  a", [0, 1, 0]),
    (("ab", " "), "ab   ab", [0, 1, 0]),
    (("ab", " "), " ", [1]),
    (((0, 1), (1, 0)), "(1, 0) (0, 1)", [1, 0]),
    (("a", "a b"), "a b a", [1, 0]),
    (("", "a"), '["", "a"]', [0, 1]),
    (("", "a"), "a a", [1, 1]),
    (("", "a"), "[]", []),
    (("[", "]"), "[]", [0, 1]),
]


@pytest.mark.parametrize(("letters", "text", "indices"), WORDS, ids=lambda value: repr(value)[:30])
def test_a_text_is_read_by_one_rule(letters: tuple[Any, ...], text: str, indices: list[int]) -> None:
    A = cycle(*letters)
    assert A.word(text).tolist() == indices
    assert A.word([letters[i] for i in indices]).tolist() == indices
    assert A.after(text) == sum(indices) % len(A.states)
    report = run(construct(A), text, dtype="exact")
    assert (report.tokens, report.errors) == (len(indices), 0)


@pytest.mark.parametrize(
    ("letters", "text", "parts"),
    [
        (
            ("0", "1"),
            "11x",
            ("as characters in a row, 'x' is not a letter", "no letter stands at '11x'", '["a", "b"]'),
        ),
        (("0", "1"), "11 1", ("no letter stands at '11 1'",)),
        (("0", "1"), "  ", ("it has blanks alone",)),
        (("0", "1"), '["2"]', ("as a list, '2' is not a letter",)),
        (("0", "1"), "[1]", ("it is no JSON list of texts",)),
        (("aa", "b"), "aa c b", ("no letter stands at 'c b'",)),
        (("", "a"), "", ("the empty word or the letter ''", 'write [] for the word, [""] for the letter')),
        ((1, "1"), "1", ("two letters have the same text",)),
    ],
)
def test_what_is_no_word(letters: tuple[Any, ...], text: str, parts: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        cycle(*letters).word(text)
    for part in parts:
        assert part in str(caught.value)


def test_the_command_line_reads_the_same(call: Any, tmp_path: Path) -> None:
    for letters, text, tokens in (
        (("a", " "), " ", 1),
        (("0", "1"), "1 1 1", 3),
        (("", "a"), '[""]', 1),
        (("0", "1"), "", 0),
    ):
        path = str(tmp_path / "c.json")
        construct(cycle(*letters)).save(path)
        assert call("run", path, "--word", text, "--json").json["tokens"] == tokens
    construct(cycle("", "a")).save(path)
    assert "write [] for the word" in call("run", path, "--word", "").error


def test_the_letter_other_of_a_pattern_leaves_rows_of_characters() -> None:
    letters = ["a", "-", "other"]
    assert read_word("a-a", letters, "here") == [0, 1, 0]
    assert read_word("a other -", letters, "here") == [0, 2, 1]
    assert read_word('["other"]', letters, "here") == [2]
    assert read_word("other", letters, "here") == [2]
    with pytest.raises(InputError, match="'b' is not a letter"):
        read_word("ab", letters, "here")
