"""Which files need a package of an extra as soon as they are imported, and which imports are made only where they are used."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from mirrormata.foundation._extras import EXTRAS
from mirrormata.tests.project.source_files import ROOT

PACKAGES = ("foundation", "constructions", "kernels", "theory", "models", "cli")


class Import(NamedTuple):
    """An import statement: what it loads (files of ours without `mirrormata.`), its line, and how it stands.

    `late`: in a function; `guarded`: below `with needed_by(...)`.
    """

    loads: tuple[str, ...]
    line: int
    late: bool
    guarded: bool


def our_files() -> dict[str, Path]:
    """Every file of the package by its dotted name, without `mirrormata.`."""
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    return {".".join(p.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): p for p in files}


def imports_of(name: str, path: Path, known: dict[str, Path]) -> Iterator[Import]:
    """The imports of a file, but those for types only."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]

    def loaded(node: ast.Import | ast.ImportFrom) -> tuple[str, ...]:
        if isinstance(node, ast.Import):
            return tuple(alias.name.partition(".")[0] for alias in node.names)
        if not node.level:
            return ((node.module or "").partition(".")[0],)
        base = [*package[: len(package) - node.level + 1], *(node.module or "").split(".")]
        home = ".".join(part for part in base if part)
        inside = [f"{home}.{alias.name}" if home else alias.name for alias in node.names]
        return tuple(file if file in known else home for file in inside)

    def walk(node: ast.AST, late: bool, guarded: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import | ast.ImportFrom):
                yield Import(loaded(child), child.lineno, late, guarded)
            elif isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
                continue
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                yield from walk(child, True, guarded)
            elif isinstance(child, ast.With) and any(_guards(item) for item in child.items):
                yield from walk(child, late, True)
            else:
                yield from walk(child, late, guarded)

    yield from walk(ast.parse(path.read_text(encoding="utf-8")), False, False)


def _guards(item: ast.withitem) -> bool:
    return isinstance(item.context_expr, ast.Call) and ast.unparse(item.context_expr.func) == "needed_by"


@cache
def our_imports() -> dict[str, tuple[Import, ...]]:
    """The imports of each of our files."""
    files = our_files()
    return {name: tuple(imports_of(name, path, files)) for name, path in files.items()}


def files_that_need_extras() -> dict[str, str]:
    """Our files that cannot be imported without a package of an extra, each with that extra."""
    at_once = {
        name: {loads for found in imports if not found.late for loads in found.loads}
        for name, imports in our_imports().items()
    }
    needing: dict[str, str] = {}
    while True:
        more = {
            name: EXTRAS[package] if package in EXTRAS else needing[package]
            for name, loads in at_once.items()
            for package in sorted(loads)
            if name not in needing and (package in EXTRAS or package in needing)
        }
        if not more:
            return needing
        needing |= more


def unguarded_imports() -> list[str]:
    """Imports in functions of files that need no extra, of what needs one, which no `needed_by` explains."""
    needing = files_that_need_extras()
    return [
        f"{name}, line {found.line}: {', '.join(found.loads)}"
        for name, imports in our_imports().items()
        if name not in needing and not name.startswith("cli.")  # of which every command is guarded as a whole
        for found in imports
        if found.late and not found.guarded and any(x in EXTRAS or x in needing for x in found.loads)
    ]
