"""sLSTM and mLSTM mixers, baselines: those of the `xlstm` package (an extra)."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ...foundation._errors import InputError
from ...foundation._extras import needed_by
from .._config import ModelConfig
from .._families import Family
from ._seeded import State

CONTEXT = 2_048
"""Most tokens of a training sequence of the mLSTM, whose parallel form has a mask of that size."""


def _package() -> Any:
    with needed_by("a layer of the family slstm or mlstm"):
        return import_module("xlstm")


class SLSTM(nn.Module):
    """`xlstm.sLSTMLayer`: its parameters and projections; its recurrence here, all replicas at once.

    The package's plain torch reads from the device at every token and takes the replicas one by one; its CUDA kernels would be
    compiled on the spot.

    Args:
        config: a configuration of the family `slstm`.

    Raises:
        MissingExtraError: the package xlstm, an extra, is not installed.

    Source: arXiv 2405.04517, section 2.2.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        xlstm = _package()
        self.taps = config.conv
        layer = xlstm.sLSTMLayer(
            xlstm.sLSTMLayerConfig(
                embedding_dim=config.width, num_heads=config.heads, conv1d_kernel_size=config.conv,
                backend="vanilla", dtype="float32",
            )
        )  # fmt: skip
        layer.reset_parameters()
        self.by_seed = nn.ModuleList([layer])

    def begin(self, x: Tensor) -> State:
        """The state before the first token, which is zero.

        Args:
            x: the inputs that follow, `[replicas, batch, tokens, width]`.

        Returns:
            `slstm` `[replicas, batch, 4, width]`, and `conv` where there is a convolution.
        """
        replicas, batch, _, width = x.shape
        wide = torch.promote_types(x.dtype, torch.float32)
        state = State(slstm=x.new_zeros(replicas, batch, 4, width, dtype=wide))
        if self.taps:
            state["conv"] = x.new_zeros(replicas, batch, self.taps - 1, width)
        return state

    def forward(self, x: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """Apply the layer to tokens.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.
            state: the state after the previous tokens; None at the start of a word.

        Returns:
            Outputs of the shape of x, and the state after the tokens: `state["slstm"]` y, c, n, m, `[replicas, batch, 4, width]`.
        """
        state = state or self.begin(x)
        replicas, batch, tokens, width = x.shape
        layers: list[Any] = list(self.by_seed)
        heads = layers[0].config.num_heads
        inputs, convs = [], []
        for s, layer in enumerate(layers):
            near = x[s]
            if self.taps:
                near, conv = layer.conv1d(x[s], state["conv"][s].contiguous(), return_last_state=True)
                near = layer.conv_act_fn(near)
                convs.append(conv)
            # the package's names of the first two are exchanged
            gates = layer.fgate(near), layer.igate(near), layer.zgate(x[s]), layer.ogate(x[s])
            inputs.append(torch.stack(gates, 2) + layer.slstm_cell._bias_.view(4, width))
        before = state["slstm"]
        by_head = before.view(replicas, batch, 4, heads, -1).permute(2, 0, 3, 1, 4).flatten(1, 2)
        driven = torch.stack(inputs).to(before.dtype).view(replicas, batch, tokens, 4, heads, -1)
        recurrent = torch.cat([layer.slstm_cell._recurrent_kernel_ for layer in layers]).transpose(1, 2)
        with torch.autocast(x.device.type, enabled=False):
            y, last = run_slstm(
                driven.permute(2, 0, 4, 1, 3, 5).flatten(1, 2).flatten(3), recurrent.to(before.dtype), by_head
            )
        y = y.view(tokens, replicas, heads, batch, -1).permute(1, 3, 2, 0, 4)
        outputs = [layer.group_norm(y[s]).transpose(1, 2).flatten(2) for s, layer in enumerate(layers)]
        after = State(slstm=last.view(4, replicas, heads, batch, -1).permute(1, 3, 0, 2, 4).flatten(3))
        if self.taps:
            after["conv"] = torch.stack(convs)
        return torch.stack(outputs), after


def run_slstm(driven: Tensor, recurrent: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    """The recurrence of an sLSTM, heads side by side (arXiv 2405.04517, section 2.2, with its stabiliser m).

    driven: what inputs and biases add to the gates i, f, z, o before their functions, `[tokens, heads, batch, 4·D]`;
    recurrent: `[heads, D, 4·D]`; state: y, c, n, m, `[4, heads, batch, D]`, n zero before a first token. Outputs
    `[tokens, heads, batch, D]` and the last state. Nothing is read from the device.
    """
    y, c, n, m = state.unbind(0)
    outputs = []
    for t, at_t in enumerate(driven):
        i, f, z, o = torch.baddbmm(at_t, y, recurrent).chunk(4, -1)
        kept = m + F.logsigmoid(f)
        m = torch.maximum(i, kept)
        if t == 0:
            m = torch.where(n == 0, i, m)  # nothing is kept of no state
        write, keep = (i - m).exp(), (kept - m).exp().clamp(max=1)
        c = keep * c + write * z.tanh()
        n = keep * n + write
        y = o.sigmoid() * c / n
        outputs.append(y)
    return torch.stack(outputs), torch.stack([y, c, n, m])


class MLSTM(nn.Module):
    """`xlstm.mLSTMLayer`: its parallel form in training, its steps, which carry a state, otherwise.

    Args:
        config: a configuration of the family `mlstm`.

    Raises:
        MissingExtraError: the package xlstm, an extra, is not installed.

    Source: arXiv 2405.04517, section 2.3.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        xlstm = _package()
        layer = xlstm.mLSTMLayer(
            xlstm.mLSTMLayerConfig(
                embedding_dim=config.width, num_heads=config.heads, conv1d_kernel_size=max(config.conv, 2),
                context_length=CONTEXT,
            )
        )  # fmt: skip
        self.by_seed = nn.ModuleList([layer])

    def begin(self, x: Tensor) -> State:
        """The state before the first token, which is zero.

        Args:
            x: the inputs that follow, `[replicas, batch, tokens, width]`.

        Returns:
            `c`, `n`, `m` and `conv`, each `[replicas, batch, ...]`.
        """
        layer: Any = self.by_seed[0]
        width, heads = layer.config._inner_embedding_dim, layer.config.num_heads
        head, taps = width // heads, layer.config.conv1d_kernel_size
        before = x.shape[:2]
        return State(
            c=x.new_zeros(*before, heads, head, head), n=x.new_zeros(*before, heads, head, 1),
            m=x.new_zeros(*before, heads, 1, 1), conv=x.new_zeros(*before, taps, width),
        )  # fmt: skip

    def forward(self, x: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """Apply the layer to tokens.

        Args:
            x: the inputs, `[replicas, batch, tokens, width]`.
            state: the state after the previous tokens; None at the start of a word.

        Returns:
            Outputs of the shape of x, and the state after the tokens; no state comes out of training.

        Raises:
            InputError: in training there are more tokens than `CONTEXT`.
        """
        if self.training and state is None:
            if x.shape[2] > CONTEXT:
                raise InputError(
                    f"mlstm: {x.shape[2]:,} tokens are more than the {CONTEXT:,} of its parallel form"
                )
            return torch.stack([layer(x[s]) for s, layer in enumerate(self.by_seed)]), State()
        state = state or self.begin(x)
        outputs = []
        afters: dict[str, list[Tensor]] = {name: [] for name in state}
        for s, module in enumerate(self.by_seed):
            layer: Any = module
            conv: tuple[Tensor, ...] = (state["conv"][s].clone(),)  # its step writes in place
            cell: tuple[Tensor, ...] = (state["c"][s], state["n"][s], state["m"][s])
            ys = []
            for t in range(x.shape[2]):
                y, after = layer.step(x[s, :, t : t + 1], mlstm_state=cell, conv_state=conv)
                cell, conv = after["mlstm_state"], after["conv_state"]
                ys.append(y)
            outputs.append(torch.cat(ys, 1))
            for name, value in zip(("c", "n", "m", "conv"), (*cell, *conv), strict=True):
                afters[name].append(value)
        return torch.stack(outputs), {name: torch.stack(values) for name, values in afters.items()}


FAMILIES = (
    Family(
        "slstm",
        SLSTM,
        "an LSTM with exponential gates and heads that mix by themselves (arXiv 2405.04517)",
        "none: it is not linear in its state",
        ("heads", "conv"),
        baseline=True,
    ),
    Family(
        "mlstm",
        MLSTM,
        "C ← f C + i v kᵀ with exponential gates and a normaliser (arXiv 2405.04517)",
        "none: it is divided by its normaliser",
        ("heads", "conv"),
        baseline=True,
    ),
)
