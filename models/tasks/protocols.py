"""Set-ups of the papers: lengths, labels, supervision, and the numbers they print, for comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .contract import Fidelity
from .sampling import Labels, Words


@dataclass(frozen=True)
class Protocol:
    """Defaults of a task. Lengths are those of words; a test is a length, or a span whose lengths count alike."""

    train_lengths: tuple[int, int]
    test_lengths: tuple[int | tuple[int, int], ...]
    labels: Labels = "state"
    words: Words = "uniform"
    supervision: Literal["per_prefix", "last"] = "per_prefix"
    bos: bool = True
    fidelity: Fidelity = "reconstruction"
    source: str = ""


PROTOCOLS = {
    "word_problem": Protocol((128, 128), (128, 256, 512), source="arXiv 2502.10297, word problems"),
    "formal_language": Protocol(
        (3, 40), ((40, 256),), labels="output", bos=False, source="arXiv 2411.12537, formal languages"
    ),
    "error_control": Protocol((1, 60), (60, 100, 1000), source="arXiv 2605.07755, error control"),
}
RECALL = Protocol((64, 64), (64, 128, 256), bos=False)
"""Lengths of recall; the rest is in its contract."""
LANGUAGE = Protocol(
    (512, 512), ((1, 512), (513, 1024), (1025, 2048), (2049, 4096)), bos=False, fidelity="extension"
)
"""Lengths of text: bits per byte by position, to eight times the training length."""
_OWN = Protocol((32, 32), (32, 64, 128), fidelity="extension")

SCALED_ACCURACY = {
    "parity": {
        "transformer": 0.022, "mlstm": 0.087, "slstm": 1.0, "mamba[0,1]": 0.0, "mamba[-1,1]": 1.0,
        "deltanet[0,1]": 0.017, "deltanet[-1,1]": 1.0,
    },
    "mod_arith:5": {
        "transformer": 0.031, "mlstm": 0.040, "slstm": 0.787, "mamba[0,1]": 0.095, "mamba[-1,1]": 0.241,
        "deltanet[0,1]": 0.314, "deltanet[-1,1]": 0.971,
    },
}  # fmt: skip
"""Published for `formal_language` (arXiv 2411.12537, its table of formal languages)."""


def published(name: str | None, spec: str) -> Protocol:
    """The protocol of that name for an automaton; None: per-prefix states, our own lengths."""
    if name is None:
        return _OWN
    protocol = PROTOCOLS[name]
    if name == "formal_language" and spec.startswith("mod_arith"):
        return Protocol(
            protocol.train_lengths, protocol.test_lengths, "output", "live", bos=False, source=protocol.source
        )
    if spec.endswith("_tokens]"):
        return Protocol(
            protocol.train_lengths, protocol.test_lengths, protocol.labels, "spaced", source=protocol.source
        )
    return protocol
