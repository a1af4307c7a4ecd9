"""The checker that is proved in Coq: it agrees with the Python checkers on certificates and on corruptions of them."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from mirrormata import InputError, check
from mirrormata.cli import app
from mirrormata.constructions._construct import construct
from mirrormata.constructions._document import write_certificate
from mirrormata.tests.theory import certified
from mirrormata.tests.theory.corruption import corrupted, leaves, replaced, structural, value_at
from mirrormata.theory import _proved_check
from mirrormata.theory._check import all_checkers
from mirrormata.theory._horizon import full_certificate
from mirrormata.theory._proved_check import find_proved_checker, run_proved_checker
from mirrormata.theory.checker._exact import Invalid
from mirrormata.theory.checker._program import parse

FORMAL = Path(_proved_check.__file__).parent / "formal"
PROGRAM = find_proved_checker()
WHY = "mirrormata-check is not built: `make formal` builds it where Coq is installed"
needs_program = pytest.mark.skipif(PROGRAM is None and not os.environ.get("CI"), reason=WHY)
needs_coq = pytest.mark.skipif(
    shutil.which("coqc") is None and not os.environ.get("CI"), reason="Coq is not installed"
)


def as_table(document: dict[str, Any]) -> dict[str, Any]:
    """A certificate of kind `table` without the horizon that it may have."""
    return {**{k: v for k, v in document.items() if k != "horizon"}, "kind": "table"}


LAYERED: dict[str, Callable[[], dict[str, Any]]] = {
    "mod:4 ripple": lambda: as_table(full_certificate(construct("mod:4", theorem="own.T2tight"))),
    "mod:8 ripple": lambda: as_table(full_certificate(construct("mod:8", theorem="own.T2tight"))),
    "mod:32 ripple": lambda: as_table(full_certificate(construct("mod:32", theorem="own.T2tight"))),
}
NAMES = [*certified.CONSTRUCTIONS, *LAYERED]


@cache
def document(name: str) -> dict[str, Any]:
    """A certificate of a kind that the proved checker knows; not to be changed."""
    return LAYERED[name]() if name in LAYERED else as_table(certified.document(name))


@cache
def small() -> dict[str, list[Any]]:
    """The certificates that are small enough to be corrupted thousands of times, with their leaves."""
    return {name: leaves(document(name)) for name in NAMES if len(json.dumps(document(name))) < 30_000}


def python_verdict(changed: Any) -> tuple[bool, str]:
    """Whether the Python checker of the kind accepts, and what it says."""
    try:
        return True, all_checkers()[changed["kind"]](parse(json.dumps(changed)))
    except Invalid as reason:
        return False, str(reason)


def corruption(draw: random.Random) -> tuple[str, Any, Any]:
    """One of the small certificates with one leaf changed, or with a change of structure: its name, where, and the document."""
    name = draw.choice(list(small()))
    right = document(name)
    if draw.random() < 0.8:
        path = draw.choice([leaf for leaf in small()[name] if leaf != ("kind",)])
        return name, path, replaced(right, path, corrupted(value_at(right, path), draw))
    part = draw.choice(["automaton", "layers", "decode", "outputs", "summary"])
    changes = structural(right[part])
    for _ in range(draw.randrange(200)):
        following = next(changes, None)
        if following is None:
            break
        what, path, changed = following
    else:
        what, path, changed = next(changes, (None, (), right[part][:-1] if part == "decode" else {}))
    return name, (part, what, *path), {**right, part: changed}


def agree_on_corruptions(count: int, seed: int) -> None:
    draw = random.Random(seed)
    refused = 0
    for _ in range(count):
        name, where, changed = corruption(draw)
        accepted, reason = python_verdict(changed)
        proved, said = run_proved_checker(changed)
        assert proved == accepted, (name, where, reason, said)
        refused += not accepted
    assert refused > count * 9 // 10


@needs_program
@pytest.mark.parametrize("name", NAMES)
def test_both_checkers_accept_every_certificate_with_the_same_facts(name: str) -> None:
    accepted, facts = python_verdict(document(name))
    assert accepted
    assert run_proved_checker(document(name)) == (True, facts)


@needs_program
@pytest.mark.parametrize("seed", range(4))
def test_both_checkers_agree_on_corruptions(seed: int) -> None:
    agree_on_corruptions(250, seed)


@needs_program
@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 120))
def test_both_checkers_agree_on_twenty_thousand_corruptions(seed: int) -> None:
    agree_on_corruptions(1_000, seed)


@needs_program
@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        "[" * 100_000,
        "7" * 5_000,
        '{"a": 1, "a": 1}',
        '{"kind": NaN}',
        '{"a": 1.5}',
        "\ufeff{}",
    ],
)
def test_what_is_no_certificate_is_invalid(text: str, tmp_path: Path) -> None:
    (tmp_path / "text").write_text(text, encoding="utf-8")
    assert run_proved_checker(str(tmp_path / "text"))[0] is False


@needs_program
def test_numbers_labels_and_texts_are_read_as_python_reads_them() -> None:
    """What the first reader takes for the same name, the second does too."""
    right = document("parity")
    for names in (
        ["a", "\u0061"],
        ["a", "\ud834\udd1e"],
        ["\u00e9", "e\u0301"],
        ["", " "],
        ["\\", "/"],
        ["\ud834", "\udd1e"],
    ):
        changed = replaced(right, ("labels", "letters"), names)
        assert run_proved_checker(changed)[0] == python_verdict(changed)[0], names


@needs_program
def test_the_command_says_which_checker_was_used(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    write_certificate(document("S4"), path)
    result = CliRunner().invoke(app, ["check", str(path), "--with", "coq", "--for", "S4"])
    assert result.exit_code == 0, result.output
    assert "checked by the proved checker: 24 states" in result.output
    wrong = replaced(document("S4"), ("automaton", "transitions", 1, 0), 0)
    write_certificate(wrong, path)
    result = CliRunner().invoke(app, ["check", str(path), "--with", "coq"])
    assert result.exit_code == 1
    assert check(document("S4"), checker="coq").verdict == "valid"


@needs_program
def test_a_kind_without_a_proved_checker_is_refused_by_name() -> None:
    bound = {**document("parity"), "kind": "bound"}
    with pytest.raises(InputError, match=r"no proved checker for the kind 'bound'"):
        check(bound, checker="coq")


def test_a_missing_program_is_named_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(_proved_check.VARIABLE, raising=False)
    monkeypatch.setattr(_proved_check, "BUILT", Path("missing"))
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(InputError, match=r"not built: run `make formal`"):
        check(document("parity"), checker="coq")
    monkeypatch.setenv(_proved_check.VARIABLE, "/missing/program")
    with pytest.raises(InputError, match=r"cannot be run"):
        check(document("parity"), checker="coq")
    with pytest.raises(InputError, match=r"give 'python' or 'coq'"):
        check(document("parity"), checker="lean")


@needs_coq
def test_no_theorem_rests_on_an_axiom_that_is_not_named() -> None:
    """Every line of theorems.txt is in the library, closed under the global context or with the axioms of the reals only."""
    done = subprocess.run(
        ["make", "-s", "-C", str(FORMAL), "assumptions"], capture_output=True, text=True, check=True
    )
    theorems = [line.split()[0] for line in (FORMAL / "theorems.txt").read_text().splitlines() if line]
    found = dict(
        re.findall(
            r"^(\w+\.\w+):\n(Closed under the global context|Axioms:\n(?:.+\n?)+?)(?=^\w+\.\w+:\n|\Z)",
            done.stdout,
            re.M,
        )
    )
    assert list(found) == theorems
    for name in theorems:
        axioms = re.findall(r"^(\S+)\s*:", found[name].removeprefix("Axioms:\n"), re.M)
        assert set(axioms) <= AXIOMS, name


AXIOMS = {
    "ClassicalDedekindReals.sig_not_dec",
    "ClassicalDedekindReals.sig_forall_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
}


def test_nothing_in_the_library_is_admitted() -> None:
    for file in sorted((FORMAL / "coq").glob("*.v")):
        text = re.sub(r"\(\*.*?\*\)", "", file.read_text(encoding="utf-8"), flags=re.S)
        assert not re.search(r"\b(Admitted|admit|Axiom|Parameter|Conjecture)\b", text), file.name


@needs_coq
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("mul gate (H i j)", "mul gate (H i j)"),
        ("add (H i j) (opp (mul", "add (H i j) (id (mul"),
        (
            "fold_left (fun H f => apply_factor f H) factors",
            "fold_left (fun H f => apply_factor f H) (rev factors)",
        ),
        (
            "add (apply_linear (linear_part t) H i j) (entry (additive t) i j)",
            "apply_linear (linear_part t) H i j",
        ),
        ("mul gate (H i j)", "H i j"),
        ("step layers' (read_out l letter new) state'", "step layers' (read_out l letter H) state'"),
    ],
)
def test_other_definitions_make_a_proof_fail(old: str, new: str, tmp_path: Path) -> None:
    """A sign, an order, a missing term: with another meaning of a linear RNN the checker's theorem does not compile; with this one it does."""
    for file in ("Semantics", "Sparse", "Numbers", "Table"):
        shutil.copy(FORMAL / "coq" / f"{file}.v", tmp_path)
    page = tmp_path / "Semantics.v"
    text = page.read_text(encoding="utf-8")
    assert old in text
    page.write_text(text.replace(old, new), encoding="utf-8")
    outcomes = []
    for file in ("Semantics", "Sparse", "Numbers", "Table"):
        command = ["coqc", "-Q", ".", "Mirrormata", f"{file}.v"]
        outcomes.append(subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode)
        if outcomes[-1]:
            break
    # the definitions themselves are well formed: it is a proof that fails
    assert outcomes[0] == 0
    assert (outcomes[-1] == 0) == (old == new)
