"""Exact numbers in sparse rows: what the factors of a letter make of them, and the largest number that is met."""

from __future__ import annotations

from typing import Any, TypeAlias

from ._budget import Budget
from ._exact import Number, bits_of

PRODUCT = 10  # units of work for a product of two integers that is added to a third
FRACTION = 200  # the same for a rational number, which also takes 250 bytes of memory where it is kept
MAX_KEPT = 5_000_000  # numbers in the rows of a product
Sparse: TypeAlias = tuple[tuple[int, int, Number], ...]
Rows: TypeAlias = list[dict[int, Number]]


class ExactRows:
    """Products and sums of rows; of integers, the largest one met in any order of summation."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.bits = self.bound = 0  # of the largest number met; the largest integer, where all are integers
        self.integer = False

    def spend(self, products: int) -> None:
        """Count products of numbers as large as the largest met so far; `Invalid` where the file has no more to spend."""
        price = PRODUCT if self.integer else FRACTION
        self.budget.spend(products * price, max(self.bits, self.bound.bit_length()))

    def reflect(self, rows: Rows, transition: dict[str, Any]) -> Rows:
        """C_k···C_1 rows, in place: each factor changes only the rows in the support of its vector."""
        for beta, v, reading in transition["factors"]:
            # vᵀ rows, or (v ⊙ e_j)ᵀ rows for a copy
            sums = self.total([(x, rows[i]) for i, _, x in reading])
            self.spend(len(v) * len(sums))
            for i, _, x in v:
                # of integers no product with β or with v_i alone is larger
                row, scale = rows[i], x * beta
                self.see(sums.values(), scale)
                # row i loses β v_i times that sum
                for column, s in sums.items():
                    after = row.get(column, 0) - scale * s
                    if after == 0:
                        row.pop(column, None)
                    else:
                        row[column] = after
                self.see(row.values())
        return rows

    def see(self, values: Any, scale: Any = 1) -> None:
        """Integer heads: count scale·values for the bound. Others: the bits of the values."""
        if self.integer and values:
            self.bound = max(self.bound, abs(scale) * max(max(values), -min(values)))
        elif values:
            self.bits = max(self.bits, max(map(bits_of, values)))

    def total(self, terms: list[tuple[Number, dict[int, Number]]]) -> dict[int, Number]:
        """Σ weight·row by columns, zeros left out; the bound counts the partial sums of any subset of terms."""
        sums: dict[int, Number] = {}
        parts: list[dict[int, Any]] = [{}, {}]  # the positive and the negative terms of each column
        for weight, row in terms:
            self.see(row.values(), weight)
            self.spend(len(row))
            for column, x in row.items():
                sums[column] = sums[column] + weight * x if column in sums else weight * x
            if not self.integer:
                self.see(sums.values())
            elif len(terms) > 2:
                # any partial sum lies between that of all negative terms and that of all positive ones
                for column, x in row.items():
                    part = parts[weight * x < 0]  # type: ignore[operator]
                    part[column] = part.get(column, 0) + weight * x
        for seen in (sums, *parts):
            self.see(seen.values())
        return {c: s for c, s in sums.items() if s != 0}
