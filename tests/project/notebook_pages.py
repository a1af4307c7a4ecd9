"""The notebooks as pages of the site, with the outputs that are stored in them: hooks of mkdocs, listed in mkdocs.yml.

Nothing is executed, and the pages are made when the site is, so no copy of them has to be kept. In the sources links lead to
the notebooks themselves, which a forge shows; on the site they lead to these pages.
"""

from __future__ import annotations

import base64
import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "notebooks"
_LINK = re.compile(r"\]\((?:\.\./examples/)?(notebooks/)?(\w+)\.ipynb\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add `notebooks/NAME.md` for each notebook."""
    from mkdocs.structure.files import File, InclusionLevel

    for path in sorted(FOLDER.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
        page = File.generated(
            config,
            f"notebooks/{path.stem}.md",
            content=page_of(notebook),
            inclusion=InclusionLevel.NOT_IN_NAV,
        )
        files.append(page)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links to notebooks to their pages."""
    return _LINK.sub(r"](\1\2.md)", markdown)


def page_of(notebook: Any) -> str:
    """A notebook in Markdown: its text, its code, and what it shows, pictures included."""
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(_LINK.sub(r"](\2.md)", cell.source))
        else:
            parts += [f"```py\n{cell.source}\n```", *(_shown(output) for output in cell.outputs)]
    return "\n\n".join(parts) + "\n"


def _shown(output: Any) -> str:
    if output.output_type == "stream":
        return _plain(output.text)
    ((form, content),) = output.data.items()
    if form == "text/html":
        return f'<div class="md-typeset__scrollwrap"><div class="md-typeset__table">{content}</div></div>'
    if form.startswith("image/"):
        code = content.strip() if form == "image/png" else base64.b64encode(content.encode()).decode()
        return f'<p><img alt="Output of the cell above" src="data:{form};base64,{"".join(code.split())}"></p>'
    return _plain(content)


def _plain(text: str) -> str:
    return f'<pre style="overflow-x: auto">{escape(text.rstrip(), quote=False)}</pre>'
