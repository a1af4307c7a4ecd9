"""Delta rules: DeltaNet, DeltaProduct, their gated forms, KDA, and the models of transformers that are built of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....foundation._errors import InputError
from .._layer_lists import attention_beside, by_layer_types, numbers_of_layers
from .._recurrence import AuditedFamily, Layer, Recurrence

FLA, TRANSFORMERS = "flash-linear-attention 0.6", "transformers 5.24"
HEAD_GATE = "(0, 1), one for each head"


def delta_rule(*, negative: bool, gated: bool = False, factors: int = 1, fixed: bool = False) -> Recurrence:
    """H ← g (I - β k kᵀ) H + β k vᵀ, with one factor or several a token, keys of length 1.

    Args:
        negative: whether β goes up to 2, not to 1.
        gated: whether a gate g multiplies the state.
        factors: the number of factors of a token, at least 1.
        fixed: whether β is a constant, 1 or 2.
    """
    beta = str(1 + negative) if fixed else f"(0, {1 + negative})"
    one = "g (I - β k kᵀ)" if gated else "I - β k kᵀ"
    several = f"{'g ' if gated else ''}(I - β_{factors} k_{factors} k_{factors}ᵀ)···(I - β_1 k_1 k_1ᵀ)"
    if factors == 1:
        low = "-1" if negative else "0"
        spectrum = "real" if negative else "non-negative"
        eigenvalues, form = f"real, from {low} to 1", "symmetric"
    elif factors == 2 and not negative:
        # a product of two positive semidefinite matrices is similar to one (G.P1.3)
        eigenvalues, spectrum, form = "real, from 0 to 1", "non-negative", "similar to symmetric"
    else:
        eigenvalues, spectrum, form = "of absolute value at most 1, non-real ones too", "any", "other"
    name = ("gated " if gated else "") + ("delta rule" if factors == 1 else "DeltaProduct")
    return Recurrence(
        name, one if factors == 1 else several, eigenvalues, spectrum, form,  # type: ignore[arg-type]
        "arXiv 2406.06484" if not gated and factors == 1 else "arXiv 2412.06464" if factors == 1 else "arXiv 2502.10297",
        beta, HEAD_GATE if gated else "", factors, negative, True,
    )  # fmt: skip


def kda(*, negative: bool) -> Recurrence:
    """H ← (I - β k kᵀ) diag(α) H + β k vᵀ: with D = diag(α)^½ it is similar to D (I - β k kᵀ) D, which is symmetric.

    Args:
        negative: whether β goes up to 2, not to 1.
    """
    return Recurrence(
        "Kimi delta attention",
        "(I - β k kᵀ) diag(α)",
        "real, from -1 to 1, at most one of them negative" if negative else "real, from 0 to 1",
        "real" if negative else "non-negative",
        "similar to symmetric",
        "arXiv 2510.26692",
        f"(0, {1 + negative})",
        "(0, 1), one for each row",
        1,
        negative,
        True,
    )


def _delta_net(config: Mapping[str, Any]) -> list[tuple[Layer, ...]]:
    recurrence = delta_rule(negative=config["allow_neg_eigval"], fixed=not config["use_beta"])
    # with "sum" absolute values sum to 1, so that keys are at most as long as 1, and I - β k kᵀ has no other range
    if config["qk_norm"] not in ("l2", "sum"):
        raise InputError(f"qk_norm is {config['qk_norm']!r}: it is l2 or sum")
    return attention_beside(config, recurrence)


def _gated_delta_net(config: Mapping[str, Any]) -> list[tuple[Layer, ...]]:
    return attention_beside(config, delta_rule(negative=config["allow_neg_eigval"], gated=True))


def _delta_product(config: Mapping[str, Any]) -> list[tuple[Layer, ...]]:
    recurrence = delta_rule(
        negative=config["allow_neg_eigval"],
        gated=config["use_forget_gate"],
        factors=config["num_householder"],
    )
    return attention_beside(config, recurrence)


def _kda(config: Mapping[str, Any]) -> list[tuple[Layer, ...]]:
    least = config["lower_bound"]
    # log-decays lie between it and 0
    if least is not None and not least < 0:
        raise InputError(f"lower_bound is {least:g}: it bounds logarithms of decays, and is below 0")
    return attention_beside(config, kda(negative=config["allow_neg_eigval"]))


def _qwen(config: Mapping[str, Any]) -> list[tuple[Layer, ...]]:
    return by_layer_types(
        config, delta_rule(negative=False, gated=True), every=config["full_attention_interval"]
    )


def _olmo(config: Mapping[str, Any]) -> list[tuple[Layer, ...]]:
    recurrence = delta_rule(negative=config["linear_allow_neg_eigval"], gated=True)
    return by_layer_types(config, recurrence, every=4)


def _kimi(config: Mapping[str, Any]) -> list[tuple[Layer, ...]]:
    count, layers = config["num_hidden_layers"], config["layer_types"]
    if layers is None:
        given = config["linear_attn_config"] or {}
        # as transformers does: the lists, which count from 1, are read where both are there
        full = {i for i in range(count) if i and i % 4 == 0}
        entries = ("full_attn_layers", "kda_layers")
        if all(entry in given for entry in entries):
            full, recurrent = (
                numbers_of_layers(given[entry], f"linear_attn_config.{entry}", 1, count) for entry in entries
            )
            if full & recurrent or len(full | recurrent) != count:
                raise InputError(
                    f"linear_attn_config: full_attn_layers and kda_layers name each of the layers 1 to {count} once"
                )
        layers = ["full_attention" if i in full else "linear_attention" for i in range(count)]
    return by_layer_types({**config, "layer_types": layers}, kda(negative=False))


_LAYERS: dict[str, Any] = {"num_hidden_layers": int, "attn": (dict, None)}
FAMILIES = (
    AuditedFamily(FLA, ("delta_net",), _delta_net, {**_LAYERS, "use_beta": (bool, True), "allow_neg_eigval": (bool, False), "qk_norm": (str, "l2")}),
    AuditedFamily(
        FLA, ("gated_deltanet",), _gated_delta_net,
        {**_LAYERS, "allow_neg_eigval": (bool, False)},
    ),
    AuditedFamily(
        FLA, ("gated_deltaproduct",), _delta_product,
        {**_LAYERS, "num_householder": (int, 1), "use_forget_gate": (bool, False), "allow_neg_eigval": (bool, False)},
    ),
    AuditedFamily(FLA, ("kda",), _kda, {**_LAYERS, "allow_neg_eigval": (bool, False), "lower_bound": (float, None)}),
    AuditedFamily(
        TRANSFORMERS, ("qwen3_next",), _qwen,
        {"num_hidden_layers": int, "layer_types": (list, None), "full_attention_interval": (int, 4)},
    ),
    AuditedFamily(
        TRANSFORMERS, ("qwen3_5", "qwen3_5_text"), _qwen,
        {"num_hidden_layers": int, "layer_types": (list, None), "full_attention_interval": (int, 4)},
    ),
    AuditedFamily(
        TRANSFORMERS, ("qwen3_5_moe", "qwen3_5_moe_text"), _qwen,
        {"num_hidden_layers": int, "layer_types": (list, None), "full_attention_interval": (int, 4)},
    ),
    AuditedFamily(
        TRANSFORMERS, ("olmo_hybrid",), _olmo,
        {"num_hidden_layers": int, "layer_types": (list, None), "linear_allow_neg_eigval": (bool, True)},
    ),
    AuditedFamily(
        TRANSFORMERS, ("kimi_linear",), _kimi,
        {"num_hidden_layers": int, "layer_types": (list, None), "linear_attn_config": (dict, None)},
    ),
)  # fmt: skip
