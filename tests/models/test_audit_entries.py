"""Layers are those of transformers' own configuration classes, and slips in entries are named."""

from __future__ import annotations

from typing import Any

import pytest

from mirrormata.foundation._errors import InputError
from mirrormata.models.audit._audit import audit, audited_families
from mirrormata.models.audit._recurrence import Recurrence


def kinds(config: dict[str, Any]) -> list[str]:
    signs = []
    for layer in audit(config).layers:
        if isinstance(layer[0], Recurrence):
            signs.append("hybrid" if len(layer) > 1 else "linear_attention")
        else:
            signs.append("sliding_attention" if "window" in layer[0] else "full_attention")
    return signs


CASES: list[tuple[str, dict[str, Any]]] = [
    ("zamba2", {"num_hidden_layers": 54}),
    ("zamba2", {"num_hidden_layers": 2}),
    ("zamba2", {"num_hidden_layers": 81}),
    ("zamba2", {"num_hidden_layers": 2, "layer_types": ["mamba", "hybrid"]}),
    ("zamba", {"num_hidden_layers": 76}),
    ("zamba", {"num_hidden_layers": 2}),
    ("zamba", {"num_hidden_layers": 2, "layer_types": ["mamba", "hybrid"]}),
    ("recurrent_gemma", {"num_hidden_layers": 26}),
    ("recurrent_gemma", {"num_hidden_layers": 400}),
    ("recurrent_gemma", {"num_hidden_layers": 26, "block_types": []}),
    ("recurrent_gemma", {"num_hidden_layers": 26, "block_types": ["attention"]}),
    ("recurrent_gemma", {"num_hidden_layers": 2, "layers_block_type": ["recurrent", "recurrent"]}),
    ("granitemoehybrid", {"num_hidden_layers": 4}),
    ("granitemoehybrid", {"num_hidden_layers": 2, "layer_types": ["mamba", "attention"]}),
    ("granitemoehybrid", {"num_hidden_layers": 2, "layers_block_type": ["mamba", "attention"]}),
    ("granitemoehybrid", {"num_hidden_layers": 4, "layer_types": ["mamba", "attention"]}),
    ("jamba", {"num_hidden_layers": 2, "layer_types": ["mamba", "attention"]}),
    ("bamba", {"num_hidden_layers": 2, "layer_types": ["mamba", "attention"]}),
]


@pytest.mark.parametrize(("kind", "entries"), CASES)
def test_layers_are_those_of_transformers(kind: str, entries: dict[str, Any]) -> None:
    transformers = pytest.importorskip("transformers")
    try:
        theirs = transformers.CONFIG_MAPPING[kind](**entries)
    except Exception:  # its own validation has an error class of its own
        with pytest.raises(InputError):
            audit({"model_type": kind, **entries})
        return
    assert kinds({"model_type": kind, **entries}) == list(theirs.layers_block_type)


def test_slips_are_named(call: Any, tmp_path: Any) -> None:
    config = {"model_type": "delta_net", "num_hidden_layers": 2, "allow_neg_eigvals": True}
    assert audit(config).to_json()["slips"] == {"allow_neg_eigvals": "allow_neg_eigval"}
    assert not audit({**config, "allow_neg_eigval": True}).slips
    (tmp_path / "config.json").write_text(
        '{"model_type": "delta_net", "num_hidden_layers": 2, "allow_neg_eigvals": true}'
    )
    found = call("audit", str(tmp_path / "config.json"))
    assert found.status == 0
    assert "did you mean allow_neg_eigval?" in " ".join(found.out.split())
    with pytest.raises(InputError, match="num_hidden_layer is no entry: did you mean num_hidden_layers"):
        audit({"model_type": "delta_net", "num_hidden_layer": 2})


@pytest.mark.parametrize("kind", sorted(audited_families()))
def test_no_entry_of_a_library_is_called_a_slip(kind: str) -> None:
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("fla.models")
    if kind not in transformers.CONFIG_MAPPING:
        pytest.skip("no configuration class here")
    from mirrormata.models.audit._audit import _slips

    entries = transformers.CONFIG_MAPPING[kind]().to_dict()
    for absent in (None, *audited_families()[kind].entries):
        assert not _slips(audited_families()[kind], {k: v for k, v in entries.items() if k != absent})
