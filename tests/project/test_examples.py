"""Every example runs as a program and prints what matters."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mirrormata.tests.project.documented_pages import ROOT

EXAMPLES: dict[str, tuple[str, ...]] = {
    "construct_s5": (
        "permutations of 5 points: 4 factors, dimension 5, integers to 5",
        "equal on all words",
        "fp8_e5m2: 0 errors in 160,000 tokens",
    ),
    "from_your_own_transitions": (
        "cups: 6 states, group of order 6, solvable: True",
        "1 factor, dimension 3, integer",
        "completed 1 missing transition with a sink state 'sink'",
        "letter 'coin' merges states 'closed' and 'open'",
        "layers 2, factors 1, norm at most 1",
    ),
    "prove_your_own_layer": (
        "a = -1.0, b = 0.0: equivalent, 2 states",
        "shortest wrong word of 1044 letters",
        "shortest wrong word of 1 letters",
    ),
    "any_automaton": (
        "tomita:4: 3 layers, 2 factors, dimension 2",
        "bf16, 160,000 tokens: 0 errors",
        "wired as printed: after 0 it says sink, right is 0",
        "S5: layers 1, factors 4, integer",
        "S5: layers 3, factors 2, integer",
        "S5: layers 4, factors 1, algebraic",
        "S5: one layer needs at least 4 factors",
    ),
    "compare_left_and_right_product": (
        "left product:  (1, 2, 0)",
        "right product: (0, 1, 2)",
        "by inverses: (0, 1, 2)",
    ),
    "certified_horizon": (
        "rotation: 2 factors, 1 head, algebraic",
        "integers: 4 factors, 3 heads, integer",
        "'bf16': 0",
    ),
    "train_parity": ("train 2-256, test 256, 1024", "accuracy at length 256: 1.000 1.000 1.000 1.000"),
    "warm_start": (
        "AALpy found 6 states",
        "exact with noise {'16': [0.9",
    ),
    "write_and_check_certificate": ("valid: 24 states, 24 letters", "two factors exchanged: invalid: "),
}
"""What each example prints."""
LONG = {"train_parity", "warm_start"}
"""Examples that take more than a few seconds."""


def test_all_examples_are_here() -> None:
    assert {path.stem for path in (ROOT / "examples").glob("*.py")} == {*EXAMPLES, "demo", "__init__"}


@pytest.mark.parametrize(
    "name", [pytest.param(x, marks=pytest.mark.long) if x in LONG else x for x in EXAMPLES]
)
def test_example_prints(name: str) -> None:
    path = ROOT / "examples" / f"{name}.py"
    assert len(path.read_text(encoding="utf-8").splitlines()) < 40
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    for line in EXAMPLES[name]:
        assert line in done.stdout
