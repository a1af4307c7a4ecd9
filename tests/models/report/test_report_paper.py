"""Figures for papers: their size, fonts and data; labels with signs that matplotlib would read."""

from __future__ import annotations

import csv
import io
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.image import imread

from mirrormata.foundation._errors import InputError
from mirrormata.models.report._data import Chart, Series
from mirrormata.models.report._paper import draw_chart, draw_items
from mirrormata.models.report._plots import choose_look
from mirrormata.tests.models.report.report_examples import accuracy, betas, clusters, sections, spectrum


def size(png: bytes) -> tuple[int, int]:
    width, height = struct.unpack(">II", png[16:24])
    return width, height


@pytest.mark.parametrize("width", [3.25, 6.75])
def test_a_figure_is_as_wide_as_the_column(width: float) -> None:
    assert size(draw_chart(accuracy(), "png", width))[0] == round(300 * width)


def test_a_width_that_is_no_paper_is_refused(tmp_path: Path) -> None:
    for width in (0.5, 30.0, -1.0, float("nan")):
        with pytest.raises(InputError, match="inches are possible"):
            list(draw_items(sections(tmp_path), "png", width))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("chart", [accuracy(), spectrum(), clusters(), betas()], ids=lambda c: c.slug)
def test_pdf_fonts_are_embedded_as_truetype_and_bytes_are_the_same(chart: Chart) -> None:
    drawn = draw_chart(chart, "pdf")
    assert b"/Type3" not in drawn
    assert b"/FontFile2" in drawn
    assert b"CreationDate" not in drawn
    assert draw_chart(chart, "pdf") == drawn


def test_each_chart_has_its_data_beside_it_and_each_picture_its_drawing(tmp_path: Path) -> None:
    found = dict(draw_items(sections(tmp_path), "pdf"))
    assert sorted(found) == [
        "accuracy.csv", "accuracy.pdf", "betas.csv", "betas.pdf", "clusters.csv", "clusters.pdf", "letters.csv",
        "mirrors-1.svg", "mirrors-2.svg", "norms.csv", "norms.pdf", "spectrum.csv", "spectrum.pdf",
    ]  # fmt: skip
    _, *rows = csv.reader(io.StringIO(found["spectrum.csv"].decode()))
    assert len(rows) == sum(len(s.x) for s in spectrum().series)
    assert {row[1] for row in rows} == {"head 1", "head 2"}
    assert found["mirrors-1.svg"].startswith(b"<?xml")


def test_a_role_has_the_colour_that_it_has_on_the_page() -> None:
    for role in (0, 1, 2, 4, 9):
        chart = Chart("c", "c", "", "x", "y", (Series("s", (0.0, 1.0), (0.0, 1.0), "bars", role),), "")
        pixels = imread(io.BytesIO(draw_chart(chart, "png", 1.6)))[..., :3].reshape(-1, 3)
        shades, counts = np.unique((pixels * 255).round().astype(int), axis=0, return_counts=True)
        coloured = shades.min(1) < shades.max(1)
        often = shades[coloured][counts[coloured].argmax()]
        assert often.tolist() == [round(255 * part) for part in to_rgb(choose_look(role).colour)], role


def test_labels_are_no_formulas_and_none_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    saved = Figure.savefig

    def look_first(figure: Figure, *arguments: Any, **options: Any) -> None:
        shown.extend(text.get_text() for legend in figure.legends for text in legend.get_texts())
        saved(figure, *arguments, **options)

    monkeypatch.setattr(Figure, "savefig", look_first)
    names = ("$\\frac{a$", "_hidden", "a$b$c")
    series = tuple(Series(name, (0.0, 1.0), (0.0, 1.0), "line", k) for k, name in enumerate(names))
    draw_chart(replace(accuracy(), series=series, x_label="$x_", log_x=False), "png")
    assert shown[:3] == ["\\$\\frac{a\\$", " _hidden", "a\\$b\\$c"]
    assert shown[3:] == ["training length 64", "predicted horizon 120", "chance"]
