"""`TrainingRun`: model, optimizer and data of one training, step by step."""

from __future__ import annotations

import json
import math
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict

from ...foundation._errors import MirrormataWarning
from ...foundation._files import is_there, write_text
from ...foundation._interrupting import HeldSignals, hold_interrupts
from ...kernels._backends import choose_backend
from .._config import ModelConfig
from .._evaluation import Evaluation, evaluate, length_text, longest_of
from .._model import Block, Model, model_on_meta, state_count
from .._model_file import save_model
from ..tasks._contract import TaskContract
from ..tasks._sampling import IGNORED
from ..tasks._task import Task
from ._averaging import WeightAverage, Weights
from ._batches import training_batches
from ._budget import Budget
from ._experiment import Experiment, Precision
from ._files import Metrics, load_checkpoint, remove_leftovers, save_checkpoint
from ._loss import sum_losses
from ._optimizing import (
    adamw,
    clip_by_seed,
    gradient_norms,
    learning_rate,
    set_learning_rate,
    start_small,
)
from ._processes import Processes
from ._start import begin_at, freeze_parts, origin_of
from ._step_graphs import StepGraphs

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
        budget: what the training has used; None if it was begun by a version that did not count.
    """

    def __init__(self, experiment: Experiment, task: Task, config: ModelConfig, processes: Processes) -> None:
        self.experiment, self.task, self.processes = experiment, task, processes
        settings = experiment.train
        self.model = processes.begin_model(config, settings.seeds)
        if settings.initializer_range:
            start_small(self.model, settings.initializer_range)
        if experiment.start.path:
            begin_at(self.model, experiment.start)
        freeze_parts(self.model, experiment.start.frozen)
        for block in self.model.blocks:
            cast(Block, block).checkpointing = settings.checkpointing
        recorded = settings.graphs and processes.device.type == "cuda" and processes.count == 1
        optimizer = adamw(self.model, settings.lr, settings.betas, settings.weight_decay, capturable=recorded)
        self.trained, self.optimizer = processes.prepare(self.model, optimizer)
        self.graphs = StepGraphs(self.update, processes.device) if recorded else None
        self.average = WeightAverage(self.model, settings.ema) if settings.ema else None
        self.saved = 0
        self.budget: Budget | None = Budget()
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
        step, self.budget = load_checkpoint(path, self.trained, self.optimizer, settings, self.average)
        self.saved = step
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
        contract: TaskContract,
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
            contract: of the task, for the model folders that are kept on the way.

        Returns:
            The step that is reached.
        """
        train, processes = self.experiment.train, self.processes
        started = began = last = time.monotonic()
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
            for letters, labels, words, asked in batches:
                lr = learning_rate(step, train.steps, train.lr, train.final_lr, train.warmup)
                set_learning_rate(self.optimizer, lr)
                step += 1
                tokens += letters.numel() * processes.count
                measured = (self.graphs or self.update)(letters, labels)
                if self.budget is not None:
                    self.budget.count(words, letters.shape[2], asked)
                if step % train.log_every == 0 or step == train.steps:
                    found = self._measure(*measured)
                    now = time.monotonic()
                    metrics.write(
                        {
                            "step": step, "lr": lr, "tokens": letters.shape[2], **found,
                            "seconds": round(now - started, 3), "tokens_per_second": round(tokens / (now - last)),
                        }
                    )  # fmt: skip
                    last, tokens = now, 0
                    self._warn_of_divergence(step, found["loss"])
                if self._tests_at(step):
                    self._test_now(step, metrics, held)
                if train.keep_every and step % train.keep_every == 0 and step < train.steps:
                    self._keep_models(place / "steps" / str(step), contract)
                stopping = self._stops(step, deadline, held)
                if step % train.checkpoint_every == 0 or stopping or step == train.steps:
                    began = self._add_seconds(began)
                    save_checkpoint(
                        place / CHECKPOINT,
                        self.trained,
                        self.optimizer,
                        step,
                        settings,
                        processes.writes,
                        self.budget,
                        self.average,
                    )
                    self.saved = step
                if progress is not None:
                    progress(step / train.steps)
                if stopping:
                    break
        return step

    def _add_seconds(self, since: float) -> float:
        """Count the time since then, by which the device has done its steps; the time now."""
        if self.processes.device.type == "cuda":
            torch.cuda.synchronize(self.processes.device)
        now = time.monotonic()
        if self.budget is not None:
            self.budget.seconds += now - since
        return now

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
            with self._averaged():
                seen = self._test(self._precisions()[0], look)
            lengths = self.experiment.test_lengths(self.task)
            figures = {length_text(x): seen.accuracy(x) for x in lengths}
            weights = {} if self.average is None else {"weights": "average"}
            metrics.write({"step": step, "test": figures, "precision": seen.precision, **weights})

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

        The words are divided into `train.accumulate` parts. The mean is over the labels of all of them, so the sum of the parts'
        gradients is the gradient of the whole.

        Args:
            letters: int `[replicas, words, tokens]`.
            labels: int `[replicas, words, tokens]`.

        Returns:
            For each seed its loss, its right answers, how many were asked for, its gradient's norm; `[replicas]` each.
        """
        train, processes = self.experiment.train, self.processes
        asked = processes.sum_over_processes((labels != IGNORED).flatten(1).sum(1)).clamp(min=1)
        self.optimizer.zero_grad(set_to_none=True)
        losses, right = torch.zeros(len(train.seeds), device=asked.device), torch.zeros_like(asked)
        parts = zip(
            letters.tensor_split(train.accumulate, 1), labels.tensor_split(train.accumulate, 1), strict=True
        )
        for i, (some, their_labels) in enumerate(parts, 1):
            with processes.gathering(self.trained, last=i == train.accumulate):
                found = self._add_gradients(some, their_labels, asked)
            losses, right = losses + found[0], right + found[1]
        if processes.sharded:
            norms = processes.clip_shards(self.trained, train.clip).reshape(1)
        else:
            norms = gradient_norms(self.trained, len(train.seeds))
            if train.clip:
                clip_by_seed(self.trained, norms, train.clip)
        self.optimizer.step()
        if self.average is not None:
            self.average.update()
        return losses, right, asked, norms.detach()

    def _add_gradients(self, letters: Tensor, labels: Tensor, asked: Tensor) -> tuple[Tensor, Tensor]:
        """Add the gradients of some words of a batch, in which `asked` labels are asked for; their share of the loss, their right answers."""
        train = self.experiment.train
        with self._autocast():
            logits, _ = self.trained(letters)
        losses, logits = sum_losses(
            logits, labels, self.model.config, self.task.classes, train.label_smoothing, asked
        )
        self.processes.backward(losses.sum())
        right = ((logits.detach().argmax(-1) == labels) & (labels != IGNORED)).flatten(1).sum(1)
        return losses.detach(), right

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

        Where the weights are averaged, the figures at the top and the models in `seed-0`, ... are those of the average, and
        `other_weights` and the folder `last` have those of the weights after the last step.

        Args:
            place: the folder of the training.
            contract: the contract of the task.
            progress: called with the fraction of the test that is done, from 0 to 1; None for nobody.

        Returns:
            The contents of `result.json`.
        """
        lengths = self.experiment.test_lengths(self.task)
        trained = self.experiment.train_lengths(self.task)

        def test(weights: Weights) -> list[dict[str, Any]]:
            return [
                {"weights": weights, **self._test(precision, progress).as_json(lengths, trained)}
                for precision in self._precisions()
            ]

        with self._averaged():
            tests = test("last" if self.average is None else "average")
        others = {} if self.average is None else {"other_weights": test("last")}
        result = {**tests[0], "other_precisions": tests[1:], **others, "training": self._describe_training()}
        self._keep_models(place, contract)
        if self.processes.writes:
            write_text(place / "result.json", json.dumps({"format": RESULT_FORMAT, **result}) + "\n")
        return result

    def _keep_models(self, place: Path, contract: TaskContract) -> None:
        """Write a model folder for each seed into a folder; every process takes part, one writes.

        With averaged weights these are the models' there, and those of the last step are in the folder `last`.
        """
        with self._averaged():
            self._write_models(place, contract, "last" if self.average is None else "average")
        if self.average is not None:
            self._write_models(place / "last", contract, "last")

    def _write_models(self, place: Path, contract: TaskContract, kind: Weights) -> None:
        """Write the weights that the model has now."""
        options = StateDictOptions(full_state_dict=True, cpu_offload=True)
        weights = get_model_state_dict(self.trained, options=options)
        if self.processes.writes:
            # weights that are there take the places of those it would draw
            whole = model_on_meta(self.model.config, self.experiment.train.seeds)
            whole.load_state_dict(weights, assign=True)
            part, imported = origin_of(self.experiment.start)
            for i, seed in enumerate(whole.seeds):
                save_model(place / f"seed-{seed}", whole.select(i), contract.as_json(), kind, part, imported)

    def _describe_training(self) -> dict[str, Any]:
        """How the models were trained, and what that took, for each seed."""
        train, budget, device = self.experiment.train, self.budget, self.processes.device
        # without the seconds: a training that was interrupted ends with the same file
        counted = budget and {"words": budget.words, "tokens": budget.tokens, "labels": budget.labels}
        parameters = sum(p.numel() for p in self.model.parameters()) // len(train.seeds)
        return {
            "precision": train.precision,
            "tf32": train.tf32,
            "backend": choose_backend("auto", device),
            "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
            "steps": train.steps,
            "budget": counted,
            "parameters": parameters,
            "state": state_count(self.model.config),
        }

    def _averaged(self) -> AbstractContextManager[None]:
        """The context in which the model has the averaged weights, if the training averages them."""
        return nullcontext() if self.average is None else self.average.in_place()

    def _precisions(self) -> list[Precision]:
        """The arithmetics of a test; under several processes the model computes in the one of its training only."""
        if self.processes.accelerator is not None:
            return [self.experiment.train.precision]
        return self.experiment.test_precisions()

    def _test(self, precision: Precision, progress: Progress | None = None) -> Evaluation:
        test, task = self.experiment.eval, self.task
        matmul = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("highest")  # a test in fp32 is none in TF32
        model = (
            cast(Model, self.trained) if self.processes.sharded else self.model
        )  # FSDP passes attributes on
        try:
            return evaluate(
                model, task, longest_of(self.experiment.test_lengths(task)), words=test.words, seed=test.seed,
                autocast=torch.bfloat16 if precision == "bf16" else None, progress=progress,
            )  # fmt: skip
        finally:
            torch.set_float32_matmul_precision(matmul)

    def _autocast(self) -> Any:
        """accelerate brings its own."""
        if self.processes.autocast is None or self.processes.accelerator is not None:
            return nullcontext()
        return torch.autocast(self.processes.device.type, self.processes.autocast)
