"""The numbers in the constructed part of a report are the library's: norms, margins, horizons, eigenvalues, factors."""

from __future__ import annotations

import re

import numpy as np
import pytest

from mirrormata.models.report._constructed import list_factors, show_spectra
from mirrormata.models.report._data import RandomRuns, ShownLimits
from mirrormata.models.report._rounding import certify_horizons, find_codes, show_rounding, split_positions
from mirrormata.tests.models.report.constructed_reports import LIMITS, finite, item, lrnn_of, rows_of
from mirrormata.theory._horizon import horizons
from mirrormata.theory._run_file import margin_series
from mirrormata.theory.running._run import run
from mirrormata.theory.running._stepper import LayeredStepper, LRNNStepper
from mirrormata.theory.running._weights import dense_codes, head_weights
from mirrormata.theory.running._words import random_words


@pytest.mark.parametrize("dtype", ["fp32", "bf16", "fp8_e4m3"])
def test_norm_and_margin_of_one_layer_are_those_of_the_stepper(dtype: str) -> None:
    lrnn, runs = lrnn_of("mod:60"), RandomRuns(words=5, length=700, seed=3, dtypes=(dtype,))
    section = show_rounding(lrnn, certify_horizons(lrnn, LIMITS), runs, LIMITS)
    words = random_words(lrnn, 5, 700, 3)
    _, margins = margin_series(lrnn, words, dtype)
    stepper = LRNNStepper(lrnn, dtype)
    H, norms = stepper.initial(5), []
    for x in words.T:
        H = stepper.step(H, x)
        norms.append(np.sqrt((H[0] ** 2).sum(axis=(1, 2))).max())
    (margin,), (norm,) = item(section, "margin").series, item(section, "norm").series
    assert all(y == margins[x - 1] for x, y in finite(margin))
    assert all(y == pytest.approx(norms[x - 1], rel=1e-12) for x, y in finite(norm))
    floor = -margins.max()
    left_out = [margins[int(x) - 1] for x, y in zip(margin.x, margin.y, strict=True) if y is None]
    assert all(m < floor for m in left_out)
    assert min(y for _, y in finite(margin)) >= floor
    assert ("are left out" in item(section, "margin").description) == bool(left_out) == (dtype == "fp8_e4m3")
    assert left_out or min(y for _, y in finite(margin)) == margins.min()
    assert max(y for _, y in finite(norm)) == pytest.approx(max(norms), rel=1e-12)
    report = run(lrnn, words, dtype=dtype)
    (row,) = rows_of(item(section, "dtypes"))
    assert (row["errors"], row["tokens run"]) == (report.errors, report.tokens)
    assert row["first error"] == (report.first_error or "none seen")
    assert (row["first error"] == "none seen") == (dtype == "fp32")
    assert row["least margin"] == report.margin
    assert report.norm_range is not None
    assert row["largest state norm"] == pytest.approx(report.norm_range[1], rel=1e-12)


@pytest.mark.parametrize("spec", ["S3", "A4", "flipflop"])
def test_exact_dtypes_have_the_norm_and_margin_of_the_codes(spec: str) -> None:
    lrnn = lrnn_of(spec)
    runs = RandomRuns(words=3, length=300, seed=1)
    section = show_rounding(lrnn, None, runs, LIMITS)
    report = run(lrnn, random_words(lrnn, 3, 300, 1), dtype="bf16", sequential=True)
    assert report.norm_range is not None
    for row in rows_of(item(section, "dtypes")):
        assert row["exact at any length"] is True
        assert row["certified horizon"] == "no limit"
        assert (row["errors"], row["least margin"]) == (0, pytest.approx(report.margin))
        assert row["largest state norm"] == pytest.approx(report.norm_range[1])
    assert "exact at any length" in section.text
    assert "5 dtypes" in item(section, "margin").description


@pytest.mark.parametrize(("spec", "theorem"), [("tomita:4", "G.T4"), ("mod:12", "G.T6")])
def test_right_codes_of_several_layers_are_the_exact_states(spec: str, theorem: str | None) -> None:
    lrnn = lrnn_of(spec, theorem)
    words = random_words(lrnn, 4, 50, 2)
    stepper = LayeredStepper(lrnn, "exact")
    H, codes = stepper.initial(4), find_codes(lrnn, words)
    for t, x in enumerate(words.T):
        H = stepper.step(H, x)
        for engine, numbers, code in zip(stepper.engines, H, codes, strict=True):
            assert engine.codes(numbers).tolist() == code[:, t].tolist()


def test_norm_and_margin_of_several_layers() -> None:
    lrnn, length = lrnn_of("mod:12", "G.T6"), 500
    runs = RandomRuns(words=3, length=length, seed=5, dtypes=("bf16",))
    section = show_rounding(lrnn, certify_horizons(lrnn, LIMITS), runs, LIMITS)
    words = random_words(lrnn, 3, length, 5)
    stepper, exact = LayeredStepper(lrnn, "bf16"), LayeredStepper(lrnn, "exact")
    H, E = stepper.initial(3), exact.initial(3)
    points = [dense_codes(head, "fp64") for head in lrnn.all_heads]
    margins, norms = [], []
    for x in words.T:
        H, E = stepper.step(H, x), exact.step(E, x)
        least, squares = np.inf, np.zeros(3)
        for h, part in enumerate(H):
            distance = np.linalg.norm(part[:, None] - points[h][None], axis=(2, 3))
            code = exact.engines[h].codes(E[h])
            own = distance[np.arange(3), code]
            distance[np.arange(3), code] = np.inf
            least, squares = (
                min(least, ((distance.min(axis=1) - own) / 2).min()),
                squares + (part**2).sum(axis=(1, 2)),
            )
        margins.append(least)
        norms.append(np.sqrt(squares).max())
    (margin,), (norm,) = item(section, "margin").series, item(section, "norm").series
    assert all(y == pytest.approx(margins[x - 1], abs=1e-12) for x, y in finite(margin))
    assert all(y == pytest.approx(norms[x - 1], rel=1e-12) for x, y in finite(norm))
    report = run(lrnn, words, dtype="bf16")
    (row,) = rows_of(item(section, "dtypes"))
    assert (row["errors"], row["first error"]) == (report.errors, report.first_error)
    assert report.first_error is not None
    assert min(margins[: report.first_error - 1]) > 0 > margins[report.first_error - 1]


def test_horizons_are_marked_where_the_run_reaches_them() -> None:
    lrnn = lrnn_of("mod:60")
    lengths = horizons(lrnn)
    section = show_rounding(lrnn, lengths, RandomRuns(length=200), LIMITS)
    marks = {m.label: m.at for m in item(section, "margin").marks if m.axis == "x"}
    assert marks == {f"{d}: certified to {lengths[d]:,}": lengths[d] for d in ("fp16", "bf16")}
    table = {row["dtype"]: row["certified horizon"] for row in rows_of(item(section, "dtypes"))}
    assert table == {dtype: lengths[dtype] for dtype in table}


def test_long_runs_of_many_heads_are_cut_and_said() -> None:
    lrnn = lrnn_of("Z2^4")
    section = show_rounding(lrnn, None, RandomRuns(length=100), ShownLimits(head_steps=40))
    assert "Of 100 letters the first 10 are run, as there are 4 heads." in section.text
    assert max(item(section, "norm").series[0].x) <= 10


@pytest.mark.parametrize(("length", "points"), [(1, 1), (1, 50), (7, 3), (2_000, 200), (100, 1)])
def test_stretches_cover_every_position_once(length: int, points: int) -> None:
    parts = split_positions(length, points)
    assert [i for s in parts for i in range(s.start, s.stop)] == list(range(length))
    assert len(parts) <= points


@pytest.mark.parametrize(
    ("spec", "theorem"), [("S3", None), ("mod:60", None), ("A4_x_Z5", None), ("tomita:4", "G.T4")]
)
def test_points_on_the_disc_are_eigenvalues_of_the_named_letter(spec: str, theorem: str | None) -> None:
    lrnn = lrnn_of(spec, theorem)
    section = show_spectra(lrnn, ShownLimits(letters=20))
    series = item(section, "spectra-disc").series
    several = len(lrnn.layers) > 1
    matrices = {}
    for i, layer in enumerate(lrnn.layers):
        for j, head in enumerate(layer.heads):
            name = f"head {i + 1}.{j + 1}" if several else f"head {j + 1}"
            dense = head_weights(head, "fp64").dense()
            for x in range(head.letters):
                label = f"#{x}" if i else str(lrnn.automaton.letters[x])
                matrices[name, label] = dense[int(head.action_of(np.array(x)))]
    assert len(series) >= 2
    for one in series:
        filters = dict(one.filters)
        A = matrices[filters["head"], re.sub(r" \(\+\d+\)$", "", filters["letter"])]
        drawn = []
        for x, y, hover in zip(one.x, one.y, one.hover, strict=True):
            times = re.search(r"multiplicity (\d+)", hover)
            assert times is not None
            drawn += [complex(float(x), float(y or 0))] * int(times[1])
            on = abs(abs(complex(float(x), float(y or 0))) - 1) < 1e-9
            assert ("on the unit circle" in hover) == on
        values = np.linalg.eigvals(A)
        assert np.sort_complex(np.round(drawn, 6)).tolist() == pytest.approx(
            np.sort_complex(np.round(values, 6)).tolist(), abs=1e-4
        )
        assert one.role == 0


def test_spectra_are_counted_by_class_over_all_letters() -> None:
    lrnn = lrnn_of("S5")
    table = rows_of(item(show_spectra(lrnn, LIMITS), "spectra-table"))
    assert sorted(row["letters"] for row in table) == [1, 10, 15, 20, 20, 24, 30]
    assert max(row["rank(A - I)"] for row in table) == 4


def test_factors_multiply_to_the_letters() -> None:
    lrnn = lrnn_of("S3")
    dense = head_weights(lrnn.all_heads[0], "fp64").dense()
    for x, letter in enumerate(lrnn.automaton.letters):
        product = np.eye(3)
        for row in rows_of(list_factors(lrnn, LIMITS)):
            if row["letter"] == str(letter) and row["key k"]:
                v = np.zeros(3)
                for sign, place in re.findall(r"([+-]?) ?e_(\d)", row["key k"]):
                    v[int(place) - 1] = -1 if sign == "-" else 1
                C = np.eye(3) - float(row["β"]) * np.outer(v, v)
                assert float(row["β‖k‖²"]) == float(row["β"]) * v @ v
                product = C @ product
        assert np.array_equal(product, dense[x])
