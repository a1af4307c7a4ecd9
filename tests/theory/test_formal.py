"""The checker that is proved in Coq: it agrees with the Python checkers on certificates and on corruptions of them."""

from __future__ import annotations

import hashlib
import itertools
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
from mirrormata.tests.samples import sampled
from mirrormata.tests.theory import cascade_corruption as cascades
from mirrormata.tests.theory import certified
from mirrormata.tests.theory.both_checkers import judge_alike, python_verdict
from mirrormata.tests.theory.corruption import corrupted, leaves, replaced, structural, value_at
from mirrormata.theory import _proved_check
from mirrormata.theory._horizon import full_certificate
from mirrormata.theory._proved_check import find_proved_checker, run_proved_checker

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


def several_layers(spec: str, theorem: str) -> dict[str, Any]:
    """The certificate of a construction in several layers."""
    return as_table(full_certificate(construct(spec, theorem=theorem)))


LAYERED: dict[str, Callable[[], dict[str, Any]]] = {
    f"{spec} {theorem}": lambda spec=spec, theorem=theorem: several_layers(spec, theorem)  # type: ignore[misc]
    for spec, theorem in (
        ("mod:4", "own.T2tight"),
        ("mod:8", "own.T2tight"),
        ("mod:32", "own.T2tight"),
        ("tomita:2", "G.T4"),
        ("tomita:4", "G.T4"),
        ("T3", "G.T4"),
        ("T4", "G.T4"),
        ("random:states=6,letters=2,seed=3", "G.T4"),
        ("random:states=8,letters=2,seed=5", "G.T4"),
    )
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


DOUBLED = (
    cascades.erase_then_swap,
    cascades.swap_then_erase_lower,
    cascades.swap_then_erase_upper,
    cascades.without_swaps,
    cascades.without_erasing,
    cascades.erase_both,
)
MISREADINGS = (
    cascades.without_additive,
    cascades.transposed,
    cascades.without_reading,
    cascades.reading_more,
    cascades.exchanged_rows,
    cascades.shuffled_points,
    cascades.exchanged_children,
    cascades.without_a_layer,
    cascades.idle_actions,
)


def corruption(draw: random.Random) -> tuple[str, Any, Any]:
    """One of the small certificates with one leaf changed, or with a change of structure: its name, where, and the document."""
    name = draw.choice(list(small()))
    right = document(name)
    if draw.random() < 0.8:
        path = draw.choice([leaf for leaf in small()[name] if leaf != ("kind",)])
        return name, path, replaced(right, path, corrupted(value_at(right, path), draw))
    part = draw.choice([key for key in right if key not in ("format", "kind", "labels")])
    # one of the first changes of structure, if there are any
    changes = list(itertools.islice(structural(right[part]), 200))
    what, path, changed = draw.choice(changes or [("nothing left", (), {})])
    return name, (part, what, *path), {**right, part: changed}


def agree_on_corruptions(count: int, seed: int) -> None:
    draw = random.Random(seed)
    refused = 0
    for _ in range(count):
        name, where, changed = corruption(draw)
        refused += not judge_alike(changed, (name, where))
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
def test_both_checkers_agree_on_misreadings_of_cascades() -> None:
    """Several leaves changed together: halves exchanged, resets without a swap, single heads, rows and children exchanged."""
    count = 0
    for spec in ("tomita:4 G.T4", "T4 G.T4"):
        right = document(spec)
        changes = [
            *(cascades.on_doubled_resets(right, change) for change in DOUBLED),
            cascades.additive_below(right),
            *(changed for _, changed in cascades.single_states(right)),
            *(changed for make in MISREADINGS for changed in make(right)),
        ]
        for number, changed in enumerate(changes):
            judge_alike(changed, (spec, number))
        count += len(changes)
    assert count > 100


@needs_program
@pytest.mark.long
@pytest.mark.parametrize("seed", sampled(range(100, 120), 10))
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
    said = check(document("S4"), checker="coq").to_json()
    assert (said["verdict"], said["checker"]) == ("valid", "coq")
    program = Path(said["program"]["path"])
    assert said["program"]["sha256"] == hashlib.sha256(program.read_bytes()).hexdigest()
    other = check(document("S4"), "A4", checker="coq")
    assert (other.verdict, other.checker) == ("other", "coq")
    assert check(document("S4")).to_json()["checker"] == "python"


@needs_program
def test_a_kind_without_a_proved_checker_is_refused_by_name() -> None:
    bound = {**document("parity"), "kind": "bound"}
    with pytest.raises(InputError, match=r"no proved checker for the kind 'bound'"):
        check(bound, checker="coq")


@needs_program
def test_an_error_names_the_file_once(tmp_path: Path) -> None:
    path = tmp_path / "a5.json"
    write_certificate(full_certificate(construct("A5")), path)
    with pytest.raises(InputError) as raised:
        check(path, checker="coq")
    assert str(raised.value).startswith(f"{path}: no proved checker for the kind 'horizon'")
    assert str(raised.value).count(str(path)) == 1
    (tmp_path / "folder").mkdir()
    (tmp_path / "bytes").write_bytes(b"\xff")
    for name, why in (
        ("missing", "No such file or directory"),
        ("folder", "is a folder, a file is needed"),
        ("bytes", "cannot be read: not UTF-8"),
    ):
        command = [str(PROGRAM), str(tmp_path / name)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (2, f"{tmp_path / name}: {why}\n")


@needs_program
def test_a_horizon_is_refused_with_the_way_to_its_table() -> None:
    with pytest.raises(InputError, match=r"checks the table that is constructed for the SPEC itself"):
        check(full_certificate(construct("A5")), checker="coq")
    assert check(construct("A5"), checker="coq").kind == "table"


def test_a_program_that_fails_is_no_program_that_lacks_a_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho boom >&2\nexit 7\n")
    broken.chmod(0o755)
    monkeypatch.setenv(_proved_check.VARIABLE, str(broken))
    with pytest.raises(InputError, match=r"^the proved checker: boom$"):
        check(document("parity"), checker="coq")


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
    command = ["make", "-s", "-C", str(FORMAL), "assumptions"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    theorems = [line.split()[0] for line in (FORMAL / "theorems.txt").read_text().splitlines() if line]
    found: dict[str, set[str]] = {}
    for line in done.stdout.splitlines():
        if re.fullmatch(r"\w+\.\w+:", line):
            found[line[:-1]] = set()
        elif (
            found and not line.startswith(" ") and line not in ("Closed under the global context", "Axioms:")
        ):
            found[[*found][-1]].add(line.split()[0])  # an axiom, whose type may go on over further lines
    assert list(found) == theorems
    for name, axioms in found.items():
        assert axioms <= AXIOMS, name


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


@pytest.fixture(scope="module")
def library() -> Path:
    """The folder of the compiled library."""
    subprocess.run(["make", "-s", "-C", str(FORMAL), "library"], capture_output=True, check=True)
    return FORMAL / "coq"


LIBRARY = ("Semantics", "Sparse", "Numbers", "Lists", "Table", "Covering", "DelayCheck")
ROUNDED = (
    "Semantics",
    "Sparse",
    "Numbers",
    "Lists",
    "Table",
    "RoundedRNN",
    "RoundedFloats",
    "StatesCheck",
    "NeverRounded",
    "Covering",
    "NeverRoundedCascade",
    "Lengths",
    "RoundedErrors",
    "RegionsCheck",
)
CHAINS = (
    "Lists",
    "ChainSemantics",
    "ChainSets",
    "ChainFactors",
    "ChainLevels",
    "ChainWindow",
    "ChainRun",
    "ChainCheck",
    "ChainTree",
)


@needs_coq
@pytest.mark.long
@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("Semantics", "mul gate (H i j)", "mul gate (H i j)"),
        ("Semantics", "add (H i j) (opp (mul", "add (H i j) (id (mul"),
        (
            "Semantics",
            "fold_left (fun H f => apply_factor f H) factors",
            "fold_left (fun H f => apply_factor f H) (rev factors)",
        ),
        (
            "Semantics",
            "add (apply_linear (linear_part t) H i j) (entry (additive t) i j)",
            "apply_linear (linear_part t) H i j",
        ),
        ("Semantics", "mul gate (H i j)", "H i j"),
        ("Semantics", "(read_out l letter new)", "(read_out l letter H)"),
        ("Table", " && (row_state d r' =? q)", ""),
        ("Table", " && equal_codes after (row_codes d r')", ""),
        ("Table", " && (find_code h (codes h c) =? c)", ""),
        ("Table", "n_equal A gate (n_one A)", "true"),
        ("Table", "|| leads factor (codes h c) (codes h c')", "|| true"),
        ("Table", "(c' <? c) && mirrors factor", "mirrors factor"),
        (
            "Sparse",
            "(norm_of (reading f) (key f))) (n_add A (n_one A) (n_one A))",
            "(norm_of (reading f) (key f))) (n_one A)",
        ),
        ("Sparse", "(n_mul A (n_opp A (beta f)) (snd e))", "(n_mul A (beta f) (snd e))"),
        ("Numbers", "shifted_rows m (shift a)", "shifted_rows m a"),
        ("Numbers", "(scale_list (Z.opp last) modulus)", "(scale_list last modulus)"),
        ("Covering", "(q' =? delta x q) && ", ""),
        ("Covering", " && (point_of l k c' =? point_after l k t (point_of l k c))", ""),
        ("Covering", " ++ reads l y) in", ") in"),
        ("DelayCheck", "fold_left exchange swaps p", "fold_left exchange (rev swaps) p"),
        (
            "DelayCheck",
            "(phase + block d - place_in_block d phase + i)",
            "(phase + period d - place_in_block d phase + i)",
        ),
        (
            "DelayCheck",
            "(rest_of_block d g (S (place_in_block d phase)) p)",
            "(rest_of_block d g (place_in_block d phase) p)",
        ),
        ("DelayCheck", "[(fst ab, one); (snd ab, opp one)]", "[(fst ab, one); (snd ab, one)]"),
        ("DelayCheck", "\n    && (rest_of_block d g 0 p =? image d g p)", ""),
        ("DelayCheck", "\n    && (phase_of d (phase_codes d p) =? p)", ""),
        ("RoundedRNN", "(- floor (- x))%Z", "(floor x + 1)%Z"),
        ("RoundedRNN", "Z.even f then f else", "Z.odd f then f else"),
        ("RoundedRNN", "if less x 0 then ceiling x else floor x", "if less x 0 then floor x else ceiling x"),
        ("RoundedRNN", "least) - precision + 1)", "least) - precision)"),
        ("RoundedRNN", "Z.max (exponent x) least", "Z.min (exponent x) least"),
        ("StatesCheck", "\n    && Z.eqb (says (the_layer c) (near j) a) (right_answer c a q q')", ""),
        ("StatesCheck", " && (pair_number c j =? q')", ""),
        (
            "NeverRounded",
            "let all_kept := all_below (any_count h) (code_kept keeps h) && ",
            "let all_kept := ",
        ),
        (
            "NeverRounded",
            "Z.add (Z.mul (weights k i) (sizes k j)) s",
            "Z.max (Z.mul (weights k i) (sizes k j)) s",
        ),
        ("NeverRounded", "keeps (0 # 1)%Q && ", ""),
        ("NeverRounded", "Z.max (Z.abs (entry_at (codes h c) i j)) s", "Z.max (entry_at (codes h c) i j) s"),
        # no hypothesis that 0 is kept, numbers that are looked at in one head only, and for one transition less
        ("NeverRoundedCascade", "keeps (0 # 1)%Q && check_cascade d", "check_cascade d"),
        (
            "NeverRoundedCascade",
            "forallb (fun l => forallb (fun h => head_fits",
            "forallb (fun l => existsb (fun h => head_fits",
        ),
        (
            "NeverRoundedCascade",
            "all_below (any_transitions h) (fun t =>",
            "all_below (any_transitions h - 1) (fun t =>",
        ),
        ("NeverRoundedCascade", "Z.abs z <= most", "z <= most"),
        # half of the error where a mode is directed, and no spacing of the small numbers
        ("RoundedErrors", "if to_nearest m then - p else 1 - p", "- p"),
        ("RoundedErrors", "if to_nearest m then least - p else least - p + 1)", "least - p)"),
        # a pivot 0 with numbers beside it, and what is left added instead of subtracted
        ("Lengths", "forallb is_zero (tl row) && eliminated", "eliminated"),
        ("Lengths", "less_square rows' (1 / p) (tl row)", "less_square rows' (- (1 / p)) (tl row)"),
        # A that is transposed, balls as large as a cell, a sum that is moved as one number is, no bound on a letter's norm, a start outside
        ("RegionsCheck", "add_at (snd (fst t)) (snd t) row", "add_at (fst (fst t)) (snd t) row"),
        ("RegionsCheck", "less (4 * (radius * radius))", "less (radius * radius)"),
        ("RegionsCheck", " && Qeq_bool (bias e) 0)", ")"),
        ("RegionsCheck", "&& norm_right n rows (letter_norm c a)", "&& true"),
        ("RegionsCheck", "((m =? 0)%nat || not_too_large v size)", "true"),
        ("RegionsCheck", "forallb (is_fine v) (0 :: initial_state L)", "is_fine v 0"),
        ("ChainSemantics", "(Z ++ zeros p) h", "(zeros p ++ Z) h"),
        ("ChainSemantics", "(rev (seq 0 (rows - 1)))", "(seq 0 (rows - 1))"),
        ("ChainCheck", "(rank known (after known a i) <? rank known i)", "true"),
        ("ChainCheck", "one_to_one || (number <=? next l)", "true"),
        ("ChainTree", " && (parent t i' =? p')", ""),
        ("ChainTree", " || leaf_right last a i", " || true"),
        (
            "ChainTree",
            "(S (level_of t (parent t i)) =? level_of t i)",
            "(level_of t (parent t i) <? level_of t i)",
        ),
    ],
)
def test_other_definitions_make_a_proof_fail(
    file: str, old: str, new: str, library: Path, tmp_path: Path
) -> None:
    """A sign, an order, a term or a check left out: a theorem does not compile any more; as the files are, all compile."""
    files = next(files for files in (LIBRARY, CHAINS, ROUNDED) if file in files)
    built = files[: files.index(file)]
    for name in files:
        # what comes before the changed file is compiled already, by `make formal`
        for suffix in (".v", ".vo") if name in built else (".v",):
            shutil.copy2(library / f"{name}{suffix}", tmp_path)
    page = tmp_path / f"{file}.v"
    text = page.read_text(encoding="utf-8")
    assert old in text
    page.write_text(text.replace(old, new), encoding="utf-8")
    for name in files[len(built) :]:
        command = ["coqc", "-Q", ".", "Mirrormata", f"{name}.v"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        if done.returncode:
            # a proof fails, not the text of a definition
            assert re.search(r"Error:(?! *Syntax)", done.stderr), done.stderr
            assert old != new, done.stderr
            break
    else:
        assert old == new
