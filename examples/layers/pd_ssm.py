"""A matrix with a single entry in each column, times a diagonal, as in PD-SSM (arXiv 2509.22284), here with real numbers."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from mirrormata.models import ModelConfig, RecurrentLayer


class PDSSM(RecurrentLayer):
    """h ← P(x) D(x) h: P has a one in each column, at the largest entry of a mixture of dictionary matrices; D is diagonal."""

    summary = "h ← P(x) D(x) h, P with a one in each column"
    eigenvalues = "roots of products of D's entries, of absolute value below 1, and 0"
    settings: ClassVar = {"dictionary": 8}

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.entries = (config.heads, int(self.options["dictionary"]), config.head_dim, config.head_dim)
        heads, matrices, n, _ = self.entries
        orders = torch.rand(heads, matrices, n).argsort(-1)
        # near permutations, so that no state is lost at the start
        self.dictionary = nn.Parameter(2 * F.one_hot(orders, n).float() + torch.randn(self.entries) / 2)
        self.choice = nn.Linear(config.width, heads * matrices)
        self.diagonal = nn.Linear(config.width, heads * n)
        self.start = nn.Parameter(torch.randn(heads, n, config.value_dim))
        self.output = nn.Linear(heads * n * config.value_dim, config.width)

    def initial(self) -> Tensor:
        """A learned state, which the tokens act on."""
        return self.start

    def transitions(self, x: Tensor) -> Tensor:
        """P D; the gradient goes through a softmax in the place of the largest entry."""
        heads, matrices, n, _ = self.entries
        weights = self.choice(x).unflatten(-1, (heads, matrices)).softmax(-1)
        mixture = torch.einsum("bthm,hmij->bthij", weights, self.dictionary)
        soft = mixture.softmax(-2)
        hard = F.one_hot(mixture.argmax(-2), n).mT.to(soft.dtype)
        P: Tensor = hard + soft - soft.detach()
        D: Tensor = (self.diagonal(x).unflatten(-1, (heads, n)) + 4).tanh()
        return P * D[..., None, :]

    def read_out(self, x: Tensor, H: Tensor) -> Tensor:
        """The whole state, by a linear map."""
        y: Tensor = self.output(H.flatten(2))
        return y
