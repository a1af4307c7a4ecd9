"""One head of a certificate: read in its canonical form, and its codes proved closed under the letters."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import gcd
from typing import Any

from ._budget import Budget
from ._cosines import CosineField
from ._exact import MAX_CONDUCTOR, Invalid, Number, array, bits_of, integer, need, number, record, sign
from ._labels import canonical
from ._plane import Plane
from ._rows import MAX_KEPT, PRODUCT, ExactRows, Rows, Sparse

BIG = 2**62


class Codes:
    """Codes in their order; `rows`: all side by side, column j of code c as column c·columns + j."""

    def __init__(self, codes: list[Sparse], dim: int, columns: int) -> None:
        self.index = {code: c for c, code in enumerate(codes)}
        self.rows: Rows = [{} for _ in range(dim)]
        for c, code in enumerate(codes):
            for i, j, x in code:
                self.rows[i][c * columns + j] = x


class Head(ExactRows):
    """One head, read and checked for form; `images` proves that its codes are closed under the letters."""

    def __init__(
        self, data: Any, letters: int, where: str, layered: bool = False, budget: Budget | None = None
    ) -> None:
        super().__init__(budget or Budget(data))  # that of the whole file, where the head is one of several
        self.pairs = layered and type(data) is dict and "pairs" in data
        optional = ["actions"] * layered + ["pairs"] * self.pairs
        record(data, {"field", "dim", "value_dim", "transitions", "codes", *optional}, where)
        need(not self.pairs or data["pairs"] is True, f"{where}.pairs: it is true or left out")
        self.where = where
        self.field = self.budget.field(integer(data["field"], 1, MAX_CONDUCTOR, f"{where}.field"))
        self.dim = integer(data["dim"], 1, BIG, f"{where}.dim")
        self.value_dim = integer(data["value_dim"], 1, BIG, f"{where}.value_dim")
        self.used: set[int] = set()
        self.copies = False
        self.numbers: list[Number] = []
        self.factors: dict[str, tuple[Number, Sparse, Sparse]] = {}  # those read, by their text
        raw = array(data["codes"], f"{where}.codes")
        self.codes = [self.entries(c, self.value_dim, f"{where}.codes[{i}]") for i, c in enumerate(raw)]
        self.points = len(self.codes)
        self.vectors = self.codes
        if self.pairs:
            self.pair_codes()
        need(len(set(self.codes)) == len(self.codes), f"{where}: two codes are equal")
        columns = {j for code in self.codes for _, j, _ in code}
        need(len(columns) == self.value_dim, f"{where}: value_dim is not the number of columns in use")
        self.actions = list(range(letters))
        if layered:
            self.actions = array(data["actions"], f"{where}.actions", letters)
            kinds = canonical(self.actions, f"{where}.actions")
            raw = array(data["transitions"], f"{where}.transitions", kinds)
        else:
            raw = array(data["transitions"], f"{where}.transitions", letters)
        self.transitions = [self.transition(t, f"{where}.transitions[{x}]") for x, t in enumerate(raw)]
        need(len(self.used) == self.dim, f"{where}: dim is not the number of rows in use")
        self.integer = all(type(x) is int for x in self.numbers)
        need(
            self.field.conductor == 1 or self.field.degree > 1,
            f"{where}: the field is the rationals: write 1",
        )
        rational = all(isinstance(x, int | Fraction) for x in self.numbers)
        need(rational == (self.field.conductor == 1), f"{where}: the field does not fit the numbers")

    def pair_codes(self) -> None:
        """The codes are all pairs (u, v) of the listed ones, v below u; code u·points + v."""
        half, odd = divmod(self.dim, 2)
        # u stands in the first half of the rows, v in the second
        need(not odd and max(self.used, default=-1) < half, f"{self.where}: pairs need twice the rows")
        self.used |= {half + i for i in self.used}
        # all pairs stand side by side in memory, which costs more than a step with a number
        self.budget.spend(PRODUCT * len(self.codes) * sum(1 + len(code) for code in self.codes))
        lower = [tuple((half + i, j, x) for i, j, x in code) for code in self.codes]
        self.codes = [(*u, *v) for u in self.codes for v in lower]

    def value(self, x: Any, where: str) -> Number:
        """A number, remembered."""
        result = number(x, self.field, where)
        self.numbers.append(result)
        # the bits of the largest number, by which `spend` counts
        self.bits = max(self.bits, bits_of(result))
        return result

    def entries(self, data: Any, columns: int, where: str) -> Sparse:
        """A sparse matrix [[row, column, value], ...] in order, without zeros."""
        result: list[tuple[int, int, Number]] = []
        for entry in array(data, where):
            i, j, x = array(entry, where, 3)
            integer(i, 0, self.dim - 1, where), integer(j, 0, columns - 1, where)
            self.used.add(i)
            result.append((i, j, self.value(x, where)))
            need(result[-1][2] != 0, f"{where}: a zero entry is written out")
            need(len(result) < 2 or result[-2][:2] < result[-1][:2], f"{where}: entries out of order")
        return tuple(result)

    def transition(self, data: Any, where: str) -> dict[str, Any]:
        """Factors or a matrix, an optional gate and additive term, each in canonical form."""
        need(type(data) is dict, f"{where}: not an object")
        need(set(data) <= {"factors", "matrix", "gate", "additive"}, f"{where}: unknown key")
        need(("factors" in data) != ("matrix" in data), f"{where}: give factors or a matrix")
        result: dict[str, Any] = {"gate": 1, "additive": (), "factors": []}
        if "gate" in data:
            gate = result["gate"] = self.value(data["gate"], f"{where}.gate")
            # |gate| ≤ 1 keeps norms; 1 is left out, and where it is 0 factors would do nothing
            need(
                "factors" in data
                and (gate != 0 or not data["factors"])
                and gate != 1
                and sign(1 - gate) > 0
                and sign(1 + gate) >= 0,
                f"{where}: bad gate",
            )
        if "additive" in data:
            result["additive"] = self.entries(data["additive"], self.value_dim, f"{where}.additive")
            need(result["additive"], f"{where}: an empty additive term is written out")
        if "matrix" in data:
            result["matrix"] = self.entries(data["matrix"], self.dim, f"{where}.matrix")
        for i, factor in enumerate(array(data.get("factors", []), where)):
            # many transitions share factors: what is written alike is read once
            text = repr(factor)
            if text not in self.factors:
                self.factors[text] = self.factor(factor, f"{where}.factors[{i}]")
            result["factors"].append(self.factors[text])
        return result

    def factor(self, data: Any, where: str) -> tuple[Number, Sparse, Sparse]:
        """[β, v]: v canonical, and 0 < β‖v‖² ≤ 2, which proves the factor's norm to be 1 at most. Gives (β, v, v).

        [1, e_i - e_j, [j]]: the copy I - v (v⊙e_j)ᵀ, which sends e_j to e_i and keeps the rest; its norm is √2.
        Gives (1, v, v⊙e_j).
        """
        beta, v, *mask = array(data, where, 3 if type(data) is list and len(data) == 3 else 2)
        beta = self.value(beta, where)
        # v as a column
        v = self.entries([[*array(e, where, 2)[:1], 0, e[1]] for e in array(v, where)], 1, where)
        need(v, f"{where}: an empty vector")
        if mask:
            need(beta == 1 and [x for _, _, x in v] == [1, -1], f"{where}: a mask belongs to a copy only")
            read = tuple(e for e in v if [e[0]] == mask[0] and type(mask[0][0]) is int)
            need(len(read) == 1, f"{where}: the mask is one of the vector's two rows")
            self.copies = True
            return beta, v, read
        # each line of vectors has one form: integers without a common divisor, or 1 in front, or norm 1 for sums of cosines
        whole = [x for _, _, x in v if isinstance(x, int)]
        if len(whole) == len(v):
            need(
                whole[0] > 0 and gcd(*whole) == 1,
                f"{where}: the vector is not primitive with a positive start",
            )
        elif isinstance(self.field, CosineField):
            need(
                sign(v[0][2]) > 0 and sum((x * x for _, _, x in v), start=0) == 1,
                f"{where}: the vector does not have norm 1 and a positive start",
            )
            need(
                not self.field.proportional([x for _, _, x in v]), f"{where}: write this vector with integers"
            )
        else:
            need(v[0][2] == 1, f"{where}: the vector does not start with 1")
            # a vector that integers could write must be written by them
            need(
                any(not isinstance(x, int | Fraction) for _, _, x in v),
                f"{where}: write this vector with integers",
            )
        size: Number = 0
        for _, _, x in v:
            size = size + x * x
            self.budget.spend(PRODUCT, bits_of(size))
        size = beta * size
        # I - β v vᵀ multiplies v by 1 - β‖v‖² and keeps what is orthogonal: |1 - β‖v‖²| ≤ 1 bounds its norm
        need(sign(size) > 0 and sign(2 - size) >= 0, f"{where}: beta |v|^2 is not in (0, 2]")
        return beta, v, v

    def images(self) -> list[list[int]]:
        """For each letter the code that each code goes to; `Invalid` where an image is no code."""
        self.spend(len(self.transitions) * sum(len(code) for code in self.codes))
        # every number of the file, the gate 1 that is left out, and each factor's β v_i
        self.see([*self.numbers, *[1][: len(self.transitions)]])
        self.see([x * beta for beta, v, _ in self.factors.values() for _, _, x in v])
        images = [self.turned(t, f"{self.where}.transitions[{x}]") for x, t in enumerate(self.transitions)]
        # letters often differ in B alone: those with one A, whose products with the codes are formed once
        alike: dict[tuple[Any, ...], list[int]] = {}
        for x, t in enumerate(self.transitions):
            if not images[x]:
                A = (t["gate"], t.get("matrix"), *t["factors"])
                alike.setdefault((self.pairs and self.keeps_second(t), A), []).append(x)
        every = Codes(self.codes, self.dim, self.value_dim)
        upper = Codes(self.vectors, self.dim, self.value_dim) if self.pairs else every
        for (kept, _), letters in alike.items():
            codes = upper if kept else every
            products, kinds = self.multiply(self.transitions[letters[0]], codes)
            for x in letters:
                after = self.landings(products, self.transitions[x]["additive"], codes)
                if -1 in after:
                    c = kinds.index(after.index(-1))
                    raise Invalid(f"{self.where}.transitions[{x}]: code {c} does not go to a code")
                image = [after[kind] for kind in kinds]
                # (u, v) goes where u does, and v stays
                images[x] = (
                    [u * self.points + v for u in image for v in range(self.points)] if kept else image
                )
        return images

    def keeps_second(self, transition: dict[str, Any]) -> bool:
        """Whether a letter touches the rows of the first half alone, those of u in a pair (u, v)."""
        touched = [*transition["additive"], *(e for _, v, _ in transition["factors"] for e in v)]
        half = self.dim // 2
        return transition["gate"] == 1 and "matrix" not in transition and all(i < half for i, _, _ in touched)

    def turned(self, transition: dict[str, Any], where: str) -> list[int]:
        """The codes after a letter by their angles; empty where these do not tell."""
        if self.plane is None or transition["additive"]:
            return []
        turned = self.plane.images(self.matrix(transition)) or []
        need(None not in turned, f"{where}: a code does not go to a code")
        return [after for after in turned if after is not None]

    def landings(self, products: list[Sparse], additive: Sparse, codes: Codes) -> list[int]:
        """The number of the code A C + B for each product A C, -1 where it is none."""
        self.spend(len(products) * len(additive))
        landings = []
        for product in products:
            if additive:
                summed = {(i, j): x for i, j, x in product}
                for i, j, b in additive:
                    summed[i, j] = summed.get((i, j), 0) + b
                product = tuple(sorted((i, j, x) for (i, j), x in summed.items() if x != 0))
                self.see([x for _, _, x in product])
            # the claim: a code goes to a code, entry by entry
            landings.append(codes.index.get(product, -1))
        return landings

    def multiply(self, transition: dict[str, Any], start: Codes) -> tuple[list[Sparse], list[int]]:
        """The different matrices A C, and which of them each code has.

        Integer heads follow the states through each factor, others form A first.
        """
        if "matrix" in transition or not self.integer:
            # the bound counts numbers between the factors too,
            # so integer heads may not multiply factors into A
            terms: list[list[tuple[Number, dict[int, Number]]]] = [[] for _ in range(self.dim)]
            for i, k, a in self.matrix(transition):
                self.see([a])
                terms[i].append((a, start.rows[k]))
            rows, kept = [], 0
            for part in terms:
                rows.append(self.total(part))
                kept += len(rows[-1])
                need(kept <= MAX_KEPT, f"{self.where}: a product has more than {MAX_KEPT:,} numbers")
        else:
            gate = transition["gate"]
            # the gate comes before the first factor
            gated = [{c: gate * x for c, x in row.items() if gate} for row in start.rows]
            rows = self.reflect(gated, transition)
        codes: list[list[tuple[int, int, Number]]] = [[] for _ in start.index]
        width = self.value_dim
        for i, row in enumerate(rows):
            for column, x in row.items():
                # apart again, code by code
                codes[column // width].append((i, column % width, x))
        products: dict[Sparse, int] = {}
        kinds = [
            products.setdefault(tuple(sorted(code) if width > 1 else code), len(products)) for code in codes
        ]
        return list(products), kinds

    @cached_property
    def plane(self) -> Plane | None:
        """The codes by their angles, where the head is of dimension 2 over a field with sines and all columns have norm 1."""
        if self.dim != 2 or self.field.conductor % 4:
            return None
        plane = Plane(self.field, self.codes, self.value_dim)
        return plane if plane.complete else None

    def matrix(self, transition: dict[str, Any]) -> Sparse:
        """A of one letter: what its factors make of the identity."""
        if "matrix" in transition:
            return tuple(transition["matrix"])
        gate = transition["gate"]
        # factors applied to gate·I, in their order
        rows = self.reflect([{i: gate} if gate else {} for i in range(self.dim)], transition)
        return tuple((i, j, row[j]) for i, row in enumerate(rows) for j in sorted(row))
