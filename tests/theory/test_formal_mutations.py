"""Wrong statements do not compile: each changes a sign, an order or a hypothesis of a theorem in Coq."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from mirrormata.tests.project.generated_formal import FORMAL

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        shutil.which("coqc") is None and not os.environ.get("CI"), reason="Coq is not installed"
    ),
]

MUTATIONS = [
    # the padding keeps one element too few
    ("Chain", "take (m - #|Y|) (enum", "take (m - #|Y|).-1 (enum"),
    # the set after the letter is not needed, that before it is read twice
    ("Chain", "in X' :: levels a X X' sizes' chain'", "in X' :: levels a X' X' sizes' chain'"),
    # the old half is erased after the halves are exchanged
    (
        "ChainLRNN",
        "  else [seq Write (down j) (j \\in pad (delta a @: old) new m) | j <- enum 'I_n]\n"
        "       ++ [seq Swap (up j) (down j) | j <- enum 'I_n].",
        "  else [seq Swap (up j) (down j) | j <- enum 'I_n]\n"
        "       ++ [seq Write (down j) (j \\in pad (delta a @: old) new m) | j <- enum 'I_n].",
    ),
    # beta |v|^2 may be as large as 3
    ("Householder", "0 <= f.1 * dot f.2 f.2 <= 2%:R.", "0 <= f.1 * dot f.2 f.2 <= 3%:R."),
    # the eigenvalue on the key with another sign
    ("Householder", "(1 - f.1 * dot f.2 f.2) *: f.2.", "(1 + f.1 * dot f.2 f.2) *: f.2."),
    # no longer only in odd dimension
    ("Householder", "rotation_moves_less A : odd n -> orthogonal A", "rotation_moves_less A : orthogonal A"),
    # one factor fewer
    ("Permutations", "Definition swaps_needed s : nat := (n - #|porbits s|)%N.", "Definition swaps_needed s : nat := (n - #|porbits s|).-1%N."),
    # permutation matrices multiplied in the other order
    ("Permutations", "Lemma pmx_mul s (t : 'S_n) : pmx s *m pmx t = pmx (t * s)%g.", "Lemma pmx_mul s (t : 'S_n) : pmx s *m pmx t = pmx (s * t)%g."),
    # a layer flips when all lower bits hold -1 after the token
    ("Counting", "ripple (carry && (h' == 1)) hs'", "ripple (carry && (h' == -1)) hs'"),
    # the two angles of a token exchanged
    ("Counting", "if p == 0 then 1 + (i + i) else 1 - (i + i).", "if p == 0 then 1 - (i + i) else 1 + (i + i)."),
    # the left product of D_m
    ("Counting", "if x.1 then x.2 - y.2 else x.2 + y.2).", "if y.1 then y.2 - x.2 else x.2 + y.2)."),
    # beta |v|^2 = 2 allowed
    ("Affine", "Definition strict f : bool := 0 < f.1 * dot f.2 f.2 < 2%:R.", "Definition strict f : bool := 0 < f.1 * dot f.2 f.2 <= 2%:R."),
    # vectors of states that need not differ
    ("Affine", "    injective p -> (forall a q, M a", "    (forall a q, M a"),
    # a buffer of one row less
    ("Delay", "(size w <= s + d.+1)%N -> row", "(size w <= s + d.+2)%N -> row"),
    # the parts that are still to come are left out from the second on
    ("Delay", "h * \\prod_(size w %% m <= j < m) part", "h * \\prod_((size w %% m).+1 <= j < m) part"),
    # the transition need not be symmetric
    ("Rounding", "Hypothesis sym : forall i j, (i < n)%nat -> (j < n)%nat -> A i j = A j i.", "Hypothesis sym : forall i j, (i < n)%nat -> (j < n)%nat -> A i j = A i j."),
    # the rounding need not be monotone
    ("Rounding", "Hypothesis Qm : forall i x y, x <= y -> Q i x <= Q i y.", "Hypothesis Qm : forall i x y, x <= y -> Q i x <= Q i x."),
]  # fmt: skip


def compile_file(folder: Path, file: str) -> int:
    """The exit status of `coqc` on a file of the library in a folder."""
    command = ["coqc", "-Q", ".", "Mirrormata", f"{file}.v"]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=300).returncode


def required(file: str) -> list[str]:
    """The files of the library that a file requires, in the order in which they compile."""
    text = (FORMAL / "coq" / f"{file}.v").read_text(encoding="utf-8")
    found: list[str] = []
    for names in re.findall(r"^From Mirrormata Require Import ([\w ]+)\.$", text, re.M):
        for used in names.split():
            found += [name for name in [*required(used), used] if name not in found]
    return found


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library, compiled as it is, in a folder of its own."""
    folder = tmp_path_factory.mktemp("library")
    shutil.copytree(
        FORMAL / "coq", folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.vo*", "*.glob")
    )
    for file in dict.fromkeys(name for changed, _, _ in MUTATIONS for name in [*required(changed), changed]):
        assert compile_file(folder, file) == 0, file
    return folder


@pytest.mark.parametrize(("file", "old", "new"), MUTATIONS)
def test_a_wrong_statement_does_not_compile(file: str, old: str, new: str, compiled: Path) -> None:
    page = compiled / f"{file}.v"
    text = page.read_text(encoding="utf-8")
    assert text.count(old) >= 1, old
    other = compiled / f"Wrong{file}.v"
    other.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert compile_file(compiled, f"Wrong{file}") != 0
