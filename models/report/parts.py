"""`Section`, `Chart`, `Picture`, `Table`: what a report shows, as plain data; pages and paper figures are drawn from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Cell: TypeAlias = str | int | float | bool | None
Kind: TypeAlias = Literal["points", "line", "steps", "bars"]


@dataclass(frozen=True)
class Series:
    """Points of one name. `y` is None where nothing was measured: a line breaks there.

    `hover`: a text for each point, or none at all. `role` fixes the colour over all charts of a report: the same thing has
    the same one (0 constructed, 1 learned, 2 snapped, 3 a bound; groups count on from 4). `filters`: by what a reader can
    pick the series, such as `(("head", "head 1"), ("letter", "(0 1)"))`.
    """

    name: str
    x: tuple[float | str, ...]
    y: tuple[float | None, ...]
    kind: Kind = "points"
    role: int = 1
    hover: tuple[str, ...] = ()
    filters: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if len(self.x) != len(self.y) or (self.hover and len(self.hover) != len(self.x)):
            raise ValueError(
                f"series {self.name}: {len(self.x)} x, {len(self.y)} y, {len(self.hover)} hover texts"
            )


@dataclass(frozen=True)
class Mark:
    """A labelled line across a chart: at `at` on the axis, such as the training length on the x axis."""

    axis: Literal["x", "y"]
    at: float
    label: str


@dataclass(frozen=True)
class Chart:
    """Series over two axes. `description` says in a sentence or two what is to be seen, for those who cannot see it.

    `source`: where the numbers come from (files, settings, seeds). `circle`: the unit circle is drawn and both axes have one scale.
    `y_range`: from where to where the y axis goes, by default as its points do.
    """

    slug: str
    title: str
    description: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    source: str
    marks: tuple[Mark, ...] = ()
    log_x: bool = False
    log_y: bool = False
    circle: bool = False
    y_range: tuple[float, float] | None = None


@dataclass(frozen=True)
class Picture:
    """A drawing that is ready, as the text of an SVG element."""

    slug: str
    title: str
    description: str
    svg: str
    source: str


@dataclass(frozen=True)
class Table:
    """Rows of plain cells under named columns."""

    slug: str
    title: str
    description: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    source: str


Item: TypeAlias = Chart | Picture | Table


@dataclass(frozen=True)
class Section:
    """Items under one heading, with an introductory text in plain words."""

    slug: str
    title: str
    text: str
    items: tuple[Item, ...]
