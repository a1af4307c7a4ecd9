"""Do the conditions hold under which a kernel computes a construction without any rounding (theory: G.T3 in integers)?

Recurrent kernels: keys, β, gates and what is written are integers, and every state, product and partial sum, in any
order, stays within the integers of the dtype. Chunk kernels besides: every β‖k‖² is 0, 1 or 2, so the entries of
T = (I + tril(diag(β)KKᵀ, -1))^-1 are integers of at most 2; and the sums over a chunk of C factors, at most 2CD with
D the largest number that a factor reads or writes, stay below 2^24, where the float32 accumulator is exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from ..constructions._head import Head, bound_head
from ..constructions._lrnn import LRNN, table_of
from ..constructions._realisation import INTEGER_RANGES, Realisation
from ..constructions.algebra._cyclotomic import is_integer
from ..foundation._errors import InputError
from ..foundation._text import html_table, one_line
from .arithmetic._arithmetic import KERNEL_MODES
from .arithmetic._rounding import float_format

ACCUMULATOR = 2**24
CHUNK = 64


@dataclass(frozen=True)
class Condition:
    """One condition of the exactness theorem.

    Attributes:
        name: the name of the condition.
        holds: whether it holds.
        detail: the figures, or the first place where it fails.
    """

    name: str
    holds: bool
    detail: str


@dataclass(frozen=True, repr=False)
class ExactnessReport:
    """Whether the exactness theorem proves that a kernel is exact on a realisation at any length.

    If `holds` is False, the kernel may still be exact.

    Attributes:
        mode: `recurrent` or `chunk`.
        dtype: the name of the dtype.
        chunk: the number of factors in a chunk; None in the recurrent mode.
        conditions: the conditions of the theorem, in order.
    """

    mode: str
    dtype: str
    chunk: int | None
    conditions: tuple[Condition, ...]

    def __bool__(self) -> bool:
        """All conditions hold."""
        return self.holds

    @property
    def holds(self) -> bool:
        """Whether all conditions hold."""
        return all(condition.holds for condition in self.conditions)

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain values for JSON."""
        return {"holds": self.holds, **asdict(self)}

    def rows(self) -> list[tuple[str, str]]:
        """The rows of a readable table, as `(label, text)` pairs."""
        return [(c.name, f"{'yes' if c.holds else 'no'}: {c.detail}") for c in self.conditions]

    def __repr__(self) -> str:
        finding = "exact at any length" if self.holds else "not covered by the theorem"
        return one_line(self, f"{self.mode} in {self.dtype}, {finding}")

    def _repr_html_(self) -> str:
        return html_table(f"Exactness of {self.mode} kernels in {self.dtype}", self.rows())


def exactness_report(
    lrnn: Realisation, mode: str = "chunk", dtype: str = "bf16", *, chunk: int = CHUNK
) -> ExactnessReport:
    """Check the conditions of the exactness theorem for an LRNN, a kernel mode and a dtype.

    Args:
        lrnn: a realisation given by a table, as `construct` returns it.
        mode: `recurrent` or `chunk`.
        dtype: the dtype of states and weights.
        chunk: the number C of factors in a chunk, that is, tokens of a chunk × factors per token.

    Raises:
        InputError: the realisation is a rule, or the mode, the dtype or the chunk is none.
    """
    lrnn = table_of(lrnn, "the conditions are of the numbers in one; the figures name the formats of a rule")
    if mode not in KERNEL_MODES:
        raise InputError(f"mode {mode!r}: it is one of {', '.join(KERNEL_MODES)}")
    if chunk < 1:
        raise InputError(f"chunk {chunk}: it must be 1 or more")
    name = float_format(dtype).name
    conditions = [_all(lrnn, "products of factors", _no_products), _all(lrnn, "integers", _not_integer)]
    if all(c.holds for c in conditions):
        largest = max(bound_head(head) for head in lrnn.all_heads)
        reach = INTEGER_RANGES[name]
        conditions.append(
            Condition(
                "range",
                largest <= reach,
                f"numbers and partial sums to {largest}, {name} has all integers to {reach}",
            )
        )
        if mode == "chunk":
            conditions.append(_all(lrnn, "β‖k‖² in {0, 1, 2}", _not_012))
            sums = 2 * chunk * largest
            conditions.append(
                Condition(
                    "accumulator",
                    sums <= ACCUMULATOR,
                    f"2·{chunk}·{largest} = {sums}, float32 is exact to {ACCUMULATOR}",
                )
            )
    return ExactnessReport(mode, name, chunk if mode == "chunk" else None, tuple(conditions))


def _all(lrnn: LRNN, name: str, failures: Any) -> Condition:
    for h, head in enumerate(lrnn.all_heads):
        for place, what in failures(head):
            return Condition(name, False, f"head {h}, {place}: {what}")
    return Condition(
        name, True, f"in all {len(lrnn.all_heads)} heads" if len(lrnn.all_heads) > 1 else "in its head"
    )


def _no_products(head: Head) -> Iterator[tuple[str, str]]:
    for x, t in enumerate(head.transitions):
        if t.matrix is not None:
            yield f"transition {x}", "a matrix, no product of factors"
        elif any(f.mask is not None for f in t.factors):
            yield f"transition {x}", "a factor with a mask"


def _not_integer(head: Head) -> Iterator[tuple[str, str]]:
    for c, code in enumerate(head.codes):
        if not all(is_integer(x) for _, _, x in code):
            yield f"code {c}", "an entry is no integer"
    for x, t in enumerate(head.transitions):
        for f in t.factors:
            if not all(is_integer(v) for v in (f.beta, *(v for _, v in f.vector))):
                yield f"transition {x}", "β or an entry of a key is no integer"
        if not all(is_integer(v) for v in (t.gate, *(v for _, _, v in t.additive))):
            yield f"transition {x}", "the gate or what is written is no integer"


def _not_012(head: Head) -> Iterator[tuple[str, str]]:
    for x, t in enumerate(head.transitions):
        for f in t.factors:
            if f.beta * f.norm_squared not in (0, 1, 2):
                yield f"transition {x}", f"β‖k‖² = {f.beta * f.norm_squared}"
