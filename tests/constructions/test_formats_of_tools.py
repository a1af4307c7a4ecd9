"""Files that other tools write, and inputs from their documentation and public reports: read rightly, or refused by name.

The files in `tests/data/formats` were written by FAdo 2.2.0 (`saveToFile`, `dotFormat`), pyformlang 1.0.11 (`write_as_dot`), AALpy 2.0.0
(`save_automaton_to_file`), pyfoma 1.1.1 (`save_att`), networkx 2.8.8 with pydot 4.0.1 (`write_dot`) and graphviz 0.19.2 for Python
(`Digraph.save`).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.foundation._errors import InputError

FILES = Path(__file__).parents[1] / "data" / "formats"
Language = Callable[[str], bool]


def even_a(word: str) -> bool:
    return word.count("a") % 2 == 0


def a_then_b(word: str) -> bool:
    """Any word, a letter a, then letters b."""
    return re.fullmatch("[ab]*ab*", word) is not None


def words(letters: str, longest: int) -> list[str]:
    return ["".join(w) for n in range(longest + 1) for w in itertools.product(letters, repeat=n)]


def assert_language(automaton: Automaton, letters: str, language: Language) -> None:
    assert set(automaton.letters) == set(letters)
    for word in words(letters, 6):
        assert automaton.output(word) is language(word), word


ACCEPTORS: dict[str, Language] = {
    "aalpy_dfa.dot": even_a,
    "fado_dfa.dot": even_a,
    "fado_dfa.fa": even_a,
    "fado_nfa.dot": a_then_b,
    "fado_nfa.fa": a_then_b,
    "pyformlang_nfa.dot": a_then_b,
    "pyfoma_acceptor.att": lambda w: re.fullmatch("[ab]*ab?", w) is not None,
}


@pytest.mark.parametrize("name", ACCEPTORS)
def test_acceptors_of_other_tools(name: str) -> None:
    assert_language(automaton_from_spec(FILES / name), "ab", ACCEPTORS[name])


def test_machines_with_outputs_of_other_tools() -> None:
    mealy = automaton_from_spec(FILES / "aalpy_mealy.dot")
    assert [mealy.output(w.split()) for w in ("press", "press wait press", "press wait")] == [
        "click",
        "clack",
        "-",
    ]
    moore = automaton_from_spec(FILES / "aalpy_moore.dot")
    assert [moore.output(w.split()) for w in ("", "up", "up up down")] == ["low", "high", "low"]
    copied = automaton_from_spec(FILES / "pyfoma_mealy.att")
    assert [copied.output("a"), copied.output("b")] == ["x", "y"]
    assert automaton_from_spec(FILES / "networkx.dot").accepts("aa")
    assert automaton_from_spec(FILES / "graphviz.gv").accepts(["SS(B)", "SS(S)"])


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("aalpy_markov_chain.dot", "line 4: the label '0.5' is a probability"),
        ("aalpy_smm.dot", "line 4: the label 'go/ok:0.75' has a probability"),
        ("aalpy_onfsm.dot", "only acceptors may be nondeterministic"),
        ("pyfoma_weights.att", "weights are not kept"),
    ],
)
def test_other_machines_of_other_tools(name: str, part: str) -> None:
    with pytest.raises(InputError, match=re.escape(part)):
        automaton_from_spec(FILES / name)


def test_every_file_is_tested() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    assert [p.name for p in FILES.iterdir() if f'"{p.name}"' not in text] == []


def star(word: str) -> bool:
    return set(word) <= {"a"}


def in_bar_example(word: str) -> bool:
    states = {"p"}
    moves = {"p": {"a": "pr", "b": "pr", "c": "p", "d": "p"}, "r": {"a": "p", "b": "p", "c": "r"}}
    for x in word:
        states = {t for q in states for t in moves[q].get(x, "")}
    return "r" in states


START = "i [shape=point]; i -> p; r [shape=doublecircle];"
# name, file name, text, letters, language; the source stands above each
READ: list[tuple[str, str, str, str, Language]] = [
    # github.com/DES-Lab/AALpy/issues/43: labels between < and > without quotes
    ("html", "m.dot", f"digraph {{ {START} p -> r [label=<a>]; r -> p [label=<<b>a</b>>]; }}", "a", lambda w: len(w) % 2 == 1),
    # github.com/LearnLib/automatalib/issues/7: HTML-like names of states
    ("subscript", "m.dot", f"digraph {{ {START} p [label=<q<SUB>0</SUB>>]; p -> r [label=a] }}", "a", lambda w: w == "a"),
    # FiniteAutomaton drawings on the web: an edge `start` from an invisible point
    ("start", "m.dot", 'digraph { s [shape=point, style=invis]; s -> p [label="start"]; p [shape=doublecircle]; p -> p [label=a] }', "a", star),
    # Walnut draws several letters as `0, 1`, and its start as the point qi
    ("walnut", "m.gv", 'digraph G { node [shape=point]; qi; node [shape=doublecircle, label="0"]0; qi -> 0; 0 -> 0 [label="0, 1"] }', "01", lambda _: True),
    # PySimpleAutomata marks the start by an edge from `fake`
    ("fake", "m.dot", 'digraph { fake [style=invisible]; fake -> p [style=bold]; p [root=true, shape=doublecircle]; p -> p [label="a"]; }', "a", star),
    # OpenFst's fstdraw marks the start by a bold circle
    ("bold", "m.dot", 'digraph FST { rankdir = LR; 0 [label="0", shape=circle, style=bold]; 0 -> 1 [label="a"]; 1 [shape=doublecircle, style=solid]; }', "a", lambda w: w == "a"),
    ("latex", "m.dot", f'digraph {{ {START} p -> r [label="$\\varepsilon$"]; r -> r [label=a] }}', "a", star),
    ("entity", "m.dot", f'digraph {{ {START} p -> r [label=<&epsilon;>]; r -> r [label=a] }}', "a", star),
    ("bar", "m.dot", f'digraph {{ {START} p -> r [label="a | b"]; r -> p [label="a;b"]; r -> r [label=c]; p -> p [label=c]; p -> p [label=d]; p -> p [label=a]; p -> p [label=b] }}', "abcd", in_bar_example),
    # github.com/VeriFIT/mata/issues/436: the header of older versions
    ("old header", "m.mata", "@NFA\n%Alphabet a\n%Initial p\n%Final p\np a p\n", "a", star),
    ("two lists", "m.mata", "@NFA-explicit\n%Initial p\n%Initial q\n%Final q\n%Final p | r\np a r\nq a p\nr a s\n", "a", lambda w: len(w) < 3),
    # Mata's tests: final states by negation, initial states as a list
    ("negation", "m.mata", "@NFA-explicit\n%Alphabet-auto\n%Initial p q\n%Final !p & !q\np a r\nq b r\n", "ab", lambda w: w in ("a", "b")),
    ("targets", "m.mata", "@NFA-explicit\n%Initial p\n%Final true\np a (p | q)\nq b q\n", "ab", lambda w: re.fullmatch("a*b*", w) is not None and not w.startswith("b")),
    ("epsilon", "m.mata", '@NFA-explicit\n%Initial p\n%Final q\n%Epsilon eps\np eps q\nq a q\n', "a", star),
    # AutomatArk's description of Timbuk's format: constants with empty parentheses, letters without arity
    ("timbuk", "m.timbuk", "Ops a b:1\n\nAutomaton A\nStates p:0 q:0\nFinal States q\nTransitions\nx() -> p\na(p) -> q\nb(q) -> q\n", "ab", lambda w: re.fullmatch("ab*", w) is not None),
    # RABIT: no accepting state is named, so all are
    ("rabit", "m.ba", "a,[1]->[2]\nb,[2]->[1]\n", "ab", lambda w: re.fullmatch("(ab)*a?", w) is not None),
    # hfst-fst2txt: an empty column between tabs, and a final weight 0
    ("columns", "m.att", "0\t1\ta\n1\t1\t\n1\t2\t@0@\n2\t2\tb\n2\t0.000000\n", "ab", lambda w: re.fullmatch("ab*", w) is not None),
    # JFLAP 7: line ends as character references, and an empty label
    ("jflap", "m.jff", '<?xml version="1.0" encoding="UTF-8" standalone="no"?><!--Created with JFLAP 7.1.--><structure>&#13;\n<type>fa</type>&#13;<automaton>&#13;<state id="0" name="q0">&#13;<x>82.0</x>&#13;<y>90.0</y>&#13;<initial/>&#13;</state>&#13;<state id="1" name="q1"><final/></state><transition><from>0</from><to>1</to><read/></transition><transition><from>1</from><to>1</to><read>a</read></transition></automaton></structure>', "a", star),
    # JFLAP 4: states directly in the structure
    ("jflap 4", "m.jff", '<structure><type>fa</type><state id="0"><initial/><final/></state><transition><from>0</from><to>0</to><read>[ab]</read></transition></structure>'.replace("[ab]", "[a-b]"), "ab", lambda _: True),
    # FAdo: an alphabet behind $, quoted names
    ("fado", "m.fa", '# even\n@NFA "s 0" * "s 0" $ a b\n"s 0" a t\nt a "s 0"\nu\n', "ab", lambda w: "b" not in w and even_a(w)),
    ("table", "m.csv", "state;a;b\n->*p;q;p\nq;p;q\n", "ab", even_a),
    ("table sets", "m.csv", 'state,a,b,ε\n->p,"{p,q}",p,\nq,,,r\n*r,,r,-\n', "ab", a_then_b),
    ("pandas", "m.csv", ",state,start,accepting,a,b\n0,p,True,True,q,p\n1,q,False,False,p,q\n", "ab", even_a),
    ("automata-lib", "m.json", '{"states": ["p", "q"], "input_symbols": ["a", "b"], "transitions": {"p": {"a": ["p", "q"], "b": ["p"]}, "q": {"": ["q"], "b": ["q"]}}, "initial_state": "p", "final_states": ["q"]}', "ab", a_then_b),
    # LearnLib's format: `STATES LETTERS`, acceptance, next states
    ("learnlib", "m.dfa", "2 2\n1 0 \n1 0 \n0 1 \n", "01", lambda w: w.count("0") % 2 == 0),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "file", "text", "letters", "language"),
    READ,
    ids=lambda x: x if isinstance(x, str) and len(x) < 13 else "",
)
def test_shapes_from_documentation_and_reports(
    tmp_path: Path, name: str, file: str, text: str, letters: str, language: Language
) -> None:
    path = tmp_path / file
    path.write_text(text, encoding="utf-8")
    automaton = automaton_from_spec(path)
    assert set(automaton.letters) == set(letters), name
    for word in words(letters, 4):
        assert automaton.output(word) is language(word), word


REFUSED = [
    ("m.dot", f'digraph {{ {START} p -> r [label="go:0.75"]; p -> p [label="go:0.25"] }}', "Markov decision process"),
    ("m.dot", f'digraph {{ {START} p -> r [label="(,ε→X"] }}', "a pushdown automaton"),
    ("m.dot", f'digraph {{ {START} p -> r [label="a, Z; AZ"]; r -> r [label="b, A; λ"] }}', "a pushdown automaton"),
    ("m.dot", f'digraph {{ {START} p -> r [label="0 ; 1 , R"] }}', "a Turing machine"),
    ("m.dot", f'digraph {{ {START} p -> r [label="a&b"] }}', "a formula"),
    ("m.dot", f'digraph {{ {START} p -> r [label="~a"] }}', "a formula"),  # LTLf2DFA's drawings
    ("m.dot", f'digraph {{ {START} p -> r [label="x <= 5"] }}', "a guard"),
    ("m.dot", f'digraph {{ label="[Büchi]"; {START} p -> r [label="a"] }}', "an omega-automaton"),
    ("m.dot", f'digraph {{ {START} p -> r [label="else"] }}', "may stand for every other letter"),
    ("m.dot", f'digraph {{ {START} p -> r [label="*"] }}', "may stand for every other letter"),  # Walnut's true automaton
    ("m.dot", f'digraph {{ {START} p -> r [label="<dcare>"] }}', "any symbol (Mata)"),
    ("m.dot", f'digraph {{ {START} p -> r [label="[97,99]"] }}', "an interval of symbols"),
    ("m.dot", f'digraph {{ {START} p -> r [label="0-9"] }}', "Write [0-9] for the range"),
    ("m.dot", f'digraph {{ {START} p -> r [label="0|1"] }}', "`split` '|'"),
    ("m.dot", f'digraph {{ {START} p -> r [label=<v>]; r -> r [label=v] }}', "have the same text"),
    ("m.dot", 'digraph { i [shape=point]; i -> p; p -> p [label="ε"] }', "only an acceptor can have"),
    ("m.att", "0 1 @_UNKNOWN_SYMBOL_@ a\n1\n", "any other symbol"),
    ("m.att", "0 1 @P.CASE.NOM@\n1\n", "flag diacritic"),
    ("m.att", "0 1 a\n1\n--\n0 1 b\n1\n", "line 3: `--`"),
    ("m.mata", "@NFA-explicit\n%Initial p & q\np a q\n", "an alternating automaton"),
    ("m.mata", "@NFA-explicit\n%Initial p\np a (q & r)\n", "an alternating automaton"),
    ("m.mata", "@NFA-explicit\n%Initial p\np eps q\n", "Add `%Epsilon eps`"),
    ("m.mata", "@NFA-explicit\n%Initial p\np a !q\n", "joined by `|` only"),
    ("m.mata", "@NFT-explicit\n", "a transducer"),
    ("m.hoa", 'HOA: v1\nStart: 0\nAP: 1 "a"\nAcceptance: 1 Inf(0)\n--BODY--\nState: 0\n--END--\n', "an omega-automaton"),
    ("m.hoa", 'HOA: v1\nStart: 0\nAP: 1 "a"\nAcceptance: 2 Fin(0)|Inf(1)\nproperties: finite-words\n--BODY--\nState: 0\n--END--\n', "has no meaning for finite words"),
    ("m.hoa", "HOA: v1\nStart: 0&1\n", "an alternating automaton"),
    ("m.timbuk", "Ops a:2 x:0\nAutomaton A\nStates q\nFinal States q\nTransitions\na(q,q) -> q\n", "a tree automaton"),
    ("m.jff", "<structure><type>pda</type></structure>", "a pushdown automaton"),
    ("m.jff", "<structure><type>turing</type></structure>", "a Turing machine"),
    ("m.jff", '<!DOCTYPE x [<!ENTITY a "b">]><structure/>', "DOCTYPE"),
    ("m.jff", '<structure><type>fa</type><automaton><state id="0"><initial/></state><transition><from>0</from><to>0</to><read>ab</read></transition></automaton></structure>', "takes for a word"),
    ("m.fa", "@Transducer q * p\n", "a transducer"),
    ("m.json", '{"states": ["p"], "input_symbols": ["a"], "stack_symbols": ["Z"]}', "a pushdown automaton"),
    ("m.csv", "state,a,b\np,q,q\n", "'q' by 'a' has no row"),
    ("m.csv", "x,y\n1,2\n", "or `state,a,b` of a transition table"),
    ("m.dfa", "2 1\n1 0\n5\n0\n", "the next state 5"),
    ("m.ba", "[1]\nnonsense->\n", "line 2"),
    ("m.ba", "[1]\np & !q,[1]->[1]\n", "a formula over propositions"),
    ("m.csv", "state,p & q\ns,s\n", "a formula over propositions"),
    ("m.csv", "state,@P.A.B@\ns,s\n", "flag diacritic"),
    ("m.csv", "state,a\ns,0.5\n", "line 2: the next state '0.5' by 'a' has no row"),
    ("m.json", '{"states": [0, 1.5], "letters": [true], "start": 0, "transitions": {"0": {"a": 0}}}', "key 'states': Expected `str`, got `float`"),
    ("m.json", '{"states": [0, 1.5], "letters": [true], "start": 0, "transitions": {"0": {"a": 0}}}', "key 'letters': Expected `str`, got `bool`"),
    ("m.json", '{"states": [0, "0"], "letters": ["a"], "start": 0, "transitions": {"0": {"a": 0}}}', "state '0' is listed twice"),
    ("m.txt", "(1,2)(2,3)\n", "stands in two cycles"),
    ("m.txt", "[0,1]\n", "numbered from 1"),
    ("m.txt", "Transformation([2,x])\n", "is no map"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "text", "part"), REFUSED)
def test_other_machines_and_questions_are_one_line(tmp_path: Path, file: str, text: str, part: str) -> None:
    path = tmp_path / file
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        automaton_from_spec(path)
    message = str(caught.value)
    assert part in message
    assert message.startswith(str(path))
    assert "\n" not in message


def test_whole_numbers_in_json_are_names(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(
        '{"states": [0, 1], "letters": [7, "b"], "start": 1, "accepting": [0], '
        '"transitions": {"0": {"7": 1, "b": "0"}, "1": {"7": 0, "b": 1}}}'
    )
    read = automaton_from_spec(path)
    assert (read.states, read.letters, read.start) == (("0", "1"), ("7", "b"), 1)
    assert read.outputs.tolist() == [True, False]
    assert read.transitions.tolist() == [[1, 0], [0, 1]]


def test_split_answers_the_question(tmp_path: Path) -> None:
    path = tmp_path / "m.dot"
    path.write_text(f'digraph {{ {START} p -> r [label="0,1"]; r -> p [label="0,1"] }}', encoding="utf-8")
    with pytest.raises(InputError, match="`split` , for several"):
        automaton_from_spec(path)
    assert automaton_from_spec(path, split=",").letters == ("0", "1")
    assert automaton_from_spec(path, split="none").letters == ("0,1",)
    with pytest.raises(InputError, match="the one sign between the letters"):
        automaton_from_spec(path, split="comma")
    path.write_text(
        f'digraph {{ {START} p -> r [label="go:0.5"]; r -> p [label="ε"]; r -> r [label="*"] }}',
        encoding="utf-8",
    )
    assert automaton_from_spec(path, split="none").letters == ("go:0.5", "ε", "*")


def test_split_in_mealy_machines_and_jflap(tmp_path: Path) -> None:
    path = tmp_path / "m.dot"
    path.write_text(
        'digraph { i [shape=point]; i -> p; p -> p [label="a,b/1"]; p -> p [label="c/0"] }', encoding="utf-8"
    )
    assert automaton_from_spec(path, split=",").output(["b"]) == "1"
    path = tmp_path / "m.jff"
    body = "<transition><from>0</from><to>0</to><read>a,b</read></transition>"
    path.write_text(
        f'<structure><type>fa</type><automaton><state id="0"><initial/><final/></state>{body}</automaton></structure>',
        encoding="utf-8",
    )
    assert automaton_from_spec(path, split=",").letters == ("a", "b")
    assert automaton_from_spec(path, split="none").letters == ("a,b",)


def test_an_escaped_or_quoted_name_is_a_letter(tmp_path: Path) -> None:
    path = tmp_path / "m.dot"
    path.write_text(
        rf'digraph {{ {START} p -> r [label="\ε"]; r -> p [label="l\ambda"]; r -> r [label="\*"] }}',
        encoding="utf-8",
    )
    assert automaton_from_spec(path).letters == ("ε", "lambda", "*")
    path = tmp_path / "m.mata"
    path.write_text('@NFA-explicit\n%Initial p\n%Final p\np "eps" p\np "true" p\n', encoding="utf-8")
    assert automaton_from_spec(path).letters == ("eps", "true")
    path = tmp_path / "m.fa"
    path.write_text('@NFA p\np "@epsilon" p\n', encoding="utf-8")
    assert automaton_from_spec(path).letters == ("@epsilon",)


def test_bits_are_written_out_as_letters(tmp_path: Path) -> None:
    path = tmp_path / "m.mata"
    path.write_text(
        "@NFA-bits\n%Initial p\n%Final !p\np (a0 & !a1) | (!a0 & a1) q\nq true (p | q)\nq a0 q\n",
        encoding="utf-8",
    )
    automaton = automaton_from_spec(path)
    assert automaton.letters == ("00", "01", "10", "11")
    for word in itertools.product(automaton.letters, repeat=3):
        states = {"p"}
        for x in word:
            states = {t for q in states for t in ({"q"} if x in ("01", "10") else set()) if q == "p"} | (
                {"p", "q"} if "q" in states else set()
            )
        assert automaton.output(list(word)) is ("q" in states)


def test_implicit_labels_of_hoa_count_with_the_first_proposition_lowest(tmp_path: Path) -> None:
    # the HOA format 1.0, "implicit labels": the i-th edge is the valuation with the binary number i
    path = tmp_path / "m.hoa"
    path.write_text(
        'HOA: v1\nStates: 4\nStart: 0\nAP: 2 "a" "b"\nAcceptance: 1 Inf(0)\nproperties: finite-words\n--BODY--\n'
        "State: 0 0 1 2 3\nState: 1 1 1 1 1\nState: 2 {0} 2 2 2 2\nState: 3 3 3 3 3\n--END--\n",
        encoding="utf-8",
    )
    automaton = automaton_from_spec(path)
    assert [x for x in automaton.letters if automaton.output([x])] == ["01"]  # only b, the second proposition


GAP = [
    ("Transformation( [ 2, 3, 1 ] )", ("a",), [[1, 2, 0]]),
    ("[2,3,1]\n[1,1,3] # two\n", ("a", "b"), [[1, 2, 0], [0, 0, 2]]),
    ("(1,2,3)(4,5)\n(1,2)\n()\n", ("a", "b", "c"), [[1, 2, 0, 4, 3], [1, 0, 2, 3, 4], [0, 1, 2, 3, 4]]),
    ("G := Group( [ (1 2 3), (1 2) ] );", ("a", "b"), [[1, 2, 0], [1, 0, 2]]),
    ("r := (1,2,3);\ns := PermList([2,1]);", ("r", "s"), [[1, 2, 0], [1, 0, 2]]),
    ("gens := [ Transformation([2,2]),\n  (1,3) ];;", ("a", "b"), [[1, 1, 2], [2, 1, 0]]),
]


@pytest.mark.parametrize(("text", "letters", "table"), GAP)
def test_the_notations_of_gap(
    tmp_path: Path, text: str, letters: tuple[str, ...], table: list[list[int]]
) -> None:
    path = tmp_path / "m.txt"
    path.write_text(text, encoding="utf-8")
    automaton = automaton_from_spec(path)
    assert automaton.letters == letters
    assert automaton.transitions.tolist() == table
    assert automaton.keeps_points


def test_utf16_is_named(tmp_path: Path) -> None:
    path = tmp_path / "m.dot"
    path.write_text("digraph { p -> p [label=a] }", encoding="utf-16")
    with pytest.raises(InputError, match="it is UTF-16, save it as UTF-8"):
        automaton_from_spec(path)


def test_the_index_of_pandas_in_a_word_problem(tmp_path: Path) -> None:
    for header in (",seed,input,target", "Unnamed: 0,seed,input,target"):
        path = tmp_path / "V4=3.csv"
        path.write_text(f"{header}\n0,7,1 2 3,1 3 0\n", encoding="utf-8")
        assert len(automaton_from_spec(path).states) == 4


def test_a_formula_of_mata_is_decided_for_each_state_alone() -> None:
    from mirrormata.constructions.formats._formulas import holds, needs_two, parse_formula

    def parsed(text: str) -> object:
        tokens = [(x, False) for x in re.findall(r"[!&|()]|[a-z]+", text)]
        return parse_formula(tokens, "here", {"true": True, "false": False}, {})

    cases = [
        ("p | q", {"p", "q"}, False), ("!p & !q", {"r"}, False), ("!(p | q)", {"r"}, False), ("p & !q", {"p"}, False),
        ("p & q", set(), True), ("!(!p | !q)", set(), True), ("true", {"p", "q", "r"}, False), ("false", set(), False),
        ("!p | q & !r", {"q", "r"}, False), ("(p | q) & (q | r)", {"q"}, True),
    ]  # fmt: skip
    for text, states, alternating in cases:
        formula = parsed(text)
        assert {q for q in "pqr" if holds(formula, {q: True})} == states, text  # type: ignore[arg-type]
        assert needs_two(formula) is alternating, text  # type: ignore[arg-type]
