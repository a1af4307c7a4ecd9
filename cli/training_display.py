"""How a training is shown while it runs: a live table in a terminal, a line from time to time elsewhere; on standard error."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from typing import TYPE_CHECKING, Any

from ..foundation._text import count_noun
from ..models.training._watching import TrainingWatcher
from .output import REDIRECTED

if TYPE_CHECKING:
    from rich.console import Console, Group

GOOD = 0.9
"""Accuracy that counts as learned, as in the results."""
SEEDS = 12
"""Seeds with a row or a figure of their own; more are summed up."""
PLAIN_SEEDS = 4
"""The same, in a line."""
PAUSE = 10.0
"""Seconds between two lines with figures where standard error is no terminal."""


class TrainingDisplay(TrainingWatcher):
    """What is known of a training, as a table and as a line."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.seeds: Sequence[int] = ()
        self.first = self.step = self.steps = 0
        self.line: dict[str, Any] = {}
        self.test: dict[str, Any] = {}
        self.tested: float | None = None

    def begin(self, seeds: Sequence[int], step: int, steps: int) -> None:
        """See `TrainingWatcher`."""
        self.seeds, self.first, self.step, self.steps = seeds, step, step, steps
        self.began = time.monotonic()

    def on_step(self, step: int) -> None:
        """See `TrainingWatcher`."""
        self.step = step

    def on_metrics(self, line: dict[str, Any]) -> None:
        """See `TrainingWatcher`."""
        if "test" in line:
            self.test = line
        else:
            self.line = line

    def on_test(self, share: float) -> None:
        """See `TrainingWatcher`."""
        self.tested = share

    def progress(self) -> str:
        """`step 150 of 1,000, 12,345 tokens/s, 3 min left`, or how far the final test is."""
        if not self.steps:
            return f"preparing the training, {duration(time.monotonic() - self.began)}"
        if self.tested is not None:
            return f"step {self.step:,} of {self.steps:,}, testing: {self.tested:.0%}"
        parts = [f"step {self.step:,} of {self.steps:,}"]
        if "tokens_per_second" in self.line:
            parts.append(f"{self.line['tokens_per_second']:,} tokens/s")
        done = self.step - self.first
        if done:
            left = (time.monotonic() - self.began) / done * (self.steps - self.step)
            parts.append(f"{duration(left)} left")
        return ", ".join(parts)

    def figures(self) -> str:
        """The losses and accuracies of the last line, in one line of text."""
        if not self.line:
            return ""
        loss, accuracy = self.line["loss"], self.line["accuracy"]
        if len(loss) <= PLAIN_SEEDS:
            return f"loss {' '.join(f'{x:.4g}' for x in loss)}, accuracy {' '.join(f'{x:.3f}' for x in accuracy)}"
        good = sum(x >= GOOD for x in accuracy)
        return (
            f"loss {min(loss):.4g} to {max(loss):.4g}, accuracy {min(accuracy):.3f} to {max(accuracy):.3f}, "
            f"{good} of {count_noun(len(loss), 'seed')} at least {GOOD:g}"
        )

    def text(self) -> str:
        """All that is known in one line."""
        return ": ".join(part for part in (self.progress(), self.figures()) if part)

    def table(self) -> Group:
        """How far it is, and a row for each seed; of many seeds the best, the median and the worst."""
        from rich import box
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        shown = Table(box=box.SIMPLE, pad_edge=False)
        tests = self.test.get("test", {})
        headings = ["seed", "loss", "accuracy", *(f"test {length}" for length in tests)]
        for heading in headings:
            shown.add_column(heading, justify="right")
        columns = [self.line.get("loss", []), self.line.get("accuracy", []), *tests.values()]
        below: list[Text] = []
        if len(self.seeds) <= SEEDS:
            rows = [
                (str(seed), *(_figure(c[i]) if i < len(c) else "" for c in columns))
                for i, seed in enumerate(self.seeds)
            ]
        else:
            known = [[x for x in column if x is not None] for column in columns]
            good = sum(x >= GOOD for x in columns[1])
            rows = [
                ("best", *(_figure((min if i == 0 else max)(c)) if c else "" for i, c in enumerate(known)))
            ]
            rows += [("median", *(_figure(median(c)) if c else "" for c in known))]
            rows += [
                ("worst", *(_figure((max if i == 0 else min)(c)) if c else "" for i, c in enumerate(known)))
            ]
            below = [Text(f"{good} of {len(self.seeds)} seeds have an accuracy of at least {GOOD:g}")]
        for row in rows:
            shown.add_row(*row)
        title = Text(self.progress(), style="bold")
        return Group(title, shown, *below) if self.seeds else Group(title)


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def duration(seconds: float) -> str:
    """`45 s`, `3 min`, `2 h 05 min`.

    Args:
        seconds: at least 0.
    """
    whole = round(seconds)
    if whole < 100:
        return f"{whole} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60:02d} min"


@contextmanager
def show_training(console: Console | None = None) -> Iterator[TrainingDisplay]:
    """A display of the training that runs below `with`.

    Args:
        console: where it is shown; None for standard error.
    """
    display = TrainingDisplay()
    if console is None and not sys.stderr.isatty():
        with _plain_lines(display):
            yield display
        return
    from rich.console import Console
    from rich.live import Live

    shown = console or Console(stderr=True, highlight=False, markup=False, emoji=False)
    with Live(get_renderable=display.table, console=shown, refresh_per_second=4, transient=True):
        yield display


@contextmanager
def _plain_lines(display: TrainingDisplay) -> Iterator[None]:
    """A line every `PAUSE` seconds where there are new figures, and every `REDIRECTED` seconds where there are none."""
    finished = threading.Event()

    def tell() -> None:
        told, figures = time.monotonic(), ""
        while not finished.wait(PAUSE):
            now = display.figures()
            if now != figures or time.monotonic() - told >= REDIRECTED:
                print(display.text(), file=sys.stderr, flush=True)
                told, figures = time.monotonic(), now

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        finished.set()
        teller.join()
