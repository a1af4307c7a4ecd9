"""Inputs of the public that no tool of ours writes: from bug reports, READMEs, courses, web pages and repositories, with the right answer.

The texts are written for this test in the shape of their sources, apart from short facts such as a pattern. `was` says what came before
this table: `right`, `wrong` (read as something else, or with a meaning that the source does not have), or `refused`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.foundation._errors import InputError, LimitError
from mirrormata.tests.constructions.test_public_inputs import (
    File,
    Language,
    Pattern,
    assert_language,
    even,
    nobody,
    same,
    words,
)

PATTERNS = [
    Pattern("github.com/sdht0/automata-from-regex/issues/4", "0*1(0*10*1)*0*", "01"),
    Pattern("github.com/qntm/greenery/issues/31", r"(\d{2})+", "01a"),
    Pattern("github.com/CyberZHG/toolbox/issues/42", "ab*c", "abc"),
    Pattern("github.com/skvadrik/re2c/issues/569", r"""[.'"]+a? ?""", ".'\"a "),
    Pattern("github.com/katef/libfsm/issues/274", "[Ll]ibf+(sm)*", "Llibfsm"),
]


@pytest.mark.parametrize("case", PATTERNS, ids=lambda case: case.pattern)
def test_patterns(case: Pattern) -> None:
    automaton = automaton_from_spec(f"regex:{case.pattern}", alphabet=case.letters)
    language = same(case.pattern)
    for word in words(tuple(case.letters), 4):
        assert automaton.accepts(word) is language(word), word


def ends_in(*letters: str) -> Language:
    return lambda word: bool(word) and word[-1] in letters


def machine(start: str, accepting: str, table: dict[str, dict[str, str]]) -> Language:
    """The language of a table whose missing entries reject."""

    def accepts(word: tuple[str, ...]) -> bool:
        state: str | None = start
        for x in word:
            state = table.get(state or "", {}).get(x)
        return state is not None and state in accepting.split()

    return accepts


def assigned(*conditions: Callable[[str], bool]) -> Callable[[tuple[str, ...]], bool]:
    """Some letter of the word meets each condition: `F a & F b` over assignments."""
    return lambda word: all(any(map(condition, word)) for condition in conditions)


HANOI = '"p1: [d2], p2: []"'
FILES = [
    File("github.com/Oneiroe/PySimpleAutomata/issues/5: triples, the keys alphabet and accepting_states", "refused", "m.json",
        '{"alphabet": ["5c", "10c", "gum"], "states": ["s0", "s1", "s2"], "initial_state": "s0", "accepting_states": ["s2"], '
        '"transitions": [["s0", "5c", "s1"], ["s0", "10c", "s2"], ["s1", "5c", "s2"], ["s2", "gum", "s0"]]}', ("5c", "10c", "gum"),
        machine("s0", "s2", {"s0": {"5c": "s1", "10c": "s2"}, "s1": {"5c": "s2"}, "s2": {"gum": "s0"}})),
    File("github.com/Oneiroe/PySimpleAutomata/issues/7: names with colons and brackets, an edge from `fake`", "right", "m.dot",
        f'digraph{{ fake [style=invisible]\nfake -> {HANOI} [style=bold]\n{HANOI} [root=true, shape=doublecircle]\n"p1: [], p2: [d2]"\n'
        f'{HANOI} -> "p1: [], p2: [d2]" [label="move"]\n"p1: [], p2: [d2]" -> {HANOI} [label="move"]\n}}', ("move",), even("move")),
    File("github.com/yandex/pire/pull/5: no label on states, a title on the node `initial`, letters with blanks", "right", "m.dot",
        'digraph {\n    "initial"[shape="plaintext",label="DFA for: /^.$/"]\n\n    0[shape="circle",label=""]\n    "initial" -> 0\n'
        '    0 -> 1[label="^"]\n    0 -> 0[label="$ ."]\n\n    1[shape="doublecircle",label=""]\n    1 -> 1[label="$ ."]\n    1 -> 1[label="^"]\n}\n',
        ("^", "$ ."), lambda w: "^" in w),
    File("github.com/katef/libfsm/issues/274: a graph that dot has laid out, labels between < and >", "right", "m.dot",
        'digraph G {\n\tgraph [bb="0,0,497,111.51",\n\t\trankdir=LR,\n\t\troot=start\n\t];\n\tnode [label="",\n\t\tshape=circle,\n\t\twidth=0.3\n\t];\n'
        '\tedge [weight=2];\n\tstart\t[height=0.5,\n\t\tpos="11,57.506",\n\t\tshape=none];\n\tS2\t[pos="70,57.506"];\n\tstart -> S2\t[pos="e,58.8,57.5 22.1,57.5"];\n'
        '\tS2 -> S3\t[label=<L>,\n\t\tlp="103.5,65.006"];\n\tS2 -> S3\t[label=<l>];\n\tS0\t[shape=doublecircle];\n\tS3 -> S0\t[label=<m>];\n}\n',
        ("L", "l", "m"), lambda w: w in (("L", "m"), ("l", "m"))),
    File("github.com/fgmacedo/python-statemachine/issues/469: a black circle points at the start, as UML has it", "refused", "m.dot",
        'digraph list {\nlabel=Traffic;\nrankdir=LR;\ni [shape=circle, style=filled, fontsize="1pt", fixedsize=true, width=0.2, fillcolor=black];\n'
        'i -> green [label="", color=blue];\ngreen [label="Green", shape=rectangle, style="rounded, filled", peripheries=1, fillcolor=white];\n'
        'green -> red [label="cycle"];\nred [label="Red\\nentry / on_enter_red", shape=rectangle, peripheries=2];\nred -> green [label="cycle"];\n}',
        ("cycle",), lambda w: len(w) % 2 == 1),
    File("martin-thoma.com/how-to-draw-a-finite-state-machine: `node [..., label=...] f;` in one statement", "right", "m.gv",
        'digraph finite_state_machine {\n    rankdir=LR;\n    size="8,5"\n    node [shape = doublecircle, label="{f}", fontsize=12] f;\n'
        '    node [shape = circle, label="S", fontsize=14] S;\n    node [shape = point ]; qi\n    qi -> S;\n    S -> f [ label = "b" ];\n'
        '    f -> f [ label = "c" ];\n}', ("b", "c"), same("bc*")),
    File("a C++ class that draws its automata: the start's arrow comes from a node without a name", "right", "m.dot",
        'digraph finite_state_machine {\n\trankdir=LR;\n\tsize="8,5"\n\tnode [shape = doublecircle]; 2 3 ;\n\tnode [shape = none] "";\n'
        '\tnode [shape = circle];\n"" -> 1\n1 -> 2 [ label = "a" ];\n2 -> 3 [ label = "b" ];\n3 -> 3 [ label = "a" ];\n}\n', ("a", "b"), same("a(ba*)?")),
    File("a C++ class of a course on automata: no accepting state, so the list behind doublecircle is empty", "wrong", "m.dot",
        'digraph DFA {\nrankdir=LR;\nnode [shape = doublecircle]; ;\nnode [shape = "none"] startStateHelper;\nstartStateHelper [label = ""];\n'
        'node [shape = circle];\n\nstartStateHelper -> "s0";\n"s0" -> "s1" [label="0"];\n"s1" -> "s0" [label="1"];\n}\n', ("0", "1"), nobody),
    File("github.com/whitemech/LTLf2DFA/issues/15, of a formula that no word fulfils", "wrong", "m.dot",
        'digraph MONA_DFA {\n rankdir = LR;\n center = true;\n size = "7.5,10.5";\n edge [fontname = Courier];\n node [height = .5, width = .5];\n'
        ' node [shape = doublecircle];\n node [shape = circle]; 1;\n init [shape = plaintext, label = ""];\n init -> 1;\n 1 -> 1 [label="true"];\n}',
        ("true",), nobody),
    File("projects of reinforcement learning with LTLf2DFA: formulas as labels", "refused", "m.dot",
        'digraph MONA_DFA {\n rankdir = LR;\n node [shape = doublecircle]; 4;\n node [shape = circle]; 1;\n init [shape = plaintext, label = ""];\n init -> 1;\n'
        ' 1 -> 1 [label="~a & ~b"];\n 1 -> 2 [label="a & ~b"];\n 1 -> 3 [label="b & ~a"];\n 1 -> 4 [label="a & b"];\n 2 -> 2 [label="~b"];\n'
        ' 2 -> 4 [label="b"];\n 3 -> 3 [label="~a"];\n 3 -> 4 [label="a"];\n 4 -> 4 [label="true"];\n}', ("00", "01", "10", "11"),
        assigned(lambda x: x[0] == "1", lambda x: x[1] == "1")),
    File("forks of MONA that print graphviz text: X is either value", "wrong", "m.dot",
        'digraph MONA_DFA {\n rankdir = LR;\n node [shape = doublecircle]; 4;\n node [shape = circle]; 0; 1; 2; 3;\n node [shape = box];\n'
        ' init [shape = plaintext, label = ""];\n init -> 0;\n 0 -> 1 [label="X"];\n 1 -> 3 [label="0"];\n 1 -> 4 [label="1"];\n 3 -> 3 [label="X"];\n'
        ' 4 -> 4 [label="X"];\n}', ("0", "1"), lambda w: w[1:2] == ("1",)),
    File("github.com/whitemech/lydia, dfaPrintGraphvizToFile: a row for each proposition, a column for each case", "refused", "m.dot",
        'digraph MONA_DFA {\n node [shape = doublecircle]; 2\n node [shape = circle]; 1\n node [shape = box];\n init [shape = plaintext, label = ""];\n'
        ' init -> 1;\n 1 -> 1 [label="0 1\\nX,0"];\n 1 -> 2 [label="1\\n1"];\n 2 -> 2 [label="X\\nX"];\n}', ("00", "01", "10", "11"), lambda w: "11" in w),
    File("github.com/LearnLib/automatalib/issues/89: a model of Automata-Wiki whose states are numbers", "right", "m.dot",
        'digraph G {\n4 [shape="circle" label="4"];\n2 [shape="doublecircle" label="2"];\n2 -> 4 [label="a"];\n4 -> 2 [label="a"];\n'
        '__start0 [label="" shape="none"];\n__start0 -> 2;\n}', ("a",), even("a")),
    File("github.com/caleb531/automata/pull/37, drawn with pydot: an invisible node, peripheries, blanks in labels", "right", "m.dot",
        'digraph "" {\n graph [rankdir=LR];\n node [shape=circle];\n "Hidden" [style="invis"];\n q0 [peripheries=1];\n q1 [peripheries=2];\n Hidden -> q0;\n'
        ' q0 -> q1 [label=" 0, 1 "];\n q1 -> q1 [label=" 1 "];\n q1 -> q0 [label=" 0 "];\n}', ("0", "1"),
        machine("q0", "q1", {"q0": {"0": "q1", "1": "q1"}, "q1": {"1": "q1", "0": "q0"}})),
    File("github.com/ThalesMMS/Turing-Lab/pull/414: the sign ε in a JFLAP file", "right", "m.jff",
        '<structure><type>fa</type><automaton>\n<state id="0" name="q0"><initial/></state>\n<state id="1" name="q1"><final/></state>\n'
        '<transition><from>0</from><to>1</to><read>ε</read></transition>\n<transition><from>1</from><to>1</to><read>a</read></transition>\n'
        '</automaton></structure>', ("a",), lambda _: True),
    File("JFLAP 6.4: carriage returns as &#13;, comments, a label and a note", "right", "m.jff",
        '<?xml version="1.0" encoding="UTF-8" standalone="no"?><!--Created with JFLAP 6.4.--><structure>&#13;\n\t<type>fa</type>&#13;\n\t<automaton>&#13;\n'
        '\t\t<!--The list of states.-->&#13;\n\t\t<state id="0" name="q0">&#13;\n\t\t\t<x>79.0</x>&#13;\n\t\t\t<label>even</label>&#13;\n\t\t\t<initial/>&#13;\n'
        '\t\t\t<final/>&#13;\n\t\t</state>&#13;\n\t\t<state id="1" name="q1">&#13;\n\t\t</state>&#13;\n\t\t<transition>&#13;\n\t\t\t<from>0</from>&#13;\n'
        '\t\t\t<to>1</to>&#13;\n\t\t\t<read>0</read>&#13;\n\t\t</transition>&#13;\n\t\t<transition>&#13;\n\t\t\t<from>1</from>&#13;\n\t\t\t<to>0</to>&#13;\n'
        '\t\t\t<read>0</read>&#13;\n\t\t</transition>&#13;\n\t\t<note><text>a note</text></note>\n\t</automaton>&#13;\n</structure>', ("0",), even("0")),
    File("github.com/VeriFIT/mata/issues/436: no state at all", "right", "m.mata", "@NFA\n%Alphabet 0 1\n%Initial \n%Final \n\n", ("0", "1"), nobody),
    File("the class Automaton of a course in Python: objects with from_state, symbol and to_state", "refused", "m.json",
        '{"id": "t1", "name": "Test", "initial_state": "q0", "acceptance_states": ["q1"], "alphabet": ["a", "b"], "states": ["q0", "q1"], "transitions": ['
        '{"from_state": "q0", "symbol": "a", "to_state": "q1"}, {"from_state": "q0", "symbol": "b", "to_state": "q0"}, {"from_state": "q1", "symbol": "a", '
        '"to_state": "q1"}, {"from_state": "q1", "symbol": "b", "to_state": "q0"}], "test_strings": ["a", "b"]}', ("a", "b"), ends_in("a")),
    File("an editor of automata: states with their places on the screen", "refused", "m.json",
        '{"states": {"q0": {"position": [200, 200], "state_type": "normal"}, "q1": {"position": [1, 2], "state_type": "normal"}}, "transitions": {"q0": '
        '{"0": "q0", "1": "q1"}, "q1": {"0": "q1", "1": "q0"}}, "alphabet": ["0", "1"], "initial_state": "q0", "accept_states": ["q1"], "next_state_id": 3}',
        ("0", "1"), lambda w: w.count("1") % 2 == 1),
    File("the JSON schema of a DFA in a repository: a state and a letter in one key", "refused", "m.json",
        '{"states": ["q0", "q1"], "alphabet": ["a", "b"], "transitions": {"q0,a": "q1", "q0,b": "q0", "q1,a": "q0", "q1,b": "q1"}, "start_state": "q0", '
        '"final_states": ["q0"]}', ("a", "b"), even("a")),
    File("github.com/meyersj/python_dfa: the keys start, accept, and words to run", "refused", "m.json",
        '{"description": "ends in 1", "states": ["A", "B"], "start": "A", "alphabet": ["0", "1"], "transitions": {"A": {"0": "A", "1": "B"}, '
        '"B": {"0": "A", "1": "B"}}, "accept": ["B"], "inputs": ["01", "10"]}', ("0", "1"), ends_in("1")),
    File("github.com/moizmalik11/NFA-to-DFA-Converter: states as lists, the key t_func", "refused", "m.json",
        '{"states": ["q0", "q1"], "letters": ["a", "b"], "t_func": [[["q0"], "a", ["q1"]], [["q0"], "b", ["q0"]], [["q1"], "a", ["q1"]], '
        '[["q1"], "b", ["q1"]]], "start": ["q0"], "final": [["q1"]]}', ("a", "b"), lambda w: "a" in w),
    File("C++ classes that read a DFA with nlohmann's json: states that say starting and accepting", "refused", "m.json",
        '{"type": "DFA", "alphabet": ["0", "1"], "states": [{"name": "q0", "starting": true, "accepting": false}, {"name": "q1", "starting": false, '
        '"accepting": true}], "transitions": [{"from": "q0", "to": "q1", "input": "0"}, {"from": "q0", "to": "q0", "input": "1"}, '
        '{"from": "q1", "to": "q1", "input": "0"}, {"from": "q1", "to": "q0", "input": "1"}]}', ("0", "1"), ends_in("0")),
    File("interfaces in TypeScript: id, isInitial, isFinal, and camel case", "refused", "m.json",
        '{"states": [{"id": "7", "name": "even", "isInitial": true, "isFinal": true}, {"id": "8", "name": "odd"}], "alphabet": ["a"], '
        '"transitions": [{"fromState": "7", "toStates": ["8"], "symbol": "a"}, {"fromState": "8", "toStates": ["7"], "symbol": "a"}]}', ("a",), even("a")),
    File("github.com/izuzak/noam/issues/43: an NFA with several next states and an empty move", "refused", "m.json",
        '{"states": ["s1", "s2", "s3"], "alphabet": ["a", "b"], "initialState": "s1", "acceptingStates": ["s3"], "transitions": ['
        '{"fromState": "s1", "symbol": "a", "toStates": ["s1", "s2"]}, {"fromState": "s1", "symbol": "b", "toStates": ["s1"]}, '
        '{"fromState": "s2", "symbol": "ε", "toStates": ["s3"]}]}', ("a", "b"), ends_in("a")),
    File("textbook notation in JSON: Q, Sigma, delta, q0, F, and states that are numbers", "refused", "m.json",
        '{"Q": [0, 1], "Sigma": ["0", "1"], "delta": [[0, "0", 0], [0, "1", 1], [1, "0", 1], [1, "1", 0]], "q0": 0, "F": [0]}', ("0", "1"), even("1")),
    File("github.com/nNasir/FiniteAutomata: columns isInitial and isFinal, missing moves", "refused", "m.csv",
        "states,a,b,isInitial,isFinal\n1,2,2,TRUE,TRUE\n2,3,4,FALSE,FALSE\n3,,,FALSE,TRUE\n4,2,,FALSE,FALSE\n", ("a", "b"),
        machine("1", "1 3", {"1": {"a": "2", "b": "2"}, "2": {"a": "3", "b": "4"}, "4": {"a": "2"}})),
    File("spreadsheets of courses, saved with quotes, an arrow and a star", "right", "m.csv",
        '"","a","b"\n"→q0","q1","q0"\n"*q1","q1","q0"\n', ("a", "b"), ends_in("a")),
    File("tests of a TypeScript library of automata: a .ba text whose lines are indented", "right", "m.ba",
        "[0]\n    a,[0]->[1]\n    b,[1]->[2]\n    a,[2]->[1]\n    [1]", ("a", "b"), same("a(ba)*")),
    File("github.com/hfst/hfst/issues/143: weights with a comma, as a Finnish locale prints them", "refused", "m.att",
        "0\t1\tt\tt\t0,000000\n1\t2\ta\ta\t0,000000\n2\t0,000000\n", ("t", "a"), lambda w: w == ("t", "a")),
    File("github.com/lorisdanto/automatark, README: words as trees, one letter without arguments begins them", "right", "m.timbuk",
        "Ops a:0 b:1 c:1\n\nAutomaton A\nStates q0 q1 q2\nFinal States q2 \nTransitions\na() -> q0\nb(q0) -> q1\nc(q1) -> q2\nc(q2) -> q2\n", ("b", "c"), same("bcc*")),
]  # fmt: skip


@pytest.mark.parametrize("case", FILES, ids=lambda case: case.source.partition(":")[0])
def test_files(case: File, tmp_path: Path) -> None:
    path = tmp_path / case.name
    path.write_text(case.text, encoding="utf-8")
    assert case.was in ("right", "wrong", "refused")
    assert_language(automaton_from_spec(path), case.letters, case.language)


class Maps(NamedTuple):
    source: str
    text: str
    letters: int
    states_after: str
    """The states after each letter of the word `ab...`, one by one."""


GAP_TEXTS = [
    Maps("github.com/semigroups/Semigroups/issues/151: the prompts of a session", "gap> T := Semigroup([\n> Transformation([1, 3, 2, 1]),\n> Transformation([2, 1, 3, 2])]);;\n", 2, "1 2"),
    Maps("github.com/semigroups/Semigroups/issues/151: a cycle that goes on in the next line", "G := Group([ (2,3), (1,\n2) ]);", 2, "1 2"),
    Maps("github.com/semigroups/Semigroups/issues/98: one generator", "S := Semigroup(Transformation([2,3,1]));\n", 1, "2"),
    Maps("github.com/semigroups/Semigroups/issues/87: a list with a name", "gens := [ Transformation( [ 2, 1, 3, 1, 4, 3 ] ), Transformation( [ 2, 2, 2, 2, 1, 2 ] ) ];", 2, "2 2"),
]  # fmt: skip


@pytest.mark.parametrize("case", GAP_TEXTS, ids=lambda case: case.source.partition("com/")[2])
@pytest.mark.parametrize("name", ["m.g", "m.txt"])
def test_maps_of_gap_sessions(case: Maps, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(case.text, encoding="utf-8")
    automaton = automaton_from_spec(path)
    assert automaton.letters == ("a", "b")[: case.letters]
    assert list(automaton.run(automaton.letters)[1:]) == [int(q) for q in case.states_after.split()]


def test_a_mealy_machine_under_other_keys(tmp_path: Path) -> None:
    """Simulators of Mealy and Moore machines: `input`, `output` and `to` in each transition."""
    path = tmp_path / "m.json"
    path.write_text(
        '{"name": "delay", "states": ["z", "o"], "input_alphabet": ["0", "1"], "output_alphabet": ["0", "1"], "initial_state": "z", "transitions": ['
        '{"from": "z", "input": "0", "to": "z", "output": "0"}, {"from": "z", "input": "1", "to": "o", "output": "0"}, '
        '{"from": "o", "input": "0", "to": "z", "output": "1"}, {"from": "o", "input": "1", "to": "o", "output": "1"}]}',
        encoding="utf-8",
    )
    automaton = automaton_from_spec(path)
    assert automaton.is_mealy
    assert [automaton.output("0110"[: n + 1]) for n in range(4)] == ["0", "0", "1", "1"]


def test_a_file_of_rows_alone(tmp_path: Path) -> None:
    """github.com/EkaPutra0856/TBA, a constant of a web page: nothing says which states accept."""
    path = tmp_path / "m.json"
    path.write_text('{"q0": {"0": "q1", "1": "q0"}, "q1": {"0": "q0", "1": "q1"}}', encoding="utf-8")
    automaton = automaton_from_spec(path)
    assert automaton.output("0") == "q1"
    assert automaton.output("010") == "q0"
    assert any("rows only" in note for note in automaton.notes)


REFUSED = [
    ("github.com/LearnLib/automatalib/issues/7: nothing marks the start", "m.dot", "digraph DFA {\n  node [shape=circle,width=0.35]\n  q0 [label=<q<SUB>0</SUB>>];\n  q0 -> q1[label=AUI,penwidth=4,color=red]\n  q1 [label=<q<SUB>1</SUB>>,shape=doublecircle];\n}", "no start state"),
    ("github.com/fgmacedo/python-statemachine/issues/469: a size that graphviz cannot read either", "m.dot", "digraph list {\nfontsize=10pt;\n}", "line 2"),
    ("a course in OCaml: doublecircle behind the first edge of the state, which graphviz draws with one circle", "m.dot", 'digraph output {\n  node [shape=point]start; node [shape=circle]; start -> 1; 1 -> 2 [label="a"];\n  node [shape=doublecircle]2; 2 -> 1 [label="b"];\n}\n', "line 3: `node [shape=doublecircle]` does not change '2'"),
    ("github.com/persimon-c/automata-meow/issues/17: two letters in one label of JFLAP", "m.jff", '<structure><type>fa</type><automaton><state id="0" name="q0"><initial/></state><state id="1" name="q1"><final/></state><transition><from>0</from><to>1</to><read>ab</read></transition></automaton></structure>', "`split` none"),
    ("github.com/persimon-c/automata-meow/issues/19: a transition to a state that was deleted", "m.jff", '<structure><type>fa</type><automaton><state id="0" name="q0"><initial/></state><transition><from>0</from><to>7</to><read>a</read></transition></automaton></structure>', "transition 1: no state has the number '7'"),
    ("github.com/magsilva/jflap/issues/1: negation of a letter", "m.jff", '<structure><type>fa</type><automaton><state id="0" name="q0"><initial/></state><state id="1" name="q1"><final/></state><transition><from>0</from><to>1</to><read>!a</read></transition></automaton></structure>', "transition 1: the label '!a'"),
    ("github.com/adl/hoaf/issues/39: words without end", "m.hoa", "HOA: v1\nStart: 6\nAcceptance: 0 t\n--BODY--\n--END--\n", "on infinite words"),
    ("github.com/hfst/hfst/issues/349: flag diacritics", "m.att", "0\t1\t@P.first.a@\t@P.first.a@\n1\t2\tc\tc\n2\n", "is a flag diacritic"),
    ("github.com/ondrik/libvata, unit tests: trees", "m.timbuk", "Ops a:0 b:1 c:2\n\nAutomaton A\nStates p q r\nFinal States q\nTransitions\na -> p\nb(p) -> q\nc(p, q) -> r\n", "a tree automaton"),
    ("www.cse.chalmers.se, TMV028: a table between blanks", "m.tsv", "       a  b\n→ * s0 s1 s0\n    s1 s1 s1\n", "line 1: one column"),
    ("student.cs.uwaterloo.ca, CS 241: another .dfa file", "m.dfa", "2\n0\n1\n2\nstart\nend\nstart\n1\nend\n1\nstart 1 end\n", "line 5"),
    ("a script that writes reward machines: rewards", "m.json", '{"states": ["q0", "q1"], "initial_state": "q0", "transitions": [{"from_state": "q0", "event": "at(A)", "to_state": "q1", "reward": 0.5}]}', "'reward' belongs to no finite automaton"),
    ("github.com/izuzak/noam: $ for the empty move", "m.json", '{"states": ["s1"], "alphabet": ["a"], "initialState": "s1", "acceptingStates": ["s1"], "transitions": [{"fromState": "s1", "symbol": "$", "toStates": ["s1"]}]}', "'$' is not in the alphabet"),
    ("a web service for Turing machines", "m.json", '{"states": ["q0"], "start": "q0", "tape_alphabet": ["x"], "transitions": {"q0": {"x": ["q0", "y", "L"]}}}', "'tape_alphabet'"),
    ("a README in which the key is misspelt", "m.json", '{"states": ["q0"], "input_symbols": ["0"], "trasitions": {"q0": {"0": "q0"}}, "initial_state": "q0", "final_states": ["q0"]}', "key 'transitions' is missing; key 'trasitions' is unknown"),
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


@pytest.mark.parametrize("spec", ["m.att", "regex:[]"])
def test_the_empty_language_of_foma_pyfoma_and_greenery(spec: str, tmp_path: Path) -> None:
    """A file without a line, and the pattern `[]`: the letters have to be said."""
    if spec == "m.att":
        spec = str(tmp_path / spec)
        Path(spec).write_text("", encoding="utf-8")
    automaton = automaton_from_spec(spec, alphabet="ab")
    assert_language(automaton, ("a", "b"), nobody)
    assert any("empty language" in note for note in automaton.notes)
    with pytest.raises(InputError, match=r"the empty language, as .* state them with `alphabet`") as caught:
        automaton_from_spec(spec)
    assert "\n" not in str(caught.value)


def test_an_alphabet_adds_letters_to_an_att_file(tmp_path: Path) -> None:
    path, letters = tmp_path / "m.att", tmp_path / "letters.txt"
    path.write_text("0 1 go\n1 0 go\n0\n", encoding="utf-8")
    letters.write_text("stop\ngo\n", encoding="utf-8")
    automaton = automaton_from_spec(path, alphabet=str(letters))
    assert automaton.letters == ("stop", "go")
    assert_language(automaton, ("stop", "go"), lambda w: "stop" not in w and len(w) % 2 == 0)
    letters.write_text("stop\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 1: 'go' is not a letter of the alphabet"):
        automaton_from_spec(path, alphabet=str(letters))
    path.write_text("0 1 a x\n1 0 a y\n", encoding="utf-8")
    assert automaton_from_spec(path, alphabet="ab").letters == ("a", "b")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ('"transitions": [["q0", "a", "q9"]]', "next state 'q9' does not exist"),
        ('"transitions": [["q0", "a"]]', "transitions: write {state: {letter: next state}}"),
        ('"transitions": {"q0a": "q1"}', "the key 'q0a' is not one state and one letter"),
        ('"transitions": [{"from": "q0", "to": "q1"}]', "has no letter"),
        (
            '"transitions": [["q0", "a", ["q0", "q1"]]], "accept": null',
            "the accepting states: a list of names",
        ),
        ('"transitions": [["q0", "a", "q0"], ["q0", "a", "q1"]]', "which only an acceptor can have"),
    ],
)
def test_errors_in_json_under_other_keys(text: str, part: str, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(
        '{"states": ["q0", "q1"], "alphabet": ["a"], "start_state": "q0", ' + text + "}", encoding="utf-8"
    )
    with pytest.raises(InputError, match=re.escape(part)) as caught:
        automaton_from_spec(path)
    assert "\n" not in str(caught.value)


def test_a_drawing_of_mona_with_many_propositions_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.dot"
    label = " & ".join(f"p{i}" for i in range(13))
    path.write_text(
        f'digraph MONA_DFA {{ node [shape=doublecircle]; 1; init [shape=plaintext]; init -> 1; 1 -> 1 [label="{label}"]; }}',
        encoding="utf-8",
    )
    with pytest.raises(LimitError, match="13 propositions"):
        automaton_from_spec(path)
    assert automaton_from_spec(path, split="none").letters == (label,)


def test_the_table_has_twenty_further_inputs() -> None:
    sources = {case[0] for table in (PATTERNS, FILES, GAP_TEXTS, REFUSED) for case in table}
    assert len(sources) >= 50
