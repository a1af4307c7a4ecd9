"""docs/architecture.md stays true: each file that it names is there, and has the functions and types said of it."""

from __future__ import annotations

import ast
import itertools
import re
from pathlib import Path

import mirrormata

ROOT = Path(mirrormata.__file__).resolve().parent
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PACKAGES = ("foundation", "constructions", "kernels", "theory", "models", "cli", "tests")


def rows() -> list[list[str]]:
    """The cells of all tables."""
    return [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in PAGE.splitlines()
        if line[:1] == "|"
    ]


def quoted(text: str) -> list[str]:
    return re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))


def defined(path: Path) -> set[str]:
    return {
        node.name
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }


def test_the_page_is_one_page() -> None:
    assert len(PAGE.splitlines()) <= 150


def test_every_file_and_folder_is_there() -> None:
    named = [name for name in quoted(PAGE) if name.split("/")[0] in PACKAGES and " " not in name]
    assert len(named) > 60
    wrong = [name for name in named if not (ROOT / name).exists() and not re.search(r"\b(NAME|KIND)\b", name)]
    assert wrong == []


def test_files_named_alone_are_in_some_folder_of_the_page() -> None:
    names = {name for name in quoted(PAGE) if re.fullmatch(r"_?[a-z_]+\.py", name)}
    there = {path.name for package in PACKAGES for path in (ROOT / package).rglob("*.py")}
    assert names - there == {"_name.py"}


def test_the_files_of_a_folder_are_in_it() -> None:
    """In the table of folders, every file named alone is in one of its row's folders."""
    seen = 0
    for cells in rows():
        folders = [ROOT / name for name in quoted(cells[0]) if (ROOT / name).is_dir()]
        parents = [folder.parent for folder in folders]
        folders += [
            parent / name for parent in parents for name in quoted(cells[0]) if (parent / name).is_dir()
        ]
        if folders and len(cells) == 2:
            for name in quoted(cells[1]):
                if name.endswith(".py") and "/" not in name:
                    assert any((folder / name).exists() for folder in folders), (cells[0], name)
                    seen += 1
    assert seen > 60


def test_functions_and_types_are_in_the_files_beside_them() -> None:
    seen = 0
    for cells in rows():
        for names, files in itertools.pairwise(cells):
            paths = [ROOT / name for name in quoted(files) if (ROOT / name).is_file()]
            wanted = [name for name in quoted(names) if name.isidentifier()]
            if paths and wanted and len(cells) > 2 and "/" not in names:
                assert set(wanted) <= set().union(*map(defined, paths)), (wanted, files)
                seen += 1
    assert seen >= 10


def test_every_folder_of_the_package_is_named() -> None:
    left_out = {
        str(path.relative_to(ROOT))
        for package in PACKAGES[:-2]
        for path in (ROOT / package).iterdir()
        if path.is_dir() and path.name != "__pycache__" and path.name not in PAGE
    }
    assert left_out == set()
