"""Arithmetic models as objects, with the names that a verdict carries.

    exact                                   rationals
    cast:VALUES                             products of matrices exact, states cast (nearest, ties toward -∞)
    per_step:VALUES[:MODE][:sat|inf]        h ← Q(A h + b), the sum exact and rounded once
    per_op:VALUES[:ORDER][:MODE][:sat|inf]  each multiplication and addition rounded, in a stated order
    kernel:MODE:DTYPE[:DEVICE]              what a kernel computes (`theory/proofs/_kernel_step.py`), on the CPU
                                            where no device is named

VALUES: a format, `int:-4..4`, `fixed:BITS:FRACTION`, or a list of numbers (`value_set`). MODE: `rne` (the default;
`tie_low` for a list, and always in `cast`), `tie_low`, `rz`, `ru`, `rd`. An exact zero is +0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...foundation._arguments import require_text
from ...foundation._errors import InputError
from ._exact_sum import round_product_sum, round_to_odd, two_sum
from ._rounding import MODES, STOCHASTIC, FloatFormat, Floats
from ._value_sets import FiniteSet, Grid, ValueSet, round_values, value_set

Exacts: TypeAlias = NDArray[np.object_]


@dataclass(frozen=True)
class Exact:
    """Exact arithmetic with rational numbers, in arrays of dtype object. The exact values of floats are used."""

    name: ClassVar[str] = "exact"

    def round(self, values: Any) -> Exacts:
        """The numbers themselves, as fractions.

        Args:
            values: exact numbers, of any shape.
        """
        return fractions(values)

    def affine(self, A: Any, h: Any, b: Any = None) -> Exacts:
        """A h + b, exactly; leading axes broadcast.

        Args:
            A: `[..., n, m]`.
            h: `[..., m, d]`.
            b: `[..., n, d]`, or None for 0.
        """
        return _exact_affine(A, h, b)


@dataclass(frozen=True)
class Cast:
    """The arithmetic of the papers: `affine` is exact, and `round` casts to the nearest of finitely many values, ties toward -∞.

    Attributes:
        values: the finite set of values.
    """

    values: ValueSet

    @property
    def name(self) -> str:
        """`cast:VALUES`."""
        return f"cast:{self.values.name}"

    def round(self, values: Any) -> Floats:
        """Cast numbers to the set; even if the format has infinities, the cast saturates, since the set is finite.

        Args:
            values: exact numbers, of any shape.
        """
        target = self.values
        if isinstance(target, FloatFormat):
            target = replace(target, saturating=True)
        return round_values(values, target, "tie_low")

    def affine(self, A: Any, h: Any, b: Any = None) -> Exacts:
        """Compute A h + b exactly: only the whole sum of a state is cast (`cast_model`).

        Args:
            A: `[..., n, m]`.
            h: `[..., m, d]`.
            b: `[..., n, d]`, or None for 0.
        """
        return _exact_affine(A, h, b)


@dataclass(frozen=True)
class PerStep:
    """One rounding per step: h ← Q(A h + b), the exact sum rounded once. `A` and `b` may have any values, including exact numbers.

    Attributes:
        values: the format, grid or set.
        mode: the rounding mode, one of `MODES` (`rne`, `tie_low`, `rz`, `ru`, `rd`).
        suffix: the last part of its name, `sat`, `inf` or empty.
    """

    values: ValueSet
    mode: str = "rne"
    suffix: str = ""

    @property
    def name(self) -> str:
        """`per_step:VALUES:MODE`, the mode left out if it is `rne`."""
        return _name("per_step", self.values, "", self.mode, self.suffix)

    def round(self, values: Any) -> Floats:
        """Round each number once.

        Args:
            values: numbers, of any shape.
        """
        return round_values(values, self.values, self.mode)

    def affine(self, A: Any, h: Any, b: Any = None) -> Floats:
        """Q(A h + b); leading axes broadcast.

        Args:
            A: `[..., n, m]`.
            h: `[..., m, d]`.
            b: `[..., n, d]`, or None for 0.
        """
        if any(np.asarray(x).dtype == object for x in (A, h, b) if x is not None):
            return self.round(_exact_affine(A, h, b))
        A, h = np.asarray(A, dtype=np.float64), np.asarray(h, dtype=np.float64)
        extra = None if b is None else np.asarray(b, dtype=np.float64)
        pairs = [(A[..., :, j, None], h[..., j, None, :]) for j in range(A.shape[-1])]
        return self.product_sum(pairs, extra)

    def product_sum(self, pairs: list[tuple[Floats, Floats]], extra: Floats | None = None) -> Floats:
        """Q(Σ x·y + extra).

        Args:
            pairs: pairs (x, y) of float64 arrays that broadcast.
            extra: float64 array to be added, or None.
        """
        return round_product_sum(pairs, extra, self.values, self.mode)


@dataclass(frozen=True)
class PerOp:
    """One rounding per operation: every multiplication and addition is rounded. All operands must be values of the format (or grid, or set).

    Attributes:
        values: the format, grid or set.
        order: the order of sums, one of `ORDERS` (`left`, `bias`, `tree`, `fma`).
        mode: the rounding mode, one of `MODES` (`rne`, `tie_low`, `rz`, `ru`, `rd`).
        suffix: the last part of its name, `sat`, `inf` or empty.
    """

    values: ValueSet
    order: str = "left"
    mode: str = "rne"
    suffix: str = ""

    @property
    def name(self) -> str:
        """`per_op:VALUES:ORDER:MODE`, the order left out if it is `left`, the mode if it is `rne`."""
        return _name(
            "per_op", self.values, "" if self.order == "left" else self.order, self.mode, self.suffix
        )

    def round(self, values: Any) -> Floats:
        """Round each number once.

        Args:
            values: numbers, of any shape.
        """
        return round_values(values, self.values, self.mode)

    def multiply(self, x: Any, y: Any) -> Floats:
        """x·y, rounded.

        Args:
            x: values of the set; they broadcast.
            y: values of the set.
        """
        return self._once([(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64))], None)

    def add(self, x: Any, y: Any) -> Floats:
        """x + y, rounded.

        Args:
            x: values of the set; they broadcast.
            y: values of the set.
        """
        x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
        with np.errstate(all="ignore"):
            if self._double_rounding_is_harmless:
                return self.round(x + y + 0.0)
            if isinstance(self.values, FloatFormat) and self.values.precision == 53:
                return self._once([(x, np.ones(()))], y)
            s, e = two_sum(x, y)
            return self.round(np.where(np.isfinite(s), round_to_odd(s, e), s) + 0.0)

    def subtract(self, x: Any, y: Any) -> Floats:
        """x - y, rounded.

        Args:
            x: values of the set; they broadcast.
            y: values of the set.
        """
        return self.add(x, -np.asarray(y, dtype=np.float64))

    def multiply_add(self, x: Any, y: Any, z: Any) -> Floats:
        """x·y + z, rounded once.

        Args:
            x: values of the set; they broadcast.
            y: values of the set.
            z: values of the set.
        """
        x, y, z = (np.asarray(v, dtype=np.float64) for v in (x, y, z))
        return self._once([(x, y)], z)

    def dot(self, x: Floats, y: Floats, axis: int = -1) -> Floats:
        """Σ x·y along an axis, in this order (the additive term aside).

        Args:
            x: values of the set; they broadcast.
            y: values of the set.
            axis: the axis that is summed.
        """
        x, y = np.broadcast_arrays(np.moveaxis(np.asarray(x), axis, 0), np.moveaxis(np.asarray(y), axis, 0))
        return self._accumulate(list(zip(x, y, strict=True)), None)

    def affine(self, A: Any, h: Any, b: Any = None) -> Floats:
        """A h + b in the stated order; leading axes broadcast.

        Args:
            A: `[..., n, m]`.
            h: `[..., m, d]`.
            b: `[..., n, d]`, or None for 0.
        """
        A, h = np.asarray(A, dtype=np.float64), np.asarray(h, dtype=np.float64)
        extra = None if b is None else np.asarray(b, dtype=np.float64)
        pairs = [(A[..., :, j, None], h[..., j, None, :]) for j in range(A.shape[-1])]
        return self._accumulate(pairs, extra)

    def delta_rule(self, h: Any, key: Any, beta: Any, value: Any) -> Floats:
        """Apply the delta rule: s = kᵀh; e = β(v - s); h_i ← h_i + k_i e (own.R4).

        The product with β is left out if β = 1, which changes nothing. In the order `fma` the last assignment is rounded once.

        Args:
            h: `[..., n, d]`.
            key: k, `[..., n]`.
            beta: β, `[...]`.
            value: v, `[..., d]`.
        """
        h, key = np.asarray(h, dtype=np.float64), np.asarray(key, dtype=np.float64)[..., None]
        s = self.dot(key, h, axis=-2)
        e = self.multiply(np.asarray(beta, dtype=np.float64)[..., None], self.subtract(value, s))[
            ..., None, :
        ]
        return self.multiply_add(key, e, h) if self.order == "fma" else self.add(h, self.multiply(key, e))

    def _accumulate(self, pairs: list[tuple[Floats, Floats]], extra: Floats | None) -> Floats:
        if self.order == "fma":
            total = self.multiply(*pairs[0])
            for x, y in pairs[1:]:
                total = self.multiply_add(x, y, total)
        else:
            products = [self.multiply(x, y) for x, y in pairs]
            if self.order == "bias" and extra is not None:
                products, extra = [extra, *products], None
            while self.order == "tree" and len(products) > 1:
                sums = [self.add(products[i], products[i + 1]) for i in range(0, len(products) - 1, 2)]
                products = sums + products[len(products) & ~1 :]
            total = products[0]
            for p in products[1:]:
                total = self.add(total, p)
        return total if extra is None else self.add(total, extra)

    @property
    def _double_rounding_is_harmless(self) -> bool:
        # 53 ≥ 2p + 2 (Figueroa): nearest sums of two values may pass through float64
        return isinstance(self.values, FloatFormat) and (
            self.mode == "rne" and (self.values.precision <= 25 or self.values.precision == 53)
        )

    def _once(self, pairs: list[tuple[Floats, Floats]], extra: Floats | None) -> Floats:
        if extra is None and isinstance(self.values, FloatFormat):
            precision = self.values.precision
            if precision <= 26 or (precision == 53 and self.mode == "rne"):
                with np.errstate(all="ignore"):
                    return self.round(pairs[0][0] * pairs[0][1])  # the product is exact, or rounded just once
        return PerStep(self.values, self.mode).product_sum(pairs, extra)


@dataclass(frozen=True)
class Kernel:
    """The arithmetic of a kernel: exactly the bits that it computes.

    Attributes:
        mode: `recurrent` or `chunk`.
        dtype: the name of the dtype.
        device: the device; None for the CPU.
    """

    mode: str
    dtype: str
    device: str | None = None

    @property
    def name(self) -> str:
        """`kernel:MODE:DTYPE[:DEVICE]`."""
        return f"kernel:{self.mode}:{self.dtype}" + (f":{self.device}" if self.device else "")


Arithmetic: TypeAlias = Exact | Cast | PerStep | PerOp | Kernel
"""In what numbers a model is run, and when they are rounded."""
ARITHMETICS: tuple[type, ...] = (Exact, Cast, PerStep, PerOp, Kernel)
Rounded: TypeAlias = PerStep | PerOp


def _name(head: str, values: ValueSet, order: str, mode: str, suffix: str) -> str:
    usual = "tie_low" if isinstance(values, FiniteSet) else "rne"
    return ":".join(p for p in (head, values.name, order, "" if mode == usual else mode, suffix) if p)


def fractions(values: Any) -> Exacts:
    """An array of exact numbers, dtype object, of the same shape."""
    given = np.asarray(values)
    if given.dtype == object:
        return given
    return np.array([Fraction(v) for v in given.ravel().tolist()], dtype=object).reshape(given.shape)


def stochastic(values: Any, target: FloatFormat | Grid, generator: np.random.Generator) -> Floats:
    """Each float64 rounded up or down, with the probability that makes the mean right; for searches only."""
    x = np.asarray(values, dtype=np.float64)
    low, high = (round_values(x, target, mode) for mode in ("rd", "ru"))
    with np.errstate(all="ignore"):
        share = np.where(high > low, (x - low) / (high - low), 0.0)
    return np.where(generator.random(x.shape) < share, high, low)


def _exact_affine(A: Any, h: Any, b: Any) -> Exacts:
    product = np.matmul(fractions(A), fractions(h))
    return product if b is None else np.asarray(product + fractions(b))


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
    """Return the arithmetic with a given name.

    Args:
        text: the name, such as `per_step:bf16` (the module's text lists them).

    Raises:
        InputError: there is no arithmetic with this name; the message says what to write.
    """
    require_text("arithmetic", text, f"a text, one of {FORMS}")
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
