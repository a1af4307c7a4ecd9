"""The registry: every claim of the package's `claims` folder and of folders that a user names, found by its file.

A claim's docstring says what it states, in parts that the pages, the command `claims` and the tests read (`claim_text`).
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from ...foundation._errors import InputError
from ...foundation._files import shown_path
from ...foundation._registry import entry_names
from ...foundation._text import html_table
from .. import claims as package
from .._verdict import Verdict
from ._claim import Claim, Effort, Subject, file_stem

DIRECTIONS = ("necessary", "sufficient", "tight", "bound")


@dataclass(frozen=True)
class ClaimText:
    """The description in the file of a claim, in parts.

    Attributes:
        summary: the first sentence.
        statement: the statement.
        direction: the kind of statement: an upper or a lower bound, an equality, an impossibility.
        hypotheses: the assumptions of the statement.
        arithmetic: the arithmetic in which it is stated.
        source: where it is printed.
        method: how it is checked here.
        example: an example with its output, line by line.
    """

    summary: str
    statement: str
    direction: str
    hypotheses: str
    arithmetic: str
    source: str
    method: str
    example: str

    def rows(self) -> list[tuple[str, str]]:
        """`(label, text)` of the parts after the summary."""
        return [(f.name, getattr(self, f.name)) for f in fields(self) if f.name != "summary"]

    def _repr_html_(self) -> str:
        return html_table(self.summary, self.rows())


LABELS = tuple(f.name.capitalize() for f in fields(ClaimText) if f.name != "summary")


def claim_text(docstring: str | None) -> ClaimText:
    """The parts of a docstring; `ValueError` with the first thing that is wrong with its order or its labels."""
    lines = inspect.cleandoc(docstring or "").splitlines()
    starts = [i for i, line in enumerate(lines) if line.partition(":")[0] in LABELS]
    found = tuple(lines[i].partition(":")[0] for i in starts)
    if found != LABELS:
        raise ValueError(
            f"the docstring of verify has the parts {', '.join(found) or 'none'}, not {', '.join(LABELS)}"
        )
    summary = " ".join(line.strip() for line in lines[: starts[0]]).strip()
    parts = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        first = lines[start].partition(":")[2].strip()
        if lines[start].startswith("Example"):
            parts.append("\n".join(line[4:] for line in lines[start + 1 : end]).strip())
        else:
            parts.append(" ".join([first, *(line.strip() for line in lines[start + 1 : end])]).strip())
    empty = [label for label, part in zip(LABELS, parts, strict=True) if not part]
    if not summary or empty:
        raise ValueError(f"the docstring of verify says nothing under {', '.join(empty) or 'its first line'}")
    text = ClaimText(summary, *parts)
    if text.direction.split()[0].strip(".,;:") not in DIRECTIONS:
        raise ValueError(
            f"the direction {text.direction!r} does not begin with one of {', '.join(DIRECTIONS)}"
        )
    return text


class Renamed(NamedTuple):
    """A claim's former ID, the one that it has now, and why."""

    old: str
    id: str
    reason: str


RENAMED = {
    name.old.lower(): name
    for name in (
        Renamed("own.R1", "PT.R1", "it rests on an inequality of Poljak and Turzík, 1986"),
        Renamed("own.R2", "PT.R2", "it is a theorem of Poljak and Turzík, 1986"),
    )
}
"""Former IDs, in lower case: they are answered with the new one, not taken for it."""
PARTS = {"own.n-1": Renamed("own.n-1", "G.T4", "the construction of G.T4 for all maps of the states")}
"""Sources of constructions, in lower case, that are parts of a claim of another name."""


@dataclass(frozen=True, eq=False)
class Entry:
    """A claim with the module that checks it.

    Attributes:
        claim: the claim.
        module: the module with its `check`.
        path: the module's file.
    """

    claim: Claim
    module: ModuleType
    path: Path

    @property
    def verify(self) -> Callable[[Effort], Verdict]:
        """Its check."""
        return self.module.verify  # type: ignore[no-any-return]

    @property
    def applies(self) -> Callable[[Subject], Verdict | None] | None:
        """The function that applies it to a user's model or automaton; None if there is none."""
        return getattr(self.module, "applies", None)

    @cached_property
    def text(self) -> ClaimText:
        """The parts of its docstring."""
        return claim_text(self.module.verify.__doc__)


@dataclass(frozen=True, eq=False)
class Registry:
    """All claims that were found.

    Attributes:
        entries: the claims by their IDs, in the order of the IDs, case aside.
    """

    entries: Mapping[str, Entry]

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries.values())

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, claim: str) -> Entry:
        """`InputError` for an ID that is not there; upper and lower case are one, and so are β and -beta."""
        found = {key.lower(): entry for key, entry in self.entries.items()}.get(
            claim.lower().replace("β", "-beta")
        )
        if found is None and (part := PARTS.get(claim.lower())) is not None:
            raise InputError(
                f"claim {claim!r}: {part.old} is {part.reason}, and no claim of its own; write {part.id}"
            )
        if found is None and (new := RENAMED.get(claim.lower())) is not None:
            raise InputError(f"claim {claim!r}: {new.old} is now {new.id} ({new.reason}); write {new.id}")
        if found is None:
            near = get_close_matches(claim.lower(), [key.lower() for key in self.entries], 1)
            meant = [key for key in self.entries if key.lower() in near]
            hint = f"did you mean {meant[0]}? " if meant else ""
            raise InputError(
                f"claim {shown_path(claim)!r}: there is none of this name; {hint}`mirrormata claims` lists them"
            )
        return found

    def find(self, claims: Iterable[str]) -> list[Entry]:
        """The claims with these IDs, each once, in their order.

        Args:
            claims: IDs.

        Raises:
            InputError: some of them are not there; all of these are named.
        """
        found: dict[str, Entry] = {}
        wrong = []
        for claim in claims:
            try:
                entry = self[claim]
            except InputError as error:
                wrong.append(str(error))
            else:
                found.setdefault(entry.claim.id, entry)
        if wrong:
            raise InputError("; ".join(dict.fromkeys(wrong)))
        return list(found.values())

    def of_source(self, source: str) -> list[Entry]:
        """The claims of one source.

        Args:
            source: a source, such as G.

        Raises:
            InputError: there are none.
        """
        found = [entry for entry in self if entry.claim.source.lower() == source.lower()]
        if not found:
            known = sorted({entry.claim.source for entry in self}, key=str.lower)
            raise InputError(f"`source` {source}: no claims; there are {', '.join(known)}")
        return found

    def around(self, claim: str) -> list[Entry]:
        """A claim, all that it builds on, and what builds on it directly.

        Args:
            claim: an ID.
        """
        entry = self[claim]
        wanted, waiting = {*self.used_by(entry.claim.id)}, [entry.claim.id]
        while waiting:
            here = waiting.pop()
            wanted.add(here)
            waiting += [used for used in self[here].claim.uses if used not in wanted]
        return [found for found in self if found.claim.id in wanted]

    def used_by(self, claim: str) -> list[str]:
        """The claims that build on one.

        Args:
            claim: an ID.
        """
        return [entry.claim.id for entry in self if claim in entry.claim.uses]


def load_claims(paths: Sequence[str | Path] = ()) -> Registry:
    """Load the claims of the package, and those of the `.py` files in further folders; files that begin with `_` are skipped.

    Args:
        paths: further folders.

    Raises:
        InputError: a file is not a claim, an ID occurs twice, or `uses` names an unknown claim or is circular; the
            message is one line that names everything that is wrong.
    """
    entries: list[Entry] = []
    problems: list[str] = []
    for name, path, load in (*_find_own_claims(), *_others(paths)):
        try:
            entries.append(_entry(load(), path))
        except (Exception, SystemExit) as error:
            problems.append(f"{name}: {str(error) or type(error).__name__}".replace("\n", " "))
    problems += _contradictions([entry.claim for entry in entries])
    if problems:
        raise InputError("claims: " + "; ".join(problems))
    return Registry({e.claim.id: e for e in sorted(entries, key=lambda e: (e.claim.id.lower(), e.claim.id))})


def say_standing(claim: str) -> str:
    """`G.T1: supported by instances; Coq: part`, as `mirrormata claims` says it too; the ID alone where it is no claim of the package.

    Args:
        claim: an ID as bounds give it; β stands for -beta.
    """
    path = Path(package.__path__[0]) / f"{file_stem(claim.replace('β', '-beta'))}.py"
    return f"{claim}: {entry_of_file(path).claim.standing}" if path.is_file() else claim


def entry_of_file(path: Path) -> Entry:
    """The claim of one file, of the package or a user's; for processes that check that one only."""
    if path.parent.resolve() == Path(package.__path__[0]).resolve():
        return _entry(importlib.import_module(f"{package.__name__}.{path.stem}"), path)
    return _entry(_module_of_file(path), path)


def _find_own_claims() -> Iterator[tuple[str, Path, Callable[[], ModuleType]]]:
    for stem in entry_names(package.__name__):
        name = f"{package.__name__}.{stem}"
        path = Path(package.__path__[0]) / f"{stem}.py"
        yield path.name, path, lambda name=name: importlib.import_module(name)  # type: ignore[misc]


def _others(paths: Sequence[str | Path]) -> Iterator[tuple[str, Path, Callable[[], ModuleType]]]:
    for folder in map(Path, paths):
        files = (
            sorted(p for p in folder.glob("*.py") if not p.name.startswith("_")) if folder.is_dir() else []
        )
        if not files:
            raise InputError(f"`path` {folder}: no folder with claims (.py files)")
        for path in files:
            yield str(path), path, lambda path=path: _module_of_file(path)  # type: ignore[misc]


def _module_of_file(path: Path) -> ModuleType:
    """Each file is a module of its own, whatever others of its name there are; the same file is loaded once."""
    name = f"mirrormata_claim_{sha256(str(path.resolve()).encode()).hexdigest()[:16]}_{path.stem}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _entry(module: ModuleType, path: Path) -> Entry:
    claim = getattr(module, "CLAIM", None)
    if not isinstance(claim, Claim) or not callable(getattr(module, "verify", None)):
        raise ValueError("a claim's file has CLAIM = Claim(...) and a function verify")
    if path.stem != file_stem(claim.id):
        raise ValueError(f"the claim {claim.id} belongs in {file_stem(claim.id)}.py")
    entry = Entry(claim, module, path)
    _ = entry.text
    return entry


def _contradictions(claims: Sequence[Claim]) -> list[str]:
    seen: set[str] = set()
    problems = []
    for claim in claims:
        if claim.id.lower() in seen:
            problems.append(f"{claim.id} is there twice")
        seen.add(claim.id.lower())
    known = {claim.id for claim in claims}
    problems += [
        f"{c.id} uses {used}, which is not there" for c in claims for used in c.uses if used not in known
    ]
    try:
        TopologicalSorter({claim.id: claim.uses for claim in claims}).prepare()
    except CycleError as error:
        problems.append(f"uses in a circle: {' -> '.join(error.args[1])}")
    return problems
