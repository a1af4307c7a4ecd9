"""Pictures of automata: files appear whole, say what they should, and are the same every time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.automata._completing import object_array
from mirrormata.foundation._errors import InputError
from mirrormata.theory.pictures._automaton import (
    comma_list,
    draw_automaton,
    shorten_label,
    svg_text,
    two_lines,
)


def automaton_of(
    states: list[object], letters: list[object], rows: list[list[int]], outputs: object = None
) -> Automaton:
    values = object_array(states) if outputs is None else np.array(outputs, dtype=object)
    return Automaton(tuple(states), tuple(letters), np.array(rows), 0, values, "test")


PARITY = automaton_of(["even", "odd"], ["0", "1"], [[0, 1], [1, 0]], [True, False])


def texts(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg)
    return ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]


def test_labels_are_in_the_svg() -> None:
    found = texts(svg_text(PARITY))
    assert sorted(found) == ["0", "0", "1", "1", "even", "identity letters: 0", "odd"]


def test_mealy_and_moore_outputs() -> None:
    mealy = automaton_of([1, 2], ["a", "b"], [[1, 0], [0, 0]], [["x", "y"], ["z", "w"]])
    assert {"a/x", "b/z", "a/y, b/w"} <= set(texts(svg_text(mealy)))
    moore = automaton_of(["p", "q"], ["a"], [[1, 0]], ["left", "right"])
    assert {"p", "q", "left", "right"} <= set(texts(svg_text(moore)))


def test_parallel_edges_share_a_shortened_list() -> None:
    letters: list[object] = [f"x{i}" for i in range(40)]
    found = texts(svg_text(automaton_of(["p", "q"], letters, [[1, 0]] * 40)))
    assert found.count("x0, x1, x2, x3, … +36") == 2


def test_accepting_states_have_two_rings() -> None:
    def circles(automaton: Automaton) -> int:
        root = ElementTree.fromstring(svg_text(automaton))
        groups = root.iter("{http://www.w3.org/2000/svg}g")
        return sum(1 for g in groups if g.get("id", "").startswith("patch_"))

    rejecting = automaton_of(["even", "odd"], ["0", "1"], [[0, 1], [1, 0]], [False, False])
    assert circles(PARITY) == circles(rejecting) + 1


def test_both_files_are_written_whole(tmp_path: Path) -> None:
    for name, start in (("a.svg", b"<?xml"), ("b.PNG", b"\x89PNG")):
        draw_automaton(PARITY, tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.svg", "b.PNG"]


@pytest.mark.parametrize("name", ["a.pdf", "picture"])
def test_other_types_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"\.svg or \.png"):
        draw_automaton(PARITY, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_limits(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="`max_drawn`"):
        draw_automaton(PARITY, tmp_path / "a.svg", max_drawn=1)
    with pytest.raises(InputError, match="cannot be written"):
        draw_automaton(PARITY, tmp_path / "missing" / "a.svg")
    n = 70
    dense = automaton_of(
        list(range(n)), list(range(n)), [[(q + x) % n for q in range(n)] for x in range(n)], list(range(n))
    )
    with pytest.raises(InputError, match="4,900 arrows"):
        svg_text(dense)


def with_sink(n: int) -> Automaton:
    """A walk along n states by `a`; `b` leads to a sink, which is the second state."""
    states: list[object] = ["q0", "nowhere", *(f"q{i}" for i in range(1, n))]
    order = [0, *range(2, n + 1)]
    ahead = {q: order[(i + 1) % n] for i, q in enumerate(order)}
    return automaton_of(states, ["a", "b"], [[ahead.get(q, 1) for q in range(n + 1)], [1] * (n + 1)])


@pytest.mark.parametrize(
    ("n", "sink", "shown"), [(12, None, True), (13, None, False), (13, True, True), (12, False, False)]
)
def test_a_sink_of_many_arrows_is_left_out_and_the_picture_says_so(
    n: int, sink: bool | None, shown: bool
) -> None:
    found = texts(svg_text(with_sink(n), sink=sink))
    note = "not drawn: the state nowhere, which no letter leaves; letters without an arrow lead there, from "
    assert ("nowhere" in found) is shown
    assert (found.count("b") == n) is shown
    assert (f"{note}{n} states" in found) is not shown
    assert found.count("a") == n
    assert all(f"q{i}" in found for i in range(n))


def test_a_start_that_is_a_sink_is_drawn() -> None:
    found = texts(svg_text(automaton_of(["p"], ["a"], [[0]]), sink=False))
    assert "p" in found


def test_awkward_labels() -> None:
    states: list[object] = ["", "a\nb\x00", "$x^2$", ("tuple", frozenset({1})), None, "<&>", "日本"]
    rows = [[(q + 1) % 7 for q in range(7)], [0] * 7]
    svg = svg_text(automaton_of(states, ["$", "<"], rows))
    found = texts(svg)
    assert {'""', "a\\nb\\x00", "$x^2$", "None", "<&>", "日本", "$"} <= set(found)


@pytest.mark.parametrize("n", [1, 2, 3, 12, 60])
def test_all_sizes_show_every_state(n: int) -> None:
    generator = np.random.default_rng(n)
    rows = generator.integers(0, n, (2, n)).tolist()
    found = texts(svg_text(automaton_of([f"q{i}" for i in range(n)], ["a", "b"], rows)))
    assert {f"q{i}" for i in range(n)} <= set(found)


def test_same_bytes_under_any_hash_seed() -> None:
    code = (
        "import hashlib, numpy as np\n"
        "from mirrormata.constructions.automata._automaton import Automaton\n"
        "from mirrormata.theory.pictures._automaton import svg_text\n"
        "rows = np.random.default_rng(1).integers(0, 9, (3, 9))\n"
        "a = Automaton(tuple('abcdefghi'), ('x', 'y', 'z'), rows, 0, np.array(list('abcdefghi'), dtype=object))\n"
        "text = svg_text(a)\n"
        "print(hashlib.sha256(text.encode()).hexdigest(), 'date' in text.lower())"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1
    assert "False" in next(iter(seen))


def test_comma_list() -> None:
    assert comma_list(["a", "b"]) == "a, b"
    assert comma_list(["long" * 9]) == "long" * 9
    assert comma_list(["abcdefgh"] * 10, 24) == "abcdefgh, … +9"
    assert all(len(comma_list([str(i) for i in range(n)])) <= 26 for n in range(1, 500))


def test_names() -> None:
    assert shorten_label("abcdefghij", 7) == "abc…hij"
    assert two_lines("a very long name") == "a very\nlong name"
    assert two_lines("unbroken_") == "unbroken_"
