"""Recall tasks against a dictionary, word by word."""

from __future__ import annotations

import numpy as np
import pytest

from mirrormata.foundation._errors import InputError
from mirrormata.models.tasks._kinds import task_from_settings
from mirrormata.models.tasks._recall import AssociativeRecall, StateRecall
from mirrormata.models.tasks._sampling import IGNORED
from mirrormata.models.tasks._task import TaskSettings

RECALL = AssociativeRecall(TaskSettings(spec="recall", pairs=4, keys=10, values=6))
GRID = StateRecall(TaskSettings(spec="state_recall:S3[generators]", values=5))


@pytest.mark.parametrize("length", [5, 8, 20])
def test_queries_are_labelled_with_their_values(length: int) -> None:
    letters, labels = RECALL.batches([0, 1], 3, 12, length)
    assert letters.shape == labels.shape == (2, 12, length)
    pairs = min(4, length // 2)
    for word, row in zip(letters.reshape(-1, length), labels.reshape(-1, length), strict=True):
        memory = {}
        for i in range(pairs):
            assert 0 <= word[2 * i] < 10 <= word[2 * i + 1] < 16
            memory[word[2 * i]] = word[2 * i + 1] - 10
        assert len(memory) == pairs
        assert (row[: 2 * pairs] == IGNORED).all()
        assert row[2 * pairs :].tolist() == [memory[key] for key in word[2 * pairs :]]


def test_reads_are_labelled_with_what_was_stored_at_the_state() -> None:
    automaton = GRID.automaton
    letters, labels = GRID.batches([7], 0, 30, 60)
    assert (labels != IGNORED).sum() > 100
    for word, row in zip(letters[0], labels[0], strict=True):
        state, stored = automaton.start, {}
        for x, label in zip(word, row, strict=True):
            if x < 2:
                state = int(automaton.transitions[x, state])
            elif x < 7:
                stored[state] = x - 2
            expected = stored.get(state, IGNORED) if x == 7 else IGNORED
            assert label == expected


@pytest.mark.parametrize("task", [RECALL, GRID])
def test_same_seed_and_step_same_words(task: AssociativeRecall | StateRecall) -> None:
    first, again = task.batches([1, 2], 5, 3, 16), task.batches([2], 5, 3, 16)
    assert np.array_equal(first.letters[1], again.letters[0])
    assert not np.array_equal(first.letters[0], first.letters[1])
    assert not np.array_equal(first.letters, task.batches([1, 2], 6, 3, 16).letters)
    built = task_from_settings(task.contract((16, 16), ("16",)).settings)
    assert type(built) is type(task)
    assert built.letters == len(task.contract((16, 16), ("16",)).alphabet) == task.letters


def test_impossible_recall_is_refused() -> None:
    with pytest.raises(InputError, match="1 ≤ pairs ≤ keys"):
        AssociativeRecall(TaskSettings(spec="recall", pairs=11, keys=10))
