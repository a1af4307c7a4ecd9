"""The matrices of a model's letters, exactly: of an `LRNN`, an `NpzModel`, or given one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...constructions.errors import InputError
from ...constructions.lrnn import LRNN, Head
from ...constructions.texts.layer_letters import distinct_transitions, layer_letters
from ...constructions.texts.show import label_text
from ..running.weights import letter_rows
from .matrix import ExactMatrix, exact_matrix, sparse_row


def lrnn_heads(lrnn: LRNN) -> list[tuple[str, list[ExactMatrix], list[str]]]:
    """For each head its name, and for each letter of its layer the matrix and the label."""
    letters = layer_letters(lrnn)
    several = len(lrnn.layers) > 1
    heads = []
    for i, layer in enumerate(lrnn.layers):
        for j, head in enumerate(layer.heads):
            matrices, names = [], []
            for transition, own in distinct_transitions(head):
                matrices += [_transition_matrix(head, transition)] * len(own)
                names += [letters[i].name(x) for x in own]
            heads.append((f"head {i + 1}.{j + 1}" if several else f"head {j + 1}", matrices, names))
    return heads


def _transition_matrix(head: Head, transition: int) -> ExactMatrix:
    rows = letter_rows(head.transitions[transition], head.dim)
    return ExactMatrix(tuple(sparse_row(row) for row in rows), head.dim)


def given_letters(
    model: Any, labels: Sequence[str] | None, title: str
) -> tuple[list[ExactMatrix], list[str]]:
    """The matrices and labels of a model of one head; `InputError` with all that is wrong with them."""
    if not isinstance(model, Mapping | Sequence) and hasattr(model, "H0"):
        from ..proofs.npz_model import NpzModel

        if isinstance(model, NpzModel):
            labels, model = model.letters if labels is None else labels, model.A
    if isinstance(model, Mapping):
        labels, model = [label_text(x) for x in model], list(model.values())
    try:
        given = list(model)
    except TypeError:
        raise InputError(
            f"{title}: an LRNN or matrices [letters, n, n] are needed, not {type(model).__name__}"
        ) from None
    names = [str(x) for x in range(len(given))] if labels is None else list(labels)
    if not given or len(names) != len(given):
        raise InputError(
            f"{title}: {len(given)} matrices with {len(names)} labels; each letter has one of each"
        )
    matrices, wrong = [], []
    for x, A in zip(names, given, strict=True):
        try:
            matrices.append(exact_matrix(A, f"letter {x}"))
        except InputError as error:
            wrong.append(str(error))
    wrong += [
        f"letter {x}: {A.n} × {A.n}, but letter {names[0]} is {matrices[0].n} × {matrices[0].n}"
        for x, A in zip(names, matrices, strict=False)
        if not wrong and A.n != matrices[0].n
    ]
    if wrong:
        raise InputError(
            f"{title}: " + "; ".join(wrong[:5]) + (f"; and {len(wrong) - 5} more" * (len(wrong) > 5))
        )
    return matrices, names
