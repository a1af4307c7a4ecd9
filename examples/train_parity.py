"""Train DeltaNet with eigenvalues in [-1, 1] on parity: four seeds, less than a minute on a processor."""

import sys
import tempfile

from mirrormata import train
from mirrormata.models import experiment_from_dict

experiment = experiment_from_dict(
    {
        "task": {"spec": "parity", "protocol": "formal_language_prefix"},
        "model": {"family": "deltaproduct", "range": [-1, 1], "width": 32, "heads": 2, "head_dim": 8,
                  "value_dim": 8, "mlp": 1.0},
        "train": {"steps": 500, "batch": 16, "lengths": [2, 256], "curriculum": 0.5, "lr": 5e-3,
                  "seeds": [0, 1, 2, 3], "threads": 1, "device": "cpu"},
        "eval": {"lengths": [256, 1024], "words": 128},
    },
    "parity",
)  # fmt: skip
with tempfile.TemporaryDirectory() as folder:
    outcome = train(experiment, sys.argv[1] if sys.argv[1:] else folder)

for label, text in outcome.contract.rows():
    print(f"{label:12} {text}")
assert outcome.result is not None
for length, accuracies in outcome.result["accuracy"].items():
    print(f"accuracy at length {length}:", *(f"{x:.3f}" for x in accuracies))
