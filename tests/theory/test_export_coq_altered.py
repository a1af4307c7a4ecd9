"""Every number of a file of `export coq` altered in turn: Coq refuses what is no longer true, which a reader without Coq decides."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from mirrormata.constructions._construct import construct
from mirrormata.tests.theory.coq_file import CERTIFICATE, alterations, is_true
from mirrormata.theory._export_coq import coq_text

needs_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed: apt install coq")


def text_of(spec: str, theorem: str | None) -> str:
    return coq_text(construct(spec, theorem=theorem).certificate())


def as_module(number: int, text: str) -> str:
    """The certificate and the theorem, with a proof that says whether it is one."""
    head, _, proof = text[text.index(CERTIFICATE) :].partition("Proof.")
    steps = [step.strip() for step in re.split(r"\.\s", proof[: proof.index("Qed.")]) if step.strip()]
    tried = f'tryif ({"; ".join(steps)}) then idtac "accepted {number}" else idtac "refused {number}"'
    return f"Module M{number}.\n{head}Proof. {tried}. Abort.\nEnd M{number}.\n"


def accepted(texts: list[str], folder: Path) -> list[bool]:
    """Which of the files, all with the same library, Coq would accept; in one run."""
    library = texts[0][: texts[0].index(CERTIFICATE)]
    (folder / "all.v").write_text(library + "".join(as_module(i, text) for i, text in enumerate(texts)))
    done = subprocess.run(["coqc", "-q", "all.v"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pairs = [line.split() for line in done.stdout.splitlines() if line]
    said = {number: verdict for verdict, number in pairs}
    return [said[str(i)] == "accepted" for i in range(len(texts))]


def refuse_what_is_false(spec: str, theorem: str | None, count: int | None, folder: Path) -> None:
    right = text_of(spec, theorem)
    altered = alterations(right)
    altered = altered if count is None else random.Random(0).sample(altered, count)
    found = accepted([right, *altered], folder)
    assert is_true(right)
    assert found[0]
    for text, accepts in zip(altered, found[1:], strict=True):
        assert is_true(text) or not accepts
    # next to nothing in the file is idle: gates before an erased state, a start that is read alike
    assert sum(found[1:]) <= max(4, len(altered) // 20)


@needs_coq
@pytest.mark.parametrize(
    ("spec", "theorem", "count"),
    [
        ("parity", None, None),
        ("flipflop", None, None),
        ("tomita:4", "G.T4", 40),
        ("mod:4", "own.T2tight", 40),
        ("mod_arith:3", None, 12),
        ("T3", "DP.T6", 20),
    ],
)
def test_altered_numbers_are_refused(
    spec: str, theorem: str | None, count: int | None, tmp_path: Path
) -> None:
    refuse_what_is_false(spec, theorem, count, tmp_path)


@needs_coq
@pytest.mark.long
@pytest.mark.parametrize(
    ("spec", "theorem"), [("tomita:4", "G.T4"), ("mod:4", "own.T2tight"), ("Z4", "G.A3")]
)
def test_every_altered_number_is_refused(spec: str, theorem: str, tmp_path: Path) -> None:
    """Layers, read-outs of every layer and of the last one, codes, the start, and the theorem's own numbers."""
    refuse_what_is_false(spec, theorem, None, tmp_path)


LAST = "([], [([], 3%nat)]);\n      ([0%nat], [([[[1]]], 2%nat); ([[[0]]], 3%nat)]);"


@needs_coq
@pytest.mark.parametrize(
    ("old", "new"),
    [
        # a read-out of the last layer, an entry of it left out, all of them left out, and two of them exchanged
        (LAST, LAST.replace("2%nat", "1%nat")),
        (LAST, LAST.replace("([[[1]]], 2%nat); ", "")),
        (LAST, LAST.replace("([], [([], 3%nat)]);", "([], []);")),
        (LAST, LAST.replace("([[[1]]], 2%nat); ([[[0]]], 3%nat)", "([[[0]]], 2%nat); ([[[1]]], 3%nat)")),
        # a letter of the last layer left out, and a head that is not there
        ("\n      (Factors 1 [], []) (* 3 *)]]", "]]"),
        ("[([0%nat], [([[[0; 1]]], 1%nat)", "[([1%nat], [([[[0; 1]]], 1%nat)"),
        # a hidden state left out, and a shorter vector
        ("  (3%nat, [[[[1; 1]]]; [[[0; 0]]]; [[[0]]]]);\n", ""),
        ("Householder 1 [0; 1]", "Householder 1 [0]"),
    ],
)  # fmt: skip
def test_altered_read_outs_are_refused(old: str, new: str, tmp_path: Path) -> None:
    right = text_of("tomita:4", "G.T4")
    assert old in right
    text = right.replace(old, new, 1)
    assert text != right
    path = tmp_path / "altered.v"
    path.write_text(text.replace(") (* 2 *);]]", ") (* 2 *)]]"))
    done = subprocess.run(
        ["coqc", "-q", path.name], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert 'Unable to unify "true" with "false"' in done.stderr


@needs_coq
def test_the_last_layer_without_read_outs_is_refused(tmp_path: Path) -> None:
    right = text_of("mod:4", "own.T2tight")
    layer = right.rindex("    [([0%nat]")
    path = tmp_path / "altered.v"
    path.write_text(right[:layer] + "    []" + right[right.index("].\n", layer) :])
    done = subprocess.run(
        ["coqc", "-q", path.name], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert 'Unable to unify "true" with "false"' in done.stderr


@needs_coq
@pytest.mark.parametrize(
    "spec", [("tomita:4", "own.chain"), ("random:states=6,letters=2,seed=3", "own.window")]
)
def test_of_a_chain_the_numbers_that_define_it_are_refused(spec: tuple[str, str], tmp_path: Path) -> None:
    """A chain follows whatever automaton its transitions are; sizes, window, and numbers that the theorem repeats can be wrong."""
    right = text_of(*spec)
    first = right.index("Definition instance")
    last = right.index("Definition listed_chains")
    altered = [
        text
        for text in alterations(right)
        if text[:first] == right[:first]
        and text.endswith(right[last:])
        and "nth a transitions []) 0;" in text
    ]
    found = accepted([right, *altered], tmp_path)
    # a longer window is one too
    wider = [re.sub(r"window := Some (\d+)", lambda m: f"window := Some {int(m[1]) + 1}", right)]
    assert found[0]
    assert len(altered) >= 6
    for text, accepts in zip(altered, found[1:], strict=True):
        assert accepts == (text in wider and text != right)
