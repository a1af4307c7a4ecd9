"""A layer given by its matrices: one layer, one head, as an `.npz` (what `export npz` writes) or as arrays.

`A` `[letters, n, n]`, `B` `[letters, n, d]`, `H0` `[n, d]`, `codes` `[codes, n, d]`, `decode` `[codes, letters]`, the
index of the output where the letter has led to a state whose nearest code this is. The kernels' arithmetic needs the
factors too: `beta`, `vector`, `factor_count` and `gate`, as `export npz` writes them. `spread` says how far a letter's matrices
lie from `A` where that is a mean over contexts. Nothing is unpickled.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...constructions._head import Head
from ...constructions._realisation import Sparse, Transition
from ...constructions.algebra._householder import GHFactor
from ...constructions.automata._automaton import Automaton, Indices
from ...foundation._errors import InputError
from ...foundation._files import write_bytes
from ...foundation._text import count_noun
from .._npz_file import NPZ_FORMAT, ArrayHeader, check_npz_format, is_text, read_npz
from ..arithmetic._arithmetic import Rounded
from ..arithmetic._rounding import Floats
from ..running._weights import HeadWeights
from ._answers import Answers, output_answers, same_letters
from ._linear import CodeReader, LinearHead, LinearMachine

FACTOR_KEYS = ("beta", "vector", "factor_count", "gate")
CLOSE = 2.0**-20
"""Largest distance of A from the product of its factors; farther apart they are taken for two different layers."""


def factor_head(arrays: Mapping[str, Any], A: Floats, B: Floats, H0: Floats, name: str) -> Head:
    """The head with the float64 numbers taken for what they are; its only code is H0.

    `InputError` where the factors are missing, have a wrong shape, or are not those of A.
    """
    missing = [key for key in FACTOR_KEYS if key not in arrays]
    if missing:
        raise InputError(
            f"{name}: no array {', '.join(missing)}: a kernel runs factors I - β v vᵀ, `export npz` writes them"
        )
    if "mask" in arrays:
        raise InputError(f"{name}: factors with a mask are not what the kernel runs: use per_step or per_op")
    letters, n = A.shape[:2]
    beta, vector, count, gate = (np.asarray(arrays[key]) for key in FACTOR_KEYS)
    most = beta.shape[1] if beta.ndim == 2 else 0
    wanted = {
        "beta": (letters, most),
        "vector": (letters, most, n),
        "factor_count": (letters,),
        "gate": (letters,),
    }
    for key, array in zip(FACTOR_KEYS, (beta, vector, count, gate), strict=True):
        kinds = "iu" if key == "factor_count" else "iuf"
        if array.shape != wanted[key] or array.dtype.kind not in kinds or not np.isfinite(array).all():
            what = "whole" if key == "factor_count" else "finite"
            raise InputError(f"{name}: {key} must be {list(wanted[key])} {what} numbers")
    if count.size and not 0 <= count.min() <= count.max() <= most:
        raise InputError(f"{name}: factor_count must lie in 0 to {most}, the second size of beta")
    transitions = []
    for x in range(letters):
        product = float(gate[x]) * np.eye(n)
        # C_count···C_1 · gate, C = I - β v vᵀ, in float64: near
        # enough to A to show that the factors belong to it
        for j in range(int(count[x])):
            product = product - beta[x, j] * np.outer(vector[x, j], vector[x, j] @ product)
        if not np.abs(product - A[x]).max() <= CLOSE * max(1.0, np.abs(A[x]).max()):
            raise InputError(f"{name}: the factors of letter {x} do not multiply to A[{x}]")
        factors = tuple(
            GHFactor(Fraction(float(beta[x, j])), _entries(vector[x, j])) for j in range(int(count[x]))
        )
        transitions.append(Transition(factors, Fraction(float(gate[x])), _sparse(B[x])))
    codes = (_sparse(H0),)
    return Head(n, H0.shape[1], tuple(transitions), codes, np.zeros((letters, 1), dtype=np.int64))


def _entries(vector: Floats) -> tuple[tuple[int, Fraction], ...]:
    return tuple((i, Fraction(v)) for i, v in enumerate(vector.tolist()) if v)


def _sparse(matrix: Floats) -> Sparse:
    return tuple((i, j, Fraction(v)) for i, row in enumerate(matrix.tolist()) for j, v in enumerate(row) if v)


KEYS = ("A", "B", "H0", "codes", "decode")
LABELS = ("letter_labels", "output_labels")


@dataclass(frozen=True, eq=False)
class NpzModel:
    """A model of one head given by its matrices, as in an `.npz` file.

    Without `outputs` output i is the i-th of `number_outputs` of the automaton that the model is compared with.

    Attributes:
        A: float64 `[letters, n, n]`.
        B: float64 `[letters, n, d]`.
        H0: float64 `[n, d]`, the initial state.
        codes: float64 `[codes, n, d]`.
        decode: int array `[codes, letters]`, the output when a code is reached by a letter.
        letters: the texts of the letters, if they are known.
        outputs: the texts of the outputs, if they are known.
        name: the model's name.
        factors: the arrays of the factors, if they are given.
        spread: how far a letter's matrices lie from `A` at most, in the spectral norm, where `A` is a mean over contexts; else 0.
    """

    A: Floats
    B: Floats
    H0: Floats
    codes: Floats
    decode: Indices
    letters: tuple[str, ...] | None = None
    outputs: tuple[str, ...] | None = None
    name: str = "model"
    factors: Mapping[str, Any] = field(default_factory=dict)
    spread: float = 0.0

    @property
    def has_factors(self) -> bool:
        """Whether the arrays of the factors are there, and without a mask."""
        return set(FACTOR_KEYS) <= set(self.factors) and "mask" not in self.factors

    def __post_init__(self) -> None:
        problems = _problems(self)
        if problems:
            raise InputError(f"{self.name}: " + "; ".join(problems))

    def answers(self, automaton: Automaton) -> Answers:
        """Determine how its answers are compared with an automaton.

        Args:
            automaton: the automaton that it is compared with.

        Raises:
            InputError: the automaton has other letters, or `decode` has a number that is the index of no output.
        """
        if self.letters is not None:
            same_letters(automaton, self.letters, self.name)
        if len(self.A) != len(automaton.letters):
            raise InputError(
                f"{self.name}: A has {len(self.A)} letters, {automaton.name} has {len(automaton.letters)}"
            )
        answers = output_answers(automaton, self.outputs)
        self._refuse_unknown_outputs(automaton, len(answers.meaning))
        return answers

    def _refuse_unknown_outputs(self, automaton: Automaton, known: int) -> None:
        """`InputError` where `decode` has a number that is the index of no output."""
        places = np.argwhere(self.decode >= known)
        if not len(places):
            return
        code, letter = places[0].tolist()
        more = f" (one of {len(places):,} such entries)" if len(places) > 1 else ""
        of = "its output_labels have" if self.outputs is not None else f"{automaton.name} has"
        raise InputError(
            f"{self.name}: decode[{code}, {letter}] is {self.decode[code, letter]}{more}, but {of} {count_noun(known, 'output')}: "
            f"give an index from 0 to {known - 1}, or -1 for no output"
        )

    def reader(self, answers: Answers) -> CodeReader:
        """The nearest code, with the answers that it stands for.

        Args:
            answers: how its outputs are compared with those of the automaton.
        """
        codes = self.codes.reshape(len(self.codes), -1)
        table = answers.of_states(self.decode)
        # one column suffices where the answer does not depend on the letter
        if (table == table[:, :1]).all() and not answers.by_letter:
            table = table[:, :1]
        return CodeReader(codes, table)

    def own_reader(self) -> CodeReader:
        """The nearest code, with the index of the model's own output; -1 for none."""
        return CodeReader(self.codes.reshape(len(self.codes), -1), self.decode)

    def kernel_head(self) -> Head:
        """The factors as a head, for the kernels; `InputError` where there are none, or they do not fit A."""
        return factor_head(self.factors, self.A, self.B, self.H0, self.name)

    def head(self, arithmetic: Rounded) -> LinearHead:
        """The weights, rounded once to the arithmetic's values (float64 numbers are taken as they are).

        Args:
            arithmetic: `per_step` or `per_op`.
        """
        letters, n = self.A.shape[:2]
        # `[n,letters,n]`: the k-th entry of each row is in column k
        values = np.ascontiguousarray(np.moveaxis(arithmetic.round(self.A), 2, 0))
        columns = np.broadcast_to(np.arange(n)[:, None, None], (n, letters, n)).copy()
        B = arithmetic.round(self.B) if self.B.any() else None
        weights = HeadWeights(
            n, self.H0.shape[1], columns, values, B, np.array_equal(np.moveaxis(values, 0, 2), self.A)
        )
        return LinearHead(weights, arithmetic.round(self.H0))

    def machine(self, arithmetic: Rounded, answers: Answers) -> LinearMachine:
        """The model in `per_step` or `per_op`.

        Args:
            arithmetic: `per_step` or `per_op`.
            answers: how its outputs are compared with those of the automaton.
        """
        return LinearMachine([self.head(arithmetic)], arithmetic, self.reader(answers), answers)

    def save(self, path: str | Path) -> None:
        """Write the model as an `.npz`, which `load_npz_model` and every command that takes a model read.

        Args:
            path: the file to write.

        Raises:
            InputError: the file cannot be written.
        """
        arrays: dict[str, Any] = {key: getattr(self, key) for key in KEYS}
        for key, texts in zip(LABELS, (self.letters, self.outputs), strict=True):
            if texts is not None:
                arrays[key] = json.dumps(texts)
        if self.spread:
            arrays["spread"] = np.float64(self.spread)
        stream = BytesIO()
        np.savez(stream, format=NPZ_FORMAT, **arrays, **self.factors)
        write_bytes(path, stream.getvalue())


def load_npz_model(path: str | Path) -> NpzModel:
    """Read the model in an `.npz` file.

    Args:
        path: the `.npz` file.

    Raises:
        InputError: the file holds no model; the message names everything that is wrong.
    """
    refused = InputError(f"{path}: not an .npz of plain arrays (nothing is unpickled)")

    def check(headers: Mapping[str, ArrayHeader]) -> None:
        _check_types(headers, str(path))
        missing = [key for key in KEYS if key not in headers]
        if missing:
            raise InputError(
                f"{path}: no array {', '.join(missing)}; one layer with one head has {', '.join(KEYS)}"
            )
        if problems := _shape_problems({key: headers[key].shape for key in KEYS}):
            raise InputError(f"{path}: " + "; ".join(problems))

    keys = (*KEYS, *LABELS, *FACTOR_KEYS, "mask", "spread", "format")
    arrays = read_npz(path, keys, refused, check_headers=check)
    check_npz_format(arrays, path)
    return npz_model(arrays, str(path))


class Matrices(dict[str, Floats]):
    """Matrices by the letters' texts; `unused`: the names of arrays of a model that the file has beside them."""

    unused: tuple[str, ...] = ()


def load_npz_matrices(path: str | Path) -> NpzModel | Matrices:
    """The model in an `.npz`; or, where the file has `A` and none of the other arrays, the matrices by the letters' texts."""
    refused = InputError(f"{path}: not an .npz of plain arrays (nothing is unpickled)")

    def check(headers: Mapping[str, ArrayHeader]) -> None:
        if set(headers) & set(KEYS) != {"A"}:  # read as a model, with its own check
            return
        _check_types(headers, str(path))
        shape = headers["A"].shape
        if len(shape) != 3 or shape[1] != shape[2]:
            raise InputError(f"{path}: A has the shape {shape}; finite numbers [letters, n, n] are needed")

    beside = (*FACTOR_KEYS, "mask", "spread")
    arrays = read_npz(path, (*KEYS, LABELS[0], *beside), refused, check_headers=check)
    if "A" not in arrays or set(arrays) & set(KEYS[1:]):
        return load_npz_model(path)
    A = _numbers(arrays["A"], "A", str(path))
    if not np.isfinite(A).all():
        raise InputError(f"{path}: A has the shape {A.shape}; finite numbers [letters, n, n] are needed")
    given = _texts(arrays[LABELS[0]], LABELS[0], str(path)) if LABELS[0] in arrays else None
    labels = [str(x) for x in range(len(A))] if given is None else list(given)
    if len(set(labels)) != len(A):
        raise InputError(f"{path}: {LABELS[0]} are {len(set(labels))} texts for {len(A)} letters")
    matrices = Matrices(zip(labels, A, strict=True))
    matrices.unused = tuple(key for key in beside if key in arrays)
    return matrices


def npz_model(arrays: Mapping[str, Any], name: str = "model") -> NpzModel:
    """Make a model from arrays.

    Args:
        arrays: the arrays by name, see the text of the module.
        name: the model's name.
    """
    numbers: dict[str, Any] = {}
    for key in KEYS:
        numbers[key] = _numbers(np.asarray(arrays[key]), key, name)
    texts = [_texts(arrays[key], key, name) if key in arrays else None for key in LABELS]
    factors = {key: arrays[key] for key in (*FACTOR_KEYS, "mask") if key in arrays}
    spread = 0.0
    if "spread" in arrays:
        given = np.asarray(arrays["spread"])
        if given.shape != () or given.dtype.kind not in "iuf" or not 0 <= float(given) < np.inf:
            raise InputError(f"{name}: spread is no finite number from 0; leave it out where A is no mean")
        spread = float(given)
    return NpzModel(**numbers, letters=texts[0], outputs=texts[1], name=name, factors=factors, spread=spread)


def _check_types(headers: Mapping[str, ArrayHeader], name: str) -> None:
    """`InputError` for an array that does not have the type that its name asks for."""
    for key, header in headers.items():
        if key in LABELS and not is_text(header):
            raise InputError(f"{name}: {key} is not the text of a JSON array of strings")
        if key == "format" and not is_text(header):
            raise InputError(f"{name}: format is no text: write it again with numpy.savez")
        if key in KEYS:
            _check_type(header.dtype, key, name)


def _check_type(dtype: np.dtype[Any], key: str, name: str) -> None:
    whole = key == "decode"
    if dtype.kind not in ("iu" if whole else "iufb"):
        raise InputError(
            f"{name}: {key} has the type {dtype}; {'integers' if whole else 'numbers'} are needed"
        )


def _numbers(array: NDArray[Any], key: str, name: str) -> NDArray[Any]:
    """The array as float64, `decode` as int64; `InputError` where that changes a number."""
    whole = key == "decode"
    _check_type(array.dtype, key, name)
    converted = array.astype(np.int64 if whole else np.float64)
    if not _keeps_numbers(array, converted):
        raise InputError(
            f"{name}: {key} has numbers of the type {array.dtype} that are no {'int64' if whole else 'float64'}: round them "
            "first, so that the proof is about the file's numbers"
        )
    return converted


def _keeps_numbers(array: NDArray[Any], converted: NDArray[Any]) -> bool:
    """True where a conversion changed no number (a number that is not finite is another matter)."""
    if array.dtype.kind == "f":
        # a NaN differs from itself; it is refused elsewhere
        return bool((np.isnan(array) | (array == converted.astype(array.dtype))).all())
    return array.astype(object).ravel().tolist() == [int(x) for x in converted.ravel().tolist()]


def _texts(value: Any, key: str, name: str) -> tuple[str, ...]:
    try:
        texts = json.loads(str(value))
    except ValueError:
        texts = None
    if not isinstance(texts, list) or not all(isinstance(t, str) for t in texts):
        raise InputError(f"{name}: {key} is not the text of a JSON array of strings")
    return tuple(texts)


def _shape_problems(shape: Mapping[str, tuple[int, ...]]) -> list[str]:
    """What does not fit together in the shapes of the arrays `KEYS`."""
    if len(shape["A"]) != 3 or shape["A"][1] != shape["A"][2]:
        return [f"A has the shape {shape['A']}; [letters, n, n] is needed (one layer, one head)"]
    if len(shape["H0"]) != 2:
        return [f"H0 has the shape {shape['H0']}; [n, d] is needed"]
    letters, n, d, codes = shape["A"][0], shape["A"][1], shape["H0"][1], (*shape["codes"], 0)[0]
    wanted = {"B": (letters, n, d), "H0": (n, d), "codes": (codes, n, d), "decode": (codes, letters)}
    problems = [
        f"{key} has the shape {shape[key]}, not {size}" for key, size in wanted.items() if shape[key] != size
    ]
    if not codes or not n or not d:
        problems.append("there are no codes or no entries")
    return problems


def _problems(model: NpzModel) -> list[str]:
    problems = _shape_problems({key: getattr(model, key).shape for key in KEYS})
    problems += [
        f"{key} has entries that are not finite" for key in KEYS if not np.isfinite(getattr(model, key)).all()
    ]
    if model.decode.size and model.decode.min() < -1:
        problems.append("decode has entries below -1 (none)")
    return problems
