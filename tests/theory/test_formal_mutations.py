"""Wrong statements do not compile: each changes a sign, an order or a hypothesis of a theorem in Coq."""

from __future__ import annotations

import os
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
    # a letter of four factors
    ("TurnedPlanes", "Hypothesis few : forall x i, (moved (A x i) <= 3)%N.", "Hypothesis few : forall x i, (moved (A x i) <= 4)%N."),
    # a conjugate to its inverse
    ("TurnedPlanes", "#[a]%g = 5%N -> (a ^ y = a ^+ 2)%g ->", "#[a]%g = 5%N -> (a ^ y = a ^+ 4)%g ->"),
    # matrices that may lengthen vectors
    ("TurnedPlanes", "dot (A x i *m v) (A x i *m v) <= dot v v.", "dot (A x i *m v) (A x i *m v) <= dot v v *+ 2."),
    # a group that may be abelian
    ("TurnedPlanes", "simple E -> ~~ abelian E ->", "simple E -> abelian E ->"),
    # the wiring as printed: a layer is told the new points of those below
    ("CascadeLRNN", "let t := rule j a (told a h K') in read_before t (layer_step t (h j))", "let t := rule j a (told a h K') in read_new (layer_step t (h j))"),
    # what is erased is erased after the halves are exchanged
    (
        "CascadeLRNN",
        "[seq Write (down k j) (j == c) | j <- enum 'I_(n k).+1] ++ [seq Swap (up k j) (down k j) | j <- enum 'I_(n k).+1]",
        "[seq Swap (up k j) (down k j) | j <- enum 'I_(n k).+1] ++ [seq Write (down k j) (j == c) | j <- enum 'I_(n k).+1]",
    ),
    # points of components that a gate resets may be read
    ("CascadeLRNN", "(j < k)%N -> ~~ gated j -> q j = q' j)", "(j < k)%N -> q j = q' j)"),
    # gates without look-back
    ("ChainForms", "Hypothesis gates_look_back : gates c = true -> look_back c = true.", "Hypothesis gates_look_back : gates c = true -> True."),
    # words of m letters may leave one state more
    ("ChainForms", "leaves (states c) (delta c) m s\n", "leaves (states c) (delta c) m (S s)\n"),
    # one swap fewer
    ("ChainForms", "then size l - 1 else", "then size l - 2 else"),
    # resets that lengthen no vector would keep all lengths
    ("ChainNorm", "(forall h, dot (M *m h) (M *m h) <= dot h h)", "(forall h, dot (M *m h) (M *m h) = dot h h)"),
    # the register is turned without its oldest letter being erased
    ("Definite", "pmx R cycle_rows *m factor_mx (projection R ord_max).", "pmx R cycle_rows."),
    # one factor fewer than rows
    ("Definite", "Theorem shift_needs : moved (shift R m) = m.+1", "Theorem shift_needs : moved (shift R m) = m"),
    # a copy in the other direction
    ("SwapCopy", "| CopyOf i j => fun q => if q == j then i else q", "| CopyOf i j => fun q => if q == i then j else q"),
    # one component fewer
    ("SwapCopy", "[/\\ size ss = (n - components f)%N", "[/\\ size ss = (n - (components f).+1)%N"),
    # a copy that lengthens no vector
    ("SwapCopy", "(forall h, dot (C *m h) (C *m h) <= 2%:R * dot h h)", "(forall h, dot (C *m h) (C *m h) <= 1 * dot h h)"),
    # a level tells the next one its sets in the other order
    ("ChainLayers", "(a, read_before l (row a) X X' [] h, read_after l X' h).", "(a, read_after l X' h, read_before l (row a) X X' [] h)."),
    # what is added is left out
    ("ChainLayers", "map (fun e => ((fst e, j), snd e)) (sparse v) ++ added_from (S j) rest", "added_from (S j) rest"),
    # with look-back a layer reads what the layers above held before
    ("ChainLayers", "check_chain c known = true -> look_back c = false ->", "check_chain c known = true -> look_back c = true ->"),
    # a layer flips when all lower bits hold -1 after the token
    ("Counting", "ripple (carry && (h' == 1)) hs'", "ripple (carry && (h' == -1)) hs'"),
    # the two angles of a token exchanged
    ("Counting", "if p == 0 then 1 + (i + i) else 1 - (i + i).", "if p == 0 then 1 - (i + i) else 1 + (i + i)."),
    # the left product of D_m
    ("Counting", "if x.1 then x.2 - y.2 else x.2 + y.2).", "if y.1 then y.2 - x.2 else x.2 + y.2)."),
    # a map to finitely many values that need not be monotone
    ("CastSettles", "(forall x y, x <= y -> cast x <= cast y).", "(forall x y, x <= y -> cast x <= cast x)."),
    # bases that may be negative
    ("CastSettles", "& (forall i, 0 <= l i) -> settles (fun k => cast (a k))].", "& (forall i, l i <= 0) -> settles (fun k => cast (a k))]."),
    # eigenvalues of the other sign
    ("CastCounting", "exists2 ls, all (fun l => 0 <= l) ls & \\prod_(l <- ls) (M - l%:M) = 0.", "exists2 ls, all (fun l => l <= 0) ls & \\prod_(l <- ls) (M - l%:M) = 0."),
    # the words of any length
    ("CastCounting", "Theorem no_parity layers one accepts m : (1 < m)%N ->", "Theorem no_parity layers one accepts m : (0 < m)%N ->"),
    # products of too few matrices
    ("CastCounting", "(forall s, real_spectrum (product l x s (2 ^ i)))", "(forall s, real_spectrum (product l x s (2 ^ i.-1)))"),
    # half of the period
    ("CastCounting", "(m %| 2 ^ size layers)%N.", "(m %| 2 ^ (size layers).-1)%N."),
    # beta |v|^2 = 2 allowed
    ("Affine", "Definition strict f : bool := 0 < f.1 * dot f.2 f.2 < 2%:R.", "Definition strict f : bool := 0 < f.1 * dot f.2 f.2 <= 2%:R."),
    # vectors of states that need not differ
    ("Affine", "    injective p -> (forall a q, M a", "    (forall a q, M a"),
    # a buffer of one row less
    ("Delay", "(size w <= s + d.+1)%N -> row", "(size w <= s + d.+2)%N -> row"),
    # the parts that are still to come are left out from the second on
    ("Delay", "h * \\prod_(size w %% m <= j < m) part", "h * \\prod_((size w %% m).+1 <= j < m) part"),
    # shorter keys: the squared length of the first is 0.9947...
    ("FloatCounters", "(squared_length key < 1)%R", "(squared_length key < 99 / 100)%R"),
    # the transition need not be symmetric
    ("Rounding", "Hypothesis sym : forall i j, (i < n)%nat -> (j < n)%nat -> A i j = A j i.", "Hypothesis sym : forall i j, (i < n)%nat -> (j < n)%nat -> A i j = A i j."),
    # the rounding need not be monotone
    ("Rounding", "Hypothesis Qm : forall i x y, x <= y -> Q i x <= Q i y.", "Hypothesis Qm : forall i x y, x <= y -> Q i x <= Q i x."),
]  # fmt: skip


@pytest.fixture(scope="module")
def library() -> Path:
    """The library, compiled as it is."""
    subprocess.run(["make", "-s", "-C", str(FORMAL), "library"], capture_output=True, check=True)
    return FORMAL / "coq"


@pytest.mark.parametrize(("file", "old", "new"), MUTATIONS)
def test_a_wrong_statement_does_not_compile(
    file: str, old: str, new: str, library: Path, tmp_path: Path
) -> None:
    """The file compiles as it is, since the library does; with the change `coqc` refuses it."""
    text = (library / f"{file}.v").read_text(encoding="utf-8")
    assert old in text
    assert (library / f"{file}.vo").exists()
    wrong = tmp_path / f"Wrong{file}.v"
    wrong.write_text(text.replace(old, new, 1), encoding="utf-8")
    command = ["coqc", "-Q", str(library), "Mirrormata", str(wrong)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode != 0
    assert "Syntax error" not in done.stderr
    assert "Can't find" not in done.stderr
