"""The page of training results says what the committed results say: its tables, and the figures in its sentences."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch

from mirrormata.benchmarks.sweep_results import rebuild
from mirrormata.models._config import ModelConfig
from mirrormata.models._model import Model
from mirrormata.models._records import record_of
from mirrormata.models.sweeps._sweep import read_sweep
from mirrormata.tests.project.generated_training import COMPARED, ROWS, sweep_figure
from mirrormata.tests.project.table_texts import ROOT, measured_results

SWEEPS = sorted((ROOT / "benchmarks/results").glob("sweep_*.json"))
PAGE = (ROOT / "docs/training-results.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", SWEEPS, ids=lambda path: path.stem)
def test_tables_are_made_of_the_cells(path: Path) -> None:
    document = json.loads(path.read_text(encoding="utf-8"))
    assert rebuild(document) == document


@pytest.mark.parametrize("path", SWEEPS, ids=lambda path: path.stem)
def test_every_result_names_its_arithmetic(path: Path) -> None:
    document = json.loads(path.read_text(encoding="utf-8"))
    head, *rows = document["table"]
    assert {row[head.index("test in")] for row in rows} <= {"fp32", "bf16"}


def figure(sweep: str, row: str, column: str, part: str = "median", precision: str = "bf16") -> str:
    """A figure of a table, as sentences write it: without the zero before the point."""
    cell = sweep_figure(sweep, row, column, precision)
    found = re.match(r"[-\d.,]+", cell) if part == "median" else re.match(part, cell)
    assert found is not None, (sweep, row, cell)
    return re.sub(r"^0\.", ".", found[0])


SAID: tuple[tuple[str, tuple[tuple[Any, ...], ...]], ...] = (
    (
        "8 of 8 seeds with two factors reach the mark,\n5 of 8 with three, 3 of 8 with four",
        tuple(
            ("word_problems_s4", f"{count} factors, [-1,1]", "≥ 0.5 at 512", r"\d of 8", "fp32")
            for count in (2, 3, 4)
        ),
    ),
    (
        "the medians are .992, .990 and .518",
        tuple(
            ("word_problems", row, "512") for row in ("S_4, 2 factors", "A_5, 2 factors", "S_5, 4 factors")
        ),
    ),
    (
        ".906 without the\nadditive path and .125 with it",
        (
            ("additive", "without it, learned initial state", "512"),
            ("additive", "with the additive path, learned initial state", "512"),
        ),
    ),
    ("the\nmedian is .496", (("additive", "with the additive path, zero initial state", "512"),)),
    (
        "DeltaNet gave .571 and gated DeltaNet .387",
        (
            ("modular_arithmetic_long", "DeltaNet, [-1,1]", "40-256"),
            ("modular_arithmetic_long", "Gated DeltaNet, [-1,1]", "40-256"),
        ),
    ),
    (
        "a scaled accuracy of .994 and .996 at 40 to 256 letters, and .068 and .071 without",
        tuple(
            ("parity_curriculum", row, "40-256")
            for row in ("Mamba-like, [-1,1]", "DeltaNet, [-1,1]", "Mamba-like, [0,1]", "DeltaNet, [0,1]")
        ),
    ),
    ("Without the recipe (`parity.toml`) DeltaNet reaches .858", (("parity", "DeltaNet, [-1,1]", "40-256"),)),
    ("DeltaNet with [-1, 1] .815 as it is", (("modular_arithmetic", "DeltaNet, [-1,1]", "40-256"),)),
    (
        "and .931 with a recipe",
        (("modular_arithmetic", "DeltaNet, [-1,1], hard sigmoid, smoothed labels, lr 3e-3", "40-256"),),
    ),
    ("with [0, 1] .131", (("modular_arithmetic", "DeltaNet, [0,1]", "40-256"),)),
    ("Mamba-like models .323 with [-1, 1]", (("modular_arithmetic", "Mamba-like, [-1,1]", "40-256"),)),
    ("and .160 with [0, 1]", (("modular_arithmetic", "Mamba-like, [0,1]", "40-256"),)),
    ("mLSTM .112", (("modular_arithmetic", "mLSTM", "40-256"),)),
    ("Transformer .024", (("modular_arithmetic", "Transformer", "40-256"),)),
    ("sLSTM .040", (("modular_arithmetic", "sLSTM", "40-256"),)),
    ("gave .307 here", (("modular_arithmetic", "Gated DeltaNet, [-1,1]", "40-256"),)),
)
"""Texts of the page, and the figures in them, in their order."""


@pytest.mark.parametrize(("text", "places"), SAID, ids=[text[:40] for text, _ in SAID])
def test_sentences_have_the_figures_of_the_tables(text: str, places: tuple[tuple[Any, ...], ...]) -> None:
    assert text in PAGE
    wanted = [figure(*place) for place in places]
    assert re.findall(r"\d of 8|(?<![\d/])\.\d{3}", text) == wanted


def test_differences_in_bits_are_as_said() -> None:
    head, *rows = measured_results("sweep_language_nvidia_h200")["table"]
    spans = head[head.index("1-512") : head.index("best at 4097-16384")]
    medians = {row[0]: [float(row[head.index(span)].split()[0]) for span in spans] for row in rows}
    beyond = [
        low - high
        for model in ("DeltaNet", "DeltaProduct 2", "DeltaProduct 3")
        for low, high in zip(medians[f"{model}, [0,1]"][1:], medians[f"{model}, [-1,1]"][1:], strict=True)
    ]
    assert max(map(abs, beyond)) == pytest.approx(0.029, abs=0.0006)
    assert "differ by at most .029 bits" in PAGE


def test_exact_heads_make_every_seed_right() -> None:
    seeds = [seed for name in COMPARED for seed in measured_results(name)["seeds"]]
    assert len(seeds) == 24
    assert "all 24 models are right on every letter" in PAGE
    for seed in seeds:
        assert (seed["accuracy_replaced"], seed["first_failure_replaced"]) == (1.0, None)
        assert seed["heads"]
        assert all(head["representation"] is not None for head in seed["heads"])
    assert min(seed["accuracy"] for seed in seeds) < 2 / 3  # wrong on a third of the letters before


def test_rows_of_the_papers_have_a_verdict_and_a_figure() -> None:
    verdicts = {"reproduced", "weaker", "not reached", "not learned", "not run"}
    for row in ROWS:
        assert row.verdict in verdicts
        assert bool(row.figures) == (row.verdict != "not run"), row.experiment


def test_models_of_language_have_as_many_parameters_as_said() -> None:
    sweep = read_sweep(ROOT / "benchmarks/sweeps/language.toml")
    counts = set()
    for row in sweep.rows:
        experiment = row.cells[0].experiment
        if "transformer" not in experiment.model.values():
            config = record_of({**experiment.model, "letters": 257, "classes": 256}, ModelConfig, "model")
            with torch.device("meta"):
                counts.add(Model(config).parameter_count)
    assert (round(min(counts) / 1e6, 1), round(max(counts) / 1e6, 1)) == (2.8, 3.8)
    assert "2.8 to 3.8 million parameters" in PAGE


def test_labels_of_a_third_are_said_of_gates() -> None:
    """Half of the letters of expressions have a label: 12,000 steps of 256 words of 3 to 40 letters beside 102.4 million."""
    assert pytest.approx(1 / 3, abs=0.02) == 12_000 * 256 * 21.5 / 2 / 102.4e6
