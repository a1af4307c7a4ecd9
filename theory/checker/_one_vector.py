"""Bounds for linear RNNs with one vector a state: the numbers in the state, and one layer of norm at most 1.

State q of the automaton always stands at the same vector p_q, different states at different vectors, and a letter x acts as
p ↦ A_x p + b_x with A_x p_q + b_x = p_x(q). A layer in which a state has several vectors, such as one that decays, is not meant:
"contains a, then b" has no layer of norm at most 1 with one vector a state, and one with decaying states. With D the span of all
differences p_q - p_r, and A_w the product of the A_x along a word w, A_w (p_q - p_r) = p_w(q) - p_w(r).

- PD.N-1, by words: let w have exactly two images a, b. If Σ c_q p_q = 0 and Σ c_q = 0, then applying w gives c(w⁻¹(a)) (p_a - p_b) = 0,
  where c(S) is the sum of c over S. So c is orthogonal to the indicator of w⁻¹(a), and to the vector of ones. Where m such
  indicators and the vector of ones are independent, the c have n - 1 - m dimensions at most, and dim D, which is n - 1 less
  these, is m at least. They are independent over Q if they are modulo a prime.
- own.ranks: the prefixes of a word w have r + 1 different numbers of images, from n downwards. Where the number falls, two states q, r
  meet: p_q - p_r goes to 0 and did not before, so the kernel on D grows, r times. If w has two images or more, D is not all of
  the kernel at the end. So dim D ≥ r, and ≥ r + 1 if w is no reset.
- own.LMI: let G = PᵀP with the columns p_q of P, and ‖A_x‖ ≤ 1. For x of sum zero with T_u T_a x = x (T_a the 0/1 matrix of the
  letter a, u a word), ‖Px‖ = ‖A_u A_a Px‖ ≤ ‖A_a Px‖ ≤ ‖Px‖, so that (I - A_aᵀA_a) Px = 0, and for every y of sum zero
      yᵀ G x = (T_a y)ᵀ G (T_a x).
  Where a combination of these equations is N(e_q - e_r) = 0, N(z) = zᵀGz, q ≠ r, the states q and r stand at one point.
"""

from __future__ import annotations

from collections import deque
from heapq import heappop, heappush
from math import gcd
from typing import Any, TypeAlias

from ._exact import array, integer, need, record, same, show_value

Map: TypeAlias = tuple[int, ...]
Word: TypeAlias = tuple[int, ...]
Letters: TypeAlias = list[tuple[int, Map]]

SPLITTING = 400_000  # entries of the maps composed, in the search for words with two images
SPANNED = 4_000_000  # states³ × letters that act differently, for the independent indicators
RANKED = 200_000  # entries of the maps composed, in the search for a word whose prefixes have many ranks
RETURNS = 20_000  # vectors listed on the way back to x
PRIME = 2**31 - 1

ONE_VECTOR = "one layer with affine letters of any norm, one vector a state of the automaton, exact; counted are the numbers in it, over all heads"
# (figure, reason): kind, hypotheses
RULES = {
    ("state_size", "PD.N-1"): ("proved", ONE_VECTOR),
    ("state_size", "own.ranks"): ("proved", ONE_VECTOR),
    ("layers", "own.LMI"): (
        "proved",
        "every norm of A(x) at most 1 and gate in [0, 1], one vector a state of the automaton if there is one layer, exact",
    ),
}

WITNESSED = ("layers", "own.LMI")  # verified by its evidence, not found again


def different_letters(letters: Letters) -> Letters:
    """The first letter of each map."""
    first: dict[Map, int] = {}
    for x, f in letters:
        first.setdefault(f, x)
    return [(x, f) for f, x in first.items()]


class Span:
    """Vectors modulo a prime: what is independent modulo it is independent over the rational numbers."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, list[int]]] = []  # pivot, and a vector that is 1 there

    def add(self, vector: list[int]) -> bool:
        """Whether the vector is independent of those before; it is then one of them."""
        for pivot, row in self.rows:
            if factor := vector[pivot]:
                vector = [(x - factor * y) % PRIME for x, y in zip(vector, row, strict=True)]
        pivot = next((i for i, x in enumerate(vector) if x), -1)
        if pivot < 0:
            return False
        inverse = pow(vector[pivot], -1, PRIME)
        self.rows.append((pivot, [x * inverse % PRIME for x in vector]))
        return True


def splitting_words(letters: Letters, n: int) -> list[Word]:
    """Words with two images, n - 1 at most, whose preimages (of the least image) are independent with the vector of ones.

    Maps of words are composed letter by letter, always from one with the fewest images of three or more, the first found of these. Of
    a word w with two images, the words x·w are tried too, for each letter x: their preimages are those of w under x.
    """
    letters = different_letters(letters)
    if n < 3 or n**3 * len(letters) > SPANNED:
        return []
    span = Span()
    span.add([1] * n)
    found: list[tuple[Word, list[int]]] = []

    def add(word: Word, preimage: list[int]) -> bool:
        """Whether there are n - 1 words now."""
        waiting = deque([(word, preimage)])
        while waiting and len(found) < n - 1:
            after, inside = waiting.popleft()
            if span.add(inside):
                found.append((after, inside))
                waiting.extend(((x, *after), [inside[q] for q in f]) for x, f in letters)
        return len(found) == n - 1

    start = tuple(range(n))
    listed: list[tuple[Word, Map]] = [((), start)]
    seen = {start}
    waiting = [(n, 0)]
    steps = 0
    while waiting:
        steps += 1
        if steps > 1 and steps * len(letters) * n > SPLITTING:
            break
        word, f = listed[heappop(waiting)[1]]
        for x, g in letters:
            h = tuple([g[q] for q in f])
            if h in seen:
                continue
            seen.add(h)
            images = len(set(h))
            if images == 2 and add((*word, x), [int(q == min(h)) for q in h]):
                return [after for after, _ in found]
            if images > 2:
                heappush(waiting, (images, len(listed)))
                listed.append(((*word, x), h))
    return [after for after, _ in found]


def ranks(letters: Letters, n: int) -> tuple[int, Word]:
    """The bound of own.ranks and its word: the first with the most, always from a map after whose word the number fell most often."""
    letters = different_letters(letters)
    start = tuple(range(n))
    listed: list[tuple[Word, Map, int]] = [((), start, 0)]
    seen = {start}
    best = int(n > 1)
    best_word: Word = ()
    waiting = [(0, 0)]
    steps = 0
    while waiting:
        steps += 1
        if steps > 1 and steps * len(letters) * n > RANKED:
            break
        word, f, falls = listed[heappop(waiting)[1]]
        before = len(set(f))
        for x, g in letters:
            h = tuple([g[q] for q in f])
            if h not in seen:
                seen.add(h)
                images = len(set(h))
                after = falls + (images < before)
                heappush(waiting, (-after, len(listed)))
                listed.append(((*word, x), h, after))
                if after + (images > 1) > best:
                    best, best_word = after + (images > 1), (*word, x)
    return best, best_word


def one_vector_bounds(letters: Letters, n: int, largest: int) -> list[tuple[str, int, dict[str, Any]]]:
    """The bounds on the state that are searched here, beyond one that is known: reason, bound, evidence.

    Args:
        letters: the letters' maps.
        n: number of states.
        largest: the largest bound that is known, 0 for none.
    """
    result: list[tuple[str, int, dict[str, Any]]] = []
    words = splitting_words(letters, n) if largest < n - 1 else []
    if len(words) > max(largest, 1):
        largest = len(words)
        result.append(("PD.N-1", largest, {"words": [list(each) for each in words]}))
    if largest < n - 1:
        bound, word = ranks(letters, n)
        if bound > max(largest, 1):
            result.append(("own.ranks", bound, {"word": list(word)}))
    return result


def moved(f: Map, x: list[int]) -> list[int]:
    """T x: what stands at q is added at f(q)."""
    result = [0] * len(x)
    for q, entry in enumerate(x):
        result[f[q]] += entry
    return result


def shortest_return(delta: list[Map], x: list[int], goal: list[int]) -> list[int] | None:
    """The first word, shorter ones first, then by the letters' order, that takes a vector to another."""
    start, end = tuple(x), tuple(goal)
    words: dict[tuple[int, ...], Word] = {start: ()}
    queue = deque([start])
    while queue and end not in words:
        now = queue.popleft()
        for letter, f in enumerate(delta):
            after = tuple(moved(f, list(now)))
            if after not in words:
                if len(words) >= RETURNS:
                    return None
                words[after] = (*words[now], letter)
                queue.append(after)
    return list(words[end]) if end in words else None


def check_no_gram(evidence: Any, delta: list[Map], n: int, where: str) -> None:
    """`Invalid` unless the equations add up to `scale`·N(e_q - e_r) = 0 for two states q < r.

    The form is fixed: the equations in ascending order, none of them 0 = 0, each with the first letter that moves x and y so and with the
    first word that leads back; no common divisor.
    """
    data = record(evidence, {"pair", "scale", "equations"}, where)
    q, r = (integer(x, 0, n - 1, f"{where}.pair") for x in array(data["pair"], f"{where}.pair", 2))
    need(q < r, f"{where}.pair: not in ascending order")
    scale = integer(data["scale"], 1, 10**300, f"{where}.scale")
    total = [[0] * n for _ in range(n)]
    divisor, last = scale, None
    for i, said in enumerate(array(data["equations"], f"{where}.equations")):
        here = f"{where}.equations[{i}]"
        said = record(said, {"times", "letter", "after", "x", "y"}, here)
        times = integer(said["times"], -(10**300), 10**300, f"{here}.times")
        letter = integer(said["letter"], 0, len(delta) - 1, f"{here}.letter")
        x, y = (
            [
                integer(e, -(10**300), 10**300, f"{here}.{name}")
                for e in array(said[name], f"{here}.{name}", n)
            ]
            for name in "xy"
        )
        need(times and sum(x) == 0 and sum(y) == 0, f"{here}: x and y must be of sum zero, and times not 0")
        moved_x, moved_y = moved(delta[letter], x), moved(delta[letter], y)
        alike = next(a for a, f in enumerate(delta) if moved(f, x) == moved_x and moved(f, y) == moved_y)
        need(alike == letter, f"{here}.letter: letter {alike} moves x and y alike")
        back = shortest_return(delta, moved_x, x)
        word = [integer(a, 0, len(delta) - 1, f"{here}.after") for a in array(said["after"], f"{here}.after")]
        need(back is not None and word == back, f"{here}.after: not the first word that leads back to x")
        need(last is None or last < (letter, x, y), f"{here}: the equations are out of order")
        last = (letter, x, y)
        divisor = gcd(divisor, times)
        zero = True
        for j in range(n):
            for k in range(n):
                # twice the symmetric matrix of the left side less the right side
                entry = x[j] * y[k] + y[j] * x[k] - moved_x[j] * moved_y[k] - moved_y[j] * moved_x[k]
                zero = zero and not entry
                total[j][k] += times * entry
        need(not zero, f"{here}: it says 0 = 0")
    need(divisor == 1, f"{where}: scale and times have the common divisor {divisor}")
    wanted = [[0] * n for _ in range(n)]
    wanted[q][q] = wanted[r][r] = 2 * scale
    wanted[q][r] = wanted[r][q] = -2 * scale
    need(total == wanted, f"{where}: the equations do not add up to the squared distance of the two states")


def check_witness(said: dict[str, Any], maps: list[Map], n: int, where: str) -> None:
    """`Invalid` unless this is the bound of own.LMI, and its equations prove it."""
    key = (said["figure"], said["reason"])
    need(key == WITNESSED, f"{where}: no bound of {show_value(key[0])} by {show_value(key[1])} is known here")
    check_no_gram(said["evidence"], maps, n, f"{where}.evidence")
    for name, value in zip(("kind", "hypotheses", "at_least"), (*RULES[WITNESSED], 2), strict=True):
        need(same(said[name], value), f"{where}.{name}: it is {show_value(value)}")
