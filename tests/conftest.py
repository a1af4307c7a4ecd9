"""Hypothesis without deadlines, since tests run side by side, in continuous integration the same examples each time;
and the fixture `call`, the command line.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from hypothesis import settings

from mirrormata.tests.command_line import Outcome, caller

settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """`call("plan", "S5")`: the command in this process."""
    return caller(capsys)
