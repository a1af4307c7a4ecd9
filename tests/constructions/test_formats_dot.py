"""The DOT dialects: Automata-Wiki, AALpy, LearnLib, hand-written graphviz."""

import pytest

from mirrormata.constructions.formats._dot_labels import characters, escape_label, plain, split_label
from mirrormata.constructions.formats._dot_language import parse_dot_graph
from mirrormata.constructions.formats.dot import parse_dot
from mirrormata.foundation._errors import InputError

AALPY_MEALY = """digraph "model" {
s0 [label=s0];
s1 [label=s1];
s0 -> s1  [label="coin / ok"];
s0 -> s0  [label="button/nothing"];
s1 -> s1  [label="coin/ok"];
s1 -> s0  [label="button/coffee, tea"];
__start0 [label="", shape=none];
__start0 -> s0  [label=""];
}"""

LEARNLIB = """digraph g {

\ts0 [shape="doublecircle" label="0"];
\ts1 [shape="circle" label="1"];
\ts0 -> s1 [label="a"];
\ts1 -> s0 [label="a"];

__start0 [label="" shape="none" width="0" height="0"];
__start0 -> s0;

}"""

HAND_WRITTEN = r"""
// two line comments and a block /* comment */
# preprocessor line
strict DiGraph {
  rankdir=LR; size="8,5"
  graph [fontsize=10, label="a title"]
  node [shape = doublecircle]; even;
  node [shape = circle];
  "" [shape=none]
  "" -> even
  even -> odd -> even [label = "1"] ;
  odd -> odd [label="0"]; even:n -> even:sw [label="0" color=red];
}
"""


def test_aalpy_mealy() -> None:
    automaton = parse_dot(AALPY_MEALY, "m.dot")
    assert automaton.letters == ("coin", "button")
    assert automaton.output(["coin", "button"]) == "coffee, tea"
    assert automaton.output(["coin"]) == "ok"


def test_learnlib_acceptor() -> None:
    automaton = parse_dot(LEARNLIB, "m.dot")
    assert automaton.states == ("s0", "s1")
    assert automaton.outputs.tolist() == [True, False]


def test_hand_written_parity() -> None:
    automaton = parse_dot(HAND_WRITTEN, "m.dot")
    assert automaton.states == ("even", "odd")
    assert automaton.letters == ("1", "0")
    assert automaton.output("1101") is False
    assert automaton.output("11011") is True


@pytest.mark.parametrize(
    "edges",
    [
        r'p -> q [label="a\nb"]; q -> p [label="a\nb"];',
        'p -> q [label="a\nb"]; q -> p [label="a"]; q -> p [label="b"];',
        'p -> q [label="a, b"]; q -> p [label="a"]; q -> p [label="b"];',
        'p -> q [label=a]; p -> q [label=b]; q -> p [label="b,a"];',
        r'p -> q [label="a\lb\l"]; q -> p [label=a]; q -> p [label=b];',
        "{p} -> {q} [label=a]; edge [label=b]; p -> q -> p; q -> p [label=a];",
        'subgraph cluster_0 { p; q [shape=doublecircle] } p -> q [label="a" + "\\nb"]; q -> p [label=a]; q -> p [label=b]',
    ],
)
def test_several_letters_on_one_edge(edges: str) -> None:
    automaton = parse_dot(f"digraph {{ q [shape=doublecircle]; start -> p; {edges} }}", "m.dot")
    assert set(automaton.letters) == {"a", "b"}
    assert set(automaton.states) == {"p", "q"}
    assert all(automaton.output(w) is bool(len(w) % 2) for w in ("", "a", "b", "ab", "bba"))


def test_commas_that_are_one_letter() -> None:
    moves = 'p -> p [label="e2,e4"]; p -> p [label="(0, 1)"];'
    assert parse_dot(f"digraph {{ {moves} }}", "m.dot").letters == ("e2,e4", "(0, 1)")
    assert parse_dot(r'digraph { p -> p [label="a\,b"]; p -> p [label=a]; }', "m.dot").letters == ("a,b", "a")


def test_moore_needs_every_output() -> None:
    text = 'digraph { i [style=invis]; i -> p; p [shape=record, label="p|1"]; q [shape=record, label="q"]; p -> q [label=a]; }'
    with pytest.raises(InputError, match="'q'"):
        parse_dot(text, "m.dot")


def test_acceptors_may_be_nondeterministic_and_mealy_machines_not() -> None:
    text = "digraph { __start0 -> p; __start1 -> q; q [shape=doublecircle]; p -> q [label=a]; p -> p [label=a]; }"
    automaton = parse_dot(text, "m.dot")
    assert any("determinised" in note for note in automaton.notes)
    assert [automaton.output("a" * n) for n in range(3)] == [True, True, True]
    with pytest.raises(InputError, match="several start states"):
        parse_dot(text.replace("[shape=doublecircle]", ""), "m.dot")


def test_start_option_overrides_the_marker() -> None:
    assert parse_dot(LEARNLIB, "m.dot", start="s1").output("a") is True
    with pytest.raises(InputError, match="'s9'"):
        parse_dot(LEARNLIB, "m.dot", start="s9")


def test_unmarked_states_are_their_own_outputs() -> None:
    automaton = parse_dot(LEARNLIB.replace("doublecircle", "circle"), "m.dot")
    assert automaton.output("a") == "s1"
    assert any("no state is marked" in note for note in automaton.notes)


def test_names_keep_backslashes_and_escaped_quotes() -> None:
    graph = parse_dot_graph(r'digraph { "a\nb"; "say \"hi\""; "x\\"; -2.5; .5; é }', "m.dot")
    assert list(graph.nodes) == [r"a\nb", 'say "hi"', r"x\\", "-2.5", ".5", "é"]


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(InputError, match="deep"):
        parse_dot_graph("digraph {" + "{" * 5000, "m.dot")


def test_labels_split_at_unescaped_signs_only() -> None:
    assert [plain(p) for p in split_label(characters(r" a\,b , c\\ ,\ d"), ",")] == ["a,b", "c\\", " d"]
    for text in (" a,b/\\c ", "", "\\", "a  b"):
        (piece,) = split_label(characters(escape_label(text, ",/")), ",")
        assert plain(piece) == text


def test_outputs_may_hold_what_looks_like_a_formula() -> None:
    """As the models of TLS servers do: `ServerHello & Certificate` is what a server answers, and no letter."""
    text = 'digraph {\n s [label="s"]\n t [label="t"]\n __start0 [shape=none, label=""]\n __start0 -> s\n'
    both = text + ' s -> t [label="Hello/Hello & Done"]\n t -> s [label="Hello/Alert & Closed"]\n}'
    automaton = parse_dot(both, "server.dot")
    assert automaton.run(("Hello",)) != automaton.run(("Hello", "Hello"))
    with pytest.raises(InputError, match="formula over propositions"):
        parse_dot(text + ' s -> t [label="p & q"]\n t -> s [label="p & q"]\n}', "spot.dot")


def test_a_letter_at_the_arrow_into_the_start_is_left_out() -> None:
    text = 'digraph { __start0 [shape=none, label=""]; __start0 -> s [label="a"]; s -> t [label="a"]; t [shape=doublecircle]; t -> t [label="a"] }'
    automaton = parse_dot(text, "labelled.dot")
    assert automaton.states[automaton.start] == "s"
    assert any("arrow into the start state 's'" in note for note in automaton.notes)
