"""A block delay in a report: its layers, and its runs in each dtype."""

from __future__ import annotations

from typing import Any

from ...constructions._delay import BlockDelay
from ...constructions._realisation import INTEGER_RANGES
from ...constructions.texts._show import counted
from ...theory.running._run import run
from ...theory.running._words import random_words
from .limits import RandomRuns
from .parts import Cell, Section, Table


def delay_sections(found: Any, runs: RandomRuns) -> tuple[Section, ...]:
    """Its layers as a table, and what was seen in each dtype; it has no letters' matrices to draw and no horizon."""
    return _layers(found), _rounding(found, runs)


def _layers(found: BlockDelay) -> Section:
    counters = [
        (
            f"layer {i}",
            f"{found.counter.kind} counter modulo {2 * found.block}",
            len(layer.heads),
            max(h.dim for h in layer.heads),
        )
        for i, layer in enumerate(found.counter.layers, start=1)
    ]
    below = [
        (
            f"layer {found.depth - 1}",
            f"ring buffer of the last {2 * found.block} tokens",
            1,
            2 * found.block,
        ),
        (f"layer {found.depth}", f"swaps of {found.degree} points, {found.budget} a token", 1, found.degree),
    ]
    rows = tuple((*row, k) for row, k in zip((*counters, *below), found.layer_factors, strict=True))
    text = (
        f"{found.construction} ({found.theorem}). The product of {counted(found.block, 'token')} is applied while the next "
        f"{found.block} are read, at most {counted(found.householders, 'factor')} a token in one head."
    )
    description = (
        f"{len(rows)} layers from the first to the last, with the most factors of a token in one head."
    )
    columns = ("layer", "what it does", "heads", "largest dimension", "factors")
    table = Table("delay-layers", "Layers", description, columns, rows, f"the construction ({found.theorem})")
    return Section("letters", "Layers of the block delay", text, (table,))


def _rounding(found: BlockDelay, runs: RandomRuns) -> Section:
    words = random_words(found, runs.words, runs.length, runs.seed)
    rows: list[tuple[Cell, ...]] = []
    for dtype in runs.dtypes:
        report = run(found, words, dtype=dtype)
        first: Cell = "none seen" if report.first_error is None else report.first_error
        exact = dtype in found.formats
        rows.append(
            (dtype, exact, found.integer_bound, INTEGER_RANGES[dtype], report.tokens, report.errors, first)
        )
    wrong = sum(row[5] != 0 for row in rows)
    bound = found.integer_bound
    said = (
        "Its counter rounds, and no horizon is certified for it."
        if bound is None
        else f"All its numbers are integers up to {bound:,}: it is exact at any length in {', '.join(found.formats)}."
    )
    columns = (
        "dtype",
        "exact at any length",
        "largest integer",
        "holds integers to",
        "tokens run",
        "errors",
        "first error",
    )
    table = Table(
        "dtypes",
        "Dtypes",
        f"{wrong} of {len(rows)} dtypes have errors.",
        columns,
        tuple(rows),
        f"{runs.text}; per_step arithmetic",
    )
    return Section(
        "rounding", "Rounding over length", f"{runs.text}, in {len(rows)} dtypes. {said}", (table,)
    )
