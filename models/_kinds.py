"""`from_construction`: a realisation as a model, by the record of its kind, which a file of `kinds/` holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, overload

from torch import nn

from ..constructions._lrnn import LRNN
from ..constructions.chains._chain import ChainRNN
from ..foundation._registry import find_records
from ..theory._realisations import RealisationLike, realisation_of

if TYPE_CHECKING:  # the files of `kinds/` import them, and this file
    from ._chain_model import ChainModel
    from ._model import Model

MAX_ENTRIES = 50_000_000
"""Largest number of weights in one array of a constructed model."""


@dataclass(frozen=True)
class ModelKind:
    """How realisations of a kind become a model.

    Args:
        kind: name of the kind, as `Realisation.kind`.
        build: `(found, max_entries)`: the model that computes the realisation through the modules or kernels that are
            trained.
    """

    kind: str
    build: Callable[[Any, int], nn.Module]


@cache
def _all_kinds() -> dict[str, ModelKind]:
    return {record.kind: record for record in find_records(f"{__package__}.kinds", "KIND", ModelKind)}


@overload
def from_construction(found: LRNN, *, max_entries: int = ...) -> Model: ...
@overload
def from_construction(found: ChainRNN, *, max_entries: int = ...) -> ChainModel: ...
@overload
def from_construction(found: RealisationLike, *, max_entries: int = ...) -> nn.Module: ...
def from_construction(found: RealisationLike, *, max_entries: int = MAX_ENTRIES) -> nn.Module:
    """Make a model that computes a realisation token by token, with the same code and kernels as a trained model.

    A table (`LRNN`) becomes a `Model`. Letters are embedded as unit vectors. A head of n × d becomes n heads of the model with
    the same keys, values and strengths. The i-th of them has the query e_i, so that together they output the whole state. The
    factors write the additive terms. With one layer, the classes of the read-out are the rows of `LRNN.decode`, scored by the
    distance to their codes. With several layers, tables lead from layer to layer, and the classes are the automaton's states and
    "none". The labels (`ModelConfig.meaning`) are the automaton's states.

    A chain of sets (`ChainRNN`) becomes a `ChainModel`, which computes the keys, values and strengths of each layer for all tokens from
    the layers above, and runs them on the kernels of DeltaProduct.

    Args:
        found: a construction by GH factors, with any number of layers; its certificate; or the path of one. A certificate is checked
            first, and its labels are texts.
        max_entries: largest number of weights in one array of a table's model.

    Returns:
        A model; of a table it has one seed, and its numbers are rounded once to float32.

    Raises:
        InputError: a letter is not a product of GH factors (G.A3, DP.T6); the realisation is a block delay (DP.T1), a chain over blocks
            (own.blocks, R7) or a decaying number (own.decay); or the certificate is invalid. The message names a construction to use.
        NotRealisableError: the factors cannot write an additive term (DP.T2, for some automata).
        LimitError: an array has more than `max_entries` weights, or a chain's layer is wider than the kernels.

    Source: arXiv 2502.10297 for the layer whose weights these are; the construction names its own source.

    Examples:
        >>> import torch
        >>> from mirrormata import construct
        >>> model = from_construction(construct("parity"))
        >>> logits, _ = model(torch.tensor([[[1, 1, 1]]]))
        >>> model.answers(logits).tolist()
        [[[1, 0, 1]]]
    """
    realisation = realisation_of(found, "found")
    record = _all_kinds().get(realisation.kind)
    if record is None:
        raise realisation.no_table(
            f"its layers are not built as a model; construct it with `theorem` {realisation.table_theorem}"
        )
    return record.build(realisation, max_entries)
