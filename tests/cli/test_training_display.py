"""What is seen of a training while it runs: a live table in a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from mirrormata.cli import training_display
from mirrormata.cli.training_display import TrainingDisplay, duration, show_training


def line(step: int, seeds: int) -> dict[str, Any]:
    return {
        "step": step, "loss": [0.1 * (i + 1) for i in range(seeds)], "accuracy": [1 - 0.05 * i for i in range(seeds)],
        "tokens_per_second": 12_345,
    }  # fmt: skip


def drawn(display: TrainingDisplay) -> str:
    stream = StringIO()
    Console(file=stream, width=100).print(display.table())
    return stream.getvalue()


def test_a_table_has_a_row_for_each_seed() -> None:
    display = TrainingDisplay()
    assert drawn(display).startswith("preparing the training")
    display.begin((3, 5), 0, 1000)
    display.on_step(250)
    display.began -= 60
    display.on_metrics(line(250, 2))
    display.on_metrics({"step": 250, "test": {"40": [0.5, None]}})
    text = drawn(display)
    assert text.startswith("step 250 of 1,000, 12,345 tokens/s, 3 min left")
    rows = [row.split() for row in text.splitlines()]
    assert ["seed", "loss", "accuracy", "test", "40"] in rows
    assert ["3", "0.1000", "1.0000", "0.5000"] in rows
    assert ["5", "0.2000", "0.9500", "-"] in rows
    display.on_test(0.25)
    assert drawn(display).startswith("step 250 of 1,000, testing: 25%")


def test_many_seeds_are_summed_up() -> None:
    display = TrainingDisplay()
    display.begin(range(20), 100, 1000)
    display.on_metrics(line(150, 20))
    rows = [row.split() for row in drawn(display).splitlines()]
    assert ["best", "0.1000", "1.0000"] in rows
    assert ["worst", "2.0000", "0.0500"] in rows
    assert "3 of 20 seeds have an accuracy of at least 0.9" in drawn(display)
    assert "loss 0.1 to 2, accuracy 0.050 to 1.000, 3 of 20 seeds at least 0.9" in display.text()


def test_a_terminal_shows_the_table_while_the_training_runs() -> None:
    stream = StringIO()
    with show_training(Console(file=stream, force_terminal=True, width=100)) as display:
        display.begin((0,), 0, 10)
        display.on_step(5)
        display.on_metrics(line(5, 1))
        time.sleep(0.6)
    assert "step 5 of 10" in stream.getvalue()
    assert "0.1000" in stream.getvalue()


def test_without_a_terminal_there_are_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(training_display, "PAUSE", 0.1)
    with show_training() as display:
        display.begin((0, 1), 0, 1000)
        display.on_step(50)
        display.on_metrics(line(50, 2))
        time.sleep(0.5)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1  # the same figures are not printed twice
    assert lines[0].startswith("step 50 of 1,000, 12,345 tokens/s, ")
    assert lines[0].endswith(" left: loss 0.1 0.2, accuracy 1.000 0.950")
    assert "\x1b" not in lines[0]


def test_times_in_words() -> None:
    assert [duration(x) for x in (0.4, 99, 130, 7500)] == ["0 s", "99 s", "2 min", "2 h 05 min"]
