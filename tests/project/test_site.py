"""The site as a reader has it: axe finds nothing on the main pages, wide and narrow, light and dark; search and keyboard work."""

from __future__ import annotations

import functools
import http.server
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mirrormata.tests.models.report.browser import browser, browser_path
from mirrormata.tests.project.documented_pages import ROOT
from mirrormata.tests.project.site_pages import name_parts
from mirrormata.tests.project.source_files import source_files

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

MAIN = (
    "index.html", "start.html", "from-an-automaton.html", "from-a-layer.html", "check-in-browser.html", "papers.html", "automata.html", "command-line.html",
    "report.html", "training.html", "api/index.html", "api/automata.html", "claims/index.html", "claims/g_t3.html", "notebooks.html",
)  # fmt: skip


def test_names_that_the_theme_leaves_out() -> None:
    page = name_parts(
        '<div class="md-search" data-md-component="search" role="dialog"><table><tr><th></th><th class="x"></th><th>a</th></tr></table>'
        '<nav class="md-nav" data-md-level="2" aria-labelledby="__nav_5_5_label" aria-expanded="false">\n <label class="md-nav__title" '
        'for="__nav_5_5">\n<span class="md-nav__icon md-icon"></span>\n\n Python API\n </label>'
    )
    assert 'role="dialog" aria-label="Search"' in page
    assert '<td></td><td class="x"></td><th>a</th>' in page
    assert '<nav class="md-nav" data-md-level="2" aria-label="Python API" aria-expanded="false">' in page


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the built site: that of `make docs` where nothing is newer, since a build takes minutes."""
    folder = ROOT / "site"
    if not _is_built(folder):
        folder = tmp_path_factory.mktemp("site")
        subprocess.run(
            [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)], cwd=ROOT, check=True,
            env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        )  # fmt: skip

    with serve(folder) as address:
        yield address


def _is_built(folder: Path) -> bool:
    """Whether a site is newer than every file of the repository that git does not ignore."""
    last = folder / "sitemap.xml"  # written when all pages are
    if not last.is_file():
        return False
    return last.stat().st_mtime > max((ROOT / name).stat().st_mtime for name in source_files())


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """A folder on this machine's own network, by its address."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@pytest.fixture(scope="module")
def started() -> Iterator[Browser]:
    path = browser_path()
    if path is None:
        pytest.skip("no browser: install chromium (Debian: apt-get install chromium)")
    with browser(path) as found:
        yield found


def open_page(started: Browser, address: str, **options: Any) -> tuple[Page, list[str]]:
    """The page once everything is loaded, and what went wrong in it."""
    page = started.new_context(**options).new_page()
    page.set_default_timeout(120_000)
    heard: list[str] = []
    page.on("console", lambda message: heard.append(message.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("requestfailed", lambda request: heard.append(request.url))
    page.goto(address)
    page.wait_for_load_state("networkidle")
    return page, heard


@pytest.mark.long
@pytest.mark.parametrize("name", MAIN)
def test_axe_finds_nothing_on_the_main_pages(started: Browser, site: str, name: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    for width, theme in ((390, "dark"), (1360, "light")):
        scheme: Any = theme
        page, heard = open_page(
            started, site + name, viewport={"width": width, "height": 900}, color_scheme=scheme
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        found = Axe().run(page).response
        assert len(found["passes"]) > 20
        assert [(rule["id"], rule["nodes"][0]["html"]) for rule in found["violations"]] == []
        assert heard == []
        page.context.close()


@pytest.mark.long
def test_the_keyboard_reaches_the_text_and_the_search(started: Browser, site: str) -> None:
    page, _ = open_page(started, f"{site}start.html", viewport={"width": 1360, "height": 900})
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className").startswith("md-skip")
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#start"
    page.keyboard.press("/")  # the key that the theme opens its search by
    assert page.evaluate("document.activeElement.className").startswith("md-search__input")
    page.context.close()


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "title"), [("G.T3", "G.T3: "), ("own.chain", "own.chain: "), ("DP.T6", "DP.T6: ")]
)
def test_a_search_finds_the_page_of_a_theorem_first(
    started: Browser, site: str, text: str, title: str
) -> None:
    page, _ = open_page(started, f"{site}index.html", viewport={"width": 1360, "height": 900})
    page.click("input.md-search__input")
    page.keyboard.type(text)
    page.wait_for_selector(".md-search-result__item h1", state="visible")
    page.wait_for_timeout(2000)  # results come while the reader types
    assert page.locator(".md-search-result__item h1").first.inner_text().startswith(title)
    page.context.close()
