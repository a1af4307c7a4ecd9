"""The task's contract and the course of a training in a report: loss, accuracy and learning rate by step."""

from __future__ import annotations

from typing import Any

from .learned_trained import Trained
from .limits import SHARES
from .parts import Cell, Chart, Section, Series, Table


def task_section(place: Trained) -> Section:
    """The contract, and the settings of model and training as they stand in the file."""
    contract = Table(
        "learned-contract", "Task", "All that must agree before two results are compared.", ("entry", "value"),
        tuple(place.contract.rows()), "task.json",
    )  # fmt: skip
    rows = [(f"model.{key}", _plain(value)) for key, value in sorted(place.config.items())]
    if place.settings is not None:
        rows += [(f"train.{key}", _plain(value)) for key, value in sorted(place.settings["train"].items())]
    source = "config.json" if place.settings is None else "settings.json"
    settings = Table(
        "learned-settings",
        "Settings",
        "Entries of the model and, where known, of the training.",
        ("entry", "value"),
        tuple(rows),
        source,
    )
    text = "What the model was to learn, and with which settings."
    return Section("learned-task", "Task and settings", text, (contract, settings))


def training_section(place: Trained) -> Section:
    """Loss and accuracy of every seed, and the learning rate, at the logged steps."""
    slug, title = "learned-training", "Training"
    if place.settings is None:
        return Section(
            slug, title, "Not here: a model's folder alone does not have the course of its training.", ()
        )
    lines = [line for line in place.metrics if "loss" in line]
    if not lines:
        return Section(slug, title, "Not here: the training has logged no step yet.", ())
    steps = tuple(line["step"] for line in lines)
    seeds, total = place.seeds, place.settings["train"]["steps"]
    done = (
        "" if place.result is not None else f" It has not ended: {steps[-1]:,} of {total:,} steps are logged."
    )
    last = ", ".join("none" if (x := _number(loss)) is None else f"{x:.4g}" for loss in lines[-1]["loss"])
    charts = (
        _by_seed("loss", "Loss by step", "loss in nats", lines, seeds, f"At the last logged step {last} nats."),
        _by_seed(
            "accuracy", "Accuracy by step", "accuracy on the batch", lines, seeds,
            f"Of all labels of a batch; guessing would give {place.contract.chance:.3g}.",
        ),
        Chart(
            "learned-lr", "Learning rate", f"Largest {max(line['lr'] for line in lines):.3g}.", "step", "learning rate",
            (Series("learning rate", steps, tuple(line["lr"] for line in lines), "line"),), "metrics.jsonl",
        ),
    )  # fmt: skip
    count = f"{len(seeds)} seed{'s' if len(seeds) > 1 else ''}"
    text = (
        f"{count} side by side, {place.settings['train']['batch']:,} words of each in a step. Each logged step is one "
        f"batch, so the curves have the noise of a batch.{done}"
    )
    return Section(slug, title, text, charts)


def _by_seed(
    entry: str, title: str, label: str, lines: list[dict[str, Any]], seeds: tuple[int, ...], text: str
) -> Chart:
    steps = tuple(line["step"] for line in lines)
    series = tuple(
        Series(
            f"seed {seed}", steps, tuple(_number(line[entry][i]) for line in lines), "line", 4 + i,
            filters=(("seed", str(seed)),),
        )
        for i, seed in enumerate(seeds)
    )  # fmt: skip
    return Chart(
        f"learned-{entry}",
        title,
        f"A line for each seed. {text}",
        "step",
        label,
        series,
        "metrics.jsonl",
        y_range=SHARES if entry == "accuracy" else None,
    )


def _number(x: Any) -> float | None:
    """NaN, which a training that broke down writes, is no point."""
    return float(x) if isinstance(x, int | float) and abs(x) < float("inf") else None


def _plain(value: Any) -> Cell:
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return (", ".join(map(str, value)) or "none") if isinstance(value, list | tuple) else str(value)
