"""The house: packages as listed, one direction, lazy imports, and installation from a copy with any name."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import mirrormata
from mirrormata.tests.project.source_files import copy_sources

ROOT = Path(mirrormata.__file__).resolve().parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
NOT_PACKAGED = {"tests", "docs", "benchmarks", "build", "dist", "site", "demo"}


def folders_with_modules() -> set[str]:
    found = {"mirrormata"}
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT).parts[:-1]
        if parts and parts[0] not in NOT_PACKAGED and not parts[0].startswith("."):
            found.add(".".join(("mirrormata", *parts)))
    return found


def test_every_folder_is_packaged() -> None:
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == folders_with_modules()


def test_every_package_has_an_init_file() -> None:
    for package in folders_with_modules():
        assert (ROOT.joinpath(*package.split(".")[1:]) / "__init__.py").exists(), package


def test_top_level_names_all_load() -> None:
    assert [name for name in mirrormata.__all__ if getattr(mirrormata, name) is None] == []
    assert set(mirrormata.__all__) <= set(dir(mirrormata))
    with pytest.raises(AttributeError, match="nonsense"):
        mirrormata.nonsense  # type: ignore[attr-defined]  # noqa: B018


def test_no_floats_in_constructions() -> None:
    for path in (ROOT / "constructions").rglob("*.py"):
        if path.name in {"json_format.py", "files.py"}:
            continue  # what a user's JSON holds may be floats; these two read it, nothing is computed with them here
        for node in ast.walk(ast.parse(path.read_text())):
            place = f"{path}:{getattr(node, 'lineno', 0)}"
            assert not (isinstance(node, ast.Constant) and isinstance(node.value, float | complex)), place
            assert not (isinstance(node, ast.Name) and node.id in ("float", "complex")), place
            assert not (isinstance(node, ast.Attribute) and node.attr.startswith(("float", "double"))), place


def test_only_the_command_line_names_options() -> None:
    """The library's texts name arguments, which `cli` prints as options: no `--word` in a string or docstring of it but pip's."""
    option = re.compile(r"(?<![\w-])--(?!(?:no-deps|no-binary|only-binary)\b)[a-z][a-z-]+")
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {option.search(node.value)[0]}"  # type: ignore[index]
        for package in ("foundation", "constructions", "kernels", "theory", "models")
        for path in (ROOT / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and option.search(node.value)
    ]
    assert found == []


def test_checkers_are_short() -> None:
    for path in (ROOT / "theory" / "checker").glob("*.py"):
        assert len(path.read_text().splitlines()) < 300, path


def test_contracts_are_kept() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_sources(tmp_path_factory.mktemp("copies") / "a-b")


@pytest.mark.install
def test_wheel_of_a_renamed_copy_works(copy: Path, tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "-w", tmp_path / "wheels", copy], check=True)
    (wheel,) = (tmp_path / "wheels").glob("*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", tmp_path / "site", wheel], check=True)
    assert not (tmp_path / "site" / "mirrormata" / "tests").exists()
    script = "import mirrormata, sys; print(mirrormata.__file__); from mirrormata.cli import main; main(sys.argv[1:])"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    result = subprocess.run(
        [sys.executable, "-P", "-c", script, "construct", "S5", "--json"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    place, facts = result.stdout.splitlines()
    assert Path(place).is_relative_to(tmp_path / "site")
    assert '"householders": 4' in facts


@pytest.mark.install
@pytest.mark.parametrize(
    "command",
    [
        ["-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/constructions/test_automaton.py"],
        ["-m", "ruff", "check", "."],
        # reads everything anew, for minutes
        pytest.param(["-P", "-m", "mypy", "--no-incremental"], marks=pytest.mark.exhaustive),
    ],
    ids=lambda command: next(word for word in command if word in ("pytest", "ruff", "mypy")),
)
def test_tools_work_in_a_renamed_copy(command: list[str], copy: Path) -> None:
    source = copy / ".venv" / "src"
    source.mkdir(parents=True, exist_ok=True)
    if not (source / "mirrormata").exists():
        (source / "mirrormata").symlink_to("../..")
    environment = {**os.environ, "PYTHONPATH": str(source)}
    result = subprocess.run(
        [sys.executable, *command], cwd=copy, env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, f"{result.stdout[-2000:]}{result.stderr[-2000:]}"
