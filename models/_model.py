"""`Model`: embedding, blocks of mixer and gated MLP, read-out; the same for every family and for constructed weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from ..foundation._errors import InputError
from ._config import ModelConfig
from ._families import find_family, load_families
from .layers._seeded import (
    ReadsBefore,
    ReadsFirst,
    SeededEmbedding,
    SeededLinear,
    SeededRMSNorm,
    State,
    write_out_initial_state,
)
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


def make_norm(config: ModelConfig) -> nn.Module:
    """A norm of the residual stream, as the family has it."""
    make = find_family(config.family).norm
    if make is None:
        return SeededRMSNorm(config.width, eps=config.norm_eps)
    return make(config.width, config.norm_eps)


class Block(nn.Module):
    """A block: norm, mixer, norm and gated MLP, as far as the model has them, added to the residual stream.

    Args:
        config: the configuration, which says which parts there are and their sizes.
        index: the number of the block, from 0.
    """

    def __init__(self, config: ModelConfig, index: int = 0) -> None:
        super().__init__()
        self.checkpointing = (
            False  # whether only the inputs are kept for the gradients, and the rest is computed again
        )
        self._own_layer = (
            config.family not in load_families()
        )  # a user's own may draw random numbers, ours do not
        self.residual = config.residual
        family = find_family(config.family)
        self.mixer_norm = make_norm(config) if config.norm else None
        self.mixer = family.mixer(config)
        if index and isinstance(self.mixer, ReadsFirst):
            self.mixer.read_first()
        hidden = round(config.mlp * config.width)
        self.mlp_norm = make_norm(config) if config.norm and hidden else None
        self.mlp = (family.mlp or GatedMLP)(config.width, hidden) if hidden else None
        self.table = TableReadOut(config.tables, config.width) if config.tables else None

    def forward(self, x: Tensor, state: State | None, first: State | None = None) -> tuple[Tensor, State]:
        """Apply the layer to tokens.

        Args:
            x: the residual stream, `[replicas, batch, tokens, width]`.
            state: the state of the mixer after the previous tokens; None at the start of a word.
            first: what the first layer leaves of these tokens for later ones, where the family has that.

        Returns:
            The residual stream after the block, of the same shape, and the state of the mixer after the tokens.
        """
        if self.checkpointing and torch.is_grad_enabled():
            result: tuple[Tensor, State] = checkpoint(
                self._apply_parts, x, state, first, use_reentrant=False, preserve_rng_state=self._own_layer
            )
            return result
        return self._apply_parts(x, state, first)

    def _apply_parts(self, x: Tensor, state: State | None, first: State | None) -> tuple[Tensor, State]:
        z = x if self.mixer_norm is None else self.mixer_norm(x)
        given = (z, state, first) if isinstance(self.mixer, ReadsFirst) else (z, state)
        y, after = self.mixer(*given)
        if self.table is not None:
            return self.table(x, y), after
        x = x + y if self.residual else y
        if self.mlp is not None:
            z = x if self.mlp_norm is None else self.mlp_norm(x)
            y = self.mlp(z, state or {}, after) if isinstance(self.mlp, ReadsBefore) else self.mlp(z)
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

    tokens: Tensor | None
    embedding: SeededEmbedding
    embedding_norm: nn.Module | None
    norm: nn.Module | None
    head: SeededLinear | None

    def __init__(self, config: ModelConfig, seeds: Sequence[int] = (0,)) -> None:
        super().__init__()
        self.config, self.seeds = config, tuple(seeds)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seeds[0])
            parts: dict[str, Any] = dict(draw_parts(config))
        self.embedding = parts["embedding"]
        self.blocks = nn.ModuleList([parts[f"blocks.{i}"] for i in range(config.layers)])
        self.embedding_norm = parts.get("embedding_norm")
        self.norm, self.head = parts.get("norm"), parts.get("head")
        self.register_buffer("tokens", _token_rows(config), persistent=False)
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
        x = self.embedding(letters if self.tokens is None else self.tokens[letters.long()])
        if self.embedding_norm is not None:
            x = self.embedding_norm(x, cast=False)
        after: States = []
        first = State()
        for i, block in enumerate(self.blocks):
            x, state = block(x, None if states is None else states[i], first)
            after.append(state)
        if self.norm is not None:
            x = self.norm(x, cast=False)
        with torch.autocast(x.device.type, enabled=False):
            head = self.embedding if self.head is None else self.head
            x = x.to(head.weight.dtype)
            logits: Tensor = x @ head.weight[:, None].mT if self.head is None else self.head(x)
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
            state = write_out_initial_state(block.mixer, x) if begin is None else begin(x)
            if isinstance(block.mlp, ReadsBefore):
                state.update(block.mlp.begin(x))
            states.append(state)
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


def model_on_meta(config: ModelConfig, seeds: Sequence[int] = (0,)) -> Model:
    """A model that has shapes and no data, and takes no memory."""
    with torch.device("meta"):
        return Model(config, seeds)


def draw_parts(config: ModelConfig) -> Iterator[tuple[str, nn.Module]]:
    """The parts of a model of one seed by name, in the order in which torch's generator draws their weights; each is made when it is asked for."""
    yield "embedding", SeededEmbedding(config.rows, config.width)
    if config.norm and find_family(config.family).embedding_norm:
        yield "embedding_norm", make_norm(config)
    for i in range(config.layers):
        yield f"blocks.{i}", Block(config, i)
    if config.norm:
        yield "norm", make_norm(config)
    if not config.tied:
        yield "head", SeededLinear(config.width, config.classes, bias=config.head_bias)


def _token_rows(config: ModelConfig) -> Tensor | None:
    return torch.tensor(config.tokens) if config.tokens else None


def draw_model(config: ModelConfig, seeds: Sequence[int], place: Callable[[str, Tensor], Tensor]) -> Model:
    """`Model(config, seeds)` part by part: its shapes are there first, on the meta device, and one part at a time has weights beside those that are placed.

    Args:
        config: the configuration, which all replicas share.
        seeds: the seed of each model, at least 0; there is at least one.
        place: takes the name and the value of a parameter, on the CPU, and returns what stands in the model for it, on whatever device.

    Returns:
        The model. Bit for bit its values are those of `Model(config, seeds)` where `place` changes none.
    """
    model = model_on_meta(config, seeds[:1])
    model.seeds, model.tokens = tuple(seeds), _token_rows(config)
    streams = [draw_parts(config) for _ in model.seeds]
    with torch.random.fork_rng(devices=[]):
        states = []
        for seed in model.seeds:
            torch.manual_seed(seed)
            states.append(torch.get_rng_state())
        for name in [name for name, _ in _parts_of(model)]:
            drawn: list[nn.Module] = []
            for i, stream in enumerate(streams):  # each seed goes on from where its last part ended
                torch.set_rng_state(states[i])
                drawn.append(next(stream)[1])
                states[i] = torch.get_rng_state()
            part, *others = drawn
            if others:
                _stack(part, drawn)
            placed: dict[int, nn.Parameter] = {}  # a layer may have a parameter in two places
            for own, parameter in list(part.named_parameters(remove_duplicate=False)):
                if id(parameter) not in placed:
                    value = place(f"{name}.{own}", parameter.detach())
                    placed[id(parameter)] = nn.Parameter(value, parameter.requires_grad)
                path, _, leaf = own.rpartition(".")
                setattr(part.get_submodule(path), leaf, placed[id(parameter)])
            model.set_submodule(name, part)
    return model


def _parts_of(model: Model) -> Iterator[tuple[str, nn.Module]]:
    """The parts of `draw_parts` in a model."""
    yield "embedding", model.embedding
    if model.embedding_norm is not None:
        yield "embedding_norm", model.embedding_norm
    yield from ((f"blocks.{i}", block) for i, block in enumerate(model.blocks))
    if model.norm is not None:
        yield "norm", model.norm
    if model.head is not None:
        yield "head", model.head


def state_count(config: ModelConfig) -> int | None:
    """Count the numbers that a model keeps from one token to the next, with no memory taken for them.

    Args:
        config: the configuration of the model.

    Returns:
        The number for one seed and one word; None where the state grows with the word, as that of attention.
    """
    if not find_family(config.family).fixed_state:
        return None
    states = model_on_meta(config).initial_states(1)
    return sum(x.numel() for state in states for x in state.values())


def _stack(model: nn.Module, singles: Sequence[nn.Module]) -> None:
    """Make the parameters of several one-seed models, or of one of their parts, those of the first."""
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
