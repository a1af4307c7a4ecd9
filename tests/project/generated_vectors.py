"""Tables of the page on conformance vectors: the families, the re-created bugs, and public implementations by version."""

from __future__ import annotations

from collections.abc import Callable

from mirrormata.benchmarks.vectors_public import HEAD, table_rows
from mirrormata.kernels.vectors._families import FAMILIES, all_words, families_of
from mirrormata.kernels.vectors._word import OPERATORS, can_run
from mirrormata.tests.kernels.vector_bugs import ALONE, BUGS
from mirrormata.tests.project.table_texts import table


def vector_tables() -> dict[str, Callable[[], str]]:
    """The tables by their names in the pages."""

    def families() -> str:
        return table(
            ("family", "words", "what it holds", "what it alone sees"), rows_of(combined=False), (1,)
        )

    def combined() -> str:
        return table(("family", "words", "what it combines", "what it sees"), rows_of(combined=True), (1,))

    def rows_of(*, combined: bool) -> list[tuple[object, ...]]:
        words = all_words()
        return [
            (f"`{f.name}`", sum(w.family == f.name for w in words), f.holds, f.alone)
            for f in FAMILIES
            if f.combined == combined
        ]

    def operators() -> str:
        return table(
            ("operator", "what happens at a token, in this order"),
            [(f"`{k}`", v) for k, v in OPERATORS.items()],
            (),
        )

    def must_pass() -> str:
        words = all_words()
        rows = []
        for name in OPERATORS:
            own = [w for w in words if can_run(name, w)]
            by = {f: sum(w.family == f for w in own) for f in families_of(name)}
            rows.append((f"`{name}`", len(own), ", ".join(f"`{f}` {count}" for f, count in by.items())))
        return table(("operator", "words", "families, each with its number of words"), rows, (1,))

    def bugs() -> str:
        """The collection of re-created bugs, whose test is tests/kernels/test_vector_bugs.py."""
        alone = {ALONE[f.name] for f in FAMILIES if not f.combined}
        rows = [
            (
                bug.name,
                bug.source,
                ", ".join(f"`{f}`" for f in bug.sees) + (", alone" if bug.name in alone else ""),
            )
            for bug in BUGS
        ]
        return table(("bug", "report", "seen by"), rows)

    def public() -> str:
        return table(HEAD, table_rows(), (4, 5, 6, 7))

    return {
        "vector-families": families,
        "vector-combined": combined,
        "vector-operators": operators,
        "vector-must-pass": must_pass,
        "vector-bugs": bugs,
        "vectors-public": public,
    }
