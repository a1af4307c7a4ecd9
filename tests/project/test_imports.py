"""No file imports itself by way of others, also where an import stands inside a function or serves types only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import networkx as nx
import pytest

import mirrormata

ROOT = Path(mirrormata.__file__).resolve().parent
PACKAGES = ("foundation", "constructions", "kernels", "theory", "models", "cli")


def modules(root: Path) -> dict[str, Path]:
    """Every file of the package by its dotted name, without `mirrormata.`."""
    files = [path for package in PACKAGES for path in (root / package).rglob("*.py")]
    return {
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path
        for path in files
    }


def imported(name: str, path: Path, known: dict[str, Path]) -> Iterator[str]:
    """The files that a file imports, wherever the statement stands."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = [*package[: len(package) - node.level + 1], *(node.module or "").split(".")]
            home = ".".join(part for part in base if part)
            for alias in node.names:
                inside = f"{home}.{alias.name}" if home else alias.name
                if inside in known:
                    yield inside
                elif home in known:
                    yield home


def circles(root: Path) -> list[list[str]]:
    """Groups of files each of which leads back to itself."""
    known = modules(root)
    graph = nx.DiGraph(
        [(name, other) for name, path in known.items() for other in imported(name, path, known)]
    )
    loops = [group for group in nx.strongly_connected_components(graph) if len(group) > 1]
    return sorted(map(sorted, loops)) + [[name] for name in graph if graph.has_edge(name, name)]


def test_no_file_imports_itself_by_way_of_others() -> None:
    assert circles(ROOT) == []


@pytest.mark.parametrize(
    "statement",
    ["from .b import g", "def f() -> None:\n    from .b import g", "if TYPE_CHECKING:\n    from . import b"],
)
def test_a_circle_is_seen_wherever_the_import_stands(tmp_path: Path, statement: str) -> None:
    folder = tmp_path / "theory"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "a.py").write_text(statement + "\n")
    (folder / "b.py").write_text("from ..theory.a import f\n")
    assert circles(tmp_path) == [["theory.a", "theory.b"]]


def test_files_are_readable_in_one_sitting() -> None:
    long = {
        name: n for name, path in modules(ROOT).items() if (n := len(path.read_text().splitlines())) > 600
    }
    assert long == {}
