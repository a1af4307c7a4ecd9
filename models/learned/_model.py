"""A trained `Model` as `Learned`: its heads' transitions by letter, or in context where they depend on it.

The transitions are those that its mixers compute from what they are given when the model reads words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from ...constructions._conversions import AutomatonLike, as_automaton
from ...constructions.automata._automaton import Automaton, Indices
from ...constructions.automata._labels import label_text
from ...foundation._errors import InputError
from ...foundation._text import count_noun
from ...theory.arithmetic._rounding import Floats
from .._families import find_family
from .._model import Block, Model
from .._model_file import automaton_model, read_model_config
from .._model_stepper import ModelStepper
from ..tasks._automaton import AutomatonTask
from ._learned import Factors, Learned, LearnedHead, Read, Target, state_target


@contextmanager
def watch_mixers(model: Model, seen: Callable[[int, Any, Tensor, Any], None]) -> Any:
    """While the model runs, call `seen` with the number and the mixer of each block and what the mixer was given."""
    handles = []
    for i, block in enumerate(model.blocks):
        assert isinstance(block, Block)

        def hook(mixer: Any, given: Any, i: int = i) -> None:
            seen(i, mixer, given[0], given[1])

        handles.append(block.mixer.register_forward_pre_hook(hook))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def find_transitions(model: Model, words: Indices, letters: int, by_letter: bool) -> list[LearnedHead]:
    """All heads of all layers, from running the model on words `[words, tokens]` of so many letters.

    `by_letter`: each word is one letter, on which alone all depends; then factors and added terms are found too.
    """
    inputs: list[tuple[Any, Tensor, Any]] = []
    with torch.no_grad():
        with watch_mixers(model, lambda i, mixer, x, state: inputs.append((mixer, x, state))):
            model(torch.from_numpy(words)[None])
        found = []
        for i, (mixer, x, state) in enumerate(inputs):
            A = mixer.transitions(x, state)[0].flatten(0, 1).numpy()  # [tokens, heads, n, n]
            factors = _factors(mixer, x, state) if by_letter else None
            B = _find_added_terms(mixer, x) if by_letter else None
            for h in range(A.shape[1]):
                mean, spread = _by_letter(A[:, h], words.reshape(-1), letters)
                added = np.zeros((letters, A.shape[2], 1)) if B is None else B[:, h]
                own = None if factors is None else factors(h)
                found.append(LearnedHead(f"head {i + 1}.{h + 1}", mean, added, added[0], own, None, spread))
    return found


def merge_equal_heads(heads: list[LearnedHead]) -> tuple[LearnedHead, ...]:
    """Heads with the same numbers once: constructed models have one for each row of the state."""
    groups: dict[bytes, list[LearnedHead]] = {}
    for head in heads:
        groups.setdefault(b"".join((x + 0.0).tobytes() for x in (head.A, head.B, head.H0)), []).append(head)
    merged = []
    for group in groups.values():
        first = group[0]
        name = first.name + (f" and {len(group) - 1} equal" if len(group) > 1 else "")
        copies = tuple(h.copies[0] for h in group)
        merged.append(
            LearnedHead(name, first.A, first.B, first.H0, first.factors, None, first.spread, copies)
        )
    return tuple(merged)


def _by_letter(A: Floats, letters: Indices, count: int) -> tuple[Floats, float]:
    means, spread = [], 0.0
    for x in range(count):
        here = A[letters == x]
        mean = here[0] if len(here) == 1 else here.mean(axis=0)
        if len(here) > 1:
            spread = max(spread, float(np.linalg.norm(here - mean, 2, axis=(1, 2)).max()))
        means.append(mean)
    return np.array(means), spread


def _find_added_terms(mixer: Any, x: Tensor) -> Floats:
    """B(x): what one token makes of the state 0, `[letters, heads, n, d]`."""
    zero = mixer.initial(x, {})
    _, after = mixer(x, {"H": torch.zeros_like(zero)})
    H: Floats = after["H"][0].double().numpy()
    return H if H.ndim == 4 else H[..., None]  # a channel of Mamba is a head of columns


def _factors(mixer: Any, x: Tensor, state: Any) -> Callable[[int], Factors] | None:
    """The generalized Householder factors of a head, where the mixer has them."""
    if not hasattr(mixer, "factors"):
        return None
    strengths, keys, gate = (found[0, :, 0].double().numpy() for found in mixer.factors(x, state))
    return lambda h: Factors(strengths[:, :, h], keys[:, :, h], gate[:, h])


CONTEXTS, CONTEXT_LENGTH = 64, 64
"""Random words, and their letters, in which transitions that depend on the context are looked at."""


def load_learned_model(folder: str, automaton: Automaton) -> Learned:
    """A model folder, compared with an automaton: its task says what letters and classes are.

    Args:
        folder: the model folder.
        automaton: with the task's letters, in the same order.

    Raises:
        InputError: a file is wrong, the letters differ, or the task is not an automaton's.
    """
    model, task, trained, bos = automaton_model(folder, "compare")
    texts = tuple(label_text(x) for x in automaton.letters)
    if texts != trained:
        raise InputError(
            f"{folder}: it reads the letters {', '.join(trained[:12])}, {automaton.name} has {', '.join(texts[:12])}: "
            "the same letters in the same order are needed"
        )
    target = _task_target(task, automaton, folder)
    found = learned_from_model(model, automaton, target=target, prefix=bos, name=folder)
    part = read_model_config(Path(folder) / "config.json").part
    return replace(found, notes=(f"a part {part}", *found.notes)) if part else found


def learned_from_model(
    model: Model,
    automaton: AutomatonLike,
    *,
    target: Target | None = None,
    meaning: ArrayLike | None = None,
    prefix: Sequence[int] = (),
    name: str = "model",
    seed: int = 0,
) -> Learned:
    """One seed's model, compared with an automaton.

    One layer without convolution has one transition per letter, found exactly; else transitions are those met in `CONTEXTS` random
    words, and their mean is compared.

    Args:
        model: a model with one seed.
        automaton: an automaton with as many letters as the model reads, BOS not counted, in any form that `as_automaton` accepts.
        target: the right answers; by default the automaton's states.
        meaning: int array `[classes]`, the answer that each class stands for, -1 for none; by default the model's own.
        prefix: letters that are read before the first, as BOS.
        name: a name for error messages and results.
        seed: the seed of the random words.

    Returns:
        The model's heads, and how it runs.

    Raises:
        InputError: the model has several seeds.
    """
    automaton = as_automaton(automaton)
    stepper = ModelStepper(model, meaning, prefix)
    labels = tuple(label_text(x) for x in automaton.letters)
    target = target or state_target(automaton)
    arithmetic = f"the model's own kernels, {str(next(model.parameters()).dtype).removeprefix('torch.')}"
    if find_family(model.config.family).baseline:
        note = f"{model.config.family} has no linear heads: only its answers are compared"
        return Learned(name, labels, (), target, stepper, lambda _: [], None, arithmetic, (note,))
    looks_back = find_family(model.config.family).looks_back
    by_letter = model.config.layers == 1 and not model.config.conv and not looks_back
    words = np.arange(len(labels))[:, None]
    notes = []
    if not by_letter:
        draw = np.random.default_rng(seed)
        words = draw.integers(0, len(labels), (CONTEXTS, CONTEXT_LENGTH))
        notes.append(
            f"transitions depend on the context ({count_noun(model.config.layers, 'layer')}"
            f"{', convolution' if model.config.conv else ''}{', token shift' if looks_back else ''}): means over {CONTEXTS} random words of "
            f"{CONTEXT_LENGTH} letters, seed {seed}; `spread` is how far they lie apart"
        )
    names = [list(state) for state in model.initial_states(1)]
    every = find_transitions(model, words, len(labels), by_letter)
    start = _split(stepper.initial(1), names)
    every = [
        LearnedHead(h.name, h.A, h.B, H[0], h.factors, None, h.spread, (i,))
        for i, (h, H) in enumerate(zip(every, start, strict=True))
    ]
    heads = merge_equal_heads(every)

    def head_states(states: Any) -> list[Floats]:
        split = _split(states, names)
        return [split[h.copies[0]] for h in heads]

    mixer = model.blocks[0].mixer
    readable = by_letter and (hasattr(mixer, "queries") or hasattr(mixer, "read_states"))
    read = _reader(model, heads, meaning) if readable else None
    return Learned(name, labels, heads, target, stepper, head_states, read, arithmetic, tuple(notes))


def _task_target(task: AutomatonTask, automaton: Automaton, name: str) -> Target:
    """What the classes of a trained model are, in terms of the automaton that it is compared with."""
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

    def read(states: Sequence[Floats], letters: Indices) -> Indices:
        dtype = next(model.parameters()).dtype
        count = sum(len(head.copies) for head in heads)
        H = torch.empty(len(letters), count, *states[0].shape[1:], dtype=dtype)
        for head, value in zip(heads, states, strict=True):
            H[:, list(head.copies)] = torch.from_numpy(value).to(dtype)[:, None]

        _, first, again = np.unique(letters, return_index=True, return_inverse=True)

        def given_states(x: Any, state: Any = None) -> Any:
            if hasattr(mixer, "read_states"):
                return mixer.read_states(x, H[None, :, None]), {}
            once = x[:, first]  # what comes before the states depends on the letter alone
            q = mixer.queries(once)
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
