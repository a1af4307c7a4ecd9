"""Checks a certificate of kind `bound`: what every linear RNN that follows an automaton must have at least.

Standard library only; run it as `python3 -I bound.py CERTIFICATE`. "Follows": after each word from each state the
RNN's states (and the last letter) determine the automaton's state. The checker finds the bounds of the table itself,
in one canonical order and with the first witnesses; each bound written must be one of them. The reasons, for a word
that moves states in a cycle of m ≥ 2 (F its affine map on the finite set of reachable RNN states, permuting R):

- H.rank (m ≥ 3, a letter, one layer): ‖A‖ ≤ 1 makes F an isometry of R, so A is orthogonal on the span D of its
  differences' columns, of an order divisible by m in all heads together. In some head it is no involution, has a
  non-real pair, and rank(A - I) ≥ 2. For m = 2: A = I on D would make F a translation of R, so the identity
  (a gate of -1 would do without a factor, so gates are in [0, 1]).
- CK.S5: letters that permute all states generate G. On the image R of an idempotent word of least rank each letter
  is orthogonal on D, and the finite group Γ of these maps has G as a quotient. Let a be a power of the letter, of
  order 5, y ∈ G, b = yay⁻¹, E = ⟨a, b⟩ ≅ A_5 (order 60, two Sylow 5-subgroups), a and b not conjugate in E. The
  kernels K_h of Γ on the heads meet in 1; were E in the image of each, so it would be in that of their commutator.
  So some head lets E be read off. Were there at most one non-real pair, an even power r of the letter would turn one
  plane and lie over a (or a power), and s = ỹrỹ⁻¹ by the same angle over b. ⟨r, s⟩ lives in SO(4), acts in SO(3)×SO(3)
  on both sides with r, s turning by that angle, and E is a quotient of one side, which then is the icosahedral
  group, where turns by the same angle are conjugate. But a and b are not. So there are two pairs: 4 factors.
- H.openβ: a factor with β‖v‖² < 2 fixes a vector whose norm it keeps. If all do, F is the identity on R, layer by
  layer, since a layer whose states stay feeds the next one the same letters each time.
- G.T1, G.T2: cited (arXiv 2411.12537), applied to the word as one letter: in model `cast` L layers, all of whose
  products of |w|·2^(i-1) matrices have real eigenvalues, turn with a period that divides 2^L (1 if non-negative).
- PD.N-1: the letters generate all maps (a 2-transitive group with a transposition, and a letter that merges exactly
  two states). If Σ c_q p_q = 0, Σ c_q = 0, the map "s to a, all else to b" makes it c_s (p_a - p_b) = 0: c = 0.
- PD.N-1 by words, own.ranks, own.LMI (whose equations are verified, not found again): `_one_vector.py`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any, TypeAlias

if not __package__:  # run alone: the files beside this one are found as the package `checker`
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    __package__ = "checker"

from ._exact import array, integer, need, record, same, show_value
from ._labels import count_noun, read_labels, require_kind
from ._one_vector import RULES as ONE_VECTOR_RULES
from ._one_vector import check_witness, one_vector_bounds
from ._program import run_alone

Map: TypeAlias = tuple[int, ...]
Word: TypeAlias = tuple[int, ...]
Letters: TypeAlias = list[tuple[int, Map]]

SEARCH = 2_000_000  # entries of the maps composed, after the first letters
PAIRS = 50_000  # entries of the pairs (a, y) tried
FIFTHS = 8  # groups ⟨a⟩ tried

FINITE = "one layer, every norm of A(x) at most 1 and gate in [0, 1], finitely many reachable states, exact"
# (figure, reason): kind, hypotheses
RULES = {
    ("householders", "H.rank"): ("proved", FINITE),
    ("householders", "CK.S5"): ("proved", FINITE),
    ("beta", "H.openβ"): (
        "proved",
        "any number of layers, every β‖v‖² in [0, 2] and gate in [0, 1], finitely many reachable states, exact",
    ),
    ("layers_beyond_nonnegative", "G.T1"): (
        "cited",
        "model cast, any number of layers; counted are those in which a product of A along repetitions of the word "
        "has an eigenvalue outside [0, ∞)",
    ),
    ("layers_beyond_real", "G.T2"): (
        "cited",
        "model cast, any number of layers; counted are those in which a product of |w|·2^(i-1) matrices of the i-th "
        "layer, w the word, has a non-real eigenvalue",
    ),
    ("triangular_layers", "G.T2"): (
        "cited",
        "model cast, all layers real and diagonal, or triangular in one basis a layer",
    ),
    ("single_factor_layers", "G.T2"): (
        "cited",
        "model cast, every A(x) one factor I - β v vᵀ times a gate, any β",
    ),
    **ONE_VECTOR_RULES,
}


def words(letters: Letters, n: int) -> Iterator[tuple[Word, Map]]:
    """The different maps of words, each with its first one: shorter words first, then by the letters' order."""
    listed: list[tuple[Word, Map]] = [((), tuple(range(n)))]
    seen = {listed[0][1]}  # the maps in `listed`, where each comes after those of shorter words
    yield listed[0]
    for i, (word, f) in enumerate(listed):
        if i and (i + 1) * len(letters) * n > SEARCH:
            return
        for x, g in letters:
            h = tuple([g[q] for q in f])
            if h not in seen:
                seen.add(h)
                listed.append(((*word, x), h))
                yield listed[-1]


def cycles(f: Map) -> list[Map]:
    """The cycles of two points or more, each from its least point, in the order of these."""
    seen = [-1] * len(f)  # from which point on each was first met
    found = []
    for p in range(len(f)):
        q = p
        while seen[q] < 0:
            seen[q] = p
            q = f[q]
        if seen[q] == p and f[q] != q:
            cycle = [q]
            while (q := f[q]) != cycle[0]:
                cycle.append(q)
            least = cycle.index(min(cycle))
            found.append(tuple(cycle[least:] + cycle[:least]))
    return sorted(found)


def power(f: Map, exponent: int) -> Map:
    """f applied so many times, by squaring."""
    result = tuple(range(len(f)))
    while exponent:
        if exponent & 1:
            result = tuple([f[q] for q in result])
        f = tuple([f[q] for q in f])
        exponent >>= 1
    return result


def period(f: Map) -> int:
    """Order of a permutation."""
    order = 1
    for length in {len(cycle) for cycle in cycles(f)}:
        a, b = order, length
        while b:
            a, b = b, a % b
        order *= length // a
    return order


def split_icosahedral(a: Map, b: Map) -> bool:
    """True where a and b, of order 5, generate a group of order 60 and are not conjugate in it."""
    group = [tuple(range(len(a)))]  # closed under a and b as it grows
    seen = set(group)
    for g in group:
        for s in (a, b):
            h = tuple([s[q] for q in g])
            if h not in seen:
                if len(group) == 60:  # a 61st element
                    return False
                seen.add(h)
                group.append(h)
    return len(group) == 60 and all(any(g[a[p]] != b[g[p]] for p in range(len(a))) for g in group)


def two_pairs(letters: Letters, n: int) -> dict[str, Any] | None:
    """Letter, exponent and word for CK.S5: a = letter^exponent, conjugated by the word."""
    fifths: list[tuple[int, int, Map]] = []
    groups: set[Map] = set()
    for x, f in letters:
        if len(fifths) < FIFTHS and any(len(cycle) % 5 == 0 for cycle in cycles(f)):
            exponent = period(f) // 5  # a power of order 5
            a = power(f, exponent)
            key = min(power(a, i) for i in range(1, 5))  # one for the subgroup {1, a, a², a³, a⁴}
            if key not in groups:
                groups.add(key)
                fifths.append((x, exponent, a))
    left = PAIRS // n if fifths else 0
    for word, y in words(letters, n) if left else ():
        for x, exponent, a in fifths if word else ():
            if not left:
                return None
            left -= 1
            b = [0] * n
            for p in range(n):
                b[y[p]] = y[a[p]]  # b = y a y⁻¹
            if split_icosahedral(a, tuple(b)):
                return {"letter": x, "exponent": exponent, "word": list(word)}
    return None


def all_maps(letters: Letters, permutations: Letters, n: int) -> dict[str, Any] | None:
    """A word with a transposition as a power, and a letter of rank n - 1, where the letters generate all maps."""
    merging = [x for x, f in letters if len(set(f)) == n - 1]  # exactly two states meet
    if n < 2 or not merging or n * n * len(permutations) > SEARCH:
        return None
    pairs = [(0, 1)]  # their orbit under the permutations; 2-transitive if it has all pairs
    seen = set(pairs)
    for p, q in pairs:
        for _, f in permutations:
            if (f[p], f[q]) not in seen:
                seen.add((f[p], f[q]))
                pairs.append((f[p], f[q]))
    if len(pairs) < n * (n - 1):
        return None
    for word, f in words(permutations, n):
        # an odd power of f, the lcm of the odd lengths, undoes all other cycles: the transposition is left
        if [len(cycle) for cycle in cycles(f) if len(cycle) % 2 == 0] == [2]:
            return {"transposition": list(word), "collapse": merging[0]}
    return None


def bounds(delta: list[list[int]], n: int) -> list[dict[str, Any]]:
    """All bounds that this checker knows for a table `[letters][states]`, in one order."""
    letters = [(x, tuple(row)) for x, row in enumerate(delta)]
    permutations = [(x, f) for x, f in letters if len(set(f)) == n]
    result: list[dict[str, Any]] = []

    def add(figure: str, reason: str, at_least: int, evidence: dict[str, Any]) -> None:
        kind, hypotheses = RULES[figure, reason]
        result.append(
            {
                "figure": figure, "at_least": at_least, "reason": reason, "kind": kind,
                "hypotheses": hypotheses, "evidence": evidence,
            }
        )  # fmt: skip

    def witness(word: Word, cycle: Map) -> dict[str, Any]:
        return {"word": list(word), "cycle": list(cycle)}

    by_letter = [((x,), cycle) for x, f in letters for cycle in cycles(f)]
    long = next((found for found in by_letter if len(found[1]) > 2), None)  # a cycle of m ≥ 3
    if by_letter:
        add("householders", "H.rank", 2 if long else 1, witness(*(long or by_letter[0])))
    pair = two_pairs(permutations, n)
    if pair:
        add("householders", "CK.S5", 4, pair)

    turning: list[tuple[Word, Map]] = []  # the first cycle, then each longer one while all are powers of two
    other = None  # a cycle whose length is no power of two
    for word, f in words(letters, n):
        found = cycles(f)
        other = next(((word, cycle) for cycle in found if len(cycle) & (len(cycle) - 1)), None)
        for cycle in found:
            if not turning or len(cycle) > len(turning[-1][1]):
                turning.append((word, cycle))
        if other:
            break
    if turning:
        add("beta", "H.openβ", 2, witness(*turning[0]))
        add("layers_beyond_nonnegative", "G.T1", 1, witness(*turning[0]))
    if other:
        add("layers_beyond_real", "G.T2", 1, witness(*other))
    elif turning and len(turning[-1][1]) > 2:
        add("triangular_layers", "G.T2", len(turning[-1][1]).bit_length() - 1, witness(*turning[-1]))
    if long:
        add("single_factor_layers", "G.T2", 2, witness(*long))
    generators = all_maps(letters, permutations, n)
    if generators:
        add("state_size", "PD.N-1", n - 1, generators)
    for reason, at_least, evidence in one_vector_bounds(letters, n, n - 1 if generators else 0):
        add("state_size", reason, at_least, evidence)
    return result


def check(document: Any) -> str:
    """A line of facts if the certificate is right; else `Invalid` with the reason."""
    require_kind(document, "bound")
    record(document, {"format", "kind", "labels", "automaton", "bounds"}, "certificate")
    need(document["format"] == "mirrormata-certificate/1", "unknown format")
    labels = read_labels(document["labels"], {"automaton"}, {"states", "letters"})
    n, k = len(labels["states"]), len(labels["letters"])
    automaton = record(document["automaton"], {"states", "letters", "transitions", "sources"}, "automaton")
    integer(automaton["states"], max(n, 1), n, "automaton.states")
    integer(automaton["letters"], k, k, "automaton.letters")
    delta = array(automaton["transitions"], "automaton.transitions", k)
    sources: list[list[list[int]]] = [[[] for _ in range(n)] for _ in range(k)]
    for x, row in enumerate(delta):
        for q, after in enumerate(array(row, "automaton.transitions", n)):
            sources[x][integer(after, 0, n - 1, "automaton.transitions")].append(q)
    need(
        same(automaton["sources"], sources),
        "automaton.sources: not the states that each letter takes to each state",
    )
    mine = bounds(delta, n)
    last = -1
    for i, said in enumerate(array(document["bounds"], "bounds")):
        where = f"bounds[{i}]"
        keys = {"figure", "at_least", "reason", "kind", "hypotheses", "evidence"}
        record(said, keys, where)
        key = (said["figure"], said["reason"])
        at = next((j for j, b in enumerate(mine) if (b["figure"], b["reason"]) == key), None)
        if at is None:
            check_witness(said, [tuple(row) for row in delta], n, where)
            at, mine = len(mine), [*mine, said]
        need(at > last, f"{where}: the bounds are out of order")
        last = at
        evidence = record(said["evidence"], set(mine[at]["evidence"]), f"{where}.evidence")
        for name, value in mine[at]["evidence"].items():
            need(same(evidence[name], value), f"{where}.evidence.{name}: it is {show_value(value)}")
        for name in sorted(keys - {"evidence"}):
            need(same(said[name], mine[at][name]), f"{where}.{name}: it is {show_value(mine[at][name])}")
    need(last >= 0, "bounds: empty")
    figures = ", ".join(f"{said['figure']} >= {said['at_least']}" for said in document["bounds"])
    return f"{count_noun(n, 'state')}, {count_noun(k, 'letter')}: {figures}"


if __name__ == "__main__":
    raise SystemExit(run_alone(check, sys.argv[1:]))
