"""`ModelConfig`: all that fixes the shape of a model; every family of recurrences has the same switches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

from ..foundation._errors import InputError
from ._families import find_family, load_families, switch_problems
from ._records import field_problems

MOST = 2**30
"""The largest number of anything that is counted; far below it a model is larger than any memory."""

Count: TypeAlias = Annotated[int, Meta(ge=1, le=MOST)]
Row: TypeAlias = Annotated[int, Meta(ge=0, lt=MOST)]
Label: TypeAlias = Annotated[int, Meta(ge=-1, lt=MOST)]
Range: TypeAlias = tuple[int, int]
RANGES: tuple[Range, ...] = ((0, 1), (-1, 1))


class ModelConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The configuration of a model: a stack of blocks (norm, mixer, norm, gated MLP) between an embedding and a read-out.

    Attributes:
        family: the family of the mixers, a name in `load_families()`; DeltaNet is `deltaproduct` with one factor a token. A layer of your
            own is `package.module:Class`, see `RecurrentLayer`.
        letters: number of tokens of the alphabet, including BOS if there is one.
        classes: number of outputs.
        width: number of entries of the residual stream.
        layers: number of blocks.
        heads: number of heads of each block.
        head_dim: K, the number of rows of the state of a head (for Mamba, of channels of a head).
        value_dim: V, the number of columns of the state of a head (for Mamba, of states of a channel).
        householders: n_h, the number of factors per token (only for `deltaproduct`).
        range: the range of the eigenvalues of the transitions, (0, 1) or (-1, 1).
        gated: whether to multiply the state by a gate in (0, 1) before the factors (only for `deltaproduct`).
        additive: whether tokens add terms to the state. Otherwise only transitions act on it, so `initial` must be `learned`.
        conv: number of taps of the short causal convolution before queries, keys and values, at least 2; 0 for none.
        key_activation: `silu`, which makes most entries of keys positive, or `none`.
        key_norm: whether to divide queries and keys by their norms. Without it β ‖k‖² is unbounded, as constructed weights need it.
        strength: how β, decays and the gate are computed from a projection: `sigmoid`, scaled to the range; `hard_sigmoid`,
            which reaches the ends of the range at finite weights, so that a factor can be an exact reflection or the identity;
            `direct`, the projection itself.
        output_gate: whether to multiply the outputs of the mixer by SiLU of a projection of its inputs.
        output_norm: whether to apply RMSNorm to the outputs of each head.
        initial: the state before the first token, `zero` or `learned` (for linear families).
        norm: whether to apply RMSNorm before the mixers, the MLPs and the read-out.
        norm_eps: what these norms add to the mean square, at least 0 and below 1.
        residual: whether to add the input of a block to its output.
        mlp: hidden width of the gated MLP as a multiple of `width`; 0 for none.
        options: further entries that the family declares (`Family.settings`, of a layer of your own `RecurrentLayer.settings`): numbers, texts,
            true or false. Those of a family of this package are filled in with their defaults.
        head_bias: whether the read-out adds a number of its own to each class. Language models have none.
        tied: whether the read-out has the weights of the embedding, and so no bias; letters and classes then share the embedding's rows.
        tokens: the row of the embedding that each letter reads, where letters and classes share a vocabulary: then the embedding has a row
            for each class. Empty if letter i reads row i of as many rows as letters.
        tables: the six sizes of the `TableReadOut` that replaces the MLP between constructed layers; empty for none.
        meaning: the label that each class stands for, -1 for none; several classes may stand for the same label. Empty if
            class i stands for label i.

    Raises:
        InputError: an entry is wrong; the message is one line that names every such entry, its value and its range.
    """

    family: str = "deltaproduct"
    letters: Count = 2
    classes: Count = 2
    width: Count = 128
    layers: Count = 1
    heads: Count = 4
    head_dim: Count = 32
    value_dim: Count = 32
    householders: Count = 1
    range: Range = (-1, 1)
    gated: bool = False
    additive: bool = True
    conv: Annotated[int, Meta(ge=0, le=MOST)] = 0
    key_activation: Literal["silu", "none"] = "silu"
    key_norm: bool = True
    strength: Literal["sigmoid", "hard_sigmoid", "direct"] = "sigmoid"
    output_gate: bool = False
    output_norm: bool = True
    initial: Literal["zero", "learned"] = "zero"
    norm: bool = True
    norm_eps: Annotated[float, Meta(ge=0, lt=1)] = 1e-6
    residual: bool = True
    mlp: Annotated[float, Meta(ge=0, le=MOST)] = 2.0
    options: dict[str, bool | int | float | str] = {}
    head_bias: bool = True
    tied: bool = False
    tokens: tuple[Row, ...] = ()
    tables: tuple[Count, ...] = ()
    meaning: tuple[Label, ...] = ()

    def __post_init__(self) -> None:
        # A file's values have their types when they come here, those of a call in Python need not.
        problems = list(field_problems(self))
        if not problems and self.family in (families := load_families()):
            # written out, so that files say all of it
            settings = {**families[self.family].settings, **self.options}
            msgspec.structs.force_setattr(self, "options", settings)
        problems = problems or list(self._contradictions())
        if problems:
            raise InputError("model: " + "; ".join(problems))

    @property
    def labels(self) -> int:
        """The number of labels that the classes stand for."""
        return max(self.meaning) + 1 if self.meaning else self.classes

    @property
    def rows(self) -> int:
        """The number of rows of the embedding."""
        return self.classes if self.tokens else self.letters

    def as_json(self) -> dict[str, Any]:
        """Return the entries as plain values, as in `config.json`; `record_of(values, ModelConfig, name)` reads them.

        Returns:
            A dictionary of numbers, texts, booleans and lists, one entry for each field.

        Examples:
            >>> ModelConfig(layers=2).as_json()["layers"]
            2
        """
        lists = {name: list(getattr(self, name)) for name in ("range", "tokens", "tables", "meaning")}
        return {**msgspec.structs.asdict(self), **lists}

    def _contradictions(self) -> Iterator[str]:
        """What no type says: entries that do not go together, or not with the family."""
        try:
            find_family(self.family)
        except InputError as error:
            yield str(error)
            return
        if self.range not in RANGES:
            yield f"range is {self.range}: choose (0, 1) or (-1, 1)"
        if self.conv == 1:
            yield "conv is 1: give the number of its taps, at least 2, or 0 for none"
        if self.tables and len(self.tables) != 6:
            yield f"tables is {self.tables}: six whole numbers are needed, or none"
        if self.tables and (self.mlp or self.residual):
            yield "tables take the place of MLPs and of the residual stream: mlp 0 and residual false go with them"
        if self.meaning and len(self.meaning) != self.classes:
            yield f"meaning has {len(self.meaning)} entries: a label for each of the {self.classes} classes is needed"
        if self.tokens and (len(self.tokens) != self.letters or max(self.tokens) >= self.classes):
            yield (
                f"tokens has {len(self.tokens)} entries, the largest {max(self.tokens)}: a row below classes, {self.classes}, for each of the "
                f"{self.letters} letters is needed"
            )
        if self.tied and (self.rows != self.classes or self.head_bias):
            yield "tied gives the read-out the rows of the embedding: as many classes as rows and head_bias false go with it"
        if not self.additive and self.initial == "zero":
            yield "additive false leaves a zero state zero: choose initial learned"
        yield from switch_problems(self)
