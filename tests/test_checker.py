"""The checkers alone: standard library only, no help from the package; and their arithmetic against other programs."""

from __future__ import annotations

import ast
import json
import math
import random
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from flint import arb, ctx, fmpq, fmpz_poly

from mirrormata.constructions.certificate import write_certificate
from mirrormata.constructions.certificate_parts import number_json
from mirrormata.constructions.real_cyclotomic import (
    Algebraic,
    enclosure,
    minimal_polynomial,
    real_cyclotomic_field,
)
from mirrormata.tests.certified import ROUNDED, document, lrnn
from mirrormata.tests.corruption import replaced
from mirrormata.theory import checker
from mirrormata.theory.checker import horizon, table
from mirrormata.theory.checker.exact import (
    Element,
    Field,
    Invalid,
    Number,
    bounds,
    cyclotomic,
    integer,
    number,
    shown,
    sign,
)
from mirrormata.theory.checker.head import Head

FOLDER = Path(checker.__file__).parent
FILES = sorted(FOLDER.glob("*.py"))


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkers' files in a folder of another name, without the package around them."""
    folder = tmp_path_factory.mktemp("alone") / "checker"
    folder.mkdir()
    for file in FILES:
        shutil.copy(file, folder)
    return folder


def run_alone(file: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Without site-packages (-S), environment or user folders (-I)."""
    command = [sys.executable, "-I", "-S", str(file), *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=120, cwd=file.parent.parent
    )


@pytest.mark.parametrize(
    ("name", "file"),
    [("S4", "table.py"), ("Mealy", "table.py"), ("reset", "table.py"), ("mod:9", "horizon.py")],
)
def test_verdicts_and_exit_codes(name: str, file: str, alone: Path, tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    write_certificate(document(name), path)
    for folder in (alone, FOLDER):
        good = run_alone(folder / file, str(path))
        assert (good.returncode, good.stderr) == (0, "")
        assert good.stdout.startswith("valid: ")
        assert good.stdout.count("\n") == 1
    broken = replaced(document(name), ("automaton", "start"), 1)
    path.write_text(json.dumps(broken))
    bad = run_alone(alone / file, str(path))
    assert (bad.returncode, bad.stderr) == (1, "")
    assert bad.stdout.startswith("invalid: ")
    assert bad.stdout.count("\n") == 1


@pytest.mark.parametrize("file", ["table.py", "horizon.py"])
def test_wrong_usage_and_unreadable_files(file: str, alone: Path, tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(bytes(range(256)))
    for arguments in ([], ["a", "b"], [str(tmp_path)], [str(tmp_path / "missing")], [str(binary)]):
        outcome = run_alone(alone / file, *arguments)
        assert outcome.returncode == 2
        assert outcome.stdout == ""
        assert outcome.stderr.count("\n") == 1
        assert "Traceback" not in outcome.stderr
    for text in (
        "",
        "[]",
        "{",
        "[" * 100_000 + "]" * 100_000,
        "7" * 5_000,
        '{"kind": NaN}',
        '{"a": 1, "a": 1}',
    ):
        (tmp_path / "text").write_text(text)
        outcome = run_alone(alone / file, str(tmp_path / "text"))
        assert (outcome.returncode, outcome.stderr) == (1, ""), text[:20]


@pytest.mark.parametrize("file", ["table.py", "horizon.py"])
def test_a_certificate_of_another_kind_is_invalid(file: str, alone: Path, tmp_path: Path) -> None:
    write_certificate(document("mod:9" if file == "table.py" else "S4"), tmp_path / "other.json")
    outcome = run_alone(alone / file, str(tmp_path / "other.json"))
    assert outcome.returncode == 1
    assert "kind" in outcome.stdout


def test_only_the_standard_library_is_loaded(alone: Path, tmp_path: Path) -> None:
    write_certificate(document("mod:9"), tmp_path / "c.json")
    code = (
        f"import sys, runpy; sys.argv = ['horizon.py', {str(tmp_path / 'c.json')!r}]\n"
        f"try: runpy.run_path({str(alone / 'horizon.py')!r}, run_name='__main__')\n"
        "except SystemExit as end: assert end.code == 0\n"
        "print(sorted({name.split('.')[0] for name in sys.modules} - set(sys.stdlib_module_names)))"
    )
    outcome = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    loaded = set(ast.literal_eval(outcome.stdout.splitlines()[-1]))
    loaded -= {name for name in loaded if name.startswith(("__editable__", "_distutils", "sitecustomize"))}
    assert loaded <= {"__main__", "__mp_main__", "checker", "distutils-precedence"}, loaded


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_files_are_short_and_import_the_standard_library_and_each_other(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 300
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            assert {alias.name.split(".")[0] for alias in node.names} <= sys.stdlib_module_names
        if isinstance(node, ast.ImportFrom):
            beside = node.level == 1 and (FOLDER / f"{node.module}.py").exists()
            assert beside or (not node.level and str(node.module).split(".")[0] in sys.stdlib_module_names)


@pytest.mark.parametrize("n", [*range(2, 211), 385, 420, 1155, 1260, 1999])
def test_cyclotomic_polynomials(n: int) -> None:
    assert cyclotomic(n) == [int(c) for c in fmpz_poly.cyclotomic(n).coeffs()]


@pytest.mark.parametrize("n", [*range(1, 151), 420, 997])
def test_minimal_polynomials(n: int) -> None:
    field = Field(n)
    assert field.modulus == minimal_polynomial(n)
    assert field.degree == len(field.modulus) - 1


@pytest.mark.parametrize("n", [5, 7, 8, 9, 10, 11, 12, 13, 15, 16, 24, 60, 97, 120, 210, 420])
def test_theta_is_the_largest_root(n: int) -> None:
    field = Field(n)
    for bits in (1, 2, 10, 64, 200, 400):
        with ctx.workprec(2 * bits + 200):
            scaled = 2 * arb.cos_pi_fmpq(fmpq(2, n)) * arb(2) ** bits
            floor = scaled.floor().unique_fmpz()
        assert floor is not None
        assert field.theta(bits) == int(floor)


def pair(field: Field, coefficients: list[Fraction]) -> tuple[Number, Any]:
    """The same number in the checker and in flint's field."""
    exact = real_cyclotomic_field(field.conductor).element(coefficients)
    return number(number_json(exact), field, "here"), exact


@pytest.mark.parametrize("n", [5, 7, 8, 12, 36, 60, 97])
def test_arithmetic_agrees_with_flint(n: int) -> None:
    field = Field(n)
    draw = random.Random(n)

    def element() -> tuple[Number, Any]:
        size = field.degree if draw.random() < 0.8 else 1
        return pair(
            field,
            [Fraction(draw.randrange(-9, 10), draw.randrange(1, 8)) for _ in range(size)],
        )

    for _ in range(40):
        (a, x), (b, y) = element(), element()
        for mine, theirs in ((a + b, x + y), (a - b, x - y), (a * b, x * y), (a * b - b * a + a, x)):
            written = number_json(theirs)
            assert number(written, field, "here") == mine
            assert sign(mine) == (
                theirs.sign() if isinstance(theirs, Algebraic) else (theirs > 0) - (theirs < 0)
            )
            low, high = bounds(mine, 100)
            lower, upper = enclosure(theirs, 200)
            assert low <= lower <= upper <= high


def test_a_product_that_is_rational_becomes_rational() -> None:
    field = Field(5)
    theta = Element(field, 1, (0, 1))
    assert theta * theta + theta == 1
    assert type(theta * theta + theta) is int
    assert theta * Fraction(1, 2) + (theta * theta) * Fraction(1, 2) == Fraction(1, 2)


GOOD: list[Any] = [0, -7, 10**400, "1/2", "-3/4", [0, 1], ["1/2", "-2/3"], [0, -1]]
BAD: list[Any] = [
    True, None, 1.0, "1", "1/1", "2/4", "0/3", "1/-2", "1/0", " 1/2", "1/2 ", "+1/2", "01/2", "1/02", "½", "١/٢", "",
    [], [1], [0, 0], [1, 0], [0, 1, 0], [1, 1, 1], [[1], 1], [True, 1], [0, "2/4"], [0, 1.0], {}, {"a": 1},
    "1/" + "7" * 5_000, "7" * 5_000 + "/3",
]  # fmt: skip


def test_one_form_for_each_number() -> None:
    field = Field(5)
    for x in GOOD:
        number(x, field, "here")
    for x in BAD:
        with pytest.raises(Invalid, match=r"^here") as info:
            number(x, field, "here")
        assert len(str(info.value)) < 200


def test_values_in_messages_are_short() -> None:
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    for x in (10**5_000, -(10**5_000), "x" * 10_000, deep, {"a": deep}, "\ud800θ", 1.5, None):
        assert len(shown(x)) <= 60
        assert shown(x).isascii()
        with pytest.raises(Invalid):
            integer(x, 0, 5, "here")


NUMPY_TYPES = {
    "fp64": np.float64, "fp32": np.float32, "fp16": np.float16, "bf16": ml_dtypes.bfloat16,
    "fp8_e4m3": ml_dtypes.float8_e4m3fn, "fp8_e5m2": ml_dtypes.float8_e5m2,
}  # fmt: skip


@pytest.mark.parametrize("dtype", horizon.FLOATS)
def test_format_constants(dtype: str) -> None:
    precision, least, largest = horizon.FLOATS[dtype]
    info: Any = ml_dtypes.finfo(NUMPY_TYPES[dtype])  # type: ignore[no-untyped-call]
    assert precision == info.nmant + 1
    assert Fraction(float(info.smallest_normal)) == Fraction(2) ** least
    assert Fraction(float(info.max)) == largest
    reach = table.FORMATS[dtype]
    kept = np.arange(0, 2 * min(reach, 2**12) + 2).astype(np.float64)
    if reach <= 2**12:
        exact = kept.astype(NUMPY_TYPES[dtype]).astype(np.float64) == kept
        assert exact[: reach + 1].all()
        assert not exact[: reach + 2].all()
    else:
        assert float(NUMPY_TYPES[dtype](reach)) == reach
        assert int(NUMPY_TYPES[dtype](reach + 1)) != reach + 1


@pytest.mark.parametrize("dtype", horizon.FLOATS)
def test_rounding_agrees_with_numpy(dtype: str) -> None:
    precision, least, largest = horizon.FLOATS[dtype]
    draw = random.Random(dtype)
    values = [
        0.0,
        1.0,
        -1.0,
        2.0**least,
        2.0 ** (least - precision + 1),
        -(2.0 ** (least - precision)),
        1e-320,
    ]
    for _ in range(400):
        exponent = draw.uniform(max(least - precision - 2, -1070), min(math.log2(largest) - 1, 1000))
        values.append(math.copysign(2.0**exponent, draw.random() - 0.5))
    for _ in range(200):  # ties and their neighbours, exact in float64
        tie = Fraction(2 * draw.randrange(2 ** min(precision, 50)) + 1, 2 ** min(precision + 1, 52))
        values += [float(tie), -float(tie), float(np.nextafter(float(tie), 1))]
    for x in values:
        narrow = x
        if dtype != "fp64":  # ml_dtypes goes through float32, whose rounding comes first
            if Fraction(float(np.float32(x))) != Fraction(x) and dtype not in ("fp32", "fp16"):
                continue
            narrow = float(np.asarray(x, dtype=np.float64).astype(NUMPY_TYPES[dtype]))
        assert horizon.rounded(Fraction(x), precision, least) == Fraction(narrow), x


def test_rounding_is_done_once() -> None:
    precision, least, _ = horizon.FLOATS["bf16"]
    x = 1 + Fraction(1, 2**8) + Fraction(1, 2**40)
    assert horizon.rounded(x, precision, least) == Fraction(1.0078125)
    assert horizon.rounded(1 + Fraction(1, 2**8), precision, least) == 1


def test_rounding_of_irrational_numbers() -> None:
    field = Field(60)
    theta = Element(field, 1, (0, 1, *(0,) * (field.degree - 2)))
    value = 2 * math.cos(2 * math.pi / 60)
    for dtype, kind in NUMPY_TYPES.items():
        precision, least, _ = horizon.FLOATS[dtype]
        for x, y in ((theta, value), (-theta, -value), (theta * Fraction(1, 3), value / 3)):
            nearest = float(kind(np.float64(y))) if dtype != "fp64" else float(np.float64(y))
            assert abs(horizon.rounded(x, precision, least) - Fraction(nearest)) <= Fraction(1, 2**50)


@pytest.mark.parametrize("up", [True, False])
def test_grid_rounds_outward(up: bool) -> None:
    field = Field(7)
    theta = Element(field, 1, (0, 1, 0))
    for x in (theta, -theta, theta * theta, Fraction(1, 3), Fraction(-1, 3), 5, 0):
        g = Fraction(horizon.grid(x, up), horizon.GRID)
        assert sign(g - x) * (1 if up else -1) >= 0
        assert sign(Fraction(1, horizon.GRID) - (g - x if up else x - g)) > 0


@pytest.mark.parametrize("name", ROUNDED)
def test_least_distance_is_that_of_all_pairs(name: str) -> None:
    raw = document(name)["layers"][0]["heads"]
    for i, data in enumerate(raw):
        head = Head(data, document(name)["automaton"]["letters"], f"head {i}")
        codes = []
        for code in head.codes:
            dense = np.zeros((head.dim, head.value_dim))
            for r, c, x in code:
                dense[r, c] = float(bounds(x, 80)[0])
            codes.append(dense)
        least = min(float(np.sum((a - b) ** 2)) for k, a in enumerate(codes) for b in codes[:k])
        found = horizon.least_distance(head, head.images())
        assert found is not None
        assert found / horizon.GRID == pytest.approx(least, rel=1e-12)


def test_no_horizon_without_a_bound_on_the_norm() -> None:
    """A matrix may have any norm, so the growth of errors is not bounded by the horizon's formula."""
    right = document("mod:9")
    head = lrnn("mod:9").layers[0].heads[0]
    read = Head(right["layers"][0]["heads"][0], 2, "head")
    as_matrix = []
    for t in read.transitions:
        entries = [[i, j, _json(x)] for i, j, x in read.matrix(t)]
        as_matrix.append({"matrix": entries})
    changed = replaced(right, ("layers", 0, "heads", 0, "transitions"), as_matrix)
    changed["summary"] = {**right["summary"], "householders": None, "norm": "unbounded"}
    assert head.dim == 2
    with pytest.raises(Invalid, match="products of factors only"):
        horizon.check(changed)
    bare = {key: value for key, value in changed.items() if key != "horizon"}
    assert "equal on all words" in table.check({**bare, "kind": "table"})


def _json(x: Number) -> Any:
    if isinstance(x, Element):
        parts = [_json(Fraction(c, x.denominator)) for c in x.coefficients]
        while parts[-1] == 0:
            parts.pop()
        return parts
    x = Fraction(x)
    return x.numerator if x.denominator == 1 else f"{x.numerator}/{x.denominator}"


def test_a_zero_gate_has_no_factors() -> None:
    """Factors after a zero gate would do nothing, and a change in them would go unnoticed."""
    path = ("layers", 0, "heads", 0, "transitions", 1, "factors")
    assert table.check(document("reset"))
    with pytest.raises(Invalid, match="gate"):
        table.check(replaced(document("reset"), path, [[1, [[0, 1], [1, -1]]]]))
    for gate in (1, 2, "3/2", -2, "-3/2"):
        with pytest.raises(Invalid):
            table.check(replaced(document("reset"), (*path[:-1], "gate"), gate))


def test_factors_of_norm_above_1_are_refused() -> None:
    path = ("layers", 0, "heads", 0, "transitions", 0, "factors", 0)
    for factor, why in (
        ([3, [[0, 1]]], r"not in \(0, 2\]"),
        (["5/2", [[0, 1]]], r"not in \(0, 2\]"),
        ([-1, [[0, 1]]], r"not in \(0, 2\]"),
        ([0, [[0, 1]]], r"not in \(0, 2\]"),
        ([2, [[0, 2]]], "primitive"),
        ([2, [[0, -1]]], "primitive"),
        ([1, []], "empty"),
    ):
        with pytest.raises(Invalid, match=why):
            horizon.check(replaced(document("halves"), path, factor))


def test_every_state_has_a_code() -> None:
    """A state that is not reached must be covered by a further seed."""
    right = document("parity")
    more = replaced(right, ("automaton", "states"), 3)
    more = replaced(
        more, ("automaton", "transitions"), [[*row, 2] for row in right["automaton"]["transitions"]]
    )
    more = replaced(more, ("automaton", "outputs"), [*right["automaton"]["outputs"], 0])
    more = replaced(more, ("labels", "states"), [*right["labels"]["states"], "far"])
    with pytest.raises(Invalid, match="a state has no code"):
        table.check(more)


def test_outputs_are_numbered_in_one_way() -> None:
    right = document("parity")
    renamed = replaced(right, ("labels", "outputs"), right["labels"]["outputs"][::-1])
    for path in (("automaton", "outputs"), ("outputs",)):
        renamed = replaced(renamed, path, [1 - o for o in right["automaton"]["outputs"]])
    with pytest.raises(Invalid, match=r"automaton\.outputs"):
        table.check(renamed)
    with pytest.raises(Invalid, match="labels"):
        table.check(replaced(right, ("labels", "outputs"), [*right["labels"]["outputs"], "unused"]))


def test_huge_dimensions_are_refused_at_once() -> None:
    for size in (10**9, 2**61):
        for key in ("dim", "value_dim"):
            with pytest.raises(Invalid, match="in use"):
                table.check(replaced(document("S4"), ("layers", 0, "heads", 0, key), size))


@pytest.mark.parametrize("n", [1_680, 1_999, 2_001, 10**6, 10**40])
def test_large_fields_are_refused_in_time(n: int) -> None:
    with pytest.raises(Invalid):
        table.check(replaced(document("S4"), ("layers", 0, "heads", 0, "field"), n))
