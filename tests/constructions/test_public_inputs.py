"""Inputs in the shape of public reports, documentation and tools' output: each with its source and the right answer.

The texts are written for this test; the source says whose shape they have. `was` says what came before this table: `right`, `wrong` (read
as something else, without a word), or `refused` (one line, where the answer is now read).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from mirrormata.constructions._conversions import as_automaton
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.formats.regex import from_regex
from mirrormata.foundation._errors import InputError

Language = Callable[[tuple[str, ...]], bool]


def same(pattern: str) -> Language:
    """The words that Python's `re` matches."""
    return lambda word: re.fullmatch(pattern, "".join(word)) is not None


class Pattern(NamedTuple):
    source: str
    pattern: str
    letters: str


PATTERNS = [
    Pattern("github.com/dotnet/runtime/pull/70464", "(ab|b)c(a|bc)*", "abc"),
    Pattern("github.com/felipemoura/RegularExpression-to-NFA-to-DFA/issues/2", "a", "ab"),
    Pattern("github.com/CyberZHG/toolbox/issues/33", "(a|ba)*ba", "ab"),
    Pattern("github.com/VeriFIT/mata/issues/48", "[qQrR]*", "qQrRs"),
    Pattern("github.com/katef/libfsm/pull/341", "|", "xyz"),
    Pattern("github.com/zhztheplayer/DFA-Regex/issues/4", "(ab|a|bcd|g)+", "abcdg"),
    Pattern("github.com/izuzak/noam/issues/41", "b*(d|a*)d", "abd"),
    Pattern("github.com/swapagarwal/automata-from-regex/issues/1", "a*b", "ab"),
    Pattern("github.com/swapagarwal/automata-from-regex/issues/1", "b*aba", "ab"),
    Pattern("github.com/swapagarwal/automata-from-regex/issues/1", "a*bb", "ab"),
    Pattern("github.com/ziprandom/cltk/issues/1", "b|(?:a)", "ab"),
    Pattern("github.com/zkemail/zk-regex/issues/111", "((a|ab)+)c", "abc"),
    Pattern("github.com/kpdyer/regex2dfa/pull/22", "z+.w?", "zw"),
    Pattern("github.com/kpdyer/regex2dfa/pull/22", r"(\d\d\d|\d\d|\d)", "01"),
    Pattern("github.com/27t/regex-visualizer/issues/2", "(a|b*)c|d", "abcd"),
]


@pytest.mark.parametrize("case", PATTERNS, ids=lambda case: case.pattern)
def test_patterns_of_public_reports(case: Pattern) -> None:
    automaton = from_regex(case.pattern, alphabet=case.letters)
    language = same(case.pattern)
    for word in words(tuple(case.letters), 5 if len(case.letters) < 4 else 4):
        assert automaton.accepts(word) is language(word), word


def words(letters: tuple[str, ...], longest: int) -> list[tuple[str, ...]]:
    return [w for n in range(longest + 1) for w in itertools.product(letters, repeat=n)]


class File(NamedTuple):
    source: str
    was: str
    name: str
    text: str
    letters: tuple[str, ...]
    language: Language


def even(letter: str) -> Language:
    return lambda word: word.count(letter) % 2 == 0


def partial_257(word: tuple[str, ...]) -> bool:
    table = {"0": "00", "1": "30", "2": "40", "3": "41", "4": "32"}
    state = "3"
    for x in word:
        state = table[state][int(x)]
    return state in "14"


def nobody(_: tuple[str, ...]) -> bool:
    return False


FILES = [
    File("github.com/caleb531/automata/issues/257: states and letters as numbers and texts, a state that nothing reaches", "right", "m.json",
        '{"states": [0, 1, 2, 3, 4], "input_symbols": ["0", "1"], "transitions": {"0": {"0": 0, "1": 0}, "1": {"0": 3, "1": 0}, '
        '"2": {"0": 4, "1": 0}, "3": {"0": 4, "1": 1}, "4": {"0": 3, "1": 2}}, "initial_state": 3, "final_states": [1, 4]}',
        ("0", "1"), partial_257),
    File("github.com/caleb531/automata/issues/42: no accepting state, letters of two characters", "right", "m.json",
        '{"states": ["0-0", "1-1", "err"], "input_symbols": ["1E", "1L"], "transitions": {"0-0": {"1E": "1-1", "1L": "err"}, '
        '"1-1": {"1E": "err", "1L": "0-0"}, "err": {"1E": "err", "1L": "err"}}, "initial_state": "0-0", "final_states": []}',
        ("1E", "1L"), nobody),
    File("github.com/LearnLib/automatalib/issues/48: attributes without commas, an accepting start", "right", "m.dot",
        'digraph g {\n\n\ts0 [shape="doublecircle" label="0"];\n\ts1 [shape="circle" label="1"];\n\ts2 [shape="circle" label="2"];\n'
        '\ts0 -> s1 [label="e1"];\n\ts1 -> s2 [label="e2"];\n\ts2 -> s1 [label="e3"];\n\n__start0 [label="" shape="none" width="0" '
        'height="0"];\n__start0 -> s0;\n\n}\n', ("e1", "e2", "e3"), lambda w: not w),
    File("homework pages with graphviz blocks: `node [...] s;` in one statement, the edge `start` from a plain text", "right", "m.dot",
        'digraph finite_state_machine { rankdir=LR; node [shape = doublecircle]; q0\nnode [shape=plaintext] s;\ns [label=""];\n'
        'node [shape = circle];\ns -> q0 [ label = "start" ]; q0 -> q0 [ label = "0" ]; q0 -> q1 [ label = "1" ]; q1 -> q0 [label="1"]; '
        'q1 -> q1 [label="0"] }', ("0", "1"), even("1")),
    File("homework pages with graphviz blocks: accepting states as a list `q0,q1;`, which graphviz takes", "refused", "m.dot",
        'digraph finite_state_machine { node [shape = doublecircle]; q0,q1; node [shape=point]; s; node [shape = circle]; s -> q0; '
        'q0 -> q1 [label = "a"]; q1 -> q2 [label = "a"]; q2 -> q2 [label = "a"] }', ("a",), lambda w: len(w) < 2),
    File("course pages on minimal DFAs: no statement sets the shape back, so graphviz draws q0 and q2 with two circles too", "right", "m.dot",
        'digraph DFA { rankdir=LR; node [shape = doublecircle]; q1; start [shape = none, label=""]; start -> q0; q0 -> q0 [label = "a"]; '
        'q0 -> q1 [label = "b"]; q1 -> q2 [label = "a, b"]; }', ("a", "b"), same("a*(b[ab]?)?")),
    File("a README that prints graphviz text of a DFA: the start is a point", "right", "m.gv",
        'digraph G {\n  rankdir=LR;\n  node [shape = point]; start;\n  node [shape = doublecircle]; q0;\n  node [shape = circle];\n'
        '  start -> q0;\n  q0 -> q1 [label="a"];\n  q0 -> q0 [label="b"];\n  q1 -> q0 [label="a"];\n  q1 -> q1 [label="b"];\n}\n',
        ("a", "b"), even("a")),
    File("FSM(5), the manual page of AT&T's text format, without its costs", "right", "m.att",
        "0 0 1\n0 1 2\n1 2 3\n1 2 4\n2\n", ("1", "2", "3", "4"), same("1*2[34]")),
    File("libmata's tests of its parser: one section", "right", "m.mata",
        "@NFA-explicit\n%Alphabet-auto\n%Initial p0\n%Final p0\np0 b p0\n", ("b",), lambda _: True),
    File("GAP's package automata, appendix B of its manual", "refused", "m.g",
        'x:=Automaton("det",3,2,[ [ 2, 3, 0 ], [ 0, 1, 2 ] ],[ 1 ],[ 1, 2, 3 ]);;\n', ("a", "b"),
        lambda w: all(0 <= w[:i].count("a") - w[:i].count("b") <= 2 for i in range(len(w) + 1))),
    File("GAP 4.12 with automata 1.15: empty moves, and a line broken by a backslash", "refused", "m.g",
        'Automaton("epsilon",2,"a@",[ [ [ 1, 2 ], [ 1, 2 ] ], [ [ 1 ], [ ] ] ],[ 1 ],[ \\\n1 ]);;\n', ("a",), lambda _: True),
    File("tock 0.391, write_csv: start and accepting states are marked by > and @", "wrong", "m.csv",
        ",a,b\n>q0,q1,q0\n@q1,q0,q1\n", ("a", "b"), lambda w: w.count("a") % 2 == 1),
    File("tock 0.391, write_dot: the letters of an edge are the rows of a table", "wrong", "m.dot",
        'digraph {\n  _START[shape=none,label=""];\n\n  0[label=<q0>,peripheries=2];\n  1[label=<q1>];\n  _START -> 0\n'
        '  0 -> 1[label=<<table border="0" cellpadding="1"><tr><td>go</td></tr><tr><td>run</td></tr></table>>];\n'
        '  1 -> 0[label=<<table border="0" cellpadding="1"><tr><td>go</td></tr></table>>];\n}', ("go", "run"),
        lambda w: len(w) % 2 == 0 and all(x == "go" for x in w[1::2])),
    File("dfa 4.7.1, draw.write_dot: a state's label ends in True where it accepts", "wrong", "m.dot",
        'digraph G {\n0 [shape=point, label=""];\n0 -> 2;\n1 [label="q1\\n---\\nTrue"];\n1 -> 2 [label=a];\n1 -> 1 [label=b];\n'
        '2 [label="q0\\n---\\nFalse"];\n2 -> 1 [label=a];\n2 -> 2 [label=b];\n}', ("a", "b"), lambda w: w.count("a") % 2 == 1),
    File("dk.brics.automaton 1.11, toDot: ranges of characters without brackets", "refused", "m.dot",
        'digraph Automaton {\n  rankdir = LR;\n  0 [shape=doublecircle,label=""];\n  0 -> 1 [label="a-c"]\n  1 [shape=circle,label=""];\n'
        '  1 -> 0 [label="\\u002c"]\n  initial [shape=plaintext,label=""];\n  initial -> 0\n}\n', ("a", "b", "c", ","), same("([a-c],)*")),
    File("dk.brics.automaton 1.11, toDot: no state accepts", "wrong", "m.dot",
        'digraph Automaton {\n  rankdir = LR;\n  0 [shape=circle,label=""];\n  0 -> 0 [label="a"]\n  initial [shape=plaintext,label=""];\n'
        '  initial -> 0\n}\n', ("a",), nobody),
    File("pyformlang 1.0.11, write_as_dot: no state is final", "wrong", "m.dot",
        'digraph {\nq0 [is_start=True, is_final=False, peripheries=1, label=q0];\nstarting_q0 [label="", shape=None, height=0.0, width=0.0];\n'
        'starting_q0 -> q0 [key=0];\nq0 -> q0 [key=0, label=a];\n}\n', ("a",), nobody),
    File("FAdo 2.2.0, dotFormat: no state is final", "wrong", "m.dot",
        'digraph finite_state_machine {\nnode [shape = point]; dummy\nnode [shape = circle]; "q0";dummy -> "q0"\n"q0" -> "q0" [label = "a"];\n }\n',
        ("a",), nobody),
    File("OpenFst 1.7.9, fstdraw --acceptor: a letter with a slash", "wrong", "m.dot",
        'digraph FST {\nrankdir = LR;\n0 [label = "0", shape = circle, style = bold, fontsize = 14]\n\t0 -> 1 [label = "a/b", fontsize = 14];\n'
        '1 [label = "1", shape = doublecircle, style = solid, fontsize = 14]\n}\n', ("a/b",), lambda w: len(w) == 1),
    File("HFST 3.16.0, hfst-fst2txt: a blank in a symbol", "wrong", "m.att",
        "0\t1\tgo@_SPACE_@left\tgo@_SPACE_@left\t0.000000\n1\t0.000000\n", ("go left",), lambda w: len(w) == 1),
    File("automata-lib 9.2.0, show_diagram: an arrow among the letters", "refused", "m.dot",
        'digraph { i [shape=point]; i -> p; p [shape=doublecircle]; p -> p [label="→"]; p -> p [label="é"]; p -> q [label="é,→"]; q -> q [label=é] }',
        ("→", "é"), lambda _: True),
    File("FAdo 2.2.0, dotFormat: letters of several characters in a list", "refused", "m.dot",
        'digraph finite_state_machine {\nnode [shape = point]; dummy\nnode [shape = doublecircle]; "q0";dummy -> "q0"\n"q0" -> "q0" [label = "go, a,b"];\n }\n',
        ("go", "a,b"), lambda _: True),
    File("FAdo 2.2.0, dotFormat of an NFA: letters with slashes", "refused", "m.dot",
        'digraph finite_state_machine {\nnode [shape = point]; "dummyp"\nnode [shape = circle]; "p";"dummyp" -> "p";\nnode [shape = doublecircle]; "q";\n'
        '"p" -> "p" [label = "a/b"];\n "p" -> "q" [label = "a/b, c"];\n }\n', ("a/b", "c"), lambda w: len(w) > 0 and "c" not in w[:-1]),
    File("automata-lib 9.2.0, show_diagram: no state is final", "wrong", "m.dot",
        'digraph "" { i [label="", shape=point, tooltip="."]; p [shape=circle]; i -> p [tooltip="->p"]; p -> p [label=a] }', ("a",), nobody),
]  # fmt: skip


@pytest.mark.parametrize("case", FILES, ids=lambda case: case.source.partition(":")[0])
def test_files_of_public_tools_and_pages(case: File, tmp_path: Path) -> None:
    path = tmp_path / case.name
    path.write_text(case.text, encoding="utf-8")
    assert case.was in ("right", "wrong", "refused")
    assert_language(automaton_from_spec(path), case.letters, case.language)


def assert_language(automaton: Automaton, letters: tuple[str, ...], language: Language) -> None:
    assert set(automaton.letters) == set(letters)
    for word in words(letters, 5):
        assert automaton.output(list(word)) is language(word), word


def test_html_labels_of_two_lines_are_inputs_and_an_output(tmp_path: Path) -> None:
    """github.com/DES-Lab/AALpy, DotModels/TLS: inputs between bars, a line break, and an output that has slashes; also at the start's arrow."""
    path = tmp_path / "server.dot"
    path.write_text(
        'digraph g { __start0 [shape="none", label=""]; s0 -> s1 [label=<Hello | Key<br />Hello / Done>]; '
        "s0 -> s0 [label=<Beat<br/>Empty>]; s1 -> s1 [label=<Hello | Key | Beat<br />Alert (A &amp; B) / Closed>]; "
        "__start0 -> s0 [label=<Beat<br />Empty>]; }",
        encoding="utf-8",
    )
    automaton = automaton_from_spec(path)
    assert automaton.is_mealy
    assert set(automaton.letters) == {"Hello", "Key", "Beat"}
    assert automaton.states[automaton.start] == "s0"
    assert automaton.output(["Beat"]) == "Empty"
    assert automaton.output(["Beat", "Key"]) == "Hello / Done"
    assert automaton.output(["Hello", "Beat"]) == "Alert (A & B) / Closed"
    assert any("two lines" in note for note in automaton.notes)
    path.write_text(path.read_text(encoding="utf-8").replace("<Beat<br/>Empty>", "<Beat>"), encoding="utf-8")
    with pytest.raises(InputError, match="formula"):
        automaton_from_spec(path)


def test_a_transducer_that_fstdraw_drew_is_a_mealy_machine(tmp_path: Path) -> None:
    """OpenFst 1.7.9, fstdraw: the labels `a:x` were letters, without a word."""
    path = tmp_path / "m.dot"
    path.write_text(
        'digraph FST {\nrankdir = LR;\n0 [label = "0", shape = doublecircle, style = bold, fontsize = 14]\n\t0 -> 1 [label = "a:x", '
        'fontsize = 14];\n1 [label = "1", shape = doublecircle, style = solid, fontsize = 14]\n\t1 -> 0 [label = "a:y", fontsize = 14];\n}\n',
        encoding="utf-8",
    )
    automaton = automaton_from_spec(path)
    assert automaton.is_mealy
    assert [automaton.output(["a"] * n) for n in (1, 2, 3)] == ["x", "y", "x"]


REFUSED = [
    ("OpenFst's quick tour: a weighted transducer", "m.att", "0 1 a x .5\n0 1 b y 1.5\n1 2 c z 2.5\n2 3.5\n", "weights are not kept"),
    ("OpenFst 1.7.9, fstdraw: a weight", "m.dot", 'digraph FST { 0 [label="0", style=bold]; 0 -> 1 [label="a/0.5"]; 1 [shape=doublecircle] }', "weight 0.5"),
    ("Java classes that print graphviz text: an edge without a label", "m.dot", "digraph graphname { node [shape = doublecircle]; q0; q0 -> q0 [label = 1]; q0 -> q0; }", "no letter as label"),
    ("Mata's tests of mintermization", "m.mata", '@NFA-explicit\n%States-enum q r s t "(r,s)"\n%Alphabet-auto\n%Initial q & r\n%Final q | r\nq a r\n', "alternating"),
    ("libmata's tests of its parser: two sections", "m.mata", "@NFA-explicit\n%Initial q0\n%Final q1\nq0 a q1\n@NFA-explicit\n%Initial p0\n%Final p0\np0 b p0\n", "a second section"),
    ("scripts that write transducers for Mata", "m.mata", "@NFA-explicit\n%Alphabet-auto\n%Initial q0\n%Final q1\n%LevelsCnt 2\nq0 a q1\n", "%LevelsCnt"),
    ("dk.brics.automaton 1.11: any character", "m.dot", 'digraph Automaton {\n  0 [shape=doublecircle,label=""];\n  0 -> 0 [label="\\u0000-\\uffff"]\n  initial [shape=plaintext,label=""];\n  initial -> 0\n}\n', "65,536 characters"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "name", "text", "part"), REFUSED, ids=[row[0] for row in REFUSED])
def test_what_cannot_be_read_is_one_line(
    source: str, name: str, text: str, part: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(part)) as caught:
        automaton_from_spec(path)
    assert "\n" not in str(caught.value), source


OBJECTS: list[tuple[str, Any]] = [
    ("textbook notebooks: pairs as keys", {("e", "a"): "o", ("o", "a"): "e"}),
    ("adjacency in notebooks: rows of rows", {"e": {"a": "o"}, "o": {"a": "e"}}),
    ("edge lists in notebooks", [("e", "a", "o"), ("o", "a", "e")]),
    ("arguments of automata-lib kept as a dict", {"states": {"e", "o"}, "input_symbols": {"a"}, "transitions": {"e": {"a": "o"}, "o": {"a": "e"}}, "initial_state": "e", "final_states": {"e"}}),
]  # fmt: skip


@pytest.mark.parametrize(("source", "value"), OBJECTS, ids=[row[0] for row in OBJECTS])
def test_objects_of_notebooks(source: str, value: Any) -> None:
    automaton = as_automaton(value)
    assert [automaton.run("aa")[i] for i in (0, 1, 2)] == ["e", "o", "e"], source


def test_the_table_has_forty_inputs() -> None:
    assert len(PATTERNS) + len(FILES) + len(REFUSED) + len(OBJECTS) + 1 >= 40
