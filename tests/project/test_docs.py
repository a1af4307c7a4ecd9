"""The pages say what is true: code runs, outputs are real, links lead somewhere, options and names are all there."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest

import mirrormata
from mirrormata.tests.project.documented_pages import (
    PAGES,
    ROOT,
    ExpectedErrorError,
    agrees,
    blocks,
    refresh_page,
    run_page,
)
from mirrormata.tests.project.documented_pictures import IMAGES, PICTURES, SCREENSHOTS
from mirrormata.tests.project.generated_tables import program_commands

NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
TEXTS = {name: (ROOT / name).read_text(encoding="utf-8") for name in [*NAMES, "CHANGELOG.md"]}


@pytest.mark.parametrize("name", [name for name in NAMES if blocks(TEXTS[name])])
def test_blocks_of_a_page_print_what_it_shows(name: str, tmp_path: Path) -> None:
    wrong = [
        f"shown:\n{block.text}\nprinted:\n{printed}"
        for block, printed in run_page(TEXTS[name], tmp_path)
        if not agrees(block.text, printed)
    ]
    assert not wrong, f"{name}: see CONTRIBUTING.md, Tests\n" + "\n".join(wrong)


def test_a_wrong_output_is_noticed_and_fixed(tmp_path: Path) -> None:
    page = "```python\nprint(1)\n```\n\n```text\n2\n```\n"
    ((block, printed),) = run_page(page, tmp_path)
    assert not agrees(block.text, printed)
    assert refresh_page(page, tmp_path) == page.replace("2\n", "1\n")
    page = "```console\n$ mirrormata inspect nosuch\nfine\n```\n"
    ((block, printed),) = run_page(page, tmp_path)
    assert not agrees(block.text, printed)
    assert "error: 'nosuch' is not a name" in printed


def test_an_error_that_does_not_come_is_noticed(tmp_path: Path) -> None:
    """Also where the page shows no output: what is not printed is easily overlooked."""
    for body in ("pass", "print(1)"):
        shown = "```text\n1\n```\n" if "print" in body else ""
        page = f"```python\ntry:\n    {body}\nexcept ValueError as error:\n    print(error)\n```\n\n{shown}"
        with pytest.raises(ExpectedErrorError, match="line 3 of the block is not reached"):
            list(run_page(page, tmp_path))
    page = '```python\ntry:\n    int("x")\nexcept ValueError:\n    print("so it is")\n```\n\n```text\nso it is\n```\n'
    assert [agrees(block.text, printed) for block, printed in run_page(page, tmp_path)] == [True]
    page = '```python\nimport contextlib\n\nwith contextlib.suppress(ValueError):\n    int("3")\n```\n'
    with pytest.raises(ExpectedErrorError, match="not by `suppress`"):
        list(run_page(page, tmp_path))


def test_an_output_that_the_page_does_not_show_is_noticed(tmp_path: Path) -> None:
    for rest in ("", "Text.\n\n```python\nx = 1\n```\n", "Text.\n\n```text\n1\n```\n"):
        ((block, printed),) = run_page(f"```python\nprint(1)\n```\n\n{rest}", tmp_path)
        assert (block.text, printed) == ("", "1\n")
        assert not agrees(block.text, printed)
    assert not list(run_page("```python\nx = 1\n```\n", tmp_path))


def test_dots_stand_for_lines_and_times_do_not_count() -> None:
    assert agrees("a\n...\nd\n", "a\nb\nc\nd\n")
    assert agrees("a\n...\n", "a\n")
    assert not agrees("a\n...\nd\n", "a\nb\n")
    assert agrees("time 1.0 s, 5 tokens/s (numpy)\n", "time 22.7 s, 6,000 tokens/s (numpy)\n")
    assert not agrees("errors 0\n", "errors 1\n")


def anchors(text: str) -> set[str]:
    """Anchors of the headings, as GitHub and mkdocs make them, and those that the page names itself."""
    plain = re.sub(r"```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    headings = [re.sub(r"[`*]", "", h) for h in re.findall(r"^#+ (.*)$", plain, flags=re.MULTILINE)]
    named = set(re.findall(r'<a id="([^"]+)"></a>', plain))
    return named | {re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", h).strip().lower()) for h in headings}


@pytest.mark.parametrize("name", TEXTS)
def test_links_lead_somewhere(name: str) -> None:
    text = re.sub(r"```.*?^```$|`[^`\n]*`", "", TEXTS[name], flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        file = ((ROOT / name).parent / path).resolve() if path else ROOT / name
        assert file.exists(), f"{name}: {target}"
        if anchor.startswith("mirrormata."):
            assert f"\n::: {anchor}\n" in file.read_text(encoding="utf-8"), f"{name}: {target}"
        elif anchor:
            assert anchor in anchors(file.read_text(encoding="utf-8")), f"{name}: {target}"


def test_every_page_is_in_the_navigation() -> None:
    """But the pages of single claims, which the page of all claims lists."""
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = re.findall(r"([\w/-]+\.md)$", config[config.index("\nnav:\n") :], flags=re.MULTILINE)
    pages = [name.removeprefix("docs/") for name in NAMES if name.startswith("docs/")]
    claims = [name for name in pages if name.startswith("claims/") and name != "claims/index.md"]
    assert sorted([*listed, *claims]) == sorted(pages)
    for name in claims:
        assert f"]({name.removeprefix('claims/')})" in TEXTS["docs/claims/index.md"], name


def test_the_first_page_of_the_api_links_every_name_of_the_package() -> None:
    for name in mirrormata.__all__:
        assert f"#mirrormata.{name})" in TEXTS["docs/api/index.md"], name


def command_options() -> dict[str, list[str]]:
    """Every command of the program with the names of its options."""
    return {
        name: [
            o
            for p in command.params
            for o in (*p.opts, *p.secondary_opts)
            if o.startswith("-") and not p.hidden
        ]
        for name, command in program_commands()
    }


def test_every_command_and_option_is_documented() -> None:
    text = TEXTS["docs/command-line.md"]
    sections = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", text, flags=re.MULTILINE | re.DOTALL))
    found = command_options()
    assert set(found) >= {"inspect", "construct", "check", "run", "export npz", "export safetensors"}
    for command, options in found.items():
        rows = "".join(re.findall(r"^\| (.*?) \|", sections[command], flags=re.MULTILINE))
        for option in options:
            assert re.search(rf"(?<![\w-]){option}(?![\w-])", rows), f"{command} {option}"
        for option in re.findall(r"--[a-z][a-z-]*", rows):
            assert option in options, f"{command} has no {option}"


def test_pictures_are_shown_and_drawn() -> None:
    ways = r"!\[[^\]]*\]\(([^)]+)\)", r'<img src="([^"]+)"'
    shown = {Path(t).name for text in TEXTS.values() for way in ways for t in re.findall(way, text)}
    assert shown == {*PICTURES, *SCREENSHOTS} == {path.name for path in IMAGES.iterdir()}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_what_the_package_draws(name: str, tmp_path: Path) -> None:
    PICTURES[name](tmp_path / name)
    texts = [
        re.findall(r"<text[^>]*>([^<]*)<", path.read_text(encoding="utf-8"))
        for path in (IMAGES / name, tmp_path / name)
    ]
    assert texts[0]
    assert texts[0] == texts[1]


def modules_with_examples() -> list[str]:
    """Every module whose docstrings have examples, but for claims: those are run where claims are tested."""
    return [
        ".".join(("mirrormata", *path.relative_to(ROOT).with_suffix("").parts))
        for room in ("foundation", "constructions", "theory", "kernels", "models", "cli")
        for path in sorted((ROOT / room).rglob("*.py"))
        if path.parent.name != "claims" and ">>> " in path.read_text(encoding="utf-8")
    ]


@pytest.mark.parametrize("name", modules_with_examples())
def test_docstring_examples(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted
    assert not found.failed


def test_version_and_license() -> None:
    assert re.search(
        rf"^version: {re.escape(mirrormata.__version__)}$", (ROOT / "CITATION.cff").read_text(), re.M
    )
    assert f"## [{mirrormata.__version__}]" in TEXTS["CHANGELOG.md"]
    assert (
        (ROOT / "LICENSE")
        .read_text()
        .startswith("MIT License\n\nCopyright (c) 2026 The mirrormata developers")
    )
