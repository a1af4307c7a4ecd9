"""A sweep's table: a line for each row, seeds that failed and rows not yet run shown as such, the budget above it."""

from __future__ import annotations

import math
from statistics import median
from typing import Any

from ...constructions.errors import InputError
from ..evaluation import length_text
from .file import Row, Sweep
from .run import SweepFolder

NOT_RUN = "not run"


def sweep_table(sweep: Sweep, folder: SweepFolder) -> list[list[str]]:
    """Headings, then rows: for each test length the median over seeds, the best, and how many seeds are good.

    `InputError` where cells of one SPEC had different texts, as machines with different versions of Python have.
    """
    _check_texts(sweep, folder)
    columns = _columns(sweep)
    table = [["row", "seeds", *columns, *(["published"] if any(row.published for row in sweep.rows) else [])]]
    for row in sweep.rows:
        seeds, values, failed, running = _seeds(row, sweep, folder, columns)
        done = len(next(iter(values.values()))) if values else 0
        state = (
            f"{done} of {seeds}" + (f", {failed} failed" if failed else "") + (", running" if running else "")
        )
        cells = [_figures(values[c], seeds, sweep) if done else NOT_RUN for c in columns]
        if not done and failed:
            cells = ["failed"] * len(columns)
        table.append([row.name, state, *cells, *([row.published] if len(table[0]) > len(cells) + 2 else [])])
    return table


def sweep_caption(sweep: Sweep) -> str:
    """The budget that all rows have, and how to read the table."""
    first = sweep.rows[0].cells[0].experiment
    task = first.built_task()
    low, high = first.train_lengths(task)
    tokens = first.train.steps * first.train.batch * (low + high) // 2
    share = {"longest_90": "letters", "bits": "bits per label"}.get(
        sweep.measure, sweep.measure.replace("_", " ")
    )
    mark = "at most" if sweep.measure == "bits" else "at least"
    return (
        f"{sweep.name}: {sweep.caption}{' ' if sweep.caption else ''}{first.train.steps:,} steps of {first.train.batch:,} "
        f"words of {low if low == high else f'{low}-{high}'} letters, about {tokens:,} tokens a seed, in every row. "
        f"{share}: median over seeds, best seed in brackets, seeds with {mark} {sweep.good:g} of all; seeds that "
        "failed count as not reaching it."
    )


def sweep_json(sweep: Sweep, folder: SweepFolder) -> dict[str, Any]:
    """All results, cell by cell, with the caption and the table."""
    rows = []
    for row in sweep.rows:
        cells = [{"key": c.key, **(folder.result(c) or {"status": NOT_RUN})} for c in row.cells]
        rows.append({"row": row.name, "published": row.published, "cells": cells})
    return {
        "name": sweep.name,
        "caption": sweep_caption(sweep),
        "measure": sweep.measure,
        "table": sweep_table(sweep, folder),
        "rows": rows,
    }


def _check_texts(sweep: Sweep, folder: SweepFolder) -> None:
    seen: dict[str, str] = {}
    for cell in sweep.cells:
        found = folder.result(cell) or {}
        spec = cell.experiment.task.spec
        if spec.partition(":")[0] == "text" and "contract" in found:
            words = found["contract"]["words"]
            if seen.setdefault(spec, words) != words:
                raise InputError(
                    f"{cell.key}: its text is not that of other cells ({words}); remove it and run it again"
                )


def _columns(sweep: Sweep) -> list[str]:
    if sweep.measure == "longest_90":
        return ["longest"]
    experiments = [row.cells[0].experiment for row in sweep.rows]
    found = [length_text(x) for e in experiments for x in e.test_lengths(e.built_task())]
    return list(dict.fromkeys(found))


def _seeds(
    row: Row, sweep: Sweep, folder: SweepFolder, columns: list[str]
) -> tuple[int, dict[str, list[float]], int, bool]:
    """Seeds of the row, values by column of those that are done, failed seeds, whether one is being trained."""
    values: dict[str, list[float]] = {column: [] for column in columns}
    seeds = failed = 0
    running = False
    for cell in row.cells:
        own = len(cell.experiment.train.seeds)
        seeds += own
        found = folder.result(cell)
        if found is None:
            running = running or folder.claimant(cell) is not None
        elif found["status"] == "failed":
            failed += own
        elif sweep.measure == "longest_90":
            values["longest"] += found["result"]["longest_90"]
        else:
            for column in columns:
                worst = math.inf if sweep.measure == "bits" else 0.0
                seen = found["result"][sweep.measure].get(column, [])
                values[column] += [worst if x is None else x for x in seen]
    return seeds, values, failed, running


def _figures(values: list[float], seeds: int, sweep: Sweep) -> str:
    if not values:
        return "-"
    low = sweep.measure == "bits"
    best = min(values) if low else max(values)
    reached = sum(x <= sweep.good if low else x >= sweep.good for x in values)
    mid, top = (f"{x:,.0f}" if sweep.measure == "longest_90" else f"{x:.3f}" for x in (median(values), best))
    return f"{mid} ({top}), {reached} of {seeds}"
