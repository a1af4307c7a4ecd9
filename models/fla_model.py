"""FLA's DeltaNet and GatedDeltaProduct language models read from a checkpoint and run token by token in numpy.

Written from the layers of `flash-linear-attention` 0.6; it needs neither FLA nor a GPU. It is a `Stepper`, and tells what each
layer's heads do to their states: H ← A H + B, H `[K, V]`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..constructions.automaton import Indices
from ..constructions.errors import InputError
from ..theory.rounding import Floats

Tensors: TypeAlias = Mapping[str, Floats]


@dataclass(frozen=True, eq=False)
class Drive:
    """What a token does to the heads of a layer: q `[sequences, heads, K]`, k and v `[sequences, n_h, heads, ·]`.

    `beta` `[sequences, n_h, heads]`, `gate` `[sequences, heads]` (before the factors).
    """

    q: Floats
    k: Floats
    v: Floats
    beta: Floats
    gate: Floats

    def apply(self, H: Floats) -> Floats:
        """States `[sequences, heads, K, V]` after the token."""
        H = H * self.gate[..., None, None]
        for j in range(self.k.shape[1]):
            k, v = self.k[:, j], self.v[:, j]
            read = np.einsum("bhk,bhkv->bhv", k, H)
            H = H + (self.beta[:, j, :, None] * k)[..., None] * (v - read)[..., None, :]
        return H

    def transitions(self) -> tuple[Floats, Floats]:
        """A `[sequences, heads, K, K]` and B `[sequences, heads, K, V]`."""
        K = self.k.shape[-1]
        eye = np.broadcast_to(np.eye(K), (*self.gate.shape, K, K))
        linear = Drive(self.q, self.k, np.zeros((*self.k.shape[:-1], K)), self.beta, self.gate)
        return linear.apply(eye), self.apply(np.zeros((*self.gate.shape, K, self.v.shape[-1])))


class FlaModel:
    """`config`, `tensors`: as `load_fla` has them. `dtype`: of all arithmetic, float64 or float32.

    `bos`: a token read before the first one, None for none. States are, layer by layer, H and the past inputs of the
    short convolutions (q, k, v); last the token that the model answers with. `meaning`: the label of each
    token, -1 for none; by default its own number.
    Raises `InputError` for what is not read: attention layers, and other switches of the configuration.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        tensors: Tensors,
        *,
        dtype: str = "float64",
        bos: int | None = None,
        meaning: ArrayLike | None = None,
    ) -> None:
        self.product = config["model_type"] == "gated_deltaproduct"
        if config.get("tie_word_embeddings", False) and "model.embeddings.weight" in tensors:
            tensors = {"lm_head.weight": tensors["model.embeddings.weight"], **tensors}
        _check(config, tensors)
        self.tensors = {name: value.astype(dtype) for name, value in tensors.items()}
        self.config, self.dtype, self.bos = config, dtype, bos
        self.layers = int(config["num_hidden_layers"])
        self.heads, self.eps = int(config["num_heads"]), config.get("norm_eps", 1e-6)
        self.factors = int(config.get("num_householder", 1)) if self.product else 1
        self.conv = bool(config.get("use_short_conv", True))
        self.vocabulary, self.width = self.tensors["model.embeddings.weight"].shape
        self.meaning = np.arange(self.vocabulary) if meaning is None else np.asarray(meaning)

    def initial(self, sequences: int) -> list[Any]:
        """Zero states, and BOS read where there is one."""
        states: list[Any] = []
        for i in range(self.layers):
            K = self._weight(i, "q_proj.weight").shape[0] // self.heads
            V = self._weight(i, "v_proj.weight").shape[0] // self.heads // self.factors
            states.append(np.zeros((sequences, self.heads, K, V), self.dtype))
            for name in "qkv" if self.conv else "":
                channels, _, taps = self._weight(i, f"{name}_conv1d.weight").shape
                states.append(np.zeros((sequences, channels, taps - 1), self.dtype))
        states.append(np.full(sequences, -1))
        return states if self.bos is None else self.step(states, np.full(sequences, self.bos))

    def step(self, states: list[Any], letters: Indices) -> list[Any]:
        """One token for every sequence."""
        return self.forward(states, letters)[1]

    def decode(self, states: list[Any], letters: Indices) -> Indices:
        """The label of the token with the largest logit; -1 for none."""
        result: Indices = np.where(states[-1] < 0, -1, self.meaning[states[-1]])
        return result

    def forward(self, states: list[Any], letters: Indices) -> tuple[Floats, list[Any], list[Drive]]:
        """Logits `[sequences, tokens]`, the states after the token, and what it did to each layer."""
        h = self.tensors["model.embeddings.weight"][letters]
        before, after, drives = iter(states), [], []
        for i in range(self.layers):
            x = self._norm(h, f"model.layers.{i}.attn_norm.weight")
            H = next(before)
            pasts = [next(before) for _ in ("qkv" if self.conv else "")]
            drive, pasts = self._drive(i, x, pasts)
            H = drive.apply(H)
            o = np.einsum("bhk,bhkv->bhv", drive.q, H) * H.shape[2] ** -0.5
            o = self._norm(o, f"model.layers.{i}.attn.o_norm.weight")
            if self.config.get("use_output_gate" if self.product else "use_gate", self.product):
                o = o * _silu(x @ self._weight(i, "g_proj.weight").T).reshape(o.shape)
            h = h + o.reshape(len(o), -1) @ self._weight(i, "o_proj.weight").T
            y = self._norm(h, f"model.layers.{i}.mlp_norm.weight")
            mlp = {n: self.tensors[f"model.layers.{i}.mlp.{n}_proj.weight"].T for n in ("gate", "up", "down")}
            h = h + (_silu(y @ mlp["gate"]) * (y @ mlp["up"])) @ mlp["down"]
            after += [H, *pasts]
            drives.append(drive)
        logits = self._norm(h, "model.norm.weight") @ self.tensors["lm_head.weight"].T
        return logits, [*after, logits.argmax(-1)], drives

    def heads_of(self, states: list[Any]) -> list[Floats]:
        """H of each layer, `[sequences, heads, K, V]`."""
        return [x for x in states if np.ndim(x) == 4]

    def _drive(self, i: int, x: Floats, pasts: list[Floats]) -> tuple[Drive, list[Floats]]:
        activation = "silu" if self.product else self.config.get("qk_activation", "silu")
        projected, after = [], []
        for n, name in enumerate("qkv"):
            y = x @ self._weight(i, f"{name}_proj.weight").T
            if self.conv:
                taps = self._weight(i, f"{name}_conv1d.weight")[:, 0]
                window = np.concatenate([pasts[n], y[..., None]], -1)
                y = (window * taps).sum(-1) + self.tensors.get(f"model.layers.{i}.attn.{name}_conv1d.bias", 0)
                after.append(window[..., 1:])
            projected.append(_ACTIVATIONS[activation if name != "v" else "silu"](y))
        q, k, v = projected
        factors, heads = self.factors, self.heads
        q, k, v = (
            q.reshape(len(x), heads, -1),
            k.reshape(len(x), factors, heads, -1),
            v.reshape(len(x), factors, heads, -1),
        )
        if self.product or self.config.get("qk_norm", "l2") == "l2":
            q, k = (y / np.sqrt((y * y).sum(-1, keepdims=True) + np.asarray(1e-6, y.dtype)) for y in (q, k))
        else:
            q, k = (
                y / np.maximum(np.abs(y).sum(-1, keepdims=True), np.asarray(1e-6, y.dtype)) for y in (q, k)
            )
        beta = np.ones((len(x), factors, heads), self.dtype)
        if self.product or self.config.get("use_beta", True):
            beta = _sigmoid(x @ self._weight(i, "b_proj.weight").T).reshape(len(x), factors, heads)
        if self.config.get("allow_neg_eigval", False):
            beta = 2 * beta
        gate = np.ones((len(x), heads), self.dtype)
        if self.product and self.config.get("use_forget_gate", False):
            z = x @ self._weight(i, "a_proj.weight").T + self._weight(i, "dt_bias")
            gate = np.exp(-np.exp(self._weight(i, "A_log")) * np.logaddexp(0, z))
        return Drive(q, k, v, beta, gate), after

    def _weight(self, i: int, name: str) -> Floats:
        return self.tensors[f"model.layers.{i}.attn.{name}"]

    def _norm(self, x: Floats, name: str) -> Floats:
        eps = np.asarray(self.eps, x.dtype)
        result: Floats = x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * self.tensors[name]
        return result


def _sigmoid(x: Floats) -> Floats:
    with np.errstate(over="ignore"):
        result: Floats = 1 / (1 + np.exp(-x))
    return result


def _silu(x: Floats) -> Floats:
    return x * _sigmoid(x)


_ACTIVATIONS: dict[str, Callable[[Floats], Floats]] = {
    "silu": _silu,
    "relu": lambda x: np.maximum(x, 0),
    "elu": lambda x: np.where(x > 0, x + 1, np.exp(np.minimum(x, 0))),
    "identity": lambda x: x,
}


def _check(config: Mapping[str, Any], tensors: Tensors) -> None:
    wrong = [
        f"{name} {config[name]!r}"
        for name, allowed in (
            ("attn", (None,)), ("attnres_block_size", (None,)), ("num_v_heads", (None, config.get("num_heads"))),
            ("hidden_act", ("swish",)),
        )
        if config.get(name, allowed[0]) not in allowed
    ]  # fmt: skip
    for name in ("num_hidden_layers", "num_heads"):
        if type(config.get(name)) is not int or config[name] < 1:
            raise InputError(f"the checkpoint's configuration has no {name}, a whole number from 1")
    if wrong:
        raise InputError(f"the checkpoint's configuration has {', '.join(wrong)}, which is not read here")
    wanted = ["model.embeddings.weight", "model.norm.weight", "lm_head.weight"]
    for i in range(config["num_hidden_layers"]):
        block = f"model.layers.{i}."
        wanted += [f"{block}{n}.weight" for n in ("attn_norm", "mlp_norm", "attn.o_norm")]
        wanted += [f"{block}attn.{n}_proj.weight" for n in "qkvo"]
        wanted += [f"{block}mlp.{n}_proj.weight" for n in ("gate", "up", "down")]
    if missing := next((name for name in wanted if name not in tensors), None):
        raise InputError(f"the checkpoint has no tensor {missing!r}")
