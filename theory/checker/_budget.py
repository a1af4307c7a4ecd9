"""What checking one file may cost: work is counted over all parts of a file, by the size of the numbers, before or as it is done.

The unit is a step with numbers of up to 256 bits; a step with b bits counts 1 + ⌊b/256⌋² units. A file may cost `MAX_WORK` units,
and `WORK_PER_ENTRY` more for each number and each text that stands in it. So what a small file can ask for is small, and what a
large one can ask for grows with the file alone. On the machine of 2025 on which the limits were set a million units take about
20 milliseconds, and no certificate of a construction comes near them.
"""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from typing import Any

from ._cosines import CosineField
from ._cyclotomic import degree_of
from ._exact import MAX_DENSE_DEGREE, Field, need

MAX_WORK = 200_000_000
WORK_PER_ENTRY = 50_000
TOO_MUCH = "to check it takes more than"


class Budget:
    """The work that a document may cost, what of it is spent, and the number fields, each made once.

    Args:
        document: the certificate, or a part of it that is checked alone.
        most: the units that it may cost, whatever stands in it; by default they grow with its entries.
    """

    def __init__(self, document: Any, most: int | None = None) -> None:
        self.document, self.most, self.work = document, most, 0
        self.fields: dict[int, Field] = {}

    @cached_property
    def limit(self) -> int:
        """The units that the document may cost; its entries are counted only where more than `MAX_WORK` are asked for."""
        return self.most or MAX_WORK + WORK_PER_ENTRY * entries(self.document)

    def spend(self, steps: int, bits: int = 0) -> None:
        """Count steps with numbers of so many bits; `Invalid` where the document has no more to spend."""
        self.work += steps * (1 + (bits >> 8) ** 2)
        if self.work > (self.most or MAX_WORK):
            need(self.work <= self.limit, f"{TOO_MUCH} {self.limit:,} units of work")

    def field(self, conductor: int) -> Field:
        """Q(2cos(2π/N))."""
        if conductor not in self.fields:
            degree = degree_of(conductor)
            if conductor % 4 == 0 and degree > MAX_DENSE_DEGREE:
                self.fields[conductor] = CosineField(conductor, degree, self.spend)
            else:
                # for its minimal polynomial, by sums of polynomials whose coefficients have up to 0.7 bits for each degree
                self.spend(conductor**2 * (1 + degree // 360))
                self.fields[conductor] = Field(conductor, self.spend)
        return self.fields[conductor]


def entries(document: Any) -> int:
    """How many numbers, texts and other values stand in a JSON document, itself one of them if it is no list or object."""
    # level by level: what is neither list nor object counts, and what is has its entries on the next level
    count, level = 0, [document]
    while level:
        lists = [part for part in level if type(part) is list]
        objects = [part for part in level if type(part) is dict]
        count += len(level) - len(lists) - len(objects)
        level = list(chain.from_iterable([*lists, *(part.values() for part in objects)]))
    return count
