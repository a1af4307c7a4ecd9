"""`write_sweep_report`: a sweep as one page, whose first screen is the grid, with what failed and what is missing.

The page is made of the parts of the other reports (`models/report`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from ...foundation._errors import InputError
from ...foundation._files import is_file, is_folder, is_there, path_of, shown_path
from ...foundation._text import count_noun
from ..report._data import Cell, Chart, Mark, Section, Series, Table, plain_cell
from ..report._folder import show_origin
from ..report._page import load_plotly, load_template
from ..report._paper import COLUMN
from ..report._report import MAX_BYTES, Report, write_sections
from ..training._files import read_metrics
from ._run import SWEEP_FILE, SweepFolder
from ._sweep import Sweep, SweepCell, SweepRow
from ._table import curves_chart, sweep_caption, sweep_reading
from ._values import best_value, columns_of, is_good, say_value, seed_values, tests_of

MOST_CURVES = 24
"""Rows with a chart of their own seeds."""
GROUPS = 4
"""The first colour of groups."""


def write_sweep_report(
    folder: str | Path,
    *,
    output: str | Path | None = None,
    png: str | Path | None = None,
    pdf: str | Path | None = None,
    width: float = COLUMN,
    command: str = "",
    max_bytes: int = MAX_BYTES,
) -> Report:
    """Write a page about a sweep, which may be unfinished, and figures for a paper.

    Args:
        folder: the folder of the results, which `run_sweep` wrote.
        output: the file of the page, by default `report.html` in the folder.
        png: a folder for the figures as PNG, with their data as CSV; None for none.
        pdf: a folder for the figures as PDF, with their data as CSV; None for none.
        width: the width of the figures in inches, from 1.5 to 20.
        command: the command line that the page names as its origin.
        max_bytes: the largest size of the page in bytes.

    Returns:
        What was written.

    Raises:
        InputError: the folder holds no sweep, or a file is broken.
        MissingExtraError: the extra `report` is not installed.
        LimitError: the page would have more than `max_bytes`.
    """
    load_template()
    load_plotly()
    place = path_of(folder, "folder")
    if not is_folder(place):
        reason = "is a file, its folder is needed" if is_there(place) else "no such folder"
        raise InputError(f"{shown_path(folder)}: {reason}")
    home = SweepFolder(place)
    sweep = home.read()
    target = place / "report.html" if output is None else Path(output)
    sections = sweep_sections(sweep, home, command)
    return write_sections(
        f"{sweep.name}: a sweep", sections, target, png=png, pdf=pdf, width=width, max_bytes=max_bytes
    )


@dataclass(frozen=True)
class _State:
    """What is known of a cell: done, failed, being trained, stopped or not run; its result, and why or where."""

    row: SweepRow
    cell: SweepCell
    status: str
    result: Mapping[str, Any] | None = None
    reason: str = ""
    machine: str = ""

    @property
    def count(self) -> int:
        """Its seeds."""
        return len(self.cell.experiment.train.seeds)


class _Score(NamedTuple):
    """A row at the greatest length: its seeds that are solved, of how many, the median, and the longest word that a seed gets right."""

    name: str
    solved: int
    total: int
    middle: float
    reach: int


def sweep_sections(sweep: Sweep, folder: SweepFolder, command: str = "") -> tuple[Section, ...]:
    """The sections of the page: the answer, all cells, the curves of each row, the settings, and where all comes from.

    Args:
        sweep: the sweep.
        folder: its results, which may be incomplete.
        command: the command line that the page names as its origin.

    Returns:
        Sections; the text of the first is the headline.
    """
    states = [_state_of(row, cell, folder) for row in sweep.rows for cell in folder.cells(sweep, row)]
    columns = list(dict.fromkeys(x for s in states if s.result for x in s.result["accuracy"]))
    files = [folder.path / SWEEP_FILE, *(folder.path / "cells" / f"{s.cell.key}.json" for s in states)]
    origin = show_origin(folder.path, "a sweep", [path for path in files if is_file(path)], command)
    curves = _show_curves(sweep, states)
    return (
        _show_answer(sweep, states, columns),
        *([_show_choices(sweep, folder)] if sweep.trials else []),
        _show_cells(sweep, states, columns, folder),
        *([curves] if curves.every else []),
        _show_settings(sweep),
        origin,
    )


def _state_of(row: SweepRow, cell: SweepCell, folder: SweepFolder) -> _State:
    found = folder.result(cell)
    if found is not None:
        machine = found.get("machine", {}).get("device", "")
        if found["status"] == "failed":
            return _State(row, cell, "failed", None, str(found.get("reason", "")), machine)
        return _State(row, cell, "done", found["result"], "", machine)
    if (claimant := folder.claimant(cell)) is not None:
        return _State(row, cell, "being trained", None, f"by {claimant}")
    metrics = folder.path / "runs" / cell.key / "metrics.jsonl"
    lines = read_metrics(metrics) if is_file(metrics) else []
    if lines:
        steps = cell.experiment.train.steps
        return _State(
            row,
            cell,
            "stopped",
            None,
            f"at step {lines[-1]['step']:,} of {steps:,}; a further run goes on there",
        )
    return _State(row, cell, "not run", None, "a further run trains it")


def _measured(state: _State, sweep: Sweep, column: str) -> list[float]:
    """The value of each seed in the first arithmetic of its test; what was never asked counts as the worst."""
    return [] if state.result is None else seed_values(state.result, sweep, column)


def _show_answer(sweep: Sweep, states: Sequence[_State], columns: Sequence[str]) -> Section:
    """The headline, the grid, and a line for each cell that is not done."""
    last = columns[-1] if columns else ""
    shown = ["longest"] if sweep.measure == "longest_90" else list(columns)
    rows: list[tuple[Cell, ...]] = []
    scores: list[_Score] = []
    for row in sweep.rows:
        own = [s for s in states if s.row is row]
        total = sum(s.count for s in own)
        figures: list[Cell] = []
        for column in shown:
            values = [x for s in own for x in _measured(s, sweep, column)]
            good = sum(is_good(x, sweep) for x in values)
            figures.append(
                f"{say_value(median(values), sweep)} ({say_value(best_value(values, sweep), sweep)}), {good} of {total}"
                if values
                else None
            )
        final = [x for s in own for x in _measured(s, sweep, last)]
        longest = [int(x) for s in own if s.result is not None for x in s.result["longest_90"]]
        if final:
            solved = sum(is_good(x, sweep) for x in final)
            scores.append(_Score(row.name, solved, total, median(final), max(longest)))
        reach = (
            []
            if sweep.measure == "longest_90"
            else [f"{median(longest):,.0f} ({max(longest):,})" if longest else None]
        )
        rows.append(
            (
                row.name,
                _say_seeds(own),
                *figures,
                *reach,
                *([row.published or None] if _has_published(sweep) else []),
            )
        )
    at = "" if sweep.measure == "longest_90" or not last else f" at {last} letters"
    reach_column = [] if sweep.measure == "longest_90" else ["longest"]
    grid = Table(
        "grid", "Every row of the sweep", _explain_grid(sweep, states),
        ("row", "seeds", *shown, *reach_column, *(["published"] if _has_published(sweep) else [])), rows, f"{SWEEP_FILE} and cells/",
    )  # fmt: skip
    rest = [s for s in states if s.status != "done"]
    missing = Table(
        "missing", "What failed or is missing", "Failed cells count as not solved; the others are left out of medians.",
        ("cell", "row", "state", "why"), [(s.cell.key, s.row.name, s.status, s.reason or None) for s in rest], "cells/, locks/ and runs/",
    )  # fmt: skip
    return Section(
        "answer", "The answer", _headline(sweep, states, scores, at), (grid, *([missing] if rest else []))
    )


def _has_published(sweep: Sweep) -> bool:
    return any(row.published for row in sweep.rows)


def _say_seeds(states: Sequence[_State]) -> str:
    counts: dict[str, int] = {}
    for s in states:
        counts[s.status] = counts.get(s.status, 0) + s.count
    total = sum(counts.values())
    rest = ", ".join(f"{count} {status}" for status, count in counts.items() if status != "done")
    return f"{counts.get('done', 0)} of {total} done" + (f", {rest}" if rest else "")


def _explain_grid(sweep: Sweep, states: Sequence[_State]) -> str:
    unit = "letters" if sweep.measure == "longest_90" else sweep.measure.replace("_", " ")
    mark = "at most" if sweep.measure == "bits" else "at least"
    reach = "" if sweep.measure == "longest_90" else (
        " The column `longest` is the number of letters up to which 90 % are right at every position: the median, and the best seed in brackets."
    )  # fmt: skip
    named = list(
        dict.fromkeys(next(iter(tests_of(s.result, s.cell))) for s in states if s.result is not None)
    )
    arithmetic = f", tested in {' and '.join(named)}" if named else ""
    return (
        f"The {unit} at each test length{arithmetic}: the median over the seeds that are done, the best seed in brackets, and how many of all seeds are "
        f"solved ({mark} {sweep.good:g}).{reach}"
    )


def _headline(sweep: Sweep, states: Sequence[_State], scores: Sequence[_Score], at: str) -> str:
    """What was found in one sentence, and in another what is missing."""
    if scores:
        sign = -1 if sweep.measure == "bits" else 1
        top = max(scores, key=lambda score: (score.solved, sign * score.middle))
        figures = (
            f"{top.solved} of {count_noun(top.total, 'seed')}, {say_value(top.middle, sweep)} in the median, right up to {top.reach:,} letters "
            "at best"
        )
        if len(sweep.rows) > 1:
            all_solved = sum(score.solved == score.total for score in scores)
            verb = "is" if all_solved == 1 else "are"
            first = (
                f"{sweep.name}: {all_solved} of {count_noun(len(sweep.rows), 'row')} {verb} solved by all seeds{at}; the best is "
                f"{top.name} with {figures}."
            )
        else:
            first = f"{sweep.name}: solved{at} by {figures}."
    else:
        first = f"{sweep.name}: no cell is done."
    counts = {
        status: sum(s.status == status for s in states)
        for status in ("failed", "being trained", "stopped", "not run")
    }
    rest = [f"{count} {status}" for status, count in counts.items() if count]
    return first + (f" Of {count_noun(len(states), 'cell')}, {', '.join(rest)}." if rest else "")


def _show_choices(sweep: Sweep, folder: SweepFolder) -> Section:
    """What each row could choose, and what the trials gave."""
    column = columns_of(sweep)[-1]
    rows: list[tuple[Cell, ...]] = []
    for row in sweep.rows:
        chosen = folder.chosen(sweep, row)
        for point in row.points:
            found = folder.result(point.trial) or {"status": "not run"}
            values = seed_values(found["result"], sweep, column) if found["status"] == "done" else []
            figures = ", ".join(say_value(x, sweep) for x in values) or str(found["status"])
            rows.append((row.name, point.name, figures, "chosen" if point is chosen else None))
    trial = sweep.trials[0].experiment
    text = (
        f"Seeds {', '.join(map(str, trial.train.seeds))}, {trial.train.steps:,} steps, test words of seed {trial.eval.seed}: none of them "
        "is a seed, or are words, of the results above."
    )
    table = Table(
        "choices", "Settings that rows chose", f"{sweep.measure.replace('_', ' ')} at {column}, seed by seed.",
        ("row", "setting", "values", "choice"), rows, "cells/",
    )  # fmt: skip
    return Section("choices", "Choice of settings", text, (table,))


def _show_cells(
    sweep: Sweep, states: Sequence[_State], columns: Sequence[str], folder: SweepFolder
) -> Section:
    """A line for each seed of each cell."""
    measure = "accuracy" if sweep.measure == "longest_90" else sweep.measure
    rows: list[tuple[Cell, ...]] = []
    for s in states:
        for i, seed in enumerate(s.cell.experiment.train.seeds):
            figures: list[Cell] = [None] * (len(columns) + 2)
            precision: Cell = None
            if s.result is not None:
                values = [s.result[measure].get(column, []) for column in columns]
                first = (s.result["first_failure"][i] or {"least": None})["least"]
                precision = next(iter(tests_of(s.result, s.cell)))
                figures = [
                    *(row[i] if i < len(row) else None for row in values),
                    s.result["longest_90"][i],
                    first,
                ]
            rows.append(
                (s.row.name, seed, s.status, *figures, precision, s.machine or None, s.reason or None)
            )
    table = Table(
        "cells", "All cells, seed by seed", f"{measure.replace('_', ' ')} at each test length; `longest` and `first wrong` are numbers of letters.",
        ("row", "seed", "state", *columns, "longest", "first wrong", "test in", "machine", "note"), rows, "cells/",
    )  # fmt: skip
    return Section("cells", "All cells", f"{sweep_caption(sweep, folder)} {sweep_reading(sweep)}", (table,))


def _show_curves(sweep: Sweep, states: Sequence[_State]) -> Section:
    """The median of each row in one chart, and folded below it a chart for each row with a line for each seed."""
    first = sweep.rows[0].cells[0].experiment
    trained = first.train_lengths(first.build_task())[1]
    by_row = {
        row.name: [
            dict(s.result) for s in states if s.row is row and s.result is not None and "curve" in s.result
        ]
        for row in sweep.rows
    }
    chart = curves_chart(sweep.name, sweep.measure, list(by_row.items()), trained, "cells/")
    entry = "bits" if sweep.measure == "bits" else "exact" if sweep.measure == "exact" else "accuracy"
    folded: list[Chart] = []
    for name, results in list(by_row.items())[:MOST_CURVES]:
        if lines := _seed_lines(results, entry):
            marks = (Mark("x", trained, "training length"),)
            description = f"A line for each seed of {name}."
            label = f"{entry} at a position"
            folded.append(
                Chart(
                    f"row-{name}",
                    name,
                    description,
                    "letters read",
                    label,
                    lines,
                    "cells/",
                    marks,
                    log_x=True,
                )
            )
    rest = len([results for results in by_row.values() if results]) - len(folded)
    text = (
        f"{count_noun(rest, 'further row')} have curves in the data of the first chart only."
        if rest > 0
        else ""
    )
    return Section(
        "curves", "Accuracy by position", text, (chart,) if chart is not None else (), tuple(folded)
    )


def _seed_lines(results: Sequence[Mapping[str, Any]], entry: str) -> list[Series]:
    lines: list[Series] = []
    for result in results:
        curve = result["curve"]
        for i, seed in enumerate(result["seeds"]):
            lines.append(
                Series(f"seed {seed}", curve["positions"], curve[entry][i], "line", GROUPS + len(lines))
            )
    return lines


def _show_settings(sweep: Sweep) -> Section:
    """Entries that all rows share, and below them those that differ, a column each."""
    plain = [_flatten(row.cells[0].experiment.as_json()) for row in sweep.rows]
    entries = list(dict.fromkeys(key for own in plain for key in own if key != "train.seeds"))
    same = [key for key in entries if all(key in own and own[key] == plain[0].get(key) for own in plain)]
    varied = [key for key in entries if key not in same]
    common = Table(
        "settings", "Settings of all rows", "", ("entry", "value"), [(key, plain[0][key]) for key in same], SWEEP_FILE
    )  # fmt: skip
    if not varied:
        return Section("settings", "Settings", "", (common,))
    rows = [(row.name, *(own.get(key) for key in varied)) for row, own in zip(sweep.rows, plain, strict=True)]
    table = Table("varied", "What the rows vary", "", ("row", *varied), rows, SWEEP_FILE)
    return Section("settings", "Settings", "", (table,), (common,))


def _flatten(settings: Mapping[str, Any]) -> dict[str, Cell]:
    return {
        f"{section}.{key}": plain_cell(value)
        for section, own in settings.items()
        for key, value in own.items()
    }
