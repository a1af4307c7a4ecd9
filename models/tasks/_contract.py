"""`TaskContract`: all that a reader must know of a task to compare two results; printed and stored with each.

`Protocol` holds a paper's set-up (lengths, labels, supervision), from which a contract takes what the settings leave out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

from ...foundation._errors import InputError
from ...foundation._files import read_json, write_text
from ...foundation._text import count_noun, html_table, one_line
from .._records import record_of
from ._sampling import Labels, Words

Fidelity = Literal["same", "reconstruction", "extension"]
"""How true a task is to its source: its own set-up, one rebuilt where the source leaves details open, or a task that it does not have."""
Supervision = Literal["per_prefix", "last", "whole_words"]
"""Where there are labels: after every prefix; after the last letter of training words; or words of their own lengths, asked at their ends."""
FORMAT = "mirrormata-task/2"
FIRST_FORMAT = "mirrormata-task/1"
"""That of version 0.1, where the protocol `formal_language` was what `formal_language_prefix` is now."""


@dataclass(frozen=True, repr=False)
class TaskContract:
    """The contract of a task: what a reader must know to compare two results.

    Attributes:
        task: the name of the task.
        alphabet: the letters' texts; after them BOS and the end letter, if there are such.
        classes: the number of labels, at least 1.
        order: how words are read.
        labels: what the labels are: `state`, `output`, or a description.
        supervision: where there are labels: `per_prefix`, `last`, `whole_words`, or a description.
        bos: whether words begin with an extra letter, which has no label.
        words: how the words are drawn.
        held_out: pairs of letters, as texts, that training words do not have.
        train_lengths: shortest and longest training word, in letters, BOS not counted.
        test_lengths: the lengths of the test words in letters, as texts.
        fidelity: how closely the task follows its source: `same`, `reconstruction` or `extension`.
        source: where the task comes from; may be empty.
        chance: the accuracy of guessing, 1 / classes.
        settings: the settings from which the task can be built again (`task_from_settings`).
        end: the text of the extra letter at the end of every word, which the label belongs to; empty for none.
    """

    task: str
    alphabet: tuple[str, ...]
    classes: int
    order: str
    labels: str
    supervision: str
    bos: bool
    words: str
    held_out: tuple[str, ...]
    train_lengths: tuple[int, int]
    test_lengths: tuple[str, ...]
    fidelity: Fidelity
    source: str
    chance: float
    settings: dict[str, Any]
    end: str = ""

    def rows(self) -> list[tuple[str, str]]:
        """Return the entries as rows of a table.

        Returns:
            Labels and texts.
        """
        low, high = self.train_lengths
        return [
            ("task", self.task),
            ("alphabet", f"{count_noun(len(self.alphabet), 'letter')}: {_some(self.alphabet)}"),
            ("order", self.order),
            ("labels", f"{self.labels}, {self.classes} classes, chance {self.chance:.3g}"),
            (
                "supervision",
                f"{self.supervision}, {'with' if self.bos else 'without'} BOS"
                + (f", asked after {self.end}" if self.end else ""),
            ),
            ("words", self.words + (f"; pairs held out: {_some(self.held_out)}" if self.held_out else "")),
            (
                "lengths",
                f"train {low if low == high else f'{low}-{high}'}, test {', '.join(self.test_lengths)}",
            ),
            ("fidelity", f"{_FIDELITIES[self.fidelity]} {self.source}" if self.source else self.fidelity),
        ]

    def reading_rows(self) -> list[tuple[str, str]]:
        """Return what is to be known of a model that was not trained on the task: what it reads and answers.

        Returns:
            Labels and texts, without those of a training.
        """
        return [
            ("alphabet", f"{count_noun(len(self.alphabet), 'letter')}: {_some(self.alphabet)}"),
            ("order", self.order),
            ("answers", f"{self.labels}, {self.classes} classes, {'with' if self.bos else 'without'} BOS"),
            ("test words", self.words),
        ]

    def __repr__(self) -> str:
        return one_line(self, f"{self.task}, {self.classes} classes, {self.supervision}")

    def _repr_html_(self) -> str:
        return html_table("Task", self.rows())

    def as_json(self) -> dict[str, Any]:
        """Return the contract as plain values for `task.json`.

        Returns:
            The fields, with the format.
        """
        return {"format": FORMAT, **asdict(self)}

    def write(self, path: str | Path) -> None:
        """Write the contract as `task.json`.

        Args:
            path: the file to write.
        """
        write_text(path, json.dumps(self.as_json(), indent=1, ensure_ascii=False) + "\n")


_FIDELITIES = {"same": "the task of", "reconstruction": "a reconstruction of", "extension": "an extension of"}


def read_contract(path: str | Path) -> TaskContract:
    """Read the contract of a task from a `task.json`.

    Args:
        path: a `task.json`.

    Returns:
        The contract.

    Raises:
        InputError: the file cannot be read, or is not a contract; the line names the entry.
    """
    data = read_json(path)
    form = data.pop("format", None) if isinstance(data, dict) else None
    if form not in (FORMAT, FIRST_FORMAT):
        raise InputError(f'{path}: not a task contract ("format": "{FORMAT}")')
    if form == FIRST_FORMAT and "settings" in data:
        data["settings"] = rename_protocol(data["settings"])
    if unknown := sorted(set(data) - {f.name for f in fields(TaskContract)}):
        raise InputError(f"{path}: entry {unknown[0]!r} is unknown")
    contract = record_of(data, TaskContract, str(path))
    problems = list(_problems(contract))
    if problems:
        raise InputError(f"{path}: {'; '.join(problems)}")
    return contract


def rename_protocol(settings: Any) -> Any:
    """The settings of a task of version 0.1 with the name that their protocol has now."""
    if isinstance(settings, dict) and settings.get("protocol") == "formal_language":
        return {**settings, "protocol": "formal_language_prefix"}
    return settings


def _problems(contract: TaskContract) -> Iterator[str]:
    """Numbers that are of the right type and cannot be."""
    if contract.classes < 1:
        yield f"classes is {contract.classes}; a whole number from 1 is needed"
    if not contract.alphabet:
        yield "alphabet is empty; a task has at least one letter"
    if not 0 <= contract.chance <= 1:
        yield f"chance is {contract.chance}; a fraction from 0 to 1 is needed"
    low, high = contract.train_lengths
    if not 0 <= low <= high:
        yield f"train_lengths is {[low, high]}; write [shortest, longest], from 0"


def scaled_accuracy(accuracy: float, chance: float) -> float:
    """Compute (accuracy - chance) / (1 - chance), which is 0 for guessing and 1 for perfect answers.

    Args:
        accuracy: a fraction from 0 to 1.
        chance: accuracy of guessing, a fraction from 0 to 1.

    Returns:
        A number of at most 1; 0 where guessing is always right.

    Source: arXiv 2411.12537, the table of formal languages.

    Examples:
        >>> scaled_accuracy(0.75, 0.5)
        0.5
    """
    return (accuracy - chance) / (1 - chance) if chance < 1 else 0.0


def _some(texts: tuple[str, ...], most: int = 12) -> str:
    return " ".join(texts[:most]) + (" ..." if len(texts) > most else "")


@dataclass(frozen=True)
class Protocol:
    """A protocol: the defaults of a task. Lengths are those of words, in letters.

    Attributes:
        train_lengths: shortest and longest training word.
        test_lengths: lengths, or spans over whose lengths figures are averaged.
        labels: `state` or `output`.
        words: `uniform`, `live` or `spaced`, see `Sampler`.
        supervision: `per_prefix`; `last`: only the last label of a word is learned; or `whole_words`: the words of a batch have
            lengths of their own, in training and in tests, and only the label of a whole word is asked.
        bos: whether words begin with an extra letter.
        fidelity: how closely tasks of the protocol follow its source.
        source: a paper; may be empty.
        end: the text of a letter that ends every whole word and has its label; empty for none.
    """

    train_lengths: tuple[int, int]
    test_lengths: tuple[int | tuple[int, int], ...]
    labels: Labels = "state"
    words: Words = "uniform"
    supervision: Supervision = "per_prefix"
    bos: bool = True
    fidelity: Fidelity = "reconstruction"
    source: str = ""
    end: str = ""


PROTOCOLS = {
    "word_problem": Protocol((128, 128), (128, 256, 512), source="arXiv 2502.10297, word problems"),
    # the source counts the answer as a token of the word: 3 to 40 tokens there are 2 to 39 that are read
    "formal_language": Protocol(
        (2, 39),
        ((39, 255),),
        labels="output",
        supervision="whole_words",
        bos=False,
        fidelity="extension",
        source="arXiv 2411.12537, formal languages",
    ),
    "formal_language_prefix": Protocol(
        (3, 40),
        ((40, 256),),
        labels="output",
        bos=False,
        fidelity="extension",
        source="arXiv 2411.12537, formal languages",
    ),
    "error_control": Protocol((1, 60), (60, 100, 1000), source="arXiv 2605.07755, error control"),
}
"""The protocols of published experiments, by name."""
RECALL = Protocol((64, 64), (64, 128, 256), bos=False)
"""Lengths of recall; the rest is in its contract."""
LANGUAGE = Protocol(
    (512, 512), ((1, 512), (513, 1024), (1025, 2048), (2049, 4096)), bos=False, fidelity="extension"
)
"""Lengths of text: bits per byte by position, to eight times the training length."""
ASKED = Protocol((512, 512), (512, 1024, 2048, 4096, 8192), bos=False, fidelity="extension")
"""Lengths of words of letters and questions among text, to sixteen times the training length."""
_OWN = Protocol((32, 32), (32, 64, 128), fidelity="extension")

SCALED_ACCURACY = {
    "parity": {
        "transformer": 0.022, "mlstm": 0.087, "slstm": 1.0, "mamba[0,1]": 0.0, "mamba[-1,1]": 1.0,
        "deltanet[0,1]": 0.017, "deltanet[-1,1]": 1.0,
    },
    "mod_arith:5": {
        "transformer": 0.031, "mlstm": 0.040, "slstm": 0.787, "mamba[0,1]": 0.095, "mamba[-1,1]": 0.241,
        "deltanet[0,1]": 0.314, "deltanet[-1,1]": 0.971,
    },
}  # fmt: skip
"""Published for `formal_language` (arXiv 2411.12537, its table of formal languages): the best of three seeds."""


def published_protocol(name: str | None, spec: str) -> Protocol:
    """Find a protocol for an automaton.

    Args:
        name: a name in `PROTOCOLS`; None for labels after every prefix and the lengths of this project.
        spec: the SPEC of the automaton, for which some protocols have other defaults.

    Returns:
        The defaults.

    Examples:
        >>> published_protocol("formal_language", "parity").train_lengths
        (2, 39)
    """
    if name is None:
        return _OWN
    protocol = PROTOCOLS[name]
    if name == "formal_language":
        protocol = replace(protocol, fidelity=_formal_language_fidelity(spec))
    if name.startswith("formal_language") and spec.startswith("mod_arith"):
        return replace(protocol, words="live", end="=" if name == "formal_language" else "")
    return replace(protocol, words="spaced") if spec.endswith("_tokens]") else protocol


def _formal_language_fidelity(spec: str) -> Fidelity:
    """Parity and arithmetic without brackets are drawn as the source draws them; its expressions with brackets in another way."""
    if spec in {"parity", "mod_arith:5"}:
        return "same"
    return "reconstruction" if spec.startswith("mod_arith:5") else "extension"
