"""`FlaLayer`: how a model type of FLA is read as a `Model` of ours and written again; one file of `layers` for each type.

A file defines `LAYER`. It says which entries the configuration may have, which `ModelConfig` they make and back, and which tensors
of a block are which of ours. Where no family of ours has the wiring, the file also has a mixer and `FAMILIES`, as in `models/layers`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from typing import Any, Final, TypeAlias

from ...foundation._errors import InputError
from ...foundation._registry import find_records
from .._config import ModelConfig
from ._model import HARMLESS
from ._sizes import LARGEST_RATIO, LARGEST_SIZE, MOST_LAYERS, is_ratio, is_size

Entries: TypeAlias = dict[str, Any]
"""The entries of a configuration that say what a model computes, FLA's defaults filled in."""
Shape: TypeAlias = tuple[int, ...]
KEY_EPS: Final = 1e-6
"""What FLA's kernels add to the squared lengths of queries and keys before they are divided by their lengths."""


@dataclass(frozen=True)
class Kind:
    """What an entry of a configuration may be.

    Attributes:
        needed: in words, for errors.
        fits: whether a value is that.
    """

    needed: str
    fits: Callable[[Any], bool]


WHOLE: Final = Kind(f"a whole number from 1 to {LARGEST_SIZE:,}", is_size)
LAYERS: Final = Kind(f"a whole number from 1 to {MOST_LAYERS:,}", lambda x: is_size(x, MOST_LAYERS))
POSITIVE: Final = Kind(f"a finite number above 0, of at most {LARGEST_RATIO:,}", is_ratio)
EPS: Final = Kind("a number from 0, below 1", lambda x: type(x) in (int, float) and 0 <= x < 1)
SWITCH: Final = Kind("true or false", lambda x: type(x) is bool)


def or_null(kind: Kind) -> Kind:
    """The same, or null."""
    return Kind(f"{kind.needed}, or null", lambda x: x is None or kind.fits(x))


def one_of(*values: Any) -> Kind:
    """One of these values, which must have the same type."""
    words = " or ".join(map(_shown, values))
    return Kind(words, lambda x: any(type(x) is type(v) and x == v for v in values))


def _shown(value: Any) -> str:
    names: dict[Any, str] = {None: "null", True: "true", False: "false"}
    return names[value] if value is None or value is True or value is False else repr(value)


@dataclass(frozen=True)
class Group:
    """Tensors of FLA's whose numbers, one after another, are those of tensors of ours.

    Attributes:
        theirs: names and shapes, in order.
        ours: names, in order.
    """

    theirs: Mapping[str, Shape]
    ours: tuple[str, ...]


def same(theirs: str, shape: Shape, ours: str) -> Group:
    """One tensor for one."""
    return Group({theirs: shape}, (ours,))


def swiglu_groups(D: int, hidden: int) -> list[Group]:
    """The tensors of a gated MLP."""
    return [
        Group(
            {f"mlp.{name}_proj.weight": (hidden, D) for name in ("gate", "up")},
            ("mlp.inputs.weight",),
        ),
        same("mlp.down_proj.weight", (D, hidden), "mlp.output.weight"),
    ]


def inside(groups: Sequence[Group], theirs: str, ours: str) -> list[Group]:
    """The same tensors, with what stands before their names."""
    return [
        Group(
            {f"{theirs}{name}": shape for name, shape in group.theirs.items()},
            tuple(f"{ours}{name}" for name in group.ours),
        )
        for group in groups
    ]


@dataclass(frozen=True)
class Stream:
    """FLA's names of the parts around the mixers.

    Attributes:
        prefix: of all tensors but the read-out's.
        mixer, mixer_norm, mlp_norm, norm: the parts' names; `mlp_norm` None where blocks have no MLP.
        mlp: the tensors of a block's MLP, of the width and the hidden width; names begin behind those of the block.
        embedding_norm: the name of a norm of the embedding, which is in the first block; None for none.
        biases: whether norms have biases.
    """

    prefix: str = "model"
    mixer: str = "attn"
    mixer_norm: str = "attn_norm"
    mlp_norm: str | None = "mlp_norm"
    norm: str = "norm"
    mlp: Callable[[int, int], Sequence[Group]] = swiglu_groups
    embedding_norm: str | None = None
    biases: bool = False

    def norm_groups(self, theirs: str, ours: str, D: int) -> list[Group]:
        """The tensors of a norm of D entries."""
        parts = ("weight", "bias") if self.biases else ("weight",)
        return [same(f"{theirs}.{part}", (D,), f"{ours}.{part}") for part in parts]


@dataclass(frozen=True, eq=False)
class FlaLayer:
    """The record of a model type of FLA.

    Attributes:
        model_type: as in `config.json`.
        architecture: FLA's class of the language model.
        entries: the default and the kind of each entry that says what the model computes.
        family: the family of our mixers, in `load_families()`.
        to_model: from the entries to entries of `ModelConfig`.
        to_entries: from a `ModelConfig` of the family to entries; `InputError` where FLA's layer has no such option.
        mixer: from a `ModelConfig` to the tensors of a mixer; names begin behind those of the mixer itself.
        later: further tensors of the mixers behind the first.
        stream: FLA's names of what is around the mixers.
        ignored: further entries that do not change which numbers are computed.
    """

    model_type: str
    architecture: str
    entries: Mapping[str, tuple[Any, Kind]]
    family: str
    to_model: Callable[[Entries], dict[str, Any]]
    to_entries: Callable[[ModelConfig], Entries]
    mixer: Callable[[ModelConfig], Sequence[Group]]
    stream: Stream = field(default_factory=Stream)
    ignored: frozenset[str] = frozenset()
    later: Callable[[ModelConfig], Sequence[Group]] = lambda config: ()

    def read_entries(self, config: Mapping[str, Any], name: str) -> Entries:
        """The entries of a `config.json`, checked and with FLA's defaults.

        Args:
            config: the contents of the file.
            name: of the file, for errors.

        Returns:
            Every entry of `entries`.

        Raises:
            InputError: one line for every entry that is unknown, of another kind, or not supported.
        """
        return read_entries(config, name, self.model_type, self.entries, self.ignored)

    def model_config(self, entries: Entries, name: str) -> ModelConfig:
        """Our configuration of a model whose letters and classes are all tokens.

        Args:
            entries: as `read_entries` returns them.
            name: of the file, for errors.

        Returns:
            The configuration.

        Raises:
            InputError: sizes do not fit one another, or are beyond those that our kernels take.
        """
        try:
            return ModelConfig(family=self.family, **self.to_model(entries))
        except InputError as error:
            raise InputError(f"{name}: {error}") from None

    def groups(self, config: ModelConfig) -> list[Group]:
        """All tensors of a model.

        Args:
            config: of a model of the family.

        Returns:
            FLA's tensors beside ours.
        """
        s, D = self.stream, config.width
        every = [same(f"{s.prefix}.embeddings.weight", (config.rows, D), "embedding.weight")]
        hidden = round(config.mlp * D)
        for i in range(config.layers):
            theirs, ours = f"{s.prefix}.layers.{i}.", f"blocks.{i}."
            if i == 0 and s.embedding_norm is not None:
                every += s.norm_groups(f"{theirs}{s.embedding_norm}", "embedding_norm", D)
            every += s.norm_groups(f"{theirs}{s.mixer_norm}", f"{ours}mixer_norm", D)
            mixer = [*self.mixer(config), *(self.later(config) if i else ())]
            every += inside(mixer, f"{theirs}{s.mixer}.", f"{ours}mixer.")
            if s.mlp_norm is not None:
                every += s.norm_groups(f"{theirs}{s.mlp_norm}", f"{ours}mlp_norm", D)
                every += inside(s.mlp(D, hidden), theirs, ours)
        every += s.norm_groups(f"{s.prefix}.{s.norm}", "norm", D)
        if not config.tied:
            every.append(same("lm_head.weight", (config.classes, D), "head.weight"))
        return every


def read_entries(
    config: Mapping[str, Any],
    name: str,
    kind: str,
    entries: Mapping[str, tuple[Any, Kind]],
    ignored: frozenset[str],
) -> Entries:
    """The entries of a `config.json` of a model type, checked and with their defaults.

    Args:
        config: the contents of the file.
        name: of the file, for errors.
        kind: the model type.
        entries: the default and the kind of each entry that is read.
        ignored: further entries that may be there, beside `HARMLESS`.

    Returns:
        Every entry of `entries`.

    Raises:
        InputError: one line for every entry that is unknown, of another kind, or not supported.
    """
    problems = []
    full = {entry: config.get(entry, default) for entry, (default, _) in entries.items()}
    for entry in config:
        if entry in HARMLESS or entry in ignored or entry in full:
            continue
        near = get_close_matches(str(entry), (*full, *HARMLESS), 1, 0.8)
        hint = f"did you mean {near[0]!r}?" if near else f"read are {', '.join(sorted(full))}"
        problems.append(
            f"{entry} is {_shown_entry(config[entry])}, and no entry of {kind} that is known; {hint}"
        )
    problems += [
        f"{entry} is {_shown_entry(full[entry])}; supported is {needed.needed}"
        for entry, (_, needed) in entries.items()
        if not needed.fits(full[entry])
    ]
    if problems:
        raise InputError(f"{name}: {'; '.join(problems)}")
    return full


def _shown_entry(value: Any) -> str:
    text = _shown(value) if isinstance(value, bool) or value is None else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


@cache
def load_layers() -> Mapping[str, FlaLayer]:
    """The records of all files of `layers` whose names do not begin with `_`, by model type."""
    package = f"{__name__.rpartition('.')[0]}.layers"
    return {record.model_type: record for record in find_records(package, "LAYER", FlaLayer)}


STREAM_ENTRIES: Final[Mapping[str, tuple[Any, Kind]]] = {
    "hidden_size": (2048, WHOLE), "num_hidden_layers": (24, LAYERS), "vocab_size": (32000, WHOLE), "norm_eps": (1e-6, EPS),
    "tie_word_embeddings": (False, SWITCH), "hidden_act": ("swish", one_of("swish")), "hidden_ratio": (4, or_null(POSITIVE)),
    "intermediate_size": (None, or_null(WHOLE)), "attn": (None, one_of(None)), "attnres_block_size": (None, one_of(None)),
    "conv_size": (4, WHOLE), "conv_bias": (False, one_of(False)),
}  # fmt: skip
"""Entries of the types whose blocks have a mixer and a gated MLP. `conv_bias` is read by FLA's layers, not by its models."""


def stream_to_model(e: Entries) -> dict[str, Any]:
    """Entries of `ModelConfig` that `STREAM_ENTRIES` make."""
    D, hidden = e["hidden_size"], e["intermediate_size"]
    if hidden is None:  # two thirds of the ratio, up to a multiple of 256
        hidden = 256 * -(-int(D * (e["hidden_ratio"] or 4) * 2 / 3) // 256)
    return {
        "letters": e["vocab_size"], "classes": e["vocab_size"], "width": D, "layers": e["num_hidden_layers"],
        "norm_eps": float(e["norm_eps"]), "tied": e["tie_word_embeddings"], "head_bias": False, "mlp": hidden / D,
        "conv": e["conv_size"] if e["use_short_conv"] else 0,
    }  # fmt: skip


def stream_to_entries(config: ModelConfig) -> Entries:
    """Entries that a model's parts around the mixers make; `InputError` where FLA has no such part."""
    check_stream(config, {
        "output_norm": (True, "FLA's layers norm the outputs of each head"),
        "strength": ("sigmoid", "FLA's layers know no other"),
    })  # fmt: skip
    if not round(config.mlp * config.width):
        raise InputError("model: mlp is 0; FLA's blocks have an MLP")
    entries: Entries = {
        "hidden_size": config.width, "num_hidden_layers": config.layers, "vocab_size": config.classes,
        "norm_eps": config.norm_eps, "tie_word_embeddings": config.tied, "hidden_act": "swish", "hidden_ratio": 4,
        "intermediate_size": round(config.mlp * config.width), "attn": None, "attnres_block_size": None,
        "use_short_conv": config.conv > 0, "conv_size": config.conv or 4,
    }  # fmt: skip
    for option in ("norm_eps", "key_eps"):
        wanted = config.norm_eps if option == "norm_eps" else KEY_EPS
        if (own := config.options.get(option, wanted)) != wanted:
            raise InputError(f"model: options.{option} is {own}; FLA's model of this type has {wanted} there")
    return entries


def check_stream(config: ModelConfig, more: Mapping[str, tuple[Any, str]]) -> None:
    """`InputError` where FLA's models have no such parts around their mixers; `more`: further entries, as for `refuse_unless`."""
    refuse_unless(config, {
        "residual": (True, "FLA's blocks add to a residual stream"),
        "norm": (True, "FLA's blocks have norms"),
        "head_bias": (False, "FLA's lm_head has no bias"),
        "tables": ((), "FLA has no tables between layers"),
        "additive": (True, "FLA's tokens always write to the state"),
        "initial": ("zero", "FLA's states begin at 0"),
        **more,
    })  # fmt: skip
    if config.rows != config.classes:
        raise InputError(
            f"model: {config.rows} rows of the embedding and {config.classes} classes; FLA has one vocabulary"
        )


def refuse_unless(config: ModelConfig, wanted: Mapping[str, tuple[Any, str]]) -> None:
    """`InputError` that names the entries of a configuration that have other values than these, each with the reason."""
    problems = [
        f"{entry} is {_shown_entry(getattr(config, entry))}; {why}: {_shown_entry(value)} is needed"
        for entry, (value, why) in wanted.items()
        if getattr(config, entry) != value
    ]
    if problems:
        raise InputError(f"model: {'; '.join(problems)}")


def common_groups(
    config: ModelConfig, channels: Mapping[str, int], *, gate: bool, norm: str = "o_norm"
) -> list[Group]:
    """What mixers of queries, keys and values share: their projections and short convolutions, a gate, the norm and the output projection.

    `channels`: of `q`, `k` and `v`, over all heads and factors. `gate`: whether a gate of full rank multiplies the outputs. `norm`: FLA's
    name of the norm of each head's outputs.
    """
    D, outputs, groups = config.width, config.heads * config.value_dim, []
    for theirs, ours in (("q", "query"), ("k", "key"), ("v", "value")):
        size = channels[theirs]
        groups.append(same(f"{theirs}_proj.weight", (size, D), f"{ours}.linear.weight"))
        if config.conv:
            groups.append(same(f"{theirs}_conv1d.weight", (size, 1, config.conv), f"{ours}.conv.weight"))
    if gate:
        groups.append(same("g_proj.weight", (outputs, D), "read_out.gate.weight"))
    return [
        *groups,
        same(f"{norm}.weight", (config.value_dim,), "read_out.weight"),
        same("o_proj.weight", (D, outputs), "read_out.linear.weight"),
    ]


def decay_groups(config: ModelConfig) -> list[Group]:
    """One decay exp(-exp(A) softplus(z + b)) of each head: the projection to z, A and b."""
    heads = config.heads
    return [
        same("a_proj.weight", (heads, config.width), "decay.weight"),
        same("A_log", (heads,), "decays.rate"),
        same("dt_bias", (heads,), "decays.bias"),
    ]


def whole_ratio(e: Entries, size: str, ratio: str) -> int:
    """A size times a ratio, which must be a whole number; `InputError` otherwise."""
    product: float = e[size] * e[ratio]
    if round(product) < 1 or not math.isclose(product, round(product), rel_tol=1e-5):
        raise InputError(
            f"{size} {e[size]} times {ratio} {e[ratio]} is {product}, and must be a whole number from 1"
        )
    return round(product)


def by_heads(e: Entries, what: str, channels: int) -> int:
    """Channels of each head; `InputError` where they are no multiple of `num_heads`."""
    if channels % e["num_heads"]:
        raise InputError(
            f"its {what} have {channels} channels, which is no multiple of num_heads {e['num_heads']}"
        )
    return int(channels // e["num_heads"])
