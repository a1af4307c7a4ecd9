"""Families of cases of which `make test-long` runs a sample, and `make test-exhaustive` the rest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def sampled(cases: Iterable[Any], every: int) -> list[Any]:
    """Cases for `parametrize`; all but the first of each group of `every` are marked `exhaustive`.

    Args:
        cases: arguments of a test, a tuple where it has several.
        every: how many cases come with one that is run always, 1 or more.
    """
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)), marks=[pytest.mark.exhaustive] * (i % every > 0)
        )
        for i, case in enumerate(cases)
    ]
