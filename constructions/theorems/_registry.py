"""Every construction on offer, found by the files of this folder.

Apart from `_construction.py`, which all those files import.
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache

from ...foundation._arguments import show_value
from ...foundation._errors import InputError
from ...foundation._registry import find_records
from ._construction import Construction


@cache
def all_constructions() -> dict[str, Construction]:
    """All constructions by their sources, in their order."""
    found: dict[str, Construction] = {}
    records = find_records(__package__, "CONSTRUCTION", Construction)
    for record in sorted(records, key=lambda r: (r.order, r.source)):
        if record.source in found:
            raise TypeError(f"two files of {__package__} have a construction {record.source}")
        found[record.source] = record
    return found


def construction_of(source: str) -> Construction:
    """Find the construction of a theorem.

    Args:
        source: the id of a theorem, such as `G.T3`; upper and lower case are one.

    Raises:
        InputError: there is no construction for this theorem.
    """
    known = all_constructions()
    by_lower = {name.lower(): construction for name, construction in known.items()}
    if not isinstance(source, str):
        raise InputError(f"`theorem` {show_value(source)}: not a construction; there are {', '.join(known)}")
    if source.lower() not in by_lower:
        near = get_close_matches(source.lower(), list(by_lower), 1)
        meant = f"; did you mean {by_lower[near[0]].source}?" if near else ""
        raise InputError(f"`theorem` {source}: not a construction; there are {', '.join(known)}{meant}")
    return by_lower[source.lower()]
