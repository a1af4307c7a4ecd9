"""`write_report`: a training, a model or certificates as one page, and as figures of a paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...foundation._errors import LimitError
from ...foundation._extras import needed_by
from ...foundation._files import make_folder, write_bytes
from ...foundation._text import html_table, one_line
from ._data import (
    Chart,
    LearnedLimits,
    Mark,
    Picture,
    RandomRuns,
    Section,
    Series,
    ShownLimits,
    Table,
    number_slugs,
)
from ._folder import ReportFolder, open_folder, show_certificates, show_provenance
from ._page import load_plotly, load_template, render_page
from ._paper import COLUMN, Format, draw_chart, draw_items

__all__ = [
    "Chart", "LearnedLimits", "Mark", "Picture", "RandomRuns", "Report", "Section", "Series", "ShownLimits", "Table",
    "draw_chart", "draw_items", "render_page", "write_report",
]  # fmt: skip
MAX_BYTES = 5_000_000
FIRST = ("automaton", "letters")
"""Sections of a construction that are shown unfolded where there are several."""


@dataclass(frozen=True, repr=False)
class Report:
    """The files that a report consists of.

    Attributes:
        page: the HTML file.
        bytes: the size of the page in bytes.
        sections: the slugs of the sections, in order.
        charts: the number of charts.
        pictures: the number of pictures.
        tables: the number of tables.
        files: the files with figures and their data.
    """

    page: Path
    bytes: int
    sections: tuple[str, ...]
    charts: int
    pictures: int
    tables: int
    files: tuple[Path, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain values for JSON.

        Returns:
            The fields by name.
        """
        lists = {"sections": list(self.sections), "files": [str(path) for path in self.files]}
        return {**vars(self), "page": str(self.page), **lists}

    def rows(self) -> list[tuple[str, str]]:
        """Describe the written files as rows of a table.

        Returns:
            Labels and texts.
        """
        return [
            ("page", str(self.page)),
            ("size", f"{self.bytes:,} bytes"),
            ("sections", ", ".join(self.sections)),
            ("items", f"{self.charts} charts, {self.pictures} pictures, {self.tables} tables"),
            ("files", f"{len(self.files)} for a paper"),
        ]

    def __repr__(self) -> str:
        return one_line(self, f"{self.page}, {self.bytes:,} bytes, {len(self.sections)} sections")

    def _repr_html_(self) -> str:
        return html_table("Report", self.rows())


def write_report(
    folder: str | Path,
    *,
    output: str | Path | None = None,
    png: str | Path | None = None,
    pdf: str | Path | None = None,
    width: float = COLUMN,
    command: str = "",
    seed: int | None = None,
    learned: LearnedLimits | None = None,
    runs: RandomRuns | None = None,
    limits: ShownLimits | None = None,
    max_bytes: int = MAX_BYTES,
    progress: Callable[[float], None] | None = None,
) -> Report:
    """Write a page about a folder, and figures for a paper. Nothing is written before everything is drawn.

    Args:
        folder: a folder that `train` wrote, a model folder, or a folder with certificates.
        output: the file of the page, by default `report.html` in the folder.
        png: a folder for the figures as PNG, with their data as CSV; None for none.
        pdf: a folder for the figures as PDF, with their data as CSV; None for none.
        width: the width of the figures in inches, from 1.5 to 20.
        command: the command line that the page names as its origin.
        seed: the seed of the trained model that is compared, by default the one that is accurate up to the greatest length.
        learned: limits on how much of a model is compared and shown.
        runs: the random words on which constructions are run.
        limits: limits on how much of constructions is shown.
        max_bytes: the largest size of the page in bytes.
        progress: called with the fraction of the work that is done, from 0 to 1.

    Returns:
        What was written.

    Raises:
        InputError: the folder contains none of these, or a file is broken.
        MissingExtraError: the extra `report` is not installed, or `models`, which a trained model needs.
        LimitError: the page would have more than `max_bytes`.
    """
    load_template()
    load_plotly()
    place = open_folder(folder)
    sections = sections_of(
        place, command=command, seed=seed, learned=learned, runs=runs, limits=limits, progress=progress
    )
    target = place.path / "report.html" if output is None else Path(output)
    title = f"{place.name}: {place.what}"
    return write_sections(title, sections, target, png=png, pdf=pdf, width=width, max_bytes=max_bytes)


def write_sections(
    title: str,
    sections: Sequence[Section],
    target: Path,
    *,
    png: str | Path | None = None,
    pdf: str | Path | None = None,
    width: float = COLUMN,
    max_bytes: int = MAX_BYTES,
) -> Report:
    """Write sections as a page, and their figures. Nothing is written before everything is drawn.

    Args:
        title: the title of the page.
        sections: the sections; the text of the first is the headline.
        target: the file of the page.
        png, pdf, width, max_bytes: as in `write_report`.

    Raises:
        LimitError: the page would have more than `max_bytes`.
    """
    sections = number_slugs(sections)
    first, *rest = sections
    page = render_page(title, (replace(first, text=""), *rest), headline=first.text)
    written = page.encode("utf-8")
    if len(written) > max_bytes:
        size = f"{len(written):,} bytes, more than {max_bytes:,}"
        raise LimitError(f"{target}: the page has {size}: raise `max_bytes`")
    wanted: list[tuple[str | Path | None, Format]] = [(png, "png"), (pdf, "pdf")]
    files = [
        (Path(where) / name, data)
        for where, kind in wanted
        if where is not None
        for name, data in draw_items(sections, kind, width)
    ]
    for where in (png, pdf):
        if where is not None:
            make_folder(where)
    for path, data in (*files, (target, written)):
        write_bytes(path, data)
    kinds = [type(item) for section in sections for item in section.every]
    return Report(
        target, len(written), tuple(section.slug for section in sections), kinds.count(Chart), kinds.count(Picture),
        kinds.count(Table), tuple(path for path, _ in files),
    )  # fmt: skip


def sections_of(
    place: ReportFolder,
    *,
    command: str = "",
    seed: int | None = None,
    learned: LearnedLimits | None = None,
    runs: RandomRuns | None = None,
    limits: ShownLimits | None = None,
    progress: Callable[[float], None] | None = None,
) -> tuple[Section, ...]:
    """The answer, whose text is the headline; what was learned, what is constructed; settings and provenance.

    In a report of something learned the items of constructions are folded, as are those of several constructions.
    """
    from ._answer import answer_certificates
    from ._constructed import show_construction

    construction, reason = place.construct_task()
    shown = [*place.realisations, *([(None, construction)] if construction is not None else [])]
    of_model, built = list[Section](), list[Section]()
    if place.is_learned:
        with needed_by(f"{place.path}: a report of {place.what}"):
            from ._learned import show_model

        with use_one_thread():
            of_model += show_model(place, seed=seed, limits=learned)
    for number, (path, realisation) in enumerate(shown):
        if progress is not None:
            progress((number + place.is_learned) / (len(shown) + place.is_learned + 1))
        sections = show_construction(realisation, certificate=path, runs=runs, limits=limits)
        named = path.name if path is not None else "constructed"
        built += [replace(s, title=f"{named}: {s.title}") for s in sections] if len(shown) > 1 else sections
    if place.is_learned:
        built = [replace(s, items=(), folded=s.every) for s in built]
    elif len(shown) > 1:
        built = [s if s.slug in FIRST else replace(s, items=(), folded=s.every) for s in built]
    answer, *middle = of_model or [answer_certificates(place, shown)]
    settings = [middle.pop()] if middle else []
    last = (*show_certificates(place), *settings, show_provenance(place, command, reason))
    return (answer, *_join_empty(middle), *built, *last)


def _join_empty(sections: Sequence[Section]) -> list[Section]:
    """The same, but neighbours that say with the same words why they are not shown are one section."""
    found: list[Section] = []
    for s in sections:
        if found and not (s.every or found[-1].every) and s.text == found[-1].text:
            found[-1] = replace(found[-1], title=f"{found[-1].title}; {s.title}")
        else:
            found.append(s)
    return found


@contextmanager
def use_one_thread() -> Iterator[None]:
    """Run torch on one thread: for the small products of a word's single tokens several are many times slower."""
    with needed_by("a report of a model"):
        import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
