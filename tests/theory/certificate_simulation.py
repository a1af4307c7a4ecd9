"""An exact run of a certificate's JSON, of one layer or several: plain Python, no code of the package.

Each head's state is a dense vector (a matrix, column after column). A token multiplies it by the gate, then by each
factor I - β v vᵀ in turn, then adds the additive term. Under the letter the new state of a head tells the point
before; the points of the heads read, the last running fastest, are the column of the next layer's letter.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any, TypeAlias

Vector: TypeAlias = tuple[Any, ...]


def exact(x: Any) -> Any:
    """A rational number from JSON."""
    return Fraction(x) if isinstance(x, str) else x


class HeadSimulation:
    """One head: its codes as dense vectors, and one token."""

    def __init__(self, head: dict[str, Any]) -> None:
        self.head, self.dim, self.columns = head, head["dim"], head["value_dim"]
        self.letter_actions = head.get("actions", list(range(len(head["transitions"]))))
        listed = [self.dense(code, self.dim) for code in head["codes"]]
        self.points = len(listed)
        if "pairs" in head:
            half = self.dim // 2
            listed = [self.dense(code, half) for code in head["codes"]]
            self.codes = [(*u, *v) for u, v in product(listed, listed)]
            self.point_of = [u for u, _ in product(range(self.points), range(self.points))]
        else:
            self.codes, self.point_of = listed, list(range(self.points))
        assert len(set(self.codes)) == len(self.codes)
        self.known: dict[tuple[int, Vector], Vector] = {}
        self.before = [self.points_before(t) for t in range(len(head["transitions"]))]

    def dense(self, entries: list[list[Any]], dim: int) -> Vector:
        """Rows after one another, each with all its columns."""
        vector = [0] * (dim * self.columns)
        for i, j, x in entries:
            vector[i * self.columns + j] = exact(x)
        return tuple(vector)

    def token(self, t: int, state: Vector) -> Vector:
        """One transition."""
        if (t, state) not in self.known:
            self.known[t, state] = self.computed(self.head["transitions"][t], list(state))
        return self.known[t, state]

    def computed(self, transition: dict[str, Any], H: list[Any]) -> Vector:
        """Gate, factors one by one, additive term."""
        width = self.columns
        gate = exact(transition.get("gate", 1))
        H = [gate * x for x in H]
        for beta, vector in transition["factors"]:
            v = [0] * self.dim
            for i, x in vector:
                v[i] = exact(x)
            for j in range(width):
                dot = sum(v[i] * H[i * width + j] for i in range(self.dim))
                for i in range(self.dim):
                    H[i * width + j] -= exact(beta) * v[i] * dot
        for i, j, x in transition.get("additive", []):
            H[i * width + j] += exact(x)
        return tuple(H)

    def points_before(self, t: int) -> dict[Vector, int | None]:
        """What a new state tells under a transition: the point before, None where it may be several."""
        before: dict[Vector, int | None] = {}
        for code, point in zip(self.codes, self.point_of, strict=True):
            after = self.token(t, code)
            before[after] = point if before.get(after, point) == point else None
        return before


class CertificateSimulation:
    """All layers; `states(word)` gives what the LRNN says after each letter."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.layers = [[HeadSimulation(head) for head in layer["heads"]] for layer in document["layers"]]
        self.rows = document["decode"]

    def row_of(self, state: int) -> int:
        """The first row of `decode` over a state."""
        return next(r for r, row in enumerate(self.rows) if row[0] == state)

    def states(self, word: Sequence[int], row: int = 0) -> list[int | None]:
        """States after each letter, from the codes in a row of `decode`; None where a read-out tells nothing."""
        place = iter(self.rows[row][1:])
        H = [[head.codes[next(place)] for head in layer] for layer in self.layers]
        said: list[int | None] = []
        for letter in word:
            x: int | None = letter
            for i, layer in enumerate(self.layers):
                if x is None:
                    break
                for h, head in enumerate(layer):
                    H[i][h] = head.token(head.letter_actions[x], H[i][h])
                x = self.read_out(i, x, H[i])
            said.append(x)
            if x is None:
                break
        return said + [None] * (len(word) - len(said))

    def read_out(self, i: int, x: int, H: list[Vector]) -> int | None:
        """From the letter and the new states of a layer's heads."""
        layer, data = self.layers[i], self.document["layers"][i]
        if "reads" not in data:
            codes = [head.codes.index(state) for head, state in zip(layer, H, strict=True)]
            return next((row[0] for row in self.rows if row[1:] == codes), None)
        column = 0
        for h in data["reads"][x]:
            point = layer[h].before[layer[h].letter_actions[x]].get(H[h])
            if point is None:
                return None
            column = column * layer[h].points + point
        following: int | None = data["next"][x][column]
        return following


def automaton_states(document: dict[str, Any], word: Sequence[int], start: int) -> list[int]:
    """The states of the certificate's automaton."""
    result = []
    for x in word:
        start = document["automaton"]["transitions"][x][start]
        result.append(start)
    return result


def wrong_word(document: dict[str, Any], words: Sequence[Sequence[int]]) -> tuple[list[int], int] | None:
    """A word, cut after the first wrong token, and the state it starts in; None where all words are right."""
    simulation = CertificateSimulation(document)
    for number, word in enumerate(words):
        row = number % len(simulation.rows)
        start = simulation.rows[row][0]
        for t, (said, right) in enumerate(
            zip(simulation.states(word, row), automaton_states(document, word, start), strict=True)
        ):
            if said != right:
                return list(word[: t + 1]), start
    return None
