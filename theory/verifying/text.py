"""What a claim's docstring says, by its parts: read for the docs' pages, for `claims --show` and for the tests."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, fields

DIRECTIONS = ("necessary", "sufficient", "tight", "bound")


@dataclass(frozen=True)
class ClaimText:
    """The parts in their fixed order, each as running text; `example` keeps its lines."""

    summary: str
    statement: str
    direction: str
    hypotheses: str
    arithmetic: str
    source: str
    method: str
    example: str

    def rows(self) -> list[tuple[str, str]]:
        """`(label, text)` of the parts after the summary."""
        return [(f.name, getattr(self, f.name)) for f in fields(self) if f.name != "summary"]


LABELS = tuple(f.name.capitalize() for f in fields(ClaimText) if f.name != "summary")


def claim_text(docstring: str | None) -> ClaimText:
    """The parts of a docstring; `ValueError` with the first thing that is wrong with its order or its labels."""
    lines = inspect.cleandoc(docstring or "").splitlines()
    starts = [i for i, line in enumerate(lines) if line.partition(":")[0] in LABELS]
    found = tuple(lines[i].partition(":")[0] for i in starts)
    if found != LABELS:
        raise ValueError(
            f"the docstring of verify has the parts {', '.join(found) or 'none'}, not {', '.join(LABELS)}"
        )
    summary = " ".join(line.strip() for line in lines[: starts[0]]).strip()
    parts = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        first = lines[start].partition(":")[2].strip()
        if lines[start].startswith("Example"):
            parts.append("\n".join(line[4:] for line in lines[start + 1 : end]).strip())
        else:
            parts.append(" ".join([first, *(line.strip() for line in lines[start + 1 : end])]).strip())
    empty = [label for label, part in zip(LABELS, parts, strict=True) if not part]
    if not summary or empty:
        raise ValueError(f"the docstring of verify says nothing under {', '.join(empty) or 'its first line'}")
    text = ClaimText(summary, *parts)
    if text.direction.split()[0].strip(".,;:") not in DIRECTIONS:
        raise ValueError(
            f"the direction {text.direction!r} does not begin with one of {', '.join(DIRECTIONS)}"
        )
    return text
