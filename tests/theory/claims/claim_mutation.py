"""A change of one construction, sign, order, transposition or angle, after which a claim's check must fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from mirrormata.theory import claims
from mirrormata.theory.verifying._claim import QUICK, file_stem
from mirrormata.theory.verifying._registry import entry_of_file
from mirrormata.theory.verifying._verify import ClaimOutcome, verify_one

BROKEN = ("TypeError", "NameError", "AttributeError", "ImportError", "SyntaxError", "KeyError")
"""Errors that speak of a mutation that does not run, not of a claim that fails."""


@dataclass(frozen=True)
class Mutation:
    """`target`: `module:attribute` inside the package, where the name is looked up; `change` makes its replacement."""

    claim: str
    target: str
    change: Callable[[Any], Any]
    what: str

    def outcome(self, patch: pytest.MonkeyPatch) -> ClaimOutcome:
        """What the claim's check says when the change is made."""
        module, _, path = self.target.partition(":")
        owner = import_module(f"mirrormata.{module}")
        *parents, name = path.split(".")
        for parent in parents:
            owner = getattr(owner, parent)
        entry = entry_of_file(Path(claims.__path__[0]) / f"{file_stem(self.claim)}.py")
        patch.setattr(owner, name, self.change(getattr(owner, name)))
        return verify_one(entry, QUICK)
