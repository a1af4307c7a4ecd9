"""The grown model: a host's weights in their places, and those of planted heads, tokens and classes in the new ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
import torch
from torch import nn

from ...constructions._lrnn import LRNN
from ...theory.arithmetic._rounding import Floats
from .._config import ModelConfig
from .._model import Block, GatedMLP, Model
from ..layers._seeded import SeededRMSNorm
from ..layers.delta_product import DeltaProduct
from ._head_plans import HeadPlan

SATURATED = 128.0
"""σ(z) is 1 in float32 from z = 17 on, and 0 from z = -104 on; z = ±128 lies beyond both."""
LOGIT = 30.0
"""By how much the right answer's logit exceeds that of another state, and 0, where the answers outweigh the rest of the stream."""
ANSWER_SIZE = 32.0
"""Length of what the planted heads write into the stream when they are asked; that of other entries is a few units."""
UNASKED = -16.0
"""Bias of the answers, so that they take no probability from text."""


@dataclass(frozen=True)
class Layout:
    """Where the new entries are.

    The stream's new entries: one for each letter, one for the token that asks, one that all tokens of the host have, then `value_dim` for
    each planted head.
    """

    old: ModelConfig
    new: ModelConfig
    count: int
    """The number of letters."""
    heads: int

    @property
    def letters(self) -> slice:
        return slice(self.old.width, self.old.width + self.count)

    @property
    def ask(self) -> int:
        return self.old.width + self.count

    @property
    def other(self) -> int:
        return self.ask + 1

    def answers(self, head: int) -> slice:
        start = self.other + 1 + head * self.old.value_dim
        return slice(start, start + self.old.value_dim)


def grown_config(config: ModelConfig, lrnn: LRNN, plans: Sequence[HeadPlan]) -> ModelConfig:
    letters, states = len(lrnn.automaton.letters), len(lrnn.automaton.states)
    width = config.width + letters + 2 + len(plans) * config.value_dim
    return msgspec.structs.replace(
        config, letters=config.letters + letters + 1, classes=config.classes + states, width=width, heads=config.heads + len(plans),
        initial="learned",
    )  # fmt: skip


def copy_host(host: Model, model: Model, layout: Layout) -> None:
    """The host's weights in their places; new ones are 0, but for those of norms."""
    old, new = layout.old, layout.new
    D, E = old.width, new.width
    model.embedding.weight.zero_()
    model.embedding.weight[:, : old.letters, :D] = host.embedding.weight
    _copy_norm(host.norm, model.norm, D, E)
    assert model.head is not None
    assert host.head is not None
    model.head.weight.zero_()
    model.head.weight[:, : old.classes, :D] = host.head.weight
    assert model.head.bias is not None
    assert host.head.bias is not None
    model.head.bias.zero_()
    model.head.bias[:, : old.classes] = host.head.bias
    for before, after in zip(host.blocks, model.blocks, strict=True):
        assert isinstance(before, Block)
        assert isinstance(after, Block)
        _copy_norm(before.mixer_norm, after.mixer_norm, D, E)
        _copy_norm(before.mlp_norm, after.mlp_norm, D, E)
        assert isinstance(before.mixer, DeltaProduct)
        assert isinstance(after.mixer, DeltaProduct)
        _copy_mixer(before.mixer, after.mixer, layout)
        if before.mlp is not None:
            assert isinstance(before.mlp, GatedMLP)
            assert isinstance(after.mlp, GatedMLP)
            hidden, wider = before.mlp.output.weight.shape[2], after.mlp.output.weight.shape[2]
            inputs = after.mlp.inputs.weight.view(1, 2, wider, E)
            inputs[:, :, :hidden] = 0
            inputs[:, :, :hidden, :D] = before.mlp.inputs.weight.view(1, 2, hidden, D)
            after.mlp.output.weight.zero_()
            after.mlp.output.weight[:, :D, :hidden] = before.mlp.output.weight


def _copy_norm(before: nn.Module | None, after: nn.Module | None, D: int, E: int) -> None:
    """RMSNorm over E entries divides by a root that is √(D/E) times as large where the new ones are 0."""
    if before is None:
        return
    assert isinstance(before, SeededRMSNorm)
    assert isinstance(after, SeededRMSNorm)
    after.weight.fill_(1)
    after.weight[:, :D] = before.weight * (D / E) ** 0.5


def _copy_mixer(before: DeltaProduct, after: DeltaProduct, layout: Layout) -> None:
    old, new = layout.old, layout.new
    D, n_h, heads = old.width, old.householders, old.heads
    assert before.value is not None or not old.additive
    parts = [("query", (heads, new.heads, old.head_dim)), ("key", (heads, new.heads, old.head_dim))]
    if before.value is not None:
        parts.append(("value", (heads, new.heads, old.value_dim)))
    for name, (few, many, size) in parts:
        source, target = getattr(before, name), getattr(after, name)
        repeats = 1 if name == "query" else n_h
        target.linear.weight.zero_()
        target.linear.weight.view(repeats, many, size, -1)[:, :few, :, :D] = source.linear.weight.view(
            repeats, few, size, D
        )
        if source.conv is not None:
            taps = target.conv.weight.view(repeats, many, size, -1)
            taps.zero_()
            taps[..., -1] = 1  # the present token alone
            taps[:, :few] = source.conv.weight.view(repeats, few, size, -1)
    after.beta.weight.zero_()
    after.beta.weight.view(n_h, new.heads, -1)[:, :heads, :D] = before.beta.weight.view(n_h, heads, D)
    if before.decay is not None:
        assert after.decay is not None
        assert before.decay.bias is not None
        assert after.decay.bias is not None
        after.decay.weight.zero_()
        after.decay.weight[:, :heads, :D] = before.decay.weight
        # a gate of 1: exp(-r softplus(z)) at -128, or a hard sigmoid at +128
        after.decay.bias.fill_(-SATURATED if old.strength == "sigmoid" else SATURATED)
        after.decay.bias[:, :heads] = before.decay.bias
        if old.strength == "sigmoid":
            after.rate.zero_()
            after.rate[:, :heads] = before.rate
    assert after.initial.value is not None
    after.initial.value.zero_()
    if before.initial.value is not None:
        after.initial.value[:, :heads] = before.initial.value
    read, wider = before.read_out, after.read_out
    if read.norm is not None:
        assert wider.norm is not None
        wider.norm.weight.fill_(1)
        wider.norm.weight[:, :heads] = read.norm.weight
    if read.gate is not None:
        assert wider.gate is not None
        wider.gate.weight.zero_()
        wider.gate.weight[:, : heads * old.value_dim, :D] = read.gate.weight
    wider.linear.weight.zero_()
    wider.linear.weight[:, :D, : heads * old.value_dim] = read.linear.weight


def fill_stream(model: Model, layout: Layout) -> None:
    """Unit vectors for the letters and the token that asks; one entry that all tokens of the host have."""
    embedding, first = model.embedding.weight[0], layout.old.letters
    average = float(embedding[:first, : layout.old.width].square().mean().sqrt()) or 1.0
    embedding[:first, layout.other] = average
    for x in range(layout.count):
        embedding[first + x, layout.letters.start + x] = 1
    embedding[first + layout.count, layout.ask] = 1


def fill_head(model: Model, layout: Layout, index: int, plan: HeadPlan) -> None:
    """A planted head of the first layer: keys and strengths of the letters, the query of the token that asks, the initial state."""
    block = model.blocks[0]
    assert isinstance(block, Block)
    mixer, config = block.mixer, layout.new
    assert isinstance(mixer, DeltaProduct)
    assert mixer.initial.value is not None
    head, n_h, used = layout.old.heads + index, config.householders, plan.keys.shape[1]
    key = mixer.key.linear.weight.view(n_h, config.heads, config.head_dim, -1)[:, head]  # [n_h, K, width]
    key[:used, :, layout.letters] = torch.from_numpy(plan.keys).permute(1, 2, 0).to(key.dtype)
    query = mixer.query.linear.weight.view(config.heads, config.head_dim, -1)[head]
    query[:, layout.ask] = torch.from_numpy(plan.query).to(query.dtype)
    # z = ±128, or 0 for β = 1, at every token: the normed entry of a letter is √E, that of the host's tokens c √E / ‖x‖
    beta = mixer.beta.weight.view(n_h, config.heads, -1)[:, head]  # [n_h, width]
    root = config.width**0.5
    # a little more than √E/‖x‖, for the norms' ε
    large = 2 * SATURATED / root
    beta[:, layout.letters] = -large
    beta[:used, layout.letters] = large * torch.from_numpy(plan.strengths - 1).T.to(beta.dtype)
    beta[:, layout.ask] = -large
    host = model.embedding.weight[0, : layout.old.letters]
    longest, own = float(host.norm(dim=-1).max()), float(host[0, layout.other])
    beta[:, layout.other] = -large * longest / own
    mixer.initial.value[0, head] = torch.from_numpy(plan.initial).to(mixer.initial.value.dtype)


def fill_answers(model: Model, layout: Layout, plans: Sequence[HeadPlan], codes: Floats) -> None:
    """The way from the planted heads to the answers' logits."""
    block, old = model.blocks[0], layout.old
    assert isinstance(block, Block)
    assert isinstance(block.mixer, DeltaProduct)
    read_out = block.mixer.read_out
    # of a head's output: its length, by norm √V, else that of qᵀ A with a query of length 1
    for i, plan in enumerate(plans):
        rows, first = layout.answers(i), (old.heads + i) * old.value_dim
        size = old.value_dim**0.5 if read_out.norm is not None else 1.0
        scale = ANSWER_SIZE / (size * len(plans) ** 0.5)
        if read_out.gate is not None:
            root = layout.new.width**0.5
            read_out.gate.weight[0, first : first + old.value_dim, layout.ask] = 1
            scale /= root / (1 + float(np.exp(-root)))  # SiLU(√E)
        for j in range(plan.size):
            read_out.linear.weight[0, rows.start + j, first + j] = scale
    states = len(codes)
    flat = codes.reshape(states, -1)
    closest = float((flat @ flat.T - 2 * np.eye(states)).max())
    # the stream's norm makes the answers' entries √E long
    gain = max(LOGIT / (1 - closest), LOGIT - UNASKED) / layout.new.width**0.5
    assert model.head is not None
    weight = model.head.weight[0]
    for i, plan in enumerate(plans):
        start = layout.answers(i).start
        weight[old.classes :, start : start + plan.size] = gain * torch.from_numpy(
            codes[:, i, : plan.size]
        ).to(weight.dtype)
    assert model.head.bias is not None
    model.head.bias[0, old.classes :] = UNASKED


def fill_at_random(model: Model, layout: Layout, fresh: Model) -> None:
    """What a model of this shape begins with, at the places of new heads, tokens and classes; the host computes what it did."""
    old, new = layout.old, layout.new
    assert model.head is not None
    assert fresh.head is not None
    model.embedding.weight[:, old.letters :] = fresh.embedding.weight[:, old.letters :]
    model.head.weight[:, old.classes :] = fresh.head.weight[:, old.classes :]
    here, there = model.blocks[0], fresh.blocks[0]
    assert isinstance(here, Block)
    assert isinstance(there, Block)
    mixer, source = here.mixer, there.mixer
    assert isinstance(mixer, DeltaProduct)
    assert isinstance(source, DeltaProduct)
    K, V, n_h = new.head_dim, new.value_dim, new.householders
    for name, repeats, size in (("query", 1, K), ("key", n_h, K), ("value", n_h, V)):
        target, drawn = getattr(mixer, name), getattr(source, name)
        if target is not None:
            shape = (repeats, new.heads, size, -1)
            target.linear.weight.view(shape)[:, old.heads :] = drawn.linear.weight.view(shape)[:, old.heads :]
    strengths = (n_h, new.heads, -1)
    mixer.beta.weight.view(strengths)[:, old.heads :] = source.beta.weight.view(strengths)[:, old.heads :]
    assert mixer.initial.value is not None
    assert source.initial.value is not None
    mixer.initial.value[:, old.heads :] = source.initial.value[:, old.heads :]
    # into the new entries of the stream alone
    columns = slice(old.heads * V, None)
    mixer.read_out.linear.weight[:, old.width :, columns] = source.read_out.linear.weight[
        :, old.width :, columns
    ]
