"""`TrainingRun`: model, optimizer and data of one training, step by step; batches are made one step ahead in a thread."""

from __future__ import annotations

import json
import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
from torch.nn import functional as F

from ...foundation._errors import MirrormataWarning
from ...foundation._files import is_there, write_text
from ...foundation._interrupting import HeldSignals, hold_interrupts
from .._config import ModelConfig
from .._evaluation import Evaluation, evaluate, length_text, longest_of
from .._model import Model
from .._model_file import save_model
from ..tasks._contract import TaskContract
from ..tasks._sampling import IGNORED, Batch
from ..tasks._task import Task
from ._experiment import Experiment, TrainSettings
from ._files import Metrics, load_checkpoint, remove_leftovers, save_checkpoint
from ._optimizing import (
    adamw,
    clip_by_seed,
    gradient_norms,
    learning_rate,
    set_learning_rate,
    start_small,
    word_length,
)
from ._processes import Processes
from ._step_graphs import StepGraphs


def training_batches(
    task: Task,
    settings: TrainSettings,
    lengths: tuple[int, int],
    steps: Sequence[int],
    device: torch.device,
    share: tuple[int, int] = (0, 1),
) -> Iterator[tuple[Tensor, Tensor]]:
    """Letters and labels `[replicas, words, tokens]` of each step, on the device.

    `share` (i, n): the i-th of n processes, which takes every n-th word; labels are those of all words' `IGNORED`
    pattern, so the caller counts them over all processes.
    """

    def draw_batch(step: int) -> Batch:
        length = word_length(step, settings.steps, lengths, settings.curriculum, settings.curriculum_from)
        words = settings.batch * lengths[1] // length if settings.even_tokens else settings.batch
        return task.batches(settings.seeds, step, words, length)

    first, every = share
    with ThreadPoolExecutor(1) as thread:
        following = thread.submit(draw_batch, steps[0]) if steps else None
        for step in steps:
            assert following is not None
            batch = following.result()
            following = thread.submit(draw_batch, step + 1) if step + 1 <= steps[-1] else None
            letters, labels = (
                torch.from_numpy(np.ascontiguousarray(x[:, first::every]))
                for x in (batch.letters, batch.labels)
            )
            if device.type == "cuda":
                letters, labels = letters.pin_memory(), labels.pin_memory()
            yield tuple(x.to(device, non_blocking=True).to(torch.int64) for x in (letters, labels))  # type: ignore[misc]


Progress = Callable[[float], None]
CHECKPOINT = "checkpoint.safetensors"
RESULT_FORMAT = "mirrormata-result/1"


class _TestGivenUp(Exception):  # noqa: N818 - no error: an interrupt has come
    """Ends a test between two steps of the training."""


class TrainingRun:
    """Many seeds' models in one, and all that changes them.

    Args:
        experiment: the settings.
        task: where the words come from.
        config: the configuration of the model, with the letters and classes of the task.
        processes: where it is trained.

    Attributes:
        saved: the step of the checkpoint in the folder; 0 for none.
    """

    def __init__(self, experiment: Experiment, task: Task, config: ModelConfig, processes: Processes) -> None:
        self.experiment, self.task, self.processes = experiment, task, processes
        settings = experiment.train
        self.model = Model(config, settings.seeds).to(processes.device)
        if settings.initializer_range:
            start_small(self.model, settings.initializer_range)
        recorded = settings.graphs and processes.device.type == "cuda" and processes.count == 1
        optimizer = adamw(self.model, settings.lr, settings.betas, settings.weight_decay, capturable=recorded)
        self.trained, self.optimizer = processes.prepare(self.model, optimizer)
        self.graphs = StepGraphs(self.update, processes.device) if recorded else None
        self.saved = 0
        self._diverged: set[int] = set()

    def load(self, place: Path, settings: dict[str, Any]) -> int:
        """Go on from the folder's checkpoint, if there is one.

        Args:
            place: the folder of the training.
            settings: the settings of the training run, which the checkpoint must have too.

        Returns:
            The step to go on with: that of the checkpoint, or 0.

        Raises:
            InputError: the checkpoint is cut short or of another training.
        """
        path = place / CHECKPOINT
        if self.processes.writes:
            remove_leftovers(path)
        if not is_there(path):
            return 0
        rates = [group["lr"] for group in self.optimizer.param_groups]
        self.saved = step = load_checkpoint(path, self.trained, self.optimizer, settings)
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate  # loading made a number of the tensor that graphs read
        return step

    def stream(self) -> AbstractContextManager[None]:
        """The context in which all steps must run: steps that are recorded have a stream of their own.

        Returns:
            A context manager.
        """
        return nullcontext() if self.graphs is None else self.graphs.stream()

    def train(
        self,
        place: Path,
        step: int,
        settings: dict[str, Any],
        deadline: float | None,
        progress: Progress | None,
        metrics: Metrics,
    ) -> int:
        """Train to the last step or the deadline, within `stream()`; the step that is reached is saved.

        An interrupt waits for the end of a step, which is then saved; a second Ctrl-C does not wait, and the checkpoint of
        before stays. Either is raised.

        Args:
            place: the folder of the training.
            step: to begin with, from 0.
            settings: the settings of the training run, for the checkpoint.
            deadline: the time at which to stop, on the clock of `time.monotonic`, in seconds; None for no deadline.
            progress: called with the fraction of the steps that is done, from 0 to 1; None for nobody.
            metrics: gets the metrics.

        Returns:
            The step that is reached.
        """
        train, processes = self.experiment.train, self.processes
        began = last = time.monotonic()
        tokens = 0
        batches = training_batches(
            self.task, train, self.experiment.train_lengths(self.task), range(step, train.steps),
            processes.device, (processes.rank, processes.count),
        )  # fmt: skip
        with hold_interrupts(insistent=True) as held:
            if self._tests_at(step) and not any(
                line["step"] == step and "test" in line for line in metrics.kept
            ):
                self._test_now(step, metrics, held)  # an interrupt kept it from being done
            for letters, labels in batches:
                lr = learning_rate(step, train.steps, train.lr, train.final_lr, train.warmup)
                set_learning_rate(self.optimizer, lr)
                step += 1
                tokens += letters.numel() * processes.count
                measured = (self.graphs or self.update)(letters, labels)
                if step % train.log_every == 0 or step == train.steps:
                    found = self._measure(*measured)
                    now = time.monotonic()
                    metrics.write(
                        {
                            "step": step, "lr": lr, "tokens": letters.shape[2], **found,
                            "seconds": round(now - began, 3), "tokens_per_second": round(tokens / (now - last)),
                        }
                    )  # fmt: skip
                    last, tokens = now, 0
                    self._warn_of_divergence(step, found["loss"])
                if self._tests_at(step):
                    self._test_now(step, metrics, held)
                stopping = self._stops(step, deadline, held)
                if step % train.checkpoint_every == 0 or stopping or step == train.steps:
                    save_checkpoint(
                        place / CHECKPOINT, self.trained, self.optimizer, step, settings, processes.writes
                    )
                    self.saved = step
                if progress is not None:
                    progress(step / train.steps)
                if stopping:
                    break
        return step

    def _tests_at(self, step: int) -> bool:
        """Whether the models are tested after this step."""
        every = self.experiment.train.eval_every
        return bool(every) and step > 0 and step % every == 0

    def _test_now(self, step: int, metrics: Metrics, held: HeldSignals) -> None:
        """Write the accuracies after a step; an interrupt ends the test, which is made up for when the training goes on."""

        def look(share: float) -> None:
            if held.arrived and self.processes.count == 1:
                raise _TestGivenUp

        with suppress(_TestGivenUp):
            seen = self._test(look)
            lengths = self.experiment.test_lengths(self.task)
            metrics.write({"step": step, "test": {length_text(x): seen.accuracy(x) for x in lengths}})

    def _stops(self, step: int, deadline: float | None, held: HeldSignals) -> bool:
        """Whether to save and stop. One process alone asks no device, which would wait for it.

        Several agree: at each step about the time, about interrupts where they meet for the metrics anyway.
        """
        stopping = bool(held.arrived) or (deadline is not None and time.monotonic() > deadline)
        if self.processes.count == 1:
            return stopping
        if deadline is None and step % self.experiment.train.log_every:
            return False
        flag = torch.tensor(float(stopping), device=self.processes.device)
        return bool(self.processes.sum_over_processes(flag) > 0)

    def update(self, letters: Tensor, labels: Tensor) -> tuple[Tensor, ...]:
        """One step. The loss is the sum over seeds of their mean losses, so that seeds do not meet.

        Args:
            letters: int `[replicas, words, tokens]`.
            labels: int `[replicas, words, tokens]`.

        Returns:
            For each seed its loss, its right answers, how many were asked for, its gradient's norm; `[replicas]` each.
        """
        train, processes = self.experiment.train, self.processes
        asked = processes.sum_over_processes((labels != IGNORED).flatten(1).sum(1)).clamp(min=1)
        with self._autocast():
            logits, _ = self.trained(letters)
        by_token = F.cross_entropy(
            logits.float().flatten(0, 2),
            labels.flatten(),
            ignore_index=IGNORED,
            reduction="none",
            label_smoothing=train.label_smoothing,
        )
        losses = by_token.view(len(train.seeds), -1).sum(1) / asked
        self.optimizer.zero_grad(set_to_none=True)
        processes.backward(losses.sum())
        if processes.sharded:
            norms = processes.clip_shards(self.trained, train.clip).reshape(1)
        else:
            norms = gradient_norms(self.trained, len(train.seeds))
            if train.clip:
                clip_by_seed(self.trained, norms, train.clip)
        self.optimizer.step()
        right = ((logits.detach().argmax(-1) == labels) & (labels != IGNORED)).flatten(1).sum(1)
        return losses.detach(), right, asked, norms.detach()

    def _measure(self, losses: Tensor, right: Tensor, asked: Tensor, norms: Tensor) -> dict[str, list[float]]:
        """The metrics of a step; all processes ask for them."""
        sum_over = self.processes.sum_over_processes
        return {
            "loss": sum_over(losses).tolist(),
            "accuracy": (sum_over(right) / asked).tolist(),
            "gradient_norm": norms.tolist(),
        }

    def _warn_of_divergence(self, step: int, losses: Sequence[float]) -> None:
        """Once for each seed, whose training then goes on only because the others' does."""
        for seed, loss in zip(self.experiment.train.seeds, losses, strict=True):
            if not math.isfinite(loss) and seed not in self._diverged:
                self._diverged.add(seed)
                warnings.warn(
                    f"train: seed {seed}: the loss is {loss} at step {step}; lower lr, or set clip",
                    MirrormataWarning,
                    stacklevel=2,
                )

    def finish(self, place: Path, contract: TaskContract, progress: Progress | None = None) -> dict[str, Any]:
        """The final test, a model folder for each seed, `result.json`.

        Args:
            place: the folder of the training.
            contract: the contract of the task.
            progress: called with the fraction of the test that is done, from 0 to 1; None for nobody.

        Returns:
            The contents of `result.json`.
        """
        result = self._test(progress).as_json(self.experiment.test_lengths(self.task))
        options = StateDictOptions(full_state_dict=True, cpu_offload=True)
        weights = get_model_state_dict(self.trained, options=options)
        if self.processes.writes:
            whole = Model(self.model.config, self.experiment.train.seeds)
            whole.load_state_dict(weights)
            for i, seed in enumerate(whole.seeds):
                save_model(place / f"seed-{seed}", whole.select(i), contract.as_json())
            write_text(place / "result.json", json.dumps({"format": RESULT_FORMAT, **result}) + "\n")
        return result

    def _test(self, progress: Progress | None = None) -> Evaluation:
        test, task = self.experiment.eval, self.task
        model = (
            cast(Model, self.trained) if self.processes.sharded else self.model
        )  # FSDP passes attributes on
        return evaluate(
            model, task, longest_of(self.experiment.test_lengths(task)), words=test.words, seed=test.seed,
            autocast=self.processes.autocast, progress=progress,
        )  # fmt: skip

    def _autocast(self) -> Any:
        """accelerate brings its own."""
        if self.processes.autocast is None or self.processes.accelerator is not None:
            return nullcontext()
        return torch.autocast(self.processes.device.type, self.processes.autocast)
