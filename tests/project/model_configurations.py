"""The configurations that flash-linear-attention and transformers ship as defaults."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def default_configuration(model_type: str) -> dict[str, Any]:
    """The default configuration of a model type, as it would be written to `config.json`.

    Args:
        model_type: a model type of one of the libraries.
    """
    before = list(sys.path)
    # transformers looks for a package called kernels, and must not find the folder of that name in the root
    sys.path[:] = [path for path in before if Path(path or ".").resolve() != ROOT]
    try:
        importlib.import_module("fla.models")  # it registers its types in transformers
        found = importlib.import_module("transformers").AutoConfig.for_model(model_type).to_dict()
    finally:
        sys.path[:] = before
    plain: dict[str, Any] = json.loads(json.dumps(found, default=str))
    return plain
