"""`draw_mirrors` and `draw_run`: every letter has its panel, the words are true, the bytes are the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from mirrormata.constructions._construct import construct
from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.library._names import automaton_by_name
from mirrormata.foundation._errors import InputError, LimitError
from mirrormata.theory.pictures._mirror_words import angle_text, sentence, why_so_many
from mirrormata.theory.pictures._mirrors import draw_mirrors, kinds_of_letters, prepare_heads
from mirrormata.theory.pictures._run import draw_run

CASES: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
    ("parity", {}, ("line",)),
    ("mod:5", {}, ("plane",)),
    ("mod:60", {"exactness": "integer"}, ("space", "wires", "plane")),
    ("dihedral:7", {}, ("plane",)),
    ("S3", {}, ("plane",)),
    ("S4", {}, ("space",)),
    ("S4", {"theorem": "G.T3"}, ("space",)),
    ("A5", {}, ("space",)),
    ("S5", {}, ("wires",)),
    ("Q8", {"theorem": "G.T3"}, ("wires",)),
    ("Q8", {}, ("plane", "plane")),
    ("Z2^3", {}, ("line",) * 3),
    ("flipflop", {"theorem": "G.A3"}, ("wires",)),
]


def built(name: str, options: dict[str, Any]) -> LRNN:
    found = construct(automaton_by_name(name), **options)
    assert isinstance(found, LRNN)
    return found


def words(path: Path) -> list[str]:
    """The texts of an SVG file, in order."""
    root = ElementTree.parse(path).getroot()
    return ["".join(node.itertext()).strip() for node in root.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize(("name", "options", "forms"), CASES)
def test_every_drawn_letter_has_a_panel_on_every_head(
    name: str, options: dict[str, Any], forms: tuple[str, ...], tmp_path: Path
) -> None:
    lrnn = built(name, options)
    heads = prepare_heads(lrnn)
    assert tuple(head.form for head in heads) == forms
    path = tmp_path / "picture.svg"
    draw_mirrors(lrnn, path)
    texts = words(path)
    kept, kinds = kinds_of_letters(lrnn, heads, 12)
    for x, letter in enumerate(lrnn.automaton.letters):
        assert texts.count(f"letter {letter}") == lrnn.heads * (x in kept)
    assert any(text.startswith(f"{name}: ") for text in texts)
    said = f"max_letters {len(lrnn.automaton.letters)}" in " ".join(texts)
    assert said == (len(kept) < len(lrnn.automaton.letters))
    assert kinds >= len(kept)


@pytest.mark.parametrize(("name", "options", "forms"), CASES)
def test_mirrors_take_each_point_where_the_letter_does(
    name: str, options: dict[str, Any], forms: tuple[str, ...]
) -> None:
    for head in prepare_heads(built(name, options)):
        for letter in head.letters:
            if head.points is not None:
                moved = head.points
                for key, size in zip(letter.keys, letter.sizes, strict=True):
                    moved = moved - size * np.outer(moved @ key, key)
                np.testing.assert_allclose(moved, head.points[letter.images], atol=1e-12)
                assert len({tuple(p) for p in np.round(head.points, 6)}) == len(head.points)


def test_all_letters_of_one_kind_look_alike_and_all_kinds_are_drawn() -> None:
    for name, classes in [("S4", 5), ("A5", 5), ("S5", 7), ("dihedral:7", 5)]:
        lrnn = built(name, {})
        kept, kinds = kinds_of_letters(lrnn, prepare_heads(lrnn), 12)
        assert len(kept) == kinds == classes  # conjugacy classes
        few, _ = kinds_of_letters(lrnn, prepare_heads(lrnn), 2)
        assert len(few) == 2
        assert max(len(prepare_heads(lrnn)[0].letters[x].sizes) for x in few) == lrnn.householders


def test_the_sentences() -> None:
    def said(name: str, options: dict[str, Any] | None = None) -> dict[str, str]:
        (head,) = prepare_heads(built(name, options or {}))
        return {letter.label: sentence(head, letter) for letter in head.letters}

    dihedral = said("dihedral:7")
    assert dihedral["r0"] == "no mirror: every state stays"
    assert dihedral["r1"] == "two mirrors at π/7: rotation by 2π/7\u00a0↺"
    assert dihedral["r6"] == "two mirrors at π/7: rotation by 2π/7\u00a0↻"
    assert dihedral["s3"] == "one mirror: a reflection"
    assert said("parity") == {"0": "no mirror: every state stays", "1": "one mirror: the sign flips"}
    assert said("S4")["(1, 2, 3, 0)"] == "two mirrors at π/4: rotation by π/2"
    five = said("S5")
    assert five["(1, 2, 3, 4, 0)"] == "a 5-cycle: 4 swaps"
    assert five["(1, 0, 3, 4, 2)"] == "a 3-cycle, a 2-cycle: 2 + 1 = 3 swaps"
    assert said("Q8", {"theorem": "G.T3"})["i"] == "two negative 2-cycles: 2 + 2 = 4 mirrors"
    assert said("flipflop", {"theorem": "G.A3"})["0"] == "a matrix without factors: 2 dimensions to 1"
    assert angle_text(np.pi) == "π"
    assert angle_text(1.0) == "57.30°"


def test_why_so_many_is_said_only_where_it_is_true() -> None:
    (reason,) = why_so_many(prepare_heads(built("S5", {})))
    assert reason.startswith("Why 4: letter (1, 2, 3, 4, 0) fixes only 1 of 5 dimensions")
    assert why_so_many(prepare_heads(built("parity", {}))) == []
    assert why_so_many(prepare_heads(built("flipflop", {"theorem": "G.A3"}))) == []


@pytest.mark.parametrize("extension", ["svg", "png"])
def test_the_same_construction_gives_the_same_bytes(extension: str, tmp_path: Path) -> None:
    first, second = tmp_path / f"a.{extension}", tmp_path / f"b.{extension}"
    draw_mirrors(built("mod:60", {"exactness": "integer"}), first)
    draw_mirrors(built("mod:60", {"exactness": "integer"}), second)
    assert first.read_bytes() == second.read_bytes()
    assert first.read_bytes().startswith(b"\x89PNG" if extension == "png" else b"<?xml")


def inside(path: Path) -> None:
    """Texts start inside the picture."""
    root = ElementTree.parse(path).getroot()
    box = [float(x) for x in root.attrib["viewBox"].split()]
    for node in root.iter("{http://www.w3.org/2000/svg}text"):
        found = re.search(r"translate\(([-\d.]+) ([-\d.]+)\)", node.attrib.get("transform", ""))
        x, y = (
            (float(v) for v in found.groups())
            if found
            else (float(node.attrib["x"]), float(node.attrib["y"]))
        )
        assert 0 <= x <= box[2]
        assert 0 <= y <= box[3]


def test_strange_labels_are_drawn_as_they_are(tmp_path: Path) -> None:
    letters = ("$x^2$", "<b>&", "a\nb", "", "x" * 200, "日本")
    automaton = Automaton.from_transitions(
        {"p_1": dict.fromkeys(letters, "q"), "q": dict.fromkeys(letters, "p_1")}, start="p_1", name="$\\swap"
    )
    path = tmp_path / "picture.svg"
    draw_mirrors(construct(automaton), path)
    texts = words(path)
    for shown in ("letter $x^2$", "letter <b>&", r"letter 'a\nb'", "letter ''", "letter 日本"):
        assert shown in texts
    assert any(t.startswith("letter xxxx") and t.endswith("…") for t in texts)
    inside(path)


def test_errors_name_the_mend(tmp_path: Path) -> None:
    lrnn = built("S4", {})
    for name, found in (("a.bmp", r"\.bmp"), ("a", "without an extension"), ("a.pdf", r"\.pdf")):
        with pytest.raises(InputError, match=rf"\.svg or \.png, not {found}"):
            draw_mirrors(lrnn, tmp_path / name)
    with pytest.raises(InputError, match="`max_letters` 0"):
        draw_mirrors(lrnn, tmp_path / "a.svg", max_letters=0)
    with pytest.raises(LimitError, match="max_dim 5"):
        draw_mirrors(built("S5", {}), tmp_path / "a.svg", max_dim=4)
    with pytest.raises(LimitError, match=r"720 panels.*max_letters"):
        draw_mirrors(built("S6", {}), tmp_path / "a.svg", max_letters=1000)
    with pytest.raises(InputError, match="cannot be written"):
        draw_mirrors(lrnn, tmp_path / "missing" / "a.svg")
    assert list(tmp_path.iterdir()) == []


def test_a_run_shows_margins_horizons_and_errors(tmp_path: Path) -> None:
    positions = np.arange(1, 100_001)
    series = {
        "fp32": (positions, 0.5 - 1e-7 * positions),
        "bf16": (positions[:1000], 0.5 - 1e-3 * positions[:1000]),
    }
    for name in ("a.svg", "b.svg", "a.png"):
        draw_run(series, {"fp32": 4_000_000, "bf16": 60}, {"bf16": 500}, tmp_path / name, title="$mod 5$")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert len((tmp_path / "a.svg").read_bytes()) < 400_000
    texts = " ".join(words(tmp_path / "a.svg"))
    for said in (
        "fp32: certified to 4,000,000",
        "no error to 100,000",
        "bf16: certified to 60",
        "bf16: first error at 500",
        "$mod 5$",
    ):
        assert said in texts


@pytest.mark.parametrize(
    ("series", "horizons", "first_errors", "message"),
    [
        ({}, {}, {}, "no series"),
        ({"a": ([1, 2], [1.0])}, {}, {}, "equally long"),
        ({"a": ([0, 2], [1.0, 1.0])}, {}, {}, "increase from 1"),
        ({"a": ([2, 1], [1.0, 1.0])}, {}, {}, "increase from 1"),
        ({"a": ([1], [1.0])}, {"b": 3}, {}, "horizon of b"),
        ({"a": ([1], [1.0])}, {}, {"a": 0}, "first error of a"),
    ],
)
def test_a_wrong_run_is_refused(
    series: Any, horizons: Any, first_errors: Any, message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=message):
        draw_run(series, horizons, first_errors, tmp_path / "run.svg")
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_where_drawing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("broken")

    draw: dict[str, Callable[..., None]] = {"line": broken}
    monkeypatch.setattr("mirrormata.theory.pictures._mirrors.DRAW", draw)
    with pytest.raises(RuntimeError, match="broken"):
        draw_mirrors(built("parity", {}), tmp_path / "a.svg")
    assert list(tmp_path.iterdir()) == []
