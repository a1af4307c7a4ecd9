"""What a configuration says of a model's recurrences, held to the libraries' own configurations and to their own recurrences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mirrormata.cli import main
from mirrormata.foundation._errors import InputError
from mirrormata.models import Recurrence, audit
from mirrormata.models.audit._audit import audited_families
from mirrormata.models.audit._conclusions import conclude
from mirrormata.models.audit.families.delta_rule import delta_rule, kda
from mirrormata.models.audit.families.diagonal import GLA, LINEAR
from mirrormata.models.audit.families.rwkv7 import RWKV7
from mirrormata.tests.project.model_configurations import default_configuration

TYPES = sorted(audited_families())
KINDS = {
    "linear_attention": "recurrent",
    "mamba": "recurrent",
    "full_attention": "attention",
    "sliding_attention": "attention",
}


@pytest.mark.parametrize("model_type", TYPES)
def test_the_libraries_own_defaults_are_read(model_type: str) -> None:
    config = default_configuration(model_type)
    found = audit(config)
    inner = config.get("text_config") or config
    listed = inner.get("layer_types") or inner.get("layers_block_type")
    if listed and model_type not in ("mamba", "mamba2", "falcon_mamba"):
        kinds = [
            {"recurrent" if isinstance(part, Recurrence) else part.split(" ")[0] for part in layer}
            for layer in found.layers
        ]
        for kind, own in zip(listed, kinds, strict=True):
            assert kind == "hybrid" or KINDS.get(kind, "no") in own, (kind, own)
            assert kind != "hybrid" or own == {"recurrent", "attention"}
    assert found.recurrences
    assert found.conclusions or model_type == "rwkv7"
    assert set(found.assumed) <= {"qk_norm", "attn"}, found.assumed


@pytest.mark.parametrize("model_type", TYPES)
def test_what_a_configuration_leaves_out_is_the_librarys(model_type: str) -> None:
    """The defaults here are those there: an empty configuration gives the layers of the full one."""
    full = default_configuration(model_type)
    inner = full.get("text_config") or full
    short = {"model_type": model_type, "num_hidden_layers": inner.get("num_hidden_layers")}
    if model_type == "nemotron_h":
        short.pop("num_hidden_layers")
    assert audit(short).layers == audit(full).layers


def random_keys(draw: np.random.Generator, count: int, n: int) -> Any:
    keys = draw.normal(size=(count, n)) * np.exp(draw.normal(size=(count, n)))
    return keys / np.linalg.norm(keys, axis=1, keepdims=True)


def random_fractions(draw: np.random.Generator, *shape: int) -> Any:
    """From 0 to 1, often near the ends."""
    return draw.beta(0.3, 0.3, size=shape)


def transition_of(kind: str, draw: np.random.Generator, n: int, *, negative: bool, factors: int) -> Any:
    one = np.eye(n)
    beta = random_fractions(draw, factors) * (1 + negative)
    A = one
    for b, k in zip(beta, random_keys(draw, factors, n), strict=True):
        A = (one - b * np.outer(k, k)) @ A
    if kind == "kda":
        return A @ np.diag(random_fractions(draw, n))
    if kind == "rwkv7":
        w = np.exp(-np.exp(-0.5) * random_fractions(draw, n))
        k = random_keys(draw, 1, n)[0]
        return np.diag(w) - np.outer(k, random_fractions(draw, n) * k)
    return random_fractions(draw, 1) * A


CASES = [
    ("delta", delta_rule(negative=negative, gated=True, factors=factors), negative, factors)
    for negative in (False, True)
    for factors in (1, 2, 3)
] + [("kda", kda(negative=False), False, 1), ("kda", kda(negative=True), True, 1), ("rwkv7", RWKV7, False, 1)]


@pytest.mark.parametrize(("kind", "recurrence", "negative", "factors"), CASES)
def test_the_eigenvalues_are_where_they_are_said_to_be(
    kind: str, recurrence: Recurrence, negative: bool, factors: int
) -> None:
    draw = np.random.default_rng(factors + 10 * negative)
    least, non_real, negatives = 1.0, 0.0, 0
    for trial in range(2000):
        A = transition_of(kind, draw, 2 + trial % 4, negative=negative, factors=factors)
        found = np.linalg.eigvals(A)
        least, non_real = min(least, found.real.min()), max(non_real, float(np.abs(found.imag).max()))
        negatives = max(negatives, int((found.real < -1e-9).sum()))
        assert np.abs(found).max() <= 1 + 1e-9
    if recurrence.spectrum != "any":
        assert non_real < 1e-6  # real eigenvalues that lie together are computed as pairs
        assert (least > -1e-7) == (recurrence.spectrum == "non-negative"), least
        assert "at most one" not in recurrence.eigenvalues or negatives == 1
        assert kind != "rwkv7" or -0.4549 < least < -0.3
    else:
        assert non_real > (0.5 if negative else 0.002)


def test_one_token_of_flas_own_recurrences_is_the_transition() -> None:
    """With the value 0 and the state I, the state after a token is A."""
    from fla.ops.gated_delta_rule.naive import naive_recurrent_gated_delta_rule  # type: ignore[import-untyped]
    from fla.ops.kda.naive import naive_recurrent_kda  # type: ignore[import-untyped]

    torch.manual_seed(0)
    n = 5
    k = torch.nn.functional.normalize(torch.randn(1, 1, 1, n), dim=-1)
    q, v, beta = torch.zeros_like(k), torch.zeros_like(k), torch.tensor([[[0.7]]])
    state = torch.eye(n)[None, None]
    one = torch.eye(n) - 0.7 * k.flatten().outer(k.flatten())
    g = torch.tensor([[[-0.3]]])
    _, after = naive_recurrent_gated_delta_rule(
        q=q, k=k, v=v, beta=beta, g=g, initial_state=state, output_final_state=True
    )
    torch.testing.assert_close(after[0, 0].float(), torch.tensor(-0.3).exp() * one, rtol=1e-5, atol=1e-6)
    gates = -torch.rand(1, 1, 1, n)
    _, after = naive_recurrent_kda(
        q=q, k=k, v=v, g=gates, beta=beta, initial_state=state, output_final_state=True
    )
    torch.testing.assert_close(after[0, 0].float(), one @ gates.flatten().exp().diag(), rtol=1e-5, atol=1e-6)


def claims_of(*recurrences: Recurrence) -> set[str]:
    return {conclusion.claim for conclusion in conclude(recurrences)}


def test_what_follows_for_whom() -> None:
    assert claims_of() == set()
    assert claims_of(GLA, LINEAR) == {"G.T1", "S.star-free", "PT.R1"}
    assert claims_of(delta_rule(negative=False)) == {"G.T1", "PT.R1", "own.R4"}
    assert claims_of(kda(negative=False), GLA) == {"G.T1", "own.R4"}  # KDA is not symmetric
    assert claims_of(delta_rule(negative=False, factors=2)) == {"G.T1", "own.R4"}
    assert claims_of(delta_rule(negative=False, factors=3)) == set()  # three factors may turn
    assert claims_of(delta_rule(negative=True)) == {"G.T2", "PT.R2", "H.open-beta", "G.T3"}
    assert claims_of(delta_rule(negative=True), GLA) == {"PT.R2", "H.open-beta", "G.T3", "own.blocks"}
    assert claims_of(delta_rule(negative=True, factors=2)) == {"H.open-beta", "G.T3"}
    assert claims_of(RWKV7) == {"G.T2"}
    assert claims_of(RWKV7, RWKV7) == set()


def test_every_claim_is_in_the_registry() -> None:
    from mirrormata.theory.verifying._registry import load_claims

    known = {entry.claim.id for entry in load_claims(())}
    for recurrence in (
        GLA,
        kda(negative=False),
        delta_rule(negative=True),
        delta_rule(negative=True, factors=2),
        RWKV7,
    ):
        assert claims_of(recurrence) | claims_of(recurrence, recurrence) <= known


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({}, "it has no model_type"),
        ({"model_type": "llama"}, "the model type 'llama' is not in the table"),
        ({"model_type": {"a": 1}}, r"the model type \{'a': 1\} is not in the table"),
        ({"model_type": ["gla"]}, r"the model type \['gla'\] is not in the table"),
        ({"model_type": "qwen3_nxt"}, "did you mean qwen3_next?"),
        ({"model_type": "gla"}, "num_hidden_layers is missing"),
        ({"model_type": "gla", "num_hidden_layers": "3"}, "num_hidden_layers is '3': its type is int"),
        ({"model_type": "gla", "num_hidden_layers": True}, "num_hidden_layers is True: its type is int"),
        ({"model_type": "gla", "num_hidden_layers": 10**9}, "a number from 0 to 100,000"),
        ({"model_type": "gla", "num_hidden_layers": 2, "attn": {"layers": "0"}}, "`layers` lists numbers"),
        ({"model_type": "delta_net", "num_hidden_layers": 2, "allow_neg_eigval": "false"}, "its type is bool"),
        ({"model_type": "qwen3_next", "num_hidden_layers": 2, "layer_types": ["odd"]}, r"layer_types\[0\] is 'odd'"),
        ({"model_type": "qwen3_next", "num_hidden_layers": 2, "layer_types": [["x"], {}]}, r"layer_types\[0\] is \['x'\]"),
        ({"model_type": "qwen3_next", "num_hidden_layers": 4, "layer_types": ["linear_attention"] * 3}, "num_hidden_layers is 4, and 3 layers have a type"),
        ({"model_type": "bamba", "num_hidden_layers": 4, "attn_layer_indices": ["1"]}, "a list of numbers from 0 to 3"),
        ({"model_type": "kimi_linear", "num_hidden_layers": 4, "linear_attn_config": {"full_attn_layers": 4, "kda_layers": []}}, "a list of numbers from 1 to 4"),
        ({"model_type": "kimi_linear", "num_hidden_layers": 4, "linear_attn_config": {"full_attn_layers": [4], "kda_layers": [1]}}, "name each of the layers 1 to 4 once"),
        ({"model_type": "delta_net", "num_hidden_layers": 2, "qk_norm": "nothing"}, "qk_norm is 'nothing': it is l2 or sum"),
        ({"model_type": "gla", "num_hidden_layers": 2, "clamp_min": 0.5}, "clamp_min is 0.5"),
        ({"model_type": "kda", "num_hidden_layers": 2, "lower_bound": 3.0}, "lower_bound is 3"),
        ({"model_type": "qwen3_next", "num_hidden_layers": 2, "full_attention_interval": 0}, "a number from 1"),
        ({"model_type": "gated_deltaproduct", "num_hidden_layers": 2, "num_householder": 0}, "a number from 1"),
    ],
)  # fmt: skip
def test_wrong_configurations_are_one_line(config: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said) as error:
        audit(config)
    assert "\n" not in str(error.value)
    (tmp_path / "config.json").write_text(json.dumps(config))
    for place in (tmp_path, str(tmp_path / "config.json")):
        with pytest.raises(InputError, match=said):
            audit(place)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "kimi_linear", "num_hidden_layers": 9}))
    main_and_leave(["audit", str(tmp_path)])
    out = " ".join(capsys.readouterr().out.split())
    assert out.startswith(
        "kimi_linear: 7 of 9 layers are recurrent (Kimi delta attention, eigenvalues real, from 0 to 1)."
    )
    assert "cannot: no parity" in out
    assert "not covered: attention layers" in out
    main_and_leave(["audit", str(tmp_path), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert [len(layer) for layer in found["layers"]] == [1] * 9
    assert found["layers"][4] == ["attention"]
    assert found["conclusions"][0]["claim"] == "G.T1"


def main_and_leave(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert not stop.value.code


def test_keys_whose_values_sum_to_one_are_no_longer_than_one() -> None:
    same = [
        audit({"model_type": "delta_net", "num_hidden_layers": 2, "qk_norm": norm}).to_json()
        for norm in ("l2", "sum")
    ]
    assert json.dumps(same[0]["layers"]) == json.dumps(same[1]["layers"])


def test_lists_of_layers_are_read_where_both_are_there() -> None:
    def kinds(lists: dict[str, list[int]]) -> list[bool]:
        given = {"model_type": "kimi_linear", "num_hidden_layers": 8, "linear_attn_config": lists}
        return [layer == ["attention"] for layer in audit(given).to_json()["layers"]]

    alone = kinds({"full_attn_layers": [2, 3]})
    both = kinds({"full_attn_layers": [2, 3], "kda_layers": [1, 4, 5, 6, 7, 8]})
    assert [i for i, attention in enumerate(alone) if attention] == [4]
    assert [i for i, attention in enumerate(both) if attention] == [1, 2]
