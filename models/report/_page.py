"""`render_page`: a report as one HTML file that needs no network; without scripts its texts, tables and pictures remain."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib import resources
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ...foundation._extras import needed_by
from ._data import Cell, Chart, Item, Picture, Section, Series, Table, format_cell, format_csv
from ._plots import DASHES, THEMES, choose_look, choose_mark_looks, plot_chart, theme_template

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
MOST_ROWS = 200
"""Rows of a chart's data shown below it; the CSV has all."""
WIDE_PICTURE, WIDE_TABLE = 560.0, 4
"""A picture with a wider view box, or a table with more columns, takes the whole width."""
BRIEF = 16
"""Characters of a cell that is not broken into lines."""
_LOADS = "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'"


def render_page(title: str, sections: Sequence[Section], *, headline: str = "") -> str:
    """Render the whole page as HTML.

    The page may run only two scripts, its own and plotly.js, which are allowed by their hashes. It loads nothing else.

    Args:
        title: the title of the page, and its heading where there is no headline.
        sections: shown one after another. Slugs of sections, and of items, must differ: small letters, digits and
            hyphens, as `number_slugs` makes them.
        headline: the answer in one sentence, which becomes the heading; the title stands above it.

    Returns:
        The text of the HTML file.

    Raises:
        ValueError: a slug is wrong, or a picture is not an SVG.
        MissingExtraError: jinja2 or plotly is not installed.
    """
    for slugs in ([s.slug for s in sections], [item.slug for s in sections for item in s.every]):
        if wrong := [slug for slug in slugs if not SLUG.fullmatch(slug)]:
            raise ValueError(f"slug {wrong[0]!r}: small letters, digits and hyphens make a slug")
        if len(set(slugs)) < len(slugs):
            raise ValueError(f"slug {next(s for s in slugs if slugs.count(s) > 1)!r} occurs twice")
    template, (packed, library), script = load_template(), load_plotly(), _read_asset("page.js")
    charts = [item for section in sections for item in section.every if isinstance(item, Chart)]
    policy = f"default-src 'none'; script-src {hash_script(script.encode())} {library}; {_LOADS}"
    return template.render(
        title=title, headline=headline, sections=sections, themes=THEMES, policy=policy, style=_read_asset("page.css"), script=script,
        plots={"themes": {name: theme_template(name) for name in THEMES}, "charts": {c.slug: _describe_plot(c) for c in charts}},
        plotly=packed if charts else "",
    ).lstrip()  # fmt: skip


@cache
def load_template() -> Template:
    """`page.html`, with which labels are escaped wherever they stand; `MissingExtraError` where jinja2 is not installed."""
    with needed_by("a report"):
        from jinja2 import Environment, StrictUndefined
    place = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    kept = {"ensure_ascii": False, "separators": (",", ":"), "allow_nan": False}
    place.policies["json.dumps_kwargs"] = kept
    place.globals.update(
        look=choose_look, most_rows=MOST_ROWS, kind_of=lambda item: type(item).__name__.lower(), is_wide=is_wide,
        choices=choose_filters, legend=group_legend, marks=choose_mark_looks, dashes={k: d for k, (d, _) in DASHES.items()},
    )  # fmt: skip
    place.filters.update(
        cell=format_cell, csv=lambda item: quote(format_csv(item), safe=" ,;:.+-*()[]=/^"), classes=column_classes,
        paragraphs=split_paragraphs, image=encode_picture,
    )  # fmt: skip
    return place.from_string(_read_asset("page.html"))


@cache
def load_plotly() -> tuple[str, str]:
    """The installed plotly.js as base64 of its gzip, and its hash; `MissingExtraError` where plotly is not installed."""
    with needed_by("a report"):
        from plotly.offline import get_plotlyjs
    data = get_plotlyjs().encode()
    return b64encode(gzip.compress(data, 9, mtime=0)).decode(), hash_script(data)


def hash_script(script: bytes) -> str:
    """`'sha256-…'`: how a Content-Security-Policy allows this script and no other."""
    return f"'sha256-{b64encode(sha256(script).digest()).decode()}'"


def choose_filters(chart: Chart) -> dict[str, list[str]]:
    """The filters of a chart that have several values, and that do not choose what the legend chooses as well."""

    def repeats_legend(key: str) -> bool:
        pairs = {(s.name, dict(s.filters).get(key)) for s in chart.series}
        return len(pairs) == len({name for name, _ in pairs}) == len({value for _, value in pairs})

    return {
        key: values for key, values in chart.filters.items() if len(values) > 1 and not repeats_legend(key)
    }


def group_legend(chart: Chart) -> list[tuple[Series, str]]:
    """The first series of each name, role and kind, and the numbers of all of them: one button hides and shows these."""
    entries: dict[tuple[str, int, str], list[int]] = {}
    for i, s in enumerate(chart.series):
        entries.setdefault((s.name, s.role, s.kind), []).append(i)
    return [(chart.series[own[0]], " ".join(map(str, own))) for own in entries.values()]


def column_classes(columns: Sequence[str], rows: Sequence[tuple[Cell, ...]]) -> list[str]:
    """Of each column: numbers, brief texts that no line break should cut, or nothing."""

    def choose(cells: list[Cell]) -> str:
        if cells and all(isinstance(c, int | float) and not isinstance(c, bool) for c in cells):
            return "number"
        return "brief" if all(len(format_cell(c)) <= BRIEF for c in cells) else ""

    return [choose([row[i] for row in rows if row[i] is not None]) for i in range(len(columns))]


def is_wide(item: Item) -> bool:
    """Whether it takes the whole width of the page."""
    if isinstance(item, Picture):
        found = re.search(r'viewBox="[-\d.eE]+[ ,]+[-\d.eE]+[ ,]+([\d.eE]+)', item.svg)
        return found is not None and float(found[1]) > WIDE_PICTURE
    return isinstance(item, Table) and len(item.columns) > WIDE_TABLE


def encode_picture(picture: Picture) -> str:
    """The picture as a `data:` address: a browser runs and loads nothing in such an image."""
    if not re.search(r"<svg[\s>][^<]*xmlns=", picture.svg):
        raise ValueError(f"{picture.slug}: not an SVG picture")
    return f"data:image/svg+xml;base64,{b64encode(picture.svg.encode()).decode()}"


def split_paragraphs(text: str) -> Markup:
    """Paragraphs, divided by blank lines; what stands between backticks is code."""
    with needed_by("a report"):
        from markupsafe import Markup, escape

    parts = [str(escape(part.strip())) for part in re.split(r"\n\s*\n", text) if part.strip()]
    return Markup("".join("<p>" + re.sub(r"`([^`]+)`", r"<code>\1</code>", part) + "</p>" for part in parts))


def _describe_plot(chart: Chart) -> dict[str, Any]:
    """Traces and layout, and for each filter which of its values each series has (None: it is shown with every value)."""
    figure = json.loads(plot_chart(chart).to_json())
    del figure["layout"]["template"]
    filters = [
        [values.index(dict(s.filters)[key]) if key in dict(s.filters) else None for s in chart.series]
        for key, values in choose_filters(chart).items()
    ]
    return {**figure, "filters": filters}


def _read_asset(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
