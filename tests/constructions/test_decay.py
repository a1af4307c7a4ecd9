"""own.decay: the numbers that are reached, the formats, runs and proofs in them, certificates and their corruption, refusals."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mirrormata
from mirrormata.constructions._construct import Request, construct
from mirrormata.constructions._realisation import realisation_from_certificate
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.decays._decay import PRECISIONS, DecayRNN
from mirrormata.foundation._errors import InputError, NotRealisableError
from mirrormata.tests.constructions.random_automata import random_words
from mirrormata.tests.theory.corruption import corrupted, leaves, replaced, structural, value_at
from mirrormata.theory._check import check
from mirrormata.theory.arithmetic._rounding import round_fraction
from mirrormata.theory.base._decays import cases
from mirrormata.theory.planning._plan import plan, print_plan
from mirrormata.theory.proofs._prove import prove
from mirrormata.theory.running._decay import DecayStepper
from mirrormata.theory.running._run import run


def last_letters(alphabet: str, m: int) -> Automaton:
    words = ["".join(w) for w in product(alphabet, repeat=m)]
    rows = {w: {a: (w + a)[-m:] for a in alphabet} for w in words}
    return Automaton.from_transitions(rows, start=words[-1], name=f"last {m} of {alphabet}")


def made(automaton: Automaton) -> DecayRNN:
    found = construct(automaton, theorem="own.decay")
    assert isinstance(found, DecayRNN)
    return found


def reach(
    automaton: Automaton, digits: list[int], base: int, dtype: str, most: int
) -> dict[Fraction, set[int]] | None:
    """All numbers and the states that they occur with, with the library's rounding of exact fractions."""
    found: dict[Fraction, set[int]] = {}
    todo = [(Fraction(0), automaton.start)]
    while todo:
        h, q = todo.pop()
        if q in found.setdefault(h, set()):
            continue
        found[h].add(q)
        if len(found) > most:
            return None
        for x, d in enumerate(digits):
            after = Fraction(round_fraction(h / base + d, dtype))
            todo.append((after, int(automaton.transitions[x, q])))
    return found


@pytest.mark.parametrize(
    ("alphabet", "m", "base", "digits"),
    [
        ("ab", 1, 4, [-1, 1]), ("ab", 2, 4, [-1, 1]), ("ab", 4, 4, [-1, 1]), ("ab", 5, 4, [-1, 1]), ("ab", 7, 4, [-1, 1]),
        ("abc", 2, 8, [-3, -1, 1]), ("abc", 4, 8, [-3, -1, 1]), ("abcd", 3, 8, [-3, -1, 1, 3]), ("abcdefg", 2, 16, [-7, -5, -3, -1, 1, 3, 5]),
    ],
)  # fmt: skip
def test_the_numbers_are_those_of_exact_fractions(
    alphabet: str, m: int, base: int, digits: list[int]
) -> None:
    automaton = last_letters(alphabet, m)
    form = made(automaton)
    assert (form.base, list(form.digits)) == (base, digits)
    for dtype in ("fp16", "bf16", "fp8_e4m3", "fp8_e5m2"):
        mine = form.reach(dtype)
        found = reach(automaton, digits, base, dtype, 50_000)
        if max(map(abs, digits)) >= 2 ** PRECISIONS[dtype]:
            assert mine is None
            continue
        assert found is not None
        single = all(len(states) == 1 for states in found.values())
        assert (dtype in form.formats) == single == (mine is not None)
        if mine is not None:
            assert mine == {h: next(iter(states)) for h, states in found.items()}


@pytest.mark.parametrize(("m", "formats"), [(1, 5), (2, 5), (3, 3), (4, 3), (5, 2), (6, 2), (7, 1), (12, 1)])
def test_the_formats_of_two_letters(m: int, formats: int) -> None:
    automaton = last_letters("ab", m)
    form = made(automaton)
    assert form.formats == tuple(PRECISIONS)[:formats]
    assert (form.householders, form.dim, form.depth, form.work, form.exactness) == (1, 1, 1, 1, "rounded")
    assert form.largest_beta == Fraction(3, 4)
    assert check(form).verdict == "valid"
    for dtype in form.formats:
        assert run(form, random_words(automaton, 11, 4, 500), dtype=dtype).errors == 0


def test_runs_are_those_of_the_arithmetic() -> None:
    """In fp32 and fp16 also by numpy's own arithmetic, which rounds h/4 + d once, as h/4 is exact."""
    form = made(last_letters("ab", 6))
    words = random_words(form.automaton, 3, 20, 400)
    formats: list[tuple[str, Any]] = [("fp32", np.float32), ("fp16", np.float16)]
    for dtype, native in formats:
        stepper = DecayStepper(form, dtype)
        states = stepper.initial(20)
        h: Any = np.zeros(20, dtype=native)
        for t in range(400):
            states = stepper.step(states, words[:, t])
            h = h * native(0.25) + (native(2) * words[:, t].astype(native) - native(1))
            assert (states == h.astype(np.float64)).all()
        assert (stepper.decode(states) == form.automaton.trace(words)[:, -1]).all()


def test_a_letter_that_does_nothing_is_left_out() -> None:
    rows = {
        w: {"a": w[1] + "a", "-": w, "b": w[1] + "b", "B": w[1] + "b"}
        for w in map("".join, product("ab", repeat=2))
    }
    form = made(Automaton.from_transitions(rows, start="ba", name="idle"))
    assert form.digits == (-1, None, 1, 1)
    assert form.letter_factors == (1, 0, 1, 1)
    assert form.transitions("-")[0][0][0].factors == ()
    assert run(form, random_words(form.automaton, 2, 5, 300), dtype="bf16").errors == 0
    assert check(form).verdict == "valid"


def test_it_is_proved_in_its_formats_alone() -> None:
    automaton = last_letters("ab", 4)
    form = made(automaton)
    for dtype in ("bf16", "fp16", "fp32"):
        proof = prove(form, automaton, arithmetic=f"per_step:{dtype}")
        assert (proof.verdict, proof.checked) == ("equivalent", "certificate")
    other = prove(form, last_letters("ab", 3), arithmetic="per_step:bf16")
    assert other.verdict != "equivalent"
    for wrong in ("per_step:fp8_e4m3", "exact", "per_step:bf16:rz"):
        with pytest.raises(InputError):
            prove(form, automaton, arithmetic=wrong)
    with pytest.raises(InputError, match=r"holds its last letters in fp32, fp16, bf16, not in fp64"):
        run(form, random_words(automaton, 1, 2, 5), dtype="fp64")


def test_a_plan_names_its_formats(capsys: pytest.CaptureFixture[str]) -> None:
    made_plan = plan("regex:(a|b)*a(a|b)(a|b)(a|b)", Request(theorem="own.decay"))
    print_plan(made_plan)
    assert "rounded, right in fp32, fp16, bf16" in " ".join(capsys.readouterr().out.split())
    (row,) = made_plan.to_json()["realisations"]
    assert (row["exactness"], row["formats"]) == ("rounded", ["fp32", "fp16", "bf16"])


def test_it_is_never_the_default() -> None:
    for spec in ("flipflop", "regex:(a|b)*a(a|b)(a|b)"):
        assert construct(spec).theorem != "own.decay"
        assert construct(spec, max_householders=3).theorem != "own.decay"


def test_true_and_false_certificates() -> None:
    found = dict(cases())
    assert len(found) == 18
    assert [name for name, wrong in found.items() if wrong] == []


@pytest.mark.parametrize("m", [2, 3])
def test_every_change_of_a_leaf_is_noticed(m: int) -> None:
    form = made(last_letters("ab", m))
    document: dict[str, Any] = json.loads(json.dumps(form.certificate()))
    draw = random.Random(4)
    assert check(document).verdict == "valid"
    for path in leaves(document):
        for _ in range(8):
            changed = replaced(document, path, corrupted(value_at(document, path), draw))
            if check(changed).verdict == "valid":
                # outputs may be those of another automaton, which the letters decide too
                assert path[:2] in (
                    ("automaton", "start"),
                    ("automaton", "transitions"),
                    ("automaton", "outputs"),
                )
                again = realisation_from_certificate(changed)
                assert run(again, random_words(again.automaton, 1, 4, 60), dtype=again.formats[0]).errors == 0
    for what, path, changed in structural(document):
        if path[:1] != ("automaton",):
            assert check(changed).verdict == "invalid", (what, path)


def test_the_checker_stands_alone(tmp_path: Path) -> None:
    path = tmp_path / "decay.json"
    made(last_letters("ab", 4)).save(path)
    program = Path(mirrormata.__file__).parent / "theory" / "checker" / "decay.py"
    done = subprocess.run([sys.executable, "-I", program, path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (
        0,
        "valid: 16 states, 2 letters, 20,453 numbers in fp32, 127 numbers in fp16, 69 numbers in bf16: equal on all words\n",
    )


@pytest.mark.parametrize(
    ("automaton", "reason"),
    [
        (automaton_from_spec("mod:1"), "no letter moves a state"),
        (automaton_from_spec("parity"), "no number of last letters decides"),
        (
            last_letters("ab", 13),
            "in no float format up to fp32 does a decaying number hold the last 13 of 2 letters",
        ),
    ],
)
def test_refusals(automaton: Automaton, reason: str) -> None:
    with pytest.raises(NotRealisableError, match=f"^{automaton.name}: own.decay: {reason}"):
        construct(automaton, theorem="own.decay")
