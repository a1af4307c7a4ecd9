"""`mirrormata report`: what a folder holds, files whole or not at all, and refusals in one line."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from hashlib import sha256
from html import unescape
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from mirrormata import construct
from mirrormata.cli import main
from mirrormata.cli.reporting import report as command
from mirrormata.constructions._document import write_certificate
from mirrormata.foundation._errors import LimitError
from mirrormata.models.report import _page
from mirrormata.models.report import _report as module
from mirrormata.models.report._data import LearnedLimits, RandomRuns, Section, ShownLimits, Table
from mirrormata.models.report._folder import open_folder, show_provenance
from mirrormata.models.report._paper import COLUMN
from mirrormata.models.report._report import Report, write_report
from mirrormata.tests.cli.command_line import Outcome
from mirrormata.tests.models.report.report_examples import accuracy, letters
from mirrormata.theory._horizon import full_certificate

Call = Callable[..., Outcome]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes seconds, the sections of a construction, is tested elsewhere; here there is one."""

    def constructed(found: Any, *, certificate: Path | None = None, **_: Any) -> tuple[Section, ...]:
        return (
            Section(
                "automaton", "Automaton", f"{found.automaton.name} {certificate}", (accuracy(), letters())
            ),
        )

    monkeypatch.setattr("mirrormata.models.report._constructed.show_construction", constructed)


@pytest.fixture
def certificates(tmp_path: Path) -> Path:
    folder = tmp_path / "certificates"
    folder.mkdir()
    write_certificate(full_certificate(construct("mod:3")), folder / "mod3.json")
    return folder


def rows(folder: Path, slug: str, **options: Any) -> list[tuple[Any, ...]]:
    sections = module.sections_of(open_folder(folder), **options)
    (table,) = [item for s in sections for item in s.every if item.slug == slug and isinstance(item, Table)]
    return list(table.rows)


@pytest.mark.long
def test_a_certificate_is_reported_with_figures_and_data(
    call: Call, certificates: Path, tmp_path: Path
) -> None:
    found = call("report", str(certificates), "--png", str(tmp_path / "a/png"), "--json")
    assert found.status == 0
    assert found.json["page"] == str(certificates / "report.html")
    page = (certificates / "report.html").read_text(encoding="utf-8")
    assert found.json["bytes"] == len(page.encode()) < 5_000_000
    assert (found.json["sections"][0], found.json["sections"][-1]) == ("summary", "provenance")
    written = {Path(name) for name in found.json["files"]}
    assert written == set((tmp_path / "a/png").iterdir())
    assert len([p for p in written if p.suffix == ".png"]) == found.json["charts"] > 0
    assert len([p for p in written if p.suffix == ".csv"]) == found.json["charts"] + found.json["tables"]
    assert len([p for p in written if p.suffix == ".svg"]) == found.json["pictures"]
    assert "mirrormata report" in page
    assert not list(certificates.glob(".*"))


@pytest.mark.usefixtures("quick")
def test_the_files_that_were_read_stand_in_the_last_section(certificates: Path) -> None:
    data = (certificates / "mod3.json").read_bytes()
    assert rows(certificates, "files") == [("mod3.json", len(data), sha256(data).hexdigest())]
    assert ("command", "mirrormata report x") in rows(certificates, "what", command="mirrormata report x")
    versions = dict(rows(certificates, "what"))["versions"]
    assert "mirrormata 0" in versions
    assert "plotly 6" in versions


@pytest.mark.usefixtures("quick")
def test_the_command_that_made_it_is_said(certificates: Path, call: Call) -> None:
    target = certificates / "a page.html"
    assert call("report", str(certificates), "-o", str(target), "--max-rows", "7", "--json").status == 0
    assert f"mirrormata report {certificates} --output '{target}' --max-rows 7<" in unescape(
        target.read_text()
    )


def test_the_commands_limits_are_those_of_the_library() -> None:
    own = {name: p.default for name, p in signature(command).parameters.items()}
    same = {
        "words": LearnedLimits.words, "length": LearnedLimits.length, "max_letters": LearnedLimits.max_letters,
        "max_group": LearnedLimits.max_group, "max_dim": LearnedLimits.max_dim, "max_steps": LearnedLimits.steps,
        "run_words": RandomRuns.words, "run_length": RandomRuns.length, "max_heads": ShownLimits.heads,
        "max_states": ShownLimits.states, "max_arrows": ShownLimits.arrows, "max_wires": ShownLimits.dimension,
        "max_rows": ShownLimits.rows, "max_points": ShownLimits.points, "max_spectra": ShownLimits.spectra,
        "max_matrices": ShownLimits.matrices, "max_codes": ShownLimits.codes, "max_monoid": ShownLimits.monoid,
        "max_bytes": module.MAX_BYTES, "width": COLUMN,
    }  # fmt: skip
    assert {name: own[name] for name in same} == same
    assert own["max_drawn"] == ShownLimits.letters == LearnedLimits.letters


@pytest.mark.usefixtures("quick")
def test_the_summary_says_what_there_is(certificates: Path) -> None:
    (tmp := certificates / "other").mkdir()
    document = full_certificate(construct("parity"))
    document["layers"] = []
    (tmp / "broken.json").write_text(json.dumps(document))
    first, *_ = module.sections_of(open_folder(tmp))
    assert first.text.startswith("The checker finds broken.json, of kind table, invalid: ")
    (one, *_) = module.sections_of(open_folder(certificates))
    assert one.text.startswith(
        "mod:3 is followed by a linear RNN of 1 layer and 1 head with at most 2 factors a letter"
    )
    assert one.text.endswith("the checker finds its certificate valid.")
    write_certificate(full_certificate(construct("parity")), certificates / "parity.json")
    (both, *_) = module.sections_of(open_folder(certificates))
    assert both.text == "2 certificates, all of them valid: mod:3, parity."
    assert [(row[0], row[2], row[3]) for row in rows(certificates, "findings")] == [
        ("mod3.json", "valid", "mod:3"), ("parity.json", "valid", "parity"),
    ]  # fmt: skip


@pytest.mark.usefixtures("quick")
def test_several_certificates_have_titles_of_their_own(certificates: Path) -> None:
    write_certificate(full_certificate(construct("parity")), certificates / "parity.json")
    titles = [s.title for s in module.sections_of(open_folder(certificates))]
    assert len(set(titles)) == len(titles)
    assert (
        sum(title.startswith("mod3.json: ") for title in titles)
        == sum(title.startswith("parity.json: ") for title in titles)
        > 0
    )


@pytest.mark.usefixtures("quick")
def test_an_invalid_certificate_is_said_and_not_shown_as_a_construction(certificates: Path) -> None:
    document = json.loads((certificates / "mod3.json").read_text())
    document["layers"][0]["heads"][0]["letters"] = []
    (certificates / "broken.json").write_text(json.dumps(document))
    ((name, kind, verdict, reason),) = rows(certificates, "certificates")
    assert (name, kind, verdict) == ("broken.json", "table", "invalid")
    assert reason
    assert [path.name for path, _ in open_folder(certificates).realisations] == ["mod3.json"]


@pytest.mark.usefixtures("quick")
def test_refusals_name_the_place_and_write_nothing(call: Call, tmp_path: Path, certificates: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "other.json").write_text("[]")
    assert call("report", str(tmp_path / "none")).error == f"{tmp_path / 'none'}: no such folder"
    assert "nothing to report" in call("report", str(tmp_path / "empty")).error
    assert "is a file" in call("report", str(certificates / "mod3.json")).error
    (tmp_path / "empty" / "config.json").write_text('{"model_type": "delta_net"}')
    assert "is an FLA checkpoint" in call("report", str(tmp_path / "empty")).error
    assert (
        "inches are possible"
        in call("report", str(certificates), "--pdf", str(tmp_path / "f"), "--width", "0").error
    )
    assert (
        "is no folder, and a folder is needed"
        in call("report", str(certificates), "--png", str(certificates / "mod3.json")).error
    )
    assert "--max-bytes" in call("report", str(certificates), "--max-bytes", "1000").error
    (certificates / "torn.json").write_text('{"format": ')
    assert (
        call("report", str(certificates)).error
        == f"{certificates / 'torn.json'}: line 1 is not JSON (Expecting value)"
    )
    assert sorted(p.name for p in certificates.iterdir()) == ["mod3.json", "torn.json"]
    assert not (tmp_path / "f").exists()


@pytest.mark.usefixtures("quick")
def test_a_page_is_whole_or_not_there(
    certificates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "page.html").write_text("before")

    def fail(*_: object, **__: object) -> Any:
        yield "a.csv", b"a"
        raise RuntimeError("drawing failed")

    monkeypatch.setattr(module, "draw_items", fail)
    with pytest.raises(RuntimeError, match="drawing failed"):
        write_report(certificates, output=tmp_path / "page.html", png=tmp_path / "png")
    with pytest.raises(LimitError, match="more than 10"):
        write_report(certificates, output=tmp_path / "page.html", max_bytes=10)
    assert (tmp_path / "page.html").read_text() == "before"
    assert not (tmp_path / "png").exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["certificates", "page.html"]


@pytest.mark.usefixtures("quick")
def test_the_same_folder_gives_the_same_page(certificates: Path, tmp_path: Path) -> None:
    for name in ("a.html", "b.html"):
        write_report(certificates, output=tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


@pytest.mark.usefixtures("quick")
def test_progress_grows_up_to_one(certificates: Path) -> None:
    seen: list[float] = []
    write_report(certificates, progress=seen.append)
    assert seen == sorted(seen)
    assert seen
    assert 0 <= seen[0] <= seen[-1] <= 1


@pytest.mark.usefixtures("quick")
def test_what_is_not_installed_is_named_with_the_fix(
    certificates: Path, monkeypatch: pytest.MonkeyPatch, call: Call
) -> None:
    for name in ("plotly", "jinja2"):
        _page.load_plotly.cache_clear()
        _page.load_template.cache_clear()
        with monkeypatch.context() as patched:
            patched.delitem(sys.modules, "plotly.offline", raising=False)
            patched.setitem(sys.modules, name, None)
            said = f"a report needs {name}, which is not installed: pip install 'mirrormata[report]'"
            assert call("report", str(certificates)).error == said
    assert not (certificates / "report.html").exists()


@pytest.mark.long
def test_a_training_is_shown_beside_the_construction(tmp_path: Path, call: Call) -> None:
    folder = tmp_path / "run"
    small = (
        "model.width=16",
        "model.heads=1",
        "model.head_dim=4",
        "model.value_dim=4",
        "train.log_every=5",
        "train.threads=1",
    )
    options = [part for entry in small for part in ("--set", entry)]
    lengths = ("--steps", "20", "--batch", "8", "--lengths", "2-8", "--test-lengths", "8,16", "--layers", "1")
    assert call("train", "parity", "-o", str(folder), *lengths, *options, "--device", "cpu").status == 0
    found = call("report", str(folder), "--words", "16", "--length", "64", "--max-steps", "50", "--json")
    assert found.status == 0
    sections = found.json["sections"]
    assert sections[0] == "summary"
    assert "automaton" in sections
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "16 random words of 64 letters" in page
    assert re.search(r"<h1>deltaproduct, trained on parity, is right up to \d+ letters?[;,]", page)
    (files,) = show_provenance(open_folder(folder)).folded
    assert isinstance(files, Table)
    assert [row[0] for row in files.rows] == [
        "settings.json", "task.json", "metrics.jsonl", "result.json", "seed-0/config.json", "seed-0/task.json",
        "seed-0/model.safetensors",
    ]  # fmt: skip
    assert open_folder(folder / "seed-0").kind == "model"
    (folder / "result.json").write_text("{")
    assert f"{folder / 'result.json'}: line 1 is not JSON" in call("report", str(folder)).error


@pytest.mark.parametrize(("length", "fit"), [("8", 8), ("64", 64), ("100", 64)])
def test_words_of_any_length_can_be_compared(
    length: str, fit: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No more states are averaged than a word has letters, so that a short `--length` needs no other option."""
    seen: list[LearnedLimits] = []

    def write(folder: str, *, learned: LearnedLimits, **_: Any) -> Report:
        seen.append(learned)
        return Report(Path(folder) / "report.html", 1, (), 0, 0, 0, ())

    monkeypatch.setattr("mirrormata.models.report._report.write_report", write)
    with pytest.raises(SystemExit):
        main(["report", str(tmp_path), "--length", length])
    assert [(limits.length, limits.fit) for limits in seen] == [(int(length), fit)]
