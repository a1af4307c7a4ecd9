"""Checks that many claims share: a construction against its automaton, by the stand-alone checker."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...constructions.block_delay import BlockDelay
from ...constructions.certificate import certificate
from ...constructions.errors import NotRealisableError
from ...constructions.lrnn import LRNN
from ...constructions.realisations import Realisation
from ..check import check


def defect(found: Realisation) -> str | None:
    """Why a construction's certificate is invalid; None where the stand-alone checker proves it on all words."""
    result = check(found.certificate() if isinstance(found, BlockDelay) else certificate(found))
    return None if result.verdict == "valid" else result.reason


def with_letters_exchanged(found: LRNN) -> LRNN:
    """The same weights held against another automaton: its first and last letter have changed places.

    What no longer fits must be found by every check that is worth its name. `NotRealisableError` for one letter.
    """
    automaton = found.automaton
    if len(automaton.letters) < 2:
        raise NotRealisableError(f"{automaton.name}: one letter has none to change places with")
    order = np.arange(len(automaton.letters))
    order[[0, -1]] = order[[-1, 0]]
    return replace(found, automaton=replace(automaton, transitions=automaton.transitions[order]))
