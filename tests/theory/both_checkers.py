"""A certificate before both checkers: the Python checker of its kind, and the one that is proved in Coq."""

from __future__ import annotations

import json
from typing import Any

from mirrormata.theory._check import all_checkers
from mirrormata.theory._proved_check import run_proved_checker
from mirrormata.theory.checker._exact import Invalid
from mirrormata.theory.checker._program import parse


def python_verdict(document: Any) -> tuple[bool, str]:
    """Whether the Python checker of the kind accepts, and what it says; it reads the file as text."""
    try:
        return True, all_checkers()[document["kind"]](parse(json.dumps(document)))
    except Invalid as reason:
        return False, str(reason)


def judge_alike(document: Any, where: object) -> bool:
    """Whether both accept; they must say the same.

    `where`: what was changed, for the failure.
    """
    accepted, reason = python_verdict(document)
    proved, said = run_proved_checker(document)
    assert proved == accepted, (where, reason, said)
    return accepted
