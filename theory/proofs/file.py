"""`mirrormata prove`: a certificate's linear RNN, or an `.npz` of matrices, against an automaton."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

from ...constructions.automaton import Automaton
from ...constructions.realisations import Realisation
from ..running.file import realisation_of
from .proof import Proof
from .prove import Limits, prove


def prove_file(
    path: str,
    automaton: Automaton,
    arithmetic: str,
    **limits: Unpack[Limits],
) -> Proof:
    """See `prove`; certificates are checked first. `InputError` for a file that is neither."""
    model: Realisation | Path = Path(path) if Path(path).suffix == ".npz" else realisation_of(path)
    return prove(model, automaton, arithmetic, **limits)
