"""Records of decisions: numbered without gaps, short, with the same three sections, and listed with their titles."""

from __future__ import annotations

import re

import pytest

from mirrormata.tests.project.source_files import ROOT

FOLDER = ROOT / "docs" / "decisions"
RECORDS = sorted(path.name for path in FOLDER.glob("[0-9]*.md"))


def test_records_are_numbered_and_listed() -> None:
    assert [int(name[:4]) for name in RECORDS] == list(range(1, len(RECORDS) + 1))
    listed = re.findall(
        r"^- (\d{4})\. \[(.+)\]\((.+)\)$", (FOLDER / "index.md").read_text("utf-8"), re.MULTILINE
    )
    assert sorted(name for _, _, name in listed) == RECORDS
    for number, title, name in listed:
        assert (FOLDER / name).read_text("utf-8").startswith(f"# {number}. {title}\n"), name


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_is_short_and_says_why_what_and_what_follows(name: str) -> None:
    text = (FOLDER / name).read_text("utf-8")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == ["Context", "Decision", "Consequences"]
    assert all(section.strip() for section in re.split(r"^#+ .*$", text, flags=re.MULTILINE)[2:])
    assert 10 <= len(text.splitlines()) <= 30
