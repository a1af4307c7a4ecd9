"""`task_from_settings`: the task that settings describe, of whatever kind it is.

It stands alone because it imports every kind, and every kind imports `_task.py`.
"""

from __future__ import annotations

from typing import Any

from ...constructions._conversions import AutomatonLike
from .._records import record_of
from ._asked_in_text import PREFIX, AskedInText
from ._automaton import AutomatonTask
from ._language import LanguageTask
from ._packages import PackageTask
from ._recall import AssociativeRecall, StateRecall
from ._task import Task, TaskSettings, automaton_to_spec
from ._tokens import TokenTask


def task_from_settings(settings: TaskSettings | dict[str, Any] | AutomatonLike) -> Task:
    """The task that settings describe.

    Args:
        settings: the entries of `[task]`, or the `settings` of a contract; or an automaton, in any form but a dict that `automaton_to_spec` takes,
            with all else left to the defaults.

    Returns:
        An `AutomatonTask`, or the task of `recall`, `state_recall:...`, `text`, `package:...`, `tokens:...` or `asked_in_text:...`.

    Raises:
        InputError: an entry is wrong, or the SPEC names nothing.

    Examples:
        >>> task_from_settings("parity").classes
        2
    """
    if isinstance(settings, dict):
        settings = record_of(settings, TaskSettings, "task")
    elif not isinstance(settings, TaskSettings):
        settings = TaskSettings(spec=automaton_to_spec(settings))
    if settings.spec == "text" or settings.spec.startswith("text:"):
        return LanguageTask(settings)
    if settings.spec.startswith(PREFIX):
        return AskedInText(settings)
    if settings.spec.startswith("package:"):
        return PackageTask(settings)
    if settings.spec.startswith("tokens:"):
        return TokenTask(settings)
    if settings.spec == "recall":
        return AssociativeRecall(settings)
    if settings.spec.startswith("state_recall:"):
        return StateRecall(settings)
    return AutomatonTask(settings)
