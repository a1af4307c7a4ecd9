"""Numbers of things are said with their nouns in the singular where there is one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from mirrormata.models.report._answer import _say_accuracy
from mirrormata.models.sweeps._table import _duration
from mirrormata.models.tasks._kinds import task_from_settings
from mirrormata.models.tasks._task import TaskSettings
from mirrormata.tests.cli.command_line import Outcome


def test_one_word_of_one_letter(tmp_path: Path, call: Callable[..., Outcome]) -> None:
    call("export", "model", "parity", "parity", "-o", str(tmp_path / "model"))
    shown = call("eval", str(tmp_path / "model"), "--lengths", "1", "--words", "1").out
    assert "1 word of 1 letter" in shown
    assert "1 words" not in shown
    assert "1 letters" not in shown


def test_one_letter_of_an_alphabet() -> None:
    task = task_from_settings(TaskSettings(spec="Z1", bos=False))
    rows = dict(task.contract((1, 1), ("1",)).rows())
    assert rows["alphabet"].startswith("1 letter:")


def test_accuracy_after_one_letter_and_after_a_span() -> None:
    assert _say_accuracy({"accuracy": {"1": [0.5]}}).startswith("its accuracy at 1 letter is")
    assert _say_accuracy({"accuracy": {"9-12": [0.5]}}).startswith("its accuracy at 9-12 letters is")


def test_short_times_are_no_hours() -> None:
    assert [_duration(x) for x in (3, 200, 3600, 7200)] == [
        "3 seconds",
        "3.33 minutes",
        "1.00 hours",
        "2.00 hours",
    ]
