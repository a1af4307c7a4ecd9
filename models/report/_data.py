"""What a report shows, as plain data: sections of charts, pictures and tables. Pages and paper figures are drawn from it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Literal, TypeAlias

from ...constructions.algebra.monoids._monoid import MAX_MONOID
from ...foundation._errors import InputError
from ...foundation._text import count_noun
from ...theory.arithmetic._rounding import float_format

Cell: TypeAlias = str | int | float | bool | None
Kind: TypeAlias = Literal["points", "line", "steps", "bars"]
SHARES = (-0.03, 1.03)
"""The range of a y axis of shares, with room for lines at 0 and 1."""


@dataclass(frozen=True)
class Series:
    """A named series of points of a chart.

    Attributes:
        name: the name that the legend shows.
        x: the x coordinates of the points.
        y: the y coordinates, as many as x; None if nothing was measured, in which case a line is interrupted.
        kind: points, a line, a line of steps, or bars.
        role: determines colour and symbol in all charts of a report: 0 constructed, 1 learned, 2 snapped, 3 a bound; groups
            have the numbers from 4 on.
        hover: a text for each point, or empty.
        filters: the properties by which a reader can select the series, such as `(("head", "head 1"), ("letter", "(0 1)"))`.

    Raises:
        ValueError: `x`, `y` and `hover` are of different lengths.
    """

    name: str
    x: Sequence[float | str]
    y: Sequence[float | None]
    kind: Kind = "points"
    role: int = 1
    hover: Sequence[str] = ()
    filters: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        _freeze(self, "x", "y", "hover")
        if len(self.x) != len(self.y) or len(self.hover) not in (0, len(self.x)):
            raise ValueError(
                f"series {self.name}: {len(self.x)} x, {len(self.y)} y, {len(self.hover)} hover texts"
            )


@dataclass(frozen=True)
class Mark:
    """A labelled line across a chart, such as the training length on the x axis.

    Attributes:
        axis: `x` or `y`.
        at: the value on that axis.
        label: the text that the legend shows.
        role: the role of the series that the line belongs to, whose colour it gets; None for a colour of its own.
    """

    axis: Literal["x", "y"]
    at: float
    label: str
    role: int | None = None


@dataclass(frozen=True)
class Chart:
    """A chart of some series over two axes.

    Attributes:
        slug: names the files of the chart and its anchor on the page.
        title: its heading.
        description: a sentence or two that describe the chart to readers who cannot see it.
        x_label: the label of the x axis.
        y_label: the label of the y axis.
        series: the series that are drawn.
        source: where the numbers come from (files, settings, seeds).
        marks: lines across the chart.
        log_x: whether the x axis is logarithmic.
        log_y: whether the y axis is logarithmic.
        circle: whether the unit circle is drawn, with the same scale on both axes.
        y_range: ends of the y axis; by default it follows the points.
    """

    slug: str
    title: str
    description: str
    x_label: str
    y_label: str
    series: Sequence[Series]
    source: str
    marks: Sequence[Mark] = ()
    log_x: bool = False
    log_y: bool = False
    circle: bool = False
    y_range: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        _freeze(self, "series", "marks")

    @property
    def names(self) -> list[str]:
        """The texts under the x axis; none where every x is a number."""
        every = [x for series in self.series for x in series.x]
        return list(dict.fromkeys(map(str, every))) if any(isinstance(x, str) for x in every) else []

    @property
    def filters(self) -> dict[str, list[str]]:
        """The properties by which its series can be selected, with their values in the order of their first use."""
        found: dict[str, list[str]] = {}
        for key, value in dict.fromkeys(pair for series in self.series for pair in series.filters):
            found.setdefault(key, []).append(value)
        return found

    @property
    def columns(self) -> tuple[str, ...]:
        """Headings of its data: series, filters, x, y, and a note where points have hover texts."""
        note = ("note",) if any(series.hover for series in self.series) else ()
        return ("series", *self.filters, self.x_label, self.y_label, *note)

    @property
    def rows(self) -> list[tuple[Cell, ...]]:
        """A row for each point of each series, in order."""
        keys, noted = list(self.filters), "note" in self.columns[-1:]
        return [
            (s.name, *(dict(s.filters).get(k) for k in keys), x, y, *((s.hover[i] if s.hover else None),) * noted)
            for s in self.series
            for i, (x, y) in enumerate(zip(s.x, s.y, strict=True))
        ]  # fmt: skip


@dataclass(frozen=True)
class Picture:
    """A drawing that is ready, as the text of an SVG file.

    Attributes:
        slug: names its file and its anchor on the page.
        title: its heading.
        description: describes the picture to readers who cannot see it.
        svg: the text.
        source: what it was drawn from.
    """

    slug: str
    title: str
    description: str
    svg: str
    source: str


@dataclass(frozen=True)
class Table:
    """Rows of plain cells under named columns.

    Attributes:
        slug: names its file and its anchor on the page.
        title: its heading.
        description: says what the rows are.
        columns: their headings.
        rows: rows with one cell per column; None for values that were not measured.
        source: where the cells come from.
    """

    slug: str
    title: str
    description: str
    columns: Sequence[str]
    rows: Sequence[tuple[Cell, ...]]
    source: str

    def __post_init__(self) -> None:
        _freeze(self, "columns", "rows")


Item: TypeAlias = Chart | Picture | Table


@dataclass(frozen=True)
class Section:
    """A section of the page: items under a heading, with an introductory text.

    Attributes:
        slug: its anchor on the page.
        title: the heading.
        text: blank lines divide its paragraphs, backticks mark code.
        items: charts, pictures and tables.
        folded: charts, pictures and tables of which the page shows the titles until a reader unfolds them. They are printed.
    """

    slug: str
    title: str
    text: str
    items: Sequence[Item] = ()
    folded: Sequence[Item] = ()

    def __post_init__(self) -> None:
        _freeze(self, "items", "folded")

    @property
    def every(self) -> tuple[Item, ...]:
        """The items and those that are folded."""
        return (*self.items, *self.folded)


def _freeze(part: object, *names: str) -> None:
    for name in names:
        object.__setattr__(part, name, tuple(getattr(part, name)))


def make_slug(text: str) -> str:
    """The text in small letters, with a hyphen for everything that is neither a letter nor a digit."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "item"


def number_slugs(sections: Iterable[Section]) -> tuple[Section, ...]:
    """The same sections; where the slug of a section, or of an item, is taken, it gets a number: `accuracy-2`."""
    taken: tuple[set[str], set[str]] = (set(), set())

    def own(text: str, names: set[str]) -> str:
        base, number = make_slug(text), 1
        name = base
        while name in names:
            number += 1
            name = f"{base}-{number}"
        names.add(name)
        return name

    def number(items: Iterable[Item]) -> list[Item]:
        return [replace(item, slug=own(item.slug, taken[1])) for item in items]

    return tuple(
        replace(s, slug=own(s.slug, taken[0]), items=number(s.items), folded=number(s.folded))
        for s in sections
    )


def format_csv(item: Chart | Table) -> str:
    """Its data as comma-separated values (RFC 4180) with exact numbers; None is an empty cell."""
    stream = io.StringIO()
    csv.writer(stream).writerows([item.columns, *item.rows])
    return stream.getvalue()


def format_cell(cell: Cell) -> str:
    """A cell for reading: numbers of four digits, yes and no, a dash for what was not measured."""
    if cell is None:
        return "–"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    return f"{cell:.4g}" if isinstance(cell, float) else cell


def plain_cell(value: object) -> Cell:
    """A value of a JSON file as a cell: the entries of a list one after another."""
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def shorten(name: str, most: int = 18) -> str:
    """A name of at most `most` characters, for a tick or a legend; an ellipsis stands for what is cut off."""
    return name if len(name) <= most else name[: most - 1] + "…"


def format_share(share: float) -> str:
    """`31.05 %`: never 100 % for less than all, nor 0 % for more than none."""
    if share in (0, 1):
        return f"{share:.0%}".replace("%", " %")
    return f"{min(max(100 * share, 0.01), 99.99):.2f} %"


def format_part(shown: int, total: int, noun: str, plural: str = "") -> str:
    """`12 of 120 letters`, or where nothing is left out `all 6 letters` or `its only letter`."""
    nouns = plural or f"{noun}s"
    if shown < total:
        return f"{shown:,} of {total:,} {nouns}"
    return f"its only {noun}" if total == 1 else f"all {total:,} {nouns}"


def spread_indices(count: int, most: int) -> list[int]:
    """At most `most` of the numbers below `count`, evenly spread, the first and the last among them."""
    if count <= most:
        return list(range(count))
    return [0] if most == 1 else [round(i * (count - 1) / (most - 1)) for i in range(most)]


@dataclass(frozen=True)
class LearnedLimits:
    """Limits on how much of a trained model is compared and shown. The report says what a limit leaves out.

    Attributes:
        words: the number of random words of the comparison, see `Sampling`; all counts here are at least 1.
        length: the number of letters of each word.
        fit: only states after at most this many letters are averaged into class means.
        seed: the seed of the random words.
        test_words: the number of words on which a model folder is tested, since it has no `result.json`.
        test_length: the number of letters of each of these words.
        letters: the largest number of letters that the spectra show.
        heads: the largest number of heads that are drawn if none carries states.
        points: the largest number of points of clusters that are drawn.
        states: the largest number of states of the automaton for which clusters are drawn.
        numbers: the largest number of entries of states that are kept for all heads; if states are larger, fewer words are used.
        entries: the largest number of entries of a state for which an automaton is made from clusters.
        max_letters: the largest alphabet that is compared.
        max_group: the largest number of elements of a transition group that is compared.
        max_dim: the largest dimension of matrices that are compared.
        arithmetic: the arithmetic, `per_step:FORMAT`, of a certificate that the model must fail.
        loops: the number of letters whose powers are searched for such a certificate, at least 0.
        steps: the largest number of letters of a power; the checker does them one by one in exact numbers.
        work: the largest number of products of numbers for a letter.
        dtype: the float format of the horizon by rounding.

    Raises:
        InputError: a count is below 1.
    """

    words: int = 128
    length: int = 512
    fit: int = 64
    seed: int = 0
    test_words: int = 64
    test_length: int = 512
    letters: int = 12
    heads: int = 4
    points: int = 400
    states: int = 24
    numbers: int = 30_000_000
    entries: int = 512
    max_letters: int = 200
    max_group: int = 200
    max_dim: int = 8
    arithmetic: str = "per_step:bf16"
    loops: int = 3
    steps: int = 2_000
    work: int = 1_000_000
    dtype: str = "fp32"

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, int) and value < 1 and name not in ("seed", "loops"):
                raise InputError(f"limits: {name} is {value}, at least 1 is needed")

    def reduce_words(self, entries: int) -> LearnedLimits:
        """Take fewer words, but at least one, where states are large: all of them are at most `numbers` numbers.

        Args:
            entries: numbers of a state, at least 0.

        Returns:
            Limits that differ in `words` alone.

        Examples:
            >>> LearnedLimits().reduce_words(1_000_000).words
            1
        """
        kept = self.fit + self.length.bit_length()
        return replace(self, words=min(self.words, max(1, self.numbers // (kept * max(entries, 1)))))


@dataclass(frozen=True)
class ShownLimits:
    """Limits on how much of a construction is shown. The report says what a limit leaves out.

    Attributes:
        letters: the largest number of letters of each head that are drawn and have their own points; all limits here are at
            least 1.
        heads: the largest number of heads that have their own points.
        states: the largest number of states of an automaton that is drawn.
        arrows: the largest number of arrows of an automaton that is drawn.
        dimension: the largest dimension of a head that is drawn as wires.
        rows: the largest number of rows of a table.
        spectra: the largest number of different matrices of a head whose eigenvalues are enclosed.
        matrices: the largest number of different matrices of all heads together to which claims are applied; if there are more,
            claims are applied to the automaton only.
        points: the largest number of points of a curve.
        codes: the largest number of codes of a head for which horizons are computed.
        monoid: the largest number of elements of the transition monoid that are listed.
        head_steps: the largest product of tokens of a word and heads that is run in each dtype.

    Raises:
        InputError: a limit is below 1.
    """

    letters: int = 12
    heads: int = 12
    states: int = 64
    arrows: int = 150
    dimension: int = 40
    rows: int = 120
    spectra: int = 200
    matrices: int = 300
    points: int = 200
    codes: int = 2_000
    monoid: int = MAX_MONOID
    head_steps: int = 12_000

    def __post_init__(self) -> None:
        if wrong := [f.name for f in fields(self) if getattr(self, f.name) < 1]:
            raise InputError(f"limits of a report: {', '.join(wrong)}: each is 1 or more")


@dataclass(frozen=True)
class RandomRuns:
    """Uniform random words on which constructions are run.

    Attributes:
        words: the number of words, at least 1.
        length: the number of letters of each word, at least 1.
        seed: the seed of the random words, at least 0.
        dtypes: float formats, at least one, each of which runs all words.

    Raises:
        InputError: there are no words, letters or dtypes, the seed is negative, or a dtype is unknown.

    Examples:
        >>> RandomRuns(words=2).text
        '2 random words of 2,000 letters, seed 0'
    """

    words: int = 8
    length: int = 2_000
    seed: int = 0
    dtypes: tuple[str, ...] = ("fp32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2")

    def __post_init__(self) -> None:
        if min(self.words, self.length) < 1 or self.seed < 0:
            raise InputError(
                f"runs of a report: words {self.words}, length {self.length}, seed {self.seed}: at least one word of "
                "one letter, and a seed of 0 or more"
            )
        names = tuple(dict.fromkeys(float_format(dtype).name for dtype in self.dtypes))
        if not names:
            raise InputError("runs of a report: dtypes: give one format at least, such as bf16")
        object.__setattr__(self, "dtypes", names)

    @property
    def text(self) -> str:
        """`8 random words of 2,000 letters, seed 0`."""
        words, letters = count_noun(self.words, "random word"), count_noun(self.length, "letter")
        return f"{words} of {letters}, seed {self.seed}"
