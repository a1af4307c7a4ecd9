"""`mirrormata prove`: a certificate's linear RNN, or an `.npz` of matrices, against an automaton."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

from ...constructions.automaton import Automaton
from ...constructions.block_delay import BlockDelay
from ...constructions.certificate import read_document
from ...constructions.delay_certificate import block_delay_from_certificate
from ...constructions.lrnn import LRNN
from ..check import check
from ..running.file import lrnn_of
from .proof import Proof
from .prove import Limits, prove


def prove_file(
    path: str,
    automaton: Automaton,
    arithmetic: str,
    **limits: Unpack[Limits],
) -> Proof:
    """See `prove`; certificates are checked first. `InputError` for a file that is neither."""
    model: LRNN | BlockDelay | Path
    if Path(path).suffix == ".npz":
        model = Path(path)
    elif (document := read_document(path)).get("kind") == "delay" and check(path).verdict == "valid":
        model = block_delay_from_certificate(document, path)
    else:
        model = lrnn_of(path)
    return prove(model, automaton, arithmetic, **limits)
