"""What the theme of the site leaves out: the name of the search dialog, cells of a table's head that are empty. Hooks of mkdocs.

What the theme makes in the browser only is named there, by `docs/site.js`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

_DIALOG = 'data-md-component="search" role="dialog"'
_EMPTY_HEAD = re.compile(r"<th(\s[^>]*)?></th>")


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let a search for the number of a theorem find its own page before those of its misprints and remarks."""
    folder, _, name = page.file.src_uri.rpartition("/")
    if folder == "claims" and not any(word in name for word in ("printed", "remark", "index")):
        page.meta.setdefault("search", {"boost": 2})
    return markdown


def on_post_page(output: str, *, page: Page, config: MkDocsConfig) -> str:
    """Name the search dialog, and make a cell of a head that heads nothing a plain one."""
    return name_parts(output)


def name_parts(page: str) -> str:
    """The HTML of a page with a name for the search dialog and without empty header cells."""
    page = page.replace(_DIALOG, f'{_DIALOG} aria-label="Search"')
    return _EMPTY_HEAD.sub(lambda cell: f"<td{cell[1] or ''}></td>", page)
