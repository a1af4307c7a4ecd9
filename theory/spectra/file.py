"""`mirrormata spectrum`: the spectrum of a certificate's linear RNN, or of an `.npz` of matrices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...constructions.errors import InputError
from ..proofs.npz_model import load_npz_matrices
from ..running.file import lrnn_of
from .model import ModelSpectrum, model_spectrum


def spectrum_of_file(
    path: str, *, products: int = 0, max_dim: int = 64, max_letters: int = 2_000, max_products: int = 2_000
) -> ModelSpectrum:
    """See `model_spectrum`; certificates are checked first. `InputError` for a file that is neither."""
    if Path(path).is_dir():
        raise InputError(
            f"{path}: is no FLA checkpoint; for a model folder `mirrormata compare` shows the eigenvalues of its heads"
        )
    model: Any = load_npz_matrices(path) if Path(path).suffix == ".npz" else lrnn_of(path)
    return model_spectrum(
        model,
        products=products,
        name=path,
        max_dim=max_dim,
        max_letters=max_letters,
        max_products=max_products,
    )
