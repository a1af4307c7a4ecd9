"""Wherever an automaton is wanted, every form of one is taken, and what is none gets one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from automata.fa.dfa import DFA

from mirrormata import Automaton, InputError, automaton_from_spec, compare, construct, prove
from mirrormata.constructions import to_networkx
from mirrormata.models import (
    AutomatonTask,
    Experiment,
    Sampling,
    TaskSettings,
    TransitionGroup,
    learned_from_lrnn,
    learned_from_matrices,
    learned_from_stepper,
    live_words,
    task_from_settings,
    words_without,
)
from mirrormata.theory import (
    AffineModel,
    Cast,
    LRNNStepper,
    certify_cast_impossibility,
    certify_impossibility,
    positive_delta_layer,
    random_stream,
    track,
    value_set,
    words_of,
)

PARITY = automaton_from_spec("parity")
FORMS: dict[str, Callable[[], Any]] = {
    "SPEC": lambda: "parity",
    "Automaton": lambda: PARITY,
    "realisation": lambda: construct("parity"),
    "automata-lib": lambda: DFA(
        states={0, 1},
        input_symbols={"0", "1"},
        initial_state=0,
        final_states={1},
        transitions={0: {"0": 0, "1": 1}, 1: {"0": 1, "1": 0}},
    ),
    "networkx": lambda: to_networkx(PARITY),
    "dict": lambda: {0: {"0": 0, "1": 1}, 1: {"0": 1, "1": 0}},
}
LAYER: AffineModel = positive_delta_layer()
USES: dict[str, Callable[[Any], Any]] = {
    "certify_impossibility": lambda a: certify_impossibility(LAYER, a),
    "certify_cast_impossibility": lambda a: certify_cast_impossibility(
        LAYER.heads, Cast(value_set("bf16")), a, max_length=4
    ),
    "track": lambda a: track(LRNNStepper(construct("parity"), "fp32"), a, [0, 1, 1]),
    "words_of": lambda a: words_of([0, 1], a),
    "random_stream": lambda a: random_stream(a, 2, 3, 0),
    "prove": lambda a: prove(construct("parity"), a),
    "compare": lambda a: compare(LRNNStepper(construct("parity"), "fp32"), a, sampling=Sampling(4, 4, 4)),
    "learned_from_lrnn": lambda a: learned_from_lrnn(construct("parity"), automaton=a),
    "learned_from_matrices": lambda a: learned_from_matrices([[[1.0]], [[-1.0]]], a, H0=[[1.0]]),
    "learned_from_stepper": lambda a: learned_from_stepper(LRNNStepper(construct("parity"), "fp32"), a),
    "TransitionGroup.of": TransitionGroup.of,
    "live_words": live_words,
    "words_without": lambda a: words_without(a, [(0, 1)]),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_taken(use: str, form: str) -> None:
    if (use, form) == ("learned_from_lrnn", "automata-lib"):  # taken, and its answers are no states
        with pytest.raises(InputError, match="compare it with an automaton that has its outputs"):
            USES[use](FORMS[form]())
    else:
        USES[use](FORMS[form]())


@pytest.mark.parametrize("use", USES)
def test_what_is_no_automaton_gets_one_line(use: str) -> None:
    with pytest.raises(InputError, match="3 is of the type int and no automaton") as refusal:
        USES[use](3)
    assert "\n" not in str(refusal.value)


def test_a_task_is_kept_by_the_spec_that_names_its_automaton(tmp_path: Path) -> None:
    for given in (PARITY, construct("parity"), "parity"):
        settings = TaskSettings(spec=given)  # type: ignore[arg-type]
        assert settings == TaskSettings(spec="parity")
        assert Experiment(task=settings).as_json()["task"]["spec"] == "parity"
        task = task_from_settings(given)
        assert isinstance(task, AutomatonTask)
        assert np.array_equal(task.automaton.transitions, PARITY.transitions)
    own = Automaton.from_transitions({0: {"a": 1}, 1: {"a": 0}}, start=0, name="mine")
    with pytest.raises(InputError, match=r"`spec` is the automaton mine, .*save it .* and give that file"):
        task_from_settings(own)
    own.save(tmp_path / "mine.json")
    assert task_from_settings(tmp_path / "mine.json").letters == 2
    with pytest.raises(InputError, match="`spec` 3 is of the type int and no automaton"):
        TaskSettings(spec=3)  # type: ignore[arg-type]


def test_an_automaton_with_a_name_of_the_library_and_another_table_is_refused() -> None:
    other = Automaton.from_transitions({0: {"0": 1, "1": 0}, 1: {"0": 0, "1": 1}}, start=0, name="parity")
    with pytest.raises(InputError, match="which no SPEC names"):
        TaskSettings(spec=other)  # type: ignore[arg-type]
