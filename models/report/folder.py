"""`ReportFolder`: what lies in a folder that a report is made of: a training, a model, certificates, with the files read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ...constructions._document import FORMAT
from ...constructions._lrnn import LRNN
from ...constructions._realisation import Realisation, realisation_from_certificate
from ...constructions.automata._automaton import Automaton
from ...constructions.automata._labels import label_text
from ...foundation._errors import InputError, MirrormataError
from ...foundation._files import read_json
from ..fla._model import is_fla
from ..tasks._contract import TaskContract, read_contract

TRAINING = ("settings.json", "task.json", "metrics.jsonl", "result.json")
MODEL = ("config.json", "task.json", "model.safetensors")
HOLD_ONE = ("table", "horizon", "delay")
"""Kinds of certificates that hold a realisation."""


@dataclass(frozen=True)
class Certificate:
    """A certificate's file, with the checker's verdict: "valid" or "invalid", and the reason for the latter."""

    path: Path
    document: dict[str, Any]
    verdict: str
    reason: str


@dataclass(frozen=True)
class ReportFolder:
    """`kind`: training, model or certificates. `task` is None where there is no `task.json`."""

    path: Path
    kind: str
    task: TaskContract | None
    certificates: tuple[Certificate, ...]

    @property
    def learned(self) -> bool:
        """Whether there is something trained."""
        return self.kind != "certificates"

    @property
    def name(self) -> str:
        """Of the task, or of the automata that are certified."""
        if self.task is not None:
            return self.task.task
        names = dict.fromkeys(label_text(realisation.automaton.name) for _, realisation in self.realisations)
        return ", ".join(names) if 0 < len(names) <= 3 else self.path.resolve().name

    @property
    def what(self) -> str:
        """The folder in a word or two."""
        one = "a certificate" if len(self.certificates) == 1 else "certificates"
        return {"training": "a training", "model": "a model", "certificates": one}[self.kind]

    @cached_property
    def automaton(self) -> Automaton | None:
        """What the task names; None where it names none, as text does."""
        from ..tasks._automaton import AutomatonTask
        from ..tasks._kinds import task_from_settings

        if self.task is None:
            return None
        try:
            task = task_from_settings(self.task.settings)
            return task.automaton if isinstance(task, AutomatonTask) else None
        except InputError as error:
            raise InputError(f"{self.path / 'task.json'}: {error}") from None

    @cached_property
    def realisations(self) -> tuple[tuple[Path, Realisation], ...]:
        """What valid certificates realise an automaton by."""
        return tuple(
            (c.path, realisation_from_certificate(c.document, str(c.path)))
            for c in self.certificates
            if c.verdict == "valid" and c.document["kind"] in HOLD_ONE
        )

    def construction(self) -> tuple[LRNN | None, str]:
        """The construction of the task's automaton, or why there is none."""
        from ...constructions._construct import construct

        if self.automaton is None:
            return None, "the task is no automaton's" if self.learned else ""
        try:
            return construct(self.automaton), ""
        except MirrormataError as error:
            return None, str(error)

    def files(self) -> tuple[Path, ...]:
        """The files that a report reads, in order."""
        names = {"training": TRAINING, "model": MODEL, "certificates": ()}[self.kind]
        found = [self.path / name for name in names]
        if self.kind == "training":
            seeds = sorted(self.path.glob("seed-*"), key=lambda p: (len(p.name), p.name))
            found += [seed / name for seed in seeds for name in MODEL]
        found += [c.path for c in self.certificates]
        return tuple(path for path in found if path.is_file())


def open_folder(folder: str | Path) -> ReportFolder:
    """What the folder holds; `InputError` where that is nothing to report, and naming a file that is not JSON."""
    place = Path(folder)
    if not place.is_dir():
        raise InputError(
            f"{folder}: " + ("is a file, its folder is needed" if place.exists() else "no such folder")
        )
    kind = "certificates"
    if (place / "settings.json").is_file() and (place / "task.json").is_file():
        kind = "training"
    elif (place / "config.json").is_file() and (place / "model.safetensors").is_file() and not is_fla(place):
        kind = "model"
    certificates = tuple(_certificates(place))
    if kind == "certificates" and not certificates:
        if is_fla(place):
            raise InputError(
                f"{folder}: is an FLA checkpoint, which `mirrormata compare` reads and reports do not"
            )
        raise InputError(
            f"{folder}: nothing to report: it has no settings.json of a training, no config.json of a model, no certificate"
        )
    task = None if kind == "certificates" else read_contract(place / "task.json")
    return ReportFolder(place, kind, task, certificates)


def _certificates(place: Path) -> list[Certificate]:
    from ...theory._check import check

    found = []
    for path in sorted(place.glob("*.json")):
        document = read_json(path)
        if isinstance(document, dict) and document.get("format") == FORMAT:
            result = check(path)
            found.append(Certificate(path, document, result.verdict, result.reason or ""))
    return found
