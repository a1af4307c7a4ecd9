"""The page of a sweep: the grid first, failures with their reasons, missing cells, curves; from results that the tests write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mirrormata.foundation._errors import InputError
from mirrormata.models.report._data import Chart, Section, Table
from mirrormata.models.sweeps._report import sweep_sections, write_sweep_report
from mirrormata.models.sweeps._run import SweepFolder
from mirrormata.models.sweeps._sweep import Sweep, SweepCell, read_sweep, sweep_as_json, sweep_from_json
from mirrormata.tests.cli.command_line import caller
from mirrormata.tests.models.report.browser import browser, browser_path, opened

TEXT = """
name = "steps"
seeds_a_cell = 2
good = 0.9
[task]
spec = "S3"
[model]
width = 16
[train]
steps = 300
batch = 4
lengths = [4, 6]
seeds = [0, 1, 2]
[eval]
lengths = [6, 12]
words = 8
[[rows]]
row = "one factor"
[[rows]]
row = "two factors"
"model.householders" = 2
published = "1.0"
[[rows]]
row = "three factors"
"model.householders" = 3
"""


@pytest.fixture
def sweep(tmp_path: Path) -> Sweep:
    file = tmp_path / "steps.toml"
    file.write_text(TEXT, encoding="utf-8")
    return read_sweep(file)


@pytest.fixture
def folder(tmp_path: Path, sweep: Sweep) -> SweepFolder:
    """The first row is done, the second has a failure, of the third one cell was begun and one was not."""
    place = SweepFolder(tmp_path / "results")
    place.path.mkdir()
    place.keep(sweep)
    one, two, three = sweep.rows
    place.write(one.cells[0], result_of(one.cells[0], [(0.5, 0.25, 5), (0.75, 0.5, 7)]))
    place.write(one.cells[1], result_of(one.cells[1], [(0.25, 0.125, 3)]))
    place.write(two.cells[0], result_of(two.cells[0], [(1.0, 0.95, 12), (1.0, 0.85, 11)]))
    place.write(two.cells[1], {"status": "failed", "reason": "OutOfMemoryError: no memory", "machine": {}})
    run = place.path / "runs" / three.cells[0].key
    run.mkdir(parents=True)
    run.joinpath("metrics.jsonl").write_text(
        '{"format": "mirrormata-metrics/1", "step": 150, "loss": [1.0, 1.0]}\n'
    )
    return place


def result_of(cell: SweepCell, figures: list[tuple[float, float, int]]) -> dict[str, Any]:
    """A result with the accuracy at 6 and at 12 letters, and the longest length, of each seed."""
    columns = {"6": [x for x, _, _ in figures], "12": [x for _, x, _ in figures]}
    result = {
        "seeds": list(cell.experiment.train.seeds), "words": 8, "length": 12, "chance": 1 / 6, "accuracy": columns, "exact": columns,
        "scaled_accuracy": columns, "longest_90": [x for *_, x in figures],
        "first_failure": [{"words": 4, "least": x + 1, "median": 9} for *_, x in figures],
        "curve": {"positions": [1, 6, 12], "accuracy": [[1.0, *x[:2]] for x in figures], "exact": [[1.0, *x[:2]] for x in figures]},
    }  # fmt: skip
    return {"status": "done", "result": result, "machine": {"device": "a card"}}


def items(sections: tuple[Section, ...], kind: type) -> dict[str, Any]:
    return {item.slug: item for section in sections for item in section.every if isinstance(item, kind)}


def test_the_first_section_is_the_answer(sweep: Sweep, folder: SweepFolder) -> None:
    sections = sweep_sections(sweep, folder)
    answer = sections[0]
    assert answer.text == (
        "steps: 0 of 3 rows are solved by all seeds at 12 letters; the best is two factors with 1 of 3 seeds, 0.900 in the median, right up to "
        "12 letters at best. Of 6 cells, 1 failed, 1 stopped, 1 not run."
    )
    grid, missing = answer.items
    assert isinstance(grid, Table)
    assert isinstance(missing, Table)
    assert tuple(grid.columns) == ("row", "seeds", "6", "12", "longest", "published")
    assert list(grid.rows) == [
        ("one factor", "3 of 3 done", "0.500 (0.750), 0 of 3", "0.250 (0.500), 0 of 3", "5 (7)", None),
        ("two factors", "2 of 3 done, 1 failed", "1.000 (1.000), 2 of 3", "0.900 (0.950), 1 of 3", "12 (12)", "1.0"),
        ("three factors", "0 of 3 done, 2 stopped, 1 not run", None, None, None, None),
    ]  # fmt: skip
    assert [row[1:] for row in missing.rows] == [
        ("two factors", "failed", "OutOfMemoryError: no memory"),
        ("three factors", "stopped", "at step 150 of 300; a further run goes on there"),
        ("three factors", "not run", "a further run trains it"),
    ]


def test_all_cells_and_curves_by_row(sweep: Sweep, folder: SweepFolder) -> None:
    sections = sweep_sections(sweep, folder)
    cells = items(sections, Table)["cells"]
    assert len(cells.rows) == 9
    assert cells.rows[0] == ("one factor", 0, "done", 0.5, 0.25, 5, 6, "fp32", "a card", None)
    assert cells.rows[5][:6] == ("two factors", 2, "failed", None, None, None)
    charts = items(sections, Chart)
    assert [series.name for series in charts["sweep"].series] == [
        "one factor (3 seeds)",
        "two factors (2 seeds)",
    ]
    assert {slug: len(chart.series) for slug, chart in charts.items() if slug != "sweep"} == {
        "row-one factor": 3,
        "row-two factors": 2,
    }
    assert items(sections, Table)["varied"].rows == (
        ("one factor", None),
        ("two factors", 2),
        ("three factors", 3),
    )


def test_a_sweep_that_is_done_or_that_has_not_begun(sweep: Sweep, tmp_path: Path) -> None:
    place = SweepFolder(tmp_path / "other")
    place.path.mkdir()
    place.keep(sweep)
    empty = sweep_sections(sweep, place)
    assert empty[0].text == "steps: no cell is done. Of 6 cells, 6 not run."
    assert [section.slug for section in empty] == ["answer", "cells", "settings", "provenance"]
    for cell in sweep.cells:
        place.write(cell, result_of(cell, [(1.0, 1.0, 12)] * len(cell.experiment.train.seeds)))
    done = sweep_sections(sweep, place)
    assert done[0].text.startswith("steps: 3 of 3 rows are solved by all seeds at 12 letters")
    assert done[0].text.endswith("right up to 12 letters at best.")
    assert len(done[0].items) == 1


def test_the_list_of_cells_is_kept_and_read(sweep: Sweep, folder: SweepFolder, tmp_path: Path) -> None:
    assert folder.read() == sweep
    assert sweep_from_json(sweep_as_json(sweep), "x") == sweep
    (folder.path / "sweep.json").write_text('{"format": "mirrormata-sweep/1", "name": "x"}', encoding="utf-8")
    with pytest.raises(InputError, match=r"sweep\.json: not the list of a sweep's cells"):
        folder.read()
    (folder.path / "sweep.json").unlink()
    with pytest.raises(InputError, match="once more; it trains nothing that is finished"):
        write_sweep_report(folder.path)
    with pytest.raises(InputError, match="no such folder"):
        write_sweep_report(tmp_path / "nowhere")


def test_the_command_writes_the_page(folder: SweepFolder, capsys: pytest.CaptureFixture[str]) -> None:
    call = caller(capsys)
    found = call("report", str(folder.path), "--json")
    assert found.status == 0, found.err
    assert found.json["sections"] == ["answer", "cells", "curves", "settings", "provenance"]
    page = (folder.path / "report.html").read_text(encoding="utf-8")
    assert "<h1>steps: 0 of 3 rows are solved by all seeds at 12 letters" in page
    refused = call("report", str(folder.path), "--seed", "1")
    assert refused.error.startswith("--seed is for trainings")


@pytest.mark.long
@pytest.mark.parametrize(("width", "theme"), [(390, "dark"), (1360, "light")])
def test_axe_finds_nothing_on_the_page(folder: SweepFolder, width: int, theme: Any) -> None:
    path = browser_path()
    if path is None:
        pytest.skip("no Chromium")
    from axe_playwright_python.sync_playwright import Axe

    page = write_sweep_report(folder.path).page
    with browser(path) as started:
        shown = opened(
            started, page, color_scheme=theme, viewport={"width": width, "height": 900}, bypass_csp=True
        )
        shown.evaluate("() => document.querySelectorAll('details').forEach(d => { d.open = true; })")
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        found = Axe().run(shown).response
        assert [(rule["id"], rule["nodes"][0]["html"]) for rule in found["violations"]] == []
        heard: list[str] = shown.heard  # type: ignore[attr-defined]
        assert [line for line in heard if not line.startswith("request")] == []
