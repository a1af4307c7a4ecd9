"""`learned_of`: anything that is a model as a `Learned`; and makers of one from matrices of your own, or a stepper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...constructions._conversions import AutomatonLike, as_automaton
from ...constructions._head import Head
from ...constructions._lrnn import LRNN, table_of
from ...constructions.algebra._matrices import Matrix
from ...constructions.automata._automaton import Automaton, Indices
from ...constructions.automata._labels import label_text
from ...foundation._errors import InputError
from ...theory._realisations import RealisationLike, table_from
from ...theory.arithmetic._rounding import Floats, round_number
from ...theory.proofs._answers import answers_of
from ...theory.proofs._npz_model import NpzModel, load_npz_model
from ...theory.running._guarded import GuardedStepper
from ...theory.running._readout import Readout
from ...theory.running._stepper import Stepper
from ...theory.running._weights import dense_codes, head_weights, letter_rows
from ...theory.spectra._model import lrnn_heads
from .._model_file import automaton_model
from .._sources import ModelSource, open_source
from ..fla._learned import load_fla_learned
from ..learned._learned import AffineStepper, Factors, Learned, LearnedHead, output_target, state_target
from ..learned._model import learned_from_model, load_learned_model


def learned_from_lrnn(
    lrnn: RealisationLike, name: str | None = None, automaton: AutomatonLike | None = None
) -> Learned:
    """A construction of one layer: its matrices rounded once to float64, and exact beside that; read by its nearest code.

    Args:
        lrnn: an LRNN with one layer, its certificate, or the path of one.
        name: a name for error messages and results; by default the construction's.
        automaton: the automaton with which it is compared, by default its own. States of another one are matched by their names, or else the
            outputs, see `answers_of`; in any form that `as_automaton` accepts.

    Returns:
        The layer, read by its nearest code.

    Raises:
        InputError: it has several layers, the letters differ, or no answer is one of the automaton's.

    Examples:
        >>> from mirrormata import construct
        >>> [head.A.tolist() for head in learned_from_lrnn(construct("parity")).heads]
        [[[[1.0]], [[-1.0]]]]
    """
    lrnn = table_from(lrnn, "lrnn")
    target = lrnn.automaton if automaton is None else as_automaton(automaton)
    answers = answers_of(target, lrnn.automaton, name or lrnn.construction)
    if (answers.meaning < 0).all():
        raise InputError(
            f"{name or lrnn.construction}: it answers {label_text(lrnn.automaton.outputs[0])} and the like, and none of its "
            f"answers is one of {answers.automaton.name}: compare it with an automaton that has its outputs"
        )
    if lrnn.is_layered:
        raise InputError(
            f"{lrnn.automaton.name}: the linear RNN has {lrnn.depth} layers; heads are compared in one layer: "
            "construct it with `max_layers` 1"
        )
    heads, exact = lrnn.layers[0].heads, lrnn_heads(lrnn)
    start = lrnn.decode[0, 1:].tolist()
    readout = Readout(lrnn)
    mine = tuple(
        LearnedHead(
            named[0],
            *_dense(head, code),
            factors=_factors(head),
            exact=_in_letter_order(head, lrnn),
            copies=(h,),
        )
        for h, (head, named, code) in enumerate(zip(heads, exact, start, strict=True))
    )

    def read(states: Sequence[Floats], letters: Indices) -> Indices:
        return answers.of_states(readout.decode(states))

    return Learned(
        name or lrnn.construction,
        tuple(label_text(x) for x in lrnn.automaton.letters),
        mine,
        output_target(answers),
        AffineStepper(mine, read),
        list,
        read,
        "float64",
    )


def learned_from_npz(model: NpzModel, automaton: AutomatonLike) -> Learned:
    """One head given by its matrices, compared with an automaton.

    Args:
        model: a model that `load_npz_model` returned.
        automaton: the automaton with which it is compared, with as many letters, in any form that `as_automaton` accepts.

    Returns:
        The layer, with its factors where the file has them.

    Raises:
        InputError: its answers are neither the automaton's states nor its outputs.
    """
    automaton = as_automaton(automaton)
    answers = model.answers(automaton)
    reader = model.reader(answers)
    factors = None
    if {"beta", "vector", "gate"} <= set(model.factors) and "mask" not in model.factors:
        factors = Factors(*(np.asarray(model.factors[k], dtype=float) for k in ("beta", "vector", "gate")))
    head = LearnedHead("head 1", model.A, model.B, model.H0, factors)

    def read(states: Sequence[Floats], letters: Indices) -> Indices:
        return reader.decode(states[0].reshape(len(states[0]), -1), letters)

    return Learned(
        model.name,
        tuple(label_text(x) for x in automaton.letters),
        (head,),
        output_target(answers),
        AffineStepper((head,), read),
        list,
        read,
        "float64",
    )


def learned_from_matrices(
    letters: Mapping[Any, ArrayLike] | Sequence[ArrayLike] | Floats,
    automaton: AutomatonLike,
    *,
    H0: ArrayLike,
    B: ArrayLike | None = None,
    codes: Mapping[Any, ArrayLike] | None = None,
    factors: Factors | None = None,
    name: str = "layer",
) -> Learned:
    """One head of a layer of your own: a matrix for each letter, and what is added.

    Args:
        letters: A(x), real `[n, n]` each, by the automaton's letters, or in their order.
        automaton: the automaton with which the layer is compared, in any form that `as_automaton` accepts.
        H0: the state before the first letter, `[n, d]`.
        B: what each letter adds, `[letters, n, d]`; None for nothing.
        codes: for each state of the automaton the H `[n, d]` that stands for it; by default those reached by a shortest word to each.
        factors: the GH factors of each letter, where they are known.
        name: a name of the layer, for error messages and results.

    Returns:
        The layer, read by its nearest code.

    Raises:
        InputError: an array has another shape.
    """
    automaton = as_automaton(automaton)
    given = [letters[x] for x in automaton.letters] if isinstance(letters, Mapping) else list(letters)
    A, start = np.asarray(given, dtype=np.float64), np.asarray(H0, dtype=np.float64)
    if len(A) != len(automaton.letters) or A.ndim != 3 or A.shape[1] != A.shape[2]:
        raise InputError(
            f"{name}: letters have the shape {A.shape}; [{len(automaton.letters)}, n, n] is needed, one matrix a letter"
        )
    if start.ndim != 2 or len(start) != A.shape[1]:
        raise InputError(f"{name}: H0 has the shape {start.shape}; [{A.shape[1]}, d] is needed")
    added = np.zeros((len(A), *start.shape)) if B is None else np.asarray(B, dtype=np.float64)
    table = (
        _reach_states(A, added, start, automaton)
        if codes is None
        else np.asarray([codes[q] for q in automaton.states], dtype=np.float64)
    )
    states = np.repeat(np.arange(len(table))[:, None], len(A), axis=1)
    model = NpzModel(
        A, added, start, table, states, outputs=tuple(label_text(q) for q in automaton.states), name=name
    )
    rows = table.reshape(len(table), -1)
    head = LearnedHead("head 1", model.A, model.B, model.H0, factors)

    def read(states: Sequence[Floats], letters: Indices) -> Indices:
        flat = states[0].reshape(len(states[0]), -1)
        scores = ((flat[:, None] - rows[None]) ** 2).sum(-1)
        return np.where(np.isfinite(flat).all(1), scores.argmin(1), -1)

    labels = tuple(label_text(x) for x in automaton.letters)
    stepper = AffineStepper((head,), read)
    return Learned(name, labels, (head,), state_target(automaton), stepper, list, read, "float64")


def learned_from_stepper(stepper: Stepper, automaton: AutomatonLike, name: str = "stepper") -> Learned:
    """Any stepper that names the automaton's states by their indices: only its answers are compared, not its heads.

    Args:
        stepper: a stepper, with `initial`, `step` and `decode`.
        automaton: the automaton with which it is compared, in any form that `as_automaton` accepts.
        name: a name for error messages and results.

    Returns:
        The model, without heads.
    """
    automaton = as_automaton(automaton)
    labels = tuple(label_text(x) for x in automaton.letters)
    return Learned(name, labels, (), state_target(automaton), stepper, lambda _: [], None, "its own")


def learned_of(
    model: ModelSource, automaton: AutomatonLike | None = None, argument: str = "learned"
) -> Learned:
    """Anything that is a model, as a comparison takes it.

    Args:
        model: see `ModelSource`.
        automaton: what it is compared with; by default that of the construction, or of the folder's task; in any form that
            `as_automaton` takes.
        argument: what the function that was called calls the model, for errors.

    Returns:
        Its heads, as far as they are known, its answers, and how it runs.

    Raises:
        InputError: it is not a model; its letters or answers are not the automaton's; or it does not say which automaton it is
            to follow, and none is given.
    """
    automaton = None if automaton is None else as_automaton(automaton)
    source = open_source(model, argument)
    if source.kind == "learned":
        return source.value  # type: ignore[no-any-return]
    if source.kind == "realisation":
        return learned_from_lrnn(
            table_of(source.value, "it has no letters to compare"), source.name, automaton
        )
    if automaton is None:
        if source.kind != "folder":
            raise InputError(
                f"{source.name}: it does not say which automaton it is to follow: give that, or a construction of it"
            )
        automaton = automaton_model(source.value, "compare")[1].automaton
    if source.kind == "folder":
        return load_learned_model(source.value, automaton)
    if source.kind == "fla":
        return load_fla_learned(source.value, automaton)
    if source.kind == "npz":
        return learned_from_npz(
            load_npz_model(source.value) if isinstance(source.value, str) else source.value, automaton
        )
    if source.kind == "model":
        return learned_from_model(source.value, automaton)
    return learned_from_stepper(GuardedStepper(source.value, automaton), automaton)


def load_learned(path: str | Path, automaton: AutomatonLike) -> Learned:
    """`learned_of` for a path.

    Args:
        path: the path of a model folder, an FLA checkpoint, an `.npz` file or a certificate.
        automaton: the automaton with which it is compared, in any form that `as_automaton` accepts.

    Returns:
        Its heads, as far as they are known, its answers, and how it runs.

    Raises:
        InputError: there is no such model, or its letters or answers are not the automaton's.
    """
    return learned_of(str(path), automaton)


def _reach_states(A: Floats, B: Floats, start: Floats, automaton: Automaton) -> Floats:
    found: dict[int, Floats] = {automaton.start: start}
    queue = [automaton.start]
    for q in queue:
        for x, after in enumerate(automaton.transitions[:, q].tolist()):
            if after not in found:
                found[after] = A[x] @ found[q] + B[x]
                queue.append(after)
    return np.array([found.get(q, start * np.nan) for q in range(len(automaton.states))])


def _dense(head: Head, code: int) -> tuple[Floats, Floats, Floats]:
    weights, actions = head_weights(head, "fp64"), head.action_of(np.arange(head.letters))
    A = weights.dense()[actions]
    shape = (len(A), head.dim, head.value_dim)
    B = np.zeros(shape) if weights.additive is None else weights.additive[actions]
    return A, B, dense_codes(head, "fp64")[code]


def _in_letter_order(head: Head, lrnn: LRNN) -> tuple[Matrix, ...]:
    dense: list[Matrix] = []
    for t in head.transitions:
        rows = letter_rows(t, head.dim)
        dense.append(tuple(tuple(row.get(j, 0) for j in range(head.dim)) for row in rows))
    return tuple(dense[a] for a in head.action_of(np.arange(head.letters)).tolist())


def _factors(head: Head) -> Factors | None:
    """Rounded to float64 one by one."""
    if head.householders is None or any(f.mask is not None for t in head.transitions for f in t.factors):
        return None
    letters, most = len(head.transitions), max(head.householders, 1)
    beta, keys = np.zeros((letters, most)), np.zeros((letters, most, head.dim))
    for x, t in enumerate(head.transitions):
        for j, factor in enumerate(t.factors):
            beta[x, j] = round_number(factor.beta, "fp64")
            for i, value in factor.vector:
                keys[x, j, i] = round_number(value, "fp64")
    actions = head.action_of(np.arange(head.letters))
    gate = np.array([round_number(t.gate, "fp64") for t in head.transitions])
    return Factors(beta[actions], keys[actions], gate[actions])
