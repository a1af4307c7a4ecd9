"""What others need: pinned versions that agree with each other, and a source distribution whose tests run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from mirrormata.foundation._extras import EXTRAS
from mirrormata.tests.conftest import SECONDS
from mirrormata.tests.project.core_install import CORE, INSTALL, REFUSED, run_commands, write_refused_inputs
from mirrormata.tests.project.source_files import ROOT, copy_sources, source_files

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONSTRAINTS = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
PINNED: dict[str, str] = {
    canonicalize_name(name): version
    for name, _, version in (line.partition("==") for line in CONSTRAINTS if not line.startswith("#"))
}


def requirements() -> list[Requirement]:
    """What the package and all its extras ask for, but the package itself."""
    extras = PROJECT["project"]["optional-dependencies"]
    asked = [*PROJECT["project"]["dependencies"], *(line for lines in extras.values() for line in lines)]
    return [found for found in map(Requirement, asked) if found.name != "mirrormata"]


def test_constraints_are_names_and_exact_versions() -> None:
    """No addresses, no editable packages, no local versions such as +cpu: the file holds on other machines too."""
    for line in CONSTRAINTS:
        assert line.startswith("#") or re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.!]*", line), line
    assert len(PINNED) == sum(not line.startswith("#") for line in CONSTRAINTS)
    assert not [name for name in PINNED if name.startswith(("nvidia-", "cuda-"))]
    assert "mirrormata" not in PINNED


def test_constraints_hold_every_requirement() -> None:
    for requirement in requirements():
        version = PINNED[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), f"{requirement}: {version}"


def test_hooks_before_a_commit_have_the_pinned_versions() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    revisions = {
        repository["repo"].rpartition("/")[2]: repository.get("rev") for repository in config["repos"]
    }
    assert revisions == {"ruff-pre-commit": f"v{PINNED['ruff']}", "local": None}
    assert {hook["id"] for repository in config["repos"] for hook in repository["hooks"]} == {
        "ruff-check", "ruff-format", "mypy", "lint-imports",
    }  # fmt: skip


def test_workflows_run_targets_of_the_makefile_on_supported_pythons() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    tested: set[str] = set()
    ran: set[str] = set()
    for name in ("tests", "docs"):
        workflow = yaml.safe_load((ROOT / f".github/workflows/{name}.yml").read_text(encoding="utf-8"))
        for job in workflow["jobs"].values():
            matrix = job.get("strategy", {}).get("matrix", {})
            tested |= set(matrix.get("python", ()))
            ran |= set(matrix.get("target", ()))
            commands = [step["run"] for step in job["steps"] if "run" in step]
            assert all(command.startswith("make ") for command in commands), commands
            ran |= {
                word for command in commands for word in command.split()[1:] if re.fullmatch(r"[\w-]+", word)
            }
    assert ran == {"lint", "test-quick", "test", "test-long", "docs"} <= targets
    named = re.findall(r"Python :: (3\.\d+)", "".join(PROJECT["project"]["classifiers"]))
    assert sorted(tested) == sorted(named)
    assert PROJECT["project"]["requires-python"] == f">={named[0]}"


def test_forms_for_issues_ask_for_something() -> None:
    forms = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("[0-9]-*.yml"))
    assert len(forms) == 3
    for path in forms:
        form = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert {"name", "description", "body"} <= set(form), path
        names = [field["id"] for field in form["body"] if field["type"] != "markdown"]
        assert len(set(names)) == len(names), path
        assert any(field.get("validations", {}).get("required") for field in form["body"]), path


def test_every_test_has_a_time_limit(request: pytest.FixtureRequest) -> None:
    assert request.config.pluginmanager.hasplugin("timeout")
    settings = PROJECT["tool"]["pytest"]["ini_options"]
    assert 0 < settings["timeout"] < min(SECONDS.values())
    assert settings["timeout_method"] == "thread"
    assert all(f'"{mark}:' in (ROOT / "pyproject.toml").read_text(encoding="utf-8") for mark in SECONDS)


def test_no_file_that_git_ignores_is_committed() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("a source distribution has no git")
    command = ["git", "ls-files", "--cached", "--ignored", "--exclude-standard"]
    assert not subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution of a fresh copy, unpacked."""
    folder = tmp_path_factory.mktemp("distribution")
    copy_sources(folder / "copy")
    command = [
        sys.executable,
        "-m",
        "build",
        "--sdist",
        "--outdir",
        str(folder / "made"),
        str(folder / "copy"),
    ]
    subprocess.run(command, check=True, capture_output=True)
    (archive,) = (folder / "made").glob("mirrormata-*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(folder / "unpacked", filter="data")
    (made,) = (folder / "unpacked").iterdir()
    return made


@pytest.mark.install
def test_source_distribution_holds_every_file(unpacked: Path) -> None:
    assert source_files(unpacked) == source_files()
    information = (unpacked / "PKG-INFO").read_text(encoding="utf-8")
    assert "\nLicense-Expression: MIT\n" in information
    assert "\nLicense-File: LICENSE\n" in information
    assert os.access(unpacked / ".ci" / "run", os.X_OK)


@pytest.mark.install
def test_tests_run_in_the_source_distribution(unpacked: Path) -> None:
    source = unpacked / ".venv" / "src"
    source.mkdir(parents=True)
    (source / "mirrormata").symlink_to("../..")
    command = [
        "-P",
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-m",
        "not install and not exhaustive",
        "-k",
        "not contracts",
    ]
    tests = [
        "constructions/test_automaton.py",
        "project/test_layout.py",
        "project/test_packaging.py",
    ]
    result = subprocess.run(
        [sys.executable, *command, *(f"tests/{name}" for name in tests)],
        cwd=unpacked, env={**os.environ, "PYTHONPATH": str(source)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, f"{result.stdout[-2000:]}{result.stderr[-2000:]}"


def distributions_of_the_core() -> set[str]:
    """The names of all that a core installation consists of, as far as it is installed here for this system."""
    found: set[str] = set()
    waiting = [Requirement(line) for line in PROJECT["project"]["dependencies"]]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name in found or (
            requirement.marker is not None and not requirement.marker.evaluate({"extra": ""})
        ):
            continue
        try:
            needed = distribution(name).requires or []
        except PackageNotFoundError:
            raise AssertionError(f"{name}, which the core needs, is not installed") from None
        found.add(name)
        waiting += [Requirement(line) for line in needed]
    return found


def link_distributions(names: set[str], site: Path) -> None:
    """Put installed distributions into another environment, by links to their files and folders."""
    for name in sorted(names):
        home = distribution(name)
        tops = {Path(str(file)).parts[0] for file in home.files or () if Path(str(file)).parts[0] != ".."}
        for top in sorted(tops - {"__pycache__"}):
            source, target = Path(str(home.locate_file(top))), site / top
            if (
                source.is_dir() and target.is_dir() and not target.is_symlink()
            ):  # shared by several distributions
                continue
            if not target.is_symlink():
                target.symlink_to(source)


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a fresh environment that holds the wheel and what it asks for, and nothing else."""
    folder = tmp_path_factory.mktemp("core")
    copy_sources(folder / "copy")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "-w", folder / "wheels", folder / "copy"], check=True)
    (wheel,) = (folder / "wheels").glob("*.whl")
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    find = [str(python), "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"]
    site = Path(subprocess.run(find, check=True, capture_output=True, text=True).stdout.strip())
    link_distributions(distributions_of_the_core(), site)
    subprocess.run([*pip, "--python", python, "install", "--no-deps", wheel], check=True)
    return python


def without_paths() -> dict[str, str]:
    """The environment's variables, without the one that would make this checkout be found."""
    return {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}


def test_the_core_asks_for_nothing_large() -> None:
    """Nothing of an extra comes in by way of something else, and no CUDA."""
    names = {"automata": "automata-lib", "fla": "flash-linear-attention"}
    found = distributions_of_the_core()
    assert not found & {names.get(package, package) for package in EXTRAS}
    assert not {name for name in found if name.startswith(("nvidia", "cuda"))}
    assert len(found) <= 35


@pytest.mark.install
def test_the_wheel_works_alone(core: Path, tmp_path: Path) -> None:
    write_refused_inputs(tmp_path)
    results, loaded = run_commands(core, [*CORE, *REFUSED], tmp_path, without_paths())
    assert not loaded & set(EXTRAS)
    assert [result for result in results[: len(CORE)] if result.status != 0] == []
    for result in results[len(CORE) :]:
        assert result.err == f"error: {REFUSED[result.command]}, {INSTALL.format('models')}\n"
    script = core.with_name("mirrormata")
    done = subprocess.run([script, "check", "s3.json"], cwd=tmp_path, env=without_paths(), capture_output=True, text=True, check=True)  # fmt: skip
    assert done.stdout.startswith("valid: ")


@pytest.mark.install
def test_the_wheel_holds_the_examples(core: Path, tmp_path: Path) -> None:
    command = [str(core), "-m", "mirrormata.examples.demo"]
    done = subprocess.run(command, cwd=tmp_path, env=without_paths(), capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "1,000,000 tokens, 0 errors" in done.stdout
    assert (tmp_path / "demo" / "s5.png").stat().st_size > 10_000
