"""Diagonal recurrences: Mamba, Mamba-2, GLA, HGRN, RWKV-4 and 6, RG-LRU, lightning attention, and the models built of them.

Not here: RetNet, whose keys turn with their position, and LightNet, whose decays depend on all tokens before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ....foundation._errors import InputError
from .._layer_lists import attention_beside, by_layer_types, numbers_of_layers
from .._recurrence import AuditedFamily, Layer, Recurrence

FLA, TRANSFORMERS = "flash-linear-attention 0.6", "transformers 5.24"


def decaying(name: str, transition: str, gate: str, source: str) -> Recurrence:
    """Decays from 0 to 1.

    Args:
        name: what it is called.
        transition: A(x) in a line.
        gate: the range of the decays, and what they belong to.
        source: where it is defined.
    """
    return Recurrence(name, transition, "real, from 0 to 1", "non-negative", "diagonal", source, gate=gate)


MAMBA = decaying(
    "Mamba", "exp(Δ A), A < 0", "(0, 1), one for each channel and state of it", "arXiv 2312.00752"
)
MAMBA2 = decaying("Mamba-2", "exp(Δ A) I, A < 0", "(0, 1), one for each head", "arXiv 2405.21060")
GLA = decaying("gated linear attention", "diag(α)", "(0, 1), one for each row", "arXiv 2312.06635")
HGRN = decaying("HGRN", "diag(α)", "(0, 1), one for each channel", "arXiv 2311.04823")
HGRN2 = decaying("HGRN2", "diag(α)", "(0, 1), one for each row", "arXiv 2404.07904")
RWKV6 = decaying("RWKV-6", "diag(w), w = exp(-exp(·))", "(0, 1), one for each row", "arXiv 2404.05892")
RWKV4 = decaying(
    "RWKV-4", "w, the same for all tokens", "(0, 1), a number for each channel", "arXiv 2305.13048"
)
LIGHTNING = decaying(
    "lightning attention",
    "γ I, the same for all tokens",
    "(0, 1), a number for each head",
    "arXiv 2401.04658",
)
RG_LRU = decaying("RG-LRU", "a^(8 r), a = σ(·)", "(0, 1), one for each channel", "arXiv 2402.19427")
GSA = decaying("gated slot attention", "diag(α)", "(0, 1), one for each slot", "arXiv 2409.07146")
LINEAR = Recurrence("linear attention", "I", "1", "non-negative", "diagonal", "arXiv 2006.16236")


def _fla(recurrence: Recurrence) -> Callable[[Mapping[str, Any]], list[tuple[Layer, ...]]]:
    return lambda config: attention_beside(config, recurrence)


def _gla(config: Mapping[str, Any]) -> list[tuple[Layer, ...]]:
    least = config["clamp_min"]
    # log-decays are at least this, so decays are at least its exponential
    if least is not None and not least <= 0:
        raise InputError(
            f"clamp_min is {least:g}: with more than 0 decays are above 1, which is not supported; take 0 or less"
        )
    return attention_beside(config, GLA)


def _everywhere(recurrence: Recurrence) -> Callable[[Mapping[str, Any]], list[tuple[Layer, ...]]]:
    return lambda config: [(recurrence,)] * config["num_hidden_layers"]


def _jamba(config: Mapping[str, Any]) -> list[tuple[Layer, ...]]:
    period, offset = config["attn_layer_period"], config["attn_layer_offset"]
    return [("attention",) if i % period == offset else (MAMBA,) for i in range(config["num_hidden_layers"])]


def _bamba(config: Mapping[str, Any]) -> list[tuple[Layer, ...]]:
    listed = config["attn_layer_indices"] or []
    attention = numbers_of_layers(listed, "attn_layer_indices", 0, config["num_hidden_layers"])
    return [("attention",) if i in attention else (MAMBA2,) for i in range(config["num_hidden_layers"])]


def _zamba(config: Mapping[str, Any]) -> list[tuple[Layer, ...]]:
    kinds, period, offset = (
        config["layers_block_type"],
        config["attn_layer_period"],
        config["attn_layer_offset"],
    )
    if kinds is None:
        first = ["linear_attention", "linear_attention", "hybrid"]
        rest = range(config["num_hidden_layers"] - 3)
        kinds = first + ["hybrid" if i % period == offset else "linear_attention" for i in rest]
    return by_layer_types({**config, "layer_types": kinds}, MAMBA)


def _zamba2(config: Mapping[str, Any]) -> list[tuple[Layer, ...]]:
    kinds = config["layers_block_type"]
    if kinds is None:
        # one list, whatever `num_hidden_layers` is, as in transformers, which refuses another number of layers
        signs = "L" + "LLLLLH" * 7 + "LLLLH" + "LLLH" + "LL"
        kinds = ["hybrid" if sign == "H" else "linear_attention" for sign in signs]
    return by_layer_types({**config, "layer_types": kinds}, MAMBA2)


def _falcon_h1(config: Mapping[str, Any]) -> list[tuple[Layer, ...]]:
    return [(MAMBA2, "attention")] * config["num_hidden_layers"]


def _granite(config: Mapping[str, Any]) -> list[tuple[Layer, ...]]:
    return by_layer_types(config, MAMBA2)


_NEMOTRON = {"M": "linear_attention", "*": "full_attention", "-": "mlp", "E": "moe"}


def _nemotron(config: Mapping[str, Any]) -> list[tuple[Layer, ...]]:
    kinds = config["layer_types"] or config["layers_block_type"]
    if kinds is None and config["hybrid_override_pattern"] is not None:
        kinds = [_NEMOTRON.get(sign, sign) for sign in config["hybrid_override_pattern"]]
    if kinds is None:
        kinds = ["linear_attention", "moe", "full_attention", "mlp"]
    return by_layer_types({**config, "layer_types": kinds}, MAMBA2)


def _recurrent_gemma(config: Mapping[str, Any]) -> list[tuple[Layer, ...]]:
    pattern, count = list(config["block_types"]), config["num_hidden_layers"]
    kinds = ["sliding_attention" if kind == "attention" else kind for kind in (pattern * 100)[:count]]
    return by_layer_types({**config, "layer_types": kinds}, RG_LRU)


def _minimax(config: Mapping[str, Any]) -> list[tuple[Layer, ...]]:
    kinds = config["layer_types"]
    if kinds is None:
        count = config["num_hidden_layers"]
        kinds = ["full_attention" if (i + 1) % 2 else "linear_attention" for i in range(count)]
    return by_layer_types({**config, "layer_types": kinds}, LIGHTNING)


_SAMBA = {"layers": [1, 3, 5, 7, 9, 11, 13, 15, 17]}
FAMILIES = (
    *(
        AuditedFamily(FLA, (name,), _fla(recurrence), {"num_hidden_layers": int, "attn": (dict, None)})
        for name, recurrence in {
            "hgrn": HGRN, "hgrn2": HGRN2, "rwkv6": RWKV6, "linear_attn": LINEAR, "gsa": GSA,
        }.items()
    ),
    AuditedFamily(FLA, ("gla",), _gla, {"num_hidden_layers": int, "attn": (dict, None), "clamp_min": (float, None)}),
    AuditedFamily(FLA, ("samba",), _fla(MAMBA), {"num_hidden_layers": int, "attn": (dict, _SAMBA)}),
    AuditedFamily(
        "flash-linear-attention 0.6 and transformers 5.24", ("mamba",), _everywhere(MAMBA), {"num_hidden_layers": int}
    ),
    AuditedFamily(
        "flash-linear-attention 0.6 and transformers 5.24", ("mamba2",), _everywhere(MAMBA2), {"num_hidden_layers": int}
    ),
    AuditedFamily(TRANSFORMERS, ("falcon_mamba",), _everywhere(MAMBA), {"num_hidden_layers": int}),
    AuditedFamily(
        TRANSFORMERS, ("jamba",), _jamba,
        {"num_hidden_layers": int, "attn_layer_period": (int, 8), "attn_layer_offset": (int, 4)},
    ),
    AuditedFamily(TRANSFORMERS, ("bamba",), _bamba, {"num_hidden_layers": int, "attn_layer_indices": (list, None)}),
    AuditedFamily(
        TRANSFORMERS, ("zamba",), _zamba,
        {"num_hidden_layers": int, "layers_block_type": (list, None), "attn_layer_period": (int, 6), "attn_layer_offset": (int, 4)},
    ),
    AuditedFamily(TRANSFORMERS, ("zamba2",), _zamba2, {"num_hidden_layers": int, "layers_block_type": (list, None)}),
    AuditedFamily(TRANSFORMERS, ("falcon_h1",), _falcon_h1, {"num_hidden_layers": int}),
    AuditedFamily(
        TRANSFORMERS, ("granitemoehybrid",), _granite, {"num_hidden_layers": int, "layer_types": (list, None)}
    ),
    AuditedFamily(
        TRANSFORMERS, ("nemotron_h",), _nemotron,
        {"layer_types": (list, None), "layers_block_type": (list, None), "hybrid_override_pattern": (str, None)},
    ),
    AuditedFamily(
        TRANSFORMERS, ("recurrent_gemma",), _recurrent_gemma,
        {"num_hidden_layers": int, "block_types": (list, ["recurrent", "recurrent", "attention"])},
    ),
    AuditedFamily(TRANSFORMERS, ("minimax",), _minimax, {"num_hidden_layers": int, "layer_types": (list, None)}),
    AuditedFamily(TRANSFORMERS, ("rwkv",), _everywhere(RWKV4), {"num_hidden_layers": int}),
)  # fmt: skip
