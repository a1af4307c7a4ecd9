"""Every family against its recurrence written out in float64; seeds, states carried on, configurations, folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from msgspec.structs import replace
from torch import Tensor

from mirrormata.foundation._errors import InputError
from mirrormata.models._config import ModelConfig
from mirrormata.models._families import load_families
from mirrormata.models._model import Block, Model
from mirrormata.models._model_file import load_model, save_model
from mirrormata.models._records import record_of
from mirrormata.models.layers._seeded import State, projection_to_beta
from mirrormata.models.training._experiment import read_settings, settings_difference

SMALL = ModelConfig(letters=3, classes=4, width=16, heads=2, head_dim=8, value_dim=6, layers=2)
RANGES = ((0, 1), (-1, 1))
FAMILIES = tuple(load_families())
LINEAR = tuple(name for name, family in load_families().items() if not family.baseline)
BY_CHANNEL = ("mamba", "mamba_like")
"""Families whose state is `[channels, states]`."""


def config(family: str, **changes: Any) -> ModelConfig:
    example = load_families()[family].example
    return replace(SMALL, **{"family": family, **example, **changes})


def words(*shape: int) -> Tensor:
    return torch.from_numpy(np.random.default_rng(1).integers(0, 3, shape))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("limits", RANGES)
def test_a_word_may_be_cut_anywhere(family: str, limits: tuple[int, int]) -> None:
    model = Model(config(family, range=limits, conv=3, output_gate=True)).double().eval()
    x = words(1, 2, 9)
    whole, last = model(x)
    for cut in (1, 4, 8):
        first, states = model(x[:, :, :cut])
        second, after = model(x[:, :, cut:], states)
        torch.testing.assert_close(torch.cat([first, second], 2), whole, rtol=1e-5, atol=1e-5)
        if load_families()[family].fixed_state:
            torch.testing.assert_close(after, last, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_later_tokens_do_not_change_earlier_outputs(family: str) -> None:
    model = Model(config(family, conv=3))
    x = words(1, 1, 9)
    other = x.clone()
    other[..., 6:] = (other[..., 6:] + 1) % 3
    a, b = model(x)[0], model(other)[0]
    torch.testing.assert_close(a[:, :, :6], b[:, :, :6], rtol=1e-5, atol=1e-6)
    assert not torch.allclose(a[:, :, 6:], b[:, :, 6:], atol=1e-4)


@pytest.mark.parametrize("family", [f for f in LINEAR if "key_activation" in load_families()[f].options])
@pytest.mark.parametrize("conv", [0, 3])
def test_the_activation_of_keys_is_chosen_with_a_convolution_too(family: str, conv: int) -> None:
    chosen: dict[str, Tensor] = {}
    for activation in ("silu", "none"):
        model = Model(config(family, conv=conv, key_activation=activation, key_norm=False))
        mixer: Any = model.blocks[0].mixer
        projection = mixer.input if hasattr(mixer, "input") else mixer.key
        x = torch.randn(1, 1, 9, 16, generator=torch.Generator().manual_seed(1)) * 9
        chosen[activation] = projection(x, State(), "key", State())
    torch.testing.assert_close(chosen["silu"], torch.nn.functional.silu(chosen["none"]))
    assert float(chosen["none"].detach().min()) < -1  # where SiLU is at least -0.28


@pytest.mark.parametrize("family", [f for f in LINEAR if f not in BY_CHANNEL])
@pytest.mark.parametrize("limits", RANGES)
def test_the_state_follows_the_transitions(family: str, limits: tuple[int, int]) -> None:
    """H_t = A(x_t) H_{t-1} + B(x_t): two states under the same letters differ by A alone, so A is what acts."""
    model = Model(config(family, range=limits, layers=1)).double()
    block = model.blocks[0]
    assert isinstance(block, Block)
    mixer: Any = block.mixer
    x = torch.randn(1, 3, 5, 16, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    generator = torch.Generator().manual_seed(7)
    one = torch.randn(1, 3, 2, 8, 6, dtype=torch.float64, generator=generator)
    two = torch.randn(1, 3, 2, 8, 6, dtype=torch.float64, generator=generator)
    A = mixer.transitions(x)
    difference = one - two
    for t in range(5):
        difference = A[:, :, t] @ difference
    _, after_one = mixer(x, State(H=one))
    _, after_two = mixer(x, State(H=two))
    torch.testing.assert_close(after_one["H"] - after_two["H"], difference, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "family",
    ["deltaproduct", "gla", "complex_kda", "matrix", "gated_deltanet", "kda", "gated_deltanet2", "mamba2"],
)
@pytest.mark.parametrize("limits", RANGES)
def test_eigenvalues_are_in_the_range(family: str, limits: tuple[int, int]) -> None:
    """Of one factor; products of several may leave it, as the theorems say."""
    changes: dict[str, Any] = {"householders": 1} if family == "deltaproduct" else {}
    model = Model(config(family, range=limits, layers=1, **changes)).double()
    block = model.blocks[0]
    assert isinstance(block, Block)
    mixer: Any = block.mixer
    x = 5 * torch.randn(1, 50, 4, 16, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    values = torch.linalg.eigvals(mixer.transitions(x))
    assert values.abs().max() <= 1 + 1e-9
    if limits == (0, 1):
        assert values.real.min() >= -1e-9
        assert values.imag.abs().max() < 1e-6
    else:
        assert values.real.min() < -0.1


@pytest.mark.parametrize("family", ["deltaproduct", "gla", "complex_kda"])
@pytest.mark.parametrize("limits", RANGES)
def test_hard_sigmoids_reach_the_ends_of_the_range(family: str, limits: tuple[int, int]) -> None:
    """At finite weights: exact reflections or projections, and gates and decays that are exactly 0 and 1."""
    one_factor: dict[str, Any] = {"householders": 1} if family == "deltaproduct" else {}
    hard = {"strength": "hard_sigmoid", "range": limits, "layers": 1, **one_factor}
    mixer: Any = Model(config(family, **hard)).double().blocks[0]
    mixer = mixer.mixer
    x = 5 * torch.randn(1, 50, 4, 16, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    if family != "gla":
        z = mixer.beta(x)
        beta = projection_to_beta(z, mixer.config)
        size = 1 - limits[0]
        assert (beta[z >= 3] == size).all()
        assert (beta[z <= -3] == 0).all()
        inside = z.abs() < 3
        torch.testing.assert_close(beta[inside], (size * (z / 6 + 0.5))[inside].float(), rtol=1e-6, atol=1e-6)
        assert {0, size} < set(beta.flatten().tolist())
    decays = mixer.controls(x, {}, {})[4 if family == "deltaproduct" else 1]
    lowest = 0 if family == "deltaproduct" else limits[0]  # gates are never negative
    assert decays.min() == lowest
    assert decays.max() == 1
    values = torch.linalg.eigvals(mixer.transitions(x))
    assert values.abs().max() <= 1 + 1e-6  # keys have unit length in float32


@pytest.mark.parametrize("seed", range(4))
def test_hard_gates_begin_where_soft_ones_do(seed: int) -> None:
    """With a token of zeros in, the gate of each head is that of its bias."""
    gates = []
    for strength in ("sigmoid", "hard_sigmoid"):
        block = Model(config("deltaproduct", strength=strength), [seed]).blocks[0]
        assert isinstance(block, Block)
        mixer: Any = block.mixer
        gates.append(mixer.controls(torch.zeros(1, 1, 1, 16), {}, {})[4])
    torch.testing.assert_close(*gates)


def test_a_gate_of_zero_forgets_and_a_gate_of_one_keeps() -> None:
    """All gradients are finite there, through the same kernels."""
    model = Model(config("deltaproduct", strength="hard_sigmoid", layers=1))
    block = model.blocks[0]
    assert isinstance(block, Block)
    mixer: Any = block.mixer
    with torch.no_grad():
        mixer.decay.weight.zero_()
        mixer.decay.bias.copy_(torch.tensor([[-3.0, 3.0]]))  # of two heads
    x = torch.randn(1, 2, 6, 16, requires_grad=True)
    one, two = torch.randn(2, 1, 2, 2, 8, 6)
    y, after = mixer(x, State(H=one))
    _, other = mixer(x, State(H=two))
    assert torch.equal(after["H"][:, :, 0], other["H"][:, :, 0])
    assert not torch.allclose(after["H"][:, :, 1], other["H"][:, :, 1])
    y.square().sum().backward()
    assert x.grad is not None
    assert torch.isfinite(x.grad).all()


@pytest.mark.parametrize("family", BY_CHANNEL)
@pytest.mark.parametrize("limits", RANGES)
def test_channels_follow_their_transitions(family: str, limits: tuple[int, int]) -> None:
    model = Model(config(family, layers=1, range=limits)).double()
    block = model.blocks[0]
    assert isinstance(block, Block)
    mixer: Any = block.mixer
    x = torch.randn(1, 3, 5, 16, dtype=torch.float64)
    A = mixer.transitions(x)
    one, two = torch.randn(2, 1, 3, A.shape[3], 6, dtype=torch.float64)
    difference = one - two
    for t in range(5):
        difference = (A[:, :, t] @ difference[..., None])[..., 0]
    after = [mixer(x, State(H=H))[1]["H"] for H in (one, two)]
    torch.testing.assert_close(after[0] - after[1], difference, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_seeds_do_not_meet(family: str) -> None:
    """A seed has the same weights, outputs and gradients alone and beside others."""
    together, alone = Model(config(family), [3, 5]), Model(config(family), [5])
    for name, value in together.state_of(1).items():
        assert torch.equal(value, alone.state_dict()[name]), name
    x = words(1, 2, 7)
    torch.testing.assert_close(together(x)[0][1], alone(x)[0][0], rtol=1e-5, atol=1e-5)
    together(x)[0].square().sum().backward()
    alone(x)[0].square().sum().backward()
    single = together.select(1)
    single(x)[0].square().sum().backward()
    for name, parameter in alone.named_parameters():
        assert parameter.grad is not None, name
        torch.testing.assert_close(single.get_parameter(name).grad, parameter.grad, rtol=1e-4, atol=1e-4)


def test_an_additive_path_can_be_left_out() -> None:
    model = Model(config("deltaproduct", additive=False, initial="learned"))
    assert not any("value" in name for name, _ in model.named_parameters() if "initial" not in name)
    states = model(words(1, 1, 6))[1]
    norm = states[0]["H"].square().sum((-1, -2))
    first = model.initial_states(1)[0]["H"].square().sum((-1, -2))
    assert (norm <= first * (1 + 1e-5)).all()  # nothing is added, and no factor expands


@pytest.mark.parametrize("family", FAMILIES)
def test_states_before_the_first_token(family: str) -> None:
    model = Model(config(family, conv=3))
    if family == "transformer":
        with pytest.raises(InputError, match="no state of a fixed size"):
            model.initial_states(2)
        return
    x = words(1, 2, 5)
    torch.testing.assert_close(model(x, model.initial_states(2))[0], model(x)[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("changes", "words_in_message"),
    [
        ({"family": "s4"}, "family 's4' is none of"),
        ({"heads": 0}, "heads is 0"),
        ({"range": (0, 2)}, r"range is \(0, 2\)"),
        ({"family": "gla", "householders": 2}, "householders 2 is for the family deltaproduct"),
        ({"family": "mamba", "gated": True}, "gated is a switch of deltaproduct"),
        ({"conv": 1}, "conv is 1"),
        ({"additive": False}, "choose initial learned"),
        ({"family": "transformer", "width": 12, "heads": 4}, "width 12"),
        ({"key_activation": "relu"}, "key_activation is 'relu'"),
        ({"tables": (1, 2)}, "tables is"),
        ({"meaning": (0, 1)}, "meaning has 2 entries"),
        ({"mlp": float("nan")}, "mlp is nan"),
        ({"head_dim": 257}, "at most 256; take more heads"),
        ({"family": "deltanet"}, "DeltaNet is deltaproduct with householders = 1$"),
        (
            {"family": "kda", "options": {"key_heads": 3}},
            "options.key_heads is 3: it must divide heads, which is 2",
        ),
        ({"family": "mamba2", "options": {"groups": 0}}, "options.groups is 0"),
        ({"family": "mamba", "options": {"expand": 1.5}}, "options.expand is 1.5: its type is int"),
        (
            {"family": "mamba", "options": {"rank": 2}},
            "options.rank is unknown to mamba; its options: expand, step_rank",
        ),
        (
            {"family": "rwkv7_like", "strength": "hard_sigmoid"},
            "a switch of deltaproduct, pd_ssm, gla, complex_kda; rwkv7_like",
        ),
        ({"strength": "tanh"}, "strength is 'tanh'"),
    ],
)
def test_a_wrong_configuration_is_one_clear_line(changes: dict[str, Any], words_in_message: str) -> None:
    with pytest.raises(InputError, match=words_in_message) as error:
        replace(SMALL, **changes)
    assert "\n" not in str(error.value)


def test_configurations_go_through_json() -> None:
    for family in FAMILIES:
        c = config(family, mlp=1.5, meaning=(0, 0, 1, -1))
        assert record_of(json.loads(json.dumps(c.as_json())), ModelConfig, "model") == c
    with pytest.raises(InputError, match=r"^model: depth is no entry; did you mean 'width'\?"):
        record_of({"depth": 3}, ModelConfig, "model")
    with pytest.raises(InputError, match="width is '3'"):
        record_of({"width": "3"}, ModelConfig, "model")
    with pytest.raises(InputError, match="range is"):
        record_of({"range": [1]}, ModelConfig, "model")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_folders(tmp_path: Path, dtype: torch.dtype) -> None:
    model = Model(config("deltaproduct"), [4]).to(dtype)
    save_model(tmp_path / "m", model, {"letters": ["a", "b", "c"]})
    again, task = load_model(tmp_path / "m")
    assert task == {"letters": ["a", "b", "c"]}
    assert again.config == model.config
    assert again.seeds == (4,)
    for name, value in model.state_dict().items():
        assert again.state_dict()[name].dtype == value.dtype
        assert torch.equal(again.state_dict()[name], value), name
    save_model(tmp_path / "m", again, task)  # replaced
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m"]


def test_wrong_folders_are_refused(tmp_path: Path) -> None:
    model = Model(config("gla"))
    with pytest.raises(InputError, match="no such folder"):
        load_model(tmp_path / "none")
    with pytest.raises(InputError, match="2 seeds"):
        save_model(tmp_path / "two", Model(config("gla"), [1, 2]), {})
    (tmp_path / "taken").mkdir()
    with pytest.raises(InputError, match="no model folder"):
        save_model(tmp_path / "taken", model, {})
    place = tmp_path / "m"
    save_model(place, model, {})
    weights = place / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[:-100])
    with pytest.raises(InputError, match="not a whole safetensors file"):
        load_model(place)
    weights.write_bytes(b"\x80\x04K\x01.")  # a pickle
    with pytest.raises(InputError, match="not a whole safetensors file"):
        load_model(place)
    weights.write_bytes(whole)
    document = json.loads((place / "config.json").read_text())
    for change, message in (
        ({"format": "other/1"}, "its format is 'other/1'"),
        ({"model": {**document["model"], "width": 32}}, "has shape"),
        ({"model": {**document["model"], "layers": 3}}, "is missing"),
        ({"model": {**document["model"], "layers": 1}}, "is not part of the model"),
    ):
        (place / "config.json").write_text(json.dumps({**document, **change}))
        with pytest.raises(InputError, match=message):
            load_model(place)
    (place / "config.json").write_text("{")
    with pytest.raises(InputError, match=r"config\.json: line 1 is not JSON \("):
        load_model(place)


@pytest.mark.parametrize("name", ["mamba", "rwkv7"])
def test_names_of_earlier_versions_are_read_as_what_they_were(name: str, tmp_path: Path) -> None:
    """Their files have the name without options; since then the options of the family are written out."""
    model = Model(config(f"{name}_like"))
    save_model(tmp_path / "m", model, {})
    path = tmp_path / "m" / "config.json"
    document = json.loads(path.read_text())
    document["model"]["family"] = name
    for older in (False, True):
        if older:
            del document["model"]["options"]  # as before there were options
        path.write_text(json.dumps(document))
        again, _ = load_model(tmp_path / "m")
        assert again.config == model.config
        torch.testing.assert_close(again(words(1, 1, 5))[0], model(words(1, 1, 5))[0])
    save_model(tmp_path / "new", Model(config(name)), {})
    assert load_model(tmp_path / "new")[0].config.family == name
    old = {"task": {"spec": "parity"}, "model": {"family": name, "options": {}}}
    (tmp_path / "settings.json").write_text(json.dumps({"format": "mirrormata-settings/1", **old}))
    assert read_settings(tmp_path / "settings.json")["model"]["family"] == f"{name}_like"
    assert settings_difference(old, read_settings(tmp_path / "settings.json")) is None
