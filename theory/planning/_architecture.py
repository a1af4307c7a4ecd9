"""`Architecture`: the shape of a DeltaProduct model, as far as it decides which constructions it can hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from difflib import get_close_matches
from typing import Any

from ...constructions._realisation import INTEGER_RANGES
from ...foundation._arguments import require_choice, require_count, require_flag, show_value
from ...foundation._errors import InputError

RANGES = ((0, 1), (-1, 1))
ALIASES = {"n_h": "householders", "num_householder": "householders", "key_dim": "head_dim"}
"""Other names of entries."""


@dataclass(frozen=True)
class Architecture:
    """A stack of layers of DeltaProduct heads, H ← Π (I - β k kᵀ) (gate·H) + what the factors write. None: not said.

    Args:
        layers: the number of layers, 1 or more.
        heads: the number of heads of a layer, 1 or more.
        head_dim: the key dimension of a head, 1 or more: the number of rows of its state.
        value_dim: the value dimension of a head, 1 or more: the number of columns of its state.
        householders: n_h, the number of factors of a token in a head, 1 or more; 1 is DeltaNet.
        gated: whether there is a gate in [0, 1] for each head and token.
        range: the range of the eigenvalues of a factor, (0, 1) or (-1, 1): with keys of length 1, β from 0 to 1, or to 2.
        conv: the number of taps of the short convolution before keys and values, 0 or 1 for none.
        additive: whether the factors write values.
        unit_keys: whether keys have length 1, so that no factor lengthens a vector.
        dtype: the dtype of keys, values and states; None for exact arithmetic.
        name: what it is called in texts.

    Raises:
        InputError: an entry is wrong.
    """

    layers: int | None = None
    heads: int | None = None
    head_dim: int | None = None
    value_dim: int | None = None
    householders: int | None = None
    gated: bool | None = None
    range: tuple[int, int] | None = None
    conv: int | None = None
    additive: bool = True
    unit_keys: bool = True
    dtype: str | None = None
    name: str = "the architecture"

    def __post_init__(self) -> None:
        for name in ("layers", "heads", "head_dim", "value_dim", "householders", "conv"):
            if getattr(self, name) is not None:
                require_count(name, getattr(self, name), 0 if name == "conv" else 1)
        for name in ("gated", "additive", "unit_keys"):
            if getattr(self, name) is not None:
                require_flag(name, getattr(self, name))
        if self.range is not None:
            pair = tuple(self.range) if isinstance(self.range, list | tuple) else self.range
            if pair not in RANGES:
                raise InputError(f"`range` {show_value(self.range)}: it is [0, 1] or [-1, 1]")
            object.__setattr__(self, "range", pair)
        if self.dtype is not None:
            require_choice("dtype", self.dtype, tuple(INTEGER_RANGES))

    @property
    def missing(self) -> tuple[str, ...]:
        """The entries that are not said and that decide something."""
        decides = ("layers", "heads", "head_dim", "value_dim", "householders", "gated", "range", "conv")
        return tuple(name for name in decides if getattr(self, name) is None)

    def to_json(self) -> dict[str, Any]:
        """Return the entries as plain values for JSON."""
        return {**asdict(self), "range": None if self.range is None else list(self.range)}


def architecture_of(entries: Mapping[str, Any], name: str) -> Architecture:
    """The architecture that entries of a file or of an option describe.

    Args:
        entries: names of arguments of `Architecture`, or of `ALIASES`, with their values.
        name: the file's name, for texts.

    Raises:
        InputError: an entry is unknown or wrong; one line that names it.
    """
    known = {field.name for field in fields(Architecture)} - {"name"}
    said: dict[str, Any] = {}
    for entry, value in entries.items():
        own = ALIASES.get(entry, entry)
        if own not in known:
            near = get_close_matches(entry, (*sorted(known), *ALIASES), 1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; entries are {', '.join(sorted(known))}"
            raise InputError(f"{name}: {entry!r} is no entry of an architecture{hint}")
        if own in said:
            raise InputError(f"{name}: {own!r} is said twice, once as {entry!r}")
        said[own] = value
    try:
        return Architecture(**said, name=name)
    except InputError as error:
        raise InputError(f"{name}: {str(error).replace('`', '')}") from None
