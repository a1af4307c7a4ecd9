"""Every change of a construction, sign, order, transposition or angle, makes the claim's check fail."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import pytest

import mirrormata.tests.theory.claims as folder
from mirrormata.tests.theory.claims.claim_mutation import BROKEN, Mutation

MUTATIONS: list[Mutation] = [
    mutation
    for module in pkgutil.iter_modules(folder.__path__)
    if module.name.startswith("claim_mutations_")
    for mutation in import_module(f"{folder.__name__}.{module.name}").MUTATIONS
]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda m: f"{m.claim}, {m.what}")
def test_a_changed_construction_is_found_out(mutation: Mutation, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = mutation.outcome(monkeypatch)
    assert not outcome.as_expected, f"{mutation.claim} does not notice: {outcome.verdict.line()}"
    assert (outcome.error or "").partition(":")[0] not in BROKEN, outcome.error


def test_there_are_at_least_thirty_changes() -> None:
    assert len(MUTATIONS) >= 30
