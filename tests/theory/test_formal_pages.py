"""The pages of the Coq library in the site: each file has one, their links lead somewhere, and without Coq the site is built as before."""

from __future__ import annotations

import logging
import os
import re
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mirrormata.tests.project import coq_pages
from mirrormata.tests.project.claim_pages import anchor_of
from mirrormata.tests.project.generated_formal import theorems
from mirrormata.theory.verifying._registry import load_claims

without_coq = shutil.which("coqdoc") is None and not os.environ.get("CI")
FORMAL_PAGE: Any = SimpleNamespace(file=SimpleNamespace(src_uri="formal.md"))


def test_without_coq_one_line_says_what_is_skipped(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with caplog.at_level(logging.INFO):
        coq_pages.on_post_build(config={"site_dir": str(tmp_path)})  # type: ignore[arg-type]
    # a warning would stop a strict build
    assert [record.levelno for record in caplog.records] == [logging.INFO]
    assert caplog.messages == [
        "the pages of the Coq library are skipped: Coq is not installed (see CONTRIBUTING.md)"
    ]
    assert list(tmp_path.iterdir()) == []
    nothing: Any = None
    text = f"before {coq_pages.MARK} after"
    assert coq_pages.on_page_markdown(text, FORMAL_PAGE, nothing, nothing) == "before  after"


def test_a_library_that_is_not_compiled_has_no_pages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "coq").mkdir()
    shutil.copy2(coq_pages.FORMAL / "coq" / "_CoqProject", tmp_path / "coq")
    monkeypatch.setattr(shutil, "which", lambda name: name)
    monkeypatch.setattr(coq_pages, "FORMAL", tmp_path)
    assert coq_pages.why_not() == "the library is not compiled: `make formal` does it"


def test_only_the_page_on_the_library_is_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing: Any = None
    monkeypatch.setattr(coq_pages, "why_not", lambda: None)
    other: Any = SimpleNamespace(file=SimpleNamespace(src_uri="proved.md"))
    assert coq_pages.on_page_markdown(coq_pages.MARK, other, nothing, nothing) == coq_pages.MARK
    assert 'href="coq/index.html"' in coq_pages.on_page_markdown(
        coq_pages.MARK, FORMAL_PAGE, nothing, nothing
    )
    assert (coq_pages.FORMAL.parents[1] / "docs" / "formal.md").read_text().count(coq_pages.MARK) == 1


def test_claims_link_to_the_rows_of_their_theorems() -> None:
    """Each theorem's row has an anchor of its own, and each theorem that a claim names is linked to its row."""
    docs = coq_pages.FORMAL.parents[1] / "docs"
    rows = re.findall(
        r'^\| <a id="([^"]+)"></a>`(\w+)` \| `(\w+)\.v` \|', (docs / "formal.md").read_text(), re.M
    )
    assert [anchor for anchor, _, _ in rows] == [anchor_of(name) for name, _ in theorems()]
    assert len({anchor for anchor, _, _ in rows}) == len(rows)
    row_of = {anchor: (theorem, file) for anchor, theorem, file in rows}
    for entry in load_claims():
        page = (docs / "claims" / f"{entry.claim.file_stem}.md").read_text(encoding="utf-8")
        links = re.findall(r"\[`(\w+)`\]\(\.\./formal\.md#([^)]*)\) \(`(\w+)\.v`\)", page)
        assert [f"{file}.{theorem}" for theorem, _, file in links] == entry.claim.formal_names
        for theorem, anchor, file in links:
            assert row_of[anchor] == (theorem, file), entry.claim.id


def test_every_file_says_first_what_it_is() -> None:
    assert all(len(coq_pages.first_sentence(file)) > 30 for file in coq_pages.library())


@pytest.mark.skipif(without_coq or coq_pages.why_not() is not None, reason="the library is not compiled")
def test_each_file_has_a_page_whose_links_lead_to_names(tmp_path: Path) -> None:
    coq_pages.write_pages(tmp_path)
    contents = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert re.findall(r">(\w+\.v)<", contents) == coq_pages.library()
    pages = {page.name: page.read_text(encoding="utf-8") for page in tmp_path.glob("*.html")}
    assert len(pages) == len(coq_pages.library()) + 1
    names = {name: set(re.findall(r' id="([^"]+)"', text)) for name, text in pages.items()}
    links = 0
    for text in pages.values():
        assert not re.search('(href|src)="(http|//)', text)  # the site asks for nothing elsewhere
        for target, place in re.findall(r'href="(Mirrormata[^"#]+)#?([^"]*)"', text):
            assert target in pages
            assert not place or place in names[target], (target, place)
            links += 1
    assert links > 1_000
