"""A trained `Model` as `Learned`: its heads' transitions by letter, or in context where they depend on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike

from ...constructions.automaton import Automaton, Indices
from ...constructions.errors import InputError
from ...constructions.formats.label_text import label_text
from ...theory.arithmetic.rounding import Floats
from ..automaton_model import automaton_model
from ..config import LINEAR
from ..layers.projections import by_heads
from ..model import Model
from ..model_stepper import ModelStepper
from ..tasks.automaton import AutomatonTask
from .heads import merged_heads, transitions_of
from .learned import Learned, LearnedHead, Read, Target, state_target

CONTEXTS, CONTEXT_LENGTH = 64, 64
"""Random words, and their letters, in which transitions that depend on the context are looked at."""


def load_learned_model(folder: str, automaton: Automaton) -> Learned:
    """A model folder, held against an automaton: its task says what letters and classes are.

    `InputError` where the task's letters are not the automaton's, or the task is no automaton.
    """
    model, task, trained, bos = automaton_model(folder, "compare")
    texts = tuple(label_text(x) for x in automaton.letters)
    if texts != trained:
        raise InputError(
            f"{folder}: it reads the letters {', '.join(trained[:12])}, {automaton.name} has {', '.join(texts[:12])}: "
            "the same letters in the same order are needed"
        )
    target = _task_target(task, automaton, folder)
    return of_model(model, automaton, target=target, prefix=bos, name=folder)


def of_model(
    model: Model,
    automaton: Automaton,
    *,
    target: Target | None = None,
    meaning: ArrayLike | None = None,
    prefix: Sequence[int] = (),
    name: str = "model",
    seed: int = 0,
) -> Learned:
    """One seed's model. `target`: what its classes answer (default: states), `meaning`: the answer of each class.

    `prefix`: letters read before the first, as BOS. One layer without convolution has one transition a letter, found
    exactly; else transitions are those met in `CONTEXTS` random words drawn with `seed`, and their mean is compared.
    """
    stepper = ModelStepper(model, meaning, prefix)
    labels = tuple(label_text(x) for x in automaton.letters)
    target = target or state_target(automaton)
    arithmetic = f"the model's own kernels, {str(next(model.parameters()).dtype).removeprefix('torch.')}"
    if model.config.family not in LINEAR:
        note = f"{model.config.family} has no linear heads: only its answers are compared"
        return Learned(name, labels, (), target, stepper, lambda _: [], None, arithmetic, (note,))
    by_letter = model.config.layers == 1 and not model.config.conv
    words = np.arange(len(labels))[:, None]
    notes = []
    if not by_letter:
        draw = np.random.default_rng(seed)
        words = draw.integers(0, len(labels), (CONTEXTS, CONTEXT_LENGTH))
        notes.append(
            f"transitions depend on the context ({model.config.layers} layer{'s' * (model.config.layers > 1)}"
            f"{', convolution' if model.config.conv else ''}): means over {CONTEXTS} random words of "
            f"{CONTEXT_LENGTH} letters, seed {seed}; `spread` is how far they lie apart"
        )
    names = [list(state) for state in model.initial_states(1)]
    every = transitions_of(model, words, len(labels), by_letter)
    start = _split(stepper.initial(1), names)
    every = [
        LearnedHead(h.name, h.A, h.B, H[0], h.factors, None, h.spread, (i,))
        for i, (h, H) in enumerate(zip(every, start, strict=True))
    ]
    heads = merged_heads(every)

    def head_states(states: Any) -> list[Floats]:
        split = _split(states, names)
        return [split[h.copies[0]] for h in heads]

    read = _reader(model, heads, meaning) if by_letter and model.config.family != "mamba" else None
    return Learned(name, labels, heads, target, stepper, head_states, read, arithmetic, tuple(notes))


def _task_target(task: AutomatonTask, automaton: Automaton, name: str) -> Target:
    """What the classes of a trained model are, in terms of the automaton that it is held against."""
    own = task.automaton
    texts = [label_text(c) for c in task.sampler.classes]
    if task.sampler.labels == "state":
        if [label_text(q) for q in automaton.states] != texts:
            raise InputError(
                f"{name}: it was trained to name the states of {own.name}, which are not those of {automaton.name}: "
                f"compare it with {task.settings.spec}"
            )
        return state_target(automaton)
    number = {text: i for i, text in enumerate(texts)}
    outputs = np.array(
        [-1 if x is None else number.get(label_text(x), len(texts)) for x in automaton.outputs.reshape(-1)]
    ).reshape(automaton.outputs.shape)
    table = outputs if automaton.is_mealy else outputs[automaton.transitions]
    return Target(automaton, table, tuple(texts))


def _split(states: list[Any], names: list[list[str]]) -> list[Floats]:
    """A `ModelStepper`'s states as `[sequences, n, d]` for each head of each block."""
    arrays = iter(states)
    heads: list[Floats] = []
    for block in names:
        for name in block:
            value = next(arrays)
            if name == "H":
                wide = value.astype(np.float64) if value.dtype.kind == "f" else _from_bits(value)
                wide = wide if wide.ndim == 4 else wide[..., None]
                heads += [wide[:, h] for h in range(wide.shape[1])]
    return heads


def _from_bits(value: Any) -> Floats:
    result: Floats = torch.from_numpy(value).view(torch.bfloat16).double().numpy()
    return result


def _reader(model: Model, heads: Sequence[LearnedHead], meaning: ArrayLike | None) -> Read:
    """The model's own read-out of given states of its only layer's heads."""
    names = np.arange(model.config.classes) if meaning is None else np.asarray(meaning)
    mixer: Any = model.blocks[0].mixer
    config = model.config

    def read(states: Sequence[Floats], letters: Indices) -> Indices:
        dtype = next(model.parameters()).dtype
        H = torch.empty(len(letters), config.heads, config.head_dim, config.value_dim, dtype=dtype)
        for head, value in zip(heads, states, strict=True):
            H[:, list(head.copies)] = torch.from_numpy(value).to(dtype)[:, None]

        _, first, again = np.unique(letters, return_index=True, return_inverse=True)

        def given_states(x: Any, state: Any = None) -> Any:
            once = x[:, first]  # what comes before the states depends on the letter alone
            q = (
                mixer.controls(once, {}, {})[0]
                if config.family != "matrix"
                else by_heads(mixer.query(once, {}, "query", {}), config.heads)
            )
            o = torch.einsum("sbthk,bhkv->sbthv", q.to(dtype)[:, again], H)
            return mixer.read_out(o, x), {}

        mixer.forward = given_states  # of this object alone; the recurrence itself is not run
        try:
            with torch.no_grad():
                logits, _ = model(torch.from_numpy(np.asarray(letters, dtype=np.int64))[None, :, None])
        finally:
            del mixer.forward
        flat = logits[0, :, 0]
        best = flat.argmax(-1).numpy()
        return np.where(torch.isfinite(flat).all(-1).numpy(), names[best], -1)

    return read
