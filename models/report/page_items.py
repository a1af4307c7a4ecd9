"""Charts, pictures and tables as HTML figures: text alternatives, filters, legends, and the data as a table and as CSV."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from urllib.parse import quote

from .appearance import Look, look
from .chart_data import cell_text, chart_columns, chart_rows, csv_of, filter_values, picked_keys
from .parts import Cell, Chart, Item, Picture, Series, Table
from .svg_inline import inline_svg, width_of

MOST_ROWS = 200
"""Rows of a chart's data shown below it; the CSV has all."""
WIDE_PICTURE, WIDE_TABLE = 560.0, 4
"""A picture with a wider view box, or a table with more columns, takes the whole width."""
BRIEF = 16
"""Letters of a cell that is not broken into lines."""
DASHES = {"solid": "", "dash": "4 2.5", "dot": "1.5 2"}


def item_html(item: Item, name: str) -> str:
    """A `<figure>` with the id `name`, from which all ids in it are made."""
    if isinstance(item, Chart):
        return _figure(item, name, _chart(item, name), "chart")
    if isinstance(item, Picture):
        wide = " wide" if width_of(item.svg) > WIDE_PICTURE else ""
        return _figure(item, name, _picture(item, name), "picture" + wide)
    wide = " wide" if len(item.columns) > WIDE_TABLE else ""
    body = _scrolling(table_html(item.columns, item.rows, item.title), item.title) + _foot(item, name)
    return _figure(item, name, body, "table" + wide)


def text_html(text: str) -> str:
    """Paragraphs, divided by blank lines; what stands between backticks is code."""
    parts = [escape(part.strip()) for part in re.split(r"\n\s*\n", text) if part.strip()]
    return "".join("<p>" + re.sub(r"`([^`]+)`", r"<code>\1</code>", part) + "</p>" for part in parts)


def table_html(columns: tuple[str, ...], rows: Sequence[tuple[Cell, ...]], caption: str) -> str:
    """A table whose headings say that they are; columns of numbers stand to the right."""
    classes = [_kind(row[i] for row in rows) for i in range(len(columns))]
    head = "".join(f'<th scope="col"{c}>{escape(x)}</th>' for x, c in zip(columns, classes, strict=True))
    body = "".join(f"<tr>{_row(row, classes)}</tr>\n" for row in rows)
    return (
        f'<table><caption class="hidden">{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>"
    )


def _kind(cells: Iterable[Cell]) -> str:
    """The class of a column: numbers, brief texts that no line break should cut, or none."""
    known = [cell for cell in cells if cell is not None]
    if known and all(isinstance(c, int | float) and not isinstance(c, bool) for c in known):
        return ' class="number"'
    return ' class="brief"' if all(len(cell_text(c)) <= BRIEF for c in known) else ""


def _row(row: tuple[Cell, ...], classes: list[str]) -> str:
    cells = [f"{c}>{escape(cell_text(cell))}" for cell, c in zip(row, classes, strict=True)]
    return f'<th scope="row"{cells[0]}</th>' + "".join(f"<td{cell}</td>" for cell in cells[1:])


def _figure(item: Item, name: str, body: str, kind: str) -> str:
    return (
        f'<figure id="{name}" class="{kind}" aria-labelledby="{name}_title">\n'
        f'<figcaption><h3 id="{name}_title">{escape(item.title)}</h3>'
        f'<div id="{name}_text">{text_html(item.description)}</div></figcaption>\n{body}\n'
        f'<p class="source">Source: {escape(item.source)}</p>\n</figure>\n'
    )


def _chart(chart: Chart, name: str) -> str:
    shape = " square" if chart.circle else ""
    rows = chart_rows(chart)
    shown = table_html(chart_columns(chart), rows[:MOST_ROWS], f"Data of {chart.title}")
    more = (
        f"<p>The first {MOST_ROWS:,} of {len(rows):,} points are listed; the CSV has all.</p>"
        if len(rows) > MOST_ROWS
        else ""
    )
    return (
        _filters(chart, name) + f'<div class="plot{shape}" id="{name}_plot" role="img" '
        f'aria-labelledby="{name}_title" aria-describedby="{name}_text"></div>\n'
        '<p class="note unscripted">The plot needs JavaScript; its data is in the table below.</p>\n'
        + _legend(chart, name)
        + f'<details><summary>Data <span class="count">({len(rows):,} points)</span></summary>{_marks(chart)}{more}'
        + _scrolling(shown, f"Data of {chart.title}")
        + "</details>"
        + _foot(chart, name, ' <button type="button" class="reset">Reset the view</button>')
    )


def _marks(chart: Chart) -> str:
    named = {"x": chart.x_label, "y": chart.y_label}
    texts = "; ".join(f"{m.label} ({named[m.axis]} {cell_text(m.at)})" for m in chart.marks)
    return f"<p>Marks: {escape(texts)}</p>" if texts else ""


def _picture(picture: Picture, name: str) -> str:
    drawing = inline_svg(picture.svg, f"{name}_p")
    return (
        f'<div class="paper" role="img" aria-labelledby="{name}_title" aria-describedby="{name}_text" '
        f'tabindex="0">{drawing}</div>'
    )


def _scrolling(table: str, name: str) -> str:
    """Keys scroll what is wider than the screen."""
    return f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(name)}">{table}</div>'


def _foot(item: Chart | Table, name: str, more: str = "") -> str:
    data = quote(csv_of(item), safe=" ,;:.+-*()[]=/^")
    label = escape(f"Save data (CSV): {item.title}")
    return (
        f'<p class="actions"><a class="save" download="{name}.csv" aria-label="{label}" '
        f'href="data:text/csv;charset=utf-8,{escape(data)}">Save data (CSV)</a>{more}</p>'
    )


def _filters(chart: Chart, name: str) -> str:
    keys = picked_keys(chart)
    if not keys:
        return ""
    picks = []
    for k, key in enumerate(keys):
        options = "".join(
            f'<option value="{i}">{escape(value)}</option>'
            for i, value in enumerate(filter_values(chart, key))
        )
        picks.append(
            f'<label for="{name}_f{k}">{escape(key)}</label> '
            f'<select id="{name}_f{k}" data-key="{k}"><option value="">all</option>{options}</select>'
        )
    inside = "".join(f"<span>{pick}</span>" for pick in picks)
    return f'<div class="filters" role="group" aria-label="Filters of {escape(chart.title)}">{inside}<output></output></div>\n'


def _legend(chart: Chart, name: str) -> str:
    """One button for all series of a name and role: it hides and shows them."""
    entries: dict[tuple[str, int, str], list[int]] = {}
    for i, series in enumerate(chart.series):
        entries.setdefault((series.name, series.role, series.kind), []).append(i)
    items = "".join(
        f'<li><button type="button" aria-pressed="true" data-series="{" ".join(map(str, members))}">'
        f"{_swatch(chart.series[members[0]], look(role))}<span>{escape(text)}</span></button></li>"
        for (text, role, _), members in entries.items()
    )
    return f'<ul class="legend" aria-label="Legend of {escape(chart.title)}">{items}</ul>\n' if items else ""


def _swatch(series: Series, shown: Look) -> str:
    if series.kind == "bars":
        drawing = f'<rect x="-5" y="-5" width="10" height="10" fill="{shown.colour}"/>'
    else:
        fill, stroke = ("none", shown.colour) if shown.hollow else (shown.colour, "none")
        drawing = f'<path d="{shown.outline}" fill="{fill}" stroke="{stroke}" stroke-width="1.8"/>'
    if series.kind in ("line", "steps"):
        dash = DASHES[shown.dash]
        drawing = (
            f'<path d="M-11 0H11" stroke="{shown.colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
            f'<g transform="scale(.75)">{drawing}</g>'
        )
    width = 24 if series.kind in ("line", "steps") else 14
    return f'<svg width="{width}" height="14" viewBox="{-width / 2} -7 {width} 14" aria-hidden="true">{drawing}</svg>'
