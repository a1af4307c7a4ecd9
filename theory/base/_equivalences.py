"""Certificates of kind `equivalent`, true and false: by states, by regions, and by codes that no rounding changes.

The false ones by regions are models that do answer wrongly after some word, each close enough to a right one that a checker
which forgets one term of the error would take it: the number of regions and the radius are what such a checker finds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from itertools import product
from typing import Any

from .._check import check

Document = dict[str, Any]
Proof = dict[str, Any]
SIGN = {"A": [[[1]], [[-1]]], "B": [[[0]], [[0]]], "H0": [[1]]}
PARITY = ([[0, 1], [1, 0]], [0, 1])
ONE = ([[0, 1]], [0, 1])
"""One state, with the output 0, and one that no word reaches."""


def cases() -> Iterator[tuple[str, str | None]]:
    """All of them."""
    for name, document in (*true_states(), *true_regions(), *true_codes()):
        found = check(document)
        yield name, None if found.verdict == "valid" else f"it is true, and is refused: {found.reason}"
    for name, document in (*false_states(), *false_regions(), *false_codes()):
        found = check(document)
        yield name, f"it is false, and is accepted: {found.reason}" if found.verdict == "valid" else None


def layer(
    head: Document,
    codes: list[list[Any]],
    decode: list[list[int]],
    automaton: tuple[list[list[int]], list[Any]],
    proof: Proof,
) -> Document:
    """A certificate about a layer of one head by its stored numbers; the answers are the automaton's outputs."""
    delta, outputs = automaton
    flat = [o for row in outputs for o in row] if isinstance(outputs[0], list) else outputs
    return {
        "format": "mirrormata-certificate/1",
        "kind": "equivalent",
        "labels": {
            "automaton": "by hand", "construction": "by hand", "theorem": "",
            "states": [str(q) for q in range(len(delta[0]))], "letters": list("abc"[: len(delta)]),
            "outputs": [str(o) for o in range(max(flat) + 1)],
        },
        "automaton": {
            "states": len(delta[0]), "letters": len(delta), "start": 0, "transitions": delta, "outputs": outputs,
        },
        "model": {"heads": [head], "codes": codes, "decode": decode},
        "equivalence": {"answers": "outputs", **proof},
    }  # fmt: skip


def states(arithmetic: str, count: int, greatest: Sequence[Any]) -> Proof:
    """The proof by all states."""
    return {"arithmetic": arithmetic, "states": count, "greatest": list(greatest)}


def true_states() -> Iterator[tuple[str, Document]]:
    """Right models, with the number of their states as it was counted by hand."""
    for arithmetic in ("exact", "per_step:bf16", "per_op:fp8_e4m3:tree", "per_step:int:-4..4:rz"):
        right = layer(SIGN, [[1], [-1]], [[0, 0], [1, 1]], PARITY, states(arithmetic, 2, [1]))
        yield f"parity by a sign, {arithmetic}", right
    zero = {"A": [[[0]]], "B": [[[0]]], "H0": [[1]]}
    yield (
        "a tie goes to the first code",
        layer(zero, [[1], [-1]], [[0], [1]], ONE, states("per_step:bf16", 2, [1])),
    )
    for order, first in ((":tree", 18), ("", 16), (":fma", 16)):
        proof = states(f"per_op:fp8_e4m3{order}", 2, [first, 16, 1, 1])
        answers = [[int(first != 18)], [int(first != 16)]]
        yield f"a sum of 16 + 1 + 1, order {order}", layer(SUM, SUM_CODES, answers, ONE, proof)
    counting = {"A": [[[1]]], "B": [[[1]]], "H0": [[0]]}
    codes = [[k] for k in range(5)]
    late = ([[1, 2, 3, 4, 4]], [0, 1, 2, 3, 4])
    proof = states("per_step:int:-4..4", 5, [4])
    yield "counting on a grid", layer(counting, codes, [[k] for k in range(5)], late, proof)


# the first entry becomes the sum of the others: (0 + 16) + (1 + 1) in pairs, ((0 + 16) + 1) + 1 from the left
SUM = {
    "A": [[[0, 1, 1, 1], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]],
    "B": [[[0]] * 4],
    "H0": [[0], [16], [1], [1]],
}
SUM_CODES = [[18, 16, 1, 1], [16, 16, 1, 1]]


def false_states() -> Iterator[tuple[str, Document]]:
    """Models that answer wrongly after some word, with every number of states that a lazy checker may count."""
    late = ([[1, 2, 2]], [0, 1, 0])
    mealy = ([[0, 1], [1, 0]], [[0, 1], [0, 1]])
    idle = [[1, 0], [1, 1]]
    flip = {"A": [[[-1]]], "B": [[[0]]], "H0": [[1]]}
    zero = {"A": [[[0]]], "B": [[[0]]], "H0": [[1]]}
    wrong: list[tuple[str, Document, list[list[Any]], list[list[int]], tuple[list[list[int]], list[Any]]]] = [
        ("right for two letters, wrong at the third", flip, [[1], [-1]], [[0], [1]], late),
        ("wrong after the first letter in one state", SIGN, [[1], [-1]], idle, PARITY),
        ("wrong after the last letter in one state", SIGN, [[1], [-1]], [[0, 0], [1, 0]], PARITY),
        ("wrong on the way back to the start", SIGN, [[1], [-1]], [[0, 1], [1, 1]], PARITY),
        (
            "the first and last letter exchanged",
            SIGN,
            [[1], [-1]],
            [[0, 0], [1, 1]],
            (PARITY[0][::-1], PARITY[1]),
        ),
        ("a Mealy machine by its state after", SIGN, [[1], [-1]], [[0, 0], [1, 1]], mealy),
        ("a tie does not go to the second code", zero, [[-1], [1]], [[1], [0]], ONE),
        ("a code without an answer", SIGN, [[1], [-1]], [[0, 0], [1, -1]], PARITY),
    ]
    for name, head, codes, decode, automaton in wrong:
        for count, greatest in product(range(1, 7), (-1, 0, 1)):
            yield (
                f"{name}, {count} states",
                layer(head, codes, decode, automaton, states("exact", count, [greatest])),
            )
    for order, first in ((":tree", 16), ("", 18), (":bias", 18)):
        for count in (1, 2, 3):
            proof = states(f"per_op:fp8_e4m3{order}", count, [first, 16, 1, 1])
            answers = [[int(first != 18)], [int(first != 16)]]
            yield (
                f"a sum of 16 + 1 + 1 in another order than {order}",
                layer(SUM, SUM_CODES, answers, ONE, proof),
            )
    right = layer(SIGN, [[1], [-1]], [[0, 0], [1, 1]], PARITY, states("exact", 2, [1]))
    for change in ({"states": 3}, {"states": 1}, {"greatest": [-1]}, {"greatest": [2]}):
        yield f"parity by a sign, {change}", {**right, "equivalence": {**right["equivalence"], **change}}
    outside = deepcopy(right)
    outside["model"]["heads"][0]["A"][1] = [["-257/256"]]
    outside["equivalence"]["arithmetic"] = "per_step:bf16"
    yield "a weight that is no number of the format", outside


# h ← h/4 ± 3/4: the ball about ±1 holds the image of the other, which is 1/2 off: r = 1/2 + r/4 + u(1 + r/4 + 3/4) + η
QUICK = {"A": [[["1/4"]], [["1/4"]]], "B": [[["3/4"]], [["-3/4"]]], "H0": [[1]]}
RADII = {
    "exact": 12_297_829_382_473_034_411,
    "per_step:bf16": 12_410_065_113_473_440_203,
    "per_step:bf16:ru": 12_522_593_888_157_920_159,
    "per_step:fp8_e4m3:tie_low": 14_153_951_237_407_461_812,
}
# two entries, which the letters lead to e_0 and e_1; the matrix has norm 0.16, so that s = 656/4096
PLANE = {
    "A": [[["1/8", "1/16"], [0, "1/8"]]] * 2,
    "B": [[["7/8"], [0]], [["-1/16"], ["7/8"]]],
    "H0": [[1], [0]],
}
PLANE_RADII = {"exact": 3_069_631_532_082_303_152, "per_step:fp16:rz": 3_092_455_057_505_056_396}
LAST = ([[0, 0], [1, 1]], [0, 1])
"""The automaton of the last letter."""
PARITY = ([[0, 1], [1, 0]], [0, 1])
GRIDS = (
    "per_step:int:-4..3", "per_op:int:-4..3", "per_step:fixed:3:0", "per_op:fixed:3:0:tree", "per_step:-4,-3,-1,0,1,3",
)  # fmt: skip
"""Arithmetics whose values end at -4 and at 3."""
# what is forgotten: arithmetic, (a, b, H_0), codes, of which the last alone has another answer, regions and radius found
WRONG_REGIONS: dict[str, tuple[str, tuple[Any, Any, Any], list[Any], int, int]] = {
    "how far the image of a code lies from the next": (
        "per_step:fp8_e4m3:rd", ("5/8", "9/32", "9/32"), ["9/32", "3/4", "23/32"], 1, 3_671_144_790_984_960_110,
    ),
    "the share of B in what is rounded": (
        "per_step:fp8_e4m3", ("-1/8", "15/16", "5/8"),
        ["5/8", "7505999378950827/9007199254740992", "8244871192816299/9007199254740992"], 2, 588_470_351_309_744_128,
    ),
    "that a letter carries the ball along": (
        "per_step:fp8_e4m3", ("-7/8", "15/8", "15/8"), ["15/8", "15/64", "855/512", 1, "133/128"],
        3, 7_328_568_306_028_233_682,
    ),
    "that half the distance to another answer is too far": (
        "per_step:fp8_e4m3:ru", ("-1/4", "11/16", "7/16"),
        ["2476979795053773/4503599627370496", "3145482864741581/4503599627370496"], 1, 2_696_833_780_341_234_823,
    ),
    "half of the rounding error": (
        "per_step:fp8_e4m3", ("1/4", "15/16", "15/16"), ["15/16", "5/4", "65/64"], 2, 2_134_706_223_373_615_104,
    ),
    "that a directed rounding errs by a whole step": (
        "per_step:fp8_e5m2:ru", ("1/8", "7/8", "5/4"), [1, "191/128"], 2, 4_467_570_831_351_532_032,
    ),
}  # fmt: skip


def balls(arithmetic: str, count: int, radius: int) -> Proof:
    """The proof by regions."""
    return {"arithmetic": arithmetic, "regions": count, "radius": radius}


def true_regions() -> Iterator[tuple[str, Document]]:
    """Right models whose states are not listed; the radii are the least on the grid."""
    for arithmetic, radius in RADII.items():
        right = layer(QUICK, [[1], [-1]], [[0, 0], [1, 1]], LAST, balls(arithmetic, 2, radius))
        yield f"a contraction to the last letter, {arithmetic}", right
    for arithmetic, radius in PLANE_RADII.items():
        right = layer(PLANE, [[1, 0], [0, 1]], [[0, 0], [1, 1]], LAST, balls(arithmetic, 2, radius))
        yield f"a contraction of a plane, {arithmetic}", right


def false_regions() -> Iterator[tuple[str, Document]]:
    """Wrong models, with what a checker finds that has forgotten one thing; and right ones with too small a radius."""
    for forgotten, (arithmetic, (a, b, start), codes, count, radius) in WRONG_REGIONS.items():
        head = {"A": [[[a]]], "B": [[[b]]], "H0": [[start]]}
        decode = [[int(c == codes[-1])] for c in codes]
        proof = balls(arithmetic, count, radius)
        yield f"a proof that forgets {forgotten}", layer(head, [[c] for c in codes], decode, ONE, proof)
    for arithmetic, radius in RADII.items():
        for count, other in ((2, radius - 1), (1, radius), (2, 0)):
            wrong = layer(QUICK, [[1], [-1]], [[0, 0], [1, 1]], LAST, balls(arithmetic, count, other))
            yield f"a contraction to the last letter, {arithmetic}, {count} of radius {other}", wrong
        for decode in ([[1, 0], [1, 1]], [[0, 0], [1, 0]], [[1, 1], [0, 0]]):
            wrong = layer(QUICK, [[1], [-1]], decode, LAST, balls(arithmetic, 2, radius))
            yield f"a contraction to the last letter, {arithmetic}, decoded as {decode}", wrong
    flips = {"A": [[[1]], [[-1]]], "B": [[[0]], [[0]]], "H0": [[-4]]}
    for arithmetic in GRIDS:
        proof = balls(arithmetic, 2, 0)
        wrong = layer(flips, [[-4], [4], [3], [-3]], [[0, 0], [1, 1], [0, 0], [1, 1]], PARITY, proof)
        yield f"a sign turned where there is -4 and no 4, {arithmetic}", wrong
    still = {"A": [[[1]], [["1/4"]]], "B": [[["1/16"]], [["3/4"]]], "H0": [[1]]}
    for radius in (0, 2**60, RADII["per_step:bf16"]):
        wrong = layer(
            still,
            [[1], [-1]],
            [[0, 0], [1, 1]],
            ([[0, 1], [0, 0]], [0, 1]),
            balls("per_step:bf16", 1, radius),
        )
        yield f"a letter that rounds and does not contract, radius {radius}", wrong


def true_codes() -> Iterator[tuple[str, Document]]:
    """x ← 9 - x on 5 and 4: entries of up to 9, sums |a||h| + |b| of up to 14."""
    yield "x ← 9 - x on integers", subtraction(["fp64", "fp32", "fp16", "bf16", "fp8_e4m3"], 4)


def false_codes() -> Iterator[tuple[str, Document]]:
    """9 is no number of three bits; and in three bits 5 + 9 may be a partial sum."""
    every = ["fp64", "fp32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2"]
    yield "x ← 9 - x with 9 in three bits", subtraction(every, 4)
    yield "x ← 7 - x with sums of up to 11 in three bits", subtraction(every, 3, per_op=every)


def subtraction(dtypes: list[str], low: int, *, per_op: list[str] | None = None) -> Document:
    """x ← (2·low + 1) - x on low + 1 and low, never rounded in the formats said."""
    total = 2 * low + 1
    bound = max(total, 2)
    head = {
        "field": 1, "dim": 1, "value_dim": 1,
        "transitions": [{"factors": [], "gate": -1, "additive": [[0, 0, total]]}],
        "codes": [[[0, 0, low + 1]], [[0, 0, low]]],
    }  # fmt: skip
    reach = {"fp64": 2**53, "fp32": 2**24, "fp16": 2**11, "bf16": 2**8, "fp8_e4m3": 2**4, "fp8_e5m2": 2**3}
    sums = low + 1 + total
    integers = [d for d, most in reach.items() if sums <= most] if per_op is None else per_op
    return {
        "format": "mirrormata-certificate/1",
        "kind": "equivalent",
        "labels": {
            "automaton": "by hand", "construction": "by hand", "theorem": "", "states": ["0", "1"], "letters": ["a"],
            "outputs": ["0", "1"],
        },
        "automaton": {"states": 2, "letters": 1, "start": 0, "transitions": [[1, 0]], "outputs": [0, 1]},
        "layers": [{"heads": [head]}],
        "decode": [[0, 0], [1, 1]],
        "outputs": [0, 1],
        "summary": {
            "layers": 1, "householders": 0, "heads": 1, "dim": 1, "exactness": "integer", "integer_bound": bound,
            "formats": [d for d, most in reach.items() if bound <= most], "norm": "at most 1",
        },
        "equivalence": {"per_step": dtypes, "per_op": integers},
    }  # fmt: skip
