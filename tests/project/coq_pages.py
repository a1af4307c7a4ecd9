"""The Coq library as pages of the site, by coqdoc, where Coq is installed and the library is compiled. A hook of mkdocs."""

from __future__ import annotations

import html
import logging
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

FORMAL = Path(__file__).parents[2] / "theory" / "formal"
MARK = "<!-- the pages of the library -->"
"""Where docs/formal.md links to the pages, if there are any."""
LINK = (
    "The library is also part of this site, file by file, with links from each name to where it is defined: "
    '<a href="coq/index.html">its pages</a>.'
)
HEAD = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><link rel="stylesheet" href="pages.css"></head><body>
<nav><a href="../formal.html">Proved in Coq</a>, <a href="index.html">all files</a></nav><main>
"""
FOOT = "</main></body></html>\n"
_LINK_BETWEEN = re.compile(
    r'<a class="idref" href="(?P<page>Mirrormata[^"#]+)#(?P<place>[^"]*)">(?P<text>.*?)</a>'
)
log = logging.getLogger("mkdocs.hooks.coq_pages")


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Link to the pages where they will be made."""
    return markdown.replace(MARK, "" if why_not() else LINK) if page.file.src_uri == "formal.md" else markdown


def on_post_build(*, config: MkDocsConfig) -> None:
    """Make the pages, or say in one line why there are none."""
    why = why_not()
    if why:
        log.info("the pages of the Coq library are skipped: %s", why)
    else:
        write_pages(Path(config["site_dir"]) / "coq")


def why_not() -> str | None:
    """Why there can be no pages; None where they can be made."""
    if shutil.which("coqdoc") is None:
        return "Coq is not installed (see CONTRIBUTING.md)"
    if not all((FORMAL / "coq" / file).with_suffix(".vo").is_file() for file in library()):
        return "the library is not compiled: `make formal` does it"
    return None


def library() -> list[str]:
    """The files of the library in the order in which they are compiled."""
    lines = (FORMAL / "coq" / "_CoqProject").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.endswith(".v")]


def write_pages(folder: Path) -> None:
    """A page for each file of the library, and one that lists them.

    Args:
        folder: where to write them; it is created.
    """
    folder.mkdir(parents=True, exist_ok=True)
    options = (
        "--html",
        "--utf8",
        "--no-index",
        "--no-externals",
        "--parse-comments",
        "--plain-comments",
        "-s",
    )
    subprocess.run(
        [
            "coqdoc",
            "--quiet",
            *options,
            "--body-only",
            "-Q",
            ".",
            "Mirrormata",
            "-d",
            str(folder),
            *library(),
        ],
        cwd=FORMAL / "coq",
        capture_output=True,
        check=True,
    )
    (folder / "coqdoc.css").unlink(missing_ok=True)
    shutil.copyfile(FORMAL / "pages.css", folder / "pages.css")
    bodies = {
        name: plain_lines((folder / name).read_text(encoding="utf-8")) for name in map(page_name, library())
    }
    places = {name: set(re.findall(' id="([^"]+)"', body)) for name, body in bodies.items()}

    def live(link: re.Match[str]) -> str:
        """The link, or its text where coqdoc gives the place no name, as with some bound variables."""
        return link[0] if not link["place"] or link["place"] in places[link["page"]] else link["text"]

    entries = []
    for file in library():
        name = page_name(file)
        body = _LINK_BETWEEN.sub(live, bodies[name])
        (folder / name).write_text(
            f"{HEAD.format(title=file)}<h1>{file}</h1>\n{body}{FOOT}", encoding="utf-8"
        )
        says = re.sub("`(.*?)`", r"<code>\1</code>", html.escape(first_sentence(file)))
        entries.append(f'<li><a href="{name}"><code>{file}</code></a>: {says}</li>')
    items = "\n".join(entries)
    title = "The Coq library of mirrormata"
    (folder / "index.html").write_text(
        f"{HEAD.format(title=title)}<h1>{title}</h1>\n<ol>\n{items}\n</ol>\n{FOOT}", encoding="utf-8"
    )


def page_name(file: str) -> str:
    """The name that coqdoc gives to the page of a file."""
    return f"Mirrormata.{file.removesuffix('.v')}.html"


def plain_lines(body: str) -> str:
    """Lines as they are in the file: the style keeps their spaces, so that long lines of comments are wrapped between words."""
    return re.sub(r"\n*<br/>\n*", "\n", body).replace("&nbsp;", " ")


def first_sentence(file: str) -> str:
    """What the comment at the top of a file begins with, up to a full stop, a colon at the end of a line, or an empty line."""
    text = (FORMAL / "coq" / file).read_text(encoding="utf-8")
    found = re.match(r"\(\* (.*?)(?:[.:]\s*\n|\.\s|\n\s*\n|\*\))", text, re.S)
    if found is None:
        raise AssertionError(f"{file} does not begin with a comment")
    return " ".join(found[1].split())
