"""`task.json` beside an FLA checkpoint: which tokens are an automaton's letters, BOS and answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...constructions._conversions import AutomatonLike, as_automaton
from ...constructions.automata._labels import label_text
from ...foundation._errors import InputError
from ...foundation._files import is_file, read_json
from ...theory.proofs._answers import Answers, output_answers, same_letters
from ..tasks._contract import FIRST_FORMAT as FIRST_TASKS
from ..tasks._contract import FORMAT as TASKS

FORMAT = "mirrormata-fla/1"
"""The format of `task.json`."""
AUTOMATON = ("spec", "product", "start", "alphabet", "split", "group")
"""Entries of `TaskSettings` that name an automaton."""
_EXAMPLE = (
    '{"format": "mirrormata-fla/1", "letters": {"0": 0, "1": 1}, "bos": 2, "answers": {"0": 3, "1": 4}}'
)
_OF_TEXT = "; of a model of text, `audit` measures the layers on a text without it"


@dataclass(frozen=True)
class FlaTask:
    """Which tokens are letters and answers; a letter and an answer may share a token.

    Attributes:
        letters: the token of each letter's text, in order; tokens are numbers from 0.
        answers: the token of each answer's text, in order, or a sequence of tokens where several mean this answer.
        bos: the token before a word, None for none.
        settings: entries of `TaskSettings` that name the automaton, where it is known.
    """

    letters: Mapping[str, int]
    answers: Mapping[str, int | Sequence[int]]
    bos: int | None = None
    settings: Mapping[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the contents of `task.json`.

        Returns:
            The entries, with the format.
        """
        return {
            "format": FORMAT,
            "letters": dict(self.letters),
            "bos": self.bos,
            "answers": {
                text: given if isinstance(given, int) else list(given) for text, given in self.answers.items()
            },
            **({} if self.settings is None else {"task": dict(self.settings)}),
        }

    @property
    def answer_tokens(self) -> dict[int, str]:
        """The text of the answer that each token means, answers in order."""
        return {
            token: text
            for text, given in self.answers.items()
            for token in ([given] if isinstance(given, int) else given)
        }

    def meaning(self, vocabulary: int) -> Any:
        """For each token the number of the answer that it is.

        Args:
            vocabulary: the number of tokens.

        Returns:
            Int `[vocabulary]`; -1 for none.

        Examples:
            >>> FlaTask({"0": 0, "1": 1}, {"even": 2, "odd": 3}).meaning(4).tolist()
            [-1, -1, 0, 1]
            >>> FlaTask({"0": 0, "1": 1}, {"even": [2, 4], "odd": 3}).meaning(5).tolist()
            [-1, -1, 0, 1, 0]
        """
        numbers = np.full(vocabulary, -1)
        place = {text: i for i, text in enumerate(self.answers)}
        for token, text in self.answer_tokens.items():
            numbers[token] = place[text]
        return numbers

    def answers_to(self, automaton: AutomatonLike, name: str) -> Answers:
        """How the answers are compared with the automaton: by states where these are the labels, else by outputs.

        Args:
            automaton: an automaton with the task's letters, in the same order, in any form that `as_automaton` accepts.
            name: the name of the checkpoint, for error messages.

        Returns:
            The meaning of each answer.

        Raises:
            InputError: the letters differ, or no answer is one of the automaton's.
        """
        automaton = as_automaton(automaton)
        same_letters(automaton, list(self.letters), name)
        states = {label_text(q): i for i, q in enumerate(automaton.states)}
        if set(self.answers) == set(states):
            return Answers("states", automaton, np.array([states[text] for text in self.answers]))
        found = output_answers(automaton, list(self.answers))
        if (found.meaning < 0).all():
            raise InputError(
                f"{name}: its answers are {', '.join(list(self.answers)[:8])}; neither states nor outputs of "
                f"{automaton.name} (states {', '.join(list(states)[:8])}): correct task.json"
            )
        return found


def read_task(folder: str | Path, vocabulary: int) -> FlaTask:
    """The task of a checkpoint with so many tokens; `InputError`, with an example, where there is none or it is wrong."""
    path = Path(folder) / "task.json"
    if not is_file(path):
        raise InputError(
            f"{path}: no such file, so nothing says which tokens are letters; write one like {_EXAMPLE}{_OF_TEXT}"
        )
    data = read_json(path)
    if isinstance(data, dict) and data.get("format") in (TASKS, FIRST_TASKS):
        raise InputError(
            f"{path}: it describes a training of this package, and a checkpoint's says which tokens are letters and answers; replace it by one "
            f"like {_EXAMPLE}{_OF_TEXT}"
        )
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError(f'{path}: "format" is not {FORMAT!r}; write it like {_EXAMPLE}')
    if unknown := [key for key in data if key not in ("format", "letters", "bos", "answers", "task")]:
        raise InputError(f"{path}: {unknown[0]!r} is no entry; write it like {_EXAMPLE}")
    bos = data.get("bos")
    if bos is not None:
        _tokens({"bos": bos}, "bos", path, vocabulary)
    letters = _tokens(data.get("letters"), "letters", path, vocabulary)
    answers = _tokens(data.get("answers"), "answers", path, vocabulary)
    return FlaTask(letters, answers, bos, _settings(data.get("task"), path))


def _settings(given: Any, path: Path) -> dict[str, Any] | None:
    """The entries that name the automaton, texts all of them."""
    if given is None:
        return None
    if not isinstance(given, dict) or "spec" not in given:
        raise InputError(
            f'{path}: "task" names no automaton; write it like {{"spec": "S3"}}, or leave it out'
        )
    for key, value in given.items():
        if key not in AUTOMATON or not isinstance(value, str):
            raise InputError(f'{path}: "task" has {key!r}: {value!r}; it has texts of {", ".join(AUTOMATON)}')
    return given


def _tokens(given: Any, key: str, path: Path, vocabulary: int) -> dict[str, Any]:
    """Labels and their tokens, as the file has them; several tokens of one label only where it is an answer."""
    if not isinstance(given, dict) or not given:
        raise InputError(f'{path}: "{key}" is no object of labels and their tokens; write it like {_EXAMPLE}')
    every: list[int] = []
    for label, tokens in given.items():
        several = key == "answers" and isinstance(tokens, list) and len(tokens) > 0
        for token in tokens if several else [tokens]:
            if type(token) is not int or not 0 <= token < vocabulary:
                raise InputError(
                    f"{path}: {key} {label!r} has the token {token!r}; tokens are numbers from 0 to {vocabulary - 1}"
                )
            every.append(token)
    if len(set(every)) < len(every):
        raise InputError(f'{path}: two labels of "{key}" have the same token, or one has a token twice')
    return given
