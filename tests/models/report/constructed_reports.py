"""Constructions for the tests of reports, their items by slug, and what holds of every section."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from mirrormata.constructions._construct import Request, choose
from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions._realisation import Realisation
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.models.report._data import Chart, RandomRuns, Section, Series, ShownLimits, Table

LIMITS = ShownLimits()
FEW = RandomRuns(words=4, length=60, dtypes=("bf16", "fp8_e5m2"))


def found(spec: str, theorem: str | None = None) -> Realisation:
    return choose(automaton_from_spec(spec), Request(theorem=theorem))


def lrnn_of(spec: str, theorem: str | None = None) -> LRNN:
    built = found(spec, theorem)
    assert isinstance(built, LRNN)
    return built


def item(sections: tuple[Section, ...] | Section, slug: str) -> Any:
    groups = (sections,) if isinstance(sections, Section) else sections
    (one,) = [i for section in groups for i in section.every if i.slug == slug]
    return one


def rows_of(table: Table) -> list[dict[str, Any]]:
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def finite(series: Series) -> list[tuple[int, float]]:
    return [(int(x), y) for x, y in zip(series.x, series.y, strict=True) if y is not None]


def assert_sound(sections: tuple[Section, ...]) -> None:
    slugs = [i.slug for section in sections for i in section.every]
    assert len(set(slugs)) == len(slugs)
    for section in sections:
        assert section.text.endswith(".")
        for i in section.every:
            assert i.description.endswith(".")
            assert i.title
            assert i.source
            if isinstance(i, Table):
                assert all(len(row) == len(i.columns) for row in i.rows)
            elif isinstance(i, Chart):
                assert any(y is not None for series in i.series for y in series.y)
            else:
                assert ElementTree.fromstring(i.svg).tag.endswith("svg")
