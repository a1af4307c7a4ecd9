"""Every re-created bug is seen, with its cause; each family sees one that no other does; right functions raise no alarm."""

from __future__ import annotations

import pytest

from mirrormata.kernels import check_vectors
from mirrormata.kernels.vectors._families import FAMILIES
from mirrormata.tests.kernels.vector_bugs import (
    ALONE,
    BUGS,
    Bug,
    Core,
    chunked,
    recurrent,
    rwkv7,
    scalar,
    whole,
)


def test_the_collection_is_large_and_has_a_bug_for_each_family() -> None:
    assert len({bug.name for bug in BUGS}) == len(BUGS) >= 100
    assert set(ALONE) == {family.name for family in FAMILIES}
    assert set(ALONE.values()) <= {bug.name for bug in BUGS}


@pytest.mark.parametrize(
    ("core", "operator"),
    [
        (recurrent, "gated_delta_rule"),
        (chunked, "gated_delta_rule"),
        (recurrent, "delta_product"),
        (recurrent, "kda"),
        (rwkv7, "rwkv7"),
        (scalar, "scalar_gate"),
    ],
)
def test_the_functions_without_a_bug_pass(core: Core, operator: str) -> None:
    report = check_vectors(whole(core), operator)
    assert report.passed, report.headline()
    assert {v.verdict for v in report.verdicts} == {"pass"}


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_bug_is_seen_with_its_cause(bug: Bug) -> None:
    """Of bugs that stand for a family, all families are run: no other one fails, but for combined ones."""
    stands_for = [family for family, name in ALONE.items() if name == bug.name]
    chosen = None if stands_for else bug.sees
    report = check_vectors(whole(bug.core, bug.planted), bug.operator, families=chosen)
    failed = {v.family: v for v in report.verdicts if v.verdict == "fail"}
    assert set(bug.sees) <= set(failed), report.headline()
    first = failed[bug.sees[0]]
    assert bug.cause in first.cause
    assert first.known == bug.known
    assert first.failed
    assert first.first
    if stands_for:
        others = {family.name for family in FAMILIES if not family.combined} - set(stands_for)
        assert set(stands_for) <= set(failed)
        assert not others & set(failed)
