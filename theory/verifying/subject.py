"""`Subject`: a user's own file, for the claims that say something about it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ...constructions.automaton import Automaton
from ...constructions.block_delay import BlockDelay
from ...constructions.certificate import read_document
from ...constructions.lrnn import LRNN
from ...constructions.spec import automaton_from_spec
from ..proofs.npz_model import NpzModel, load_npz_model
from ..running.file import realisation_of


@dataclass(frozen=True, eq=False)
class Subject:
    """What a file holds: an automaton, and where it is a model one of `lrnn`, `delay`, `npz`.

    An `.npz` has no automaton of its own.
    """

    name: str
    automaton: Automaton | None = None
    lrnn: LRNN | None = None
    delay: BlockDelay | None = None
    npz: NpzModel | None = None


def subject_of_file(path: str) -> Subject:
    """A certificate (checked first), an `.npz` of matrices, or the SPEC of an automaton; `InputError` for others."""
    if Path(path).suffix == ".npz":
        return Subject(path, npz=load_npz_model(path))
    if Path(path).suffix == ".json":
        document = read_document(path)
        if document.get("format", "").startswith("mirrormata-certificate"):
            found = realisation_of(path)
            if isinstance(found, BlockDelay):
                return Subject(path, found.automaton, delay=found)
            return Subject(path, found.automaton, lrnn=found)
    return Subject(path, automaton_from_spec(path))
