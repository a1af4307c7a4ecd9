"""`Recurrence`: what a layer's transition can be, as far as theorems ask for it; and `AuditedFamily`, how a configuration says it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Spectrum: TypeAlias = Literal["non-negative", "real", "any"]
"""The eigenvalues of a single token's transition: real and 0 or more; real; or not known to be real."""
Form: TypeAlias = Literal["diagonal", "symmetric", "similar to symmetric", "other"]
"""A diagonal matrix (also a number for a whole head); a symmetric one; one that a change of basis, different for each token, makes symmetric."""


@dataclass(frozen=True)
class Recurrence:
    """The recurrence of a layer, H ← A(x) H + B(x), by what A(x) can be.

    Attributes:
        name: what it is called.
        transition: A(x) in a line.
        beta: the range of β‖k‖² of a factor, as an interval; empty where there is none.
        gate: the range of the gates, as an interval, and what they belong to; empty where there is none.
        eigenvalues: the eigenvalues of A(x), in words.
        spectrum: whether they are real, and 0 or more.
        form: the form of A(x).
        factors: the number of generalized Householder factors of a token; 0 where there are none.
        reflects: whether β‖k‖² goes up to 2, so that a factor can be a reflection, or come as near to one as the format allows.
        reads_keys: whether β multiplies keys that were divided by their lengths, so that rounding may leave them a little longer than 1.
        source: where the recurrence is defined.
    """

    name: str
    transition: str
    eigenvalues: str
    spectrum: Spectrum
    form: Form
    source: str
    beta: str = ""
    gate: str = ""
    factors: int = 0
    reflects: bool = False
    reads_keys: bool = False


Layer: TypeAlias = Recurrence | str
"""A recurrence, or in words what a layer is that has none, such as `attention`."""


@dataclass(frozen=True, eq=False)
class AuditedFamily:
    """How the configurations of some model types are read.

    Args:
        library: whose configurations they are, with the version that was read.
        model_types: the values of `model_type`.
        layers: what each layer is, by a configuration with all these entries.
        entries: the entries that `layers` reads: their type, for one that a configuration must have; or type and what the library takes where a
            configuration says nothing.
    """

    library: str
    model_types: tuple[str, ...]
    layers: Callable[[Mapping[str, Any]], list[tuple[Layer, ...]]]
    entries: Mapping[str, type | tuple[type, Any]] = field(default_factory=dict)
