"""`evaluate_folder`: `mirrormata eval` of a model folder, or of all seeds of a training's folder.

With `memory` each model is tested again with a `ShortMemory` in place of some layers, which then begin anew every few letters:
that shows which layer's memory the answers need, and which one's harms them.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
import torch
from torch import Tensor, nn

from ..foundation._errors import InputError
from ..foundation._files import is_file, is_folder, path_of, shown_path
from ..foundation._text import count_noun, html_table, one_line
from ._evaluation import Evaluation, evaluate, length_text, longest_of
from ._evaluation_arguments import check_evaluation_arguments, check_model_place
from ._model import Block, Model, state_count
from ._model_file import Imported, load_model, read_model_config
from .layers._seeded import ReadsFirst, State
from .tasks._automaton import AutomatonTask
from .tasks._contract import TaskContract, read_contract
from .tasks._kinds import task_from_settings
from .tasks._language import LanguageTask
from .tasks._task import Span, Task
from .tasks._tokens import TokenTask
from .tasks._word_problem_data import read_word_problem_rows
from .training._averaging import Weights
from .training._processes import device_of

RUNS = 5
"""Runs of a mixer that cover every token."""


class ShortMemory(ReadsFirst):
    """A mixer that sees the last `letters` tokens at most, as if a word began there, and at least about four fifths of them.

    It begins anew every `step` tokens, and for each of them has read up to `span`, a multiple of `step`. What a mixer leaves of a token
    for later layers, or reads of it, goes with the token.
    """

    def __init__(self, mixer: nn.Module, letters: int) -> None:
        super().__init__()
        self.mixer = mixer
        self.step = max(1, letters // RUNS)
        self.span = letters - letters % self.step

    def forward(
        self, x: Tensor, state: State | None = None, first: State | None = None
    ) -> tuple[Tensor, State]:
        """As the mixer's `forward`. The state is the tokens before x that later ones may see, from a multiple of `step` on."""
        reads_first = first is not None and isinstance(self.mixer, ReadsFirst)
        inputs = State(x=x, **first) if reads_first and first else State(x=x)
        read = {name: torch.cat([state[name], new], 2) for name, new in inputs.items()} if state else inputs
        tokens, new = read["x"].shape[2], x.shape[2]
        before = tokens - new
        outputs: list[State] = []
        for start in range(before - before % self.step, tokens, self.step):
            begin = self._beginning(start)
            run = {name: value[:, :, begin : start + self.step] for name, value in read.items()}
            seen = run.pop("x")
            # a first layer fills `run`, a later one finds there what the first has left
            y, _ = self.mixer(seen, None, run) if reads_first else self.mixer(seen, None)
            outputs.append(
                {name: value[:, :, max(start, before) - begin :] for name, value in {"y": y, **run}.items()}
            )
        joined = {name: torch.cat([part[name] for part in outputs], 2) for name in outputs[0]}
        y = joined.pop("y")
        if first is not None:
            first.update(joined)
        kept = self._beginning(tokens - tokens % self.step)
        return y, {name: value[:, :, kept:] for name, value in read.items()}

    def _beginning(self, start: int) -> int:
        """Where the run begins that covers the `step` tokens from `start` on."""
        return max(start + self.step - self.span, 0)


def with_short_memory(model: Model, layers: Sequence[int], letters: int) -> Model:
    """A copy whose mixers of these layers, from 0, have a `ShortMemory`; `InputError` for no letters."""
    if letters < 1:
        raise InputError(f"`memory` {letters}: give the letters that layers may remember, at least 1")
    copied = copy.deepcopy(model)
    for i in layers:
        block = copied.blocks[i]
        assert isinstance(block, Block)
        block.mixer = ShortMemory(block.mixer, letters)
    return copied


def layers_to_shorten(layers: int) -> list[tuple[int, ...]]:
    """Every layer alone, then the lowest two, the lowest three, ... but not all of several."""
    alone = [(i,) for i in range(layers)]
    return alone + [tuple(range(n)) for n in range(2, layers)]


@dataclass(frozen=True, repr=False)
class FolderEvaluation:
    """The results of testing the models in a folder at the requested lengths.

    Attributes:
        folder: the path, as it was given.
        contract: the contract of the task that was tested.
        lengths: numbers of letters, or spans over whose lengths figures are averaged.
        seen: the results of the unchanged models.
        memory: the number of letters to which the memory of layers was limited, at least 1; None if it was not.
        shortened: pairs of layers, counted from 0, and the results with their memory limited; empty without `memory`.
        weights: `last` for the weights after the last step of a training (or of no training), `average` for their moving average.
        parameters: the number of parameters of a model.
        state: how many numbers a model keeps from one token to the next; None where the state grows with the word.
        part: what of a checkpoint the model is, in words; empty where it is the whole.
        imported: which checkpoint of another library the model was read from; None for none.
        layers: the number of layers of a model.
        family: the family of its layers.
    """

    folder: str
    contract: TaskContract
    lengths: tuple[int | Span, ...]
    seen: Evaluation
    memory: int | None = None
    shortened: tuple[tuple[tuple[int, ...], Evaluation], ...] = ()
    weights: Weights = "last"
    parameters: int = 0
    state: int | None = None
    part: str = ""
    imported: Imported | None = None
    layers: int = 0
    family: str = ""

    def facts(self) -> list[tuple[str, str]]:
        """What is to be known beside the figures, as rows of a table: of a training its contract, of an import its source.

        Returns:
            Labels and texts.
        """
        if self.imported is None:
            return self.contract.rows()[1:]
        return [
            ("source", self.imported.source),
            ("type", f"{self.imported.type}, read as the family {self.family}"),
            ("layers", f"{self.layers:,}"),
            ("parameters", f"{self.parameters:,}"),
            *self.contract.reading_rows(),
        ]

    def as_json(self) -> dict[str, Any]:
        """Return the results as plain values for JSON; layers are counted from 1.

        Returns:
            Plain values for JSON: what `mirrormata eval` found.
        """
        facts = {
            "folder": self.folder, "contract": self.contract.as_json(), "weights": self.weights,
            "parameters": self.parameters, "state": self.state, **self.seen.as_json(self.lengths),
        }  # fmt: skip
        if self.part:
            facts["part"] = self.part
        if self.imported is not None:
            facts["imported"] = {
                "source": self.imported.source, "type": self.imported.type, "family": self.family, "layers": self.layers,
            }  # fmt: skip
        if self.memory is not None:
            facts["memory"] = {
                "letters": self.memory,
                "shortened": [
                    {"layers": [i + 1 for i in layers], **seen.as_json(self.lengths)}
                    for layers, seen in self.shortened
                ],
            }
        return facts

    def rows(self) -> list[tuple[str, ...]]:
        """A table, its headings first: the accuracy of each seed at each length.

        Returns:
            Cells as texts.
        """
        table: list[tuple[str, ...]] = [("seed", *(length_text(x) for x in self.lengths))]
        columns = [self.seen.accuracy(x) for x in self.lengths]
        for seed, *row in zip(self.seen.seeds, *columns, strict=True):
            table.append((str(seed), *("not asked" if x is None else f"{x:.4g}" for x in row)))
        return table

    def __repr__(self) -> str:
        return one_line(
            self, f"{self.folder}, {self.contract.task}, {count_noun(len(self.seen.seeds), 'seed')}"
        )

    def _repr_html_(self) -> str:
        headings, *rows = self.rows()
        return html_table(f"{self.folder}: accuracy by length, {self.contract.task}", rows, headings)


def evaluate_folder(
    folder: str | Path,
    *,
    lengths: Sequence[int | Span] | None = None,
    words: int = 256,
    seed: int = 0,
    data: str | None = None,
    group: str | None = None,
    chunk: int = 1024,
    device: str = "auto",
    precision: Literal["fp32", "bf16"] = "fp32",
    memory: int | None = None,
    weights: Weights | None = None,
    progress: Callable[[float], None] | None = None,
) -> FolderEvaluation:
    """Test every model in a folder on the same words.

    Args:
        folder: a model folder, or the folder that `train` wrote, whose models are in `seed-0`, ....
        lengths: numbers of letters, or spans over whose lengths figures are averaged; by default those of the folder's task.
        words: the number of random words.
        seed: the seed of the random words.
        data: a word-problem CSV whose rows are the words; for a language model a file or folder of text, or
            of token files by the same tokenizer, whose test part is taken.
        group: the group of the CSV file, if the file's name does not contain it.
        chunk: the number of tokens in memory at once, at least 2.
        device: `auto` (the first GPU, else the CPU), `cpu`, `cuda`, `cuda:1`, ....
        precision: `fp32`, or `bf16` by autocast.
        memory: test again with the memory of each layer, and of the lowest layers together, limited to at most this many letters
            (`ShortMemory`); None for no such test.
        weights: `average` for the moving average of the weights that a training with `train.ema` has kept, `last` for those after its
            last step; None for those of the folder, which are the average where there is one.
        progress: called with the fraction of the work that is done.

    Returns:
        The results for each seed.

    Raises:
        InputError: there is no model, a file is wrong, or an argument does not fit the task.
        LimitError: the words are too many or too long for memory.
    """
    place, folder = path_of(folder, "folder"), str(folder)
    check_evaluation_arguments(
        folder, words=words, seed=seed, chunk=chunk, memory=memory, data=data, group=group, device=device
    )
    folders = _model_folders(place, weights)
    contract = read_contract(folders[0] / "task.json")
    task: Task = task_from_settings(contract.settings)
    if isinstance(task, LanguageTask):
        task, data = _text(task, contract, data), None
        contract = task.contract(contract.train_lengths, contract.test_lengths)
    chosen = tuple(lengths or task.protocol.test_lengths)
    if data is not None:
        if not isinstance(task, AutomatonTask):
            raise InputError(f"{data}: the model's task is no word problem")
        task = read_word_problem_rows(data, task, group=group)
        words, longest = task.rows.letters.shape
        chosen = tuple(lengths or (longest,))
        if longest_of(chosen) > longest:
            raise InputError(f"{data}: its rows have {longest} tokens, fewer than the lengths asked for")
    where, tested = device_of(device), []
    for i, one in enumerate(folders):  # one model at a time is in memory
        model, _ = load_model(one)
        if (model.config.letters, model.config.labels) != (task.letters, task.classes):
            raise InputError(f"{one}: its model has other letters or classes than the task in task.json")
        runs = [()] if memory is None else [(), *layers_to_shorten(model.config.layers)]
        tested.append(
            [
                evaluate(
                    (model if memory is None else with_short_memory(model, layers, memory)).to(where),
                    task, longest_of(chosen), words=words, seed=seed, chunk=chunk,
                    autocast=torch.bfloat16 if precision == "bf16" else None,
                    progress=None if progress is None else _share_progress(progress, i * len(runs) + j, len(folders) * len(runs)),
                )
                for j, layers in enumerate(runs)
            ]
        )  # fmt: skip
    seen, *shorter = (_join_evaluations(parts) for parts in zip(*tested, strict=True))
    written = read_model_config(folders[0] / "config.json")
    return FolderEvaluation(
        folder, contract, chosen, seen, memory, tuple(zip(runs[1:], shorter, strict=True)),
        written.weights, model.parameter_count, state_count(model.config), written.part,
        written.imported, model.config.layers, model.config.family,
    )  # fmt: skip


def _model_folders(place: Path, weights: Weights | None) -> list[Path]:
    """The model folders of a place: its own model, or those of all seeds; with the weights that are asked for."""
    single = is_file(place / "config.json")
    folders = [place] if single else sorted(place.glob("seed-*"), key=_number)
    if not folders:
        check_model_place(str(place))  # which refuses it
    kinds = {read_model_config(one / "config.json").weights for one in folders}
    if (weights is None and len(kinds) == 1) or kinds == {weights}:
        return folders
    last = place.parent / "last" / place.name if single else place / "last"
    if weights == "last" and is_folder(last):
        return _model_folders(last, "last")
    if weights == "average":
        why = "its models are the weights after the last step; train.ema in a training keeps their average"
    elif weights == "last":
        why = f"its models are averages of weights, and there is no folder {shown_path(last)} with those after the last step"
    else:
        why = "some of its models are averages of weights and some are not; test them one by one"
    raise InputError(f"{shown_path(place)}: {why}")


def _join_evaluations(parts: Sequence[Evaluation]) -> Evaluation:
    """Models of a folder, tested on the same words."""
    first = parts[0]
    return replace(
        first,
        seeds=tuple(p.seeds[0] for p in parts),
        right=np.concatenate([p.right for p in parts]),
        first_failure=np.concatenate([p.first_failure for p in parts]),
        bits=None if first.bits is None else np.concatenate([p.bits for p in parts if p.bits is not None]),
    )


def _text(task: LanguageTask, contract: TaskContract, data: str | None) -> LanguageTask:
    """The task with the text to test on: that of the training, which must be the same here, or all of `data`."""
    if data is not None and isinstance(task, TokenTask):
        other = TokenTask(msgspec.structs.replace(task.settings, spec=f"tokens:{data}", vocabulary=None))
        if (found := f"tokenizer {other.corpus.header.tokenizer[:16]},") not in contract.words:
            raise InputError(f"{data}: its {found[:-1]} is not that of the training ({contract.words})")
        return other
    if data is not None:
        settings = msgspec.structs.replace(task.settings, spec=f"text:{data}", sha256=None)
        return LanguageTask(settings, whole=True)
    if (now := task.contract(contract.train_lengths, contract.test_lengths).words) != contract.words:
        raise InputError(f"{contract.task}: its text is another here ({now}); give a text by `data`")
    return task


def _number(path: Path) -> int:
    digits = path.name.removeprefix("seed-")
    return int(digits) if re.fullmatch("[0-9]{1,18}", digits) else -1


def _share_progress(progress: Callable[[float], None], part: int, parts: int) -> Callable[[float], None]:
    return lambda share: progress((part + share) / parts)
