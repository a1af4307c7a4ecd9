"""The committed table of rounding cases is the oracle's, and the package's arithmetic agrees with it; the oracle is its own."""

from __future__ import annotations

import ast
import functools
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mirrormata.tests.oracle.table import PATH, table_text
from mirrormata.tests.oracle.values import read_number
from mirrormata.theory.arithmetic._arithmetic import parse_arithmetic

ORACLE = Path(__file__).parents[1] / "oracle"


def test_table_is_freshly_made() -> None:
    assert PATH.read_text(encoding="utf-8") == table_text()


@pytest.mark.parametrize("path", sorted(ORACLE.glob("*.py")), ids=lambda p: p.name)
def test_oracle_imports_only_standard_library(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level <= 1, "only files beside it"
            modules = [] if node.level else [node.module or ""]
        else:
            continue
        for module in modules:
            assert module.split(".")[0] in sys.stdlib_module_names, module


@functools.cache
def table() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8"))
    return document


def array(rows: Any, *, exact: bool) -> np.ndarray[Any, Any]:
    numbers = [[read_number(x) for x in row] for row in rows]
    return np.array(numbers, dtype=object if exact else np.float64)


def test_package_rounds_as_table() -> None:
    for name, number, rounded in table()["rounding"]:
        arithmetic = parse_arithmetic(name)
        assert arithmetic.name == name
        got = float(arithmetic.round(np.array([read_number(number)], dtype=object))[0])  # type: ignore[union-attr]
        assert (got, np.signbit(got)) == (float(read_number(rounded)), rounded.startswith("-")), (
            name,
            number,
        )


def test_package_steps_as_table() -> None:
    for name, A, H, B, result in table()["steps"]:
        exact = name == "exact"
        arrays = [array(x, exact=exact) for x in (A, H, B)]
        got = parse_arithmetic(name).affine(*arrays)  # type: ignore[union-attr]
        assert np.array_equal(got, array(result, exact=exact)), (name, A, H, B)
