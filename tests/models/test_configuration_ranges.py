"""Numbers of a configuration beyond any model are refused before work; ratios that an export writes give FLA's sizes again."""

from __future__ import annotations

import time
from typing import Any

import pytest

from mirrormata.foundation._errors import InputError
from mirrormata.models.audit._audit import audit
from mirrormata.models.fla._layer import load_layers
from mirrormata.models.fla._model import DEFAULTS, complete_config
from mirrormata.models.fla._sizes import ratio_of

HUGE = (1e308, 10**400, float("inf"), float("nan"))


def numbers() -> list[tuple[str, str]]:
    """Every entry of every type whose kind takes a number."""
    return [
        (kind, entry)
        for kind, layer in load_layers().items()
        for entry, (_, known) in layer.entries.items()
        if known.fits(1) and not known.fits("swish")
    ]


@pytest.mark.parametrize(("kind", "entry"), numbers())
def test_numbers_beyond_any_model(kind: str, entry: str) -> None:
    for value in HUGE:
        with pytest.raises(InputError, match=rf"c.json: {entry} is .*supported is"):
            load_layers()[kind].read_entries({"model_type": kind, entry: value}, "c.json")


@pytest.mark.parametrize("kind", sorted(load_layers()))
def test_more_layers_than_any_model_has(kind: str) -> None:
    began = time.monotonic()
    with pytest.raises(InputError, match=r"num_hidden_layers is 10000000; supported is .* to 10,000"):
        load_layers()[kind].read_entries({"model_type": kind, "num_hidden_layers": 10**7}, "c.json")
    assert time.monotonic() - began < 1


@pytest.mark.parametrize("kind", sorted(DEFAULTS))
@pytest.mark.parametrize("entry", ["hidden_ratio", "expand_v", "hidden_size", "num_hidden_layers"])
def test_heads_of_configurations_beyond_any_model(kind: str, entry: str) -> None:
    for value in (*HUGE, 10**10):
        with pytest.raises(InputError, match=rf"{entry} is .* is needed"):
            complete_config({"model_type": kind, entry: value})
    with pytest.raises(InputError, match=r"num_hidden_layers is 10000000; a whole number from 1 to 10,000"):
        complete_config({"model_type": kind, "num_hidden_layers": 10**7})


@pytest.mark.parametrize(
    "config",
    [
        {"model_type": "gla", "num_hidden_layers": 2, "clamp_min": -(10**400)},
        {"model_type": "kda", "num_hidden_layers": 2, "lower_bound": 10**400},
        {"model_type": "gla", "num_hidden_layers": 2, "clamp_min": -1e308},
        {"model_type": "gla", "num_hidden_layers": 10**7},
    ],
)
def test_an_audit_of_numbers_beyond_any_model(config: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="is needed"):
        audit(config)


def test_ratios_give_the_sizes_that_fla_computes() -> None:
    assert int(49 * (1 / 49)) == 0  # FLA would make no values
    for size in range(1, 300):
        for wanted in range(1, 300):
            ratio = ratio_of(wanted, size)
            assert int(size * ratio) == wanted
            assert ratio == pytest.approx(wanted / size, rel=1e-15)


@pytest.mark.parametrize("kind", ["gated_deltanet", "kda", "gated_deltaproduct"])
def test_a_head_whose_ratio_fla_would_truncate(kind: str) -> None:
    layer = load_layers()[kind]
    # 49 × (1 / 49) is below 1 in float64
    entries = layer.read_entries(
        {"model_type": kind, "num_heads": 2, "head_dim": 49, "expand_v": ratio_of(1, 49), "vocab_size": 5},
        "c",
    )
    config = layer.model_config(entries, "c")
    assert config.value_dim == 1
    written = layer.to_entries(config)
    assert int(written["head_dim"] * written["expand_v"]) == 1
