"""The files of the repository, in a clone and in an unpacked source distribution, which has no git."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import mirrormata

ROOT = Path(mirrormata.__file__).resolve().parent
_MADE = {"__pycache__", "build", "demo", "dist", "site"}
_KEPT = {".ci", ".github", ".gitignore", ".pre-commit-config.yaml"}
_BY_SETUPTOOLS = {"PKG-INFO", "setup.cfg"}


def source_files(root: Path = ROOT) -> list[str]:
    """Every file of the repository but what git ignores, relative to `root`, sorted.

    Without git it is every file but hidden ones that are not the repository's own, what tools make, and what setuptools
    adds to a source distribution.
    """
    if (root / ".git").exists():
        command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
        return sorted(name for name in listed.splitlines() if (root / name).is_file())
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if _is_source(name)]
        found += [(Path(folder) / name).relative_to(root).as_posix() for name in names if _is_source(name)]
    return sorted(set(found) - _BY_SETUPTOOLS)


def _is_source(name: str) -> bool:
    if name.startswith("."):
        return name in _KEPT
    return name not in _MADE and not name.endswith((".egg-info", ".pyc"))


def copy_sources(target: Path) -> Path:
    """Copy every file of the repository to the new folder `target`, and return it."""
    for name in source_files():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target / name)
    return target
