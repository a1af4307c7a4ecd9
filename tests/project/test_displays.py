"""Every result shows itself: one true line as `repr`, in notebooks a table in which all texts are escaped."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mirrormata import Automaton, check, compare, construct, inspect_automaton, plan, prove, random_words, run
from mirrormata.foundation._text import MOST_ROWS, html_table, one_line
from mirrormata.models import (
    AutomatonTask,
    Evaluation,
    FolderEvaluation,
    Report,
    Sampling,
    TaskSettings,
    TrainingOutcome,
    learned_from_lrnn,
)
from mirrormata.theory import (
    BaseOutcome,
    Claim,
    ClaimOutcome,
    Part,
    Refutation,
    Verdict,
    exactness_report,
    model_spectrum,
)

EVIL = "<script>alert('x')</script>\x1b[1m"
FLIP = {"even": {EVIL: "odd", "b": "even"}, "odd": {EVIL: "even", "b": "odd"}}


@cache
def automaton() -> Automaton:
    return Automaton.from_transitions(FLIP, start="even", name=f"flips {EVIL}")


@cache
def other() -> Automaton:
    stays = {q: {EVIL: "odd", "b": "even"} for q in FLIP}
    return Automaton.from_transitions(stays, start="even", name=f"the last letter {EVIL}")


@cache
def comparison() -> Any:
    return compare(learned_from_lrnn(construct(automaton()), EVIL), sampling=Sampling(8, 8, 8))


def evaluation() -> Evaluation:
    right = np.array([[4, 4, 3], [4, 4, 4]])
    return Evaluation((0, 1), 4, 0.5, right, np.full(3, 4), np.array([[3, 3, 3, 2], [3] * 4]))


def contract() -> Any:
    held = AutomatonTask(TaskSettings(spec="parity", source=EVIL))
    return held.contract((1, 2), ("3",))


def verdict() -> Verdict:
    return Verdict(f"claim {EVIL}", "refuted", {"witness": EVIL}, "exact")


RESULTS: dict[str, Callable[[], Any]] = {
    "Automaton": automaton,
    "Realisation": lambda: construct(automaton()),
    "CheckResult": lambda: check(construct(automaton()), other()),
    "Inspection": lambda: inspect_automaton(automaton()),
    "Plan": lambda: plan(automaton()),
    "Proof": lambda: prove(construct(automaton()), automaton()),
    "Proof of a wrong word": lambda: prove(construct(other()), automaton()),
    "RunReport": lambda: run(construct(automaton()), random_words(automaton(), 4, 8, 0)),
    "ModelSpectrum": lambda: model_spectrum(construct(automaton())),
    "ExactnessReport": lambda: exactness_report(construct(automaton())),
    "Refutation": lambda: Refutation(construct(automaton()), (0,), 0, 1, EVIL),
    "Verdict": verdict,
    "ClaimOutcome": lambda: ClaimOutcome(Claim("own.flip", "flips", "proved"), verdict(), 0.5, "proved"),
    "BaseOutcome": lambda: BaseOutcome(Part("base.flip", EVIL, "flip"), False, 3, EVIL, 0.5),
    "Comparison": comparison,
    "Extracted": lambda: comparison().extracted[0],
    "Evaluation": evaluation,
    "FolderEvaluation": lambda: FolderEvaluation(EVIL, contract(), (2, (2, 3)), evaluation()),
    "TaskContract": contract,
    "TrainingOutcome": lambda: TrainingOutcome(
        Path(EVIL), 3, 3, contract(), {"accuracy": {"3": [1.0, None]}}
    ),
    "Report": lambda: Report(Path(EVIL), 10, ("one",), 1, 2, 3, ()),
}
WITHOUT_LABELS = {"Realisation", "RunReport", "ExactnessReport", "Evaluation", "Extracted"}
"""Results in which no text of a user stands."""


class _Tags(HTMLParser):
    """The tags of a text, and whether each is closed in its turn."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", RESULTS)
def test_tables_escape_everything(name: str) -> None:
    html = RESULTS[name]()._repr_html_()
    tags = _Tags()
    tags.feed(html)
    assert not tags.open
    assert tags.seen <= {"table", "caption", "tr", "th", "td"}
    assert html.startswith("<table>")
    assert name in WITHOUT_LABELS or "&lt;script&gt;" in html


@pytest.mark.parametrize("name", RESULTS)
def test_repr_is_one_short_line(name: str) -> None:
    result = RESULTS[name]()
    shown = repr(result)
    assert len(shown.splitlines()) == 1
    assert shown.isprintable()
    assert len(shown) < 400
    assert type(result).__name__ in shown


def test_reprs_are_true() -> None:
    assert repr(prove(construct("parity"), "parity")).startswith("<Proof: equivalent in per_step:bf16, ")
    assert "counterexample in per_step:bf16, a word of 2 letters" in repr(
        prove(construct(other()), automaton())
    )
    assert repr(inspect_automaton("S3")).startswith("<Inspection: S3, 6 states, 6 letters, ")
    assert repr(plan("parity")).startswith("<Plan: parity, ")
    assert repr(model_spectrum(construct("parity"))).endswith(", 1 head, 2 matrices, all decided>")
    assert repr(evaluation()) == "<Evaluation: 4 words of 3 letters, accuracy 0.75, 1 by seed>"
    assert "step 3 of 3" in repr(RESULTS["TrainingOutcome"]())


def test_results_with_rows_have_a_table() -> None:
    """Whatever the packages export with `rows` of labels and texts is shown in notebooks."""
    missing = []
    for package in ("constructions", "theory", "models", "kernels"):
        module = importlib.import_module(f"mirrormata.{package}")
        for name in module.__all__:
            kind = getattr(module, name)
            if inspect.isclass(kind) and inspect.isfunction(getattr(kind, "rows", None)):
                missing += [] if hasattr(kind, "_repr_html_") else [name]
    assert not missing


def test_long_tables_and_lines_are_cut() -> None:
    html = html_table("many", ((i, i) for i in range(MOST_ROWS + 50)))
    assert html.count("<tr>") == MOST_ROWS
    assert f"the first {MOST_ROWS} of {MOST_ROWS + 50} rows" in html
    assert len(one_line(html, "x" * 1000)) < 200
    assert one_line(1, "a\nb\tc\x1b") == r"<int: a\nb\tc\x1b>"
