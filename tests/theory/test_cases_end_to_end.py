"""Every file of the case table through every level: automaton, exact LRNN, certificate, checker, rounded run."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mirrormata.cli import main
from mirrormata.constructions._construct import construct
from mirrormata.constructions._document import read_document
from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.certificates._table import lrnn_from_certificate
from mirrormata.constructions.formats.word_problem_csv import read_word_problem
from mirrormata.foundation._errors import InputError, NotRealisableError
from mirrormata.tests.constructions.tables import construct_table
from mirrormata.tests.theory.certified import CASES, case
from mirrormata.theory._check import check
from mirrormata.theory.running._run import run
from mirrormata.theory.running._stepper import ExactStepper, LRNNStepper, Stepper
from mirrormata.theory.running._words import random_words

FORMATS = ("fp64", "fp32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2")


@dataclass(frozen=True)
class Group:
    """A case that is a group automaton: states, letters, most factors, heads, dimension, integer bound."""

    states: int
    letters: int
    householders: int
    heads: int
    dim: int
    integer_bound: int


GROUPS = {
    "S3=6.csv": Group(6, 6, 2, 1, 3, 3),
    "empty.mata": Group(1, 2, 0, 1, 1, 1),
    "identity_only.txt": Group(3, 1, 0, 3, 1, 1),
    "moore.dot": Group(2, 2, 1, 1, 1, 2),
    "no_accepting.json": Group(4, 2, 2, 1, 2, 2),
    "numeric_ids.dot": Group(3, 2, 2, 1, 3, 1),
    "quoted_names.dot": Group(3, 2, 2, 1, 3, 1),
    "trailing_blank.mata": Group(2, 2, 1, 1, 1, 2),
    "trivial.txt": Group(1, 1, 0, 1, 1, 1),
}
PARTIAL_INJECTIONS = {  # factors, dimension
    "finite_language.json": (5, 5),
    "trap_name.json": (3, 3),
}
MERGING = {  # letter, and the two states that it merges
    "acceptor.att": ("'a'", "'1'", "'sink'"),
    "finite_language.json": ("'a'", "'a'", "'ab'"),
    "full_t3.txt": ("'c'", "1", "2"),
    "microbug.txt": ("'a'", "1", "3"),
    "nondeterministic.mata": ("'a'", "('r',)", "'sink'"),
    "nosingleton.txt": ("'a'", "2", "5"),
    "partial_dfa.json": ("'0'", "'1'", "'4'"),
    "smallp2hnt.txt": ("'b'", "2", "3"),
    "trap_name.json": ("'x'", "'sink'", "'sink_1'"),
}
REFUSED = ("duplicate_letter.json", "stray_names.json", "no_start.dot", "lfs_pointer.csv", "out_of_range.txt")


def test_every_case_is_tested() -> None:
    files = {path.name for path in CASES.iterdir()}
    assert files == {*GROUPS, *MERGING, *REFUSED}


def command(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        main([*arguments, "--json"])
    out = capsys.readouterr().out
    assert isinstance(end.value.code, int)
    return end.value.code, json.loads(out) if out else None


def followed(made: LRNN) -> None:
    """All words to length 5 from every state that was asked for, in exact numbers and in bf16, one token after another."""
    automaton = made.automaton
    letters = range(len(automaton.letters))
    words = np.array(list(itertools.product(letters, repeat=5 if len(letters) <= 3 else 3)))
    starts = range(len(automaton.states)) if automaton.keeps_points else [automaton.start]
    for start in starts:
        right = automaton.trace(words, start)
        steppers: list[Stepper] = [ExactStepper(made, start), LRNNStepper(made, "bf16", start)]
        for stepper in steppers:
            states = stepper.initial(len(words))
            for t in range(words.shape[1]):
                states = stepper.step(states, words[:, t])
                assert np.array_equal(stepper.decode(states, words[:, t]), right[:, t])


@pytest.mark.parametrize("name", GROUPS)
def test_group_automata(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = GROUPS[name]
    path = str(tmp_path / "c.json")
    status, facts = command(capsys, "construct", str(CASES / name), "-o", path)
    assert status == 0
    assert {key: facts[key] for key in vars(wanted)} == vars(wanted)
    assert (facts["layers"], facts["exactness"], tuple(facts["formats"])) == (1, "integer", FORMATS)
    status, verdict = command(capsys, "check", path)
    assert (status, verdict["verdict"], verdict["kind"]) == (0, "valid", "table")
    for dtype in ("bf16", "fp8_e5m2", "exact"):
        arguments = ("--random", "3", "--length", "200", "--dtype", dtype)
        status, outcome = command(capsys, "run", path, *arguments)
        assert (status, outcome["tokens"], outcome["errors"]) == (0, 600, 0)
    followed(construct(case(name)))
    followed(lrnn_from_certificate(read_document(path)))


@pytest.mark.parametrize("name", PARTIAL_INJECTIONS)
def test_partial_injections(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "c.json")
    status, facts = command(capsys, "construct", str(CASES / name), "--theorem", "own.LMI", "-o", path)
    assert (status, facts["theorem"], facts["norm"]) == (0, "own.LMI", "at most 1")
    assert (facts["householders"], facts["dim"]) == PARTIAL_INJECTIONS[name]
    status, verdict = command(capsys, "check", path)
    assert (status, verdict["verdict"]) == (0, "valid")
    status, outcome = command(capsys, "run", path, "--random", "3", "--length", "200")
    assert (status, outcome["errors"]) == (0, 0)
    built = construct(case(name), theorem="own.LMI")
    assert isinstance(built, LRNN)
    followed(built)
    followed(lrnn_from_certificate(read_document(path)))


@pytest.mark.parametrize("name", sorted(set(MERGING) - set(PARTIAL_INJECTIONS)))
def test_other_automata(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    letter, first, second = MERGING[name]
    with pytest.raises(NotRealisableError) as refusal:
        construct(case(name), theorem="G.T3")
    assert f"letter {letter} merges states {first} and {second}" in str(refusal.value)
    path = str(tmp_path / "c.json")
    assert command(capsys, "construct", str(CASES / name), "--theorem", "G.T3", "-o", path) == (2, None)
    assert not list(tmp_path.iterdir())
    status, facts = command(capsys, "construct", str(CASES / name), "-o", path)
    assert (status, facts["norm"], facts["exactness"]) == (0, "at most 1", "integer")
    assert tuple(facts["formats"]) == FORMATS
    status, verdict = command(capsys, "check", path)
    assert (status, verdict["verdict"]) == (0, "valid")
    status, outcome = command(capsys, "run", path, "--random", "3", "--length", "200")
    assert (status, outcome["errors"]) == (0, 0)
    status, facts = command(capsys, "construct", str(CASES / name), "--theorem", "G.A3", "-o", path)
    assert status == 0
    size = len(case(name).states)
    assert (facts["dim"], facts["householders"], facts["norm"]) == (size, None, "unbounded")
    assert (facts["integer_bound"], tuple(facts["formats"])) == (1, FORMATS)
    status, verdict = command(capsys, "check", path)
    assert (status, verdict["verdict"]) == (0, "valid")
    status, outcome = command(capsys, "run", path, "--random", "3", "--length", "200")
    assert (status, outcome["errors"]) == (0, 0)
    followed(construct_table(case(name), "G.A3"))
    followed(lrnn_from_certificate(read_document(path)))


@pytest.mark.parametrize("name", REFUSED)
def test_refused_input(name: str) -> None:
    with pytest.raises(InputError) as refusal:
        case(name)
    assert str(refusal.value).startswith(f"{CASES / name}: ")
    assert "\n" not in str(refusal.value)


def test_every_target_of_the_word_problem_is_reproduced() -> None:
    problem = read_word_problem(CASES / "S3=6.csv")
    assert problem.product == "right"
    made = construct(problem.automaton)
    assert made.automaton.transitions.tolist() != construct("S3").automaton.transitions.tolist()
    stepper = LRNNStepper(made, "bf16")
    for inputs, targets in zip(problem.inputs, problem.targets, strict=True):
        states = stepper.initial(1)
        for x, target in zip(inputs, targets, strict=True):
            states = stepper.step(states, np.array([x]))
            assert stepper.decode(states).tolist() == [target]
    assert sum(len(word) for word in problem.inputs) == 24
    with pytest.raises(InputError, match="neither product order of Z6"):
        automaton_from_spec(str(CASES / "S3=6.csv"), group="Z6")


def test_identity_has_no_factors() -> None:
    for name in ("identity_only.txt", "trivial.txt", "empty.mata"):
        made = construct(case(name))
        assert all(not t.factors for head in made.layers[0].heads for t in head.transitions)
    points = construct(case("identity_only.txt"))
    assert points.decode[:, 0].tolist() == [0, 1, 2]


def test_mealy_outputs_along_a_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The LRNN's code and the letter just read give the output, by the certificate's own table."""
    path = str(tmp_path / "c.json")
    assert command(capsys, "construct", str(CASES / "numeric_ids.dot"), "-o", path)[0] == 0
    certificate = read_document(path)
    made = lrnn_from_certificate(certificate)
    machine = case("numeric_ids.dot")
    place = {tuple(row[1:]): r for r, row in enumerate(certificate["decode"])}
    stepper = ExactStepper(made)
    for word in ("aaabaab", "bbbb", "abababab", "a"):
        states, seen = stepper.initial(1), []
        for x in machine.word(word):
            states = stepper.step(states, np.array([x]))
            exact = [stepper.values[h][int(number[0])] for h, number in enumerate(states)]
            code = place[tuple(made.layers[0].heads[h].codes.index(H) for h, H in enumerate(exact))]
            seen.append(certificate["labels"]["outputs"][certificate["outputs"][x][code]])
        assert seen == [machine.output(word[: t + 1]) for t in range(len(word))]
    assert seen == ["1"]
    again = made.automaton
    assert again.is_mealy
    assert again.outputs.tolist() == machine.outputs.tolist()


def test_moore_outputs_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "c.json")
    assert command(capsys, "construct", str(CASES / "moore.dot"), "-o", path)[0] == 0
    made = lrnn_from_certificate(read_document(path)).automaton
    for word in ("", "1", "11", "0101", "10110"):
        wanted = "odd" if word.count("1") % 2 else "even"
        assert made.output(word) == case("moore.dot").output(word) == wanted


def test_quoted_names_survive_the_certificate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "c.json")
    assert command(capsys, "construct", str(CASES / "quoted_names.dot"), "-o", path)[0] == 0
    assert lrnn_from_certificate(read_document(path)).automaton.states == case("quoted_names.dot").states


REGULAR = [
    ("(aa)*", "a"),
    ("(a|b|c)*", "abc"),
    ("(ab)*", "ab"),
    ("(cab|c)*", "abc"),
    ("((aa)*)b*", "ab"),
    ("()", "ab"),
]


@pytest.mark.parametrize(("pattern", "alphabet"), REGULAR)
def test_regular_expressions(pattern: str, alphabet: str) -> None:
    automaton = automaton_from_spec(f"regex:{pattern}", alphabet=alphabet)
    made = construct_table(automaton, None if automaton.is_permutation else "G.A3")
    assert check(made).verdict == "valid"
    assert run(made, random_words(made, 5, 300, 0), dtype="fp8_e5m2").errors == 0
    followed(made)
