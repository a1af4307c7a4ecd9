"""Every re-created bug is seen, with its cause."""

from __future__ import annotations

import pytest

from mirrormata.kernels import check_vectors
from mirrormata.kernels.vectors._families import FAMILIES
from mirrormata.tests.kernels.vector_bugs import ALONE, BUGS, Bug, whole


def test_the_collection_is_large_and_has_a_bug_for_each_family() -> None:
    assert len({bug.name for bug in BUGS}) == len(BUGS) >= 100
    assert set(ALONE) == {family.name for family in FAMILIES}
    assert set(ALONE.values()) <= {bug.name for bug in BUGS}


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_bug_is_seen_with_its_cause(bug: Bug) -> None:
    report = check_vectors(whole(bug.core, bug.planted), bug.operator, families=(*bug.sees, *bug.passes))
    failed = {v.family: v for v in report.verdicts if v.verdict == "fail"}
    assert set(bug.sees) == set(failed), report.headline()
    first = failed[bug.sees[0]]
    assert bug.cause in first.cause
    assert first.known == bug.known
    assert first.failed
    assert first.first
