"""`page`: a report as one HTML file that needs no network; without scripts its texts, tables and pictures remain."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import escape
from importlib import resources

from .chart_data import filter_values, picked_keys
from .page_items import item_html, text_html
from .parts import Chart, Section
from .plotly_chart import plotly_chart
from .plotly_library import plotly_library, script_hash

SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def page(title: str, sections: Sequence[Section]) -> str:
    """The whole page. Slugs of sections, and of items, must differ: small letters, digits and hyphens; else `ValueError`.

    The page may run two scripts, its own and plotly.js, allowed by their hashes, and load nothing.
    """
    _check_slugs(sections)
    script, style, library = _asset("page.js"), _asset("page.css"), plotly_library()
    policy = (
        f"default-src 'none'; script-src {script_hash(script.encode())} {library.allowed}; "
        "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'"
    )
    charts = [item for section in sections for item in section.items if isinstance(item, Chart)]
    specs = {chart.slug: {**plotly_chart(chart), "filters": _chosen(chart)} for chart in charts}
    links = "".join(f'<li><a href="#section_{s.slug}">{escape(s.title)}</a></li>' for s in sections)
    body = "".join(_section(section) for section in sections)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<a class="skip" href="#page_content">Skip to the content</a>
<header><div><h1>{escape(title)}</h1></div>
<button type="button" id="page_theme" aria-pressed="false" hidden>Dark</button></header>
<nav aria-label="Sections"><ul>{links}</ul></nav>
<main id="page_content" tabindex="-1">
{body}</main>
<footer><p>Made by mirrormata. All that this page shows is in this one file.</p></footer>
<script type="application/json" id="page_charts">{_json(specs)}</script>
<script type="application/octet-stream" id="page_plotly">{library.packed if charts else ""}</script>
<script>{script}</script>
</body>
</html>
"""


def _section(section: Section) -> str:
    items = "".join(item_html(item, item.slug) for item in section.items)
    grid = f'<div class="items">\n{items}</div>\n' if items else ""
    return (
        f'<section id="section_{section.slug}" aria-labelledby="heading_{section.slug}">\n'
        f'<h2 id="heading_{section.slug}">{escape(section.title)}</h2>\n'
        f'<div class="text">{text_html(section.text)}</div>\n{grid}</section>\n'
    )


def _chosen(chart: Chart) -> list[list[int | None]]:
    """For each filter, which of its values each series has; None: it is shown with every value."""
    return [
        [values.index(own[key]) if key in (own := dict(series.filters)) else None for series in chart.series]
        for key in picked_keys(chart)
        for values in (filter_values(chart, key),)
    ]


def _json(value: object) -> str:
    """JSON within a `<script>` element, which only a `<` could end."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _check_slugs(sections: Sequence[Section]) -> None:
    for slugs in ([s.slug for s in sections], [item.slug for s in sections for item in s.items]):
        if wrong := [slug for slug in slugs if not SLUG.fullmatch(slug)]:
            raise ValueError(f"slug {wrong[0]!r}: small letters, digits and hyphens make a slug")
        if len(set(slugs)) < len(slugs):
            raise ValueError(f"slug {next(s for s in slugs if slugs.count(s) > 1)!r} occurs twice")


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
