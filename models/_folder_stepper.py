"""Model folders where `prove` and `spectrum` take a model: as a `Stepper` on its own kernels, and as letter matrices."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

import torch

from ..constructions.automata._automaton import Automaton
from ..constructions.automata._labels import label_text
from ..foundation._errors import InputError
from ..theory._run_file import require_there
from ..theory.arithmetic._arithmetic import Kernel, parse_arithmetic
from ..theory.proofs._answers import Answers, answers_of, output_answers, same_letters
from ..theory.proofs._proof import Proof
from ..theory.proofs._prove import ProofLimits, prove, prove_file
from ._model_file import automaton_model
from ._model_stepper import ModelStepper
from .fla._learned import prove_fla
from .fla._model import is_fla

DTYPES = {"fp64": torch.float64, "fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


def prove_model(
    path: str,
    automaton: Automaton,
    arithmetic: str | None = None,
    **limits: Unpack[ProofLimits],
) -> Proof:
    """`prove` for a model folder, an FLA checkpoint, a certificate or an `.npz`.

    `arithmetic`: by default `per_step:bf16`, and for a model folder `kernel:recurrent:fp32`: it is proved on its own
    kernels, with its weights rounded once to the dtype. `InputError` for another arithmetic of a folder.
    """
    if is_fla(path):
        return prove_fla(path, automaton, arithmetic, **limits)
    require_there(path)
    if not Path(path).is_dir():
        return prove_file(path, automaton, arithmetic or "per_step:bf16", **limits)
    kernel = parse_arithmetic(arithmetic or "kernel:recurrent:fp32")
    if not isinstance(kernel, Kernel) or kernel.mode != "recurrent":
        raise InputError(
            f"`arithmetic` {arithmetic}: a model folder runs token by token on its own kernels; write "
            "kernel:recurrent:fp32 (or fp64, bf16, fp16), with :cuda for the GPU"
        )
    stepper, answers = load_stepper(path, automaton, kernel.dtype, kernel.device or "cpu")
    return prove(stepper, automaton, kernel.name, answers=answers, **limits)


def load_stepper(
    folder: str, automaton: Automaton, dtype: str = "fp32", device: str = "cpu"
) -> tuple[ModelStepper, Answers]:
    """The model of a folder, and how its answers are compared with the automaton.

    `InputError` where its task is no automaton's, or the letters are others.
    """
    model, task, letters, before = automaton_model(folder, "prove")
    same_letters(automaton, letters, folder)
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError("`arithmetic` ...:cuda: torch finds no GPU here")
    stepper = ModelStepper(model.to(device, DTYPES[dtype]), before=before)
    if task.sampler.labels == "state":
        return stepper, answers_of(automaton, task.automaton, folder)
    return stepper, output_answers(automaton, [label_text(c) for c in task.sampler.classes])
