"""RWKV-7: a diagonal minus a matrix of rank one that is not symmetric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._layer_lists import attention_beside
from .._recurrence import AuditedFamily, Layer, Recurrence

# The transition is diag(w) - (a ⊙ κ) κᵀ with |κ| = 1, a in (0, 1) and w in (exp(-exp(-1/2)), 1). With S = diag(a)^½ it is similar to
# diag(w) - (S κ)(S κ)ᵀ, which is symmetric, and whose least eigenvalue is above exp(-exp(-1/2)) - 1.
RWKV7 = Recurrence(
    "RWKV-7",
    "diag(w) - (a ⊙ κ) κᵀ",
    "real, from -0.455 to 1, at most one of them negative",
    "real",
    "similar to symmetric",
    "arXiv 2503.14456",
    "(0, 1)",
    "(0.545, 1), one for each row",
    1,
)


def _rwkv7(config: Mapping[str, Any]) -> list[tuple[Layer, ...]]:
    return attention_beside(config, RWKV7)


FAMILIES = (
    AuditedFamily(
        "flash-linear-attention 0.6", ("rwkv7",), _rwkv7, {"num_hidden_layers": int, "attn": (dict, None)}
    ),
)
