"""Arithmetic models as objects: exact, cast, per step, per operation, and a kernel's (run by `kernel_step`).

What their names mean, and how they are read, stands in `arithmetic_names`. An exact zero is +0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .exact_sum import rounded_to_odd, two_sum
from .product_sum import rounded_product_sum
from .rounding import FloatFormat, Floats
from .value_sets import FiniteSet, Grid, ValueSet, round_values

Exacts: TypeAlias = NDArray[np.object_]


@dataclass(frozen=True)
class Exact:
    """Rational numbers: arrays of dtype object; floats are taken for what they are."""

    name: ClassVar[str] = "exact"

    def round(self, values: Any) -> Exacts:
        """The numbers themselves, as fractions."""
        return fractions(values)

    def affine(self, A: Any, h: Any, b: Any = None) -> Exacts:
        """A h + b, exactly: `[..., n, m]`, `[..., m, d]`, `[..., n, d]`."""
        return _exact_affine(A, h, b)


@dataclass(frozen=True)
class Cast:
    """The papers' model: `affine` is exact, `round` casts to the nearest of finitely many values, ties toward -∞."""

    values: ValueSet

    @property
    def name(self) -> str:
        """`cast:VALUES`."""
        return f"cast:{self.values.name}"

    def round(self, values: Any) -> Floats:
        """The cast; saturating also where the format has infinities, since the set is finite."""
        target = self.values
        if isinstance(target, FloatFormat):
            target = replace(target, saturating=True)
        return round_values(values, target, "tie_low")

    def affine(self, A: Any, h: Any, b: Any = None) -> Exacts:
        """A h + b, exactly: nothing is cast before the whole sum of a state is known (`cast_model`)."""
        return _exact_affine(A, h, b)


@dataclass(frozen=True)
class PerStep:
    """h ← Q(A h + b): the exact sum, rounded once. `A` and `b` may have any values, exact numbers included."""

    values: ValueSet
    mode: str = "rne"
    suffix: str = ""

    @property
    def name(self) -> str:
        """`per_step:VALUES:MODE`, the mode left out if it is `rne`."""
        return _name("per_step", self.values, "", self.mode, self.suffix)

    def round(self, values: Any) -> Floats:
        """Each number rounded once."""
        return round_values(values, self.values, self.mode)

    def affine(self, A: Any, h: Any, b: Any = None) -> Floats:
        """Q(A h + b): `[..., n, m]`, `[..., m, d]`, `[..., n, d]`; leading axes broadcast."""
        if any(np.asarray(x).dtype == object for x in (A, h, b) if x is not None):
            return self.round(_exact_affine(A, h, b))
        A, h = np.asarray(A, dtype=np.float64), np.asarray(h, dtype=np.float64)
        extra = None if b is None else np.asarray(b, dtype=np.float64)
        pairs = [(A[..., :, j, None], h[..., j, None, :]) for j in range(A.shape[-1])]
        return self.product_sum(pairs, extra)

    def product_sum(self, pairs: list[tuple[Floats, Floats]], extra: Floats | None = None) -> Floats:
        """Q(Σ x·y + extra) over pairs of float64 arrays that broadcast."""
        return rounded_product_sum(pairs, extra, self.values, self.mode)


@dataclass(frozen=True)
class PerOp:
    """Every multiplication and addition rounded. All operands must be values of the format (or grid, or set)."""

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
        """Each number rounded once."""
        return round_values(values, self.values, self.mode)

    def multiply(self, x: Any, y: Any) -> Floats:
        """x·y, rounded."""
        return self._once([(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64))], None)

    def add(self, x: Any, y: Any) -> Floats:
        """x + y, rounded."""
        x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
        with np.errstate(all="ignore"):
            if self._double_rounding_is_harmless:
                return self.round(x + y + 0.0)
            if isinstance(self.values, FloatFormat) and self.values.precision == 53:
                return self._once([(x, np.ones(()))], y)
            s, e = two_sum(x, y)
            return self.round(np.where(np.isfinite(s), rounded_to_odd(s, e), s) + 0.0)

    def subtract(self, x: Any, y: Any) -> Floats:
        """x - y, rounded."""
        return self.add(x, -np.asarray(y, dtype=np.float64))

    def fused(self, x: Any, y: Any, z: Any) -> Floats:
        """x·y + z, rounded once."""
        x, y, z = (np.asarray(v, dtype=np.float64) for v in (x, y, z))
        return self._once([(x, y)], z)

    def dot(self, x: Floats, y: Floats, axis: int = -1) -> Floats:
        """Σ x·y along an axis, in this order (the additive term aside)."""
        x, y = np.broadcast_arrays(np.moveaxis(np.asarray(x), axis, 0), np.moveaxis(np.asarray(y), axis, 0))
        return self._accumulated(list(zip(x, y, strict=True)), None)

    def affine(self, A: Any, h: Any, b: Any = None) -> Floats:
        """A h + b in the stated order: `[..., n, m]`, `[..., m, d]`, `[..., n, d]`; leading axes broadcast."""
        A, h = np.asarray(A, dtype=np.float64), np.asarray(h, dtype=np.float64)
        extra = None if b is None else np.asarray(b, dtype=np.float64)
        pairs = [(A[..., :, j, None], h[..., j, None, :]) for j in range(A.shape[-1])]
        return self._accumulated(pairs, extra)

    def delta_rule(self, h: Any, key: Any, beta: Any, value: Any) -> Floats:
        """s = kᵀh; e = β(v - s); h_i ← h_i + k_i e: `[..., n, d]`, `[..., n]`, `[...]`, `[..., d]` (own.R4).

        The product with β is left out where β = 1, which changes nothing. In the order `fma` the last line is one
        rounding.
        """
        h, key = np.asarray(h, dtype=np.float64), np.asarray(key, dtype=np.float64)[..., None]
        s = self.dot(key, h, axis=-2)
        e = self.multiply(np.asarray(beta, dtype=np.float64)[..., None], self.subtract(value, s))[
            ..., None, :
        ]
        return self.fused(key, e, h) if self.order == "fma" else self.add(h, self.multiply(key, e))

    def _accumulated(self, pairs: list[tuple[Floats, Floats]], extra: Floats | None) -> Floats:
        if self.order == "fma":
            total = self.multiply(*pairs[0])
            for x, y in pairs[1:]:
                total = self.fused(x, y, total)
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
    """What a kernel computes, bit by bit; `device` None: the CPU."""

    mode: str
    dtype: str
    device: str | None = None

    @property
    def name(self) -> str:
        """`kernel:MODE:DTYPE[:DEVICE]`."""
        return f"kernel:{self.mode}:{self.dtype}" + (f":{self.device}" if self.device else "")


Arithmetic: TypeAlias = Exact | Cast | PerStep | PerOp | Kernel
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
