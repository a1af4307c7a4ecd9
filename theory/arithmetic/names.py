"""Arithmetic models as objects, with the names that a verdict carries.

    exact                                   rationals
    cast:VALUES                             products of matrices exact, states cast (nearest, ties toward -∞)
    per_step:VALUES[:MODE][:sat|inf]        h ← Q(A h + b), the sum exact and rounded once
    per_op:VALUES[:ORDER][:MODE][:sat|inf]  each multiplication and addition rounded, in a stated order
    kernel:MODE:DTYPE[:DEVICE]              what a kernel computes (`kernel_step`), on the CPU without a device

VALUES: a format, `int:-4..4`, `fixed:BITS:FRACTION`, or a list of numbers (`value_sets.value_set`). MODE: `rne` (the
default; `tie_low` for a list, and always in `cast`), `tie_low`, `rz`, `ru`, `rd`. An exact zero is +0.
"""

from __future__ import annotations

from dataclasses import replace

from ...constructions.errors import InputError
from .arithmetic import Arithmetic, Cast, Exact, Kernel, PerOp, PerStep
from .rounding import MODES, STOCHASTIC, FloatFormat
from .value_sets import FiniteSet, ValueSet, value_set

ORDERS: dict[str, str] = {
    "left": "products rounded, summed from the left, then the additive term",
    "bias": "the additive term first, then rounded products from the left",
    "tree": "products rounded, neighbours summed in pairs, then the additive term",
    "fma": "from the left, each multiplication and addition together rounded once, then the additive term",
}
"""The orders of `per_op`."""
KERNEL_MODES = ("recurrent", "chunk")
KERNEL_DTYPES = ("fp64", "fp32", "fp16", "bf16")
FORMS = "exact, cast:VALUES, per_step:VALUES[:MODE], per_op:VALUES[:ORDER][:MODE], kernel:MODE:DTYPE[:DEVICE]"


def parse_arithmetic(text: str) -> Arithmetic:
    """The arithmetic that a name stands for (the module's text); `InputError` with the mend."""
    head, _, rest = text.strip().partition(":")
    if head == "exact" and not rest:
        return Exact()
    if head == "kernel":
        return _kernel(text, rest.split(":"))
    if head not in ("cast", "per_step", "per_op") or not rest:
        raise InputError(f"arithmetic {text!r}: not one of {FORMS}")
    parts = rest.split(":")
    width = {"int": 2, "fixed": 3}.get(parts[0], 1)
    try:
        values = value_set(":".join(parts[:width]))
    except InputError as error:
        raise InputError(f"arithmetic {text!r}: {error}") from None
    options = parts[width:]
    if head == "cast":
        if options:
            raise InputError(f"arithmetic {text!r}: cast takes no {options[0]!r}: its rounding is fixed")
        return Cast(values)
    order = options.pop(0) if head == "per_op" and options and options[0] in ORDERS else "left"
    mode = "tie_low" if isinstance(values, FiniteSet) else "rne"
    mode = options.pop(0) if options and options[0] in MODES else mode
    suffix = options.pop(0) if options and options[0] in ("sat", "inf") else ""
    if options:
        choices = [*(ORDERS if head == "per_op" else ()), *MODES, "sat", "inf"]
        more = "; stochastic rounding is for searches in Python" if options[0] == STOCHASTIC else ""
        raise InputError(f"arithmetic {text!r}: {options[0]!r} is not one of {', '.join(choices)}{more}")
    if isinstance(values, FiniteSet) and mode == "rne":
        raise InputError(f"arithmetic {text!r}: a list of values has no even members: write tie_low")
    values = _with_overflow(text, values, suffix)
    if suffix and (not isinstance(values, FloatFormat) or values == value_set(values.name)):
        suffix = ""  # that is how the format is anyway, and grids and lists always saturate
    return PerStep(values, mode, suffix) if head == "per_step" else PerOp(values, order, mode, suffix)


def _with_overflow(text: str, values: ValueSet, suffix: str) -> ValueSet:
    if suffix == "sat" and isinstance(values, FloatFormat):
        return replace(values, saturating=True)
    if suffix == "inf" and (not isinstance(values, FloatFormat) or values.saturating):
        raise InputError(f"arithmetic {text!r}: {values.name} has no infinity: leave inf out")
    return values


def _kernel(text: str, parts: list[str]) -> Kernel:
    if not 2 <= len(parts) <= 3 or parts[0] not in KERNEL_MODES or parts[1] not in KERNEL_DTYPES:
        raise InputError(
            f"arithmetic {text!r}: write kernel:MODE:DTYPE[:DEVICE] with a mode of {', '.join(KERNEL_MODES)} and "
            f"a dtype of {', '.join(KERNEL_DTYPES)}"
        )
    if len(parts) == 3 and parts[2] not in ("cpu", "cuda"):
        raise InputError(f"arithmetic {text!r}: device {parts[2]!r} is not cpu or cuda")
    return Kernel(parts[0], parts[1], parts[2] if len(parts) == 3 else None)
