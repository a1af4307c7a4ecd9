"""The model of a folder together with its task, where that is an automaton's."""

from __future__ import annotations

from pathlib import Path

from ..constructions.errors import InputError
from .model import Model
from .model_file import load_model
from .tasks.automaton import AutomatonTask, task_of
from .tasks.contract import read_contract


def automaton_model(
    folder: str, purpose: str
) -> tuple[Model, AutomatonTask, tuple[str, ...], tuple[int, ...]]:
    """The model of a folder, its automaton's task, the texts of its letters, and the letters read before a word (BOS).

    `InputError` where its task is no automaton's, so that there is nothing to `purpose`.
    """
    model, _ = load_model(folder)
    contract = read_contract(Path(folder) / "task.json")
    task = task_of(contract.settings)
    if not isinstance(task, AutomatonTask):
        raise InputError(
            f"{folder}: its task {contract.task} is no automaton's, so there is nothing to {purpose}"
        )
    letters = contract.alphabet[:-1] if contract.bos else contract.alphabet
    return model, task, letters, (len(letters),) if contract.bos else ()
