"""What lies in a folder that a report is made of: a training, a model or certificates; its summary and provenance."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ...constructions._document import FORMAT
from ...constructions._lrnn import LRNN
from ...constructions._realisation import Realisation, realisation_from_certificate
from ...constructions.automata._automaton import Automaton
from ...constructions.texts._show import label_text
from ...foundation._errors import InputError, MirrormataError
from ...foundation._extras import needed_by
from ...foundation._files import is_file, is_folder, is_there, path_of, read_json, shown_path
from ...foundation._text import count_noun
from ..fla._model import is_fla
from ..tasks._contract import TaskContract, read_contract
from ._data import Cell, LearnedLimits, Section, Table

TRAINING = ("settings.json", "task.json", "metrics.jsonl", "result.json")
MODEL = ("config.json", "task.json", "model.safetensors")
SHOWN_CONSTRUCTIONS = ("table", "horizon", "delay")
"""Kinds of certificates whose construction a report shows; one of kind `equivalent` is about a model, also where it holds a table."""
RESULT = ("seeds", "accuracy", "exact", "longest_90", "first_failure", "curve", "words", "length", "chance")
"""What a report reads of a `result.json`."""


@dataclass(frozen=True)
class Certificate:
    """A certificate's file, with the checker's verdict, "valid" or "invalid", and its reason."""

    path: Path
    document: dict[str, Any]
    verdict: str
    reason: str

    @property
    def is_realisation(self) -> bool:
        """Whether it is valid and holds a linear RNN or a block delay."""
        return self.verdict == "valid" and self.document["kind"] in SHOWN_CONSTRUCTIONS


@dataclass(frozen=True)
class ReportFolder:
    """`kind`: training, model or certificates. `task` is None where there is no `task.json`."""

    path: Path
    kind: str
    task: TaskContract | None
    certificates: tuple[Certificate, ...]

    @property
    def is_learned(self) -> bool:
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
        """The automaton that the task names; None where it names none, as text does."""
        from ..tasks._automaton import AutomatonTask
        from ..tasks._kinds import task_from_settings

        if self.task is None:
            return None
        try:
            task = task_from_settings(self.task.settings)
        except InputError as error:
            raise InputError(f"{self.path / 'task.json'}: {error}") from None
        return task.automaton if isinstance(task, AutomatonTask) else None

    @cached_property
    def realisations(self) -> tuple[tuple[Path, Realisation], ...]:
        """The linear RNNs and block delays of valid certificates."""
        found = [c for c in self.certificates if c.is_realisation]
        return tuple((c.path, realisation_from_certificate(c.document, str(c.path))) for c in found)

    def construct_task(self) -> tuple[LRNN | None, str]:
        """The construction of the task's automaton, or why there is none."""
        from ...constructions._construct import construct

        if self.automaton is None:
            return None, "the task has no automaton" if self.is_learned else ""
        try:
            return construct(self.automaton), ""
        except MirrormataError as error:
            return None, str(error)

    def list_files(self) -> list[Path]:
        """The files that a report reads, in order."""
        found = [self.path / name for name in {"training": TRAINING, "model": MODEL}.get(self.kind, ())]
        if self.kind == "training":
            seeds = sorted(self.path.glob("seed-*"), key=lambda p: (len(p.name), p.name))
            found += [seed / name for seed in seeds for name in MODEL]
        return [path for path in (*found, *(c.path for c in self.certificates)) if is_file(path)]


def open_folder(folder: str | Path) -> ReportFolder:
    """What the folder holds; `InputError` where that is nothing to report, and naming a file that is not JSON."""
    from ...theory._check import check

    place = path_of(folder, "folder")
    if not is_folder(place):
        reason = "is a file, its folder is needed" if is_there(place) else "no such folder"
        raise InputError(f"{shown_path(folder)}: {reason}")
    kind = "certificates"
    if is_file(place / "settings.json") and is_file(place / "task.json"):
        kind = "training"
    elif is_file(place / "config.json") and is_file(place / "model.safetensors") and not is_fla(place):
        kind = "model"
    certificates = []
    for path in sorted(place.glob("*.json")):
        document = read_json(path)
        if isinstance(document, dict) and document.get("format") == FORMAT:
            result = check(path)
            certificates.append(Certificate(path, document, result.verdict, result.reason or ""))
    if kind == "certificates" and not certificates:
        reason = "nothing to report: it has no settings.json of a training, no config.json of a model, no certificate"
        if is_fla(place):
            reason = "is an FLA checkpoint, which `compare` reads and reports do not"
        raise InputError(f"{folder}: {reason}")
    task = None if kind == "certificates" else read_contract(place / "task.json")
    return ReportFolder(place, kind, task, tuple(certificates))


def show_certificates(place: ReportFolder) -> list[Section]:
    """Certificates that hold no linear RNN, or are invalid, with the checker's verdict; no section where there are none."""
    rest = [c for c in place.certificates if not c.is_realisation]
    rows = [(c.path.name, str(c.document.get("kind")), c.verdict, c.reason or None) for c in rest]
    table = Table(
        "certificates", "Certificates", "What the stand-alone checker says of each.",
        ("file", "kind", "verdict", "reason"), rows, ", ".join(c.path.name for c in rest),
    )  # fmt: skip
    text = "Certificates of what is impossible, equivalent or bounded, which hold no construction, and invalid ones."
    return [Section("more-certificates", "Other certificates", text, (table,))] if rest else []


def show_provenance(place: ReportFolder, command: str = "", reason: str = "") -> Section:
    """The folder, the command, the versions; and every file that was read, with its size and sha256.

    `reason`: why there is no construction, if so.
    """
    return show_origin(place.path, place.what, place.list_files(), command, reason)


def show_origin(
    folder: Path, what: str, files: Sequence[Path], command: str = "", reason: str = ""
) -> Section:
    """The same for any folder: `what` it holds, and the files in it that were read."""
    from ... import __version__

    entries: list[tuple[Cell, ...]] = [("folder", folder.resolve().name), ("holds", what)]
    entries += [("construction", f"none: {reason}")] if reason else []
    entries += [("command", command)] if command else []
    packages = ("numpy", "torch", "matplotlib", "plotly")
    versions = ", ".join(f"{name} {_read_version(name)}" for name in packages)
    entries += [("versions", f"mirrormata {__version__}, Python {platform.python_version()}, {versions}")]
    made = Table(
        "what",
        "What made this page",
        "",
        ("entry", "value"),
        entries,
        "the folder, and the program that was run",
    )
    rows = [
        (str(path.relative_to(folder)), path.stat().st_size, sha256(path.read_bytes()).hexdigest())
        for path in files
    ]
    table = Table(
        "files", "Files", "All numbers above come from these files, or are computed from them.",
        ("file", "bytes", "sha256"), rows, "the files themselves",
    )  # fmt: skip
    return Section("provenance", "Provenance", "What this report was made from, and by.", (made,), (table,))


def _read_version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "(not installed)"


@dataclass(frozen=True)
class Trained:
    """What the files of a training or of a model say.

    `settings`: of the training, None of a model alone. `metrics`: its lines. `result`: figures by seed, as in
    `result.json`; `tested`: where they come from. `seeds`: those of `result`, or of the settings. `seed`: the one whose
    model, in the folder `model`, is compared; None without a model. `config`: entries of the model.
    """

    folder: ReportFolder
    contract: TaskContract
    settings: dict[str, Any] | None
    metrics: list[dict[str, Any]]
    result: dict[str, Any] | None
    tested: str
    seeds: tuple[int, ...]
    seed: int | None
    model: Path | None
    config: Mapping[str, Any]

    @property
    def place(self) -> int:
        """The place of the compared seed among `seeds`."""
        return self.seeds.index(self.seed) if self.seed is not None else 0

    @property
    def model_name(self) -> str:
        """Of the compared model, without the path to it."""
        return "the model" if self.settings is None else f"seed-{self.seed}"

    @property
    def entries(self) -> int:
        """Numbers in a state of all heads of all layers together."""
        with needed_by(f"{self.folder.path}: a report of {self.folder.what}"):
            from .._config import ModelConfig
        from .._records import record_of

        if not self.config:
            return 0
        shape = record_of({"letters": 1, "classes": 1, **self.config}, ModelConfig, "model")
        return shape.layers * shape.heads * shape.head_dim * shape.value_dim

    @property
    def test(self) -> str:
        """Where `result` comes from, with its words."""
        if self.result is None:
            return self.tested
        return f"{self.tested}: {count_noun(self.result['words'], 'word')} of {count_noun(self.result['length'], 'letter')}"

    @property
    def train_length(self) -> int:
        """Letters of the longest training word."""
        return self.contract.train_lengths[1]

    def name_words(self, limits: LearnedLimits, most: int | None = None) -> str:
        """The random words of the comparison, or the first `most` of them."""
        words = min(limits.words, most or limits.words)
        return f"{count_noun(words, 'random word')} of {limits.length:,} letters"

    def name_source(self, limits: LearnedLimits, most: int | None = None) -> str:
        """The source of what was measured on random words of the comparison."""
        return f"{self.model_name}, {self.name_words(limits, most)}, seed {limits.seed} of the words"


def open_trained(folder: ReportFolder, limits: LearnedLimits, seed: int | None = None) -> Trained:
    """Read the files; a model alone is tested on random words. `seed`: by default the one that is right longest."""
    with needed_by(f"{folder.path}: a report of {folder.what}"):
        from .._config import ModelConfig
        from ..training._experiment import FROM_TASK, experiment_from_dict, read_settings
        from ..training._files import read_metrics
        from ..training._train import read_result
    from .._records import record_of

    path, contract = folder.path, folder.task
    if contract is None:
        raise InputError(f"{path}: {folder.what}: nothing was learned there")
    if folder.kind == "model":
        return _open_model(folder, contract, limits, seed)
    settings = read_settings(path / "settings.json")
    metrics = read_metrics(path / "metrics.jsonl") if is_file(path / "metrics.jsonl") else []
    result = read_result(path)
    own = settings.get("train") if isinstance(settings, dict) else None
    _expect_keys(path / "settings.json", "the settings of a training", own, ("seeds", "steps", "batch"))
    experiment = experiment_from_dict(settings, str(path / "settings.json"))
    shape = record_of(
        {**experiment.model, **dict.fromkeys(FROM_TASK, 1)}, ModelConfig, str(path / "settings.json")
    )
    if result is not None:
        _expect_keys(path / "result.json", "the result of a training", result, RESULT)
    for line in metrics:
        if "loss" in line:
            keys = ("step", "accuracy", "lr")
            _expect_keys(path / "metrics.jsonl", "the metrics of a training", line, keys)
    seeds = tuple(settings["train"]["seeds"] if result is None else result["seeds"])
    chosen = seed
    if (
        seed is None and result is not None
    ):  # the largest longest_90, then the best accuracy at the last length
        last = [-1.0 if a is None else a for a in list(result["accuracy"].values())[-1]]
        chosen = seeds[max(range(len(seeds)), key=lambda i: (result["longest_90"][i], last[i]))]
    if chosen is not None and chosen not in seeds:
        raise InputError(f"{path}: it has no seed {chosen}; its seeds are {', '.join(map(str, seeds))}")
    model = path / f"seed-{chosen}"
    there = result is not None and is_file(model / "config.json")
    return Trained(
        folder, contract, settings, metrics, result, "result.json", seeds, chosen if there else None,
        model if there else None, experiment.whole_settings(shape)["model"],
    )  # fmt: skip


def _open_model(
    folder: ReportFolder, contract: TaskContract, limits: LearnedLimits, seed: int | None
) -> Trained:
    with needed_by(f"{folder.path}: a report of {folder.what}"):
        from .._evaluation_file import evaluate_folder

    path = folder.path
    config = read_json(path / "config.json")
    _expect_keys(path / "config.json", "the configuration of a model", config, ("format", "model"))
    own, result = config.get("seed", 0), None
    if seed not in (None, own):
        raise InputError(f"{path}: it has no seed {seed}; it is the model of seed {own}")
    if folder.automaton is not None:
        seen = evaluate_folder(
            str(path), lengths=[limits.test_length], words=limits.test_words, seed=limits.seed, device="cpu"
        )
        result = seen.seen.as_json(seen.lengths)
    tested = f"random words, seed {limits.seed} of the words"
    shape = dict(config.get("model", {}))
    return Trained(folder, contract, None, [], result, tested, (own,), own, path, shape)


def _expect_keys(path: Path, what: str, found: Any, keys: tuple[str, ...]) -> None:
    missing = [key for key in keys if not isinstance(found, dict) or key not in found]
    if missing:
        raise InputError(f"{path}: not {what}: it has no {missing[0]!r}")
