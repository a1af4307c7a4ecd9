"""`Claim`, the record of one statement; `Effort`, how much work its check may do; `Subject`, a user's own file to apply it to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np

from ...constructions._document import find_document
from ...constructions._lrnn import LRNN, as_table
from ...constructions._spec import automaton_from_spec
from ...constructions.automata._automaton import Automaton
from .._realisations import realisation_in
from .._verdict import STATUSES, Status
from ..proofs._npz_model import NpzModel, load_npz_model

Level = Literal["quick", "full"]
T = TypeVar("T")

ID = re.compile(r"[A-Za-z][A-Za-z0-9]*([.-][A-Za-z0-9]+)*")


@dataclass(frozen=True)
class Claim:
    """One statement of the literature, of ours, or of a user.

    Attributes:
        id: such as G.T4; the source stands before the first point, and `.printed` behind a statement as it
            was printed.
        title: a few words.
        expected: the status of its verdict.
        uses: the claims it builds on.
        arithmetic: the model in which it is stated (`parse_arithmetic`'s names, or several with commas).
        repair: of a printed claim, what is true in its place, in one sentence.
        models: does its check train or load torch models?
        seconds: about what its check takes with full effort; within a budget short checks are first.

    Raises:
        ValueError: the status and the other fields do not fit together.
    """

    id: str
    title: str
    expected: Status
    uses: tuple[str, ...] = ()
    arithmetic: str = "exact"
    repair: str = ""
    models: bool = False
    seconds: float = 1.0

    def __post_init__(self) -> None:
        problems = []
        if not ID.fullmatch(self.id):
            problems.append("its id is letters, digits, points and hyphens")
        if self.expected not in STATUSES:
            problems.append(f"expected {self.expected!r} is not one of {', '.join(STATUSES)}")
        if self.printed and not self.repair:
            problems.append("a printed claim says its repair")
        if problems:
            raise ValueError(f"claim {self.id!r}: {'; '.join(problems)}")

    @property
    def source(self) -> str:
        """What stands before the first point: G, DP, own."""
        return self.id.partition(".")[0]

    @property
    def printed(self) -> bool:
        """Is it a statement as it was printed, with an error in it?"""
        return self.id.endswith(".printed")

    @property
    def file_stem(self) -> str:
        """The name of its file, without `.py`."""
        return file_stem(self.id)


@dataclass(frozen=True)
class Effort:
    """How much work a check may do, and the seed of its random numbers.

    Attributes:
        level: `quick`: about a second; `full`: up to some minutes.
        seed: the seed, at least 0.
    """

    level: Level = "quick"
    seed: int = 0

    def pick(self, quick: T, full: T) -> T:
        """The first at quick effort, the second at full.

        Args:
            quick: what is taken at quick effort.
            full: what is taken at full effort.
        """
        return quick if self.level == "quick" else full

    def generator(self, stream: int = 0) -> np.random.Generator:
        """Random numbers that depend on the seed and the stream only.

        Args:
            stream: number of the stream, at least 0.
        """
        return np.random.default_rng([self.seed, stream])


QUICK = Effort("quick")
"""About a second a claim."""
FULL = Effort("full")
"""The whole check, minutes for some claims."""


def file_stem(claim: str) -> str:
    """The one rule from ID to file name: lower case, `_` for points and hyphens."""
    return claim.lower().replace(".", "_").replace("-", "_")


@dataclass(frozen=True, eq=False)
class Subject:
    """What a file holds: an automaton, and where it is a model with a list of letters one of `lrnn`, `npz`.

    An `.npz` has no automaton of its own, and a block delay has no list of letters.

    Attributes:
        name: the file's name.
        automaton: the automaton; None for an `.npz`.
        lrnn: the realisation, if it has a list of letters.
        npz: the model of an `.npz`.
    """

    name: str
    automaton: Automaton | None = None
    lrnn: LRNN | None = None
    npz: NpzModel | None = None


def subject_of_file(path: str) -> Subject:
    """What a file, or a SPEC, holds for the claims to speak of.

    Args:
        path: a certificate (checked first), an `.npz` of matrices, or the SPEC of an automaton.

    Raises:
        InputError: it is none of these.
    """
    if Path(path).suffix == ".npz":
        return Subject(path, npz=load_npz_model(path))
    if (document := find_document(path)) is not None:
        found = realisation_in(document, path)
        return Subject(path, found.automaton, lrnn=as_table(found))
    return Subject(path, automaton_from_spec(path))
