"""Nothing in a file is left out in silence: what a reader does not use is noted, or the file is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.foundation._errors import InputError

DOT = "digraph {{ s[shape=point]; s -> a; {} b[peripheries=2] }}"
REFUSED = [
    ("two.csv", "state,output,accepting,a\np,u,1,q\nq,v,0,p\n", "line 1: the columns 'accepting' and 'output' say two things"),
    ("same.csv", "state,final,accepting,a\np,1,1,q\nq,0,0,p\n", "line 1: the columns 'final' and 'accepting' say the same"),
    ("both.csv", "state,output,a\np,u,q/1\nq,v,p/0\n", "have the outputs of a Mealy machine"),
    ("mark.csv", "state,output,a\n->*p,u,q\nq,v,p\n", r"the row of '\*p' has a mark"),
    ("strict.dot", "strict " + DOT.format("a -> b[label=x]; a -> b[label=y]; b -> b[label=x];"), "a strict graph keeps one edge"),
    ("back.dot", DOT.format("a -> b[label=x dir=back]; b -> a[label=x];"), "has dir=back"),
    ("negated.dot", DOT.format('a -> b[label="[^a-c]"]; b -> a[label="[a-c]"];'), r"does '\[\^a-c\]' stand for all other letters"),
    ("maps.txt", "a := (1,2);\na := (1,3);\n", "line 2: a has a map already"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "said"), REFUSED, ids=[name for name, _, _ in REFUSED])
def test_what_says_two_things_is_refused(name: str, text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        automaton_from_spec(str(path))


def keyed(tmp_path: Path, first: dict[str, Any], **more: Any) -> str:
    """A file of two states that swap, with more keys in the first transition and at the top."""
    back = {"from": "b", "to": "a", "symbol": "x"}
    data = {
        "states": ["a", "b"], "alphabet": ["x"], "start": "a", "final": ["b"],
        "transitions": [{"from": "a", "to": "b", "symbol": "x", **first}, back],
    }  # fmt: skip
    path = tmp_path / "machine.json"
    path.write_text(json.dumps({**data, **more}))
    return str(path)


@pytest.mark.parametrize("key", ["guard", "condition", "clockConstraint", "assignment", "weight"])
def test_transitions_that_depend_on_variables_are_refused(key: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"'{key}' belongs to no finite automaton"):
        automaton_from_spec(keyed(tmp_path, {key: "n > 3"}))


def test_keys_of_json_are_read_or_noted(tmp_path: Path) -> None:
    notes = automaton_from_spec(keyed(tmp_path, {"colour": "red"})).notes
    assert "what stands under 'colour' of the transitions is not read" in notes
    with pytest.raises(InputError, match="'b' by 'x' has no output, and others have"):
        automaton_from_spec(keyed(tmp_path, {"output": "1"}))
    with pytest.raises(InputError, match="states have outputs and are accepting"):
        automaton_from_spec(keyed(tmp_path, {}, outputs={"a": "1", "b": "0"}))
    moore = automaton_from_spec(keyed(tmp_path, {}, outputs={"a": "1", "b": "0"}, final=[]))
    assert [moore.output(["x"] * n) for n in range(3)] == ["1", "0", "1"]
    notes = automaton_from_spec(keyed(tmp_path, {}, outputs=["0", "1"])).notes
    assert "the outputs are no object {state: output} and are not read" in notes


def test_triples_whose_order_only_the_reader_decides_are_noted(tmp_path: Path) -> None:
    path = tmp_path / "triples.json"
    names = ["a", "b"]
    rows = [["a", "b", "a"], ["b", "a", "b"], ["a", "a", "b"], ["b", "b", "a"]]
    path.write_text(
        json.dumps({"states": names, "alphabet": names, "start": "a", "final": ["b"], "transitions": rows})
    )
    assert any("read as state, letter, next state" in note for note in automaton_from_spec(str(path)).notes)


def test_constants_of_timbuk_are_noted(tmp_path: Path) -> None:
    path = tmp_path / "two.timbuk"
    path.write_text(
        "Ops a:1 x:0 y:0\nAutomaton A\nStates q0 q1\nFinal States q1\nTransitions\nx -> q0\ny -> q1\na(q0) -> q1\na(q1) -> q0\n"
    )
    notes = automaton_from_spec(str(path)).notes
    assert "words begin at any of the constants 'x', 'y', which are not told apart" in notes
