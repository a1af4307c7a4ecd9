"""`RecurrentLayer`: the base class of a layer of your own, and the mixer that makes models of it.

The class describes one model, without a dimension for seeds: `x` is `[batch, tokens, width]`. `OwnMixer` holds one such layer for each seed and
runs them one after another. torch's `vmap` would run them together, but it refuses the operators of this package's kernels and LSTMs, and its
outputs need not equal those of one seed alone bit for bit, so that a training could not be repeated without the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor, nn

from ...foundation._arguments import show_error
from ...foundation._errors import InputError, MirrormataError
from .._config import ModelConfig
from .._families import Family
from .._layer_names import place_of
from ._seeded import LINEAR_OPTIONS, State

T = TypeVar("T")
STRENGTHS = ("sigmoid", "hard_sigmoid", "direct")


def run_recurrence(A: Tensor, B: Tensor | None, H: Tensor) -> Tensor:
    """All states of H ← A H + B, in a number of steps that grows with the logarithm of the number of tokens.

    Neighbours are joined, (A₂, B₂) after (A₁, B₁) being (A₂ A₁, A₂ B₁ + B₂), until one is left; then the states between are filled in.

    Args:
        A: the transitions, `[batch, tokens, heads, n, n]`.
        B: what the tokens add, `[batch, tokens, heads, n, d]`; None for nothing.
        H: the state before the first token, `[batch, heads, n, d]`.

    Returns:
        The states after each token, `[batch, tokens, heads, n, d]`.

    Source: arXiv 1709.04057 for linear recurrences of neural networks by a scan.
    """
    tokens = A.shape[1]
    if tokens == 0:
        return H[:, None].expand(-1, 0, -1, -1, -1)
    if tokens == 1:
        after = A @ H[:, None]
        return after if B is None else after + B
    pairs = tokens // 2
    first, second = A[:, 0 : 2 * pairs : 2], A[:, 1 : 2 * pairs : 2]
    joined = None if B is None else second @ B[:, 0 : 2 * pairs : 2] + B[:, 1 : 2 * pairs : 2]
    # after every second token
    even = run_recurrence(second @ first, joined, H)
    before = torch.cat([H[:, None], even], 1)[:, : tokens - pairs]
    odd = A[:, 0::2] @ before
    if B is not None:
        odd = odd + B[:, 0::2]
    both = torch.stack([odd[:, :pairs], even], 2).flatten(1, 2)
    return both if tokens % 2 == 0 else torch.cat([both, odd[:, pairs:]], 1)


class RecurrentLayer(nn.Module):
    """A linear recurrence of your own, H ← A(x) H + B(x), from which every token reads: subclass it and define `transitions` and `read_out`.

    The subclass is one model's layer in plain torch; seeds, training, tests, comparison, proofs and reports come with it. A model of it has
    `family = "package.module:Class"`. On the command line the option `layer` allows this class to be loaded.

    Args:
        config: the configuration: `width` is the size of x; `heads`, `head_dim`, `value_dim`, `range` and the other entries mean what you make
            of them. `self.options` has your own entries (`settings`, with the values of `config.options`).

    Attributes:
        summary: the recurrence in a line, for tables.
        eigenvalues: the eigenvalues that a transition can have, in words.
        settings: further entries of the configuration, by name with their defaults: numbers, texts, true or false.

    Examples:
        >>> import torch
        >>> from mirrormata.models import RecurrentLayer, ModelConfig
        >>> class Decay(RecurrentLayer):
        ...     def __init__(self, config):
        ...         super().__init__(config)
        ...         self.rate = torch.nn.Linear(config.width, config.heads)
        ...         self.value = torch.nn.Linear(config.width, config.heads)
        ...         self.output = torch.nn.Linear(config.heads, config.width)
        ...     def state_shape(self):
        ...         return self.config.heads, 1, 1
        ...     def transitions(self, x):
        ...         return self.rate(x).sigmoid()[..., None, None]
        ...     def additions(self, x):
        ...         return self.value(x)[..., None, None]
        ...     def read_out(self, x, H):
        ...         return self.output(H.flatten(2))
        >>> y, state = Decay(ModelConfig(width=8, heads=3))(torch.zeros(2, 5, 8))
        >>> y.shape, state["H"].shape
        (torch.Size([2, 5, 8]), torch.Size([2, 3, 1, 1]))
    """

    summary: ClassVar[str] = "H ← A(x) H + B(x)"
    eigenvalues: ClassVar[str] = "not stated"
    settings: ClassVar[Mapping[str, bool | int | float | str]] = {}

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.options = {**type(self).settings, **config.options}

    def state_shape(self) -> tuple[int, int, int]:
        """The sizes of the state: heads, rows n and columns d; by default `heads`, `head_dim` and `value_dim` of the configuration."""
        return self.config.heads, self.config.head_dim, self.config.value_dim

    def transitions(self, x: Tensor) -> Tensor:
        """A(x) of each token.

        Args:
            x: the inputs, `[batch, tokens, width]`.

        Returns:
            `[batch, tokens, heads, n, n]`.
        """
        raise NotImplementedError(f"{type(self).__name__} has to define `transitions`")

    def additions(self, x: Tensor) -> Tensor | None:
        """B(x) of each token; by default nothing is added, which needs an `initial` state other than zero.

        Args:
            x: the inputs, `[batch, tokens, width]`.

        Returns:
            `[batch, tokens, heads, n, d]`, or None.
        """
        return None

    def initial(self) -> Tensor:
        """The state before the first token, by default zero; a parameter makes it learned.

        Returns:
            `[heads, n, d]`.
        """
        return next(self.parameters()).new_zeros(*self.state_shape())

    def begin(self, batch: int) -> State:
        """All that is carried from token to token, before the first one; override it where that is more than H, such as the last inputs.

        Args:
            batch: the number of sequences.

        Returns:
            Tensors `[batch, ...]` by name; `H` is the state, float32 at least.
        """
        H = self.initial()
        return {"H": H.to(torch.promote_types(H.dtype, torch.float32)).expand(batch, -1, -1, -1)}

    def read_out(self, x: Tensor, H: Tensor) -> Tensor:
        """What each token reads from the state after it.

        Args:
            x: the inputs, `[batch, tokens, width]`.
            H: the states after each token, `[batch, tokens, heads, n, d]`.

        Returns:
            `[batch, tokens, width]`.
        """
        raise NotImplementedError(f"{type(self).__name__} has to define `read_out`")

    def run(self, x: Tensor, H: Tensor) -> Tensor:
        """The states after each token; override it where there is a faster way than matrices, such as a kernel.

        Args:
            x: the inputs, `[batch, tokens, width]`.
            H: the state before the first token, `[batch, heads, n, d]`.

        Returns:
            `[batch, tokens, heads, n, d]`.
        """
        A, B = self.transitions(x), self.additions(x)
        dtype = torch.promote_types(A.dtype, H.dtype)
        return run_recurrence(A.to(dtype), None if B is None else B.to(dtype), H.to(dtype))

    def forward(self, x: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """Apply the layer to tokens.

        Args:
            x: the inputs, `[batch, tokens, width]`.
            state: the state after the previous tokens; None at the start of a word.

        Returns:
            Outputs of the shape of x, and the state after the tokens: of each entry of `begin` the new value.
        """
        H = (state or self.begin(len(x)))["H"]
        states = self.run(x, H)
        return self.read_out(x, states), {"H": states[:, -1] if x.shape[1] else H}

    @classmethod
    def as_family(cls, name: str) -> Family:
        """The record of the family of this class.

        Args:
            name: `package.module:Class`.
        """
        return Family(
            name,
            lambda config: OwnMixer(cls, config),
            cls.summary,
            cls.eigenvalues,
            ("householders", "gated", *LINEAR_OPTIONS),
            STRENGTHS,
            settings=cls.settings,
            written_out=_count_matrices,
            kept=lambda config, kernels: _count_matrices(config),
        )


def _count_matrices(config: ModelConfig) -> int:
    """The numbers of a token's transitions, where the state has the usual sizes."""
    return config.heads * config.head_dim**2


class OwnMixer(nn.Module):
    """The layers of one class for several seeds, as a mixer of `Block`.

    Args:
        layer: the class.
        config: the configuration.

    Raises:
        InputError: the class cannot be built, or its outputs have wrong shapes; the line names the method.
    """

    def __init__(self, layer: type[RecurrentLayer], config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.by_seed = nn.ModuleList([_call(layer, "__init__", layer, config)])
        self._check()

    def forward(self, x: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """Apply the layer to tokens.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.
            state: the state after the previous tokens; None at the start of a word.

        Returns:
            Outputs of the shape of x, and the state after the tokens, each tensor `[replicas, batch, ...]`.
        """
        outputs, after = [], []
        for s, layer in enumerate(self._layers()):
            own = None if not state else {name: value[s] for name, value in state.items()}
            y, states = _call(type(layer), "forward", layer, x[s], own)
            outputs.append(y.to(x.dtype))
            after.append(states)
        return torch.stack(outputs), {name: torch.stack([own[name] for own in after]) for name in after[0]}

    def initial(self, x: Tensor, state: State) -> Tensor:
        """The state before the first token.

        Args:
            x: the inputs that follow, `[replicas, batch, tokens, width]`.
            state: not used: a state that was carried on is not asked for here.

        Returns:
            `[replicas, batch, heads, n, d]`, float32 at least.
        """
        return self.begin(x)["H"]

    def begin(self, x: Tensor) -> State:
        """The whole state before the first token, written out.

        Args:
            x: the inputs that follow, `[replicas, batch, tokens, width]`.
        """
        states = [_call(type(one), "begin", one.begin, x.shape[1]) for one in self._layers()]
        return {name: torch.stack([own[name] for own in states]) for name in states[0]}

    def transitions(self, x: Tensor, state: State | None = None) -> Tensor:
        """A(x) of each token.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.
            state: not used, since a transition depends on its token alone.

        Returns:
            `[replicas, batch, tokens, heads, n, n]`, in float64.
        """
        layers = self._layers()
        found = [_call(type(one), "transitions", one.transitions, x[s]) for s, one in enumerate(layers)]
        return torch.stack(found).double()

    def read_states(self, x: Tensor, H: Tensor) -> Tensor:
        """What tokens read from given states.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.
            H: the states, `[replicas, batch, tokens, heads, n, d]`.

        Returns:
            `[replicas, batch, tokens, width]`.
        """
        layers = self._layers()
        return torch.stack(
            [_call(type(one), "read_out", one.read_out, x[s], H[s]) for s, one in enumerate(layers)]
        )

    def _layers(self) -> list[RecurrentLayer]:
        return [layer for layer in self.by_seed if isinstance(layer, RecurrentLayer)]

    def _check(self) -> None:
        """Hold the shapes of a new layer to what `RecurrentLayer` says, on two words of three tokens; nothing is drawn meanwhile."""
        layer = self._layers()[0]
        name = type(layer).__name__
        parameter = next(layer.parameters(), None)
        if parameter is None:
            raise InputError(
                f"{name}: it has no parameters, so there is nothing to train; assign modules in __init__"
            )
        x = torch.zeros(2, 3, self.config.width, device=parameter.device)
        shape = tuple(_call(type(layer), "state_shape", layer.state_shape))
        if len(shape) != 3:
            raise InputError(f"{name}: `state_shape` gave {shape}: heads, rows and columns are needed")
        heads, n, d = shape
        whole = (2, 3)

        def require(method: str, given: Any, wanted: tuple[int, ...], words: str) -> None:
            if not isinstance(given, Tensor) or tuple(given.shape) != wanted:
                shown = list(given.shape) if isinstance(given, Tensor) else type(given).__name__
                raise InputError(f"{name}: {method} gave {shown}, needed is {words}, here {list(wanted)}")

        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            A = _call(type(layer), "transitions", layer.transitions, x)
            require("transitions", A, (*whole, heads, n, n), "[batch, tokens, heads, n, n]")
            B = _call(type(layer), "additions", layer.additions, x)
            if B is not None:
                require("additions", B, (*whole, heads, n, d), "[batch, tokens, heads, n, d]")
            require("initial", _call(type(layer), "initial", layer.initial), (heads, n, d), "[heads, n, d]")
            begun = _call(type(layer), "begin", layer.begin, 2)
            y, state = _call(type(layer), "forward", layer, x, None)
            require("forward", y, (*whole, self.config.width), "[batch, tokens, width]")
            require('forward: state["H"]', state.get("H"), (2, heads, n, d), "[batch, heads, n, d]")
        if set(begun) != set(state):
            raise InputError(
                f"{name}: forward gave a state with {', '.join(state)}; `begin` gives {', '.join(begun)}: both need the same entries"
            )


def _call(layer: type[RecurrentLayer], method: str, function: Callable[..., T], *arguments: Any) -> T:
    """What a user's code returns; its exception in one line with the method and the place."""
    try:
        return function(*arguments)
    except (MirrormataError, torch.OutOfMemoryError):
        raise
    except Exception as error:
        raise InputError(f"{layer.__name__}.{method}: {show_error(error)}{place_of(error)}") from error
