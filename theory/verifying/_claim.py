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
from ...foundation._errors import InputError
from ...foundation._files import is_folder, shown_path
from .._realisations import realisation_in
from .._verdict import STATUSES, Status, status_in_words
from ..proofs._npz_model import NpzModel, load_npz_model

Level = Literal["quick", "full"]
Coq = Literal["yes", "part", "–"]
T = TypeVar("T")

ID = re.compile(r"[A-Za-z][A-Za-z0-9]*([.-][A-Za-z0-9]+)*")
FORMAL = re.compile(r"(?P<file>[A-Z]\w*)\.(?P<name>\w+)(, (?P<covers>.+))?")

COQ_FOLDER = "theory/formal/coq"
"""Where the Coq library is in the repository."""


@dataclass(frozen=True)
class Claim:
    """A statement from the literature, of this project, or of a user.

    Attributes:
        id: its identifier, such as G.T4. The source is the part before the first dot, and `.printed` at the end marks a
            statement as it was printed.
        title: a title of a few words.
        expected: the status that its verdict should have.
        uses: the claims on which it builds.
        arithmetic: the model in which it is stated (`parse_arithmetic`'s names, or several with commas).
        repair: for a printed claim, a sentence that says what is true instead.
        formal: the theorems of the Coq library that state it, as FILE.NAME, and after a comma the part that a theorem covers,
            if it does not cover the whole statement.
        models: whether its check trains or loads torch models.
        seconds: about the time that its check takes with full effort; within a budget, short checks run first.

    Raises:
        ValueError: the status and the other fields are inconsistent.
    """

    id: str
    title: str
    expected: Status
    uses: tuple[str, ...] = ()
    arithmetic: str = "exact"
    repair: str = ""
    formal: tuple[str, ...] = ()
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
        if not all(FORMAL.fullmatch(name) for name in self.formal):
            problems.append("a theorem in Coq is FILE.NAME, and what it covers after a comma and a space")
        if problems:
            raise ValueError(f"claim {self.id!r}: {'; '.join(problems)}")

    @property
    def source(self) -> str:
        """The part of the identifier before the first dot: G, DP, own."""
        return self.id.partition(".")[0]

    @property
    def printed(self) -> bool:
        """Whether it is a statement as it was printed, with an error."""
        return self.id.endswith(".printed")

    @property
    def formal_names(self) -> list[str]:
        """The theorems in Coq as FILE.NAME, without what they cover."""
        return [entry.partition(",")[0] for entry in self.formal]

    @property
    def proved_in_coq(self) -> list[str]:
        """Each theorem in Coq as `NAME (FILE)`, and after a comma the part that it covers."""
        found = [FORMAL.fullmatch(entry) for entry in self.formal]
        return [
            f"{m['name']} ({COQ_FOLDER}/{m['file']}.v){', ' + m['covers'] if m['covers'] else ''}"
            for m in found
            if m
        ]

    @property
    def coq(self) -> Coq:
        """How far theorems of the Coq library go: `yes`, one states the claim, or refutes it where it is refuted; `part`; or `–`."""
        if not self.formal:
            return "–"
        return "yes" if any("," not in entry for entry in self.formal) else "part"

    @property
    def standing(self) -> str:
        """What is recorded, and how far Coq proves it, in words: `proved; Coq: part`."""
        return f"{status_in_words(self.expected)}; Coq: {'no' if self.coq == '–' else self.coq}"

    @property
    def file_stem(self) -> str:
        """The name of its file, without `.py`."""
        return file_stem(self.id)


@dataclass(frozen=True)
class Effort:
    """The amount of work that a check may do, and the seed of its random numbers.

    Attributes:
        level: `quick`, which takes about a second, or `full`, up to some minutes.
        seed: the seed, at least 0.
    """

    level: Level = "quick"
    seed: int = 0

    def pick(self, quick: T, full: T) -> T:
        """Return the first argument with quick effort, and the second with full effort.

        Args:
            quick: the value for quick effort.
            full: the value for full effort.
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
    """The contents of a file: an automaton and, if the file is a model with a list of letters, the model.

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
    """Read the model or automaton in a file or SPEC, to which claims can be applied.

    Args:
        path: a certificate (checked first), an `.npz` of matrices, or the SPEC of an automaton.

    Raises:
        InputError: it is none of these.
    """
    if is_folder(path):
        raise InputError(
            f"{shown_path(path)}: is a folder, and claims are applied to a certificate, an .npz of matrices or the SPEC of an "
            "automaton; `prove` and `compare` take a model folder, and `import fla` writes a checkpoint's heads as .npz"
        )
    if Path(path).suffix == ".npz":
        return Subject(path, npz=load_npz_model(path))
    if (document := find_document(path)) is not None:
        found = realisation_in(document, path)
        return Subject(path, found.automaton, lrnn=as_table(found))
    return Subject(path, automaton_from_spec(path))
