"""Malformed files of every format end in one line that names the file, never in a foreign traceback."""

import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import Track
from mirrormata.constructions.automata._format import all_formats
from mirrormata.foundation._errors import InputError, MirrormataError

CASES = Path(__file__).parents[1] / "data" / "cases"
TOOLS = CASES.parent / "formats"
EXAMPLES = {
    f.example_file or f"example{f.extensions[0]}": f.example.encode() for f in all_formats() if f.extensions
}
CONTENTS = {p.name: p.read_bytes() for folder in (CASES, TOOLS) for p in sorted(folder.iterdir())} | EXAMPLES
NAMES = list(CONTENTS)
PIECES = [b"", b"\0", b"\xff\xfe", b'"', b"\\", b"{", b"}", b"[", b"]", b"<", b"->", b"--", b"//", b"/*", b"#", b"%",
          b"@", b",", b":", b"=", b";", b"\n", b"\t", b" ", b"9" * 5000, b"1e999", b"NaN", b"-1", b"null", b"[" * 2000,
          b"{" * 300, b"\\ud800", b"\xe2\x80\xa8", b"\xd9\xa1", "é".encode(), b"label=", b"subgraph", b"%Epsilon a",
          b"inf", b"true", b"(", b")", b"&", b"|", b"!", b"\xce\xb5", b"<!DOCTYPE", b"&#0;", b"</state>", b"->", b"state", b"\r"]  # fmt: skip


def refusal_of(spec: str, **options: Any) -> str | None:
    """The message of our error, or None; any other exception passes."""
    try:
        automaton_from_spec(spec, **options)
    except MirrormataError as error:
        return str(error)
    return None


@st.composite
def mutated(draw: st.DrawFn) -> tuple[str, bytes]:
    """A case file with a few pieces cut, doubled, swapped for another file's, or inserted."""
    name = draw(st.sampled_from(NAMES))
    data = CONTENTS[name]
    for _ in range(draw(st.integers(1, 3))):
        first = draw(st.integers(0, len(data)))
        last = draw(st.integers(first, min(len(data), first + 30)))
        piece = draw(st.one_of(st.sampled_from(PIECES), st.binary(max_size=6), st.just(data[first:last] * 2)))
        data = data[:first] + piece + data[last:]
    return name, data[: draw(st.integers(0, len(data)))] if draw(st.booleans()) else data


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(mutated(), st.sampled_from([None, "state", "output"]))
def test_mutated_files_raise_nothing_but_our_errors(
    tmp_path: Path, case: tuple[str, bytes], track: Track | None
) -> None:
    name, data = case
    path = tmp_path / name
    path.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        message = refusal_of(str(path), track=track)
    if message is not None:
        assert message.startswith(str(path))
        assert "\n" not in message


@settings(max_examples=250, deadline=None)
@given(
    st.text("ab01(){}[]|*+?.,-^$\\& édwsPi:=!<>#xuNA", max_size=14),
    st.sampled_from([None, "ab", "01ab", "a", ",", ""]),
)
def test_patterns_raise_nothing_but_our_errors(pattern: str, alphabet: Any) -> None:
    assert "\n" not in (refusal_of(f"regex:{pattern}", alphabet=alphabet, max_states=2000) or "")


@pytest.mark.parametrize(
    "extension",
    ["json", "dot", "mata", "att", "csv", "txt", "jff", "fa", "hoa", "timbuk", "ba", "dfa", "tsv"],
)
@pytest.mark.parametrize("data", [b"", b"\0\1\2", b"\xff\xfe\x00", b"   \n\n", b"\x89PNG\r\n\x1a\n"])
def test_empty_and_binary_files(tmp_path: Path, extension: str, data: bytes) -> None:
    path = tmp_path / f"S3=1.{extension}"
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        automaton_from_spec(str(path))
    assert str(caught.value).startswith(str(path))


BAD_JSON = [
    ('{"states": ["p"], "letters": ["a"], "start": "p", "transitions": {"p": {"a": "p"}, "p": {}}}', ["'p'", "twice"]),
    ('{"states": ["p"], "letters": ["a"], "start": "p", "transitions": {"p": {"a": "p", "a": "p"}}}', ["'a'", "twice"]),
    ('{"states": ["p", 1.5], "letters": "ab", "start": null}', ["'states'", "'letters'", "'start'", "'transitions'"]),
    ('{"states": ["p"], "letters": ["a"], "start": "p", "acepting": [], "transitions": {}}', ["'acepting'", "accepting"]),
    ('{"states": ["p"], "letters": ["a"], "start": "p", "format": "x/2", "transitions": {}}', ["'x/2'"]),
    ('{"states": ["p"], "letters": ["a"], "start": "p", "outputs": {"q": 1}, "transitions": {"p": {"b": "p"}}}',
     ["no output for state 'p'", "'q'", "'b'"]),
    ('{"states": ["p"], "letters": ["a"], "start": "p", "mealy": {"q": {"a": 1}}, "transitions": {"p": {"a": "p"}}}',
     ["state 'p', letter 'a'", "state 'q', letter 'a'"]),
    ('{"states": ["p"], "letters": ["a"], "start": "p", "outputs": {"p": [1]}, "transitions": {}}', ["'outputs'"]),
    ('{"states": ["p"], "letters": ["a"], "start": "p", "outputs": {"p": NaN}, "transitions": {}}', ["NaN"]),
    ('{"states": ["p"], "letters": ["a"], "start": "p", "outputs": {"p": 1e999}, "transitions": {}}', ["1e999"]),
    ('{"states": ["\\ud800"], "letters": [], "start": "\\ud800", "transitions": {}}', ["surrogate"]),
    ('{"states": ["p"],\n "letters": [', ["line 2", "not JSON"]),
    ("[1]", ["object"]),
    ("[" * 100_000, ["nested"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "parts"), BAD_JSON)
def test_json_reports_everything_at_once(tmp_path: Path, text: str, parts: list[str]) -> None:
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        automaton_from_spec(str(path))
    assert all(part in str(caught.value) for part in parts), str(caught.value)


BAD_TEXT = [
    ("a.txt", "1 2\n2 1 3\n", ["line 2", "3 images"]),
    ("a.txt", "1 2\nx 1\n0 1\n", ["line 2", "'x'", "line 3", "image 0"]),
    ("a.txt", "1 2\n99999999999999999999999999 1\n", ["line 2"]),
    ("a.mata", "%Initial p\n", ["line 1", "@NFA-explicit"]),
    ("a.mata", "@AFA-bits\n", ["line 1", "@AFA-bits", "alternating"]),
    ("a.mata", "@NFA-bits\n%Initial q\n", ["no transition names a bit"]),
    ("a.mata", "@NFA-bits\nq a0 &\nq (a0 r\n", ["line 2"]),
    ("a.mata", "@NFA-explicit\np a\nq b c d\n", ["line 2", "line 3"]),
    ("a.mata", "@NFA-explicit\n%Alphabet-enum a\np b p\n", ["line 3", "'b'"]),
    ("a.mata", '@NFA-explicit\n"p a q\n', ["line 2"]),
    ("a.mata", "@NFA-explicit\np a q\n@NFA-explicit\n", ["line 3", "second"]),
    ("a.att", "0 1 a 0.5 0.5\n", ["line 1", "0.5"]),
    ("a.att", "0 1 a\n1 0 a b\n", ["line 1", "line 2"]),
    ("a.att", "0 1 a x\n0 0 a y\n", ["lines 1 and 2", "'a'"]),
    ("a.att", "0 1 <eps> y\n", ["line 1", "empty input"]),
    ("a.att", "0 1 a\n1 0.7\n", ["line 2", "0.7"]),
    ("S3=2.csv", "seed,target\n", ["line 1", "header"]),
    ("S3=2.csv", "seed,input,target\n0,1 6,1 1\n1,1,1 1\n2,1 x,1 2\n", ["line 2", "line 3", "line 4", "'x'"]),
    ("S3=2.csv", "seed,input,target\n", ["no rows"]),
    ("nogroup=2.csv", "seed,input,target\n0,1,1\n", ["nogroup"]),
    ("a.dot", "graph g { a -- b }", ["line 1", "digraph"]),
    ("a.dot", "digraph g {\n a -> b\n", ["line 3", "'}'"]),
    ("a.dot", 'digraph g {\n a -> b [label="x]\n}', ["line 2", "quote"]),
    ("a.dot", "digraph g {\n s -> s [label=a];\n s -> t;\n}", ["line 3", "no letter"]),
    ("a.dot", 'digraph { i [shape=point]; i -> s;\n s -> s [label="a/1"];\n s -> s [label=b]; }', ["line 3", "'b'"]),
    ("a.dot", 'digraph { i [shape=point]; i -> s;\n s -> s [label="a/1"];\n s -> t [label="a/1"]; }',
     ["lines 2 and 3", "'a'"]),
    ("a.dot", 'digraph { i [shape=point]; i -> s;\n s -> s [label="a,b"]; }', ["line 2", "'a,b'"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "parts"), BAD_TEXT)
def test_errors_name_the_place(tmp_path: Path, name: str, text: str, parts: list[str]) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        automaton_from_spec(str(path))
    assert all(part in str(caught.value) for part in parts), str(caught.value)
