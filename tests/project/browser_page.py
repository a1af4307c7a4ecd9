"""What the page that checks certificates in the browser needs beside its scripts: the checkers, an example, and Pyodide. A hook of mkdocs."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig

ROOT = Path(__file__).parents[2]
PYODIDE = ROOT / "build" / "browser" / "package"
"""Where `make browser` puts the npm package."""
SERVED = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")


def on_post_build(*, config: MkDocsConfig) -> None:
    """Put the checkers as they are into an archive, an example beside it, and Pyodide where it was fetched."""
    folder = Path(config["site_dir"]) / "browser"
    write_checkers(folder / "checkers.zip")
    write_example(folder / "s3.json")
    if PYODIDE.is_dir():
        (folder / "pyodide").mkdir(exist_ok=True)
        for name in SERVED:
            shutil.copyfile(PYODIDE / name, folder / "pyodide" / name)


def write_checkers(archive: Path) -> None:
    """The stand-alone checkers as a package `checker`, and the function that the page calls.

    Args:
        archive: the .zip file to write.
    """
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        made.write(Path(__file__).with_name("browser_check.py"), "browser_check.py")
        for path in sorted((ROOT / "theory" / "checker").glob("*.py")):
            made.write(path, f"checker/{path.name}")


def write_example(file: Path) -> None:
    """The certificate of a small construction.

    Args:
        file: the .json file to write.
    """
    from mirrormata import construct, full_certificate, write_certificate

    write_certificate(full_certificate(construct("S3")), file)
