"""What a cell's result says of each seed: by test length, in each arithmetic of the test, and at the training length."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from .._evaluation import length_text
from ._sweep import Sweep, SweepCell

LONGEST = "longest"
"""The column of the measure `longest_90`, which has no lengths."""


def tests_of(result: Mapping[str, Any], cell: SweepCell) -> dict[str, Mapping[str, Any]]:
    """The tests of a result by arithmetic, `fp32` and `bf16`.

    Results of version 0.1 do not name the arithmetic of their test; it was that of the training.
    """
    first = {result.get("precision", cell.experiment.train.precision): result}
    return {**first, **{test["precision"]: test for test in result.get("other_precisions", [])}}


def precisions_of(sweep: Sweep, results: Sequence[tuple[SweepCell, Mapping[str, Any]]]) -> list[str]:
    """The arithmetics in which any cell was tested, in the order of the first cell's; those that are wanted, if none is done."""
    found = list(dict.fromkeys(name for cell, result in results for name in tests_of(result, cell)))
    return found or list(sweep.rows[0].cells[0].experiment.test_precisions())


def columns_of(sweep: Sweep) -> list[str]:
    """The lengths of all rows' tests as texts, or `longest`."""
    if sweep.measure == "longest_90":
        return [LONGEST]
    experiments = [row.cells[0].experiment for row in sweep.rows]
    found = [length_text(x) for e in experiments for x in e.test_lengths(e.build_task())]
    return list(dict.fromkeys(found))


def worst_value(sweep: Sweep) -> float:
    """The value that stands for a seed that failed, or was never asked."""
    return math.inf if sweep.measure == "bits" else 0.0


def is_good(value: float, sweep: Sweep) -> bool:
    """Whether a value of the sweep's measure reaches `good`."""
    return value <= sweep.good if sweep.measure == "bits" else value >= sweep.good


def best_value(values: Sequence[float], sweep: Sweep) -> float:
    """The best of the values: the lowest bits, or the largest of any other measure."""
    return min(values) if sweep.measure == "bits" else max(values)


def say_value(value: float, sweep: Sweep) -> str:
    """A value as a table shows it."""
    return f"{value:,.0f}" if sweep.measure == "longest_90" else f"{value:.3f}"


def seed_values(test: Mapping[str, Any], sweep: Sweep, column: str) -> list[float]:
    """The value of each seed in a column."""
    if sweep.measure == "longest_90":
        return [float(x) for x in test["longest_90"]]
    found = test[sweep.measure].get(column, [])
    return [worst_value(sweep) if x is None else float(x) for x in found]


def trained_measure(sweep: Sweep) -> str:
    """The measure that is looked at within the training length: for the longest length it is the accuracy."""
    return "accuracy" if sweep.measure == "longest_90" else sweep.measure


def trained_values(test: Mapping[str, Any], sweep: Sweep, cell: SweepCell) -> list[float] | None:
    """The value of each seed within the training lengths; None where the result does not say.

    Results of version 0.1 have it as a test length, or as a point of their curve: that of the longest length that is not beyond the
    training.
    """
    measure = trained_measure(sweep)
    if "trained" in test:
        found = test["trained"].get(measure, [])
        return [worst_value(sweep) if x is None else float(x) for x in found]
    longest = cell.experiment.train_lengths(cell.experiment.build_task())[1]
    if (there := test[measure].get(str(longest))) is not None:
        return [worst_value(sweep) if x is None else float(x) for x in there]
    curve = test.get("curve")
    if curve is None:
        return None
    places = [i for i, x in enumerate(curve["positions"]) if x <= longest]
    entry = "accuracy" if measure == "scaled_accuracy" else measure
    if not places or entry not in curve:
        return None
    values = []
    for row in curve[entry]:
        known = [row[i] for i in places if row[i] is not None]
        value = known[-1] if known else worst_value(sweep)
        values.append(
            (value - test["chance"]) / (1 - test["chance"]) if measure == "scaled_accuracy" else value
        )
    return values


def is_learned(value: float, sweep: Sweep) -> bool:
    """Whether a seed has learned its task within the training lengths: for the longest length, at an accuracy of .9."""
    return value >= 0.9 if sweep.measure == "longest_90" else is_good(value, sweep)
