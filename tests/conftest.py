"""Triton's kernels in its interpreter, unless TRITON_INTERPRET=0 says that they are to run on a GPU; Hypothesis without
deadlines, since tests run side by side, in continuous integration the same examples each time; and the fixtures `call`, the
command line, `certificates`, a folder of them for it, and `poisoned_buffers`, for kernels. Slow tests get more time.
"""

from __future__ import annotations

import json
import os

os.environ.setdefault("TRITON_INTERPRET", "1")  # before anything imports triton

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from mirrormata.benchmarks.machine import hide_root
from mirrormata.tests.cli.command_line import Outcome, caller

ROOT = Path(__file__).resolve().parents[1]
# `python -m pytest` offers the working folder
hide_root()

settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")

SECONDS = {"install": 1800, "long": 3600, "exhaustive": 3600}
"""How many seconds a test with one of these marks may take; all others have the `timeout` of pyproject.toml."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give tests that are marked as slow their own time, unless they state one."""
    for item in items:
        seconds = [SECONDS[mark.name] for mark in item.iter_markers() if mark.name in SECONDS]
        if seconds and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(max(seconds)))


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """`call("plan", "S5")`: the command in this process."""
    return caller(capsys)


@pytest.fixture
def poisoned_buffers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every buffer that kernels are to fill starts as NaN."""
    import torch

    from mirrormata.kernels import _launching as launching

    def poison(*shape: int, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        return torch.full(shape, float("nan"), dtype=dtype, device=device)

    monkeypatch.setattr(launching, "empty", poison)
    monkeypatch.setattr(launching, "empty_like", lambda x: torch.full_like(x, float("nan")))


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with certificates of several kinds, for the tests of the command line; `broken.json` is invalid."""
    from mirrormata.constructions._document import write_certificate
    from mirrormata.tests.theory.certified import document

    made = tmp_path_factory.mktemp("certificates")
    for name in ("parity", "S4", "S5", "mod:9", "mod:60", "mod:12", "Mealy", "full_t3 G.A3", "identity_only"):
        write_certificate(document(name), made / f"{name}.json")
    broken = json.loads((made / "S4.json").read_text())
    broken["automaton"]["transitions"][1][1] = 5
    (made / "broken.json").write_text(json.dumps(broken))
    return made
