"""Every kind of realisation answers alike: figures, transitions, certificate, text, file, run, check."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mirrormata import check, construct, full_certificate, random_words, run
from mirrormata.constructions._document import read_document
from mirrormata.constructions._lrnn import LRNN, as_table, table_of
from mirrormata.constructions._realisation import (
    Realisation,
    all_kinds,
    realisation_from_certificate,
)
from mirrormata.constructions.algebra._matrices import product
from mirrormata.foundation._errors import InputError
from mirrormata.theory._kinds import kind_of
from mirrormata.theory.pictures._construction import draw_construction
from mirrormata.theory.running._stepper import stepper_of

ASKED: dict[str, dict[str, Any]] = {
    "one layer": {"automaton": "S4"},
    "two heads": {"automaton": "mod:6"},
    "rotations": {"automaton": "mod:5"},
    "added terms": {"automaton": "flipflop"},
    "matrices": {"automaton": "tomita:3", "theorem": "G.A3"},
    "copies": {"automaton": "T3", "theorem": "DP.T6"},
    "a cascade": {"automaton": "T3"},
    "two layers": {"automaton": "dihedral:5", "theorem": "DP.T7"},
    "integer block delay": {"automaton": "S4", "max_householders": 1, "exactness": "integer"},
    "algebraic block delay": {"automaton": "S5", "max_householders": 1},
    "a chain": {"automaton": "T3", "theorem": "own.chain"},
    "a window": {"automaton": "tomita:4", "theorem": "own.window"},
    "a window with look-back": {"automaton": "tomita:4", "theorem": "own.lookback"},
    "a decaying number": {"automaton": "regex:(a|b)*a(a|b)(a|b)", "theorem": "own.decay"},
    "a chain over blocks": {"automaton": "T3", "theorem": "own.blocks", "max_householders": 1},
    "a window over blocks": {"automaton": "tomita:4", "theorem": "own.blocks", "max_householders": 2},
    "copies over blocks": {"automaton": "tomita:7", "theorem": "R7"},
}


@pytest.fixture(params=ASKED, scope="module")
def found(request: pytest.FixtureRequest) -> Realisation:
    made: Realisation = construct(**ASKED[request.param])
    return made


def test_the_cases_have_every_kind() -> None:
    assert {construct(**asked).kind for asked in ASKED.values()} == set(all_kinds())
    assert all(kind_of(construct(**asked)).kind in all_kinds() for asked in ASKED.values())


def test_figures(found: Realisation) -> None:
    """The record, the summary and the properties say the same, and the transitions say it again."""
    figures, summary = found.figures, found.summary()
    for name in summary:
        said = getattr(figures, name)
        assert (list(said) if isinstance(said, tuple) else said) == summary[name]
    assert figures.layers == found.depth
    per_letter = [found.transitions(letter) for letter in found.automaton.letters]
    assert {len(layers) for layers in per_letter} == {figures.layers}
    heads = [max(len(layer) for layer in layers) for layers in per_letter]
    assert set(heads) == {figures.heads}
    every = [t for layers in per_letter for layer in layers for head in layer for t in head]
    if figures.householders is None:
        assert figures.work is None
        assert any(t.matrix is not None for t in every)
    else:
        most = max(len(t.factors) for t in every)
        assert (
            most <= figures.householders
        )  # of a rule a bound: not every letter of a chain of sets can occur
        assert found.kind in ("chain", "blocks") or most == figures.householders
        assert found.layer_factors is not None
        assert max(found.layer_factors) == figures.householders
        assert len(found.layer_factors) == figures.layers
        assert figures.work is not None
        assert figures.work <= sum(found.layer_factors) * figures.heads * figures.dim
    with pytest.raises(InputError, match="no such letter"):
        found.transitions("no such letter")


def test_texts(found: Realisation) -> None:
    shown = repr(found)
    assert len(shown.splitlines()) == 1
    assert len(shown) < 200
    assert found.theorem in shown
    assert str(found.automaton.name) in shown
    assert found.construction in found.show()
    assert found.construction in found._repr_html_()
    with pytest.raises(InputError, match="max_letters"):
        found.show(max_letters=0)


def test_certificates(found: Realisation, tmp_path: Path) -> None:
    """Written, read back, written again, checked: the same document each time."""
    document = json.loads(json.dumps(found.certificate()))
    assert document["kind"] == found.kind
    assert document["summary"] == json.loads(json.dumps(found.summary()))
    found.save(tmp_path / "one.json")
    assert read_document(tmp_path / "one.json") == document
    again = realisation_from_certificate(document)
    assert type(again) is type(found)
    assert json.loads(json.dumps(again.certificate())) == document
    complete = full_certificate(found)
    assert complete["kind"] in (found.kind, "horizon")
    for subject in (document, complete, found, str(tmp_path / "one.json")):
        assert check(subject).verdict == "valid"


def test_runs(found: Realisation) -> None:
    words = random_words(found, 3, 40, 1)
    dtype = (found.formats or ("fp64",))[-1]
    assert run(found, words, dtype=dtype).errors == 0
    states = (stepper := stepper_of(found, dtype)).initial(3)
    right = found.automaton.trace(words)
    for t in range(words.shape[1]):
        states = stepper.step(states, words[:, t])
        assert stepper.decode(states, words[:, t]).tolist() == right[:, t].tolist()


def test_what_needs_a_table_says_so(found: Realisation, tmp_path: Path) -> None:
    table = as_table(found)
    if table is not None:
        assert table is found
        assert table_of(found, "") is found
        assert found.latex().startswith("\\documentclass")
        draw_construction(found, tmp_path / "one.svg")
        return
    record = kind_of(found)
    attempts: list[Callable[[], object]] = [lambda: table_of(found, "its letters are computed"), found.latex]
    if record.draw is None:
        attempts.append(lambda: draw_construction(found, tmp_path / "one.svg"))
    else:
        draw_construction(found, tmp_path / "one.svg")
    for attempt in attempts:
        with pytest.raises(
            InputError, match=f"{all_kinds()[found.kind].noun} is a rule, not a table"
        ) as error:
            attempt()
        assert str(error.value).startswith(str(found.automaton.name))
    if not record.runs_exact:
        with pytest.raises(InputError, match=r"`dtype` exact nor `start`"):
            run(found, random_words(found, 1, 3, 0), dtype="exact", start=1)


def test_matrices() -> None:
    """The letters' matrices multiply as the group does, and are those of the transitions."""
    lrnn = construct("S3")
    assert isinstance(lrnn, LRNN)
    a, b = (1, 2, 0), (1, 0, 2)
    both = tuple(b[i] for i in a)
    for h in range(lrnn.heads):
        matrices = {letter: heads[h] for letter, heads in lrnn.matrices.items()}
        assert set(matrices) == set(lrnn.automaton.letters)
        assert matrices[both] == product(matrices[b], matrices[a])
    with pytest.raises(InputError, match="2 layers"):
        construct("T3").matrices  # noqa: B018
