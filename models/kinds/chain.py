"""Kind `chain`: a `ChainRNN` as a `ChainModel`, which computes its factors and runs them on the kernels."""

from __future__ import annotations

from .._chain_model import ChainModel
from .._kinds import ModelKind

KIND = ModelKind(kind="chain", build=lambda form, max_entries: ChainModel(form))
