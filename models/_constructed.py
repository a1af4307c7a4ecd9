"""An exact LRNN as weights of the very modules that are trained, and as a model folder.

Such a model is tested and compared like a trained one.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..constructions._head import Head
from ..constructions._lrnn import LRNN, Layer
from ..constructions._written_values import find_written_values
from ..constructions.automata._labels import label_text
from ..foundation._errors import InputError, LimitError, NotRealisableError
from ..theory._realisations import RealisationLike, table_from
from ..theory.arithmetic._rounding import float_format
from ..theory.running._weights import Rounding, dense_codes
from ._config import ModelConfig
from ._kinds import MAX_ENTRIES
from ._model import Block, Model
from ._model_file import save_model
from .layers._table_read_out import TableReadOut
from .layers.delta_product import DeltaProduct
from .tasks._automaton import AutomatonTask
from .tasks._task import TaskSettings


def model_of_table(lrnn: LRNN, *, max_entries: int = MAX_ENTRIES) -> Model:
    """The model that computes an LRNN, see `from_construction`.

    Args:
        lrnn: a construction by GH factors, of any number of layers.
        max_entries: largest number of weights in one array.
    """
    shapes = [_Shape(layer, lrnn) for layer in lrnn.layers]
    layered = len(shapes) > 1
    states = len(lrnn.automaton.states)
    outputs = max(s.heads * s.values for s in shapes)
    letters = [layer.heads[0].letters for layer in lrnn.layers]
    width = max(outputs, *letters, *([states] if layered else []))
    classes = states + 1 if layered else len(lrnn.decode)
    factors, K = max(s.factors for s in shapes), max(s.keys for s in shapes)
    heads, V = max(s.heads for s in shapes), max(s.values for s in shapes)
    _check_sizes(lrnn.automaton.name, max_entries, {
        "key projection": factors * heads * K * width,
        "output projection": heads * V * width,
        "read-out": classes * width,
    })  # fmt: skip
    config = ModelConfig(
        family="deltaproduct", letters=letters[0], classes=classes, width=width, layers=len(shapes),
        heads=heads, head_dim=K, value_dim=V, householders=factors, gated=any(s.gated for s in shapes),
        key_activation="none", key_norm=False, strength="direct", output_norm=False, initial="learned",
        norm=False, residual=False, mlp=0.0, tables=_table_sizes(lrnn.layers) if layered else (),
        meaning=(*range(states), -1) if layered else tuple(lrnn.decode[:, 0].tolist()),
    )  # fmt: skip
    model = Model(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        model.embedding.weight[0, range(letters[0]), range(letters[0])] = 1
        starts = iter(lrnn.decode[0, 1:].tolist())
        for i, (block, layer) in enumerate(zip(model.blocks, lrnn.layers, strict=True)):
            assert isinstance(block, Block)
            try:
                _fill(block, layer, config, [next(starts) for _ in layer.heads])
            except NotRealisableError as error:
                raise NotRealisableError(
                    f"{lrnn.automaton.name}: layer {i + 1} of {lrnn.depth}, {error}; construct it with `theorem` {lrnn.table_theorem}"
                ) from None
        _fill_head(model, lrnn)
    return model


class _Shape:
    """What a layer needs of the model: heads, keys, values, factors, gate."""

    def __init__(self, layer: Layer, lrnn: LRNN) -> None:
        name, instead = lrnn.automaton.name, f"construct it with `theorem` {lrnn.table_theorem}"
        if any(h.householders is None for h in layer.heads):
            raise InputError(
                f"{name}: a letter is given as a matrix ({lrnn.theorem}), not as GH factors, so no layer here computes it; {instead}"
            )
        if any(f.mask is not None for h in layer.heads for t in h.transitions for f in t.factors):
            raise InputError(
                f"{name}: factors of RWKV-7's kind (DP.T6) are not those of DeltaProduct; {instead}"
            )
        self.heads = sum(head.dim for head in layer.heads)
        self.keys = max(head.dim for head in layer.heads)
        self.values = max(head.value_dim for head in layer.heads)
        self.factors = max(1, *(head.householders or 0 for head in layer.heads))
        self.gated = any(t.gate != 1 for head in layer.heads for t in head.transitions)


def _fill(block: Block, layer: Layer, config: ModelConfig, starts: list[int]) -> None:
    """One layer's heads, each as many heads of the mixer as it has rows."""
    mixer = block.mixer
    assert isinstance(mixer, DeltaProduct)
    assert mixer.value is not None
    assert mixer.initial.value is not None
    heads, K, V, factors = config.heads, config.head_dim, config.value_dim, config.householders
    key = mixer.key.linear.weight[0].view(factors, heads, K, -1)
    value = mixer.value.linear.weight[0].view(factors, heads, V, -1)
    beta = mixer.beta.weight[0].view(factors, heads, -1)
    query = mixer.query.linear.weight[0].view(heads, K, -1)
    if mixer.decay is not None:
        assert mixer.decay.bias is not None
        mixer.decay.bias[:] = 1
    first = 0
    places = []
    for h, (head, start) in enumerate(zip(layer.heads, starts, strict=True)):
        rows = slice(first, first + head.dim)
        for i in range(head.dim):
            query[first + i, i] = 1
        k, v, b, gate = _letters(head, factors, h)
        letters = k.shape[0]
        key[:, rows, : head.dim, :letters] = torch.from_numpy(k).permute(1, 2, 0)[:, None].float()
        value[:, rows, : head.value_dim, :letters] = torch.from_numpy(v).permute(1, 2, 0)[:, None].float()
        beta[:, rows, :letters] = torch.from_numpy(b).permute(1, 0)[:, None].float()
        if mixer.decay is not None:
            mixer.decay.weight[0, rows, :letters] = torch.from_numpy(gate - 1).float()
        codes = dense_codes(head, "fp32")
        mixer.initial.value[0, rows, : head.dim, : head.value_dim] = torch.from_numpy(codes[start]).float()
        places.append(_places(rows, V, head))
        first = rows.stop
    mixer.read_out.linear.weight[0, range(heads * V), range(heads * V)] = 1
    if isinstance(block.table, TableReadOut):
        block.table.fill(
            layer, places, [dense_codes(h, "fp32").reshape(len(h.codes), -1) for h in layer.heads]
        )


def _letters(head: Head, factors: int, number: int) -> tuple[NDArray[np.float64], ...]:
    """Keys `[letters, n_h, dim]`, written values `[letters, n_h, value_dim]`, β `[letters, n_h]`, gates `[letters]`."""
    rounding = Rounding(float_format("fp32"))
    k = np.zeros((head.letters, factors, head.dim))
    v = np.zeros((head.letters, factors, head.value_dim))
    beta = np.zeros((head.letters, factors))
    gate = np.ones(head.letters)
    of_letter = head.action_of(np.arange(head.letters)).tolist()
    for t, transition in enumerate(head.transitions):
        letters = [x for x, action in enumerate(of_letter) if action == t]
        if not letters:
            continue
        written = find_written_values(
            transition, head.dim, head.value_dim, f"head {number + 1}, transition {t + 1}"
        )
        for j, (factor, value) in enumerate(zip(transition.factors, written, strict=True)):
            for i, x in factor.vector:
                k[letters, j, i] = rounding(x)
            for _, i, x in value:
                v[letters, j, i] = rounding(x)
            beta[letters, j] = rounding(factor.beta)
        gate[letters] = rounding(transition.gate)
    return k, v, beta, gate


def _places(rows: slice, V: int, head: Head) -> Tensor:
    """Where a head's entries, row by row, are among the mixer's outputs."""
    return (torch.arange(rows.start, rows.stop)[:, None] * V + torch.arange(head.value_dim)).flatten()


def _fill_head(model: Model, lrnn: LRNN) -> None:
    """The read-out: of one layer the nearest joint code, else the state that the last table names, or none."""
    assert model.head is not None
    weight, bias = model.head.weight[0], model.head.bias
    assert bias is not None
    if lrnn.is_layered:
        states = len(lrnn.automaton.states)
        weight[range(states), range(states)] = 1
        bias[0, states] = 0.5  # wins where no state is told
        return
    first = 0
    for h, head in enumerate(lrnn.layers[0].heads):
        codes = torch.from_numpy(dense_codes(head, "fp32")).float()[lrnn.decode[:, 1 + h]]
        places = _places(slice(first, first + head.dim), model.config.value_dim, head)
        weight[:, places] = codes.flatten(1)
        bias[0] -= codes.square().sum((1, 2)) / 2
        first += head.dim


def _table_sizes(layers: tuple[Layer, ...]) -> tuple[int, ...]:
    heads = [head for layer in layers for head in layer.heads]
    assert all(layer.reads is not None and layer.next_letter is not None for layer in layers)
    return (
        max(len(layer.heads) for layer in layers),
        max(len(head.codes) for head in heads),
        max(len(head.transitions) for head in heads),
        max(head.letters for head in heads),
        max(layer.reads.shape[1] for layer in layers if layer.reads is not None),
        max(layer.next_letter.shape[1] for layer in layers if layer.next_letter is not None),
    )


def _check_sizes(name: str, limit: int, sizes: dict[str, int]) -> None:
    what, most = max(sizes.items(), key=lambda item: item[1])
    if most > limit:
        raise LimitError(
            f"{name}: the model's {what} has {most:,} weights, more than {limit:,}: raise `max_entries`"
        )


def write_constructed(
    lrnn: RealisationLike, settings: TaskSettings, folder: str | Path, *, max_entries: int = MAX_ENTRIES
) -> None:
    """Write `from_construction(lrnn)` as a model folder, with the contract of a task.

    Args:
        lrnn: the construction, its certificate, or the path of one.
        settings: the settings of a task with the automaton of the construction: letters and states have the same texts in the
            same order, and transitions and start agree. The task has no BOS, and its labels are states.
        folder: the model folder to write.
        max_entries: largest number of weights in one array.

    Raises:
        InputError: the automaton of the task is another one, or the task has BOS or other labels.
        LimitError: an array has more than `max_entries` weights.
    """
    lrnn = table_from(lrnn, "lrnn")
    task = AutomatonTask(settings)
    own, wanted = lrnn.automaton, task.automaton
    for what, mine, theirs in (
        ("letters", own.letters, wanted.letters),
        ("states", own.states, wanted.states),
    ):
        if [label_text(x) for x in mine] != [label_text(x) for x in theirs]:
            raise InputError(f"{settings.spec}: its {what} are not those of the construction of {own.name}")
    if own.start != wanted.start or not np.array_equal(own.transitions, wanted.transitions):
        raise InputError(f"{settings.spec}: it moves otherwise than the construction of {own.name}")
    if task.bos or task.sampler.labels != "state":
        raise InputError(
            f"{settings.spec}: a construction has no BOS and names states: bos false, labels state"
        )
    model = model_of_table(lrnn, max_entries=max_entries)
    save_model(folder, model, task.contract((1, 1), ("1000",)).as_json())
