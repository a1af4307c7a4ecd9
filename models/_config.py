"""`ModelConfig`: all that fixes the shape of a model; every family of recurrences has the same switches."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from ..foundation._errors import InputError

FAMILIES = (
    "deltaproduct", "mamba", "gla", "rwkv7", "complex_kda", "matrix", "transformer", "lstm", "slstm", "mlstm",
)  # fmt: skip
"""DeltaNet is `deltaproduct` with one factor a token."""
LINEAR = FAMILIES[:6]
KEYED = ("deltaproduct", "gla", "rwkv7", "complex_kda")
"""Families whose state is a matrix written by keys and values."""
HARD = ("deltaproduct", "gla", "complex_kda")
"""Families whose eigenvalues are fractions of their range, which `hard_sigmoid` can take to its ends."""
WIDEST = 256
"""Rows and columns of a state that the kernels take."""
MOST = 2**30
"""Of anything that is counted; far below it a model is larger than any memory."""

Range = tuple[int, int]


@dataclass(frozen=True)
class ModelConfig:
    """A stack of blocks (norm, mixer, norm, gated MLP) between an embedding and a read-out.

    Attributes:
        family: of the mixer, one of `FAMILIES`.
        letters: tokens that are read. classes: outputs to choose from.
        width: of the residual stream. layers, heads: how many.
        head_dim: K, the state's rows (Mamba: channels of a head). value_dim: V, its columns (Mamba: states a channel).
        householders: n_h, factors of a token (deltaproduct).
        range: of the transitions' eigenvalues: (0, 1) or (-1, 1).
        gated: multiply the state by a gate in (0, 1) before the factors (deltaproduct).
        additive: whether tokens are added to the state; without, only transitions act, so `initial` must be learned.
        conv: width of the short causal convolution in front of queries, keys and values; 0 for none.
        key_activation: `silu` (makes most entries of keys positive) or `none`.
        key_norm: divide queries and keys by their norms. Without it β ‖k‖² has no bound: for constructed weights.
        strength: of β, decays and the gate: `sigmoid` scaled to the range; `hard_sigmoid`, which reaches the range's ends at
            finite weights, so that reflections can be exact and nothing need be forgotten; `direct`, the projection itself.
        output_gate, output_norm: of the mixer's outputs.
        initial: `zero` or `learned` states before the first token (linear families).
        norm: RMSNorm in front of the mixers, the MLPs and the read-out. residual: add the block's input.
        mlp: hidden width of the gated MLP as a multiple of `width`; 0 for none.
        tables: sizes of the `TableReadOut` between constructed layers, in place of MLPs; empty for none.
        meaning: the label that each class stands for, -1 for none, where several classes may be one label; empty where
            class i is label i.
    """

    family: str = "deltaproduct"
    letters: int = 2
    classes: int = 2
    width: int = 128
    layers: int = 1
    heads: int = 4
    head_dim: int = 32
    value_dim: int = 32
    householders: int = 1
    range: Range = (-1, 1)
    gated: bool = False
    additive: bool = True
    conv: int = 0
    key_activation: Literal["silu", "none"] = "silu"
    key_norm: bool = True
    strength: Literal["sigmoid", "hard_sigmoid", "direct"] = "sigmoid"
    output_gate: bool = False
    output_norm: bool = True
    initial: Literal["zero", "learned"] = "zero"
    norm: bool = True
    residual: bool = True
    mlp: float = 2.0
    tables: tuple[int, ...] = ()
    meaning: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        problems = list(self._problems())
        if problems:
            raise InputError("model: " + "; ".join(problems))

    @property
    def states_written_out(self) -> int:
        """Numbers of states or transitions that a layer writes out for every token in plain torch; 0 where nothing does."""
        columns = {"mamba": self.value_dim, "matrix": self.head_dim}.get(self.family, 0)
        return self.heads * self.head_dim * columns

    def _problems(self) -> Any:
        if self.family not in FAMILIES:
            line = f"family {self.family!r} is none of {', '.join(FAMILIES)}"
            gated = ", gated = true" if "gated" in self.family.lower() else ""
            deltanet = "deltanet" in self.family.lower().replace("_", "").replace("-", "")
            yield line + (f"; DeltaNet is deltaproduct with householders = 1{gated}" if deltanet else "")
            return
        for name in (
            "letters",
            "classes",
            "width",
            "layers",
            "heads",
            "head_dim",
            "value_dim",
            "householders",
        ):
            value = getattr(self, name)
            if type(value) is not int or not 1 <= value <= MOST:
                yield f"{name} is {value!r}, a whole number from 1 to {MOST} is needed"
        if self.range not in {(0, 1), (-1, 1)}:
            yield f"range is {self.range}: choose (0, 1) or (-1, 1)"
        if self.householders != 1 and self.family != "deltaproduct":
            yield f"householders {self.householders} is for the family deltaproduct; {self.family} has none"
        if self.gated and self.family != "deltaproduct":
            yield f"gated is a switch of deltaproduct; {self.family} has its own gates"
        if not (self.conv == 0 or 2 <= self.conv <= MOST):
            yield f"conv is {self.conv}: give its width, at least 2 and at most {MOST}, or 0 for none"
        if self.tables and (
            len(self.tables) != 6 or any(type(n) is not int or not 1 <= n <= MOST for n in self.tables)
        ):
            yield f"tables is {self.tables}: six whole numbers from 1 to {MOST}, or nothing"
        if self.tables and (self.mlp or self.residual):
            yield "tables take the place of MLPs and of the residual stream: mlp 0 and residual false go with them"
        if self.meaning and (
            len(self.meaning) != self.classes
            or any(type(m) is not int or not -1 <= m < MOST for m in self.meaning)
        ):
            yield (
                f"meaning has {len(self.meaning)} entries: a label from -1, below {MOST}, for each of the {self.classes} "
                "classes is needed"
            )
        if not 0 <= self.mlp <= MOST:
            yield f"mlp is {self.mlp}, which must not be negative, and at most {MOST}"
        widest = max(self.head_dim, self.value_dim)
        if self.family in ("deltaproduct", "rwkv7", "complex_kda") and widest > WIDEST:
            yield f"head_dim {self.head_dim}, value_dim {self.value_dim}: at most {WIDEST}; take more heads"
        if not self.additive and self.initial == "zero":
            yield "additive false leaves a zero state zero: choose initial learned"
        if self.family == "transformer" and self.width % (2 * self.heads):
            yield f"width {self.width} is no multiple of 2 · heads = {2 * self.heads}, as attention needs"
        for name, choices in (
            ("key_activation", ("silu", "none")),
            ("strength", ("sigmoid", "hard_sigmoid", "direct")),
            ("initial", ("zero", "learned")),
        ):
            if getattr(self, name) not in choices:
                yield f"{name} is {getattr(self, name)!r}: choose {' or '.join(choices)}"
        if self.strength == "hard_sigmoid" and self.family not in HARD:
            yield f"strength hard_sigmoid is a switch of {', '.join(HARD)}; {self.family} has another form"

    @property
    def labels(self) -> int:
        """Labels that the classes stand for."""
        return max(self.meaning) + 1 if self.meaning else self.classes

    def as_json(self) -> dict[str, Any]:
        """For `config.json`."""
        return {
            **asdict(self),
            "range": list(self.range),
            "tables": list(self.tables),
            "meaning": list(self.meaning),
        }


def config_from_json(data: Any, name: str = "model") -> ModelConfig:
    """The inverse of `as_json`; `InputError` for unknown, missing or wrong entries."""
    if not isinstance(data, dict):
        raise InputError(f"{name}: the model's configuration is not an object")
    kinds = {f.name: type(getattr(_DEFAULT, f.name)) for f in fields(ModelConfig)}
    if unknown := sorted(set(data) - set(kinds)):
        raise InputError(f"{name}: unknown entry {unknown[0]!r}; entries are {', '.join(kinds)}")
    values = dict(data)
    for key, value in data.items():
        if key == "range":
            if not (isinstance(value, list) and len(value) == 2 and all(type(x) is int for x in value)):
                raise InputError(f"{name}: range is {value!r}: write [0, 1] or [-1, 1]")
            values[key] = tuple(value)
        elif key in {"tables", "meaning"} and isinstance(value, list):
            values[key] = tuple(value)
        elif kinds[key] is float:
            if type(value) not in {int, float} or not abs(value) < float("inf"):
                raise InputError(f"{name}: {key} is {value!r}, a finite number is needed")
            values[key] = float(value)
        elif type(value) is not kinds[key]:
            raise InputError(f"{name}: {key} is {value!r}, {_WORDS[kinds[key]]} is needed")
    try:
        return ModelConfig(**values)
    except InputError as error:
        raise InputError(str(error) if name == "model" else f"{name}: {error}") from None


_DEFAULT = ModelConfig()
_WORDS: dict[type, str] = {
    bool: "true or false without quotes",
    int: "a whole number",
    str: "a text in quotes",
    tuple: "a list",
}
