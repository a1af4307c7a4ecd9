"""The table of named automata with their sizes, for `inspect --library`."""

from __future__ import annotations

from typing import Any

from ..errors import LimitError
from ..library.names import automaton_by_name, library
from ..monoids.monoid import TransitionMonoid

MAX_COUNTED_MONOID = 100_000


def library_rows(max_monoid: int = MAX_COUNTED_MONOID) -> list[dict[str, Any]]:
    """One row a name: `name` (pattern), `example`, `states`, `letters`, `monoid` (None over the limit), `description`."""
    rows = []
    for entry in library():
        automaton = automaton_by_name(entry.example)
        try:
            monoid: int | None = TransitionMonoid.of(
                automaton, max_size=min(max_monoid, MAX_COUNTED_MONOID)
            ).size
        except LimitError:
            monoid = None
        rows.append(
            {
                "name": entry.pattern,
                "example": entry.example,
                "states": len(automaton.states),
                "letters": len(automaton.letters),
                "monoid": monoid,
                "description": entry.description,
            }
        )
    return rows


def library_text(rows: list[dict[str, Any]]) -> str:
    """The rows as text: an example with its sizes, then the pattern with its letters and state."""
    lines = [f"{'example':<34}{'states':>8}{'letters':>9}{'monoid':>12}"]
    for row in rows:
        monoid = "over limit" if row["monoid"] is None else f"{row['monoid']:,}"
        lines.append(f"{row['example']:<34}{row['states']:>8,}{row['letters']:>9,}{monoid:>12}")
        lines.append(f"    {row['name']}: {row['description']}")
    return "\n".join(lines)
