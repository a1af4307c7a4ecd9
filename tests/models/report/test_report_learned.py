"""What a report shows of learned things is what the files, the comparison and the matrices say."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.foundation._errors import InputError
from mirrormata.models.comparison._compare import compare
from mirrormata.models.comparison._result import Comparison
from mirrormata.models.comparison._sources import learned_from_lrnn
from mirrormata.models.comparison._states import Sampling
from mirrormata.models.learned._model import load_learned_model
from mirrormata.models.report._compared import find_direction, measure_components, measure_purity
from mirrormata.models.report._data import Chart, LearnedLimits, Section, spread_indices
from mirrormata.models.report._folder import open_folder, open_trained
from mirrormata.models.report._learned import COMPARED, show_lengths, show_model
from mirrormata.models.training._files import read_metrics
from mirrormata.models.training._train import train
from mirrormata.tests.models.learned_folders import FEW, chart, perturbed, section, table, untrained, values
from mirrormata.tests.models.training_cases import experiment

Sections = tuple[Section, ...]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few steps of two seeds."""
    folder: Path = tmp_path_factory.mktemp("report") / "trained"
    train(experiment(), folder)
    return folder


@pytest.fixture(scope="module")
def of_training(trained: Path) -> Sections:
    return show_model(trained, limits=FEW)


@pytest.fixture(scope="module")
def turned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """S_3's construction, turned, with every β‖k‖² at 1.9: it fails after a while."""
    folder: Path = tmp_path_factory.mktemp("report") / "turned"
    perturbed(folder, "S3", beta=1.9)
    return folder


@pytest.fixture(scope="module")
def of_turned(turned: Path) -> Sections:
    return show_model(turned, limits=FEW)


@pytest.fixture(scope="module")
def compared(turned: Path) -> Comparison:
    learned = load_learned_model(str(turned), automaton_from_spec("S3"))
    return compare(learned, sampling=Sampling(FEW.words, FEW.length, FEW.fit), extract=())


def only_head(sections: Sections, slug: str) -> Chart:
    """The chart of the one head, which has all the copies in its name."""
    return chart(sections, f"{slug}-head 1.1 and 2 equal")


def test_curves_are_the_lines_of_the_metrics(trained: Path, of_training: Sections) -> None:
    lines = read_metrics(trained / "metrics.jsonl")
    for entry in ("loss", "accuracy"):
        found = chart(of_training, f"learned-{entry}")
        assert [s.filters for s in found.series] == [(("seed", "0"),), (("seed", "1"),)]
        for i, series in enumerate(found.series):
            assert series.x == tuple(line["step"] for line in lines)
            assert series.y == tuple(line[entry][i] for line in lines)
    (rate,) = chart(of_training, "learned-lr").series
    assert rate.y == tuple(line["lr"] for line in lines)


def test_lengths_and_marks_are_those_of_the_result(trained: Path, of_training: Sections) -> None:
    result = json.loads((trained / "result.json").read_text())
    for slug, entry in (("learned-accuracy-length", "accuracy"), ("learned-exact-length", "exact")):
        found = chart(of_training, slug)
        assert [list(s.y) for s in found.series] == result["curve"][entry]
        assert all(list(s.x) == result["curve"]["positions"] for s in found.series)
        marks = {m.label: m.at for m in found.marks}
        assert marks["training length"] == 9
        best = max((0, 1), key=lambda i: (result["longest_90"][i], result["accuracy"]["5-12"][i]))
        assert marks[f"first wrong, seed {best}"] == result["first_failure"][best]["least"]
    rows = table(of_training, "learned-lengths-table").rows
    assert [row[0] for row in rows] == result["seeds"]
    assert [row[5] for row in rows] == result["longest_90"]
    assert [row[1] for row in rows] == result["accuracy"]["8"]
    task = values(of_training, "learned-contract")
    assert task["lengths"] == "train 4-9, test 8, 5-12"
    assert values(of_training, "learned-settings")["train.lengths"] == "4, 9"


def test_the_seed_looked_at_is_the_one_that_is_right_longest(trained: Path, tmp_path: Path) -> None:
    shutil.copytree(trained, tmp_path / "copy")
    result = json.loads((trained / "result.json").read_text())
    result["longest_90"] = [2, 5]
    result["first_failure"] = [{"words": 3, "least": 3, "median": 4}, {"words": 2, "least": 6, "median": 7}]
    (tmp_path / "copy" / "result.json").write_text(json.dumps(result))
    found = show_lengths(open_trained(open_folder(tmp_path / "copy"), FEW), None)
    (first, *_) = found.items
    assert isinstance(first, Chart)
    assert {m.label: m.at for m in first.marks} == {"training length": 9, "first wrong, seed 1": 6}
    assert "Seed 1 is looked at below" in found.text
    assert "up to 5 letters" in found.text


def test_a_seed_can_be_chosen(trained: Path, of_training: Sections) -> None:
    for seed in (0, 1):
        place = open_trained(open_folder(trained), FEW, seed)
        assert (place.model, place.model_name) == (trained / f"seed-{seed}", f"seed-{seed}")
    assert (
        f"seed-{open_trained(open_folder(trained), FEW).seed},"
        in table(of_training, "learned-heads-table").source
    )
    assert str(trained) not in repr(of_training)
    with pytest.raises(InputError, match="no seed 7; its seeds are 0, 1"):
        show_model(trained, seed=7, limits=FEW)


def test_a_training_that_is_not_finished_says_so(tmp_path: Path) -> None:
    train(experiment(), tmp_path / "begun", minutes=0)
    sections = show_model(tmp_path / "begun", limits=FEW)
    assert chart(sections, "learned-loss").series[0].x == (1,)
    assert "1 of 12 steps" in section(sections, "learned-training").text
    for slug in ("learned-lengths", *(slug for slug, *_ in COMPARED)):
        assert section(sections, slug).items == ()
        assert "not finished" in section(sections, slug).text


def test_points_on_the_disc_are_the_eigenvalues_of_the_transitions(turned: Path, of_turned: Sections) -> None:
    automaton = automaton_from_spec("S3")
    head = load_learned_model(str(turned), automaton).heads[0]
    (exact,) = learned_from_lrnn(perfect("S3")).heads
    found = chart(of_turned, "learned-disc")
    assert found.circle
    for name, role, A in (("learned", 1, head.A), ("constructed", 0, exact.A)):
        series = [s for s in found.series if s.name == name]
        assert [dict(s.filters)["letter"] for s in series] == [str(x) for x in automaton.letters]
        for s, matrix in zip(series, A, strict=True):
            assert s.role == role
            seen = [
                complex(float(x), y or 0)
                for x, y, count in zip(s.x, s.y, map(times, s.hover), strict=True)
                for _ in range(count)
            ]
            wanted = np.sort_complex(np.linalg.eigvals(matrix))
            assert np.allclose(np.sort_complex(np.array(seen)), wanted, atol=1e-6)
    swap = next(
        s for s in found.series if s.name == "snapped, on U" and dict(s.filters)["letter"] == "(1, 0, 2)"
    )
    assert np.allclose(sorted(swap.x), [-1, 1])
    assert swap.role == 2


def test_strengths_are_those_of_the_factors(compared: Comparison, of_turned: Sections) -> None:
    found = chart(of_turned, "learned-strengths")
    factors = compared.learned.heads[0].factors
    assert factors is not None
    assert [list(s.y) for s in found.series] == factors.strength.T.tolist()
    assert [(m.axis, m.at) for m in found.marks] == [("y", 2), ("y", 0)]
    assert sorted({round(y, 3) for s in found.series for y in s.y if y is not None}) == [0, 1.9]
    assert "1.9" in found.description


def test_horizons_are_those_of_the_comparison(compared: Comparison, of_turned: Sections) -> None:
    found, h = values(of_turned, "learned-horizons"), compared.horizon
    assert found["first wrong answer observed"] == h.observed
    assert found["right at least to, by β"] == h.beta
    assert found["right at least to, by drift from the snapped letters"] == h.drift
    assert found["first wrong answer predicted, by spread and margin"] == h.spread
    assert h.observed is not None
    assert h.beta is not None
    assert h.beta < h.observed
    margins = chart(of_turned, "learned-margin")
    assert {m.label: m.at for m in margins.marks}["first wrong answer"] == h.observed
    geometry = compared.heads[0].geometry
    (ratio,) = margins.series
    assert ratio.x == compared.trace.lengths
    assert np.allclose([y or np.inf for y in ratio.y], geometry.ratio)
    assert ratio.hover[-1] == f"margin {geometry.margin[-1]:.6g}, spread {geometry.spread[-1]:.6g}"
    (norm,) = chart(of_turned, "learned-norms").series
    first = np.linalg.norm(compared.trace.states[0][0].reshape(FEW.words, -1), axis=1)
    assert norm.y[0] == pytest.approx(first.mean())
    assert norm.hover[0] == f"from {first.min():.6g} to {first.max():.6g}"


def test_representation_and_snap_are_named(compared: Comparison, of_turned: Sections) -> None:
    (row,) = table(of_turned, "learned-heads-table").rows
    assert row[2:6] == (True, 6, 2, "χ3: degree 2, faithful")
    assert [round(float(str(r[2]))) for r in table(of_turned, "learned-multiplicities").rows] == [0, 0, 1]
    traces = {r[0]: r[2:] for r in table(of_turned, "learned-character-head 1.1 and 2 equal").rows}
    assert traces["ε"][-1] == 2
    assert traces["(1, 2, 0)"][-1] == -1
    (errors,) = table(of_turned, "learned-errors").rows
    assert errors[1] == compared.homomorphism_error
    (moved,) = table(of_turned, "learned-moved").rows
    assert moved[1] == "permutations of 3 points"
    assert moved[5] == pytest.approx(0.1, abs=1e-5)
    assert "is valid" in section(of_turned, "learned-snap").text
    causal = table(of_turned, "learned-causal").rows
    assert causal[0][2] == compared.horizon.observed
    assert causal[1][1:] == (1, None)
    assert [r[2] for r in table(of_turned, "learned-automata").rows if r[0] == "exact"] == [True]


def test_colours_follow_the_automatons_states(tmp_path: Path) -> None:
    """Each point lies nearest to the others of its colour; one letter later it would not."""
    perturbed(tmp_path / "noisy", "S3", beta=1.995, noise=0.002)
    sections = show_model(tmp_path / "noisy", limits=FEW)
    for slug in ("learned-orbit", "learned-clusters"):
        found = only_head(sections, slug)
        names = [str(q) for q in automaton_from_spec("S3").states]
        assert [s.name for s in found.series] == names
        assert [s.role for s in found.series] == list(range(4, 10))
        assert sum(len(s.x) for s in found.series) == FEW.points
        assert found.x_label.endswith(" %)")
    orbit = only_head(sections, "learned-orbit")
    points = np.array([p for s in orbit.series for p in zip(s.x, s.y, strict=True)], dtype=float)
    classes = np.array([s.role for s in orbit.series for _ in s.x])
    assert measure_purity(points, classes) > 0.99
    shares = [float(label.split("(")[1].split(" %")[0]) for label in (orbit.x_label, orbit.y_label)]
    assert sum(shares) == pytest.approx(100, abs=0.2)  # U has two dimensions
    # the centre of each colour is that state's own code, up to a turn and size
    centres = np.array([points[classes == c].mean(axis=0) for c in range(4, 10)])
    (exact,) = learned_from_lrnn(perfect("S3")).heads
    assert exact.H0.shape == (3, 1)
    start, automaton = exact.H0[:, 0], automaton_from_spec("S3")
    codes = np.zeros((6, 3))
    codes[automaton.transitions[:, automaton.start]] = exact.A @ start
    mine, theirs = (np.linalg.norm(x[:, None] - x[None], axis=2) for x in (centres, codes))
    assert np.allclose(mine / mine.max(), theirs / theirs.max(), atol=0.05)


def test_components_are_eigenvectors_of_the_covariance() -> None:
    draw = np.random.default_rng(0)
    H = draw.standard_normal((500, 4)) * [5, 2, 0.5, 0.1] @ np.linalg.qr(draw.standard_normal((4, 4)))[0]
    points, explained = measure_components(H)
    spectrum = np.sort(np.linalg.eigvalsh(np.cov(H.T)))[::-1]
    assert np.allclose(explained, spectrum[:2] / spectrum.sum())
    assert np.allclose(np.cov(points.T), np.diag(spectrum[:2]))
    flat, explained = measure_components(np.array([[1.0], [3.0]]))
    assert explained == (1, 0)
    assert flat[:, 1].tolist() == [0, 0]
    # classes differ along one value only, and noise is larger along the others
    classes = np.arange(300) % 3
    states = draw.standard_normal((300, 2, 3)) * [10, 0.1, 10]
    states[:, 0, 1] += classes
    assert abs(find_direction(states, classes)[1]) > 0.999
    assert measure_purity(states @ [0, 1, 0], classes) > 0.99


def test_a_positive_layer_has_its_certificate(tmp_path: Path) -> None:
    untrained(tmp_path / "positive", "parity", range=(0, 1), initial="learned")
    sections = show_model(tmp_path / "positive", limits=FEW)
    text = section(sections, "learned-failure").text
    assert "real and in [0, 1]" in text
    found = values(sections, "learned-impossible")
    assert found["v"] == "1"
    assert found["checker"].startswith("valid")
    i, j = (int(found[w].split("^")[1].split()[0].replace(",", "")) for w in ("first word", "second word"))
    assert f"u v^{i} and u v^{j} reach the same state" in found["checker"]
    wrong = values(sections, "learned-wrong-word")
    assert wrong["right"] != wrong["the model's answer"]
    ones = str(wrong["word"]).split().count("1")
    assert wrong["right"] == str(ones % 2)


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"family": "lstm"}, "lstm has no linear heads"),
        ({"family": "transformer"}, "no state of a fixed size"),
    ],
)
def test_sections_that_do_not_apply_say_why(tmp_path: Path, config: dict[str, Any], reason: str) -> None:
    untrained(tmp_path / "other", "parity", **config)
    sections = show_model(tmp_path / "other", limits=FEW)
    assert chart(sections, "learned-accuracy-length").series
    for slug, *_ in COMPARED[1:]:
        assert section(sections, slug).items == ()
        assert reason in section(sections, slug).text


def test_several_layers_are_compared_in_context(tmp_path: Path) -> None:
    untrained(tmp_path / "deep", "flipflop", layers=2, conv=2)
    sections = show_model(tmp_path / "deep", limits=FEW)
    assert "depend on the context" in section(sections, "learned-heads").text
    assert "no group automaton" in section(sections, "learned-heads").text
    assert "factors are known only" in section(sections, "learned-spectra").text
    assert [s.name for s in chart(sections, "learned-disc").series].count("learned") == 2 * 3
    assert "margin over spread is not drawn" in section(sections, "learned-margins").text
    for part in sections:
        for i in part.items:
            assert not isinstance(i, Chart) or any(y is not None for s in i.series for y in s.y), i.slug


def test_limits_are_said(turned: Path) -> None:
    few = LearnedLimits(
        words=8, length=64, fit=16, letters=3, points=50, states=2, test_words=4, test_length=64
    )
    sections = show_model(turned, limits=few)
    assert "3 of 6 learned letters" in chart(sections, "learned-disc").description
    assert "2 of 6 automaton states" in only_head(sections, "learned-clusters").description
    assert "8 random words of 64 letters" in chart(sections, "learned-margin").source
    sections = show_model(turned, limits=LearnedLimits(max_letters=5, test_words=4, test_length=8))
    assert "more than the 5" in section(sections, "learned-heads").text
    assert spread_indices(24, 3) == [0, 12, 23]
    assert LearnedLimits().reduce_words(12 * 32 * 32).words < 128
    sections = show_model(turned, limits=replace(few, numbers=400))
    assert "instead of 8, as a state" in section(sections, "learned-lengths").text
    with pytest.raises(InputError, match="words is 0"):
        LearnedLimits(words=0)


def perfect(spec: str) -> Any:
    from mirrormata.constructions._construct import construct

    return construct(automaton_from_spec(spec))


def times(hover: str) -> int:
    """The multiplicity that a point's text names."""
    return int(hover.rsplit(", ", 1)[1].removesuffix(" times")) if hover.endswith(" times") else 1


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("result.json", "{}", "result of a training: it has no 'seeds'"),
        ("settings.json", '{"train": {"seeds": [0, 1]}}', "settings of a training: it has no 'steps'"),
        ("settings.json", "[]", "settings of a training: it has no 'seeds'"),
        (
            "metrics.jsonl",
            '{"loss": null}',
            "metrics of a training: line 1 has no whole number as its 'step'",
        ),
    ],
)
def test_a_broken_file_is_named_with_what_is_missing(
    trained: Path, tmp_path: Path, name: str, content: str, said: str
) -> None:
    shutil.copytree(trained, tmp_path / "copy")
    (tmp_path / "copy" / name).write_text(content)
    with pytest.raises(InputError, match=f"{name}: not the {said}"):
        show_model(tmp_path / "copy", limits=FEW)
