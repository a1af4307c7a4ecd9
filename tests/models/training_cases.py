"""Small trainings for tests: seconds on one thread."""

from __future__ import annotations

from typing import Any

from mirrormata.models.training._experiment import Experiment, experiment_from_dict


def settings(**changes: Any) -> dict[str, Any]:
    """`section__entry=value` replaces an entry."""
    data: dict[str, Any] = {
        "task": {"spec": "S3", "protocol": "word_problem"},
        "model": {"width": 16, "heads": 2, "head_dim": 8, "value_dim": 8, "mlp": 1.0},
        "train": {
            "steps": 12, "batch": 6, "lengths": [4, 9], "seeds": [0, 1], "threads": 1, "device": "cpu",
            "log_every": 1, "checkpoint_every": 4, "deterministic": True,
        },
        "eval": {"lengths": [8, [5, 12]], "words": 16},
    }  # fmt: skip
    for name, value in changes.items():
        section, entry = name.split("__")
        data[section][entry] = value
    return data


def experiment(**changes: Any) -> Experiment:
    """The experiment of `settings`."""
    return experiment_from_dict(settings(**changes), "test")
