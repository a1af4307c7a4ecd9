"""A command that runs out of memory says so in one line."""

from __future__ import annotations

import pytest

from mirrormata.cli import main
from mirrormata.theory.planning import _plan


def test_no_memory_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def exhaust(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(_plan, "choose_by_rule_or_refuse", exhaust)
    with pytest.raises(SystemExit) as status:
        main(["construct", "S3"])
    assert status.value.code == 2
    text = capsys.readouterr().err.strip()
    assert len(text.splitlines()) == 1
    assert "more memory" in text
