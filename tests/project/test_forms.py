"""Each public function takes every form of what it wants, and answers a wrong type with one line that names the argument."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from automata.fa.dfa import DFA
from sympy.combinatorics import Permutation, PermutationGroup

import mirrormata as m
from mirrormata.constructions import BlockDelay
from mirrormata.models import Chart, Sampling, Series, from_construction, learned_from_lrnn
from mirrormata.theory import (
    Drawing,
    LRNNStepper,
    export_npz,
    load_claims,
    load_npz_model,
    model_spectrum,
    random_stream,
)

Table = dict[str, dict[str, str]]
PARITY: Table = {"even": {"0": "even", "1": "odd"}, "odd": {"0": "odd", "1": "even"}}
AUTOMATA = ("spec", "automaton", "file", "path", "dict", "dfa", "graph", "group", "realisation")
MODELS = ("realisation", "delay", "certificate", "certificate file", "certificate path")
PROVED = (*MODELS, "npz", "npz file", "stepper", "model", "learned")
DRAWN = (
    *(form for form in MODELS if form != "delay"),
    *AUTOMATA,
    "npz",
    "npz file",
    "spectrum",
    "claims",
    "chart",
)


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The automaton of parity, and a model of it, in every form; the delay is of S3."""
    place = tmp_path_factory.mktemp("forms")
    automaton = m.automaton_from_spec("parity")
    lrnn = m.construct(automaton)
    certificate = m.full_certificate(lrnn)
    m.write_certificate(certificate, place / "parity.json")
    export_npz(lrnn, place / "parity.npz")
    automaton.save(place / "parity.dot")
    graph: Any = nx.MultiDiGraph(start="even")
    graph.add_edges_from((q, r, {"letter": x}) for q, row in PARITY.items() for x, r in row.items())
    dfa = DFA(
        states=set(PARITY),
        input_symbols={"0", "1"},
        transitions=PARITY,
        initial_state="even",
        final_states={"odd"},
    )
    return {
        "spec": "parity", "automaton": automaton, "file": str(place / "parity.dot"), "path": place / "parity.dot",
        "dict": PARITY, "dfa": dfa, "graph": graph, "group": PermutationGroup(Permutation([1, 0])), "realisation": lrnn,
        "delay": m.construct("S3", theorem="DP.T1", max_householders=1), "certificate": certificate,
        "certificate file": str(place / "parity.json"), "certificate path": place / "parity.json",
        "npz": load_npz_model(place / "parity.npz"), "npz file": place / "parity.npz", "stepper": LRNNStepper(lrnn, "bf16"),
        "model": from_construction(lrnn), "learned": learned_from_lrnn(lrnn), "spectrum": model_spectrum(lrnn),
        "claims": load_claims(), "chart": Chart("c", "C", "c", "x", "y", [Series("s", (0.0, 1.0), (1.0, 0.0))], "here"),
    }  # fmt: skip


@pytest.mark.parametrize("form", AUTOMATA)
@pytest.mark.parametrize(
    "use",
    [
        lambda x: m.construct(x).automaton,
        lambda x: m.plan(x).automaton,
        lambda x: m.inspect_automaton(x).states,
        lambda x: m.random_words(x, 2, 3, 0).shape == (2, 3),
        lambda x: random_stream(x, 2, 3, 0).length,
        lambda x: m.prove(m.construct(x), x).verdict == "equivalent",
        lambda x: m.check(m.construct(x), x).verdict == "valid",
        lambda x: m.compare(m.construct(x), x, sampling=Sampling(words=8, length=16, fit=8), extract=()),
    ],
    ids=[
        "construct",
        "plan",
        "inspect_automaton",
        "random_words",
        "random_stream",
        "prove",
        "check",
        "compare",
    ],
)
def test_every_form_of_an_automaton(use: Callable[[Any], Any], form: str, forms: dict[str, Any]) -> None:
    assert use(forms[form])


@pytest.mark.parametrize("form", MODELS)
def test_every_form_of_a_realisation_is_run_and_checked(form: str, forms: dict[str, Any]) -> None:
    model = forms[form]
    delay = isinstance(model, BlockDelay)
    automaton = model.automaton if delay else forms["automaton"]
    assert m.run(model, m.random_words(automaton, 3, 20, 0)).errors == 0
    assert m.check(model, automaton).verdict == "valid"


@pytest.mark.parametrize("form", PROVED)
def test_every_form_of_a_model_is_proved(form: str, forms: dict[str, Any]) -> None:
    automaton = forms[form].automaton if form == "delay" else forms["automaton"]
    assert m.prove(forms[form], automaton).verdict == "equivalent"


@pytest.mark.parametrize("form", DRAWN)
def test_every_form_is_drawn(form: str, forms: dict[str, Any], tmp_path: Path) -> None:
    drawing = m.plot(forms[form])
    assert isinstance(drawing, Drawing)
    assert drawing._repr_svg_().startswith("<?xml")
    assert len(repr(drawing)) < 30
    m.plot(forms[form], tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == drawing.svg
    m.plot(forms[form], str(tmp_path / "a.png"))
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_the_picture_of_the_claims_is_the_same_each_time(forms: dict[str, Any]) -> None:
    """The layout's own nodes once had the numbers of claims, which then stood now here, now there."""
    assert len({m.plot(forms["claims"]).svg for _ in range(5)}) == 1


def test_pictures_of_a_comparison_and_of_a_run(forms: dict[str, Any]) -> None:
    found = m.compare(forms["realisation"], sampling=Sampling(words=8, length=16, fit=8), extract=())
    assert "Eigenvalues on the unit disc" in m.plot(found).svg
    assert "imaginary part" in m.plot(found, max_letters=1).svg
    five = m.construct("mod:5")
    run = m.plot(five, words="1101", dtype="fp16")
    assert "fp16" in run.svg
    assert run.svg == m.plot(m.full_certificate(five), words=["1101"], dtype="float16").svg


WORDS: dict[str, Any] = {
    "array": np.array([[1, 1, 0], [0, 1, 0]]), "one array": np.array([1, 1, 0]), "lists": [[1, 1, 0], [0, 1, 0]],
    "string": "1 1 0", "letters": ["1", "1", "0"], "strings": ["110", "010"], "lists of letters": [["1", "1", "0"]],
    "tuple": ("1", "0"),
}  # fmt: skip


@pytest.mark.parametrize("form", WORDS)
def test_every_form_of_words(form: str, forms: dict[str, Any]) -> None:
    door = m.construct(forms["dict"])  # its letters are the texts 0 and 1
    words = WORDS[form].replace(" ", "") if isinstance(WORDS[form], str) else WORDS[form]
    report = m.run(door, words, dtype="exact")
    assert report.errors == 0
    assert report.tokens in (2, 3, 6)


def test_letters_that_are_tuples_or_have_several_characters() -> None:
    lrnn = m.construct("S3")
    a, b = (0, 1, 2), (1, 0, 2)
    assert m.run(lrnn, [a, b, b]).tokens == 3  # letters, not indices
    assert m.run(lrnn, [[0, 1, 2], [1, 0, 2]]).tokens == 6  # indices
    assert m.run(lrnn, [[a, b], [b, b]]).sequences == 2
    assert m.run(lrnn, "(1, 0, 2) (0, 1, 2)").tokens == 2
    lift = m.construct("gridworld:3")
    assert m.run(lift, "left right left").tokens == m.run(lift, ["left", "right", "left"]).tokens == 3
    assert m.run(lift, ["left right", "right right"]).sequences == 2


WRONG: dict[str, tuple[Callable[[Any], Any], str]] = {
    "construct": (m.construct, "`automaton` 3"),
    "plan": (m.plan, "`automaton` 3"),
    "inspect_automaton": (m.inspect_automaton, "`automaton` 3"),
    "random_words": (lambda x: m.random_words(x, 1, 1, 0), "`source` 3"),
    "run": (lambda x: m.run(x, "1"), "`model` is of the type int: give a construction"),
    "words": (lambda x: m.run(m.construct("parity"), x), "`words`: a int"),
    "check": (m.check, "`certificate` is of the type int: give a certificate"),
    "check an automaton": (lambda x: m.check(m.construct("parity"), x), "`automaton` 3"),
    "prove": (lambda x: m.prove(x, "parity"), "`model` is of the type int: give a model folder"),
    "prove an automaton": (lambda x: m.prove(m.construct("parity"), x), "`automaton` 3"),
    "compare": (m.compare, "`learned` is of the type int: give a model folder"),
    "full_certificate": (m.full_certificate, "`found` is of the type int: give what `construct` returns"),
    "write_certificate": (
        lambda x: m.write_certificate(x, "a.json"),
        "`document` is of the type int: give a cert",
    ),
    "train": (lambda x: m.train(x, "folder"), "`experiment` is of the type int: give what `read_experiment`"),
    "plot": (m.plot, "`x` 3 is of the type int and has no picture; what is drawn is a SPEC"),
}
"""A use of each public function, which is given the number 3."""


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_type_is_one_line(name: str) -> None:
    use, message = WRONG[name]
    with pytest.raises(m.InputError) as refusal:
        use(3)
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_every_public_function_is_here() -> None:
    types = {name for name in m.__all__ if isinstance(getattr(m, name), type)}
    assert set(m.__all__) - types - {"automaton_from_spec"} <= {name.split()[0] for name in WRONG}


def test_more_refusals(forms: dict[str, Any], tmp_path: Path) -> None:
    lrnn = forms["realisation"]
    for use, message in (
        (lambda: m.run(forms["automaton"], "1"), "`construct` makes a construction"),
        (lambda: m.run({"kind": "table"}, "1"), '`model` is no certificate (its "format" must be'),
        (lambda: m.run("parity", "1"), "no such file"),
        (lambda: m.run(lrnn, [[0], [0, 1]]), "`words`: lists of different lengths"),
        (lambda: m.run(m.construct(PARITY), ["1", "10"]), "`words`: word 1 has 2 letters, word 0 has 1"),
        (lambda: m.run(m.construct(PARITY), "12"), "is not a letter"),
        (lambda: m.run(lrnn, [[7]]), "token 1: 7 is not a letter index"),
        (lambda: m.prove(forms["learned"], "parity", answers=object()), "`answers` is of a Stepper"),  # type: ignore[arg-type]
        (lambda: m.plot(m.run(lrnn, [[0]])), "give plot(model, words=..., dtype=...)"),
        (lambda: m.plot(lrnn, width=3), "`width` is no option of this picture; it has max_letters"),
        (lambda: m.plot(lrnn, tmp_path / "a.pdf"), "pictures are written as .svg or .png"),
        (lambda: m.plot(forms["delay"]), "its layers are not drawn"),
        (
            lambda: m.plot(forms["delay"], words=[[0]]),
            "no margin is followed of a block delay: leave `words` out",
        ),
    ):
        with pytest.raises(m.InputError) as refusal:
            use()
        assert message in str(refusal.value)
        assert "\n" not in str(refusal.value)
    assert not (tmp_path / "a.pdf").exists()


def test_tensors_are_loaded_only_where_a_model_needs_them(tmp_path: Path) -> None:
    program = """
import sys
from mirrormata import check, construct, full_certificate, plot, prove, run, write_certificate
found = construct("S3")
write_certificate(full_certificate(found), "c.json")
assert run("c.json", [[0]]).errors == 0 and check("c.json", "S3").verdict == "valid"
assert prove("c.json", "S3").verdict == prove(found, found).verdict == "equivalent"
assert plot("c.json").svg
assert "torch" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
