"""An exact LRNN of one layer as a checkpoint of FLA's `DeltaNet` (n_h = 1) or `GatedDeltaProduct` language model.

The layers (`flash-linear-attention` 0.6: `fla/layers/delta_net.py`, `gated_deltaproduct.py`) compute, without short
convolution, output gate and forget gate, x the normed embedding of the token:
k = SiLU(W_k x)/‖·‖, v = SiLU(W_v x), β = 2σ(W_b x), S ← (I - β k kᵀ) S + β k vᵀ, o = RMSNorm(qᵀS/√K), W_o o
is added to the stream, an MLP and a last RMSNorm follow, and S is 0 in the beginning.

Embeddings are one-hot. D, the width, is a power of 4, so that RMSNorm makes of 8√D e_x just √D e_x. β is 2 because σ(128)
is 1, and 1 because σ(0) is 1/2. The forget gate exp(-softplus(±128)) is 0 or 1. A token BOS, of β = 1, writes the initial state. Head i reads row i. What is
written is so small that the output norm's ε decides: it multiplies by 1/√ε, alike for all rows. The last norm is one
factor for all logits. The MLP is 0. The logit of a class is linear in the rows; its constant comes from the embedding,
which has the same entry for every token. (theory: into real layers)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...constructions.errors import InputError, LimitError
from ...constructions.formats.label_text import label_text
from ...constructions.lrnn import LRNN
from ...theory.arithmetic.rounding import Floats, float_format, round_array
from ...theory.running.weights import dense_codes
from .keys import SCALE, key_input, silu_preimage
from .model import FlaModel
from .places import EPS, Place, Write, horizon_of, place_of
from .task import FlaTask

MAX_ENTRIES = 50_000_000
"""Largest number of weights in one array of a checkpoint."""
ROUNDOFF = {"fp32": 2.0**-24, "bf16": 2.0**-9, "fp16": 2.0**-12}
"""Of a rounding to each dtype, relative."""
SATURATED = 128.0
"""σ(±128) is 1 and 0 in float32, so in float16 and bfloat16."""
STATE_BITS = 20
"""Of the entries of all codes: float32 has 24, which leaves 4 to the sums within a factor."""


@dataclass(frozen=True, eq=False)
class FlaCheckpoint:
    """`config`: for `config.json`. `tensors`: float32 arrays by FLA's names. `task`: what the tokens mean.

    The model answers every token with that of a state. `horizons`: for each dtype so many tokens are safe, an estimate; None:
    at any length, since normed keys that are rounded to the dtype are exact, so are the values that are written and the
    float32 state, and the read-out of every code is right; 0: one is read wrongly. Keys that are normed in float32 are
    shorter than 1 by FLA's ε: in fp32, and in `GatedDeltaProduct`'s recurrent kernel, where the horizon of fp32 is that
    of every exact dtype.
    """

    config: dict[str, Any]
    tensors: dict[str, Floats]
    task: FlaTask
    horizons: dict[str, int | None]


def fla_checkpoint(lrnn: LRNN, *, max_entries: int = MAX_ENTRIES) -> FlaCheckpoint:
    """The checkpoint; what it computes is exact in bf16 and fp16 where its keys are ±e_i or ±e_i ± e_j: see `horizons`.

    Raises `InputError` for what has no form there: several layers, gates other than 0 and 1, additive terms that no
    factor of their letter can write, β‖v‖² outside [0, 2], an initial state that is not of whole numbers; `LimitError`
    beyond `max_entries`.
    """
    name = lrnn.automaton.name
    if len(lrnn.layers) != 1:
        raise InputError(
            f"{name}: {len(lrnn.layers)} layers: only one is exported to FLA, whose next layer would need a table of codes "
            "for its MLP; choose --max-layers 1"
        )
    places: list[Place] = []
    starts = lrnn.decode[0, 1:].tolist()
    for head, start in zip(lrnn.layers[0].heads, starts, strict=True):
        first = places[-1].first + places[-1].head.dim if places else 0
        places.append(place_of(head, start, first, name))
    letters, heads = len(lrnn.automaton.letters), sum(p.head.dim for p in places)
    factors = max(1, *(p.factors for p in places))
    gated = any(0 in p.gates for p in places)
    K = max(16, 2 ** math.ceil(math.log2(max(p.size for p in places))))
    V = max(16, 2 ** math.ceil(math.log2(max(p.head.value_dim for p in places))))
    outputs = sum(p.head.dim * p.head.value_dim for p in places)
    D = 4 ** ((letters + outputs).bit_length() + 1 >> 1)  # the least power of 4 from letters + 1 + outputs on
    vocabulary = letters + 1 + len(lrnn.decode)
    largest = max(D * factors * heads * max(K, V), D * vocabulary)
    if largest > max_entries:
        raise LimitError(
            f"{name}: an array of the checkpoint has {largest:,} weights, more than {max_entries:,}: raise --max-entries"
        )
    tensors = _mixer(places, letters, factors, heads, K, V, D, gated)
    tensors |= _around(lrnn, places, letters, D, vocabulary)
    states = [label_text(lrnn.automaton.states[q]) for q in lrnn.decode[:, 0]]
    task = FlaTask(
        {label_text(x): i for i, x in enumerate(lrnn.automaton.letters)},
        {text: letters + 1 + i for i, text in enumerate(states)},
        letters,
    )
    config = _config(letters, factors, heads, K, V, D, vocabulary, gated)
    tensors = {k: v.astype(np.float32) for k, v in tensors.items()}
    horizons: dict[str, int | None] = {}
    for dtype, roundoff in ROUNDOFF.items():
        model = FlaModel(config, tensors, dtype=dtype)
        if not _reads(model, places, lrnn, letters):
            horizons[dtype] = 0
        elif dtype != "fp32" and all(p.exact and _writes_exactly(p, _unit(p, K, V), dtype) for p in places):
            horizons[dtype] = None
        else:
            horizons[dtype] = horizon_of(places, factors, roundoff)
    return FlaCheckpoint(config, tensors, task, horizons)


def _writes_exactly(place: Place, unit: float, dtype: str) -> bool:
    """Whether the values that letters and BOS write are numbers of the dtype, and the float32 state holds all codes."""
    writes = [w for token in (*place.letters, place.start) for w in token]
    values = np.concatenate([np.zeros(1), *(_values(w, unit) for w in writes)])
    fmt = float_format(dtype)
    x = round_array(np.array([silu_preimage(y) for y in values.tolist()]), fmt)
    codes = dense_codes(place.head, "fp64")
    scaled = codes * 2.0 ** (STATE_BITS - math.frexp(float(np.abs(codes).max()))[1])
    return bool(
        (round_array(x / (1 + np.exp(-x)), fmt) == values).all() and (scaled == np.round(scaled)).all()
    )


def _reads(model: FlaModel, places: list[Place], lrnn: LRNN, letters: int, piece: int = 256) -> bool:
    """Whether the model answers rightly where its state is a code; all letters have the same part in the answer."""
    _, heads, K, V = model.heads_of(model.initial(1))[0].shape
    for first in range(0, len(lrnn.decode), piece):
        rows = lrnn.decode[first : first + piece]
        H = np.zeros((len(rows), heads, K, V))
        for h, p in enumerate(places):
            code = np.repeat(dense_codes(p.head, "fp64")[rows[:, 1 + h]], p.copies, 1) * _unit(p, K, V)
            H[:, p.first : p.first + p.head.dim, : code.shape[1], : code.shape[2]] = code[:, None]
        answers = model.read(H, np.zeros(len(rows), dtype=np.int64))
        if (answers != letters + 1 + first + np.arange(len(rows))).any():
            return False
    return True


def _values(write: Write, unit: float) -> Floats:
    """What W_v makes of a token after SiLU, `[value_dim]`."""
    values: Floats = write.row * unit * np.linalg.norm(write.key)
    return values


def _unit(place: Place, K: int, V: int) -> float:
    """What stands for 1 in the state: a power of 2 so small that the output norm is linear to 0.2 %."""
    most = np.linalg.norm(dense_codes(place.head, "fp64"), axis=2).max()
    return float(2.0 ** math.floor(math.log2(EPS**0.5 / 16 * (V * K) ** 0.5 / max(most, 1e-9))))


def _logit(strength: float) -> float:
    """z with 2σ(z) = strength."""
    return SATURATED if abs(strength - 2) < 1e-12 else math.log(strength / (2 - strength))


def _mixer(
    places: list[Place], letters: int, factors: int, heads: int, K: int, V: int, D: int, gated: bool
) -> dict[str, Floats]:
    """The layer's projections; a projection's column x is what it makes of token x, over √D."""
    q, k = np.zeros((heads, K, D)), np.zeros((factors, heads, K, D))
    v, z = np.zeros((factors, heads, V, D)), np.full((factors, heads, D), -SATURATED)
    a, o = np.full((heads, D), -SATURATED), np.zeros((D, heads, V))
    bos, coordinate = letters, letters + 1
    for p in places:
        rows, unit = slice(p.first, p.first + p.head.dim), _unit(p, K, V)
        tokens = [(x, p.letters[t]) for x, t in enumerate(p.head.action_of(np.arange(letters)).tolist())]
        for x, writes in [*tokens, (bos, p.start)]:
            for j, write in enumerate(writes):
                value = [silu_preimage(y) for y in _values(write, unit).tolist()]
                k[j, rows, : len(write.key), x] = key_input(write.key)
                v[j, rows, : len(value), x] = value
                z[j, rows, x] = _logit(write.strength)
        for x, t in enumerate(p.head.action_of(np.arange(letters)).tolist()):
            a[rows, x] = -SATURATED if p.gates[t] else SATURATED
        for i in range(p.head.dim):
            q[p.first + i, i * p.copies, : letters + 1] = SCALE
            for j in range(p.head.value_dim):
                o[coordinate + i * p.head.value_dim + j, p.first + i, j] = (K * EPS) ** 0.5 / unit
        coordinate += p.head.dim * p.head.value_dim
    prefix = "model.layers.0.attn."
    gate = {"a_proj.weight": a / D**0.5, "A_log": np.zeros(heads), "dt_bias": np.zeros(heads)}
    return {
        prefix + "q_proj.weight": q.reshape(-1, D) / D**0.5,
        prefix + "k_proj.weight": k.reshape(-1, D) / D**0.5,
        prefix + "v_proj.weight": v.reshape(-1, D) / D**0.5,
        prefix + "b_proj.weight": z.reshape(-1, D) / D**0.5,
        prefix + "o_norm.weight": np.ones(V),
        prefix + "o_proj.weight": o.reshape(D, -1),
    } | ({prefix + name: value for name, value in gate.items()} if gated else {})


MLP_WIDTH = 16
"""Of the MLP, whose weights are all 0."""


def _around(lrnn: LRNN, places: list[Place], letters: int, D: int, vocabulary: int) -> dict[str, Floats]:
    """Embedding, norms, MLP and the logits: of class c, (c - m)·h - (‖c‖² - ‖m‖²)/2, m the mean of the codes c."""
    embedding = np.zeros((vocabulary, D))
    entry = 8 * D**0.5
    embedding[range(letters + 1), range(letters + 1)] = entry
    codes = np.concatenate([
        dense_codes(p.head, "fp64")[lrnn.decode[:, 1 + h]].reshape(len(lrnn.decode), -1) for h, p in enumerate(places)
    ], 1)  # fmt: skip
    mean = codes.mean(0)
    logits = np.zeros((vocabulary, D))
    logits[: letters + 1, : letters + 1] = -2 * (codes * codes).sum(1).max() / entry
    logits[letters + 1 :, letters + 1 : letters + 1 + codes.shape[1]] = codes - mean
    constants = -((codes * codes).sum(1) - mean @ mean) / 2
    logits[letters + 1 :, : letters + 1] = constants[:, None] / entry
    block = "model.layers.0."
    return {
        "model.embeddings.weight": embedding,
        block + "attn_norm.weight": np.ones(D),
        block + "mlp_norm.weight": np.ones(D),
        block + "mlp.gate_proj.weight": np.zeros((MLP_WIDTH, D)),
        block + "mlp.up_proj.weight": np.zeros((MLP_WIDTH, D)),
        block + "mlp.down_proj.weight": np.zeros((D, MLP_WIDTH)),
        "model.norm.weight": np.ones(D),
        "lm_head.weight": logits,
    }


def _config(
    letters: int, factors: int, heads: int, K: int, V: int, D: int, vocabulary: int, gated: bool
) -> dict[str, Any]:
    config: dict[str, Any] = {
        "dtype": "float32", "attn_mode": "chunk", "hidden_size": D, "num_heads": heads,
        "num_hidden_layers": 1, "intermediate_size": MLP_WIDTH, "hidden_act": "swish", "norm_eps": EPS,
        "use_short_conv": False, "allow_neg_eigval": True, "vocab_size": vocabulary, "tie_word_embeddings": False,
        "bos_token_id": letters, "eos_token_id": None, "pad_token_id": None,
    }  # fmt: skip
    if factors == 1 and not gated:
        return config | {
            "architectures": ["DeltaNetForCausalLM"], "model_type": "delta_net", "expand_k": heads * K / D,
            "expand_v": heads * V / D, "use_gate": False, "use_beta": True, "qk_norm": "l2", "qk_activation": "silu",
        }  # fmt: skip
    return config | {
        "architectures": ["GatedDeltaProductForCausalLM"], "model_type": "gated_deltaproduct", "head_dim": K,
        "expand_v": V / K, "use_output_gate": False, "use_forget_gate": gated, "num_householder": factors,
    }  # fmt: skip
