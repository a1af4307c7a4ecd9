"""`mirrormata export model`: a construction as a model folder, so that it is tested and compared like a trained one."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..constructions.errors import InputError
from ..constructions.formats.label_text import label_text
from ..constructions.lrnn import LRNN
from .constructed import MAX_ENTRIES, from_construction
from .model_file import save_model
from .tasks.automaton import AutomatonTask, TaskSettings


def write_constructed(
    lrnn: LRNN, settings: TaskSettings, folder: str | Path, *, max_entries: int = MAX_ENTRIES
) -> None:
    """Write `from_construction(lrnn)` with the contract of a task, whose automaton must be the construction's.

    `InputError` where it is another: the letters and states must have the same texts in the same order, and the
    transitions and the start must agree.
    """
    task = AutomatonTask(settings)
    own, wanted = lrnn.automaton, task.automaton
    for what, mine, theirs in (
        ("letters", own.letters, wanted.letters),
        ("states", own.states, wanted.states),
    ):
        if [label_text(x) for x in mine] != [label_text(x) for x in theirs]:
            raise InputError(f"{settings.spec}: its {what} are not those of the construction of {own.name}")
    if own.start != wanted.start or not np.array_equal(own.transitions, wanted.transitions):
        raise InputError(f"{settings.spec}: it moves otherwise than the construction of {own.name}")
    if task.bos or task.sampler.labels != "state":
        raise InputError(
            f"{settings.spec}: a construction has no BOS and names states: bos false, labels state"
        )
    model = from_construction(lrnn, max_entries=max_entries)
    save_model(folder, model, task.contract((1, 1), ("1000",)).as_json())
