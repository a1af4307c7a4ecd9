"""Tests of a model: accuracy or bits at every position, words right so far, first failures, the longest good length.

A test word's prefixes are test words too: one long run, carried chunk by chunk with the model's states, answers for
all lengths, since all models are causal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from ..foundation._errors import LimitError
from ..foundation._text import count_noun, html_table, one_line
from ..kernels._backends import choose_backend
from ._config import ModelConfig
from ._families import find_family
from ._model import Model, States
from .tasks._contract import scaled_accuracy
from .tasks._language import LanguageTask
from .tasks._sampling import IGNORED, Array
from .tasks._task import Span, Task

GOOD = 0.9
"""Accuracy that counts as working: the papers' `longest length ≥ 90 %`."""
MOST_ENTRIES = 2**28
"""Numbers in one tensor of a test: a gigabyte of float32, of which a scan has a few."""


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """The results of a test at every position, for every seed.

    Attributes:
        seeds: the seed of each model.
        words: the number of words that were tested, at least 1.
        chance: the accuracy of guessing, 1 / classes.
        right: number of words with the right label at each position, int `[seeds, length]`.
        asked: number of words that have a label at each position, int `[length]`.
        first_failure: number of letters read before the first wrong label, int `[seeds, words]`; the length if there is none.
        bits: the sum of -log2 of the probabilities of all labels at each position, float `[seeds, length]`; only for text.
        precision: the arithmetic of the test: `fp32`, or `bf16` or `fp16` by autocast.
        backend: what computed the recurrences, `triton` or `torch`; empty if that is not known.
        device: the device, as torch names it; empty if that is not known.
        whole_words: whether each word has a length of its own and one label, at its end. Then figures at a length are those of the words
            of this length, and figures of a span those of all its words together.
    """

    seeds: tuple[int, ...]
    words: int
    chance: float
    right: Array
    asked: Array
    first_failure: Array
    bits: Array | None = None
    precision: str = "fp32"
    backend: str = ""
    device: str = ""
    whole_words: bool = False

    @property
    def length(self) -> int:
        """The number of letters of each word."""
        return len(self.asked)

    def accuracy(self, lengths: int | Span) -> list[float | None]:
        """Compute the fraction of right answers for each seed.

        Args:
            lengths: a position from 1 to `length`, which is the last label of words of this length, or a span, over which
                the result is averaged.

        Returns:
            For each seed a fraction from 0 to 1; None if there were no labels.
        """
        low, high = (lengths, lengths) if isinstance(lengths, int) else lengths
        asked = self.asked[low - 1 : high]
        there = asked > 0
        if not there.any():
            return [None] * len(self.seeds)
        if self.whole_words:
            return [float(x) for x in self.right[:, low - 1 : high].sum(1) / asked.sum()]
        shares = self.right[:, low - 1 : high][:, there] / asked[there]
        return [float(x) for x in shares.mean(1)]

    def bits_per_label(self, lengths: int | Span) -> list[float | None]:
        """Compute the mean of -log2 of the probabilities of the labels for each seed.

        Args:
            lengths: a position from 1 to `length`, or a span, over whose labels the result is averaged.

        Returns:
            For each seed the bits, at least 0; None if there were no labels, the mean is not finite, or the task is not text.
        """
        low, high = (lengths, lengths) if isinstance(lengths, int) else lengths
        asked = self.asked[low - 1 : high].sum()
        if self.bits is None or not asked:
            return [None] * len(self.seeds)
        means = self.bits[:, low - 1 : high].sum(1) / asked
        return [float(x) if math.isfinite(x) else None for x in means]

    def words_at(self, lengths: int | Span) -> int:
        """Count the words that are asked at a length, or within a span.

        Args:
            lengths: a position from 1 to `length`, or a span.

        Returns:
            The number of words; where every prefix is asked, a word counts once for a span.
        """
        low, high = (lengths, lengths) if isinstance(lengths, int) else lengths
        asked = self.asked[low - 1 : high]
        return int(asked.sum() if self.whole_words else asked.max(initial=0))

    def exact(self, length: int) -> list[float]:
        """Compute the fraction of words with all labels right up to a length, for each seed.

        Args:
            length: a number of letters from 1 to the attribute `length`.

        Returns:
            For each seed a fraction from 0 to 1; where only whole words are asked, of the words up to this length.
        """
        if self.whole_words:
            return [0.0 if x is None else x for x in self.accuracy((1, length))]
        return [float(x) for x in (self.first_failure >= length).mean(1)]

    def longest(self, least: float = GOOD) -> list[int]:
        """Find the longest length up to which the accuracy at every position is good, for each seed.

        Where only whole words are asked, the accuracy is that of the words of more than half of the length and at most the length, since
        few words have the same one.

        Args:
            least: the accuracy that counts as good, a fraction from 0 to 1.

        Returns:
            For each seed a length from 0 to `length`, in letters.
        """
        shares = self.right / np.maximum(self.asked, 1)
        if self.whole_words:
            sums = (
                np.pad(np.cumsum(x, -1), [(0, 0)] * (x.ndim - 1) + [(1, 0)]) for x in (self.right, self.asked)
            )
            ends, starts = np.arange(1, self.length + 1), np.arange(1, self.length + 1) // 2
            right, asked = (x[..., ends] - x[..., starts] for x in sums)
            shares = np.where(asked > 0, right / np.maximum(asked, 1), 1.0)
        good = (shares >= least) | (self.asked == 0)
        return [self.length if row.all() else int(np.argmin(row)) for row in good]

    def rows(self) -> list[tuple[str, str]]:
        """Summarise the results of each seed over the whole length, as rows of a table.

        Returns:
            A label and a text for each seed.
        """
        figures = zip(
            self.seeds, self.accuracy(self.length), self.exact(self.length), self.longest(), strict=True
        )
        return [
            (
                f"seed {seed}",
                f"accuracy {_figure(accuracy)} at letter {self.length:,}, {exact:.4g} of the words all right, "
                f"at least {GOOD:g} up to letter {longest:,}",
            )
            for seed, accuracy, exact, longest in figures
        ]

    def __repr__(self) -> str:
        accuracy = ", ".join(_figure(x) for x in self.accuracy(self.length))
        return one_line(
            self,
            f"{count_noun(self.words, 'word')} of {count_noun(self.length, 'letter')}, accuracy {accuracy} by seed",
        )

    def _repr_html_(self) -> str:
        title = f"{count_noun(self.words, 'word')} of {count_noun(self.length, 'letter')}, chance {self.chance:.4g}"
        return html_table(title, self.rows())

    def as_json(self, lengths: Sequence[int | Span], trained: Span | None = None) -> dict[str, Any]:
        """Return the figures of each seed at some lengths, and curves with up to 20 positions per octave.

        Args:
            lengths: positions from 1 to `length`, or spans.
            trained: the lengths of the shortest and longest training word, whose figures are then part of it; None for none.

        Returns:
            Plain values, as `result.json` has them.
        """
        if trained is not None:
            trained = min(trained[0], self.length), min(trained[1], self.length)
        positions = sorted(
            {
                min(self.length, round(2 ** (i / 20)))
                for i in range(1 + math.ceil(20 * math.log2(self.length)))
            }
        )
        accuracy = {length_text(x): self.accuracy(x) for x in lengths}
        failures = [sorted(int(x) for x in row if x < self.length) for row in self.first_failure]
        result: dict[str, Any] = {
            "precision": self.precision,
            "backend": self.backend,
            "device": self.device,
            "seeds": list(self.seeds),
            "words": self.words,
            "length": self.length,
            "chance": self.chance,
            "whole_words": self.whole_words,
            "words_at": {length_text(x): self.words_at(x) for x in lengths},
            "accuracy": accuracy,
            "scaled_accuracy": {
                key: [None if x is None else scaled_accuracy(x, self.chance) for x in row]
                for key, row in accuracy.items()
            },
            "exact": {length_text(x): self.exact(x if isinstance(x, int) else x[1]) for x in lengths},
            "longest_90": self.longest(),
            "first_failure": [
                {"words": len(row), "least": row[0] + 1, "median": median(row) + 1} if row else None
                for row in failures
            ],
            "curve": {
                "positions": positions,
                "accuracy": _columns([self.accuracy(p) for p in positions]),
                "exact": _columns([self.exact(p) for p in positions]),
            },
        }
        if trained is not None:
            shares = self.accuracy(trained)
            result["trained"] = {
                "lengths": list(trained),
                "accuracy": shares,
                "scaled_accuracy": [None if x is None else scaled_accuracy(x, self.chance) for x in shares],
                "exact": self.exact(trained[1]),
            }
        if self.bits is not None:
            bits = {length_text(x): self.bits_per_label(x) for x in lengths}
            result["bits"] = bits
            if trained is not None:
                result["trained"]["bits"] = self.bits_per_label(trained)
            result["perplexity"] = {
                key: [None if x is None else 2**x for x in row] for key, row in bits.items()
            }
            spans = [(a + 1, b) for a, b in pairwise([0, *positions])]
            result["curve"]["bits"] = _columns([self.bits_per_label(span) for span in spans])
        return result


def evaluate(
    model: Model,
    task: Task,
    length: int,
    *,
    words: int = 256,
    seed: int = 0,
    chunk: int = 1024,
    autocast: torch.dtype | None = None,
    progress: Callable[[float], None] | None = None,
) -> Evaluation:
    """Test all seeds of a model on the same `words` random words of `length` letters.

    Args:
        model: one model, or several seeds side by side, on any device.
        task: the task that provides the words and labels.
        length: the number of letters of each word, BOS not counted.
        words: the number of words.
        seed: the seed of the words, which depend only on it.
        chunk: the number of tokens that are in memory at once, at least 2; fewer are used if the layers would write out more than
            `MOST_ENTRIES` numbers for them. States are carried from one chunk to the next.
        autocast: the dtype of autocast; None for no autocast.
        progress: called with the fraction of the letters that is done.

    Returns:
        The results at every position, for every seed.

    Raises:
        LimitError: the words are too many or too long (`check_size`).

    Examples:
        >>> from mirrormata import construct
        >>> from mirrormata.models import from_construction, task_from_settings
        >>> task = task_from_settings({"spec": "parity", "bos": False})
        >>> evaluate(from_construction(construct("parity")), task, 100, words=8).accuracy(100)
        [1.0]
    """
    check_size(model.config, len(model.seeds), words, length)
    device = next(model.parameters()).device
    replicas = len(model.seeds)
    right, asked = np.zeros((replicas, length), dtype=np.int64), np.zeros(length, dtype=np.int64)
    failure = np.full((replicas, words), length, dtype=np.int64)
    bits = np.zeros((replicas, length)) if isinstance(task, LanguageTask) else None
    written = find_family(model.config.family).written_out(model.config)
    if model.config.classes > 1 << 10:  # logits of large vocabularies
        written = max(written, model.config.classes)
    if per_token := written * replicas * words:
        chunk = max(2, min(chunk, MOST_ENTRIES // per_token))
    states: States | None = None
    done = 0
    was_training = model.training
    model.eval()
    try:
        for batch in task.stream(seed, words, length):
            first = done == 0 and task.bos
            for start in range(0, batch.letters.shape[1], chunk):
                letters = torch.from_numpy(np.ascontiguousarray(batch.letters[:, start : start + chunk]))
                with torch.no_grad(), torch.autocast(device.type, autocast, enabled=autocast is not None):
                    logits, states = model(letters.to(device, torch.int64)[None], states)
                labels = batch.labels[:, start : start + chunk]
                if first and start == 0:
                    logits, labels = logits[:, :, 1:], labels[:, 1:]
                tokens = labels.shape[1]
                there = labels != IGNORED
                # a seed whose logits are not finite answers nothing
                finite = torch.isfinite(logits).all(-1).cpu().numpy()
                good = (model.answers(logits).cpu().numpy() == labels) & finite
                right[:, done : done + tokens] = (good & there).sum(1)
                asked[done : done + tokens] = there.sum(0)
                if bits is not None:
                    bits[:, done : done + tokens] = _bits(logits, labels)
                wrong = ~good & there
                at = np.where(wrong.any(2), done + wrong.argmax(2), length)
                failure = np.minimum(failure, at)
                done += tokens
                if progress is not None:
                    progress(done / length)
    finally:  # `progress` may raise
        model.train(was_training)
    return Evaluation(
        model.seeds, words, 1 / max(task.classes, 1), right, asked, failure, bits,
        precision=PRECISIONS[autocast], backend=choose_backend("auto", device), device=_describe_device(device),
        whole_words=task.own_lengths,
    )  # fmt: skip


PRECISIONS = {None: "fp32", torch.bfloat16: "bf16", torch.float16: "fp16"}
"""Arithmetics of a test, by the dtype of autocast."""


def _describe_device(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


def check_size(config: ModelConfig, replicas: int, words: int, length: int) -> None:
    """`LimitError` for words of which a token, or lengths of which the figures, have more than `MOST_ENTRIES` numbers."""
    most = MOST_ENTRIES // replicas
    written_out = find_family(config.family).written_out(config)
    most_words = most // max(config.width, written_out, 1)
    if length > most or words > most_words:
        raise LimitError(
            f"eval: {words:,} words of {length:,} letters are too many for memory; this model reads at most {most_words:,} words "
            f"side by side, and figures are kept for {most:,} letters: test fewer or shorter ones"
        )


def _bits(logits: Tensor, labels: Array) -> Array:
    """Bits of all words' labels at each token, `[replicas, tokens]`; logits `[replicas, words, tokens, classes]`."""
    replicas, words, tokens, _ = logits.shape
    wanted = torch.from_numpy(labels.astype(np.int64)).to(logits.device).expand(replicas, -1, -1)
    nats = F.cross_entropy(
        logits.float().flatten(0, 2), wanted.flatten(), ignore_index=IGNORED, reduction="none"
    )
    found: Array = (nats.view(replicas, words, tokens).double().sum(1) / math.log(2)).cpu().numpy()
    return found


def length_text(length: int | Span) -> str:
    """512, or 40-256."""
    return str(length) if isinstance(length, int) else f"{length[0]}-{length[1]}"


def longest_of(lengths: Sequence[int | Span]) -> int:
    """The longest of these lengths: how long test words must be."""
    return max(x if isinstance(x, int) else x[1] for x in lengths)


def _figure(accuracy: float | None) -> str:
    return "not asked" if accuracy is None else f"{accuracy:.4g}"


def _columns(rows: list[list[Any]]) -> list[list[Any]]:
    """By seed instead of by position; four digits are enough for a curve."""
    return [[None if x is None else round(x, 4) for x in column] for column in zip(*rows, strict=True)]
