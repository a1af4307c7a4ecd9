"""`exactness_report` against runs and against the conditions counted by hand."""

from __future__ import annotations

import pytest

from mirrormata.constructions._construct import construct
from mirrormata.foundation._errors import InputError
from mirrormata.theory._exactness import exactness_report


def names(spec: str, mode: str, dtype: str, chunk: int = 64) -> list[str]:
    """The conditions that fail."""
    report = exactness_report(construct(spec), mode, dtype, chunk=chunk)
    assert report.holds == all(c.holds for c in report.conditions)
    return [c.name for c in report.conditions if not c.holds]


@pytest.mark.parametrize("spec", ["S5", "S4", "T3", "tomita:4", "flipflop", "mod_arith:5"])
def test_integer_constructions_hold_in_their_formats(spec: str) -> None:
    lrnn = construct(spec, theorem="G.T4" if spec == "tomita:4" else None)
    for dtype in ("fp64", "fp32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2"):
        assert exactness_report(lrnn, "recurrent", dtype).holds == (dtype in lrnn.formats)


def test_rules_have_no_table_of_numbers() -> None:
    with pytest.raises(InputError, match="a chain of sets is a rule, not a table"):
        exactness_report(construct("tomita:4", theorem="own.window"), "recurrent", "bf16")


def test_what_fails_is_named() -> None:
    assert names("A5", "recurrent", "fp32") == ["integers"]
    assert names("mod:60", "chunk", "fp64") == ["integers"]
    assert names("S5", "chunk", "bf16") == []
    assert names("S5", "chunk", "fp32", chunk=2**22) == ["accumulator"]
    assert exactness_report(construct("S5"), "chunk", "bf16").to_json()["holds"] is True


def test_accumulator_bound_is_the_theorems() -> None:
    report = exactness_report(construct("S5"), "chunk", "fp16", chunk=128)
    (condition,) = [c for c in report.conditions if c.name == "accumulator"]
    assert condition.detail.startswith("2·128·5 = 1280")


def test_wrong_use() -> None:
    lrnn = construct("parity")
    with pytest.raises(InputError, match="recurrent, chunk"):
        exactness_report(lrnn, "fast", "bf16")
    with pytest.raises(InputError, match=r"`chunk`|chunk 0"):
        exactness_report(lrnn, "chunk", "bf16", chunk=0)
