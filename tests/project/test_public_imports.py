"""The public interface: five packages, whose names all load, are documented once, and are all that users are shown."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest

import mirrormata

ROOT = Path(mirrormata.__file__).resolve().parent
PACKAGES = (
    "mirrormata",
    *(f"mirrormata.{room}" for room in ("constructions", "theory", "kernels", "models")),
)
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("C*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
PROGRAMS = {
    f"mirrormata.theory.checker.{kind}"
    for kind in ("bound", "delay", "equivalent", "horizon", "impossible", "table")
}
"""The checkers are documented as programs, not as names to import."""


@cache
def exported(package: str) -> dict[str, str]:
    """The module, as a path from the root, that each public name of a package comes from, by the package's stub."""
    folder = ROOT.joinpath(*package.split(".")[1:])
    stub = ast.parse((folder / "__init__.pyi").read_text(encoding="utf-8"))
    return {
        alias.name: str(folder.joinpath(*(node.module or "").split(".")).relative_to(ROOT)) + ".py"
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def fenced(text: str) -> Iterator[str]:
    """The Python of a page's blocks; of a dialogue, what is typed."""
    for language, block in re.findall(r"^```(py\w*)[^\n]*\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL):
        yield "".join(typed(block)) if language == "pycon" else block


def typed(text: str) -> list[str]:
    """What stands behind the prompts of a dialogue."""
    return [f"{line}\n" for line in re.findall(r"^ *(?:>>>|\.\.\.) ?(.*)$", text, flags=re.MULTILINE)]


def sources() -> Iterator[tuple[str, str]]:
    """Everything that a user is shown, with its place: pages, examples, notebooks, docstrings."""
    for path in PAGES:
        for block in fenced(path.read_text(encoding="utf-8")):
            yield str(path.relative_to(ROOT)), block
    for path in sorted((ROOT / "examples").rglob("*.py")):
        if path.parent.name == "formats":
            continue  # templates that are copied into the package, and use its inside there
        yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "examples").rglob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:  # type: ignore[no-untyped-call]
            if cell.cell_type == "code":
                yield str(path.relative_to(ROOT)), cell.source
    for room in ("foundation", "constructions", "theory", "kernels", "models", "cli", "benchmarks"):
        for path in sorted((ROOT / room).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if ">>>" in text:
                yield str(path.relative_to(ROOT)), "".join(typed(text))


def imported(source: str) -> Iterator[tuple[str, str]]:
    """Package and name of everything that comes from mirrormata; the name is empty for a package as a whole."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "mirrormata":
            yield from ((node.module or "", alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((a.name, "") for a in node.names if a.name.split(".")[0] == "mirrormata")


def strangers(source: str) -> list[str]:
    """What a source imports that is not public."""
    return [
        f"{package}.{name}".rstrip(".")
        for package, name in imported(source)
        if not package.startswith("mirrormata.examples.")
        and (
            package not in PACKAGES
            or (name and name not in exported(package) and f"{package}.{name}" not in PACKAGES)
        )
    ]


def test_pages_examples_and_notebooks_import_public_names_only() -> None:
    shown = list(sources())
    assert {Path(place).suffix for place, _ in shown} == {".md", ".py", ".ipynb"}
    assert sum(1 for _, source in shown for _ in imported(source)) > 100
    assert [f"{place}: {name}" for place, source in shown for name in strangers(source)] == []


def test_an_import_of_something_private_is_noticed() -> None:
    page = "```python\nfrom mirrormata.theory import orbit\nfrom mirrormata.theory._check import check\n```\n"
    assert [strangers(block) for block in fenced(page)] == [["mirrormata.theory._check.check"]]
    page = "```pycon\n>>> import mirrormata.cli\n>>> from mirrormata import nonsense, theory\n```\n"
    assert [strangers(block) for block in fenced(page)] == [["mirrormata.cli", "mirrormata.nonsense"]]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_loads(package: str) -> None:
    module = importlib.import_module(package)
    assert sorted(module.__all__) == sorted(exported(package))
    assert [name for name in module.__all__ if getattr(module, name) is None] == []
    assert set(module.__all__) <= set(dir(module))


def documented_definitions(path: str) -> set[str]:
    """The names at the top of a module that have a docstring; behind a constant or a type, a string says what it is."""
    body = ast.parse((ROOT / path).read_text(encoding="utf-8")).body
    names = {
        node.name
        for node in body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node)
    }
    for node, after in pairwise(body):
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(after, ast.Expr):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_has_a_docstring(package: str) -> None:
    assert [
        name for name, path in exported(package).items() if name not in documented_definitions(path)
    ] == []


def test_every_public_name_is_documented_once_under_one_package() -> None:
    public = [f"{package}.{name}" for package in PACKAGES for name in exported(package)]
    assert len({name.rpartition(".")[2] for name in public}) == len(public)
    pages = "".join(page.read_text(encoding="utf-8") for page in PAGES if page.parent.name == "api")
    documented = re.findall(r"^::: (\S+)$", pages, flags=re.MULTILINE)
    assert sorted(documented) == sorted([*public, *PROGRAMS])


def test_exact_packages_are_imported_without_torch() -> None:
    program = "import sys, mirrormata.theory as t, mirrormata.constructions as c; t.stepper_of, c.block_delay, t.Proof; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
