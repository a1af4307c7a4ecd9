"""Pages: labels are shown and never read, data is whole, roles keep their looks, and the file allows itself nothing."""

from __future__ import annotations

import csv
import io
import json
import re
from base64 import b64decode
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from mirrormata.models.report._data import (
    Chart,
    Mark,
    Picture,
    Section,
    Series,
    Table,
    format_cell,
    format_csv,
    format_part,
    format_share,
    make_slug,
    number_slugs,
)
from mirrormata.models.report._page import MOST_ROWS, render_page
from mirrormata.models.report._plots import GROUPS, ROLES, THEMES, choose_look, choose_mark_looks, plot_chart
from mirrormata.tests.models.report.report_examples import (
    HOSTILE,
    accuracy,
    betas,
    clusters,
    letters,
    norms,
    sections,
    spectrum,
)


class Reader(HTMLParser):
    """Elements, ids and text of a page, as a browser would see them without running scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {k: v or "" for k, v in attrs}))
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self.open[-1] if self.open else "", []).append(data)

    def of(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]


def render_figure(chart: Chart) -> str:
    """The figure of one chart in a page."""
    found = re.search(r"<figure.*</figure>", render_page("t", [Section("s", "S", "", (chart,))]), re.DOTALL)
    assert found
    return found[0]


def plotted(chart: Chart) -> dict[str, Any]:
    """The plotly figure as plain values."""
    figure: dict[str, Any] = json.loads(plot_chart(chart).to_json())
    return figure


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> str:
    return render_page(f"Report of {HOSTILE}", sections(tmp_path_factory.mktemp("pictures")))


def test_labels_are_text_wherever_they_stand(whole: str) -> None:
    read = Reader(whole)
    assert [a.get("type") for a in read.of("script")] == [
        "application/json",
        "application/octet-stream",
        None,
    ]
    assert not read.of("b")
    assert "".join(read.texts["title"]) == f"Report of {HOSTILE}"
    assert HOSTILE in [text.strip() for text in read.texts["h3"] + read.texts["span"] + read.texts["th"]]
    assert any(HOSTILE in text for text in read.texts["option"])
    assert not any(name.startswith("on") for _, attributes in read.elements for name in attributes)
    assert "alert" not in "".join(read.texts["style"])


def test_data_for_the_script_ends_no_element_and_is_whole(whole: str) -> None:
    found = re.search(r'<script type="application/json" id="page_plots">(.*?)</script>', whole, re.DOTALL)
    assert found
    assert "<" not in found[1]
    specs = json.loads(found[1])["charts"]
    assert list(specs) == ["accuracy", "norms", "spectrum", "clusters", "betas"]
    for chart in (accuracy(), norms(), spectrum(), clusters(), betas()):
        traces = specs[chart.slug]["data"]
        assert [len(t["y"]) for t in traces] == [len(s.y) for s in chart.series]
    assert specs["accuracy"]["data"][1]["y"] == list(accuracy().series[1].y)
    assert specs["betas"]["data"][1]["y"] == [1.98, 1.93, None, None]


def test_plotly_shows_labels_as_they_are() -> None:
    spec = plotted(betas())
    texts = json.dumps([spec["data"][1], spec["layout"]])
    assert "<script" not in texts
    assert "%{x} <b>" not in texts
    assert "&lt;script&gt;" in texts
    assert "%&#123;x}" in spec["data"][1]["hovertemplate"]
    assert "<b>a" not in plotted(norms())["data"][0]["hovertemplate"]


def test_the_policy_allows_two_scripts_and_no_network(whole: str) -> None:
    (policy,) = [
        a["content"] for a in Reader(whole).of("meta") if a.get("http-equiv") == "Content-Security-Policy"
    ]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert set(rules) == {
        "default-src",
        "script-src",
        "style-src",
        "img-src",
        "font-src",
        "base-uri",
        "form-action",
    }
    assert re.fullmatch(r"'sha256-\S{44}' 'sha256-\S{44}'", rules["script-src"])
    assert not re.search(r"https?:|\*", policy)
    for _, attributes in Reader(whole).elements:
        for name in ("src", "href", "xlink:href", "action"):
            assert attributes.get(name, "#").startswith(("#", "data:")), attributes


def test_ids_are_unique_and_all_references_lead_to_one(whole: str) -> None:
    read = Reader(whole)
    ids = [a["id"] for _, a in read.elements if "id" in a]
    assert len(ids) == len(set(ids))
    for _, attributes in read.elements:
        wanted = [
            attributes[n].removeprefix("#")
            for n in ("href", "xlink:href")
            if attributes.get(n, "").startswith("#")
        ]
        for name in ("aria-labelledby", "aria-describedby", "for"):
            wanted += attributes.get(name, "").split()
        wanted += re.findall(r"url\(#([^)]+)\)", " ".join(attributes.values()))
        assert set(wanted) <= set(ids), wanted


def test_headings_and_landmarks_are_in_order(whole: str) -> None:
    read = Reader(whole)
    levels = [int(tag[1]) for tag, _ in read.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    for tag in ("header", "nav", "main", "footer"):
        assert len(read.of(tag)) == 1, tag
    assert len(read.of("figure")) == len(read.of("figcaption")) == 8
    assert len(read.of("details")) == 5
    assert all(a.get("scope") in ("col", "row") for a in read.of("th"))


@pytest.mark.parametrize(
    "chart", [accuracy(), norms(), spectrum(), clusters(), betas()], ids=lambda c: c.slug
)
def test_csv_and_table_are_the_data(chart: Chart) -> None:
    read = Reader(render_figure(chart))
    (link,) = [a for a in read.of("a") if "download" in a]
    assert link["download"] == f"{chart.slug}.csv"
    text = unquote(link["href"].removeprefix("data:text/csv;charset=utf-8,"))
    assert text == format_csv(chart)
    head, *rows = csv.reader(io.StringIO(text))
    y, x = head.index(chart.y_label), head.index(chart.x_label)
    points = [(s.name, a, b) for s in chart.series for a, b in zip(s.x, s.y, strict=True)]
    assert len(rows) == len(points)
    for row, (name, a, b) in zip(rows, points, strict=True):
        assert row[0] == name
        assert row[x] == a if isinstance(a, str) else float(row[x]) == a
        assert row[y] == "" if b is None else float(row[y]) == b
    shown = len(read.of("tr")) - 1
    assert shown == min(len(points), MOST_ROWS)


def test_a_filter_is_offered_for_each_key_and_says_which_series_it_is_about(whole: str) -> None:
    found = re.search(r'id="page_plots">(.*?)</script>', whole, re.DOTALL)
    assert found
    heads, letters = json.loads(found[1])["charts"]["spectrum"]["filters"]
    assert heads == [0] * 6 + [1] * 6
    assert letters == [0, 0, 1, 1, 2, 2] * 2
    read = Reader(render_figure(spectrum()))
    assert len(read.of("select")) == 2
    assert {a["for"] for a in read.of("label")} == {a["id"] for a in read.of("select")}
    assert not Reader(render_figure(accuracy())).of("select")


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a: str, b: str) -> float:
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def test_colours_are_seen_on_both_grounds() -> None:
    for colour in (*ROLES, *GROUPS):
        assert min(contrast(colour, THEMES[name]["ground"]) for name in THEMES) >= 3, colour


def dichromat(colour: str, rows: tuple[tuple[float, float, float], ...]) -> tuple[float, ...]:
    parts = [(int(colour[i : i + 2], 16) / 255) ** 2.2 for i in (1, 3, 5)]
    return tuple(max(sum(w * p for w, p in zip(row, parts, strict=True)), 0) ** (1 / 2.2) for row in rows)


VISIONS = {  # Machado, Oliveira and Fernandes 2009, severity 1
    "protan": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deutan": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritan": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


@pytest.mark.parametrize("vision", VISIONS)
def test_roles_are_told_apart_without_a_kind_of_cones(vision: str) -> None:
    seen = [dichromat(colour, VISIONS[vision]) for colour in ROLES[:3]]
    for i, a in enumerate(seen):
        for b in seen[:i]:
            assert sum((p - q) ** 2 for p, q in zip(a, b, strict=True)) ** 0.5 > 0.2, vision
    assert (
        sum(
            (p - q) ** 2
            for p, q in zip(*(dichromat(c, VISIONS["deutan"]) for c in ("#ff0000", "#a0a000")), strict=True)
        )
        < 0.05
    )


def test_a_role_has_one_look_everywhere_and_no_two_share_one() -> None:
    looks = [choose_look(role) for role in range(64)]
    assert len({(found.colour, found.symbol) for found in looks}) == 64
    for chart in (accuracy(), norms(), spectrum(), clusters(), betas()):
        legend = render_figure(chart)
        for series, trace in zip(chart.series, plotted(chart)["data"], strict=True):
            assert trace["marker"]["color"] == choose_look(series.role).colour
            assert choose_look(series.role).colour in legend
            if series.kind != "bars":
                assert trace["marker"]["symbol"].removesuffix("-open") == choose_look(series.role).symbol
    with pytest.raises(ValueError, match="role -1"):
        choose_look(-1)


def test_marks_are_lines_at_their_place_which_the_legend_tells_apart() -> None:
    layout = plotted(accuracy())["layout"]
    assert [(s["x0"], s["x1"]) for s in layout["shapes"][:2]] == [(64, 64), (120, 120)]
    assert layout["shapes"][2]["y0"] == 1 / 24
    assert "annotations" not in layout
    looks = [found for _, found in choose_mark_looks(accuracy())]
    assert [(s["line"]["color"], s["line"]["dash"]) for s in layout["shapes"]] == [
        (a.colour, a.dash) for a in looks
    ]
    assert len({a.colour for a in looks}) == len({a.dash for a in looks}) == 3
    text = render_figure(accuracy())
    entries = re.findall(r'<li class="mark">.*?stroke="([^"]+)".*?<span>([^<]+)</span>', text, re.DOTALL)
    shown = ["training length 64", "predicted horizon 120", "chance: 0.04167"]
    assert entries == list(zip([a.colour for a in looks], shown, strict=True))


def test_a_mark_of_a_series_has_its_colour() -> None:
    chart = replace(accuracy(), marks=(Mark("x", 64, "certified", 5), Mark("x", 70, "training")))
    first, second = (found.colour for _, found in choose_mark_looks(chart))
    assert first == choose_look(5).colour != second


def test_lines_of_groups_differ_in_colour_and_dash() -> None:
    looks = [choose_look(role) for role in range(4, 10)]
    assert len({found.colour for found in looks}) == len({found.dash for found in looks}) == 6


def test_a_logarithmic_axis_of_whole_numbers_begins_and_ends_with_them() -> None:
    axis = plotted(accuracy())["layout"]["xaxis"]
    assert axis["tickformat"] == ",d"
    low, high = (10**x for x in axis["range"])
    assert 6.5 < low < 8
    assert 2048 < high < 2600


def test_folded_items_are_part_of_the_page_and_named_while_they_are_folded() -> None:
    text = render_page("t", [Section("s", "S", "", (letters(),), (spectrum(),))], headline="It works.")
    assert "".join(Reader(text).texts["summary"]).startswith("More: Eigenvalues")
    found = re.search(r'id="page_plots">(.*?)</script>', text, re.DOTALL)
    assert found
    assert list(json.loads(found[1])["charts"]) == ["spectrum"]
    assert Reader(text).texts["h1"] == ["It works."]
    assert "t" in Reader(text).texts["p"]


def test_a_table_of_two_columns_is_a_list_of_pairs() -> None:
    pairs = Table("t", "T", "", ("entry", "value"), (("a", 1.23456789), ("b", None)), "")
    read = Reader(render_page("t", [Section("s", "S", "", (pairs,))]))
    assert not read.of("table")
    assert (read.texts["dt"], read.texts["dd"]) == (["a", "b"], ["1.235", "–"])


def test_a_mark_that_a_logarithm_leaves_out_is_still_read() -> None:
    chart = replace(accuracy(), marks=(Mark("x", 0, "horizon none"), Mark("x", 64, "training")))
    assert [s["x0"] for s in plotted(chart)["layout"]["shapes"]] == [64]
    assert "Marks: horizon none (length (letters) 0); training (length (letters) 64)" in render_figure(chart)


def test_the_unit_circle_is_drawn_with_one_scale_where_it_is_asked_for() -> None:
    layout = plotted(spectrum())["layout"]
    assert layout["yaxis"]["scaleanchor"] == "x"
    assert [s["type"] for s in layout["shapes"]] == ["circle"]
    assert "scaleanchor" not in plotted(accuracy())["layout"]["yaxis"]


def test_lines_break_at_gaps_and_lonely_points_are_seen() -> None:
    lonely = Series("a", tuple(range(100)), (1.0, None, 2.0, None, *(3.0,) * 96), "line")
    chart = Chart("c", "c", "", "x", "y", (lonely, *norms().series), "")
    first, second, *_ = plotted(chart)["data"]
    assert first["mode"] == "lines+markers"
    assert second["mode"] == "lines"
    assert first["connectgaps"] is False


SVG = """<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
 viewBox="0 0 10 10" onload="alert(1)"><style>*{stroke: red} #a, .b {fill: url(#g); background: url(http://x.org/)}
 @import "http://x.org/a.css"; </style><defs><g id="g"/></defs><path id="a" clip-path="url(#g)"/><use xlink:href="#g"/>
 <script>alert(1)</script><a href="http://x.org/"><text>a &lt;b&gt;</text></a></svg>"""


def test_pictures_are_images_which_run_and_load_nothing() -> None:
    picture = Picture("p", HOSTILE, f"What it shows {HOSTILE}", SVG, "s")
    read = Reader(render_page("t", [Section("s", "S", "", (picture,))]))
    (image,) = read.of("img")
    kind, data = image["src"].split(",", 1)
    assert kind == "data:image/svg+xml;base64"
    assert b64decode(data).decode() == SVG
    assert image["alt"] == f"What it shows {HOSTILE}"
    assert not [tag for tag, _ in read.elements if tag in ("use", "path", "foreignobject")]
    for wrong in ("<p>", "<html></html>", "", "<svg></svg>"):
        with pytest.raises(ValueError, match="p: not an SVG"):
            render_page("t", [Section("s", "S", "", (replace(picture, svg=wrong),))])


def test_an_axis_has_the_range_that_is_asked_for_and_shows_marks() -> None:
    fixed = plotted(replace(accuracy(), y_range=(0.0, 1.0)))["layout"]["yaxis"]
    assert (fixed["range"], "autorangeoptions" in fixed) == ([0.0, 1.0], False)
    assert plotted(betas())["layout"]["yaxis"]["autorangeoptions"] == {"include": [2.0]}


def test_a_filter_with_one_value_is_left_out() -> None:
    one = replace(
        spectrum(), series=tuple(s for s in spectrum().series if dict(s.filters)["head"] == "head 1")
    )
    text = render_figure(one)
    assert '<label for="spectrum_f0">letter</label>' in text
    assert text.count("<select") == 1
    assert "head" in one.columns


def test_shares_are_never_rounded_to_all_or_none() -> None:
    shown = [format_share(x) for x in (0.0, 1e-9, 0.31049, 0.999999, 1.0)]
    assert shown == ["0 %", "0.01 %", "31.05 %", "99.99 %", "100 %"]
    assert format_part(2, 3, "matrix", "matrices") == "2 of 3 matrices"
    assert [format_part(n, n, "letter") for n in (1, 6)] == ["its only letter", "all 6 letters"]


def test_slugs() -> None:
    table = Table("accuracy", "T", "", ("a",), ((1,),), "")
    given = (Section("Head 1: (0 1)", "S", "", (table, table)), Section("accuracy", "S", "", ()))
    found = number_slugs(given)
    assert [s.slug for s in found] == ["head-1-0-1", "accuracy"]
    assert [item.slug for item in found[0].items] == ["accuracy", "accuracy-2"]
    assert make_slug("β") == "item"
    render_page("t", found)
    with pytest.raises(ValueError, match="'accuracy' occurs twice"):
        render_page("t", (Section("a", "S", "", (table, table)),))
    with pytest.raises(ValueError, match="slug 'A B'"):
        render_page("t", (Section("A B", "S", "", ()),))


def test_cells() -> None:
    shown = [format_cell(c) for c in (None, True, False, 1234567, 0.1 + 0.2, 1e-9, inf, "a,b")]
    assert shown == ["–", "yes", "no", "1,234,567", "0.3", "1e-09", "inf", "a,b"]
    assert format_csv(Table("t", "t", "", ("a", "b"), ((0.1 + 0.2, None), ('x"y', True)), "")) == (
        'a,b\r\n0.30000000000000004,\r\n"x""y",True\r\n'
    )


def test_the_page_is_small_and_says_the_same_each_time(whole: str, tmp_path: Path) -> None:
    assert len(whole.encode()) < 5_000_000
    assert whole.startswith("<!doctype html>")
    assert render_page(f"Report of {HOSTILE}", sections(tmp_path)) == whole


def test_many_points_are_listed_in_part_and_saved_in_full() -> None:
    many = Chart("m", "m", "", "x", "y", (Series("s", tuple(range(3000)), (0.5,) * 3000),), "")
    text = render_figure(many)
    assert "first 200 of 3,000 points" in text
    assert unquote(text).count("\r\ns,") == 3000
    assert len(many.rows) == 3000
