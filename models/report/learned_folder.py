"""`LearnedFolder`: a training's or a model's files as they are read for a report, and which seed's model is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...constructions.automaton import Automaton
from ...constructions.errors import InputError
from ...constructions.files import read_json
from ..config import config_from_json
from ..contract import TaskContract, read_contract
from ..evaluation_file import evaluate_folder
from ..metrics import read_metrics
from ..tasks import AutomatonTask, task_of
from ..training import read_result
from .learned_limits import LearnedLimits


@dataclass(frozen=True)
class LearnedFolder:
    """`settings`: of the training, None of a model alone. `metrics`: its lines. `result`: figures by seed, as in `result.json`.

    `tested`: where `result` comes from. `seeds`: those of `result`, or of the settings. `seed`: whose model, in the folder
    `model`, is looked at; None without any. `automaton`: the task's, None where it is no automaton's.
    """

    path: Path
    contract: TaskContract
    settings: dict[str, Any] | None
    metrics: list[dict[str, Any]]
    result: dict[str, Any] | None
    tested: str
    seeds: tuple[int, ...]
    seed: int | None
    model: Path | None
    config: Mapping[str, Any]
    automaton: Automaton | None

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
        shape = config_from_json({"letters": 1, "classes": 1, **self.config})
        return shape.layers * shape.heads * shape.head_dim * shape.value_dim

    @property
    def train_length(self) -> int:
        """The longest training word."""
        return self.contract.train_lengths[1]

    def source(self, limits: LearnedLimits) -> str:
        """Of what was measured on random words of the comparison."""
        return f"{self.model_name}, {limits.words:,} random words of {limits.length:,} letters, seed {limits.seed} of the words"


def open_learned(folder: str | Path, limits: LearnedLimits, seed: int | None = None) -> LearnedFolder:
    """Read the folder; a model alone is tested on random words. `seed`: default the one that is right longest."""
    path = Path(folder)
    contract = read_contract(path / "task.json")
    task = task_of(contract.settings)
    automaton = task.automaton if isinstance(task, AutomatonTask) else None
    if (path / "config.json").is_file():
        return _of_model(path, contract, automaton, limits, seed)
    settings = read_json(path / "settings.json")
    metrics = read_metrics(path / "metrics.jsonl") if (path / "metrics.jsonl").is_file() else []
    result = read_result(path)
    if not isinstance(settings, dict) or not isinstance(settings.get("train"), dict):
        raise InputError(f"{path / 'settings.json'}: not the settings of a training")
    seeds = tuple(settings["train"]["seeds"] if result is None else result["seeds"])
    chosen = _best(result) if seed is None else seed
    if chosen is not None and chosen not in seeds:
        raise InputError(f"{path}: it has no seed {chosen}; its seeds are {', '.join(map(str, seeds))}")
    model = path / f"seed-{chosen}"
    there = result is not None and (model / "config.json").is_file()
    return LearnedFolder(
        path, contract, settings, metrics, result, "result.json", seeds, chosen if there else None,
        model if there else None, dict(settings.get("model", {})), automaton,
    )  # fmt: skip


def _of_model(
    path: Path, contract: TaskContract, automaton: Automaton | None, limits: LearnedLimits, seed: int | None
) -> LearnedFolder:
    config = read_json(path / "config.json")
    own = config.get("seed", 0) if isinstance(config, dict) else 0
    if seed not in (None, own):
        raise InputError(f"{path}: it has no seed {seed}; it is the model of seed {own}")
    result = None
    if automaton is not None:
        seen = evaluate_folder(
            str(path), lengths=[limits.test_length], words=limits.test_words, seed=limits.seed, device="cpu"
        )
        result = seen.seen.as_json(seen.lengths)
    tested = f"{limits.test_words:,} random words of {limits.test_length:,} letters, seed {limits.seed} of the words"
    return LearnedFolder(
        path, contract, None, [], result, tested, (own,), own, path, dict(config.get("model", {})), automaton
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
