"""A model as a `Stepper`: token by token through its own forward code and kernels, so it can be run and proved."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from ..constructions.automata._automaton import Indices
from ..foundation._errors import InputError
from ..theory.proofs._proof import Part, digest_of
from ._model import Model, States

_BITS = {torch.bfloat16: torch.int16}
"""Dtypes that numpy does not have, as integers of the same bits."""

LETTERS = 512
"""Letters of every word that `read_words` gives the model in one call."""


class ModelStepper:
    """One seed's model as a `Stepper`; states are a list of arrays, those of each block and, last, the class of the token just
    read.

    The class belongs to the state because it depends on the token as well as on what the mixers keep. Tokens go through one
    call of the model each; its arithmetic is that of its kernels at the model's dtype and device. The bits of a step depend
    on how many sequences go side by side, as those of a matrix product do, so a proof steps one at a time.

    Args:
        model: a model with one seed, of a family whose state has a fixed size; it is put into evaluation mode.
        meaning: int array `[classes]`, the label (an automaton's state, or an output) that each class stands for, -1 for
            none; by default the model's own.
        before: indices of letters that are read before the first token, such as BOS.

    Raises:
        InputError: the model has several seeds, or its family has no state of a fixed size.
    """

    one_by_one = True

    def __init__(self, model: Model, meaning: ArrayLike | None = None, before: Sequence[int] = ()) -> None:
        if len(model.seeds) != 1:
            raise InputError(f"the model has {len(model.seeds)} seeds: choose one with `select`")
        self.model = model.eval()
        if meaning is None:
            meaning = model.config.meaning or range(model.config.classes)
        self.meaning = np.asarray(meaning, dtype=np.int64)
        self.before = tuple(before)
        self._device = next(model.parameters()).device
        self._names = [list(state) for state in model.initial_states(1)]

    @cached_property
    def identity(self) -> str:
        """Return a digest of the configuration, every weight, its dtype and device, and what the classes mean."""
        parts: list[Part] = [
            json.dumps(self.model.config.as_json(), sort_keys=True),
            str(self._device),
            self.meaning,
            json.dumps(self.before),
        ]
        for name, value in sorted(self.model.state_dict().items()):
            bits = value.detach().contiguous().cpu()
            parts += [f"{name} {value.dtype}", bits.view(_BITS.get(bits.dtype, bits.dtype)).numpy()]
        return digest_of(parts)

    def initial(self, sequences: int) -> list[NDArray[Any]]:
        """Return the states before the first token, with the class -1.

        Args:
            sequences: the number of words that are run side by side, at least 1.

        Returns:
            Arrays `[sequences, ...]`, the last one the class, int `[sequences]`.
        """
        with torch.no_grad():
            states = self.model.initial_states(sequences)
        result = [*self._arrays(states), np.full(sequences, -1, dtype=np.int64)]
        for letter in self.before:
            result = self.step(result, np.full(sequences, letter))
        return result

    def step(self, states: list[NDArray[Any]], letters: ArrayLike) -> list[NDArray[Any]]:
        """Read one token in every sequence.

        Args:
            states: the states that `initial` or `step` returned.
            letters: int `[sequences]`, the letters of the model.

        Returns:
            The states after this token.
        """
        x = torch.as_tensor(np.asarray(letters, dtype=np.int64), device=self._device)
        with torch.no_grad():
            logits, after = self.model(x[None, :, None], self._tensors(states))
        best = logits[0, :, 0].argmax(-1).cpu().numpy()
        finite = torch.isfinite(logits[0, :, 0]).all(-1).cpu().numpy()
        return [*self._arrays(after), np.where(finite, best, -1)]

    def decode(self, states: list[NDArray[Any]], letters: ArrayLike) -> Indices:
        """Return the label that the class of the token just read stands for.

        Args:
            states: the states that `step` returned.
            letters: int `[sequences]`, the letters just read; they are not used, since the state contains the class.

        Returns:
            Int `[sequences]`; -1 for none, and where a logit is not finite.
        """
        best = states[-1]
        result: Indices = np.where(best >= 0, self.meaning[np.maximum(best, 0)], -1)
        return result

    def read_words(self, words: ArrayLike) -> Iterator[Indices]:
        """Give the answers after every letter of whole words, by one call of the model for many letters.

        The kernels may add in another order than `step` does, so that an answer can differ where two classes are close. This is for
        finding words that are worth running letter by letter.

        Args:
            words: int `[sequences, length]`, the letters.

        Yields:
            Int `[sequences, letters]`, for one part of the letters after another: the label after each letter; -1 for none, and
            where a logit is not finite.
        """
        every = np.asarray(words, dtype=np.int64)
        states = self.initial(len(every))
        for first in range(0, every.shape[1], LETTERS):
            letters = torch.as_tensor(every[:, first : first + LETTERS], device=self._device)
            with torch.no_grad():
                logits, after = self.model(letters[None], self._tensors(states))
            best = logits[0].argmax(-1).cpu().numpy()
            best = np.where(torch.isfinite(logits[0]).all(-1).cpu().numpy(), best, -1)
            states = [*self._arrays(after), best[:, -1]]
            yield np.where(best >= 0, self.meaning[np.maximum(best, 0)], -1)

    def _arrays(self, states: States) -> Iterator[NDArray[Any]]:
        for state, names in zip(states, self._names, strict=True):
            for name in names:
                value = state[name][0].contiguous().cpu()
                yield value.view(_BITS.get(value.dtype, value.dtype)).numpy()

    def _tensors(self, arrays: list[NDArray[Any]]) -> States:
        """The inverse of `_arrays`; a state's dtype is the model's where numpy has none of its own."""
        remaining = iter(arrays)
        dtype = next(self.model.parameters()).dtype
        result: States = []
        for names in self._names:
            state: dict[str, Tensor] = {}
            for name in names:
                # A tensor of its own: a product's bits can depend on how its operands lie in memory.
                value = torch.from_numpy(np.ascontiguousarray(next(remaining))).clone()
                value = value.view(dtype) if value.dtype == torch.int16 else value
                state[name] = value.to(self._device)[None]
            result.append(state)
        return result
