"""Constructions of one theorem as tables, for tests of their numbers."""

from __future__ import annotations

from mirrormata.constructions._construct import construct
from mirrormata.constructions._conversions import AutomatonLike
from mirrormata.constructions._lrnn import LRNN, table_of


def construct_table(automaton: AutomatonLike, theorem: str | None) -> LRNN:
    """The construction of a theorem, or the cheapest, whose kind is a table."""
    return table_of(construct(automaton, theorem=theorem), "the test is of a table")
