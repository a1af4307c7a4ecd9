"""`report`: a training, a model or certificates as one page, and as figures of a paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...foundation._errors import InputError, LimitError
from ...foundation._files import write_bytes
from .folder import ReportFolder, open_folder
from .limits import LearnedLimits, RandomRuns, ShownLimits
from .page import page
from .paper import COLUMN, Format, paper_files
from .parts import Chart, Picture, Section, Table
from .slugs import with_own_slugs
from .summary import certificates, provenance, summary

MAX_BYTES = 5_000_000


@dataclass(frozen=True)
class Report:
    """What was written: the page, its size, the sections' slugs, how many items of each kind, and the figures' files."""

    page: Path
    bytes: int
    sections: tuple[str, ...]
    charts: int
    pictures: int
    tables: int
    files: tuple[Path, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "page": str(self.page), "bytes": self.bytes, "sections": list(self.sections), "charts": self.charts,
            "pictures": self.pictures, "tables": self.tables, "files": [str(path) for path in self.files],
        }  # fmt: skip


def report(
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
    """Write the page of a folder, by default to its `report.html`; figures of `width` inches to the folders `png`, `pdf`.

    `folder`: what `train` wrote, a model folder, or a folder with certificates. `seed`, `learned`: see
    `learned_sections`; `runs`, `limits`: see `constructed_sections`. `command`: what is said to have made the page. Nothing is written before all is drawn.
    Raises `InputError` for a folder without any of these and for a file that is broken, `LimitError` for a page of more
    than `max_bytes`.
    """
    place = open_folder(folder)
    target = place.path / "report.html" if output is None else Path(output)
    sections = with_own_slugs(
        sections_of(
            place, command=command, seed=seed, learned=learned, runs=runs, limits=limits, progress=progress
        )
    )
    written = page(f"{place.name}: {place.what}", sections).encode("utf-8")
    if len(written) > max_bytes:
        raise LimitError(
            f"{target}: the page has {len(written):,} bytes, more than {max_bytes:,}: raise `max_bytes`"
        )
    files = [(Path(where) / name, data) for where, name, data in _figures(sections, png, pdf, width)]
    _folders(png, pdf)
    for path, data in files:
        write_bytes(path, data)
    write_bytes(target, written)
    items = [item for section in sections for item in section.items]
    return Report(
        page=target,
        bytes=len(written),
        sections=tuple(section.slug for section in sections),
        charts=sum(isinstance(item, Chart) for item in items),
        pictures=sum(isinstance(item, Picture) for item in items),
        tables=sum(isinstance(item, Table) for item in items),
        files=tuple(path for path, _ in files),
    )


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
    """The summary, what was learned, what is constructed, certificates that realise nothing, and provenance."""
    from .constructed import constructed_sections

    construction, reason = place.construction()
    shown = [*place.realisations, *([(None, construction)] if construction is not None else [])]
    found: list[Section] = []
    if place.learned:
        from .learned import learned_sections

        with one_thread():
            found += learned_sections(place, seed=seed, limits=learned)
    for number, (path, realisation) in enumerate(shown):
        if progress is not None:
            progress((number + place.learned) / (len(shown) + place.learned + 1))
        sections = constructed_sections(realisation, certificate=path, runs=runs, limits=limits)
        named = path.name if path is not None else "constructed"
        found += [replace(s, title=f"{named}: {s.title}") for s in sections] if len(shown) > 1 else sections
    return (summary(place, command, reason), *found, *certificates(place), provenance(place))


@contextmanager
def one_thread() -> Iterator[None]:
    """torch on one thread: for the small products of a word's single tokens several are many times slower."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _figures(
    sections: tuple[Section, ...], png: str | Path | None, pdf: str | Path | None, width: float
) -> list[tuple[str | Path, str, bytes]]:
    wanted: list[tuple[str | Path | None, Format]] = [(png, "png"), (pdf, "pdf")]
    return [
        (where, name, data)
        for where, kind in wanted
        if where is not None
        for name, data in paper_files(sections, kind, width)
    ]


def _folders(*places: str | Path | None) -> None:
    for place in places:
        if place is None:
            continue
        try:
            Path(place).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{place}: cannot be a folder ({error.strerror})") from None
