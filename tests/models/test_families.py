"""The records of the layer families say what their mixers do."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
import torch

from mirrormata.models._config import ModelConfig
from mirrormata.models._families import SWITCHES, find_family, load_families

FRAME = {"family", "width", "options"}


class Watched:
    """A configuration that remembers which of its entries were read."""

    def __init__(self, config: ModelConfig) -> None:
        self._config, self.read = config, set[str]()

    def __getattr__(self, name: str) -> Any:
        self.read.add(name)
        return getattr(self._config, name)


@pytest.mark.parametrize("name", load_families())
def test_a_record_s_options_are_the_entries_that_its_mixer_reads(name: str) -> None:
    family = find_family(name)
    if name in ("slstm", "mlstm"):
        pytest.importorskip("xlstm")
    sizes = {"width": 16, "heads": 2, "head_dim": 4, "value_dim": 4, "conv": 3}
    read: set[str] = set()
    for strength in family.strengths if "strength" in family.options else ("sigmoid",):
        for changes in ({}, {"additive": False, "initial": "learned"}, {"output_gate": True}):
            config = ModelConfig(family=name, strength=strength, **{**sizes, **family.example, **changes})  # type: ignore[arg-type]
            watched = Watched(config)
            mixer = family.mixer(watched)
            mixer(torch.randn(1, 2, 5, 16))
            read |= watched.read
    assert read - FRAME == set(family.options) - FRAME
    assert ("options" in family.options) == bool(family.settings)


@pytest.mark.parametrize("name", load_families())
def test_a_record_is_whole(name: str) -> None:
    family = find_family(name)
    config = ModelConfig(family=name, **{"width": 16, "heads": 2, **family.example})
    assert set(family.options) <= set(config.__struct_fields__)
    assert family.summary
    assert family.eigenvalues
    assert family.kept(config, False) >= family.kept(config, True) >= 0
    mixer = None if name in ("slstm", "mlstm") else family.mixer(config)
    if mixer is not None:
        assert hasattr(mixer, "transitions") != family.baseline


def test_switches_are_entries_that_only_some_families_have() -> None:
    for switch in SWITCHES:
        having = [family for family in load_families().values() if switch in family.options]
        assert 0 < len(having) < len(load_families())
    assert msgspec.structs.asdict(ModelConfig())["householders"] == 1
