"""The page that checks certificates in the browser: its archive judges as `check` does, and Chromium shows the verdicts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mirrormata import check, construct, full_certificate
from mirrormata.tests.models.report.browser import browser, browser_path
from mirrormata.tests.project.browser_page import PYODIDE, on_post_build, write_checkers
from mirrormata.tests.project.documented_pages import ROOT
from mirrormata.tests.project.test_site import open_page, serve

JUDGE = (
    "import json, sys; from browser_check import check_text; print(json.dumps(check_text(sys.stdin.read())))"
)


def judged(archive: Path, text: str) -> tuple[str, str, str]:
    """What the archive alone says of a text, in a Python that sees nothing of the package."""
    program = f"import sys; sys.path.insert(0, {str(archive)!r}); {JUDGE}"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], input=text, capture_output=True, text=True, check=True
    )
    verdict, reason, called = json.loads(done.stdout)
    return verdict, reason, called


def test_the_archive_judges_as_check_does(tmp_path: Path) -> None:
    folder = tmp_path / "unpacked"
    write_checkers(tmp_path / "checkers.zip")
    subprocess.run(
        [sys.executable, "-m", "zipfile", "-e", str(tmp_path / "checkers.zip"), str(folder)], check=True
    )
    for spec, theorem in (("S3", None), ("T4", "own.chain"), ("T3", None)):
        document = full_certificate(construct(spec, theorem=theorem))
        right = check(document)
        assert judged(folder, json.dumps(document)) == ("valid", right.reason, spec)
        document["summary"]["layers"] += 1
        assert judged(folder, json.dumps(document)) == ("invalid", check(document).reason, "")
    assert judged(folder, "{")[0] == "invalid"
    assert judged(folder, '{"kind": "_program"}')[0] == judged(folder, "[]")[0] == "unknown"


@pytest.mark.long
def test_in_a_browser(tmp_path: Path) -> None:
    """Served without the rest of the site: the page's own HTML, scripts and archive, with Pyodide where it was fetched."""
    path = browser_path()
    if path is None:
        pytest.skip("no browser: install chromium (Debian: apt-get install chromium)")
    (tmp_path / "browser").mkdir()
    page = (ROOT / "docs" / "check-in-browser.md").read_text(encoding="utf-8")
    head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>check</title><link rel="icon" href="data:,"><body>'
    (tmp_path / "index.html").write_text(head + page, encoding="utf-8")
    for script in (ROOT / "docs" / "browser").iterdir():
        (tmp_path / "browser" / script.name).write_bytes(script.read_bytes())
    on_post_build(config={"site_dir": str(tmp_path)})  # type: ignore[arg-type]
    (tmp_path / "wrong.json").write_text('{"kind": "table"}', encoding="utf-8")
    with browser(path) as started, serve(tmp_path) as address:
        shown, heard = open_page(started, address)
        shown.click("#example")
        if not PYODIDE.is_dir():
            shown.wait_for_function(
                "document.querySelector('#state').textContent.includes('without Pyodide')"
            )
            return
        shown.wait_for_selector("#verdicts tbody tr")
        shown.set_input_files("#certificates", [str(tmp_path / "wrong.json")])
        shown.wait_for_selector("#verdicts tbody tr:nth-child(2)")
        rows = shown.eval_on_selector_all(
            "#verdicts tbody tr", "rows => rows.map(row => row.dataset.verdict)"
        )
        assert rows == ["valid", "invalid"]
        assert "S3" in shown.inner_text("#verdicts")
        assert heard == []
