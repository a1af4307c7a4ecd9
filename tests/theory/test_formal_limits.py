"""What the checker that is proved in Coq computes before it checks: minimal polynomials, bounds of sparse matrices, and its limits."""

from __future__ import annotations

import copy
import json
import random
import resource
import time
from pathlib import Path
from typing import Any

import pytest

from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.foundation._errors import InputError
from mirrormata.theory._proved_check import find_proved_checker, run_proved_checker
from mirrormata.theory.checker._cyclotomic import degree_of
from mirrormata.theory.checker._exact import Element, Field, Number
from mirrormata.theory.proofs._prove import prove

from .both_checkers import judge_alike, python_verdict
from .hostile_certificates import document as layer_of
from .prove_models import flip_flop

pytestmark = pytest.mark.skipif(
    find_proved_checker() is None, reason="mirrormata-check is not built: `make formal` builds it, with Coq"
)
LIMIT = "MIRRORMATA_COQ_MAX_DEGREE"
RADIUS, KEPT = "MIRRORMATA_COQ_MAX_RADIUS_BITS", "MIRRORMATA_COQ_MAX_KEPT"


def table(
    states: int,
    transitions: list[list[int]],
    head: dict[str, Any],
    summary: dict[str, Any],
) -> dict[str, Any]:
    """A certificate of kind `table` with one head, whose codes stand for the states in their order."""
    return {
        "format": "mirrormata-certificate/1",
        "kind": "table",
        "labels": {
            "automaton": "x",
            "construction": "x",
            "theorem": "x",
            "states": [f"q{q}" for q in range(states)],
            "letters": [f"a{x}" for x in range(len(transitions))],
            "outputs": ["o"],
        },
        "automaton": {
            "states": states,
            "letters": len(transitions),
            "start": 0,
            "transitions": transitions,
            "outputs": [0] * states,
        },
        "layers": [{"heads": [head]}],
        "decode": [[q, q] for q in range(states)],
        "outputs": [0] * states,
        "summary": {"layers": 1, "heads": 1, "dim": head["dim"], **summary},
    }


def written(x: Number) -> Any:
    """A number as a certificate writes it; denominators are 1 here."""
    if not isinstance(x, Element):
        return int(x)
    found = list(x.coefficients)
    while found[-1] == 0:
        found.pop()
    return found


def turning(conductor: int) -> dict[str, Any]:
    """The matrix of trace θ = 2cos(2π/N) and determinant 1, which has the order N, as a counter modulo N."""
    field = Field(conductor)
    theta = field.element(1, [0, 1] + [0] * (field.degree - 2))
    codes: list[tuple[Number, Number]] = [(1, 0)]
    while len(codes) < conductor:
        x, y = codes[-1]
        codes.append((-y, x + theta * y))
    head = {
        "field": conductor,
        "dim": 2,
        "value_dim": 1,
        "transitions": [{"matrix": [[0, 1, -1], [1, 0, 1], [1, 1, [0, 1]]]}],
        "codes": [[[i, 0, written(x)] for i, x in enumerate(code) if x != 0] for code in codes],
    }
    summary: dict[str, Any] = {
        "householders": None,
        "exactness": "algebraic",
        "integer_bound": None,
        "formats": [],
        "norm": "unbounded",
    }
    return table(conductor, [[(q + 1) % conductor for q in range(conductor)]], head, summary)


def lone(conductor: int) -> dict[str, Any]:
    """One state, whose code is θ."""
    head = {
        "field": conductor,
        "dim": 1,
        "value_dim": 1,
        "transitions": [{"factors": []}],
        "codes": [[[0, 0, [0, 1]]]],
    }
    summary = {
        "householders": 0,
        "exactness": "algebraic",
        "integer_bound": None,
        "formats": [],
        "norm": "at most 1",
    }
    return table(1, [[0]], head, summary)


# primes, powers, products of two and three primes, even and odd; the degrees lie below 40 where 4 divides N
FIELDS = (
    5,
    7,
    8,
    9,
    10,
    11,
    12,
    13,
    14,
    15,
    16,
    18,
    20,
    21,
    24,
    25,
    27,
    30,
    32,
    33,
    35,
    36,
    42,
    45,
    49,
    60,
    63,
    66,
    70,
    84,
    105,
)


@pytest.mark.parametrize("conductor", FIELDS)
def test_both_checkers_reduce_by_the_same_minimal_polynomial(conductor: int) -> None:
    """Its powers are reduced on the way round; the Python checker makes the polynomial in another way."""
    right = turning(conductor)
    assert judge_alike(right, conductor)
    wrong = copy.deepcopy(right)
    number = wrong["layers"][0]["heads"][0]["codes"][-1][-1]
    number[2] = number[2] + 1 if isinstance(number[2], int) else [number[2][0] + 1, *number[2][1:]]
    assert not judge_alike(wrong, conductor)


def test_a_field_of_a_large_degree_takes_no_long_time() -> None:
    assert degree_of(9_973) == 4_986
    begin = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    assert run_proved_checker(lone(9_973)) == (True, "1 state, 1 letter, 1 code: equal on all words")
    # the recurrence of the Python checker takes some 15 seconds
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begin < 8


@pytest.mark.parametrize("conductor", [10_007, 39_989, 39_999])
def test_a_field_above_the_limit_is_refused_before_the_work(conductor: int) -> None:
    with pytest.raises(
        InputError, match=rf"the field {conductor} has degree [\d,]+, above the limit of 5,000.*{LIMIT}$"
    ):
        run_proved_checker(lone(conductor))


def test_the_limit_can_be_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT, "2")
    assert run_proved_checker(turning(5))[0]
    with pytest.raises(InputError, match=r"the field 7 has degree 3, above the limit of 2;"):
        run_proved_checker(turning(7))
    monkeypatch.setenv(LIMIT, "5_003")
    with pytest.raises(InputError, match=rf"{LIMIT} is not a degree: a whole number above 0 is needed"):
        run_proved_checker(turning(7))
    monkeypatch.setenv(LIMIT, "5003")
    assert run_proved_checker(lone(10_007))[0]


def swapped(rows: int) -> dict[str, Any]:
    """The identity and a swap of its first two rows: few entries in a matrix of rows² places."""
    identity = [[i, i, 1] for i in range(rows)]
    head = {
        "field": 1,
        "dim": rows,
        "value_dim": rows,
        "transitions": [{"factors": [[1, [[0, 1], [1, -1]]]]}],
        "codes": [identity, [[0, 1, 1], [1, 0, 1], *identity[2:]]],
    }
    summary = {
        "householders": 1,
        "exactness": "integer",
        "integer_bound": 1,
        "formats": ["fp64", "fp32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2"],
        "norm": "at most 1",
    }
    return table(2, [[1, 0]], head, summary)


@pytest.mark.parametrize("rows", [3, 1_500, 20_000])
def test_sparse_matrices_of_any_size_are_bounded(rows: int) -> None:
    right = swapped(rows)
    assert python_verdict(right)[0]
    assert run_proved_checker(right)[0]
    right["summary"]["integer_bound"] = 2
    accepted, reason = run_proved_checker(right)
    assert (accepted, reason) == (False, "summary.integer_bound: it is 1")


def test_too_many_pairs_are_refused_before_they_are_made(tmp_path: Path) -> None:
    """A small file that asks for 36,000,000 codes."""
    document = json.loads(json.dumps(swapped(2)))
    codes = [[[i, 0, 1]] for i in range(6_000)]
    head = {
        "field": 1,
        "dim": 12_000,
        "value_dim": 1,
        "pairs": True,
        "actions": [0],
        "transitions": [{"factors": []}],
        "codes": codes,
    }
    document["layers"] = [{"heads": [head], "reads": [[0]], "next": [[0] * 6_000]}] * 2
    document["covering"] = {}
    path = tmp_path / "pairs.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InputError, match=r"pairs of 6,000 codes are more than the limit of 4,000,000 codes$"):
        run_proved_checker(str(path))


def test_a_product_beyond_native_integers_is_no_number_of_entries() -> None:
    """A layer that reads 63 heads of two points: 2^63 is 0 for OCaml's integers, and so are the entries that are given."""
    document = json.loads(json.dumps(swapped(2)))
    head = {
        "field": 1,
        "dim": 1,
        "value_dim": 1,
        "transitions": [{"factors": []}],
        "codes": [[], [[0, 0, 1]]],
        "actions": [0],
    }
    layer = {"heads": [head] * 63, "reads": [list(range(63))], "next": [[]]}
    document["layers"] = [layer, {"heads": [head], "reads": [[]], "next": [[0]]}]
    document["covering"] = []
    accepted, reason = python_verdict(document)
    assert (accepted, reason) == (False, f"layers[0].next[0]: 0 entries, not {2**63}")
    accepted, reason = run_proved_checker(document)
    assert not accepted
    assert reason.startswith("layers[0].next[0]: 0 entries, not one for each point")


def counting_to(length: int) -> dict[str, Any]:
    """A chain whose window is as long as the word, of three letters in turn, that its states spell."""
    states = length + 1
    moves = [[t + 1 if t < length and t % 3 == a else length for t in range(states)] for a in range(3)]
    return {
        "format": "mirrormata-certificate/1",
        "kind": "chain",
        "labels": {
            "automaton": "a", "construction": "c", "theorem": "t", "states": [str(i) for i in range(states)], "letters": ["0", "1", "2"],
            "outputs": ["0"],
        },
        "automaton": {"states": states, "letters": 3, "start": 0, "transitions": moves, "outputs": [0] * states},
        "window": length,
        "sizes": [1],
        "padding": "least",
        "look_back": False,
        "gates": False,
        "summary": {
            "layers": 1, "householders": length, "heads": 1, "dim": length, "exactness": "integer", "integer_bound": 1,
            "formats": ["fp64", "fp32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2"], "norm": "at most 1",
        },
    }  # fmt: skip


def seconds_of_proved(document: dict[str, Any]) -> float:
    """The processor seconds in which the proved checker accepts a certificate."""
    begin = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    accepted, reason = run_proved_checker(document)
    assert accepted, reason
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begin


def spelling(length: int) -> dict[str, Any]:
    """A chain as `counting_to`, of a word whose next letter few others of its states wait for: long paths of small sets."""
    document = counting_to(length)
    draw = random.Random(1)
    word = [draw.randrange(3) for _ in range(length)]
    document["automaton"]["transitions"] = [
        [*(t + 1 if letter == a else length for t, letter in enumerate(word)), length] for a in range(3)
    ]
    return document


def test_a_long_path_of_small_sets_takes_no_long_time() -> None:
    right = spelling(16_000)
    begin = time.process_time()
    assert python_verdict(right)[0]
    assert time.process_time() - begin < 12
    # where the path was on the stack, and letters were asked for each set whether they move a state: a minute
    assert seconds_of_proved(right) < 20
    right["window"] += 1
    assert not judge_alike(right, "window")


def sharing_a_beginning(letters: int, entries: int = 40) -> dict[str, Any]:
    """One state, and letters that each reflect along another vector; all these vectors begin alike."""
    begin = [[i, 1] for i in range(entries)]
    head = {
        "field": 1,
        "dim": entries + letters,
        "value_dim": 1,
        "transitions": [
            {"factors": [[f"2/{entries + 1}", [*begin, [entries + a, 1]]]]} for a in range(letters)
        ],
        "codes": [[[0, 0, 1], [1, 0, -1]]],
    }
    summary = {
        "householders": 1,
        "exactness": "algebraic",
        "integer_bound": None,
        "formats": [],
        "norm": "at most 1",
    }
    return table(1, [[0]] * letters, head, summary)


def test_many_factors_that_begin_alike_take_no_long_time() -> None:
    assert judge_alike(sharing_a_beginning(3), 0)
    # a hash of the beginning alone took 25 seconds
    assert seconds_of_proved(sharing_a_beginning(4_000)) < 12


def test_without_letters_the_state_at_the_start_alone_is_checked() -> None:
    right = sharing_a_beginning(1, 1)
    head = right["layers"][0]["heads"][0]
    head |= {"dim": 1, "transitions": [], "codes": [[[0, 0, 1]]]}
    right["automaton"] |= {"letters": 0, "transitions": []}
    right["labels"]["letters"] = []
    formats = ["fp64", "fp32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2"]
    right["summary"] |= {
        "dim": 1,
        "householders": 0,
        "exactness": "integer",
        "integer_bound": 1,
        "formats": formats,
    }
    assert judge_alike(right, "no letters")
    assert "0 letters" in run_proved_checker(right)[1]
    right["decode"] = []
    assert not judge_alike(right, "no letters")


def test_a_path_needs_no_stack() -> None:
    before = resource.getrlimit(resource.RLIMIT_STACK)
    try:
        resource.setrlimit(resource.RLIMIT_STACK, (200 * 1024, before[1]))
        assert run_proved_checker(counting_to(1_500))[0]
    finally:
        resource.setrlimit(resource.RLIMIT_STACK, before)


def test_lists_too_long_for_the_stack_say_nothing_about_the_certificate() -> None:
    assert judge_alike(counting_to(1_500), "window")
    before = resource.getrlimit(resource.RLIMIT_STACK)
    try:
        resource.setrlimit(resource.RLIMIT_STACK, (200 * 1024, before[1]))
        with pytest.raises(InputError, match=r"too long for the stack; raise it with `ulimit -s unlimited`"):
            run_proved_checker(counting_to(6_000))
    finally:
        resource.setrlimit(resource.RLIMIT_STACK, before)


@pytest.mark.parametrize("points", [9, 20_000])
def test_codes_of_points_that_nothing_enters_are_found_in_one_pass(points: int) -> None:
    codes = [[[(k - 1) // 8, 0, (k - 1) % 8 + 1]] if k else [] for k in range(points)]
    document = json.loads(json.dumps(swapped(2)))
    dim = (points - 2) // 8 + 1
    heads = [
        {"field": 1, "dim": dim, "value_dim": 1, "transitions": [{"factors": []}], "codes": codes, "actions": [0]},
        {"field": 1, "dim": 1, "value_dim": 1, "transitions": [{"factors": []}], "codes": [[[0, 0, 1]]], "actions": [0]},
    ]  # fmt: skip
    document["labels"]["states"] = ["0"]
    document["labels"]["outputs"] = ["0"]
    document["automaton"] = {"states": 1, "letters": 1, "start": 0, "transitions": [[0]], "outputs": [0]}
    document["layers"] = [{"heads": [head], "reads": [[]], "next": [[0]]} for head in heads]
    document |= {"covering": [[0, 0, [1] * points], [1, 0, [2]], [0]], "decode": [[0, 0, 0]], "outputs": [0]}
    document["summary"] |= {"layers": 2, "householders": 0, "heads": 1, "dim": dim, "integer_bound": 8}
    assert judge_alike(document, points)
    heads[0]["codes"] = [*codes[:-2], codes[-1], codes[-2]]
    assert not judge_alike(document, "two codes in turn")


def alike_points(points: int) -> dict[str, Any]:
    """A letter changes the sign of the last entry of each point of a head; the other entries are those of all points."""
    alike, dim = 12, 13
    last = [sign * v for v in range(1, points // 2 + 1) for sign in (1, -1)]
    codes = [[*([i, 0, 1] for i in range(alike)), [alike, 0, x]] for x in last]
    flip = {"factors": [[2, [[alike, 1]]]]}
    document: dict[str, Any] = json.loads(json.dumps(swapped(2)))
    heads = [
        {"field": 1, "dim": dim, "value_dim": 1, "transitions": [flip], "codes": codes, "actions": [0]},
        {"field": 1, "dim": 1, "value_dim": 1, "transitions": [{"factors": []}], "codes": [[[0, 0, 1]]], "actions": [0]},
    ]  # fmt: skip
    document["labels"] |= {"states": ["0"], "letters": ["a"], "outputs": ["0"]}
    document["automaton"] = {"states": 1, "letters": 1, "start": 0, "transitions": [[0]], "outputs": [0]}
    document["layers"] = [{"heads": [head], "reads": [[]], "next": [[0]]} for head in heads]
    document |= {"covering": [[0, 0, [1] * points], [1, 0, [2]], [0]], "decode": [[0, 0, 0]], "outputs": [0]}
    document["summary"] |= {"layers": 2, "householders": 1, "heads": 1, "dim": dim, "integer_bound": points}
    document["summary"]["formats"] = ["fp64", "fp32"]
    return document


def test_many_points_that_begin_alike_take_no_long_time() -> None:
    assert judge_alike(alike_points(2_050), "points")
    # a hash of the beginning alone took half a minute, for it looked at each code that was taken before
    assert seconds_of_proved(alike_points(16_000)) < 4


def test_radii_are_followed_no_further_than_the_certificate_says() -> None:
    growing = layer_of([[3]], [[1]], [[0]], [[0]], "exact", True)
    assert not python_verdict(growing)[0]
    begin = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    for radius in (1, 10**3_000):
        growing["equivalence"]["radius"] = radius
        assert run_proved_checker(growing) == (False, "equivalence.radius: the balls outgrow it")
    growing["equivalence"]["radius"] = "1"
    assert not judge_alike(growing, "a text")
    # where radii had no limit: more than a minute
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begin < 5


def test_bits_of_radii_have_a_limit_that_can_be_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    right: Any = prove(flip_flop(0.75), automaton_from_spec("flipflop"), "per_step:bf16").certificate
    bits = right["equivalence"]["radius"].bit_length()
    monkeypatch.setenv(RADIUS, str(bits))
    assert run_proved_checker(right)[0]
    monkeypatch.setenv(RADIUS, str(bits - 1))
    with pytest.raises(
        InputError, match=rf"radius has {bits} bits, above the limit of {bits - 1}; .* in {RADIUS}$"
    ):
        run_proved_checker(right)
    monkeypatch.setenv(RADIUS, "many")
    with pytest.raises(
        InputError,
        match=f"{RADIUS} is not a number of bits: a whole number above 0 is needed, such as 14000$",
    ):
        run_proved_checker(right)
    monkeypatch.delenv(RADIUS)
    right["equivalence"]["radius"] = 2**10_000
    with pytest.raises(InputError, match=r"radius has 10,001 bits, above the limit of 10,000;"):
        run_proved_checker(right)


def test_numbers_of_states_have_a_limit_that_can_be_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    automaton = automaton_from_spec("flipflop")
    right: Any = prove(flip_flop(0.75), automaton, "per_step:fp8_e5m2", method="states").certificate
    kept = right["equivalence"]["states"] * len(right["equivalence"]["greatest"])
    monkeypatch.setenv(KEPT, str(kept))
    assert run_proved_checker(right)[0]
    monkeypatch.setenv(KEPT, str(kept - 1))
    with pytest.raises(
        InputError, match=rf"the states have more than {kept - 1:,} numbers to keep; .* in {KEPT}$"
    ):
        run_proved_checker(right)
    monkeypatch.setenv(KEPT, "-1")
    with pytest.raises(
        InputError, match=f"{KEPT} is not a number of numbers: a whole number above 0 is needed"
    ):
        run_proved_checker(right)
