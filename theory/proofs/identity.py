"""Which proof is it: one digest of all that decides a model's steps and answers, and what it is held to.

Two searches have the same digest only where model, automaton (with its labels), arithmetic and the meaning of the
answers are the same, to the last bit. So a saved search is gone on with for the model that it was begun for, and a
result names what it is about.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...constructions.automaton import Automaton
from ...constructions.block_delay import BlockDelay
from ...constructions.certificate import certificate
from ...constructions.errors import MirrormataError
from ...constructions.formats.label_text import label_text, output_texts
from ...constructions.lrnn import LRNN
from .answers import Answers
from .npz_model import NpzModel

Part = bytes | str | np.ndarray[Any, Any]


def proof_digest(model: Any, automaton: Automaton, arithmetic: str, answers: Answers) -> str | None:
    """SHA-256 in hexadecimal of model, automaton, arithmetic and the meaning of answers.

    A `Stepper` tells its own part: the text `identity`, a digest of its weights and of whatever else decides its steps.
    None for a stepper that has none, and for a construction that cannot be written down as a certificate.
    """
    try:
        own = _model_parts(model)
    except MirrormataError:
        return None
    if own is None:
        return None
    labels = json.dumps(
        [
            [label_text(q) for q in automaton.states],
            [label_text(x) for x in automaton.letters],
            output_texts(automaton, automaton.name),
            automaton.start,
        ]
    )
    outputs = np.array(automaton.outputs.shape)
    held_to: list[Part] = [labels, automaton.transitions, outputs, answers.kind, answers.meaning]
    return digest_of([arithmetic, *held_to, *own])


def digest_of(parts: Iterable[Part]) -> str:
    """SHA-256 of texts, bytes and arrays, each with its type, shape and length, so that no two lists are confused."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            head = f"array {part.dtype.str} {part.shape}"
            content = np.ascontiguousarray(part).tobytes()
        else:
            head = "text" if isinstance(part, str) else "bytes"
            content = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(f"{head} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def _model_parts(model: Any) -> list[Part] | None:
    if isinstance(model, LRNN):
        return ["lrnn", json.dumps(certificate(model), sort_keys=True)]
    if isinstance(model, BlockDelay):
        return ["delay", json.dumps(model.certificate(), sort_keys=True)]
    if isinstance(model, NpzModel):
        arrays: list[Part] = ["npz", model.A, model.B, model.H0, model.codes, model.decode]
        labels = json.dumps([model.letters, model.outputs])
        factors: list[Part] = []
        for key in sorted(model.factors):
            factors += [key, np.asarray(model.factors[key])]
        return [*arrays, labels, *factors]
    own = getattr(model, "identity", None)
    return ["stepper", own] if isinstance(own, str) else None
