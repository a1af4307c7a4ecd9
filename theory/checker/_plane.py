"""Codes in the plane that letters turn or reflect, followed by their angles: integers in place of sums of products."""

from __future__ import annotations

from collections.abc import Sequence

from ._exact import Field, Number, key_of

Entries = Sequence[tuple[int, int, Number]]


def columns_of(matrix: Entries, width: int) -> list[tuple[Number, Number]]:
    """The columns of a matrix of two rows."""
    entries = {(i, j): x for i, j, x in matrix}
    return [(entries.get((0, j), 0), entries.get((1, j), 0)) for j in range(width)]


class Plane:
    """Codes whose columns all are (cos b, sin b), b a multiple of 2π/N.

    The rotation R(a) and the reflection S(a) = [[cos a, sin a], [sin a, -cos a]] take (cos b, sin b) to that of the angle a + b
    and of a - b, by the theorems of addition. So where a letter's matrix is one of them, which is seen by its entries, the codes
    need no multiplication.

    Args:
        field: Q(2cos 2π/N) with N a multiple of 4.
        codes: the entries (row, column, value) of each code.
        width: the number of columns of a code.
    """

    def __init__(self, field: Field, codes: Sequence[Entries], width: int) -> None:
        self.field, N = field, field.conductor
        # the k from 0 to N/2 with which a number is cos(2πk/N)
        self.angles = {key_of(field.cosine_of(k)): k for k in range(N // 2 + 1)}
        field.spend(N)
        self.codes: list[tuple[int, ...]] = []
        for code in codes:
            found = [self.angle(x, y) for x, y in columns_of(code, width)]
            self.codes.append(tuple(b for b in found if b is not None))
        # otherwise some column has another form, and nothing can be said
        self.complete = all(len(code) == width for code in self.codes)
        self.index = {code: c for c, code in enumerate(self.codes)}

    def angle(self, x: Number, y: Number) -> int | None:
        """The k from 0 to N - 1 with (x, y) = (cos(2πk/N), sin(2πk/N)), None for another vector."""
        k = self.angles.get(key_of(x))
        if k is None:
            return None
        # sin a = cos(a - π/2), and cos(-b) = cos b; the angles k and N - k have one cosine
        N = self.field.conductor
        for a in (k, -k % N):
            b = (a - N // 4) % N
            if self.field.cosine_of(min(b, N - b)) == y:
                return a
        return None

    def images(self, A: Entries) -> list[int | None] | None:
        """The number of the code that each code goes to by the matrix A, None for no code.

        None in place of the list where the codes or the matrix have another form.
        """
        if not self.complete:
            return None
        N, quarter = self.field.conductor, self.field.conductor // 4
        first, second = (self.angle(x, y) for x, y in columns_of(A, 2))
        if first is None or second is None or (second - first) % N not in (quarter, N - quarter):
            return None
        # the second column of R(a) is a quarter of a turn further than the first, that of S(a) a quarter back
        turn = 1 if (second - first) % N == quarter else -1
        self.field.spend(2 * len(self.codes))
        return [self.index.get(tuple([(first + turn * b) % N for b in code])) for code in self.codes]
