"""`benchmarks/compare_versions.py`: a checkout is like itself, and a changed sign or order in a copy is noticed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from mirrormata.benchmarks.compare_versions import (
    Deliberate,
    Difference,
    compare_results,
    compare_versions,
    is_deliberate,
    places_that_differ,
)

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = (
    ".git",
    ".venv",
    "docs",
    "results",
    "__pycache__",
    "shared",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
)


def plant(copy: Path, start: str, line: str) -> None:
    """Add a line below the only function of this name, wherever its file lies: it takes the place of what was defined."""
    found = [
        file
        for package in ("kernels", "constructions")
        for file in (copy / package).rglob("*.py")
        if any(row.startswith(start) for row in file.read_text(encoding="utf-8").splitlines())
    ]
    assert len(found) == 1, (start, found)
    found[0].write_text(found[0].read_text(encoding="utf-8") + line, encoding="utf-8")


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package in which unit vectors have the other sign, and certificates are written from the end."""
    copy = tmp_path_factory.mktemp("changed") / "checkout"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=True)
    plant(
        copy,
        "def l2_normalise(",
        "\n_right = l2_normalise\n\n\ndef l2_normalise(x, **options):\n    return -_right(x, **options)\n",
    )
    plant(
        copy,
        "def write_certificate(",
        "\n_right = write_certificate\n\n\ndef write_certificate(document, path):\n"
        "    _right(dict(reversed(document.items())), path)\n",
    )
    return copy


def test_a_changed_sign_of_one_operator_is_noticed_and_the_others_are_alike(changed: Path) -> None:
    report = compare_versions(ROOT, changed, ("kernels",), quick=True, only="_normalise 1: cpu")
    assert report.compared["kernels"]["results"] > len({d.what for d in report.differences}) > 0
    assert all(d.what.startswith("l2_normalise") and d.place.startswith("bits.") for d in report.differences)


def test_a_certificate_in_another_order_is_noticed_and_figures_are_alike(changed: Path) -> None:
    report = compare_versions(ROOT, changed, ("figures", "certificates"), quick=True, only="parity")
    assert report.compared["certificates"]["files"] > 0
    assert report.compared["figures"]["results"] > 0
    assert any(" construct parity" in d.what for d in report.differences)
    assert all(d.place.startswith("files.") for d in report.differences)


def test_types_order_and_missing_entries_are_differences() -> None:
    def places(old: str, new: str) -> list[str]:
        return [place for place, _, _ in places_that_differ(json.loads(old), json.loads(new))]

    assert places('{"a": [1, NaN], "b": null}', '{"a": [1, NaN], "b": null}') == []
    assert places('{"a": [1, 2]}', '{"a": [1.0, 2]}') == [".a[0]"]
    assert places('{"a": true}', '{"a": 1}') == [".a"]
    assert places('{"a": 1, "b": 2}', '{"b": 2, "a": 1}') == [": order of the entries"]
    assert places('{"a": null}', "{}") == [".a"]


def test_times_and_refusals_wording_are_left_out_and_rows_of_the_table_excuse() -> None:
    old = {"status": 2, "message": "error: too few", "took": 1.0, "folder": "x"}
    new = {"status": 2, "message": "error: not enough", "took": 2.0, "folder": "y"}
    assert list(compare_results("figures", "plan S3", old, new, False)) == []
    assert [d.place for d in compare_results("figures", "plan S3", old, new, True)] == ["message"]
    found = Difference("figures", "S3: plan S3", "json.notes[0]", "a", "b")
    assert is_deliberate(Deliberate("figures", "plan", r"notes", "clearer"), found)
    assert not is_deliberate(Deliberate("kernels", "plan", r"notes", "clearer"), found)
