"""Chromium of the system, driven by Playwright, for the tests and the pictures of reports."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES = ("chromium", "chromium-browser", "google-chrome")


def browser_path() -> str | None:
    """Where the browser is; None where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@contextmanager
def browser(path: str) -> Iterator[Browser]:
    """The browser, without a window; without its sandbox where root runs it, which Chromium demands."""
    from playwright.sync_api import sync_playwright

    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=arguments)
        try:
            yield started
        finally:
            started.close()


def opened(started: Browser, file: Path, *, scripts: bool = True, **options: Any) -> Page:
    """The file in a page of its own, once all its plots are drawn; `page.heard` is what went wrong, and its requests."""
    context = started.new_context(
        java_script_enabled=scripts, **{"viewport": {"width": 1360, "height": 900}, **options}
    )
    shown = context.new_page()
    heard: list[str] = []
    shown.on("console", lambda message: heard.append(f"console: {message.text}"))
    shown.on("pageerror", lambda error: heard.append(f"error: {error}"))
    shown.on("request", lambda request: heard.append(f"request: {request.url[:100]}"))
    shown.heard = heard  # type: ignore[attr-defined]
    shown.goto(file.resolve().as_uri())
    if scripts:
        shown.wait_for_selector("html[data-drawn]", state="attached", timeout=60_000)
    return shown
