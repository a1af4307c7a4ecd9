"""The start of a training: part by part, bit for bit what a model begins with, and never more than one part beside what stays."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from mirrormata.models._config import ModelConfig
from mirrormata.models._families import find_family, load_families
from mirrormata.models._model import Block, Model, draw_model, draw_parts
from mirrormata.models.training._processes import Processes, divided_dimension, shard_of
from mirrormata.tests.models.allocations import peak_of

LARGE = ModelConfig(letters=500, classes=400, width=128, layers=12, heads=4, head_dim=32, value_dim=32)


def unchanged(name: str, value: Tensor) -> Tensor:
    return value


@pytest.mark.parametrize("seeds", [(3,), (0, 5, 2)])
@pytest.mark.parametrize("family", load_families())
def test_the_weights_are_those_of_a_model(family: str, seeds: tuple[int, ...]) -> None:
    if family in ("slstm", "mlstm"):
        pytest.importorskip("xlstm")
    sizes = {"letters": 5, "classes": 4, "width": 24, "layers": 3, "heads": 2, "head_dim": 12, "value_dim": 6}
    config = ModelConfig(family=family, **{**sizes, **find_family(family).example})
    whole, drawn = Model(config, seeds), draw_model(config, seeds, unchanged)
    expected, found = whole.state_dict(), drawn.state_dict()
    assert list(found) == list(expected)
    assert all(torch.equal(found[name], expected[name]) for name in expected)
    assert repr(drawn) == repr(whole)
    letters = torch.randint(5, (len(seeds), 2, 7))
    assert torch.equal(drawn(letters)[0], whole(letters)[0])


def test_the_generator_of_others_stays_as_it_is() -> None:
    before = torch.get_rng_state()
    draw_model(LARGE, (1, 2), unchanged)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_vocabulary_that_letters_and_classes_share_and_a_tied_read_out() -> None:
    config = ModelConfig(
        letters=3, classes=6, width=8, heads=1, head_dim=4, value_dim=4, tied=True, head_bias=False, tokens=(5, 0, 2)
    )  # fmt: skip
    drawn, whole = draw_model(config, (4,), unchanged), Model(config, (4,))
    letters = torch.tensor([[[0, 2, 1, 1]]])
    assert torch.equal(drawn(letters)[0], whole(letters)[0])
    assert drawn.head is None


def test_a_parameter_in_two_places_stays_one(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Block.__init__

    def share(self: Block, config: ModelConfig, index: int = 0) -> None:
        plain(self, config, index)
        self.mixer.query.linear.weight = self.mixer.key.linear.weight  # type: ignore[union-attr]

    monkeypatch.setattr(Block, "__init__", share)
    drawn = draw_model(LARGE, (0,), unchanged)
    mixer: nn.Module = drawn.blocks[0].mixer  # type: ignore[assignment]
    assert mixer.query.linear.weight is mixer.key.linear.weight  # type: ignore[union-attr]


@pytest.mark.parametrize("seeds", [(0,), (0, 1, 2)])
def test_there_is_no_second_copy(seeds: tuple[int, ...]) -> None:
    size = 4 * Model(LARGE).parameter_count * len(seeds)
    largest = 4 * len(seeds) * max(sum(p.numel() for p in part.parameters()) for _, part in draw_parts(LARGE))
    most = peak_of(lambda: Processes("cpu", "fp32").begin_model(LARGE, seeds))
    assert size <= most < 1.02 * size + (largest if len(seeds) > 1 else 0)
    assert largest < 0.2 * size


def test_a_process_of_many_holds_its_shards_and_one_part() -> None:
    shards: dict[str, Tensor] = {}

    def keep(name: str, value: Tensor) -> Tensor:
        shards[name] = shard_of(value, 3, 8)
        return torch.empty_like(value, device="meta")

    parts = [4 * sum(p.numel() for p in part.parameters()) for _, part in draw_parts(LARGE)]
    most = peak_of(lambda: draw_model(LARGE, (0,), keep))
    assert sum(x.nbytes for x in shards.values()) <= sum(parts) / 8
    # the last parameter's shard is there beside its part
    assert most < sum(parts) / 8 + 1.1 * max(parts)
    assert most < sum(parts) / 4


@pytest.mark.parametrize("shape", [(1, 8, 6), (1, 6, 5), (1, 5, 9), (1, 3), (1, 1)])
@pytest.mark.parametrize("count", [2, 3, 7])
def test_shards_are_a_parameter_cut_along_one_dimension(shape: tuple[int, ...], count: int) -> None:
    value = torch.randn(shape)
    shards = [shard_of(value, rank, count) for rank in range(count)]
    assert torch.equal(torch.cat(shards, divided_dimension(shape, count)), value)
    assert all(
        shard.untyped_storage().data_ptr() != value.untyped_storage().data_ptr()
        for shard in shards
        if shard.numel()
    )
