"""`draw_chain`: the sets that are drawn are those of the rule, and the picture is the same each time."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from mirrormata import InputError, construct, plot
from mirrormata.constructions.chains._chain import ChainRNN
from mirrormata.foundation._errors import LimitError
from mirrormata.theory.pictures._chain import choose_word, draw_chain, list_blocks

CASES = [
    ("T4", "own.chain"),
    ("S4", "own.chain"),
    ("mod_arith:3", "own.chain"),
    ("tomita:4", "own.window"),
    ("tomita:4", "own.lookback"),
    ("random:states=20,letters=2,seed=1", "own.window"),
    ("regex:(a|b)*a(a|b)(a|b)", "own.window"),
]


def built(spec: str, theorem: str) -> ChainRNN:
    found = construct(spec, theorem=theorem)
    assert isinstance(found, ChainRNN)
    return found


def words(path: Path) -> list[str]:
    root = ElementTree.parse(path).getroot()
    return ["".join(node.itertext()).strip() for node in root.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize(("spec", "theorem"), CASES)
def test_the_blocks_are_chains_and_end_with_the_state(spec: str, theorem: str) -> None:
    form = built(spec, theorem)
    word = choose_word(form, 30)
    assert set(word) == set(range(len(form.automaton.letters))) or len(form.automaton.letters) > 20
    n, q = len(form.automaton.states), form.automaton.start
    for shown, letter in zip(list_blocks(form, word, []), [None, *word], strict=True):
        before = q
        q = q if letter is None else int(form.automaton.transitions[letter, q])
        assert (shown.letter, shown.state) == (letter, q)
        assert tuple(len(row.members) for row in shown.rows) == form.sizes
        assert shown.rows[-1].members == (q,)
        for row in shown.rows:
            assert set(row.members) <= set(row.above)
            if row.action == "resets":
                assert row.image <= set(row.members)
                assert len(row.image) < len(row.above)
                assert all(m < n for m in row.image)
        if form.window is not None and letter is not None:
            assert shown.register[0] == form.like[letter]
        assert before < n


@pytest.mark.parametrize(("spec", "theorem"), CASES)
def test_the_picture(spec: str, theorem: str, tmp_path: Path) -> None:
    form = built(spec, theorem)
    path = tmp_path / "a.svg"
    draw_chain(form, path, 12, 40, ("max_letters", "max_dim"))
    texts = words(path)
    assert texts[0].startswith(form.automaton.name)
    assert f"X{chr(0x2080 + 1)}" in texts
    assert ("window" in texts) == (form.window is not None)
    assert any(text.startswith(("start", "after")) for text in texts)
    first = path.read_bytes()
    plot(form, path)
    assert path.read_bytes() == first
    plot(form, tmp_path / "a.png", max_letters=1)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_what_cannot_be_drawn(tmp_path: Path) -> None:
    form = built("T4", "own.chain")
    with pytest.raises(InputError, match="max_letters"):
        draw_chain(form, tmp_path / "a.svg", 0, 40, ("max_letters", "max_dim"))
    with pytest.raises(InputError, match=r"\.svg or \.png"):
        draw_chain(form, tmp_path / "a.pdf", 3, 40, ("max_letters", "max_dim"))
    with pytest.raises(
        LimitError, match="sets of 4 states is not drawn, as that is more than 3; max_dim 4 draws it"
    ):
        draw_chain(form, tmp_path / "a.svg", 3, 3, ("max_letters", "max_dim"))
    assert not list(tmp_path.iterdir())
