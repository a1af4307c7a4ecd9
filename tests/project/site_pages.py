"""What the theme of the site leaves out: names of the search dialog and of parts of the navigation, heads of tables. Hooks of mkdocs.

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
_PART = re.compile(
    r'aria-labelledby="__nav_[0-9_]+_label"( aria-expanded="(?:true|false)">\s*<label class="md-nav__title"[^>]*>\s*'
    r'<span class="md-nav__icon md-icon"></span>\s*([^<>]*?)\s*</label>)'
)
"""A part of the navigation, whose label is an icon alone where the part has a page of its own."""
_EMPTY_HEAD = re.compile(r"<th(\s[^>]*)?></th>")


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let a search for the number of a theorem find its own page before those of its misprints and remarks."""
    folder, _, name = page.file.src_uri.rpartition("/")
    if folder == "claims" and not any(word in name for word in ("printed", "remark", "index")):
        page.meta.setdefault("search", {"boost": 4})
    return markdown


def on_post_page(output: str, *, page: Page, config: MkDocsConfig) -> str:
    """Name the search dialog and the parts of the navigation, and make a cell of a head that heads nothing a plain one."""
    return name_parts(output)


def name_parts(page: str) -> str:
    """The HTML of a page with these names, and without empty header cells."""
    page = page.replace(_DIALOG, f'{_DIALOG} aria-label="Search"')
    page = _PART.sub(lambda part: f'aria-label="{part[2]}"{part[1]}', page)
    return _EMPTY_HEAD.sub(lambda cell: f"<td{cell[1] or ''}></td>", page)
