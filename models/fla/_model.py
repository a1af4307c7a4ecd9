"""FLA's DeltaNet and GatedDeltaProduct language models read from a checkpoint and run token by token in numpy.

Written from the layers of `flash-linear-attention` 0.6; it needs neither FLA nor a GPU. First the configuration is checked and
filled up with FLA's defaults, and the tensors are compared with the names and shapes that it asks for. `FlaModel` is a `Stepper`,
and says what each layer's heads do to their states: H ← A H + B, H `[K, V]`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ...constructions.automata._automaton import Indices
from ...foundation._errors import InputError
from ...foundation._files import is_file, read_json
from ...theory.arithmetic._rounding import Floats, float_format, round_array
from ...theory.proofs._proof import Part, digest_of
from ._sizes import LARGEST_RATIO, LARGEST_SIZE, MOST_LAYERS, is_ratio, is_size

DEFAULTS: dict[str, dict[str, Any]] = {
    "delta_net": {
        "hidden_size": 2048, "num_heads": 16, "num_hidden_layers": 24, "expand_k": 1.0, "expand_v": 1.0,
        "use_gate": False, "use_beta": True, "vocab_size": 32000,
    },
    "gated_deltaproduct": {
        "hidden_size": 2048, "num_heads": 6, "num_hidden_layers": 21, "head_dim": 256, "expand_v": 2.0,
        "use_output_gate": True, "use_forget_gate": False, "num_householder": 1, "vocab_size": 32000,
    },
}  # fmt: skip
"""What FLA 0.6 takes where a configuration says nothing, by model type."""
_ALLOWED: dict[str, tuple[Any, ...]] = {
    "attn": (None,), "attnres_block_size": (None,), "hidden_act": ("swish",),
}  # fmt: skip
"""Entries that change what a model computes and are read with these values only."""
_WHOLE = (
    "hidden_size", "num_heads", "num_hidden_layers", "head_dim", "num_householder", "vocab_size", "conv_size",
)  # fmt: skip
_POSITIVE = ("expand_k", "expand_v", "norm_eps")
_SWITCHES = (
    "use_gate", "use_beta", "use_short_conv", "conv_bias", "use_output_gate", "use_forget_gate", "allow_neg_eigval",
    "tie_word_embeddings",
)  # fmt: skip
_CHOICES = {"qk_activation": ("silu", "relu", "elu", "identity"), "qk_norm": ("l2", "sum")}
_OR_NONE = {"intermediate_size": _WHOLE, "hidden_ratio": _POSITIVE}
"""Entries that may also be null, with the kind that they have else."""
_READ = {
    "model_type", "num_v_heads", *_ALLOWED, *_WHOLE, *_POSITIVE, *_SWITCHES, *_CHOICES, *_OR_NONE,
}  # fmt: skip

HARMLESS = frozenset((
    # of the file, and of what is done with a model
    "_name_or_path", "architectures", "auto_map", "dtype", "torch_dtype", "transformers_version", "model_type", "id2label", "label2id",
    "problem_type", "return_dict", "output_attentions", "output_hidden_states", "is_encoder_decoder", "chunk_size_feed_forward", "use_cache",
    "bos_token_id", "eos_token_id", "pad_token_id", "max_position_embeddings",
    # of the first weights and of the loss
    "initializer_range", "rescale_prenorm_residual", "fuse_cross_entropy", "fuse_linear_cross_entropy", "use_l2warp",
    # which of several kernels computes the same
    "attn_mode", "fuse_norm", "fuse_swiglu", "chunk_size",
))  # fmt: skip
"""Entries that do not change which numbers a model computes, and are not looked at."""
_UNREAD = {"use_output_norm", "conv_bias"}
"""Further entries of these two types: FLA's layers have the norm in any case."""


def is_fla(folder: str | Path) -> bool:
    """Whether a folder has a Hugging Face `config.json`, which no model folder of ours has."""
    place = Path(folder) / "config.json"
    if not is_file(place):
        return False
    config = read_json(place)
    return isinstance(config, dict) and "model_type" in config


def complete_config(
    config: Mapping[str, Any], name: str = "the checkpoint's configuration"
) -> dict[str, Any]:
    """The configuration with FLA's defaults; `name`: of its file.

    `InputError`, one line, for an entry of another type than FLA's (`"false"` is a text, not a switch), numbers out of
    range, choices that FLA does not have or that are not read here, and an entry that is one of FLA's but for a slip of
    the pen, since it would be passed over. Of the others only those of `HARMLESS` are passed over.
    """
    full = {**DEFAULTS[config["model_type"]], **config}
    problems = [
        f"{entry} is {value!r}; {needed} is needed"
        for entry, value in full.items()
        if (needed := _needed(entry, value)) is not None
    ]
    if not problems:
        allowed = {**_ALLOWED, "num_v_heads": (None, full["num_heads"])}
        problems = [
            f"{entry} is {full[entry]!r}, which is not read here"
            for entry, known in allowed.items()
            if full.get(entry, known[0]) not in known
        ]
    for entry in config:
        near = get_close_matches(str(entry), _READ, 1, 0.87) if entry not in _READ else []
        problems += [f"{entry!r} is no entry of FLA's; did you mean {name!r}?" for name in near]
        if not near and entry not in _READ | HARMLESS | _UNREAD:
            problems.append(
                f"{entry} is {config[entry]!r}, and no entry that is known; read are {', '.join(sorted(_READ))}"
            )
    if not problems:
        key, value = count_channels(full)
        for what, size in (("keys", key), ("values", value)):
            if size % full["num_heads"]:
                problems.append(
                    f"its {what} have {size} channels, which is no multiple of num_heads {full['num_heads']}"
                )
    if problems:
        raise InputError(f"{name}: {'; '.join(problems)}")
    return full


def _needed(entry: str, value: Any) -> str | None:
    """What an entry must be, in words, where its value is not that; None where it fits or nothing is asked of it."""
    for kinds, fits, needed in (
        (_WHOLE, is_size(value), f"a whole number from 1 to {LARGEST_SIZE:,}"),
        (("num_hidden_layers",), is_size(value, MOST_LAYERS), f"a whole number from 1 to {MOST_LAYERS:,}"),
        (_POSITIVE, is_ratio(value), f"a finite number above 0, of at most {LARGEST_RATIO:,}"),
        (_SWITCHES, type(value) is bool, "true or false, without quotes,"),
    ):
        if entry in kinds and not fits:
            return needed
        if _OR_NONE.get(entry) is kinds and not (fits or value is None):
            return f"{needed}, or null,"
    if entry in _CHOICES and not (isinstance(value, str) and value in _CHOICES[entry]):
        return f"one of {', '.join(_CHOICES[entry])}"
    return None


def count_channels(config: Mapping[str, Any]) -> tuple[int, int]:
    """Channels of the keys of one factor and of its values, over all heads."""
    if config["model_type"] == "gated_deltaproduct":
        key = config["num_heads"] * config["head_dim"]
        return key, round(key * config["expand_v"])
    return round(config["hidden_size"] * config["expand_k"]), round(
        config["hidden_size"] * config["expand_v"]
    )


def check_tied(config: Mapping[str, Any], tensors: Mapping[str, Any], name: str) -> None:
    """`InputError` where the configuration ties the read-out to the embeddings and the weights have another read-out.

    FLA would run the model with the embeddings then, and pass over what is in the file.
    """
    head = tensors.get("lm_head.weight")
    if head is None or not config.get("tie_word_embeddings", False):
        return
    if not np.array_equal(head, tensors["model.embeddings.weight"]):
        raise InputError(
            f"{name}: tie_word_embeddings is true, but 'lm_head.weight' is not 'model.embeddings.weight': set it to "
            "false, or leave 'lm_head.weight' out"
        )


def expected_shapes(config: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Name and shape of each tensor of a checkpoint with this (completed) configuration."""
    product, D, heads = (
        config["model_type"] == "gated_deltaproduct",
        config["hidden_size"],
        config["num_heads"],
    )
    factors = config["num_householder"] if product else 1
    key, value = count_channels(config)
    width = config.get("intermediate_size")
    if width is None:
        width = 256 * -(-int(D * (config.get("hidden_ratio") or 4) * 2 / 3) // 256)
    channels = {"q": key, "k": key * factors, "v": value * factors}
    layer: dict[str, tuple[int, ...]] = {"attn_norm.weight": (D,), "mlp_norm.weight": (D,)}
    for name in ("gate", "up"):
        layer[f"mlp.{name}_proj.weight"] = (width, D)
    layer["mlp.down_proj.weight"] = (D, width)
    for name, size in channels.items():
        layer[f"attn.{name}_proj.weight"] = (size, D)
        if config.get("use_short_conv", True):
            layer[f"attn.{name}_conv1d.weight"] = (size, 1, config.get("conv_size", 4))
            if config.get("conv_bias", False):
                layer[f"attn.{name}_conv1d.bias"] = (size,)
    if product or config["use_beta"]:
        layer["attn.b_proj.weight"] = (heads * factors, D)
    if product and config["use_forget_gate"]:
        layer |= {"attn.a_proj.weight": (heads, D), "attn.A_log": (heads,), "attn.dt_bias": (heads,)}
    if config["use_output_gate"] if product else config["use_gate"]:
        layer["attn.g_proj.weight"] = (value, D)
    layer |= {"attn.o_norm.weight": (value // heads,), "attn.o_proj.weight": (D, value)}
    every = {"model.embeddings.weight": (config["vocab_size"], D), "model.norm.weight": (D,)}
    every["lm_head.weight"] = (config["vocab_size"], D)
    for i in range(config["num_hidden_layers"]):
        every |= {f"model.layers.{i}.{name}": shape for name, shape in layer.items()}
    return every


def check_tensors(
    config: Mapping[str, Any], found: Mapping[str, tuple[int, ...]], places: Mapping[str, str], name: str
) -> None:
    """`InputError` for the first tensor that is missing, of another shape, or not of the (completed) configuration.

    `found`: shapes by name; `places`: the file of each; `name`: of the checkpoint.
    """
    wanted = expected_shapes(config)
    if config.get("tie_word_embeddings", False) and "lm_head.weight" not in found:
        del wanted["lm_head.weight"]
    for tensor, shape in wanted.items():
        if tensor not in found:
            raise InputError(
                f"{name}: has no tensor {tensor!r} of shape {list(shape)}, which its config.json asks for: "
                "save the whole model with save_pretrained"
            )
        if tuple(found[tensor]) != shape:
            raise InputError(
                f"{places.get(tensor, name)}: {tensor!r} has the shape {list(found[tensor])}, its config.json asks for "
                f"{list(shape)}: weights and config.json must be of one model"
            )
    if more := next((tensor for tensor in found if tensor not in wanted), None):
        raise InputError(
            f"{places.get(more, name)}: {more!r} of shape {list(found[more])} is no tensor of a {config['model_type']} "
            "with this config.json: weights and config.json must be of one model"
        )


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
    """An FLA checkpoint as a `Stepper`, in numpy, with the operations of FLA's naive functions.

    States are, layer by layer, H and the past inputs of the short convolutions (q, k, v); last the token that the model
    answers with, -1 where a logit is not finite. A step's bits depend on the number of sequences, as those of a matrix
    product do, so a proof steps one at a time.

    Args:
        config: the configuration that `load_fla` returns.
        tensors: the tensors that `load_fla` returns.
        dtype: fp64 or fp32, of all arithmetic; or bf16 or fp16, of weights and activations, with keys, queries and values
            rounded to it and the state in fp32, as FLA's naive functions have it (arithmetic `fla:naive:DTYPE`).
        bos: a token read before the first one, None for none.
        letters: the token of each letter, int `[letters]`; by default letters are tokens.
        meaning: the label of each token, int `[tokens]`, -1 for none; by default its own number.

    Raises:
        InputError: something is not read: attention layers, and other switches of the configuration.
    """

    one_by_one = True

    def __init__(
        self,
        config: Mapping[str, Any],
        tensors: Tensors,
        *,
        dtype: str = "fp64",
        bos: int | None = None,
        letters: ArrayLike | None = None,
        meaning: ArrayLike | None = None,
    ) -> None:
        self.config = config = complete_config(config)
        check_tensors(config, {k: v.shape for k, v in tensors.items()}, {}, "the checkpoint")
        check_tied(config, tensors, "the checkpoint")
        self.product = config["model_type"] == "gated_deltaproduct"
        if "lm_head.weight" not in tensors:  # tied
            tensors = {"lm_head.weight": tensors["model.embeddings.weight"], **tensors}
        self.format = None if dtype in ("fp64", "fp32") else float_format(dtype)
        self.dtype, self.bos = "float64" if dtype == "fp64" else "float32", bos
        self.tensors = {name: self._r(value.astype(self.dtype)) for name, value in tensors.items()}
        self.layers, self.heads = int(config["num_hidden_layers"]), int(config["num_heads"])
        self.eps = config.get("norm_eps", 1e-6)
        self.factors = int(config["num_householder"]) if self.product else 1
        self.conv = config.get("use_short_conv", True)
        self.vocabulary, self.width = self.tensors["model.embeddings.weight"].shape
        self.letters = np.arange(self.vocabulary) if letters is None else np.asarray(letters)
        self.meaning = np.arange(self.vocabulary) if meaning is None else np.asarray(meaning)

    def initial(self, sequences: int) -> list[Any]:
        """Zero states, and BOS read where there is one.

        Args:
            sequences: the number of words that are run side by side, at least 1.

        Returns:
            Arrays `[sequences, ...]`.
        """
        states: list[Any] = []
        for i in range(self.layers):
            K = self._weight(i, "q_proj.weight").shape[0] // self.heads
            V = self._weight(i, "v_proj.weight").shape[0] // self.heads // self.factors
            states.append(np.zeros((sequences, self.heads, K, V), self.dtype))
            for name in "qkv" if self.conv else "":
                channels, _, taps = self._weight(i, f"{name}_conv1d.weight").shape
                states.append(np.zeros((sequences, channels, taps - 1), self.dtype))
        states.append(np.full(sequences, -1))
        return states if self.bos is None else self.forward(states, np.full(sequences, self.bos))[1]

    def step(self, states: list[Any], letters: Indices) -> list[Any]:
        """Read one token in every sequence.

        Args:
            states: the states that `initial` or `step` returned.
            letters: int `[sequences]`, from 0.

        Returns:
            The states after this token.
        """
        return self.forward(states, self.letters[letters])[1]

    def decode(self, states: list[Any], letters: Indices) -> Indices:
        """The label of the token with the largest logit.

        Args:
            states: the states that `step` returned.
            letters: int `[sequences]`, those just read; they are not looked at.

        Returns:
            Int `[sequences]`; -1 for none.
        """
        result: Indices = np.where(states[-1] < 0, -1, self.meaning[states[-1]])
        return result

    def forward(self, states: list[Any], tokens: Indices) -> tuple[Floats, list[Any], list[Drive]]:
        """Read a token for every sequence.

        Args:
            states: the states that `initial` or `step` returned.
            tokens: int `[sequences]`, from 0 to the vocabulary's size - 1.

        Returns:
            Logits `[sequences, tokens]`, the states after the token, and what it did to each layer.
        """
        h = self.tensors["model.embeddings.weight"][tokens]
        before, after, drives = iter(states), [], []
        for i in range(self.layers):
            x = self._norm(h, f"model.layers.{i}.attn_norm.weight")
            H = next(before)
            drive, pasts = self._drive(i, x, [next(before) for _ in ("qkv" if self.conv else "")])
            H = drive.apply(H)
            h = self._block(i, h, x, drive.q, H)
            after += [H, *pasts]
            drives.append(drive)
        logits = self._logits(h)
        best = np.where(np.isfinite(logits).all(-1), logits.argmax(-1), -1)
        return logits, [*after, best], drives

    @cached_property
    def identity(self) -> str:
        """A digest of the configuration, every weight and dtype, the first token, and what letters and tokens mean."""
        settings = [self.config, self.dtype, self.format and self.format.name, self.bos]
        parts: list[Part] = [json.dumps(settings, sort_keys=True, default=str), self.letters, self.meaning]
        for name, value in sorted(self.tensors.items()):
            parts += [name, value]
        return digest_of(parts)

    def read(self, H: Floats, letters: Indices) -> Indices:
        """The label for given states of the only layer, just after letters; for models without convolution.

        Args:
            H: `[sequences, heads, K, V]`.
            letters: int `[sequences]`, those just read.

        Returns:
            Int `[sequences]`; -1 for none, and where a logit is not finite.
        """
        h = self.tensors["model.embeddings.weight"][self.letters[letters]]
        x = self._norm(h, "model.layers.0.attn_norm.weight")
        logits = self._logits(self._block(0, h, x, self._drive(0, x, [])[0].q, H.astype(self.dtype)))
        result: Indices = np.where(np.isfinite(logits).all(-1), self.meaning[logits.argmax(-1)], -1)
        return result

    def _block(self, i: int, h: Floats, x: Floats, q: Floats, H: Floats) -> Floats:
        """The stream `[sequences, D]` after layer i, whose heads have come to the states H."""
        o = self._r(np.einsum("bhk,bhkv->bhv", q, H) * H.shape[2] ** -0.5)
        o = self._norm(o, f"model.layers.{i}.attn.o_norm.weight")
        if self.config["use_output_gate" if self.product else "use_gate"]:
            o = self._r(o * _silu(self._linear(x, self._weight(i, "g_proj.weight"))).reshape(o.shape))
        h = self._r(h + self._linear(o.reshape(len(o), -1), self._weight(i, "o_proj.weight")))
        y = self._norm(h, f"model.layers.{i}.mlp_norm.weight")
        mlp = {n: self.tensors[f"model.layers.{i}.mlp.{n}_proj.weight"] for n in ("gate", "up", "down")}
        z = self._r(_silu(self._linear(y, mlp["gate"])) * self._linear(y, mlp["up"]))
        return self._r(h + self._linear(z, mlp["down"]))

    def _logits(self, h: Floats) -> Floats:
        return self._linear(self._norm(h, "model.norm.weight"), self.tensors["lm_head.weight"])

    def heads_of(self, states: list[Any]) -> list[Floats]:
        """H of each layer.

        Args:
            states: the states that `step` returned.

        Returns:
            `[sequences, heads, K, V]` for each layer.
        """
        return [x for x in states if np.ndim(x) == 4]

    def _drive(self, i: int, x: Floats, pasts: list[Floats]) -> tuple[Drive, list[Floats]]:
        activation = "silu" if self.product else self.config.get("qk_activation", "silu")
        projected, after = [], []
        for n, name in enumerate("qkv"):
            y = self._linear(x, self._weight(i, f"{name}_proj.weight"))
            if self.conv:
                taps = self._weight(i, f"{name}_conv1d.weight")[:, 0]
                window = np.concatenate([pasts[n], y[..., None]], -1)
                y = (window * taps).sum(-1) + self.tensors.get(f"model.layers.{i}.attn.{name}_conv1d.bias", 0)
                after.append(window[..., 1:])
            projected.append(self._r(_ACTIVATIONS[activation if name != "v" else "silu"](y)))
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
        q, k = self._r(q), self._r(k)
        beta = np.ones((len(x), factors, heads), self.dtype)
        if self.product or self.config["use_beta"]:
            beta = self._r(_sigmoid(self._linear(x, self._weight(i, "b_proj.weight"))))
            beta = beta.reshape(len(x), factors, heads)
        if self.config.get("allow_neg_eigval", False):
            beta = 2 * beta
        gate = np.ones((len(x), heads), self.dtype)
        if self.product and self.config.get("use_forget_gate"):
            z = self._linear(x, self._weight(i, "a_proj.weight")) + self._weight(i, "dt_bias")
            gate = np.exp(-np.exp(self._weight(i, "A_log")) * np.logaddexp(0, z))
        return Drive(q, k, v, beta, gate), after

    def _weight(self, i: int, name: str) -> Floats:
        return self.tensors[f"model.layers.{i}.attn.{name}"]

    def _norm(self, x: Floats, name: str) -> Floats:
        eps = np.asarray(self.eps, x.dtype)
        return self._r(x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * self.tensors[name])

    def _linear(self, x: Floats, weight: Floats) -> Floats:
        return self._r(x @ weight.T)

    def _r(self, x: Floats) -> Floats:
        """Rounded to the dtype, where that is another than the one that is computed in."""
        return x if self.format is None else round_array(x, self.format).astype(np.float32)


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
