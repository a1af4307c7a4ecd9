"""Certified horizons: two programs agree on them, and the bound behind them holds in the rounded arithmetic itself."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
import pytest

from mirrormata.constructions._construct import construct
from mirrormata.constructions._head import Head
from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions._realisation import Sparse, Transition
from mirrormata.constructions.algebra._cyclotomic import enclosure
from mirrormata.constructions.algebra._householder import gh_factor
from mirrormata.constructions.automata._automaton import Indices
from mirrormata.tests.constructions.tables import construct_table
from mirrormata.tests.samples import sampled
from mirrormata.tests.theory.certified import CONSTRUCTIONS, ROUNDED, by_hand, document, lrnn
from mirrormata.theory._check import check
from mirrormata.theory._horizon import full_certificate, horizons
from mirrormata.theory.arithmetic._rounding import FORMATS, round_number
from mirrormata.theory.checker.horizon import FLOATS
from mirrormata.theory.running._run import run
from mirrormata.theory.running._stepper import LRNNStepper
from mirrormata.theory.running._weights import letter_rows
from mirrormata.theory.running._words import random_words

Exact = list[list[Fraction]]
BITS = 140


def rational(x: Any) -> Fraction:
    """A number to within 2^-BITS."""
    low, high = enclosure(x, BITS)
    return (low + high) / 2


def dense(entries: Sparse, head: Head) -> Exact:
    rows = [[Fraction(0)] * head.value_dim for _ in range(head.dim)]
    for i, j, x in entries:
        rows[i][j] = rational(x)
    return rows


class Bound:
    """The bound of the checker's text for one head and dtype, worked out anew in float64 with small slack."""

    def __init__(self, head: Head, dtype: str) -> None:
        fmt = FORMATS[dtype]
        codes = [np.array(dense(code, head), dtype=float) for code in head.codes]
        self.R = max(float(np.linalg.norm(c)) for c in codes)
        pairs = ((a, b) for k, a in enumerate(codes) for b in codes[:k])
        self.m = min(float(np.linalg.norm(a - b)) for a, b in pairs) / 2 * (1 - 2**-20)
        self.delta = max(
            _size(
                Fraction(round_number(x, dtype)) - rational(x)
                for row in letter_rows(t, head.dim)
                for x in row.values()
            )
            for t in head.transitions
        )
        start = [x for _, _, x in head.codes[0]]
        self.first = _size(Fraction(round_number(x, dtype)) - rational(x) for x in start)
        eta = float(Fraction(2) ** (fmt.min_exponent - fmt.precision))
        reach = (1 + self.delta) * (self.R + self.m)
        self.step = self.delta * self.R + 2.0**-fmt.precision * reach + head.dim * head.value_dim * eta

    def error(self, t: int) -> float:
        """What E_t cannot exceed while it stays below m."""
        return (self.first + t * self.step) / (1 - t * self.delta) * (1 + 1e-12)

    @property
    def horizon(self) -> int:
        """The largest t with t(c + mδ) < m - E_0."""
        if self.m <= self.first:
            return 0
        return int(np.ceil((self.m - self.first) / (self.step + self.m * self.delta))) - 1


def _size(errors: Any) -> float:
    return sqrt(sum((float(Fraction(e)) ** 2 for e in errors), 0.0))


@pytest.mark.parametrize("name", CONSTRUCTIONS)
def test_the_checker_finds_the_same_lengths(name: str) -> None:
    """The certificate's lengths come from the package, and the checker demands its own."""
    right = document(name)
    assert (right["kind"] == "horizon") == (name in ROUNDED)
    if name in ROUNDED:
        assert check(right).verdict == "valid"
        assert list(right["horizon"]["lengths"]) == list(FLOATS)
        assert right["horizon"]["lengths"] == horizons(lrnn(name))


@pytest.mark.parametrize("m", [5, 7, 9, 10, 11, 13, 16, 18, 25, 27, 35, 36, 49, 64, 100])
def test_counters(m: int) -> None:
    made = construct_table(f"mod:{m}", "DP.T4")
    found = full_certificate(made)
    assert check(found).verdict == "valid"
    if found["kind"] == "horizon":
        compare_with_the_formula(made, found["horizon"]["lengths"])


@pytest.mark.parametrize("name", [name for name in ROUNDED if not name.startswith("A5")])
def test_the_lengths_are_those_of_the_formula(name: str) -> None:
    compare_with_the_formula(lrnn(name), document(name)["horizon"]["lengths"])


def compare_with_the_formula(made: LRNN, lengths: dict[str, int | None]) -> None:
    for dtype, length in lengths.items():
        finite = [
            Bound(head, dtype).horizon
            for head in made.layers[0].heads
            if not all(isinstance(x, int) for x in head.numbers)
        ]
        assert length is not None
        assert length == pytest.approx(min(finite), rel=1e-9, abs=0 if length < 10**6 else 2), dtype


@pytest.mark.long
@pytest.mark.parametrize("m", sampled(range(5, 120), 6))
def test_many_counters(m: int) -> None:
    for spec in (f"mod:{m}", f"cycle:{m}", f"dihedral:{m}") if m < 24 else (f"mod:{m}", f"cycle:{m}"):
        made = construct(spec)
        found = full_certificate(made)
        assert check(found).verdict == "valid"
        if found["kind"] == "horizon":
            assert found["horizon"]["lengths"] == horizons(made)


def errors_along(made: LRNN, dtype: str, words: Indices) -> list[list[Fraction]]:
    """Squares of |H̃_t - H_t|, for each head, word and t ≥ 0: the rounded states exactly, H_t to 140 bits."""
    stepper = LRNNStepper(made, dtype)
    states = stepper.initial(len(words))
    heads = made.layers[0].heads
    codes = [[dense(code, head) for code in head.codes] for head in heads]
    at = [np.full(len(words), 0) for _ in heads]
    worst: list[list[Fraction]] = [[] for _ in heads]
    for t in range(words.shape[1] + 1):
        if t:
            states = stepper.step(states, words[:, t - 1])
            at = [head.code_transitions[words[:, t - 1], a] for head, a in zip(heads, at, strict=True)]
        for h, head in enumerate(heads):
            largest = Fraction(0)
            for H, c in {
                (H.tobytes(), int(c)): (H, int(c)) for H, c in zip(states[h], at[h], strict=True)
            }.values():
                error = sum(
                    (Fraction(H[i, j]) - codes[h][c][i][j]) ** 2
                    for i in range(head.dim)
                    for j in range(head.value_dim)
                )
                largest = max(largest, Fraction(error))
            worst[h].append(largest)
    return worst


def worst_words(made: LRNN, dtype: str, length: int) -> Indices:
    """Words that grow greedily: after each prefix the letter whose rounded step errs most; and each letter repeated."""
    stepper = LRNNStepper(made, dtype)
    letters = np.arange(len(made.automaton.letters))
    heads = made.layers[0].heads
    words = []
    for h, head in enumerate(heads):
        codes = np.array([dense(code, head) for code in head.codes], dtype=float)
        states, c, word = stepper.initial(1), 0, []
        for _ in range(length):
            after = stepper.step([np.repeat(H, len(letters), axis=0) for H in states], letters)
            images = head.code_transitions[:, c]
            x = int(np.argmax(np.linalg.norm(after[h] - codes[images], axis=(1, 2))))
            word.append(x)
            states, c = [H[x : x + 1] for H in after], int(images[x])
        words.append(word)
    repeated = np.repeat(letters[:, None], length, axis=1)
    return np.concatenate([np.array(words), repeated])


NOTHING_CLAIMED = {("mod:60", "fp8_e4m3"), ("thirds", "fp8_e4m3")}
"""Where the horizon is 0, so that no step has a bound."""


@pytest.mark.parametrize(("name", "dtype"), sorted(NOTHING_CLAIMED))
def test_a_format_too_coarse_has_the_horizon_zero(name: str, dtype: str) -> None:
    assert document(name)["horizon"]["lengths"][dtype] == 0


@pytest.mark.parametrize(
    ("name", "dtype"),
    sorted({(name, dtype) for name in ROUNDED for dtype in ("bf16", "fp16", "fp8_e4m3")} - NOTHING_CLAIMED),
)
def test_no_error_exceeds_the_bound_at_any_step(name: str, dtype: str) -> None:
    made = lrnn(name)
    length = min(document(name)["horizon"]["lengths"][dtype], 120)
    assert length > 0
    words = np.concatenate([random_words(made, 8, length, 0), worst_words(made, dtype, length)])
    seen = errors_along(made, dtype, words)
    for head, errors in zip(made.layers[0].heads, seen, strict=True):
        if all(isinstance(x, int) for x in head.numbers):
            assert not any(errors)
            continue
        bound = Bound(head, dtype)
        for t, error in enumerate(errors):
            assert sqrt(error) <= bound.error(t) + 2.0**-60, t
            assert sqrt(error) < bound.m
        if name != "halves":
            assert any(errors)


@pytest.mark.parametrize("dtype", ["bf16", "fp16", "fp32"])
@pytest.mark.parametrize("name", ROUNDED)
def test_ten_thousand_words_without_an_error_up_to_the_horizon(name: str, dtype: str) -> None:
    length = min(document(name)["horizon"]["lengths"][dtype], 12 if name.startswith("A5") else 20)
    report = run(lrnn(name), random_words(lrnn(name), 10_000, length, 1), dtype=dtype)
    assert report.tokens == 10_000 * length
    assert report.errors == 0
    assert report.margin is None or report.margin > 0


@pytest.mark.parametrize(
    "words", [pytest.param(400, marks=pytest.mark.long), pytest.param(2_000, marks=pytest.mark.exhaustive)]
)
@pytest.mark.parametrize("name", ROUNDED)
def test_many_words_up_to_the_whole_horizon(name: str, words: int) -> None:
    for dtype in ("bf16", "fp16"):
        length = document(name)["horizon"]["lengths"][dtype]
        assert run(lrnn(name), random_words(lrnn(name), words, length, 2), dtype=dtype).errors == 0
    length = min(document(name)["horizon"]["lengths"]["fp32"], 100_000)
    assert run(lrnn(name), random_words(lrnn(name), words // 100, length, 2), dtype="fp32").errors == 0


def test_mod_60_is_right_for_long_in_fp32_and_fails_soon_in_bf16() -> None:
    lengths = document("mod:60")["horizon"]["lengths"]
    assert lengths["fp32"] >= 10_000
    assert run(lrnn("mod:60"), random_words(lrnn("mod:60"), 20, 10_000, 0), dtype="fp32").errors == 0
    report = run(lrnn("mod:60"), random_words(lrnn("mod:60"), 50, 1_000, 0), dtype="bf16")
    assert report.first_error is not None
    assert report.first_error > lengths["bf16"]
    assert (
        run(construct("mod:60", exactness="integer"), random_words(lrnn("mod:60"), 20, 1_000, 0)).errors == 0
    )


def test_a_run_from_any_start_is_exact_where_the_start_is_exact() -> None:
    """The horizon counts the rounding of one initial state only, that of the automaton's start."""
    made = lrnn("mod:9")
    stepper = LRNNStepper(made, "bf16", 4)
    code = dense(
        made.layers[0].heads[0].codes[int(made.decode[stepper.start_row, 1])], made.layers[0].heads[0]
    )
    H = stepper.initial(1)[0][0]
    assert any(Fraction(H[i, 0]) != code[i][0] for i in range(2))


def test_heads_are_decoded_together() -> None:
    """A head of huge codes drowns the small distances of another one in the decoder's float64 sums."""
    big = 2**27
    codes: list[Sparse] = [((0, 0, big),), ((0, 0, -big),)]
    sign = Transition((gh_factor(2, {0: 1}),))
    large = by_hand([sign, Transition()], codes, [[1, 0], [0, 1]])
    small = lrnn("mod:60")
    alone = horizons(small)
    heads = (small.layers[0].heads[0], large.layers[0].heads[0])
    decode = np.concatenate([small.decode, np.zeros((len(small.decode), 1), dtype=np.int64)], axis=1)
    together = LRNN(small.automaton, (type(small.layers[0])(heads),), decode, "none", "two heads")
    assert alone["fp32"] != 0
    assert horizons(together)["fp32"] == 0


def test_states_beyond_the_format_have_no_horizon() -> None:
    size = Fraction(10**6, 3)
    codes: list[Sparse] = [((0, 0, size),), ((0, 0, -size),)]
    made = by_hand([Transition((gh_factor(2, {0: 1}),)), Transition()], codes, [[1, 0], [0, 1]])
    found = full_certificate(made)
    assert check(found).verdict == "valid"
    lengths = found["horizon"]["lengths"]
    assert [lengths[d] for d in ("fp16", "fp8_e4m3", "fp8_e5m2")] == [0, 0, 0]
    assert lengths["fp32"] > 10**6


def test_no_horizon_where_the_bound_does_not_hold() -> None:
    """Additive terms, and matrices of any norm: the table alone is certified."""
    half: Sparse = ((0, 0, Fraction(1, 2)),)
    added = by_hand([Transition(gate=-1, additive=half), Transition()], [half, ()], [[1, 0], [0, 1]])
    skewed = Transition(matrix=((0, 0, 1), (0, 1, Fraction(100, 3)), (1, 1, -1)))
    codes: list[Sparse] = [((1, 0, 1),), ((0, 0, Fraction(100, 3)), (1, 0, -1))]
    matrix = by_hand([skewed], codes, [[1, 0]], dim=2)
    for made in (added, matrix):
        assert made.exactness == "algebraic"
        found = full_certificate(made)
        assert found["kind"] == "table"
        assert check(found).verdict == "valid", check(found).reason
