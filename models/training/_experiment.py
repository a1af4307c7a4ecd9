"""`Experiment`: what a training is, read from a TOML file or put together from options; unknown entries are refused."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from ...foundation._errors import InputError
from ...foundation._files import read_json, read_text
from .._config import ModelConfig
from .._families import rename_family
from .._records import record_of, without_format
from ..tasks._automaton import OTHER_TASKS
from ..tasks._contract import rename_protocol
from ..tasks._kinds import task_from_settings
from ..tasks._task import Span, Task, TaskSettings
from ._start import PARTS, StartSettings, check_start, read_start, starts_without_bos

SETTINGS_FORMAT = "mirrormata-settings/1"
MOST_SEEDS = 10_000
"""Models that are trained side by side."""
FROM_TASK = ("letters", "classes")
"""Entries of a model that its task fixes."""


Precision = Literal["fp32", "bf16"]


class TrainSettings(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """The entries of the section `[train]`.

    Attributes:
        steps: number of optimizer steps, at least 1.
        batch: number of words per step for each seed, at least 1.
        lengths: shortest and longest word, in letters. Each batch has one length, drawn uniformly. None for those of the protocol.
        curriculum: fraction of the steps in which the longest length grows, by the same factor each step; from 0 to 1.
        curriculum_from: the initial value of the longest length; 0 for the shortest length, or 2 if there is only one length.
        even_tokens: whether to use more words if they are shorter, so that all steps have about as many letters; `batch` is then
            the number of words of the longest length.
        accumulate: the number of parts into which the words of a step are divided; gradients are added up over the parts, so that only a
            part's activations are in memory at once and the result is that of the whole batch up to rounding. At least 1.
        checkpointing: whether only the inputs of each block are kept for the gradients, and the rest is computed a second time.
        ema: decay d of a moving average of the weights, a ← d a + (1 - d) w after each step, from the initial weights on; 0 for none.
        seeds: different numbers, at least 0; one model is trained for each.
        initializer_range: standard deviation of the initial weights of linear maps and embeddings; 0 for the default of each layer.
        lr: the largest learning rate, at least 0.
        final_lr: the learning rate at the last step, at least 0.
        warmup: fraction of the steps in which the learning rate rises, from 0 to 1.
        weight_decay: the weight decay of linear maps, at least 0; other parameters do not decay.
        label_smoothing: probability that the target of the loss spreads over all classes, so that gradients do not vanish
            when all answers are right; from 0 to 1.
        betas: Adam's, two numbers from 0, below 1.
        clip: the largest norm of the gradient of a seed; 0 for no clipping.
        precision: fp32, or bf16 by autocast.
        tf32: whether float32 products on a GPU may use TF32.
        graphs: whether to record the kernels of a step on one GPU for each length of words, and replay them.
        deterministic: whether to use only deterministic algorithms of torch.
        device: `auto` (the first GPU, else the CPU), `cpu`, `cuda`, `cuda:1`, ....
        threads: number of CPU threads, 0 for the default of torch; small models are fastest with one.
        log_every: number of steps between two lines of metrics, at least 1.
        eval_every: number of steps between two tests; 0 to test only at the end.
        checkpoint_every: number of steps between two checkpoints, at least 1.
        keep_every: number of steps between two sets of model folders, `steps/STEP/seed-0` and so on; 0 to keep only the last models.
    """

    steps: int = 1000
    batch: int = 256
    lengths: tuple[int, int] | None = None
    curriculum: float = 0.0
    curriculum_from: int = 0
    even_tokens: bool = False
    accumulate: int = 1
    checkpointing: bool = False
    ema: float = 0.0
    seeds: tuple[int, ...] = (0,)
    initializer_range: float = 0.0
    lr: float = 1e-3
    final_lr: float = 1e-6
    warmup: float = 0.1
    weight_decay: float = 0.1
    label_smoothing: float = 0.0
    betas: tuple[float, float] = (0.9, 0.95)
    clip: float = 1.0
    precision: Precision = "fp32"
    tf32: bool = False
    graphs: bool = True
    deterministic: bool = False
    device: str = "auto"
    threads: int = 0
    log_every: int = 50
    eval_every: int = 0
    checkpoint_every: int = 500
    keep_every: int = 0


class EvalSettings(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """The entries of the section `[eval]`.

    Attributes:
        lengths: numbers of letters, or spans over whose lengths figures are averaged; None for those of the protocol.
        words: number of test words, at least 1.
        seed: the seed of the test words, at least 0.
        precisions: the arithmetics of the test, `fp32` and `bf16` (by autocast); the first is the one whose results are shown first. None
            for fp32, and after training in bf16 for bf16 too.
    """

    lengths: list[int | tuple[int, int]] | None = None
    words: int = 256
    seed: int = 0
    precisions: list[Precision] | None = None


class Experiment(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """The settings of a training run.

    Attributes:
        task: the entries of `[task]`.
        model: the entries of `ModelConfig` except `letters` and `classes`, which the task determines.
        train: the entries of `[train]`.
        eval: the entries of `[eval]`.
        start: the entries of `[start]`: the weights at which the training begins.
    """

    task: TaskSettings
    model: dict[str, Any] = {}
    train: TrainSettings = TrainSettings()
    eval: EvalSettings = EvalSettings()
    start: StartSettings = StartSettings()

    def as_json(self) -> dict[str, Any]:
        """Return the settings as plain values, for files and comparison.

        Returns:
            The sections with their entries.
        """
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain

    def whole_settings(self, config: ModelConfig) -> dict[str, Any]:
        """Return the settings as `as_json` does, with every entry of the model, including those that were left out.

        Args:
            config: that of `config`. Its letters and classes are the task's, so this is an experiment again.

        Returns:
            The sections with their entries.
        """
        own = FROM_TASK if not self.start.path else (*FROM_TASK, "tokens", "meaning")
        model = {name: value for name, value in config.as_json().items() if name not in own}
        return {**self.as_json(), "model": model}

    def build_task(self) -> Task:
        """The task that the settings describe.

        Returns:
            An `AutomatonTask`, or the task of recall or of text.

        Raises:
            InputError: an entry is wrong, or the SPEC names nothing.
        """
        return task_from_settings(self.task)

    def config(self, task: Task) -> ModelConfig:
        """The model's configuration, with the task's letters and classes.

        Args:
            task: the task of the experiment.

        Returns:
            The configuration.

        Raises:
            InputError: an entry of `model` is wrong or is determined by the task.
        """
        for name in FROM_TASK:
            if name in self.model:
                raise InputError(f"model: {name} comes from the task; leave it out")
        if self.start.path:
            return self._config_of_start(task)
        return record_of(
            {**self.model, "letters": task.letters, "classes": task.classes}, ModelConfig, "model"
        )

    def _config_of_start(self, task: Task) -> ModelConfig:
        """That of the model at which the training begins; entries of `model` may repeat it."""
        start = read_start(self.start)
        check_start(start, self.start.path, task.letters, task.classes)
        own = start.config.as_json()
        for name, value in self.model.items():
            if name not in own or own[name] != msgspec.to_builtins(value):
                raise InputError(
                    f"model: {name} is {value!r}, and the model of start.path has {own.get(name)!r}; leave it out"
                )
        return start.config

    def train_lengths(self, task: Task) -> Span:
        """Return the lengths of the shortest and longest training word.

        Args:
            task: the task of the experiment, whose protocol gives what the settings leave out.

        Returns:
            Two numbers of letters.
        """
        return self.train.lengths or task.protocol.train_lengths

    def test_lengths(self, task: Task) -> list[int | Span]:
        """Return the lengths and spans of the test.

        Args:
            task: the task of the experiment, whose protocol gives what the settings leave out.

        Returns:
            Numbers of letters, and pairs of them.

        Raises:
            InputError: where a word is asked only at its own end, which few words have at exactly the length named.
        """
        found = list(self.eval.lengths or task.protocol.test_lengths)
        if task.own_lengths and (exact := [x for x in found if isinstance(x, int)]):
            raise InputError(
                f"eval.lengths has {exact[0]}: words of this task have lengths of their own and are asked once, at their ends; "
                f"write a span, such as [{max(1, exact[0] // 2)}, {exact[0]}], or take a task that asks after every prefix, such as "
                "protocol formal_language_prefix"
            )
        return found

    def test_precisions(self) -> list[Precision]:
        """Return the arithmetics in which the models are tested.

        Returns:
            `fp32` or `bf16`, or both.
        """
        if self.eval.precisions is not None:
            return self.eval.precisions
        return ["fp32"] if self.train.precision == "fp32" else ["fp32", "bf16"]


def read_experiment(path: str | Path) -> Experiment:
    """Read an experiment from a TOML file with the sections `[task]`, `[model]`, `[train]`, `[eval]`.

    Args:
        path: the file.

    Returns:
        The experiment.

    Raises:
        InputError: the file cannot be read, or has an entry that is wrong; the line names it.
    """
    return experiment_from_dict(read_toml(path), str(path))


def shrink_model(experiment: Experiment, by: int) -> Experiment:
    """The same experiment with a model whose width and heads are smaller by a factor, to try it out.

    Args:
        experiment: the experiment; what its model leaves out has its default.
        by: what `width`, `head_dim` and `value_dim` are divided by, at least 1; the MLP follows the width.

    Returns:
        The experiment.

    Raises:
        InputError: a size is no multiple of `by`.
    """
    if by < 1:
        raise InputError(f"`shrink` is {by}: at least 1 is needed")
    defaults = ModelConfig().as_json()
    sizes = {name: experiment.model.get(name, defaults[name]) for name in ("width", "head_dim", "value_dim")}
    for name, size in sizes.items():
        if type(size) is int and size % by:
            raise InputError(f"`shrink` is {by}, and model.{name} is {size}, which is no multiple of it")
    smaller = {name: size // by for name, size in sizes.items() if type(size) is int}
    return msgspec.structs.replace(experiment, model={**experiment.model, **smaller})


def settings_as_json(settings: dict[str, Any]) -> str:
    """The text of `settings.json`: whole settings (`Experiment.whole_settings`) with their format."""
    return json.dumps({"format": SETTINGS_FORMAT, **settings}, indent=1) + "\n"


def read_settings(path: str | Path) -> Any:
    """What a training's `settings.json` says, without its format; files from before 0.2.0 have none, and an older name of a protocol.

    Raises:
        InputError: the file cannot be read, or is of another format.
    """
    data = read_json(path)
    if isinstance(data, dict) and "format" not in data and "task" in data:
        data = {**data, "task": rename_protocol(data["task"])}
    if isinstance(data, dict) and "model" in data:
        data = {**data, "model": rename_family(data["model"])}
    return without_format(data, SETTINGS_FORMAT, str(path))


def read_toml(path: str | Path) -> dict[str, Any]:
    """A TOML file; `InputError` names the line that is wrong."""
    try:
        return tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not TOML: {error}") from None


def experiment_from_dict(data: dict[str, Any], name: str) -> Experiment:
    """Check plain values as an experiment.

    Args:
        data: sections with their entries, as TOML or JSON have them.
        name: the name of the file or command, for error messages.

    Returns:
        The experiment. One that begins at a model without BOS has `task.bos` false, if it is not given.

    Raises:
        InputError: an entry is unknown, of the wrong type or out of range; the line names it.

    Examples:
        >>> experiment_from_dict({"task": {"spec": "parity"}}, "call").train.steps
        1000
    """
    found = record_of(data, Experiment, name)
    problems = list(_problems(found))
    if problems:
        raise InputError(f"{name}: " + "; ".join(problems))
    of_automaton = found.task.spec not in ("text", "recall") and not found.task.spec.startswith(OTHER_TASKS)
    if found.task.bos is None and of_automaton and starts_without_bos(found.start):
        return msgspec.structs.replace(found, task=msgspec.structs.replace(found.task, bos=False))
    return found


def _problems(found: Experiment) -> Any:
    train, test = found.train, found.eval
    for section, values, names in (
        ("train", train, ("steps", "batch", "accumulate", "log_every", "checkpoint_every")),
        ("eval", test, ("words",)),
    ):
        for entry in names:
            if getattr(values, entry) < 1:
                yield f"{section}.{entry} is {getattr(values, entry)}, at least 1 is needed"
    if train.lengths is not None and not 1 <= train.lengths[0] <= train.lengths[1]:
        yield f"train.lengths is {list(train.lengths)}: write [shortest, longest], from 1"
    if len(train.seeds) > MOST_SEEDS:
        yield f"train.seeds has {len(train.seeds):,} seeds: at most {MOST_SEEDS:,} are trained side by side; train in parts"
    elif not train.seeds or len(set(train.seeds)) < len(train.seeds) or not _are_seeds(*train.seeds):
        yield f"train.seeds is {list(train.seeds)}: give different numbers from 0, below 2^63"
    if not _are_seeds(test.seed):
        yield f"eval.seed is {test.seed}: give a number from 0, below 2^63"
    if not all(0 <= beta < 1 for beta in train.betas):
        yield f"train.betas is {list(train.betas)}: two numbers from 0, below 1, are needed"
    if not 0 <= train.ema < 1:
        yield f"train.ema is {train.ema}: a decay from 0, below 1, is needed, such as 0.999; 0 for no average"
    for entry in ("curriculum", "warmup", "label_smoothing"):
        if not 0 <= getattr(train, entry) <= 1:
            yield f"train.{entry} is {getattr(train, entry)}: a fraction from 0 to 1 is needed"
    for entry in (
        "lr", "final_lr", "weight_decay", "clip", "eval_every", "threads", "curriculum_from", "initializer_range", "keep_every",
    ):  # fmt: skip
        if not 0 <= getattr(train, entry) < float("inf"):
            yield f"train.{entry} is {getattr(train, entry)}, which must be finite and not negative"
    if test.precisions is not None and not 1 <= len(set(test.precisions)) == len(test.precisions):
        yield f"eval.precisions is {test.precisions}: name fp32, bf16 or both, each once"
    yield from _start_problems(found)
    for length in test.lengths or []:
        low, high = (length, length) if isinstance(length, int) else length
        if not 1 <= low <= high:
            yield f"eval.lengths has {length}: a length from 1, or [shortest, longest], is needed"


def _start_problems(found: Experiment) -> Iterator[str]:
    start = found.start
    if not 0 <= start.noise < float("inf"):
        yield f"start.noise is {start.noise}, which must be finite and not negative"
    if unknown := [part for part in start.frozen if part not in PARTS]:
        yield f"start.frozen has {unknown[0]!r}; the parts are {', '.join(PARTS)}"
    if not start.path and start.noise:
        yield "start.noise is noise around given weights; name them by start.path"
    if start.plant and not start.path:
        yield "start.plant puts heads into a model; name its folder by start.path"
    if start.blank and not start.plant:
        yield "start.blank takes random weights in place of planted ones; name the construction by start.plant"
    if start.path and found.train.initializer_range:
        yield "train.initializer_range scales random weights, and start.path gives others; leave one out"


def _are_seeds(*seeds: int) -> bool:
    """Whether torch and numpy take them."""
    return all(0 <= seed < 2**63 for seed in seeds)


def settings_difference(old: Any, new: Any) -> str | None:
    """Where two experiments' settings differ, in words, None where they are equal; an entry left out has its default.

    So a training goes on from the files of a version that did not have an entry yet.
    """
    return first_difference(_with_defaults(old), _with_defaults(new))


def _with_defaults(settings: Any) -> Any:
    if not isinstance(settings, dict):
        return settings
    if "model" in settings:
        settings = {**settings, "model": rename_family(settings["model"])}
    sections = {"model": ModelConfig().as_json(), **_DEFAULTS}
    return {
        name: {**sections[name], **section} if name in sections and isinstance(section, dict) else section
        for name, section in {"start": {}, **settings}.items()
    }


def first_difference(old: Any, new: Any, place: str = "") -> str | None:
    """Where two settings differ, in words; None where they are equal."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(set(old) | set(new)):
            here = f"{place}.{key}" if place else str(key)
            if found := first_difference(old.get(key), new.get(key), here):
                return found
        return None
    return None if old == new else f"{place} was {old!r} and is {new!r}"


_DEFAULTS: dict[str, dict[str, Any]] = {
    "task": msgspec.to_builtins(TaskSettings(spec="")),
    "train": msgspec.to_builtins(TrainSettings()),
    "eval": msgspec.to_builtins(EvalSettings()),
    "start": msgspec.to_builtins(StartSettings()),
}
