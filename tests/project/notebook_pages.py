"""The notebooks as pages of the site, with the outputs that are stored in them: hooks of mkdocs, listed in mkdocs.yml.

nbconvert writes the pages when the site is made. Nothing is executed, and no copy has to be kept. In the sources links lead
to the notebooks themselves, which a forge shows; on the site they lead to these pages.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
from nbconvert import MarkdownExporter

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "notebooks"
_LINK = re.compile(r"\]\((?:\.\./examples/)?(notebooks/)?(\w+)\.ipynb\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add `notebooks/NAME.md` and its pictures for each notebook."""
    from mkdocs.structure.files import File, InclusionLevel

    for path in sorted(FOLDER.glob("*.ipynb")):
        text, pictures = notebook_to_page(path)
        name = f"notebooks/{path.stem}.md"
        files.append(File.generated(config, name, content=text, inclusion=InclusionLevel.NOT_IN_NAV))
        for picture, content in pictures.items():
            files.append(File.generated(config, f"notebooks/{picture}", content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links to notebooks to their pages."""
    return _LINK.sub(r"](\1\2.md)", markdown)


def notebook_to_page(path: Path) -> tuple[str, dict[str, bytes]]:
    """A notebook in Markdown, and the pictures that it shows, by their paths beside it."""
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    names = {"unique_key": path.stem, "output_files_dir": "images"}
    text, resources = MarkdownExporter().from_notebook_node(notebook, names)  # type: ignore[no-untyped-call]
    return _LINK.sub(r"](\2.md)", text), resources["outputs"]
