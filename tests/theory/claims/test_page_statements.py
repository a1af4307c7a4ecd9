"""Sentences of the pages that count or name things of the code: the numbers and names are those of the code."""

from __future__ import annotations

import re

import pytest

from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.library._names import library_rows
from mirrormata.tests.project.documented_pages import ROOT
from mirrormata.tests.project.generated_tables import navigation_sections, program_commands
from mirrormata.tests.project.table_texts import SETTINGS
from mirrormata.theory._check import all_checkers
from mirrormata.theory.arithmetic._arithmetic import parse_arithmetic
from mirrormata.theory.planning._plan import plan
from mirrormata.theory.verifying._registry import RENAMED, load_claims

README = (ROOT / "README.md").read_text(encoding="utf-8")


def page(name: str) -> str:
    return (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


def test_the_readme_counts_the_claims() -> None:
    claims = [entry.claim for entry in load_claims()]
    found = re.search(r"(\d+) claims of the papers.*?, (\d+) printed formulas", README, re.DOTALL)
    assert found is not None
    assert (int(found[1]), int(found[2])) == (len(claims), sum(claim.printed for claim in claims))


def test_the_readme_says_about_how_many_families_have_names() -> None:
    assert "about thirty-five families" in README
    assert 33 <= len(library_rows()) <= 38


def test_every_command_page_and_kind_stands_in_a_generated_table() -> None:
    assert "<!-- generated: commands -->" in page("command-line")
    assert "<!-- generated: pages -->" in page("index")
    assert "<!-- generated: kinds -->" in page("glossary")
    for name, command in program_commands():
        assert f"[`{name}`](#{name.replace(' ', '-')})" in page("command-line")
        assert command.help.strip(), name
    for section, pages in navigation_sections():
        assert f"### {section}\n" in page("index")
        assert all(f"[{title}]({name})" in page("index") for title, name in pages)
    assert all(f"`{kind}`" in page("glossary") for kind in all_checkers())


def test_the_readme_links_the_doors_and_the_list_of_all_pages() -> None:
    doors = navigation_sections()[0][1]
    assert len(navigation_sections()) < 8
    for name in ("index.md", *(name for _, name in doors if name != "notebooks.md")):
        assert f"](docs/{name}" in README, name


def test_the_arithmetic_page_names_all_models() -> None:
    text = page("arithmetic")
    assert "There are five models." in text
    for name in ("exact", "cast:bf16", "per_step:bf16", "per_op:bf16", "kernel:recurrent:bf16"):
        assert parse_arithmetic(name).name.startswith(name.partition(":")[0])
        assert f"| `{name.partition(':')[0]}" in text


def test_extras_that_the_pages_name_exist() -> None:
    extras = SETTINGS["project"]["optional-dependencies"]
    assert "pip install -e '.[models,report]'" in README
    for extra in set(extras) - {"dev", "test", "lint", "docs"}:
        assert f"| `{extra}` |" in page("start")
    for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for named in re.findall(
            r"pip install (?:-e )?'(?:mirrormata|\.)\[([\w,]+)\]'", path.read_text("utf-8")
        ):
            assert set(named.split(",")) <= set(extras), path.name


@pytest.mark.parametrize(
    "spec", ["flipflop", "T3", "parity", "S4", "mod:12", "tomita:3", "permreset:3", "gridworld:4", "dyck1:3"]
)
def test_only_one_construction_has_gates(spec: str) -> None:
    """`Only DP.T2 has gates`, on the page of conventions."""
    assert "Only DP.T2 has gates" in page("conventions")
    for offer in plan(automaton_from_spec(spec)).offers:
        if isinstance(offer.found, LRNN):
            gates = {t.gate for head in offer.found.all_heads for t in head.transitions}
            assert gates <= ({0, 1} if offer.found.theorem == "DP.T2" else {1}), offer.found.theorem


def test_former_names_of_claims_stand_nowhere_but_where_they_are_answered() -> None:
    """A claim that was renamed has one name in code, tests and pages."""
    known = {entry.claim.id for entry in load_claims()}
    assert all(name.id in known and name.old not in known for name in RENAMED.values())
    for path in [
        README_PATH,
        *(ROOT / "docs").rglob("*.md"),
        *ROOT.glob("theory/**/*.py"),
        *ROOT.glob("models/**/*.py"),
    ]:
        text = path.read_text(encoding="utf-8")
        for name in RENAMED.values():
            assert path.name == "_registry.py" or name.old not in text, f"{path}: {name.old} is {name.id} now"


README_PATH = ROOT / "README.md"
