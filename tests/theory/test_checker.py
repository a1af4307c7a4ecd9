"""The checkers alone: standard library only, no help from the package; and what they refuse."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from mirrormata.constructions._document import write_certificate
from mirrormata.tests.theory.certified import document, lrnn
from mirrormata.tests.theory.corruption import replaced
from mirrormata.theory import checker
from mirrormata.theory.checker import _budget, horizon, table
from mirrormata.theory.checker._exact import Element, Invalid, Number
from mirrormata.theory.checker._head import Head
from mirrormata.theory.checker._rows import PRODUCT

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


@pytest.mark.parametrize("name", ["S4", "dihedral:5"])
def test_the_work_on_codes_is_counted_and_limited(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = document(name)["layers"][0]["heads"][0]
    monkeypatch.setattr(_budget, "WORK_PER_ENTRY", 0)

    def head() -> Head:
        return Head(data, len(data["transitions"]), "head")

    read = head()
    before = read.budget.work
    read.images()
    work = read.budget.work - before
    # of rationals followed through the factors, or of irrational matrices that are formed first
    assert read.integer == (name == "S4")
    # at least every entry of every code once a letter; no more than if all rows were full
    weight = PRODUCT + (0 if read.integer else 4 * read.field.degree**2)
    factors = sum(len(v) for t in read.transitions for _, v, _ in t["factors"])
    columns = len(read.codes) * read.value_dim
    assert work >= len(read.transitions) * len(read.codes) * PRODUCT
    assert work <= 2 * (factors + len(read.transitions) * read.dim**2) * (columns + read.dim) * weight
    monkeypatch.setattr(_budget, "MAX_WORK", read.budget.work)
    head().images()
    monkeypatch.setattr(_budget, "MAX_WORK", read.budget.work - 1)
    with pytest.raises(Invalid, match=f"it takes more than {read.budget.work - 1:,} units of work"):
        head().images()


def test_the_budget_is_that_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Heads share it, and their fields; an entry more is so much more to spend."""
    right = document("dihedral:5")
    budget = _budget.Budget(right)
    data = right["layers"][0]["heads"][0]
    first, second = (Head(data, len(data["transitions"]), "head", budget=budget) for _ in range(2))
    assert first.field is second.field
    assert first.budget is second.budget
    assert budget.limit == _budget.MAX_WORK + _budget.WORK_PER_ENTRY * _budget.entries(right)
    assert _budget.entries({"a": [1, [], {"b": "c", "d": None}], "e": True}) == 4
    assert [budget.field(n) is budget.field(n) for n in (1, 5, 7)] == [True] * 3
    spent = budget.work
    budget.spend(3, 255)
    budget.spend(3, 256)
    assert budget.work == spent + 3 + 6


def large(digits: int, count: int) -> list[str]:
    """Rationals with denominators of so many digits, no two alike."""
    return [f"{10**digits + 2 * i}/{10**digits + 2 * i + 1}" for i in range(count)]


def busy_heads() -> dict[str, dict[str, Any]]:
    """Small heads that would keep a checker busy for minutes, were the size of numbers not counted."""
    right = document("parity")["layers"][0]["heads"][0]

    def with_factors(factors: list[Any], **changed: Any) -> dict[str, Any]:
        return {**right, "transitions": [{"factors": []}, {"factors": factors}], **changed}

    many = large(100, 400)
    vector = [[0, 1], [1, [0, 1]], *([i + 2, x] for i, x in enumerate(many))]
    return {
        "factors": with_factors([["1/3", [[0, 1]]]] * 30_000),
        "vector": with_factors([["1/1000", vector]], field=1_999, dim=402),
        "coefficients": with_factors([["1/1000", [[0, 1], [1, many]]]], field=1_999, dim=2),
        "close": with_factors([[1, [[0, 1], [1, [10**300, *[10**299] * 400]]]]], field=1_999, dim=2),
    }


@pytest.mark.parametrize("name", ["factors", "vector", "coefficients", "close"])
def test_a_small_file_cannot_keep_a_checker_busy(name: str) -> None:
    wrong = replaced(document("parity"), ("layers", 0, "heads", 0), busy_heads()[name])
    begun = time.process_time()
    with pytest.raises(Invalid):
        table.check(wrong)
    assert time.process_time() - begun < 60


def test_many_heads_over_large_fields_are_refused_in_time() -> None:
    """Each has an irrational number, so that its field is needed; the fields are all different."""
    right = document("parity")["layers"][0]["heads"][0]
    gate = {"factors": [], "gate": ["-1/2", "1/8"]}
    heads = [
        {**right, "field": n, "transitions": [{"factors": []}, gate]}
        for n in range(1_999, 1_799, -1)
        if n % 4
    ]
    begun = time.process_time()
    with pytest.raises(Invalid, match="units of work"):
        table.check(replaced(document("parity"), ("layers", 0, "heads"), heads))
    assert time.process_time() - begun < 120
    shared = [{**head, "field": 1_999} for head in heads]
    begun = time.process_time()
    with pytest.raises(Invalid):
        table.check(replaced(document("parity"), ("layers", 0, "heads"), shared))
    assert time.process_time() - begun < 30


@pytest.mark.parametrize("n", [1_680, 1_999, 2_001, 10**6, 10**40])
def test_large_fields_are_refused_in_time(n: int) -> None:
    with pytest.raises(Invalid):
        table.check(replaced(document("S4"), ("layers", 0, "heads", 0, "field"), n))
