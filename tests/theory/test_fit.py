"""`fit`: each condition decided anew from the figures, bounds only under their hypotheses, and what a plan says of the same automaton."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from mirrormata.foundation._errors import InputError
from mirrormata.models._architecture import read_architecture
from mirrormata.theory.planning._architecture import Architecture, architecture_of
from mirrormata.theory.planning._fit import fit
from mirrormata.theory.planning._plan import plan

LARGE: dict[str, Any] = {
    "layers": 8, "heads": 64, "head_dim": 256, "value_dim": 256, "householders": 64, "gated": False,
    "range": (-1, 1), "conv": 0,
}  # fmt: skip
SPECS = ("parity", "mod:5", "S3", "S5", "T3", "tomita:4", "even_pairs", "boxes:3,2", "dyck1:3", "flipflop")


@pytest.mark.parametrize("spec", SPECS)
def test_a_large_architecture_holds_all_and_each_entry_can_be_too_small(spec: str) -> None:
    made = fit(spec, Architecture(**LARGE))
    assert made.verdict == "fits"
    assert all(c.met for c in made.conditions)
    assert made.offer is not None
    for name, figure in (
        ("layers", made.offer.found.depth),
        ("householders", made.offer.found.householders or 0),
        ("head_dim", made.offer.found.dim),
        ("heads", made.offer.found.heads),
    ):
        if figure > 1:
            smaller = fit(spec, Architecture(**{**LARGE, name: figure - 1}))
            other = smaller.offer
            # another construction may fit, and then it is within the smaller figure; else this one is missed
            if smaller.verdict == "fits":
                assert other is not None
                reached = {"layers": other.found.depth, "householders": other.found.householders,
                           "head_dim": other.found.dim, "heads": other.found.heads}  # fmt: skip
                value = reached[name]
                assert value is not None
                assert value <= figure - 1
            else:
                assert any(c.met is False for c in smaller.conditions)


@pytest.mark.parametrize("spec", ["mod:5", "T3", "even_pairs"])
def test_the_verdict_is_that_of_the_offers(spec: str) -> None:
    """Over a grid of architectures: it fits exactly where an offer of plain factors is within all figures."""
    offers = [o.found for o in plan(spec).offers]
    plain = [f for f in offers if f.theorem.split(" + ")[0] not in ("DP.T6", "G.A3", "DP.T2")]
    for layers, factors, dim, conv in itertools.product((1, 2), (1, 2, 6), (2, 6), (0, 2)):
        shape = Architecture(
            **{**LARGE, "layers": layers, "householders": factors, "head_dim": dim, "conv": conv}
        )
        wanted = any(
            f.depth <= layers
            and f.householders is not None
            and f.householders <= factors
            and f.dim <= dim
            # it reads the token before, by a convolution; one of its forms has gates
            and (f.theorem != "own.lookback" or (conv == 2 and "gate" not in f.construction))
            for f in plain
        )
        made = fit(spec, shape)
        assert (made.verdict == "fits") == wanted, (spec, layers, factors, dim, conv)
        if made.verdict == "excluded":
            assert made.excluded_by
            assert not wanted


def test_bounds_exclude_under_their_hypotheses_alone() -> None:
    small = {**LARGE, "layers": 1, "householders": 3}
    made = fit("S5", Architecture(**small))
    assert made.verdict == "excluded"
    assert [b.reason for b in made.excluded_by] == ["CK.S5"]
    # two layers, a convolution, and keys of any length: the bound says nothing of them
    for changed in ({"layers": 2}, {"conv": 4}, {"unit_keys": False}):
        other = fit("S5", Architecture(**{**small, **changed}))
        assert other.verdict != "excluded", changed
    positive = fit("parity", Architecture(**{**LARGE, "range": (0, 1)}))
    assert (positive.verdict, [b.reason for b in positive.excluded_by]) == ("excluded", ["H.openβ"])
    assert fit("flipflop", Architecture(**{**LARGE, "range": (0, 1)})).verdict == "fits"


def test_one_vector_a_state_is_a_remark_and_no_verdict() -> None:
    made = fit("even_pairs", Architecture(**{**LARGE, "layers": 1}))
    assert made.verdict == "not decided"
    assert any("impossible with one vector a state: layers ≥ 2 (own.LMI)" in text for text in made.remarks)
    tiny = fit("dyck1:3", Architecture(**{**LARGE, "layers": 1, "heads": 1, "head_dim": 2, "value_dim": 1}))
    assert tiny.verdict == "not decided"
    assert any("of 2 numbers: state_size ≥ 4 (PD.N-1)" in text for text in tiny.remarks)


def test_what_is_not_said_is_asked_for() -> None:
    made = fit("mod:5", Architecture(layers=1, householders=2))
    assert made.verdict == "not decided"
    assert made.remarks[0] == "not said, and needed to decide: head_dim, range, heads, value_dim, gated, conv"
    said = {c.name: c.met for c in made.conditions}
    # every architecture has at least one head, and a head one column
    assert (said["head_dim"], said["heads"], said["value_dim"]) == (None, True, True)
    everything = fit("mod:5", Architecture(**{**LARGE, "layers": 1, "householders": 1}))
    assert not any("not said" in remark for remark in everything.remarks)


@pytest.mark.parametrize("entry", sorted(LARGE))
def test_each_entry_that_is_not_said_is_named(entry: str) -> None:
    """Where an architecture is too small for all that is on offer, whatever else might hold the automaton is asked for."""
    small = {**LARGE, "layers": 1, "householders": 1, "conv": 4}
    made = fit("even_pairs", Architecture(**{**small, entry: None}))
    assert made.verdict == "not decided"
    assert made.remarks[0] == f"not said, and needed to decide: {entry}"


def test_one_state_fits_whatever_is_not_said() -> None:
    for shape in (Architecture(layers=1), Architecture(), Architecture(heads=3, conv=4)):
        made = fit("mod:1", shape)
        assert made.verdict == "fits"
        assert all(c.met for c in made.conditions)


@pytest.mark.parametrize("config", ["", "  "])
def test_an_empty_configuration_is_named(config: str) -> None:
    with pytest.raises(
        InputError, match=f"`fit` '{config}' is empty: give a configuration, or entries such as"
    ):
        read_architecture(config)


def test_the_arithmetic_is_a_condition() -> None:
    one = {**LARGE, "layers": 1, "heads": 1, "householders": 2, "head_dim": 2}
    assert fit("mod:60", Architecture(**one)).verdict == "fits"
    rounded = fit("mod:60", Architecture(**one, dtype="bf16"))
    assert rounded.verdict == "not decided"
    (condition,) = [c for c in rounded.conditions if c.name == "dtype"]
    assert condition.met is False
    assert "right to token" in condition.given
    assert (
        fit("mod:60", Architecture(**LARGE, dtype="bf16")).verdict == "fits"
    )  # in integers, in more dimensions


def test_what_is_right_by_rounding_needs_its_dtype() -> None:
    """own.decay holds the last letters in one number, in a dtype, and not in exact arithmetic."""
    small = {**LARGE, "layers": 1, "householders": 1, "head_dim": 1}
    exact = fit("regex:(a|b)*a(a|b)", Architecture(**small))
    assert exact.verdict == "not decided"
    assert exact.remarks[0] == "not said, and needed to decide: dtype"
    rounded = fit("regex:(a|b)*a(a|b)", Architecture(**small, dtype="bf16"))
    assert rounded.verdict == "fits"
    assert rounded.offer is not None
    assert rounded.offer.found.theorem == "own.decay"


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        ({"hads": 2}, "'hads' is no entry of an architecture; did you mean 'heads'"),
        ({"n_h": 2, "householders": 2}, "'householders' is said twice"),
        ({"layers": 0}, "layers 0: it must be a positive whole number"),
        ({"range": [0, 2]}, "range [0, 2]: it is [0, 1] or [-1, 1]"),
        ({"range": 3}, "range 3: it is [0, 1] or [-1, 1]"),
        ({"gated": 1}, "gated"),
        ({"dtype": "float8"}, "dtype float8"),
    ],
)
def test_wrong_entries(entries: dict[str, Any], text: str) -> None:
    with pytest.raises(InputError) as refusal:
        architecture_of(entries, "a.toml")
    assert str(refusal.value).startswith("a.toml: ")
    assert text in str(refusal.value)


def test_files_and_options_say_the_same(tmp_path: Path) -> None:
    wanted = Architecture(
        layers=2, heads=4, head_dim=16, value_dim=32, householders=2, gated=True, range=(-1, 1), conv=4, dtype="bf16"
    )  # fmt: skip
    toml, plain = tmp_path / "a.toml", tmp_path / "a.json"
    toml.write_text(
        'layers = 2\nheads = 4\nhead_dim = 16\nvalue_dim = 32\nn_h = 2\ngated = true\nrange = [-1, 1]\nconv = 4\ndtype = "bf16"\n'
    )
    plain.write_text(json.dumps({k: v for k, v in wanted.to_json().items() if k != "name"}))
    options = "layers=2, heads=4,head_dim=16,value_dim=32,n_h=2,gated=yes,range=[-1, 1],conv=4,dtype=bf16"
    for source in (str(toml), str(plain), options):
        assert read_architecture(source).to_json() | {"name": ""} == wanted.to_json() | {"name": ""}


def test_an_fla_configuration_is_read(tmp_path: Path) -> None:
    config = {"model_type": "gated_deltaproduct", "hidden_size": 64, "num_heads": 2, "num_hidden_layers": 3,
              "head_dim": 16, "expand_v": 2.0, "num_householder": 3, "allow_neg_eigval": True,
              "use_forget_gate": True, "use_short_conv": False, "torch_dtype": "bfloat16"}  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(config))
    for source in (tmp_path, tmp_path / "config.json"):
        found = read_architecture(str(source))
        assert found == Architecture(
            layers=3, heads=2, head_dim=16, value_dim=32, householders=3, gated=True, range=(-1, 1), conv=0,
            dtype="bf16", name=str(tmp_path / "config.json"),
        )  # fmt: skip
    (tmp_path / "config.json").write_text(
        json.dumps({"model_type": "delta_net", "hidden_size": 64, "num_heads": 4})
    )
    found = read_architecture(str(tmp_path))
    assert (found.householders, found.head_dim, found.value_dim, found.range, found.conv) == (
        1,
        16,
        16,
        (0, 1),
        4,
    )
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "llama"}))
    with pytest.raises(InputError, match="model_type is 'llama'"):
        read_architecture(str(tmp_path))


def test_our_own_configurations_are_read(tmp_path: Path) -> None:
    model = {
        "family": "deltaproduct",
        "layers": 2,
        "heads": 3,
        "head_dim": 8,
        "value_dim": 4,
        "householders": 2,
    }
    (tmp_path / "config.json").write_text(
        json.dumps({"format": "mirrormata-model/1", "seed": 0, "model": model})
    )
    found = read_architecture(str(tmp_path))
    assert (found.layers, found.heads, found.head_dim, found.value_dim, found.householders) == (2, 3, 8, 4, 2)
    assert (found.range, found.gated, found.conv, found.unit_keys) == ((-1, 1), False, 0, True)
    experiment = tmp_path / "experiment.toml"
    experiment.write_text(
        '[model]\nfamily = "deltaproduct"\nlayers = 1\nrange = [0, 1]\n[task]\nspec = "parity"\n'
    )
    assert read_architecture(str(experiment)).range == (0, 1)
    experiment.write_text('[model]\nfamily = "gla"\n')
    with pytest.raises(InputError, match="its family is gla"):
        read_architecture(str(experiment))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing.toml", "no such file or folder"),
        ("layers=1,heads", "'heads' has no value"),
        ("layers=1,layers=2", "'layers' is said twice"),
    ],
)
def test_unreadable_configurations(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_architecture(text)


def test_the_command(call: Any, tmp_path: Path) -> None:
    options = "layers=1,heads=4,head_dim=64,value_dim=64,n_h=2,gated=no,range=[-1,1],conv=0"
    held = call("plan", "mod:5", "--fit", options, "--json")
    assert (held.status, held.json["verdict"], held.json["construction"]["theorem"]) == (0, "fits", "DP.T4")
    not_held = call("plan", "S5", "--fit", options, "--json")
    assert (not_held.status, not_held.json["verdict"]) == (1, "excluded")
    assert not_held.json["excluded_by"][0]["reason"] == "CK.S5"
    shown = call("plan", "even_pairs", "--fit", options)
    assert shown.status == 1
    assert "not decided" in shown.out
    assert "impossible with one vector a state" in " ".join(shown.out.split())
    toml = tmp_path / "wrong.toml"
    toml.write_text("layers = \n")
    assert "not TOML" in call("plan", "S3", "--fit", str(toml)).error
    assert (
        "leave --bounds out"
        in call("plan", "S3", "--fit", options, "--bounds", str(tmp_path / "b.json")).error
    )
