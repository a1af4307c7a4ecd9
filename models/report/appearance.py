"""A series' role as colour, symbol and dash: the same in pages and in papers, on light and on dark ground."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin

LIGHT, DARK = "#ffffff", "#14171a"
"""Grounds of a page; every colour below has a contrast of 3 or more to both."""
ROLES = ("#0072B2", "#D55E00", "#4B8B3B", "#7A7A7A")
"""Constructed, learned, snapped, a bound; the first three are told apart where any one kind of cones is missing."""
GROUPS = ("#7F62C8", "#A6692C", "#128C9C", "#CC79A7", "#8A7A1B", "#D0416B")


def _corners(count: int, turn: float, inner: float = 1.0) -> str:
    radii = [1.0 if k % 2 == 0 else inner for k in range(count)]
    points = [
        (r * sin(2 * pi * k / count + turn), -r * cos(2 * pi * k / count + turn)) for k, r in enumerate(radii)
    ]
    return "M" + "L".join(f"{5 * x:.2f} {5 * y:.2f}" for x, y in points) + "Z"


_CROSS = "M-1.7-5H1.7V-1.7H5V1.7H1.7V5H-1.7V1.7H-5V-1.7H-1.7Z"
SYMBOLS = {
    "circle": ("o", "M-4.6 0A4.6 4.6 0 1 1 4.6 0A4.6 4.6 0 1 1-4.6 0Z"),
    "diamond": ("D", _corners(4, 0.0)),
    "square": ("s", "M-4-4H4V4H-4Z"),
    "triangle-up": ("^", _corners(3, 0.0)),
    "triangle-down": ("v", _corners(3, pi)),
    "cross": ("P", _CROSS),
    "star": ("*", _corners(10, 0.0, 0.42)),
    "hexagon": ("h", _corners(6, 0.0)),
    "pentagon": ("p", _corners(5, 0.0)),
    "x": ("X", "M-5-2.8L-2.8-5L0-2.2L2.8-5L5-2.8L2.2 0L5 2.8L2.8 5L0 2.2L-2.8 5L-5 2.8L-2.2 0Z"),
}
"""Plotly's name of a symbol: matplotlib's name, and its outline in a square from -5 to 5."""
_ORDER = tuple(SYMBOLS)
_HATCHES = ("", "/", "x", ".")


@dataclass(frozen=True)
class Look:
    """How a role is drawn. `hollow` symbols are larger rings: what lies on the same point is seen within them."""

    colour: str
    symbol: str
    dash: str
    hatch: str
    hollow: bool = False

    @property
    def marker(self) -> str:
        """matplotlib's name of the symbol."""
        return SYMBOLS[self.symbol][0]

    @property
    def outline(self) -> str:
        """The symbol as an SVG path around 0."""
        return SYMBOLS[self.symbol][1]


def look(role: int) -> Look:
    """The look of a role; 60 groups, roles 4 to 63, differ in colour or symbol, then they begin again."""
    if role < 0:
        raise ValueError(f"role {role}: roles count from 0")
    if role < len(ROLES):
        dash = ("solid", "solid", "dash", "dot")[role]
        return Look(ROLES[role], _ORDER[(0, 1, 2, 9)[role]], dash, _HATCHES[role], hollow=role == 0)
    group = role - len(ROLES)
    turn, colour = divmod(group, len(GROUPS))
    symbol = _ORDER[(colour + 7 * turn) % len(_ORDER)]
    return Look(GROUPS[colour], symbol, ("solid", "dash", "dot")[turn % 3], _HATCHES[turn % 4])
