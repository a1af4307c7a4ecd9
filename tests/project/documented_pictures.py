"""`python -m mirrormata.tests.project.documented_pictures` draws the pictures of the pages into docs/images."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from statistics import median

from mirrormata import automaton_from_spec, construct, random_words, run
from mirrormata.benchmarks.cascade_levels_picture import draw_cascade_levels
from mirrormata.benchmarks.kernel_roofline import draw_roofline
from mirrormata.benchmarks.kernel_tables import results
from mirrormata.benchmarks.random_automata import draw_picture as draw_random_automata
from mirrormata.models.report._data import Chart, Series
from mirrormata.models.report._paper import draw_chart
from mirrormata.models.sweeps._table import WIDTH, curves_chart
from mirrormata.theory._horizon import horizons
from mirrormata.theory._run_file import margin_series
from mirrormata.theory.pictures._automaton import draw_automaton
from mirrormata.theory.pictures._cascade import draw_cascade
from mirrormata.theory.pictures._construction import draw_construction
from mirrormata.theory.pictures._mirrors import draw_mirrors
from mirrormata.theory.pictures._run import draw_run
from mirrormata.theory.spectra._model import model_spectrum
from mirrormata.theory.spectra._picture import draw_spectrum
from mirrormata.theory.verifying._picture import draw_claims
from mirrormata.theory.verifying._registry import load_claims

ROOT = Path(__file__).resolve().parents[2]
IMAGES, RESULTS = ROOT / "docs" / "images", ROOT / "benchmarks" / "results"


def mod5_run(path: Path) -> None:
    """The margin of mod:5 in bf16 over 3,000 tokens of 8 random words."""
    lrnn = construct("mod:5")
    words = random_words(lrnn, 8, 3_000, seed=0)
    report = run(lrnn, words, dtype="bf16")
    series = margin_series(lrnn, words, "bf16")
    draw_run({"bf16": series}, {"bf16": horizons(lrnn)["bf16"]}, {"bf16": report.first_error}, path)


def cascade_levels(path: Path) -> None:
    """Levels of cascades against states, from the committed results."""
    draw_cascade_levels(json.loads((RESULTS / "cascade_levels.json").read_text(encoding="utf-8")), path)


def claims(path: Path) -> None:
    """Which claim builds on which, with the recorded statuses."""
    recorded = json.loads((IMAGES.parent / "claims.json").read_text(encoding="utf-8"))["claims"]
    draw_claims(
        [entry.claim for entry in load_claims()], {row["claim"]: row["status"] for row in recorded}, path
    )


def modular_arithmetic(path: Path) -> None:
    """Accuracy by length from the committed results; rows that differ from others by smoothed labels alone are left out."""
    found = json.loads((RESULTS / "sweep_modular_arithmetic_nvidia_h200.json").read_text(encoding="utf-8"))
    rows = [
        (row["row"], [cell["result"] for cell in row["cells"] if "result" in cell])
        for row in found["rows"]
        if not row["row"].endswith("smoothed labels")
    ]
    chart = curves_chart(found["name"], found["measure"], rows, 40, found["sweep"])
    assert chart is not None
    path.write_bytes(draw_chart(chart, "svg", WIDTH, title=True))


def word_problems_s4(path: Path) -> None:
    """Words of S_4 without a wrong answer, by length, for each number of factors; rows that nobody learned are one line at 0."""
    found = json.loads((RESULTS / "sweep_word_problems_s4_nvidia_h200.json").read_text(encoding="utf-8"))
    rows = [
        (row["row"], [cell["result"] for cell in row["cells"] if "result" in cell]) for row in found["rows"]
    ]
    chart = curves_chart(found["name"], found["measure"], rows, 128, found["sweep"])
    assert chart is not None
    path.write_bytes(draw_chart(chart, "svg", WIDTH, title=True))


def planted_heads(path: Path) -> None:
    """How far models with planted heads of S_3 track after more and more training on text, the median of five seeds."""
    found = json.loads((RESULTS / "planted_s3_nvidia_h200.json").read_text(encoding="utf-8"))
    series = []
    for role, (arm, rows) in enumerate(found["arms"].items(), start=4):
        steps = sorted({row["step"] for row in rows})
        shares = [median(row["accuracy"]["8192"] for row in rows if row["step"] == step) for step in steps]
        series.append(Series(arm, steps, shares, "line", role))
    chart = Chart(
        "planted-heads", "Heads of S_3 planted into a byte model",
        "With exercise the share of right answers rises to nearly 1; without, it falls to 0 within a thousand steps.",
        "training steps on text", "right answers at 8,192 letters", series, "five seeds, medians", y_range=(0.0, 1.0),
    )  # fmt: skip
    path.write_bytes(draw_chart(chart, "svg", WIDTH, title=True))


def random_automata(path: Path) -> None:
    """Layers and work of random automata by the number of states, as measured."""
    found = ROOT / "benchmarks/results/random_automata.json"
    draw_random_automata(json.loads(found.read_text(encoding="utf-8")), path)


PICTURES: dict[str, Callable[[Path], None]] = {
    "s3.svg": lambda path: draw_mirrors(construct("S3"), path),
    "s5-generators.svg": lambda path: draw_mirrors(construct("S5[generators]"), path),
    "tomita4.svg": lambda path: draw_automaton(automaton_from_spec("tomita:4"), path),
    "mod5-run.svg": mod5_run,
    "mod5-spectrum.svg": lambda path: draw_spectrum(model_spectrum(construct("mod:5"), products=2), path),
    "cascade_levels.svg": cascade_levels,
    "kernels-roofline.svg": lambda path: draw_roofline(results(), path),
    "claims.svg": claims,
    "modular-arithmetic.svg": modular_arithmetic,
    "word-problems-s4.svg": word_problems_s4,
    "planted-heads.svg": planted_heads,
    "t4-chain.svg": lambda path: draw_construction(construct("T4", theorem="own.chain"), path),
    "random-automata.svg": random_automata,
    "tomita4-window.svg": lambda path: draw_construction(construct("tomita:4", theorem="own.window"), path),
    "mod_arith5.svg": lambda path: draw_cascade(construct("mod_arith:5"), path),
}
"""What draws each picture."""
SCREENSHOTS = ("report.png",)
"""Made by a browser, see `report_screenshot`: their bytes differ from machine to machine."""


if __name__ == "__main__":
    for name, draw in PICTURES.items():
        draw(IMAGES / name)
        print(f"docs/images/{name}")
