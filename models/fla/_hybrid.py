"""Hybrid checkpoints of transformers, Qwen3-Next and OLMo-Hybrid: their recurrent layers before the first attention as a model of ours.

Attention is not run here, so what a layer behind it is given is not known. The layers before it are given what the checkpoint gives
them. Where MLPs are mixtures of experts, which are not run here either, only the mixer of the first layer is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor

from ...foundation._errors import InputError
from ...foundation._text import count_noun
from .._config import ModelConfig
from .._model import Model
from ._folder import check_read, drop_tied, read_config, read_tensors
from ._layer import (
    EPS,
    KEY_EPS,
    LAYERS,
    SWITCH,
    WHOLE,
    Entries,
    Kind,
    Shape,
    one_of,
    or_null,
    read_entries,
)

RECURRENT, ATTENTION = "linear_attention", "full_attention"
Tensors = Mapping[str, Tensor]


@dataclass(frozen=True, eq=False)
class Hybrid:
    """The record of a model type.

    Attributes:
        model_type: as in `config.json`.
        entries: the default and the kind of each entry that says what the recurrent layers compute, or which they are.
        ignored: further entries: of attention, of experts, and of the first weights.
        complete: fills in entries that transformers computes from others, and checks those that depend on others.
        experts: whether the MLP of a layer, by its number from 0, is a mixture of experts.
        range: the range of the eigenvalues.
        norm_eps: ε of the norm of a head's outputs.
        norms: names of the norms before a layer's mixer and before its MLP.
        mixer: names, behind `linear_attn.`, and shapes of the tensors of a mixer.
        to_mixer: from these tensors to ours.
        norm_offset: what is added to the weights of the norms of the stream.
        prepare: gives tensors of the first layers the shapes that `mixer` names, where they are saved in others.
    """

    model_type: str
    entries: Mapping[str, tuple[Any, Kind]]
    ignored: frozenset[str]
    complete: Callable[[Entries], Entries]
    experts: Callable[[Entries, int], bool]
    range: Callable[[Entries], tuple[int, int]]
    norm_eps: Callable[[Entries], float]
    norms: tuple[str, str]
    mixer: Callable[[Entries], dict[str, Shape]]
    to_mixer: Callable[[Tensors, Entries], dict[str, Tensor]]
    norm_offset: float = 0.0
    prepare: Callable[[dict[str, Tensor], Entries, int], None] = lambda tensors, e, layers: None


@dataclass(frozen=True, eq=False)
class HybridPart:
    """The part of a checkpoint that was read.

    Attributes:
        model: its model, whose letters and classes are all tokens.
        model_type: of the checkpoint.
        layers: how many layers were read, the first ones.
        text: what was read and what was left out, in a sentence.
    """

    model: Model
    model_type: str
    layers: int
    text: str

    @property
    def part(self) -> str:
        """What of which checkpoint it is, as model folders say it."""
        return f"of {self.model_type}: {self.text}"


def read_hybrid(folder: str | Path, layers: int | None = None) -> HybridPart:
    """The recurrent layers of a hybrid checkpoint that come before its first attention, exactly as it has them.

    Only the tensors of these layers, of the embedding, of the last norm and of the read-out are read, and only the files that hold them
    need be there. The norm and the read-out stand behind the last layer that is read.

    Args:
        folder: a folder with `config.json`, and `model.safetensors` or its index.
        layers: how many layers are read, at least 1; None for all that can be.

    Returns:
        The model, of one seed on the CPU, in float32, or in float64 where a tensor is.

    Raises:
        InputError: another model type, an entry that is unknown or not supported, a layer that cannot be run here, pickled weights, or
            tensors that are missing, too many or of another shape; one line that names it.
    """
    written, file = read_config(folder, HYBRIDS), str(Path(folder) / "config.json")
    hybrid = HYBRIDS[written["model_type"]]
    given = read_entries(written, file, hybrid.model_type, hybrid.entries, hybrid.ignored)
    try:
        e = hybrid.complete(given)
        count, mlp = _count_layers(hybrid, e, layers)
        config = _model_config(hybrid, e, count, mlp)
    except InputError as error:
        raise InputError(f"{file}: {error}") from None
    wanted = _shapes(hybrid, e, count, mlp)
    read = {*wanted, "lm_head.weight"}  # a tied one may be there
    left_out = () if mlp else tuple(f"model.layers.0.{name}." for name in ("mlp", hybrid.norms[1]))
    inside = tuple(f"model.layers.{i}." for i in range(count))
    tensors, places = read_tensors(
        folder,
        lambda name: name in read or (name.startswith(inside) and not name.startswith(left_out)),
    )
    hybrid.prepare(tensors, e, count)
    if e["tie_word_embeddings"]:
        drop_tied(tensors, "model.embed_tokens.weight", file)
    check_read(wanted, tensors, places, str(folder), hybrid.model_type)
    dtype = torch.float64 if any(x.dtype == torch.float64 for x in tensors.values()) else torch.float32
    state = _our_tensors(hybrid, e, {name: value.to(dtype) for name, value in tensors.items()}, count, mlp)
    model = Model(config).to(dtype)
    own = dict(model.named_parameters())
    model.load_state_dict({name: value.reshape(own[name].shape) for name, value in state.items()})
    return HybridPart(model, hybrid.model_type, count, _describe(e["layer_types"], count, mlp))


def _count_layers(hybrid: Hybrid, e: Entries, layers: int | None) -> tuple[int, bool]:
    """How many layers are read, and whether with their MLPs."""
    kinds = e["layer_types"]
    if kinds[0] != RECURRENT:
        raise InputError(
            "layer 0 is attention, which is not run here, so the inputs of no recurrent layer are known"
        )
    most = kinds.index(ATTENTION) if ATTENTION in kinds else len(kinds)
    why = f"layer {most} is attention"
    experts = [i for i in range(most) if hybrid.experts(e, i)]
    mlp = not (experts and experts[0] == 0)
    if experts and max(experts[0], 1) < most:
        most, why = max(experts[0], 1), f"layer {experts[0]} has a mixture of experts"
    if layers is not None and not 1 <= layers <= most:
        raise InputError(
            f"`layers` {layers}: from 1 to {most} can be read, since {why}, which is not run here, and later layers read what it leaves"
        )
    return layers or most, mlp


def _model_config(hybrid: Hybrid, e: Entries, layers: int, mlp: bool) -> ModelConfig:
    D, keys, values = e["hidden_size"], e["linear_num_key_heads"], e["linear_num_value_heads"]
    return ModelConfig(
        family="gated_deltanet", letters=e["vocab_size"], classes=e["vocab_size"], width=D, layers=layers, heads=values,
        head_dim=e["linear_key_head_dim"], value_dim=e["linear_value_head_dim"], range=hybrid.range(e),
        conv=e["linear_conv_kernel_dim"], output_gate=True, norm_eps=float(e["rms_norm_eps"]),
        mlp=e["intermediate_size"] / D if mlp else 0.0, head_bias=False, tied=e["tie_word_embeddings"],
        options={"key_heads": keys, "key_eps": KEY_EPS, "norm_eps": hybrid.norm_eps(e)},
    )  # fmt: skip


def _shapes(hybrid: Hybrid, e: Entries, layers: int, mlp: bool) -> dict[str, Shape]:
    D, tokens, hidden = e["hidden_size"], e["vocab_size"], e["intermediate_size"]
    wanted: dict[str, Shape] = {"model.embed_tokens.weight": (tokens, D), "model.norm.weight": (D,)}
    if not e["tie_word_embeddings"]:
        wanted["lm_head.weight"] = (tokens, D)
    for i in range(layers):
        here = f"model.layers.{i}."
        wanted[f"{here}{hybrid.norms[0]}.weight"] = (D,)
        wanted |= {f"{here}linear_attn.{name}": shape for name, shape in hybrid.mixer(e).items()}
        if mlp:
            wanted[f"{here}{hybrid.norms[1]}.weight"] = (D,)
            wanted |= {f"{here}mlp.{name}_proj.weight": (hidden, D) for name in ("gate", "up")}
            wanted[f"{here}mlp.down_proj.weight"] = (D, hidden)
    return wanted


def _our_tensors(hybrid: Hybrid, e: Entries, tensors: Tensors, layers: int, mlp: bool) -> dict[str, Tensor]:
    def norm(name: str) -> Tensor:
        return hybrid.norm_offset + tensors[f"{name}.weight"]

    ours = {"embedding.weight": tensors["model.embed_tokens.weight"], "norm.weight": norm("model.norm")}
    if not e["tie_word_embeddings"]:
        ours["head.weight"] = tensors["lm_head.weight"]
    for i in range(layers):
        theirs, own = f"model.layers.{i}.", f"blocks.{i}."
        ours[f"{own}mixer_norm.weight"] = norm(theirs + hybrid.norms[0])
        mixer = {name: tensors[f"{theirs}linear_attn.{name}"] for name in hybrid.mixer(e)}
        ours |= {f"{own}mixer.{name}": value for name, value in hybrid.to_mixer(mixer, e).items()}
        if mlp:
            ours[f"{own}mlp_norm.weight"] = norm(theirs + hybrid.norms[1])
            halves = [tensors[f"{theirs}mlp.{name}_proj.weight"] for name in ("gate", "up")]
            ours[f"{own}mlp.inputs.weight"] = torch.cat(halves)
            ours[f"{own}mlp.output.weight"] = tensors[f"{theirs}mlp.down_proj.weight"]
    return ours


def _describe(kinds: list[str], layers: int, mlp: bool) -> str:
    read = f"layers 0 to {layers - 1}" if layers > 1 else "layer 0"
    read = read if mlp else f"the mixer of {read}"
    attention = kinds[layers:].count(ATTENTION)
    left = [] if mlp else ["the layer's experts"]
    if more := len(kinds) - layers:
        left.append(f"the {count_noun(more, 'layer')} behind ({attention} of attention)")
    out = f"; left out: {' and '.join(left)}" if left else ""
    return (
        f"{read} of {len(kinds)}{out}. Transitions are the checkpoint's; answers are those of its last norm and read-out on what the part "
        "leaves, not the checkpoint's"
    )


def _layer_types(e: Entries, every: int) -> list[str]:
    """`layer_types`, or without it attention in each `every`-th layer."""
    kinds, count = e["layer_types"], e["num_hidden_layers"]
    if kinds is None:
        return [ATTENTION if (i + 1) % every == 0 else RECURRENT for i in range(count)]
    if len(kinds) != count:
        raise InputError(f"layer_types has {len(kinds)} entries, and num_hidden_layers is {count}")
    return list(kinds)


def _check_heads(e: Entries) -> Entries:
    keys, values = e["linear_num_key_heads"], e["linear_num_value_heads"]
    if values % keys:
        raise InputError(f"linear_num_value_heads {values} must be a multiple of linear_num_key_heads {keys}")
    return e


def _channels(e: Entries) -> tuple[int, int]:
    """Channels of all keys and of all values."""
    keys = e["linear_num_key_heads"] * e["linear_key_head_dim"]
    return keys, e["linear_num_value_heads"] * e["linear_value_head_dim"]


def _complete_qwen(e: Entries) -> Entries:
    for i in e["mlp_only_layers"] or ():
        if i >= e["num_hidden_layers"]:
            raise InputError(f"mlp_only_layers names layer {i}, of {e['num_hidden_layers']} from 0")
    return _check_heads({**e, "layer_types": _layer_types(e, e["full_attention_interval"])})


def _has_experts(e: Entries, i: int) -> bool:
    listed = e["mlp_only_layers"] or ()
    return i not in listed and e["num_experts"] > 0 and (i + 1) % e["decoder_sparse_step"] == 0


def _qwen_mixer(e: Entries) -> dict[str, Shape]:
    D, heads = e["hidden_size"], e["linear_num_value_heads"]
    keys, values = _channels(e)
    return {
        "in_proj_qkvz.weight": (2 * keys + 2 * values, D), "in_proj_ba.weight": (2 * heads, D),
        "conv1d.weight": (2 * keys + values, 1, e["linear_conv_kernel_dim"]), "dt_bias": (heads,), "A_log": (heads,),
        "norm.weight": (e["linear_value_head_dim"],), "out_proj.weight": (D, values),
    }  # fmt: skip


def _qwen_to_mixer(tensors: Tensors, e: Entries) -> dict[str, Tensor]:
    """Rows of the projections stand by key heads: of each its query, its key, and the values and gates of its value heads."""
    D, groups = e["hidden_size"], e["linear_num_key_heads"]
    keys, values = _channels(e)
    rows = tensors["in_proj_qkvz.weight"].view(groups, -1, D)
    sizes = [keys // groups, keys // groups, values // groups, values // groups]
    q, k, v, z = (x.reshape(-1, D) for x in torch.split(rows, sizes, 1))
    b, a = (x.reshape(-1, D) for x in tensors["in_proj_ba.weight"].view(groups, -1, D).chunk(2, 1))
    taps = torch.split(tensors["conv1d.weight"], [keys, keys, values])
    return {
        **_named((q, k, v), taps), "beta.weight": b, "decay.weight": a, "decays.rate": tensors["A_log"],
        "decays.bias": tensors["dt_bias"], "read_out.gate.weight": z, "read_out.weight": tensors["norm.weight"],
        "read_out.linear.weight": tensors["out_proj.weight"],
    }  # fmt: skip


def _named(linear: tuple[Tensor, ...], taps: tuple[Tensor, ...]) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    for name, weight, conv in zip(("query", "key", "value"), linear, taps, strict=True):
        found |= {f"{name}.linear.weight": weight, f"{name}.conv.weight": conv}
    return found


def _complete_olmo(e: Entries) -> Entries:
    heads, kinds = e["num_attention_heads"], _layer_types(e, 4)
    if e["layer_types"] is None and ATTENTION not in kinds:
        kinds[-1] = ATTENTION
    e = {**e, "layer_types": kinds}
    for name in ("linear_num_key_heads", "linear_num_value_heads"):
        e[name] = heads if e[name] is None else e[name]
    if e["linear_key_head_dim"] is None:
        e["linear_key_head_dim"] = int(0.75 * e["hidden_size"] / e["linear_num_key_heads"])
    if e["linear_value_head_dim"] is None:
        e["linear_value_head_dim"] = 2 * e["linear_key_head_dim"]
    return _check_heads(e)


def _olmo_mixer(e: Entries) -> dict[str, Shape]:
    D, heads, taps = e["hidden_size"], e["linear_num_value_heads"], e["linear_conv_kernel_dim"]
    keys, values = _channels(e)
    sizes = {"q": keys, "k": keys, "v": values}
    return {
        **{f"{name}_proj.weight": (size, D) for name, size in sizes.items()},
        **{f"{name}_conv1d.weight": (size, 1, taps) for name, size in sizes.items()},
        "a_proj.weight": (heads, D), "b_proj.weight": (heads, D), "g_proj.weight": (values, D), "A_log": (heads,),
        "dt_bias": (heads,), "o_norm.weight": (e["linear_value_head_dim"],), "o_proj.weight": (D, values),
    }  # fmt: skip


def _cut_convolutions(tensors: dict[str, Tensor], e: Entries, layers: int) -> None:
    """Cut the taps into queries, keys and values: transformers keeps them as one tensor, and saves it in three equal parts."""
    shapes = {name: shape for name, shape in _olmo_mixer(e).items() if "conv1d" in name}
    total = sum(shape[0] for shape in shapes.values())
    for i in range(layers):
        names = [f"model.layers.{i}.linear_attn.{name}" for name in shapes]
        found = [tensors[name] for name in names if name in tensors]
        if len(found) < 3 or {x.shape[1:] for x in found} != {shape[1:] for shape in shapes.values()}:
            continue
        if sum(len(x) for x in found) == total:
            parts = torch.split(torch.cat(found), [shape[0] for shape in shapes.values()])
            tensors.update(zip(names, parts, strict=True))


def _olmo_to_mixer(tensors: Tensors, e: Entries) -> dict[str, Tensor]:
    linear = tuple(tensors[f"{name}_proj.weight"] for name in "qkv")
    taps = tuple(tensors[f"{name}_conv1d.weight"] for name in "qkv")
    return {
        **_named(linear, taps), "beta.weight": tensors["b_proj.weight"], "decay.weight": tensors["a_proj.weight"],
        "decays.rate": tensors["A_log"], "decays.bias": tensors["dt_bias"], "read_out.gate.weight": tensors["g_proj.weight"],
        "read_out.weight": tensors["o_norm.weight"], "read_out.linear.weight": tensors["o_proj.weight"],
    }  # fmt: skip


_KINDS: Final = Kind(
    f"null, or a list of {RECURRENT!r} and {ATTENTION!r}",
    lambda x: x is None or (isinstance(x, list) and bool(x) and all(kind in (RECURRENT, ATTENTION) for kind in x)),
)  # fmt: skip
_FROM_ZERO: Final = Kind("a whole number from 0", lambda x: type(x) is int and x >= 0)
_NUMBERS: Final = Kind(
    "null, or a list of numbers of layers from 0",
    lambda x: x is None or (isinstance(x, list) and all(map(_FROM_ZERO.fits, x))),
)
_TAPS: Final = Kind("a whole number from 2", lambda x: type(x) is int and x >= 2)
_COMMON: Final[Mapping[str, tuple[Any, Kind]]] = {
    "rms_norm_eps": (1e-6, EPS), "hidden_act": ("silu", one_of("silu")), "tie_word_embeddings": (False, SWITCH),
    "layer_types": (None, _KINDS), "linear_conv_kernel_dim": (4, _TAPS),
}  # fmt: skip
_OF_ATTENTION: Final = frozenset((
    "attention_bias", "attention_dropout", "num_key_value_heads", "head_dim", "rope_parameters", "rope_theta", "rope_scaling",
    "partial_rotary_factor", "pretraining_tp",
))  # fmt: skip
HYBRIDS: Final[Mapping[str, Hybrid]] = {
    "qwen3_next": Hybrid(
        "qwen3_next",
        {
            **_COMMON, "vocab_size": (151936, WHOLE), "hidden_size": (2048, WHOLE), "intermediate_size": (5632, WHOLE),
            "num_hidden_layers": (48, LAYERS), "linear_num_key_heads": (16, WHOLE), "linear_num_value_heads": (32, WHOLE),
            "linear_key_head_dim": (128, WHOLE), "linear_value_head_dim": (128, WHOLE), "full_attention_interval": (4, WHOLE),
            "decoder_sparse_step": (1, WHOLE), "num_experts": (512, _FROM_ZERO), "mlp_only_layers": (None, _NUMBERS),
        },
        _OF_ATTENTION | {
            "num_attention_heads", "moe_intermediate_size", "shared_expert_intermediate_size", "num_experts_per_tok", "norm_topk_prob",
            "output_router_logits", "router_aux_loss_coef",
        },
        _complete_qwen, _has_experts, lambda e: (0, 1), lambda e: float(e["rms_norm_eps"]),
        ("input_layernorm", "post_attention_layernorm"), _qwen_mixer, _qwen_to_mixer, norm_offset=1.0,
    ),
    "olmo_hybrid": Hybrid(
        "olmo_hybrid",
        {
            **_COMMON, "vocab_size": (100352, WHOLE), "hidden_size": (3840, WHOLE), "intermediate_size": (11008, WHOLE),
            "num_hidden_layers": (32, LAYERS), "num_attention_heads": (30, WHOLE), "linear_num_key_heads": (None, or_null(WHOLE)),
            "linear_num_value_heads": (None, or_null(WHOLE)), "linear_key_head_dim": (None, or_null(WHOLE)),
            "linear_value_head_dim": (None, or_null(WHOLE)), "linear_allow_neg_eigval": (True, SWITCH),
        },
        _OF_ATTENTION | {"linear_a_log_min", "linear_a_log_max", "linear_dt_min", "linear_dt_max", "linear_dt_init_floor"},
        _complete_olmo, lambda e, i: False, lambda e: (-1, 1) if e["linear_allow_neg_eigval"] else (0, 1), lambda e: 1e-5,
        ("attention_layer_norm", "feedforward_layer_norm"), _olmo_mixer, _olmo_to_mixer,
        prepare=_cut_convolutions,
    ),
}  # fmt: skip
"""The model types that are read. OLMo-Hybrid's output norm has an ε of its own, whatever the configuration says."""
