"""The case table: every small input that has broken other tools is read rightly or refused in one clear line."""

import itertools
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mirrormata.constructions._exports import write_automaton
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import Automaton, minimise
from mirrormata.constructions.formats.regex import from_regex
from mirrormata.constructions.formats.word_problem_csv import read_word_problem
from mirrormata.foundation._errors import InputError

CASES = Path(__file__).parents[1] / "data" / "cases"


def read(name: str, **options: Any) -> Automaton:
    return automaton_from_spec(str(CASES / name), **options)


def monoid(automaton: Automaton) -> set[tuple[int, ...]]:
    """Brute force: all products of the letters' transformations, identity included."""
    letters = [tuple(row) for row in automaton.transitions.tolist()]
    identity = tuple(range(len(automaton.states)))
    elements, frontier = {identity}, [identity]
    while frontier:
        element = frontier.pop()
        for letter in letters:
            product = tuple(letter[q] for q in element)
            if product not in elements:
                elements.add(product)
                frontier.append(product)
    return elements


def is_group(elements: set[tuple[int, ...]]) -> bool:
    return all(len(set(element)) == len(element) for element in elements)


def is_aperiodic(elements: set[tuple[int, ...]]) -> bool:
    for element in elements:
        power = element
        for _ in range(len(elements)):
            power = tuple(element[q] for q in power)
        if tuple(element[q] for q in power) != power:
            return False
    return True


def facts(automaton: Automaton) -> tuple[int, bool, bool]:
    elements = monoid(automaton)
    return len(elements), is_group(elements), is_aperiodic(elements)


def words(letters: str, longest: int) -> Iterator[str]:
    return ("".join(w) for n in range(longest + 1) for w in itertools.product(letters, repeat=n))


def partial_accepts(
    transitions: dict[str, dict[str, str]], start: str, accepting: set[str], word: str
) -> bool:
    state: str | None = start
    for letter in word:
        state = transitions.get(state, {}).get(letter) if state is not None else None
    return state in accepting


def test_partial_dfa_accepts_the_same_words_before_and_after_minimisation() -> None:
    transitions = {
        "0": {"0": "0"},
        "1": {"0": "3", "1": "0"},
        "2": {"0": "4", "1": "0"},
        "3": {"0": "4", "1": "1"},
        "4": {"0": "3", "1": "2"},
    }
    automaton = read("partial_dfa.json")
    assert automaton.states == ("0", "1", "2", "3", "4", "sink")
    assert any("sink" in note for note in automaton.notes)
    smaller = minimise(automaton)
    assert len(smaller.states) < len(automaton.states)
    for word in words("01", 10):
        expected = partial_accepts(transitions, "3", {"1", "4"}, word)
        assert automaton.output(word) is smaller.output(word) is expected


def test_no_accepting_state() -> None:
    automaton = read("no_accepting.json", track="state")
    assert len(automaton.states) == 4
    assert not any(automaton.outputs)
    assert facts(automaton) == (4, True, False)
    assert len(read("no_accepting.json", track="output").states) == 1


def test_finite_language_has_longest_word_4() -> None:
    for automaton in (read("finite_language.json"), read("finite_language.json", track="output")):
        assert [w for w in words("abc", 6) if automaton.output(w)] == ["ab", "abcb"]


def test_trap_names_do_not_collide_with_the_sink() -> None:
    automaton = read("trap_name.json")
    assert automaton.states == ("trap", "sink", "-1", "sink_1")
    assert any("'sink_1'" in note for note in automaton.notes)


def test_numeric_ids_is_a_mealy_machine_over_z3() -> None:
    automaton = read("numeric_ids.dot")
    assert automaton.states == ("4", "0", "7")
    assert automaton.states[automaton.start] == "4"
    assert automaton.letters == ("a", "b")
    assert automaton.is_mealy
    assert automaton.outputs.tolist() == [["1", "0", "1"], ["0", "0", "0"]]
    assert automaton.output("aaa") == "1"
    assert automaton.output("aa") == "0"
    assert facts(automaton) == (3, True, False)


def test_quoted_names_survive_writing(tmp_path: Path) -> None:
    automaton = read("quoted_names.dot")
    assert automaton.states == ("peg1: [d2, d1]", "peg1: [d2] | peg2: [d1]", "peg3: [d1, d2] {50%}")
    assert facts(automaton) == (3, True, False)
    write_automaton(automaton, tmp_path / "again.dot")
    again = automaton_from_spec(str(tmp_path / "again.dot"))
    assert (again.states, again.letters, again.start) == (
        automaton.states,
        automaton.letters,
        automaton.start,
    )
    assert np.array_equal(again.transitions, automaton.transitions)
    assert np.array_equal(again.outputs, automaton.outputs)


def test_no_start_asks_for_one_and_takes_one() -> None:
    with pytest.raises(InputError, match="`start`"):
        read("no_start.dot")
    automaton = read("no_start.dot", start="s1")
    assert automaton.states[automaton.start] == "s1"
    assert automaton.output("") is True
    assert automaton.output("ab") is False


def test_moore_machine_is_parity() -> None:
    automaton = read("moore.dot")
    assert automaton.states == ("s0", "s1")
    for word in words("01", 6):
        assert automaton.output(word) == ("odd" if word.count("1") % 2 else "even")


def test_empty_mata_is_the_empty_language() -> None:
    automaton = read("empty.mata")
    assert automaton.letters == ("0", "1")
    assert automaton.outputs.tolist() == [False]
    assert any("empty language" in note for note in automaton.notes)


def test_trailing_blank_lines_are_nothing() -> None:
    automaton = read("trailing_blank.mata")
    assert automaton.states == ("q0", "q1")
    assert automaton.letters == ("a", "b")
    assert facts(automaton) == (2, True, False)


def test_nondeterministic_mata_is_determinised_and_says_so() -> None:
    automaton = read("nondeterministic.mata")
    assert any("determinised" in note for note in automaton.notes)
    moves = {("p", "a"): "pq", ("q", "b"): "r", ("r", "b"): "r"}
    for word in words("ab", 8):
        current = set("pq")
        for letter in word:
            current = {r for q in current for r in moves.get((q, letter), "")}
        assert automaton.output(word) is ("r" in current)


def test_att_acceptor_has_three_states_and_a_sink() -> None:
    automaton = read("acceptor.att")
    assert automaton.states == ("0", "1", "2", "sink")
    assert automaton.outputs.tolist() == [True, False, True, False]
    assert automaton.output("abbb") is True
    assert automaton.output("aba") is True
    assert automaton.output("ba") is False


def test_csv_finds_its_group_and_the_right_product() -> None:
    problem = read_word_problem(CASES / "S3=6.csv")
    assert problem.group.name == "S3"
    assert problem.product == "right"
    assert any("right" in note for note in problem.automaton.notes)
    elements = list(itertools.permutations(range(3)))
    assert problem.automaton.states == tuple(elements)
    for word, target in zip(problem.inputs, problem.targets, strict=True):
        product: tuple[int, ...] = (0, 1, 2)
        for letter, expected in zip(word, target, strict=True):
            product = tuple(product[i] for i in elements[letter])
            assert elements.index(product) == expected
        assert problem.automaton.trace(word).tolist() == target.tolist()


TRANSFORMATIONS = {
    "microbug.txt": (6, False, False),
    "smallp2hnt.txt": (6, False, False),
    "nosingleton.txt": (16, False, False),
    "full_t3.txt": (27, False, False),
    "trivial.txt": (1, True, True),
    "identity_only.txt": (1, True, True),
}


@pytest.mark.parametrize(("name", "expected"), TRANSFORMATIONS.items())
def test_transformations(name: str, expected: tuple[int, bool, bool]) -> None:
    automaton = read(name)
    assert facts(automaton) == expected
    assert automaton.keeps_points
    assert automaton.states == tuple(range(1, len(automaton.states) + 1))
    assert automaton.start == 0


REFUSED = {
    "duplicate_letter.json": ["'0'", "twice"],
    "stray_names.json": ["'z'", "'w'"],
    "out_of_range.txt": ["line 1", "5"],
    "lfs_pointer.csv": ["Git-LFS"],
}


@pytest.mark.parametrize(("name", "parts"), REFUSED.items())
def test_refused_in_one_line(name: str, parts: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        read(name)
    message = str(caught.value)
    assert name in message
    assert "\n" not in message
    assert all(part in message for part in parts)


PATTERNS = [
    ("(ab)*", "ab", 3, 6, False, True),
    ("(aa)*", "a", 2, 2, True, False),
    ("(abab)*", "ab", 5, 10, False, False),
    ("a*b*c*", "abc", 4, 8, False, True),
    ("(cab|c)*", "abc", 4, 11, False, True),
    ("(0|1)*000(0|1)*", "01", 4, 12, False, True),
    ("(a|b)*a(a|b)", "ab", 4, 7, False, True),
    ("((aa)*)b*", "ab", 4, 7, False, False),
    ("()", "ab", 2, 2, False, True),
    ("(a|b|c)*", "abc", 1, 1, True, True),
]


@pytest.mark.parametrize(("pattern", "alphabet", "states", "size", "group", "aperiodic"), PATTERNS)
def test_patterns(pattern: str, alphabet: Any, states: int, size: int, group: Any, aperiodic: bool) -> None:
    automaton = automaton_from_spec(f"regex:{pattern}", alphabet=alphabet)
    assert automaton.letters == tuple(alphabet)
    assert len(automaton.states) == states
    assert facts(automaton) == (size, group, aperiodic)


def test_pattern_errors() -> None:
    assert automaton_from_spec("regex:a{2,3}").letters == ("a", "other")
    assert from_regex("a{2,3}", "a").output("aaa") is True
    assert from_regex("a|").output("") is True
    assert from_regex("|", "a").output("a") is False
    with pytest.raises(InputError, match="`alphabet`"):
        automaton_from_spec("regex:|")


def test_every_case_is_tested() -> None:
    tested = Path(__file__).read_text(encoding="utf-8")
    assert [p.name for p in CASES.iterdir() if f'"{p.name}"' not in tested] == []


@pytest.mark.parametrize("group", ["S3", "A4"])
@pytest.mark.parametrize("product", ["left", "right"])
def test_csv_of_other_groups_in_both_orders(tmp_path: Path, group: Any, product: Any) -> None:
    automaton = automaton_from_spec(group, product=product)
    path = tmp_path / f"{group}=20.csv"
    letters = np.random.default_rng(1).integers(len(automaton.letters), size=(5, 20))
    rows = [
        f"{i},{' '.join(map(str, w))},{' '.join(map(str, automaton.trace(w)))}" for i, w in enumerate(letters)
    ]
    path.write_text("seed,input,target\n" + "\n".join(rows) + "\n", encoding="utf-8")
    assert read_word_problem(path).product == product
    renamed = tmp_path / "data.csv"
    shutil.copy(path, renamed)
    with pytest.raises(InputError, match="`group`"):
        read_word_problem(renamed)
    assert read_word_problem(renamed, group=group).product == product


def test_csv_that_fits_no_order_names_the_first_row(tmp_path: Path) -> None:
    path = tmp_path / "S3=2.csv"
    path.write_text("seed,input,target\n0,1 1,1 0\n1,1 2,1 5\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 3"):
        read_word_problem(path)
