"""Regions: balls about the codes that the letters keep, so that infinitely many states are answered rightly.

The proof is described in `equivalent.py`.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import ceil, isqrt
from operator import mul

from ._budget import Budget
from ._exact import need
from ._stored import TERM, Model, common, distance, right, size
from .table import Machine

GRID = 2**64
NORM_GRID = 2**12
ELIMINATED, RELAXED = (
    15,
    200,
)  # units of work for a number in an elimination, and for a radius that is compared
MAX_RELAXATIONS = 2_000_000
MAX_ENTRIES = 64  # of a state
MAX_DISTANCES = 50_000_000  # products in distances between codes and images of codes


def regions(model: Model, machine: Machine, answers: str, limit: int = MAX_RELAXATIONS) -> tuple[int, int]:
    """How many regions there are, and the largest radius on the grid; `Invalid` where there is no such proof."""
    arithmetic = model.arithmetic
    need(  # a grid may have -4 and no 4, so that there even an entry that only changes its sign is rounded
        arithmetic.kind == "exact" or (arithmetic.kind == "per_step" and arithmetic.format is not None),
        "regions are for exact numbers and for per_step of floats",
    )
    entries, codes = len(model.initial), len(model.codes)
    need(entries <= MAX_ENTRIES, f"model: regions are for states of at most {MAX_ENTRIES} entries")
    need(
        codes**2 * model.letters * entries <= MAX_DISTANCES,
        f"model.codes: more than {MAX_DISTANCES:,} products are needed for their distances",
    )
    # s of each letter in units of 2^-12, ‖B‖ and ‖c‖ on the grid of 2^-64, all rounded up
    norms = [spectral(model, x) for x in range(model.letters)]
    for x, norm in enumerate(norms):  # else x x x ... adds a rounding error each time
        need(norm < NORM_GRID or not rounding(model, x, 0), f"letter {x}: it rounds and does not contract")
    added = [root_up(sum((b * b for _, b in row), Fraction(0))) for row in model.rows]
    sizes = [root_up(distance(code, (1, [0] * entries))) for code in model.scaled_codes]
    first = model.nearest(model.initial), machine.start
    radius = {first: root_up(*model.distances(common(model.initial), [first[0]]))}
    images: dict[tuple[int, int], tuple[int, int]] = {}
    # the largest radius is kept, for a round may be of one ball among many
    queue, relaxed, largest = [first], 0, radius[first]
    # radii only grow; when the queue is empty every letter maps every ball into one of the balls found
    while queue:
        relaxed += len(queue) * model.letters
        need(relaxed <= limit, f"the radii do not settle in {limit:,} steps")
        model.budget.spend(RELAXED * len(queue) * model.letters, largest.bit_length())
        changed: dict[tuple[int, int], None] = {}
        for c, q in queue:
            for x in range(model.letters):
                if (c, x) not in images:
                    # A c + B, and the nearest code c′ with ‖A c + B - c′‖
                    centre = model.exactly(model.codes[c], x)
                    image = model.nearest(centre)
                    images[c, x] = image, root_up(*model.distances(common(centre), [image]))
                image, off = images[c, x]
                node, r = (image, machine.delta[x][q]), radius[c, q]
                # |A c + B - c′| + ‖A‖ r, then what rounding a state of norm ‖A‖(|c| + r) + |B| adds
                # off + s r + ε, every term rounded up
                reach = off - (-norms[x] * r // NORM_GRID)
                reach += rounding(model, x, -(-norms[x] * (sizes[c] + r) // NORM_GRID) + added[x])
                said = model.decode[image][x]
                need(
                    said == right(machine, answers, x, q, node[1]),
                    f"letter {x} in state {q}: the code answers {said}",
                )
                if reach > radius.get(node, -1):
                    radius[node] = reach
                    largest = max(largest, reach)
                    changed[node] = None
                    # an answer's ball may grow only as far as its cell
                    need(
                        apart(model, image, x, reach),
                        f"the ball about code {image} meets another answer's cell",
                    )
        queue = list(changed)
    # answers are asked letter by letter: the final ball after x against the codes that answer otherwise on x
    for (c, x), (image, _) in images.items():
        for q in range(len(machine.delta[x])):
            reach = radius.get((image, machine.delta[x][q]), 0) if (c, q) in radius else 0
            need(apart(model, image, x, reach), f"the ball about code {image} meets another answer's cell")
    return len(radius), largest


def apart(model: Model, c: int, x: int, radius: int) -> bool:
    """Is a ball about a code nearer to it than to every code with another answer on x? Strictly, so no ties."""
    if (c, x) not in model.rooms:
        # the codes that answer x otherwise; half the distance to the nearest of them is the room
        others = [k for k, row in enumerate(model.decode) if row[x] != model.decode[c][x]]
        squares = model.distances(model.scaled_codes[c], others)
        model.rooms[c, x] = min(squares) if squares else None
    room = model.rooms[c, x]
    # 2 r < least distance
    return room is None or 4 * radius * radius < room * GRID * GRID


def rounding(model: Model, x: int, size: int) -> int:
    """ε on the grid, for entries that together have at most this norm."""
    rough = model.rough[x]
    arithmetic = model.arithmetic
    if arithmetic.format is None or not rough:
        return 0
    precision, least, largest = arithmetic.format
    if arithmetic.mode not in (
        "rne",
        "tie_low",
    ):  # a directed rounding errs by a whole step, not by half of one
        precision -= 1
    # Y is at most half the largest number, so that no entry of a ball overflows
    need(size <= largest * (GRID // 2), "the balls may overflow")
    # half a step at most: 2^-p of the norm, and for each rounded entry half the spacing of the subnormals
    relative: int = -(-size // 2**precision)
    return relative + on_grid(rough, least - precision)


@cache
def on_grid(rough: int, exponent: int) -> int:
    """rough·2^exponent on the grid, rounded up; the same few are asked for at each comparison of radii."""
    return ceil(rough * Fraction(2) ** exponent * GRID)


def spectral(model: Model, x: int) -> int:
    """The least s with s/2^12 ≥ ‖A(x)‖₂, over all heads."""
    low, high = -1, 4 * NORM_GRID
    grams = []
    # AᵀA of each head, for A = (whole numbers) / D: its largest eigenvalue is ‖A‖₂²
    for block in model.blocks:
        n = len(block[x])
        D, whole = common([a for row in block[x] for a in row])
        model.budget.spend(TERM * n**3, size(D, whole))
        columns = [whole[j::n] for j in range(n)]
        grams.append((D, [[sum(map(mul, u, v)) for v in columns] for u in columns]))

    def suffices(s: int) -> bool:
        return all(dominates(s * D, gram, model.budget) for D, gram in grams)

    need(suffices(high), f"letter {x}: its norm exceeds 4")
    # invariant: s = high suffices for all heads, s = low does not (or is -1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


def dominates(s: int, gram: list[list[int]], budget: Budget) -> bool:
    """Is (s/2^12)² I - gram positive semidefinite? By elimination, exactly."""
    rest = [
        [(s * s if i == j else 0) - NORM_GRID**2 * g for j, g in enumerate(row)] for i, row in enumerate(gram)
    ]
    before = 1
    while rest:
        # Schur complements: what is left after one step is semidefinite if and only if the whole was
        pivot, *row = rest[0]
        # a symmetric matrix is semidefinite if its pivots are ≥ 0, and a pivot 0 has a row of zeros
        if pivot < 0 or (pivot == 0 and any(row)):
            return False
        budget.spend(ELIMINATED * (1 + len(row) ** 2), pivot.bit_length())
        below = rest[1:]
        if pivot == 0:
            rest = [r[1:] for r in below]
            continue
        # times the pivot, so that all stays whole; then the pivot before divides each number, for these are determinants of parts of
        # the matrix (Bareiss 1968), and both are positive, which changes no sign
        rest = [[(b * pivot - r[0] * a) // before for a, b in zip(row, r[1:], strict=True)] for r in below]
        before = pivot
    return True


def root_up(square: Fraction) -> int:
    """√square in units of the grid, rounded up."""
    scaled = ceil(square * GRID * GRID)
    root = isqrt(scaled)
    return root + (root * root < scaled)
