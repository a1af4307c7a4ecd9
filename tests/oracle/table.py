"""The table of rounding cases that the package's arithmetic is held to: `python -m mirrormata.tests.oracle.table`.

It writes theory/verifying/rounding_table.json, which the package ships; nothing in it comes from the package. Numbers are
texts: `p`, `p/q`, `inf`, `-inf`, `nan`, and `-0` where a negative number is rounded to zero in a float format.
`rounding`: rows of arithmetic, number, what it is rounded to. `steps`: rows of arithmetic, A, H, B and A H + B in that
arithmetic, all entries of A, H and B being values of it already.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from .arithmetic import ORDERS, Arithmetic, State
from .values import MODES, Format, Grid, Listed, Values, number_text

FORMAT = "mirrormata-rounding-table/1"
PATH = Path(__file__).resolve().parents[2] / "theory" / "verifying" / "rounding_table.json"
ROUNDED = (
    *("fp64", "fp32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2", "fp6_e2m3", "fp6_e3m2", "fp4_e2m1"),
    *("int:-4..4", "int:-5..6", "fixed:4:2", "-3/2,-1/4,0,1/8,1,4"),
)
INFINITE = ("fp32", "fp16", "bf16", "fp8_e5m2")
STEPPED = (
    "fp32",
    "fp16",
    "bf16",
    "fp8_e4m3",
    "fp8_e5m2",
    "fp4_e2m1",
    "int:-6..7",
    "fixed:6:2",
    "-2,-1,-1/4,0,1/2,1,3",
)
HAIR = Fraction(1, 2**40)


def _modes(values: Values) -> tuple[str, ...]:
    return MODES[1:] if isinstance(values, Listed) else MODES


def _suffix(values: Values, mode: str) -> str:
    return "" if mode == ("tie_low" if isinstance(values, Listed) else "rne") else f":{mode}"


def _cases(values: Values) -> list[Fraction]:
    """Values, midpoints, numbers a hair beside them, the edges of overflow and of underflow."""
    if not isinstance(values, Format):
        members = values.values()
        middles = [(x + y) / 2 for x, y in itertools.pairwise(members)]
        beside = [x for m in middles[1:3] for x in (m - HAIR, m + HAIR)]
        return sorted({*members[:2], *middles, *beside, members[-1] + 1, members[-1] + HAIR, members[0] - 1})
    unit = Fraction(1, 2 ** (values.bits - 1))  # the spacing above 1
    middles = [1 + unit / 2, 1 + unit * 3 / 2]
    cases = [Fraction(0), Fraction(1), Fraction(1, 3), 1 - unit / 4]
    cases += [y for m in middles for y in (m - HAIR * unit, m, m + HAIR * unit)]
    if values.name != "fp64":  # its extremes have hundreds of digits
        least = Fraction(2) ** (values.least_exponent - values.bits + 1)
        normal = Fraction(2) ** values.least_exponent
        cases += [
            least,
            least / 2,
            least / 2 + least * HAIR,
            least * 3 / 2,
            least * 5 / 2,
            normal - least / 2,
            normal,
        ]
        ulp = values.largest - Rounded(values).below(values.largest)
        edge = values.largest + ulp / 2
        cases += [values.largest, edge - ulp * HAIR, edge, edge + ulp * HAIR, 2 * values.largest]
    return sorted({y for x in cases for y in (x, -x)})


class Rounded:
    """Neighbours in a float format."""

    def __init__(self, values: Format) -> None:
        self.down = Arithmetic(f"per_step:{values.name}:rd").round
        self.bits = values.bits

    def below(self, x: Fraction) -> Fraction:
        y = self.down(x - x / 2 ** (self.bits + 4))
        assert isinstance(y, Fraction)
        return y


def _rounding() -> Iterator[list[str]]:
    for name in ROUNDED:
        values = _values(name)
        names = [f"per_step:{name}{_suffix(values, mode)}" for mode in _modes(values)]
        names += [f"per_step:{name}:sat"] if name in INFINITE else []
        names += [f"cast:{name}"] if name not in ("fp64", "fp32") else []
        for arithmetic in map(Arithmetic, names):
            rounding = arithmetic.rounding
            assert rounding is not None
            yield from ([arithmetic.name, str(x), rounding.text(x)] for x in _cases(values))


def _values(name: str) -> Values:
    rounding = Arithmetic(f"per_step:{name}").rounding
    assert rounding is not None
    return rounding.values


def _texts(matrix: State) -> list[list[str]]:
    return [[number_text(x) for x in row] for row in matrix]


def _number(draw: random.Random, values: Values) -> Fraction:
    if isinstance(values, Grid | Listed):
        return draw.choice(values.values())
    sign, size = draw.choice((-1, 1)), draw.randint(-values.bits, values.bits)
    largest = 4 * values.largest / 5
    x = sign * draw.randint(2 ** (values.bits - 1), 2**values.bits) * Fraction(2) ** (size - values.bits)
    y = Arithmetic(f"per_step:{values.name}").round(min(max(x, -largest), largest))
    assert isinstance(y, Fraction)
    return y


def _steps() -> Iterator[list[Any]]:
    """Each with sums that most orders round differently, so that no order can stand for another."""
    draw = random.Random(2411)
    for name in STEPPED:
        values = _values(name)
        for mode in _modes(values):
            mode_name = _suffix(values, mode)
            named = [f"per_step:{name}{mode_name}"]
            named += [f"per_op:{name}{'' if o == 'left' else ':' + o}{mode_name}" for o in ORDERS]
            arithmetics = [Arithmetic(n) for n in named]
            for size, different in ((2, 2), (3, 3), (5, 3 if isinstance(values, Listed) else 4)):
                while True:
                    A = ((*(_number(draw, values) for _ in range(size)),),)
                    H = tuple((_number(draw, values),) for _ in range(size))
                    B = ((_number(draw, values),),)
                    results = [a.affine(A, H, B) for a in arithmetics]
                    if len(set(results)) >= different:
                        break
                for a, result in zip(arithmetics, results, strict=True):
                    yield [a.name, _texts(A), _texts(H), _texts(B), _texts(result)]
        if isinstance(values, Format):
            yield from _hairs(name, values)
    yield from _hairs("fp64", _values("fp64"))
    third = ((Fraction(1, 3), Fraction(-2, 7)), (Fraction(0), Fraction(5)))
    state, added = (
        ((Fraction(3), Fraction(1)), (Fraction(1, 2), Fraction(0))),
        ((Fraction(1, 9), Fraction(0)),) * 2,
    )
    yield ["exact", *map(_texts, (third, state, added, Arithmetic("exact").affine(third, state, added)))]


def _hairs(name: str, values: Values) -> Iterator[list[Any]]:
    """Sums of products a hair beside the middle of two numbers: whoever rounds twice loses the hair."""
    assert isinstance(values, Format)
    unit = Fraction(1, 2 ** (values.bits - 1))
    hair = Fraction(2) ** max(values.least_exponent - values.bits + 1, -3 * values.bits)
    for mode in ("rne", "tie_low"):
        for sign in (1, -1):
            for added in (hair, -hair):
                if hair >= unit / 2:
                    continue
                A, H, B = (
                    ((Fraction(1), unit, added),),
                    tuple((Fraction(x),) for x in (sign, Fraction(sign, 2), 1)),
                    ((Fraction(0),),),
                )
                name_of_mode = f"per_step:{name}{_suffix(values, mode)}"
                yield [name_of_mode, *map(_texts, (A, H, B, Arithmetic(name_of_mode).affine(A, H, B)))]


def rounding_table() -> dict[str, Any]:
    return {"format": FORMAT, "rounding": list(_rounding()), "steps": list(_steps())}


def table_text() -> str:
    """The file, one case a line."""
    table = rounding_table()
    parts = [f'  "format": {json.dumps(table["format"])}']
    for key in ("rounding", "steps"):
        rows = ",\n".join(f"    {json.dumps(row)}" for row in table[key])
        parts.append(f'  "{key}": [\n{rows}\n  ]')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main() -> None:
    PATH.write_text(table_text(), encoding="utf-8")
    table = rounding_table()
    print(f"{PATH}: {len(table['rounding'])} roundings, {len(table['steps'])} steps")


if __name__ == "__main__":
    main()
