"""A command called in this process, with what it printed and its exit status."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from mirrormata.cli import main


@dataclass(frozen=True)
class Outcome:
    """Exit status, standard output, standard error."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON value on standard output, where nothing else may be."""
        assert self.out.count("\n") == 1
        return json.loads(self.out)

    @property
    def error(self) -> str:
        """The one line of a refusal."""
        assert self.status == 2
        assert self.out == ""
        assert self.err.startswith("error: ")
        assert self.err.count("\n") == 1
        assert "Traceback" not in self.err
        return self.err.removeprefix("error: ").rstrip()


def caller(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Calls the program with arguments; for the fixture `call`."""

    def run(*arguments: str) -> Outcome:
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main(list(arguments))
        captured = capsys.readouterr()
        assert isinstance(end.value.code, int)
        return Outcome(end.value.code, captured.out, captured.err)

    return run
