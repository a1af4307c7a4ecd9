"""`show`, `latex`, the pictures and the export of LRNNs of several layers say what the layers do."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file

from mirrormata.constructions._construct import construct
from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions.texts._latex import latex
from mirrormata.constructions.texts._show import (
    distinct_transitions,
    heads_read,
    label_text,
    layer_letters,
    map_text,
    point_map,
    read_out,
    show,
)
from mirrormata.foundation._errors import InputError, LimitError
from mirrormata.tests.constructions.layered_lrnns import CASCADES, built, two_parities, with_copies
from mirrormata.tests.constructions.test_show import assert_balanced
from mirrormata.tests.theory.test_pictures_mirrors import inside, words
from mirrormata.theory._export import export_npz, export_safetensors
from mirrormata.theory.pictures._cascade import draw_cascade, point_actions
from mirrormata.theory.pictures._construction import draw_construction
from mirrormata.theory.pictures._mirrors import draw_mirrors, prepare_heads

EVERY: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in CASCADES),
    *((name, {"coordinates": "one_hot"}) for name in ("mod_arith:3", "tomita:3")),
    *((name, {"gated": True}) for name in ("mod_arith:3", "boxes:2,2")),
    ("two parities", {}),
    ("mod:5", {"theorem": "G.T6"}),
    ("S3", {"theorem": "DP.T7"}),
]


def made(name: str, options: dict[str, Any]) -> LRNN:
    if "theorem" in options:
        found = construct(name, **options)
        assert isinstance(found, LRNN)
        return found
    return two_parities() if name == "two parities" else built(name, **options)


def letters_of_layers(lrnn: LRNN, word: list[int]) -> list[tuple[list[int], list[list[int]]]]:
    """For each token the letter of each layer, and the points of each layer's heads before it."""
    codes = lrnn.decode[0, 1:].tolist()
    result = []
    for x in word:
        letters, points, place, y = [], [], 0, x
        for layer in lrnn.layers:
            letters.append(y)
            before = [int(head.point_of[codes[place + h]]) for h, head in enumerate(layer.heads)]
            points.append(before)
            found = dict(read_out(layer, y))
            following = found[tuple(before[h] for h in heads_read(layer, y))]
            for h, head in enumerate(layer.heads):
                t = int(head.action_of(np.array(y)))
                codes[place + h] = int(head.code_transitions[t, codes[place + h]])
            place += len(layer.heads)
            y = following
        result.append(([*letters, y], points))
    return result


@pytest.mark.parametrize(("name", "options"), EVERY)
def test_an_explained_letter_arises_just_so(name: str, options: dict[str, Any]) -> None:
    lrnn = made(name, options)
    named = layer_letters(lrnn)
    word = np.random.default_rng(5).integers(0, len(lrnn.automaton.letters), size=400).tolist()
    states = lrnn.automaton.trace(word)
    met: set[tuple[int, int]] = set()
    for (letters, points), state in zip(letters_of_layers(lrnn, word), states, strict=True):
        assert letters[-1] == state
        # wherever the named letter comes and the heads are at the named points, the explained letter comes
        for own, i in zip(named[1:], range(1, len(named)), strict=True):
            for y in range(own.count):
                base, where, conditions = own.origin(y)
                source = int(where.removeprefix(" of layer ")) - 1 if where else 0
                now = base == named[source].name(letters[source])
                if now and all(
                    points[int(h.split(".")[0]) - 1][int(h.split(".")[1]) - 1] == p for h, p in conditions
                ):
                    assert letters[i] == y
                    met.add((i, y))
    assert len(met) > len(named) - 1


def test_explanations_are_the_shortest_and_tell_how_many_there_are() -> None:
    named = layer_letters(built("mod_arith:3"))
    assert [own.count for own in named] == [6, 7, 11]
    assert named[0].name(3) == "+"
    assert named[1].explanation(0) == "letter 0, head 1.1 at 0 (one of 6 ways)"
    assert named[1].explanation(4) == "letter +, head 1.1 at 0"
    assert named[2].explanation(0) == "letter 0, head 1.1 at 0"  # no head of layer 2 is needed
    assert named[2].explanation(5) == "letter +, head 1.1 at 0, head 2.1 at 1"
    assert layer_letters(two_parities())[1].explanation(3) == "letter a, head 1.1 at 1, head 1.2 at 1"
    # without a covering points of two layers may exclude each other: one step is explained
    uncovered = layer_letters(replace(built("mod_arith:3"), covering=None))
    assert uncovered[2].explanation(5) == "letter #4 of layer 2, head 2.1 at 1"


@pytest.mark.parametrize(("name", "options"), EVERY)
def test_show_says_every_transition_and_every_read_out(name: str, options: dict[str, Any]) -> None:
    lrnn = made(name, options)
    text = show(lrnn, max_letters=1000)
    assert max(len(line) for line in text.splitlines()) < 400
    assert "more" not in text.replace("more than", "").replace(" more\n", "") or " more," in text
    named = layer_letters(lrnn)
    for i, layer in enumerate(lrnn.layers):
        for j, head in enumerate(layer.heads):
            title = f"\nLayer {i + 1}, head {j + 1}: H is {head.dim} × {head.value_dim}, "
            section = text.split(title)[1].split("\nLayer ")[0]
            kinds = distinct_transitions(head)
            assert sorted(x for _, letters in kinds for x in letters) == list(range(head.letters))
            assert section.count(f" of {len(kinds)}: ") == len(kinds)
            assert section.count("\n  C_") == sum(len(head.transitions[t].factors) for t, _ in kinds)
            for t, _ in kinds:
                assert f"\n  points: {map_text(point_map(head, t))}\n" in section
        section = text.split(f"\nLayer {i + 1}, read-out: ")[1].split("\nLayer ")[0]
        assert section.count("\n  ") == named[i].count
        last = i == len(lrnn.layers) - 1
        for x in range(named[i].count):
            (line,) = re.findall(rf"\n  {re.escape(named[i].name(x))}: (.*)", section)
            for points, y in read_out(layer, x):
                target = label_text(lrnn.automaton.states[y]) if last else f"#{y}"
                at = str(points).replace(",)", ")").strip("()") if len(points) == 1 else str(points)
                assert (f"{at} → {target}" if points else target) in line


@pytest.mark.parametrize("function", [show, latex])
def test_long_lists_are_cut_and_said(function: Any) -> None:
    lrnn = built("mod_arith:3")
    text = function(lrnn, max_letters=3).replace(r"\texttt{max\_letters", "`max_letters`")
    for count, left, noun in (
        (6, 3, "letters"),
        (7, 4, "letters"),
        (11, 8, "letters"),
        (5, 2, "transitions"),
    ):
        assert f"{left} more {noun}: `max_letters` {count}" in text
    assert "letters` 6" in text
    assert "max_letters" not in function(lrnn)
    assert r"max\_letters" not in function(lrnn)
    with pytest.raises(InputError, match="`max_letters` 0"):
        function(lrnn, max_letters=0)


@pytest.mark.parametrize(("name", "options"), EVERY)
def test_latex_is_balanced_and_complete(name: str, options: dict[str, Any]) -> None:
    lrnn = made(name, options)
    code = latex(lrnn, max_letters=1000)
    assert_balanced(code)
    assert code.isascii()
    kinds = sum(len(distinct_transitions(head)) for head in lrnn.all_heads)
    assert code.count(r"\paragraph{Transition") == kinds
    assert code.count(r"\item ") == sum(own.count for own in layer_letters(lrnn))
    # a line of mathematics is not broken: none is too wide for the page
    assert max(len(line) for line in code.splitlines() if r"\beta_{" in line) < 160


def test_masked_factors_are_named(tmp_path: Path) -> None:
    lrnn = with_copies()
    text, code = show(lrnn), latex(lrnn)
    assert "a masked factor is C = I - β v (v⊙a)ᵀ" in text
    assert "v⊙a = " in text
    assert "eigenvalue 0, a copy, ‖C‖ = √2" in text
    assert r"v_{1}\odot a_{1} = " in code
    assert r"\lVert C\rVert > 1" not in code
    assert_balanced(code)
    export_safetensors(lrnn, tmp_path / "x.safetensors")
    tensors = load_file(tmp_path / "x.safetensors")
    head = "layers.0.heads.0."
    for x, row in enumerate(lrnn.automaton.transitions):
        assert np.array_equal(product(tensors, head, x), np.eye(4)[row].T)
    draw_construction(lrnn, tmp_path / "x.svg")
    # the merging letter: wires 2 and 4 end on 1 and 3
    assert {"1+2", "3+4", "2 copies"} <= set(words(tmp_path / "x.svg"))


def product(tensors: dict[str, Any], head: str, x: int) -> Any:
    """The matrix of a transition from its factors, gate and masks alone."""
    n = tensors[head + "initial"].shape[0]
    A = np.eye(n) * tensors[head + "gate"][x]
    for k in range(int(tensors[head + "factor_count"][x])):
        v = tensors[head + "vectors"][x, k]
        a = tensors[head + "mask"][x, k] if head + "mask" in tensors else np.ones(n)
        A = A - tensors[head + "beta"][x, k] * np.outer(v, (v * a) @ A)
    return A


@pytest.mark.parametrize(("name", "options"), EVERY)
def test_exported_arrays_alone_run_the_automaton(name: str, options: dict[str, Any], tmp_path: Path) -> None:
    lrnn = made(name, options)
    path = tmp_path / "x.safetensors"
    export_safetensors(lrnn, path)
    tensors = load_file(path)
    with safe_open(path, framework="numpy") as file:
        about = json.loads(file.metadata()["mirrormata"])
    assert about["layer_letters"] == [layer.heads[0].letters for layer in lrnn.layers]
    heads = [
        [f"layers.{i}.heads.{j}." for j in range(sum(key.startswith(f"layers.{i}.heads.") and key.endswith("initial")
                                                     for key in tensors))]
        for i in range(len(about["layer_letters"]))
    ]  # fmt: skip
    assert [len(row) for row in heads] == [len(layer.heads) for layer in lrnn.layers]
    for row in heads:
        for h in row:
            for t in range(len(tensors[h + "matrices"])):
                same = np.array_equal if lrnn.exactness == "integer" else np.allclose
                assert same(product(tensors, h, t), tensors[h + "matrices"][t])
    H = {h: tensors[h + "initial"] for row in heads for h in row}
    word = np.random.default_rng(7).integers(0, len(about["letters"]), size=1000).tolist()
    errors = 0
    for token, state in zip(word, lrnn.automaton.trace(word), strict=True):
        x = token
        for i, row in enumerate(heads):
            before = []
            for h in row:
                t = tensors[h + "actions"][x]
                H[h] = tensors[h + "matrices"][t] @ H[h]
                if h + "additive" in tensors:
                    H[h] = H[h] + tensors[h + "additive"][t]
                code = int(((tensors[h + "codes"] - H[h]) ** 2).sum(axis=(1, 2)).argmin())
                before.append(int(tensors[h + "point_before"][t, code]))
            column = 0
            for j in tensors[f"layers.{i}.reads"][x].tolist():
                if j >= 0:
                    assert before[j] >= 0
                    column = column * (int(tensors[row[j] + "point_of"].max()) + 1) + before[j]
            x = int(tensors[f"layers.{i}.next_letter"][x, column])
        errors += x != state
    assert errors == 0
    assert about["outputs"][tensors["outputs"][state]] == str(lrnn.automaton.outputs[state])


def test_the_npz_refusal_names_the_layers(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"one layer with one head, this LRNN has 5 layers with 6 heads in all: .*safe"
    ):
        export_npz(built("tomita:3"), tmp_path / "x.npz")
    with pytest.raises(LimitError, match="`max_entries`"):
        export_safetensors(built("mod_arith:3"), tmp_path / "x.safetensors", max_entries=20)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("name", "options"), EVERY)
def test_mirrors_have_a_panel_for_each_transition(name: str, options: dict[str, Any], tmp_path: Path) -> None:
    lrnn = made(name, options)
    path = tmp_path / "a.svg"
    draw_mirrors(lrnn, path)
    inside(path)
    texts = words(path)
    heads = prepare_heads(lrnn)
    assert len(heads) == len(lrnn.all_heads)
    for head, drawn in zip(lrnn.all_heads, heads, strict=True):
        assert len(drawn.letters) == len(distinct_transitions(head))
        assert any(text.startswith(f"Layer {drawn.title[5]}, {drawn.title}: ") for text in texts)
        if drawn.points is not None:
            for letter in drawn.letters:
                moved = drawn.points * letter.gate
                for key, size in zip(letter.keys, letter.sizes, strict=True):
                    moved = moved - size * np.outer(moved @ key, key)
                assert letter.shift is not None
                np.testing.assert_allclose(moved + letter.shift, drawn.points[letter.images], atol=1e-12)
    panels = sum(text.startswith(("letter #", "letters #")) for text in texts)
    first = len(lrnn.layers[0].heads)
    assert panels == sum(len(drawn.letters) for drawn in heads[first:])


def test_left_out_transitions_are_said(tmp_path: Path) -> None:
    draw_mirrors(built("mod_arith:3"), tmp_path / "a.svg", max_letters=2)
    said = " ".join(words(tmp_path / "a.svg"))
    assert "2 of 5 transitions of head 2.1, 2 of 4 transitions of head 3.1" in said
    assert "with max_letters 5 all are drawn" in said


@pytest.mark.parametrize(("name", "options"), EVERY)
def test_the_overview_has_every_head_and_count(name: str, options: dict[str, Any], tmp_path: Path) -> None:
    lrnn = made(name, options)
    paths = [tmp_path / "a.svg", tmp_path / "b.svg"]
    for path in paths:
        draw_construction(lrnn, path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    inside(paths[0])
    texts = words(paths[0])
    for i, layer in enumerate(lrnn.layers):
        assert texts.count(f"Layer {i + 1}") == 1
        for j in range(len(layer.heads)):
            assert texts.count(f"head {i + 1}.{j + 1}") == 1
        if i > 0:
            assert f"one of {layer.heads[0].letters} letters" in texts
    doubled = sum(head.points is not None for head in lrnn.all_heads)
    assert sum(text.endswith("points, doubled") for text in texts) == doubled


def test_the_overview_names_groups_readers_and_what_is_cut(tmp_path: Path) -> None:
    lrnn = built("mod_arith:3")
    assert [point_actions(head) for head in lrnn.all_heads] == [("", 2, 0), ("C2", 3, 0), ("C3", 1, 0)]
    path = tmp_path / "a.svg"
    draw_cascade(lrnn, path)
    texts = words(path)
    assert {"2 resets", "group C2, 3 resets", "group C3, 1 reset", "read by 5 of 7 letters"} <= set(texts)
    # the legend has a box in each colour that heads have, and no other
    assert {
        "permutes its points; the group is that of all its permutations",
        "only resets its points",
    } <= set(texts)
    assert "heads left out" not in texts
    draw_cascade(built("tomita:4"), path)
    assert "only resets its points" in words(path)
    assert not any("permutes its points" in text for text in words(path))
    draw_cascade(built("tomita:3"), path, max_layers=2)
    assert "... 3 more layers not drawn ..." in words(path)
    with pytest.raises(InputError, match="2 or more"):
        draw_cascade(lrnn, path, max_heads=1)
    with pytest.raises(InputError, match="has one layer"):
        draw_cascade(with_copies(), path)
    with pytest.raises(InputError, match=r"\.svg or \.png"):
        draw_cascade(lrnn, tmp_path / "a.gif")
