"""`plant_heads`: the heads of a construction put into a model of text, which goes on to compute what it did.

The model grows by the construction's heads, by a token for each letter and one that asks for the state, by a class for each answer,
and by entries of the residual stream that only these use. A head holds the matrix A(w) of the word so far, H ← A(x) H from H = I; the
token that asks reads qᵀ A(w), whose nearest code names the state. All other tokens leave the head's state as it is, bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from ...constructions.automata._automaton import Automaton
from ...constructions.automata._labels import label_text
from ...constructions.certificates._parts import number_outputs
from ...foundation._errors import InputError
from ...theory._realisations import RealisationLike, table_from
from ...theory.arithmetic._rounding import Floats
from ...theory.proofs._npz_model import NpzModel
from .._model import Block, Model
from ..layers.delta_product import DeltaProduct
from ._grown_model import (
    Layout,
    copy_host,
    fill_answers,
    fill_at_random,
    fill_head,
    fill_stream,
    grown_config,
)
from ._head_plans import as_floats, codes_of_states, follow_states, plan_heads, store_copies


@dataclass(frozen=True, eq=False)
class Planted:
    """A model with planted heads, and what its new tokens and classes mean.

    Attributes:
        model: one seed's model.
        heads: the numbers of the planted heads of its first layer, from 0.
        letters: the token of each letter of the automaton.
        ask: the token after which the state is answered.
        answers: the class of each state.
        automaton: the automaton that the heads follow.
        codes: for each planted head what it holds in each state, float64 `[states, head_dim, value_dim]`; where several matrices belong to
            a state, one of them.
    """

    model: Model
    heads: tuple[int, ...]
    letters: tuple[int, ...]
    ask: int
    answers: tuple[int, ...]
    automaton: Automaton
    codes: tuple[Floats, ...]


def plant_heads(host: Model, construction: RealisationLike, *, blank: int | None = None) -> Planted:
    """Put the heads of a construction into the first layer of a model, which answers all else as before.

    The weights of the host stay what they are; in exact arithmetic it computes the same on its own tokens but for the norms' ε and for one
    constant entry of the stream, of the size of an average one.

    Args:
        host: one seed's model of the family `deltaproduct`, with norms, residual stream, normed keys without activation, the range (-1, 1),
            as many factors as the construction, and `head_dim` and `value_dim` that hold its heads.
        construction: a construction in one layer whose letters are products of factors with eigenvalues -1, 0 and 1 along vectors of length
            1 or √2 (times a power of 2), without gates and additive terms; its certificate; or the path of one.
        blank: the seed of random weights that the new heads, tokens and classes get in place of the construction's, at least 0; None for
            the construction's.

    Returns:
        The grown model, and its new tokens and classes: tokens of the letters, then the token that asks, behind those of the host; classes
        of the states behind those of the host.

    Raises:
        InputError: the host or the construction is of another kind; the line names what differs.
        LimitError: more than `MOST_STATES` matrices belong to words.

    Examples:
        >>> from mirrormata import construct
        >>> from mirrormata.models import Model, ModelConfig
        >>> config = ModelConfig(letters=5, classes=5, width=8, heads=1, head_dim=8, value_dim=8, householders=2, key_activation="none")
        >>> plant_heads(Model(config), construct("S3")).ask
        11
    """
    lrnn = table_from(construction, "construction")
    if lrnn.automaton.is_mealy:
        raise InputError(
            f"{lrnn.automaton.name}: its outputs belong to transitions; plant an automaton with outputs of states"
        )
    _check_host(host)
    plans = plan_heads(lrnn, host.config)
    held = follow_states(lrnn, plans)
    codes = codes_of_states(lrnn, plans, held, host.config.output_norm)
    config = grown_config(host.config, lrnn, plans)
    model = Model(config, host.seeds)
    layout = Layout(host.config, config, len(lrnn.automaton.letters), len(plans))
    with torch.no_grad():
        copy_host(host, model, layout)
        if blank is None:
            fill_stream(model, layout)
            for i, plan in enumerate(plans):
                fill_head(model, layout, i, plan)
            fill_answers(model, layout, plans, codes)
        else:
            fill_at_random(model, layout, Model(config, (blank,)))
    first = host.config.letters
    letters = tuple(range(first, first + layout.count))
    classes = tuple(range(host.config.classes, config.classes))
    heads = tuple(range(host.config.heads, config.heads))
    own = tuple(
        np.stack([as_floats(held[state][0][i]) @ plan.initial[: plan.size] for state in range(len(held))])
        for i, plan in enumerate(plans)
    )
    stored = tuple(store_copies(M, plan) for M, plan in zip(own, plans, strict=True))
    return Planted(model, heads, letters, first + layout.count, classes, lrnn.automaton, stored)


def _check_host(host: Model) -> None:
    config = host.config
    wanted = {
        "family": "deltaproduct", "norm": True, "residual": True, "key_norm": True, "key_activation": "none", "range": (-1, 1), "tables": (),
        "meaning": (), "tokens": (), "tied": False, "head_bias": True,
    }  # fmt: skip
    for name, value in wanted.items():
        if getattr(config, name) != value:
            raise InputError(
                f"host: {name} is {getattr(config, name)!r}; heads are planted into a model whose {name} is {value!r}"
            )
    if config.strength == "direct":
        raise InputError(
            "host: strength is 'direct'; heads are planted into a model whose strength is 'sigmoid' or 'hard_sigmoid'"
        )
    if len(host.seeds) != 1:
        raise InputError(f"host: it holds {len(host.seeds)} seeds; select one")


@torch.no_grad()
def read_planted_head(model: Model, planted: Planted, head: int) -> NpzModel:
    """A planted head as it is in a model now, with what its letters do to it; `prove` takes it.

    Its answer is the state whose first contents are nearest to what it holds.

    Args:
        model: one seed's model of the shape of `planted.model`, for example a later one of its training.
        planted: the planting.
        head: an index of `planted.heads`, from 0.

    Returns:
        The matrices, terms, factors and the initial state in the numbers that the model computes with.

    Raises:
        InputError: the model has a convolution, with which a letter's matrix depends on the tokens before it.
    """
    if model.config.conv:
        raise InputError(
            f"model: with conv {model.config.conv} a letter's matrix depends on the tokens before it; take a host with conv 0"
        )
    block, h = model.blocks[0], planted.heads[head]
    assert isinstance(block, Block)
    mixer = block.mixer
    assert isinstance(mixer, DeltaProduct)
    assert block.mixer_norm is not None
    letters = torch.tensor(planted.letters, device=model.embedding.weight.device)
    x = block.mixer_norm(model.embedding(letters[None, :, None]))  # each letter is a word of its own
    beta, keys, gate = (found[0, :, 0].double().cpu().numpy() for found in mixer.factors(x))
    A = mixer.transitions(x)[0, :, 0, h].cpu().numpy()
    zero = torch.zeros_like(mixer.initial(x, {}))
    added = mixer(x, {"H": zero})[1]["H"][0, :, h].double().cpu().numpy()
    start = mixer.initial(x, {})[0, 0, h].double().cpu().numpy()
    automaton, n_h = planted.automaton, model.config.householders
    factors = {
        "beta": beta[:, :, h], "vector": keys[:, :, h], "factor_count": np.full(len(A), n_h), "gate": gate[:, h],
    }  # fmt: skip
    numbers, outputs = number_outputs(automaton)
    decode = np.broadcast_to(numbers[:, None], (len(automaton.states), len(A)))
    letters_of = tuple(label_text(x) for x in automaton.letters)
    return NpzModel(
        A,
        added,
        start,
        planted.codes[head],
        np.ascontiguousarray(decode),
        letters_of,
        tuple(outputs),
        name=f"head 1.{h + 1}",
        factors=factors,
    )
