"""Slugs of a report's sections and items: made of small letters, digits and hyphens, each one once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from .parts import Section


def slug_of(text: str) -> str:
    """The text in small letters, with a hyphen for all that is neither letter nor digit."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "item"


def with_own_slugs(sections: Iterable[Section]) -> tuple[Section, ...]:
    """The same sections; where the slug of a section, or of an item, is taken, it gets a number: `accuracy-2`."""
    of_sections: set[str] = set()
    of_items: set[str] = set()
    return tuple(
        replace(
            section,
            slug=_own(section.slug, of_sections),
            items=tuple(replace(item, slug=_own(item.slug, of_items)) for item in section.items),
        )
        for section in sections
    )


def _own(text: str, taken: set[str]) -> str:
    base = slug_of(text)
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    taken.add(name)
    return name
