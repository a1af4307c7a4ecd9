"""`estimate_training`: parameters, memory, floating-point operations and tokens of a training, without training and without its memory."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import torch

from ...foundation._errors import InputError
from ...foundation._text import count_noun, html_table, one_line
from ...kernels._backends import triton_installed
from .._config import ModelConfig
from .._model import Block, Model, model_on_meta, state_count
from ._experiment import Experiment
from ._flops import Flops, count_flops
from ._kept import Kept, measure_kept
from ._memory import BYTES_A_NUMBER
from ._processes import divided_dimension
from ._start import PARTS, freeze_parts, modules_of


@dataclass(frozen=True)
class MemoryEstimate:
    """Bytes of one process, of that which has most.

    Attributes:
        parameters: the weights, in float32; under FSDP the process's shards.
        gradients: as much for all weights that are trained.
        optimizer: Adam's two averages of these, and the number of steps of each tensor.
        average: the moving average of the weights; 0 without `train.ema`.
        gathered: under FSDP, whole weights and gradients of what lies around the blocks and of one block, and the weights of the next block,
            which is gathered meanwhile; else 0.
        activations: what is kept for the gradients when the backward pass begins.
        loss: the gradient of the logits, which is there at the same time.
    """

    parameters: int
    gradients: int
    optimizer: int
    average: int
    gathered: int
    activations: int
    loss: int

    @property
    def total(self) -> int:
        """All of them."""
        return sum(asdict(self).values())


@dataclass(frozen=True, repr=False)
class TrainingEstimate:
    """What a training needs.

    Attributes:
        name: of the experiment.
        config: the configuration of the model, with the letters and classes of the task.
        seeds: models side by side.
        processes: processes that share the model by FSDP; 1 for a single one.
        device: `cpu` or `cuda`, for which memory is counted.
        backend: `triton` or `torch`, by which the recurrences run.
        parts: parameters of one seed by part: embedding, mixers, mlps, norms, read_out.
        trained: parameters of one seed that are not frozen.
        state: how many numbers a model keeps from one token to the next; None where that grows with the word.
        words: words of a step for each seed.
        accumulate: parts into which they are divided, one after the other.
        checkpointing: whether blocks are computed again for the gradients.
        tokens: tokens of a word of the longest length.
        steps: the number of steps.
        memory: bytes of one process.
        flops: operations for each token.
    """

    name: str
    config: ModelConfig
    seeds: int
    processes: int
    device: str
    backend: str
    parts: dict[str, int]
    trained: int
    state: int | None
    words: int
    accumulate: int
    checkpointing: bool
    tokens: int
    steps: int
    memory: MemoryEstimate
    flops: Flops

    @property
    def parameters(self) -> int:
        """Parameters of one seed."""
        return sum(self.parts.values())

    @property
    def tokens_a_step(self) -> int:
        """Tokens of all seeds' words, where all have the longest length."""
        return self.seeds * self.words * self.tokens

    @property
    def tokens_of_training(self) -> int:
        """Tokens of all steps."""
        return self.steps * self.tokens_a_step

    def as_json(self) -> dict[str, Any]:
        """Return the figures as plain values for JSON; bytes in `memory`, operations in `flops`.

        Returns:
            A dictionary, one entry for each section of the table.
        """
        flops = {**asdict(self.flops), "forward": self.flops.forward, "total": self.flops.total}
        return {
            "experiment": self.name, "family": self.config.family, "seeds": self.seeds, "processes": self.processes,
            "device": self.device, "backend": self.backend, "checkpointing": self.checkpointing,
            "parameters": {**self.parts, "total": self.parameters, "trained": self.trained},
            "state": {"numbers": self.state, "bytes": None if self.state is None else BYTES_A_NUMBER * self.state},
            "tokens": {
                "words": self.words, "accumulate": self.accumulate, "length": self.tokens, "step": self.tokens_a_step, "steps": self.steps,
                "training": self.tokens_of_training,
            },
            "memory": {**asdict(self.memory), "total": self.memory.total},
            "flops": {
                "token": flops,
                "step": {name: flops[name] * self.tokens_a_step for name in ("forward", "backward", "recomputed", "total")},
                "training": self.tokens_of_training * self.flops.total,
            },
        }  # fmt: skip

    def tables(self) -> list[tuple[str, list[tuple[str, str]]]]:
        """The figures as tables.

        Returns:
            For each table its title, and labels and texts.
        """
        memory, flops = self.memory, self.flops
        each = "" if self.seeds == 1 else " of each seed"
        shared = "" if self.processes == 1 else f" of each of {self.processes:,} processes under FSDP"
        state = "grows with the word" if self.state is None else f"{self.state:,} numbers"
        place = "a GPU" if self.device == "cuda" else "a CPU"
        again = ", blocks computed again for the gradients" if self.checkpointing else ""
        recurrence = "not counted" if flops.recurrence is None else _count(flops.recurrence)
        return [
            (
                f"{self.config.family}, {count_noun(self.config.layers, 'layer')}: parameters{each}",
                [
                    *((name.replace("_", "-"), f"{number:,}") for name, number in self.parts.items()),
                    ("all", f"{self.parameters:,}"),
                    *([("trained", f"{self.trained:,}")] if self.trained != self.parameters else []),
                    ("state", state),
                ],
            ),
            (
                f"memory{shared} on {place}, {self.backend}{again}",
                [
                    ("parameters", _bytes(memory.parameters)),
                    ("gradients", _bytes(memory.gradients)),
                    ("optimizer", _bytes(memory.optimizer)),
                    *([("average", _bytes(memory.average))] if memory.average else []),
                    *([("gathered", _bytes(memory.gathered))] if memory.gathered else []),
                    ("activations", _bytes(memory.activations)),
                    ("gradient of logits", _bytes(memory.loss)),
                    ("all", _bytes(memory.total)),
                ],
            ),
            (
                "operations",
                [
                    ("linear maps", f"{_count(flops.linear)} a token"),
                    ("read-out", f"{_count(flops.read_out)} a token"),
                    *(
                        [("convolutions", f"{_count(flops.convolution)} a token")]
                        if flops.convolution
                        else []
                    ),
                    ("recurrences", recurrence if flops.recurrence is None else f"{recurrence} a token"),
                    *(
                        (name, f"{_count(number)} a token, {_count(number * self.tokens_a_step)} a step")
                        for name, number in (
                            ("forward", flops.forward),
                            ("backward", flops.backward),
                            ("computed again", flops.recomputed),
                            ("all", flops.total),
                        )
                        if number
                    ),
                    ("all steps", _count(flops.total * self.tokens_of_training)),
                ],
            ),
            (
                "tokens",
                [
                    (
                        "a step",
                        f"{self.tokens_a_step:,}: {count_noun(self.words, 'word')} of {self.tokens:,}{each}",
                    ),
                    *(
                        [
                            (
                                "at a time",
                                f"{count_noun(-(-self.words // self.accumulate), 'word')}, since train.accumulate is {self.accumulate:,}",
                            )
                        ]
                        if self.accumulate > 1
                        else []
                    ),
                    ("all steps", f"{self.tokens_of_training:,} in {self.steps:,}"),
                ],
            ),
        ]

    def rows(self) -> list[tuple[str, str]]:
        """All tables as one.

        Returns:
            Labels and texts.
        """
        return [(f"{title}: {label}", text) for title, rows in self.tables() for label, text in rows]

    def __repr__(self) -> str:
        return one_line(
            self, f"{self.name}, {self.parameters:,} parameters, {_bytes(self.memory.total)}, {_count(self.flops.total)} operations a token"
        )  # fmt: skip

    def _repr_html_(self) -> str:
        return html_table(self.name, self.rows())


def estimate_training(
    experiment: Experiment, *, processes: int = 1, name: str = "training"
) -> TrainingEstimate:
    """Count what a training needs, from shapes alone: a model of billions of parameters takes seconds and little memory.

    Args:
        experiment: the task, the model and the settings (`read_experiment`, `experiment_from_dict`). The device `cuda` need not be there:
            then memory and backend are those of a GPU.
        processes: how many processes share the model by FSDP, at least 1.
        name: of the experiment, for texts.

    Returns:
        The figures.

    Raises:
        InputError: `processes` is below 1, above the number of words, or FSDP is asked for with several seeds; or an entry of the experiment is wrong.

    Examples:
        >>> from mirrormata.models import experiment_from_dict
        >>> estimate_training(experiment_from_dict({"task": {"spec": "parity"}}, "call")).parts["embedding"]
        384
    """
    train, task = experiment.train, experiment.build_task()
    config = experiment.config(task)
    if processes < 1:
        raise InputError(f"`processes` is {processes}: at least 1 is needed")
    if processes > 1 and len(train.seeds) > 1:
        raise InputError("`processes`: FSDP shards one model; give one seed")
    if train.batch < processes * train.accumulate:
        raise InputError(
            f"train.batch is {train.batch:,}: fewer words than the {processes * train.accumulate:,} parts into which all processes divide it"
        )
    kind = train.device.partition(":")[0]
    gpu = torch.cuda.is_available() if kind == "auto" else kind == "cuda"
    kernels = gpu and triton_installed()
    model = model_on_meta(config)
    freeze_parts(model, experiment.start.frozen)
    longest = experiment.train_lengths(task)[1]
    tokens = longest + task.bos
    words = -(-train.batch // processes // train.accumulate)
    kept = measure_kept(
        config, len(train.seeds), words, tokens, train.precision, labels=task.classes, label_smoothing=train.label_smoothing,
        kernels=kernels,
    )  # fmt: skip
    logits = BYTES_A_NUMBER * len(train.seeds) * words * tokens * config.classes
    return TrainingEstimate(
        name=name,
        config=config,
        seeds=len(train.seeds),
        processes=processes,
        device="cuda" if gpu else "cpu",
        backend="triton" if kernels else "torch",
        parts=_count_parts(model),
        trained=sum(p.numel() for p in model.parameters() if p.requires_grad),
        state=state_count(config),
        words=train.batch,
        accumulate=train.accumulate,
        checkpointing=train.checkpointing,
        tokens=tokens,
        steps=train.steps,
        memory=_count_memory(model, experiment, processes, kept, logits),
        flops=count_flops(model, tokens, checkpointing=train.checkpointing),
    )


def _count_parts(model: Model) -> dict[str, int]:
    """Parameters by part, each once: a read-out that has the embedding's weights adds none."""
    seen: set[int] = set()
    counts = {}
    for part in PARTS:
        own = {id(p): p.numel() for module in modules_of(model, part) for p in module.parameters()}
        counts[part] = sum(number for key, number in own.items() if key not in seen)
        seen |= set(own)
    if rest := sum(p.numel() for p in model.parameters() if id(p) not in seen):
        counts["other"] = rest
    return counts


def _count_memory(
    model: Model, experiment: Experiment, processes: int, kept: Kept, logits: int
) -> MemoryEstimate:
    train = experiment.train
    seeds = len(train.seeds)

    def share(parameter: torch.Tensor) -> int:
        """Numbers of the first process, whose shards are the largest."""
        size = parameter.shape[divided_dimension(parameter.shape, processes)]
        return parameter.numel() // size * -(-size // processes)

    parameters = list(model.parameters())
    trained = [p for p in parameters if p.requires_grad]
    own = BYTES_A_NUMBER * seeds * sum(map(share, parameters))
    mine = BYTES_A_NUMBER * seeds * sum(map(share, trained))
    blocks = [b for b in model.blocks if isinstance(b, Block)]
    largest = max((sum(p.numel() for p in b.parameters()) for b in blocks), default=0)
    around = sum(p.numel() for p in parameters) - sum(p.numel() for b in blocks for p in b.parameters())
    # weights and gradients of what is around and of a block, and the weights of the next
    gathered = (
        BYTES_A_NUMBER * (2 * around + 2 * largest + largest * (len(blocks) > 1)) if processes > 1 else 0
    )
    # a module that each seed has by itself has its tensors once for each seed
    tensors = len(trained) + (seeds - 1) * sum(
        p.requires_grad and ".by_seed." in name for name, p in model.named_parameters()
    )
    return MemoryEstimate(
        parameters=own,
        gradients=mine,
        optimizer=2 * mine + BYTES_A_NUMBER * tensors,
        average=mine if train.ema else 0,
        gathered=gathered,
        activations=kept.bytes(len(blocks), train.checkpointing),
        loss=logits,
    )


def _bytes(number: int) -> str:
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number} bytes"


def _count(number: int) -> str:
    for unit, size in (("10^18", 1e18), ("10^15", 1e15), ("10^12", 1e12), ("10^9", 1e9), ("10^6", 1e6)):
        if number >= size:
            return f"{number / size:.3g} · {unit}"
    return f"{number:,}"
