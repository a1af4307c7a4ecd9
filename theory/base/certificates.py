"""True certificates of every kind, which the checkers must accept, and false ones, which they must refuse.

A false one is not malformed: it is a true one changed in what it says, and in all else that follows from the change, so that
a checker that leaves out one step of the proof would take it. `_equivalences.py` has those about rounding arithmetics, `_chains.py` and `_blocks.py` those about chains of sets, `_decays.py` those about decaying numbers;
certificates of bounds and impossibility are in `bounds.py` and `impossibility.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from fractions import Fraction
from functools import cache
from typing import Any

from ...constructions._construct import Request, choose
from ...constructions._spec import automaton_from_spec
from .._check import check
from .._horizon import full_certificate
from ..checker import _exact as exact
from ..checker import horizon
from ..checker._cyclotomic import cyclotomic
from . import _blocks as blocks
from . import _chains as chains
from . import _decays as decays
from . import _equivalences as equivalences

Document = dict[str, Any]
TRUE: tuple[tuple[str, Request], ...] = (
    ("S3", Request()),
    ("S3", Request(theorem="DP.T1")),
    ("A4", Request()),
    ("mod:5", Request()),
    ("mod:6", Request(max_householders=1)),
    ("dihedral:5", Request()),
    ("tomita:4", Request(theorem="G.A3")),
    ("tomita:4", Request(theorem="G.T4")),
    ("mod_arith:3", Request(theorem="G.T4")),
)
# lengths of the counter modulo 5 on a regular pentagon, found with 60 digits from the formula of `checker/horizon.py`
PENTAGON = {
    "fp64": 2_050_963_532_192_435,
    "fp32": 3_892_760,
    "fp16": 547,
    "bf16": 56,
    "fp8_e4m3": 4,
    "fp8_e5m2": 1,
}
# the same along (3, -4), a swap of two small rational codes
SHRUNK = {
    "fp64": 2_817_735_423_733_835,
    "fp32": 5_442_345,
    "fp16": 864,
    "bf16": 87,
    "fp8_e4m3": 0,
    "fp8_e5m2": 2,
}
SHRUNK_HEAD = {
    "field": 1, "dim": 2, "value_dim": 1, "transitions": [{"factors": [["2/25", [[0, 3], [1, -4]]]]}, {"factors": []}],
    "codes": [[[0, 0, "1/384"], [1, 0, "-1/512"]], [[0, 0, "-11/9600"], [1, 0, "39/12800"]]],
}  # fmt: skip
LEAVES = ("S3", "S3 DP.T1", "mod:6", "tomita:4 G.T4")
"""Of these each integer is changed by one."""


def cases() -> Iterator[tuple[str, str | None]]:
    """All certificates, and what the checkers make of them."""
    for spec, request in TRUE:
        name = f"{spec} {request.theorem or ''}".strip()
        yield f"the certificate of {name}", why_refused(construct_certificate(spec, request))
        if name in LEAVES:
            for change, wrong in change_each_leaf(construct_certificate(spec, request)):
                yield f"{name}, {change}", why_accepted(wrong)
    for name, document in by_hand(True):
        yield f"{name}, right", why_refused(document)
    for name, document in (*by_hand(False), *false_certificates()):
        yield name, why_accepted(document)
    yield from horizons()
    yield from equivalences.cases()
    yield from chains.cases()
    yield from decays.cases()
    yield from blocks.cases()
    yield from numbers()


def why_refused(document: Document) -> str | None:
    """Why a true certificate is refused, if it is."""
    found = check(document)
    return None if found.verdict == "valid" else f"it is true, and is refused: {found.reason}"


def why_accepted(document: Document) -> str | None:
    """That a false certificate is accepted, if it is."""
    found = check(document)
    return f"it is false, and is accepted: {found.reason}" if found.verdict == "valid" else None


@cache
def construct_certificate(spec: str, request: Request) -> Document:
    """The certificate of a construction; not to be changed."""
    found = choose(automaton_from_spec(spec), request)
    return full_certificate(found)


def change_each_leaf(document: Document) -> Iterator[tuple[str, Document]]:
    """Each integer one more, one after the other; labels stay, since they prove nothing."""

    def places(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        if type(value) is int:
            yield path
        items = (
            value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        )
        for key, item in items:
            yield from places(item, (*path, key))

    for path in places({k: v for k, v in document.items() if k != "labels"}, ()):
        yield f"{'.'.join(map(str, path))} one more", change_leaf(document, path, lambda x: x + 1)


def change_leaf(document: Document, path: Sequence[Any], change: Any) -> Document:
    """A copy with another value at a path."""
    result = deepcopy(document)
    at: Any = result
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = change(at[path[-1]])
    return result


def table(
    letters: int,
    automaton: tuple[list[list[int]], list[int]],
    layers: list[Any],
    decode: Any,
    summary: Document,
) -> Document:
    """A certificate of kind `table` that is written by hand: transitions and outputs, layers, decoding, summary."""
    delta, outputs = automaton
    figures = {
        "layers": len(layers), "householders": 1, "heads": 1, "dim": 2, "exactness": "integer", "integer_bound": 2,
        "formats": ["fp64", "fp32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2"], "norm": "at most 1", **summary,
    }  # fmt: skip
    named = [str(i) for i in range(max(outputs) + 1)]
    states = [str(q) for q in range(len(delta[0]))]
    labels = {"automaton": "by hand", "construction": "by hand", "theorem": "none"}
    return {
        "format": "mirrormata-certificate/1",
        "kind": "table",
        "labels": {**labels, "states": states, "letters": list("abc"[:letters]), "outputs": named},
        "automaton": {
            "states": len(states), "letters": letters, "start": 0, "transitions": delta, "outputs": outputs,
        },
        "layers": layers,
        "decode": decode,
        "outputs": outputs if len(layers) > 1 else [outputs[row[0]] for row in decode],
        "summary": figures,
    }  # fmt: skip


def by_hand(right: bool) -> Iterator[tuple[str, Document]]:
    """Certificates that are true, or false in one number."""
    one = ([[0]], [0])
    # the code is e_1, so a factor along e_0 keeps it: only the norm of the factor is at stake
    beta = 2 if right else 3
    head = {
        "field": 1,
        "dim": 2,
        "value_dim": 1,
        "transitions": [{"factors": [[beta, [[0, 1]]]]}],
        "codes": [[[1, 0, 1]]],
    }
    yield (
        "a factor with β‖v‖² = 3 beside codes that it keeps",
        table(1, one, [{"heads": [head]}], [[0, 0]], {"integer_bound": beta}),
    )
    # letter a kills e_0 and multiplies e_1, on which no code has an entry, by its gate
    transitions = [{"factors": [[1, [[0, 1]]]], "gate": -1 if right else -2}, {"factors": [[2, [[1, 1]]]]}]
    head = {**head, "transitions": transitions, "codes": [[[0, 0, 1]], []]}
    yield (
        "a gate of -2 where no code has an entry",
        table(2, ([[1, 1], [0, 1]], [0, 1]), [{"heads": [head]}], [[0, 0], [1, 1]], {}),
    )
    if not right:
        transitions = [{"factors": [[1, [[0, 1]]]], "gate": 2}, {"factors": [[2, [[1, 1]]]]}]
        yield (
            "a gate of 2 where no code has an entry",
            table(
                2,
                ([[1, 1], [0, 1]], [0, 1]),
                [{"heads": [{**head, "transitions": transitions}]}],
                [[0, 0], [1, 1]],
                {},
            ),
        )
    yield "a read-out by what a reset has forgotten", two_layers(right)
    # a copy in place of a swap is a factor of norm √2
    copy = {"factors": [[1, [[0, 1], [1, -1]], [1]]]}
    head = {**head, "transitions": [copy, {"factors": []}], "codes": [[[1, 0, 1]], [[0, 0, 1]]]}
    yield "a copy whose norm is said to be at most 1", table(
        2, ([[1, 1], [0, 1]], [0, 1]), [{"heads": [head]}], [[0, 0], [1, 1]],
        {"integer_bound": 1, "norm": "at most √2 a factor" if right else "at most 1"},
    )  # fmt: skip
    # a reset beside the last code, to which an index of -1 would lead as well
    reset = {"factors": [], "gate": 0, "additive": [[1, 0, 1 if right else 2]]}
    head = {
        **head,
        "transitions": [reset, {"factors": [[1, [[0, 1], [1, -1]]]]}],
        "codes": [[[0, 0, 1]], [[1, 0, 1]]],
    }
    yield "a reset to what is no code", table(
        2, ([[1, 1], [1, 0]], [0, 1]), [{"heads": [head]}], [[0, 0], [1, 1]], {"integer_bound": 1 if right else 2},
    )  # fmt: skip


def two_layers(right: bool) -> Document:
    """Letter a sets a bit to 0, letter b flips it; the layer above counts the times that it was 1 before letter a.

    After letter a the new code does not tell what the bit was, so that no read-out of it can do so. `right`: letter a keeps
    the bit, which does.
    """
    one: list[Document] = [{"factors": []} if right else {"factors": [], "gate": 0, "additive": [[0, 0, 1]]}]
    below = {
        "field": 1, "dim": 2, "value_dim": 1, "transitions": [*one, {"factors": [[1, [[0, 1], [1, -1]]]]}],
        "codes": [[[0, 0, 1]], [[1, 0, 1]]], "actions": [0, 1],
    }  # fmt: skip
    above = {
        "field": 1, "dim": 1, "value_dim": 1, "transitions": [{"factors": []}, {"factors": [[2, [[0, 1]]]]}],
        "codes": [[[0, 0, 1]], [[0, 0, -1]]], "actions": [0, 1, 0, 0],
    }  # fmt: skip
    # the upper letters: a at 0, a at 1, b at 0, b at 1; states 2·bit + parity, renumbered as they are met
    after_a = [0, 1, 1, 0] if not right else [0, 1, 3, 2]
    lower_after = [0, 1 if right else 0, 1, 0]
    states = [(bit, parity) for bit in range(2) for parity in range(2)]
    delta = [after_a, [2, 3, 0, 1]]
    top = [
        [2 * bit + (parity ^ (letter == 1)) for parity in range(2)] for letter, bit in enumerate(lower_after)
    ]
    layers = [
        {"heads": [below], "reads": [[0], [0]], "next": [[0, 1], [2, 3]]},
        {"heads": [above], "reads": [[0]] * 4, "next": top},
    ]
    order = [0]
    for q in order:
        order += [p for p in dict.fromkeys(row[q] for row in delta) if p not in order]
    decode = [[q, *states[q]] for q in order]
    return table(2, (delta, [0, 1, 2, 3]), layers, decode, {"integer_bound": 2})


def false_certificates() -> Iterator[tuple[str, Document]]:
    """Certificates of constructions, changed in what they say."""
    for spec, request in TRUE:
        right = construct_certificate(spec, request)
        name = f"{spec} {request.theorem or ''}".strip()
        rows, states = right["automaton"]["transitions"], right["automaton"]["states"]
        last = len(rows) - 1
        if rows[0] != rows[last]:
            yield (
                f"{name}, first and last letter exchanged",
                change_leaf(
                    right, ("automaton", "transitions"), lambda rows: [rows[-1], *rows[1:-1], rows[0]]
                ),
            )
        yield (
            f"{name}, the last letter leads elsewhere from one state",
            change_leaf(
                right,
                ("automaton", "transitions", last, -1),
                lambda q, states=states: (q + 1) % states,
            ),
        )
        yield (
            f"{name}, the start is another state",
            change_leaf(right, ("automaton", "start"), lambda q: q + 1),
        )
        for path in read_outs(right):
            yield (
                f"{name}, {'.'.join(map(str, path))} names another state",
                change_leaf(right, path, lambda q, states=states: (q + 1) % states),
            )
        for path in several_factors(right):
            yield (
                f"{name}, {'.'.join(map(str, path))} in the opposite order",
                change_leaf(right, path, lambda f: f[::-1]),
            )
    right = construct_certificate("S3", Request(theorem="DP.T1"))
    yield (
        "S3 DP.T1, letters as the inverse permutations",
        change_leaf(
            right,
            ("points", "letters"),
            lambda rows: [[row.index(i) for i in range(len(row))] for row in rows],
        ),
    )
    yield (
        "S3 DP.T1, two letters' permutations exchanged",
        change_leaf(right, ("points", "letters"), lambda rows: [rows[0], rows[2], rows[1], *rows[3:]]),
    )
    yield "S3 DP.T1, the states of two elements exchanged", exchange_states(right)
    half = change_leaf(right, ("counter",), lambda layers: layers[:1])
    yield "S3 DP.T1, a counter of two phases for four", change_leaf(half, ("summary", "layers"), lambda _: 3)
    # two swaps in turn lead e_0 to e_1, -e_0, -e_1, e_0, but nothing below tells the layer whose turn it is
    swaps = [{"factors": [[1, [[0, 1], [1, sign]]]]} for sign in (-1, 1)]
    codes = [[[0, 0, 1]], [[1, 0, 1]], [[0, 0, -1]], [[1, 0, -1]]]
    head = {"field": 1, "dim": 2, "value_dim": 1, "transitions": swaps, "codes": codes}
    alone = change_leaf(right, ("counter",), lambda _: [{"reads": [1, 0, 1, 0], "heads": [head]}])
    yield (
        "S3 DP.T1, a counter that reads the phase itself",
        change_leaf(alone, ("summary", "layers"), lambda _: 3),
    )


def read_outs(document: Document) -> Iterator[tuple[Any, ...]]:
    """The entries of the last layer's read-out."""
    layers = document.get("layers", [{}])
    for x, row in enumerate(layers[-1].get("next", ())):
        for c, q in enumerate(row):
            if q is not None:
                yield ("layers", len(layers) - 1, "next", x, c)


def several_factors(document: Document) -> Iterator[tuple[Any, ...]]:
    """Letters of two factors or more whose order matters: the first two share a row."""
    for i, layer in enumerate(document.get("layers", ())):
        for h, head in enumerate(layer["heads"]):
            for x, t in enumerate(head["transitions"]):
                factors = t.get("factors", ())
                if len(factors) > 1 and {i for i, _ in factors[0][1]} & {i for i, _ in factors[1][1]}:
                    yield ("layers", i, "heads", h, "transitions", x, "factors")


def exchange_states(document: Document) -> Document:
    """Two elements of a delay with each other's states and outputs."""
    wrong = deepcopy(document)
    first, second = wrong["elements"][1:3]
    first["state"], second["state"] = second["state"], first["state"]
    outputs = wrong["outputs"]
    outputs[1], outputs[2] = outputs[2], outputs[1]
    return wrong


def horizons() -> Iterator[tuple[str, str | None]]:
    """Lengths as they are known, and each of them one more."""
    right = construct_certificate("mod:5", Request())
    lengths = right["horizon"]["lengths"]
    yield "the horizons of mod:5", None if lengths == PENTAGON else f"{lengths}, not {PENTAGON}"
    known = change_leaf(right, ("horizon", "lengths"), lambda _: dict(PENTAGON))
    figures: Document = {"exactness": "algebraic", "integer_bound": None, "formats": []}
    swap = table(2, ([[1, 0], [0, 1]], [0, 1]), [{"heads": [SHRUNK_HEAD]}], [[0, 0], [1, 1]], figures)
    small = {**swap, "kind": "horizon", "horizon": {**right["horizon"], "lengths": dict(SHRUNK)}}
    for name, document in (("mod:5", known), ("a swap of small codes", small)):
        yield f"the known horizons of {name}", why_refused(document)
        for dtype in PENTAGON:
            yield (
                f"the horizon of {name} in {dtype} one more",
                why_accepted(change_leaf(document, ("horizon", "lengths", dtype), lambda n: n + 1)),
            )
    matrices = change_leaf(
        known, ("layers", 0, "heads", 0, "transitions"), lambda rows: as_matrices(known, rows)
    )
    matrices["summary"] |= {"householders": None, "norm": "unbounded"}
    yield "a horizon of matrices whose norm nothing bounds", why_accepted(matrices)
    yield from find_overlooked_horizons(known)


def find_overlooked_horizons(known: Document) -> Iterator[tuple[str, str | None]]:
    """What a bound on the counter alone does not see: another head that grows, and numbers beyond the decoder's squares."""
    grows = deepcopy(known)
    matrix = [
        [0, 0, 1],
        [1, 0, -333],
        [1, 1, 1000],
    ]  # keeps (1, 1/3), and rounding errors grow a thousandfold
    code = [[[0, 0, 1], [1, 0, "1/3"]]]
    head = {
        "field": 1,
        "dim": 2,
        "value_dim": 1,
        "transitions": [{"factors": []}, {"matrix": matrix}],
        "codes": code,
    }
    grows["layers"][0]["heads"].append(head)
    grows["decode"] = [[*row, 0] for row in grows["decode"]]
    grows["summary"] |= {"householders": None, "heads": 2, "norm": "unbounded"}
    reason = check(grows).reason
    yield (
        "a horizon beside an unstable head of one code",
        None
        if "for products of factors only" in reason
        else f"refused for another reason, or accepted: {reason}",
    )

    def scaled(x: Any) -> Any:
        """The number times 2^600."""
        if isinstance(x, list):
            return [scaled(c) for c in x]
        value = Fraction(x) * 2**600
        return value.numerator if value.denominator == 1 else f"{value.numerator}/{value.denominator}"

    head = known["layers"][0]["heads"][0]
    codes = [[[i, j, scaled(x)] for i, j, x in code] for code in head["codes"]]
    large = change_leaf(known, ("layers", 0, "heads", 0, "codes"), lambda _: codes)
    yield "a horizon whose decoder overflows", why_accepted(large)
    nothing = change_leaf(large, ("horizon", "lengths"), lambda lengths: dict.fromkeys(lengths, 0))
    yield "that nothing is certified where the decoder overflows", why_refused(nothing)


def as_matrices(document: Document, transitions: list[Any]) -> list[Any]:
    """The same letters, not as products of factors."""
    from ..checker._head import Head

    def written(x: Any) -> Any:
        if isinstance(x, exact.Element):
            parts = [written(Fraction(c, x.denominator)) for c in x.coefficients]
            while parts[-1] == 0:
                parts.pop()
            return parts
        x = Fraction(x)
        return x.numerator if x.denominator == 1 else str(x)

    head = Head(document["layers"][0]["heads"][0], len(transitions), "head")
    return [{"matrix": [[i, j, written(x)] for i, j, x in head.matrix(t)]} for t in head.transitions]


def numbers() -> Iterator[tuple[str, str | None]]:
    """The checkers' numbers: the golden ratio φ = θ² - 1 in the field of 2cos(2π/5) = φ - 1, and signs near zero."""
    field = exact.Field(5)
    theta = field.element(1, [0, 1])
    facts = {
        "θ² = 1 - θ": theta * theta == 1 - theta,
        "θ - 987/1597 is positive": exact.sign(theta - Fraction(987, 1597)) == 1,
        "θ - 610/987 is negative": exact.sign(theta - Fraction(610, 987)) == -1,
        "θ - F(80)/F(81) is positive": exact.sign(theta - _convergent(80)) == 1,
        "θ - F(79)/F(80) is negative": exact.sign(theta - _convergent(79)) == -1,
        "-θ is negative": exact.sign(-theta) == -1,
        "Φ_12 = x⁴ - x² + 1": cyclotomic(12) == [1, 0, -1, 0, 1],
        "√2 / 2^96 is rounded up": horizon.norm_up(2) == Fraction(2, 2**96),
    }
    for fact, right in facts.items():
        yield f"the checkers' numbers: {fact}", None if right else "it is false there"


def _convergent(n: int) -> Fraction:
    """The quotient of two Fibonacci numbers, which is within 2^-100 of the golden ratio's inverse for n = 79."""
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return Fraction(a, b)
