"""The constructed part of a report: wrong certificates are shown so, limits are said, labels stay plain text."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from mirrormata.constructions._construct import Request, choose
from mirrormata.constructions._document import write_certificate
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.foundation._errors import InputError
from mirrormata.models.report._constructed import (
    choose_letters,
    show_automaton,
    show_construction,
    show_letters,
)
from mirrormata.models.report._data import Picture, RandomRuns, ShownLimits
from mirrormata.models.report._evidence import show_certificate, show_claims
from mirrormata.tests.models.report.constructed_reports import (
    FEW,
    LIMITS,
    assert_sound,
    found,
    item,
    lrnn_of,
    rows_of,
)
from mirrormata.theory._horizon import full_certificate, horizons


@pytest.mark.parametrize(
    ("spec", "theorem"),
    [("parity", None), ("S3", None), ("S5", None), ("mod:60", None), ("tomita:4", "G.T4"), ("S3", "DP.T1"),
     ("tomita:4", "G.A3"), ("tomita:4", "DP.T6"), ("mod:12", "G.T6")],
)  # fmt: skip
def test_sections_of_many_kinds(spec: str, theorem: str | None) -> None:
    sections = show_construction(found(spec, theorem), runs=FEW)
    assert_sound(sections)
    assert item(sections, "certificate").rows[3] == ("checker's answer", "valid")
    assert all(row[3] for row in item(sections, "figures").rows)
    untrue = [row[0] for row in item(sections, "claims-asked").rows if row[2] == "not true of it"]
    assert untrue == (["G.P1.1"] if theorem in ("G.A3", "DP.T6") else [])  # letters of norm above 1


@pytest.mark.long
def test_chess() -> None:
    sections = show_construction(found("chess"), runs=FEW)
    assert_sound(sections)
    assert "12 of 4,032" in item(sections, "spectra-disc").description


def test_one_state_has_no_margin() -> None:
    automaton = Automaton(("q",), ("a",), np.zeros((1, 1), dtype=np.int64), 0, np.array([True]), "one")
    sections = show_construction(choose(automaton, Request()), runs=FEW)
    assert_sound(sections)
    assert [i.slug for i in sections[-1].items] == ["norm", "dtypes"]


def test_limits_are_said() -> None:
    lrnn, few = (
        lrnn_of("S5"),
        ShownLimits(letters=5, rows=10, arrows=600, states=120, spectra=30, matrices=50),
    )
    sections = show_construction(lrnn, runs=FEW, limits=few)
    assert "4 of 120 letters" in item(sections, "automaton-picture").description
    assert "at most 5 of 120 letters" in item(sections, "mirrors").description
    assert len(item(sections, "factors").rows) <= 10
    assert re.match(r"\d of 120 different letters", item(sections, "factors").description)
    assert len(item(sections, "spectra-disc").series) == 5
    assert "5 of 120 different letter matrices" in item(sections, "spectra-disc").description
    assert "30 of 120 different letter matrices" in next(s for s in sections if s.slug == "spectra").text
    assert (
        "120 different letter matrices are more than 50"
        in next(s for s in sections if s.slug == "claims").text
    )
    whole = show_automaton(lrnn.automaton, LIMITS)
    assert "not drawn: 120 states are more than the 64" in whole.text
    assert [i.slug for i in whole.items] == ["automaton-facts"]
    wide = show_letters(lrnn, ShownLimits(dimension=4))
    assert "not drawn, as a head has dimension 5" in wide.text
    assert "; with a limit of 5 it is drawn." in wide.text
    many = show_letters(lrnn_of("S6"), ShownLimits(letters=1_000))
    assert "not drawn, as 720 panels, at most 400 are drawn; with a limit of 400 it is drawn." in many.text


def test_a_picture_of_the_report_names_its_limit() -> None:
    (picture,) = (
        i for i in show_letters(lrnn_of("S4"), ShownLimits(letters=3)).items if isinstance(i, Picture)
    )
    assert "with a limit of 24 all are drawn" in " ".join(
        " ".join(re.findall(r">([^<]+)<", picture.svg)).split()
    )
    assert "max_letters" not in picture.svg


@pytest.mark.parametrize("spec", ["S4", "S5", "T3"])
def test_letters_drawn_reach_all_that_is_reachable(spec: str) -> None:
    automaton = automaton_from_spec(spec)
    letters = choose_letters(automaton, 1)
    assert 0 < len(letters) < len(automaton.letters)
    part = Automaton(automaton.states, tuple(automaton.letters[x] for x in letters), automaton.transitions[letters],
                     automaton.start, automaton.outputs)  # fmt: skip
    assert sorted(part.reachable()) == sorted(automaton.reachable())
    assert choose_letters(automaton, 10**6) == list(range(len(automaton.letters)))


def test_letters_that_reach_nothing_new_are_left_out() -> None:
    stay = np.arange(4)
    maps = np.array([stay, [0, 1, 2, 0], [0, 1, 3, 3], [0, 2, 2, 3], [1, 1, 2, 3]])
    automaton = Automaton(("p", "q", "r", "s"), tuple("edcba"), maps, 0, np.array([True] * 4))
    assert choose_letters(automaton, 1) == [2, 3, 4]


def test_a_mealy_machine_is_drawn_in_part() -> None:
    table = np.array([[1, 2, 0], [0, 1, 2], [2, 0, 1]])
    outputs = np.array([["x", "y", "z"], ["u", "u", "u"], ["p", "q", "r"]], dtype=object)
    machine = Automaton(("0", "1", "2"), ("a", "b", "c"), table, 0, outputs, "machine")
    section = show_automaton(machine, ShownLimits(arrows=4))
    picture = item(section, "automaton-picture")
    svg = picture.svg
    assert "1 of 3 letters" in picture.description
    assert all(f"a/{o}" in svg for o in "xyz")
    assert "c/p" not in svg


@pytest.mark.parametrize("limits", [{"letters": 0}, {"rows": -1, "spectra": 0}])
def test_limits_below_one_are_refused(limits: dict[str, int]) -> None:
    with pytest.raises(InputError, match=next(iter(limits))):
        ShownLimits(**limits)


@pytest.mark.parametrize(
    "runs", [{"words": 0}, {"length": 0}, {"seed": -1}, {"dtypes": ()}, {"dtypes": ("fp7",)}]
)
def test_runs_that_make_no_sense_are_refused(runs: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        RandomRuns(**runs)
    assert RandomRuns(dtypes=("bfloat16", "bf16")).dtypes == ("bf16",)


def test_a_broken_certificate_is_shown_as_invalid(tmp_path: Path) -> None:
    lrnn = lrnn_of("S3")
    document = json.loads(json.dumps(full_certificate(lrnn)))
    document["layers"][0]["heads"][0]["transitions"][1]["factors"][0][0] = 2
    path = tmp_path / "broken.json"
    write_certificate(document, path)
    section = show_certificate(lrnn, path, None)
    answers = dict(item(section, "certificate").rows)
    assert answers["checker's answer"] == "invalid"
    assert answers["certificate"] == "broken.json"
    assert answers["is of this construction"] == "no"
    assert answers["reason"]
    assert f"finds it invalid: {answers['reason']}." in section.text
    assert "invalid" in item(section, "certificate").description


def test_a_certificate_file(tmp_path: Path) -> None:
    lrnn, path = lrnn_of("mod:5"), tmp_path / "c.json"
    write_certificate(full_certificate(lrnn), path)
    section = show_certificate(lrnn, path, horizons(lrnn))
    answers = dict(item(section, "certificate").rows)
    assert (answers["checker's answer"], answers["kind"]) == ("valid", "horizon")
    assert answers["is of this construction"] == "yes"
    figures = {row["figure"]: row for row in rows_of(item(section, "figures"))}
    assert (
        figures["horizon in bf16"]["computed now"] == figures["horizon in bf16"]["in the certificate"] == 56
    )
    assert all(row["equal"] for row in figures.values())
    other = show_certificate(lrnn_of("mod:7"), path, horizons(lrnn_of("mod:7")))
    assert dict(item(other, "certificate").rows)["is of this construction"] == "no"
    assert "not of the construction in this report" in other.text
    assert not {r["figure"]: r["equal"] for r in rows_of(item(other, "figures"))}["horizon in bf16"]


def test_files_that_are_no_certificates(tmp_path: Path) -> None:
    path = tmp_path / "text.json"
    path.write_text("{not JSON")
    answers = dict(item(show_certificate(lrnn_of("parity"), path, None), "certificate").rows)
    assert (answers["checker's answer"], answers["kind"]) == ("invalid", "unknown")
    with pytest.raises(InputError, match="missing"):
        show_certificate(lrnn_of("parity"), tmp_path / "missing.json", None)


@pytest.mark.parametrize(
    ("spec", "theorem", "expected"),
    [
        ("S5", None, {("householders", "CK.S5"): (4, 4), ("beta", "H.openβ"): (2, 2)}),
        (
            "mod:12",
            "G.T6",
            {
                ("layers", "H.rank"): (2, 2),
                ("householders", "H.rank"): (2, "hypotheses not met here"),
                ("single factor layers", "G.T2"): (2, "hypotheses not met here"),
            },
        ),
        (
            "T3",
            "G.A3",
            {("state size", "PD.N-1"): (2, 3), ("beta", "H.openβ"): (2, "hypotheses not met here")},
        ),
    ],
)
def test_lower_bounds_stand_beside_what_was_reached(
    spec: str, theorem: str | None, expected: dict[tuple[str, str], tuple[int, int | str]]
) -> None:
    section = show_certificate(found(spec, theorem), None, None)
    table = {
        (r["figure"], r["reason"]): (r["at least"], r["reached here"])
        for r in rows_of(item(section, "lower-bounds"))
    }
    assert {key: table[key] for key in expected} == expected
    assert all(isinstance(reached, str) or reached >= least for least, reached in table.values())


def test_claims_name_the_theorem_and_the_reasons() -> None:
    section = show_claims(lrnn_of("S3"), LIMITS)
    behind = {row["claim"]: row for row in rows_of(item(section, "claims-behind"))}
    assert behind["G.T3"]["what for"] == "makes this construction possible"
    assert behind["H.rank"]["what for"] == "householders ≥ 2, reached"
    assert behind["H.open-beta"]["status"] == "supported by instances"
    asked = {row["claim"]: row for row in rows_of(item(section, "claims-asked"))}
    assert asked["G.P1.1"]["of this construction"] == "true of it"
    assert asked["G.P1.1"]["statement"].startswith("Let N be a product")
    assert "own.LMI was not asked" in section.text
    cascade = show_claims(lrnn_of("tomita:4", "G.T4"), LIMITS)
    assert "no such layer" in {r["claim"]: r for r in rows_of(item(cascade, "claims-asked"))}["own.LMI"][
        "what was found"
    ]  # fmt: skip


def test_labels_with_markup_pass_as_plain_text() -> None:
    table = np.array([[0, 1], [1, 0]])
    states = ("<script>alert(1)</script>", "a & b")
    automaton = Automaton(
        states, ("<b>stay</b>", "<i>&go"), table, 0, np.array([True, False]), "<h1>tags</h1>"
    )
    sections = show_construction(choose(automaton, Request()), runs=FEW)
    assert_sound(sections)
    assert [row["letter"] for row in rows_of(item(sections, "factors"))] == list(automaton.letters)
    assert [dict(s.filters)["letter"] for s in item(sections, "spectra-disc").series] == list(
        automaton.letters
    )
    assert "<h1>tags</h1>" in sections[0].text
    pictures = [i for section in sections for i in section.items if isinstance(i, Picture)]
    assert len(pictures) == 2
    for picture in pictures:
        tags = {e.tag.rpartition("}")[2] for e in ElementTree.fromstring(picture.svg).iter()}
        assert not tags & {"script", "b", "i", "h1"}


def test_a_block_delay() -> None:
    delay = found("S3", "DP.T1")
    sections = show_construction(delay, runs=RandomRuns(words=2, length=50))
    assert [s.slug for s in sections] == ["automaton", "letters", "certificate", "claims", "rounding"]
    layers = rows_of(item(sections, "delay-layers"))
    assert len(layers) == delay.summary()["layers"]
    assert max(row["factors"] for row in layers) == delay.summary()["householders"]
    assert all(
        (row["errors"], row["exact at any length"]) == (0, True) for row in rows_of(item(sections, "dtypes"))
    )
