"""The configurations that flash-linear-attention and transformers ship as defaults."""

from __future__ import annotations

import importlib
import json
from typing import Any

from mirrormata.benchmarks.machine import hide_root


def default_configuration(model_type: str) -> dict[str, Any]:
    """The default configuration of a model type, as it would be written to `config.json`.

    Args:
        model_type: a model type of one of the libraries.
    """
    hide_root()
    importlib.import_module("fla.models")  # it registers its types in transformers
    found = importlib.import_module("transformers").AutoConfig.for_model(model_type).to_dict()
    plain: dict[str, Any] = json.loads(json.dumps(found, default=str))
    return plain
