"""Accuracy against length in a report: every seed, words right so far, and marks where horizons and failures lie."""

from __future__ import annotations

from typing import Any

from ...constructions.texts._show import counted
from ..comparison._result import Comparison
from .learned_trained import Trained
from .limits import SHARES
from .parts import Cell, Chart, Mark, Section, Series, Table


def lengths_section(place: Trained, found: Comparison | None) -> Section:
    """Curves of all seeds; `found` adds the horizons of the seed that is looked at."""
    slug, title = "learned-lengths", "Accuracy against length"
    result = place.result
    if result is None:
        why = (
            "the training is not finished"
            if place.settings is not None
            else "its task has no words to test it on"
        )
        return Section(slug, title, f"Not here: {why}.", ())
    marks = _marks(place, result, found)
    test = place.test
    note = f"Trained on words of at most {place.train_length:,} letters; guessing would give {result['chance']:.3g}."
    charts = [
        _curve(place, result, "accuracy", "Accuracy at a position", "accuracy", note, test, marks),
        _curve(
            place, result, "exact", "Words right so far", "words without a wrong answer",
            "The share of words whose every answer up to a position is right.", test, marks,
        ),
    ]  # fmt: skip
    if "bits" in result["curve"]:
        charts.append(
            _curve(place, result, "bits", "Bits a label", "bits", "Since the position before.", test, ())
        )
    text = "All prefixes of the test words are test words too, so one run answers for all lengths. " + _words(
        place, result
    )
    return Section(slug, title, text, (*charts, _table(place, result, test)))


def _curve(
    place: Trained, result: dict[str, Any], entry: str, title: str, label: str, text: str, source: str,
    marks: tuple[Mark, ...],
) -> Chart:  # fmt: skip
    positions = tuple(result["curve"]["positions"])
    series = tuple(
        Series(f"seed {seed}", positions, tuple(ys), "line", 4 + i, filters=(("seed", str(seed)),))
        for i, (seed, ys) in enumerate(zip(place.seeds, result["curve"][entry], strict=True))
    )
    return Chart(
        f"learned-{entry}-length", title, f"{text} A line for each seed.", "letters read", label, series, source,
        marks, log_x=True, y_range=None if entry == "bits" else SHARES,
    )  # fmt: skip


def _marks(place: Trained, result: dict[str, Any], found: Comparison | None) -> tuple[Mark, ...]:
    """Those within the test's length; of the horizons those that are known."""
    wanted: list[tuple[float | None, str]] = [(place.train_length, "training length")]
    failure = result["first_failure"][place.place]
    if failure is not None:
        wanted.append((failure["least"], f"first wrong, seed {place.seeds[place.place]}"))
    if found is not None:
        h = found.horizon
        wanted += [
            (h.spread, "predicted (margin meets spread)"),
            (h.drift, "right to here (drift)"),
            (h.beta, "right to here (β alone)"),
            (h.rounding, f"right to here ({h.dtype})"),
        ]
    return tuple(
        Mark("x", at, label) for at, label in wanted if at is not None and 1 <= at <= result["length"]
    )


def _words(place: Trained, result: dict[str, Any]) -> str:
    seed, longest = place.seeds[place.place], result["longest_90"][place.place]
    best = "" if len(place.seeds) == 1 else f"Seed {seed} is looked at below. "
    if longest == result["length"]:
        return f"{best}At least 90 % of its answers are right at every position tested, up to {longest:,} letters."
    return (
        f"{best}At least 90 % of its answers are right at every position up to {counted(longest, 'letter')}."
    )


def _table(place: Trained, result: dict[str, Any], source: str) -> Table:
    rows: list[tuple[Cell, ...]] = []
    lengths = list(result["accuracy"])
    for i, seed in enumerate(place.seeds):
        failure = result["first_failure"][i]
        rows.append(
            (
                seed, *(result["accuracy"][length][i] for length in lengths),
                *(result["exact"][length][i] for length in lengths), result["longest_90"][i],
                None if failure is None else failure["least"], None if failure is None else failure["median"],
            )
        )  # fmt: skip
    columns = (
        "seed", *(f"accuracy at {x}" for x in lengths), *(f"words right to {x}" for x in lengths),
        "longest length ≥ 90 %", "first wrong", "median first wrong",
    )  # fmt: skip
    return Table(
        "learned-lengths-table", "Lengths reached",
        "First wrong: letters read when the first wrong answer of any word came; median over the words that fail.",
        columns, tuple(rows), source,
    )  # fmt: skip
