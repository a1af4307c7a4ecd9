"""`python -m mirrormata.tests.models.report.report_screenshot` trains a model, reports it, and takes the picture of docs/report.md.

A browser's picture differs from machine to machine in fonts and antialiasing, and a training in its last digits, so the
bytes cannot be held by a test. What the picture shows in words, the headings and the titles of axes, is stored in
it, and a test compares that with what such a report has.
"""

from __future__ import annotations

import io
import json
import tempfile
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from mirrormata.models.report._report import report
from mirrormata.models.training._experiment import experiment_from_dict
from mirrormata.models.training._train import train
from mirrormata.tests.models.report.browser import browser, browser_path, opened

IMAGE = Path(__file__).resolve().parents[3] / "docs" / "images" / "report.png"
SECTION = "learned-spectra"
SIZE = {"width": 1280, "height": 760}
EXPERIMENT = {
    "task": {"spec": "S3", "protocol": "word_problem"},
    "model": {
        "family": "deltaproduct", "householders": 2, "range": [-1, 1], "width": 64, "heads": 1, "head_dim": 16,
        "value_dim": 16, "mlp": 2.0,
    },
    "train": {
        "steps": 800, "batch": 32, "lengths": [4, 32], "curriculum": 0.5, "seeds": [0, 1, 2], "lr": 2e-3,
        "log_every": 20, "device": "cpu", "threads": 1,
    },
    "eval": {"lengths": [32, 128, 512], "words": 128},
}  # fmt: skip
"""DeltaProduct with two factors on the word problem of S_3, three seeds, half a minute on one core."""


def screenshot(page: Path, path: Path) -> None:
    """A part of a report, from the heading of `SECTION` on, with what it says in the picture's text `shown`."""
    found = browser_path()
    if found is None:
        raise FileNotFoundError("chromium is not installed")
    with browser(found) as started:
        shown = opened(started, page, viewport=SIZE, color_scheme="light")
        shown.evaluate("document.documentElement.style.scrollBehavior = 'auto'")
        shown.evaluate("id => document.getElementById(id).scrollIntoView()", f"heading_{SECTION}")
        data, texts = shown.screenshot(), words(shown)
    picture = Image.open(io.BytesIO(data)).convert("RGB")
    note = PngInfo()
    note.add_text("shown", json.dumps(texts))
    picture.save(path, optimize=True, pnginfo=note)


def words(shown: object) -> list[str]:
    """Headings of the section, and titles of the axes in it."""
    found: list[str] = shown.evaluate(  # type: ignore[attr-defined]
        "id => [...document.getElementById(id).querySelectorAll('h2, h3, .xtitle, .ytitle')].map(e => e.textContent)",
        f"section_{SECTION}",
    )
    return found


def stored_words(path: Path) -> list[str]:
    """What a picture of `screenshot` says it shows."""
    with Image.open(path) as picture:
        found: list[str] = json.loads(picture.info["shown"])
    return found


def example(folder: Path) -> Path:
    """The report that is pictured, of a training in `folder/S3`."""
    train(experiment_from_dict(EXPERIMENT, "the picture's training"), folder / "S3")
    return report(folder / "S3", command="mirrormata report S3").page


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        screenshot(example(Path(name)), IMAGE)
    print("docs/images/report.png")
