"""The arithmetic `kernel:recurrent:DTYPE[:cuda]`: a token is one call of the DeltaProduct kernel with T = 1.

Keys, values, β, gates and H_0 are rounded once to the dtype. States go from call to call as the kernel keeps them
inside a sequence: float32, float64 for fp64. Without a device it is the CPU, where the kernel is the recurrence of
`kernels/delta/_reference.py`; with `:cuda` it is the Triton kernel. A zero is always +0: the sign of a zero changes nothing
but the sign of zeros.

A head as the DeltaProduct kernels take it: keys, values, β and gates of every transition, rounded to a dtype.

The kernel runs H ← g H, then for each factor H ← H + β k (v - kᵀH)ᵀ. So a factor I - β k kᵀ is a micro-step with
value 0, and what a transition adds is written by its own factors (`find_written_values`). Transitions with fewer factors
than the most are filled up with β = 0, k = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...constructions._head import Head
from ...constructions._lrnn import LRNN
from ...constructions._written_values import find_written_values
from ...constructions.automata._automaton import Indices
from ...foundation._errors import InputError
from ...foundation._extras import needed_by
from ..arithmetic._arithmetic import Kernel
from ..arithmetic._rounding import FloatFormat, Floats, float_format
from ..running._readout import HeadCodes
from ..running._stepper import LayeredStepper
from ..running._weights import MAX_ENTRIES, Rounding, dense_codes
from ._answers import Answers
from ._codes import codes_are_exact
from ._linear import CodeReader, code_reader
from ._npz_model import NpzModel
from ._state_search import Rows
from ._stepper_machine import StepperMachine

MAX_WIDTH = 256
"""Widest key and value that the kernels take."""


@dataclass(frozen=True, eq=False)
class KernelWeights:
    """`keys` `[transitions, n_h, dim]`, `values` `[..., n_h, value_dim]`, `beta` `[..., n_h]`, `gate` `[...]`.

    All are values of the dtype. `exact`: no number was changed by rounding.
    """

    keys: Floats
    values: Floats
    beta: Floats
    gate: Floats
    exact: bool


def kernel_weights(head: Head, fmt: FloatFormat, name: str = "model") -> KernelWeights:
    """The weights of a head; `InputError` or `NotRealisableError` where a transition is nothing that the kernel can do."""
    if max(head.dim, head.value_dim) > MAX_WIDTH:
        raise InputError(
            f"{name}: a head of {head.dim} × {head.value_dim} is wider than the {MAX_WIDTH} that the kernels take: "
            "use per_step or per_op"
        )
    rounding = Rounding(fmt)
    # a transition without factors still takes a micro-step, with β = 0
    count, most = len(head.transitions), max(head.householders or 0, 1)
    keys, values = np.zeros((count, most, head.dim)), np.zeros((count, most, head.value_dim))
    beta, gate = np.zeros((count, most)), np.ones(count)
    # H ← g H, then H ← H + β k (v - kᵀH)ᵀ = (I - β k kᵀ) H + β k vᵀ for each factor
    for x, transition in enumerate(head.transitions):
        if transition.matrix is not None or any(f.mask is not None for f in transition.factors):
            raise InputError(
                f"{name}: transition {x} is no product of factors I - β k kᵀ, which is what the kernel runs: "
                "use per_step or per_op"
            )
        gate[x] = rounding(transition.gate)
        for j, factor in enumerate(transition.factors):
            beta[x, j] = rounding(factor.beta)
            for i, number in factor.vector:
                keys[x, j, i] = rounding(number)
        # values v for which Σ_j C_last···C_{j+1} β_j k_j v_jᵀ is what the transition adds
        written = find_written_values(transition, head.dim, head.value_dim, f"{name}: transition {x}")
        for j, entries in enumerate(written):
            for _, column, number in entries:
                values[x, j, column] = rounding(number)
    return KernelWeights(keys, values, beta, gate, rounding.exact)


BATCH = 1 << 16
"""States given to the kernel at once."""


class KernelHead:
    """One head on a kernel; states are arrays `[sequences, dim, value_dim]` of float32 (float64 for fp64).

    `backend`: that of `kernels.delta_product`; None: `triton` on the GPU, `reference` on the CPU.
    Raises `InputError` where the kernel cannot run the head, or has no device.
    """

    def __init__(self, head: Head, kernel: Kernel, name: str = "model", backend: str | None = None) -> None:
        with needed_by(f"arithmetic {kernel.name}"):
            import torch

        if kernel.mode != "recurrent":
            raise InputError(
                f"arithmetic {kernel.name}: a chunk has no state after each token: use kernel:recurrent, or "
                "exactness_report for the conditions under which chunks are exact"
            )
        device = kernel.device or "cpu"
        if device == "cuda" and not torch.cuda.is_available():
            raise InputError(
                f"arithmetic {kernel.name}: there is no CUDA device here: leave :cuda out for the CPU"
            )
        self.head, self.fmt = head, float_format(kernel.dtype)
        self.weights: KernelWeights = kernel_weights(head, self.fmt, name)
        self.kind = np.float64 if kernel.dtype == "fp64" else np.float32
        self._backend = backend or ("triton" if device == "cuda" else "reference")
        self._device = device
        self._dtype = {"fp64": torch.float64, "fp32": torch.float32, "fp16": torch.float16}.get(
            kernel.dtype, torch.bfloat16
        )
        self._tensors = [
            torch.from_numpy(part).to(device, self._dtype)
            for part in (self.weights.keys, self.weights.values, self.weights.beta, self.weights.gate)
        ]
        self._gated = bool((self.weights.gate != 1).any())
        self._codes = HeadCodes(head)

    def initial(self, code: int, sequences: int) -> NDArray[Any]:
        """A code rounded to the dtype."""
        only = Head(self.head.dim, self.head.value_dim, (), (self.head.codes[code],), np.zeros((0, 1), int))
        return np.repeat(dense_codes(only, self.fmt).astype(self.kind), sequences, axis=0)

    def step(self, H: NDArray[Any], letters: Indices) -> NDArray[Any]:
        """The states after one token each, letters of the layer `[sequences]`."""
        x = self.head.action_of(np.asarray(letters))[:, None]
        parts = [self.run(H[i : i + BATCH], x[i : i + BATCH]) for i in range(0, len(H), BATCH)]
        return np.concatenate(parts) if parts else H

    def run(self, H: NDArray[Any], transitions: Indices) -> NDArray[Any]:
        """The states after words of equal length, transitions `[sequences, T]`, in one call of the kernel."""
        with needed_by("a kernel"):
            import torch

            from ...kernels import delta_product

        sequences, tokens = transitions.shape
        if (transitions == transitions[:1]).all():
            transitions = transitions[:1]  # one word for all: its weights need not be copied
        x = torch.from_numpy(np.ascontiguousarray(transitions)).to(self._device)
        k, v, b, gate = (part[x].expand(sequences, *part[x].shape[1:]) for part in self._tensors)
        # `[S,T,n_h,·]` as `[S,T·n_h,1,·]`: one head, micro-steps one after another
        k, v, b = (part.flatten(1, 2).unsqueeze(2) for part in (k, v, b))
        with torch.no_grad():
            _, final = delta_product(
                # outputs are not used, so the queries are zero
                k.new_zeros(()).expand(sequences, tokens, 1, self.head.dim),
                k,
                v,
                b,
                a=gate.unsqueeze(2) if self._gated else None,
                householders=self.weights.keys.shape[1],
                initial_state=torch.from_numpy(np.ascontiguousarray(H)).to(self._device).unsqueeze(1),
                output_final_state=True,
                mode="recurrent",
                backend=self._backend,
            )
        after: NDArray[Any] = final[:, 0].cpu().numpy()
        return after + self.kind(0)  # -0 becomes +0, so that equal states have equal bits

    def codes(self, H: NDArray[Any]) -> Indices:
        """The nearest codes; -1 for a state that is not finite."""
        return self._codes.nearest(H.reshape(len(H), -1).astype(np.float64))


class KernelLayers(LayeredStepper):
    """Several layers, each head on the kernel; read out by the nearest code of each head."""

    def __init__(self, lrnn: LRNN, kernel: Kernel, backend: str | None = None) -> None:
        self.lrnn, self.start_row = lrnn, 0
        self.engines = [KernelHead(head, kernel, lrnn.automaton.name, backend) for head in lrnn.all_heads]


class _Read(Protocol):
    def decode(self, states: Floats, letters: Indices) -> Indices: ...


class KernelLayer:
    """One layer: heads side by side on the kernel; `read` names the nearest joint code's own answer."""

    def __init__(self, heads: Sequence[KernelHead], start: Sequence[int], read: _Read) -> None:
        self.heads, self.start, self.read = tuple(heads), tuple(start), read

    def initial(self, sequences: int) -> list[NDArray[Any]]:
        """H_0 of each head."""
        return [head.initial(code, sequences) for head, code in zip(self.heads, self.start, strict=True)]

    def step(self, states: Sequence[NDArray[Any]], letters: Indices) -> list[NDArray[Any]]:
        """One token."""
        return [head.step(H, letters) for head, H in zip(self.heads, states, strict=True)]

    def decode(self, states: Sequence[NDArray[Any]], letters: Indices) -> Indices:
        """The model's own answers (states, or outputs of an `.npz`), -1 for none."""
        return self.read.decode(join_head_entries(states), np.asarray(letters))


class KernelMachine(StepperMachine):
    """One layer on a kernel as what the search runs; `reader` holds the nearest code to the right answer."""

    def __init__(self, layer: KernelLayer, answers: Answers, reader: CodeReader) -> None:
        super().__init__(layer, answers)
        self.reader = reader
        self.reads_letters = reader.by_letter or answers.by_letter

    def first_wrong(self, rows: Rows, letters: Indices, before: Indices, after: Indices) -> int:
        """The first place where the nearest code does not give the right answer, or -1."""
        states = join_head_entries(self.unpack(rows))
        return self.reader.first_wrong(states, letters, self.answers.right(letters, before, after))


def kernel_machine(
    model: LRNN | NpzModel, answers: Answers, kernel: Kernel, backend: str | None = None
) -> StepperMachine:
    """The model on the kernel; `InputError` for an `.npz` without factors."""
    if isinstance(model, NpzModel):
        head = model.kernel_head()
        layer = KernelLayer([KernelHead(head, kernel, model.name, backend)], [0], model.own_reader())
        return KernelMachine(layer, answers, model.reader(answers))
    if model.is_layered:
        return StepperMachine(KernelLayers(model, kernel, backend), answers)
    reader = code_reader(model, answers)
    heads = [KernelHead(head, kernel, model.automaton.name, backend) for head in model.only_layer.heads]
    own = CodeReader(reader.codes, model.decode[:, :1])
    return KernelMachine(KernelLayer(heads, model.decode[0, 1:].tolist(), own), answers, reader)


def kernel_codes_are_closed(lrnn: LRNN, kernel: Kernel, backend: str | None = None) -> bool:
    """True where every head maps each of its codes to the code of its table, bit for bit, on the kernel.

    The codes must be numbers of the kernel's states. False also where they are too many to be listed densely.
    """
    return all(
        _is_closed(head, KernelHead(head, kernel, lrnn.automaton.name, backend)) for head in lrnn.all_heads
    )


def _is_closed(head: Head, engine: KernelHead) -> bool:
    if len(head.codes) * head.dim * head.value_dim > MAX_ENTRIES:
        return False
    codes = dense_codes(head, "fp64")
    kept = codes.astype(engine.kind)
    # the exact codes must be numbers of the states' format
    if not codes_are_exact(head, codes) or not np.array_equal(kept, codes):
        return False
    # every transition on every code, compared with the code that the table names, bit for bit
    for t, images in enumerate(head.code_transitions):
        for i in range(0, len(kept), BATCH):
            part = kept[i : i + BATCH]
            if not np.array_equal(engine.run(part, np.full((len(part), 1), t)), kept[images[i : i + BATCH]]):
                return False
    return True


def join_head_entries(states: Sequence[NDArray[Any]]) -> Floats:
    """The entries of all heads one after the other, float64 `[sequences, entries]`."""
    return np.concatenate([H.reshape(len(H), -1) for H in states], axis=1).astype(np.float64)
