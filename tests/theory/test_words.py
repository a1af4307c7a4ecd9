"""Which lists are letters and which are indices: no list is read as another word than the one that was meant."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from mirrormata import InputError, construct, run
from mirrormata.constructions import from_callable
from mirrormata.theory import words_of

CLOCK = from_callable(lambda hour, step: (hour + step) % 12, 0, [1, 5], name="clock")
SWAPPED = from_callable(lambda q, x: (q + x) % 2, 0, [1, 0], name="swapped")
MIXED = from_callable(lambda q, x: (q + (x == 1)) % 2, 0, ["a", 1, 2.5], name="mixed")


def read(words: Any, automaton: Any) -> list[list[int]]:
    found: list[list[int]] = words_of(words, automaton).part(0, 99).tolist()
    return found


def test_a_list_of_letters_is_a_word_where_letters_are_numbers() -> None:
    assert read([5, 5, 1], CLOCK) == [[1, 1, 0]]
    assert read((5, 5, 1), CLOCK) == [[1, 1, 0]]
    assert read([[5, 5], [5, 1]], CLOCK) == [[1, 1], [1, 0]]
    assert read(["a", 1, 2.5], MIXED) == [[0, 1, 2]]
    assert run(construct(CLOCK), [5, 5, 1]).errors == 0


def test_an_array_has_indices() -> None:
    for automaton in (CLOCK, SWAPPED, MIXED):
        assert read(np.array([1, 0, 1]), automaton) == [[1, 0, 1]]
        assert read(np.array([[1], [0]]), automaton) == [[1], [0]]


def test_a_list_that_is_no_word_of_letters_has_indices() -> None:
    assert read([0, 1], CLOCK) == [[0, 1]]
    assert read([[0, 1], [1, 0]], CLOCK) == [[0, 1], [1, 0]]
    assert read([0, 2, 1], "S3") == [[0, 2, 1]]


@pytest.mark.parametrize("words", [[1, 1, 1], [0, 1], [[1, 0], [0, 1]]])
def test_a_list_that_could_be_both_is_refused(words: Any) -> None:
    with pytest.raises(InputError, match=r"could be letters of swapped .* or indices of other ones; write"):
        read(words, SWAPPED)
    flat = words if isinstance(words[0], int) else words[0]
    assert read(SWAPPED.word(flat), SWAPPED) == [[1 - x for x in flat]]  # the two fixes that the error names
    assert read(np.array(words), SWAPPED) == np.atleast_2d(words).tolist()


def test_no_list_of_integers_is_read_as_another_word() -> None:
    """For all small alphabets: what is taken is the word of the letters, where it is one, else that of the indices."""
    for letters in ([0, 1], [1, 0], [1, 5], [2, 0], [5, 7]):
        automaton = from_callable(lambda q, x: 0, 0, letters)
        for word in product(range(8), repeat=2):
            try:
                found = read(list(word), automaton)[0]
            except InputError:
                continue
            if all(x in letters for x in word):
                assert found == automaton.word(word).tolist()
            else:
                assert found == list(word)


def test_what_is_no_word_is_refused() -> None:
    with pytest.raises(InputError, match=r"7 is not a letter index|5 is not a letter index"):
        read([5, 7], CLOCK)
    with pytest.raises(InputError, match="lists of different lengths"):
        read([[5, 5], [5]], CLOCK)
    with pytest.raises(InputError, match="type bool"):
        read([True, True], CLOCK)
