"""`Trained`: what the files of a training or a model say, and which seed's model is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...constructions.automata._automaton import Automaton
from ...constructions.texts._show import counted
from ...foundation._errors import InputError
from ...foundation._files import read_json
from .._config import ModelConfig
from .._evaluation_file import evaluate_folder
from .._records import record_of
from ..tasks._contract import TaskContract
from ..training._experiment import FROM_TASK, experiment_from_dict, read_settings
from ..training._files import read_metrics
from ..training._train import read_result
from .folder import ReportFolder
from .limits import LearnedLimits

RESULT = ("seeds", "accuracy", "exact", "longest_90", "first_failure", "curve", "words", "length", "chance")
"""What a report reads of a `result.json`."""


@dataclass(frozen=True)
class Trained:
    """`folder`: where they lie. `settings`: of the training, None of a model alone. `metrics`: its lines. `result`: figures by seed, as in `result.json`.

    `tested`: where `result` comes from. `seeds`: those of `result`, or of the settings. `seed`: whose model, in the folder
    `model`, is looked at; None without any.
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
    def automaton(self) -> Automaton | None:
        """The task's, None where it is no automaton's."""
        return self.folder.automaton

    @property
    def place(self) -> int:
        """Of the seed that is looked at, among `seeds`."""
        return self.seeds.index(self.seed) if self.seed is not None else 0

    @property
    def model_name(self) -> str:
        """Of the model that is looked at, without the path to it."""
        return "the model" if self.settings is None else f"seed-{self.seed}"

    @property
    def entries(self) -> int:
        """Of a state of all heads of all layers together."""
        if not self.config:
            return 0
        shape = record_of({"letters": 1, "classes": 1, **self.config}, ModelConfig, "model")
        return shape.layers * shape.heads * shape.head_dim * shape.value_dim

    @property
    def test(self) -> str:
        """Where `result` comes from, with its words."""
        if self.result is None:
            return self.tested
        return f"{self.tested}: {self.result['words']:,} words of {self.result['length']:,} letters"

    @property
    def train_length(self) -> int:
        """The longest training word."""
        return self.contract.train_lengths[1]

    def words(self, limits: LearnedLimits, most: int | None = None) -> str:
        """The random words of the comparison, or the first `most` of them."""
        return (
            f"{counted(min(limits.words, most or limits.words), 'random word')} of {limits.length:,} letters"
        )

    def source(self, limits: LearnedLimits, most: int | None = None) -> str:
        """Of what was measured on random words of the comparison."""
        return f"{self.model_name}, {self.words(limits, most)}, seed {limits.seed} of the words"


def open_trained(folder: ReportFolder, limits: LearnedLimits, seed: int | None = None) -> Trained:
    """Read the files; a model alone is tested on random words. `seed`: default the one that is right longest."""
    path, contract = folder.path, folder.task
    if contract is None:
        raise InputError(f"{path}: {folder.what}: nothing was learned there")
    if folder.kind == "model":
        return _of_model(folder, contract, limits, seed)
    settings = read_settings(path / "settings.json")
    metrics = read_metrics(path / "metrics.jsonl") if (path / "metrics.jsonl").is_file() else []
    result = read_result(path)
    own = settings.get("train") if isinstance(settings, dict) else None
    _expect(path / "settings.json", "the settings of a training", own, ("seeds", "steps", "batch"))
    experiment = experiment_from_dict(settings, str(path / "settings.json"))
    shape = record_of(
        {**experiment.model, **dict.fromkeys(FROM_TASK, 1)}, ModelConfig, str(path / "settings.json")
    )
    if result is not None:
        _expect(path / "result.json", "the result of a training", result, RESULT)
    for line in metrics:
        if "loss" in line:
            _expect(path / "metrics.jsonl", "the metrics of a training", line, ("step", "accuracy", "lr"))
    seeds = tuple(settings["train"]["seeds"] if result is None else result["seeds"])
    chosen = _best(result) if seed is None else seed
    if chosen is not None and chosen not in seeds:
        raise InputError(f"{path}: it has no seed {chosen}; its seeds are {', '.join(map(str, seeds))}")
    model = path / f"seed-{chosen}"
    there = result is not None and (model / "config.json").is_file()
    return Trained(
        folder, contract, settings, metrics, result, "result.json", seeds, chosen if there else None,
        model if there else None, experiment.whole_settings(shape)["model"],
    )  # fmt: skip


def _expect(path: Path, what: str, found: Any, keys: tuple[str, ...]) -> None:
    """`InputError` where what was read is no object with these entries."""
    missing = [key for key in keys if not isinstance(found, dict) or key not in found]
    if missing:
        raise InputError(f"{path}: not {what}: it has no {missing[0]!r}")


def _of_model(
    folder: ReportFolder, contract: TaskContract, limits: LearnedLimits, seed: int | None
) -> Trained:
    path = folder.path
    config = read_json(path / "config.json")
    _expect(path / "config.json", "the configuration of a model", config, ("format", "model"))
    own = config.get("seed", 0)
    if seed not in (None, own):
        raise InputError(f"{path}: it has no seed {seed}; it is the model of seed {own}")
    result = None
    if folder.automaton is not None:
        seen = evaluate_folder(
            str(path), lengths=[limits.test_length], words=limits.test_words, seed=limits.seed, device="cpu"
        )
        result = seen.seen.as_json(seen.lengths)
    tested = f"random words, seed {limits.seed} of the words"
    return Trained(
        folder, contract, None, [], result, tested, (own,), own, path, dict(config.get("model", {}))
    )


def _best(result: dict[str, Any] | None) -> int | None:
    """The seed with the largest `longest_90`, then the best accuracy at the last length asked for."""
    if result is None:
        return None
    last = list(result["accuracy"].values())[-1]
    order = [
        (longest, -1.0 if a is None else a) for longest, a in zip(result["longest_90"], last, strict=True)
    ]
    best: int = result["seeds"][max(range(len(order)), key=lambda i: order[i])]
    return best
