"""CONTRIBUTING's recipes, followed in a copy of the package: one new file, nothing else edited, and it is found."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mirrormata

ROOT = Path(mirrormata.__file__).resolve().parent
PACKAGES = ("constructions", "foundation", "theory")

CONSTRUCTION = '''
"""own.one-hot: group automata by permutations of their states, one-hot; an example of a new construction."""

from __future__ import annotations

from ...foundation._errors import NotRealisableError
from .._lrnn import LRNN, Transition
from ..algebra._householder import permutation_factors
from ..heads._assembly import one_code_a_state
from ._construction import Construction, Problem


def build(problem: Problem) -> LRNN:
    automaton = problem.automaton
    if not automaton.is_permutation:
        raise NotRealisableError(f"{automaton.name}: own.one-hot is for group automata; leave `theorem` out")
    n = len(automaton.states)
    return one_code_a_state(
        automaton,
        n,
        [Transition(permutation_factors(image)) for image in automaton.transitions.tolist()],
        [((q, 0, 1),) for q in range(n)],
        theorem="own.one-hot",
        construction=f"one-hot states, permutations of {n}",
        notes=[],
    )


CONSTRUCTION = Construction(
    source="own.one-hot",
    title="group automata by permutations of their states",
    order=200,
    examples=("S3", "parity"),
    refusals={"T3": "is for group automata"},
    build=build,
)
'''

USE_CONSTRUCTION = """
from mirrormata import check, construct, full_certificate, plan, automaton_from_spec, run, random_words
from mirrormata.constructions.theorems._registry import all_constructions

made = construct("S3", theorem="own.one-hot")
print(made)
print(check(full_certificate(made)).verdict, run(made, random_words(made, 4, 100, 0)).errors)
print(list(all_constructions())[-1])
print("own.one-hot" in {offer.found.theorem for offer in plan(automaton_from_spec("S3")).offers})
try:
    construct("T3", theorem="own.one-hot")
except Exception as error:
    print(type(error).__name__, error)
"""

CHECKER = '''
"""Checks a certificate of kind `even`: a number is even; an example of a new kind of certificate."""

from __future__ import annotations

try:
    from ._exact import Invalid
except ImportError:
    from _exact import Invalid


def check(document):
    """A line of facts; `Invalid` with what is wrong."""
    if set(document) != {"format", "kind", "number"}:
        raise Invalid("unknown or missing keys")
    if not isinstance(document["number"], int) or document["number"] % 2:
        raise Invalid("the number is odd")
    return "the number is even"
'''

USE_CHECKER = """
from mirrormata import check

even = {"format": "mirrormata-certificate/1", "kind": "even", "number": 4}
print(check(even))
print(check({**even, "number": 5}).reason)
"""

HEADS = '''
"""own.signs: the sign of a permutation as a head; an example of a new head for the search in one layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..heads._candidates import HeadCandidate, HeadSearch
from ._construction import Construction


def candidates(search: HeadSearch, before: Sequence[HeadCandidate]) -> list[HeadCandidate]:
    return [replace(c, theorem="own.signs", name="my sign") for c in before if c.name == "a sign"]


CONSTRUCTION = Construction(
    source="own.signs",
    title="signs, offered to the search once more",
    order=31,
    examples=("parity", "mod:2"),
    refusals={"S5": "`theorem` own.signs"},
    candidates=candidates,
)
'''

USE_HEADS = """
from mirrormata import check, construct, full_certificate

made = construct("parity", theorem="own.signs")
print(made.construction, made.theorem, check(full_certificate(made)).verdict)
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The package's exact part, in a folder of its own."""
    target = tmp_path / "mirrormata"
    for package in PACKAGES:
        shutil.copytree(ROOT / package, target / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("__init__.py", "__init__.pyi"):
        shutil.copy2(ROOT / name, target / name)
    return target


def printed(copy: Path, program: str) -> list[str]:
    """The lines that a program prints with the copy in the package's place."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=copy.parent,
        env={**os.environ, "PYTHONPATH": str(copy.parent), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_new_construction(copy: Path) -> None:
    (copy / "constructions" / "theorems" / "own_one_hot.py").write_text(CONSTRUCTION.lstrip())
    assert printed(copy, USE_CONSTRUCTION) == [
        "<LRNN of S3 by own.one-hot: 1 layer, 4 factors, 1 head, dimension 6, integer>",
        "valid 0",
        "own.one-hot",
        "True",
        "NotRealisableError T3: own.one-hot is for group automata; leave `theorem` out",
    ]


def test_a_new_head_for_groups(copy: Path) -> None:
    (copy / "constructions" / "theorems" / "own_signs.py").write_text(HEADS.lstrip())
    assert printed(copy, USE_HEADS) == ["my sign own.signs valid"]


def test_a_new_kind_of_certificate(copy: Path) -> None:
    (copy / "theory" / "checker" / "even.py").write_text(CHECKER.lstrip())
    assert printed(copy, USE_CHECKER) == [
        "CheckResult(verdict='valid', kind='even', reason='the number is even')",
        "the number is odd",
    ]


def test_a_file_without_a_record_is_named(copy: Path) -> None:
    (copy / "constructions" / "theorems" / "helpers.py").write_text('"""No record."""\n')
    program = (
        "from mirrormata import construct\ntry:\n    construct('S3')\n"
        "except TypeError as error:\n    print(error)\n"
    )
    (said,) = printed(copy, program)
    assert said.endswith(
        "helpers.py: no CONSTRUCTION of type Construction; a file of shared code has a name that begins with _"
    )
