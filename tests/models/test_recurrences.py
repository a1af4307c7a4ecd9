"""The table of recurrences: what the reasons say is what exact samples decide, in both directions."""

from __future__ import annotations

import pytest

from mirrormata.models._families import load_families
from mirrormata.tests.models.recurrences import RECURRENCES, Recurrence, survey
from mirrormata.theory.spectra._eigenvalues import eigenvalue_report


@pytest.mark.parametrize("recurrence", RECURRENCES, ids=lambda r: r.name)
def test_classes(recurrence: Recurrence) -> None:
    found = survey(recurrence, samples=60)
    assert (found.non_real is None) == recurrence.real
    if recurrence.real:
        assert (found.negative is not None) == (recurrence.smallest != "0")
    if recurrence.name == "TTT-linear":
        assert found.outside is not None
    elif recurrence.name != "Titans (linear core)":
        assert found.outside is None
    for witness, question in ((found.non_real, "is_real"), (found.outside, "within_disc")):
        if witness is not None:
            assert getattr(eigenvalue_report(witness), question) is False


def test_families_are_ours() -> None:
    for recurrence in RECURRENCES:
        assert not recurrence.family or recurrence.family.split(",")[0] in load_families()
    assert len({r.name for r in RECURRENCES}) == len(RECURRENCES)
