"""Folders of models for the tests of what a report shows of learned things: constructed and made slightly wrong, or untrained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from mirrormata.constructions._construct import construct
from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.models._config import ModelConfig
from mirrormata.models._kinds import from_construction
from mirrormata.models._model import Model
from mirrormata.models._model_file import save_model
from mirrormata.models.layers.delta_product import DeltaProduct
from mirrormata.models.report._data import Chart, Item, LearnedLimits, Section, Table
from mirrormata.models.tasks._automaton import AutomatonTask
from mirrormata.models.tasks._task import TaskSettings

FEW = LearnedLimits(
    words=32, length=128, fit=32, test_words=16, test_length=128, points=300, entries=16, work=20_000
)


def perturbed(folder: Path, spec: str, *, beta: float = 2.0, noise: float = 0.0, seed: int = 0) -> None:
    """A construction of one head, its keys, queries and initial state turned, with every β‖k‖² = `beta` and noise on keys."""
    lrnn = construct(automaton_from_spec(spec))
    assert isinstance(lrnn, LRNN)
    model = from_construction(lrnn)
    mixer: Any = model.blocks[0].mixer
    assert isinstance(mixer, DeltaProduct)
    c, draw = model.config, np.random.default_rng(seed)
    R = np.linalg.qr(draw.standard_normal((c.head_dim, c.head_dim)))[0]
    turn = torch.from_numpy(R).float()
    assert mixer.initial.value is not None
    with torch.no_grad():
        mixer.beta.weight.mul_(beta / 2)
        key = mixer.key.linear.weight[0].view(c.householders, c.heads, c.head_dim, -1)
        moved = torch.einsum("ij,fhjw->fhiw", turn, key)
        # the same noise for the copies of a head
        moved += noise * torch.from_numpy(draw.standard_normal(moved[:, :1].shape)).float() * (key != 0).any()
        key.copy_(moved)
        query = mixer.query.linear.weight[0].view(c.heads, c.head_dim, -1)
        query.copy_(torch.einsum("ij,hjw->hiw", turn, query))
        start = mixer.initial.value[0]
        start.copy_(torch.einsum("ij,hjv->hiv", turn, start))
    save(folder, model, spec)


def untrained(folder: Path, spec: str, **config: Any) -> None:
    """A model as it is before training."""
    task = AutomatonTask(settings(spec))
    shape = {"width": 8, "heads": 1, "head_dim": 4, "value_dim": 4, "mlp": 1.0, **config}
    save(folder, Model(ModelConfig(letters=task.letters, classes=task.classes, **shape), [0]), spec)


def save(folder: Path, model: Model, spec: str) -> None:
    """With the contract of the automaton's state task, without BOS."""
    save_model(folder, model, AutomatonTask(settings(spec)).contract((2, 16), ("128",)).as_json())


def settings(spec: str) -> TaskSettings:
    return TaskSettings(spec=spec, bos=False, labels="state")


def section(sections: tuple[Section, ...], slug: str) -> Section:
    return next(s for s in sections if s.slug == slug)


def item(sections: tuple[Section, ...], slug: str) -> Item:
    return next(i for s in sections for i in s.every if i.slug == slug)


def chart(sections: tuple[Section, ...], slug: str) -> Chart:
    found = item(sections, slug)
    assert isinstance(found, Chart)
    return found


def table(sections: tuple[Section, ...], slug: str) -> Table:
    found = item(sections, slug)
    assert isinstance(found, Table)
    return found


def values(sections: tuple[Section, ...], slug: str) -> dict[Any, Any]:
    """First to second cells of a table's rows."""
    return {row[0]: row[1] for row in table(sections, slug).rows}
