"""Each family sees an error that no other does, as far as it is not combined; right functions raise no alarm."""

from __future__ import annotations

import pytest

from mirrormata.kernels import Contract, check_vectors
from mirrormata.kernels.vectors._check import _ask as ask
from mirrormata.kernels.vectors._compare import Asking
from mirrormata.kernels.vectors._families import FAMILIES, families_of
from mirrormata.kernels.vectors._frameworks import Framework
from mirrormata.tests.kernels.vector_bugs import ALONE, BUGS, Core, chunked, recurrent, rwkv7, scalar, whole


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


@pytest.mark.parametrize(("family", "name"), ALONE.items(), ids=ALONE)
def test_a_family_sees_an_error_that_no_other_does(family: str, name: str) -> None:
    """Of the combined families others may see it, but none that is not combined."""
    bug = next(bug for bug in BUGS if bug.name == name)
    asking = Asking(whole(bug.core, bug.planted), bug.operator, Contract(), Framework("torch", "cpu"))
    asked, _ = ask(asking, [f for f in FAMILIES if f.name in families_of(bug.operator)])
    failed = {name for name, words in asked.items() if any(word.fails for word in words)}
    combined = {f.name for f in FAMILIES if f.combined}
    assert family in failed
    assert failed - combined <= {family}
