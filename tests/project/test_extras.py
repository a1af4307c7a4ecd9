"""The core needs no extra: its files import none, its commands run without them, and all others say in one line what they need."""

from __future__ import annotations

import errno
import importlib
import json
import os
import pickle
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from packaging.requirements import Requirement

import mirrormata
from mirrormata.foundation import _extras as extras
from mirrormata.foundation import _locks as locks
from mirrormata.foundation._errors import MissingExtraError
from mirrormata.foundation._extras import EXTRAS, needed_by
from mirrormata.tests.project.core_install import (
    CORE,
    INSTALL,
    POSIX_ONLY,
    REFUSED,
    environment_without,
    run_commands,
    write_refused_inputs,
)
from mirrormata.tests.project.imports_of_extras import (
    files_that_need_extras,
    imports_of,
    our_files,
    our_imports,
    unguarded_imports,
)
from mirrormata.tests.project.source_files import ROOT
from mirrormata.theory import Verdict
from mirrormata.theory.base import _base as base
from mirrormata.theory.base._base import Part, base_summary, check_base
from mirrormata.theory.verifying import _verify as verifying
from mirrormata.theory.verifying._claim import Claim
from mirrormata.theory.verifying._registry import Entry
from mirrormata.theory.verifying._table import summary
from mirrormata.theory.verifying._verify import verify_claims

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DISTRIBUTIONS = {"automata": "automata-lib", "fla": "flash-linear-attention", "markupsafe": "jinja2"}
"""Of packages that are imported under another name, or come with another one."""


def names(requirements: list[str]) -> set[str]:
    return {Requirement(line).name for line in requirements}


def test_the_table_of_extras_is_that_of_the_project() -> None:
    core = names(PROJECT["dependencies"])
    tools = {"test", "lint", "docs", "dev"}
    declared = PROJECT["optional-dependencies"]
    for package, extra in EXTRAS.items():
        name = DISTRIBUTIONS.get(package, package)
        assert name in names(declared[extra]), package
        assert name not in core, package
    users = {extra: found - {"mirrormata"} for extra, lines in declared.items() if (found := names(lines))}
    assert {name for extra in set(declared) - tools for name in users[extra]} == {
        DISTRIBUTIONS.get(package, package) for package in EXTRAS
    }


def test_dev_has_every_extra() -> None:
    declared = PROJECT["optional-dependencies"]
    (everything,) = (Requirement(line).extras for line in declared["dev"])
    assert everything == set(declared) - {"dev", "ray"}  # which is large, and tests that need it say so


def test_only_models_and_kernels_need_an_extra_to_be_imported() -> None:
    needing = files_that_need_extras()
    assert {name for name in needing if not name.startswith(("models.", "kernels."))} == {
        "theory.base.kernel_plans"
    }
    assert {"models._model", "models.training._train", "kernels.delta._front"} <= set(needing)
    assert not {"models._sources", "models.report._report", "theory.proofs._kernel_step"} & set(needing)


def test_imports_in_functions_say_what_needs_them() -> None:
    assert unguarded_imports() == []


def test_an_import_without_its_sentence_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    text = """
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            import plotly
        import torch
        def f():
            from ..kernels import _backends
            with needed_by("f"):
                import triton
    """
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    found = list(imports_of("models.a", path, {"kernels._backends": path}))
    assert [(x.loads, x.late, x.guarded) for x in found] == [
        (("typing",), False, False),
        (("torch",), False, False),
        (("kernels._backends",), True, False),
        (("triton",), True, True),
    ]


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of interpreters without any extra."""
    return environment_without(tmp_path_factory.mktemp("bare"), tuple(EXTRAS))


def test_core_commands_run_and_the_others_say_what_they_need(tmp_path: Path, bare: dict[str, str]) -> None:
    write_refused_inputs(tmp_path)
    results, loaded = run_commands(sys.executable, [*CORE, *REFUSED], tmp_path, bare)
    assert not loaded & set(EXTRAS)
    for result in results[: len(CORE)]:
        assert result.status == 0, result
    for result in results[len(CORE) :]:
        assert result.status == 2, result
        assert result.out == "", result
        assert result.err == f"error: {REFUSED[result.command]}, {INSTALL.format('models')}\n"
    for written in ("s3.svg", "mod5.svg", "run.png", "spectrum.svg", "claims.svg", "proof.json"):
        assert (tmp_path / written).stat().st_size > 500, written


def test_model_folders_and_reports_say_what_they_need(tmp_path: Path, bare: dict[str, str]) -> None:
    model = ROOT / "examples" / "models" / "s4"
    commands = {
        f"prove {model} S4": (f"{model}: a model folder needs torch", "models"),
        f"report {tmp_path}": ("a report needs jinja2", "report"),
    }
    results, _ = run_commands(sys.executable, ["construct S3 -o s3.json", *commands], tmp_path, bare)
    for result in results[1:]:
        said, extra = commands[result.command]
        assert (result.status, result.err) == (2, f"error: {said}, {INSTALL.format(extra)}\n")


def test_a_report_of_certificates_needs_no_torch(tmp_path: Path) -> None:
    environment = environment_without(tmp_path, ("torch", "triton"))
    folder = tmp_path / "certificates"
    folder.mkdir()
    commands = [f"construct S3 -o {folder / 's3.json'}", f"report {folder}"]
    results, _ = run_commands(sys.executable, commands, tmp_path, environment)
    assert [result.status for result in results] == [0, 0], results[-1]


def test_public_names_load_or_say_what_they_need(bare: dict[str, str]) -> None:
    """Of every public name it is known from the imports whether it needs an extra."""
    script = """
        import importlib, json
        from mirrormata import MissingExtraError
        lacking = {}
        for package in ("", ".constructions", ".theory", ".models", ".kernels"):
            module = importlib.import_module("mirrormata" + package)
            assert {*module.__all__} <= {*dir(module)}
            for name in dir(module):
                try:
                    getattr(module, name)
                except MissingExtraError as error:
                    lacking[f"{module.__name__}.{name}"] = [str(error), error.extra]
        print(json.dumps(lacking))
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(command, env=bare, capture_output=True, text=True, check=True, timeout=300)
    lacking = json.loads(done.stdout)
    files = our_files()
    needing = files_that_need_extras()
    expected = set()
    for package in ("", ".constructions", ".theory", ".models", ".kernels"):
        folder = package.removeprefix(".")
        stub = ROOT / folder / "__init__.pyi"
        for found in imports_of(f"{folder}.x" if folder else "x", stub, files):
            (home,) = {loads for loads in found.loads if loads in files}
            if home in needing:
                line = stub.read_text(encoding="utf-8").splitlines()[found.line - 1]
                expected.add(f"mirrormata{package}.{line.rpartition(' as ')[2]}")
    assert set(lacking) == expected
    assert {"mirrormata.train", "mirrormata.compare", "mirrormata.kernels.delta_product"} <= expected
    assert "mirrormata.prove" not in expected
    assert not any(name.startswith(("mirrormata.theory.", "mirrormata.constructions.")) for name in expected)
    for name, (said, extra) in lacking.items():
        assert extra == "models", name
        assert said == f"`{name}` needs torch, {INSTALL.format('models')}"


def test_the_api_of_the_core(tmp_path: Path, bare: dict[str, str]) -> None:
    script = """
        import sys
        import mirrormata
        from mirrormata.constructions import to_networkx, to_automata_lib
        from mirrormata.models import spectrum_of_model
        lrnn = mirrormata.construct("S3")
        certificate = mirrormata.full_certificate(lrnn)
        assert mirrormata.check(certificate).verdict == "valid"
        assert mirrormata.run(lrnn, mirrormata.random_words(lrnn, 4, 100, seed=0)).errors == 0
        assert mirrormata.prove(lrnn, "S3").verdict == "equivalent"
        assert spectrum_of_model(lrnn).is_decided
        assert mirrormata.plot(lrnn).svg and mirrormata.plan("S3").offers
        for call in (to_networkx, to_automata_lib):
            try:
                call("parity")
            except ImportError as error:
                assert isinstance(error, mirrormata.MissingExtraError)
                print(error)
        try:
            from mirrormata import train
        except mirrormata.MirrormataError as error:
            print(error)
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(command, cwd=tmp_path, env=bare, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"`to_networkx` needs networkx, {INSTALL.format('interop')}",
        f"`to_automata_lib` needs automata, {INSTALL.format('interop')}",
        f"`mirrormata.train` needs torch, {INSTALL.format('models')}",
    ]


def test_every_core_file_is_imported_where_posix_is_missing(tmp_path: Path) -> None:
    """As on Windows: no fcntl, no resource, no SIGALRM; and a plan with a time limit, and claims with a budget, still run."""
    environment = environment_without(tmp_path, tuple(EXTRAS), POSIX_ONLY)
    needing = files_that_need_extras()
    core = [name for name in our_files() if name not in needing]
    script = "import importlib, sys\nfor name in sys.argv[1:]: importlib.import_module('mirrormata.' + name)"
    command = [sys.executable, "-c", script, *core]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(core) > 300
    commands = ["construct S3 -o s3.json", "check s3.json", "plan S3", "verify DP.T8 --budget 60 --jobs 1"]
    results, _ = run_commands(sys.executable, commands, tmp_path, environment)
    assert [result.status for result in results] == [0] * len(commands), results


def test_no_file_imports_what_windows_lacks() -> None:
    """Of the files that need extras too, which the test above does not import: `_locks.py` alone asks for fcntl."""
    lacking = {"fcntl", "resource", "termios", "tty", "pty", "pwd", "grp", "syslog"}
    found = {name for name, imports in our_imports().items() for one in imports if lacking & set(one.loads)}
    assert found == {"foundation._locks"}


def test_an_error_that_is_no_missing_extra_stays() -> None:
    for missing in ("nosuchpackage", "torch.nosuchmodule", "mirrormata.nosuchfile"):
        with pytest.raises(ModuleNotFoundError) as raised, needed_by("this"):
            importlib.import_module(missing)
        assert not isinstance(raised.value, MissingExtraError)


def test_the_error_passes_between_processes() -> None:
    error = extras.missing_extra("a report", "plotly")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.extra) == (MissingExtraError, str(error), "report")
    assert isinstance(again, ImportError)
    assert isinstance(again, mirrormata.MirrormataError)


def entry(claim: str, needs: bool, **more: Any) -> Entry:
    def verify(effort: Any) -> Verdict:
        return Verdict(claim, "proved", {}, "exact")

    return Entry(Claim(claim, "one", "proved", models=needs), SimpleNamespace(verify=verify, **more), ROOT)  # type: ignore[arg-type]


def test_claims_that_need_an_extra_are_not_counted_as_held(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [entry("my.first", True), entry("my.second", False)]
    assert [o.as_expected for o in verify_claims(entries, jobs=1)] == [True, True]
    monkeypatch.setattr(verifying, "is_installed", lambda name: name != "torch")
    outcomes = verify_claims(entries, jobs=1, fail_fast=True)
    assert [o.missing for o in outcomes] == ["models", None]
    assert [o.as_expected for o in outcomes] == [False, True]
    assert outcomes[0].verdict.status == "unknown"
    assert outcomes[0].verdict.evidence["reason"] == "not run: needs the extra models"
    assert outcomes[0].to_json()["missing_extra"] == "models"
    assert (
        summary(outcomes) == "2 claims: 1 proved; 1 not run: needs the extra models; all others as recorded"
    )
    assert summary(outcomes[:1]) == "1 claim; 1 not run: needs the extra models"


def test_a_check_that_finds_a_package_missing_is_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where its record does not say that it needs one."""

    def verify(effort: Any) -> Verdict:
        raise ModuleNotFoundError("No module named 'networkx'", name="networkx")

    found = entry("my.third", False)
    monkeypatch.setattr(found.module, "verify", verify)
    (outcome,) = verify_claims([found], jobs=1)
    assert (outcome.missing, outcome.error, outcome.as_expected) == ("interop", None, False)


def test_the_base_says_which_part_was_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(name: str) -> Any:
        if name.endswith(".first"):
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
        return SimpleNamespace(cases=lambda: iter([("a", None), ("b", None)]))

    monkeypatch.setattr(base, "import_module", lacking)
    parts = [Part("base.first", "one", "first"), Part("base.second", "two", "second")]
    found = check_base(parts, jobs=1, fail_fast=True)
    assert [(o.sound, o.missing, o.cases) for o in found] == [(False, "models", 0), (True, None, 2)]
    assert (
        base_summary(found)
        == "the base: 1 part, 2 cases: sound; base.first was not run: needs the extra models"
    )


def test_claims_in_a_core_installation(tmp_path: Path, bare: dict[str, str]) -> None:
    """The statuses: 0 where what was run is as recorded, 2 where nothing was run."""
    claim = (ROOT / "examples" / "claims" / "my_involutions.py").read_text(encoding="utf-8")
    changed = claim.replace("my.involutions", "my.models").replace(
        'expected="supported"', 'expected="supported", models=True'
    )
    assert "models=True" in changed
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "my_models.py").write_text(changed, encoding="utf-8")
    commands = [
        "verify my.models DP.T8 --quick --jobs 1 --path own",
        "verify my.models --quick --path own",
        "claims --path own --source my",
    ]
    (both, alone, listed), _ = run_commands(sys.executable, commands, tmp_path, bare)
    assert (both.status, alone.status, listed.status) == (0, 2, 0)
    assert "1 not run: needs the extra models" in both.out
    assert "1 not run: needs the extra models" in listed.out
    assert alone.err == (
        "error: verify: no check was run, since packages are not installed: pip install 'mirrormata[models]'\n"
    )


def test_locks_without_fcntl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a stand-in of Windows' module, which locks bytes: a second process does not get the byte that a first one has."""
    held: set[int] = set()

    def locking(descriptor: int, mode: int, count: int) -> None:
        place = os.lseek(descriptor, 0, os.SEEK_CUR)
        assert (mode, count, place) == (2, 1, locks.LOCKED_BYTE)
        if place in held:
            raise OSError(errno.EACCES, "Permission denied")
        held.add(place)

    monkeypatch.setattr(locks, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK=2))
    path = tmp_path / "lock"
    with path.open("a+", encoding="utf-8") as first, path.open(encoding="utf-8") as second:
        assert locks.lock_file(first)
        first.write("who has it\n")
        first.flush()
        assert second.read() == "who has it\n"
        assert not locks.lock_file(second, shared=True)

    def lacking(*_: Any) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=lacking, LK_NBLCK=2))
    with path.open("a+", encoding="utf-8") as file, pytest.raises(OSError, match="No locks"):
        locks.lock_file(file)
