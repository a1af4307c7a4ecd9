"""What may be given wherever a model is wanted, and `prove` and `spectrum` for all of it.

`open_source` alone decides what somebody gave: a path (of a model folder, an FLA checkpoint, an `.npz`, a certificate), a
`Model`, a construction, a certificate as data, an `NpzModel`, a `Stepper` or a `Learned`. `compare`, `prove` and
`spectrum_of_model` ask it. torch is loaded only where a model of tensors runs, since the spectrum of a construction needs none.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..constructions._conversions import AutomatonLike, as_automaton
from ..constructions._document import is_certificate
from ..constructions._realisation import Realisation
from ..constructions.automata._labels import label_text
from ..foundation._arguments import read_attribute, require_instance
from ..foundation._errors import InputError
from ..foundation._extras import needed_by
from ..foundation._files import is_folder, path_of
from ..theory._realisations import realisation_of, require_table, require_there
from ..theory.arithmetic._arithmetic import ARITHMETICS, Arithmetic, Kernel, parse_arithmetic
from ..theory.proofs._answers import Answers, answers_of, output_answers, same_letters
from ..theory.proofs._npz_model import NpzModel, load_npz_matrices, load_npz_model
from ..theory.proofs._proof import Proof
from ..theory.proofs._prove import MAX_STATES, ProofLimits, require_limits
from ..theory.proofs._prove import prove as prove_stepper
from ..theory.proofs._state_search import Progress
from ..theory.proofs._trial_words import MAX_TRIAL_LETTERS
from ..theory.running._guarded import GuardedStepper, require_stepper
from ..theory.running._stepper import Stepper
from ..theory.spectra._model import ModelSpectrum, model_spectrum
from .fla._model import is_fla
from .learned._learned import Learned

if TYPE_CHECKING:
    from ._model import Model
    from ._model_stepper import ModelStepper

DTYPES = {"fp64": "float64", "fp32": "float32", "fp16": "float16", "bf16": "bfloat16"}
"""torch's names of the dtypes."""

Kind = Literal["folder", "fla", "npz", "realisation", "model", "stepper", "learned"]
ModelSource: TypeAlias = (
    "str | PathLike[str] | Mapping[str, Any] | Model | Realisation | NpzModel | Stepper | Learned"
)
"""All that a public function takes wherever a model is wanted."""
TAKEN = (
    "a model folder, an FLA checkpoint, an .npz or a certificate (by its path), a Model, a construction, a certificate, an "
    "NpzModel, a Stepper or a Learned"
)


@dataclass(frozen=True, eq=False)
class Source:
    """What was given. `kind`, and by it `value`:

    - `folder`, `fla`: the path of a model folder or of an FLA checkpoint, as a text.
    - `npz`: an `NpzModel`; for a path that is to be read later, the path as a text.
    - `realisation`: what a certificate constructs, checked before, or a construction itself.
    - `model`, `stepper`, `learned`: the object.

    `name`: the path, or a word for the object, for errors and results.
    """

    kind: Kind
    value: Any
    name: str


def open_source(model: Any, argument: str = "model") -> Source:
    """Decide what somebody gave as a model.

    Args:
        model: see `ModelSource`. Files of certificates are read and checked, other files are not read yet.
        argument: its name in the function that was called, for errors.

    Returns:
        Its kind, the object or path, and a name.

    Raises:
        InputError: it is none of these, there is no such file, or the certificate is invalid or constructs nothing.
    """
    if isinstance(model, str | PathLike):
        return _open_path(str(path_of(model, argument, TAKEN)), argument)
    if isinstance(model, Learned):
        return Source("learned", model, model.name)
    if _is_model(model):
        return Source("model", model, "model")
    if isinstance(model, NpzModel):
        return Source("npz", model, model.name)
    if isinstance(model, Realisation):
        return Source("realisation", model, model.construction)
    if is_certificate(model):
        return Source("realisation", realisation_of(model, argument), "certificate")
    if all(callable(read_attribute(model, name)) for name in ("initial", "step", "decode")):
        return Source("stepper", require_stepper(model, argument), "stepper")
    raise InputError(f"`{argument}` is of the type {type(model).__name__}: give {TAKEN}")


def _is_model(model: Any) -> bool:
    if "torch" not in sys.modules:  # then nobody has made one
        return False
    with needed_by("a model of tensors"):
        from ._model import Model

    return isinstance(model, Model)


def _open_path(path: str, argument: str) -> Source:
    place = Path(path)
    if is_fla(place):
        return Source("fla", path, path)
    if is_folder(place):
        return Source("folder", path, path)
    if place.suffix == ".npz":
        return Source("npz", path, path)
    require_there(path, ", and not a model folder or a checkpoint")
    return Source("realisation", realisation_of(path), path)


def prove(
    model: ModelSource,
    automaton: AutomatonLike,
    arithmetic: str | Arithmetic | None = None,
    *,
    max_states: int = MAX_STATES,
    max_seconds: float | None = None,
    resume: str | Path | None = None,
    save_every: float = 60.0,
    method: str = "auto",
    answers: Answers | None = None,
    progress: Progress | None = None,
    max_trial_letters: int = MAX_TRIAL_LETTERS,
) -> Proof:
    """Prove or refute that a model equals an automaton on words of every length, in the arithmetic in which it runs.

    The verdict is `equivalent`; `counterexample`, with a wrong word; or `unknown`, with the length up to which the model
    is proved right. The states are searched breadth first, which gives a shortest wrong word. Where the search does not end soon,
    words v v v ... of short words v and random words are tried beside it; a word that is found in this way need not be a shortest
    one (`Proof.shortest`). The verdict `equivalent` is given only after a second program has confirmed it. Answers are compared after
    each token, not before the first one. Ctrl-C ends the search with the verdict `unknown`. torch is loaded only for models that
    consist of tensors.

    Args:
        model: a construction, its certificate or the path of one; an `NpzModel` or the path of an `.npz`; a model folder, an
            FLA checkpoint, a `Model` or a `Learned`; or any `Stepper` that decodes to the automaton's states by their
            indices, or to numbers that `answers` gives a meaning. A `Model`'s classes stand for the automaton's states, by
            its `meaning`.
        automaton: the automaton with which the model must agree on every word, in any form that `as_automaton` accepts, such as a SPEC.
        arithmetic: `exact`, `per_step:...`, `per_op:...` or `kernel:recurrent:...` (`parse_arithmetic`). By default
            `per_step:bf16`; for an FLA checkpoint `fla:naive:bf16`; for a model folder or a `Model`
            `kernel:recurrent:fp32`: it runs on its own kernels, with its weights rounded once to the dtype. For a
            `Stepper` or a `Learned` it is only a name. Several layers run in `per_step` formats or on the kernel, block
            delays in `per_step` formats. On the kernel, an `.npz` must contain its factors.
        max_states: the largest number of states of the model to explore, 1 or more.
        max_seconds: time limit of the search in seconds, 0 or more; None for no limit.
        resume: a file from which the search continues if it exists. It is written every `save_every` seconds, on Ctrl-C and at
            a limit. A stepper needs a text attribute `identity` for this.
        save_every: seconds after which `resume` is written again.
        method: `auto` tries all methods; `states` uses only the search of all states.
        answers: what the answers of a `Stepper` mean; None if they are indices of the automaton's states. A model folder, a
            checkpoint, a `Model` and a `Learned` contain this information.
        progress: called about once a second with the numbers of states found and followed.
        max_trial_letters: the largest number of letters of all words together that are tried beside the search, 0 or more; 0
            for none. By default there are 16 words of 4,096 letters where there are 12 letters or fewer.

    Returns:
        The proof, with its verdict, what was explored, the wrong word if there is one, and the certificate.

    Raises:
        InputError: it is not a model, its letters or answers are not the automaton's, or it does not run in the arithmetic.
        DisagreementError: the second program reaches a different result.
    """
    options: ProofLimits = {
        "max_states": max_states,
        "max_seconds": max_seconds,
        "resume": resume,
        "save_every": save_every,
        "method": method,
        "progress": progress,
        "max_trial_letters": max_trial_letters,
    }
    automaton = as_automaton(automaton)
    source = open_source(model)
    require_limits(options)
    if arithmetic is not None and not isinstance(arithmetic, str):
        require_instance("arithmetic", arithmetic, ARITHMETICS, "its name, such as per_step:bf16")
    if answers is not None and source.kind not in ("stepper", "npz", "realisation"):
        raise InputError(
            f"`answers` is of a Stepper, and {source.name} says what its answers mean: leave it out"
        )
    if answers is not None:
        require_instance("answers", answers, Answers, "an Answers, which says what a Stepper's answers mean")
    if source.kind in ("npz", "realisation", "stepper"):
        held = load_npz_model(source.value) if isinstance(source.value, str) else source.value
        if source.kind == "stepper":
            held = GuardedStepper(source.value, automaton, None if answers is None else len(answers.meaning))
        return prove_stepper(held, automaton, arithmetic, answers=answers, **options)
    if source.kind == "learned":
        meant = answers_of(automaton, source.value.target.automaton, source.name)
        return prove_stepper(
            source.value.stepper, automaton, arithmetic or source.value.arithmetic, answers=meant, **options
        )
    if source.kind == "fla":
        with needed_by(f"{source.name}: an FLA checkpoint"):
            from .fla._learned import prove_fla

        name = arithmetic if isinstance(arithmetic, str | None) else arithmetic.name
        return prove_fla(source.value, automaton, name, **options)
    kernel = arithmetic or "kernel:recurrent:fp32"
    kernel = parse_arithmetic(kernel) if isinstance(kernel, str) else kernel
    if not isinstance(kernel, Kernel) or kernel.mode != "recurrent":
        raise InputError(
            f"`arithmetic` {arithmetic}: a model folder runs token by token on its own kernels; write "
            "kernel:recurrent:fp32 (or fp64, bf16, fp16), with :cuda for the GPU"
        )
    if source.kind == "model":
        stepper, meanings = _stepper_of(source.value, kernel.dtype, kernel.device or "cpu"), None
    else:
        stepper, meanings = load_stepper(source.value, automaton, kernel.dtype, kernel.device or "cpu")
    return prove_stepper(stepper, automaton, kernel.name, answers=meanings, **options)


def refuse_uncertified(model: str, arithmetic: str | None) -> None:
    """`InputError` where the checker does not run the arithmetic, so that no proof in it has a certificate (`output`).

    Args:
        model: the path of a model, whose default arithmetic may be such a one.
        arithmetic: the name of the arithmetic; None for the model's own.
    """
    place = Path(model)
    own = "fla:naive" if is_fla(place) else "kernel:recurrent" if is_folder(place) else "per_step"
    name = arithmetic or own
    if name.startswith(("kernel:", "fla:")):
        raise InputError(
            f"{model}: `output` is for a certificate, and the checker runs no {name}, so a proof in it has none: leave `output` out"
        )


def load_stepper(
    folder: str, automaton: AutomatonLike, dtype: str = "fp32", device: str = "cpu"
) -> tuple[ModelStepper, Answers]:
    """Load the model in a folder, and determine how its answers are compared with an automaton.

    Args:
        folder: a folder with `config.json`, `model.safetensors` and `task.json`.
        automaton: an automaton with the letters of the folder's task, in the same order, in any form that `as_automaton` accepts.
        dtype: `fp64`, `fp32`, `fp16` or `bf16`, to which the weights are rounded once.
        device: `cpu` or `cuda`.

    Returns:
        The stepper, and what its answers mean.

    Raises:
        InputError: the folder's task is not that of an automaton, the letters differ, or torch finds no GPU.
    """
    with needed_by(f"{folder}: a model folder"):
        from ._model_file import automaton_model

    automaton = as_automaton(automaton)
    model, task, letters, before = automaton_model(folder, "prove")
    same_letters(automaton, letters, folder)
    stepper = _stepper_of(model, dtype, device, before)
    if task.sampler.labels == "state":
        return stepper, answers_of(automaton, task.automaton, folder)
    return stepper, output_answers(automaton, [label_text(c) for c in task.sampler.classes])


def _stepper_of(model: Model, dtype: str, device: str, before: tuple[int, ...] = ()) -> ModelStepper:
    with needed_by("a model of tensors"):
        import torch

        from ._model_stepper import ModelStepper

    if device == "cuda" and not torch.cuda.is_available():
        raise InputError("`arithmetic` ...:cuda: torch finds no GPU here; leave :cuda out")
    return ModelStepper(model.to(device, getattr(torch, DTYPES[dtype])), before=before)


def spectrum_of_model(
    model: ModelSource,
    *,
    products: int = 0,
    max_dim: int = 64,
    max_letters: int = 2_000,
    max_products: int = 2_000,
    within: float = 0.0,
) -> ModelSpectrum:
    """Enclose and classify the eigenvalues of every letter of a model that consists of matrices; see `model_spectrum`.

    Args:
        model: a construction, a certificate, an `.npz` (also with `A` alone); or a model folder, a `Model` or an FLA checkpoint, of one
            layer without convolution or token shift, so that each letter has a matrix of its own.
        products: also analyse all distinct products of up to this many letters.
        max_dim: the largest dimension of a matrix.
        max_letters: the largest number of distinct letter matrices.
        max_products: the largest number of distinct products.
        within: a distance within which ranks, norms and stability are judged, for matrices that were rounded (`model_spectrum`).

    Returns:
        The spectra of all heads.

    Raises:
        InputError: it is not a model, or it does not provide the matrices of its letters.
        LimitError: a limit was reached.
    """
    source = open_source(model)
    limits: dict[str, Any] = {
        "products": products, "max_dim": max_dim, "max_letters": max_letters, "max_products": max_products, "within": within,
    }  # fmt: skip
    if source.kind == "fla":
        with needed_by(f"{source.name}: an FLA checkpoint"):
            from .fla._learned import fla_spectrum

        return fla_spectrum(source.value, **limits)
    if source.kind in ("folder", "model"):
        with needed_by(f"{source.name}: a model of tensors"):
            from .learned._spectrum import folder_spectrum, model_letter_spectrum

        if source.kind == "folder":
            return folder_spectrum(source.value, **limits)
        letters = range(source.value.config.letters)
        return model_letter_spectrum(source.value, [str(x) for x in letters], letters, source.name, **limits)
    if source.kind not in ("npz", "realisation"):
        raise InputError(
            f"{source.name}: it gives no exact matrices of its letters; `compare` shows the eigenvalues of its heads; what is "
            "needed here is a certificate, an .npz of matrices, a model folder or an FLA checkpoint of one layer"
        )
    held = load_npz_matrices(source.value) if isinstance(source.value, str) else source.value
    if source.kind == "realisation":
        held = require_table(source.value, source.name)
    return model_spectrum(held, name=source.name, **limits)
