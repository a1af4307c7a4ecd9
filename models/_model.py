"""`Model`: embedding, blocks of mixer and gated MLP, read-out; the same for every family and for constructed weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..foundation._errors import InputError
from ._config import ModelConfig
from ._families import find_family
from .layers._seeded import SeededEmbedding, SeededLinear, SeededRMSNorm, State, write_out_initial_state
from .layers._table_read_out import TableReadOut

States: TypeAlias = list[State]
"""What a model carries from token to token: a `State` for each block."""


class GatedMLP(nn.Module):
    """The gated MLP x ↦ W (SiLU(U x) ⊙ V x).

    Args:
        width: number of entries of the residual stream, at least 1.
        hidden: number of rows of U and of V, at least 1.

    Source: arXiv 2002.05202, SwiGLU.
    """

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.inputs = SeededLinear(width, 2 * hidden)
        self.output = SeededLinear(hidden, width)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the map to every token.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.

        Returns:
            A tensor of the same shape.
        """
        gate, value = self.inputs(x).chunk(2, -1)
        result: Tensor = self.output(F.silu(gate) * value)
        return result


class Block(nn.Module):
    """A block: norm, mixer, norm and gated MLP, as far as the model has them, added to the residual stream.

    Args:
        config: the configuration, which says which parts there are and their sizes.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.residual = config.residual
        self.mixer_norm = SeededRMSNorm(config.width) if config.norm else None
        self.mixer = find_family(config.family).mixer(config)
        hidden = round(config.mlp * config.width)
        self.mlp_norm = SeededRMSNorm(config.width) if config.norm and hidden else None
        self.mlp = GatedMLP(config.width, hidden) if hidden else None
        self.table = TableReadOut(config.tables, config.width) if config.tables else None

    def forward(self, x: Tensor, state: State | None) -> tuple[Tensor, State]:
        """Apply the layer to tokens.

        Args:
            x: the residual stream, `[replicas, batch, tokens, width]`.
            state: the state of the mixer after the previous tokens; None at the start of a word.

        Returns:
            The residual stream after the block, of the same shape, and the state of the mixer after the tokens.
        """
        y, after = self.mixer(x if self.mixer_norm is None else self.mixer_norm(x), state)
        if self.table is not None:
            return self.table(x, y), after
        x = x + y if self.residual else y
        if self.mlp is not None:
            y = self.mlp(x if self.mlp_norm is None else self.mlp_norm(x))
            x = x + y if self.residual else y
        return x, after


class Model(nn.Module):
    """A network from letters to the classes' logits, after every token; independent replicas of one shape side by side, one for each of its `seeds`.

    The weights of each seed depend on this seed alone, so a model trains in the same way with or without others.

    Args:
        config: the configuration, which all replicas share.
        seeds: the seed of each model, at least 0; there is at least one model.

    Examples:
        >>> import torch
        >>> from mirrormata.models import ModelConfig
        >>> model = Model(ModelConfig(width=8, heads=1, head_dim=4, value_dim=4), seeds=(0, 1))
        >>> logits, states = model(torch.tensor([[[0, 1, 1]]]))
        >>> logits.shape
        torch.Size([2, 1, 3, 2])
    """

    def __init__(self, config: ModelConfig, seeds: Sequence[int] = (0,)) -> None:
        super().__init__()
        self.config, self.seeds = config, tuple(seeds)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seeds[0])
            self.embedding = SeededEmbedding(config.letters, config.width)
            self.blocks = nn.ModuleList([Block(config) for _ in range(config.layers)])
            self.norm = SeededRMSNorm(config.width) if config.norm else None
            self.head = SeededLinear(config.width, config.classes, bias=True)
        if len(self.seeds) > 1:
            _stack(self, [self, *(Model(config, [seed]) for seed in self.seeds[1:])])

    def forward(self, letters: Tensor, states: States | None = None) -> tuple[Tensor, States]:
        """Compute the logits after every letter.

        Args:
            letters: int `[replicas or 1, batch, tokens]`, from 0 to `config.letters` - 1.
            states: the states after the previous tokens; None at the start of a word.

        Returns:
            Logits `[replicas, batch, tokens, classes]` in float32, and the states after the letters.
        """
        x = self.embedding(letters)
        after: States = []
        for i, block in enumerate(self.blocks):
            x, state = block(x, None if states is None else states[i])
            after.append(state)
        if self.norm is not None:
            x = self.norm(x, cast=False)
        with torch.autocast(x.device.type, enabled=False):
            logits: Tensor = self.head(x.to(self.head.weight.dtype))
        return logits, after

    def initial_states(self, batch: int) -> States:
        """Return the states before the first token.

        Args:
            batch: the number of sequences, at least 1.

        Returns:
            A `State` for each block, whose tensors are `[replicas, batch, ...]`.

        Raises:
            InputError: the family has no state of a fixed size, as a Transformer has none.
        """
        if not find_family(self.config.family).fixed_state:
            raise InputError(
                f"{self.config.family}: it has no state of a fixed size, so it cannot go on token by token here; choose a "
                "recurrent family"
            )
        weight = self.embedding.weight
        x = weight.new_zeros(len(self.seeds), batch, 0, self.config.width)
        states: States = []
        for block in self.blocks:
            assert isinstance(block, Block)
            begin = getattr(block.mixer, "begin", None)
            states.append(write_out_initial_state(block.mixer, x) if begin is None else begin(x))
        return states

    def answers(self, logits: Tensor) -> Tensor:
        """Return the labels that the classes with the largest logits stand for.

        Args:
            logits: `[..., classes]`.

        Returns:
            Int `[...]`: the label; -1 where the class stands for none.
        """
        best = logits.argmax(-1)
        if not self.config.meaning:
            return best
        return torch.tensor(self.config.meaning, device=best.device)[best]

    def select(self, index: int) -> Model:
        """Return the model of a single seed.

        Args:
            index: the position of the seed in `seeds`, from 0.

        Returns:
            A model with copies of its weights, on the same device and with the same dtype.
        """
        single = Model(self.config, [self.seeds[index]])
        single.load_state_dict(self.state_of(index))
        first = next(self.parameters())
        return single.to(first.device, first.dtype)

    def state_of(self, index: int) -> dict[str, Tensor]:
        """Return the parameters of a single seed, with the names that they have in a model of that seed alone.

        Args:
            index: the position of the seed in `seeds`, from 0.

        Returns:
            Tensors `[1, ...]` by name, copied.
        """
        result = {}
        for name, value in self.state_dict().items():
            own = _of_seed(name)
            if own is None:
                result[name] = value[index : index + 1].clone()
            elif own[0] == index:
                result[own[1]] = value.clone()
        return result

    @property
    def parameter_count(self) -> int:
        """The number of parameters of one seed."""
        return sum(p.numel() for p in self.parameters()) // len(self.seeds)


def _stack(model: Model, singles: Sequence[Model]) -> None:
    """Make the parameters of several one-seed models those of one model."""
    for module_name, module in list(model.named_modules()):
        if isinstance(module, nn.ModuleList) and module_name.endswith("by_seed"):
            module.extend(single.get_submodule(module_name)[0] for single in singles[1:])  # type: ignore[index]
    for name, _ in list(model.named_parameters()):
        if _of_seed(name) is not None:
            continue
        path, _, leaf = name.rpartition(".")
        value = torch.cat([single.get_parameter(name).detach() for single in singles])
        setattr(model.get_submodule(path), leaf, nn.Parameter(value))


def _of_seed(name: str) -> tuple[int, str] | None:
    """Of a parameter of a module that each seed has by itself, the seed's place, and its name in a one-seed model."""
    before, mark, after = name.partition(".by_seed.")
    if not mark:
        return None
    index, _, rest = after.partition(".")
    return int(index), f"{before}.by_seed.0.{rest}"
