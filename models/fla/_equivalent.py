"""A model of the family `deltaproduct` as one with FLA's wiring, which computes the same."""

from __future__ import annotations

import torch

from ...foundation._errors import InputError
from .._config import ModelConfig
from .._model import Block, Model
from ._layer import KEY_EPS, refuse_unless

MLP_WIDTH = 16
"""Hidden width of an MLP of zeros, where a model has none and FLA's blocks have one."""
OUTPUT_EPS = 1e-6
"""ε of the output norms of `deltaproduct`."""


@torch.no_grad()
def as_fla_wiring(model: Model) -> Model:
    """The same function in the wiring of FLA's `DeltaNet` or `GatedDeltaProduct`.

    What differs, and what is done about it:

    - FLA divides a head's outputs by √K, and has one ε in all norms: ε is ours of the output norm over K, and the residual stream is
      written so much smaller (or larger) that its norms are ours too.
    - Its output norm has one weight for all heads: the weights of each head go into the output projection.
    - It has one vocabulary: letters and classes are numbered from 0 both; rows that are no letter's are 0, and rows that are no class's
      repeat class 0.
    - Its blocks have an MLP: one of zeros where there is none.
    - It adds 1e-6 to the squared lengths of queries and keys, ours nothing: this remains. With queries and keys without SiLU, their
      projections are 2^10 times larger, so that it is lost in float32.

    Args:
        model: a model of one seed of the family `deltaproduct`.

    Returns:
        A model of one seed of the family `fla_delta_net` or `fla_gated_deltaproduct`.

    Raises:
        InputError: FLA has no such option; the line names the field and the reason.
    """
    c = model.config
    refuse_unless(c, {
        "strength": ("sigmoid", "FLA's β and gates are σ and exp(-exp(A) softplus)"),
        "additive": (True, "FLA's tokens always write to the state"), "initial": ("zero", "FLA's states begin at 0"),
        "key_norm": (True, "FLA's keys are divided by their lengths"),
        "output_norm": (True, "FLA's layers norm the outputs of each head"), "norm": (True, "FLA's blocks have norms"),
        "residual": (True, "FLA's blocks add to a residual stream"), "tables": ((), "FLA has no tables between layers"),
        "head_bias": (False, "FLA's lm_head has no bias, and no weight of it can take the bias's place; train with it false"),
        "tied": (False, "letters and classes of this model have rows of their own"), "tokens": ((), "letters read their own rows"),
    })  # fmt: skip
    if c.norm_eps == 0:
        raise InputError(
            "model: norm_eps is 0; FLA's norms share one ε, and that of its output norm is not 0"
        )
    if len(model.seeds) != 1:
        raise InputError(f"the model has {len(model.seeds)} seeds: choose one with `select`")
    product = c.householders > 1 or c.gated
    if product and c.key_activation != "silu":
        raise InputError(
            f"model: key_activation is {c.key_activation!r}; FLA's GatedDeltaProduct has SiLU alone, and only its DeltaNet (householders 1, "
            "gated false) another: 'silu' is needed"
        )
    vocabulary, hidden = max(c.letters, c.classes), round(c.mlp * c.width)
    eps = OUTPUT_EPS / c.head_dim
    options: dict[str, bool | int | float | str] = {"key_eps": KEY_EPS, "norm_eps": eps}
    if not product:
        identity = c.key_activation == "none"
        options |= {"activation": "identity" if identity else "silu", "key_norm": "l2", "use_beta": True}
    meaning = c.meaning or tuple(range(c.classes))
    made = Model(ModelConfig(
        family="fla_gated_deltaproduct" if product else "fla_delta_net",
        letters=c.letters, classes=vocabulary, width=c.width, layers=c.layers, heads=c.heads, head_dim=c.head_dim,
        value_dim=c.value_dim, householders=c.householders, range=c.range, gated=c.gated, conv=c.conv,
        output_gate=c.output_gate, norm_eps=eps, mlp=(hidden or MLP_WIDTH) / c.width, head_bias=False, options=options,
        tokens=tuple(range(c.letters)), meaning=(*meaning, *[meaning[0]] * (vocabulary - c.classes)),
    ), model.seeds).to(next(model.parameters()).dtype)  # fmt: skip
    ours, theirs = dict(model.named_parameters()), dict(made.named_parameters())
    for value in theirs.values():
        value.zero_()
    scale = (eps / c.norm_eps) ** 0.5  # norm(s x) with ε' is norm(x) with ε' / s²
    theirs["embedding.weight"][:, : c.letters] = ours["embedding.weight"] * scale
    theirs["norm.weight"].copy_(ours["norm.weight"])
    theirs["head.weight"][:, : c.classes] = ours["head.weight"]
    theirs["head.weight"][:, c.classes :] = ours["head.weight"][:, :1]
    for i, block in enumerate(model.blocks):
        assert isinstance(block, Block)
        here = f"blocks.{i}."
        for name in ("mixer_norm.weight", "mlp_norm.weight", "mlp.inputs.weight"):
            theirs[here + name].copy_(ours[here + name]) if here + name in ours else None
        if hidden:
            theirs[f"{here}mlp.output.weight"].copy_(ours[f"{here}mlp.output.weight"] * scale)
        mixer = f"{here}mixer."
        grown = 2.0**10 if c.key_activation == "none" else 1.0
        for part in ("query", "key", "value"):
            factor = 1.0 if part == "value" else grown
            theirs[f"{mixer}{part}.linear.weight"].copy_(ours[f"{mixer}{part}.linear.weight"] * factor)
            if c.conv:
                theirs[f"{mixer}{part}.conv.weight"].copy_(ours[f"{mixer}{part}.conv.weight"])
        theirs[f"{mixer}beta.weight"].copy_(ours[f"{mixer}beta.weight"])
        if c.gated:
            theirs[f"{mixer}decay.weight"].copy_(ours[f"{mixer}decay.weight"])
            theirs[f"{mixer}decays.rate"].copy_(ours[f"{mixer}rate"])
            theirs[f"{mixer}decays.bias"].copy_(ours[f"{mixer}decay.bias"][..., None])
        if c.output_gate:
            theirs[f"{mixer}read_out.gate.weight"].copy_(ours[f"{mixer}read_out.gate.weight"])
        weight, linear = ours[f"{mixer}read_out.norm.weight"], ours[f"{mixer}read_out.linear.weight"]
        theirs[f"{mixer}read_out.weight"].fill_(1)
        theirs[f"{mixer}read_out.linear.weight"].copy_(linear * weight.flatten(1)[:, None] * scale)
    return made
